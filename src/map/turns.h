/* Turns: when the objects of long lists were found.
 *
 * A list is a chain of loads. A later walk over the same list can fetch its objects early if it
 * knows which come next. Their order takes 20 bits an object for a million of them. A turn takes 8:
 * it says in which of at most 255 parts of the walk an object was found. The objects of one part
 * fit into a cache, so their order does not matter. The map knows where objects start, so a turn
 * needs no address: a block with such objects has a byte for each slot of 128 bytes, or more if the
 * first list's objects are longer. 0 means none. Of two objects in one slot, the last one's counts.
 *
 * Nobody knows how long the lists will be. So turns begin with few objects each, and when there are
 * too many turns, each two become one. Turns are hints: what they lead to is only prefetched.
 */
#ifndef HAUL_MAP_TURNS_H
#define HAUL_MAP_TURNS_H

#include "map/map.h"

#define HAUL__TURN_SHIFT 7u          /* of the smallest slot */
#define HAUL__SLAB ((size_t)1 << 14) /* memory for turns comes in such pieces */

/* An object that has a turn: the place of its block in the map's list, and the word in the block
 * where it starts. */
typedef uint32_t haul__spot;
#define HAUL__SPOT_SHIFT 13u

/* By turn: where its spots end. Those of the next turn begin there. */
typedef size_t haul__turn_ends[UINT8_MAX + 1];

/* Gives a block its turns, all 0. 0: out of memory. */
int haul__turns_add(haul__map *map, haul__block *block);
/* Turns 1 and 2 become turn 1, 3 and 4 turn 2, and so on. */
void haul__turns_halve(haul__map *map);
/* Releases the turns of all blocks of a listed map. */
void haul__turns_forget(haul__map *map);
/* Releases the turns of blocks that are gone. */
void haul__turns_release(haul__map *map);
/* Lists the objects of a listed map that have turns, by turn and address. The caller releases the
 * list, which is NULL if there are none. 0: out of memory. */
int haul__turns_list(const haul__map *map, haul__spot **spots, size_t *count, haul__turn_ends ends);

HAUL__INLINE size_t haul__turns_bytes(const haul__map *map)
{
    return map->slabs.count * HAUL__SLAB;
}

/* The turn of an object that starts at the address, in a block that has turns. */
HAUL__INLINE unsigned char *haul__turn_of(const haul__map *map, const haul__block *block,
                                          uintptr_t address)
{
    return &block->turns[(address & (HAUL__BLOCK_BYTES - 1)) >> map->turn_shift];
}

HAUL__INLINE uintptr_t haul__spot_address(const haul__map *map, haul__spot spot)
{
    const uintptr_t word = spot & ((1u << HAUL__SPOT_SHIFT) - 1);
    return haul__block_address(map->numbers[spot >> HAUL__SPOT_SHIFT]) + (word << HAUL__WORD_SHIFT);
}

#endif
