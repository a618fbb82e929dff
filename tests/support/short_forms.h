/* Short forms of calls, for tests. */
#ifndef HAUL_TEST_SHORT_FORMS_H
#define HAUL_TEST_SHORT_FORMS_H

#include <haul.h>
#include "haul/experimental.h"

#define OWN_STREAM (&(const haul_async){ NULL, NULL })
#define WITH_POINTERS (&(const haul_update_options){ .pointers = 1 })
#define ALL_OR_NOTHING (&(const haul_update_options){ .all_or_nothing = 1 })
#define RANGE(at, size) (&(const haul_update_options){ .host = (at), .bytes = (size) })
#define ORDERED (&(const haul_plan_options){ .ordered = 1 })

/* For pointers to functions. */
static inline haul_status refresh_now(haul_shipment *shipment)
{
    return haul_update_device(shipment, NULL, NULL);
}

static inline haul_status reship_now(haul_shipment *shipment)
{
    return haul_reship(shipment, NULL);
}

static inline haul_status unmarshal_pointers_now(haul_shipment *shipment)
{
    return haul_update_host(shipment, WITH_POINTERS, NULL);
}

/* A shipment just made, which is to return directly. */
static inline haul_status directly(haul_status status, haul_shipment *const *shipment)
{
    return status == HAUL_OK ? haul_return_directly(*shipment) : status;
}

/* The audit of tests with random data. If pointers have 4 bytes, some of it looks like addresses,
 * so the graph alone is looked at. */
static inline haul_status audit_roots_of(haul_context *context, const haul_root *roots,
                                         size_t count, const haul_audit_options *options,
                                         haul_audit_info *info)
{
    const haul_source source = haul_from_roots(roots, count);
    return haul_audit_sized(context, sizeof(void *) > 4 ? haul_this_process() : NULL, &source,
                            sizeof source, options, sizeof *options, info, sizeof *info);
}

static inline haul_address device_address(const haul_shipment *shipment, const void *host)
{
    return (uintptr_t)haul_device_pointer(shipment, host);
}

static inline void *host_of(const haul_shipment *shipment, haul_address device)
{
    return haul_host_pointer(shipment, (const void *)(uintptr_t)device);
}

static inline haul_plan_info plan_info(const haul_plan *plan)
{
    haul_plan_info info;
    haul_plan_get_info(plan, &info);
    return info;
}

static inline size_t plan_bytes(const haul_plan *plan)
{
    return plan_info(plan).arena_bytes;
}

static inline size_t plan_bitmap_bytes(const haul_plan *plan)
{
    return plan_info(plan).bitmap_bytes;
}

static inline size_t plan_alignment(const haul_plan *plan)
{
    return plan_info(plan).alignment;
}

#endif
