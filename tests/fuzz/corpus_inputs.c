/* Seed corpus: inputs of the targets that derive everything from their bytes. */
#include "corpus.h"

/* Any bytes are valid; these are mostly 0, so that most options, but not always the same ones, have their defaults. */
void corpus_parameters(void)
{
    random_state = 7;
    for (unsigned n = 0; n < 160; n++) {
        char name[64];
        uint8_t bytes[64 + 400];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = i < 64 && random_below(8) >= n / 20 ? 0 : (uint8_t)random_u64();
        bytes[3] = bytes[3] ? bytes[3] : 31;
        snprintf(name, sizeof name, "parameters-%03u", n);
        corpus_save("parameters", name, bytes, n % 2 ? sizeof bytes : 64 + random_below(64));
    }
}
