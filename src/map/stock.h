/* A map that several threads mark at once, each in blocks of its own. The map learns of the blocks
 * that they made afterwards, from the thread that called them.
 *
 *   stock   blocks made in advance, for a thread that must not ask the allocator
 *   part    a map of its own in the same table, for a thread that may
 */
#ifndef HAUL_MAP_STOCK_H
#define HAUL_MAP_STOCK_H

#include "map/map.h"

#define HAUL__STOCK 256u /* the most blocks of a stock */

typedef struct haul__stock {
    haul__block *block[2][HAUL__STOCK]; /* for uniform blocks, and for ragged ones */
    size_t left[2];
    size_t kept[2]; /* the first blocks of each list come from the map: how many */
    uint32_t numbers[2 * HAUL__STOCK]; /* of the blocks that were entered */
    size_t entered;
} haul__stock;

/* Fills the stock, which is empty, with uniform and ragged blocks, at most HAUL__STOCK of each. 0:
 * out of memory; what it got is in it. */
int haul__stock_fill(haul__map *map, haul__stock *stock, size_t whole, size_t ragged);
/* Enters an empty block of a uniform form at an address without a block. No other thread may look
 * at the table's entry meanwhile. 0: the stock has none left. */
int haul__stock_enter(const haul__map *map, haul__stock *stock, uintptr_t address, uint32_t form);
/* Ends the stock: the map takes over the blocks that were entered, and the others go back. 0: out
 * of memory; blocks that it cannot take over are gone, with their marks. */
int haul__stock_end(haul__map *map, haul__stock *stock);

/* Enters an empty block of a uniform form in a map, or a part of one, where there is none. 0: out
 * of memory. */
int haul__map_enter(haul__map *map, uintptr_t address, uint32_t form);

/* Makes `count` parts of a map that stands in a table. They take the memory that the map keeps. A
 * part knows the map's simple types, and gets no new ones. */
void haul__map_split(haul__map *map, haul__map **parts, size_t count);
/* Ends a part: the map takes over its blocks. 0: out of memory; blocks that it cannot take over are
 * gone, with their marks. */
int haul__map_join(haul__map *map, haul__map *part);

#endif
