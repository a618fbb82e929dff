/* Contexts with threads: results and errors are those of one thread.
 *
 * Faults by number (docs/testing.md): H1, H2, C3, D13 with threads.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

enum { SHEETS = 12000, LARGE_VALUES = 40000, LARGE_EACH = 400, THREADS = 4 };

/* Pointers, strings, counted arrays of any size and data: blocks of every form. */
typedef struct sheet {
    struct sheet *next, *other;
    char *name;
    int32_t *values;
    uint32_t count;
    int32_t seen;
    double weight[5];
} sheet;

typedef struct world {
    sheet *at[SHEETS];
    random_source random;
} world;

static haul_type *sheet_type;

static void *must_have(void *memory)
{
    CHECK(memory != NULL);
    return memory;
}

static sheet *sheet_new(world *w, int i)
{
    sheet *s = must_have(calloc(1, sizeof *s));
    size_t length = random_below(&w->random, 40), k;
    s->name = must_have(malloc(length + 1));
    memset(s->name, 'a' + i % 26, length);
    s->name[length] = 0;
    s->count = i % LARGE_EACH == 7 ? LARGE_VALUES : (uint32_t)random_below(&w->random, 60);
    s->values = s->count ? must_have(malloc(s->count * sizeof *s->values)) : NULL;
    for (k = 0; k < s->count; k++)
        s->values[k] = (int32_t)k + i;
    for (k = 0; k < 5; k++)
        s->weight[k] = i + (double)k / 8;
    return s;
}

static world *world_new(void)
{
    static const haul_field fields[] = {
        HAUL_OBJECT(sheet, next, &sheet_type),
        HAUL_OBJECT(sheet, other, &sheet_type),
        HAUL_STRING(sheet, name),
        HAUL_ARRAY(sheet, values, HAUL_COUNT(sheet, count)),
    };
    world *w = must_have(calloc(1, sizeof *w));
    int i;
    w->random = random_start("sheets for several threads");
    CHECK_STATUS(type_make("sheet", sizeof(sheet), fields, 4, &sheet_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(sheet_type), HAUL_OK);
    for (i = 0; i < SHEETS; i++)
        w->at[i] = sheet_new(w, i);
    for (i = SHEETS - 1; i > 0; i--) { /* the chain goes about in memory */
        size_t k = random_below(&w->random, (size_t)i + 1);
        sheet *s = w->at[i];
        w->at[i] = w->at[k];
        w->at[k] = s;
    }
    for (i = 0; i < SHEETS; i++) {
        w->at[i]->next = i + 1 < SHEETS ? w->at[i + 1] : NULL;
        w->at[i]->other = i % 3 ? w->at[random_below(&w->random, SHEETS)] : NULL;
    }
    return w;
}

static void world_free(world *w)
{
    int i;
    for (i = 0; i < SHEETS; i++) {
        free(w->at[i]->name);
        free(w->at[i]->values);
        free(w->at[i]);
    }
    haul_type_free(&sheet_type);
    free(w);
}

static haul_context *context_of(unsigned threads)
{
    haul_context_options options;
    haul_context *context;
    memset(&options, 0, sizeof options);
    options.threads = threads;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    return context;
}

static haul_device *device_of(unsigned threads)
{
    test_device options;
    haul_device *device;
    memset(&options, 0, sizeof options);
    options.new_context.threads = threads;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    return device;
}

static haul_plan *plan_of(haul_context *context, const world *w)
{
    haul_root root;
    haul_plan *plan;
    root.address = w->at[0];
    root.type = sheet_type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    return plan;
}

typedef struct packed {
    haul_context *context;
    haul_plan *plan;
    unsigned char *arena;
    uint64_t *bitmap;
} packed;

static packed packed_by(unsigned threads, const world *w)
{
    packed p;
    p.context = context_of(threads);
    p.plan = plan_of(p.context, w);
    p.arena = must_have(malloc(plan_bytes(p.plan)));
    p.bitmap = must_have(malloc(plan_bitmap_bytes(p.plan)));
    memset(p.arena, 0xDD, plan_bytes(p.plan)); /* all of it is to be written */
    CHECK_STATUS(haul_plan_pack(p.plan, p.arena, plan_bytes(p.plan), 0, p.bitmap), HAUL_OK);
    return p;
}

static void packed_free(packed *p)
{
    free(p->arena);
    free(p->bitmap);
    haul_plan_free(&p->plan);
    haul_context_free(&p->context);
}

static void check_alike(const packed *a, const packed *b)
{
    haul_plan_info one, other;
    CHECK_EQ(plan_bytes(a->plan), plan_bytes(b->plan));
    CHECK_BYTES(a->arena, b->arena, plan_bytes(a->plan));
    CHECK_BYTES(a->bitmap, b->bitmap, plan_bitmap_bytes(a->plan));
    haul_plan_get_info(a->plan, &one);
    haul_plan_get_info(b->plan, &other);
    CHECK_EQ(one.pointers, other.pointers);
    CHECK_EQ(one.null_pointers, other.null_pointers);
}

TEST(threads, an_arena_has_the_same_bytes_whoever_packs_it_and_again)
{
    world *w = world_new();
    packed one = packed_by(1, w), several = packed_by(THREADS, w), many = packed_by(13, w);
    int round;
    CHECK(plan_bytes(one.plan) > (size_t)4 << 20);
    check_alike(&one, &several);
    check_alike(&one, &many);
    for (round = 0; round < 5; round++) {
        memset(several.arena, round, plan_bytes(several.plan));
        CHECK_STATUS(haul_plan_pack(several.plan, several.arena, plan_bytes(several.plan), 0,
                                    several.bitmap),
                     HAUL_OK);
        check_alike(&one, &several);
    }
    packed_free(&many);
    packed_free(&several);
    packed_free(&one);
    world_free(w);
}

static void *in_arena(const packed *p, const void *host)
{
    size_t offset = 0;
    CHECK_STATUS(haul_plan_offset(p->plan, host, &offset), HAUL_OK);
    return p->arena + offset;
}

TEST(threads, contents_come_back_to_every_object_and_no_pointer_changes)
{
    world *w = world_new();
    packed p = packed_by(THREADS, w);
    sheet *before = must_have(malloc(SHEETS * sizeof *before));
    int i;
    for (i = 0; i < SHEETS; i++) {
        sheet *copy = in_arena(&p, w->at[i]);
        before[i] = *w->at[i];
        copy->seen = i + 1;
        copy->weight[4] = -i;
        copy->next = NULL; /* of no consequence */
        if (w->at[i]->count)
            *(int32_t *)in_arena(&p, &w->at[i]->values[w->at[i]->count - 1]) = -i;
    }
    CHECK_STATUS(haul_plan_unpack(p.plan, p.arena, plan_bytes(p.plan), 0), HAUL_OK);
    for (i = 0; i < SHEETS; i++) {
        const sheet *s = w->at[i];
        CHECK_EQ(s->seen, i + 1);
        CHECK(s->weight[4] <= -i && s->weight[4] >= -i && s->weight[0] >= before[i].weight[0]);
        CHECK(s->next == before[i].next && s->other == before[i].other &&
              s->values == before[i].values);
        CHECK(!s->count || s->values[s->count - 1] == -i);
    }
    free(before);
    packed_free(&p);
    world_free(w);
}

/* ---- Errors: those of one thread, to the letter. */

static void check_same_refusal(packed *one, packed *several)
{
    const haul_error *a = haul_context_error(one->context),
                     *b = haul_context_error(several->context);
    CHECK_STATUS(haul_plan_pack(one->plan, one->arena, plan_bytes(one->plan), 0, one->bitmap),
                 HAUL_ERROR_STALE);
    CHECK_STATUS(haul_plan_pack(several->plan, several->arena, plan_bytes(several->plan), 0,
                                several->bitmap),
                 HAUL_ERROR_STALE);
    CHECK(a->path[0] != 0);
    CHECK_STR(a->text, b->text);
    CHECK_STR(a->path, b->path);
}

TEST(threads, of_several_changed_pointers_the_same_one_is_named_D13)
{
    world *w = world_new();
    packed one = packed_by(1, w), several = packed_by(THREADS, w);
    int i;
    for (i = 100; i < SHEETS; i += 100) { /* in nearly every block */
        sheet *other = w->at[i]->other;
        w->at[i]->other = w->at[(i + 1) % SHEETS] == other ? w->at[0] : w->at[(i + 1) % SHEETS];
        if (i % 2000 == 0)
            check_same_refusal(&one, &several);
        w->at[i]->other = other;
    }
    for (i = 100; i < SHEETS; i += 100)
        w->at[i]->other = w->at[i + 50];
    check_same_refusal(&one, &several);
    packed_free(&several);
    packed_free(&one);
    world_free(w);
}

TEST(threads, a_pointer_that_leads_out_and_a_string_without_its_end_are_named_too_C3)
{
    world *w = world_new();
    packed one = packed_by(1, w), several = packed_by(THREADS, w);
    static sheet stranger;
    sheet *s = w->at[SHEETS / 2], *next = s->next;
    s->next = &stranger;
    check_same_refusal(&one, &several);
    s->next = next;
    s->name[strlen(s->name)] = 'x';
    check_same_refusal(&one, &several);
    packed_free(&several);
    packed_free(&one);
    world_free(w);
}

TEST(threads, what_does_not_fit_at_the_first_pack_is_refused_alike)
{
    world *w = world_new();
    static sheet stranger;
    packed one, several;
    packed *all[2];
    int i;
    one.context = context_of(1);
    several.context = context_of(THREADS);
    all[0] = &one;
    all[1] = &several;
    for (i = 0; i < 2; i++) {
        all[i]->plan = plan_of(all[i]->context, w);
        all[i]->arena = must_have(malloc(plan_bytes(all[i]->plan)));
        all[i]->bitmap = must_have(malloc(plan_bitmap_bytes(all[i]->plan)));
    }
    w->at[10]->other = w->at[SHEETS - 10]->other = &stranger;
    check_same_refusal(&one, &several);
    packed_free(&several);
    packed_free(&one);
    world_free(w);
}

/* Pieces are larger where several threads pack; what lies in them is named in the same order. */
TEST(threads, of_several_strays_the_first_is_named_however_it_is_cut_into_pieces)
{
    world *w = world_new();
    haul_device *one = device_of(1), *several = device_of(THREADS);
    haul_plan *plan[2];
    haul_shipment *shipment;
    static sheet stranger;
    int i;
    plan[0] = plan_of(haul_device_context(one), w);
    plan[1] = plan_of(haul_device_context(several), w);
    for (i = 3; i < SHEETS; i += 7)
        w->at[i]->other = &stranger;
    CHECK_STATUS(haul_ship_from(one, haul_from_plan(plan[0]), NULL, NULL, &shipment),
                 HAUL_ERROR_STALE);
    CHECK_STATUS(haul_ship_from(several, haul_from_plan(plan[1]), NULL, NULL, &shipment),
                 HAUL_ERROR_STALE);
    CHECK(haul_context_error(haul_device_context(one))->path[0] != 0);
    CHECK_STR(haul_context_error(haul_device_context(one))->path,
              haul_context_error(haul_device_context(several))->path);
    haul_plan_free(&plan[0]);
    haul_plan_free(&plan[1]);
    haul_device_close(&one);
    haul_device_close(&several);
    world_free(w);
}

/* Some programs find out by faults which pages are written. */
static unsigned char *guarded;
static size_t guarded_bytes, page_bytes;
static volatile int faults;

static void open_page(int number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr;
    (void)number;
    (void)context;
    if (at - (uintptr_t)guarded >= guarded_bytes)
        _exit(3);
    __atomic_add_fetch(&faults, 1, __ATOMIC_RELAXED);
    if (mprotect((void *)(at & ~(uintptr_t)(page_bytes - 1)), page_bytes, PROT_READ | PROT_WRITE) !=
        0)
        _exit(4);
}

TEST(threads, a_fault_is_handled_in_the_thread_that_meets_it)
{
    enum { BYTES = 4 << 20 };
    struct sigaction action, before, before_bus;
    haul_type *bulk;
    haul_context *context = context_of(THREADS);
    haul_plan *plan;
    haul_root root;
    unsigned char *arena;
    size_t i;
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    guarded_bytes = BYTES;
    guarded = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(guarded != MAP_FAILED);
    CHECK_STATUS(type_make("bulk", BYTES, NULL, 0, &bulk), HAUL_OK);
    CHECK_STATUS(haul_type_commit(bulk), HAUL_OK);
    root.address = guarded;
    root.type = bulk;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    arena = must_have(malloc(plan_bytes(plan)));
    CHECK_STATUS(haul_plan_pack(plan, arena, plan_bytes(plan), 1 << 20, NULL), HAUL_OK);
    memset(arena, 7, plan_bytes(plan));
    memset(&action, 0, sizeof action);
    action.sa_sigaction = open_page;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    CHECK_EQ(mprotect(guarded, BYTES, PROT_READ), 0);
    sigaction(SIGSEGV, &action, &before);
    sigaction(SIGBUS, &action, &before_bus);
    CHECK_STATUS(haul_plan_unpack(plan, arena, plan_bytes(plan), 0), HAUL_OK);
    sigaction(SIGSEGV, &before, NULL);
    sigaction(SIGBUS, &before_bus, NULL);
    CHECK(faults > 0);
    for (i = 0; i < BYTES; i++)
        CHECK(guarded[i] == 7);
    free(arena);
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&bulk);
    munmap(guarded, BYTES);
}

TEST(threads, more_than_there_can_be_are_refused)
{
    haul_context_options options;
    haul_context *context;
    memset(&options, 0, sizeof options);
    options.threads = HAUL_THREADS_MAX + 1;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_ERROR_ARGUMENT);
    CHECK_PTR(context, NULL);
}

TEST(threads, they_wait_awake_for_a_time_that_is_one)
{
    static const double wrong[] = { -1e-9, -1.0 / 0.0, 0.0 / 0.0 };
    haul_context_options options;
    haul_context *context;
    size_t i;
    memset(&options, 0, sizeof options);
    options.threads = THREADS;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.spin_seconds = wrong[i];
        CHECK_STATUS(haul_context_create(&options, &context), HAUL_ERROR_ARGUMENT);
        CHECK_PTR(context, NULL);
    }
}

enum { MOST_THREADS = 4096 };

/* The numbers of this process's threads, and how many there are. */
static size_t threads_now(long *numbers)
{
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    CHECK(tasks != NULL);
    while ((task = readdir(tasks)) != NULL)
        if (task->d_name[0] != '.') {
            CHECK(count < MOST_THREADS);
            numbers[count++] = atol(task->d_name);
        }
    closedir(tasks);
    return count;
}

/* The threads that a context with all threads adds. Numbers are compared, because a thread that
 * another test has joined may still be there, and may go meanwhile. */
static size_t threads_of_all(void)
{
    static long before[MOST_THREADS], with[MOST_THREADS];
    const size_t before_count = threads_now(before);
    haul_context *context = context_of(HAUL_THREADS_ALL);
    const size_t with_count = threads_now(with);
    size_t added = 0, i, k;
    haul_context_free(&context);
    for (i = 0; i < with_count; i++) {
        for (k = 0; k < before_count && before[k] != with[i]; k++)
            ;
        added += k == before_count;
    }
    return added;
}

TEST(threads, all_are_as_many_as_processors_that_the_process_may_run_on)
{
    cpu_set_t mine, one;
    size_t first = 0;
    CHECK_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    CHECK_EQ(threads_of_all(), (size_t)CPU_COUNT(&mine) - 1);
    while (!CPU_ISSET(first, &mine))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_EQ(threads_of_all(), 0);
    CHECK_EQ(sched_setaffinity(0, sizeof mine, &mine), 0);
}

/* ---- On a device. */

static void raise_all(void *argument)
{
    sheet *s = *(sheet **)argument;
    for (; s; s = s->next) {
        uint32_t k;
        s->seen++;
        for (k = 0; k < s->count; k++)
            s->values[k]++;
    }
}

static void check_raised(const world *w, int times)
{
    int i;
    for (i = 0; i < SHEETS; i++)
        CHECK_EQ(w->at[i]->seen, times);
    for (i = 0; i < SHEETS; i++)
        CHECK(w->at[i]->count < 2 || w->at[i]->values[1] == w->at[i]->values[0] + 1);
}

static void raise_on(haul_device *device, const haul_shipment *shipment, const world *w)
{
    void *at = haul_device_pointer(shipment, w->at[0]);
    CHECK(at != NULL);
    CHECK_STATUS(haul_host_launch(device, raise_all, &at), HAUL_OK);
}

static void go_there_and_back(haul_device *device, const haul_ship_options *options)
{
    world *w = world_new();
    haul_shipment *shipment;
    sheet *next;
    int i;
    CHECK_STATUS(haul_ship(device, w->at[0], sheet_type, 1, options, &shipment), HAUL_OK);
    raise_on(device, shipment, w);
    CHECK_STATUS(haul_update_host(shipment, ALL_OR_NOTHING, NULL), HAUL_OK);
    check_raised(w, 1);
    for (i = 0; i < SHEETS; i++)
        w->at[i]->seen = 5;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    raise_on(device, shipment, w);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_raised(w, 6);
    next = w->at[SHEETS / 3]->next;
    w->at[SHEETS / 3]->next = w->at[1];
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(haul_device_context(device))->path, "next");
    w->at[SHEETS / 3]->next = next;
    raise_on(device, shipment, w); /* it was left as it was */
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    check_raised(w, 7);
    haul_shipment_free(&shipment);
    world_free(w);
}

TEST(threads, a_graph_is_shipped_refreshed_and_brought_back)
{
    haul_device *device = device_of(THREADS);
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    go_there_and_back(device, NULL);
    host_patches(device, 1);
    go_there_and_back(device, &options);
    options.ordered = 1;
    go_there_and_back(device, &options);
    haul_device_close(&device);
}

TEST(threads, pieces_of_any_size_are_shared_alike)
{
    static const size_t chunk[] = { 600 << 10, 1 << 20, 3 << 20 };
    size_t i;
    for (i = 0; i < sizeof chunk / sizeof chunk[0]; i++) {
        test_device options;
        fault_plan plan;
        haul_device *device;
        memset(&plan, 0, sizeof plan);
        memset(&options, 0, sizeof options);
        plan.chunk_bytes = chunk[i];
        options.new_context.threads = THREADS;
        CHECK_STATUS(fault_open(&plan, &options, &device), HAUL_OK);
        go_there_and_back(device, NULL);
        haul_device_close(&device);
        fault_check_clean(&plan);
    }
}

/* ---- Fields that a kernel has changed and must not. */

static void lengthen_names(void *argument)
{
    sheet *s = *(sheet **)argument;
    int i;
    for (i = 0; s; s = s->next, i++)
        if (i % 50 == 49)
            s->name[strlen(s->name)] = 'x';
}

static void change_counts(void *argument)
{
    sheet *s = *(sheet **)argument;
    int i;
    for (i = 0; s; s = s->next, i++)
        if (i % 50 == 49)
            s->count++;
}

/* `chunk`: 0 or the size of pieces. *refusal: what is told. */
static void bring_back_changed(unsigned threads, size_t chunk, const world *w,
                               void (*change)(void *), haul_error *refusal)
{
    test_device options;
    fault_plan plan;
    haul_device *device;
    haul_shipment *shipment;
    void *at;
    memset(&plan, 0, sizeof plan);
    memset(&options, 0, sizeof options);
    plan.chunk_bytes = chunk;
    options.new_context.threads = threads;
    CHECK_STATUS(fault_open(&plan, &options, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, w->at[0], sheet_type, 1, NULL, &shipment), HAUL_OK);
    at = haul_device_pointer(shipment, w->at[0]);
    CHECK_STATUS(haul_host_launch(device, change, &at), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_ERROR_GRAPH);
    *refusal = *haul_context_error(haul_device_context(device));
    CHECK(refusal->path[0] != 0);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    fault_check_clean(&plan);
}

TEST(threads, of_several_counts_and_ends_that_a_kernel_has_changed_the_same_one_is_named)
{
    static const size_t chunk[] = { 0, 1 << 20 };
    world *w = world_new();
    size_t i;
    for (i = 0; i < sizeof chunk / sizeof chunk[0]; i++) {
        haul_error one, several;
        bring_back_changed(1, chunk[i], w, lengthen_names, &one);
        bring_back_changed(THREADS, chunk[i], w, lengthen_names, &several);
        CHECK_STR(one.path, several.path);
        CHECK_STR(one.text, several.text);
        CHECK_HAS(one.path, "name");
        if (chunk[i] == 0)
            continue; /* one thread gets all as one, and looks at counts in the order of finding */
        bring_back_changed(1, chunk[i], w, change_counts, &one);
        bring_back_changed(THREADS, chunk[i], w, change_counts, &several);
        CHECK_STR(one.path, several.path);
        CHECK_STR(one.text, several.text);
        CHECK_HAS(one.path, "values");
    }
    world_free(w);
}

typedef struct hearing {
    uint64_t last, gap;
    int calls, backwards, refuse_at;
} hearing;

static int hear(void *user, uint64_t done, uint64_t total)
{
    hearing *h = user;
    h->calls++;
    h->backwards += done < h->last || done > total;
    h->gap = done - h->last > h->gap ? done - h->last : h->gap;
    h->last = done;
    return h->calls == h->refuse_at;
}

TEST(threads, progress_is_told_as_often_as_by_one_thread_and_can_cancel)
{
    enum { MIB = 1 << 20, ALL = 40 };
    haul_device *device = device_of(THREADS);
    haul_ship_options options;
    haul_shipment *shipment;
    haul_type *bulk;
    unsigned char *data = must_have(calloc(ALL, MIB));
    hearing h;
    memset(&options, 0, sizeof options);
    listen_on(device, hear, &h);
    CHECK_STATUS(type_make("bulk", MIB, NULL, 0, &bulk), HAUL_OK);
    CHECK_STATUS(haul_type_commit(bulk), HAUL_OK);
    for (options.ordered = 0; options.ordered < 2; options.ordered++) { /* in pieces, and whole */
        memset(&h, 0, sizeof h);
        CHECK_STATUS(haul_ship(device, data, bulk, ALL, &options, &shipment), HAUL_OK);
        CHECK_EQ(h.backwards, 0);
        CHECK(h.gap < 8 * MIB); /* "4 MiB or so" */
        haul_shipment_free(&shipment);
        memset(&h, 0, sizeof h);
        h.refuse_at = 2;
        CHECK_STATUS(haul_ship(device, data, bulk, ALL, &options, &shipment), HAUL_ERROR_CANCELLED);
        CHECK_PTR(shipment, NULL);
        CHECK_EQ(h.calls, 2);
    }
    haul_type_free(&bulk);
    haul_device_close(&device);
    free(data);
}

/* ---- Arenas. */

typedef struct bead {
    struct bead *next;
    int32_t seen;
    char rest[84];
} bead;

static void raise_beads(void *argument)
{
    bead *b;
    for (b = *(bead **)argument; b; b = b->next)
        b->seen++;
}

static bead *beads_make(haul_arena *arena, const haul_type *type, int count)
{
    bead *first = NULL;
    while (count-- > 0) {
        bead *b = haul_arena_new(arena, type, 1);
        CHECK(b != NULL);
        b->next = first;
        first = b;
    }
    return first;
}

static void check_beads(const bead *b, int count, int seen)
{
    for (; b; b = b->next, count--)
        CHECK_EQ(b->seen, seen);
    CHECK_EQ(count, 0);
}

TEST(threads, an_arena_comes_back_by_threads_and_keeps_its_pointers)
{
    enum { BEADS = 90000 };
    static haul_type *type;
    static const haul_field fields[] = { HAUL_OBJECT(bead, next, &type) };
    haul_device *device = device_of(THREADS);
    haul_ship_options options;
    haul_arena *arena;
    haul_shipment *shipment;
    bead *first;
    void *at;
    int i;
    memset(&options, 0, sizeof options);
    CHECK_STATUS(type_make("bead", sizeof(bead), fields, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(test_arena(device, NULL, &arena), HAUL_OK);
    first = beads_make(arena, type, BEADS);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), &options, NULL, &shipment),
                 HAUL_OK);
    for (i = 1; i <= 3; i++) {
        at = haul_device_pointer(shipment, first);
        CHECK_STATUS(haul_host_launch(device, raise_beads, &at), HAUL_OK);
        CHECK_STATUS(i == 2 ? haul_update_host(shipment, WITH_POINTERS, NULL)
                            : haul_unmarshal(shipment),
                     HAUL_OK);
        check_beads(first, BEADS, i);
        CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    }
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    haul_device_close(&device);
    haul_type_free(&type);
}

/* An arena's context need not be the device's, and then others may use it meanwhile. */
enum { GUESTS = 2, GUEST_BEADS = 40000, VISITS = 25 };

typedef struct guest {
    haul_device *device;
    haul_arena *arena;
    bead *first;
} guest;

static void *visit(void *argument)
{
    guest *g = argument;
    haul_ship_options options;
    haul_shipment *shipment;
    int i;
    memset(&options, 0, sizeof options);
    CHECK_STATUS(haul_ship_from(g->device, haul_from_arena(g->arena), &options, NULL, &shipment),
                 HAUL_OK);
    for (i = 1; i <= VISITS; i++) {
        void *at = haul_device_pointer(shipment, g->first);
        CHECK_STATUS(haul_host_launch(g->device, raise_beads, &at), HAUL_OK);
        CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
        check_beads(g->first, GUEST_BEADS, i);
    }
    haul_shipment_free(&shipment);
    return NULL;
}

TEST(threads, two_arenas_of_one_context_come_back_from_two_devices_at_once)
{
    static haul_type *type;
    static const haul_field fields[] = { HAUL_OBJECT(bead, next, &type) };
    haul_context *shared = context_of(THREADS);
    guest guests[GUESTS];
    pthread_t threads[GUESTS];
    int i;
    CHECK_STATUS(type_make("bead", sizeof(bead), fields, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (i = 0; i < GUESTS; i++) {
        guests[i].device = device_of(THREADS);
        CHECK_STATUS(haul_arena_create(shared, NULL, &guests[i].arena), HAUL_OK);
        guests[i].first = beads_make(guests[i].arena, type, GUEST_BEADS);
    }
    for (i = 0; i < GUESTS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, visit, &guests[i]), 0);
    for (i = 0; i < GUESTS; i++)
        pthread_join(threads[i], NULL);
    for (i = 0; i < GUESTS; i++) {
        haul_arena_free(&guests[i].arena);
        haul_device_close(&guests[i].device);
    }
    haul_context_free(&shared);
    haul_type_free(&type);
}

/* ---- Faults. */

TEST(threads, every_allocation_for_them_can_fail_H1_H2)
{
    static const fault_mode modes[] = { FAULT_ONCE, FAULT_FROM };
    size_t i;
    for (i = 0; i < 2; i++) {
        haul_status status = HAUL_ERROR_MEMORY;
        uint64_t at;
        for (at = 1; status != HAUL_OK; at++) {
            fault_plan plan;
            haul_allocator allocator;
            haul_context_options options;
            haul_context *context;
            memset(&plan, 0, sizeof plan);
            memset(&options, 0, sizeof options);
            allocator = fault_allocator(&plan);
            test_allocator(&options, &allocator);
            options.threads = THREADS;
            fault_arm(&plan, modes[i], at);
            status = haul_context_create(&options, &context);
            CHECK_STATUS(status, plan.fired ? HAUL_ERROR_MEMORY : HAUL_OK);
            CHECK((context != NULL) == (status == HAUL_OK));
            haul_context_free(&context);
            fault_check_clean(&plan);
        }
        CHECK(at > 4); /* the context, the pool, its scratch memory */
    }
}
