/* Places in the arena of source addresses, and back; and what words become by them.
 */
#ifndef HAUL_PACK_TRANSLATE_H
#define HAUL_PACK_TRANSLATE_H

#include "pack/plan_struct.h"

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

/* The source address of a place in the arena, one past a range included; 0: it is in a gap. */
uintptr_t haul__address_of(const haul_plan *plan, uint64_t offset);

/* Is this byte, or the one before it, described? Then its place. */
int haul__offset_of(const haul_plan *plan, uintptr_t address, uint64_t *offset);

/* Where the pointer word at `word`, of this value, leads in the arena; 0: nowhere. */
uint64_t haul__target(const haul_plan *plan, uintptr_t word, uintptr_t value);

/* What an odd pointer becomes in an arena at `base`. */
uintptr_t haul__odd_word(const haul_plan *plan, const haul__odd *odd, uint64_t base);

/* What a tagged pointer becomes in an arena that lies at `there`; 0:
 * that address has bits of its tag, and something stands there. */
int haul__tagged_word(const haul_plan *plan, const haul__tagged *tagged, uint64_t there,
                      uintptr_t *word);
/* The reverse, of what stands in an arena at `there`; 0: it leads out of the graph. */
int haul__tagged_back(const haul_plan *plan, const haul__tagged *tagged, uintptr_t word,
                      uint64_t there, uintptr_t *value);

/* Did this pointer lead to no elements? */
int haul__was_empty(const haul__found *found, uintptr_t slot);

#endif
