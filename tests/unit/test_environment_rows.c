/* Environments: what people compare run times of deep copies by, one test for each row of such a
 * table. The name of a test is that of the row. Other suites look at each more closely.
 *
 * Of pools on a GPU, tests/cuda/memory.c.
 */
#include <stdlib.h>

#include "environment_graphs.h"
#include "support/short_forms.h"

#define P (host.parts)
#define THERE(at) haul_environment_device_pointer(env, (at))

static void put(void *root, const haul_type *type)
{
    CHECK_STATUS(haul_environment_enter(env, root, type, 1, NULL, NULL), HAUL_OK);
}

static void take(const void *root)
{
    const haul_exit_options back = { .copyout = 1 };
    CHECK_STATUS(haul_environment_exit(env, root, &back, NULL), HAUL_OK);
}

static void run_there(void (*work)(void *), const void *at)
{
    CHECK_STATUS(haul_host_launch(device, work, THERE(at)), HAUL_OK);
}

static void to_device(const void *at, size_t bytes)
{
    CHECK_STATUS(haul_environment_update_device(env, at, bytes, NULL), HAUL_OK);
}

static void to_host(const void *at, size_t bytes)
{
    CHECK_STATUS(haul_environment_update_host(env, at, bytes, NULL), HAUL_OK);
}

static void add_to_chain(void *argument)
{
    part *at = argument;
    for (; at; at = at->a) {
        at->value += 1000;
        at->data[LENGTH - 1] += 1000;
    }
}

static void chain(int count)
{
    int i;
    for (i = 0; i + 1 < count; i++)
        P[i].a = &P[i + 1];
}

/* ---- Copies, and what of them. */

TEST(environment_rows, full_deep_copy)
{
    int i;
    start();
    chain(5);
    enter(&P[0]);
    run_there(add_to_chain, &P[0]);
    leave_back(&P[0]);
    for (i = 0; i < 5; i++) {
        CHECK_EQ(P[i].value, 1100 + i);
        CHECK_EQ(host.arrays[i][LENGTH - 1], 10 * i + LENGTH - 1 + 1000);
        CHECK_PTR(P[i].data, host.arrays[i]);
    }
    finish();
}

static haul_type *policy_of(const haul_policy_row *rows, size_t count)
{
    haul_type *policy;
    CHECK_STATUS(haul_policy_create(part_type, "p", rows, count, &policy), HAUL_OK);
    return policy;
}

TEST(environment_rows, a_root_of_which_nothing_travels_is_refused)
{
    const haul_policy_row row = { .path = "", .action = HAUL_NONE };
    haul_type *policy;
    start();
    policy = policy_of(&row, 1);
    CHECK_STATUS(haul_environment_enter(env, &P[0], policy, 1, NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "nothing of the root travels");
    CHECK_EQ(haul_environment_presence(env, &P[0], sizeof P[0]), HAUL_ABSENT);
    haul_type_free(&policy);
    finish();
}

TEST(environment_rows, selective_member)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_NONE },
                                     { HAUL_MEMBER(part, value), .action = HAUL_COPYIN } };
    haul_type *policy;
    look l = { NULL, { NULL, NULL, NULL, 0, 0 }, 0 };
    start();
    policy = policy_of(rows, 2);
    put(&P[0], policy);
    l.at = (part *)(void *)((char *)THERE(&P[0].value) - offsetof(part, value));
    CHECK_STATUS(haul_host_launch(device, look_there, &l), HAUL_OK);
    CHECK_EQ(l.seen.value, 100);
    CHECK_EQ(l.seen.count, 0);
    CHECK_PTR(l.seen.data, NULL);
    CHECK_EQ(info().bytes, sizeof P[0].value);
    haul_type_free(&policy);
    finish();
}

TEST(environment_rows, per_member_direction)
{
    const haul_policy_row rows[] = { { HAUL_MEMBER(part, value), .action = HAUL_COPYIN },
                                     { .path = "data", .action = HAUL_COPYOUT } };
    haul_type *policy;
    look there_now;
    start();
    policy = policy_of(rows, 2);
    put(&P[1], policy);
    there_now = seen(&P[1]);
    CHECK_EQ(there_now.seen.value, 101);
    CHECK_EQ(there_now.first, 0);
    change_there(&P[1]);
    leave_back(&P[1]);
    CHECK_EQ(P[1].value, 101);
    CHECK_EQ(host.arrays[1][0], 1000);
    haul_type_free(&policy);
    finish();
}

/* ---- Pointers, attached and detached. */

TEST(environment_rows, attach_top_down)
{
    const haul_policy_row row = { .path = "b", .action = HAUL_SHALLOW };
    haul_type *alone;
    start();
    alone = policy_of(&row, 1);
    P[0].b = &P[1];
    put(&P[0], alone);
    CHECK_PTR(seen(&P[0]).seen.b, NULL);
    enter(&P[1]);
    CHECK_STATUS(haul_environment_attach(env, &P[0].b), HAUL_OK);
    CHECK_PTR(seen(&P[0]).seen.b, there(&P[1]));
    haul_type_free(&alone);
    finish();
}

TEST(environment_rows, attach_bottom_up)
{
    start();
    enter(&P[2]);
    P[1].a = &P[2];
    enter(&P[1]);
    P[0].a = &P[1];
    enter(&P[0]);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
    CHECK_PTR(seen(&P[1]).seen.a, there(&P[2]));
    CHECK_EQ(info().ranges, 6);
    finish();
}

TEST(environment_rows, detach)
{
    start();
    enter(&P[0]);
    enter(&P[1]);
    P[0].a = &P[1];
    CHECK_STATUS(haul_environment_attach(env, &P[0].a), HAUL_OK);
    CHECK_STATUS(haul_environment_attach(env, &P[0].a), HAUL_OK);
    CHECK_STATUS(haul_environment_detach(env, &P[0].a), HAUL_OK);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
    CHECK_STATUS(haul_environment_detach(env, &P[0].a), HAUL_OK);
    CHECK_PTR(seen(&P[0]).seen.a, NULL);
    CHECK_STATUS(haul_environment_detach(env, &P[0].a), HAUL_ERROR_ARGUMENT);
    CHECK_PTR(P[0].a, &P[1]);
    finish();
}

TEST(environment_rows, automatic_aliases_of_the_same_and_of_a_contained_range)
{
    look first, second;
    start();
    P[0].a = &P[1];
    P[1].data = host.arrays[0]; /* the same */
    P[0].b = &P[2];
    P[2].data = host.arrays[0] + 1; /* within it */
    P[2].count = LENGTH - 1;
    enter(&P[0]);
    first = seen(&P[0]);
    second = seen(&P[2]);
    CHECK_PTR(seen(&P[1]).seen.data, first.seen.data);
    CHECK_PTR(second.seen.data, first.seen.data + 1);
    CHECK_EQ(info().ranges, 4);
    CHECK_EQ(info().bytes, 3 * sizeof(part) + sizeof host.arrays[0]);
    finish();
}

TEST(environment_rows, interior_pointers)
{
    start();
    enter(&P[0]);
    P[1].data = host.arrays[0] + 2;
    P[1].count = 1;
    enter(&P[1]);
    CHECK_PTR(seen(&P[1]).seen.data, seen(&P[0]).seen.data + 2);
    CHECK_PTR(THERE(&P[0].value), &there(&P[0])->value);
    finish();
}

TEST(environment_rows, one_past_end_pointers)
{
    start();
    enter(&P[0]);
    P[1].data = host.arrays[0] + LENGTH;
    P[1].count = 0;
    enter(&P[1]);
    CHECK_PTR(seen(&P[1]).seen.data, seen(&P[0]).seen.data + LENGTH);
    CHECK_PTR(THERE(host.arrays[0] + LENGTH), seen(&P[0]).seen.data + LENGTH);
    finish();
}

TEST(environment_rows, cycles)
{
    start();
    chain(4);
    P[3].a = &P[0];
    P[2].b = &P[2];
    enter(&P[0]);
    CHECK_PTR(seen(&P[3]).seen.a, there(&P[0]));
    CHECK_PTR(seen(&P[2]).seen.b, there(&P[2]));
    CHECK_EQ(info().ranges, 8);
    leave_back(&P[0]);
    CHECK_EQ(info().ranges, 0);
    finish();
}

typedef struct tree {
    struct tree *kids; /* count */
    int64_t count, value;
} tree;

static haul_type *tree_type;
static const haul_field tree_fields[] = {
    HAUL_OBJECTS(tree, kids, &tree_type, HAUL_COUNT(tree, count)),
};

static void add_to_tree(void *argument)
{
    tree *t = argument;
    int64_t i;
    t->value++;
    for (i = 0; i < t->count; i++)
        add_to_tree(&t->kids[i]);
}

TEST(environment_rows, recursive_types)
{
    tree leaves[2] = { { NULL, 0, 30 }, { NULL, 0, 40 } }, middle = { leaves, 2, 20 },
         top = { &middle, 1, 10 };
    start();
    tree_type = TYPE_NEW(tree, tree_fields);
    CHECK_STATUS(haul_type_commit(tree_type), HAUL_OK);
    put(&top, tree_type);
    run_there(add_to_tree, &top);
    take(&top);
    CHECK_EQ(top.value + middle.value + leaves[0].value + leaves[1].value, 104);
    haul_type_free(&tree_type);
    finish();
}

/* ---- The table. */

TEST(environment_rows, ref_counted_present_table_with_interior_look_up)
{
    haul_present_range range;
    const haul_enter_options structured = { .structured = 1 };
    start();
    enter(&P[0]);
    enter(&P[0]);
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 1, &structured, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_find(env, (char *)&P[0].value + 3, &range), HAUL_OK);
    CHECK_PTR(range.host, &P[0]);
    CHECK_EQ(range.bytes, sizeof P[0]);
    CHECK_EQ(range.dynamic, 2);
    CHECK_EQ(range.structured, 1);
    CHECK_PTR(THERE((char *)&P[0].value + 3), (char *)range.device + offsetof(part, value) + 3);
    finish();
}

TEST(environment_rows, partially_overlapping_ranges_are_one_or_refused_with_both_names)
{
    start();
    P[0].a = &P[1];
    P[0].data = host.arrays[0];
    P[0].count = LENGTH + 1;
    P[1].data = host.arrays[0] + LENGTH; /* the first one's last is its first */
    enter(&P[0]);
    CHECK_PTR(seen(&P[1]).seen.data, seen(&P[0]).seen.data + LENGTH);
    P[2].data = host.arrays[1] + 1; /* reaches out of what is present */
    CHECK_STATUS(haul_environment_enter(env, &P[2], part_type, 1, NULL, NULL), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(context)->path, "data");
    CHECK_HAS(haul_context_error(context)->other_path, "data");
    finish();
}

TEST(environment_rows, pointer_table_kept_over_update)
{
    part *a;
    start();
    P[0].a = &P[1];
    enter(&P[0]);
    a = seen(&P[0]).seen.a;
    P[0].a = &P[9]; /* absent */
    P[0].value = 5;
    to_device(&P[0], sizeof P[0]);
    CHECK_PTR(seen(&P[0]).seen.a, a);
    CHECK_EQ(seen(&P[0]).seen.value, 5);
    to_host(&P[0], sizeof P[0]);
    CHECK_PTR(P[0].a, &P[9]);
    finish();
}

static void reverse_there(void *argument)
{
    part *first = argument, *second = first->a;
    first->a = NULL;
    second->a = first;
    second->data = first->data + 1;
    second->count = 1;
}

TEST(environment_rows, pointers_changed_by_the_device_are_translated)
{
    haul_shipment *shipment;
    const haul_ship_options may = { .let_counts_change = 1 };
    start();
    P[0].a = &P[1];
    CHECK_STATUS(haul_ship(device, &P[0], part_type, 1, &may, &shipment), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, reverse_there, haul_device_pointer(shipment, &P[0])),
                 HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(P[0].a, NULL);
    CHECK_PTR(P[1].a, &P[0]);
    CHECK_PTR(P[1].data, host.arrays[0] + 1);
    haul_shipment_free(&shipment);
    finish();
}

TEST(environment_rows, device_to_host_reverse_look_up)
{
    start();
    P[0].a = &P[1];
    enter(&P[0]);
    CHECK_PTR(haul_environment_host_pointer(env, &there(&P[1])->value), &P[1].value);
    CHECK_PTR(haul_environment_host_pointer(env, seen(&P[0]).seen.data + 2), host.arrays[0] + 2);
    CHECK_PTR(haul_environment_host_pointer(env, &P[0]), NULL);
    finish();
}

/* ---- How it crosses. */

TEST(environment_rows, async)
{
    fault_plan plan = { .deferred = 1 };
    const haul_async on = { fault_stream(1), NULL };
    haul_device *opened;
    CHECK_STATUS(fault_open(&plan, NULL, &opened), HAUL_OK);
    start_with(opened);
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 1, NULL, &on), HAUL_OK);
    P[0].value = 7;
    CHECK_STATUS(haul_environment_update_host(env, &P[0].value, sizeof P[0].value, &on), HAUL_OK);
    CHECK_EQ(P[0].value, 7); /* not written yet */
    CHECK_STATUS(haul_environment_wait(env), HAUL_OK);
    CHECK_EQ(P[0].value, 100);
    haul_environment_free(&env);
    haul_type_free(&part_type);
    haul_device_close(&device);
    fault_check_clean(&plan);
}

/* Two streams have a member each by turns, and nobody waits. */
TEST(environment_rows, async_on_two_streams_by_turns)
{
    fault_plan plan = { .deferred = 1 };
    haul_device *opened;
    int i, k;
    CHECK_STATUS(fault_open(&plan, NULL, &opened), HAUL_OK);
    start_with(opened);
    P[0].a = &P[1];
    enter(&P[0]);
    for (i = 1; i <= 99; i++)
        for (k = 0; k < 2; k++) {
            const haul_async on = { fault_stream((unsigned)(i + k) % 2), NULL };
            host.arrays[k][0] = i;
            CHECK_STATUS(haul_environment_update_device(env, host.arrays[k], sizeof(int32_t), &on),
                         HAUL_OK);
            CHECK_STATUS(haul_environment_update_host(env, host.arrays[k], sizeof(int32_t), &on),
                         HAUL_OK);
        }
    CHECK_STATUS(haul_environment_wait(env), HAUL_OK);
    for (k = 0; k < 2; k++)
        CHECK_EQ(host.arrays[k][0], 99);
    for (k = 0; k < 2; k++)
        CHECK_EQ(seen(&P[k]).first, 99);
    haul_environment_free(&env);
    haul_type_free(&part_type);
    haul_device_close(&device);
    fault_check_clean(&plan);
}

TEST(environment_rows, device_memory_and_pinned_staging_are_used_again)
{
    haul_environment_info first, last;
    int i;
    start();
    chain(PARTS);
    enter(&P[0]);
    first = info();
    CHECK(first.pinned_bytes > 0);
    leave(&P[0]);
    for (i = 0; i < 100; i++) {
        enter(&P[0]);
        leave_back(&P[0]);
    }
    last = info();
    CHECK_EQ(last.pinned_bytes, first.pinned_bytes);
    CHECK_EQ(last.allocations, 101);
    CHECK_EQ(last.device_bytes, 0);
    finish();
}

TEST(environment_rows, multi_device)
{
    test_device options = { .settings = &ordinary_launches };
    haul_device *other;
    haul_environment *second;
    start();
    options.context = context;
    CHECK_STATUS(test_open(haul_host_device(), &options, &other), HAUL_OK);
    CHECK_STATUS(haul_environment_create(other, &second), HAUL_OK);
    enter(&P[0]);
    CHECK_PTR(haul_environment_device_pointer(second, &P[0]), NULL);
    CHECK_STATUS(haul_environment_enter(second, &P[0], part_type, 1, NULL, NULL), HAUL_OK);
    CHECK(haul_environment_device_pointer(second, &P[0]) != there(&P[0]));
    change_there(&P[0]);
    CHECK_STATUS(haul_environment_update_host(second, &P[0], 0, NULL), HAUL_OK);
    CHECK_EQ(P[0].value, 100);
    to_host(&P[0], 0);
    CHECK_EQ(P[0].value, 1100);
    haul_environment_free(&second);
    haul_device_close(&other);
    finish();
}

TEST(environment_rows, one_transfer_per_graph)
{
    haul_host_counters before, after;
    start();
    chain(PARTS);
    P[PARTS - 1].b = &P[0];
    CHECK_STATUS(haul_host_get_counters(device, &before), HAUL_OK);
    enter(&P[0]);
    CHECK_STATUS(haul_host_get_counters(device, &after), HAUL_OK);
    CHECK_EQ(info().transfers_to, 1);
    CHECK_EQ(after.copies_to, before.copies_to + 1);
    CHECK_EQ(after.allocations, before.allocations + 1);
    finish();
}

/* ---- Types. */

typedef struct animal {
    int64_t kind;
    void *own; /* by the kind */
} animal;

typedef struct cat {
    int32_t lives[9];
} cat;

typedef struct dog {
    part *owner;
} dog;

static haul_type *cat_type, *dog_type, *animal_type;
static const haul_field cat_fields[] = { HAUL_RAW(cat, lives) };
static const haul_field dog_fields[] = { HAUL_OBJECT(dog, owner, &part_type) };
static const haul_case animal_cases[] = { { 1, &cat_type, 0 }, { 2, &dog_type, 0 } };
static const haul_field animal_fields[] = {
    HAUL_ADDRESS(animal, own, .type_switch = HAUL_SWITCH(animal, kind, animal_cases)),
};

static void speak_there(void *argument)
{
    animal *pair = argument;
    ((cat *)pair[0].own)->lives[8]--;
    ((dog *)pair[1].own)->owner->value++;
}

TEST(environment_rows, polymorphism)
{
    cat c = { { 9, 9, 9, 9, 9, 9, 9, 9, 9 } };
    dog d = { NULL };
    animal pair[2] = { { 1, &c }, { 2, &d } };
    start();
    d.owner = &P[0];
    cat_type = TYPE_NEW(cat, cat_fields);
    dog_type = TYPE_NEW(dog, dog_fields);
    animal_type = TYPE_NEW(animal, animal_fields);
    CHECK_STATUS(haul_type_commit(animal_type), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, pair, animal_type, 2, NULL, NULL), HAUL_OK);
    run_there(speak_there, pair);
    take(pair);
    CHECK_EQ(c.lives[8], 8);
    CHECK_EQ(P[0].value, 101);
    haul_type_free(&animal_type);
    haul_type_free(&dog_type);
    haul_type_free(&cat_type);
    finish();
}

typedef struct either {
    int64_t is_part;
    union {
        part *one;
        int64_t number;
    } u;
} either;

static const haul_field either_fields[] = {
    HAUL_OBJECT(either, u.one, &part_type, .when = HAUL_EQUALS(either, is_part, 1)),
    HAUL_RAW(either, u.number, .when = HAUL_EQUALS(either, is_part, 0)),
};

static void look_at_both(void *argument)
{
    either *two = argument;
    two[0].u.one->value += two[1].u.number;
}

TEST(environment_rows, tagged_unions)
{
    haul_type *either_type;
    either two[2];
    start();
    memset(two, 0, sizeof two);
    two[0].is_part = 1;
    two[0].u.one = &P[0];
    two[1].u.number = (int64_t)(intptr_t)&P[5]; /* no pointer: stays as it is */
    either_type = TYPE_NEW(either, either_fields);
    CHECK_STATUS(haul_type_commit(either_type), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, two, either_type, 2, NULL, NULL), HAUL_OK);
    CHECK_PTR(there(&P[5]), NULL);
    run_there(look_at_both, two);
    take(two);
    CHECK_EQ(P[0].value, 100 + (int64_t)(intptr_t)&P[5]);
    haul_type_free(&either_type);
    finish();
}

/* A column of a matrix, as a descriptor has it. */
typedef struct dope {
    int32_t *at;
    int64_t extent, stride; /* of elements */
} dope;

static const haul_dimension dope_dimensions[] = { HAUL_DIMENSION(HAUL_COUNT(dope, extent),
                                                                 HAUL_COUNT(dope, stride)) };
static const haul_field dope_fields[] = { HAUL_SECTION(dope, at, dope_dimensions) };

static void add_to_column(void *argument)
{
    dope *d = argument;
    int64_t i;
    for (i = 0; i < d->extent; i++)
        d->at[i * d->stride] += 1;
}

TEST(environment_rows, dope_vectors)
{
    haul_type *dope_type;
    dope column, none;
    start();
    column.at = &host.arrays[0][1];
    column.extent = 4;
    column.stride = LENGTH;
    memset(&none, 0, sizeof none);
    dope_type = TYPE_NEW(dope, dope_fields);
    CHECK_STATUS(haul_type_commit(dope_type), HAUL_OK);
    put(&column, dope_type);
    put(&none, dope_type);
    CHECK_PTR(THERE(&host.arrays[4][1]), NULL);
    run_there(add_to_column, &column);
    run_there(add_to_column, &none);
    take(&column);
    CHECK_EQ(host.arrays[3][1], 32);
    CHECK_EQ(host.arrays[3][2], 32);
    CHECK_EQ(host.arrays[4][1], 41);
    haul_type_free(&dope_type);
    finish();
}

/* ---- Policies, updates, plans. */

/* Enters a dog under a policy, changes its owner there, and brings back what the policy lets. */
static void change_owner(const haul_policy_row *rows, size_t count, const char *name)
{
    haul_type *policy;
    dog d = { &P[0] };
    start();
    dog_type = TYPE_NEW(dog, dog_fields);
    CHECK_STATUS(haul_type_commit(dog_type), HAUL_OK);
    CHECK_STATUS(haul_policy_create(dog_type, "visit", rows, count, &policy), HAUL_OK);
    CHECK(strcmp(haul_type_name(policy), name) == 0);
    put(&d, policy);
    change_there(&P[0]);
    take(&d);
    haul_type_free(&policy);
    haul_type_free(&dog_type);
    finish();
}

TEST(environment_rows, named_and_implicit_policies)
{
    const haul_policy_row of_each_part = { .type = &part_type,
                                           .path = "data",
                                           .action = HAUL_COPYIN };
    const haul_policy_row both[] = { of_each_part, { .path = "owner.data", .action = HAUL_COPY } };
    change_owner(&of_each_part, 1, "dog:visit");
    CHECK_EQ(host.arrays[0][0], 0);
    CHECK_EQ(P[0].value, 1100);
    change_owner(both, 2, "dog:visit"); /* a path from the root counts before it */
    CHECK_EQ(host.arrays[0][0], 1000);
}

TEST(environment_rows, update_both_directions_of_a_sub_graph)
{
    const haul_update_part parts[] = {
        { .host = &P[1].value, .bytes = sizeof P[1].value },
        { .host = host.arrays[1], .bytes = sizeof(int32_t), .count = 2, .stride = 8 },
        { .host = &P[1].value, .bytes = sizeof P[1].value }, /* once more */
    };
    start();
    chain(3);
    enter(&P[0]);
    P[0].value = P[1].value = P[2].value = 7;
    host.arrays[1][0] = host.arrays[1][1] = host.arrays[1][2] = 8;
    CHECK_STATUS(haul_environment_update(env, parts, 3, HAUL_TO_DEVICE, NULL), HAUL_OK);
    CHECK_EQ(seen(&P[0]).seen.value, 100);
    CHECK_EQ(seen(&P[1]).seen.value, 7);
    CHECK_EQ(seen(&P[1]).first, 8);
    run_there(add_to_chain, &P[0]);
    CHECK_STATUS(haul_environment_update(env, parts, 3, HAUL_TO_HOST, NULL), HAUL_OK);
    CHECK_EQ(P[0].value, 7);
    CHECK_EQ(P[1].value, 1007);
    CHECK_EQ(host.arrays[1][1], 8);
    CHECK_EQ(host.arrays[1][2], 1008);
    CHECK_EQ(info().transfers_to, 2);
    CHECK_EQ(info().transfers_from, 1);
    finish();
}

TEST(environment_rows, plan_reuse)
{
    int i;
    start();
    chain(4);
    enter(&P[0]);
    for (i = 0; i < 4; i++) {
        P[i].a = P[i].b = (part *)16; /* a walk would fault, or refuse them */
        P[i].value = i;
    }
    to_device(&P[0], 0);
    CHECK_EQ(seen(&P[3]).seen.value, 3);
    CHECK_PTR(seen(&P[2]).seen.a, there(&P[3]));
    for (i = 0; i < 4; i++)
        P[i].a = P[i].b = NULL;
    finish();
}

TEST(environment_rows, error_is_a_return_code)
{
    start();
    P[0].count = -1;
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 1, NULL, NULL), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(context)->path, "data");
    CHECK_STATUS(haul_environment_exit(env, &P[0], NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_environment_update_device(env, &P[0], 8, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_EQ(info().groups, 0);
    P[0].count = LENGTH;
    enter(&P[0]); /* and the program goes on */
    finish();
}

TEST(environment_rows, dry_run_and_size_query)
{
    haul_root root;
    haul_plan *plan;
    haul_plan_info size;
    start();
    chain(6);
    root.address = &P[0];
    root.type = part_type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    haul_plan_get_info(plan, &size);
    CHECK_EQ(info().allocations, 0);
    CHECK_EQ(size.graph_bytes, 6 * (sizeof(part) + sizeof host.arrays[0]));
    enter(&P[0]);
    CHECK_EQ(info().bytes, size.graph_bytes);
    CHECK(info().device_bytes >= size.arena_bytes);
    haul_plan_free(&plan);
    finish();
}
