/* Gather: from the source into an arena, in order of address.
 *
 * The slow obvious version: for each live granule copy it to its place; for each slot write, instead of the source
 * address, the place it leads to. Blocks are in order of address and so are their places, so the source is read
 * once from front to back and the arena written once from front to back, at the speed of a copy. What would be slow is
 * translating pointers, whose targets' cells lie anywhere: while the slots of one cell are translated, those of the
 * next are read already and what they lead to is fetched. Reading them twice costs less than keeping them. Blocks of one
 * kind of objects are gathered object by object (objects.c).
 *
 * What discovery trusted is compared with what is there now, on the way (stale.c).
 *
 * Places rise with addresses, so a run of blocks is a piece of the arena. Gather goes from piece to piece, each into
 * memory of its own, and what it keeps between two of them is a few numbers. A pointer off the grid may lie in two
 * pieces; each gets its part.
 */
#include "pack/direction.h"
#include "pack/sweep.h"

#define NEAR_BLOCKS ((size_t)64) /* the map of so few is in the nearest caches anyway */
#define STREAM_BYTES ((size_t)16 << 10)
#define LARGE_BYTES ((uint64_t)64 << 20)
#define PROGRESS_BYTES ((uint64_t)4 << 20)

HAUL__NOINLINE uintptr_t haul__place_rarely(haul__sweep *s, uintptr_t slot, uintptr_t value)
{
    uint64_t place = haul__translate(s->map, value);
    if (!place && !haul__was_empty(s->found, slot))
        s->lost = slot;
    return (uintptr_t)(place ? s->base + place : 0);
}

HAUL__INLINE void prefetch_targets(const haul__map *map, uint64_t slots, uintptr_t address)
{
    for (; slots; slots &= slots - 1) {
        uintptr_t slot = address + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
        haul__prefetch_target(map, haul__load_word((const void *)slot));
    }
}

/* The slots of a mixed block. */
HAUL__HOT static void gather_slots(haul__sweep *s, const haul__block *block, uintptr_t address)
{
    const uint64_t *slots = haul__slots(block);
    uint64_t guard = 0;
    unsigned number;
    for (number = 0; number < HAUL__CELLS; number++) {
        if (number + 1 < HAUL__CELLS)
            prefetch_targets(s->map, slots[number + 1], address + (number + 1) * HAUL__CELL_BYTES);
        guard = haul__gather_cell_slots(s, guard, slots[number], block->cells[number].live,
                                        address + number * HAUL__CELL_BYTES, haul__cell_rank(block, number), 1);
    }
    s->guard = guard;
}

/* The slots of any block, in a map where a cell alone does not tell a place. */
static void gather_slots_carefully(haul__sweep *s, const haul__block *block, uintptr_t address)
{
    unsigned number;
    for (number = 0; number < HAUL__CELLS; number++)
        s->guard = haul__gather_cell_slots(s, s->guard, haul__placed_slots(s->map, block, number),
                                           block->cells[number].live, address + number * HAUL__CELL_BYTES,
                                           haul__cell_rank(block, number), 0);
}

/* Long runs go past the caches where the arena is too large to be found there again. */
static void copy_plain(const haul__sweep *s, size_t place, const unsigned char *from, size_t bytes)
{
    if (s->is_large && bytes >= STREAM_BYTES)
        haul__copy_streaming(s->arena + place, from, bytes);
    else
        memcpy(s->arena + place, from, bytes);
}

/* How many cells from `cell` on are wholly live. */
static unsigned full_cells(const haul__block *block, unsigned cell)
{
    unsigned end = cell;
    while (end < HAUL__CELLS && block->cells[end].live == UINT32_MAX)
        end++;
    return end - cell;
}

/* A block all of whose live granules are live in every byte. */
HAUL__HOT static void gather_whole(haul__sweep *s, const haul__block *block, uintptr_t address)
{
    unsigned cell = 0;
    while (cell < HAUL__CELLS) {
        const unsigned char *from = (const unsigned char *)(address + cell * HAUL__CELL_BYTES);
        uint32_t live = block->cells[cell].live;
        if (live == UINT32_MAX) {
            unsigned count = full_cells(block, cell);
            copy_plain(s, haul__place_of_cell(block, cell), from, count * HAUL__CELL_BYTES);
            cell += count;
            continue;
        }
        if (s->is_far)
            haul__prefetch_lines((uintptr_t)from, (uintptr_t)s->arena + haul__place_of_cell(block, cell));
        haul__gather_runs(s, block, cell, from, live);
        cell++;
    }
}

/* The first bytes of a granule, the rest zeros: two words of which the second may reach over the first. */
HAUL__INLINE void copy_first(unsigned char *to, const unsigned char *from, unsigned bytes)
{
    const unsigned word = bytes < 8 ? 4 : 8;
    memset(to, 0, HAUL__GRANULE);
    if (bytes < word) {
        while (bytes-- > 0)
            to[bytes] = from[bytes];
    } else if (word == 4) {
        memcpy(to, from, 4);
        memcpy(to + bytes - 4, from + bytes - 4, 4);
    } else {
        memcpy(to, from, 8);
        memcpy(to + bytes - 8, from + bytes - 8, 8);
    }
}

/* The bytes of `mask`, the rest zeros. */
static void copy_masked(unsigned char *to, const unsigned char *from, uint16_t mask)
{
    unsigned byte;
    memset(to, 0, HAUL__GRANULE);
    for (byte = 0; byte < HAUL__GRANULE; byte++)
        if (mask >> byte & 1)
            to[byte] = from[byte];
}

/* Granules of a cell that have masks. */
HAUL__INLINE void gather_granules(haul__sweep *s, const haul__block *block, unsigned cell, const unsigned char *from,
                                  uint32_t masked)
{
    const uint32_t live = block->cells[cell].live;
    const uint8_t *prefix = block->side->prefix[cell / HAUL__PAGE_CELLS];
    unsigned char *to = s->arena + haul__place_of_cell(block, cell);
    for (; masked; masked &= masked - 1) {
        unsigned granule = haul__lowest32(masked), number = cell * 32u + granule;
        unsigned below = haul__bits32(live & (((uint32_t)1 << granule) - 1u));
        if (HAUL__LIKELY(prefix != NULL))
            copy_first(to + below * HAUL__GRANULE, from + granule * HAUL__GRANULE,
                       haul__prefix_of(prefix, number % HAUL__PAGE_GRANULES));
        else
            copy_masked(to + below * HAUL__GRANULE, from + granule * HAUL__GRANULE, haul__byte_mask(block, number));
    }
}

/* A block with partly live granules or gaps. */
HAUL__HOT static void gather_masked(haul__sweep *s, const haul__block *block, uintptr_t address)
{
    uint32_t filled = (uint32_t)block->base;
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++) {
        const haul__cell *at = &block->cells[cell];
        const unsigned char *from = (const unsigned char *)(address + cell * HAUL__CELL_BYTES);
        uint32_t masked;
        if (!at->live)
            continue;
        if (s->is_far)
            haul__prefetch_lines((uintptr_t)from, (uintptr_t)s->arena + haul__place_of_cell(block, cell));
        if (at->aux != filled)
            memset(s->arena + haul__place_of_cell(block, cell) - (size_t)(at->aux - filled) * HAUL__GRANULE, 0,
                   (size_t)(at->aux - filled) * HAUL__GRANULE);
        filled = at->aux + haul__bits32(at->live);
        masked = haul__masked(block, cell) & at->live;
        haul__gather_runs(s, block, cell, from, at->live & ~masked);
        gather_granules(s, block, cell, from, masked);
    }
}

/* How many blocks from `i` on are plain bytes in one stretch, in the source and in the arena. */
static size_t full_blocks(const haul_plan *plan, size_t i, size_t end)
{
    const uint32_t *numbers = plan->found.map.numbers;
    const uint64_t rank = haul__cell_rank(haul__plan_block(plan, i), 0);
    size_t count = 1;
    for (; i + count < end && numbers[i + count] == numbers[i] + count; count++) {
        const haul__block *next = haul__plan_block(plan, i + count);
        if (next->form != HAUL__FULL || haul__has_bars(next) ||
            haul__cell_rank(next, 0) != rank + count * HAUL__BLOCK_GRANULES)
            break;
    }
    return count;
}

/* Blocks of plain bytes, and the gap before them. */
static void gather_full(haul__sweep *s, const haul__block *block, uintptr_t address, size_t count)
{
    size_t place = haul__place_of_cell(block, 0), gap = place - (size_t)(block->base << HAUL__GRANULE_SHIFT);
    memset(s->arena + place - gap, 0, gap);
    copy_plain(s, place, (const unsigned char *)address, count * HAUL__BLOCK_BYTES);
}

/* Any other block: its bytes, and then its pointers over them. */
static void gather_marked(haul__sweep *s, const haul__block *block, uintptr_t address)
{
    s->guard = 0;
    if (haul__is_of_kind(block) && !block->side && !s->careful) {
        haul__gather_objects(s, block, address);
        return;
    }
    if (haul__has_bars(block))
        haul__gather_barred(block, address, s->arena);
    else if (block->side)
        gather_masked(s, block, address);
    else
        gather_whole(s, block, address);
    if (block->form == HAUL__BARE || block->form == HAUL__FULL)
        return;
    if (block->form == HAUL__MIXED && !s->careful)
        gather_slots(s, block, address);
    else
        gather_slots_carefully(s, block, address);
}

static haul_status gather_block(haul_plan *plan, haul__sweep *s, size_t i)
{
    haul__block *block = haul__plan_block(plan, i);
    haul_status status = haul__check_ends(plan, block, haul__block_address(plan->found.map.numbers[i]));
    if (status != HAUL_OK)
        return status;
    gather_marked(s, block, haul__block_address(plan->found.map.numbers[i]));
    if (!plan->packed)
        block->guard = s->guard;
    return s->guard == block->guard ? HAUL_OK : haul__pointers_changed(plan, i);
}

/* ---- Pieces. */

static size_t place_of_block(const haul_plan *plan, size_t i)
{
    uint64_t granules = i < plan->found.map.block_count ? haul__plan_block(plan, i)->base : plan->placed.granules;
    return (size_t)granules << HAUL__GRANULE_SHIFT;
}

int haul__next_piece(const haul_plan *plan, size_t most, haul__piece *piece)
{
    const size_t count = plan->found.map.block_count;
    size_t end = piece->end + 1;
    piece->at += piece->bytes;
    if (piece->at >= (size_t)plan->placed.granules << HAUL__GRANULE_SHIFT)
        return 0;
    while (end < count && place_of_block(plan, end + 1) - piece->at <= most)
        end++;
    piece->first = piece->end;
    piece->end = end < count ? end : count;
    piece->bytes = place_of_block(plan, piece->end) - piece->at;
    return 1;
}

/* The part of a word of so many bytes that lies in the piece. */
static void put_bytes(const haul__piece *piece, unsigned char *memory, uint64_t at, const void *word, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i++)
        if (at + i - piece->at < piece->bytes)
            memory[(size_t)(at + i) - piece->at] = ((const unsigned char *)word)[i];
}

static void put_word(const haul__piece *piece, unsigned char *memory, uint64_t at, uintptr_t word)
{
    put_bytes(piece, memory, at, &word, sizeof word);
}

static haul_status gather_odd(haul__gathering *g, const haul__piece *piece, unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    size_t i;
    for (i = g->odd; i < found->odd_count; i++) {
        const haul__odd *odd = &found->odd[i];
        uint64_t at = haul__translate(&found->map, odd->address);
        haul_status status;
        if (at >= piece->at + piece->bytes)
            break;
        status = haul__check_odd(g->plan, odd);
        if (status != HAUL_OK)
            return status;
        put_word(piece, memory, at, haul__odd_word(g->plan, odd, g->base));
        g->nulls += !odd->value && at >= piece->at;
        if (at + HAUL__WORD <= piece->at + piece->bytes)
            g->odd = i + 1;
    }
    return HAUL_OK;
}

static int fits(int64_t value, size_t bytes)
{
    return bytes == 8 || (value >= INT32_MIN && value <= INT32_MAX);
}

/* The word led to a place in its target's block, or so far outside of it; it leads there in the copy. */
static haul_status find_distance(haul_plan *plan, const haul__kept *kept, uint64_t at, uint64_t *word)
{
    const uint64_t here = haul__final_place(plan, at);
    haul_field_place field;
    int64_t distance;
    uint64_t place;
    haul_status status;
    field.offset = 0;
    field.bytes = kept->bytes;
    distance = haul__read_stored((const void *)kept->address, &field);
    if (!haul__offset_of(plan, (uintptr_t)kept->becomes, &place)) {
        *word = 0; /* to no elements */
        return HAUL_OK;
    }
    distance = (intptr_t)((uintptr_t)distance - ((uintptr_t)kept->becomes - kept->address));
    if (plan->ordered)
        place = haul__target(plan, kept->address, (uintptr_t)kept->becomes);
    distance += (int64_t)(place - here);
    *word = (uint64_t)distance;
    if (distance != 0 && fits(distance, kept->bytes))
        return HAUL_OK;
    status = haul__fail(&plan->context->error, HAUL_ERROR_LIMIT,
                        distance ? "a distance of %lld bytes in the copy does not fit %u bytes"
                                 : "a distance is %lld in the copy, by chance, and %u bytes of 0 are null",
                        (long long)distance, (unsigned)kept->bytes);
    haul__name_changed(plan, kept->address, 0);
    return status;
}

static void put_kept(const haul__piece *piece, unsigned char *memory, uint64_t at, uint64_t word, size_t bytes)
{
    uint32_t narrow = (uint32_t)word;
    if (bytes == sizeof narrow)
        put_bytes(piece, memory, at, &narrow, sizeof narrow);
    else
        put_bytes(piece, memory, at, &word, sizeof word);
}

static haul_status gather_kept(haul__gathering *g, const haul__piece *piece, unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    size_t i;
    for (i = g->kept; i < found->kept_count; i++) {
        const haul__kept *kept = &found->kept[i];
        uint64_t at = haul__translate(&found->map, kept->address), word = kept->becomes;
        haul_status status;
        if (at >= piece->at + piece->bytes)
            break;
        status = haul__check_kept(g->plan, kept);
        if (status == HAUL_OK && kept->kind == HAUL__KEPT_DISTANCE)
            status = find_distance(g->plan, kept, at, &word);
        if (status != HAUL_OK)
            return status;
        put_kept(piece, memory, at, word, kept->bytes);
        if (at + kept->bytes <= piece->at + piece->bytes)
            g->kept = i + 1;
    }
    return HAUL_OK;
}

static haul_status gather_tagged(haul__gathering *g, const haul__piece *piece, unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    size_t i;
    for (i = g->tagged; i < found->tagged_count; i++) {
        const haul__tagged *tagged = &found->tagged[i];
        uint64_t at = haul__translate(&found->map, tagged->address);
        uintptr_t word = 0;
        haul_status status;
        if (at >= piece->at + piece->bytes)
            break;
        status = haul__check_tagged(g->plan, tagged);
        if (status == HAUL_OK && !haul__tagged_word(g->plan, tagged, g->there, &word))
            status = haul__refuse_tag(g->plan, tagged);
        if (status != HAUL_OK)
            return status;
        put_word(piece, memory, at, word);
        g->nulls += !tagged->value && at >= piece->at;
        if (at + HAUL__WORD <= piece->at + piece->bytes)
            g->tagged = i + 1;
    }
    return HAUL_OK;
}

/* A pointer to no elements is null in the arena, unless it leads to a described byte or to the end of a range. */
static void clear_empty(haul__gathering *g, const haul__piece *piece, unsigned char *memory)
{
    const haul__found *found = &g->plan->found;
    size_t i;
    for (i = g->empty; i < found->empty_count; i++) {
        uintptr_t slot = found->empty[i];
        uint64_t at = haul__translate(&found->map, slot), place;
        if (at >= piece->at + piece->bytes)
            break;
        if (!haul__offset_of(g->plan, haul__load_word((const void *)slot), &place))
            put_word(piece, memory, at, 0);
        if (at + HAUL__WORD <= piece->at + piece->bytes)
            g->empty = i + 1;
    }
}

static haul_status tell(haul__gathering *g, uint64_t done)
{
    const haul__listener *listener = g->listener;
    uint64_t total = g->plan->placed.granules << HAUL__GRANULE_SHIFT;
    if (!listener || !listener->progress || (done - g->told < PROGRESS_BYTES && done != total))
        return HAUL_OK;
    g->told = done;
    if (!listener->progress(listener->user, done, total))
        return HAUL_OK;
    return haul__fail(&g->plan->context->error, HAUL_ERROR_STATE, "cancelled by the progress callback");
}

haul_status haul__gather_begin(haul__gathering *g, haul_plan *plan, uint64_t base, uint64_t there,
                               const haul__listener *listener)
{
    memset(g, 0, sizeof *g);
    g->plan = plan;
    g->base = base;
    g->there = there;
    g->listener = listener;
    plan->stale_block = SIZE_MAX;
    return haul__check_guards(plan);
}

/* As many blocks of plain bytes as lie in a row, in one copy. */
static haul_status gather_plain(haul__gathering *g, haul__sweep *s, size_t i, size_t end, size_t *count)
{
    const uint32_t *numbers = g->plan->found.map.numbers;
    haul_status status = HAUL_OK;
    size_t k;
    *count = full_blocks(g->plan, i, end);
    for (k = i; k < i + *count && status == HAUL_OK; k++)
        status = haul__check_ends(g->plan, haul__plan_block(g->plan, k), haul__block_address(numbers[k]));
    if (status == HAUL_OK)
        gather_full(s, haul__plan_block(g->plan, i), haul__block_address(numbers[i]), *count);
    return status;
}

static haul_status gather_blocks(haul__gathering *g, const haul__piece *piece, haul__sweep *s)
{
    size_t i, count;
    haul_status status = HAUL_OK;
    for (i = piece->first; i < piece->end && status == HAUL_OK; i += count) {
        const haul__block *block = haul__plan_block(g->plan, i);
        count = 1;
        status = tell(g, block->base << HAUL__GRANULE_SHIFT);
        if (status == HAUL_OK && block->form == HAUL__FULL && !haul__has_bars(block))
            status = gather_plain(g, s, i, piece->end, &count);
        else if (status == HAUL_OK)
            status = gather_block(g->plan, s, i);
    }
    return status == HAUL_OK ? haul__check_lost(g->plan, s->lost) : status;
}

/* What lies before the first block and behind the last one: the reserved granule, and room for pointers that lead out
 * of their blocks. */
static void clear_room(const haul_plan *plan, const haul__piece *piece, unsigned char *memory)
{
    size_t first = place_of_block(plan, 0);
    size_t behind = (plan->found.room_behind + HAUL__GRANULE - 1) & ~(HAUL__GRANULE - 1);
    if (piece->at == 0)
        memset(memory, 0, first < piece->bytes ? first : piece->bytes);
    if (piece->end == plan->found.map.block_count && behind > 0)
        memset(memory + piece->bytes - behind, 0, behind);
}

haul_status haul__gather_piece(haul__gathering *g, const haul__piece *piece, void *memory)
{
    haul_status status;
    haul__sweep s;
    s.map = &g->plan->found.map;
    s.found = &g->plan->found;
    s.arena = (unsigned char *)((uintptr_t)memory - piece->at);
    s.base = g->base;
    s.guard = 0;
    s.nulls = 0;
    s.is_far = s.map->block_count > NEAR_BLOCKS;
    s.careful = s.map->has_units || s.map->is_wide || !s.map->flat;
    s.is_large = g->plan->placed.granules << HAUL__GRANULE_SHIFT >= LARGE_BYTES;
    s.lost = 0;
    clear_room(g->plan, piece, memory);
    status = gather_blocks(g, piece, &s);
    if (status != HAUL_OK)
        return status;
    clear_empty(g, piece, memory);
    status = gather_odd(g, piece, memory);
    if (status == HAUL_OK)
        status = gather_kept(g, piece, memory);
    if (status == HAUL_OK)
        status = gather_tagged(g, piece, memory);
    g->nulls += s.nulls;
    return status;
}

haul_status haul__gather_end(haul__gathering *g)
{
    g->plan->packed = 1;
    g->plan->nulls = g->nulls;
    return tell(g, g->plan->placed.granules << HAUL__GRANULE_SHIFT);
}

haul_status haul__gather(haul_plan *plan, void *arena, uint64_t base, uint64_t there, const haul__listener *listener)
{
    return plan->ordered ? haul__gather_ordered(plan, arena, base, there, listener)
                         : haul__gather_compacted(plan, arena, base, there, listener);
}

haul_status haul__gather_compacted(haul_plan *plan, void *arena, uint64_t base, uint64_t there,
                                   const haul__listener *listener)
{
    haul__gathering g;
    haul__piece all = { 0, 0, 0, 0 };
    haul_status status = haul__gather_begin(&g, plan, base, there, listener);
    if (status != HAUL_OK)
        return status;
    haul__next_piece(plan, SIZE_MAX, &all);
    status = haul__gather_piece(&g, &all, arena);
    return status == HAUL_OK ? haul__gather_end(&g) : status;
}
