#include "plugins/gdal/source.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>

int lift2k_threads()
{
    const char *text = CPLGetConfigOption("GDAL_NUM_THREADS", "ALL_CPUS");
    return EQUAL(text, "ALL_CPUS") ? 0 : std::max(1, std::min(atoi(text), 128));
}

/* ---- Messages ------------------------------------------------------------------------------------------------ */

l2k_hooks Messages::hooks()
{
    l2k_hooks hooks = {};
    hooks.user = this;
    hooks.message = [](void *user, l2k_severity severity, const char *text) {
        Messages *self = static_cast<Messages *>(user);
        const std::lock_guard<std::mutex> guard(self->lock);
        self->texts.emplace_back(severity, text);
    };
    return hooks;
}

void Messages::clear()
{
    texts.clear();
}

void Messages::report()
{
    for (const auto &text : texts)
        if (text.first == L2K_SEVERITY_NOTE)
            CPLDebug("JP2Lift2k", "%s", text.second.c_str());
        else
            CPLError(text.first == L2K_SEVERITY_ERROR ? CE_Failure : CE_Warning, CPLE_AppDefined, "%s",
                     text.second.c_str());
    texts.clear();
}

/* ---- The file ------------------------------------------------------------------------------------------------ */

Source::Source(VSILFILE *file_, const char *name, uint64_t at_, uint64_t bytes_)
    : file(file_), at(at_), bytes(bytes_), by_rounds(VSIHasOptimizedReadMultiRange(name))
{
    const l2k_hooks hooks = messages.hooks();
    decoder = l2k_decoder_new(&hooks);
}

Source::~Source()
{
    l2k_decoder_free(decoder);
    VSIFCloseL(file);
}

/* What GDAL reads first of a file far away, and keeps. */
enum { FIRST_BYTES = 16384 };

l2k_status Source::open(l2k_info *info)
{
    const l2k_file opened = {bytes, read_at, this};
    if (by_rounds && at < FIRST_BYTES) {
        std::vector<uint8_t> &first = parts[0];
        first.resize(std::min(bytes, FIRST_BYTES - at));
        if (VSIFSeekL(file, at, SEEK_SET) != 0 || VSIFReadL(first.data(), 1, first.size(), file) != first.size())
            parts.clear();
    }
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, lift2k_threads());
    l2k_status status = run([&] { return l2k_decoder_open_file(decoder, &opened); });
    if (status == L2K_OK)
        status = run([&] { return l2k_decoder_info(decoder, info); });
    has_lengths = status == L2K_OK && info->plt;
    return status;
}

int Source::read_at(void *user, uint64_t offset, void *buffer, size_t bytes)
{
    return static_cast<Source *>(user)->read(offset, buffer, bytes);
}

int Source::read(uint64_t offset, void *buffer, size_t count)
{
    if (!by_rounds)
        return VSIFSeekL(file, at + offset, SEEK_SET) == 0 && VSIFReadL(buffer, 1, count, file) == count ? 0 : -1;
    if (copy(offset, buffer, count))
        return 0;
    uint64_t &to = wanted[offset];
    to = std::max(to, offset + count);
    return 1;
}

/* False if a part of it has not been read. */
bool Source::copy(uint64_t offset, void *buffer, size_t count) const
{
    for (uint8_t *out = static_cast<uint8_t *>(buffer); count > 0;) {
        const auto next = parts.upper_bound(offset);
        if (next == parts.begin())
            return false;
        const auto &[start, data] = *std::prev(next);
        const uint64_t skip = offset - start;
        if (skip >= data.size())
            return false;
        const size_t taken = std::min<size_t>(count, data.size() - skip);
        memcpy(out, data.data() + skip, taken);
        out += taken;
        offset += taken;
        count -= taken;
    }
    return true;
}

/* Without PLT the next packet's place is known when the one before has been read. Where a round asks for little, its ranges
 * reach further: those of tile headers up to a tile's usual size, the next ones a quarter of what they follow, and then
 * twice as far in each round. */
uint64_t Source::ahead(uint64_t asked) const
{
    enum { LITTLE = 1 << 10, MOST = 1 << 20, SHARED = 1 << 22 };
    const uint64_t usual = rounds == 1 ? uint64_t(MOST) : (fetched / ranges << std::min(rounds, 16u)) / 16;
    return has_lengths || asked > LITTLE ? 0 : std::min<uint64_t>({MOST, SHARED / wanted.size(), usual});
}

/* Reads what calls asked for since the last round. */
bool Source::fetch()
{
    std::vector<vsi_l_offset> offsets;
    std::vector<size_t> sizes;
    std::vector<void *> buffers;
    std::vector<Parts::iterator> added;
    uint64_t end = 0;
    rounds++;
    for (const auto &part : wanted) {
        const uint64_t from = std::max(part.first, end),
                       to = std::min(part.second + ahead(part.second - part.first), bytes);
        if (from >= to)
            continue;
        end = to;
        const auto place = parts.insert_or_assign(from, std::vector<uint8_t>(to - from)).first;
        added.push_back(place);
        offsets.push_back(at + from);
        sizes.push_back(to - from);
        buffers.push_back(place->second.data());
    }
    for (size_t size : sizes)
        fetched += size;
    ranges += added.size();
    wanted.clear();
    return !added.empty() &&
           VSIFReadMultiRangeL(static_cast<int>(added.size()), buffers.data(), offsets.data(), sizes.data(), file) == 0;
}

void Source::finish()
{
    if (rounds > 0)
        CPLDebug("JP2Lift2k", "%u rounds", rounds);
    rounds = 0;
    fetched = ranges = 0;
    wanted.clear();
    parts.clear();
    messages.report();
}
