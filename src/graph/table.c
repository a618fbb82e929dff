/* The table of a graph: by type, and by field.
 *
 * A field is known by its shape in one type, so an array of pointers within the struct is one
 * field, and a struct that is embedded in two types has its fields in both.
 */
#include "haul/graph.h"

#include "audit/tally.h"
#include "base/sort.h"
#include "graph/nodes.h"
#include "graph/pen.h"

typedef struct table_line {
    size_t pointers, nulls, shared; /* of a field */
    size_t ranges, objects, bytes;
    haul__arrow arrow; /* the field's first pointer */
    size_t entry;      /* the type's first range */
    size_t order;
} table_line;

typedef struct table {
    haul__nodes *nodes;
    haul__pen *pen;
    haul__tally tally; /* (type or shape, 1 + number of the field's type): 1 + number of the line */
    HAUL__LIST(table_line) lines;
} table;

static table_line *line_of(table *t, const void *what, size_t of_type)
{
    size_t *number = haul__tally_of(&t->tally, (uintptr_t)what, of_type);
    table_line *added;
    if (!number)
        return NULL;
    if (*number)
        return &t->lines.at[*number - 1];
    added = HAUL__LIST_ADD(t->nodes->allocator, &t->lines);
    if (!added)
        return NULL;
    memset(added, 0, sizeof *added);
    *number = added->order = t->lines.count;
    return added;
}

static void close_lines(table *t)
{
    haul__tally_close(&t->tally);
    HAUL__LIST_RELEASE(t->nodes->allocator, &t->lines);
    memset(&t->lines, 0, sizeof t->lines);
}

static void add_range(const table *t, table_line *l, size_t number)
{
    const haul__entry *entry = &t->nodes->walk.entries.at[number];
    l->ranges++;
    l->objects += entry->count;
    l->bytes += haul__entry_bytes(&t->nodes->walk, entry);
}

/* The most bytes first. */
static int comes_before(const void *a, const void *b)
{
    const table_line *left = a, *right = b;
    return left->bytes != right->bytes ? left->bytes > right->bytes : left->order < right->order;
}

static void sort_lines(table *t)
{
    haul__sort(t->lines.at, t->lines.count, sizeof *t->lines.at, comes_before);
}

/* ---- Types. */

static const char data_line[] = "(data)", pointers_line[] = "(pointers)";

static haul_status count_types(table *t)
{
    size_t i;
    for (i = 0; i < t->nodes->count; i++) {
        const haul__entry *entry = &t->nodes->walk.entries.at[i];
        const void *what = entry->what == HAUL__PLAIN ? (const void *)data_line
                           : entry->what == HAUL__POINTERS
                               ? (const void *)pointers_line
                               : (const void *)t->nodes->walk.met_types[entry->met_type].type;
        table_line *l;
        if (t->nodes->owners[i] != i)
            continue;
        l = line_of(t, what, 0);
        if (!l)
            return HAUL_ERROR_MEMORY;
        if (!l->ranges)
            l->entry = i;
        add_range(t, l, i);
    }
    return HAUL_OK;
}

static void print_type(haul__pen *pen, const table_line *l, const char *name)
{
    haul__pen_print(pen, "%8zu  %10zu  %12zu  ", l->ranges, l->objects, l->bytes);
    haul__pen_name(pen, name, 0);
    haul__pen_end(pen);
}

static haul_status print_types(table *t)
{
    table_line all;
    size_t i;
    haul_status status = count_types(t);
    if (status != HAUL_OK)
        return status;
    sort_lines(t);
    memset(&all, 0, sizeof all);
    haul__pen_print(t->pen, "  ranges     objects         bytes  type");
    haul__pen_end(t->pen);
    for (i = 0; i < t->lines.count; i++) {
        const table_line *l = &t->lines.at[i];
        print_type(t->pen, l, haul__node_type(t->nodes, l->entry));
        all.ranges += l->ranges;
        all.objects += l->objects;
        all.bytes += l->bytes;
    }
    print_type(t->pen, &all, "in all");
    return HAUL_OK;
}

/* ---- Fields. */

static table_line *line_of_field(table *t, const haul__arrow *arrow)
{
    const haul__slot *slot = arrow->slot;
    const void *what = slot->shape ? (const void *)&slot->shape[arrow->level] : slot;
    haul__steps steps;
    size_t base = haul__arrow_field(t->nodes, arrow, &steps);
    table_line *l = line_of(t, what, 1u + t->nodes->walk.entries.at[base].met_type);
    if (l && !l->pointers && !l->ranges)
        l->arrow = *arrow;
    return l;
}

static haul_status count_pointer(void *user, const haul__arrow *arrow)
{
    table_line *l = line_of_field(user, arrow);
    if (!l)
        return HAUL_ERROR_MEMORY;
    l->pointers++;
    l->nulls += arrow->is_null != 0;
    l->shared += arrow->target != HAUL__NOWHERE;
    return HAUL_OK;
}

/* The pointer that led to a range first. */
static haul__arrow arrow_to(const haul__entry *entry)
{
    haul__arrow arrow;
    memset(&arrow, 0, sizeof arrow);
    arrow.entry = entry->parent;
    arrow.element = entry->parent_element;
    arrow.slot = entry->slot;
    arrow.level = entry->level;
    if (entry->what == HAUL__POINTERS)
        arrow.level--;
    else if (entry->what == HAUL__OBJECTS && entry->slot->levels)
        arrow.level = entry->slot->levels - 1u;
    return arrow;
}

static haul_status count_fields(table *t)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < t->nodes->count && status == HAUL_OK; i++)
        status = haul__nodes_arrows(t->nodes, i, count_pointer, t);
    for (i = 0; i < t->nodes->count && status == HAUL_OK; i++) {
        const haul__entry *entry = &t->nodes->walk.entries.at[i];
        haul__arrow arrow;
        table_line *l;
        if (t->nodes->owners[i] != i || entry->parent == SIZE_MAX)
            continue;
        arrow = arrow_to(entry); /* it was found by this pointer: others share it */
        l = line_of_field(t, &arrow);
        if (!l)
            return HAUL_ERROR_MEMORY;
        add_range(t, l, i);
        l->shared -= l->shared > 0;
    }
    return status;
}

static haul_status print_fields(table *t)
{
    haul__steps steps;
    size_t i;
    haul_status status = count_fields(t);
    if (status != HAUL_OK || !t->lines.count)
        return status;
    sort_lines(t);
    haul__pen_end(t->pen);
    haul__pen_print(t->pen, "pointers        null      shared     objects         bytes  field");
    haul__pen_end(t->pen);
    for (i = 0; i < t->lines.count; i++) {
        const table_line *l = &t->lines.at[i];
        size_t base = haul__arrow_field(t->nodes, &l->arrow, &steps);
        haul__pen_print(t->pen, "%8zu  %10zu  %10zu  %10zu  %12zu  ", l->pointers, l->nulls,
                        l->shared, l->objects, l->bytes);
        haul__pen_name(t->pen, haul__node_type(t->nodes, base), 0);
        haul__pen_print(t->pen, "%s", steps.text[steps.first] == '[' ? "" : ".");
        haul__pen_name(t->pen, steps.text + steps.first, 0);
        haul__pen_end(t->pen);
    }
    return HAUL_OK;
}

static haul_status write_table(haul__nodes *nodes, void *user)
{
    table t;
    haul_status status;
    memset(&t, 0, sizeof t);
    t.nodes = nodes;
    t.pen = user;
    t.tally.allocator = nodes->allocator;
    status = print_types(&t);
    close_lines(&t);
    if (status == HAUL_OK)
        status = print_fields(&t);
    close_lines(&t);
    return status == HAUL_OK && t.pen->has_failed ? HAUL_ERROR_FILE : status;
}

haul_status haul_graph_write_table_sized(haul_context *context, const haul_source *source,
                                         size_t source_bytes, const haul_file *file)
{
    haul__pen pen;
    haul_status status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    status = haul__pen_open(&pen, file, &context->error);
    if (status == HAUL_OK)
        status = haul__nodes_visit(context, source, source_bytes, write_table, &pen);
    haul__context_leave(context);
    return status;
}
