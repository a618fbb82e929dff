/* A walk by hand over one of the graphs, by one thread or by several: each takes starts from those
 * that are left.
 */
#include "discovery.h"

void by_hand_open(by_hand *all, discovered *it)
{
    all->it = it;
    all->queue = bench_map_untouched(WALKERS * it->most * sizeof *all->queue);
}

void by_hand_close(by_hand *all)
{
    bench_unmap(all->queue, WALKERS * all->it->most * sizeof *all->queue);
}

static void walk_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    by_hand *all = user;
    (void)scratch;
    all->count[number] = all->it->walk(all->it, first, end, all->queue + number * all->it->most);
}

double by_hand_walk(by_hand *all, haul__pool *pool, size_t objects)
{
    const size_t grain = pool ? all->it->starts / WALKERS + 1 : all->it->starts;
    double started = bench_milliseconds(), spent;
    size_t count = all->it->above, chunks, i;
    chunks = haul__pool_run(pool, SIZE_MAX, 0, all->it->starts, grain, walk_chunk, all);
    spent = bench_milliseconds() - started;
    for (i = 0; i < chunks; i++)
        count += all->count[i];
    if (count != objects)
        bench_die("the walk by hand has met another number of objects", NULL);
    return spent;
}

haul__pool *by_hand_pool(void)
{
    const haul_allocator allocator = haul__allocator_or_default(NULL);
    const unsigned processors = haul__processors();
    return processors > 1 ? haul__pool_new(&allocator, processors - 1, 0) : NULL;
}
