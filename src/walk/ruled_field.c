/* The value of one ruled row: whether the row holds, where its target begins, and the target's
 * type.
 *
 * Fields that a rule reads join the read set. Each word ends as one of the outcomes in
 * ruled_field.h; `start` of a pointer or a distance is then followed.
 */
#include "walk/ruled_field.h"
#include "type/field.h"
#include "walk/callbacks.h"
#include "walk/changed.h"
#include "walk/extent.h"
#include "walk/paths.h"
#include "walk/readable.h"

static haul_status call(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                        haul__question question, uintptr_t target, int64_t *answer)
{
    const haul_field *rule = &ruled->rule->said;
    haul__asked asked;
    asked.question = question;
    asked.function = question == HAUL__ASKS_CONDITION ? rule->when.function
                     : question == HAUL__ASKS_CHOICE  ? rule->type_switch.function
                                                      : rule->base_fn;
    asked.slot = &ruled->slot;
    asked.here.self = (const void *)o->self;
    asked.here.target = (const void *)target;
    asked.here.index = o->index + (haul__is_end(ruled) ? 0 : ruled->slot.index);
    asked.here.place = (const void *)(o->address + ruled->slot.offset);
    asked.nearest = haul__nearest_of(d, o, ruled->rule);
    asked.by_rule = 0;
    return haul__call_back(d, &asked, o->mode, answer);
}

/* ---- Conditions. */

/* Adds a field to the read set. */
static haul_status note_field(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                              uintptr_t base, const haul_integer *field)
{
    uintptr_t at = base + field->offset;
    if (o->mode & HAUL__DRY)
        return HAUL_OK;
    if (d->sought.count == at)
        return haul__refuse(d, HAUL_ERROR_STALE, &ruled->slot,
                            "an integer that this field reads has changed");
    return haul__note_read(d, at, field->bytes, haul__read_stored((const void *)base, field));
}

/* Does a field of the struct at offset `self` reach behind the object's first `bytes` bytes? */
static int lies_beyond(size_t self, const haul_integer *field, size_t bytes)
{
    return self > bytes || field->bytes > bytes - self ||
           field->offset > bytes - self - field->bytes;
}

static int reads_beyond(const haul_count *count, size_t self, size_t bytes)
{
    unsigned i;
    for (i = 0; i < count->fields; i++)
        if (lies_beyond(self, &count->field[i], bytes))
            return 1;
    return 0;
}

int haul__counts_beyond(const haul__slot *slot, size_t bytes)
{
    unsigned level;
    for (level = 0; slot->shape && level < slot->levels; level++)
        if (reads_beyond(&slot->shape[level], slot->self, bytes))
            return 1;
    return 0;
}

int haul__reads_beyond(const haul__ruled *ruled, size_t bytes)
{
    const haul_field *rule = ruled->rule ? &ruled->rule->said : NULL;
    size_t i;
    if (rule &&
        (rule->when.kind == HAUL_WHEN_KIND_FIELD || rule->when.kind == HAUL_WHEN_KIND_NOT) &&
        lies_beyond(0, &rule->when.field, bytes))
        return 1;
    if (rule && rule->type_switch.kind == HAUL_SWITCH_KIND_SELF &&
        lies_beyond(0, &rule->type_switch.field, bytes))
        return 1;
    for (i = 0; rule && i < rule->section.rank; i++)
        if (reads_beyond(&rule->section.dimensions[i].extent, 0, bytes) ||
            reads_beyond(&rule->section.dimensions[i].stride, 0, bytes))
            return 1;
    return haul__counts_beyond(&ruled->slot, bytes);
}

haul_status haul__ask(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                      int *holds)
{
    const haul_when *when = ruled->rule ? &ruled->rule->said.when : NULL;
    haul_status status = HAUL_OK;
    *holds = 1;
    if (!when || when->kind == HAUL_WHEN_KIND_ALWAYS)
        return HAUL_OK;
    if (when->kind == HAUL_WHEN_KIND_FUNCTION) {
        uintptr_t target = 0;
        int64_t answer = 0;
        if (ruled->kind == HAUL__RULED_POINTER && ruled->bytes == HAUL__WORD &&
            ruled->slot.offset + HAUL__WORD <= o->bytes)
            target = haul__load_word((const void *)(o->address + ruled->slot.offset)) &
                     ~ruled->rule->said.tag_bits;
        status = call(d, o, ruled, HAUL__ASKS_CONDITION, target, &answer);
        *holds = answer != 0;
        return status;
    }
    status = haul__check_integer(d, &ruled->slot, o->self, &when->field);
    if (status != HAUL_OK)
        return status;
    *holds = haul__when_holds(when, (const void *)o->self);
    return note_field(d, o, ruled, o->self, &when->field);
}

/* ---- The type and the begin of a target. */

/* A value of 2^63 or more becomes negative: cases are compared bit by bit. */
static int64_t read_bits(uintptr_t base, const haul_integer *field)
{
    int64_t value = 0;
    return haul__read_field((const void *)base, field, &value)
               ? value
               : haul__read_stored((const void *)base, field);
}

static haul_status read_tag(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                            uintptr_t start, int64_t *value)
{
    const haul_integer *field = &ruled->rule->said.type_switch.field;
    size_t room = field->offset > HAUL__HIGHEST ? 0 : HAUL__HIGHEST - field->offset;
    haul_status status;
    if (start < HAUL__LOWEST || start > room || room - start < field->bytes)
        return haul__refuse_outside(d, &ruled->slot, start);
    status = haul__check_integer(d, &ruled->slot, start, field);
    if (status != HAUL_OK)
        return status;
    if (!haul__is_readable(d, start + field->offset, field->bytes))
        return haul__refuse(d, HAUL_ERROR_GRAPH, &ruled->slot,
                            "the tag of what it leads to is not readable");
    *value = read_bits(start, field);
    return note_field(d, o, ruled, start, field);
}

static haul_status choose(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                          haul__field_value *w)
{
    const haul_switch *choice = &ruled->rule->said.type_switch;
    int64_t value = 0;
    size_t i;
    haul_status status;
    switch (choice->kind) {
    case HAUL_SWITCH_KIND_NONE:
        return HAUL_OK;
    case HAUL_SWITCH_KIND_SELF:
        status = haul__check_integer(d, &ruled->slot, o->self, &choice->field);
        if (status != HAUL_OK)
            return status;
        value = read_bits(o->self, &choice->field);
        status = note_field(d, o, ruled, o->self, &choice->field);
        break;
    case HAUL_SWITCH_KIND_TARGET:
        status = read_tag(d, o, ruled, w->start, &value);
        break;
    default:
        status = call(d, o, ruled, HAUL__ASKS_CHOICE, w->start, &value);
    }
    if (status != HAUL_OK)
        return status;
    for (i = 0; i < choice->case_count; i++)
        if (((choice->cases[i].value ^ value) & ruled->rule->mask) == 0) {
            w->slot = &ruled->cases[i];
            w->start += (uintptr_t)choice->cases[i].base;
            return HAUL_OK;
        }
    return haul__refuse(d, HAUL_ERROR_GRAPH, &ruled->slot,
                        "its `.type_switch` has no case for %lld", (long long)value);
}

/* A start of 0 is refused: the word is not null, and the walk follows no null. */
static haul_status find_start(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                              haul__field_value *w)
{
    const haul_field *rule = &ruled->rule->said;
    haul_status status;
    w->start = w->address + (uintptr_t)rule->base;
    if (rule->base_fn) {
        int64_t answer = 0;
        status = call(d, o, ruled, HAUL__ASKS_BASE, w->address, &answer);
        if (status != HAUL_OK)
            return status;
        if (answer == INT64_MIN)
            return haul__refuse(d, HAUL_ERROR_GRAPH, &ruled->slot,
                                "the callback of its base refuses it");
        w->start += (uintptr_t)answer;
    }
    status = choose(d, o, ruled, w);
    return status == HAUL_OK && w->start == 0 ? haul__refuse_outside(d, &ruled->slot, 0) : status;
}

/* ---- Words. */

static void become_fixed(haul__field_value *w, uint64_t becomes)
{
    w->what = HAUL__IS_FIXED;
    w->fixed = HAUL__FIXED;
    w->becomes = becomes;
    w->start = 0;
}

haul__pointer haul__ruled_pointer(const haul__discovery *d, const haul__object *o,
                                  const haul__ruled *ruled, const haul__field_value *w)
{
    haul__pointer p;
    p.slot = w->slot;
    p.level = 0;
    p.place = w->at;
    p.value = w->start;
    p.self = o->self;
    p.index = o->index + ruled->slot.index;
    p.line = 0;
    p.by_rule = 1;
    p.nearest = haul__nearest_of(d, o, ruled->rule);
    p.ancestor = o->ancestor;
    return p;
}

/* *bytes: the number of bytes from `start` on that certainly belong to the target. A pointer to one
 * of them can be translated as it is. */
static haul_status sure_bytes(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                              const haul__field_value *w, size_t *bytes)
{
    const haul__walk *walk = w->slot->target ? haul__type_walk(w->slot->target) : NULL;
    haul__pointer p;
    size_t count = 0;
    haul_status status;
    *bytes = 0;
    if (walk && haul__is_sized(walk))
        return HAUL_OK;
    if (w->slot->shape[0].kind == HAUL_COUNT_KIND_TERMINATED) {
        *bytes = w->slot->unit; /* the terminator */
        return HAUL_OK;
    }
    p = haul__ruled_pointer(d, o, ruled, w);
    status = haul__count_of(d, &p, HAUL__DRY, &count);
    if (status != HAUL_OK || haul__multiply_overflows(count, w->slot->unit, bytes))
        *bytes = 0;
    return status;
}

static size_t distance(uintptr_t a, uintptr_t b)
{
    return a > b ? a - b : b - a;
}

static haul_status check_distance(haul__discovery *d, const haul__field_value *w, size_t bytes)
{
    if (bytes <= HAUL_OUTSIDE_MAX)
        return HAUL_OK;
    return haul__refuse(d, HAUL_ERROR_LIMIT, w->slot,
                        "it points more than %zu bytes outside of its target", HAUL_OUTSIDE_MAX);
}

/* An aligned word becomes a slot if it is the address of a byte of its target, plus tags below the
 * size of a granule; any other word becomes an explicit relocation. */
static haul_status settle_pointer(haul__discovery *d, const haul__object *o,
                                  const haul__ruled *ruled, haul__field_value *w)
{
    const int is_small = w->value - w->address < HAUL__GRANULE; /* the tag */
    size_t bytes = 0;
    haul_status status = HAUL_OK;
    if (w->address > w->start)
        status = sure_bytes(d, o, ruled, w, &bytes);
    w->is_inside = is_small && (w->address == w->start || w->address - w->start < bytes);
    w->what =
        w->is_inside && (w->at & (HAUL__WORD - 1)) == 0 ? HAUL__IS_POINTER : HAUL__IS_EXPLICIT;
    if (status != HAUL_OK || w->what == HAUL__IS_POINTER)
        return status;
    if (w->start < HAUL__LOWEST || w->start > HAUL__HIGHEST)
        return haul__refuse_outside(d, w->slot, w->start);
    return check_distance(d, w, distance(w->value, w->start));
}

static haul_status read_distance(haul__discovery *d, const haul__object *o,
                                 const haul__ruled *ruled, haul__field_value *w)
{
    haul_integer field;
    int64_t distance;
    haul_status status;
    field.offset = 0;
    field.bytes = w->bytes;
    field.sign = 1;
    distance = haul__read_stored((const void *)w->at, &field);
    become_fixed(w, 0);
    if (distance == 0)
        return HAUL_OK;
    w->fixed = HAUL__DISTANCE;
    w->waits = ruled->rule->said.ownership == HAUL_UNLESS_OWNED;
    w->address = w->at + (uintptr_t)distance;
    status = find_start(d, o, ruled, w);
    w->becomes = w->start;
    return status;
}

/* Does the rule have tag bits above those that an alignment leaves free? */
static int is_high(const haul_field *rule)
{
    return rule->tag_bits >= HAUL_ALIGNMENT_MAX;
}

static haul_status settle_tagged(haul__discovery *d, haul__field_value *w)
{
    w->what = HAUL__IS_TAGGED;
    return check_distance(d, w, distance(w->address, w->start));
}

/* Reads a word of an owning or aliasing mode; it is not null. */
static haul_status read_address(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                                haul__field_value *w)
{
    const haul_field *rule = &ruled->rule->said;
    const haul_context *context = d->context;
    const haul__static *range = NULL;
    haul_status status = HAUL_OK;
    size_t i;
    w->address = w->start = w->value & ~rule->tag_bits;
    w->may_be_static = rule->maybe_static != 0;
    w->is_alias = rule->ownership == HAUL_BORROWED;
    w->waits = rule->ownership == HAUL_UNLESS_OWNED;
    if (w->address == 0 && is_high(rule))
        return settle_tagged(d, w);
    for (i = 0; w->may_be_static && i < context->static_count && !range; i++)
        if (w->address - context->statics[i].address <= context->statics[i].bytes)
            range = &context->statics[i];
    if (w->address == 0 || (range && range->policy != HAUL_STATIC_COPY)) {
        become_fixed(w, range && range->policy == HAUL_STATIC_NULL ? 0 : w->value);
        return HAUL_OK;
    }
    if (range)
        w->is_alias = w->waits = 0;
    if (!w->is_alias)
        status = find_start(d, o, ruled, w);
    if (status != HAUL_OK)
        return status;
    return is_high(rule) ? settle_tagged(d, w) : settle_pointer(d, o, ruled, w);
}

/* `address` and `start` of a limit are begin and end of its array. Its own value does not matter. A
 * count that is wrong is left for the visit of the array. */
static haul_status read_limit(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                              haul__field_value *w)
{
    haul__pointer p;
    size_t count = 0, bytes = 0;
    haul_status status;
    w->what = HAUL__IS_EXPLICIT;
    w->start = w->address = haul__load_word((const void *)(o->address + ruled->slot.index));
    p = haul__ruled_pointer(d, o, ruled, w);
    p.place = o->address + ruled->slot.index;
    p.index = o->index;
    status = haul__count_of(d, &p, HAUL__DRY, &count);
    if (status == HAUL_OK &&
        !haul__multiply_overflows(count, haul__unit_of(&ruled->slot, 0), &bytes))
        w->start += bytes;
    return status == HAUL_ERROR_MEMORY ? status : HAUL_OK;
}

haul_status haul__read_word(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                            haul__field_value *w)
{
    const haul_field *rule = &ruled->rule->said;
    size_t i;
    w->fixed = w->is_alias = w->may_be_static = w->waits = w->is_inside = 0;
    w->becomes = 0;
    w->slot = &ruled->slot;
    w->at = o->address + ruled->slot.offset;
    w->bytes = (uint8_t)ruled->bytes;
    if (rule->kind == HAUL_FIELD_RELATIVE)
        return read_distance(d, o, ruled, w);
    w->value = w->address = w->start = haul__load_word((const void *)(w->at));
    if (haul__is_limit(ruled->rule))
        return read_limit(d, o, ruled, w);
    if (rule->ownership == HAUL_EXTERNAL) {
        become_fixed(w, w->value);
        for (i = 0; i < d->context->translation_count; i++)
            if (d->context->translations[i].host == w->value) {
                w->becomes = d->context->translations[i].copy;
                break;
            }
        return HAUL_OK;
    }
    if (w->value == 0 || haul__is_end(ruled)) {
        w->start = haul__is_end(ruled) ? 0 : w->start;
        w->what = (w->at & (HAUL__WORD - 1)) == 0 ? HAUL__IS_POINTER : HAUL__IS_EXPLICIT;
        if (is_high(rule))
            w->what = HAUL__IS_TAGGED;
        return HAUL_OK;
    }
    if (w->value < rule->integers_below ||
        (rule->integers_from && w->value >= rule->integers_from)) {
        become_fixed(w, w->value);
        return HAUL_OK;
    }
    return read_address(d, o, ruled, w);
}
