/* Gather: from the source into an arena, in order of address.
 *
 * The slow obvious version: copy each live granule to its place; then overwrite each slot with the
 * place of its target. Places rise with addresses. So source and arena are both passed once from
 * front to back, at the speed of a copy.
 *
 * Translating pointers would be slow, because the cells of their targets lie anywhere. So while the
 * slots of one cell are translated, the slots of the next are read and the cells of their targets
 * are prefetched, if the map is larger than the nearest caches. Reading slots twice costs less than
 * storing them. Uniform blocks are gathered object by object (gather_uniform.c).
 *
 * On the way, pointers and terminators are compared with those of discovery (stale.c). How an arena
 * is cut into pieces and chunks is in pieces.c.
 */
#include "base/stream.h"
#include "map/mixed.h"
#include "pack/excluded_bytes.h"
#include "pack/gather.h"
#include "pack/gather_uniform.h"
#include "pack/granule_data.h"
#include "pack/stale.h"

/* The slots of a mixed block. */
HAUL__HOT static void gather_slots(haul__sweep *s, const haul__block *block, uintptr_t address)
{
    uint64_t hash = 0, slots = haul__mixed_slots(block, 0), next = 0, ahead;
    unsigned number;
    for (number = 0; number < HAUL__CELLS; number++, slots = next) {
        if (number + 1 < HAUL__CELLS) {
            next = haul__mixed_slots(block, number + 1);
            for (ahead = s->is_far ? next : 0; ahead; ahead &= ahead - 1)
                haul__prefetch_target(
                    s->flat,
                    haul__load_word(
                        (const void *)(address + (number + 1) * HAUL__CELL_BYTES +
                                       ((uintptr_t)haul__lowest64(ahead) << HAUL__WORD_SHIFT))));
        }
        hash = haul__gather_cell_slots(s, hash, slots, block->cells[number].live,
                                       address + number * HAUL__CELL_BYTES,
                                       haul__cell_rank(block, number), 1);
    }
    s->hash = hash;
}

/* Long runs go past the caches if the arena is too large to stay in them. */
static void copy_plain(const haul__sweep *s, size_t place, const unsigned char *from, size_t bytes)
{
    if (s->is_large && bytes >= HAUL__STREAM_BYTES)
        haul__copy_streaming(s->arena + place, from, bytes);
    else
        memcpy(s->arena + place, from, bytes);
}

/* A block whose live granules are live in every byte. */
HAUL__HOT static void gather_whole(haul__sweep *s, const haul__block *block, uintptr_t address)
{
    unsigned cell = 0, end;
    while (cell < HAUL__CELLS) {
        const unsigned char *from = (const unsigned char *)(address + cell * HAUL__CELL_BYTES);
        uint32_t live = block->cells[cell].live;
        for (end = cell; end < HAUL__CELLS && block->cells[end].live == UINT32_MAX;)
            end++;
        if (end > cell) {
            copy_plain(s, haul__place_of_cell(block, cell), from, (end - cell) * HAUL__CELL_BYTES);
            cell = end;
            continue;
        }
        if (s->fetches)
            haul__fetch_ahead(block, cell, (uintptr_t)from,
                              (uintptr_t)s->arena + haul__place_of_cell(block, cell), 1);
        haul__gather_runs(s, block, cell, from, live);
        cell++;
    }
}

/* One word of a granule, and zeros for the other. */
HAUL__INLINE void copy_half(unsigned char *to, const unsigned char *from, unsigned is_high)
{
    memset(to, 0, HAUL__GRANULE);
    memcpy(to + is_high * HAUL__WORD, from + is_high * HAUL__WORD, HAUL__WORD);
}

/* Granules `whole` of a cell, one by one: runs are short here, and a wrong guess of a length would
 * cost more than some granules. */
HAUL__INLINE void gather_wholes(unsigned char *to, const unsigned char *from, uint32_t live,
                                uint32_t whole)
{
    if (whole == UINT32_MAX) {
        haul__copy_few(to, from, HAUL__CELL_BYTES);
        return;
    }
    for (; whole; whole &= whole - 1) {
        const unsigned granule = haul__lowest32(whole);
        const unsigned below = haul__bits32(live & (((uint32_t)1 << granule) - 1u));
        memcpy(to + below * HAUL__GRANULE, from + granule * HAUL__GRANULE, HAUL__GRANULE);
    }
}

/* Granules `masked` of a cell, which are live or sent in part. The whole ones are there. `unsent`:
 * those of which some bytes may not be sent. */
HAUL__INLINE void gather_granules(const haul__block *block, unsigned cell, unsigned char *to,
                                  const unsigned char *from, uint32_t masked, uint32_t unsent)
{
    const uint32_t live = block->cells[cell].live, behind = (live & ~masked) << 1;
    const uint8_t *prefix = haul__prefix(block, cell / HAUL__PAGE_CELLS);
    const uint32_t halves = haul__halves(block, cell);
    const uint64_t coded = halves ? haul__slots(block)[cell] : 0;
    for (; masked; masked &= masked - 1) {
        const unsigned granule = haul__lowest32(masked), number = cell * 32u + granule;
        const unsigned below = haul__bits32(live & (((uint32_t)1 << granule) - 1u));
        const unsigned first = prefix ? haul__prefix_of(prefix, number % HAUL__PAGE_GRANULES) : 0;
        unsigned char *const at = to + below * HAUL__GRANULE;
        if (HAUL__UNLIKELY(unsent >> granule & 1))
            haul__copy_masked(at, from + granule * HAUL__GRANULE,
                              haul__byte_mask(block, number) &
                                  (uint16_t)~haul__excluded_mask(block, number, HAUL__UNSENT));
        else if (halves >> granule & 1)
            copy_half(at, from + granule * HAUL__GRANULE, haul__half_is_high(coded, granule));
        else if (HAUL__LIKELY(first != 0))
            haul__copy_first(at, from + granule * HAUL__GRANULE, first,
                             (int)(behind >> granule) & 1);
        else
            haul__copy_masked(at, from + granule * HAUL__GRANULE, haul__byte_mask(block, number));
    }
}

/* All granules of the cell are masked. Is it a part of an excluded page, or of a hole in a large
 * object? */
HAUL__INLINE int is_empty(const haul__block *block, unsigned cell)
{
    const size_t page = cell / HAUL__PAGE_CELLS;
    const uint16_t *masks = haul__masks(block, page);
    uint32_t any = 0;
    unsigned granule;
    if (haul__page_is_excluded(block, page, HAUL__UNSENT))
        return 1;
    if (!masks)
        return 0;
    for (granule = 0; granule < 32; granule++)
        any |= masks[cell % HAUL__PAGE_CELLS * 32u + granule];
    return any == 0;
}

/* A block with partly live granules, with bytes that are not sent, or with gaps. */
HAUL__HOT static void gather_masked(haul__sweep *s, const haul__block *block, uintptr_t address)
{
    const int has_exclusions = haul__has_exclusions(block);
    uint32_t filled = (uint32_t)block->base;
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++) {
        const haul__cell *at = &block->cells[cell];
        const unsigned char *from = (const unsigned char *)(address + cell * HAUL__CELL_BYTES);
        unsigned char *const to = s->arena + haul__place_of_cell(block, cell);
        uint32_t masked, unsent = 0;
        if (cell % HAUL__PAGE_CELLS == 0)
            haul__fetch_prefixes(block, cell / HAUL__PAGE_CELLS + 1);
        if (!at->live)
            continue;
        if (s->fetches)
            haul__fetch_ahead(block, cell, (uintptr_t)from, (uintptr_t)to, 1);
        if (at->aux != filled)
            memset(to - (size_t)(at->aux - filled) * HAUL__GRANULE, 0,
                   (size_t)(at->aux - filled) * HAUL__GRANULE);
        filled = at->aux + haul__bits32(at->live);
        if (HAUL__UNLIKELY(has_exclusions))
            unsent = haul__excluded_granules(block, cell, HAUL__UNSENT);
        masked = (haul__masked(block, cell) | unsent) & at->live;
        if (masked == at->live && is_empty(block, cell)) {
            memset(to, 0, (size_t)haul__bits32(masked) * HAUL__GRANULE);
            continue;
        }
        gather_wholes(to, from, at->live, at->live & ~masked);
        gather_granules(block, cell, to, from, masked, unsent);
    }
}

/* A block of plain bytes of which some are not sent, and the gap before it. */
static void gather_plain_excluded(const haul__sweep *s, const haul__block *block, uintptr_t address)
{
    const size_t place = haul__place_of_cell(block, 0),
                 gap = place - (size_t)(block->base << HAUL__GRANULE_SHIFT);
    memset(s->arena + place - gap, 0, gap);
    haul__gather_excluded(block, address, s->arena + place);
}

/* Any other block: its bytes, and then its pointers over them. */
static void gather_marked(haul__sweep *s, const haul__block *block, uintptr_t address)
{
    const size_t gap = block->gap * HAUL__GRANULE;
    unsigned number;
    s->hash = 0;
    if (block->form == HAUL__FULL && haul__has_exclusions(block)) {
        gather_plain_excluded(s, block, address);
        return;
    }
    if (haul__is_uniform(block) && !block->side && !gap && !s->needs_lookup) {
        haul__gather_uniform(s, block, address);
        return;
    }
    if (haul__has_masks(block))
        gather_masked(s, block, address);
    else
        gather_whole(s, block, address);
    if (gap)
        memset(s->arena + haul__place_of_cell(block, block->gap_cell) - gap, 0, gap);
    if (block->form == HAUL__BARE || block->form == HAUL__FULL)
        return;
    if (block->form == HAUL__MIXED && !s->needs_lookup)
        gather_slots(s, block, address);
    else
        for (number = 0; number < HAUL__CELLS; number++)
            s->hash = haul__gather_cell_slots(s, s->hash, haul__placed_slots(s->map, block, number),
                                              block->cells[number].live,
                                              address + number * HAUL__CELL_BYTES,
                                              haul__cell_rank(block, number), !s->needs_lookup);
}

/* 0: the block is not as the plan has it. Terminators are looked at behind the copy, which has
 * fetched them in order of address. */
static int gather_block(haul_plan *plan, haul__sweep *s, size_t i)
{
    haul__block *block = haul__plan_block(plan, i);
    const uintptr_t address = haul__block_address(plan->found.map.numbers[i]);
    gather_marked(s, block, address);
    if (!plan->packed)
        block->hash = s->hash;
    return s->hash == block->hash && haul__ends_hold(block, address);
}

/* Gathers a block through the scratch memory. It fits there: alignments add at most what its begin
 * lacks to a multiple of HAUL_ALIGNMENT_MAX. */
static int gather_by_scratch(haul_plan *plan, haul__sweep *s, size_t i)
{
    const size_t at = haul__place_of_block(plan, i), bytes = haul__place_of_block(plan, i + 1) - at;
    const size_t skew = at % HAUL__LINE;
    unsigned char *const arena = s->arena;
    int holds;
    s->arena = (unsigned char *)((uintptr_t)s->scratch + skew - at);
    holds = gather_block(plan, s, i);
    s->arena = arena;
    haul__copy_streaming(arena + at, s->scratch + skew, bytes);
    return holds;
}

/* Gathers a run of blocks in one copy, and the gap before it. The blocks are plain bytes and follow
 * one another, in the source and in the arena. Answers the run's end, or the first block with a
 * string that has lost its terminator. */
static size_t gather_plain(haul_plan *plan, haul__sweep *s, size_t first, size_t end)
{
    const uint32_t *numbers = plan->found.map.numbers;
    const haul__block *block = haul__plan_block(plan, first);
    const size_t place = haul__place_of_cell(block, 0),
                 gap = place - (size_t)(block->base << HAUL__GRANULE_SHIFT);
    const uint64_t rank = haul__cell_rank(block, 0);
    size_t count = 1, i;
    for (; first + count < end && numbers[first + count] == numbers[first] + count; count++) {
        const haul__block *next = haul__plan_block(plan, first + count);
        if (next->form != HAUL__FULL || haul__has_exclusions(next) ||
            haul__cell_rank(next, 0) != rank + count * HAUL__BLOCK_GRANULES)
            break;
    }
    for (i = first; i < first + count; i++)
        if (!haul__ends_hold(haul__plan_block(plan, i), haul__block_address(numbers[i])))
            return i;
    memset(s->arena + place - gap, 0, gap);
    copy_plain(s, place, (const unsigned char *)haul__block_address(numbers[first]),
               count * HAUL__BLOCK_BYTES);
    return i;
}

size_t haul__gather_blocks(haul_plan *plan, haul__sweep *s, size_t first, size_t end)
{
    size_t i, next;
    for (i = first; i < end; i = next) {
        const haul__block *block = haul__plan_block(plan, i);
        if (block->form == HAUL__FULL && !haul__has_exclusions(block))
            next = gather_plain(plan, s, i, end);
        else if (s->spares && haul__carries_nothing(block))
            next =
                i + (size_t)haul__ends_hold(block, haul__block_address(plan->found.map.numbers[i]));
        else
            next =
                i + (size_t)(s->scratch ? gather_by_scratch(plan, s, i) : gather_block(plan, s, i));
        if (next == i)
            break;
    }
    return i;
}
