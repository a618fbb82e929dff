/* Updates of many parts of a data environment: members of all objects of a type, strided sections,
 * batches.
 */
#include "environment_graphs.h"

#define P (host.parts)
#define UPDATE(parts, direction)                                                                   \
    CHECK_STATUS(haul_environment_update(env, (parts), sizeof(parts) / sizeof(parts)[0],           \
                                         (direction), NULL),                                       \
                 HAUL_OK)
#define ALL_VALUES                                                                                 \
    {                                                                                              \
        .type = part_type, .offset = offsetof(part, value), .bytes = sizeof(int64_t)               \
    }

static int is_there(size_t i)
{
    return haul_environment_presence(env, &P[i], sizeof P[i]) == HAUL_PRESENT;
}

/* The device adds 1000 to each value that it has, and the host 5000. */
static void change_both(void)
{
    size_t i;
    for (i = 0; i < PARTS; i++) {
        if (is_there(i))
            change_there(&P[i]);
        P[i].value += 5000;
    }
}

/* Two groups of two parts each, beside others that are absent. */
static void enter_two_groups(void)
{
    P[0].a = &P[3];
    P[7].a = &P[5];
    P[7].b = &P[0];
    enter(&P[0]);
    enter(&P[7]);
}

TEST(environment_updates, a_member_of_all_objects_of_a_type_crosses_alone)
{
    static const int present[] = { 0, 3, 5, 7 };
    haul_environment_info before;
    size_t i;
    start();
    enter_two_groups();
    change_both();
    P[7].a = &P[9];
    before = info();
    UPDATE(((haul_update_part[]){ ALL_VALUES }), HAUL_TO_DEVICE);
    CHECK_EQ(info().transfers_to, before.transfers_to + 1);
    CHECK_EQ(info().bytes_to, before.bytes_to + 4 * sizeof(int64_t));
    for (i = 0; i < 4; i++) {
        CHECK_EQ(seen(&P[present[i]]).seen.value, 5100 + present[i]);
        CHECK_PTR(seen(&P[present[i]]).seen.data, (void *)there(P[present[i]].data));
        CHECK_EQ(seen(&P[present[i]]).first, 1000 + 10 * present[i]);
    }
    CHECK_PTR(seen(&P[7]).seen.a, there(&P[5]));
    change_both();
    UPDATE(((haul_update_part[]){ ALL_VALUES }), HAUL_TO_HOST);
    CHECK_EQ(info().transfers_from, before.transfers_from + 1);
    for (i = 0; i < PARTS; i++)
        CHECK_EQ(P[i].value, (is_there(i) ? 6100 : 10100) + (int)i);
    CHECK_EQ(host.arrays[3][0], 30);
    CHECK_PTR(P[7].a, &P[9]);
    finish();
}

TEST(environment_updates, a_member_of_one_group_leaves_the_others_alone)
{
    start();
    enter_two_groups();
    change_both();
    UPDATE(((haul_update_part[]){ { .host = &P[5].count,
                                    .type = part_type,
                                    .offset = offsetof(part, value),
                                    .bytes = sizeof(int64_t) } }),
           HAUL_TO_HOST);
    CHECK_EQ(P[0].value, 5100);
    CHECK_EQ(P[3].value, 5103);
    CHECK_EQ(P[5].value, 1105);
    CHECK_EQ(P[7].value, 1107);
    finish();
}

TEST(environment_updates, a_member_is_found_anew_when_groups_have_come_and_gone)
{
    size_t before, i;
    start();
    enter_two_groups();
    before = info().bookkeeping_bytes;
    UPDATE(((haul_update_part[]){ ALL_VALUES }), HAUL_TO_HOST);
    CHECK(info().bookkeeping_bytes > before);
    leave(&P[7]);
    P[9].a = &P[11];
    enter(&P[9]);
    change_both();
    UPDATE(((haul_update_part[]){ ALL_VALUES }), HAUL_TO_HOST);
    for (i = 0; i < PARTS; i++)
        CHECK_EQ(P[i].value, (int)i + (i == 0 || i == 3 || i == 9 || i == 11 ? 1100 : 5100));
    finish();
}

TEST(environment_updates, whole_objects_leave_their_pointers)
{
    start();
    enter_two_groups();
    change_both();
    UPDATE(((haul_update_part[]){ { .type = part_type, .bytes = sizeof(part) } }), HAUL_TO_DEVICE);
    CHECK_EQ(seen(&P[3]).seen.value, 5103);
    CHECK_PTR(seen(&P[7]).seen.b, there(&P[0]));
    CHECK_PTR(seen(&P[3]).seen.data, (void *)there(P[3].data));
    finish();
}

typedef struct matrix {
    int16_t cells[60];
} matrix;

static const haul_field matrix_fields[] = { HAUL_RAW(matrix, cells) };

static void add_to_cells(void *argument)
{
    matrix *m = argument;
    int i;
    for (i = 0; i < 60; i++)
        m->cells[i] = (int16_t)(m->cells[i] + 100);
}

TEST(environment_updates, a_strided_section_is_its_runs_alone)
{
    static matrix m;
    haul_update_part column = { .host = &m.cells[3], .bytes = 4, .count = 6, .stride = 20 };
    haul_type *matrix_type;
    int i;
    start();
    matrix_type = TYPE_NEW(matrix, matrix_fields);
    CHECK_STATUS(haul_type_commit(matrix_type), HAUL_OK);
    for (i = 0; i < 60; i++)
        m.cells[i] = (int16_t)i;
    CHECK_STATUS(haul_environment_enter(env, &m, matrix_type, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, add_to_cells, there(&m)), HAUL_OK);
    CHECK_STATUS(haul_environment_update(env, &column, 1, HAUL_TO_HOST, NULL), HAUL_OK);
    for (i = 0; i < 60; i++)
        CHECK_EQ(m.cells[i], i % 10 == 3 || i % 10 == 4 ? i + 100 : i);
    for (i = 0; i < 60; i++)
        m.cells[i] = (int16_t)-i;
    CHECK_STATUS(haul_environment_update(env, &column, 1, HAUL_TO_DEVICE, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_update_host(env, &m, sizeof m, NULL), HAUL_OK);
    for (i = 0; i < 60; i++)
        CHECK_EQ(m.cells[i], i % 10 == 3 || i % 10 == 4 ? -i : i + 100);
    column.count = 7; /* it reaches out of the matrix */
    CHECK_STATUS(haul_environment_update(env, &column, 1, HAUL_TO_HOST, NULL), HAUL_ERROR_ARGUMENT);
    haul_type_free(&matrix_type);
    finish();
}

TEST(environment_updates, equal_parts_of_two_groups_cross_together)
{
    start();
    enter_two_groups();
    change_both();
    UPDATE(((haul_update_part[]){ { .host = &P[0].value, .bytes = 8 },
                                  { .host = &P[7].value, .bytes = 8 } }),
           HAUL_TO_HOST);
    CHECK_EQ(P[0].value, 1100);
    CHECK_EQ(P[7].value, 1107);
    finish();
}

TEST(environment_updates, a_batch_is_one_transfer)
{
    haul_environment_info before;
    start();
    enter_two_groups();
    change_both();
    before = info();
    UPDATE(((haul_update_part[]){ { .host = &P[3].value, .bytes = 8 },
                                  { .host = host.arrays[5], .bytes = sizeof host.arrays[5] },
                                  { .host = &P[7], .bytes = sizeof P[7] },
                                  { .host = (char *)&P[3].value + 3, .bytes = 2 } }),
           HAUL_TO_HOST);
    CHECK_EQ(info().transfers_from, before.transfers_from + 1);
    CHECK_EQ(P[0].value, 5100);
    CHECK_EQ(P[3].value, 1103);
    CHECK_EQ(P[7].value, 1107);
    CHECK_PTR(P[7].a, &P[5]);
    CHECK_EQ(host.arrays[5][0], 1050);
    CHECK_EQ(host.arrays[3][0], 30);
    CHECK_STATUS(haul_environment_update(env, NULL, 0, HAUL_TO_HOST, NULL), HAUL_OK);
    finish();
}

static void break_count(void *argument)
{
    ((part *)argument)->count--;
}

TEST(environment_updates, a_count_that_the_device_has_changed_keeps_all_parts_away)
{
    haul_update_part counts = { .offset = offsetof(part, count), .bytes = 16 };
    start();
    counts.type = part_type;
    enter_two_groups();
    change_both();
    CHECK_STATUS(haul_host_launch(device, break_count, there(&P[5])), HAUL_OK);
    CHECK_STATUS(haul_environment_update(env, &counts, 1, HAUL_TO_HOST, NULL), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(context)->path, "root.a.data");
    CHECK_EQ(P[0].value, 5100);
    counts.host = &P[0];
    CHECK_STATUS(haul_environment_update(env, &counts, 1, HAUL_TO_HOST, NULL), HAUL_OK);
    CHECK_EQ(P[0].value, 1100);
    finish();
}

TEST(environment_updates, a_wrong_part_is_refused_before_anything_crosses)
{
    haul_update_part parts[2] = { { .bytes = 0 }, { .bytes = 0 } };
    const struct {
        haul_update_part part;
        int is_typed;
        const char *text;
    } wrong[] = {
        { { .host = &P[1], .bytes = 8 }, 0, "are not on the device" },
        { { .host = &P[0], .bytes = 0 }, 0, "has no bytes" },
        { { .host = &P[0], .bytes = 8, .count = 2, .stride = 4 }, 0, "runs that overlap" },
        { { .host = &P[0], .bytes = 8, .count = SIZE_MAX, .stride = 8 }, 0, "runs that overlap" },
        { { .bytes = 8, .offset = 33 }, 1, "reach out of type part" },
        { { .bytes = 41 }, 1, "reach out of type part" },
        { { .host = &P[1], .bytes = 8 }, 1, "is not on the device" },
    };
    const haul_struct plain = { .name = "open", .bytes = 8 };
    haul_environment_info before;
    haul_type *open;
    size_t i;
    start();
    enter_two_groups();
    change_both();
    before = info();
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        parts[0].type = part_type;
        parts[0].bytes = sizeof(part);
        parts[1] = wrong[i].part;
        parts[1].type = wrong[i].is_typed ? part_type : NULL;
        CHECK_STATUS(haul_environment_update(env, parts, 2, HAUL_TO_HOST, NULL),
                     HAUL_ERROR_ARGUMENT);
        CHECK_HAS(haul_context_error(context)->text, wrong[i].text);
    }
    CHECK_EQ(info().transfers_from, before.transfers_from);
    CHECK_EQ(P[0].value, 5100);
    leave(&P[7]);
    leave(&P[0]);
    CHECK_STATUS(haul_environment_update(env, parts, 1, HAUL_TO_HOST, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "no object of type part is on the device");
    CHECK_STATUS(haul_type_create(context, &plain, &open), HAUL_OK);
    parts[0].type = open;
    CHECK_STATUS(haul_environment_update(env, parts, 1, HAUL_TO_HOST, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "is not committed");
    haul_type_free(&open);
    finish();
}

/* ---- Any parts, against each byte. */

typedef struct shadow {
    part *at[PARTS];
    part seen[PARTS];
} shadow;

static void copy_shadow(void *argument)
{
    shadow *s = argument;
    int i;
    for (i = 0; i < PARTS; i++)
        if (s->at[i])
            s->seen[i] = *s->at[i];
}

static void look_at_all(shadow *s)
{
    size_t i;
    for (i = 0; i < PARTS; i++)
        s->at[i] = is_there(i) ? there(&P[i]) : NULL;
    CHECK_STATUS(haul_host_launch(device, copy_shadow, s), HAUL_OK);
}

enum { MOST_PARTS = 5 };

/* A random part, which lies in a present object or, with a type, in all of them; and the bytes that
 * it moves. */
static haul_update_part random_part(random_source *dice, unsigned char moved[PARTS][sizeof(part)])
{
    haul_update_part update;
    const size_t offset = random_below(dice, sizeof(part)),
                 bytes = 1 + random_below(dice, sizeof(part) - offset);
    size_t runs = 1, i, k, b;
    memset(&update, 0, sizeof update);
    do
        i = random_below(dice, PARTS);
    while (!is_there(i));
    update.offset = offset;
    update.bytes = bytes;
    if (random_below(dice, 2))
        update.type = part_type;
    else
        update.host = (char *)&P[i] + offset;
    if (bytes > 3) {
        update.bytes = 1 + random_below(dice, 2);
        update.stride = update.bytes + random_below(dice, 2);
        update.count = runs = (bytes - update.bytes) / update.stride + 1;
    }
    for (k = 0; k < PARTS; k++)
        for (b = 0; b < runs * update.bytes; b++) {
            const size_t at = offset + b / update.bytes * update.stride + b % update.bytes;
            if ((update.type || k == i) && at >= offsetof(part, count))
                moved[k][at] = 1;
        }
    return update;
}

static void try_parts(random_source *dice)
{
    static shadow before, after;
    static store was;
    static unsigned char moved[PARTS][sizeof(part)];
    const haul_direction direction = random_below(dice, 2) ? HAUL_TO_HOST : HAUL_TO_DEVICE;
    haul_update_part parts[MOST_PARTS];
    size_t count = 1 + random_below(dice, MOST_PARTS), i, b;
    memset(moved, 0, sizeof moved);
    change_both();
    for (i = 0; i < count; i++)
        parts[i] = random_part(dice, moved);
    look_at_all(&before);
    was = host;
    CHECK_STATUS(haul_environment_update(env, parts, count, direction, NULL), HAUL_OK);
    look_at_all(&after);
    for (i = 0; i < PARTS; i++)
        for (b = 0; b < sizeof(part); b++) {
            const unsigned char *there_was = (unsigned char *)&before.seen[i],
                                *here_was = (unsigned char *)&was.parts[i],
                                *there_is = (unsigned char *)&after.seen[i],
                                *here_is = (unsigned char *)&P[i];
            const int crosses = before.at[i] && moved[i][b];
            if (before.at[i])
                CHECK_EQ(there_is[b],
                         crosses && direction == HAUL_TO_DEVICE ? here_was[b] : there_was[b]);
            CHECK_EQ(here_is[b], crosses && direction == HAUL_TO_HOST ? there_was[b] : here_was[b]);
        }
}

/* Some parts are entered one by one, some side by side. */
static void try_many(void)
{
    random_source dice = random_start("updates agree with the model");
    int round;
    enter_two_groups();
    CHECK_STATUS(haul_environment_enter(env, &P[10], part_type, 4, NULL, NULL), HAUL_OK);
    for (round = 0; round < 300; round++)
        try_parts(&dice);
}

TEST(environment_updates, any_parts_move_their_data_and_no_other_byte)
{
    start();
    try_many();
    finish();
}

TEST(environment_updates, a_device_without_strips_moves_the_same_bytes)
{
    haul_device_table table = *haul_host_device();
    haul_device *opened;
    test_device options = { .settings = &ordinary_launches };
    table.gather_strips = NULL;
    table.scatter_strips = NULL;
    CHECK_STATUS(test_open(&table, &options, &opened), HAUL_OK);
    start_with(opened);
    try_many();
    finish();
}

static unsigned scatters;

static void tell_small_pieces(void *state, haul_device_capabilities *capabilities, size_t bytes)
{
    haul_host_device()->capabilities(state, capabilities, bytes);
    capabilities->chunk_bytes = 1;
}

static haul_status count_scatters(void *state, const haul_strip *strips, size_t count,
                                  const void *packed, size_t bytes)
{
    scatters++;
    CHECK_EQ(count, 1);
    return haul_host_device()->scatter_strips(state, strips, count, packed, bytes);
}

TEST(environment_updates, pieces_of_one_strip_each_move_the_same_bytes_in_one_transfer)
{
    static const haul_update_part members[] = { { .host = &P[0].value, .bytes = 8 },
                                                { .host = &P[3].value, .bytes = 4 },
                                                { .host = &P[7].value, .bytes = 2 } };
    haul_device_table table = *haul_host_device();
    haul_device *opened;
    test_device options = { .settings = &ordinary_launches };
    haul_environment_info before;
    table.capabilities = tell_small_pieces;
    table.scatter_strips = count_scatters;
    CHECK_STATUS(test_open(&table, &options, &opened), HAUL_OK);
    start_with(opened);
    enter_two_groups();
    before = info();
    scatters = 0;
    UPDATE(members, HAUL_TO_DEVICE);
    CHECK_EQ(scatters, 3);
    CHECK_EQ(info().transfers_to, before.transfers_to + 1);
    leave(&P[7]);
    leave(&P[0]);
    try_many();
    finish();
}

/* ---- Staging. */

enum { LARGE = 9 << 20 };

typedef struct large {
    char bytes[LARGE];
} large;

static const haul_field large_fields[] = { HAUL_RAW(large, bytes) };
static int stages;

static haul_status count_stage(void *state, size_t bytes, void **memory)
{
    stages++;
    return haul_host_device()->stage(state, bytes, memory);
}

TEST(environment_updates, a_large_one_leaves_its_memory_to_the_next)
{
    static large data;
    haul_device_table table = *haul_host_device();
    test_device options = { .settings = &ordinary_launches };
    haul_device *opened;
    haul_type *type;
    size_t before;
    table.stage = count_stage;
    CHECK_STATUS(test_open(&table, &options, &opened), HAUL_OK);
    start_with(opened);
    type = TYPE_NEW(large, large_fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, &data, type, 1, NULL, NULL), HAUL_OK);
    before = info().bookkeeping_bytes;
    stages = 0;
    data.bytes[LARGE - 1] = 1;
    CHECK_STATUS(haul_environment_update_device(env, &data, LARGE, NULL), HAUL_OK);
    CHECK_EQ(stages, 1);
    CHECK(info().bookkeeping_bytes >= before + LARGE);
    data.bytes[LARGE - 1] = 0;
    CHECK_STATUS(haul_environment_update_host(env, &data, LARGE, NULL), HAUL_OK);
    CHECK_EQ(stages, 1);
    CHECK_EQ(data.bytes[LARGE - 1], 1);
    haul_type_free(&type);
    finish();
}

/* Threads share the runs of a range, which end anywhere. */
TEST(environment_updates, a_part_of_a_large_array_crosses_by_all_threads_and_no_byte_beside_it)
{
    static const size_t parts[][2] = { { 0, 65536 },     { 1, 65536 },        { 65535, 65537 },
                                       { 123, 1000001 }, { 5, LARGE - 4096 }, { 0, LARGE } };
    static large data;
    random_source dice = random_start("parts of a large array");
    haul_type *type;
    size_t i, k, wrong = 0;
    start_in((haul_context_options){ .threads = 3 });
    type = TYPE_NEW(large, large_fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t begin = parts[i][0], end = begin + parts[i][1];
        const unsigned salt = (unsigned)random_below(&dice, 251);
        memset(data.bytes, 0, LARGE);
        CHECK_STATUS(haul_environment_enter(env, &data, type, 1, NULL, NULL), HAUL_OK);
        for (k = 0; k < LARGE; k++)
            data.bytes[k] = (char)(1 + (k * 7 + k / 4096 + salt) % 127);
        CHECK_STATUS(haul_environment_update_device(env, data.bytes + begin, end - begin, NULL),
                     HAUL_OK);
        memset(data.bytes, 0, LARGE);
        CHECK_STATUS(haul_environment_update_host(env, &data, LARGE, NULL), HAUL_OK);
        for (k = 0; k < LARGE; k++)
            wrong += data.bytes[k] !=
                     (k >= begin && k < end ? (char)(1 + (k * 7 + k / 4096 + salt) % 127) : 0);
        CHECK_EQ(wrong, 0);
        CHECK_STATUS(haul_environment_exit(env, &data, NULL, NULL), HAUL_OK);
    }
    haul_type_free(&type);
    finish();
}
