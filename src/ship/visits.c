/* Visits of what a shipment holds, as the program asks for them: ranges or extents.
 */
#include "context/context.h"
#include "ship/shipment.h"
#include "ship/spans.h"

typedef haul_status tell_ranges(const haul_shipment *shipment, haul_range_visitor *visit,
                                void *user);

static haul_status tell_all(const haul_shipment *shipment, haul_range_visitor *visit, void *user,
                            tell_ranges *tell)
{
    haul_context *context;
    haul_status status;
    if (!haul__shipment_is_valid(shipment))
        return HAUL_ERROR_ARGUMENT;
    context = shipment->device->context;
    status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    status = visit ? tell(shipment, visit, user)
                   : haul__fail(&context->error, HAUL_ERROR_ARGUMENT, "the visitor is NULL");
    haul__context_leave(context);
    return status;
}

haul_status haul_shipment_ranges(const haul_shipment *shipment, haul_range_visitor *visit,
                                 void *user)
{
    return tell_all(shipment, visit, user, haul__tell_ranges);
}

haul_status haul_shipment_extents(const haul_shipment *shipment, haul_range_visitor *visit,
                                  void *user)
{
    return tell_all(shipment, visit, user, haul__tell_extents);
}
