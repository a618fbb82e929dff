/* Host memory: the allocator, arrays that grow, and reserved ranges.
 */
#ifndef HAUL_BASE_MEMORY_H
#define HAUL_BASE_MEMORY_H

#include "base/base.h"
#include "haul/memory.h"

/* The allocator, or the default one for NULL. Only these two functions take NULL. */
haul_allocator haul__allocator_or_default(const haul_allocator *allocator);
int haul__allocator_is_complete(const haul_allocator *allocator);

/* NULL: there is no memory, `bytes` is 0, or the allocator's result is not aligned as asked. */
void *haul__allocate(const haul_allocator *allocator, size_t bytes, size_t alignment);
void *haul__allocate_zeroed(const haul_allocator *allocator, size_t bytes);
void haul__release(const haul_allocator *allocator, void *memory, size_t bytes);

/* Makes room for `needed` elements in an array that doubles; `array` is the address of the pointer
 * to it. 0: there is no memory, and nothing has changed. */
int haul__grow(const haul_allocator *allocator, void *array, size_t *capacity, size_t needed,
               size_t element_bytes);
/* The same with room for exactly `wanted` elements, more than before: for arrays whose spare room
 * would add up. */
int haul__grow_to(const haul_allocator *allocator, void *array, size_t *capacity, size_t wanted,
                  size_t element_bytes);

/* A range of zeros that costs memory only where it is touched, from the allocator's `reserve`.
 * NULL: the allocator has no `reserve`, or it refuses. The range gets no huge pages; one that is
 * filled from its beginning on (`is_filled`) may get them behind its first 4 MiB. */
void *haul__reserve(const haul_allocator *allocator, size_t bytes, int is_filled);
void haul__unreserve(const haul_allocator *allocator, void *memory, size_t bytes);

#endif
