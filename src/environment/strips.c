/* Strips: which bytes an update moves.
 *
 * The plan of a group tells which bytes of a range are data, and where they lie on the device. Runs
 * that are as long, and as far apart on both sides, as those before them join one strip. So a
 * member of a million objects that lie evenly is one entry, and the list for the device is short.
 */
#include "environment/strips.h"
#include "environment/look_up.h"
#include "pack/dependents.h"
#include "pack/plan.h"
#include "pack/range_data.h"

/* A run joins one of the last strips: the runs of an object with pointers between its data take
 * turns. */
#define NEAR 4u
#define PACKED_ALIGNMENT 8u

typedef struct lister {
    haul_environment *e;
    haul__strips *strips;
    unsigned excluded; /* from the direction */
    uint32_t number;   /* of the group */
    /* the run that may still grow */
    uintptr_t host;
    size_t place, bytes;
    int is_blind;
} lister;

/* Does the run have its place behind the strip's last one? */
static int goes_on(const haul__strip *strip, uintptr_t host, haul_address device)
{
    return host == strip->host + strip->count * strip->host_stride &&
           device == strip->device + strip->count * strip->device_stride;
}

/* Lists the run. 0: out of memory. */
static int add_run(lister *l)
{
    const haul__sent_group *group = l->e->groups.at[l->number];
    const haul_address device = group->shipment->range.address + l->place;
    haul__strips *strips = l->strips;
    haul__strip *strip, *alone = NULL;
    size_t i;
    if (!l->bytes)
        return 1;
    strips->bytes += l->bytes;
    for (i = 0; i < NEAR && i < strips->list.count; i++) {
        strip = &strips->list.at[strips->list.count - 1 - i];
        if (strip->bytes != l->bytes || strip->group != l->number || strip->is_blind != l->is_blind)
            continue;
        if (strip->count > 1 && goes_on(strip, l->host, device)) {
            strip->count++;
            return 1;
        }
        if (strip->count == 1 && !alone)
            alone = strip;
    }
    if (alone) {
        alone->host_stride = l->host - alone->host;
        alone->device_stride = device - alone->device;
        alone->count = 2;
        return 1;
    }
    strip = HAUL__LIST_ADD(&l->e->context->allocator, &strips->list);
    if (!strip)
        return 0;
    memset(strip, 0, sizeof *strip);
    strip->host = l->host;
    strip->device = device;
    strip->bytes = l->bytes;
    strip->count = 1;
    strip->group = l->number;
    strip->is_blind = l->is_blind;
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
    if (!add_run(l))
        return 0;
    l->host = host;
    l->place = place;
    l->bytes = bytes;
    l->is_blind = is_blind;
    return 1;
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
            (!haul__visit_data(plan, l->excluded, at, end, take_data, l) || !add_run(l)))
            status =
                haul__fail(&l->e->context->error, HAUL_ERROR_MEMORY, "out of memory for an update");
        l->bytes = 0;
        at += part->stride;
    } while (++i < part->count && status == HAUL_OK);
    return status;
}

/* The bytes from the first run to the last one. 0: there are none that can be. */
static size_t bytes_of_part(const haul_update_part *part)
{
    size_t bytes = 0;
    if (part->count > 1 && (part->stride < part->bytes ||
                            haul__multiply_overflows(part->count - 1, part->stride, &bytes)))
        return 0;
    return !part->bytes || haul__add_overflows(bytes, part->bytes, &bytes) ? 0 : bytes;
}

/* Lists the member of all objects of the type in a group. Answers whether there are some. */
static haul_status list_members(lister *l, const haul_update_part *part, int *are_there)
{
    const haul__sent_group *group = l->e->groups.at[l->number];
    const size_t extent = haul__type_walk(part->type)->extent;
    haul_status status = HAUL_OK;
    size_t i, k;
    for (i = 0; i < group->objects.count; i++) {
        const haul__typed *objects = &group->objects.at[i];
        if (objects->type != part->type)
            continue;
        *are_there = 1;
        for (k = 0; k < objects->count && status == HAUL_OK; k++)
            status = list_runs(l, objects->begin + k * extent + part->offset, part);
    }
    return status;
}

static haul_status list_type(lister *l, const haul_update_part *part, size_t bytes)
{
    haul_environment *e = l->e;
    haul_error *error = &e->context->error;
    const haul__walk *walk = haul__type_walk(part->type);
    haul_status status = HAUL_OK;
    haul__found_range found;
    int are_there = 0;
    if (!walk)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the type of a part is freed, or is not committed");
    if (part->offset > walk->span || bytes > walk->span - part->offset)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "%zu bytes at offset %zu reach out of type %s, which has %zu bytes",
                          bytes, part->offset, walk->name, walk->span);
    if (part->host) {
        if (!haul__present_find(&e->host, (uintptr_t)part->host, &found))
            return haul__fail(error, HAUL_ERROR_ARGUMENT, "%p is not on the device", part->host);
        l->number = found.group;
        status = list_members(l, part, &are_there);
    }
    for (; !part->host && l->number < e->groups.count && status == HAUL_OK; l->number++)
        if (e->groups.at[l->number])
            status = list_members(l, part, &are_there);
    return status == HAUL_OK && !are_there
               ? haul__fail(error, HAUL_ERROR_ARGUMENT, "no object of type %s is on the device",
                            walk->name)
               : status;
}

haul_status haul__list_part(haul_environment *e, const haul_update_part *part,
                            haul_direction direction, haul__strips *strips)
{
    const size_t bytes = bytes_of_part(part);
    haul__found_range found;
    haul_presence presence;
    lister l;
    memset(&l, 0, sizeof l);
    l.e = e;
    l.strips = strips;
    l.excluded = direction == HAUL_TO_DEVICE ? HAUL__UNSENT : HAUL__UNRETURNED;
    if (!bytes)
        return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT,
                          "a part of an update has no bytes, or runs that overlap");
    if (part->type)
        return list_type(&l, part, bytes);
    presence = haul_environment_presence(e, part->host, bytes);
    if (presence == HAUL_PRESENT && haul__present_find(&e->host, (uintptr_t)part->host, &found)) {
        l.number = found.group;
        return list_runs(&l, (uintptr_t)part->host, part);
    }
    return haul__fail(&e->context->error, HAUL_ERROR_ARGUMENT,
                      presence == HAUL_ABSENT ? "%zu bytes at %p are not on the device"
                                              : "%zu bytes at %p are not in one present range",
                      bytes, part->host);
}

/* ---- Places. */

void haul__place_strips(haul__strips *strips)
{
    size_t i, at = 0;
    for (i = 0; i < strips->list.count; i++) {
        haul__strip *strip = &strips->list.at[i];
        strip->packed = at;
        at += strip->bytes * strip->count;
        at = (at + PACKED_ALIGNMENT - 1) / PACKED_ALIGNMENT * PACKED_ALIGNMENT;
    }
    strips->packed_bytes = at;
}

typedef struct strip_writer {
    haul_strip *list; /* NULL: they are counted only */
    size_t count;
    haul_strip last; /* the last one */
} strip_writer;

/* Writes a run, or lets it join the last strip. */
static void write_run(strip_writer *w, haul_address device, size_t packed, uint32_t bytes)
{
    haul_strip *last = &w->last;
    const uint64_t stride = device - last->first;
    if (w->count && last->bytes == bytes && (last->count + 1) * bytes <= HAUL_STRIP_BYTES &&
        packed == last->packed + (uint64_t)last->count * bytes && device > last->first &&
        (last->count == 1 || stride == last->count * last->stride)) {
        if (last->count++ == 1)
            last->stride = stride;
    } else {
        w->count++;
        last->first = device;
        last->stride = 0;
        last->packed = packed;
        last->count = 1;
        last->bytes = bytes;
    }
    if (w->list)
        w->list[w->count - 1] = *last;
}

size_t haul__write_strips(const haul__strips *strips, haul_strip *list)
{
    size_t i, k, at;
    strip_writer w;
    memset(&w, 0, sizeof w);
    w.list = list;
    for (i = 0; i < strips->list.count; i++) {
        const haul__strip *strip = &strips->list.at[i];
        for (k = 0; k < strip->count; k++)
            for (at = 0; at < strip->bytes; at += HAUL_STRIP_BYTES) {
                const size_t left = strip->bytes - at;
                write_run(&w, strip->device + k * strip->device_stride + at,
                          strip->packed + k * strip->bytes + at,
                          left < HAUL_STRIP_BYTES ? (uint32_t)left : HAUL_STRIP_BYTES);
            }
    }
    return w.count;
}
