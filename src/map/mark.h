/* Marking: a range of source bytes becomes live, some of its words become slots.
 */
#ifndef HAUL_MAP_MARK_H
#define HAUL_MAP_MARK_H

#include "map/bits.h"
#include "map/map.h"
#include "type/type.h"

/* Which words of a range are slots: none, all, those of `left` elements of a type from `element`
 * on, or those of 64 words from `element` on, on the grid, whose bits are set. */
typedef struct haul__pattern {
    enum { HAUL__NO_SLOTS, HAUL__ALL_SLOTS, HAUL__TYPE_SLOTS, HAUL__WORD_SLOTS } kind;
    uint64_t words;
    const haul__slot *slots; /* sorted by offset; those of one element */
    size_t slot_count, stride;
    uintptr_t element; /* address of the element that `next` belongs to */
    size_t next, left; /* next slot of it; elements left, this one included */
} haul__pattern;

typedef struct haul__marked {
    uintptr_t first, end; /* what is new lies within; first == end: nothing is new */
    /* after HAUL_ERROR_GRAPH: the word that is a slot for one and data for another */
    uintptr_t conflict;
} haul__marked;

/* Marks [first, end), first < end <= HAUL__HIGHEST. HAUL_OK, HAUL_ERROR_MEMORY, or
 * HAUL_ERROR_GRAPH. */
haul_status haul__mark(haul__map *map, uintptr_t first, uintptr_t end, haul__pattern *pattern,
                       haul__marked *marked);

/* While marking: is this byte live, or a hole of an object? */
int haul__is_marked(const haul__map *map, uintptr_t address);

/* One object of the simple kind whose form is `form`, by its start. 1: it is new; 0: go the general
 * way, haul__mark; -1: out of memory. */
int haul__mark_simple(haul__map *map, uintptr_t address, uint32_t form);

/* mark_long.c: the same in blocks that are of its kind already, for an object longer than a cell: `next`
 * is the block of its last byte. 1: it is new; 0: all of it was marked before, as this; -1: go the
 * general way. */
int haul__mark_long(haul__block *block, haul__block *next, uintptr_t address,
                    const haul__simple *kind);
/* The same in blocks of any forms but full ones; of words, where both are mixed. */
int haul__mark_long_apart(haul__block *block, haul__block *next, uintptr_t address,
                          const haul__simple *kind);

/* Marks some bytes of one granule. 1: some are new; 0: none; -1: out of memory. */
int haul__mark_part(haul__map *map, haul__block *block, uintptr_t address, size_t bytes);

/* Asks that the page of `address` keeps addresses modulo `placement`. 0: out of memory. */
int haul__mark_placement(haul__map *map, uintptr_t address, size_t placement);
/* Gives every granule of [first, end) a place, though no byte of it is live. 0: out of memory. */
int haul__mark_hole(haul__map *map, uintptr_t first, uintptr_t end);
/* Notes where a string ends. 0: out of memory. */
int haul__mark_end(haul__map *map, uintptr_t terminator);

#endif
