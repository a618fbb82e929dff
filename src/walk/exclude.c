/* Directions in the graph: which bytes get bars, and which objects are noted.
 *
 * Bars come after the marks, when something has been reached by a row with a direction, or has
 * fields that have one. That is not told by what is new: what was reached before by another row is
 * barred all the same.
 *
 * Objects whose contents depend on addresses are put on a list when they are reached, each once;
 * where there are none, there is no list.
 */
#include "walk/exclude.h"
#include "map/exclusions.h"
#include "type/elements.h"
#include "walk/extent.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/paths.h"
#include "walk/ruled_field.h"

static haul_status bar(haul__discovery *d, uintptr_t first, uintptr_t end, unsigned bars)
{
    return haul__exclude(d->map, first, end, bars) ? HAUL_OK : HAUL_ERROR_MEMORY;
}

/* ---- Elements of a type. */

/* What an element describes itself, parts left to be gone through. */
static haul_status bar_described(haul__discovery *d, const haul__walk *walk, uintptr_t element,
                                 unsigned bars)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < walk->run_count && status == HAUL_OK; i++)
        status = bar(d, element + walk->runs[i].offset,
                     element + walk->runs[i].offset + walk->runs[i].bytes, bars);
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++)
        status = bar(d, element + walk->ruled[i].slot.offset,
                     element + walk->ruled[i].slot.offset + walk->ruled[i].bytes, bars);
    return status;
}

/* `bytes`: of the only one, where it tells its size itself. */
static haul_status bar_elements(haul__discovery *d, const haul__walk *walk,
                                const haul__entry *entry, size_t bytes, unsigned bars)
{
    haul_status status = HAUL_OK;
    haul__flat flat;
    size_t at;
    if (walk->is_sized)
        return bar(d, entry->address, entry->address + bytes, bars);
    if (walk->dense && entry->stride == walk->extent)
        return bar(d, entry->address, entry->address + entry->count * entry->stride, bars);
    haul__flat_begin(&flat, walk, entry->address, entry->count, entry->stride);
    while (status == HAUL_OK && haul__flat_next(&flat, &walk, &at))
        status = bar_described(d, walk, at, bars);
    return status;
}

/* The size of an object that tells it itself. What is wrong with it is told when it is visited; it
 * has no bytes then.
 */
static haul_status size_of(haul__discovery *d, const haul__walk *walk, const haul__entry *entry,
                           size_t *bytes)
{
    const haul__object o = haul__object_of(entry, walk, 0);
    haul_status status = HAUL_OK;
    *bytes = walk->extent;
    if (!walk->is_sized)
        return HAUL_OK;
    d->dry_run++;
    status = haul__size_of(d, &o, entry->slot, bytes);
    d->dry_run--;
    if (status != HAUL_OK)
        *bytes = 0;
    return status == HAUL_ERROR_MEMORY ? status : HAUL_OK;
}

/* ---- What a row with a direction leads to. */

/* Keys of what was barred before; no type, and no shape. */
static const char keys[HAUL__BARS + 1] = { 0 };

static haul_status bar_range(haul__discovery *d, uintptr_t address, size_t bytes, unsigned bars)
{
    haul_status status;
    if (bytes >= HAUL__MEMO_BYTES && haul__memo_has(d, address, bytes, &keys[bars]))
        return HAUL_OK;
    status = bar(d, address, address + bytes, bars);
    return status == HAUL_OK && bytes >= HAUL__MEMO_BYTES
               ? haul__memo_add(d, address, bytes, &keys[bars])
               : status;
}

static haul_status bar_objects(haul__discovery *d, const haul__slot *slot, uintptr_t address,
                               size_t count, uintptr_t self, unsigned bars)
{
    const haul__walk *walk = haul__type_walk(slot->target);
    haul__entry entry;
    size_t bytes, whole = count * slot->unit;
    haul_status status;
    memset(&entry, 0, sizeof entry);
    entry.address = address;
    entry.count = count;
    entry.stride = slot->unit;
    entry.slot = slot;
    entry.self = self;
    entry.held = d->held;
    if (whole >= HAUL__MEMO_BYTES && haul__memo_has(d, address, whole, &keys[bars]))
        return HAUL_OK;
    status = size_of(d, walk, &entry, &bytes);
    if (status == HAUL_OK)
        status = bar_elements(d, walk, &entry, bytes, bars);
    return status == HAUL_OK && whole >= HAUL__MEMO_BYTES
               ? haul__memo_add(d, address, whole, &keys[bars])
               : status;
}

/* How many elements have just been followed. A string that was gone through is not gone through
 * again for it. */
static haul_status count_again(haul__discovery *d, const haul__slot *slot, unsigned level,
                               uintptr_t place, uintptr_t value, uintptr_t self, size_t index,
                               size_t *count)
{
    const haul_shape *shape = &slot->shape[level];
    size_t unit = haul__unit_of(slot, level);
    haul_status status;
    if (shape->kind == HAUL_SHAPE_SENTINEL &&
        haul__is_in_last_string(d, value, unit, haul__narrow(shape->add, unit))) {
        *count = (size_t)(d->string_end - value) / unit;
        return HAUL_OK;
    }
    d->dry_run++;
    d->exact++;
    status = haul__count_of(d, slot, level, place, value, self, index, count);
    d->exact--;
    d->dry_run--;
    return status;
}

haul_status haul__exclude_target(haul__discovery *d, const haul__slot *slot, unsigned level,
                                 uintptr_t place, uintptr_t value, uintptr_t self, size_t index)
{
    int is_last = level + 1u == slot->levels;
    unsigned bars = slot->flags & (is_last ? HAUL__BARS : HAUL__UNRETURNED);
    size_t count;
    haul_status status;
    if (!value || !bars || d->within)
        return HAUL_OK;
    status = count_again(d, slot, level, place, value, self, index, &count);
    if (status != HAUL_OK || count == 0)
        return status;
    if (is_last && slot->target)
        return bar_objects(d, slot, value, count, self, bars);
    return bar_range(d, value, count * haul__unit_of(slot, level), bars);
}

/* ---- What lies in an object. */

haul_status haul__exclude_ruled(haul__discovery *d, uintptr_t element, const haul__ruled *ruled,
                                size_t bytes)
{
    int is_here = ruled->kind != HAUL__RULED_POINTER && ruled->rule;
    unsigned bars = is_here ? haul__exclusions_of(ruled->rule->said.direction) : 0;
    size_t end = ruled->kind == HAUL__RULED_TAIL ? bytes : ruled->slot.offset + ruled->bytes;
    return bars ? bar(d, element + ruled->slot.offset, element + end, bars) : HAUL_OK;
}

static haul_status bar_fields(haul__discovery *d, const haul__walk *walk, uintptr_t element,
                              size_t bytes)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < walk->barred_count && walk->barred[i].offset < bytes && status == HAUL_OK;
         i++) {
        const haul__excluded *field = &walk->barred[i];
        size_t end = field->offset + field->bytes < bytes ? field->offset + field->bytes : bytes;
        status = bar(d, element + field->offset, element + end, field->bars);
    }
    return status;
}

/* ---- Objects whose contents depend on addresses. */

static haul_status note_dependent(haul__discovery *d, const haul__entry *entry, uintptr_t address)
{
    haul__found *found = d->found;
    void *dependents = found->dependents;
    haul__dependent *one;
    if (!haul__grow(d->allocator, &dependents, &found->dependent_capacity,
                    found->dependent_count + 1, sizeof *found->dependents))
        return HAUL_ERROR_MEMORY;
    found->dependents = dependents;
    one = &found->dependents[found->dependent_count++];
    one->address = address;
    one->type = d->kinds[entry->kind].type;
    one->order = entry->kind;
    return HAUL_OK;
}

static haul_status note_each(haul__discovery *d, const haul__walk *walk, const haul__entry *entry,
                             size_t bytes)
{
    haul_status status =
        walk->depends ? bar_elements(d, walk, entry, bytes, HAUL__UNRETURNED) : HAUL_OK;
    size_t i;
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        uintptr_t element = entry->address + i * entry->stride;
        status = bar_fields(d, walk, element, bytes);
        if (status == HAUL_OK && walk->depends)
            status = note_dependent(d, entry, element);
    }
    return status;
}

/* With the path of an element, which may not be among the recorded entries. */
static haul_status refuse(haul__discovery *d, const haul__entry *entry, size_t element,
                          const haul__walk *walk)
{
    if (d->recording && haul__push_entry(d, entry) != HAUL_OK)
        return HAUL_ERROR_MEMORY;
    if (d->recording)
        d->at_entry = d->entry_count - 1;
    d->at_element = element;
    return haul__refuse(
        d, HAUL_ERROR_UNSUPPORTED, NULL,
        "the contents of type %s depend on addresses, and it has no function that rebuilds them",
        walk->name);
}

/* Is this the object whose path is asked for? */
static int is_sought(const haul__discovery *d, const haul__entry *entry, size_t whole)
{
    return d->sought.object >= entry->address && d->sought.object - entry->address < whole;
}

haul_status haul__note_elements(haul__discovery *d, const haul__entry *entry)
{
    const haul__walk *walk = d->kinds[entry->kind].walk;
    size_t whole = entry->count * entry->stride, bytes;
    int is_memorable = walk->depends || whole >= HAUL__MEMO_BYTES;
    haul_status status;
    if (walk->depends && is_sought(d, entry, whole))
        return refuse(d, entry, (size_t)(d->sought.object - entry->address) / entry->stride, walk);
    if (d->within)
        return HAUL_OK;
    if (walk->depends && !walk->rebuild)
        return refuse(d, entry, 0, walk);
    if (is_memorable && haul__memo_has(d, entry->address, whole, &walk->barred))
        return HAUL_OK;
    status = size_of(d, walk, entry, &bytes);
    if (status == HAUL_OK)
        status = note_each(d, walk, entry, bytes);
    return status == HAUL_OK && is_memorable
               ? haul__memo_add(d, entry->address, whole, &walk->barred)
               : status;
}
