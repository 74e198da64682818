/* The filter of plugins/hdf5/ in an HDF5 library: types and shapes of chunks, client data, order of bytes, what the
 * registration does not have, damaged chunks. Argument: how many damaged chunks. */
#include "support.h"

#include <H5PLextern.h>
#include <hdf5.h>

#include "lift2k/lift2k.h"

#define MOST 60000 /* bytes of a chunk */

static hid_t file;
static unsigned rounds = 2000;

/* A dataset of one chunk, and its name; negative if the filter refuses it. */
static hid_t make(hid_t type, int rank, const hsize_t *sizes, size_t count, const unsigned *values, char *name)
{
    static int number;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, sizes, NULL), set;
    snprintf(name, 20, "d%d", number++);
    H5Pset_chunk(list, rank, sizes);
    H5Pset_filter(list, 32033, H5Z_FLAG_MANDATORY, count, values);
    set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Pclose(list);
    H5Sclose(space);
    return set;
}

/* Without what the library has of the chunk in memory. */
static hid_t again(hid_t set, const char *name)
{
    assert_true(H5Dclose(set) >= 0);
    return H5Dopen2(file, name, H5P_DEFAULT);
}

static size_t stored(hid_t set, unsigned values[7])
{
    size_t count = 7;
    unsigned flags;
    hid_t list = H5Dget_create_plist(set);
    assert_true(H5Pget_filter_by_id2(list, 32033, &flags, &count, values, 0, NULL, NULL) >= 0);
    H5Pclose(list);
    return count;
}

/* Samples that use all of their bits, at most 24. */
static void fill(unsigned char *data, size_t count, unsigned bytes, bool is_signed)
{
    const int32_t low = is_signed ? -(1 << (bytes == 1 ? 7 : bytes == 2 ? 15 : 23)) : 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t value = low + (int32_t)random_below(1u << (bytes == 1 ? 8 : bytes == 2 ? 16 : 24));
        if (bytes == 1)
            data[i] = (unsigned char)value;
        else if (bytes == 2)
            ((uint16_t *)(void *)data)[i] = (uint16_t)value;
        else
            ((int32_t *)(void *)data)[i] = value;
    }
}

static void test_types_and_shapes(void **state)
{
    (void)state;
    static const struct {
        int rank;
        hsize_t sizes[4];
        unsigned width, height, components;
    } shapes[] = {{1, {1}, 1, 1, 1},
                  {1, {1000}, 1000, 1, 1},
                  {2, {1, 999}, 999, 1, 1},
                  {2, {999, 1}, 1, 999, 1},
                  {4, {1, 70, 1, 1}, 1, 70, 1},
                  {2, {41, 50}, 50, 41, 1},
                  {3, {41, 1, 50}, 50, 41, 1},
                  {3, {41, 50, 3}, 50, 41, 3},
                  {2, {700, 7}, 7, 700, 1},
                  {3, {3, 41, 50}, 50, 123, 1},
                  {4, {2, 41, 50, 3}, 50, 82, 3},
                  {4, {4, 5, 6, 7}, 7, 120, 1}};
    const hid_t types[] = {H5T_STD_U8LE,  H5T_STD_I8LE,  H5T_STD_U16LE, H5T_STD_I16LE, H5T_STD_U32LE,
                           H5T_STD_I32LE, H5T_STD_U16BE, H5T_STD_I16BE, H5T_STD_I32BE};
    const unsigned codes[] = {1, 0x81, 2, 0x82, 4, 0x84, 0x102, 0x182, 0x184};
    static unsigned char data[MOST], back[MOST];
    for (size_t t = 0; t < 9; t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            char name[20];
            unsigned values[7];
            const unsigned bytes = codes[t] & 7;
            size_t count = 1;
            for (int i = 0; i < shapes[s].rank; i++)
                count *= shapes[s].sizes[i];
            hid_t set = make(types[t], shapes[s].rank, shapes[s].sizes, 0, NULL, name);
            assert_true(set >= 0);
            assert_int_equal(stored(set, values), 5);
            const unsigned expected[] = {1, codes[t], shapes[s].width, shapes[s].height, shapes[s].components};
            assert_memory_equal(values, expected, sizeof expected);
            fill(data, count, bytes, codes[t] & 0x80);
            for (size_t i = 0; codes[t] == 0x184 && i < count; i++)
                data[4 * i] = 0, data[4 * i + 1] &= 0x7f;
            assert_true(H5Dwrite(set, types[t], H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
            set = again(set, name);
            assert_true(H5Dread(set, types[t], H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
            assert_memory_equal(data, back, count * bytes);
            H5Dclose(set);
        }
}

static void test_refused(void **state)
{
    (void)state;
    const hsize_t sizes[] = {20, 30};
    const unsigned wrong[] = {0, 0, 0, 0, 0, 3, 1}, none[] = {0, 0, 0, 0, 0, 1, 0};
    static int32_t data[600];
    char name[20];
    assert_true(make(H5T_NATIVE_FLOAT, 2, sizes, 0, NULL, name) < 0);
    assert_true(make(H5T_STD_I64LE, 2, sizes, 0, NULL, name) < 0);
    assert_true(make(H5T_STD_U8LE, 2, sizes, 7, wrong, name) < 0);
    assert_true(make(H5T_STD_U8LE, 2, sizes, 7, none, name) < 0);
    hid_t set = make(H5T_STD_I32LE, 2, sizes, 0, NULL, name);
    data[599] = 1 << 23; /* 25 bits with its sign */
    assert_true(H5Dwrite(set, H5T_STD_I32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    assert_true(H5Dflush(set) < 0);
    data[599] = -(1 << 23);
    assert_true(H5Dwrite(set, H5T_STD_I32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    assert_true(H5Dflush(set) >= 0);
    H5Dclose(set);
}

static void test_lossy(void **state)
{
    (void)state;
    const hsize_t sizes[] = {256, 256};
    const unsigned ratio[] = {0, 0, 0, 0, 0, 1, 8000}, psnr[] = {0, 0, 0, 0, 0, 2, 60000};
    static uint16_t data[65536], back[65536];
    char name[20];
    for (unsigned i = 0; i < 65536; i++)
        data[i] = (uint16_t)(i % 256 * (i / 256) / 2 + random_below(1000));
    for (int kind = 1; kind <= 2; kind++) {
        double squares = 0;
        hid_t set = make(H5T_NATIVE_UINT16, 2, sizes, 7, kind == 1 ? ratio : psnr, name);
        H5Dwrite(set, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
        set = again(set, name);
        assert_true(H5Dread(set, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
        for (unsigned i = 0; i < 65536; i++)
            squares += ((double)back[i] - data[i]) * ((double)back[i] - data[i]);
        const double error = squares / 65536 / 65535 / 65535;
        if (kind == 1)
            assert_in_range(H5Dget_storage_size(set), 16000, 16384);
        else /* 60 dB, within a tenth or so */
            assert_true(error < 1.05e-6 && error > 0.7e-6);
        H5Dclose(set);
    }
}

/* What others may put into a chunk: MQ code-blocks, fewer bits, other signs, tiles. */
static void test_other_streams(void **state)
{
    (void)state;
    const hsize_t sizes[] = {40, 50};
    static int16_t samples[2000], back[2000];
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    const l2k_component described = {.dx = 1, .dy = 1, .precision = 11, .is_signed = true};
    const l2k_image image = {.x1 = 50, .y1 = 40, .num_components = 1, .components = &described};
    const l2k_plane plane = {samples, 100, 2, L2K_SAMPLE_S16};
    const uint8_t *coded;
    size_t bytes;
    char name[20];
    for (int i = 0; i < 2000; i++)
        samples[i] = (int16_t)(i - 1000);
    l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 33);
    assert_int_equal(l2k_encoder_encode_memory(encoder, &image, &plane, &coded, &bytes), L2K_OK);
    for (int t = 0; t < 2; t++) {
        hid_t set = make(t ? H5T_NATIVE_UINT16 : H5T_NATIVE_INT16, 2, sizes, 0, NULL, name);
        assert_true(H5Dwrite_chunk(set, H5P_DEFAULT, 0, (hsize_t[]){0, 0}, bytes, coded) >= 0);
        assert_true(H5Dread(set, H5Dget_type(set), H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
        assert_memory_equal(back, samples, sizeof back);
        H5Dclose(set);
    }
    hid_t set = make(H5T_NATIVE_INT8, 2, sizes, 0, NULL, name); /* too narrow */
    H5Dwrite_chunk(set, H5P_DEFAULT, 0, (hsize_t[]){0, 0}, bytes, coded);
    assert_true(H5Dread(set, H5T_NATIVE_INT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) < 0);
    H5Dclose(set);
    l2k_encoder_free(encoder);
}

/* Each chunk is read or refused. */
static void test_damaged(void **state)
{
    (void)state;
    const hsize_t sizes[] = {24, 31, 3};
    static unsigned char data[2232], back[2232], good[8192], bad[8192];
    hsize_t bytes;
    uint32_t mask;
    unsigned refused = 0;
    char name[20];
    fill(data, sizeof data, 1, false);
    hid_t set = make(H5T_STD_U8LE, 3, sizes, 0, NULL, name);
    H5Dwrite(set, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    set = again(set, name);
    assert_true(H5Dget_chunk_storage_size(set, (hsize_t[]){0, 0, 0}, &bytes) >= 0 && bytes < sizeof good);
    assert_true(H5Dread_chunk(set, H5P_DEFAULT, (hsize_t[]){0, 0, 0}, &mask, good) >= 0 && !mask);
    for (unsigned i = 0; i < rounds; i++) {
        const size_t most = i % 2 ? bytes : 120; /* headers, half of the time */
        size_t left = i % 5 ? bytes : 1 + random_below(bytes);
        memcpy(bad, good, bytes);
        for (unsigned k = random_below(4); i % 5 && k > 0; k--)
            bad[random_below(most)] = (unsigned char)random_u64();
        assert_true(H5Dwrite_chunk(set, H5P_DEFAULT, 0, (hsize_t[]){0, 0, 0}, left, bad) >= 0);
        refused += H5Dread(set, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) < 0;
    }
    assert_in_range(refused, rounds / 10, rounds - 1);
    H5Dwrite_chunk(set, H5P_DEFAULT, 0, (hsize_t[]){0, 0, 0}, bytes, good);
    assert_true(H5Dread(set, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    assert_memory_equal(data, back, sizeof data);
    H5Dclose(set);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types_and_shapes), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_lossy), cmocka_unit_test(test_other_streams),
                                       cmocka_unit_test(test_damaged)};
    rounds = argc > 1 ? (unsigned)atoi(argv[1]) : rounds;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(list, 1 << 20, false);
    if (H5Zregister(H5PLget_plugin_info()) < 0 || (file = H5Fcreate("none", H5F_ACC_TRUNC, H5P_DEFAULT, list)) < 0)
        return 1;
    H5Pclose(list);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    H5Fclose(file);
    return failed;
}
