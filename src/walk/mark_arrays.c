/* Marking short arrays and strings: those that were followed in line (plain_arrays.c) and are
 * pending, and those of a walk by aims.
 *
 * The slow obvious version is the general way (follow.c): an array is marked block by block and
 * cell by cell. But nearly every array lies in one block, with no byte marked before. A look at a
 * cell or two shows that, and its marks are then two or three ORs and four bits of a side page.
 *
 * The ends of all pending strings are searched first, and the side pages of all are fetched.
 * Pending arrays of pointers to simple objects are fetched in a row, so that the processor looks up
 * several pages at once. Once such an array is marked, its pointers are settled as candidates, so
 * it needs no entry of its own. Arrays of plain bytes and strings alone have a loop without the
 * rest (mark_plain). Where hints name arrays, this is done when their ends are known.
 *
 * An array in two blocks, in a block that the map does not have yet, or of which whole granules are
 * marked before and others are not, takes the general way.
 *
 * Why it is right: no byte of an array is marked before all of it has been looked at, so new bytes
 * are counted as if each pointer had been followed at once. All bytes of a slot are live. So an
 * array without a live byte cannot disagree with a slot, and one whose bytes are all live is
 * compared with the slots.
 *
 * Why it is fast: whether a last granule is whole, which no predictor could guess, is not a branch.
 */
#include "map/exclusions.h"
#include "map/mark.h"
#include "map/mixed.h"
#include "walk/extent.h"
#include "walk/follow.h"
#include "walk/hints.h"
#include "walk/log_order.h"
#include "walk/mark_inline.h"
#include "walk/memo.h"
#include "walk/plain_arrays.h"

/* ---- One array. */

/* The granules that lie whole in [at, stop), a range within one cell. */
HAUL__INLINE uint32_t whole_granules(uintptr_t at, uintptr_t stop)
{
    const uintptr_t first = (at + HAUL__GRANULE - 1) & ~(uintptr_t)(HAUL__GRANULE - 1);
    const uintptr_t end = stop & ~(uintptr_t)(HAUL__GRANULE - 1);
    return first < end ? haul__range32(haul__granule_in_cell(first), haul__granule_in_cell(end - 1))
                       : 0;
}

/* Bytes of one granule, as a mask, and those of them that were marked before. */
typedef struct part {
    uintptr_t first;
    uint32_t bytes, known;
} part;

static part part_of(haul__block *block, uintptr_t first, uintptr_t end)
{
    const haul__cell *cell = haul__cell_of(block, first);
    const uint32_t bit = (uint32_t)1 << haul__granule_in_cell(first);
    part p = { first, 0, 0 };
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

/* Marks any array in a bare or mixed block, even if it does not begin with a granule, or was marked
 * before; in a uniform block, whole granules that are new. */
static HAUL__NOINLINE int mark_slowly(haul__map *map, haul__block *block, uintptr_t first,
                                      uintptr_t end)
{
    const uintptr_t past_head = (first + HAUL__GRANULE - 1) & ~(uintptr_t)(HAUL__GRANULE - 1);
    const uintptr_t tail_first = end & ~(uintptr_t)(HAUL__GRANULE - 1);
    const part head = part_of(block, first, past_head < end ? past_head : end);
    const part tail = part_of(block, tail_first >= past_head ? tail_first : end, end);
    uint32_t known = head.known | tail.known,
             fresh = (head.bytes ^ head.known) | (tail.bytes ^ tail.known);
    const int is_uniform = haul__is_uniform(block);
    uintptr_t at, stop;
    for (at = first; at < end; at = stop) {
        const unsigned number = haul__cell_number(at);
        const haul__cell *cell = &block->cells[number];
        uint32_t whole, any = cell->live | (is_uniform ? 0 : cell->aux), all = cell->live;
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
        return fresh || is_uniform ? HAUL__APART : HAUL__KNOWN_BEFORE;
    if ((head.bytes && haul__mark_part(map, block, head.first, (uint16_t)head.bytes) < 0) ||
        (tail.bytes && haul__mark_part(map, block, tail.first, (uint16_t)tail.bytes) < 0))
        return HAUL__NO_MEMORY;
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

/* The bytes of the last granule of an array that ends there, if its last word is live in part; else
 * 0. No predictor could guess which, so it is no branch. */
HAUL__INLINE unsigned tail_of_word(uintptr_t end)
{
    const unsigned is_cut = (end & (HAUL__WORD - 1)) != 0;
    return (unsigned)(end & (HAUL__GRANULE - 1)) & (0u - is_cut);
}

/* Where the bits of a last granule stand that is live in its first `tail` bytes. Those of a whole
 * granule, which are 0 already, are written too: to *nothing if the block has none. NULL: there is
 * no room for the bits or for the end of a string. */
HAUL__INLINE uint8_t *prefix_for(const haul__side *side, unsigned granule, unsigned tail,
                                 int is_string, uint8_t *nothing)
{
    if (HAUL__UNLIKELY(is_string && (!side || side->end_count == side->end_capacity)))
        return NULL;
    if (HAUL__LIKELY(side && side->prefix && !(side->is_full >> granule / HAUL__PAGE_GRANULES & 1)))
        return side->prefix + granule / 2;
    return tail ? NULL : nothing;
}

HAUL__INLINE void note_tail(uint8_t *prefix, haul__side *side, uintptr_t last, unsigned tail,
                            int is_string)
{
    const unsigned shift = haul__granule_in_block(last) % 2 * 4;
    *prefix = (uint8_t)((*prefix & ~(15u << shift)) | tail << shift);
    if (is_string)
        side->ends[side->end_count++] = (uint16_t)(last & (HAUL__BLOCK_BYTES - 1));
}

/* Marks [first, end) in one cell of a mixed block or in two. If the last word is live in part, the
 * other word of its granule must not be. */
HAUL__INLINE int mark_words(haul__block *block, uintptr_t first, uintptr_t end, int is_string)
{
    const unsigned from = haul__cell_number(first), to = haul__cell_number(end - 1);
    const unsigned last_word = haul__word_in_cell(end - 1), tail = tail_of_word(end);
    const uint64_t beyond = 0 - (uint64_t)(to - from), cut = (uint64_t)(tail != 0) << last_word;
    const uint64_t low = UINT64_MAX << haul__word_in_cell(first);
    const uint64_t high = UINT64_MAX >> (63u - last_word), whole = high & ~cut;
    haul__cell *cell = &block->cells[from], *last = &block->cells[to];
    uint64_t *slots = &haul__slots(block)[from], *last_slots = &haul__slots(block)[to];
    const uint64_t live = haul__load_cell(cell), last_live = haul__load_cell(last);
    const uint64_t met = ((live | *slots) & low & (high | beyond)) |
                         ((last_live | *last_slots) & high & beyond) |
                         (*last_slots & ~last_live & (uint64_t)3 << (last_word & ~1u));
    uint8_t nothing = 0, *prefix = prefix_for(block->side, haul__granule_in_block(end - 1), tail,
                                              is_string, &nothing);
    if (HAUL__UNLIKELY(met || !prefix))
        return 0;
    haul__store_cell(cell, live | (low & (whole | beyond)));
    haul__store_cell(last, haul__load_cell(last) | (whole & beyond));
    *last_slots |= cut;
    note_tail(prefix, block->side, end - 1, tail, is_string);
    return 1;
}

/* The same in a bare block or, if they are whole granules, a uniform one. */
HAUL__INLINE int mark_granules(haul__block *block, uintptr_t first, uintptr_t end, int is_bare,
                               int is_string)
{
    const unsigned from = haul__cell_number(first), to = haul__cell_number(end - 1);
    const unsigned last_granule = haul__granule_in_cell(end - 1),
                   tail = (unsigned)(end & (HAUL__GRANULE - 1));
    const uint32_t beyond = 0 - (uint32_t)(to - from), cut = (uint32_t)(tail != 0) << last_granule;
    const uint32_t low = UINT32_MAX << haul__granule_in_cell(first);
    const uint32_t high = UINT32_MAX >> (31u - last_granule), whole = high & ~cut;
    haul__cell *cell = &block->cells[from], *last = &block->cells[to];
    const uint32_t met = ((cell->live | (is_bare ? cell->aux : 0)) & low & (high | beyond)) |
                         ((last->live | (is_bare ? last->aux : 0)) & high & beyond);
    uint8_t nothing = 0, *prefix = prefix_for(block->side, haul__granule_in_block(end - 1), tail,
                                              is_string, &nothing);
    if (HAUL__UNLIKELY(met || !prefix || (!is_bare && (tail || block->words))))
        return 0;
    last->aux |= cut;
    cell->live |= low & (whole | beyond);
    last->live |= whole & beyond;
    note_tail(prefix, block->side, end - 1, tail, is_string);
    return 1;
}

/* Marks [first, end), a new array or string, and notes its terminator if it is a string. 0: nothing
 * was done, for a byte was marked before, or it lies in two blocks or in more than two cells, or
 * does not begin with a granule, or memory is missing. */
HAUL__INLINE int mark_simply(const uintptr_t *flat, uintptr_t first, uintptr_t end, int is_string)
{
    const uintptr_t entry = flat[first >> HAUL__BLOCK_SHIFT], form = entry & HAUL__FORM_MASK;
    haul__block *block = haul__block_in(entry);
    if (HAUL__UNLIKELY(!(entry & 1u) || (first ^ (end - 1)) >> HAUL__BLOCK_SHIFT ||
                       haul__cell_number(end - 1) - haul__cell_number(first) > 1 ||
                       (first & (HAUL__GRANULE - 1)) != 0))
        return 0;
    return form == HAUL__MIXED ? mark_words(block, first, end, is_string)
                               : mark_granules(block, first, end, form == HAUL__BARE, is_string);
}

/* Marks [first, end). Uniform blocks take whole granules only, ragged blocks no plain bytes. */
static HAUL__NOINLINE int mark_array(haul__map *map, uintptr_t first, uintptr_t end)
{
    const uintptr_t entry = map->flat[first >> HAUL__BLOCK_SHIFT];
    haul__block *block = haul__block_in(entry);
    if (mark_simply(map->flat, first, end, 0))
        return HAUL__FRESH;
    if (!(entry & 1u) || (first ^ (end - 1)) >> HAUL__BLOCK_SHIFT ||
        (haul__is_uniform(block) && (block->words || ((first | end) & (HAUL__GRANULE - 1)) != 0)))
        return HAUL__APART;
    return mark_slowly(map, block, first, end);
}

/* Marks an array of pointers in a mixed block: its words are live, and slots. A block of another
 * form becomes mixed on the general way. */
HAUL__INLINE int mark_pointers(haul__map *map, uintptr_t first, uintptr_t end)
{
    const uintptr_t entry = map->flat[first >> HAUL__BLOCK_SHIFT];
    const unsigned from = haul__cell_number(first), to = haul__cell_number(end - 1);
    const uint64_t low = UINT64_MAX << haul__word_in_cell(first);
    const uint64_t high = UINT64_MAX >> (63u - haul__word_in_cell(end - 1));
    haul__block *block = haul__block_in(entry);
    uint64_t met = 0, missing = 0;
    unsigned at;
    if (HAUL__UNLIKELY((entry & HAUL__FORM_MASK) != HAUL__MIXED ||
                       (first ^ (end - 1)) >> HAUL__BLOCK_SHIFT))
        return HAUL__APART;
    if (HAUL__LIKELY(from == to)) {
        haul__cell *cell = &block->cells[from];
        const uint64_t words = low & high, live = haul__load_cell(cell);
        uint64_t *slots = &haul__slots(block)[from];
        if (HAUL__UNLIKELY((live | *slots) & words))
            return ~(live & *slots) & words ? HAUL__APART : HAUL__KNOWN_BEFORE;
        haul__store_cell(cell, live | words);
        *slots |= words;
        return HAUL__FRESH;
    }
    for (at = from; at <= to; at++) {
        const uint64_t words = (at == from ? low : UINT64_MAX) & (at == to ? high : UINT64_MAX);
        const uint64_t live = haul__load_cell(&block->cells[at]), slots = haul__slots(block)[at];
        met |= (live | slots) & words;
        missing |= ~(live & slots) & words;
    }
    if (met)
        return missing ? HAUL__APART : HAUL__KNOWN_BEFORE;
    for (at = from; at <= to; at++) {
        const uint64_t words = (at == from ? low : UINT64_MAX) & (at == to ? high : UINT64_MAX);
        haul__store_cell(&block->cells[at], haul__load_cell(&block->cells[at]) | words);
        haul__slots(block)[at] |= words;
    }
    return HAUL__FRESH;
}

int haul__mark_plain_array(haul__map *map, uintptr_t first, uintptr_t end)
{
    return mark_array(map, first, end);
}

HAUL__HOT static int mark_new_array(const uintptr_t *flat, uintptr_t first, uintptr_t end,
                                    int is_string)
{
    return mark_simply(flat, first, end, is_string);
}

int haul__mark_new_array(const haul__map *map, uintptr_t first, uintptr_t end, int is_string)
{
    return mark_new_array(map->flat, first, end, is_string);
}

int haul__mark_pointer_array(haul__map *map, uintptr_t first, uintptr_t end)
{
    return mark_pointers(map, first, end);
}

/* ---- Pending arrays. */

/* The general way, for an array whose count was read and noted. */
static HAUL__NOINLINE haul_status reach_array(haul__discovery *d, const haul__pending *pending)
{
    haul__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.address = pending->first;
    entry.stride = (size_t)pending->array->unit;
    entry.count = (size_t)(pending->end - pending->first) / entry.stride;
    entry.slot = pending->array->slot;
    entry.level = (uint8_t)(pending->array->level + pending->array->has_pointers);
    entry.parent = SIZE_MAX;
    entry.what = pending->array->has_pointers ? HAUL__POINTERS : HAUL__PLAIN;
    return haul__reach(d, &entry);
}

/* Finds the end of a string, unless it is long. A suffix of the last string needs no marks. */
static void find_end(haul__discovery *d, haul__pending *pending)
{
    const char *end;
    if (pending->first != d->string_first && haul__is_in_last_string(d, pending->first, 1, 0)) {
        pending->array = NULL;
        return;
    }
    end = memchr((const void *)pending->first, 0, HAUL__PLAIN_BYTES);
    if (HAUL__UNLIKELY(!end))
        return;
    pending->end = (uintptr_t)end + 1;
    haul__note_string(d, pending->first, pending->end, 1, 0);
}

/* Fetches the byte mask of the granule at `address`, if its block has such masks. */
HAUL__INLINE void fetch_mask(const uintptr_t *flat, uintptr_t address)
{
    const uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT];
    const haul__side *side = entry & 1u ? haul__block_in(entry)->side : NULL;
    if (side && side->prefix)
        haul__prefetch_write((uintptr_t)side->prefix + haul__granule_in_block(address) / 2);
}

/* The general way, for a string whose end was not found. */
static HAUL__NOINLINE haul_status follow_long_string(haul__discovery *d,
                                                     const haul__pending *pending)
{
    haul__pointer p;
    memset(&p, 0, sizeof p);
    p.slot = pending->array->slot;
    p.level = pending->array->level;
    p.value = pending->first;
    return haul__follow(d, &p);
}

static HAUL__NOINLINE haul_status log_array(haul__discovery *d, const haul__pending *pending,
                                            int is_new)
{
    haul__reached range = pending->array->demands;
    range.first = pending->first;
    range.end = pending->end;
    return is_new ? haul__log_new(d, &range) : haul__log_known(d, &range);
}

/* The general way logs the array, too; this entry joins that one. */
static haul_status reach_and_log(haul__discovery *d, const haul__pending *pending)
{
    const haul_status status = reach_array(d, pending);
    return status == HAUL_OK && d->order_log ? log_array(d, pending, 0) : status;
}

/* Marks a pending array. If all bytes of a string were marked before, its terminator must still be
 * noted. */
static HAUL__NOINLINE haul_status mark_one(haul__discovery *d, const haul__pending *pending)
{
    const haul__plain_array *array = pending->array;
    int fresh;
    if (!array)
        return HAUL_OK;
    if (HAUL__UNLIKELY(!pending->end))
        return follow_long_string(d, pending);
    fresh = mark_array(d->map, pending->first, pending->end);
    if (HAUL__UNLIKELY(fresh < 0))
        return fresh == HAUL__NO_MEMORY ? HAUL_ERROR_MEMORY : reach_and_log(d, pending);
    if (d->order_log && log_array(d, pending, fresh == HAUL__FRESH) != HAUL_OK)
        return HAUL_ERROR_MEMORY;
    if (!fresh)
        return array->is_string &&
                       !haul__memo_has(d, HAUL__MEMO_TERMINATOR, pending->end - 1, 0, NULL)
                   ? reach_array(d, pending)
                   : HAUL_OK;
    d->found->objects++;
    d->found->bytes += (size_t)(pending->end - pending->first);
    return !array->is_string || haul__mark_end(d->map, pending->end - 1) ? HAUL_OK
                                                                         : HAUL_ERROR_MEMORY;
}

/* Marks a pending array of pointers. Those of a new one become candidates: the array has been
 * fetched meanwhile, and their cells are fetched now. */
HAUL__INLINE haul_status mark_and_visit(haul__discovery *d, const haul__pending *pending,
                                        haul__candidates *c)
{
    const uint64_t tag = (uint64_t)pending->array->target << 48;
    const int fresh = mark_pointers(d->map, pending->first, pending->end);
    haul_status status = HAUL_OK;
    uintptr_t at;
    if (HAUL__UNLIKELY(fresh < 0))
        return reach_array(d, pending);
    if (!fresh)
        return HAUL_OK;
    d->found->objects++;
    d->found->bytes += (size_t)(pending->end - pending->first);
    if (c->tag != tag && c->near_count + c->over_count)
        status = haul__settle(d, c);
    c->tag = tag;
    for (at = pending->first; at < pending->end && status == HAUL_OK;
         at += HAUL__ROW * HAUL__WORD) {
        status = haul__collect_row(d, c, at, (size_t)(pending->end - at) / HAUL__WORD);
        if (haul__are_many(c) && status == HAUL_OK)
            status = haul__settle(d, c);
    }
    return status;
}

/* Names the bytes of pending arrays. A string that is part of the last one ends with it; a long one
 * is named on the general way. 0: out of memory. */
static HAUL__NOINLINE int name_pending(const haul__discovery *d, const haul__pending *pending,
                                       const haul__plain_array *array)
{
    const uintptr_t end = pending->array ? pending->end : d->string_end;
    return !end || haul__hint_range(d, array->hint, pending->first, end);
}

/* Excludes the bytes of a pending array from its directions. A long string is excluded on the
 * general way. */
static HAUL__NOINLINE int exclude_pending(const haul__discovery *d, const haul__pending *pending,
                                          unsigned ways)
{
    const uintptr_t end = pending->array ? pending->end : d->string_end;
    return !end || haul__exclude(d->map, pending->first, end, ways);
}

#define EXCLUDED_AHEAD 8u

/* Fetches the excluded words of the array that comes a few arrays later. */
HAUL__INLINE void fetch_excluded(const haul__discovery *d, const haul__pending *pending,
                                 const haul__pending *end)
{
    const haul__block *block;
    if (end - pending <= (ptrdiff_t)EXCLUDED_AHEAD)
        return;
    block = haul__map_find(d->map, pending[EXCLUDED_AHEAD].first);
    if (block)
        haul__fetch_exclusions(block, pending[EXCLUDED_AHEAD].first);
}

/* Finds the ends of pending strings, names what hints name, excludes what directions say, and
 * fetches what marking needs. */
HAUL__HOT static haul_status prepare_pending(haul__discovery *d, int *have_pointers)
{
    const uintptr_t *const flat = d->map->flat;
    haul__pending *pending = d->pending, *const end = pending + d->pending_count;
    *have_pointers = 0;
    for (; pending < end; pending++) {
        const haul__plain_array *const array = pending->array;
        if (array->is_string)
            find_end(d, pending);
        if (HAUL__UNLIKELY(array->hint) && !name_pending(d, pending, array))
            return HAUL_ERROR_MEMORY;
        if (HAUL__UNLIKELY(array->ways)) {
            fetch_excluded(d, pending, end);
            if (!exclude_pending(d, pending, array->ways))
                return HAUL_ERROR_MEMORY;
        }
        if (array->has_pointers) {
            *have_pointers = 1;
            haul__prefetch(pending->first);
            continue;
        }
        fetch_mask(flat, pending->end);
    }
    return HAUL_OK;
}

/* Marks pending arrays of plain bytes, and strings. */
HAUL__INLINE haul_status mark_all_plain(haul__discovery *d, int is_logged)
{
    const uintptr_t *const flat = d->map->flat;
    const haul__pending *pending = d->pending, *const end = pending + d->pending_count;
    size_t objects = d->pending_count, bytes = 0;
    haul_status status = HAUL_OK;
    for (; pending < end; pending++) {
        if (HAUL__LIKELY(pending->end != 0 && mark_simply(flat, pending->first, pending->end,
                                                          pending->array->is_string))) {
            bytes += (size_t)(pending->end - pending->first);
            if (is_logged)
                status = log_array(d, pending, 1);
        } else {
            objects--;
            status = mark_one(d, pending);
        }
        if (HAUL__UNLIKELY(status != HAUL_OK))
            return status;
    }
    d->found->objects += objects;
    d->found->bytes += bytes;
    d->pending_count = 0;
    return HAUL_OK;
}

HAUL__HOT static haul_status mark_plain(haul__discovery *d)
{
    return mark_all_plain(d, 0);
}

HAUL__HOT static haul_status mark_logged(haul__discovery *d)
{
    return mark_all_plain(d, 1);
}

HAUL__HOT static haul_status mark_any(haul__discovery *d)
{
    uint64_t near[HAUL__CANDIDATES], over[HAUL__CANDIDATES];
    haul__candidates c = { near, over, 0, 0, HAUL__NOT_UNIFORM };
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < d->pending_count && status == HAUL_OK; i++) {
        const haul__pending *pending = &d->pending[i];
        status = pending->array && pending->array->has_pointers ? mark_and_visit(d, pending, &c)
                                                                : mark_one(d, pending);
    }
    d->pending_count = 0;
    return status == HAUL_OK && c.near_count + c.over_count ? haul__settle(d, &c) : status;
}

haul_status haul__mark_pending(haul__discovery *d)
{
    int have_pointers;
    const haul_status status = prepare_pending(d, &have_pointers);
    if (status != HAUL_OK || have_pointers)
        return status == HAUL_OK ? mark_any(d) : status;
    return d->order_log ? mark_logged(d) : mark_plain(d);
}
