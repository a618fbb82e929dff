/* Pointers with high tag bits: worked out by the host.
 *
 * A device patches a word by comparing all of it with a range of addresses; a word whose top bits
 * say something else is in no such range. So these words have no bit in the relocation bitmap. The
 * host knows where the arena will lie when it packs, and writes the address there with the source's
 * tag; when an arena moves to another device they are worked out again, from the words as they are
 * there. They are exceptions: a list by address, of which only those who have them pay.
 *
 * An address that has a bit of the tag's own could not be told from another tag: it is refused,
 * with its path. One to no elements, which leads somewhere only by chance of the heap, is the tag
 * alone then.
 */
#include "pack/plan.h"

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

haul_status haul__refuse_tag(haul_plan *plan, const haul__tagged *tagged)
{
    haul_status status = haul__fail(
        &plan->context->error, HAUL_ERROR_LIMIT,
        "its address in the copy has bits of its tag, 0x%zx: no memory there keeps them free",
        (size_t)tagged->mask);
    haul__name_changed(plan, tagged->address, 0);
    return status;
}

uint16_t haul__tagged_mask(const haul_plan *plan, uintptr_t granule)
{
    const haul__tagged *tagged = plan->found.tagged;
    size_t low = 0, high = plan->found.tagged_count, byte;
    uint16_t mask = 0;
    while (low < high) { /* the first that reaches into the granule */
        size_t middle = low + (high - low) / 2;
        if (tagged[middle].address + HAUL__WORD <= granule)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < plan->found.tagged_count && tagged[low].address < granule + HAUL__GRANULE; low++)
        for (byte = 0; byte < HAUL__WORD; byte++)
            if (tagged[low].address + byte - granule < HAUL__GRANULE)
                mask |= (uint16_t)(1u << (tagged[low].address + byte - granule));
    return mask;
}

/* ---- An arena that has moved. */

static size_t place_of(const haul_plan *plan, size_t i)
{
    return (size_t)haul__final_place(
        plan, haul__translate(&plan->found.map, plan->found.tagged[i].address));
}

int haul__next_stretch(const haul_plan *plan, size_t most, haul__stretch *stretch)
{
    size_t i = stretch->end;
    if (i == plan->found.tagged_count)
        return 0;
    stretch->first = i;
    stretch->at = place_of(plan, i);
    do
        stretch->bytes = place_of(plan, i) + HAUL__WORD - stretch->at;
    while (++i < plan->found.tagged_count && place_of(plan, i) >= place_of(plan, i - 1) &&
           place_of(plan, i) + HAUL__WORD - stretch->at <= most);
    stretch->end = i;
    return 1;
}

haul_status haul__move_tagged(haul_plan *plan, const haul__stretch *stretch, void *memory,
                              uint64_t from, uint64_t to)
{
    const uint64_t bytes = haul__arena_bytes(plan);
    size_t i;
    for (i = stretch->first; i < stretch->end; i++) {
        const haul__tagged *tagged = &plan->found.tagged[i];
        unsigned char *at = (unsigned char *)memory + (place_of(plan, i) - stretch->at);
        uintptr_t word = haul__load_word(at), address = word & ~tagged->mask;
        if (!address || (uintptr_t)(address + tagged->delta - (uintptr_t)from) > bytes)
            continue;
        address += (uintptr_t)(to - from);
        if (address & tagged->mask) {
            if (!haul__was_empty(&plan->found, tagged->address))
                return haul__refuse_tag(plan, tagged);
            address = 0;
        }
        word = address | (word & tagged->mask);
        memcpy(at, &word, sizeof word);
    }
    return HAUL_OK;
}
