/* Words that no slot bit tells: noted one by one, in three lists.
 *
 * A slot bit says: this word is the address of a described byte, on the grid. Whatever else a word
 * of a pointer field can be is an exception, 24 or 32 bytes a word, and only those who have it pay.
 * The blocks that it lies in are told, so that what comes back passes it by. */
#include "walk/listed_words.h"
#include "map/side.h"

static int tell_block(haul__map *map, uintptr_t address)
{
    haul__block *block = haul__map_touch(map, address);
    haul__side *side = block ? haul__map_side(map, block) : NULL;
    if (side)
        side->has_odd = 1;
    return side != NULL;
}

haul_status haul__note_odd(haul__discovery *d, uintptr_t address, uintptr_t value, uintptr_t delta)
{
    haul__found *found = d->found;
    void *odd = found->odd;
    if (!tell_block(d->map, address) || !tell_block(d->map, address + HAUL__WORD - 1) ||
        !haul__grow(d->allocator, &odd, &found->odd_capacity, found->odd_count + 1,
                    sizeof *found->odd))
        return HAUL_ERROR_MEMORY;
    found->odd = odd;
    found->odd[found->odd_count].address = address;
    found->odd[found->odd_count].value = value;
    found->odd[found->odd_count++].delta = delta;
    return HAUL_OK;
}

haul_status haul__note_kept(haul__discovery *d, const haul__kept *word)
{
    haul__found *found = d->found;
    void *kept = found->kept;
    if (!tell_block(d->map, word->address) ||
        !tell_block(d->map, word->address + word->bytes - 1) ||
        !haul__grow(d->allocator, &kept, &found->kept_capacity, found->kept_count + 1,
                    sizeof *found->kept))
        return HAUL_ERROR_MEMORY;
    found->kept = kept;
    found->kept[found->kept_count++] = *word;
    return HAUL_OK;
}

haul_status haul__note_tagged(haul__discovery *d, const haul__tagged *word)
{
    haul__found *found = d->found;
    void *tagged = found->tagged;
    if (!tell_block(d->map, word->address) || !tell_block(d->map, word->address + HAUL__WORD - 1) ||
        !haul__grow(d->allocator, &tagged, &found->tagged_capacity, found->tagged_count + 1,
                    sizeof *found->tagged))
        return HAUL_ERROR_MEMORY;
    found->tagged = tagged;
    found->tagged[found->tagged_count++] = *word;
    return HAUL_OK;
}
