/* Sample types. */
#include "base/sample.h"

bool l2k_sample_type_holds(l2k_sample_type type, uint32_t precision, bool is_signed)
{
    static const struct {
        uint8_t bits;
        bool is_signed;
    } types[] = {[L2K_SAMPLE_U8] = {8, false},
                 [L2K_SAMPLE_S8] = {8, true},
                 [L2K_SAMPLE_U16] = {16, false},
                 [L2K_SAMPLE_S16] = {16, true},
                 [L2K_SAMPLE_S32] = {32, true}};
    if ((unsigned)type >= sizeof types / sizeof *types)
        return false;
    if (is_signed)
        return types[type].is_signed && precision <= types[type].bits;
    return precision <= (uint32_t)types[type].bits - types[type].is_signed;
}
