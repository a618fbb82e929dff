/* Holders: the objects that something was found through, for the rules that ask for one of them.
 *
 * The slow obvious version: each entry of the worklist knows the one that it was found from, and a
 * rule that names a type goes back along these until it comes to an object of that type. That would
 * keep every entry, and walk a list of n nodes n times n.
 *
 * But a rule asks for the nearest object of a type only, and few types are asked for. So an entry
 * takes along one object for each of these that its way has come by, the nearest: nearly always
 * one. That one stands in the entry, the others in a list that is only added to. A holder that
 * takes over from one of its own type takes that one's place, so that an entry never has more of
 * them than there are such types, however deep the graph. Objects take part in this only if their
 * type needs to know or holds itself (type/holders.c); all others are visited with nobody.
 *
 * An object is looked at once, for those that it was found through first. In checked mode it is
 * visited once more for each other set of them, if some rule that it leads to asks, and what a
 * callback answers must be what it answered first. Where little is shared that costs little; where
 * n holders share all, n times the time. "Through the same ones before" is asked by a sum over
 * them: two sets that had the same sum would be taken for one, which a checker can live with.
 */
#include "walk/ancestors.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/ruled_field.h"

static uintptr_t nearest(const haul__discovery *d, const haul__held *held, const haul_type *type)
{
    while (held->type != type && held->next)
        held = &d->around[held->next - 1];
    return held->type == type ? held->holder : 0;
}

haul__asked haul__asked_of(const haul__discovery *d, const haul__object *o, const haul__rule *rule)
{
    haul__asked asked = { 0, 0, NULL };
    if (!rule)
        return asked;
    asked.parent = rule->said.with_parent ? o->parent : 0;
    asked.type = rule->holder;
    if (asked.type)
        asked.holder =
            o->walk == haul__type_walk(asked.type) ? o->address : nearest(d, o->held, asked.type);
    return asked;
}

/* ---- The way. */

/* Many objects in a row are held by the same. */
static int put_around(haul__discovery *d, const haul__held *one, size_t *place)
{
    const haul__held *last = d->around_count ? &d->around[d->around_count - 1] : NULL;
    void *around = d->around;
    if (!last || last->holder != one->holder || last->type != one->type ||
        last->next != one->next) {
        if (!haul__grow(d->allocator, &around, &d->around_capacity, d->around_count + 1,
                        sizeof *d->around))
            return 0;
        d->around = around;
        d->around[d->around_count++] = *one;
    }
    *place = d->around_count;
    return 1;
}

/* All but that of a type, put down again. */
static int leave_out(haul__discovery *d, haul__held at, const haul_type *type, size_t *place)
{
    size_t next;
    *place = 0;
    for (;; at = d->around[next - 1]) {
        next = at.next;
        at.next = *place;
        if (at.type != type && !put_around(d, &at, place))
            return 0;
        if (!next)
            return 1;
    }
}

static haul_status take_over(haul__discovery *d, uintptr_t element, const haul_type *type)
{
    haul__held now = { 0, NULL, 0 };
    int done = 1;
    now.holder = element;
    now.type = type;
    if (d->held.type == type)
        now.next = d->held.next;
    else if (nearest(d, &d->held, type))
        done = leave_out(d, d->held, type, &now.next);
    else if (d->held.holder)
        done = put_around(d, &d->held, &now.next);
    d->held = now;
    return done ? HAUL_OK : HAUL_ERROR_MEMORY;
}

haul_status haul__enter(haul__discovery *d, const haul__entry *entry, size_t element)
{
    const haul__met_type *kind = &d->kinds[entry->kind];
    haul__leave(d);
    if (kind->walk->needs)
        d->held = entry->held;
    return kind->walk->holds ? take_over(d, entry->address + element * entry->stride, kind->type)
                             : HAUL_OK;
}

void haul__leave(haul__discovery *d)
{
    memset(&d->held, 0, sizeof d->held);
    memset(&d->asked, 0, sizeof d->asked);
}

/* ---- Checked mode. */

static uint64_t bit_of(const haul_type *type)
{
    return type ? haul__type_walk(type)->holds : 0;
}

/* Of those that are needed, in whatever order they come. */
static size_t sum_of(const haul__discovery *d, const haul__held *held, uint64_t needs)
{
    uint64_t sum = 0;
    for (;; held = &d->around[held->next - 1]) {
        if (bit_of(held->type) & needs)
            sum += ((uint64_t)held->holder ^ (uint64_t)(uintptr_t)held->type << 20) *
                   UINT64_C(0x9e3779b97f4a7c15);
        if (!held->next)
            return (size_t)(sum ^ sum >> 32);
    }
}

/* `with` and `ever`: keys of the memo. */
static haul_status meet_one(haul__discovery *d, uintptr_t address, size_t sum, const void *with,
                            const void *ever, int *is_again)
{
    haul_status status;
    if (haul__memo_has(d, address, sum, with))
        return HAUL_OK;
    status = haul__memo_add(d, address, sum, with);
    if (haul__memo_has(d, address, 0, ever))
        *is_again = 1;
    else if (status == HAUL_OK)
        status = haul__memo_add(d, address, 0, ever);
    return status;
}

static haul_status meet_pointers(haul__discovery *d, const haul__entry *entry, int *is_again)
{
    const haul_shape *shape = &entry->slot->shape[entry->level];
    const haul__walk *target = entry->slot->target ? haul__type_walk(entry->slot->target) : NULL;
    const uint64_t needs = (target ? target->needs : 0) | bit_of(entry->asked.type);
    if (!needs)
        return HAUL_OK;
    return meet_one(d, entry->address, sum_of(d, &entry->held, needs), &shape->multiply,
                    &shape->add, is_again);
}

haul_status haul__meet_held(haul__discovery *d, const haul__entry *entry, int *is_again)
{
    const haul__walk *walk = d->kinds[entry->kind].walk;
    haul_status status = HAUL_OK;
    size_t sum, i;
    if (entry->what == HAUL__POINTERS)
        return meet_pointers(d, entry, is_again);
    sum = sum_of(d, &entry->held, walk->needs);
    for (i = 0; i < entry->count && status == HAUL_OK; i++)
        status = meet_one(d, entry->address + i * entry->stride, sum, &walk->needs, &walk->holds,
                          is_again);
    return status;
}

void haul__ancestors_close(haul__discovery *d)
{
    haul__release(d->allocator, d->around, d->around_capacity * sizeof *d->around);
}
