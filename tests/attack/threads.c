/* Several contexts in threads: each makes calls of its own on its own devices, with the same
 * committed types, and reads a source that all of them share.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "graphs.h"
#include "support/check.h"
#include "support/short_forms.h"

enum { THREADS = 3 };

/* What all threads read. */
typedef struct common {
    const sequence *s;
    item_type items;
    world source; /* its objects alone are used by the threads */
    haul_root root;
    unsigned char *packed; /* the source, with offsets for pointers */
    uint64_t *bitmap;
    size_t bytes;
} common;

typedef struct worker {
    const common *all;
    unsigned number;
    pthread_t thread;
} worker;

static void *memory_of(size_t bytes)
{
    void *memory = calloc(1, bytes);
    CHECK(memory != NULL);
    return memory;
}

static void pack(const haul_root *root, haul_context *context, unsigned char **arena,
                 uint64_t **bitmap, size_t *bytes)
{
    haul_plan *plan;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(root, 1), NULL, &plan), HAUL_OK);
    *bytes = plan_bytes(plan);
    *arena = memory_of(*bytes + plan_alignment(plan));
    *bitmap = memory_of(plan_bitmap_bytes(plan) + 8);
    CHECK_STATUS(haul_plan_pack(plan, *arena, *bytes, 0, *bitmap), HAUL_OK);
    haul_plan_free(&plan);
}

/* The same source gives the same arena in every context; it is shipped, and nothing of it is
 * written. */
static void read_source(const common *all, world *w)
{
    unsigned char *arena;
    uint64_t *bitmap;
    size_t bytes;
    haul_shipment *s;
    pack(&all->root, haul_device_context(w->device[0]), &arena, &bitmap, &bytes);
    CHECK_EQ(bytes, all->bytes);
    CHECK_BYTES(arena, all->packed, bytes);
    free(arena);
    free(bitmap);
    CHECK_STATUS(haul_ship_from(w->device[0], haul_from_roots(&all->root, 1), NULL, NULL, &s),
                 HAUL_OK);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    CHECK_PTR(host_of(s, device_address(s, all->root.address)), all->root.address);
    haul_shipment_free(&s);
}

static void *work(void *argument)
{
    const worker *me = argument;
    const sequence *s = me->all->s;
    world *w = memory_of(sizeof *w);
    random_source random = sequence_random(s, STEPS_MAX + me->number);
    world_open(w, &me->all->items, &random);
    w->faults = 0;
    for (unsigned i = 0; i < s->steps; i++) {
        if (s->left_out[i])
            continue;
        w->random = sequence_random(s, 2 * STEPS_MAX + THREADS * i + me->number);
        if (random_one_in(&w->random, 6))
            read_source(me->all, w);
        else
            step_any(w);
        objects_check(w, "the step");
    }
    world_close(w);
    free(w);
    return NULL;
}

static void run(const sequence *s)
{
    common *all = memory_of(sizeof *all);
    worker workers[THREADS];
    random_source random = sequence_random(s, s->steps);
    int root;
    all->s = s;
    item_type_make(&random, &all->items);
    world_open(&all->source, &all->items, &random);
    all->source.random = random;
    while ((root = object_some(&all->source, ITEM, -1)) < 0)
        object_new(&all->source, ITEM, all->items.bytes);
    make_roots(&all->source, &root, 1, &all->root);
    pack(&all->root, haul_device_context(all->source.device[0]), &all->packed, &all->bitmap,
         &all->bytes);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].all = all;
        workers[i].number = i;
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    free(all->packed);
    free(all->bitmap);
    world_close(&all->source);
    haul_type_free(&all->items.type);
    free(all);
}

const attack attack_threads = { "threads", 30, 5, run };
