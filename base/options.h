/* Options by number and value: one table per object gives name, range and initial value of each. */
#ifndef L2K_BASE_OPTIONS_H
#define L2K_BASE_OPTIONS_H

#include "base/context.h"

typedef struct l2k_option_rule {
    const char *name;
    int64_t least, most, initial;
} l2k_option_rule;

/* Gives every option its initial value. */
static inline void l2k_options_reset(const l2k_option_rule *rules, size_t count, int64_t *options)
{
    for (size_t i = 0; i < count; i++)
        options[i] = rules[i].initial;
}

/* Sets an option that exists to a value within its range, or reports why not. */
static inline l2k_status l2k_option_set(const l2k_context *context, const l2k_option_rule *rules, size_t count,
                                        int64_t *options, unsigned option, int64_t value)
{
    if (option >= count)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "there is no option %u", option);
    const l2k_option_rule *rule = &rules[option];
    if (value < rule->least || value > rule->most)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%s %lld is outside %lld to %lld", rule->name, (long long)value,
                        (long long)rule->least, (long long)rule->most);
    options[option] = value;
    return L2K_OK;
}

#endif
