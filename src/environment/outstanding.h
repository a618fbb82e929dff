/* What asynchronous calls on an environment leave under way: work of its groups, and results for
 * the host.
 */
#ifndef HAUL_ENVIRONMENT_OUTSTANDING_H
#define HAUL_ENVIRONMENT_OUTSTANDING_H

#include "environment/strips.h"

/* All of these stand inside a call that has entered the device, and has the environment's lock. */

/* batches.c: copies the runs of a batch that begin in [first, end) of the buffer to it, or from it,
 * by its direction. */
void haul__batch_copy(const haul__batch *batch, unsigned char *packed, size_t first, size_t end);
/* Writes what has arrived, unless a count or terminator has changed, and counts the transfer. */
haul_status haul__batch_write(const haul__batch *batch, unsigned char *packed);

/* A batch on its way to the host. */
struct haul__result {
    haul__result *next;
    haul__batch batch;
    haul__memory memory; /* the batch's buffer */
    haul__work work;
};

/* NULL, with the record: out of memory. */
haul__result *haul__new_result(haul_environment *e);
/* Lists a result behind all others. Takes over the batch and the memory. */
void haul__list_result(haul__result *result, haul__batch *batch, haul__memory *memory,
                       const haul__work *work);
/* Gives staging memory back, or keeps it for the next update. */
void haul__keep_staged(haul_environment *e, haul__memory *memory);

/* Before a call touches a group: waits for its work, and writes results, up to the last one of the
 * group. An asynchronous call waits for work on another stream than its own, and writes nothing.
 * Then the stream must be selected (haul__select_for). */
haul_status haul__come_behind(haul_environment *e, haul__sent_group *group,
                              const haul_async *async);
/* After it: notes the call's work. */
void haul__note_work(haul__sent_group *group, const haul__work *work);
void haul__note_batch(const haul__batch *batch, const haul__work *work);
/* The end of a call that has ordered nothing: signals the event, and notes that in *work. */
haul_status haul__signal(haul_environment *e, const haul_async *async, haul__work *work);
/* A whole call that moves nothing of a group: waits for the group's work, or signals behind it. */
haul_status haul__pass_group(haul_environment *e, haul__sent_group *group, const haul_async *async);

/* Writes results up to the last one of the group; NULL: all. The first failure counts; `failure`:
 * one that the record describes already. */
haul_status haul__write_results(haul_environment *e, const haul__sent_group *group,
                                haul_status failure);
/* Does one of them read the group? */
int haul__has_results(const haul_environment *e, const haul__sent_group *group);
/* The last result; NULL: there is none. The other call drops it. */
const haul__result *haul__last_result(const haul_environment *e);
void haul__drop_last_result(haul_environment *e);
/* For the end of the environment, once its groups are gone. */
void haul__drop_results(haul_environment *e);

#endif
