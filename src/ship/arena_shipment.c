/* Shipments of arenas: the contents of an arena cross unchanged.
 *
 * The slow obvious version is haul_ship: find every object, give it a place, copy it there,
 * translate its pointers. In an arena all objects already lie side by side, and a host pointer into
 * it gives its offset: its distance from the base. So the arena's memory is the source of the
 * transfer, and the device patches from the host's base instead of 0. Pointers into another arena
 * on the device are one more patch.
 */
#include "base/clock.h"
#include "arena/arena.h"
#include "arena/contents.h"
#include "arena/room.h"
#include "device/deferred.h"
#include "device/streams.h"
#include "pack/plan.h"
#include "ship/arena_transfer.h"

static int has_slots(const haul__contents *contents)
{
    size_t i, words = haul__contents_bitmap_bytes(contents) / sizeof(uint64_t);
    for (i = 0; i < words; i++)
        if (contents->slots[i])
            return 1;
    return 0;
}

static void lay_out_bytes(haul_shipment *shipment)
{
    haul__range *range = &shipment->range;
    memset(range, 0, sizeof *range);
    range->arena_bytes = range->bytes = shipment->contents.bytes;
}

static void lay_out_marks(haul_shipment *shipment)
{
    const haul__contents *contents = &shipment->contents;
    haul__range *range = &shipment->range;
    if (contents->explicit_count == 0 && !has_slots(contents))
        return;
    range->bitmap_at = (range->arena_bytes + 7) & ~(size_t)7;
    range->bitmap_bytes = haul__contents_bitmap_bytes(contents);
    range->explicit_at = range->bitmap_at + range->bitmap_bytes;
    range->explicit_count = contents->explicit_count;
    range->bytes = range->explicit_at + range->explicit_count * sizeof(uint64_t);
}

void haul__arena_lay_out(haul_shipment *shipment)
{
    lay_out_bytes(shipment);
    lay_out_marks(shipment);
}

/* The range is the arena's mirror on this device, unless another shipment has it. A mirror needs
 * marks only for pointers into other arenas (`with_others`), or if the device looks for pointers
 * that lead out. */
static void lay_out(haul_shipment *shipment, int with_others)
{
    const haul__contents *contents = &shipment->contents;
    const haul__region *region = &contents->arena->region;
    const size_t skip = (size_t)(contents->base - (unsigned char *)region->memory);
    const int is_free =
        region->mirrored > 0 && region->lent == 0 && region->user == shipment->device;
    lay_out_bytes(shipment);
    if (!is_free || with_others || haul__device_checks(contents))
        lay_out_marks(shipment);
    if (is_free && shipment->range.bytes <= region->mirrored - skip)
        shipment->range.mirror = contents->arena;
}

static void take_statistics(haul_shipment *shipment, double seconds)
{
    haul_shipment_statistics *statistics = &shipment->statistics;
    statistics->plan.objects = shipment->contents.arena->room.allocations;
    statistics->plan.graph_bytes = statistics->plan.arena_bytes = shipment->range.arena_bytes;
    statistics->plan.bitmap_bytes = shipment->range.bitmap_bytes;
    statistics->base = shipment->range.address;
    statistics->transfers_to++;
    statistics->bytes_to += haul__sent_bytes(&shipment->range);
    statistics->pack_seconds = statistics->relocate_seconds = 0;
    statistics->transfer_seconds = seconds;
}

/* An open shipment of the arena's present contents, without a range. With a plan, the graph was
 * discovered and lies wholly in the arena; pointers to no elements become null, as in any
 * shipment. */
static haul_status open_shipment(haul_device *device, haul_arena *arena, const haul_plan *plan,
                                 const haul_ship_arena_options *options, haul_shipment **result)
{
    haul_error *error = &device->context->error;
    haul_shipment *shipment;
    haul_status status;
    if (!haul__arena_is_valid(arena))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the arena is NULL or freed");
    if (haul__arena_used(arena) == 0)
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "nothing has been allocated in the arena");
    shipment = haul__shipment_new(device, NULL);
    if (!shipment)
        return HAUL_ERROR_MEMORY;
    status = haul__contents_open(&shipment->contents, arena, plan, error);
    if (status != HAUL_OK) {
        haul__shipment_discard(device, shipment);
        return status;
    }
    shipment->contents.outside = plan      ? HAUL_OUTSIDE_NULL
                                 : options ? options->outside
                                           : HAUL_OUTSIDE_REFUSE;
    shipment->contents.direct = options && options->direct_return;
    shipment->contents.lets_change = options && options->let_counts_change;
    shipment->device = device;
    *result = shipment;
    return HAUL_OK;
}

static void close_shipment(haul_device *device, haul_shipment *shipment)
{
    haul__defer_arena(device, shipment->contents.arena);
    haul__contents_close(&shipment->contents);
    haul__shipment_discard(device, shipment);
}

haul_status haul__arena_allocate(haul_shipment *shipment)
{
    size_t alignment = shipment->contents.arena->alignment;
    haul__range *range = &shipment->range;
    haul_status status = HAUL_OK;
    if (range->mirror) {
        range->address = (uintptr_t)shipment->contents.base;
        range->mirror->region.lent++;
    } else {
        status = haul__allocate_aligned(shipment->device, alignment > 256 ? alignment : 256, range);
    }
    shipment->contents.there = range->address;
    return status;
}

static haul__neighbour neighbour_of(const haul_shipment *other)
{
    haul__neighbour neighbour;
    neighbour.host = (uintptr_t)other->contents.base;
    neighbour.bytes = other->contents.bytes;
    neighbour.device = other->range.address;
    return neighbour;
}

/* Notes the neighbours: the arenas of options.into and those that are shipped together. */
static haul_status meet_neighbours(haul_shipment *shipment, const haul_ship_arena_options *options,
                                   haul_shipment *const *together, size_t count)
{
    haul__contents *contents = &shipment->contents;
    size_t i, into = options ? options->into_count : 0, all = into + count - 1;
    if (all == 0)
        return HAUL_OK;
    contents->neighbours = haul__allocate(&contents->arena->context->allocator,
                                          all * sizeof *contents->neighbours, sizeof(void *));
    if (!contents->neighbours)
        return haul__fail(&shipment->device->context->error, HAUL_ERROR_MEMORY,
                          "no memory to note other arenas");
    contents->neighbour_count = all;
    for (i = 0, all = 0; i < into; i++)
        contents->neighbours[all++] = neighbour_of(options->into[i]);
    for (i = 0; i < count; i++)
        if (together[i] != shipment)
            contents->neighbours[all++] = neighbour_of(together[i]);
    return HAUL_OK;
}

static haul_status send_and_time(haul_shipment *shipment)
{
    double start = haul__seconds();
    haul_status status = haul__arena_send(shipment);
    if (status == HAUL_OK)
        take_statistics(shipment, haul__seconds() - start);
    return status;
}

static void let_go(haul_device *device, haul_shipment **shipments, size_t opened, size_t allocated)
{
    while (allocated > 0)
        haul__unload(device, &shipments[--allocated]->range);
    while (opened > 0) {
        close_shipment(device, shipments[--opened]);
        shipments[opened] = NULL;
    }
}

/* In rounds: every arena gets its place on the device before a pointer into it is sent. */
static haul_status ship_all(haul_device *device, haul_arena *const *arenas, const haul_plan *plan,
                            size_t count, const haul_ship_arena_options *options,
                            haul_shipment **shipments)
{
    size_t opened = 0, allocated = 0, i;
    haul_status status = HAUL_OK;
    for (i = 0; i < count && status == HAUL_OK; i++) {
        status = open_shipment(device, arenas[i], plan, options, &shipments[i]);
        opened += status == HAUL_OK;
    }
    for (i = 0; i < count && status == HAUL_OK; i++) {
        lay_out(shipments[i], count > 1 || (options && options->into_count > 0));
        status = haul__arena_allocate(shipments[i]);
        allocated += status == HAUL_OK;
    }
    for (i = 0; i < count && status == HAUL_OK; i++)
        status = meet_neighbours(shipments[i], options, shipments, count);
    for (i = 0; i < count && status == HAUL_OK; i++)
        status = send_and_time(shipments[i]);
    if (status != HAUL_OK) {
        let_go(device, shipments, opened, allocated);
        return status;
    }
    for (i = 0; i < count; i++)
        haul__shipment_complete(shipments[i], device, NULL);
    return HAUL_OK;
}

/* ---- Untyped arenas. */

/* The haul_readable for discovery in an arena. It accepts the whole last page, because strings are
 * checked page by page. */
static int lies_in(void *user, const void *address, size_t bytes)
{
    const haul_arena *arena = user;
    size_t at = (size_t)((uintptr_t)address - (uintptr_t)arena->room.base),
           used = haul__arena_used(arena);
    size_t end = (used + HAUL_ALIGNMENT_MAX - 1) / HAUL_ALIGNMENT_MAX * HAUL_ALIGNMENT_MAX;
    return at <= used && bytes <= end - at;
}

/* Discovers once more, to fill in the path on which the graph leaves the arena. If that finds no
 * such path, the record stays as it was. */
static void name_way_out(haul_context *context, const haul_root *root, haul_arena *arena)
{
    haul_error found = context->error;
    haul_readable *readable = context->options.readable;
    void *user = context->options.readable_user;
    haul_plan *plan;
    context->options.readable = lies_in;
    context->options.readable_user = arena;
    if (haul__plan_make(context, root, 1, 0, &plan) == HAUL_OK)
        haul__plan_drop(plan);
    context->options.readable = readable;
    context->options.readable_user = user;
    if (context->error.status != HAUL_ERROR_GRAPH) {
        context->error = found;
        return;
    }
    memcpy(found.path, context->error.path, sizeof found.path);
    context->error = found;
}

static haul_status ship_discovered(haul_device *device, haul_arena *arena, const haul_root *root,
                                   const haul_ship_arena_options *options, haul_shipment **result)
{
    haul_plan *plan;
    haul_plan_statistics found;
    haul_status status = haul__plan_make(device->context, root, 1, 0, &plan);
    if (status != HAUL_OK)
        return status;
    haul__type_hold(root->type); /* while the plan still does */
    haul_plan_get_statistics(plan, &found);
    status = ship_all(device, &arena, plan, 1, options, result);
    haul__plan_drop(plan);
    if (status == HAUL_ERROR_GRAPH)
        name_way_out(device->context, root, arena);
    if (status != HAUL_OK) {
        haul__type_drop(root->type);
        return status;
    }
    (*result)->contents.root = *root;
    (*result)->statistics.plan.objects = found.objects;
    (*result)->statistics.plan.pointers = found.pointers;
    (*result)->statistics.plan.discover_seconds = found.discover_seconds;
    (*result)->statistics.plan.layout_seconds = found.layout_seconds;
    return HAUL_OK;
}

/* ---- The calls. */

static haul_status check_options(haul_device *device, const haul_ship_arena_options *options)
{
    haul_error *error = &device->context->error;
    size_t i;
    if (!options)
        return HAUL_OK;
    if (options->outside != HAUL_OUTSIDE_REFUSE && options->outside != HAUL_OUTSIDE_NULL &&
        options->outside != HAUL_OUTSIDE_KEEP)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->outside is %d, which is no rule for pointers that lead out",
                          (int)options->outside);
    if (!options->into && options->into_count > 0)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->into is NULL, and into_count is not 0");
    for (i = 0; i < options->into_count; i++)
        if (!haul__shipment_is_valid(options->into[i]) || !haul__is_arena(options->into[i]) ||
            options->into[i]->device != device)
            return haul__fail(error, HAUL_ERROR_ARGUMENT,
                              "into[%zu] is no shipment of an arena to this device", i);
    return HAUL_OK;
}

/* `missing` names an argument that is NULL or 0; NULL: none is. */
static haul_status begin(haul_device *device, const haul_ship_arena_options *options,
                         const char *missing)
{
    haul_status status;
    if (!haul__device_is_valid(device))
        return HAUL_ERROR_ARGUMENT;
    status = haul__device_enter(device);
    if (status != HAUL_OK)
        return status;
    status = missing ? haul__fail(&device->context->error, HAUL_ERROR_ARGUMENT, "%s", missing)
                     : haul__select(device, NULL);
    if (status == HAUL_OK)
        status = check_options(device, options);
    if (status != HAUL_OK)
        haul__context_leave(device->context);
    return status;
}

haul_status haul_ship_arenas(haul_device *device, haul_arena *const *arenas, size_t count,
                             const haul_ship_arena_options *options, haul_shipment **shipments)
{
    haul_status status;
    size_t i;
    for (i = 0; shipments && i < count; i++)
        shipments[i] = NULL;
    status = begin(device, options,
                   !shipments   ? "the address of the new shipments is NULL"
                   : !arenas    ? "the list of arenas is NULL"
                   : count == 0 ? "the number of arenas is 0"
                                : NULL);
    if (status != HAUL_OK)
        return status;
    status = ship_all(device, arenas, NULL, count, options, shipments);
    haul__context_leave(device->context);
    return status;
}

haul_status haul_ship_arena(haul_device *device, haul_arena *arena,
                            const haul_ship_arena_options *options, haul_shipment **shipment)
{
    return haul_ship_arenas(device, &arena, 1, options, shipment);
}

haul_status haul_ship_arena_from(haul_device *device, haul_arena *arena, void *root,
                                 const haul_type *type, size_t count,
                                 const haul_ship_arena_options *options, haul_shipment **shipment)
{
    const int is_held = haul__arena_is_valid(arena);
    haul_root one;
    haul_status status;
    if (shipment)
        *shipment = NULL;
    status = begin(device, options, shipment ? NULL : "the address of the new shipment is NULL");
    if (status != HAUL_OK)
        return status;
    if (is_held) /* a callback may free it, in a context of its own */
        haul__arena_hold(arena);
    one.address = root;
    one.type = type;
    one.count = count;
    if (options && (options->outside != HAUL_OUTSIDE_REFUSE || options->into_count > 0))
        status = haul__fail(
            &device->context->error, HAUL_ERROR_ARGUMENT,
            "a graph that is discovered must lie in the one arena: options->outside and into_count "
            "must be 0");
    else
        status = ship_discovered(device, arena, &one, options, shipment);
    haul__context_leave(device->context);
    if (is_held)
        haul__arena_drop(arena);
    return status;
}

/* ---- Replan: again, with the present contents. */

/* Sends the fresh shipment, with the neighbours of the old one. */
static haul_status load_again(haul_shipment *old, haul_shipment *fresh)
{
    haul_status status;
    lay_out(fresh, old->contents.neighbour_count > 0);
    status = haul__arena_allocate(fresh);
    if (status != HAUL_OK)
        return status;
    fresh->contents.neighbours = old->contents.neighbours;
    fresh->contents.neighbour_count = old->contents.neighbour_count;
    status = send_and_time(fresh);
    if (status == HAUL_OK)
        return HAUL_OK;
    fresh->contents.neighbours = NULL;
    fresh->contents.neighbour_count = 0;
    haul__unload(old->device, &fresh->range);
    return status;
}

/* Lends the old shipment's mirror to the fresh one. On failure the old one has it again, and its
 * marks may be overwritten. */
static haul_status load_in_place(haul_shipment *old, haul_shipment *fresh)
{
    haul_arena *mirror = old->range.mirror;
    haul_status status;
    if (!mirror)
        return load_again(old, fresh);
    mirror->region.lent--;
    status = load_again(old, fresh);
    if (status == HAUL_OK && fresh->range.mirror)
        return HAUL_OK;
    mirror->region.lent++;
    old->marks_are_there = 0;
    return status;
}

static void replace(haul_shipment *old, haul_shipment *fresh)
{
    if (!old->range.mirror || !fresh->range.mirror)
        haul__unload(old->device, &old->range);
    old->contents.neighbours = NULL;
    old->contents.neighbour_count = 0;
    fresh->contents.root = old->contents.root;
    old->contents.root.type = NULL;
    haul__contents_close(&old->contents);
    old->contents = fresh->contents;
    old->range = fresh->range;
    old->statistics.plan = fresh->statistics.plan;
    old->statistics.base = fresh->statistics.base;
    old->statistics.transfers_to++;
    old->statistics.bytes_to += fresh->statistics.bytes_to;
    old->statistics.transfer_seconds = fresh->statistics.transfer_seconds;
    old->marks_are_there = haul__is_patched(&old->range);
    haul__shipment_discard(old->device, fresh);
}

haul_status haul__arena_replan(haul_shipment *shipment)
{
    haul_device *device = shipment->device;
    const haul__contents *contents = &shipment->contents;
    haul_ship_arena_options options = { contents->outside, NULL, 0, contents->direct,
                                        contents->lets_change };
    haul_plan *plan = NULL;
    haul_shipment *fresh;
    haul_status status = contents->root.type
                             ? haul__plan_make(device->context, &contents->root, 1, 0, &plan)
                             : HAUL_OK;
    if (status != HAUL_OK)
        return status;
    status = open_shipment(device, contents->arena, plan, &options, &fresh);
    if (plan)
        haul__plan_drop(plan);
    if (status == HAUL_ERROR_GRAPH && contents->root.type)
        name_way_out(device->context, &contents->root, contents->arena);
    if (status != HAUL_OK)
        return status;
    status = load_in_place(shipment, fresh);
    if (status == HAUL_OK)
        replace(shipment, fresh);
    else
        close_shipment(device, fresh);
    return status;
}
