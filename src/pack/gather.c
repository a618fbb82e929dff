/* Gather: from the source into an arena, in order of address.
 *
 * The slow obvious version: for each live granule copy it to its place; for each slot write, instead of the source
 * address, the place it leads to. Blocks are in order of address and so are their places, so the source is read
 * once from front to back and the arena written once from front to back, at the speed of a copy. What would be slow is
 * translating pointers, whose targets' cells lie anywhere: while the slots of one cell are translated, those of the
 * next are read already and what they lead to is fetched. Reading them twice costs less than keeping them.
 *
 * Every pointer word, count and terminator that discovery trusted is compared with what is there now. A sum a block
 * does it for pointers; so gather can refuse a plan that no longer fits, at hardly any cost.
 */
#include "pack/plan.h"

#define CELLS_AHEAD 1u /* whose targets are fetched while the slots of a cell are translated */
#define STREAM_BYTES ((size_t)16 << 10)
#define LARGE_BYTES ((uint64_t)64 << 20)
#define PROGRESS_BYTES ((uint64_t)4 << 20)

typedef struct sweep {
    const haul__map *map;
    const haul__found *found;
    unsigned char *arena;
    uint64_t base;
    uint64_t *bitmap; /* may be NULL */
    uint64_t guard;   /* of this block, as it is now */
    size_t nulls;
    int is_large;     /* the arena: larger than caches are */
    uintptr_t lost;   /* a slot whose pointer leads out of the graph; 0: none */
} sweep;

static int was_empty(const haul__found *found, uintptr_t slot)
{
    size_t low = 0, high = found->empty_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (found->empty[middle] < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low < found->empty_count && found->empty[low] == slot;
}

/* A pointer whose granule has no place: one past a range, or to no elements, or it does not belong. */
static HAUL__NOINLINE void place_rarely(sweep *s, uintptr_t value, size_t at)
{
    uintptr_t slot = haul__source_of(s->map, at >> HAUL__GRANULE_SHIFT) + (at & (HAUL__GRANULE - 1));
    uint64_t place = haul__translate(s->map, value);
    uintptr_t word = (uintptr_t)(place ? s->base + place : 0);
    memcpy(s->arena + at, &word, sizeof word);
    if (place && s->bitmap)
        s->bitmap[at >> (HAUL__WORD_SHIFT + 6)] |= (uint64_t)1 << ((at >> HAUL__WORD_SHIFT) & 63u);
    if (!place && !was_empty(s->found, slot))
        s->lost = slot;
}

/* Sets bits of the bitmap from a word of the arena on. */
HAUL__INLINE void note_pointers(uint64_t *bitmap, size_t word, uint64_t bits)
{
    bitmap[word / 64] |= bits << (word % 64);
    if (bits >> 1 >> (63 - word % 64))
        bitmap[word / 64 + 1] |= bits >> 1 >> (63 - word % 64);
}

/* The slots of one cell: read, summed up, translated, and written behind `rank` granules of the arena. */
HAUL__INLINE uint64_t gather_cell_slots(sweep *s, const haul__cell *cell, unsigned number, uintptr_t address,
                                        uint64_t rank)
{
    const haul__map *const map = s->map;
    const uintptr_t page = map->has_units ? ((uintptr_t)1 << HAUL__PAGE_SHIFT) - 1 : UINTPTR_MAX;
    const size_t first = (size_t)rank << 1;
    unsigned char *const to = s->arena + (first << HAUL__WORD_SHIFT);
    const uint32_t live = cell->live;
    uint64_t guard = 0, bits = 0, slots;
    for (slots = cell->slots; slots; slots &= slots - 1) {
        unsigned word = haul__lowest64(slots);
        uintptr_t value = haul__load_word((const void *)(address + ((uintptr_t)word << HAUL__WORD_SHIFT)));
        unsigned at = 2 * haul__bits32(live & (((uint32_t)1 << (word / 2)) - 1u)) + word % 2;
        const haul__block *block;
        guard += haul__guard_term(number, word, value);
        if (!value) {
            s->nulls++;
            continue;
        }
        block = HAUL__LIKELY(value <= HAUL__HIGHEST) ? haul__map_find(map, value) : NULL;
        if (HAUL__LIKELY(block && haul__is_placed(block, value) && (value & page) != 0)) {
            const haul__cell *target = &block->cells[(value >> HAUL__CELL_SHIFT) & (HAUL__CELLS - 1)];
            uintptr_t translated = (uintptr_t)(s->base + haul__place_in(map, target, value));
            memcpy(to + at * HAUL__WORD, &translated, sizeof translated);
            bits |= (uint64_t)1 << at;
        } else {
            place_rarely(s, value, (first + at) << HAUL__WORD_SHIFT);
        }
    }
    if (s->bitmap)
        note_pointers(s->bitmap, first, bits);
    return guard;
}

/* Fetches the cells that the pointers of one cell lead to. Prefetches never fault: neither the pointers nor the blocks
 * need to be good. */
HAUL__INLINE void prefetch_targets(const haul__map *map, const haul__cell *cell, uintptr_t address)
{
    uint64_t slots;
    for (slots = map->flat ? cell->slots : 0; slots; slots &= slots - 1) {
        uintptr_t slot = address + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
        uintptr_t value = haul__load_word((const void *)slot);
        uintptr_t block = (uintptr_t)map->flat[(value & HAUL__HIGHEST) >> HAUL__BLOCK_SHIFT];
        haul__prefetch(block + ((value >> (HAUL__CELL_SHIFT - 4)) & ((HAUL__CELLS - 1) << 4)));
    }
}

HAUL__HOT static void gather_slots(sweep *s, const haul__block *block, uintptr_t address)
{
    uint64_t guard = 0;
    unsigned number;
    for (number = 0; number < CELLS_AHEAD; number++)
        prefetch_targets(s->map, &block->cells[number], address + number * HAUL__CELL_BYTES);
    for (number = 0; number < HAUL__CELLS; number++) {
        const haul__cell *cell = &block->cells[number];
        if (number + CELLS_AHEAD < HAUL__CELLS)
            prefetch_targets(s->map, cell + CELLS_AHEAD, address + (number + CELLS_AHEAD) * HAUL__CELL_BYTES);
        if (cell->slots)
            guard += gather_cell_slots(s, cell, number, address + number * HAUL__CELL_BYTES,
                                       haul__cell_rank(block, cell));
    }
    s->guard = guard;
}

HAUL__INLINE void copy_granules(unsigned char *to, const unsigned char *from, size_t count)
{
    if (count > 16) {
        memcpy(to, from, count << HAUL__GRANULE_SHIFT);
        return;
    }
    for (; count; count--, to += HAUL__GRANULE, from += HAUL__GRANULE)
        memcpy(to, from, HAUL__GRANULE);
}

/* How many cells from `cell` on are plain bytes, wholly live. */
static unsigned plain_cells(const haul__block *block, unsigned cell)
{
    unsigned end = cell;
    while (end < HAUL__CELLS && block->cells[end].live == UINT32_MAX && !block->cells[end].slots)
        end++;
    return end - cell;
}

/* Long runs go past the caches where the arena is too large to be found there again. */
static void copy_plain(const sweep *s, size_t place, const unsigned char *from, size_t bytes)
{
    if (s->is_large && bytes >= STREAM_BYTES)
        haul__copy_streaming(s->arena + place, from, bytes);
    else
        memcpy(s->arena + place, from, bytes);
}

HAUL__INLINE size_t place_of_cell(const haul__block *block, unsigned cell)
{
    return (size_t)(haul__cell_rank(block, &block->cells[cell]) << HAUL__GRANULE_SHIFT);
}

/* A block all of whose live granules are live in every byte. */
HAUL__HOT static void gather_whole(sweep *s, const haul__block *block, uintptr_t address)
{
    unsigned cell = 0;
    while (cell < HAUL__CELLS) {
        const haul__cell *at = &block->cells[cell];
        uintptr_t from = address + cell * HAUL__CELL_BYTES;
        uint32_t live = at->live;
        size_t place = place_of_cell(block, cell);
        unsigned plain = live == UINT32_MAX ? plain_cells(block, cell) : 0;
        if (plain) {
            copy_plain(s, place, (const unsigned char *)from, plain * HAUL__CELL_BYTES);
            cell += plain;
            continue;
        }
        while (live) {
            unsigned first = haul__lowest32(live);
            uint32_t rest = ~(live >> first);
            unsigned count = rest ? haul__lowest32(rest) : 32u;
            copy_granules(s->arena + place, (const unsigned char *)from + first * HAUL__GRANULE, count);
            place += count * HAUL__GRANULE;
            live &= first + count < 32u ? UINT32_MAX << (first + count) : 0u;
        }
        cell++;
    }
}

/* The bytes of `mask`, the rest zeros. */
static void copy_masked(unsigned char *to, const unsigned char *from, uint16_t mask)
{
    unsigned byte;
    memset(to, 0, HAUL__GRANULE);
    if ((mask & (mask + 1u)) == 0) {
        memcpy(to, from, haul__bits32(mask));
        return;
    }
    for (byte = 0; byte < HAUL__GRANULE; byte++)
        if (mask >> byte & 1)
            to[byte] = from[byte];
}

/* A block with partly live granules or gaps: granule by granule. */
static void gather_masked(sweep *s, const haul__block *block, uintptr_t address)
{
    uint32_t filled = (uint32_t)block->base;
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++) {
        const haul__cell *at = &block->cells[cell];
        uintptr_t from = address + cell * HAUL__CELL_BYTES;
        size_t place = place_of_cell(block, cell);
        uint32_t live;
        if (!at->live)
            continue;
        if (at->aux != filled)
            memset(s->arena + place - (size_t)(at->aux - filled) * HAUL__GRANULE, 0,
                   (size_t)(at->aux - filled) * HAUL__GRANULE);
        filled = at->aux + haul__bits32(at->live);
        for (live = at->live; live; live &= live - 1, place += HAUL__GRANULE) {
            unsigned granule = haul__lowest32(live);
            const unsigned char *source = (const unsigned char *)from + granule * HAUL__GRANULE;
            uint16_t mask = haul__byte_mask(block, cell * 32u + granule);
            if (mask == HAUL__FULL_MASK)
                memcpy(s->arena + place, source, HAUL__GRANULE);
            else
                copy_masked(s->arena + place, source, mask);
        }
    }
}

static haul_status stale(haul_plan *plan, const char *text)
{
    return haul__fail(&plan->context->error, HAUL_ERROR_STALE, "%s since the plan was made; plan again", text);
}

static void explain(haul_plan *plan, uintptr_t pointer, uintptr_t count)
{
    haul__sought sought = { 0, 0, 0, 0 };
    sought.pointer = pointer;
    sought.count = count;
    haul__explain(plan->context, plan->roots, plan->root_count, &plan->found.map, &sought);
}

/* Strings must still end where they did. */
static haul_status check_ends(haul_plan *plan, const haul__block *block, uintptr_t address)
{
    size_t i;
    for (i = 0; block->side && i < block->side->end_count; i++) {
        haul_status status;
        if (*(const char *)(address + block->side->ends[i]) == 0)
            continue;
        status = stale(plan, "a string has lost its terminator");
        explain(plan, 0, address + block->side->ends[i]);
        return status;
    }
    return HAUL_OK;
}

static haul_status check_calls(haul_plan *plan)
{
    const haul__found *found = &plan->found;
    size_t i;
    for (i = 0; i < found->call_count; i++) {
        const haul__call *call = &found->calls[i];
        haul__sought sought = { 0, 0, 0, 0 };
        haul_status status;
        if (call->function(&call->here) == call->value)
            continue;
        status = stale(plan, "the count that a callback answers has changed");
        sought.call_self = (uintptr_t)call->here.self;
        sought.call_target = (uintptr_t)call->here.target;
        haul__explain(plan->context, plan->roots, plan->root_count, &found->map, &sought);
        return status;
    }
    return HAUL_OK;
}

static haul_status check_guards(haul_plan *plan)
{
    const haul__found *found = &plan->found;
    size_t i;
    for (i = 0; i < found->guard_count; i++) {
        haul_status status;
        if (haul__guard_read(&found->guards[i]) == found->guards[i].value)
            continue;
        status = stale(plan, "a count or terminator has changed");
        explain(plan, 0, (uintptr_t)(found->guards[i].place & UINT64_C(0x00ffffffffffffff)));
        return status;
    }
    return check_calls(plan);
}

/* Names a pointer of the block that has changed: one that leads out of the graph, where there is one; else, with the
 * arena as it was sent, one that leads elsewhere now; else the first. */
static void explain_block(haul_plan *plan, size_t i, const unsigned char *old, uint64_t base)
{
    haul__block *block = haul__plan_block(plan, i);
    uintptr_t address = haul__block_address(plan->found.map.numbers[i]), first = 0, found = 0;
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS && !found; cell++) {
        uint64_t slots = block->cells[cell].slots;
        for (; slots && !found; slots &= slots - 1) {
            uintptr_t slot = address + cell * HAUL__CELL_BYTES + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
            uintptr_t value = haul__load_word((const void *)slot);
            uint64_t place = haul__translate(&plan->found.map, value);
            if (!first)
                first = slot;
            if (old) {
                uintptr_t word = haul__load_word(old + haul__place(&plan->found.map, block, slot));
                if (word != (uintptr_t)(place ? base + place : 0) ||
                    (value && !place && !was_empty(&plan->found, slot)))
                    found = slot;
            } else if (value && !place && !was_empty(&plan->found, slot)) {
                found = slot;
            }
        }
    }
    explain(plan, found ? found : first, 0);
}

int haul__stale_wants_arena(const haul_plan *plan)
{
    return plan->stale_block != SIZE_MAX;
}

void haul__explain_stale(haul_plan *plan, const void *old, uint64_t base)
{
    if (plan->stale_block != SIZE_MAX)
        explain_block(plan, plan->stale_block, old, base);
}

static haul_status gather_block(haul_plan *plan, sweep *s, size_t i)
{
    haul__block *block = haul__plan_block(plan, i);
    uintptr_t address = haul__block_address(plan->found.map.numbers[i]);
    haul_status status = check_ends(plan, block, address);
    if (status != HAUL_OK)
        return status;
    if (block->side)
        gather_masked(s, block, address);
    else
        gather_whole(s, block, address);
    gather_slots(s, block, address);
    if (!plan->packed)
        block->guard = s->guard;
    if (s->guard == block->guard)
        return HAUL_OK;
    plan->stale_block = i;
    status = stale(plan, "a pointer has changed");
    explain_block(plan, i, NULL, 0);
    return status;
}

/* A pointer that leads out of the graph did not when the plan was made. */
static haul_status check_lost(haul_plan *plan, const sweep *s)
{
    haul_status status;
    if (!s->lost)
        return HAUL_OK;
    status = stale(plan, "a pointer has changed");
    explain(plan, s->lost, 0);
    return status;
}

/* A pointer to no elements is null in the arena, unless it leads to a described byte or to the end of a range. */
static void clear_empty(const haul_plan *plan, const sweep *s)
{
    const haul__found *found = &plan->found;
    size_t i;
    for (i = 0; i < found->empty_count; i++) {
        uintptr_t slot = found->empty[i], none = 0;
        uint64_t place, at = haul__translate(&found->map, slot);
        if (haul__offset_of(plan, haul__load_word((const void *)slot), &place))
            continue;
        memcpy(s->arena + at, &none, sizeof none);
        if (s->bitmap && at % HAUL__WORD == 0)
            s->bitmap[at >> (HAUL__WORD_SHIFT + 6)] &= ~((uint64_t)1 << ((at >> HAUL__WORD_SHIFT) & 63u));
    }
}

static haul_status gather_odd(haul_plan *plan, sweep *s, uint64_t *odd)
{
    const haul__found *found = &plan->found;
    size_t i, count = 0;
    for (i = 0; i < found->odd_count; i++) {
        uintptr_t value = haul__load_word((const void *)found->odd[i].address), word;
        uint64_t at = haul__translate(&found->map, found->odd[i].address), place;
        s->nulls += !value;
        if (value != found->odd[i].value) {
            haul_status status = stale(plan, "a pointer has changed");
            explain(plan, found->odd[i].address, 0);
            return status;
        }
        if (!haul__offset_of(plan, value, &place))
            place = 0;
        word = (uintptr_t)(place ? s->base + place : 0);
        memcpy(s->arena + at, &word, sizeof word);
        if (odd && place)
            odd[count++] = at;
    }
    return HAUL_OK;
}

static int tell(const haul__listener *listener, uint64_t *told, uint64_t done, uint64_t total)
{
    if (!listener || !listener->progress || (done - *told < PROGRESS_BYTES && done != total))
        return 0;
    *told = done;
    return listener->progress(listener->user, done, total);
}

haul_status haul__gather(haul_plan *plan, void *arena, uint64_t base, uint64_t *bitmap, uint64_t *odd,
                         const haul__listener *listener)
{
    uint64_t told = 0, total = plan->placed.granules << HAUL__GRANULE_SHIFT;
    haul_status status = check_guards(plan);
    sweep s;
    size_t i;
    s.map = &plan->found.map;
    s.arena = arena;
    s.base = base;
    s.bitmap = bitmap;
    s.guard = 0;
    s.nulls = 0;
    s.is_large = total >= LARGE_BYTES;
    s.lost = 0;
    s.found = &plan->found;
    plan->stale_block = SIZE_MAX;
    if (status != HAUL_OK)
        return status;
    memset(arena, 0, HAUL__GRANULE);
    if (bitmap)
        memset(bitmap, 0, haul_plan_bitmap_bytes(plan));
    for (i = 0; i < plan->found.map.block_count; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        if (tell(listener, &told, block->base << HAUL__GRANULE_SHIFT, total))
            return haul__fail(&plan->context->error, HAUL_ERROR_STATE, "cancelled by the progress callback");
        status = gather_block(plan, &s, i);
        if (status != HAUL_OK)
            return status;
    }
    status = check_lost(plan, &s);
    if (status == HAUL_OK)
        status = gather_odd(plan, &s, odd);
    if (status == HAUL_OK)
        clear_empty(plan, &s);
    if (status == HAUL_OK) {
        plan->packed = 1;
        plan->nulls = s.nulls;
    }
    if (status == HAUL_OK && tell(listener, &told, total, total))
        return haul__fail(&plan->context->error, HAUL_ERROR_STATE, "cancelled by the progress callback");
    return status;
}
