/* Syncs that ask the system which pages were written. Where it does not tell, all is read, and the
 * same goes to the device.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "environment/environment.h"
#include "environment_graphs.h"

enum { PAGE = 4096, BYTES = 5 << 18, SMALL = 5000, LEAD = 1000, MAPPED = BYTES + 4 * PAGE };

/* An array of bytes that neither begins nor ends with a page, and a small one behind it. The struct
 * comes last, so the digests of the array are of 4 KiB each. */
typedef struct field {
    unsigned char *large, *small;
    uint64_t large_bytes, small_bytes;
} field;

static haul_type *field_type;
static const haul_field fields[] = {
    HAUL_ARRAY(field, large, HAUL_COUNT(field, large_bytes)),
    HAUL_ARRAY(field, small, HAUL_COUNT(field, small_bytes)),
};

static field *f;
static unsigned char *memory, *small;
static int is_told;   /* the system tells */
static int file = -1; /* that memory is mapped from; -1: from none */

static unsigned char *map_bytes(void *at, size_t bytes, int flags)
{
    void *mapped =
        mmap(at, bytes, PROT_READ | PROT_WRITE, flags | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
    CHECK(mapped != MAP_FAILED);
    return mapped;
}

/* The environment tracks, and has synced once. */
static void start_tracking_on(haul_device *opened, int flags)
{
    haul_status status;
    start_with(opened);
    memory = map_bytes(NULL, MAPPED, flags);
    memset(memory, 1, MAPPED);
    small = memory + LEAD + BYTES;
    f = (field *)(void *)(memory + MAPPED - sizeof *f);
    f->large = memory + LEAD;
    f->large_bytes = BYTES;
    f->small = small;
    f->small_bytes = SMALL;
    field_type = TYPE_NEW(field, fields);
    CHECK_STATUS(haul_type_commit(field_type), HAUL_OK);
    status = haul_environment_track_writes(env, 1);
    is_told = status == HAUL_OK;
    if (!is_told) {
        CHECK_STATUS(status, HAUL_ERROR_UNSUPPORTED);
        CHECK_HAS(haul_context_error(context)->text, "which pages");
    }
    CHECK_STATUS(haul_environment_enter(env, f, field_type, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
}

static haul_device *open_ordinary(void)
{
    haul_device *opened;
    test_device options = { .settings = &ordinary_launches };
    CHECK_STATUS(test_open(haul_host_device(), &options, &opened), HAUL_OK);
    return opened;
}

static void start_tracking(void)
{
    start_tracking_on(open_ordinary(), MAP_PRIVATE);
}

static void finish_tracking(void)
{
    finish();
    haul_type_free(&field_type);
    munmap(memory, MAPPED);
}

typedef struct compared {
    const unsigned char *there, *here;
    size_t bytes;
    int differ;
} compared;

static void compare(void *argument)
{
    compared *c = argument;
    c->differ = memcmp(c->there, c->here, c->bytes) != 0;
}

static int differ(const unsigned char *here, size_t bytes)
{
    compared c = { .here = here, .bytes = bytes };
    c.there = haul_environment_device_pointer(env, here);
    CHECK(c.there != NULL);
    CHECK_STATUS(haul_host_launch(device, compare, &c), HAUL_OK);
    return c.differ;
}

/* Syncs, sends so many bytes, and then both sides agree. */
static void sync_sends(uint64_t bytes)
{
    const haul_environment_info before = info();
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    CHECK_EQ(info().bytes_to - before.bytes_to, bytes);
    CHECK_EQ(differ(f->large, BYTES), 0);
    CHECK_EQ(differ(small, SMALL), 0);
}

TEST(environment_tracking, a_page_that_nobody_has_written_is_not_read)
{
    start_tracking();
    f->large[20 * PAGE] = 2;
    if (is_told)
        CHECK(mprotect(memory + 300 * PAGE, 9 * PAGE, PROT_NONE) == 0);
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    CHECK(mprotect(memory + 300 * PAGE, 9 * PAGE, PROT_READ | PROT_WRITE) == 0);
    CHECK_EQ(differ(f->large, BYTES), 0);
    f->large[301 * PAGE] = 3;
    sync_sends(PAGE);
    sync_sends(0);
    finish_tracking();
}

TEST(environment_tracking, each_byte_of_a_range_counts_its_edges_and_small_ranges_too)
{
    size_t i;
    const size_t places[] = { 0,         PAGE - LEAD - 1, PAGE - LEAD, PAGE,
                              BYTES / 2, BYTES - 1,       BYTES - PAGE };
    start_tracking();
    for (i = 0; i < sizeof places / sizeof places[0]; i++) {
        f->large[places[i]]++;
        sync_sends(PAGE);
    }
    small[SMALL - 1]++;
    sync_sends(SMALL - PAGE + sizeof f->large_bytes + sizeof f->small_bytes);
    memset(f->large, 9, BYTES);
    sync_sends(BYTES);
    memset(f->large, 9, BYTES); /* written, and the same */
    sync_sends(0);
    finish_tracking();
}

TEST(environment_tracking, what_system_calls_write_counts)
{
    int ends[2];
    start_tracking();
    CHECK(pipe(ends) == 0);
    CHECK_EQ(write(ends[1], "written", 7), 7);
    CHECK_EQ(read(ends[0], f->large + 77 * PAGE, 7), 7);
    close(ends[0]);
    close(ends[1]);
    sync_sends(PAGE);
    finish_tracking();
}

TEST(environment_tracking, memory_that_is_mapped_anew_or_given_back_is_read)
{
    start_tracking();
    map_bytes(memory + 64 * PAGE, 8 * PAGE, MAP_PRIVATE | MAP_FIXED);
    sync_sends(9 * PAGE);
    f->large[66 * PAGE] = 5;
    sync_sends(PAGE);
    finish_tracking();
    start_tracking();
    CHECK(madvise(memory + 64 * PAGE, 8 * PAGE, MADV_DONTNEED) == 0);
    sync_sends(9 * PAGE);
    f->large[66 * PAGE] = 5;
    sync_sends(PAGE);
    finish_tracking();
}

/* An environment watches so many ranges, and no more. One of which the system tells no more gives
 * its place to another. */
TEST(environment_tracking, a_range_that_is_watched_no_more_does_not_count)
{
    start_tracking();
    CHECK_EQ(env->tracked_ranges, is_told);
    map_bytes(memory + 64 * PAGE, 8 * PAGE, MAP_PRIVATE | MAP_FIXED);
    sync_sends(9 * PAGE);
    CHECK_EQ(env->tracked_ranges, 0);
    CHECK_STATUS(haul_environment_exit(env, f, NULL, NULL), HAUL_OK);
    CHECK_EQ(env->tracked_ranges, 0);
    finish_tracking();
}

/* Others write to such memory, past the page tables of this process. */
TEST(environment_tracking, memory_that_is_shared_or_of_a_file_is_read)
{
    const unsigned char five = 5;
    FILE *stream;
    pid_t child;
    int status = -1;
    start_tracking_on(open_ordinary(), MAP_SHARED);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        f->large[66 * PAGE] = 5;
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(f->large[66 * PAGE], 5);
    sync_sends(PAGE);
    finish_tracking();
    stream = tmpfile();
    CHECK(stream != NULL);
    file = fileno(stream);
    CHECK(ftruncate(file, MAPPED) == 0);
    start_tracking_on(open_ordinary(), MAP_SHARED);
    CHECK_EQ(pwrite(file, &five, 1, LEAD + 66 * PAGE), 1);
    CHECK_EQ(f->large[66 * PAGE], 5);
    sync_sends(PAGE);
    finish_tracking();
    fclose(stream);
    file = -1;
}

TEST(environment_tracking, a_child_process_that_frees_it_does_not_disturb_the_parent)
{
    pid_t child;
    int status = -1;
    start_tracking();
    f->large[10 * PAGE] = 5;
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(60);
        f->large[30 * PAGE] = 6;
        haul_environment_free(&env);
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
    f->large[40 * PAGE] = 7;
    if (is_told)
        CHECK(mprotect(memory + 300 * PAGE, 9 * PAGE, PROT_NONE) == 0);
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    CHECK(mprotect(memory + 300 * PAGE, 9 * PAGE, PROT_READ | PROT_WRITE) == 0);
    sync_sends(0);
    finish_tracking();
}

TEST(environment_tracking, what_a_failed_sync_has_not_sent_goes_with_the_next)
{
    start_tracking_on(open_breakable(), MAP_PRIVATE);
    f->large[9 * PAGE] = 9;
    is_broken = 1;
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_ERROR_DEVICE);
    is_broken = 0;
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    CHECK_EQ(differ(f->large, BYTES), 0);
    sync_sends(0);
    finish_tracking();
}

/* Changes, updates, exits and enters, with and without tracking, beside an environment that never
 * tracks. */
TEST(environment_tracking, whatever_happens_the_same_goes_to_the_device_as_without)
{
    random_source dice = random_start("tracked syncs");
    haul_environment *plain;
    haul_environment_info before, after;
    int round, i;
    start_tracking();
    CHECK_STATUS(haul_environment_create(device, &plain), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(plain, f, field_type, 1, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_sync(plain, NULL), HAUL_OK);
    for (round = 0; round < 200; round++) {
        for (i = (int)random_below(&dice, 6); i > 0; i--)
            f->large[random_below(&dice, BYTES)] = (unsigned char)random_below(&dice, 3);
        if (random_below(&dice, 4) == 0)
            small[random_below(&dice, SMALL)]++;
        if (random_below(&dice, 10) == 0)
            (void)haul_environment_track_writes(env, (int)random_below(&dice, 2));
        if (random_below(&dice, 20) == 0) {
            CHECK_STATUS(haul_environment_update_host(env, f->large + 123, 99999, NULL), HAUL_OK);
        } else if (random_below(&dice, 20) == 0) {
            CHECK_STATUS(haul_environment_exit(env, f, NULL, NULL), HAUL_OK);
            CHECK_STATUS(haul_environment_exit(plain, f, NULL, NULL), HAUL_OK);
            CHECK_STATUS(haul_environment_enter(env, f, field_type, 1, NULL, NULL), HAUL_OK);
            CHECK_STATUS(haul_environment_enter(plain, f, field_type, 1, NULL, NULL), HAUL_OK);
        }
        before = info();
        haul_environment_get_info(plain, &after);
        before.bytes_to -= after.bytes_to;
        CHECK_STATUS(haul_environment_sync(plain, NULL), HAUL_OK);
        CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
        haul_environment_get_info(plain, &after);
        CHECK_EQ(info().bytes_to - after.bytes_to, before.bytes_to);
        CHECK_EQ(differ(f->large, BYTES), 0);
        CHECK_EQ(differ(small, SMALL), 0);
    }
    haul_environment_free(&plain);
    finish_tracking();
}

/* Arrays of one group, long enough for threads to share their pages. */
enum { ARRAYS_LONG = 3 };
static const size_t long_bytes[ARRAYS_LONG] = { LARGE(20, 3) * 1000000, 1200000,
                                                LARGE(17, 2) * 1100000 };

typedef struct long_arrays {
    unsigned char *of[ARRAYS_LONG];
    uint64_t bytes[ARRAYS_LONG];
} long_arrays;

static haul_type *long_type;
static const haul_field long_fields[] = {
    HAUL_ARRAY(long_arrays, of[0], HAUL_COUNT(long_arrays, bytes[0])),
    HAUL_ARRAY(long_arrays, of[1], HAUL_COUNT(long_arrays, bytes[1])),
    HAUL_ARRAY(long_arrays, of[2], HAUL_COUNT(long_arrays, bytes[2])),
};

static void make_long_arrays(long_arrays *l)
{
    int i;
    for (i = 0; i < ARRAYS_LONG; i++) {
        l->bytes[i] = long_bytes[i];
        l->of[i] = map_bytes(NULL, long_bytes[i], MAP_PRIVATE);
        memset(l->of[i], 1, long_bytes[i]);
    }
    long_type = TYPE_NEW(long_arrays, long_fields);
    CHECK_STATUS(haul_type_commit(long_type), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, l, long_type, 1, NULL, NULL), HAUL_OK);
}

/* Writes a byte of one page in 40, of chance; the first and the last one of an array, too. */
static void write_some(random_source *dice, const long_arrays *l)
{
    int i;
    for (i = 0; i < ARRAYS_LONG; i++) {
        size_t at = random_below(dice, 2) ? 0 : (size_t)random_below(dice, 40 * PAGE);
        for (; at < long_bytes[i]; at += 1 + (size_t)random_below(dice, 80 * PAGE))
            l->of[i][at]++;
        l->of[i][long_bytes[i] - 1] += (unsigned char)random_below(dice, 2);
    }
}

TEST(environment_tracking, many_pages_of_several_ranges_are_passed_by_but_no_written_one)
{
    random_source dice = random_start("tracked syncs of many pages");
    long_arrays l;
    int round, i;
    start_in((haul_context_options){ .threads = 3 });
    (void)haul_environment_track_writes(env, 1);
    make_long_arrays(&l);
    for (round = 0; round < 8; round++) {
        write_some(&dice, &l);
        if (round == 5) { /* the system has forgotten the watch of one */
            munmap(l.of[1], long_bytes[1]);
            CHECK(map_bytes(l.of[1], long_bytes[1], MAP_PRIVATE | MAP_FIXED) == l.of[1]);
        }
        CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
        for (i = 0; i < ARRAYS_LONG; i++)
            CHECK_EQ(differ(l.of[i], long_bytes[i]), 0);
    }
    finish();
    haul_type_free(&long_type);
    for (i = 0; i < ARRAYS_LONG; i++)
        munmap(l.of[i], long_bytes[i]);
}

TEST(environment_tracking, two_environments_may_track_the_same_memory)
{
    haul_environment *other, *first;
    start_tracking();
    first = env;
    CHECK_STATUS(haul_environment_create(device, &other), HAUL_OK);
    (void)haul_environment_track_writes(other, 1);
    CHECK_STATUS(haul_environment_enter(other, f, field_type, 1, NULL, NULL), HAUL_OK);
    env = other;
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    f->large[50 * PAGE] = 4;
    sync_sends(PAGE);
    env = first;
    sync_sends(PAGE);
    haul_environment_free(&other);
    f->large[51 * PAGE] = 4;
    sync_sends(PAGE);
    finish_tracking();
}

static void prepare(void *user, fault_plan *plan)
{
    haul_device *opened;
    (void)user;
    CHECK_STATUS(fault_open(plan, NULL, &opened), HAUL_OK);
    start_tracking_on(opened, MAP_PRIVATE);
    CHECK_STATUS(haul_environment_exit(env, f, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, f, field_type, 1, NULL, NULL), HAUL_OK);
}

static haul_status sync_first(void *user)
{
    (void)user;
    f->large[5 * PAGE]++;
    return haul_environment_sync(env, NULL);
}

static void check_synced(void *user, haul_status status)
{
    (void)user;
    if (status == HAUL_OK)
        CHECK_EQ(differ(f->large, BYTES), 0);
}

static void end(void *user)
{
    (void)user;
    haul_environment_free(&env);
    haul_type_free(&field_type);
    haul_type_free(&part_type);
    haul_device_close(&device);
    munmap(memory, MAPPED);
}

TEST(environment_tracking, a_first_sync_survives_every_fault)
{
    fault_operation operation = { .name = "tracked sync",
                                  .prepare = prepare,
                                  .run = sync_first,
                                  .check = check_synced,
                                  .finish = end,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 5);
}
