/* MPI's constructors: old elements at chosen places.
 *
 * They are stored in two forms. A list (indexed, struct) has one block for each entry of the user's
 * arrays. A loop nest (contiguous, vector, subarray) has one block, and loops with counts and
 * strides, so its size does not depend on the counts. Lower bound, extent and reach (where the last
 * byte ends) are worked out at once from those of the old types. Every sum is checked, so an
 * accepted type cannot overflow later. Empty blocks and empty old types do not move the bounds.
 *
 * A constructor that fails has made no type, so its error has the path of the old type.
 */
#include <stdio.h>

#include "describe/enter.h"
#include "type/life.h"
#include "type/refuse.h"
#include "haul/type_mpi.h"

/* A constructor was given NULL. The old type has the error. */
static haul_status refuse_null(const haul_type *old, const char *place)
{
    return haul__type_refuse(old, HAUL_ERROR_ARGUMENT,
                             "A constructor was given NULL in place of %s.", place);
}

static haul_status refuse_size(haul_type *old, const char *name)
{
    return haul__type_refuse(old, HAUL_ERROR_TYPE,
                             "%s would have more than the %zu bytes that can be described.", name,
                             (size_t)HAUL_TYPE_BYTES_MAX);
}

static haul_status refuse_block(haul_type *old, size_t index, size_t count, size_t displacement)
{
    return haul__type_refuse(
        old, HAUL_ERROR_TYPE,
        "Block %zu of the new type, of %zu elements at displacement %zu, ends behind the %zu "
        "bytes that can be described.",
        index, count, displacement, (size_t)HAUL_TYPE_BYTES_MAX);
}

typedef struct bounds {
    int any;
    size_t lower, upper, reach;
} bounds;

static int add_many(size_t base, size_t count, size_t stride, size_t *sum)
{
    size_t bytes;
    return !haul__multiply_overflows(count, stride, &bytes) &&
           !haul__add_overflows(base, bytes, sum) && *sum <= HAUL_TYPE_BYTES_MAX;
}

/* Widens the bounds by `count` old elements at `offset`, and by their repetitions, the last of them
 * `span` bytes farther on. */
static int take_in(bounds *b, size_t offset, size_t span, size_t count, const haul_type *old)
{
    size_t last, lower, upper, reach;
    if (count == 0 || old->bytes == 0)
        return 1;
    if (!add_many(offset, count - 1, old->bytes, &last) || !add_many(last, 1, span, &last) ||
        !add_many(offset, 1, old->lower, &lower) || !add_many(last, 1, old->lower, &upper) ||
        !add_many(upper, 1, old->bytes, &upper) || !add_many(last, 1, old->reach, &reach))
        return 0;
    b->lower = !b->any || lower < b->lower ? lower : b->lower;
    b->upper = upper > b->upper ? upper : b->upper;
    if (old->reach > 0) /* else no element has a byte */
        b->reach = reach > b->reach ? reach : b->reach;
    b->any = 1;
    return 1;
}

static haul_type *make(const haul_type *old, const char *name, haul_combiner combiner,
                       size_t blocks, size_t loops)
{
    static const haul__home none = { NULL, NULL, NULL, NULL };
    haul_allocator allocator = old ? old->allocator : haul__allocator_or_default(NULL);
    haul_type *type = haul__type_make(old ? &old->home : &none, &allocator, name, 0, combiner);
    size_t bytes;
    if (!type)
        return NULL;
    if (blocks > 0 && !haul__multiply_overflows(blocks, sizeof *type->blocks, &bytes))
        type->blocks = haul__allocate(&allocator, bytes, sizeof(void *));
    if (type->blocks)
        type->block_count = blocks;
    if (loops > 0 && !haul__multiply_overflows(loops, sizeof *type->loops, &bytes))
        type->loops = haul__allocate(&allocator, bytes, sizeof(void *));
    if (type->loops)
        type->loop_count = loops;
    if (type->block_count == blocks && type->loop_count == loops)
        return type;
    haul__type_release(type);
    return NULL;
}

/* The new type takes its bounds and holds its old types. Nothing can fail any more. */
static haul_status give(haul_type *type, const bounds *b, haul_type **newtype)
{
    size_t i;
    type->lower = b->lower;
    type->bytes = b->upper - b->lower;
    type->reach = b->reach;
    for (i = 0; i < haul__type_old_count(type); i++)
        haul__group_hold(type->blocks[i].type->group);
    *newtype = type;
    return HAUL_OK;
}

static void set_block(haul_type *type, size_t index, size_t offset, size_t count, haul_type *old)
{
    type->blocks[index].offset = offset;
    type->blocks[index].count = count;
    type->blocks[index].type = old;
}

/* Enters the old type's context. On failure nothing is entered. */
static haul_status begin(haul_type *oldtype, haul_type **newtype)
{
    haul_status status = haul__enter(oldtype);
    if (newtype)
        *newtype = NULL;
    if (status != HAUL_OK || newtype)
        return status;
    return haul__leave(oldtype, refuse_null(oldtype, "the new type's address"));
}

/* A type of one block and one loop. */
static haul_status make_loop(haul_combiner combiner, const char *name, haul__loop loop,
                             size_t blocklength, haul_type *oldtype, haul_type **newtype)
{
    bounds b = { 0, 0, 0, 0 };
    size_t span = 0;
    haul_type *type;
    if (loop.count > 0 && !add_many(0, loop.count - 1, loop.stride, &span) && blocklength > 0 &&
        oldtype->bytes > 0)
        return refuse_size(oldtype, name);
    if (loop.count > 0 && !take_in(&b, 0, span, blocklength, oldtype))
        return refuse_size(oldtype, name);
    type = make(oldtype, name, combiner, 1, 1);
    if (!type)
        return haul__type_out_of_memory(oldtype);
    set_block(type, 0, 0, blocklength, oldtype);
    type->loops[0] = loop;
    return give(type, &b, newtype);
}

haul_status haul_type_contiguous(size_t count, haul_type *oldtype, haul_type **newtype)
{
    char name[HAUL_NAME_BYTES_MAX];
    haul__loop once = { 1, 0 };
    haul_status status = begin(oldtype, newtype);
    if (status != HAUL_OK)
        return status;
    snprintf(name, sizeof name, "contiguous(%zu, %s)", count, oldtype->name);
    return haul__leave(oldtype,
                       make_loop(HAUL_COMBINER_CONTIGUOUS, name, once, count, oldtype, newtype));
}

haul_status haul_type_vector(size_t count, size_t blocklength, size_t stride, haul_type *oldtype,
                             haul_type **newtype)
{
    char name[HAUL_NAME_BYTES_MAX];
    haul__loop loop;
    haul_status status = begin(oldtype, newtype);
    if (status != HAUL_OK)
        return status;
    loop.count = count;
    snprintf(name, sizeof name, "vector(%zu, %zu, %zu, %s)", count, blocklength, stride,
             oldtype->name);
    if (haul__multiply_overflows(stride, oldtype->bytes, &loop.stride))
        return haul__leave(oldtype, refuse_size(oldtype, name));
    return haul__leave(oldtype,
                       make_loop(HAUL_COMBINER_VECTOR, name, loop, blocklength, oldtype, newtype));
}

haul_status haul_type_create_hvector(size_t count, size_t blocklength, size_t stride_bytes,
                                     haul_type *oldtype, haul_type **newtype)
{
    char name[HAUL_NAME_BYTES_MAX];
    haul__loop loop;
    haul_status status = begin(oldtype, newtype);
    if (status != HAUL_OK)
        return status;
    loop.count = count;
    loop.stride = stride_bytes;
    snprintf(name, sizeof name, "hvector(%zu, %zu, %zu, %s)", count, blocklength, stride_bytes,
             oldtype->name);
    return haul__leave(oldtype,
                       make_loop(HAUL_COMBINER_HVECTOR, name, loop, blocklength, oldtype, newtype));
}

/* The arguments of a list constructor. `lengths` NULL: all blocks have `blocklength` elements. */
typedef struct list {
    haul_combiner combiner;
    const char *name;
    size_t count, blocklength;
    const size_t *lengths, *displacements;
    int is_in_bytes; /* displacements: in bytes, or else in old elements */
} list;

static haul_status make_list(const list *l, haul_type *oldtype, haul_type **newtype)
{
    const size_t unit = l->is_in_bytes ? 1 : oldtype->bytes;
    char name[HAUL_NAME_BYTES_MAX];
    bounds b = { 0, 0, 0, 0 };
    size_t i, offset;
    haul_type *type;
    if (l->count > 0 &&
        (!l->displacements || (!l->lengths && l->combiner != HAUL_COMBINER_INDEXED_BLOCK)))
        return refuse_null(oldtype, "one of its lists");
    snprintf(name, sizeof name, "%s(%zu blocks, %s)", l->name, l->count, oldtype->name);
    type = make(oldtype, name, l->combiner, l->count, 0);
    if (!type)
        return haul__type_out_of_memory(oldtype);
    for (i = 0; i < l->count; i++) {
        const size_t length = l->lengths ? l->lengths[i] : l->blocklength;
        if (haul__multiply_overflows(l->displacements[i], unit, &offset) ||
            !take_in(&b, offset, 0, length, oldtype)) {
            haul__type_release(type);
            return refuse_block(oldtype, i, length, l->displacements[i]);
        }
        set_block(type, i, offset, length, oldtype);
    }
    return give(type, &b, newtype);
}

static haul_status create_list(const list *l, haul_type *oldtype, haul_type **newtype)
{
    haul_status status = begin(oldtype, newtype);
    return status == HAUL_OK ? haul__leave(oldtype, make_list(l, oldtype, newtype)) : status;
}

haul_status haul_type_indexed(size_t count, const size_t *blocklengths, const size_t *displacements,
                              haul_type *oldtype, haul_type **newtype)
{
    const list l = { .combiner = HAUL_COMBINER_INDEXED,
                     .name = "indexed",
                     .count = count,
                     .lengths = blocklengths,
                     .displacements = displacements };
    return create_list(&l, oldtype, newtype);
}

haul_status haul_type_create_hindexed(size_t count, const size_t *blocklengths,
                                      const size_t *displacements, haul_type *oldtype,
                                      haul_type **newtype)
{
    const list l = { .combiner = HAUL_COMBINER_HINDEXED,
                     .name = "hindexed",
                     .count = count,
                     .lengths = blocklengths,
                     .displacements = displacements,
                     .is_in_bytes = 1 };
    return create_list(&l, oldtype, newtype);
}

haul_status haul_type_create_indexed_block(size_t count, size_t blocklength,
                                           const size_t *displacements, haul_type *oldtype,
                                           haul_type **newtype)
{
    const list l = { .combiner = HAUL_COMBINER_INDEXED_BLOCK,
                     .name = "indexed_block",
                     .count = count,
                     .blocklength = blocklength,
                     .displacements = displacements };
    return create_list(&l, oldtype, newtype);
}

static haul_status make_struct(size_t count, const size_t *blocklengths,
                               const size_t *displacements, haul_type *const *types,
                               haul_type **newtype)
{
    char name[HAUL_NAME_BYTES_MAX];
    bounds b = { 0, 0, 0, 0 };
    haul_type *type;
    size_t i;
    if (!blocklengths || !displacements)
        return refuse_null(types[0], "one of its lists");
    for (i = 0; i < count; i++)
        if (!haul__type_is_valid(types[i]))
            return haul__type_refuse(types[0], HAUL_ERROR_ARGUMENT,
                                     "Type %zu of the list is no living type.", i);
    for (i = 0; i < count; i++)
        if (!take_in(&b, displacements[i], 0, blocklengths[i], types[i]))
            return refuse_block(types[0], i, blocklengths[i], displacements[i]);
    snprintf(name, sizeof name, "struct(%zu blocks)", count);
    type = make(types[0], name, HAUL_COMBINER_STRUCT, count, 0);
    if (!type)
        return haul__type_out_of_memory(types[0]);
    for (i = 0; i < count; i++)
        set_block(type, i, displacements[i], blocklengths[i], types[i]);
    return give(type, &b, newtype);
}

haul_status haul_type_create_struct(size_t count, const size_t *blocklengths,
                                    const size_t *displacements, haul_type *const *types,
                                    haul_type **newtype)
{
    static const bounds nothing = { 0, 0, 0, 0 };
    haul_type *empty;
    haul_status status;
    if (count > 0) {
        status = begin(types ? types[0] : NULL, newtype);
        return status == HAUL_OK ? haul__leave(types[0], make_struct(count, blocklengths,
                                                                     displacements, types, newtype))
                                 : status;
    }
    if (!newtype)
        return HAUL_ERROR_ARGUMENT;
    empty = make(NULL, "struct(0 blocks)", HAUL_COMBINER_STRUCT, 0, 0);
    *newtype = NULL;
    return empty ? give(empty, &nothing, newtype) : HAUL_ERROR_MEMORY;
}

/* The index in the user's arrays of dimension k, counted from the fastest. */
static size_t dimension(size_t ndims, haul_order order, size_t k)
{
    return order == HAUL_ORDER_C ? ndims - 1 - k : k;
}

/* *whole: the bytes of the whole array. *first: the offset of the first element. Fills the loops of
 * `type`, which may be NULL. */
static haul_status fill_subarray(size_t ndims, const size_t *sizes, const size_t *subsizes,
                                 const size_t *starts, haul_order order, haul_type *old,
                                 haul_type *type, size_t *whole, size_t *first)
{
    size_t k;
    *whole = old->bytes;
    *first = 0;
    for (k = 0; k < ndims; k++) {
        size_t d = dimension(ndims, order, k), step = *whole;
        if (!haul__fits(starts[d], subsizes[d], sizes[d]))
            return haul__type_refuse(
                old, HAUL_ERROR_TYPE,
                "Dimension %zu of a subarray has %zu elements from %zu on, of an array's %zu.", d,
                subsizes[d], starts[d], sizes[d]);
        if (type && k > 0) {
            type->loops[ndims - 1 - k].count = subsizes[d];
            type->loops[ndims - 1 - k].stride = step;
        }
        if (!add_many(0, sizes[d], step, whole) || !add_many(*first, starts[d], step, first))
            return haul__type_refuse(
                old, HAUL_ERROR_TYPE,
                "With the %zu elements of dimension %zu the array has more than the %zu bytes that "
                "can be described.",
                sizes[d], d, (size_t)HAUL_TYPE_BYTES_MAX);
    }
    return HAUL_OK;
}

/* Widens the bounds by the subarray's elements, which begin at `first`. fill_subarray has checked
 * the arguments. */
static int take_in_subarray(bounds *b, size_t ndims, const size_t *sizes, const size_t *subsizes,
                            haul_order order, size_t first, const haul_type *old)
{
    size_t count = subsizes[dimension(ndims, order, 0)], step = old->bytes, span = 0, k;
    for (k = 1; k < ndims; k++) {
        const size_t d = dimension(ndims, order, k);
        step *= sizes[dimension(ndims, order, k - 1)];
        if (subsizes[d] == 0)
            count = 0;
        else
            span += (subsizes[d] - 1) * step;
    }
    return take_in(b, first, span, count, old);
}

/* As in MPI, the lower bound is 0 and the extent is that of the whole array, so that subarrays can
 * follow each other. */
haul_status haul_type_create_subarray(size_t ndims, const size_t *sizes, const size_t *subsizes,
                                      const size_t *starts, haul_order order, haul_type *oldtype,
                                      haul_type **newtype)
{
    char name[HAUL_NAME_BYTES_MAX];
    bounds b = { 1, 0, 0, 0 }, elements = { 0, 0, 0, 0 };
    size_t first;
    haul_status status;
    haul_type *type;
    status = begin(oldtype, newtype);
    if (status != HAUL_OK)
        return status;
    if (!sizes || !subsizes || !starts)
        return haul__leave(oldtype, refuse_null(oldtype, "one of its lists"));
    if (ndims == 0 || (order != HAUL_ORDER_C && order != HAUL_ORDER_FORTRAN))
        return haul__leave(
            oldtype,
            haul__type_refuse(oldtype, HAUL_ERROR_ARGUMENT,
                              "A subarray has no dimensions, or an order that does not exist."));
    status = fill_subarray(ndims, sizes, subsizes, starts, order, oldtype, NULL, &b.upper, &first);
    if (status != HAUL_OK)
        return haul__leave(oldtype, status);
    snprintf(name, sizeof name, "subarray(%zu dimensions, %s)", ndims, oldtype->name);
    if (!take_in_subarray(&elements, ndims, sizes, subsizes, order, first, oldtype))
        return haul__leave(oldtype, refuse_size(oldtype, name));
    b.reach = elements.reach;
    type = make(oldtype, name, HAUL_COMBINER_SUBARRAY, 1, ndims - 1);
    if (!type)
        return haul__leave(oldtype, haul__type_out_of_memory(oldtype));
    fill_subarray(ndims, sizes, subsizes, starts, order, oldtype, type, &b.upper, &first);
    set_block(type, 0, first, subsizes[dimension(ndims, order, 0)], oldtype);
    return haul__leave(oldtype, give(type, &b, newtype));
}

static haul_status wrap(haul_combiner combiner, const char *name, size_t lower, size_t extent,
                        haul_type *oldtype, haul_type **newtype)
{
    bounds b = { 1, 0, 0, 0 };
    haul_type *type = make(oldtype, name, combiner, 1, 0);
    if (!type)
        return haul__type_out_of_memory(oldtype);
    b.lower = lower;
    b.upper = lower + extent;
    b.reach = oldtype->reach;
    set_block(type, 0, 0, 1, oldtype);
    return give(type, &b, newtype);
}

haul_status haul_type_create_resized(haul_type *oldtype, size_t lower_bound, size_t extent,
                                     haul_type **newtype)
{
    char name[HAUL_NAME_BYTES_MAX];
    haul_status status = begin(oldtype, newtype);
    if (status != HAUL_OK)
        return status;
    snprintf(name, sizeof name, "resized(%zu, %zu, %s)", lower_bound, extent, oldtype->name);
    if (extent == 0)
        return haul__leave(oldtype,
                           haul__type_refuse(oldtype, HAUL_ERROR_TYPE,
                                             "A resized type would have an extent of 0 bytes."));
    if (!haul__fits(lower_bound, extent, HAUL_TYPE_BYTES_MAX))
        return haul__leave(oldtype, refuse_size(oldtype, name));
    return haul__leave(oldtype,
                       wrap(HAUL_COMBINER_RESIZED, name, lower_bound, extent, oldtype, newtype));
}

haul_status haul_type_dup(haul_type *oldtype, haul_type **newtype)
{
    char name[HAUL_NAME_BYTES_MAX];
    haul_status status = begin(oldtype, newtype);
    if (status != HAUL_OK)
        return status;
    snprintf(name, sizeof name, "dup(%s)", oldtype->name);
    return haul__leave(
        oldtype, wrap(HAUL_COMBINER_DUP, name, oldtype->lower, oldtype->bytes, oldtype, newtype));
}
