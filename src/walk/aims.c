/* What each row's pointers lead to, worked out from the types before several threads walk.
 *
 * A walk is shared only if every row has an aim: it leads to one object, to an array, or to a
 * string; and its objects are dense, without rules, parts, excluded fields and ancestors, or of a
 * brief type.
 *
 * Arrays that a callback counts are left to the caller's thread (asides.c), unless a brief type
 * leads to them.
 */
#include "walk/aims.h"
#include "walk/brief_marks.h"
#include "walk/hints.h"
#include "walk/pointer.h"
#include "walk/share.h"
#include "walk/why.h"

#define MANY_AIMS 4096u
#define LONGEST_UNIT                                                                               \
    ((size_t)1 << 20) /* of an array's element: counts times units never overflow */

/* Are its objects one run each, or brief, and do their pointers lie on the grid? Else d->alone says
 * why not. */
static int suits(haul__discovery *d, const haul__met_type *met)
{
    const haul__walk *walk = met->walk;
    haul__reason reason = { HAUL__WHY_NOT, walk, NULL };
    size_t i;
    if (met->is_brief)
        reason.why = walk->depends ? HAUL__WHY_DEPENDS : HAUL__WHY_NOT;
    else
        reason.why = haul__why_apart(walk, LONGEST_UNIT, &reason.slot);
    for (i = 0; i < walk->slot_count && !reason.why; i++) {
        haul__slot without = walk->slots[i];
        without.flags &= (uint8_t)~haul__ways_in_line(d, &walk->slots[i]);
        reason.slot = &walk->slots[i];
        reason.why = haul__why_by_flags(&without);
    }
    if (!reason.why && !met->is_brief &&
        (walk->extent < walk->true_upper || (walk->slot_count && walk->extent % HAUL__WORD != 0))) {
        reason.slot = NULL;
        reason.why = HAUL__WHY_SIZE;
    }
    if (reason.why)
        d->alone = reason;
    return !reason.why;
}

/* Works out the counts of one field that make an array with at least one byte, are small reads, and
 * pass all limits. */
static void prepare_short(const haul__discovery *d, haul__plain_array *array)
{
    const int64_t multiply = array->multiply, add = array->add;
    const uint64_t limit = d->context->options.max_array_elements;
    int64_t least, most = HAUL__READ_FAR - 1;
    array->is_short = 0;
    if (array->field_count != 1 || multiply < 1)
        return;
    least = add > 0 ? 0 : (multiply - add) / multiply;
    if (most > HAUL__PLAIN_COUNT / multiply)
        most = HAUL__PLAIN_COUNT / multiply;
    if (least > most || (uint64_t)(most * multiply + add) > limit)
        return;
    array->least = (uint64_t)least;
    array->span = (uint64_t)(most - least);
    array->scale = multiply * array->unit;
    array->shift = add * array->unit;
    array->width_mark = haul__read_of(0, array->field[0].width, 0);
    array->is_short = 1;
}

/* May an array have `add` elements? If not, pointers to it are looked at one by one. */
static int is_within_limits(const haul__discovery *d, const haul__aim *aim)
{
    const int64_t add = aim->count.add, unit = aim->count.unit;
    return add > 0 && unit > 0 && add <= INT32_MAX &&
           (uint64_t)add <= d->context->options.max_array_elements &&
           (uint64_t)add <= (uint64_t)HAUL__HIGHEST / (uint64_t)unit;
}

static haul_status add_aim(haul__discovery *d, haul__aims *aims, const haul__aim *aim,
                           uint32_t *number)
{
    haul__aim *added = HAUL__LIST_ADD(d->allocator, &aims->list);
    if (!added)
        return HAUL_ERROR_MEMORY;
    *added = *aim;
    if (aim->kind != HAUL__AIM_STRING && aim->kind != HAUL__AIM_POINTERS)
        added->outer = aim->has_pointers ? aim->met + 1 : HAUL__OUTER_BYTES;
    if (aim->kind != HAUL__AIM_ONE && aim->kind != HAUL__AIM_STRING && !aim->is_wide)
        prepare_short(d, &added->count);
    added->bytes = aim->kind == HAUL__AIM_ONE ? d->met_types[aim->met].simple.bytes
                   : is_within_limits(d, aim) ? (uint64_t)(aim->count.add * aim->count.unit)
                                              : 0;
    *number = (uint32_t)(aims->list.count - 1);
    return HAUL_OK;
}

/* How many of its bytes are visited at once. */
static void prepare_piece(haul__aims *aims, haul__aim *aim, size_t unit, size_t pointers)
{
    const size_t elements =
        pointers && pointers < HAUL__VISITED_AT_ONCE ? HAUL__VISITED_AT_ONCE / pointers : 1;
    const size_t pieces = HAUL__SIMPLE_BYTES / (elements * unit) + 1;
    /* A parcel has twice as many single objects as ranges. */
    const size_t together = aim->kind == HAUL__AIM_ONE && elements < 2 ? 2 : elements;
    aim->piece = elements * unit;
    aim->has_pointers = pointers != 0;
    if (!pointers)
        return;
    if (aims->most_pointers < together * pointers)
        aims->most_pointers = together * pointers;
    if (aims->most_pieces < pieces)
        aims->most_pieces = pieces;
}

static void prepare_objects(haul__discovery *d, haul__aims *aims, haul__aim *aim, uint32_t met)
{
    const haul__walk *walk = d->met_types[met].walk;
    const size_t rows = d->met_types[met].is_brief ? walk->ruled_count : 0;
    aim->met = met;
    aim->misaligned = (walk->slot_count ? HAUL__WORD - 1 : 0) | (walk->alignment - 1);
    prepare_piece(aims, aim, walk->extent, walk->slot_count + rows);
}

haul_status haul__aim_objects(haul__discovery *d, haul__aims *aims, uint32_t met, uint32_t *aim)
{
    haul__aim made;
    memset(&made, 0, sizeof made);
    made.kind = d->met_types[met].is_brief ? HAUL__AIM_BRIEF : HAUL__AIM_OBJECTS;
    made.count.unit = (int64_t)d->met_types[met].walk->extent;
    made.hint = d->met_types[met].hint;
    prepare_objects(d, aims, &made, met);
    return add_aim(d, aims, &made, aim);
}

haul_status haul__aim_bytes(haul__discovery *d, haul__aims *aims, uint32_t *aim)
{
    haul__aim made;
    memset(&made, 0, sizeof made);
    made.kind = HAUL__AIM_BYTES;
    made.count.unit = 1;
    return add_aim(d, aims, &made, aim);
}

/* Describes a count with large constants. The array's fields are those that it reads. */
static void describe_wide(const haul__slot *slot, unsigned level, haul__aim *made)
{
    haul__plain_array *array = &made->count;
    const haul_count *shape = &slot->shape[level];
    unsigned i;
    made->is_wide = 1;
    memset(array, 0, sizeof *array);
    array->slot = slot;
    array->level = (uint8_t)level;
    array->unit = (int64_t)haul__unit_of(slot, level);
    array->field_count = shape->fields;
    array->add = shape->plus;
    array->needs_pointer = shape->fields && level == 0 && !(slot->flags & HAUL__SLOT_EACH);
    for (i = 0; i < shape->fields; i++)
        array->field[i].offset = shape->field[i].offset + slot->self;
}

/* Describes the count of an array. 0: neither threads nor the caller's thread can find it out by
 * the row alone. Callbacks learn which root led to them, so there must be one. */
static int describe_count(const haul__discovery *d, const haul__slot *slot, unsigned level,
                          haul__aim *made)
{
    const int kind = slot->shape[level].kind;
    if (haul__prepare_count(slot, level, &made->count))
        return 1;
    if (kind == HAUL_COUNT_KIND_PRODUCT) {
        describe_wide(slot, level, made);
        return 1;
    }
    if (level || kind != HAUL_COUNT_KIND_FUNCTION || d->root_count > 1)
        return 0;
    memset(&made->count, 0, sizeof made->count);
    made->count.unit = (int64_t)haul__unit_of(slot, level);
    made->is_asked = 1;
    return 1;
}

/* The aim of the pointers of a slot's last level. *made->kind HAUL__AIM_POINTERS: there is none,
 * and aims->why says why. */
static haul_status aim_at_last(haul__discovery *d, haul__aims *aims, const haul__slot *slot,
                               unsigned level, haul__aim *made)
{
    uint32_t met;
    int is;
    haul_status status = haul__leads_to_one(d, slot, level, made->ways, &met, &is);
    made->kind = HAUL__AIM_POINTERS;
    if (status != HAUL_OK)
        return status;
    if (is) {
        made->kind = HAUL__AIM_ONE;
        prepare_objects(d, aims, made, met);
        return HAUL_OK;
    }
    status = haul__prepare_plain_array(d, slot, level, &made->count);
    if (status != HAUL_OK)
        return status;
    if (!made->count.why && made->count.is_string) {
        made->kind = HAUL__AIM_STRING;
        aims->has_strings = 1;
        return HAUL_OK;
    }
    aims->why = haul__why_uncounted(&slot->shape[level]);
    if (!describe_count(d, slot, level, made))
        return HAUL_OK;
    aims->why = HAUL__WHY_SIZE;
    if (slot->unit == 0 || slot->unit > LONGEST_UNIT)
        return HAUL_OK;
    if (!slot->target) {
        made->kind = HAUL__AIM_BYTES;
        return HAUL_OK;
    }
    status = haul__met_type_of(d, slot->target, &met);
    if (status == HAUL_OK && d->met_types[met].walk->extent == slot->unit) {
        made->kind = d->met_types[met].is_brief           ? HAUL__AIM_BRIEF
                     : d->met_types[met].walk->slot_count ? HAUL__AIM_OBJECTS
                                                          : HAUL__AIM_BYTES;
        prepare_objects(d, aims, made, met);
    }
    return status;
}

/* From the last level to the first: each further one is an array of pointers. HAUL__NO_AIM: a level
 * has none. */
static haul_status aim_of(haul__discovery *d, haul__aims *aims, uint32_t met,
                          const haul__slot *slot, uint32_t *aim)
{
    const unsigned ways = haul__ways_in_line(d, slot);
    unsigned level = slot->levels;
    *aim = HAUL__NO_AIM;
    aims->why = HAUL__WHY_DIRECTION; /* known pointers would have to be visited again */
    if (ways && level > 1)
        return HAUL_OK;
    while (level-- > 0) {
        const int is_last = level + 1u == slot->levels;
        haul__aim made;
        haul_status status = HAUL_OK;
        memset(&made, 0, sizeof made);
        made.kind = HAUL__AIM_POINTERS;
        made.of = met;
        made.slot = slot;
        made.ways = (uint8_t)ways;
        if (is_last) {
            status = aim_at_last(d, aims, slot, level, &made);
        } else if (aims->why = haul__why_uncounted(&slot->shape[level]),
                   describe_count(d, slot, level, &made)) {
            made.next = *aim;
            made.misaligned = HAUL__WORD - 1;
            prepare_piece(aims, &made, HAUL__WORD, 1);
        }
        *aim = HAUL__NO_AIM;
        made.hint = haul__hint_for(d, slot, is_last ? slot->target : NULL);
        if (status != HAUL_OK || (is_last ? made.kind == HAUL__AIM_POINTERS : !made.piece))
            return status;
        aims->why = HAUL__WHY_COUNT;
        if (level && made.count.field_count)
            return HAUL_OK;
        aims->why = HAUL__WHY_FUNCTION;
        if (made.is_asked && d->met_types[met].is_brief)
            return HAUL_OK;
        status = add_aim(d, aims, &made, aim);
        if (status != HAUL_OK)
            return status;
    }
    return HAUL_OK;
}

haul__aimed_edge haul__aimed_edge_of(const haul__aims *aims, uint32_t number)
{
    const haul__aim *aim = &aims->list.at[number];
    haul__aimed_edge edge;
    size_t i;
    edge.tag = (uint64_t)number << 48;
    edge.bytes = aim->kind == HAUL__AIM_STRING ? 0 : aim->bytes;
    edge.offset = 0;
    edge.is_fixed = aim->kind == HAUL__AIM_STRING || (aim->bytes && !aim->count.field_count);
    edge.words = haul__is_single(aim) ? 1 : 2;
    edge.may_be_inner = 0;
    for (i = 0; i < aims->outers.count; i++)
        edge.may_be_inner |= aims->outers.at[i].elements == aim->outer;
    edge.first_outlet = HAUL__DISTRICTS * (!haul__is_single(aim) ? HAUL__RANGES
                                           : aim->met % 2        ? HAUL__OTHER_SINGLES
                                                                 : HAUL__SINGLES);
    return edge;
}

/* Adds the aim of an edge. *may 0: it has none. *reads grows by the words that a count takes. */
static haul_status aim_edge(haul__discovery *d, haul__aims *aims, uint32_t met,
                            const haul__slot *slot, size_t *reads, int *may)
{
    uint32_t aim;
    const haul_status status = aim_of(d, aims, met, slot, &aim);
    haul__aimed_edge *edge = status == HAUL_OK ? HAUL__LIST_ADD(d->allocator, &aims->edges) : NULL;
    if (!edge)
        return HAUL_ERROR_MEMORY;
    *may = aim != HAUL__NO_AIM;
    if (!*may) {
        const haul__reason reason = { aims->why, d->met_types[met].walk, slot };
        d->alone = reason;
        return HAUL_OK;
    }
    *edge = haul__aimed_edge_of(aims, aim);
    edge->offset = slot->offset;
    *reads += 2 * aims->list.at[aim].count.field_count;
    return HAUL_OK;
}

/* Adds those of a row with rules. A borrowed pointer is not followed. */
static haul_status aim_row(haul__discovery *d, haul__aims *aims, uint32_t met,
                           const haul__brief_row *row, size_t *reads, int *may)
{
    const haul__brief_target *targets = d->met_types[met].brief->targets + row->first_target;
    haul_status status = HAUL_OK;
    uint32_t i;
    *reads += 2 * HAUL__BRIEF_READS;
    for (i = 0; i < row->target_count && status == HAUL_OK && *may; i++) {
        haul__aimed_edge *edge;
        if (!row->is_alias) {
            status = aim_edge(d, aims, met, targets[i].slot, reads, may);
            continue;
        }
        edge = HAUL__LIST_ADD(d->allocator, &aims->edges);
        if (!edge)
            return HAUL_ERROR_MEMORY;
        memset(edge, 0, sizeof *edge);
    }
    return status;
}

/* Adds the aims of a type's edges. *may 0: one has none. */
static haul_status aim_edges(haul__discovery *d, haul__aims *aims, uint32_t met, int *may)
{
    const haul__walk *walk = d->met_types[met].walk;
    const haul__brief *brief = d->met_types[met].brief;
    haul_status status = haul__met_type_edges(d, met);
    size_t *first = status == HAUL_OK ? HAUL__LIST_ADD(d->allocator, &aims->first) : NULL;
    size_t reads = 0, i;
    if (!first)
        return HAUL_ERROR_MEMORY;
    *first = aims->edges.count;
    for (i = 0; i < walk->slot_count && status == HAUL_OK && *may; i++)
        status = aim_edge(d, aims, met, &walk->slots[i], &reads, may);
    for (i = 0; brief && i < brief->row_count && status == HAUL_OK && *may; i++)
        status = aim_row(d, aims, met, &brief->rows[i], &reads, may);
    if (status != HAUL_OK)
        return status;
    reads *= HAUL__VISITED_AT_ONCE / (walk->slot_count + 1) + 1;
    if (aims->most_reads < reads)
        aims->most_reads = reads;
    return HAUL_OK;
}

haul_status haul__aims_prepare(haul__discovery *d, haul__aims *aims, int *may)
{
    haul_status status = HAUL_OK;
    uint32_t number;
    size_t i;
    memset(aims, 0, sizeof *aims);
    aims->most_pointers = aims->most_pieces = 1;
    *may = 1;
    for (i = 0; i < d->root_count && status == HAUL_OK; i++)
        status = haul__met_type_of(d, d->roots[i].type, &number);
    for (i = 0; i < d->met_type_count && status == HAUL_OK && *may; i++) {
        if (d->met_types[i].is_brief) {
            aims->has_brief = 1;
            status = haul__brief_ready(d, (uint32_t)i);
            if (status != HAUL_OK)
                break;
        }
        *may = suits(d, &d->met_types[i]) && aims->list.count < MANY_AIMS;
        if (aims->list.count >= MANY_AIMS) {
            memset(&d->alone, 0, sizeof d->alone);
            d->alone.why = HAUL__WHY_MANY_TYPES;
        }
        if (*may && d->met_types[i].simple.bytes && !haul__met_type_ragged(d, &d->met_types[i]))
            status = HAUL_ERROR_MEMORY;
        if (*may && status == HAUL_OK)
            status = aim_edges(d, aims, (uint32_t)i, may);
    }
    return status;
}

haul__reason haul__aimed_row(const haul__discovery *d, const haul__aims *aims, uint32_t aim)
{
    haul__reason row = { HAUL__WHY_NOT, NULL, NULL };
    if (aim < aims->list.count)
        row.slot = aims->list.at[aim].slot;
    if (row.slot)
        row.walk = d->met_types[aims->list.at[aim].of].walk;
    return row;
}

void haul__aims_close(haul__discovery *d, haul__aims *aims)
{
    HAUL__LIST_RELEASE(d->allocator, &aims->list);
    HAUL__LIST_RELEASE(d->allocator, &aims->edges);
    HAUL__LIST_RELEASE(d->allocator, &aims->first);
    HAUL__LIST_RELEASE(d->allocator, &aims->outers);
    memset(aims, 0, sizeof *aims);
}

/* ---- When to walk by aims. */

int haul__may_walk_by_aims(haul__discovery *d)
{
    haul__reason reason = { HAUL__WHY_NOT, NULL, NULL };
    reason.why = haul__why_one_thread(d);
    if (!reason.why && !haul__threads_may_allocate(d->context))
        reason.why = HAUL__WHY_ALLOCATOR;
    if (reason.why)
        d->alone = reason;
    return !reason.why;
}

haul_status haul__choose_aims(haul__discovery *d)
{
    haul__aims aims;
    haul_status status = HAUL_OK;
    int may = !d->has_no_aims && haul__may_walk_by_aims(d);
    if (may) {
        status = haul__aims_prepare(d, &aims, &may);
        haul__aims_close(d, &aims);
    }
    d->has_no_aims = !may;
    d->wants_aims = may && status == HAUL_OK;
    return d->wants_aims ? HAUL_ERROR_STATE : status;
}
