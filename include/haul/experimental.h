/* Experimental parts: nurseries, direct returns, and rebuilding (rebuild.h). A later version may
 * change or remove them. haul.h includes this header if HAUL_EXPERIMENTAL is defined before it.
 */
#ifndef HAUL_EXPERIMENTAL_H
#define HAUL_EXPERIMENTAL_H

#include "haul/arena.h"
#include "haul/device_arena.h"
#include "haul/rebuild.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A nursery: a part of the arena in which kernels make objects of up to `bytes` bytes together
 * (haul/device_arena.h), and a bit for each of its words. Nurseries are for typed arenas; a
 * shipment patches the nursery's own pointers as any others. haul_update_host with options.pointers
 * alone brings the device's new objects: it writes their data and pointers, adds the pointers to
 * the arena's for later shipments, and sets nursery->used to the bytes in use. No other call, and
 * no shipment that was discovered, writes the struct, its bits, or the memory behind `used` on the
 * host. If the program has overwritten the struct, the next ship or update repairs it. If two
 * shipments of the arena have made objects, both used the same places. When those of one have come,
 * haul_update_host with options.pointers of the other answers HAUL_ERROR_STALE until it is
 * refreshed. If results of a shipment with nurseries are on their way, haul_update_device of it
 * first does what haul_wait does. To release a nursery with all objects in it, pass the same
 * `bytes` to haul_arena_release. Its objects cannot be released one by one: HAUL_ERROR_ARGUMENT.
 * NULL on failure; haul_arena_error says why. */
HAUL_API haul_nursery *haul_arena_new_nursery(haul_arena *arena, size_t bytes);

/* Fills *layout: the size and the pointers of a committed type, for kernels that make such objects.
 * HAUL_ERROR_ARGUMENT: NULL. HAUL_ERROR_STATE: the type is not committed. HAUL_ERROR_UNSUPPORTED: a
 * type of more than 64 words, with an alignment above a granule, with pointers off the grid, or
 * that haul_arena_new refuses (and says why). HAUL_SKIP fields of objects that a kernel has made
 * come back as the kernel left them. */
HAUL_API haul_status haul_device_layout_of(const haul_type *type, haul_device_layout *layout);

/* From now on, when all data of this shipment comes back, the device turns its pointers into the
 * host's, and one copy at full speed goes straight into the arena. Kernels must be trusted: no
 * pointer or count is checked. If such a call fails halfway, the arena's contents are undefined on
 * both sides until it succeeds, or until an update of the device from good contents does. Without
 * effect for arenas with HAUL_SKIP fields, pointers off the grid or with high tags, nurseries, or
 * pointers that lead out and are null on the device. HAUL_ERROR_ARGUMENT: the shipment is of no
 * arena. */
HAUL_API haul_status haul_return_directly(haul_shipment *shipment);

#ifdef __cplusplus
}
#endif
#endif
