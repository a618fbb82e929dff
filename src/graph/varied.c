/* Objects whose description depends on them: rows with rules, tails, sizes of their own.
 *
 * Each such object is asked twice. When a pointer leads to it, all that matters is which of its words are pointers
 * now, for the marks; nothing is noted, and what is wrong is left for later. When it is visited, its rows are asked
 * again, what they read is noted for later packs, what they lead to is followed, and what is wrong gets its path. An
 * object changes hands between the two only if its memory does, and then some pack will say so.
 *
 * A ruled word ends in one of five ways:
 *
 *   pointer   a slot as any other: from here on it takes the fast way
 *   odd       a pointer whose bits are not the address of a described byte (odd.c)
 *   kept      a word that becomes something that is known on the host
 *   raw       bytes
 *   left      nothing: a hole in the object, zero in the copy
 *
 * Objects without rules never come here.
 */
#include "graph/discovery.h"

typedef enum outcome { LEFT, RAW, POINTER, ODD, KEPT } outcome;

typedef struct word {
    outcome what;
    const haul__slot *slot;   /* with the type that was chosen */
    uintptr_t at, value;      /* where it stands, what it is */
    uintptr_t address, start; /* without tag bits; where the block begins: 0: nowhere to go */
    uint64_t becomes;
    uint8_t kept, bytes; /* kind and width of a kept word */
    uint8_t is_alias, may_be_static;
} word;

static int is_end(const haul__ruled *ruled)
{
    return ruled->kind == HAUL__RULED_POINTER && (ruled->slot.flags & HAUL__SLOT_END);
}

static haul_here here_of(uintptr_t element, const haul__ruled *ruled, uintptr_t target)
{
    haul_here here;
    memset(&here, 0, sizeof here);
    here.self = (const void *)element;
    here.target = (const void *)target;
    here.index = ruled->slot.index;
    here.place = (const void *)(element + ruled->slot.offset);
    return here;
}

static uintptr_t load_word(uintptr_t address)
{
    uintptr_t value;
    memcpy(&value, (const void *)address, sizeof value);
    return value;
}

/* ---- Conditions. */

/* Reads a field, and notes it. */
static haul_status note_field(haul__discovery *d, const haul__slot *slot, uintptr_t base,
                              const haul_field_place *field)
{
    uintptr_t at = base + field->offset;
    if (d->sought.count == at && !d->silent)
        return haul__refuse(d, HAUL_ERROR_STALE, slot, "a field that its rule reads has changed");
    return haul__note_guard(d, at, field->bytes, haul__read_stored((const void *)base, field));
}

static int lies_beyond(const haul_field_place *field, size_t bytes)
{
    return field->bytes > bytes || field->offset > bytes - field->bytes;
}

/* Does a slot of an object of so many bytes read fields that it does not have? */
static int counts_beyond(const haul__slot *slot, size_t bytes)
{
    unsigned level, i;
    for (level = 0; slot->shape && slot->self == 0 && level < slot->levels; level++)
        for (i = 0; i < slot->shape[level].field_count; i++)
            if (lies_beyond(&slot->shape[level].field[i], bytes))
                return 1;
    return 0;
}

static int reads_beyond(const haul__ruled *ruled, size_t bytes)
{
    const haul_rule *rule = ruled->rule ? &ruled->rule->said : NULL;
    if (rule && (rule->when.kind == HAUL_WHEN_FIELD || rule->when.kind == HAUL_WHEN_NOT) &&
        lies_beyond(&rule->when.field, bytes))
        return 1;
    if (rule && rule->choice.kind == HAUL_CHOICE_SELF && lies_beyond(&rule->choice.field, bytes))
        return 1;
    return counts_beyond(&ruled->slot, bytes);
}

/* Does the row of an object of so many bytes hold? */
static haul_status ask(haul__discovery *d, uintptr_t element, size_t bytes, const haul__ruled *ruled, int *holds)
{
    const haul_when *when = ruled->rule ? &ruled->rule->said.when : NULL;
    haul_status status = HAUL_OK;
    *holds = 1;
    if (!when || when->kind == HAUL_WHEN_ALWAYS)
        return HAUL_OK;
    if (when->kind == HAUL_WHEN_FUNCTION) {
        uintptr_t target = 0;
        haul_here here;
        int64_t answer = 0;
        if (ruled->kind == HAUL__RULED_POINTER && ruled->bytes == HAUL__WORD &&
            ruled->slot.offset + HAUL__WORD <= bytes)
            target = load_word(element + ruled->slot.offset) & ~ruled->rule->said.tag_bits;
        here = here_of(element, ruled, target);
        status = haul__call_back(d, &ruled->slot, when->function, &here, "condition", &answer);
        *holds = answer != 0;
        return status;
    }
    *holds = haul__when_holds(when, (const void *)element);
    return note_field(d, &ruled->slot, element, &when->field);
}

/* ---- Which type, and where the block begins. */

static haul_status read_tag(haul__discovery *d, const haul__ruled *ruled, uintptr_t start, int64_t *value)
{
    const haul_field_place *field = &ruled->rule->said.choice.field;
    size_t room = field->offset > HAUL__HIGHEST ? 0 : HAUL__HIGHEST - field->offset;
    if (start < HAUL__LOWEST || start > room || room - start < field->bytes)
        return haul__refuse(d, HAUL_ERROR_GRAPH, &ruled->slot, "it points outside any process's address range");
    if (haul__known_bytes(d, start + field->offset, field->bytes, 0) < field->bytes ||
        !haul__is_readable(d, start + field->offset, field->bytes))
        return haul__refuse(d, HAUL_ERROR_GRAPH, &ruled->slot, "the tag of what it leads to is not readable");
    haul__read_field((const void *)start, field, value);
    return note_field(d, &ruled->slot, start, field);
}

static haul_status read_choice(haul__discovery *d, uintptr_t element, const haul__ruled *ruled, uintptr_t start,
                               int64_t *value)
{
    const haul_choice *choice = &ruled->rule->said.choice;
    haul_here here;
    *value = 0;
    switch (choice->kind) {
    case HAUL_CHOICE_SELF:
        haul__read_field((const void *)element, &choice->field, value);
        return note_field(d, &ruled->slot, element, &choice->field);
    case HAUL_CHOICE_TARGET:
        return read_tag(d, ruled, start, value);
    default:
        here = here_of(element, ruled, start);
        return haul__call_back(d, &ruled->slot, choice->function, &here, "choice of type", value);
    }
}

static haul_status choose(haul__discovery *d, uintptr_t element, const haul__ruled *ruled, word *w)
{
    const haul_choice *choice = &ruled->rule->said.choice;
    int64_t value;
    size_t i;
    haul_status status;
    if (choice->kind == HAUL_CHOICE_NONE)
        return HAUL_OK;
    status = read_choice(d, element, ruled, w->start, &value);
    if (status != HAUL_OK)
        return status;
    for (i = 0; i < choice->case_count; i++)
        if (((choice->cases[i].value ^ value) & choice->mask) == 0) {
            w->slot = &ruled->cases[i];
            w->start += (uintptr_t)choice->cases[i].base;
            return HAUL_OK;
        }
    return haul__refuse(d, HAUL_ERROR_GRAPH, &ruled->slot, "no case of its rule is for %lld", (long long)value);
}

static haul_status find_start(haul__discovery *d, uintptr_t element, const haul__ruled *ruled, word *w)
{
    const haul_rule *rule = &ruled->rule->said;
    w->start = w->address + (uintptr_t)rule->base;
    if (rule->base_function) {
        haul_here here = here_of(element, ruled, w->address);
        int64_t answer = 0;
        haul_status status = haul__call_back(d, &ruled->slot, rule->base_function, &here, "base", &answer);
        if (status != HAUL_OK)
            return status;
        if (answer == INT64_MIN)
            return haul__refuse(d, HAUL_ERROR_GRAPH, &ruled->slot, "the callback of its base refuses it");
        w->start += (uintptr_t)answer;
    }
    return choose(d, element, ruled, w);
}

/* ---- What a word is. */

static void keep(word *w, uint64_t becomes)
{
    w->what = KEPT;
    w->kept = HAUL__KEPT_WORD;
    w->becomes = becomes;
    w->start = 0;
}

static const haul_static *find_static(const haul__discovery *d, uintptr_t address)
{
    const haul_context_options *options = &d->context->options;
    size_t i;
    for (i = 0; i < options->static_count; i++)
        if (address - (uintptr_t)options->statics[i].address <= options->statics[i].bytes)
            return &options->statics[i];
    return NULL;
}

static uintptr_t translation(const haul__discovery *d, uintptr_t value)
{
    const haul_context_options *options = &d->context->options;
    size_t i;
    for (i = 0; i < options->translation_count; i++)
        if (options->translations[i].host == value)
            return options->translations[i].copy;
    return value;
}

/* Bytes from `start` on that belong to the block for certain: a pointer to one of them can be translated as it is. */
static haul_status sure_bytes(haul__discovery *d, uintptr_t element, const word *w, size_t *bytes)
{
    const haul__walk *walk = w->slot->target ? haul__type_walk(w->slot->target) : NULL;
    size_t count = 0;
    haul_status status;
    *bytes = 0;
    if (walk && walk->is_sized)
        return HAUL_OK;
    if (w->slot->shape[0].kind == HAUL_SHAPE_SENTINEL) {
        *bytes = w->slot->unit; /* the terminator's */
        return HAUL_OK;
    }
    d->silent++;
    status = haul__count_of(d, w->slot, 0, w->at, w->start, element, w->slot->index, &count);
    d->silent--;
    if (status != HAUL_OK || haul__multiply_overflows(count, w->slot->unit, bytes))
        *bytes = 0;
    return status;
}

/* Is the word itself the address of a byte of what it leads to, or of its neighbour in the same granule? */
static haul_status settle_pointer(haul__discovery *d, uintptr_t element, word *w)
{
    uintptr_t tag = w->value - w->address;
    size_t bytes = 0;
    haul_status status = HAUL_OK;
    int inside = w->address == w->start;
    if (!inside && w->address > w->start) {
        status = sure_bytes(d, element, w, &bytes);
        inside = w->address - w->start < bytes;
    }
    w->what = inside && tag < HAUL__GRANULE && (w->at & (HAUL__WORD - 1)) == 0 ? POINTER : ODD;
    if (status == HAUL_OK && w->what == ODD && (w->start < HAUL__LOWEST || w->start > HAUL__HIGHEST))
        return haul__refuse(d, HAUL_ERROR_GRAPH, w->slot, "it points outside any process's address range");
    if (status == HAUL_OK && w->what == ODD &&
        (w->value > w->start ? w->value - w->start : w->start - w->value) > HAUL_OUTSIDE_MAX)
        return haul__refuse(d, HAUL_ERROR_LIMIT, w->slot, "it lies more than %zu bytes outside of its block",
                            HAUL_OUTSIDE_MAX);
    return status;
}

static haul_status read_distance(haul__discovery *d, uintptr_t element, const haul__ruled *ruled, word *w)
{
    haul_field_place field;
    int64_t distance;
    haul_status status;
    field.offset = 0;
    field.bytes = w->bytes;
    field.is_signed = 1;
    distance = haul__read_stored((const void *)w->at, &field);
    keep(w, 0);
    if (distance == 0)
        return HAUL_OK;
    w->kept = HAUL__KEPT_DISTANCE;
    w->address = w->at + (uintptr_t)distance;
    status = find_start(d, element, ruled, w);
    w->becomes = w->start;
    return status;
}

/* A word of a followed mode that is no null pointer. */
static haul_status read_address(haul__discovery *d, uintptr_t element, const haul__ruled *ruled, word *w)
{
    const haul_rule *rule = &ruled->rule->said;
    const haul_static *range = NULL;
    haul_status status = HAUL_OK;
    w->address = w->start = w->value & ~rule->tag_bits;
    w->may_be_static = rule->mode == HAUL_MODE_OWN_OR_STATIC || rule->mode == HAUL_MODE_ALIAS_OR_STATIC;
    w->is_alias = rule->mode == HAUL_MODE_ALIAS || rule->mode == HAUL_MODE_ALIAS_OR_STATIC;
    if (w->may_be_static)
        range = find_static(d, w->address);
    if (w->address == 0 || (range && range->policy != HAUL_STATIC_COPY)) {
        keep(w, range && range->policy == HAUL_STATIC_NULL ? 0 : w->value);
        return HAUL_OK;
    }
    if (range)
        w->is_alias = 0;
    if (!w->is_alias)
        status = find_start(d, element, ruled, w);
    return status == HAUL_OK ? settle_pointer(d, element, w) : status;
}

/* What the word of a row that holds is. */
static haul_status read_word(haul__discovery *d, uintptr_t element, const haul__ruled *ruled, word *w)
{
    const haul_rule *rule = &ruled->rule->said;
    memset(w, 0, sizeof *w);
    w->slot = &ruled->slot;
    w->at = element + ruled->slot.offset;
    w->bytes = (uint8_t)ruled->bytes;
    if (rule->mode == HAUL_MODE_OPAQUE || rule->mode == HAUL_MODE_NULL) {
        w->what = rule->mode == HAUL_MODE_OPAQUE ? RAW : LEFT;
        return HAUL_OK;
    }
    if (rule->addressing == HAUL_RELATIVE)
        return read_distance(d, element, ruled, w);
    w->value = w->address = w->start = load_word(w->at);
    if (rule->mode == HAUL_MODE_EXTERNAL) {
        keep(w, translation(d, w->value));
        return HAUL_OK;
    }
    if (w->value == 0 || is_end(ruled)) {
        w->start = is_end(ruled) ? 0 : w->start;
        w->what = (w->at & (HAUL__WORD - 1)) == 0 ? POINTER : ODD;
        return HAUL_OK;
    }
    if (w->value < rule->integer_below || (rule->integer_from && w->value >= rule->integer_from)) {
        keep(w, w->value);
        return HAUL_OK;
    }
    return read_address(d, element, ruled, w);
}

/* ---- Claims: which rows hold, and that they do not overlap. Rows come in order of their offsets, and claims do not
 * overlap: the last claim reaches furthest. */

/* 0: it overlaps the last claim, which then stays. */
static int claim(haul__claim *last, const haul__ruled *ruled, size_t end)
{
    if (last->slot && last->end > ruled->slot.offset && end > ruled->slot.offset)
        return 0;
    last->offset = ruled->slot.offset;
    last->end = end;
    last->slot = &ruled->slot;
    return 1;
}

/* The end of a pair may be a pointer that another row describes. */
static int is_described_end(const haul__claim *last, const haul__ruled *ruled)
{
    return last->slot && is_end(ruled) && last->offset == ruled->slot.offset &&
           last->end == ruled->slot.offset + ruled->bytes;
}

/* ---- Marking. */

typedef struct marking {
    haul__discovery *d;
    const haul__entry *entry;
    uintptr_t element;
    size_t bytes, covered; /* the object's; those that are marked, or will be by what lies in it */
    haul__marked *marked;
    int *must_visit;
} marking;

static haul_status mark_bytes(marking *m, size_t offset, size_t end, int is_slot)
{
    haul__pattern pattern;
    memset(&pattern, 0, sizeof pattern);
    pattern.kind = is_slot ? HAUL__ALL_SLOTS : HAUL__NO_SLOTS;
    m->covered += end - offset;
    return offset == end
               ? HAUL_OK
               : haul__mark_range(m->d, m->entry->slot, m->element + offset, m->element + end, &pattern, m->marked);
}

#define EXCEPTION ((size_t)17) /* no size that other memos have */

/* Each exception is noted once, whatever marked its bytes before. */
static haul_status note_exception(marking *m, const word *w)
{
    haul__found *found = m->d->found;
    haul__kept kept;
    haul_status status;
    if (haul__memo_has(m->d, w->at, EXCEPTION, NULL))
        return HAUL_OK;
    *m->must_visit = 1;
    status = haul__memo_add(m->d, w->at, EXCEPTION, NULL);
    if (status != HAUL_OK)
        return status;
    if (w->what == ODD) {
        size_t before = w->start > w->value ? w->start - w->value : 0,
               behind = w->value > w->start ? w->value - w->start : 0;
        if (w->start && before > found->room_before)
            found->room_before = before;
        if (w->start && behind > found->room_behind)
            found->room_behind = behind;
        return haul__note_odd(m->d, w->at, w->value, w->start ? w->start - w->value : 0);
    }
    memset(&kept, 0, sizeof kept);
    kept.address = w->at;
    memcpy(&kept.value, (const void *)w->at, w->bytes);
    kept.becomes = w->becomes;
    kept.bytes = w->bytes;
    kept.kind = w->kept;
    return haul__note_kept(m->d, &kept);
}

static haul_status mark_word(marking *m, const haul__ruled *ruled)
{
    size_t end = ruled->slot.offset + ruled->bytes;
    word w;
    haul_status status = read_word(m->d, m->element, ruled, &w);
    if (status != HAUL_OK || w.what == LEFT)
        return status;
    status = mark_bytes(m, ruled->slot.offset, end, w.what == POINTER);
    return status == HAUL_OK && (w.what == ODD || w.what == KEPT) ? note_exception(m, &w) : status;
}

static haul_status mark_claimed(marking *m, const haul__ruled *ruled)
{
    size_t end = ruled->slot.offset + ruled->bytes;
    haul_status status = haul__bar_ruled(m->d, m->element, ruled, m->bytes);
    if (status != HAUL_OK)
        return status;
    switch (ruled->kind) {
    case HAUL__RULED_POINTER:
        return mark_word(m, ruled);
    case HAUL__RULED_DATA:
        return mark_bytes(m, ruled->slot.offset, end, 0);
    case HAUL__RULED_TAIL:
        if (!ruled->slot.target && m->bytes > ruled->slot.offset)
            return mark_bytes(m, ruled->slot.offset, m->bytes, 0);
        end = m->bytes;
        break;
    case HAUL__RULED_PART:
        break;
    }
    m->covered += end - ruled->slot.offset;
    return HAUL_OK;
}

static haul_status open_claims(haul__discovery *d, const haul__walk *walk)
{
    void *claims = d->claims;
    d->claim_count = 0;
    if (!haul__grow(d->allocator, &claims, &d->claim_capacity, walk->ruled_count, sizeof *d->claims))
        return HAUL_ERROR_MEMORY;
    d->claims = claims;
    return HAUL_OK;
}

/* Rows that hold. What is wrong is told when the object is visited. */
static haul_status mark_holding(marking *m, const haul__walk *walk)
{
    haul__claim last = { 0, 0, NULL };
    size_t i;
    for (i = 0; i < walk->ruled_count; i++) {
        const haul__ruled *ruled = &walk->ruled[i];
        size_t end = ruled->kind == HAUL__RULED_TAIL ? m->bytes : ruled->slot.offset + ruled->bytes;
        haul_status status;
        int holds = 0;
        if (end > m->bytes || ruled->slot.offset > m->bytes)
            continue;
        if (walk->size && reads_beyond(ruled, m->bytes)) {
            *m->must_visit = 1;
            continue;
        }
        status = ask(m->d, m->element, m->bytes, ruled, &holds);
        if (status == HAUL_OK && holds && !is_described_end(&last, ruled)) {
            if (claim(&last, ruled, end)) {
                m->d->claims[m->d->claim_count++] = last;
                status = mark_claimed(m, ruled);
            } else {
                *m->must_visit = 1;
            }
        }
        if (status == HAUL_ERROR_MEMORY || (status != HAUL_OK && m->marked->conflict))
            return status;
        if (status != HAUL_OK)
            *m->must_visit = 1;
    }
    return HAUL_OK;
}

/* The bytes of a row that does not hold, as far as the object has them, but for those that others claim. `next`: the
 * first claim that may reach it. */
static haul_status mark_unclaimed(marking *m, const haul__ruled *ruled, size_t next)
{
    size_t at = ruled->slot.offset, end = at + ruled->bytes < m->bytes ? at + ruled->bytes : m->bytes;
    haul_status status = HAUL_OK;
    for (; next < m->d->claim_count && m->d->claims[next].offset < end && status == HAUL_OK; next++) {
        if (m->d->claims[next].offset > at)
            status = mark_bytes(m, at, m->d->claims[next].offset, 0);
        if (m->d->claims[next].end > at)
            at = m->d->claims[next].end;
    }
    return status == HAUL_OK && at < end ? mark_bytes(m, at, end, 0) : status;
}

static haul_status mark_raw(marking *m, const haul__walk *walk)
{
    haul_status status = HAUL_OK;
    size_t i, next = 0;
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++) {
        const haul__ruled *ruled = &walk->ruled[i];
        int holds = 1;
        if (!ruled->rule || ruled->rule->said.otherwise != HAUL_ELSE_RAW || ruled->slot.offset >= m->bytes ||
            (walk->size && reads_beyond(ruled, m->bytes)))
            continue;
        if (ask(m->d, m->element, m->bytes, ruled, &holds) != HAUL_OK)
            *m->must_visit = 1;
        while (next < m->d->claim_count && m->d->claims[next].end <= ruled->slot.offset)
            next++;
        if (!holds)
            status = mark_unclaimed(m, ruled, next);
    }
    return status;
}

static haul_status mark_all(marking *m, const haul__walk *walk)
{
    size_t i;
    haul_status status = haul__mark_element(m->d, m->entry->slot, walk, m->element, m->bytes, m->marked);
    for (i = 0; i < walk->run_count && walk->runs[i].offset < m->bytes; i++) {
        size_t left = m->bytes - walk->runs[i].offset;
        m->covered += walk->runs[i].bytes < left ? walk->runs[i].bytes : left;
    }
    if (status == HAUL_OK && walk->size && m->bytes > walk->extent)
        status = mark_bytes(m, walk->extent, m->bytes, 0);
    if (status == HAUL_OK)
        status = mark_holding(m, walk);
    return status == HAUL_OK ? mark_raw(m, walk) : status;
}

haul_status haul__mark_varied(haul__discovery *d, const haul__entry *entry, const haul__walk *walk, size_t bytes,
                              haul__marked *marked, int *must_visit)
{
    haul_status status = open_claims(d, walk);
    marking m;
    m.d = d;
    m.entry = entry;
    m.element = entry->address;
    m.bytes = bytes;
    m.covered = 0;
    m.marked = marked;
    m.must_visit = must_visit;
    d->silent++;
    if (status == HAUL_OK)
        status = mark_all(&m, walk);
    d->silent--;
    if (status == HAUL_OK && m.covered != bytes && !haul__mark_hole(d->map, m.element, m.element + bytes))
        status = HAUL_ERROR_MEMORY;
    return status;
}

/* ---- Sizes. */

haul_status haul__size_of(haul__discovery *d, uintptr_t element, const haul__walk *walk, const haul__slot *slot,
                          size_t *bytes)
{
    const haul__ruled *tail = walk->ruled_count > 0 ? &walk->ruled[walk->ruled_count - 1] : NULL;
    haul_here here;
    haul_status status;
    size_t count = 0;
    *bytes = walk->extent;
    if (walk->size) {
        int64_t answer = 0;
        memset(&here, 0, sizeof here);
        here.self = here.target = (const void *)element;
        status = haul__call_back(d, slot, walk->size, &here, "size", &answer);
        if (status != HAUL_OK)
            return status;
        if (answer < 1 || (uint64_t)answer > HAUL__HIGHEST)
            return haul__refuse(d, HAUL_ERROR_GRAPH, slot, "the callback of its size answered %lld",
                                (long long)answer);
        *bytes = (size_t)answer;
        return HAUL_OK;
    }
    if (!walk->is_sized)
        return HAUL_OK;
    *bytes = tail->slot.offset;
    d->exact++;
    status = haul__count_of(d, &tail->slot, 0, element + tail->slot.offset, element + tail->slot.offset, element, 0,
                            &count);
    d->exact--;
    if (status != HAUL_OK)
        return status;
    if (count == HAUL__KNOWN || haul__multiply_overflows(count, tail->slot.unit, &count) ||
        count > HAUL__HIGHEST - tail->slot.offset)
        return haul__refuse(d, HAUL_ERROR_LIMIT, &tail->slot, "its elements overflow");
    *bytes += count;
    return HAUL_OK;
}

/* ---- Visiting. */

static haul_status note_alias(haul__discovery *d, const word *w)
{
    void *aliases = d->aliases;
    haul__alias *alias;
    if (!haul__grow(d->allocator, &aliases, &d->alias_capacity, d->alias_count + 1, sizeof *d->aliases))
        return HAUL_ERROR_MEMORY;
    d->aliases = aliases;
    alias = &d->aliases[d->alias_count++];
    alias->value = w->address;
    alias->slot = w->slot;
    alias->root = d->root;
    alias->entry = d->at_entry;
    alias->element = d->at_element;
    alias->may_be_static = w->may_be_static;
    return HAUL_OK;
}

static haul_status visit_word(haul__discovery *d, uintptr_t element, const haul__ruled *ruled)
{
    word w;
    haul_status status;
    if (d->careful && d->sought.pointer == element + ruled->slot.offset)
        return haul__refuse(d, HAUL_ERROR_STALE, &ruled->slot, "this pointer has changed");
    status = read_word(d, element, ruled, &w);
    if (status == HAUL_OK && d->careful && w.what == POINTER)
        status = haul__meet_pointer(d, w.at, w.slot, 0);
    if (status != HAUL_OK || w.what == LEFT || w.what == RAW || is_end(ruled))
        return status;
    if (w.start == 0)
        return HAUL_OK;
    if (w.is_alias)
        return note_alias(d, &w);
    return haul__follow(d, w.slot, 0, w.at, w.start, element, ruled->slot.index);
}

/* An arm, or the tail: elements that lie in the object. */
static haul_status visit_inside(haul__discovery *d, uintptr_t element, const haul__ruled *ruled, size_t bytes)
{
    haul__entry entry;
    haul_status status = HAUL_OK;
    memset(&entry, 0, sizeof entry);
    entry.address = element + ruled->slot.offset;
    entry.count = ruled->kind == HAUL__RULED_PART ? ruled->count : (bytes - ruled->slot.offset) / ruled->slot.unit;
    entry.self = element;
    entry.stride = ruled->slot.unit;
    entry.slot = &ruled->slot;
    entry.parent = d->at_entry;
    entry.parent_element = d->at_element;
    entry.what = ruled->slot.target ? HAUL__OBJECTS : HAUL__PLAIN;
    if (entry.count == 0)
        return HAUL_OK;
    if (ruled->slot.target)
        status = haul__kind_of(d, ruled->slot.target, &entry.kind);
    return status == HAUL_OK ? haul__reach(d, &entry) : status;
}

static haul_status visit_claimed(haul__discovery *d, uintptr_t element, const haul__ruled *ruled, size_t bytes)
{
    switch (ruled->kind) {
    case HAUL__RULED_POINTER:
        return visit_word(d, element, ruled);
    case HAUL__RULED_PART:
    case HAUL__RULED_TAIL:
        return visit_inside(d, element, ruled, bytes);
    case HAUL__RULED_DATA:
        break;
    }
    return HAUL_OK;
}

static haul_status cut(haul__discovery *d, const haul__slot *slot, size_t bytes)
{
    return haul__refuse(d, HAUL_ERROR_GRAPH, slot, "the object has %zu bytes, and ends within this field", bytes);
}

static haul_status refuse_reading(haul__discovery *d, const haul__slot *slot, size_t bytes)
{
    return haul__refuse(d, HAUL_ERROR_GRAPH, slot,
                        "the object has %zu bytes, and ends before a field that this row reads", bytes);
}

/* Does the object end between fields, and behind all that its rows read? */
static haul_status check_end(haul__discovery *d, const haul__walk *walk, size_t bytes)
{
    size_t i;
    for (i = 0; walk->size && i < walk->slot_count && walk->slots[i].offset < bytes; i++) {
        if (bytes - walk->slots[i].offset < HAUL__WORD)
            return cut(d, &walk->slots[i], bytes);
        if (counts_beyond(&walk->slots[i], bytes))
            return refuse_reading(d, &walk->slots[i], bytes);
    }
    for (i = 0; walk->size && i < walk->ruled_count && walk->ruled[i].slot.offset < bytes; i++)
        if (reads_beyond(&walk->ruled[i], bytes))
            return refuse_reading(d, &walk->ruled[i].slot, bytes);
    for (i = 0; walk->size && i < walk->part_count; i++)
        if (walk->parts[i].offset < bytes &&
            bytes - walk->parts[i].offset < walk->parts[i].count * walk->parts[i].stride)
            return haul__refuse(d, HAUL_ERROR_GRAPH, NULL, "the object has %zu bytes, and ends within %s", bytes,
                                walk->parts[i].name);
    return HAUL_OK;
}

static haul_status visit_ruled(haul__discovery *d, uintptr_t element, const haul__ruled *ruled, size_t bytes,
                               haul__claim *last)
{
    size_t end = ruled->kind == HAUL__RULED_TAIL ? bytes : ruled->slot.offset + ruled->bytes;
    int holds = 0;
    haul_status status = ask(d, element, bytes, ruled, &holds);
    if (status != HAUL_OK || !holds || is_described_end(last, ruled))
        return status;
    if (end > bytes)
        return cut(d, &ruled->slot, bytes);
    if (!claim(last, ruled, end)) {
        status = haul__refuse(d, HAUL_ERROR_GRAPH, &ruled->slot, "its row and that of %s hold both, and they overlap",
                              last->slot->name);
        haul__name_row(d, last->slot);
        return status;
    }
    return visit_claimed(d, element, ruled, bytes);
}

haul_status haul__visit_varied(haul__discovery *d, uintptr_t element, const haul__walk *walk, size_t *bytes)
{
    haul__claim last = { 0, 0, NULL };
    haul_status status = haul__size_of(d, element, walk, NULL, bytes);
    size_t i;
    if (status == HAUL_OK)
        status = check_end(d, walk, *bytes);
    for (i = 0; i < walk->ruled_count && walk->ruled[i].slot.offset <= *bytes && status == HAUL_OK; i++)
        if (walk->ruled[i].slot.offset < *bytes)
            status = visit_ruled(d, element, &walk->ruled[i], *bytes, &last);
    return status;
}

/* ---- Aliases. */

static haul_status refuse_alias(haul__discovery *d, const haul__alias *alias)
{
    d->root = alias->root;
    d->at_entry = alias->entry;
    d->at_element = alias->element;
    if (alias->may_be_static)
        return haul__refuse(
            d, HAUL_ERROR_GRAPH, alias->slot,
            "an alias that leads neither to anything that another pointer owns nor into a registered static "
            "range");
    return haul__refuse(d, HAUL_ERROR_GRAPH, alias->slot, "an alias that leads to nothing that another pointer owns");
}

haul_status haul__check_aliases(haul__discovery *d)
{
    size_t i;
    for (i = 0; i < d->alias_count; i++)
        if (!haul__is_marked(d->map, d->aliases[i].value) && !haul__is_marked(d->map, d->aliases[i].value - 1))
            return refuse_alias(d, &d->aliases[i]);
    return HAUL_OK;
}
