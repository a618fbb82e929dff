/* Sync of a data environment: what the host has changed, and nothing else.
 */
#include "environment_graphs.h"

#define P (host.parts)

enum { PAGE = 4096, PAGES = 64 };

static void sync_all(void)
{
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
}

TEST(environment_sync, the_first_one_sends_all_data_and_the_next_one_none)
{
    haul_environment_info before;
    start();
    P[0].a = &P[3];
    enter(&P[0]);
    before = info();
    sync_all();
    CHECK_EQ(info().transfers_to, before.transfers_to + 1);
    CHECK_EQ(info().bytes_to - before.bytes_to, 2 * (16 + sizeof host.arrays[0]));
    CHECK(info().bookkeeping_bytes > before.bookkeeping_bytes);
    before = info();
    sync_all();
    CHECK_EQ(info().transfers_to, before.transfers_to);
    P[3].value = 7;
    sync_all();
    CHECK_EQ(info().transfers_to, before.transfers_to + 1);
    CHECK_EQ(seen(&P[3]).seen.value, 7);
    finish();
}

TEST(environment_sync, pointers_are_neither_read_nor_sent)
{
    haul_environment_info before;
    start();
    P[0].a = &P[3];
    enter(&P[0]);
    sync_all();
    before = info();
    P[0].a = &P[9];
    P[3].data = NULL;
    sync_all();
    CHECK_EQ(info().transfers_to, before.transfers_to);
    P[0].value = 1;
    sync_all();
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[3]));
    CHECK_EQ(seen(&P[3]).first, 30);
    finish();
}

typedef struct block {
    char bytes[PAGES * PAGE];
} block;

static const haul_field block_fields[] = { HAUL_RAW(block, bytes) };

static haul_type *start_block(block *b)
{
    haul_type *type;
    start();
    memset(b, 1, sizeof *b);
    type = TYPE_NEW(block, block_fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, b, type, 1, NULL, NULL), HAUL_OK);
    sync_all();
    return type;
}

TEST(environment_sync, pages_that_have_changed_go_alone)
{
    static block b;
    haul_type *type = start_block(&b);
    haul_environment_info before = info();
    b.bytes[5 * PAGE + 17] = 2;
    b.bytes[40 * PAGE] = 2;
    b.bytes[41 * PAGE - 1] = 2;
    sync_all();
    CHECK_EQ(info().transfers_to, before.transfers_to + 1);
    CHECK_EQ(info().bytes_to, before.bytes_to + 2 * PAGE);
    b.bytes[5 * PAGE + 17] = b.bytes[40 * PAGE] = b.bytes[41 * PAGE - 1] = 3;
    CHECK_STATUS(haul_environment_update_host(env, &b, sizeof b, NULL), HAUL_OK);
    CHECK_EQ(b.bytes[5 * PAGE + 17], 2);
    CHECK_EQ(b.bytes[40 * PAGE], 2);
    CHECK_EQ(b.bytes[41 * PAGE - 1], 2);
    haul_type_free(&type);
    finish();
}

TEST(environment_sync, one_group_is_synced_without_the_others)
{
    start();
    enter(&P[0]);
    enter(&P[5]);
    sync_all();
    P[0].value = P[5].value = 9;
    CHECK_STATUS(haul_environment_sync(env, &P[5].value), HAUL_OK);
    CHECK_EQ(seen(&P[0]).seen.value, 100);
    CHECK_EQ(seen(&P[5]).seen.value, 9);
    sync_all();
    CHECK_EQ(seen(&P[0]).seen.value, 9);
    CHECK_STATUS(haul_environment_sync(env, &P[1].value), HAUL_ERROR_ARGUMENT);
    finish();
}

TEST(environment_sync, what_a_failed_one_has_not_sent_goes_with_the_next)
{
    start_with(open_breakable());
    enter(&P[0]);
    sync_all();
    P[0].value = 9;
    is_broken = 1;
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_ERROR_DEVICE);
    is_broken = 0;
    sync_all();
    CHECK_EQ(seen(&P[0]).seen.value, 9);
    finish();
}

/* Random changes, of parts of several groups and of all their arrays. */
static void change_some(random_source *dice)
{
    size_t changes = random_below(dice, 4);
    while (changes-- > 0)
        if (random_below(dice, 2))
            P[random_below(dice, PARTS)].value = (int64_t)random_below(dice, 1000);
        else
            host.arrays[random_below(dice, ARRAYS)][random_below(dice, LENGTH)] =
                (int32_t)random_below(dice, 1000);
}

TEST(environment_sync, afterwards_the_device_has_the_data_of_the_host)
{
    random_source dice = random_start("syncs agree with the host");
    int round, i;
    start();
    for (round = 0; round < 300; round++) {
        part *root = &P[random_below(&dice, PARTS)];
        if (haul_environment_presence(env, root, sizeof *root) == HAUL_ABSENT)
            enter(root);
        else if (haul_environment_exit(env, root, NULL, NULL) != HAUL_OK)
            P[round % PARTS].value++;
        change_some(&dice);
        sync_all();
        for (i = 0; i < PARTS; i++)
            if (haul_environment_presence(env, &P[i], sizeof P[i]) == HAUL_PRESENT) {
                CHECK_EQ(seen(&P[i]).seen.value, P[i].value);
                CHECK_EQ(seen(&P[i]).first, P[i].data[0]);
            }
    }
    finish();
}
