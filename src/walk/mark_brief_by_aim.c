/* Marking by aims: objects of brief types, within the district that a thread has taken.
 *
 * An object is marked by the masks that one thread uses (brief_marks.c), and its starts are noted
 * with them (map/starts.h): one at its first live word, and one at each hole before its last live
 * word. So an object is new if its words have no mark and no start, and known if all marks and
 * starts are its own and it ends where it should. Contents do not change during a walk, so the same
 * object has the same masks each time. Anything else overlaps, or disagrees with it.
 *
 * Holes at the ends of an object have no starts. What lies there overlaps none of its live bytes,
 * and counts by itself, as for one thread. An array is marked like one long object. If it is new,
 * all of its elements are, or it overlaps. A word of which some bytes are live belongs to one
 * object, too: these bytes are compared.
 */
#include "walk/mark_brief_by_aim.h"
#include "map/forms.h"
#include "map/mark.h"
#include "map/mixed.h"

/* Which element of its array an object is; both: the only one. */
enum { IS_FIRST = 1, IS_LAST = 2 };

/* The mixed block of an address, with room for starts, turned to that form if it is none yet. NULL:
 * *why is HAUL__APART, for it is full, or HAUL__NO_MEMORY. */
HAUL__INLINE haul__block *block_with_starts(haul__map *map, haul__start_notes *notes,
                                            uintptr_t address, int *why)
{
    const uintptr_t entry = map->flat[address >> HAUL__BLOCK_SHIFT];
    haul__block *block = haul__block_in(entry);
    if (HAUL__LIKELY((entry & HAUL__FORM_MASK) == HAUL__MIXED && block->base))
        return block;
    block = haul__map_touch(map, address);
    *why = block && block->form == HAUL__FULL ? HAUL__APART : HAUL__NO_MEMORY;
    if (!block || block->form == HAUL__FULL || !haul__starts_spell(notes, map, address, address, 1))
        return NULL;
    if (block->form != HAUL__MIXED)
        block = haul__map_turn(map, address, block, HAUL__MIXED);
    return block && (block->base || haul__starts_add(notes, &map->allocator, block)) ? block : NULL;
}

/* The marks of a cell. */
typedef struct marks {
    uint64_t live, slots, starts;
} marks;

HAUL__INLINE marks marks_of(const haul__block *block, unsigned number)
{
    marks found;
    found.live = haul__load_cell(&block->cells[number]);
    found.slots = haul__slots(block)[number];
    found.starts = haul__starts_beside(block)[number];
    return found;
}

/* Without partial words, whose bytes are added one by one. */
HAUL__INLINE void add_marks(haul__block *block, unsigned number, const marks *added)
{
    haul__store_cell(&block->cells[number], haul__load_cell(&block->cells[number]) | added->live);
    haul__slots(block)[number] |= added->slots & added->live;
    haul__starts_beside(block)[number] |= added->starts;
}

HAUL__INLINE uint64_t any_of(const marks *m)
{
    return m->live | m->slots | m->starts;
}

HAUL__INLINE uint64_t differ(const marks *a, const marks *b)
{
    return (a->live ^ b->live) | (a->slots ^ b->slots) | (a->starts ^ b->starts);
}

/* The words of an object by its masks and pieces. */
typedef struct shape {
    uint64_t words, slots, partial;
    uint8_t bytes[HAUL__BRIEF_WORDS]; /* of the partial words: a bit for each live byte */
} shape;

/* Adds pieces. A word whose bytes are all live is no partial one. */
static void take_pieces(shape *s, const haul__brief_piece *piece, size_t count)
{
    for (; count-- > 0; piece++) {
        size_t at, end = piece->offset + piece->bytes;
        for (at = piece->offset; at < end; at++) {
            const size_t word = at >> HAUL__WORD_SHIFT;
            const uint64_t bit = (uint64_t)1 << word;
            if (s->words & bit)
                continue;
            s->bytes[word] =
                (uint8_t)((s->partial & bit ? s->bytes[word] : 0) | 1u << at % HAUL__WORD);
            s->partial |= bit;
            if (s->bytes[word] == HAUL__LOW_MASK) {
                s->partial &= ~bit;
                s->words |= bit;
            }
        }
    }
}

/* Where a word of an object lies. */
typedef struct word_place {
    haul__block *block;
    unsigned granule, shift; /* shift: to its first byte in the granule's mask */
} word_place;

HAUL__INLINE word_place place_of(const haul__map *map, uintptr_t address)
{
    word_place p;
    p.block = haul__map_find(map, address);
    p.granule = haul__granule_in_block(address);
    p.shift = (unsigned)(address & (HAUL__GRANULE - 1));
    return p;
}

/* Marks the live bytes of partial words, which are new. 0: out of memory. */
static int mark_partial(haul__map *map, uintptr_t object, const shape *s)
{
    uint64_t left;
    for (left = s->partial; left; left &= left - 1) {
        const unsigned word = haul__lowest64(left);
        const word_place p = place_of(map, object + word * HAUL__WORD);
        if (haul__words_part(map, p.block, p.granule, (uint16_t)(s->bytes[word] << p.shift)) < 0)
            return 0;
    }
    return 1;
}

/* Are just these bytes of partial words live? */
static int are_partial(const haul__map *map, uintptr_t object, const shape *s)
{
    uint64_t left;
    for (left = s->partial; left; left &= left - 1) {
        const unsigned word = haul__lowest64(left);
        const word_place p = place_of(map, object + word * HAUL__WORD);
        if ((haul__words_mask(p.block, p.granule) >> p.shift & HAUL__LOW_MASK) != s->bytes[word])
            return 0;
    }
    return 1;
}

/* Marks an object, as the element of its array that `which` says. */
HAUL__INLINE int mark_object(haul__map *map, haul__start_notes *notes, size_t bytes,
                             uintptr_t object, const shape *s, unsigned which)
{
    const unsigned shift = haul__word_in_cell(object), number = haul__cell_number(object);
    const uint64_t any = s->words | s->partial, slots = s->slots | s->partial;
    const unsigned first = which & IS_FIRST ? haul__lowest64(any) : 0;
    const unsigned last =
        which & IS_LAST ? haul__highest64(any) : (unsigned)(bytes >> HAUL__WORD_SHIFT) - 1;
    const uint64_t words = haul__range64(first, last);
    const uint64_t starts = (words & ~any) | (which & IS_FIRST ? any & (0 - any) : 0);
    const uint64_t low = words << shift, high = words >> 1 >> (63 - shift);
    const marks own = { s->words << shift, slots << shift, starts << shift };
    const marks next_own = { s->words >> 1 >> (63 - shift), slots >> 1 >> (63 - shift),
                             starts >> 1 >> (63 - shift) };
    int why = HAUL__APART;
    haul__block *const end_block = block_with_starts(map, notes, object + bytes - 1, &why);
    haul__block *const block = end_block ? block_with_starts(map, notes, object, &why) : NULL;
    haul__block *next_block;
    unsigned next;
    marks found, next_found;
    if (HAUL__UNLIKELY(!block))
        return why;
    next_block = high && number + 1 == HAUL__CELLS ? end_block : block;
    next = high ? (number + 1) % HAUL__CELLS : number;
    found = marks_of(block, number);
    next_found = marks_of(next_block, next);
    if (((any_of(&found) & low) | (any_of(&next_found) & high)) == 0) {
        add_marks(block, number, &own);
        add_marks(next_block, next, &next_own);
        return HAUL__UNLIKELY(s->partial) && !mark_partial(map, object, s) ? HAUL__NO_MEMORY
                                                                           : HAUL__FRESH;
    }
    if (HAUL__UNLIKELY(((differ(&found, &own) & low) | (differ(&next_found, &next_own) & high)) !=
                       0))
        return HAUL__APART;
    return (!(which & IS_LAST) || haul__is_range_end(map, object + (last + 1) * HAUL__WORD)) &&
                   (!s->partial || are_partial(map, object, s))
               ? HAUL__KNOWN_BEFORE
               : HAUL__APART;
}

HAUL__INLINE int read_and_mark(haul__discovery *d, haul__start_notes *notes,
                               const haul__brief *brief, uintptr_t object, haul__brief_meaning *m,
                               unsigned which)
{
    shape s;
    int fresh;
    if (HAUL__UNLIKELY(!haul__brief_read(brief, object, m)))
        return HAUL__UNUSUAL;
    s.words = m->words;
    s.slots = m->slots;
    s.partial = 0;
    if (HAUL__UNLIKELY(brief->piece_count | m->piece_count)) {
        take_pieces(&s, brief->pieces, brief->piece_count);
        take_pieces(&s, m->piece, m->piece_count);
    }
    fresh = mark_object(d->map, notes, brief->bytes, object, &s, which);
    if (HAUL__UNLIKELY(fresh < 0))
        return fresh;
    if (HAUL__UNLIKELY(m->excluded_count | brief->walk->excluded_count) &&
        haul__brief_exclude(d, brief, object, m) != HAUL_OK)
        return HAUL__NO_MEMORY;
    return m->words != brief->all && !haul__brief_mark_hole(d->map, object, brief->bytes)
               ? HAUL__NO_MEMORY
               : fresh;
}

/* The block behind an object may tell its end. */
HAUL__INLINE int spell_starts(const haul__map *map, haul__start_notes *notes, uintptr_t first,
                              uintptr_t end)
{
    return HAUL__LIKELY(!haul__are_plain_starts(map, first, end)) ||
           haul__starts_spell(notes, map, first, end, 1);
}

HAUL__HOT static int mark_alone(haul__discovery *d, haul__start_notes *notes,
                                const haul__brief *brief, uintptr_t object, haul__brief_meaning *m)
{
    return spell_starts(d->map, notes, object, object + brief->bytes)
               ? read_and_mark(d, notes, brief, object, m, IS_FIRST | IS_LAST)
               : HAUL__NO_MEMORY;
}

int haul__mark_brief_alone(haul__discovery *d, haul__start_notes *notes, const haul__brief *brief,
                           uintptr_t object, haul__brief_meaning *m)
{
    return mark_alone(d, notes, brief, object, m);
}

int haul__mark_brief_range(haul__discovery *d, haul__start_notes *notes, const haul__brief *brief,
                           uintptr_t first, uintptr_t end)
{
    haul__brief_meaning m;
    uintptr_t at;
    int is_new;
    if (end - first == brief->bytes)
        return mark_alone(d, notes, brief, first, &m);
    is_new = !haul__any_live(d->map, first, end) && !haul__has_start(d->map, first, end);
    if (!spell_starts(d->map, notes, first, end))
        return HAUL__NO_MEMORY;
    for (at = first; at < end; at += brief->bytes) {
        const unsigned which =
            (at == first ? IS_FIRST : 0u) | (at + brief->bytes == end ? IS_LAST : 0u);
        const int fresh = read_and_mark(d, notes, brief, at, &m, which);
        if (fresh != is_new)
            return fresh < 0 ? fresh : HAUL__APART;
    }
    haul__mark_array(d->map, first, end);
    return is_new;
}
