/* Addresses, and their parts in the map:
 *
 *   | block number | cell (7) | granule (5) | byte (4) |        on a 64-bit machine
 *
 * A granule is two words wide, 16 bytes. Where pointers have 4 bytes, all sizes are half of these:
 * a granule has 8 bytes and a block 32 KiB.
 */
#ifndef HAUL_MAP_ADDRESS_H
#define HAUL_MAP_ADDRESS_H

#include "base/base.h"

#if UINTPTR_MAX > 0xffffffffu
#define HAUL__WORD_SHIFT 3u
#define HAUL__ADDRESS_BITS 48u
#else
#define HAUL__WORD_SHIFT 2u
#define HAUL__ADDRESS_BITS 32u
#endif
#define HAUL__GRANULE_SHIFT (HAUL__WORD_SHIFT + 1u)
#define HAUL__CELL_SHIFT (HAUL__GRANULE_SHIFT + 5u)
#define HAUL__BLOCK_SHIFT (HAUL__CELL_SHIFT + 7u)
#define HAUL__PAGE_SHIFT 12u /* byte masks and alignments are stored by pages */

#define HAUL__WORD ((size_t)1 << HAUL__WORD_SHIFT)
#define HAUL__GRANULE ((size_t)1 << HAUL__GRANULE_SHIFT)
#define HAUL__CELL_BYTES ((size_t)1 << HAUL__CELL_SHIFT)
#define HAUL__BLOCK_BYTES ((size_t)1 << HAUL__BLOCK_SHIFT)
#define HAUL__PAGE_BYTES ((size_t)1 << HAUL__PAGE_SHIFT)
#define HAUL__CELLS 128u /* of a block */
#define HAUL__BLOCK_GRANULES ((size_t)4096)
#define HAUL__BLOCK_WORDS (HAUL__BLOCK_GRANULES * 2)
#define HAUL__PAGES (HAUL__BLOCK_BYTES >> HAUL__PAGE_SHIFT) /* of a block */
#define HAUL__PAGE_GRANULES ((size_t)1 << (HAUL__PAGE_SHIFT - HAUL__GRANULE_SHIFT))
#define HAUL__PAGE_CELLS (HAUL__CELLS / (unsigned)HAUL__PAGES)

/* No object lies below HAUL__LOWEST; no process has addresses above HAUL__HIGHEST. */
#define HAUL__LOWEST ((uintptr_t)4096)
#define HAUL__HIGHEST                                                                              \
    (HAUL__ADDRESS_BITS >= 8 * sizeof(void *)                                                      \
         ? UINTPTR_MAX - 4096                                                                      \
         : ((uintptr_t)1 << (HAUL__ADDRESS_BITS % (8 * sizeof(void *)))) - 1)

HAUL__INLINE uint32_t haul__block_number(uintptr_t address)
{
    return (uint32_t)(address >> HAUL__BLOCK_SHIFT);
}

HAUL__INLINE uintptr_t haul__block_address(uint32_t number)
{
    return (uintptr_t)number << HAUL__BLOCK_SHIFT;
}

HAUL__INLINE unsigned haul__cell_number(uintptr_t address)
{
    return (unsigned)(address >> HAUL__CELL_SHIFT) & (HAUL__CELLS - 1);
}

HAUL__INLINE unsigned haul__granule_in_cell(uintptr_t address)
{
    return (unsigned)(address >> HAUL__GRANULE_SHIFT) & 31u;
}

HAUL__INLINE unsigned haul__granule_in_block(uintptr_t address)
{
    return (unsigned)((address >> HAUL__GRANULE_SHIFT) & (HAUL__BLOCK_GRANULES - 1));
}

HAUL__INLINE unsigned haul__word_in_block(uintptr_t address)
{
    return (unsigned)((address >> HAUL__WORD_SHIFT) & (HAUL__BLOCK_WORDS - 1));
}

HAUL__INLINE unsigned haul__word_in_cell(uintptr_t address)
{
    return (unsigned)(address >> HAUL__WORD_SHIFT) & 63u;
}

/* Granules from an address to the end of its block. */
HAUL__INLINE uint64_t haul__granules_left(uintptr_t address)
{
    return HAUL__BLOCK_GRANULES - haul__granule_in_block(address);
}

#endif
