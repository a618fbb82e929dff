/* Places: which pages of a range lie in device memory, and which elsewhere.
 */
#ifndef HAUL_SHIP_PLACES_H
#define HAUL_SHIP_PLACES_H

#include "device/range.h"
#include "haul/ship.h"

/* HAUL_ERROR_ARGUMENT, HAUL_ERROR_UNSUPPORTED: options of places that the source or the device has
 * no use for. */
haul_status haul__check_place_options(haul_device *device, int is_arena,
                                      const haul_ship_options *options);

/* Must discovery note the hints? Else no page can lie elsewhere for them. */
int haul__are_hints_needed(const haul_device *device, const haul_ship_options *options);

/* Chooses the places of a range that is laid out and not allocated: its placings, or none if all of
 * it lies in device memory. Whether that is allowed, haul__allocate_aligned decides. `plan` NULL: a
 * user's arena, whose bytes all count alike. */
haul_status haul__choose_places(haul_device *device, haul_plan *plan,
                                const haul_ship_options *options, haul__range *range);

#endif
