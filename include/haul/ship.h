/* Shipments: a graph resident on a device, tied to the host objects it came from.
 *
 *     haul_ship(device, mesh, mesh_type, 1, NULL, &s);   discover, pack, transfer, relocate
 *     kernel(haul_device_pointer(s, mesh));
 *     haul_unmarshal(s);                                 results back into the original objects
 *     haul_shipment_free(&s);
 *
 * A return of data never writes a host pointer. docs/shipments.md has conditions and costs.
 *
 * Waiting. A call with an `async` orders the device's work on a stream and returns
 * (docs/asynchronous.md). All others wait until their work is done, except look-ups and haul_poll.
 * A call that waits first does what haul_wait does. `async` and `options` may be NULL.
 *
 * Failures. All calls use the device's context, one thread at a time, else HAUL_ERROR_BUSY; its
 * record describes the failure. HAUL_ERROR_ARGUMENT: a NULL or freed handle (as first argument,
 * without a record), a NULL result, or an option that the call or source has no use for.
 * HAUL_ERROR_VERSION: an option that the library does not know. Calls that use the device can
 * answer HAUL_ERROR_MEMORY, HAUL_ERROR_DEVICE_MEMORY, HAUL_ERROR_DEVICE, HAUL_ERROR_DEVICE_LOST or
 * HAUL_ERROR_PENDING: a wait timed out. These are not repeated below. A call that fails has written
 * no host object and can be repeated; haul_update_host and haul_wait state their exceptions.
 */
#ifndef HAUL_SHIP_H
#define HAUL_SHIP_H

#include "haul/device.h"
#include "haul/file.h"
#include "haul/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Handles of the back end's kind, which must live until a call on the shipment that waits has
 * returned. */
typedef struct haul_async {
    /* NULL: the device's own. HAUL_ERROR_ARGUMENT: none of the device's, or being captured. */
    void *stream; /* a cudaStream_t, say */
    /* Signalled when the device has done the call's work; NULL: none. Results have arrived by then,
     * but are not written yet. HAUL_ERROR_UNSUPPORTED: the device signals none. */
    void *event;
} haul_async;

/* A pointer that leads neither into its arena nor into an arena of options.beside. */
typedef enum haul_outside {
    HAUL_OUTSIDE_REFUSE = 0, /* HAUL_ERROR_GRAPH, with the pointer's place: "arena+4096" */
    HAUL_OUTSIDE_NULL = 1,   /* it is null on the device; the host's stays */
    HAUL_OUTSIDE_KEEP = 2    /* it keeps its bits; no pointer is checked */
} haul_outside;

/* A range of a shipment: an array or a single object, as a pointer leads to it, or a root. */
typedef struct haul_shipped_range {
    void *host; /* its address; the holes of its objects are part of it */
    void *device;
    size_t bytes; /* in both memories */
    size_t count; /* elements */
    /* Of its elements; good until haul_shipment_ranges returns. NULL: plain elements, pointers, or
     * bytes of any types. */
    const haul_type *type;
    size_t host_bytes, moving_bytes; /* of its bytes, by place; the others lie in device memory */
} haul_shipped_range;

/* Where objects are to lie, and how often kernels use them. With a field: objects, arrays of
 * pointers and plain elements that this field of `type` leads to. Without: objects of the type
 * itself, under a policy the policy. All pointers of the field count. Of several hints that name a
 * byte, the first in the list counts; bytes are taken by granules of two pointers. */
typedef struct haul_place_hint {
    const haul_type *type;
    const char *field; /* its name, such as "edges"; or NULL */
    haul_place place;
    int reserved; /* 0 */
    /* With HAUL_PLACE_ANY: how often kernels access the objects that the hint names, all of them
     * together. Only the ratio to other hints counts. A program can count on the host, with
     * hint->uses++ at each access. */
    uint64_t uses;
} haul_place_hint;

/* Uses can be kept. haul_uses_write writes a line of text for each hint, with its uses and names.
 * haul_uses_read sets the uses of hints with names that a text has; other lines and other hints do
 * not matter. The text need not be trusted: HAUL_ERROR_FORMAT, a line is damaged, and no hint is
 * changed. HAUL_ERROR_FILE: the file refuses. */
HAUL_API haul_status haul_uses_write(haul_context *context, const haul_place_hint *hints,
                                     size_t count, const haul_file *file);
HAUL_API haul_status haul_uses_read(haul_context *context, const void *text, size_t bytes,
                                    haul_place_hint *hints, size_t count);

/* Zeros mean the defaults. */
typedef struct haul_ship_options {
    /* Objects: the arena's bytes are in the order of discovery (haul_plan_options). */
    int ordered;
    /* Objects, a plan: the device reads and writes the source where it lies, from the second update
     * on (docs/asynchronous.md). */
    int lock_source;
    /* Objects, a plan, an arena with a root: fields that counts and conditions read may come back
     * changed (haul_update_host). */
    int let_counts_change;
    haul_outside outside; /* arenas without a root: pointers that lead out */
    /* Arenas without a root: `beside_count` shipments of other arenas to the same device. Pointers
     * into these arenas are translated to their copies, and back. They must outlive this one. */
    const haul_shipment *const *beside;
    size_t beside_count;
    /* The most bytes of device memory for the shipment (haul_ship_arenas: for each of them); 0:
     * what the device's own budget leaves. HAUL_ERROR_DEVICE_MEMORY, before anything moves: the
     * shipment needs more than one of the two allows. The record has the need, the budget, and the
     * types with the most bytes. */
    size_t budget_bytes;
    /* Where those pages of the arena lie that exceed the budget, or what the device has free:
     *
     *   HAUL_PLACE_HOST     on the host
     *   HAUL_PLACE_MOVING   the next ones move, as many as fit into what the device has free beyond
     *                       the budget, and the others lie on the host
     *   HAUL_PLACE_ANY      nowhere, so the error above; so do all on a device that has no places
     *                       (place_bytes)
     *
     * HAUL_ERROR_ARGUMENT: another place. A ship asks the device what it has free, and so does a
     * reship, which still holds the old memory. Pages that move are not counted in a budget,
     * because the device takes their room back for any allocation that needs it; kernels then wait
     * for them. So HAUL_PLACE_MOVING is better, except beside programs that take that room. */
    haul_place spill;
    /* 1, for objects and plans: the device is not trusted. What haul_update_host brings back is
     * checked as an image of strangers is (docs/image-format.md), before the first byte is written:
     * the graph that the host would have then is discovered again, in a copy. Counts, tags,
     * conditions and terminators, also those that let_counts_change lets change, fit what they
     * count; each pointer is null, or leads to elements that were shipped, of the type that its
     * field says. Elements without a type are compared by their size alone: a pointer to doubles
     * may lead to integers of 8 bytes afterwards. A pointer to no elements stays as the host has
     * it, or leads to an element as above, or behind one. A field that did not hold when the graph
     * was shipped cannot begin to hold, because it was not sent. Objects that no pointer leads to
     * any more keep the host's bytes. Functions in the types are called with the copy, and must
     * expect any bytes, as with .calls_functions in haul_image_options.
     *
     * haul_update_host: HAUL_ERROR_GRAPH or HAUL_ERROR_LIMIT, with the path: the graph would be
     * wrong; haul_update_device puts the device right again. HAUL_ERROR_STALE: the host's graph has
     * changed since it was shipped, perhaps by an earlier return; haul_reship. HAUL_ERROR_MEMORY:
     * it takes four times the arena's memory, 56 bytes for each pointer, and twice the memory of a
     * walk.
     * HAUL_ERROR_UNSUPPORTED: with async, a range or .leave_outside. HAUL_ERROR_ARGUMENT of a ship:
     * an arena (ship its root as an object), lock_source, or a number other than 0 and 1. */
    int untrusted;
    /* Objects, a plan: places and uses of what hints name. What no hint names has a use for each
     * pointer to it, with the caller's to a root. The pages with the fewest uses for each byte
     * exceed the budget. The list and what it names must live as long as the shipment: haul_reship
     * reads it again, and until then types and fields must not change; places and uses may.
     * Discovery notes what hints name, so a plan that was made before has no notes: shipped with
     * hints, it is walked once more. HAUL_ERROR_ARGUMENT: NULL, a hint without a committed type or
     * with another place, or an arena is shipped. HAUL_ERROR_UNSUPPORTED: the device has no places,
     * and a hint asks for another one than its own memory. */
    const haul_place_hint *hints;
    size_t hint_count;
} haul_ship_options;

/* Ships a source: discovers objects and packs them, or takes an arena as it lies; transfers them;
 * relocates the pointers there; and calls the functions that rebuild contents (rebuild.h). The
 * source must stay where it is until the shipment is freed; the shipment holds plans and arenas. On
 * failure *shipment is NULL and the device holds nothing.
 *
 * Objects: errors as of haul_plan_create. A plan: HAUL_ERROR_STALE, its graph has changed;
 * HAUL_ERROR_ARGUMENT, it belongs to another context. An arena: HAUL_ERROR_ARGUMENT, nothing has
 * been allocated in it; HAUL_ERROR_GRAPH, a pointer leads out of it. docs/arenas.md says how
 * shipments of arenas differ. */
static inline haul_status haul_ship_from(haul_device *device, haul_source source,
                                         const haul_ship_options *options, const haul_async *async,
                                         haul_shipment **shipment);
/* The short form for `count` objects of `type` in a row at `root`. */
static inline haul_status haul_ship(haul_device *device, void *root, const haul_type *type,
                                    size_t count, const haul_ship_options *options,
                                    haul_shipment **shipment);
/* Ships `count` arenas, which may point into one another. shipments[i] is the shipment of
 * arenas[i]. On failure none is shipped, and all results are NULL. */
static inline haul_status haul_ship_arenas(haul_device *device, haul_arena *const *arenas,
                                           size_t count, const haul_ship_options *options,
                                           const haul_async *async, haul_shipment **shipments);

/* The device address of a host address: of any byte of a described object, holes and skipped fields
 * included; of one past a described range; of any byte of an arena that was shipped. NULL for other
 * addresses, however near. haul_host_pointer is the reverse. A large array begins at a multiple of
 * 256: docs/shipments.md has the conditions. */
HAUL_API void *haul_device_pointer(const haul_shipment *shipment, const void *host);
HAUL_API void *haul_host_pointer(const haul_shipment *shipment, const void *device);

/* The place of a pointer, of the device or the host, in all that has been shipped to a device.
 * *host: the host address that it comes from. `path` (HAUL_PATH_BYTES): its name, as in errors:
 * "root.next+16"; for the first byte of an object that object's; "arena+4096" in an arena without a
 * root; "" if the host's graph leads there no more, or if there is no memory to look. Both results
 * may be NULL. Walks the graph.
 * HAUL_ERROR_ARGUMENT: no shipment of the device has such a byte; the results are NULL and "". */
HAUL_API haul_status haul_device_where(haul_device *device, const void *pointer, void **host,
                                       char *path);

/* Any answer except 0 ends the walk. May look up addresses; other calls into the context get
 * HAUL_ERROR_BUSY. */
typedef int haul_range_visitor(void *user, const haul_shipped_range *range);

/* Calls `visit` for each range of a shipment, in the order of host addresses; of ranges with one
 * address the longest comes first. Ranges may overlap. An arena without a root is one range. Walks
 * the host's graph as it is now. HAUL_ERROR_STALE: the graph leads out of the shipment; ranges
 * before that have been visited. HAUL_ERROR_CANCELLED: the visitor has ended the walk. Else the
 * errors of haul_plan_create. */
HAUL_API haul_status haul_shipment_ranges(const haul_shipment *shipment, haul_range_visitor *visit,
                                          void *user);

/* Calls `visit` for each extent of a shipment: bytes of described objects, holes and skipped fields
 * included, that lie side by side on the host and on the device. In the order of host addresses;
 * none overlaps or continues another. `count` is the bytes, `type` NULL. An arena is one extent. No
 * walk: the host's graph is not read, and may have changed or gone. HAUL_ERROR_CANCELLED: the
 * visitor has ended the call. HAUL_ERROR_ARGUMENT, without a record: no such shipment; with one:
 * `visit` is NULL. HAUL_ERROR_BUSY. Does not wait. */
HAUL_API haul_status haul_shipment_extents(const haul_shipment *shipment, haul_range_visitor *visit,
                                           void *user);

/* Zeros mean the defaults: everything except pointers. */
typedef struct haul_update_options {
    /* A range of host memory, such as an object; NULL: everything. Bytes of it that are not
     * described are left alone. HAUL_ERROR_ARGUMENT: none is described, or it wraps around the
     * address space. */
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

/* Sends the present contents of the host's objects. No device address changes. When an asynchronous
 * call returns, the source has been read and may change (an arena may not: docs/arenas.md).
 *
 * Everything: all bytes, with the host's pointers translated. HAUL_ERROR_STALE, with the path,
 * before anything is sent (with lock_source perhaps after): a pointer or a count has changed since
 * the plan was made, or a string has lost its terminator; haul_reship discovers again. After a
 * failure of the device, or HAUL_ERROR_CANCELLED, the device's contents are undefined until an
 * update of everything succeeds.
 *
 * A range: bytes that are not pointers, if their directions allow it. HAUL_ERROR_UNSUPPORTED: it
 * reaches into an object that is rebuilt on the device. */
static inline haul_status haul_update_device(haul_shipment *shipment,
                                             const haul_update_options *options,
                                             const haul_async *async);

/* Brings results back: writes bytes to the host objects that they came from. Pointers, skipped
 * fields, holes, and bytes that a direction keeps from coming back are not written. After an
 * asynchronous call, haul_wait writes them, as they were at that place in the stream.
 *
 * HAUL_ERROR_GRAPH, with the path, before anything is written: a field that a count, a condition or
 * a size has read has changed, or a terminator has, and let_counts_change is 0; or, of
 * options.pointers, one leads out of the graph, and options.leave_outside is 0.
 *
 * options.pointers: pointers that the device has changed come back as host pointers, after a check
 * of all. The plan is stale afterwards. An update or a pack that names a changed pointer reads only
 * objects of the plan, whatever came back; haul_reship follows all pointers. New objects come back
 * in nurseries (experimental.h).
 *
 * An arena above 32 MiB, and a locked source, are written while they arrive, unless
 * options.all_or_nothing. If the device fails halfway, some bytes hold results, and all others are
 * as they were; the call can be repeated. */
static inline haul_status haul_update_host(haul_shipment *shipment,
                                           const haul_update_options *options,
                                           const haul_async *async);
/* The short form for everything except pointers. */
static inline haul_status haul_unmarshal(haul_shipment *shipment);

/* Discovers again from the same roots, or takes everything that the arena holds now, and ships it
 * into new memory: device addresses change, and kernels must not use the old ones. The device needs
 * room for both meanwhile. Asynchronous calls, too, first do what haul_wait does. On failure the
 * shipment is as it was; a mirrored arena then needs haul_update_device. */
static inline haul_status haul_reship(haul_shipment *shipment, const haul_async *async);

/* Waits until all ordered work of the shipment is done, and writes its results to the host's
 * objects, in the order of the calls. HAUL_ERROR_PENDING, the work goes on, and HAUL_ERROR_MEMORY:
 * nothing is written or lost; wait again. After a failure of the device nothing is written, and
 * nothing is outstanding. HAUL_ERROR_GRAPH (haul_update_host), HAUL_ERROR_CANCELLED (progress
 * refused), HAUL_ERROR_STALE (memory of the arena has been released): the return that failed is not
 * written; the others are. */
HAUL_API haul_status haul_wait(haul_shipment *shipment);
/* HAUL_OK: haul_wait would not have to wait. HAUL_ERROR_PENDING: it would. Else the device's
 * failure, which haul_wait then reports, too. Writes nothing. */
HAUL_API haul_status haul_poll(haul_shipment *shipment);

/* Its plan; or its arena, with the root if it was shipped with one. Good while the shipment lives
 * and is not reshipped. Every call refuses the source of a NULL or freed shipment. */
static inline haul_source haul_from_shipment(const haul_shipment *shipment);

/* Copies a shipment to another device, or once more to the same one, as kernels have left it.
 * Pointers into the old arena lead into the new one, all others stay. The copy is a shipment of the
 * same source and options. On failure *copy is NULL and the device holds nothing.
 * HAUL_ERROR_ARGUMENT: the devices have different contexts.
 * HAUL_ERROR_UNSUPPORTED: they are of different kinds, or their kind copies none.
 * HAUL_ERROR_LIMIT: a new address has bits of its pointer's tag. */
HAUL_API haul_status haul_shipment_copy(haul_shipment *shipment, haul_device *device,
                                        haul_shipment **copy);

/* How bytes cross (docs/shipments.md). */
typedef enum haul_route {
    HAUL_ROUTE_NONE = 0,   /* nothing has crossed that way */
    HAUL_ROUTE_WHOLE = 1,  /* by one buffer of the arena's size */
    HAUL_ROUTE_PIECES = 2, /* piece by piece: the host packs or writes while others cross */
    HAUL_ROUTE_LOCKED = 3, /* the device reads or writes the locked objects itself */
    HAUL_ROUTE_ARENA = 4   /* one copy of a user's arena as it lies */
} haul_route;

typedef struct haul_shipment_info {
    haul_address base; /* of the arena on the device */
    /* Of the plan, as in haul_plan_info; an arena has no plan, so some of them are 0. */
    size_t objects, pointers, null_pointers;
    size_t graph_bytes, arena_bytes, bitmap_bytes, bookkeeping_bytes;
    double discover_seconds, layout_seconds;
    /* Since it was shipped (docs/shipments.md: "What the info counts"). */
    uint64_t transfers_to, transfers_from;
    uint64_t bytes_to, bytes_from;
    /* Of the last ship or update of everything: packing by the host, copies to the device, patching
     * there, copies from the device, writing to the host's objects. */
    double pack_seconds;
    double transfer_seconds;
    double relocate_seconds;
    double return_seconds;
    double scatter_seconds;
    uint64_t pulls, pushes; /* updates by the device alone, either way (lock_source) */
    /* Of the last ship or update of everything, and of the last return of everything. */
    haul_route to_device, to_host;
    /* With lock_source, why the host packs: a static string. NULL: it does not, or nothing has been
     * updated yet. */
    const char *packs_because;
    size_t pointers_left; /* by the last return with pointers (options.leave_outside) */
    uint64_t device_bytes, host_bytes, moving_bytes; /* of its memory, by place (haul_place) */
    /* Of bytes_to and bytes_from: those to and from pages of these places. */
    uint64_t host_bytes_to, host_bytes_from, moving_bytes_to, moving_bytes_from;
} haul_shipment_info;
/* All zeros for a NULL or freed shipment. */
static inline void haul_shipment_get_info(const haul_shipment *shipment, haul_shipment_info *info);

/* Writes four tables for people, which say why a ship takes its time (docs/shipments.md shows
 * them): the time and rate of each phase, as in the info; how many objects each thread found, and
 * why one thread walked; the types and rows that took the general way, which is slower, and why;
 * and the blocks of the plan's map by form. A shipment of an arena has the first one alone. All was
 * counted before: the call walks nothing, and waits for no device. Texts of reasons may change.
 * haul_graph_write_table (graph.h) counts a graph by type and by field.
 *
 * HAUL_ERROR_ARGUMENT: also a file that cannot be written. HAUL_ERROR_FILE: the file refuses, and
 * has only the beginning. */
HAUL_API haul_status haul_shipment_write_table(const haul_shipment *shipment,
                                               const haul_file *file);

/* Writes a table for people that says where a shipment lies: the bytes of each type in device
 * memory, on the host and in memory that moves (haul_place), types with the most bytes first; then
 * all bytes of the shipment, those sent there and those brought back, by place. Walks the host's
 * graph as it is now; a range that overlaps another counts, too. An arena without a root has no
 * types. Does not wait. Errors as of haul_shipment_write_table; HAUL_ERROR_STALE: the graph leads
 * out of the shipment; else those of haul_plan_create. A failure leaves the file's beginning. */
HAUL_API haul_status haul_shipment_write_places(const haul_shipment *shipment,
                                                const haul_file *file);

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
