/* An index of a list: it finds the number of an element by a hash of the element's key.
 *
 * A table with open addressing and linear probing, at most half full. A place has half of the hash
 * beside the number. So growing asks for no element, and finding hardly ever for a wrong one.
 */
#ifndef HAUL_BASE_INDEX_H
#define HAUL_BASE_INDEX_H

#include "base/base.h"
#include "base/memory.h"

/* All zeros: an empty one. */
typedef struct haul__index {
    uint64_t *at; /* the upper half of a hash, and below it 1 + a number; 0: free */
    size_t count, capacity;
} haul__index;

/* Only the upper half of a hash counts. */
HAUL__INLINE uint64_t haul__hash(uint64_t word)
{
    return word * UINT64_C(0x9e3779b97f4a7c15);
}

/* The number of the element that has this key; SIZE_MAX: there is none. */
HAUL__INLINE size_t haul__index_find(const haul__index *index, uint64_t hash, const void *list,
                                     const void *key,
                                     int (*has_key)(const void *list, size_t number,
                                                    const void *key))
{
    const size_t mask = index->capacity - 1;
    size_t at;
    if (!index->count)
        return SIZE_MAX;
    for (at = (size_t)(hash >> 32) & mask; index->at[at]; at = (at + 1) & mask)
        if ((index->at[at] ^ hash) >> 32 == 0 && has_key(list, (uint32_t)index->at[at] - 1u, key))
            return (uint32_t)index->at[at] - 1u;
    return SIZE_MAX;
}

/* Adds an element whose key is not there yet. 0: there is no memory, or the number has no room in
 * 32 bits; nothing has changed. */
int haul__index_add(const haul_allocator *allocator, haul__index *index, uint64_t hash,
                    size_t number);
void haul__index_close(const haul_allocator *allocator, haul__index *index);

#endif
