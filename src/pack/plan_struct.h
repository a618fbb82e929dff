/* The plan itself, and the places of its blocks.
 */
#ifndef HAUL_PACK_PLAN_STRUCT_H
#define HAUL_PACK_PLAN_STRUCT_H

#include "layout/layout.h"
#include "map/forms.h"
#include "pack/ordered.h"
#include "pack/sorted_reads.h"

struct haul_plan {
    uint32_t magic;
    int holders; /* atomic */
    haul_context *context;
    haul__freed freed; /* to free the caller's hold later */
    haul_root *roots;
    size_t root_count;
    haul_chain **chains; /* whose targets the roots are, held; NULL: the roots are the caller's */
    size_t chain_count;
    void *chain_root;
    haul__found found;
    int has_lost_parts;  /* of its graph: they may be freed, so no walk names a place in it */
    haul__placed placed; /* the compacted layout */
    /* the ordered layout, on top of it; NULL: the arena is compacted */
    haul__ordered *ordered;
    haul__read_set reads; /* the read set, made when results first come back */
    int packed;           /* it was packed once, so the blocks' hashes are known */
    size_t nulls;         /* null pointers at the last pack */
    /* number of the block with a changed pointer; SIZE_MAX: none */
    size_t stale_block;
    double discover_seconds, layout_seconds;
};

HAUL__INLINE haul__block *haul__plan_block(const haul_plan *plan, size_t i)
{
    return haul__map_block(&plan->found.map, i);
}

HAUL__INLINE size_t haul__compacted_bytes(const haul_plan *plan)
{
    return (size_t)plan->placed.granules << HAUL__GRANULE_SHIFT;
}

HAUL__INLINE size_t haul__arena_bytes(const haul_plan *plan)
{
    return plan->ordered ? (size_t)plan->ordered->clusters.bytes : haul__compacted_bytes(plan);
}

/* The beginning of block `i` in the compacted arena, or of the gap before it. If `i` is the number
 * of blocks: the arena's end. */
HAUL__INLINE size_t haul__place_of_block(const haul_plan *plan, size_t i)
{
    uint64_t granules =
        i < plan->found.map.block_count ? haul__plan_block(plan, i)->base : plan->placed.granules;
    return (size_t)granules << HAUL__GRANULE_SHIFT;
}

#endif
