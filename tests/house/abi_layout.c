/* Prints what the public header fixes for programs that were compiled against it: sizes and offsets of structures,
 * values of enumerators and limits. tests/house/abi.sh compares it with tests/house/abi.txt. */
#include <stddef.h>
#include <stdio.h>

#include "lift2k/lift2k.h"

#define STRUCT(type)         printf("%s %zu bytes\n", #type, sizeof(type))
#define MEMBER(type, member) printf("%s.%s at %zu\n", #type, #member, offsetof(type, member))
#define VALUE(name)          printf("%s = %lld\n", #name, (long long)(name))

static void print_hooks(void)
{
    STRUCT(l2k_hooks);
    MEMBER(l2k_hooks, allocate);
    MEMBER(l2k_hooks, release);
    MEMBER(l2k_hooks, message);
    MEMBER(l2k_hooks, progress);
    MEMBER(l2k_hooks, user);
}

static void print_stream(void)
{
    STRUCT(l2k_stream);
    MEMBER(l2k_stream, read);
    MEMBER(l2k_stream, write);
    MEMBER(l2k_stream, rewrite);
    MEMBER(l2k_stream, user);
    STRUCT(l2k_file);
    MEMBER(l2k_file, bytes);
    MEMBER(l2k_file, read_at);
    MEMBER(l2k_file, user);
}

static void print_items(void)
{
    STRUCT(l2k_encode_item);
    MEMBER(l2k_encode_item, image);
    MEMBER(l2k_encode_item, planes);
    MEMBER(l2k_encode_item, stream);
    MEMBER(l2k_encode_item, status);
    STRUCT(l2k_decode_item);
    MEMBER(l2k_decode_item, data);
    MEMBER(l2k_decode_item, bytes);
    MEMBER(l2k_decode_item, planes);
    MEMBER(l2k_decode_item, status);
}

static void print_lab(void)
{
    STRUCT(l2k_lab);
    MEMBER(l2k_lab, range);
    MEMBER(l2k_lab, offset);
    MEMBER(l2k_lab, illuminant);
}

static void print_component(void)
{
    STRUCT(l2k_component);
    MEMBER(l2k_component, dx);
    MEMBER(l2k_component, dy);
    MEMBER(l2k_component, precision);
    MEMBER(l2k_component, is_signed);
    MEMBER(l2k_component, channel);
    MEMBER(l2k_component, association);
    MEMBER(l2k_component, width);
    MEMBER(l2k_component, height);
}

static void print_image(void)
{
    STRUCT(l2k_image);
    MEMBER(l2k_image, x0);
    MEMBER(l2k_image, y0);
    MEMBER(l2k_image, x1);
    MEMBER(l2k_image, y1);
    MEMBER(l2k_image, num_components);
    MEMBER(l2k_image, components);
    MEMBER(l2k_image, colour);
    MEMBER(l2k_image, icc);
    MEMBER(l2k_image, icc_bytes);
    MEMBER(l2k_image, density_x);
    MEMBER(l2k_image, density_y);
    MEMBER(l2k_image, lab);
    MEMBER(l2k_image, boxes);
    MEMBER(l2k_image, num_boxes);
}

static void print_plane(void)
{
    STRUCT(l2k_plane);
    MEMBER(l2k_plane, data);
    MEMBER(l2k_plane, row_stride);
    MEMBER(l2k_plane, sample_stride);
    MEMBER(l2k_plane, type);
}

static void print_size(void)
{
    STRUCT(l2k_size);
    MEMBER(l2k_size, width);
    MEMBER(l2k_size, height);
    STRUCT(l2k_poc);
    MEMBER(l2k_poc, tile);
    MEMBER(l2k_poc, progression);
    MEMBER(l2k_poc, resolution_start);
    MEMBER(l2k_poc, resolution_end);
    MEMBER(l2k_poc, component_start);
    MEMBER(l2k_poc, component_end);
    MEMBER(l2k_poc, layer_end);
}

static void print_info(void)
{
    STRUCT(l2k_info);
    MEMBER(l2k_info, image);
    MEMBER(l2k_info, format);
    MEMBER(l2k_info, profile);
    MEMBER(l2k_info, tile_x0);
    MEMBER(l2k_info, tile_y0);
    MEMBER(l2k_info, tile_width);
    MEMBER(l2k_info, tile_height);
    MEMBER(l2k_info, tiles_across);
    MEMBER(l2k_info, tiles_down);
    MEMBER(l2k_info, num_tile_parts);
    MEMBER(l2k_info, wavelet);
    MEMBER(l2k_info, levels);
    MEMBER(l2k_info, block_width);
    MEMBER(l2k_info, block_height);
    MEMBER(l2k_info, style);
    MEMBER(l2k_info, guard_bits);
    MEMBER(l2k_info, default_precincts);
    MEMBER(l2k_info, precincts);
    MEMBER(l2k_info, progression);
    MEMBER(l2k_info, num_layers);
    MEMBER(l2k_info, component_transform);
    MEMBER(l2k_info, sop);
    MEMBER(l2k_info, eph);
    MEMBER(l2k_info, palette_entries);
    MEMBER(l2k_info, codestream_bytes);
    MEMBER(l2k_info, comment);
    MEMBER(l2k_info, capabilities);
    MEMBER(l2k_info, ht);
    MEMBER(l2k_info, ht_blocks);
    MEMBER(l2k_info, ht_multiple_sets);
    MEMBER(l2k_info, ht_regions);
    MEMBER(l2k_info, ht_mixed_tiles);
    MEMBER(l2k_info, ht_irreversible);
    MEMBER(l2k_info, ht_magnitude_bits);
    MEMBER(l2k_info, tlm);
    MEMBER(l2k_info, plt);
    MEMBER(l2k_info, profile_number);
    MEMBER(l2k_info, corresponding_profile);
}

static void print_device_info(void)
{
    STRUCT(l2k_device_info);
    MEMBER(l2k_device_info, name);
    MEMBER(l2k_device_info, memory_bytes);
    MEMBER(l2k_device_info, compute_major);
    MEMBER(l2k_device_info, compute_minor);
    MEMBER(l2k_device_info, processors);
    MEMBER(l2k_device_info, usable);
    MEMBER(l2k_device_info, reason);
    MEMBER(l2k_device_info, backend);
    MEMBER(l2k_device_info, vendor);
    MEMBER(l2k_device_info, driver);
}

static void print_box(void)
{
    STRUCT(l2k_box_data);
    MEMBER(l2k_box_data, content);
    MEMBER(l2k_box_data, type);
    MEMBER(l2k_box_data, uuid);
    MEMBER(l2k_box_data, depth);
    MEMBER(l2k_box_data, data);
    MEMBER(l2k_box_data, bytes);
    VALUE(L2K_CONTENT_OTHER);
    VALUE(L2K_CONTENT_XMP);
    VALUE(L2K_CONTENT_EXIF);
    VALUE(L2K_CONTENT_IPTC);
    VALUE(L2K_CONTENT_GEOTIFF);
    VALUE(L2K_CONTENT_UUID);
    VALUE(L2K_CONTENT_XML);
    VALUE(L2K_CONTENT_LABEL);
    STRUCT(l2k_box);
    MEMBER(l2k_box, type);
    MEMBER(l2k_box, depth);
    MEMBER(l2k_box, offset);
    MEMBER(l2k_box, bytes);
}

static void print_band_view(void)
{
    STRUCT(l2k_band_view);
    MEMBER(l2k_band_view, x);
    MEMBER(l2k_band_view, y);
    MEMBER(l2k_band_view, width);
    MEMBER(l2k_band_view, height);
}

static void print_coefficients(void)
{
    STRUCT(l2k_coefficients);
    MEMBER(l2k_coefficients, base);
    MEMBER(l2k_coefficients, type);
    MEMBER(l2k_coefficients, on_device);
    MEMBER(l2k_coefficients, stride);
    MEMBER(l2k_coefficients, width);
    MEMBER(l2k_coefficients, height);
    MEMBER(l2k_coefficients, num_bands);
    MEMBER(l2k_coefficients, bands);
}

static void print_step(void)
{
    STRUCT(l2k_step);
    MEMBER(l2k_step, exponent);
    MEMBER(l2k_step, mantissa);
}

static void print_subband_info(void)
{
    STRUCT(l2k_subband_info);
    MEMBER(l2k_subband_info, resolution);
    MEMBER(l2k_subband_info, orientation);
    MEMBER(l2k_subband_info, level);
    MEMBER(l2k_subband_info, x0);
    MEMBER(l2k_subband_info, y0);
    MEMBER(l2k_subband_info, x1);
    MEMBER(l2k_subband_info, y1);
    MEMBER(l2k_subband_info, step);
    MEMBER(l2k_subband_info, step_size);
    MEMBER(l2k_subband_info, magnitude_bits);
}

static void print_tile_coefficients(void)
{
    STRUCT(l2k_volume_slice);
    MEMBER(l2k_volume_slice, level);
    MEMBER(l2k_volume_slice, high);
    MEMBER(l2k_volume_slice, index);
    MEMBER(l2k_volume_slice, num_components);
    MEMBER(l2k_volume_slice, views);
    STRUCT(l2k_tile_coefficients);
    MEMBER(l2k_tile_coefficients, tile);
    MEMBER(l2k_tile_coefficients, component);
    MEMBER(l2k_tile_coefficients, x0);
    MEMBER(l2k_tile_coefficients, y0);
    MEMBER(l2k_tile_coefficients, x1);
    MEMBER(l2k_tile_coefficients, y1);
    MEMBER(l2k_tile_coefficients, levels);
    MEMBER(l2k_tile_coefficients, wavelet);
    MEMBER(l2k_tile_coefficients, component_transform);
    MEMBER(l2k_tile_coefficients, view);
    MEMBER(l2k_tile_coefficients, bands);
}

static void print_values(void)
{
    VALUE(L2K_OK);
    VALUE(L2K_ERROR_ARGUMENT);
    VALUE(L2K_ERROR_STATE);
    VALUE(L2K_ERROR_MEMORY);
    VALUE(L2K_ERROR_LIMIT);
    VALUE(L2K_ERROR_IO);
    VALUE(L2K_ERROR_FORMAT);
    VALUE(L2K_ERROR_CORRUPT);
    VALUE(L2K_ERROR_TRUNCATED);
    VALUE(L2K_ERROR_UNSUPPORTED);
    VALUE(L2K_ERROR_BACKEND);
    VALUE(L2K_INCOMPLETE);
    VALUE(L2K_ERROR_CANCELLED);
    VALUE(L2K_SEVERITY_ERROR);
    VALUE(L2K_SEVERITY_WARNING);
    VALUE(L2K_SEVERITY_NOTE);
    VALUE(L2K_STAGE_READ);
    VALUE(L2K_STAGE_UPLOAD);
    VALUE(L2K_STAGE_TRANSFORM);
    VALUE(L2K_STAGE_DOWNLOAD);
    VALUE(L2K_STAGE_TIER1);
    VALUE(L2K_STAGE_RATE);
    VALUE(L2K_STAGE_TIER2);
    VALUE(L2K_STAGE_WRITE);
    VALUE(L2K_NUM_STAGES);
    VALUE(L2K_COLOUR_UNKNOWN);
    VALUE(L2K_COLOUR_GRAY);
    VALUE(L2K_COLOUR_SRGB);
    VALUE(L2K_COLOUR_SYCC);
    VALUE(L2K_COLOUR_CMYK);
    VALUE(L2K_COLOUR_ICC);
    VALUE(L2K_COLOUR_ESYCC);
    VALUE(L2K_COLOUR_CIELAB);
    VALUE(L2K_CHANNEL_COLOUR);
    VALUE(L2K_CHANNEL_OPACITY);
    VALUE(L2K_CHANNEL_PREMULTIPLIED_OPACITY);
    VALUE(L2K_CHANNEL_UNSPECIFIED);
    VALUE(L2K_SAMPLE_U8);
    VALUE(L2K_SAMPLE_S8);
    VALUE(L2K_SAMPLE_U16);
    VALUE(L2K_SAMPLE_S16);
    VALUE(L2K_SAMPLE_S32);
    VALUE(L2K_SAMPLE_F32);
    VALUE(L2K_WAVELET_5_3);
    VALUE(L2K_WAVELET_9_7);
    VALUE(L2K_WAVELET_HAAR);
    VALUE(L2K_WAVELET_1_3);
    VALUE(L2K_WAVELET_DD_9_7);
    VALUE(L2K_WAVELET_DD_13_7);
    VALUE(L2K_WAVELET_DAUBECHIES_INT);
    VALUE(L2K_WAVELET_FIDELITY);
    VALUE(L2K_WAVELET_W4);
    VALUE(L2K_WAVELET_REVERSIBLE_KERNEL);
    VALUE(L2K_WAVELET_IRREVERSIBLE_KERNEL);
    VALUE(L2K_LRCP);
    VALUE(L2K_RLCP);
    VALUE(L2K_RPCL);
    VALUE(L2K_PCRL);
    VALUE(L2K_CPRL);
    VALUE(L2K_PROFILE_NONE);
    VALUE(L2K_PROFILE_CINEMA_2K);
    VALUE(L2K_PROFILE_CINEMA_4K);
    VALUE(L2K_PROFILE_BROADCAST);
    VALUE(L2K_PROFILE_BROADCAST_MULTI);
    VALUE(L2K_PROFILE_BROADCAST_MULTI_R);
    VALUE(L2K_PROFILE_IMF_2K);
    VALUE(L2K_PROFILE_IMF_4K);
    VALUE(L2K_PROFILE_IMF_8K);
    VALUE(L2K_PROFILE_IMF_2K_R);
    VALUE(L2K_PROFILE_IMF_4K_R);
    VALUE(L2K_PROFILE_IMF_8K_R);
    VALUE(L2K_STYLE_BYPASS);
    VALUE(L2K_STYLE_RESET);
    VALUE(L2K_STYLE_TERMALL);
    VALUE(L2K_STYLE_VSC);
    VALUE(L2K_STYLE_PTERM);
    VALUE(L2K_STYLE_SEGSYM);
    VALUE(L2K_STYLE_HT);
    VALUE(L2K_STYLE_HT_MIXED);
    VALUE(L2K_HT_ONLY);
    VALUE(L2K_HT_DECLARED);
    VALUE(L2K_HT_MIXED);
    VALUE(L2K_TILE_PARTS_ONE);
    VALUE(L2K_TILE_PARTS_RESOLUTION);
    VALUE(L2K_TILE_PARTS_LAYER);
    VALUE(L2K_TILE_PARTS_COMPONENT);
    VALUE(L2K_FORMAT_JP2);
    VALUE(L2K_FORMAT_CODESTREAM);
    VALUE(L2K_CPU_AUTO);
    VALUE(L2K_CPU_C);
    VALUE(L2K_CPU_AVX2);
    VALUE(L2K_CPU_AVX512);
    VALUE(L2K_CPU_NEON);
    VALUE(L2K_CPU_SIMD128);
    VALUE(L2K_BACKEND_AUTO);
    VALUE(L2K_BACKEND_CPU);
    VALUE(L2K_BACKEND_CUDA);
    VALUE(L2K_BACKEND_OPENCL);
    VALUE(L2K_ENCODER_FORMAT);
    VALUE(L2K_ENCODER_WAVELET);
    VALUE(L2K_ENCODER_LEVELS);
    VALUE(L2K_ENCODER_TILE_WIDTH);
    VALUE(L2K_ENCODER_TILE_HEIGHT);
    VALUE(L2K_ENCODER_TILE_X0);
    VALUE(L2K_ENCODER_TILE_Y0);
    VALUE(L2K_ENCODER_BLOCK_WIDTH);
    VALUE(L2K_ENCODER_BLOCK_HEIGHT);
    VALUE(L2K_ENCODER_PROGRESSION);
    VALUE(L2K_ENCODER_STYLE);
    VALUE(L2K_ENCODER_COMPONENT_TRANSFORM);
    VALUE(L2K_ENCODER_SOP);
    VALUE(L2K_ENCODER_EPH);
    VALUE(L2K_ENCODER_PLT);
    VALUE(L2K_ENCODER_TLM);
    VALUE(L2K_ENCODER_TILE_PARTS);
    VALUE(L2K_ENCODER_THREADS);
    VALUE(L2K_ENCODER_BACKEND);
    VALUE(L2K_ENCODER_LIMIT_SAMPLES);
    VALUE(L2K_ENCODER_GPU_MIN_SAMPLES);
    VALUE(L2K_ENCODER_LIMIT_MEMORY);
    VALUE(L2K_ENCODER_TIMINGS);
    VALUE(L2K_ENCODER_CPU);
    VALUE(L2K_ENCODER_HT_PASSES);
    VALUE(L2K_ENCODER_MEMORY);
    VALUE(L2K_ENCODER_IN_FLIGHT);
    VALUE(L2K_ENCODER_DEVICE);
    VALUE(L2K_ENCODER_DEVICES);
    VALUE(L2K_ENCODER_GUARD_BITS);
    VALUE(L2K_ENCODER_ROI_COMPONENT);
    VALUE(L2K_ENCODER_ROI_SHIFT);
    VALUE(L2K_ENCODER_BY_TILE);
    VALUE(L2K_ENCODER_PROFILE);
    VALUE(L2K_ENCODER_MAX_BYTES);
    VALUE(L2K_ENCODER_COMPONENT_BYTES);
    VALUE(L2K_ENCODER_QUALITY);
    VALUE(L2K_ENCODER_VISUAL);
    VALUE(L2K_ENCODER_NUM_OPTIONS);
    VALUE(L2K_TARGET_RATIO);
    VALUE(L2K_TARGET_PSNR);
    VALUE(L2K_DECODER_REDUCE);
    VALUE(L2K_DECODER_LAYERS);
    VALUE(L2K_DECODER_COMPONENT);
    VALUE(L2K_DECODER_THREADS);
    VALUE(L2K_DECODER_BACKEND);
    VALUE(L2K_DECODER_LIMIT_SAMPLES);
    VALUE(L2K_DECODER_LIMIT_BYTES);
    VALUE(L2K_DECODER_GPU_MIN_SAMPLES);
    VALUE(L2K_DECODER_STRICT);
    VALUE(L2K_DECODER_LIMIT_MEMORY);
    VALUE(L2K_DECODER_TIMINGS);
    VALUE(L2K_DECODER_LIMIT_COMPONENTS);
    VALUE(L2K_DECODER_LIMIT_TILES);
    VALUE(L2K_DECODER_CPU);
    VALUE(L2K_DECODER_MEMORY);
    VALUE(L2K_DECODER_IN_FLIGHT);
    VALUE(L2K_DECODER_CACHE_BYTES);
    VALUE(L2K_DECODER_DEVICE);
    VALUE(L2K_DECODER_DEVICES);
    VALUE(L2K_DECODER_LIKE_OPENJPEG);
    VALUE(L2K_DECODER_BLOCK_CODER);
    VALUE(L2K_DECODER_NUM_OPTIONS);
    VALUE(L2K_FORWARD);
    VALUE(L2K_INVERSE);
    VALUE(L2K_MEMORY_HOST);
    VALUE(L2K_MEMORY_DEVICE);
    VALUE(L2K_TRANSFORM_DIRECTION);
    VALUE(L2K_TRANSFORM_WAVELET);
    VALUE(L2K_TRANSFORM_LEVELS);
    VALUE(L2K_TRANSFORM_REDUCE);
    VALUE(L2K_TRANSFORM_COMPONENT_TRANSFORM);
    VALUE(L2K_TRANSFORM_COEFFICIENTS);
    VALUE(L2K_TRANSFORM_MEMORY);
    VALUE(L2K_TRANSFORM_BACKEND);
    VALUE(L2K_TRANSFORM_THREADS);
    VALUE(L2K_TRANSFORM_LIMIT_SAMPLES);
    VALUE(L2K_TRANSFORM_GPU_MIN_SAMPLES);
    VALUE(L2K_TRANSFORM_CPU);
    VALUE(L2K_TRANSFORM_DEVICE);
    VALUE(L2K_TRANSFORM_NUM_OPTIONS);
    VALUE(L2K_VOLUME_Z_FIRST);
    VALUE(L2K_VOLUME_ISOTROPIC);
    VALUE(L2K_VOLUME_DIRECTION);
    VALUE(L2K_VOLUME_WAVELET);
    VALUE(L2K_VOLUME_LEVELS);
    VALUE(L2K_VOLUME_Z_WAVELET);
    VALUE(L2K_VOLUME_Z_LEVELS);
    VALUE(L2K_VOLUME_ORDER);
    VALUE(L2K_VOLUME_COMPONENT_TRANSFORM);
    VALUE(L2K_VOLUME_COEFFICIENTS);
    VALUE(L2K_VOLUME_MEMORY);
    VALUE(L2K_VOLUME_BACKEND);
    VALUE(L2K_VOLUME_THREADS);
    VALUE(L2K_VOLUME_LIMIT_SAMPLES);
    VALUE(L2K_VOLUME_CPU);
    VALUE(L2K_VOLUME_DEVICE);
    VALUE(L2K_VOLUME_NUM_OPTIONS);
    VALUE(L2K_COEFFICIENT_INT16);
    VALUE(L2K_COEFFICIENT_INT32);
    VALUE(L2K_COEFFICIENT_FLOAT32);
    VALUE(L2K_LL);
    VALUE(L2K_HL);
    VALUE(L2K_LH);
    VALUE(L2K_HH);
    VALUE(L2K_MAX_COMPONENTS);
    VALUE(L2K_MAX_LEVELS);
    VALUE(L2K_MAX_SUBBANDS);
    VALUE(L2K_ALL_COMPONENTS);
}

static void print_video(void)
{
    STRUCT(l2k_video_sequence);
    MEMBER(l2k_video_sequence, version);
    MEMBER(l2k_video_sequence, profile);
    MEMBER(l2k_video_sequence, level);
    MEMBER(l2k_video_sequence, width);
    MEMBER(l2k_video_sequence, height);
    MEMBER(l2k_video_sequence, chroma_x);
    MEMBER(l2k_video_sequence, chroma_y);
    MEMBER(l2k_video_sequence, depth);
    MEMBER(l2k_video_sequence, offset);
    MEMBER(l2k_video_sequence, excursion);
    MEMBER(l2k_video_sequence, rate);
    MEMBER(l2k_video_sequence, aspect);
    MEMBER(l2k_video_sequence, clean);
    MEMBER(l2k_video_sequence, colour);
    MEMBER(l2k_video_sequence, interlaced);
    MEMBER(l2k_video_sequence, top_field_first);
    MEMBER(l2k_video_sequence, fields);
    MEMBER(l2k_video_sequence, wide);
    STRUCT(l2k_video_frame);
    MEMBER(l2k_video_frame, image);
    MEMBER(l2k_video_frame, planes);
    MEMBER(l2k_video_frame, number);
    MEMBER(l2k_video_frame, sequence);
    VALUE(L2K_VIDEO_LIMIT_SAMPLES);
    VALUE(L2K_VIDEO_LIMIT_MEMORY);
    VALUE(L2K_VIDEO_CPU);
    VALUE(L2K_VIDEO_BACKEND);
    VALUE(L2K_VIDEO_MEMORY);
    VALUE(L2K_VIDEO_DEVICE);
    VALUE(L2K_VIDEO_NUM_OPTIONS);
    VALUE(L2K_VIDEO_ENCODER_PICTURE_BYTES);
    VALUE(L2K_VIDEO_ENCODER_WAVELET);
    VALUE(L2K_VIDEO_ENCODER_LEVELS);
    VALUE(L2K_VIDEO_ENCODER_SLICE_WIDTH);
    VALUE(L2K_VIDEO_ENCODER_SLICE_HEIGHT);
    VALUE(L2K_VIDEO_ENCODER_CPU);
    VALUE(L2K_VIDEO_ENCODER_NUM_OPTIONS);
}

int main(void)
{
    print_hooks();
    print_stream();
    print_items();
    print_lab();
    print_component();
    print_image();
    print_plane();
    print_size();
    print_info();
    print_box();
    print_device_info();
    print_band_view();
    print_coefficients();
    print_step();
    print_subband_info();
    print_tile_coefficients();
    print_video();
    print_values();
    return 0;
}
