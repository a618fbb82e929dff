/* The tables of an environment, for people.
 */
#ifndef HAUL_ENVIRONMENT_LISTING_H
#define HAUL_ENVIRONMENT_LISTING_H

#include "environment/environment.h"
#include "graph/pen.h"

/* haul_environment_dump, inside a call that has the environment's lock. */
haul_status haul__list_environment(const haul_environment *e, size_t most, haul__pen *pen);

#endif
