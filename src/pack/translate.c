/* Translation between addresses of the source and places in the arena, and of pointer words.
 */
#include "pack/translate.h"
#include "base/list.h"

static int is_described(const haul_plan *plan, uintptr_t address)
{
    return haul__is_described(&plan->found.map, address);
}

int haul__offset_of(const haul_plan *plan, uintptr_t address, uint64_t *offset)
{
    if (is_described(plan, address)) {
        *offset = haul__final_place(plan, haul__translate(&plan->found.map, address));
        if (*offset)
            return 1;
    }
    if (address && is_described(plan, address - 1)) {
        *offset = haul__final_place(plan, haul__translate(&plan->found.map, address - 1));
        *offset += *offset != 0;
        return *offset != 0;
    }
    return 0;
}

/* Does a gap lie between two bytes, at places `begin` and `end`? */
static int has_gap_between(const haul__map *map, uint64_t begin, uint64_t end)
{
    size_t i = haul__block_of_granule(map, begin >> HAUL__GRANULE_SHIFT);
    const size_t last = haul__block_of_granule(map, end >> HAUL__GRANULE_SHIFT);
    for (; i <= last; i++) {
        const haul__block *block = haul__map_block(map, i);
        const uint64_t at = haul__cell_rank(block, block->gap_cell) << HAUL__GRANULE_SHIFT;
        if (block->gap && begin < at && at <= end)
            return 1;
    }
    return 0;
}

void haul__seek_block(haul__piece_seeker *seeker, uintptr_t address)
{
    const haul_plan *plan = seeker->plan;
    const haul__map *map = &plan->found.map;
    seeker->number = address >> HAUL__BLOCK_SHIFT;
    seeker->block =
        plan->ordered || map->has_placements || address < HAUL__LOWEST || address > HAUL__HIGHEST
            ? NULL
            : haul__map_find(map, address);
    if (seeker->block && seeker->block->gap)
        seeker->block = NULL;
}

/* Compacted places rise with addresses. What has no place shortens distances, and gaps lengthen
 * them. A cluster keeps them. */
uint64_t haul__piece_place(const haul_plan *plan, uintptr_t first, size_t bytes)
{
    const uintptr_t last = first + (bytes ? bytes - 1 : 0);
    const haul__cluster *cluster;
    uint64_t begin, end;
    if (!is_described(plan, first) || !is_described(plan, last))
        return 0;
    begin = haul__translate(&plan->found.map, first);
    end = haul__translate(&plan->found.map, last);
    if (end - begin != last - first || has_gap_between(&plan->found.map, begin, end))
        return 0;
    if (!plan->ordered)
        return begin;
    cluster = haul__cluster_holding(&plan->ordered->clusters, begin);
    return cluster && cluster == haul__cluster_holding(&plan->ordered->clusters, end)
               ? cluster->place + (begin - cluster->compact)
               : 0;
}

/* haul__offset_of for any placed byte, be it sent or not; 0: none. */
static uint64_t place_in_order(const haul_plan *plan, uintptr_t address)
{
    const haul__map *map = &plan->found.map;
    const haul__block *block =
        address < HAUL__LOWEST || address > HAUL__HIGHEST ? NULL : haul__map_find(map, address);
    uint64_t place = 0;
    if (block && haul__is_placed(block, address) && !haul__is_filling(map, block, address))
        place = haul__final_place(plan, haul__place(block, address));
    return place || haul__offset_of(plan, address, &place) ? place : 0;
}

static int is_before_word(const void *resolved, size_t i, uint64_t word)
{
    return ((const haul__resolved *)resolved)[i].word < word;
}

uint64_t haul__target(const haul_plan *plan, uintptr_t word, uintptr_t value)
{
    const haul__ordered *o = plan->ordered;
    size_t i;
    if (!o)
        return haul__translate(&plan->found.map, value);
    i = haul__search(o->resolved, 0, o->resolved_count, word, is_before_word);
    for (; i < o->resolved_count && o->resolved[i].word == word; i++)
        if (o->resolved[i].value == value)
            return o->resolved[i].place;
    return place_in_order(plan, value); /* the value alone tells it */
}

static uintptr_t described_at(const haul_plan *plan, uint64_t offset)
{
    uintptr_t granule;
    if (plan->ordered) {
        const uintptr_t address = haul__ordered_source(plan->ordered, offset);
        return address && is_described(plan, address) ? address : 0;
    }
    if (offset >= plan->placed.granules << HAUL__GRANULE_SHIFT)
        return 0;
    granule = haul__source_of(&plan->found.map, offset >> HAUL__GRANULE_SHIFT);
    if (!granule || !is_described(plan, granule + (offset & (HAUL__GRANULE - 1))))
        return 0;
    return granule + (offset & (HAUL__GRANULE - 1));
}

uintptr_t haul__address_of(const haul_plan *plan, uint64_t offset)
{
    uintptr_t address = described_at(plan, offset);
    if (address || offset == 0)
        return address;
    address = described_at(plan, offset - 1);
    return address ? address + 1 : 0;
}
