/* Checked mode: an address must have the same meaning whenever it is found.
 */
#include "walk/checked.h"
#include "walk/paths.h"

/* `key`: the address, what, and as. */
static int is_seen(const void *list, size_t number, const void *key)
{
    const haul__seen *one = (const haul__seen *)list + number, *other = key;
    return one->address == other->address && one->what == other->what &&
           (one->what < HAUL__AS_CHILD || one->as == other->as);
}

/* the most rows that are searched in nested types; after these, the types are taken to agree */
#define ROWS_MAX ((size_t)1 << 16)

/* Does `outer` have an `inner` at offset 0, at any depth? Arms of a union may all begin there. */
static int begins_with(const haul_type *outer, const haul_type *inner)
{
    struct {
        const haul_type *type;
        size_t next; /* of its rows */
    } nested[HAUL_EMBED_DEPTH_MAX + 1];
    size_t depth = 1, rows;
    if (outer == inner)
        return 1;
    nested[0].type = outer;
    nested[0].next = 0;
    for (rows = 0; depth > 0 && rows < ROWS_MAX; rows++) {
        haul_field_info field;
        if (haul_type_get_field(nested[depth - 1].type, nested[depth - 1].next++, &field) !=
                HAUL_OK ||
            field.offset != 0) {
            depth--;
            continue;
        }
        if ((field.kind != HAUL_FIELD_EMBED && field.kind != HAUL_FIELD_TAIL) || !field.target)
            continue;
        if (field.target == inner)
            return 1;
        if (depth <= HAUL_EMBED_DEPTH_MAX) {
            nested[depth].type = field.target;
            nested[depth++].next = 0;
        }
    }
    return rows == ROWS_MAX;
}

haul__seen *haul__see(haul__discovery *d, uintptr_t address, int what, const void *as,
                      const haul__slot *slot, int *is_new)
{
    const uint64_t hash = haul__hash(address);
    haul__seen fresh;
    size_t found;
    memset(&fresh, 0, sizeof fresh);
    fresh.address = address;
    fresh.what = what;
    fresh.as = as;
    fresh.slot = slot;
    fresh.root = d->root;
    fresh.entry = d->at_entry;
    fresh.element = d->at_element;
    found = haul__index_find(&d->seen_index, hash, d->seen.at, &fresh, is_seen);
    *is_new = found == SIZE_MAX;
    if (found != SIZE_MAX)
        return &d->seen.at[found];
    if (!HAUL__LIST_ROOM(d->allocator, &d->seen) ||
        !haul__index_add(d->allocator, &d->seen_index, hash, d->seen.count))
        return NULL;
    d->seen.at[d->seen.count] = fresh;
    return &d->seen.at[d->seen.count++];
}

void haul__name_seen(haul__discovery *d, const haul__seen *seen)
{
    size_t root = d->root;
    if (d->passing)
        return;
    d->root = seen->root;
    haul__name_place(d, seen->entry, seen->element, seen->slot, d->context->error.other_path);
    d->root = root;
}

haul_status haul__meet(haul__discovery *d, uintptr_t address, int what, const void *as, size_t unit,
                       const haul__slot *slot)
{
    int is_new = 0;
    haul__seen *seen = haul__see(d, address, what, as, slot, &is_new);
    haul_status status;
    if (!seen)
        return HAUL_ERROR_MEMORY;
    if (is_new)
        seen->unit = unit;
    if (seen->as == as && seen->unit == unit)
        return HAUL_OK;
    if (what == HAUL__AS_OBJECT && (begins_with(seen->as, as) || begins_with(as, seen->as)))
        return HAUL_OK;
    if (what == HAUL__AS_POINTER)
        status = haul__refuse(d, HAUL_ERROR_GRAPH, slot,
                              "one pointer word is described with two different targets");
    else
        status =
            haul__refuse(d, HAUL_ERROR_GRAPH, slot, "one address is reached as a %s and as a %s",
                         haul_type_name(as), haul_type_name(seen->as));
    haul__name_seen(d, seen);
    return status;
}

/* Pointers of different depth or element size have different meanings. */
haul_status haul__meet_pointer(haul__discovery *d, uintptr_t address, const haul__slot *slot,
                               unsigned level)
{
    size_t depth = (slot->flags & HAUL__SLOT_END) ? 1 : (size_t)slot->levels - level;
    const void *as = slot->target ? (const void *)slot->target : (const void *)d->context;
    if (!d->context->options.checked)
        return HAUL_OK;
    return haul__meet(d, address, HAUL__AS_POINTER, as, slot->unit * 4 + depth, slot);
}

void haul__meanings_close(haul__discovery *d)
{
    HAUL__LIST_RELEASE(d->allocator, &d->seen);
    haul__index_close(d->allocator, &d->seen_index);
}
