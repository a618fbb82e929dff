/* Marking a range, cell by cell.
 *
 * In each cell of the range, the pattern says which words are slots; granules are covered whole, or
 * in part at the head and tail. A word that was live before must have been a slot exactly if it is
 * one now: else two descriptions disagree. The common case of discovery, a small object inside one
 * cell, does not come here: it is done inline (walk/mark_inline.h).
 */
#include "map/bits.h"
#include "map/forms.h"
#include "map/mark.h"
#include "map/mark_long.h"
#include "map/mixed.h"
#include "map/ragged.h"

/* The bits of a word pattern that fall into a cell and into `words`. */
static uint64_t take_words(const haul__pattern *pattern, uintptr_t cell, uint64_t words)
{
    if (pattern->element < cell)
        return pattern->words >> ((cell - pattern->element) >> HAUL__WORD_SHIFT) & words;
    return pattern->words << ((pattern->element - cell) >> HAUL__WORD_SHIFT) & words;
}

/* The pattern's slots below `end`, in this cell, as bits; a type pattern moves on to `end`. */
static uint64_t take_slots(haul__pattern *pattern, uintptr_t cell, uintptr_t end, uint64_t words)
{
    uint64_t bits = 0;
    if (pattern->kind == HAUL__NO_SLOTS || pattern->kind == HAUL__KNOWN_SLOTS)
        return 0;
    if (pattern->kind == HAUL__ALL_SLOTS)
        return words;
    if (pattern->kind == HAUL__WORD_SLOTS)
        return take_words(pattern, cell, words);
    while (pattern->left) {
        for (; pattern->next < pattern->slot_count; pattern->next++) {
            const haul__slot *slot = &pattern->slots[pattern->next];
            uintptr_t address = pattern->element + slot->offset;
            if (address >= end)
                return bits;
            if (address >= cell && (address & (HAUL__WORD - 1)) == 0)
                bits |= (uint64_t)1 << haul__word_in_cell(address);
        }
        pattern->next = 0;
        pattern->element += pattern->stride;
        pattern->left--;
    }
    return bits;
}

/* The pattern has no slots below this address, which is at most `end`. 0: not known. */
static uintptr_t plain_until(const haul__pattern *pattern, uintptr_t end)
{
    uintptr_t at = end;
    if (pattern->kind == HAUL__ALL_SLOTS || pattern->kind == HAUL__WORD_SLOTS)
        return 0;
    if (pattern->kind == HAUL__TYPE_SLOTS && pattern->left && pattern->next < pattern->slot_count)
        at = pattern->element + pattern->slots[pattern->next].offset;
    return at < end ? at : end;
}

static uint64_t words_of_mask(unsigned granule, uint16_t mask)
{
    const uint16_t low = (uint16_t)((1u << HAUL__WORD) - 1u);
    return (uint64_t)(((mask & low) ? 1u : 0u) | ((mask & (uint16_t)~low) ? 2u : 0u))
           << (2 * granule);
}

/* The granules of a cell that are partly live; not for mixed blocks. */
static uint32_t partial_of(const haul__block *block, unsigned number)
{
    return haul__is_uniform(block) || block->form == HAUL__FULL ? 0 : block->cells[number].aux;
}

/* The words among `words` of a cell that have live bytes. Other granules' masks are not read. */
static uint64_t live_words(const haul__block *block, unsigned number, uint64_t words)
{
    uint64_t live;
    uint32_t partial;
    if (block->words)
        return haul__ragged_live(block, number, 0) & words;
    if (block->form == HAUL__MIXED)
        return (haul__load_cell(&block->cells[number]) | haul__slots(block)[number]) & words;
    live = haul__words_of(block->cells[number].live);
    for (partial = partial_of(block, number); partial; partial &= partial - 1) {
        unsigned granule = haul__lowest32(partial);
        if (words >> (2 * granule) & 3u)
            live |= words_of_mask(granule, haul__page_mask(block, number * 32u + granule));
    }
    return live & words;
}

/* Makes granules of a bare block live as a whole. */
static void make_whole(haul__block *block, haul__cell *cell, uint32_t granules)
{
    uint32_t partial = cell->aux & granules;
    cell->live |= granules;
    cell->aux &= ~granules;
    for (; partial; partial &= partial - 1)
        haul__side_set_whole(block->side,
                             (size_t)(cell - block->cells) * 32u + haul__lowest32(partial));
}

int haul__mark_part(haul__map *map, haul__block *block, uintptr_t address, uint16_t mask)
{
    haul__cell *cell = haul__cell_of(block, address);
    unsigned granule = haul__granule_in_block(address);
    uint32_t bit = (uint32_t)1 << haul__granule_in_cell(address);
    uint16_t old, now;
    if (block->form == HAUL__MIXED)
        return haul__words_part(map, block, granule, mask);
    if (cell->live & bit)
        return 0;
    old = (cell->aux & bit) ? haul__page_mask(block, granule) : 0;
    now = old | mask;
    if (now == old)
        return 0;
    if (now == HAUL__FULL_MASK) {
        make_whole(block, cell, bit);
        return 1;
    }
    if (!haul__mark_mask(map, block, granule, now))
        return -1;
    cell->aux |= bit;
    return 1;
}

/* Makes granules of a cell live; not in ragged blocks. 1: some of them are new. */
static int mark_whole(haul__block *block, unsigned number, uint32_t granules)
{
    haul__cell *cell = &block->cells[number];
    const uint32_t live =
        block->form == HAUL__MIXED ? haul__both_words(haul__load_cell(cell)) : cell->live;
    if (block->form == HAUL__MIXED)
        haul__set_words(block, number, haul__words_of(granules));
    else if (haul__is_uniform(block))
        cell->live |= granules;
    else
        make_whole(block, cell, granules);
    return (live & granules) != granules;
}

/* The bytes [first, end) of a granule, as a mask. */
static uint16_t bytes_from(uintptr_t first, uintptr_t end)
{
    return (uint16_t)(((1u << (end - first)) - 1u) << (first & (HAUL__GRANULE - 1)));
}

/* Makes bytes [first, end) of one cell live; in a uniform block, whole granules only. 1: some are
 * new; 0: none; -1: out of memory. */
static int mark_live(haul__map *map, haul__block *block, uintptr_t first, uintptr_t end)
{
    uintptr_t whole_first = (first + HAUL__GRANULE - 1) & ~(uintptr_t)(HAUL__GRANULE - 1);
    uintptr_t whole_end = end & ~(uintptr_t)(HAUL__GRANULE - 1);
    int fresh = 0, answer;
    if (first < whole_first) {
        uintptr_t stop = whole_first < end ? whole_first : end;
        answer = haul__mark_part(map, block, first, bytes_from(first, stop));
        if (answer < 0)
            return answer;
        fresh |= answer;
    }
    if (whole_first < whole_end) {
        fresh |= mark_whole(block, haul__cell_number(first),
                            haul__range32(haul__granule_in_cell(whole_first),
                                          haul__granule_in_cell(whole_end - 1)));
    }
    if (whole_end < end && whole_end >= first) {
        answer = haul__mark_part(map, block, whole_end, bytes_from(whole_end, end));
        if (answer < 0)
            return answer;
        fresh |= answer;
    }
    return fresh;
}

static void note_fresh(haul__marked *marked, uintptr_t first, uintptr_t end)
{
    if (marked->first == marked->end)
        marked->first = first;
    marked->end = end;
}

/* Are all of these words of a ragged block's cell live already? Then there is nothing to mark. */
static int is_live(const haul__block *block, unsigned number, uint64_t words)
{
    return (words & ~haul__ragged_live(block, number, 0)) == 0;
}

/* Can a block of this form hold these marks, or must it turn to mixed? Not for ragged blocks. */
static int can_hold(const haul__block *block, uintptr_t first, uintptr_t end, uint64_t new_slots)
{
    if (block->form == HAUL__MIXED)
        return 1;
    return !new_slots && (block->form == HAUL__BARE || ((first | end) & (HAUL__GRANULE - 1)) == 0);
}

static haul_status mark_cell(haul__map *map, haul__block **in, uintptr_t first, uintptr_t end,
                             haul__pattern *pattern, haul__marked *marked)
{
    haul__block *block = *in;
    unsigned number = haul__cell_number(first);
    uintptr_t start = first & ~(uintptr_t)(HAUL__CELL_BYTES - 1);
    uint64_t words = haul__range64(haul__word_in_cell(first), haul__word_in_cell(end - 1));
    uint64_t known = haul__marked_slots(map, block, number);
    uint64_t slots =
        pattern->kind == HAUL__KNOWN_SLOTS ? known & words : take_slots(pattern, start, end, words);
    uint64_t differs = (known ^ slots) & words;
    int fresh;
    if (differs)
        differs = live_words(block, number, differs);
    if (differs) {
        marked->conflict = start + ((uintptr_t)haul__lowest64(differs) << HAUL__WORD_SHIFT);
        return HAUL_ERROR_GRAPH;
    }
    if (block->words && is_live(block, number, words))
        return HAUL_OK;
    if (block->words || !can_hold(block, first, end, slots & ~known)) {
        block = haul__map_turn(map, first, block, HAUL__MIXED);
        if (!block)
            return HAUL_ERROR_MEMORY;
        *in = block;
    }
    fresh = mark_live(map, block, first, end);
    if (fresh < 0)
        return HAUL_ERROR_MEMORY;
    if (block->form == HAUL__MIXED)
        haul__slots(block)[number] |= slots;
    if (fresh)
        note_fresh(marked, first, end);
    return HAUL_OK;
}

/* Marks whole cells of plain bytes, the bulk of large arrays, up to a cell with slots. Answers
 * where it stopped. */
static uintptr_t mark_plain_cells(const haul__map *map, haul__block *block, uintptr_t first,
                                  uintptr_t end, haul__marked *marked)
{
    const int is_bare = block->form == HAUL__BARE;
    if ((first & (HAUL__CELL_BYTES - 1)) != 0 || block->words)
        return first;
    for (; end - first >= HAUL__CELL_BYTES; first += HAUL__CELL_BYTES) {
        if (!is_bare && haul__marked_slots(map, block, haul__cell_number(first)))
            break;
        if (mark_whole(block, haul__cell_number(first), UINT32_MAX))
            note_fresh(marked, first, first + HAUL__CELL_BYTES);
    }
    return first;
}

/* In a full block all bytes are live and plain: a slot is a conflict. */
static haul_status check_full(uintptr_t first, uintptr_t end, haul__pattern *pattern,
                              haul__marked *marked)
{
    while (first < end) {
        uintptr_t start = first & ~(uintptr_t)(HAUL__CELL_BYTES - 1),
                  stop = start + HAUL__CELL_BYTES;
        uint64_t slots;
        if (stop > end)
            stop = end;
        slots = take_slots(pattern, start, stop,
                           haul__range64(haul__word_in_cell(first), haul__word_in_cell(stop - 1)));
        if (slots) {
            marked->conflict = start + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
            return HAUL_ERROR_GRAPH;
        }
        first = stop;
    }
    return HAUL_OK;
}

static haul_status mark_in_block(haul__map *map, haul__block *block, uintptr_t first, uintptr_t end,
                                 haul__pattern *pattern, haul__marked *marked)
{
    if (block->form == HAUL__FULL)
        return pattern->kind == HAUL__NO_SLOTS ? HAUL_OK : check_full(first, end, pattern, marked);
    while (first < end) {
        uintptr_t stop;
        haul_status status;
        uintptr_t plain = plain_until(pattern, end);
        if (plain > first && plain - first >= HAUL__CELL_BYTES) {
            first = mark_plain_cells(map, block, first, plain, marked);
            if (first == end)
                break;
        }
        stop = (first | (HAUL__CELL_BYTES - 1)) + 1;
        if (stop > end)
            stop = end;
        status = mark_cell(map, &block, first, stop, pattern, marked);
        if (status != HAUL_OK)
            return status;
        first = stop;
    }
    return HAUL_OK;
}

haul_status haul__mark_slice(haul__map *map, uintptr_t first, uintptr_t end, haul__pattern *pattern,
                             haul__marked *marked)
{
    marked->first = marked->end = first;
    while (first < end) {
        haul__block *block = haul__map_find(map, first);
        uintptr_t stop = (first | (HAUL__BLOCK_BYTES - 1)) + 1;
        haul_status status = HAUL_OK;
        if (stop > end || stop == 0)
            stop = end;
        if (!block && stop - first == HAUL__BLOCK_BYTES && plain_until(pattern, stop) == stop) {
            if (!haul__map_fill(map, first))
                return HAUL_ERROR_MEMORY;
            note_fresh(marked, first, stop);
        } else {
            block = haul__map_touch(map, first);
            status =
                block ? mark_in_block(map, block, first, stop, pattern, marked) : HAUL_ERROR_MEMORY;
        }
        if (status != HAUL_OK)
            return status;
        first = stop;
    }
    return HAUL_OK;
}

haul_status haul__mark(haul__map *map, uintptr_t first, uintptr_t end, haul__pattern *pattern,
                       haul__marked *marked)
{
    const haul_status status = haul__mark_slice(map, first, end, pattern, marked);
    if (status == HAUL_OK)
        haul__mark_array(map, first, end);
    return status;
}

static int is_empty(const haul__block *block)
{
    unsigned number;
    for (number = 0; number < HAUL__CELLS && !haul__load_cell(&block->cells[number]); number++)
        ;
    return number == HAUL__CELLS;
}

/* The block of an address, turned to the uniform form if it can be. A ragged block holds no other
 * marks, so only an empty one turns ragged. */
static haul__block *block_for(haul__map *map, uintptr_t address, uint32_t form)
{
    haul__block *block = haul__map_touch(map, address);
    if (block && block->form == HAUL__BARE && !block->side &&
        (!map->simple[form / 2].words || is_empty(block)))
        block = haul__map_turn(map, address, block, form);
    return block;
}

int haul__mark_simple(haul__map *map, uintptr_t address, uint32_t form)
{
    const haul__simple *simple = &map->simple[form / 2];
    uintptr_t last = address + simple->bytes - 1;
    unsigned granule = haul__granule_in_cell(address);
    haul__block *block, *next_block;
    haul__cell *cell, *next;
    uint32_t low = simple->granules << granule, high = 0, start = (uint32_t)1 << granule;
    if ((address & ((simple->words ? HAUL__WORD : HAUL__GRANULE) - 1)) != 0)
        return 0;
    next_block = block_for(map, last, form);
    block = next_block ? block_for(map, address, form) : NULL;
    if (!block || haul__block_number(address) == haul__block_number(last))
        next_block = block;
    if (!block)
        return -1;
    if (block->form != form || next_block->form != form)
        return 0;
    if (simple->words)
        return haul__ragged_mark(block, next_block, address) > 0;
    if (simple->bytes > HAUL__CELL_BYTES)
        return haul__mark_long(block, next_block, address, simple) > 0;
    cell = haul__cell_of(block, address);
    next = haul__cell_of(next_block, last);
    if (next != cell)
        high = simple->granules >> (32 - granule);
    if ((cell->live & low) != 0 || (next != cell && (next->live & high) != 0))
        return 0;
    cell->live |= low;
    cell->aux |= start;
    next->live |= high;
    if (next_block != block)
        next_block->carry = haul__granules_left(address);
    return 1;
}

/* The bytes of a granule that are live; with `or_holes`, those of holes too. */
static uint16_t live_in(const haul__block *block, uintptr_t address, int or_holes)
{
    const unsigned granule = haul__granule_in_block(address), number = haul__cell_number(address);
    const uint32_t bit = (uint32_t)1 << haul__granule_in_cell(address);
    uint16_t mask;
    if (block->words)
        return haul__bytes_of_words(
            (unsigned)(haul__ragged_live(block, number, 0) >> (granule % 32 * 2)) & 3u);
    if (block->form == HAUL__MIXED)
        mask = haul__words_mask(block, granule);
    else if (block->cells[number].live & bit)
        return HAUL__FULL_MASK;
    else if (partial_of(block, number) & bit)
        mask = haul__page_mask(block, granule);
    else
        return 0;
    return or_holes ? (uint16_t)(mask | haul__hole_mask(block, granule)) : mask;
}

/* Is the whole cell live, at a glance? */
static int is_whole(const haul__block *block, uintptr_t address)
{
    return !block->words && block->form != HAUL__MIXED &&
           block->cells[haul__cell_number(address)].live == UINT32_MAX;
}

int haul__are_live(const haul__map *map, uintptr_t first, uintptr_t end, int or_holes)
{
    uintptr_t at, next;
    if (first < HAUL__LOWEST || end - 1 > HAUL__HIGHEST)
        return 0;
    for (at = first; at < end; at = next) {
        const haul__block *block = haul__map_find(map, at);
        unsigned wanted = HAUL__FULL_MASK;
        if (!block)
            return 0;
        next = (at | (HAUL__BLOCK_BYTES - 1)) + 1;
        if (block->form == HAUL__FULL)
            continue;
        next = (at | (HAUL__CELL_BYTES - 1)) + 1;
        if (is_whole(block, at))
            continue;
        next = (at | (HAUL__GRANULE - 1)) + 1;
        wanted &= wanted << (at & (HAUL__GRANULE - 1));
        if (end < next)
            wanted &= HAUL__FULL_MASK >> (next - end);
        if (wanted & ~(unsigned)live_in(block, at, or_holes))
            return 0;
    }
    return 1;
}

int haul__any_live(const haul__map *map, uintptr_t first, uintptr_t end)
{
    uintptr_t at, next;
    for (at = first; at < end; at = next) {
        const haul__block *block = haul__map_find(map, at);
        unsigned wanted = HAUL__FULL_MASK;
        next = (at | (HAUL__BLOCK_BYTES - 1)) + 1;
        if (!block)
            continue;
        if (block->form == HAUL__FULL)
            return 1;
        next = (at | (HAUL__CELL_BYTES - 1)) + 1;
        if (!live_words(block, haul__cell_number(at), UINT64_MAX))
            continue;
        next = (at | (HAUL__GRANULE - 1)) + 1;
        wanted &= wanted << (at & (HAUL__GRANULE - 1));
        if (end < next)
            wanted &= HAUL__FULL_MASK >> (next - end);
        if (wanted & live_in(block, at, 0))
            return 1;
    }
    return 0;
}

int haul__is_marked(const haul__map *map, uintptr_t address)
{
    return haul__are_live(map, address, address + 1, 1);
}

int haul__mark_placement(haul__map *map, uintptr_t address, size_t placement)
{
    haul__block *block = haul__map_touch(map, address);
    haul__side *side = block ? haul__map_side(map, block) : NULL;
    uint8_t *unit;
    uint8_t wanted = (uint8_t)haul__highest64(placement);
    if (!side)
        return 0;
    unit = &side->unit[(address & (HAUL__BLOCK_BYTES - 1)) >> HAUL__PAGE_SHIFT];
    if (*unit < wanted)
        *unit = wanted;
    map->has_placements = 1;
    return 1;
}

/* If large arrays overlap, the first one counts, whatever the order of marking. */
void haul__mark_array(haul__map *map, uintptr_t first, uintptr_t end)
{
    const uint64_t left = HAUL__BLOCK_GRANULES - haul__granule_in_block(first);
    haul__block *block = end - first >= HAUL__BLOCK_BYTES ? haul__map_find(map, first) : NULL;
    if (block && block->hash < left)
        block->hash = left;
}

/* Makes room for it first. */
int haul__mark_end_apart(haul__map *map, uintptr_t terminator)
{
    haul__block *block = haul__map_touch(map, terminator);
    haul__side *side = block ? haul__map_side(map, block) : NULL;
    size_t before;
    if (!side)
        return 0;
    before = side->end_capacity;
    if (side->end_count == before &&
        !haul__grow_to(&map->allocator, &side->ends, &side->end_capacity, before + before / 4 + 32,
                       sizeof *side->ends))
        return 0;
    map->side_bytes += (side->end_capacity - before) * sizeof *side->ends;
    side->ends[side->end_count++] = (uint16_t)(terminator & (HAUL__BLOCK_BYTES - 1));
    return 1;
}
