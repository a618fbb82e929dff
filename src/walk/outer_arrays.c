/* Outer arrays: arrays that one thread finds before any pointer into them.
 *
 * A mesh often has its cells in one array, and each cell points to some others. For threads such a
 * pointer overlaps the array. If they came to it before they came to the array, they would count it
 * as an object of its own, and one thread might not.
 *
 * So the walk by one thread lists the arrays that it comes to. When the first long one would make
 * it hand over to all threads, it finishes the chunk of the queue or the array that it visits, and
 * marks no further array: the other arrays of the same mesh are listed, too. The walk by aims then
 * begins with all of them. A pointer into one of them, to elements of its type, needs neither a
 * mark nor a visit, so it is not even sent to its district. One whose row has a direction is: its
 * target is excluded there.
 *
 * Why it is right: no byte of a listed array is marked when one thread comes to it, so one thread
 * visits it as a whole. Whatever leads into it later brings nothing new.
 *
 * Why it is fast: there are few outer arrays, and one multiplication tells whether an element
 * begins where a pointer leads (base/multiples.h).
 */
#include "walk/outer_arrays.h"
#include "map/mark.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/worklist.h"

/* The list is short, so shorter arrays are left out. */
#ifdef HAUL_STRESS_THREADS
#define SHORTEST ((size_t)1)
#else
#define SHORTEST HAUL__MEMO_BYTES
#endif

/* Does a count tell the array's end? Elements within an object have none, nor has a string. */
static int is_counted(const haul__slot *slot, unsigned level)
{
    return level < slot->levels && slot->shape[level].kind != HAUL_COUNT_KIND_TERMINATED;
}

haul_status haul__note_outer(haul__discovery *d, const haul__entry *entry)
{
    const uintptr_t first = entry->address;
    const haul__slot *slot = entry->slot;
    const haul__met_type *met =
        entry->what == HAUL__OBJECTS ? &d->met_types[entry->met_type] : NULL;
    haul__outer *added;
    size_t bytes;
    if (!d->outers || d->outers->count == HAUL__OUTERS || d->was_shared ||
        entry->what == HAUL__POINTERS || entry->line || (slot && !is_counted(slot, entry->level)) ||
        haul__multiply_overflows(entry->count, entry->stride, &bytes) || bytes < SHORTEST ||
        first < HAUL__LOWEST || first > HAUL__HIGHEST || bytes > HAUL__HIGHEST - first ||
        haul__any_live(d->map, first, first + bytes))
        return HAUL_OK;
    added = HAUL__LIST_ADD(d->allocator, d->outers);
    if (!added)
        return HAUL_ERROR_MEMORY;
    added->first = first;
    added->bytes = bytes;
    added->type = met && (met->walk->slot_count || met->walk->ruled_count) ? met->type : NULL;
    return HAUL_OK;
}

haul_status haul__aim_outer(haul__discovery *d, haul__aims *aims, size_t number, uint32_t *aim)
{
    const haul__outer *outer = &d->outers->at[number];
    const haul__aim *made;
    uint32_t met = 0;
    haul_status status = outer->type ? haul__met_type_of(d, outer->type, &met) : HAUL_OK;
    *aim = HAUL__NO_AIM;
    if (status == HAUL_OK)
        status = outer->type ? haul__aim_objects(d, aims, met, aim) : haul__aim_bytes(d, aims, aim);
    if (status != HAUL_OK)
        return status;
    made = &aims->list.at[*aim];
    /* no entry has room for the aim's number; the first root may be one, too */
    if (*aim > UINT16_MAX || aims->outers.count == HAUL__OUTERS ||
        (outer->first & (made->misaligned | (HAUL__WORD - 1))) != 0)
        *aim = HAUL__NO_AIM;
    return HAUL_OK;
}

haul_status haul__add_outer(haul__discovery *d, haul__aims *aims, uint32_t aim, uintptr_t first,
                            size_t bytes)
{
    haul__outer_range *outer;
    size_t i;
    if (!bytes)
        return HAUL_OK;
    outer = HAUL__LIST_ADD(d->allocator, &aims->outers);
    if (!outer)
        return HAUL_ERROR_MEMORY;
    outer->first = first;
    outer->bytes = bytes;
    outer->unit = (uint64_t)aims->list.at[aim].count.unit;
    outer->grid = haul__multiples_of(outer->unit);
    outer->elements = aims->list.at[aim].outer;
    for (i = 0; i < aims->edges.count; i++) {
        haul__aimed_edge *edge = &aims->edges.at[i];
        const haul__aim *leads = &aims->list.at[edge->tag >> 48];
        if (edge->words && !leads->ways && leads->outer == outer->elements)
            edge->may_be_inner = 1;
    }
    return HAUL_OK;
}

haul__outer_range haul__outer_of(const haul__aims *aims, const haul__aimed_edge *edge)
{
    const haul__aim *aim = &aims->list.at[edge->tag >> 48];
    haul__outer_range none;
    size_t i;
    memset(&none, 0, sizeof none);
    for (i = 0; i < aims->outers.count && edge->may_be_inner; i++)
        if (aims->outers.at[i].elements == aim->outer && edge->is_fixed &&
            edge->bytes == aims->outers.at[i].unit)
            return aims->outers.at[i];
    return none;
}

/* Not inlined: most graphs have no outer arrays, and their loop must stay short. */
HAUL__NOINLINE int haul__is_in_outer(const haul__aims *aims, uint64_t number, uintptr_t first,
                                     uint64_t bytes)
{
    const haul__aim *aim = &aims->list.at[number];
    size_t i;
    for (i = 0; i < aims->outers.count && !(first & aim->misaligned); i++) {
        const haul__outer_range *outer = &aims->outers.at[i];
        const uint64_t offset = (uint64_t)first - outer->first;
        if (offset < outer->bytes && bytes <= outer->bytes - offset &&
            outer->elements == aim->outer)
            return haul__is_multiple(&outer->grid, offset);
    }
    return 0;
}
