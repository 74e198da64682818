/* Random cases: how many another decoder took, why it did not take the others, and what failed. */
#include "conformance/tally.h"

#include <stdio.h>
#include <string.h>

void tally_compared(tally *t)
{
#pragma omp atomic
    t->compared++;
}

void tally_reason(tally *t, const char *text)
{
#pragma omp critical(tally)
    {
        size_t i = 0;
        while (i < t->num_reasons && strcmp(t->reasons[i].text, text) != 0)
            i++;
        if (i < sizeof t->reasons / sizeof *t->reasons) {
            snprintf(t->reasons[i].text, sizeof t->reasons[i].text, "%s", text);
            t->reasons[i].count++;
            t->num_reasons += i == t->num_reasons;
        }
    }
}

void tally_print(const tally *t, unsigned cases)
{
    printf("%s: %ld of %u cases compared\n", t->decoder, t->compared, cases);
    for (size_t i = 0; i < t->num_reasons; i++)
        printf("  %5ld not: %s\n", t->reasons[i].count, t->reasons[i].text);
}

void print_failure(const char *part, uint64_t seed, const picture *p, const coding *o, const char *message,
                   const difference *worst)
{
#pragma omp critical(print)
    {
        printf("FAIL %s, seed %llu: %s\n", part, (unsigned long long)seed, message);
        print_case(p, o);
        if (worst)
            difference_print(worst);
    }
}
