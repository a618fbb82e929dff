/* Groups that have left while work of theirs is under way.
 *
 * An asynchronous exit makes its objects absent at once. Kernels that were launched on its stream
 * before may still use them, and results may be on their way. So the group is listed, and freed by
 * the first call that finds its work done and its results written.
 */
#include "environment/leaving.h"
#include "environment/groups.h"
#include "environment/outstanding.h"
#include "environment/watch.h"
#include "device/streams.h"
#include "ship/pending.h"

void haul__group_leave(haul_environment *e, uint32_t number)
{
    haul__sent_group *group = e->groups.at[number];
    haul__watch_goes(e, group);
    haul__group_hide(e, number);
    if (group->shipment->work.is_pending) {
        group->next_left = e->left;
        e->left = group;
    } else {
        haul__group_end(e, group);
    }
}

void haul__collect_left(haul_environment *e)
{
    haul__sent_group **at = &e->left;
    while (*at) {
        haul__sent_group *group = *at;
        const haul__work *work = &group->shipment->work;
        if (haul__has_results(e, group) ||
            (work->is_pending && haul__poll(e->device, work->fence) == HAUL_ERROR_PENDING)) {
            at = &group->next_left;
        } else {
            *at = group->next_left;
            haul__group_end(e, group);
        }
    }
}

void haul__discard_left(haul_environment *e)
{
    while (e->left) {
        haul__sent_group *group = e->left;
        e->left = group->next_left;
        haul__group_discard(e, group);
    }
}

haul_status haul__finish_left(haul_environment *e)
{
    haul_status status = HAUL_OK;
    haul__sent_group *group;
    for (group = e->left; group && status == HAUL_OK; group = group->next_left)
        if (haul__has_results(e, group))
            status = haul__come_behind(e, group, NULL);
    haul__collect_left(e);
    return status;
}

/* Waits for a group. *first keeps the first failure, whose record is kept, too. */
static haul_status wait_for(haul_environment *e, haul__sent_group *group, haul_status *first)
{
    const haul_error before = e->context->error;
    const haul_status status = haul__shipment_come_behind(group->shipment, NULL);
    if (*first != HAUL_OK && status != HAUL_ERROR_PENDING)
        e->context->error = before;
    else if (status != HAUL_ERROR_PENDING)
        *first = status;
    return status;
}

haul_status haul__wait_for_all(haul_environment *e)
{
    haul_status status, first = HAUL_OK;
    haul__sent_group *group;
    size_t i;
    for (i = 0; i < e->groups.count; i++)
        if (e->groups.at[i] && wait_for(e, e->groups.at[i], &first) == HAUL_ERROR_PENDING)
            return HAUL_ERROR_PENDING;
    for (group = e->left; group; group = group->next_left)
        if (wait_for(e, group, &first) == HAUL_ERROR_PENDING)
            return HAUL_ERROR_PENDING;
    status = haul__write_results(e, NULL, first);
    haul__collect_left(e);
    return status;
}

haul_status haul__poll_all(haul_environment *e)
{
    haul_status status = HAUL_OK;
    const haul__sent_group *group;
    size_t i;
    for (i = 0; i < e->groups.count && status == HAUL_OK; i++)
        if (e->groups.at[i])
            status = haul__shipment_poll(e->groups.at[i]->shipment);
    for (group = e->left; group && status == HAUL_OK; group = group->next_left)
        status = haul__shipment_poll(group->shipment);
    return status;
}
