/* The part of an index that its users have in common: adding, and growing.
 */
#include "base/index.h"

static void put(haul__index *index, uint64_t entry)
{
    const size_t mask = index->capacity - 1;
    size_t at = (size_t)(entry >> 32) & mask;
    while (index->at[at])
        at = (at + 1) & mask;
    index->at[at] = entry;
}

static int grow(const haul_allocator *allocator, haul__index *index)
{
    haul__index larger = *index;
    size_t i;
    larger.capacity = index->capacity ? 2 * index->capacity : 64;
    larger.at = haul__allocate_zeroed(allocator, larger.capacity * sizeof *larger.at);
    if (!larger.at)
        return 0;
    for (i = 0; i < index->capacity; i++)
        if (index->at[i])
            put(&larger, index->at[i]);
    haul__index_close(allocator, index);
    *index = larger;
    return 1;
}

int haul__index_add(const haul_allocator *allocator, haul__index *index, uint64_t hash,
                    size_t number)
{
    if (number >= UINT32_MAX || (index->count >= index->capacity / 2 && !grow(allocator, index)))
        return 0;
    put(index, hash >> 32 << 32 | (uint64_t)(number + 1));
    index->count++;
    return 1;
}

void haul__index_close(const haul_allocator *allocator, haul__index *index)
{
    haul__release(allocator, index->at, index->capacity * sizeof *index->at);
    memset(index, 0, sizeof *index);
}
