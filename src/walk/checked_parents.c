/* Checked mode: rules that ask for the parent must say the same for every parent.
 *
 * An object is visited once, for the first parent that leads to it, and the order of discovery
 * decides which one that is. So the first parent is recorded. For each other parent, all rows are
 * evaluated twice, for the first parent and for this one, and their values and counts are compared.
 */
#include "walk/checked.h"
#include "walk/extent.h"
#include "walk/met_types.h"
#include "walk/paths.h"
#include "walk/ruled_field.h"

typedef struct answer {
    haul_status status;
    int holds;
    haul__field_value word;
    size_t count;
} answer;

/* The value of one row for a parent. Errors are left for the visit. */
static void evaluate_row(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                         answer *a)
{
    memset(a, 0, sizeof *a);
    a->status = haul__ask(d, o, ruled, &a->holds);
    if (a->status == HAUL_OK && a->holds && ruled->kind == HAUL__RULED_POINTER)
        a->status = haul__read_word(d, o, ruled, &a->word);
    if (a->status == HAUL_OK && a->word.start && !a->word.is_alias && !haul__is_end(ruled)) {
        const haul__pointer p = haul__ruled_pointer(d, o, ruled, &a->word);
        a->status = haul__count_of(d, &p, HAUL__DRY, &a->count);
    }
}

static haul_status compare(haul__discovery *d, const haul__entry *entry, size_t index,
                           const haul__seen *seen)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    haul__object now = haul__object_of(entry, walk, index, HAUL__DRY), then = now;
    answer a, b;
    haul_status status;
    size_t i;
    then.parent = seen->parent;
    then.self = walk->is_slot ? seen->parent : then.self;
    /* an error is left for the visit */
    if (haul__find_size(d, &now, NULL) != HAUL_OK)
        now.bytes = 0;
    if (haul__find_size(d, &then, NULL) != HAUL_OK)
        then.bytes = 0;
    if (now.bytes != then.bytes) {
        status = haul__refuse(d, HAUL_ERROR_GRAPH, entry->slot,
                              "two parents lead to one %s, and its size differs between them",
                              walk->name);
        haul__name_seen(d, seen);
        return status;
    }
    for (i = 0; i < walk->ruled_count && walk->ruled[i].slot.offset < now.bytes; i++) {
        evaluate_row(d, &now, &walk->ruled[i], &a);
        evaluate_row(d, &then, &walk->ruled[i], &b);
        if (a.status == HAUL_ERROR_MEMORY || b.status == HAUL_ERROR_MEMORY)
            return HAUL_ERROR_MEMORY;
        if (a.status == b.status && a.holds == b.holds && a.word.what == b.word.what &&
            a.word.slot == b.word.slot && a.word.start == b.word.start &&
            a.word.becomes == b.word.becomes && a.count == b.count)
            continue;
        status = haul__refuse(
            d, HAUL_ERROR_GRAPH, entry->slot,
            "two parents lead to one %s, and its description of %s%s differs between them",
            walk->is_slot ? "array" : walk->name, walk->is_slot ? "its pointers" : "",
            walk->ruled[i].slot.name);
        haul__name_seen(d, seen);
        return status;
    }
    return HAUL_OK;
}

haul_status haul__meet_parent(haul__discovery *d, const haul__entry *entry)
{
    const haul_type *type = d->met_types[entry->met_type].type;
    haul__seen *seen, first;
    haul_status status = HAUL_OK;
    size_t i;
    int is_new = 0;
    seen = haul__see(d, entry->address, HAUL__AS_CHILD, type, entry->slot, &is_new);
    if (!seen)
        return HAUL_ERROR_MEMORY;
    if (is_new)
        seen->parent = entry->self;
    if (is_new || seen->parent == entry->self)
        return HAUL_OK;
    first = *seen;
    for (i = 0; i < entry->count && status == HAUL_OK; i++)
        status = compare(d, entry, i, &first);
    return status;
}
