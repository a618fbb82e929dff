/* Paths for errors: "root.atoms[3].next".
 *
 * In its recording form discovery keeps every array and object it found, each with the one that it
 * was found from. A path is that chain read backwards. A step that is taken many times in a row is
 * written once, so that the last node of a long list has a path one can read:
 * "root(.next)*999999.name".
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "walk/discovery.h"

#define STEP_BYTES 320u

typedef struct text {
    char at[2 * HAUL_PATH_BYTES];
    size_t length;
    char step[STEP_BYTES]; /* the last one, not written yet, */
    size_t times;          /* and how often it was taken in a row */
} text;

/* Appends; when the buffer is full, drops the middle, so that beginning and end stay. */
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
    char repeated[STEP_BYTES + 32];
    if (to->times > 2) {
        snprintf(repeated, sizeof repeated, "(%s)*%zu", to->step, to->times);
        append(to, repeated);
        to->times = 0;
    }
    for (; to->times > 0; to->times--)
        append(to, to->step);
}

/* Equal steps in a row become one. */
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

static const haul__entry *parent_of(const haul__discovery *d, const haul__entry *entry)
{
    return entry->parent == SIZE_MAX ? NULL : &d->entries[entry->parent];
}

static void root_name(const haul__discovery *d, size_t root, char *step)
{
    if (d->root_count == 1)
        snprintf(step, STEP_BYTES, "root");
    else
        snprintf(step, STEP_BYTES, "roots[%zu]", root);
}

/* A field's name as a step; names that begin with an index need no dot. */
static void named_step(const char *name, char *step, size_t room)
{
    snprintf(step, room, name[0] && name[0] != '[' ? ".%s" : "%s", name);
}

/* The step that leads to an element of this entry. */
static void step_of(const haul__discovery *d, const haul__entry *entry, size_t element, char *step)
{
    const haul__entry *parent = parent_of(d, entry);
    size_t length;
    step[0] = '\0';
    if (!parent)
        root_name(d, entry->index, step);
    else if (entry->part)
        named_step(entry->part, step, STEP_BYTES);
    else if (entry->slot && parent->what != HAUL__POINTERS)
        named_step(entry->slot->name, step, STEP_BYTES);
    length = strlen(step);
    if (entry->count > 1 || entry->what == HAUL__POINTERS)
        snprintf(step + length, STEP_BYTES - length, "[%zu]", element);
}

typedef struct link {
    size_t entry, element;
} link;

/* The way to an element of an entry. Nothing when there is no memory to follow it. */
static void path_to(haul__discovery *d, size_t entry, size_t element, text *path)
{
    char step[STEP_BYTES];
    void *chain = NULL;
    size_t capacity = 0, count = 0;
    while (entry != SIZE_MAX) {
        const haul__entry *at = &d->entries[entry];
        if (!haul__grow(d->allocator, &chain, &capacity, count + 1, sizeof(link))) {
            haul__release(d->allocator, chain, capacity * sizeof(link));
            return;
        }
        ((link *)chain)[count].entry = entry;
        ((link *)chain)[count++].element = element;
        element = at->parent_element;
        entry = at->parent;
    }
    while (count-- > 0) {
        const link *at = &((const link *)chain)[count];
        step_of(d, &d->entries[at->entry], at->element, step);
        take_step(path, step);
    }
    haul__release(d->allocator, chain, capacity * sizeof(link));
}

static void place_path(haul__discovery *d, size_t entry, size_t element, const haul__slot *slot,
                       char *to)
{
    text path;
    char step[STEP_BYTES];
    memset(&path, 0, sizeof path);
    if (entry == SIZE_MAX) {
        root_name(d, d->root, step);
        take_step(&path, step);
    } else {
        path_to(d, entry, element, &path);
        if (slot && d->entries[entry].what == HAUL__OBJECTS) {
            named_step(slot->name, step, sizeof step);
            take_step(&path, step);
        }
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
    if (d->recording)
        place_path(d, d->at_entry, d->at_element, slot, error->path);
    return status;
}

haul_status haul__refuse_outside(haul__discovery *d, const haul__slot *slot, uintptr_t address)
{
    return haul__refuse(d, HAUL_ERROR_GRAPH, slot,
                        "it points outside any process's address range, to 0x%" PRIxPTR, address);
}

static size_t entry_bytes(const haul__discovery *d, const haul__entry *entry)
{
    size_t last = entry->what == HAUL__OBJECTS ? d->kinds[entry->kind].walk->extent : entry->stride;
    return (entry->count - 1) * entry->stride + last;
}

/* The slot of an element that holds the byte at `offset`; NULL: none. */
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

/* The word at `address`, or part of it. */
void haul__name_other(haul__discovery *d, uintptr_t address)
{
    size_t i;
    for (i = 0; d->recording && i < d->entry_count; i++) {
        const haul__entry *entry = &d->entries[i];
        /* it may begin within the word */
        uintptr_t at = address < entry->address ? entry->address : address;
        size_t element;
        if (at - address >= HAUL__WORD || at - entry->address >= entry_bytes(d, entry))
            continue;
        element = (size_t)(at - entry->address) / entry->stride;
        place_path(
            d, i, element,
            entry->what == HAUL__OBJECTS
                ? slot_at(d->kinds[entry->kind].walk, (size_t)(at - entry->address) % entry->stride)
                : NULL,
            d->context->error.other_path);
        return;
    }
}

void haul__name_seen(haul__discovery *d, const haul__seen *seen)
{
    size_t root = d->root;
    d->root = seen->root;
    place_path(d, seen->entry, seen->element, seen->slot, d->context->error.other_path);
    d->root = root;
}

void haul__name_row(haul__discovery *d, const haul__slot *slot)
{
    if (d->recording)
        place_path(d, d->at_entry, d->at_element, slot, d->context->error.other_path);
}

static int is_seen(const haul__seen *seen, uintptr_t address, int what, const void *as)
{
    return seen->address == address && seen->what == what &&
           (what < HAUL__AS_CHILD || seen->as == as);
}

static size_t seen_place(const haul__discovery *d, uintptr_t address, int what, const void *as)
{
    size_t mask = d->seen_capacity - 1;
    size_t at = (size_t)(((uint64_t)address * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (d->seen[at].as && !is_seen(&d->seen[at], address, what, as))
        at = (at + 1) & mask;
    return at;
}

static int seen_room(haul__discovery *d)
{
    haul__seen *old = d->seen;
    size_t old_capacity = d->seen_capacity, capacity = old_capacity ? old_capacity * 2 : 64, i;
    if (d->seen_count < old_capacity / 2)
        return 1;
    d->seen = haul__allocate_zeroed(d->allocator, capacity * sizeof *d->seen);
    if (!d->seen) {
        d->seen = old;
        return 0;
    }
    d->seen_capacity = capacity;
    for (i = 0; i < old_capacity; i++)
        if (old[i].as)
            d->seen[seen_place(d, old[i].address, old[i].what, old[i].as)] = old[i];
    haul__release(d->allocator, old, old_capacity * sizeof *old);
    return 1;
}

/* looked at, of arms within arms; then they are taken to agree */
#define ROWS_MAX ((size_t)1 << 16)

/* Is `inner` at offset 0 of `outer`, at whatever depth? Arms of a union may all begin there. */
static int begins_with(const haul_type *outer, const haul_type *inner)
{
    struct {
        const haul_type *type;
        size_t next; /* of its rows */
    } way[HAUL_EMBED_DEPTH_MAX + 1];
    size_t depth = 1, rows;
    if (outer == inner)
        return 1;
    way[0].type = outer;
    way[0].next = 0;
    for (rows = 0; depth > 0 && rows < ROWS_MAX; rows++) {
        haul_field field;
        if (haul_type_get_field(way[depth - 1].type, way[depth - 1].next++, &field) != HAUL_OK ||
            field.offset != 0) {
            depth--;
            continue;
        }
        if ((field.kind != HAUL_REF_EMBED && field.kind != HAUL_REF_TAIL) || !field.target)
            continue;
        if (field.target == inner)
            return 1;
        if (depth <= HAUL_EMBED_DEPTH_MAX) {
            way[depth].type = field.target;
            way[depth++].next = 0;
        }
    }
    return rows == ROWS_MAX;
}

haul__seen *haul__see(haul__discovery *d, uintptr_t address, int what, const void *as,
                      const haul__slot *slot, int *is_new)
{
    haul__seen *seen;
    if (!seen_room(d))
        return NULL;
    seen = &d->seen[seen_place(d, address, what, as)];
    *is_new = !seen->as;
    if (seen->as)
        return seen;
    d->seen_count++;
    seen->address = address;
    seen->what = what;
    seen->as = as;
    seen->slot = slot;
    seen->root = d->root;
    seen->entry = d->at_entry;
    seen->element = d->at_element;
    return seen;
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

/* Pointers of different depth or element size never mean the same. */
haul_status haul__meet_pointer(haul__discovery *d, uintptr_t address, const haul__slot *slot,
                               unsigned level)
{
    size_t depth = (slot->flags & HAUL__SLOT_END) ? 1 : (size_t)slot->levels - level;
    const void *as = slot->target ? (const void *)slot->target : (const void *)d->context;
    if (!d->context->options.checked)
        return HAUL_OK;
    return haul__meet(d, address, HAUL__AS_POINTER, as, slot->unit * 4 + depth, slot);
}
