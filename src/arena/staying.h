/* Ranges of contents that stay on the host, or are edited.
 */
#ifndef HAUL_ARENA_STAYING_H
#define HAUL_ARENA_STAYING_H

#include "arena/contents.h"

int haul__staying_add(haul__contents *contents, size_t at, size_t bytes); /* 0: no memory */
/* The same for data that is excluded from the way back. */
int haul__staying_add_data(haul__contents *contents, size_t at, size_t bytes);
/* The same for bytes that are edited to `becomes` on the device; NULL: to zeros. */
int haul__staying_add_edited(haul__contents *contents, size_t at, size_t bytes,
                             const void *becomes);
/* Sorts the ranges and removes overlaps. 0: no memory. */
int haul__staying_sort(haul__contents *contents);
/* The first range that ends behind `at`. */
size_t haul__first_staying(const haul__contents *contents, size_t at);

#endif
