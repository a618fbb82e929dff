/* Digests: XXH3, from the xxhash library's header.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/digest.h"
#include "base/digest_wide.h"

uint64_t haul__digest(const void *bytes, size_t count, uint64_t seed)
{
    return haul__has_wide_digests() ? haul__digest_wide(bytes, count, seed)
                                    : XXH3_64bits_withSeed(bytes, count, seed);
}

uint64_t haul__digest_copy(void *to, const void *from, size_t count, uint64_t seed)
{
    if (haul__has_wide_digests())
        return haul__digest_copy_wide(to, from, count, seed);
    memcpy(to, from, count);
    return XXH3_64bits_withSeed(to, count, seed);
}
