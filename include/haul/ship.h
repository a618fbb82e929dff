/* Shipments: a graph resident on a device, tied to the host objects it came from.
 *
 *     haul_ship(device, mesh, mesh_type, 1, NULL, &s);   discover, pack, transfer, relocate
 *     kernel(haul_device_pointer(s, mesh));
 *     haul_unmarshal(s);                                 results back into the original objects
 *     haul_shipment_free(&s);
 *
 * The words are those of OpenMP and OpenACC: a shipment is a present table for one graph, its
 * pointers are attached, update moves contents in either direction. Unlike theirs, a return of data
 * never writes a host pointer.
 *
 * Waiting. A call with an `async` waits, if that is NULL, until its work is done. Otherwise it
 * orders the device's work on a stream and returns (docs/asynchronous.md). All other calls wait,
 * except look-ups and haul_poll. A call that waits first does what haul_wait does.
 *
 * Failures. All calls use the device's context, one thread at a time, else HAUL_ERROR_BUSY; its
 * record describes the failure. Each call that uses the device can answer HAUL_ERROR_MEMORY,
 * HAUL_ERROR_DEVICE_MEMORY, HAUL_ERROR_DEVICE, HAUL_ERROR_DEVICE_LOST or HAUL_ERROR_PENDING, which
 * means that a wait timed out. HAUL_ERROR_VERSION: a struct of options uses a member that the
 * library does not know. These are not repeated below. A call that fails has written no host object
 * and can be repeated; haul_update_host and haul_wait state their exceptions.
 * docs/shipments.md has the conditions and costs behind this header.
 */
#ifndef HAUL_SHIP_H
#define HAUL_SHIP_H

#include "haul/device.h"
#include "haul/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_shipment haul_shipment;

/* How a call is ordered: handles of the back end's kind. Zeros: the device's own stream, no event.
 * Stream and event must live until a call on the shipment that waits has returned.
 * HAUL_ERROR_ARGUMENT: the stream is none of the device's, or is being captured.
 * HAUL_ERROR_UNSUPPORTED: there is an event, and the device signals none. */
typedef struct haul_async {
    void *stream; /* a cudaStream_t, say; NULL: the device's own */
    /* An event that is signalled when the device has done the call's work; NULL: none. Results have
     * arrived by then, but are not written yet. */
    void *event;
} haul_async;

/* The treatment of an arena's pointer that leads neither into the arena nor into an arena of
 * options.beside. */
typedef enum haul_outside {
    HAUL_OUTSIDE_REFUSE = 0, /* HAUL_ERROR_GRAPH, with the pointer's place: "arena+4096" */
    HAUL_OUTSIDE_NULL = 1,   /* it is null on the device; the host's stays */
    HAUL_OUTSIDE_KEEP = 2    /* it keeps its bits; no pointer is checked */
} haul_outside;

/* Zeros mean the defaults. HAUL_ERROR_ARGUMENT: an option that the source has no use for. */
typedef struct haul_ship_options {
    /* Objects: the arena's bytes are in the order of discovery (haul_plan_options). */
    int ordered;
    /* Objects, a plan: the device reads and writes the source where it lies, from the second update
     * on (docs/asynchronous.md). */
    int lock_source;
    /* Objects, a plan, an arena with a root: fields that counts and conditions read may come back
     * changed, see haul_update_host. */
    int let_counts_change;
    /* Arenas without a root: the treatment of pointers that lead out. */
    haul_outside outside;
    /* Arenas without a root: `beside_count` shipments of other arenas to the same device. Pointers
     * into these arenas are translated to their copies, and back. They must outlive this one. */
    const haul_shipment *const *beside;
    size_t beside_count;
} haul_ship_options;

/* Ships a source: discovers objects and packs them, or takes an arena as it lies; transfers them to
 * memory of the device; relocates the pointers there; and calls the functions that rebuild contents
 * that depend on addresses. `options` may be NULL. The source must stay where it is until the
 * shipment is freed; the shipment holds plans and arenas. On failure *shipment is NULL and the
 * device holds nothing.
 *
 * Objects: the errors are those of haul_plan_create. A plan: HAUL_ERROR_STALE, its graph has
 * changed; HAUL_ERROR_ARGUMENT, it belongs to another context. An arena: HAUL_ERROR_ARGUMENT,
 * nothing has been allocated in it; HAUL_ERROR_GRAPH, a pointer leads out of it. docs/arenas.md
 * lists the points in which shipments of arenas differ. */
static inline haul_status haul_ship_from(haul_device *device, haul_source source,
                                         const haul_ship_options *options, const haul_async *async,
                                         haul_shipment **shipment);
/* The short form for `count` objects of `type` in a row at `root`. It waits. */
static inline haul_status haul_ship(haul_device *device, void *root, const haul_type *type,
                                    size_t count, const haul_ship_options *options,
                                    haul_shipment **shipment);
/* Ships several arenas, which may point into one another. shipments[i] is the shipment of
 * arenas[i]. On failure none is shipped, and all results are NULL. */
static inline haul_status haul_ship_arenas(haul_device *device, haul_arena *const *arenas,
                                           size_t count, const haul_ship_options *options,
                                           const haul_async *async, haul_shipment **shipments);

/* The device address of a host address. Any byte of a described object has one, holes and skipped
 * fields included, and so has one past a described range. Of an arena, any byte that was shipped
 * has one. NULL for other addresses, however near to an object. haul_host_pointer is the reverse.
 * The cost is O(log of the graph's 64 KiB blocks), for arenas O(1). */
HAUL_API void *haul_device_pointer(const haul_shipment *shipment, const void *host);
HAUL_API void *haul_host_pointer(const haul_shipment *shipment, const void *device);

/* The place of a pointer in the graphs and arenas that have been shipped to a device. `pointer` is
 * a device address, or a host address. *host: the host address that it comes from. `path`
 * (HAUL_PATH_BYTES): its name, as in errors: "root.next+16"; "arena+4096" in an arena without a
 * root; "" if the host's graph has changed and leads there no more, or if there is no memory to
 * look. Both results may be NULL. Walks the graph, so it takes about as long as a plan.
 * HAUL_ERROR_ARGUMENT: no shipment of the device has such a byte; the results are NULL and "". In
 * gdb the command `haul where` of tools/gdb/haul.py shows the same. */
HAUL_API haul_status haul_device_where(haul_device *device, const void *pointer, void **host,
                                       char *path);

/* A range of a shipment: an array or a single object, as a pointer leads to it, or a root. */
typedef struct haul_shipped_range {
    void *host; /* its address; the holes of its objects are part of it */
    void *device;
    size_t bytes; /* in both memories */
    size_t count; /* elements */
    /* Of its elements; good until haul_shipment_ranges returns. NULL: plain elements, pointers, or
     * bytes of any types. */
    const haul_type *type;
} haul_shipped_range;

/* Called for a range. Any answer except 0 ends the walk. It must not call into the same context
 * (such a call gets HAUL_ERROR_BUSY), but may look up addresses. */
typedef int haul_range_visitor(void *user, const haul_shipped_range *range);

/* Calls `visit` for each range of a shipment, in the order of host addresses; of ranges with one
 * address the longest comes first. Ranges may overlap, if a pointer leads into another range: into
 * the first one's memory and beyond, or to a part that was found first. An arena without a root is
 * one range. Walks the host's graph as it is now, so it takes about as long as a plan, and about
 * 200 bytes of memory for each range. Does not wait. HAUL_ERROR_ARGUMENT: a NULL or freed shipment,
 * no visitor. HAUL_ERROR_STALE: the graph has changed and leads out of the shipment; ranges before
 * that have been visited. HAUL_ERROR_CANCELLED: the visitor has ended the walk. Else the errors of
 * haul_plan_create. */
HAUL_API haul_status haul_shipment_ranges(const haul_shipment *shipment, haul_range_visitor *visit,
                                          void *user);

/* Zeros mean the defaults: everything except pointers. */
typedef struct haul_update_options {
    /* A range of host memory, such as an object; NULL: everything. It may touch several described
     * ranges; its other bytes are left alone. HAUL_ERROR_ARGUMENT: no byte of it is described, or
     * it wraps around the address space. */
    const void *host;
    size_t bytes;
    /* haul_update_host, of everything: pointers that the device has changed come back, too. */
    int pointers;
    /* haul_update_host: nothing is written before all has arrived, however large the arena is. */
    int all_or_nothing;
    /* With `pointers`: one that leads out of the graph stays as the host has it, and
     * haul_shipment_info.pointers_left counts it. */
    int leave_outside;
    int reserved;
} haul_update_options;

/* Sends the present contents of the host's objects. No device address changes.
 *
 * Everything: all bytes, with the host's pointers translated. HAUL_ERROR_STALE, with the path,
 * before anything is sent: a pointer or a count has changed since the plan was made, or a string
 * has lost its terminator; haul_reship discovers again. After a failure of the device the arena's
 * contents are undefined until an update of everything succeeds. So they are after
 * HAUL_ERROR_CANCELLED.
 *
 * A range: bytes that are not pointers, if their directions allow it. HAUL_ERROR_UNSUPPORTED: it
 * reaches into an object that is rebuilt on the device.
 *
 * Asynchronous: the source has been read when the call returns, and may change. */
static inline haul_status haul_update_device(haul_shipment *shipment,
                                             const haul_update_options *options,
                                             const haul_async *async);

/* Brings results back: writes bytes to the host objects that they came from. Pointers, skipped
 * fields, holes, and bytes that a direction keeps from coming back are not written.
 *
 * HAUL_ERROR_GRAPH, with the path, before anything is written: a field that a count, a condition or
 * a size has read has changed, or a terminator has. A new count beside the old pointer would lead
 * the host beyond its array. Ship with let_counts_change if the host's pointers fit the new value.
 *
 * options.pointers: pointers that the device has changed come back as host pointers. All are
 * checked first. HAUL_ERROR_GRAPH, with the path: one leads out of the graph, and
 * options.leave_outside is 0. The plan is stale afterwards. New objects come back in nurseries
 * (arena.h).
 *
 * An arena above 32 MiB is written while it arrives, unless options.all_or_nothing. If the device
 * fails halfway, some bytes hold results, all others are as they were, and the error's text says
 * how many. The call can be repeated, and brings all.
 *
 * Asynchronous: the bytes come as they are at that place in the stream, into memory of the
 * shipment. haul_wait writes them, after all have arrived. */
static inline haul_status haul_update_host(haul_shipment *shipment,
                                           const haul_update_options *options,
                                           const haul_async *async);
/* The short form for everything except pointers. It waits. */
static inline haul_status haul_unmarshal(haul_shipment *shipment);

/* Discovers again from the same roots, or takes everything that the arena holds now, and ships it
 * into new memory: device addresses change. The device needs room for both meanwhile. Kernels must
 * not use the old addresses any more. An asynchronous call, too, first does what haul_wait does. On
 * failure the shipment is as it was; a mirrored arena then needs haul_update_device. */
static inline haul_status haul_reship(haul_shipment *shipment, const haul_async *async);

/* Waits until all ordered work of the shipment is done, and writes its results to the host's
 * objects, in the order of the calls. HAUL_OK at once if there is none. After a failure of the
 * device nothing is written, and nothing is outstanding. HAUL_ERROR_PENDING: the work goes on, and
 * can be waited for again. HAUL_ERROR_MEMORY: nothing is written and nothing is lost; the next call
 * that waits writes all. HAUL_ERROR_GRAPH (a pointer leads out, or a count has changed),
 * HAUL_ERROR_CANCELLED (progress refused), HAUL_ERROR_STALE (memory of the arena has been
 * released): the return that failed is not written; the others are. */
HAUL_API haul_status haul_wait(haul_shipment *shipment);
/* Asks without waiting. HAUL_OK: haul_wait would not have to wait. HAUL_ERROR_PENDING: it would.
 * Else the device's failure, which haul_wait then reports, too. Writes nothing. */
HAUL_API haul_status haul_poll(haul_shipment *shipment);

/* The source of a shipment, for other calls: its plan; or its arena, with the root if it was
 * shipped with one. It is good while the shipment lives and is not reshipped. Of a NULL or freed
 * shipment: a source that every call refuses. */
static inline haul_source haul_from_shipment(const haul_shipment *shipment);

/* Copies a shipment to another device, or once more to the same one, as kernels have left it; the
 * host's objects are not touched. Pointers into the old arena lead into the new one, all others
 * stay. The copy is a shipment like any other, of the same source and options.
 * HAUL_ERROR_ARGUMENT: the devices have different contexts. HAUL_ERROR_UNSUPPORTED: they are of
 * different kinds. HAUL_ERROR_LIMIT: a new address has bits of its pointer's tag. On failure *copy
 * is NULL and the device holds nothing. */
HAUL_API haul_status haul_shipment_copy(haul_shipment *shipment, haul_device *device,
                                        haul_shipment **copy);

/* How bytes cross. */
typedef enum haul_route {
    HAUL_ROUTE_NONE = 0,   /* nothing has crossed that way */
    HAUL_ROUTE_WHOLE = 1,  /* the host packs, or writes, by one buffer of the arena's size */
    HAUL_ROUTE_PIECES = 2, /* the host packs, or writes, piece by piece while others cross */
    HAUL_ROUTE_LOCKED = 3, /* the device reads, or writes, the locked objects itself */
    HAUL_ROUTE_ARENA = 4   /* one copy of a user's arena as it lies */
} haul_route;

typedef struct haul_shipment_info {
    haul_address base; /* of the arena on the device */
    /* Of the plan, as in haul_plan_info; an arena has no plan, so some of them are 0. */
    size_t objects, pointers, null_pointers;
    size_t graph_bytes, arena_bytes, bitmap_bytes, bookkeeping_bytes;
    double discover_seconds, layout_seconds;
    /* Transfers since it was shipped, however many pieces each takes. One for a ship, an update, a
     * reship or a copy; two for an update of a range that must read the device first. Asynchronous
     * transfers count when they are ordered (to the device) or written (from it). */
    uint64_t transfers_to, transfers_from;
    uint64_t bytes_to, bytes_from; /* pieces that cross twice, for a check first, count twice */
    /* Of the last ship or update of everything. Times that overlap are counted once: */
    double pack_seconds;     /* packing by the host */
    double transfer_seconds; /* to the device, as far as packing did not hide it, or it was waited
                                for */
    double relocate_seconds; /* patching there; 0: one order with the copy, or not waited for */
    double return_seconds;   /* from the device, as far as writing did not hide it */
    double scatter_seconds;  /* writing to the host's objects */
    uint64_t pulls, pushes;  /* updates by the device alone, either way (lock_source) */
    /* Of the last ship or update of everything, and of the last return of everything. */
    haul_route to_device, to_host;
    /* With lock_source, why the host packs ("the plan: its arena is ordered"): a static string.
     * NULL: it does not, or nothing has been updated yet. */
    const char *packs_because;
    /* Of the last return with pointers: those that led out and stayed as the host has them. */
    size_t pointers_left;
} haul_shipment_info;
/* All zeros for a NULL or freed shipment. */
static inline void haul_shipment_get_info(const haul_shipment *shipment, haul_shipment_info *info);

/* Frees the memory on the device, drops plan, arena and device, and sets *shipment to NULL. NULL is
 * allowed. Waits for asynchronous work, and drops results that haul_wait has not written. Kernels
 * must not use the memory any more. Any thread, inside any callback (context.h). */
HAUL_API void haul_shipment_free(haul_shipment **shipment);

/* ---- The functions behind the inline forms, which pass the sizes of structs. Other languages call
 * them. The sizes of NULL structs are ignored. */

HAUL_API haul_status haul_ship_from_sized(haul_device *device, const haul_source *source,
                                          size_t source_bytes, const haul_ship_options *options,
                                          size_t options_bytes, const haul_async *async,
                                          size_t async_bytes, haul_shipment **shipment);
HAUL_API haul_status haul_ship_arenas_sized(haul_device *device, haul_arena *const *arenas,
                                            size_t count, const haul_ship_options *options,
                                            size_t options_bytes, const haul_async *async,
                                            size_t async_bytes, haul_shipment **shipments);
HAUL_API haul_status haul_update_device_sized(haul_shipment *shipment,
                                              const haul_update_options *options,
                                              size_t options_bytes, const haul_async *async,
                                              size_t async_bytes);
HAUL_API haul_status haul_update_host_sized(haul_shipment *shipment,
                                            const haul_update_options *options,
                                            size_t options_bytes, const haul_async *async,
                                            size_t async_bytes);
HAUL_API haul_status haul_reship_sized(haul_shipment *shipment, const haul_async *async,
                                       size_t async_bytes);
HAUL_API void haul_shipment_get_source_sized(const haul_shipment *shipment, haul_source *source,
                                             size_t source_bytes);
HAUL_API void haul_shipment_get_info_sized(const haul_shipment *shipment, haul_shipment_info *info,
                                           size_t info_bytes);

static inline haul_status haul_ship_from(haul_device *device, haul_source source,
                                         const haul_ship_options *options, const haul_async *async,
                                         haul_shipment **shipment)
{
    return haul_ship_from_sized(device, &source, sizeof source, options, sizeof *options, async,
                                sizeof *async, shipment);
}

static inline haul_status haul_ship(haul_device *device, void *root, const haul_type *type,
                                    size_t count, const haul_ship_options *options,
                                    haul_shipment **shipment)
{
    return haul_ship_from(device, haul_from_array(root, type, count), options, NULL, shipment);
}

static inline haul_status haul_ship_arenas(haul_device *device, haul_arena *const *arenas,
                                           size_t count, const haul_ship_options *options,
                                           const haul_async *async, haul_shipment **shipments)
{
    return haul_ship_arenas_sized(device, arenas, count, options, sizeof *options, async,
                                  sizeof *async, shipments);
}

static inline haul_status haul_update_device(haul_shipment *shipment,
                                             const haul_update_options *options,
                                             const haul_async *async)
{
    return haul_update_device_sized(shipment, options, sizeof *options, async, sizeof *async);
}

static inline haul_status haul_update_host(haul_shipment *shipment,
                                           const haul_update_options *options,
                                           const haul_async *async)
{
    return haul_update_host_sized(shipment, options, sizeof *options, async, sizeof *async);
}

static inline haul_status haul_unmarshal(haul_shipment *shipment)
{
    return haul_update_host(shipment, NULL, NULL);
}

static inline haul_status haul_reship(haul_shipment *shipment, const haul_async *async)
{
    return haul_reship_sized(shipment, async, sizeof *async);
}

static inline haul_source haul_from_shipment(const haul_shipment *shipment)
{
    haul_source source;
    haul_shipment_get_source_sized(shipment, &source, sizeof source);
    return source;
}

static inline void haul_shipment_get_info(const haul_shipment *shipment, haul_shipment_info *info)
{
    haul_shipment_get_info_sized(shipment, info, sizeof *info);
}

#ifdef __cplusplus
}
#endif
#endif
