/* Box types and numbers of Annex I, shared by reader and writer. */
#ifndef L2K_CODEC_JP2_JP2_BOXES_H
#define L2K_CODEC_JP2_JP2_BOXES_H

#define L2K_BOX(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

enum { L2K_JP2_SIGNATURE = 0x0D0A870A };

/* EnumCS values (Table I.10 and its amendments). */
enum {
    L2K_ENUM_CMYK = 12,
    L2K_ENUM_CIELAB = 14,
    L2K_ENUM_SRGB = 16,
    L2K_ENUM_GRAY = 17,
    L2K_ENUM_SYCC = 18,
    L2K_ENUM_ESYCC = 24
};

#endif
