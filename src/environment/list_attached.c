/* Which pointers of present objects lead into a new group.
 *
 * When such an object was sent, the pointer was null, or led elsewhere. A walk that stops at the
 * object shows that it is a neighbour of what is new, as in a list with pointers both ways. So all
 * pointers of the ranges that the walk has stopped at are read on the host. The slot bits of the
 * object's own plan tell where they are. Words that no slot bit tells (tags, bases, distances) stay
 * as they were.
 *
 * The end of an array goes with its array: where that begins tells whether it leads into the group.
 */
#include "environment/list_attached.h"
#include "environment/array_ends.h"
#include "environment/look_up.h"
#include "environment/standing.h"
#include "map/forms.h"
#include "pack/plan_struct.h"

/* What lists the pointers that lead into a group. */
typedef struct pointer_lister {
    haul_environment *e;
    haul__sent_group *group;
    const haul__map *map;  /* the group's */
    const uintptr_t *flat; /* the table that shows it; NULL: none does */
    /* A block of another group: stops come in order of address, so it often is the last one again.
     * block_map NULL: there is none yet; block NULL: there is none, or it has no pointers. */
    uint32_t block_group;
    uintptr_t block_number;
    const haul__map *block_map;
    const haul__block *block;
} pointer_lister;

/* The device's address of a byte of the group; 0: it is none. The group's map tells both at once,
 * except for bytes that are not live. */
HAUL__HOT static uintptr_t address_in(const pointer_lister *l, uintptr_t address)
{
    const haul__sent_group *group = l->group;
    const haul__covered *range = NULL;
    const haul__block *block = address < HAUL__LOWEST || address > HAUL__HIGHEST
                                   ? NULL
                                   : haul__map_find_in(l->map, l->flat, address);
    if (!block || !haul__is_placed(block, address))
        return 0;
    if (!haul__has_masks(block) ||
        haul__byte_mask(block, haul__granule_in_block(address)) >> address % HAUL__GRANULE & 1)
        return (uintptr_t)(group->shipment->range.address + haul__place(block, address));
    range = haul__covered_at(group, address);
    return range ? range->device + (address - range->begin) : 0;
}

/* Does the table alone tell that a byte is none of the group? Most pointers lead elsewhere. */
HAUL__INLINE int is_outside(const uintptr_t *flat, uintptr_t address)
{
    uintptr_t entry;
    if (!address)
        return 1;
    if (!flat || address > HAUL__HIGHEST)
        return 0;
    entry = flat[address >> HAUL__BLOCK_SHIFT];
    if (!(entry & 1)) /* none, or a full block, whose entry has its form */
        return !entry;
    return !(haul__cell_of(haul__block_in(entry), address)->live >> haul__granule_in_cell(address) &
             1);
}

/* `bytes`: of the array that the pointer is the end of; else 0. */
static int list_pointer(const pointer_lister *l, uintptr_t slot, const haul__stop *stop,
                        uintptr_t target, uintptr_t bytes)
{
    haul__attached *one = HAUL__LIST_ADD(&l->e->context->allocator, &l->group->attached);
    if (!one)
        return 0;
    one->host = slot;
    one->device = slot + stop->delta;
    one->value = target + bytes;
    one->stands_in = stop->group;
    one->is_end = bytes != 0;
    return 1;
}

/* Lists the ends in ranges of one group whose arrays lie in the new one. 0: out of memory. */
static int list_ends(const pointer_lister *l, const haul__stop *stops, size_t count)
{
    const haul__found *found = haul__group_found(l->e, stops->group);
    size_t i, k;
    for (i = 0; i < count && found->end_count > 0; i++) {
        k = haul__first_array_end(found, stops[i].begin);
        for (; k < found->end_count && found->ends[k].word + HAUL__WORD <= stops[i].end; k++) {
            const haul__array_end *end = &found->ends[k];
            const uintptr_t target =
                haul__is_array_end(end) ? address_in(l, haul__array_of(end)) : 0;
            if (target && !list_pointer(l, end->word, &stops[i], target, haul__array_bytes(end)))
                return 0;
        }
    }
    return 1;
}

/* Finds the block of an address in another group. */
static void find_block(pointer_lister *l, uint32_t group, uintptr_t address)
{
    l->block_map = &haul__group_found(l->e, group)->map;
    l->block_group = group;
    l->block_number = address >> HAUL__BLOCK_SHIFT;
    l->block = haul__map_find(l->block_map, address);
    if (l->block && l->block->form == HAUL__FULL)
        l->block = NULL;
}

HAUL__INLINE void seek_block(pointer_lister *l, uint32_t group, uintptr_t address)
{
    if (group != l->block_group || address >> HAUL__BLOCK_SHIFT != l->block_number || !l->block_map)
        find_block(l, group, address);
}

/* Lists a pointer, if it leads into the group. 0: out of memory. */
static HAUL__NOINLINE int list_if_inside(const pointer_lister *l, uintptr_t slot,
                                         const haul__stop *stop, uintptr_t value)
{
    const uintptr_t target = address_in(l, value);
    return !target || haul__array_end_now(l->e, stop->group, slot) ||
           list_pointer(l, slot, stop, target, 0);
}

/* Lists the pointers among 64 words, except ends of arrays. */
HAUL__INLINE int list_words(const pointer_lister *l, const uintptr_t *flat, const haul__stop *stop,
                            uintptr_t at, uint64_t slots)
{
    for (; slots; slots &= slots - 1) {
        const uintptr_t slot = at + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT),
                        value = haul__load_word((const void *)slot);
        if (HAUL__UNLIKELY(!is_outside(flat, value)) && !list_if_inside(l, slot, stop, value))
            return 0;
    }
    return 1;
}

/* Lists the pointers of any range. */
static HAUL__NOINLINE int list_by_cells(pointer_lister *l, const haul__stop *stop)
{
    uintptr_t at = stop->begin & ~(uintptr_t)(HAUL__CELL_BYTES - 1);
    for (; at < stop->end; at += HAUL__CELL_BYTES) {
        uint64_t slots;
        seek_block(l, stop->group, at);
        slots = l->block ? haul__placed_slots(l->block_map, l->block, haul__cell_number(at)) : 0;
        if (stop->begin > at) { /* and a word that begins before it is none of its words */
            const uint64_t first = (uint64_t)1 << haul__word_in_cell(stop->begin);
            slots &= (uint64_t)0 - (stop->begin % HAUL__WORD ? 2 * first : first);
        }
        if (stop->end - at < HAUL__CELL_BYTES)
            slots &= ((uint64_t)1 << haul__word_in_cell(stop->end)) - 1;
        if (!list_words(l, l->flat, stop, at, slots))
            return 0;
    }
    return 1;
}

/* Does an object of a uniform block start there? Then its type tells its pointers. */
HAUL__INLINE int is_start(const haul__block *block, uintptr_t address)
{
    const unsigned number = haul__cell_number(address);
    if (block->words)
        return address % HAUL__WORD == 0 &&
               haul__word_starts(block)[number] >> haul__word_in_cell(address) & 1;
    return address % HAUL__GRANULE == 0 &&
           haul__starts(block)[number] >> haul__granule_in_cell(address) & 1;
}

/* Lists the pointers of ranges that begin in one block of one group, from the first one on. Answers
 * their number; 0: out of memory. */
HAUL__INLINE size_t list_in_block(pointer_lister *l, const haul__stop *stops, size_t count)
{
    const uintptr_t *const flat = l->flat, number = stops->begin >> HAUL__BLOCK_SHIFT;
    const uint32_t group = stops->group;
    uintptr_t most = 0; /* bytes of a range whose pointers its type tells */
    uint64_t slots = 0;
    const haul__block *block;
    size_t i;
    seek_block(l, group, stops->begin);
    block = l->block;
    if (block && haul__is_uniform(block)) {
        const haul__simple *simple = haul__simple_of(l->block_map, block);
        most = simple->bytes < HAUL__CELL_BYTES ? simple->bytes : HAUL__CELL_BYTES - 1;
        slots = simple->slots;
    }
    for (i = 0; i < count; i++) {
        const haul__stop *stop = &stops[i];
        const uintptr_t begin = stop->begin, bytes = stop->end - begin;
        const uint64_t words = ((uint64_t)1 << (bytes >> HAUL__WORD_SHIFT) % 64) - 1;
        if (stop->group != group || begin >> HAUL__BLOCK_SHIFT != number)
            break;
        if (bytes <= most && is_start(block, begin)
                ? !list_words(l, flat, stop, begin, slots & words)
                : !list_by_cells(l, stop))
            return 0;
    }
    return i;
}

HAUL__HOT static int list_all(pointer_lister *l)
{
    const size_t count = l->e->stops.all.count;
    size_t i, listed;
    for (i = 0; i < count; i += listed) {
        listed = list_in_block(l, l->e->stops.all.at + i, count - i);
        if (!listed || !list_ends(l, l->e->stops.all.at + i, listed))
            return 0;
    }
    return 1;
}

int haul__list_attached(haul_environment *e, haul__sent_group *group)
{
    haul__map *map = &group->shipment->plan->found.map;
    pointer_lister l;
    memset(&l, 0, sizeof l);
    l.e = e;
    l.group = group;
    l.map = map;
    l.flat = haul__table_show(&e->context->table, map);
    return list_all(&l) &&
           haul__holds_room(&e->context->allocator, &e->attached, group->attached.count);
}
