/* The watcher of an environment: told of each range that comes or goes. */
#ifndef HAUL_ENVIRONMENT_WATCH_H
#define HAUL_ENVIRONMENT_WATCH_H

#include "environment/environment.h"

/* The watcher takes all ranges of a group, or none: HAUL_ERROR_CANCELLED. */
haul_status haul__watch_comes(const haul_environment *environment, const haul__sent_group *group);
void haul__watch_goes(const haul_environment *environment, const haul__sent_group *group);

#endif
