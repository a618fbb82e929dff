/* Exclusions over the map's blocks (exclusions.h).
 */
#include "map/exclusions.h"
#include "map/spare.h"

#define ALL_PAGES ((uint16_t)((1u << HAUL__PAGES) - 1u))

static haul__exclusions *exclusions_of(haul__map *map, uintptr_t address)
{
    haul__block *block = haul__map_touch(map, address);
    haul__side *side = block ? haul__map_side(map, block) : NULL;
    return side ? &side->exclusions : NULL;
}

/* Words [first, end) of the block. 0: out of memory. */
static int exclude_words(haul__map *map, haul__exclusions *e, size_t first, size_t end,
                         unsigned ways)
{
    if (!e->words) {
        e->words = haul__spare_take(map, HAUL__SIZE_EXCLUDED);
        if (!e->words)
            return 0;
        memset(e->words, 0, HAUL__EXCLUDED_BYTES);
        map->side_bytes += HAUL__EXCLUDED_BYTES;
    }
    while (first < end) {
        const size_t cell = first / 64, stop = end < 64 * cell + 64 ? end : 64 * cell + 64;
        const uint64_t bits = haul__range64((unsigned)(first % 64), (unsigned)((stop - 1) % 64));
        e->words[cell].way[0] |= ways & HAUL__UNSENT ? bits : 0;
        e->words[cell].way[1] |= ways & HAUL__UNRETURNED ? bits : 0;
        first = stop;
    }
    return 1;
}

/* Bytes of the block, all in one page. */
static int exclude_bytes(haul__map *map, haul__exclusions *e, size_t first, size_t end,
                         unsigned ways)
{
    const size_t page = first >> HAUL__PAGE_SHIFT, before = page << HAUL__PAGE_SHIFT;
    unsigned way;
    for (way = 0; first < end && way < 2; way++) {
        uint16_t *masks =
            ways & haul__direction_of(way) ? haul__page_masks(map, &e->bytes[way], page) : NULL;
        if (masks)
            haul__set_bytes(masks, first - before, end - before);
        else if (ways & haul__direction_of(way))
            return 0;
    }
    return 1;
}

/* [first, end) lies in one page. */
static int exclude_in_page(haul__map *map, uintptr_t first, uintptr_t end, unsigned ways)
{
    const size_t from = first & (HAUL__BLOCK_BYTES - 1), to = from + (size_t)(end - first);
    const size_t page = from >> HAUL__PAGE_SHIFT;
    const size_t low = (from + HAUL__WORD - 1) >> HAUL__WORD_SHIFT, high = to >> HAUL__WORD_SHIFT;
    haul__exclusions *e = exclusions_of(map, first);
    unsigned way;
    if (!e)
        return 0;
    for (way = 0; way < 2; way++) {
        if (HAUL__UNLIKELY(to - from == HAUL__PAGE_BYTES) && (ways & haul__direction_of(way)))
            e->whole[way] |= (uint16_t)(1u << page);
        if (HAUL__UNLIKELY(e->whole[way] >> page & 1u))
            ways &= ~haul__direction_of(way);
    }
    if (HAUL__UNLIKELY(!ways))
        return 1;
    if (HAUL__LIKELY((from | to) % HAUL__WORD == 0))
        return exclude_words(map, e, low, high, ways);
    if (low >= high)
        return exclude_bytes(map, e, from, to, ways);
    return exclude_words(map, e, low, high, ways) &&
           exclude_bytes(map, e, from, low << HAUL__WORD_SHIFT, ways) &&
           exclude_bytes(map, e, high << HAUL__WORD_SHIFT, to, ways);
}

int haul__exclude(haul__map *map, uintptr_t first, uintptr_t end, unsigned exclusions)
{
    map->has_exclusions = 1;
    while (first < end) {
        uintptr_t stop = (first | (HAUL__PAGE_BYTES - 1)) + 1;
        if (stop > end || stop == 0)
            stop = end;
        if (!exclude_in_page(map, first, stop, exclusions))
            return 0;
        first = stop;
    }
    return 1;
}

int haul__block_is_excluded(const haul__block *block, unsigned direction)
{
    return block->side && block->side->exclusions.whole[haul__way_of(direction)] == ALL_PAGES;
}

int haul__is_excluded(const haul__map *map, uintptr_t address, unsigned direction)
{
    const haul__block *block = haul__map_find(map, address);
    return block && (haul__excluded_mask(block, haul__granule_in_block(address), direction) >>
                         (address & (HAUL__GRANULE - 1)) &
                     1);
}
