/* Places: the struct and row in which a byte lies, and the path to it.
 *
 * Discovery knows slots by name, but not the bytes between them. For those the description is
 * searched: the type's rows, then the rows of the embedded struct, and so on inwards.
 */
#include <stdio.h>

#include "audit/place.h"
#include "walk/paths.h"

/* Rows of one type. In types with more (lists of blocks), a byte is named by its offset alone. */
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

/* Goes inwards to the innermost struct. If `steps` is to be written, it stops at a struct that
 * begins with the byte. */
static haul__byte go_in(const haul_type *type, size_t offset, char *steps, size_t room)
{
    haul__byte byte;
    size_t index, rest;
    memset(&byte, 0, sizeof byte);
    byte.type = type;
    byte.offset = offset;
    while ((!steps || byte.offset) && field_at(byte.type, byte.offset, &byte.row, &index, &rest)) {
        byte.has_row = byte.row.kind != HAUL_FIELD_EMBED;
        if (byte.has_row)
            break;
        if (steps)
            append(steps, room, byte.row.name, index, byte.row.count);
        byte.type = byte.row.target;
        byte.offset = rest;
    }
    return byte;
}

typedef struct spot {
    size_t entry, element;
    const haul_type *type;
    size_t offset; /* of the byte, in that element */
} spot;

/* The byte as seen from a type that has rows. A part may have a type without rows, which commit
 * made up: then the element that holds the part is taken. */
static spot spot_of(const haul__audit *a, size_t number, size_t element, uintptr_t address)
{
    const haul__entry *entry = &a->walk.entries.at[number];
    spot at;
    at.entry = number;
    at.element = element;
    at.type = a->walk.met_types[entry->met_type].type;
    while (entry->part && haul_type_field_count(at.type) == 0) {
        at.entry = entry->parent;
        at.element = entry->parent_element;
        entry = &a->walk.entries.at[at.entry];
        at.type = a->walk.met_types[entry->met_type].type;
    }
    at.offset = (size_t)(address - entry->address) - at.element * entry->stride;
    return at;
}

haul__byte haul__audit_byte(const haul__audit *a, size_t entry, size_t element, uintptr_t address)
{
    spot at = spot_of(a, entry, element, address);
    return go_in(at.type, at.offset, NULL, 0);
}

/* The path from an object to a byte of it: nothing for its first byte. */
static void steps_in(const haul_type *type, size_t offset, char *steps, size_t room)
{
    haul__byte byte = go_in(type, offset, steps, room);
    size_t rest = byte.offset;
    if (byte.has_row) {
        rest -= byte.row.offset;
        append(steps, room, byte.row.name, byte.row.stride ? rest / byte.row.stride : 0,
               byte.row.count);
        rest = byte.row.stride ? rest % byte.row.stride : rest;
    }
    if (rest)
        snprintf(steps + strlen(steps), room - strlen(steps), "+%zu", rest);
}

haul_status haul__audit_path(haul__audit *a, size_t number, size_t element, uintptr_t address,
                             char *path)
{
    const haul__entry *entry = &a->walk.entries.at[number];
    char steps[STEPS_BYTES] = "", all[HAUL_PATH_BYTES + STEPS_BYTES];
    if (entry->what == HAUL__OBJECTS) {
        spot at = spot_of(a, number, element, address);
        steps_in(at.type, at.offset, steps, sizeof steps);
        number = at.entry;
        element = at.element;
    } else if ((address - entry->address) % entry->stride) {
        snprintf(steps, sizeof steps, "+%zu", (size_t)(address - entry->address) % entry->stride);
    }
    if (!haul__name_place(&a->walk, number, element, NULL, path))
        return HAUL_ERROR_MEMORY;
    snprintf(all, sizeof all, "%s%s", path, steps);
    haul__set_path(path, all);
    return HAUL_OK;
}

/* The element that holds the byte. If elements overlap, one of them. */
static size_t element_at(const haul__audit *a, const haul__entry *entry, uintptr_t address)
{
    size_t offset = (size_t)(address - entry->address), lower = 0;
    if (entry->what == HAUL__OBJECTS)
        lower = a->walk.met_types[entry->met_type].walk->true_lower;
    offset = offset < lower ? 0 : (offset - lower) / entry->stride;
    return offset < entry->count ? offset : entry->count - 1;
}

/* Does the byte lie in structs at the object's end? They have their own entry. */
static int is_in_tail(const haul__walk *walk, size_t offset)
{
    const haul__ruled *tail = walk->ruled_count > 0 ? &walk->ruled[walk->ruled_count - 1] : NULL;
    return tail && tail->kind == HAUL__RULED_TAIL && tail->slot.target &&
           offset >= tail->slot.offset;
}

/* Does the entry itself hold the byte? An embedded array that is a part has its own entry. */
static int holds(const haul__audit *a, const haul__entry *entry, uintptr_t address)
{
    const haul__walk *walk =
        entry->what == HAUL__OBJECTS ? a->walk.met_types[entry->met_type].walk : NULL;
    size_t offset, i;
    if (address < entry->address || address - entry->address >= haul__entry_bytes(&a->walk, entry))
        return 0;
    offset = (size_t)(address - entry->address) - element_at(a, entry, address) * entry->stride;
    if (walk && is_in_tail(walk, offset))
        return 0;
    for (i = 0; walk && i < walk->part_count; i++)
        if (offset >= walk->parts[i].offset &&
            offset - walk->parts[i].offset < walk->parts[i].count * walk->parts[i].stride)
            return 0;
    return 1;
}

static void add_end(char *path)
{
    static const char end[] = " (its end)";
    size_t length = strlen(path);
    if (length + sizeof end <= HAUL_PATH_BYTES)
        memcpy(path + length, end, sizeof end);
}

haul_status haul__audit_path_of(haul__audit *a, uintptr_t address, char *path)
{
    size_t past, i;
    for (past = 0; past < 2; past++)
        for (i = 0; i < a->walk.entries.count; i++)
            if (holds(a, &a->walk.entries.at[i], address - past)) {
                size_t element = element_at(a, &a->walk.entries.at[i], address - past);
                haul_status status = haul__audit_path(a, i, element, address - past, path);
                if (status == HAUL_OK && past)
                    add_end(path);
                return status;
            }
    path[0] = '\0';
    return HAUL_OK;
}
