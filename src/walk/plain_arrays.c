/* Counted arrays and strings of plain bytes, short ones, in line: what most rows of most types lead
 * to.
 *
 * The general way (follow.c) does for each of them what any array may need: an entry, a check of
 * its extent, a pattern of its slots, block by block and cell by cell. But what the count of such
 * an array is made of is known when its type is first met (foresee), so it is a load, a product and
 * a sum. And mostly an array lies in one block, and no byte of it was marked before: a look at a
 * cell or two tells, and its marks are two or three ORs and four bits of a side page.
 *
 *   meet     a pointer is read: its count is read and noted as a guard, its cell is fetched, it
 *            waits as a span
 *   settle   strings among the spans that wait, fetched too, are gone through; side pages are
 *            fetched; all are marked
 *
 * Where a function tells the count it is asked when the pointer is read, and what it answered is
 * noted with its call.
 *
 * Whatever is not so goes the general way, errors above all: a count that is negative or large, a
 * null pointer with a count, an address out of range, a span across two blocks, in a block that is
 * not there yet, or of which some bytes were marked before and some not.
 *
 * Why it is right: marks are ORs, so spans may wait. Before one of them goes the general way, those
 * before it are marked, and nothing of it is written before all of it has been looked at: what is
 * new is counted as if each had been followed at once. What is noted twice is only compared twice.
 * A word that was a slot before is live, and so are all its bytes: a span without a live byte
 * cannot disagree with any, and one whose bytes are all live is compared with the slots.
 *
 * Why it is fast: no load waits for memory, as SPANS of them are under way, and what no predictor
 * could guess, whether a last granule is whole, is not a branch.
 */
#include "walk/plain_arrays.h"
#include "map/mixed.h"
#include "walk/extent.h"
#include "walk/follow.h"
#include "walk/mark_inline.h"
#include "walk/memo.h"
#include "walk/read_set.h"

#define HIGHEST_FIRST (HAUL__HIGHEST - HAUL__PLAIN_BYTES) /* where a span can begin */
#define NO_MEMORY (-2)                                    /* what marking can answer, too */

/* ---- From a pointer to a span. */

/* What a field of so many bytes is, taken as signed. */
HAUL__INLINE int64_t load_count(uintptr_t at, unsigned width)
{
    int64_t i64;
    int32_t i32;
    int16_t i16;
    int8_t i8;
    if (HAUL__LIKELY(width == sizeof i32)) {
        memcpy(&i32, (const void *)at, sizeof i32);
        return i32;
    }
    if (width == sizeof i64) {
        memcpy(&i64, (const void *)at, sizeof i64);
        return i64;
    }
    if (width == sizeof i16) {
        memcpy(&i16, (const void *)at, sizeof i16);
        return i16;
    }
    memcpy(&i8, (const void *)at, sizeof i8);
    return i8;
}

/* Notes what the count was, once for neighbours with the same one. 0: it is not small, or there is
 * no room. */
HAUL__INLINE int note_count(haul__found *found, uintptr_t at, unsigned width, int64_t stored)
{
    const uint64_t guard = haul__guard_of(at, width, stored);
    const size_t count = found->guard_count;
    if (count && HAUL__GUARD_PLACE(found->guards[count - 1]) == HAUL__GUARD_PLACE(guard))
        return 1;
    if (HAUL__UNLIKELY(count == found->guard_capacity || !haul__guard_is_small(stored)))
        return 0;
    found->guards[found->guard_count++] = guard;
    return 1;
}

/* Fetches the cell that a span begins in, and the head of its block. */
HAUL__INLINE void fetch_cell(const uintptr_t *flat, uintptr_t first)
{
    const uintptr_t entry = flat[first >> HAUL__BLOCK_SHIFT];
    haul__prefetch_write(haul__cell_place(entry, first));
    haul__prefetch((uintptr_t)haul__block_in(entry) + offsetof(haul__block, side));
}

/* There is room: `settle` is called when the last one is taken. */
HAUL__INLINE void add_span(haul__discovery *d, const haul__plain_array *counted, uintptr_t first,
                           uintptr_t end)
{
    haul__pending *span = &d->spans[d->span_count++];
    span->first = first;
    span->end = end;
    span->counted = counted;
}

static int meet_string(haul__discovery *d, const haul__plain_array *counted, uintptr_t value)
{
    if (!value)
        return 1;
    if (HAUL__UNLIKELY(value - HAUL__LOWEST > HIGHEST_FIRST - HAUL__LOWEST))
        return 0;
    haul__prefetch(value);
    fetch_cell(d->map->flat, value);
    add_span(d, counted, value, 0);
    return 1;
}

/* The bytes that the fields' values make; UINT64_MAX: as many as go the general way, or fewer than
 * none. */
HAUL__INLINE uint64_t count_bytes(const haul__plain_array *counted, unsigned fields, uintptr_t self,
                                  int64_t *stored)
{
    uint64_t total = (uint64_t)counted->multiply, bytes;
    unsigned i;
    for (i = 0; i < fields; i++) {
        uint64_t count;
        stored[i] = load_count(self + counted->field[i].offset, counted->field[i].width);
        count = (uint64_t)(stored[i] & counted->field[i].bits);
        total *= count;
        if (HAUL__UNLIKELY((total | count) > HAUL__PLAIN_COUNT))
            return UINT64_MAX;
    }
    bytes = (uint64_t)(((int64_t)total + counted->add) * counted->unit);
    return bytes <= HAUL__PLAIN_BYTES ? bytes : UINT64_MAX;
}

HAUL__INLINE int note_counts(haul__found *found, const haul__plain_array *counted, unsigned fields,
                             uintptr_t self, const int64_t *stored)
{
    unsigned i;
    for (i = 0; i < fields; i++)
        if (!note_count(found, self + counted->field[i].offset, counted->field[i].width, stored[i]))
            return 0;
    return 1;
}

HAUL__INLINE int meet_array(haul__discovery *d, const haul__plain_array *counted, unsigned fields,
                            uintptr_t value, uintptr_t self)
{
    int64_t stored[3];
    const uint64_t bytes = count_bytes(counted, fields, self, stored);
    if (HAUL__UNLIKELY(bytes == UINT64_MAX))
        return 0;
    if (!value || !bytes)
        return !value && (!bytes || !counted->needs_pointer) &&
               note_counts(d->found, counted, fields, self, stored);
    if (HAUL__UNLIKELY(value - HAUL__LOWEST > HIGHEST_FIRST - HAUL__LOWEST ||
                       (value & counted->misaligned) != 0))
        return 0;
    if (!note_counts(d->found, counted, fields, self, stored))
        return 0;
    fetch_cell(d->map->flat, value);
    add_span(d, counted, value, value + (uintptr_t)bytes);
    return 1;
}

int haul__follow_plain_array(haul__discovery *d, const haul__plain_array *counted, uintptr_t value,
                             uintptr_t self)
{
    if (counted->is_string)
        return meet_string(d, counted, value);
    if (HAUL__LIKELY(counted->field_count == 1))
        return meet_array(d, counted, 1, value, self);
    return meet_array(d, counted, counted->field_count, value, self);
}

/* The function is called once, whatever comes of it. */
haul_status haul__follow_called_array(haul__discovery *d, const haul__plain_array *counted,
                                      uintptr_t place, uintptr_t self, size_t index)
{
    const haul__slot *slot = counted->slot;
    const uintptr_t value = haul__load_word((const void *)place);
    const int is_near =
        value - HAUL__LOWEST <= HIGHEST_FIRST - HAUL__LOWEST && (value & counted->misaligned) == 0;
    size_t count;
    haul_status status;
    if (!value)
        return HAUL_OK;
    if (is_near)
        fetch_cell(d->map->flat, value);
    status = haul__count_by_function(d, slot, counted->level, place, value, self, index, &count);
    if (status != HAUL_OK)
        return status;
    if (HAUL__LIKELY(is_near && count && count <= HAUL__PLAIN_BYTES / (size_t)counted->unit)) {
        add_span(d, counted, value, value + count * (size_t)counted->unit);
        return d->span_count < HAUL__PENDING ? HAUL_OK : haul__settle_spans(d);
    }
    status = haul__settle_spans(d);
    return status == HAUL_OK
               ? haul__follow_so_many(d, slot, counted->level, place, value, self, index, count)
               : status;
}

/* ---- From a span to marks. */

/* The granules of one cell that [at, stop), in that cell, covers whole. */
HAUL__INLINE uint32_t whole_granules(uintptr_t at, uintptr_t stop)
{
    const uintptr_t first = (at + HAUL__GRANULE - 1) & ~(uintptr_t)(HAUL__GRANULE - 1);
    const uintptr_t end = stop & ~(uintptr_t)(HAUL__GRANULE - 1);
    return first < end ? haul__range32(haul__granule_in_cell(first), haul__granule_in_cell(end - 1))
                       : 0;
}

/* Bytes of one granule, as bits, and those of them that were marked before. */
typedef struct part {
    uintptr_t first, end;
    uint32_t bytes, known;
} part;

static part part_of(haul__block *block, uintptr_t first, uintptr_t end)
{
    const haul__cell *cell = haul__cell_of(block, first);
    const uint32_t bit = (uint32_t)1 << haul__granule_in_cell(first);
    part p = { first, end, 0, 0 };
    if (first >= end)
        return p;
    p.bytes = ((1u << (end - first)) - 1u) << (first & (HAUL__GRANULE - 1));
    if (block->form == HAUL__MIXED)
        p.known = p.bytes & haul__words_mask(block, haul__granule_in_block(first));
    else if (cell->live & bit)
        p.known = p.bytes;
    else if (cell->aux & bit)
        p.known = p.bytes & haul__page_mask(block, haul__granule_in_block(first));
    return p;
}

/* Any span in a block that is bare or mixed: one that does not begin with a granule, or was marked
 * before. */
static HAUL__NOINLINE int mark_ragged(haul__map *map, haul__block *block, uintptr_t first,
                                      uintptr_t end)
{
    const uintptr_t past_head = (first + HAUL__GRANULE - 1) & ~(uintptr_t)(HAUL__GRANULE - 1);
    const uintptr_t tail_first = end & ~(uintptr_t)(HAUL__GRANULE - 1);
    const part head = part_of(block, first, past_head < end ? past_head : end);
    const part tail = part_of(block, tail_first >= past_head ? tail_first : end, end);
    uint32_t known = head.known | tail.known,
             fresh = (head.bytes ^ head.known) | (tail.bytes ^ tail.known);
    uintptr_t at, stop;
    for (at = first; at < end; at = stop) {
        const unsigned number = haul__cell_number(at);
        const haul__cell *cell = &block->cells[number];
        uint32_t whole, any = cell->live | cell->aux, all = cell->live;
        stop = (at | (HAUL__CELL_BYTES - 1)) + 1;
        if (stop > end)
            stop = end;
        whole = whole_granules(at, stop);
        if (block->form == HAUL__MIXED) {
            const uint64_t live = haul__load_cell(cell), slots = haul__slots(block)[number];
            if (live & slots & haul__range64(haul__word_in_cell(at), haul__word_in_cell(stop - 1)))
                return HAUL__APART;
            any = haul__any_word(live | slots);
            all = haul__both_words(live);
        }
        known |= any & whole;
        fresh |= ~all & whole;
    }
    if (known)
        return fresh ? HAUL__APART : HAUL__KNOWN_BEFORE;
    if ((head.bytes && haul__mark_part(map, block, head.first, head.end - head.first) < 0) ||
        (tail.bytes && haul__mark_part(map, block, tail.first, tail.end - tail.first) < 0))
        return NO_MEMORY;
    for (at = first; at < end; at = stop) {
        uint32_t whole;
        stop = (at | (HAUL__CELL_BYTES - 1)) + 1;
        whole = whole_granules(at, stop < end ? stop : end);
        if (block->form == HAUL__MIXED)
            haul__set_words(block, haul__cell_number(at), haul__words_of(whole));
        else
            haul__cell_of(block, at)->live |= whole;
    }
    return HAUL__FRESH;
}

/* How many first bytes of its last granule are a span's; 0: all. None of them was marked before.
 * Where four bits tell it they are written for whole granules too: 0, as they were. 0: out of
 * memory. */
HAUL__INLINE int mark_tail(haul__map *map, haul__block *block, uintptr_t last, unsigned bytes)
{
    const unsigned granule = haul__granule_in_block(last), shift = granule % 2 * 4;
    uint8_t *prefix = haul__prefix(block, granule / HAUL__PAGE_GRANULES);
    if (HAUL__LIKELY(prefix != NULL)) {
        prefix += granule % HAUL__PAGE_GRANULES / 2;
        *prefix = (uint8_t)((*prefix & ~(15u << shift)) | bytes << shift);
        return 1;
    }
    return !bytes || haul__mark_mask(map, block, granule, (uint16_t)((1u << bytes) - 1u));
}

/* Marks [first, end) in a mixed block. Only where the last word is live in part its bytes are told;
 * the word beside it in its granule must not be so too. */
HAUL__INLINE int mark_in_mixed(haul__map *map, haul__block *block, uintptr_t first, uintptr_t end)
{
    const unsigned from = haul__cell_number(first), to = haul__cell_number(end - 1);
    const unsigned tail = end & (HAUL__WORD - 1) ? (unsigned)(end & (HAUL__GRANULE - 1)) : 0;
    const uint64_t low = UINT64_MAX << haul__word_in_cell(first);
    const uint64_t high = UINT64_MAX >> (63u - haul__word_in_cell(end - 1));
    const uint64_t cut = (uint64_t)(tail != 0) << haul__word_in_cell(end - 1);
    uint64_t met = haul__partial_words(block, to) & (uint64_t)3
                                                        << (2 * haul__granule_in_cell(end - 1));
    unsigned at;
    for (at = from; at <= to; at++)
        met |= (haul__load_cell(&block->cells[at]) | haul__slots(block)[at]) &
               (at == from ? low : UINT64_MAX) & (at == to ? high : UINT64_MAX);
    if (HAUL__UNLIKELY(met || (first & (HAUL__GRANULE - 1)) != 0))
        return mark_ragged(map, block, first, end);
    if (HAUL__UNLIKELY(!mark_tail(map, block, end - 1, tail)))
        return NO_MEMORY;
    for (at = from; at <= to; at++)
        haul__store_cell(&block->cells[at], haul__load_cell(&block->cells[at]) |
                                                ((at == from ? low : UINT64_MAX) &
                                                 (at == to ? high & ~cut : UINT64_MAX)));
    haul__slots(block)[to] |= cut;
    return HAUL__FRESH;
}

/* Marks [first, end). Blocks of a kind take whole granules alone, ragged ones nothing. */
HAUL__INLINE int mark_span(haul__map *map, uintptr_t first, uintptr_t end)
{
    const uintptr_t entry = map->flat[first >> HAUL__BLOCK_SHIFT];
    const unsigned tail = (unsigned)(end & (HAUL__GRANULE - 1));
    const int of_kind = (entry & HAUL__FORM_MASK) >= HAUL__FIRST_KIND;
    haul__block *block = haul__block_in(entry);
    haul__cell *cell, *last, *at;
    uint32_t low, high, part, met = 0;
    if (HAUL__UNLIKELY(!(entry & 1u) || (first ^ (end - 1)) >> HAUL__BLOCK_SHIFT ||
                       (of_kind && block->words)))
        return HAUL__APART;
    if ((entry & HAUL__FORM_MASK) == HAUL__MIXED)
        return mark_in_mixed(map, block, first, end);
    if (HAUL__UNLIKELY((first & (HAUL__GRANULE - 1)) != 0))
        return of_kind ? HAUL__APART : mark_ragged(map, block, first, end);
    cell = haul__cell_of(block, first);
    last = haul__cell_of(block, end - 1);
    low = UINT32_MAX << haul__granule_in_cell(first);
    high = UINT32_MAX >> (31u - haul__granule_in_cell(end - 1));
    part = (uint32_t)(tail != 0) << haul__granule_in_cell(end - 1);
    for (at = cell; at <= last; at++)
        met |= (at->live | (of_kind ? 0 : at->aux)) & (at == cell ? low : UINT32_MAX) &
               (at == last ? high : UINT32_MAX);
    if (HAUL__UNLIKELY(met || (of_kind && tail)))
        return of_kind ? HAUL__APART : mark_ragged(map, block, first, end);
    if (HAUL__UNLIKELY(!mark_tail(map, block, end - 1, tail)))
        return NO_MEMORY;
    for (at = cell; at <= last; at++)
        at->live |= (at == cell ? low : UINT32_MAX) & (at == last ? high & ~part : UINT32_MAX);
    last->aux |= part;
    return HAUL__FRESH;
}

/* The general way for a span, whose count was read and noted. */
static HAUL__NOINLINE haul_status reach_span(haul__discovery *d, const haul__pending *span)
{
    haul__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.address = span->first;
    entry.count = (size_t)(span->end - span->first);
    entry.stride = 1;
    entry.slot = span->counted->slot;
    entry.level = span->counted->level;
    entry.parent = SIZE_MAX;
    entry.what = HAUL__PLAIN;
    return haul__reach(d, &entry);
}

/* The end of a string; none, where it is long. One that lies in the string before it needs no
 * marks. */
static void find_end(haul__discovery *d, haul__pending *span)
{
    const char *end;
    if (span->first != d->string_first && haul__is_in_last_string(d, span->first, 1, 0)) {
        span->counted = NULL;
        return;
    }
    end = memchr((const void *)span->first, 0, HAUL__PLAIN_BYTES);
    if (HAUL__UNLIKELY(!end))
        return;
    span->end = (uintptr_t)end + 1;
    haul__note_string(d, span->first, span->end, 1, 0);
}

/* Fetches where the bytes of the granule at `address` are told, if they are. */
HAUL__INLINE void fetch_mask(const uintptr_t *flat, uintptr_t address)
{
    const uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT];
    const size_t page = haul__granule_in_block(address) / HAUL__PAGE_GRANULES;
    const size_t at = haul__granule_in_block(address) % HAUL__PAGE_GRANULES;
    const haul__byte_pages *pages =
        entry & 1u && haul__block_in(entry)->side ? haul__block_in(entry)->side->pages : NULL;
    if (pages && pages->prefix[page])
        haul__prefetch_write((uintptr_t)pages->prefix[page] + at / 2);
    else if (pages && pages->masks[page])
        haul__prefetch_write((uintptr_t)pages->masks[page] + at * sizeof(uint16_t));
}

/* Marks what a span covers. A string that was there before must have its terminator noted as
 * one. */
static haul_status settle(haul__discovery *d, const haul__pending *span)
{
    const haul__plain_array *counted = span->counted;
    int fresh;
    if (!counted)
        return HAUL_OK;
    if (HAUL__UNLIKELY(!span->end))
        return haul__follow(d, counted->slot, counted->level, 0, span->first, 0, 0);
    fresh = mark_span(d->map, span->first, span->end);
    if (HAUL__UNLIKELY(fresh < 0))
        return fresh == NO_MEMORY ? HAUL_ERROR_MEMORY : reach_span(d, span);
    if (!fresh)
        return counted->is_string && !haul__memo_has(d, span->end - 1, HAUL__NOTED, NULL)
                   ? reach_span(d, span)
                   : HAUL_OK;
    d->found->objects++;
    d->found->bytes += (size_t)(span->end - span->first);
    return !counted->is_string || haul__mark_end(d->map, span->end - 1) ? HAUL_OK
                                                                        : HAUL_ERROR_MEMORY;
}

haul_status haul__settle_spans(haul__discovery *d)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < d->span_count; i++) {
        if (d->spans[i].counted->is_string)
            find_end(d, &d->spans[i]);
        fetch_mask(d->map->flat, d->spans[i].end);
    }
    for (i = 0; i < d->span_count && status == HAUL_OK; i++)
        status = settle(d, &d->spans[i]);
    d->span_count = 0;
    return status;
}
