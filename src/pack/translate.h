/* Translation between addresses of the source and places in the arena, and of pointer words.
 */
#ifndef HAUL_PACK_TRANSLATE_H
#define HAUL_PACK_TRANSLATE_H

#include "pack/plan_struct.h"

/* Does a page begin at the address with a dead granule, which has a place only with its unit
 * (layout/layout.c)? Then a pointer to it leads to the end of the bytes before the page. */
HAUL__INLINE int haul__is_filling(const haul__map *map, const haul__block *block, uintptr_t address)
{
    unsigned granule = haul__granule_in_block(address);
    if (HAUL__LIKELY(!map->has_placements ||
                     (address & (((uintptr_t)1 << HAUL__PAGE_SHIFT) - 1)) != 0))
        return 0;
    return haul__byte_mask(block, granule) == 0 && haul__hole_mask(block, granule) == 0;
}

/* The place in the arena that a source pointer leads to: the place of its byte, or else one past
 * the place of the byte before, which is the end of a range. 0: it leads out of the graph. `flat`:
 * the table, if it shows the map; else NULL. */
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

/* The same without the table, for any thread. */
HAUL__INLINE uint64_t haul__translate(const haul__map *map, uintptr_t address)
{
    return haul__translate_in(map, NULL, address);
}

/* The place of a byte that is live in the graph itself; 0: it is not. */
HAUL__INLINE uint64_t haul__place_of_own(const haul__map *map, const uintptr_t *flat,
                                         uintptr_t address)
{
    const haul__block *block = address < HAUL__LOWEST || address > HAUL__HIGHEST
                                   ? NULL
                                   : haul__map_find_in(map, flat, address);
    return block && haul__is_placed(block, address) &&
                   (haul__byte_mask(block, haul__granule_in_block(address)) >>
                        (address & (HAUL__GRANULE - 1)) &
                    1)
               ? haul__place(block, address)
               : 0;
}

/* The address of a byte's copy elsewhere; of one past a byte with such a copy. 0: there is none. A
 * byte that is live in the graph itself has none: of its object, only a part may be elsewhere. A
 * copied byte comes before the graph's other bytes, which may share its granule; one past a copied
 * range comes behind them. */
HAUL__INLINE uintptr_t haul__copied_byte(const haul__found *found, uintptr_t address)
{
    const haul__elsewhere *elsewhere = found->elsewhere;
    return HAUL__UNLIKELY(elsewhere != NULL) && !haul__place_of_own(&found->map, NULL, address)
               ? elsewhere->copy_of(elsewhere->user, address)
               : 0;
}

HAUL__INLINE uintptr_t haul__copied_end(const haul__found *found, uintptr_t address)
{
    const uintptr_t last = address ? haul__copied_byte(found, address - 1) : 0;
    return last ? last + 1 : 0;
}

/* The place in the arena for a compacted place; 0: no object has it. */
HAUL__INLINE uint64_t haul__final_place(const haul_plan *plan, uint64_t compact)
{
    return plan->ordered ? haul__ordered_place(plan->ordered, compact) : compact;
}

/* The source address of a place in the arena, or of one past a range; 0: the place is in a gap. */
uintptr_t haul__address_of(const haul_plan *plan, uint64_t offset);

/* The place of a described byte, or of one past a described byte. 0: the address is neither. */
int haul__offset_of(const haul_plan *plan, uintptr_t address, uint64_t *offset);

/* Seeks pieces: bytes that lie side by side in the arena, too. In order of address, most lie in one
 * block with the piece before: that block is kept. */
typedef struct haul__piece_seeker {
    const haul_plan *plan;
    const haul__block *block; /* NULL: its pieces take the longer way */
    uintptr_t number;         /* of the block; 0: there is none yet */
} haul__piece_seeker;

/* Finds the block of an address. */
void haul__seek_block(haul__piece_seeker *seeker, uintptr_t address);
/* The place of a piece, by the longer way. */
uint64_t haul__piece_place(const haul_plan *plan, uintptr_t first, size_t bytes);

/* The place of `bytes` bytes from `first` on. 0: they are not side by side in the arena, or the
 * first or last byte is not described. Between these two, only granules are looked at. */
HAUL__INLINE uint64_t haul__seek_piece(haul__piece_seeker *seeker, uintptr_t first, size_t bytes)
{
    const uintptr_t last = first + (bytes ? bytes - 1 : 0);
    const haul__block *block;
    uint64_t begin = 0;
    if (first >> HAUL__BLOCK_SHIFT != seeker->number)
        haul__seek_block(seeker, first);
    block = seeker->block;
    if (HAUL__LIKELY(block && last >> HAUL__BLOCK_SHIFT == seeker->number) &&
        haul__is_placed(block, first) && haul__is_placed(block, last) &&
        (!haul__has_masks(block) ||
         (haul__is_described_in(block, first) && haul__is_described_in(block, last))))
        begin = haul__place(block, first);
    return HAUL__LIKELY(begin && haul__place(block, last) - begin == last - first)
               ? begin
               : haul__piece_place(seeker->plan, first, bytes);
}

/* The place that the pointer word at `word` leads to, while it is `value`; 0: none. */
uint64_t haul__target(const haul_plan *plan, uintptr_t word, uintptr_t value);

#endif
