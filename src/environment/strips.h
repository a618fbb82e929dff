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
    const haul__sent_group *group;
    int is_blind;   /* the host may not read them: they were not sent */
    int is_watched; /* the system tells who writes to them (sync.c) */
} haul__strip;

/* Strips in one buffer, in the order of places. */
typedef struct haul__strips {
    HAUL__LIST(haul__strip) list;
    HAUL__LIST(haul_strip) there; /* the same for a device, once they have places */
    size_t bytes, packed_bytes;   /* of data, and of the buffer */
} haul__strips;

/* The strips of one member of all objects of its type in a group, kept for the next update. */
struct haul__member {
    haul__member *next;
    haul_update_part part; /* without `host` */
    haul_direction direction;
    haul__strips strips;
};

/* What an update moves: kept strips, and those of its other parts. It begins with zeros, and is
 * dropped, after a failure, too. */
typedef struct haul__batch {
    haul_environment *e;
    haul_direction direction;
    haul__strips own;
    HAUL__LIST(const haul__strips *) all;
    HAUL__LIST(haul__sent_group *) groups; /* that they lie in; some more than once */
} haul__batch;

/* Lists all data of a group that goes in a direction, in runs of at most `most` bytes. */
haul_status haul__list_group(haul_environment *e, uint32_t number, haul_direction direction,
                             size_t most, haul__strips *strips);
/* Lists the data of a group that comes back by the directions of another plan of its objects. */
haul_status haul__list_planned(haul_environment *e, uint32_t number, const haul_plan *plan,
                               haul__strips *strips);
/* Gives strips their places, once all are listed. */
void haul__place_strips(haul__strips *strips);
void haul__drop_strips(haul_environment *e, haul__strips *strips);
/* The number of the strip at a place of the buffer; or of the next one, if that is a gap. */
size_t haul__strip_at(const haul__strips *strips, size_t place);
/* The runs of a strip that begin in [first, end) of the buffer: from *from to the answer. The strip
 * begins before `end`, and does not end before `first`. */
HAUL__INLINE size_t haul__runs_in(const haul__strip *strip, size_t first, size_t end, size_t *from)
{
    const size_t before = first > strip->packed ? first - strip->packed : 0,
                 to = (end - strip->packed - 1) / strip->bytes + 1;
    *from = (before + strip->bytes - 1) / strip->bytes;
    return to < strip->count ? to : strip->count;
}

/* Add to a batch: a group that its strips lie in; a run of a strip. */
haul_status haul__add_group(haul__batch *batch, uint32_t number);
haul_status haul__add_run(haul__batch *batch, const haul__strip *strip, size_t k);
/* Once all runs are added, and before the batch moves. */
haul_status haul__finish_batch(haul__batch *batch);
/* Lists the data of parts, and finishes the batch. */
haul_status haul__list_parts(haul__batch *batch, const haul_update_part *parts, size_t count);
void haul__drop_batch(haul__batch *batch);

/* For the end of a group. */
void haul__drop_members(haul_environment *e, haul__sent_group *group);
/* The host memory that they take. */
size_t haul__member_bytes(const haul__sent_group *group);

#endif
