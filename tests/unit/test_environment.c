/* Data environments: enters, exits, what is shared, what is refused.
 */
#include "environment_graphs.h"

#define P (host.parts)

TEST(environment, a_graph_is_present_from_its_enter_to_its_exit)
{
    start();
    P[0].a = &P[1];
    CHECK_EQ(haul_environment_presence(env, &P[0], sizeof P[0]), HAUL_ABSENT);
    CHECK_PTR(there(&P[0]), NULL);
    enter(&P[0]);
    CHECK_EQ(haul_environment_presence(env, &P[0], sizeof P[0]), HAUL_PRESENT);
    CHECK_EQ(haul_environment_presence(env, &P[1], sizeof P[1]), HAUL_PRESENT);
    CHECK_EQ(haul_environment_presence(env, host.arrays[1], sizeof host.arrays[1]), HAUL_PRESENT);
    CHECK_EQ(haul_environment_presence(env, &P[2], sizeof P[2]), HAUL_ABSENT);
    CHECK_EQ(seen(&P[0]).seen.value, 100);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
    CHECK_PTR(seen(&P[1]).seen.data, (void *)there(host.arrays[1]));
    CHECK_EQ(seen(&P[1]).first, 10);
    CHECK_EQ(info().transfers_to, 1);
    change_there(&P[1]);
    CHECK_EQ(P[1].value, 101);
    leave_back(&P[0]);
    CHECK_EQ(P[1].value, 1101);
    CHECK_EQ(host.arrays[1][0], 1010);
    CHECK_PTR(P[0].a, &P[1]);
    CHECK_EQ(haul_environment_presence(env, &P[1], sizeof P[1]), HAUL_ABSENT);
    CHECK_EQ(info().groups, 0);
    CHECK_EQ(info().ranges, 0);
    CHECK_EQ(info().bytes, 0);
    finish();
}

TEST(environment, look_ups_know_every_byte_and_one_past_the_end_both_ways)
{
    size_t i;
    start();
    P[0].a = &P[2];
    enter(&P[0]);
    for (i = 0; i <= sizeof P[0]; i++) {
        const char *at = (const char *)&P[0] + i;
        CHECK_PTR(there(at), (char *)there(&P[0]) + i);
        CHECK_PTR(haul_environment_host_pointer(env, there(at)), at);
    }
    for (i = 1; i < sizeof P[1]; i++)
        CHECK_PTR(there((char *)&P[1] + i), NULL);
    CHECK_PTR(there(&P[2]), haul_environment_device_pointer(env, &P[2]));
    CHECK_EQ(haul_environment_presence(env, &P[0], sizeof P[0] + 1), HAUL_PRESENT_IN_PART);
    CHECK_EQ(haul_environment_presence(env, &P[1], sizeof P[1]), HAUL_ABSENT);
    CHECK_EQ(haul_environment_presence(env, &P[1], 2 * sizeof P[1]), HAUL_PRESENT_IN_PART);
    CHECK_EQ(haul_environment_presence(env, &P[1], 0), HAUL_ABSENT);
    CHECK_EQ(haul_environment_presence(env, &P[0].value, 0), HAUL_PRESENT);
    CHECK_EQ(haul_environment_presence(env, (void *)UINTPTR_MAX, 2), HAUL_ABSENT);
    CHECK_EQ(haul_environment_presence(env, NULL, 1), HAUL_ABSENT);
    CHECK_PTR(there(NULL), NULL);
    finish();
}

TEST(environment, what_is_no_environment_has_nothing)
{
    haul_environment *none = NULL;
    CHECK_PTR(haul_environment_device_pointer(none, &P[0]), NULL);
    CHECK_PTR(haul_environment_host_pointer(none, &P[0]), NULL);
    CHECK_EQ(haul_environment_presence(none, &P[0], sizeof P[0]), HAUL_ABSENT);
    CHECK_STATUS(haul_environment_set_finder(none, NULL, NULL), HAUL_ERROR_ARGUMENT);
}

TEST(environment, a_root_counts_its_enters_and_goes_with_the_last_exit)
{
    const haul_enter_options structured = { .structured = 1 };
    const haul_exit_options ends = { .structured = 1 }, all = { .finalize = 1 };
    haul_present_range range;
    start();
    enter(&P[0]);
    enter(&P[0]);
    enter(&P[0]);
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 1, &structured, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_find(env, &P[0].value, &range), HAUL_OK);
    CHECK_EQ(range.dynamic, 3);
    CHECK_EQ(range.structured, 1);
    CHECK_PTR(range.host, &P[0]);
    CHECK_PTR(range.device, there(&P[0]));
    CHECK_EQ(range.bytes, sizeof P[0]);
    CHECK_PTR(range.root.address, &P[0]);
    CHECK(range.root.type == part_type);
    CHECK_EQ(info().transfers_to, 1);
    leave(&P[0]);
    CHECK_STATUS(haul_environment_exit(env, &P[0], &all, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_exit(env, &P[0], NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "entered 1 times for structured regions and 0");
    CHECK(there(&P[0]) != NULL);
    CHECK_STATUS(haul_environment_exit(env, &P[0], &ends, NULL), HAUL_OK);
    CHECK_PTR(there(&P[0]), NULL);
    CHECK_STATUS(haul_environment_find(env, &P[0], &range), HAUL_ERROR_ARGUMENT);
    CHECK_PTR(range.host, NULL);
    CHECK_EQ(info().enters, 4);
    CHECK_EQ(info().exits, 3);
    finish();
}

/* A part begins with a pointer: its path is not that of the pointer. */
TEST(environment, an_exit_without_its_enter_is_refused_with_both_names)
{
    const haul_exit_options ends = { .structured = 1 };
    start();
    P[0].a = &P[1];
    enter(&P[0]);
    CHECK_STATUS(haul_environment_exit(env, &P[1], NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "was not entered as a root");
    CHECK_STR(haul_context_error(context)->path, "root.a");
    CHECK_HAS(haul_context_error(context)->other_path, "part at 0x");
    CHECK_STATUS(haul_environment_exit(env, &P[1].b, NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STR(haul_context_error(context)->path, "root.a.b");
    CHECK_STATUS(haul_environment_exit(env, &P[0], &ends, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STR(haul_context_error(context)->path, "root");
    CHECK_STATUS(haul_environment_exit(env, &P[2], NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "is not present");
    finish();
}

TEST(environment, what_is_present_stays_and_what_is_absent_is_sent_in_one_transfer)
{
    part *kept;
    start();
    P[0].a = &P[1];
    enter(&P[0]);
    kept = there(&P[1]);
    change_there(&P[1]);
    P[2].a = &P[1];
    P[2].b = &P[3];
    P[3].b = &P[2];
    enter(&P[2]);
    CHECK_EQ(info().transfers_to, 2);
    CHECK_PTR(there(&P[1]), kept);
    CHECK_PTR(seen(&P[2]).seen.a, kept);
    CHECK_PTR(seen(&P[2]).seen.b, there(&P[3]));
    CHECK_PTR(seen(&P[3]).seen.b, there(&P[2]));
    CHECK_EQ(seen(&P[1]).seen.value, 1101);
    leave(&P[0]); /* its group stays: P[2] leads into it */
    CHECK_PTR(there(&P[1]), kept);
    CHECK_EQ(info().kept, 1);
    leave_back(&P[2]); /* what leaves comes back, whoever has brought it */
    CHECK_EQ(P[1].value, 1101);
    CHECK_EQ(info().groups, 0);
    finish();
}

TEST(environment, pointers_of_neighbours_lead_to_what_is_new_until_it_leaves)
{
    start();
    P[0].a = &P[1];
    P[1].b = &P[0];
    enter(&P[0]);
    P[1].a = &P[2]; /* the list grows */
    P[2].b = &P[1];
    enter(&P[2]);
    CHECK_PTR(seen(&P[1]).seen.a, there(&P[2]));
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[0]));
    CHECK_PTR(seen(&P[2]).seen.b, there(&P[1]));
    CHECK_EQ(info().attached, 1);
    leave(&P[2]);
    CHECK_PTR(seen(&P[1]).seen.a, NULL);
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[0]));
    leave(&P[0]);
    finish();
}

static uint64_t copies_to(void)
{
    haul_host_counters counters;
    CHECK_STATUS(haul_host_get_counters(device, &counters), HAUL_OK);
    return counters.copies_to;
}

TEST(environment, pointers_of_many_neighbours_are_written_in_one_order)
{
    enum { OLD = PARTS / 2 };
    uint64_t before;
    int i;
    start();
    for (i = 0; i < OLD; i++)
        enter(&P[i]);
    for (i = 0; i < OLD; i++) {
        P[i].a = &P[OLD + i];
        P[OLD + i].a = &P[i];
        P[OLD + i].b = i + 1 < OLD ? &P[OLD + i + 1] : NULL;
    }
    before = copies_to();
    enter(&P[OLD]);
    CHECK_EQ(copies_to(), before + 2); /* the new parts, and all pointers to them */
    CHECK_EQ(info().attached, OLD);
    for (i = 0; i < OLD; i++)
        CHECK_PTR(seen(&P[i]).seen.a, there(&P[OLD + i]));
    before = copies_to();
    leave(&P[OLD]);
    CHECK_EQ(copies_to(), before + 1);
    for (i = 0; i < OLD; i++)
        CHECK_PTR(seen(&P[i]).seen.a, NULL);
    finish();
}

TEST(environment, a_pointer_belongs_to_the_group_that_it_was_made_to_lead_into_last)
{
    start();
    enter(&P[0]);
    P[0].a = &P[1];
    P[1].b = &P[0];
    enter(&P[1]);
    P[0].a = &P[2];
    P[2].b = &P[0];
    enter(&P[2]);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[2]));
    leave(&P[1]);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[2]));
    leave(&P[2]);
    CHECK_PTR(seen(&P[0]).seen.a, NULL);
    finish();
}

TEST(environment, a_root_within_a_present_graph_has_counts_of_its_own)
{
    start();
    P[0].a = &P[1];
    enter(&P[0]);
    enter(&P[1]);
    CHECK_EQ(info().transfers_to, 1);
    leave(&P[0]);
    CHECK(there(&P[1]) != NULL);
    CHECK_EQ(haul_environment_presence(env, &P[0], sizeof P[0]), HAUL_ABSENT);
    leave(&P[1]);
    CHECK_PTR(there(&P[1]), NULL);
    finish();
}

TEST(environment, a_range_that_reaches_out_of_a_present_one_is_refused_with_both_paths)
{
    start();
    P[0].data = host.arrays[1];
    P[1].data = host.arrays[1];
    P[1].count = LENGTH + 1;
    enter(&P[0]);
    CHECK_STATUS(haul_environment_enter(env, &P[1], part_type, 1, NULL, NULL), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(context)->path, "root.data");
    CHECK_STR(haul_context_error(context)->other_path, "root.data[0]");
    CHECK_HAS(haul_context_error(context)->text, "cannot move");
    P[1].data = host.arrays[0]; /* ends within the present one */
    P[1].count = LENGTH + 1;
    CHECK_STATUS(haul_environment_enter(env, &P[1], part_type, 1, NULL, NULL), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(context)->path, "root.data[0]");
    CHECK_STR(haul_context_error(context)->other_path, "root.data[0]");
    P[1].data = host.arrays[1] + 1; /* lies within it */
    P[1].count = LENGTH - 1;
    enter(&P[1]);
    CHECK_PTR(seen(&P[1]).seen.data, (char *)there(host.arrays[1]) + sizeof(int32_t));
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 2, NULL, NULL), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(context)->path, "root");
    CHECK_STR(haul_context_error(context)->other_path, "root");
    CHECK_EQ(info().groups, 2);
    finish();
}

/* No more objects than that fit into one address space. */
static const size_t impossible[] = {
    SIZE_MAX,
    SIZE_MAX / 2 + 1,
    SIZE_MAX / sizeof(part),
    SIZE_MAX / sizeof(part) + 1, /* their bytes overflow to less than one part */
    SIZE_MAX / sizeof(part) + 2,
};

TEST(environment, a_root_of_more_bytes_than_a_process_can_have_is_refused_absent_or_present)
{
    const size_t count = sizeof impossible / sizeof *impossible;
    haul_present_range range;
    haul_status status;
    size_t i;
    start();
    for (i = 0; i < count; i++) {
        status = haul_environment_enter(env, &P[0], part_type, impossible[i], NULL, NULL);
        CHECK_STATUS(status, HAUL_ERROR_LIMIT);
        CHECK_STR(haul_context_error(context)->path, "root");
    }
    CHECK_EQ(info().groups, 0);
    enter(&P[0]);
    for (i = 0; i < count; i++) {
        status = haul_environment_enter(env, &P[0], part_type, impossible[i], NULL, NULL);
        CHECK_STATUS(status, HAUL_ERROR_GRAPH);
        CHECK_HAS(haul_context_error(context)->text, "reach out");
        CHECK_STR(haul_context_error(context)->path, "root");
    }
    CHECK_STATUS(haul_environment_find(env, &P[0], &range), HAUL_OK);
    CHECK_EQ(range.dynamic, 1);
    CHECK_EQ(info().enters, 1);
    leave(&P[0]);
    CHECK_EQ(info().groups, 0);
    finish();
}

typedef struct tailed {
    int32_t count;
    int32_t tail[];
} tailed;

TEST(environment, two_roots_of_sizes_of_their_own_are_refused_absent_or_present)
{
    static haul_type *tailed_type;
    static const haul_field fields[] = { HAUL_TAIL(tailed, tail, HAUL_COUNT(tailed, count)) };
    static const haul_struct structs[] = { HAUL_STRUCT(tailed, &tailed_type, fields) };
    union {
        tailed head;
        int32_t words[4];
    } root = { { 1 } };
    int is_present;
    start();
    CHECK_STATUS(haul_describe(context, structs, 1), HAUL_OK);
    for (is_present = 0; is_present < 2; is_present++) {
        CHECK_STATUS(haul_environment_enter(env, &root, tailed_type, 2, NULL, NULL),
                     HAUL_ERROR_GRAPH);
        CHECK_HAS(haul_context_error(context)->text, "no fixed size: one at a time");
        CHECK_STR(haul_context_error(context)->path, "root");
        CHECK_EQ(info().groups, (uint64_t)is_present);
        if (!is_present)
            CHECK_STATUS(haul_environment_enter(env, &root, tailed_type, 1, NULL, NULL), HAUL_OK);
    }
    CHECK_EQ(info().enters, 1);
    CHECK_STATUS(haul_environment_exit(env, &root, NULL, NULL), HAUL_OK);
    CHECK_EQ(info().groups, 0);
    haul_type_free(&tailed_type);
    finish();
}

/* A quarter of all addresses: their pages are too many to look at one by one. */
TEST(environment, a_range_that_ends_behind_all_addresses_is_answered_at_once)
{
    const size_t bytes = SIZE_MAX / 4;
    start();
    P[0].data = NULL; /* nothing is present behind P[0] */
    P[0].count = 0;
    enter(&P[0]);
    CHECK_EQ(haul_environment_presence(env, &P[2], bytes), HAUL_ABSENT);
    CHECK_EQ(haul_environment_presence(env, &P[0], SIZE_MAX), HAUL_ABSENT);
    if (sizeof(void *) > 4) {
        CHECK_EQ(haul_environment_presence(env, &P[0], bytes), HAUL_ABSENT);
        CHECK_STATUS(
            haul_environment_enter(env, &P[2], part_type, bytes / sizeof(part), NULL, NULL),
            HAUL_ERROR_GRAPH);
        CHECK_HAS(haul_context_error(context)->text, "outside any process's address range");
        CHECK_STATUS(haul_environment_update_device(env, &P[2], bytes, NULL), HAUL_ERROR_ARGUMENT);
    }
    finish();
}

TEST(environment, a_policy_that_lets_nothing_of_a_root_travel_is_refused_absent_or_present)
{
    const haul_policy_row none = { .path = "", .action = HAUL_NONE };
    haul_present_range range;
    haul_type *nothing;
    size_t count, turn;
    start();
    CHECK_STATUS(haul_policy_create(part_type, "nothing", &none, 1, &nothing), HAUL_OK);
    for (turn = 0; turn < 2; turn++) {
        for (count = 1; count <= 3; count++) {
            CHECK_STATUS(haul_environment_enter(env, &P[0], nothing, count, NULL, NULL),
                         HAUL_ERROR_ARGUMENT);
            CHECK_HAS(haul_context_error(context)->text, "nothing of the root travels");
        }
        if (turn == 0)
            CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 3, NULL, NULL), HAUL_OK);
    }
    CHECK_STATUS(haul_environment_find(env, &P[0], &range), HAUL_OK);
    CHECK_EQ(range.dynamic, 1);
    leave(&P[0]);
    CHECK_EQ(info().groups, 0);
    haul_type_free(&nothing);
    finish();
}

TEST(environment, a_pointer_to_a_neighbour_in_a_granule_leads_to_its_copy)
{
    start();
    P[1].a = &P[2]; /* P[2] begins where P[1] ends, in another group */
    enter(&P[2]);
    enter(&P[1]);
    CHECK_PTR(seen(&P[1]).seen.a, there(&P[2]));
    CHECK_EQ(seen(&P[1]).seen.value, 101);
    finish();
}

TEST(environment, updates_cross_either_way_and_leave_pointers_alone)
{
    start();
    P[0].a = &P[1];
    enter(&P[0]);
    change_there(&P[1]);
    P[0].value = 7;
    P[0].a = NULL;
    CHECK_STATUS(haul_environment_update_device(env, &P[0].value, sizeof P[0].value, NULL),
                 HAUL_OK);
    CHECK_EQ(seen(&P[0]).seen.value, 7);
    P[0].value = 8;
    CHECK_STATUS(haul_environment_update_device(env, &P[0], sizeof P[0], NULL), HAUL_OK);
    CHECK_EQ(seen(&P[0]).seen.value, 8);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
    CHECK_STATUS(haul_environment_update_host(env, host.arrays[1], sizeof host.arrays[1], NULL),
                 HAUL_OK);
    CHECK_EQ(host.arrays[1][0], 1010);
    CHECK_EQ(P[1].value, 101);
    CHECK_STATUS(haul_environment_update_host(env, &P[0], 0, NULL), HAUL_OK);
    CHECK_EQ(P[1].value, 1101);
    CHECK_PTR(P[0].a, NULL);
    P[1].value = 5;
    P[0].value = 6;
    CHECK_STATUS(haul_environment_update_device(env, &P[1], 0, NULL), HAUL_OK);
    CHECK_EQ(seen(&P[0]).seen.value, 6);
    CHECK_EQ(seen(&P[1]).seen.value, 5);
    CHECK_STATUS(haul_environment_update_host(env, &P[2], 8, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "are not on the device");
    CHECK_STATUS(haul_environment_update_device(env, &P[1], 8 * sizeof P[1], NULL),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "not in one present range");
    finish();
}

/* ---- Attach and detach. */

static void attach(part **pointer)
{
    CHECK_STATUS(haul_environment_attach(env, pointer), HAUL_OK);
}

static void detach(part **pointer)
{
    CHECK_STATUS(haul_environment_detach(env, pointer), HAUL_OK);
}

static void refuse_detach(part **pointer)
{
    CHECK_STATUS(haul_environment_detach(env, pointer), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "not attached by a call");
}

TEST(environment, a_pointer_is_attached_until_as_many_detaches)
{
    start();
    enter(&P[0]);
    enter(&P[1]);
    P[0].a = &P[1];
    CHECK_PTR(seen(&P[0]).seen.a, NULL);
    attach(&P[0].a);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
    P[0].a = &P[0];
    attach(&P[0].a); /* counts, and writes nothing */
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
    detach(&P[0].a);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
    detach(&P[0].a);
    CHECK_PTR(seen(&P[0]).seen.a, NULL);
    refuse_detach(&P[0].a);
    attach(&P[0].a); /* to its own object */
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[0]));
    P[0].b = &P[7];
    CHECK_STATUS(haul_environment_attach(env, &P[0].b), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "leads to nothing that is present");
    CHECK_STATUS(haul_environment_attach(env, &P[0].value), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "no described pointer");
    finish();
}

TEST(environment, an_attached_pointer_is_null_when_its_target_has_left)
{
    start();
    enter(&P[0]);
    enter(&P[1]);
    P[0].a = &P[1];
    attach(&P[0].a);
    attach(&P[0].a);
    leave(&P[1]);
    CHECK_PTR(seen(&P[0]).seen.a, NULL);
    refuse_detach(&P[0].a);
    finish();
}

TEST(environment, a_detached_pointer_is_null_or_the_hosts_or_poison_that_names_it)
{
    const void *pointer;
    char path[HAUL_PATH_BYTES];
    uintptr_t poison;
    part *first;
    start();
    P[0].b = &P[3];
    enter(&P[0]);
    first = &P[3];
    P[3].a = &P[1];
    enter(&P[1]);
    CHECK_STATUS(haul_environment_attach(env, &first->a), HAUL_OK);
    CHECK_STATUS(haul_environment_set_detached(env, HAUL_DETACHED_RAW), HAUL_OK);
    CHECK_STATUS(haul_environment_detach(env, &first->a), HAUL_OK);
    CHECK_PTR(seen(first).seen.a, &P[1]);
    CHECK_STATUS(haul_environment_attach(env, &first->a), HAUL_OK);
    CHECK_PTR(seen(first).seen.a, there(&P[1]));
    CHECK_STATUS(haul_environment_set_detached(env, (haul_detached)3), HAUL_ERROR_ARGUMENT);
    if (sizeof(void *) == 4) {
        CHECK_STATUS(haul_environment_set_detached(env, HAUL_DETACHED_POISON),
                     HAUL_ERROR_UNSUPPORTED);
        leave(&P[1]);
        leave(&P[0]);
        finish();
        return;
    }
    CHECK_STATUS(haul_environment_set_detached(env, HAUL_DETACHED_POISON), HAUL_OK);
    leave(&P[1]); /* what it leads to leaves */
    poison = (uintptr_t)seen(first).seen.a;
    CHECK_STATUS(haul_environment_name_poison(env, poison, &pointer, path), HAUL_OK);
    CHECK_PTR(pointer, &first->a);
    CHECK_STR(path, "root.b.a");
    CHECK_STATUS(haul_environment_name_poison(env, poison + 4096, &pointer, NULL), HAUL_OK);
    CHECK_PTR(pointer, &first->a);
    CHECK_STATUS(haul_environment_name_poison(env, poison + (1 << 20), &pointer, path),
                 HAUL_ERROR_ARGUMENT);
    CHECK_PTR(pointer, NULL);
    CHECK_STATUS(haul_environment_name_poison(env, (uintptr_t)first, &pointer, path),
                 HAUL_ERROR_ARGUMENT);
    enter(&P[1]);
    CHECK_STATUS(haul_environment_attach(env, &first->a), HAUL_OK);
    CHECK_STATUS(haul_environment_detach(env, &first->a), HAUL_OK);
    CHECK_EQ((uintptr_t)seen(first).seen.a, poison);
    leave(&P[1]);
    leave(&P[0]);
    CHECK_STATUS(haul_environment_name_poison(env, poison, &pointer, path), HAUL_OK);
    CHECK_STR(path, "");
    finish();
}

TEST(environment, an_attachment_ends_with_the_object_that_it_stands_in)
{
    int round;
    start();
    enter(&P[1]);
    for (round = 0; round < 40; round++) { /* the host's addresses are the same each time */
        P[0].a = NULL;
        enter(&P[0]);
        P[0].a = &P[1];
        refuse_detach(&P[0].a);
        attach(&P[0].a);
        CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
        leave(&P[0]);
    }
    P[0].a = NULL;
    enter(&P[0]);
    leave(&P[1]);
    CHECK_PTR(seen(&P[0]).seen.a, NULL);
    finish();
}

/* Sixteen times: arrays come, are attached, worked on, brought back and go; the struct stays. */
TEST(environment, a_resident_struct_is_assembled_from_the_top_down_sixteen_times)
{
    int round;
    start();
    enter(&P[0]);
    for (round = 0; round < 16; round++) {
        P[1].value = round;
        P[0].a = &P[1];
        enter(&P[1]);
        attach(&P[0].a);
        change_there(&P[1]);
        CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
        leave_back(&P[1]);
        CHECK_EQ(P[1].value, round + 1000);
        CHECK_PTR(seen(&P[0]).seen.a, NULL);
        CHECK_EQ(haul_environment_presence(env, &P[1], sizeof P[1]), HAUL_ABSENT);
        CHECK_EQ(haul_environment_presence(env, &P[0], sizeof P[0]), HAUL_PRESENT);
    }
    leave_back(&P[0]);
    CHECK_PTR(P[0].a, &P[1]);
    finish();
}

/* ---- Watchers. */

enum { MOST = 16 };

static struct {
    const void *taken[MOST];
    int count, refuses_after;
} watched;

static int comes(void *user, const haul_shipped_range *range)
{
    CHECK_PTR(user, &watched);
    CHECK_PTR(range->device, there(range->host));
    CHECK_EQ(haul_environment_presence(env, range->host, range->bytes), HAUL_PRESENT);
    CHECK_STATUS(haul_environment_exit(env, range->host, NULL, NULL), HAUL_ERROR_BUSY);
    if (watched.count == watched.refuses_after)
        return 1;
    watched.taken[watched.count++] = range->host;
    return 0;
}

static int goes(void *user, const haul_shipped_range *range)
{
    int i = 0;
    CHECK_PTR(user, &watched);
    while (watched.taken[i] != range->host)
        CHECK(++i < watched.count);
    watched.taken[i] = watched.taken[--watched.count];
    return 0;
}

TEST(environment, a_watcher_is_told_of_each_range_until_it_goes)
{
    memset(&watched, 0, sizeof watched);
    watched.refuses_after = MOST;
    start();
    P[0].a = &P[1];
    P[2].a = &P[1];
    enter(&P[0]);
    CHECK_STATUS(haul_environment_watch(env, comes, goes, &watched), HAUL_OK);
    CHECK_EQ(watched.count, 4);
    enter(&P[2]);
    CHECK_EQ(watched.count, 6);
    leave(&P[2]);
    CHECK_EQ(watched.count, 4);
    CHECK_STATUS(haul_environment_watch(env, NULL, NULL, NULL), HAUL_OK);
    CHECK_EQ(watched.count, 0);
    CHECK_STATUS(haul_environment_watch(env, comes, goes, &watched), HAUL_OK);
    CHECK_EQ(watched.count, 4);
    finish();
    CHECK_EQ(watched.count, 0);
}

TEST(environment, a_watcher_that_refuses_a_range_takes_none_of_its_group)
{
    haul_environment_info were;
    memset(&watched, 0, sizeof watched);
    watched.refuses_after = 5;
    start();
    P[0].a = &P[1];
    P[2].a = &P[1];
    P[1].b = &P[2];
    CHECK_STATUS(haul_environment_watch(env, comes, goes, &watched), HAUL_OK);
    P[1].b = NULL;
    enter(&P[0]);
    P[1].b = &P[2];
    were = info();
    CHECK_STATUS(haul_environment_enter(env, &P[2], part_type, 1, NULL, NULL),
                 HAUL_ERROR_CANCELLED);
    CHECK_EQ(info().enters, were.enters);
    CHECK_EQ(info().groups_made, were.groups_made);
    CHECK_EQ(info().groups, were.groups);
    CHECK_EQ(info().device_bytes, were.device_bytes);
    CHECK_HAS(haul_context_error(context)->text, "the watcher of the environment refuses");
    CHECK_EQ(watched.count, 4);
    CHECK_PTR(there(&P[2].value), NULL);
    CHECK_PTR(seen(&P[1]).seen.b, NULL);
    watched.refuses_after = MOST;
    enter(&P[2]);
    CHECK_STATUS(haul_environment_watch(env, NULL, NULL, NULL), HAUL_OK);
    watched.refuses_after = 5; /* in the second group */
    CHECK_STATUS(haul_environment_watch(env, comes, goes, &watched), HAUL_ERROR_CANCELLED);
    CHECK_EQ(watched.count, 0);
    CHECK(there(&P[2]) != NULL);
    finish();
}

/* ---- Nodes of whole granules, whose pointers are translated by cells alone. */

typedef struct whole {
    struct whole *a, *b, *past;
    int64_t value;
} whole;

enum { WHOLES = 4096 };

static haul_type *whole_type;
static const haul_field whole_fields[] = {
    HAUL_OBJECT(whole, a, &whole_type),
    HAUL_OBJECT(whole, b, &whole_type),
    HAUL_ARRAY(whole, past, HAUL_FIXED(0)),
};

static struct {
    union {
        whole all[WHOLES];
        long double alignment;
    } u;
} wholes;

typedef struct wholes_there {
    whole *at[WHOLES];
    whole seen[WHOLES];
} wholes_there;

static void copy_wholes(void *argument)
{
    wholes_there *w = argument;
    int i;
    for (i = 0; i < WHOLES; i++)
        w->seen[i] = *w->at[i];
}

/* Every third node is present. The others lead to it, to one another, and one past either. */
TEST(environment, pointers_of_whole_nodes_lead_to_old_and_new_copies)
{
    static wholes_there w;
    whole *const all = wholes.u.all;
    random_source dice = random_start("whole nodes");
    int i;
    start();
    whole_type = TYPE_NEW(whole, whole_fields);
    CHECK_STATUS(haul_type_commit(whole_type), HAUL_OK);
    for (i = 0; i < WHOLES; i++)
        all[i].a = i + 3 < WHOLES ? &all[i + 3] : NULL;
    CHECK_STATUS(haul_environment_enter(env, &all[0], whole_type, 1, NULL, NULL), HAUL_OK);
    for (i = 0; i < WHOLES; i++) {
        if (i % 3 == 0)
            continue;
        all[i].b = random_below(&dice, 5) ? &all[random_below(&dice, WHOLES)] : NULL;
        all[i].past = &all[random_below(&dice, WHOLES)] + 1;
        all[i].value = i;
    }
    all[WHOLES - 2].b = &all[2];
    all[1].past = &all[WHOLES];
    CHECK_STATUS(haul_environment_enter(env, &all[1], whole_type, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, &all[2], whole_type, 1, NULL, NULL), HAUL_OK);
    for (i = 0; i < WHOLES; i++)
        w.at[i] = haul_environment_device_pointer(env, &all[i]);
    CHECK_STATUS(haul_host_launch(device, copy_wholes, &w), HAUL_OK);
    for (i = 0; i < WHOLES; i++) {
        const whole *const past = all[i].past;
        CHECK_PTR(w.seen[i].a, all[i].a ? w.at[all[i].a - all] : NULL);
        if (i % 3 == 0)
            continue;
        CHECK_PTR(w.seen[i].b, all[i].b ? w.at[all[i].b - all] : NULL);
        CHECK_EQ(w.seen[i].value, i);
        CHECK(w.seen[i].past == w.at[past - all - 1] + 1 ||
              (past < all + WHOLES && w.seen[i].past == w.at[past - all]));
    }
    CHECK(w.seen[1].past == w.at[WHOLES - 1] + 1);
    haul_type_free(&whole_type);
    finish();
}

/* ---- Copies that others have made. */

/* One block of the host and its copy, in memory of the device that the environment does not know.
 */
static struct {
    const char *host;
    char *copy;
    size_t bytes, asked;
} other;

static void *find_other(void *user, const void *host, size_t bytes)
{
    const char *at = host;
    CHECK(user == &other);
    CHECK(bytes > 0);
    other.asked++;
    return at >= other.host && at + bytes <= other.host + other.bytes
               ? other.copy + (at - other.host)
               : NULL;
}

/* The other run time's copy: a shipment of the array. */
static haul_shipment *ship_array(int i)
{
    static const haul_struct plain = HAUL_PLAIN(int32_t, NULL);
    haul_type *type = type_new(&plain);
    haul_shipment *shipment;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_ship(device, host.arrays[i], type, LENGTH, NULL, &shipment), HAUL_OK);
    haul_type_free(&type);
    other.host = (const char *)host.arrays[i];
    other.copy = haul_device_pointer(shipment, host.arrays[i]);
    other.bytes = sizeof host.arrays[i];
    other.asked = 0;
    return shipment;
}

TEST(environment, what_another_run_time_has_mapped_is_not_sent_and_pointers_lead_there)
{
    haul_shipment *shipment;
    haul_environment_info without;
    start();
    P[0].a = &P[1];
    enter(&P[0]);
    without = info();
    leave(&P[0]);
    shipment = ship_array(1);
    CHECK_STATUS(haul_environment_set_finder(env, find_other, &other), HAUL_OK);
    P[2].data = host.arrays[1] + 1; /* within it */
    P[2].count = 1;
    P[1].b = &P[2];
    P[3].data = host.arrays[1] + LENGTH; /* one past its end */
    P[3].count = 0;
    P[2].b = &P[3];
    enter(&P[0]);
    CHECK_PTR(seen(&P[1]).seen.data, (int32_t *)(void *)other.copy);
    CHECK_PTR(seen(&P[2]).seen.data, (int32_t *)(void *)other.copy + 1);
    CHECK_PTR(seen(&P[3]).seen.data, (int32_t *)(void *)other.copy + LENGTH);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
    CHECK_EQ(seen(&P[0]).first, 0);
    CHECK_EQ(info().bytes, without.bytes + 2 * sizeof(part) - sizeof host.arrays[1]);
    CHECK_EQ(haul_environment_presence(env, host.arrays[1], 4), HAUL_ABSENT);
    change_there(&P[1]);
    leave_back(&P[0]);
    CHECK_EQ(P[1].value, 1101);
    CHECK_EQ(host.arrays[1][0], 10); /* its owner brings it */
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK_EQ(host.arrays[1][0], 1010);
    haul_shipment_free(&shipment);
    finish();
}

/* The array before it is new, and shares a granule of 16 bytes with its end. */
TEST(environment, one_past_a_present_array_is_not_the_neighbours_granule)
{
    int k = 1;
    start();
    while ((uintptr_t)host.arrays[k] % 16 != 4)
        k++;
    P[0].data = host.arrays[k];
    enter(&P[0]);
    P[1].data = host.arrays[k] + LENGTH;
    P[1].count = 0;
    P[1].a = &P[2];
    P[2].data = host.arrays[k - 1];
    enter(&P[1]);
    CHECK_PTR(seen(&P[1]).seen.data, seen(&P[0]).seen.data + LENGTH);
    CHECK_EQ(seen(&P[2]).first, 10 * (k - 1));
    finish();
}

/* A borrowed pointer may lead one past its own graph, but there the neighbour begins. */
TEST(environment, a_pointer_that_must_lead_to_something_present_holds_a_neighbour_too)
{
    const haul_policy_row row = { .path = "b", .action = HAUL_ONLY_PRESENT };
    haul_type *policy;
    start();
    CHECK_STATUS(haul_policy_create(part_type, "policy", &row, 1, &policy), HAUL_OK);
    enter(&P[1]);
    P[0].b = &P[1];
    CHECK_STATUS(haul_environment_enter(env, &P[0], policy, 1, NULL, NULL), HAUL_OK);
    leave(&P[1]);
    CHECK_EQ(haul_environment_presence(env, &P[1], sizeof P[1]), HAUL_PRESENT);
    CHECK_PTR(seen(&P[0]).seen.b, there(&P[1]));
    leave(&P[0]);
    CHECK_EQ(info().groups, 0);
    haul_type_free(&policy);
    finish();
}

/* Behind a present object: a pointer to it is not one past the neighbour. */
TEST(environment, an_object_may_begin_with_bytes_that_do_not_travel)
{
    typedef struct late {
        int64_t room[3], value;
    } late;
    typedef struct reader {
        late *at;
        int64_t rest[4]; /* as long as a part, for `seen` */
    } reader;
    static haul_type *late_type;
    static const haul_field late_fields[] = { HAUL_SKIP(late, room) },
                            reader_fields[] = { HAUL_OBJECT(reader, at, &late_type) };
    static struct {
        part before;
        late behind;
    } pair;
    haul_type *reader_type;
    reader r;
    start();
    late_type = TYPE_NEW(late, late_fields);
    reader_type = TYPE_NEW(reader, reader_fields);
    CHECK_STATUS(haul_type_commit(late_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(reader_type), HAUL_OK);
    enter(&pair.before);
    memset(&r, 0, sizeof r);
    r.at = &pair.behind;
    CHECK_STATUS(haul_environment_enter(env, &r, reader_type, 1, NULL, NULL), HAUL_OK);
    CHECK_PTR((char *)seen((const part *)(const void *)&r).seen.a + offsetof(late, value),
              (char *)there(&pair.behind.value));
    haul_type_free(&reader_type);
    haul_type_free(&late_type);
    finish();
}

TEST(environment, an_attached_pointer_may_lead_to_a_group_with_pointers_to_others)
{
    haul_shipment *shipment;
    start();
    enter(&P[0]);
    shipment = ship_array(1);
    CHECK_STATUS(haul_environment_set_finder(env, find_other, &other), HAUL_OK);
    P[0].b = &P[1];
    P[1].a = &P[0];
    enter(&P[1]);
    CHECK_PTR(seen(&P[0]).seen.b, there(&P[1]));
    CHECK_PTR(seen(&P[1]).seen.a, there(&P[0]));
    CHECK_PTR(seen(&P[1]).seen.data, (int32_t *)(void *)other.copy);
    leave(&P[1]);
    CHECK_PTR(seen(&P[0]).seen.b, NULL);
    haul_shipment_free(&shipment);
    finish();
}

typedef struct quad {
    int64_t of[4];
} quad;

/* A bit that no address has, or with pointers of 32 bits, that of no object. */
#define HIGH ((uintptr_t)1 << (sizeof(uintptr_t) > 4 ? 48 : 0))

/* Pointers to four objects: `tagged` and `plain` lead to one of them. */
typedef struct quads {
    quad *whole, *plain, *in, *none;
    uintptr_t tagged;
    size_t count;
} quads;

static const haul_struct quad_struct = HAUL_PLAIN(quad, NULL);
static haul_type *quad_type;
static const haul_field quads_fields[] = {
    HAUL_OBJECT(quads, whole, &quad_type),
    HAUL_OBJECT(quads, plain, &quad_type),
    HAUL_OBJECT(quads, in, &quad_type, .transfer = HAUL_COPYIN),
    HAUL_ARRAY(quads, none, HAUL_COUNT(quads, count), .target = &quad_type),
    HAUL_ADDRESS(quads, tagged, .target = &quad_type, .tag_bits = HIGH),
};
static quad quad_of[4];
static int has_whole;

/* All of the first object, if `has_whole`, and the beginnings of the others. */
static void *find_beginnings(void *user, const void *at, size_t bytes)
{
    size_t i;
    (void)user;
    for (i = has_whole ? 0 : 1; i < 4; i++) {
        const uintptr_t begin = (uintptr_t)at - (uintptr_t)&quad_of[i],
                        end = i ? sizeof(int64_t) : sizeof(quad);
        if (begin < end && bytes <= end - begin)
            return (void *)((i + 1) * 0x100000 + begin);
    }
    return NULL;
}

typedef struct quads_look {
    quads *at;
    quads seen;
} quads_look;

static void look_and_write(void *argument)
{
    quads_look *l = argument;
    l->seen = *l->at;
    l->seen.in->of[1] = 77;
    l->seen.plain->of[1] = 78;
}

/* Whether anything else was found makes no difference. */
TEST(environment, an_object_with_a_copy_of_its_beginning_alone_is_sent_like_any_other)
{
    const haul_exit_options back = { .copyout = 1 };
    haul_type *type;
    quads q;
    quads_look l;
    start();
    quad_type = type_new(&quad_struct);
    type = TYPE_NEW(quads, quads_fields);
    CHECK_STATUS(haul_type_commit(quad_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_environment_set_finder(env, find_beginnings, NULL), HAUL_OK);
    for (has_whole = 0; has_whole <= 1; has_whole++) {
        memset(quad_of, 0, sizeof quad_of);
        memset(&q, 0, sizeof q);
        q.whole = &quad_of[0];
        q.plain = &quad_of[1];
        q.in = &quad_of[2];
        q.none = &quad_of[3];
        q.tagged = (uintptr_t)&quad_of[1] | HIGH;
        CHECK_STATUS(haul_environment_enter(env, &q, type, 1, NULL, NULL), HAUL_OK);
        l.at = haul_environment_device_pointer(env, &q);
        CHECK_STATUS(haul_host_launch(device, look_and_write, &l), HAUL_OK);
        CHECK_PTR(l.seen.whole, has_whole ? (void *)(uintptr_t)0x100000 : there(&quad_of[0]));
        CHECK_PTR(l.seen.plain, (void *)there(&quad_of[1]));
        CHECK_EQ(l.seen.tagged, (uintptr_t)l.seen.plain | HIGH);
        CHECK_PTR(l.seen.in, (void *)there(&quad_of[2]));
        CHECK_PTR(l.seen.none, (void *)(uintptr_t)0x400000); /* to no elements */
        CHECK_STATUS(haul_environment_exit(env, &q, &back, NULL), HAUL_OK);
        CHECK_EQ(quad_of[1].of[1], 78);
        CHECK_EQ(quad_of[2].of[1], 0);
    }
    haul_type_free(&type);
    haul_type_free(&quad_type);
    finish();
}

/* The pointers of what others have lead nowhere that the host could follow. */
TEST(environment, an_exit_under_a_policy_does_not_follow_what_others_have)
{
    haul_exit_options back = { .copyout = 1 };
    start();
    back.policy = part_type;
    other.host = (const char *)&P[5];
    other.copy = (char *)&P[5];
    other.bytes = sizeof P[5];
    CHECK_STATUS(haul_environment_set_finder(env, find_other, &other), HAUL_OK);
    P[5].a = (part *)(void *)((char *)&P[6] + 1);
    P[0].a = &P[5];
    P[0].b = &P[1];
    P[1].a = &P[0];
    enter(&P[0]);
    CHECK_PTR(seen(&P[0]).seen.a, &P[5]);
    change_there(&P[1]);
    CHECK_STATUS(haul_environment_exit(env, &P[0], &back, NULL), HAUL_OK);
    CHECK_EQ(P[1].value, 1101);
    CHECK_EQ(P[5].value, 105);
    CHECK_EQ(info().groups, 0);
    finish();
}

TEST(environment, a_root_of_another_run_time_is_refused_and_what_reaches_out_is_sent)
{
    haul_shipment *shipment;
    start();
    shipment = ship_array(1);
    CHECK_STATUS(haul_environment_set_finder(env, find_other, &other), HAUL_OK);
    P[1].count = LENGTH + 1;
    enter(&P[1]); /* nobody has all of its array */
    CHECK_EQ(haul_environment_presence(env, host.arrays[1], (LENGTH + 1) * sizeof(int32_t)),
             HAUL_PRESENT);
    leave(&P[1]);
    other.host = (const char *)&P[0];
    other.bytes = sizeof P[0];
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 1, NULL, NULL),
                 HAUL_ERROR_CANCELLED);
    CHECK_HAS(haul_context_error(context)->text, "on the device already");
    CHECK_EQ(info().groups, 0);
    CHECK_STATUS(haul_environment_set_finder(env, NULL, NULL), HAUL_OK);
    other.asked = 0;
    enter(&P[0]);
    CHECK_EQ(other.asked, 0);
    haul_shipment_free(&shipment);
    finish();
}
