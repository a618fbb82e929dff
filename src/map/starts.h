/* Starts beside a block: the words where ranges begin, noted while several threads mark a map.
 *
 * Marks alone do not tell two ranges side by side from one over both. If no two ranges that were
 * found overlap, their starts do: a range ends where the next one starts or a dead byte stands. So
 * a range whose bytes are all live was found before if its first word is a start, none of its
 * further words is, and behind it stands a start or a dead byte. Anything else overlaps.
 *
 * An object with holes begins with its first live word and ends with its last one. A start on a
 * dead word says that the word is a hole between the two, so the words before it and those behind
 * it are one range. Whatever lies in such a hole overlaps, too.
 */
#ifndef HAUL_MAP_STARTS_H
#define HAUL_MAP_STARTS_H

#include "map/map.h"

#define HAUL__START_WORDS (HAUL__BLOCK_WORDS / 64) /* of a block, of 64 bits each */

/* Memory for starts; all zeros: none yet. */
typedef struct haul__start_notes {
    struct haul__start_slab *slabs;
    size_t left; /* blocks that the first slab has room for */
} haul__start_notes;

/* Until layout, the starts of a block stand in the place of its base; NULL: it has none. A uniform
 * block without any is plain: its marks tell the starts, for each of its objects is a range. */
HAUL__INLINE uint64_t *haul__starts_beside(const haul__block *block)
{
    return (uint64_t *)(uintptr_t)block->base;
}

HAUL__INLINE int haul__is_start_beside(const haul__block *block, uintptr_t address)
{
    const uint64_t *starts = haul__starts_beside(block);
    const unsigned word = haul__word_in_block(address);
    return starts && (starts[word / 64] >> (word % 64) & 1);
}

HAUL__INLINE int haul__has_plain_starts(const haul__block *block)
{
    return block && !block->base && haul__is_uniform(block);
}

/* Might some block that touches [first, last] have plain starts? */
HAUL__INLINE int haul__are_plain_starts(const haul__map *map, uintptr_t first, uintptr_t last)
{
    return (first ^ last) >> HAUL__BLOCK_SHIFT != 0 ||
           haul__has_plain_starts(haul__map_find(map, first));
}

/* Gives plain blocks that touch [first, last] room for starts. `is_marked`: with those that their
 * marks tell; else without any, for what has been marked there lately is one range. 0: out of
 * memory. */
int haul__starts_spell(haul__start_notes *notes, const haul__map *map, uintptr_t first,
                       uintptr_t last, int is_marked);

/* Gives a block room for starts. 0: out of memory. */
int haul__starts_add(haul__start_notes *notes, const haul_allocator *allocator, haul__block *block);

/* Notes that a range starts at an address on the grid of words, in a block that is marked. 0: out
 * of memory. */
HAUL__INLINE int haul__note_start(haul__start_notes *notes, const haul_allocator *allocator,
                                  haul__block *block, uintptr_t address)
{
    const unsigned word = haul__word_in_block(address);
    if (HAUL__UNLIKELY(!block->base) && !haul__starts_add(notes, allocator, block))
        return 0;
    haul__starts_beside(block)[word / 64] |= (uint64_t)1 << (word % 64);
    return 1;
}

/* Does some word that [first, end) touches, from a word on, have a start? */
int haul__has_start(const haul__map *map, uintptr_t first, uintptr_t end);
/* Does a range end before this address, which is that of a word? */
int haul__is_range_end(const haul__map *map, uintptr_t address);
/* Is the rest of the word, behind a range that ends within it, dead? */
int haul__is_rest_dead(const haul__map *map, uintptr_t end);
/* All bytes of [first, end) are live: is it a range that was found before? */
int haul__is_known_range(const haul__map *map, uintptr_t first, uintptr_t end);

void haul__starts_close(haul__start_notes *notes, const haul_allocator *allocator);

#endif
