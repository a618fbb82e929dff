/* Objects whose description depends on them: rows with rules, tails, sizes of their own.
 *
 * What such an object is made of is asked of the object (survey.c); then it is marked, and if
 * anything of it is new, what its words lead to is followed. The order of these differs:
 *
 *   plain runs     An object that a pointer leads to is put on the worklist as it is. When its turn
 *                  comes, and it has been fetched meanwhile, it is surveyed once, marked, and
 *                  followed by that survey. So it may have been there before: then what was noted
 *                  is taken back. What is wrong ends the run.
 *   recording:      an object is surveyed and marked when it is reached, nothing is noted, and what
 *                  is wrong is left for
 *   arrays, and    later. When it is visited, it is surveyed again, what was read is noted, what it
 *                  leads to is
 *   parents        followed, and what is wrong gets its path.
 *
 * An object changes hands between two surveys only if its memory does, and then some pack will say
 * so.
 *
 * Marking a short object costs one call for its bytes between two holes: which of its words are
 * covered and which are slots are two masks of 64 bits, begun at commit with what is always so.
 *
 * Objects without rules never come here.
 */
#include "walk/ruled_field.h"

/* ---- Marking. */

typedef struct marking {
    haul__discovery *d;
    const haul__entry *entry;
    const haul__object *object;
    const haul__field_value *words;
    size_t bytes, covered; /* the object's; those that are marked, or will be by what lies in it */
    size_t rest_end;       /* of rows that do not hold and overlap each byte counts once */
    haul__marked *marked;
    int *must_visit;
} marking;

static haul_status mark_bytes(marking *m, size_t offset, size_t end, int is_slot)
{
    haul__pattern pattern;
    memset(&pattern, 0, sizeof pattern);
    pattern.kind = is_slot ? HAUL__ALL_SLOTS : HAUL__NO_SLOTS;
    m->covered += end - offset;
    return offset == end ? HAUL_OK
                         : haul__mark_range(m->d, m->entry->slot, m->object->address + offset,
                                            m->object->address + end, &pattern, m->marked);
}

/* The next bytes, from *at on, of a row that does not hold, as far as the object has them, which no
 * row that holds claims. *next: the first row that may. 0: none are left. */
static int next_rest(const marking *m, size_t row, size_t *next, size_t *at, size_t *end)
{
    const haul__walk *walk = m->object->walk;
    const size_t row_end = walk->ruled[row].slot.offset + walk->ruled[row].bytes;
    const size_t last = row_end < m->bytes ? row_end : m->bytes;
    for (; *at < last && *next < walk->ruled_count && walk->ruled[*next].slot.offset < last;
         ++*next) {
        const haul__ruled *other = &walk->ruled[*next];
        size_t other_end = haul__ruled_end(other, m->bytes);
        if (m->words[*next].what == HAUL__IS_ABSENT || other_end <= *at)
            continue;
        if (other->slot.offset > *at) {
            *end = other->slot.offset;
            return 1;
        }
        *at = other_end;
    }
    *end = last;
    return *at < last;
}

static haul_status mark_rest(marking *m, size_t row)
{
    const haul__ruled *ruled = &m->object->walk->ruled[row];
    size_t at = ruled->slot.offset > m->rest_end ? ruled->slot.offset : m->rest_end, next = 0, end;
    haul_status status = HAUL_OK;
    for (; status == HAUL_OK && next_rest(m, row, &next, &at, &end); at = end)
        status = mark_bytes(m, at, end, 0);
    if (m->rest_end < ruled->slot.offset + ruled->bytes)
        m->rest_end = ruled->slot.offset + ruled->bytes;
    return status;
}

static haul_status mark_row(marking *m, size_t i)
{
    const haul__ruled *ruled = &m->object->walk->ruled[i];
    size_t end = haul__ruled_end(ruled, m->bytes);
    switch (m->words[i].what) {
    case HAUL__IS_ABSENT:
        return m->words[i].is_rest ? mark_rest(m, i) : HAUL_OK;
    case HAUL__IS_LEFT:
        return HAUL_OK;
    case HAUL__IS_INSIDE:
        if (ruled->kind == HAUL__RULED_TAIL && !ruled->slot.target)
            return mark_bytes(m, ruled->slot.offset, end, 0);
        m->covered += end - ruled->slot.offset;
        return HAUL_OK;
    default:
        return mark_bytes(m, ruled->slot.offset, end, m->words[i].what == HAUL__IS_POINTER);
    }
}

static haul_status mark_pieces(marking *m)
{
    const haul__walk *walk = m->object->walk;
    const uintptr_t element = m->object->address;
    size_t i;
    haul_status status =
        haul__mark_element(m->d, m->entry->slot, walk, element, m->bytes, m->marked);
    for (i = 0; i < walk->run_count && walk->runs[i].offset < m->bytes; i++) {
        size_t left = m->bytes - walk->runs[i].offset;
        m->covered += walk->runs[i].bytes < left ? walk->runs[i].bytes : left;
    }
    if (status == HAUL_OK && walk->size && m->bytes > walk->extent)
        status = mark_bytes(m, walk->extent, m->bytes, 0);
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++)
        status = mark_row(m, i);
    if (status == HAUL_OK && m->covered != m->bytes &&
        !haul__mark_hole(m->d->map, element, element + m->bytes))
        status = HAUL_ERROR_MEMORY;
    return status;
}

/* ---- The same by masks of words. */

/* 0: not whole words. */
static int take_words(size_t offset, size_t end, uint64_t *words)
{
    if ((offset | end) & (HAUL__WORD - 1))
        return 0;
    if (offset < end)
        *words |= haul__range64((unsigned)(offset >> HAUL__WORD_SHIFT),
                                (unsigned)(end >> HAUL__WORD_SHIFT) - 1);
    return 1;
}

static int take_row(const marking *m, size_t i, uint64_t *covered, uint64_t *slots)
{
    const haul__ruled *ruled = &m->object->walk->ruled[i];
    size_t end = haul__ruled_end(ruled, m->bytes), at = ruled->slot.offset, next = 0;
    if (m->words[i].what == HAUL__IS_ABSENT) {
        for (; m->words[i].is_rest && next_rest(m, i, &next, &at, &end); at = end)
            if (!take_words(at, end, covered))
                return 0;
        return 1;
    }
    if (m->words[i].what == HAUL__IS_LEFT)
        return 1;
    return take_words(at, end, covered) &&
           (m->words[i].what != HAUL__IS_POINTER || take_words(at, end, slots));
}

/* What lies between two holes is one range. */
static haul_status mark_words(marking *m, uint64_t covered, uint64_t slots)
{
    const unsigned count = (unsigned)(m->bytes >> HAUL__WORD_SHIFT);
    const uintptr_t element = m->object->address;
    haul__pattern pattern;
    haul_status status = HAUL_OK;
    unsigned at = 0, end;
    for (; at < count && status == HAUL_OK; at = end) {
        const uint64_t from = covered >> at;
        const uint64_t change = from & 1 ? ~from : from;
        uintptr_t first = element + at * HAUL__WORD, last;
        end = change && at + haul__lowest64(change) < count ? at + haul__lowest64(change) : count;
        last = element + end * HAUL__WORD;
        if (!(from & 1)) {
            status = haul__mark_hole(m->d->map, first, last) ? HAUL_OK : HAUL_ERROR_MEMORY;
            continue;
        }
        pattern.kind = HAUL__WORD_SLOTS;
        pattern.words = slots;
        pattern.element = element;
        status = haul__mark_range(m->d, m->entry->slot, first, last, &pattern, m->marked);
    }
    return status;
}

static haul_status mark_object(marking *m)
{
    const haul__walk *walk = m->object->walk;
    uint64_t covered = walk->run_words, slots = walk->slot_words;
    size_t i;
    if (!walk->is_short || (m->object->address & (HAUL__WORD - 1)) != 0)
        return mark_pieces(m);
    for (i = 0; i < walk->ruled_count; i++)
        if (!take_row(m, i, &covered, &slots))
            return mark_pieces(m);
    return mark_words(m, covered, slots);
}

/* ---- Exceptions. */

#define EXCEPTION ((size_t)17) /* no size that other memos have */

static haul_status note_odd(haul__discovery *d, const haul__field_value *w)
{
    haul__found *found = d->found;
    size_t before = w->start > w->value ? w->start - w->value : 0;
    size_t behind = w->value > w->start ? w->value - w->start : 0;
    if (w->start && before > found->room_before)
        found->room_before = before;
    if (w->start && behind > found->room_behind)
        found->room_behind = behind;
    return haul__note_odd(d, w->at, w->value, w->start ? w->start - w->value : 0);
}

static haul_status note_tagged(haul__discovery *d, const haul__field_value *w,
                               const haul_rule *rule)
{
    haul__tagged tagged;
    tagged.address = w->at;
    tagged.value = w->value;
    tagged.delta = w->start ? w->start - w->address : 0;
    tagged.mask = rule->tag_bits;
    return haul__note_tagged(d, &tagged);
}

static haul_status note_kept(haul__discovery *d, const haul__field_value *w)
{
    haul__kept kept;
    memset(&kept, 0, sizeof kept);
    kept.address = w->at;
    memcpy(&kept.value, (const void *)w->at, w->bytes);
    kept.becomes = w->becomes;
    kept.bytes = w->bytes;
    kept.kind = w->kept;
    return haul__note_kept(d, &kept);
}

/* Each exception is noted once, whatever marked its bytes before. */
static haul_status note_exception(marking *m, const haul__field_value *w, const haul__ruled *ruled)
{
    haul__discovery *d = m->d;
    haul_status status;
    if (haul__memo_has(d, w->at, EXCEPTION, NULL))
        return HAUL_OK;
    *m->must_visit = 1;
    status = haul__memo_add(d, w->at, EXCEPTION, NULL);
    if (status != HAUL_OK)
        return status;
    if (w->what == HAUL__IS_ODD)
        return note_odd(d, w);
    return w->what == HAUL__IS_TAGGED ? note_tagged(d, w, &ruled->rule->said) : note_kept(d, w);
}

static haul_status note_exceptions(marking *m)
{
    const haul__walk *walk = m->object->walk;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++)
        if (m->words[i].what >= HAUL__IS_ODD)
            status = note_exception(m, &m->words[i], &walk->ruled[i]);
    return status;
}

/* Rows that hold and do not travel both ways. */
static haul_status bar_rows(marking *m)
{
    const haul__walk *walk = m->object->walk;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++)
        if (m->words[i].what != HAUL__IS_ABSENT)
            status = haul__exclude_ruled(m->d, m->object->address, &walk->ruled[i], m->bytes);
    return status;
}

static haul_status mark(haul__discovery *d, const haul__entry *entry, const haul__object *o,
                        unsigned survey, size_t bytes, haul__marked *marked, int *must_visit)
{
    marking m;
    haul_status status;
    m.d = d;
    m.entry = entry;
    m.object = o;
    m.words = d->survey[survey];
    m.bytes = bytes;
    m.covered = m.rest_end = 0;
    m.marked = marked;
    m.must_visit = must_visit;
    status = mark_object(&m);
    if (status == HAUL_OK)
        status = bar_rows(&m);
    return status == HAUL_OK ? note_exceptions(&m) : status;
}

haul__object haul__object_of(const haul__entry *entry, const haul__walk *walk, size_t index)
{
    haul__object o;
    o.address = entry->address + index * entry->stride;
    o.self = walk->is_slot ? entry->self : o.address;
    o.parent = entry->self;
    o.held = &entry->held;
    o.index = walk->is_slot ? index : 0;
    o.walk = walk;
    return o;
}

haul_status haul__mark_ruled(haul__discovery *d, const haul__entry *entry, const haul__walk *walk,
                             size_t index, size_t bytes, haul__marked *marked, int *must_visit)
{
    haul__object o = haul__object_of(entry, walk, index);
    haul_status status;
    d->dry_run++;
    status = haul__evaluate(d, &o, bytes, HAUL__REACHED, 0, must_visit);
    d->dry_run--;
    return status == HAUL_OK ? mark(d, entry, &o, HAUL__REACHED, bytes, marked, must_visit)
                             : status;
}

/* ---- Sizes. */

/* The elements of a tail are counted by its rule, if it has one. */
static haul_status count_tail(haul__discovery *d, const haul__object *o, const haul__ruled *tail,
                              size_t *count)
{
    const uintptr_t at = o->address + tail->slot.offset;
    haul_status status;
    haul__ask_for(d, o, tail->rule);
    d->exact++;
    status = haul__count_of(d, &tail->slot, 0, at, at, o->address, 0, count);
    d->exact--;
    haul__ask_for(d, o, NULL);
    return status;
}

haul_status haul__size_of(haul__discovery *d, const haul__object *o, const haul__slot *slot,
                          size_t *bytes)
{
    const haul__walk *walk = o->walk;
    const haul__ruled *tail = walk->ruled_count > 0 ? &walk->ruled[walk->ruled_count - 1] : NULL;
    haul_here here;
    haul_status status;
    size_t count = 0;
    *bytes = walk->extent;
    if (walk->size) {
        int64_t answer = 0;
        memset(&here, 0, sizeof here);
        here.self = here.target = (const void *)o->address;
        status = haul__call_back(d, slot, walk->size, &here, HAUL__ASKS_SIZE, &answer);
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
    status = count_tail(d, o, tail, &count);
    if (status != HAUL_OK)
        return status;
    if (count == HAUL__KNOWN || haul__multiply_overflows(count, tail->slot.unit, &count) ||
        count > HAUL__HIGHEST - tail->slot.offset)
        return haul__refuse(d, HAUL_ERROR_LIMIT, &tail->slot, "its elements overflow");
    *bytes += count;
    return HAUL_OK;
}

/* ---- Visiting. */

/* Is the word, tags and all, the address of a byte of what it leads to, in any copy that keeps the
 * type's alignment? */
static int is_sure(const haul__field_value *w, size_t tags)
{
    const haul__walk *walk = w->slot->target ? haul__type_walk(w->slot->target) : NULL;
    return walk && !walk->is_sized && w->address == w->start &&
           w->value - w->start < walk->extent && walk->alignment >= tags;
}

/* For the trail. A tag needs a target that leaves its bits free, in the copy too. */
static haul_status note_word(haul__discovery *d, const haul__ruled *ruled,
                             const haul__field_value *w)
{
    const uintptr_t tag_bits = ruled->rule->said.tag_bits;
    const size_t low = tag_bits & (HAUL_ALIGNMENT_MAX - 1),
                 tags = low ? (size_t)2 << haul__highest64(low) : 1;
    haul__reference mention;
    memset(&mention, 0, sizeof mention);
    mention.word = w->at;
    if (haul__is_end(ruled)) {
        mention.kind = HAUL__REFERENCE_END;
        mention.target = mention.value =
            w->what == HAUL__IS_TAGGED ? w->value & ~tag_bits : w->value;
        mention.untagged = mention.target;
        mention.tags = w->what == HAUL__IS_TAGGED ? tags : 1;
        return mention.target ? haul__log_reference(d, &mention) : HAUL_OK;
    }
    if (!w->start || (!w->is_alias && (!low || is_sure(w, tags))))
        return HAUL_OK;
    mention.kind = w->is_alias ? HAUL__REFERENCE_PLACE : HAUL__REFERENCE_TAGGED;
    mention.target = w->start;
    mention.value = w->what == HAUL__IS_POINTER ? w->value : w->start;
    mention.untagged = w->address;
    mention.tags = tags;
    return haul__log_reference(d, &mention);
}

/* A pair that holds. Of one without elements the end is looked at too, be its begin null. */
static int is_pair(const haul__ruled *ruled, const haul__field_value *w)
{
    return (w->what == HAUL__IS_POINTER || w->what == HAUL__IS_ODD) && !w->is_alias &&
           !haul__is_end(ruled) && w->slot->levels > 0 && w->slot->shape[0].kind == HAUL_SHAPE_END;
}

static haul_status visit_word(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                              const haul__field_value *w)
{
    const size_t empty = d->found->empty_count;
    haul_status status = HAUL_OK;
    if (d->recording && (w->what == HAUL__IS_POINTER || w->what == HAUL__IS_TAGGED))
        status = haul__meet_pointer(d, w->at, w->slot, 0);
    if (status == HAUL_OK && d->trail && w->what != HAUL__IS_KEPT)
        status = note_word(d, ruled, w);
    if (status != HAUL_OK || (w->start == 0 && !is_pair(ruled, w)) || haul__is_end(ruled))
        return status;
    if (w->is_alias)
        return haul__note_alias(d, w);
    haul__ask_for(d, o, ruled->rule);
    d->by_rule = 1;
    status = haul__follow(d, w->slot, 0, w->at, w->start, o->self, o->index + ruled->slot.index);
    d->by_rule = 0;
    haul__ask_for(d, o, NULL);
    if (w->what == HAUL__IS_KEPT || (w->what == HAUL__IS_ODD && w->start != w->value))
        d->found->empty_count = empty; /* what becomes of the word is told by its own list */
    return status;
}

/* An arm, or the tail: elements that lie in the object. */
static haul_status visit_inside(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                                size_t bytes)
{
    haul__entry entry;
    haul_status status = HAUL_OK;
    memset(&entry, 0, sizeof entry);
    entry.address = o->address + ruled->slot.offset;
    entry.count = ruled->kind == HAUL__RULED_PART ? ruled->count
                                                  : (bytes - ruled->slot.offset) / ruled->slot.unit;
    entry.self = o->address;
    entry.held = d->held;
    entry.stride = ruled->slot.unit;
    entry.slot = &ruled->slot;
    entry.parent = d->at_entry;
    entry.parent_element = d->at_element;
    entry.what = ruled->slot.target ? HAUL__OBJECTS : HAUL__PLAIN;
    if (entry.count == 0)
        return HAUL_OK;
    if (ruled->slot.target)
        status = haul__met_type_of(d, ruled->slot.target, &entry.kind);
    return status == HAUL_OK ? haul__reach(d, &entry) : status;
}

static haul_status visit_rows(haul__discovery *d, const haul__object *o, size_t bytes)
{
    const haul__walk *walk = o->walk;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++) {
        const haul__field_value *w = &d->survey[HAUL__VISITED][i];
        if (w->what == HAUL__IS_INSIDE)
            status = visit_inside(d, o, &walk->ruled[i], bytes);
        else if (w->what >= HAUL__IS_POINTER)
            status = visit_word(d, o, &walk->ruled[i], w);
    }
    return status;
}

/* All that an object says of itself, noted. */
static haul_status ask_object(haul__discovery *d, const haul__object *o, size_t bytes)
{
    int must_visit = 0;
    haul_status status = o->walk->size ? haul__check_end(d, o->walk, bytes) : HAUL_OK;
    return status == HAUL_OK ? haul__evaluate(d, o, bytes, HAUL__VISITED, 1, &must_visit) : status;
}

haul_status haul__visit_ruled(haul__discovery *d, uintptr_t element, const haul__walk *walk,
                              size_t *bytes)
{
    haul__entry entry;
    haul__object o;
    haul_status status;
    entry.address = element;
    entry.stride = 0;
    entry.self = d->from;
    o = haul__object_of(&entry, walk, 0);
    o.held = &d->held;
    o.index = walk->is_slot ? d->at_element : 0;
    status = haul__size_of(d, &o, NULL, bytes);
    if (status == HAUL_OK)
        status = ask_object(d, &o, *bytes);
    return status == HAUL_OK ? visit_rows(d, &o, *bytes) : status;
}

/* ---- In one go, when an object's turn has come. */

static haul_status mark_whole(haul__discovery *d, const haul__entry *entry, const haul__object *o,
                              size_t bytes, int *is_new)
{
    haul__marked marked = { 0, 0, 0 };
    int must_visit = 0;
    haul_status status = mark(d, entry, o, HAUL__VISITED, bytes, &marked, &must_visit);
    if (status == HAUL_OK && o->walk->placement > HAUL__GRANULE &&
        !haul__mark_placement(d->map, o->address, o->walk->placement))
        status = HAUL_ERROR_MEMORY;
    *is_new = must_visit || marked.first != marked.end;
    return status;
}

/* Objects that are long, or in which others lie, are known by their address, not by their marks. */
static haul_status take_noted(haul__discovery *d, const haul__entry *entry, const haul__object *o,
                              size_t bytes, int *is_new)
{
    const haul_type *type = d->kinds[entry->kind].type;
    haul_status status;
    if (bytes < HAUL__MEMO_BYTES && !o->walk->has_parts)
        return mark_whole(d, entry, o, bytes, is_new);
    *is_new = 0;
    if (haul__memo_has(d, o->address, bytes, type))
        return HAUL_OK;
    status = mark_whole(d, entry, o, bytes, is_new);
    *is_new |= o->walk->has_parts;
    return status == HAUL_OK ? haul__memo_add(d, o->address, bytes, type) : status;
}

haul_status haul__take_ruled(haul__discovery *d, const haul__entry *entry, const haul__walk *walk,
                             size_t *bytes, int *is_new)
{
    haul__found *found = d->found;
    const size_t guards = found->guard_count, calls = found->call_words;
    haul__object o = haul__object_of(entry, walk, 0);
    haul_status status =
        haul__check_entry(d, entry, walk->is_sized ? haul__head_bytes(walk) : walk->extent);
    if (status == HAUL_OK)
        status = haul__size_of(d, &o, NULL, bytes);
    if (status == HAUL_OK && walk->is_sized)
        status = haul__check_entry(d, entry, *bytes);
    if (status == HAUL_OK)
        status = ask_object(d, &o, *bytes);
    if (status == HAUL_OK)
        status = take_noted(d, entry, &o, *bytes, is_new);
    if (status != HAUL_OK)
        return status;
    if (*is_new)
        return visit_rows(d, &o, *bytes);
    found->guard_count = guards;
    found->call_words = calls;
    return HAUL_OK;
}
