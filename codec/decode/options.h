/* The options of a decoder, and the data that it keeps from image to image. */
#ifndef L2K_CODEC_DECODE_OPTIONS_H
#define L2K_CODEC_DECODE_OPTIONS_H

#include "codec/decode/decoder.h"

/* L2K_ERROR_STATE if no file has been opened. */
l2k_status l2k_decoder_check_open(const l2k_decoder *decoder);

/* The same, and whether the options are possible for the file; decoding checks that a tile has enough resolutions. */
l2k_status l2k_decoder_check_options(const l2k_decoder *decoder);

/* The limits on the headers of a file of `bytes` bytes. */
l2k_codestream_limits l2k_decoder_limits(const l2k_decoder *decoder, size_t bytes);

/* Bytes that the opened file may take from the allocation hook; a file that was read into memory counts as well. */
uint64_t l2k_decoder_memory_limit(const l2k_decoder *decoder);

/* Ends an image that is decoded by rows, if there is one. */
void l2k_decoder_leave_rows(l2k_decoder *decoder);

/* l2k_engine_enter for the processor of the options; first gives back what is kept on another. */
int l2k_decoder_enter(l2k_decoder *decoder);

/* Gives back all memory kept for the next image. */
void l2k_decoder_drop(l2k_decoder *decoder);

/* Discards all data that windows of the opened file left to later ones. */
void l2k_decoder_forget_windows(l2k_decoder *decoder);

/* Forgets what has been read from the headers of a file. */
void l2k_decoder_forget_headers(l2k_decoder *decoder);

/* Closes the file, if one is open. */
void l2k_decoder_close(l2k_decoder *decoder);

/* Begins and ends opening a file; a failed one is closed. */
void l2k_decoder_start_opening(l2k_decoder *decoder);
l2k_status l2k_decoder_finish_opening(l2k_decoder *decoder, l2k_status status);

#endif
