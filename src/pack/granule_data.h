/* The bytes of one granule: which of them are data, and how they are written.
 */
#ifndef HAUL_PACK_GRANULE_DATA_H
#define HAUL_PACK_GRANULE_DATA_H

#include "map/exclusions.h"
#include "pack/plan_struct.h"
#include "pack/special_words.h"

/* ---- The first bytes of a granule, as the end of a string or an array leaves them: 1 to 15. Two
 * words that may overlap are all of them, so none behind them is read. If the granule before is
 * whole, and lies before it in both memories, the words may overlap that. Then there is no branch
 * on the number, which nothing could guess. */

/* Copies them, and zeros for the rest. */
HAUL__INLINE void haul__copy_first(unsigned char *to, const unsigned char *from, unsigned bytes,
                                   int is_behind_whole)
{
    memset(to, 0, HAUL__GRANULE);
    if (is_behind_whole) {
        memcpy(to + bytes - HAUL__GRANULE, from + bytes - HAUL__GRANULE, HAUL__GRANULE);
    } else if (bytes >= 8) {
        memcpy(to, from, 8);
        memcpy(to + bytes - 8, from + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(to, from, 4);
        memcpy(to + bytes - 4, from + bytes - 4, 4);
    } else {
        to[0] = from[0];
        to[bytes / 2] = from[bytes / 2];
        to[bytes - 1] = from[bytes - 1];
    }
}

/* A number that is 0 if two times eight bytes are equal. */
HAUL__INLINE uint64_t haul__differ_eight(const unsigned char *a, const unsigned char *b)
{
    uint64_t left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return left ^ right;
}

HAUL__INLINE int haul__granules_differ(const unsigned char *a, const unsigned char *b)
{
    return (haul__differ_eight(a, b) |
            haul__differ_eight(a + HAUL__GRANULE - 8, b + HAUL__GRANULE - 8)) != 0;
}

/* Writes those that differ. */
HAUL__INLINE void haul__write_first(unsigned char *to, const unsigned char *from, unsigned bytes,
                                    int is_behind_whole)
{
    unsigned byte;
    if (is_behind_whole &&
        !haul__granules_differ(to + bytes - HAUL__GRANULE, from + bytes - HAUL__GRANULE))
        return;
    if (bytes >= 8 &&
        !(haul__differ_eight(to, from) | haul__differ_eight(to + bytes - 8, from + bytes - 8)))
        return;
    for (byte = 0; byte < bytes; byte++)
        if (to[byte] != from[byte])
            to[byte] = from[byte];
}

/* ---- Any bytes. */

/* The bytes of `mask`, and zeros for the rest. */
HAUL__INLINE void haul__copy_masked(unsigned char *to, const unsigned char *from, uint16_t mask)
{
    unsigned byte;
    if (mask == HAUL__FULL_MASK) {
        memcpy(to, from, HAUL__GRANULE);
        return;
    }
    memset(to, 0, HAUL__GRANULE);
    if (mask == HAUL__LOW_MASK || mask == HAUL__HIGH_MASK) {
        const size_t at = mask == HAUL__HIGH_MASK ? HAUL__WORD : 0;
        memcpy(to + at, from + at, HAUL__WORD);
        return;
    }
    for (byte = 0; mask >> byte; byte++)
        if (mask >> byte & 1)
            to[byte] = from[byte];
}

/* Copies the bytes that `mask` names. Equal bytes are not written. */
HAUL__INLINE void haul__copy_bytes(unsigned char *to, const unsigned char *from, uint16_t mask)
{
    unsigned byte;
    if (mask == HAUL__FULL_MASK) {
        if (memcmp(to, from, HAUL__GRANULE) != 0)
            memcpy(to, from, HAUL__GRANULE);
        return;
    }
    if (mask == HAUL__LOW_MASK || mask == HAUL__HIGH_MASK) {
        byte = mask == HAUL__HIGH_MASK ? (unsigned)HAUL__WORD : 0;
        if (memcmp(to + byte, from + byte, HAUL__WORD) != 0)
            memcpy(to + byte, from + byte, HAUL__WORD);
        return;
    }
    for (byte = 0; mask; byte++, mask >>= 1)
        if ((mask & 1) && to[byte] != from[byte])
            to[byte] = from[byte];
}

/* The bytes of a placed granule that are described and belong to no pointer. Layout must be done.
 * `slots`: those of its cell. */
HAUL__INLINE uint16_t haul__data_beside(const haul_plan *plan, const haul__block *block,
                                        uint32_t number, unsigned granule, uint64_t slots)
{
    const unsigned both = (unsigned)(slots >> (granule % 32 * 2)) & 3u;
    const uint16_t mask = haul__byte_mask(block, granule) & (uint16_t)~haul__bytes_of_words(both);
    return block->side && block->side->has_special
               ? mask & (uint16_t)~haul__special_mask(&plan->found,
                                                      haul__block_address(number) +
                                                          (uintptr_t)granule * HAUL__GRANULE)
               : mask;
}

HAUL__INLINE uint16_t haul__data_mask(const haul_plan *plan, const haul__block *block,
                                      uint32_t number, unsigned granule)
{
    return haul__data_beside(plan, block, number, granule,
                             haul__placed_slots(&plan->found.map, block, granule / 32));
}

/* Copies the bytes that `mask` names. Equal bytes are not written, except `blind` ones, which are
 * written without a comparison. */
HAUL__INLINE void haul__write_bytes(unsigned char *to, const unsigned char *from, uint16_t mask,
                                    uint16_t blind)
{
    uint16_t written = mask & blind;
    unsigned byte;
    if (written == HAUL__FULL_MASK) {
        memcpy(to, from, HAUL__GRANULE);
        return;
    }
    if (written == HAUL__LOW_MASK || written == HAUL__HIGH_MASK) {
        byte = written == HAUL__HIGH_MASK ? (unsigned)HAUL__WORD : 0;
        memcpy(to + byte, from + byte, HAUL__WORD);
        written = 0;
    }
    for (byte = 0; written >> byte; byte++)
        if (written >> byte & 1)
            to[byte] = from[byte];
    if (mask & ~blind)
        haul__copy_bytes(to, from, mask & (uint16_t)~blind);
}

/* Has the block bytes that are not sent or do not come back, or special words? */
HAUL__INLINE int haul__is_cut(const haul__block *block)
{
    return haul__has_exclusions(block) || (block->side && block->side->has_special);
}

/* Writes the `data` of a granule of which some bytes may be excluded. A byte that was not sent may
 * be uninitialised on the host, so it is not compared. */
HAUL__INLINE void haul__scatter_partly(const haul__block *block, unsigned granule,
                                       unsigned char *to, const unsigned char *from, uint16_t data)
{
    const uint16_t stays = haul__excluded_mask(block, granule, HAUL__UNRETURNED);
    haul__write_bytes(to, from, data & (uint16_t)~stays,
                      haul__excluded_mask(block, granule, HAUL__UNSENT));
}

#endif
