/* What the host's graph would be, if an arena that has come back were written to it.
 *
 * Granule by granule: bytes that scatter would write stay as they came, all others are the host's.
 * Only returns that are checked as graphs ask for this (ship/untrusted.c), and their walks take
 * many times as long, so no form of block has a loop of its own.
 */
#include "pack/overlay.h"

#include "map/exclusions.h"
#include "pack/granule_data.h"
#include "pack/translate.h"

static void copy_masked(unsigned char *to, const unsigned char *from, unsigned mask)
{
    unsigned byte;
    for (byte = 0; mask >> byte; byte++)
        if (mask >> byte & 1)
            to[byte] = from[byte];
}

static void overlay_granule(const haul_plan *plan, size_t i, unsigned granule, unsigned char *arena,
                            unsigned char *now, int pointers)
{
    const haul__block *block = haul__plan_block(plan, i);
    const uint32_t number = plan->found.map.numbers[i];
    const uintptr_t address = haul__block_address(number) + (uintptr_t)granule * HAUL__GRANULE;
    const unsigned data = haul__data_mask(plan, block, number, granule);
    const unsigned unsent = haul__excluded_mask(block, granule, HAUL__UNSENT);
    const unsigned unreturned = haul__excluded_mask(block, granule, HAUL__UNRETURNED);
    const unsigned returned = (pointers ? haul__byte_mask(block, granule) : data) & ~unreturned;
    const size_t at = (size_t)haul__final_place(plan, haul__place(block, address));
    copy_masked(now + at, (const unsigned char *)address, data & unsent);
    copy_masked(arena + at, now + at, ~returned & HAUL__FULL_MASK);
}

/* Words that are worked out anew for each copy never come back. */
static void overlay_words(const haul_plan *plan, unsigned char *arena, const unsigned char *now)
{
    const haul__found *found = &plan->found;
    size_t i;
    for (i = 0; i < found->special_count; i++) {
        const haul__special_word *word = &found->special[i];
        size_t at;
        if (haul__is_pointer(word) && !word->is_limit)
            continue;
        at = (size_t)haul__final_place(plan, haul__translate(&found->map, word->address));
        memcpy(arena + at, now + at, word->bytes);
    }
}

void haul__overlay(const haul_plan *plan, unsigned char *arena, unsigned char *now, int pointers)
{
    const haul__map *map = &plan->found.map;
    size_t i;
    unsigned granule;
    for (i = 0; i < map->block_count; i++)
        for (granule = 0; granule < HAUL__CELLS * 32u; granule++)
            if (haul__is_placed(haul__plan_block(plan, i), haul__block_address(map->numbers[i]) +
                                                               (uintptr_t)granule * HAUL__GRANULE))
                overlay_granule(plan, i, granule, arena, now, pointers);
    overlay_words(plan, arena, now);
}
