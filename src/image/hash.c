/* Checksums of images.
 *
 * A section is hashed in pieces that stay in a cache, in any order and by any thread. Each piece
 * has its number as seed, so that pieces that changed places are found.
 */
#include "image/format.h"
#include "base/digest.h"

uint64_t haul__image_piece_hash(const void *bytes, size_t count, size_t number)
{
    return haul__digest(bytes, count, number);
}

uint64_t haul__image_copy_piece(void *to, const void *from, size_t count, size_t number)
{
    return haul__digest_copy(to, from, count, number);
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
    return haul__digest(sections, without.section_count * sizeof *sections,
                        haul__digest(&without, sizeof without, 0));
}
