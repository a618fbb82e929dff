/* Environments: every kind of pointer from a new object into a present one.
 */
#include "environment_graphs.h"

enum { VALUES = 6 };
/* Addresses of 32 bits have no room for high tags. */
#define IS_WIDE (UINTPTR_MAX > 0xffffffffu)
#define HIGH ((uintptr_t)(UINT64_C(0x5a00000000000000) & (IS_WIDE ? UINT64_MAX : 0)))

typedef struct odd {
    struct odd *owner;      /* followed */
    struct odd *alias;      /* borrowed */
    int32_t *maybe;         /* owned unless another field owns it */
    char *name;             /* a string */
    struct odd **kids;      /* pointers */
    int32_t *column;        /* every second value */
    int32_t *begin, *end;   /* up to `end` */
    uintptr_t tagged, high; /* to an odd, with tag bits */
    uintptr_t member;       /* to `count` of an odd, which is sent as a whole */
    int64_t relative;       /* bytes to an odd */
    int32_t *input;         /* goes, and does not come back */
    int64_t count, kid_count, column_count, value;
    char padded;
} odd;

static haul_type *odd_type;
static const haul_dimension every_second[] = { HAUL_DIMENSION(HAUL_COUNT(odd, column_count),
                                                              HAUL_FIXED(2)) };
static const haul_field odd_fields[] = {
    HAUL_OBJECT(odd, owner, &odd_type),
    HAUL_OBJECT(odd, alias, &odd_type, .ownership = HAUL_BORROWED),
    HAUL_ARRAY(odd, maybe, HAUL_COUNT(odd, count), .ownership = HAUL_UNLESS_OWNED),
    HAUL_STRING(odd, name),
    HAUL_POINTERS(odd, kids, &odd_type, HAUL_COUNT(odd, kid_count)),
    HAUL_SECTION(odd, column, every_second),
    HAUL_ARRAY(odd, begin, HAUL_UNTIL(odd, end)),
    HAUL_ADDRESS(odd, tagged, .target = &odd_type, .tag_bits = 1),
    HAUL_ADDRESS(odd, high, .target = &odd_type, .tag_bits = HAUL_HIGH_TAGS),
    HAUL_ADDRESS(odd, member, .target = &odd_type, .base = HAUL_CONTAINER_OF(odd, count)),
    HAUL_RELATIVE(odd, relative, .target = &odd_type),
    HAUL_ARRAY(odd, input, HAUL_COUNT(odd, count), .transfer = HAUL_COPYIN),
};

static struct {
    odd old, fresh;
    odd *kids[2];
    int32_t values[VALUES], inputs[VALUES];
    char name[8];
} heap;

static void make(void)
{
    int i;
    memset(&heap, 0, sizeof heap);
    for (i = 0; i < VALUES; i++) {
        heap.values[i] = 100 + i;
        heap.inputs[i] = 200 + i;
    }
    memcpy(heap.name, "kept", 5);
    heap.kids[0] = &heap.old;
    heap.old.maybe = heap.old.begin = heap.values;
    heap.old.end = heap.values + VALUES;
    heap.old.count = VALUES;
    heap.old.name = heap.name;
    heap.old.kids = heap.kids;
    heap.old.kid_count = 2;
    heap.old.input = heap.inputs;
}

static void start_odd(void)
{
    start();
    odd_type = TYPE_NEW(odd, odd_fields);
    CHECK_STATUS(haul_type_commit(odd_type), HAUL_OK);
    make();
    CHECK_STATUS(haul_environment_enter(env, &heap.old, odd_type, 1, NULL, NULL), HAUL_OK);
}

static void finish_odd(void)
{
    haul_type_free(&odd_type);
    finish();
}

typedef struct glance {
    const odd *at;
    odd seen;
} glance;

static void glance_there(void *argument)
{
    glance *g = argument;
    g->seen = *g->at;
}

static odd fresh_there(void)
{
    static glance g;
    CHECK_STATUS(haul_environment_enter(env, &heap.fresh, odd_type, 1, NULL, NULL), HAUL_OK);
    g.at = haul_environment_device_pointer(env, &heap.fresh);
    CHECK_STATUS(haul_host_launch(device, glance_there, &g), HAUL_OK);
    return g.seen;
}

#define THERE(at) haul_environment_device_pointer(env, (at))

TEST(environment_fields, every_kind_of_pointer_leads_to_the_present_copy)
{
    odd seen;
    start_odd();
    heap.fresh.owner = heap.fresh.alias = &heap.old;
    heap.fresh.maybe = heap.values + 1;
    heap.fresh.count = 2;
    heap.fresh.name = heap.name + 1;
    heap.fresh.kids = heap.kids;
    heap.fresh.kid_count = 1;
    heap.fresh.column = heap.values;
    heap.fresh.column_count = 3;
    heap.fresh.begin = heap.values + 2;
    heap.fresh.end = heap.values + VALUES;
    heap.fresh.tagged = (uintptr_t)&heap.old | 1;
    heap.fresh.high = IS_WIDE ? (uintptr_t)&heap.old | HIGH : 0;
    heap.fresh.member = (uintptr_t)&heap.old.count;
    heap.fresh.relative = (char *)&heap.old - (char *)&heap.fresh.relative;
    heap.fresh.input = heap.inputs;
    seen = fresh_there();
    CHECK_PTR(seen.owner, THERE(&heap.old));
    CHECK_PTR(seen.alias, THERE(&heap.old));
    CHECK_PTR(seen.maybe, THERE(heap.values + 1));
    CHECK_PTR(seen.name, THERE(heap.name + 1));
    CHECK_PTR(seen.kids, THERE(heap.kids));
    CHECK_PTR(seen.column, THERE(heap.values));
    CHECK_PTR(seen.begin, THERE(heap.values + 2));
    CHECK_EQ((char *)seen.end - (char *)seen.begin, (VALUES - 2) * sizeof(int32_t));
    CHECK_EQ(seen.tagged, (uintptr_t)THERE(&heap.old) | 1);
    CHECK_EQ(seen.high, IS_WIDE ? (uintptr_t)THERE(&heap.old) | HIGH : 0);
    CHECK_EQ(seen.member, (uintptr_t)THERE(&heap.old.count));
    CHECK_EQ((uintptr_t)THERE(&heap.fresh.relative) + (uintptr_t)seen.relative,
             (uintptr_t)THERE(&heap.old));
    CHECK_PTR(seen.input, THERE(heap.inputs));
    CHECK_EQ(info().groups, 2);
    CHECK_EQ(haul_environment_presence(env, &heap.fresh, sizeof heap.fresh), HAUL_PRESENT);
    finish_odd();
}

TEST(environment_fields, pointers_to_nothing_stay_null_and_ends_of_ranges_stay_ends)
{
    odd seen;
    start_odd();
    heap.fresh.maybe = heap.values + VALUES; /* no elements, at the end of a present array */
    heap.fresh.begin = heap.fresh.end = heap.values + VALUES;
    seen = fresh_there();
    CHECK_PTR(seen.maybe, THERE(heap.values + VALUES));
    CHECK_PTR(seen.begin, THERE(heap.values + VALUES));
    CHECK_PTR(seen.owner, NULL);
    CHECK_EQ(seen.tagged, 0);
    CHECK_EQ(seen.relative, 0);
    finish_odd();
}

TEST(environment_fields, a_direction_holds_for_what_the_enter_has_sent)
{
    const haul_exit_options back = { .copyout = 1 };
    int32_t fresh[2] = { 7, 8 };
    start_odd();
    heap.fresh.input = heap.inputs; /* present: not excluded again */
    heap.fresh.maybe = fresh;
    heap.fresh.count = 2;
    (void)fresh_there();
    CHECK_STATUS(haul_environment_exit(env, &heap.fresh, &back, NULL), HAUL_OK);
    heap.inputs[0] = 1;
    CHECK_STATUS(haul_environment_exit(env, &heap.old, &back, NULL), HAUL_OK);
    CHECK_EQ(heap.inputs[0], 1);
    CHECK_EQ(heap.values[0], 100);
    finish_odd();
}

/* Ships under a policy of one row, brings all back, and finds the source as it was. 0: the row or
 * the graph is refused. */
static int travels(const char *path, int action)
{
    const haul_policy_row row = { .path = path, .action = action };
    static unsigned char before[sizeof heap];
    haul_shipment *shipment;
    haul_type *policy;
    haul_status status = haul_policy_create(odd_type, "p", &row, 1, &policy);
    CHECK_EQ(status != HAUL_OK, policy == NULL);
    if (status != HAUL_OK) {
        CHECK(status == HAUL_ERROR_ARGUMENT || status == HAUL_ERROR_TYPE);
        CHECK(type_error()->text[0] && type_error()->path[0]);
        return 0;
    }
    memcpy(before, &heap, sizeof heap);
    status = haul_ship(device, &heap.old, policy, 1, NULL, &shipment);
    CHECK(status == HAUL_OK || status == HAUL_ERROR_GRAPH);
    if (status == HAUL_OK)
        CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK(action == HAUL_COPYOUT || memcmp(before, &heap, sizeof heap) == 0);
    memcpy(&heap, before, sizeof heap);
    haul_shipment_free(&shipment);
    haul_type_free(&policy);
    return status == HAUL_OK;
}

TEST(environment_fields, every_field_takes_the_actions_of_a_policy_that_it_can_have)
{
    int taken[HAUL_NONE + 1] = { 0 }, action;
    haul_field_info field;
    size_t i;
    start_odd();
    for (action = HAUL_COPY; action <= HAUL_NONE; action++) {
        for (i = 0; i < haul_type_field_count(odd_type); i++) {
            CHECK_STATUS(haul_type_get_field(odd_type, i, &field), HAUL_OK);
            check_note("field %s, action %d", field.name, action);
            taken[action] += travels(field.name, action);
        }
        check_note("the rest, action %d", action);
        taken[action] += travels("", action);
    }
    check_note("%d %d %d %d %d %d %d", taken[0], taken[1], taken[2], taken[3], taken[4], taken[5],
               taken[6]);
    CHECK_EQ(taken[HAUL_COPY], (int)haul_type_field_count(odd_type) + 1);
    CHECK_EQ(taken[HAUL_NONE], (int)haul_type_field_count(odd_type) + 1);
    CHECK_EQ(taken[HAUL_SHALLOW], (int)haul_type_field_count(odd_type) + 1);
    check_note(NULL);
    finish_odd();
}

/* ---- Several policies at one address. */

typedef struct halves {
    int64_t first, second;
} halves;

static const haul_field halves_fields[] = { HAUL_RAW(halves, first), HAUL_RAW(halves, second) };
static haul_type *halves_type, *half_policies[2];

static void start_halves(void)
{
    const haul_policy_row lefts_out[] = { { .path = "second", .action = HAUL_NONE },
                                          { .path = "first", .action = HAUL_NONE } };
    int i;
    start();
    halves_type = TYPE_NEW(halves, halves_fields);
    CHECK_STATUS(haul_type_commit(halves_type), HAUL_OK);
    for (i = 0; i < 2; i++)
        CHECK_STATUS(haul_policy_create(halves_type, "half", &lefts_out[i], 1, &half_policies[i]),
                     HAUL_OK);
}

static void finish_halves(void)
{
    int i;
    for (i = 0; i < 2; i++)
        haul_type_free(&half_policies[i]);
    haul_type_free(&halves_type);
    finish();
}

static haul_status enter_half(halves *at, int which)
{
    return haul_environment_enter(env, at, half_policies[which], 1, NULL, NULL);
}

/* An exit could not tell which of both it ends. */
TEST(environment_fields, one_address_is_not_entered_under_policies_with_bytes_apart)
{
    halves *h = calloc(3, sizeof *h);
    int first;
    CHECK(h != NULL);
    start_halves();
    for (first = 0; first < 2; first++) {
        const int64_t *const other = first ? &h[1].first : &h[1].second;
        halves *const around = first ? (halves *)&h[0].second : (halves *)other;
        CHECK_STATUS(enter_half(&h[1], first), HAUL_OK);
        CHECK_STATUS(enter_half(&h[1], !first), HAUL_ERROR_GRAPH);
        CHECK_HAS(haul_context_error(context)->text, "the object cannot move");
        CHECK_EQ(haul_environment_presence(env, other, sizeof *other), HAUL_ABSENT);
        /* present by a root of its own, it is still none of what this address has entered */
        CHECK_STATUS(enter_half(around, first), HAUL_OK);
        CHECK_EQ(haul_environment_presence(env, other, sizeof *other), HAUL_PRESENT);
        CHECK_STATUS(enter_half(&h[1], !first), HAUL_ERROR_GRAPH);
        CHECK_STATUS(haul_environment_exit(env, around, NULL, NULL), HAUL_OK);
        CHECK_STATUS(haul_environment_exit(env, &h[1], NULL, NULL), HAUL_OK);
        CHECK_EQ(info().groups, 0);
    }
    finish_halves();
    free(h);
}

TEST(environment_fields, one_address_is_entered_under_policies_for_bytes_of_a_present_object)
{
    halves *h = calloc(3, sizeof *h);
    CHECK(h != NULL);
    start_halves();
    CHECK_STATUS(haul_environment_enter(env, h, halves_type, 3, NULL, NULL), HAUL_OK);
    CHECK_STATUS(enter_half(&h[1], 0), HAUL_OK);
    CHECK_STATUS(enter_half(&h[1], 1), HAUL_OK);
    CHECK_STATUS(haul_environment_exit(env, h, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_exit(env, &h[1], NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, &h[1], sizeof h[1]), HAUL_PRESENT);
    CHECK_STATUS(haul_environment_exit(env, &h[1], NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, &h[1], sizeof h[1]), HAUL_ABSENT);
    finish_halves();
    free(h);
}

/* Nothing else lies beside these values. */
static struct {
    int32_t before[VALUES], values[VALUES], behind[VALUES];
} guarded;

/* The values leave when the holder does. */
static void leave_held(const void *holder)
{
    CHECK_STATUS(haul_environment_exit(env, guarded.values, NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, guarded.values, sizeof guarded.values), HAUL_PRESENT);
    CHECK_STATUS(haul_environment_exit(env, holder, NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, guarded.values, sizeof guarded.values), HAUL_ABSENT);
}

typedef struct few {
    int32_t *begin, *room; /* `count` values */
    uintptr_t high;        /* the same, with tag bits */
    int64_t distance;      /* the same, in bytes from here */
    int64_t count;
} few;

typedef struct few_look {
    const few *at;
    few seen;
} few_look;

static void look_at_few(void *argument)
{
    few_look *l = argument;
    l->seen = *l->at;
}

TEST(environment_fields, pointers_to_no_elements_lead_to_present_objects_and_hold_them)
{
    const haul_field fields[] = {
        HAUL_ARRAY(few, begin, HAUL_COUNT(few, count)),
        HAUL_END_OF(few, room, begin),
        HAUL_ADDRESS(few, high, .element_bytes = 4, .count = HAUL_COUNT(few, count),
                     .tag_bits = HAUL_HIGH_TAGS),
        HAUL_RELATIVE(few, distance, .element_bytes = 4, .count = HAUL_COUNT(few, count)),
    };
    static few holder;
    haul_type *few_type, *values_type;
    int kind, i;
    start();
    few_type = TYPE_NEW(few, fields);
    values_type = type_new(&(const haul_struct)HAUL_PLAIN(int32_t, NULL));
    CHECK_STATUS(haul_type_commit(few_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(values_type), HAUL_OK);
    for (kind = 0; kind < 2 + IS_WIDE; kind++)
        for (i = 0; i <= VALUES; i++) {
            int32_t *const target = guarded.values + i, *there;
            few_look l;
            memset(&holder, 0, sizeof holder);
            if (kind == 0)
                holder.begin = holder.room = target;
            else if (kind == 1)
                holder.distance = (int64_t)((intptr_t)target - (intptr_t)&holder.distance);
            else
                holder.high = (uintptr_t)target | HIGH;
            CHECK_STATUS(
                haul_environment_enter(env, guarded.values, values_type, VALUES, NULL, NULL),
                HAUL_OK);
            CHECK_STATUS(haul_environment_enter(env, &holder, few_type, 1, NULL, NULL), HAUL_OK);
            l.at = THERE(&holder);
            CHECK_STATUS(haul_host_launch(device, look_at_few, &l), HAUL_OK);
            there = THERE(target);
            CHECK_PTR(l.seen.begin, kind == 0 ? there : NULL);
            CHECK_PTR(l.seen.room, l.seen.begin);
            CHECK_EQ(l.seen.high, kind == 2 ? (uintptr_t)there | HIGH : 0);
            if (kind == 1)
                CHECK_EQ((uintptr_t)THERE(&holder.distance) + (uintptr_t)l.seen.distance,
                         (uintptr_t)there);
            leave_held(&holder);
        }
    haul_type_free(&few_type);
    haul_type_free(&values_type);
    finish();
}

/* The first root of the holder's group leaves, so the group is cut. */
TEST(environment_fields, pointers_to_no_elements_hold_what_they_lead_to_in_the_rest_of_a_group)
{
    haul_type *values_type;
    int i;
    start_odd();
    values_type = type_new(&(const haul_struct)HAUL_PLAIN(int32_t, NULL));
    CHECK_STATUS(haul_type_commit(values_type), HAUL_OK);
    for (i = 0; i <= VALUES; i++) {
        static odd other;
        memset(&other, 0, sizeof other);
        heap.fresh.begin = heap.fresh.end = guarded.values + i;
        other.owner = &heap.fresh;
        CHECK_STATUS(haul_environment_enter(env, guarded.values, values_type, VALUES, NULL, NULL),
                     HAUL_OK);
        CHECK_STATUS(haul_environment_enter(env, &other, odd_type, 1, NULL, NULL), HAUL_OK);
        CHECK_STATUS(haul_environment_enter(env, &heap.fresh, odd_type, 1, NULL, NULL), HAUL_OK);
        CHECK_STATUS(haul_environment_exit(env, &other, NULL, NULL), HAUL_OK);
        CHECK_EQ(haul_environment_presence(env, &other, 1), HAUL_ABSENT);
        leave_held(&heap.fresh);
    }
    haul_type_free(&values_type);
    finish_odd();
}

static void refuse_attach(const void *pointer)
{
    CHECK_STATUS(haul_environment_attach(env, pointer), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "only the enter of its object sends it");
}

TEST(environment_fields, special_words_of_present_objects_stay_and_no_call_attaches_them)
{
    glance g;
    start_odd();
    heap.old.high = IS_WIDE ? (uintptr_t)&heap.fresh | HIGH : 0;
    heap.old.relative = (int64_t)((intptr_t)&heap.fresh - (intptr_t)&heap.old.relative);
    heap.old.alias = &heap.fresh;
    heap.fresh.owner = &heap.old;
    (void)fresh_there();
    g.at = haul_environment_device_pointer(env, &heap.old);
    CHECK_STATUS(haul_host_launch(device, glance_there, &g), HAUL_OK);
    CHECK_PTR(g.seen.alias, THERE(&heap.fresh));
    CHECK_EQ(g.seen.high, 0);
    CHECK_EQ(g.seen.relative, 0);
    CHECK_EQ(info().attached, 1);
    if (IS_WIDE)
        refuse_attach(&heap.old.high);
    refuse_attach(&heap.old.relative);
    heap.old.high = 0;
    heap.old.relative = 0;
    finish_odd();
}
