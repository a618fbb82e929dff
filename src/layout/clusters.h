/* The ordered layout's door: from a trail to places that depend on the graph alone.
 */
#ifndef HAUL_LAYOUT_CLUSTERS_H
#define HAUL_LAYOUT_CLUSTERS_H

#include "layout/layout.h"
#include "layout/order_log.h"

/* Bytes that keep their distances: ranges of a trail that overlap, and those that overlap these. */
typedef struct haul__cluster {
    uintptr_t first;  /* in the source */
    uint64_t compact; /* its place in the compacted layout */
    uint64_t place;
    size_t bytes;
} haul__cluster;

#define HAUL__GUIDE_SHIFT                                                                          \
    8u /* a number for so many bytes of the compacted arena: less: memory; more: a longer search */

typedef struct haul__clusters {
    haul__cluster *at; /* by source address, and so by compacted place too */
    size_t count, capacity;
    uint32_t *by_place; /* numbers of units */
    /* for each stretch of the compacted arena: the first unit that ends behind its beginning */
    uint32_t *guide;
    size_t guide_count;
    uint64_t bytes;   /* of the ordered arena */
    size_t alignment; /* that its base needs */
} haul__clusters;

/* After layout. Sorts the trail's ranges by address. HAUL_ERROR_MEMORY, HAUL_ERROR_LIMIT. */
haul_status haul__clusters_make(haul_context *context, const haul__found *found,
                                const haul__placed *placed, haul__order_log *trail,
                                haul__clusters *units);
void haul__clusters_close(const haul_allocator *allocator, haul__clusters *units);
size_t haul__clusters_memory(const haul__clusters *units);

/* The first unit that ends behind a source address; count: there is none. O(log units). */
size_t haul__cluster_behind(const haul__clusters *units, uintptr_t address);
/* The unit that holds a byte of the ordered arena; NULL: none does. O(log units). */
const haul__cluster *haul__cluster_at(const haul__clusters *units, uint64_t place);

/* The unit that holds a byte of the compacted arena; NULL: none does. */
HAUL__INLINE const haul__cluster *haul__cluster_holding(const haul__clusters *units,
                                                        uint64_t compact)
{
    const uint64_t stretch = compact >> HAUL__GUIDE_SHIFT;
    size_t low, high;
    if (stretch >= units->guide_count)
        return NULL;
    low = units->guide[stretch];
    high = stretch + 1 < units->guide_count ? units->guide[stretch + 1] + 1 : units->count;
    high = high < units->count ? high : units->count;
    while (high > low + 1) {
        const size_t middle = low + (high - low) / 2;
        if (units->at[middle].compact <= compact)
            low = middle;
        else
            high = middle;
    }
    return low < units->count && compact - units->at[low].compact < units->at[low].bytes
               ? &units->at[low]
               : NULL;
}

#endif
