/* Where words of present objects stand.
 *
 * A described pointer has a slot bit in the map of its group's plan. A word that a policy or a
 * HAUL_SKIP has left out has none, but an object that leaves something out has all its room in the
 * arena: the map knows these bytes as a hole. So such a word has a place, and is null there.
 *
 * A hole before the first byte that travels, or behind the last one, lies in no present range. Then
 * each group's map is asked. Each takes one look-up of a block. One word may lie in holes of many
 * groups, and in a present range of one more. So attach.c knows which copy it has attached.
 */
#include "environment/standing.h"
#include "base/index.h"
#include "base/sort_by_address.h"
#include "map/forms.h"
#include "map/found.h"
#include "pack/plan.h"

static const haul__map *map_of(const haul__sent_group *group)
{
    return &haul__plan_found(group->shipment->plan)->map;
}

static int begins_by(const void *ranges, size_t i, uint64_t address)
{
    return ((const haul__covered *)ranges)[i].begin <= address;
}

const haul__covered *haul__covered_at(const haul__sent_group *group, uintptr_t address)
{
    const size_t i = haul__search(group->ranges.at, 0, group->ranges.count, address, begins_by);
    const haul__covered *range = i ? &group->ranges.at[i - 1] : NULL;
    return range && address - range->begin < range->bytes ? range : NULL;
}

static int roomy_begin_by(const void *roomy, size_t i, uint64_t address)
{
    return ((const haul__roomy *)roomy)[i].begin <= address;
}

static int is_roomy_before(const void *a, const void *b)
{
    const haul__roomy *left = a, *right = b;
    return left->begin != right->begin ? left->begin < right->begin : left->end > right->end;
}

/* From ones that end too early to the next that may not. */
static size_t reach_behind(const haul__roomy *roomy, size_t place, uintptr_t address)
{
    while (place > 0 && roomy[place - 1].end <= address)
        place = roomy[place - 1].before;
    return place;
}

int haul__list_roomy(const haul_allocator *allocator, const haul__typed *objects, size_t count,
                     haul__roomy_list *roomy)
{
    const haul_type *full = NULL; /* the last type whose objects fill their range */
    size_t i;
    for (i = 0; i < count; i++) {
        const haul__walk *walk;
        haul__roomy *one;
        if (objects[i].type == full)
            continue;
        walk = haul__type_walk(objects[i].type);
        if (!walk->true_lower && walk->true_upper >= walk->extent && !haul__is_sized(walk)) {
            full = objects[i].type;
            continue;
        }
        one = HAUL__LIST_ADD(allocator, roomy);
        if (!one)
            return 0;
        one->begin = objects[i].begin;
        one->end = objects[i].begin + objects[i].count * (walk->extent ? walk->extent : 1);
        one->first = objects[i].begin + walk->true_lower;
    }
    haul__sort_by_address(allocator, roomy->at, roomy->count, sizeof *roomy->at, is_roomy_before);
    for (i = 0; i < roomy->count; i++)
        roomy->at[i].before = reach_behind(roomy->at, i, roomy->at[i].begin);
    return 1;
}

/* Objects may lie in a hole of others, so the last ones that begin before need not be the right
 * ones. */
const haul__covered *haul__range_around(const haul__sent_group *group, uintptr_t address)
{
    const haul__covered *range = haul__covered_at(group, address);
    size_t place;
    if (range)
        return range;
    place = haul__search(group->roomy.at, 0, group->roomy.count, address, roomy_begin_by);
    place = reach_behind(group->roomy.at, place, address);
    return place ? haul__covered_at(group, group->roomy.at[place - 1].first) : NULL;
}

/* Is the word a part of a hole? Those of objects that have left a group are none. */
static int is_hole(const haul__sent_group *group, uintptr_t word)
{
    const haul__map *map = map_of(group);
    const uint16_t bytes = word % HAUL__GRANULE < HAUL__WORD ? HAUL__LOW_MASK : HAUL__HIGH_MASK;
    const haul__block *block;
    unsigned granule;
    if (word < HAUL__LOWEST || word > HAUL__HIGHEST || word % HAUL__WORD != 0)
        return 0;
    block = haul__map_find(map, word);
    if (!block || !haul__is_placed(block, word) ||
        (group->was_cut && !haul__range_around(group, word)))
        return 0;
    granule = haul__granule_in_block(word);
    return !(bytes &
             (unsigned)(haul__byte_mask(block, granule) | ~haul__hole_mask(block, granule)));
}

/* Finds the word in a hole of a group except `beside`. */
static int find_hole(const haul_environment *e, uintptr_t word, uint32_t beside,
                     haul__standing *standing)
{
    size_t i;
    for (i = 0; i < e->groups.count; i++) {
        const haul__sent_group *group = e->groups.at[i];
        if (!group || i == beside || !is_hole(group, word))
            continue;
        standing->group = (uint32_t)i;
        standing->device = (uintptr_t)(group->shipment->range.address +
                                       haul__place(haul__map_find(map_of(group), word), word));
        return 1;
    }
    return 0;
}

int haul__stands(const haul_environment *e, uintptr_t address, haul__standing *standing)
{
    haul__found_range found;
    if (!haul__present_find(&e->host, address, &found))
        return find_hole(e, address, UINT32_MAX, standing);
    standing->group = found.group;
    standing->device = address + found.delta;
    return 1;
}

/* Is the word, in a present range of the group, a pointer, or was it left out? */
static int is_pointer(const haul__sent_group *group, uintptr_t slot)
{
    const haul__map *map = map_of(group);
    const haul__block *block = haul__map_find(map, slot);
    uint64_t slots = 0;
    if (block && block->form != HAUL__FULL)
        slots = haul__placed_slots(map, block, haul__cell_number(slot));
    return (slots >> haul__word_in_cell(slot) & 1) || is_hole(group, slot);
}

int haul__find_pointer(const haul_environment *e, uintptr_t slot, haul__standing *standing)
{
    haul__found_range found;
    if (slot % HAUL__WORD != 0)
        return 0;
    if (!haul__present_find(&e->host, slot, &found))
        return find_hole(e, slot, UINT32_MAX, standing);
    standing->group = found.group;
    standing->device = slot + found.delta;
    return is_pointer(e->groups.at[found.group], slot) || find_hole(e, slot, found.group, standing);
}
