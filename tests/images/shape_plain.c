/* Plain graphs, which a scan can check (image/scan.c): trees with counted arrays of several kinds,
 * strings, and a struct with a hole. */
#include "images/shapes.h"

typedef struct point {
    float x, y, z;
    ADDED(float added;)
} point;

typedef struct plain plain;
typedef struct edge {
    plain *to;
    uintptr_t data[2];
    ADDED(uintptr_t added;)
} edge;

typedef struct holed {
    plain *owner;
    uint32_t value, skipped;
    edge *first;
    ADDED(uintptr_t added;)
} holed;

struct plain {
    plain *left, *right, **all;
    double *xyz;
    point *points;
    edge *edges;
    holed *hole;
    char *name, **labels;
    uint16_t count;
    uint8_t edge_count, all_count;
    float weight;
    ADDED(uintptr_t added[3];)
};

enum { PLAIN, EDGE, HOLED };

static haul_type *point_type, *edge_type, *holed_type, *plain_type;
static const haul_field edge_fields[] = { HAUL_OBJECT(edge, to, &plain_type) };
static const haul_field holed_fields[] = {
    HAUL_OBJECT(holed, owner, &plain_type),
    HAUL_SKIP(holed, skipped),
    HAUL_OBJECT(holed, first, &edge_type),
};
static const haul_field plain_fields[] = {
    HAUL_OBJECT(plain, left, &plain_type),
    HAUL_OBJECT(plain, right, &plain_type),
    HAUL_POINTERS(plain, all, &plain_type, HAUL_COUNT(plain, all_count)),
    HAUL_ARRAY(plain, xyz, HAUL_COUNT(plain, count)),
    HAUL_OBJECTS(plain, points, &point_type, HAUL_COUNT_TIMES(plain, count, 2)),
    HAUL_OBJECTS(plain, edges, &edge_type, HAUL_COUNT(plain, edge_count)),
    HAUL_OBJECT(plain, hole, &holed_type),
    HAUL_STRING(plain, name),
    HAUL_STRINGS(plain, labels, HAUL_FIXED(2)),
};
static const haul_struct structs[] = {
    HAUL_PLAIN(point, &point_type),
    HAUL_STRUCT(edge, &edge_type, edge_fields),
    HAUL_STRUCT(holed, &holed_type, holed_fields),
    HAUL_STRUCT(plain, &plain_type, plain_fields),
};

static haul_status describe(haul_context *context)
{
    return HAUL_DESCRIBE(context, structs);
}

static void forget(void)
{
    HAUL_FORGET(structs);
}

static holed *build_hole(pile *p, choices *c, plain *const *all, size_t count)
{
    holed *hole = pile_take(p, sizeof *hole);
    hole->owner = all[choose(c, (uint32_t)count)];
    hole->value = 7;
    if (choose(c, 2)) {
        hole->first = pile_take(p, sizeof *hole->first);
        hole->first->to = all[choose(c, (uint32_t)count)];
    }
    return hole;
}

static void build_arrays(pile *p, choices *c, plain *one, plain *const *all, size_t count)
{
    size_t i;
    one->count = (uint16_t)choose(c, 4);
    one->xyz = pile_take(p, 3 * sizeof *one->xyz);
    one->points = pile_take(p, 6 * sizeof *one->points);
    for (i = 0; i < one->count; i++) {
        one->xyz[i] = (double)i + 0.5;
        one->points[2 * i].y = 1.5f;
    }
    one->edge_count = (uint8_t)choose(c, 3);
    one->edges = pile_take(p, 2 * sizeof *one->edges);
    for (i = 0; i < one->edge_count; i++) {
        one->edges[i].to = all[choose(c, (uint32_t)count)];
        one->edges[i].data[1] = i;
    }
    one->all_count = (uint8_t)choose(c, 4);
    one->all = pile_take(p, 3 * sizeof *one->all);
    for (i = 0; i < one->all_count; i++)
        one->all[i] = choose(c, 3) ? all[choose(c, (uint32_t)count)] : NULL;
}

static void *build(pile *p, choices *c)
{
    const size_t count = 1 + choose(c, 4);
    plain *all[4] = { NULL };
    size_t i;
    for (i = 0; i < count; i++)
        all[i] = pile_take(p, sizeof **all);
    for (i = 0; i < count; i++) {
        plain *one = all[i];
        one->left = 2 * i + 1 < count ? all[2 * i + 1] : NULL;
        one->right = choose(c, 2) ? all[choose(c, (uint32_t)count)] : NULL;
        build_arrays(p, c, one, all, count);
        one->hole = choose(c, 2) ? build_hole(p, c, all, count) : NULL;
        one->name = choose(c, 4) ? pile_string(p, c) : NULL;
        if (choose(c, 2)) {
            one->labels = pile_take(p, 2 * sizeof *one->labels);
            one->labels[0] = pile_string(p, c);
            one->labels[1] = choose(c, 2) ? one->name : NULL;
        }
        one->weight = 1.5f;
    }
    return all[0];
}

static void visit_edge(reader *r, unsigned char *at)
{
    edge e;
    memcpy(&e, at, sizeof e);
    READ_WORD(r, at, edge, to);
    READ_DATA(r, at, edge, data);
    ADDED(READ_DATA(r, at, edge, added);)
    reader_visit(r, PLAIN, e.to, sizeof(plain));
}

static void visit_hole(reader *r, unsigned char *at)
{
    holed h;
    memcpy(&h, at, sizeof h);
    READ_WORD(r, at, holed, owner);
    READ_DATA(r, at, holed, value);
    ADDED(READ_DATA(r, at, holed, added);)
    READ_WORD(r, at, holed, first);
    reader_visit(r, PLAIN, h.owner, sizeof(plain));
    reader_visit(r, EDGE, h.first, sizeof(edge));
}

static void visit_words(reader *r, unsigned char *at)
{
    READ_WORD(r, at, plain, left);
    READ_WORD(r, at, plain, right);
    READ_WORD(r, at, plain, all);
    READ_WORD(r, at, plain, xyz);
    READ_WORD(r, at, plain, points);
    READ_WORD(r, at, plain, edges);
    READ_WORD(r, at, plain, hole);
    READ_WORD(r, at, plain, name);
    READ_WORD(r, at, plain, labels);
    READ_NUMBER(r, at, plain, count);
    READ_NUMBER(r, at, plain, edge_count);
    READ_NUMBER(r, at, plain, all_count);
    READ_DATA(r, at, plain, weight);
    ADDED(READ_DATA(r, at, plain, added);)
}

static void *visit_pointer(reader *r, void *at)
{
    void *pointer = NULL;
    if (!reader_holds(r, at, sizeof pointer))
        return NULL;
    memcpy(&pointer, at, sizeof pointer);
    reader_role(r, at, sizeof pointer, ROLE_WORD, ROLE_IN_WORD);
    return pointer;
}

static void visit_plain(reader *r, unsigned char *at)
{
    plain one;
    size_t i;
    memcpy(&one, at, sizeof one);
    visit_words(r, at);
    reader_visit(r, PLAIN, one.left, sizeof one);
    reader_visit(r, PLAIN, one.right, sizeof one);
    for (i = 0; i < one.all_count; i++)
        reader_visit(r, PLAIN, visit_pointer(r, one.all + i), sizeof one);
    reader_role(r, one.xyz, one.count * sizeof *one.xyz, ROLE_DATA, ROLE_DATA);
    reader_role(r, one.points, 2u * one.count * sizeof *one.points, ROLE_DATA, ROLE_DATA);
    for (i = 0; i < one.edge_count; i++)
        reader_visit(r, EDGE, one.edges + i, sizeof *one.edges);
    reader_visit(r, HOLED, one.hole, sizeof *one.hole);
    reader_string(r, one.name);
    for (i = 0; one.labels && i < 2; i++)
        reader_string(r, visit_pointer(r, one.labels + i));
}

static void visit(reader *r, unsigned kind, unsigned char *at)
{
    static const size_t bytes[] = { sizeof(plain), sizeof(edge), sizeof(holed) };
    if (!reader_holds(r, at, bytes[kind]))
        return;
    if (kind == PLAIN)
        visit_plain(r, at);
    else if (kind == EDGE)
        visit_edge(r, at);
    else
        visit_hole(r, at);
}

static const haul_image_growth sizes[] = { SIZE(point), SIZE(edge), SIZE(holed), SIZE(plain) };

const shape SHAPE(plain) = { "plain", describe, forget,       &plain_type, PLAIN,
                             build,   visit,    GROWN(plain), sizes,       4 };
