/* The extents of a shipment: stretches of bytes that lie side by side in both memories.
 *
 * They come from the plan's map, where each granule of a described object has a place. A granule
 * continues an extent if it follows both in the source and in the arena. So no extent joins what a
 * gap or an ordered plan keeps apart, and the host's graph is not read. Whole granules, which are
 * nearly all, are taken a run at a time.
 */
#include "map/forms.h"
#include "pack/translate.h"
#include "ship/shipment.h"
#include "ship/spans.h"

typedef struct extents {
    const haul_shipment *shipment;
    haul_range_visitor *visit;
    void *user;
    uintptr_t host; /* the extent so far; `bytes` 0: there is none */
    uint64_t place;
    size_t bytes;
} extents;

static haul_status hand_over(extents *x)
{
    haul_shipped_range range;
    if (!x->bytes)
        return HAUL_OK;
    memset(&range, 0, sizeof range);
    range.host = (void *)x->host;
    range.device = (void *)(uintptr_t)(x->shipment->range.address + x->place);
    range.bytes = range.count = x->bytes;
    x->bytes = 0;
    return haul__tell_range(x->shipment, x->visit, x->user, &range);
}

/* Adds bytes that have one place. */
HAUL__INLINE haul_status add(extents *x, uintptr_t host, uint64_t place, size_t bytes)
{
    haul_status status;
    if (x->bytes && host == x->host + x->bytes && place == x->place + x->bytes) {
        x->bytes += bytes;
        return HAUL_OK;
    }
    status = hand_over(x);
    x->host = host;
    x->place = place;
    x->bytes = bytes;
    return status;
}

/* Adds bytes of one run in the map by the clusters of an ordered plan. */
static haul_status add_clusters(extents *x, uintptr_t host, uint64_t compact, size_t bytes)
{
    const haul_plan *plan = x->shipment->plan;
    haul_status status = HAUL_OK;
    while (bytes && status == HAUL_OK) {
        const haul__cluster *cluster = haul__cluster_holding(&plan->ordered->clusters, compact);
        size_t part = 1;
        if (cluster) {
            const size_t rest = (size_t)(cluster->compact + cluster->bytes - compact);
            part = rest < bytes ? rest : bytes;
            status = add(x, host, cluster->place + (compact - cluster->compact), part);
        }
        host += part;
        compact += part;
        bytes -= part;
    }
    return status;
}

/* Adds bytes of one run in the map. */
HAUL__INLINE haul_status add_run(extents *x, uintptr_t host, uint64_t compact, size_t bytes)
{
    return x->shipment->plan->ordered ? add_clusters(x, host, compact, bytes)
                                      : add(x, host, compact, bytes);
}

/* Adds the described bytes of a granule. */
static haul_status add_bytes(extents *x, uintptr_t host, uint64_t compact, unsigned mask)
{
    haul_status status = HAUL_OK;
    while (mask && status == HAUL_OK) {
        const unsigned first = haul__lowest32(mask), count = haul__lowest32(~(mask >> first));
        status = add_run(x, host + first, compact + first, count);
        mask &= ~(((1u << count) - 1u) << first);
    }
    return status;
}

static haul_status add_cell(extents *x, const haul__block *block, uintptr_t host, unsigned number)
{
    uint32_t live = haul__live(block, number);
    uint64_t compact = haul__cell_rank(block, number) << HAUL__GRANULE_SHIFT;
    haul_status status = HAUL_OK;
    while (live && status == HAUL_OK) {
        const unsigned granule = haul__lowest32(live);
        unsigned mask = haul__byte_mask(block, number * 32u + granule);
        if (mask != HAUL__FULL_MASK)
            mask |= haul__hole_mask(block, number * 32u + granule);
        status = mask == HAUL__FULL_MASK
                     ? add_run(x, host + granule * HAUL__GRANULE, compact, HAUL__GRANULE)
                     : add_bytes(x, host + granule * HAUL__GRANULE, compact, mask);
        compact += HAUL__GRANULE;
        live &= live - 1;
    }
    return status;
}

static haul_status list(extents *x)
{
    const haul__map *map = &x->shipment->plan->found.map;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < map->block_count && status == HAUL_OK; i++) {
        const haul__block *block = haul__map_block(map, i);
        const uintptr_t base = haul__block_address(map->numbers[i]);
        unsigned number;
        if (block->form == HAUL__FULL)
            status = add_run(x, base, haul__cell_rank(block, 0) << HAUL__GRANULE_SHIFT,
                             HAUL__BLOCK_BYTES);
        for (number = 0; block->form != HAUL__FULL && number < HAUL__CELLS && status == HAUL_OK;
             number++)
            status = add_cell(x, block, base + number * HAUL__CELL_BYTES, number);
    }
    return status == HAUL_OK ? hand_over(x) : status;
}

haul_status haul__tell_extents(const haul_shipment *shipment, haul_range_visitor *visit, void *user)
{
    extents x = { shipment, visit, user, 0, 0, 0 };
    return haul__is_arena(shipment) ? haul__tell_arena(shipment, visit, user) : list(&x);
}
