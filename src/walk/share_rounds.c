/* The rounds of a shared walk (share.c): its memory, and what the caller's thread does before and
 * after the threads work.
 */
#include "walk/share_rounds.h"
#include "map/mark.h"
#include "walk/aliases.h"
#include "walk/mark_inline.h"
#include "walk/news.h"
#include "walk/parcels.h"
#include "walk/share_parts.h"

#define STOCK_LEAST ((size_t)64)
/* Rounded up: where pointers have 4 bytes, a parcel is no whole number of words. */
#define PARCEL_WORDS ((sizeof(haul__parcel) + sizeof(uint64_t) - 1) / sizeof(uint64_t))
#define ROUNDS 2u /* of parcels that each thread has at first */

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

/* Parcels that are free: those of the pool, and those that threads have kept. */
static size_t free_parcels(const haul__share *share)
{
    size_t count = share->pool_count - share->pool_taken, i;
    for (i = 0; i < share->sharer_count; i++)
        count += share->sharer[i].spare_count + share->sharer[i].fresh_count;
    return count;
}

/* A round has ended for lack of parcels: threads give back what they have kept, and if that is
 * little, there are more. 0: out of memory. */
static int find_parcels(haul__discovery *d, haul__share *share)
{
    size_t left = 0, i;
    while (share->pool_taken < share->pool_count)
        share->pool[left++] = share->pool[share->pool_taken++];
    for (i = 0; i < share->sharer_count; i++) {
        haul__sharer *sharer = &share->sharer[i];
        while (sharer->fresh_count)
            share->pool[left++] = sharer->fresh[--sharer->fresh_count];
        for (; sharer->spare; sharer->spare = sharer->spare->next)
            share->pool[left++] = sharer->spare;
        sharer->spare_count = 0;
    }
    share->pool_taken = 0;
    share->pool_count = left;
    return left > share->parcel_count / 4 * 3 || add_parcels(d, share, share->parcel_count);
}

/* A parcel from the pool, which may be empty; NULL: out of memory. */
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

int haul__add_visit(haul__discovery *d, haul__share *share, const uint64_t *entry, size_t words)
{
    haul__district *district = haul__district_of(share, HAUL__ENTRY_ADDRESS(entry[0]));
    const unsigned kind = words > 1 ? HAUL__RANGES : HAUL__SINGLES;
    haul__parcel *open = district->open[kind];
    memcpy(open->entry + open->count, entry, words * sizeof *entry);
    open->count += words;
    district->has_visits = 1;
    if (open->count < HAUL__PARCEL)
        return 1;
    open = take_parcel(d, share);
    if (!open)
        return 0;
    open->kind = kind;
    open->next = district->open[kind];
    district->open[kind] = open;
    return 1;
}

/* Many pieces in a row are one entry, in a parcel of its own. */
int haul__add_visits(haul__discovery *d, haul__share *share, uint64_t entry, uint64_t bytes,
                     size_t piece)
{
    const uint64_t most = HAUL__PARCEL / 2 * piece;
    for (; bytes >= most; entry += most, bytes -= most) {
        haul__district *district = haul__district_of(share, HAUL__ENTRY_ADDRESS(entry));
        haul__parcel *open = district->open[HAUL__RANGES], *parcel = take_parcel(d, share);
        if (!parcel)
            return 0;
        parcel->kind = HAUL__RANGES;
        parcel->entry[parcel->count++] = entry;
        parcel->entry[parcel->count++] = most;
        parcel->next = open->next;
        open->next = parcel;
        district->has_visits = 1;
    }
    while (bytes) {
        const uint64_t part[2] = { entry, bytes < piece ? bytes : piece };
        if (!haul__add_visit(d, share, part, 2))
            return 0;
        entry += part[1];
        bytes -= part[1];
    }
    return 1;
}

static int open_districts(haul__discovery *d, haul__share *share)
{
    unsigned i, kind;
    for (i = 0; i < HAUL__DISTRICTS; i++)
        for (kind = 0; kind < (share->aims ? HAUL__KINDS : 1u); kind++) {
            haul__parcel *parcel = take_parcel(d, share);
            if (!parcel)
                return 0;
            parcel->kind = kind;
            share->district[i].open[kind] = parcel;
        }
    return 1;
}

void haul__share_close(haul__discovery *d, haul__share *share)
{
    const size_t bytes = d->chunk_bytes + share->parcel_count * sizeof(haul__parcel);
    size_t i;
    if (d->found->worklist_bytes < bytes)
        d->found->worklist_bytes = bytes;
    d->context->parcel_count = share->parcel_count;
    for (i = 0; i < share->slabs.count; i++)
        haul__notes_keep(d->context, &d->context->parcels, share->slabs.at[i].words,
                         share->slabs.at[i].capacity);
    HAUL__LIST_RELEASE(d->allocator, &share->slabs);
    for (i = 0; share->sharer && i < share->sharer_count; i++) {
        const haul__found *found = &share->sharer[i].found;
        haul__release(d->allocator, found->empty, found->empty_capacity * sizeof *found->empty);
        haul__starts_close(&share->sharer[i].starts, d->allocator);
        HAUL__LIST_RELEASE(d->allocator, &share->sharer[i].walk.aliases);
    }
    haul__release(d->allocator, share->fresh,
                  share->sharer_count * share->parcels_needed * sizeof *share->fresh);
    haul__release(d->allocator, share->pool, share->pool_capacity * sizeof *share->pool);
    haul__release(d->allocator, share->sharer, share->sharer_count * sizeof *share->sharer);
    haul__release(d->allocator, share, sizeof *share);
}

haul__share *haul__share_open(haul__discovery *d, const haul__aims *aims)
{
    haul__share *share = haul__allocate_zeroed(d->allocator, sizeof *share);
    size_t i, pointers = 1, least;
    if (!share)
        return NULL;
    for (i = 0; i < d->met_type_count; i++) {
        const haul__met_type *met = &d->met_types[i];
        if (pointers < met->edge_count)
            pointers = met->edge_count;
        share->has_whole |= !met->simple.words;
        share->has_ragged |= met->simple.words || met->ragged.reach;
    }
    if (aims)
        pointers = aims->most_pointers + aims->most_pieces + aims->most_reads;
    share->flat = d->map->flat;
    share->map = d->map;
    share->aims = aims;
    share->parcels_needed = pointers + haul__outlets(share) + 4;
    share->sharer_count = d->context->options.threads < HAUL__POOL_CHUNKS
                              ? d->context->options.threads
                              : HAUL__POOL_CHUNKS;
    share->sharer =
        haul__allocate_zeroed(d->allocator, share->sharer_count * sizeof *share->sharer);
    share->fresh = haul__allocate(
        d->allocator, share->sharer_count * share->parcels_needed * sizeof *share->fresh,
        sizeof *share->fresh);
    for (i = 0; share->sharer && i < share->sharer_count; i++) {
        haul__quarter *quarter = &share->sharer[i].quarter;
        share->sharer[i].fresh = share->fresh ? share->fresh + i * share->parcels_needed : NULL;
        quarter->first = (unsigned)(i * HAUL__DISTRICTS / share->sharer_count);
        quarter->count =
            (unsigned)((i + 1) * HAUL__DISTRICTS / share->sharer_count) - quarter->first;
    }
    least = ROUNDS * share->sharer_count * share->parcels_needed + haul__outlets(share);
    if (share->sharer && share->fresh &&
        ((d->context->parcel_count > least && add_parcels(d, share, d->context->parcel_count)) ||
         add_parcels(d, share, least)) &&
        open_districts(d, share))
        return share;
    haul__share_close(d, share);
    return NULL;
}

/* ---- A round. */

/* Each thread gets blocks in advance. 0: out of memory. */
static int fill_stocks(haul__discovery *d, haul__share *share)
{
    size_t blocks = 2 * d->map->block_count / share->sharer_count, i;
    if (blocks < STOCK_LEAST)
        blocks = STOCK_LEAST;
    if (blocks > HAUL__STOCK)
        blocks = HAUL__STOCK;
    for (i = 0; i < share->sharer_count; i++)
        if (!haul__stock_fill(d->map, &share->sharer[i].stock, share->has_whole ? blocks : 0,
                              share->has_ragged ? blocks : 0))
            return 0;
    return 1;
}

/* Before a round: each thread gets blocks, or may make some, and parcels lie ready. 0: out of
 * memory. */
static int equip(haul__discovery *d, haul__share *share)
{
    const size_t ready = free_parcels(share),
                 wanted = ROUNDS * share->sharer_count * share->parcels_needed;
    int is_equipped = 1;
    share->has_parts = share->aims || haul__threads_may_allocate(d->context);
    if (share->has_parts)
        haul__give_parts(d, share);
    else
        is_equipped = fill_stocks(d, share);
    share->types = d->met_types;
    share->type_count = d->met_type_count;
    share->stop = HAUL__GO_ON;
    share->news_at = d->news.is_wanted ? d->news.next : 0;
    share->objects = d->found->objects;
    share->objects_left = d->context->options.max_objects - d->found->objects;
    return is_equipped && (ready >= wanted || add_parcels(d, share, wanted - ready));
}

static void work(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    haul__share *share = user;
    size_t i;
    (void)number;
    (void)scratch;
    for (i = first; i < end; i++) {
        share->sharer[i].thread = haul__thread();
        haul__share_work(share, &share->sharer[i]);
    }
}

/* Adds what a thread has found. 0: out of memory. */
static int add_found(haul__discovery *d, uintptr_t thread, size_t objects)
{
    haul__course *course = &d->found->course;
    haul__finder *finder;
    size_t i = 0;
    while (i < course->finders.count && course->finders.at[i].thread != thread)
        i++;
    if (i < course->finders.count) {
        course->finders.at[i].objects += objects;
        return 1;
    }
    finder = HAUL__LIST_ADD(d->allocator, &course->finders);
    if (!finder)
        return 0;
    finder->thread = thread;
    finder->objects = objects;
    return 1;
}

/* After a round: the map learns of new blocks. 0: out of memory. */
static int collect(haul__discovery *d, haul__share *share)
{
    size_t i;
    int has_room = add_found(d, haul__thread(), 0); /* the caller's comes first */
    if (share->pool_taken > share->pool_count)
        share->pool_taken = share->pool_count;
    for (i = 0; i < share->sharer_count; i++) {
        haul__sharer *sharer = &share->sharer[i];
        has_room &= share->has_parts ? haul__map_join(d->map, &sharer->found.map)
                                     : haul__stock_end(d->map, &sharer->stock);
        d->found->objects += sharer->objects;
        if (sharer->thread)
            has_room &= add_found(d, sharer->thread, sharer->objects);
        sharer->thread = 0;
        if (share->aims)
            d->news.single_bytes += sharer->bytes;
        else
            haul__news_count(d, sharer->objects, 0);
        sharer->objects = 0;
        sharer->bytes = 0;
    }
    return has_room;
}

/* What the threads have put aside. */
static haul_status settle_aside(haul__discovery *d, haul__share *share, haul__settle_one *settle)
{
    const size_t words = share->aims ? 2 : 1;
    haul_status status = HAUL_OK;
    size_t i, at;
    for (i = 0; i < share->sharer_count; i++) {
        haul__sharer *sharer = &share->sharer[i];
        while (sharer->aside) {
            haul__parcel *parcel = sharer->aside;
            for (at = 0; at < parcel->count && status == HAUL_OK; at += words) {
                status = haul__news(d);
                if (status != HAUL_OK)
                    break;
                status = settle(d, share, parcel->entry[at], words > 1 ? parcel->entry[at + 1] : 0);
            }
            parcel->count = 0;
            if (!parcel->next)
                break;
            sharer->aside = parcel->next;
            haul__put_spare(sharer, parcel);
        }
    }
    return status;
}

haul_status haul__share_round(haul__discovery *d, haul__share *share, haul__settle_one *settle)
{
    const int is_equipped = equip(d, share);
    haul_status status;
    if (is_equipped)
        haul__pool_run(d->context->pool, SIZE_MAX, 0, share->sharer_count, 1, work, share);
    if (!collect(d, share) || !is_equipped)
        return HAUL_ERROR_MEMORY;
    if (share->stop == HAUL__NEEDS_MEMORY)
        return HAUL_ERROR_MEMORY;
    if (share->stop == HAUL__NEEDS_ONE_THREAD)
        return HAUL_ERROR_GRAPH;
    status = d->news.is_wanted ? haul__news_tell(d) : HAUL_OK;
    if (status != HAUL_OK || share->stop == HAUL__HAS_NEWS)
        return status;
    if (share->stop == HAUL__NEEDS_PARCELS)
        return find_parcels(d, share) ? HAUL_OK : HAUL_ERROR_MEMORY;
    return settle_aside(d, share, settle);
}
