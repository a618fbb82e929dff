/* Chains on a device: targets in a shipment, and structs of kernel arguments.
 *
 * A target is found among the host's objects, and its first and last byte are looked up in the
 * shipment.
 */
#include "base/sized.h"
#include "chain/resolve.h"
#include "device/device.h"
#include "pack/translate.h"
#include "ship/shipment.h"
#include "type/field.h"

/* The targets of a chain, on their way to a list with the device's addresses. */
typedef struct crossing {
    const haul_shipment *shipment;
    haul__targets *to;
} crossing;

/* The device's address of bytes on the host; NULL: they are not in the shipment as one piece. */
static void *find(const haul_shipment *shipment, uintptr_t first, size_t bytes)
{
    const haul__contents *contents = &shipment->contents;
    uint64_t place;
    if (haul__is_arena(shipment)) {
        place = first - (uintptr_t)contents->base;
        if (place >= contents->bytes || bytes > contents->bytes - place)
            return NULL;
    } else {
        haul__piece_seeker seeker = { shipment->plan, NULL, 0 };
        place = haul__seek_piece(&seeker, first, bytes);
        if (!place)
            return NULL;
    }
    return (void *)(uintptr_t)(shipment->range.address + place);
}

static haul_status take(void *user, const haul_root *target, size_t bytes)
{
    const crossing *c = user;
    haul_root there = *target;
    if (there.address && c->to->count < c->to->capacity) {
        there.address = find(c->shipment, (uintptr_t)target->address, bytes);
        if (!there.address)
            return haul__fail(&c->shipment->device->context->error, HAUL_ERROR_STALE,
                              "%zu elements of the chain's target are not in the shipment: "
                              "haul_reship it, or ship a graph that has them",
                              target->count);
    }
    return haul__chain_list(c->to, &there, bytes);
}

/* Enters the context of a shipment. */
static haul_status enter(const haul_shipment *shipment)
{
    return haul__shipment_is_valid(shipment) ? haul__context_enter(shipment->device->context)
                                             : HAUL_ERROR_ARGUMENT;
}

static haul_status resolve(const haul_shipment *shipment, const haul_chain *chain, void *root,
                           haul__targets *targets)
{
    haul_context *context = shipment->device->context;
    crossing c = { shipment, targets };
    if (!haul__chain_is_valid(chain) || chain->context != context)
        return haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                          "the chain is NULL, freed or of another context");
    return haul__chain_targets(chain, root, targets, take, &c);
}

haul_status haul_chain_resolve_on(const haul_shipment *shipment, const haul_chain *chain,
                                  void *root, haul_root *targets, size_t capacity, size_t *count)
{
    haul__targets list = { targets, 0, capacity };
    haul_context *context;
    haul_status status = enter(shipment);
    if (count)
        *count = 0;
    if (status != HAUL_OK)
        return status;
    context = shipment->device->context;
    status = count ? resolve(shipment, chain, root, &list)
                   : haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                                "the address of the number of targets is NULL");
    if (status == HAUL_OK)
        *count = list.count;
    haul__context_leave(context);
    return status;
}

/* ---- Kernel arguments. */

/* An argument, and the values that it gets. */
typedef struct filling {
    haul_argument argument;
    void *pointer;
    int64_t count;
} filling;

static haul_status refuse(haul_context *context, size_t i, const char *what)
{
    return haul__fail(&context->error, HAUL_ERROR_ARGUMENT, "argument %zu: %s", i, what);
}

static haul_status count_elements(haul_context *context, size_t i, const haul_root *target,
                                  filling *f)
{
    const haul_argument *a = &f->argument;
    const haul__walk *walk = haul__type_walk(target->type);
    const size_t extent = walk->extent;
    const unsigned bits = (unsigned)(8 * a->count_bytes);
    size_t count = 0;
    if (!a->element_bytes || (target->address && (extent % a->element_bytes != 0 ||
                                                  (walk->has_slots && extent != a->element_bytes))))
        return haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                          "argument %zu points to elements of %zu bytes, and the chain leads to "
                          "elements of %zu",
                          i, a->element_bytes, extent);
    if (a->count_bytes && !haul__is_integer_width((unsigned)a->count_bytes))
        return refuse(context, i, "its count is no integer of 1, 2, 4 or 8 bytes");
    if (haul__multiply_overflows(target->count, extent / a->element_bytes, &count) ||
        (a->count_bytes && (uint64_t)count >> (bits - 1) != 0))
        return haul__fail(&context->error, HAUL_ERROR_LIMIT,
                          "argument %zu: %zu elements do not fit its count of %zu bytes", i,
                          target->count, a->count_bytes);
    f->count = (int64_t)count;
    return HAUL_OK;
}

static haul_status find_values(const haul_shipment *shipment, void *root, size_t i, filling *f)
{
    haul_context *context = shipment->device->context;
    haul_root target = { NULL, NULL, 0 };
    haul__targets one = { &target, 0, 1 };
    haul_status status;
    if (haul__chain_is_valid(f->argument.chain) && f->argument.chain->many)
        return refuse(context, i, "its chain has many targets: a kernel takes one");
    status = resolve(shipment, f->argument.chain, root, &one);
    if (status == HAUL_OK)
        status = count_elements(context, i, &target, f);
    f->pointer = target.address;
    return status;
}

static void put(const filling *f, void *into)
{
    char *at = into;
    const int8_t i8 = (int8_t)f->count;
    const int16_t i16 = (int16_t)f->count;
    const int32_t i32 = (int32_t)f->count;
    const void *from = f->argument.count_bytes == 1   ? (const void *)&i8
                       : f->argument.count_bytes == 2 ? (const void *)&i16
                       : f->argument.count_bytes == 4 ? (const void *)&i32
                                                      : (const void *)&f->count;
    memcpy(at + f->argument.offset, &f->pointer, sizeof f->pointer);
    memcpy(at + f->argument.count_offset, from, f->argument.count_bytes);
}

static haul_status fill(const haul_shipment *shipment, void *root, const char *arguments,
                        size_t argument_bytes, size_t count, filling *fillings)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < count && status == HAUL_OK; i++) {
        status = haul__read_options(&fillings[i].argument, sizeof fillings[i].argument,
                                    arguments + i * argument_bytes, argument_bytes);
        if (status != HAUL_OK)
            return haul__fail(&shipment->device->context->error, HAUL_ERROR_VERSION, "%s",
                              HAUL__NEWER_OPTIONS);
        status = find_values(shipment, root, i, &fillings[i]);
    }
    return status;
}

haul_status haul_chain_arguments_sized(const haul_shipment *shipment, void *root,
                                       const haul_argument *arguments, size_t count,
                                       size_t argument_bytes, void *into)
{
    haul_context *context;
    filling *fillings = NULL;
    size_t bytes = 0, i;
    haul_status status = enter(shipment);
    if (status != HAUL_OK)
        return status;
    context = shipment->device->context;
    if (!into || !arguments || !count)
        status = haul__fail(&context->error, HAUL_ERROR_ARGUMENT, "%s",
                            !into        ? "the struct of arguments is NULL"
                            : !arguments ? "the list of arguments is NULL"
                                         : "the number of arguments is 0");
    else if (!haul__multiply_overflows(count, sizeof *fillings, &bytes))
        fillings = haul__allocate(&context->allocator, bytes, sizeof(void *));
    if (status == HAUL_OK && !fillings)
        status = haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for arguments");
    if (status == HAUL_OK)
        status = fill(shipment, root, (const char *)arguments, argument_bytes, count, fillings);
    for (i = 0; i < count && status == HAUL_OK; i++)
        put(&fillings[i], into);
    haul__release(&context->allocator, fillings, bytes);
    haul__context_leave(context);
    return status;
}
