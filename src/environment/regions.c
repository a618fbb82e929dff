/* Enters, exits and updates.
 *
 * An enter of a root that has a hold is a look-up and a count. Else the root may lie in what is
 * present, and gets a hold on that group; or it is absent, and a group is made.
 *
 * An exit that takes the last hold of a group first works out what leaves: the group, and those
 * that nothing else leads into. All of it comes back, if it was asked for, before anything goes. So
 * until then a failure only has to undo counts.
 */
#include "base/sized.h"
#include "device/streams.h"
#include "environment/groups.h"
#include "environment/listing.h"
#include "environment/look_up.h"
#include "environment/updates.h"
#include "environment/watch.h"
#include "pack/plan.h"
#include "ship/pending.h"
#include "ship/update.h"
#include "walk/roots.h"

/* ---- Calls that use the device. */

/* If it cannot be entered, the environment is unlocked. */
static haul_status enter_device(haul_environment *e)
{
    haul_status status = haul__device_enter(e->device);
    if (status == HAUL_OK) {
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
    haul__context_leave(context);
    if (!was_freed)
        haul__environment_unlock(e);
}

/* ---- Enter. */

/* The bytes of a root that must be present, by distances from its address. */
typedef struct extent {
    size_t lower, upper; /* the same: there are none that can be known */
} extent;

static extent extent_of(const haul_root *root)
{
    const haul__walk *walk = haul__type_is_valid(root->type) ? haul__type_walk(root->type) : NULL;
    extent of = { 0, 0 };
    size_t last;
    if (!walk || !root->count)
        return of;
    if (haul__is_sized(walk)) {
        of.upper = 1;
    } else if (!haul__multiply_overflows(root->count - 1, walk->extent, &last)) {
        of.lower = walk->true_lower;
        of.upper = last + walk->true_upper;
    }
    return of;
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

/* Adds a hold for a root that has none. */
static haul_status enter_new(haul_environment *e, const haul_root *root,
                             const haul_enter_options *options)
{
    const uintptr_t address = (uintptr_t)root->address;
    haul_status status = haul__check_roots(e->context, root, 1);
    haul__found_range found;
    haul__hold *hold;
    uint32_t group;
    extent of;
    if (status != HAUL_OK)
        return status;
    of = extent_of(root);
    if (!haul__holds_room(&e->context->allocator, &e->holds, 1))
        return haul__fail(&e->context->error, HAUL_ERROR_MEMORY,
                          "out of memory for an environment");
    switch (haul_environment_presence(e, (const void *)(address + of.lower), of.upper - of.lower)) {
    case HAUL_PRESENT:
        haul__present_find(&e->host, address + of.lower, &found);
        group = found.group;
        break;
    case HAUL_ABSENT:
        status = haul__group_make(e, root, options, &group);
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
                                         const haul_enter_options *options, size_t options_bytes)
{
    const haul_root from = { root, type, count };
    haul_enter_options ours;
    const haul_status is_read = haul__read_options(&ours, sizeof ours, options, options_bytes);
    haul_status status = haul__environment_lock(environment);
    haul__hold *hold;
    extent of;
    if (status != HAUL_OK)
        return status;
    of = extent_of(&from);
    hold = haul__holds_find(&environment->holds, (uintptr_t)root);
    if (hold && is_read == HAUL_OK && of.upper > of.lower &&
        enter_again(environment, hold, &ours, &of)) {
        haul__environment_unlock(environment);
        return HAUL_OK;
    }
    status = enter_device(environment);
    if (status != HAUL_OK)
        return status;
    status = is_read == HAUL_OK
                 ? enter_new(environment, &from, &ours)
                 : haul__fail(&environment->context->error, is_read, HAUL__NEWER_OPTIONS);
    leave(environment);
    return status;
}

/* ---- Exit. */

static haul_status refuse_exit(haul_environment *e, const void *root, const haul__hold *hold)
{
    haul_error *error = &e->context->error;
    haul__found_range found;
    if (hold)
        haul__fail(error, HAUL_ERROR_ARGUMENT,
                   "the root at %p was entered %u times for structured regions and %u times else: "
                   "none of the kind that should end",
                   root, (unsigned)hold->structured, (unsigned)hold->dynamic);
    else if (haul__present_find(&e->host, (uintptr_t)root, &found))
        haul__fail(error, HAUL_ERROR_ARGUMENT,
                   "%p is present, but was not entered as a root: another root leads to it", root);
    else
        haul__fail(error, HAUL_ERROR_ARGUMENT, "%p was not entered, and is not present", root);
    haul__environment_path(e, (uintptr_t)root, error->path);
    if (haul__present_find(&e->host, (uintptr_t)root, &found)) {
        size_t count;
        const haul_root *from = haul__plan_roots(e->groups.at[found.group]->shipment->plan, &count);
        haul__name_root(from, error->other_path);
    }
    return HAUL_ERROR_ARGUMENT;
}

/* Lists what leaves with a group that has no hold. Needs no memory. */
static void list_leaving(haul_environment *e, uint32_t number)
{
    uint32_t last = number, at;
    size_t i;
    e->groups.at[number]->is_leaving = 1;
    e->groups.at[number]->next_leaving = 0;
    for (at = 1 + number; at; at = e->groups.at[at - 1]->next_leaving) {
        const haul__sent_group *group = e->groups.at[at - 1];
        for (i = 0; i < group->leads_into.count; i++) {
            haul__sent_group *next = e->groups.at[group->leads_into.at[i]];
            if (--next->led_from || next->roots)
                continue;
            next->is_leaving = 1;
            next->next_leaving = 0;
            e->groups.at[last]->next_leaving = 1 + group->leads_into.at[i];
            last = group->leads_into.at[i];
        }
    }
}

/* They stay after all. */
static void unlist_leaving(haul_environment *e, uint32_t number)
{
    uint32_t at, next;
    size_t i;
    for (at = 1 + number; at; at = next) {
        haul__sent_group *group = e->groups.at[at - 1];
        next = group->next_leaving;
        group->is_leaving = 0;
        group->next_leaving = 0;
        for (i = 0; i < group->leads_into.count; i++)
            e->groups.at[group->leads_into.at[i]]->led_from++;
    }
}

static void count_transfers(haul_environment *e, const haul_shipment *shipment,
                            const haul_shipment_info *before)
{
    e->info.transfers_to += shipment->info.transfers_to - before->transfers_to;
    e->info.transfers_from += shipment->info.transfers_from - before->transfers_from;
    e->info.bytes_to += shipment->info.bytes_to - before->bytes_to;
    e->info.bytes_from += shipment->info.bytes_from - before->bytes_from;
}

static haul_status return_group(haul_environment *e, haul__sent_group *group)
{
    haul_shipment *shipment = group->shipment;
    const haul_shipment_info before = shipment->info;
    haul_update_options how;
    haul_status status = haul__shipment_finish(shipment);
    memset(&how, 0, sizeof how);
    if (status == HAUL_OK)
        status = haul__return_all(shipment, &how);
    haul__note_timeout(shipment, e->device);
    count_transfers(e, shipment, &before);
    return status;
}

static haul_status let_go(haul_environment *e, uint32_t number, int copyout)
{
    haul_status status = HAUL_OK;
    uint32_t at, next;
    list_leaving(e, number);
    for (at = 1 + number; at && copyout && status == HAUL_OK;
         at = e->groups.at[at - 1]->next_leaving)
        status = return_group(e, e->groups.at[at - 1]);
    if (status == HAUL_OK)
        status = haul__detach(e, number);
    if (status != HAUL_OK) {
        unlist_leaving(e, number);
        return status;
    }
    for (at = 1 + number; at; at = next) {
        next = e->groups.at[at - 1]->next_leaving;
        haul__group_end(e, at - 1);
    }
    return HAUL_OK;
}

static int may_exit(const haul__hold *hold, const haul_exit_options *options)
{
    return hold && (options->structured ? hold->structured : hold->dynamic) > 0;
}

/* Is it the last exit of a group that nothing leads into? */
static int lets_go(const haul_environment *e, const haul__hold *hold,
                   const haul_exit_options *options)
{
    const haul__sent_group *group = e->groups.at[hold->group];
    const uint32_t ended = options->finalize && !options->structured ? hold->dynamic : 1;
    return hold->structured + (uint64_t)hold->dynamic == ended && group->roots == 1 &&
           group->led_from == 0;
}

/* The root leaves, or one of its enters. */
static void count_exit(haul_environment *e, haul__hold *hold, const haul_exit_options *options)
{
    if (options->structured)
        hold->structured--;
    else
        hold->dynamic = options->finalize ? 0 : hold->dynamic - 1;
    e->info.exits++;
    if (hold->structured || hold->dynamic)
        return;
    e->groups.at[hold->group]->roots--;
    haul__holds_remove(&e->holds, hold);
}

static haul_status exit_with_device(haul_environment *e, const void *root,
                                    const haul_exit_options *options)
{
    haul__hold *hold = haul__holds_find(&e->holds, (uintptr_t)root);
    haul_status status;
    uint32_t number;
    if (!may_exit(hold, options))
        return refuse_exit(e, root, hold);
    number = hold->group;
    e->groups.at[number]->roots--;
    status = let_go(e, number, options->copyout);
    if (status != HAUL_OK) {
        e->groups.at[number]->roots++;
        return status;
    }
    e->info.exits++;
    haul__holds_remove(&e->holds, haul__holds_find(&e->holds, (uintptr_t)root));
    return HAUL_OK;
}

haul_status haul_environment_exit_sized(haul_environment *environment, const void *root,
                                        const haul_exit_options *options, size_t options_bytes)
{
    haul_exit_options ours;
    const haul_status is_read = haul__read_options(&ours, sizeof ours, options, options_bytes);
    haul_status status = haul__environment_lock(environment);
    haul__hold *hold;
    if (status != HAUL_OK)
        return status;
    hold = haul__holds_find(&environment->holds, (uintptr_t)root);
    if (is_read == HAUL_OK && may_exit(hold, &ours) && !lets_go(environment, hold, &ours)) {
        count_exit(environment, hold, &ours);
        haul__environment_unlock(environment);
        return HAUL_OK;
    }
    status = enter_device(environment);
    if (status != HAUL_OK)
        return status;
    status = is_read == HAUL_OK
                 ? exit_with_device(environment, root, &ours)
                 : haul__fail(&environment->context->error, is_read, HAUL__NEWER_OPTIONS);
    leave(environment);
    return status;
}

/* ---- Updates. */

/* Moves everything that was sent together with the object at `host`. */
static haul_status update_group(haul_environment *e, const void *host, haul_direction direction)
{
    haul__found_range found;
    if (!haul__present_find(&e->host, (uintptr_t)host, &found))
        return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT, "%p is not on the device", host);
    return direction == HAUL_TO_HOST ? return_group(e, e->groups.at[found.group])
                                     : haul__send_group(e, found.group);
}

static haul_status call_update(haul_environment *environment, const void *host, size_t bytes,
                               haul_direction direction)
{
    haul_update_part part;
    haul_status status = lock_with_device(environment);
    if (status != HAUL_OK)
        return status;
    memset(&part, 0, sizeof part);
    part.host = host;
    part.bytes = bytes;
    status = bytes ? haul__update_parts(environment, &part, 1, direction)
                   : update_group(environment, host, direction);
    leave(environment);
    return status;
}

haul_status haul_environment_update_device(haul_environment *environment, const void *host,
                                           size_t bytes)
{
    return call_update(environment, host, bytes, HAUL_TO_DEVICE);
}

haul_status haul_environment_update_host(haul_environment *environment, const void *host,
                                         size_t bytes)
{
    return call_update(environment, host, bytes, HAUL_TO_HOST);
}

haul_status haul_environment_update(haul_environment *environment, const haul_update_part *parts,
                                    size_t count, haul_direction direction)
{
    haul_status status = lock_with_device(environment);
    if (status != HAUL_OK)
        return status;
    if (count > 0 && !parts)
        status = haul__fail(&environment->context->error, HAUL_ERROR_ARGUMENT,
                            "the parts of an update are NULL");
    else if (direction != HAUL_TO_DEVICE && direction != HAUL_TO_HOST)
        status = haul__fail(&environment->context->error, HAUL_ERROR_ARGUMENT,
                            "the direction of an update is none");
    else
        status = haul__update_parts(environment, parts, count, direction);
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
        haul__environment_path(environment, slot, path);
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
