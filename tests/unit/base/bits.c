/* Packet header bits with bit stuffing (B.10.1), and the byte buffer they are written to. */
#include "support.h"

#include "codec/tile/bits.h"

static const l2k_context context = {.threads = 1};

/* Writes bits given as text; returns the buffer, flushed. */
static l2k_buffer written(const char *text)
{
    l2k_buffer buffer = {.context = &context};
    l2k_bit_writer writer = l2k_bits_to(&buffer);
    for (; *text; text++)
        if (*text != ' ')
            l2k_bits_put(&writer, *text == '1', 1);
    l2k_bits_flush(&writer);
    assert_int_equal(writer.bytes, buffer.size);
    return buffer;
}

static void check_written(const char *text, const void *bytes, size_t size)
{
    l2k_buffer buffer = written(text);
    assert_int_equal(buffer.size, size);
    if (size)
        assert_memory_equal(buffer.data, bytes, size);
    l2k_buffer_release(&buffer);
}

static void test_stuffing(void **unused)
{
    (void)unused;
    check_written("", "", 0);
    check_written("1", "\x80", 1);
    check_written("0000 0001", "\x01", 1);
    check_written("1111 1110", "\xFE", 1);
    check_written("1111 1111", "\xFF\x00", 2); /* a header must not end in FF */
    check_written("1111 1111 1", "\xFF\x40", 2);
    check_written("1111 1111 1111 111", "\xFF\x7F", 2);
    check_written("1111 1111 1111 111 1", "\xFF\x7F\x80", 3);
    check_written("1111 1111 1111 111 1111 1111", "\xFF\x7F\xFF\x00", 4);
    check_written("0111 1111 1111 1111", "\x7F\xFF\x00", 3);
}

static void test_reading(void **unused)
{
    (void)unused;
    static const uint8_t bytes[8] = {0xFF, 0x7F, 0x80, 0xAA}; /* of which 4 are read */
    l2k_bit_reader reader = l2k_bits_from(bytes, bytes + 4);
    assert_int_equal(l2k_bits_get(&reader, 16), 0xFFFF);
    l2k_bits_align(&reader);
    assert_ptr_equal(reader.next, bytes + 3);
    assert_int_equal(l2k_bits_get(&reader, 8), 0xAA);
    assert_false(reader.exhausted);
    assert_int_equal(l2k_bits_get(&reader, 3), 0);
    assert_true(reader.exhausted);
    reader =
        l2k_bits_from(bytes, bytes + 4); /* a final FF is followed by a stuffed byte, which belongs to the header */
    assert_int_equal(l2k_bits_get(&reader, 8), 0xFF);
    l2k_bits_align(&reader);
    assert_ptr_equal(reader.next, bytes + 2);
    reader = l2k_bits_from(bytes, bytes + 1); /* and must not be missing */
    l2k_bits_get(&reader, 8);
    l2k_bits_align(&reader);
    assert_true(reader.exhausted);
    reader = l2k_bits_from(bytes, bytes);
    l2k_bits_align(&reader);
    assert_false(reader.exhausted);
    assert_int_equal(l2k_bits_get(&reader, 1), 0);
    assert_true(reader.exhausted);
}

static void test_round_trip(void **unused)
{
    (void)unused;
    enum { MOST = 300 };
    for (int round = 0; round < 3000; round++) {
        uint32_t value[MOST];
        unsigned width[MOST], count = random_below(MOST);
        l2k_buffer buffer = {.context = &context};
        l2k_bit_writer writer = l2k_bits_to(&buffer), counter = l2k_bits_to(NULL);
        for (unsigned i = 0; i < count; i++) {
            width[i] = random_below(33);
            value[i] = random_below(2) ? UINT32_MAX : (uint32_t)random_u64();
            value[i] = width[i] == 32 ? value[i] : value[i] & ((1u << width[i]) - 1);
            l2k_bits_put(&writer, value[i], width[i]);
            l2k_bits_put(&counter, value[i], width[i]);
        }
        l2k_bits_flush(&writer);
        l2k_bits_flush(&counter);
        assert_int_equal(writer.bytes, buffer.size);
        assert_int_equal(counter.bytes, buffer.size);
        for (size_t i = 0; i < buffer.size; i++)
            assert_false(buffer.data[i] == 0xFF && (i + 1 == buffer.size || buffer.data[i + 1] >= 0x80));
        l2k_bit_reader reader = l2k_bits_from(buffer.data, buffer.data + buffer.size);
        for (unsigned i = 0; i < count; i++)
            assert_int_equal(l2k_bits_get(&reader, width[i]), value[i]);
        l2k_bits_align(&reader);
        assert_false(reader.exhausted);
        assert_true(buffer.size == 0 || reader.next == buffer.data + buffer.size);
        l2k_buffer_release(&buffer);
    }
}

/* ---- The buffer ---------------------------------------------------------------------------------------------- */

static size_t allocations_left;

static void *few_allocations(void *user, size_t bytes)
{
    (void)user;
    return allocations_left-- > 0 ? malloc(bytes) : NULL;
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

static void test_buffer(void **unused)
{
    (void)unused;
    l2k_buffer buffer = {.context = &context};
    l2k_buffer_put(&buffer, 0x0102030405060708u, 8);
    l2k_buffer_put(&buffer, 0xABCDEF, 2);
    l2k_buffer_append(&buffer, "xyz", 3);
    l2k_buffer_put_byte(&buffer, 9);
    l2k_buffer_patch(&buffer, 1, 0xFFEE, 2);
    assert_int_equal(buffer.size, 14);
    assert_memory_equal(buffer.data, "\x01\xFF\xEE\x04\x05\x06\x07\x08\xCD\xEFxyz\x09", 14);
    assert_int_equal(l2k_buffer_status(&buffer), L2K_OK);
    l2k_buffer_release(&buffer);
}

/* After a failed allocation all later calls do nothing. */
static void test_buffer_failure(void **unused)
{
    (void)unused;
    l2k_context failing = {.hooks = {.allocate = few_allocations, .release = release}, .threads = 1};
    allocations_left = 1;
    l2k_buffer buffer = {.context = &failing};
    for (unsigned i = 0; i < 1000000 && !buffer.failed; i++)
        l2k_buffer_put(&buffer, i, 4);
    assert_true(buffer.failed);
    size_t size = buffer.size;
    allocations_left = 1000;
    l2k_buffer_append(&buffer, "xyz", 3);
    assert_int_equal(buffer.size, size);
    assert_int_equal(l2k_buffer_status(&buffer), L2K_ERROR_MEMORY);
    l2k_buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stuffing), cmocka_unit_test(test_reading),        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_buffer),   cmocka_unit_test(test_buffer_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
