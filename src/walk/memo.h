/* The memo: what was marked or noted before, so that it is not gone through again.
 */
#ifndef HAUL_WALK_MEMO_H
#define HAUL_WALK_MEMO_H

#include "walk/discovery.h"

#define HAUL__MEMO_BYTES ((size_t)4096) /* extents of so many bytes have a memo */
#define HAUL__NOTED ((size_t)16) /* no size that other memos have: of a terminator that is noted */

/* 1: this extent was marked before as the same thing. */
int haul__memo_has(const haul__discovery *d, uintptr_t address, size_t bytes, const void *as);
haul_status haul__memo_add(haul__discovery *d, uintptr_t address, size_t bytes, const void *as);
void haul__memo_close(haul__discovery *d);

#endif
