/* Shipments: ship a graph, replan it, look up addresses, free it.
 *
 * A shipment is a plan and a range on a device. The plan knows the offset of each source byte in
 * the arena, and the range has the arena's address: a device address is their sum. Everything new
 * is complete before anything is handed out or replaced, so a failure only drops the new parts.
 */
#include "device/deferred.h"
#include "arena/arena.h"
#include "arena/contents.h"
#include "device/streams.h"
#include "pack/plan.h"
#include "ship/arena_transfer.h"
#include "ship/pending.h"
#include "ship/transfer.h"
#include "ship/zero_copy.h"

/* ---- Shipping. */

/* How a call ships. `async` NULL: it waits. */
typedef struct manner {
    const haul_ship_options *options;
    const haul_async *async;
} manner;

/* On success takes over the caller's hold on the plan. */
static haul_status ship_plan(haul_device *device, haul_plan *plan, const manner *how,
                             haul_shipment **result)
{
    haul_shipment *shipment = haul__shipment_new(device, how->options);
    haul_status status;
    if (!shipment)
        return HAUL_ERROR_MEMORY;
    status = haul__load(device, plan, &shipment->options, how->async, &shipment->range,
                        &shipment->work, &shipment->statistics);
    if (status != HAUL_OK) {
        haul__shipment_discard(device, shipment);
        return status;
    }
    haul__shipment_complete(shipment, device, plan);
    *result = shipment;
    return HAUL_OK;
}

static haul_status ship_roots(haul_device *device, const haul_root *roots, size_t count,
                              const manner *how, haul_shipment **result)
{
    haul_plan *plan;
    int is_ordered = how->options && how->options->ordered;
    haul_status status;
    haul__context_wake_pool(device->context, device->expected_bytes);
    status = haul__plan_make(device->context, roots, count, is_ordered, &plan);
    if (status != HAUL_OK)
        return status;
    status = ship_plan(device, plan, how, result);
    if (status != HAUL_OK)
        haul__plan_drop(plan);
    return status;
}

/* Clears the result, enters the device, and selects the stream. */
static haul_status begin(haul_device *device, const haul_async *async, haul_shipment **result)
{
    haul_status status;
    if (result)
        *result = NULL;
    if (!haul__device_is_valid(device))
        return HAUL_ERROR_ARGUMENT;
    status = haul__device_enter(device);
    if (status != HAUL_OK)
        return status;
    status = result ? haul__select_for(device, async)
                    : haul__fail(&device->context->error, HAUL_ERROR_ARGUMENT,
                                 "the address of the new shipment is NULL");
    if (status != HAUL_OK)
        haul__context_leave(device->context);
    return status;
}

static haul_status call_ship_roots(haul_device *device, const haul_root *roots, size_t count,
                                   const manner *how, haul_shipment **result)
{
    haul_status status = begin(device, how->async, result);
    if (status != HAUL_OK)
        return status;
    status = ship_roots(device, roots, count, how, result);
    haul__context_leave(device->context);
    return status;
}

static haul_status call_ship_plan(haul_device *device, haul_plan *plan, const manner *how,
                                  haul_shipment **result)
{
    haul_status status = begin(device, how->async, result);
    if (status != HAUL_OK)
        return status;
    if (!haul__plan_is_valid(plan) || haul__plan_context(plan) != device->context) {
        status = haul__fail(&device->context->error, HAUL_ERROR_ARGUMENT,
                            haul__plan_is_valid(plan)
                                ? "the plan belongs to another context than the device"
                                : "the plan is NULL or freed");
    } else {
        status = ship_plan(device, plan, how, result);
        if (status == HAUL_OK)
            haul__plan_hold(plan);
    }
    haul__context_leave(device->context);
    return status;
}

static manner manner_of(const haul_ship_options *options, const haul_async *async)
{
    manner how;
    how.options = options;
    how.async = async;
    return how;
}

static const haul_async own_stream = { NULL, NULL };

haul_status haul_ship_roots(haul_device *device, const haul_root *roots, size_t count,
                            const haul_ship_options *options, haul_shipment **result)
{
    manner how = manner_of(options, NULL);
    return call_ship_roots(device, roots, count, &how, result);
}

static haul_root root_of(void *address, const haul_type *type, size_t count)
{
    haul_root root;
    root.address = address;
    root.type = type;
    root.count = count;
    return root;
}

haul_status haul_ship(haul_device *device, void *root, const haul_type *type, size_t count,
                      const haul_ship_options *options, haul_shipment **result)
{
    haul_root one = root_of(root, type, count);
    return haul_ship_roots(device, &one, 1, options, result);
}

haul_status haul_ship_async(haul_device *device, void *root, const haul_type *type, size_t count,
                            const haul_ship_options *options, const haul_async *async,
                            haul_shipment **result)
{
    haul_root one = root_of(root, type, count);
    manner how = manner_of(options, async ? async : &own_stream);
    return call_ship_roots(device, &one, 1, &how, result);
}

haul_status haul_ship_plan(haul_device *device, haul_plan *plan, const haul_ship_options *options,
                           haul_shipment **result)
{
    manner how = manner_of(options, NULL);
    return call_ship_plan(device, plan, &how, result);
}

haul_status haul_ship_plan_async(haul_device *device, haul_plan *plan,
                                 const haul_ship_options *options, const haul_async *async,
                                 haul_shipment **result)
{
    manner how = manner_of(options, async ? async : &own_stream);
    return call_ship_plan(device, plan, &how, result);
}

static haul_status replan(haul_shipment *shipment)
{
    haul_device *device = shipment->device;
    haul_shipment_statistics statistics = shipment->statistics;
    haul__range range;
    haul_plan *plan;
    size_t count;
    const haul_root *roots = haul__plan_roots(shipment->plan, &count);
    int is_ordered = haul__plan_is_ordered(shipment->plan);
    haul_status status = haul__plan_make(device->context, roots, count, is_ordered, &plan);
    if (status != HAUL_OK)
        return status;
    status = haul__load(device, plan, &shipment->options, NULL, &range, NULL, &statistics);
    if (status != HAUL_OK) {
        haul__plan_drop(plan);
        return status;
    }
    haul__drop_zero_copy(shipment);
    haul__unload(device, &shipment->range);
    haul__plan_drop(shipment->plan);
    shipment->plan = plan;
    shipment->range = range;
    shipment->statistics = statistics;
    shipment->statistics.packs_because = NULL;
    shipment->marks_are_there = haul__is_patched(&range);
    return HAUL_OK;
}

haul_status haul_replan(haul_shipment *shipment)
{
    haul_status status = haul__shipment_enter(shipment, NULL);
    if (status != HAUL_OK)
        return status;
    status = haul__is_arena(shipment) ? haul__arena_replan(shipment) : replan(shipment);
    haul__shipment_leave(shipment);
    return status;
}

/* ---- Look-ups. */

haul_address haul_device_address(const haul_shipment *shipment, const void *host)
{
    size_t offset;
    if (!haul__shipment_is_valid(shipment) || !host)
        return 0;
    if (haul__is_arena(shipment)) {
        offset = (size_t)((uintptr_t)host - (uintptr_t)shipment->contents.base);
        return offset <= shipment->contents.bytes ? shipment->range.address + offset : 0;
    }
    if (haul_plan_offset(shipment->plan, host, &offset) != HAUL_OK)
        return 0;
    return shipment->range.address + offset;
}

void *haul_device_pointer(const haul_shipment *shipment, const void *host)
{
    return (void *)(uintptr_t)haul_device_address(shipment, host);
}

void *haul_host_pointer(const haul_shipment *shipment, haul_address device)
{
    void *host;
    uint64_t offset;
    if (!haul__shipment_is_valid(shipment) || device < shipment->range.address)
        return NULL;
    offset = device - shipment->range.address;
    if (offset > shipment->range.arena_bytes)
        return NULL;
    if (haul__is_arena(shipment))
        return shipment->contents.base + offset;
    return haul_plan_address(shipment->plan, (size_t)offset, &host) == HAUL_OK ? host : NULL;
}

void haul_shipment_get_statistics(const haul_shipment *shipment,
                                  haul_shipment_statistics *statistics)
{
    if (!statistics)
        return;
    memset(statistics, 0, sizeof *statistics);
    if (haul__shipment_is_valid(shipment))
        *statistics = shipment->statistics;
}

/* Frees the shipment. The arena may be of another context: it is freed next, inside that one. */
static haul__freed *finish(void *object)
{
    haul_shipment *last = object;
    haul_device *device = last->device;
    haul_arena *arena = last->contents.arena;
    haul__device_settle(device);
    haul__select(device, NULL);
    haul__shipment_abandon(last);
    haul__drop_zero_copy(last);
    haul__shipment_unload(last);
    if (last->plan)
        haul__plan_drop(last->plan);
    haul__defer_arena(device, arena);
    haul__contents_release(&last->contents);
    haul__release(&device->context->allocator, last, sizeof *last);
    haul__device_drop(device);
    return arena ? haul__arena_let_go(arena) : NULL;
}

void haul_shipment_free(haul_shipment **shipment)
{
    haul_shipment *last = shipment ? *shipment : NULL;
    if (!last)
        return;
    *shipment = NULL;
    if (!haul__shipment_is_valid(last))
        return;
    last->magic = 0;
    haul__free(&last->freed, last->device->context, finish, last);
}
