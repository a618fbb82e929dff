/* The ranges of a shipment, in the order of addresses: a walk of the host's graph records them
 * (graph/nodes.h), and a sort orders them.
 */
#include <inttypes.h>

#include "base/sort.h"
#include "ship/shipment.h"
#include "ship/spans.h"

typedef struct ranges {
    const haul_shipment *shipment;
    haul_range_visitor *visit;
    void *user;
} ranges;

void haul__add_places(const haul_shipment *shipment, haul_shipped_range *range)
{
    const uint64_t at = (uintptr_t)range->device - shipment->range.address, end = at + range->bytes;
    range->host_bytes = range->moving_bytes = 0;
    if (!shipment->range.placings) /* all of it lies in device memory */
        return;
    range->host_bytes = (size_t)haul__placed_bytes(&shipment->range, at, end, HAUL_PLACE_HOST);
    range->moving_bytes = (size_t)haul__placed_bytes(&shipment->range, at, end, HAUL_PLACE_MOVING);
}

haul_status haul__locate_range(const haul_shipment *shipment, const haul__nodes *nodes,
                               const haul__range_of_node *span, haul_shipped_range *range)
{
    *range = haul__range_of(nodes, span);
    range->device = haul_device_pointer(shipment, range->host);
    if (!range->device || !haul_device_pointer(shipment, (void *)(span->end - 1)))
        return haul__fail(&nodes->context->error, HAUL_ERROR_STALE,
                          "the graph has changed and leads out of the shipment, to 0x%" PRIxPTR,
                          span->begin);
    return HAUL_OK;
}

haul_status haul__tell_range(const haul_shipment *shipment, haul_range_visitor *visit, void *user,
                             haul_shipped_range *range)
{
    haul__add_places(shipment, range);
    return visit(user, range) == 0
               ? HAUL_OK
               : haul__fail(&shipment->device->context->error, HAUL_ERROR_CANCELLED,
                            "the visitor cancelled the call, at %zu bytes at %p", range->bytes,
                            range->host);
}

haul_status haul__tell_arena(const haul_shipment *shipment, haul_range_visitor *visit, void *user)
{
    haul_shipped_range all;
    memset(&all, 0, sizeof all);
    all.host = shipment->contents.base;
    all.device = haul_device_pointer(shipment, all.host);
    all.bytes = all.count = shipment->contents.bytes;
    return haul__tell_range(shipment, visit, user, &all);
}

static haul_status list(haul__nodes *nodes, void *user)
{
    const ranges *r = user;
    haul_status status = HAUL_OK;
    size_t i;
    haul__shift_spans(nodes);
    haul__sort(nodes->spans, nodes->span_count, sizeof *nodes->spans, haul__is_span_before);
    for (i = 0; i < nodes->span_count && status == HAUL_OK; i++) {
        const haul__range_of_node *span = &nodes->spans[i];
        haul_shipped_range range;
        status = haul__locate_range(r->shipment, nodes, span, &range);
        if (status == HAUL_OK)
            status = haul__tell_range(r->shipment, r->visit, r->user, &range);
    }
    return status;
}

haul_status haul__tell_ranges(const haul_shipment *shipment, haul_range_visitor *visit, void *user)
{
    ranges r = { shipment, visit, user };
    const haul_source source = haul_from_shipment(shipment);
    if (source.kind == HAUL_SOURCE_ARENA)
        return haul__tell_arena(shipment, visit, user);
    return haul__nodes_visit(shipment->device->context, &source, sizeof source, list, &r);
}
