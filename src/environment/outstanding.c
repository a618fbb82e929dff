/* What asynchronous calls leave under way.
 *
 * Each group knows the last work that touches it. A call first comes behind the work of the groups
 * that it touches: on the same stream the device keeps the order, else the host waits. So calls on
 * groups that have nothing to do with each other wait for nothing, whatever their streams.
 *
 * Results lie in memory of their own. They are written in the order of the calls, by the next call
 * that waits for one of their groups, in its thread. A result may be of several groups, so those
 * before it are written first, of whatever group they are.
 */
#include "environment/outstanding.h"
#include "device/deferred.h"
#include "device/device.h"
#include "device/streams.h"
#include "ship/pending.h"

/* ---- Results. */

haul__result *haul__new_result(haul_environment *e)
{
    haul__result *result = haul__allocate_zeroed(&e->context->allocator, sizeof *result);
    if (!result)
        haul__fail(&e->context->error, HAUL_ERROR_MEMORY, "no memory to note a result");
    return result;
}

void haul__list_result(haul__result *result, haul__batch *batch, haul__memory *memory,
                       const haul__work *work)
{
    haul_environment *e = batch->e;
    haul__result **last = &e->results;
    size_t i;
    while (*last)
        last = &(*last)->next;
    result->batch = *batch;
    for (i = 0; i < batch->all.count; i++)
        if (batch->all.at[i] == &batch->own)
            batch->all.at[i] = &result->batch.own;
    result->memory = *memory;
    result->work = *work;
    *last = result;
    memset(batch, 0, sizeof *batch);
    batch->e = e;
}

void haul__keep_staged(haul_environment *e, haul__memory *memory)
{
    haul_device *device = e->device;
    if (!device->timed_out && !device->is_unfenced && memory->bytes > e->staged.bytes) {
        haul__memory_put(device, &e->staged);
        e->staged = *memory;
    } else {
        haul__memory_put(device, memory);
    }
}

/* Drops the first result from a place of the list on. It may not have arrived. */
static void drop(haul_environment *e, haul__result **from)
{
    haul__result *result = *from;
    *from = result->next;
    if (result->work.is_pending && haul__poll(e->device, result->work.fence) == HAUL_ERROR_PENDING)
        haul__memory_put_until(e->device, &result->memory, result->work.fence);
    else
        haul__keep_staged(e, &result->memory);
    haul__drop_batch(&result->batch);
    haul__release(&e->context->allocator, result, sizeof *result);
}

const haul__result *haul__last_result(const haul_environment *e)
{
    const haul__result *last = e->results;
    while (last && last->next)
        last = last->next;
    return last;
}

void haul__drop_last_result(haul_environment *e)
{
    haul__result **last = &e->results;
    while ((*last)->next)
        last = &(*last)->next;
    drop(e, last);
}

void haul__drop_results(haul_environment *e)
{
    while (e->results)
        drop(e, &e->results);
}

/* A result that has failed is dropped. One that has not arrived, or that there is no memory to
 * check, stays. */
static haul_status write_first(haul_environment *e)
{
    haul__result *result = e->results;
    haul_status status =
        result->work.is_pending ? haul__await_work(e->device, &result->work) : HAUL_OK;
    if (status == HAUL_OK)
        status = haul__batch_write(&result->batch, result->memory.memory);
    if (status != HAUL_ERROR_PENDING && status != HAUL_ERROR_MEMORY)
        drop(e, &e->results);
    return status;
}

/* How many results come up to the last one of the group; NULL: how many there are. */
static size_t results_up_to(const haul_environment *e, const haul__sent_group *group)
{
    const haul__result *result;
    size_t count = 0, up_to = 0, i;
    for (result = e->results; result; result = result->next) {
        count++;
        for (i = 0; i < result->batch.groups.count && up_to < count; i++)
            if (!group || result->batch.groups.at[i] == group)
                up_to = count;
    }
    return up_to;
}

int haul__has_results(const haul_environment *e, const haul__sent_group *group)
{
    return results_up_to(e, group) > 0;
}

haul_status haul__write_results(haul_environment *e, const haul__sent_group *group,
                                haul_status failure)
{
    size_t left = results_up_to(e, group);
    haul_error first = e->context->error;
    for (; left > 0; left--) {
        const haul_status status = write_first(e);
        if (status != HAUL_OK && failure == HAUL_OK) {
            failure = status;
            first = e->context->error;
        }
        if (status == HAUL_ERROR_PENDING || status == HAUL_ERROR_MEMORY)
            break;
    }
    if (failure != HAUL_OK)
        e->context->error = first;
    return failure;
}

/* ---- Order. */

haul_status haul__come_behind(haul_environment *e, haul__sent_group *group, const haul_async *async)
{
    const haul_status status = haul__shipment_come_behind(group->shipment, async);
    if (async || !e->results || status == HAUL_ERROR_PENDING)
        return status;
    return haul__write_results(e, group, status);
}

/* Work that was pending already becomes one with it, with the earlier count of failures. */
void haul__note_work(haul__sent_group *group, const haul__work *work)
{
    haul__work *last = &group->shipment->work;
    const uint64_t failures = last->is_pending ? last->failures : work->failures;
    *last = *work;
    last->failures = failures;
}

void haul__note_batch(const haul__batch *batch, const haul__work *work)
{
    size_t i;
    for (i = 0; i < batch->groups.count; i++)
        haul__note_work(batch->groups.at[i], work);
}

haul_status haul__signal(haul_environment *e, const haul_async *async, haul__work *work)
{
    memset(work, 0, sizeof *work);
    if (!async || !async->event)
        return HAUL_OK;
    return haul__conclude(e->device, async, work, "event of an update of ", 0, " bytes");
}

haul_status haul__pass_group(haul_environment *e, haul__sent_group *group, const haul_async *async)
{
    haul__work work;
    haul_status status = haul__come_behind(e, group, async);
    if (status == HAUL_OK)
        status = haul__select_for(e->device, async);
    if (status == HAUL_OK)
        status = haul__signal(e, async, &work);
    if (status == HAUL_OK && work.is_pending)
        haul__note_work(group, &work);
    return status;
}
