/* A scene goes to a device, is traced there, and its image comes back. */
#ifndef EXAMPLES_BVH_REQUEST_H
#define EXAMPLES_BVH_REQUEST_H

#include "bvh_scene.h"
#include "device.h"

/* `type` is that of the scene. Prints sizes and times. The errors are those of haul_ship, launch
 * and haul_unmarshal. */
haul_status trace(haul_device *device, const haul_type *type, scene *all);

#endif
