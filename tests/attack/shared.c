/* Several threads, one context with two devices: each repeats a call that answers HAUL_ERROR_BUSY,
 * and frees whatever it likes, its own or another thread's, at any time. Sources are each thread's
 * own; what comes back must be what it sent.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "attack.h"
#include "haul.h"
#include "support/check.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

enum { THREADS = 3, NODES = 12, NUMBERS = 40, KEPT = 4, BOXES = 4 };

typedef struct node {
    struct node *next;
    int32_t *numbers;
    int32_t count, value;
} node;

/* What all threads use. A shipment in a box is whoever's takes it. */
typedef struct common {
    const sequence *s;
    haul_type *type;
    haul_device *device[2];
    pthread_mutex_t lock;
    haul_shipment *box[BOXES];
} common;

typedef struct worker {
    common *all;
    unsigned number;
    pthread_t thread;
    random_source random;
    node nodes[NODES], sent[NODES];
    int32_t numbers[NODES][NUMBERS], sent_numbers[NODES][NUMBERS];
    haul_shipment *kept[KEPT];
} worker;

/* Repeats the call, in whose place `expression` stands, until no other one is under way. */
#define UNTIL_OK(expression)                                                                       \
    do {                                                                                           \
        haul_status answer;                                                                        \
        while ((answer = (expression)) == HAUL_ERROR_BUSY)                                         \
            sched_yield();                                                                         \
        CHECK_STATUS(answer, HAUL_OK);                                                             \
    } while (0)

static haul_device *some_device(worker *me)
{
    return me->all->device[random_below(&me->random, 2)];
}

static haul_shipment **some_place(worker *me, int is_taken)
{
    size_t start = random_below(&me->random, KEPT);
    for (size_t k = 0; k < KEPT; k++) {
        haul_shipment **place = &me->kept[(start + k) % KEPT];
        if (!*place == !is_taken)
            return place;
    }
    return NULL;
}

/* ---- A thread's own graph: its shape stays. */

static void draw_graph(worker *me)
{
    for (int i = 0; i < NODES; i++) {
        me->nodes[i].next = i + 1 < NODES ? &me->nodes[i + 1] : NULL;
        me->nodes[i].numbers = me->numbers[i];
        me->nodes[i].count = 1 + (int32_t)random_below(&me->random, NUMBERS);
    }
}

static void redraw_contents(worker *me)
{
    random_fill(&me->random, me->numbers, sizeof me->numbers);
    for (int i = 0; i < NODES; i++)
        me->nodes[i].value = (int32_t)random_next(&me->random);
}

static void note_contents(worker *me)
{
    memcpy(me->sent, me->nodes, sizeof me->sent);
    memcpy(me->sent_numbers, me->numbers, sizeof me->sent_numbers);
}

static void check_contents(const worker *me)
{
    CHECK_BYTES(me->nodes, me->sent, sizeof me->sent);
    for (int i = 0; i < NODES; i++)
        CHECK_BYTES(me->numbers[i], me->sent_numbers[i],
                    (size_t)me->nodes[i].count * sizeof(int32_t));
}

/* ---- Steps. */

static void ship(worker *me)
{
    haul_shipment **place = some_place(me, 0);
    haul_device *device = some_device(me);
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.lock_source = random_one_in(&me->random, 4);
    options.ordered = random_one_in(&me->random, 4);
    if (place)
        UNTIL_OK(haul_ship(device, me->nodes, me->all->type, 1, &options, place));
}

static void ship_plan(worker *me)
{
    haul_shipment **place = some_place(me, 0);
    haul_device *device = some_device(me);
    haul_root root = { me->nodes, me->all->type, 1 };
    haul_plan *plan;
    if (!place)
        return;
    UNTIL_OK(haul_plan_create(haul_device_context(device), haul_from_roots(&root, 1), NULL, &plan));
    UNTIL_OK(haul_ship_from(device, haul_from_plan(plan), NULL, NULL, place));
    haul_plan_free(&plan);
}

/* What was sent comes back, over whatever is here. */
static void go_and_come(worker *me)
{
    haul_shipment **place = some_place(me, 1);
    int is_async = random_one_in(&me->random, 2);
    if (!place)
        return;
    redraw_contents(me);
    note_contents(me);
    if (is_async)
        UNTIL_OK(haul_update_device(*place, NULL, OWN_STREAM));
    else
        UNTIL_OK(haul_update_device(*place, NULL, NULL));
    redraw_contents(me);
    if (is_async)
        UNTIL_OK(haul_update_host(*place, NULL, OWN_STREAM));
    else
        UNTIL_OK(haul_unmarshal(*place));
    UNTIL_OK(haul_wait(*place));
    check_contents(me);
}

static void copy(worker *me)
{
    haul_shipment **from = some_place(me, 1), **to = some_place(me, 0);
    haul_device *device = some_device(me);
    if (from && to)
        UNTIL_OK(haul_shipment_copy(*from, device, to));
}

static void replan(worker *me)
{
    haul_shipment **place = some_place(me, 1);
    if (place)
        UNTIL_OK(haul_reship(*place, NULL));
}

static void free_own(worker *me)
{
    haul_shipment **place = some_place(me, 1);
    if (place)
        haul_shipment_free(place);
}

/* Gives one away, perhaps with work under way, and frees what was given. */
static void swap(worker *me)
{
    haul_shipment **place = some_place(me, 1), **box, *given;
    if (!place)
        return;
    if (random_one_in(&me->random, 2))
        UNTIL_OK(haul_update_device(*place, NULL, OWN_STREAM));
    box = &me->all->box[random_below(&me->random, BOXES)];
    pthread_mutex_lock(&me->all->lock);
    given = *box;
    *box = *place;
    pthread_mutex_unlock(&me->all->lock);
    *place = NULL;
    haul_shipment_free(&given);
}

static void use_arena(worker *me)
{
    haul_device *device = some_device(me);
    haul_arena_options options;
    haul_arena *arena;
    haul_shipment *s;
    node *first, *second;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = 1 << 18;
    options.pinned = random_one_in(&me->random, 3);
    options.mirrored = random_one_in(&me->random, 3);
    UNTIL_OK(test_arena(device, &options, &arena));
    first = haul_arena_new(arena, me->all->type, 1);
    second = haul_arena_new(arena, me->all->type, 1);
    CHECK(first && second);
    first->next = second;
    second->value = (int32_t)me->number;
    UNTIL_OK(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s));
    second->value = -1;
    UNTIL_OK(haul_unmarshal(s));
    CHECK_EQ(second->value, (int)me->number);
    CHECK_PTR(first->next, second);
    if (random_one_in(&me->random, 2))
        haul_arena_free(&arena);
    haul_shipment_free(&s);
    haul_arena_free(&arena);
}

static void trim(worker *me)
{
    UNTIL_OK(haul_context_trim(haul_device_context(me->all->device[0])));
}

static void (*const steps[])(worker *me) = { ship,        ship,      ship_plan, go_and_come,
                                             go_and_come, copy,      replan,    free_own,
                                             swap,        use_arena, trim };

static void *work(void *argument)
{
    worker *me = argument;
    const sequence *s = me->all->s;
    me->random = sequence_random(s, STEPS_MAX + me->number);
    draw_graph(me);
    redraw_contents(me);
    for (unsigned i = 0; i < s->steps; i++) {
        if (s->left_out[i])
            continue;
        me->random = sequence_random(s, 2 * STEPS_MAX + THREADS * i + me->number);
        steps[random_below(&me->random, sizeof steps / sizeof *steps)](me);
    }
    for (int i = 0; i < KEPT; i++)
        haul_shipment_free(&me->kept[i]);
    return NULL;
}

/* ---- All of it. */

static haul_type *make_type(void)
{
    haul_type *type;
    const haul_field rows[] = { HAUL_OBJECT(node, next, &type),
                                HAUL_ARRAY(node, numbers, HAUL_COUNT(node, count)) };
    CHECK_STATUS(type_make("node", sizeof(node), rows, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    return type;
}

/* Sources stay until the last shipment has gone. */
static void run(const sequence *s)
{
    common *all = calloc(1, sizeof *all);
    worker *workers = calloc(THREADS, sizeof *workers);
    test_device options;
    CHECK(all && workers);
    memset(&options, 0, sizeof options);
    all->s = s;
    all->type = make_type();
    pthread_mutex_init(&all->lock, NULL);
    CHECK_STATUS(test_open(haul_host_device(), NULL, &all->device[0]), HAUL_OK);
    options.context = haul_device_context(all->device[0]);
    CHECK_STATUS(test_open(haul_host_device(), &options, &all->device[1]), HAUL_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].all = all;
        workers[i].number = i;
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    haul_device_close(&all->device[0]);
    haul_device_close(&all->device[1]);
    for (int i = 0; i < BOXES; i++)
        haul_shipment_free(&all->box[i]);
    haul_type_free(&all->type);
    pthread_mutex_destroy(&all->lock);
    free(workers);
    free(all);
}

const attack attack_shared = { "shared", 60, 5, run };
