/* Marking objects with rules, by their evaluated rows.
 *
 * A short object takes one call for each range between two holes. One mask of 64 bits says which of
 * its words travel, another which are slots. Commit has filled both with the words that have no
 * rule.
 */
#include "walk/ruled.h"
#include "map/bits.h"
#include "map/mark_hole.h"
#include "walk/exclude.h"
#include "walk/listed_words.h"
#include "walk/mark_elements.h"
#include "walk/memo.h"
#include "walk/met_types.h"

typedef struct marking {
    haul__discovery *d;
    const haul__entry *entry;
    const haul__object *object;
    const haul__field_value *words;
    size_t covered;  /* bytes that are marked, or in embedded elements */
    size_t rest_end; /* end of the rows that do not hold: so each byte counts once */
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

/* Finds the next bytes [*at, *end) of a row that does not hold, outside of all rows that hold.
 * *next: the first row that may claim them. 0: there are no more. */
static int next_rest(const marking *m, size_t row, size_t *next, size_t *at, size_t *end)
{
    const haul__walk *walk = m->object->walk;
    const size_t row_end = walk->ruled[row].slot.offset + walk->ruled[row].bytes;
    const size_t last = row_end < m->object->bytes ? row_end : m->object->bytes;
    for (; *at < last && *next < walk->ruled_count && walk->ruled[*next].slot.offset < last;
         ++*next) {
        const haul__ruled *other = &walk->ruled[*next];
        size_t other_end = haul__ruled_end(other, m->object->bytes);
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

static haul_status mark_row(marking *m, size_t i)
{
    const haul__ruled *ruled = &m->object->walk->ruled[i];
    const size_t fixed_end = ruled->slot.offset + ruled->bytes;
    size_t end = haul__ruled_end(ruled, m->object->bytes), at, next = 0;
    haul_status status = HAUL_OK;
    switch (m->words[i].what) {
    case HAUL__IS_ABSENT:
        if (!m->words[i].is_rest)
            return HAUL_OK;
        at = ruled->slot.offset > m->rest_end ? ruled->slot.offset : m->rest_end;
        for (; status == HAUL_OK && next_rest(m, i, &next, &at, &end); at = end)
            status = mark_bytes(m, at, end, 0);
        if (m->rest_end < fixed_end)
            m->rest_end = fixed_end;
        return status;
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
        haul__mark_element(m->d, m->entry->slot, walk, element, m->object->bytes, m->marked);
    for (i = 0; i < walk->run_count && walk->runs[i].offset < m->object->bytes; i++) {
        size_t left = m->object->bytes - walk->runs[i].offset;
        m->covered += walk->runs[i].bytes < left ? walk->runs[i].bytes : left;
    }
    if (status == HAUL_OK && walk->size && m->object->bytes > walk->extent)
        status = mark_bytes(m, walk->extent, m->object->bytes, 0);
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++)
        status = mark_row(m, i);
    if (status == HAUL_OK && m->covered != m->object->bytes &&
        !haul__mark_hole(m->d->map, element, element + m->object->bytes))
        status = HAUL_ERROR_MEMORY;
    return status;
}

/* ---- The same by masks of words. */

/* Adds these bytes to the mask. 0: they are no whole words. */
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
    size_t end = haul__ruled_end(ruled, m->object->bytes), at = ruled->slot.offset, next = 0;
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

/* Marks each range between two holes. */
static haul_status mark_words(marking *m, uint64_t covered, uint64_t slots)
{
    const unsigned count = (unsigned)(m->object->bytes >> HAUL__WORD_SHIFT);
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
    if (walk->kind != HAUL__WALK_WORDS || (m->object->address & (HAUL__WORD - 1)) != 0)
        return mark_pieces(m);
    for (i = 0; i < walk->ruled_count; i++)
        if (!take_row(m, i, &covered, &slots))
            return mark_pieces(m);
    return mark_words(m, covered, slots);
}

/* ---- Listed words. */

/* Each word is listed once, whatever marked its bytes before. */
static haul_status list_word(marking *m, const haul__field_value *w, const haul__ruled *ruled)
{
    haul__discovery *d = m->d;
    haul__special_word word = { 0, 0, 0, 0, HAUL__WORD, HAUL__EXPLICIT, 0, 0 };
    haul_status status;
    if (haul__memo_has(d, HAUL__MEMO_LISTED, w->at, 0, NULL))
        return HAUL_OK;
    *m->must_visit = 1;
    status = haul__memo_add(d, HAUL__MEMO_LISTED, w->at, 0, NULL);
    if (status != HAUL_OK)
        return status;
    word.address = w->at;
    word.value = w->value;
    if (haul__is_limit(ruled->rule)) {
        word.is_limit = 1;
        word.addend = w->start - w->value;
    } else if (w->what == HAUL__IS_EXPLICIT && w->start) {
        const size_t before = !w->is_inside && w->start > w->value ? w->start - w->value : 0;
        const size_t behind = !w->is_inside && w->value > w->start ? w->value - w->start : 0;
        word.addend = w->start - w->value;
        /* Room at the arena's ends, so that the word lies in the arena's range. A word inside its
         * target needs none: tag bits are 0 in addresses, so they lead to no other granule. */
        if (before > d->found->room_before)
            d->found->room_before = before;
        if (behind > d->found->room_behind)
            d->found->room_behind = behind;
    } else if (w->what == HAUL__IS_TAGGED) {
        word.kind = HAUL__TAGGED;
        word.addend = w->start ? w->start - w->address : 0;
        word.mask = ruled->rule->said.tag_bits;
    } else if (w->what == HAUL__IS_FIXED) {
        word.value = haul__load_special(w->at, w->bytes);
        word.bytes = w->bytes;
        word.kind = w->becomes ? w->fixed : HAUL__FIXED; /* a distance to nothing is 0 there too */
        /* of a distance: from the address that it tells to its target's begin */
        word.addend = w->becomes - (word.kind == HAUL__DISTANCE ? w->address : 0);
    }
    return haul__note_special(d, &word);
}

haul_status haul__mark_ruled(haul__discovery *d, const haul__entry *entry, const haul__object *o,
                             haul__marked *marked, int *must_visit)
{
    const haul__walk *walk = o->walk;
    marking m;
    haul_status status;
    size_t i;
    m.d = d;
    m.entry = entry;
    m.object = o;
    m.words = d->evaluation[o->mode & HAUL__DRY];
    m.covered = m.rest_end = 0;
    m.marked = marked;
    m.must_visit = must_visit;
    status = mark_object(&m);
    if (status == HAUL_OK)
        status = haul__note_off_grid(d, walk, o->address, o->bytes, must_visit);
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++)
        if (m.words[i].what != HAUL__IS_ABSENT)
            status = haul__exclude_ruled(d, o->address, &walk->ruled[i], o->bytes);
    for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++)
        if (m.words[i].what >= HAUL__IS_EXPLICIT)
            status = list_word(&m, &m.words[i], &walk->ruled[i]);
    if (status == HAUL_OK && walk->placement > HAUL__GRANULE &&
        !haul__mark_placement(d->map, o->address, walk->placement))
        status = HAUL_ERROR_MEMORY;
    if (status == HAUL_OK)
        haul__mark_array(d->map, o->address, o->address + o->bytes);
    return status;
}
