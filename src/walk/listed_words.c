/* Words that slot bits cannot describe, in one list.
 *
 * A slot bit says that a word on the grid is the address of a described byte. Any other word of a
 * pointer field takes 40 bytes in a list (map/found.h). The blocks that such words lie in are
 * flagged, so that the way back leaves the words alone.
 */
#include "walk/listed_words.h"
#include "map/side.h"

static int flag_block(haul__map *map, uintptr_t address)
{
    haul__block *block = haul__map_touch(map, address);
    haul__side *side = block ? haul__map_side(map, block) : NULL;
    if (side)
        side->has_special = 1;
    return side != NULL;
}

haul_status haul__note_special(haul__discovery *d, const haul__special_word *word)
{
    haul__found *found = d->found;
    if (!flag_block(d->map, word->address) ||
        !flag_block(d->map, word->address + word->bytes - 1) ||
        !haul__grow(d->allocator, &found->special, &found->special_capacity,
                    found->special_count + 1, sizeof *found->special))
        return HAUL_ERROR_MEMORY;
    found->special[found->special_count++] = *word;
    return HAUL_OK;
}

haul_status haul__note_explicit(haul__discovery *d, uintptr_t address, uintptr_t value,
                                uintptr_t addend)
{
    haul__special_word word = { 0, 0, 0, 0, HAUL__WORD, HAUL__EXPLICIT, 0, 0 };
    word.address = address;
    word.value = value;
    word.addend = addend;
    return haul__note_special(d, &word);
}

haul_status haul__note_array_end(haul__discovery *d, const haul__array_end *end)
{
    haul__found *found = d->found;
    if (!found->elsewhere)
        return HAUL_OK;
    if (!haul__grow(d->allocator, &found->ends, &found->end_capacity, found->end_count + 1,
                    sizeof *found->ends))
        return HAUL_ERROR_MEMORY;
    found->ends[found->end_count++] = *end;
    return HAUL_OK;
}
