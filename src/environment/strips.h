/* Strips: the bytes that an update moves, as runs at equal distances.
 */
#ifndef HAUL_ENVIRONMENT_STRIPS_H
#define HAUL_ENVIRONMENT_STRIPS_H

#include "environment/environment.h"

/* `count` runs of data, `bytes` bytes each. From one to the next, addresses grow by the strides,
 * modulo the address space. */
typedef struct haul__strip {
    uintptr_t host, host_stride;
    haul_address device;
    uint64_t device_stride;
    size_t bytes, count;
    size_t packed; /* the place of the first one in a buffer where they lie side by side */
    uint32_t group;
    int is_blind; /* the host may not read them: they were not sent */
} haul__strip;

typedef struct haul__strips {
    HAUL__LIST(haul__strip) list;
    size_t bytes, packed_bytes; /* of data, and of the buffer */
} haul__strips;

/* Lists the data of a part of an update. On failure some of it may be listed. */
haul_status haul__list_part(haul_environment *e, const haul_update_part *part,
                            haul_direction direction, haul__strips *strips);
/* Gives each strip its place in the buffer, once all are listed. */
void haul__place_strips(haul__strips *strips);
/* Writes the list for a device, except if `list` is NULL. Answers its length. */
size_t haul__write_strips(const haul__strips *strips, haul_strip *list);

#endif
