/* Plans by several threads whose allocator runs out of memory.
 */
#ifndef HAUL_TESTS_STORE_H
#define HAUL_TESTS_STORE_H

#include "haul.h"

/* Makes a plan by three threads, which may all ask the allocator, with so many allocations. Checks
 * that a plan that fails for lack of memory can be repeated, and that all memory is given back.
 * Answers how many allocations there were. */
size_t plan_from_store(haul_source source, size_t allocations, haul_status *status);

#endif
