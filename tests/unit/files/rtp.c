/* The packets of examples/rtp (RFC 9828): each field where the RFC puts it, a codestream cut and put together again, and
 * what a receiver makes of packets that are lost, late or damaged. */
#include "api_support.h"
#include "examples/rtp/rtp_j2k.h"

#include <string.h>

enum { MOST_PACKETS = 2000, MTU = 300, IMAGES = 3 };

static void assert_field_bits(const rtp_j2k_header *h, const uint8_t wanted[RTP_J2K_HEADER])
{
    uint8_t packet[RTP_J2K_HEADER + 4] = {0};
    rtp_j2k_header got;
    const uint8_t *data;
    size_t count;
    rtp_j2k_write(h, packet);
    assert_memory_equal(packet, wanted, RTP_J2K_HEADER);
    assert_true(rtp_j2k_read(packet, sizeof packet, &got, &data, &count));
    assert_ptr_equal(data, packet + RTP_J2K_HEADER);
    assert_int_equal(count, 4);
    uint8_t again[RTP_J2K_HEADER];
    rtp_j2k_write(&got, again);
    assert_memory_equal(again, wanted, RTP_J2K_HEADER);
}

static void test_main_fields(void **unused)
{
    (void)unused;
    const rtp_j2k_header h = {.marker = true,
                              .payload_type = 96,
                              .sequence = 0xAB1234,
                              .timestamp = 0x01020304,
                              .ssrc = 0xA1A2A3A4,
                              .mh = RTP_J2K_MAIN_LAST,
                              .tp = 5,
                              .ordh = 4,
                              .p = true,
                              .ptstamp = 0xC5D,
                              .r = true,
                              .c = true,
                              .range = true,
                              .prims = 9,
                              .trans = 16,
                              .mat = 10};
    assert_field_bits(&h, (const uint8_t[]){0x80, 0xE0, 0x12, 0x34, 1,    2,    3,    4, 0xA1, 0xA2,
                                            0xA3, 0xA4, 0xAC, 0x8C, 0x5D, 0xAB, 0xA1, 9, 16,   10});
    rtp_j2k_header other = h;
    other.r = other.c = other.range = other.p = other.marker = false;
    other.s = true;
    assert_field_bits(&other, (const uint8_t[]){0x80, 0x60, 0x12, 0x34, 1,    2,    3,    4, 0xA1, 0xA2,
                                                0xA3, 0xA4, 0xAC, 0x0C, 0x5D, 0xAB, 0x40, 9, 16,   10});
}

static void test_body_fields(void **unused)
{
    (void)unused;
    const rtp_j2k_header h = {.payload_type = 127,
                              .sequence = 0x00FFFF,
                              .tp = 2,
                              .res = 7,
                              .qual = 3,
                              .ordb = true,
                              .ptstamp = 0x123,
                              .pos = 0x456,
                              .pid = 0x789AB};
    assert_field_bits(&h, (const uint8_t[]){0x80, 0x7F, 0xFF, 0xFF, 0,    0, 0,    0,    0,    0,
                                            0,    0,    0x17, 0xB1, 0x23, 0, 0x45, 0x67, 0x89, 0xAB});
}

/* Sources, an extension, XTRAB and padding, each of which a reader skips; and all lengths that are too short. */
static void test_optional_parts(void **unused)
{
    (void)unused;
    uint8_t packet[] = {0xB1, 0x60, 0,    1, 0, 0, 0, 0, 0, 0, 0, 0, /* one source, extension, padding */
                        1,    2,    3,    4, 9, 9, 0, 1, 8, 8, 8, 8, /* the source, an extension of a word */
                        0xC0, 0x10, 0,    0, 0, 0, 0, 0, 7, 7, 7, 7, /* XTRAC 1 */
                        0xFF, 0x4F, 0xFF, 2};
    rtp_j2k_header h;
    const uint8_t *data;
    size_t count;
    assert_true(rtp_j2k_read(packet, sizeof packet, &h, &data, &count));
    assert_int_equal(count, 2);
    assert_int_equal(data[1], 0x4F);
    assert_int_equal(h.xtrac, 1);
    packet[sizeof packet - 1] = 5;
    assert_false(rtp_j2k_read(packet, sizeof packet, &h, &data, &count));
    packet[sizeof packet - 1] = 255;
    assert_false(rtp_j2k_read(packet, sizeof packet, &h, &data, &count));
    for (size_t bytes = 0; bytes < sizeof packet; bytes++) {
        uint8_t *copy = malloc(bytes + 1); /* for sanitizers */
        memcpy(copy, packet, bytes);
        assert_true(!rtp_j2k_read(copy, bytes, &h, &data, &count) || count <= bytes - RTP_J2K_HEADER);
        free(copy);
    }
    packet[0] ^= 0xC0; /* version 1 */
    assert_false(rtp_j2k_read(packet, sizeof packet, &h, &data, &count));
}

/* ---- Codestreams --------------------------------------------------------------------------------------------- */

typedef struct sent {
    uint8_t *packets[MOST_PACKETS];
    size_t sizes[MOST_PACKETS], count, first[IMAGES + 1];
} sent;

static int collect(void *user, const uint8_t *packet, size_t bytes)
{
    sent *s = user;
    assert_true(s->count < MOST_PACKETS && bytes <= MTU);
    s->packets[s->count] = memcpy(malloc(bytes), packet, bytes);
    s->sizes[s->count++] = bytes;
    return 0;
}

static memory_file codestream(void)
{
    picture p;
    picture_make(&p, 70, 50, 3);
    const encoder_setting settings[] = {{L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM}, {L2K_ENCODER_STYLE, L2K_STYLE_HT}};
    memory_file file = encode_with_all(&p, settings, 2);
    picture_free(&p);
    return file;
}

/* In pieces of random sizes, as an encoder writes them. */
static void send_images(const memory_file *file, rtp_j2k_header header, sent *s)
{
    rtp_j2k_sender sender = {.header = header, .most_bytes = MTU, .send = collect, .user = s};
    memset(s, 0, sizeof *s);
    for (unsigned i = 0; i < IMAGES; i++) {
        s->first[i] = s->count;
        sender.now = 70000 * i;
        rtp_j2k_begin(&sender, 1000 + 3600 * i);
        for (size_t at = 0, piece; at < file->size; at += piece) {
            piece = random_between(1, 400);
            piece = piece < file->size - at ? piece : file->size - at;
            assert_int_equal(rtp_j2k_put(&sender, file->data + at, piece), 0);
            sender.now += 7;
            if (at + piece < file->size && random_below(4) == 0)
                assert_int_equal(rtp_j2k_flush(&sender), 0);
        }
        assert_int_equal(rtp_j2k_end(&sender), 0);
    }
    s->first[IMAGES] = s->count;
}

static void forget(sent *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->packets[i]);
}

static size_t headers_size(const memory_file *file)
{
    size_t at = 2;
    while (file->data[at + 1] != 0x93)
        at += 2u + file->data[at + 2] * 256u + file->data[at + 3];
    return at + 2;
}

static void test_sender(void **unused)
{
    (void)unused;
    memory_file file = codestream();
    sent s;
    send_images(&file, (rtp_j2k_header){.sequence = RTP_J2K_SEQUENCE - 2, .p = true}, &s);
    for (unsigned i = 0; i < IMAGES; i++) {
        size_t bytes = 0, headers = 0;
        uint16_t before = 0;
        for (size_t k = s.first[i]; k < s.first[i + 1]; k++) {
            rtp_j2k_header h;
            const uint8_t *data;
            size_t count;
            assert_true(rtp_j2k_read(s.packets[k], s.sizes[k], &h, &data, &count));
            assert_int_equal(h.sequence, (RTP_J2K_SEQUENCE - 2 + k) % RTP_J2K_SEQUENCE);
            assert_int_equal(h.timestamp, 1000 + 3600 * i);
            assert_int_equal(h.marker, k + 1 == s.first[i + 1]);
            const uint16_t offset = (uint16_t)(h.ptstamp - h.timestamp) & 0xFFF;
            assert_true(k == s.first[i] ? offset == 0 : offset >= before);
            before = offset;
            assert_memory_equal(data, file.data + bytes, count);
            bytes += count;
            headers += h.mh == RTP_J2K_BODY ? 0 : count;
            if (h.mh == RTP_J2K_MAIN_ONLY)
                assert_int_equal(k, s.first[i]);
            if (h.mh == RTP_J2K_MAIN_LAST || h.mh == RTP_J2K_MAIN_ONLY)
                assert_int_equal(bytes, headers_size(&file));
        }
        assert_int_equal(bytes, file.size);
        assert_int_equal(headers, headers_size(&file));
    }
    forget(&s);
    free(file.data);
}

/* ---- Receivers ----------------------------------------------------------------------------------------------- */

typedef struct got {
    uint8_t *bytes;
    size_t size, images, complete, sizes[IMAGES];
} got;

static int take_data(void *user, const uint8_t *bytes, size_t count)
{
    got *g = user;
    memcpy(g->bytes + g->size, bytes, count);
    g->size += count;
    return 0;
}

static int take_end(void *user, bool complete)
{
    got *g = user;
    g->sizes[g->images++] = g->size;
    g->complete += complete;
    g->size = 0;
    return 0;
}

/* All packets but `count` from `lost` on; each `twice`. Every image that comes is the codestream as far as it goes. */
static got receive(const sent *s, const memory_file *file, size_t lost, size_t count, bool twice, uint64_t *missing)
{
    got g = {.bytes = malloc(file->size)};
    rtp_j2k_receiver receiver = {.data = take_data, .end = take_end, .user = &g};
    for (size_t k = 0; k < s->count; k++)
        for (int turn = 0; turn < 1 + twice && (k < lost || k >= lost + count); turn++) {
            assert_int_equal(rtp_j2k_take(&receiver, s->packets[k], s->sizes[k]), 0);
            assert_memory_equal(g.bytes, file->data, g.size);
        }
    assert_int_equal(rtp_j2k_give_up(&receiver), 0);
    assert_int_equal(receiver.ignored, twice ? s->count : 0);
    *missing = receiver.lost;
    free(g.bytes);
    return g;
}

static void test_losses(void **unused)
{
    (void)unused;
    memory_file file = codestream();
    for (int reuse = 0; reuse < 2; reuse++) {
        uint64_t missing;
        sent s;
        send_images(&file, (rtp_j2k_header){.sequence = RTP_J2K_SEQUENCE - 30, .r = reuse}, &s);
        got all = receive(&s, &file, 0, 0, true, &missing);
        assert_true(all.images == IMAGES && all.complete == IMAGES && missing == 0);
        for (size_t k = 0; k < s.count; k++) {
            const bool first = k == s.first[0] || k == s.first[1] || k == s.first[2];
            const size_t count = s.packets[k][12] >> 6 == RTP_J2K_MAIN_ONLY ? 1 : 2;
            got g = receive(&s, &file, k, first ? count : 1, false, &missing);
            if (first && reuse && k > 0) {
                assert_true(g.images == IMAGES && g.complete == IMAGES && missing == count);
            } else {
                assert_int_equal(g.complete, IMAGES - 1);
                assert_int_equal(g.images, first ? IMAGES - 1 : IMAGES);
                assert_int_equal(missing, k == 0 || k + 1 == s.count ? 0 : first ? count : 1);
            }
        }
        forget(&s);
    }
    free(file.data);
}

/* Main packets that are lost in part are not kept for the next image. */
static void test_part_of_headers(void **unused)
{
    (void)unused;
    memory_file file = codestream();
    static uint8_t bytes[100000];
    sent s;
    uint64_t missing;
    static const uint8_t comment[] = {0xFF, 0x64, 1, 200, 0, 1}; /* makes headers of two packets or more */
    memcpy(bytes, file.data, 2);
    const size_t siz = 4u + file.data[4] * 256u + file.data[5];
    memcpy(bytes, file.data, siz);
    memcpy(bytes + siz, comment, sizeof comment);
    memset(bytes + siz + sizeof comment, 'a', 456 - 4);
    memcpy(bytes + siz + 458, file.data + siz, file.size - siz);
    memory_file longer = memory_of(bytes, file.size + 458);
    send_images(&longer, (rtp_j2k_header){.r = true}, &s);
    assert_int_equal(s.packets[0][12] >> 6, RTP_J2K_MAIN_MORE);
    got g = receive(&s, &longer, 1, 1, false, &missing);
    assert_true(g.images == IMAGES && g.complete == IMAGES - 1 && g.sizes[0] == s.sizes[0] - RTP_J2K_HEADER);
    g = receive(&s, &longer, 0, 1, false, &missing);
    assert_true(g.images == IMAGES - 1 && g.complete == IMAGES - 1);
    /* The end of that image, and of another one all but one packet in front of its body. */
    got part = {.bytes = malloc(longer.size)};
    rtp_j2k_receiver receiver = {.data = take_data, .end = take_end, .user = &part};
    const size_t tail = s.first[1] - 1, body = s.first[1] + 3;
    s.packets[body][3] = (uint8_t)(s.packets[tail][3] + 2);
    rtp_j2k_take(&receiver, s.packets[0], s.sizes[0]);
    rtp_j2k_take(&receiver, s.packets[tail], s.sizes[tail]);
    rtp_j2k_take(&receiver, s.packets[body], s.sizes[body]);
    assert_true(part.images == 1 && part.size == 0 && !receiver.in_image);
    free(part.bytes);
    forget(&s);
    free(file.data);
}

/* Another sender, one whose numbers start anew, and a number that is far off. */
static void test_restarts(void **unused)
{
    (void)unused;
    memory_file file = codestream();
    for (unsigned kind = 0; kind < 3; kind++) {
        sent s[2];
        got g = {.bytes = malloc(file.size)};
        rtp_j2k_receiver receiver = {.data = take_data, .end = take_end, .user = &g};
        send_images(&file, (rtp_j2k_header){.sequence = 500000}, &s[0]);
        send_images(&file, (rtp_j2k_header){.ssrc = kind == 0}, &s[1]);
        if (kind == 2)
            s[0].packets[s[0].count - 2][15] ^= 0x40; /* ESEQ */
        for (size_t i = 0; i < s[0].count; i++)
            rtp_j2k_take(&receiver, s[0].packets[i], s[0].sizes[i]);
        assert_int_equal(g.complete, kind == 2 ? IMAGES - 1 : IMAGES);
        assert_int_equal(receiver.ignored, kind == 2);
        g.images = 0;
        for (size_t i = 0; i < s[1].count; i++)
            rtp_j2k_take(&receiver, s[1].packets[i], s[1].sizes[i]);
        assert_int_equal(g.images, kind == 0 ? IMAGES : IMAGES - 1); /* a lone packet far away is not believed */
        assert_int_equal(receiver.lost, kind == 2);
        forget(&s[0]);
        forget(&s[1]);
        free(g.bytes);
    }
    free(file.data);
}

/* Any bytes: no read beyond them, and no image that does not begin with SOC. */
static void test_hostile(void **unused)
{
    (void)unused;
    memory_file file = codestream();
    sent s;
    send_images(&file, (rtp_j2k_header){.r = true}, &s);
    for (unsigned turn = 0; turn < 3000; turn++) {
        got g = {.bytes = malloc(2 * file.size * MOST_PACKETS / 50)};
        rtp_j2k_receiver receiver = {.data = take_data, .end = take_end, .user = &g};
        for (unsigned i = 0; i < 20; i++) {
            const size_t k = random_below(s.count), bytes = random_below(3) ? s.sizes[k] : random_below(s.sizes[k] + 1);
            uint8_t *packet = memcpy(malloc(bytes + 1), s.packets[k], bytes);
            for (unsigned n = random_below(4); n > 0 && bytes > 0; n--)
                packet[random_below(bytes < 30 ? bytes : 30)] = (uint8_t)random_below(256);
            g.images = 0;
            assert_int_equal(rtp_j2k_take(&receiver, packet, bytes), 0);
            assert_true(g.size < 2 || (g.bytes[0] == 0xFF && g.bytes[1] == 0x4F));
            free(packet);
        }
        free(g.bytes);
    }
    forget(&s);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_main_fields),    cmocka_unit_test(test_body_fields),
                                       cmocka_unit_test(test_optional_parts), cmocka_unit_test(test_sender),
                                       cmocka_unit_test(test_losses),         cmocka_unit_test(test_part_of_headers),
                                       cmocka_unit_test(test_restarts),       cmocka_unit_test(test_hostile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
