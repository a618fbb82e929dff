/* The evaluation of an object: a value for each of its ruled rows.
 *
 * Rows are taken in order of offset. A row that holds claims its bytes. Claims must not overlap, so
 * a row need be compared only with the claim that reaches furthest.
 */
#include "walk/ruled_field.h"
#include "walk/callbacks.h"
#include "walk/extent.h"
#include "walk/paths.h"

/* The row that reaches furthest, of those that hold. */
typedef struct claim {
    const haul__ruled *ruled;
    size_t end;
} claim;

/* Is this a pair's end that another row describes as a pointer? */
static int is_described_end(const claim *last, const haul__ruled *ruled)
{
    return last->ruled && haul__is_end(ruled) && last->ruled->slot.offset == ruled->slot.offset &&
           last->end == ruled->slot.offset + ruled->bytes;
}

static haul_status cut(haul__discovery *d, const haul__slot *slot, size_t bytes)
{
    return haul__refuse(d, HAUL_ERROR_GRAPH, slot,
                        "the object has %zu bytes, and ends within this field", bytes);
}

static haul_status refuse_reading(haul__discovery *d, const haul__slot *slot, size_t bytes)
{
    return haul__refuse(d, HAUL_ERROR_GRAPH, slot,
                        "the object has %zu bytes, and ends before a field that this row reads",
                        bytes);
}

static haul_status check_end(haul__discovery *d, const haul__walk *walk, size_t bytes)
{
    size_t i;
    for (i = 0; walk->size && i < walk->slot_count && walk->slots[i].offset < bytes; i++) {
        if (haul__is_lone_end(&walk->slots[i], bytes))
            continue;
        if (bytes - walk->slots[i].offset < HAUL__WORD)
            return cut(d, &walk->slots[i], bytes);
        if (haul__counts_beyond(&walk->slots[i], bytes))
            return refuse_reading(d, &walk->slots[i], bytes);
    }
    for (i = 0; walk->size && i < walk->ruled_count && walk->ruled[i].slot.offset < bytes; i++)
        if (!haul__is_lone_end(&walk->ruled[i].slot, bytes) &&
            haul__reads_beyond(&walk->ruled[i], bytes))
            return refuse_reading(d, &walk->ruled[i].slot, bytes);
    for (i = 0; walk->size && i < walk->part_count; i++)
        if (walk->parts[i].offset < bytes &&
            bytes - walk->parts[i].offset < walk->parts[i].count * walk->parts[i].stride)
            return haul__refuse(d, HAUL_ERROR_GRAPH, NULL,
                                "the object has %zu bytes, and ends within %s", bytes,
                                walk->parts[i].name);
    return HAUL_OK;
}

static haul_status refuse_both(haul__discovery *d, const haul__ruled *ruled, const claim *last)
{
    haul_status status = haul__refuse(d, HAUL_ERROR_GRAPH, &ruled->slot,
                                      "its row and the row of %s both hold, and they overlap",
                                      last->ruled->slot.name);
    haul__name_row(d, &last->ruled->slot);
    return status;
}

/* Can the row be evaluated? A row that the object's end cuts off is refused later, if it holds. */
static int lies_inside(const haul__ruled *ruled, const haul__walk *walk, size_t bytes, int strict,
                       int *must_visit)
{
    if (ruled->slot.offset >= bytes || haul__is_lone_end(&ruled->slot, bytes))
        return 0;
    if (strict || !walk->size || !haul__reads_beyond(ruled, bytes))
        return 1;
    *must_visit = 1;
    return 0;
}

static haul_status look_at(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                           size_t bytes, claim *last, haul__field_value *w)
{
    size_t end = haul__ruled_end(ruled, bytes);
    int holds;
    haul_status status;
    haul__set_callers(d, o, ruled->rule);
    status = haul__ask(d, o, bytes, ruled, &holds);
    if (status == HAUL_OK && !holds && ruled->rule->said.otherwise == HAUL_ELSE_RAW)
        w->is_rest = 1;
    if (status != HAUL_OK || !holds || is_described_end(last, ruled))
        return status;
    if (end > bytes)
        return cut(d, &ruled->slot, bytes);
    if (last->ruled && last->end > ruled->slot.offset && end > ruled->slot.offset)
        return refuse_both(d, ruled, last);
    last->ruled = ruled;
    last->end = end;
    if (ruled->kind == HAUL__RULED_POINTER) {
        if (d->recording && !d->dry_run && d->sought.pointer == o->address + ruled->slot.offset)
            return haul__refuse(d, HAUL_ERROR_STALE, &ruled->slot, "this pointer has changed");
        return haul__read_word(d, o, ruled, w);
    }
    w->what = ruled->kind == HAUL__RULED_DATA ? HAUL__IS_RAW : HAUL__IS_INSIDE;
    w->start = 0;
    return HAUL_OK;
}

/* Is this a pair's end that travels as data, because the object ends before its begin? Then the
 * pair's row counts as one that does not hold. */
static int is_rest_without_begin(const haul__ruled *ruled, size_t bytes)
{
    const haul__rule *rule = ruled->rule;
    return haul__is_lone_end(&ruled->slot, bytes) &&
           (!rule || rule->said.when.kind == HAUL_WHEN_ALWAYS ||
            rule->said.otherwise == HAUL_ELSE_RAW);
}

static haul_status look_at_all(haul__discovery *d, const haul__object *o, size_t bytes,
                               haul__field_value *words, int strict, int *must_visit)
{
    const haul__walk *walk = o->walk;
    claim last = { NULL, 0 };
    haul_status status;
    size_t i;
    for (i = 0; i < walk->ruled_count; i++) {
        words[i].what = HAUL__IS_ABSENT;
        words[i].is_rest = (uint8_t)is_rest_without_begin(&walk->ruled[i], bytes);
        if (!lies_inside(&walk->ruled[i], walk, bytes, strict, must_visit))
            continue;
        status = look_at(d, o, &walk->ruled[i], bytes, &last, &words[i]);
        if (status == HAUL_OK)
            continue;
        if (strict || status == HAUL_ERROR_MEMORY)
            return status;
        words[i].what = HAUL__IS_ABSENT;
        *must_visit = 1;
    }
    return HAUL_OK;
}

haul_status haul__evaluate(haul__discovery *d, const haul__object *o, size_t bytes, unsigned number,
                           int strict, int *must_visit)
{
    haul_status status;
    if (d->evaluation_capacity[number] < o->walk->ruled_count &&
        !haul__grow(d->allocator, &d->evaluation[number], &d->evaluation_capacity[number],
                    o->walk->ruled_count, sizeof **d->evaluation))
        return HAUL_ERROR_MEMORY;
    status = look_at_all(d, o, bytes, d->evaluation[number], strict, must_visit);
    haul__set_callers(d, o, NULL);
    return status;
}

/* ---- Objects and their sizes. */

haul__object haul__object_of(const haul__entry *entry, const haul__walk *walk, size_t index)
{
    haul__object o;
    o.address = entry->address + index * entry->stride;
    o.self = walk->is_slot ? entry->self : o.address;
    o.parent = entry->self;
    o.ancestor = &entry->ancestor;
    o.index = walk->is_slot ? index : 0;
    o.walk = walk;
    return o;
}

/* Counts a tail's elements. The tail's rule may ask for the parent or a holder. */
static haul_status count_tail(haul__discovery *d, const haul__object *o, const haul__ruled *tail,
                              size_t *count)
{
    const uintptr_t at = o->address + tail->slot.offset;
    haul_status status;
    haul__set_callers(d, o, tail->rule);
    d->exact++;
    status = haul__count_of(d, &tail->slot, 0, at, at, o->address, 0, count);
    d->exact--;
    haul__set_callers(d, o, NULL);
    return status;
}

haul_status haul__size_of(haul__discovery *d, const haul__object *o, const haul__slot *slot,
                          size_t *bytes)
{
    const haul__walk *walk = o->walk;
    const haul__ruled *tail = walk->ruled_count > 0 ? &walk->ruled[walk->ruled_count - 1] : NULL;
    haul_here here;
    haul_status status;
    size_t count = 0;
    *bytes = walk->extent;
    if (walk->size) {
        int64_t answer = 0;
        memset(&here, 0, sizeof here);
        here.self = here.target = (const void *)o->address;
        status = haul__call_back(d, slot, walk->size, &here, HAUL__ASKS_SIZE, &answer);
        if (status != HAUL_OK)
            return status;
        if (answer < 1 || (uint64_t)answer > HAUL__HIGHEST)
            return haul__refuse(d, HAUL_ERROR_GRAPH, slot, "the callback of its size answered %lld",
                                (long long)answer);
        *bytes = (size_t)answer;
        return HAUL_OK;
    }
    if (!walk->is_sized)
        return HAUL_OK;
    *bytes = tail->slot.offset;
    status = count_tail(d, o, tail, &count);
    if (status != HAUL_OK)
        return status;
    if (count == HAUL__KNOWN || haul__multiply_overflows(count, tail->slot.unit, &count) ||
        count > HAUL__HIGHEST - tail->slot.offset)
        return haul__refuse(d, HAUL_ERROR_LIMIT, &tail->slot, "its elements overflow");
    *bytes += count;
    return HAUL_OK;
}

haul_status haul__evaluate_noted(haul__discovery *d, const haul__object *o, size_t bytes)
{
    int must_visit = 0;
    haul_status status = o->walk->size ? check_end(d, o->walk, bytes) : HAUL_OK;
    return status == HAUL_OK ? haul__evaluate(d, o, bytes, HAUL__VISITED, 1, &must_visit) : status;
}

void haul__evaluations_close(haul__discovery *d)
{
    haul__release(d->allocator, d->evaluation[0],
                  d->evaluation_capacity[0] * sizeof *d->evaluation[0]);
    haul__release(d->allocator, d->evaluation[1],
                  d->evaluation_capacity[1] * sizeof *d->evaluation[1]);
}
