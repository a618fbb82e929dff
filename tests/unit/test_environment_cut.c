/* Exits of roots whose groups others hold in part: what nobody else leads to leaves.
 */
#include <stdlib.h>

#include "environment/environment.h"
#include "environment_graphs.h"

#define P (host.parts)

/* P[0] and P[5] both lead to P[3], which came with P[0]. */
static void start_shared(void)
{
    start();
    P[0].a = &P[1];
    P[1].a = &P[3];
    P[3].a = &P[4];
    P[5].a = &P[3];
    enter(&P[0]);
    enter(&P[5]);
}

static haul_presence presence(const void *at)
{
    return haul_environment_presence(env, at, 1);
}

TEST(environment_cut, what_its_owner_alone_holds_comes_back_and_is_absent)
{
    haul_environment_info before;
    void *shared;
    start_shared();
    shared = there(&P[3]);
    before = info();
    change_there(&P[0]);
    change_there(&P[1]);
    change_there(&P[3]);
    leave_back(&P[0]);
    CHECK_EQ(P[0].value, 1100);
    CHECK_EQ(host.arrays[0][0], 1000);
    CHECK_EQ(P[1].value, 1101);
    CHECK_EQ(P[3].value, 103);
    CHECK_EQ(host.arrays[3][0], 30);
    CHECK_EQ(presence(&P[0]), HAUL_ABSENT);
    CHECK_EQ(presence(&P[1]), HAUL_ABSENT);
    CHECK_EQ(presence(host.arrays[1]), HAUL_ABSENT);
    CHECK_PTR(there(&P[3]), shared);
    CHECK_PTR(seen(&P[5]).seen.a, shared);
    CHECK_PTR(seen(&P[3]).seen.a, there(&P[4]));
    CHECK_EQ(info().groups, 2);
    CHECK_EQ(info().ranges, before.ranges - 4);
    CHECK_EQ(info().bytes, before.bytes - 2 * (sizeof P[0] + sizeof host.arrays[0]));
    CHECK_EQ(info().device_bytes, before.device_bytes); /* one allocation */
    CHECK_EQ(info().kept, 1);
    leave_back(&P[5]);
    CHECK_EQ(P[3].value, 1103);
    CHECK_EQ(P[0].value, 1100);
    CHECK_EQ(info().groups, 0);
    CHECK_EQ(info().device_bytes, 0);
    finish();
}

TEST(environment_cut, the_owner_that_enters_again_is_sent_again)
{
    start_shared();
    leave(&P[0]);
    P[0].value = 7;
    P[1].value = 8;
    enter(&P[0]);
    CHECK_EQ(seen(&P[0]).seen.value, 7);
    CHECK_EQ(seen(&P[1]).seen.value, 8);
    CHECK_PTR(seen(&P[1]).seen.a, there(&P[3]));
    leave(&P[5]);
    CHECK_EQ(presence(&P[3]), HAUL_PRESENT);
    leave(&P[0]);
    CHECK_EQ(info().groups, 0);
    finish();
}

TEST(environment_cut, a_root_in_the_middle_holds_what_comes_behind_it)
{
    start_shared();
    enter(&P[1]);
    leave(&P[0]);
    CHECK_EQ(presence(&P[0]), HAUL_ABSENT);
    CHECK_EQ(presence(&P[1]), HAUL_PRESENT);
    CHECK_EQ(presence(&P[3]), HAUL_PRESENT);
    leave(&P[1]);
    CHECK_EQ(presence(&P[1]), HAUL_ABSENT);
    CHECK_EQ(presence(&P[3]), HAUL_PRESENT);
    leave(&P[5]);
    CHECK_EQ(info().groups, 0);
    finish();
}

TEST(environment_cut, nothing_leaves_while_the_first_root_is_held)
{
    start_shared();
    enter(&P[1]);
    leave(&P[1]);
    leave(&P[5]);
    CHECK_EQ(presence(&P[0]), HAUL_PRESENT);
    CHECK_EQ(presence(&P[1]), HAUL_PRESENT);
    CHECK_EQ(presence(&P[3]), HAUL_PRESENT);
    CHECK_EQ(presence(&P[5]), HAUL_ABSENT);
    leave(&P[0]);
    CHECK_EQ(info().groups, 0);
    finish();
}

TEST(environment_cut, a_graph_that_only_the_part_leads_into_leaves_with_it)
{
    start();
    P[0].a = &P[3];
    P[0].b = &P[7];
    P[3].b = &P[8];
    P[5].a = &P[3];
    enter(&P[7]);
    enter(&P[8]);
    enter(&P[0]);
    enter(&P[5]);
    leave(&P[7]);
    leave(&P[8]);
    CHECK_EQ(info().groups, 4);
    change_there(&P[7]);
    leave_back(&P[0]);
    CHECK_EQ(P[7].value, 1107);
    CHECK_EQ(presence(&P[7]), HAUL_ABSENT);
    CHECK_EQ(presence(&P[8]), HAUL_PRESENT);
    CHECK_EQ(info().groups, 3);
    leave(&P[5]);
    CHECK_EQ(info().groups, 0);
    finish();
}

TEST(environment_cut, pointers_attached_to_the_part_are_detached)
{
    start();
    enter(&P[9]);
    P[9].a = &P[0];
    P[0].b = &P[9];
    P[0].a = &P[3];
    P[5].a = &P[3];
    P[5].b = NULL;
    enter(&P[0]);
    enter(&P[5]);
    CHECK_PTR(seen(&P[9]).seen.a, there(&P[0]));
    P[5].b = &P[0];
    CHECK_STATUS(haul_environment_attach(env, &P[5].b), HAUL_OK);
    P[0].b = &P[5];
    CHECK_STATUS(haul_environment_attach(env, &P[0].b), HAUL_OK); /* stands in what leaves */
    leave(&P[0]);
    CHECK_PTR(seen(&P[9]).seen.a, NULL);
    CHECK_PTR(seen(&P[5]).seen.b, NULL);
    CHECK_PTR(seen(&P[5]).seen.a, there(&P[3]));
    CHECK_STATUS(haul_environment_detach(env, &P[5].b), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_environment_detach(env, &P[0].b), HAUL_ERROR_ARGUMENT);
    leave(&P[5]);
    leave(&P[9]);
    finish();
}

TEST(environment_cut, updates_of_the_rest_touch_nothing_that_has_left)
{
    haul_update_part member = { .type = part_type, .offset = offsetof(part, value), .bytes = 8 };
    haul_environment_info before;
    start_shared();
    member.type = part_type;
    CHECK_STATUS(haul_environment_update(env, &member, 1, HAUL_TO_DEVICE, NULL), HAUL_OK);
    leave(&P[0]);
    P[0].value = P[1].value = -1;
    change_there(&P[3]);
    before = info();
    CHECK_STATUS(haul_environment_update(env, &member, 1, HAUL_TO_HOST, NULL), HAUL_OK);
    CHECK_EQ(info().bytes_from, before.bytes_from + 3 * 8); /* P[3], P[4], P[5] */
    CHECK_EQ(P[3].value, 1103);
    CHECK_STATUS(haul_environment_update_host(env, &P[4], 0, NULL), HAUL_OK);
    CHECK_EQ(host.arrays[3][0], 1030);
    CHECK_EQ(P[0].value, -1);
    CHECK_EQ(P[1].value, -1);
    CHECK_STATUS(haul_environment_update_host(env, &P[1], 0, NULL), HAUL_ERROR_ARGUMENT);
    leave(&P[5]);
    finish();
}

TEST(environment_cut, a_sync_knows_what_the_rest_had_before)
{
    haul_environment_info before;
    start_shared();
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    change_there(&P[3]); /* the host has not changed it, so it stays */
    leave(&P[0]);
    before = info();
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    CHECK_EQ(info().bytes_to, before.bytes_to);
    CHECK_EQ(seen(&P[3]).seen.value, 1103);
    P[0].value = 5;
    P[4].value = 6;
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    CHECK_EQ(info().bytes_to, before.bytes_to + 2 * (16 + sizeof host.arrays[0]));
    CHECK_EQ(seen(&P[4]).seen.value, 6);
    leave(&P[5]);
    finish();
}

TEST(environment_cut, a_sync_sends_what_the_host_had_changed_before)
{
    start_shared();
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    P[4].value = 6;
    leave(&P[0]);
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    CHECK_EQ(seen(&P[4]).seen.value, 6);
    leave(&P[5]);
    finish();
}

TEST(environment_cut, a_policy_says_what_of_the_part_comes_back)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_NONE },
                                     { HAUL_MEMBER(part, value), .action = HAUL_COPYOUT } };
    haul_exit_options how = { .copyout = 1 };
    haul_type *policy;
    start_shared();
    CHECK_STATUS(haul_policy_create(part_type, "value", rows, 2, &policy), HAUL_OK);
    how.policy = policy;
    change_there(&P[0]);
    change_there(&P[1]);
    CHECK_STATUS(haul_environment_exit(env, &P[0], &how, NULL), HAUL_OK);
    CHECK_EQ(P[0].value, 1100);
    CHECK_EQ(host.arrays[0][0], 0);
    CHECK_EQ(P[1].value, 101);
    CHECK_EQ(presence(&P[1]), HAUL_ABSENT);
    CHECK_EQ(presence(&P[3]), HAUL_PRESENT);
    leave(&P[5]);
    haul_type_free(&policy);
    finish();
}

/* Words that were left out have a place only as long as their objects do. */
TEST(environment_cut, words_left_out_of_what_has_left_have_no_place)
{
    const haul_policy_row row = { .type = &part_type, .path = "a", .action = HAUL_SHALLOW };
    haul_type *shallow;
    start();
    CHECK_STATUS(haul_policy_create(part_type, "shallow", &row, 1, &shallow), HAUL_OK);
    P[0].b = &P[3];
    P[5].b = &P[3];
    CHECK_STATUS(haul_environment_enter(env, &P[0], shallow, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, &P[5], shallow, 1, NULL, NULL), HAUL_OK);
    leave(&P[0]);
    P[0].a = P[3].a = &P[5];
    CHECK_STATUS(haul_environment_attach(env, &P[0].a), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_environment_attach(env, &P[3].a), HAUL_OK);
    leave(&P[5]);
    haul_type_free(&shallow);
    finish();
}

typedef struct inner {
    intptr_t value; /* a word */
} inner;

/* Of it, `room` is left out, and lies behind all that travels. */
typedef struct outer {
    struct outer *next;
    struct inner *inside; /* a part of `room` */
    uintptr_t room[8];
} outer;

static haul_type *outer_type, *inner_type;
static const haul_field outer_fields[] = {
    HAUL_OBJECT(outer, next, &outer_type),
    HAUL_OBJECT(outer, inside, &inner_type),
};

/* An object may lie in a hole of another one. The words behind it are a hole all the same. */
TEST(environment_cut, words_behind_an_object_in_a_hole_have_a_place)
{
    static const haul_struct plain = HAUL_PLAIN(inner, NULL);
    const haul_policy_row row = { HAUL_MEMBER(outer, room), .type = &outer_type,
                                  .action = HAUL_NONE };
    haul_type *policy;
    outer all[4];
    size_t i;
    memset(all, 0, sizeof all);
    start();
    inner_type = type_new(&plain);
    outer_type = TYPE_NEW(outer, outer_fields);
    CHECK_STATUS(haul_type_commit(outer_type), HAUL_OK);
    CHECK_STATUS(haul_policy_create(outer_type, "roomy", &row, 1, &policy), HAUL_OK);
    /* all[0] and all[2] lead to all[1], which has an inner one, and all[3] leads nowhere */
    all[0].next = all[2].next = &all[1];
    all[1].inside = (inner *)(void *)&all[1].room[2];
    CHECK_STATUS(haul_environment_enter(env, &all[0], policy, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, &all[2], policy, 1, NULL, NULL), HAUL_OK);
    CHECK_EQ(presence(&all[1].room[2]), HAUL_PRESENT);
    CHECK_STATUS(haul_environment_exit(env, &all[0], NULL, NULL), HAUL_OK);
    CHECK_EQ(presence(&all[0]), HAUL_ABSENT);
    for (i = 0; i < 8; i++) {
        all[0].room[i] = all[1].room[i] = (uintptr_t)&all[2];
        CHECK_STATUS(haul_environment_attach(env, &all[0].room[i]), HAUL_ERROR_ARGUMENT);
        if (i == 2)
            continue; /* data of the inner object */
        CHECK_STATUS(haul_environment_attach(env, &all[1].room[i]), HAUL_OK);
        CHECK_STATUS(haul_environment_detach(env, &all[1].room[i]), HAUL_OK);
    }
    CHECK_STATUS(haul_environment_attach(env, &all[1].room[7]), HAUL_OK);
    CHECK_STATUS(haul_environment_exit(env, &all[2], NULL, NULL), HAUL_OK);
    CHECK_EQ(info().groups, 0);
    haul_type_free(&policy);
    haul_type_free(&outer_type);
    haul_type_free(&inner_type);
    finish();
}

typedef struct tagged {
    struct tagged *next; /* its lowest bit is a mark */
    int64_t value;
} tagged;

static haul_type *tagged_type;
static const haul_field tagged_fields[] = {
    HAUL_OBJECT(tagged, next, &tagged_type, .tag_bits = 1),
};

TEST(environment_cut, tagged_pointers_hold_what_they_lead_to)
{
    static tagged list[4];
    int i;
    start();
    tagged_type = TYPE_NEW(tagged, tagged_fields);
    CHECK_STATUS(haul_type_commit(tagged_type), HAUL_OK);
    for (i = 0; i < 3; i++)
        list[i].next = (tagged *)(void *)((uintptr_t)&list[i + 1] | 1);
    CHECK_STATUS(haul_environment_enter(env, list, tagged_type, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, list + 1, tagged_type, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_exit(env, list, NULL, NULL), HAUL_OK);
    CHECK_EQ(presence(&list[0]), HAUL_ABSENT);
    for (i = 1; i < 4; i++)
        CHECK_EQ(presence(&list[i]), HAUL_PRESENT);
    CHECK_STATUS(haul_environment_exit(env, list + 1, NULL, NULL), HAUL_OK);
    CHECK_EQ(info().groups, 0);
    haul_type_free(&tagged_type);
    finish();
}

static size_t told;

static int count_bytes(void *user, const haul_shipped_range *range)
{
    (void)user;
    told += range->bytes;
    return 0;
}

TEST(environment_cut, a_watcher_is_told_of_the_part)
{
    start_shared();
    CHECK_STATUS(haul_environment_watch(env, count_bytes, count_bytes, NULL), HAUL_OK);
    told = 0;
    leave(&P[0]);
    CHECK_EQ(told, 2 * (sizeof P[0] + sizeof host.arrays[0]));
    told = 0;
    leave(&P[5]);
    CHECK_EQ(told, 3 * (sizeof P[0] + sizeof host.arrays[0]));
    finish();
}

/* S of another graph leads to y2 by an attached pointer, and leaves before it. */
TEST(environment_cut, an_attached_pointer_may_leave_before_its_target)
{
    start();
    P[0].a = &P[3]; /* x and S */
    enter(&P[0]);
    P[3].b = &P[6];
    P[5].a = &P[6]; /* y1 and y2 */
    P[5].b = &P[3];
    P[6].data = host.arrays[9];
    enter(&P[5]);
    CHECK_PTR(seen(&P[3]).seen.b, there(&P[6]));
    enter(&P[6]);
    leave(&P[0]);
    CHECK_EQ(presence(&P[3]), HAUL_PRESENT);
    leave(&P[5]);
    CHECK_EQ(presence(&P[3]), HAUL_ABSENT);
    CHECK_EQ(presence(&P[6]), HAUL_PRESENT);
    leave(&P[6]);
    CHECK_EQ(info().groups, 0);
    finish();
}

/* The host may free what has left. */
TEST(environment_cut, no_error_walks_over_what_has_left)
{
    part *head;
    start();
    head = malloc(sizeof *head);
    CHECK(head != NULL);
    *head = P[0];
    head->a = &P[3];
    P[5].a = &P[3];
    enter(head);
    enter(&P[5]);
    leave(head);
    memset(head, 0xee, sizeof *head);
    free(head);
    CHECK_STATUS(haul_environment_exit(env, &P[3], NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->path, "part at ");
    leave(&P[5]);
    finish();
}

typedef struct holder {
    char *large;
    part *shared;
    size_t count;
} holder;

static haul_type *holder_type;
static const haul_field holder_fields[] = {
    HAUL_BYTES(holder, large, HAUL_COUNT(holder, count)),
    HAUL_OBJECT(holder, shared, &part_type),
};

TEST(environment_cut, a_tracked_sync_knows_that_large_arrays_have_left)
{
    holder h = { NULL, &P[3], (size_t)4 << 20 };
    start();
    h.large = calloc(1, h.count);
    CHECK(h.large != NULL);
    holder_type = TYPE_NEW(holder, holder_fields);
    CHECK_STATUS(haul_type_commit(holder_type), HAUL_OK);
    P[5].a = &P[3];
    if (haul_environment_track_writes(env, 1) == HAUL_OK) {
        CHECK_STATUS(haul_environment_enter(env, &h, holder_type, 1, NULL, NULL), HAUL_OK);
        enter(&P[5]);
        CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
        CHECK_EQ(env->tracked_ranges, 1);
        CHECK_STATUS(haul_environment_exit(env, &h, NULL, NULL), HAUL_OK);
        CHECK_EQ(env->tracked_ranges, 0);
        memset(h.large, 1, h.count);
        P[3].value = 8;
        CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
        CHECK_EQ(seen(&P[3]).seen.value, 8);
        CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
        leave(&P[5]);
        CHECK_EQ(env->tracked_ranges, 0);
    }
    free(h.large);
    haul_type_free(&holder_type);
    finish();
}

/* ---- Many holders. */

/* `count` parts lead to the last one, which came with the first; each is a root. All but the last
 * of them leave. Answers how many holders were looked through. */
static uint64_t leave_one_by_one(size_t count)
{
    part *many = calloc(count + 2, sizeof *many), *shared = &many[count];
    uint64_t seen;
    size_t i;
    CHECK(many != NULL);
    start();
    shared->a = &many[count + 1]; /* which stays, too */
    for (i = 0; i < count; i++) {
        many[i].a = shared;
        enter(&many[i]);
    }
    seen = env->holders_seen;
    for (i = 0; i + 1 < count; i++) {
        leave(&many[i]);
        CHECK_EQ(presence(&many[i]), HAUL_ABSENT);
        CHECK_EQ(presence(shared), HAUL_PRESENT);
        CHECK_EQ(presence(shared->a), HAUL_PRESENT);
    }
    seen = env->holders_seen - seen;
    leave(&many[i]);
    CHECK_EQ(presence(shared), HAUL_ABSENT);
    CHECK_EQ(info().groups, 0);
    finish();
    free(many);
    return seen;
}

TEST(environment_cut, many_sharers_leave_without_a_look_at_each_other)
{
    CHECK(leave_one_by_one(500) < 8 * 500);
    CHECK(leave_one_by_one(2000) < 8 * 2000);
}

/* Holders come and go between exits: roots in the rest, and groups that lead there. */
TEST(environment_cut, holders_that_come_later_hold_as_well)
{
    start_shared();
    P[6].a = P[7].a = &P[3];
    enter(&P[6]);
    leave(&P[0]); /* counts who holds P[3] */
    enter(&P[7]);
    enter(&P[4]); /* a root in the rest */
    leave(&P[5]);
    leave(&P[6]);
    CHECK_EQ(presence(&P[3]), HAUL_PRESENT);
    leave(&P[7]);
    CHECK_EQ(presence(&P[3]), HAUL_ABSENT);
    CHECK_EQ(presence(host.arrays[3]), HAUL_ABSENT);
    CHECK_EQ(presence(&P[4]), HAUL_PRESENT);
    P[8].a = &P[4];
    enter(&P[8]);
    leave(&P[4]);
    CHECK_EQ(presence(&P[4]), HAUL_PRESENT);
    leave(&P[8]);
    CHECK_EQ(presence(&P[4]), HAUL_ABSENT);
    CHECK_EQ(info().groups, 0);
    finish();
}

/* Of a group that leads into the rest of another, only a rest stays; then it holds less. */
TEST(environment_cut, a_rest_holds_what_it_leads_to_alone)
{
    start_shared();
    P[6].a = &P[7];
    P[7].a = &P[4];
    P[6].b = &P[3];
    P[8].a = &P[7];
    enter(&P[6]); /* P[6] and P[7] lead into the group of P[0] */
    enter(&P[8]);
    leave(&P[0]);
    leave(&P[5]);
    CHECK_EQ(presence(&P[3]), HAUL_PRESENT);
    leave(&P[6]); /* P[7] stays, and holds P[4] */
    CHECK_EQ(presence(&P[3]), HAUL_ABSENT);
    CHECK_EQ(presence(&P[7]), HAUL_PRESENT);
    CHECK_EQ(presence(&P[4]), HAUL_PRESENT);
    leave(&P[8]);
    CHECK_EQ(presence(&P[4]), HAUL_ABSENT);
    CHECK_EQ(info().groups, 0);
    finish();
}

/* ---- Faults. */

static haul_environment_info before_exit;

static void prepare(void *user, fault_plan *plan)
{
    haul_device *opened;
    (void)user;
    CHECK_STATUS(fault_open(plan, NULL, &opened), HAUL_OK);
    start_with(opened);
    enter(&P[9]);
    enter(&P[7]);
    P[9].a = &P[0];
    P[0].b = &P[9];
    P[0].a = &P[3];
    P[3].a = &P[4];
    P[3].b = &P[7];
    P[5].a = &P[3];
    enter(&P[0]);
    enter(&P[5]);
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    before_exit = info();
}

static haul_status exit_owner(void *user)
{
    const haul_exit_options back = { .copyout = 1 };
    (void)user;
    return haul_environment_exit(env, &P[0], &back, NULL);
}

static void check_left(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(presence(&P[0]), status == HAUL_OK ? HAUL_ABSENT : HAUL_PRESENT);
    CHECK_EQ(presence(&P[3]), HAUL_PRESENT);
    CHECK_EQ(presence(&P[7]), HAUL_PRESENT);
    CHECK_EQ(info().groups, before_exit.groups);
    CHECK_EQ(info().roots, before_exit.roots - (status == HAUL_OK));
}

static void enter_both(void *user)
{
    (void)user;
    leave(&P[5]);
    enter(&P[0]);
    enter(&P[5]);
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
}

TEST(environment_cut, an_exit_in_part_survives_every_fault)
{
    fault_operation operation = { .name = "exit in part",
                                  .prepare = prepare,
                                  .run = exit_owner,
                                  .check = check_left,
                                  .undo = enter_both,
                                  .finish = end_faults,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 8);
}
