/* Paths of errors: "root.atoms[3].next".
 *
 * A recording run keeps an entry for each array and object that it finds, with a link to the entry
 * that it was found from. A path is that chain, read backwards. A step that is repeated in a row is
 * written once, so that the last node of a long list has a readable path:
 * "root(.next)*999999.name".
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "walk/paths.h"
#include "walk/met_types.h"
#include "walk/worklist.h"

#define STEP_BYTES 320u

typedef struct text {
    char at[2 * HAUL_PATH_BYTES];
    size_t length;
    char step[STEP_BYTES]; /* the last one, not yet written */
    size_t times;          /* its repetitions in a row */
} text;

/* Appends a step. A full buffer loses its middle: beginning and end stay. */
static void append(text *to, const char *step)
{
    size_t length = strlen(step), room = sizeof to->at - 1, head = HAUL_PATH_BYTES / 2;
    if (length >= room - head)
        length = room - head - 1;
    if (to->length + length > room) {
        size_t drop = to->length + length - room;
        memmove(to->at + head, to->at + head + drop, to->length - head - drop);
        to->length -= drop;
    }
    memcpy(to->at + to->length, step, length);
    to->length += length;
    to->at[to->length] = '\0';
}

static void write_step(text *to)
{
    char times[32];
    if (to->times > 2) {
        snprintf(times, sizeof times, ")*%zu", to->times);
        append(to, "(");
        append(to, to->step);
        append(to, times);
        to->times = 0;
    }
    for (; to->times > 0; to->times--)
        append(to, to->step);
}

/* Adds a step; equal ones in a row become one. */
static void take_step(text *to, const char *step)
{
    if (!step[0])
        return;
    if (to->times == 0 || strcmp(step, to->step) != 0) {
        write_step(to);
        snprintf(to->step, sizeof to->step, "%s", step);
    }
    to->times++;
}

static void root_name(const haul__discovery *d, size_t root, char *step)
{
    if (d->root_count == 1)
        snprintf(step, STEP_BYTES, "root");
    else
        snprintf(step, STEP_BYTES, "roots[%zu]", root);
}

/* A field's name as a step. A name that begins with an index needs no dot. */
static void named_step(const char *name, char *step, size_t room)
{
    snprintf(step, room, name[0] && name[0] != '[' ? ".%s" : "%s", name);
}

typedef struct link {
    size_t entry, element;
} link;

/* The path of an element of an entry. 0: out of memory. */
static int path_to(haul__discovery *d, size_t entry, size_t element, text *path)
{
    char step[STEP_BYTES];
    void *chain = NULL;
    size_t capacity = 0, count = 0;
    while (entry != SIZE_MAX) {
        const haul__entry *at = &d->entries.at[entry];
        if (!haul__grow(d->allocator, &chain, &capacity, count + 1, sizeof(link))) {
            haul__release(d->allocator, chain, capacity * sizeof(link));
            return 0;
        }
        ((link *)chain)[count].entry = entry;
        ((link *)chain)[count++].element = element;
        element = at->parent_element;
        entry = at->parent;
    }
    while (count-- > 0) {
        const haul__entry *at = &d->entries.at[((const link *)chain)[count].entry];
        const haul__entry *parent = at->parent == SIZE_MAX ? NULL : &d->entries.at[at->parent];
        size_t length;
        step[0] = '\0';
        if (!parent)
            root_name(d, at->index, step);
        else if (at->part)
            named_step(at->part, step, STEP_BYTES);
        else if (at->slot && parent->what != HAUL__POINTERS)
            named_step(at->slot->name, step, STEP_BYTES);
        length = strlen(step);
        if (at->line) {
            snprintf(step + length, STEP_BYTES - length, "[%zu]", at->line - 1);
            length = strlen(step);
        }
        if (at->count > 1 || at->what == HAUL__POINTERS)
            snprintf(step + length, STEP_BYTES - length, "[%zu]",
                     ((const link *)chain)[count].element);
        take_step(path, step);
    }
    haul__release(d->allocator, chain, capacity * sizeof(link));
    return 1;
}

/* Empty if there is no memory. */
static void place_path(haul__discovery *d, size_t entry, size_t element, const haul__slot *slot,
                       char *to)
{
    text path;
    char step[STEP_BYTES];
    memset(&path, 0, sizeof path);
    if (entry == SIZE_MAX) {
        root_name(d, d->root, step);
        take_step(&path, step);
    } else if (path_to(d, entry, element, &path) && slot &&
               d->entries.at[entry].what == HAUL__OBJECTS) {
        named_step(slot->name, step, sizeof step);
        take_step(&path, step);
    }
    write_step(&path);
    haul__set_path(to, path.at);
}

int haul__name_place(haul__discovery *d, size_t entry, size_t element, const haul__slot *slot,
                     char *path)
{
    place_path(d, entry, element, slot, path);
    return path[0] != '\0';
}

/* A walk that passes over refusals meets many, and wants the path of one at most. */
static void note_refusal(haul__discovery *d, const haul__slot *slot)
{
    d->passing->refused.is_noted = 1;
    d->passing->refused.root = d->root;
    d->passing->refused.entry = d->at_entry;
    d->passing->refused.element = d->at_element;
    d->passing->refused.slot = slot;
}

void haul__name_refusal(haul__discovery *d, const haul__refusal *refusal, char *path)
{
    d->root = refusal->root;
    place_path(d, refusal->entry, refusal->element, refusal->slot, path);
}

haul_status haul__refuse(haul__discovery *d, haul_status status, const haul__slot *slot,
                         const char *format, ...)
{
    haul_error *error = &d->context->error;
    va_list arguments;
    haul__clear_error(error);
    error->status = status;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    if (d->passing && status != HAUL_ERROR_STALE)
        note_refusal(d, slot);
    else if (d->recording)
        place_path(d, d->at_entry, d->at_element, slot, error->path);
    return status;
}

haul_status haul__pass_over(haul__discovery *d, haul_status status)
{
    if (d->passing->has_spent || (status != HAUL_ERROR_GRAPH && status != HAUL_ERROR_LIMIT &&
                                  status != HAUL_ERROR_UNSUPPORTED))
        return status;
    if (!d->passing->passed.is_noted)
        d->passing->passed = d->passing->refused;
    return HAUL_OK;
}

haul_status haul__refuse_outside(haul__discovery *d, const haul__slot *slot, uintptr_t address)
{
    return haul__refuse(d, HAUL_ERROR_GRAPH, slot,
                        "it points outside any process's address range, to 0x%" PRIxPTR, address);
}

haul_status haul__refuse_unreadable(haul__discovery *d, const haul__slot *slot)
{
    return haul__refuse(d, HAUL_ERROR_GRAPH, slot, "the range it leads to is not readable");
}

/* The slot that has the byte at `offset` of an element; NULL: none. */
static const haul__slot *slot_at(const haul__walk *walk, size_t offset)
{
    size_t i;
    for (i = 0; i < walk->ruled_count; i++)
        if (offset - walk->ruled[i].slot.offset < walk->ruled[i].bytes &&
            offset >= walk->ruled[i].slot.offset)
            return &walk->ruled[i].slot;
    for (i = 0; i < walk->slot_count; i++)
        if (offset - walk->slots[i].offset < HAUL__WORD && offset >= walk->slots[i].offset)
            return &walk->slots[i];
    return NULL;
}

void haul__name_other(haul__discovery *d, uintptr_t address)
{
    size_t i;
    for (i = 0; d->recording && !d->passing && i < d->entries.count; i++) {
        const haul__entry *entry = &d->entries.at[i];
        /* an entry may begin within the word */
        uintptr_t at = address < entry->address ? entry->address : address;
        size_t element;
        if (at - address >= HAUL__WORD || at - entry->address >= haul__entry_bytes(d, entry) ||
            haul__is_in_gap(entry, at))
            continue;
        element = (size_t)(at - entry->address) / entry->stride;
        if (element >= entry->count)
            element = entry->count - 1; /* elements may reach behind their stride */
        place_path(d, i, element,
                   entry->what == HAUL__OBJECTS
                       ? slot_at(d->met_types[entry->met_type].walk,
                                 (size_t)(at - entry->address) - element * entry->stride)
                       : NULL,
                   d->context->error.other_path);
        return;
    }
}

void haul__name_row(haul__discovery *d, const haul__slot *slot)
{
    if (d->recording && !d->passing)
        place_path(d, d->at_entry, d->at_element, slot, d->context->error.other_path);
}
