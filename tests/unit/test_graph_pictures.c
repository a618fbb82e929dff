/* The table and the picture of a graph: numbers agree with a graph that was counted by hand, limits
 * cut at the right place, and every kind of pointer is drawn. And haul_device_where.
 *
 * Faults by number (docs/testing.md): H1, H2, C3.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/types.h"

/* The tables' numbers are those of machines with pointers of 8 bytes. */
#define COMPARABLE (sizeof(void *) == 8)

typedef struct sheet {
    char text[32768];
    size_t length, writes, allowed;
    haul_status (*again)(void); /* called at each write */
    haul_status answered;
} sheet;

static sheet paper;
static haul_context *context;

static haul_status write_sheet(void *user, const void *data, size_t bytes)
{
    sheet *s = user;
    if (s->again)
        s->answered = s->again();
    if (s->writes++ == s->allowed || bytes >= sizeof s->text - s->length)
        return HAUL_ERROR_DEVICE; /* anything but HAUL_OK */
    memcpy(s->text + s->length, data, bytes);
    s->length += bytes;
    s->text[s->length] = '\0';
    return HAUL_OK;
}

static haul_file clean_sheet(void)
{
    haul_file file;
    memset(&paper, 0, sizeof paper);
    paper.allowed = SIZE_MAX;
    file.user = &paper;
    file.write = write_sheet;
    file.read = NULL;
    return file;
}

static const char *table_of(haul_source source)
{
    haul_file file = clean_sheet();
    CHECK_STATUS(haul_graph_write_table(context, source, &file), HAUL_OK);
    CHECK_EQ(haul_context_error(context)->status, HAUL_OK);
    return paper.text;
}

static const char *dot_of(haul_source source, const haul_graph_options *options)
{
    haul_file file = clean_sheet();
    CHECK_STATUS(haul_graph_write_dot(context, source, options, &file), HAUL_OK);
    CHECK_EQ(haul_context_error(context)->status, HAUL_OK);
    return paper.text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (text = strstr(text, part); text; text = strstr(text + 1, part))
        count++;
    return count;
}

#define NODES "[label=\"node\\n"

/* ---- A ring of nodes with all that a plain struct can have. */

typedef struct node {
    struct node *next, *owner;
    char *name;
    struct node **kids;
    struct node *pair[2];
    double *xs;
    int64_t count;
} node;

static haul_type *node_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_OBJECT(node, owner, &node_type, .ownership = HAUL_BORROWED),
    HAUL_STRING(node, name),
    HAUL_POINTERS(node, kids, &node_type, HAUL_COUNT(node, count)),
    HAUL_EACH(node, pair, .target = &node_type),
    HAUL_ARRAY(node, xs, HAUL_COUNT(node, count)),
};

static node ring[6];
static node *ring_kids[3];
static double ring_xs[3];
static char zero[] = "zero", one[] = "one";

static void start(void)
{
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    node_type = TYPE_NEW(node, node_fields);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
    memset(ring, 0, sizeof ring);
    ring[0].next = &ring[1];
    ring[1].next = &ring[2];
    ring[2].next = &ring[0];
    ring[1].owner = &ring[0];
    ring[0].name = zero;
    ring[1].name = one;
    ring[0].count = 3;
    ring[0].kids = ring_kids;
    ring_kids[0] = ring_kids[2] = &ring[1];
    ring_kids[1] = &ring[2];
    ring[0].xs = ring_xs;
    ring[0].pair[0] = &ring[3];
    ring[0].pair[1] = &ring[4];
    ring[4].next = &ring[5];
}

static void end(void)
{
    haul_type_free(&node_type);
    haul_context_free(&context);
}

TEST(graph_pictures, the_table_counts_each_type_and_each_field)
{
    start();
    table_of(haul_from_object(ring, node_type));
    if (COMPARABLE)
        CHECK_STR(paper.text,
                  "  ranges     objects         bytes  type\n"
                  "       6           6           384  node\n"
                  "       3          12            33  (data)\n"
                  "       1           3            24  (pointers)\n"
                  "      10          21           441  in all\n"
                  "\n"
                  "pointers        null      shared     objects         bytes  field\n"
                  "       6           2           1           3           192  node.next\n"
                  "      12          10           0           2           128  node.pair[]\n"
                  "       6           5           0           3            24  node.kids\n"
                  "       6           5           0           3            24  node.xs\n"
                  "       6           4           0           9             9  node.name\n"
                  "       6           5           1           0             0  node.owner\n"
                  "       3           0           3           0             0  node.kids[]\n");
    end();
}

TEST(graph_pictures, each_pointer_is_an_edge_and_the_ring_closes)
{
    start();
    dot_of(haul_from_object(ring, node_type), NULL);
    if (COMPARABLE)
        CHECK_STR(paper.text, "digraph haul {\n"
                              "    rankdir=LR;\n"
                              "    node [shape=box];\n"
                              "    n0 [label=\"node\\n64 bytes\", peripheries=2];\n"
                              "    n1 [label=\"node\\n64 bytes\"];\n"
                              "    n2 [label=\"(data)[5]\\n5 bytes\", style=rounded];\n"
                              "    n3 [label=\"(pointers)[3]\\n24 bytes\"];\n"
                              "    n4 [label=\"node\\n64 bytes\"];\n"
                              "    n5 [label=\"node\\n64 bytes\"];\n"
                              "    n6 [label=\"(data)[3]\\n24 bytes\", style=rounded];\n"
                              "    n7 [label=\"node\\n64 bytes\"];\n"
                              "    n8 [label=\"(data)[4]\\n4 bytes\", style=rounded];\n"
                              "    n9 [label=\"node\\n64 bytes\"];\n"
                              "    n0 -> n1 [label=\"next\"];\n"
                              "    n0 -> n2 [label=\"name\"];\n"
                              "    n0 -> n3 [label=\"kids\"];\n"
                              "    n0 -> n4 [label=\"pair[0]\"];\n"
                              "    n0 -> n5 [label=\"pair[1]\"];\n"
                              "    n0 -> n6 [label=\"xs\"];\n"
                              "    n1 -> n7 [label=\"next\"];\n"
                              "    n1 -> n8 [label=\"name\"];\n"
                              "    n1 -> n0 [label=\"owner\", style=dashed];\n"
                              "    n3 -> n1 [label=\"[0] and 1 more\"];\n"
                              "    n3 -> n7 [label=\"[1]\"];\n"
                              "    n5 -> n9 [label=\"next\"];\n"
                              "    n7 -> n0 [label=\"next\"];\n"
                              "}\n");
    CHECK_EQ(count_of(paper.text, NODES), 6);
    end();
}

TEST(graph_pictures, an_array_of_objects_names_its_elements)
{
    start();
    dot_of(haul_from_array(ring, node_type, 6), NULL);
    CHECK_HAS(paper.text, "n0 [label=\"node[6]\\n");
    CHECK_HAS(paper.text, "n0 -> n0 [label=\"[0].next and 3 more\"];");
    CHECK_HAS(paper.text, "n0 -> n0 [label=\"[1].owner\", style=dashed];");
    CHECK_HAS(table_of(haul_from_array(ring, node_type, 6)), "       6           2           4");
    end();
}

/* ---- Limits. */

TEST(graph_pictures, what_a_limit_cuts_is_counted_where_it_was_cut)
{
    haul_graph_options options = { 0 };
    const haul_type *types[1];
    start();
    options.nodes = 3;
    dot_of(haul_from_object(ring, node_type), &options);
    CHECK_EQ(count_of(paper.text, " bytes\""), 3);
    CHECK_HAS(paper.text, "m0 [label=\"... 5 more\", shape=plaintext];\n");
    CHECK_HAS(paper.text, "m1 [label=\"... 2 more\", shape=plaintext];\n");
    CHECK_HAS(paper.text, "n0 -> m0 [style=dotted];\n");
    CHECK_HAS(paper.text, "n1 -> m1 [style=dotted];\n");

    memset(&options, 0, sizeof options);
    options.depth = 1;
    dot_of(haul_from_object(ring, node_type), &options);
    CHECK_EQ(count_of(paper.text, " bytes\""), 7);
    CHECK_HAS(paper.text, "m1 [label=\"... 2 more\"");
    CHECK_HAS(paper.text, "m5 [label=\"... 1 more\"");
    CHECK_HAS(paper.text, "n3 -> m1 [style=dotted];\n"); /* a kid that the first node led to */

    memset(&options, 0, sizeof options);
    options.nodes_of_type = 2;
    dot_of(haul_from_object(ring, node_type), &options);
    CHECK_EQ(count_of(paper.text, NODES), 2);
    CHECK_EQ(count_of(paper.text, "(data)"), 2);
    CHECK_EQ(count_of(paper.text, "(pointers)"), 1);

    memset(&options, 0, sizeof options);
    types[0] = node_type;
    options.types = types;
    options.type_count = 1;
    dot_of(haul_from_object(ring, node_type), &options);
    CHECK_EQ(count_of(paper.text, NODES), 6);
    CHECK_EQ(count_of(paper.text, "(data)"), 0);
    CHECK_EQ(count_of(paper.text, "(pointers)"), 1);
    options.type_count = 0;
    dot_of(haul_from_object(ring, node_type), &options);
    CHECK_EQ(count_of(paper.text, " bytes\""), 2); /* the root, and its array of pointers */
    end();
}

TEST(graph_pictures, roots_beyond_the_limit_are_one_node)
{
    haul_graph_options options = { 0 };
    haul_root roots[4];
    size_t i;
    start();
    for (i = 0; i < 4; i++) {
        roots[i].address = &ring[i ? i + 2 : 0];
        roots[i].type = node_type;
        roots[i].count = 1;
    }
    options.nodes = 1;
    dot_of(haul_from_roots(roots, 4), &options);
    CHECK_EQ(count_of(paper.text, "peripheries=2"), 1);
    CHECK_HAS(paper.text, "m0 [label=\"... 9 more\"");
    memset(ring, 0, sizeof ring);
    ring[0].next = &ring[5];
    dot_of(haul_from_roots(roots, 4), &options);
    CHECK_HAS(paper.text, "    m0 [label=\"... 1 more\", shape=plaintext];\n");
    CHECK_HAS(paper.text, "    m [label=\"... 2 more\", shape=plaintext];\n");
    CHECK_EQ(count_of(paper.text, "n0 -> m [style=dotted];\n"), 0);
    ring[0].owner = &ring[4];
    dot_of(haul_from_roots(roots, 4), &options);
    CHECK_EQ(count_of(paper.text, "n0 -> m [style=dotted];\n"), 1);
    end();
}

TEST(graph_pictures, a_long_list_is_cut_at_a_hundred_and_written_without_recursion)
{
    enum { LONG = 20000 };
    static node list[LONG];
    size_t i;
    start();
    memset(list, 0, sizeof list);
    for (i = 0; i + 1 < LONG; i++)
        list[i].next = &list[i + 1];
    dot_of(haul_from_object(list, node_type), NULL);
    CHECK_EQ(count_of(paper.text, NODES), 100);
    CHECK_HAS(paper.text, "m99 [label=\"... 19900 more\"");
    CHECK_HAS(table_of(haul_from_object(list, node_type)), "   20000       20000  ");
    end();
}

TEST(graph_pictures, addresses_are_drawn_if_asked_for)
{
    char address[32];
    haul_graph_options options = { 0 };
    start();
    snprintf(address, sizeof address, "bytes\\n%p\"", (void *)&ring[3]);
    options.addresses = 1;
    CHECK_HAS(dot_of(haul_from_object(ring, node_type), &options), address);
    end();
}

/* ---- Other shapes: embedded structs, unions, tags, distances, tails, rows of rows. */

typedef struct leaf {
    struct shape *up;
    int64_t value;
} leaf;

typedef struct shape {
    int64_t kind, count;
    union {
        leaf *one;
        leaf **many;
        leaf inside;
    } as;
    leaf corner[2];
    uintptr_t tagged;
    double **rows;
    leaf tail[];
} shape;

static haul_type *leaf_type, *shape_type;
static const haul_field leaf_fields[] = { HAUL_OBJECT(leaf, up, &shape_type) };
static const haul_field shape_fields[] = {
    HAUL_OBJECT(shape, as.one, &leaf_type, .when = HAUL_EQUALS(shape, kind, 0)),
    HAUL_POINTERS(shape, as.many, &leaf_type, HAUL_COUNT(shape, count),
                  .when = HAUL_EQUALS(shape, kind, 1)),
    HAUL_EMBED(shape, as.inside, &leaf_type, .when = HAUL_EQUALS(shape, kind, 2)),
    HAUL_EMBED(shape, corner, &leaf_type),
    HAUL_ADDRESS(shape, tagged, .target = &leaf_type, .tag_bits = 3),
    HAUL_ARRAYS(shape, rows, HAUL_COUNT(shape, count), HAUL_COUNT(shape, count)),
    HAUL_TAIL(shape, tail, HAUL_COUNT(shape, count), .target = &leaf_type),
};

TEST(graph_pictures, unions_tags_and_elements_inside_are_drawn_as_their_fields)
{
    static leaf leaves[3];
    static leaf *many[2] = { &leaves[0], &leaves[1] };
    static double numbers[2], *rows[2] = { numbers, numbers };
    shape *s = calloc(1, sizeof *s + 2 * sizeof(leaf));
    const haul_struct all[] = { HAUL_STRUCT(leaf, &leaf_type, leaf_fields),
                                HAUL_STRUCT(shape, &shape_type, shape_fields) };
    CHECK(s != NULL);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(context, all), HAUL_OK);
    s->count = 2;
    s->kind = 1;
    s->as.many = many;
    s->corner[1].up = s;
    s->tagged = (uintptr_t)&leaves[2] | 1;
    s->rows = rows;
    s->tail[1].up = s;
    memset(leaves, 0, sizeof leaves);
    leaves[2].up = s;
    dot_of(haul_from_object(s, shape_type), NULL);
    CHECK_EQ(count_of(paper.text, "[label=\"shape\\n"), 1);
    CHECK_EQ(count_of(paper.text, "[label=\"leaf"), 3);
    CHECK_EQ(count_of(paper.text, "[label=\"as.many\"]"), 1);
    CHECK_EQ(count_of(paper.text, "[label=\"as.one\"]"), 0);
    CHECK_EQ(count_of(paper.text, "n0 -> n0 [label=\"corner[1].up\"]"), 1);
    CHECK_EQ(count_of(paper.text, "n0 -> n0 [label=\"tail[1].up\"]"), 1);
    CHECK_EQ(count_of(paper.text, "[label=\"tagged\"]"), 1);
    CHECK_EQ(count_of(paper.text, "[label=\"[0] and 1 more\"]"), 1);
    CHECK_EQ(count_of(paper.text, "-> n0 [label=\"up\"]"), 1);
    table_of(haul_from_object(s, shape_type));
    CHECK_HAS(paper.text, "  shape.as.many[]\n");
    CHECK_HAS(paper.text, "  shape.rows[]\n");
    CHECK_HAS(paper.text, "  shape.corner[].up\n");
    CHECK_HAS(paper.text, "  leaf.up\n");

    s->kind = 2;
    s->as.inside.up = s;
    dot_of(haul_from_object(s, shape_type), NULL);
    CHECK_EQ(count_of(paper.text, "n0 -> n0 [label=\"as.inside.up\"]"), 1);
    s->kind = 0;
    s->as.one = &leaves[1];
    dot_of(haul_from_object(s, shape_type), NULL);
    CHECK_EQ(count_of(paper.text, "[label=\"as.one\"]"), 1);
    HAUL_FORGET(all);
    haul_context_free(&context);
    free(s);
}

/* An array of embedded structs that is too large to be flattened is part of its struct. */
enum { CELLS = 3000 };
typedef struct cell {
    struct cell *friend;
    int64_t value;
} cell;
typedef struct grid {
    int64_t id;
    cell cells[CELLS];
} grid;

static haul_type *cell_type, *grid_type;
static const haul_field cell_fields[] = { HAUL_OBJECT(cell, friend, &cell_type) };
static const haul_field grid_fields[] = { HAUL_EMBED(grid, cells, &cell_type) };

TEST(graph_pictures, a_large_part_of_a_struct_is_no_node_of_its_own)
{
    static grid g;
    static cell far_cell;
    const haul_struct all[] = { HAUL_STRUCT(cell, &cell_type, cell_fields),
                                HAUL_STRUCT(grid, &grid_type, grid_fields) };
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(context, all), HAUL_OK);
    memset(&g, 0, sizeof g);
    g.cells[7].friend = &far_cell;
    g.cells[8].friend = &g.cells[2000];
    dot_of(haul_from_object(&g, grid_type), NULL);
    CHECK_EQ(count_of(paper.text, "bytes\""), 2);
    CHECK_HAS(paper.text, "[label=\"cells[7].friend\"]");
    CHECK_HAS(paper.text, "n0 -> n0 [label=\"cells[8].friend\"]");
    HAUL_FORGET(all);
    haul_context_free(&context);
}

TEST(graph_pictures, names_are_escaped)
{
    haul_type *odd = NULL;
    haul_field field = HAUL_OBJECT(node, next, &node_type);
    haul_struct what = HAUL_STRUCT(node, NULL, node_fields);
    start();
    field.name = "a\"b\\l\n";
    what.name = "C++<\"x\">";
    what.fields = &field;
    what.field_count = 1;
    CHECK_STATUS(haul_type_create(context, &what, &odd), HAUL_OK);
    CHECK_STATUS(haul_type_commit(odd), HAUL_OK);
    ring[3].next = &ring[5];
    dot_of(haul_from_object(&ring[3], odd), NULL);
    CHECK_HAS(paper.text, "n0 [label=\"C++<\\\"x\\\">\\n");
    CHECK_HAS(paper.text, "[label=\"a\\\"b\\\\l?\"]");
    CHECK_HAS(table_of(haul_from_object(&ring[3], odd)), "  C++<\"x\">.a\"b\\l?\n");
    haul_type_free(&odd);
    end();
}

TEST(graph_pictures, long_names_are_cut_and_fill_no_buffer)
{
    enum { LONG = 250 };
    static char long_name[LONG + 1];
    haul_type *types[4] = { NULL, NULL, NULL, NULL };
    haul_field field = HAUL_OBJECT(node, next, &node_type);
    haul_struct what = HAUL_STRUCT(node, NULL, node_fields);
    size_t i;
    start();
    memset(long_name, '"', LONG);
    what.name = field.name = long_name;
    what.fields = &field;
    what.field_count = 1;
    for (i = 0; i < 4; i++) {
        CHECK_STATUS(haul_type_create(context, &what, &types[i]), HAUL_OK);
        CHECK_STATUS(haul_type_commit(types[i]), HAUL_OK);
        field.kind = HAUL_FIELD_EMBED;
        field.target = &types[i];
        field.bytes = sizeof(node);
    }
    ring[3].next = &ring[5];
    for (i = 0; i < 4; i++) {
        dot_of(haul_from_object(&ring[3], types[i]), NULL);
        CHECK_EQ(count_of(paper.text, "n0 -> n1 [label=\"\\\"\\\""), 1);
        CHECK_EQ(count_of(paper.text, "\n"), 7);
    }
    ring[4].next = NULL;
    dot_of(haul_from_array(&ring[3], types[3], 2), NULL); /* no room for "[0]" */
    CHECK_EQ(count_of(paper.text, "n0 -> n1 [label=\"\\\"\\\""), 1);
    table_of(haul_from_object(&ring[3], types[3]));
    CHECK_EQ(count_of(paper.text, "\n"), 13);
    for (i = 4; i-- > 0;)
        haul_type_free(&types[i]);
    end();
}

/* ---- Ranges that meet. */

TEST(graph_pictures, a_pointer_leads_to_the_range_that_begins_last_before_it)
{
    haul_root roots[2];
    start();
    memset(ring, 0, sizeof ring);
    roots[0].address = roots[1].address = ring;
    roots[0].type = roots[1].type = node_type;
    roots[0].count = 1;
    roots[1].count = 6;
    ring[4].next = ring;
    ring[5].next = &ring[3];
    ring[5].xs = ring_xs; /* of no elements: it leads nowhere */
    dot_of(haul_from_roots(roots, 2), NULL);
    CHECK_EQ(count_of(paper.text, "peripheries=2"), 2);
    CHECK_HAS(paper.text, "n1 -> n0 [label=\"[4].next\"];\n");
    CHECK_HAS(paper.text, "n1 -> n1 [label=\"[5].next\"];\n");
    CHECK_EQ(count_of(paper.text, "xs"), 0);
    end();
}

/* An item that is visited once more for each box that it is found through is one range. */
typedef struct item {
    double *xs;
} item;
typedef struct crate {
    item *in;
} crate;
typedef struct box {
    int64_t count;
    crate *in;
} box;

static int64_t box_count(const haul_here *here)
{
    return ((const box *)here->ancestor)->count;
}

static haul_type *item_type, *crate_type, *box_type;
static const haul_field item_fields[] = {
    HAUL_ARRAY(item, xs, HAUL_COUNT_FN(box_count), .ancestor = &box_type),
};
static const haul_field crate_fields[] = { HAUL_OBJECT(crate, in, &item_type) };
static const haul_field box_fields[] = { HAUL_OBJECT(box, in, &crate_type) };

TEST(graph_pictures, an_object_that_is_visited_again_is_one_node)
{
    static double xs[3];
    static item one_item;
    static crate shared;
    static box boxes[2];
    const haul_struct all[] = { HAUL_STRUCT(item, &item_type, item_fields),
                                HAUL_STRUCT(crate, &crate_type, crate_fields),
                                HAUL_STRUCT(box, &box_type, box_fields) };
    haul_context_options options = { 0 };
    int checked;
    one_item.xs = xs;
    shared.in = &one_item;
    boxes[0].count = boxes[1].count = 3;
    boxes[0].in = boxes[1].in = &shared;
    for (checked = 0; checked < 2; checked++) {
        options.checked = checked;
        CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
        CHECK_STATUS(HAUL_DESCRIBE(context, all), HAUL_OK);
        dot_of(haul_from_array(boxes, box_type, 2), NULL);
        CHECK_EQ(count_of(paper.text, "label=\"item"), 1);
        CHECK_EQ(count_of(paper.text, " -> "), 3);
        CHECK_HAS(table_of(haul_from_array(boxes, box_type, 2)), "       4           7  ");
        HAUL_FORGET(all);
        haul_context_free(&context);
    }
}

/* ---- Sources. */

TEST(graph_pictures, plans_arenas_and_shipments_give_the_graph_of_their_objects)
{
    static char expected[sizeof paper.text];
    haul_plan *plan = NULL;
    haul_device *device = NULL;
    haul_shipment *shipment = NULL;
    haul_arena *arena = NULL;
    haul_file file;
    node *first;
    start();
    memcpy(expected, dot_of(haul_from_object(ring, node_type), NULL), sizeof expected);
    CHECK_STATUS(haul_plan_create(context, haul_from_object(ring, node_type), NULL, &plan),
                 HAUL_OK);
    CHECK_STR(dot_of(haul_from_plan(plan), NULL), expected);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, ring, node_type, 1, NULL, &shipment), HAUL_OK);
    CHECK_STR(dot_of(haul_from_shipment(shipment), NULL), expected);
    haul_shipment_free(&shipment);
    CHECK_STATUS(haul_arena_create(context, NULL, &arena), HAUL_OK);
    first = haul_arena_new(arena, node_type, 1);
    CHECK(first != NULL);
    first->next = first;
    CHECK_STATUS(haul_ship_from(device, haul_from_arena_root(arena, first, node_type), NULL, NULL,
                                &shipment),
                 HAUL_OK);
    CHECK_HAS(dot_of(haul_from_shipment(shipment), NULL), "n0 -> n0 [label=\"next\"]");
    CHECK_HAS(dot_of(haul_from_arena_root(arena, first, node_type), NULL), "n0 -> n0");
    haul_shipment_free(&shipment);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    file = clean_sheet();
    CHECK_STATUS(haul_graph_write_table(context, haul_from_shipment(shipment), &file),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "haul_from_arena_root");
    haul_shipment_free(&shipment);
    CHECK_STATUS(haul_graph_write_table(context, haul_from_shipment(NULL), &file),
                 HAUL_ERROR_ARGUMENT);
    CHECK_EQ(paper.length, 0);
    haul_arena_free(&arena);
    haul_plan_free(&plan);
    haul_device_close(&device);
    end();
}

/* ---- Refusals and faults. */

static haul_status write_again(void)
{
    haul_file file = { NULL, write_sheet, NULL };
    return haul_graph_write_table(context, haul_from_object(ring, node_type), &file);
}

TEST(graph_pictures, wrong_arguments_are_refused_in_words)
{
    struct {
        haul_graph_options options;
        int newer;
    } later;
    haul_context *other = NULL;
    haul_plan *plan = NULL;
    haul_source source;
    haul_file file = clean_sheet(), silent = clean_sheet();
    start();
    source = haul_from_object(ring, node_type);
    silent.write = NULL;
    CHECK_STATUS(haul_graph_write_table(NULL, source, &file), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_graph_write_dot(NULL, source, NULL, &file), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_graph_write_table(context, source, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_graph_write_dot(context, source, NULL, &silent), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "no function that writes");
    CHECK_STATUS(haul_graph_write_dot(context, haul_from_object(NULL, node_type), NULL, &file),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_graph_write_dot(context, haul_from_plan(NULL), NULL, &file),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_context_create(NULL, &other), HAUL_OK);
    CHECK_STATUS(haul_plan_create(other, source, NULL, &plan), HAUL_OK);
    CHECK_STATUS(haul_graph_write_table(context, haul_from_plan(plan), &file), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "another context");
    haul_plan_free(&plan);
    haul_context_free(&other);
    memset(&later, 0, sizeof later);
    later.newer = 1;
    CHECK_STATUS(haul_graph_write_dot_sized(context, &source, sizeof source, &later.options,
                                            sizeof later, &file),
                 HAUL_ERROR_VERSION);
    ring[0].xs = NULL;
    CHECK_STATUS(haul_graph_write_table(context, source, &file), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(context)->path, "root.xs");
    CHECK_EQ(paper.length, 0);
    end();
}

TEST(graph_pictures, a_file_that_refuses_ends_the_writing_C3)
{
    haul_file file;
    size_t lines, i;
    start();
    dot_of(haul_from_object(ring, node_type), NULL);
    lines = paper.writes;
    for (i = 0; i < lines; i++) {
        file = clean_sheet();
        paper.allowed = i;
        CHECK_STATUS(haul_graph_write_dot(context, haul_from_object(ring, node_type), NULL, &file),
                     HAUL_ERROR_FILE);
        CHECK_EQ(paper.writes, i + 1);
        file = clean_sheet();
        paper.allowed = i % 13;
        CHECK_STATUS(haul_graph_write_table(context, haul_from_object(ring, node_type), &file),
                     HAUL_ERROR_FILE);
    }
    file = clean_sheet();
    paper.again = write_again;
    CHECK_STATUS(haul_graph_write_table(context, haul_from_object(ring, node_type), &file),
                 HAUL_OK);
    CHECK_EQ(paper.answered, HAUL_ERROR_BUSY);
    end();
}

static int draws;

static void fault_prepare(void *user, fault_plan *plan)
{
    haul_context_options options;
    (void)user;
    memset(&options, 0, sizeof options);
    haul_context_free(&context);
    CHECK_STATUS(fault_open_context(plan, &options, &context), HAUL_OK);
}

static haul_status fault_run(void *user)
{
    haul_file file = clean_sheet();
    (void)user;
    return draws ? haul_graph_write_dot(context, haul_from_object(ring, node_type), NULL, &file)
                 : haul_graph_write_table(context, haul_from_object(ring, node_type), &file);
}

static void fault_check(void *user, haul_status status)
{
    (void)user;
    CHECK(status == HAUL_OK || haul_context_error(context)->text[0]);
    CHECK(status != HAUL_OK || paper.length > 0);
}

static void fault_finish(void *user)
{
    (void)user;
    haul_context_free(&context);
}

TEST(graph_pictures, every_allocation_fails_once_and_from_then_on_H1_H2)
{
    fault_operation operation = { .prepare = fault_prepare,
                                  .run = fault_run,
                                  .check = fault_check,
                                  .finish = fault_finish,
                                  .modes = FAULT_MEMORY };
    start();
    for (draws = 0; draws < 2; draws++)
        CHECK(fault_everywhere(&operation) > 10);
    end();
}

/* ---- Places of device memory. */

typedef struct late_start {
    int64_t skipped, value;
} late_start;
typedef struct around {
    int64_t before;
    late_start in[2];
} around;

TEST(graph_pictures, a_byte_before_the_first_one_of_an_embedded_struct_has_its_offset)
{
    static haul_type *inner_type, *around_type;
    static const haul_field inner_fields[] = { HAUL_SKIP(late_start, skipped) };
    static const haul_field around_fields[] = { HAUL_EMBED(around, in, &inner_type) };
    const haul_struct structs[] = { HAUL_STRUCT(late_start, &inner_type, inner_fields),
                                    HAUL_STRUCT(around, &around_type, around_fields) };
    char path[HAUL_PATH_BYTES], expected[40];
    around a = { 1, { { 2, 3 }, { 4, 5 } } };
    haul_device *device;
    haul_shipment *shipment;
    char *there;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(context, structs), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, &a, around_type, 1, NULL, &shipment), HAUL_OK);
    there = haul_device_pointer(shipment, &a.before);
    CHECK_STATUS(haul_device_where(device, there + offsetof(around, in), NULL, path), HAUL_OK);
    snprintf(expected, sizeof expected, "root+%zu", offsetof(around, in));
    CHECK_STR(path, expected);
    haul_shipment_free(&shipment);
    HAUL_FORGET(structs);
    haul_device_close(&device);
    haul_context_free(&context);
}

static haul_device *asked;
static haul_status seen_of_where;
static int seen_of_fail;

static haul_status ask_where(void *user, const void *data, size_t bytes)
{
    (void)user, (void)data, (void)bytes;
    seen_of_where = haul_device_where(asked, ring, NULL, NULL);
    seen_of_fail = haul_device_fail_at(asked, HAUL_ERROR_DEVICE, "no", (uintptr_t)ring);
    return HAUL_OK;
}

TEST(graph_pictures, a_device_address_is_not_looked_up_while_a_call_is_under_way_C8)
{
    const haul_file file = { NULL, ask_where, NULL };
    start();
    CHECK_STATUS(haul_host_open(context, NULL, &asked), HAUL_OK);
    CHECK_STATUS(haul_graph_write_table(context, haul_from_object(ring, node_type), &file),
                 HAUL_OK);
    CHECK_STATUS(seen_of_where, HAUL_ERROR_BUSY);
    CHECK_EQ(seen_of_fail, 0);
    haul_device_close(&asked);
    CHECK_EQ(haul_device_fail_at(asked, HAUL_ERROR_DEVICE, "no", (uintptr_t)ring), 0);
    end();
}

TEST(graph_pictures, a_device_address_leads_back_to_its_place)
{
    char path[HAUL_PATH_BYTES];
    void *host;
    haul_device *device = NULL;
    haul_shipment *shipment = NULL, *second = NULL;
    haul_arena *arena = NULL;
    char *block;
    node *first;
    start();
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, ring, node_type, 1, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_arena_create(context, NULL, &arena), HAUL_OK);
    block = haul_arena_bytes(arena, 100, 0);
    CHECK(block != NULL);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &second), HAUL_OK);
    CHECK_STATUS(haul_device_where(device, haul_device_pointer(shipment, &ring_xs[1]), &host, path),
                 HAUL_OK);
    CHECK_PTR(host, &ring_xs[1]);
    CHECK_STR(path, "root.xs[1]");
    CHECK_STATUS(
        haul_device_where(device, haul_device_pointer(shipment, &ring[5].count), &host, path),
        HAUL_OK);
    CHECK_PTR(host, &ring[5].count);
    CHECK_HAS(path, "root.pair[1].next+");
    CHECK_STATUS(haul_device_where(device, haul_device_pointer(second, block + 4), &host, path),
                 HAUL_OK);
    CHECK_PTR(host, block + 4);
    CHECK_HAS(path, "arena+");
    haul_shipment_free(&second);
    first = haul_arena_bytes(arena, 2 * sizeof *first, 0);
    CHECK(first != NULL);
    memset(first, 0, 2 * sizeof *first);
    first->next = first + 1;
    CHECK_STATUS(
        haul_ship_from(device, haul_from_arena_root(arena, first, node_type), NULL, NULL, &second),
        HAUL_OK);
    CHECK_STATUS(haul_device_where(device, haul_device_pointer(second, &first[1].xs), &host, path),
                 HAUL_OK);
    CHECK_PTR(host, &first[1].xs);
    CHECK_STR(path, "root.next.xs");
    CHECK_STATUS(haul_device_where(device, block, &host, path), HAUL_OK);
    CHECK_HAS(path, "arena+");
    CHECK_EQ(haul_context_error(context)->status, HAUL_OK);
    ring[1].next = NULL; /* the host's graph no longer leads to the third node by this way */
    ring_kids[1] = NULL;
    CHECK_STATUS(haul_device_where(device, haul_device_pointer(shipment, &ring[2]), &host, path),
                 HAUL_OK);
    CHECK_PTR(host, &ring[2]);
    CHECK_STR(path, "");
    CHECK_STATUS(haul_device_where(device, haul_device_pointer(shipment, &ring[2]), NULL, NULL),
                 HAUL_OK);
    CHECK_STATUS(haul_device_where(device, &ring[4].next, &host, path), HAUL_OK);
    CHECK_PTR(host, &ring[4].next);
    CHECK_STR(path, "root.pair[1]"); /* the node's: it begins with the pointer */
    CHECK_STATUS(haul_device_where(device, &ring[4].xs, &host, path), HAUL_OK);
    CHECK_STR(path, "root.pair[1].xs");
    CHECK_STATUS(haul_device_where(device, &host, &host, path), HAUL_ERROR_ARGUMENT);
    CHECK_PTR(host, NULL);
    CHECK_STR(path, "");
    CHECK_HAS(haul_context_error(context)->text, "no shipment of the device has the address 0x");
    CHECK_STATUS(haul_device_where(NULL, &ring[2], &host, path), HAUL_ERROR_ARGUMENT);
    haul_shipment_free(&second);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    haul_device_close(&device);
    end();
}

/* A count that a device has written leads far out of the arena, and a pointer to what is not the
 * program's. */
TEST(graph_pictures, a_device_address_leads_to_its_place_in_an_arena_that_a_device_has_written)
{
    const haul_arena_options options = { .reserve_bytes = 1 << 16 };
    char path[HAUL_PATH_BYTES];
    void *host;
    haul_device *device = NULL;
    haul_shipment *shipment = NULL;
    haul_arena *arena = NULL;
    node *first;
    start();
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_arena_create(context, &options, &arena), HAUL_OK);
    first = haul_arena_bytes(arena, 2 * sizeof *first, 0);
    CHECK(first != NULL);
    memset(first, 0, 2 * sizeof *first);
    first->next = first + 1;
    first->count = 1;
    first->kids = haul_arena_bytes(arena, sizeof *first->kids, 0);
    first->xs = haul_arena_bytes(arena, sizeof *first->xs, 0);
    CHECK(first->kids && first->xs);
    first->kids[0] = first;
    first->xs[0] = 1;
    CHECK_STATUS(haul_ship_from(device, haul_from_arena_root(arena, first, node_type), NULL, NULL,
                                &shipment),
                 HAUL_OK);
    first->count = 1 << 22;
    first[1].name = (char *)16;
    CHECK_STATUS(
        haul_device_where(device, haul_device_pointer(shipment, &first[1].pair[1]), &host, path),
        HAUL_OK);
    CHECK_PTR(host, &first[1].pair[1]);
    CHECK_STR(path, "root.next.pair[1]");
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    haul_device_close(&device);
    end();
}
