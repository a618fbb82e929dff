/* Pending work of a shipment: asynchronous calls, timed-out work, results to be written. A call is
 * asynchronous if `async` is not NULL.
 */
#ifndef HAUL_SHIP_PENDING_H
#define HAUL_SHIP_PENDING_H

#include "ship/shipment.h"

/* Enters a call on a shipment and finishes its earlier work, except work that an asynchronous call
 * may leave to the order of its stream. HAUL_ERROR_ARGUMENT, HAUL_ERROR_BUSY, or the failure of
 * that work. Every HAUL_OK is paired with haul__shipment_leave. */
haul_status haul__shipment_enter(haul_shipment *shipment, const haul_async *async);
void haul__shipment_leave(haul_shipment *shipment);

/* Inside a call: finishes the shipment's earlier work in the same way. Then the stream must be
 * selected. */
haul_status haul__shipment_come_behind(haul_shipment *shipment, const haul_async *async);
/* Inside a call: haul_poll. */
haul_status haul__shipment_poll(haul_shipment *shipment);
/* Wait for, and poll, asynchronous work that is pending; a failure fills the record. Unless the
 * wait times out, it is pending no more. */
haul_status haul__await_work(haul_device *device, haul__work *work);
haul_status haul__poll_work(haul_device *device, const haul__work *work);

/* Inside a call: waits for all work of the shipment, and writes its results. HAUL_ERROR_PENDING: a
 * wait timed out. */
haul_status haul__shipment_finish(haul_shipment *shipment);

/* May timed-out work be under way? Then timeout.fence lies behind it, or is 0 if the device still
 * can make none. */
int haul__shipment_has_timed_out(haul_shipment *shipment);
/* Notes the timed-out work that a call on the shipment leaves on a device. */
void haul__note_timeout(haul_shipment *shipment, haul_device *device);
/* For the end of a shipment: gives up its pending work and results; gives back its range. */
void haul__shipment_abandon(haul_shipment *shipment);
void haul__shipment_unload(haul_shipment *shipment);

/* A result on its way to the host: bytes [at, at + bytes) of the arena, copied to `data` in
 * `memory`. Once they have arrived, `write` writes them to the host's objects. */
typedef haul_status haul__write(haul_shipment *shipment, const haul__return *back);
struct haul__return {
    haul__return *next;
    haul__memory memory;
    unsigned char *data;
    haul__write *write;
    int is_whole; /* the whole arena: `write` needs the memory of prepare_write */
    size_t at, bytes;
    uintptr_t first, end; /* for `write`: the host range of an update */
};
/* Gets all memory that writing whole arenas takes, so that no write can fail for it:
 * HAUL_ERROR_MEMORY. Every HAUL_OK is paired with haul__end_write. */
haul_status haul__prepare_write(haul_shipment *shipment);
void haul__end_write(haul_shipment *shipment);
/* Memory for a return: the spare one or new. */
haul_status haul__return_memory(haul_shipment *shipment, size_t bytes, haul__memory *memory);
/* Orders the copy of a return and lists it. Takes over its memory, on failure too. */
haul_status haul__return_later(haul_shipment *shipment, const haul_async *async,
                               const haul__return *what);

#endif
