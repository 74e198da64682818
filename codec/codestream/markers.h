/* Marker codes (Table A.2). */
#ifndef L2K_CODEC_CODESTREAM_MARKERS_H
#define L2K_CODEC_CODESTREAM_MARKERS_H

enum {
    L2K_SOC = 0xFF4F,
    L2K_CAP = 0xFF50,
    L2K_SIZ = 0xFF51,
    L2K_COD = 0xFF52,
    L2K_COC = 0xFF53,
    L2K_TLM = 0xFF55,
    L2K_PLM = 0xFF57,
    L2K_PLT = 0xFF58,
    L2K_QCD = 0xFF5C,
    L2K_QCC = 0xFF5D,
    L2K_RGN = 0xFF5E,
    L2K_POC = 0xFF5F,
    L2K_PPM = 0xFF60,
    L2K_PPT = 0xFF61,
    L2K_CRG = 0xFF63,
    L2K_COM = 0xFF64,
    L2K_SOT = 0xFF90,
    L2K_SOD = 0xFF93,
    L2K_EOC = 0xFFD9
};

#endif
