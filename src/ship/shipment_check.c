/* Invariants of shipments.
 *
 * A call on a shipment finds it as the last one left it, however that ended: in success, in a
 * failure halfway, or with work that timed out. These checks are made as a call enters.
 */
#include "ship/shipment_check.h"

#include "arena/arena_check.h"

#ifdef HAUL_CHECKS

static const char *fault_of_range(const haul__range *range)
{
    size_t at = range->arena_bytes;
    if (range->bitmap_bytes > 0 && range->bitmap_at < at)
        return "a bitmap lies over its arena";
    if (range->bitmap_bytes > 0)
        at = range->bitmap_at + range->bitmap_bytes;
    if (range->explicit_count > 0 && range->explicit_at < at)
        return "explicit relocations lie over what stands before them";
    if (range->explicit_count > 0)
        at = range->explicit_at + range->explicit_count * sizeof(uint64_t);
    if (range->list_count > 0 && range->list_at < at)
        return "a list of dependents lies over what stands before it";
    if (at > range->bytes && !range->mirror)
        return "a range is shorter than its parts";
    return range->listed * sizeof(uint64_t) > range->bitmap_bytes
               ? "a list of pointers is longer than its room"
               : NULL;
}

static const char *fault_of(const haul_shipment *shipment)
{
    const haul__return *back;
    const char *fault;
    if (!shipment->plan == !haul__is_arena(shipment))
        return "a shipment has a plan and an arena, or neither";
    fault = fault_of_range(&shipment->range);
    if (!fault && haul__is_arena(shipment))
        fault = haul__contents_fault(&shipment->contents);
    for (back = shipment->returns; back && !fault; back = back->next)
        if (back->at > shipment->range.arena_bytes ||
            back->bytes > shipment->range.arena_bytes - back->at)
            fault = "a result on its way lies outside of its arena";
    return fault;
}

haul_status haul__shipment_check(const haul_shipment *shipment)
{
    const char *fault = fault_of(shipment);
    return fault ? haul__fail(&shipment->device->context->error, HAUL_ERROR_STATE,
                              "broken invariant: %s", fault)
                 : HAUL_OK;
}

#endif
