/* Which makers of packets on a device there are. */
#include "codec/packets/device_packets.h"

#ifdef L2K_WITH_CUDA
extern const l2k_packet_maker_table l2k_packets_on_cuda;
#endif

const l2k_packet_maker_table *l2k_packet_maker_for(const l2k_block_coder_table *coder)
{
#ifdef L2K_WITH_CUDA
    return coder && coder->coded ? &l2k_packets_on_cuda : NULL;
#else
    (void)coder;
    return NULL;
#endif
}
