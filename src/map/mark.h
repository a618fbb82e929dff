/* Marking: a range of source bytes becomes live, and some of its words become slots.
 */
#ifndef HAUL_MAP_MARK_H
#define HAUL_MAP_MARK_H

#include "map/map.h"
#include "map/side.h"
#include "type/type.h"

/* Which words of a range are slots. */
typedef struct haul__pattern {
    enum {
        HAUL__NO_SLOTS,
        HAUL__KNOWN_SLOTS, /* those that are slots already; it needs no further members */
        HAUL__ALL_SLOTS,
        HAUL__TYPE_SLOTS, /* `slots`, in each of `left` elements that lie `stride` bytes apart */
        HAUL__WORD_SLOTS  /* the bits of `words`; bit 0 is the word at `element` */
    } kind;
    uint64_t words;
    const haul__slot *slots; /* of one element, by offset */
    size_t slot_count, stride;
    uintptr_t element; /* the element that `next` belongs to */
    size_t next, left; /* its next slot; elements left, this one included */
} haul__pattern;

typedef struct haul__marked {
    uintptr_t first, end; /* all new bytes lie within; first == end: nothing is new */
    uintptr_t conflict;   /* after HAUL_ERROR_GRAPH: the word that is both slot and data */
} haul__marked;

/* Marks [first, end), first < end <= HAUL__HIGHEST. HAUL_OK, HAUL_ERROR_MEMORY, or
 * HAUL_ERROR_GRAPH. */
haul_status haul__mark(haul__map *map, uintptr_t first, uintptr_t end, haul__pattern *pattern,
                       haul__marked *marked);
/* The same for a slice of a range, without haul__mark_array. */
haul_status haul__mark_slice(haul__map *map, uintptr_t first, uintptr_t end, haul__pattern *pattern,
                             haul__marked *marked);

/* While marking: is any byte of [first, end) live? */
int haul__any_live(const haul__map *map, uintptr_t first, uintptr_t end);
/* While marking: is this byte live, or a hole of an object? */
int haul__is_marked(const haul__map *map, uintptr_t address);
/* While marking: are all bytes of [first, end) live? With `or_holes`: live, or holes of objects. */
int haul__are_live(const haul__map *map, uintptr_t first, uintptr_t end, int or_holes);

/* Marks one object of the simple type with this form. 1: it is new; 0: haul__mark must do it; -1:
 * out of memory. */
int haul__mark_simple(haul__map *map, uintptr_t address, uint32_t form);

/* Marks the bytes of a mask in the granule of the address. 1: some are new; 0: none; -1: out of
 * memory. */
int haul__mark_part(haul__map *map, haul__block *block, uintptr_t address, uint16_t mask);

/* Notes that the copy must keep the addresses on this page modulo `placement`. 0: out of memory. */
int haul__mark_placement(haul__map *map, uintptr_t address, size_t placement);
/* Notes where a large array begins, once it is marked: one that is as long as a block, or longer.
 * Layout aligns it. haul__mark does this for its range. */
void haul__mark_array(haul__map *map, uintptr_t first, uintptr_t end);
/* Notes where a string ends. 0: out of memory. */
int haul__mark_end_apart(haul__map *map, uintptr_t terminator);

HAUL__INLINE int haul__mark_end(haul__map *map, uintptr_t terminator)
{
    haul__block *block =
        map->flat ? haul__block_in(map->flat[terminator >> HAUL__BLOCK_SHIFT]) : NULL;
    haul__side *side = block ? block->side : NULL;
    if (HAUL__UNLIKELY(!side || side->end_count == side->end_capacity))
        return haul__mark_end_apart(map, terminator);
    side->ends[side->end_count++] = (uint16_t)(terminator & (HAUL__BLOCK_BYTES - 1));
    return 1;
}

#endif
