/* The memo: a set of what was marked or noted before, so that it is not gone through again.
 */
#ifndef HAUL_WALK_MEMO_H
#define HAUL_WALK_MEMO_H

#include "walk/discovery.h"

#define HAUL__MEMO_BYTES ((size_t)4096) /* extents of so many bytes are in it */
#define HAUL__NOTED ((size_t)16)        /* a size that no other entry has: a noted terminator */

/* 1: these bytes were marked before as the same: `as` is a type or a shape; NULL: plain bytes. */
int haul__memo_has(const haul__discovery *d, uintptr_t address, size_t bytes, const void *as);
haul_status haul__memo_add(haul__discovery *d, uintptr_t address, size_t bytes, const void *as);
void haul__memo_close(haul__discovery *d);

#endif
