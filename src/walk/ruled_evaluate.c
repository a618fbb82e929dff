/* The evaluation of an object: a value for each of its ruled rows.
 *
 * Rows are taken in order of offset. A row that holds claims its bytes. Claims must not overlap, so
 * a row need be compared only with the claim that reaches furthest.
 */
#include "walk/ruled_field.h"
#include "walk/callbacks.h"
#include "walk/extent.h"
#include "walk/paths.h"
#include "walk/readable.h"

/* The row that reaches furthest, of those that hold. */
typedef struct claim {
    const haul__ruled *ruled;
    size_t end;
} claim;

haul_status haul__refuse_cut(haul__discovery *d, const haul__slot *slot, size_t bytes)
{
    return haul__refuse(d, HAUL_ERROR_GRAPH, slot,
                        "the object has %zu bytes, and ends within this field", bytes);
}

haul_status haul__refuse_reading(haul__discovery *d, const haul__slot *slot, size_t bytes)
{
    return haul__refuse(
        d, HAUL_ERROR_GRAPH, slot,
        "the object has %zu bytes, and ends before an integer that this field reads", bytes);
}

static haul_status check_end(haul__discovery *d, const haul__walk *walk, size_t bytes)
{
    size_t i;
    if (!walk->size)
        return HAUL_OK;
    for (i = 0; i < walk->slot_count && walk->slots[i].offset < bytes; i++) {
        if (haul__is_lone_end(&walk->slots[i], bytes))
            continue;
        if (bytes - walk->slots[i].offset < HAUL__WORD)
            return haul__refuse_cut(d, &walk->slots[i], bytes);
        if (haul__counts_beyond(&walk->slots[i], bytes))
            return haul__refuse_reading(d, &walk->slots[i], bytes);
    }
    for (i = 0; i < walk->ruled_count && walk->ruled[i].slot.offset < bytes; i++)
        if (!haul__is_lone_end(&walk->ruled[i].slot, bytes) &&
            haul__reads_beyond(&walk->ruled[i], bytes))
            return haul__refuse_reading(d, &walk->ruled[i].slot, bytes);
    for (i = 0; i < walk->part_count; i++)
        if (walk->parts[i].offset < bytes &&
            bytes - walk->parts[i].offset < walk->parts[i].count * walk->parts[i].stride)
            return haul__refuse(d, HAUL_ERROR_GRAPH, NULL,
                                "the object has %zu bytes, and ends within %s", bytes,
                                walk->parts[i].name);
    return HAUL_OK;
}

static haul_status look_at(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                           claim *last, haul__field_value *w)
{
    size_t end = haul__ruled_end(ruled, o->bytes);
    int holds;
    haul_status status = haul__ask(d, o, ruled, &holds);
    if (status == HAUL_OK && !holds && ruled->rule->said.else_raw)
        w->is_rest = 1;
    if (status != HAUL_OK || !holds)
        return status;
    if (last->ruled && haul__is_end(ruled) && last->ruled->slot.offset == ruled->slot.offset &&
        last->end == ruled->slot.offset + ruled->bytes)
        return HAUL_OK; /* a pair's end that another row describes as a pointer */
    if (end > o->bytes)
        return haul__refuse_cut(d, &ruled->slot, o->bytes);
    if (last->ruled && last->end > ruled->slot.offset && end > ruled->slot.offset) {
        status =
            haul__refuse(d, HAUL_ERROR_GRAPH, &ruled->slot,
                         "it and field %s both hold, and they overlap", last->ruled->slot.name);
        haul__name_row(d, &last->ruled->slot);
        return status;
    }
    last->ruled = ruled;
    last->end = end;
    if (ruled->kind == HAUL__RULED_POINTER) {
        /* a dry run, too, stops here: what the pointer leads to now is not described */
        if (d->recording && d->sought.pointer == o->address + ruled->slot.offset)
            return haul__refuse(d, HAUL_ERROR_STALE, &ruled->slot, "this pointer has changed");
        return haul__read_word(d, o, ruled, w);
    }
    if (ruled->kind != HAUL__RULED_DATA)
        w->what = HAUL__IS_INSIDE;
    else
        w->what = ruled->rule->said.kind == HAUL_FIELD_SKIP ? HAUL__IS_LEFT : HAUL__IS_RAW;
    w->start = 0;
    return HAUL_OK;
}

haul_status haul__evaluate(haul__discovery *d, const haul__object *o, int *must_visit)
{
    const haul__walk *walk = o->walk;
    const unsigned number = o->mode & HAUL__DRY;
    haul_status status = number ? HAUL_OK : check_end(d, walk, o->bytes);
    claim last = { NULL, 0 };
    int is_left;
    size_t i;
    if (status == HAUL_OK &&
        !haul__grow(d->allocator, &d->evaluation[number], &d->evaluation_capacity[number],
                    walk->ruled_count, sizeof **d->evaluation))
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++) {
        const haul__ruled *ruled = &walk->ruled[i];
        haul__field_value *w = &d->evaluation[number][i];
        const haul_field *said = ruled->rule ? &ruled->rule->said : NULL;
        const int is_lone_end = haul__is_lone_end(&ruled->slot, o->bytes);
        w->what = HAUL__IS_ABSENT;
        /* a pair's end without its begin travels as data, as if the pair's field did not hold */
        w->is_rest =
            is_lone_end && (!said || said->when.kind == HAUL_WHEN_KIND_ALWAYS || said->else_raw);
        if (ruled->slot.offset >= o->bytes || is_lone_end)
            continue;
        /* the visit refuses a row that the object's end cuts off, if the row holds */
        is_left = number && walk->size && haul__reads_beyond(ruled, o->bytes);
        if (!is_left) {
            status = look_at(d, o, ruled, &last, w);
            is_left = status != HAUL_OK && status != HAUL_ERROR_MEMORY && number;
        }
        if (is_left) {
            status = HAUL_OK;
            w->what = HAUL__IS_ABSENT;
            *must_visit = 1;
        }
    }
    return status;
}

/* ---- Objects and their sizes. */

haul__object haul__object_of(const haul__entry *entry, const haul__walk *walk, size_t index,
                             unsigned mode)
{
    haul__object o;
    o.address = entry->address + index * entry->stride;
    o.self = walk->is_slot ? entry->self : o.address;
    o.parent = entry->self;
    o.ancestor = &entry->ancestor;
    o.index = walk->is_slot ? index : 0;
    o.walk = walk;
    o.bytes = haul__is_ruled(walk) ? walk->extent : SIZE_MAX;
    o.mode = mode;
    return o;
}

/* In a changed graph the size may be wrong. */
static haul_status check_known(haul__discovery *d, const haul__object *o, const haul__slot *slot)
{
    size_t known;
    haul_status status;
    if (!d->changed)
        return HAUL_OK;
    known = haul__known_bytes(d, o->address, o->bytes, HAUL__DESCRIBED);
    status = haul__spend(d, known);
    return status != HAUL_OK || known == o->bytes ? status : haul__refuse_unreadable(d, slot);
}

/* The size is answered by the type's function, or the object ends where its tail does. The tail's
 * rule may ask for an ancestor. */
haul_status haul__find_size(haul__discovery *d, haul__object *o, const haul__slot *slot)
{
    const haul__ruled *tail;
    haul__pointer p;
    size_t count = 0;
    haul_status status;
    if (o->walk->size) {
        haul__asked asked;
        int64_t answer = 0;
        memset(&asked, 0, sizeof asked);
        asked.question = HAUL__ASKS_SIZE;
        asked.function = o->walk->size;
        asked.slot = slot;
        asked.here.self = asked.here.target = (const void *)o->address;
        status = haul__call_back(d, &asked, o->mode, &answer);
        if (status == HAUL_OK && (answer < 1 || (uint64_t)answer > HAUL__HIGHEST))
            return haul__refuse(d, HAUL_ERROR_GRAPH, slot, "the callback of its size answered %lld",
                                (long long)answer);
        if (status != HAUL_OK)
            return status;
        o->bytes = (size_t)answer;
        return check_known(d, o, slot);
    }
    if (!haul__is_sized(o->walk))
        return HAUL_OK;
    tail = &o->walk->ruled[o->walk->ruled_count - 1];
    p.slot = &tail->slot;
    p.level = 0;
    p.place = p.value = o->address + tail->slot.offset;
    p.self = o->address;
    p.index = 0;
    p.line = 0;
    p.by_rule = 0;
    p.nearest = haul__nearest_of(d, o, tail->rule);
    p.ancestor = o->ancestor;
    status = haul__count_of(d, &p, o->mode | HAUL__EXACT, &count);
    if (status != HAUL_OK)
        return status;
    if (count == HAUL__KNOWN || haul__multiply_overflows(count, tail->slot.unit, &count) ||
        count > HAUL__HIGHEST - tail->slot.offset)
        return haul__refuse(d, HAUL_ERROR_LIMIT, &tail->slot, "its elements overflow");
    o->bytes = tail->slot.offset + count;
    return check_known(d, o, &tail->slot);
}

void haul__evaluations_close(haul__discovery *d)
{
    haul__release(d->allocator, d->evaluation[0],
                  d->evaluation_capacity[0] * sizeof *d->evaluation[0]);
    haul__release(d->allocator, d->evaluation[1],
                  d->evaluation_capacity[1] * sizeof *d->evaluation[1]);
}
