/* Groups: what one enter sends.
 *
 * The walk of a new root asks the present table at each pointer that it follows, and stops at what
 * is there. So its map holds what is absent alone, and an enter costs what is new and what it
 * touches. The packing turns pointers that lead out of the map into the addresses of the copies.
 *
 * A present range was found by a walk, and it was sent in one piece. So a new range either lies
 * within it, and the walk stops, or reaches out of it, and is refused: its bytes must lie side by
 * side, and the present ones cannot move, since kernels and other groups may hold their addresses.
 *
 * Everything that can fail comes before a group is published, except the memory of the table. If
 * that is missing, the ranges are taken out again, which takes none.
 */
#include "environment/groups.h"
#include "environment/cut.h"
#include "environment/held.h"
#include "environment/list_attached.h"
#include "environment/look_up.h"
#include "environment/outstanding.h"
#include "environment/standing.h"
#include "environment/updates.h"
#include "environment/watch.h"
#include "base/index.h"
#include "base/sort_by_address.h"
#include "pack/plan.h"
#include "pack/translate.h"
#include "walk/discover.h"
#include "walk/new_ranges.h"

static haul_status no_memory(haul_environment *environment)
{
    return haul__fail(&environment->context->error, HAUL_ERROR_MEMORY,
                      "out of memory for an environment");
}

/* ---- The ranges that were found. */

typedef struct range_taker {
    haul_environment *environment;
    haul__sent_group *group;
} range_taker;

/* The longest first, of those that begin together. */
static int is_before(const void *a, const void *b)
{
    const haul__new_range *left = a, *right = b;
    return left->begin != right->begin ? left->begin < right->begin : left->bytes > right->bytes;
}

/* Lists the objects of a range, in the room for them, unless they lie within those of ranges before
 * it, to which they belong. *listed: one past the farthest object. */
static void list_objects(haul__sent_group *group, const haul__new_range *range, uintptr_t *listed)
{
    const uintptr_t end = range->begin + range->bytes - range->padding;
    haul__typed *objects;
    if (!range->type || end <= *listed)
        return;
    objects = &group->objects.at[group->objects.count++];
    objects->begin = range->begin - haul__type_walk(range->type)->true_lower;
    objects->count = range->count;
    objects->type = range->type;
    *listed = end;
}

/* Takes a range that begins within `last` into it. A range that has no address on the device yet
 * has its padding there. */
static void join(haul__covered *last, const haul__new_range *next)
{
    const uintptr_t end = last->begin + last->bytes, next_end = next->begin + next->bytes,
                    described = end - last->device, next_described = next_end - next->padding,
                    furthest = end > next_end ? end : next_end;
    last->bytes = furthest - last->begin;
    last->device = furthest - (described > next_described ? described : next_described);
}

/* Room for as many ranges, and their objects. 0: out of memory. */
static int make_room(const haul_allocator *allocator, haul__sent_group *group, size_t count)
{
    return haul__grow_to(allocator, &group->ranges.at, &group->ranges.capacity, count,
                         sizeof *group->ranges.at) &&
           haul__grow_to(allocator, &group->objects.at, &group->objects.capacity, count,
                         sizeof *group->objects.at);
}

/* Takes the further ones of several ranges, which overlap no other. */
static void take_row(haul__sent_group *group, const haul__new_range *row)
{
    haul__covered *range = &group->ranges.at[group->ranges.count];
    haul__typed *object = &group->objects.at[group->objects.count];
    uintptr_t begin = row->begin;
    size_t i;
    const size_t lower = row->type ? haul__type_walk(row->type)->true_lower : 0;
    for (i = 1; i < row->times; i++) {
        begin += row->apart;
        range->begin = begin;
        range->bytes = row->bytes;
        range++->device = 0;
    }
    group->ranges.count += row->times - 1;
    if (!row->type)
        return;
    begin = row->begin - lower;
    for (i = 1; i < row->times; i++) {
        begin += row->apart;
        object->begin = begin;
        object->count = 1;
        object++->type = row->type;
    }
    group->objects.count += row->times - 1;
}

static uintptr_t end_of(const haul__new_range *range)
{
    return range->begin + (range->times - 1) * range->apart + range->bytes;
}

/* Takes sorted ranges. Those that overlap become one: their distances are kept, so they have one
 * place. */
static void take_sorted(haul__sent_group *group, const haul__new_range *ranges, size_t count)
{
    haul__covered *last = NULL;
    uintptr_t listed = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        const haul__new_range *range = &ranges[i];
        list_objects(group, range, &listed);
        if (last && range->begin < last->begin + last->bytes) {
            join(last, range);
            continue;
        }
        last = &group->ranges.at[group->ranges.count++];
        last->begin = range->begin;
        last->bytes = range->bytes;
        last->device = range->padding;
        if (range->times == 1)
            continue;
        take_row(group, range);
        last = &group->ranges.at[group->ranges.count - 1];
        listed = end_of(range);
    }
}

/* Does a row reach over the beginning of the range behind it, or of another one? */
static int are_mixed(const haul__new_range *ranges, size_t count)
{
    uintptr_t row_end = 0, end = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        const uintptr_t range_end = end_of(&ranges[i]);
        if (ranges[i].begin < row_end || (ranges[i].times > 1 && ranges[i].begin < end))
            return 1;
        row_end = ranges[i].times > 1 ? range_end : row_end;
        end = range_end > end ? range_end : end;
    }
    return 0;
}

/* Takes all ranges one by one. */
static haul_status take_singly(haul_environment *e, haul__sent_group *group,
                               const haul__new_range *ranges, size_t count, size_t all)
{
    const haul_allocator *allocator = &e->context->allocator;
    haul__new_range *single = haul__allocate(allocator, all * sizeof *single, HAUL__LINE);
    size_t i, k, to = 0;
    if (!single)
        return no_memory(e);
    for (i = 0; i < count; i++) {
        for (k = 0; k < ranges[i].times; k++, to++) {
            single[to] = ranges[i];
            single[to].begin += k * ranges[i].apart;
            single[to].times = 1;
        }
    }
    haul__sort_by_address(allocator, single, all, sizeof *single, is_before);
    take_sorted(group, single, all);
    haul__release(allocator, single, all * sizeof *single);
    return HAUL_OK;
}

/* Refuses a range that begins before a present one and reaches into it. */
static haul_status check_clear(haul_environment *e, const haul__sent_group *group, uintptr_t *wrong)
{
    uintptr_t there;
    const size_t clear =
        haul__present_count_clear(&e->host, group->ranges.at, group->ranges.count, &there);
    if (clear == group->ranges.count)
        return HAUL_OK;
    e->reached_out = there;
    *wrong = group->ranges.at[clear].begin;
    return haul__fail(
        &e->context->error, HAUL_ERROR_GRAPH,
        "%zu bytes reach into an object that is on the device already: the object cannot move",
        group->ranges.at[clear].bytes);
}

/* Takes the ranges. */
static haul_status take_ranges(void *user, haul__new_range *ranges, size_t count, int are_clear,
                               uintptr_t *wrong)
{
    const range_taker *t = user;
    haul_environment *e = t->environment;
    haul_status status = HAUL_OK;
    size_t all = 0, i;
    if (!count)
        return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT,
                          "nothing of the root travels: its type or policy leaves all out");
    for (i = 0; i < count; i++)
        all += ranges[i].times;
    haul__sort_by_address(&e->context->allocator, ranges, count, sizeof *ranges, is_before);
    if (!make_room(&e->context->allocator, t->group, all))
        return no_memory(e);
    if (all > count && are_mixed(ranges, count))
        status = take_singly(e, t->group, ranges, count, all);
    else
        take_sorted(t->group, ranges, count);
    return status == HAUL_OK && !are_clear ? check_clear(e, t->group, wrong) : status;
}

/* ---- Making one. */

static int is_stop_before(const void *a, const void *b)
{
    const haul__stop *left = a, *right = b;
    return left->begin != right->begin ? left->begin < right->begin : left->end > right->end;
}

/* Lists a group that stops lie in. Most lie in the group of the one before. */
static int list_lead(haul_environment *e, haul__sent_group *group, uint32_t number)
{
    uint32_t *lead;
    if (e->groups.at[number]->is_listed)
        return 1;
    lead = HAUL__LIST_ADD(&e->context->allocator, &group->leads_into);
    if (!lead)
        return 0;
    *lead = number;
    e->groups.at[number]->is_listed = 1;
    return 1;
}

/* Takes from each stop the words that an earlier one has, and lists the stops and their groups in
 * the room for the former. Stops that overlap lie in one present range: an object, and a part of
 * it. */
HAUL__HOT static int take_stops(haul_environment *e, haul__sent_group *group)
{
    haul__stop *const stops = e->stops.all.at;
    uintptr_t *const places = group->stops.at;
    const size_t all = e->stops.all.count;
    uintptr_t farthest = 0; /* end of a stop */
    uint32_t last = UINT32_MAX;
    size_t i, count = 0;
    int has_memory = 1;
    for (i = 0; i < all && has_memory; i++) {
        const uintptr_t end = stops[i].end, from = farthest & ~(uintptr_t)(HAUL__WORD - 1);
        uintptr_t begin = stops[i].begin;
        if (HAUL__UNLIKELY(begin < farthest)) {
            if (end <= farthest)
                continue;
            begin = begin < from ? from : begin;
        }
        farthest = end;
        if (HAUL__UNLIKELY(count < i))
            stops[count] = stops[i];
        stops[count].begin = begin;
        places[count++] = begin;
        if (HAUL__UNLIKELY(stops[i].group != last)) {
            last = stops[i].group;
            has_memory = list_lead(e, group, last);
        }
    }
    e->stops.all.count = group->stops.count = count;
    return has_memory;
}

static int list_stops(haul_environment *e, haul__sent_group *group)
{
    const haul_allocator *allocator = &e->context->allocator;
    size_t i;
    int has_memory;
    haul__sort_by_address(allocator, e->stops.all.at, e->stops.all.count, sizeof *e->stops.all.at,
                          is_stop_before);
    has_memory = haul__grow(allocator, &group->stops.at, &group->stops.capacity, e->stops.all.count,
                            sizeof *group->stops.at) &&
                 take_stops(e, group);
    for (i = 0; i < group->leads_into.count; i++)
        e->groups.at[group->leads_into.at[i]]->is_listed = 0;
    return has_memory;
}

/* How many ranges, from the first one on, are whole granules, lie in its block, and fill the arena
 * from its place on: all that is live between them is theirs, so each place is the sum of the bytes
 * before it. */
HAUL__INLINE size_t count_tight(const haul__piece_seeker *seeker, const haul__covered *ranges,
                                size_t count)
{
    const haul__block *block = seeker->block;
    const uintptr_t block_end = (seeker->number + 1) << HAUL__BLOCK_SHIFT;
    uintptr_t bytes = 0, last;
    size_t n = 0;
    if (!block || haul__has_masks(block))
        return 0;
    while (n < count && ranges[n].begin + ranges[n].bytes <= block_end && !ranges[n].device &&
           (ranges[n].begin | ranges[n].bytes) % HAUL__GRANULE == 0)
        bytes += ranges[n++].bytes;
    if (n < 2)
        return 0;
    last = ranges[n - 1].begin + ranges[n - 1].bytes - 1;
    return haul__is_placed(block, last) &&
                   haul__place(block, last) - haul__place(block, ranges->begin) == bytes - 1
               ? n
               : 0;
}

/* Finds ranges on the device. Answers how many are in one piece there, up to the first that is
 * not. */
HAUL__HOT static size_t seek_ranges(const haul_shipment *shipment, haul__covered *ranges,
                                    size_t count)
{
    haul__piece_seeker seeker = { shipment->plan, NULL, 0 };
    uintptr_t counted = 0; /* the block whose ranges have been counted */
    size_t i = 0, end;
    while (i < count) {
        uint64_t place =
            haul__seek_piece(&seeker, ranges[i].begin, ranges[i].bytes - ranges[i].device);
        if (!place)
            break;
        place += shipment->range.address;
        end = i + 1;
        if (seeker.number != counted) {
            counted = seeker.number;
            end = i + count_tight(&seeker, ranges + i, count - i);
            end = end > i ? end : i + 1;
        }
        for (; i < end; i++) {
            ranges[i].device = (uintptr_t)place;
            place += ranges[i].bytes;
        }
    }
    return i;
}

static haul_status place_ranges(haul_environment *e, haul__sent_group *group)
{
    const size_t placed = seek_ranges(group->shipment, group->ranges.at, group->ranges.count);
    return placed == group->ranges.count
               ? HAUL_OK
               : haul__fail(&e->context->error, HAUL_ERROR_UNSUPPORTED,
                            "%zu bytes at %p are not in one piece in the copy",
                            group->ranges.at[placed].bytes, (void *)group->ranges.at[placed].begin);
}

static void count_ranges(haul_environment *e, const haul__sent_group *group, int are_there)
{
    size_t i, bytes = 0;
    for (i = 0; i < group->ranges.count; i++)
        bytes += group->ranges.at[i].bytes;
    e->info.bytes += are_there ? bytes : 0 - bytes;
    e->info.ranges += are_there ? group->ranges.count : 0 - group->ranges.count;
}

static void forget_ranges(haul_environment *e, const haul__sent_group *group)
{
    haul__present_remove_all(&e->host, group->ranges.at, group->ranges.count, 0);
    haul__present_remove_all(&e->there, group->ranges.at, group->ranges.count, 1);
    count_ranges(e, group, 0);
}

static int publish(haul_environment *e, const haul__sent_group *group, uint32_t number)
{
    const size_t count = group->ranges.count;
    if (!haul__present_add_all(&e->there, group->ranges.at, count, 1, number))
        return 0;
    if (!haul__present_add_all(&e->host, group->ranges.at, count, 0, number)) {
        haul__present_remove_all(&e->there, group->ranges.at, count, 1);
        return 0;
    }
    count_ranges(e, group, 1);
    return 1;
}

static void drop_rest(const haul_allocator *allocator, haul__rest *rest)
{
    if (!rest)
        return;
    HAUL__LIST_RELEASE(allocator, &rest->ranges);
    HAUL__LIST_RELEASE(allocator, &rest->objects);
    HAUL__LIST_RELEASE(allocator, &rest->roomy);
    HAUL__LIST_RELEASE(allocator, &rest->leads_into);
    HAUL__LIST_RELEASE(allocator, &rest->stops);
    haul__release(allocator, rest, sizeof *rest);
}

static void leave_ring(haul__sent_group *group)
{
    haul__sent_group *before = group;
    while (before->next_sharer != group)
        before = before->next_sharer;
    before->next_sharer = group->next_sharer;
}

void haul__group_discard(haul_environment *e, haul__sent_group *group)
{
    const haul_allocator *allocator = &e->context->allocator;
    if (haul__is_last_sharer(group) && group->shipment)
        haul__shipment_end(group->shipment);
    leave_ring(group);
    HAUL__LIST_RELEASE(allocator, &group->ranges);
    HAUL__LIST_RELEASE(allocator, &group->objects);
    HAUL__LIST_RELEASE(allocator, &group->roomy);
    haul__drop_members(e, group);
    haul__drop_digests(e, group);
    haul__drop_held(e, group);
    drop_rest(allocator, group->cut);
    HAUL__LIST_RELEASE(allocator, &group->leads_into);
    HAUL__LIST_RELEASE(allocator, &group->stops);
    HAUL__LIST_RELEASE(allocator, &group->attached);
    HAUL__LIST_RELEASE(allocator, &group->attached_in);
    haul__release(allocator, group, sizeof *group);
}

/* Sends the plan behind the work of the groups that it leads into. */
static haul_status send(haul_environment *e, haul__sent_group *group, haul_plan *plan,
                        const haul_enter_options *options, const haul_async *async)
{
    haul_status status = HAUL_OK;
    haul_ship_options how;
    size_t i;
    for (i = 0; i < group->leads_into.count && status == HAUL_OK; i++)
        status = haul__come_behind(e, e->groups.at[group->leads_into.at[i]], async);
    if (status == HAUL_OK)
        status = haul__select_for(e->device, async);
    if (status != HAUL_OK)
        return status;
    memset(&how, 0, sizeof how);
    how.let_counts_change = options->let_counts_change;
    return haul__ship_plan(e->device, plan, &how, async, &group->shipment);
}

/* Walks and sends. */
static haul_status fill(haul_environment *e, haul__sent_group *group, const haul_root *root,
                        const haul_enter_options *options, const haul_async *async)
{
    range_taker taker = { e, group };
    const haul__beside beside = { &e->elsewhere, take_ranges, &taker };
    haul_plan *plan;
    haul_status status = haul__plan_beside(e->context, root, &beside, &plan);
    if (status == HAUL_ERROR_GRAPH && e->reached_out)
        haul__environment_path(e, e->reached_out, e->context->error.other_path);
    if (status != HAUL_OK)
        return status;
    status = list_stops(e, group) && haul__list_roomy(&e->context->allocator, group->objects.at,
                                                      group->objects.count, &group->roomy)
                 ? send(e, group, plan, options, async)
                 : no_memory(e);
    if (status != HAUL_OK) {
        haul__plan_drop(plan);
        return status;
    }
    return place_ranges(e, group);
}

/* With room to give it back. */
int haul__take_number(haul_environment *e, uint32_t *number)
{
    const haul_allocator *allocator = &e->context->allocator;
    if (e->spare.count) {
        *number = e->spare.at[--e->spare.count];
        return 1;
    }
    if (e->groups.count >= UINT32_MAX - 1 || !HAUL__LIST_ROOM(allocator, &e->groups) ||
        !haul__grow(allocator, &e->spare.at, &e->spare.capacity, e->groups.count + 1,
                    sizeof *e->spare.at))
        return 0;
    *number = (uint32_t)e->groups.count++;
    e->groups.at[*number] = NULL;
    return 1;
}

void haul__give_number(haul_environment *e, uint32_t number)
{
    e->groups.at[number] = NULL;
    e->spare.at[e->spare.count++] = number;
}

static void count_group(haul_environment *e, const haul__sent_group *group)
{
    const haul_shipment *shipment = group->shipment;
    e->info.groups++;
    e->info.device_bytes += shipment->range.bytes;
    e->info.transfers_to += shipment->info.transfers_to;
    e->info.bytes_to += shipment->info.bytes_to;
}

/* Forgets the last walk's stops. None are known unless it has stopped somewhere. */
static void forget_stops(haul_environment *e)
{
    if (e->stops.all.count > 0)
        memset(e->stops.known, 0, sizeof e->stops.known);
    e->stops.all.count = 0;
    e->stops.next = 0;
    memset(e->around, 0, sizeof e->around);
}

void haul__group_hide(haul_environment *e, uint32_t number)
{
    const haul__sent_group *group = e->groups.at[number];
    haul__forget_attached(e, number);
    forget_ranges(e, group);
    forget_stops(e);
    e->info.groups--;
    haul__give_number(e, number);
}

void haul__group_end(haul_environment *e, haul__sent_group *group)
{
    if (haul__is_last_sharer(group))
        e->info.device_bytes -= group->shipment->range.bytes;
    haul__group_discard(e, group);
}

/* Tells the watcher of a published group, attaches pointers, and signals the event. */
static haul_status complete(haul_environment *e, uint32_t number, const haul_async *quiet,
                            const haul_async *async)
{
    haul__sent_group *group = e->groups.at[number];
    haul__work work;
    haul_status status = haul__watch_comes(e, group);
    if (status != HAUL_OK)
        return status;
    status = haul__attach(e, number, quiet);
    if (status == HAUL_OK) {
        status = haul__signal(e, async, &work);
        if (work.is_pending)
            haul__note_work(group, &work);
        if (status != HAUL_OK)
            haul__undo_attach(e, number, quiet);
    }
    if (status == HAUL_OK)
        haul__take_attached(e, number);
    else
        haul__watch_goes(e, group);
    return status;
}

/* Takes a published group back, into which no pointer leads. */
static void withdraw(haul_environment *e, uint32_t number)
{
    haul__sent_group *group = e->groups.at[number];
    size_t i;
    group->attached.count = 0;
    for (i = 0; i < group->leads_into.count; i++)
        e->groups.at[group->leads_into.at[i]]->led_from--;
    haul__group_hide(e, number);
    haul__group_end(e, group);
}

haul_status haul__group_make(haul_environment *e, const haul_root *root,
                             const haul_enter_options *options, const haul_async *async,
                             uint32_t *number)
{
    haul__sent_group *group = haul__allocate_zeroed(&e->context->allocator, sizeof *group);
    haul_async where = { NULL, NULL }; /* without the event, which is signalled last */
    const haul_async *quiet = async ? &where : NULL;
    haul_status status;
    size_t i;
    if (!group)
        return no_memory(e);
    group->next_sharer = group;
    group->made = e->made++;
    if (!haul__take_number(e, number)) {
        haul__group_discard(e, group);
        return no_memory(e);
    }
    if (async)
        where.stream = async->stream;
    forget_stops(e);
    e->reached_out = 0;
    status = fill(e, group, root, options, quiet);
    if (status == HAUL_OK && (!haul__list_attached(e, group) || !publish(e, group, *number)))
        status = no_memory(e);
    if (status != HAUL_OK) {
        haul__group_discard(e, group);
        haul__give_number(e, *number);
        return status;
    }
    for (i = 0; i < group->leads_into.count; i++)
        e->groups.at[group->leads_into.at[i]]->led_from++;
    e->groups.at[*number] = group;
    count_group(e, group);
    status = complete(e, *number, quiet, async);
    if (status != HAUL_OK) {
        withdraw(e, *number);
        return status;
    }
    haul__stops_come(e, group);
    e->info.groups_made++;
    e->info.attached += group->attached.count;
    return HAUL_OK;
}
