/* Ancestors: the objects on the path to an object. A rule asks for the nearest one of a type, or
 * for the parent, the nearest of any type. The parent stands in each entry.
 *
 * The slow obvious version: each worklist entry links to the entry that it was found from. A rule
 * that names a type follows these links to the nearest object of that type. Every entry would have
 * to stay, and a list of n nodes would take n * n steps.
 *
 * But rules ask only for the nearest object of a type, and they name few types. So an entry has one
 * ancestor for each named type on its path: nearly always one. The first stands in the entry, the
 * others in a list that only grows. A new ancestor replaces the one of its type, so an entry has at
 * most one ancestor for each type that rules name, however deep the graph. Commit finds the types
 * that neither need ancestors nor are asked for; their objects are visited without ancestors.
 *
 * An object is visited once, with the ancestors of the first path to it. Checked mode visits it
 * once more for each other set of ancestors, if its rules, or rules behind it, ask for one of them;
 * each callback must then repeat its first answer. If n ancestors share a graph, this takes n times
 * as long. A set is known by the sum of its members, so checked mode may take two sets for one.
 */
#include "walk/ancestors.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/ruled_field.h"

static uintptr_t find_ancestor(const haul__discovery *d, const haul__ancestor *ancestor,
                               const haul_type *type)
{
    while (ancestor->type != type && ancestor->next)
        ancestor = &d->ancestors.at[ancestor->next - 1];
    return ancestor->type == type ? ancestor->object : 0;
}

haul__nearest haul__nearest_of(const haul__discovery *d, const haul__object *o,
                               const haul__rule *rule)
{
    haul__nearest nearest = { 0, NULL };
    if (HAUL__LIKELY(!o->walk->is_wide) || !rule)
        return nearest;
    nearest.type = rule->ancestor;
    if (haul__asks_parent(rule))
        nearest.object = o->parent;
    else if (nearest.type)
        nearest.object = o->walk == haul__type_walk(nearest.type)
                             ? o->address
                             : find_ancestor(d, o->ancestor, nearest.type);
    return nearest;
}

/* ---- Inheritance. */

/* Adds an ancestor to the list. Many objects in a row have the same ancestors, so the last one is
 * reused if it is equal. *place: 1 + its place. */
static int list_ancestor(haul__discovery *d, const haul__ancestor *one, size_t *place)
{
    haul__ancestor *last = d->ancestors.count ? &d->ancestors.at[d->ancestors.count - 1] : NULL;
    if (!last || last->object != one->object || last->type != one->type ||
        last->next != one->next) {
        last = HAUL__LIST_ADD(d->allocator, &d->ancestors);
        if (!last)
            return 0;
        *last = *one;
    }
    *place = d->ancestors.count;
    return 1;
}

/* Copies a list, except for the ancestor of one type. */
static int list_others(haul__discovery *d, haul__ancestor at, const haul_type *type, size_t *place)
{
    size_t next;
    *place = 0;
    for (;; at = d->ancestors.at[next - 1]) {
        next = at.next;
        at.next = *place;
        if (at.type != type && !list_ancestor(d, &at, place))
            return 0;
        if (!next)
            return 1;
    }
}

haul_status haul__inherit(haul__discovery *d, const haul__entry *entry, size_t element,
                          haul__ancestor *inherited)
{
    const haul__met_type *met = &d->met_types[entry->met_type];
    const haul__ancestor none = { 0, NULL, 0 }, old = met->walk->needs ? entry->ancestor : none;
    int done = 1;
    *inherited = old;
    if (!met->walk->holds)
        return HAUL_OK;
    inherited->object = entry->address + element * entry->stride;
    inherited->type = met->type;
    inherited->next = 0;
    if (old.type == met->type)
        inherited->next = old.next;
    else if (find_ancestor(d, &old, met->type))
        done = list_others(d, old, met->type, &inherited->next);
    else if (old.object)
        done = list_ancestor(d, &old, &inherited->next);
    return done ? HAUL_OK : HAUL_ERROR_MEMORY;
}

/* ---- Checked mode. */

static uint64_t bit_of(const haul_type *type)
{
    return type ? haul__type_walk(type)->holds : 0;
}

/* The sum of the needed ancestors; their order does not matter. */
static size_t sum_of(const haul__discovery *d, const haul__ancestor *ancestor, uint64_t needs)
{
    uint64_t sum = 0;
    for (;; ancestor = &d->ancestors.at[ancestor->next - 1]) {
        if (bit_of(ancestor->type) & needs)
            sum +=
                haul__hash((uint64_t)ancestor->object ^ (uint64_t)(uintptr_t)ancestor->type << 20);
        if (!ancestor->next)
            return (size_t)(sum ^ sum >> 32);
    }
}

/* `as`: the shape or the type's walk that the address was found with. */
static haul_status meet_one(haul__discovery *d, uintptr_t address, size_t sum, const void *as,
                            int *is_again)
{
    haul_status status;
    if (haul__memo_has(d, HAUL__MEMO_ANCESTORS, address, sum, as))
        return HAUL_OK;
    status = haul__memo_add(d, HAUL__MEMO_ANCESTORS, address, sum, as);
    if (haul__memo_has(d, HAUL__MEMO_FOUND, address, 0, as))
        *is_again = 1;
    else if (status == HAUL_OK)
        status = haul__memo_add(d, HAUL__MEMO_FOUND, address, 0, as);
    return status;
}

haul_status haul__meet_ancestors(haul__discovery *d, const haul__entry *entry, int *is_again)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    haul_status status = HAUL_OK;
    size_t sum, i;
    if (entry->what == HAUL__POINTERS) {
        const haul_type *target = entry->slot->target;
        const uint64_t needs =
            (target ? haul__type_walk(target)->needs : 0) | bit_of(entry->nearest.type);
        return needs ? meet_one(d, entry->address, sum_of(d, &entry->ancestor, needs),
                                &entry->slot->shape[entry->level], is_again)
                     : HAUL_OK;
    }
    sum = sum_of(d, &entry->ancestor, walk->needs);
    for (i = 0; i < entry->count && status == HAUL_OK; i++)
        status = meet_one(d, entry->address + i * entry->stride, sum, walk, is_again);
    return status;
}

void haul__ancestors_close(haul__discovery *d)
{
    HAUL__LIST_RELEASE(d->allocator, &d->ancestors);
}
