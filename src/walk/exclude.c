/* Exclusions: bytes that do not travel in one direction, because their row says so.
 *
 * Bytes are excluded whether or not they were new: another row may have reached them before. An
 * exclusion may come before the mark, but the mark of a simple object chooses the form of a new
 * block, which an exclusion must not spoil. So single objects that in-line pointers lead to wait in
 * a ring until they have been marked. Meanwhile their excluded words are fetched: else each would
 * be a miss of the cache.
 *
 * Objects whose contents depend on addresses are excluded from the way back. Each joins a list when
 * it is first reached, so that its function can rebuild it.
 */
#include "walk/exclude.h"
#include "map/exclusions.h"
#include "type/elements.h"
#include "walk/extent.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/paths.h"
#include "walk/ruled_field.h"

static haul_status exclude(haul__discovery *d, uintptr_t first, uintptr_t end, unsigned ways)
{
    return haul__exclude(d->map, first, end, ways) ? HAUL_OK : HAUL_ERROR_MEMORY;
}

/* ---- Elements of a type. */

/* Excludes the plain bytes of an object and its rows with rules. */
static haul_status exclude_own(haul__discovery *d, const haul__walk *walk, uintptr_t at,
                               unsigned ways)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < walk->run_count && status == HAUL_OK; i++)
        status = exclude(d, at + walk->runs[i].offset,
                         at + walk->runs[i].offset + walk->runs[i].bytes, ways);
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++)
        status = exclude(d, at + walk->ruled[i].slot.offset,
                         at + walk->ruled[i].slot.offset + walk->ruled[i].bytes, ways);
    return status;
}

haul_status haul__exclude_object(haul__discovery *d, const haul__walk *walk, uintptr_t object,
                                 unsigned ways)
{
    return haul__is_dense(walk) ? exclude(d, object, object + walk->extent, ways)
                                : exclude_own(d, walk, object, ways);
}

/* `bytes`: the size of the only element, if its type is_sized. */
static haul_status exclude_elements(haul__discovery *d, const haul__walk *walk,
                                    const haul__entry *entry, size_t bytes, unsigned ways)
{
    haul_status status = HAUL_OK;
    haul__flat flat;
    size_t at;
    if (haul__is_sized(walk))
        return exclude(d, entry->address, entry->address + bytes, ways);
    if (haul__is_dense(walk) && entry->stride == walk->extent)
        return exclude(d, entry->address, entry->address + entry->count * entry->stride, ways);
    haul__flat_begin(&flat, walk, entry->address, entry->count, entry->stride);
    while (status == HAUL_OK && haul__flat_next(&flat, &walk, &at))
        status = exclude_own(d, walk, at, ways);
    return status;
}

/* The size of an element; 0: there is an error, which the visit reports. */
static haul_status size_of(haul__discovery *d, const haul__walk *walk, const haul__entry *entry,
                           size_t *bytes)
{
    haul__object o = haul__object_of(entry, walk, 0, HAUL__DRY);
    haul_status status;
    *bytes = walk->extent;
    if (!haul__is_sized(walk))
        return HAUL_OK;
    status = haul__find_size(d, &o, entry->slot);
    *bytes = status == HAUL_OK ? o.bytes : 0;
    return status == HAUL_ERROR_MEMORY ? status : HAUL_OK;
}

/* ---- Targets of pointers with a direction. */

haul_status haul__exclude_target(haul__discovery *d, const haul__pointer *p, size_t count,
                                 unsigned ways)
{
    const haul_type *target = haul__is_last_level(p) ? p->slot->target : NULL;
    const size_t unit = haul__unit_of(p->slot, p->level), whole = count * unit;
    haul_status status;
    if (whole >= HAUL__MEMO_BYTES &&
        haul__memo_has(d, HAUL__MEMO_EXCLUDED + ways, p->value, whole, target))
        return HAUL_OK;
    if (target) {
        const haul__walk *walk = haul__type_walk(target);
        haul__entry entry;
        size_t bytes;
        memset(&entry, 0, sizeof entry);
        entry.address = p->value;
        entry.count = count;
        entry.stride = unit;
        entry.slot = p->slot;
        entry.self = p->self;
        if (p->ancestor)
            entry.ancestor = *p->ancestor;
        status = size_of(d, walk, &entry, &bytes);
        if (status == HAUL_OK)
            status = exclude_elements(d, walk, &entry, bytes, ways);
    } else {
        status = exclude(d, p->value, p->value + whole, ways);
    }
    return status == HAUL_OK && whole >= HAUL__MEMO_BYTES
               ? haul__memo_add(d, HAUL__MEMO_EXCLUDED + ways, p->value, whole, target)
               : status;
}

#define WORDS_AHEAD 16u

static haul_status exclude_first(haul__discovery *d)
{
    const haul__barred *first = &d->barred[d->barred_first];
    d->barred_first = (d->barred_first + 1) % HAUL__BARRED;
    d->barred_count--;
    return haul__exclude_object(d, d->met_types[first->number].walk, first->object, first->ways);
}

haul_status haul__exclude_later(haul__discovery *d, uintptr_t object, uint32_t number,
                                unsigned ways)
{
    haul_status status = HAUL_OK;
    const haul__block *block;
    haul__barred *last;
    uintptr_t next;
    if (!d->barred)
        d->barred = haul__allocate_zeroed(d->allocator, HAUL__BARRED * sizeof *d->barred);
    if (!d->barred)
        return HAUL_ERROR_MEMORY;
    if (d->barred_count == HAUL__BARRED)
        status = exclude_first(d);
    next = d->barred[(d->barred_first + WORDS_AHEAD) % HAUL__BARRED].object;
    block = haul__map_find(d->map, next);
    if (block)
        haul__fetch_exclusions(block, next);
    last = &d->barred[(d->barred_first + d->barred_count++) % HAUL__BARRED];
    last->object = object;
    last->number = (uint16_t)number;
    last->ways = (uint8_t)ways;
    return status;
}

haul_status haul__exclude_waiting(haul__discovery *d)
{
    haul_status status = HAUL_OK;
    while (d->barred_count && status == HAUL_OK)
        status = exclude_first(d);
    return status;
}

void haul__exclude_close(haul__discovery *d)
{
    haul__release(d->allocator, d->barred, d->barred ? HAUL__BARRED * sizeof *d->barred : 0);
}

/* ---- Fields of an object. */

haul_status haul__exclude_ruled(haul__discovery *d, uintptr_t element, const haul__ruled *ruled,
                                size_t bytes)
{
    int is_here = ruled->kind != HAUL__RULED_POINTER && ruled->rule;
    unsigned ways = is_here ? haul__exclusions_of(ruled->rule->said.transfer) : 0;
    size_t end = ruled->kind == HAUL__RULED_TAIL ? bytes : ruled->slot.offset + ruled->bytes;
    return ways ? exclude(d, element + ruled->slot.offset, element + end, ways) : HAUL_OK;
}

haul_status haul__exclude_fields(haul__discovery *d, const haul__walk *walk, uintptr_t element,
                                 size_t bytes)
{
    haul_status status = HAUL_OK;
    size_t at;
    for (at = 0;
         at < walk->excluded_count && walk->excluded[at].offset < bytes && status == HAUL_OK;
         at++) {
        const haul__excluded *field = &walk->excluded[at];
        const size_t end = field->offset + field->bytes;
        status =
            exclude(d, element + field->offset, element + (end < bytes ? end : bytes), field->bars);
    }
    return status;
}

/* ---- Objects whose contents depend on addresses. */

/* Excludes the fields of each element that have a direction, and lists those that must be rebuilt.
 */
static haul_status note_contents(haul__discovery *d, const haul__walk *walk,
                                 const haul__entry *entry, size_t bytes)
{
    haul__found *found = d->found;
    haul_status status =
        walk->depends ? exclude_elements(d, walk, entry, bytes, HAUL__UNRETURNED) : HAUL_OK;
    size_t i;
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        const uintptr_t element = entry->address + i * entry->stride;
        status = haul__exclude_fields(d, walk, element, bytes);
        if (walk->depends && status == HAUL_OK) {
            haul__dependent *one;
            if (!haul__grow(d->allocator, &found->dependents, &found->dependent_capacity,
                            found->dependent_count + 1, sizeof *found->dependents))
                return HAUL_ERROR_MEMORY;
            one = &found->dependents[found->dependent_count++];
            one->address = element;
            one->type = d->met_types[entry->met_type].type;
            one->order = entry->met_type;
        }
    }
    return status;
}

/* The error, with the path of an element. Its entry may not be recorded yet. */
static haul_status refuse(haul__discovery *d, haul_status status, const haul__entry *entry,
                          size_t element, const haul__walk *walk)
{
    if (d->recording && haul__push_entry(d, entry) != HAUL_OK)
        return HAUL_ERROR_MEMORY;
    if (d->recording)
        d->at_entry = d->entries.count - 1;
    d->at_element = element;
    return haul__refuse(
        d, status, NULL,
        "the contents of type %s depend on addresses, and it has no function that rebuilds them",
        walk->name);
}

haul_status haul__note_elements(haul__discovery *d, const haul__entry *entry)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    size_t whole = entry->count * entry->stride, bytes;
    int is_memorable = walk->depends || whole >= HAUL__MEMO_BYTES;
    haul_status status;
    if (walk->depends && d->sought.object >= entry->address &&
        d->sought.object - entry->address < whole)
        return refuse(d, HAUL_ERROR_STALE, entry,
                      (size_t)(d->sought.object - entry->address) / entry->stride, walk);
    if (d->within)
        return HAUL_OK;
    if (walk->depends && !walk->rebuild)
        return refuse(d, HAUL_ERROR_UNSUPPORTED, entry, 0, walk);
    if (is_memorable && haul__memo_has(d, HAUL__MEMO_CONTENTS, entry->address, whole, walk))
        return HAUL_OK;
    status = size_of(d, walk, entry, &bytes);
    if (status == HAUL_OK)
        status = note_contents(d, walk, entry, bytes);
    return status == HAUL_OK && is_memorable
               ? haul__memo_add(d, HAUL__MEMO_CONTENTS, entry->address, whole, walk)
               : status;
}
