#include "cli/options/nearest.h"

#include <string.h>

#define MAX_LETTERS 32u

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Row by row: cost[i][j] is the distance of the first i letters of a and the first j of b. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t cost[MAX_LETTERS + 1][MAX_LETTERS + 1];
    for (size_t i = 0; i <= a_length; i++) {
        for (size_t j = 0; j <= b_length; j++) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            cost[i][j] = least(least(cost[i - 1][j], cost[i][j - 1]) + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a_length][b_length];
}

void cli_nearest_try(cli_nearest *nearest, const char *candidate)
{
    size_t typed = strcspn(nearest->word, "="), letters = strlen(candidate);
    if (typed > MAX_LETTERS || letters > MAX_LETTERS)
        return;
    size_t distance = edit_distance(nearest->word, typed, candidate, letters);
    if (distance > (letters + 2) / 3 || distance >= letters || (nearest->best && distance >= nearest->distance))
        return;
    nearest->best = candidate;
    nearest->distance = distance;
}
