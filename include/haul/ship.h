/* Shipments: a graph resident on a device, tied to the host objects it came from.
 *
 *     haul_ship(device, root, mesh_type, 1, NULL, &s);   discover, pack, transfer, relocate
 *     kernel(haul_device_pointer(s, root));
 *     haul_unmarshal(s);                                 data back into the original objects
 *     haul_shipment_free(&s);
 *
 * The words are those of OpenMP and OpenACC: a shipment is a present table for one graph, its
 * pointers are attached, update moves contents in either direction. Unlike theirs, a return of data
 * never writes a host pointer.
 *
 * All calls here use the device's context (one thread at a time, else HAUL_ERROR_BUSY) and describe
 * a failure in haul_context_error. Those that move data wait for the device unless their names end
 * in _async; they work on the device's own stream, and first do what haul_shipment_wait does. Each
 * can answer HAUL_ERROR_MEMORY, HAUL_ERROR_DEVICE_MEMORY, HAUL_ERROR_DEVICE, HAUL_ERROR_DEVICE_LOST
 * or HAUL_ERROR_PENDING; they are not repeated below. HAUL_ERROR_PENDING means that a wait timed
 * out. Memory that the device still uses then stays until it has finished, at the latest until the
 * device closes. The close waits once more; if that wait times out too, the memory is left to the
 * system. A call that fails has written no host object, and can be repeated. The exceptions are
 * stated at haul_unmarshal, haul_shipment_wait, lock_source and direct_return (arena.h).
 *
 * Memory for copies is pinned once. A device keeps it until it closes: up to 32 MiB, or 512 KiB if
 * all graphs are small.
 */
#ifndef HAUL_SHIP_H
#define HAUL_SHIP_H

#include "haul/device.h"
#include "haul/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_shipment haul_shipment;

/* Called about every 4 MiB while a call packs, and at its end: `done` bytes of `total`. Called once
 * before an unmarshal writes, with `done` 0. An answer other than 0 cancels: the call fails with
 * HAUL_ERROR_CANCELLED and leaves nothing behind. (A cancelled refresh of a large graph has sent a
 * part of it; the next refresh sends all.) */
typedef int haul_progress(void *user, uint64_t done, uint64_t total);

typedef struct haul_ship_options {
    /* If not 0: the host patches pointers while it packs; the same bytes arrive. */
    int relocate_on_host;
    haul_progress *progress;
    void *progress_user;
    /* If not 0: an unmarshal stages the whole arena, however large, before it writes. */
    int whole_return;
    /* If not 0: the arena's bytes are in the order of discovery (haul_plan_create_ordered). It is
     * packed whole in host memory before it is sent, and comes back whole before anything is
     * written. A given plan has its own order. */
    int ordered;
    /* If not 0: the device reads and writes the source where it lies, see haul_refresh. */
    int lock_source;
    /* If not 0: fields that shapes and rules read may come back changed, see haul_unmarshal. */
    int let_counts_change;
} haul_ship_options;

/* Makes a plan for the roots (its errors are those of haul_plan_create), allocates one arena on the
 * device, packs, sends the arena in one transfer, relocates it there, and calls the functions that
 * rebuild contents that depend on addresses (rebuild.h). `options` may be NULL. The source must
 * stay where it is until the shipment is freed. On failure *shipment is NULL and the device holds
 * nothing. */
HAUL_API haul_status haul_ship(haul_device *device, void *root, const haul_type *type, size_t count,
                               const haul_ship_options *options, haul_shipment **shipment);
HAUL_API haul_status haul_ship_roots(haul_device *device, const haul_root *roots, size_t count,
                                     const haul_ship_options *options, haul_shipment **shipment);
/* The same with an existing plan, which the shipment holds. HAUL_ERROR_STALE: the graph has changed
 * since the plan was made. HAUL_ERROR_ARGUMENT: the plan belongs to another context. */
HAUL_API haul_status haul_ship_plan(haul_device *device, haul_plan *plan,
                                    const haul_ship_options *options, haul_shipment **shipment);

/* haul_device_address and haul_device_pointer: the device address of a host address. Any byte of a
 * described object has one, holes and skipped fields included, and so has one past a described
 * range. Of an arena, any byte that was shipped has one. haul_host_pointer is the reverse. Other
 * addresses give 0 or NULL, however near to an object they are, and so do 0 and NULL. The cost is
 * O(log of the graph's 64 KiB blocks), for arenas O(1). */
HAUL_API haul_address haul_device_address(const haul_shipment *shipment, const void *host);
HAUL_API void *haul_device_pointer(const haul_shipment *shipment, const void *host);
HAUL_API void *haul_host_pointer(const haul_shipment *shipment, haul_address device);

/* Sends the graph's present contents by the old plan: all bytes, the host's pointers translated,
 * and zeros for fields that are not sent (HAUL_OUT, HAUL_NEITHER). No device address changes. After
 * a failure of the device the arena's contents are undefined until a refresh succeeds.
 *
 * HAUL_ERROR_STALE, with the path, before anything is sent: a pointer or a count has changed since
 * the plan was made, or a string has lost its terminator (it may become shorter). haul_replan makes
 * a new plan.
 *
 * With lock_source, the first refresh packs, then locks the pages of the source and gives the
 * device lists of where everything lies. Later refreshes and unmarshals are one order each: the
 * device reads and writes the objects itself, and the host copies nothing. Until the shipment is
 * freed or planned again, these pages stay mapped as they are; after HAUL_ERROR_PENDING the objects
 * may be neither changed nor freed before a call that waits has succeeded. HAUL_ERROR_STALE for a
 * pointer then comes after data has been sent. Kernels must be trusted: the lists lie where they
 * write. If the pages cannot be locked, the host packs, and statistics.packs_because says why.
 * docs/asynchronous.md lists the conditions and costs. */
HAUL_API haul_status haul_refresh(haul_shipment *shipment);

/* Discovers again from the same roots and ships into a new arena, so device addresses change. The
 * device needs room for the old and the new arena meanwhile. On failure the shipment is as it
 * was. */
HAUL_API haul_status haul_replan(haul_shipment *shipment);

/* Brings results back: writes bytes to the host objects that they came from. Pointers, skipped
 * fields, holes and bytes that a direction keeps from coming back (rule.h) are not written.
 *
 * Of an arena up to 32 MiB, or with whole_return, nothing is written before all has arrived. A
 * larger arena is written piece by piece, in order of address. If the device fails halfway, the
 * pieces that came first hold results, all other bytes are as they were, and the error's text says
 * how many bytes were written. The same call, repeated, brings all.
 *
 * A field that a shape, a condition, a choice or a size has read must arrive unchanged, and so must
 * a terminator: a new count beside the old pointer would lead the host beyond its array. A changed
 * one is HAUL_ERROR_GRAPH, with the path and both values, before anything is written. This holds
 * for all calls that bring bytes back. If the host's pointers fit the new value, ship with
 * let_counts_change. If a kernel changes the field for its own use, give its row HAUL_IN. New
 * objects come back in nurseries (arena.h).
 *
 * Not compared: fields that only callbacks read; pointers, each of which haul_unmarshal_pointers
 * checks; strings that became shorter, which keep their last terminator; arenas that were not
 * discovered (haul_ship_arena), and those with direct_return. Of an arena above 32 MiB, or of a
 * locked source, the pieces of 1 MiB that hold such fields cross twice, and a list takes 8 bytes of
 * host memory for each field. */
HAUL_API haul_status haul_unmarshal(haul_shipment *shipment);
/* The same, and pointers that the device has changed come back as host pointers. All are checked
 * before anything is written: a pointer out of the graph is HAUL_ERROR_GRAPH with its path. (A
 * changed count is refused here, too: the new target may have fewer elements.)
 * The device's pointers overwrite those that only the host has changed. There is one exception: a
 * host pointer that leads out of the graph stays if the device holds null. It may have been sent as
 * null because it led to no elements, and that null looks like one that the device has written.
 * After a change of pointers the plan is stale. Ranges stand side by side in an arena: a pointer
 * that the device has moved to the end of one range comes back as the start of the next, if that
 * begins there. */
HAUL_API haul_status haul_unmarshal_pointers(haul_shipment *shipment);

/* haul_update_device sends one range of host memory, such as an object; haul_update_host brings one
 * back. Only bytes that are not pointers move, and only if their directions allow it. Pointers on
 * both sides stay as they are. The range may touch several described ranges; its other bytes are
 * left alone. HAUL_ERROR_ARGUMENT: a range without a described byte, or one that wraps around the
 * address space. HAUL_ERROR_GRAPH, from haul_update_host: a count in the range has changed.
 * HAUL_ERROR_UNSUPPORTED, from haul_update_device: the range reaches into an object that is rebuilt
 * there (rebuild.h). haul_update_device is one copy if the range's bytes lie in the arena without a
 * pointer, a skipped field or another object among them; else the piece of the arena that holds
 * them comes back first, and is sent again. */
HAUL_API haul_status haul_update_device(haul_shipment *shipment, const void *host, size_t bytes);
HAUL_API haul_status haul_update_host(haul_shipment *shipment, void *host, size_t bytes);

/* Copies a shipment to another device, or once more to the same one, and relocates it there. It
 * copies the arena as kernels have left it; the host's objects are not touched. Pointers into the
 * old arena lead into the new one, all others stay as they are. The copy is a shipment like any
 * other, of the same plan, host objects and options. The host works out pointers with high tags
 * (HAUL_HIGH_TAGS) again: it fetches the ranges that hold them and sends them back, which the
 * statistics do not count as transfers. HAUL_ERROR_LIMIT: a new address has bits of its pointer's
 * tag. HAUL_ERROR_ARGUMENT: the devices have different contexts.
 * HAUL_ERROR_UNSUPPORTED: they have different tables. On failure *copy is NULL and the device holds
 * nothing. After HAUL_ERROR_PENDING, haul_shipment_wait and haul_shipment_free of `shipment` wait
 * for `device`; if the free's wait times out, the range that is read is left to the system. */
HAUL_API haul_status haul_shipment_copy(haul_shipment *shipment, haul_device *device,
                                        haul_shipment **copy);

/* ---- Asynchronous forms.
 *
 *     haul_async on = { stream, NULL };
 *     haul_refresh_async(s, &on);  kernel<<<..., stream>>>(...);  haul_unmarshal_async(s, &on);
 *     ...                                                         the host does something else
 *     haul_shipment_wait(s);                                      now its objects have the results
 *
 * Each does what the call without _async does. The differences:
 *
 * - It orders the device's work on a stream and returns. The work runs after earlier work on that
 *   stream and before later work. Other streams are not touched; the event is there to order them.
 *   The stream and the event must live until haul_shipment_wait, or another call that waits, has
 *   returned.
 * - To the device (ship, refresh, update): when it returns, the source has been read and may be
 *   changed. A graph larger than the staging memory is packed while it is sent, so the call takes
 *   about as long as the transfer of the rest. An update that must read the device's piece first
 *   waits for it.
 * - From the device (unmarshal, update): the bytes come as they are at that place in the stream,
 *   into memory of the shipment. haul_shipment_wait writes them to the host's objects; no thread
 *   does so earlier. Nothing is written before all has arrived, whatever the size.
 * - haul_shipment_wait and haul_shipment_poll report a failure of the device's work, and so does
 *   any other call on the shipment that waits. A device cannot always tell whose work has failed:
 *   other work that was under way then counts as failed, too. Results that failed are not written.
 *   An arena that did not arrive has undefined contents until a refresh succeeds.
 *
 * Several calls on one shipment may be outstanding. On one stream they take effect in their order.
 * A call with another stream first waits, on the host, until the device has done the earlier ones.
 * A call without _async first does what haul_shipment_wait does. A shipment may be freed with work
 * outstanding: the free waits, and drops results that have come back. */

/* Where and how a call is ordered: handles of the back end's kind. */
typedef struct haul_async {
    void *stream; /* a cudaStream_t, say; NULL: the device's own */
    /* An event that is signalled when the device has done the call's work; NULL: none. Results have
     * arrived by then, but are not written yet. */
    void *event;
} haul_async;

/* `async` may be NULL: the device's own stream, no event. HAUL_ERROR_ARGUMENT: the stream is none
 * of the device's, or is being captured; nothing has been ordered then. If one of these calls
 * fails, none of its work goes on, except work whose wait timed out (HAUL_ERROR_PENDING). Its event
 * may have been signalled or not. */
HAUL_API haul_status haul_ship_async(haul_device *device, void *root, const haul_type *type,
                                     size_t count, const haul_ship_options *options,
                                     const haul_async *async, haul_shipment **shipment);
HAUL_API haul_status haul_ship_plan_async(haul_device *device, haul_plan *plan,
                                          const haul_ship_options *options, const haul_async *async,
                                          haul_shipment **shipment);
HAUL_API haul_status haul_refresh_async(haul_shipment *shipment, const haul_async *async);
HAUL_API haul_status haul_update_device_async(haul_shipment *shipment, const void *host,
                                              size_t bytes, const haul_async *async);
HAUL_API haul_status haul_update_host_async(haul_shipment *shipment, void *host, size_t bytes,
                                            const haul_async *async);
HAUL_API haul_status haul_unmarshal_async(haul_shipment *shipment, const haul_async *async);
HAUL_API haul_status haul_unmarshal_pointers_async(haul_shipment *shipment,
                                                   const haul_async *async);

/* Waits until all ordered work of the shipment is done, and writes its results to the host's
 * objects, in the order of the calls. If the device has failed, nothing is written. After
 * HAUL_ERROR_PENDING, from this or any call on the shipment, the work goes on and can be waited for
 * again. After HAUL_ERROR_MEMORY from this call nothing has been written and nothing is lost: the
 * next call that waits writes all. After any other answer nothing is outstanding. HAUL_ERROR_GRAPH:
 * a pointer leads out of the graph, or a count has changed. HAUL_ERROR_CANCELLED: the progress
 * callback refused results. HAUL_ERROR_STALE: memory of a shipped arena has been released since.
 * After these three, the return that failed is not written; others are. HAUL_OK at once if nothing
 * is outstanding. */
HAUL_API haul_status haul_shipment_wait(haul_shipment *shipment);
/* Asks without waiting. HAUL_OK: haul_shipment_wait would not have to wait. HAUL_ERROR_PENDING: it
 * would. Else the device's failure, which haul_shipment_wait then reports, too. Writes nothing. */
HAUL_API haul_status haul_shipment_poll(haul_shipment *shipment);

typedef struct haul_shipment_statistics {
    haul_plan_statistics plan;
    haul_address base; /* of the arena */
    /* Transfers since it was shipped: one for a ship, refresh, replan or copy, however many pieces
     * it takes. haul_update_device is one to the device, and one from it if it must read first;
     * haul_update_host is one from it. Asynchronous transfers count when they are ordered (to the
     * device) or written (from it). */
    uint64_t transfers_to;
    uint64_t transfers_from;
    uint64_t bytes_to, bytes_from; /* pieces that cross twice, for a check first, count twice */
    /* Of the last ship or refresh. Times that overlap are counted once: */
    double pack_seconds; /* gathering into staging */
    /* Copying to the device, as far as packing did not hide it; of an asynchronous call, as far as
     * it waited for it. */
    double transfer_seconds;
    /* Patching on the device; 0 if it was one order with the copy, or if no call waited for it. */
    double relocate_seconds;
    /* Of the last unmarshal: */
    double return_seconds;  /* copying from the device, as far as writing did not hide it */
    double scatter_seconds; /* writing to the host's objects */
    /* Refreshes and unmarshals by the device alone (lock_source), since it was shipped. */
    uint64_t pulls, pushes;
    /* With lock_source, the reason why the host packs ("the plan: its arena is ordered"), a static
     * string. NULL: the host does not pack, or there has been no refresh. */
    const char *packs_because;
} haul_shipment_statistics;
HAUL_API void haul_shipment_get_statistics(const haul_shipment *shipment,
                                           haul_shipment_statistics *statistics);

/* Frees the arena on the device and drops plan and device; sets *shipment to NULL. NULL is allowed.
 * Waits for the shipment's asynchronous work; your kernels must not use the arena any more. Any
 * thread, inside any callback: while a call is under way on the device's context, all this is done
 * at the end of that call (context.h). */
HAUL_API void haul_shipment_free(haul_shipment **shipment);

#ifdef __cplusplus
}
#endif
#endif
