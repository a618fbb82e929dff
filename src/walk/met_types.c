/* The types that one discovery meets, numbered in the order of meeting. All that marking and
 * visiting need of a type is worked out here, once.
 */
#include "walk/met_types.h"
#include "walk/brief_types.h"
#include "walk/log_order.h"
#include "map/forms.h"
#include "map/found.h"
#include "map/ragged.h"
#include "walk/extent.h"
#include "walk/hints.h"
#include "walk/why.h"

#define MOST_COMPARED ((size_t)256) /* more are not compared with each other */

/* ---- Types, and the marks of their elements. */

static int has_type(const void *met_types, size_t number, const void *type)
{
    return ((const haul__met_type *)met_types)[number].type == type;
}

/* Fills met->simple if elements can be marked in line: they have whole words, few slots, all on the
 * grid, and no placement above a granule. Elements that are no whole granules must have slots;
 * those without slots are plain arrays. `far` must be zeros; it gets the slots behind the first
 * cell's length. */
static void prepare_marks(haul__met_type *met, haul__far *far)
{
    const haul__walk *walk = met->walk;
    const int is_ragged = walk->extent % HAUL__GRANULE != 0;
    unsigned granules = (unsigned)(walk->extent >> HAUL__GRANULE_SHIFT);
    const haul__slot *blamed;
    haul__cell whole;
    size_t i;
    if (haul__why_apart(walk, HAUL__SIMPLE_BYTES, &blamed))
        return;
    if (is_ragged && (walk->extent % HAUL__WORD != 0 || walk->extent < HAUL__GRANULE ||
                      !walk->slot_count || walk->alignment > HAUL__WORD))
        return;
    for (i = 0; i < walk->slot_count; i++) {
        const size_t offset = walk->slots[i].offset, cell = offset / HAUL__CELL_BYTES;
        *(cell ? &(*far)[cell - 1] : &met->simple.slots) |= (uint64_t)1
                                                            << haul__word_in_cell(offset);
        if (cell)
            met->simple.far = far;
    }
    met->simple.bytes = (uint32_t)walk->extent;
    met->simple.words = is_ragged ? (uint32_t)(walk->extent >> HAUL__WORD_SHIFT) : 0;
    met->simple.granules = granules < 32 ? haul__range32(0, granules - 1) : UINT32_MAX;
    whole.live = met->simple.granules;
    whole.aux = 1;
    memcpy(&met->mark, &whole, sizeof met->mark);
}

/* Works out how its objects are marked in ragged blocks of this form. */
static void prepare_ragged(haul__met_type *met, uint32_t form)
{
    const uint32_t words = met->simple.bytes >> HAUL__WORD_SHIFT;
    met->ragged.form = form;
    met->ragged.reach = words - 1;
    met->ragged.inside =
        words <= HAUL__RAGGED_NEAR ? (uint32_t)HAUL__BLOCK_WORDS - 2 * (words - 1) : 0;
    met->ragged.window = words <= HAUL__RAGGED_NEAR ? UINT64_MAX >> (64 - (2 * words - 1)) : 0;
}

int haul__met_type_ragged(haul__discovery *d, haul__met_type *met)
{
    haul__simple ragged = met->simple;
    uint32_t form;
    if (met->ragged.reach || met->form == HAUL__NO_FORM || met->walk->alignment > HAUL__WORD)
        return 1;
    ragged.words = ragged.bytes >> HAUL__WORD_SHIFT;
    form = haul__map_form(d->map, &ragged);
    if (form)
        prepare_ragged(met, form);
    return form != 0;
}

/* A visit reads this byte of an object. The first and the last one are fetched before. */
static void note_byte(haul__met_type *met, size_t offset, int is_first)
{
    const uint32_t at = offset > UINT32_MAX ? 0 : (uint32_t)offset;
    if (is_first || at < met->first_byte)
        met->first_byte = at;
    if (at > met->last_byte)
        met->last_byte = at;
}

/* A pointer, and the fields that count what it leads to. */
static void note_slot(haul__met_type *met, const haul__slot *slot, int is_first)
{
    unsigned level, field;
    note_byte(met, slot->offset, is_first);
    for (level = 0; level < slot->levels; level++)
        for (field = 0; field < slot->shape[level].fields; field++) {
            const haul_integer *counted = &slot->shape[level].field[field];
            note_byte(met, slot->self + counted->offset, 0);
            note_byte(met, slot->self + counted->offset + counted->bytes - 1, 0);
        }
}

/* Types of one size may share a form, so a start in a block does not tell which of them was there.
 * The one that asks for more is then logged always. */
static void prepare_log(haul__discovery *d, haul__met_type *met)
{
    size_t i;
    haul__demands_of(met->walk, &met->demands);
    met->logs_known = d->met_type_count > MOST_COMPARED;
    for (i = 0; met->simple.bytes && i < d->met_type_count && i <= MOST_COMPARED; i++) {
        haul__met_type *other = &d->met_types[i];
        if (other->simple.bytes != met->simple.bytes)
            continue;
        other->logs_known |= other->demands.asked > met->demands.asked;
        met->logs_known |= met->demands.asked > other->demands.asked;
    }
}

/* Numbers the type for the log. Of several numbers, ranges have the first. 0: out of memory. */
static int number_type(haul__discovery *d, haul__met_type *met)
{
    const size_t known = haul__index_find(&d->met_type_index, haul__hash((uintptr_t)met->type),
                                          d->met_types, met->type, has_type);
    const size_t number = known == SIZE_MAX ? d->met_type_count : known;
    const haul_type **added = HAUL__LIST_ADD(d->allocator, &d->order_log->types);
    if (!added)
        return 0;
    *added = met->type;
    met->demands.type =
        number + 1 < HAUL__UNNUMBERED ? (number + 1) & HAUL__UNNUMBERED : HAUL__UNNUMBERED;
    return 1;
}

/* Adds a type, which its hash will not find. */
static haul_status add_type(haul__discovery *d, const haul_type *type, uint32_t hint)
{
    haul__met_type fresh;
    haul__far far = { 0 };
    size_t i;
    if (!haul__grow(d->allocator, &d->met_types, &d->met_type_capacity, d->met_type_count + 1,
                    sizeof *d->met_types))
        return HAUL_ERROR_MEMORY;
    memset(&fresh, 0, sizeof fresh);
    fresh.type = type;
    fresh.walk = haul__type_walk(type);
    fresh.form = fresh.ragged.form = HAUL__NO_FORM;
    fresh.uniform = HAUL__NOT_UNIFORM;
    fresh.ahead = HAUL__AHEAD_LEAST;
    fresh.hint = hint;
    for (i = 0; i < fresh.walk->slot_count; i++)
        note_slot(&fresh, &fresh.walk->slots[i], i == 0);
    for (i = 0; i < fresh.walk->ruled_count; i++)
        note_slot(&fresh, &fresh.walk->ruled[i].slot, fresh.walk->slot_count + i == 0);
    prepare_marks(&fresh, &far);
    fresh.is_brief = (uint32_t)haul__is_brief(d, fresh.walk);
    if (fresh.simple.bytes && fresh.walk->slot_count)
        fresh.form = haul__map_form(d->map, &fresh.simple);
    if (!fresh.form)
        return HAUL_ERROR_MEMORY;
    if (fresh.simple.words)
        prepare_ragged(&fresh, fresh.form);
    if (fresh.simple.far == &far) { /* no form keeps it, and it ends with this call */
        fresh.simple.far = NULL;
        fresh.simple.bytes = fresh.simple.words = 0;
    }
    if (d->in_order)
        prepare_log(d, &fresh);
    if (d->order_log && !number_type(d, &fresh))
        return HAUL_ERROR_MEMORY;
    d->met_types[d->met_type_count++] = fresh;
    return HAUL_OK;
}

haul_status haul__met_type_of(haul__discovery *d, const haul_type *type, uint32_t *number)
{
    const uint64_t hash = haul__hash((uintptr_t)type);
    const size_t found = haul__index_find(&d->met_type_index, hash, d->met_types, type, has_type);
    haul_status status;
    *number = (uint32_t)found;
    if (found != SIZE_MAX)
        return HAUL_OK;
    *number = (uint32_t)d->met_type_count;
    status = add_type(d, type, haul__hint_for(d, NULL, type));
    if (status == HAUL_OK &&
        !haul__index_add(d->allocator, &d->met_type_index, hash, d->met_type_count - 1))
        return HAUL_ERROR_MEMORY;
    return status;
}

haul_status haul__met_type_by(haul__discovery *d, const haul__slot *slot, uint32_t *number)
{
    const haul_status status = haul__met_type_of(d, slot->target, number);
    const uint32_t hint = d->hints ? haul__hint_for(d, slot, slot->target) : 0;
    size_t i = *number;
    if (status != HAUL_OK || hint == 0 || d->met_types[i].hint == hint)
        return status;
    while (i < d->met_type_count &&
           (d->met_types[i].type != slot->target || d->met_types[i].hint != hint))
        i++;
    *number = (uint32_t)i;
    return i < d->met_type_count ? HAUL_OK : add_type(d, slot->target, hint);
}

/* ---- Pointers to short arrays of plain bytes, and to strings. */

/* Is the count a constant, or a product of fields with small factors? */
static int is_countable(const haul_count *shape, unsigned level, haul__plain_array *array)
{
    unsigned i;
    array->add = shape->kind == HAUL_COUNT_KIND_ONE ? 1 : shape->plus;
    if (shape->kind == HAUL_COUNT_KIND_PRODUCT && shape->fields > 0) {
        array->multiply = shape->times;
        array->field_count = shape->fields;
        array->needs_pointer = level == 0 && !(array->slot->flags & HAUL__SLOT_EACH);
    }
    for (i = 0; i < array->field_count; i++) {
        const haul_integer *place = &shape->field[i];
        array->field[i].offset = place->offset;
        array->field[i].width = place->bytes;
        array->field[i].bits = place->sign || place->bytes > 2 ? -1
                               : place->bytes == 2             ? 0xffff
                                                               : 0xff;
    }
    return (shape->kind == HAUL_COUNT_KIND_ONE || shape->kind == HAUL_COUNT_KIND_PRODUCT) &&
           array->multiply >= 0 && array->multiply <= HAUL__PLAIN_COUNT &&
           array->add >= -HAUL__PLAIN_COUNT && array->add <= HAUL__PLAIN_COUNT &&
           (array->field_count > 0 || array->add >= 0);
}

/* Works out the counts of one field that make a short array with at least one byte. */
static void prepare_short(haul__plain_array *array)
{
    const int64_t multiply = array->multiply, unit = array->unit, add = array->add;
    int64_t elements, least, most = HAUL__READ_FAR - 1;
    if (array->why || array->field_count != 1 || multiply < 1)
        return;
    elements = (int64_t)HAUL__PLAIN_BYTES / unit - add;
    least = add > 0 ? 0 : (multiply - add) / multiply;
    if (most > HAUL__PLAIN_COUNT / multiply)
        most = HAUL__PLAIN_COUNT / multiply;
    if (elements < 0 || least > most || least > elements / multiply)
        return;
    if (most > elements / multiply)
        most = elements / multiply;
    array->least = (uint64_t)least;
    array->span = (uint64_t)(most - least);
    array->scale = multiply * unit;
    array->shift = add * unit;
    array->width_mark = haul__read_of(0, array->field[0].width, 0);
    array->is_short = 1;
}

haul_status haul__leads_to_one(haul__discovery *d, const haul__slot *slot, unsigned level,
                               unsigned ways, uint32_t *number, int *leads)
{
    haul_status status;
    *leads = 0;
    if (haul__is_general(d) || !d->map->flat || level + 1u != slot->levels || !slot->target ||
        (slot->flags & HAUL__EXCLUDED & ~ways) || slot->shape[level].kind != HAUL_COUNT_KIND_ONE)
        return HAUL_OK;
    status = haul__met_type_by(d, slot, number);
    *leads = status == HAUL_OK && d->met_types[*number].simple.bytes != 0 && *number <= UINT16_MAX;
    return status;
}

/* Plain bytes, without holes, pointers or rules? */
static int has_type_bytes(const haul__slot *slot)
{
    const haul__walk *walk = slot->target ? haul__type_walk(slot->target) : NULL;
    return !slot->target || (walk && walk->kind == HAUL__WALK_PLAIN && !haul__is_noted(walk) &&
                             walk->extent == slot->unit && walk->placement <= HAUL__GRANULE);
}

int haul__prepare_count(const haul__slot *slot, unsigned level, haul__plain_array *array)
{
    unsigned field;
    memset(array, 0, sizeof *array);
    array->slot = slot;
    array->level = (uint8_t)level;
    array->unit = (int64_t)haul__unit_of(slot, level);
    if (!is_countable(&slot->shape[level], level, array))
        return 0;
    for (field = 0; field < array->field_count; field++)
        array->field[field].offset += slot->self;
    return 1;
}

/* Why pointers of this level cannot be followed in line, whatever they lead to. */
static haul__why why_beside(const haul__discovery *d, const haul__slot *slot)
{
    const haul_context_options *limits = &d->context->options;
    haul__slot without = *slot;
    if (haul__is_general(d) || !d->map->flat)
        return HAUL__WHY_NO_TABLE;
    if (limits->max_array_elements < HAUL__PLAIN_BYTES || limits->max_bytes < HAUL__PLAIN_BYTES)
        return HAUL__WHY_LIMITS;
    if (slot->unit == 0 || slot->unit > HAUL__PLAIN_BYTES)
        return HAUL__WHY_SIZE;
    without.flags &= (uint8_t)~haul__ways_in_line(d, slot);
    return haul__why_by_flags(&without);
}

/* Why such targets are reached one by one: they are neither plain bytes nor pointers to simple
 * objects. */
static haul__why why_by_target(const haul__slot *slot, unsigned level, const haul__walk *walk)
{
    const haul__slot *blamed;
    haul__why why;
    if (level + 1u < slot->levels)
        return HAUL__WHY_NESTED;
    why = walk ? haul__why_apart(walk, HAUL__SIMPLE_BYTES, &blamed) : HAUL__WHY_SIZE;
    if (why)
        return why;
    return slot->shape[level].kind == HAUL_COUNT_KIND_ONE ? HAUL__WHY_SIZE : HAUL__WHY_OBJECTS;
}

haul_status haul__prepare_plain_array(haul__discovery *d, const haul__slot *slot, unsigned level,
                                      haul__plain_array *array)
{
    const haul_context_options *limits = &d->context->options;
    const haul__walk *walk = slot->target ? haul__type_walk(slot->target) : NULL;
    const haul_count *shape;
    uint32_t number;
    int has_pointers = 0;
    haul_status status = HAUL_OK;
    memset(array, 0, sizeof *array);
    array->why = (uint8_t)why_beside(d, slot);
    if (array->why)
        return HAUL_OK;
    if (level + 2u == slot->levels && !d->in_order)
        status = haul__leads_to_one(d, slot, level + 1, 0, &array->target, &has_pointers);
    if (status != HAUL_OK)
        return status;
    if (!has_pointers && (level + 1u < slot->levels || !has_type_bytes(slot))) {
        array->why = (uint8_t)why_by_target(slot, level, walk);
        return HAUL_OK;
    }
    shape = &slot->shape[level];
    array->slot = slot;
    array->level = (uint8_t)level;
    array->has_pointers = (uint8_t)has_pointers;
    array->unit = (int64_t)haul__unit_of(slot, level);
    array->misaligned = has_pointers ? HAUL__WORD - 1 : walk ? walk->alignment - 1 : 0;
    array->is_string = shape->kind == HAUL_COUNT_KIND_TERMINATED && !slot->target &&
                       slot->unit == 1 && haul__narrow(shape->plus, 1) == 0 &&
                       limits->max_scan_bytes >= HAUL__PLAIN_BYTES;
    array->is_called = shape->kind == HAUL_COUNT_KIND_FUNCTION && !has_pointers;
    array->ways = (uint8_t)(slot->flags & HAUL__EXCLUDED);
    array->hint = haul__hint_for(d, slot, level + 1u == slot->levels ? slot->target : NULL);
    haul__array_demands(walk, slot->unit, &array->demands);
    if (walk && d->order_log) {
        status = haul__met_type_of(d, slot->target, &number);
        if (status != HAUL_OK)
            return status;
        array->demands.type = d->met_types[number].demands.type;
    }
    if (!array->is_string && !array->is_called && !is_countable(shape, level, array))
        array->why = (uint8_t)haul__why_uncounted(shape);
    if (array->is_called && array->ways)
        array->why = HAUL__WHY_DIRECTION;
    prepare_short(array);
    return HAUL_OK;
}

/* ---- Pointers of a type. */

/* An edge to exactly one object. Numbering its type may move all types. */
static haul_status prepare_one(haul__discovery *d, uint32_t number, size_t i)
{
    const haul__slot *slot = &d->met_types[number].walk->slots[i];
    const unsigned ways = d->in_order ? 0 : haul__ways_in_line(d, slot);
    haul__edge *edge = &d->met_types[number].edges[i];
    uint32_t target;
    edge->offset = slot->offset;
    if (!slot->target || slot->levels != 1 || (slot->flags & ~(HAUL__SLOT_EACH | ways)) ||
        slot->shape[0].kind != HAUL_COUNT_KIND_ONE)
        return HAUL_OK;
    if (haul__met_type_by(d, slot, &target) != HAUL_OK)
        return HAUL_ERROR_MEMORY;
    edge->tag = (uint64_t)target << 48;
    edge->near_starts = haul__near_for(d, &d->met_types[target]);
    edge->one = d->met_types[target].simple.bytes != 0 && target <= UINT16_MAX && d->map->flat &&
                slot->offset % HAUL__WORD == 0;
    edge->brief =
        d->met_types[target].is_brief && target <= UINT16_MAX && slot->offset % HAUL__WORD == 0;
    edge->may_stop = edge->one && d->found->elsewhere && !d->recording;
    edge->ways = edge->one || edge->brief ? ways : 0;
    edge->one &= !haul__is_general(d) && !ways;
    return HAUL_OK;
}

/* An edge to anything but one simple object. The first such edge allocates room for all. */
static haul_status prepare_array(haul__discovery *d, uint32_t number, size_t i)
{
    const haul__slot *slot = &d->met_types[number].walk->slots[i];
    haul__met_type *met;
    haul__plain_array array;
    haul_status status = HAUL_OK;
    unsigned field;
    if (d->met_types[number].edges[i].one)
        return HAUL_OK;
    if (slot->offset % HAUL__WORD == 0) {
        status = haul__prepare_plain_array(d, slot, 0, &array);
    } else {
        memset(&array, 0, sizeof array);
        array.why = HAUL__WHY_OFF_GRID;
    }
    if (status != HAUL_OK)
        return status;
    met = &d->met_types[number];
    for (field = 0; field < array.field_count; field++)
        array.field[field].offset += slot->self;
    if (!met->arrays)
        met->arrays = haul__allocate_zeroed(d->allocator, met->walk->slot_count * sizeof array);
    if (!met->arrays)
        return HAUL_ERROR_MEMORY;
    met->arrays[i] = array;
    if (!array.why && !array.is_called && !d->in_order)
        met->edges[i].array = &met->arrays[i];
    return HAUL_OK;
}

static uint32_t is_followed_short(const haul__plain_array *array)
{
    return !array->why && !array->is_called && array->is_short;
}

haul_status haul__met_type_edges(haul__discovery *d, uint32_t number)
{
    const haul__walk *walk = d->met_types[number].walk;
    haul__met_type *met;
    haul__edge *edges;
    uint32_t alike = 1;
    size_t i;
    if (d->met_types[number].edges || walk->slot_count == 0 || walk->slot_count > HAUL__EDGES ||
        walk->part_count || haul__is_ruled(walk) || walk->is_wide)
        return HAUL_OK;
    edges = haul__allocate_zeroed(d->allocator, walk->slot_count * sizeof *edges);
    if (!edges)
        return HAUL_ERROR_MEMORY;
    d->met_types[number].edges = edges;
    d->met_types[number].edge_count = (uint32_t)walk->slot_count;
    for (i = 0; i < walk->slot_count; i++)
        if (prepare_one(d, number, i) != HAUL_OK || prepare_array(d, number, i) != HAUL_OK)
            return HAUL_ERROR_MEMORY;
    met = &d->met_types[number];
    met->plain = 1;
    met->stops = 1;
    met->is_record = 1;
    for (i = 0; i < met->edge_count; i++) {
        met->plain &= edges[i].one;
        met->has_ones |= edges[i].one;
        met->stops &= edges[i].may_stop;
        met->is_record &= !edges[i].one && !edges[i].may_stop && is_followed_short(&met->arrays[i]);
        alike &= edges[i].tag == edges[0].tag;
    }
    met->plain &= !met->is_brief;
    met->uniform = met->plain && alike ? edges[0].tag : HAUL__NOT_UNIFORM;
    met->ahead = HAUL__POINTERS_AHEAD / met->edge_count;
    if (met->ahead < HAUL__AHEAD_LEAST)
        met->ahead = HAUL__AHEAD_LEAST;
    if (met->ahead > HAUL__AHEAD_MOST)
        met->ahead = HAUL__AHEAD_MOST;
    return HAUL_OK;
}

void haul__met_types_close(haul__discovery *d)
{
    size_t i;
    for (i = 0; i < d->met_type_count; i++) {
        const size_t slots = d->met_types[i].walk->slot_count;
        haul__release(d->allocator, d->met_types[i].edges, slots * sizeof(haul__edge));
        haul__release(d->allocator, d->met_types[i].arrays, slots * sizeof(haul__plain_array));
        haul__release(d->allocator, d->met_types[i].brief, d->met_types[i].brief_bytes);
    }
    haul__release(d->allocator, d->met_types, d->met_type_capacity * sizeof *d->met_types);
    haul__index_close(d->allocator, &d->met_type_index);
}
