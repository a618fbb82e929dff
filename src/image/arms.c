/* Rows with rules: arms of unions, pointers with tags, pointers whose types a number chooses.
 *
 * Known are rows whose meaning the bytes of their own struct, or of the target, tell. A condition
 * reads a field of the struct; a switch chooses a type by a field of either; a tag is a few low
 * bits of the word. The row that holds is then as an ordinary one: its bytes travel, and its
 * pointer has a bit and leads to a target that gets a code. The bytes of a row that does not hold
 * are zeros, or data by `.else_raw`.
 *
 * Why it is right: objects do not overlap (scan.c), so no other object can write the numbers that
 * are read here. None of them lies in a pointer: commit sees to those of conditions and switches by
 * the struct; a type whose counts lie in an arm that is a pointer is left to the walk, and so is a
 * switch by the target if the number may be another thing there. Two rows that hold and overlap are
 * left to it, too.
 *
 * Why it is fast: the work for an object is that of its rows, and of the cases before the chosen
 * one. It is counted as the bytes of arrays are, so a type with many rows over few bytes cannot
 * make it long.
 */
#include "image/arms.h"

#include "base/list.h"
#include "type/field.h"
#include "type/row.h"

#define LINKS_MOST ((size_t)1024) /* of the arms of a type, and as many arms */

/* ---- Rows that are known. */

static int is_ordinary(const haul_field *said)
{
    return (said->ownership == HAUL_OWNED || said->ownership == HAUL_BORROWED) &&
           !said->maybe_static && !said->integers_below && !said->integers_from && !said->base &&
           !said->base_fn && !said->section.rank;
}

static int slot_begins_before(const void *list, size_t i, uint64_t limit)
{
    return ((const haul__slot *)list)[i].offset < limit;
}

int haul__has_slot_at(const haul__walk *walk, size_t offset, size_t bytes)
{
    const size_t i =
        haul__search(walk->slots, 0, walk->slot_count, offset + bytes, slot_begins_before);
    return i && offset < walk->slots[i - 1].offset + HAUL__WORD;
}

/* Does a type that the scan knows, which has no parts, have a pointer here? */
static int has_pointer_at(const haul_type *type, const haul_integer *field)
{
    return haul__touches_pointer_row(type, field->offset, field->bytes) ||
           haul__has_slot_at(haul__type_walk(type), field->offset, field->bytes);
}

/* Does an object have the number, as the walk sees it? Bytes behind the last one that travels are
 * no object's. */
static int has_number(const haul__walk *walk, const haul_integer *field)
{
    return haul__fits(field->offset, field->bytes, walk->true_upper);
}

/* A tag must be a number of each type that it can choose. */
static int is_known_switch(const haul__walk *walk, const haul__rule *rule)
{
    const haul_switch *by = &rule->said.type_switch;
    size_t i;
    for (i = 0; i < by->case_count; i++) {
        if (by->cases[i].base)
            return 0;
        if (by->kind == HAUL_SWITCH_KIND_TARGET &&
            (!has_number(haul__type_walk(rule->types[i]), &by->field) ||
             has_pointer_at(rule->types[i], &by->field)))
            return 0;
    }
    return by->kind != HAUL_SWITCH_KIND_FUNCTION &&
           (by->kind != HAUL_SWITCH_KIND_SELF || has_number(walk, &by->field));
}

/* Tags lie below a granule: then the word leads into the granule that its target begins with. Ends,
 * pools, distances and packed pointers have flags. */
static int is_known_pointer(const haul__walk *walk, const haul__ruled *ruled)
{
    const haul_field *said = &ruled->rule->said;
    return is_ordinary(said) && said->tag_bits < HAUL__GRANULE && !ruled->rule->each &&
           !(ruled->slot.flags & ~HAUL__SLOT_EACH) && is_known_switch(walk, ruled->rule);
}

/* Bytes that do not travel are zeros in an image, whatever the row says of them. */
static int is_known_row(const haul__walk *walk, const haul__ruled *ruled)
{
    const haul_when *when = &ruled->rule->said.when;
    if (when->kind == HAUL_WHEN_KIND_FUNCTION || ruled->rule->said.transfer != HAUL_COPY ||
        (when->kind != HAUL_WHEN_KIND_ALWAYS && !has_number(walk, &when->field)))
        return 0;
    return ruled->kind == HAUL__RULED_DATA
               ? ruled->rule->said.kind != HAUL_FIELD_SKIP
               : ruled->kind == HAUL__RULED_POINTER && is_known_pointer(walk, ruled);
}

static size_t link_count(const haul__ruled *ruled)
{
    const size_t cases = haul__case_count(ruled);
    return ruled->kind != HAUL__RULED_POINTER ? 0 : cases ? cases : 1;
}

static void put_bits(uint64_t *bits, size_t first, size_t count)
{
    size_t i;
    for (i = first; i < first + count; i++)
        bits[i / 64] |= (uint64_t)1 << i % 64;
}

static int touches(const uint64_t *bits, size_t first, size_t count)
{
    size_t i;
    for (i = first; i < first + count; i++)
        if (bits[i / 64] >> i % 64 & 1)
            return 1;
    return 0;
}

/* Does a count read one of these bytes, or one behind them all? */
static int counts_in(const haul__slot *slot, const uint64_t *bits)
{
    unsigned level, i;
    for (level = 0; level < slot->levels; level++)
        for (i = 0; i < slot->shape[level].fields; i++) {
            const haul_integer *field = &slot->shape[level].field[i];
            const size_t at = slot->self + field->offset;
            if (!haul__fits(at, field->bytes, HAUL__ARMS_BYTES) || touches(bits, at, field->bytes))
                return 1;
        }
    return 0;
}

/* Does no count lie in an arm that may be a pointer? */
static int counts_lie_apart(const haul__walk *walk)
{
    uint64_t pointers[HAUL__ARMS_BYTES / 64] = { 0 };
    size_t i;
    for (i = 0; i < walk->ruled_count; i++)
        if (walk->ruled[i].kind == HAUL__RULED_POINTER)
            put_bits(pointers, walk->ruled[i].slot.offset, HAUL__WORD);
    for (i = 0; i < walk->slot_count; i++)
        if (counts_in(&walk->slots[i], pointers))
            return 0;
    for (i = 0; i < walk->ruled_count; i++)
        if (counts_in(&walk->ruled[i].slot, pointers))
            return 0;
    return 1;
}

int haul__arms_are_known(const haul_type *type)
{
    const haul__walk *walk = haul__type_walk(type);
    size_t i, links = 0;
    if (!haul__is_ruled(walk))
        return 1;
    if (haul__is_sized(walk) || walk->extent > HAUL__ARMS_BYTES || walk->extent % HAUL__WORD ||
        walk->ruled_count > LINKS_MOST)
        return 0;
    for (i = 0; i < walk->ruled_count; i++) {
        links += link_count(&walk->ruled[i]);
        if (links > LINKS_MOST || !is_known_row(walk, &walk->ruled[i]))
            return 0;
    }
    return counts_lie_apart(walk);
}

/* ---- Lists of them. */

static size_t bytes_of(size_t count)
{
    return sizeof(haul__kind_arms) + count * sizeof(haul__kind_arm);
}

size_t haul__arm_link_count(const haul__walk *walk)
{
    size_t i, count = 0;
    for (i = 0; i < walk->ruled_count; i++)
        count += link_count(&walk->ruled[i]);
    return count;
}

void haul__arm_slots(const haul__walk *walk, haul__link *links)
{
    size_t i, k;
    for (i = 0; i < walk->ruled_count; i++) {
        const haul__ruled *ruled = &walk->ruled[i];
        for (k = 0; k < link_count(ruled); k++)
            (links++)->slot = haul__case_count(ruled) ? &ruled->cases[k] : &ruled->slot;
    }
}

/* Notes which pointers have bytes of another row that may travel as data while it does not hold. */
static void find_data_under(haul__kind_arms *arms)
{
    uint64_t once[HAUL__ARMS_BYTES / 64] = { 0 }, again[HAUL__ARMS_BYTES / 64] = { 0 };
    size_t i, at;
    for (i = 0; i < arms->count; i++) {
        const haul__ruled *ruled = arms->at[i].ruled;
        const size_t first = ruled->slot.offset, end = first + ruled->bytes;
        for (at = first; ruled->rule->said.else_raw && at < end; at++)
            put_bits(touches(once, at, 1) ? again : once, at, 1);
    }
    for (i = 0; i < arms->count; i++) {
        const haul__ruled *ruled = arms->at[i].ruled;
        arms->at[i].is_over_data =
            touches(ruled->rule->said.else_raw ? again : once, ruled->slot.offset, ruled->bytes);
    }
}

haul_status haul__arms_make(const haul_allocator *allocator, haul__kind *kind)
{
    const haul__walk *walk = haul__type_walk(kind->type);
    haul__kind_arms *arms = haul__allocate_zeroed(allocator, bytes_of(walk->ruled_count));
    size_t number = kind->link_count, i, end;
    if (!arms)
        return HAUL_ERROR_MEMORY;
    kind->arms = arms;
    arms->count = walk->ruled_count;
    for (i = 0; i < walk->run_count; i++)
        put_bits(arms->live, walk->runs[i].offset, walk->runs[i].bytes);
    for (i = 0; i < arms->count; i++) {
        const haul_field *said = &walk->ruled[i].rule->said;
        haul__kind_arm *arm = &arms->at[i];
        arm->ruled = &walk->ruled[i];
        arm->when = said->when.kind == HAUL_WHEN_KIND_ALWAYS ? NULL : &said->when;
        arm->by = said->type_switch.kind == HAUL_SWITCH_KIND_NONE ? NULL : &said->type_switch;
        if (arm->ruled->kind != HAUL__RULED_POINTER)
            continue;
        arm->links = &kind->links[number];
        kind->links[number].is_borrowed = said->ownership == HAUL_BORROWED;
        for (end = number + link_count(arm->ruled); number < end; number++)
            kind->links[number].is_told = arm->by && arm->by->kind == HAUL_SWITCH_KIND_TARGET;
    }
    find_data_under(arms);
    return HAUL_OK;
}

void haul__arms_release(const haul_allocator *allocator, haul__kind_arms *arms)
{
    if (arms)
        haul__release(allocator, arms, bytes_of(arms->count));
}

/* ---- The arms of an element. */

static int holds(const haul__kind_arm *arm, const unsigned char *element)
{
    return !arm->when || haul__when_holds(arm->when, element);
}

/* The struct whose number chooses: the element, or the target. NULL: it lies outside of the arena.
 */
static const void *chooser(haul__scan *s, const haul_switch *by, const unsigned char *element,
                           uintptr_t value)
{
    const size_t offset = value - (uintptr_t)s->block;
    const size_t bytes = by->field.offset + by->field.bytes; /* of a case's type */
    if (by->kind == HAUL_SWITCH_KIND_SELF)
        return element;
    return haul__fits(offset, bytes, s->bytes) && haul__scan_wait(s, offset + bytes)
               ? s->block + offset
               : NULL;
}

/* The link of the chosen case; NULL: there is none. */
static const haul__link *choose(haul__scan *s, const haul__kind_arm *arm,
                                const unsigned char *element, uintptr_t target)
{
    const void *self = chooser(s, arm->by, element, target);
    int64_t value;
    size_t i;
    if (!self)
        return NULL;
    value = haul__read_stored(self, &arm->by->field); /* in the bits of the mask, as the walk */
    for (i = 0; i < arm->by->case_count; i++)
        if (((arm->by->cases[i].value ^ value) & arm->ruled->rule->mask) == 0)
            break;
    s->work += i;
    return i < arm->by->case_count ? &arm->links[i] : NULL;
}

/* A borrowed pointer leads to the beginning of an object. Codes ahead of the scan may come: then it
 * is looked at again. */
static int borrow(haul__scan *s, const haul__one *one, uintptr_t value)
{
    const size_t offset = value - (uintptr_t)s->block;
    unsigned found;
    if ((value & one->misaligned) != 0 || offset - HAUL__GRANULE > one->room)
        return 0;
    found = haul__code_at(&s->codes, offset / HAUL__GRANULE);
    if (found == one->code)
        return 1;
    s->is_unsettled = 1;
    return found == HAUL__CODE_FREE && offset >= s->end * HAUL__GRANULE;
}

/* Was the number read from the first of such elements? A pointer to none of them may lead anywhere,
 * and granules that are free have the code of kinds that the scan does not know. */
static int tells_its_own(const haul__scan *s, const haul__link *link, uintptr_t value)
{
    const size_t offset = value - (uintptr_t)s->block;
    return link->code != HAUL__CODE_FREE && offset % HAUL__GRANULE == 0 &&
           haul__code_at(&s->codes, offset / HAUL__GRANULE) == link->code;
}

/* A word of tags alone is no pointer, and has no bit. It must not be data of another row. */
static int visit_pointer(haul__scan *s, const haul__kind_arm *arm, const unsigned char *element,
                         uint64_t *wanted)
{
    const size_t offset = arm->ruled->slot.offset, number = offset / HAUL__WORD;
    const uintptr_t word = haul__load_word(element + offset);
    const uintptr_t value = word & ~arm->ruled->rule->said.tag_bits;
    const haul__link *link = arm->links;
    wanted[number / 64] |= (uint64_t)(value || !word) << number % 64;
    if (!value)
        return !word || !arm->is_over_data;
    if (arm->by)
        link = choose(s, arm, element, value);
    if (!link)
        return 0;
    if (link->is_borrowed)
        return borrow(s, &link->one, value);
    if (link->is_one)
        return haul__scan_one(&s->codes, &link->one, value, s->end * HAUL__GRANULE);
    return haul__scan_counted(s, link, value, element) &&
           (!arm->by || arm->by->kind != HAUL_SWITCH_KIND_TARGET || tells_its_own(s, link, value));
}

static int are_dead_zeros(const haul__kind *kind, const unsigned char *element,
                          const uint64_t *live)
{
    const size_t bytes =
        kind->of == HAUL__KIND_ARRAY ? kind->stride : kind->granules * HAUL__GRANULE;
    size_t i;
    for (i = 0; i < bytes; i += 64) {
        uint64_t dead = ~live[i / 64] & UINT64_MAX >> (bytes - i < 64 ? 64 - (bytes - i) : 0);
        for (; dead; dead &= dead - 1)
            if (element[i + haul__lowest64(dead)])
                return 0;
    }
    return 1;
}

int haul__scan_arms(haul__scan *s, const haul__kind *kind, const unsigned char *element,
                    uint64_t *wanted)
{
    const haul__kind_arms *arms = kind->arms;
    uint64_t live[HAUL__ARMS_BYTES / 64];
    size_t i, end = 0; /* of the rows that hold */
    memcpy(live, arms->live, sizeof live);
    s->work += arms->count;
    for (i = 0; i < arms->count; i++) {
        const haul__kind_arm *arm = &arms->at[i];
        const size_t offset = arm->ruled->slot.offset, bytes = arm->ruled->bytes;
        const int is_held = holds(arm, element);
        if (is_held || arm->ruled->rule->said.else_raw)
            put_bits(live, offset, bytes);
        if (!is_held)
            continue;
        if (offset < end)
            return 0;
        end = offset + bytes;
        if (arm->ruled->kind == HAUL__RULED_POINTER && !visit_pointer(s, arm, element, wanted))
            return 0;
    }
    return s->work <= s->most && are_dead_zeros(kind, element, live);
}

int haul__scan_borrowed(haul__scan *s, const haul__kind *kind, const unsigned char *element)
{
    size_t i;
    for (i = 0; i < kind->arms->count; i++) {
        const haul__kind_arm *arm = &kind->arms->at[i];
        uintptr_t value;
        if (arm->ruled->kind != HAUL__RULED_POINTER || !arm->links->is_borrowed ||
            !holds(arm, element))
            continue;
        value =
            haul__load_word(element + arm->ruled->slot.offset) & ~arm->ruled->rule->said.tag_bits;
        if (value && !borrow(s, &arm->links->one, value))
            return 0;
    }
    return 1;
}
