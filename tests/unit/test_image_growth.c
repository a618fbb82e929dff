/* Images of structs that have new fields since: they are read if the program says so, the new
 * fields are zeros, and all that led somewhere leads there.
 */
#include <stdlib.h>
#include <string.h>

#include "haul/host.h"
#include "haul/type_mpi.h"
#include "images/image_bytes.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/types.h"

/* A type that is committed. */
static haul_type *make(const char *name, size_t bytes, const haul_field *fields, size_t count)
{
    haul_type *type;
    CHECK_STATUS(type_make(name, bytes, fields, count, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    return type;
}

/* An image of the objects, in place of what the bytes were. */
static void write_image(image_bytes *bytes, void *objects, haul_type *type, size_t count)
{
    const haul_root root = { objects, type, count };
    const haul_file file = bytes_file(bytes);
    bytes_resize(bytes, 0);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_roots(&root, 1), &file), HAUL_OK);
}

static haul_status load_as(haul_type *type, const image_bytes *bytes,
                           const haul_image_options *options, haul_image **image)
{
    return haul_image_from_bytes(type_context(), bytes->at, bytes->count, &type, 1, options, image);
}

static const void *loaded(const haul_image *image)
{
    return haul_image_roots(image, NULL)[0].address;
}

/* Version 1, and version 2 with fields in the padding and behind it. */
typedef struct body1 {
    struct body1 *twin; /* borrowed: into any array */
    double *mass;
    uint32_t masses;
    uint32_t unused;
} body1;

typedef struct extra {
    int64_t what;
} extra;

typedef struct body2 {
    struct body2 *twin;
    double *mass;
    uint32_t masses;
    uint32_t added;
    extra *more;
    double weight[2];
} body2;

/* Bodies by count, and by begin and end. */
typedef struct world1 {
    body1 *all, *first, *last, *one;
    char *name;
    uint64_t count;
} world1;

typedef struct world2 {
    body2 *all, *first, *last, *one;
    char *name;
    uint64_t count;
} world2;

static haul_type *old_body, *old_world, *new_body, *new_world, *extra_type;
static const haul_field body1_fields[] = {
    HAUL_OBJECT(body1, twin, &old_body, .ownership = HAUL_BORROWED),
    HAUL_ARRAY(body1, mass, HAUL_COUNT(body1, masses)),
};
static const haul_field world1_fields[] = {
    HAUL_OBJECTS(world1, all, &old_body, HAUL_COUNT(world1, count)),
    HAUL_OBJECTS(world1, first, &old_body, HAUL_UNTIL(world1, last)),
    HAUL_OBJECT(world1, one, &old_body),
    HAUL_STRING(world1, name),
};
static const haul_struct old_structs[] = {
    HAUL_STRUCT(body1, &old_body, body1_fields),
    HAUL_STRUCT(world1, &old_world, world1_fields),
};
static const haul_field body2_fields[] = {
    HAUL_OBJECT(body2, twin, &new_body, .ownership = HAUL_BORROWED),
    HAUL_ARRAY(body2, mass, HAUL_COUNT(body2, masses)),
    HAUL_OBJECT(body2, more, &extra_type),
};
static const haul_field world2_fields[] = {
    HAUL_OBJECTS(world2, all, &new_body, HAUL_COUNT(world2, count)),
    HAUL_OBJECTS(world2, first, &new_body, HAUL_UNTIL(world2, last)),
    HAUL_OBJECT(world2, one, &new_body),
    HAUL_STRING(world2, name),
};
static const haul_struct new_structs[] = {
    HAUL_STRUCT(body2, &new_body, body2_fields),
    HAUL_STRUCT(world2, &new_world, world2_fields),
    HAUL_PLAIN(extra, &extra_type),
};
static const haul_image_rename renames[] = { { "body1", "body2" }, { "world1", "world2" } };
static const haul_image_growth growths[] = { { "body2", sizeof(body1), offsetof(body2, added) } };

enum { MANY = 5, PAIR = 3, BODIES = MANY + PAIR + 1 };

#define APART __attribute__((aligned(16)))

typedef struct graph {
    struct {
        world1 world APART;
        body1 all[MANY] APART, pair[PAIR] APART, one APART;
    } was;
    struct {
        world2 world APART;
        body2 all[MANY] APART, pair[PAIR] APART, one APART;
    } is;
    double masses[BODIES][2] APART;
    char name[16] APART;
    image_bytes image, other;
} graph;

static graph the_graph;

static body1 *body_was(graph *g, size_t i)
{
    return i < MANY ? &g->was.all[i] : i < MANY + PAIR ? &g->was.pair[i - MANY] : &g->was.one;
}

static body2 *body_is(graph *g, size_t i)
{
    return i < MANY ? &g->is.all[i] : i < MANY + PAIR ? &g->is.pair[i - MANY] : &g->is.one;
}

/* The same graph twice: as it was, and as it is. */
static graph *graph_start(void)
{
    graph *g = &the_graph;
    size_t i;
    memset(g, 0, sizeof *g);
    for (i = 0; i < BODIES; i++) {
        body1 *was = body_was(g, i);
        body2 *is = body_is(g, i);
        was->twin = body_was(g, (i * 4 + 2) % BODIES);
        is->twin = body_is(g, (i * 4 + 2) % BODIES);
        was->masses = is->masses = (uint32_t)i % 3;
        was->mass = is->mass = i % 3 ? g->masses[i] : NULL;
        was->unused = 77; /* what stands in padding */
        g->masses[i][0] = (double)i;
    }
    g->was.world.all = g->was.all;
    g->is.world.all = g->is.all;
    g->was.world.first = g->was.pair;
    g->is.world.first = g->is.pair;
    g->was.world.last = g->was.pair + PAIR;
    g->is.world.last = g->is.pair + PAIR;
    g->was.world.one = &g->was.one;
    g->is.world.one = &g->is.one;
    g->was.world.name = g->is.world.name = strcpy(g->name, "Ariadne");
    g->was.world.count = g->is.world.count = MANY;
    CHECK_STATUS(HAUL_DESCRIBE(type_context(), old_structs), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(type_context(), new_structs), HAUL_OK);
    write_image(&g->image, &g->was.world, old_world, 1);
    write_image(&g->other, &g->is.world, new_world, 1);
    return g;
}

static void graph_end(graph *g)
{
    HAUL_FORGET(old_structs);
    HAUL_FORGET(new_structs);
    bytes_free(&g->image);
    bytes_free(&g->other);
}

static haul_image_options declared(void)
{
    const haul_image_options options = {
        .renames = renames, .rename_count = 2, .growths = growths, .growth_count = 1
    };
    return options;
}

static haul_status load(const graph *g, const haul_image_options *options, haul_image **image)
{
    return load_as(new_world, &g->image, options, image);
}

/* Written, the image has the bytes of the graph as it is. */
static void check_written(const graph *g, haul_image **image)
{
    image_bytes again = { NULL, 0, 0 };
    const haul_file file = bytes_file(&again);
    size_t count;
    const haul_root *roots = haul_image_roots(*image, &count);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_roots(roots, count), &file), HAUL_OK);
    CHECK_EQ(again.count, g->other.count);
    CHECK_BYTES(again.at, g->other.at, again.count);
    bytes_free(&again);
    haul_image_free(image);
}

TEST(image_growth, new_fields_are_zeros_and_the_graph_is_that_of_the_new_types)
{
    graph *g = graph_start();
    const haul_image_options options = declared();
    haul_image *image;
    const world2 *w;
    size_t i;
    CHECK_STATUS(load(g, &options, &image), HAUL_OK);
    w = loaded(image);
    CHECK_EQ(w->count, MANY);
    CHECK_EQ(w->last - w->first, PAIR);
    CHECK_STR(w->name, "Ariadne");
    for (i = 0; i < MANY; i++) {
        CHECK_EQ(w->all[i].added, 0);
        CHECK_PTR(w->all[i].more, NULL);
        CHECK(w->all[i].weight[0] == 0.0 && w->all[i].weight[1] == 0.0);
        CHECK(w->all[i].masses == 0 || w->all[i].mass[0] == (double)i);
    }
    CHECK_PTR(w->all[0].twin, &w->all[2]);
    CHECK_PTR(w->one->twin, w->first + (7 - MANY));
    CHECK_PTR(w->first[0].twin, &w->all[4]);
    check_written(g, &image);
    graph_end(g);
}

TEST(image_growth, an_image_that_is_not_declared_is_refused_with_the_type)
{
    static const haul_image_growth other = { "body2", sizeof(body1) + 8, sizeof(body1) };
    graph *g = graph_start();
    haul_image_options options = declared();
    haul_image *image;
    options.growth_count = 0;
    CHECK_STATUS(load(g, &options, &image), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, "world2.all");
    options.growths = &other;
    options.growth_count = 1;
    CHECK_STATUS(load(g, &options, &image), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, "world2.all");
    graph_end(g);
}

/* One table serves images of all ages: the stored size says which. */
TEST(image_growth, an_image_as_it_is_now_is_not_converted)
{
    graph *g = graph_start();
    const haul_image_options options = declared();
    haul_image *image;
    g->is.one.added = 5;
    write_image(&g->image, &g->is.world, new_world, 1);
    CHECK_STATUS(load(g, &options, &image), HAUL_OK);
    CHECK_EQ(((const world2 *)loaded(image))->one->added, 5);
    haul_image_free(&image);
    graph_end(g);
}

TEST(image_growth, a_converted_graph_lies_where_the_program_wants_it)
{
    enum { BYTES = 2048 };
    void *buffer = malloc(BYTES); /* aligned for all */
    graph *g = graph_start();
    haul_image_options options = declared();
    haul_image *image;
    CHECK(buffer != NULL);
    options.is_trusted = 1;
    CHECK_STATUS(load(g, &options, &image), HAUL_OK);
    check_written(g, &image);
    options.buffer = buffer;
    options.buffer_bytes = BYTES;
    CHECK_STATUS(load(g, &options, &image), HAUL_OK);
    CHECK_PTR(haul_image_memory(image, NULL), buffer);
    check_written(g, &image);
    graph_end(g);
    free(buffer);
}

/* The new pointer, which the image does not have, is one. */
static void sum_up(void *world)
{
    world2 *w = world;
    w->count += (uint64_t)w->one->more->what + (uint64_t)(w->last - w->first);
}

TEST(image_growth, a_converted_graph_in_an_arena_is_shipped_with_its_new_pointers)
{
    graph *g = graph_start();
    haul_image_options options = declared();
    haul_device *device;
    haul_shipment *shipment;
    haul_arena *arena;
    haul_image *image;
    world2 *w;
    CHECK_STATUS(haul_arena_create(type_context(), NULL, &arena), HAUL_OK);
    CHECK_STATUS(haul_host_open(type_context(), NULL, &device), HAUL_OK);
    options.arena = arena;
    CHECK_STATUS(load(g, &options, &image), HAUL_OK);
    w = haul_image_roots(image, NULL)[0].address;
    w->one->more = haul_arena_new(arena, extra_type, 1);
    w->one->more->what = 1000;
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, sum_up, haul_device_pointer(shipment, w)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK_EQ(w->count, MANY + 1000 + PAIR);
    haul_shipment_free(&shipment);
    haul_image_free(&image);
    haul_device_close(&device);
    haul_arena_free(&arena);
    graph_end(g);
}

/* Each allocation fails once. */
static void fail_everywhere(const image_bytes *bytes, haul_type *type,
                            const haul_image_options *options)
{
    uint64_t at;
    int fired = 1;
    for (at = 1; fired; at++) {
        fault_plan doors = { 0 };
        haul_context *context;
        haul_image *image;
        haul_status status;
        CHECK_STATUS(fault_open_context(&doors, NULL, &context), HAUL_OK);
        fault_arm(&doors, FAULT_ONCE, at);
        status = haul_image_from_bytes(context, bytes->at, bytes->count, &type, 1, options, &image);
        fired = doors.fired + doors.fell_back != 0;
        CHECK(status == (doors.fired ? HAUL_ERROR_MEMORY : HAUL_OK));
        CHECK((image != NULL) == (status == HAUL_OK));
        fault_disarm(&doors);
        haul_image_free(&image);
        haul_context_free(&context);
        fault_check_clean(&doors);
    }
}

TEST(image_growth, memory_that_runs_out_is_told_and_given_back)
{
    graph *g = graph_start();
    const haul_image_options options = declared();
    fail_everywhere(&g->image, new_world, &options);
    graph_end(g);
}

/* Packed structs, whose pointers stand anywhere. */
typedef struct __attribute__((packed)) edge1 {
    uint8_t weight;
    double *to;
} edge1;

typedef struct __attribute__((packed)) edge2 {
    uint8_t weight;
    double *to;
    uint8_t added[6];
} edge2;

TEST(image_growth, pointers_come_onto_the_grid_of_words_and_leave_it)
{
    enum { EDGES = 16 };
    static const haul_field was_fields[] = { HAUL_ARRAY(edge1, to, HAUL_ONE, .packed = 1) };
    static const haul_field is_fields[] = { HAUL_ARRAY(edge2, to, HAUL_ONE, .packed = 1) };
    static const haul_image_growth growth = { "edge", sizeof(edge1), offsetof(edge2, added) };
    const haul_image_options options = { .growths = &growth, .growth_count = 1 };
    edge1 edges[EDGES];
    double values[EDGES];
    haul_type *was, *is;
    image_bytes bytes = { NULL, 0, 0 };
    haul_image *image;
    size_t i;
    for (i = 0; i < EDGES; i++) {
        const double *to = &values[i];
        values[i] = (double)i;
        edges[i].weight = (uint8_t)i;
        memcpy(&edges[i].to, &to, sizeof to);
    }
    was = make("edge", sizeof(edge1), was_fields, 1);
    is = make("edge", sizeof(edge2), is_fields, 1);
    write_image(&bytes, edges, was, EDGES);
    CHECK_STATUS(load_as(is, &bytes, &options, &image), HAUL_OK);
    for (i = 0; i < EDGES; i++) {
        const edge2 *now = (const edge2 *)loaded(image) + i;
        const double *to;
        memcpy(&to, &now->to, sizeof to);
        CHECK(*to == (double)i);
        CHECK_EQ(now->weight, i);
        CHECK_EQ(now->added[0] | now->added[5], 0);
    }
    haul_image_free(&image);
    fail_everywhere(&bytes, is, &options);
    haul_type_free(&was);
    haul_type_free(&is);
    bytes_free(&bytes);
}

/* ---- A struct that lies in another one. */

typedef struct inner1 {
    int64_t a;
} inner1;

typedef struct inner2 {
    int64_t a, b;
} inner2;

typedef struct outer1 {
    char *name;
    inner1 last;
} outer1;

typedef struct outer2 {
    char *name;
    inner2 last;
} outer2;

static haul_type *was_inner, *was_outer, *is_inner, *is_outer;

static void describe_outer(void)
{
    const haul_field was[] = { HAUL_STRING(outer1, name), HAUL_EMBED(outer1, last, &was_inner) };
    const haul_field is[] = { HAUL_STRING(outer2, name), HAUL_EMBED(outer2, last, &is_inner) };
    was_inner = make("inner", sizeof(inner1), NULL, 0);
    is_inner = make("inner", sizeof(inner2), NULL, 0);
    was_outer = make("outer", sizeof(outer1), was, 2);
    is_outer = make("outer", sizeof(outer2), is, 2);
}

static void forget_outer(void)
{
    haul_type_free(&was_inner);
    haul_type_free(&was_outer);
    haul_type_free(&is_inner);
    haul_type_free(&is_outer);
}

TEST(image_growth, a_grown_struct_may_be_the_last_field_of_one_that_is_declared_too)
{
    static const haul_image_growth both[] = {
        { "inner", sizeof(inner1), offsetof(inner2, b) },
        { "outer", sizeof(outer1), offsetof(outer2, last.b) },
    };
    static const haul_image_growth wrong[] = {
        { "inner", sizeof(inner1), offsetof(inner2, b) },
        { "outer", sizeof(outer1), sizeof(outer2) },
    };
    outer1 o[2] = { { (char[]){ "x" }, { 1 } }, { NULL, { 2 } } };
    image_bytes bytes = { NULL, 0, 0 };
    haul_image_options options = { .growths = both, .growth_count = 2 };
    haul_image *image;
    const outer2 *now;
    describe_outer();
    write_image(&bytes, o, was_outer, 2);
    CHECK_STATUS(load_as(is_outer, &bytes, &options, &image), HAUL_OK);
    now = loaded(image);
    CHECK_STR(now[0].name, "x");
    CHECK_EQ(now[0].last.a, 1);
    CHECK_EQ(now[0].last.b, 0);
    CHECK_EQ(now[1].last.a, 2);
    CHECK_EQ(now[1].last.b, 0);
    haul_image_free(&image);
    options.growths = wrong;
    CHECK_STATUS(load_as(is_outer, &bytes, &options, &image), HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(type_error()->path, "outer.last");
    options.growth_count = 1; /* the inner one alone */
    CHECK_STATUS(load_as(is_outer, &bytes, &options, &image), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, "outer");
    forget_outer();
    bytes_free(&bytes);
}

typedef struct holder1 {
    int64_t is_there;
    inner1 last[2];
} holder1;

typedef struct holder2 {
    int64_t is_there;
    inner2 last[2];
} holder2;

static int64_t all_bytes(const haul_here *here)
{
    (void)here;
    return sizeof(holder1);
}

static haul_type *make_holder(size_t bytes, const haul_field *last, haul_function *size)
{
    haul_type *type = type_new(&(const haul_struct){ .name = "holder",
                                                     .bytes = bytes,
                                                     .fields = last,
                                                     .field_count = 1,
                                                     .field_bytes = sizeof *last,
                                                     .size_fn = size });
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    return type;
}

/* A struct with `last` in it, as it was and as it is, is declared as grown: refused at the path.
 * `size`: it has got a size of its own. */
static void check_unfit(const haul_field *was, const haul_field *is, haul_function *size,
                        const char *words, const char *path)
{
    static const haul_image_growth both[] = {
        { "inner", sizeof(inner1), offsetof(inner2, b) },
        { "holder", sizeof(holder1), offsetof(holder2, last[0].b) },
    };
    const haul_image_options options = { .growths = both, .growth_count = 2, .calls_functions = 1 };
    haul_type *old = make_holder(sizeof(holder1), was, NULL);
    haul_type *now = make_holder(sizeof(holder2), is, size);
    holder1 h = { 1, { { 2 }, { 3 } } };
    image_bytes bytes = { NULL, 0, 0 };
    haul_image *image;
    write_image(&bytes, &h, old, 1);
    CHECK_STATUS(load_as(now, &bytes, &options, &image),
                 size ? HAUL_ERROR_TYPE : HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(type_error()->text, words);
    CHECK_STR(type_error()->path, path);
    bytes_free(&bytes);
    haul_type_free(&old);
    haul_type_free(&now);
}

TEST(image_growth, a_grown_struct_that_is_an_arm_an_array_or_a_tail_of_another_one_is_refused)
{
    static const char lies_in[] = "a struct that has grown lies in it";
    static const char no_struct[] = "no struct of fields and of one size";
    haul_field arm1 =
        HAUL_EMBED(holder1, last, &was_inner, .when = HAUL_EQUALS(holder1, is_there, 1));
    haul_field arm2 =
        HAUL_EMBED(holder2, last, &is_inner, .when = HAUL_EQUALS(holder2, is_there, 1));
    haul_field array1 = HAUL_EMBED(holder1, last, &was_inner);
    const haul_field array2 = HAUL_EMBED(holder2, last, &is_inner);
    const haul_field tail1 = HAUL_TAIL(holder1, last, HAUL_FIXED(2), .target = &was_inner);
    haul_field tail2 = HAUL_TAIL(holder2, last, HAUL_FIXED(2), .target = &is_inner);
    describe_outer();
    arm1.bytes = array1.bytes = sizeof(inner1);
    arm2.bytes = sizeof(inner2);
    check_unfit(&arm1, &arm2, NULL, lies_in, "holder.last");
    check_unfit(&array1, &array2, NULL, lies_in, "holder.last");
    check_unfit(&array1, &array2, all_bytes, "the image has other types", "holder");
    check_unfit(&tail1, &tail2, NULL, no_struct, "holder");
    forget_outer();
}

/* ---- Other objects over structs that grow. */

typedef struct view {
    inner1 *all;
    char *bytes; /* over the same */
    uint64_t count, byte_count;
} view;

TEST(image_growth, bytes_over_one_grown_struct_are_converted_and_over_two_refused)
{
    static const haul_image_growth growth = { "inner", sizeof(inner1), offsetof(inner2, b) };
    const haul_image_options options = { .growths = &growth, .growth_count = 1 };
    inner1 all[3] = { { 1 }, { 2 }, { 3 } };
    view v = { all, (char *)&all[1], 3, 8 };
    haul_type *was_view, *is_view;
    const haul_field was[] = { HAUL_OBJECTS(view, all, &was_inner, HAUL_COUNT(view, count)),
                               HAUL_BYTES(view, bytes, HAUL_COUNT(view, byte_count)) };
    haul_field is[2] = { was[0], was[1] };
    image_bytes bytes = { NULL, 0, 0 };
    haul_image *image;
    const view *now;
    is[0].target = &is_inner;
    is[0].element_bytes = sizeof(inner2);
    was_inner = make("inner", sizeof(inner1), NULL, 0);
    is_inner = make("inner", sizeof(inner2), NULL, 0);
    was_view = make("view", sizeof(view), was, 2);
    is_view = make("view", sizeof(view), is, 2);
    write_image(&bytes, &v, was_view, 1);
    CHECK_STATUS(load_as(is_view, &bytes, &options, &image), HAUL_OK);
    now = loaded(image);
    CHECK_PTR(now->bytes, (const char *)now->all + sizeof(inner2));
    haul_image_free(&image);
    v.byte_count = 9;
    write_image(&bytes, &v, was_view, 1);
    CHECK_STATUS(load_as(is_view, &bytes, &options, &image), HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(type_error()->path, "root.all[1]");
    haul_type_free(&was_view);
    haul_type_free(&is_view);
    haul_type_free(&was_inner);
    haul_type_free(&is_inner);
    bytes_free(&bytes);
}

TEST(image_growth, what_is_declared_and_cannot_be_is_named)
{
    graph *g = graph_start();
    haul_image_growth wrong = { "body2", sizeof(body1), offsetof(body2, mass) + 1 };
    haul_image_options options = declared();
    haul_image *image;
    options.growths = &wrong;
    CHECK_STATUS(load(g, &options, &image), HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(type_error()->path, "body2.mass");
    wrong.added_at = sizeof(body2) + 1;
    CHECK_STATUS(load(g, &options, &image), HAUL_ERROR_TYPE); /* its new pointer is an old one */
    CHECK_STR(type_error()->path, "body2.more");
    graph_end(g);
}

/* An image of `count` elements of the one type, loaded as the other one. */
static haul_status load_elements(haul_context *context, haul_type *was, haul_type *is, size_t count,
                                 const haul_image_growth *growth)
{
    static const haul_image_rename wider = { "resized(0, 32, padded)", "resized(0, 48, padded)" };
    const haul_image_options options = {
        .renames = &wider, .rename_count = 1, .growths = growth, .growth_count = 1
    };
    static uint64_t elements[16];
    image_bytes bytes = { NULL, 0, 0 };
    haul_image *image;
    haul_status status;
    CHECK_STATUS(haul_type_commit(was), HAUL_OK);
    CHECK_STATUS(haul_type_commit(is), HAUL_OK);
    write_image(&bytes, elements, was, count);
    status = haul_image_from_bytes(context, bytes.at, bytes.count, &is, 1, &options, &image);
    haul_image_free(&image);
    bytes_free(&bytes);
    return status;
}

TEST(image_growth, a_struct_that_has_become_smaller_is_none_that_has_grown)
{
    static const haul_image_growth growth = { "inner", 16, 8 };
    haul_type *was = make("inner", 16, NULL, 0), *is = make("inner", 8, NULL, 0);
    CHECK_STATUS(load_elements(type_context(), was, is, 3, &growth), HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(type_error()->text, "fewer bytes");
    CHECK_STR(type_error()->path, "inner");
    haul_type_free(&was);
    haul_type_free(&is);
}

TEST(image_growth, a_converted_image_keeps_to_the_limits)
{
    static const haul_image_growth growth = { "inner", 8, 8 };
    const haul_context_options options = { .max_bytes = 1000 };
    haul_context *small;
    haul_type *was, *is, *larger, *largest;
    CHECK_STATUS(haul_context_create(&options, &small), HAUL_OK);
    was = make("inner", 8, NULL, 0);
    is = make("inner", 100, NULL, 0);
    larger = make("inner", 500, NULL, 0);
    largest = make("inner", SIZE_MAX / 8, NULL, 0);
    CHECK_STATUS(load_elements(small, was, is, 3, &growth), HAUL_OK);
    CHECK_STATUS(load_elements(small, was, larger, 3, &growth), HAUL_ERROR_LIMIT);
    CHECK_HAS(haul_context_error(small)->text, "more than the limit of 1000");
    CHECK_STATUS(load_elements(small, was, largest, 16, &growth), HAUL_ERROR_LIMIT);
    CHECK_HAS(haul_context_error(small)->text, "the image has no size");
    CHECK_STATUS(load_elements(small, was, largest, 3, &growth), HAUL_ERROR_LIMIT);
    CHECK_HAS(haul_context_error(small)->text, "the image has no size");
    haul_type_free(&was);
    haul_type_free(&is);
    haul_type_free(&larger);
    haul_type_free(&largest);
    haul_context_free(&small);
}

typedef struct padded {
    int64_t a;
    int32_t b, added; /* was padding */
} padded;

TEST(image_growth, a_new_field_in_the_padding_is_zero_if_it_is_described)
{
    static const haul_image_growth growth = { "padded", sizeof(padded), offsetof(padded, added) };
    static const haul_field fields[] = { HAUL_RAW(padded, added) };
    const haul_image_options options = { .growths = &growth, .growth_count = 1 };
    padded one = { 1, 2, 3 };
    haul_type *was, *is;
    image_bytes bytes = { NULL, 0, 0 };
    haul_image *image;
    const padded *now;
    was = make("padded", sizeof(padded), NULL, 0);
    is = make("padded", sizeof(padded), fields, 1);
    write_image(&bytes, &one, was, 1);
    CHECK_STATUS(load_as(is, &bytes, &options, &image), HAUL_OK);
    now = loaded(image);
    CHECK_EQ(now->a, 1);
    CHECK_EQ(now->b, 2);
    CHECK_EQ(now->added, 0);
    haul_image_free(&image);
    write_image(&bytes, &one, is, 1); /* as it is now */
    CHECK_STATUS(load_as(is, &bytes, &options, &image), HAUL_OK);
    now = loaded(image);
    CHECK_EQ(now->added, 3);
    haul_image_free(&image);
    haul_type_free(&was);
    haul_type_free(&is);
    bytes_free(&bytes);
}

/* One table serves images of all ages: one struct has grown since, and the other one has not. */
TEST(image_growth, a_struct_that_is_declared_and_has_not_grown_since_is_as_it_is)
{
    static const haul_image_growth growths[] = {
        { "padded", sizeof(padded), offsetof(padded, added) },
        { "inner", sizeof(inner1), offsetof(inner2, b) },
    };
    static const haul_field fields[] = { HAUL_RAW(padded, added) };
    const haul_image_options options = { .growths = growths, .growth_count = 2 };
    padded one = { 1, 2, 3 };
    inner1 in = { 4 };
    haul_type *type = make("padded", sizeof(padded), fields, 1);
    image_bytes bytes = { NULL, 0, 0 };
    const haul_file file = bytes_file(&bytes);
    haul_root roots[2] = { { &one, NULL, 1 }, { &in, NULL, 1 } };
    haul_type *types[2];
    haul_image *image;
    was_inner = make("inner", sizeof(inner1), NULL, 0);
    is_inner = make("inner", sizeof(inner2), NULL, 0);
    roots[0].type = types[0] = type;
    roots[1].type = was_inner;
    types[1] = is_inner;
    CHECK_STATUS(haul_image_write(type_context(), haul_from_roots(roots, 2), &file), HAUL_OK);
    CHECK_STATUS(
        haul_image_from_bytes(type_context(), bytes.at, bytes.count, types, 2, &options, &image),
        HAUL_OK);
    CHECK_EQ(((const padded *)loaded(image))->added, 3);
    CHECK_EQ(((const inner2 *)haul_image_roots(image, NULL)[1].address)->a, 4);
    haul_image_free(&image);
    haul_type_free(&type);
    haul_type_free(&was_inner);
    haul_type_free(&is_inner);
    bytes_free(&bytes);
}

TEST(image_growth, types_of_constructors_and_what_they_are_made_of_do_not_grow)
{
    static const haul_image_growth growth = { "padded", sizeof(padded), offsetof(padded, added) };
    static const haul_field fields[] = { HAUL_RAW(padded, added) };
    haul_image_growth room = { NULL, 2 * sizeof(padded), 2 * sizeof(padded) };
    haul_type *was, *is, *two_were, *two_are, *wider;
    was = make("padded", sizeof(padded), NULL, 0);
    is = make("padded", sizeof(padded), fields, 1);
    CHECK_STATUS(haul_type_contiguous(2, was, &two_were), HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(2, is, &two_are), HAUL_OK);
    CHECK_STATUS(load_elements(type_context(), two_were, two_are, 1, &growth),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(type_error()->text, "a struct that has grown lies in it");
    CHECK_STATUS(haul_type_create_resized(was, 0, 3 * sizeof(padded), &wider), HAUL_OK);
    haul_type_free(&two_were);
    CHECK_STATUS(haul_type_create_resized(was, 0, 2 * sizeof(padded), &two_were), HAUL_OK);
    room.type = haul_type_name(wider);
    CHECK_STATUS(load_elements(type_context(), two_were, wider, 1, &room), HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(type_error()->text, "no struct of fields and of one size");
    haul_type_free(&two_were);
    haul_type_free(&two_are);
    haul_type_free(&wider);
    haul_type_free(&was);
    haul_type_free(&is);
}

/* ---- Objects of grown types over one another. */

typedef struct pair_of {
    outer1 *outer; /* two */
    inner1 *in;    /* the last field of the second one */
    inner1 *first, *second;
    uint64_t first_count, second_count;
} pair_of;

typedef struct growing {
    haul_type *pair, *outer, *inner;
} growing;

/* `rows`: 1, the name of the outer one is a number; 2, a string. */
static void describe_pair(growing *g, size_t rows, size_t inner_bytes, size_t outer_bytes)
{
    const haul_field outer_fields[] = {
        HAUL_STRING(outer1, name),
        { .name = "last",
          .kind = HAUL_FIELD_EMBED,
          .offset = offsetof(outer1, last),
          .bytes = inner_bytes,
          .element_bytes = inner_bytes,
          .target = &g->inner },
    };
    haul_field fields[] = {
        HAUL_OBJECTS(pair_of, outer, &g->outer, HAUL_FIXED(2)),
        HAUL_OBJECT(pair_of, in, &g->inner),
        HAUL_OBJECTS(pair_of, first, &g->inner, HAUL_COUNT(pair_of, first_count)),
        HAUL_OBJECTS(pair_of, second, &g->inner, HAUL_COUNT(pair_of, second_count)),
    };
    fields[0].element_bytes = outer_bytes;
    fields[1].element_bytes = fields[2].element_bytes = fields[3].element_bytes = inner_bytes;
    g->inner = make("inner", inner_bytes, NULL, 0);
    g->outer = make("outer", outer_bytes, outer_fields + 2 - rows, rows);
    g->pair = make("pair", sizeof(pair_of), fields, 4);
}

static void forget_pair(growing *g)
{
    haul_type_free(&g->pair);
    haul_type_free(&g->outer);
    haul_type_free(&g->inner);
}

static haul_status convert_pair(pair_of *p, const growing *was, const growing *is,
                                haul_image **image)
{
    static const haul_image_growth both[] = {
        { "inner", sizeof(inner1), offsetof(inner2, b) },
        { "outer", sizeof(outer1), offsetof(outer2, last.b) },
    };
    const haul_image_options options = { .growths = both, .growth_count = 2 };
    image_bytes bytes = { NULL, 0, 0 };
    haul_status status;
    write_image(&bytes, p, was->pair, 1);
    status = load_as(is->pair, &bytes, &options, image);
    bytes_free(&bytes);
    return status;
}

TEST(image_growth, parts_of_an_array_and_a_last_field_are_where_they_were)
{
    outer1 outer[2] = { { NULL, { 1 } }, { NULL, { 2 } } };
    inner1 all[4] = { { 10 }, { 11 }, { 12 }, { 13 } };
    struct {
        outer1 outer[2];
        inner1 behind;
    } shared = { { { NULL, { 3 } }, { NULL, { 4 } } }, { 5 } };
    pair_of p = { outer, &outer[1].last, all, all + 1, 3, 3 };
    growing was, is;
    haul_image *image;
    const pair_of *now;
    describe_pair(&was, 2, sizeof(inner1), sizeof(outer1));
    describe_pair(&is, 2, sizeof(inner2), sizeof(outer2));
    CHECK_STATUS(convert_pair(&p, &was, &is, &image), HAUL_OK);
    now = loaded(image);
    CHECK_PTR(now->in, (const char *)now->outer + sizeof(outer2) + offsetof(outer2, last));
    CHECK_EQ(now->in->a, 2);
    CHECK_PTR(now->second, (const char *)now->first + sizeof(inner2));
    CHECK_EQ(((const inner2 *)(const void *)now->second)[2].a, 13);
    haul_image_free(&image);
    p.second = (inner1 *)(void *)((char *)(all + 1) + 4); /* between two */
    p.second_count = 1;
    CHECK_STATUS(convert_pair(&p, &was, &is, &image), HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(type_error()->text, "overlap structs that have grown");
    p.outer = shared.outer;
    p.in = p.second = &shared.outer[1].last;
    p.first = &shared.outer[1].last; /* and one behind it */
    p.first_count = 2;
    CHECK_STATUS(convert_pair(&p, &was, &is, &image), HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(type_error()->text, "overlap structs that have grown");
    forget_pair(&was);
    forget_pair(&is);
}

TEST(image_growth, a_grown_struct_over_a_field_of_another_one_that_is_not_its_last_is_refused)
{
    outer1 outer[2] = { { NULL, { 1 } }, { NULL, { 2 } } };
    pair_of p = { outer, (inner1 *)(void *)&outer[1].name, NULL, NULL, 0, 0 };
    growing was, is;
    haul_image *image;
    describe_pair(&was, 1, sizeof(inner1), sizeof(outer1));
    describe_pair(&is, 1, sizeof(inner2), sizeof(outer2));
    CHECK_STATUS(convert_pair(&p, &was, &is, &image), HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(type_error()->text, "overlap structs that have grown");
    p.in = &outer[1].last;
    CHECK_STATUS(convert_pair(&p, &was, &is, &image), HAUL_OK);
    haul_image_free(&image);
    forget_pair(&was);
    forget_pair(&is);
}

/* ---- Pointers that lead beside their targets, distances, and alignments. */

typedef struct target1 {
    int64_t a, hook;
} target1;

typedef struct target2 {
    int64_t a, hook, b[3];
} target2;

typedef struct beside {
    int64_t *hook;    /* of the second target */
    uintptr_t tagged; /* the same, with a tag in the highest bits, where pointers have 8 bytes */
    int64_t distance; /* to the third */
    target1 *all;     /* three */
    int64_t *wide;    /* at a multiple of 64 */
} beside;

static void describe_beside(haul_type **target, haul_type **wide, haul_type **type, size_t bytes)
{
    static haul_type *targets[2], *wides[2];
    const int is_new = bytes == sizeof(target2);
    haul_type **t = &targets[is_new], **w = &wides[is_new];
    const haul_struct aligned = { .name = "wide", .bytes = 64, .alignment = 64 };
    const uintptr_t high = sizeof(void *) == 8 ? (uintptr_t)0xff << (sizeof(void *) * 8 - 8) : 0;
    haul_field fields[] = {
        HAUL_ADDRESS(beside, hook, .target = t, .base = HAUL_CONTAINER_OF(target1, hook)),
        HAUL_ADDRESS(beside, tagged, .target = t, .base = HAUL_CONTAINER_OF(target1, hook),
                     .tag_bits = high),
        HAUL_RELATIVE(beside, distance, .target = t),
        HAUL_OBJECTS(beside, all, t, HAUL_FIXED(3)),
        HAUL_ADDRESS(beside, wide, .target = w),
    };
    fields[3].element_bytes = bytes;
    *target = *t = make("target", bytes, NULL, 0);
    *wide = *w = type_new(&aligned);
    *type = make("beside", sizeof(beside), fields, 5);
}

TEST(image_growth, pointers_beside_their_targets_and_distances_lead_where_they_led)
{
    static const haul_image_growth growth = { "target", sizeof(target1), offsetof(target2, b) };
    const haul_image_options options = { .growths = &growth, .growth_count = 1 };
    static target1 all[3] = { { 1, 10 }, { 2, 20 }, { 3, 30 } };
    static int64_t wide[8] __attribute__((aligned(64)));
    static beside b;
    haul_type *targets[2], *wides[2], *types[2];
    image_bytes bytes = { NULL, 0, 0 };
    const uintptr_t tag = sizeof(void *) == 8 ? (uintptr_t)5 << (sizeof(void *) * 8 - 8) : 0;
    haul_image *image;
    const beside *now;
    const target2 *second;
    b.hook = &all[1].hook;
    b.tagged = (uintptr_t)b.hook | tag;
    b.distance = (int64_t)((uintptr_t)&all[2] - (uintptr_t)&b.distance);
    b.all = all;
    b.wide = wide;
    wide[7] = 7;
    describe_beside(&targets[0], &wides[0], &types[0], sizeof(target1));
    describe_beside(&targets[1], &wides[1], &types[1], sizeof(target2));
    write_image(&bytes, &b, types[0], 1);
    CHECK_STATUS(load_as(types[1], &bytes, &options, &image), HAUL_OK);
    now = loaded(image);
    second = (const target2 *)(const void *)now->all + 1;
    CHECK_PTR(now->hook, &second->hook);
    CHECK_EQ(now->tagged, (uintptr_t)&second->hook | tag);
    CHECK_EQ((uintptr_t)&now->distance + (uintptr_t)now->distance, (uintptr_t)(second + 1));
    CHECK_EQ(second[1].hook, 30);
    CHECK_EQ((uintptr_t)now->wide % 64, 0);
    CHECK_EQ(now->wide[7], 7);
    haul_image_free(&image);
    for (size_t i = 0; i < 2; i++) {
        haul_type_free(&types[i]);
        haul_type_free(&targets[i]);
        haul_type_free(&wides[i]);
    }
    bytes_free(&bytes);
}
