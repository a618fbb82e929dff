/* An ordered plan in use: the second layout, on top of the compacted one.
 */
#ifndef HAUL_PACK_ORDERED_H
#define HAUL_PACK_ORDERED_H

#include "layout/clusters.h"
#include "pack/progress.h"

/* A pointer of which a lookup of its address does not tell all: `place` is where it leads, as long
 * as it is `value`.
 */
typedef struct haul__resolved {
    uintptr_t word, value;
    uint64_t place;
    int is_slot;     /* told by a bit of the map */
    int is_followed; /* a mention that nobody has followed it says more */
    /* as it seems from one object that it stands in: another one may tell that it is an end */
    int is_begin;
} haul__resolved;

typedef struct haul__ordered {
    haul__clusters units;
    uint64_t *bitmap; /* relocation bits of the ordered arena */
    size_t bitmap_words;
    uint64_t *odd; /* offsets of pointers off its grid of words, or beside their blocks; in order */
    size_t odd_count, odd_capacity;
    haul__resolved *told; /* by word */
    size_t told_count, told_capacity;
    void *compacted; /* memory for haul__compact_again; NULL outside of the calls that need it */
} haul__ordered;

/* What an ordered plan holds in memory. */
size_t haul__ordered_memory(const haul__ordered *ordered);
/* Makes the plan's second layout from the trail of its walk. HAUL_ERROR_MEMORY,
 * HAUL_ERROR_LIMIT. */
haul_status haul__order(haul_plan *plan, haul__order_log *trail);
void haul__ordered_drop(haul_plan *plan);

/* The ordered place of a compacted one, which is a byte's; 0: of no object. */
HAUL__INLINE uint64_t haul__ordered_place(const haul__ordered *ordered, uint64_t compact)
{
    const haul__cluster *unit = haul__cluster_holding(&ordered->units, compact);
    return unit ? unit->place + (compact - unit->compact) : 0;
}

/* The source byte at an ordered place; 0: none. */
HAUL__INLINE uintptr_t haul__ordered_source(const haul__ordered *ordered, uint64_t place)
{
    const haul__cluster *unit = haul__cluster_at(&ordered->units, place);
    return unit ? unit->first + (uintptr_t)(place - unit->place) : 0;
}

/* haul__gather of an ordered plan. */
haul_status haul__gather_ordered(haul_plan *plan, void *arena, uint64_t base, uint64_t there,
                                 const haul__listener *listener);
/* After haul__prepare_scatter: the plan's arena as a compacted one, pointers as they are. Of an
 * ordered plan it stays until the next such call, or haul__end_scatter. */
const void *haul__compact_again(const haul_plan *plan, const void *arena);

#endif
