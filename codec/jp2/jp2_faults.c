/* What is said of boxes that are not as they should be. */
#include "codec/jp2/jp2_read.h"

#include "base/context.h"

l2k_status l2k_jp2_wrong(const l2k_jp2 *jp2, const char *box, const char *what)
{
    return l2k_fail(jp2->context, L2K_ERROR_CORRUPT, "box '%s': %s", box, what);
}

l2k_status l2k_jp2_tolerate(const l2k_jp2 *jp2, const char *box, const char *what)
{
    if (jp2->strict)
        return l2k_jp2_wrong(jp2, box, what);
    l2k_warn(jp2->context, "box '%s': %s", box, what);
    return L2K_OK;
}

l2k_status l2k_jp2_out_of_memory(const l2k_jp2 *jp2)
{
    return l2k_fail(jp2->context, L2K_ERROR_MEMORY, "out of memory for the boxes of a JP2 file");
}
