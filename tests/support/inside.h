/* Settings of a device and its context that no option has, for tests that need one of them.
 */
#ifndef HAUL_TEST_INSIDE_H
#define HAUL_TEST_INSIDE_H

#include "device/device.h"

/* From now on the host patches the pointers of every graph that is shipped, not only of those that
 * the device is too slow for; 0: of none. */
static inline void host_patches(haul_device *device, int all)
{
    device->capabilities.patch_bytes = all ? SIZE_MAX : 0;
}

/* Another listener; `progress` NULL: none. */
static inline void listen_on(haul_device *device, haul_progress *progress, void *user)
{
    device->context->listener.progress = progress;
    device->context->listener.user = user;
}

#endif
