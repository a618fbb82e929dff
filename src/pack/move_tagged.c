/* Tagged pointers of an arena that moves to another device.
 *
 * A device patches a word if the whole word lies in a range of addresses. A word with tags in its
 * high bits lies in none, so it has no bit in the relocation bitmap. The host knows where the arena
 * will lie when it packs, and writes the address there with the source's tag. When the arena moves,
 * the host reads these words back and works them out again. They are a list by address, so only
 * plans that have them pay.
 *
 * An address with bits of the tag's mask is refused, with its path: address and tag could not be
 * told apart. A pointer to no elements leads somewhere only by chance, so it becomes the tag alone.
 */
#include "pack/move_tagged.h"
#include "pack/special_words.h"
#include "pack/translate.h"

static size_t place_of(const haul_plan *plan, size_t i)
{
    return (size_t)haul__final_place(
        plan, haul__translate(&plan->found.map, plan->found.tagged[i].address));
}

int haul__next_tagged_run(const haul_plan *plan, size_t most, haul__tagged_run *stretch)
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

haul_status haul__move_tagged(haul_plan *plan, const haul__tagged_run *stretch, void *memory,
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
