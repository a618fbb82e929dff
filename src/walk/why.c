/* Why types and rows take the general way, and the course of a discovery.
 *
 * The same functions decide and give the reason, so a reason is never a guess.
 */
#include "walk/why.h"
#include "base/sort.h"
#include "walk/met_types.h"
#include "walk/share.h"

/* The first five are why such objects have no edges, and so are visited the general way. */
haul__why haul__why_apart(const haul__walk *walk, size_t longest, const haul__slot **slot)
{
    size_t i;
    *slot = NULL;
    if (haul__is_sized(walk))
        return HAUL__WHY_SIZED;
    if (haul__is_ruled(walk)) {
        *slot = &walk->ruled[0].slot;
        return HAUL__WHY_RULES;
    }
    if (walk->is_wide)
        return HAUL__WHY_ANCESTORS;
    if (walk->part_count)
        return HAUL__WHY_PARTS;
    if (walk->slot_count > HAUL__EDGES)
        return HAUL__WHY_POINTERS;
    if (walk->depends)
        return HAUL__WHY_DEPENDS;
    if (walk->excluded_count)
        return HAUL__WHY_DIRECTION;
    if (!haul__is_dense(walk))
        return HAUL__WHY_HOLES;
    if (walk->placement > HAUL__GRANULE || walk->alignment > HAUL__GRANULE)
        return HAUL__WHY_ALIGNMENT;
    if (!walk->extent || walk->extent > longest)
        return HAUL__WHY_SIZE;
    for (i = 0; i < walk->slot_count; i++) {
        *slot = &walk->slots[i];
        if (walk->slots[i].offset % HAUL__WORD != 0)
            return HAUL__WHY_OFF_GRID;
    }
    *slot = NULL;
    return HAUL__WHY_NOT;
}

haul__why haul__why_by_flags(const haul__slot *slot)
{
    if (slot->flags & HAUL__SLOT_END)
        return HAUL__WHY_PAIR;
    if (slot->flags & HAUL__EXCLUDED)
        return HAUL__WHY_DIRECTION;
    if (slot->flags & HAUL__SLOT_POOL)
        return HAUL__WHY_POOL;
    return slot->flags & ~HAUL__SLOT_EACH ? HAUL__WHY_OFF_GRID : HAUL__WHY_NOT;
}

haul__why haul__why_uncounted(const haul_count *shape)
{
    switch (shape->kind) {
    case HAUL_COUNT_KIND_FUNCTION:
        return HAUL__WHY_FUNCTION;
    case HAUL_COUNT_KIND_TERMINATED:
        return HAUL__WHY_TERMINATOR;
    case HAUL_COUNT_KIND_UNTIL:
        return HAUL__WHY_PAIR;
    default:
        return HAUL__WHY_COUNT;
    }
}

haul__why haul__why_one_thread(const haul__discovery *d)
{
    const haul_context_options *options = &d->context->options;
    if (options->threads < 2)
        return HAUL__WHY_ONE_THREAD;
    if (options->checked)
        return HAUL__WHY_CHECKED;
    if (options->readable)
        return HAUL__WHY_READABLE;
    if (options->max_bytes < SIZE_MAX / 2)
        return HAUL__WHY_MOST_BYTES;
    if (d->order_log)
        return HAUL__WHY_ORDERED;
    if (haul__is_general(d) || d->within || d->bounds)
        return HAUL__WHY_RECORDED;
    return d->map->flat ? HAUL__WHY_NOT : HAUL__WHY_NO_TABLE;
}

/* ---- The course. */

static int comes_before(const void *a, const void *b)
{
    return ((const haul__general *)a)->count > ((const haul__general *)b)->count;
}

static haul_status add_general(haul__discovery *d, const haul__reason *reason, int is_row,
                               size_t count)
{
    haul__general *added = HAUL__LIST_ADD(d->allocator, &d->found->course.general);
    if (!added)
        return HAUL_ERROR_MEMORY;
    added->reason = *reason;
    added->is_row = is_row;
    added->count = count;
    return HAUL_OK;
}

/* Why a type's objects are visited the general way. */
static haul__reason reason_of(const haul__discovery *d, const haul__walk *walk)
{
    haul__reason reason = { HAUL__WHY_NOT, walk, NULL };
    if (!haul__is_general(d))
        reason.why = haul__why_apart(walk, HAUL__SIMPLE_BYTES, &reason.slot);
    else
        reason.why = d->context->options.checked    ? HAUL__WHY_CHECKED
                     : d->context->options.readable ? HAUL__WHY_READABLE
                                                    : HAUL__WHY_RECORDED;
    if (!reason.why)
        reason.why = HAUL__WHY_NO_TABLE;
    return reason;
}

/* Lists the rows whose pointers have taken the general way. */
static haul_status list_rows(haul__discovery *d, const haul__walk *walk, const haul__slot *slots,
                             const haul__plain_array *array, size_t count)
{
    haul__reason reason = { HAUL__WHY_NOT, walk, NULL };
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < count && status == HAUL_OK; i++) {
        reason.slot = slots ? &slots[i] : array[i].slot;
        reason.why = array[i].why ? (haul__why)array[i].why : HAUL__WHY_FUNCTION;
        if (array[i].general)
            status = add_general(d, &reason, 1, array[i].general);
    }
    return status;
}

static haul_status list_general(haul__discovery *d, const haul__met_type *met)
{
    const haul__reason reason = reason_of(d, met->walk);
    haul_status status = met->general ? add_general(d, &reason, 0, met->general) : HAUL_OK;
    if (status == HAUL_OK && met->arrays)
        status = list_rows(d, met->walk, met->walk->slots, met->arrays, met->edge_count);
    if (status == HAUL_OK && met->brief)
        status = list_rows(d, met->walk, NULL, met->brief_arrays, met->brief_array_count);
    return status;
}

haul_status haul__note_course(haul__discovery *d)
{
    haul__course *course = &d->found->course;
    haul_status status = HAUL_OK;
    size_t others = 0, i;
    course->repeated = d->repeated;
    course->walkers = d->is_by_aims           ? HAUL__BY_AIMS
                      : course->finders.count ? HAUL__BY_ALL
                                              : HAUL__BY_ONE;
    for (i = 0; i < course->finders.count; i++)
        others += course->finders.at[i].objects;
    if (course->finders.count)
        course->finders.at[0].objects += d->found->objects - others;
    course->alone = d->alone;
    if (!course->alone.why)
        course->alone.why = haul__why_one_thread(d);
    if (!course->alone.why)
        course->alone.why =
            d->found->objects < HAUL__WORTH_SHARING ? HAUL__WHY_SMALL : HAUL__WHY_FEW_WAIT;
    for (i = 0; i < d->met_type_count && status == HAUL_OK; i++)
        status = list_general(d, &d->met_types[i]);
    haul__sort(course->general.at, course->general.count, sizeof *course->general.at, comes_before);
    return status;
}
