/* Sync of a data environment: what the host has changed, and nothing else.
 */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

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

static int is_broken;

static haul_status copy_or_fail(void *state, haul_address to, const void *from, size_t bytes)
{
    return is_broken ? HAUL_ERROR_DEVICE : haul_host_device()->copy_to(state, to, from, bytes);
}

TEST(environment_sync, what_a_failed_one_has_not_sent_goes_with_the_next)
{
    haul_device_table table = *haul_host_device();
    test_device options = { .settings = &ordinary_launches };
    haul_device *opened;
    table.copy_to = copy_or_fail;
    table.gather_strips = NULL;
    table.scatter_strips = NULL;
    CHECK_STATUS(test_open(&table, &options, &opened), HAUL_OK);
    start_with(opened);
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

/* ---- Changes that the system notices. */

enum { WIDE = 256 }; /* pages */

typedef struct wide {
    unsigned char bytes[WIDE * PAGE];
} wide;

static const haul_field wide_fields[] = { HAUL_RAW(wide, bytes) };
static haul_type *wide_type;
static unsigned char *mapped; /* a page before the object, and one behind it */
static wide *watched;         /* it begins in the middle of a page, or not */

/* 0: the system does not notice, and the answer says so. */
static int start_noticing(size_t at)
{
    haul_status status;
    start();
    status = haul_environment_set_noticing(env, HAUL_NOTICE_WRITES);
    if (status != HAUL_OK) {
        CHECK_STATUS(status, HAUL_ERROR_UNSUPPORTED);
        CHECK_HAS(haul_context_error(context)->text, "does not tell");
        finish();
        return 0;
    }
    mapped =
        mmap(NULL, (WIDE + 2) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapped != MAP_FAILED);
    watched = (wide *)(void *)(mapped + at);
    memset(watched, 1, sizeof *watched);
    wide_type = TYPE_NEW(wide, wide_fields);
    CHECK_STATUS(haul_type_commit(wide_type), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, watched, wide_type, 1, NULL, NULL), HAUL_OK);
    sync_all();
    return 1;
}

static void finish_noticing(void)
{
    haul_type_free(&wide_type);
    finish();
    CHECK(munmap(mapped, (WIDE + 2) * PAGE) == 0);
}

typedef struct bytes_there {
    const wide *at;
    int are_equal;
} bytes_there;

static void compare_there(void *argument)
{
    bytes_there *b = argument;
    b->are_equal = memcmp(b->at, watched, sizeof *watched) == 0;
}

static void check_there(void)
{
    bytes_there b = { haul_environment_device_pointer(env, watched), 0 };
    CHECK_STATUS(haul_host_launch(device, compare_there, &b), HAUL_OK);
    CHECK(b.are_equal);
}

TEST(environment_sync, a_sync_reads_only_the_pages_that_were_written)
{
    haul_environment_info before;
    if (!start_noticing(PAGE))
        return;
    before = info();
    watched->bytes[7 * PAGE + 1] = 2;
    watched->bytes[200 * PAGE] = 1; /* written, and equal */
    CHECK(mprotect(watched->bytes + 8 * PAGE, 192 * PAGE, PROT_NONE) == 0);
    sync_all();
    CHECK(mprotect(watched->bytes + 8 * PAGE, 192 * PAGE, PROT_READ | PROT_WRITE) == 0);
    CHECK_EQ(info().bytes_to, before.bytes_to + PAGE);
    check_there();
    CHECK(mprotect(watched, sizeof *watched, PROT_NONE) == 0);
    sync_all();
    CHECK(mprotect(watched, sizeof *watched, PROT_READ | PROT_WRITE) == 0);
    CHECK_EQ(info().bytes_to, before.bytes_to + PAGE);
    watched->bytes[0] = 3;
    watched->bytes[sizeof *watched - 1] = 3;
    sync_all();
    check_there();
    finish_noticing();
}

TEST(environment_sync, memory_that_is_mapped_anew_is_read)
{
    void *anew;
    if (!start_noticing(PAGE))
        return;
    anew = mmap(watched->bytes + 50 * PAGE, 10 * PAGE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    CHECK(anew == watched->bytes + 50 * PAGE);
    sync_all();
    check_there();
    watched->bytes[55 * PAGE] = 9; /* watched again */
    sync_all();
    check_there();
    finish_noticing();
}

TEST(environment_sync, what_comes_back_and_what_changes_after_a_failure_is_noticed)
{
    if (!start_noticing(PAGE))
        return;
    watched->bytes[9 * PAGE] = 5;
    CHECK_STATUS(haul_environment_update_host(env, watched, sizeof *watched, NULL), HAUL_OK);
    CHECK_EQ(watched->bytes[9 * PAGE], 1);
    sync_all();
    check_there();
    CHECK_STATUS(haul_environment_set_noticing(env, HAUL_NOTICE_DIGESTS), HAUL_OK);
    watched->bytes[10 * PAGE] = 6;
    CHECK_STATUS(haul_environment_set_noticing(env, HAUL_NOTICE_WRITES), HAUL_OK);
    watched->bytes[11 * PAGE] = 6;
    sync_all();
    check_there();
    CHECK_STATUS(haul_environment_set_noticing(env, (haul_noticing)7), HAUL_ERROR_ARGUMENT);
    finish_noticing();
}

typedef struct holder {
    unsigned char *bytes;
    int64_t count, value;
} holder;

static const haul_field holder_fields[] = { HAUL_ARRAY(holder, bytes, HAUL_COUNT(holder, count)) };

/* The first page of the array has a digest together with the object before it. */
TEST(environment_sync, an_array_is_watched_beside_an_object_that_is_read)
{
    haul_environment_info before;
    haul_type *holder_type;
    holder *h;
    if (!start_noticing(PAGE))
        return;
    CHECK_STATUS(haul_environment_exit(env, watched, NULL, NULL), HAUL_OK);
    h = (holder *)(void *)mapped;
    h->bytes = watched->bytes;
    h->count = sizeof *watched;
    holder_type = TYPE_NEW(holder, holder_fields);
    CHECK_STATUS(haul_type_commit(holder_type), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, h, holder_type, 1, NULL, NULL), HAUL_OK);
    sync_all();
    before = info();
    h->value = 5;
    sync_all();
    CHECK(info().bytes_to > before.bytes_to);
    watched->bytes[3] = 7;
    watched->bytes[PAGE] = 7;
    watched->bytes[sizeof *watched - 1] = 7;
    CHECK(mprotect(watched->bytes + 2 * PAGE, (WIDE - 4) * PAGE, PROT_NONE) == 0);
    sync_all();
    CHECK(mprotect(watched->bytes + 2 * PAGE, (WIDE - 4) * PAGE, PROT_READ | PROT_WRITE) == 0);
    check_there();
    haul_type_free(&holder_type);
    finish_noticing();
}

/* Two environments cannot both watch; the second one reads. */
TEST(environment_sync, two_environments_that_notice_see_the_same_changes)
{
    haul_environment *second;
    bytes_there b;
    if (!start_noticing(PAGE))
        return;
    CHECK_STATUS(haul_environment_create(device, &second), HAUL_OK);
    CHECK_STATUS(haul_environment_set_noticing(second, HAUL_NOTICE_WRITES), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(second, watched, wide_type, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_sync(second, NULL), HAUL_OK);
    watched->bytes[100 * PAGE + 5] = 8;
    sync_all();
    check_there();
    CHECK_STATUS(haul_environment_sync(second, NULL), HAUL_OK);
    b.at = haul_environment_device_pointer(second, watched);
    b.are_equal = 0;
    CHECK_STATUS(haul_host_launch(device, compare_there, &b), HAUL_OK);
    CHECK(b.are_equal);
    haul_environment_free(&second);
    finish_noticing();
}

TEST(environment_sync, random_writes_are_noticed_wherever_the_object_begins)
{
    random_source dice = random_start("noticed writes agree with the host");
    size_t at, round, i;
    for (at = 0; at < PAGE; at += 1 + random_below(&dice, 1000)) {
        if (!start_noticing(at))
            return;
        for (round = 0; round < 10; round++) {
            for (i = random_below(&dice, 30); i > 0; i--)
                memset(watched->bytes + random_below(&dice, sizeof *watched - 5000),
                       (int)random_below(&dice, 256), random_below(&dice, 5000));
            if (random_below(&dice, 4) == 0) { /* exits and enters: new digests */
                CHECK_STATUS(haul_environment_exit(env, watched, NULL, NULL), HAUL_OK);
                CHECK_STATUS(haul_environment_enter(env, watched, wide_type, 1, NULL, NULL),
                             HAUL_OK);
            }
            sync_all();
            check_there();
        }
        finish_noticing();
    }
}
