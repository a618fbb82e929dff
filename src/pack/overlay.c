/* What the host's graph would be, if an arena that has come back were written to it.
 *
 * Granule by granule: bytes that scatter would write stay as they came, all others are the host's.
 * Then each pointer is listed with the host's pointer that it stands for. These two are not always
 * the same place: a pointer to no elements may be null in the arena, or lie there at the begin of
 * the next range. The check of the graph asks the list (ship/untrusted.c). A null that stands for a
 * pointer leads out of the block instead, so that a walk finds more than no elements wrong.
 *
 * Only returns that are checked as graphs ask for this, and their walks take many times as long, so
 * no form of block has a loop of its own.
 */
#include "pack/overlay.h"

#include "base/sort.h"
#include "base/status.h"
#include "map/exclusions.h"
#include "pack/granule_data.h"
#include "pack/plan_space.h"
#include "pack/returned_pointers.h"
#include "pack/translate.h"

/* The bytes of a granule: all that are described, those that the host alone has, and those that
 * return. */
typedef struct masks {
    unsigned live, unsent, returned;
} masks;

typedef struct overlay {
    const haul_plan *plan;
    unsigned char *arena, *now;
    uint16_t *known;
    int pointers;
} overlay;

static void overlay_byte(const overlay *o, uintptr_t address, size_t at, const masks *m,
                         unsigned byte)
{
    if (m->live >> byte & 1)
        o->known[at / HAUL__GRANULE] |= (uint16_t)(1u << at % HAUL__GRANULE);
    if (m->unsent >> byte & 1)
        o->now[at] = *(const unsigned char *)(address + byte);
    if (!(m->returned >> byte & 1))
        o->arena[at] = o->now[at];
}

/* In an ordered arena a string may lie apart from the other bytes of its granule. */
static void overlay_granule(const overlay *o, size_t i, unsigned granule)
{
    const haul__block *block = haul__plan_block(o->plan, i);
    const uint32_t number = o->plan->found.map.numbers[i];
    const uintptr_t address = haul__block_address(number) + (uintptr_t)granule * HAUL__GRANULE;
    const uint64_t place = haul__place(block, address);
    const unsigned data = haul__data_mask(o->plan, block, number, granule);
    unsigned byte;
    masks m;
    m.live = haul__byte_mask(block, granule);
    m.unsent = data & haul__excluded_mask(block, granule, HAUL__UNSENT);
    m.returned =
        (o->pointers ? m.live : data) & ~haul__excluded_mask(block, granule, HAUL__UNRETURNED);
    for (byte = 0; byte < HAUL__GRANULE; byte++) {
        const size_t at = (size_t)haul__final_place(o->plan, place + byte);
        if (at)
            overlay_byte(o, address, at, &m, byte);
    }
}

/* Words that are worked out anew for each copy never come back. One that does not depend on its
 * place is the host's: the walk knows what it was. */
static void overlay_words(const haul_plan *plan, unsigned char *arena, const unsigned char *now)
{
    const haul__found *found = &plan->found;
    size_t i;
    for (i = 0; i < found->special_count; i++) {
        const haul__special_word *word = &found->special[i];
        size_t at;
        if (haul__is_pointer(word) && !word->is_limit)
            continue;
        at = (size_t)haul__final_place(plan, haul__translate(&found->map, word->address));
        if (word->kind == HAUL__FIXED && word->bytes == HAUL__WORD)
            memcpy(arena + at, (const void *)word->address, word->bytes);
        else
            memcpy(arena + at, now + at, word->bytes);
    }
}

void haul__overlay(const haul_plan *plan, unsigned char *arena, unsigned char *now, int pointers,
                   uint16_t *known)
{
    const haul__map *map = &plan->found.map;
    const overlay o = { plan, arena, now, known, pointers };
    size_t i;
    unsigned granule;
    for (i = 0; i < map->block_count; i++)
        for (granule = 0; granule < HAUL__CELLS * 32u; granule++)
            if (haul__is_placed(haul__plan_block(plan, i), haul__block_address(map->numbers[i]) +
                                                               (uintptr_t)granule * HAUL__GRANULE))
                overlay_granule(&o, i, granule);
    overlay_words(plan, arena, now);
}

/* ---- Pointers. */

typedef struct holding {
    const haul_plan *plan;
    haul__space space;
    unsigned char *arena;
    const unsigned char *now;
    uintptr_t nowhere;
    int pointers;
    haul__held *list;
    size_t count;
} holding;

/* Does the host's word stay? */
static int stays(const holding *h, uintptr_t address)
{
    return !h->pointers || haul__is_excluded(&h->plan->found.map, address, HAUL__UNRETURNED);
}

static haul__held *add(holding *h, size_t at, unsigned bytes)
{
    haul__held *held = &h->list[h->count++];
    memset(held, 0, sizeof *held);
    held->place = (uintptr_t)(h->arena + at);
    held->bytes = bytes;
    held->is_changed = memcmp(h->arena + at, h->now + at, bytes) != 0;
    return held;
}

/* Puts a word of a null that stands for a pointer. */
static void put(holding *h, haul__held *held, uint64_t word)
{
    const uint32_t narrow = (uint32_t)word;
    if (held->word || !held->value)
        return;
    held->was = haul__load_special(held->place, held->bytes);
    held->is_put = 1;
    held->word = h->nowhere;
    if (held->bytes == sizeof narrow)
        memcpy((void *)held->place, &narrow, sizeof narrow);
    else
        memcpy((void *)held->place, &word, sizeof word);
    held->put = haul__load_special(held->place, held->bytes);
}

static void hold_slot(holding *h, const haul__block *block, uintptr_t slot)
{
    haul__held *held =
        add(h, (size_t)haul__final_place(h->plan, haul__place(block, slot)), HAUL__WORD);
    held->word = haul__load_word((const void *)held->place);
    if (stays(h, slot))
        held->value = haul__load_word((const void *)slot);
    else if (!haul__returned_word(h->plan, slot, held->word, h->space.base, &held->value))
        held->value = 0;
    put(h, held, h->nowhere);
}

static haul_status hold_distance(holding *h, const haul__special_word *word, haul__held *held)
{
    const uintptr_t far = h->nowhere - held->place;
    const int32_t narrow = (int32_t)far;
    held->word = haul__special_pointer(word, haul__load_special(held->place, word->bytes));
    held->word += held->word ? held->place : 0;
    held->value = haul__special_pointer(word, word->value);
    held->value += held->value ? word->address : 0;
    if (!held->word && held->value && word->bytes == sizeof narrow &&
        (uintptr_t)(intptr_t)narrow != far)
        return haul__fail(h->space.error, HAUL_ERROR_LIMIT,
                          "a distance of 4 bytes to no elements cannot be checked in an arena of "
                          "%zu bytes",
                          (size_t)h->space.bytes);
    put(h, held, (uint64_t)(int64_t)(intptr_t)far);
    return HAUL_OK;
}

static haul_status hold_special(holding *h, const haul__special_word *word)
{
    haul__held *held = add(h, h->space.place(&h->space, word), word->bytes);
    held->is_worked_out = !haul__is_pointer(word);
    if (word->kind == HAUL__FIXED)
        return HAUL_OK;
    if (word->kind == HAUL__DISTANCE)
        return hold_distance(h, word, held);
    held->word = haul__load_word((const void *)held->place);
    held->value = (uintptr_t)word->value;
    if (!word->is_limit && !stays(h, word->address) &&
        !haul__special_to_host(&h->space, word, (uintptr_t)word->value, held->word, &held->value))
        held->value = 0;
    held->word &= ~word->mask;
    held->value &= ~word->mask;
    put(h, held, h->nowhere | (haul__load_word((const void *)held->place) & word->mask));
    return HAUL_OK;
}

static int is_held_before(const void *a, const void *b)
{
    return ((const haul__held *)a)->place < ((const haul__held *)b)->place;
}

size_t haul__held_most(const haul_plan *plan)
{
    const haul__map *map = &plan->found.map;
    size_t count = plan->found.special_count, i;
    unsigned cell;
    for (i = 0; i < map->block_count; i++)
        for (cell = 0; cell < HAUL__CELLS; cell++)
            count += haul__bits64(haul__placed_slots(map, haul__plan_block(plan, i), cell));
    return count;
}

haul_status haul__list_held(const haul_plan *plan, unsigned char *arena, const unsigned char *now,
                            int pointers, uintptr_t nowhere, haul__held *list, size_t *count)
{
    const haul__map *map = &plan->found.map;
    haul_status status = HAUL_OK;
    holding h;
    size_t i;
    unsigned cell;
    h.plan = plan;
    h.space = haul__plan_space(plan, (uintptr_t)arena, (uintptr_t)arena);
    h.arena = arena;
    h.now = now;
    h.nowhere = nowhere;
    h.pointers = pointers;
    h.list = list;
    h.count = 0;
    for (i = 0; i < map->block_count; i++)
        for (cell = 0; cell < HAUL__CELLS; cell++) {
            const haul__block *block = haul__plan_block(plan, i);
            const uintptr_t at = haul__block_address(map->numbers[i]) + cell * HAUL__CELL_BYTES;
            uint64_t slots = haul__placed_slots(map, block, cell);
            for (; slots; slots &= slots - 1)
                hold_slot(&h, block, at + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT));
        }
    for (i = 0; i < plan->found.special_count && status == HAUL_OK; i++)
        status = hold_special(&h, &plan->found.special[i]);
    haul__sort(list, h.count, sizeof *list, is_held_before);
    *count = h.count;
    return status;
}

void haul__take_back(const haul__held *list, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        const haul__held *held = &list[i];
        const uint32_t narrow = (uint32_t)held->was;
        if (!held->is_put || haul__load_special(held->place, held->bytes) != held->put)
            continue;
        if (held->bytes == sizeof narrow)
            memcpy((void *)held->place, &narrow, sizeof narrow);
        else
            memcpy((void *)held->place, &held->was, sizeof held->was);
    }
}
