/* Lanes: where many objects wait, those that lie near one another wait together.
 *
 *     queue    being visited        found: to its lane, by its address
 *     lanes    | 0 | 1 | ... | 63 |     the queue is empty: the next lane becomes the queue
 *
 * In a large graph whose order is not that of the heap each visit goes to another page and another
 * line. A worklist of one queue takes them as they were found. Lanes cost one more store for each
 * object found, and what is visited in a row then lies in a mebibyte: pages are in the translation
 * buffer still, and some lines in the cache (the gray sets of collectors that are kept by region;
 * radix partitioning in hash joins).
 *
 * It is right because marks do not depend on the order of visits. A lane is read from where it was
 * taken off: what is found meanwhile goes to a new one, so that batches are as large as what waits
 * allows. A small graph has no lanes.
 */
#include "walk/discovery.h"

int haul__buckets_open(haul__discovery *d)
{
    if (!d->lanes)
        d->lanes = haul__allocate_zeroed(d->allocator, HAUL__BUCKETS * sizeof *d->lanes);
    d->is_spread = d->lanes != NULL;
    return d->is_spread;
}

void haul__buckets_close(haul__discovery *d)
{
    unsigned i;
    if (!d->lanes)
        return;
    for (i = 0; i < HAUL__BUCKETS; i++)
        haul__chunk_put(d, d->lanes[i].first);
    haul__release(d->allocator, d->lanes, HAUL__BUCKETS * sizeof *d->lanes);
    d->lanes = NULL;
}

HAUL__NOINLINE int haul__bucket_room(haul__discovery *d, haul__bucket *lane)
{
    haul__chunk *chunk = haul__chunk_take(d);
    if (!chunk)
        return 0;
    if (lane->last) {
        lane->last->written = (size_t)(lane->out - lane->last->entry);
        lane->last->next = chunk;
    } else {
        lane->first = chunk;
    }
    lane->last = chunk;
    lane->out = chunk->entry;
    /* the queue's last chunk always has room for one */
    lane->end = chunk->entry + chunk->capacity - 1;
    return 1;
}

/* What has gone through the queue was read: its last chunk is empty. */
static void take_off(haul__discovery *d, haul__bucket *lane)
{
    lane->last->written = (size_t)(lane->out - lane->last->entry);
    haul__chunk_put(d, d->head);
    d->head = lane->first;
    d->tail = lane->last;
    memset(lane, 0, sizeof *lane);
}

int haul__buckets_next(haul__discovery *d)
{
    unsigned i;
    d->waiting_chunks = 0;
    for (i = 0; i < HAUL__BUCKETS; i++) {
        haul__bucket *lane = &d->lanes[++d->at_lane % HAUL__BUCKETS];
        if (lane->out == NULL || lane->out == lane->first->entry)
            continue;
        take_off(d, lane);
        return 1;
    }
    d->is_spread = 0;
    return 0;
}
