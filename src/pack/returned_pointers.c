/* Pointers on the way back: those that the device has changed are checked, then written as host
 * pointers.
 *
 * Gather tells the word that it would send now. A word that equals it has not changed; only the
 * others are looked up, from the arena to the source.
 */
#include "map/exclusions.h"
#include "pack/plan_space.h"
#include "pack/returned_pointers.h"
#include "pack/stale.h"
#include "pack/translate.h"

/* The host pointer for the word that came back for a slot. 0: it leads out of the graph. `flat`:
 * the table that shows the plan's map, or NULL. */
static int word_back(const haul_plan *plan, const uintptr_t *flat, uintptr_t slot, uintptr_t word,
                     uint64_t base, uintptr_t *value)
{
    uint64_t place;
    *value = haul__load_word((const void *)slot);
    place = plan->ordered ? haul__target(plan, slot, *value)
                          : haul__translate_in(&plan->found.map, flat, *value);
    if (word == (uintptr_t)(place ? base + place : 0))
        return 1;
    if (!word && !haul__offset_of(plan, *value, &place))
        return 1; /* a pointer to no elements, which was sent as null */
    *value = 0;
    if (!word)
        return 1;
    if (word < base || word - base > haul__arena_bytes(plan))
        return 0;
    *value = haul__address_of(plan, word - base);
    return *value != 0;
}

int haul__returned_word(const haul_plan *plan, uintptr_t slot, uintptr_t word, uint64_t base,
                        uintptr_t *value)
{
    return word_back(plan, NULL, slot, word, base, value);
}

/* Does the pointer lie in bytes that do not come back? */
static int stays(const haul__map *map, const haul__block *block, uintptr_t slot)
{
    return haul__has_exclusions(block) && haul__is_excluded(map, slot, HAUL__UNRETURNED);
}

/* Writes a good pointer, or only checks it. 0: it was checked, and it leads out of the graph. */
static int settle(uintptr_t slot, int is_good, uintptr_t value, int writes)
{
    if (writes && is_good && value != haul__load_word((const void *)slot))
        memcpy((void *)slot, &value, sizeof value);
    return writes || is_good;
}

/* Checks each pointer that comes back, or writes it: slots, then special words. While checking, it
 * counts pointers out of the graph in *outside. If `outside` is NULL, it answers the address of the
 * first one instead; 0: there is none. */
static uintptr_t walk_pointers(haul_plan *plan, const unsigned char *arena, uint64_t base,
                               int writes, size_t *outside)
{
    const haul__map *map = &plan->found.map;
    const uintptr_t *const flat = haul__table_show(&plan->context->table, &plan->found.map);
    const haul__space space = haul__plan_space(plan, base, base);
    uintptr_t value;
    size_t i;
    unsigned cell;
    for (i = 0; i < map->block_count; i++) {
        haul__block *block = haul__plan_block(plan, i);
        uintptr_t address = haul__block_address(map->numbers[i]);
        for (cell = 0; block->form != HAUL__FULL && cell < HAUL__CELLS;
             cell++, address += HAUL__CELL_BYTES) {
            uint64_t slots;
            for (slots = haul__placed_slots(map, block, cell); slots; slots &= slots - 1) {
                uintptr_t slot = address + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
                uintptr_t word = haul__load_word(arena + haul__place(block, slot));
                int is_good = word_back(plan, flat, slot, word, base, &value);
                if (stays(map, block, slot) || settle(slot, is_good, value, writes))
                    continue;
                if (!outside)
                    return slot;
                ++*outside;
            }
        }
    }
    for (i = 0; i < space.count; i++) {
        const haul__special_word *word = &space.words[i];
        const uintptr_t at = word->address;
        int is_good;
        if (!haul__is_pointer(word) || word->is_limit)
            continue;
        is_good = haul__special_to_host(&space, word, (uintptr_t)word->value,
                                        haul__load_word(arena + haul__translate(map, at)), &value);
        if (stays(map, haul__map_find(map, at), at) || settle(at, is_good, value, writes))
            continue;
        if (!outside)
            return at;
        ++*outside;
    }
    return 0;
}

haul_status haul__check_compacted_pointers(haul_plan *plan, const void *arena, uint64_t base,
                                           size_t *outside)
{
    uintptr_t slot = walk_pointers(plan, arena, base, 0, outside);
    haul_status status;
    if (!slot)
        return HAUL_OK;
    status = haul__fail(&plan->context->error, HAUL_ERROR_GRAPH,
                        "the device has left a pointer here that leads out of the graph");
    haul__name_changed(plan, slot, 0);
    return status;
}

void haul__write_compacted_pointers(haul_plan *plan, const void *arena, uint64_t base)
{
    walk_pointers(plan, arena, base, 1, NULL);
}
