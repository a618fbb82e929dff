/* Checksums: XXH3, from the xxhash library's header. They find damage, not malice.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "image/format.h"

uint64_t haul__image_hash(const void *bytes, size_t count)
{
    return XXH3_64bits(bytes, count);
}

uint64_t haul__image_head_hash(const haul__image_head *head, const haul__image_section *sections)
{
    haul__image_head without = *head;
    without.hash = 0;
    return XXH3_64bits_withSeed(sections, without.section_count * sizeof *sections,
                                XXH3_64bits(&without, sizeof without));
}
