/* Copies past the caches.
 */
#ifndef HAUL_BASE_STREAM_H
#define HAUL_BASE_STREAM_H

#include "base/base.h"

/* Copies up to this size gain nothing past the caches. */
#define HAUL__STREAM_BYTES ((size_t)16 << 10)

void haul__copy_streaming(void *to, const void *from, size_t bytes);
/* Leaves pages that are equal already as they are; goes past the caches only if four pages in a row
 * have changed. */
void haul__copy_changed(void *to, const void *from, size_t bytes);

#endif
