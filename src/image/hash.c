/* Checksums: XXH3, from the xxhash library's header. They find damage, not malice.
 *
 * A section is hashed in pieces that stay in a cache, in any order and by any thread. Each piece
 * has its number as seed, so that pieces that changed places are found.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "image/format.h"

uint64_t haul__image_piece_hash(const void *bytes, size_t count, size_t number)
{
    return XXH3_64bits_withSeed(bytes, count, number);
}

uint64_t haul__image_hash(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    size_t number = 0;
    uint64_t hash = 0;
    for (; count > HAUL__IMAGE_PIECE; count -= HAUL__IMAGE_PIECE, at += HAUL__IMAGE_PIECE)
        hash += haul__image_piece_hash(at, HAUL__IMAGE_PIECE, number++);
    return hash + haul__image_piece_hash(at, count, number);
}

uint64_t haul__image_head_hash(const haul__image_head *head, const haul__image_section *sections)
{
    haul__image_head without = *head;
    without.hash = 0;
    return XXH3_64bits_withSeed(sections, without.section_count * sizeof *sections,
                                XXH3_64bits(&without, sizeof without));
}
