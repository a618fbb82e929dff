/* Images that go straight to devices.
 */
#ifndef HAUL_IMAGE_ON_DEVICES_H
#define HAUL_IMAGE_ON_DEVICES_H

#include "context/context.h"
#include "haul/image.h"

/* Where a graph goes. count 0: to no device. */
typedef struct haul__on_devices {
    haul_device *const *devices;
    size_t count;
    haul_shipment **shipments;
    haul_arena *arena; /* to read the graph into */
} haul__on_devices;

/* Both stand outside of any call: they are calls on the context, one after another. */

/* Looks for devices in the options, and makes the arena. Results are NULL then. The errors are
 * those of haul_image_load; options of a newer version are left to the caller. */
haul_status haul__on_devices_begin(haul_context *context, const haul_image_options *options,
                                   size_t options_bytes, haul__on_devices *on);
/* Ships the graph of these roots to each device: all of the arena if it is there, or packed. After
 * a failure no device holds anything. */
haul_status haul__on_devices_end(const haul__on_devices *on, int is_in_arena,
                                 const haul_root *roots, size_t count);

#endif
