/* Chains: paths compiled against types, and resolved on the host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/open.h"
#include "support/random.h"
#include "support/types.h"

/* ---- A simulation with one of each thing that a path can pass. */

typedef struct vector {
    double x, y, z;
} vector;

typedef struct traits {
    vector *positions, *momenta;
    double mass;
    char *name;
    int32_t count, spare;
} traits;

typedef struct atoms {
    traits *traits;
    int64_t kind;
    traits own;
} atoms;

typedef struct cell {
    int32_t *data;
    int64_t count;
    struct cell *up; /* borrowed, tag bit 1 */
} cell;

enum { IS_WHOLE = 1, IS_REAL = 2, IS_CELL = 3 };

typedef struct value {
    int64_t kind;
    union {
        int64_t whole;
        double real;
        cell *cell;
    } as;
} value;

typedef struct simulation {
    atoms atoms;
    cell *cells;
    cell corner[3];
    cell *beside[2];
    double **rows;
    value value;
    void *any; /* a cell or traits */
    vector *end;
    vector *begin;
    cell *based; /* leads to count of a cell */
    int64_t cell_count, row_count, column_count, any_kind;
    int64_t distance; /* to a cell */
    void *handle;
    double cache;
} simulation;

static haul_type *traits_type, *atoms_type, *cell_type, *value_type, *simulation_type;

static const haul_field traits_fields[] = {
    HAUL_ARRAY(traits, positions, HAUL_COUNT(traits, count)),
    HAUL_ARRAY(traits, momenta, HAUL_COUNT(traits, count), .transfer = HAUL_COPYIN),
    HAUL_RAW(traits, mass),
    HAUL_STRING(traits, name),
};
static const haul_field atoms_fields[] = {
    HAUL_OBJECT(atoms, traits, &traits_type),
    HAUL_EMBED(atoms, own, &traits_type),
};
static const haul_field cell_fields[] = {
    HAUL_ARRAY(cell, data, HAUL_COUNT(cell, count)),
    HAUL_RAW(cell, count),
    HAUL_OBJECT(cell, up, &cell_type, .ownership = HAUL_BORROWED, .tag_bits = 1),
};
static const haul_field value_fields[] = {
    HAUL_RAW(value, as.whole, .when = HAUL_EQUALS(value, kind, IS_WHOLE)),
    HAUL_RAW(value, as.real, .when = HAUL_EQUALS(value, kind, IS_REAL)),
    HAUL_OBJECT(value, as.cell, &cell_type, .when = HAUL_EQUALS(value, kind, IS_CELL)),
};
static const haul_case any_cases[] = { { .value = 1, .type = &cell_type },
                                       { .value = 2, .type = &traits_type } };
static const haul_field simulation_fields[] = {
    HAUL_EMBED(simulation, atoms, &atoms_type),
    HAUL_OBJECTS(simulation, cells, &cell_type, HAUL_COUNT(simulation, cell_count)),
    HAUL_EMBED(simulation, corner, &cell_type),
    HAUL_EACH(simulation, beside, .target = &cell_type),
    HAUL_ARRAYS(simulation, rows, HAUL_COUNT(simulation, row_count),
                HAUL_COUNT(simulation, column_count)),
    HAUL_EMBED(simulation, value, &value_type),
    HAUL_ADDRESS(simulation, any, .type_switch = HAUL_SWITCH(simulation, any_kind, any_cases)),
    HAUL_ARRAY(simulation, begin, HAUL_UNTIL(simulation, end)),
    HAUL_OBJECT(simulation, based, &cell_type, .base = HAUL_CONTAINER_OF(cell, count)),
    HAUL_RELATIVE(simulation, distance, .target = &cell_type),
    HAUL_RAW(simulation, handle, .transfer = HAUL_COPYIN),
    HAUL_SKIP(simulation, cache),
};

static void types_open(void)
{
    CHECK_STATUS(type_make("traits", sizeof(traits), traits_fields, 4, &traits_type), HAUL_OK);
    CHECK_STATUS(type_make("cell", sizeof(cell), cell_fields, 3, &cell_type), HAUL_OK);
    CHECK_STATUS(type_make("atoms", sizeof(atoms), atoms_fields, 2, &atoms_type), HAUL_OK);
    CHECK_STATUS(type_make("value", sizeof(value), value_fields, 3, &value_type), HAUL_OK);
    CHECK_STATUS(type_make("simulation", sizeof(simulation), simulation_fields,
                           sizeof simulation_fields / sizeof *simulation_fields, &simulation_type),
                 HAUL_OK);
    CHECK_STATUS(haul_type_commit(simulation_type), HAUL_OK);
}

static void types_close(void)
{
    haul_type_free(&simulation_type);
    haul_type_free(&value_type);
    haul_type_free(&atoms_type);
    haul_type_free(&cell_type);
    haul_type_free(&traits_type);
}

enum { ATOMS = 5, CELLS = 4, ROWS = 3, COLUMNS = 2 };

static struct {
    simulation s;
    traits traits;
    vector positions[ATOMS], momenta[ATOMS], pair[3];
    cell cells[CELLS], beside, based, distant;
    int32_t data[CELLS][4];
    double matrix[ROWS][COLUMNS], *rows[ROWS];
    char name[8];
} the;

static void fill_cell(cell *c, int i)
{
    c->data = the.data[i % CELLS];
    c->count = 1 + i % CELLS;
    c->up = (cell *)((uintptr_t)&the.cells[(i + 1) % CELLS] + 1);
}

static void world_open(void)
{
    simulation *s = &the.s;
    int i;
    memset(&the, 0, sizeof the);
    types_open();
    strcpy(the.name, "copper");
    the.traits.positions = the.positions;
    the.traits.momenta = the.momenta;
    the.traits.count = ATOMS;
    the.traits.mass = 63.5;
    the.traits.name = the.name;
    s->atoms.traits = s->atoms.own.positions ? NULL : &the.traits;
    for (i = 0; i < CELLS; i++)
        fill_cell(&the.cells[i], i);
    for (i = 0; i < 3; i++)
        fill_cell(&s->corner[i], i);
    fill_cell(&the.beside, 1);
    fill_cell(&the.based, 2);
    fill_cell(&the.distant, 3);
    s->cells = the.cells;
    s->cell_count = CELLS;
    s->beside[1] = &the.beside;
    for (i = 0; i < ROWS; i++)
        the.rows[i] = the.matrix[i];
    s->rows = the.rows;
    s->row_count = ROWS;
    s->column_count = COLUMNS;
    s->value.kind = IS_CELL;
    s->value.as.cell = &the.beside;
    s->any = &the.traits;
    s->any_kind = 2;
    s->begin = the.pair;
    s->end = the.pair + 3;
    s->based = (cell *)(void *)&the.based.count;
    s->distance = (int64_t)((intptr_t)&the.distant - (intptr_t)&s->distance);
}

static haul_chain *chain_of(const char *path)
{
    haul_chain *chain;
    check_note("path %s", path);
    CHECK_STATUS(haul_chain_create(type_context(), simulation_type, path, &chain), HAUL_OK);
    return chain;
}

/* The path leads to `count` elements of `bytes` bytes at the address. */
static void expect(const char *path, const void *address, size_t count, size_t bytes)
{
    haul_chain *chain = chain_of(path);
    haul_root target;
    size_t found, lower, extent;
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, &target, 1, &found), HAUL_OK);
    CHECK_EQ(found, 1);
    CHECK_PTR(target.address, address);
    CHECK_EQ(target.count, count);
    CHECK_STATUS(haul_type_get_extent(target.type, &lower, &extent), HAUL_OK);
    if (bytes)
        CHECK_EQ(extent, bytes);
    CHECK(haul_type_committed(target.type));
    haul_chain_free(&chain);
    check_note(NULL);
}

TEST(chain, each_kind_of_step_leads_where_the_program_itself_goes)
{
    const simulation *s = &the.s;
    world_open();
    expect("atoms.traits.positions", s->atoms.traits->positions, ATOMS, sizeof(vector));
    expect("->atoms.traits->positions", s->atoms.traits->positions, ATOMS, sizeof(vector));
    expect(" .atoms . traits -> positions [ 3 ] ", &s->atoms.traits->positions[3], 1,
           sizeof(vector));
    expect("atoms", &s->atoms, 1, sizeof(atoms));
    expect("atoms.traits", s->atoms.traits, 1, sizeof(traits));
    expect("atoms.traits.mass", &s->atoms.traits->mass, 1, sizeof(double));
    expect("atoms.traits.name", s->atoms.traits->name, sizeof "copper", 1);
    expect("cells", s->cells, CELLS, sizeof(cell));
    expect("cells[3].data", s->cells[3].data, 4, sizeof(int32_t));
    expect("cells.data", s->cells->data, 1, sizeof(int32_t));
    expect("cells[2].data[1]", &s->cells[2].data[1], 1, sizeof(int32_t));
    expect("corner", s->corner, 3, sizeof(cell));
    expect("corner[2].data", s->corner[2].data, 3, sizeof(int32_t));
    expect("corner[1].count", &s->corner[1].count, 1, sizeof(int64_t));
    expect("beside[1]", s->beside[1], 1, sizeof(cell));
    expect("beside[1].data", s->beside[1]->data, 2, sizeof(int32_t));
    expect("rows[1]", s->rows[1], COLUMNS, sizeof(double));
    expect("rows[2][1]", &s->rows[2][1], 1, sizeof(double));
    expect("value.as.cell.data", s->value.as.cell->data, 2, sizeof(int32_t));
    expect("cells[1].up.data", the.cells[2].data, 3, sizeof(int32_t));
    expect("cells[1].up.up.up", &the.cells[0], 1, sizeof(cell));
    expect("any.positions", the.positions, ATOMS, sizeof(vector));
    expect("any", &the.traits, 1, sizeof(traits));
    expect("begin", the.pair, 3, sizeof(vector));
    expect("begin[2]", &the.pair[2], 1, sizeof(vector));
    expect("based", &the.based, 1, sizeof(cell));
    expect("based.data", the.based.data, 3, sizeof(int32_t));
    expect("distance.data", the.distant.data, 4, sizeof(int32_t));
    types_close();
}

TEST(chain, what_is_not_there_is_an_empty_target)
{
    simulation *s = &the.s;
    world_open();
    expect("beside[0]", NULL, 0, 0);
    expect("beside[0].data", NULL, 0, 0);
    expect("beside[0].up.data[7]", NULL, 0, 0);
    expect("atoms.own.positions", NULL, 0, 0);
    expect("value.as.real", NULL, 0, 0); /* another arm holds */
    expect("value.as.whole", NULL, 0, 0);
    s->value.kind = IS_REAL;
    expect("value.as.real", &s->value.as.real, 1, sizeof(double));
    expect("value.as.cell.data", NULL, 0, 0);
    expect("any.data", NULL, 0, 0); /* any is traits now */
    s->any = &the.based;
    s->any_kind = 1;
    expect("any.data", the.based.data, 3, sizeof(int32_t));
    expect("any.positions", NULL, 0, 0);
    the.based.count = 0;
    expect("any.data", NULL, 0, 0);
    s->distance = 0;
    expect("distance.data", NULL, 0, 0);
    s->atoms.traits = NULL;
    expect("atoms.traits.name", NULL, 0, 0);
    the.cells[0].up = (cell *)(uintptr_t)1; /* a tag without an address */
    expect("cells.up.data", NULL, 0, 0);
    types_close();
}

TEST(chain, a_pointer_to_no_elements_leads_nowhere)
{
    haul_chain *chain;
    haul_root target;
    size_t count;
    world_open();
    the.s.cell_count = 0;
    expect("cells", NULL, 0, 0);
    expect("cells.data", NULL, 0, 0);
    chain = chain_of("cells[0].data");
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, &target, 1, &count), HAUL_ERROR_GRAPH);
    CHECK_HAS(type_error()->text, "the index is 0, and the array has 0 elements");
    haul_chain_free(&chain);
    types_close();
}

TEST(chain, all_elements_give_a_target_each_and_empty_ones_keep_their_place)
{
    haul_chain *chain;
    haul_root targets[CELLS * 4 + 1];
    size_t count, i;
    world_open();
    the.cells[1].data = NULL;
    the.cells[1].count = 0;
    chain = chain_of("cells[*].data");
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, targets, CELLS, &count), HAUL_OK);
    CHECK_EQ(count, CELLS);
    for (i = 0; i < CELLS; i++) {
        CHECK_PTR(targets[i].address, the.cells[i].data);
        CHECK_EQ(targets[i].count, (size_t)the.cells[i].count);
    }
    memset(targets, 0, sizeof targets);
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, targets, 1, &count), HAUL_OK);
    CHECK_EQ(count, CELLS);
    CHECK_PTR(targets[0].address, the.cells[0].data);
    CHECK_PTR(targets[1].type, NULL);
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, NULL, 0, &count), HAUL_OK);
    CHECK_EQ(count, CELLS);
    haul_chain_free(&chain);
    chain = chain_of("cells[*].data[*]");
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, targets, CELLS * 4, &count), HAUL_OK);
    CHECK_EQ(count, 1 + 0 + 3 + 4);
    CHECK_PTR(targets[1].address, &the.data[2][0]);
    CHECK_PTR(targets[7].address, &the.data[3][3]);
    haul_chain_free(&chain);
    chain = chain_of("rows[*]");
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, targets, ROWS, &count), HAUL_OK);
    CHECK_EQ(count, ROWS);
    CHECK_PTR(targets[2].address, the.matrix[2]);
    haul_chain_free(&chain);
    chain = chain_of("beside[*].data");
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, targets, ROWS, &count), HAUL_OK);
    CHECK_EQ(count, 2);
    CHECK_PTR(targets[0].address, NULL);
    CHECK_PTR(targets[1].address, the.beside.data);
    haul_chain_free(&chain);
    the.s.cells = NULL;
    the.s.cell_count = 0;
    chain = chain_of("cells[*].data");
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, targets, CELLS, &count), HAUL_OK);
    CHECK_EQ(count, 0);
    haul_chain_free(&chain);
    types_close();
}

/* The path is refused; the record has the words, and a path with this end. */
static void refused(const char *path, const char *place, const char *words)
{
    haul_chain *chain;
    check_note("path %s", path);
    CHECK_STATUS(haul_chain_create(type_context(), simulation_type, path, &chain),
                 HAUL_ERROR_ARGUMENT);
    CHECK_PTR(chain, NULL);
    CHECK_HAS(type_error()->text, words);
    CHECK_STR(type_error()->path, place);
    check_note(NULL);
}

TEST(chain, a_wrong_step_is_named_with_the_fields_that_exist_there)
{
    world_open();
    refused("atoms.trait.positions", "simulation.atoms.trait",
            "no field trait; atoms has traits, own");
    refused("atom", "simulation.atom", "simulation has atoms, cells, corner");
    refused("any.size", "simulation.any.size",
            "cell has data, count, up; traits has positions, momenta, mass, name");
    refused("atoms.traits.count", "simulation.atoms.traits.count", "HAUL_RAW");
    refused("cells.data.x", "simulation.cells.data.x", "data holds plain elements");
    refused("value.as.all", "simulation.value.as", "value has as.whole, as.real, as.cell");
    refused("", "simulation", "a path is made of names");
    refused("atoms..traits", "simulation.atoms.", "a path is made of names");
    refused("atoms.traits]", "simulation.atoms.traits", "goes on with ]");
    refused("rows", "simulation.rows", "0 of 1 indices");
    refused("beside.data", "simulation.beside", "0 of 1 indices");
    refused("beside[2]", "simulation.beside", "none has the index 2");
    refused("corner[3]", "simulation.corner", "none has the index 3");
    refused("rows[0][0][0]", "simulation.rows", "3 indices, and 2 are possible");
    refused("atoms[0]", "simulation.atoms", "1 indices, and 0 are possible");
    refused("cells[i]", "simulation.cells", "a number or *, not i]");
    refused("cells[1", "simulation.cells", "ends with ]");
    refused("cells[99999999999999999999999]", "simulation.cells", "too large");
    refused("cells[-1]", "simulation.cells", "a number or *");
    refused("cache", "simulation.cache", "skipped");
    types_close();
}

TEST(chain, a_wrong_first_or_later_step_is_named_however_long_the_names_are)
{
    enum { LONG = 250 };
    typedef struct link {
        struct link *next;
    } link;
    static char name[LONG + 1], field_name[LONG + 1];
    haul_type *type = NULL;
    haul_field field = HAUL_OBJECT(link, next, &type);
    haul_chain *chain;
    char path[LONG + 4];
    memset(name, 't', LONG);
    memset(field_name, 'f', LONG);
    field.name = field_name;
    CHECK_STATUS(type_make(name, sizeof(link), &field, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_chain_create(type_context(), type, "x", &chain), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "there is no field x; tttt");
    CHECK_HAS(type_error()->text, "t has ... (HAUL_RAW");
    sprintf(path, "%s.x", field_name);
    CHECK_STATUS(haul_chain_create(type_context(), type, path, &chain), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "there is no field x; tttt");
    haul_type_free(&type);
}

TEST(chain, a_count_that_does_not_hold_is_an_error_with_its_path)
{
    haul_chain *chain;
    haul_root targets[8];
    size_t count;
    world_open();
    chain = chain_of("cells[*].data");
    the.cells[2].count = -1;
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, targets, 8, &count), HAUL_ERROR_GRAPH);
    CHECK_EQ(count, 0);
    CHECK_STR(type_error()->path, "root.cells[2].data");
    CHECK_HAS(type_error()->text, "-1");
    the.cells[2].count = 2;
    the.cells[2].data = NULL;
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, targets, 8, &count), HAUL_ERROR_GRAPH);
    CHECK_HAS(type_error()->text, "a NULL pointer with count 2");
    haul_chain_free(&chain);
    chain = chain_of("cells[7].data");
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, targets, 8, &count), HAUL_ERROR_GRAPH);
    CHECK_STR(type_error()->path, "root.cells[7]");
    CHECK_HAS(type_error()->text, "the index is 7, and the array has 4 elements");
    haul_chain_free(&chain);
    chain = chain_of("begin");
    the.s.end = the.s.begin - 1; /* before its begin */
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, targets, 8, &count), HAUL_ERROR_GRAPH);
    haul_chain_free(&chain);
    chain = chain_of("any");
    the.s.any_kind = 9;
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, targets, 8, &count), HAUL_ERROR_GRAPH);
    CHECK_HAS(type_error()->text, "no case for 9");
    CHECK_STR(type_error()->path, "root.any");
    haul_chain_free(&chain);
    types_close();
}

TEST(chain, the_form_that_the_compiler_reads_gives_the_same_chain_and_evaluates_nothing)
{
    simulation *none = NULL;
    haul_chain *chain;
    haul_root target;
    size_t count;
    world_open();
    CHECK_STATUS(haul_chain_create_checked(type_context(), simulation_type,
                                           HAUL_CHAIN(none, ->atoms.traits->positions), &chain),
                 HAUL_OK);
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, &target, 1, &count), HAUL_OK);
    CHECK_PTR(target.address, the.positions);
    haul_chain_free(&chain);
    CHECK_STATUS(haul_chain_create_checked(type_context(), simulation_type,
                                           HAUL_CHAIN(none, ->cells[HAUL_ALL].data), &chain),
                 HAUL_OK);
    CHECK_STATUS(haul_chain_resolve(chain, &the.s, &target, 1, &count), HAUL_OK);
    CHECK_EQ(count, CELLS);
    haul_chain_free(&chain);
    CHECK_STATUS(haul_chain_create_checked(type_context(), simulation_type,
                                           HAUL_CHAIN(none, ->atoms.traits->mass), &chain),
                 HAUL_OK);
    haul_chain_free(&chain);
    CHECK_STATUS(haul_chain_create_checked(type_context(), simulation_type,
                                           HAUL_CHAIN(none, ->rows[1][0]), &chain),
                 HAUL_OK);
    haul_chain_free(&chain);
    CHECK_STATUS(haul_chain_create_checked(type_context(), simulation_type,
                                           HAUL_CHAIN(none, ->corner[1]), &chain),
                 HAUL_OK);
    haul_chain_free(&chain);
    CHECK_STATUS(haul_chain_create_checked(type_context(), simulation_type,
                                           HAUL_CHAIN(&none->atoms, ->traits), &chain),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "the root has");
    CHECK_STATUS(
        haul_chain_create_checked(type_context(), simulation_type, "cells[2].count", 0, 4, &chain),
        HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "count has 4 bytes in the program, and 8 in the description");
    types_close();
}

/* ---- What decides a target makes a plan of it stale. */

static void move_end(void)
{
    the.s.end--;
}

static void lose_terminator(void)
{
    the.name[6] = 'x';
}

static void switch_type(void)
{
    the.s.any_kind = 1;
    the.s.any = &the.based;
}

static void switch_arm(void)
{
    the.s.value.kind = IS_REAL;
}

static void move_distance(void)
{
    the.s.distance += (int64_t)sizeof(cell);
}

static void move_base(void)
{
    the.s.based = (cell *)(void *)&the.distant.count;
}

static void move_row(void)
{
    the.rows[1] = the.matrix[0];
}

static void move_rows(void)
{
    the.s.rows = the.rows + 1;
    the.s.row_count--;
}

static void count_columns(void)
{
    the.s.column_count = 1;
}

static void move_beside(void)
{
    the.s.beside[1] = &the.based;
}

static void move_up(void)
{
    the.cells[1].up = &the.cells[3];
}

static void forget_cells(void)
{
    the.s.cells = NULL;
    the.s.cell_count = 0;
}

TEST(chain, each_thing_that_decides_a_target_makes_a_plan_of_it_stale)
{
    static const struct {
        const char *path;
        void (*change)(void);
    } changes[] = {
        { "begin", move_end },
        { "atoms.traits.name", lose_terminator },
        { "any.positions", switch_type },
        { "value.as.cell.data", switch_arm },
        { "distance.data", move_distance },
        { "based.data", move_base },
        { "rows[1]", move_row },
        { "rows[1]", move_rows },
        { "rows[*]", count_columns },
        { "beside[1].data", move_beside },
        { "cells[1].up.data", move_up },
        { "cells[*].data", forget_cells },
    };
    unsigned char arena[4096];
    size_t i;
    for (i = 0; i < sizeof changes / sizeof *changes; i++) {
        haul_chain *chain;
        haul_plan *plan;
        world_open();
        chain = chain_of(changes[i].path);
        CHECK_STATUS(
            haul_plan_create(type_context(), haul_from_chains(&the.s, &chain, 1), NULL, &plan),
            HAUL_OK);
        CHECK_STATUS(haul_plan_pack(plan, arena, sizeof arena, 4096, NULL), HAUL_OK);
        changes[i].change();
        CHECK_STATUS(haul_plan_pack(plan, arena, sizeof arena, 4096, NULL), HAUL_ERROR_STALE);
        haul_plan_free(&plan);
        haul_chain_free(&chain);
        types_close();
    }
    check_note(NULL);
}

/* ---- Paths of random text. */

TEST(chain, random_text_is_a_path_or_is_refused_with_a_reason)
{
    static const char *const words[] = {
        "atoms",   "traits", "own",        "positions",
        "cells",   "data",   "up",         "corner",
        "beside",  "rows",   "value",      "as",
        "as.cell", "any",    "name",       ".",
        ".",       ".",      ".",          "->",
        "[0]",     "[1]",    "[*]",        "[",
        "]",       "[07]",   "[HAUL_ALL]", " ",
        "-",       "count",  "cache",      "[18446744073709551615]",
    };
    random_source random = random_start("paths");
    haul_root targets[16];
    size_t count, i;
    int round, compiled = 0;
    world_open();
    for (round = 0; round < 30000; round++) {
        char path[256] = "";
        haul_chain *chain;
        haul_status status;
        for (i = random_below(&random, 10); i < 10; i++)
            strcat(path, words[random_below(&random, sizeof words / sizeof *words)]);
        check_note("path %s", path);
        status = haul_chain_create(type_context(), simulation_type, path, &chain);
        if (status != HAUL_OK) {
            CHECK(status == HAUL_ERROR_ARGUMENT || status == HAUL_ERROR_LIMIT);
            CHECK_PTR(chain, NULL);
            CHECK(strlen(type_error()->text) > 10);
            continue;
        }
        compiled++;
        status = haul_chain_resolve(chain, &the.s, targets, 16, &count);
        CHECK(status == HAUL_OK || status == HAUL_ERROR_GRAPH);
        for (i = 0; i < count && i < 16; i++)
            CHECK_EQ(targets[i].address == NULL, targets[i].count == 0);
        haul_chain_free(&chain);
    }
    check_note(NULL);
    CHECK(compiled > 100);
    types_close();
}
