/* Pointers of present objects that lead into a new group (list_attached.c).
 */
#ifndef HAUL_ENVIRONMENT_LIST_ATTACHED_H
#define HAUL_ENVIRONMENT_LIST_ATTACHED_H

#include "environment/environment.h"

/* Lists the pointers of the ranges that the walk stopped at, if they lead into the group. 0: out of
 * memory. */
int haul__list_attached(haul_environment *environment, haul__sent_group *group);

#endif
