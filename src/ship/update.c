/* Updates: the calls that move contents between the host's objects and the device.
 */
#include "ship/update.h"

#include "base/sized.h"
#include "ship/arena_transfer.h"
#include "ship/pending.h"

/* The arguments of an update, as the library knows them. */
typedef struct update {
    haul_update_options options;
    haul_async where;
    const haul_async *async; /* to `where`; NULL: the call waits */
    haul_status status;      /* HAUL_ERROR_VERSION: the caller's structs are newer */
} update;

static void read_update(update *u, const haul_update_options *options, size_t options_bytes,
                        const haul_async *async, size_t async_bytes)
{
    u->status = haul__read_options(&u->options, sizeof u->options, options, options_bytes);
    if (haul__read_options(&u->where, sizeof u->where, async, async_bytes) != HAUL_OK)
        u->status = HAUL_ERROR_VERSION;
    u->async = async ? &u->where : NULL;
}

/* What is wrong with the options? NULL: nothing. */
static const char *fault_of(const haul_update_options *options)
{
    if (!options->host && options->bytes > 0)
        return "no byte of the range is in the shipment: it begins at NULL";
    if (options->host && options->pointers)
        return "options->pointers is for updates of everything: a range has no pointers";
    if (options->leave_outside && !options->pointers)
        return "options->leave_outside is for options->pointers";
    return NULL;
}

static const char *fault_to_device(const haul_update_options *options)
{
    if (options->pointers)
        return "options->pointers is for haul_update_host: pointers are sent always";
    if (options->all_or_nothing)
        return "options->all_or_nothing is for haul_update_host";
    return fault_of(options);
}

static haul_status to_device(haul_shipment *shipment, const update *u)
{
    if (u->options.host)
        return haul__send_range(shipment, u->options.host, u->options.bytes, u->async);
    return haul__is_arena(shipment) ? haul__arena_refresh(shipment, u->async)
                                    : haul__refresh(shipment, u->async);
}

/* What a device that is not trusted has left is checked as a whole, while the call waits. */
static haul_status refuse_untrusted(const haul_shipment *shipment)
{
    return haul__fail(&shipment->device->context->error, HAUL_ERROR_UNSUPPORTED,
                      "the device is not trusted (haul_ship_options.untrusted): results come as a "
                      "whole, without async and .leave_outside");
}

static haul_status to_host(haul_shipment *shipment, const update *u)
{
    const haul_update_options *how = &u->options;
    if (shipment->options.untrusted && (how->host || how->leave_outside || u->async))
        return refuse_untrusted(shipment);
    if (how->host && u->async)
        return haul__return_range_later(shipment, how->host, how->bytes, u->async);
    if (how->host)
        return haul__return_range(shipment, how->host, how->bytes);
    return u->async ? haul__return_all_later(shipment, how, u->async)
                    : haul__return_all(shipment, how);
}

typedef haul_status way(haul_shipment *shipment, const update *u);

static haul_status run(haul_shipment *shipment, const update *u,
                       const char *(*fault)(const haul_update_options *options), way *move)
{
    const char *wrong = u->status == HAUL_OK ? fault(&u->options) : HAUL__NEWER_OPTIONS;
    haul_status status = haul__shipment_enter(shipment, u->async);
    if (status != HAUL_OK)
        return status;
    if (wrong)
        status = haul__fail(&shipment->device->context->error,
                            u->status == HAUL_OK ? HAUL_ERROR_ARGUMENT : u->status, "%s", wrong);
    if (status == HAUL_OK)
        status = move(shipment, u);
    haul__shipment_leave(shipment);
    return status;
}

haul_status haul_update_device_sized(haul_shipment *shipment, const haul_update_options *options,
                                     size_t options_bytes, const haul_async *async,
                                     size_t async_bytes)
{
    update u;
    read_update(&u, options, options_bytes, async, async_bytes);
    return run(shipment, &u, fault_to_device, to_device);
}

haul_status haul_update_host_sized(haul_shipment *shipment, const haul_update_options *options,
                                   size_t options_bytes, const haul_async *async,
                                   size_t async_bytes)
{
    update u;
    read_update(&u, options, options_bytes, async, async_bytes);
    return run(shipment, &u, fault_of, to_host);
}
