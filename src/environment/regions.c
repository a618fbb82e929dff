/* The calls on an environment: enters, exits, updates.
 *
 * An enter of a root that has a hold is a look-up and a count. Else the root may lie in what is
 * present, and gets a hold on that group; or it is absent, and a group is made. exits.c has the end
 * of enters.
 */
#include "base/sized.h"
#include "device/streams.h"
#include "environment/groups.h"
#include "environment/held.h"
#include "environment/leaving.h"
#include "environment/listing.h"
#include "environment/look_up.h"
#include "environment/outstanding.h"
#include "environment/updates.h"
#include "environment/watch.h"
#include "pack/plan.h"
#include "walk/roots.h"

/* ---- Calls that use the device. */

/* If it cannot be entered, the environment is unlocked. */
static haul_status enter_device(haul_environment *e)
{
    haul_status status = haul__device_enter(e->device);
    if (status == HAUL_OK) {
        e->allocations = e->device->allocations;
        status = haul__select_for(e->device, NULL);
        if (status == HAUL_OK)
            return HAUL_OK;
        haul__context_leave(e->context);
    }
    haul__environment_unlock(e);
    return status;
}

/* Locks the environment, and enters its device. */
static haul_status lock_with_device(haul_environment *e)
{
    const haul_status status = haul__environment_lock(e);
    return status == HAUL_OK ? enter_device(e) : status;
}

/* Whoever has the lock next finds the context left. An environment that was freed inside a callback
 * ends when its context is left. */
static void leave(haul_environment *e)
{
    haul_context *context = e->context;
    const int was_freed = !haul__environment_is_valid(e);
    e->info.allocations += e->device->allocations - e->allocations;
    haul__context_leave(context);
    if (!was_freed)
        haul__environment_unlock(e);
}

/* How a call orders its work, as the library knows it. */
typedef struct ordering {
    haul_async where;
    const haul_async *async; /* to `where`; NULL: the call waits */
} ordering;

static haul_status read_ordering(const haul_async *async, size_t async_bytes, ordering *how)
{
    how->async = async ? &how->where : NULL;
    return haul__read_options(&how->where, sizeof how->where, async, async_bytes);
}

/* Enters the device for a call with an `async`. `is_read`: the status of reading its options. */
static haul_status enter_for(haul_environment *e, haul_status is_read, const haul_async *async,
                             size_t async_bytes, ordering *how)
{
    const haul_status status = enter_device(e);
    if (status != HAUL_OK)
        return status;
    if (is_read == HAUL_OK)
        is_read = read_ordering(async, async_bytes, how);
    if (is_read == HAUL_OK)
        return HAUL_OK;
    haul__fail(&e->context->error, is_read, HAUL__NEWER_OPTIONS);
    leave(e);
    return is_read;
}

/* Locks the environment, and enters its device, for a call with an `async`. */
static haul_status lock_for(haul_environment *e, const haul_async *async, size_t async_bytes,
                            ordering *how)
{
    const haul_status status = haul__environment_lock(e);
    return status == HAUL_OK ? enter_for(e, HAUL_OK, async, async_bytes, how) : status;
}

/* ---- Enter. */

/* The bytes of a root that must be present, by distances from its address. */
typedef struct extent {
    size_t lower, upper; /* the same: the root has none, or more than a process can have */
} extent;

static extent extent_of(const haul_root *root)
{
    const haul__walk *walk = haul__type_is_valid(root->type) ? haul__type_walk(root->type) : NULL;
    const uintptr_t address = (uintptr_t)root->address;
    extent of = { 0, 0 };
    size_t upper;
    if (!walk || !root->count)
        return of;
    if (haul__is_sized(walk)) {
        of.upper = root->count == 1;
    } else if (walk->payload && !haul__multiply_overflows(root->count - 1, walk->extent, &upper) &&
               !haul__add_overflows(upper, walk->true_upper, &upper) && address <= HAUL__HIGHEST &&
               upper <= HAUL__HIGHEST - address) {
        of.lower = walk->true_lower;
        of.upper = upper;
    }
    return of;
}

/* An exit ends all that was entered at its address, so that must be one range. */
static void add_entered(extent *of, const haul__hold *hold)
{
    if (of->upper == of->lower || hold->upper == hold->lower)
        return;
    of->lower = hold->lower < of->lower ? hold->lower : of->lower;
    of->upper = hold->upper > of->upper ? hold->upper : of->upper;
}

/* Counts an enter, unless the root reaches out of what was entered there. */
static int enter_again(haul_environment *e, haul__hold *hold, const haul_enter_options *options,
                       const extent *of)
{
    uint32_t *count = options->structured ? &hold->structured : &hold->dynamic;
    if (of->upper > hold->upper || of->lower < hold->lower || *count == UINT32_MAX)
        return 0;
    ++*count;
    e->info.enters++;
    return 1;
}

static haul_status refuse_root(haul_environment *e, const haul_root *root, const extent *of)
{
    haul_error *error = &e->context->error;
    const uintptr_t address = (uintptr_t)root->address;
    haul__fail(
        error, HAUL_ERROR_GRAPH,
        "the root's %zu bytes overlap an object that is on the device already, and reach out "
        "of it: the object cannot move",
        of->upper - of->lower);
    haul__set_path(error->path, "root");
    haul__environment_path(e,
                           haul__present_next(&e->host, address + of->lower, address + of->upper),
                           error->other_path);
    return HAUL_ERROR_GRAPH;
}

/* Makes a group of all that the root reaches. A root of which a finder has a copy is refused. */
static haul_status make_group(haul_environment *e, const haul_root *root, const extent *of,
                              const haul_enter_options *options, const haul_async *async,
                              uint32_t *group)
{
    haul_status status;
    if (of->upper > of->lower &&
        haul__others_copy(e, (uintptr_t)root->address + of->lower, of->upper - of->lower))
        return haul__fail(&e->context->error, HAUL_ERROR_CANCELLED,
                          "the root at %p is on the device already, and not by an environment",
                          root->address);
    status = haul__finish_left(e);
    return status == HAUL_OK ? haul__group_make(e, root, options, async, group) : status;
}

/* A root of no bytes, or of more than there can be, is absent: the walk refuses it. */
static haul_presence presence_of_root(const haul_environment *e, uintptr_t address,
                                      const extent *of)
{
    return of->upper > of->lower ? haul__presence_of(e, address + of->lower, of->upper - of->lower)
                                 : HAUL_ABSENT;
}

/* Adds a hold for a root, unless it has one. */
static haul_status enter_root(haul_environment *e, const haul_root *root,
                              const haul_enter_options *options, const haul_async *async)
{
    const uintptr_t address = (uintptr_t)root->address;
    haul_status status = haul__check_roots(e->context, root, 1);
    haul__hold *hold = haul__holds_find(&e->holds, address);
    haul__found_range found;
    uint32_t group;
    extent of;
    if (status != HAUL_OK)
        return status;
    of = extent_of(root);
    if (hold)
        add_entered(&of, hold);
    if (!haul__holds_room(&e->context->allocator, &e->holds, 1))
        return haul__fail(&e->context->error, HAUL_ERROR_MEMORY,
                          "out of memory for an environment");
    switch (presence_of_root(e, address, &of)) {
    case HAUL_PRESENT:
        haul__present_find(&e->host, address + of.lower, &found);
        group = found.group;
        status = haul__pass_group(e, e->groups.at[group], async);
        break;
    case HAUL_ABSENT:
        status = make_group(e, root, &of, options, async, &group);
        if (status == HAUL_OK)
            e->groups.at[group]->maker = address;
        break;
    default:
        status = refuse_root(e, root, &of);
    }
    if (status != HAUL_OK)
        return status;
    hold = haul__holds_find(&e->holds, address);
    if (!hold) {
        hold = haul__holds_add(&e->holds, address);
        hold->group = group;
        hold->lower = of.lower;
        hold->other = address + of.lower;
        haul__root_comes(e, hold);
        e->groups.at[group]->roots++;
    }
    hold->lower = of.lower < hold->lower ? of.lower : hold->lower;
    hold->upper = of.upper > hold->upper ? of.upper : hold->upper;
    return enter_again(e, hold, options, &of) ? HAUL_OK
                                              : haul__fail(&e->context->error, HAUL_ERROR_LIMIT,
                                                           "the root was entered 2^32 - 1 times");
}

haul_status haul_environment_enter_sized(haul_environment *environment, void *root,
                                         const haul_type *type, size_t count,
                                         const haul_enter_options *options, size_t options_bytes,
                                         const haul_async *async, size_t async_bytes)
{
    const haul_root from = { root, type, count };
    haul_enter_options ours;
    const haul_status is_read = haul__read_options(&ours, sizeof ours, options, options_bytes);
    haul_status status = haul__environment_lock(environment);
    haul__hold *hold;
    ordering how;
    extent of;
    if (status != HAUL_OK)
        return status;
    of = extent_of(&from);
    hold = haul__holds_find(&environment->holds, (uintptr_t)root);
    if (hold && !async && is_read == HAUL_OK && of.upper > of.lower &&
        !environment->groups.at[hold->group]->shipment->work.is_pending &&
        enter_again(environment, hold, &ours, &of)) {
        haul__environment_unlock(environment);
        return HAUL_OK;
    }
    status = enter_for(environment, is_read, async, async_bytes, &how);
    if (status != HAUL_OK)
        return status;
    status = enter_root(environment, &from, &ours, how.async);
    leave(environment);
    return status;
}

/* ---- Exit. */

haul_status haul_environment_exit_sized(haul_environment *environment, const void *root,
                                        const haul_exit_options *options, size_t options_bytes,
                                        const haul_async *async, size_t async_bytes)
{
    haul_exit_options ours;
    const haul_status is_read = haul__read_options(&ours, sizeof ours, options, options_bytes);
    haul_status status = haul__environment_lock(environment);
    haul__hold *hold;
    ordering how;
    if (status != HAUL_OK)
        return status;
    hold = haul__holds_find(&environment->holds, (uintptr_t)root);
    if (!async && is_read == HAUL_OK && haul__may_exit(hold, &ours) &&
        !haul__lets_go(environment, hold, &ours)) {
        haul__count_exit(environment, hold, &ours);
        haul__environment_unlock(environment);
        return HAUL_OK;
    }
    status = enter_for(environment, is_read, async, async_bytes, &how);
    if (status != HAUL_OK)
        return status;
    status = haul__exit(environment, root, &ours, how.async);
    leave(environment);
    return status;
}

/* ---- Updates. */

/* Moves everything that was sent together with the object at `host`. */
static haul_status update_group(haul_environment *e, const void *host, haul_direction direction,
                                const haul_async *async)
{
    haul__found_range found;
    if (!haul__present_find(&e->host, (uintptr_t)host, &found))
        return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT, "%p is not on the device", host);
    return direction == HAUL_TO_HOST && !async ? haul__return_group(e, found.group)
                                               : haul__move_group(e, found.group, direction, async);
}

static haul_status call_update(haul_environment *environment, const void *host, size_t bytes,
                               haul_direction direction, const haul_async *async,
                               size_t async_bytes)
{
    haul_update_part part;
    ordering how;
    haul_status status = lock_for(environment, async, async_bytes, &how);
    if (status != HAUL_OK)
        return status;
    memset(&part, 0, sizeof part);
    part.host = host;
    part.bytes = bytes;
    status = bytes ? haul__update_parts(environment, &part, 1, direction, how.async)
                   : update_group(environment, host, direction, how.async);
    leave(environment);
    return status;
}

haul_status haul_environment_update_device_sized(haul_environment *environment, const void *host,
                                                 size_t bytes, const haul_async *async,
                                                 size_t async_bytes)
{
    return call_update(environment, host, bytes, HAUL_TO_DEVICE, async, async_bytes);
}

haul_status haul_environment_update_host_sized(haul_environment *environment, const void *host,
                                               size_t bytes, const haul_async *async,
                                               size_t async_bytes)
{
    return call_update(environment, host, bytes, HAUL_TO_HOST, async, async_bytes);
}

haul_status haul_environment_update_sized(haul_environment *environment,
                                          const haul_update_part *parts, size_t count,
                                          haul_direction direction, const haul_async *async,
                                          size_t async_bytes)
{
    ordering how;
    haul_status status = lock_for(environment, async, async_bytes, &how);
    if (status != HAUL_OK)
        return status;
    if (count > 0 && !parts)
        status = haul__fail(&environment->context->error, HAUL_ERROR_ARGUMENT,
                            "the parts of an update are NULL");
    else if (direction != HAUL_TO_DEVICE && direction != HAUL_TO_HOST)
        status = haul__fail(&environment->context->error, HAUL_ERROR_ARGUMENT,
                            "the direction of an update is none");
    else
        status = haul__update_parts(environment, parts, count, direction, how.async);
    leave(environment);
    return status;
}

haul_status haul_environment_track_writes(haul_environment *environment, int on)
{
    haul_status status = lock_with_device(environment);
    if (status != HAUL_OK)
        return status;
    status = haul__track_writes(environment, on);
    leave(environment);
    return status;
}

haul_status haul_environment_sync(haul_environment *environment, const void *host)
{
    haul_status status = lock_with_device(environment);
    if (status != HAUL_OK)
        return status;
    status = haul__sync(environment, host);
    leave(environment);
    return status;
}

/* ---- Outstanding work. */

haul_status haul_environment_wait(haul_environment *environment)
{
    haul_status status = lock_with_device(environment);
    if (status != HAUL_OK)
        return status;
    status = haul__wait_for_all(environment);
    leave(environment);
    return status;
}

haul_status haul_environment_poll(haul_environment *environment)
{
    haul_status status = lock_with_device(environment);
    if (status != HAUL_OK)
        return status;
    status = haul__poll_all(environment);
    leave(environment);
    return status;
}

/* ---- Attach and detach. */

static haul_status call_on_pointer(haul_environment *environment, const void *pointer,
                                   haul_status (*call)(haul_environment *e, uintptr_t slot))
{
    haul_status status = lock_with_device(environment);
    if (status != HAUL_OK)
        return status;
    status = call(environment, (uintptr_t)pointer);
    leave(environment);
    return status;
}

haul_status haul_environment_attach(haul_environment *environment, const void *pointer)
{
    return call_on_pointer(environment, pointer, haul__attach_one);
}

haul_status haul_environment_detach(haul_environment *environment, const void *pointer)
{
    return call_on_pointer(environment, pointer, haul__detach_one);
}

haul_status haul_environment_set_detached(haul_environment *environment, haul_detached form)
{
    haul_status status = lock_with_device(environment);
    haul_error *error;
    if (status != HAUL_OK)
        return status;
    error = &environment->context->error;
    if (form < HAUL_DETACHED_NULL || form > HAUL_DETACHED_POISON)
        status = haul__fail(error, HAUL_ERROR_ARGUMENT, "there is no such form of a pointer");
    else if (form == HAUL_DETACHED_POISON && sizeof(void *) < sizeof(uint64_t))
        status = haul__fail(error, HAUL_ERROR_UNSUPPORTED,
                            "addresses of 32 bits leave no room for poison");
    else
        environment->detached = form;
    leave(environment);
    return status;
}

haul_status haul_environment_name_poison(haul_environment *environment, uint64_t address,
                                         const void **pointer, char *path)
{
    haul_status status = lock_with_device(environment);
    uintptr_t slot;
    if (pointer)
        *pointer = NULL;
    if (path)
        path[0] = '\0';
    if (status != HAUL_OK)
        return status;
    slot = haul__poisoned_slot(environment, address);
    if (!pointer)
        status = haul__fail(&environment->context->error, HAUL_ERROR_ARGUMENT,
                            "the address of the pointer is NULL");
    else if (!slot)
        status = haul__fail(&environment->context->error, HAUL_ERROR_ARGUMENT,
                            "no pointer of the environment has been poisoned with this address");
    else
        *pointer = (const void *)slot;
    if (slot && path)
        haul__pointer_path(environment, slot, path);
    leave(environment);
    return status;
}

/* ---- Watchers. */

/* Tells the watcher of all groups, or of none. */
static haul_status tell_all(haul_environment *e)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < e->groups.count && status == HAUL_OK; i++)
        if (e->groups.at[i])
            status = haul__watch_comes(e, e->groups.at[i]);
    if (status == HAUL_OK)
        return HAUL_OK;
    for (i--; i-- > 0;)
        if (e->groups.at[i])
            haul__watch_goes(e, e->groups.at[i]);
    return status;
}

haul_status haul_environment_watch(haul_environment *environment, haul_range_visitor *comes,
                                   haul_range_visitor *goes, void *user)
{
    haul_status status = lock_with_device(environment);
    size_t i;
    if (status != HAUL_OK)
        return status;
    for (i = 0; i < environment->groups.count; i++)
        if (environment->groups.at[i])
            haul__watch_goes(environment, environment->groups.at[i]);
    environment->watcher.comes = comes;
    environment->watcher.goes = goes;
    environment->watcher.user = user;
    status = tell_all(environment);
    if (status != HAUL_OK)
        memset(&environment->watcher, 0, sizeof environment->watcher);
    leave(environment);
    return status;
}

haul_status haul_environment_set_finder(haul_environment *environment, haul_copy_finder *finder,
                                        void *user)
{
    const haul_status status = lock_with_device(environment);
    if (status != HAUL_OK)
        return status;
    environment->others.find = finder;
    environment->others.user = user;
    leave(environment);
    return HAUL_OK;
}

/* ---- Tables. */

haul_status haul_environment_dump(haul_environment *environment, const haul_file *file,
                                  size_t ranges)
{
    haul__pen pen;
    haul_status status = lock_with_device(environment);
    if (status != HAUL_OK)
        return status;
    status = haul__pen_open(&pen, file, &environment->context->error);
    if (status == HAUL_OK)
        status = haul__list_environment(environment, ranges, &pen);
    leave(environment);
    return status;
}
