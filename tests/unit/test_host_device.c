/* The host device beyond the device contract: when its memory is accessible, what it refuses, what
 * it counts. And the fault device (support/doors.h), which all other suites rely on.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64 /* fstat refuses an inode above 32 bits otherwise */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../devices/host/host.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"
#include "support/open.h"

/* A device and its table's verbs with the state filled in. */
typedef struct host {
    fault_plan plan;
    haul_allocator allocator;
    haul_device *device;
    const haul_device_table *table;
    void *state;
} host;

static void open_host(host *h)
{
    test_device options;
    memset(h, 0, sizeof *h);
    memset(&options, 0, sizeof options);
    options.settings = &ordinary_launches; /* kernels handle faults, and launch */
    h->allocator = fault_allocator(&h->plan);
    test_allocator(&options.new_context, &h->allocator);
    h->table = haul_host_device();
    CHECK_STATUS(test_open(h->table, &options, &h->device), HAUL_OK);
    h->state = haul_device_state(h->device);
}

static void close_host(host *h)
{
    haul_device_close(&h->device);
    CHECK_PTR(h->device, NULL);
    fault_check_clean(&h->plan);
}

static haul__host *inside(host *h)
{
    return h->state;
}

static void *pointer(haul_address address)
{
    return (void *)(uintptr_t)address;
}

static haul_address allocate(host *h, uint64_t bytes, size_t alignment)
{
    haul_address address = 0;
    CHECK_STATUS(h->table->allocate(h->state, bytes, alignment, &address), HAUL_OK);
    CHECK_EQ(address % alignment, 0);
    return address;
}

static void read_byte(void *address)
{
    (void)*(volatile unsigned char *)address;
}

static void write_byte(void *address)
{
    *(volatile unsigned char *)address = 1;
}

static unsigned char unaligned[2048];
static int given_back;

static void *give_unaligned(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    return unaligned + alignment - (uintptr_t)unaligned % alignment + (bytes ? 16 : 0);
}

static void take_unaligned(void *user, void *memory, size_t bytes)
{
    (void)user;
    given_back = memory > (void *)unaligned && bytes == 1000;
}

TEST(host_device, staging_memory_that_is_misaligned_is_given_back_H5)
{
    host h;
    haul_allocator right;
    void *staging = NULL;
    open_host(&h);
    right = inside(&h)->allocator;
    inside(&h)->allocator.allocate = give_unaligned;
    inside(&h)->allocator.release = take_unaligned;
    CHECK_STATUS(h.table->stage(h.state, 1000, &staging), HAUL_ERROR_MEMORY);
    CHECK_PTR(staging, NULL);
    CHECK(given_back);
    inside(&h)->allocator = right;
    close_host(&h);
}

/* ---- Who may touch the memory. */

TEST(host_device, the_host_cannot_touch_device_memory)
{
    host h;
    haul_address address;
    open_host(&h);
    address = allocate(&h, 10000, 64);
    CHECK_FAULTS(read_byte, pointer(address));
    CHECK_FAULTS(write_byte, pointer(address));
    CHECK_FAULTS(read_byte, pointer(address + 9999));
    h.table->release(h.state, address, 10000);
    close_host(&h);
}

static void add_up(void *argument)
{
    unsigned char **words = argument; /* from, to, end */
    unsigned char *at;
    unsigned sum = 0;
    for (at = words[0]; at < words[2]; at++)
        sum += *at;
    memcpy(words[1], &sum, sizeof sum);
}

TEST(host_device, a_launch_sees_the_copies_and_its_writes_come_back)
{
    host h;
    unsigned char bytes[1000], *words[3];
    unsigned i, expected = 0, sum = 0;
    haul_address from, to;
    for (i = 0; i < 1000; i++)
        expected += bytes[i] = (unsigned char)(i * 7);
    open_host(&h);
    from = allocate(&h, 1000, 16);
    to = allocate(&h, sizeof sum, 16);
    CHECK_STATUS(h.table->copy_to(h.state, from, bytes, 1000), HAUL_OK);
    words[0] = pointer(from);
    words[1] = pointer(to);
    words[2] = words[0] + 1000;
    CHECK_STATUS(haul_host_launch(h.device, add_up, words), HAUL_OK);
    CHECK_STATUS(h.table->copy_from(h.state, &sum, to, sizeof sum), HAUL_OK);
    CHECK_EQ(sum, expected);
    CHECK_FAULTS(read_byte, pointer(from));
    CHECK_FAULTS(write_byte, pointer(to));
    h.table->release(h.state, from, 1000);
    h.table->release(h.state, to, sizeof sum);
    close_host(&h);
}

typedef struct node {
    struct node *next;
    int value;
} node;

static void sum_list(void *argument)
{
    node **first = argument;
    node *n;
    int sum = 0;
    for (n = *first; n; n = n->next)
        sum += n->value;
    (*first)->value = sum;
}

TEST(host_device, relocated_pointers_are_real_pointers_in_a_launch)
{
    enum { COUNT = 100 };
    host h;
    node nodes[COUNT + 1], *first;
    uint64_t bitmap[(COUNT + 1) * sizeof(node) / sizeof(void *) / 64 + 1] = { 0 };
    haul_relocation relocation;
    size_t i, bit;
    memset(&relocation, 0, sizeof relocation);
    memset(nodes, 0, sizeof nodes);
    for (i = 1; i <= COUNT; i++) { /* node 0 is the reserved place of null */
        nodes[i].next = i < COUNT ? (node *)((i + 1) * sizeof(node)) : NULL;
        nodes[i].value = (int)i;
        bit = i * sizeof(node) / sizeof(void *);
        if (i < COUNT)
            bitmap[bit / 64] |= (uint64_t)1 << bit % 64;
    }
    open_host(&h);
    relocation.arena = allocate(&h, sizeof nodes, 16);
    relocation.bitmap = allocate(&h, sizeof bitmap, 16);
    relocation.words = (COUNT + 1) * (sizeof(node) / sizeof(void *));
    relocation.word_bytes = sizeof(void *);
    relocation.bytes = sizeof nodes;
    relocation.delta = relocation.arena;
    CHECK_STATUS(h.table->copy_to(h.state, relocation.arena, nodes, sizeof nodes), HAUL_OK);
    CHECK_STATUS(h.table->copy_to(h.state, relocation.bitmap, bitmap, sizeof bitmap), HAUL_OK);
    CHECK_STATUS(h.table->relocate(h.state, &relocation), HAUL_OK);
    CHECK_STATUS(h.table->wait(h.state), HAUL_OK);
    first = pointer(relocation.arena + sizeof(node));
    CHECK_STATUS(haul_host_launch(h.device, sum_list, &first), HAUL_OK);
    CHECK_STATUS(h.table->copy_from(h.state, nodes, relocation.arena, sizeof nodes), HAUL_OK);
    CHECK_EQ(nodes[1].value, COUNT * (COUNT + 1) / 2);
    h.table->release(h.state, relocation.arena, sizeof nodes);
    h.table->release(h.state, relocation.bitmap, sizeof bitmap);
    close_host(&h);
}

typedef struct overrun {
    unsigned char *end, *start;
    int read_after, read_before;
} overrun;

static void run_over(void *argument)
{
    overrun *o = argument;
    o->read_after = check_faults(read_byte, o->end);
    o->read_before = check_faults(read_byte, o->start);
}

TEST(host_device, a_kernel_that_runs_past_its_memory_faults)
{
    static const size_t sizes[] = { 16, 4080, 4096, 4112, 100000 };
    haul_address neighbours[5][3];
    host h;
    size_t i;
    open_host(&h);
    for (i = 0; i < 15; i++)
        neighbours[i % 5][i / 5] = allocate(&h, sizes[i % 5], 16);
    for (i = 0; i < 5; i++) {
        haul_address address = neighbours[i][1];
        overrun o;
        memset(&o, 0, sizeof o);
        o.end = (unsigned char *)pointer(address) + sizes[i];
        o.start = (unsigned char *)pointer(address) - 4096;
        CHECK_STATUS(haul_host_launch(h.device, run_over, &o), HAUL_OK);
        CHECK(o.read_after);
        CHECK(o.read_before);
    }
    for (i = 0; i < 15; i++)
        h.table->release(h.state, neighbours[i % 5][i / 5], sizes[i % 5]);
    close_host(&h);
}

static void launch_again(void *argument)
{
    host *h = argument;
    CHECK_STATUS(haul_host_launch(h->device, launch_again, h), HAUL_ERROR_BUSY);
}

TEST(host_device, a_launch_inside_a_launch_is_refused)
{
    host h;
    open_host(&h);
    CHECK_STATUS(haul_host_launch(h.device, launch_again, &h), HAUL_OK);
    CHECK_STATUS(haul_host_launch(h.device, launch_again, &h), HAUL_OK);
    close_host(&h);
}

/* ---- What is refused. */

static int other_state;

static haul_status open_nothing(const void *settings, const haul_allocator *allocator, void **state)
{
    (void)settings;
    (void)allocator;
    *state = &other_state;
    return HAUL_OK;
}

static void close_nothing(void *state)
{
    (void)state;
}

static void no_capabilities(void *state, haul_device_capabilities *capabilities, size_t bytes)
{
    (void)state;
    memset(capabilities, 0, bytes);
}

static void nothing(void *argument)
{
    (void)argument;
}

TEST(host_device, D9_a_launch_on_another_device_is_refused)
{
    haul_device_table other = *haul_host_device();
    haul_host_counters counters;
    haul_device *device;
    other.name = "other";
    other.open = open_nothing;
    other.close = close_nothing;
    other.capabilities = no_capabilities;
    CHECK_STATUS(test_open(&other, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, nothing, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_host_get_counters(device, &counters), HAUL_ERROR_ARGUMENT);
    haul_device_close(&device);
}

TEST(host_device, a_launch_of_nothing_or_on_nothing_is_refused)
{
    host h;
    haul_host_counters counters;
    open_host(&h);
    CHECK_STATUS(haul_host_launch(h.device, NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_host_launch(NULL, nothing, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_host_get_counters(NULL, &counters), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_host_get_counters(h.device, NULL), HAUL_ERROR_ARGUMENT);
    close_host(&h);
}

TEST(host_device, D9_copies_outside_of_device_memory_are_errors_with_words)
{
    unsigned char bytes[200] = { 0 };
    host h;
    haul_address address;
    open_host(&h);
    address = allocate(&h, 100, 16);
    CHECK_STATUS(h.table->copy_to(h.state, address, bytes, 101), HAUL_ERROR_DEVICE);
    CHECK_HAS(h.table->message(h.state), "copy_to");
    CHECK_STATUS(h.table->copy_to(h.state, address + 50, bytes, 51), HAUL_ERROR_DEVICE);
    CHECK_STATUS(h.table->copy_to(h.state, address - 1, bytes, 2), HAUL_ERROR_DEVICE);
    CHECK_STATUS(h.table->copy_to(h.state, (haul_address)(uintptr_t)bytes, bytes, 1),
                 HAUL_ERROR_DEVICE);
    CHECK_STATUS(h.table->copy_to(h.state, 0, bytes, 1), HAUL_ERROR_DEVICE);
    CHECK_STATUS(h.table->copy_from(h.state, bytes, address, SIZE_MAX), HAUL_ERROR_DEVICE);
    CHECK_STATUS(h.table->copy_from(h.state, bytes, address + 100, 1), HAUL_ERROR_DEVICE);
    CHECK_STATUS(h.table->copy_from(h.state, bytes, UINT64_MAX, 1), HAUL_ERROR_DEVICE);
    CHECK_HAS(h.table->message(h.state), "copy_from");
    CHECK_STATUS(h.table->copy_to(h.state, address + 1, bytes, 99), HAUL_OK);
    h.table->release(h.state, address, 100);
    CHECK_STATUS(h.table->copy_to(h.state, address, bytes, 1), HAUL_ERROR_DEVICE);
    close_host(&h);
}

TEST(host_device, D9_bytes_outside_of_device_memory_are_not_cleared)
{
    host h;
    haul_address address;
    open_host(&h);
    address = allocate(&h, 100, 16);
    CHECK_STATUS(h.table->clear(h.state, address, 100), HAUL_OK);
    CHECK_STATUS(h.table->clear(h.state, address, 101), HAUL_ERROR_DEVICE);
    CHECK_HAS(h.table->message(h.state), "clear");
    CHECK_STATUS(h.table->clear(h.state, 0, 1), HAUL_ERROR_DEVICE);
    close_host(&h);
}

/* Two strips: the first one is right, and the second one lacks its place on the device or in the
 * buffer. Then the first one stays, too. */
TEST(host_device, D9_strips_without_a_place_are_errors_and_move_nothing)
{
    static const haul_strip wrong[] = {
        { .first = 100, .stride = 8, .count = 2, .bytes = 8 },              /* device */
        { .first = 0, .stride = UINT64_MAX / 2, .count = 2, .bytes = 8 },   /* both wrap */
        { .first = 0, .stride = 8, .packed = 60, .count = 1, .bytes = 8 },  /* buffer */
        { .first = 0, .stride = 8, .packed = 65, .count = 1, .bytes = 1 },  /* buffer */
        { .first = 0, .stride = 8, .count = 0, .bytes = 8 },                /* no runs */
        { .first = 0, .stride = 8, .count = HAUL_STRIP_BYTES, .bytes = 8 }, /* too many */
    };
    unsigned char buffer[64], before[64];
    haul_strip strips[2] = { { .stride = 8, .count = 2, .bytes = 8 } };
    host h;
    haul_address address;
    size_t i;
    open_host(&h);
    address = allocate(&h, 100, 16);
    CHECK_STATUS(h.table->clear(h.state, address, 100), HAUL_OK);
    memset(buffer, 7, sizeof buffer);
    memcpy(before, buffer, sizeof buffer);
    strips[0].first = address;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        strips[1] = wrong[i];
        strips[1].first += address;
        CHECK_STATUS(h.table->gather_strips(h.state, buffer, sizeof buffer, strips, 2),
                     HAUL_ERROR_DEVICE);
        CHECK_HAS(h.table->message(h.state), "gather_strips");
        CHECK_BYTES(buffer, before, sizeof buffer);
        CHECK_STATUS(h.table->scatter_strips(h.state, strips, 2, buffer, sizeof buffer),
                     HAUL_ERROR_DEVICE);
        CHECK_HAS(h.table->message(h.state), "scatter_strips");
    }
    CHECK_STATUS(h.table->gather_strips(h.state, buffer, sizeof buffer, strips, 1), HAUL_OK);
    CHECK_EQ(buffer[0] | buffer[15], 0);
    CHECK_EQ(buffer[16], 7);
    close_host(&h);
}

TEST(host_device, D9_relocations_outside_of_device_memory_are_errors_and_patch_nothing)
{
    uint64_t words[40] = { 0 }, got[40];
    host h;
    haul_relocation good, r;
    haul_address address;
    size_t i;
    open_host(&h);
    address = allocate(&h, sizeof words, 16);
    for (i = 0; i < 32; i++)
        words[i] = 5;
    words[32] = UINT64_MAX; /* the bitmap */
    words[34] = 1;          /* an odd offset in the arena, */
    words[35] = 8 * 40 - 7; /* and one beside */
    CHECK_STATUS(h.table->copy_to(h.state, address, words, sizeof words), HAUL_OK);
    memset(&good, 0, sizeof good);
    good.arena = address;
    good.words = 32;
    good.bitmap = address + 8 * 32;
    good.bytes = 5;
    good.delta = 1;
    good.word_bytes = 8;
    r = good, r.words = 41;
    CHECK_STATUS(h.table->relocate(h.state, &r), HAUL_ERROR_DEVICE);
    r = good, r.words = UINT64_MAX;
    CHECK_STATUS(h.table->relocate(h.state, &r), HAUL_ERROR_DEVICE);
    r = good, r.words = (UINT64_MAX / 8) + 2;
    CHECK_STATUS(h.table->relocate(h.state, &r), HAUL_ERROR_DEVICE);
    r = good, r.bitmap = address + 8 * 40 - 7;
    CHECK_STATUS(h.table->relocate(h.state, &r), HAUL_ERROR_DEVICE);
    r = good, r.arena = address + 8 * 9;
    CHECK_STATUS(h.table->relocate(h.state, &r), HAUL_ERROR_DEVICE);
    r = good, r.words = 0, r.offsets = address + 8 * 34, r.offset_count = 2;
    CHECK_STATUS(h.table->relocate(h.state, &r), HAUL_ERROR_DEVICE);
    r = good, r.words = 0, r.offsets = address + 8 * 39, r.offset_count = 2;
    CHECK_STATUS(h.table->relocate(h.state, &r), HAUL_ERROR_DEVICE);
    r = good, r.offset_count = UINT64_MAX / 4;
    CHECK_STATUS(h.table->relocate(h.state, &r), HAUL_ERROR_DEVICE);
    r = good, r.word_bytes = 2;
    CHECK_STATUS(h.table->relocate(h.state, &r), HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(h.table->message(h.state), "relocate");
    CHECK_STATUS(h.table->copy_from(h.state, got, address, sizeof got), HAUL_OK);
    CHECK_BYTES(got, words, sizeof got);
    CHECK_STATUS(h.table->relocate(h.state, &good), HAUL_OK);
    h.table->release(h.state, address, sizeof words);
    close_host(&h);
}

TEST(host_device, D1_no_more_addresses_is_no_more_device_memory)
{
    host h;
    struct rlimit limit, none;
    haul_address first, address = 77;
    haul_mirror mirror;
    haul_status status, small, mirrored;
    open_host(&h);
    first = allocate(&h, 100, 16); /* so that there is room to note another */
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    none = limit;
    none.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    CHECK(getrlimit(RLIMIT_AS, &none) == 0);
    errno = 5;
    status = h.table->allocate(h.state, 100000, 16, &address);
    small = h.table->allocate(h.state, 9000, 16, &address); /* shares no map with the first */
    mirrored = h.table->mirror(h.state, 100, &mirror);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    if (none.rlim_cur != 0) { /* an emulator that takes the limit and does not keep it */
        close_host(&h);
        return;
    }
    CHECK_STATUS(status, HAUL_ERROR_DEVICE_MEMORY);
    CHECK_STATUS(small, HAUL_ERROR_DEVICE_MEMORY);
    CHECK_STATUS(mirrored, HAUL_ERROR_DEVICE_MEMORY);
    CHECK_EQ(errno, 5);
    CHECK_EQ(address, 77);
    CHECK_HAS(h.table->message(h.state), "mirror");
    address = allocate(&h, 9000, 16);
    h.table->release(h.state, address, 9000);
    h.table->release(h.state, first, 100);
    close_host(&h);
}

static struct rlimit limit_files(void)
{
    struct rlimit limit, small;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    small = limit;
    small.rlim_cur = 4096;
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    return limit;
}

/* A file of that size would be the end of the process. (Where pages cannot be mapped again: the
 * next tests.) */
TEST(host_device, a_limit_to_the_size_of_files_is_none_to_memory)
{
    host h;
    struct rlimit limit;
    haul_address address;
    haul_mirror mirror;
    open_host(&h);
    if (!inside(&h)->is_file) {
        limit = limit_files();
        address = allocate(&h, 100000, 16);
        CHECK_STATUS(h.table->mirror(h.state, 100000, &mirror), HAUL_OK);
        CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        h.table->unmirror(h.state, &mirror);
        h.table->release(h.state, address, 100000);
    }
    close_host(&h);
}

/* ---- Pages of a file, as where none can be mapped again. */

static void open_on_file(host *h)
{
    open_host(h);
    inside(h)->is_file = 1;
}

TEST(host_device, without_mremap_a_limit_to_the_size_of_files_is_an_error_and_no_signal)
{
    host h;
    struct rlimit limit;
    haul_address address = 77;
    haul_status status;
    open_on_file(&h);
    limit = limit_files();
    errno = 5;
    status = h.table->allocate(h.state, 100, 16, &address);
    CHECK_EQ(errno, 5);
    CHECK_STATUS(status, HAUL_ERROR_DEVICE_MEMORY);
    CHECK_HAS(h.table->message(h.state), "allocate: ");
    CHECK_HAS(h.table->message(h.state), strerror(EFBIG));
    CHECK_EQ(address, 77);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    address = allocate(&h, 100, 16);
    h.table->release(h.state, address, 100);
    close_host(&h);
}

static uint64_t blocks_of_file(host *h)
{
    struct stat s;
    memset(&s, 0, sizeof s); /* MemorySanitizer does not know that fstat writes it */
    CHECK(fstat(inside(h)->file, &s) == 0);
    return (uint64_t)s.st_blocks;
}

TEST(host_device, without_mremap_memory_comes_as_zeros_and_is_given_back)
{
    enum { BYTES = 1 << 20 };
    static unsigned char ones[BYTES], zeros[BYTES], got[BYTES];
    host h;
    int round;
    open_on_file(&h);
    memset(ones, 1, sizeof ones);
    for (round = 0; round < 2; round++) {
        haul_address address = allocate(&h, BYTES, 16);
        CHECK(check_faults(read_byte, pointer(address)));
        CHECK_STATUS(h.table->copy_from(h.state, got, address, BYTES), HAUL_OK);
        CHECK_BYTES(got, zeros, BYTES);
        CHECK_STATUS(h.table->copy_to(h.state, address, ones, BYTES), HAUL_OK);
        CHECK(blocks_of_file(&h) >= BYTES / 512);
        h.table->release(h.state, address, BYTES);
        CHECK_EQ(blocks_of_file(&h), 0);
    }
    close_host(&h);
}

typedef struct two_sides {
    int *memory, seen;
} two_sides;

static void change(void *argument)
{
    two_sides *sides = argument;
    sides->seen = *sides->memory;
    *sides->memory = 3;
}

TEST(host_device, without_mremap_a_mirror_shows_each_side_its_own_bytes)
{
    host h;
    haul_mirror mirror;
    two_sides sides;
    int there = 2;
    open_on_file(&h);
    CHECK_STATUS(h.table->mirror(h.state, 100000, &mirror), HAUL_OK);
    sides.memory = mirror.memory;
    *sides.memory = 1;
    CHECK_STATUS(
        h.table->copy_to(h.state, (haul_address)(uintptr_t)mirror.memory, &there, sizeof there),
        HAUL_OK);
    CHECK_STATUS(haul_host_launch(h.device, change, &sides), HAUL_OK);
    CHECK_EQ(sides.seen, 2);
    CHECK_EQ(*sides.memory, 1);
    CHECK_EQ(*(int *)mirror.window, 1);
    CHECK_STATUS(
        h.table->copy_from(h.state, &there, (haul_address)(uintptr_t)mirror.memory, sizeof there),
        HAUL_OK);
    CHECK_EQ(there, 3);
    h.table->unmirror(h.state, &mirror);
    CHECK_EQ(blocks_of_file(&h), 0);
    close_host(&h);
}

TEST(host_device, an_alignment_above_a_page_is_refused)
{
    host h;
    haul_address address;
    open_host(&h);
    CHECK_STATUS(h.table->allocate(h.state, 100, (size_t)1 << 20, &address),
                 HAUL_ERROR_UNSUPPORTED);
    close_host(&h);
}

TEST(host_device, an_unknown_address_is_not_released)
{
    host h;
    haul_address address;
    haul_host_counters counters;
    open_host(&h);
    address = allocate(&h, 100, 16);
    h.table->release(h.state, address + 16, 100);
    CHECK_HAS(h.table->message(h.state), "release");
    CHECK_STATUS(haul_host_get_counters(h.device, &counters), HAUL_OK);
    CHECK_EQ(counters.bytes_live, 100);
    close_host(&h); /* with the rest */
}

/* ---- What it counts. */

static unsigned char *pages_of(size_t count)
{
    void *memory = NULL;
    CHECK(posix_memalign(&memory, 4096, count * 4096) == 0);
    return memory;
}

TEST(host_device, verbs_refuse_what_cannot_be_in_words)
{
    host h, other;
    haul_relocation relocation;
    haul_allocator none;
    haul_address address;
    unsigned char *memory;
    void *state = NULL;
    int told = 0;
    memset(&relocation, 0, sizeof relocation);
    memset(&none, 0, sizeof none);
    open_host(&h);
    open_host(&other);
    address = allocate(&h, 4096, 64);
    memory = pages_of(2);
    CHECK_STATUS(h.table->open(NULL, NULL, &state), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(h.table->open(NULL, &none, &state), HAUL_ERROR_ARGUMENT);
    CHECK_PTR(state, NULL);
    relocation.arena = address;
    relocation.after = 1;
    CHECK_STATUS(h.table->relocate(h.state, &relocation), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(h.table->message(h.state), "there is no such fence");
    CHECK_STATUS(h.table->await(h.state, 1), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(h.table->signal(h.state, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(h.table->message(h.state), "no event");
    CHECK_STATUS(h.table->signal(h.state, &told), HAUL_OK);
    CHECK_EQ(told, 1);
    CHECK_STATUS(h.table->select(h.state, &told), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(h.table->across(h.state, address, NULL, address, 8), HAUL_ERROR_UNSUPPORTED);
    CHECK_STATUS(h.table->across(h.state, address, other.state, 4096, 8), HAUL_ERROR_DEVICE);
    CHECK_HAS(h.table->message(h.state), "across, from: 0x1000 + 8 bytes is not device memory");
    CHECK_STATUS(other.table->across(other.state, 4096, h.state, address, 8), HAUL_ERROR_DEVICE);
    CHECK_HAS(other.table->message(other.state),
              "across, to: 0x1000 + 8 bytes is not device memory");
    CHECK_STATUS(h.table->lock(h.state, memory + 64, 4096), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(h.table->lock(h.state, memory, 4095), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(h.table->message(h.state), "not whole pages");
#ifndef HAUL_EMULATED /* an emulator has mapped every address */
    CHECK_STATUS(h.table->lock(h.state, pointer(4096), 4096), HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(h.table->message(h.state), "some of it is not mapped");
#endif
    CHECK_EQ(inside(&h)->lock_count, 0);
    h.table->release(h.state, address, 4096);
    free(memory);
    close_host(&other);
    close_host(&h);
}

/* Words of 4 bytes are for hosts whose pointers have 4; the host device takes both from any. */
TEST(host_device, a_crossing_beyond_the_device_is_refused_and_words_of_four_bytes_cross)
{
    host h;
    haul_crossing crossing;
    haul_segment segment[2];
    haul_attachment attachment;
    haul_interval locked[2];
    haul_address arena, lists;
    unsigned char *memory = pages_of(1);
    uint32_t word = 77, back = 0, changed = 0;
    memset(&crossing, 0, sizeof crossing);
    memset(segment, 0, sizeof segment);
    memset(memory, 3, 4096);
    memcpy(memory + 16, &word, sizeof word);
    open_host(&h);
    CHECK_STATUS(h.table->lock(h.state, memory, 4096), HAUL_OK);
    arena = allocate(&h, 64, 64);
    lists = allocate(&h, sizeof segment + sizeof attachment, 64);
    segment[0].from = (uintptr_t)memory + 16;
    segment[0].slots = 1;
    segment[0].bytes = segment[1].bytes = 8;
    segment[0].mask = segment[1].mask = UINT16_MAX;
    segment[1].from = (uintptr_t)memory + 3000;
    segment[1].to = 8;
    attachment.on_host = 77;
    attachment.in_arena = 123;
    CHECK_STATUS(h.table->copy_to(h.state, lists, segment, sizeof segment), HAUL_OK);
    CHECK_STATUS(h.table->copy_to(h.state, lists + sizeof segment, &attachment, sizeof attachment),
                 HAUL_OK);
    locked[1].begin = (uintptr_t)memory; /* looked at in a ring */
    locked[0].begin = locked[1].end = (uintptr_t)memory + 2048;
    locked[0].end = (uintptr_t)memory + 4096;
    crossing.arena = arena;
    crossing.bytes = 64;
    crossing.lists = lists;
    crossing.segment_count = 2;
    crossing.attachment_count = 1;
    crossing.attachments_at = sizeof segment;
    crossing.locked = locked;
    crossing.locked_count = 2;
    crossing.changed = &changed;
    crossing.word_bytes = 4;
    CHECK_STATUS(h.table->pull(h.state, &crossing), HAUL_OK);
    CHECK_EQ(changed, 0);
    CHECK_STATUS(h.table->copy_from(h.state, &back, arena, sizeof back), HAUL_OK);
    CHECK_EQ(back, 123);
    CHECK_STATUS(h.table->copy_from(h.state, &back, arena + 4, sizeof back), HAUL_OK);
    CHECK_EQ(back, 0x03030303);
    CHECK_STATUS(h.table->copy_from(h.state, &back, arena + 12, sizeof back), HAUL_OK);
    CHECK_EQ(back, 0x03030303);
    crossing.attachment_count = 0;
    CHECK_STATUS(h.table->pull(h.state, &crossing), HAUL_ERROR_DEVICE);
    crossing.attachment_count = 1;
    crossing.arena = 4096;
    CHECK_STATUS(h.table->pull(h.state, &crossing), HAUL_ERROR_DEVICE);
    CHECK_HAS(h.table->message(h.state), "0x1000 + 64 bytes is not device memory");
    crossing.arena = arena;
    crossing.lists = 4096;
    CHECK_STATUS(h.table->push(h.state, &crossing), HAUL_ERROR_DEVICE);
    CHECK_HAS(h.table->message(h.state), "is not device memory");
    h.table->unlock(h.state, memory, 4096);
    h.table->release(h.state, lists, sizeof segment + sizeof attachment);
    h.table->release(h.state, arena, 64);
    close_host(&h);
    free(memory);
}

TEST(host_device, everything_is_counted)
{
    host h;
    haul_host_counters c;
    haul_relocation relocation;
    unsigned char bytes[64] = { 0 };
    haul_address a, b;
    open_host(&h);
    a = allocate(&h, 1000, 16);
    b = allocate(&h, 500, 16);
    CHECK_STATUS(h.table->copy_to(h.state, a, bytes, 64), HAUL_OK);
    CHECK_STATUS(h.table->copy_to(h.state, b, bytes, 36), HAUL_OK);
    CHECK_STATUS(h.table->copy_from(h.state, bytes, b, 5), HAUL_OK);
    memset(&relocation, 0, sizeof relocation);
    relocation.arena = a;
    relocation.bitmap = b;
    relocation.words = 1;
    relocation.word_bytes = 8;
    CHECK_STATUS(h.table->relocate(h.state, &relocation), HAUL_OK);
    h.table->release(h.state, b, 500);
    CHECK_STATUS(haul_host_get_counters(h.device, &c), HAUL_OK);
    CHECK_EQ(c.copies_to, 2);
    CHECK_EQ(c.bytes_to, 100);
    CHECK_EQ(c.copies_from, 1);
    CHECK_EQ(c.bytes_from, 5);
    CHECK_EQ(c.relocations, 1);
    CHECK_EQ(c.allocations, 2);
    CHECK_EQ(c.bytes_allocated, 1500);
    CHECK_EQ(c.bytes_live, 1000);
    h.table->release(h.state, a, 1000);
    close_host(&h);
}

/* ---- The doors. */

/* A shipment in small, on the bare table: 60 bytes there, patched, and back. */
typedef struct model {
    fault_plan *plan;
    haul_allocator allocator;
    fault_device_settings settings;
    const haul_device_table *table;
    void *state;
    void *host;
    haul_address address;
    unsigned char result[64];
} model;

static void open_model(void *user, fault_plan *plan)
{
    model *m = user;
    memset(m, 0, sizeof *m);
    m->plan = plan;
    m->allocator = fault_allocator(plan);
    m->settings.plan = plan;
    m->settings.inner = haul_host_device();
    m->table = fault_device(haul_host_device());
    CHECK_STATUS(m->table->open(&m->settings, &m->allocator, &m->state), HAUL_OK);
}

static void close_model(void *user)
{
    model *m = user;
    m->table->close(m->state);
}

static haul_status move_model(model *m)
{
    haul_relocation relocation;
    haul_status status;
    memset(m->host, 0, 64);
    ((unsigned char *)m->host)[0] = 1;  /* word 0 leads to offset 1 */
    ((unsigned char *)m->host)[56] = 1; /* the bitmap: word 0 */
    memset(&relocation, 0, sizeof relocation);
    relocation.arena = m->address;
    relocation.bitmap = m->address + 56;
    relocation.words = 4;
    relocation.bytes = 1000;
    relocation.delta = 5;
    relocation.word_bytes = sizeof(void *);
    status = m->table->copy_to(m->state, m->address, m->host, 64);
    if (status == HAUL_OK)
        status = m->table->relocate(m->state, &relocation);
    if (status == HAUL_OK)
        status = m->table->wait(m->state);
    if (status == HAUL_OK)
        status = m->table->copy_from(m->state, m->host, m->address, 64);
    if (status != HAUL_OK) {
        m->table->wait(m->state);
        return status;
    }
    status = m->table->wait(m->state);
    if (status == HAUL_OK)
        memcpy(m->result, m->host, 64);
    else
        m->table->wait(m->state);
    return status;
}

static haul_status run_model(void *user)
{
    model *m = user;
    haul_status status;
    void *reserved = m->allocator.reserve ? m->allocator.reserve(m->plan, 1 << 20) : NULL;
    memset(m->result, 0, sizeof m->result);
    m->host = m->allocator.allocate(m->plan, 64, 16);
    status = m->host ? HAUL_OK : HAUL_ERROR_MEMORY;
    if (status == HAUL_OK) {
        status = m->table->allocate(m->state, 64, 16, &m->address);
        if (status == HAUL_OK) {
            status = move_model(m);
            m->table->release(m->state, m->address, 64);
        }
        m->allocator.release(m->plan, m->host, 64);
    }
    if (reserved)
        m->allocator.unreserve(m->plan, reserved, 1 << 20);
    return status;
}

static void check_model(void *user, haul_status status)
{
    const model *m = user;
    CHECK_EQ(m->result[0], status == HAUL_OK ? 6 : 0);
}

static fault_operation operation_of(model *m)
{
    fault_operation operation = { .prepare = open_model,
                                  .run = run_model,
                                  .check = check_model,
                                  .finish = close_model,
                                  .user = m };
    return operation;
}

TEST(doors, a_good_operation_passes_with_each_event_failing_in_each_mode)
{
    model m;
    fault_operation operation = operation_of(&m);
    /* reserve, 64 bytes, device memory (and two tables behind it: of maps, and of the allocations
     * that share one), 2 copies, relocation, 2 waits */
    CHECK_EQ(fault_everywhere(&operation), 5 * 10);
    operation.settings.deferred = 1;
    CHECK_EQ(fault_everywhere(&operation), 5 * 10);
    operation.settings.no_reserve = 1;
    CHECK_EQ(fault_everywhere(&operation), 5 * 9);
    operation.modes = 1u << FAULT_LATE | 1u << FAULT_LOST;
    CHECK_EQ(fault_everywhere(&operation), 2 * 9);
}

static void spoil(void *user)
{
    model *m = user;
    m->result[1]++;
}

TEST(doors, C3_a_call_runs_at_each_event_once)
{
    model m;
    fault_operation operation = operation_of(&m);
    operation.check = NULL;
    CHECK_EQ(fault_call_everywhere(&operation, spoil), 10);
}

TEST(doors, H6_memory_that_is_given_is_no_zeros)
{
    fault_plan plan = { 0 };
    haul_allocator door = fault_allocator(&plan);
    size_t alignment;
    for (alignment = 1; alignment <= 4096; alignment *= 2) {
        unsigned char *memory = door.allocate(&plan, 33, alignment);
        CHECK(memory);
        CHECK_EQ((uintptr_t)memory % alignment, 0);
#if !defined(__has_feature)
        CHECK_EQ(memory[0] & memory[32], 0xA5);
#endif
        CHECK_EQ(plan.host_bytes, 33);
        door.release(&plan, memory, 33);
    }
    fault_check_clean(&plan);
}

TEST(doors, H6_a_release_with_another_size_is_told)
{
    fault_plan plan = { 0 };
    haul_allocator door = fault_allocator(&plan);
    door.release(&plan, door.allocate(&plan, 33, 8), 32);
    CHECK_HAS(plan.misuse, "another size");
}

/* A chain of operations that must not be reordered, held back until wait. */
TEST(doors, a_deferred_copy_happens_at_the_wait)
{
    fault_plan plan = { 0 };
    model m;
    unsigned char bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[8] = { 0 };
    haul_address address;
    plan.deferred = 1;
    open_model(&m, &plan);
    CHECK_STATUS(m.table->allocate(m.state, 8, 8, &address), HAUL_OK);
    CHECK_STATUS(m.table->copy_to(m.state, address, bytes, 8), HAUL_OK);
    CHECK_STATUS(m.table->copy_from(m.state, got, address, 8), HAUL_OK);
    CHECK_EQ(got[0], 0);
    bytes[0] = 9;
    CHECK_STATUS(m.table->wait(m.state), HAUL_OK);
    CHECK_EQ(got[0], 9);
    CHECK_EQ(got[7], 8);
    m.table->release(m.state, address, 8);
    close_model(&m);
    fault_check_clean(&plan);
}

/* The copy's own fence is in the queue, too, and is reached by the same orders. */
TEST(doors, a_deferred_copy_within_one_device_is_over_when_its_fence_is)
{
    fault_plan plan = { 0 };
    model m;
    unsigned char bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[8] = { 0 };
    haul_address from, to;
    uint64_t fence = 0;
    haul_status status = HAUL_ERROR_PENDING;
    int polls;
    plan.deferred = 1;
    open_model(&m, &plan);
    CHECK_STATUS(m.table->allocate(m.state, 8, 8, &from), HAUL_OK);
    CHECK_STATUS(m.table->allocate(m.state, 8, 8, &to), HAUL_OK);
    CHECK_STATUS(m.table->copy_to(m.state, from, bytes, 8), HAUL_OK);
    CHECK_STATUS(m.table->across(m.state, to, m.state, from, 8), HAUL_OK);
    CHECK_STATUS(m.table->fence(m.state, &fence), HAUL_OK);
    for (polls = 0; status == HAUL_ERROR_PENDING && polls < 10; polls++)
        status = m.table->poll(m.state, fence);
    CHECK_STATUS(status, HAUL_OK);
    CHECK_STATUS(m.table->copy_from(m.state, got, to, 8), HAUL_OK);
    CHECK_STATUS(m.table->wait(m.state), HAUL_OK);
    CHECK_BYTES(got, bytes, 8);
    m.table->release(m.state, from, 8);
    m.table->release(m.state, to, 8);
    close_model(&m);
    fault_check_clean(&plan);
}

TEST(doors, launches_work_through_the_table_in_front)
{
    fault_plan plan = { 0 };
    haul_device *device;
    CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, nothing, NULL), HAUL_OK);
    haul_device_close(&device);
    fault_check_clean(&plan);
}
