/* Brief objects: marked by masks of words (brief.c follows their pointers).
 *
 * Most types with rules are short structs whose rules read their own fields: an arm of a union, a
 * tag in a pointer, a pointer that is borrowed or skipped. What such an object means is worked out
 * in two masks of 64 bits: its words that travel, and its slots. In a mixed block they are compared
 * with the marks of one cell or two, as those of a simple object are (mark_inline.h). The object is
 * new if none of these words is live, and known if all of them are, with the same slots.
 *
 * A row that holds and has a direction is excluded from it after each mark, as on the general way.
 * Fields without a condition are excluded in fetch_queue.c, for an object that takes the general
 * way too. A walk by aims excludes both at once (haul__brief_exclude).
 *
 * Why it is right: the general way (ruled_evaluate.c, ruled_mark.c, ruled_visit.c) takes whatever
 * is unusual: rows that overlap, words that are partly live or slots for others only, tags without
 * an address, addresses out of range. Before that is known, nothing has changed but the form of a
 * block. The read set gets the same fields in the same order.
 *
 * Why it is fast: a pointer costs a few dozen instructions in place of a thousand. Rows are
 * prepared once for each type: what a pointer leads to is a number, not a search. Pointers to
 * objects of simple types become candidates; pointers to brief ones join the queue. Both are
 * fetched before they are marked.
 */
#include "walk/brief_marks.h"

#include "map/forms.h"
#include "map/mark_hole.h"
#include "map/mixed.h"
#include "type/field.h"
#include "walk/exclude.h"
#include "walk/mark_elements.h"
#include "walk/plain_arrays.h"

/* ---- Preparing one. */

/* The words of which the bytes are a part. */
static uint64_t words_of(size_t offset, size_t bytes)
{
    const unsigned first = (unsigned)(offset >> HAUL__WORD_SHIFT);
    const unsigned last = (unsigned)((offset + bytes - 1) >> HAUL__WORD_SHIFT);
    return bytes ? haul__range64(first, last) : 0;
}

/* Takes a run apart: into whole words, and a piece before and behind them. */
static void take_run(haul__brief *brief, const haul__run *run)
{
    const size_t end = run->offset + run->bytes, rest = end % HAUL__WORD;
    const size_t head = (HAUL__WORD - run->offset % HAUL__WORD) % HAUL__WORD;
    const size_t first = head < run->bytes ? head : run->bytes;
    if (first) {
        brief->pieces[brief->piece_count].offset = run->offset;
        brief->pieces[brief->piece_count++].bytes = first;
    }
    if (run->bytes == first)
        return;
    brief->run_words |= words_of(run->offset + first, run->bytes - first - rest);
    if (rest) {
        brief->pieces[brief->piece_count].offset = end - rest;
        brief->pieces[brief->piece_count++].bytes = rest;
    }
}

static int is_single(const haul__slot *slot)
{
    return slot->target && slot->levels == 1 &&
           !(slot->flags & ~(HAUL__SLOT_EACH | HAUL__EXCLUDED)) &&
           slot->shape[0].kind == HAUL_COUNT_KIND_ONE;
}

/* Numbering a type may move all types. */
static haul_status prepare_target(haul__discovery *d, const haul__slot *slot,
                                  haul__brief_target *target, haul__plain_array *array)
{
    uint32_t number = 0;
    haul_status status;
    unsigned i;
    target->slot = slot;
    target->array = array;
    target->how = HAUL__TO_ANY;
    target->ways = slot->flags & HAUL__EXCLUDED;
    status = is_single(slot) ? haul__met_type_of(d, slot->target, &number) : HAUL_OK;
    if (status == HAUL_OK && is_single(slot) && number <= UINT16_MAX) {
        target->tag = (uint64_t)number << 48;
        target->near_starts = haul__near_for(d, &d->met_types[number]);
        if (d->met_types[number].simple.bytes)
            target->how = HAUL__TO_SIMPLE;
        else if (d->met_types[number].is_brief)
            target->how = HAUL__TO_BRIEF;
    }
    if (status != HAUL_OK || target->how != HAUL__TO_ANY)
        return status;
    status = haul__prepare_plain_array(d, slot, 0, array);
    for (i = 0; i < array->field_count; i++)
        array->field[i].offset += slot->self;
    if (!array->why && !array->is_called)
        target->how = HAUL__TO_ARRAY;
    array->slot = slot;
    return status;
}

static haul_status prepare_row(haul__discovery *d, haul__brief *brief, const haul__ruled *ruled,
                               haul__brief_row *row, uint32_t *targets)
{
    const haul_field *said = &ruled->rule->said;
    haul_status status = HAUL_OK;
    size_t i;
    row->ruled = ruled;
    row->words = words_of(ruled->slot.offset, ruled->bytes);
    row->offset = ruled->slot.offset;
    row->kind = (uint8_t)said->when.kind;
    row->is_pointer = ruled->kind == HAUL__RULED_POINTER;
    row->travels = row->is_pointer || said->kind != HAUL_FIELD_SKIP;
    row->is_alias = said->ownership == HAUL_BORROWED;
    row->keeps_rest = said->else_raw != 0;
    row->is_partial = (ruled->slot.offset | ruled->bytes) % HAUL__WORD != 0;
    row->ways = row->is_pointer ? 0 : (uint8_t)haul__exclusions_of(said->transfer);
    row->tags = said->tag_bits;
    row->first_target = *targets;
    if (!row->is_pointer)
        return HAUL_OK;
    row->target_count = said->type_switch.kind == HAUL_SWITCH_KIND_NONE
                            ? 1
                            : (uint32_t)said->type_switch.case_count;
    *targets += row->target_count;
    for (i = 0; i < row->target_count && status == HAUL_OK; i++)
        status = prepare_target(d, haul__case_count(ruled) ? &ruled->cases[i] : &ruled->slot,
                                &brief->targets[row->first_target + i],
                                &brief->arrays[brief->slot_count + row->first_target + i]);
    return status;
}

static haul__brief *make_brief(haul__discovery *d, haul__met_type *met)
{
    const haul__walk *walk = met->walk;
    size_t targets = walk->ruled_count, bytes, i;
    haul__brief *brief;
    for (i = 0; i < walk->ruled_count; i++)
        targets += haul__case_count(&walk->ruled[i]);
    bytes = sizeof *brief + walk->ruled_count * sizeof *brief->rows +
            (walk->slot_count + targets) * (sizeof *brief->targets + sizeof *brief->arrays);
    brief = haul__allocate_zeroed(d->allocator, bytes);
    if (!brief)
        return NULL;
    met->brief = brief;
    met->brief_bytes = bytes;
    brief->walk = walk;
    brief->bytes = walk->extent;
    brief->all = words_of(0, walk->extent);
    brief->misaligned = (walk->alignment - 1) | (HAUL__WORD - 1);
    brief->row_count = walk->ruled_count;
    brief->slot_count = walk->slot_count;
    brief->rows = (haul__brief_row *)(void *)(brief + 1);
    brief->slots = (haul__brief_target *)(void *)(brief->rows + brief->row_count);
    brief->targets = brief->slots + brief->slot_count;
    brief->arrays = (haul__plain_array *)(void *)(brief->targets + targets);
    met->brief_arrays = brief->arrays;
    met->brief_array_count = walk->slot_count + targets;
    for (i = 0; i < walk->run_count; i++)
        take_run(brief, &walk->runs[i]);
    return brief;
}

haul_status haul__brief_prepare(haul__discovery *d, uint32_t number)
{
    const haul__walk *walk = d->met_types[number].walk;
    haul_status status = HAUL_OK;
    haul__brief *brief;
    uint32_t used = 0;
    size_t i;
    brief = make_brief(d, &d->met_types[number]);
    if (!brief)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < walk->slot_count && status == HAUL_OK; i++) {
        brief->slot_words |= words_of(walk->slots[i].offset, HAUL__WORD);
        status = prepare_target(d, &walk->slots[i], &brief->slots[i], &brief->arrays[i]);
    }
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++)
        status = prepare_row(d, brief, &walk->ruled[i], &brief->rows[i], &used);
    return status;
}

/* ---- What an object means. */

HAUL__INLINE int holds(const haul__brief_row *row, uintptr_t object)
{
    return row->kind == HAUL_WHEN_KIND_ALWAYS ||
           haul__when_holds(&row->ruled->rule->said.when, (const void *)object);
}

/* The case of the switch; NULL: there is none. */
static const haul__brief_target *choose(const haul__brief *brief, const haul__brief_row *row,
                                        uintptr_t object)
{
    const haul_switch *choice = &row->ruled->rule->said.type_switch;
    const int64_t value = haul__read_stored((const void *)object, &choice->field);
    size_t i;
    for (i = 0; i < choice->case_count; i++)
        if (((choice->cases[i].value ^ value) & row->ruled->rule->mask) == 0)
            return &brief->targets[row->first_target + i];
    return NULL;
}

/* Takes a row that is no whole words. 0: another row has some of these words, or there are too many
 * such rows. */
static int take_piece(const haul__brief_row *row, int is_held, haul__brief_meaning *m,
                      uint64_t claimed)
{
    if (!is_held && !row->keeps_rest)
        return 1;
    if (row->is_pointer || (claimed & row->words) != 0 || m->piece_count == HAUL__BRIEF_PIECES)
        return 0;
    if (is_held && !row->travels)
        return 1;
    m->piece[m->piece_count].offset = row->offset;
    m->piece[m->piece_count++].bytes = row->ruled->bytes;
    return 1;
}

HAUL__INLINE int read_meaning(const haul__brief *brief, uintptr_t object, haul__brief_meaning *m)
{
    uint64_t claimed = 0, rest = 0, pieces = 0;
    size_t i;
    m->words = brief->run_words;
    m->slots = brief->slot_words;
    m->count = m->piece_count = m->excluded_count = 0;
    for (i = 0; i < brief->row_count; i++) {
        const haul__brief_row *row = &brief->rows[i];
        const int is_held = holds(row, object);
        uintptr_t value;
        if (HAUL__UNLIKELY(row->ways) && is_held) {
            if (m->excluded_count == HAUL__BRIEF_PIECES)
                return 0;
            m->excluded[m->excluded_count++] = row;
        }
        if (HAUL__UNLIKELY(row->is_partial)) {
            if (!take_piece(row, is_held, m, claimed | rest | pieces))
                return 0;
            pieces |= is_held || row->keeps_rest ? row->words : 0;
            continue;
        }
        if (HAUL__UNLIKELY((pieces & row->words) != 0 && (is_held || row->keeps_rest)))
            return 0;
        if (!is_held) {
            rest |= row->keeps_rest ? row->words : 0;
            continue;
        }
        if (HAUL__UNLIKELY((claimed & row->words) != 0))
            return 0;
        claimed |= row->words;
        m->words |= row->travels ? row->words : 0;
        if (!row->is_pointer)
            continue;
        m->slots |= row->words;
        value = haul__load_word((const void *)(object + row->offset));
        if (!value)
            continue;
        if (HAUL__UNLIKELY(m->count == HAUL__BRIEF_POINTERS))
            return 0;
        m->pointer[m->count].row = row;
        m->pointer[m->count].value = value;
        m->pointer[m->count].target =
            row->ruled->rule->said.type_switch.kind == HAUL_SWITCH_KIND_NONE
                ? &brief->targets[row->first_target]
                : choose(brief, row, object);
        if (HAUL__UNLIKELY(!(value & ~row->tags) || !m->pointer[m->count].target))
            return 0;
        m->count++;
    }
    m->words |= rest & ~claimed;
    return m->words != 0;
}

HAUL__INLINE int is_usual(const haul__brief *brief, uintptr_t object, haul__brief_meaning *m)
{
    return HAUL__LIKELY((object & brief->misaligned) == 0 && object >= HAUL__LOWEST &&
                        !HAUL__TOO_HIGH(object)) &&
           read_meaning(brief, object, m);
}

int haul__brief_read(const haul__brief *brief, uintptr_t object, haul__brief_meaning *m)
{
    return is_usual(brief, object, m);
}

/* ---- Marks. */

/* The mixed block of an address, turned to that form if it is none yet. NULL: *why is HAUL__APART,
 * for it is full, or HAUL__NO_MEMORY. */
HAUL__INLINE haul__block *mixed_block(haul__map *map, uintptr_t address, int *why)
{
    const uintptr_t entry = map->flat[address >> HAUL__BLOCK_SHIFT];
    haul__block *block = haul__block_in(entry);
    if (HAUL__LIKELY((entry & HAUL__FORM_MASK) == HAUL__MIXED))
        return block;
    block = haul__map_touch(map, address);
    *why = block && block->form == HAUL__FULL ? HAUL__APART : HAUL__NO_MEMORY;
    return block && block->form != HAUL__FULL ? haul__map_turn(map, address, block, HAUL__MIXED)
                                              : NULL;
}

/* HAUL__FRESH, HAUL__KNOWN_BEFORE or HAUL__APART, as mark_inline.h has them; HAUL__NO_MEMORY. */
HAUL__INLINE int mark(haul__map *map, const haul__brief *brief, uintptr_t object,
                      const haul__brief_meaning *m)
{
    const uintptr_t last = object + brief->bytes - 1;
    const unsigned shift = haul__word_in_cell(object);
    const uint64_t low = m->words << shift, high = m->words >> 1 >> (63 - shift);
    const uint64_t low_slots = m->slots << shift, high_slots = m->slots >> 1 >> (63 - shift);
    int why = HAUL__APART;
    haul__block *const next_block = mixed_block(map, last, &why);
    haul__block *const block = next_block ? mixed_block(map, object, &why) : NULL;
    haul__cell *cell, *next;
    uint64_t *bits, *next_bits, live, next_live, found, next_found, known, differs;
    if (!block)
        return why;
    cell = haul__cell_of(block, object);
    next = haul__cell_of(next_block, last);
    bits = &haul__slots(block)[haul__cell_number(object)];
    next_bits = &haul__slots(next_block)[haul__cell_number(last)];
    live = haul__load_cell(cell);
    next_live = haul__load_cell(next);
    found = *bits;
    next_found = *next_bits;
    known = (uint64_t)0 - (uint64_t)(((live & low) | (next_live & high)) != 0);
    differs = (low & ~live) | (high & ~next_live) | ((found ^ low_slots) & low) |
              ((next_found ^ high_slots) & high);
    if (HAUL__UNLIKELY(((differs & known) | (((found & low) | (next_found & high)) & ~known)) != 0))
        return HAUL__APART;
    haul__store_cell(cell, live | low);
    *bits = found | low_slots;
    haul__store_cell(next, haul__load_cell(next) | high);
    *next_bits |= high_slots;
    return (int)(known + 1);
}

/* Marks bytes that are no whole words. *fresh becomes 1 if some are new. */
static haul_status mark_pieces(haul__discovery *d, const haul__brief_piece *piece, size_t count,
                               uintptr_t object, int *fresh)
{
    haul__marked marked = { 0, 0, 0 };
    haul_status status = HAUL_OK;
    haul__pattern pattern;
    memset(&pattern, 0, sizeof pattern);
    for (; count-- > 0 && status == HAUL_OK; piece++)
        status = haul__mark_range(d, NULL, object + piece->offset,
                                  object + piece->offset + piece->bytes, &pattern, &marked);
    *fresh |= marked.first != marked.end;
    return status;
}

/* Excludes rows that hold from their directions. */
static haul_status exclude_rows(haul__discovery *d, const haul__brief_meaning *m, uintptr_t object)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < m->excluded_count && status == HAUL_OK; i++)
        status = haul__exclude_ruled(d, object, m->excluded[i]->ruled, SIZE_MAX);
    return status;
}

haul_status haul__brief_exclude(haul__discovery *d, const haul__brief *brief, uintptr_t object,
                                const haul__brief_meaning *m)
{
    const haul_status status = exclude_rows(d, m, object);
    return status == HAUL_OK ? haul__exclude_fields(d, brief->walk, object, brief->bytes) : status;
}

/* Notes the object's hole, if it has whole granules in one page, whose holes have no masks. */
HAUL__INLINE int note_hole(const haul__block *block, uintptr_t object, size_t bytes)
{
    const haul__side *side = block->side;
    const unsigned first = haul__granule_in_block(object), shift = first % 64;
    const unsigned count = (unsigned)(bytes >> HAUL__GRANULE_SHIFT);
    const uint64_t granules = ((uint64_t)1 << count) - 1;
    const size_t page = first / HAUL__PAGE_GRANULES;
    if (!side || !side->holes || side->holes->masks[page] ||
        (object | bytes) % HAUL__GRANULE != 0 || (first + count - 1) / HAUL__PAGE_GRANULES != page)
        return 0;
    side->holes->granules[first / 64] |= granules << shift;
    if (shift + count > 64)
        side->holes->granules[first / 64 + 1] |= granules >> (64 - shift);
    return 1;
}

HAUL__INLINE int mark_hole(haul__map *map, uintptr_t object, size_t bytes)
{
    return note_hole(haul__map_find(map, object), object, bytes) ||
           haul__mark_hole(map, object, object + bytes);
}

int haul__brief_mark_hole(haul__map *map, uintptr_t object, size_t bytes)
{
    return mark_hole(map, object, bytes);
}

HAUL__HOT static haul_status mark_brief(haul__discovery *d, const haul__brief *brief,
                                        uintptr_t object, haul__brief_meaning *m, int *fresh)
{
    haul_status status = HAUL_OK;
    *fresh = HAUL__APART;
    if (HAUL__UNLIKELY(!is_usual(brief, object, m)))
        return HAUL_OK;
    *fresh = mark(d->map, brief, object, m);
    if (HAUL__UNLIKELY(*fresh < 0))
        return *fresh == HAUL__NO_MEMORY ? HAUL_ERROR_MEMORY : HAUL_OK;
    d->found->bytes += *fresh ? (size_t)haul__bits64(m->words) << HAUL__WORD_SHIFT : 0;
    if (HAUL__UNLIKELY(brief->piece_count | m->piece_count)) {
        status = mark_pieces(d, brief->pieces, brief->piece_count, object, fresh);
        if (status == HAUL_OK)
            status = mark_pieces(d, m->piece, m->piece_count, object, fresh);
    }
    if (status == HAUL_OK && m->words != brief->all && !mark_hole(d->map, object, brief->bytes))
        status = HAUL_ERROR_MEMORY;
    if (status == HAUL_OK && HAUL__UNLIKELY(m->excluded_count))
        status = exclude_rows(d, m, object);
    return status;
}

/* Of a function with clones, a shared library exports the name, so that one is static. */
haul_status haul__brief_mark(haul__discovery *d, const haul__brief *brief, uintptr_t object,
                             haul__brief_meaning *m, int *fresh)
{
    return mark_brief(d, brief, object, m, fresh);
}

haul_status haul__brief_mark_element(haul__discovery *d, uint32_t number, uintptr_t object,
                                     int *fresh)
{
    const haul_status status = haul__brief_ready(d, number);
    haul__brief_meaning m;
    *fresh = HAUL__APART;
    return status == HAUL_OK ? mark_brief(d, d->met_types[number].brief, object, &m, fresh)
                             : status;
}
