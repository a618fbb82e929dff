/* Images that go straight to devices.
 *
 * The image is read and checked once, into an arena. There bits tell its pointers, so it is shipped
 * as it lies: one copy and one patch. (An arena of pinned memory cannot grow, and how large the
 * graph is, the image says only when it is read.) Other devices of the same
 * kind take it from the first one, without the host. Types that no arena takes are read into new
 * memory, and packed for each device by one plan.
 */
#include "image/on_devices.h"

#include "base/sized.h"
#include "base/status.h"
#include "device/device.h"
#include "haul/arena.h"
#include "haul/ship.h"

static const char *fault_of(const haul_context *context, const haul_image_options *options)
{
    size_t i;
    if (!options->devices || !options->shipments)
        return "options->devices or options->shipments is NULL, and device_count is not 0";
    if (options->buffer || options->arena)
        return "a graph goes to devices, or into a buffer or an arena, and two of them are given";
    for (i = 0; i < options->device_count; i++)
        if (!haul__device_is_valid(options->devices[i]) || options->devices[i]->context != context)
            return "a device is NULL, closed or of another context";
    return NULL;
}

haul_status haul__on_devices_begin(haul_context *context, const haul_image_options *options,
                                   size_t options_bytes, haul__on_devices *on)
{
    haul_image_options how;
    const char *fault;
    haul_status status;
    size_t i;
    memset(on, 0, sizeof *on);
    if (haul__read_options(&how, sizeof how, options, options_bytes) != HAUL_OK ||
        how.device_count == 0)
        return HAUL_OK;
    on->devices = how.devices;
    on->count = how.device_count;
    on->shipments = how.shipments;
    for (i = 0; on->shipments && i < on->count; i++)
        on->shipments[i] = NULL;
    status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    fault = fault_of(context, &how);
    if (fault)
        status = haul__fail(&context->error, HAUL_ERROR_ARGUMENT, "%s", fault);
    haul__context_leave(context);
    if (status != HAUL_OK)
        return status;
    return haul_arena_create(context, NULL, &on->arena);
}

/* The first one has it; NULL: nobody does yet. */
static haul_status ship_one(haul_device *device, haul_source source, haul_shipment *first,
                            haul_shipment **shipment)
{
    haul_status status = HAUL_ERROR_UNSUPPORTED; /* kinds differ, or copy nothing */
    if (first)
        status = haul_shipment_copy(first, device, shipment);
    return status == HAUL_ERROR_UNSUPPORTED ? haul_ship_from(device, source, NULL, NULL, shipment)
                                            : status;
}

haul_status haul__on_devices_end(const haul__on_devices *on, int is_in_arena,
                                 const haul_root *roots, size_t count)
{
    haul_source source = haul_from_arena(on->arena);
    haul_status status = HAUL_OK;
    haul_plan *plan = NULL;
    size_t i;
    if (!is_in_arena) {
        status = haul_plan_create(haul_device_context(on->devices[0]),
                                  haul_from_roots(roots, count), NULL, &plan);
        source = haul_from_plan(plan);
    }
    for (i = 0; i < on->count && status == HAUL_OK; i++)
        status =
            ship_one(on->devices[i], source, i > 0 ? on->shipments[0] : NULL, &on->shipments[i]);
    for (i = on->count; status != HAUL_OK && i-- > 0;)
        haul_shipment_free(&on->shipments[i]);
    haul_plan_free(&plan);
    return status;
}
