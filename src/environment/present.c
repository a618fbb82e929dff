/* The present table: ranges come and go (present_records.h).
 *
 * A change makes the version odd while it writes records that readers may see. Even ranges come and
 * go together (present_even.c). So do other ranges that begin and end in one page: the page is
 * changed once. A range alone takes a way of its own (add_piece, remove_piece), which is a sixth
 * shorter.
 */
#include "environment/present_change.h"

/* ---- Pages. */

/* Does the range cover the page at `page_at`, and go on behind it? */
static int covers(uintptr_t begin, uintptr_t end, uintptr_t page_at)
{
    return begin <= page_at && end - page_at > HAUL__PRESENT_SPAN;
}

static haul__page_piece piece_in(uintptr_t begin, uintptr_t end, uintptr_t page_at, uintptr_t delta,
                                 uint32_t group)
{
    const uintptr_t first = begin > page_at ? begin - page_at : 0,
                    last = end - page_at > HAUL__PRESENT_SPAN ? HAUL__PRESENT_SPAN - 1
                                                              : end - page_at - 1;
    haul__page_piece one;
    one.delta = delta;
    one.group = group;
    one.place = (uint32_t)first | (uint32_t)last << HAUL__PRESENT_LAST |
                (begin < page_at ? HAUL__PRESENT_BEGUN : 0) |
                (end - page_at > HAUL__PRESENT_SPAN ? HAUL__PRESENT_GOES_ON : 0);
    return one;
}

/* The piece of a range that begins and ends in one page. */
HAUL__INLINE haul__page_piece piece_of(const haul__covered *range, int by_device, uint32_t group)
{
    const uintptr_t first = haul__present_begin_of(range, by_device) & (HAUL__PRESENT_SPAN - 1),
                    delta = range->device - range->begin;
    haul__page_piece one;
    one.delta = by_device ? 0 - delta : delta;
    one.group = group;
    one.place = (uint32_t)first | (uint32_t)(first + range->bytes - 1) << HAUL__PRESENT_LAST;
    return one;
}

/* One range covers the page and goes on behind it. */
static void set_whole(haul__page_entry *entry, uintptr_t delta, uint32_t group)
{
    haul__page_row row = { 0, 0, (uint32_t)HAUL__PRESENT_SPAN - 1, 0, 0, 0 };
    row.delta = delta;
    row.group = group;
    haul__present_set_row(entry, &row);
    HAUL__STORE(entry->word, HAUL__PRESENT_ROW | HAUL__PRESENT_ROW_GOES_ON);
}

static int add_piece(haul__present *table, haul__page_entry *entry, const haul__page_piece *one)
{
    haul__present_page *p = haul__present_with_room(table, entry, 1);
    haul__merger m;
    if (!p)
        return 0;
    haul__present_begin_change(table);
    m = haul__present_begin_merge(p, 1);
    haul__present_merge(&m, one);
    haul__present_index(entry, p);
    haul__present_end_change(table);
    return 1;
}

/* Merges the pieces of `count` ranges of a list into a page. */
HAUL__HOT static void merge_pieces(haul__present_page *p, const haul__covered *ranges, size_t count,
                                   int by_device, uint32_t group)
{
    haul__merger m = haul__present_begin_merge(p, count);
    size_t left;
    for (left = count; left > 0; left--) {
        const haul__page_piece one = piece_of(&ranges[left - 1], by_device, group);
        haul__present_merge(&m, &one);
    }
}

static int add_pieces(haul__present *table, haul__page_entry *entry, const haul__covered *ranges,
                      size_t count, int by_device, uint32_t group)
{
    haul__present_page *p = haul__present_with_room(table, entry, count);
    if (!p)
        return 0;
    haul__present_begin_change(table);
    merge_pieces(p, ranges, count, by_device, group);
    haul__present_index(entry, p);
    haul__present_end_change(table);
    return 1;
}

static void remove_piece(haul__present *table, haul__page_entry *entry, unsigned first)
{
    haul__present_page *p = haul__present_record_of(entry->word);
    uint32_t i;
    if (haul__present_is_unwritten(entry))
        haul__present_write(table, entry);
    i = p->count - 1;
    while (haul__first_of(p->pieces[i].place) != first)
        i--;
    haul__present_begin_change(table);
    for (; i + 1 < p->count; i++)
        haul__present_put(&p->pieces[i], &p->pieces[i + 1]);
    HAUL__STORE(p->count, p->count - 1);
    haul__present_end_removal(table, entry);
    haul__present_end_change(table);
}

/* Takes the pieces of `count` ranges of a list out of a page. */
static void remove_pieces(haul__present *table, haul__page_entry *entry,
                          const haul__covered *ranges, size_t count, int by_device)
{
    haul__present_page *p = haul__present_record_of(entry->word);
    uint32_t i, kept = 0;
    size_t gone = 0;
    if (haul__present_is_unwritten(entry))
        haul__present_write(table, entry);
    haul__present_begin_change(table);
    for (i = 0; i < p->count; i++) {
        if (gone < count &&
            haul__first_of(p->pieces[i].place) ==
                (haul__present_begin_of(&ranges[gone], by_device) & (HAUL__PRESENT_SPAN - 1)))
            gone++;
        else
            haul__present_put(&p->pieces[kept++], &p->pieces[i]);
    }
    HAUL__STORE(p->count, kept);
    haul__present_end_removal(table, entry);
    haul__present_end_change(table);
}

/* ---- Ranges. Before one comes or goes, the table notes for readers where it lies. */

/* Removes the range from its pages before `until`. */
static void remove_until(haul__present *table, uintptr_t begin, uintptr_t end, uintptr_t until)
{
    uintptr_t at;
    for (at = begin & ~(HAUL__PRESENT_SPAN - 1); at < until; at += HAUL__PRESENT_SPAN) {
        haul__page_entry *entry = haul__present_page_made(table, at);
        if (covers(begin, end, at)) {
            haul__present_begin_change(table);
            HAUL__STORE(entry->word, (uintptr_t)0);
            haul__present_end_change(table);
        } else {
            remove_piece(table, entry, begin > at ? (unsigned)(begin - at) : 0);
        }
    }
}

static int add_range(haul__present *table, uintptr_t begin, uintptr_t end, uintptr_t delta,
                     uint32_t group)
{
    uintptr_t at;
    for (at = begin & ~(HAUL__PRESENT_SPAN - 1); at < end; at += HAUL__PRESENT_SPAN) {
        const haul__page_piece one = piece_in(begin, end, at, delta, group);
        haul__page_entry *entry = haul__present_page_made(table, at);
        if (!entry || (!covers(begin, end, at) && !add_piece(table, entry, &one))) {
            remove_until(table, begin, end, at);
            return 0;
        }
        if (!covers(begin, end, at))
            continue;
        haul__present_begin_change(table);
        set_whole(entry, delta, group);
        haul__present_end_change(table);
    }
    return 1;
}

int haul__present_add(haul__present *table, uintptr_t begin, size_t bytes, uintptr_t delta,
                      uint32_t group)
{
    int is_added;
    haul__present_announce(table, begin, begin + bytes);
    is_added = add_range(table, begin, begin + bytes, delta, group);
    haul__present_conclude(table);
    return is_added;
}

void haul__present_remove(haul__present *table, uintptr_t begin, size_t bytes)
{
    haul__present_announce(table, begin, begin + bytes);
    remove_until(table, begin, begin + bytes, begin + bytes);
    haul__present_conclude(table);
}

/* Those of a list from its first range on, which lie in one page. */
static void announce_together(haul__present *table, const haul__covered *ranges, size_t count,
                              int by_device)
{
    const haul__covered *last = &ranges[count - 1];
    haul__present_announce(table, haul__present_begin_of(ranges, by_device),
                           haul__present_begin_of(last, by_device) + last->bytes);
}

/* How many ranges, from the first one on, begin and end in its page. 0: it does not end there. */
static size_t count_together(const haul__covered *ranges, size_t count, int by_device)
{
    const uintptr_t page_at = haul__present_begin_of(ranges, by_device) & ~(HAUL__PRESENT_SPAN - 1);
    size_t together = 0;
    while (together < count) {
        const uintptr_t from_page = haul__present_begin_of(&ranges[together], by_device) - page_at;
        if (from_page >= HAUL__PRESENT_SPAN ||
            ranges[together].bytes > HAUL__PRESENT_SPAN - from_page)
            break;
        together++;
    }
    return together;
}

void haul__present_remove_all(haul__present *table, const haul__covered *ranges, size_t count,
                              int by_device)
{
    size_t i, together;
    for (i = 0; i < count; i += together) {
        const uintptr_t begin = haul__present_begin_of(&ranges[i], by_device);
        const haul__even even = haul__present_find_even(ranges + i, count - i, by_device, 0);
        together = even.count ? even.count : count_together(ranges + i, count - i, by_device);
        if (even.count) {
            haul__present_remove_even(table, &even);
        } else if (together > 1) {
            announce_together(table, ranges + i, together, by_device);
            remove_pieces(table, haul__present_page_made(table, begin), ranges + i, together,
                          by_device);
            haul__present_conclude(table);
        } else {
            together = 1;
            haul__present_remove(table, begin, ranges[i].bytes);
        }
    }
}

int haul__present_add_all(haul__present *table, const haul__covered *ranges, size_t count,
                          int by_device, uint32_t group)
{
    size_t i, together;
    for (i = 0; i < count; i += together) {
        const uintptr_t begin = haul__present_begin_of(&ranges[i], by_device),
                        delta = ranges[i].device - ranges[i].begin;
        const haul__even even = haul__present_find_even(ranges + i, count - i, by_device, group);
        int is_added;
        together = even.count ? even.count : count_together(ranges + i, count - i, by_device);
        if (even.count) {
            is_added = haul__present_add_even(table, &even);
        } else if (together > 1) {
            haul__page_entry *entry = haul__present_page_made(table, begin);
            announce_together(table, ranges + i, together, by_device);
            is_added = entry && add_pieces(table, entry, ranges + i, together, by_device, group);
            haul__present_conclude(table);
        } else {
            together = 1;
            is_added = haul__present_add(table, begin, ranges[i].bytes,
                                         by_device ? 0 - delta : delta, group);
        }
        if (is_added)
            continue;
        haul__present_remove_all(table, ranges, i, by_device);
        return 0;
    }
    return 1;
}
