#include "rtp_j2k.h"

#include <string.h>

enum { SOC = 0xFF4F, SOD = 0xFF93, MOST_MISSING = 3000, MOST_LATE = 100 /* packets: RFC 3550, A.1 */ };

static void put32(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t get32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

void rtp_j2k_write(const rtp_j2k_header *h, uint8_t bytes[RTP_J2K_HEADER])
{
    const bool body = h->mh == RTP_J2K_BODY;
    const uint32_t low = body ? h->res : h->ordh, high = (body ? h->ordb : h->p) * 8u + (body ? h->qual & 7u : 0);
    put32(bytes, 2u << 30 | (uint32_t)h->marker << 23 | (h->payload_type & 127u) << 16 | (h->sequence & 0xFFFF));
    put32(bytes + 4, h->timestamp);
    put32(bytes + 8, h->ssrc);
    put32(bytes + 12, (h->mh & 3u) << 30 | (h->tp & 7u) << 27 | (low & 7u) << 24 | high << 20 |
                          (h->ptstamp & 0xFFFu) << 8 | (h->sequence >> 16 & 0xFF));
    put32(bytes + 16, body ? (h->pos & 0xFFFu) << 20 | (h->pid & 0xFFFFF)
                           : (uint32_t)h->r << 31 | (uint32_t)h->s << 30 | (uint32_t)h->c << 29 |
                                 (uint32_t)h->range << 24 | (uint32_t)h->prims << 16 | h->trans << 8 | h->mat);
}

static void read_payload_header(const uint8_t *bytes, rtp_j2k_header *h)
{
    const uint32_t first = get32(bytes), second = get32(bytes + 4);
    h->mh = first >> 30;
    h->tp = first >> 27 & 7;
    h->ptstamp = first >> 8 & 0xFFF;
    h->sequence |= (first & 0xFF) << 16;
    if (h->mh == RTP_J2K_BODY) {
        h->res = first >> 24 & 7;
        h->ordb = first >> 23 & 1;
        h->qual = first >> 20 & 7;
        h->pos = (uint16_t)(second >> 20);
        h->pid = second & 0xFFFFF;
        return;
    }
    h->ordh = first >> 24 & 7;
    h->p = first >> 23 & 1;
    h->xtrac = first >> 20 & 7;
    h->r = second >> 31;
    h->s = second >> 30 & 1;
    h->c = second >> 29 & 1;
    h->range = second >> 24 & 1;
    h->prims = (uint8_t)(second >> 16);
    h->trans = (uint8_t)(second >> 8);
    h->mat = (uint8_t)second;
}

bool rtp_j2k_read(const uint8_t *packet, size_t bytes, rtp_j2k_header *h, const uint8_t **data, size_t *count)
{
    if (bytes < RTP_J2K_HEADER || packet[0] >> 6 != 2)
        return false;
    size_t at = 12 + 4 * (packet[0] & 15u), end = bytes;
    if (packet[0] & 0x10) /* an extension, with its length in words */
        at += bytes < at + 4 ? bytes : 4 + 4 * (get32(packet + at) & 0xFFFF);
    if (packet[0] & 0x20)
        end -= packet[bytes - 1] < bytes ? packet[bytes - 1] : bytes;
    if (at > end || end - at < 8)
        return false;
    memset(h, 0, sizeof *h);
    h->marker = packet[1] >> 7;
    h->payload_type = packet[1] & 127;
    h->sequence = get32(packet) & 0xFFFF;
    h->timestamp = get32(packet + 4);
    h->ssrc = get32(packet + 8);
    read_payload_header(packet + at, h);
    at += 8 + 4u * h->xtrac;
    if (at > end)
        return false;
    *data = packet + at;
    *count = end - at;
    return true;
}

/* ---- Sender -------------------------------------------------------------------------------------------------- */

void rtp_j2k_begin(rtp_j2k_sender *s, uint32_t timestamp)
{
    s->header.timestamp = timestamp;
    s->header.mh = RTP_J2K_MAIN_MORE;
    s->starts = true;
    s->is_length = false;
    s->count = s->skip = s->word = s->word_bytes = 0;
}

/* PTSTAMP counts from the first packet of an image, whose own is its timestamp. */
static int emit(rtp_j2k_sender *s, uint8_t mh, bool marker)
{
    rtp_j2k_header header = s->header;
    if (s->starts)
        s->first = s->now;
    s->starts = false;
    header.mh = mh;
    header.marker = marker;
    header.ptstamp = header.p ? (uint16_t)((header.timestamp + s->now - s->first) & 0xFFF) : 0;
    rtp_j2k_write(&header, s->packet);
    s->header.sequence = (s->header.sequence + 1) % RTP_J2K_SEQUENCE;
    const size_t bytes = RTP_J2K_HEADER + s->count;
    s->count = 0;
    return s->send(s->user, s->packet, bytes);
}

/* Follows the marker segments byte by byte: whether this was the last one of SOD. */
static bool ends_headers(rtp_j2k_sender *s, uint8_t byte)
{
    if (s->skip) {
        s->skip--;
        return false;
    }
    s->word = (s->word << 8 | byte) & 0xFFFF;
    if (++s->word_bytes < 2)
        return false;
    s->word_bytes = 0;
    if (s->is_length)
        s->skip = s->word > 2 ? s->word - 2 : 0;
    else if (s->word == SOD)
        return true;
    s->is_length = !s->is_length && s->word != SOC;
    return false;
}

int rtp_j2k_put(rtp_j2k_sender *s, const uint8_t *bytes, size_t count)
{
    const size_t room = (s->most_bytes < sizeof s->packet ? s->most_bytes : sizeof s->packet) - RTP_J2K_HEADER;
    int status = 0;
    while (count > 0 && status == 0) {
        size_t taken = room - s->count < count ? room - s->count : count;
        if (taken == 0) { /* a full packet, after which more is to come */
            status = emit(s, s->header.mh, false);
            continue;
        }
        bool ends = false;
        if (s->header.mh != RTP_J2K_BODY) {
            size_t i = 0;
            while (i < taken && !ends)
                ends = ends_headers(s, bytes[i++]);
            taken = i;
        }
        memcpy(s->packet + RTP_J2K_HEADER + s->count, bytes, taken);
        s->count += taken;
        bytes += taken;
        count -= taken;
        if (ends) {
            status = emit(s, s->starts ? RTP_J2K_MAIN_ONLY : RTP_J2K_MAIN_LAST, false);
            s->header.mh = RTP_J2K_BODY;
        }
    }
    return status;
}

int rtp_j2k_flush(rtp_j2k_sender *s)
{
    return s->count && s->header.mh == RTP_J2K_BODY ? emit(s, RTP_J2K_BODY, false) : 0;
}

int rtp_j2k_end(rtp_j2k_sender *s)
{
    return emit(s, s->header.mh, true);
}

/* ---- Receiver ------------------------------------------------------------------------------------------------ */

static int end(rtp_j2k_receiver *r, bool complete)
{
    if (!r->in_image)
        return 0;
    r->in_image = false;
    return r->end(r->user, complete);
}

int rtp_j2k_give_up(rtp_j2k_receiver *r)
{
    return end(r, false);
}

/* Keeps the headers that an image begins with. */
static void keep(rtp_j2k_receiver *r, const rtp_j2k_header *h, const uint8_t *data, size_t count)
{
    const bool fits = h->r && count <= sizeof r->headers - r->kept;
    r->is_kept = fits && h->mh != RTP_J2K_MAIN_MORE;
    if (fits)
        memcpy(r->headers + r->kept, data, count);
    r->kept = fits ? r->kept + count : sizeof r->headers; /* full: no more fits */
    r->kept_packets++;
}

static bool begins(const uint8_t *data, size_t count)
{
    return count >= 2 && data[0] << 8 == (SOC & 0xFF00) && data[1] == (SOC & 0xFF);
}

int rtp_j2k_take(rtp_j2k_receiver *r, const uint8_t *packet, size_t bytes)
{
    const uint8_t *data;
    size_t count;
    rtp_j2k_header h;
    const rtp_j2k_header last = r->header;
    if (!rtp_j2k_read(packet, bytes, &h, &data, &count))
        return r->ignored++, 0;
    uint32_t gap = (h.sequence - last.sequence - 1) % RTP_J2K_SEQUENCE;
    const bool is_far = gap > MOST_MISSING && gap < RTP_J2K_SEQUENCE - MOST_LATE;
    if (r->started && h.ssrc == last.ssrc && gap > MOST_MISSING && (!is_far || h.sequence != r->resumes)) {
        r->resumes = is_far ? (h.sequence + 1) % RTP_J2K_SEQUENCE : r->resumes;
        return r->ignored++, 0;
    }
    if (h.ssrc != last.ssrc || is_far)
        r->started = false;
    gap = r->started ? gap : 0;
    const bool is_new = !r->started || h.timestamp != last.timestamp;
    int status = gap || is_new ? end(r, false) : 0;
    r->started = true;
    r->header = h;
    r->resumes = RTP_J2K_SEQUENCE; /* none */
    r->lost += gap;
    if (is_new && h.mh != RTP_J2K_BODY) {
        r->in_image = begins(data, count); /* else its first packet was lost */
        r->kept = r->kept_packets = 0;
        r->is_kept = false;
    } else if (status == 0 && is_new && last.marker && r->is_kept && gap == r->kept_packets) {
        r->in_image = true; /* only its main packets were lost */
        status = r->data(r->user, r->headers, r->kept);
    }
    if (r->in_image && h.mh != RTP_J2K_BODY)
        keep(r, &h, data, count);
    if (status == 0 && r->in_image)
        status = r->data(r->user, data, count);
    return status == 0 && h.marker ? end(r, true) : status;
}
