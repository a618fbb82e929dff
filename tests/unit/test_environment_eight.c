/* Environments: the hardest situations in which other run times of deep copies fail, at their full
 * size. Those that are not here are in test_environment_situations.c; docs/testing.md has the list.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

#include "environment_ten.h"

static haul_host_counters counted(void)
{
    haul_host_counters now;
    CHECK_STATUS(haul_host_get_counters(device, &now), HAUL_OK);
    return now;
}

/* ---- 3. x is present and was not sent. Two pointers to it have five actions, in any order; the
 * exit of their struct deletes it. */

typedef struct pair {
    int64_t *p, *q;
} pair;

static const haul_field pair_fields[] = {
    HAUL_ARRAY(pair, p, HAUL_FIXED(TEN)),
    HAUL_ARRAY(pair, q, HAUL_FIXED(TEN)),
};

enum { ACTIONS = 5, ORDERS = 120 };

static const haul_policy_row actions[ACTIONS] = { { .path = "p", .action = HAUL_CREATE },
                                                  { .path = "p", .action = HAUL_ONLY_PRESENT },
                                                  { .path = "p", .action = HAUL_COPYOUT },
                                                  { .path = "p", .action = HAUL_COPYIN },
                                                  { .path = "q", .action = HAUL_COPYOUT } };

/* The order of that number. */
static void put_in_order(int number, haul_policy_row *rows)
{
    int left = ACTIONS, i;
    memcpy(rows, actions, sizeof actions);
    for (i = 0; i < ACTIONS; number /= left--, i++) {
        const int with = i + number % left;
        const haul_policy_row row = rows[i];
        rows[i] = rows[with];
        rows[with] = row;
    }
}

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

/* How many bytes cross when the array alone comes back: that depends on where it lies. */
static uint64_t count_once(ten *x, const haul_type *array_policy)
{
    haul_host_counters before;
    put(x, array_policy, 1);
    before = counted();
    bring_and_leave(x);
    return counted().bytes_from - before.bytes_from;
}

static void delete_by_alias(const haul_type *pair_type, const haul_type *array_policy, int order)
{
    haul_policy_row rows[ACTIONS];
    haul_host_counters before;
    haul_type *policy;
    alias_work w;
    ten x;
    pair s = { x.v, x.v };
    const uint64_t once = count_once(&x, array_policy);
    put_in_order(order, rows);
    policy = policy_of(pair_type, rows, ACTIONS);
    memset(&x, 0xff, sizeof x);
    put(&x, array_policy, 1);
    before = counted();
    put(&s, policy, 1);
    CHECK(counted().bytes_to - before.bytes_to < sizeof x); /* the struct alone */
    CHECK_STATUS(haul_environment_exit(env, &x, NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, &x, sizeof x), HAUL_PRESENT);
    w.at = THERE(&s);
    CHECK_STATUS(haul_host_launch(device, write_by_alias, &w), HAUL_OK);
    CHECK(w.is_same);
    CHECK_EQ(w.found, 0);
    before = counted();
    bring_and_leave(&s);
    CHECK(counted().bytes_from - before.bytes_from < 2 * once); /* the array came back once */
    CHECK_EQ(x.v[3], 222);
    CHECK_EQ(info().groups, 0);
    CHECK_STATUS(haul_environment_exit(env, &x, NULL, NULL), HAUL_ERROR_ARGUMENT);
    haul_type_free(&policy);
}

TEST(environment_eight, situation_3_an_alias_is_deleted_once_by_conflicting_actions_in_any_order)
{
    const haul_policy_row alone = { .path = "", .action = HAUL_COPYOUT };
    haul_type *pair_type, *array_policy, *policy;
    ten *x = calloc(3, sizeof *x); /* a pointer one past what is present would count as present */
    pair s;
    int order;
    CHECK(x != NULL);
    s.p = s.q = x[1].v;
    start_ten();
    pair_type = TYPE_NEW(pair, pair_fields);
    CHECK_STATUS(haul_type_commit(pair_type), HAUL_OK);
    array_policy = policy_of(ten_type, &alone, 1);
    for (order = 0; order < ORDERS; order++)
        delete_by_alias(pair_type, array_policy, order);
    policy = policy_of(pair_type,
                       (const haul_policy_row[]){ { .path = "p", .action = HAUL_ONLY_PRESENT },
                                                  { .path = "q", .action = HAUL_ONLY_PRESENT } },
                       2);
    CHECK_STATUS(haul_environment_enter(env, &s, policy, 1, NULL, NULL), HAUL_ERROR_GRAPH);
    haul_type_free(&policy);
    haul_type_free(&array_policy);
    haul_type_free(&pair_type);
    free(x);
    finish_ten();
}

/* ---- 4. A struct stays; its arrays come, are attached, and go, sixteen times. */

typedef struct vessel {
    int64_t a, *b, *c, *d;
} vessel;

static const haul_field vessel_fields[] = {
    HAUL_ARRAY(vessel, b, HAUL_FIXED(TEN)),
    HAUL_ARRAY(vessel, c, HAUL_FIXED(TEN)),
    HAUL_ARRAY(vessel, d, HAUL_FIXED(TEN)),
};

static void fill_vessel(void *argument)
{
    vessel *v = argument;
    int i;
    for (i = 0; i < TEN; i++) {
        v->b[i] = v->a + i;
        v->c[i] = 2 * v->a + i;
        v->d[i] += 1;
    }
    v->a++;
}

static void check_absent(const int64_t *array)
{
    CHECK_EQ(haul_environment_presence(env, array, TEN * sizeof *array), HAUL_ABSENT);
    CHECK_EQ(haul_environment_presence(env, array, TEN * sizeof(int *)), HAUL_ABSENT);
    CHECK_EQ(haul_environment_presence(env, array, TEN), HAUL_ABSENT);
}

static void one_round(vessel *v, int64_t round)
{
    int64_t *const arrays[] = { v->b, v->c, v->d };
    const void *const pointers[] = { &v->b, &v->c, &v->d };
    int i, k;
    v->a = 100 * round;
    CHECK_STATUS(haul_environment_update_device(env, &v->a, sizeof v->a, NULL), HAUL_OK);
    for (i = 0; i < 3; i++) {
        check_absent(arrays[i]);
        put(arrays[i], ten_type, 1);
        CHECK_STATUS(haul_environment_attach(env, pointers[i]), HAUL_OK);
    }
    CHECK_STATUS(haul_host_launch(device, fill_vessel, THERE(v)), HAUL_OK);
    for (i = 0; i < 3; i++) {
        bring_and_leave(arrays[i]);
        check_absent(arrays[i]);
    }
    CHECK_STATUS(haul_environment_update_host(env, &v->a, sizeof v->a, NULL), HAUL_OK);
    CHECK_EQ(v->a, 100 * round + 1);
    for (k = 0; k < TEN; k++) {
        CHECK_EQ(v->b[k], 100 * round + k);
        CHECK_EQ(v->c[k], 200 * round + k);
        CHECK_EQ(v->d[k], round + 1);
    }
    CHECK_EQ(haul_environment_presence(env, &v->a, sizeof v->a), HAUL_PRESENT);
}

typedef struct vessel_look {
    const vessel *at;
    vessel seen;
} vessel_look;

static void look_at_vessel(void *argument)
{
    vessel_look *l = argument;
    l->seen = *l->at;
}

TEST(environment_eight, situation_4_arrays_are_attached_to_a_struct_that_stays_sixteen_times)
{
    const haul_policy_row rows[] = { { .path = "b", .action = HAUL_SHALLOW },
                                     { .path = "c", .action = HAUL_SHALLOW },
                                     { .path = "d", .action = HAUL_SHALLOW } };
    ten arrays[3];
    vessel v = { 0, arrays[0].v, arrays[1].v, arrays[2].v };
    haul_type *vessel_type, *policy;
    vessel_look l;
    const void *pointer;
    int round;
    start_ten();
    memset(arrays, 0, sizeof arrays);
    vessel_type = TYPE_NEW(vessel, vessel_fields);
    CHECK_STATUS(haul_type_commit(vessel_type), HAUL_OK);
    policy = policy_of(vessel_type, rows, 3);
    if (sizeof(void *) == 8) /* a pointer that is stale faults */
        CHECK_STATUS(haul_environment_set_detached(env, HAUL_DETACHED_POISON), HAUL_OK);
    put(&v, policy, 1);
    for (round = 0; round < 16; round++) {
        one_round(&v, round);
        l.at = THERE(&v);
        CHECK_STATUS(haul_host_launch(device, look_at_vessel, &l), HAUL_OK);
        CHECK(sizeof(void *) == 8 || !l.seen.c);
        if (sizeof(void *) < 8)
            continue;
        CHECK_STATUS(haul_environment_name_poison(env, (uintptr_t)l.seen.c, &pointer, NULL),
                     HAUL_OK);
        CHECK_PTR(pointer, &v.c);
    }
    bring_and_leave(&v);
    CHECK_PTR(v.b, arrays[0].v);
    CHECK_PTR(v.c, arrays[1].v);
    CHECK_PTR(v.d, arrays[2].v);
    haul_type_free(&policy);
    haul_type_free(&vessel_type);
    finish_ten();
}

/* ---- 5. Two queues, one struct; and one scalar that many threads enter. */

enum { LONG = 1024, TURNS = 99 };

typedef struct two_arrays {
    int32_t *a, *b;
} two_arrays;

static const haul_field two_arrays_fields[] = {
    HAUL_ARRAY(two_arrays, a, HAUL_FIXED(LONG)),
    HAUL_ARRAY(two_arrays, b, HAUL_FIXED(LONG)),
};

static void add_one_to_each(void *argument)
{
    int32_t *array = argument;
    int i;
    for (i = 0; i < LONG; i++)
        array[i]++;
}

/* The kernel of this device is on no stream: it waits for what was ordered. */
TEST(environment_eight, situation_5_two_queues_take_turns_with_two_arrays_of_a_struct)
{
    fault_plan plan = { .deferred = 1 };
    haul_device *opened;
    haul_type *two_type;
    static int32_t a[LONG], b[LONG];
    two_arrays both = { a, b };
    int i, k;
    CHECK_STATUS(fault_open(&plan, NULL, &opened), HAUL_OK);
    start_with(opened);
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    two_type = TYPE_NEW(two_arrays, two_arrays_fields);
    CHECK_STATUS(haul_type_commit(two_type), HAUL_OK);
    put(&both, two_type, 1);
    for (i = 0; i < TURNS; i++)
        for (k = 0; k < 2; k++) {
            const haul_async on = { fault_stream((unsigned)(i + k) % 2), NULL };
            int32_t *const array = k ? b : a;
            CHECK_STATUS(haul_environment_update_device(env, array, sizeof a, &on), HAUL_OK);
            CHECK_STATUS(haul_environment_wait(env), HAUL_OK);
            CHECK_STATUS(haul_host_launch(device, add_one_to_each, THERE(array)), HAUL_OK);
            CHECK_STATUS(haul_environment_update_host(env, array, sizeof a, &on), HAUL_OK);
        }
    bring_and_leave(&both);
    for (i = 0; i < LONG; i++) {
        CHECK_EQ(a[i], TURNS);
        CHECK_EQ(b[i], TURNS);
    }
    haul_type_free(&two_type);
    haul_environment_free(&env);
    haul_type_free(&part_type);
    haul_device_close(&device);
    fault_check_clean(&plan);
}

enum { ALL_ENTERS = LARGE(32768, 1024), THREADS = 16 };

static int64_t scalar;
static haul_type *scalar_type;
static pthread_mutex_t launches = PTHREAD_MUTEX_INITIALIZER;

static void add_one(void *argument)
{
    ++*(int64_t *)argument;
}

static void *enter_add_leave(void *user)
{
    int i;
    (void)user;
    for (i = 0; i < ALL_ENTERS / THREADS; i++) {
        haul_status status;
        put(&scalar, scalar_type, 1);
        pthread_mutex_lock(&launches); /* one launch at a time */
        status = haul_host_launch(device, add_one, THERE(&scalar));
        pthread_mutex_unlock(&launches);
        CHECK_STATUS(status, HAUL_OK);
        bring_and_leave(&scalar);
    }
    return NULL;
}

TEST(environment_eight, situation_5_32768_enters_of_one_scalar_lose_no_increment)
{
    pthread_t threads[THREADS];
    int i;
    start();
    scalar = 0;
    scalar_type = type_new(&(const haul_struct)HAUL_PLAIN(int64_t, NULL));
    CHECK_STATUS(haul_type_commit(scalar_type), HAUL_OK);
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, enter_add_leave, NULL) == 0);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(scalar, ALL_ENTERS);
    CHECK_EQ(info().enters, ALL_ENTERS);
    CHECK_EQ(info().exits, ALL_ENTERS);
    CHECK_EQ(info().groups, 0);
    CHECK_STATUS(haul_environment_exit(env, &scalar, NULL, NULL), HAUL_ERROR_ARGUMENT);
    haul_type_free(&scalar_type);
    finish();
}

/* ---- 6. Arrays of any shape that may be absent, in objects that may be: a scalar one and an array
 * of 3 by 2, static, local, on the heap and optional. */

enum { ROWS = 3, COLUMNS = 2, ELEMENTS = ROWS * COLUMNS, LONGEST = ELEMENTS };

typedef struct ragged {
    int32_t *at;
    int64_t extent[2], var;
    int32_t *slr;
} ragged;

typedef struct owner {
    ragged *one, *all; /* all: ELEMENTS */
} owner;

typedef struct rooms {
    ragged one, all[ELEMENTS];
} rooms;

static haul_type *ragged_type, *owner_type;
HAUL_FUNCTION(ragged_values, ragged, self->extent[0] * self->extent[1])
HAUL_FUNCTION(owner_elements, owner, ELEMENTS)
static const haul_field ragged_fields[] = {
    HAUL_ARRAY(ragged, at, HAUL_COUNT_FN(ragged_values)),
    HAUL_ARRAY(ragged, slr, HAUL_ONE),
};
static const haul_field owner_fields[] = {
    HAUL_OBJECT(owner, one, &ragged_type),
    HAUL_OBJECTS(owner, all, &ragged_type, HAUL_COUNT_FN(owner_elements)),
};

static int32_t ragged_arrays[ELEMENTS + 1][LONGEST], ragged_scalars[ELEMENTS + 1];

static int32_t value_of(int i, int j, int k, int l)
{
    return 27 * i + 11000 * j + 467 + 3 * k + 53 * l;
}

static void make_ragged(ragged *r, int number, int i, int j, int has_array, int has_scalar)
{
    int k, l;
    for (k = 0; k < i; k++)
        for (l = 0; l < j; l++)
            ragged_arrays[number][k * j + l] = value_of(i, j, k, l);
    ragged_scalars[number] = number;
    r->at = has_array ? ragged_arrays[number] : NULL;
    r->extent[0] = i;
    r->extent[1] = j;
    r->var = 1000 + number;
    r->slr = has_scalar ? &ragged_scalars[number] : NULL;
}

/* One look at an owner, there or here: what is wrong is counted, and `add` added. */
typedef struct tour {
    owner *at;
    int has_all, has_array, has_scalar, expected_more, add, wrong;
} tour;

static void visit(tour *t, ragged *r, int number, int i, int j)
{
    int k, l;
    t->wrong += r->extent[0] != i || r->extent[1] != j || (r->at != NULL) != t->has_array ||
                (r->slr != NULL) != t->has_scalar || r->var != 1000 + number + t->expected_more;
    for (k = 0; r->at && k < i; k++)
        for (l = 0; l < j; l++) {
            t->wrong += r->at[k * j + l] != value_of(i, j, k, l) + t->expected_more;
            r->at[k * j + l] += t->add;
        }
    t->wrong += r->slr && *r->slr != number + t->expected_more;
    if (r->slr)
        *r->slr += t->add;
    r->var += t->add;
}

static void go_through(void *argument)
{
    tour *t = argument;
    int i;
    t->wrong = (t->at->one != NULL) != t->has_all || (t->at->all != NULL) != t->has_all;
    if (t->wrong || !t->has_all)
        return;
    visit(t, t->at->one, ELEMENTS, ROWS, COLUMNS);
    for (i = 0; i < ELEMENTS; i++)
        visit(t, &t->at->all[i], i, 1 + i / COLUMNS, 1 + i % COLUMNS);
}

static void tour_of(tour *t, owner *at, int is_there, int expected_more, int add)
{
    t->at = is_there ? THERE(at) : at;
    t->expected_more = expected_more;
    t->add = add;
    if (is_there)
        CHECK_STATUS(haul_host_launch(device, go_through, t), HAUL_OK);
    else
        go_through(t);
    CHECK_EQ(t->wrong, 0);
}

static void try_rooms(rooms *in, owner *o, int number)
{
    tour t = { NULL, number & 1, number >> 1 & 1, number >> 2 & 1, 0, 0, 0 };
    int i;
    make_ragged(&in->one, ELEMENTS, ROWS, COLUMNS, t.has_array, t.has_scalar);
    for (i = 0; i < ELEMENTS; i++)
        make_ragged(&in->all[i], i, 1 + i / COLUMNS, 1 + i % COLUMNS, t.has_array, t.has_scalar);
    o->one = t.has_all ? &in->one : NULL;
    o->all = t.has_all ? in->all : NULL;
    put(o, owner_type, 1);
    tour_of(&t, o, 1, 0, 13);
    CHECK_STATUS(haul_environment_update_host(env, o, 0, NULL), HAUL_OK);
    tour_of(&t, o, 0, 13, 0);
    tour_of(&t, o, 1, 13, -13); /* the device sets all back */
    bring_and_leave(o);
    tour_of(&t, o, 0, 0, 0);
}

TEST(environment_eight, situation_6_ragged_arrays_and_absence_in_every_place)
{
    static rooms fixed;
    static owner fixed_owner;
    rooms local, *heap = malloc(sizeof *heap);
    owner local_owner, *heap_owner = malloc(sizeof *heap_owner);
    int number;
    CHECK(heap && heap_owner);
    start();
    ragged_type = TYPE_NEW(ragged, ragged_fields);
    owner_type = TYPE_NEW(owner, owner_fields);
    CHECK_STATUS(haul_type_commit(owner_type), HAUL_OK);
    for (number = 0; number < 8; number++) { /* the owner's objects are the optional ones */
        try_rooms(&fixed, &fixed_owner, number);
        try_rooms(&local, &local_owner, number);
        try_rooms(heap, heap_owner, number);
        try_rooms(heap, &local_owner, number);
    }
    haul_type_free(&owner_type);
    haul_type_free(&ragged_type);
    finish();
    free(heap);
    free(heap_owner);
}

/* ---- 7. All goes, and one member returns: by a path, through a pointer, through an alias of the
 * member's struct, and behind a pointer of the struct. */

typedef struct inner {
    int64_t d, e, f;
} inner;

typedef struct middle {
    int64_t c;
    inner r, *rp;
} middle;

typedef struct outer {
    int64_t a, b;
    middle sub;
    int64_t g;
} outer;

typedef struct handle {
    outer *o;
} handle;

static haul_type *inner_type, *middle_type, *outer_type, *handle_type;
static const haul_field inner_fields[] = { HAUL_RAW(inner, e) };
static const haul_field middle_fields[] = { HAUL_EMBED(middle, r, &inner_type),
                                            HAUL_OBJECT(middle, rp, &inner_type) };
static const haul_field outer_fields[] = { HAUL_EMBED(outer, sub, &middle_type) };
static const haul_field handle_fields[] = { HAUL_OBJECT(handle, o, &outer_type) };

/* The kernel: b, and the struct that `by` leads to. */
static void write_members(outer *o, inner *by)
{
    o->b = 1;
    by->d = 2;
    by->e = 3;
    by->f = 4;
}

static void write_embedded(void *argument)
{
    outer *o = argument;
    write_members(o, &o->sub.r);
}

static void write_by_handle(void *argument)
{
    write_embedded(((handle *)argument)->o);
}

static void write_by_rp(void *argument)
{
    outer *o = argument;
    write_members(o, o->sub.rp);
}

/* `target`: the struct that the kernel writes. */
static void bring_one_member(void *root, const haul_type *type, const haul_policy_row *rows,
                             size_t count, void (*kernel)(void *), const outer *o,
                             const inner *target)
{
    haul_type *policy = policy_of(type, rows, count);
    put(root, policy, 1);
    CHECK_STATUS(haul_host_launch(device, kernel, THERE(root)), HAUL_OK);
    bring_and_leave(root);
    CHECK_EQ(o->b, 0);
    CHECK_EQ(target->d, 0);
    CHECK_EQ(target->e, 3);
    CHECK_EQ(target->f, 0);
    haul_type_free(&policy);
}

#define ALL_GO                                                                                     \
    {                                                                                              \
        .path = "", .action = HAUL_COPYIN                                                          \
    }

TEST(environment_eight, situation_7_one_member_returns_by_whatever_way_it_is_reached)
{
    const haul_policy_row by_path[] = { ALL_GO, { .path = "sub.r.e", .action = HAUL_COPY } },
                          by_handle[] = { { .type = &outer_type,
                                            .path = "",
                                            .action = HAUL_COPYIN },
                                          { .path = "o.sub.r.e", .action = HAUL_COPY } },
                          by_rp[] = { ALL_GO,
                                      { .path = "sub.rp.e", .action = HAUL_COPY },
                                      { .type = &inner_type, .path = "", .action = HAUL_COPYIN } };
    outer o;
    inner apart;
    handle h = { &o };
    start();
    inner_type = TYPE_NEW(inner, inner_fields);
    middle_type = TYPE_NEW(middle, middle_fields);
    outer_type = TYPE_NEW(outer, outer_fields);
    handle_type = TYPE_NEW(handle, handle_fields);
    CHECK_STATUS(haul_type_commit(handle_type), HAUL_OK);
    memset(&o, 0, sizeof o);
    bring_one_member(&o, outer_type, by_path, 2, write_embedded, &o, &o.sub.r);
    memset(&o, 0, sizeof o);
    bring_one_member(&h, handle_type, by_handle, 2, write_by_handle, &o, &o.sub.r);
    memset(&o, 0, sizeof o);
    o.sub.rp = &o.sub.r;
    bring_one_member(&o, outer_type, by_path, 2, write_by_rp, &o, &o.sub.r);
    memset(&o, 0, sizeof o);
    memset(&apart, 0, sizeof apart);
    o.sub.rp = &apart;
    bring_one_member(&o, outer_type, by_rp, 3, write_by_rp, &o, &apart);
    haul_type_free(&handle_type);
    haul_type_free(&outer_type);
    haul_type_free(&middle_type);
    haul_type_free(&inner_type);
    finish();
}
