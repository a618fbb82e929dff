#include "bvh_request.h"

#include <stdio.h>

#include "bvh_trace.h"

const char *trace_on_gpu(void *scene, long pixels); /* bvh_trace.cu */

haul_status trace(haul_device *device, const haul_type *type, scene *all)
{
    haul_shipment *shipment = NULL;
    haul_shipment_info told;
    const double start = milliseconds();
    double shipped, traced;
    haul_status status = haul_ship(device, all, type, 1, NULL, &shipment);
    shipped = milliseconds();
    if (!status)
        status = launch(device, trace_pixel, ON_GPU(trace_on_gpu),
                        haul_device_pointer(shipment, all), (long)all->width * all->height);
    traced = milliseconds();
    if (!status)
        status = haul_unmarshal(shipment);
    haul_shipment_get_info(shipment, &told);
    printf("Shipped: %lu objects with %lu pointers, one transfer of %.1f MB\n",
           (unsigned long)told.objects, (unsigned long)told.pointers,
           1e-6 * (double)told.arena_bytes);
    printf("Milliseconds: ship %.1f, trace %.1f, unmarshal %.1f\n", shipped - start,
           traced - shipped, milliseconds() - traced);
    haul_shipment_free(&shipment);
    return status;
}
