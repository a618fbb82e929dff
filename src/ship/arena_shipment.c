/* Shipments of arenas: the contents of an arena cross unchanged.
 *
 * The slow obvious version is haul_ship: find every object, give it a place, copy it there,
 * translate its pointers. In an arena all objects already lie side by side, and a host pointer into
 * it gives its offset: its distance from the base. So the arena's memory is the source of the
 * transfer, and the device patches from the host's base instead of 0. Pointers into another arena
 * on the device take one more patch.
 */
#include "base/clock.h"
#include "arena/arena.h"
#include "arena/contents.h"
#include "arena/room.h"
#include "arena/unmarked.h"
#include "device/deferred.h"
#include "device/streams.h"
#include "pack/plan.h"
#include "ship/arena_transfer.h"
#include "ship/places.h"
#include "ship/transfer.h"
#include "haul/experimental.h"

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
    const size_t bytes = haul__contents_bitmap_bytes(contents);
    size_t i = 0;
    while (i < bytes / sizeof(uint64_t) && !contents->slots[i])
        i++;
    if (contents->explicit_count == 0 && i == bytes / sizeof(uint64_t))
        return; /* it has no pointers */
    range->bitmap_at = (range->arena_bytes + 7) & ~(size_t)7;
    range->bitmap_bytes = bytes;
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

/* Opens the contents. Plain bytes of a checked typed arena are searched for its addresses, unless
 * the arena is mirrored: the device has the same addresses then. */
static haul_status open_contents(haul__contents *contents, haul_arena *arena, const haul_plan *plan,
                                 const haul_ship_options *options, haul_error *error)
{
    haul_status status = haul__contents_open(contents, arena, plan, error);
    if (status != HAUL_OK || plan || !arena->starts || arena->region.mirrored ||
        options->outside == HAUL_OUTSIDE_KEEP)
        return status;
    status = haul__check_unmarked(contents, error);
    if (status != HAUL_OK)
        haul__contents_close(contents);
    return status;
}

/* An open shipment of the arena's present contents, without a range. With a plan, the graph was
 * discovered and lies wholly in the arena; pointers to no elements become null, as in any
 * shipment. */
static haul_status open_shipment(haul_device *device, haul_arena *arena, const haul_plan *plan,
                                 const haul_ship_options *options, haul_shipment **result)
{
    haul_error *error = &device->context->error;
    haul_shipment *shipment;
    haul_status status;
    if (!haul__arena_is_valid(arena))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the arena is NULL or freed");
    if (haul__arena_used(arena) == 0)
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "nothing has been allocated in the arena");
    shipment = haul__shipment_new(device, options);
    if (!shipment)
        return HAUL_ERROR_MEMORY;
    status = open_contents(&shipment->contents, arena, plan, options, error);
    if (status != HAUL_OK) {
        haul__shipment_discard(device, shipment);
        return status;
    }
    shipment->contents.outside = plan ? HAUL_OUTSIDE_NULL : options->outside;
    shipment->contents.lets_change = options->let_counts_change;
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
        range->most = shipment->options.budget_bytes;
        status = haul__choose_places(shipment->device, NULL, &shipment->options, range);
        if (status == HAUL_OK)
            status =
                haul__allocate_aligned(shipment->device, alignment > 256 ? alignment : 256, range);
    }
    shipment->contents.device_address = range->address;
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

/* Notes the neighbours: the arenas of options.beside and those that are shipped together. */
static haul_status meet_neighbours(haul_shipment *shipment, haul_shipment *const *together,
                                   size_t count)
{
    haul__contents *contents = &shipment->contents;
    const haul_ship_options *options = &shipment->options;
    size_t i, beside = options->beside_count, all = beside + count - 1;
    if (all == 0)
        return HAUL_OK;
    contents->neighbours = haul__allocate(&contents->arena->context->allocator,
                                          all * sizeof *contents->neighbours, sizeof(void *));
    if (!contents->neighbours)
        return haul__fail(&shipment->device->context->error, HAUL_ERROR_MEMORY,
                          "no memory to note other arenas");
    contents->neighbour_count = all;
    for (i = 0, all = 0; i < beside; i++)
        contents->neighbours[all++] = neighbour_of(options->beside[i]);
    for (i = 0; i < count; i++)
        if (together[i] != shipment)
            contents->neighbours[all++] = neighbour_of(together[i]);
    return HAUL_OK;
}

static haul_status send_and_time(haul_shipment *shipment, const haul_async *async)
{
    double start = haul__seconds();
    haul_status status = haul__arena_send(shipment, async);
    if (status == HAUL_OK) {
        haul_shipment_info *info = &shipment->info;
        haul_plan_info *found = &shipment->found;
        found->objects = shipment->contents.arena->room.allocations;
        found->graph_bytes = found->arena_bytes = shipment->range.arena_bytes;
        found->bitmap_bytes = shipment->range.bitmap_bytes;
        info->base = shipment->range.address;
        haul__count_sent(info, &shipment->range);
        info->pack_seconds = info->relocate_seconds = 0;
        info->transfer_seconds = haul__seconds() - start;
    }
    return status;
}

/* In rounds: every arena gets its place on the device before a pointer into it is sent. */
static haul_status ship_in_rounds(haul_device *device, haul_arena *const *arenas,
                                  const haul_plan *plan, size_t count,
                                  const haul_ship_options *options, const haul_async *async,
                                  haul_shipment **made)
{
    size_t opened = 0, allocated = 0, i;
    haul_status status = HAUL_OK;
    for (i = 0; i < count && status == HAUL_OK; i++) {
        status = open_shipment(device, arenas[i], plan, options, &made[i]);
        opened += status == HAUL_OK;
    }
    for (i = 0; i < count && status == HAUL_OK; i++) {
        lay_out(made[i], count > 1 || options->beside_count > 0);
        status = haul__arena_allocate(made[i]);
        allocated += status == HAUL_OK;
    }
    for (i = 0; i < count && status == HAUL_OK; i++)
        status = meet_neighbours(made[i], made, count);
    for (i = 0; i < count && status == HAUL_OK; i++)
        status = send_and_time(made[i], async);
    for (i = 0; i < count && status == HAUL_OK; i++)
        haul__shipment_complete(made[i], device, NULL);
    if (status == HAUL_OK)
        return HAUL_OK;
    if (async && allocated > 1) /* shipments before the failed one may be under way */
        haul__drain(device);
    while (allocated > 0)
        haul__unload(device, &made[--allocated]->range);
    while (opened > 0)
        close_shipment(device, made[--opened]);
    return status;
}

/* The caller's handles are written last: a progress callback could use incomplete ones. */
haul_status haul__arenas_ship(haul_device *device, haul_arena *const *arenas, const haul_plan *plan,
                              size_t count, const haul_ship_options *options,
                              const haul_async *async, haul_shipment **shipments)
{
    const haul_allocator *allocator = &device->context->allocator;
    haul_shipment *one = NULL,
                  **made = count > 1 ? haul__allocate(allocator, count * sizeof *made, sizeof *made)
                                     : &one;
    haul_status status;
    if (!made)
        return haul__fail(&device->context->error, HAUL_ERROR_MEMORY,
                          "no memory for shipment handles");
    status = ship_in_rounds(device, arenas, plan, count, options, async, made);
    if (status == HAUL_OK)
        memcpy(shipments, made, count * sizeof *made);
    if (count > 1)
        haul__release(allocator, made, count * sizeof *made);
    return status;
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

haul_status haul__arena_ship_root(haul_device *device, haul_arena *arena, const haul_root *root,
                                  const haul_ship_options *options, const haul_async *async,
                                  haul_shipment **result)
{
    haul_plan *plan;
    haul_plan_info found;
    haul_status status = haul__plan_make(device->context, root, 1, 0, &plan);
    if (status != HAUL_OK)
        return status;
    haul__type_hold(root->type); /* while the plan still does */
    haul__plan_info(plan, &found);
    status = haul__arenas_ship(device, &arena, plan, 1, options, async, result);
    haul__plan_drop(plan);
    if (status == HAUL_ERROR_GRAPH)
        name_way_out(device->context, root, arena);
    if (status != HAUL_OK) {
        haul__type_drop(root->type);
        return status;
    }
    (*result)->contents.root = *root;
    (*result)->found.objects = found.objects;
    (*result)->found.pointers = found.pointers;
    (*result)->found.discover_seconds = found.discover_seconds;
    (*result)->found.layout_seconds = found.layout_seconds;
    return HAUL_OK;
}

/* ---- Again, with the present contents. */

/* Sends the fresh shipment, with the neighbours of the old one. */
static haul_status load_again(haul_shipment *old, haul_shipment *fresh, const haul_async *async)
{
    haul_status status;
    lay_out(fresh, old->contents.neighbour_count > 0);
    status = haul__arena_allocate(fresh);
    if (status != HAUL_OK)
        return status;
    fresh->contents.neighbours = old->contents.neighbours;
    fresh->contents.neighbour_count = old->contents.neighbour_count;
    status = send_and_time(fresh, async);
    if (status == HAUL_OK)
        return HAUL_OK;
    fresh->contents.neighbours = NULL;
    fresh->contents.neighbour_count = 0;
    haul__unload(old->device, &fresh->range);
    return status;
}

/* Lends the old shipment's mirror to the fresh one. On failure the old one has it again, and its
 * marks may be overwritten. */
static haul_status load_in_place(haul_shipment *old, haul_shipment *fresh, const haul_async *async)
{
    haul_arena *mirror = old->range.mirror;
    haul_status status;
    if (!mirror)
        return load_again(old, fresh, async);
    mirror->region.lent--;
    status = load_again(old, fresh, async);
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
    old->found = fresh->found;
    old->work = fresh->work;
    old->info.base = fresh->info.base;
    haul__count_sent(&old->info, &old->range);
    old->info.transfer_seconds = fresh->info.transfer_seconds;
    old->info.to_device = fresh->info.to_device;
    old->marks_are_there = haul__is_patched(&old->range);
    haul__shipment_discard(old->device, fresh);
}

haul_status haul__arena_reship(haul_shipment *shipment, const haul_async *async)
{
    haul_device *device = shipment->device;
    const haul__contents *contents = &shipment->contents;
    haul_plan *plan = NULL;
    haul_shipment *fresh;
    haul_status status = contents->root.type
                             ? haul__plan_make(device->context, &contents->root, 1, 0, &plan)
                             : HAUL_OK;
    if (status != HAUL_OK)
        return status;
    status = open_shipment(device, contents->arena, plan, &shipment->options, &fresh);
    if (plan)
        haul__plan_drop(plan);
    if (status == HAUL_ERROR_GRAPH && contents->root.type)
        name_way_out(device->context, &contents->root, contents->arena);
    if (status != HAUL_OK)
        return status;
    fresh->contents.direct = contents->direct;
    status = load_in_place(shipment, fresh, async);
    if (status == HAUL_OK)
        replace(shipment, fresh);
    else
        close_shipment(device, fresh);
    return status;
}

haul_status haul_return_directly(haul_shipment *shipment)
{
    haul_status status = haul__shipment_enter_device(shipment);
    if (status != HAUL_OK)
        return status;
    if (haul__is_arena(shipment))
        shipment->contents.direct = 1;
    else
        status = haul__fail(&shipment->device->context->error, HAUL_ERROR_ARGUMENT,
                            "the shipment is of no arena");
    haul__context_leave(shipment->device->context);
    return status;
}
