/* Directories of TIFF files (TIFF 6.0, section 2; BigTIFF), of which Exif also consists: found, and copied from one
 * file into another of either byte order. */
#ifndef L2K_PICTURES_FORMATS_IFD_H
#define L2K_PICTURES_FORMATS_IFD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tags that point to further directories, which are copied with them. */
enum { CLI_TAG_EXIF = 34665, CLI_TAG_GPS = 34853, CLI_TAG_INTEROPERABILITY = 40965 };

/* A TIFF file, or Exif in memory. */
typedef struct cli_ifd_source {
    ptrdiff_t (*read)(const void *user, void *buffer, size_t bytes, uint64_t offset); /* as pread */
    const void *user;
    bool big_endian, big; /* BigTIFF */
    uint64_t first;       /* the first directory */
} cli_ifd_source;

/* A value: `bytes` bytes at `at`. */
typedef struct cli_ifd_entry {
    uint16_t tag, type;
    uint64_t count, bytes, at;
} cli_ifd_entry;

/* For a source in memory: `user` is a cli_blob, which must outlive the source. */
ptrdiff_t cli_ifd_read_blob(const void *user, void *buffer, size_t bytes, uint64_t offset);

/* Reads the header with source->read. False if it is none. All functions are silent. */
bool cli_ifd_open(cli_ifd_source *source);

/* Looks for a tag in the directory at `ifd`. False if missing or damaged. */
bool cli_ifd_find(const cli_ifd_source *source, uint64_t ifd, uint16_t tag, cli_ifd_entry *entry);

/* The value in a byte order; a 0 follows it. At most `most` bytes, else NULL. To be freed. */
uint8_t *cli_ifd_load(const cli_ifd_source *source, const cli_ifd_entry *entry, size_t most, bool big_endian);

/* The first number of an integer value; 0 if there is none. */
uint64_t cli_ifd_number(const cli_ifd_source *source, const cli_ifd_entry *entry);

/* The target of copied directories: bytes that will be at `base` of a file. */
typedef struct cli_ifd_sink {
    uint8_t *data; /* owned by the caller */
    size_t bytes, capacity;
    uint64_t base;
    bool big_endian, big;
    unsigned depth; /* of the directory that is copied, inside others */
} cli_ifd_sink;

bool cli_ifd_append(cli_ifd_sink *sink, const void *data, size_t bytes);

enum { CLI_MOST_TAGS = 16 };

/* A tag that the copy adds to those of the source: one number of 16 bits. */
typedef struct cli_ifd_tag {
    uint16_t tag, value;
} cli_ifd_tag;

/* Appends the directory at `ifd` with its values and the directories that its tags above point to. `only`: a list of
 * ascending tags, which ends with 0; NULL = all. Tags out of order and values of types that Exif does not have are left
 * out. `more`: at most CLI_MOST_TAGS tags with numbers below those, which ascend too and end with 0; or NULL. *place
 * gets its offset in the file. False if it is damaged, larger than CLI_MOST_METADATA, or for want of memory. */
bool cli_ifd_copy(const cli_ifd_source *source, uint64_t ifd, const uint16_t *only, const cli_ifd_tag *more,
                  cli_ifd_sink *sink, uint64_t *place);

#endif
