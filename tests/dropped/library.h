/* What the tests of the libraries' descriptions share. The descriptions are those of
 * tests/acceptance.
 *
 * A test lets the library build its objects, audits and ships them, and reads them in one strict
 * launch. There it may not allocate, so it digests what the library's header says is in the
 * objects. The digest of the original is what the copy's must be.
 */
#ifndef HAUL_TESTS_LIBRARY_H
#define HAUL_TESTS_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "haul.h"

haul_device *library_device(void);
/* Audits, then ships. `block` finds the blocks of an allocator other than malloc, or is NULL. */
haul_shipment *library_ship(haul_device *device, const haul_root *roots, size_t count,
                            size_t (*block)(void *user, const void *address, const void **begin));

/* Adds bytes to a digest. */
void library_digest(uint64_t *digest, const void *bytes, size_t count);

#endif
