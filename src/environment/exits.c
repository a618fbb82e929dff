/* Exits.
 *
 * An exit that takes a hold of a group first works out what leaves: the group, or a part of it
 * (cut.h), and the groups that nothing else leads into. All of it comes back, if it was asked for,
 * and pointers that lead into it are detached, before anything goes. So until then a failure only
 * has to undo counts, and to write the pointers again.
 *
 * Groups lead into older ones alone. So the youngest group that may leave in part is cut first:
 * then it is known what of all that leads into the next one stays.
 */
#include "device/streams.h"
#include "environment/cut.h"
#include "environment/groups.h"
#include "environment/held.h"
#include "environment/leaving.h"
#include "environment/look_up.h"
#include "environment/outstanding.h"
#include "environment/updates.h"
#include "pack/plan.h"
#include "walk/discover.h"
#include "walk/roots.h"

/* An exit, as the library knows it. */
typedef struct leaver {
    uintptr_t address; /* of the root */
    /* 1 + the numbers of the first and the last group that leaves; 0: none does */
    uint32_t first, last;
    uint32_t affected; /* 1 + the number of the first group that may leave in part; 0: none */
    const haul_exit_options *options;
    haul_root root; /* under the exit's policy; without a type there is none */
    const haul_async *async;
} leaver;

/* ---- What leaves. */

static void add_leaving(haul_environment *e, leaver *l, uint32_t number)
{
    e->groups.at[number]->is_leaving = 1;
    e->groups.at[number]->next_leaving = 0;
    if (l->last)
        e->groups.at[l->last - 1]->next_leaving = 1 + number;
    else
        l->first = 1 + number;
    l->last = 1 + number;
}

/* A group has lost a hold: all of it leaves, a part of it may, or nothing does. */
static void lose_hold(haul_environment *e, leaver *l, uint32_t number)
{
    haul__sent_group *group = e->groups.at[number];
    if (!group->is_leaving && !group->roots && !group->led_from) {
        add_leaving(e, l, number);
    } else if (!group->is_leaving && !group->maker && !group->is_affected) {
        group->is_affected = 1;
        group->next_affected = l->affected;
        l->affected = 1 + number;
    }
}

/* Takes the youngest one that does not leave as a whole off the list: all that leads into it is
 * younger. 0: there is none. */
static int take_affected(haul_environment *e, leaver *l, uint32_t *number)
{
    uint32_t *at, *youngest = NULL;
    for (at = &l->affected; *at;) {
        haul__sent_group *group = e->groups.at[*at - 1];
        if (group->is_leaving) {
            group->is_affected = 0;
            *at = group->next_affected;
            continue;
        }
        if (!youngest || group->made > e->groups.at[*youngest - 1]->made)
            youngest = at;
        at = &group->next_affected;
    }
    if (!youngest)
        return 0;
    *number = *youngest - 1;
    e->groups.at[*number]->is_affected = 0;
    *youngest = e->groups.at[*number]->next_affected;
    return 1;
}

/* Takes the holds of groups that leave, from the one behind *seen on. */
static void follow_leaving(haul_environment *e, leaver *l, uint32_t *seen)
{
    uint32_t at = *seen ? e->groups.at[*seen - 1]->next_leaving : l->first;
    size_t i;
    for (; at; at = e->groups.at[at - 1]->next_leaving) {
        const haul__sent_group *group = e->groups.at[at - 1];
        haul__stops_go(e, group);
        for (i = 0; i < group->leads_into.count; i++) {
            e->groups.at[group->leads_into.at[i]]->led_from--;
            lose_hold(e, l, group->leads_into.at[i]);
        }
        *seen = at;
    }
}

/* They stay after all. */
static void unlist_leaving(haul_environment *e, const leaver *l)
{
    uint32_t at, next;
    size_t i;
    for (at = l->affected; at; at = e->groups.at[at - 1]->next_affected)
        e->groups.at[at - 1]->is_affected = 0;
    for (at = l->first; at; at = next) {
        haul__sent_group *group = e->groups.at[at - 1];
        next = group->next_leaving;
        group->is_leaving = 0;
        group->next_leaving = 0;
        for (i = 0; i < group->leads_into.count; i++)
            e->groups.at[group->leads_into.at[i]]->led_from++;
        if (group->cut)
            haul__undo_cut(e, at - 1);
    }
}

/* Lists what leaves when a group has lost a root: whole groups, and parts of others. */
static haul_status list_leaving(haul_environment *e, leaver *l, uint32_t number)
{
    uint32_t seen = 0, part;
    haul_status status = HAUL_OK;
    haul__root_goes(e, haul__holds_find(&e->holds, l->address));
    lose_hold(e, l, number);
    follow_leaving(e, l, &seen);
    while (status == HAUL_OK && take_affected(e, l, &number)) {
        const haul__sent_group *group = e->groups.at[number];
        size_t i;
        status = haul__cut(e, number, l->address, &part);
        if (!part)
            continue;
        add_leaving(e, l, part - 1);
        seen = part;
        for (i = 0; i < group->leads_into.count; i++)
            lose_hold(e, l, group->leads_into.at[i]);
        follow_leaving(e, l, &seen);
    }
    if (status != HAUL_OK)
        unlist_leaving(e, l);
    return status;
}

/* ---- What comes back. */

/* Moves the data of all groups that leave to the host: what their enters let come back, or what the
 * plan of a policy does. */
static haul_status bring_in_one(haul_environment *e, uint32_t first, const haul_plan *plan,
                                const haul_async *async)
{
    haul_status status = HAUL_OK;
    haul__batch batch;
    uint32_t at;
    memset(&batch, 0, sizeof batch);
    batch.e = e;
    batch.direction = HAUL_TO_HOST;
    for (at = first; at && status == HAUL_OK; at = e->groups.at[at - 1]->next_leaving) {
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
static haul_status bring_under(haul_environment *e, uint32_t first, const haul_root *root,
                               const haul_async *async)
{
    const haul__elsewhere others = { e, meet_others, copy_of_any, NULL, NULL };
    haul_plan *plan;
    haul_status status = plan_under(e, root, &others, &plan);
    if (status != HAUL_OK)
        return status;
    status = bring_in_one(e, first, plan, async);
    haul__plan_drop(plan);
    return status;
}

/* Each group by its fastest route. */
static haul_status bring_each(haul_environment *e, uint32_t first)
{
    haul_status status = HAUL_OK;
    uint32_t at;
    for (at = first; at && status == HAUL_OK; at = e->groups.at[at - 1]->next_leaving)
        status = haul__return_group(e, at - 1);
    return status;
}

/* ---- The end of an enter. */

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
    for (at = l->first; at && status == HAUL_OK; at = e->groups.at[at - 1]->next_leaving)
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
    for (at = l->first; at && status == HAUL_OK; at = e->groups.at[at - 1]->next_leaving)
        status = haul__come_behind(e, e->groups.at[at - 1], quiet);
    if (status == HAUL_OK && l->options->copyout)
        status = l->root.type ? bring_under(e, l->first, &l->root, quiet)
                 : l->async   ? bring_in_one(e, l->first, NULL, quiet)
                              : bring_each(e, l->first);
    if (status != HAUL_OK)
        return status;
    status = haul__detach(e, l->first - 1, quiet);
    if (status == HAUL_OK)
        status = haul__select_for(e->device, quiet);
    if (status == HAUL_OK)
        status = conclude(e, l);
    if (status == HAUL_OK)
        return HAUL_OK;
    haul__undo_detach(e, l->first - 1, quiet);
    if (l->async && haul__last_result(e) != before)
        haul__drop_last_result(e);
    return status;
}

/* The listed groups leave, or all of them stay. */
static haul_status let_go(haul_environment *e, const leaver *l)
{
    const haul_status status = prepare_to_leave(e, l);
    uint32_t at, next;
    if (status != HAUL_OK) {
        unlist_leaving(e, l);
        return status;
    }
    for (at = l->first; at; at = next) {
        next = e->groups.at[at - 1]->next_leaving;
        if (e->groups.at[at - 1]->cut)
            haul__take_cut(e, at - 1);
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

/* Does the root leave, and is it the last hold of its group, or is the root not there that the
 * group was found from? */
int haul__lets_go(const haul_environment *e, const haul__hold *hold,
                  const haul_exit_options *options)
{
    const haul__sent_group *group = e->groups.at[hold->group];
    const uint32_t ended = options->finalize && !options->structured ? hold->dynamic : 1;
    return hold->structured + (uint64_t)hold->dynamic == ended &&
           ((group->roots == 1 && group->led_from == 0) || !group->maker ||
            group->maker == hold->address);
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

/* The last exit of a root. */
static haul_status leave(haul_environment *e, haul__hold *hold, leaver *l)
{
    haul__sent_group *group = e->groups.at[hold->group];
    const uintptr_t maker = group->maker;
    haul_status status;
    group->roots--;
    if (maker == hold->address)
        group->maker = 0;
    status = list_leaving(e, l, hold->group);
    if (status == HAUL_OK)
        status = l->first ? let_go(e, l) : haul__pass_group(e, group, l->async);
    if (status != HAUL_OK) {
        group->roots++;
        group->maker = maker;
        haul__drop_all_held(e);
        return status;
    }
    e->info.exits++;
    haul__holds_remove(&e->holds, haul__holds_find(&e->holds, l->address));
    return HAUL_OK;
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
    l.address = (uintptr_t)root;
    l.options = options;
    l.async = async;
    if (options->copyout && options->policy)
        status = find_root(e, hold, options->policy, &l.root);
    return status == HAUL_OK ? leave(e, hold, &l) : status;
}
