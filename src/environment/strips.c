/* Strips: which bytes an update moves.
 *
 * The plan of a group tells which bytes of a range are data, and where they lie on the device. Runs
 * that are as long, and as far apart on both sides, as those before them join one strip. So a
 * member of a million objects that lie evenly is one entry, and the list for the device is short.
 *
 * A group does not change until it goes, or a part of it does. So it keeps the strips of a member
 * of all objects of a type: listing them takes some 60 ns for each object, and the next update of
 * the member none.
 */
#include "environment/strips.h"
#include "environment/look_up.h"
#include "pack/dependents.h"
#include "pack/plan.h"
#include "pack/range_data.h"

/* A run joins one of the last strips: the runs of an object with pointers between its data take
 * turns. */
#define NEAR 4u
#define RUN_MOST ((size_t)64 << 10) /* bytes of a run: threads share the runs of a large array */
#define PACKED_ALIGNMENT 8u

typedef struct lister {
    haul_environment *e;
    haul__strips *strips;
    unsigned excluded; /* from the direction */
    uint32_t number;   /* of the group */
    size_t most;       /* bytes of a run */
    /* the run that may still grow */
    uintptr_t host;
    size_t place, bytes;
    int is_blind;
} lister;

static unsigned excluded_from(haul_direction direction)
{
    return direction == HAUL_TO_DEVICE ? HAUL__UNSENT : HAUL__UNRETURNED;
}

/* Does the run have its place behind the strip's last one? */
static int goes_on(const haul__strip *strip, uintptr_t host, haul_address device)
{
    return host == strip->host + strip->count * strip->host_stride &&
           device == strip->device + strip->count * strip->device_stride;
}

/* Lists a run, or lets it join a strip. 0: out of memory. */
static int list_run(haul_environment *e, haul__strips *strips, const haul__strip *run)
{
    haul__strip *strip, *alone = NULL;
    size_t i;
    strips->bytes += run->bytes;
    for (i = 0; i < NEAR && i < strips->list.count; i++) {
        strip = &strips->list.at[strips->list.count - 1 - i];
        if (strip->bytes != run->bytes || strip->group != run->group ||
            strip->is_blind != run->is_blind)
            continue;
        if (strip->count > 1 && goes_on(strip, run->host, run->device)) {
            strip->count++;
            return 1;
        }
        if (strip->count == 1 && !alone)
            alone = strip;
    }
    if (alone) {
        alone->host_stride = run->host - alone->host;
        alone->device_stride = run->device - alone->device;
        alone->count = 2;
        return 1;
    }
    strip = HAUL__LIST_ADD(&e->context->allocator, &strips->list);
    if (strip)
        *strip = *run;
    return strip != NULL;
}

/* Lists the run that may grow no more. 0: out of memory. */
static int end_run(lister *l)
{
    const size_t most = l->most < RUN_MOST ? l->most : RUN_MOST;
    haul__strip run;
    size_t left = l->bytes;
    memset(&run, 0, sizeof run);
    run.host = l->host;
    run.device = l->e->groups.at[l->number]->shipment->range.address + l->place;
    run.count = 1;
    run.group = l->e->groups.at[l->number];
    run.is_blind = l->is_blind;
    l->bytes = 0;
    for (; left; left -= run.bytes, run.host += run.bytes, run.device += run.bytes) {
        run.bytes = left < most ? left : most;
        if (!list_run(l->e, l->strips, &run))
            return 0;
    }
    return 1;
}

static int take_data(void *user, uintptr_t host, size_t place, size_t bytes, int is_blind)
{
    lister *l = user;
    if (l->bytes && host == l->host + l->bytes && place == l->place + l->bytes &&
        is_blind == l->is_blind) {
        l->bytes += bytes;
        return 1;
    }
    if (!end_run(l))
        return 0;
    l->host = host;
    l->place = place;
    l->bytes = bytes;
    l->is_blind = is_blind;
    return 1;
}

static haul_status out_of_memory(haul_environment *e)
{
    return haul__fail(&e->context->error, HAUL_ERROR_MEMORY, "out of memory for an update");
}

/* Lists the data of a part's runs, the first of which begins at `at`, in the lister's group. */
static haul_status list_runs(lister *l, uintptr_t at, const haul_update_part *part)
{
    haul_plan *plan = l->e->groups.at[l->number]->shipment->plan;
    haul_status status = HAUL_OK;
    size_t i = 0;
    do {
        const uintptr_t end = at + part->bytes;
        if (l->excluded == HAUL__UNSENT && haul__plan_dependent_count(plan))
            status = haul__refuse_dependents(plan, at, end, "update everything instead");
        if (status == HAUL_OK &&
            (!haul__visit_data(plan, l->excluded, at, end, take_data, l) || !end_run(l)))
            status = out_of_memory(l->e);
        at += part->stride;
    } while (++i < part->count && status == HAUL_OK);
    return status;
}

haul_status haul__list_group(haul_environment *e, uint32_t number, haul_direction direction,
                             size_t most, haul__strips *strips)
{
    const haul__sent_group *group = e->groups.at[number];
    haul_status status = HAUL_OK;
    haul_update_part part;
    lister l;
    size_t i;
    memset(&l, 0, sizeof l);
    memset(&part, 0, sizeof part);
    l.e = e;
    l.strips = strips;
    l.excluded = excluded_from(direction);
    l.number = number;
    l.most = most;
    for (i = 0; i < group->ranges.count && status == HAUL_OK; i++) {
        part.bytes = group->ranges.at[i].bytes;
        status = list_runs(&l, group->ranges.at[i].begin, &part);
    }
    return status;
}

typedef struct planned {
    lister l;
    const haul__covered *range;
} planned;

static int take_planned(void *user, uintptr_t host, size_t place, size_t bytes, int is_blind)
{
    planned *p = user;
    const uint64_t begin = p->l.e->groups.at[p->l.number]->shipment->range.address;
    (void)place;
    return take_data(&p->l, host, (size_t)(p->range->device + (host - p->range->begin) - begin),
                     bytes, is_blind);
}

haul_status haul__list_planned(haul_environment *e, uint32_t number, const haul_plan *plan,
                               haul__strips *strips)
{
    const haul__sent_group *group = e->groups.at[number];
    planned p;
    size_t i;
    memset(&p, 0, sizeof p);
    p.l.e = e;
    p.l.strips = strips;
    p.l.number = number;
    p.l.most = SIZE_MAX;
    for (i = 0; i < group->ranges.count; i++) {
        const uintptr_t begin = group->ranges.at[i].begin;
        p.range = &group->ranges.at[i];
        if (!haul__visit_data(plan, HAUL__UNRETURNED, begin, begin + p.range->bytes, take_planned,
                              &p) ||
            !end_run(&p.l))
            return out_of_memory(e);
    }
    return HAUL_OK;
}

static int ends_by(const void *strips, size_t i, uint64_t place)
{
    const haul__strip *strip = &((const haul__strip *)strips)[i];
    return strip->packed + strip->bytes * strip->count <= place;
}

size_t haul__strip_at(const haul__strips *strips, size_t place)
{
    return haul__search(strips->list.at, 0, strips->list.count, place, ends_by);
}

/* ---- Places. */

/* Lets a run join the last strip for a device. 0: it does not. */
static int join_there(haul_strip *last, haul_address device, size_t packed, uint32_t bytes)
{
    const uint64_t stride = device - last->first;
    if (last->bytes != bytes || (last->count + 1) * bytes > HAUL_STRIP_BYTES ||
        packed != last->packed + (uint64_t)last->count * bytes || device <= last->first ||
        (last->count > 1 && stride != last->count * last->stride))
        return 0;
    if (last->count++ == 1)
        last->stride = stride;
    return 1;
}

/* Lists a strip for a device, in shorter ones. Strips in one group's memory may join. 0: out of
 * memory. */
static int list_there(const haul_allocator *allocator, haul__strips *strips,
                      const haul__strip *strip)
{
    const int follows = strip > strips->list.at && strip[-1].group == strip->group;
    size_t k, at;
    for (k = 0; k < strip->count; k++)
        for (at = 0; at < strip->bytes; at += HAUL_STRIP_BYTES) {
            const haul_address device = strip->device + k * strip->device_stride + at;
            const size_t packed = strip->packed + k * strip->bytes + at, left = strip->bytes - at;
            const uint32_t bytes = left < HAUL_STRIP_BYTES ? (uint32_t)left : HAUL_STRIP_BYTES;
            haul_strip *there;
            if ((follows || k + at) &&
                join_there(&strips->there.at[strips->there.count - 1], device, packed, bytes))
                continue;
            there = HAUL__LIST_ADD(allocator, &strips->there);
            if (!there)
                return 0;
            there->first = device;
            there->stride = 0;
            there->packed = packed;
            there->count = 1;
            there->bytes = bytes;
        }
    return 1;
}

void haul__place_strips(haul__strips *strips)
{
    size_t i;
    for (i = 0; i < strips->list.count; i++) {
        haul__strip *strip = &strips->list.at[i];
        strip->packed = strips->packed_bytes;
        strips->packed_bytes += strip->bytes * strip->count;
        strips->packed_bytes =
            (strips->packed_bytes + PACKED_ALIGNMENT - 1) / PACKED_ALIGNMENT * PACKED_ALIGNMENT;
    }
}

/* Gives strips their places, and lists them for the device. */
static haul_status finish_strips(haul_environment *e, haul__strips *strips)
{
    size_t i;
    haul__place_strips(strips);
    for (i = 0; i < strips->list.count; i++)
        if (!list_there(&e->context->allocator, strips, &strips->list.at[i]))
            return out_of_memory(e);
    return HAUL_OK;
}

void haul__drop_strips(haul_environment *e, haul__strips *strips)
{
    HAUL__LIST_RELEASE(&e->context->allocator, &strips->list);
    HAUL__LIST_RELEASE(&e->context->allocator, &strips->there);
}

/* ---- Members of all objects of a type. */

void haul__drop_members(haul_environment *e, haul__sent_group *group)
{
    while (group->members) {
        haul__member *member = group->members;
        group->members = member->next;
        haul__drop_strips(e, &member->strips);
        haul__release(&e->context->allocator, member, sizeof *member);
    }
}

size_t haul__member_bytes(const haul__sent_group *group)
{
    const haul__member *member;
    size_t bytes = 0;
    for (member = group->members; member; member = member->next)
        bytes += sizeof *member + member->strips.list.capacity * sizeof *member->strips.list.at +
                 member->strips.there.capacity * sizeof *member->strips.there.at;
    return bytes;
}

static haul__member *find_member(const haul__sent_group *group, const haul_update_part *part,
                                 haul_direction direction)
{
    haul__member *member = group->members;
    while (member && (member->direction != direction || member->part.type != part->type ||
                      member->part.offset != part->offset || member->part.bytes != part->bytes ||
                      member->part.count != part->count || member->part.stride != part->stride))
        member = member->next;
    return member;
}

static haul_status list_objects(haul_environment *e, uint32_t number, haul__member *member)
{
    const haul__sent_group *group = e->groups.at[number];
    const size_t extent = haul__type_walk(member->part.type)->extent;
    haul_status status = HAUL_OK;
    size_t i, k;
    lister l;
    memset(&l, 0, sizeof l);
    l.e = e;
    l.strips = &member->strips;
    l.excluded = excluded_from(member->direction);
    l.number = number;
    l.most = SIZE_MAX;
    for (i = 0; i < group->objects.count && status == HAUL_OK; i++) {
        const haul__typed *objects = &group->objects.at[i];
        for (k = 0; objects->type == member->part.type && k < objects->count && status == HAUL_OK;
             k++)
            status =
                list_runs(&l, objects->begin + k * extent + member->part.offset, &member->part);
    }
    return status == HAUL_OK ? finish_strips(e, &member->strips) : status;
}

static int has_type(const haul__sent_group *group, const haul_type *type)
{
    size_t i;
    for (i = 0; i < group->objects.count; i++)
        if (group->objects.at[i].type == type)
            return 1;
    return 0;
}

/* Lists a member that a group does not have yet. */
static haul_status make_member(const haul__batch *batch, uint32_t number,
                               const haul_update_part *part, haul__member **made)
{
    haul_environment *e = batch->e;
    haul__member *member = haul__allocate_zeroed(&e->context->allocator, sizeof *member);
    haul_status status;
    if (!member)
        return out_of_memory(e);
    member->part = *part;
    member->direction = batch->direction;
    status = list_objects(e, number, member);
    if (status != HAUL_OK) {
        haul__drop_strips(e, &member->strips);
        haul__release(&e->context->allocator, member, sizeof *member);
        return status;
    }
    member->next = e->groups.at[number]->members;
    e->groups.at[number]->members = *made = member;
    return HAUL_OK;
}

static haul_status add_strips(haul__batch *batch, const haul__strips *strips)
{
    const haul__strips **added = HAUL__LIST_ADD(&batch->e->context->allocator, &batch->all);
    if (!added)
        return out_of_memory(batch->e);
    *added = strips;
    return HAUL_OK;
}

haul_status haul__add_group(haul__batch *batch, uint32_t number)
{
    haul__sent_group **added = HAUL__LIST_ADD(&batch->e->context->allocator, &batch->groups);
    if (!added)
        return out_of_memory(batch->e);
    *added = batch->e->groups.at[number];
    return HAUL_OK;
}

/* Adds the member in a group. *are_there: 1, if the group has objects of the type. */
static haul_status add_member(haul__batch *batch, uint32_t number, const haul_update_part *part,
                              int *are_there)
{
    const haul__sent_group *group = batch->e->groups.at[number];
    haul__member *member = find_member(group, part, batch->direction);
    haul_status status;
    if (!member && !has_type(group, part->type))
        return HAUL_OK;
    *are_there = 1;
    status = member ? HAUL_OK : make_member(batch, number, part, &member);
    if (status == HAUL_OK)
        status = haul__add_group(batch, number);
    return status == HAUL_OK ? add_strips(batch, &member->strips) : status;
}

static haul_status list_type(haul__batch *batch, const haul_update_part *part, size_t bytes)
{
    haul_environment *e = batch->e;
    haul_error *error = &e->context->error;
    const haul__walk *walk = haul__type_walk(part->type);
    haul_status status = HAUL_OK;
    haul__found_range found;
    int are_there = 0;
    uint32_t i;
    if (!walk)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the type of a part is freed, or is not committed");
    if (part->offset > walk->span || bytes > walk->span - part->offset)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "%zu bytes at offset %zu reach out of type %s, which has %zu bytes",
                          bytes, part->offset, walk->name, walk->span);
    if (part->host && !haul__present_find(&e->host, (uintptr_t)part->host, &found))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "%p is not on the device", part->host);
    if (part->host)
        status = add_member(batch, found.group, part, &are_there);
    for (i = 0; !part->host && i < e->groups.count && status == HAUL_OK; i++)
        if (e->groups.at[i])
            status = add_member(batch, i, part, &are_there);
    return status == HAUL_OK && !are_there
               ? haul__fail(error, HAUL_ERROR_ARGUMENT, "no object of type %s is on the device",
                            walk->name)
               : status;
}

/* ---- Parts. */

/* The bytes from the first run to the last one. 0: there are none that can be. */
static size_t bytes_of_part(const haul_update_part *part)
{
    size_t bytes = 0;
    if (part->count > 1 && (part->stride < part->bytes ||
                            haul__multiply_overflows(part->count - 1, part->stride, &bytes)))
        return 0;
    return !part->bytes || haul__add_overflows(bytes, part->bytes, &bytes) ? 0 : bytes;
}

static haul_status list_part(haul__batch *batch, const haul_update_part *part)
{
    haul_environment *e = batch->e;
    const size_t bytes = bytes_of_part(part);
    haul__found_range found;
    haul_presence presence;
    lister l;
    if (!bytes)
        return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT,
                          "a part of an update has no bytes, or runs that overlap");
    if (part->type)
        return list_type(batch, part, bytes);
    memset(&l, 0, sizeof l);
    l.e = e;
    l.strips = &batch->own;
    l.excluded = excluded_from(batch->direction);
    l.most = SIZE_MAX;
    presence = haul__presence_of(e, (uintptr_t)part->host, bytes);
    if (presence == HAUL_PRESENT && haul__present_find(&e->host, (uintptr_t)part->host, &found)) {
        const haul_status status = haul__add_group(batch, found.group);
        l.number = found.group;
        return status == HAUL_OK ? list_runs(&l, (uintptr_t)part->host, part) : status;
    }
    return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT,
                      presence == HAUL_ABSENT ? "%zu bytes at %p are not on the device"
                                              : "%zu bytes at %p are not in one present range",
                      bytes, part->host);
}

haul_status haul__finish_batch(haul__batch *batch)
{
    const haul_status status = finish_strips(batch->e, &batch->own);
    return status == HAUL_OK ? add_strips(batch, &batch->own) : status;
}

haul_status haul__list_parts(haul__batch *batch, const haul_update_part *parts, size_t count)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < count && status == HAUL_OK; i++)
        status = list_part(batch, &parts[i]);
    return status == HAUL_OK ? haul__finish_batch(batch) : status;
}

void haul__drop_batch(haul__batch *batch)
{
    haul__drop_strips(batch->e, &batch->own);
    HAUL__LIST_RELEASE(&batch->e->context->allocator, &batch->all);
    HAUL__LIST_RELEASE(&batch->e->context->allocator, &batch->groups);
}

haul_status haul__add_run(haul__batch *batch, const haul__strip *strip, size_t k)
{
    haul__strip run = *strip;
    run.host += k * strip->host_stride;
    run.device += k * strip->device_stride;
    run.count = 1;
    return list_run(batch->e, &batch->own, &run) ? HAUL_OK : out_of_memory(batch->e);
}
