/* Device memory: allocations.c, and small.c for small allocations. */
#ifndef HAUL_HOST_ALLOCATIONS_H
#define HAUL_HOST_ALLOCATIONS_H

#include "host.h"

/* The memory of a region with so many slots. */
static inline size_t haul__host_region_bytes(unsigned count)
{
    return sizeof(haul__host_region) + count * sizeof(haul__host_slot);
}

/* Maps `bytes` for an empty block; 0: the system refuses, and the block stays empty.
 * Unmaps them. */
int haul__host_fill_block(haul__host *host, size_t bytes, size_t alignment,
                          haul__host_block *block);
void haul__host_unmap(const haul__host *host, const haul__host_block *block);
/* Room for a block of so many bytes, `b`, that counts when it is added. NULL: the message says
 * why. */
haul__host_block *haul__host_new_block(haul__host *host, const char *verb, uint64_t bytes,
                                       haul_status *status);
void haul__host_add_block(haul__host *host);
void haul__host_remove_block(haul__host *host, haul__host_block *block);
/* Whose map an address is in, guards included; NULL: nobody's. */
haul__host_block *haul__host_find(const haul__host *host, haul_address address);
void haul__host_drop_blocks(haul__host *host);
haul_address haul__host_address(const haul__host *host, const haul__host_block *block);

/* Small allocations share maps. */
int haul__host_is_small(const haul__host *host, uint64_t bytes);
haul_status haul__host_take_slot(haul__host *host, size_t bytes, size_t alignment,
                                 haul_address *address);
/* Frees the slot at exactly this address, and its map with the last one. Its bytes; 0: there is no
 * such slot. */
uint64_t haul__host_free_slot(haul__host *host, haul__host_block *block, haul_address address);
int haul__host_open_slots(const haul__host *host, const haul__host_region *region);

/* The private view of a range of device memory; NULL where any byte of it is in no block. */
unsigned char *haul__host_view(const haul__host *host, haul_address address, uint64_t bytes);

#endif
