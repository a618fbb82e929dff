/* The worklist: what was found and waits to be visited.
 *
 * Single objects take 8 bytes each in a first-in-first-out queue of chunks: such a queue can be
 * looked ahead into, and an object whose entry lies a little ahead can be fetched while others are
 * worked on (Cher et al. 2004). Arrays of objects and of pointers take a wider entry on a stack.
 * When the way must be recorded, everything goes through the wide entries, in order and for good.
 *
 * Where many objects wait, those that lie near one another wait together, in buckets:
 *
 *     queue      being visited        found: to its bucket, by its address
 *     buckets    | 0 | 1 | ... | 63 |     the queue is empty: the next bucket becomes the queue
 *
 * In a large graph whose order is not that of the heap each visit goes to another page and another
 * line. A worklist of one queue takes them as they were found. Buckets cost one more store for each
 * object found, and what is visited in a row then lies in a mebibyte: pages are in the translation
 * buffer still, and some lines in the cache (the gray sets of collectors that are kept by region;
 * radix partitioning in hash joins).
 *
 * It is right because marks do not depend on the order of visits. A bucket is read from where it was
 * taken off: what is found meanwhile goes to a new one, so that batches are as large as what waits
 * allows. A small graph has no buckets.
 */
#include "walk/worklist.h"

#define FIRST_CHUNK ((size_t)500)
#define CHUNK ((size_t)1000)
#define MANY_CHUNKS ((size_t)8) /* from here on, lanes */

/* ---- Chunks. */

static haul__chunk *new_chunk(haul__discovery *d, size_t capacity)
{
    size_t bytes = sizeof(haul__chunk) + capacity * sizeof(uint64_t);
    haul__chunk *chunk = haul__allocate(d->allocator, bytes, 16);
    if (!chunk)
        return NULL;
    chunk->next = NULL;
    chunk->capacity = capacity;
    chunk->read = chunk->written = 0;
    d->chunk_bytes += bytes;
    if (d->found->worklist_bytes < d->chunk_bytes)
        d->found->worklist_bytes = d->chunk_bytes;
    return chunk;
}

static void release_chunks(haul__discovery *d, haul__chunk *chunk)
{
    while (chunk) {
        haul__chunk *next = chunk->next;
        size_t bytes = sizeof *chunk + chunk->capacity * sizeof chunk->entry[0];
        d->chunk_bytes -= bytes;
        haul__release(d->allocator, chunk, bytes);
        chunk = next;
    }
}

static haul__chunk *haul__chunk_take(haul__discovery *d)
{
    haul__chunk *chunk = d->spare;
    if (!chunk)
        return new_chunk(d, CHUNK);
    d->spare = chunk->next;
    chunk->next = NULL;
    chunk->read = chunk->written = 0;
    return chunk;
}

static void haul__chunk_put(haul__discovery *d, haul__chunk *chunk)
{
    haul__chunk *last = chunk;
    if (!chunk)
        return;
    while (last->next)
        last = last->next;
    last->next = d->spare;
    d->spare = chunk;
}

/* ---- Buckets. */

static int haul__buckets_open(haul__discovery *d)
{
    if (!d->lanes)
        d->lanes = haul__allocate_zeroed(d->allocator, HAUL__BUCKETS * sizeof *d->lanes);
    d->is_spread = d->lanes != NULL;
    return d->is_spread;
}

static void haul__buckets_close(haul__discovery *d)
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

/* ---- The queue. */

int haul__queue_open(haul__discovery *d)
{
    d->head = d->tail = new_chunk(d, FIRST_CHUNK);
    return d->head != NULL;
}

HAUL__NOINLINE int haul__queue_room(haul__discovery *d)
{
    haul__chunk *chunk = haul__chunk_take(d);
    if (!chunk)
        return 0;
    d->tail->next = chunk;
    d->tail = chunk;
    d->waiting_chunks++;
    return d->waiting_chunks < MANY_CHUNKS || d->is_spread || haul__buckets_open(d);
}

void haul__queue_advance(haul__discovery *d)
{
    haul__chunk *done = d->head;
    d->head = done->next;
    d->waiting_chunks--;
    done->next = NULL;
    haul__chunk_put(d, done);
}

/* ---- Wide entries. */

haul_status haul__push_entry(haul__discovery *d, const haul__entry *entry)
{
    void *entries = d->entries;
    size_t bytes;
    if (!haul__grow(d->allocator, &entries, &d->entry_capacity, d->entry_count + 1,
                    sizeof *d->entries))
        return HAUL_ERROR_MEMORY;
    d->entries = entries;
    d->entries[d->entry_count++] = *entry;
    bytes = d->chunk_bytes + d->entry_count * sizeof *d->entries;
    if (d->found->worklist_bytes < bytes)
        d->found->worklist_bytes = bytes;
    return HAUL_OK;
}

void haul__worklist_close(haul__discovery *d)
{
    haul__buckets_close(d);
    release_chunks(d, d->head);
    release_chunks(d, d->spare);
    haul__release(d->allocator, d->entries, d->entry_capacity * sizeof *d->entries);
}
