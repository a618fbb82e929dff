/* Rebuilding: objects whose contents depend on addresses, such as hashes of pointers, are rebuilt
 * on the device by the functions that their types name.
 *
 * The device addresses of all such objects follow from the plan and the base. They stand in a list
 * behind the arena, for kernels, and on the host during the calls. The functions order their work
 * on the stream of the copies and the patch, so nothing waits in between. A graph without such
 * objects has no list, and calls no function.
 */
#include "device/piece_sizes.h"
#include "device/streams.h"
#include "pack/dependents.h"
#include "ship/rebuild.h"
#include "type/type.h"
#include "haul/experimental.h"

void haul__list_dependents(const haul_plan *plan, const haul__range *range, size_t first,
                           size_t count, uint64_t *list)
{
    size_t i;
    for (i = 0; i < count; i++)
        list[i] = range->address + haul__plan_dependent(plan, first + i);
}

haul_status haul__send_dependents(haul_device *device, const haul_plan *plan,
                                  const haul__range *range)
{
    size_t most = haul__piece_bytes(device, range->bytes) / sizeof(uint64_t), at, now;
    haul_status status = HAUL_OK;
    for (at = 0; at < range->list_count && status == HAUL_OK; at += now) {
        haul__buffer *buffer;
        now = most > 0 && most < range->list_count - at ? most : range->list_count - at;
        status = haul__ring_take(device, now * sizeof(uint64_t), &buffer);
        if (status != HAUL_OK)
            break;
        haul__list_dependents(plan, range, at, now, buffer->memory.memory);
        status = haul__send_buffer(device, buffer,
                                   range->address + range->list_at + at * sizeof(uint64_t),
                                   now * sizeof(uint64_t));
    }
    return status;
}

static haul_status rebuild_type(haul_device *device, const haul__range *range,
                                const haul_async *async, const haul_type *type,
                                const haul_address *objects, size_t first, size_t count)
{
    const haul__walk *walk = haul__type_walk(type);
    haul_rebuild what;
    haul_status status;
    memset(&what, 0, sizeof what);
    what.type = type;
    what.device = device;
    what.stream = async ? async->stream : NULL;
    what.objects = objects + first;
    what.count = count;
    what.list = range->address + range->list_at + first * sizeof(uint64_t);
    what.arena = range->address;
    what.arena_bytes = range->arena_bytes;
    what.user = walk->rebuild_user;
    status = walk->rebuild(&what);
    if (status == HAUL_OK)
        return HAUL_OK;
    return haul__fail(&device->context->error, status,
                      "the function that rebuilds objects of type %s failed: %s", walk->name,
                      haul_status_text(status));
}

haul_status haul__rebuild(haul_device *device, const haul_plan *plan, const haul__range *range,
                          const haul_async *async)
{
    haul_allocator *allocator = &device->context->allocator;
    size_t at, count, bytes = range->list_count * sizeof(haul_address);
    haul_address *objects;
    haul_status status = HAUL_OK;
    if (range->list_count == 0)
        return HAUL_OK;
    objects = haul__allocate(allocator, bytes, sizeof *objects);
    if (objects) {
        haul__list_dependents(plan, range, 0, range->list_count, objects);
        for (at = 0; at < range->list_count && status == HAUL_OK; at += count) {
            const haul_type *type = haul__plan_dependent_type(plan, at, &count);
            status = rebuild_type(device, range, async, type, objects, at, count);
        }
        haul__release(allocator, objects, bytes);
    } else {
        status = haul__fail(&device->context->error, HAUL_ERROR_MEMORY,
                            "no memory to list the objects to rebuild");
    }
    if (status != HAUL_OK)
        haul__drain(device);
    return status;
}
