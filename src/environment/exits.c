/* Exits.
 *
 * An exit that takes the last hold of a group first works out what leaves: the group, and those
 * that nothing else leads into. All of it comes back, if it was asked for, and pointers that lead
 * into it are detached, before anything goes. So until then a failure only has to undo counts, and
 * to write the pointers again.
 */
#include "device/streams.h"
#include "environment/groups.h"
#include "environment/leaving.h"
#include "environment/look_up.h"
#include "environment/outstanding.h"
#include "environment/updates.h"
#include "pack/plan.h"
#include "walk/discover.h"
#include "walk/roots.h"

/* ---- What leaves. */

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

/* ---- What comes back. */

/* Moves the data of all groups that leave to the host: what their enters let come back, or what the
 * plan of a policy does. */
static haul_status bring_in_one(haul_environment *e, uint32_t number, const haul_plan *plan,
                                const haul_async *async)
{
    haul_status status = HAUL_OK;
    haul__batch batch;
    uint32_t at;
    memset(&batch, 0, sizeof batch);
    batch.e = e;
    batch.direction = HAUL_TO_HOST;
    for (at = 1 + number; at && status == HAUL_OK; at = e->groups.at[at - 1]->next_leaving) {
        status = plan ? haul__list_planned(e, at - 1, plan, &batch.own)
                      : haul__list_group(e, at - 1, HAUL_TO_HOST, SIZE_MAX, &batch.own);
        if (status == HAUL_OK)
            status = haul__add_group(&batch, at - 1);
    }
    if (status == HAUL_OK)
        status = haul__finish_batch(&batch);
    if (status == HAUL_OK)
        status = haul__move_batch(&batch, async);
    haul__drop_batch(&batch);
    return status;
}

static haul__meeting meet_others(void *user, uintptr_t address, size_t bytes)
{
    haul_environment *e = user;
    haul__found_range found;
    return !haul__present_find_held(&e->host, address, &found) &&
                   haul__others_copy(e, address, bytes)
               ? HAUL__WHOLE
               : HAUL__HERE;
}

static uintptr_t copy_of_any(void *user, uintptr_t address)
{
    const haul_environment *e = user;
    haul__found_range found;
    return haul__present_find(&e->host, address, &found) ? address + found.delta
                                                         : haul__others_copy(e, address, 1);
}

static haul_status take_none(void *user, struct haul__new_range *ranges, size_t count,
                             int are_clear, uintptr_t *wrong)
{
    (void)user;
    (void)ranges;
    (void)count;
    (void)are_clear;
    (void)wrong;
    return HAUL_OK;
}

/* A plan of the host's graph under a policy. It goes on where its enter stopped, at other groups:
 * they may lead back into what leaves. It stops at what was not entered because others have copies:
 * the host may be unable to read it. Borrowed pointers may lead to all that is present, though
 * another root owns it. `others` must live as long as the plan. */
static haul_status plan_beside(haul_environment *e, const haul_root *root,
                               const haul__elsewhere *others, haul_plan **plan)
{
    const haul__beside beside = { others, take_none, NULL };
    return haul__plan_beside(e->context, root, &beside, plan);
}

/* Few graphs have such pointers, and without copies of others a plain plan takes half the time: it
 * is tried first. */
static haul_status plan_under(haul_environment *e, const haul_root *root,
                              const haul__elsewhere *others, haul_plan **plan)
{
    const haul_source source = haul_from_roots(root, 1);
    haul_status status = HAUL_ERROR_GRAPH;
    if (!e->others.find)
        status = haul__plan_from(e->context, &source, 0, NULL, plan);
    if (status != HAUL_ERROR_GRAPH)
        return status;
    haul__clear_error(&e->context->error);
    return plan_beside(e, root, others, plan);
}

/* The host's graph under a policy says what comes back, in place of the enter's types. */
static haul_status bring_under(haul_environment *e, uint32_t number, const haul_root *root,
                               const haul_async *async)
{
    const haul__elsewhere others = { e, meet_others, copy_of_any, NULL };
    haul_plan *plan;
    haul_status status = plan_under(e, root, &others, &plan);
    if (status != HAUL_OK)
        return status;
    status = bring_in_one(e, number, plan, async);
    haul__plan_drop(plan);
    return status;
}

/* Each group by its fastest route. */
static haul_status bring_each(haul_environment *e, uint32_t number)
{
    haul_status status = HAUL_OK;
    uint32_t at;
    for (at = 1 + number; at && status == HAUL_OK; at = e->groups.at[at - 1]->next_leaving)
        status = haul__return_group(e, e->groups.at[at - 1]);
    return status;
}

/* ---- The end of an enter. */

/* An exit, as the library knows it. */
typedef struct leaver {
    uint32_t number; /* of the first group that leaves */
    const haul_exit_options *options;
    haul_root root; /* under the exit's policy; without a type there is none */
    const haul_async *async;
} leaver;

/* Signals, and lets the groups' memory go behind the call's work. */
static haul_status conclude(haul_environment *e, const leaver *l)
{
    haul__work work;
    haul_status status;
    uint32_t at;
    memset(&work, 0, sizeof work);
    if (!l->async)
        return HAUL_OK;
    status = haul__conclude(e->device, l->async, &work, "event of an update of ", 0, " bytes");
    for (at = 1 + l->number; at && status == HAUL_OK; at = e->groups.at[at - 1]->next_leaving)
        haul__note_work(e->groups.at[at - 1], &work);
    return status;
}

/* All that can fail, for groups that are listed. */
static haul_status prepare_to_leave(haul_environment *e, const leaver *l)
{
    haul_async where = { NULL, NULL }; /* without the event, which is signalled last */
    const haul_async *quiet = l->async ? &where : NULL;
    const haul__result *const before = haul__last_result(e);
    haul_status status = HAUL_OK;
    uint32_t at;
    if (l->async)
        where.stream = l->async->stream;
    for (at = 1 + l->number; at && status == HAUL_OK; at = e->groups.at[at - 1]->next_leaving)
        status = haul__come_behind(e, e->groups.at[at - 1], quiet);
    if (status == HAUL_OK && l->options->copyout)
        status = l->root.type ? bring_under(e, l->number, &l->root, quiet)
                 : l->async   ? bring_in_one(e, l->number, NULL, quiet)
                              : bring_each(e, l->number);
    if (status != HAUL_OK)
        return status;
    status = haul__detach(e, l->number, quiet);
    if (status == HAUL_OK)
        status = haul__select_for(e->device, quiet);
    if (status == HAUL_OK)
        status = conclude(e, l);
    if (status == HAUL_OK)
        return HAUL_OK;
    haul__undo_detach(e, l->number, quiet);
    if (l->async && haul__last_result(e) != before)
        haul__drop_last_result(e);
    return status;
}

static haul_status let_go(haul_environment *e, const leaver *l)
{
    haul_status status;
    uint32_t at, next;
    list_leaving(e, l->number);
    status = prepare_to_leave(e, l);
    if (status != HAUL_OK) {
        unlist_leaving(e, l->number);
        return status;
    }
    for (at = 1 + l->number; at; at = next) {
        next = e->groups.at[at - 1]->next_leaving;
        haul__group_leave(e, at - 1);
    }
    return HAUL_OK;
}

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

int haul__may_exit(const haul__hold *hold, const haul_exit_options *options)
{
    return hold && (options->structured ? hold->structured : hold->dynamic) > 0;
}

/* Is it the last exit of a group that nothing leads into? */
int haul__lets_go(const haul_environment *e, const haul__hold *hold,
                  const haul_exit_options *options)
{
    const haul__sent_group *group = e->groups.at[hold->group];
    const uint32_t ended = options->finalize && !options->structured ? hold->dynamic : 1;
    return hold->structured + (uint64_t)hold->dynamic == ended && group->roots == 1 &&
           group->led_from == 0;
}

/* The root leaves, or one of its enters. */
void haul__count_exit(haul_environment *e, haul__hold *hold, const haul_exit_options *options)
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

/* The root as a policy has it: as many objects as were entered. */
static haul_status find_root(haul_environment *e, const haul__hold *hold, const haul_type *policy,
                             haul_root *root)
{
    const haul__walk *walk = haul__type_is_valid(policy) ? haul__type_walk(policy) : NULL;
    root->address = (void *)hold->address;
    root->type = policy;
    root->count = 1;
    if (walk && !haul__is_sized(walk) && walk->extent > 0 && hold->upper > 0)
        root->count = (hold->upper - 1) / walk->extent + 1;
    return haul__check_roots(e->context, root, 1);
}

/* An exit that leaves the objects where they are. */
static haul_status leave_in_place(haul_environment *e, haul__hold *hold,
                                  const haul_exit_options *options, const haul_async *async)
{
    const haul_status status = haul__pass_group(e, e->groups.at[hold->group], async);
    if (status == HAUL_OK)
        haul__count_exit(e, hold, options);
    return status;
}

haul_status haul__exit(haul_environment *e, const void *root, const haul_exit_options *options,
                       const haul_async *async)
{
    haul__hold *hold = haul__holds_find(&e->holds, (uintptr_t)root);
    haul_status status = HAUL_OK;
    leaver l;
    memset(&l, 0, sizeof l);
    if (!haul__may_exit(hold, options))
        return refuse_exit(e, root, hold);
    if (!haul__lets_go(e, hold, options))
        return leave_in_place(e, hold, options, async);
    l.number = hold->group;
    l.options = options;
    l.async = async;
    if (options->copyout && options->policy)
        status = find_root(e, hold, options->policy, &l.root);
    if (status != HAUL_OK)
        return status;
    e->groups.at[l.number]->roots--;
    status = let_go(e, &l);
    if (status != HAUL_OK) {
        e->groups.at[l.number]->roots++;
        return status;
    }
    e->info.exits++;
    haul__holds_remove(&e->holds, haul__holds_find(&e->holds, (uintptr_t)root));
    return HAUL_OK;
}
