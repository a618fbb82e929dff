/* Environments: ends of arrays, where other objects begin.
 *
 * The arrays are slices of one block, so the end of each is the begin of the next one. On the
 * device each slice may lie anywhere.
 */
#include "environment_graphs.h"

enum { SLICES = 8, VALUES = 4 * SLICES, PAIRS = 3, HOLDERS = 4 };

typedef struct pair {
    int32_t *begin, *end;
} pair;

typedef struct vector {
    pair of[PAIRS];
    int32_t *first, *behind, *room; /* a pair, and the end of its room */
    struct vector *next;
} vector;

static haul_type *pair_type, *vector_type, *values_type;
static const haul_field pair_fields[] = { HAUL_ARRAY(pair, begin, HAUL_UNTIL(pair, end)) };
static const haul_field vector_fields[] = {
    HAUL_EMBED(vector, of, &pair_type),
    HAUL_ARRAY(vector, first, HAUL_UNTIL(vector, behind)),
    HAUL_END_OF(vector, room, first),
    HAUL_OBJECT(vector, next, &vector_type),
};

static struct {
    vector holders[HOLDERS];
    int32_t values[VALUES];
} block;

static void start_slices(void)
{
    int i;
    start();
    values_type = type_new(&(const haul_struct)HAUL_PLAIN(int32_t, NULL));
    pair_type = TYPE_NEW(pair, pair_fields);
    vector_type = TYPE_NEW(vector, vector_fields);
    CHECK_STATUS(haul_type_commit(values_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(vector_type), HAUL_OK);
    memset(&block, 0, sizeof block);
    for (i = 0; i < VALUES; i++)
        block.values[i] = 100 + i;
}

static void finish_slices(void)
{
    haul_type_free(&vector_type);
    haul_type_free(&pair_type);
    haul_type_free(&values_type);
    finish();
}

static void put(void *root, const haul_type *type, size_t count)
{
    CHECK_STATUS(haul_environment_enter(env, root, type, count, NULL, NULL), HAUL_OK);
}

static void take(const void *root)
{
    CHECK_STATUS(haul_environment_exit(env, root, NULL, NULL), HAUL_OK);
}

static void put_values(int32_t *begin, const int32_t *end)
{
    put(begin, values_type, (size_t)(end - begin));
}

static int32_t *there_of(const void *at)
{
    return haul_environment_device_pointer(env, at);
}

typedef struct vector_look {
    const vector *at;
    vector seen;
} vector_look;

static void look_at_vector(void *argument)
{
    vector_look *l = argument;
    l->seen = *l->at;
}

static vector vector_there(const vector *v)
{
    vector_look l;
    memset(&l, 0, sizeof l);
    l.at = haul_environment_device_pointer(env, v);
    CHECK(l.at != NULL);
    CHECK_STATUS(haul_host_launch(device, look_at_vector, &l), HAUL_OK);
    return l.seen;
}

/* Is each array of a vector, there, as long as here, and where its begin is present? */
static void check_vector(const vector *v)
{
    const vector seen = vector_there(v);
    int i;
    for (i = 0; i < PAIRS; i++) {
        if (v->of[i].begin == v->of[i].end)
            continue;
        CHECK_PTR(seen.of[i].begin, there_of(v->of[i].begin));
        CHECK_PTR(seen.of[i].end, seen.of[i].begin + (v->of[i].end - v->of[i].begin));
    }
    if (v->first == v->behind)
        return;
    CHECK_PTR(seen.first, there_of(v->first));
    CHECK_PTR(seen.behind, seen.first + (v->behind - v->first));
    CHECK_PTR(seen.room, seen.behind);
}

/* All arrays of the vector are the values from `begin` to `end`. */
static void fill_vector(vector *v, int32_t *begin, int32_t *end)
{
    int i;
    for (i = 0; i < PAIRS; i++) {
        v->of[i].begin = begin;
        v->of[i].end = end;
    }
    v->first = begin;
    v->behind = v->room = end;
}

/* A vector of the first `count` values, with those behind them present. */
static void check_before_present(size_t count, int is_array_present)
{
    vector *v = &block.holders[0];
    int32_t *const m = block.values;
    start_slices();
    if (is_array_present)
        put_values(m, m + count);
    put_values(m + count, m + 8);
    fill_vector(v, m, m + count);
    put(v, vector_type, 1);
    check_vector(v);
    finish_slices();
}

TEST(environment_ends, the_end_of_a_new_array_is_not_the_present_object_behind_it)
{
    check_before_present(4, 0);
}

TEST(environment_ends, the_end_of_a_present_array_is_not_the_present_object_behind_it)
{
    check_before_present(3, 1);
}

TEST(environment_ends, the_end_of_a_present_array_is_not_the_new_object_behind_it)
{
    vector *v = &block.holders[0];
    int32_t *const m = block.values;
    start_slices();
    put_values(m, m + 3);
    fill_vector(v, m, m + 3);
    v->of[1].begin = m + 3;
    v->of[1].end = m + 8;
    put(v, vector_type, 1);
    check_vector(v);
    finish_slices();
}

TEST(environment_ends, an_enter_of_the_object_behind_a_present_array_leaves_the_arrays_end)
{
    struct {
        int32_t values[4];
        vector behind;
    } m;
    vector *v = &block.holders[0];
    start_slices();
    memset(&m, 0, sizeof m);
    fill_vector(v, m.values, m.values + 4);
    put(v, vector_type, 1);
    m.behind.next = v; /* so the enter looks at the pointers of `v` */
    put(&m.behind, vector_type, 1);
    CHECK_EQ(info().attached, 0);
    check_vector(v);
    take(&m.behind);
    check_vector(v);
    finish_slices();
}

TEST(environment_ends, an_end_is_attached_with_its_array_and_detached_with_it)
{
    vector *v = &block.holders[0], *w = &block.holders[1];
    int32_t *const m = block.values;
    vector seen;
    start_slices();
    put_values(m + 4, m + 8);
    put(v, vector_type, 1);
    v->of[1].begin = m;
    v->of[1].end = m + 4;
    *w = *v; /* brings the array, and leads to `v` */
    w->next = v;
    put(w, vector_type, 1);
    CHECK_EQ(info().attached, 2);
    check_vector(v);
    take(w);
    seen = vector_there(v);
    CHECK_PTR(seen.of[1].begin, NULL);
    CHECK_PTR(seen.of[1].end, NULL);
    finish_slices();
}

TEST(environment_ends, a_call_attaches_an_end_to_its_own_array)
{
    vector *v = &block.holders[0];
    int32_t *const m = block.values;
    vector seen;
    start_slices();
    put_values(m, m + 4);
    put_values(m + 4, m + 8);
    put(v, vector_type, 1);
    v->of[0].begin = m;
    v->of[0].end = m + 4;
    CHECK_STATUS(haul_environment_attach(env, &v->of[0].begin), HAUL_OK);
    CHECK_STATUS(haul_environment_attach(env, &v->of[0].end), HAUL_OK);
    check_vector(v);
    take(m + 4); /* it is nothing to the vector */
    check_vector(v);
    take(m);
    seen = vector_there(v);
    CHECK_PTR(seen.of[0].begin, NULL);
    CHECK_PTR(seen.of[0].end, NULL);
    finish_slices();
}

/* The rest of a group is what its pointers lead to, and the end of an array leads to nothing. */
TEST(environment_ends, the_end_of_an_array_that_stays_holds_nothing_behind_it)
{
    vector *maker = &block.holders[0], *v = &block.holders[1], *holder = &block.holders[2];
    int32_t *const m = block.values;
    start_slices();
    fill_vector(v, m, m + 4);
    maker->of[0].begin = m + 4;
    maker->of[0].end = m + 8;
    maker->next = v;
    holder->next = v;
    put(maker, vector_type, 1);
    put(holder, vector_type, 1);
    take(maker);
    CHECK_EQ(haul_environment_presence(env, m, 16), HAUL_PRESENT);
    CHECK_EQ(haul_environment_presence(env, m + 4, 16), HAUL_ABSENT);
    check_vector(v);
    finish_slices();
}

TEST(environment_ends, an_attached_end_stays_when_what_lies_behind_its_array_leaves)
{
    vector *old = &block.holders[0], *maker = &block.holders[1], *v = &block.holders[2],
           *holder = &block.holders[3];
    int32_t *const m = block.values;
    start_slices();
    put(old, vector_type, 1);
    old->of[0].begin = v->of[0].begin = m;
    old->of[0].end = v->of[0].end = maker->of[0].begin = m + 4;
    maker->of[0].end = m + 8;
    maker->next = holder->next = v;
    v->next = old;
    put(maker, vector_type, 1);
    put(holder, vector_type, 1);
    CHECK_EQ(info().attached, 2);
    take(maker);
    CHECK_EQ(haul_environment_presence(env, m + 4, 16), HAUL_ABSENT);
    check_vector(old);
    take(holder);
    CHECK_PTR(vector_there(old).of[0].begin, NULL);
    CHECK_PTR(vector_there(old).of[0].end, NULL);
    finish_slices();
}

/* Slices that are present, or new, or both are in one vector. */
TEST(environment_ends, ends_stay_with_their_arrays_in_random_slices)
{
    random_source dice = random_start("slices");
    int round, i, k;
    for (round = 0; round < LARGE(400, 60); round++) {
        int32_t *cut[SLICES + 1];
        start_slices();
        cut[0] = block.values + random_below(&dice, 3);
        for (i = 0; i < SLICES; i++)
            cut[i + 1] = cut[i] + random_between(&dice, 1, VALUES / SLICES - 1);
        for (i = 0; i < SLICES; i++)
            if (random_one_in(&dice, 2))
                put_values(cut[i], cut[i + 1]);
        for (i = 0; i < HOLDERS; i++) {
            vector *v = &block.holders[i];
            for (k = 0; k < PAIRS; k++) {
                const int at = (int)random_below(&dice, SLICES);
                v->of[k].begin = cut[at];
                v->of[k].end = cut[at + 1];
            }
            k = (int)random_below(&dice, SLICES);
            v->first = cut[k];
            v->behind = cut[k + 1];
            v->room = v->behind + random_below(&dice, 3);
            v->next = random_one_in(&dice, 2) ? &block.holders[random_below(&dice, HOLDERS)] : NULL;
        }
        for (i = 0; i < HOLDERS; i++) {
            put(&block.holders[i], vector_type, 1);
            check_vector(&block.holders[i]);
        }
        for (i = 0; i < HOLDERS; i++)
            check_vector(&block.holders[i]);
        for (i = 0; i < HOLDERS; i++)
            take(&block.holders[i]);
        finish_slices();
    }
}
