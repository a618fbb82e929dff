/* The map's memory: the table, blocks and sides. What they mean stands in map.h.
 *
 * A map is cleared by walking the list of its blocks, so that clearing costs what marking touched. Blocks are taken
 * one at a time: a plan then holds what it needs, and not what a pool rounds up to.
 */
#include "graph/map.h"

#define FLAT_ENTRIES ((size_t)1 << (HAUL__ADDRESS_BITS - HAUL__BLOCK_SHIFT))
#define TABLE_PAGE ((size_t)4096) /* the granularity in which a reserved range takes memory */

void haul__map_open(haul__map *map, const haul_allocator *allocator)
{
    memset(map, 0, sizeof *map);
    map->allocator = *allocator;
    if (allocator->reserve)
        map->flat = allocator->reserve(allocator->user, FLAT_ENTRIES * sizeof *map->flat);
}

static void release_side(haul__map *map, haul__side *side)
{
    size_t page;
    for (page = 0; page < HAUL__PAGES; page++) {
        haul__release(&map->allocator, side->prefix[page], HAUL__PAGE_GRANULES / 2);
        haul__release(&map->allocator, side->masks[page], HAUL__PAGE_GRANULES * sizeof(uint16_t));
    }
    haul__release(&map->allocator, side->ends, side->end_capacity * sizeof *side->ends);
    haul__release(&map->allocator, side->holes, HAUL__HOLE_BYTES);
    haul__release(&map->allocator, side, sizeof *side);
}

static void keep_block(haul__map *map, haul__block *block)
{
    memcpy((void *)block, &map->spare, sizeof map->spare);
    map->spare = block;
}

static haul__block *take_kept(haul__map *map)
{
    haul__block *block = map->spare;
    if (block)
        memcpy(&map->spare, (const void *)block, sizeof map->spare);
    return block;
}

static void forget_hashed(haul__map *map)
{
    haul__release(&map->allocator, map->hashed, map->hashed_capacity * sizeof *map->hashed);
    map->hashed = NULL;
    map->hashed_capacity = 0;
}

void haul__map_clear(haul__map *map)
{
    size_t i;
    for (i = 0; i < map->block_count; i++) {
        haul__block *block = haul__map_find(map, haul__block_address(map->numbers[i]));
        if (block->side)
            release_side(map, block->side);
        if (map->flat)
            map->flat[map->numbers[i]] = NULL;
        keep_block(map, block);
    }
    forget_hashed(map);
    map->block_count = 0;
    map->has_units = 0;
    map->is_wide = 0;
    map->side_bytes = 0;
}

void haul__map_close(haul__map *map)
{
    haul__block *block;
    haul__map_clear(map);
    while ((block = take_kept(map)) != NULL)
        haul__release(&map->allocator, block, sizeof *block);
    haul__release(&map->allocator, map->numbers, map->number_capacity * sizeof *map->numbers);
    if (map->flat)
        map->allocator.unreserve(map->allocator.user, map->flat, FLAT_ENTRIES * sizeof *map->flat);
    memset(map, 0, sizeof *map);
}

size_t haul__map_bytes(const haul__map *map)
{
    const uint32_t per_page = (uint32_t)(TABLE_PAGE / sizeof(haul__block *));
    size_t i, table = map->hashed_capacity * sizeof *map->hashed;
    for (i = 0; map->flat && i < map->block_count; i++)
        if (i == 0 || map->numbers[i] / per_page != map->numbers[i - 1] / per_page)
            table += TABLE_PAGE;
    return sizeof *map + table + map->number_capacity * sizeof *map->numbers +
           map->block_count * sizeof(haul__block) + map->side_bytes;
}

static size_t hash_place(const haul__map *map, uint32_t number)
{
    size_t mask = map->hashed_capacity - 1;
    size_t at = (size_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (map->hashed[at].block && map->hashed[at].number != number)
        at = (at + 1) & mask;
    return at;
}

haul__block *haul__map_find_hashed(const haul__map *map, uint32_t number)
{
    return map->hashed_capacity ? map->hashed[hash_place(map, number)].block : NULL;
}

/* Keeps the hash at most half full. */
static int make_room(haul__map *map)
{
    haul__map larger = *map;
    size_t i;
    if (map->flat || map->hashed_capacity / 2 > map->block_count)
        return 1;
    larger.hashed_capacity = map->hashed_capacity ? map->hashed_capacity * 2 : 16;
    larger.hashed = haul__allocate_zeroed(&map->allocator, larger.hashed_capacity * sizeof *larger.hashed);
    if (!larger.hashed)
        return 0;
    for (i = 0; i < map->hashed_capacity; i++)
        if (map->hashed[i].block)
            larger.hashed[hash_place(&larger, map->hashed[i].number)] = map->hashed[i];
    forget_hashed(map);
    map->hashed = larger.hashed;
    map->hashed_capacity = larger.hashed_capacity;
    return 1;
}

static haul__block *new_block(haul__map *map)
{
    haul__block *block = take_kept(map);
    if (!block)
        block = haul__allocate(&map->allocator, sizeof *block, 16);
    if (block)
        memset(block, 0, sizeof *block);
    return block;
}

HAUL__NOINLINE haul__block *haul__map_touch(haul__map *map, uintptr_t address)
{
    uint32_t number = haul__block_number(address);
    haul__block *block = haul__map_find(map, address);
    void *numbers = map->numbers;
    if (block)
        return block;
    if (!make_room(map) ||
        (map->block_count == map->number_capacity &&
         !haul__grow_to(&map->allocator, &numbers, &map->number_capacity, map->block_count + map->block_count / 8 + 8,
                        sizeof *map->numbers)))
        return NULL;
    map->numbers = numbers;
    block = new_block(map);
    if (!block)
        return NULL;
    if (map->flat) {
        map->flat[number] = block;
    } else {
        haul__hashed *entry = &map->hashed[hash_place(map, number)];
        entry->block = block;
        entry->number = number;
    }
    map->numbers[map->block_count++] = number;
    return block;
}

haul__side *haul__map_side(haul__map *map, haul__block *block)
{
    if (!block->side) {
        block->side = haul__allocate_zeroed(&map->allocator, sizeof *block->side);
        if (block->side)
            map->side_bytes += sizeof *block->side;
    }
    return block->side;
}

static unsigned prefix_of(const uint8_t *prefix, size_t granule)
{
    return (prefix[granule / 2] >> (granule % 2 * 4)) & 15u;
}

uint16_t haul__partial_mask(const haul__block *block, unsigned granule)
{
    size_t page = granule / HAUL__PAGE_GRANULES, at = granule % HAUL__PAGE_GRANULES;
    if (!block->side)
        return 0;
    if (block->side->masks[page])
        return block->side->masks[page][at];
    if (block->side->prefix[page])
        return (uint16_t)((1u << prefix_of(block->side->prefix[page], at)) - 1u);
    return 0;
}

uint16_t haul__byte_mask(const haul__block *block, unsigned granule)
{
    size_t page = granule / HAUL__PAGE_GRANULES, at = granule % HAUL__PAGE_GRANULES;
    if (block->side && block->side->masks[page])
        return block->side->masks[page][at];
    if (block->side && block->side->prefix[page] && prefix_of(block->side->prefix[page], at))
        return (uint16_t)((1u << prefix_of(block->side->prefix[page], at)) - 1u);
    return HAUL__FULL_MASK;
}
