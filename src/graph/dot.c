/* The picture of a graph, in Graphviz's language.
 *
 * Ranges are taken in the order of discovery, so the range that led to another has its turn first.
 * Whether one is drawn depends on that range and the limits. One that is not drawn is shown by
 * the nearest drawn range on its way from the root: by the node "... n more" beside that.
 */
#include <inttypes.h>

#include "haul/graph.h"

#include "audit/tally.h"
#include "base/sized.h"
#include "graph/nodes.h"
#include "graph/pen.h"

#define NODES 100u

/* How a range is shown. */
typedef struct shown {
    int is_drawn;
    size_t by;    /* if it is not drawn: the drawn range; HAUL__NOWHERE: there is none */
    size_t depth; /* pointers from a root */
    size_t more;  /* ranges that it shows beside itself */
} shown;

/* Pointers of one range that are one edge. */
typedef struct edge {
    haul__arrow arrow; /* the first of them */
    size_t to, times;
    int to_more; /* to the node beside `to` */
} edge;

typedef struct picture {
    haul__nodes *nodes;
    haul__pen *pen;
    haul_graph_options options;
    shown *shown;         /* of each entry */
    size_t *of_type;      /* drawn ranges: of each met type, then arrays of pointers, then data */
    size_t drawn, hidden; /* hidden: ranges that no drawn one shows */
    haul__tally tally;    /* (slot or `more`, target): 1 + number of the edge */
    HAUL__LIST(edge) edges;
} picture;

static const char more[] = "";

/* ---- What is drawn. */

static const haul__entry *entry_at(const picture *p, size_t entry)
{
    return &p->nodes->walk.entries.at[entry];
}

static int is_wanted(const picture *p, const haul__entry *entry)
{
    size_t i;
    if (!p->options.types || entry->parent == SIZE_MAX || entry->what == HAUL__POINTERS)
        return 1;
    for (i = 0; entry->what == HAUL__OBJECTS && i < p->options.type_count; i++)
        if (p->options.types[i] == p->nodes->walk.met_types[entry->met_type].type)
            return 1;
    return 0;
}

static void decide(picture *p, size_t number)
{
    const haul__entry *entry = entry_at(p, number);
    const size_t kind = entry->what == HAUL__OBJECTS
                            ? entry->met_type
                            : p->nodes->walk.met_type_count + (entry->what == HAUL__PLAIN);
    shown *self = &p->shown[number];
    size_t *of_type = &p->of_type[kind], parent;
    self->by = HAUL__NOWHERE;
    self->is_drawn = p->drawn < p->options.nodes && is_wanted(p, entry) &&
                     (!p->options.nodes_of_type || *of_type < p->options.nodes_of_type);
    if (entry->parent != SIZE_MAX) {
        parent = p->nodes->owners[entry->parent];
        self->depth = p->shown[parent].depth + 1;
        self->is_drawn &=
            p->shown[parent].is_drawn && (!p->options.depth || self->depth <= p->options.depth);
        self->by = p->shown[parent].is_drawn ? parent : p->shown[parent].by;
    }
    p->drawn += (size_t)self->is_drawn;
    *of_type += (size_t)self->is_drawn;
    if (!self->is_drawn)
        ++*(self->by == HAUL__NOWHERE ? &p->hidden : &p->shown[self->by].more);
}

/* ---- Nodes. */

static void draw_node(const picture *p, size_t number)
{
    const haul__entry *entry = entry_at(p, number);
    const size_t bytes = haul__entry_bytes(&p->nodes->walk, entry);
    haul__pen *pen = p->pen;
    haul__pen_print(pen, "    n%zu [label=\"", number);
    haul__pen_name(pen, haul__node_type(p->nodes, number), 1);
    if (entry->count > 1)
        haul__pen_print(pen, "[%zu]", entry->count);
    haul__pen_print(pen, "\\n%zu byte%s", bytes, bytes == 1 ? "" : "s");
    if (p->options.addresses)
        haul__pen_print(pen, "\\n0x%" PRIxPTR, entry->address);
    haul__pen_print(pen, "\"%s%s];", entry->parent == SIZE_MAX ? ", peripheries=2" : "",
                    entry->what == HAUL__PLAIN ? ", style=rounded" : "");
    haul__pen_end(pen);
}

static void draw_more(const picture *p, size_t beside, size_t count)
{
    if (beside == HAUL__NOWHERE)
        haul__pen_print(p->pen, "    m [label=\"... %zu more\", shape=plaintext];", count);
    else
        haul__pen_print(p->pen, "    m%zu [label=\"... %zu more\", shape=plaintext];", beside,
                        count);
    haul__pen_end(p->pen);
}

/* ---- Edges. */

static haul_status add_edge(void *user, const haul__arrow *arrow)
{
    picture *p = user;
    const size_t from = p->nodes->owners[arrow->entry];
    size_t to = arrow->target, *number;
    edge *added;
    int to_more;
    if (to == HAUL__NOWHERE)
        return HAUL_OK;
    to_more = !p->shown[to].is_drawn;
    if (to_more)
        to = p->shown[to].by;
    if (to_more && to == from)
        return HAUL_OK; /* drawn once, with that node */
    number = haul__tally_of(&p->tally, (uintptr_t)(to_more ? (const void *)more : arrow->slot), to);
    if (!number)
        return HAUL_ERROR_MEMORY;
    if (*number) {
        p->edges.at[*number - 1].times++;
        return HAUL_OK;
    }
    added = HAUL__LIST_ADD(p->nodes->allocator, &p->edges);
    if (!added)
        return HAUL_ERROR_MEMORY;
    added->arrow = *arrow;
    added->to = to;
    added->times = 1;
    added->to_more = to_more;
    *number = p->edges.count;
    return HAUL_OK;
}

static void draw_edge(const picture *p, const edge *e)
{
    haul__pen *pen = p->pen;
    haul__steps steps;
    haul__pen_print(pen, "    n%zu -> ", p->nodes->owners[e->arrow.entry]);
    if (e->to_more && e->to == HAUL__NOWHERE)
        haul__pen_print(pen, "m [style=dotted];");
    else if (e->to_more)
        haul__pen_print(pen, "m%zu [style=dotted];", e->to);
    else {
        haul__pen_print(pen, "n%zu [label=\"", e->to);
        haul__pen_name(pen, haul__arrow_name(p->nodes, &e->arrow, &steps), 1);
        if (e->times > 1)
            haul__pen_print(pen, " and %zu more", e->times - 1);
        haul__pen_print(pen, "\"%s];", e->arrow.is_alias ? ", style=dashed" : "");
    }
    haul__pen_end(pen);
}

static haul_status draw_edges(picture *p, size_t number)
{
    haul_status status;
    size_t i;
    p->edges.count = 0;
    status = haul__nodes_arrows(p->nodes, number, add_edge, p);
    for (i = 0; i < p->edges.count && status == HAUL_OK; i++)
        draw_edge(p, &p->edges.at[i]);
    haul__tally_close(&p->tally);
    return status;
}

/* ---- The picture. */

static haul_status draw(picture *p)
{
    const size_t count = p->nodes->count, *owners = p->nodes->owners;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < count; i++)
        if (owners[i] == i)
            decide(p, i);
    haul__pen_print(p->pen, "digraph haul {");
    haul__pen_end(p->pen);
    haul__pen_print(p->pen, "    rankdir=LR;");
    haul__pen_end(p->pen);
    haul__pen_print(p->pen, "    node [shape=box];");
    haul__pen_end(p->pen);
    for (i = 0; i < count; i++) {
        if (owners[i] == i && p->shown[i].is_drawn)
            draw_node(p, i);
        if (p->shown[i].more) {
            draw_more(p, i, p->shown[i].more);
            haul__pen_print(p->pen, "    n%zu -> m%zu [style=dotted];", i, i);
            haul__pen_end(p->pen);
        }
    }
    if (p->hidden)
        draw_more(p, HAUL__NOWHERE, p->hidden);
    for (i = 0; i < count && status == HAUL_OK; i++)
        if (p->shown[owners[i]].is_drawn)
            status = draw_edges(p, i);
    haul__pen_print(p->pen, "}");
    haul__pen_end(p->pen);
    return status;
}

static haul_status write_dot(haul__nodes *nodes, void *user)
{
    picture *p = user;
    const size_t kinds = nodes->walk.met_type_count + 2;
    haul_status status = HAUL_ERROR_MEMORY;
    p->nodes = nodes;
    p->tally.allocator = nodes->allocator;
    p->shown = haul__allocate_zeroed(nodes->allocator, nodes->count * sizeof *p->shown);
    p->of_type = haul__allocate_zeroed(nodes->allocator, kinds * sizeof *p->of_type);
    if (p->shown && p->of_type)
        status = draw(p);
    haul__release(nodes->allocator, p->shown, nodes->count * sizeof *p->shown);
    haul__release(nodes->allocator, p->of_type, kinds * sizeof *p->of_type);
    HAUL__LIST_RELEASE(nodes->allocator, &p->edges);
    return status == HAUL_OK && p->pen->has_failed ? HAUL_ERROR_FILE : status;
}

haul_status haul_graph_write_dot_sized(haul_context *context, const haul_source *source,
                                       size_t source_bytes, const haul_graph_options *options,
                                       size_t options_bytes, const haul_file *file)
{
    haul__pen pen;
    picture p;
    haul_status status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    memset(&p, 0, sizeof p);
    p.pen = &pen;
    status = haul__pen_open(&pen, file, &context->error);
    if (status == HAUL_OK &&
        haul__read_options(&p.options, sizeof p.options, options, options_bytes) != HAUL_OK)
        status = haul__fail(&context->error, HAUL_ERROR_VERSION, HAUL__NEWER_OPTIONS);
    if (!p.options.nodes)
        p.options.nodes = NODES;
    if (status == HAUL_OK)
        status = haul__nodes_visit(context, source, source_bytes, write_dot, &p);
    haul__context_leave(context);
    return status;
}
