/* Device memory: allocations.c, small.c. */
#ifndef HAUL_HOST_ALLOCATIONS_H
#define HAUL_HOST_ALLOCATIONS_H

#include "host.h"

/* The bytes of a region with `count` slots. */
static inline size_t haul__host_region_bytes(unsigned count)
{
    return sizeof(haul__host_region) + count * sizeof(haul__host_slot);
}

/* The first maps memory for an empty block; 0: the system refuses, and the block stays empty. The
 * second unmaps it. */
int haul__host_fill_block(haul__host *host, size_t bytes, size_t alignment,
                          haul__host_block *block);
void haul__host_unmap(const haul__host *host, const haul__host_block *block);
/* Makes an empty block, not yet in the table. Refuses `bytes` that exceed the device's memory.
 * NULL: the message says why. */
haul__host_block *haul__host_new_block(haul__host *host, const char *verb, uint64_t bytes,
                                       haul_status *status);
void haul__host_add_block(haul__host *host);
void haul__host_remove_block(haul__host *host, haul__host_block *block);
/* The block whose map, guards included, has the address; NULL: none. */
haul__host_block *haul__host_find(const haul__host *host, haul_address address);
void haul__host_drop_blocks(haul__host *host);
haul_address haul__host_address(const haul__host *host, const haul__host_block *block);

/* ---- small.c: small allocations share a map. */
int haul__host_is_small(const haul__host *host, uint64_t bytes);
haul_status haul__host_take_slot(haul__host *host, size_t bytes, size_t alignment,
                                 haul_address *address);
/* Frees the allocation at exactly this address, and the map with its last one. Answers its bytes;
 * 0: there is none. */
uint64_t haul__host_free_slot(haul__host *host, haul__host_block *block, haul_address address);
int haul__host_open_slots(const haul__host *host, const haul__host_region *region);

/* The private view of a range of device memory. NULL: some byte of it is not allocated. */
unsigned char *haul__host_view(const haul__host *host, haul_address address, uint64_t bytes);

#endif
