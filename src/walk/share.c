/* The shared walk: discovery by all threads of the context, while many simple objects wait.
 *
 * The address space is divided into districts. A pointer goes, in a parcel of many, to the district
 * of its target. One thread at a time takes a district, marks the targets of its parcels, and keeps
 * those that are new in it. They are visited by any thread, which sends their pointers on.
 *
 *     visit      an object's pointers go to the parcels of 64 districts
 *     mark       a district's parcels: its targets are marked in line; new objects wait there
 *
 * Threads work so in rounds. Between two rounds the caller's thread alone makes room for more
 * parcels and blocks, since threads ask no allocator, and marks what was put aside: objects that
 * lie in two districts or need a block when there is none left.
 *
 * Why it is right: marks are ORs, so their order does not matter, as long as no two objects
 * overlap. Only then could it matter, for the number of objects and for which type an address is
 * visited as, whichever is found first. So a walk is shared only where a block's starts tell every
 * object in it: all types are simple, with pointers to one object each, no two of them have one
 * shape, and each block has the form of one type. A target is then known if its start is set and
 * new if none of its granules is live. Anything else, and any failure but a lack of memory, ends
 * the shared walk, and one thread walks again from the roots (discover.c): its result does not
 * depend on the others.
 *
 * Why it is fast: blocks, cells and the table's entries of a district belong to the thread that has
 * taken it, so marks are plain loads and stores, the same as one thread's. A lock is taken once for
 * some hundred pointers. Each thread prefers districts of its own, whose cells stay in its caches.
 * New objects wait in place of their pointers, which are more. So parcels are marked before further
 * objects are visited. A few objects are visited earlier, while a parcel comes from the cache of
 * another thread. The context keeps the parcels' memory: touching new pages would cost more than a
 * small graph gains.
 */
#include "walk/share.h"
#include "map/mark.h"
#include "walk/mark_inline.h"
#include "walk/news.h"

/* Objects that one thread walks on from after a round, at most. */
#ifdef HAUL_STRESS_THREADS
#define FEW ((size_t)0)
#else
#define FEW HAUL__PARCEL
#endif
#define STOCK_LEAST ((size_t)64)
#define MANY_TYPES 64u
#define PARCEL_WORDS (sizeof(haul__parcel) / sizeof(uint64_t))
#define ROUNDS 2u /* of parcels that each thread has at first */

/* ---- When to share. */

/* Is an object visited alike as either type? They have one shape. */
static int are_visited_alike(const haul__met_type *a, const haul__met_type *b)
{
    uint32_t i;
    for (i = 0; i < a->edge_count; i++)
        if (a->edges[i].offset != b->edges[i].offset || a->edges[i].tag != b->edges[i].tag)
            return 0;
    return 1;
}

/* Does a start tell the type, as far as it matters? Types of one shape have one form. */
static int are_told_apart(const haul__discovery *d, const haul__met_type *met)
{
    const haul__met_type *other;
    for (other = d->met_types; other < met; other++)
        if (other->form == met->form && !are_visited_alike(other, met))
            return 0;
    return 1;
}

/* Are all pointers of the types met, and of those behind them, pointers to one simple object each,
 * whose start tells its type? Working that out meets the types behind. */
static haul_status look_at_types(haul__discovery *d, int *are_simple)
{
    size_t i;
    *are_simple = 1;
    for (i = 0; i < d->met_type_count && *are_simple; i++) {
        const haul_status status = haul__met_type_edges(d, (uint32_t)i);
        const haul__met_type *met = &d->met_types[i];
        if (status != HAUL_OK)
            return status;
        *are_simple = i < MANY_TYPES && met->simple.bytes && met->form != HAUL__NO_FORM &&
                      met->edges && met->plain && are_told_apart(d, met);
    }
    return HAUL_OK;
}

/* Do all blocks show where objects start? */
static int are_uniform(const haul__map *map)
{
    size_t i;
    for (i = 0; i < map->block_count; i++) {
        const haul__block *block = haul__block_in(map->flat[map->numbers[i]]);
        if (!haul__is_uniform(block) || block->side)
            return 0;
    }
    return 1;
}

static int may_by_options(const haul__discovery *d)
{
    const haul_context_options *options = &d->context->options;
    return options->threads > 1 && options->max_bytes >= SIZE_MAX / 2 && !d->recording &&
           !d->order_log && !d->within && !d->bounds && d->map->flat;
}

static haul_status may_share(haul__discovery *d)
{
    haul_status status;
    int may;
    if (d->is_alone || !may_by_options(d)) {
        d->is_alone = 1;
        return HAUL_OK;
    }
    status = look_at_types(d, &may);
    d->is_alone =
        !may || !are_uniform(d->map) || d->found->objects > d->context->options.max_objects;
    return status;
}

/* ---- Memory. */

/* Memory for at least `count` parcels: that which the context has kept, if it is enough. 0: out of
 * memory. */
static int take_slab(haul__discovery *d, haul__notes *slab, size_t count)
{
    haul__notes *kept = &d->context->parcels;
    slab->capacity = count * PARCEL_WORDS;
    if (kept->capacity >= slab->capacity) {
        *slab = *kept;
        memset(kept, 0, sizeof *kept);
    } else {
        slab->words =
            haul__allocate(d->allocator, slab->capacity * sizeof *slab->words, sizeof *slab->words);
    }
    if (!slab->words)
        slab->capacity = 0;
    return slab->words != NULL;
}

static int add_parcels(haul__discovery *d, haul__share *share, size_t count)
{
    haul__notes *slab = HAUL__LIST_ADD(d->allocator, &share->slabs);
    size_t i;
    if (!slab || !take_slab(d, slab, count))
        return 0;
    count = slab->capacity / PARCEL_WORDS;
    if (!haul__grow(d->allocator, &share->pool, &share->pool_capacity, share->parcel_count + count,
                    sizeof *share->pool))
        return 0;
    for (i = 0; i < count; i++)
        share->pool[share->pool_count++] = (haul__parcel *)(void *)(slab->words + i * PARCEL_WORDS);
    share->parcel_count += count;
    return 1;
}

/* A parcel from the pool, which is empty; NULL: out of memory. */
static haul__parcel *take_parcel(haul__discovery *d, haul__share *share)
{
    haul__parcel *parcel;
    if (share->pool_taken == share->pool_count &&
        !add_parcels(d, share, share->parcel_count + HAUL__DISTRICTS))
        return NULL;
    parcel = share->pool[share->pool_taken++];
    parcel->next = NULL;
    parcel->count = 0;
    return parcel;
}

static int open_districts(haul__discovery *d, haul__share *share)
{
    unsigned i;
    for (i = 0; i < HAUL__DISTRICTS; i++)
        if ((share->district[i].open = take_parcel(d, share)) == NULL)
            return 0;
    return 1;
}

static void close_share(haul__discovery *d, haul__share *share)
{
    size_t i;
    for (i = 0; i < share->slabs.count; i++)
        haul__notes_keep(d->context, &d->context->parcels, share->slabs.at[i].words,
                         share->slabs.at[i].capacity);
    HAUL__LIST_RELEASE(d->allocator, &share->slabs);
    haul__release(d->allocator, share->pool, share->pool_capacity * sizeof *share->pool);
    haul__release(d->allocator, share->sharer, share->sharer_count * sizeof *share->sharer);
    haul__release(d->allocator, share, sizeof *share);
}

/* NULL: out of memory. */
static haul__share *open_share(haul__discovery *d)
{
    haul__share *share = haul__allocate_zeroed(d->allocator, sizeof *share);
    size_t i, pointers = 1;
    if (!share)
        return NULL;
    for (i = 0; i < d->met_type_count; i++) {
        const haul__met_type *met = &d->met_types[i];
        if (pointers < met->edge_count)
            pointers = met->edge_count;
        share->has_whole |= !met->simple.words;
        share->has_ragged |= met->simple.words || met->ragged.reach;
    }
    share->flat = d->map->flat;
    share->map = d->map;
    share->parcels_needed = pointers + HAUL__DISTRICTS + 2;
    share->sharer_count = d->context->options.threads < HAUL__POOL_CHUNKS
                              ? d->context->options.threads
                              : HAUL__POOL_CHUNKS;
    share->sharer =
        haul__allocate_zeroed(d->allocator, share->sharer_count * sizeof *share->sharer);
    for (i = 0; share->sharer && i < share->sharer_count; i++) {
        haul__quarter *quarter = &share->sharer[i].quarter;
        quarter->first = (unsigned)(i * HAUL__DISTRICTS / share->sharer_count);
        quarter->count =
            (unsigned)((i + 1) * HAUL__DISTRICTS / share->sharer_count) - quarter->first;
    }
    if (share->sharer && open_districts(d, share))
        return share;
    close_share(d, share);
    return NULL;
}

/* ---- Rounds. */

/* The queue's objects go to their districts. 0: out of memory. */
static int take_queue(haul__discovery *d, haul__share *share)
{
    haul__chunk *chunk;
    while ((chunk = haul__queue_next(d)) != NULL)
        for (; chunk->read < chunk->written; chunk->read++) {
            const uint64_t entry = chunk->entry[chunk->read];
            haul__district *district = haul__district_of(share, HAUL__ENTRY_ADDRESS(entry));
            haul__parcel *open = district->open;
            open->entry[open->count++] = entry;
            district->has_visits = 1;
            if (open->count < HAUL__PARCEL)
                continue;
            open = take_parcel(d, share);
            if (!open)
                return 0;
            open->next = district->open;
            district->open = open;
        }
    return 1;
}

/* Before a round: each thread gets blocks, and parcels lie ready. 0: out of memory. */
static int equip(haul__discovery *d, haul__share *share)
{
    const size_t ready = share->pool_count - share->pool_taken,
                 wanted = ROUNDS * share->sharer_count * share->parcels_needed;
    size_t blocks = 2 * d->map->block_count / share->sharer_count, i;
    if (blocks < STOCK_LEAST)
        blocks = STOCK_LEAST;
    if (blocks > HAUL__STOCK)
        blocks = HAUL__STOCK;
    for (i = 0; i < share->sharer_count; i++)
        if (!haul__stock_fill(d->map, &share->sharer[i].stock, share->has_whole ? blocks : 0,
                              share->has_ragged ? blocks : 0))
            return 0;
    share->types = d->met_types;
    share->type_count = d->met_type_count;
    share->stop = HAUL__GO_ON;
    share->objects_left = d->context->options.max_objects - d->found->objects;
    return ready >= wanted || add_parcels(d, share, wanted - ready);
}

static void work(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    haul__share *share = user;
    size_t i;
    (void)number;
    (void)scratch;
    for (i = first; i < end; i++)
        haul__share_work(share, &share->sharer[i]);
}

/* After a round: the map learns of new blocks, and the pool gets parcels back. 0: out of memory. */
static int collect(haul__discovery *d, haul__share *share)
{
    size_t left = 0, i;
    int has_room = 1;
    while (share->pool_taken < share->pool_count)
        share->pool[left++] = share->pool[share->pool_taken++];
    for (i = 0; i < share->sharer_count; i++) {
        haul__sharer *sharer = &share->sharer[i];
        has_room &= haul__stock_end(d->map, &sharer->stock);
        for (; sharer->spare; sharer->spare = sharer->spare->next)
            share->pool[left++] = sharer->spare;
        sharer->spare_count = 0;
        d->found->objects += sharer->objects;
        sharer->objects = 0;
    }
    share->pool_taken = 0;
    share->pool_count = left;
    return has_room;
}

/* Marks an object that lies in two districts, or for which there was no block. */
static haul_status settle_one(haul__discovery *d, uint64_t entry)
{
    const uintptr_t address = HAUL__ENTRY_ADDRESS(entry);
    haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(entry)];
    const int is_ragged = (address & (HAUL__GRANULE - 1)) != 0;
    uint32_t form;
    int fresh;
    if (is_ragged && !haul__met_type_ragged(d, met))
        return HAUL_ERROR_MEMORY;
    form = is_ragged ? met->ragged.form : met->form;
    if (!haul__can_start(met, address, form))
        return HAUL_ERROR_GRAPH;
    fresh = haul__mark_simple(d->map, address, form);
    if (fresh > 0)
        return haul__queue_push(d, address, HAUL__ENTRY_TYPE(entry), 1) ? HAUL_OK
                                                                        : HAUL_ERROR_MEMORY;
    if (fresh < 0)
        return HAUL_ERROR_MEMORY;
    return haul__is_start(d->map->flat, address, form) ? HAUL_OK : HAUL_ERROR_GRAPH;
}

static haul_status settle_aside(haul__discovery *d, haul__share *share)
{
    haul_status status = HAUL_OK;
    size_t i, at;
    for (i = 0; i < share->sharer_count; i++) {
        haul__sharer *sharer = &share->sharer[i];
        while (sharer->aside) {
            haul__parcel *parcel = sharer->aside;
            for (at = 0; at < parcel->count && status == HAUL_OK; at++)
                status = settle_one(d, parcel->entry[at]);
            parcel->count = 0;
            if (!parcel->next)
                break;
            sharer->aside = parcel->next;
            share->pool[share->pool_count++] = parcel;
        }
    }
    return status;
}

/* One round. HAUL_ERROR_GRAPH: one thread must do the whole walk. */
static haul_status walk_round(haul__discovery *d, haul__share *share)
{
    const int is_equipped = equip(d, share);
    if (is_equipped)
        haul__pool_run(d->context->pool, SIZE_MAX, 0, share->sharer_count, 1, work, share);
    if (!collect(d, share) || !is_equipped)
        return HAUL_ERROR_MEMORY;
    if (share->stop == HAUL__NEEDS_ONE_THREAD)
        return HAUL_ERROR_GRAPH;
    if (share->stop == HAUL__NEEDS_PARCELS)
        return add_parcels(d, share, share->parcel_count) ? HAUL_OK : HAUL_ERROR_MEMORY;
    return settle_aside(d, share);
}

static haul_status walk_rounds(haul__discovery *d, haul__share *share)
{
    size_t before;
    haul_status status = HAUL_OK;
    do {
        if (share->stop == HAUL__GO_ON && !take_queue(d, share))
            return HAUL_ERROR_MEMORY;
        before = d->found->objects;
        status = walk_round(d, share);
        haul__news_count(d, d->found->objects - before, 0);
        if (status == HAUL_OK)
            status = haul__news(d);
    } while (status == HAUL_OK &&
             (share->stop == HAUL__NEEDS_PARCELS || haul__queue_waiting(d) > FEW));
    return status;
}

haul_status haul__share_walk(haul__discovery *d)
{
    haul_status status = may_share(d);
    haul__share *share;
    size_t bytes;
    if (status != HAUL_OK || d->is_alone)
        return status;
    share = open_share(d);
    if (!share)
        return HAUL_ERROR_MEMORY;
    d->was_shared = 1;
    status = walk_rounds(d, share);
    bytes = d->chunk_bytes + share->parcel_count * sizeof(haul__parcel);
    if (d->found->worklist_bytes < bytes)
        d->found->worklist_bytes = bytes;
    close_share(d, share);
    return status;
}
