/* Ranges of contents that do not come back, or are others on the device.
 */
#ifndef HAUL_ARENA_STAYING_H
#define HAUL_ARENA_STAYING_H

#include "arena/contents.h"

int haul__contents_keep(haul__contents *contents, size_t at, size_t bytes); /* 0: no memory */
/* The same, of data. */
int haul__contents_exclude(haul__contents *contents, size_t at, size_t bytes);
/* The same, of bytes that are others there: what `becomes` holds; NULL: zeros. */
int haul__contents_replace(haul__contents *contents, size_t at, size_t bytes, const void *becomes);
/* Puts them in order, none over another. 0: no memory. */
int haul__staying_sort(haul__contents *contents);
/* The first of the kept ranges that ends behind `at`. */
size_t haul__first_kept(const haul__contents *contents, size_t at);

#endif
