/* Strict launches of the host device: the memory that a kernel can reach, the changes that come
 * back, and the sentences for everything else. Where strict launches do not work (sanitizers), a
 * launch is an ordinary one.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../devices/host/maps.h"
#include "../devices/host/strict.h"
#include "haul.h"
#include "support/check.h"

enum { NODES = 5, LARGE = 1 << 20 };

typedef struct node {
    struct node *next;
    int value;
    char *name; /* forgotten */
} node;

static haul_type *node_type;
static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &node_type) };
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

typedef struct strict {
    haul_context *context;
    haul_device *device;
    haul_shipment *shipment;
    node nodes[NODES], *there;
} strict;

/* 0: strict launches do not work here. */
static int strict_open(strict *s)
{
    static const haul_host_options options = { .strict = 1 };
    size_t i;
    memset(s, 0, sizeof *s);
    if (!haul__host_can_be_strict())
        return 0;
    for (i = 0; i < NODES; i++) {
        s->nodes[i].next = i + 1 < NODES ? &s->nodes[i + 1] : NULL;
        s->nodes[i].value = (int)i;
        CHECK((s->nodes[i].name = malloc(20)) != NULL);
        strcpy(s->nodes[i].name, "Theseus");
    }
    CHECK_STATUS(haul_context_create(NULL, &s->context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(s->context, structs), HAUL_OK);
    CHECK_STATUS(haul_host_open(s->context, &options, &s->device), HAUL_OK);
    CHECK_STATUS(haul_ship(s->device, s->nodes, node_type, 1, NULL, &s->shipment), HAUL_OK);
    s->there = haul_device_pointer(s->shipment, s->nodes);
    return 1;
}

static void strict_close(strict *s)
{
    size_t i;
    for (i = 0; i < NODES; i++)
        free(s->nodes[i].name);
    haul_shipment_free(&s->shipment);
    haul_device_close(&s->device);
    HAUL_FORGET(structs);
    haul_context_free(&s->context);
}

/* Launches, and answers the sentence of the error. */
static const char *refused(strict *s, void (*kernel)(void *), void *argument)
{
    CHECK_STATUS(haul_host_launch(s->device, kernel, argument), HAUL_ERROR_DEVICE);
    return haul_context_error(s->context)->text;
}

/* ---- What works. */

static int launches_seen;
static char seen_last[3 * 4096];

typedef struct tour {
    node *first;
    int sum;
} tour;

static void double_all(void *argument)
{
    tour *t = argument;
    node *n;
    for (n = t->first; n; n = n->next) {
        t->sum += n->value;
        n->value *= 2;
    }
    launches_seen++;
    seen_last[5000] = 'x';
}

TEST(strict, device_memory_the_callers_stack_and_static_data_come_back)
{
    strict s;
    haul_host_counters counters;
    tour t;
    int i;
    if (!strict_open(&s))
        return;
    launches_seen = 0;
    seen_last[5000] = 0;
    t.first = s.there;
    t.sum = 0;
    for (i = 0; i < 3; i++)
        CHECK_STATUS(haul_host_launch(s.device, double_all, &t), HAUL_OK);
    CHECK_EQ(t.sum, 10 + 20 + 40);
    CHECK_EQ(launches_seen, 3);
    CHECK_EQ(seen_last[5000], 'x');
    CHECK_STATUS(haul_unmarshal(s.shipment), HAUL_OK);
    CHECK_EQ(s.nodes[4].value, 4 * 8);
    CHECK_STATUS(haul_host_get_counters(s.device, &counters), HAUL_OK);
    CHECK_EQ(counters.strict_launches, 3);
    strict_close(&s);
}

static void *launch_in_thread(void *user)
{
    strict *s = user;
    tour t = { NULL, 0 };
    t.first = s->there;
    CHECK_STATUS(haul_host_launch(s->device, double_all, &t), HAUL_OK);
    CHECK_EQ(t.sum, 10);
    return NULL;
}

TEST(strict, any_thread_launches)
{
    strict s;
    pthread_t thread;
    if (!strict_open(&s))
        return;
    CHECK_EQ(pthread_create(&thread, NULL, launch_in_thread, &s), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    strict_close(&s);
}

static void speak(void *argument)
{
    printf("%s\n", (const char *)argument);
}

TEST(strict, what_a_kernel_prints_comes_out_once)
{
    strict s;
    char text[100] = "";
    FILE *file;
    int out;
    size_t length;
    if (!strict_open(&s))
        return;
    CHECK((file = tmpfile()) != NULL);
    fflush(stdout);
    CHECK((out = dup(1)) >= 0);
    CHECK(dup2(fileno(file), 1) == 1);
    setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
    printf("before\n");
    length = haul_host_launch(s.device, speak, (void *)(uintptr_t) "kernel") == HAUL_OK;
    printf("after\n");
    fflush(stdout);
    CHECK(dup2(out, 1) == 1);
    close(out);
    CHECK_EQ(length, 1);
    rewind(file);
    length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    CHECK_STR(text, "kernel\nbefore\nafter\n");
    CHECK_EQ(length, strlen(text));
    strict_close(&s);
}

/* ---- What ends a launch. */

static void read_names(void *argument)
{
    node *n;
    for (n = argument; n; n = n->next) {
        launches_seen++;
        n->value += n->name[0];
    }
}

static void measure_last_name(void *argument)
{
    node *n = argument;
    while (n->next)
        n = n->next;
    n->value = (int)strlen(n->name);
}

TEST(strict, a_forgotten_pointer_ends_the_launch_and_is_named)
{
    strict s;
    char expected[200];
    const char *text;
    if (!strict_open(&s))
        return;
    launches_seen = 0;
    text = refused(&s, read_names, s.there);
    CHECK_EQ(launches_seen, 0);
    snprintf(expected, sizeof expected, "root+%zu", offsetof(node, name));
    CHECK_STR(haul_context_error(s.context)->path, expected);
    snprintf(expected, sizeof expected, "0x%llx leads to a host heap block of %zu bytes",
             (unsigned long long)(uintptr_t)s.nodes[0].name, malloc_usable_size(s.nodes[0].name));
    CHECK_HAS(text, expected);
    snprintf(expected, sizeof expected, "device address 0x%llx",
             (unsigned long long)(uintptr_t)&s.there->name);
    CHECK_HAS(text, expected);
    CHECK_HAS(refused(&s, measure_last_name, s.there), "was not relocated");
    snprintf(expected, sizeof expected, "root(.next)*4+%zu", offsetof(node, name));
    CHECK_STR(haul_context_error(s.context)->path, expected);
    CHECK_STATUS(haul_unmarshal(s.shipment), HAUL_OK);
    strict_close(&s);
}

TEST(strict, a_forgotten_pointer_of_an_arena_is_named_by_its_offset)
{
    strict s;
    haul_arena *arena;
    haul_shipment *shipment;
    node *n;
    if (!strict_open(&s))
        return;
    CHECK_STATUS(haul_arena_create(s.context, NULL, &arena), HAUL_OK);
    CHECK((n = haul_arena_bytes(arena, sizeof(node), 0)) != NULL);
    CHECK((n->name = malloc(40)) != NULL);
    CHECK_STATUS(haul_ship_from(s.device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    CHECK_HAS(refused(&s, measure_last_name, haul_device_pointer(shipment, n)), "not relocated");
    CHECK_HAS(haul_context_error(s.context)->path, "arena+");
    free(n->name);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    CHECK_HAS(refused(&s, measure_last_name, s.there), "not relocated");
    CHECK_HAS(haul_context_error(s.context)->path, "root");
    strict_close(&s);
}

/* A block at the last 16 bytes of a page: vectors that hold its first byte begin before it. */
static char *at_page_end(void **blocks, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if ((blocks[i] = malloc(40)) != NULL && ((uintptr_t)blocks[i] & 4095) == 4080)
            return blocks[i];
    return NULL;
}

TEST(strict, a_string_at_a_page_end_is_named_where_vectors_begin_before_it)
{
    strict s;
    static void *blocks[4096];
    char expected[100], *small, *edge;
    size_t i;
    if (!strict_open(&s))
        return;
    memset(blocks, 0, sizeof blocks);
    small = s.nodes[NODES - 1].name;
    edge = at_page_end(blocks, sizeof blocks / sizeof *blocks);
    CHECK(edge != NULL);
    strcpy(edge, "edge");
    s.nodes[NODES - 1].name = edge;
    CHECK_STATUS(haul_update_device(s.shipment, NULL, NULL), HAUL_OK);
    snprintf(expected, sizeof expected, "0x%llx leads to a host heap block of %zu bytes",
             (unsigned long long)(uintptr_t)edge, malloc_usable_size(edge));
    CHECK_HAS(refused(&s, measure_last_name, s.there), expected);
    s.nodes[NODES - 1].name = small;
    for (i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    strict_close(&s);
}

static void last_byte(void *argument)
{
    node *n = argument;
    n->value = n->name[LARGE - 1];
}

TEST(strict, a_pointer_into_a_large_block_is_named_however_far_the_kernel_goes)
{
    strict s;
    char *small, *large = malloc(LARGE);
    char expected[100];
    if (!strict_open(&s)) {
        free(large);
        return;
    }
    small = s.nodes[0].name;
    s.nodes[0].name = large;
    CHECK_STATUS(haul_update_device(s.shipment, NULL, NULL), HAUL_OK);
    snprintf(expected, sizeof expected, "0x%llx leads to a host heap block of %zu bytes",
             (unsigned long long)(uintptr_t)large, malloc_usable_size(large));
    CHECK_HAS(refused(&s, last_byte, s.there), expected);
    s.nodes[0].name = small;
    free(large);
    strict_close(&s);
}

static void write_first(void *argument)
{
    **(char *volatile *)argument = 1;
}

static void read_first(void *argument)
{
    (void)**(volatile char *volatile *)argument;
}

/* Does the system name the memory that holds the byte? Emulators do not; nor has malloc's memory a
 * name where the heap cannot grow, as on 32 bits. */
static int lies_in_named_heap(const void *byte)
{
    char line[512];
    int lies = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps)) {
        char *dash;
        const uintptr_t first = (uintptr_t)strtoull(line, &dash, 16),
                        end = (uintptr_t)strtoull(dash + 1, NULL, 16);
        lies |= strstr(line, "[heap]") && (uintptr_t)byte - first < end - first;
    }
    fclose(maps);
    return lies;
}

TEST(strict, memory_of_the_host_that_no_device_word_leads_to_is_named_too)
{
    strict s;
    char *shared, *block, *wild[] = { NULL, (char *)(uintptr_t)-4096, NULL };
    if (!strict_open(&s))
        return;
    block = malloc(100);
    CHECK_HAS(refused(&s, read_first, &block), "No word of device memory leads there");
    CHECK_HAS(refused(&s, write_first, &block),
              lies_in_named_heap(block) ? "to host memory ([heap])" : "to host memory");
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    CHECK_HAS(refused(&s, write_first, &shared), "to host memory");
    CHECK(mprotect(shared, 4096, PROT_NONE) == 0);
    CHECK_HAS(refused(&s, write_first, &shared), "to no memory");
    munmap(shared, 4096);
    CHECK_HAS(refused(&s, write_first, wild), "a null pointer");
    CHECK(refused(&s, write_first, wild + 1)[0] != '\0');
    wild[2] = (char *)(uintptr_t)write_first;
    CHECK_HAS(refused(&s, write_first, wild + 2), "read-only");
    CHECK_HAS(refused(&s, read_first, block), "leads there");
    free(block);
    strict_close(&s);
}

/* A word of device memory that came with no shipment. */
typedef struct planted {
    char **word, *value;
} planted;

static void plant(void *argument)
{
    const planted *p = argument;
    *p->word = p->value;
}

TEST(strict, a_word_of_device_memory_that_no_shipment_brought_is_named_by_its_address)
{
    strict s;
    planted p;
    char expected[80];
    haul_address address = 0;
    if (!strict_open(&s))
        return;
    CHECK((p.value = malloc(100)) != NULL);
    CHECK_STATUS(haul_host_device()->allocate(haul_device_state(s.device), 64, 16, &address),
                 HAUL_OK);
    p.word = (char **)(uintptr_t)address;
    CHECK_STATUS(haul_host_launch(s.device, plant, &p), HAUL_OK);
    snprintf(expected, sizeof expected, "device address 0x%llx", (unsigned long long)address);
    CHECK_HAS(refused(&s, read_first, p.word), expected);
    CHECK_STR(haul_context_error(s.context)->path, "");
    haul_host_device()->release(haul_device_state(s.device), address, 64);
    free(p.value);
    strict_close(&s);
}

static void go_past(void *argument)
{
    volatile char *at = argument;
    for (;; at++)
        *at = 0;
}

TEST(strict, a_kernel_that_leaves_its_allocation_is_told_so)
{
    strict s;
    if (!strict_open(&s))
        return;
    CHECK_HAS(refused(&s, go_past, s.there), "outside of its device memory");
    strict_close(&s);
}

static void leave(void *argument)
{
    tour *t = argument;
    t->sum = 7;
    launches_seen = 1000;
    exit(0);
}

static void leave_at_once(void *argument)
{
    (void)argument;
    _exit(0);
}

static void stop(void *argument)
{
    (void)argument;
    raise(SIGKILL);
}

TEST(strict, a_kernel_that_ends_the_process_ends_the_launch_and_changes_nothing)
{
    strict s;
    tour t = { NULL, 0 };
    if (!strict_open(&s))
        return;
    launches_seen = 0;
    CHECK_HAS(refused(&s, leave, &t), "called exit");
    CHECK_HAS(refused(&s, leave_at_once, &t), "ended its process");
    CHECK_HAS(refused(&s, stop, &t), "signal 9");
    CHECK_EQ(t.sum, 0);
    CHECK_EQ(launches_seen, 0);
    t.first = s.there;
    CHECK_STATUS(haul_host_launch(s.device, double_all, &t), HAUL_OK);
    CHECK_EQ(t.sum, 10);
    strict_close(&s);
}

/* ---- Who asks for it. */

static uint64_t strict_launches(strict *s, int wish)
{
    haul_host_options options = { .strict = 0 };
    haul_host_counters counters;
    haul_device *device;
    tour t = { NULL, 0 };
    options.strict = wish;
    CHECK_STATUS(haul_host_open(s->context, &options, &device), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, double_all, &t), HAUL_OK);
    CHECK_STATUS(haul_host_get_counters(device, &counters), HAUL_OK);
    haul_device_close(&device);
    return counters.strict_launches;
}

TEST(strict, the_environment_asks_for_it_unless_the_options_do)
{
    static const char *const no[] = { "", "0" };
    const char *before = getenv("HAUL_HOST_STRICT");
    char kept[100] = "";
    strict s;
    uint64_t count = 0;
    size_t i;
    if (before)
        strncpy(kept, before, sizeof kept - 1);
    if (!strict_open(&s)) {
        haul_host_options options = { .strict = 1 };
        CHECK_STATUS(haul_context_create(NULL, &s.context), HAUL_OK);
        CHECK_STATUS(haul_host_open(s.context, &options, &s.device), HAUL_ERROR_UNSUPPORTED);
        haul_context_free(&s.context);
        return;
    }
    for (i = 0; i < 2; i++) {
        CHECK(setenv("HAUL_HOST_STRICT", no[i], 1) == 0);
        count += strict_launches(&s, 0) + strict_launches(&s, -1);
    }
    CHECK(unsetenv("HAUL_HOST_STRICT") == 0);
    count += strict_launches(&s, 0);
    CHECK_EQ(count, 0);
    CHECK_EQ(strict_launches(&s, 1), 1);
    CHECK(setenv("HAUL_HOST_STRICT", "1", 1) == 0);
    CHECK_EQ(strict_launches(&s, 0), 1);
    CHECK_EQ(strict_launches(&s, -1), 0);
    if (before)
        CHECK(setenv("HAUL_HOST_STRICT", kept, 1) == 0);
    else
        CHECK(unsetenv("HAUL_HOST_STRICT") == 0);
    strict_close(&s);
}

TEST(strict, pages_that_advice_has_set_apart_belong_to_the_mapping_around_them)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static haul__host_maps maps;
    haul__host_map map;
    CHECK(memory != MAP_FAILED);
    CHECK_EQ(madvise(memory + page, page, MADV_DONTFORK), 0);
    CHECK(haul__host_map_at(&maps, (uintptr_t)memory + page, &map));
    CHECK(map.begin <= (uintptr_t)memory);
    CHECK(map.end >= (uintptr_t)memory + 3 * page);
    CHECK(map.is_readable && map.is_writable && !map.is_executable && !map.is_shared);
    CHECK_EQ(mprotect(memory + page, page, PROT_READ), 0);
    CHECK(haul__host_map_at(&maps, (uintptr_t)memory + page, &map));
    CHECK_EQ(map.begin, (uintptr_t)memory + page);
    CHECK_EQ(map.end, (uintptr_t)memory + 2 * page);
    munmap(memory, 3 * page);
}
