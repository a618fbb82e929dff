/* What haul/openmp.h and haul/openacc.h share. Programs include one of these.
 *
 * A run time of directives has a table of its own. Two visitors write it, as
 * haul_environment_watch takes them: `comes` adds a range, `goes` takes one out. For a shipment
 * they are called here, with all of its extents or none.
 */
#ifndef HAUL_TOLD_H
#define HAUL_TOLD_H

#include "haul/ship.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_told {
    haul_range_visitor *comes, *goes;
    void *user;
    size_t extents; /* in the table; to be taken out */
} haul_told;

static inline int haul_told_comes(void *user, const haul_shipped_range *extent)
{
    haul_told *told = (haul_told *)user;
    if (told->comes(told->user, extent))
        return 1;
    told->extents++;
    return 0;
}

static inline int haul_told_goes(void *user, const haul_shipped_range *extent)
{
    haul_told *told = (haul_told *)user;
    if (told->extents == 0)
        return 1;
    told->extents--;
    told->goes(told->user, extent);
    return 0;
}

/* HAUL_ERROR_DEVICE: `comes` refuses an extent, which the record names. What it had taken goes,
 * however long another thread keeps the context. */
static inline haul_status haul_told_associate(haul_told *told, const haul_shipment *shipment,
                                              size_t *count)
{
    haul_status status;
    told->extents = 0;
    status = haul_shipment_extents(shipment, haul_told_comes, told);
    if (count)
        *count = status == HAUL_OK ? told->extents : 0;
    if (status != HAUL_ERROR_CANCELLED)
        return status;
    while (haul_shipment_extents(shipment, haul_told_goes, told) == HAUL_ERROR_BUSY)
        continue;
    return HAUL_ERROR_DEVICE;
}

static inline haul_status haul_told_dissociate(haul_told *told, const haul_shipment *shipment)
{
    told->extents = SIZE_MAX;
    return haul_shipment_extents(shipment, haul_told_goes, told);
}

static inline haul_status haul_told_reship(haul_told *told, haul_shipment *shipment, size_t *count)
{
    haul_status status = haul_told_dissociate(told, shipment), again;
    if (count)
        *count = 0;
    if (status != HAUL_OK)
        return status;
    status = haul_reship(shipment, NULL);
    again = haul_told_associate(told, shipment, count);
    return status != HAUL_OK ? status : again;
}

#ifdef __cplusplus
}
#endif
#endif
