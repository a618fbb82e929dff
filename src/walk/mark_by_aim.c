/* Marking by aims: ranges of any kind, each within the district that a thread has taken.
 *
 * A range is marked by the code that one thread uses: in line if it can be, else the general way.
 * Beside the marks, its start is noted (map/starts.h). So a range is either new, or the same as one
 * that was found before, or it overlaps another. In the last case what counts as an object depends
 * on the order of finding, and one thread must do the whole walk.
 *
 * A range that its row excludes from a direction is excluded once it is marked, new or not: another
 * row may have reached it before. An exclusion is an OR, as a mark is.
 *
 * Why it is fast: the cell, the slots and the text of a range are fetched some entries before it is
 * marked, its starts and its byte mask a few entries before.
 */
#include "walk/by_aim.h"
#include "map/exclusions.h"
#include "map/mark.h"
#include "walk/exclude.h"
#include "walk/hints.h"
#include "walk/mark_brief_by_aim.h"
#include "walk/mark_elements.h"
#include "walk/mark_in_mixed.h"
#include "walk/mark_in_slices.h"

/* ---- One range. */

/* Marks objects that are new, in blocks of their own form if they can be. */
static haul_status mark_objects(haul__discovery *d, const haul__aim *aim, uintptr_t first,
                                uintptr_t end)
{
    haul__marked marked = { 0, 0, 0 };
    haul__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.what = HAUL__OBJECTS;
    entry.address = first;
    entry.met_type = aim->met;
    entry.stride = d->met_types[aim->met].walk->extent;
    entry.count = (size_t)(end - first) / entry.stride;
    return haul__mark_elements(d, &entry, 1, end, &marked);
}

static HAUL__NOINLINE int mark_apart(haul__discovery *d, haul__share *share, const haul__aim *aim,
                                     uintptr_t first, uintptr_t end)
{
    const int is_known = haul__any_live(d->map, first, end);
    haul__pattern pattern;
    haul__marked marked;
    haul_status status;
    if (is_known && !haul__are_live(d->map, first, end, 0))
        return HAUL__APART;
    haul__describe_slots(d, aim, first, end, first, &pattern);
    if (!is_known && d->map == share->map && haul__is_worth_slices(share, first, end))
        status = haul__mark_in_slices(d, share, aim, first, end);
    else if (!is_known && pattern.kind == HAUL__TYPE_SLOTS)
        status = mark_objects(d, aim, first, end);
    else
        status = haul__mark(d->map, first, end, &pattern, &marked);
    if (status != HAUL_OK)
        return status == HAUL_ERROR_MEMORY ? HAUL__NO_MEMORY : HAUL__APART;
    return is_known ? HAUL__KNOWN_BEFORE : HAUL__FRESH;
}

HAUL__INLINE int mark_in_line(const haul__discovery *d, const haul__aim *aim, uintptr_t first,
                              uintptr_t end)
{
    const haul__met_type *met = &d->met_types[aim->met];
    if (aim->kind == HAUL__AIM_BYTES || aim->kind == HAUL__AIM_STRING)
        return haul__mark_plain_array(d->map, first, end);
    if (aim->kind == HAUL__AIM_POINTERS)
        return haul__mark_pointer_array(d->map, first, end);
    if (aim->kind != HAUL__AIM_ONE)
        return HAUL__APART;
    return haul__start_in_cell(first) < haul__near_starts(met)
               ? haul__mark_near(d->map->flat, first, met)
               : haul__mark_over(d->map->flat, first, met);
}

/* Might a new range of bytes be found again as a string? Its terminator is not noted. */
static int may_be_string(const haul__aims *aims, const haul__aim *aim, uintptr_t first,
                         uintptr_t end)
{
    const char *text = (const char *)first;
    const size_t bytes = (size_t)(end - first);
    return aim->kind == HAUL__AIM_BYTES && aims->has_strings && !text[bytes - 1] &&
           memchr(text, 0, bytes) == text + bytes - 1;
}

/* Is an object whose bytes are all live one that was found before? One cell tells it if the block's
 * marks say where objects start: the word behind the object is then dead, unless one starts there.
 */
static int is_known_object(const haul__map *map, uintptr_t first, uintptr_t end)
{
    haul__block *block = haul__block_in(map->flat[first >> HAUL__BLOCK_SHIFT]);
    const unsigned shift = haul__word_in_cell(first), number = haul__cell_number(first);
    const unsigned behind = shift + (unsigned)((end - first) >> HAUL__WORD_SHIFT);
    uint64_t start, words, starts, live;
    if (!haul__is_uniform(block) || !block->base || behind > 63 ||
        (block->words && block->words != behind - shift))
        return haul__is_known_range(map, first, end);
    start = (uint64_t)1 << shift;
    words = ((uint64_t)1 << behind) - start;
    starts = haul__starts_beside(block)[number];
    live = haul__load_cell(&block->cells[number]);
    live = block->words ? live >> behind : (uint64_t)block->cells[number].live >> behind / 2;
    return ((starts ^ start) & words) == 0 && ((starts >> behind | ~live) & 1) != 0;
}

HAUL__INLINE int mark_by_aim(haul__discovery *d, haul__start_notes *notes, haul__share *share,
                             const haul__aim *aim, uintptr_t first, uintptr_t end)
{
    const haul__aims *aims = share->aims;
    const int is_string = aim->kind == HAUL__AIM_STRING;
    int fresh = HAUL__APART, has_end = 0;
    if (aim->kind == HAUL__AIM_ONE || aim->kind == HAUL__AIM_POINTERS)
        fresh = haul__mark_in_mixed(d->map->flat, first, (uint64_t)(end - first),
                                    aim->kind == HAUL__AIM_ONE ? d->met_types[aim->met].simple.slots
                                                               : UINT64_MAX);
    if (fresh != HAUL__APART)
        return fresh;
    if (HAUL__UNLIKELY(haul__are_plain_starts(d->map, first, end)) &&
        !haul__starts_spell(notes, d->map, first, end, 1))
        return HAUL__NO_MEMORY;
    if ((is_string || aim->kind == HAUL__AIM_BYTES) &&
        HAUL__LIKELY(haul__mark_new_array(d->map, first, end, is_string))) {
        fresh = HAUL__FRESH;
        has_end = 1;
    } else {
        fresh = mark_in_line(d, aim, first, end);
    }
    if (HAUL__UNLIKELY(fresh == HAUL__APART))
        fresh = mark_apart(d, share, aim, first, end);
    if (fresh == HAUL__KNOWN_BEFORE)
        return (aim->kind == HAUL__AIM_ONE ? is_known_object(d->map, first, end)
                                           : haul__is_known_range(d->map, first, end))
                   ? fresh
                   : HAUL__APART;
    if (HAUL__UNLIKELY(fresh < 0))
        return fresh;
    if (HAUL__UNLIKELY(aims->has_brief) &&
        (haul__has_start(d->map, first, end) || !haul__is_rest_dead(d->map, end)))
        return HAUL__APART; /* it lies in a hole */
    if (!haul__note_start(notes, d->allocator, haul__map_find(d->map, first), first) ||
        (is_string && !has_end && !haul__mark_end(d->map, end - 1)))
        return HAUL__NO_MEMORY;
    if ((first ^ (end - 1)) >> HAUL__BLOCK_SHIFT != 0 && aim->kind != HAUL__AIM_ONE &&
        !haul__starts_spell(notes, d->map, first, end - 1, 0))
        return HAUL__NO_MEMORY;
    return may_be_string(aims, aim, first, end) ? HAUL__APART : HAUL__FRESH;
}

int haul__mark_by_aim(haul__discovery *d, haul__start_notes *notes, haul__share *share,
                      const haul__aim *aim, uintptr_t first, uintptr_t end)
{
    return aim->kind == HAUL__AIM_BRIEF
               ? haul__mark_brief_range(d, notes, d->met_types[aim->met].brief, first, end)
               : mark_by_aim(d, notes, share, aim, first, end);
}

int haul__exclude_by_aim(haul__discovery *d, const haul__aim *aim, uintptr_t first, uintptr_t end)
{
    const haul__walk *walk = aim->kind == HAUL__AIM_BRIEF ? d->met_types[aim->met].walk : NULL;
    haul_status status = HAUL_OK;
    if (!aim->ways || !walk)
        return !aim->ways || haul__exclude(d->map, first, end, aim->ways);
    for (; first < end && status == HAUL_OK; first += walk->extent)
        status = haul__exclude_object(d, walk, first, aim->ways);
    return status == HAUL_OK;
}

/* ---- A parcel. */

HAUL__INLINE void fetch_marks(const haul__share *share, uint64_t entry)
{
    const haul__aim *aim = &share->aims->list.at[HAUL__ENTRY_TYPE(entry)];
    const uintptr_t address = HAUL__ENTRY_ADDRESS(entry);
    const uintptr_t block = share->flat[address >> HAUL__BLOCK_SHIFT];
    haul__prefetch_write(haul__cell_place(block, address));
    haul__prefetch_write(haul__slots_place(block, address));
    if (aim->kind == HAUL__AIM_STRING)
        haul__prefetch(address);
    if (aim->kind == HAUL__AIM_BRIEF) {
        haul__prefetch(address + share->types[aim->met].first_byte);
        haul__prefetch(address + share->types[aim->met].last_byte);
    }
}

HAUL__INLINE void fetch_starts(const haul__share *share, uint64_t entry)
{
    const uintptr_t address = HAUL__ENTRY_ADDRESS(entry);
    const haul__block *block = haul__block_in(share->flat[address >> HAUL__BLOCK_SHIFT]);
    const size_t granule = haul__granule_in_block(address);
    const haul__side *side = block ? block->side : NULL;
    if (block)
        haul__prefetch_write((uintptr_t)block->base + haul__word_in_block(address) / 64 * 8);
    if (side && side->prefix)
        haul__prefetch_write((uintptr_t)side->prefix + granule / 2);
}

/* A new range waits to be visited, in pieces. */
static void add_visits(haul__sharer *own, haul__district *district, uint64_t entry,
                       const haul__aim *aim, uint64_t bytes)
{
    uint64_t at;
    for (at = 0; at < bytes; at += aim->piece) {
        haul__parcel *open = district->open[HAUL__RANGES];
        open->entry[open->count] = entry + at;
        open->entry[open->count + 1] = bytes - at < aim->piece ? bytes - at : aim->piece;
        open->count += 2;
        if (open->count == HAUL__PARCEL)
            haul__open_visits(own, district, HAUL__RANGES);
    }
}

/* The bytes of a string, with its end; 0: it is long. */
HAUL__INLINE uint64_t string_bytes(uintptr_t first)
{
    const char *end = memchr((const void *)first, 0, HAUL__PLAIN_BYTES);
    return end ? (uint64_t)((uintptr_t)end - first) + 1 : 0;
}

/* Ends the walk after such an answer. */
static void fail(haul__share *share, int answer, uint64_t entry)
{
    if (answer == HAUL__NO_MEMORY)
        haul__end_round(share, HAUL__NEEDS_MEMORY);
    else
        haul__give_up(share, haul__why_unmarked(answer), HAUL__ENTRY_TYPE(entry));
}

/* Marks objects of a brief type. A single one is visited at once: it has just been read. 0: the
 * walk must stop. */
HAUL__INLINE int take_brief(haul__share *share, haul__sharer *own, haul__district *district,
                            uint64_t entry, const haul__aim *aim, uint64_t bytes)
{
    const haul__met_type *met = &share->types[aim->met];
    const uintptr_t first = HAUL__ENTRY_ADDRESS(entry);
    const int is_alone = bytes == met->walk->extent;
    haul__brief_meaning m;
    const int fresh = is_alone
                          ? haul__mark_brief_alone(&own->walk, &own->starts, met->brief, first, &m)
                          : haul__mark_brief_range(&own->walk, &own->starts, met->brief, first,
                                                   first + (uintptr_t)bytes);
    if (HAUL__UNLIKELY(fresh < 0)) {
        fail(share, fresh, entry);
        return 0;
    }
    if (HAUL__UNLIKELY(aim->ways) &&
        !haul__exclude_by_aim(&own->walk, aim, first, first + (uintptr_t)bytes)) {
        fail(share, HAUL__NO_MEMORY, entry);
        return 0;
    }
    if (!fresh)
        return 1;
    own->objects++;
    own->bytes += bytes;
    if (is_alone)
        return haul__visit_brief_by_aim(share, own, met, first, &m);
    if (aim->has_pointers)
        add_visits(own, district, entry, aim, bytes);
    return 1;
}

HAUL__HOT static void mark_parcel_by_aim(haul__share *share, haul__sharer *own,
                                         haul__district *district, const haul__parcel *parcel)
{
    const uint64_t *entry = parcel->entry;
    const size_t count = parcel->count;
    size_t i;
    for (i = 0; i < count && i < 2 * HAUL__MARKS_AHEAD; i += 2)
        fetch_marks(share, entry[i]);
    for (i = 0; i < count; i += 2) {
        const haul__aim *aim = &share->aims->list.at[HAUL__ENTRY_TYPE(entry[i])];
        const uintptr_t first = HAUL__ENTRY_ADDRESS(entry[i]);
        uint64_t bytes = entry[i + 1];
        int fresh;
        if (i + 2 * HAUL__MARKS_AHEAD < count)
            fetch_marks(share, entry[i + 2 * HAUL__MARKS_AHEAD]);
        if (i + 2 * HAUL__STARTS_AHEAD < count)
            fetch_starts(share, entry[i + 2 * HAUL__STARTS_AHEAD]);
        if (HAUL__UNLIKELY(first < HAUL__LOWEST ||
                           (first & (aim->misaligned | (HAUL__WORD - 1))) != 0)) {
            haul__give_up(share, HAUL__WHY_BEGIN, HAUL__ENTRY_TYPE(entry[i]));
            return;
        }
        if (aim->kind == HAUL__AIM_STRING)
            bytes = string_bytes(first);
        if (HAUL__UNLIKELY(!bytes || bytes > HAUL__SIMPLE_BYTES ||
                           (first ^ (first + bytes + HAUL__WORD - 1)) >> HAUL__DISTRICT_SHIFT !=
                               0)) {
            haul__put_aside(own, entry[i]);
            haul__put_aside(own, bytes);
            continue;
        }
        if (aim->kind == HAUL__AIM_BRIEF) {
            if (!take_brief(share, own, district, entry[i], aim, bytes))
                return;
            continue;
        }
        fresh = mark_by_aim(&own->walk, &own->starts, share, aim, first, first + (uintptr_t)bytes);
        if (HAUL__UNLIKELY(fresh < 0)) {
            fail(share, fresh, entry[i]);
            return;
        }
        if (HAUL__UNLIKELY(aim->hint | aim->ways) &&
            (!haul__hint_range(&own->walk, aim->hint, first, first + (uintptr_t)bytes) ||
             !haul__exclude_by_aim(&own->walk, aim, first, first + (uintptr_t)bytes))) {
            haul__end_round(share, HAUL__NEEDS_MEMORY);
            return;
        }
        own->objects += (size_t)fresh;
        own->bytes += fresh ? bytes : 0;
        if (fresh && aim->has_pointers)
            add_visits(own, district, entry[i], aim, bytes);
    }
}

void haul__mark_parcel_by_aim(haul__share *share, haul__sharer *own, haul__district *district,
                              const haul__parcel *parcel)
{
    mark_parcel_by_aim(share, own, district, parcel);
}
