/* State around a call stays as it was: locale, rounding, floating-point traps, errno, the signal
 * mask. Other threads with contexts of their own use the same types and the same graph. And bytes
 * that mean nothing.
 *
 * Faults by number (docs/testing.md): G26, H7, H11, H12, C1, C5, C10.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

enum { NODES = 300, TRANSCRIPT_BYTES = 1 << 16, MARK = 77 };

typedef struct node {
    struct node *next, *other;
    char *name;
    double *values;
    int32_t count;
    _Bool flag;
    uint8_t letters[3];
    double weight;
} node;

static haul_type *node_type;
static node nodes[NODES];
static char names[NODES][8];
static double values[NODES][4];

static void types_open(void)
{
    static const haul_field fields[] = { HAUL_OBJECT(node, next, &node_type),
                                         HAUL_OBJECT(node, other, &node_type),
                                         HAUL_STRING(node, name),
                                         HAUL_ARRAY(node, values, HAUL_COUNT(node, count)) };
    CHECK_STATUS(type_make("node", sizeof(node), fields, 4, &node_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
}

/* The same values whatever the machine; every node has a flag that is 2, which no _Bool is. */
static node *graph_make(void)
{
    int i, k;
    memset(nodes, 0, sizeof nodes);
    for (i = 0; i < NODES; i++) {
        node *n = &nodes[i];
        n->next = i + 1 < NODES ? &nodes[i + 1] : NULL;
        n->other = i % 3 ? &nodes[(7 * i) % NODES] : NULL;
        snprintf(names[i], sizeof names[i], "n%d", i);
        n->name = names[i];
        n->count = i % 5;
        n->values = n->count ? values[i] : NULL;
        for (k = 0; k < 4; k++)
            values[i][k] = i + k / 4.0;
        memset(&n->flag, 2, 1);
        memset(n->letters, 'a' + i % 26, 3);
        n->weight = i / 8.0;
    }
    return nodes;
}

static uint64_t mixed(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * UINT64_C(0x100000001b3);
}

static uint64_t mixed_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    while (count-- > 0)
        hash = mixed(hash, *at++);
    return hash;
}

/* ---- What is around a call. */

typedef struct state {
    int rounding, error;
    char locale[256];
    sigset_t mask;
} state;

static state before;

static void state_read(state *s)
{
    s->error = errno;
    s->rounding = fegetround();
    snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    pthread_sigmask(SIG_BLOCK, NULL, &s->mask);
}

static void state_check(const char *call)
{
    state now;
    int signal;
    state_read(&now);
    check_note("after %s", call);
    CHECK_EQ(now.rounding, before.rounding);
    CHECK_EQ(now.error, MARK);
    CHECK_STR(now.locale, before.locale);
    for (signal = 1; signal < 32; signal++)
        CHECK_EQ(sigismember(&now.mask, signal), sigismember(&before.mask, signal));
    check_note(NULL);
}

#define WITHIN(call, expected)                                                                     \
    do {                                                                                           \
        haul_status status_;                                                                       \
        errno = MARK;                                                                              \
        status_ = (call);                                                                          \
        state_check(#call);                                                                        \
        CHECK_STATUS(status_, expected);                                                           \
    } while (0)

/* All that is said and made by a round of calls. */
typedef struct transcript {
    size_t length;
    char text[TRANSCRIPT_BYTES];
} transcript;

static haul_status append(void *user, const void *data, size_t bytes)
{
    transcript *t = user;
    CHECK(bytes < TRANSCRIPT_BYTES - t->length);
    memcpy(t->text + t->length, data, bytes);
    t->length += bytes;
    return HAUL_OK;
}

static void say(transcript *t, const haul_error *error)
{
    append(t, error->path, strlen(error->path));
    append(t, error->text, strlen(error->text));
}

static void grow_on_device(void *argument)
{
    node *n;
    for (n = argument; n; n = n->next)
        n->weight *= 2;
}

static void fail_in_words(haul_context *context, transcript *t)
{
    static const haul_field wrong[] = { HAUL_ARRAY(node, values, HAUL_FIXED(-1)) };
    haul_root root;
    haul_plan *plan;
    haul_type *type;
    WITHIN(type_make("wrong", sizeof(node), wrong, 1, &type), HAUL_OK);
    WITHIN(haul_type_commit(type), HAUL_ERROR_TYPE);
    say(t, type_error());
    haul_type_free(&type);
    nodes[250].count = -1234567;
    root.address = nodes;
    root.type = node_type;
    root.count = 1;
    WITHIN(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_ERROR_GRAPH);
    nodes[250].count = 0;
    say(t, haul_context_error(context));
}

static void go_around(transcript *t, unsigned threads)
{
    test_device options;
    haul_device *device;
    haul_shipment *shipment;
    haul_audit_options audit;
    haul_file file = { NULL, append, NULL };
    haul_root root;
    node *first = graph_make();
    memset(&options, 0, sizeof options);
    memset(&audit, 0, sizeof audit);
    memset(t, 0, sizeof *t);
    file.user = t;
    options.new_context.threads = threads;
    root.address = first;
    root.type = node_type;
    root.count = 1;
    WITHIN(test_open(haul_host_device(), &options, &device), HAUL_OK);
    WITHIN(haul_type_dump(node_type, &file), HAUL_OK);
    audit.file = &file;
    WITHIN(haul_audit(haul_device_context(device), haul_from_roots(&root, 1), &audit, NULL),
           HAUL_OK);
    fail_in_words(haul_device_context(device), t);
    WITHIN(haul_ship(device, first, node_type, 1, NULL, &shipment), HAUL_OK);
    WITHIN(haul_host_launch(device, grow_on_device, haul_device_pointer(shipment, first)), HAUL_OK);
    WITHIN(haul_unmarshal(shipment), HAUL_OK);
    first->weight = 5;
    WITHIN(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    WITHIN((haul_shipment_free(&shipment), HAUL_OK), HAUL_OK);
    WITHIN((haul_device_close(&device), HAUL_OK), HAUL_OK);
    CHECK(first[8].weight == 2);
}

static transcript plain, other;

static void same_as_before(const char *what, unsigned threads)
{
    state_read(&before);
    go_around(&other, threads);
    check_note("%s", what);
    CHECK_EQ(other.length, plain.length);
    CHECK_BYTES(other.text, plain.text, plain.length);
    check_note(NULL);
}

static void plain_round(void)
{
    types_open();
    state_read(&before);
    go_around(&plain, 0);
}

TEST(process_state, every_rounding_mode_gives_the_same_results_and_stays_H11)
{
    static const int modes[] = {
#ifdef FE_UPWARD
        FE_UPWARD,
#endif
#ifdef FE_DOWNWARD
        FE_DOWNWARD,
#endif
#ifdef FE_TOWARDZERO
        FE_TOWARDZERO,
#endif
        FE_TONEAREST
    };
    size_t i;
    plain_round();
    for (i = 0; i < sizeof modes / sizeof *modes; i++) {
        CHECK_EQ(fesetround(modes[i]), 0);
        same_as_before("rounding", i % 2 ? 3 : 0);
    }
    CHECK_EQ(fesetround(FE_TONEAREST), 0);
    haul_type_free(&node_type);
}

/* glibc's; a call that divided by zero, or made a number that is none, would end the test. */
TEST(process_state, no_call_raises_a_floating_point_fault_where_they_are_trapped_H11)
{
    plain_round();
#if defined(__GLIBC__) && defined(FE_INVALID) && defined(FE_DIVBYZERO) && defined(FE_OVERFLOW)
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    same_as_before("traps", 0);
    fedisableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
#endif
    feclearexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW);
    same_as_before("flags", 3);
    CHECK_EQ(fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW), 0);
    haul_type_free(&node_type);
}

/* Those of the list that are installed; "C" always is. */
TEST(process_state, every_locale_gives_the_same_words_and_stays_H11)
{
    static const char *const locales[] = { "C",           "C.UTF-8",     "de_DE.UTF-8",
                                           "fr_FR.UTF-8", "tr_TR.UTF-8", "hi_IN.UTF-8" };
    size_t i, found = 0;
    plain_round();
    for (i = 0; i < sizeof locales / sizeof *locales; i++)
        if (setlocale(LC_ALL, locales[i])) {
            same_as_before(locales[i], 0);
            found++;
        }
    CHECK(found > 0);
    setlocale(LC_ALL, "C");
    haul_type_free(&node_type);
}

TEST(process_state, a_signal_mask_of_the_caller_stays_as_it_was_with_and_without_threads_H11)
{
    sigset_t some, old;
    plain_round();
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigaddset(&some, SIGCHLD);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &some, &old), 0);
    same_as_before("blocked signals", 0);
    same_as_before("blocked signals and threads", 3);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
    haul_type_free(&node_type);
}

/* ---- Bytes that mean nothing. */

TEST(process_state, a_bool_that_holds_two_travels_as_its_byte_there_and_back_G26)
{
    haul_device *device;
    haul_shipment *shipment;
    node *first = graph_make();
    unsigned char byte;
    int i;
    types_open();
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, first, node_type, 1, NULL, &shipment), HAUL_OK);
    for (i = 0; i < NODES; i++)
        memset(&nodes[i].flag, 0, 1);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    for (i = 0; i < NODES; i++) {
        memcpy(&byte, &nodes[i].flag, 1);
        CHECK_EQ(byte, 2);
    }
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_type_free(&node_type);
}

/* ---- The same image everywhere. */

static haul_plan *ordered_plan(haul_context *context)
{
    haul_root root;
    haul_plan *plan;
    root.address = graph_make();
    root.type = node_type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), ORDERED, &plan), HAUL_OK);
    return plan;
}

/* By numbers, not by bytes: what each field of each node is, and where it is. */
static uint64_t image_hash(haul_plan *plan, const unsigned char *arena, const uint64_t *bitmap)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t i, offset, slots = 0, bits = plan_bytes(plan) / sizeof(void *);
    for (i = 0; i < NODES; i++) {
        node copy;
        CHECK_STATUS(haul_plan_offset(plan, &nodes[i], &offset), HAUL_OK);
        memcpy(&copy, arena + offset, sizeof copy);
        hash = mixed(hash, offset);
        hash = mixed(hash, (uint64_t)copy.count);
        hash = mixed_bytes(hash, copy.letters, 3);
        hash = mixed(hash, (uint64_t)(copy.weight * 8));
        CHECK_BYTES(arena + (uintptr_t)copy.name, names[i], strlen(names[i]) + 1);
        if (i + 1 < NODES) {
            CHECK_STATUS(haul_plan_offset(plan, &nodes[i + 1], &offset), HAUL_OK);
            CHECK_EQ((uintptr_t)copy.next, offset);
        }
    }
    for (i = 0; i < bits; i++)
        slots += bitmap[i / 64] >> i % 64 & 1;
    return mixed(hash, slots);
}

TEST(process_state, an_ordered_image_has_the_same_numbers_at_the_same_places_on_every_machine_H12)
{
    haul_context *context;
    haul_plan *plan;
    unsigned char *arena;
    uint64_t *bitmap, hash;
    types_open();
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    plan = ordered_plan(context);
    arena = calloc(1, plan_bytes(plan));
    bitmap = calloc(1, plan_bitmap_bytes(plan));
    CHECK(arena && bitmap);
    CHECK_STATUS(haul_plan_pack(plan, arena, plan_bytes(plan), 0, bitmap), HAUL_OK);
    hash = image_hash(plan, arena, bitmap);
    if (sizeof(void *) == 8) /* 32-bit machines do not agree on where a double may stand */
        CHECK_EQ(hash, UINT64_C(0x9dc0da34b2672c53));
    free(arena);
    free(bitmap);
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&node_type);
}

/* ---- Memory that ends anywhere. */

typedef struct purse {
    size_t left, live;
} purse;

static void *purse_take(void *user, size_t bytes, size_t alignment)
{
    purse *p = user;
    void *memory;
    if (bytes > p->left || posix_memalign(&memory, alignment < 16 ? 16 : alignment, bytes) != 0)
        return NULL;
    p->left -= bytes;
    p->live++;
    return memory;
}

static void purse_give(void *user, void *memory, size_t bytes)
{
    purse *p = user;
    p->left += bytes;
    p->live--;
    free(memory);
}

/* Makes a plan and packs with so many bytes of memory at once. */
static haul_status plan_within(size_t bytes)
{
    purse p = { 0, 0 };
    haul_allocator allocator;
    haul_context_options options;
    haul_context *context = NULL;
    haul_plan *plan = NULL;
    haul_root root;
    haul_status status;
    p.left = bytes;
    memset(&allocator, 0, sizeof allocator);
    allocator.user = &p;
    allocator.allocate = purse_take;
    allocator.release = purse_give;
    memset(&options, 0, sizeof options);
    test_allocator(&options, &allocator);
    root.address = nodes;
    root.type = node_type;
    root.count = 1;
    status = haul_context_create(&options, &context);
    if (status == HAUL_OK)
        status = haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan);
    if (status == HAUL_ERROR_MEMORY && context)
        CHECK(haul_context_error(context)->text[0] != '\0');
    CHECK(status == HAUL_OK || status == HAUL_ERROR_MEMORY);
    CHECK((plan != NULL) == (status == HAUL_OK));
    haul_plan_free(&plan);
    haul_context_free(&context);
    CHECK_EQ(p.live, 0);
    CHECK_EQ(p.left, bytes);
    return status;
}

TEST(process_state, a_plan_is_made_or_there_is_no_memory_wherever_the_memory_ends_H7)
{
    size_t enough = 64, bytes;
    types_open();
    graph_make();
    while (plan_within(enough) != HAUL_OK)
        enough *= 2;
    for (bytes = 0; bytes < enough; bytes += enough / 512 + 7) {
        check_note("%zu of %zu bytes", bytes, enough);
        plan_within(bytes);
    }
    check_note(NULL);
    CHECK_STATUS(plan_within(0), HAUL_ERROR_MEMORY);
    haul_type_free(&node_type);
}

/* There and back, and an arena, on a device whose context has so much memory. */
static haul_status journey(haul_device *device)
{
    haul_arena_options small;
    haul_shipment *shipment = NULL, *of_arena = NULL;
    haul_arena *arena = NULL;
    node *lone = NULL;
    haul_status status = haul_ship(device, nodes, node_type, 1, NULL, &shipment);
    memset(&small, 0, sizeof small);
    small.reserve_bytes = 1 << 12;
    if (status == HAUL_OK)
        status = haul_update_device(shipment, NULL, NULL);
    if (status == HAUL_OK)
        status = haul_update_host(shipment, WITH_POINTERS, NULL);
    if (status == HAUL_OK)
        status = haul_update_host(shipment, NULL, OWN_STREAM);
    if (status == HAUL_OK)
        status = haul_wait(shipment);
    if (status == HAUL_OK)
        status = test_arena(device, &small, &arena);
    if (status == HAUL_OK && !(lone = haul_arena_malloc(arena, sizeof *lone)))
        status = haul_arena_error(arena)->status;
    if (status == HAUL_OK)
        status = haul_ship_from(device, haul_from_arena_root(arena, lone, node_type), NULL, NULL,
                                &of_arena);
    if (status == HAUL_OK)
        status = haul_unmarshal(of_arena);
    if (status == HAUL_ERROR_MEMORY && (!arena || lone))
        CHECK(haul_context_error(haul_device_context(device))->text[0] != '\0');
    haul_shipment_free(&of_arena);
    haul_arena_free(&arena);
    haul_shipment_free(&shipment);
    return status;
}

static haul_status journey_within(size_t bytes)
{
    purse p = { 0, 0 };
    haul_allocator allocator;
    test_device options;
    haul_device *device = NULL;
    haul_status status;
    p.left = bytes;
    memset(&allocator, 0, sizeof allocator);
    allocator.user = &p;
    allocator.allocate = purse_take;
    allocator.release = purse_give;
    memset(&options, 0, sizeof options);
    test_allocator(&options.new_context, &allocator);
    status = test_open(haul_host_device(), &options, &device);
    if (status == HAUL_OK)
        status = journey(device);
    CHECK(status == HAUL_OK || status == HAUL_ERROR_MEMORY);
    haul_device_close(&device);
    CHECK_EQ(p.live, 0);
    CHECK_EQ(p.left, bytes);
    return status;
}

TEST(process_state, a_graph_and_an_arena_cross_or_there_is_no_memory_wherever_it_ends_H7)
{
    size_t enough = 64, least, bytes;
    types_open();
    graph_make();
    while (journey_within(enough) != HAUL_OK)
        enough *= 2;
    for (least = 0, bytes = enough; bytes - least > 1;) {
        const size_t middle = least + (bytes - least) / 2;
        if (journey_within(middle) == HAUL_OK)
            bytes = middle;
        else
            least = middle;
    }
    check_note("some %zu bytes are enough", bytes);
    for (bytes = least > 64 ? least - 64 : 0; bytes < least + 64; bytes++)
        journey_within(bytes);
    for (bytes = 0; bytes < enough; bytes += enough / 256 + 7)
        journey_within(bytes);
    check_note(NULL);
    haul_type_free(&node_type);
}

/* ---- Threads. */

enum { THREADS = 4, ROUNDS = 20, LARGE = 6 << 20 };

typedef struct worker {
    pthread_t thread;
    unsigned char *arena;
    size_t bytes;
} worker;

/* A type of the thread's own that leads to the shared one, made and closed while others walk
 * that. */
static void describe_more(haul_context *context)
{
    haul_field field = HAUL_ADDRESS(node, next, .target = &node_type);
    haul_type *holder;
    haul_status added;
    CHECK_STATUS(type_make_in(context, "holder", sizeof(node), &field, 1, &holder), HAUL_OK);
    CHECK_STATUS(haul_type_commit(holder), HAUL_OK);
    added = haul_type_add(node_type, &field, 1); /* its context is that of all threads */
    CHECK(added == HAUL_ERROR_STATE || added == HAUL_ERROR_BUSY);
    haul_type_free(&holder);
}

static void *pack_again_and_again(void *argument)
{
    worker *w = argument;
    haul_context *context;
    haul_root root;
    int round;
    root.address = nodes;
    root.type = node_type;
    root.count = 1;
    for (round = 0; round < ROUNDS; round++) {
        haul_plan *plan;
        uint64_t *bitmap;
        CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
        CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
        describe_more(context);
        free(w->arena);
        w->bytes = plan_bytes(plan);
        w->arena = calloc(1, w->bytes);
        bitmap = calloc(1, plan_bitmap_bytes(plan));
        CHECK(w->arena && bitmap);
        CHECK_STATUS(haul_plan_pack(plan, w->arena, w->bytes, 0, bitmap), HAUL_OK);
        free(bitmap);
        haul_plan_free(&plan);
        haul_context_free(&context);
    }
    return NULL;
}

TEST(process_state,
     threads_with_contexts_of_their_own_pack_one_graph_alike_and_may_describe_more_C1_C5)
{
    static const haul_field last = HAUL_ADDRESS(node, next, .target = &node_type);
    worker workers[THREADS];
    int i;
    memset(workers, 0, sizeof workers);
    types_open();
    graph_make();
    for (i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, pack_again_and_again, &workers[i]), 0);
    for (i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(workers[i].thread, NULL), 0);
    for (i = 1; i < THREADS; i++) {
        CHECK_EQ(workers[i].bytes, workers[0].bytes);
        CHECK_BYTES(workers[i].arena, workers[0].arena, workers[0].bytes);
    }
    for (i = 0; i < THREADS; i++)
        free(workers[i].arena);
    CHECK_STATUS(haul_type_add(node_type, &last, 1), HAUL_ERROR_STATE); /* with nobody beside */
    haul_type_free(&node_type);
}

/* One thread ships, another wants the same device, and asks again while it is busy. The first one
 * is cancelled once the other has been turned away. */
typedef struct race {
    haul_device *device;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int ships, turned_away;
    haul_status first;
} race;

static unsigned char large[LARGE];
static haul_type *large_type;

static void tell(race *r, int *what)
{
    pthread_mutex_lock(&r->lock);
    *what = 1;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void await(race *r, const int *what)
{
    pthread_mutex_lock(&r->lock);
    while (!*what)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

static int cancel_when_another_waits(void *user, uint64_t done, uint64_t total)
{
    race *r = user;
    (void)done, (void)total;
    if (r->ships)
        return 0; /* this is the other call */
    tell(r, &r->ships);
    await(r, &r->turned_away);
    return 1;
}

static void *ship_and_be_cancelled(void *argument)
{
    race *r = argument;
    haul_shipment *shipment = NULL;
    r->first = haul_ship(r->device, large, large_type, LARGE, NULL, &shipment);
    haul_shipment_free(&shipment);
    return NULL;
}

TEST(process_state,
     a_cancelled_call_and_the_one_that_waits_for_it_both_return_and_leave_nothing_C10)
{
    race r;
    pthread_t thread;
    haul_shipment *shipment = NULL;
    haul_host_counters counters;
    test_device options;
    haul_status status;
    memset(&r, 0, sizeof r);
    memset(&options, 0, sizeof options);
    options.new_context.progress = cancel_when_another_waits;
    options.new_context.progress_user = &r;
    CHECK_EQ(pthread_mutex_init(&r.lock, NULL), 0);
    CHECK_EQ(pthread_cond_init(&r.changed, NULL), 0);
    CHECK_STATUS(haul_type_bytes(type_context(), "byte", 1, &large_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(large_type), HAUL_OK);
    CHECK_STATUS(test_open(haul_host_device(), &options, &r.device), HAUL_OK);
    CHECK_EQ(pthread_create(&thread, NULL, ship_and_be_cancelled, &r), 0);
    await(&r, &r.ships);
    CHECK_STATUS(haul_ship(r.device, large, large_type, LARGE, NULL, &shipment), HAUL_ERROR_BUSY);
    CHECK(shipment == NULL);
    tell(&r, &r.turned_away);
    do
        status = haul_ship(r.device, large, large_type, LARGE, NULL, &shipment);
    while (status == HAUL_ERROR_BUSY);
    CHECK_STATUS(status, HAUL_OK);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_STATUS(r.first, HAUL_ERROR_CANCELLED);
    haul_shipment_free(&shipment);
    CHECK_STATUS(haul_host_get_counters(r.device, &counters), HAUL_OK);
    CHECK_EQ(counters.bytes_live, 0);
    haul_device_close(&r.device);
    haul_type_free(&large_type);
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
}
