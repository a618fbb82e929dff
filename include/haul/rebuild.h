/* Rebuilding: structures whose contents depend on addresses.
 *
 * A hash table keyed by pointers, an array of pointers sorted by their values, a set that stores a
 * pointer xor another: patching its pointers makes each of them right and the whole wrong, since
 * keys that have moved no longer stand where a search looks for them. Such a type says so, and
 * gives a function that puts one right again:
 *
 *     haul_type_create("table", sizeof(table), table_refs, 2, &table_type);
 *     haul_type_set_rebuild(table_type, rehash_tables, NULL);
 *
 *     haul_status rehash_tables(const haul_rebuild *what)
 *     {
 *         rehash<<<blocks, 128, 0, what->stream>>>((table *const *)what->list, what->count);
 *         return cudaGetLastError() == cudaSuccess ? HAUL_OK : HAUL_ERROR_DEVICE;
 *     }
 *
 * It runs whenever contents have been sent and patched: in haul_ship and its other forms,
 * haul_refresh, haul_replan and haul_shipment_copy. On the way back, what was rebuilt must not be
 * written over the host's own, whose places hang on the host's addresses. Objects of such a type
 * are HAUL_IN of themselves (rule.h). Whatever else the function moves about, the table's slots and
 * entries, wants that direction in the row that leads there:
 *
 *     static const haul_rule stays = { .direction = HAUL_IN };
 *     HAUL_OBJECTS_BY(table, entries, &entry_type, &stays, HAUL_N(table, capacity))
 */
#ifndef HAUL_REBUILD_H
#define HAUL_REBUILD_H

#include "haul/device.h"
#include "haul/type.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All objects of one type in one shipment, for the time of the call. */
typedef struct haul_rebuild {
    const haul_type *type;
    haul_device *device; /* where they are */
    /* that of an asynchronous call's haul_async; NULL: the device's own. For CUDA, NULL is in order
     * with it, as cuda.h says */
    void *stream;
    /* where each of them lies on the device, rising; on the host, to be read */
    const haul_address *objects;
    size_t count; /* at least 1 */
    /* the same addresses, 8 bytes each, in the device's memory: it lives as long as the shipment */
    haul_address list;
    haul_address arena; /* all of the shipment's bytes */
    size_t arena_bytes;
    void *user;
} haul_rebuild;

/* Puts the objects right, or orders it. What the device was told before on `stream` (the copies,
 * the patch) is done before what the function puts there; what it puts there is done before the
 * call, or the wait for an asynchronous one, returns, and before the event is told. With work on
 * any other stream, both is the function's own affair. On the host device it calls
 * haul_host_launch, whatever the form of the call: the copy is there. It runs inside a call on the
 * device's context: other calls on that get HAUL_ERROR_BUSY, what it frees goes when the call ends,
 * haul_device_state and haul_host_launch work. Objects embedded in others, and each of an array,
 * are called by themselves. Types follow in the order in which discovery meets them; what a
 * function finds in objects of other such types may not be right yet. An answer other than HAUL_OK
 * fails the call with that status: a ship leaves nothing behind, after a refresh the contents are
 * undefined until one succeeds. */
typedef haul_status haul_rebuild_function(const haul_rebuild *what);

/* Declares that the contents of this type's objects depend on addresses. `rebuild` NULL: there is
 * no way to put them right, and a graph that has one is refused with its path
 * (HAUL_ERROR_UNSUPPORTED), by haul_plan_create too. With a function, what would send or keep
 * contents that nobody can put right is refused in the same way: haul_plan_pack, arenas, and
 * haul_update_device of a range that reaches into such an object. HAUL_ERROR_ARGUMENT: no type.
 * HAUL_ERROR_STATE after commit, for a constructor's type, and for a container that has instances:
 * these have what it had. */
HAUL_API haul_status haul_type_set_rebuild(haul_type *type, haul_rebuild_function *rebuild,
                                           void *user);

#ifdef __cplusplus
}
#endif
#endif
