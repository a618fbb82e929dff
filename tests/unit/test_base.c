/* The base room: statuses, error records, checked arithmetic, the allocator, files, bit counting.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "haul/file.h"
#include "base/clock.h"
#include "base/index.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/status.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"

/* ---- Statuses. */

TEST(status, the_library_that_runs_has_the_version_of_its_headers)
{
    CHECK_EQ(haul_version(), HAUL_VERSION);
}

TEST(status, every_status_has_its_name_and_a_sentence)
{
#define CHECK_NAME(name, number, text)                                                             \
    CHECK_STR(haul_status_name(name), #name);                                                      \
    CHECK_STR(haul_status_text(name), text);                                                       \
    CHECK_EQ(name, number);
    HAUL_STATUS_LIST(CHECK_NAME)
#undef CHECK_NAME
}

TEST(status, a_number_that_is_no_status_has_a_name_too)
{
    CHECK_STR(haul_status_name((haul_status)-999), "HAUL_ERROR_UNKNOWN");
    CHECK_STR(haul_status_name((haul_status)7), "HAUL_ERROR_UNKNOWN");
    CHECK(haul_status_text((haul_status)-999) != NULL);
    /* visitors, watchers and finders end calls, too */
    CHECK(!strstr(haul_status_text(HAUL_ERROR_CANCELLED), "progress"));
}

/* ---- Structs that grow. Each pair is one struct in an old header and in a new one. */

typedef struct old_options {
    int64_t threads;
    void *user;
} old_options;

typedef struct new_options {
    int64_t threads;
    void *user;
    int64_t added;
} new_options;

TEST(sized, a_new_library_reads_an_old_program_and_takes_zeros_for_the_rest)
{
    old_options theirs = { 3, &theirs };
    new_options ours;
    memset(&ours, 'x', sizeof ours);
    CHECK_STATUS(haul__read_options(&ours, sizeof ours, &theirs, sizeof theirs), HAUL_OK);
    CHECK_EQ(ours.threads, 3);
    CHECK_PTR(ours.user, &theirs);
    CHECK_EQ(ours.added, 0);
}

TEST(sized, an_old_library_reads_a_new_program_that_leaves_new_members_at_zero)
{
    new_options theirs = { 3, &theirs, 0 };
    old_options ours;
    CHECK_STATUS(haul__read_options(&ours, sizeof ours, &theirs, sizeof theirs), HAUL_OK);
    CHECK_EQ(ours.threads, 3);
    CHECK_PTR(ours.user, &theirs);
}

TEST(sized, an_old_library_refuses_a_new_member_that_is_set)
{
    new_options theirs = { 3, &theirs, 0 };
    old_options ours;
    size_t byte;
    for (byte = 0; byte < sizeof theirs.added; byte++) {
        theirs.added = 0;
        ((unsigned char *)&theirs.added)[byte] = 1;
        memset(&ours, 'x', sizeof ours);
        CHECK_STATUS(haul__read_options(&ours, sizeof ours, &theirs, sizeof theirs),
                     HAUL_ERROR_VERSION);
        CHECK_EQ(ours.threads, 0);
        CHECK_PTR(ours.user, NULL);
    }
}

TEST(sized, no_options_are_zeros)
{
    old_options ours;
    memset(&ours, 'x', sizeof ours);
    CHECK_STATUS(haul__read_options(&ours, sizeof ours, NULL, sizeof ours), HAUL_OK);
    CHECK_EQ(ours.threads, 0);
    CHECK_PTR(ours.user, NULL);
}

TEST(sized, results_fill_the_callers_struct_and_no_byte_behind_it)
{
    const new_options ours = { 3, NULL, 5 };
    struct {
        old_options info;
        int64_t behind;
    } old_program;
    memset(&old_program, 'x', sizeof old_program);
    old_program.behind = 7;
    haul__write_info(&old_program.info, sizeof old_program.info, &ours, sizeof ours);
    CHECK_EQ(old_program.info.threads, 3);
    CHECK_PTR(old_program.info.user, NULL);
    CHECK_EQ(old_program.behind, 7);
}

TEST(sized, results_that_an_old_library_lacks_are_zeros)
{
    const old_options ours = { 3, NULL };
    new_options theirs;
    memset(&theirs, 'x', sizeof theirs);
    haul__write_info(&theirs, sizeof theirs, &ours, sizeof ours);
    CHECK_EQ(theirs.threads, 3);
    CHECK_EQ(theirs.added, 0);
}

/* ---- Error records. */

TEST(error, a_failure_fills_the_record_and_clears_old_paths)
{
    haul_error error;
    memset(&error, 'x', sizeof error);
    CHECK_STATUS(haul__fail(&error, HAUL_ERROR_GRAPH, "count %d in field %s", -5, "n"),
                 HAUL_ERROR_GRAPH);
    CHECK_STATUS(error.status, HAUL_ERROR_GRAPH);
    CHECK_STR(error.text, "count -5 in field n");
    CHECK_STR(error.path, "");
    CHECK_STR(error.other_path, "");
}

TEST(error, no_record_is_allowed)
{
    CHECK_STATUS(haul__fail(NULL, HAUL_ERROR_MEMORY, "%s", "anything"), HAUL_ERROR_MEMORY);
}

TEST(error, a_long_text_is_cut_and_terminated)
{
    static char text[3000];
    haul_error error;
    memset(text, 'a', sizeof text - 1);
    haul__fail(&error, HAUL_ERROR_TYPE, "%s", text);
    CHECK_EQ(strlen(error.text), HAUL_TEXT_BYTES - 1);
}

TEST(error, a_record_can_be_cleared)
{
    haul_error error;
    haul__fail(&error, HAUL_ERROR_TYPE, "x");
    haul__set_path(error.path, "root.a");
    haul__clear_error(&error);
    CHECK_STATUS(error.status, HAUL_OK);
    CHECK_STR(error.path, "");
    CHECK_STR(error.text, "");
}

TEST(error, a_path_that_fits_is_kept_whole)
{
    char text[HAUL_PATH_BYTES], path[HAUL_PATH_BYTES];
    memset(text, 'p', sizeof text);
    text[HAUL_PATH_BYTES - 1] = '\0';
    haul__set_path(path, text);
    CHECK_STR(path, text);
    haul__set_path(path, "");
    CHECK_STR(path, "");
}

TEST(error, a_long_path_loses_its_middle_not_its_ends)
{
    char text[2000], path[HAUL_PATH_BYTES + 1];
    size_t bytes;
    for (bytes = HAUL_PATH_BYTES; bytes < 2000; bytes += 97) {
        memset(text, 'm', bytes);
        memcpy(text, "root.first", 10);
        memcpy(text + bytes - 8, "last.end", 9);
        path[HAUL_PATH_BYTES] = '#';
        haul__set_path(path, text);
        CHECK(strlen(path) < HAUL_PATH_BYTES);
        CHECK(path[HAUL_PATH_BYTES] == '#');
        CHECK(strncmp(path, "root.first", 10) == 0);
        CHECK_STR(path + strlen(path) - 8, "last.end");
        CHECK_HAS(path, "...");
    }
}

/* ---- Checked arithmetic. */

TEST(arithmetic, a_sum_that_does_not_fit_is_reported_and_leaves_the_result_alone)
{
    size_t result = 7;
    CHECK(haul__add_overflows(SIZE_MAX, 1, &result));
    CHECK(haul__add_overflows(1, SIZE_MAX, &result));
    CHECK(haul__add_overflows(SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1, &result));
    CHECK_EQ(result, 7);
    CHECK(!haul__add_overflows(SIZE_MAX, 0, &result));
    CHECK_EQ(result, SIZE_MAX);
    CHECK(!haul__add_overflows(2, 3, &result));
    CHECK_EQ(result, 5);
}

TEST(arithmetic, a_product_that_does_not_fit_is_reported_and_leaves_the_result_alone)
{
    size_t result = 7, root = (size_t)1 << (sizeof(size_t) * CHAR_BIT / 2);
    CHECK(haul__multiply_overflows(root, root, &result));
    CHECK(haul__multiply_overflows(SIZE_MAX, 2, &result));
    CHECK(haul__multiply_overflows(2, SIZE_MAX / 2 + 1, &result));
    CHECK_EQ(result, 7);
    CHECK(!haul__multiply_overflows(root, root - 1, &result));
    CHECK_EQ(result, root * (root - 1));
    CHECK(!haul__multiply_overflows(SIZE_MAX, 1, &result));
    CHECK_EQ(result, SIZE_MAX);
    CHECK(!haul__multiply_overflows(SIZE_MAX, 0, &result));
    CHECK_EQ(result, 0);
    CHECK(!haul__multiply_overflows(0, SIZE_MAX, &result));
    CHECK_EQ(result, 0);
}

TEST(arithmetic, powers_of_two_are_known)
{
    size_t n;
    for (n = 1; n; n *= 2)
        CHECK(haul__is_power_of_two(n));
    CHECK(!haul__is_power_of_two(0));
    CHECK(!haul__is_power_of_two(3));
    CHECK(!haul__is_power_of_two(SIZE_MAX));
    CHECK(!haul__is_power_of_two(96));
}

TEST(bits, counting_and_finding_agree_with_a_plain_loop)
{
    random_source random = random_start("bits");
    int round;
    for (round = 0; round < 10000; round++) {
        uint64_t x = random_next(&random) & random_next(&random) & random_next(&random);
        unsigned i, count = 0, lowest = 64, highest = 0;
        for (i = 0; i < 64; i++)
            if (x >> i & 1) {
                count++;
                lowest = lowest == 64 ? i : lowest;
                highest = i;
            }
        CHECK_EQ(haul__bits64(x), count);
        CHECK_EQ(haul__bits32((uint32_t)x) + haul__bits32((uint32_t)(x >> 32)), count);
        if (x) {
            CHECK_EQ(haul__lowest64(x), lowest);
            CHECK_EQ(haul__highest64(x), highest);
        }
        if ((uint32_t)x)
            CHECK_EQ(haul__lowest32((uint32_t)x), lowest);
    }
}

/* ---- The allocator door. */

TEST(allocator, the_default_gives_memory_at_every_alignment)
{
    haul_allocator door = haul__allocator_or_default(NULL);
    size_t alignment;
    CHECK(haul__allocator_is_complete(NULL));
    CHECK(haul__allocator_is_complete(&door));
    for (alignment = 1; alignment <= 4096; alignment *= 2) {
        unsigned char *memory = haul__allocate(&door, 100, alignment);
        CHECK(memory);
        CHECK_EQ((uintptr_t)memory % alignment, 0);
        memset(memory, 1, 100);
        haul__release(&door, memory, 100);
    }
}

TEST(allocator, the_default_reserves_zeros)
{
    haul_allocator door = haul__allocator_or_default(NULL);
    size_t bytes = (size_t)64 << 20;
    unsigned char *range = door.reserve(door.user, bytes);
    CHECK(range);
    CHECK_EQ(range[0] | range[bytes / 2] | range[bytes - 1], 0);
    range[bytes / 3] = 1;
    door.unreserve(door.user, range, bytes);
    CHECK_PTR(door.reserve(door.user, SIZE_MAX - 65535), NULL);
}

TEST(allocator, a_table_without_its_pairs_is_incomplete)
{
    fault_plan plan = { 0 };
    haul_allocator whole = fault_allocator(&plan), door = whole;
    CHECK(haul__allocator_is_complete(&door));
    door.allocate = NULL;
    CHECK(!haul__allocator_is_complete(&door));
    door = whole;
    door.release = NULL;
    CHECK(!haul__allocator_is_complete(&door));
    door = whole;
    door.reserve = NULL;
    CHECK(!haul__allocator_is_complete(&door));
    door.unreserve = NULL;
    CHECK(haul__allocator_is_complete(&door));
    door.reserve = whole.reserve;
    CHECK(!haul__allocator_is_complete(&door));
}

TEST(allocator, H8_no_bytes_are_never_asked_for)
{
    fault_plan plan = { 0 };
    haul_allocator door = fault_allocator(&plan);
    CHECK_PTR(haul__allocate(&door, 0, 8), NULL);
    CHECK_PTR(haul__allocate_zeroed(&door, 0), NULL);
    haul__release(&door, NULL, 0);
    CHECK_EQ(plan.events, 0);
    fault_check_clean(&plan);
}

static char crooked[64];
static int crooked_back;

static void *allocate_crooked(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    (void)bytes;
    return crooked + ((alignment - (uintptr_t)crooked % alignment) % alignment) + 1;
}

static void release_crooked(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)memory;
    crooked_back += bytes == 10;
}

TEST(allocator, H5_misaligned_memory_is_given_back_and_counts_as_none)
{
    haul_allocator door = { NULL, allocate_crooked, release_crooked, NULL, NULL };
    crooked_back = 0;
    CHECK_PTR(haul__allocate(&door, 10, 8), NULL);
    CHECK_EQ(crooked_back, 1);
}

TEST(allocator, zeroed_memory_is_zero)
{
    fault_plan plan = { 0 };
    haul_allocator door = fault_allocator(&plan);
    static const unsigned char zeros[1000];
    void *memory = haul__allocate_zeroed(&door, 1000);
    CHECK(memory);
    CHECK_BYTES(memory, zeros, 1000);
    haul__release(&door, memory, 1000);
    fault_check_clean(&plan);
}

TEST(allocator, H1_an_array_that_cannot_grow_stays_as_it_was)
{
    fault_plan plan = { 0 };
    haul_allocator door = fault_allocator(&plan);
    uint32_t *data = NULL;
    size_t capacity = 0, i, filled = 0;
    void *before;
    for (i = 0; i < 1000; i++) {
        CHECK(haul__grow(&door, &data, &capacity, i + 1, sizeof *data));
        CHECK(capacity > i);
        data[filled++] = (uint32_t)i;
    }
    CHECK(plan.events < 12);
    before = data;
    fault_arm(&plan, FAULT_ONCE, 1);
    CHECK(!haul__grow(&door, &data, &capacity, capacity + 1, sizeof *data));
    CHECK_PTR(data, before);
    for (i = 0; i < 1000; i++)
        CHECK_EQ(data[i], i);
    haul__release(&door, data, capacity * sizeof *data);
    fault_check_clean(&plan);
}

TEST(allocator, a_list_that_cannot_grow_stays_as_it_was)
{
    fault_plan plan = { 0 };
    haul_allocator door = fault_allocator(&plan);
    HAUL__LIST(uint16_t) list = { NULL, 0, 0 };
    uint16_t *added = NULL;
    size_t i;
    for (i = 0; i < 1000; i++) {
        added = HAUL__LIST_ADD(&door, &list);
        CHECK(added);
        *added = (uint16_t)i;
    }
    list.count = list.capacity;
    fault_arm(&plan, FAULT_ONCE, 1);
    added = HAUL__LIST_ADD(&door, &list);
    CHECK_PTR(added, NULL);
    CHECK_EQ(list.count, list.capacity);
    for (i = 0; i < 1000; i++)
        CHECK_EQ(list.at[i], i);
    HAUL__LIST_RELEASE(&door, &list);
    fault_check_clean(&plan);
}

static int is_below(const void *list, size_t i, uint64_t key)
{
    return ((const uint16_t *)list)[i] < key;
}

TEST(list, a_search_finds_the_first_that_is_not_before)
{
    static const uint16_t list[] = { 2, 4, 4, 4, 8 };
    uint64_t key;
    size_t first, end;
    for (first = 0; first <= 5; first++)
        for (end = first; end <= 5; end++)
            for (key = 0; key < 10; key++) {
                size_t expected = first;
                while (expected < end && list[expected] < key)
                    expected++;
                CHECK_EQ(haul__search(list, first, end, key, is_below), expected);
            }
    CHECK_EQ(haul__search(NULL, 0, 0, 1, is_below), 0);
}

static int is_number(const void *list, size_t number, const void *key)
{
    return ((const uint32_t *)list)[number] == *(const uint32_t *)key;
}

/* Only some bits of the number count, so that many keys share a hash. */
static uint64_t poor_hash(uint32_t key)
{
    return haul__hash(key & 0xfffffff8u);
}

TEST(index, an_index_finds_each_key_and_no_other_and_stays_as_it_was_without_memory)
{
    fault_plan plan = { 0 };
    haul_allocator door = fault_allocator(&plan);
    haul__index index = { NULL, 0, 0 };
    uint32_t keys[1024], i, absent;
    for (i = 0; i < 1024; i++) {
        keys[i] = 3 * i;
        CHECK_EQ(haul__index_find(&index, poor_hash(keys[i]), keys, &keys[i], is_number), SIZE_MAX);
        CHECK(haul__index_add(&door, &index, poor_hash(keys[i]), i));
    }
    CHECK_EQ(index.count, 1024);
    CHECK_EQ(index.capacity, 2048);
    fault_arm(&plan, FAULT_ONCE, 1);
    CHECK(!haul__index_add(&door, &index, poor_hash(1), 1024));
    CHECK(!haul__index_add(&door, &index, poor_hash(1), UINT32_MAX));
    for (i = 0; i < 1024; i++) {
        absent = keys[i] + 1;
        CHECK_EQ(haul__index_find(&index, poor_hash(keys[i]), keys, &keys[i], is_number), i);
        CHECK_EQ(haul__index_find(&index, poor_hash(absent), keys, &absent, is_number), SIZE_MAX);
    }
    haul__index_close(&door, &index);
    fault_check_clean(&plan);
}

TEST(allocator, an_array_whose_bytes_overflow_cannot_grow)
{
    fault_plan plan = { 0 };
    haul_allocator door = fault_allocator(&plan);
    void *data = NULL;
    size_t capacity = 0;
    CHECK(!haul__grow(&door, &data, &capacity, SIZE_MAX / 4, 8));
    CHECK(!haul__grow(&door, &data, &capacity, SIZE_MAX, 2));
    CHECK_PTR(data, NULL);
    CHECK_EQ(capacity, 0);
    CHECK_EQ(plan.events, 0);
}

/* ---- The clock and the file door. */

TEST(clock, time_does_not_run_backwards)
{
    double before = haul__seconds(), now;
    int i;
    for (i = 0; i < 1000; i++, before = now) {
        now = haul__seconds();
        CHECK(now >= before);
    }
}

TEST(file, bytes_go_through_a_pipe_and_end)
{
    int ends[2];
    char got[32];
    size_t count = 0;
    haul_file in, out;
    CHECK(pipe(ends) == 0);
    out = haul_file_descriptor(ends[1]);
    in = haul_file_descriptor(ends[0]);
    CHECK_STATUS(out.write(out.user, "hello, world", 12), HAUL_OK);
    CHECK_STATUS(out.write(out.user, "", 0), HAUL_OK);
    CHECK_STATUS(in.read(in.user, got, sizeof got, &count), HAUL_OK);
    CHECK_EQ(count, 12);
    CHECK_BYTES(got, "hello, world", 12);
    close(ends[1]);
    CHECK_STATUS(in.read(in.user, got, sizeof got, &count), HAUL_OK);
    CHECK_EQ(count, 0);
    close(ends[0]);
}

TEST(file, H11_a_bad_descriptor_is_an_error_and_errno_stays)
{
    haul_file file = haul_file_descriptor(-1);
    char got[4];
    size_t count = 77;
    errno = 99;
    CHECK_STATUS(file.write(file.user, "x", 1), HAUL_ERROR_FILE);
    CHECK_EQ(errno, 99);
    CHECK_STATUS(file.read(file.user, got, 4, &count), HAUL_ERROR_FILE);
    CHECK_EQ(errno, 99);
}

TEST(file, H9_a_full_disk_is_an_error)
{
    FILE *full = fopen("/dev/full", "w");
    haul_file file;
    if (!full)
        return;
    file = haul_file_descriptor(fileno(full));
    CHECK_STATUS(file.write(file.user, "x", 1), HAUL_ERROR_FILE);
    fclose(full);
}
