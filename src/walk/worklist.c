/* The worklist: objects and arrays that were found and wait to be visited.
 *
 * A single object takes 8 bytes in a queue of chunks, first in, first out. Entries ahead can be
 * seen, so objects are fetched some entries before they are visited (Cher et al. 2004). Arrays of
 * objects and of pointers take a wider entry, on a stack. In a recording run all entries are wide,
 * are read in order, and stay.
 *
 * If many objects wait, neighbours wait together, in buckets:
 *
 *     queue      being visited            a new object goes to its bucket, by its address
 *     buckets    | 0 | 1 | ... | 63 |     the queue is empty: the next bucket becomes the queue
 *
 * In a large graph that is not in heap order, each visit goes to another page and another line.
 * Buckets cost one more store for each object. Visits in a row then stay in a mebibyte: its pages
 * are still in the translation buffer, and some of its lines in the cache. (Collectors keep gray
 * objects by region; hash joins use radix partitions.)
 *
 * A run in order has the queue alone. Wide entries are then read first in, first out, too: each has
 * an entry of 0 in the queue, for its turn.
 *
 * This is right because marks do not depend on the order of visits. A bucket that becomes the queue
 * leaves an empty one behind, so that its next batch is as large as possible. A small graph has no
 * buckets.
 */
#include "walk/worklist.h"

#define FIRST_CHUNK ((size_t)500)
#define CHUNK ((size_t)1000)
#define MANY_CHUNKS ((size_t)8) /* waiting chunks from which on there are buckets */

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

static haul__chunk *chunk_take(haul__discovery *d)
{
    haul__chunk *chunk = d->spare;
    if (!chunk)
        return new_chunk(d, CHUNK);
    d->spare = chunk->next;
    chunk->next = NULL;
    chunk->read = chunk->written = 0;
    return chunk;
}

static void chunk_put(haul__discovery *d, haul__chunk *chunk)
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

HAUL__NOINLINE int haul__bucket_room(haul__discovery *d, haul__bucket *bucket)
{
    haul__chunk *chunk = chunk_take(d);
    if (!chunk)
        return 0;
    if (bucket->last) {
        bucket->last->written = (size_t)(bucket->out - bucket->last->entry);
        bucket->last->next = chunk;
    } else {
        bucket->first = chunk;
    }
    bucket->last = chunk;
    bucket->out = chunk->entry;
    /* a chunk of the queue always has room for one more */
    bucket->end = chunk->entry + chunk->capacity - 1;
    return 1;
}

int haul__buckets_next(haul__discovery *d)
{
    unsigned i;
    d->waiting_chunks = 0;
    for (i = 0; i < HAUL__BUCKETS; i++) {
        haul__bucket *bucket = &d->buckets[++d->at_bucket % HAUL__BUCKETS];
        if (bucket->out == NULL || bucket->out == bucket->first->entry)
            continue;
        bucket->last->written = (size_t)(bucket->out - bucket->last->entry);
        chunk_put(d, d->head); /* the queue's only chunk, which has been read */
        d->head = bucket->first;
        d->tail = bucket->last;
        memset(bucket, 0, sizeof *bucket);
        return 1;
    }
    d->is_spread = 0;
    return 0;
}

size_t haul__buckets_waiting(const haul__discovery *d)
{
    size_t count = 0;
    unsigned i;
    for (i = 0; d->buckets && i < HAUL__BUCKETS; i++) {
        const haul__bucket *bucket = &d->buckets[i];
        const haul__chunk *chunk;
        for (chunk = bucket->first; chunk && chunk != bucket->last; chunk = chunk->next)
            count += chunk->written;
        count += chunk ? (size_t)(bucket->out - chunk->entry) : 0;
    }
    return count;
}

/* ---- The queue. */

int haul__queue_open(haul__discovery *d)
{
    d->head = d->tail = new_chunk(d, FIRST_CHUNK);
    return d->head != NULL;
}

HAUL__NOINLINE int haul__queue_room(haul__discovery *d)
{
    haul__chunk *chunk = chunk_take(d);
    if (!chunk)
        return 0;
    d->tail->next = chunk;
    d->tail = chunk;
    if (++d->waiting_chunks < MANY_CHUNKS || d->is_spread || d->in_order)
        return 1;
    if (!d->buckets)
        d->buckets = haul__allocate_zeroed(d->allocator, HAUL__BUCKETS * sizeof *d->buckets);
    d->is_spread = d->buckets != NULL;
    return d->is_spread;
}

void haul__queue_advance(haul__discovery *d)
{
    haul__chunk *done = d->head;
    d->head = done->next;
    d->waiting_chunks--;
    done->next = NULL;
    chunk_put(d, done);
}

haul__chunk *haul__queue_next(haul__discovery *d)
{
    while (d->head->read == d->head->written) {
        if (d->head != d->tail) {
            haul__queue_advance(d);
        } else if (!d->is_spread || !haul__buckets_next(d)) {
            d->head->read = d->head->written = 0;
            return NULL;
        }
    }
    return d->head;
}

size_t haul__queue_waiting(const haul__discovery *d)
{
    const haul__chunk *chunk;
    size_t count = 0;
    for (chunk = d->head; chunk; chunk = chunk->next)
        count += chunk->written - chunk->read;
    return count;
}

/* ---- Wide entries. */

haul_status haul__push_entry(haul__discovery *d, const haul__entry *entry)
{
    haul__entry *pushed = HAUL__LIST_ADD(d->allocator, &d->entries);
    size_t bytes;
    if (!pushed)
        return HAUL_ERROR_MEMORY;
    *pushed = *entry;
    bytes = d->chunk_bytes + d->entries.count * sizeof *d->entries.at;
    if (d->found->worklist_bytes < bytes)
        d->found->worklist_bytes = bytes;
    return !d->in_order || haul__queue_push(d, 0, 0, 1) ? HAUL_OK : HAUL_ERROR_MEMORY;
}

void haul__worklist_close(haul__discovery *d)
{
    unsigned i;
    for (i = 0; d->buckets && i < HAUL__BUCKETS; i++)
        chunk_put(d, d->buckets[i].first);
    haul__release(d->allocator, d->buckets, HAUL__BUCKETS * sizeof *d->buckets);
    release_chunks(d, d->head);
    release_chunks(d, d->spare);
    HAUL__LIST_RELEASE(d->allocator, &d->entries);
    HAUL__LIST_RELEASE(d->allocator, &d->known);
}
