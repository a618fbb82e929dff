/* Environments: situations in which other run times of deep copies lose pointers, bytes or counts.
 */
#include <pthread.h>
#include <stdlib.h>

#include "environment_ten.h"

#define P (host.parts)
#define POLICY(type, rows) policy_of(type, rows, sizeof(rows) / sizeof *(rows))

static void run_there(void (*work)(void *), const void *at)
{
    CHECK_STATUS(haul_host_launch(device, work, THERE(at)), HAUL_OK);
}

/* ---- Pointers that change on the host meanwhile. */

TEST(environment_situations, a_pointer_that_the_host_has_turned_elsewhere_stays_so)
{
    start();
    P[0].data = host.arrays[1];
    enter(&P[0]);
    P[0].data = host.arrays[2];
    change_there(&P[0]); /* a value, and the array that it led to */
    leave_back(&P[0]);
    CHECK_PTR(P[0].data, host.arrays[2]);
    CHECK_EQ(P[0].value, 1100);
    CHECK_EQ(host.arrays[1][0], 1010);
    CHECK_EQ(host.arrays[2][0], 20);
    finish();
}

/* The same if the array was there before, and the struct only leads to it. */
TEST(environment_situations, a_pointer_to_a_present_array_may_be_turned_elsewhere_too)
{
    const haul_policy_row row = { .path = "data", .action = HAUL_ONLY_PRESENT };
    haul_type *policy, *array_type;
    start();
    array_type = type_new(&(const haul_struct)HAUL_PLAIN(int32_t, NULL));
    CHECK_STATUS(haul_type_commit(array_type), HAUL_OK);
    policy = policy_of(part_type, &row, 1);
    put(host.arrays[1], array_type, LENGTH);
    put(host.arrays[2], array_type, LENGTH);
    P[0].data = host.arrays[1];
    put(&P[0], policy, 1);
    CHECK_EQ(info().transfers_to, 3);
    P[0].data = host.arrays[2];
    change_there(&P[0]);
    bring_and_leave(&P[0]);
    CHECK_PTR(P[0].data, host.arrays[2]);
    CHECK_EQ(P[0].value, 1100);
    CHECK_EQ(host.arrays[1][0], 10); /* it stays, so it does not come back */
    bring_and_leave(host.arrays[1]);
    bring_and_leave(host.arrays[2]);
    CHECK_EQ(host.arrays[1][0], 1010);
    CHECK_EQ(host.arrays[2][0], 20);
    haul_type_free(&policy);
    haul_type_free(&array_type);
    finish();
}

typedef struct zone {
    int64_t *a, t, *b;
} zone;

enum { ZONES = 4 };
static const haul_field zone_fields[] = {
    HAUL_ARRAY(zone, a, HAUL_FIXED(TEN), .transfer = HAUL_COPYIN),
    HAUL_ARRAY(zone, b, HAUL_FIXED(TEN)),
};

static void step_zones(void *argument)
{
    zone *z = argument;
    int i;
    for (i = 0; i < ZONES; i++) {
        z[i].t += z[i].a[0];
        z[i].b[TEN - 1]++;
    }
}

TEST(environment_situations, arrays_that_the_host_has_freed_do_not_come_back_with_a_member)
{
    haul_update_part all = { .offset = offsetof(zone, t), .bytes = sizeof(int64_t) };
    haul_type *zone_type;
    zone zones[ZONES];
    static ten kept[ZONES];
    int i, k;
    start();
    zone_type = TYPE_NEW(zone, zone_fields);
    CHECK_STATUS(haul_type_commit(zone_type), HAUL_OK);
    for (i = 0; i < ZONES; i++) {
        zones[i].a = calloc(TEN, sizeof(int64_t));
        zones[i].a[0] = 1;
        zones[i].t = 10 * i;
        zones[i].b = kept[i].v;
    }
    memset(kept, 0, sizeof kept);
    put(zones, zone_type, ZONES);
    all.type = zone_type;
    for (i = 0; i < ZONES; i++) {
        free(zones[i].a);
        zones[i].a = NULL;
        run_there(step_zones, zones);
        CHECK_STATUS(haul_environment_update(env, &all, 1, HAUL_TO_HOST, NULL), HAUL_OK);
        for (k = 0; k < ZONES; k++) {
            CHECK_EQ(zones[k].t, 10 * k + i + 1);
            CHECK_EQ(zones[k].a == NULL, k <= i);
        }
    }
    bring_and_leave(zones);
    for (i = 0; i < ZONES; i++) {
        CHECK_PTR(zones[i].a, NULL);
        CHECK_PTR(zones[i].b, kept[i].v);
        CHECK_EQ(kept[i].v[TEN - 1], ZONES);
    }
    haul_type_free(&zone_type);
    finish();
}

TEST(environment_situations, arrays_that_two_pointers_have_exchanged_keep_their_places)
{
    start();
    enter(&P[0]);
    enter(&P[1]);
    P[0].data = host.arrays[1];
    P[1].data = host.arrays[0];
    CHECK_STATUS(haul_environment_update_device(env, &P[0], 0, NULL), HAUL_OK);
    CHECK_PTR(seen(&P[0]).seen.data, THERE(host.arrays[0]));
    change_there(&P[0]);
    leave_back(&P[0]);
    leave_back(&P[1]);
    CHECK_EQ(host.arrays[0][0], 1000);
    CHECK_EQ(host.arrays[1][0], 10);
    CHECK_PTR(P[0].data, host.arrays[1]);
    finish();
}

/* ---- Updates beside pointers. */

TEST(environment_situations, an_update_beside_a_pointer_is_one_copy_of_its_bytes)
{
    const haul_update_part every_second = {
        .host = host.arrays[0], .bytes = sizeof(int32_t), .count = 2, .stride = 2 * sizeof(int32_t)
    };
    haul_host_counters before, after;
    haul_environment_info was;
    start();
    P[0].a = &P[1];
    enter(&P[0]);
    P[0].value = 42;
    P[0].a = NULL;
    was = info();
    CHECK_STATUS(haul_host_get_counters(device, &before), HAUL_OK);
    CHECK_STATUS(haul_environment_update_device(env, &P[0].value, sizeof P[0].value, NULL),
                 HAUL_OK);
    CHECK_STATUS(haul_host_get_counters(device, &after), HAUL_OK);
    CHECK_EQ(after.copies_to, before.copies_to + 1);
    CHECK_EQ(after.bytes_to, before.bytes_to + sizeof P[0].value);
    CHECK_EQ(after.relocations, before.relocations);
    CHECK_EQ(info().attached, was.attached);
    CHECK_EQ(info().bytes_to, was.bytes_to + sizeof P[0].value);
    CHECK_EQ(seen(&P[0]).seen.value, 42);
    CHECK_PTR(seen(&P[0]).seen.a, THERE(&P[1]));
    /* the later half of one pointer, and all of the next */
    CHECK_STATUS(haul_environment_update_device(env, (char *)&P[0].a + sizeof(void *) / 2,
                                                sizeof(void *) * 3 / 2, NULL),
                 HAUL_OK);
    CHECK_PTR(seen(&P[0]).seen.a, THERE(&P[1]));
    host.arrays[0][0] = host.arrays[0][1] = host.arrays[0][2] = 7;
    CHECK_STATUS(haul_environment_update(env, &every_second, 1, HAUL_TO_DEVICE, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_update_host(env, host.arrays[0], sizeof host.arrays[0], NULL),
                 HAUL_OK);
    CHECK_EQ(host.arrays[0][0], 7);
    CHECK_EQ(host.arrays[0][1], 1);
    CHECK_EQ(host.arrays[0][2], 7);
    finish();
}

TEST(environment_situations, items_that_a_batch_lists_twice_cross_like_one)
{
    const haul_update_part twice[] = {
        { .host = &P[0].value, .bytes = sizeof P[0].value },
        { .host = &P[0].value, .bytes = sizeof P[0].value },
        { .type = NULL, .host = &P[0], .bytes = sizeof P[0] },
    };
    start();
    enter(&P[0]);
    enter(&P[0]); /* counts, and sends nothing */
    CHECK_EQ(info().transfers_to, 1);
    P[0].value = 7;
    CHECK_STATUS(haul_environment_update(env, twice, 3, HAUL_TO_DEVICE, NULL), HAUL_OK);
    CHECK_EQ(seen(&P[0]).seen.value, 7);
    P[0].value = 0;
    CHECK_STATUS(haul_environment_update(env, twice, 3, HAUL_TO_HOST, NULL), HAUL_OK);
    CHECK_EQ(P[0].value, 7);
    leave(&P[0]);
    CHECK_EQ(haul_environment_presence(env, &P[0], sizeof P[0]), HAUL_PRESENT);
    leave(&P[0]);
    CHECK_EQ(info().groups, 0);
    finish();
}

static void *update_own_array(void *argument)
{
    part *own = argument;
    int i, k;
    for (i = 0; i < 99; i++) {
        for (k = 0; k < LENGTH; k++)
            own->data[k]++;
        CHECK_STATUS(haul_environment_update_device(env, own->data, sizeof host.arrays[0], NULL),
                     HAUL_OK);
        memset(own->data, 0, sizeof host.arrays[0]);
        CHECK_STATUS(haul_environment_update_host(env, own->data, sizeof host.arrays[0], NULL),
                     HAUL_OK);
    }
    return NULL;
}

TEST(environment_situations, two_threads_update_arrays_of_one_graph_and_lose_nothing)
{
    pthread_t threads[2];
    int i, k;
    start();
    P[0].a = &P[1];
    enter(&P[0]);
    for (i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, update_own_array, &P[i]) == 0);
    for (i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    leave_back(&P[0]);
    for (i = 0; i < 2; i++)
        for (k = 0; k < LENGTH; k++)
            CHECK_EQ(host.arrays[i][k], 10 * i + k + 99);
    finish();
}

/* ---- Several pointers to one array. */

typedef struct pair {
    int64_t *p, *q;
} pair;

static const haul_field pair_fields[] = {
    HAUL_ARRAY(pair, p, HAUL_FIXED(TEN)),
    HAUL_ARRAY(pair, q, HAUL_FIXED(TEN)),
};

typedef struct alias_work {
    pair *at;
    int is_same;
    int64_t found;
} alias_work;

static void write_by_alias(void *argument)
{
    alias_work *w = argument;
    w->is_same = w->at->p == w->at->q;
    w->found = w->at->p[3];
    w->at->q[3] = 222;
}

TEST(environment_situations, aliases_of_a_present_array_act_once_in_any_order_of_rows)
{
    const haul_policy_row rows[] = { { .path = "p", .action = HAUL_CREATE },
                                     { .path = "p", .action = HAUL_ONLY_PRESENT },
                                     { .path = "q", .action = HAUL_COPYIN },
                                     { .path = "q", .action = HAUL_COPYOUT } };
    const haul_policy_row alone[] = { { .path = "", .action = HAUL_COPYOUT } };
    static const int orders[][4] = {
        { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 1, 3, 0, 2 }, { 2, 0, 3, 1 }
    };
    haul_type *pair_type, *array_policy, *policy;
    alias_work w;
    ten x;
    pair s;
    size_t i, k;
    start_ten();
    s.p = s.q = x.v;
    pair_type = TYPE_NEW(pair, pair_fields);
    CHECK_STATUS(haul_type_commit(pair_type), HAUL_OK);
    array_policy = POLICY(ten_type, alone);
    for (i = 0; i < 4; i++) {
        haul_policy_row turned[4];
        for (k = 0; k < 4; k++)
            turned[k] = rows[orders[i][k]];
        policy = POLICY(pair_type, turned);
        memset(&x, 0xff, sizeof x);
        put(&x, array_policy, 1);
        put(&s, policy, 1);
        CHECK_STATUS(haul_environment_exit(env, &x, NULL, NULL), HAUL_OK);
        CHECK_EQ(haul_environment_presence(env, &x, sizeof x), HAUL_PRESENT);
        w.at = THERE(&s);
        CHECK_STATUS(haul_host_launch(device, write_by_alias, &w), HAUL_OK);
        CHECK(w.is_same);
        CHECK_EQ(w.found, 0); /* nothing was sent */
        bring_and_leave(&s);
        CHECK_EQ(x.v[3], 222);
        CHECK_EQ(info().groups, 0);
        CHECK_STATUS(haul_environment_exit(env, &x, NULL, NULL), HAUL_ERROR_ARGUMENT);
        haul_type_free(&policy);
    }
    haul_type_free(&array_policy);
    haul_type_free(&pair_type);
    finish_ten();
}

/* ---- Arrays of any shape, which may be absent. */

typedef struct ragged {
    int32_t *at;
    int64_t extent[2];
    int32_t *scalar;
} ragged;

enum { ROWS = 3, COLUMNS = 2 };

typedef struct grid {
    ragged *elements; /* ROWS * COLUMNS */
    ragged *lone;
} grid;

static haul_type *ragged_type, *grid_type;
/* A null pointer may have a count if a function answers it. */
HAUL_FUNCTION(ragged_values, ragged, self->extent[0] * self->extent[1])
HAUL_FUNCTION(grid_elements, grid, ROWS *COLUMNS)
static const haul_field ragged_fields[] = {
    HAUL_ARRAY(ragged, at, HAUL_COUNT_FN(ragged_values)),
    HAUL_ARRAY(ragged, scalar, HAUL_ONE),
};
static const haul_field grid_fields[] = {
    HAUL_OBJECTS(grid, elements, &ragged_type, HAUL_COUNT_FN(grid_elements)),
    HAUL_OBJECT(grid, lone, &ragged_type),
};

static struct {
    ragged elements[ROWS * COLUMNS], lone;
    int32_t values[ROWS * COLUMNS + 1][ROWS * COLUMNS], scalars[ROWS * COLUMNS + 1];
} ragged_heap;

static void fill_ragged(ragged *r, int number, int i, int j, int has_array, int has_scalar)
{
    int k;
    for (k = 0; k < ROWS * COLUMNS; k++)
        ragged_heap.values[number][k] = 27 * i + 11000 * j + 467 + 3 * k;
    ragged_heap.scalars[number] = number;
    r->at = has_array ? ragged_heap.values[number] : NULL;
    r->extent[0] = i;
    r->extent[1] = j;
    r->scalar = has_scalar ? &ragged_heap.scalars[number] : NULL;
}

/* -1: an array or a scalar is there that should not be, or the reverse. */
static int64_t add_to_ragged(ragged *r, int has_array, int has_scalar)
{
    int64_t k, sum = r->extent[0] * r->extent[1];
    if ((r->at != NULL) != has_array || (r->scalar != NULL) != has_scalar)
        return -1;
    for (k = 0; has_array && k < r->extent[0] * r->extent[1]; k++)
        sum += r->at[k] += 13;
    if (has_scalar)
        sum += *r->scalar += 13;
    return sum;
}

typedef struct grid_work {
    grid *at;
    int has_elements, has_array, has_scalar;
    int64_t sum;
} grid_work;

static void add_to_grid(void *argument)
{
    grid_work *w = argument;
    int i;
    w->sum = (w->at->elements != NULL) == w->has_elements ? 0 : -1000000;
    for (i = 0; w->has_elements && i < ROWS * COLUMNS; i++)
        w->sum += add_to_ragged(&w->at->elements[i], w->has_array, w->has_scalar);
    w->sum += add_to_ragged(w->at->lone, w->has_array, w->has_scalar);
}

static void try_ragged(int number)
{
    grid_work w = { NULL, number & 1, number >> 1 & 1, number >> 2 & 1, 0 };
    grid g;
    int64_t there_sum;
    int i;
    for (i = 0; i < ROWS * COLUMNS; i++)
        fill_ragged(&ragged_heap.elements[i], i, 1 + i / COLUMNS, 1 + i % COLUMNS, w.has_array,
                    w.has_scalar);
    fill_ragged(&ragged_heap.lone, ROWS * COLUMNS, ROWS, COLUMNS, w.has_array, w.has_scalar);
    g.elements = w.has_elements ? ragged_heap.elements : NULL;
    g.lone = &ragged_heap.lone;
    put(&g, grid_type, 1);
    w.at = THERE(&g);
    CHECK_STATUS(haul_host_launch(device, add_to_grid, &w), HAUL_OK);
    there_sum = w.sum;
    CHECK(there_sum > 0);
    bring_and_leave(&g);
    w.at = &g;
    add_to_grid(&w); /* on the host, on what has come back: 13 more each */
    CHECK_EQ(w.sum - there_sum,
             13 * ((w.has_array ? ROWS * COLUMNS + (w.has_elements ? 18 : 0) : 0) +
                   (w.has_scalar ? 1 + (w.has_elements ? ROWS * COLUMNS : 0) : 0)));
}

TEST(environment_situations, ragged_arrays_keep_shape_and_absence_both_ways)
{
    int number;
    start();
    ragged_type = TYPE_NEW(ragged, ragged_fields);
    grid_type = TYPE_NEW(grid, grid_fields);
    CHECK_STATUS(haul_type_commit(grid_type), HAUL_OK);
    for (number = 0; number < 8; number++)
        try_ragged(number);
    haul_type_free(&grid_type);
    haul_type_free(&ragged_type);
    finish();
}

/* Behind its pointers a policy has types of its own; its fields tell them. */
TEST(environment_situations, a_member_of_what_a_policy_leads_to_is_updated_by_the_fields_type)
{
    const haul_policy_row rows[] = {
        { .type = &ragged_type, .path = "scalar", .action = HAUL_NONE },
    };
    haul_update_part extents = { .offset = offsetof(ragged, extent), .bytes = sizeof(int64_t) };
    haul_field_info lone;
    haul_type *policy;
    grid g = { NULL, &ragged_heap.lone };
    start();
    ragged_type = TYPE_NEW(ragged, ragged_fields);
    grid_type = TYPE_NEW(grid, grid_fields);
    CHECK_STATUS(haul_type_commit(grid_type), HAUL_OK);
    policy = POLICY(grid_type, rows);
    fill_ragged(&ragged_heap.lone, ROWS * COLUMNS, 0, 5, 0, 1);
    put(&g, policy, 1);
    extents.type = ragged_type;
    CHECK_STATUS(haul_environment_update(env, &extents, 1, HAUL_TO_DEVICE, NULL),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_get_field(policy, 1, &lone), HAUL_OK);
    CHECK_STR(haul_type_name(lone.target), "ragged:p");
    extents.type = lone.target;
    CHECK_STATUS(haul_environment_update(env, &extents, 1, HAUL_TO_DEVICE, NULL), HAUL_OK);
    haul_type_free(&policy);
    haul_type_free(&grid_type);
    haul_type_free(&ragged_type);
    finish();
}

/* ---- Members that are named, between others. */

typedef struct holed {
    int64_t x;
    int32_t dummy[10000];
    int64_t *p;
} holed;

static const haul_field holed_fields[] = { HAUL_ARRAY(holed, p, HAUL_FIXED(TEN)) };

static int is_absent(const void *at, size_t bytes)
{
    return haul_environment_presence(env, at, bytes) == HAUL_ABSENT;
}

TEST(environment_situations, a_member_and_an_array_are_present_without_what_lies_between)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_NONE },
                                     { HAUL_MEMBER(holed, x), .action = HAUL_COPY } };
    static holed s;
    haul_type *holed_type, *policy, *x_type;
    ten array;
    start_ten();
    x_type = type_new(&(const haul_struct)HAUL_PLAIN(int64_t, NULL));
    holed_type = TYPE_NEW(holed, holed_fields);
    CHECK_STATUS(haul_type_commit(holed_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(x_type), HAUL_OK);
    policy = POLICY(holed_type, rows);
    memset(&array, 0, sizeof array);
    s.p = array.v;
    put(&s.x, x_type, 1); /* a root of its own, with no room for the struct around it */
    put(&array, ten_type, 1);
    CHECK(is_absent(s.dummy, sizeof s.dummy) && is_absent(&s.p, sizeof s.p));
    CHECK_EQ(info().bytes, sizeof s.x + sizeof array);
    CHECK(info().device_bytes < 1024);
    bring_and_leave(&s.x);
    put(&s, policy, 1);
    CHECK_EQ(info().bytes, sizeof s.x + sizeof array);
    CHECK(is_absent(s.dummy, sizeof s.dummy) && is_absent(&s.p, sizeof s.p));
    haul_type_free(&policy);
    haul_type_free(&x_type);
    haul_type_free(&holed_type);
    finish_ten();
}

/* Two such structs in a third one. */
typedef struct two_holed {
    int64_t before;
    holed s[2];
} two_holed;

TEST(environment_situations, members_of_structs_in_a_struct_are_present_without_what_lies_between)
{
    static two_holed both;
    haul_type *x_type;
    ten arrays[2];
    int i;
    start_ten();
    x_type = type_new(&(const haul_struct)HAUL_PLAIN(int64_t, NULL));
    CHECK_STATUS(haul_type_commit(x_type), HAUL_OK);
    memset(arrays, 0, sizeof arrays);
    for (i = 0; i < 2; i++) {
        both.s[i].p = arrays[i].v;
        put(&both.s[i].x, x_type, 1);
        put(&arrays[i], ten_type, 1);
    }
    for (i = 0; i < 2; i++)
        CHECK(is_absent(both.s[i].dummy, sizeof both.s[i].dummy) &&
              is_absent(&both.s[i].p, sizeof both.s[i].p));
    CHECK(is_absent(&both.before, sizeof both.before));
    CHECK_EQ(haul_environment_presence(env, &both, sizeof both), HAUL_PRESENT_IN_PART);
    CHECK_EQ(info().bytes, 2 * (sizeof(int64_t) + sizeof(ten)));
    CHECK(info().device_bytes < 2048);
    both.s[1].x = 7;
    CHECK_STATUS(haul_environment_update_device(env, &both.s[1].x, sizeof(int64_t), NULL), HAUL_OK);
    both.s[1].x = 0;
    bring_and_leave(&both.s[1].x);
    CHECK_EQ(both.s[1].x, 7);
    haul_type_free(&x_type);
    finish_ten();
}

typedef struct inner {
    int64_t d, e, f;
} inner;

typedef struct outer {
    int64_t a, b;
    struct {
        int64_t c;
    } sub;
    inner r, *rp;
    int64_t g;
} outer;

static haul_type *inner_type;
static const haul_field inner_fields[] = { HAUL_RAW(inner, e) };
static const haul_field outer_fields[] = {
    HAUL_EMBED(outer, r, &inner_type),
    HAUL_OBJECT(outer, rp, &inner_type),
};

static void write_by_pointer(void *argument)
{
    outer *o = argument;
    o->b = 1;
    o->rp->d = 2;
    o->rp->e = 3;
    o->rp->f = 4;
}

TEST(environment_situations, one_member_comes_back_though_a_pointer_leads_to_its_struct)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_COPYIN },
                                     { .path = "r.e", .action = HAUL_COPY } };
    haul_type *outer_type, *policy;
    outer o;
    start();
    inner_type = TYPE_NEW(inner, inner_fields);
    outer_type = TYPE_NEW(outer, outer_fields);
    CHECK_STATUS(haul_type_commit(outer_type), HAUL_OK);
    policy = POLICY(outer_type, rows);
    memset(&o, 0, sizeof o);
    o.rp = &o.r;
    put(&o, policy, 1);
    run_there(write_by_pointer, &o);
    bring_and_leave(&o);
    CHECK_EQ(o.b, 0);
    CHECK_EQ(o.r.d, 0);
    CHECK_EQ(o.r.e, 3);
    CHECK_EQ(o.r.f, 0);
    haul_type_free(&policy);
    haul_type_free(&outer_type);
    haul_type_free(&inner_type);
    finish();
}

/* ---- Directions of an inner type, and an alias in the struct around it. */

enum { CONTAINERS = 10, VALUES = LARGE(100000, 100) };

typedef struct kernel_data {
    int64_t length;
    int64_t *array, *result;
} kernel_data;

typedef struct container {
    kernel_data internal;
    int64_t *array_ptr; /* the result */
} container;

static haul_type *kernel_data_type;
static const haul_field kernel_data_fields[] = {
    HAUL_ARRAY(kernel_data, array, HAUL_COUNT(kernel_data, length)),
    HAUL_ARRAY(kernel_data, result, HAUL_COUNT(kernel_data, length)),
};
static const haul_field container_fields[] = {
    HAUL_EMBED(container, internal, &kernel_data_type),
    HAUL_ADDRESS(container, array_ptr, .element_bytes = sizeof(int64_t),
                 .ownership = HAUL_BORROWED),
};

static void square(void *argument)
{
    container *all = argument;
    int i, k;
    for (i = 0; i < CONTAINERS; i++)
        for (k = 0; k < VALUES; k++) {
            kernel_data *inside = &all[i].internal;
            all[i].array_ptr[k] += inside->array[k] * inside->array[k];
            inside->array[k] = -1;
        }
}

TEST(environment_situations, directions_of_an_inner_type_hold_in_containers_and_by_aliases)
{
    const haul_policy_row rows[] = {
        { .type = &kernel_data_type, .path = "array", .action = HAUL_COPYIN },
        { .type = &kernel_data_type, .path = "result", .action = HAUL_COPYOUT },
    };
    static int64_t arrays[CONTAINERS][VALUES], results[CONTAINERS][VALUES];
    container all[CONTAINERS];
    haul_type *container_type, *policy;
    int i, k;
    start();
    kernel_data_type = TYPE_NEW(kernel_data, kernel_data_fields);
    container_type = TYPE_NEW(container, container_fields);
    CHECK_STATUS(haul_type_commit(container_type), HAUL_OK);
    policy = POLICY(container_type, rows);
    for (i = 0; i < CONTAINERS; i++) {
        all[i].internal.length = VALUES;
        all[i].internal.array = arrays[i];
        all[i].internal.result = all[i].array_ptr = results[i];
        for (k = 0; k < VALUES; k++)
            arrays[i][k] = i + k % 1000, results[i][k] = 1000000;
    }
    put(all, policy, CONTAINERS);
    CHECK_EQ(info().transfers_to, 1);
    if (VALUES > 1000) /* results take no time on the way there; small ones cross as zeros */
        CHECK(info().bytes_to < sizeof arrays + sizeof arrays / 10);
    CHECK_EQ(info().ranges, 1 + 2 * CONTAINERS); /* the alias has no copy of its own */
    run_there(square, all);
    bring_and_leave(all);
    CHECK_EQ(info().transfers_from, 1);
    for (i = 0; i < CONTAINERS; i++)
        for (k = 0; k < VALUES; k++) {
            const int was = i + k % 1000;
            CHECK_EQ(arrays[i][k], was);
            CHECK_EQ(results[i][k], was * was); /* they began as zeros */
        }
    haul_type_free(&policy);
    haul_type_free(&container_type);
    haul_type_free(&kernel_data_type);
    finish();
}

/* ---- What else is worth having. */

typedef struct shape {
    int64_t tag, length;
    void *any; /* by the tag: a part, or `length` integers */
} shape;

static const haul_case shape_cases[] = { { 1, &part_type, 0 }, { 2, &ten_type, 0 } };
static const haul_field shape_fields[] = {
    HAUL_ADDRESS(shape, any, .type_switch = HAUL_SWITCH(shape, tag, shape_cases)),
};

static void write_shape(void *argument)
{
    shape *s = argument;
    if (s->tag == 1)
        ((part *)s->any)->value = 5;
    else
        ((ten *)s->any)->v[9] = 6;
}

TEST(environment_situations, a_pointer_of_many_types_leads_to_what_is_present_and_what_is_new)
{
    haul_type *shape_type;
    shape s[2] = { { 1, 0, &P[0] }, { 2, 0, NULL } };
    ten array;
    start_ten();
    memset(&array, 0, sizeof array);
    s[1].any = &array;
    shape_type = TYPE_NEW(shape, shape_fields);
    CHECK_STATUS(haul_type_commit(shape_type), HAUL_OK);
    enter(&P[0]);
    put(&s[0], shape_type, 1);
    put(&s[1], shape_type, 1);
    run_there(write_shape, &s[0]);
    run_there(write_shape, &s[1]);
    CHECK_EQ(seen(&P[0]).seen.value, 5);
    bring_and_leave(&s[1]);
    CHECK_EQ(array.v[9], 6);
    haul_type_free(&shape_type);
    finish_ten();
}

typedef struct level {
    struct level *inner; /* count */
    int64_t count, value;
} level;

static haul_type *level_type;
static const haul_field level_fields[] = {
    HAUL_OBJECTS(level, inner, &level_type, HAUL_COUNT(level, count)),
};

static void add_to_levels(void *argument)
{
    level *top = argument;
    int i, k, n;
    for (i = 0; i < 2; i++) {
        top[i].value += 1;
        for (k = 0; k < 2; k++) {
            top[i].inner[k].value += 10;
            for (n = 0; n < 2; n++)
                top[i].inner[k].inner[n].value += 100;
        }
    }
}

TEST(environment_situations, arrays_in_arrays_in_arrays_are_there_as_here)
{
    level top[2], middle[4], low[8];
    int i;
    start();
    level_type = TYPE_NEW(level, level_fields);
    CHECK_STATUS(haul_type_commit(level_type), HAUL_OK);
    for (i = 0; i < 8; i++) {
        low[i] = (level){ NULL, 0, i };
        middle[i / 2] = (level){ &low[i / 2 * 2], 2, i };
        top[i / 4] = (level){ &middle[i / 4 * 2], 2, i };
    }
    put(top, level_type, 2);
    run_there(add_to_levels, top);
    bring_and_leave(top);
    for (i = 0; i < 8; i++) {
        CHECK_EQ(low[i].value, i + 100);
        CHECK_EQ(middle[i / 2].value, i / 2 * 2 + 11);
        CHECK_EQ(top[i / 4].value, i / 4 * 4 + 4);
    }
    haul_type_free(&level_type);
    finish();
}

TEST(environment_situations, a_struct_is_assembled_from_the_bottom_up)
{
    start();
    enter(&P[2]);
    P[1].a = &P[2];
    P[1].b = &P[2];
    enter(&P[1]);
    P[0].a = &P[1];
    enter(&P[0]);
    CHECK_EQ(info().transfers_to, 3);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
    CHECK_PTR(seen(&P[1]).seen.a, there(&P[2]));
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[2]));
    leave(&P[2]);
    leave(&P[1]);
    CHECK_EQ(info().kept, 2);
    leave(&P[0]);
    CHECK_EQ(info().groups, 0);
    finish();
}

TEST(environment_situations, ranges_of_one_graph_that_overlap_in_part_keep_their_distance)
{
    start();
    P[0].data = host.arrays[0] + 1;
    P[0].a = &P[1];
    P[1].data = host.arrays[0] + 2;
    P[1].count = LENGTH + 1; /* each reaches out of the other */
    enter(&P[0]);
    CHECK_PTR(seen(&P[1]).seen.data, seen(&P[0]).seen.data + 1);
    CHECK_EQ(haul_environment_presence(env, host.arrays[0] + 1, 5 * sizeof(int32_t)), HAUL_PRESENT);
    change_there(&P[1]);
    leave_back(&P[0]);
    CHECK_EQ(host.arrays[0][2], 1002);
    finish();
}

TEST(environment_situations, an_object_that_leads_to_itself_does_so_there)
{
    start();
    P[0].a = P[0].b = &P[0];
    enter(&P[0]);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[0]));
    CHECK_PTR(seen(&P[0]).seen.b, there(&P[0]));
    leave_back(&P[0]);
    CHECK_PTR(P[0].a, &P[0]);
    finish();
}

static void fill_there(void *argument)
{
    part *p = argument;
    int i;
    for (i = 0; i < p->count; i++)
        p->data[i] = 50 + i;
}

TEST(environment_situations, an_array_that_the_device_has_filled_grows_on_the_host)
{
    int32_t *data = calloc(4, sizeof *data);
    start();
    P[0].data = data;
    P[0].count = 4;
    enter(&P[0]);
    run_there(fill_there, &P[0]);
    leave_back(&P[0]);
    P[0].data = data = realloc(data, 8 * sizeof *data);
    P[0].count = 8;
    memset(data + 4, 0, 4 * sizeof *data);
    CHECK_EQ(data[3], 53);
    enter(&P[0]);
    run_there(fill_there, &P[0]);
    leave_back(&P[0]);
    CHECK_EQ(data[7], 57);
    CHECK_EQ(info().bytes, 0);
    finish();
    free(data);
}

TEST(environment_situations, an_address_that_was_never_exited_is_what_was_entered_there)
{
    start();
    enter(&P[0]); /* and its scope ends */
    P[0].value = 1;
    enter(&P[0]);
    CHECK_EQ(seen(&P[0]).seen.value, 100);
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 2, NULL, NULL), HAUL_ERROR_GRAPH);
    leave(&P[0]);
    leave(&P[0]);
    enter(&P[0]);
    CHECK_EQ(seen(&P[0]).seen.value, 1);
    finish();
}

TEST(environment_situations, pointers_to_no_elements_lead_to_the_array_that_begins_there)
{
    start();
    enter(&P[0]);
    enter(&P[1]);
    P[2].count = P[3].count = P[4].count = 0;
    P[2].data = host.arrays[0];
    P[3].data = host.arrays[1];          /* where one ends and the next begins */
    P[4].data = host.arrays[1] + LENGTH; /* the end of the last one */
    P[2].a = &P[3];
    P[3].a = &P[4];
    enter(&P[2]);
    CHECK_PTR(seen(&P[2]).seen.data, THERE(host.arrays[0]));
    CHECK_PTR(seen(&P[3]).seen.data, THERE(host.arrays[1]));
    CHECK_PTR(seen(&P[4]).seen.data, (char *)THERE(host.arrays[1]) + sizeof host.arrays[1]);
    finish();
}

TEST(environment_situations, one_graph_lives_on_two_devices_each_with_its_own_copy)
{
    test_device options = { .settings = &ordinary_launches };
    haul_environment *first;
    haul_device *first_device, *second_device;
    start();
    P[0].a = &P[1];
    enter(&P[0]);
    first = env;
    first_device = device;
    options.context = context;
    CHECK_STATUS(test_open(haul_host_device(), &options, &second_device), HAUL_OK);
    device = second_device;
    CHECK_STATUS(haul_environment_create(device, &env), HAUL_OK);
    enter(&P[0]);
    change_there(&P[1]);
    CHECK_EQ(seen(&P[1]).seen.value, 1101);
    haul_environment_free(&env);
    env = first;
    device = first_device;
    CHECK_EQ(seen(&P[1]).seen.value, 101);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
    haul_device_close(&second_device);
    finish();
}

/* ---- A borrowed pointer whose owner is another root. */

typedef struct guest {
    part *host;
    int64_t value;
} guest;

static haul_type *guest_type;
static const haul_field guest_fields[] = {
    HAUL_OBJECT(guest, host, &part_type, .ownership = HAUL_BORROWED),
};

static int knows_nothing_asked;

static void *know_nothing(void *user, const void *at, size_t bytes)
{
    (void)user;
    (void)at;
    (void)bytes;
    knows_nothing_asked++;
    return NULL;
}

static void write_guest(void *argument)
{
    guest *g = argument;
    g->value = 2;
    g->host->value++;
}

TEST(environment_situations, an_exit_under_a_policy_has_borrowed_pointers_as_its_enter_had)
{
    haul_exit_options back = { .copyout = 1 };
    guest g = { &P[0], 1 };
    int with_finder, owner_first;
    for (with_finder = 0; with_finder <= 1; with_finder++)
        for (owner_first = 0; owner_first <= 1; owner_first++) {
            start();
            guest_type = TYPE_NEW(guest, guest_fields);
            CHECK_STATUS(haul_type_commit(guest_type), HAUL_OK);
            if (with_finder)
                CHECK_STATUS(haul_environment_set_finder(env, know_nothing, NULL), HAUL_OK);
            back.policy = guest_type;
            g.host = &P[0];
            g.value = 1;
            enter(&P[0]);
            put(&g, guest_type, 1);
            run_there(write_guest, &g);
            if (owner_first)
                leave(&P[0]); /* the guest's pointer holds it */
            g.host = &P[3];   /* absent, and nobody owns it */
            CHECK_STATUS(haul_environment_exit(env, &g, &back, NULL), HAUL_ERROR_GRAPH);
            CHECK_HAS(haul_context_error(context)->text, "alias");
            CHECK_STR(haul_context_error(context)->path, "root.host");
            g.host = &P[0] + 1; /* one past the owner's */
            CHECK_STATUS(haul_environment_exit(env, &g, &back, NULL), HAUL_OK);
            CHECK_EQ(g.value, 2);
            CHECK_EQ(P[0].value, 100);
            CHECK_EQ(info().groups, !owner_first);
            CHECK_STATUS(haul_context_error(context)->status, HAUL_OK);
            haul_type_free(&guest_type);
            finish();
        }
    CHECK(knows_nothing_asked > 0);
}

/* ---- What the header says of less usual calls. */

TEST(environment_situations, an_object_whose_first_member_stays_here_is_found_by_a_later_one)
{
    const haul_policy_row rows[] = { { HAUL_MEMBER(part, a), .action = HAUL_SHALLOW },
                                     { HAUL_MEMBER(part, b), .action = HAUL_SHALLOW } };
    haul_type *alone;
    const char *data;
    start();
    alone = POLICY(part_type, rows);
    P[1].a = &P[3];
    put(&P[1], alone, 1);
    CHECK_PTR(THERE(&P[1]), NULL);
    CHECK_EQ(haul_environment_presence(env, &P[1], sizeof P[1]), HAUL_PRESENT_IN_PART);
    data = THERE(&P[1].data);
    CHECK(data != NULL);
    CHECK_STATUS(haul_host_launch(device, add_there, (void *)(data - offsetof(part, data))),
                 HAUL_OK);
    bring_and_leave(&P[1]);
    CHECK_EQ(P[1].value, 1101);
    haul_type_free(&alone);
    finish();
}

TEST(environment_situations, a_structured_exit_does_not_read_finalize)
{
    const haul_enter_options begin = { .structured = 1 };
    const haul_exit_options end = { .structured = 1, .finalize = 1 };
    haul_present_range range;
    int i;
    start();
    for (i = 0; i < 2; i++) {
        enter(&P[0]);
        CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 1, &begin, NULL), HAUL_OK);
    }
    CHECK_STATUS(haul_environment_exit(env, &P[0], &end, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_find(env, &P[0], &range), HAUL_OK);
    CHECK_EQ(range.structured, 1);
    CHECK_EQ(range.dynamic, 2);
    finish();
}

TEST(environment_situations, an_exit_without_copyout_does_not_read_its_policy)
{
    haul_exit_options ends = { .copyout = 0 };
    start_ten();
    ends.policy = ten_type; /* of another type than the root */
    enter(&P[0]);
    change_there(&P[0]);
    CHECK_STATUS(haul_environment_exit(env, &P[0], &ends, NULL), HAUL_OK);
    CHECK_EQ(P[0].value, 100);
    CHECK_EQ(info().groups, 0);
    finish_ten();
}

TEST(environment_situations, an_array_stays_as_a_whole_if_a_byte_of_it_is_led_to)
{
    int i;
    start();
    for (i = 0; i < LENGTH; i++) {
        P[0].data = host.arrays[1];
        P[1].data = host.arrays[1] + i;
        P[1].count = 1;
        enter(&P[0]);
        enter(&P[1]);
        leave_back(&P[0]);
        CHECK_EQ(haul_environment_presence(env, &P[0], sizeof P[0]), HAUL_ABSENT);
        CHECK_EQ(haul_environment_presence(env, host.arrays[1], sizeof host.arrays[1]),
                 HAUL_PRESENT);
        leave(&P[1]);
        CHECK_EQ(info().groups, 0);
    }
    finish();
}

TEST(environment_situations, updates_leave_what_is_not_sent_as_kernels_have_left_it)
{
    const haul_policy_row row = { HAUL_MEMBER(part, data), .action = HAUL_COPYOUT };
    haul_type *results;
    int turn;
    start();
    results = policy_of(part_type, &row, 1);
    put(&P[1], results, 1);
    CHECK_EQ(seen(&P[1]).first, 0);
    change_there(&P[1]);
    for (turn = 0; turn < 3; turn++) {
        if (turn == 0)
            CHECK_STATUS(haul_environment_update_device(env, &P[1], 0, NULL), HAUL_OK);
        else if (turn == 1)
            CHECK_STATUS(
                haul_environment_update_device(env, host.arrays[1], sizeof host.arrays[1], NULL),
                HAUL_OK);
        else
            CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
        CHECK_EQ(seen(&P[1]).first, 1000);
    }
    bring_and_leave(&P[1]);
    CHECK_EQ(host.arrays[1][0], 1000);
    haul_type_free(&results);
    finish();
}
