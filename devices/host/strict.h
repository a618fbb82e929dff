/* Strict launches. */
#ifndef HAUL_HOST_STRICT_H
#define HAUL_HOST_STRICT_H

#include "fault.h"

/* Can they work in this process? Not with a sanitizer, whose own memory they would close. */
int haul__host_can_be_strict(void);
/* Runs function(argument) in a child. `frame`: the frame of the call that the user made. HAUL_OK,
 * or HAUL_ERROR_DEVICE, with a sentence if the kernel did not run into other memory. */
haul_status haul__host_launch_strictly(haul__host *host, void (*function)(void *argument),
                                       void *argument, uintptr_t frame, haul__host_fault *fault,
                                       char *text, size_t room);

#endif
