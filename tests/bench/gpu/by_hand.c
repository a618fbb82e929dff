/* The walks by hand over graphs of haul_bench's workload "discovery", by one thread and by as many
 * as there are processors: what finding such a graph takes at least. Nothing is copied.
 */
#include "gpu.h"

static by_hand all;
static haul__pool *pool;

static int walk_fits(const gpu_bench *b)
{
    return b->it->graph.walk != NULL;
}

static void walk_open(gpu_bench *b)
{
    by_hand_open(&all, &b->it->graph);
}

static void walk_close(gpu_bench *b)
{
    (void)b;
    by_hand_close(&all);
}

static void walk_to(gpu_bench *b)
{
    by_hand_walk(&all, NULL, b->it->objects);
}

static int threads_fit(const gpu_bench *b)
{
    return walk_fits(b) && haul__processors() > 1;
}

static void threads_open(gpu_bench *b)
{
    (void)b;
    pool = by_hand_pool();
}

static void threads_close(gpu_bench *b)
{
    (void)b;
    haul__pool_free(pool);
}

static void threads_to(gpu_bench *b)
{
    by_hand_walk(&all, pool, b->it->objects);
}

const gpu_technique gpu_walks[] = {
    { .name = "walk",
      .is_limit = 1,
      .fits = walk_fits,
      .open = walk_open,
      .to = walk_to,
      .close = walk_close },
    { .name = "walk_threads",
      .is_limit = 1,
      .fits = threads_fit,
      .open = threads_open,
      .to = threads_to,
      .close = threads_close },
};
const size_t gpu_walk_count = sizeof(gpu_walks) / sizeof(gpu_walks[0]);
