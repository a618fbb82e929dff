/* Images of structs that have new fields since: they are read if the program says so, the new
 * fields are zeros, and all that led somewhere leads there.
 */
#include <string.h>

#include "haul/host.h"
#include "images/image_bytes.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/types.h"

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
    const haul_file file = bytes_file(&g->image), other = bytes_file(&g->other);
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
    CHECK_STATUS(
        haul_image_write(type_context(), haul_from_object(&g->was.world, old_world), &file),
        HAUL_OK);
    CHECK_STATUS(
        haul_image_write(type_context(), haul_from_object(&g->is.world, new_world), &other),
        HAUL_OK);
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
    return haul_image_from_bytes(type_context(), g->image.at, g->image.count, &new_world, 1,
                                 options, image);
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
    w = haul_image_roots(image, NULL)[0].address;
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
    bytes_set(&g->image, NULL, 0);
    {
        const haul_file file = bytes_file(&g->image);
        CHECK_STATUS(
            haul_image_write(type_context(), haul_from_object(&g->is.world, new_world), &file),
            HAUL_OK);
    }
    CHECK_STATUS(load(g, &options, &image), HAUL_OK);
    CHECK_EQ(((const world2 *)haul_image_roots(image, NULL)[0].address)->one->added, 5);
    haul_image_free(&image);
    graph_end(g);
}

TEST(image_growth, a_converted_graph_lies_where_the_program_wants_it)
{
    static uint64_t buffer[256];
    graph *g = graph_start();
    haul_image_options options = declared();
    haul_image *image;
    options.is_trusted = 1;
    CHECK_STATUS(load(g, &options, &image), HAUL_OK);
    check_written(g, &image);
    options.buffer = buffer;
    options.buffer_bytes = sizeof buffer;
    CHECK_STATUS(load(g, &options, &image), HAUL_OK);
    CHECK_PTR(haul_image_memory(image, NULL), buffer);
    check_written(g, &image);
    graph_end(g);
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

TEST(image_growth, memory_that_runs_out_is_told_and_given_back)
{
    graph *g = graph_start();
    const haul_image_options options = declared();
    uint64_t at;
    int fired = 1;
    for (at = 1; fired; at++) {
        fault_plan doors = { 0 };
        haul_context *context;
        haul_image *image;
        haul_status status;
        CHECK_STATUS(fault_open_context(&doors, NULL, &context), HAUL_OK);
        fault_arm(&doors, FAULT_ONCE, at);
        status = haul_image_from_bytes(context, g->image.at, g->image.count, &new_world, 1,
                                       &options, &image);
        fired = doors.fired != 0;
        fault_disarm(&doors);
        CHECK(status == (image ? HAUL_OK : HAUL_ERROR_MEMORY));
        CHECK(fired || image);
        haul_image_free(&image);
        haul_context_free(&context);
        fault_check_clean(&doors);
    }
    graph_end(g);
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
    CHECK_STATUS(type_make("inner", sizeof(inner1), NULL, 0, &was_inner), HAUL_OK);
    CHECK_STATUS(type_make("inner", sizeof(inner2), NULL, 0, &is_inner), HAUL_OK);
    CHECK_STATUS(type_make("outer", sizeof(outer1), was, 2, &was_outer), HAUL_OK);
    CHECK_STATUS(type_make("outer", sizeof(outer2), is, 2, &is_outer), HAUL_OK);
    CHECK_STATUS(haul_type_commit(was_outer), HAUL_OK);
    CHECK_STATUS(haul_type_commit(is_outer), HAUL_OK);
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
    haul_root root = { o, NULL, 2 };
    image_bytes bytes = { NULL, 0, 0 };
    const haul_file file = bytes_file(&bytes);
    haul_image_options options = { .growths = both, .growth_count = 2 };
    haul_image *image;
    const outer2 *now;
    describe_outer();
    root.type = was_outer;
    CHECK_STATUS(haul_image_write(type_context(), haul_from_roots(&root, 1), &file), HAUL_OK);
    CHECK_STATUS(haul_image_from_bytes(type_context(), bytes.at, bytes.count, &is_outer, 1,
                                       &options, &image),
                 HAUL_OK);
    now = haul_image_roots(image, NULL)[0].address;
    CHECK_STR(now[0].name, "x");
    CHECK_EQ(now[0].last.a, 1);
    CHECK_EQ(now[0].last.b, 0);
    CHECK_EQ(now[1].last.a, 2);
    CHECK_EQ(now[1].last.b, 0);
    haul_image_free(&image);
    options.growths = wrong;
    CHECK_STATUS(haul_image_from_bytes(type_context(), bytes.at, bytes.count, &is_outer, 1,
                                       &options, &image),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(type_error()->path, "outer.last");
    options.growth_count = 1; /* the inner one alone */
    CHECK_STATUS(haul_image_from_bytes(type_context(), bytes.at, bytes.count, &is_outer, 1,
                                       &options, &image),
                 HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, "outer");
    haul_type_free(&was_inner);
    haul_type_free(&was_outer);
    haul_type_free(&is_inner);
    haul_type_free(&is_outer);
    bytes_free(&bytes);
}
