/* Groups that have left while work of theirs is under way: nothing of them is present, but their
 * memory is in use, and results may have to be written.
 */
#ifndef HAUL_ENVIRONMENT_LEAVING_H
#define HAUL_ENVIRONMENT_LEAVING_H

#include "environment/environment.h"

/* All of these stand inside a call that has entered the device, and has the environment's lock. */

/* leaving.c: hides a group, and frees it, or lists it if it has work under way. */
void haul__group_leave(haul_environment *e, uint32_t number);
/* Before an enter reads host objects: writes the results of groups that have left. */
haul_status haul__finish_left(haul_environment *e);
/* Frees them when nothing of theirs is under way; and for the end of the environment. */
void haul__collect_left(haul_environment *e);
void haul__discard_left(haul_environment *e);
/* haul_environment_wait and haul_environment_poll. */
haul_status haul__wait_for_all(haul_environment *e);
haul_status haul__poll_all(haul_environment *e);

/* exits.c: may such an exit be, of a root with this hold or NULL? Can objects leave with it? If
 * not: the root leaves, or one of its enters. */
int haul__may_exit(const haul__hold *hold, const haul_exit_options *options);
int haul__lets_go(const haul_environment *e, const haul__hold *hold,
                  const haul_exit_options *options);
void haul__count_exit(haul_environment *e, haul__hold *hold, const haul_exit_options *options);
/* Any exit. */
haul_status haul__exit(haul_environment *e, const void *root, const haul_exit_options *options,
                       const haul_async *async);

#endif
