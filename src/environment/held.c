/* How often each range of a group is held.
 *
 * Once the root that a group was found from has left, each exit of another holder must know which
 * ranges are still held. If each exit looked through all roots and groups, n holders would leave in
 * n^2 steps. So the first such exit counts the holders of each range. After that, a holder that
 * comes or leaves changes the counts of its own ranges, with one search for each.
 *
 * An exit counts what leaves before it is known to succeed. After a failure the counts are dropped,
 * and the next exit counts anew.
 */
#include "environment/held.h"
#include "environment/cut.h"
#include "environment/standing.h"

static void count_at(haul_environment *e, haul__sent_group *group, const haul__covered *range,
                     int comes)
{
    size_t *count;
    e->holders_seen++;
    if (!range)
        return;
    count = &group->held[range - group->ranges.at];
    *count = comes ? *count + 1 : *count - 1;
}

/* ---- Of all that there is. */

static void count_roots(haul_environment *e, uint32_t number, uintptr_t leaver)
{
    haul__sent_group *group = e->groups.at[number];
    size_t i;
    e->holders_seen += e->holds.capacity;
    for (i = 0; i < e->holds.capacity; i++) {
        const haul__hold *hold = &e->holds.at[i];
        if (hold->address && hold->group == number && hold->address != leaver)
            count_at(e, group, haul__range_around(group, hold->other), 1);
    }
}

static int leads_into(const haul__sent_group *group, uint32_t number)
{
    size_t i;
    for (i = 0; i < group->leads_into.count; i++)
        if (group->leads_into.at[i] == number)
            return 1;
    return 0;
}

/* Of a group that was cut in this exit, the rest counts. */
static void count_groups(haul_environment *e, uint32_t number)
{
    haul__sent_group *group = e->groups.at[number];
    size_t i, k;
    e->holders_seen += e->groups.count;
    for (i = 0; i < e->groups.count; i++) {
        const haul__sent_group *other = e->groups.at[i];
        const haul__rest *rest = other ? other->rest : NULL;
        if (!other || other->cut || other->is_leaving || !leads_into(other, number))
            continue;
        for (k = 0; k < (rest ? rest->stops.count : other->stops.count); k++)
            count_at(e, group,
                     haul__covered_at(group, rest ? rest->stops.at[k] : other->stops.at[k]), 1);
    }
}

int haul__count_held(haul_environment *e, uint32_t number, uintptr_t leaver)
{
    haul__sent_group *group = e->groups.at[number];
    if (group->held)
        return 1;
    group->held =
        haul__allocate_zeroed(&e->context->allocator, group->ranges.count * sizeof *group->held);
    if (!group->held)
        return 0;
    group->held_room = group->ranges.count;
    count_roots(e, number, leaver);
    count_groups(e, number);
    return 1;
}

/* ---- Changes. */

static void count_root(haul_environment *e, const haul__hold *hold, int comes)
{
    haul__sent_group *group = e->groups.at[hold->group];
    if (group->held)
        count_at(e, group, haul__range_around(group, hold->other), comes);
}

void haul__root_comes(haul_environment *e, const haul__hold *hold)
{
    count_root(e, hold, 1);
}

void haul__root_goes(haul_environment *e, const haul__hold *hold)
{
    count_root(e, hold, 0);
}

static int are_counted(const haul_environment *e, const uint32_t *groups, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (e->groups.at[groups[i]]->held)
            return 1;
    return 0;
}

/* All stops lie in groups that are led into. Seldom is one of these counted. */
static void count_stops(haul_environment *e, const uintptr_t *stops, size_t count, int come)
{
    haul__found_range found;
    size_t i;
    for (i = 0; i < count; i++) {
        haul__sent_group *group =
            haul__present_find_held(&e->host, stops[i], &found) ? e->groups.at[found.group] : NULL;
        if (group && group->held)
            count_at(e, group, haul__covered_at(group, stops[i]), come);
    }
}

void haul__stops_come(haul_environment *e, const haul__sent_group *group)
{
    if (are_counted(e, group->leads_into.at, group->leads_into.count))
        count_stops(e, group->stops.at, group->stops.count, 1);
}

void haul__stops_go(haul_environment *e, const haul__sent_group *group)
{
    if (are_counted(e, group->leads_into.at, group->leads_into.count))
        count_stops(e, group->stops.at, group->stops.count, 0);
}

void haul__stops_stay(haul_environment *e, const haul__rest *rest)
{
    if (are_counted(e, rest->leads_into.at, rest->leads_into.count))
        count_stops(e, rest->stops.at, rest->stops.count, 1);
}

/* Both lists are in order of address. */
void haul__cut_held(haul__sent_group *group, const haul__covered *ranges, size_t count)
{
    size_t from = 0, to;
    for (to = 0; group->held && to < count; to++) {
        while (group->ranges.at[from].begin != ranges[to].begin)
            from++;
        group->held[to] = group->held[from];
    }
}

void haul__drop_held(haul_environment *e, haul__sent_group *group)
{
    haul__release(&e->context->allocator, group->held, group->held_room * sizeof *group->held);
    group->held = NULL;
    group->held_room = 0;
}

void haul__drop_all_held(haul_environment *e)
{
    size_t i;
    for (i = 0; i < e->groups.count; i++)
        if (e->groups.at[i])
            haul__drop_held(e, e->groups.at[i]);
}
