/* The ordered layout of a plan, on top of the compacted one.
 */
#ifndef HAUL_PACK_ORDERED_H
#define HAUL_PACK_ORDERED_H

#include "layout/clusters.h"
#include "haul/plan.h"
#include "pack/progress.h"

/* A pointer whose value alone does not tell its target: while it is `value`, it leads to `place`.
 */
typedef struct haul__resolved {
    uintptr_t word, value;
    uint64_t place;
    int is_slot; /* the word is a slot of the map */
    /* Of several entries for a word and value, one that was not followed counts; then one that
     * leads to an end. */
    int is_followed; /* discovery followed the word */
    int is_begin;    /* it leads to a beginning */
} haul__resolved;

typedef struct haul__ordered {
    haul__clusters clusters;
    uint64_t *bitmap; /* relocation bits of the ordered arena */
    size_t bitmap_words;
    uint64_t *explicit; /* offsets of explicit relocations, in order */
    size_t explicit_count, explicit_capacity;
    haul__resolved *resolved; /* by word */
    size_t resolved_count, resolved_capacity;
    void *compacted; /* memory for haul__compact_again; NULL outside of calls that need it */
} haul__ordered;

/* The bytes of memory that it takes. */
size_t haul__ordered_memory(const haul__ordered *ordered);
/* Makes the ordered layout from the order log. HAUL_ERROR_MEMORY, HAUL_ERROR_LIMIT. */
haul_status haul__order(haul_plan *plan, haul__order_log *log);
void haul__ordered_drop(haul_plan *plan);

/* The ordered place of a byte, by its compacted one; 0: no cluster has it. */
HAUL__INLINE uint64_t haul__ordered_place(const haul__ordered *ordered, uint64_t compact)
{
    const haul__cluster *cluster = haul__cluster_holding(&ordered->clusters, compact);
    return cluster ? cluster->place + (compact - cluster->compact) : 0;
}

/* The source byte of an ordered place; 0: none. */
HAUL__INLINE uintptr_t haul__ordered_source(const haul__ordered *ordered, uint64_t place)
{
    const haul__cluster *cluster = haul__cluster_at(&ordered->clusters, place);
    return cluster ? cluster->first + (uintptr_t)(place - cluster->place) : 0;
}

/* Gathers the whole arena of an ordered plan. */
haul_status haul__gather_ordered(haul_plan *plan, void *arena, uint64_t base, uint64_t final_base,
                                 const haul__listener *listener);
/* The plan's arena as a compacted one, with unchanged pointers. haul__prepare_scatter must have
 * been called. The result is good until the next such call, or haul__end_scatter. */
const void *haul__compact_again(const haul_plan *plan, const void *arena);

#endif
