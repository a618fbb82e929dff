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

/* The resolved target of a pointer word with this value; NULL: the value alone tells it. */
static const haul__resolved *find_resolved(const haul__ordered *ordered, uintptr_t word,
                                           uintptr_t value)
{
    size_t i = haul__search(ordered->resolved, 0, ordered->resolved_count, word, is_before_word);
    for (; i < ordered->resolved_count && ordered->resolved[i].word == word; i++)
        if (ordered->resolved[i].value == value)
            return &ordered->resolved[i];
    return NULL;
}

uint64_t haul__target(const haul_plan *plan, uintptr_t word, uintptr_t value)
{
    const haul__resolved *resolved;
    if (!plan->ordered)
        return haul__translate(&plan->found.map, value);
    resolved = find_resolved(plan->ordered, word, value);
    return resolved ? resolved->place : place_in_order(plan, value);
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

/* ---- Words. */

uintptr_t haul__explicit_word(const haul_plan *plan, const haul__explicit *odd, uint64_t base)
{
    uint64_t place;
    if (!odd->value || !haul__offset_of(plan, odd->value + odd->delta, &place))
        return 0;
    if (plan->ordered)
        place = haul__target(plan, odd->address, odd->value + odd->delta);
    return (uintptr_t)(base + place - odd->delta);
}

int haul__tagged_word(const haul_plan *plan, const haul__tagged *tagged, uint64_t there,
                      uintptr_t *word)
{
    uintptr_t address = tagged->value & ~tagged->mask, tag = tagged->value & tagged->mask, copy;
    uint64_t place;
    *word = tag;
    if (!address || !haul__offset_of(plan, address + tagged->delta, &place))
        return 1;
    if (plan->ordered)
        place = haul__target(plan, tagged->address, address + tagged->delta);
    copy = (uintptr_t)(there + place - tagged->delta);
    if ((copy & tagged->mask) == 0)
        *word = copy | tag;
    return (copy & tagged->mask) == 0 || haul__was_empty(&plan->found, tagged->address);
}

int haul__tagged_back(const haul_plan *plan, const haul__tagged *tagged, uintptr_t word,
                      uint64_t there, uintptr_t *value)
{
    uintptr_t copy = word & ~tagged->mask, tag = word & tagged->mask, sent = 0, address;
    *value = tagged->value;
    if (haul__tagged_word(plan, tagged, there, &sent) && word == sent)
        return 1;
    *value = tag;
    if (!copy)
        return 1;
    if (copy == (sent & ~tagged->mask)) { /* the tag alone has changed */
        *value |= tagged->value & ~tagged->mask;
        return 1;
    }
    copy += tagged->delta;
    if (copy < there || copy - there > haul__arena_bytes(plan))
        return 0;
    address = haul__address_of(plan, copy - there);
    *value = (address - tagged->delta) | tag;
    return address != 0 && ((address - tagged->delta) & tagged->mask) == 0;
}

static int is_before_slot(const void *empty, size_t i, uint64_t slot)
{
    return ((const uintptr_t *)empty)[i] < slot;
}

int haul__was_empty(const haul__found *found, uintptr_t slot)
{
    const size_t i = haul__search(found->empty, 0, found->empty_count, slot, is_before_slot);
    return i < found->empty_count && found->empty[i] == slot;
}
