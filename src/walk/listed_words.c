/* Words that slot bits cannot describe, in three lists.
 *
 * A slot bit says that a word on the grid is the address of a described byte. Any other word of a
 * pointer field takes 24 or 32 bytes in a list: an explicit relocation, a fixed word or a tagged
 * pointer. The blocks that such words lie in are flagged, so that the way back leaves the words
 * alone.
 */
#include "walk/listed_words.h"
#include "map/side.h"

static int flag_block(haul__map *map, uintptr_t address)
{
    haul__block *block = haul__map_touch(map, address);
    haul__side *side = block ? haul__map_side(map, block) : NULL;
    if (side)
        side->has_listed = 1;
    return side != NULL;
}

haul_status haul__note_explicit(haul__discovery *d, uintptr_t address, uintptr_t value,
                                uintptr_t delta)
{
    haul__found *found = d->found;
    if (!flag_block(d->map, address) || !flag_block(d->map, address + HAUL__WORD - 1) ||
        !haul__grow(d->allocator, &found->explicit, &found->explicit_capacity,
                    found->explicit_count + 1, sizeof *found->explicit))
        return HAUL_ERROR_MEMORY;
    found->explicit[found->explicit_count].address = address;
    found->explicit[found->explicit_count].value = value;
    found->explicit[found->explicit_count++].delta = delta;
    return HAUL_OK;
}

haul_status haul__note_fixed(haul__discovery *d, const haul__fixed *word)
{
    haul__found *found = d->found;
    if (!flag_block(d->map, word->address) ||
        !flag_block(d->map, word->address + word->bytes - 1) ||
        !haul__grow(d->allocator, &found->fixed, &found->fixed_capacity, found->fixed_count + 1,
                    sizeof *found->fixed))
        return HAUL_ERROR_MEMORY;
    found->fixed[found->fixed_count++] = *word;
    return HAUL_OK;
}

haul_status haul__note_tagged(haul__discovery *d, const haul__tagged *word)
{
    haul__found *found = d->found;
    if (!flag_block(d->map, word->address) || !flag_block(d->map, word->address + HAUL__WORD - 1) ||
        !haul__grow(d->allocator, &found->tagged, &found->tagged_capacity, found->tagged_count + 1,
                    sizeof *found->tagged))
        return HAUL_ERROR_MEMORY;
    found->tagged[found->tagged_count++] = *word;
    return HAUL_OK;
}
