/* JPEG 2000 codestreams as RTP packets (RFC 9828): a codestream is cut into packets while it is being written, and put
 * together again while they arrive.
 *
 * The bytes up to SOD of the first tile-part travel in main packets, all others in body packets. No resync points are
 * signalled (ORDH 0, ORDB 0): what is lost ends an image early. */
#ifndef RTP_J2K_H
#define RTP_J2K_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RTP_J2K_HEADER = 20,       /* bytes of the RTP header and the payload header */
    RTP_J2K_MOST_BYTES = 9000, /* of a packet */
    RTP_J2K_CLOCK = 90000,     /* Hz, of timestamps */
    RTP_J2K_SEQUENCE = 1 << 24 /* extended sequence numbers are below */
};

/* MH: what a packet contains of the headers of its codestream. */
enum { RTP_J2K_BODY = 0, RTP_J2K_MAIN_MORE = 1, RTP_J2K_MAIN_LAST = 2, RTP_J2K_MAIN_ONLY = 3 };

typedef struct rtp_j2k_header {
    /* RFC 3550, 5.1; the sequence number has ESEQ of the payload header as its upper 8 bits. */
    bool marker; /* the last packet of an image */
    uint8_t payload_type;
    uint32_t sequence, timestamp, ssrc;
    /* Every packet. */
    uint8_t mh, tp;   /* TP 0: progressive */
    uint16_t ptstamp; /* 12 bits, of the time when it is sent */
    /* Main packets. */
    uint8_t ordh, xtrac; /* xtrac: words of 4 bytes in front of the codestream's, which a reader skips */
    bool p;              /* PTSTAMP is valid, here and in the body packets that follow */
    bool r;              /* all images have these headers */
    bool s;              /* the next four are valid (ITU-T H.273) */
    bool c, range;       /* c: code-blocks may be left out, as those of the image before */
    uint8_t prims, trans, mat;
    /* Body packets. */
    uint8_t res, qual; /* 3 bits each; 0: any resolution, any layer */
    bool ordb;         /* there is a resync point, and the next two tell where */
    uint16_t pos;      /* 12 bits */
    uint32_t pid;      /* 20 bits */
} rtp_j2k_header;

/* Values beyond a field's width are cut. xtrac is written as 0. */
void rtp_j2k_write(const rtp_j2k_header *header, uint8_t bytes[RTP_J2K_HEADER]);

/* Reads the headers of a packet, and finds its bytes of the codestream behind CSRCs, extensions and XTRAB, without
 * padding. False if it is none. */
bool rtp_j2k_read(const uint8_t *packet, size_t bytes, rtp_j2k_header *header, const uint8_t **data, size_t *count);

/* ---- Sender -------------------------------------------------------------------------------------------------- */

typedef struct rtp_j2k_sender {
    /* Set by the caller. Of `header`: payload_type, sequence of the first packet, ssrc, tp, what main packets have. */
    rtp_j2k_header header;
    size_t most_bytes;                                            /* of a packet: the MTU less 28 for IPv4 and UDP */
    int (*send)(void *user, const uint8_t *packet, size_t bytes); /* 0, or -1, which the calls below return */
    void *user;
    uint32_t now; /* RTP_J2K_CLOCK, of any origin: set before each call if header.p */
    /* Internal. */
    uint32_t first;
    size_t count, skip;
    unsigned word, word_bytes;
    bool is_length, starts;
    uint8_t packet[RTP_J2K_MOST_BYTES];
} rtp_j2k_sender;

/* Starts an image, which is to be shown at `timestamp`. */
void rtp_j2k_begin(rtp_j2k_sender *sender, uint32_t timestamp);

/* Takes the next bytes of the codestream and sends the packets that are full. */
int rtp_j2k_put(rtp_j2k_sender *sender, const uint8_t *bytes, size_t count);

/* Sends what is there, for receivers not to wait for a full packet. More bytes must follow. */
int rtp_j2k_flush(rtp_j2k_sender *sender);

/* Sends the last packet. */
int rtp_j2k_end(rtp_j2k_sender *sender);

/* ---- Receiver ------------------------------------------------------------------------------------------------ */

/* Hands out the codestream of an image as far as packets arrive in order. The first that is missing ends it. Another
 * sender is known by its SSRC, or by two packets in order whose sequence numbers are far from those before. */
typedef struct rtp_j2k_receiver {
    /* Set by the caller. Any result but 0 ends rtp_j2k_take, which returns it. */
    int (*data)(void *user, const uint8_t *bytes, size_t count);
    int (*end)(void *user, bool complete);
    void *user;
    /* Results: packets lost, and packets that came late, twice, or were none of RFC 9828; the last header. */
    uint64_t lost, ignored;
    rtp_j2k_header header;
    /* Internal. The headers of the last image are kept where all images have them (R): then no image is lost with its
     * main packets. */
    bool started, in_image, is_kept;
    uint32_t resumes; /* the packet behind one with a number far away */
    size_t kept, kept_packets;
    uint8_t headers[RTP_J2K_MOST_BYTES];
} rtp_j2k_receiver;

int rtp_j2k_take(rtp_j2k_receiver *receiver, const uint8_t *packet, size_t bytes);

/* Ends an image whose last packets do not come. */
int rtp_j2k_give_up(rtp_j2k_receiver *receiver);

#endif
