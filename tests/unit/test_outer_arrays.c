/* Pointers into the arrays of a mesh: threads find what one thread finds, and share the walk if the
 * mesh leads to its arrays first.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/outcomes.h"
#include "support/random.h"
#include "support/types.h"

/* So many that an array of cells makes a shared walk worth it. */
#if defined(HAUL_STRESS_THREADS) || defined(HAUL_EMULATED)
enum { CELLS = 600 };
#else
enum { CELLS = 17000 };
#endif
/* A build that shares every walk at once lists no arrays before. */
#ifdef HAUL_STRESS_THREADS
enum { MAY_LIST = 0 };
#else
enum { MAY_LIST = CAN_SHARE };
#endif
enum {
    FACES = CELLS / 2,
    VALUES = 4 * CELLS,
    ROWS = CELLS / 8,
    TAGGED = CELLS / 3,
    LINKS = 100,
    ROW = 8
};

typedef struct spot {
    double x;
} spot;

typedef struct cell {
    struct cell *near[3];
    struct face *face;
    double *values;
    int64_t value_count;
    struct tagged *tagged;
    spot *spot; /* among the values */
} cell;

typedef struct face {
    cell *left;
    struct face *behind;
    int64_t behind_count;
} face;

typedef struct tagged {
    struct tagged *next; /* with a bit of the program's */
    double weight;
} tagged;

typedef struct chain {
    struct chain *next;
    cell *cell;
    struct mesh *mesh;
} chain;

typedef struct mesh {
    cell *before;
    face *faces;
    cell *cells;
    double *values;
    double **rows;
    tagged *tagged;
    cell *after;
    chain *list;
    int64_t face_count, cell_count, value_count, row_count, tagged_count;
} mesh;

typedef struct simulation {
    chain *early;
    mesh *mesh;
    cell *late;
} simulation;

static haul_type *spot_type, *cell_type, *face_type, *tagged_type, *chain_type, *mesh_type,
    *simulation_type;

static void make_types(void)
{
    static const haul_field cell_fields[] = {
        HAUL_OBJECT(cell, near[0], &cell_type),
        HAUL_OBJECT(cell, near[1], &cell_type),
        HAUL_OBJECT(cell, near[2], &cell_type),
        HAUL_OBJECT(cell, face, &face_type),
        HAUL_ARRAY(cell, values, HAUL_COUNT(cell, value_count)),
        HAUL_OBJECT(cell, tagged, &tagged_type),
        HAUL_OBJECT(cell, spot, &spot_type),
    };
    static const haul_field face_fields[] = {
        HAUL_OBJECT(face, left, &cell_type),
        HAUL_OBJECTS(face, behind, &face_type, HAUL_COUNT(face, behind_count)),
    };
    static const haul_field tagged_fields[] = {
        HAUL_ADDRESS(tagged, next, .target = &tagged_type, .tag_bits = 1),
    };
    static const haul_field chain_fields[] = {
        HAUL_OBJECT(chain, next, &chain_type),
        HAUL_OBJECT(chain, cell, &cell_type),
        HAUL_OBJECT(chain, mesh, &mesh_type),
    };
    static const haul_field mesh_fields[] = {
        HAUL_OBJECT(mesh, before, &cell_type),
        HAUL_OBJECTS(mesh, faces, &face_type, HAUL_COUNT(mesh, face_count)),
        HAUL_OBJECTS(mesh, cells, &cell_type, HAUL_COUNT(mesh, cell_count)),
        HAUL_ARRAY(mesh, values, HAUL_COUNT(mesh, value_count)),
        HAUL_ARRAYS(mesh, rows, HAUL_COUNT(mesh, row_count), HAUL_FIXED(ROW)),
        HAUL_OBJECTS(mesh, tagged, &tagged_type, HAUL_COUNT(mesh, tagged_count)),
        HAUL_OBJECT(mesh, after, &cell_type),
        HAUL_OBJECT(mesh, list, &chain_type),
    };
    static const haul_field simulation_fields[] = {
        HAUL_OBJECT(simulation, early, &chain_type),
        HAUL_OBJECT(simulation, mesh, &mesh_type),
        HAUL_OBJECT(simulation, late, &cell_type),
    };
    spot_type = type_new(
        &(const haul_struct){ .name = "spot", .bytes = sizeof(spot), .alignment = sizeof(spot) });
    cell_type = TYPE_NEW(cell, cell_fields);
    face_type = TYPE_NEW(face, face_fields);
    tagged_type = TYPE_NEW(tagged, tagged_fields);
    chain_type = TYPE_NEW(chain, chain_fields);
    mesh_type = TYPE_NEW(mesh, mesh_fields);
    simulation_type = TYPE_NEW(simulation, simulation_fields);
    CHECK_STATUS(haul_type_commit(simulation_type), HAUL_OK);
}

static void free_types(void)
{
    haul_type_free(&simulation_type);
    haul_type_free(&mesh_type);
    haul_type_free(&chain_type);
    haul_type_free(&tagged_type);
    haul_type_free(&face_type);
    haul_type_free(&cell_type);
    haul_type_free(&spot_type);
}

typedef struct world {
    random_source random;
    simulation simulation;
    mesh mesh;
    chain links[LINKS];
} world;

static void *array_of(size_t bytes)
{
    void *made = calloc(1, bytes);
    CHECK(made != NULL);
    return made;
}

static cell *any_cell(world *w)
{
    return random_one_in(&w->random, 9) ? NULL : &w->mesh.cells[random_below(&w->random, CELLS)];
}

static tagged *with_tag(tagged *to, int tag)
{
    return (tagged *)((uintptr_t)to | (uintptr_t)tag);
}

static void fill_cell(world *w, cell *c)
{
    const size_t value = random_below(&w->random, CELLS);
    size_t i;
    for (i = 0; i < 3; i++)
        c->near[i] = any_cell(w);
    c->face = &w->mesh.faces[random_below(&w->random, FACES)];
    c->values = w->mesh.values + 4 * value;
    c->value_count = (int64_t)random_below(&w->random, 5);
    c->tagged = &w->mesh.tagged[random_below(&w->random, TAGGED)];
    c->spot = (spot *)(void *)(w->mesh.values + random_below(&w->random, VALUES));
}

static world *world_make(const char *name)
{
    world *w = array_of(sizeof *w);
    mesh *m = &w->mesh;
    size_t i;
    make_types();
    w->random = random_start(name);
    w->simulation.mesh = m;
    m->cell_count = CELLS;
    m->cells = array_of(CELLS * sizeof *m->cells);
    m->face_count = FACES;
    m->faces = array_of(FACES * sizeof *m->faces);
    m->value_count = VALUES;
    m->values = array_of(VALUES * sizeof *m->values);
    m->row_count = ROWS;
    m->rows = array_of(ROWS * sizeof *m->rows);
    m->tagged_count = TAGGED;
    m->tagged = array_of(TAGGED * sizeof *m->tagged);
    for (i = 0; i < CELLS; i++)
        fill_cell(w, &m->cells[i]);
    for (i = 0; i < FACES; i++) {
        m->faces[i].left = any_cell(w);
        m->faces[i].behind_count = (int64_t)random_below(&w->random, FACES - i < 3 ? 1 : 3);
        m->faces[i].behind = m->faces + i + (FACES - i > 3);
    }
    for (i = 0; i < VALUES; i++)
        m->values[i] = (double)i;
    for (i = 0; i < ROWS; i++)
        m->rows[i] = m->values + random_below(&w->random, VALUES - ROW);
    for (i = 0; i < TAGGED; i++)
        m->tagged[i].next = with_tag(&m->tagged[random_below(&w->random, TAGGED)], i % 3 == 0);
    for (i = 0; i < LINKS; i++) {
        w->links[i].next = i + 1 < LINKS ? &w->links[i + 1] : NULL;
        w->links[i].cell = any_cell(w);
    }
    return w;
}

static void world_free(world *w)
{
    free(w->mesh.cells);
    free(w->mesh.faces);
    free(w->mesh.values);
    free(w->mesh.rows);
    free(w->mesh.tagged);
    free(w);
    free_types();
}

/* Answers whether all teams shared the walk. */
static int agree(void *address, const haul_type *type, size_t count, haul_status expected)
{
    haul_root root = { 0 };
    outcome alone;
    int shared;
    root.address = address;
    root.type = type;
    root.count = count;
    shared = outcomes_agree(&root, NULL, OUTCOMES_FORMS, &alone);
    CHECK_STATUS(alone.status, expected);
    outcome_free(&alone);
    return shared;
}

static int simulations_agree(world *w)
{
    return agree(&w->simulation, simulation_type, 1, HAUL_OK);
}

TEST(outer_arrays, threads_share_a_mesh_whose_pointers_lead_into_its_arrays)
{
    world *w = world_make("outer arrays: mesh");
    CHECK(simulations_agree(w) || !MAY_LIST);
    w->mesh.after = &w->mesh.cells[CELLS / 2];
    w->mesh.list = w->links;
    CHECK(simulations_agree(w) || !MAY_LIST);
    world_free(w);
}

TEST(outer_arrays, threads_share_an_array_as_root_whose_pointers_lead_into_it)
{
    world *w = world_make("outer arrays: root");
    size_t i;
    for (i = 0; i < CELLS; i++) {
        w->mesh.cells[i].face = NULL;
        w->mesh.cells[i].values = NULL;
        w->mesh.cells[i].value_count = 0;
        w->mesh.cells[i].tagged = NULL;
    }
    CHECK(agree(w->mesh.cells, cell_type, CELLS, HAUL_OK) || !CAN_SHARE);
    world_free(w);
}

TEST(outer_arrays, a_pointer_into_an_array_that_is_found_first_counts_as_with_one_thread)
{
    world *w = world_make("outer arrays: first");
    size_t i;
    w->mesh.before = &w->mesh.cells[CELLS / 2];
    (void)simulations_agree(w);
    w->mesh.before = NULL;
    w->simulation.early = w->links;
    (void)simulations_agree(w);
    w->links[LINKS - 1].mesh = &w->mesh;
    for (i = 0; i < LINKS; i++) /* nothing else leads to the mesh */
        memset(w->links[i].cell ? w->links[i].cell : w->mesh.cells, 0, sizeof(cell));
    CHECK(!agree(w->links, chain_type, 1, HAUL_OK) || !MAY_LIST);
    w->mesh.before = &w->mesh.cells[0];
    w->mesh.list = w->links;
    (void)simulations_agree(w);
    world_free(w);
}

TEST(outer_arrays, ranges_beside_and_across_the_ends_of_arrays_count_as_with_one_thread)
{
    world *w = world_make("outer arrays: ends");
    cell *c = &w->mesh.cells[CELLS - 1];
    int64_t count;
    c->values = w->mesh.values;
    c->value_count = VALUES; /* the array itself */
    (void)simulations_agree(w);
    w->mesh.value_count = VALUES - 2;
    for (count = 1; count <= 4; count++) {
        c->values = w->mesh.values + VALUES - 4;
        c->value_count = count;
        (void)simulations_agree(w);
    }
    w->mesh.cell_count = CELLS - 5; /* the last cells are found one by one */
    (void)simulations_agree(w);
    w->mesh.faces[0].behind = w->mesh.faces + FACES / 3;
    w->mesh.faces[0].behind_count = FACES - FACES / 3; /* longer than a block */
    (void)simulations_agree(w);
    w->mesh.face_count = FACES / 2;
    (void)simulations_agree(w);
    world_free(w);
}

TEST(outer_arrays, a_pointer_between_two_elements_gives_the_error_and_the_path_of_one_thread)
{
    world *w = world_make("outer arrays: between");
    cell *c = &w->mesh.cells[random_below(&w->random, CELLS)];
    size_t bytes;
    for (bytes = 1; bytes < sizeof(cell); bytes += 7) {
        haul_status status;
        haul_root root = { &w->simulation, simulation_type, 1 };
        outcome alone;
        c->near[1] = (cell *)(void *)((char *)&w->mesh.cells[CELLS / 2] + bytes);
        (void)outcomes_agree(&root, NULL, OUTCOMES_FORMS, &alone);
        status = alone.status;
        CHECK(status != HAUL_OK);
        outcome_free(&alone);
    }
    c->near[1] = (cell *)(void *)(w->mesh.faces + FACES / 2);
    (void)agree(&w->simulation, simulation_type, 1, HAUL_ERROR_GRAPH);
    c->near[1] = NULL;
    c->spot = (spot *)(void *)((char *)w->mesh.values + 4);
    (void)agree(&w->simulation, simulation_type, 1, HAUL_ERROR_GRAPH);
    c->spot = NULL;
    c->tagged = (tagged *)(void *)((char *)&w->mesh.tagged[TAGGED / 2] + sizeof(double));
    (void)agree(&w->simulation, simulation_type, 1, HAUL_ERROR_GRAPH);
    world_free(w);
}

/* Any of it at once, some hundred times. */
TEST(outer_arrays, meshes_drawn_at_random_are_found_by_threads_as_by_one)
{
    world *w = world_make("outer arrays: drawn");
    mesh *m = &w->mesh;
    int round;
    for (round = 0; round < 20; round++) {
        random_source *r = &w->random;
        cell *c = &m->cells[random_below(r, CELLS)];
        m->before = random_one_in(r, 3) ? any_cell(w) : NULL;
        m->after = random_one_in(r, 3) ? any_cell(w) : NULL;
        m->list = random_one_in(r, 3) ? &w->links[random_below(r, LINKS)] : NULL;
        w->simulation.early = random_one_in(r, 4) ? &w->links[random_below(r, LINKS)] : NULL;
        w->simulation.late = random_one_in(r, 3) ? any_cell(w) : NULL;
        w->links[LINKS - 1].mesh = random_one_in(r, 2) ? m : NULL;
        w->simulation.mesh = w->simulation.early && random_one_in(r, 2) ? NULL : m;
        m->cell_count = random_one_in(r, 3) ? (int64_t)random_below(r, CELLS) : CELLS;
        m->face_count = random_one_in(r, 3) ? (int64_t)random_below(r, FACES) : FACES;
        m->value_count = random_one_in(r, 3) ? (int64_t)random_below(r, VALUES) : VALUES;
        m->tagged_count = random_one_in(r, 3) ? (int64_t)random_below(r, TAGGED) : TAGGED;
        m->row_count = random_one_in(r, 3) ? (int64_t)random_below(r, ROWS) : ROWS;
        fill_cell(w, c);
        c->value_count = (int64_t)random_below(r, (size_t)(m->values + VALUES - c->values));
        (void)simulations_agree(w);
    }
    world_free(w);
}

/* ---- One thread, and an array whose elements lead to each other. */

typedef struct knot {
    struct knot *to[2];
    double value;
} knot;

enum { KNOTS = 700, LOOSE = 50 };

/* A checked context looks at each pointer on its own. */
static void check_as_checked(knot *array, const haul_type *type)
{
    const haul_context_options checked = { .checked = 1 };
    haul_root root = { 0 };
    outcome one, other;
    root.address = array;
    root.type = type;
    root.count = KNOTS;
    (void)outcomes_agree(&root, NULL, OUTCOMES_FORMS, &one);
    (void)outcomes_agree(&root, &checked, OUTCOMES_FORMS, &other);
    CHECK_STATUS(one.status, other.status);
    CHECK_STR(one.error.path, other.error.path);
    CHECK_EQ(one.info.objects, other.info.objects);
    CHECK_EQ(one.info.graph_bytes, other.info.graph_bytes);
    if (one.status == HAUL_OK)
        CHECK(memcmp(one.arena, other.arena, one.info.arena_bytes) == 0);
    outcome_free(&one);
    outcome_free(&other);
}

TEST(outer_arrays, an_array_whose_elements_lead_to_each_other_and_out_of_it_comes_whole)
{
    static haul_type *knot_type;
    static const haul_field fields[] = { HAUL_EACH(knot, to, .target = &knot_type) };
    knot *array = array_of(KNOTS * sizeof *array), *loose = array_of(LOOSE * sizeof *loose);
    random_source random = random_start("outer arrays: knots");
    size_t i, k, bytes;
    knot_type = TYPE_NEW(knot, fields);
    CHECK_STATUS(haul_type_commit(knot_type), HAUL_OK);
    for (i = 0; i < KNOTS; i++)
        for (k = 0; k < 2; k++)
            array[i].to[k] = random_one_in(&random, 9)    ? NULL
                             : random_one_in(&random, 20) ? &loose[random_below(&random, LOOSE)]
                                                          : &array[random_below(&random, KNOTS)];
    for (i = 0; i < LOOSE; i++)
        loose[i].to[1] = &array[random_below(&random, KNOTS)];
    check_as_checked(array, knot_type);
    array[0].to[0] = array + KNOTS - 1;
    array[KNOTS - 1].to[1] = array;
    check_as_checked(array, knot_type);
    for (bytes = 1; bytes < sizeof *array; bytes++) { /* between two of them */
        array[KNOTS / 2].to[1] = (knot *)(void *)((char *)&array[KNOTS / 3] + bytes);
        check_as_checked(array, knot_type);
    }
    array[KNOTS / 2].to[1] = (knot *)(uintptr_t) - (intptr_t)sizeof *array; /* no address */
    check_as_checked(array, knot_type);
    haul_type_free(&knot_type);
    free(loose);
    free(array);
}
