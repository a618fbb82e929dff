/* Locks: pages of the source that a device reads where they lie.
 *
 * A page can be locked once, but objects of several graphs, on several devices, may share it. So
 * the context lists all locks with the number of their holders. A graph locks only the gaps between
 * existing locks. A lock is never joined or cut, and goes with its last holder; a graph holds all
 * locks that touch its ranges. The device that made a lock unlocks it. If that device has closed or
 * is lost, the last holder's device does.
 *
 * The list is searched linearly: adjacent pages share a lock, so locks are few.
 */
#include "device/device.h"
#include "device/lock.h"
#include "device/streams.h"
#include "pack/segments.h"

/* The most ranges that one graph locks. Each costs a driver call and a search of the list. A graph
 * with more, such as one object on each of many scattered pages, is packed instead. */
#define RANGES_MAX 4096u

static int concerns(const haul_device *device, const haul__lock *lock, uintptr_t begin,
                    uintptr_t end)
{
    return lock->by == device->table.lock && lock->begin < end && begin < lock->end;
}

/* ---- The context's list. */

static haul_status add(haul_device *device, uintptr_t begin, uintptr_t end)
{
    haul_context *context = device->context;
    haul_status status;
    if (!haul__grow(&context->allocator, &context->locks, &context->lock_capacity,
                    context->lock_count + 1, sizeof *context->locks))
        return HAUL_ERROR_MEMORY;
    status = device->table.lock(device->state, (void *)begin, end - begin);
    if (status != HAUL_OK)
        return haul__device_failed(device, status, "locking of ", end - begin,
                                   " bytes of the source");
    context->locks[context->lock_count].begin = begin;
    context->locks[context->lock_count].end = end;
    context->locks[context->lock_count].holders = 0;
    context->locks[context->lock_count].by = device->table.lock;
    context->locks[context->lock_count++].device = device;
    return HAUL_OK;
}

/* Unlocks all locks without a holder. */
static void unlock_unheld(haul_device *device)
{
    haul_context *context = device->context;
    size_t i, left = 0;
    for (i = 0; i < context->lock_count; i++) {
        const haul__lock *lock = &context->locks[i];
        haul_device *by = device;
        if (lock->holders > 0) {
            context->locks[left++] = *lock;
            continue;
        }
        if (lock->device && lock->device->failure != HAUL_ERROR_DEVICE_LOST)
            by = lock->device;
        haul__device_settle(by);
        by->table.unlock(by->state, (void *)lock->begin, lock->end - lock->begin);
    }
    context->lock_count = left;
    if (left > 0 || !context->locks)
        return;
    haul__release(&context->allocator, context->locks,
                  context->lock_capacity * sizeof *context->locks);
    context->locks = NULL;
    context->lock_capacity = 0;
}

void haul__leave_locks(haul_device *device)
{
    haul_context *context = device->context;
    size_t i;
    for (i = 0; i < context->lock_count; i++)
        if (context->locks[i].device == device)
            context->locks[i].device = NULL;
}

/* The end of the lock that holds `at`. If none does: `at`, and *next is the start of the next lock
 * before `end`, or `end`. */
static uintptr_t locked_until(const haul_device *device, uintptr_t at, uintptr_t end,
                              uintptr_t *next)
{
    const haul_context *context = device->context;
    size_t i;
    *next = end;
    for (i = 0; i < context->lock_count; i++) {
        const haul__lock *lock = &context->locks[i];
        if (!concerns(device, lock, at, end))
            continue;
        if (lock->begin <= at)
            return lock->end;
        if (lock->begin < *next)
            *next = lock->begin;
    }
    return at;
}

static haul_status lock_gaps(haul_device *device, uintptr_t begin, uintptr_t end)
{
    haul_status status = HAUL_OK;
    uintptr_t at = begin, next;
    while (at < end && status == HAUL_OK) {
        const uintptr_t until = locked_until(device, at, end, &next);
        if (until == at) {
            status = add(device, at, next);
            at = next;
        } else {
            at = until;
        }
    }
    return status;
}

static void count_holders(haul_device *device, const haul_interval *pages, int more)
{
    haul_context *context = device->context;
    size_t i;
    for (i = 0; i < context->lock_count; i++)
        if (concerns(device, &context->locks[i], (uintptr_t)pages->begin, (uintptr_t)pages->end))
            context->locks[i].holders += more ? 1 : (size_t)-1;
}

/* ---- A graph's. */

/* Lists the page ranges of the plan; locks none yet. */
static haul_status note_ranges(haul_device *device, const haul_plan *plan, haul__locked *locked,
                               size_t *count)
{
    haul__pages pages = { 0, 0, 0, 0 };
    memset(locked, 0, sizeof *locked);
    for (*count = 0; haul__next_pages(plan, &pages); ++*count) {
        if (*count == RANGES_MAX)
            return HAUL_ERROR_UNSUPPORTED;
        if (!haul__grow(&device->context->allocator, &locked->ranges, &locked->capacity, *count + 1,
                        sizeof *locked->ranges))
            return HAUL_ERROR_MEMORY;
        locked->ranges[*count].begin = pages.begin;
        locked->ranges[*count].end = pages.end;
    }
    return HAUL_OK;
}

void haul__leave_locked(haul_device *device, haul__locked *locked)
{
    if (locked->ranges)
        haul__release(&device->context->allocator, locked->ranges,
                      locked->capacity * sizeof *locked->ranges);
    memset(locked, 0, sizeof *locked);
}

haul_status haul__lock_source(haul_device *device, const haul_plan *plan, haul__locked *locked)
{
    size_t count;
    haul_status status = note_ranges(device, plan, locked, &count);
    while (status == HAUL_OK && locked->count < count) {
        const haul_interval *pages = &locked->ranges[locked->count];
        status = lock_gaps(device, (uintptr_t)pages->begin, (uintptr_t)pages->end);
        if (status != HAUL_OK)
            break;
        count_holders(device, pages, 1);
        locked->count++;
    }
    if (status != HAUL_OK)
        haul__unlock_source(device, locked);
    return status;
}

void haul__unlock_source(haul_device *device, haul__locked *locked)
{
    size_t i;
    if (!locked->ranges)
        return;
    for (i = 0; i < locked->count; i++)
        count_holders(device, &locked->ranges[i], 0);
    unlock_unheld(device);
    haul__leave_locked(device, locked);
}
