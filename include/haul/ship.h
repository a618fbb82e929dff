/* Shipments: a graph resident on a device, tied to the host objects it came from.
 *
 *     haul_ship(device, root, mesh_type, 1, NULL, &s);        discover, pack, one transfer, relocate on the device
 *     kernel(haul_device_pointer(s, root));
 *     haul_unmarshal(s);                                      data back into the original objects
 *     haul_shipment_free(&s);
 *
 * The words are those of OpenMP and OpenACC: a shipment is a present table for one graph, its pointers are attached,
 * update moves contents in either direction. Unlike theirs, a bring-back never writes a pointer of the host's.
 *
 * All calls here use the device's context (one thread at a time, else HAUL_ERROR_BUSY), return when the device is
 * done, and leave words in haul_device_error. HAUL_ERROR_MEMORY, HAUL_ERROR_DEVICE_MEMORY, HAUL_ERROR_DEVICE,
 * HAUL_ERROR_DEVICE_LOST can come from each that moves data, and are not repeated below. On any failure no host
 * object has been written, and the call can be repeated.
 */
#ifndef HAUL_SHIP_H
#define HAUL_SHIP_H

#include "haul/device.h"
#include "haul/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_shipment haul_shipment;

/* Told every 4 MiB or so while a call packs, and at its end: bytes done and in all; before an unmarshal writes it is
 * asked once, with 0 done. An answer other than 0 cancels: the call fails with HAUL_ERROR_STATE and leaves nothing behind. */
typedef int haul_progress(void *user, uint64_t done, uint64_t total);

typedef struct haul_ship_options {
    int relocate_on_host;   /* not 0: patch pointers while packing, where the base is known; the same bytes arrive */
    haul_progress *progress;
    void *progress_user;
} haul_ship_options;

/* Makes a plan for the roots (haul_plan_create says what can be wrong), allocates one arena on the device, packs,
 * sends it in one transfer, and relocates it there. `options` may be NULL. The source must stay where it is until the
 * shipment is freed. On failure *shipment is NULL and the device holds nothing. */
HAUL_API haul_status haul_ship(haul_device *device, void *root, const haul_type *type, size_t count,
                               const haul_ship_options *options, haul_shipment **shipment);
HAUL_API haul_status haul_ship_roots(haul_device *device, const haul_root *roots, size_t count,
                                     const haul_ship_options *options, haul_shipment **shipment);
/* The same by a plan that exists; the shipment holds it. HAUL_ERROR_STALE when it no longer fits.
 * HAUL_ERROR_ARGUMENT when the plan is another context's. */
HAUL_API haul_status haul_ship_plan(haul_device *device, haul_plan *plan, const haul_ship_options *options,
                                    haul_shipment **shipment);

/* The device address of any described host byte (or one past a range), and the reverse; 0 or NULL for addresses that
 * are not in the graph, and for 0 or NULL. O(1), and O(log of 64 KiB pieces). */
HAUL_API haul_address haul_device_address(const haul_shipment *shipment, const void *host);
HAUL_API void *haul_device_pointer(const haul_shipment *shipment, const void *host);
HAUL_API void *haul_host_pointer(const haul_shipment *shipment, haul_address device);

/* Sends the graph's present contents again with the old plan: all bytes, pointers as the host has them. No device
 * address changes. HAUL_ERROR_STALE, with the path, before anything is sent, when a pointer or a count has changed
 * since the plan was made, or a string has lost its terminator (it may become shorter); haul_replan then makes a new one. */
HAUL_API haul_status haul_refresh(haul_shipment *shipment);

/* Discovers again from the same roots and ships anew, in place of the old arena: device addresses change. Needs
 * room for both until it is done. On failure the old shipment is as it was. */
HAUL_API haul_status haul_replan(haul_shipment *shipment);

/* Brings results back: every byte that is neither pointer, skipped field nor hole is written to the host object it
 * came from. Nothing is written before all of it has arrived. */
HAUL_API haul_status haul_unmarshal(haul_shipment *shipment);
/* The same, and pointers that the device has changed come back as host pointers. All are checked before anything is
 * written: one that points outside the graph is HAUL_ERROR_GRAPH with its path. Pointers that the host has changed
 * meanwhile and the device has not are overwritten by what the device holds. After a change of pointers the plan is
 * stale. */
HAUL_API haul_status haul_unmarshal_pointers(haul_shipment *shipment);

/* One range of host memory, or one object: contents that are no pointers, to the device or back. Pointers on both
 * sides stay as they are. The range is any that lies in one or more described ranges; bytes of it that are not
 * described are left alone. HAUL_ERROR_ARGUMENT: a range with no described byte, or with an end that wraps. */
HAUL_API haul_status haul_update_device(haul_shipment *shipment, const void *host, size_t bytes);
HAUL_API haul_status haul_update_host(haul_shipment *shipment, void *host, size_t bytes);

typedef struct haul_shipment_statistics {
    haul_plan_statistics plan;
    haul_address base;         /* of the arena */
    uint64_t transfers_to;     /* since it was shipped: one for a ship, refresh or replan; chunks are not counted. An
                                  update of the device is one each way, an update of the host one back. */
    uint64_t transfers_from;
    uint64_t bytes_to, bytes_from;
    double pack_seconds;       /* of the last ship or refresh: gathering into staging */
    double transfer_seconds;   /* copying to the device */
    double relocate_seconds;
    double return_seconds;     /* of the last unmarshal: copying from the device */
    double scatter_seconds;
} haul_shipment_statistics;
HAUL_API void haul_shipment_get_statistics(const haul_shipment *shipment, haul_shipment_statistics *statistics);

/* Frees the arena on the device and drops plan and device; sets *shipment to NULL. NULL is allowed. */
HAUL_API void haul_shipment_free(haul_shipment **shipment);

#ifdef __cplusplus
}
#endif
#endif
