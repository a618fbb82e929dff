/* Enters do not look behind present objects: what only these lead to stays absent, and how a
 * program gets it in.
 */
#include "environment_graphs.h"

#define P (host.parts)

static haul_presence presence(const part *at)
{
    return haul_environment_presence(env, at, sizeof *at);
}

static void attach(part **pointer)
{
    CHECK_STATUS(haul_environment_attach(env, pointer), HAUL_OK);
}

static void detach(part **pointer)
{
    CHECK_STATUS(haul_environment_detach(env, pointer), HAUL_OK);
}

/* A list of three parts is present. Since then the host has let two of them lead to what is
 * absent. */
static void start_changed(void)
{
    start();
    P[0].a = &P[1];
    P[1].a = &P[2];
    enter(&P[0]);
    P[1].b = &P[5];
    P[5].a = &P[6];
    P[2].b = &P[7];
}

/* Nothing of it has come, and no pointer leads there. */
static void check_as_before(void)
{
    int i;
    for (i = 5; i < 8; i++)
        CHECK_EQ(presence(&P[i]), HAUL_ABSENT);
    CHECK_PTR(seen(&P[1]).seen.a, there(&P[2]));
    CHECK_PTR(seen(&P[1]).seen.b, NULL);
    CHECK_PTR(seen(&P[2]).seen.b, NULL);
}

TEST(environment_behind, what_only_present_objects_lead_to_stays_absent)
{
    haul_environment_info before;
    start_changed();
    before = info();
    P[3].a = &P[1];
    enter(&P[3]); /* a new root that leads to a present part */
    CHECK_EQ(info().transfers_to, before.transfers_to + 1);
    CHECK_EQ(info().ranges, before.ranges + 2); /* it and its array */
    CHECK_EQ(info().attached, 0);
    check_as_before();
    enter(&P[0]); /* a root that is present */
    enter(&P[1]); /* a part that is present, and becomes a root */
    CHECK_EQ(info().transfers_to, before.transfers_to + 1);
    CHECK_EQ(info().ranges, before.ranges + 2);
    check_as_before();
    finish();
}

TEST(environment_behind, updates_and_syncs_do_not_bring_it_either)
{
    start_changed();
    P[1].value = 7;
    CHECK_STATUS(haul_environment_update_device(env, &P[0], 0, NULL), HAUL_OK);
    CHECK_EQ(seen(&P[1]).seen.value, 7);
    check_as_before();
    P[1].value = 8;
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    CHECK_EQ(seen(&P[1]).seen.value, 8);
    check_as_before();
    finish();
}

TEST(environment_behind, an_enter_of_it_and_an_attach_bring_it_in)
{
    haul_environment_info before;
    start_changed();
    before = info();
    enter(&P[5]);
    CHECK_EQ(info().transfers_to, before.transfers_to + 1);
    CHECK_EQ(info().ranges, before.ranges + 4); /* two parts and their arrays */
    CHECK_PTR(seen(&P[1]).seen.b, NULL);        /* it does not lead back */
    attach(&P[1].b);
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[5]));
    CHECK_PTR(seen(&P[5]).seen.a, there(&P[6]));
    CHECK_EQ(presence(&P[7]), HAUL_ABSENT);
    leave(&P[5]); /* nothing else holds it */
    CHECK_EQ(info().ranges, before.ranges);
    check_as_before();
    finish();
}

TEST(environment_behind, a_pointer_that_changes_again_is_detached_between)
{
    start_changed();
    enter(&P[5]);
    attach(&P[1].b);
    P[1].b = &P[7];
    enter(&P[7]);
    attach(&P[1].b); /* it counts, and no more */
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[5]));
    detach(&P[1].b);
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[5]));
    detach(&P[1].b);
    CHECK_PTR(seen(&P[1]).seen.b, NULL);
    attach(&P[1].b);
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[7]));
    leave(&P[5]); /* the pointer leads there no more */
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[7]));
    leave(&P[7]);
    check_as_before();
    finish();
}

TEST(environment_behind, the_same_calls_do_if_another_root_has_brought_it)
{
    haul_environment_info before;
    start_changed();
    P[8].a = &P[5];
    enter(&P[8]);
    before = info();
    enter(&P[5]);
    attach(&P[1].b);
    CHECK_EQ(info().groups, before.groups);
    CHECK_EQ(info().ranges, before.ranges);
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[5]));
    leave(&P[8]);
    CHECK_EQ(presence(&P[8]), HAUL_ABSENT);
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[5]));
    leave(&P[5]);
    check_as_before();
    finish();
}

TEST(environment_behind, what_leads_back_needs_no_attach)
{
    start_changed();
    P[6].b = &P[1];
    P[2].b = &P[6];
    enter(&P[5]);
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[5]));
    CHECK_PTR(seen(&P[6]).seen.b, there(&P[1]));
    CHECK_PTR(seen(&P[2]).seen.b, NULL); /* nothing new leads back to this part */
    CHECK_EQ(info().attached, 1);
    attach(&P[2].b);
    CHECK_PTR(seen(&P[2]).seen.b, there(&P[6]));
    leave(&P[5]);
    check_as_before();
    finish();
}

TEST(environment_behind, nor_do_enters_look_behind_what_a_policy_has_left_out)
{
    const haul_policy_row row = { .path = "b", .action = HAUL_SHALLOW };
    haul_type *alone;
    start();
    CHECK_STATUS(haul_policy_create(part_type, "alone", &row, 1, &alone), HAUL_OK);
    P[0].b = &P[1];
    CHECK_STATUS(haul_environment_enter(env, &P[0], alone, 1, NULL, NULL), HAUL_OK);
    P[3].a = &P[0];
    enter(&P[3]);
    enter(&P[0]); /* the policy of the first enter holds */
    CHECK_EQ(presence(&P[1]), HAUL_ABSENT);
    CHECK_PTR(seen(&P[0]).seen.b, NULL);
    enter(&P[1]);
    attach(&P[0].b);
    CHECK_PTR(seen(&P[0]).seen.b, there(&P[1]));
    haul_type_free(&alone);
    finish();
}

TEST(environment_behind, a_graph_that_has_left_is_entered_as_it_is_then)
{
    int i;
    start_changed();
    leave(&P[0]);
    enter(&P[0]);
    for (i = 5; i < 8; i++)
        CHECK_EQ(presence(&P[i]), HAUL_PRESENT);
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[5]));
    CHECK_PTR(seen(&P[2]).seen.b, there(&P[7]));
    CHECK_PTR(seen(&P[5]).seen.a, there(&P[6]));
    finish();
}
