/* Forks: a child has the parent's plans and plain arenas as its own, but not the parent's devices.
 * Its calls on them are refused with a sentence; its frees do not disturb the parent.
 *
 * Faults by number (docs/testing.md): C7.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/inside.h"
#include "support/lists.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

typedef struct family {
    haul_type *type;
    haul_device *device;
    haul_context *context;
    haul_plan *plan;
    haul_arena *plain, *pinned, *mirrored;
    haul_shipment *shipment, *locked, *of_plain, *of_pinned, *of_mirrored;
    list_node *nodes;
} family;

enum { NODES = 1000 };

static void raise_all(void *argument)
{
    list_node *n;
    for (n = argument; n; n = n->next)
        n->value += 1000;
}

static haul_arena *arena_of(family *f, int pinned, int mirrored)
{
    haul_arena_options options;
    haul_arena *arena;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = 1 << 16;
    options.pinned = pinned;
    options.mirrored = mirrored;
    CHECK_STATUS(test_arena(f->device, &options, &arena), HAUL_OK);
    CHECK(haul_arena_new(arena, f->type, 1) != NULL);
    return arena;
}

static void family_start(family *f)
{
    haul_type *type = list_type(NULL);
    test_device options;
    haul_ship_options lock;
    haul_root root;
    memset(f, 0, sizeof *f);
    memset(&options, 0, sizeof options);
    memset(&lock, 0, sizeof lock);
    options.new_context.threads = 3;
    lock.lock_source = 1;
    f->type = type;
    f->nodes = calloc(NODES, sizeof *f->nodes);
    CHECK(f->nodes != NULL);
    list_link(f->nodes, NODES);
    CHECK_STATUS(test_open(haul_host_device(), &options, &f->device), HAUL_OK);
    f->context = haul_device_context(f->device);
    root.address = f->nodes;
    root.type = type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(f->context, haul_from_roots(&root, 1), NULL, &f->plan), HAUL_OK);
    CHECK_STATUS(haul_ship(f->device, f->nodes, type, 1, NULL, &f->shipment), HAUL_OK);
    CHECK_STATUS(haul_ship(f->device, f->nodes, type, 1, &lock, &f->locked), HAUL_OK);
    CHECK_STATUS(haul_update_device(f->locked, NULL, NULL), HAUL_OK);
    f->plain = arena_of(f, 0, 0);
    f->pinned = arena_of(f, 1, 0);
    f->mirrored = arena_of(f, 0, 1);
    CHECK_STATUS(haul_ship_from(f->device, haul_from_arena(f->plain), NULL, NULL, &f->of_plain),
                 HAUL_OK);
    CHECK_STATUS(haul_ship_from(f->device, haul_from_arena(f->pinned), NULL, NULL, &f->of_pinned),
                 HAUL_OK);
    CHECK_STATUS(
        haul_ship_from(f->device, haul_from_arena(f->mirrored), NULL, NULL, &f->of_mirrored),
        HAUL_OK);
}

static void family_free(family *f)
{
    haul_shipment_free(&f->shipment);
    haul_shipment_free(&f->locked);
    haul_arena_free(&f->plain);
    haul_arena_free(&f->pinned);
    haul_arena_free(&f->mirrored);
    haul_shipment_free(&f->of_plain);
    haul_shipment_free(&f->of_pinned);
    haul_shipment_free(&f->of_mirrored);
    haul_plan_free(&f->plan);
    haul_device_close(&f->device);
}

/* The number of the first thing that is wrong, for a check would go on with the parent's tests. */
static int refuses_in_words(const family *f, haul_status status)
{
    return status == HAUL_ERROR_STATE &&
           strstr(haul_context_error(haul_device_context(f->device))->text, "another process") !=
               NULL;
}

static int is_refused(family *f)
{
    haul_arena_options pinned;
    haul_shipment *s;
    haul_arena *a;
    memset(&pinned, 0, sizeof pinned);
    pinned.pinned = 1;
    if (!refuses_in_words(f, haul_update_device(f->shipment, NULL, NULL)))
        return 1;
    if (!refuses_in_words(f, haul_unmarshal(f->of_mirrored)))
        return 2;
    if (!refuses_in_words(f, haul_reship(f->locked, NULL)) ||
        !refuses_in_words(f, haul_return_directly(f->of_plain)))
        return 3;
    if (!refuses_in_words(f, haul_wait(f->shipment)))
        return 4;
    if (!refuses_in_words(f, haul_ship(f->device, f->nodes, f->type, 1, NULL, &s)) || s)
        return 5;
    if (!refuses_in_words(f,
                          haul_ship_from(f->device, haul_from_arena(f->plain), NULL, NULL, &s)) ||
        s)
        return 6;
    if (!refuses_in_words(f, test_arena(f->device, &pinned, &a)) || a)
        return 7;
    if (!refuses_in_words(f, haul_shipment_copy(f->shipment, f->device, &s)) || s)
        return 8;
    if (haul_host_launch(f->device, raise_all, haul_device_pointer(f->shipment, f->nodes)) !=
            HAUL_ERROR_STATE ||
        !strstr(haul_context_error(haul_device_context(f->device))->text, "another process"))
        return 9;
    if (!refuses_in_words(f, haul_poll(f->shipment)))
        return 10;
    if (!refuses_in_words(f, haul_ship_from(f->device, haul_from_plan(f->plan), NULL, NULL, &s)) ||
        s)
        return 11;
    if (!refuses_in_words(f, haul_ship_from(f->device,
                                            haul_from_arena_root(f->plain, f->nodes, f->type), NULL,
                                            NULL, &s)) ||
        s)
        return 12;
    return 0;
}

/* Discovery, packing, plain arenas, and a device of its own in the parent's context. */
static int goes_on(family *f)
{
    const size_t bytes = plan_bytes(f->plan);
    test_device options;
    haul_device *own;
    haul_shipment *s, *copied;
    void *copy = malloc(bytes);
    list_node *fresh;
    memset(&options, 0, sizeof options);
    options.context = f->context;
    if (!copy || haul_plan_pack(f->plan, copy, bytes, 1 << 20, NULL) != HAUL_OK)
        return 21;
    free(copy);
    fresh = haul_arena_new(f->plain, f->type, 1);
    if (!fresh)
        return 22;
    if (test_open(haul_host_device(), &options, &own) != HAUL_OK)
        return 23;
    if (haul_ship(own, f->nodes, f->type, 1, NULL, &s) != HAUL_OK)
        return 24;
    if (haul_host_launch(own, raise_all, haul_device_pointer(s, f->nodes)) != HAUL_OK ||
        haul_unmarshal(s) != HAUL_OK || f->nodes[NODES - 1].value != 1000)
        return 25;
    if (!refuses_in_words(f, haul_shipment_copy(s, f->device, &copied)) || copied)
        return 26;
    haul_shipment_free(&s);
    haul_device_close(&own);
    return 0;
}

/* What the child answers: 0, if all was right. */
static int in_child(family *f, int (*act)(family *f))
{
    pid_t child = fork();
    int status = -1;
    CHECK(child >= 0);
    if (child == 0) {
        alarm(60); /* a child that waits for a thread that it does not have ends, and fails */
        check_leave(act(f));
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int free_all(family *f)
{
    family_free(f);
    return f->shipment || f->device || f->plain;
}

static void check_parent(family *f)
{
    haul_shipment *all[5];
    size_t i;
    all[0] = f->shipment;
    all[1] = f->locked;
    all[2] = f->of_plain;
    all[3] = f->of_pinned;
    all[4] = f->of_mirrored;
    CHECK_STATUS(haul_unmarshal(f->shipment), HAUL_OK);
    CHECK_EQ(f->nodes[0].value, 0);
    for (i = 0; i < 5; i++) {
        CHECK_STATUS(haul_update_device(all[i], NULL, NULL), HAUL_OK);
        CHECK_STATUS(haul_unmarshal(all[i]), HAUL_OK);
    }
    CHECK_STATUS(haul_host_launch(f->device, raise_all, haul_device_pointer(f->shipment, f->nodes)),
                 HAUL_OK);
    CHECK_STATUS(haul_unmarshal(f->shipment), HAUL_OK);
    CHECK_EQ(f->nodes[NODES - 1].value, 1000);
}

static void try_in_child(int (*act)(family *f))
{
    family f;
    family_start(&f);
    CHECK_EQ(in_child(&f, act), 0);
    check_parent(&f);
    family_free(&f);
    haul_type_free(&f.type);
    free(f.nodes);
}

TEST(forks, a_child_is_refused_the_devices_of_its_parent_in_words_C7)
{
    try_in_child(is_refused);
}

TEST(forks, a_child_plans_packs_allocates_and_opens_a_device_of_its_own_C7)
{
    try_in_child(goes_on);
}

TEST(forks, a_child_may_free_everything_and_the_parent_goes_on_C7)
{
    try_in_child(free_all);
}

/* ---- Threads, which a child does not have. */

enum { MANY = 200000 };

typedef struct many {
    haul_context *context;
    haul_plan *plan;
    unsigned char *packed;
    list_node *nodes;
    haul_type *type;
} many;

static unsigned char *pack_many(haul_plan *plan)
{
    unsigned char *arena = malloc(plan_bytes(plan));
    if (arena && haul_plan_pack(plan, arena, plan_bytes(plan), 4096, NULL) == HAUL_OK)
        return arena;
    free(arena);
    return NULL;
}

/* By the parent's plan, and by one of its own in the parent's context. */
static int packs_alone(many *m)
{
    const size_t bytes = plan_bytes(m->plan);
    unsigned char *packed = pack_many(m->plan);
    haul_root root;
    haul_plan *own;
    if (!packed || memcmp(packed, m->packed, bytes) != 0)
        return 1;
    free(packed);
    root.address = m->nodes;
    root.type = m->type;
    root.count = 1;
    if (haul_plan_create(m->context, haul_from_roots(&root, 1), NULL, &own) != HAUL_OK)
        return 2;
    packed = pack_many(own);
    if (!packed || memcmp(packed, m->packed, bytes) != 0)
        return 3;
    free(packed);
    haul_plan_free(&own);
    haul_plan_free(&m->plan);
    haul_context_free(&m->context);
    return 0;
}

TEST(forks, a_child_packs_what_its_parents_threads_share_by_itself_C7)
{
    haul_type *type = list_type(NULL);
    haul_context_options options;
    haul_root root;
    unsigned char *again;
    many m;
    pid_t child;
    int status = -1;
    memset(&options, 0, sizeof options);
    options.threads = 3;
    CHECK_STATUS(haul_context_create(&options, &m.context), HAUL_OK);
    m.type = type;
    m.nodes = calloc(MANY, sizeof *m.nodes);
    CHECK(m.nodes != NULL);
    list_link(m.nodes, MANY);
    root.address = m.nodes;
    root.type = type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(m.context, haul_from_roots(&root, 1), NULL, &m.plan), HAUL_OK);
    CHECK((m.packed = pack_many(m.plan)) != NULL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(60);
        _exit(packs_alone(&m));
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
    CHECK((again = pack_many(m.plan)) != NULL);
    CHECK(memcmp(again, m.packed, plan_bytes(m.plan)) == 0);
    free(again);
    haul_plan_free(&m.plan);
    haul_context_free(&m.context);
    haul_type_free(&type);
    free(m.packed);
    free(m.nodes);
}

/* ---- Forks in the middle. */

static int frees_what_is_outstanding(family *f)
{
    if (!refuses_in_words(f, haul_wait(f->shipment)) ||
        !refuses_in_words(f, haul_poll(f->shipment)))
        return 1;
    return free_all(f) ? 2 : 0;
}

TEST(forks, results_that_are_outstanding_are_the_parents_C7)
{
    family f;
    family_start(&f);
    CHECK_STATUS(haul_host_launch(f.device, raise_all, haul_device_pointer(f.shipment, f.nodes)),
                 HAUL_OK);
    CHECK_STATUS(haul_update_host(f.shipment, NULL, OWN_STREAM), HAUL_OK);
    CHECK_EQ(in_child(&f, frees_what_is_outstanding), 0);
    CHECK_EQ(f.nodes[1].value, 0);
    CHECK_STATUS(haul_wait(f.shipment), HAUL_OK);
    CHECK_EQ(f.nodes[NODES - 1].value, 1000);
    family_free(&f);
    haul_type_free(&f.type);
    free(f.nodes);
}

/* The stream that the parent has selected last is nothing to the child. */
TEST(forks, results_that_are_outstanding_on_a_stream_are_the_parents_too_C7)
{
    haul_type *type = list_type(NULL);
    const haul_async stream = { fault_stream(1), NULL };
    list_node one = { NULL, 1 };
    fault_plan plan = { 0 };
    haul_device *device;
    haul_shipment *shipment;
    pid_t child;
    int status;
    plan.deferred = 1;
    CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, &one, type, 1, NULL, &shipment), HAUL_OK);
    one.value = 2;
    CHECK_STATUS(haul_update_host(shipment, NULL, &stream), HAUL_OK);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(60);
        haul_shipment_free(&shipment);
        haul_device_close(&device);
        check_leave(one.value == 2 ? 0 : 1);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
    CHECK_STATUS(haul_wait(shipment), HAUL_OK);
    CHECK_EQ(one.value, 1);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_type_free(&type);
    fault_check_clean(&plan);
}

/* Another thread is in a call at the fork, and stays there until the child has ended. */
typedef struct stop {
    family *f;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_inside, may_go;
    haul_status status;
} stop;

static int stay_inside(void *user, uint64_t done, uint64_t total)
{
    stop *s = user;
    (void)done, (void)total;
    pthread_mutex_lock(&s->lock);
    s->is_inside = 1;
    pthread_cond_broadcast(&s->changed);
    while (!s->may_go)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return 0;
}

static void *ship_slowly(void *user)
{
    stop *s = user;
    haul_shipment *shipment = NULL;
    listen_on(s->f->device, stay_inside, s);
    s->status = haul_ship(s->f->device, s->f->nodes, s->f->type, 1, NULL, &shipment);
    listen_on(s->f->device, NULL, NULL);
    haul_shipment_free(&shipment);
    return NULL;
}

static int is_busy_for_ever(family *f)
{
    haul_context *fresh;
    if (haul_update_device(f->shipment, NULL, NULL) != HAUL_ERROR_BUSY)
        return 1;
    if (haul_plan_pack(f->plan, f, 0, 1, NULL) != HAUL_ERROR_BUSY)
        return 2;
    if (free_all(f))
        return 3;
    if (haul_context_create(NULL, &fresh) != HAUL_OK)
        return 4;
    haul_context_free(&fresh);
    return 0;
}

TEST(forks, a_call_that_another_thread_is_in_stays_busy_in_the_child_and_frees_return_C7)
{
    family f;
    stop s;
    pthread_t thread;
    int answer;
    family_start(&f);
    memset(&s, 0, sizeof s);
    s.f = &f;
    CHECK_EQ(pthread_mutex_init(&s.lock, NULL), 0);
    CHECK_EQ(pthread_cond_init(&s.changed, NULL), 0);
    CHECK_EQ(pthread_create(&thread, NULL, ship_slowly, &s), 0);
    pthread_mutex_lock(&s.lock);
    while (!s.is_inside)
        pthread_cond_wait(&s.changed, &s.lock);
    pthread_mutex_unlock(&s.lock);
    answer = in_child(&f, is_busy_for_ever);
    pthread_mutex_lock(&s.lock);
    s.may_go = 1;
    pthread_cond_broadcast(&s.changed);
    pthread_mutex_unlock(&s.lock);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(answer, 0);
    CHECK_STATUS(s.status, HAUL_OK);
    check_parent(&f);
    family_free(&f);
    haul_type_free(&f.type);
    free(f.nodes);
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.lock);
}
