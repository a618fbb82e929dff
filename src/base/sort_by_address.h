/* Sorting by addresses, with memory.
 */
#ifndef HAUL_BASE_SORT_BY_ADDRESS_H
#define HAUL_BASE_SORT_BY_ADDRESS_H

#include "base/memory.h"

/* As haul__sort, for records whose first member is a uintptr_t that decides before all else.
 * Without memory it takes longer. */
void haul__sort_by_address(const haul_allocator *allocator, void *records, size_t count,
                           size_t record_bytes, int (*before)(const void *a, const void *b));

#endif
