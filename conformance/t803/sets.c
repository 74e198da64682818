/* Several HT sets in a code-block (Annex B of T.814): codestreams made here, decoded layer by layer. The set that
 * counts after a layer, alone in a codestream, also goes to libopenjp2, and behind placeholder passes to OpenHTJ2K. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/ht/made.h"
#include "conformance/process.h"
#include "conformance/t803/t803.h"

enum { BLOCKS = 60 };

/* What happened to the decodings of a row. */
typedef struct counts {
    unsigned blocks, decodings, openjpeg, openhtj2k;
} counts;

static bool is_expected(const ht_made *made, unsigned layers, const picture *got)
{
    const l2k_component *k = &got->components[0];
    for (size_t i = 0; i < (size_t)k->width * k->height; i++)
        if (got->samples[0][i] != ht_made_sample(made, layers, i))
            return false;
    return true;
}

static t803_finding check_layers(const t803_set *set, const t803_row *row, const ht_made *made, unsigned layers)
{
    char output[PATH_BYTES], number[16], message[MESSAGE_BYTES];
    snprintf(output, sizeof output, "%s/o.pgx", set->scratch);
    snprintf(number, sizeof number, "%u", layers);
    int status = t803_decode(set, row, output, "--layers", number, message);
    picture *got = status == 0 ? t803_read_plane(set, 0) : NULL;
    t803_finding finding = {.outcome = T803_PASS};
    if (!got)
        finding = t803_found(T803_FAIL, "%u layers: status %d: %.100s", layers, status, message);
    else if (!is_expected(made, layers, got))
        finding = t803_found(T803_FAIL, "%u layers: not the set that counts", layers);
    picture_free(got);
    return finding;
}

/* libopenjp2 takes up to 30 bit-planes in all. */
static t803_finding check_openjpeg(const ht_made *made, unsigned layers, counts *n)
{
    bytes file = {0};
    t803_finding finding = {.outcome = T803_PASS};
    file.data = ht_made_alone(made, layers, false, &file.size);
    picture *got = file.data ? opj_library_decode(&file, NULL) : NULL;
    if (got && !is_expected(made, layers, got))
        finding = t803_found(T803_FAIL, "%u layers: libopenjp2 decodes the set alone to other samples", layers);
    n->openjpeg += got != NULL;
    picture_free(got);
    bytes_free(&file);
    return finding;
}

/* OpenHTJ2K takes up to 15 bits. */
static t803_finding check_openhtj2k(const t803_set *set, const ht_made *made, unsigned layers, counts *n)
{
    char input[PATH_BYTES], output[PATH_BYTES], result[PATH_BYTES];
    bytes file = {0};
    t803_finding finding = {.outcome = T803_PASS};
    if (!set->openhtj2k)
        return finding;
    file.data = ht_made_alone(made, layers, true, &file.size);
    snprintf(input, sizeof input, "%s/alone.j2c", set->scratch);
    snprintf(output, sizeof output, "%s/alone.pgx", set->scratch);
    snprintf(result, sizeof result, "%s/alone_00.pgx", set->scratch);
    unlink(result);
    char *arguments[] = {(char *)(uintptr_t)set->openhtj2k, "-i", input, "-o", output, "-num_threads", "1", NULL};
    bool done = file.data && bytes_write(&file, input) && run_program(arguments, NULL);
    picture *got = done ? read_pgx(result) : NULL;
    if (got && got->components[0].precision > 15) {
        picture_free(got);
        got = NULL;
    }
    if (got && !is_expected(made, layers, got))
        finding = t803_found(T803_FAIL, "%u layers: OpenHTJ2K decodes the set alone to other samples", layers);
    n->openhtj2k += got != NULL;
    picture_free(got);
    bytes_free(&file);
    return finding;
}

static t803_finding check_block(const t803_set *set, const t803_row *row, const ht_made *made, counts *n)
{
    char path[PATH_BYTES];
    bytes file = {0};
    t803_finding finding = {.outcome = T803_PASS};
    file.data = ht_made_file(made, &file.size);
    snprintf(path, sizeof path, "%s/%.500s", set->directory, row->file);
    if (!bytes_write(&file, path))
        finding = t803_found(T803_FAIL, "%s cannot be written", path);
    for (unsigned layers = 1; finding.outcome == T803_PASS && layers <= ht_made_layers(made); layers++) {
        finding = check_layers(set, row, made, layers);
        if (finding.outcome == T803_PASS)
            finding = check_openjpeg(made, layers, n);
        if (finding.outcome == T803_PASS)
            finding = check_openhtj2k(set, made, layers, n);
        n->decodings++;
    }
    n->blocks++;
    bytes_free(&file);
    return finding;
}

t803_finding t803_check_sets(const t803_set *set, const t803_row *row)
{
    const unsigned style = L2K_STYLE_HT | (strstr(row->file, "causal") ? L2K_STYLE_VSC : 0) |
                           (strstr(row->file, "mixed") ? L2K_STYLE_HT_MIXED : 0);
    t803_set here = *set;
    t803_finding finding = {.outcome = T803_PASS};
    counts n = {0};
    here.directory = set->scratch;
    for (uint64_t seed = 0; seed < BLOCKS && finding.outcome == T803_PASS; seed++) {
        ht_made *made = ht_made_new(seed << 8 | style, style);
        finding = check_block(&here, row, made, &n);
        ht_made_free(made);
    }
    if (finding.outcome != T803_PASS)
        return t803_found(T803_FAIL, "block %u, %.180s", n.blocks - 1, finding.text);
    return t803_found(T803_PASS, "%u blocks, %u decodings; the same sets in libopenjp2 %u times, in OpenHTJ2K %u",
                      n.blocks, n.decodings, n.openjpeg, n.openhtj2k);
}
