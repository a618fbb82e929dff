/* Shipments: a graph resident on a device, tied to the host objects it came from.
 *
 *     haul_ship(device, root, mesh_type, 1, NULL, &s);   discover, pack, transfer, relocate there
 *     kernel(haul_device_pointer(s, root));
 *     haul_unmarshal(s);                                 data back into the original objects
 *     haul_shipment_free(&s);
 *
 * The words are those of OpenMP and OpenACC: a shipment is a present table for one graph, its
 * pointers are attached, update moves contents in either direction. Unlike theirs, a bring-back
 * never writes a pointer of the host's.
 *
 * All calls here use the device's context (one thread at a time, else HAUL_ERROR_BUSY) and leave
 * words in haul_device_error. Those whose names do not end in _async return when the device is
 * done; they work on the device's own stream, and first do what haul_shipment_wait does.
 * HAUL_ERROR_MEMORY, HAUL_ERROR_DEVICE_MEMORY, HAUL_ERROR_DEVICE, HAUL_ERROR_DEVICE_LOST can come
 * from each that moves data, and are not repeated below; nor is HAUL_ERROR_PENDING, which says that
 * the back end's patience is over: what the device still uses is then kept and released when it has
 * finished, at the latest when it closes (after one more wait; if that is in vain too, the memory
 * is left to the system). A call that fails has written no host object itself, except where
 * haul_unmarshal, haul_shipment_wait, lock_source or direct_return (arena.h) say so, and can be
 * repeated.
 *
 * Memory for copies is pinned once: a device keeps up to 32 MiB of it, 512 KiB for small graphs,
 * until it closes.
 */
#ifndef HAUL_SHIP_H
#define HAUL_SHIP_H

#include "haul/device.h"
#include "haul/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_shipment haul_shipment;

/* Told every 4 MiB or so while a call packs, and at its end: bytes done and in all; before an
 * unmarshal writes it is asked once, with 0 done. An answer other than 0 cancels: the call fails
 * with HAUL_ERROR_CANCELLED and leaves nothing behind. (A cancelled refresh of a large graph has
 * sent part of it; the next one sends all.) */
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

/* Makes a plan for the roots (haul_plan_create says what can be wrong), allocates one arena on the
 * device, packs, sends it in one transfer, relocates it there, and has rebuilt what depends on
 * addresses (rebuild.h). `options` may be NULL. The source must stay where it is until the shipment
 * is freed. On failure *shipment is NULL and the device holds nothing. */
HAUL_API haul_status haul_ship(haul_device *device, void *root, const haul_type *type, size_t count,
                               const haul_ship_options *options, haul_shipment **shipment);
HAUL_API haul_status haul_ship_roots(haul_device *device, const haul_root *roots, size_t count,
                                     const haul_ship_options *options, haul_shipment **shipment);
/* The same by a plan that exists; the shipment holds it. HAUL_ERROR_STALE when it no longer fits.
 * HAUL_ERROR_ARGUMENT when the plan is another context's. */
HAUL_API haul_status haul_ship_plan(haul_device *device, haul_plan *plan,
                                    const haul_ship_options *options, haul_shipment **shipment);

/* The device address of any byte of a described host object, holes and skipped fields included (or
 * one past a range), and the reverse; 0 or NULL for addresses that are not in the graph, and for 0
 * or NULL. Told to the byte: the neighbour of an object has none, however near. Of an arena, any
 * byte that was shipped. O(1), and O(log of 64 KiB pieces). */
HAUL_API haul_address haul_device_address(const haul_shipment *shipment, const void *host);
HAUL_API void *haul_device_pointer(const haul_shipment *shipment, const void *host);
HAUL_API void *haul_host_pointer(const haul_shipment *shipment, haul_address device);

/* Sends the graph's present contents again with the old plan: all bytes, pointers as the host has
 * them, zeros for what is not sent (HAUL_OUT, HAUL_NEITHER). No device address changes. After a
 * failure of the device the arena's contents are undefined until a refresh succeeds.
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
 * write. Where locking is not possible the host packs, and statistics.packs_because says why.
 * docs/asynchronous.md lists the conditions and costs. */
HAUL_API haul_status haul_refresh(haul_shipment *shipment);

/* Discovers again from the same roots and ships anew, in place of the old arena: device addresses
 * change. Needs room for both until it is done. On failure the old shipment is as it was. */
HAUL_API haul_status haul_replan(haul_shipment *shipment);

/* Brings results back: every byte that is neither pointer, skipped field nor hole, and that the
 * directions of its rows (rule.h) let come, is written to the host object it came from.
 *
 * Up to 32 MiB, or with whole_return, nothing is written before all has arrived. A larger arena is
 * written piece by piece, in order of address. If the device fails halfway, the pieces before are
 * results in their places, all other bytes are as they were, and the error's text says how many
 * bytes were written; the same call, made again, brings all.
 *
 * A field that a shape, a condition, a choice or a size has read, and a terminator, must arrive as
 * it was: a new count beside the old pointer would lead the host beyond its array. Else
 * HAUL_ERROR_GRAPH, with the path and both values, before anything is written. This holds for all
 * calls that bring bytes back. If the host's pointers fit the new value, ship with
 * let_counts_change; if the device may not change the field, give its row HAUL_IN; new objects come
 * back in nurseries (arena.h).
 *
 * Not looked at: fields that only callbacks read; pointers, which haul_unmarshal_pointers checks
 * each by itself; strings that became shorter, which keep their last terminator; arenas that were
 * not discovered (haul_ship_arena), and those with direct_return. Of an arena above 32 MiB, or of a
 * locked source, the pieces of 1 MiB that hold such fields cross twice, and a list of them takes 8
 * bytes of memory for each. */
HAUL_API haul_status haul_unmarshal(haul_shipment *shipment);
/* The same, and pointers that the device has changed come back as host pointers. All are checked
 * before anything is written: one that points outside the graph is HAUL_ERROR_GRAPH with its path.
 * (A count that has changed is refused here, too: whether a moved pointer has as many elements
 * behind it is not known.) Pointers that the host has changed meanwhile and the device has not are
 * overwritten by what the device holds. But a host pointer that leads out of the graph stays where
 * the device holds null: one to no elements went there as null, and whether the device has written
 * that null cannot be told. After a change of pointers the plan is stale. Ranges stand
 * side by side in an arena: a pointer that the device has moved to the very end of one comes back
 * as the start of the next, if that begins there. */
HAUL_API haul_status haul_unmarshal_pointers(haul_shipment *shipment);

/* One range of host memory, or one object: contents that are no pointers, to the device or back, as
 * far as their directions let them. Pointers on both sides stay as they are. The range is any that
 * lies in one or more described ranges; bytes of it that are not described are left alone.
 * HAUL_ERROR_ARGUMENT: a range with no described byte, or with an end that wraps. HAUL_ERROR_GRAPH:
 * from the device, a count in the range that has changed. HAUL_ERROR_UNSUPPORTED: to the device, a
 * range that reaches into an object that is rebuilt there (rebuild.h). To the device, a range that
 * lies in the arena with no pointer, skipped field or neighbour between its bytes is one copy; else
 * the piece of the arena that holds it comes back first, and goes again. */
HAUL_API haul_status haul_update_device(haul_shipment *shipment, const void *host, size_t bytes);
HAUL_API haul_status haul_update_host(haul_shipment *shipment, void *host, size_t bytes);

/* Copies a shipment to another device, or to the same one once more, and relocates it there: from
 * the arena as it is, with what kernels have written; the host's objects are not touched. Pointers
 * into the old arena lead into the new one, all others stay as they are. The copy is a shipment
 * like any other, of the same plan, host objects and options. Pointers with high tags
 * (HAUL_HIGH_TAGS) are worked out again by the host, which fetches the stretches that hold them and
 * sends them back; these are not counted as transfers. HAUL_ERROR_LIMIT: an address there that has
 * bits of its tag. Both devices must share a context (haul_device_options) and a table: else
 * HAUL_ERROR_ARGUMENT and HAUL_ERROR_UNSUPPORTED. On failure *copy is NULL and the device holds
 * nothing; after HAUL_ERROR_PENDING haul_shipment_wait and haul_shipment_free of `shipment` wait
 * for the device that was copied to; if the free does so in vain, the range that is read is left to
 * the system. */
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
 * - It orders the device's work on a stream and returns. What was put on that stream before is done
 *   before it, what is put there after it is done after it; other streams are not touched: ordering
 *   them is what the event is for. The stream and the event must live until haul_shipment_wait, or
 *   another call that waits, has returned.
 * - To the device (ship, refresh, update): when it returns, the source has been read and may be
 *   changed. A graph larger than the staging memory is packed while it is sent, so the call then
 *   takes about as long as the transfer of what is beyond that; an update that must read the
 *   device's piece first waits for it.
 * - From the device (unmarshal, update): the bytes come as they are at that place in the stream,
 *   into memory of the shipment's; haul_shipment_wait writes them to the host's objects. No thread
 *   does it before. Nothing is written before all has arrived, whatever the size.
 * - What a stream reports late, haul_shipment_wait and haul_shipment_poll tell, or another call on
 *   the shipment that waits for it. A device cannot always tell whose work has failed: other work
 *   that was under way then is called failed, too. What came back and failed is not written; an
 *   arena that did not arrive has undefined contents, until a refresh succeeds.
 *
 * Several calls on one shipment may be outstanding. On one stream they take effect in their order.
 * A call with another stream first waits, on the host, for those before it to be done on the
 * device; a call without _async first does what haul_shipment_wait does. A shipment may be freed
 * with work outstanding: that waits, and results that have come back are dropped. */

/* Where and how a call is ordered: handles of the back end's kind. */
typedef struct haul_async {
    void *stream; /* a cudaStream_t, say; NULL: the device's own */
    /* An event that is told when the call's work is done on the device; NULL: none. Results have
     * then arrived, and are not written yet. */
    void *event;
} haul_async;

/* `async` may be NULL: the device's own stream, no event. HAUL_ERROR_ARGUMENT: not a stream of the
 * device's, or one that is being captured; nothing has been ordered then. Of all of these, on any
 * failure nothing of the call goes on, and events may have been told or not. */
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

/* Waits until all that was ordered of the shipment is done, and writes what has come back to the
 * host's objects, in the order of the calls. When the device has failed, nothing is written. After
 * HAUL_ERROR_PENDING, from this or any call on the shipment, all goes on, and can be waited for
 * again. After HAUL_ERROR_MEMORY from this call nothing has been written, and nothing is lost: the
 * next call that waits writes all. After any other answer it is over.
 * HAUL_ERROR_GRAPH, HAUL_ERROR_STATE, HAUL_ERROR_STALE: pointers that lead out of the graph or
 * counts that have changed, results that the progress callback refused, an arena of the user's that
 * no longer fits; such a return is not written, others are.
 * HAUL_OK at once where nothing is outstanding. */
HAUL_API haul_status haul_shipment_wait(haul_shipment *shipment);
/* Asks without waiting: HAUL_OK when haul_shipment_wait would not have to wait, HAUL_ERROR_PENDING
 * when it would, or the failure (which haul_shipment_wait then tells, too). Writes nothing. */
HAUL_API haul_status haul_shipment_poll(haul_shipment *shipment);

typedef struct haul_shipment_statistics {
    haul_plan_statistics plan;
    haul_address base; /* of the arena */
    /* Transfers since it was shipped: one for a ship, refresh, replan or copy, whatever its pieces.
     * An update of the device is one, and one back if it must read first; an update of the host is
     * one back. Asynchronous ones count when they are ordered or written. */
    uint64_t transfers_to;
    uint64_t transfers_from;
    uint64_t bytes_to, bytes_from; /* what crosses twice, to be looked at first, counts twice */
    /* Of the last ship or refresh. What overlaps is counted once: */
    double pack_seconds; /* gathering into staging */
    /* Copying to the device that packing did not hide; of an asynchronous call, the part that it
     * waited for. */
    double transfer_seconds;
    /* Patching on the device; 0 if it was one order with the copy, or not waited for. */
    double relocate_seconds;
    /* Of the last unmarshal: */
    double return_seconds;  /* copying from the device, as far as writing did not hide it */
    double scatter_seconds; /* writing to the host's objects */
    /* Refreshes and unmarshals by the device alone (lock_source), since it was shipped. */
    uint64_t pulls, pushes;
    /* With lock_source, the reason why the host packs ("the plan: its arena is ordered"). NULL: it
     * does not, or there has been no refresh. A static string. */
    const char *packs_because;
} haul_shipment_statistics;
HAUL_API void haul_shipment_get_statistics(const haul_shipment *shipment,
                                           haul_shipment_statistics *statistics);

/* Frees the arena on the device and drops plan and device; sets *shipment to NULL. NULL is allowed.
 * Waits for asynchronous work of the shipment's; kernels of yours must not use the arena any more.
 * Any thread, inside any callback: while a call is under way on the device's context, all this is
 * done at the end of that call (context.h). */
HAUL_API void haul_shipment_free(haul_shipment **shipment);

#ifdef __cplusplus
}
#endif
#endif
