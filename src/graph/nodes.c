/* The ranges of a recorded walk, and the pointers between them.
 *
 * The walk's entries say which pointer found a range first. All other pointers are read again here,
 * and looked up by address. A field with rules is evaluated in a dry run, which notes nothing.
 */
#include <stdio.h>

#include "graph/nodes.h"

#include "base/sort.h"
#include "pack/plan.h"
#include "pack/source.h"
#include "walk/discover.h"
#include "walk/roots.h"
#include "walk/ruled_field.h"

static const haul__entry *entry_at(const haul__nodes *nodes, size_t entry)
{
    return &nodes->walk.entries.at[entry];
}

static const haul__walk *walk_of(const haul__nodes *nodes, const haul__entry *entry)
{
    return entry->what == HAUL__OBJECTS ? nodes->walk.met_types[entry->met_type].walk : NULL;
}

/* ---- Ranges. */

/* Is it a part, an arm or a tail of its parent's elements? */
static int is_inside(const haul__nodes *nodes, const haul__entry *entry)
{
    const haul__walk *walk;
    size_t i;
    if (entry->parent == SIZE_MAX || entry->part)
        return entry->part != NULL;
    walk = walk_of(nodes, entry_at(nodes, entry->parent));
    for (i = 0; walk && i < walk->ruled_count; i++)
        if (entry->slot == &walk->ruled[i].slot &&
            (walk->ruled[i].kind == HAUL__RULED_PART || walk->ruled[i].kind == HAUL__RULED_TAIL))
            return 1;
    return 0;
}

int haul__is_span_before(const void *a, const void *b)
{
    const haul__range_of_node *left = a, *right = b;
    if (left->begin != right->begin)
        return left->begin < right->begin;
    return left->end != right->end ? left->end > right->end : left->entry > right->entry;
}

/* Does it begin at the address, or before? */
static int begins_by(const void *spans, size_t i, uint64_t address)
{
    return ((const haul__range_of_node *)spans)[i].begin <= address;
}

/* The range that has the address: the last one that begins before it. */
static size_t range_at(const haul__nodes *nodes, uintptr_t address)
{
    size_t i = haul__search(nodes->spans, 0, nodes->span_count, address, begins_by);
    while (i-- > 0 && nodes->spans[i].reach > address)
        if (nodes->spans[i].end > address &&
            !haul__is_in_gap(entry_at(nodes, nodes->spans[i].entry), address))
            return nodes->spans[i].entry;
    return HAUL__NOWHERE;
}

static void find_ranges(haul__nodes *nodes)
{
    uintptr_t reach = 0;
    size_t i;
    for (i = 0; i < nodes->count; i++) {
        const haul__entry *entry = entry_at(nodes, i);
        haul__range_of_node *span = &nodes->spans[nodes->span_count];
        nodes->owners[i] = is_inside(nodes, entry) ? nodes->owners[entry->parent] : i;
        if (nodes->owners[i] != i || entry->is_again)
            continue;
        span->begin = entry->address;
        span->end = entry->address + haul__entry_bytes(&nodes->walk, entry);
        span->entry = i;
        nodes->span_count++;
    }
    haul__sort(nodes->spans, nodes->span_count, sizeof *nodes->spans, haul__is_span_before);
    for (i = 0; i < nodes->span_count; i++) {
        reach = nodes->spans[i].end > reach ? nodes->spans[i].end : reach;
        nodes->spans[i].reach = reach;
    }
    /* entries that were visited again, for other ancestors, are the ranges found before */
    for (i = 0; i < nodes->count; i++) {
        const haul__entry *entry = entry_at(nodes, i);
        if (is_inside(nodes, entry))
            nodes->owners[i] = nodes->owners[entry->parent];
        else if (entry->is_again && range_at(nodes, entry->address) != HAUL__NOWHERE)
            nodes->owners[i] = range_at(nodes, entry->address);
    }
}

/* ---- Pointers. */

typedef struct arrow_reader {
    haul__nodes *nodes;
    haul_status (*take)(void *user, const haul__arrow *arrow);
    void *user;
    size_t entry;
} arrow_reader;

static haul_status hand_over(const arrow_reader *r, size_t element, const haul__slot *slot,
                             unsigned level, uintptr_t value, int is_alias)
{
    haul__arrow arrow;
    arrow.entry = r->entry;
    arrow.element = element;
    arrow.slot = slot;
    arrow.level = level;
    arrow.is_null = value == 0;
    arrow.is_alias = is_alias;
    arrow.target = value ? range_at(r->nodes, value) : HAUL__NOWHERE;
    return r->take(r->user, &arrow);
}

static haul_status read_element(const arrow_reader *r, const haul__entry *entry,
                                const haul__walk *walk, size_t element)
{
    haul__object o = haul__object_of(entry, walk, element, HAUL__DRY);
    haul__discovery *d = &r->nodes->walk;
    haul_status status = HAUL_OK;
    int must_visit = 0;
    size_t i;
    if (haul__is_sized(walk))
        o.bytes = entry->stride;
    for (i = 0; i < walk->slot_count && walk->slots[i].offset < o.bytes && status == HAUL_OK; i++)
        if (!(walk->slots[i].flags & HAUL__SLOT_END))
            status =
                hand_over(r, element, &walk->slots[i], 0,
                          haul__load_word((const void *)(o.address + walk->slots[i].offset)), 0);
    if (status == HAUL_OK && walk->ruled_count)
        status = haul__evaluate(d, &o, &must_visit);
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++) {
        const haul__ruled *ruled = &walk->ruled[i];
        const haul__field_value *w = &d->evaluation[HAUL__DRY][i];
        if (ruled->kind == HAUL__RULED_POINTER && w->what >= HAUL__IS_POINTER &&
            !haul__is_end(ruled))
            status = hand_over(r, element, w->slot, 0, w->start, w->is_alias);
    }
    return status;
}

haul_status haul__nodes_arrows(haul__nodes *nodes, size_t number,
                               haul_status (*take)(void *user, const haul__arrow *arrow),
                               void *user)
{
    const haul__entry *entry = entry_at(nodes, number);
    const haul__walk *walk = walk_of(nodes, entry);
    const arrow_reader r = { nodes, take, user, number };
    haul_status status = HAUL_OK;
    size_t i;
    if (entry->is_again || entry->what == HAUL__PLAIN || (walk && !walk->has_slots))
        return HAUL_OK;
    for (i = 0; i < entry->count && status == HAUL_OK; i++)
        status =
            walk ? read_element(&r, entry, walk, i)
                 : hand_over(&r, i, entry->slot, entry->level,
                             haul__load_word((const void *)(entry->address + i * HAUL__WORD)), 0);
    return status;
}

/* ---- Names. */

/* Pointers that are elements of an array, with a rule each. */
static int is_each(const haul__nodes *nodes, const haul__entry *entry)
{
    const haul__walk *walk = walk_of(nodes, entry);
    return walk && walk->is_slot;
}

const char *haul__node_type(const haul__nodes *nodes, size_t number)
{
    const haul__entry *entry = entry_at(nodes, number);
    if (entry->what == HAUL__PLAIN)
        return "(data)";
    if (entry->what == HAUL__POINTERS || is_each(nodes, entry))
        return "(pointers)";
    return walk_of(nodes, entry)->name;
}

size_t haul__node_type_number(const haul__nodes *nodes, size_t number)
{
    const haul__entry *entry = entry_at(nodes, number);
    return entry->what == HAUL__OBJECTS && !is_each(nodes, entry)
               ? entry->met_type
               : nodes->walk.met_type_count + (entry->what == HAUL__PLAIN);
}

size_t haul__node_type_count(const haul__nodes *nodes)
{
    return nodes->walk.met_type_count + 2;
}

/* Writes a step before the others. If there is no room for all of it, its beginning is left out. */
static void step(haul__steps *steps, const char *text)
{
    const char next = steps->text[steps->first];
    size_t length = strlen(text);
    if (length > 0 && next && next != '[' && next != '.' && steps->first > 0)
        steps->text[--steps->first] = '.';
    if (length > steps->first) {
        text += length - steps->first;
        length = steps->first;
    }
    steps->first -= length;
    memcpy(steps->text + steps->first, text, length);
}

static void no_steps(haul__steps *steps)
{
    steps->first = sizeof steps->text - 1;
    steps->text[steps->first] = '\0';
}

/* The name by which the parent's elements lead to the entry. */
static const char *name_within(const haul__nodes *nodes, const haul__entry *entry)
{
    if (entry->part)
        return entry->part;
    return entry_at(nodes, entry->parent)->what == HAUL__POINTERS ? "" : entry->slot->name;
}

const char *haul__arrow_name(const haul__nodes *nodes, const haul__arrow *arrow, haul__steps *steps)
{
    const haul__entry *entry = entry_at(nodes, arrow->entry);
    size_t number = arrow->entry, element = arrow->element;
    char index[32];
    no_steps(steps);
    if (entry->what == HAUL__OBJECTS)
        step(steps, arrow->slot->name);
    for (;;) {
        if (entry->count > 1 || entry->what == HAUL__POINTERS || is_each(nodes, entry)) {
            snprintf(index, sizeof index, "[%zu]", element);
            step(steps, index);
        }
        if (nodes->owners[number] == number)
            break;
        step(steps, name_within(nodes, entry));
        number = entry->parent;
        element = entry->parent_element;
        entry = entry_at(nodes, number);
    }
    return steps->text + steps->first;
}

/* Indices of embedded elements do not matter to the field: "corner[2]" is "corner[]". */
static void drop_indices(haul__steps *steps)
{
    char *from = steps->text + steps->first, *to = from;
    int is_index = 0;
    for (; *from; from++) {
        if (*from == ']')
            is_index = 0;
        if (!is_index)
            *to++ = *from;
        if (*from == '[')
            is_index = 1;
    }
    *to = '\0';
}

/* A part may have a type without fields, which commit made up. */
static int is_nameless(const haul__nodes *nodes, const haul__entry *entry)
{
    return entry->what == HAUL__POINTERS || is_each(nodes, entry) ||
           (entry->part && haul_type_field_count(nodes->walk.met_types[entry->met_type].type) == 0);
}

size_t haul__arrow_field(const haul__nodes *nodes, const haul__arrow *arrow, haul__steps *steps)
{
    const haul__entry *entry = entry_at(nodes, arrow->entry);
    size_t number = arrow->entry;
    no_steps(steps);
    if (entry->what == HAUL__OBJECTS)
        step(steps, arrow->slot->name);
    while (entry->parent != SIZE_MAX && is_nameless(nodes, entry)) {
        step(steps, "[]");
        step(steps, name_within(nodes, entry));
        number = entry->parent;
        entry = entry_at(nodes, number);
    }
    drop_indices(steps);
    return number;
}

/* ---- The visit. */

static haul_status find_roots(haul_context *context, const haul_source *source,
                              const haul_root **roots, size_t *count)
{
    if (source->kind == HAUL_SOURCE_ARENA)
        return haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                          "an arena keeps no types: haul_from_arena_root names its root");
    if (source->kind == HAUL_SOURCE_ARENA_ROOT) {
        *roots = &source->root;
        *count = 1;
        return HAUL_OK;
    }
    if (source->kind != HAUL_SOURCE_PLAN)
        return haul__source_roots(source, roots, count, &context->error);
    if (!haul__plan_is_valid(source->plan) || haul__plan_context(source->plan) != context)
        return haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                          "the plan is NULL, freed or of another context");
    *roots = haul__plan_roots(source->plan, count);
    return HAUL_OK;
}

static haul_status visit(haul__nodes *nodes, const haul_root *roots, size_t count,
                         haul_status (*write)(haul__nodes *nodes, void *user), void *user)
{
    haul_status status =
        haul__record(nodes->context, roots, count, NULL, &nodes->found, &nodes->walk);
    if (status != HAUL_OK)
        return status;
    status = HAUL_ERROR_MEMORY;
    nodes->count = nodes->walk.entries.count;
    nodes->owners = haul__allocate_zeroed(nodes->allocator, nodes->count * sizeof *nodes->owners);
    nodes->spans = haul__allocate_zeroed(nodes->allocator, nodes->count * sizeof *nodes->spans);
    if (nodes->owners && nodes->spans) {
        find_ranges(nodes);
        status = write(nodes, user);
    }
    haul__release(nodes->allocator, nodes->owners, nodes->count * sizeof *nodes->owners);
    haul__release(nodes->allocator, nodes->spans, nodes->count * sizeof *nodes->spans);
    haul__record_close(&nodes->walk);
    haul__found_drop(nodes->context, &nodes->found);
    if (status == HAUL_ERROR_MEMORY)
        haul__fail(&nodes->context->error, status, "out of memory for the list of ranges");
    if (status == HAUL_ERROR_FILE)
        haul__fail(&nodes->context->error, status, "the file did not take all that was written");
    return status;
}

haul_status haul__nodes_visit(haul_context *context, const haul_source *source, size_t bytes,
                              haul_status (*write)(haul__nodes *nodes, void *user), void *user)
{
    haul__nodes nodes;
    haul_source from;
    const haul_root *roots = NULL;
    size_t count = 0;
    haul_status status = haul__source_read(source, bytes, &from, &context->error);
    if (status == HAUL_OK)
        status = find_roots(context, &from, &roots, &count);
    if (status == HAUL_OK)
        status = haul__check_roots(context, roots, count);
    if (status != HAUL_OK)
        return status;
    memset(&nodes, 0, sizeof nodes);
    nodes.context = context;
    nodes.allocator = &context->allocator;
    haul__hold_types(roots, count);
    status = visit(&nodes, roots, count, write, user);
    haul__drop_types(roots, count);
    return status;
}
