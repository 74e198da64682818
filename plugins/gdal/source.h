/* A codestream inside a file of GDAL's, with its decoder. */
#ifndef SOURCE_H
#define SOURCE_H

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <cpl_vsi.h>

#include <lift2k/lift2k.h>

/* Decoders of GDAL_NUM_THREADS threads, and encoders: 0 stands for all processors. */
int lift2k_threads();

/* Messages of the library, from any thread, until GDAL takes them on the caller's. */
class Messages
{
  public:
    l2k_hooks hooks();
    void clear();
    void report(); /* to CPLError */

  private:
    std::mutex lock;
    std::vector<std::pair<l2k_severity, std::string>> texts;
};

/* Where GDAL can read several ranges of a file at once (/vsicurl/, /vsis3/), the decoder collects what it lacks, and a
 * round reads all of that together. */
class Source
{
  public:
    Source(VSILFILE *file, const char *name, uint64_t at, uint64_t bytes);
    ~Source();

    Source(const Source &) = delete;
    Source &operator=(const Source &) = delete;

    l2k_status open(l2k_info *info);

    /* Makes a call, again after each round, and reports what it says last. */
    template <class Call> l2k_status run(const Call &call)
    {
        l2k_status status;
        do {
            messages.clear();
            status = call();
        } while (status == L2K_ERROR_IO && fetch());
        finish();
        return status;
    }

    VSILFILE *const file;
    const uint64_t at, bytes; /* of the codestream */
    l2k_decoder *decoder;
    bool has_lengths = true; /* PLT */

  private:
    typedef std::map<uint64_t, std::vector<uint8_t>> Parts; /* by offset, without overlaps */

    static int read_at(void *user, uint64_t offset, void *buffer, size_t bytes);
    int read(uint64_t offset, void *buffer, size_t bytes);
    bool copy(uint64_t offset, void *buffer, size_t bytes) const;
    bool fetch();
    uint64_t ahead(uint64_t asked) const;
    void finish();

    const bool by_rounds;
    Messages messages;
    Parts parts;
    std::map<uint64_t, uint64_t> wanted; /* from, to */
    unsigned rounds = 0;
    uint64_t fetched = 0, ranges = 0; /* in these */
};

#endif
