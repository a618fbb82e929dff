/* A staging buffer for one call. */
#ifndef HAUL_DEVICE_STAGING_H
#define HAUL_DEVICE_STAGING_H

#include "device/ring.h"
#include "device/streams.h"

/* A buffer of the ring or, for more than a piece, memory of its own. `skew`, below
 * HAUL__STAGE_ALIGNMENT, moves `data`, so that a piece of an arena lies as it does in the arena. */
typedef struct haul__staging {
    unsigned char *data;  /* what was asked for */
    haul__buffer *buffer; /* or NULL: */
    haul__memory own;
    int plain;
} haul__staging;
haul_status haul__stage(haul_device *device, size_t bytes, size_t skew, haul__staging *staging);
void haul__unstage(haul_device *device, haul__staging *staging);
/* The same where work may go on; `work` may be NULL: it does not. */
void haul__unstage_until(haul_device *device, haul__staging *staging, const haul__work *work);
/* A uint32_t of 0, which the device sets where it has something to tell; data NULL: there is no
 * memory for it. */
haul_status haul__stage_word(haul_device *device, haul__staging *staging);
/* Has it, now that it has finished? Gives the memory back. */
int haul__unstage_word(haul_device *device, haul__staging *staging);

#endif
