/* Frees of any object, in any thread, inside any callback. A free that meets a call on its context
 * leaves the object to that call; the call goes on, and no released byte is read.
 *
 * Faults by number (docs/testing.md): C2, T16.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

enum { VALUES = 4000, NODES = 300 };

/* Its rows ask functions whatever there is to ask. */
typedef struct node {
    struct node *next;
    int32_t *values;
    int32_t count, seen;
} node;

/* The same without rules, for typed arenas. */
typedef struct bead {
    struct bead *next;
    int32_t seen;
} bead;

/* ---- A house with everything in it. */

typedef struct house {
    fault_plan doors;
    haul_type *type, *bead_type;
    haul_context *context; /* the caller's own hold */
    haul_device *device, *other_device;
    haul_plan *plan;
    haul_arena *plain, *pinned, *mirrored;
    haul_shipment *shipment, *copy, *of_plain, *of_pinned, *of_mirrored;
    node *first;
} house;

/* What happens in a callback, once: NULL, or the house that is torn down there. */
typedef enum moment {
    COUNTING,
    TESTING,
    READING,
    TELLING,
    FINDING,
    MEASURING,
    WRITING,
    AT_A_DOOR
} moment;
static house *doomed;
static moment when;
static int by_another_thread;

static void tear_down(house *h)
{
    haul_type_free(&h->type);
    haul_type_free(&h->bead_type);
    haul_device_close(&h->device);
    haul_arena_free(&h->mirrored);
    haul_arena_free(&h->pinned);
    haul_arena_free(&h->plain);
    haul_shipment_free(&h->of_mirrored);
    haul_shipment_free(&h->copy);
    haul_shipment_free(&h->shipment);
    haul_context_free(&h->context);
    haul_plan_free(&h->plan);
    haul_shipment_free(&h->of_pinned);
    haul_shipment_free(&h->of_plain);
    haul_device_close(&h->other_device);
}

static void *tear_down_too(void *user)
{
    tear_down(user);
    return NULL;
}

/* A free that waited for the call would wait for ever. */
static void meet(moment now)
{
    house *h = doomed;
    pthread_t thread;
    if (!h || now != when)
        return;
    doomed = NULL;
    if (!by_another_thread) {
        tear_down(h);
        return;
    }
    CHECK_EQ(pthread_create(&thread, NULL, tear_down_too, h), 0);
    pthread_join(thread, NULL);
}

static int64_t count_values(const haul_here *here)
{
    meet(COUNTING);
    return ((const node *)here->self)->count;
}

static int64_t has_next(const haul_here *here)
{
    (void)here;
    meet(TESTING);
    return 1;
}

static int is_readable(void *user, const void *address, size_t bytes)
{
    (void)user;
    (void)address;
    (void)bytes;
    meet(READING);
    return 1;
}

static int hear(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    (void)done;
    (void)total;
    meet(TELLING);
    return 0;
}

static void at_a_door(void *user)
{
    (void)user;
    meet(AT_A_DOOR);
}

static node *nodes_make(void)
{
    node *first = NULL;
    int i;
    for (i = 0; i < NODES; i++) {
        node *n = calloc(1, sizeof *n);
        CHECK(n != NULL);
        n->count = i % 10 ? 3 : VALUES;
        n->values = calloc((size_t)n->count, sizeof *n->values);
        CHECK(n->values != NULL);
        n->next = first;
        first = n;
    }
    return first;
}

static void nodes_free(node *first)
{
    while (first) {
        node *next = first->next;
        free(first->values);
        free(first);
        first = next;
    }
}

static bead *beads_make(haul_arena *arena, const haul_type *type)
{
    bead *first = NULL;
    int i;
    for (i = 0; i < NODES; i++) {
        bead *b = haul_arena_new(arena, type, 1);
        CHECK(b != NULL);
        b->next = first;
        first = b;
    }
    return first;
}

static haul_root root_of(node *first, const haul_type *type)
{
    haul_root root;
    root.address = first;
    root.type = type;
    root.count = 1;
    return root;
}

static void types_make(haul_context *context, haul_type **type, haul_type **bead_type)
{
    static haul_type *self, *bead_self;
    static const haul_field fields[] = { HAUL_OBJECT(node, next, &self,
                                                     .when = HAUL_WHEN_FN(has_next)),
                                         HAUL_ARRAY(node, values, HAUL_COUNT_FN(count_values)) };
    static const haul_field bead_fields[] = { HAUL_OBJECT(bead, next, &bead_self) };
    CHECK_STATUS(type_make_in(context, "node", sizeof(node), fields, 2, &self), HAUL_OK);
    CHECK_STATUS(haul_type_commit(self), HAUL_OK);
    CHECK_STATUS(type_make_in(context, "bead", sizeof(bead), bead_fields, 1, &bead_self), HAUL_OK);
    CHECK_STATUS(haul_type_commit(bead_self), HAUL_OK);
    *type = self;
    *bead_type = bead_self;
}

static haul_arena *arena_make(house *h, int pinned, int mirrored)
{
    haul_arena_options options;
    haul_arena *arena;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = (size_t)1 << 20;
    options.pinned = pinned;
    options.mirrored = mirrored;
    CHECK_STATUS(test_arena(h->device, &options, &arena), HAUL_OK);
    beads_make(arena, h->bead_type);
    return arena;
}

static void devices_open(house *h, int careful)
{
    test_device options;
    haul_context_options context;
    memset(&options, 0, sizeof options);
    memset(&context, 0, sizeof context);
    context.progress = hear;
    if (careful)
        context.readable = is_readable;
    CHECK_STATUS(fault_open_context(&h->doors, &context, &h->context), HAUL_OK);
    options.context = h->context;
    CHECK_STATUS(fault_open(&h->doors, &options, &h->device), HAUL_OK);
    CHECK_STATUS(fault_open(&h->doors, &options, &h->other_device), HAUL_OK);
}

static void build(house *h, node *first, int careful)
{
    haul_root root;
    memset(h, 0, sizeof *h);
    h->first = first;
    devices_open(h, careful);
    types_make(h->context, &h->type, &h->bead_type);
    root = root_of(first, h->type);
    CHECK_STATUS(haul_plan_create(h->context, haul_from_roots(&root, 1), NULL, &h->plan), HAUL_OK);
    CHECK_STATUS(haul_ship(h->device, first, h->type, 1, NULL, &h->shipment), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(h->shipment, h->other_device, &h->copy), HAUL_OK);
    h->plain = arena_make(h, 0, 0);
    h->pinned = arena_make(h, 1, 0);
    h->mirrored = arena_make(h, 0, 1);
    CHECK_STATUS(haul_ship_from(h->device, haul_from_arena(h->plain), NULL, NULL, &h->of_plain),
                 HAUL_OK);
    CHECK_STATUS(haul_ship_from(h->device, haul_from_arena(h->pinned), NULL, NULL, &h->of_pinned),
                 HAUL_OK);
    CHECK_STATUS(
        haul_ship_from(h->device, haul_from_arena(h->mirrored), NULL, NULL, &h->of_mirrored),
        HAUL_OK);
}

/* ---- Calls, each with the house as it was when it began. */

static haul_status call_refresh(const house *h)
{
    return haul_update_device(h->shipment, NULL, NULL);
}

static haul_status call_replan(const house *h)
{
    return haul_reship(h->shipment, NULL);
}

static haul_status call_unmarshal(const house *h)
{
    return haul_unmarshal(h->shipment);
}

static haul_status call_unmarshal_pointers(const house *h)
{
    return haul_update_host(h->shipment, WITH_POINTERS, NULL);
}

static haul_status call_update_device(const house *h)
{
    return haul_update_device(h->shipment, RANGE(h->first, sizeof(node)), NULL);
}

static haul_status call_update_host(const house *h)
{
    return haul_update_host(h->shipment, RANGE(h->first, sizeof(node)), NULL);
}

static haul_status call_refresh_arena(const house *h)
{
    return haul_update_device(h->of_plain, NULL, NULL);
}

static haul_status call_replan_mirrored(const house *h)
{
    return haul_reship(h->of_mirrored, NULL);
}

static haul_status call_unmarshal_pinned(const house *h)
{
    return haul_update_host(h->of_pinned, WITH_POINTERS, NULL);
}

static haul_status call_trim(const house *h)
{
    return haul_context_trim(h->context);
}

static haul_status call_later(const house *h)
{
    haul_status status = haul_update_device(h->shipment, NULL, OWN_STREAM);
    return status == HAUL_OK && doomed ? haul_update_host(h->shipment, NULL, OWN_STREAM) : status;
}

static haul_status let_go_of(haul_status status, haul_shipment *s)
{
    CHECK((s != NULL) == (status == HAUL_OK));
    haul_shipment_free(&s);
    return status;
}

static haul_status call_ship(const house *h)
{
    haul_shipment *s;
    haul_status status = haul_ship(h->device, h->first, h->type, 1, NULL, &s);
    return let_go_of(status, s);
}

static haul_status call_ship_plan(const house *h)
{
    haul_shipment *s;
    haul_status status = haul_ship_from(h->device, haul_from_plan(h->plan), NULL, NULL, &s);
    return let_go_of(status, s);
}

static haul_status call_copy(const house *h)
{
    haul_shipment *s;
    haul_status status = haul_shipment_copy(h->shipment, h->other_device, &s);
    return let_go_of(status, s);
}

static haul_status call_ship_arena(const house *h)
{
    haul_shipment *s;
    haul_status status = haul_ship_from(h->other_device, haul_from_arena(h->plain), NULL, NULL, &s);
    return let_go_of(status, s);
}

static haul_status call_plan(const house *h)
{
    haul_root root = root_of(h->first, h->type);
    haul_plan *plan;
    haul_status status = haul_plan_create(h->context, haul_from_roots(&root, 1), NULL, &plan);
    CHECK((plan != NULL) == (status == HAUL_OK));
    haul_plan_free(&plan);
    return status;
}

static haul_status call_plan_in_order(const house *h)
{
    haul_root root = root_of(h->first, h->type);
    haul_plan *plan;
    haul_status status = haul_plan_create(h->context, haul_from_roots(&root, 1), ORDERED, &plan);
    CHECK((plan != NULL) == (status == HAUL_OK));
    haul_plan_free(&plan);
    return status;
}

static haul_status call_pack(const house *h)
{
    const size_t bytes = plan_bytes(h->plan);
    void *arena = malloc(bytes);
    haul_status status;
    CHECK(arena != NULL);
    status = haul_plan_pack(h->plan, arena, bytes, 1 << 20, NULL);
    free(arena);
    return status;
}

static void find(void *user, const haul_audit_finding *finding)
{
    (void)user;
    (void)finding;
    meet(FINDING);
}

static size_t measure(void *user, const void *address, const void **begin)
{
    (void)user;
    meet(MEASURING);
    *begin = address;
    return (size_t)1 << 20; /* whatever else lies there: never all of it is described */
}

static haul_status call_audit(const house *h)
{
    haul_root root = root_of(h->first, h->type);
    haul_audit_options options;
    memset(&options, 0, sizeof options);
    options.finding = find;
    options.block = measure;
    options.exact_blocks = 1;
    return haul_audit(h->context, haul_from_roots(&root, 1), &options, NULL);
}

static haul_status write_nothing(void *user, const void *data, size_t bytes)
{
    (void)user;
    (void)data;
    (void)bytes;
    meet(WRITING);
    return HAUL_OK;
}

static haul_status call_printing_audit(const house *h)
{
    haul_root root = root_of(h->first, h->type);
    haul_audit_options options;
    haul_file file;
    memset(&options, 0, sizeof options);
    memset(&file, 0, sizeof file);
    options.block = measure;
    file.write = write_nothing;
    options.file = &file;
    return haul_audit(h->context, haul_from_roots(&root, 1), &options, NULL);
}

typedef haul_status call(const house *h);

static call *const calls[] = {
    call_refresh,
    call_replan,
    call_unmarshal,
    call_unmarshal_pointers,
    call_update_device,
    call_update_host,
    call_refresh_arena,
    call_later,
    call_replan_mirrored,
    call_unmarshal_pinned,
    call_trim,
    call_ship,
    call_ship_plan,
    call_copy,
    call_ship_arena,
    call_plan,
    call_plan_in_order,
    call_pack,
    call_audit,
    call_printing_audit,
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* Everything is freed at the moment; the call ends as if nothing had been. 1: the moment came. */
static int free_all_in(size_t i, moment now, node *first)
{
    static house h, as_it_was;
    int came;
    check_note("call %d, moment %d", (int)i, (int)now);
    build(&h, first, now == READING);
    as_it_was = h;
    doomed = &h;
    when = now;
    CHECK_STATUS(calls[i](&as_it_was), HAUL_OK);
    came = !doomed;
    doomed = NULL;
    tear_down(&h);
    fault_check_clean(&h.doors);
    check_note(NULL);
    return came;
}

static int in_how_many(moment now)
{
    node *first = nodes_make();
    int count = 0;
    size_t i;
    for (i = 0; i < CALLS; i++)
        count += free_all_in(i, now, first);
    nodes_free(first);
    return count;
}

TEST(frees, everything_may_go_while_a_count_is_asked_for)
{
    CHECK(in_how_many(COUNTING) >= 10);
}

TEST(frees, everything_may_go_while_a_condition_is_asked_for)
{
    CHECK(in_how_many(TESTING) >= 10);
}

TEST(frees, everything_may_go_while_a_range_is_asked_about)
{
    CHECK(in_how_many(READING) >= 6);
}

TEST(frees, everything_may_go_while_progress_is_told)
{
    CHECK(in_how_many(TELLING) >= 6);
}

TEST(frees, everything_may_go_in_another_thread_while_a_call_is_under_way)
{
    by_another_thread = 1;
    CHECK(in_how_many(COUNTING) >= 10);
    CHECK(in_how_many(TELLING) >= 6);
    by_another_thread = 0;
}

TEST(frees, everything_may_go_while_an_audit_tells_and_asks_and_writes)
{
    CHECK_EQ(in_how_many(FINDING), 1);
    CHECK_EQ(in_how_many(MEASURING), 2);
    CHECK_EQ(in_how_many(WRITING), 1);
}

/* Slow builds take the first event and every third one from another one on for each call. */
TEST(frees, everything_may_go_inside_any_call_of_the_allocator_or_the_device)
{
    enum { EVERY = LARGE(1, 3) };
    static house h, as_it_was;
    node *first = nodes_make();
    size_t i;
    for (i = 0; i < CALLS; i++) {
        int came = 1;
        uint64_t at, runs = 0;
        for (at = 1; came; at += at == 1 ? 1 + i % EVERY : EVERY) {
            check_note("call %d, event %llu", (int)i, (unsigned long long)at);
            build(&h, first, 0);
            as_it_was = h;
            doomed = &h;
            when = AT_A_DOOR;
            h.doors.call = at_a_door;
            fault_arm(&h.doors, FAULT_CALL, at);
            CHECK_STATUS(calls[i](&as_it_was), HAUL_OK);
            came = !doomed;
            runs += (uint64_t)came;
            doomed = NULL;
            fault_disarm(&h.doors);
            tear_down(&h);
            fault_check_clean(&h.doors);
        }
        CHECK(runs > 0 || calls[i] == call_trim || calls[i] == call_pack);
        check_note(NULL);
    }
    nodes_free(first);
}

/* ---- Words. */

TEST(frees, what_has_failed_before_can_still_be_read_after_any_free)
{
    static house h;
    node *first = nodes_make();
    const haul_error *error;
    haul_device *device;
    haul_shipment *s;
    build(&h, first, 0);
    device = h.device;
    h.device = NULL;
    CHECK_STATUS(haul_ship(device, NULL, h.type, 1, NULL, &s), HAUL_ERROR_ARGUMENT);
    tear_down(&h);
    error = haul_context_error(haul_device_context(device));
    CHECK_EQ(error->status, HAUL_ERROR_ARGUMENT);
    CHECK_STR(error->text, "root 0 is NULL");
    haul_device_close(&device);
    fault_check_clean(&h.doors);
    nodes_free(first);
}

/* It fails inside a call, whose callback frees everything: the words are of the failure. */
static int refuse(void *user, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    haul_shipment_free(user);
    return 1;
}

TEST(frees, a_call_that_fails_after_a_free_inside_it_leaves_its_own_words)
{
    haul_type *type;
    haul_device *device;
    haul_shipment *s, *same;
    static char bytes[64];
    CHECK_STATUS(haul_type_bytes(type_context(), "bytes", sizeof bytes, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    s = NULL;
    listen_on(device, refuse, &s);
    CHECK_STATUS(haul_ship(device, bytes, type, 1, NULL, &same), HAUL_ERROR_CANCELLED);
    listen_on(device, NULL, NULL);
    CHECK_STATUS(haul_ship(device, bytes, type, 1, NULL, &s), HAUL_OK);
    listen_on(device, refuse, &s);
    CHECK_STATUS(haul_ship(device, bytes, type, 1, NULL, &same), HAUL_ERROR_CANCELLED);
    CHECK_PTR(s, NULL);
    CHECK_EQ(haul_context_error(haul_device_context(device))->status, HAUL_ERROR_CANCELLED);
    CHECK(haul_context_error(haul_device_context(device))->text[0] != 0);
    haul_device_close(&device);
    haul_type_free(&type);
}

/* ---- In threads. Calls that meet another one are made again. */

enum { ROUNDS = 2000, WORKERS = 2 };

typedef struct shared {
    haul_context *context;
    haul_device *device;
    haul_type *type, *bead_type;
    pthread_barrier_t barrier;
    long live; /* atomic: of the allocator's blocks */
} shared;

static void *count_allocate(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    if (posix_memalign(&memory, alignment < sizeof memory ? sizeof memory : alignment, bytes) != 0)
        return NULL;
    __atomic_add_fetch(&((shared *)user)->live, 1, __ATOMIC_RELAXED);
    return memory;
}

static void count_release(void *user, void *memory, size_t bytes)
{
    memset(memory, 0x5A, bytes);
    free(memory);
    __atomic_sub_fetch(&((shared *)user)->live, 1, __ATOMIC_RELAXED);
}

static haul_allocator counting(shared *s)
{
    haul_allocator allocator;
    memset(&allocator, 0, sizeof allocator);
    allocator.user = s;
    allocator.allocate = count_allocate;
    allocator.release = count_release;
    return allocator;
}

static void share(shared *s)
{
    haul_allocator allocator = counting(s);
    haul_context_options context;
    test_device options;
    memset(s, 0, sizeof *s);
    memset(&context, 0, sizeof context);
    memset(&options, 0, sizeof options);
    test_allocator(&context, &allocator);
    CHECK_STATUS(haul_context_create(&context, &s->context), HAUL_OK);
    options.context = s->context;
    CHECK_STATUS(test_open(haul_host_device(), &options, &s->device), HAUL_OK);
    types_make(s->context, &s->type, &s->bead_type);
}

/* The status of a call; 1: it is to be made again. At once, mostly, for then the threads meet more
 * often. */
static int is_busy(haul_status status)
{
    static unsigned asks;
    if (status != HAUL_ERROR_BUSY) {
        CHECK_STATUS(status, HAUL_OK);
        return 0;
    }
    if (__atomic_add_fetch(&asks, 1, __ATOMIC_RELAXED) % 64 == 0)
        sched_yield();
    return 1;
}

static void run_threads(shared *s, int count, void *(*const *bodies)(void *))
{
    pthread_t threads[8];
    int i;
    CHECK_EQ(pthread_barrier_init(&s->barrier, NULL, (unsigned)count), 0);
    for (i = 0; i < count; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, bodies[i], s), 0);
    for (i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&s->barrier);
}

static node lone_node(int32_t *value)
{
    node n;
    memset(&n, 0, sizeof n);
    n.values = value;
    n.count = 1;
    return n;
}

static void *ship_and_free(void *user)
{
    shared *s = user;
    int32_t value = 5;
    node n = lone_node(&value);
    int i;
    for (i = 0; i < ROUNDS; i++) {
        haul_shipment *shipment;
        while (is_busy(haul_ship(s->device, &n, s->type, 1, NULL, &shipment)))
            ;
        while (is_busy(haul_update_device(shipment, NULL, NULL)))
            ;
        while (is_busy(haul_unmarshal(shipment)))
            ;
        haul_shipment_free(&shipment);
        CHECK_PTR(shipment, NULL);
    }
    return NULL;
}

static void *plan_and_free(void *user)
{
    shared *s = user;
    int32_t value = 5;
    node n = lone_node(&value);
    haul_root root = root_of(&n, s->type);
    int i;
    for (i = 0; i < ROUNDS; i++) {
        haul_plan *plan;
        while (is_busy(
            i % 2 ? haul_plan_create(s->context, haul_from_roots(&root, 1), NULL, &plan)
                  : haul_plan_create(s->context, haul_from_roots(&root, 1), ORDERED, &plan)))
            ;
        haul_plan_free(&plan);
        CHECK_PTR(plan, NULL);
    }
    return NULL;
}

static void *open_and_close(void *user)
{
    shared *s = user;
    test_device options;
    int i;
    memset(&options, 0, sizeof options);
    options.context = s->context;
    for (i = 0; i < ROUNDS; i++) {
        haul_device *device;
        while (is_busy(test_open(haul_host_device(), &options, &device)))
            ;
        haul_device_close(&device);
        CHECK_PTR(device, NULL);
    }
    return NULL;
}

/* Arenas of all kinds, each freed before its shipment or after it. */
static void *allocate_and_free(void *user)
{
    shared *s = user;
    haul_arena_options options;
    int i;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = 1 << 16;
    for (i = 0; i < ROUNDS / 4; i++) {
        haul_arena *arena;
        haul_shipment *shipment;
        options.pinned = i % 3 == 1;
        options.mirrored = i % 3 == 2;
        while (is_busy(test_arena(s->device, &options, &arena)))
            ;
        CHECK(haul_arena_new(arena, s->bead_type, 1) != NULL);
        while (is_busy(haul_ship_from(s->device, haul_from_arena(arena), NULL, NULL, &shipment)))
            ;
        if (i % 2)
            haul_arena_free(&arena);
        haul_shipment_free(&shipment);
        haul_arena_free(&arena);
    }
    return NULL;
}

static void end_sharing(shared *s)
{
    haul_type_free(&s->type);
    haul_type_free(&s->bead_type);
    haul_device_close(&s->device);
    haul_context_free(&s->context);
    CHECK_EQ(__atomic_load_n(&s->live, __ATOMIC_RELAXED), 0);
}

static void free_beside(void *(*body)(void *))
{
    static shared s;
    void *(*bodies[WORKERS])(void *);
    bodies[0] = ship_and_free;
    bodies[1] = body;
    share(&s);
    run_threads(&s, WORKERS, bodies);
    end_sharing(&s);
}

TEST(frees, two_threads_that_make_busy_calls_again_may_free_their_shipments_C2)
{
    free_beside(ship_and_free);
}

TEST(frees, plans_may_go_while_another_thread_ships_C2)
{
    free_beside(plan_and_free);
}

TEST(frees, devices_may_close_while_another_thread_ships_C2)
{
    free_beside(open_and_close);
}

TEST(frees, arenas_of_all_kinds_may_go_while_another_thread_ships_C2)
{
    free_beside(allocate_and_free);
}

/* ---- Whoever comes last takes the context along. */

enum { LAST_ROUNDS = 50, HOLDERS = 4 };

typedef struct last {
    shared *of;
    haul_shipment *shipment;
    haul_plan *plan;
    haul_arena *arena;
    haul_device *device;
} last;

static last lasts[HOLDERS];

static void *free_one(void *user)
{
    last *l = user;
    pthread_barrier_wait(&l->of->barrier);
    haul_shipment_free(&l->shipment);
    haul_plan_free(&l->plan);
    haul_arena_free(&l->arena);
    haul_device_close(&l->device);
    return NULL;
}

static void last_make(last *l, shared *s, node *n)
{
    haul_root root = root_of(n, s->type);
    test_device options;
    haul_arena_options small;
    memset(&options, 0, sizeof options);
    memset(&small, 0, sizeof small);
    small.reserve_bytes = 1 << 16;
    memset(l, 0, sizeof *l);
    options.context = s->context;
    l->of = s;
    CHECK_STATUS(test_open(haul_host_device(), &options, &l->device), HAUL_OK);
    CHECK_STATUS(haul_ship(s->device, n, s->type, 1, NULL, &l->shipment), HAUL_OK);
    CHECK_STATUS(haul_plan_create(s->context, haul_from_roots(&root, 1), NULL, &l->plan), HAUL_OK);
    CHECK_STATUS(haul_arena_create(s->context, &small, &l->arena), HAUL_OK);
}

TEST(frees, the_last_of_several_threads_takes_the_context_along)
{
    static shared s;
    int32_t value = 5;
    node n = lone_node(&value);
    int round, i;
    for (round = 0; round < LAST_ROUNDS; round++) {
        pthread_t threads[HOLDERS];
        share(&s);
        for (i = 0; i < HOLDERS; i++)
            last_make(&lasts[i], &s, &n);
        haul_type_free(&s.type);
        haul_type_free(&s.bead_type);
        haul_device_close(&s.device);
        haul_context_free(&s.context);
        CHECK_EQ(pthread_barrier_init(&s.barrier, NULL, HOLDERS), 0);
        for (i = 0; i < HOLDERS; i++)
            CHECK_EQ(pthread_create(&threads[i], NULL, free_one, &lasts[i]), 0);
        for (i = 0; i < HOLDERS; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&s.barrier);
        CHECK_EQ(__atomic_load_n(&s.live, __ATOMIC_RELAXED), 0);
    }
}

/* An arena goes with the last of its shipments, of whatever contexts: inside its own, where others
 * are at work. */
typedef struct sender {
    pthread_barrier_t *barrier;
    haul_shipment *shipment;
} sender;

static void *free_shipment(void *user)
{
    sender *s = user;
    pthread_barrier_wait(s->barrier);
    haul_shipment_free(&s->shipment);
    return NULL;
}

static void *plan_meanwhile(void *user)
{
    shared *s = user;
    int32_t value = 5;
    node n = lone_node(&value);
    haul_root root = root_of(&n, s->type);
    haul_plan *plan;
    int i;
    pthread_barrier_wait(&s->barrier);
    for (i = 0; i < 20; i++) {
        while (is_busy(haul_plan_create(s->context, haul_from_roots(&root, 1), NULL, &plan)))
            ;
        haul_plan_free(&plan);
    }
    return NULL;
}

TEST(frees, an_arena_goes_with_the_last_of_its_shipments_whose_contexts_are_others)
{
    static shared home;
    haul_device *devices[2];
    sender senders[2];
    int round, i;
    for (i = 0; i < 2; i++)
        CHECK_STATUS(test_open(haul_host_device(), NULL, &devices[i]), HAUL_OK);
    share(&home);
    CHECK_EQ(pthread_barrier_init(&home.barrier, NULL, 3), 0);
    for (round = 0; round < LAST_ROUNDS; round++) {
        pthread_t threads[3];
        haul_arena_options options;
        haul_arena *arena;
        memset(&options, 0, sizeof options);
        options.reserve_bytes = 1 << 16;
        options.pinned = round % 3 == 1;
        options.mirrored = round % 3 == 2;
        CHECK_STATUS(test_arena(home.device, &options, &arena), HAUL_OK);
        CHECK(haul_arena_new(arena, home.bead_type, 1) != NULL);
        for (i = 0; i < 2; i++) {
            senders[i].barrier = &home.barrier;
            CHECK_STATUS(haul_ship_from(devices[i], haul_from_arena(arena), NULL, NULL,
                                        &senders[i].shipment),
                         HAUL_OK);
        }
        haul_arena_free(&arena);
        for (i = 0; i < 2; i++)
            CHECK_EQ(pthread_create(&threads[i], NULL, free_shipment, &senders[i]), 0);
        CHECK_EQ(pthread_create(&threads[2], NULL, plan_meanwhile, &home), 0);
        for (i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&home.barrier);
    end_sharing(&home);
    for (i = 0; i < 2; i++)
        haul_device_close(&devices[i]);
}

/* A rule's callback frees the arena whose graph is being discovered, in whose own context nobody is
 * in a call. */
static haul_arena *foreign;

static int64_t free_foreign(const haul_here *here)
{
    (void)here;
    haul_arena_free(&foreign);
    return 1;
}

TEST(frees, an_arena_of_another_context_may_go_while_it_is_discovered)
{
    static haul_type *type;
    static const haul_field fields[] = { HAUL_OBJECT(bead, next, &type,
                                                     .when = HAUL_WHEN_FN(free_foreign)) };
    haul_context *home;
    haul_device *device;
    haul_shipment *shipment;
    haul_arena *arena;
    bead *first;
    CHECK_STATUS(type_make("bead", sizeof(bead), fields, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_context_create(NULL, &home), HAUL_OK);
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_arena_create(home, NULL, &arena), HAUL_OK);
    first = haul_arena_bytes(arena, sizeof *first, 0);
    CHECK(first != NULL);
    first->next = haul_arena_bytes(arena, sizeof *first, 0);
    foreign = arena;
    CHECK_STATUS(
        haul_ship_from(device, haul_from_arena_root(arena, first, type), NULL, NULL, &shipment),
        HAUL_OK);
    CHECK_PTR(foreign, NULL);
    CHECK(first->next != NULL); /* its shipment keeps it */
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_context_free(&home);
    haul_type_free(&type);
}
