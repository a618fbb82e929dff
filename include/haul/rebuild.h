/* Rebuilding: structures whose contents depend on addresses.
 *
 * A hash table keyed by pointers, an array of pointers sorted by their values, a set that stores
 * one pointer xor another: a patch makes each pointer right and the whole wrong, because keys with
 * new addresses are not where a search looks for them. Such a type is declared, with a function
 * that rebuilds its objects:
 *
 *     static const haul_struct a_table = HAUL_STRUCT(table, &table_type, table_fields);
 *
 *     haul_type_create(context, &a_table, &table_type);
 *     haul_type_set_rebuild(table_type, rehash_tables, NULL);       before the commit
 *
 *     haul_status rehash_tables(const haul_rebuild *what)
 *     {
 *         rehash<<<blocks, 128, 0, what->stream>>>((table *const *)what->list, what->count);
 *         return cudaGetLastError() == cudaSuccess ? HAUL_OK : HAUL_ERROR_DEVICE;
 *     }
 *
 * It runs whenever contents have been sent and patched: in haul_ship and its other forms,
 * haul_update_device of everything, haul_reship and haul_shipment_copy. Rebuilt contents must not
 * come back, because the host's contents depend on the host's addresses. Objects of such a type are
 * HAUL_COPYIN (field.h) automatically. Other memory that the function changes, such as the table's
 * slots and entries, needs that direction in the field that leads to it:
 *
 *     HAUL_OBJECTS(table, entries, &entry_type, HAUL_COUNT(table, capacity),
 *                  .transfer = HAUL_COPYIN)
 */
#ifndef HAUL_REBUILD_H
#define HAUL_REBUILD_H

#include "haul/device.h"
#include "haul/type.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All objects of one type in one shipment; valid during the call. */
typedef struct haul_rebuild {
    const haul_type *type;
    haul_device *device; /* where they are */
    /* the stream of an asynchronous call's haul_async; NULL: the device's own. In CUDA, the NULL
     * stream is in order with the device's own (cuda.h) */
    void *stream;
    /* the device addresses of the objects, in ascending order; an array on the host */
    const haul_address *objects;
    size_t count; /* at least 1 */
    /* the same array in device memory, 8 bytes an address; lives as long as the shipment */
    haul_address list;
    haul_address arena; /* all of the shipment's bytes */
    size_t arena_bytes;
    void *user;
} haul_rebuild;

/* Rebuilds the objects, or orders that on `stream`. Its work on `stream` runs after the library's
 * copies and patch. It is done before the call returns (an asynchronous call: before its wait
 * returns), and before the event is signalled. The function must itself order work on any other
 * stream. On the host device it calls haul_host_launch, also in asynchronous calls: the copy has
 * been made. It runs inside a call on the device's context. Other calls on that context get
 * HAUL_ERROR_BUSY; an object that it frees goes when the call ends; haul_device_state and
 * haul_host_launch work. Embedded objects, and each object of an array, have entries of their own.
 * Types are called in the order in which discovery meets them, so objects of other such types may
 * not be rebuilt yet. An answer other than HAUL_OK fails the call with that status: a ship leaves
 * nothing behind; after an update the contents are undefined until one succeeds. */
typedef haul_status haul_rebuild_function(const haul_rebuild *what);

/* Declares that the contents of this type's objects depend on addresses. If `rebuild` is NULL, they
 * cannot be rebuilt: a graph with such an object is refused with its path (HAUL_ERROR_UNSUPPORTED),
 * by haul_plan_create too. With a function, calls that cannot run it refuse such objects in the
 * same way: haul_plan_pack, arenas, and haul_update_device of a range that reaches into one.
 * HAUL_ERROR_ARGUMENT: NULL. HAUL_ERROR_STATE: the type is committed, comes from a constructor, or
 * is a container that has instances. */
HAUL_API haul_status haul_type_set_rebuild(haul_type *type, haul_rebuild_function *rebuild,
                                           void *user);

#ifdef __cplusplus
}
#endif
#endif
