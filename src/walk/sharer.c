/* One thread's part of a shared walk (share.c).
 *
 * What threads hand to one another are parcels: a district's list grows by a compare-and-swap of
 * its head, and is taken as a whole. A thread begins a step only if it has parcels for all that the
 * step may lead to, so no step ends halfway. A thread that finds no work sends what its outlets
 * hold, and then waits until another has sent something, or until none has any work.
 */
#include "base/clock.h"
#include "map/mark.h"
#include "walk/by_aim.h"
#include "walk/hints.h"
#include "walk/mark_inline.h"
#include "walk/parcels.h"

#define CELLS_AHEAD 16u /* in a parcel of pointers */
#define BURST 8u        /* objects that are fetched together */
#define FETCHED 64u     /* entries of a parcel that comes from another thread */

/* ---- Parcels. */

/* Has the thread parcels for all that one parcel's entries may lead to? */
static int has_parcels(haul__share *share, haul__sharer *own)
{
    while (own->spare_count + own->fresh_count < share->parcels_needed) {
        const size_t taken = haul__atomic_add(&share->pool_taken, (size_t)1) - 1;
        if (taken >= share->pool_count)
            return 0;
        own->fresh[own->fresh_count++] = share->pool[taken];
    }
    return 1;
}

/* ---- Marking. */

/* Does the object lie in one district? One byte behind it is looked at, too. */
HAUL__INLINE int is_within(uintptr_t address, const haul__met_type *met)
{
    return (address ^ (address + met->simple.bytes)) >> HAUL__DISTRICT_SHIFT == 0;
}

HAUL__INLINE int mark(const uintptr_t *flat, uintptr_t address, const haul__met_type *met)
{
    if (haul__start_in_cell(address) < haul__near_starts(met))
        return haul__mark_near(flat, address, met);
    return HAUL__LIKELY(is_within(address, met)) ? haul__mark_over(flat, address, met)
                                                 : HAUL__APART;
}

/* The type of all of a parcel's entries; NULL: they have several. */
static const haul__met_type *only_type(const haul__share *share, const haul__parcel *parcel)
{
    if (share->type_count == 1)
        return share->types;
    return haul__is_of_one(parcel) ? &share->types[HAUL__ENTRY_TYPE(parcel->entry[0])] : NULL;
}

/* Makes the block of an address, if there is none. 0: it cannot. */
static int has_block(haul__share *share, haul__sharer *own, uintptr_t address, uint32_t form)
{
    if (share->flat[address >> HAUL__BLOCK_SHIFT])
        return 1;
    if (!share->has_parts)
        return haul__stock_enter(share->map, &own->stock, address, form);
    if (haul__map_enter(&own->found.map, address, form))
        return 1;
    haul__end_round(share, HAUL__NEEDS_MEMORY);
    return 0;
}

/* Makes the blocks that the object needs, if they lie in one district, and marks it in blocks of
 * its own form. If it overlaps another one, or lies in a block of another form, one thread must do
 * the whole walk. */
static HAUL__NOINLINE int mark_apart(haul__share *share, haul__sharer *own, uint64_t entry,
                                     const haul__met_type *met)
{
    const uintptr_t address = HAUL__ENTRY_ADDRESS(entry);
    const uintptr_t last = address + met->simple.bytes - 1;
    const uint32_t form = address & (HAUL__GRANULE - 1) ? met->ragged.form : met->form;
    const uintptr_t *flat = share->flat;
    int fresh;
    if (!haul__can_start(met, address, form) || (address ^ last) >> HAUL__DISTRICT_SHIFT != 0 ||
        !has_block(share, own, address, form) || !has_block(share, own, last, form))
        return HAUL__APART;
    fresh = haul__mark_simple(share->map, address, form);
    if (fresh <= 0 && !haul__is_start(flat, address, form))
        haul__give_up(share, HAUL__WHY_OVERLAP, HAUL__ENTRY_TYPE(entry));
    return fresh > 0;
}

HAUL__INLINE void fetch_cell(const uintptr_t *flat, uint64_t entry)
{
    const uintptr_t address = HAUL__ENTRY_ADDRESS(entry);
    haul__prefetch_write(haul__cell_place(flat[address >> HAUL__BLOCK_SHIFT], address));
}

/* Marks the targets of pointers. Those that are new are written to `out`, which has room for all.
 * Answers where they end. `only`: NULL, or the type of all of them, in memory that no other pointer
 * can reach. */
HAUL__INLINE uint64_t *mark_targets(haul__share *share, haul__sharer *own, const uint64_t *entry,
                                    size_t count, const haul__met_type *only, uint64_t *out)
{
    const haul__met_type *types = share->types;
    const uintptr_t *flat = share->flat;
    size_t i;
    for (i = 0; i < count && i < CELLS_AHEAD; i++)
        fetch_cell(flat, entry[i]);
    for (i = 0; i < count; i++) {
        const haul__met_type *met = only ? only : &types[HAUL__ENTRY_TYPE(entry[i])];
        int fresh;
        fetch_cell(flat, entry[i + CELLS_AHEAD < count ? i + CELLS_AHEAD : i]);
        fresh = mark(flat, HAUL__ENTRY_ADDRESS(entry[i]), met);
        if (HAUL__UNLIKELY(fresh < 0))
            fresh = mark_apart(share, own, entry[i], met);
        if (HAUL__UNLIKELY(fresh < 0)) {
            haul__put_aside(own, entry[i]);
            fresh = 0;
        }
        *out = entry[i];
        out += fresh;
    }
    return out;
}

/* Names the targets that lie in one district. Others are put aside. */
static HAUL__NOINLINE void name_targets(haul__share *share, const haul__sharer *own,
                                        const haul__parcel *parcel)
{
    size_t i;
    for (i = 0; i < parcel->count; i++) {
        const haul__met_type *met = &share->types[HAUL__ENTRY_TYPE(parcel->entry[i])];
        const uintptr_t first = HAUL__ENTRY_ADDRESS(parcel->entry[i]);
        const uintptr_t end = first + met->simple.bytes;
        if ((first ^ (end - 1)) >> HAUL__DISTRICT_SHIFT == 0 &&
            !haul__hint_range(&own->walk, met->hint, first, end))
            haul__end_round(share, HAUL__NEEDS_MEMORY);
    }
}

/* Marks the targets of a parcel's pointers. New ones wait in the district's open parcel; when it is
 * full, another is opened. */
HAUL__HOT static void mark_parcel(haul__share *share, haul__sharer *own, haul__district *district,
                                  const haul__parcel *parcel)
{
    const haul__met_type *type = only_type(share, parcel);
    size_t at = 0;
    if (HAUL__UNLIKELY(own->walk.named != NULL) && (!type || type->hint))
        name_targets(share, own, parcel);
    while (at < parcel->count) {
        haul__parcel *open = district->open[HAUL__SINGLES];
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
            haul__open_visits(own, district, HAUL__SINGLES);
    }
}

/* ---- Visiting. */

/* Fetches a few objects in a row (drain.c says why). */
HAUL__INLINE void fetch_objects(const haul__met_type *types, const uint64_t *entry, size_t first,
                                size_t count)
{
    const size_t end = first + BURST < count ? first + BURST : count;
    for (; first < end; first++) {
        const haul__met_type *met = &types[HAUL__ENTRY_TYPE(entry[first])];
        haul__prefetch_once(HAUL__ENTRY_ADDRESS(entry[first]) + met->first_byte);
        haul__prefetch_once(HAUL__ENTRY_ADDRESS(entry[first]) + met->last_byte);
    }
}

/* Sends a pointer to the district of its target, unless it is NULL. */
HAUL__INLINE void send_pointer(haul__share *share, haul__sharer *own, uintptr_t value, uint64_t tag)
{
    const unsigned district = haul__district_number(value);
    haul__outlet *outlet = &own->outlet[district];
    *outlet->at = value | tag;
    haul__prefetch_write((uintptr_t)outlet->at + HAUL__OUTLET_AHEAD);
    outlet->at += value != 0;
    if (HAUL__UNLIKELY(outlet->at == outlet->end))
        haul__renew_outlet(share, own, district);
}

/* Reads the pointers of objects. 0: one is no address. `only`: NULL, or the type of all of them,
 * whose pointers have one tag, in memory that no other pointer can reach. */
HAUL__INLINE int read_pointers(haul__share *share, haul__sharer *own, const haul__parcel *parcel,
                               const haul__met_type *only, size_t pointers)
{
    const haul__met_type *types = share->types;
    const uint64_t *entry = parcel->entry;
    const size_t count = parcel->count;
    size_t offset[HAUL__EDGES], i, at;
    for (at = 0; only && at < pointers; at++)
        offset[at] = only->edges[at].offset;
    fetch_objects(types, entry, 0, count);
    fetch_objects(types, entry, BURST, count);
    for (i = 0; i < count; i++) {
        const haul__met_type *met = only ? only : &types[HAUL__ENTRY_TYPE(entry[i])];
        const haul__edge *edge = met->edges;
        const uintptr_t object = HAUL__ENTRY_ADDRESS(entry[i]);
        if (i % BURST == 0)
            fetch_objects(types, entry, i + 2 * BURST, count);
        for (at = 0; at < (only ? pointers : met->edge_count); at++) {
            const uintptr_t value =
                haul__load_word((const void *)(object + (only ? offset[at] : edge[at].offset)));
            if (HAUL__TOO_HIGH(value))
                return 0;
            send_pointer(share, own, value, only ? only->uniform : edge[at].tag);
        }
    }
    own->objects += count;
    return 1;
}

/* Visits a parcel's objects. 0: a pointer is no address. */
HAUL__HOT static int visit(haul__share *share, haul__sharer *own, const haul__parcel *parcel)
{
    const haul__met_type *type = only_type(share, parcel);
    if (type && type->uniform != HAUL__NOT_UNIFORM) {
        const haul__met_type only = *type;
        switch (only.edge_count) {
        case 2:
            return read_pointers(share, own, parcel, &only, 2);
        case 4:
            return read_pointers(share, own, parcel, &only, 4);
        default:
            return read_pointers(share, own, parcel, &only, only.edge_count);
        }
    }
    return read_pointers(share, own, parcel, NULL, 0);
}

/* ---- Work. */

static int is_stopped(const haul__share *share)
{
    return haul__atomic_load(&share->stop) != HAUL__GO_ON;
}

/* Has the thread parcels for its next step? If not, the round ends. */
static int is_ready(haul__share *share, haul__sharer *own)
{
    if (is_stopped(share))
        return 0;
    if (has_parcels(share, own))
        return 1;
    haul__end_round(share, HAUL__NEEDS_PARCELS);
    return 0;
}

static int take_district(haul__district *district)
{
    return !haul__atomic_load(&district->is_taken) && !haul__atomic_swap(&district->is_taken, 1u);
}

static void leave_district(haul__district *district)
{
    unsigned kind;
    int any = 0;
    for (kind = 0; kind < HAUL__KINDS; kind++) {
        const haul__parcel *open = district->open[kind];
        any |= open && (open->count || open->next);
    }
    haul__atomic_store(&district->has_visits, any);
    haul__atomic_store(&district->is_taken, 0u);
}

/* Fetches the first entries of a parcel, which another thread may have written. Most parcels have
 * no more; for others, the processor sees that they are read in order. */
HAUL__INLINE void fetch_parcel(const haul__parcel *parcel)
{
    size_t at;
    for (at = 0; at < HAUL__PARCEL && at < FETCHED; at += HAUL__LINE / sizeof parcel->entry[0])
        haul__prefetch(&parcel->entry[at]);
}

/* Takes a district that something was sent to, and fetches the first parcel; NULL: there is
 * none. */
static haul__district *claim(haul__share *share, haul__sharer *own, const haul__quarter *quarter)
{
    unsigned i;
    for (i = 0; i < quarter->count; i++) {
        const unsigned at = (own->at_mark + i) % quarter->count;
        haul__district *district = &share->district[quarter->first + at];
        if (!haul__atomic_load(&district->parcels) || !take_district(district))
            continue;
        own->claimed = haul__atomic_swap(&district->parcels, NULL);
        own->at_mark = at + 1;
        if (own->claimed)
            fetch_parcel(own->claimed);
        return district;
    }
    return NULL;
}

/* Marks in a district all that was sent to it before it was claimed, and leaves it. */
static void mark_claimed(haul__share *share, haul__sharer *own, haul__district *district)
{
    haul__parcel *list = own->claimed;
    while (list) {
        haul__parcel *parcel = list;
        list = parcel->next;
        if (list)
            fetch_parcel(list);
        if (is_ready(share, own)) {
            const size_t before = own->objects;
            if (!share->aims)
                mark_parcel(share, own, district, parcel);
            else if (parcel->kind == HAUL__RANGES)
                haul__mark_parcel_by_aim(share, own, district, parcel);
            else
                haul__mark_singles_by_aim(share, own, district, parcel);
            if (own->objects != before)
                haul__atomic_add(&share->objects, own->objects - before);
            haul__put_spare(own, parcel);
        } else {
            haul__send_parcel(&district->parcels, parcel);
        }
    }
    leave_district(district);
}

/* The parcel of a district's objects that is to be visited next; NULL: there is none. */
static haul__parcel *take_visits(haul__sharer *own, haul__district *district)
{
    unsigned kind;
    for (kind = 0; kind < HAUL__KINDS; kind++) {
        haul__parcel *open = district->open[kind], *full = open ? open->next : NULL;
        if (full) {
            open->next = full->next;
            return full;
        }
        if (open && open->count) {
            district->open[kind] = NULL;
            haul__open_visits(own, district, kind);
            return open;
        }
    }
    return NULL;
}

/* Visits some objects of one of the districts: of the same as before, as long as it has any. */
static int visit_among(haul__share *share, haul__sharer *own, const haul__quarter *quarter)
{
    unsigned i;
    for (i = 0; i < quarter->count; i++) {
        const unsigned at = (own->at_visit + i) % quarter->count;
        haul__district *district = &share->district[quarter->first + at];
        haul__parcel *parcel;
        if (!haul__atomic_load(&district->has_visits) || !take_district(district))
            continue;
        parcel = is_ready(share, own) ? take_visits(own, district) : NULL;
        leave_district(district);
        own->at_visit = at;
        if (!parcel)
            return is_stopped(share);
        if (share->aims)
            haul__visit_parcel_by_aim(share, own, parcel);
        else if (!visit(share, own, parcel))
            haul__give_up(share, HAUL__WHY_FAULT, 0);
        if (own->objects > share->objects_left)
            haul__give_up(share, HAUL__WHY_FAULT, 0);
        haul__put_spare(own, parcel);
        return 1;
    }
    return 0;
}

/* While the parcels that are claimed are on their way, some objects are visited. */
static int work_among(haul__share *share, haul__sharer *own, const haul__quarter *quarter)
{
    haul__district *district = claim(share, own, quarter);
    const int has_visited = visit_among(share, own, quarter);
    if (district)
        mark_claimed(share, own, district);
    return district != NULL || has_visited;
}

/* A thread keeps to its own districts, whose marks are in its caches, as long as they have work. */
static int work_somewhere(haul__share *share, haul__sharer *own)
{
    static const haul__quarter all = { 0, HAUL__DISTRICTS };
    return work_among(share, own, &own->quarter) || work_among(share, own, &all);
}

/* Sends what is left in all outlets. 0: there was nothing. */
static int send_all(haul__share *share, haul__sharer *own)
{
    unsigned i;
    int any = 0;
    for (i = 0; i < haul__outlets(share) && is_ready(share, own); i++)
        if (own->outlet[i].at != own->outlet[i].end - HAUL__PARCEL) {
            haul__renew_outlet(share, own, i);
            any = 1;
        }
    return any;
}

static int has_work(haul__share *share)
{
    unsigned i;
    for (i = 0; i < HAUL__DISTRICTS; i++)
        if ((haul__atomic_load(&share->district[i].parcels) ||
             haul__atomic_load(&share->district[i].has_visits)) &&
            !haul__atomic_load(&share->district[i].is_taken))
            return 1;
    return 0;
}

/* Waits for work. 0: no thread has any, and none comes. A thread that leaves too early leaves
 * nothing behind: the others have all the work that there is. */
static int wait_for_work(haul__share *share)
{
    unsigned spins = 0;
    haul__atomic_add(&share->busy, 0u - 1u);
    while (!is_stopped(share)) {
        const int is_over = !haul__atomic_load(&share->busy);
        if (has_work(share)) {
            haul__atomic_add(&share->busy, 1u);
            return 1;
        }
        if (is_over)
            return 0;
        haul__pool_rest(&spins);
    }
    return 0;
}

static haul__parcel *open_parcel(haul__sharer *own)
{
    haul__parcel *parcel = haul__take_spare(own);
    parcel->next = NULL;
    parcel->count = 0;
    return parcel;
}

/* Gives the thread its outlets, in its first round. */
static void open_outlets(haul__share *share, haul__sharer *own)
{
    unsigned i;
    if (own->aside || !is_ready(share, own))
        return;
    for (i = 0; i < haul__outlets(share); i++)
        haul__open_outlet(&own->outlet[i], haul__take_spare(own));
    own->aside = open_parcel(own);
    own->reads = open_parcel(own);
}

/* Ends the round if the program is to hear how much is found. */
static void look_at_clock(haul__share *share)
{
    if (share->news_at > 0 && haul__seconds() > share->news_at)
        haul__end_round(share, HAUL__HAS_NEWS);
}

void haul__share_work(haul__share *share, haul__sharer *own)
{
    haul__atomic_add(&share->busy, 1u);
    open_outlets(share, own);
    do
        while (!is_stopped(share) && (work_somewhere(share, own) || send_all(share, own)))
            look_at_clock(share);
    while (wait_for_work(share));
}
