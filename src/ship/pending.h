/* What a shipment has told its device and has not been done yet. A call is asynchronous when
 * `async` is not NULL.
 */
#ifndef HAUL_SHIP_PENDING_H
#define HAUL_SHIP_PENDING_H

#include "ship/shipment.h"

/* Enters a call on a shipment, asynchronous or not. What was ordered of it before is done first,
 * but for asynchronous work that the stream orders anyway. HAUL_ERROR_ARGUMENT, HAUL_ERROR_BUSY, or
 * how that work ended; every HAUL_OK is paired with haul__shipment_leave. */
haul_status haul__shipment_enter(haul_shipment *shipment, const haul_async *async);
void haul__shipment_leave(haul_shipment *shipment);

/* May work of an earlier call still be under way, which gave it up? Then late.fence lies behind it;
 * or is 0: there is none to be had. */
int haul__shipment_is_late(haul_shipment *shipment);
/* Notes what a call on the shipment has left under way on a device. */
void haul__note_late(haul_shipment *shipment, haul_device *device);
/* All that was ordered of a shipment, results written. HAUL_ERROR_PENDING: not yet. */
haul_status haul__shipment_finish(haul_shipment *shipment);
/* Lets go of what is under way, results unwritten; and of the range. */
void haul__shipment_abandon(haul_shipment *shipment);
void haul__shipment_unload(haul_shipment *shipment);

/* A result on its way to the host: takes over the memory, in any case; orders the copy of `bytes`
 * at `at` of the arena and notes it; `write` is called with it by haul__shipment_finish. */
typedef haul_status haul__write(haul_shipment *shipment, const haul__return *back);
struct haul__return {
    haul__return *next;
    haul__memory memory;
    unsigned char *data; /* in it */
    haul__write *write;
    int is_whole; /* all of the arena: `write` comes after haul__prepare_write */
    size_t at, bytes;
    uintptr_t first, end; /* for `write`: a host range */
};
/* Memory for the writes of whole arenas, so that these need none: HAUL_ERROR_MEMORY. When it
 * succeeds, haul__end_write follows. */
haul_status haul__prepare_write(haul_shipment *shipment);
void haul__end_write(haul_shipment *shipment);
/* Memory for one, used before or new. */
haul_status haul__return_memory(haul_shipment *shipment, size_t bytes, haul__memory *memory);
haul_status haul__return_later(haul_shipment *shipment, const haul_async *async,
                               const haul__return *what);

#endif
