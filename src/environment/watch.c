/* Watchers. A run time of directives keeps a table of its own, by blocks; so it is told of blocks.
 */
#include "environment/watch.h"

static int tell(const haul_environment *e, haul_range_visitor *visit, const haul__covered *one)
{
    haul_shipped_range range;
    memset(&range, 0, sizeof range);
    range.host = (void *)one->begin;
    range.device = (void *)one->device;
    range.bytes = range.count = one->bytes;
    return visit(e->watcher.user, &range);
}

/* Tells that the first `count` ranges go. */
static void tell_gone(const haul_environment *e, const haul__sent_group *group, size_t count)
{
    while (e->watcher.goes && count-- > 0)
        tell(e, e->watcher.goes, &group->ranges.at[count]);
}

haul_status haul__watch_comes(const haul_environment *e, const haul__sent_group *group)
{
    size_t i;
    for (i = 0; e->watcher.comes && i < group->ranges.count; i++) {
        if (tell(e, e->watcher.comes, &group->ranges.at[i]) == 0)
            continue;
        tell_gone(e, group, i);
        return haul__fail(&e->context->error, HAUL_ERROR_CANCELLED,
                          "the watcher of the environment refuses %zu bytes at %p",
                          group->ranges.at[i].bytes, (void *)group->ranges.at[i].begin);
    }
    return HAUL_OK;
}

void haul__watch_goes(const haul_environment *e, const haul__sent_group *group)
{
    tell_gone(e, group, group->ranges.count);
}
