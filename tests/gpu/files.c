/* gpu_files: JPEG 2000 files decoded on the CUDA backend, into host and device memory, give the same status and samples
 * as on the CPU: whole, without one and two resolutions, and component 0 alone. For test sets such as T.803's, of which
 * the CPU's results are compared with the references (conformance/t803/t803.c).
 *
 *     gpu_files FILE ...
 *
 * Exits with 77 without a GPU, unless L2K_REQUIRE_GPU=1. */
#include "planes.h"
#include "require.h"

enum { WAYS = 4 };

static const decoding ways[WAYS] = {{0}, {.reduce = 1}, {.reduce = 2}, {.one_component = true}};

typedef struct counts {
    unsigned long decodings, decoded, refused, host_alone, on_cpu, failures;
} counts;

static talk said;

static l2k_decoder *new_decoder(void)
{
    const l2k_hooks hooks = {.message = talk_message, .user = &said};
    l2k_decoder *d = l2k_decoder_new(&hooks);
    if (!d)
        exit(1);
    return d;
}

static void compare(l2k_decoder *d, const char *name, const bytes *file, unsigned way, counts *n)
{
    outcome expected = decode_at(d, file, ON_CPU, way);
    for (place where = FROM_HOST; where < PLACES; where++) {
        said = (talk){.notes = 0};
        outcome got = decode_at(d, file, where, way);
        /* Palettes are applied in host memory alone. */
        const bool alone = where == FROM_DEVICE && got.status == L2K_ERROR_UNSUPPORTED && expected.status == L2K_OK;
        const char *what = alone ? NULL : outcomes_differ(&expected, &got);
        n->decodings++;
        n->decoded += got.memory != NULL;
        n->refused += got.memory == NULL && !alone;
        n->host_alone += alone;
        n->on_cpu += said.notes > 0;
        if (said.notes)
            printf("%s, way %u: %s\n", name, way, said.note);
        if (what) {
            printf("FAILED: %s, way %u, %s: %s: %s, %s; %s\n", name, way, place_names[where], what,
                   l2k_strerror(expected.status), l2k_strerror(got.status), said.error);
            n->failures++;
        }
        outcome_free(&got);
    }
    outcome_free(&expected);
}

int main(int count, char **arguments)
{
    counts n = {0};
    const int missing = gpu_missing();
    if (missing)
        return missing;
    l2k_decoder *d = new_decoder();
    for (int i = 1; i < count; i++) {
        bytes file = bytes_read(arguments[i]);
        for (unsigned way = 0; way < WAYS; way++)
            if (coding_set_decoder(d, &ways[way]) == L2K_OK)
                compare(d, arguments[i], &file, way, &n);
        bytes_free(&file);
    }
    l2k_decoder_free(d);
    printf("%d files, %lu decodings: %lu decoded, %lu refused as on the CPU, %lu not into device memory, %lu left "
           "tiles to the "
           "CPU; %lu failures\n",
           count - 1, n.decodings, n.decoded, n.refused, n.host_alone, n.on_cpu, n.failures);
    return n.failures || n.decoded == 0 ? 1 : 0;
}
