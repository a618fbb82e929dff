/* A space of items: distances in place of pointers, begin and end and the end of the room, structs
 * in structs, packed structs, pointers that own unless another one does, a pool, an array of
 * arrays, bytes that are skipped and bytes that are zeros.
 */
#include "images/shapes.h"

enum { SPACE, ITEM, EDGE, NODE }; /* kinds */

typedef struct item {
    int32_t next; /* the distance to another one */
    int32_t number;
    struct item *twin; /* its owner, unless another one is */
    ADDED(uintptr_t added;)
} item;

typedef struct items {
    item *begin, *end, *room;
} items;

typedef struct __attribute__((packed)) edge {
    uint8_t weight;
    item *to;
    ADDED(uint8_t added[3];)
} edge;

typedef struct node {
    struct node *next;
    size_t number;
} node;

typedef struct space {
    items all, some[2];
    edge *edges;
    item *chosen; /* borrowed */
    uint8_t edge_count, row_count;
    uint8_t flags[2];
    uint32_t pool_bytes;
    float **rows; /* each of 2 */
    void *pool;
    node *first;    /* in the pool */
    float *room;    /* zeros, as many as edges */
    uint64_t cache; /* no data: skipped bytes give way to other objects */
    ADDED(uintptr_t added;)
} space;

static haul_type *space_type, *items_type, *item_type, *edge_type, *node_type;
static const haul_field item_fields[] = {
    HAUL_RELATIVE(item, next, .target = &item_type),
    HAUL_OBJECT(item, twin, &item_type, .ownership = HAUL_UNLESS_OWNED),
};
static const haul_field items_fields[] = {
    HAUL_OBJECTS(items, begin, &item_type, HAUL_UNTIL(items, end)),
    HAUL_END_OF(items, room, begin),
};
static const haul_field edge_fields[] = { HAUL_OBJECT(edge, to, &item_type, .packed = 1) };
static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &node_type) };
static const haul_field space_fields[] = {
    HAUL_EMBED(space, all, &items_type),
    HAUL_EMBED(space, some, &items_type),
    HAUL_OBJECTS(space, edges, &edge_type, HAUL_COUNT(space, edge_count)),
    HAUL_OBJECT(space, chosen, &item_type, .ownership = HAUL_BORROWED),
    HAUL_ARRAYS(space, rows, HAUL_COUNT(space, row_count), HAUL_FIXED(2)),
    HAUL_POOL(space, pool, HAUL_COUNT(space, pool_bytes)),
    HAUL_OBJECT(space, first, &node_type),
    HAUL_ARRAY(space, room, HAUL_COUNT(space, edge_count), .transfer = HAUL_CREATE),
    HAUL_SKIP(space, cache),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(space, &space_type, space_fields), HAUL_STRUCT(items, &items_type, items_fields),
    HAUL_STRUCT(item, &item_type, item_fields),    HAUL_STRUCT(edge, &edge_type, edge_fields),
    HAUL_STRUCT(node, &node_type, node_fields),
};

static haul_status describe(haul_context *context)
{
    return HAUL_DESCRIBE(context, structs);
}

static void forget(void)
{
    HAUL_FORGET(structs);
}

/* ---- Building. */

static void build_items(pile *p, choices *c, items *to)
{
    const size_t count = choose(c, 4);
    size_t i;
    to->begin = pile_take(p, 4 * sizeof *to->begin);
    to->end = to->room = to->begin + count;
    for (i = 0; i < count; i++) {
        const uint32_t other = choose(c, (uint32_t)count);
        item *twin = choose(c, 2) ? pile_take(p, sizeof *twin) : &to->begin[i];
        to->begin[i].next = ((int32_t)other - (int32_t)i) * (int32_t)sizeof(item);
        to->begin[i].number = 7;
        to->begin[i].twin = choose(c, 2) ? twin : NULL;
    }
}

static void build_pool(pile *p, choices *c, space *s)
{
    node *nodes = pile_take(p, 4 * sizeof *nodes);
    uint32_t used = choose(c, 4);
    s->pool = nodes;
    s->pool_bytes = 4 * sizeof *nodes;
    while (used-- > 0) {
        nodes[used].next = s->first;
        nodes[used].number = used;
        s->first = &nodes[used];
    }
}

static void *build(pile *p, choices *c)
{
    space *s = pile_take(p, sizeof *s);
    uint8_t i;
    build_items(p, c, &s->all);
    build_items(p, c, &s->some[0]);
    build_items(p, c, &s->some[1]);
    s->edge_count = (uint8_t)choose(c, 4);
    s->edges = pile_take(p, 4 * sizeof *s->edges);
    s->room = pile_take(p, 4 * sizeof *s->room);
    for (i = 0; i < s->edge_count; i++) {
        item *to = s->some[choose(c, 2)].begin;
        memcpy(&s->edges[i].to, &to, sizeof to);
        s->edges[i].weight = i;
    }
    s->chosen = s->all.begin == s->all.end ? NULL : s->all.begin;
    s->row_count = (uint8_t)choose(c, 3);
    s->rows = pile_take(p, 3 * sizeof *s->rows);
    for (i = 0; i < s->row_count; i++)
        s->rows[i] = choose(c, 2) ? pile_take(p, 2 * sizeof **s->rows) : NULL;
    build_pool(p, c, s);
    return s;
}

/* ---- Reading. */

static void visit_item(reader *r, unsigned char *at)
{
    item i;
    if (!reader_holds(r, at, sizeof i))
        return;
    memcpy(&i, at, sizeof i);
    reader_role(r, at, sizeof i.next, ROLE_DISTANCE, ROLE_IN_DISTANCE);
    READ_DATA(r, at, item, number);
    ADDED(READ_DATA(r, at, item, added);)
    READ_WORD(r, at, item, twin);
    if (i.next)
        reader_visit(r, ITEM, (const void *)((uintptr_t)at + (uintptr_t)(intptr_t)i.next),
                     sizeof i);
    reader_visit(r, ITEM, i.twin, sizeof i);
}

static void visit_items(reader *r, unsigned char *at)
{
    items all;
    size_t bytes, i;
    memcpy(&all, at, sizeof all);
    READ_WORD(r, at, items, begin);
    READ_WORD(r, at, items, end);
    READ_WORD(r, at, items, room);
    bytes = (uintptr_t)all.end - (uintptr_t)all.begin;
    if (all.end < all.begin || bytes % sizeof(item) != 0)
        reader_wrong(r, at, "an array ends before it begins, or within an element");
    if (all.begin && !reader_holds(r, all.begin, bytes))
        return;
    if (all.room != (all.begin ? all.end : NULL))
        reader_wrong(r, at, "an array has room behind its end");
    for (i = 0; i < bytes / sizeof(item) && !r->wrong; i++)
        reader_visit(r, ITEM, all.begin + i, sizeof(item));
}

static void visit_edge(reader *r, unsigned char *at)
{
    edge e;
    if (!reader_holds(r, at, sizeof e))
        return;
    memcpy(&e, at, sizeof e);
    READ_DATA(r, at, edge, weight);
    ADDED(READ_DATA(r, at, edge, added);)
    READ_WORD(r, at, edge, to);
    reader_visit(r, ITEM, e.to, sizeof(item));
}

static void visit_node(reader *r, unsigned char *at)
{
    node n;
    if (!reader_holds(r, at, sizeof n))
        return;
    memcpy(&n, at, sizeof n);
    READ_WORD(r, at, node, next);
    READ_DATA(r, at, node, number);
    reader_visit(r, NODE, n.next, sizeof n);
}

static void visit_rows(reader *r, const space *s)
{
    uint8_t i;
    for (i = 0; i < s->row_count && reader_holds(r, s->rows + i, sizeof *s->rows); i++) {
        float *row;
        memcpy(&row, s->rows + i, sizeof row);
        reader_role(r, s->rows + i, sizeof row, ROLE_WORD, ROLE_IN_WORD);
        if (row)
            reader_role(r, row, 2 * sizeof *row, ROLE_DATA, ROLE_DATA);
    }
}

static void visit_space(reader *r, unsigned char *at)
{
    space s;
    uint8_t i;
    if (!reader_holds(r, at, sizeof s))
        return;
    memcpy(&s, at, sizeof s);
    visit_items(r, at + offsetof(space, all));
    visit_items(r, at + offsetof(space, some[0]));
    visit_items(r, at + offsetof(space, some[1]));
    READ_WORD(r, at, space, edges);
    READ_WORD(r, at, space, chosen);
    READ_WORD(r, at, space, rows);
    READ_WORD(r, at, space, pool);
    READ_WORD(r, at, space, first);
    READ_WORD(r, at, space, room);
    READ_NUMBER(r, at, space, edge_count);
    READ_NUMBER(r, at, space, row_count);
    READ_NUMBER(r, at, space, pool_bytes);
    READ_DATA(r, at, space, flags);
    ADDED(READ_DATA(r, at, space, added);)
    for (i = 0; i < s.edge_count; i++)
        reader_visit(r, EDGE, s.edges + i, sizeof *s.edges);
    reader_visit(r, ITEM, s.chosen, sizeof(item));
    visit_rows(r, &s);
    if (s.pool_bytes)
        reader_holds(r, s.pool, s.pool_bytes);
    reader_visit(r, NODE, s.first, sizeof(node));
    reader_role(r, s.room, s.edge_count * sizeof *s.room, ROLE_DATA, ROLE_DATA);
}

static void visit(reader *r, unsigned kind, unsigned char *at)
{
    if (kind == SPACE)
        visit_space(r, at);
    else if (kind == ITEM)
        visit_item(r, at);
    else if (kind == EDGE)
        visit_edge(r, at);
    else
        visit_node(r, at);
}

static const haul_image_growth sizes[] = { SIZE(item), SIZE(edge), SIZE(space) };

const shape SHAPE(space) = { "space", describe, forget,       &space_type, SPACE,
                             build,   visit,    GROWN(space), sizes,       3 };
