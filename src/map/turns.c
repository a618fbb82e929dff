/* Turns: their memory, and the objects that have them. turns.h says what they are for.
 */
#include "map/turns.h"
#include "map/bits.h"

#define LOW_WORDS UINT64_C(0x5555555555555555) /* of granules */

int haul__turns_add(haul__map *map, haul__block *block)
{
    const size_t bytes = HAUL__BLOCK_BYTES >> map->turn_shift;
    if (map->slab_left < bytes) {
        unsigned char **slab = HAUL__LIST_ADD(&map->allocator, &map->slabs);
        if (!slab)
            return 0;
        *slab = haul__allocate_zeroed(&map->allocator, HAUL__SLAB);
        if (!*slab) {
            map->slabs.count--;
            return 0;
        }
        map->slab_left = HAUL__SLAB;
    }
    map->slab_left -= bytes;
    block->turns = map->slabs.at[map->slabs.count - 1] + map->slab_left;
    return 1;
}

void haul__turns_halve(haul__map *map)
{
    size_t i, at;
    for (i = 0; i < map->slabs.count; i++)
        for (at = 0; at < HAUL__SLAB; at++)
            map->slabs.at[i][at] = (unsigned char)((map->slabs.at[i][at] + 1u) / 2);
}

void haul__turns_release(haul__map *map)
{
    while (map->slabs.count)
        haul__release(&map->allocator, map->slabs.at[--map->slabs.count], HAUL__SLAB);
    HAUL__LIST_RELEASE(&map->allocator, &map->slabs);
    map->slabs.at = NULL;
    map->slabs.capacity = 0;
    map->slab_left = 0;
}

void haul__turns_forget(haul__map *map)
{
    size_t i;
    for (i = 0; map->slabs.count && i < map->block_count; i++)
        haul__map_block(map, i)->turns = NULL;
    haul__turns_release(map);
}

/* The words of a cell where objects start, after layout. Mixed blocks do not tell. */
static uint64_t starts_of(const haul__block *block, unsigned cell)
{
    if (!haul__is_uniform(block))
        return 0;
    return block->words ? haul__word_starts(block)[cell]
                        : haul__words_of(haul__starts(block)[cell]) & LOW_WORDS;
}

/* With `spots`: ends[turn] is where the turn's next object goes. Without: they are counted. */
static void list_block(const haul__map *map, size_t i, haul__spot *spots, size_t *ends)
{
    const haul__block *block = haul__map_block(map, i);
    unsigned cell;
    for (cell = 0; block->turns && cell < HAUL__CELLS; cell++) {
        uint64_t starts = starts_of(block, cell);
        for (; starts; starts &= starts - 1) {
            const unsigned word = cell * 64 + (unsigned)haul__lowest64(starts);
            const unsigned turn = *haul__turn_of(map, block, (uintptr_t)word << HAUL__WORD_SHIFT);
            if (turn && spots)
                spots[ends[turn]] = (haul__spot)(i << HAUL__SPOT_SHIFT | word);
            ends[turn] += turn != 0;
        }
    }
}

int haul__turns_list(const haul__map *map, haul__spot **spots, size_t *count, haul__turn_ends ends)
{
    size_t i, sum = 0;
    unsigned turn;
    *spots = NULL;
    *count = 0;
    memset(ends, 0, sizeof(haul__turn_ends));
    if (!map->slabs.count || map->block_count >> (32 - HAUL__SPOT_SHIFT))
        return 1;
    for (i = 0; i < map->block_count; i++)
        list_block(map, i, NULL, ends);
    for (turn = 1; turn <= UINT8_MAX; turn++) {
        const size_t of_turn = ends[turn];
        ends[turn] = sum;
        sum += of_turn;
    }
    if (!sum)
        return 1;
    *spots = haul__allocate(&map->allocator, sum * sizeof **spots, sizeof **spots);
    if (!*spots)
        return 0;
    *count = sum;
    for (i = 0; i < map->block_count; i++)
        list_block(map, i, *spots, ends);
    return 1;
}
