/* Regions: where an arena's bytes and tables lie, and how they are given back.
 */
#ifndef HAUL_ARENA_REGION_H
#define HAUL_ARENA_REGION_H

#include "base/base.h"
#include "base/memory.h"

/* Where an arena's bytes lie, and how they are given back. */
typedef struct haul__region haul__region;
struct haul__region {
    void *memory; /* zeros; NULL: none */
    size_t bytes;
    void (*release)(const haul__region *region);
    void *user;
    int grows, pinned;
    unsigned char *window; /* where a device is to find the bytes; NULL: at `memory` */
    size_t mirrored;       /* bytes that `user` has at the same addresses; */
    /* that is a shipment's now, or what a late device may still write: so many have it */
    unsigned lent;
    int is_left; /* a device may use it forever: it is never given back */
};

/* Zeros, reserved if they can be, and so without cost until they are touched; from the allocator's
 * memory otherwise. 0: there is no memory. */
int haul__region_get(haul_allocator *allocator, size_t bytes, haul__region *region);
/* Reserved, or from the allocator's memory, and nothing else. */
int haul__region_reserve(haul_allocator *allocator, size_t bytes, haul__region *region);
int haul__region_allocate(haul_allocator *allocator, size_t bytes, haul__region *region);
void haul__region_release(haul__region *region);

#endif
