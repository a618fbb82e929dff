/* Places: the struct and field in which a byte lies, and the path to it.
 *
 * Discovery knows slots by name, but not the bytes between them. For those the description is
 * searched: the type's fields, then those of the embedded struct, and so on inwards.
 */
#include <stdio.h>

#include "base/status.h"
#include "walk/met_types.h"
#include "walk/paths.h"
#include "walk/place.h"

/* Fields of one type. In types with more (lists of blocks), a byte is named by its offset alone. */
#define FIELDS_SEARCHED 4096u
#define STEPS_BYTES 512u

/* Does the field hold the byte? In a field of structs, *index is the number of the struct and *rest
 * the byte's offset in it. True extents are used, because a type's bytes need not begin at 0. */
static int is_in_field(const haul_field_info *field, size_t offset, size_t *index, size_t *rest)
{
    size_t lower = 0, bytes = 0;
    *index = 0;
    *rest = offset - field->offset;
    if (offset < field->offset)
        return 0;
    if (field->kind != HAUL_FIELD_EMBED ||
        haul_type_get_true_extent(field->target, &lower, &bytes) != HAUL_OK)
        return *rest < field->bytes;
    if (*rest < lower || !field->count || !field->stride)
        return 0;
    *index = (*rest - lower) / field->stride < field->count ? (*rest - lower) / field->stride
                                                            : field->count - 1;
    *rest -= *index * field->stride;
    return *rest < lower + bytes;
}

static int field_at(const haul_type *type, size_t offset, haul_field_info *field, size_t *index,
                    size_t *rest)
{
    size_t count = haul_type_field_count(type), i;
    for (i = 0; count <= FIELDS_SEARCHED && i < count; i++)
        if (haul_type_get_field(type, i, field) == HAUL_OK &&
            is_in_field(field, offset, index, rest))
            return 1;
    return 0;
}

static void append(char *text, size_t room, const char *name, size_t index, size_t count)
{
    size_t length = strlen(text);
    if (name[0])
        snprintf(text + length, room - length, name[0] == '[' ? "%s" : ".%s", name);
    length = strlen(text);
    if (count > 1)
        snprintf(text + length, room - length, "[%zu]", index);
}

/* Goes inwards to the innermost struct, or to the outermost one that begins with the byte. `steps`
 * may be NULL. */
static haul__byte go_in(const haul_type *type, size_t offset, int innermost, char *steps,
                        size_t room)
{
    haul__byte byte;
    size_t index, rest;
    memset(&byte, 0, sizeof byte);
    byte.type = type;
    byte.offset = offset;
    while ((innermost || byte.offset) &&
           field_at(byte.type, byte.offset, &byte.field, &index, &rest)) {
        byte.has_field = byte.field.kind != HAUL_FIELD_EMBED;
        if (byte.has_field)
            break;
        if (steps)
            append(steps, room, byte.field.name, index, byte.field.count);
        byte.type = byte.field.target;
        byte.offset = rest;
    }
    return byte;
}

typedef struct byte_place {
    size_t entry, element;
    const haul_type *type;
    size_t offset; /* of the byte, in that element */
} byte_place;

/* The byte as seen from a type that has fields. A part may have a type without any, which commit
 * made up: then the element that holds the part is taken. */
static byte_place byte_place_of(const haul__discovery *d, size_t number, size_t element,
                                uintptr_t address)
{
    const haul__entry *entry = &d->entries.at[number];
    byte_place at;
    at.entry = number;
    at.element = element;
    at.type = d->met_types[entry->met_type].type;
    while (entry->part && haul_type_field_count(at.type) == 0) {
        at.entry = entry->parent;
        at.element = entry->parent_element;
        entry = &d->entries.at[at.entry];
        at.type = d->met_types[entry->met_type].type;
    }
    at.offset = (size_t)(address - entry->address) - at.element * entry->stride;
    return at;
}

haul__byte haul__byte_at(const haul__discovery *d, size_t entry, size_t element, uintptr_t address)
{
    byte_place at = byte_place_of(d, entry, element, address);
    return go_in(at.type, at.offset, 1, NULL, 0);
}

/* The path from an object to a byte of it. */
static void steps_in(const haul_type *type, size_t offset, int innermost, char *steps, size_t room)
{
    haul__byte byte = go_in(type, offset, innermost, steps, room);
    size_t rest = byte.offset;
    if (byte.has_field) {
        rest -= byte.field.offset;
        append(steps, room, byte.field.name, byte.field.stride ? rest / byte.field.stride : 0,
               byte.field.count);
        rest = byte.field.stride ? rest % byte.field.stride : rest;
    }
    if (rest)
        snprintf(steps + strlen(steps), room - strlen(steps), "+%zu", rest);
}

int haul__name_byte_of(haul__discovery *d, size_t number, size_t element, uintptr_t address,
                       int innermost, char *path)
{
    const haul__entry *entry = &d->entries.at[number];
    char steps[STEPS_BYTES] = "", all[HAUL_PATH_BYTES + STEPS_BYTES];
    if (entry->what == HAUL__OBJECTS) {
        byte_place at = byte_place_of(d, number, element, address);
        steps_in(at.type, at.offset, innermost, steps, sizeof steps);
        number = at.entry;
        element = at.element;
    } else if ((address - entry->address) % entry->stride) {
        snprintf(steps, sizeof steps, "+%zu", (size_t)(address - entry->address) % entry->stride);
    }
    if (!haul__name_place(d, number, element, NULL, path))
        return 0;
    snprintf(all, sizeof all, "%s%s", path, steps);
    haul__set_path(path, all);
    return 1;
}

/* The element that holds the byte. If elements overlap, one of them. */
static size_t element_at(const haul__discovery *d, const haul__entry *entry, uintptr_t address)
{
    size_t offset = (size_t)(address - entry->address), lower = 0;
    if (entry->what == HAUL__OBJECTS)
        lower = d->met_types[entry->met_type].walk->true_lower;
    offset = offset < lower ? 0 : (offset - lower) / entry->stride;
    return offset < entry->count ? offset : entry->count - 1;
}

/* Does the entry itself hold the byte? Structs at the object's end have their own entry, and so has
 * an embedded array that is a part. */
static int holds(const haul__discovery *d, const haul__entry *entry, uintptr_t address)
{
    const haul__walk *walk =
        entry->what == HAUL__OBJECTS ? d->met_types[entry->met_type].walk : NULL;
    const haul__ruled *last =
        walk && walk->ruled_count > 0 ? &walk->ruled[walk->ruled_count - 1] : NULL;
    size_t offset, i;
    if (address < entry->address || address - entry->address >= haul__entry_bytes(d, entry) ||
        haul__is_in_gap(entry, address))
        return 0;
    offset = (size_t)(address - entry->address) - element_at(d, entry, address) * entry->stride;
    if (last && last->kind == HAUL__RULED_TAIL && last->slot.target && offset >= last->slot.offset)
        return 0;
    for (i = 0; walk && i < walk->part_count; i++)
        if (offset >= walk->parts[i].offset &&
            offset - walk->parts[i].offset < walk->parts[i].count * walk->parts[i].stride)
            return 0;
    return 1;
}

int haul__name_byte(haul__discovery *d, uintptr_t address, int innermost, char *path)
{
    size_t i;
    for (i = 0; i < d->entries.count; i++)
        if (holds(d, &d->entries.at[i], address))
            return haul__name_byte_of(d, i, element_at(d, &d->entries.at[i], address), address,
                                      innermost, path);
    path[0] = '\0';
    return 1;
}

void haul__name_near(haul__discovery *d, uintptr_t address)
{
    haul_error *error = &d->context->error;
    char path[HAUL_PATH_BYTES];
    if (!haul__name_byte(d, address, 1, path))
        return;
    if (path[0] == '\0') {
        haul__name_other(d, address);
        haul__set_path(path, error->other_path);
        error->other_path[0] = '\0';
    }
    d->root = 0;
    if (path[0] != '\0' || haul__name_place(d, SIZE_MAX, 0, NULL, path))
        haul__set_path(error->path, path);
}
