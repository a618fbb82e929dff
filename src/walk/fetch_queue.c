/* The line: objects with rules, between the worklist and their marks.
 *
 * Such an object is asked and marked when its turn comes, and both would wait for memory: its
 * bytes, its cell, its slot bits and, where objects have holes, its byte masks. So each stands in a
 * short line while all of these are fetched, and the one that came some objects before it is taken.
 */
#include "walk/ruled.h"
#include "map/mixed.h"
#include "map/side.h"
#include "walk/met_types.h"
#include "walk/visit.h"

/* A prefetch never faults: neither the address nor the block need be good. */
static void foresee(const haul__discovery *d, uintptr_t address, const haul__met_type *kind)
{
    const uintptr_t entry = d->map->flat ? d->map->flat[address >> HAUL__BLOCK_SHIFT] : 0;
    haul__block *block = haul__block_in(entry);
    const unsigned granule = haul__granule_in_block(address);
    const uint16_t *masks;
    haul__prefetch(address + kind->first_slot);
    haul__prefetch(address + kind->last_slot);
    if (!block || !(entry & 1u))
        return;
    haul__prefetch_write((uintptr_t)&block->cells[haul__cell_number(address)]);
    if ((entry & HAUL__FORM_MASK) == HAUL__MIXED)
        haul__prefetch_write((uintptr_t)&haul__slots(block)[haul__cell_number(address)]);
    masks = haul__masks(block, granule / HAUL__PAGE_GRANULES);
    if (masks)
        haul__prefetch_write((uintptr_t)&masks[granule % HAUL__PAGE_GRANULES]);
}

static haul_status take(haul__discovery *d, uint64_t what)
{
    const uint32_t kind = (uint32_t)(what >> 48);
    const haul__walk *walk = d->kinds[kind].walk;
    haul__entry entry;
    size_t bytes = 0;
    int is_new = 0;
    haul_status status;
    memset(&entry, 0, sizeof entry);
    entry.address = (uintptr_t)(what & UINT64_C(0x0000ffffffffffff));
    entry.count = 1;
    entry.kind = kind;
    entry.stride = walk->extent;
    entry.parent = SIZE_MAX;
    entry.what = HAUL__OBJECTS;
    status = haul__take_ruled(d, &entry, walk, &bytes, &is_new);
    if (status != HAUL_OK || !is_new)
        return status;
    d->found->objects++;
    return haul__visit_rest(d, entry.address, walk, bytes);
}

haul_status haul__fetch_push(haul__discovery *d, uintptr_t element, uint32_t kind)
{
    const uint64_t what = (uint64_t)element | (uint64_t)kind << 48;
    const size_t last = (d->line_first + d->line_count) % HAUL__FETCH_QUEUE;
    uint64_t first;
    d->found->objects--; /* it counts when it is taken, and new */
    foresee(d, element, &d->kinds[kind]);
    if (d->line_count < HAUL__FETCH_QUEUE) {
        d->line[last] = what;
        d->line_count++;
        return HAUL_OK;
    }
    first = d->line[d->line_first];
    d->line[d->line_first] = what;
    d->line_first = (d->line_first + 1) % HAUL__FETCH_QUEUE;
    return take(d, first);
}

haul_status haul__fetch_drain(haul__discovery *d)
{
    haul_status status = HAUL_OK;
    while (d->line_count && status == HAUL_OK) {
        uint64_t first = d->line[d->line_first];
        d->line_first = (d->line_first + 1) % HAUL__FETCH_QUEUE;
        d->line_count--;
        status = take(d, first);
    }
    return status;
}
