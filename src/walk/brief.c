/* Brief objects: taken from the fetch queue, and their pointers followed.
 *
 * Marks are the matter of brief_marks.c, which also says why this way is right and fast. Pointers
 * to single objects become candidates or join the queue, and short arrays wait to be marked; all
 * others take the general way.
 */
#include "walk/brief.h"

#include "map/exclusions.h"
#include "map/mixed.h"
#include "type/field.h"
#include "walk/aliases.h"
#include "walk/brief_marks.h"
#include "walk/exclude.h"
#include "walk/follow.h"
#include "walk/plain_arrays.h"
#include "walk/read_set.h"
#include "walk/ruled.h"
#include "walk/visit.h"

/* Fetches masks of bytes, holes and excluded words at an object. */
HAUL__INLINE void fetch_side(const haul__block *block, uintptr_t object)
{
    const size_t granule = haul__granule_in_block(object), page = granule / HAUL__PAGE_GRANULES;
    const size_t at = granule % HAUL__PAGE_GRANULES;
    const haul__holes *holes = block->side->holes;
    const uint16_t *masks = haul__masks(block, page);
    const uint8_t *prefix = haul__prefix(block, page);
    if (masks)
        haul__prefetch_write((uintptr_t)&masks[at]);
    if (prefix)
        haul__prefetch_write((uintptr_t)&prefix[at / 2]);
    if (holes)
        haul__prefetch_write((uintptr_t)&holes->granules[granule / 64]);
    haul__fetch_exclusions(block, object);
}

void haul__fetch_brief(const haul__discovery *d, uintptr_t object, const haul__met_type *met)
{
    const uintptr_t entry = d->map->flat[object >> HAUL__BLOCK_SHIFT];
    const haul__block *block = haul__block_in(entry);
    haul__prefetch(object + met->first_byte);
    haul__prefetch(object + met->last_byte);
    if ((entry & HAUL__FORM_MASK) != HAUL__MIXED)
        return;
    haul__prefetch_write((uintptr_t)&block->cells[haul__cell_number(object)]);
    haul__prefetch_write((uintptr_t)&haul__slots(block)[haul__cell_number(object)]);
    if (block->side)
        fetch_side(block, object);
}

static haul_status note_read(void *d, uintptr_t address, unsigned bytes, int64_t value)
{
    return haul__note_read(d, address, bytes, value);
}

/* ---- Pointers. */

/* The pointer of a row, for the general way. */
static haul_status follow_row(haul__discovery *d, const haul__object *o, const haul__brief_row *row,
                              const haul__brief_target *target, uintptr_t value)
{
    haul__field_value w;
    haul__pointer p;
    memset(&w, 0, sizeof w);
    w.what = HAUL__IS_POINTER;
    w.is_alias = row->is_alias;
    w.slot = target->slot;
    w.at = o->address + row->offset;
    w.value = value;
    w.address = w.start = value & ~row->tags;
    if (w.is_alias)
        return haul__note_alias(d, &w);
    p = haul__ruled_pointer(d, o, row->ruled, &w);
    return haul__follow(d, &p);
}

/* Follows a pointer to a short array or a string. *done 0: it takes the general way. */
static haul_status follow_array(haul__discovery *d, const haul__plain_array *array, uintptr_t value,
                                uintptr_t object, int *done)
{
    if (!haul__reads_fit(d, array->field_count))
        return HAUL_ERROR_MEMORY;
    *done = haul__follow_plain_array(d, array, value, object);
    return *done && d->pending_count < HAUL__PENDING ? HAUL_OK : haul__mark_pending(d);
}

/* Counts a pointer that takes the general way because of its row. No function is asked about
 * NULL. */
static void count_general(const haul__brief_target *target, uintptr_t value)
{
    haul__plain_array *array = target->array;
    const int is_asked = array->is_called || array->why == HAUL__WHY_FUNCTION;
    array->general += is_asked ? value != 0 : array->why != 0;
}

/* Follows a pointer. *done 0: it takes the general way. */
HAUL__INLINE haul_status follow_one(haul__discovery *d, haul__candidates *c,
                                    const haul__brief_target *target, uintptr_t value,
                                    uintptr_t object, int *done)
{
    *done = target->how != HAUL__TO_ANY;
    if (HAUL__UNLIKELY(target->ways) && target->how <= HAUL__TO_BRIEF && value) {
        haul_status status;
        *done = !HAUL__TOO_HIGH(value);
        status = *done ? haul__exclude_later(d, value, HAUL__ENTRY_TYPE(target->tag), target->ways)
                       : HAUL_OK;
        if (status != HAUL_OK || !*done)
            return status;
    }
    if (target->how == HAUL__TO_BRIEF)
        return value ? haul__queue_brief(d, value, HAUL__ENTRY_TYPE(target->tag)) : HAUL_OK;
    if (HAUL__UNLIKELY(target->how == HAUL__TO_ARRAY))
        return follow_array(d, target->array, value, object, done);
    if (target->how != HAUL__TO_SIMPLE)
        return HAUL_OK;
    if (HAUL__TOO_HIGH(value))
        return haul__reach_one(d, value, HAUL__ENTRY_TYPE(target->tag));
    haul__collect(c, d->map->flat, value, target->tag, target->near_starts);
    return HAUL_OK;
}

/* Notes what the rules of a new object have read, and follows its pointers. */
HAUL__INLINE haul_status follow_all(haul__discovery *d, haul__candidates *c, uintptr_t object,
                                    uint32_t number, const haul__brief_meaning *m)
{
    const haul__brief *brief = d->met_types[number].brief;
    const haul__object o = haul__single_object(object, d->met_types[number].walk);
    haul_status status;
    size_t i;
    status = haul__brief_note(brief, object, m, note_read, d);
    for (i = 0; i < m->count && status == HAUL_OK; i++) {
        const haul__brief_row *row = m->pointer[i].row;
        const haul__brief_target *target = m->pointer[i].target;
        const uintptr_t value = m->pointer[i].value;
        int is_followed = 0;
        if (!row->is_alias)
            status = follow_one(d, c, target, value & ~row->tags, object, &is_followed);
        if (status != HAUL_OK || is_followed)
            continue;
        if (!row->is_alias)
            count_general(target, value);
        status = follow_row(d, &o, row, target, value);
    }
    for (i = 0; i < brief->slot_count && status == HAUL_OK; i++) {
        const haul__brief_target *target = &brief->slots[i];
        const uintptr_t value = haul__load_word((const void *)(object + target->slot->offset));
        int is_followed;
        status = follow_one(d, c, target, value, object, &is_followed);
        if (status != HAUL_OK || is_followed)
            continue;
        count_general(target, value);
        status = haul__visit_slot(d, &o, target->slot);
    }
    return status;
}

HAUL__HOT static haul_status take_brief(haul__discovery *d, haul__candidates *c, uintptr_t object,
                                        uint32_t number, int *done)
{
    const haul__brief *brief = d->met_types[number].brief;
    haul__brief_meaning m;
    int fresh;
    const haul_status status = haul__brief_mark(d, brief, object, &m, &fresh);
    *done = fresh >= 0;
    if (status != HAUL_OK || fresh <= 0)
        return status;
    d->found->objects++;
    return follow_all(d, c, object, number, &m);
}

haul_status haul__take_brief(haul__discovery *d, haul__candidates *c, uintptr_t object,
                             uint32_t number, int *done)
{
    const haul_status status = haul__brief_ready(d, number);
    *done = 0;
    return status == HAUL_OK ? take_brief(d, c, object, number, done) : status;
}

haul_status haul__visit_brief(haul__discovery *d, haul__candidates *c, uintptr_t object,
                              uint32_t number, int *done)
{
    const haul_status status = haul__brief_ready(d, number);
    haul__brief_meaning m;
    *done = status == HAUL_OK && haul__brief_read(d->met_types[number].brief, object, &m);
    return *done ? follow_all(d, c, object, number, &m) : status;
}
