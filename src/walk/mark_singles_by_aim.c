/* Marking by aims: single objects of simple types, within the district that a thread has taken.
 *
 * A block that holds nothing but single objects of one type is plain: its marks tell where they
 * start, and a known object from one that overlaps another, so it needs no starts beside it
 * (map/starts.h). They are spelled out before anything else is marked there. Objects in mixed
 * blocks have starts, like other ranges. All else takes the general way (mark_by_aim.c).
 *
 * Why it is fast: nothing asks for the kind of an entry, and whether an object is new is no branch.
 * Nearly all parcels have one type, which then stays in registers.
 */
#include "map/mark.h"
#include "walk/by_aim.h"
#include "walk/hints.h"
#include "walk/mark_in_mixed.h"

/* Do the range and the byte behind it lie in one district? */
HAUL__INLINE int is_in_district(uintptr_t first, uint64_t bytes)
{
    return (first ^ (first + (uintptr_t)bytes)) >> HAUL__DISTRICT_SHIFT == 0;
}

/* Marks an object in blocks that hold, or will hold, nothing but objects of its type. Else the
 * general way. HAUL__APART: it lies in two districts. */
static HAUL__NOINLINE int mark_single_apart(haul__share *share, haul__sharer *own, uint64_t entry,
                                            const haul__met_type *met)
{
    const uint32_t number = HAUL__ENTRY_TYPE(entry);
    const uintptr_t first = HAUL__ENTRY_ADDRESS(entry), end = first + met->simple.bytes;
    const uint32_t form = first & (HAUL__GRANULE - 1) ? met->ragged.form : met->form;
    const uintptr_t *flat = share->flat;
    uintptr_t block, last;
    int fresh;
    if (first < HAUL__LOWEST ||
        (first & (share->aims->list.at[number].misaligned | (HAUL__WORD - 1))) != 0) {
        haul__give_up(share, HAUL__WHY_BEGIN, number);
        return 0;
    }
    if (!is_in_district(first, met->simple.bytes))
        return HAUL__APART;
    block = flat[first >> HAUL__BLOCK_SHIFT];
    last = flat[(end - 1) >> HAUL__BLOCK_SHIFT];
    if (haul__can_start(met, first, form) && (!last || (last & HAUL__FORM_MASK) == form) &&
        (!block || ((block & HAUL__FORM_MASK) == form && !haul__block_in(block)->base))) {
        haul__map *map = &own->found.map;
        if ((!block && !haul__map_enter(map, first, form)) ||
            (!flat[(end - 1) >> HAUL__BLOCK_SHIFT] && !haul__map_enter(map, end - 1, form)))
            fresh = HAUL__NO_MEMORY;
        else if ((fresh = haul__mark_simple(map, first, form)) == 0 &&
                 !haul__is_start(flat, first, form))
            fresh = HAUL__APART;
    } else {
        fresh = haul__mark_by_aim(&own->walk, &own->starts, share, &share->aims->list.at[number],
                                  first, end);
    }
    if (fresh >= 0)
        return fresh;
    if (fresh == HAUL__APART)
        haul__give_up(share, HAUL__WHY_OVERLAP, number);
    else
        haul__end_round(share, HAUL__NEEDS_MEMORY);
    return 0;
}

/* Marks an object in plain blocks of its type, or in mixed ones. */
HAUL__INLINE int mark_single(const uintptr_t *flat, uintptr_t address, const haul__met_type *met)
{
    const uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT], form = entry & HAUL__FORM_MASK;
    if (form == HAUL__MIXED)
        return (address & ((HAUL__WORD - 1) | (met->walk->alignment - 1))) == 0
                   ? haul__mark_in_mixed(flat, address, met->simple.bytes, met->simple.slots)
                   : HAUL__APART;
    if (!entry || haul__block_in(entry)->base)
        return HAUL__APART;
    if (HAUL__UNLIKELY(!is_in_district(address, met->simple.bytes)))
        return HAUL__APART;
    if (met->simple.words || (address & (HAUL__GRANULE - 1)) != 0)
        return form == met->ragged.form ? haul__mark_ragged(flat, address, met) : HAUL__APART;
    if (form != met->form)
        return HAUL__APART;
    return haul__start_in_cell(address) < haul__near_starts(met)
               ? haul__mark_near(flat, address, met)
               : haul__mark_over(flat, address, met);
}

/* Fetches the cell of an object, and its slots if the block is mixed: *any is 1 then. */
HAUL__INLINE void fetch_single(const uintptr_t *flat, uint64_t entry, int *any)
{
    const uintptr_t address = HAUL__ENTRY_ADDRESS(entry),
                    block = flat[address >> HAUL__BLOCK_SHIFT];
    haul__prefetch_write(haul__cell_place(block, address));
    if ((block & HAUL__FORM_MASK) == HAUL__MIXED) {
        haul__prefetch_write(haul__slots_place(block, address));
        *any = 1;
    }
}

HAUL__INLINE void fetch_single_starts(const uintptr_t *flat, uint64_t entry)
{
    const uintptr_t address = HAUL__ENTRY_ADDRESS(entry),
                    block = flat[address >> HAUL__BLOCK_SHIFT];
    if ((block & HAUL__FORM_MASK) == HAUL__MIXED)
        haul__prefetch_write((uintptr_t)haul__block_in(block)->base +
                             haul__word_in_block(address) / 64 * 8);
}

/* Marks the targets of pointers to single objects. New ones are written to `out`, which has room
 * for all. Answers where they end. `only`: NULL, or the type of all of them, in memory that no
 * other pointer can reach. */
HAUL__INLINE uint64_t *mark_targets(haul__share *share, haul__sharer *own, const uint64_t *entry,
                                    size_t count, const haul__met_type *only, uint64_t *out)
{
    const haul__aim *aims = share->aims->list.at;
    const uintptr_t *flat = share->flat;
    const uint64_t *begin = out;
    uint64_t bytes = 0;
    size_t objects = 0, i;
    int any_mixed = 0;
    for (i = 0; i < count && i < HAUL__MARKS_AHEAD; i++)
        fetch_single(flat, entry[i], &any_mixed);
    for (i = 0; i < count; i++) {
        const haul__met_type *met =
            only ? only : &share->types[aims[HAUL__ENTRY_TYPE(entry[i])].met];
        int fresh;
        fetch_single(flat, entry[i + HAUL__MARKS_AHEAD < count ? i + HAUL__MARKS_AHEAD : i],
                     &any_mixed);
        if (any_mixed)
            fetch_single_starts(flat,
                                entry[i + HAUL__STARTS_AHEAD < count ? i + HAUL__STARTS_AHEAD : i]);
        fresh = mark_single(flat, HAUL__ENTRY_ADDRESS(entry[i]), met);
        if (HAUL__UNLIKELY(fresh < 0))
            fresh = mark_single_apart(share, own, entry[i], met);
        if (HAUL__UNLIKELY(fresh < 0)) {
            haul__put_aside(own, entry[i]);
            haul__put_aside(own, met->simple.bytes);
            fresh = 0;
        }
        *out = entry[i];
        if (only && only->edge_count) {
            out += (unsigned)fresh;
            continue;
        }
        objects += (unsigned)fresh;
        bytes += met->simple.bytes & (0 - (uint64_t)fresh);
        out += met->edge_count ? (unsigned)fresh : 0;
    }
    if (only && only->edge_count) {
        objects = (size_t)(out - begin);
        bytes = objects * only->simple.bytes;
    }
    own->objects += objects;
    own->bytes += bytes;
    return out;
}

/* Names the objects that lie in one district. Others are put aside. */
static HAUL__NOINLINE void name_targets(haul__share *share, const haul__sharer *own,
                                        const haul__parcel *parcel)
{
    size_t i;
    for (i = 0; i < parcel->count; i++) {
        const haul__aim *aim = &share->aims->list.at[HAUL__ENTRY_TYPE(parcel->entry[i])];
        const uintptr_t first = HAUL__ENTRY_ADDRESS(parcel->entry[i]);
        if (is_in_district(first, aim->bytes) &&
            !haul__hint_range(&own->walk, aim->hint, first, first + (uintptr_t)aim->bytes))
            haul__end_round(share, HAUL__NEEDS_MEMORY);
    }
}

HAUL__HOT static void mark_singles_by_aim(haul__share *share, haul__sharer *own,
                                          haul__district *district, const haul__parcel *parcel)
{
    const haul__met_type *type = haul__only_met(share, parcel);
    size_t at = 0;
    if (HAUL__UNLIKELY(own->walk.named != NULL))
        name_targets(share, own, parcel);
    while (at < parcel->count) {
        haul__parcel *open = district->open[parcel->kind];
        const size_t room = HAUL__PARCEL - open->count, left = parcel->count - at,
                     count = left < room ? left : room;
        uint64_t *out = open->entry + open->count;
        if (type) {
            const haul__met_type only = *type;
            out = mark_targets(share, own, parcel->entry + at, count, &only, out);
        } else {
            out = mark_targets(share, own, parcel->entry + at, count, NULL, out);
        }
        at += count;
        open->count = (size_t)(out - open->entry);
        if (open->count == HAUL__PARCEL)
            haul__open_visits(own, district, parcel->kind);
    }
}

void haul__mark_singles_by_aim(haul__share *share, haul__sharer *own, haul__district *district,
                               const haul__parcel *parcel)
{
    mark_singles_by_aim(share, own, district, parcel);
}
