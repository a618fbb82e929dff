/* Updates of parts: listed, and moved in one transfer.
 */
#ifndef HAUL_ENVIRONMENT_UPDATES_H
#define HAUL_ENVIRONMENT_UPDATES_H

#include "environment/environment.h"

/* Inside a call that has entered the device, and has the environment's lock. */
haul_status haul__update_parts(haul_environment *e, const haul_update_part *parts, size_t count,
                               haul_direction direction);

#endif
