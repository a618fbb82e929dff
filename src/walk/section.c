/* Following a pointer to a section: elements in several dimensions (haul_section).
 *
 * A section of plain bytes is a set of bytes. Neither the order of its dimensions nor the sign of a
 * stride changes that set. So all strides are taken from the lowest element upwards, and the
 * dimensions are sorted by stride. From the shortest stride on, a dimension whose stride is no
 * longer than the run of bytes so far makes the run longer, without a gap: this covers contiguous
 * dimensions, strides of 0 and elements that overlap. A dimension that goes on where the one before
 * ends is joined to it. A section of one run is an array. Any other has lines: runs at one
 * distance, along its shortest stride.
 *
 * Objects are reached one by one, as if each had a pointer. In an array they are reached as one.
 *
 * The whole span keeps its shape in the copy, because its granules without a live byte are given
 * places too.
 */
#include "walk/section.h"
#include "map/exclusions.h"
#include "map/mark_hole.h"
#include "walk/extent.h"
#include "walk/follow.h"
#include "walk/hints.h"
#include "walk/log_order.h"
#include "walk/mark_elements.h"
#include "walk/new_ranges.h"
#include "walk/paths.h"
#include "walk/readable.h"
#include "walk/section_memo.h"
#include "walk/stops.h"
#include "walk/targets.h"
#include "walk/worklist.h"

/* Elements that lie `stride` bytes apart. */
typedef struct axis {
    size_t count, stride;
} axis;

typedef struct section {
    size_t rank, elements;
    size_t extent[HAUL_DIMENSIONS_MAX];  /* as read */
    int64_t stride[HAUL_DIMENSIONS_MAX]; /* bytes */
    uintptr_t first;                     /* the lowest byte */
    size_t bytes;                        /* from there to the end of the highest element */
    /* The same set of bytes: runs along axes, the shortest stride first. */
    size_t run, axis_count;
    axis axes[HAUL_DIMENSIONS_MAX];
    int is_array; /* one run, in which no elements overlap */
} section;

/* ---- Extents and strides. */

static haul_status read_dimension(haul__discovery *d, const haul__pointer *p,
                                  const haul_section *from, size_t i, section *s)
{
    const haul_dimension *dimension = &from->dimensions[i];
    const size_t unit = dimension->unit ? dimension->unit : p->slot->unit;
    int64_t extent = 0, stride = 0;
    haul_status status = haul__value_of(d, p, &dimension->extent, &extent);
    if (status == HAUL_OK)
        status = haul__value_of(d, p, &dimension->stride, &stride);
    if (status != HAUL_OK)
        return status;
    if (extent < 0)
        return haul__refuse(d, HAUL_ERROR_GRAPH, p->slot, "its extent in dimension %zu is %lld", i,
                            (long long)extent);
    if ((uint64_t)extent > SIZE_MAX ||
        haul__product_overflows(stride, (int64_t)unit, &s->stride[i]))
        return haul__refuse(d, HAUL_ERROR_LIMIT, p->slot, "its extents and strides overflow");
    s->extent[i] = (size_t)extent;
    return HAUL_OK;
}

static uint64_t length_of(int64_t stride)
{
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* Works out where the section lies, and checks that it can lie there. */
static haul_status measure(haul__discovery *d, const haul__pointer *p, section *s)
{
    size_t below = 0, above = p->slot->unit, i;
    int fits = 1;
    s->elements = 1;
    for (i = 0; i < s->rank; i++)
        if (s->extent[i] == 0)
            s->elements = 0;
    for (i = 0; i < s->rank && s->elements && fits; i++) {
        const uint64_t stride = length_of(s->stride[i]);
        size_t *reach = s->stride[i] < 0 ? &below : &above, bytes;
        fits = !haul__multiply_overflows(s->elements, s->extent[i], &s->elements);
        if (fits && s->extent[i] > 1) /* the bytes from the first element to the last one */
            fits = stride <= SIZE_MAX &&
                   !haul__multiply_overflows(s->extent[i] - 1, (size_t)stride, &bytes) &&
                   !haul__add_overflows(*reach, bytes, reach);
    }
    if (!fits || haul__add_overflows(below, above, &s->bytes))
        return haul__refuse(d, HAUL_ERROR_LIMIT, p->slot, "its extents and strides overflow");
    s->first = p->value - below;
    return s->elements ? haul__check_span(d, p->slot, s->first, s->elements, s->bytes) : HAUL_OK;
}

static haul_status read_section(haul__discovery *d, const haul__pointer *p,
                                const haul_section *from, section *s)
{
    haul_status status = HAUL_OK;
    size_t i;
    s->rank = from->rank;
    for (i = 0; i < from->rank && status == HAUL_OK; i++)
        status = read_dimension(d, p, from, i, s);
    return status == HAUL_OK ? measure(d, p, s) : status;
}

/* ---- Runs and axes. */

/* The dimensions with more than one place, by stride. */
static size_t sort_axes(const section *s, axis *sorted)
{
    size_t count = 0, i, k;
    for (i = 0; i < s->rank; i++) {
        const axis one = { s->extent[i], (size_t)length_of(s->stride[i]) };
        if (one.count == 1 || one.stride == 0)
            continue;
        for (k = count++; k > 0 && sorted[k - 1].stride > one.stride; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = one;
    }
    return count;
}

static void find_axes(section *s, size_t unit)
{
    axis sorted[HAUL_DIMENSIONS_MAX];
    const size_t count = sort_axes(s, sorted);
    size_t i;
    s->run = unit;
    s->axis_count = 0;
    s->is_array = 1;
    for (i = 0; i < count; i++) {
        axis *last = s->axis_count ? &s->axes[s->axis_count - 1] : NULL;
        if (sorted[i].stride <= s->run) {
            s->is_array &= sorted[i].stride == s->run;
            s->run += (sorted[i].count - 1) * sorted[i].stride;
        } else if (last && sorted[i].stride == last->count * last->stride) {
            last->count *= sorted[i].count;
        } else {
            s->axes[s->axis_count++] = sorted[i];
        }
    }
    s->is_array &= s->axis_count == 0;
}

static haul_status is_known(haul__discovery *d, const haul__pointer *p, const section *s,
                            unsigned ways, int *is)
{
    size_t words[6 + 2 * HAUL_DIMENSIONS_MAX], count = 0, i;
    words[count++] = s->first;
    words[count++] = s->bytes;
    words[count++] = (size_t)(uintptr_t)p->slot->target;
    words[count++] = ways;
    words[count++] = s->run;
    words[count++] = haul__hint_for(d, p->slot, p->slot->target); /* it is named once for each */
    for (i = 0; i < s->axis_count; i++) {
        words[count++] = s->axes[i].count;
        words[count++] = s->axes[i].stride;
    }
    return haul__section_meet(d, words, count, is);
}

/* ---- Plain bytes. */

typedef struct line {
    uintptr_t address;
    size_t number, count, stride;
} line;

static haul__entry entry_of(const haul__discovery *d, const haul__pointer *p, const section *s,
                            const line *l)
{
    haul__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.what = HAUL__PLAIN;
    entry.address = l->address;
    entry.count = l->count;
    entry.stride = l->stride;
    entry.run = l->count > 1 ? s->run : 0;
    entry.line = s->axis_count > 1 ? 1 + l->number : 0;
    entry.self = p->self;
    entry.slot = p->slot;
    entry.index = p->index;
    entry.ancestor = *p->ancestor;
    entry.parent = d->at_entry;
    entry.parent_element = d->at_element;
    return entry;
}

/* Within bounds: lists a line without a new byte. */
static haul_status note_line(haul__discovery *d, const haul__pointer *p, const section *s,
                             const line *l)
{
    haul__entry *added = d->bounds ? HAUL__LIST_ADD(d->allocator, &d->known) : NULL;
    if (added)
        *added = entry_of(d, p, s, l);
    return added || !d->bounds ? HAUL_OK : HAUL_ERROR_MEMORY;
}

static haul_status push_line(haul__discovery *d, const haul__pointer *p, const section *s,
                             const line *l)
{
    const haul__entry entry = entry_of(d, p, s, l);
    const haul_status status = haul__list_entry(d, &entry);
    if (d->recording)
        return status == HAUL_OK ? haul__push_entry(d, &entry) : status;
    d->found->objects++;
    return status;
}

static haul_status mark_line(haul__discovery *d, const haul__pointer *p, const section *s,
                             const line *l, unsigned ways)
{
    const int is_asked = d->context->options.readable != NULL;
    const uint32_t hint = haul__hint_for(d, p->slot, NULL);
    haul__marked marked = { 0, 0, 0 };
    haul_status status;
    uintptr_t at = l->address;
    size_t i;
    for (i = 0; i < l->count && is_asked; i++, at += l->stride)
        if (!haul__is_readable(d, at, s->run))
            return haul__refuse_unreadable(d, p->slot);
    status = haul__mark_line(d, p->slot, l->address, l->count, s->run, l->stride, &marked);
    at = l->address;
    for (i = 0; i < l->count && ways && status == HAUL_OK; i++, at += l->stride)
        if (!haul__exclude(d->map, at, at + s->run, ways))
            status = HAUL_ERROR_MEMORY;
    at = l->address;
    for (i = 0; i < l->count && hint && status == HAUL_OK; i++, at += l->stride)
        if (!haul__hint_range(d, hint, at, at + s->run))
            status = HAUL_ERROR_MEMORY;
    if (status != HAUL_OK)
        return status;
    return marked.first != marked.end ? push_line(d, p, s, l) : note_line(d, p, s, l);
}

static haul_status mark_lines(haul__discovery *d, const haul__pointer *p, const section *s,
                              unsigned ways)
{
    size_t at[HAUL_DIMENSIONS_MAX] = { 0 }, k = 0;
    haul_status status = HAUL_OK;
    line l = { s->first, 0, 1, s->run };
    if (s->axis_count) {
        l.count = s->axes[0].count;
        l.stride = s->axes[0].stride;
    }
    for (; status == HAUL_OK && (l.number == 0 || k < s->axis_count); l.number++) {
        status = mark_line(d, p, s, &l, ways);
        for (k = 1; k < s->axis_count && ++at[k] == s->axes[k].count; k++) {
            l.address -= (s->axes[k].count - 1) * s->axes[k].stride;
            at[k] = 0;
        }
        if (k < s->axis_count)
            l.address += s->axes[k].stride;
    }
    return status;
}

/* ---- Objects. */

static haul_status follow_objects(haul__discovery *d, const haul__pointer *p, const section *s)
{
    size_t at[HAUL_DIMENSIONS_MAX] = { 0 }, k;
    haul_status status = HAUL_OK;
    haul__pointer one = *p;
    for (one.line = 1; one.line <= s->elements && status == HAUL_OK; one.line++) {
        status = haul__follow_measured(d, &one, 1);
        for (k = 0; k < s->rank && ++at[k] == s->extent[k]; k++) {
            one.value -= (uintptr_t)((int64_t)(s->extent[k] - 1) * s->stride[k]);
            at[k] = 0;
        }
        if (k < s->rank)
            one.value += (uintptr_t)s->stride[k];
    }
    return status;
}

/* ---- Both. */

/* Within bounds: the section lies there, and its work counts, each element of objects and each run
 * of bytes: strides that are 0, or whose places overlap, make many of few bytes. */
static haul_status check_bounds(haul__discovery *d, const haul__pointer *p, const section *s)
{
    size_t work = sizeof(haul__word_target), lines = 1, i;
    int fits;
    if (!haul__is_within_bounds(d, s->first, s->bytes))
        return haul__refuse_unreadable(d, p->slot);
    if (p->slot->target) {
        fits = !haul__multiply_overflows(s->elements, work, &work);
    } else {
        fits = !haul__add_overflows(s->run, HAUL__GRANULE, &work);
        for (i = 0; i < s->axis_count && fits; i++)
            fits = !haul__multiply_overflows(work, s->axes[i].count, &work);
        for (i = 1; i < s->axis_count && fits; i++)
            fits = !haul__multiply_overflows(lines, s->axes[i].count, &lines);
        fits = fits && !haul__multiply_overflows(lines, sizeof(haul__entry), &lines) &&
               !haul__add_overflows(work, lines, &work);
    }
    return haul__spend(d, fits ? work : SIZE_MAX);
}

static haul_status log_span(haul__discovery *d, const haul__pointer *p, const section *s)
{
    haul__entry entry;
    if (!d->order_log)
        return HAUL_OK;
    memset(&entry, 0, sizeof entry);
    entry.what = HAUL__PLAIN;
    entry.address = s->first;
    entry.stride = p->slot->unit;
    return haul__log_range(d, &entry, s->first + s->bytes, 1, 0);
}

haul_status haul__follow_section(haul__discovery *d, const haul__pointer *p,
                                 const haul_section *section_of)
{
    const unsigned ways = d->within ? 0 : p->slot->flags & HAUL__EXCLUDED;
    haul__pointer whole = *p;
    section s;
    int known = 0, stops = 0;
    haul_status status = read_section(d, p, section_of, &s);
    if (status != HAUL_OK)
        return status;
    if (!s.elements) {
        status = haul__note_target(d, p, 0);
        return status == HAUL_OK ? haul__follow_counted(d, p, 0) : status;
    }
    find_axes(&s, p->slot->unit);
    whole.value = s.first;
    if (s.is_array)
        return haul__follow_measured(d, &whole, s.run / p->slot->unit);
    status = haul__stops_at(d, p->slot, s.first, s.bytes, &stops);
    if (status != HAUL_OK || stops)
        return status;
    status = haul__note_span(d, &whole, s.bytes);
    if (status == HAUL_OK)
        status = is_known(d, p, &s, ways, &known);
    /* checked mode looks at objects again, for further parents */
    if (status != HAUL_OK || (known && !(p->slot->target && d->context->options.checked)))
        return status;
    if (d->bounds) {
        status = check_bounds(d, p, &s);
        if (status != HAUL_OK)
            return status;
    }
    if (d->within || d->passing) {
        const size_t placed = haul__known_bytes(d, s.first, s.bytes, HAUL__PLACED);
        status = haul__spend(d, placed);
        if (status != HAUL_OK || placed < s.bytes)
            return status;
    }
    status = log_span(d, p, &s);
    if (status == HAUL_OK)
        status = p->slot->target ? follow_objects(d, p, &s) : mark_lines(d, p, &s, ways);
    if (status == HAUL_OK && !haul__mark_gap(d->map, s.first, s.first + s.bytes))
        status = HAUL_ERROR_MEMORY;
    if (status == HAUL_OK)
        haul__mark_array(d->map, s.first, s.first + s.bytes);
    return status;
}
