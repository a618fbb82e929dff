/* Digests: equal bytes have equal ones, others hardly ever do. They find damage and changes, not
 * malice.
 */
#ifndef HAUL_BASE_DIGEST_H
#define HAUL_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

uint64_t haul__digest(const void *bytes, size_t count, uint64_t seed);
/* Copies, and answers the digest of the copy. */
uint64_t haul__digest_copy(void *to, const void *from, size_t count, uint64_t seed);

#endif
