/* The plan as gather and scatter see it.
 */
#ifndef HAUL_PACK_PLAN_H
#define HAUL_PACK_PLAN_H

#include "layout/layout.h"
#include "map/forms.h"
#include "map/mark.h"
#include "pack/ordered.h"
#include "pack/pack.h"
#include "pack/reads.h"

struct haul_plan {
    uint32_t magic;
    int holders; /* atomic */
    haul_context *context;
    haul__freed freed; /* for the caller's hold */
    haul_root *roots;
    size_t root_count;
    haul__found found;
    haul__placed placed; /* compacted */
    /* the second layout, on top of it; NULL: the arena is the compacted one */
    haul__ordered *ordered;
    haul__reads reads; /* made when results first come back */
    int packed;        /* once, so that the blocks' guards are known */
    size_t nulls;      /* null pointers when last packed */
    /* where gather found changed pointers: index of the block; SIZE_MAX: nowhere */
    size_t stale_block;
    double discover_seconds, layout_seconds;
};

HAUL__INLINE haul__block *haul__plan_block(const haul_plan *plan, size_t i)
{
    return haul__map_block(&plan->found.map, i);
}

/* A page's first granule that has a place only because its unit goes whole: for a pointer it is the
 * end of what lies before the page. */
HAUL__INLINE int haul__is_filling(const haul__map *map, const haul__block *block, uintptr_t address)
{
    unsigned granule = haul__granule_in_block(address);
    if (HAUL__LIKELY(!map->has_units || (address & (((uintptr_t)1 << HAUL__PAGE_SHIFT) - 1)) != 0))
        return 0;
    return haul__byte_mask(block, granule) == 0 && haul__hole_mask(block, granule) == 0;
}

/* Where a source pointer leads in the arena: the place of its byte, or one past the place of the
 * byte before it, for the end of a range with nothing behind it. 0: it does not lead into the
 * graph. `flat`: the table, if the map stands in it; else NULL. */
HAUL__INLINE uint64_t haul__translate_in(const haul__map *map, const uintptr_t *flat,
                                         uintptr_t address)
{
    haul__block *block;
    if (HAUL__UNLIKELY(address < HAUL__LOWEST || address > HAUL__HIGHEST))
        return 0;
    block = haul__map_find_in(map, flat, address);
    if (HAUL__LIKELY(block && haul__is_placed(block, address) &&
                     !haul__is_filling(map, block, address)))
        return haul__place(block, address);
    block = haul__map_find_in(map, flat, address - 1);
    return block && haul__is_placed(block, address - 1) ? haul__place(block, address - 1) + 1 : 0;
}

/* The same, by any thread. */
HAUL__INLINE uint64_t haul__translate(const haul__map *map, uintptr_t address)
{
    return haul__translate_in(map, NULL, address);
}

/* The place in the arena of what has this place in the compacted one; 0: it is of no object. */
HAUL__INLINE uint64_t haul__final_place(const haul_plan *plan, uint64_t compact)
{
    return plan->ordered ? haul__ordered_place(plan->ordered, compact) : compact;
}

HAUL__INLINE size_t haul__compacted_bytes(const haul_plan *plan)
{
    return (size_t)plan->placed.granules << HAUL__GRANULE_SHIFT;
}

HAUL__INLINE size_t haul__arena_bytes(const haul_plan *plan)
{
    return plan->ordered ? (size_t)plan->ordered->units.bytes : haul__compacted_bytes(plan);
}

/* The bytes of a granule that its mask names; what is equal already is not written. */
HAUL__INLINE void haul__copy_bytes(unsigned char *to, const unsigned char *from, uint16_t mask)
{
    unsigned byte;
    if (mask == HAUL__FULL_MASK) {
        if (memcmp(to, from, HAUL__GRANULE) != 0)
            memcpy(to, from, HAUL__GRANULE);
        return;
    }
    for (byte = 0; mask; byte++, mask >>= 1)
        if ((mask & 1) && to[byte] != from[byte])
            to[byte] = from[byte];
}

/* The bytes of a placed granule that are described and no pointers; after layout. */
uint16_t haul__data_mask(const haul_plan *plan, const haul__block *block, uint32_t number,
                         unsigned granule);

/* The source address of a place in the arena, one past a range included; 0: it is in a gap. */
uintptr_t haul__address_of(const haul_plan *plan, uint64_t offset);

/* Is this byte, or the one before it, described? Then its place. */
int haul__offset_of(const haul_plan *plan, uintptr_t address, uint64_t *offset);

/* Where the pointer word at `word`, of this value, leads in the arena; 0: nowhere. */
uint64_t haul__target(const haul_plan *plan, uintptr_t word, uintptr_t value);

/* Where block `i` begins in the compacted arena, the gap before it included; of the one behind the
 * last, where that ends. */
HAUL__INLINE size_t haul__place_of_block(const haul_plan *plan, size_t i)
{
    uint64_t granules =
        i < plan->found.map.block_count ? haul__plan_block(plan, i)->base : plan->placed.granules;
    return (size_t)granules << HAUL__GRANULE_SHIFT;
}

/* All blocks, by as many threads as there are: `look` answers the first of a run that is not as the
 * plan has it, or its end; and so does this. */
typedef size_t haul__look(haul_plan *plan, size_t first, size_t end);
size_t haul__go_through(haul_plan *plan, haul__look *look);

/* exceptions.c: words of a gathered piece that no block's bits tell. */
haul_status haul__gather_exceptions(haul__gathering *gathering, const haul__piece *piece,
                                    unsigned char *memory);

/* haul__scatter of a compacted arena, and of the blocks [first, end) of it. */
void haul__scatter_compacted(const haul_plan *plan, const void *arena);
void haul__scatter_blocks(const haul_plan *plan, size_t first, size_t end,
                          const unsigned char *arena);

/* haul__check_piece of all of a compacted arena; takes no memory. */
haul_status haul__check_compacted(haul_plan *plan, const void *arena);

/* haul__gather, before anything is put in another order. */
haul_status haul__gather_compacted(haul_plan *plan, void *arena, uint64_t base, uint64_t there,
                                   int for_device, const haul__listener *listener);

/* What an odd pointer becomes in an arena at `base`. */
uintptr_t haul__odd_word(const haul_plan *plan, const haul__odd *odd, uint64_t base);

/* tagged.c: pointers that the host works out. What one becomes in an arena that lies at `there`; 0:
 * that address has bits of its tag, and something stands there. */
int haul__tagged_word(const haul_plan *plan, const haul__tagged *tagged, uint64_t there,
                      uintptr_t *word);
/* The reverse, of what stands in an arena at `there`; 0: it leads out of the graph. */
int haul__tagged_back(const haul_plan *plan, const haul__tagged *tagged, uintptr_t word,
                      uint64_t there, uintptr_t *value);
haul_status haul__refuse_tag(haul_plan *plan, const haul__tagged *tagged);
/* The bytes of a granule that are parts of such words. */
uint16_t haul__tagged_mask(const haul_plan *plan, uintptr_t granule);

/* stale.c: HAUL_ERROR_STALE, with its path, where the source is not as it was when the plan was
 * made. */
haul_status haul__check_guards(haul_plan *plan); /* counts, terminators, what callbacks answered */
int haul__ends_hold(const haul__block *block, uintptr_t address); /* of strings */
haul_status haul__check_odd(haul_plan *plan, const haul__odd *odd);
haul_status haul__check_kept(haul_plan *plan, const haul__kept *kept);
haul_status haul__check_tagged(haul_plan *plan, const haul__tagged *tagged);
/* `slot`: a pointer that leads out of the graph; 0: there is none. */
haul_status haul__check_lost(haul_plan *plan, uintptr_t slot);
/* A block's strings end elsewhere, or its pointers are others than when it was first packed. */
haul_status haul__block_changed(haul_plan *plan, size_t i);
/* Fills the record's path with the way to a pointer word, or to a count or terminator; 0: not
 * that. */
void haul__name_changed(haul_plan *plan, uintptr_t pointer, uintptr_t count);
/* Did this pointer lead to no elements? */
int haul__was_empty(const haul__found *found, uintptr_t slot);

#endif
