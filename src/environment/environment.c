/* Environments: made, asked, freed.
 *
 * Look-ups without the lock (look_up.c) read the two present tables, and count. All else has the
 * environment's lock, which says whose it is: a thread that has it already is inside a callback,
 * and would wait for itself.
 */
#include "environment/groups.h"
#include "environment/leaving.h"
#include "environment/look_up.h"
#include "environment/outstanding.h"
#include "environment/standing.h"
#include "environment/updates.h"
#include "environment/watch.h"
#include "base/sized.h"
#include "device/deferred.h"
#include "pack/plan.h"

/* ---- The lock. */

haul_status haul__environment_lock(haul_environment *environment)
{
    const uintptr_t thread = haul__thread();
    uintptr_t was = 0;
    unsigned spins = 0;
    if (!haul__environment_is_valid(environment))
        return HAUL_ERROR_ARGUMENT;
    while (!haul__atomic_replace(&environment->lock, &was, thread)) {
        if (was == thread)
            return HAUL_ERROR_BUSY;
        haul__pool_rest(&spins);
        was = 0;
    }
    return HAUL_OK;
}

void haul__environment_unlock(haul_environment *environment)
{
    haul__atomic_store(&environment->lock, (uintptr_t)0);
}

/* ---- Made and freed. */

static haul_status no_memory(haul_context *context)
{
    return haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for an environment");
}

static haul_status make(haul_device *device, haul_environment **made)
{
    haul_context *context = device->context;
    haul_environment *e = haul__allocate_zeroed(&context->allocator, sizeof *e);
    if (!e)
        return no_memory(context);
    e->asked = haul__allocate(&context->allocator, sizeof *e->asked, HAUL__LINE);
    if (!e->asked) {
        haul__release(&context->allocator, e, sizeof *e);
        return no_memory(context);
    }
    memset(e->asked, 0, sizeof *e->asked);
    e->magic = HAUL__ENVIRONMENT_MAGIC;
    e->device = device;
    e->context = context;
    haul__present_open(&e->host, &context->allocator);
    haul__present_open(&e->there, &context->allocator);
    e->elsewhere.user = e;
    e->elsewhere.meet = haul__environment_meet;
    e->elsewhere.copy_of = haul__environment_copy_of;
    e->elsewhere.around = e->around;
    e->elsewhere.stops = &e->stops;
    haul__device_hold(device);
    haul__context_hold(context);
    *made = e;
    return HAUL_OK;
}

haul_status haul_environment_create(haul_device *device, haul_environment **environment)
{
    haul_status status;
    if (environment)
        *environment = NULL;
    if (!haul__device_is_valid(device))
        return HAUL_ERROR_ARGUMENT;
    status = haul__device_enter(device);
    if (status != HAUL_OK)
        return status;
    status = environment ? make(device, environment)
                         : haul__fail(&device->context->error, HAUL_ERROR_ARGUMENT,
                                      "the address of the new environment is NULL");
    haul__context_leave(device->context);
    return status;
}

static haul__freed *finish(void *object)
{
    haul_environment *e = object;
    haul_context *context = e->context;
    haul_device *device = e->device;
    const haul_allocator *allocator = &context->allocator;
    size_t i;
    for (i = 0; i < e->groups.count; i++)
        if (e->groups.at[i]) {
            haul__watch_goes(e, e->groups.at[i]);
            haul__group_discard(e, e->groups.at[i]);
        }
    haul__discard_left(e);
    haul__device_settle(device);
    haul__drop_results(e);
    haul__memory_put(device, &e->staged);
    HAUL__LIST_RELEASE(allocator, &e->groups);
    HAUL__LIST_RELEASE(allocator, &e->spare);
    HAUL__LIST_RELEASE(allocator, &e->stops.all);
    haul__holds_close(allocator, &e->holds);
    haul__holds_close(allocator, &e->attached);
    haul__holds_close(allocator, &e->by_calls);
    haul__holds_close(allocator, &e->poisons);
    HAUL__LIST_RELEASE(allocator, &e->poisoned);
    haul__present_close(&e->host);
    haul__present_close(&e->there);
    haul__written_close(&e->written);
    haul__release(allocator, e->asked, sizeof *e->asked);
    haul__release(allocator, e, sizeof *e);
    haul__device_drop(device);
    haul__context_drop(context);
    return NULL;
}

void haul_environment_free(haul_environment **environment)
{
    haul_environment *last = environment ? *environment : NULL;
    if (!last)
        return;
    *environment = NULL;
    if (!haul__environment_is_valid(last))
        return;
    last->magic = 0;
    haul__free(&last->freed, last->context, finish, last);
}

/* ---- Questions. */

static void find(const haul_environment *e, uintptr_t host, haul_present_range *range)
{
    haul__found_range found;
    const haul__sent_group *group;
    const haul__covered *at;
    const haul__hold *hold;
    size_t count;
    if (!haul__present_find(&e->host, host, &found))
        return;
    group = e->groups.at[found.group];
    at = haul__covered_at(group, host);
    range->host = (void *)at->begin;
    range->device = (void *)at->device;
    range->bytes = at->bytes;
    range->root = haul__plan_roots(group->shipment->plan, &count)[0];
    hold = haul__holds_find(&e->holds, (uintptr_t)range->root.address);
    range->structured = hold ? hold->structured : 0;
    range->dynamic = hold ? hold->dynamic : 0;
}

haul_status haul_environment_find_sized(haul_environment *environment, const void *host,
                                        haul_present_range *range, size_t range_bytes)
{
    haul_present_range ours;
    haul_status status = range ? haul__environment_lock(environment) : HAUL_ERROR_ARGUMENT;
    memset(&ours, 0, sizeof ours);
    if (status == HAUL_OK) {
        haul__count_one(environment->asked);
        find(environment, (uintptr_t)host, &ours);
        haul__environment_unlock(environment);
        status = ours.host ? HAUL_OK : HAUL_ERROR_ARGUMENT;
    }
    if (range)
        haul__write_info(range, range_bytes, &ours, sizeof ours);
    return status;
}

static size_t group_bookkeeping(const haul__sent_group *group)
{
    return sizeof *group + group->ranges.capacity * sizeof *group->ranges.at +
           group->objects.capacity * sizeof *group->objects.at +
           group->roomy.capacity * sizeof *group->roomy.at +
           group->leads_into.capacity * sizeof *group->leads_into.at +
           group->stops.capacity * sizeof *group->stops.at +
           group->attached.capacity * sizeof *group->attached.at +
           group->attached_in.capacity * sizeof *group->attached_in.at + haul__member_bytes(group) +
           group->held_room * sizeof *group->held + haul__digest_bytes(group);
}

void haul__environment_sums(const haul_environment *e, haul_environment_info *sums)
{
    const haul__sent_group *group;
    size_t i;
    *sums = e->info;
    sums->roots = e->holds.count;
    for (i = 0; i < e->groups.count; i++) {
        group = e->groups.at[i];
        if (!group)
            continue;
        sums->bookkeeping_bytes += group_bookkeeping(group);
        sums->kept += !group->roots;
        sums->kept_bytes += group->roots ? 0 : group->shipment->range.bytes;
    }
    if (e->info.device_bytes > e->info.bytes) /* ends of objects that are not described do not go */
        sums->wasted_bytes = e->info.device_bytes - e->info.bytes;
    sums->pinned_bytes = haul__atomic_load(&e->device->pinned_bytes);
    sums->look_ups = haul__sum_of(e->asked);
    sums->bookkeeping_bytes +=
        sizeof *e + sizeof *e->asked + e->staged.bytes + e->host.bytes + e->there.bytes +
        (e->holds.capacity + e->attached.capacity + e->by_calls.capacity + e->poisons.capacity) *
            sizeof *e->holds.at +
        e->poisoned.capacity * sizeof *e->poisoned.at +
        e->stops.all.capacity * sizeof *e->stops.all.at +
        e->groups.capacity * sizeof *e->groups.at + e->spare.capacity * sizeof *e->spare.at;
}

void haul_environment_get_info_sized(haul_environment *environment, haul_environment_info *info,
                                     size_t info_bytes)
{
    haul_environment_info ours;
    memset(&ours, 0, sizeof ours);
    if (haul__environment_lock(environment) == HAUL_OK) {
        haul__environment_sums(environment, &ours);
        haul__environment_unlock(environment);
    }
    if (info)
        haul__write_info(info, info_bytes, &ours, sizeof ours);
}
