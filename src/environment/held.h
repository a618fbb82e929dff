/* How often each range of a group is held, while the root that the group was found from is not.
 */
#ifndef HAUL_ENVIRONMENT_HELD_H
#define HAUL_ENVIRONMENT_HELD_H

#include "environment/environment.h"

/* All of these stand inside a call that has the environment's lock. */

/* Counts the holds of a group, unless they are counted: roots, except the one at `leaver`, and
 * groups that do not leave. 0: out of memory. */
int haul__count_held(haul_environment *environment, uint32_t number, uintptr_t leaver);
/* The root comes, or leaves. */
void haul__root_comes(haul_environment *environment, const haul__hold *hold);
void haul__root_goes(haul_environment *environment, const haul__hold *hold);
/* A group comes, or leaves, whose walk has stopped in others; what stays of one that has left. */
void haul__stops_come(haul_environment *environment, const haul__sent_group *group);
void haul__stops_go(haul_environment *environment, const haul__sent_group *group);
void haul__stops_stay(haul_environment *environment, const haul__rest *rest);
/* The group will have these of its ranges alone. */
void haul__cut_held(haul__sent_group *group, const haul__covered *ranges, size_t count);
void haul__drop_held(haul_environment *environment, haul__sent_group *group);
/* After an exit that has failed: nothing is counted any more. */
void haul__drop_all_held(haul_environment *environment);

#endif
