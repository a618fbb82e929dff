/* The ranges of a shipment, in the order of addresses: a walk of the host's graph records them
 * (graph/nodes.h), and a sort orders them.
 */
#include <inttypes.h>

#include "base/sort.h"
#include "graph/nodes.h"
#include "ship/shipment.h"

typedef struct ranges {
    const haul_shipment *shipment;
    haul_range_visitor *visit;
    void *user;
} ranges;

static haul_status hand_over(const ranges *r, const haul_shipped_range *range)
{
    return r->visit(r->user, range) == 0
               ? HAUL_OK
               : haul__fail(&r->shipment->device->context->error, HAUL_ERROR_CANCELLED,
                            "the visitor of ranges cancelled the call");
}

static haul_status list(haul__nodes *nodes, void *user)
{
    const ranges *r = user;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < nodes->span_count; i++) { /* a type's bytes need not begin at 0 */
        const haul__entry *entry = &nodes->walk.entries.at[nodes->spans[i].entry];
        if (entry->what == HAUL__OBJECTS)
            nodes->spans[i].begin += nodes->walk.met_types[entry->met_type].walk->true_lower;
    }
    haul__sort(nodes->spans, nodes->span_count, sizeof *nodes->spans, haul__is_span_before);
    for (i = 0; i < nodes->span_count && status == HAUL_OK; i++) {
        const haul__range_of_node *span = &nodes->spans[i];
        const haul__entry *entry = &nodes->walk.entries.at[span->entry];
        const haul__met_type *met = &nodes->walk.met_types[entry->met_type];
        haul_shipped_range range;
        range.host = (void *)span->begin;
        range.device = haul_device_pointer(r->shipment, range.host);
        range.bytes = span->end - span->begin;
        range.count = entry->count;
        /* not a type that commit made up, for pointers with a rule each */
        range.type = entry->what == HAUL__OBJECTS && !met->walk->is_slot ? met->type : NULL;
        if (!range.device || !haul_device_pointer(r->shipment, (void *)(span->end - 1)))
            status = haul__fail(
                &nodes->context->error, HAUL_ERROR_STALE,
                "the graph has changed and leads out of the shipment, to 0x%" PRIxPTR, span->begin);
        else
            status = hand_over(r, &range);
    }
    return status;
}

haul_status haul_shipment_ranges(const haul_shipment *shipment, haul_range_visitor *visit,
                                 void *user)
{
    ranges r = { shipment, visit, user };
    const haul_source source = haul_from_shipment(shipment);
    haul_shipped_range all;
    haul_context *context;
    haul_status status;
    if (!haul__shipment_is_valid(shipment))
        return HAUL_ERROR_ARGUMENT;
    context = shipment->device->context;
    status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    if (!visit) {
        status = haul__fail(&context->error, HAUL_ERROR_ARGUMENT, "the visitor of ranges is NULL");
    } else if (source.kind == HAUL_SOURCE_ARENA) {
        memset(&all, 0, sizeof all);
        all.host = shipment->contents.base;
        all.device = haul_device_pointer(shipment, all.host);
        all.bytes = all.count = shipment->contents.bytes;
        status = hand_over(&r, &all);
    } else {
        status = haul__nodes_visit(context, &source, sizeof source, list, &r);
    }
    haul__context_leave(context);
    return status;
}
