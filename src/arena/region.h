/* Regions: memory for an arena and its tables.
 */
#ifndef HAUL_ARENA_REGION_H
#define HAUL_ARENA_REGION_H

#include "base/base.h"
#include "base/memory.h"

/* Memory, and the function that gives it back. */
typedef struct haul__region haul__region;
struct haul__region {
    void *memory; /* zeros; NULL: none */
    size_t bytes;
    void (*release)(const haul__region *region);
    void *user;
    int grows, pinned;
    unsigned char *window; /* the address for a device; NULL: `memory` */
    size_t mirrored;       /* bytes that `user` mirrors at the same addresses */
    /* users of the mirror: a shipment, or a device that timed out and may still write */
    unsigned lent;
    int is_left; /* never given back: a device may use it forever */
};

/* Gets zeros: reserved if possible, without cost until they are touched; else allocated. 0: no
 * memory. */
int haul__region_get(haul_allocator *allocator, size_t bytes, haul__region *region);
/* The same, but only reserved, or only allocated. */
int haul__region_reserve(haul_allocator *allocator, size_t bytes, haul__region *region);
int haul__region_allocate(haul_allocator *allocator, size_t bytes, haul__region *region);
void haul__region_release(haul__region *region);

#endif
