/* Policies: what travels of a graph, and which way, by rows that name it.
 */
#include <string.h>

#include "haul.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/open.h"
#include "support/types.h"

enum { CELLS = 3, VALUES = 4 };

typedef struct inner {
    int64_t d, e, f;
} inner;

typedef struct sub {
    int64_t c;
    inner r;
    double *values; /* VALUES */
} sub;

typedef struct cell {
    struct cell *next;
    int64_t id;
    sub s;
    struct cell *other;
} cell;

typedef struct mesh {
    int64_t a, b;
    sub s;
    cell *cells;
    int64_t count, g;
    cell *first;
} mesh;

typedef struct graph {
    mesh m;
    cell cells[CELLS];
    double values[CELLS + 1][VALUES];
} graph;

static haul_type *inner_type, *sub_type, *cell_type, *mesh_type;
static haul_device *device;
static haul_environment *env;
static graph g;

static void describe(void)
{
    static const haul_field inner_fields[] = { HAUL_RAW(inner, e) };
    static const haul_field sub_fields[] = {
        HAUL_EMBED(sub, r, &inner_type),
        HAUL_ARRAY(sub, values, HAUL_FIXED(VALUES)),
    };
    static const haul_field cell_fields[] = {
        HAUL_OBJECT(cell, next, &cell_type),
        HAUL_EMBED(cell, s, &sub_type),
        HAUL_OBJECT(cell, other, &cell_type),
    };
    static const haul_field mesh_fields[] = {
        HAUL_EMBED(mesh, s, &sub_type),
        HAUL_OBJECTS(mesh, cells, &cell_type, HAUL_COUNT(mesh, count)),
        HAUL_OBJECT(mesh, first, &cell_type),
    };
    inner_type = TYPE_NEW(inner, inner_fields);
    sub_type = TYPE_NEW(sub, sub_fields);
    cell_type = TYPE_NEW(cell, cell_fields);
    mesh_type = TYPE_NEW(mesh, mesh_fields);
    CHECK_STATUS(haul_type_commit(mesh_type), HAUL_OK);
}

static void fill_sub(sub *s, int64_t from, double *values)
{
    int i;
    s->c = from;
    s->r.d = from + 1;
    s->r.e = from + 2;
    s->r.f = from + 3;
    s->values = values;
    for (i = 0; i < VALUES; i++)
        values[i] = (double)(from + 10 + i);
}

static void fill(void)
{
    int i;
    memset(&g, 0, sizeof g);
    g.m.a = 1;
    g.m.b = 2;
    g.m.g = 3;
    g.m.count = CELLS;
    g.m.cells = g.cells;
    g.m.first = &g.cells[1];
    fill_sub(&g.m.s, 100, g.values[CELLS]);
    for (i = 0; i < CELLS; i++) {
        g.cells[i].next = i + 1 < CELLS ? &g.cells[i + 1] : NULL;
        g.cells[i].other = &g.cells[0];
        g.cells[i].id = i;
        fill_sub(&g.cells[i].s, 200 + 20 * i, g.values[i]);
    }
}

static void start(void)
{
    test_device options;
    memset(&options, 0, sizeof options);
    options.context = type_context();
    options.settings = &ordinary_launches;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    CHECK_STATUS(haul_environment_create(device, &env), HAUL_OK);
    describe();
    fill();
}

static void finish(void)
{
    haul_host_counters counters;
    haul_environment_free(&env);
    CHECK_STATUS(haul_host_get_counters(device, &counters), HAUL_OK);
    CHECK_EQ(counters.bytes_live, 0);
    haul_type_free(&inner_type);
    haul_type_free(&sub_type);
    haul_type_free(&cell_type);
    haul_type_free(&mesh_type);
    haul_device_close(&device);
}

static haul_type *policy_of(const haul_type *type, const haul_policy_row *rows, size_t count)
{
    haul_type *policy;
    const haul_status status = haul_policy_create(type, "p", rows, count, &policy);
    check_note("%s", status == HAUL_OK ? "" : type_error()->text);
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
    return policy;
}

#define POLICY(type, rows) policy_of(type, rows, sizeof(rows) / sizeof *(rows))

/* What a kernel finds at the root; then it writes everything but pointers and counts. */
typedef struct work {
    mesh *at;
    mesh m;
    cell first;
    double value, first_value;
} work;

static void spoil_sub(sub *s)
{
    s->c = s->r.d = s->r.e = s->r.f = -1;
    if (s->values)
        s->values[0] = -1;
}

static void do_work(void *argument)
{
    work *w = argument;
    int i;
    w->m = *w->at;
    w->value = w->m.s.values ? w->m.s.values[0] : 0;
    if (w->m.first)
        w->first = *w->m.first;
    if (w->m.first && w->first.s.values)
        w->first_value = w->first.s.values[0];
    w->at->a = w->at->b = w->at->g = -1;
    spoil_sub(&w->at->s);
    for (i = 0; w->m.cells && i < CELLS; i++) {
        w->m.cells[i].id = -1;
        spoil_sub(&w->m.cells[i].s);
    }
}

static work run_between(haul_type *policy, const haul_type *at_exit)
{
    const haul_enter_options any = { .let_counts_change = 1 };
    const haul_exit_options back = { .copyout = 1, .finalize = 1, .policy = at_exit };
    haul_status status = haul_environment_enter(env, &g.m, policy, 1, &any, NULL);
    work w;
    memset(&w, 0, sizeof w);
    check_note("%s", status == HAUL_OK ? "" : type_error()->text);
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
    w.at = (mesh *)((char *)haul_environment_device_pointer(env, &g.m.s) - offsetof(mesh, s));
    CHECK_STATUS(haul_host_launch(device, do_work, &w), HAUL_OK);
    CHECK_STATUS(haul_environment_exit(env, &g.m, &back, NULL), HAUL_OK);
    if (policy != mesh_type)
        haul_type_free(&policy);
    return w;
}

static work run(haul_type *policy)
{
    return run_between(policy, NULL);
}

TEST(policy, only_named_bytes_come_back_from_a_struct_that_is_copied_in)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_COPYIN },
                                     { .path = "s.r.e", .action = HAUL_COPY } };
    work w;
    start();
    w = run(POLICY(mesh_type, rows));
    CHECK_EQ(w.m.a, 1);
    CHECK_EQ(w.m.s.c, 100);
    CHECK_EQ(w.m.s.r.f, 103);
    CHECK_EQ(g.m.a, 1);
    CHECK_EQ(g.m.b, 2);
    CHECK_EQ(g.m.g, 3);
    CHECK_EQ(g.m.s.c, 100);
    CHECK_EQ(g.m.s.r.d, 101);
    CHECK_EQ(g.m.s.r.e, -1);
    CHECK_EQ(g.m.s.r.f, 103);
    CHECK(g.m.s.values[0] == -1); /* a pointer's target is not the struct's */
    CHECK_EQ(g.cells[1].id, -1);
    CHECK_EQ(g.cells[1].s.r.f, -1);
    finish();
}

TEST(policy, an_exit_brings_back_what_its_own_rows_name)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_NONE },
                                     { HAUL_MEMBER(mesh, a), .action = HAUL_COPYOUT },
                                     { .path = "cells", .action = HAUL_COPY },
                                     { .type = &cell_type, .path = "", .action = HAUL_NONE },
                                     { .path = "cells[*].s.r.e", .action = HAUL_COPYOUT } };
    haul_type *at_exit;
    start();
    at_exit = POLICY(mesh_type, rows);
    run_between(mesh_type, at_exit);
    CHECK_EQ(g.m.a, -1);
    CHECK_EQ(g.m.b, 2);
    CHECK_EQ(g.m.s.c, 100);
    CHECK(g.m.s.values[0] == 110);
    CHECK_EQ(g.cells[2].s.r.e, -1);
    CHECK_EQ(g.cells[2].s.r.d, 241);
    CHECK_EQ(g.cells[2].id, 2);
    CHECK(g.cells[2].s.values[0] == 250);
    CHECK_PTR(g.cells[2].other, &g.cells[0]);
    haul_type_free(&at_exit);
    finish();
}

TEST(policy, an_exit_brings_back_what_was_entered_one_way)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_COPYIN },
                                     { .path = "s.values", .action = HAUL_CREATE } };
    start();
    run_between(POLICY(mesh_type, rows), mesh_type);
    CHECK_EQ(g.m.a, -1);
    CHECK_EQ(g.m.s.c, -1);
    CHECK(g.m.s.values[0] == -1);
    CHECK_EQ(g.cells[1].id, -1);
    finish();
}

TEST(policy, an_exit_follows_no_pointer_that_its_rows_leave_out)
{
    const haul_policy_row rows[] = { { .path = "cells", .action = HAUL_NONE },
                                     { .path = "first", .action = HAUL_SHALLOW } };
    haul_type *at_exit;
    start();
    at_exit = POLICY(mesh_type, rows);
    run_between(mesh_type, at_exit);
    CHECK_EQ(g.m.a, -1);
    CHECK(g.m.s.values[0] == -1);
    CHECK_EQ(g.cells[1].id, 1);
    CHECK(g.cells[1].s.values[0] == 230);
    haul_type_free(&at_exit);
    finish();
}

TEST(policy, a_path_leads_through_pointers_and_arrays_to_one_field)
{
    const haul_policy_row rows[] = { { .path = "cells[*].s.r.e", .action = HAUL_COPYIN },
                                     { .path = "cells[*].s.values", .action = HAUL_SHALLOW },
                                     { .path = "cells->s.c",
                                       .action = HAUL_COPYOUT,
                                       .offset = offsetof(cell, s.c),
                                       .bytes = sizeof(int64_t) } };
    work w;
    start();
    w = run(POLICY(mesh_type, rows));
    CHECK_EQ(w.first.s.c, 0);
    CHECK_EQ(w.first.s.r.e, 222);
    CHECK_PTR(w.first.s.values, NULL);
    CHECK_EQ(w.m.s.c, 100);
    CHECK(w.value == 110);
    CHECK_EQ(g.cells[1].s.c, -1);
    CHECK_EQ(g.cells[1].s.r.e, 222);
    CHECK_EQ(g.cells[1].s.r.d, -1);
    CHECK_PTR(g.cells[1].s.values, g.values[1]);
    CHECK(g.values[1][0] == 230);
    CHECK_EQ(g.m.s.r.e, -1);
    finish();
}

TEST(policy, a_row_of_a_type_holds_wherever_the_type_is_embedded)
{
    const haul_policy_row rows[] = { { .type = &inner_type, .path = "e", .action = HAUL_COPYIN },
                                     { .type = &sub_type, .path = "values", .action = HAUL_NONE },
                                     { .path = "s.values", .action = HAUL_COPY } };
    work w;
    start();
    w = run(POLICY(mesh_type, rows));
    CHECK(w.value == 110); /* the path from the root counts */
    CHECK_PTR(w.first.s.values, NULL);
    CHECK_EQ(g.m.s.r.e, 102);
    CHECK_EQ(g.m.s.r.d, -1);
    CHECK_EQ(g.cells[2].s.r.e, 242);
    CHECK_EQ(g.cells[2].s.r.f, -1);
    finish();
}

TEST(policy, what_no_row_names_is_absent_before_and_behind)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_NONE },
                                     { HAUL_MEMBER(mesh, b), .action = HAUL_COPY },
                                     { HAUL_MEMBER(mesh, s.r.e), .action = HAUL_COPYOUT } };
    haul_type *policy;
    size_t bytes, lower, extent;
    haul_environment_info info;
    start();
    policy = POLICY(mesh_type, rows);
    CHECK_STR(haul_type_name(policy), "mesh:p");
    CHECK_STATUS(haul_type_size(policy, &bytes), HAUL_OK);
    CHECK_EQ(bytes, 2 * sizeof(int64_t));
    CHECK_STATUS(haul_type_get_true_extent(policy, &lower, &extent), HAUL_OK);
    CHECK_EQ(lower, offsetof(mesh, b));
    CHECK_EQ(lower + extent, offsetof(mesh, s.r.f));
    CHECK_STATUS(haul_environment_enter(env, &g.m, policy, 1, NULL, NULL), HAUL_OK);
    haul_environment_get_info(env, &info);
    CHECK_EQ(info.bytes, extent);
    CHECK_EQ(haul_environment_presence(env, &g.m.a, sizeof g.m.a), HAUL_ABSENT);
    CHECK_EQ(haul_environment_presence(env, &g.m.b, sizeof g.m.b), HAUL_PRESENT);
    CHECK_EQ(haul_environment_presence(env, &g.m.cells, sizeof g.m.cells), HAUL_ABSENT);
    CHECK_EQ(haul_environment_presence(env, g.cells, sizeof g.cells), HAUL_ABSENT);
    CHECK_STATUS(haul_environment_exit(env, &g.m, NULL, NULL), HAUL_OK);
    haul_type_free(&policy);
    finish();
}

/* Are the cells, and the values of one, on the device under these rows? */
static void check_cells(const haul_policy_row *rows, size_t count, haul_presence expected)
{
    haul_type *policy = policy_of(mesh_type, rows, count);
    CHECK_STATUS(haul_environment_enter(env, &g.m, policy, 1, NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, g.cells, sizeof g.cells), expected);
    CHECK_EQ(haul_environment_presence(env, g.values[1], sizeof g.values[1]), expected);
    CHECK_EQ(haul_environment_presence(env, &g.m.a, sizeof g.m.a), HAUL_ABSENT);
    CHECK_STATUS(haul_environment_exit(env, &g.m, NULL, NULL), HAUL_OK);
    haul_type_free(&policy);
}

TEST(policy, a_pointer_travels_if_a_path_goes_through_it)
{
    const haul_policy_row rows[] = { { .path = "cells[*].s.values", .action = HAUL_COPYIN },
                                     { HAUL_MEMBER(mesh, b), .action = HAUL_COPY },
                                     { .path = "", .action = HAUL_NONE },
                                     { .path = "cells", .action = HAUL_NONE } };
    haul_policy_row none[3];
    start();
    check_cells(rows, 3, HAUL_PRESENT);
    check_cells(rows, 4, HAUL_ABSENT);
    memcpy(none, rows, sizeof none);
    none[0].action = HAUL_NONE;
    check_cells(none, 3, HAUL_ABSENT);
    finish();
}

/* 170 members of 114 bytes and a few more; eight of them are named. */
typedef struct wide {
    struct {
        char bytes[114];
    } member[170];
} wide;

static void add_to_members(void *argument)
{
    wide *w = argument;
    int i;
    for (i = 0; i < 170; i++)
        w->member[i].bytes[0] += 1;
}

TEST(policy, eight_members_of_170_travel)
{
    haul_policy_row rows[9];
    static wide all;
    haul_type *wide_type = type_new(&(const haul_struct){
        .name = "wide", .bytes = sizeof(wide), .field_bytes = sizeof(haul_field) });
    haul_type *policy;
    haul_shipment *s;
    size_t bytes;
    int i;
    start();
    CHECK_STATUS(haul_type_commit(wide_type), HAUL_OK);
    memset(rows, 0, sizeof rows);
    rows[8].action = HAUL_NONE;
    for (i = 0; i < 8; i++) {
        rows[i].path = "member";
        rows[i].offset = (size_t)(20 * i + 3) * sizeof all.member[0];
        rows[i].bytes = sizeof all.member[0];
    }
    memset(&all, 1, sizeof all);
    policy = POLICY(wide_type, rows);
    CHECK_STATUS(haul_type_size(policy, &bytes), HAUL_OK);
    CHECK_EQ(bytes, 8 * sizeof all.member[0]);
    CHECK_STATUS(haul_ship(device, &all, policy, 1, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, add_to_members, haul_device_pointer(s, &all)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    for (i = 0; i < 170; i++)
        CHECK_EQ(all.member[i].bytes[0], i % 20 == 3 && i < 160 ? 2 : 1);
    haul_shipment_free(&s);
    haul_type_free(&policy);
    haul_type_free(&wide_type);
    finish();
}

typedef struct results {
    int64_t count;
    double *input, *output;
} results;

/* A kernel's output begins as zeros there, and comes back, but does not go. */
TEST(policy, a_large_array_that_only_comes_back_does_not_cross_before)
{
    enum { COUNT = 1 << 17 };
    static double input[4], output[COUNT];
    static const haul_field fields[] = { HAUL_ARRAY(results, input, HAUL_FIXED(4)),
                                         HAUL_ARRAY(results, output, HAUL_COUNT(results, count)) };
    const haul_policy_row rows[] = { { .path = "output", .action = HAUL_COPYOUT } };
    results r = { COUNT, input, output };
    haul_type *results_type = TYPE_NEW(results, fields), *policy;
    haul_environment_info info;
    const haul_exit_options back = { .copyout = 1 };
    size_t i, wrong = 0;
    start();
    CHECK_STATUS(haul_type_commit(results_type), HAUL_OK);
    policy = POLICY(results_type, rows);
    for (i = 0; i < COUNT; i++)
        output[i] = 1;
    CHECK_STATUS(haul_environment_enter(env, &r, policy, 1, NULL, NULL), HAUL_OK);
    haul_environment_get_info(env, &info);
    CHECK_EQ(info.transfers_to, 1);
    CHECK(info.bytes_to < 4096);
    CHECK(info.bytes >= sizeof output);
    CHECK_STATUS(haul_environment_exit(env, &r, &back, NULL), HAUL_OK);
    for (i = 0; i < COUNT; i++)
        wrong += output[i] != 0;
    CHECK_EQ(wrong, 0);
    haul_type_free(&policy);
    haul_type_free(&results_type);
    finish();
}

/* ---- Pointers that are left out, and attached later. */

static void enter_in(void *root, const haul_type *type, size_t count)
{
    CHECK_STATUS(haul_environment_enter(env, root, type, count, NULL, NULL), HAUL_OK);
}

static void leave_of(const void *root)
{
    const haul_exit_options back = { .copyout = 1 };
    CHECK_STATUS(haul_environment_exit(env, root, &back, NULL), HAUL_OK);
}

typedef struct sight {
    const mesh *at;
    mesh seen;
} sight;

static void see(void *argument)
{
    sight *s = argument;
    s->seen = *s->at;
}

/* The mesh as a kernel finds it. */
static mesh mesh_there(void)
{
    sight s;
    s.at = (const mesh *)((const char *)haul_environment_device_pointer(env, &g.m.s) -
                          offsetof(mesh, s));
    CHECK_STATUS(haul_host_launch(device, see, &s), HAUL_OK);
    return s.seen;
}

static void attach(const void *pointer)
{
    const haul_status status = haul_environment_attach(env, pointer);
    check_note("%s", status == HAUL_OK ? "" : type_error()->text);
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
}

/* `cells` lies between members that travel, `first` behind the last one, `values` in a struct that
 * is embedded. */
static const haul_policy_row bare_rows[] = {
    { .path = "", .action = HAUL_NONE },
    { .path = "s.c", .offset = offsetof(mesh, s.c), .bytes = sizeof(int64_t), .action = HAUL_COPY },
    { HAUL_MEMBER(mesh, count), .action = HAUL_COPYIN },
};

TEST(policy, pointers_that_are_left_out_are_attached_when_their_targets_have_come)
{
    haul_type *bare;
    mesh before;
    start();
    before = g.m;
    bare = POLICY(mesh_type, bare_rows);
    enter_in(&g.m, bare, 1);
    CHECK_PTR(mesh_there().cells, NULL);
    CHECK_PTR(mesh_there().first, NULL);
    CHECK_STATUS(haul_environment_attach(env, &g.m.first), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "leads to nothing that is present");
    if (sizeof(void *) == 8) { /* with a tag it is no address, though its low bits are one's */
        CHECK_STATUS(
            haul_environment_attach(
                env, (void *)(uintptr_t)((uint64_t)(uintptr_t)&g.m.first | UINT64_C(1) << 48)),
            HAUL_ERROR_ARGUMENT);
        CHECK_HAS(type_error()->text, "is no described pointer");
    }
    enter_in(g.cells, cell_type, CELLS);
    attach(&g.m.cells);
    attach(&g.m.first);
    attach(&g.m.first);
    CHECK_PTR(mesh_there().cells, haul_environment_device_pointer(env, g.cells));
    CHECK_PTR(mesh_there().first, haul_environment_device_pointer(env, &g.cells[1]));
    CHECK_STATUS(haul_environment_detach(env, &g.m.first), HAUL_OK);
    CHECK_PTR(mesh_there().first, haul_environment_device_pointer(env, &g.cells[1]));
    CHECK_STATUS(haul_environment_detach(env, &g.m.first), HAUL_OK);
    CHECK_PTR(mesh_there().first, NULL);
    CHECK_STATUS(haul_environment_detach(env, &g.m.first), HAUL_ERROR_ARGUMENT);
    leave_of(&g.m);
    CHECK_BYTES(&g.m, &before, sizeof before);
    leave_of(g.cells);
    haul_type_free(&bare);
    finish();
}

TEST(policy, a_struct_that_comes_after_its_targets_is_attached_to_them)
{
    haul_type *bare, *values;
    int round;
    start();
    bare = POLICY(mesh_type, bare_rows);
    values = type_new(&(const haul_struct){
        .name = "values", .bytes = sizeof g.values[0], .field_bytes = sizeof(haul_field) });
    CHECK_STATUS(haul_type_commit(values), HAUL_OK);
    enter_in(g.values[CELLS], values, 1);
    enter_in(g.cells, cell_type, CELLS);
    for (round = 0; round < 16; round++) {
        enter_in(&g.m, bare, 1);
        CHECK_PTR(mesh_there().s.values, NULL);
        CHECK_PTR(mesh_there().first, NULL);
        attach(&g.m.s.values);
        attach(&g.m.first);
        CHECK_PTR(mesh_there().s.values, haul_environment_device_pointer(env, g.values[CELLS]));
        CHECK_PTR(mesh_there().first, haul_environment_device_pointer(env, &g.cells[1]));
        leave_of(&g.m);
        CHECK_STATUS(haul_environment_detach(env, &g.m.first), HAUL_ERROR_ARGUMENT);
    }
    haul_type_free(&bare);
    haul_type_free(&values);
    finish();
}

TEST(policy, a_pointer_that_was_left_out_is_detached_when_its_target_leaves)
{
    haul_type *bare;
    const void *pointer;
    char path[HAUL_PATH_BYTES];
    int form;
    start();
    bare = POLICY(mesh_type, bare_rows);
    enter_in(&g.m, bare, 1);
    for (form = HAUL_DETACHED_NULL; form <= HAUL_DETACHED_POISON; form++) {
        if (form == HAUL_DETACHED_POISON && sizeof(void *) == 4)
            break;
        CHECK_STATUS(haul_environment_set_detached(env, (haul_detached)form), HAUL_OK);
        enter_in(g.cells, cell_type, CELLS);
        attach(&g.m.cells);
        attach(&g.m.first);
        CHECK_PTR(mesh_there().first, haul_environment_device_pointer(env, &g.cells[1]));
        leave_of(g.cells);
        CHECK_STATUS(haul_environment_detach(env, &g.m.first), HAUL_ERROR_ARGUMENT);
        if (form == HAUL_DETACHED_NULL)
            CHECK_PTR(mesh_there().first, NULL);
        if (form == HAUL_DETACHED_RAW)
            CHECK_PTR(mesh_there().first, &g.cells[1]);
        if (form < HAUL_DETACHED_POISON)
            continue;
        CHECK_STATUS(
            haul_environment_name_poison(env, (uintptr_t)mesh_there().first, &pointer, path),
            HAUL_OK);
        CHECK_PTR(pointer, &g.m.first);
        CHECK_HAS(path, "mesh:p at ");
    }
    leave_of(&g.m);
    haul_type_free(&bare);
    finish();
}

/* The tail of a block is also a root of its own. Both leave out its pointer. */
typedef struct tail {
    cell *to;
    int64_t last;
} tail;

typedef struct block {
    int64_t first;
    tail end;
} block;

static const haul_field tail_fields[] = { HAUL_OBJECT(tail, to, &cell_type) };
static haul_type *tail_type, *double_type;
static const haul_field block_fields[] = { HAUL_EMBED(block, end, &tail_type) };

typedef struct peek {
    cell *const *at;
    cell *seen;
} peek;

static void peek_there(void *argument)
{
    peek *p = argument;
    p->seen = *p->at;
}

/* The pointer `distance` bytes from the copy of a present byte. */
static cell *peek_at(const void *present, ptrdiff_t distance)
{
    peek p;
    p.at =
        (cell *const *)(const void *)((const char *)haul_environment_device_pointer(env, present) +
                                      distance);
    CHECK_STATUS(haul_host_launch(device, peek_there, &p), HAUL_OK);
    return p.seen;
}

/* The pointer in the copy of the tail, or of the block. */
static cell *to_there(const block *b, int in_block)
{
    return in_block ? peek_at(&b->first, (ptrdiff_t)offsetof(block, end.to))
                    : peek_at(&b->end.last, -(ptrdiff_t)offsetof(tail, last));
}

/* bare[0]: the tail's policy, bare[1]: the block's. `first` of them is there when the pointer is
 * attached, the other one comes later. `end`: 0: a detach ends the attach; 1: the target leaves;
 * 2: the other one leaves before a detach. */
static void attach_in_one_of_two(haul_type *const *bare, int first, int end)
{
    block b;
    void *const roots[] = { &b.end, &b };
    cell *raw = &g.cells[1];
    memset(&b, 0, sizeof b);
    b.end.to = raw;
    enter_in(g.values[0], double_type, VALUES); /* it has a number that the other one gets */
    enter_in(roots[first], bare[first], 1);
    enter_in(g.cells, cell_type, CELLS);
    attach(&b.end.to);
    leave_of(g.values[0]);
    enter_in(roots[!first], bare[!first], 1);
    CHECK_PTR(to_there(&b, !first), NULL);
    attach(&b.end.to); /* counts, where it is */
    CHECK_PTR(to_there(&b, !first), NULL);
    CHECK_PTR(to_there(&b, first), haul_environment_device_pointer(env, raw));
    CHECK_STATUS(haul_environment_detach(env, &b.end.to), HAUL_OK);
    if (end == 2)
        leave_of(roots[!first]);
    if (end == 1)
        leave_of(g.cells);
    else
        CHECK_STATUS(haul_environment_detach(env, &b.end.to), HAUL_OK);
    CHECK_PTR(to_there(&b, first), raw);
    CHECK_STATUS(haul_environment_detach(env, &b.end.to), HAUL_ERROR_ARGUMENT);
    if (end != 2) {
        CHECK_PTR(to_there(&b, !first), NULL);
        leave_of(roots[!first]);
    }
    if (end != 1)
        leave_of(g.cells);
    leave_of(roots[first]);
}

TEST(policy, a_word_that_two_objects_leave_out_stays_attached_where_it_was)
{
    static const haul_policy_row tail_rows[] = { { .path = "", .action = HAUL_NONE },
                                                 { HAUL_MEMBER(tail, last), .action = HAUL_COPY } };
    static const haul_policy_row block_rows[] = {
        { .path = "", .action = HAUL_NONE }, { HAUL_MEMBER(block, first), .action = HAUL_COPY }
    };
    haul_type *bare[2], *block_type;
    int i;
    start();
    tail_type = TYPE_NEW(tail, tail_fields);
    block_type = TYPE_NEW(block, block_fields);
    double_type = type_new(&(const haul_struct)HAUL_PLAIN(double, NULL));
    CHECK_STATUS(haul_type_commit(block_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(double_type), HAUL_OK);
    bare[0] = POLICY(tail_type, tail_rows);
    bare[1] = POLICY(block_type, block_rows);
    CHECK_STATUS(haul_environment_set_detached(env, HAUL_DETACHED_RAW), HAUL_OK);
    for (i = 0; i < 6; i++) {
        check_note("first %d, end %d", i % 2, i / 2);
        attach_in_one_of_two(bare, i % 2, i / 2);
    }
    check_note(NULL);
    haul_type_free(&bare[0]);
    haul_type_free(&bare[1]);
    haul_type_free(&block_type);
    haul_type_free(&tail_type);
    haul_type_free(&double_type);
    finish();
}

TEST(policy, a_word_that_is_no_pointer_or_not_left_out_is_not_attached)
{
    haul_type *bare;
    start();
    bare = POLICY(mesh_type, bare_rows);
    CHECK_STATUS(haul_environment_attach(env, &g.m.first), HAUL_ERROR_ARGUMENT);
    enter_in(&g.m, bare, 1);
    CHECK_STATUS(haul_environment_attach(env, &g.m.count), HAUL_ERROR_ARGUMENT); /* travels */
    CHECK_HAS(type_error()->text, "no described pointer");
    CHECK_STATUS(haul_environment_attach(env, (char *)&g.m.first + 4), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "no described pointer");
    CHECK_STATUS(haul_environment_attach(env, &g.m + 1), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "no described pointer");
    leave_of(&g.m);
    haul_type_free(&bare);
    finish();
}

TEST(policy, a_pointer_that_must_be_present_is_not_followed)
{
    const haul_policy_row rows[] = { { .path = "cells", .action = HAUL_NONE },
                                     { .path = "first", .action = HAUL_ONLY_PRESENT } };
    haul_type *policy;
    work w;
    start();
    policy = POLICY(mesh_type, rows);
    CHECK_STATUS(haul_environment_enter(env, &g.m, policy, 1, NULL, NULL), HAUL_ERROR_GRAPH);
    CHECK_STR(type_error()->path, "root.first");
    CHECK_STATUS(haul_environment_enter(env, &g.cells[1], cell_type, 1, NULL, NULL), HAUL_OK);
    w = run(policy);
    CHECK_EQ(w.first.id, 1);
    CHECK_PTR(w.m.cells, NULL);
    CHECK_STATUS(haul_environment_exit(env, &g.cells[1], NULL, NULL), HAUL_OK);
    finish();
}

TEST(policy, a_root_without_its_first_bytes_is_entered_and_left_as_any_other)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_NONE },
                                     { HAUL_MEMBER(mesh, g), .action = HAUL_COPY } };
    haul_type *policy;
    start();
    policy = POLICY(mesh_type, rows);
    CHECK_STATUS(haul_environment_enter(env, &g.m, policy, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, &g.m, policy, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, &g.m, mesh_type, 1, NULL, NULL), HAUL_ERROR_GRAPH);
    CHECK_STATUS(haul_environment_exit(env, &g.m, NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, &g.m.g, sizeof g.m.g), HAUL_PRESENT);
    CHECK_STATUS(haul_environment_exit(env, &g.m, NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, &g.m.g, sizeof g.m.g), HAUL_ABSENT);
    haul_type_free(&policy);
    finish();
}

TEST(policy, what_must_be_present_stays_while_a_pointer_leads_there)
{
    const haul_policy_row rows[] = { { .path = "cells", .action = HAUL_NONE },
                                     { .path = "first", .action = HAUL_ONLY_PRESENT } };
    haul_type *policy;
    start();
    policy = POLICY(mesh_type, rows);
    CHECK_STATUS(haul_environment_enter(env, &g.cells[1], cell_type, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, &g.m, policy, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_exit(env, &g.cells[1], NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, &g.cells[1], sizeof(cell)), HAUL_PRESENT);
    CHECK_STATUS(haul_environment_exit(env, &g.m, NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, &g.cells[1], sizeof(cell)), HAUL_ABSENT);
    haul_type_free(&policy);
    finish();
}

TEST(policy, rows_that_name_one_field_have_one_result_in_any_order)
{
    const haul_policy_row rows[] = { { .path = "cells.s.r.e", .action = HAUL_COPYIN },
                                     { .path = "first.s.r.e", .action = HAUL_COPYOUT },
                                     { .path = "first.next.s.r.e", .action = HAUL_NONE },
                                     { .path = "cells.s.values", .action = HAUL_SHALLOW },
                                     { .path = "first.s.values", .action = HAUL_COPYIN } };
    static const int orders[][5] = { { 0, 1, 2, 3, 4 }, { 4, 3, 2, 1, 0 }, { 2, 0, 4, 1, 3 } };
    haul_policy_row turned[5];
    size_t i, k;
    start();
    for (i = 0; i < 3; i++) {
        work w;
        for (k = 0; k < 5; k++)
            turned[k] = rows[orders[i][k]];
        fill();
        w = run(POLICY(mesh_type, turned));
        CHECK_EQ(w.first.s.r.e, 0); /* copyin and copyout: create */
        CHECK_EQ(g.cells[1].s.r.e, 222);
        CHECK(w.first_value == 230);
        CHECK(g.values[1][0] == 230);
    }
    finish();
}

TEST(policy, a_row_counts_while_its_condition_holds)
{
    const haul_policy_row rows[] = {
        { .path = "cells.s.values", .action = HAUL_SHALLOW, .when = HAUL_EQUALS(sub, c, 220) },
        { HAUL_MEMBER(mesh, g), .action = HAUL_COPYIN, .when = HAUL_EQUALS(mesh, a, 1) },
        { HAUL_MEMBER(mesh, b), .action = HAUL_COPYIN, .when = HAUL_EQUALS(mesh, a, 2) },
    };
    haul_type *policy;
    work w;
    start();
    policy = POLICY(mesh_type, rows);
    w = run(POLICY(mesh_type, rows));
    CHECK_PTR(w.first.s.values, NULL);
    CHECK_EQ(g.m.g, 3);
    CHECK_EQ(g.m.b, -1);
    fill();
    g.cells[1].s.c = 0;
    g.m.a = 2;
    w = run(policy);
    CHECK(w.first_value == 230);
    CHECK_EQ(g.m.g, -1);
    CHECK_EQ(g.m.b, 2);
    finish();
}

TEST(policy, an_empty_path_may_keep_all_pointers_from_being_followed)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_SHALLOW },
                                     { .path = "first", .action = HAUL_COPY } };
    work w;
    start();
    w = run(POLICY(mesh_type, rows));
    CHECK_PTR(w.m.cells, NULL);
    CHECK_PTR(w.m.s.values, NULL);
    CHECK_EQ(w.m.s.c, 100);
    CHECK(w.first_value == 230);
    CHECK_PTR(g.m.s.values, g.values[CELLS]);
    finish();
}

TEST(policy, a_policy_is_made_from_a_policy)
{
    const haul_policy_row rows[] = { { .path = "s.values", .action = HAUL_SHALLOW } };
    const haul_policy_row more[] = { { .path = "cells.s.values", .action = HAUL_SHALLOW } };
    haul_type *policy;
    work w;
    start();
    policy = POLICY(mesh_type, rows);
    w = run(POLICY(policy, more));
    CHECK_PTR(w.m.s.values, NULL);
    CHECK_PTR(w.first.s.values, NULL);
    haul_type_free(&policy);
    finish();
}

TEST(policy, a_row_that_names_nothing_is_refused_with_its_path)
{
    static const struct {
        haul_policy_row row;
        haul_status status;
        const char *text;
    } wrong[] = {
        { { .path = "cells.nothing" }, HAUL_ERROR_ARGUMENT, "does not place it: nothing" },
        { { .path = "cells[1].s" }, HAUL_ERROR_ARGUMENT, "not of [1].s" },
        { { .path = "s.r.e.x" }, HAUL_ERROR_ARGUMENT, "behind plain bytes, in e" },
        { { .path = "s.values.x" }, HAUL_ERROR_ARGUMENT, "behind plain bytes, in values" },
        { { .path = "cells." }, HAUL_ERROR_ARGUMENT, "not of" },
        { { .path = "s", .action = HAUL_SHALLOW }, HAUL_ERROR_ARGUMENT, "this is none: s" },
        { { .path = "cells", .action = 7 }, HAUL_ERROR_ARGUMENT, "no such action" },
        { { .path = "x", .offset = sizeof(mesh) - 1, .bytes = 2 },
          HAUL_ERROR_ARGUMENT,
          "outside of its struct" },
        { { HAUL_MEMBER(mesh, count), .action = HAUL_COPYOUT },
          HAUL_ERROR_TYPE,
          "by its `.transfer` is not read" },
        { { .path = "first", .action = HAUL_COPYOUT }, HAUL_ERROR_TYPE, "has pointers" },
    };
    haul_type *policy;
    size_t i;
    start();
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STATUS(haul_policy_create(mesh_type, "p", &wrong[i].row, 1, &policy),
                     wrong[i].status);
        CHECK_PTR(policy, NULL);
        CHECK_HAS(type_error()->text, wrong[i].text);
        if (wrong[i].status == HAUL_ERROR_ARGUMENT)
            CHECK_STR(type_error()->path, wrong[i].row.path);
    }
    finish();
}

/* ---- Types that name one another by cases and ancestors. */

typedef struct leaf {
    int64_t id;
    double *values; /* as many as the box says */
} leaf;

typedef struct box {
    int64_t length, tag;
    leaf *leaf;
    void *any;  /* by the tag: a leaf, or an inner */
    void **all; /* a leaf and an inner */
} box;

static haul_type *leaf_type, *box_type;

HAUL_FUNCTION(case_of_slot, box, self->tag > 0 ? (int64_t)here->index + 1 : 0)
HAUL_FUNCTION(length_of_box, void, ((const box *)here->ancestor)->length)

typedef struct box_work {
    box *at;
    leaf leaf;
    inner inner;
    double value;
} box_work;

static void do_box_work(void *argument)
{
    box_work *w = argument;
    leaf *first = w->at->all[0];
    w->leaf = *w->at->leaf;
    w->inner = *(inner *)w->at->any;
    w->value = first->values[1];
    w->at->leaf->id = -1;
    ((inner *)w->at->any)->d = ((inner *)w->at->any)->e = -1;
}

TEST(policy, rows_reach_through_cases_and_types_keep_their_ancestors)
{
    static const haul_case cases[] = { { 1, &leaf_type, 0 }, { 2, &inner_type, 0 } };
    static const haul_field leaf_fields[] = {
        HAUL_RAW(leaf, id),
        HAUL_ARRAY(leaf, values, HAUL_COUNT_FN(length_of_box), .ancestor = &box_type),
    };
    static const haul_field each = { .type_switch = HAUL_SWITCH_FN(case_of_slot, cases) };
    static const haul_field box_fields[] = {
        HAUL_OBJECT(box, leaf, &leaf_type),
        HAUL_ADDRESS(box, any, .type_switch = HAUL_SWITCH(box, tag, cases)),
        HAUL_ADDRESS(box, all, .levels = 2, .count = HAUL_FIXED(2), .each_pointer = &each),
    };
    const haul_policy_row rows[] = { { .path = "any.e", .action = HAUL_COPYIN },
                                     { .path = "leaf.id", .action = HAUL_CREATE } };
    static void *all[2];
    static double values[2];
    static leaf one;
    static inner other;
    static box b;
    haul_shipment *s;
    haul_type *policy;
    box_work w;
    start();
    values[1] = 2;
    one.id = 1;
    one.values = values;
    other.d = 3;
    other.e = 4;
    b.length = 2;
    b.tag = 2;
    b.leaf = &one;
    b.any = all[1] = &other;
    all[0] = &one;
    b.all = all;
    leaf_type = TYPE_NEW(leaf, leaf_fields);
    box_type = TYPE_NEW(box, box_fields);
    CHECK_STATUS(haul_type_commit(box_type), HAUL_OK);
    policy = POLICY(box_type, rows);
    CHECK_STATUS(haul_ship(device, &b, policy, 1, NULL, &s), HAUL_OK);
    memset(&w, 0, sizeof w);
    w.at = haul_device_pointer(s, &b);
    CHECK_STATUS(haul_host_launch(device, do_box_work, &w), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK(w.value == 2); /* the leaf's array has the box's length */
    CHECK_EQ(w.leaf.id, 0);
    CHECK_EQ(one.id, 1);
    CHECK_EQ(w.inner.e, 4);
    CHECK_EQ(other.e, 4);
    CHECK_EQ(other.d, -1);
    haul_shipment_free(&s);
    haul_type_free(&policy);
    haul_type_free(&box_type);
    haul_type_free(&leaf_type);
    finish();
}
