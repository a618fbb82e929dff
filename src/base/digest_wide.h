/* Digests by vectors of 32 bytes, for processors that have them. The answers are those of digest.h.
 */
#ifndef HAUL_BASE_DIGEST_WIDE_H
#define HAUL_BASE_DIGEST_WIDE_H

#include <stddef.h>
#include <stdint.h>

/* Has this processor such vectors? If not, the other functions must not be called. */
int haul__has_wide_digests(void);
uint64_t haul__digest_wide(const void *bytes, size_t count, uint64_t seed);
uint64_t haul__digest_copy_wide(void *to, const void *from, size_t count, uint64_t seed);

#endif
