/* Unmarshal: results from the device back into the objects that they came from.
 *
 * The whole arena comes back into staging in one transfer. Only when all of it has arrived, and, where pointers come
 * back too, every one of them has been found to lead into the graph, does the first byte go to a host object. What
 * the device wrote is not trusted: it is data, or an offset that is checked.
 */
#include "ship/ship.h"

static haul_status write_data(haul_shipment *shipment, const unsigned char *arena)
{
    haul__listener listener = haul__shipment_listener(&shipment->options);
    return haul__scatter(shipment->plan, arena, listener.progress ? &listener : NULL);
}

static haul_status write_pointers(haul_shipment *shipment, const unsigned char *arena)
{
    uint64_t base = shipment->range.address;
    haul_status status = haul__check_pointers(shipment->plan, arena, base);
    return status == HAUL_OK ? haul__scatter_pointers(shipment->plan, arena, base) : status;
}

static haul_status bring_back(haul_shipment *shipment,
                              haul_status (*write)(haul_shipment *shipment, const unsigned char *arena))
{
    haul_shipment_statistics *statistics = &shipment->statistics;
    haul__staging staging;
    double start, arrived;
    size_t bytes = shipment->range.arena_bytes;
    haul_status status = haul__stage(shipment->device, bytes, 0, &staging);
    if (status != HAUL_OK)
        return status;
    start = haul__seconds();
    status = haul__shipment_receive(shipment, staging.data, 0, bytes);
    if (status == HAUL_OK) {
        arrived = haul__seconds();
        status = write(shipment, staging.data);
        statistics->return_seconds = arrived - start;
        statistics->scatter_seconds = haul__seconds() - arrived;
    }
    haul__unstage(shipment->device, &staging);
    return status;
}

haul_status haul_unmarshal(haul_shipment *shipment)
{
    haul_status status = haul__shipment_enter(shipment);
    if (status != HAUL_OK)
        return status;
    status = bring_back(shipment, write_data);
    haul__shipment_leave(shipment);
    return status;
}

haul_status haul_unmarshal_pointers(haul_shipment *shipment)
{
    haul_status status = haul__shipment_enter(shipment);
    if (status != HAUL_OK)
        return status;
    status = bring_back(shipment, write_pointers);
    haul__shipment_leave(shipment);
    return status;
}
