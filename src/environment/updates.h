/* Updates: batches moved in one transfer, of parts, or of what a host has changed.
 */
#ifndef HAUL_ENVIRONMENT_UPDATES_H
#define HAUL_ENVIRONMENT_UPDATES_H

#include "environment/strips.h"

/* All of these stand inside a call that has entered the device, and has the environment's lock. */

/* updates.c */
haul_status haul__update_parts(haul_environment *e, const haul_update_part *parts, size_t count,
                               haul_direction direction, const haul_async *async);
/* Moves all data of a group. */
haul_status haul__move_group(haul_environment *e, uint32_t number, haul_direction direction,
                             const haul_async *async);
/* Brings all data of a group, by the fastest route. */
haul_status haul__return_group(haul_environment *e, uint32_t number);
/* Moves a batch whose strips have their places. A result that comes later takes it over. */
haul_status haul__move_batch(haul__batch *batch, const haul_async *async);

/* sync.c: haul_environment_sync. */
haul_status haul__sync(haul_environment *e, const void *host);
/* haul_environment_track_writes. */
haul_status haul__track_writes(haul_environment *e, int on);
/* For a group of which a part leaves (cut.h): the part gets digests of what stays, in which pages
 * are new that are so now. 0: out of memory. Reads what leaves. */
int haul__cut_digests(haul_environment *e, const haul__sent_group *group, haul__sent_group *part);
/* They become the group's, and the group's become the part's. Cannot fail. */
void haul__take_cut_digests(haul_environment *e, haul__sent_group *group, haul__sent_group *part);
/* For the end of a group. */
void haul__drop_digests(haul_environment *e, haul__sent_group *group);
/* The host memory that they take. */
size_t haul__digest_bytes(const haul__sent_group *group);

#endif
