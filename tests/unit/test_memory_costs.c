/* The cost of many plans and contexts at once: addresses, memory, mappings and time are those of
 * their contents.
 *
 * Plans of one context take turns in its table. Copies are compared with the source by a walk that
 * knows nothing of tables.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "haul.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

#define MANY ((size_t)LARGE(100000, 5000))
#define CELLS 400u
#define ROOM ((size_t)3 << 20)

typedef struct cell {
    struct cell *next, *other;
    uint64_t value;
    size_t number;
} cell;

static haul_type *cell_type;

static void types_open(void)
{
    const haul_field fields[] = { HAUL_OBJECT(cell, next, &cell_type),
                                  HAUL_OBJECT(cell, other, &cell_type) };
    CHECK_STATUS(type_make("cell", sizeof(cell), fields, 2, &cell_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(cell_type), HAUL_OK);
}

static void types_close(void)
{
    haul_type_free(&cell_type);
}

static haul_root root_of(cell *first)
{
    haul_root root;
    root.address = first;
    root.type = cell_type;
    root.count = 1;
    return root;
}

/* Cells that lie anywhere in a room, in a list, each with a pointer to any of them. */
typedef struct graph {
    unsigned char *room;
    cell *at[CELLS];
    size_t count;
} graph;

static void graph_make(graph *g, size_t count, random_source *random)
{
    unsigned char *taken = calloc(ROOM / sizeof(cell), 1);
    size_t i;
    g->room = malloc(ROOM);
    g->count = count;
    for (i = 0; i < count; i++) {
        size_t place;
        do
            place = random_below(random, ROOM / sizeof(cell));
        while (taken[place]);
        taken[place] = 1;
        g->at[i] = (cell *)(void *)(g->room + place * sizeof(cell));
    }
    for (i = 0; i < count; i++) {
        g->at[i]->next = i + 1 < count ? g->at[i + 1] : NULL;
        g->at[i]->other = random_one_in(random, 4) ? NULL : g->at[random_below(random, count)];
        g->at[i]->value = random_next(random);
        g->at[i]->number = i;
    }
    free(taken);
}

static void graph_free(graph *g)
{
    free(g->room);
}

/* `copy`: of the first cell, with pointers that hold where it lies. */
static void check_copy(const graph *g, const cell *copy)
{
    const cell *at[CELLS];
    size_t i;
    for (i = 0; i < g->count; i++, copy = copy->next) {
        CHECK(copy != NULL);
        at[i] = copy;
        CHECK_EQ(copy->value, g->at[i]->value);
        CHECK_EQ(copy->number, i);
    }
    CHECK_PTR(copy, NULL);
    for (i = 0; i < g->count; i++)
        CHECK_PTR(at[i]->other, g->at[i]->other ? at[g->at[i]->other->number] : NULL);
}

static void check_pack(haul_plan *plan, const graph *g)
{
    const size_t bytes = plan_bytes(plan);
    unsigned char *arena = malloc(bytes);
    size_t offset;
    CHECK_STATUS(haul_plan_pack(plan, arena, bytes, (uintptr_t)arena, NULL), HAUL_OK);
    CHECK_STATUS(haul_plan_offset(plan, g->at[0], &offset), HAUL_OK);
    check_copy(g, (const cell *)(const void *)(arena + offset));
    free(arena);
}

/* What the arena has for each value comes back. */
static void check_unpack(haul_plan *plan, const graph *g, random_source *random)
{
    const size_t bytes = plan_bytes(plan);
    unsigned char *arena = malloc(bytes);
    const size_t changed = random_below(random, g->count);
    const uint64_t value = random_next(random);
    size_t offset;
    CHECK_STATUS(haul_plan_pack(plan, arena, bytes, (uintptr_t)arena, NULL), HAUL_OK);
    CHECK_STATUS(haul_plan_offset(plan, g->at[changed], &offset), HAUL_OK);
    ((cell *)(void *)(arena + offset))->value = value;
    CHECK_STATUS(haul_plan_unpack(plan, arena, bytes, 0), HAUL_OK);
    CHECK_EQ(g->at[changed]->value, value);
    check_copy(g, g->at[0]);
    free(arena);
}

/* Of this process, in bytes; 0: the system does not say. */
static void measure(size_t *addresses, size_t *resident)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0, here = 0;
    if (file && fscanf(file, "%lu %lu", &pages, &here) != 2)
        pages = here = 0;
    if (file)
        fclose(file);
    *addresses = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
    *resident = (size_t)here * (size_t)sysconf(_SC_PAGESIZE);
}

static cell *pairs_make(size_t count)
{
    cell *all = calloc(2 * count, sizeof *all);
    size_t i;
    for (i = 0; i < count; i++) {
        all[2 * i].next = &all[2 * i + 1];
        all[2 * i].value = all[2 * i].number = i;
    }
    return all;
}

TEST(memory_costs, a_hundred_thousand_plans_live_in_one_context)
{
    haul_plan **plans = calloc(MANY, sizeof(haul_plan *));
    cell *all = pairs_make(MANY), copy[8];
    haul_context *context;
    size_t i, offset, addresses, resident, more_addresses, more_resident;
    types_open();
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    measure(&addresses, &resident);
    for (i = 0; i < MANY; i++) {
        haul_root root = root_of(&all[2 * i]);
        CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plans[i]),
                     HAUL_OK);
    }
    measure(&more_addresses, &more_resident);
    if (!BUILD_SANITIZED) {
        CHECK((more_addresses - addresses) >> 30 < 36);
        CHECK(more_resident - resident < MANY * 5120);
    }
    for (i = 0; i < MANY; i += 97) {
        haul_plan *plan = plans[(i * 31) % MANY];
        cell *first = &all[2 * ((i * 31) % MANY)];
        CHECK(plan_bytes(plan) <= sizeof copy);
        CHECK_STATUS(haul_plan_pack(plan, copy, sizeof copy, (uintptr_t)copy, NULL), HAUL_OK);
        CHECK_STATUS(haul_plan_offset(plan, first, &offset), HAUL_OK);
        CHECK_EQ(((cell *)(void *)((unsigned char *)copy + offset))->next->number, 0);
        CHECK_EQ(((cell *)(void *)((unsigned char *)copy + offset))->number, first->number);
    }
    for (i = 0; i < MANY; i++)
        haul_plan_free(&plans[i]);
    haul_context_free(&context);
    types_close();
    free(all);
    free(plans);
}

TEST(memory_costs, a_thousand_contexts_have_a_plan_each)
{
    enum { CONTEXTS = LARGE(1000, 50) };
    static haul_context *contexts[CONTEXTS];
    static haul_plan *plans[CONTEXTS];
    random_source random = random_start("a thousand contexts");
    graph g;
    size_t i;
    types_open();
    graph_make(&g, 50, &random);
    for (i = 0; i < CONTEXTS; i++) {
        haul_root root = root_of(g.at[0]);
        CHECK_STATUS(haul_context_create(NULL, &contexts[i]), HAUL_OK);
        CHECK_STATUS(haul_plan_create(contexts[i], haul_from_roots(&root, 1), NULL, &plans[i]),
                     HAUL_OK);
    }
    for (i = 0; i < CONTEXTS; i++) {
        check_pack(plans[i], &g);
        haul_plan_free(&plans[i]);
        haul_context_free(&contexts[i]);
    }
    graph_free(&g);
    types_close();
}

/* Made, used and freed in any order, of graphs that share blocks and of graphs that do not; with a
 * trim now and then. */
static void take_turns(haul_context *context, random_source *random)
{
    enum { PLANS = 12, TURNS = 300 };
    haul_plan *plans[PLANS] = { NULL };
    graph graphs[PLANS];
    size_t i, turn;
    for (i = 0; i < PLANS; i++)
        graph_make(&graphs[i], random_between(random, 1, CELLS), random);
    for (turn = 0; turn < TURNS; turn++) {
        haul_root root;
        i = random_below(random, PLANS);
        root = root_of(graphs[i].at[0]);
        if (!plans[i])
            CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plans[i]),
                         HAUL_OK);
        else if (random_one_in(random, 8))
            haul_plan_free(&plans[i]);
        else if (random_one_in(random, 2))
            check_pack(plans[i], &graphs[i]);
        else
            check_unpack(plans[i], &graphs[i], random);
        if (random_one_in(random, 40))
            CHECK_STATUS(haul_context_trim(context), HAUL_OK);
    }
    for (i = 0; i < PLANS; i++) {
        haul_plan_free(&plans[i]);
        graph_free(&graphs[i]);
    }
}

TEST(memory_costs, plans_of_one_context_take_turns_in_its_table)
{
    random_source random = random_start("plans take turns");
    int variant;
    types_open();
    for (variant = 0; variant < 4; variant++) {
        haul_context_options options;
        haul_context *context;
        fault_plan doors;
        memset(&doors, 0, sizeof doors);
        memset(&options, 0, sizeof options);
        doors.no_reserve = variant & 1;
        options.checked = variant >> 1;
        CHECK_STATUS(fault_open_context(&doors, &options, &context), HAUL_OK);
        take_turns(context, &random);
        CHECK_STATUS(haul_context_trim(context), HAUL_OK);
        CHECK_EQ(doors.reserved_blocks, 0);
        haul_context_free(&context);
        fault_check_clean(&doors);
    }
    types_close();
}

/* ---- Faults while the table changes hands. */

typedef struct handover {
    haul_context *context;
    haul_plan *first, *second;
    graph here, there;
} handover;

static void handover_prepare(void *user, fault_plan *doors)
{
    handover *h = user;
    haul_root root = root_of(h->here.at[0]);
    CHECK_STATUS(fault_open_context(doors, NULL, &h->context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(h->context, haul_from_roots(&root, 1), NULL, &h->first), HAUL_OK);
}

static haul_status handover_run(void *user)
{
    handover *h = user;
    haul_root root = root_of(h->there.at[0]);
    return haul_plan_create(h->context, haul_from_roots(&root, 1), NULL, &h->second);
}

static void handover_check(void *user, haul_status status)
{
    handover *h = user;
    check_pack(h->first, &h->here);
    CHECK_EQ(h->second == NULL, status != HAUL_OK);
    if (h->second)
        check_pack(h->second, &h->there);
    check_pack(h->first, &h->here);
}

static void handover_undo(void *user)
{
    handover *h = user;
    haul_plan_free(&h->second);
}

static void handover_finish(void *user)
{
    handover *h = user;
    haul_plan_free(&h->first);
    haul_context_free(&h->context);
}

TEST(memory_costs, a_plan_that_cannot_be_made_leaves_the_one_before_it_whole)
{
    random_source random = random_start("faults while the table changes hands");
    fault_operation operation;
    static handover h;
    memset(&h, 0, sizeof h);
    types_open();
    graph_make(&h.here, 200, &random);
    graph_make(&h.there, 300, &random);
    memset(&operation, 0, sizeof operation);
    operation.prepare = handover_prepare;
    operation.run = handover_run;
    operation.check = handover_check;
    operation.undo = handover_undo;
    operation.finish = handover_finish;
    operation.user = &h;
    operation.modes = FAULT_MEMORY;
    CHECK(fault_everywhere(&operation) > 20);
    operation.settings.no_reserve = 1;
    CHECK(fault_everywhere(&operation) > 20);
    graph_free(&h.here);
    graph_free(&h.there);
    types_close();
}

/* ---- Other threads. */

typedef struct asker {
    haul_plan *plan;
    const graph *g;
    const size_t *offset;
    int wrong;
} asker;

static void *ask(void *argument)
{
    asker *a = argument;
    size_t turn, i, offset;
    void *address;
    for (turn = 0; turn < 200; turn++)
        for (i = 0; i < a->g->count; i += 7) {
            a->wrong += haul_plan_offset(a->plan, a->g->at[i], &offset) != HAUL_OK ||
                        offset != a->offset[i];
            a->wrong += haul_plan_address(a->plan, a->offset[i], &address) != HAUL_OK ||
                        address != a->g->at[i];
        }
    return NULL;
}

TEST(memory_costs, any_thread_may_look_places_up_while_the_table_changes_hands)
{
    random_source random = random_start("look-ups by another thread");
    haul_context *context;
    haul_plan *plan[2];
    graph g[2];
    size_t offset[CELLS], i;
    pthread_t thread;
    asker a;
    types_open();
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    for (i = 0; i < 2; i++) {
        haul_root root;
        graph_make(&g[i], CELLS, &random);
        root = root_of(g[i].at[0]);
        CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan[i]), HAUL_OK);
    }
    for (i = 0; i < CELLS; i++)
        CHECK_STATUS(haul_plan_offset(plan[0], g[0].at[i], &offset[i]), HAUL_OK);
    a.plan = plan[0];
    a.g = &g[0];
    a.offset = offset;
    a.wrong = 0;
    CHECK_EQ(pthread_create(&thread, NULL, ask, &a), 0);
    for (i = 0; i < 50; i++)
        check_pack(plan[i % 2], &g[i % 2]);
    pthread_join(thread, NULL);
    CHECK_EQ(a.wrong, 0);
    for (i = 0; i < 2; i++) {
        haul_plan_free(&plan[i]);
        graph_free(&g[i]);
    }
    haul_context_free(&context);
    types_close();
}

/* ---- Little room. */

/* The addresses that this process has reserved: threads of other tests have left some. */
static size_t reserved_bytes(void)
{
    size_t pages = 0;
    FILE *sizes = fopen("/proc/self/statm", "r");
    CHECK(sizes && fscanf(sizes, "%zu", &pages) == 1);
    fclose(sizes);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* In a child with so many bytes of addresses to spare: 0 if all is well. */
static int in_little_room(const graph *g, size_t bytes)
{
    struct rlimit limit;
    haul_context *context;
    haul_arena *arena;
    haul_plan *plan;
    haul_root root = root_of(g->at[0]);
    limit.rlim_cur = reserved_bytes() + bytes;
    limit.rlim_max = RLIM_INFINITY;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 2;
    errno = 5;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    CHECK_STATUS(haul_arena_create(context, NULL, &arena), HAUL_OK);
    CHECK_EQ(errno, 5);
    CHECK(haul_arena_bytes(arena, 1000, 0) != NULL);
    haul_arena_free(&arena);
    check_pack(plan, g);
    limit.rlim_cur = RLIM_INFINITY;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 2;
    CHECK_STATUS(haul_context_trim(context), HAUL_OK);
    check_pack(plan, g);
    haul_plan_free(&plan);
    haul_context_free(&context);
    return 0;
}

TEST(memory_costs, plans_are_made_and_packed_where_the_system_has_no_range_for_the_table)
{
    random_source random = random_start("little room");
    graph g;
    int status = 0;
    pid_t child;
    if (BUILD_SANITIZED) {
        printf("skipped: a sanitizer's own ranges are larger than the limit\n");
        return;
    }
    types_open();
    graph_make(&g, CELLS, &random);
    fflush(NULL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        check_leave(in_little_room(&g, (size_t)1 << 30));
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
    graph_free(&g);
    types_close();
}

/* ---- The host device. */

typedef struct fleet {
    haul_shipment **shipments;
    cell *all;
    size_t count, wrong;
} fleet;

static void visit_fleet(void *argument)
{
    fleet *f = argument;
    size_t i;
    for (i = 0; i < f->count; i++) {
        cell *there = haul_device_pointer(f->shipments[i], &f->all[2 * i]);
        f->wrong += there->number != i || there->next->number != 0 || there->next->next != NULL;
        there->value += 5;
    }
}

TEST(memory_costs, a_hundred_thousand_shipments_live_on_the_host_device)
{
    test_device options;
    haul_device *device;
    haul_host_counters counters;
    size_t i, addresses, resident, more_addresses, more_resident;
    fleet f;
    f.count = BUILD_SANITIZED ? 9000 : MANY; /* more than a launch opens one by one */
    f.shipments = calloc(f.count, sizeof(haul_shipment *));
    f.all = pairs_make(f.count);
    f.wrong = 0;
    memset(&options, 0, sizeof options);
    options.settings = &ordinary_launches; /* the kernel calls the library */
    types_open();
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    measure(&addresses, &resident);
    for (i = 0; i < f.count; i++)
        CHECK_STATUS(haul_ship(device, &f.all[2 * i], cell_type, 1, NULL, &f.shipments[i]),
                     HAUL_OK);
    measure(&more_addresses, &more_resident);
    if (!BUILD_SANITIZED) {
        CHECK((more_addresses - addresses) >> 30 < 48);
        CHECK(more_resident - resident < f.count * (6144 + (size_t)sysconf(_SC_PAGESIZE)));
    }
    CHECK_STATUS(haul_host_launch(device, visit_fleet, &f), HAUL_OK);
    CHECK_EQ(f.wrong, 0);
    for (i = 0; i < f.count; i++) {
        CHECK_STATUS(haul_unmarshal(f.shipments[i]), HAUL_OK);
        CHECK_EQ(f.all[2 * i].value, i + 5);
    }
    for (i = 0; i < f.count; i++)
        haul_shipment_free(&f.shipments[(i * 7919) % f.count]);
    CHECK_STATUS(haul_host_get_counters(device, &counters), HAUL_OK);
    CHECK_EQ(counters.bytes_live, 0);
    haul_device_close(&device);
    types_close();
    free(f.all);
    free(f.shipments);
}

/* Allocations of any size, made and released in any order, hold what was written to them and
 * nothing else. */
TEST(memory_costs, allocations_of_the_host_device_are_apart_whatever_their_sizes)
{
    enum { HELD = 700, TURNS = 6000 };
    static const size_t sizes[] = { 16, 100, 4096, 4097, 9000, 20000, 40000, 65536, 65537, 200000 };
    static struct held {
        haul_address address;
        size_t bytes;
        uint32_t mark;
    } held[HELD];
    const haul_device_table *table = haul_host_device();
    random_source random = random_start("allocations of the host device");
    fault_plan doors;
    haul_allocator allocator;
    void *state;
    uint32_t mark = 0, found;
    size_t turn;
    memset(held, 0, sizeof held);
    memset(&doors, 0, sizeof doors);
    allocator = fault_allocator(&doors);
    CHECK_STATUS(table->open(NULL, &allocator, &state), HAUL_OK);
    for (turn = 0; turn < TURNS; turn++) {
        struct held *h = &held[random_below(&random, HELD)];
        if (!h->bytes) {
            const size_t most = sizes[random_below(&random, sizeof sizes / sizeof *sizes)];
            h->bytes = random_between(&random, most / 2 < 4 ? 4 : most / 2, most);
            h->mark = ++mark;
            CHECK_STATUS(table->allocate(state, h->bytes, 64, &h->address), HAUL_OK);
            CHECK_EQ(h->address % 64, 0);
            CHECK_STATUS(table->copy_to(state, h->address, &h->mark, sizeof mark), HAUL_OK);
            CHECK_STATUS(table->copy_to(state, h->address + h->bytes - 4, &h->mark, sizeof mark),
                         HAUL_OK);
            continue;
        }
        CHECK_STATUS(table->copy_from(state, &found, h->address, sizeof found), HAUL_OK);
        CHECK_EQ(found, h->mark);
        CHECK_STATUS(table->copy_from(state, &found, h->address + h->bytes - 4, sizeof found),
                     HAUL_OK);
        CHECK_EQ(found, h->mark);
        CHECK_STATUS(table->copy_from(state, &found, h->address + h->bytes - 3, sizeof found),
                     HAUL_ERROR_DEVICE);
        CHECK_STATUS(table->copy_from(state, &found, h->address - 1, sizeof found),
                     HAUL_ERROR_DEVICE);
        if (random_one_in(&random, 2)) {
            table->release(state, h->address, h->bytes);
            CHECK_STATUS(table->copy_from(state, &found, h->address, sizeof found),
                         HAUL_ERROR_DEVICE);
            h->bytes = 0;
        }
    }
    for (turn = 0; turn < HELD; turn++)
        if (held[turn].bytes)
            table->release(state, held[turn].address, held[turn].bytes);
    CHECK_EQ(doors.host_blocks, 1); /* the device itself */
    table->close(state);
    fault_check_clean(&doors);
}

/* ---- Huge pages and locked memory. */

static void *huge_reserve(void *user, size_t bytes)
{
    void *range = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    (void)user;
    if (range == MAP_FAILED)
        return NULL;
    madvise(range, bytes, MADV_HUGEPAGE);
    return range;
}

static void huge_unreserve(void *user, void *range, size_t bytes)
{
    (void)user;
    munmap(range, bytes);
}

static void *plain_allocate(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    (void)user;
    return posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment,
                          bytes) == 0
               ? memory
               : NULL;
}

static void plain_release(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

static int has_huge_pages(void)
{
    char words[64] = "[never]";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (file && !fgets(words, sizeof words, file))
        words[0] = 0;
    if (file)
        fclose(file);
    return strstr(words, "[never]") == NULL;
}

/* Bytes that a context with a plan and an arena with one object takes. */
static size_t taken_by_little(const haul_context_options *options,
                              const haul_arena_options *reserve, graph *g)
{
    size_t addresses, before, after;
    haul_root root = root_of(g->at[0]);
    haul_context *context;
    haul_arena *arena;
    haul_plan *plan;
    measure(&addresses, &before);
    CHECK_STATUS(haul_context_create(options, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    CHECK_STATUS(haul_arena_create(context, reserve, &arena), HAUL_OK);
    CHECK(haul_arena_bytes(arena, 100, 0) != NULL);
    measure(&addresses, &after);
    check_pack(plan, g);
    haul_arena_free(&arena);
    haul_plan_free(&plan);
    haul_context_free(&context);
    return after - before;
}

TEST(memory_costs, a_small_plan_and_a_small_arena_take_no_huge_page)
{
    const haul_allocator door = { NULL, plain_allocate, plain_release, huge_reserve,
                                  huge_unreserve };
    random_source random = random_start("huge pages");
    haul_context_options options;
    graph g;
    if (BUILD_SANITIZED || !has_huge_pages()) {
        printf("skipped: the system has no huge pages, or a sanitizer takes as many\n");
        return;
    }
    types_open();
    graph_make(&g, 2, &random);
    memset(&options, 0, sizeof options);
    test_allocator(&options, &door);
    CHECK(taken_by_little(&options, NULL, &g) < (size_t)1 << 20);
    graph_free(&g);
    types_close();
}

/* 0: all is well; 77: memory cannot be locked. */
static int in_locked_memory(graph *g, rlim_t most)
{
    struct rlimit limit;
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    limit.rlim_cur = limit.rlim_max = most;
    if (most != RLIM_INFINITY && (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || setuid(65534) != 0))
        return 77;
    if (mlockall(MCL_FUTURE) != 0)
        return 77;
    return taken_by_little(NULL, most == RLIM_INFINITY ? NULL : &options, g) < (size_t)6 << 20 ? 0
                                                                                               : 1;
}

TEST(memory_costs, reservations_cost_what_is_touched_where_all_memory_is_locked)
{
    static const rlim_t limits[] = { RLIM_INFINITY, (rlim_t)8 << 20 };
    random_source random = random_start("locked memory");
    graph g;
    size_t i;
    if (BUILD_SANITIZED) {
        printf("skipped: a sanitizer's own ranges would be locked\n");
        return;
    }
    types_open();
    graph_make(&g, 2, &random);
    for (i = 0; i < 2; i++) {
        int status = 0;
        pid_t child;
        fflush(NULL);
        child = fork();
        CHECK(child >= 0);
        if (child == 0)
            check_leave(in_locked_memory(&g, limits[i]));
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
            printf("skipped: this process may not lock %s\n", i ? "as another user" : "its memory");
        else
            CHECK_EQ(WEXITSTATUS(status), 0);
    }
    graph_free(&g);
    types_close();
}

/* ---- errno. */

#define OURS 5 /* what it was */

static void *spoiling_allocate(void *user, size_t bytes, size_t alignment)
{
    void *memory = plain_allocate(user, bytes, alignment);
    errno = ENOMEM;
    return memory;
}

static void spoiling_release(void *user, void *memory, size_t bytes)
{
    plain_release(user, memory, bytes);
    errno = EINVAL;
}

static void *spoiling_reserve(void *user, size_t bytes)
{
    (void)user;
    (void)bytes;
    errno = ENOMEM;
    return NULL;
}

static void spoiling_unreserve(void *user, void *range, size_t bytes)
{
    (void)user;
    (void)range;
    (void)bytes;
    errno = EINVAL;
}

#define KEEPS(call) (errno = OURS, (call), CHECK_EQ(errno, OURS))
#define SUCCEEDS(call) (errno = OURS, CHECK_STATUS(call, HAUL_OK), CHECK_EQ(errno, OURS))

/* All that a program does, with an allocator that leaves something else in errno each time. */
static void live_with(const haul_allocator *door, graph *g, unsigned threads)
{
    haul_context_options options;
    test_device settings;
    haul_root root = root_of(g->at[0]);
    haul_arena_options reuse;
    haul_context *context;
    haul_device *device;
    haul_shipment *s;
    haul_arena *arena;
    haul_plan *plan;
    void *block = NULL;
    memset(&options, 0, sizeof options);
    memset(&settings, 0, sizeof settings);
    memset(&reuse, 0, sizeof reuse);
    test_allocator(&options, door);
    options.threads = threads;
    reuse.reuse = 1;
    SUCCEEDS(haul_context_create(&options, &context));
    settings.context = context;
    SUCCEEDS(test_open(haul_host_device(), &settings, &device));
    SUCCEEDS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan));
    KEEPS(check_pack(plan, g));
    SUCCEEDS(haul_audit(context, haul_from_roots(&root, 1), NULL, NULL));
    SUCCEEDS(haul_ship_from(device, haul_from_plan(plan), NULL, NULL, &s));
    SUCCEEDS(haul_update_device(s, NULL, NULL));
    SUCCEEDS(haul_reship(s, NULL));
    SUCCEEDS(haul_unmarshal(s));
    SUCCEEDS(haul_update_host(s, WITH_POINTERS, NULL));
    SUCCEEDS(haul_wait(s));
    KEEPS(haul_shipment_free(&s));
    KEEPS(haul_plan_free(&plan));
    SUCCEEDS(haul_arena_create(context, &reuse, &arena));
    KEEPS(block = haul_arena_bytes(arena, 100, 0));
    SUCCEEDS(haul_arena_release(arena, block, 100));
    KEEPS(block = haul_arena_new(arena, cell_type, 3));
    SUCCEEDS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s));
    SUCCEEDS(haul_unmarshal(s));
    KEEPS(haul_shipment_free(&s));
    KEEPS(haul_arena_free(&arena));
    SUCCEEDS(haul_context_trim(context));
    KEEPS(haul_device_close(&device));
    KEEPS(haul_context_free(&context));
}

TEST(memory_costs, a_call_that_succeeds_leaves_errno_as_it_was)
{
    const haul_allocator door = { NULL, spoiling_allocate, spoiling_release, spoiling_reserve,
                                  spoiling_unreserve };
    random_source random = random_start("errno");
    graph g;
    errno = OURS;
    types_open();
    CHECK_EQ(errno, OURS);
    graph_make(&g, 300, &random);
    live_with(&door, &g, 0);
    live_with(&door, &g, 3);
    live_with(NULL, &g, 3);
    graph_free(&g);
    KEEPS(types_close());
}
