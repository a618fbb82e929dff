/* Pending work: asynchronous calls on a shipment, and work whose wait timed out.
 *
 * A call waits for the pending work of its shipment if it is synchronous or uses another stream; on
 * the same stream the device keeps the order. So the fence of the last call stands for all calls
 * before it.
 *
 * Results of an asynchronous call lie in memory of their own. They are written to the host's
 * objects by the next call that waits, in its thread; there is no background thread.
 *
 * Work has timed out if a wait for it did. Until its fence has been reached, the device may read
 * the source or write the range. So the fence is noted, and each later call waits for it first.
 */
#include "device/deferred.h"
#include "device/streams.h"
#include "pack/pack.h"
#include "ship/pending.h"
#include "ship/shipment_check.h"

/* ---- Asynchronous work. */

/* Fills the record with the failure of work. `failures`: the device's count when the work was
 * ordered or timed out. */
static haul_status how_it_went(haul_device *device, const char *what, uint64_t failures,
                               haul_status status)
{
    if (status == HAUL_ERROR_PENDING)
        return haul__fail(&device->context->error, status, "the device has not finished yet");
    if (status == HAUL_OK && failures != device->failures)
        return haul__fail(
            &device->context->error, device->failure,
            "%s failed: the device has reported a failure after this work was submitted", what);
    if (status != HAUL_OK)
        haul__fail(&device->context->error, status, "%s failed: %s", what,
                   device->table.message(device->state));
    return status;
}

static const char asynchronous[] = "asynchronous work";

static void drop_return(haul_shipment *shipment)
{
    haul__return *back = shipment->returns;
    shipment->returns = back->next;
    if (!shipment->device->timed_out && shipment->spare.bytes < back->memory.bytes) {
        haul__memory_put(shipment->device, &shipment->spare);
        shipment->spare = back->memory;
    } else {
        haul__memory_put(shipment->device, &back->memory);
    }
    haul__release(&shipment->device->context->allocator, back, sizeof *back);
}

haul_status haul__await_work(haul_device *device, haul__work *work)
{
    const haul_status status =
        how_it_went(device, asynchronous, work->failures, haul__await(device, work->fence));
    if (status != HAUL_ERROR_PENDING)
        work->is_pending = 0;
    return status;
}

haul_status haul__poll_work(haul_device *device, const haul__work *work)
{
    return how_it_went(device, asynchronous, work->failures, haul__poll(device, work->fence));
}

/* After a failure no result is trusted: all returns are dropped. */
static haul_status await_work(haul_shipment *shipment)
{
    const haul_status status = haul__await_work(shipment->device, &shipment->work);
    if (status == HAUL_OK || status == HAUL_ERROR_PENDING)
        return status;
    shipment->marks_are_there = 0;
    while (shipment->returns)
        drop_return(shipment);
    return status;
}

haul_status haul__prepare_write(haul_shipment *shipment)
{
    return haul__is_arena(shipment) ? HAUL_OK : haul__prepare_scatter(shipment->plan);
}

void haul__end_write(haul_shipment *shipment)
{
    if (!haul__is_arena(shipment))
        haul__end_scatter(shipment->plan);
}

/* Gets all memory before the first byte is written. Without it all returns stay, and the next call
 * that waits writes them. */
static haul_status write_returns(haul_shipment *shipment)
{
    const haul__return *whole = shipment->returns;
    haul_status first = HAUL_OK, status;
    int prepares;
    while (whole && !whole->is_whole)
        whole = whole->next;
    prepares = whole != NULL;
    if (prepares)
        first = haul__prepare_write(shipment);
    if (first != HAUL_OK)
        return first;
    while (shipment->returns) {
        shipment->info.transfers_from++;
        shipment->info.bytes_from += shipment->returns->bytes;
        status = shipment->returns->write(shipment, shipment->returns);
        first = first == HAUL_OK ? status : first;
        drop_return(shipment);
    }
    if (prepares)
        haul__end_write(shipment);
    return first;
}

/* ---- Timed-out work. */

/* A fence made now lies behind the timed-out work, too. */
int haul__shipment_has_timed_out(haul_shipment *shipment)
{
    haul__timeout *timeout = &shipment->timeout;
    uint64_t fence;
    if (timeout->is_unfenced && haul__select(shipment->device, NULL) == HAUL_OK &&
        haul__fence(shipment->device, &fence) == HAUL_OK) {
        timeout->is_unfenced = 0;
        timeout->fence = fence;
    }
    return timeout->is_unfenced || timeout->fence != 0;
}

void haul__note_timeout(haul_shipment *shipment, haul_device *device)
{
    haul__timeout *timeout = &shipment->timeout;
    if (!device->timed_out && !device->is_unfenced)
        return;
    timeout->fence = device->timed_out ? device->timeout_fence : 0;
    timeout->failures = device->timeout_failures;
    timeout->is_unfenced = device->is_unfenced;
    if (device == shipment->device)
        return;
    timeout->is_unfenced = 0;
    if (device->timed_out) {
        timeout->device = device;
        haul__device_hold(device);
    }
}

/* The timed-out work is done. */
static void end_timeout(haul_shipment *shipment)
{
    haul_device *other = shipment->timeout.device;
    memset(&shipment->timeout, 0, sizeof shipment->timeout);
    if (other)
        haul__device_drop(other);
}

/* Waits for the fence of timed-out work, or polls it. */
static haul_status ask_timed_out(haul_shipment *shipment,
                                 haul_status (*ask)(haul_device *device, uint64_t fence))
{
    const haul__timeout *timeout = &shipment->timeout;
    haul_device *device = shipment->timeout.device ? shipment->timeout.device : shipment->device;
    if (!haul__shipment_has_timed_out(shipment))
        return HAUL_OK;
    if (!timeout->fence)
        ask = haul__ask_for_fence;
    return how_it_went(device, "work that had timed out", timeout->failures,
                       ask(device, timeout->fence));
}

/* A call that reads the source or the range comes behind timed-out work. */
static haul_status await_timed_out(haul_shipment *shipment)
{
    haul_status status = ask_timed_out(shipment, haul__await);
    if (status == HAUL_ERROR_PENDING)
        return status;
    if (status != HAUL_OK)
        shipment->marks_are_there = 0;
    end_timeout(shipment);
    return status;
}

/* Asynchronous work comes before timed-out work; if that fails, both have failed and are over. */
haul_status haul__shipment_finish(haul_shipment *shipment)
{
    haul_status status = await_timed_out(shipment);
    if (status != HAUL_ERROR_PENDING && shipment->work.is_pending)
        status = await_work(shipment);
    return status == HAUL_OK ? write_returns(shipment) : status;
}

/* Waits for a fence. If that times out, memory that is given back stays until this fence and the
 * earlier timeout's have been reached. */
static void give_up(haul_device *device, uint64_t fence)
{
    if (haul__await(device, fence) != HAUL_ERROR_PENDING)
        return;
    if (!device->timed_out || device->timeout_fence < fence)
        device->timeout_fence = fence;
    device->timed_out = 1;
}

void haul__shipment_abandon(haul_shipment *shipment)
{
    haul_device *device = shipment->device;
    device->timed_out = device->is_unfenced = 0;
    if (shipment->work.is_pending)
        give_up(device, shipment->work.fence);
    if (!shipment->timeout.device && shipment->timeout.fence)
        give_up(device, shipment->timeout.fence);
    while (shipment->returns)
        drop_return(shipment);
    haul__memory_put(device, &shipment->spare);
}

/* If another device still reads the range after one more wait, the range is left to the system. */
void haul__shipment_unload(haul_shipment *shipment)
{
    haul_device *reader = shipment->timeout.device;
    if (!reader || haul__await(reader, shipment->timeout.fence) != HAUL_ERROR_PENDING)
        haul__unload(shipment->device, &shipment->range);
    end_timeout(shipment);
}

/* ---- Calls on shipments. */

haul_status haul__shipment_come_behind(haul_shipment *shipment, const haul_async *async)
{
    haul_status status = async ? await_timed_out(shipment) : haul__shipment_finish(shipment);
    if (status == HAUL_OK && async && shipment->work.is_pending &&
        shipment->work.stream != async->stream)
        status = await_work(shipment);
    return status;
}

haul_status haul__shipment_enter(haul_shipment *shipment, const haul_async *async)
{
    haul_status status = haul__shipment_enter_device(shipment);
    if (status != HAUL_OK)
        return status;
#ifdef HAUL_CHECKS
    status = haul__shipment_check(shipment);
#endif
    if (status == HAUL_OK)
        status = haul__shipment_come_behind(shipment, async);
    if (status == HAUL_OK)
        status = haul__select_for(shipment->device, async);
    if (status != HAUL_OK)
        haul__shipment_leave(shipment);
    return status;
}

void haul__shipment_leave(haul_shipment *shipment)
{
    haul__note_timeout(shipment, shipment->device);
    haul__context_leave(shipment->device->context);
}

haul_status haul__return_memory(haul_shipment *shipment, size_t bytes, haul__memory *memory)
{
    haul_status status = HAUL_OK;
    if (shipment->spare.bytes >= bytes) {
        *memory = shipment->spare;
        memset(&shipment->spare, 0, sizeof shipment->spare);
    } else {
        status = haul__memory_get(shipment->device, bytes, memory);
    }
    return status;
}

haul_status haul__return_later(haul_shipment *shipment, const haul_async *async,
                               const haul__return *what)
{
    haul_device *device = shipment->device;
    haul__memory memory = what->memory;
    haul__return *back = haul__allocate(&device->context->allocator, sizeof *back, sizeof(void *));
    haul_status status = back ? HAUL_OK : HAUL_ERROR_MEMORY;
    if (back) {
        *back = *what;
        status =
            haul__copy_from(device, back->data, shipment->range.address + back->at, back->bytes);
    } else {
        haul__fail(&device->context->error, status, "no memory to note a result");
    }
    if (status == HAUL_OK)
        status = haul__conclude(device, async, &shipment->work, "copy of ", what->bytes,
                                " bytes from the device");
    if (status == HAUL_OK) {
        haul__return **last = &shipment->returns;
        while (*last)
            last = &(*last)->next;
        *last = back;
        back->next = NULL;
        return HAUL_OK;
    }
    if (back)
        haul__release(&device->context->allocator, back, sizeof *back);
    haul__memory_put(device, &memory);
    return status;
}

haul_status haul_wait(haul_shipment *shipment)
{
    haul_status status = haul__shipment_enter_device(shipment);
    if (status != HAUL_OK)
        return status;
    status = haul__shipment_finish(shipment);
    haul__context_leave(shipment->device->context);
    return status;
}

haul_status haul__shipment_poll(haul_shipment *shipment)
{
    haul_status status = ask_timed_out(shipment, haul__poll);
    if (status == HAUL_OK && shipment->work.is_pending)
        status = haul__poll_work(shipment->device, &shipment->work);
    return status;
}

haul_status haul_poll(haul_shipment *shipment)
{
    haul_status status = haul__shipment_enter_device(shipment);
    if (status != HAUL_OK)
        return status;
    status = haul__shipment_poll(shipment);
    haul__context_leave(shipment->device->context);
    return status;
}
