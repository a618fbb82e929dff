/* The worklist: what was found and waits to be visited.
 *
 * Single objects take 8 bytes each in a first-in-first-out queue of chunks: such a queue can be
 * looked ahead into, and an object whose entry lies a little ahead can be fetched while others are
 * worked on (Cher et al. 2004). Arrays of objects and of pointers take a wider entry on a stack.
 * When the way must be recorded, everything goes through the wide entries, in order and for good.
 */
#include "walk/ruled_field.h"

#define FIRST_CHUNK ((size_t)500)
#define CHUNK ((size_t)1000)
#define MANY_CHUNKS ((size_t)8) /* from here on, lanes */

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

haul__chunk *haul__chunk_take(haul__discovery *d)
{
    haul__chunk *chunk = d->spare;
    if (!chunk)
        return new_chunk(d, CHUNK);
    d->spare = chunk->next;
    chunk->next = NULL;
    chunk->read = chunk->written = 0;
    return chunk;
}

void haul__chunk_put(haul__discovery *d, haul__chunk *chunk)
{
    haul__chunk *last = chunk;
    if (!chunk)
        return;
    while (last->next)
        last = last->next;
    last->next = d->spare;
    d->spare = chunk;
}

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

void haul__worklist_close(haul__discovery *d)
{
    haul__buckets_close(d);
    release_chunks(d, d->head);
    release_chunks(d, d->spare);
    haul__release(d->allocator, d->entries, d->entry_capacity * sizeof *d->entries);
    haul__release(d->allocator, d->around, d->around_capacity * sizeof *d->around);
    haul__release(d->allocator, d->memo, d->memo_capacity * sizeof *d->memo);
    haul__release(d->allocator, d->seen, d->seen_capacity * sizeof *d->seen);
    haul__release(d->allocator, d->aliases, d->alias_capacity * sizeof *d->aliases);
    haul__release(d->allocator, d->survey[0], d->survey_capacity[0] * sizeof *d->survey[0]);
    haul__release(d->allocator, d->survey[1], d->survey_capacity[1] * sizeof *d->survey[1]);
}

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

static size_t memo_place(const haul__discovery *d, uintptr_t address, size_t bytes, const void *as)
{
    size_t mask = d->memo_capacity - 1;
    uint64_t mixed = ((uint64_t)address * 3 + bytes) ^ (uint64_t)(uintptr_t)as;
    size_t at = (size_t)((mixed * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (d->memo[at].address &&
           (d->memo[at].address != address || d->memo[at].bytes != bytes || d->memo[at].as != as))
        at = (at + 1) & mask;
    return at;
}

int haul__memo_has(const haul__discovery *d, uintptr_t address, size_t bytes, const void *as)
{
    return d->memo_count && d->memo[memo_place(d, address, bytes, as)].address;
}

haul_status haul__memo_add(haul__discovery *d, uintptr_t address, size_t bytes, const void *as)
{
    haul__memo *old = d->memo, *entry;
    size_t old_capacity = d->memo_capacity, i;
    if (d->memo_count >= old_capacity / 2) {
        haul__memo *grown;
        size_t capacity = old_capacity ? old_capacity * 2 : 64;
        grown = haul__allocate_zeroed(d->allocator, capacity * sizeof *grown);
        if (!grown)
            return HAUL_ERROR_MEMORY;
        d->memo = grown;
        d->memo_capacity = capacity;
        for (i = 0; i < old_capacity; i++)
            if (old[i].address)
                d->memo[memo_place(d, old[i].address, old[i].bytes, old[i].as)] = old[i];
        haul__release(d->allocator, old, old_capacity * sizeof *old);
    }
    entry = &d->memo[memo_place(d, address, bytes, as)];
    if (!entry->address)
        d->memo_count++;
    entry->address = address;
    entry->bytes = bytes;
    entry->as = as;
    return HAUL_OK;
}
