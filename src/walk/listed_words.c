/* Words that slot bits cannot describe, in one list.
 *
 * A slot bit says that a word on the grid is the address of a described byte. Any other word of a
 * pointer field takes 40 bytes in a list (map/found.h). The blocks that such words lie in are
 * flagged, so that the way back leaves the words alone.
 *
 * Pointers off the grid of plain structs are listed when the struct is visited. Its bytes may have
 * been found as plain bytes before; then nothing in it is new, and only a bit for each such pointer
 * tells that it must be visited.
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

haul_status haul__note_explicit(haul__discovery *d, uintptr_t address, uintptr_t value)
{
    haul__special_word word = { 0, 0, 0, 0, HAUL__WORD, HAUL__EXPLICIT, 0, 0 };
    word.address = address;
    word.value = value;
    return haul__note_special(d, &word);
}

/* Notes that a pointer off the grid begins at the address. 1: it is new; 0: it was known; -1: out
 * of memory. */
static int note_begin(haul__map *map, uintptr_t address)
{
    const unsigned granule = haul__granule_in_block(address);
    haul__block *block = haul__map_touch(map, address);
    haul__side *side = block ? haul__map_side(map, block) : NULL;
    uint16_t *masks =
        side ? haul__page_masks(map, &side->off_grid, granule / HAUL__PAGE_GRANULES) : NULL;
    const uint16_t bit = (uint16_t)(1u << (address & (HAUL__GRANULE - 1)));
    int is_new;
    if (!masks)
        return -1;
    is_new = (masks[granule % HAUL__PAGE_GRANULES] & bit) == 0;
    masks[granule % HAUL__PAGE_GRANULES] |= bit;
    return is_new;
}

haul_status haul__note_off_grid(haul__discovery *d, const haul__walk *walk, uintptr_t object,
                                size_t bytes, int *any)
{
    size_t i;
    int is_new = 0;
    for (i = 0; walk->is_off_grid && i < walk->slot_count && is_new >= 0; i++) {
        const haul__slot *slot = &walk->slots[i];
        const uintptr_t at = object + slot->offset;
        if (at % HAUL__WORD == 0 || slot->offset >= bytes || haul__is_lone_end(slot, bytes))
            continue;
        is_new = note_begin(d->map, at);
        *any |= is_new > 0;
    }
    return is_new >= 0 ? HAUL_OK : HAUL_ERROR_MEMORY;
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
