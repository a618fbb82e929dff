/* The ordered layout: from an order log to places that depend on the graph alone.
 */
#ifndef HAUL_LAYOUT_CLUSTERS_H
#define HAUL_LAYOUT_CLUSTERS_H

#include "layout/layout.h"
#include "base/list.h"
#include "layout/order_log.h"

/* Bytes that keep their distances: ranges of the log that overlap, directly or through others. */
typedef struct haul__cluster {
    uintptr_t first;  /* in the source */
    uint64_t compact; /* its place in the compacted layout */
    uint64_t place;   /* in the ordered layout */
    size_t bytes;
} haul__cluster;

/* log2 of the bytes of the compacted arena that one entry of the guide covers. Smaller: more
 * memory. Larger: longer searches. */
#define HAUL__GUIDE_SHIFT 8u

typedef struct haul__clusters {
    haul__cluster *at; /* by source address, and so by compacted place too */
    size_t count, capacity;
    uint32_t *by_place; /* indexes in `at`, by place */
    /* for each 256 bytes of the compacted arena: the index in `at` of the first cluster that ends
     * behind their beginning */
    uint32_t *guide;
    size_t guide_count;
    uint64_t bytes;   /* of the ordered arena */
    size_t alignment; /* of its base */
} haul__clusters;

/* After layout. Sorts the log's ranges by address. HAUL_ERROR_MEMORY, HAUL_ERROR_LIMIT. */
haul_status haul__clusters_make(haul_context *context, const haul__found *found,
                                const haul__placed *placed, haul__order_log *log,
                                haul__clusters *clusters);
void haul__clusters_close(const haul_allocator *allocator, haul__clusters *clusters);
size_t haul__clusters_memory(const haul__clusters *clusters);

/* The first cluster that ends behind a source address; `count`: there is none. O(log count). */
size_t haul__cluster_behind(const haul__clusters *clusters, uintptr_t address);
/* The cluster that holds a byte of the ordered arena; NULL: none does. O(log count). */
const haul__cluster *haul__cluster_at(const haul__clusters *clusters, uint64_t place);

HAUL__INLINE int haul__cluster_begins_by(const void *list, size_t i, uint64_t compact)
{
    return ((const haul__cluster *)list)[i].compact <= compact;
}

/* The cluster that holds a byte of the compacted arena; NULL: none does. */
HAUL__INLINE const haul__cluster *haul__cluster_holding(const haul__clusters *clusters,
                                                        uint64_t compact)
{
    const uint64_t step = compact >> HAUL__GUIDE_SHIFT;
    size_t low, high;
    if (step >= clusters->guide_count)
        return NULL;
    low = clusters->guide[step];
    high = step + 1 < clusters->guide_count ? clusters->guide[step + 1] + 1 : clusters->count;
    high = high < clusters->count ? high : clusters->count;
    low = haul__search(clusters->at, low + 1, high, compact, haul__cluster_begins_by) - 1;
    return low < clusters->count && compact - clusters->at[low].compact < clusters->at[low].bytes
               ? &clusters->at[low]
               : NULL;
}

#endif
