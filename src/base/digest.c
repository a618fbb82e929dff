/* Digests: XXH3, from the xxhash library's header.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/digest.h"

uint64_t haul__digest(const void *bytes, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, count, seed);
}
