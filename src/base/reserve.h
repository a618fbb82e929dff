/* Ranges of addresses that cost memory only where they are touched.
 */
#ifndef HAUL_BASE_RESERVE_H
#define HAUL_BASE_RESERVE_H

#include "base/base.h"

/* Zeros, from the allocator's `reserve`. NULL: it has none, or refuses. Huge pages are asked for
 * nowhere, but in a range that is filled from its beginning on (`is_filled`) the system may use
 * them behind the first few mebibytes. */
void *haul__reserve(const haul_allocator *door, size_t bytes, int is_filled);
void haul__unreserve(const haul_allocator *door, void *memory, size_t bytes);

#endif
