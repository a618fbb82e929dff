/* Shipping: reads and checks the arguments, then ships by the kind of source.
 */
#include "base/sized.h"
#include "arena/arena.h"
#include "device/streams.h"
#include "pack/plan.h"
#include "pack/source.h"
#include "ship/arena_transfer.h"
#include "ship/places.h"
#include "ship/transfer.h"
#include "walk/hints.h"

/* How a call ships, as the library knows it. */
typedef struct manner {
    haul_ship_options options;
    haul_async where;
    const haul_async *async; /* to `where`; NULL: the call waits */
} manner;

/* ---- Plans. */

haul_status haul__ship_plan(haul_device *device, haul_plan *plan, const haul_ship_options *options,
                            const haul_async *async, haul_shipment **result)
{
    haul_shipment *shipment = haul__shipment_new(device, options);
    haul_status status;
    if (!shipment)
        return HAUL_ERROR_MEMORY;
    status = haul__load(device, plan, options, async, &shipment->range, &shipment->work,
                        &shipment->info);
    if (status != HAUL_OK) {
        haul__shipment_discard(device, shipment);
        return status;
    }
    haul__shipment_complete(shipment, device, plan);
    *result = shipment;
    return HAUL_OK;
}

static haul_status ship_objects(haul_device *device, const haul_source *source, const manner *how,
                                haul_shipment **result)
{
    const haul__hints hints = { how->options.hints, how->options.hint_count };
    haul_plan *plan;
    haul_status status;
    haul__context_wake_pool(device->context, device->expected_bytes);
    status = haul__plan_from(device->context, source, how->options.ordered,
                             haul__are_hints_needed(device, &how->options) ? &hints : NULL, &plan);
    if (status != HAUL_OK)
        return status;
    status = haul__ship_plan(device, plan, &how->options, how->async, result);
    if (status != HAUL_OK)
        haul__plan_drop(plan);
    return status;
}

static haul_status ship_given_plan(haul_device *device, haul_plan *plan, const manner *how,
                                   haul_shipment **result)
{
    haul_error *error = &device->context->error;
    haul_status status;
    if (!haul__plan_is_valid(plan))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the plan is NULL or freed");
    if (haul__plan_context(plan) != device->context)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the plan belongs to another context than the device");
    status = haul__ship_plan(device, plan, &how->options, how->async, result);
    if (status == HAUL_OK)
        haul__plan_hold(plan);
    return status;
}

/* ---- Options. */

static haul_status useless(haul_device *device, const char *option, const char *why)
{
    return haul__fail(&device->context->error, HAUL_ERROR_ARGUMENT, "options->%s: %s", option, why);
}

static haul_status check_arena_options(haul_device *device, const haul_ship_options *options)
{
    haul_error *error = &device->context->error;
    size_t i;
    if (options->outside != HAUL_OUTSIDE_REFUSE && options->outside != HAUL_OUTSIDE_NULL &&
        options->outside != HAUL_OUTSIDE_KEEP)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->outside is %d, which does not exist", (int)options->outside);
    if (options->let_counts_change)
        return useless(device, "let_counts_change", "an arena without a root has no counts");
    if (!options->beside && options->beside_count > 0)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->beside is NULL, and beside_count is not 0");
    for (i = 0; i < options->beside_count; i++)
        if (!haul__shipment_is_valid(options->beside[i]) || !haul__is_arena(options->beside[i]) ||
            options->beside[i]->device != device)
            return haul__fail(error, HAUL_ERROR_ARGUMENT,
                              "beside[%zu] is no shipment of an arena to this device", i);
    return HAUL_OK;
}

/* Refuses options that the source has no use for. */
static haul_status check_options(haul_device *device, int kind, const haul_ship_options *options)
{
    const int is_arena = kind == HAUL_SOURCE_ARENA || kind == HAUL_SOURCE_ARENA_ROOT;
    haul_status status = haul__check_place_options(device, is_arena, options);
    if (status != HAUL_OK)
        return status;
    if (options->ordered && is_arena)
        return useless(device, "ordered", "an arena is shipped as it lies");
    if (options->ordered && kind == HAUL_SOURCE_PLAN)
        return useless(device, "ordered", "a plan has its own order");
    if (options->lock_source && is_arena)
        return useless(device, "lock_source", "an arena is shipped without packing");
    if (options->untrusted && is_arena)
        return useless(device, "untrusted", "an arena is not packed; ship its root as an object");
    if (options->untrusted && options->lock_source)
        return useless(device, "untrusted", "what writes a locked source must be trusted");
    if (options->untrusted != 0 && options->untrusted != 1)
        return haul__fail(&device->context->error, HAUL_ERROR_ARGUMENT,
                          "options->untrusted is %d: it is 0 or 1", options->untrusted);
    if (kind == HAUL_SOURCE_ARENA)
        return check_arena_options(device, options);
    if (options->outside != HAUL_OUTSIDE_REFUSE)
        return useless(device, "outside", "a graph that is discovered leads nowhere else");
    if (options->beside || options->beside_count > 0)
        return useless(device, "beside", "a graph that is discovered leads nowhere else");
    return HAUL_OK;
}

static haul_status read_manner(haul_device *device, manner *how, const haul_ship_options *options,
                               size_t options_bytes, const haul_async *async, size_t async_bytes)
{
    how->async = async ? &how->where : NULL;
    if (haul__read_options(&how->options, sizeof how->options, options, options_bytes) != HAUL_OK ||
        haul__read_options(&how->where, sizeof how->where, async, async_bytes) != HAUL_OK)
        return haul__fail(&device->context->error, HAUL_ERROR_VERSION, HAUL__NEWER_OPTIONS);
    return haul__select_for(device, how->async);
}

/* ---- The calls. */

/* `missing` names an argument that is NULL or 0; NULL: none is. */
static haul_status begin(haul_device *device, const char *missing)
{
    haul_status status;
    if (!haul__device_is_valid(device))
        return HAUL_ERROR_ARGUMENT;
    status = haul__device_enter(device);
    if (status != HAUL_OK || !missing)
        return status;
    haul__fail(&device->context->error, HAUL_ERROR_ARGUMENT, "%s", missing);
    haul__context_leave(device->context);
    return HAUL_ERROR_ARGUMENT;
}

static haul_status ship(haul_device *device, const haul_source *source, const manner *how,
                        haul_shipment **result)
{
    haul_status status = check_options(device, source->kind, &how->options);
    if (status != HAUL_OK)
        return status;
    switch (source->kind) {
    case HAUL_SOURCE_PLAN:
        return ship_given_plan(device, source->plan, how, result);
    case HAUL_SOURCE_ARENA:
        return haul__arenas_ship(device, &source->arena, NULL, 1, &how->options, how->async,
                                 result);
    case HAUL_SOURCE_ARENA_ROOT:
        return haul__arena_ship_root(device, source->arena, &source->root, &how->options,
                                     how->async, result);
    default:
        return ship_objects(device, source, how, result);
    }
}

haul_status haul_ship_from_sized(haul_device *device, const haul_source *source,
                                 size_t source_bytes, const haul_ship_options *options,
                                 size_t options_bytes, const haul_async *async, size_t async_bytes,
                                 haul_shipment **result)
{
    haul_arena *held;
    haul_source from;
    manner how;
    haul_status status;
    if (result)
        *result = NULL;
    status = begin(device, result ? NULL : "the address of the new shipment is NULL");
    if (status != HAUL_OK)
        return status;
    status = haul__source_read(source, source_bytes, &from, &device->context->error);
    held = status == HAUL_OK && haul__arena_is_valid(from.arena) ? from.arena : NULL;
    if (held) /* a callback may free it, in a context of its own */
        haul__arena_hold(held);
    if (status == HAUL_OK)
        status = read_manner(device, &how, options, options_bytes, async, async_bytes);
    if (status == HAUL_OK)
        status = ship(device, &from, &how, result);
    haul__context_leave(device->context);
    if (held)
        haul__arena_drop(held);
    return status;
}

haul_status haul_ship_arenas_sized(haul_device *device, haul_arena *const *arenas, size_t count,
                                   const haul_ship_options *options, size_t options_bytes,
                                   const haul_async *async, size_t async_bytes,
                                   haul_shipment **results)
{
    manner how;
    haul_status status;
    size_t i;
    for (i = 0; results && i < count; i++)
        results[i] = NULL;
    status = begin(device, !results     ? "the address of the new shipments is NULL"
                           : !arenas    ? "the list of arenas is NULL"
                           : count == 0 ? "the number of arenas is 0"
                                        : NULL);
    if (status != HAUL_OK)
        return status;
    status = read_manner(device, &how, options, options_bytes, async, async_bytes);
    if (status == HAUL_OK)
        status = check_options(device, HAUL_SOURCE_ARENA, &how.options);
    if (status == HAUL_OK)
        status = haul__arenas_ship(device, arenas, NULL, count, &how.options, how.async, results);
    haul__context_leave(device->context);
    return status;
}
