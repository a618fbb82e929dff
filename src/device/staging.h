/* Staging: one buffer for one call. */
#ifndef HAUL_DEVICE_STAGING_H
#define HAUL_DEVICE_STAGING_H

#include "device/ring.h"
#include "device/streams.h"

/* A buffer of the ring or, for more than a piece, memory of its own. */
typedef struct haul__staging {
    unsigned char *data;
    haul__buffer *buffer; /* NULL: `own` */
    haul__memory own;
    int plain; /* not pinned */
} haul__staging;

/* `skew`, below HAUL__STAGE_ALIGNMENT, is where `data` begins within a granule: a piece of an arena
 * is then aligned as in the arena. */
haul_status haul__stage(haul_device *device, size_t bytes, size_t skew, haul__staging *staging);
void haul__unstage(haul_device *device, haul__staging *staging);
/* The same; if `work` is pending, the memory stays in use until its fence. `work` may be NULL. */
void haul__unstage_until(haul_device *device, haul__staging *staging, const haul__work *work);
/* A uint32_t of 0 for the device to set. data NULL: there is no pinned memory for it. */
haul_status haul__stage_word(haul_device *device, haul__staging *staging);
/* After the work: did the device set it? Gives the memory back. */
int haul__unstage_word(haul_device *device, haul__staging *staging);

#endif
