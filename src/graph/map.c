/* The map's memory: the table, blocks and sides. What they mean stands in map.h.
 *
 * A map is cleared by walking the list of its blocks, so that clearing costs what marking touched. Blocks are taken
 * one at a time: a plan then holds what it needs, and not what a pool rounds up to.
 */
#include "graph/map.h"

#define FLAT_ENTRIES ((size_t)1 << (HAUL__ADDRESS_BITS - HAUL__BLOCK_SHIFT))
#define FAR_BYTES ((HAUL__LAST_KIND / 2 + 1) * sizeof(haul__far))
#define TABLE_PAGE ((size_t)4096) /* the granularity in which a reserved range takes memory */

void haul__map_open(haul__map *map, const haul_allocator *allocator)
{
    memset(map, 0, sizeof *map);
    map->allocator = *allocator;
    map->next_form = HAUL__FIRST_KIND;
    if (allocator->reserve)
        map->flat = allocator->reserve(allocator->user, FLAT_ENTRIES * sizeof *map->flat);
}

static void release_bars(haul__map *map, haul__bars *bars)
{
    size_t page;
    for (page = 0; bars && page < HAUL__PAGES; page++) {
        haul__release(&map->allocator, bars->masks[0][page], HAUL__PAGE_GRANULES * sizeof(uint16_t));
        haul__release(&map->allocator, bars->masks[1][page], HAUL__PAGE_GRANULES * sizeof(uint16_t));
    }
    haul__release(&map->allocator, bars, sizeof *bars);
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
    release_bars(map, side->bars);
    haul__release(&map->allocator, side, sizeof *side);
}

enum { SIZE_FULL, SIZE_BARE, SIZE_KIND, SIZE_MIXED, SIZES };

static unsigned size_of(uint32_t form)
{
    if (form == HAUL__FULL || form == HAUL__BARE)
        return form == HAUL__FULL ? SIZE_FULL : SIZE_BARE;
    return form == HAUL__MIXED ? SIZE_MIXED : SIZE_KIND;
}

static size_t bytes_of(unsigned size)
{
    const size_t head = offsetof(haul__block, cells), cells = HAUL__CELLS * sizeof(haul__cell);
    const size_t bytes[SIZES] = { 0, 0, HAUL__CELLS * sizeof(uint32_t), HAUL__CELLS * sizeof(uint64_t) };
    return head + (size == SIZE_FULL ? 0 : cells) + bytes[size];
}

static void keep_block(haul__map *map, haul__block *block)
{
    unsigned size = size_of((uint32_t)block->form);
    map->block_bytes -= bytes_of(size);
    memcpy((void *)block, &map->spare[size], sizeof map->spare[size]);
    map->spare[size] = block;
}

static haul__block *take_kept(haul__map *map, unsigned size)
{
    haul__block *block = map->spare[size];
    if (block)
        memcpy(&map->spare[size], (const void *)block, sizeof map->spare[size]);
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
            map->flat[map->numbers[i]] = 0;
        keep_block(map, block);
    }
    forget_hashed(map);
    map->block_count = 0;
    map->next_form = HAUL__FIRST_KIND;
    map->has_units = map->has_bars = 0;
    map->is_wide = 0;
    map->side_bytes = 0;
}

void haul__map_close(haul__map *map)
{
    haul__block *block;
    unsigned size;
    haul__map_clear(map);
    for (size = 0; size < SIZES; size++)
        while ((block = take_kept(map, size)) != NULL)
            haul__release(&map->allocator, block, bytes_of(size));
    haul__release(&map->allocator, map->numbers, map->number_capacity * sizeof *map->numbers);
    haul__release(&map->allocator, map->far, FAR_BYTES);
    if (map->flat)
        map->allocator.unreserve(map->allocator.user, map->flat, FLAT_ENTRIES * sizeof *map->flat);
    memset(map, 0, sizeof *map);
}

size_t haul__map_bytes(const haul__map *map)
{
    const uint32_t per_page = (uint32_t)(TABLE_PAGE / sizeof *map->flat);
    size_t i, table = map->hashed_capacity * sizeof *map->hashed;
    for (i = 0; map->flat && i < map->block_count; i++)
        if (i == 0 || map->numbers[i] / per_page != map->numbers[i - 1] / per_page)
            table += TABLE_PAGE;
    return sizeof *map + table + map->number_capacity * sizeof *map->numbers + (map->far ? FAR_BYTES : 0) +
           map->block_bytes + map->side_bytes;
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

/* Uninitialised. */
static haul__block *new_block(haul__map *map, uint32_t form)
{
    unsigned size = size_of(form);
    haul__block *block = take_kept(map, size);
    if (!block)
        block = haul__allocate(&map->allocator, bytes_of(size), HAUL__BLOCK_ALIGNMENT);
    if (block)
        map->block_bytes += bytes_of(size);
    return block;
}

static void enter_block(haul__map *map, uint32_t number, haul__block *block)
{
    if (map->flat) {
        map->flat[number] = (uintptr_t)block | (uintptr_t)block->form;
    } else {
        haul__hashed *entry = &map->hashed[hash_place(map, number)];
        entry->block = block;
        entry->number = number;
    }
}

static haul__block *add_block(haul__map *map, uintptr_t address, uint32_t form)
{
    uint32_t number = haul__block_number(address);
    void *numbers = map->numbers;
    haul__block *block;
    if (!make_room(map) ||
        (map->block_count == map->number_capacity &&
         !haul__grow_to(&map->allocator, &numbers, &map->number_capacity, map->block_count + map->block_count / 8 + 8,
                        sizeof *map->numbers)))
        return NULL;
    map->numbers = numbers;
    block = new_block(map, form);
    if (!block)
        return NULL;
    memset(block, 0, bytes_of(size_of(form)));
    block->form = form;
    enter_block(map, number, block);
    map->numbers[map->block_count++] = number;
    return block;
}

HAUL__NOINLINE haul__block *haul__map_touch(haul__map *map, uintptr_t address)
{
    haul__block *block = haul__map_find(map, address);
    return block ? block : add_block(map, address, HAUL__BARE);
}

haul__block *haul__map_fill(haul__map *map, uintptr_t address)
{
    return add_block(map, address, HAUL__FULL);
}

haul__block *haul__map_turn(haul__map *map, uintptr_t address, haul__block *block, uint32_t form)
{
    haul__block *turned = new_block(map, form);
    unsigned number;
    if (!turned)
        return NULL;
    memcpy(turned, block, bytes_of(SIZE_BARE));
    turned->form = form;
    for (number = 0; form == HAUL__MIXED && number < HAUL__CELLS; number++) {
        haul__slots(turned)[number] = haul__marked_slots(map, block, number);
        if (haul__is_of_kind(block))
            turned->cells[number].aux = 0;
    }
    enter_block(map, haul__block_number(address), turned);
    keep_block(map, block);
    return turned;
}

static int is_alike(const haul__simple *a, const haul__simple *b)
{
    if (a->slots != b->slots || a->bytes != b->bytes || !a->far != !b->far)
        return 0;
    return !a->far || memcmp(a->far, b->far, sizeof *a->far) == 0;
}

static int keep_simple(haul__map *map, uint32_t form, const haul__simple *kind)
{
    haul__simple *kept = &map->simple[form / 2];
    if (kind->far && !map->far)
        map->far = haul__allocate(&map->allocator, FAR_BYTES, sizeof(uint64_t));
    if (kind->far && !map->far)
        return 0;
    *kept = *kind;
    if (kind->far)
        kept->far = memcpy(&map->far[form / 2], kind->far, sizeof *kind->far);
    map->next_form = form + 2;
    return 1;
}

uint32_t haul__map_form(haul__map *map, haul__simple *kind)
{
    uint32_t form;
    for (form = HAUL__FIRST_KIND; form < map->next_form && !is_alike(&map->simple[form / 2], kind); form += 2)
        ;
    if (form > HAUL__LAST_KIND)
        return HAUL__NO_FORM;
    if (form == map->next_form && !keep_simple(map, form, kind))
        return 0;
    *kind = map->simple[form / 2];
    return form;
}

HAUL__INLINE uint32_t starts_in(const haul__block *block, unsigned number, int is_placed)
{
    return is_placed ? haul__starts(block)[number] : block->cells[number].aux;
}

/* How many granules before a cell the object starts that may reach into it; 0: none may. It is the last one before the
 * cell, as objects of one kind do not overlap. Where it ends before, it has no slots in the cell. */
HAUL__INLINE size_t reach_before(const haul__block *block, size_t granules, unsigned number, int is_placed)
{
    unsigned back;
    for (back = 1; back <= number && back * 32u < granules + 31u; back++) {
        uint32_t starts = starts_in(block, number - back, is_placed);
        if (starts)
            return back * 32u - haul__highest64(starts);
    }
    return back > number && block->carry ? (size_t)block->carry + number * 32u : 0;
}

/* The slots of a cell by the starts in it and before it. */
HAUL__INLINE uint64_t slots_by_starts(const haul__map *map, const haul__block *block, unsigned number, int is_placed)
{
    const haul__simple *kind = haul__simple_of(map, block);
    const size_t before = reach_before(block, kind->bytes >> HAUL__GRANULE_SHIFT, number, is_placed);
    uint64_t slots = before ? haul__slots_from(kind, before) : 0;
    uint32_t starts;
    for (starts = starts_in(block, number, is_placed); starts; starts &= starts - 1)
        slots |= kind->slots << (2 * haul__lowest32(starts));
    return slots;
}

uint64_t haul__marked_slots(const haul__map *map, const haul__block *block, unsigned number)
{
    if (block->form == HAUL__MIXED)
        return haul__slots(block)[number];
    return haul__is_of_kind(block) ? slots_by_starts(map, block, number, 0) : 0;
}

uint64_t haul__placed_slots(const haul__map *map, const haul__block *block, unsigned number)
{
    if (block->form == HAUL__MIXED)
        return haul__slots(block)[number];
    return haul__is_of_kind(block) ? slots_by_starts(map, block, number, 1) : 0;
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

uint16_t haul__partial_mask(const haul__block *block, unsigned granule)
{
    size_t page = granule / HAUL__PAGE_GRANULES, at = granule % HAUL__PAGE_GRANULES;
    if (!block->side)
        return 0;
    if (block->side->masks[page])
        return block->side->masks[page][at];
    if (block->side->prefix[page])
        return (uint16_t)((1u << haul__prefix_of(block->side->prefix[page], at)) - 1u);
    return 0;
}

uint16_t haul__byte_mask(const haul__block *block, unsigned granule)
{
    size_t page = granule / HAUL__PAGE_GRANULES, at = granule % HAUL__PAGE_GRANULES;
    if (block->side && block->side->masks[page])
        return block->side->masks[page][at];
    if (block->side && block->side->prefix[page] && haul__prefix_of(block->side->prefix[page], at))
        return (uint16_t)((1u << haul__prefix_of(block->side->prefix[page], at)) - 1u);
    return HAUL__FULL_MASK;
}

int haul__is_described(const haul__map *map, uintptr_t address)
{
    const haul__block *block;
    unsigned granule = haul__granule_in_block(address);
    if (address < HAUL__LOWEST || address > HAUL__HIGHEST)
        return 0;
    block = haul__map_find(map, address);
    if (!block || !haul__is_placed(block, address))
        return 0;
    if (block->side && block->side->holes && (block->side->holes[granule / 64] >> (granule % 64) & 1))
        return 1;
    return haul__byte_mask(block, granule) >> (address & (HAUL__GRANULE - 1)) & 1;
}
