/* Ragged blocks: their starts, and the words and slots that follow from them.
 */
#include "map/mixed.h"
#include "map/ragged.h"

HAUL__INLINE uint64_t starts_in(const haul__block *block, unsigned number, int is_placed)
{
    return is_placed ? haul__word_starts(block)[number] : haul__load_cell(&block->cells[number]);
}

/* ---- Marks. */

/* Does an object start in [first, end), words of the block? */
static int any_start(const haul__block *block, unsigned first, unsigned end)
{
    unsigned cell;
    for (cell = first / 64; cell * 64u < end; cell++) {
        const unsigned from = first > cell * 64u ? first - cell * 64u : 0;
        const unsigned to = end - cell * 64u < 64u ? end - cell * 64u : 64u;
        if (starts_in(block, cell, 0) & haul__range64(from, to - 1))
            return 1;
    }
    return 0;
}

int haul__ragged_mark(haul__block *block, haul__block *next, uintptr_t address)
{
    const unsigned words = block->words, first = haul__word_in_block(address), end = first + words;
    const unsigned limit = (unsigned)HAUL__BLOCK_WORDS;
    haul__cell *cell = haul__cell_of(block, address);
    const uint64_t start = (uint64_t)1 << haul__word_in_cell(address),
                   starts = haul__load_cell(cell);
    if (starts & start)
        return 0;
    if (any_start(block, first < words ? 0 : first - words + 1, end < limit ? end : limit) ||
        (block->carry && first + block->carry < words))
        return -1;
    if (next != block && (next->carry || any_start(next, 0, end - limit)))
        return -1;
    haul__store_cell(cell, starts | start);
    if (next != block)
        next->carry = limit - first;
    return 1;
}

/* ---- Words and slots. */

/* The distance in words from the last start before a cell, if that object may reach into the cell;
 * else 0. Objects of one type do not overlap, so it is the only one. */
HAUL__INLINE size_t reach_before(const haul__block *block, unsigned number, int is_placed)
{
    unsigned back;
    for (back = 1; back <= number && back * 64u < block->words + 63u; back++) {
        uint64_t starts = starts_in(block, number - back, is_placed);
        if (starts)
            return back * 64u - haul__highest64(starts);
    }
    return back > number && block->carry ? (size_t)block->carry + number * 64u : 0;
}

/* The live words of a cell: those of each object that starts in it, and the first `left`, which are
 * the rest of an object before. Objects do not overlap, so (starts << words) - starts sets the
 * former. */
HAUL__INLINE uint64_t spread(uint64_t starts, unsigned words, size_t left)
{
    return ((words < 64 ? starts << words : 0) - starts) | haul__first_words(left);
}

uint64_t haul__ragged_live(const haul__block *block, unsigned number, int is_placed)
{
    const size_t before = reach_before(block, number, is_placed), words = block->words;
    return spread(starts_in(block, number, is_placed), block->words,
                  before && before < words ? words - before : 0);
}

uint64_t haul__ragged_slots(const haul__map *map, const haul__block *block, unsigned number,
                            int is_placed)
{
    const haul__simple *simple = haul__simple_of(map, block);
    const size_t before = reach_before(block, number, is_placed);
    uint64_t slots = before ? haul__slots_from(simple, before) : 0, starts;
    for (starts = starts_in(block, number, is_placed); starts; starts &= starts - 1)
        slots |= simple->slots << haul__lowest64(starts);
    return slots;
}

uint32_t haul__ragged_halves(const haul__block *block, unsigned number)
{
    const uint64_t live = haul__ragged_live(block, number, 1);
    return haul__any_word(live) & ~haul__both_words(live);
}

uint16_t haul__ragged_mask(const haul__block *block, unsigned granule)
{
    return haul__bytes_of_words(
        (unsigned)(haul__ragged_live(block, granule / 32, 1) >> (granule % 32 * 2)) & 3u);
}

/* ---- The end of marking. */

HAUL__HOT static size_t fold(haul__block *block)
{
    const size_t words = block->words;
    size_t left = block->carry ? words - (size_t)block->carry : 0, count = 0;
    unsigned number;
    for (number = 0; number < HAUL__CELLS; number++) {
        haul__cell *cell = &block->cells[number];
        const uint64_t starts = haul__load_cell(cell), live = spread(starts, (unsigned)words, left);
        if (starts)
            left = words + haul__highest64(starts);
        left = left > 64 ? left - 64 : 0;
        haul__word_starts(block)[number] = starts;
        cell->live = haul__any_word(live);
        cell->aux = 0;
        count += haul__bits64(live);
    }
    return count << HAUL__WORD_SHIFT;
}

size_t haul__ragged_fold(haul__block *block)
{
    return fold(block);
}

HAUL__HOT static size_t count_starts(const uint64_t *starts)
{
    size_t count = 0;
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++)
        count += haul__bits64(starts[cell]);
    return count;
}

/* The slots of all objects that start in the block, minus those behind its end, plus those of the
 * object that reaches into it. */
size_t haul__ragged_count(const haul__simple *simple, const haul__block *block)
{
    const uint64_t *starts = haul__word_starts(block);
    size_t count = count_starts(starts) * haul__count_slots(simple, 0), cell = HAUL__CELLS;
    while (cell > 0 && !starts[cell - 1])
        cell--;
    if (cell)
        count -= haul__count_slots(simple, (HAUL__CELLS - cell + 1) * 64 -
                                               haul__highest64(starts[cell - 1]));
    return block->carry ? count + haul__count_slots(simple, (size_t)block->carry) : count;
}
