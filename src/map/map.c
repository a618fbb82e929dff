/* The map's memory: the table, the list and the blocks. map.h says what they mean.
 *
 * A map is cleared block by block, so the cost of clearing grows with the blocks that were marked,
 * not with the address space. Blocks are allocated one at a time, so a small plan takes little
 * memory.
 */
#include "base/index.h"
#include "map/side.h"
#include "map/spare.h"
#include "map/stock.h"
#include "map/turns.h"

#define FLAT_ENTRIES ((size_t)1 << (HAUL__ADDRESS_BITS - HAUL__BLOCK_SHIFT))
#define FAR_BYTES ((HAUL__LAST_UNIFORM / 2 + 1) * sizeof(haul__far))

void haul__map_open(haul__map *map, const haul_allocator *allocator)
{
    memset(map, 0, sizeof *map);
    map->allocator = *allocator;
    map->next_form = HAUL__FIRST_UNIFORM;
}

/* ---- The table. */

/* Takes a listed map out of the table. */
static void vacate(haul__table *table)
{
    haul__map *holder = table->holder;
    size_t i;
    for (i = 0; holder && i < holder->block_count; i++)
        table->flat[holder->numbers[i]] = 0;
    if (holder)
        holder->table = NULL;
    table->holder = NULL;
}

static int has_table(haul__table *table, const haul_allocator *allocator)
{
    if (!table->flat && !table->is_refused) {
        table->flat = haul__reserve(allocator, FLAT_ENTRIES * sizeof *table->flat, 0);
        table->is_refused = !table->flat;
    }
    return table->flat != NULL;
}

void haul__table_lend(haul__table *table, haul__map *map)
{
    if (!has_table(table, &map->allocator) || (table->holder && !table->holder->is_listed))
        return;
    vacate(table);
    table->holder = map;
    map->table = table;
    map->flat = table->flat;
}

const uintptr_t *haul__table_show(haul__table *table, haul__map *map)
{
    size_t i;
    if (table->holder == map)
        return table->flat;
    if (!has_table(table, &map->allocator) || (table->holder && !table->holder->is_listed))
        return NULL;
    vacate(table);
    for (i = 0; i < map->block_count; i++)
        table->flat[map->numbers[i]] = map->entries[i];
    table->holder = map;
    map->table = table;
    return table->flat;
}

void haul__table_close(haul__table *table, const haul_allocator *allocator)
{
    if (table->holder)
        return;
    if (table->flat)
        haul__unreserve(allocator, table->flat, FLAT_ENTRIES * sizeof *table->flat);
    memset(table, 0, sizeof *table);
}

/* ---- Blocks. */

/* A block's size, as an index. `words`: of an object, if the block is ragged; its starts need as
 * much room as slots. */
static unsigned size_of(uint32_t form, uint32_t words)
{
    if (form == HAUL__FULL || form == HAUL__BARE)
        return form == HAUL__FULL ? HAUL__SIZE_FULL : HAUL__SIZE_BARE;
    return form == HAUL__MIXED || words ? HAUL__SIZE_MIXED : HAUL__SIZE_UNIFORM;
}

/* The words of an object, if blocks of this form are ragged; else 0. */
static uint16_t words_of(const haul__map *map, uint32_t form)
{
    return form >= HAUL__FIRST_UNIFORM ? (uint16_t)map->simple[form / 2].words : 0;
}

static void keep_block(haul__map *map, haul__block *block)
{
    const unsigned size = size_of(block->form, block->words);
    map->block_bytes -= haul__spare_bytes(size);
    haul__spare_keep(map, size, block);
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
        haul__block *block = map->is_listed
                                 ? haul__map_block(map, i)
                                 : haul__map_find(map, haul__block_address(map->numbers[i]));
        if (block->side)
            haul__side_release(map, block->side);
        if (map->table)
            map->table->flat[map->numbers[i]] = 0;
        keep_block(map, block);
    }
    if (map->table)
        map->table->holder = NULL;
    map->table = NULL;
    map->flat = NULL;
    forget_hashed(map);
    map->block_count = 0;
    map->is_listed = 0;
    map->next_form = HAUL__FIRST_UNIFORM;
    map->has_placements = map->has_exclusions = 0;
    map->is_wide = 0;
    map->side_bytes = 0;
    haul__turns_release(map);
}

void haul__map_close(haul__map *map)
{
    haul__map_clear(map);
    haul__spare_release(map);
    haul__release(&map->allocator, map->numbers, map->number_capacity * sizeof *map->numbers);
    haul__release(&map->allocator, map->entries, map->entry_capacity * sizeof *map->entries);
    haul__release(&map->allocator, map->far, FAR_BYTES);
    memset(map, 0, sizeof *map);
}

size_t haul__map_bytes(const haul__map *map)
{
    return sizeof *map + map->number_capacity * sizeof *map->numbers +
           map->entry_capacity * sizeof *map->entries + (map->far ? FAR_BYTES : 0) +
           map->block_bytes + map->side_bytes + haul__turns_bytes(map);
}

size_t haul__block_bytes(const haul__block *block)
{
    return haul__spare_bytes(size_of(block->form, block->words));
}

static uintptr_t entry_of(const haul__block *block)
{
    return (uintptr_t)block | (uintptr_t)block->form;
}

static size_t hash_place(const haul__map *map, uint32_t number)
{
    size_t mask = map->hashed_capacity - 1;
    size_t at = (size_t)(haul__hash(number) >> 32) & mask;
    while (map->hashed[at].block && map->hashed[at].number != number)
        at = (at + 1) & mask;
    return at;
}

/* A binary search that uses the difference of the numbers: they are in order and all different, so
 * two of them are no farther apart in the list than they differ. If blocks lie side by side, as in
 * most heaps, a few steps are enough; if all do, none is needed. */
static haul__block *find_listed(const haul__map *map, uint32_t number)
{
    size_t low = 0, high = map->block_count;
    const size_t first = high ? number - map->numbers[0] : 0;
    if (HAUL__LIKELY(first < high && map->numbers[first] == number))
        return haul__map_block(map, first);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const uint32_t found = map->numbers[middle];
        if (found == number)
            return haul__map_block(map, middle);
        if (found < number) {
            low = middle + 1;
            high =
                high - middle > (size_t)(number - found) + 1 ? middle + (number - found) + 1 : high;
        } else {
            high = middle;
            low = middle - low > (size_t)(found - number) ? middle - (found - number) : low;
        }
    }
    return NULL;
}

HAUL__NOINLINE haul__block *haul__map_find_apart(const haul__map *map, uint32_t number)
{
    if (map->is_listed)
        return find_listed(map, number);
    return map->hashed_capacity ? map->hashed[hash_place(map, number)].block : NULL;
}

int haul__map_list(haul__map *map)
{
    size_t i;
    if (map->entry_capacity < map->block_count &&
        !haul__grow_to(&map->allocator, &map->entries, &map->entry_capacity, map->number_capacity,
                       sizeof *map->entries))
        return 0;
    for (i = 0; i < map->block_count; i++)
        map->entries[i] = map->flat ? map->flat[map->numbers[i]]
                                    : entry_of(map->hashed[hash_place(map, map->numbers[i])].block);
    map->is_listed = 1;
    map->flat = NULL;
    forget_hashed(map);
    return 1;
}

/* Keeps the hash at most half full. */
static int make_room(haul__map *map)
{
    haul__map larger = *map;
    size_t i;
    if (map->flat || map->hashed_capacity / 2 > map->block_count)
        return 1;
    larger.hashed_capacity = map->hashed_capacity ? map->hashed_capacity * 2 : 16;
    larger.hashed =
        haul__allocate_zeroed(&map->allocator, larger.hashed_capacity * sizeof *larger.hashed);
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

/* A block whose bytes are not initialised. */
static haul__block *take_block(haul__map *map, unsigned size)
{
    haul__block *block = haul__spare_take(map, size);
    if (block)
        map->block_bytes += haul__spare_bytes(size);
    return block;
}

static haul__block *new_block(haul__map *map, uint32_t form)
{
    return take_block(map, size_of(form, words_of(map, form)));
}

static void enter_block(haul__map *map, uint32_t number, haul__block *block)
{
    if (map->flat) {
        map->flat[number] = entry_of(block);
    } else {
        haul__hashed *entry = &map->hashed[hash_place(map, number)];
        entry->block = block;
        entry->number = number;
    }
}

static int number_room(haul__map *map)
{
    return map->block_count < map->number_capacity ||
           haul__grow_to(&map->allocator, &map->numbers, &map->number_capacity,
                         map->block_count + map->block_count / 8 + 8, sizeof *map->numbers);
}

static haul__block *add_block(haul__map *map, uintptr_t address, uint32_t form)
{
    uint32_t number = haul__block_number(address);
    haul__block *block;
    if (!make_room(map) || !number_room(map))
        return NULL;
    block = new_block(map, form);
    if (!block)
        return NULL;
    memset(block, 0, haul__spare_bytes(form == HAUL__FULL ? HAUL__SIZE_FULL : HAUL__SIZE_BARE));
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

haul__block *haul__map_like(haul__map *map, const haul__block *old, uint32_t form)
{
    haul__block *block = new_block(map, form);
    if (!block)
        return NULL;
    memcpy(block, old, haul__spare_bytes(HAUL__SIZE_BARE));
    block->form = form;
    block->words = words_of(map, form);
    return block;
}

void haul__map_replace(haul__map *map, uintptr_t address, haul__block *old, haul__block *block)
{
    enter_block(map, haul__block_number(address), block);
    keep_block(map, old);
}

/* ---- Stocks. */

int haul__stock_fill(haul__map *map, haul__stock *stock, size_t whole, size_t ragged)
{
    const uint32_t form[2] = { HAUL__FIRST_UNIFORM, HAUL__MIXED }; /* as keep_block needs it */
    const size_t wanted[2] = { whole, ragged };
    int kind;
    stock->kept[0] = stock->kept[1] = 0;
    for (kind = 0; kind < 2; kind++)
        while (stock->left[kind] < wanted[kind]) {
            const unsigned size = size_of(form[kind], 0);
            const int is_kept = map->spare[size] != NULL;
            haul__block *block = take_block(map, size);
            if (!block)
                return 0;
            stock->kept[kind] += (size_t)is_kept;
            block->form = form[kind];
            block->words = 0;
            stock->block[kind][stock->left[kind]++] = block;
        }
    return 1;
}

int haul__stock_enter(const haul__map *map, haul__stock *stock, uintptr_t address, uint32_t form)
{
    const uint32_t number = haul__block_number(address);
    const uint16_t words = words_of(map, form);
    const int kind = words != 0;
    haul__block *block;
    if (!stock->left[kind])
        return 0;
    block = stock->block[kind][--stock->left[kind]];
    memset(block, 0, haul__spare_bytes(HAUL__SIZE_BARE));
    block->form = form;
    block->words = words;
    map->flat[number] = entry_of(block);
    stock->numbers[stock->entered++] = number;
    return 1;
}

/* What is left goes back to where it came from; blocks that the map had kept are the first. */
static void give_back(haul__map *map, haul__stock *stock, int kind)
{
    const unsigned size = kind ? HAUL__SIZE_MIXED : HAUL__SIZE_UNIFORM;
    while (stock->left[kind]) {
        haul__block *block = stock->block[kind][--stock->left[kind]];
        keep_block(map, block);
        if (stock->left[kind] >= stock->kept[kind])
            haul__release(&map->allocator, haul__spare_pop(map, size), haul__spare_bytes(size));
    }
}

int haul__stock_end(haul__map *map, haul__stock *stock)
{
    size_t i;
    int kind, has_room = 1;
    for (i = 0; i < stock->entered; i++) {
        has_room = has_room && number_room(map);
        if (has_room) {
            map->numbers[map->block_count++] = stock->numbers[i];
        } else {
            keep_block(map, haul__block_in(map->flat[stock->numbers[i]]));
            map->flat[stock->numbers[i]] = 0;
        }
    }
    for (kind = 0; kind < 2; kind++)
        give_back(map, stock, kind);
    stock->entered = 0;
    return has_room;
}

/* ---- Parts. */

int haul__map_enter(haul__map *map, uintptr_t address, uint32_t form)
{
    haul__block *block = add_block(map, address, form);
    if (block)
        block->words = words_of(map, form);
    return block != NULL;
}

void haul__map_split(haul__map *map, haul__map **parts, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        haul__map_open(parts[i], &map->allocator);
        parts[i]->flat = map->flat;
        parts[i]->far = map->far;
        parts[i]->next_form = map->next_form;
        memcpy(parts[i]->simple, map->simple, sizeof map->simple);
    }
    haul__spare_deal(map, parts, count);
}

int haul__map_join(haul__map *map, haul__map *part)
{
    haul__block *block;
    size_t i;
    int has_room = 1;
    for (i = 0; i < part->block_count; i++) {
        const uint32_t number = part->numbers[i];
        has_room = has_room && number_room(map);
        if (has_room) {
            map->numbers[map->block_count++] = number;
            continue;
        }
        block = haul__block_in(map->flat[number]);
        map->flat[number] = 0;
        if (block->side)
            haul__side_release(part, block->side);
        keep_block(part, block);
    }
    haul__spare_join(map, part);
    map->block_bytes += part->block_bytes;
    map->side_bytes += part->side_bytes;
    map->has_placements |= part->has_placements;
    map->has_exclusions |= part->has_exclusions;
    haul__release(&map->allocator, part->numbers, part->number_capacity * sizeof *part->numbers);
    memset(part, 0, sizeof *part);
    return has_room;
}

/* ---- Simple types. */

static int is_alike(const haul__simple *a, const haul__simple *b)
{
    if (a->slots != b->slots || a->bytes != b->bytes || a->words != b->words || !a->far != !b->far)
        return 0;
    return !a->far || memcmp(a->far, b->far, sizeof *a->far) == 0;
}

uint32_t haul__map_form(haul__map *map, haul__simple *simple)
{
    uint32_t form = HAUL__FIRST_UNIFORM;
    haul__simple *own;
    while (form < map->next_form && !is_alike(&map->simple[form / 2], simple))
        form += 2;
    if (form > HAUL__LAST_UNIFORM)
        return HAUL__NO_FORM;
    own = &map->simple[form / 2];
    if (form == map->next_form) {
        if (simple->far && !map->far)
            map->far = haul__allocate(&map->allocator, FAR_BYTES, sizeof(uint64_t));
        if (simple->far && !map->far)
            return 0;
        *own = *simple;
        if (simple->far)
            own->far = memcpy(&map->far[form / 2], simple->far, sizeof *simple->far);
        map->next_form = form + 2;
    }
    *simple = *own;
    return form;
}
