/* Scatter: from an arena back into the source, bytes that are no pointers only.
 *
 * The same marks, the other way: live and not slot is written, nothing else is touched. The arena is read once from
 * front to back, the source written once from front to back, and no object is looked up.
 *
 * What is equal already is not written: string literals and other read-only parts of a graph may be described as they
 * are, and pages that did not change stay clean. The comparison costs next to nothing, since a line must be fetched
 * before it can be written.
 */
#include "pack/plan.h"

/* Words of a cell that are live and no slots, in runs. */
HAUL__INLINE void scatter_words(const haul__cell *cell, unsigned char *to, const unsigned char *from, unsigned first,
                                unsigned count)
{
    uint64_t words = haul__range64(2 * first, 2 * (first + count) - 1) & ~cell->slots;
    const unsigned char *base = from - ((size_t)(2 * first) << HAUL__WORD_SHIFT);
    for (; words; words &= words - 1) {
        size_t at = (size_t)haul__lowest64(words) << HAUL__WORD_SHIFT;
        uintptr_t word = haul__load_word(base + at);
        if (word != haul__load_word(to + at))
            memcpy(to + at, &word, sizeof word);
    }
}

HAUL__INLINE void scatter_run(const haul__cell *cell, unsigned char *to, const unsigned char *from, unsigned first,
                              unsigned count)
{
    uint64_t slots = cell->slots & haul__range64(2 * first, 2 * (first + count) - 1);
    if (slots)
        scatter_words(cell, to, from, first, count);
    else if (memcmp(to + first * HAUL__GRANULE, from, count * HAUL__GRANULE) != 0)
        memcpy(to + first * HAUL__GRANULE, from, count * HAUL__GRANULE);
}

HAUL__HOT static void scatter_whole(const haul__block *block, unsigned char *to, const unsigned char *arena)
{
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++, to += HAUL__CELL_BYTES) {
        const haul__cell *at = &block->cells[cell];
        const unsigned char *from = arena + (haul__cell_rank(block, at) << HAUL__GRANULE_SHIFT);
        uint32_t live = at->live;
        while (live) {
            unsigned first = haul__lowest32(live);
            uint32_t rest = ~(live >> first);
            unsigned count = rest ? haul__lowest32(rest) : 32u;
            scatter_run(at, to, from, first, count);
            from += count * HAUL__GRANULE;
            live &= first + count < 32u ? UINT32_MAX << (first + count) : 0u;
        }
    }
}

static uint16_t odd_mask(const haul_plan *plan, uintptr_t granule)
{
    const haul__odd *odd = plan->found.odd;
    size_t low = 0, high = plan->found.odd_count;
    uint16_t mask = 0;
    while (low < high) { /* the first that reaches into the granule */
        size_t middle = low + (high - low) / 2;
        if (odd[middle].address + HAUL__WORD <= granule)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < plan->found.odd_count && odd[low].address < granule + HAUL__GRANULE; low++) {
        size_t byte;
        for (byte = 0; byte < HAUL__WORD; byte++)
            if (odd[low].address + byte - granule < HAUL__GRANULE)
                mask |= (uint16_t)(1u << (odd[low].address + byte - granule));
    }
    return mask;
}

uint16_t haul__data_mask(const haul_plan *plan, const haul__block *block, uint32_t number, unsigned granule)
{
    const haul__cell *cell = &block->cells[granule / 32];
    unsigned slots = (unsigned)(cell->slots >> (granule % 32 * 2)) & 3u;
    uint16_t mask = haul__byte_mask(block, granule);
    const unsigned word = (1u << HAUL__WORD) - 1u;
    if (slots & 1u)
        mask &= (uint16_t)~word;
    if (slots & 2u)
        mask &= (uint16_t) ~(word << HAUL__WORD);
    if (block->side && block->side->has_odd)
        mask &= (uint16_t)~odd_mask(plan, haul__block_address(number) + (uintptr_t)granule * HAUL__GRANULE);
    return mask;
}

static void scatter_masked(const haul_plan *plan, const haul__block *block, uint32_t number, unsigned char *to,
                           const unsigned char *arena)
{
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++, to += HAUL__CELL_BYTES) {
        const haul__cell *at = &block->cells[cell];
        const unsigned char *from = arena + (haul__cell_rank(block, at) << HAUL__GRANULE_SHIFT);
        uint32_t live;
        for (live = at->live; live; live &= live - 1, from += HAUL__GRANULE) {
            unsigned granule = haul__lowest32(live);
            haul__copy_bytes(to + granule * HAUL__GRANULE, from,
                       haul__data_mask(plan, block, number, cell * 32u + granule));
        }
    }
}

haul_status haul__scatter(haul_plan *plan, const void *arena, const haul__listener *listener)
{
    const haul__map *map = &plan->found.map;
    size_t i;
    if (listener && listener->progress &&
        listener->progress(listener->user, 0, plan->placed.granules << HAUL__GRANULE_SHIFT))
        return haul__fail(&plan->context->error, HAUL_ERROR_STATE, "cancelled by the progress callback");
    for (i = 0; i < map->block_count; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        unsigned char *to = (unsigned char *)haul__block_address(map->numbers[i]);
        if (block->side)
            scatter_masked(plan, block, map->numbers[i], to, arena);
        else
            scatter_whole(block, to, arena);
    }
    return HAUL_OK;
}
