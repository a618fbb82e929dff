/* Access to device memory: a launch opens all of it at its addresses. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "allocations.h"
#include "mirror.h"
#include "opening.h"

int haul__host_open_memory(const haul__host *host, int open)
{
    size_t i;
    int failed = 0;
    for (i = 0; i < host->block_count; i++) {
        const haul__host_block *b = &host->blocks[i];
        if (b->window)
            failed |= !haul__host_turn(host, b, open);
        else if (b->region && open)
            failed |= !haul__host_open_slots(host, b->region);
        else if (mprotect(b->public_map + host->page, b->map_bytes,
                          open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
            failed = 1;
    }
    return !failed;
}
