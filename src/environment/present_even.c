/* Even ranges of a present table: of equal bytes, at equal distances on both sides.
 *
 * They come and go page by page, in place of one by one: what a page has of them is arithmetic. The
 * copies of a group's nodes lie side by side, so on the device's side nearly all ranges are such,
 * and no other group has bytes in their pages. There no piece is ever written.
 */
#include "environment/present_change.h"

#define FEW_EVEN 4u /* so few take the general way */

haul__even haul__present_find_even(const haul__covered *ranges, size_t count, int by_device,
                                   uint32_t group)
{
    haul__even even = { 0, 0, 0, 0, 0, 0, 0 };
    uintptr_t here, there, begin, device, delta = ranges->device - ranges->begin;
    size_t i;
    if (count < FEW_EVEN)
        return even;
    here = ranges[1].begin - ranges->begin;
    there = ranges[1].device - ranges->device;
    even.stride = by_device ? there : here;
    if (even.stride >= HAUL__PRESENT_SPAN) /* before they are counted: the caller asks for each */
        return even;
    begin = ranges->begin;
    device = ranges->device;
    even.bytes = ranges->bytes;
    for (i = 1; i < count; i++) {
        begin += here;
        device += there;
        if ((ranges[i].begin ^ begin) | (ranges[i].device ^ device) |
            (ranges[i].bytes ^ even.bytes))
            break;
    }
    even.begin = haul__present_begin_of(ranges, by_device);
    even.delta = by_device ? 0 - delta : delta;
    even.step = by_device ? here - there : there - here;
    even.group = group;
    even.count = i < FEW_EVEN ? 0 : i;
    return even;
}

/* Those of the page at `page_at`, from one on that begins in it or reaches into it. As two are less
 * than a page apart, each page has some. */
HAUL__INLINE haul__even_part part_in(const haul__even *even, uintptr_t page_at, size_t first)
{
    const size_t last_begun = (page_at + HAUL__PRESENT_SPAN - 1 - even->begin) / even->stride,
                 last = last_begun < even->count ? last_begun : even->count - 1;
    haul__even_part part;
    part.first = first;
    part.count = (uint32_t)(last - first) + 1;
    part.begin = (int32_t)(intptr_t)(even->begin + first * even->stride - page_at);
    part.goes_on = even->begin + last * even->stride + even->bytes - page_at > HAUL__PRESENT_SPAN;
    return part;
}

/* The first one of the next page. */
HAUL__INLINE size_t next_part(const haul__even_part *part)
{
    return part->first + part->count - (part->goes_on ? 1 : 0);
}

/* Merges them into the pieces of a page. It cuts none but the first and the last one. */
HAUL__HOT static void merge_even(haul__present_page *p, const haul__even *even,
                                 const haul__even_part *part)
{
    const uint32_t count = part->count, stride = (uint32_t)even->stride,
                   begin = (uint32_t)part->begin + (count - 1) * stride;
    const uintptr_t step = even->step;
    haul__merger m = haul__present_begin_merge(p, count);
    uint32_t left, uncut = begin + ((begin + (uint32_t)even->bytes - 1) << HAUL__PRESENT_LAST);
    haul__page_piece one;
    one.group = even->group;
    one.delta = even->delta + (part->first + count - 1) * step;
    for (left = count; left > 0; left--) {
        one.place = uncut;
        if (left == count || left == 1)
            one.place = haul__place_in_page(part->begin + (int32_t)((left - 1) * stride),
                                            even->bytes, left == count && part->goes_on);
        haul__present_merge(&m, &one);
        one.delta -= step;
        uncut -= stride + (stride << HAUL__PRESENT_LAST);
    }
}

/* *is_told: the entry alone tells what the page has. 0: out of memory. */
static int add_part(haul__present *table, haul__page_entry *entry, const haul__even *even,
                    const haul__even_part *part, int *is_told)
{
    haul__present_page *p = haul__present_with_room(table, entry, part->count);
    haul__page_row row;
    if (!p)
        return 0;
    *is_told = p->count == 0 && haul__present_row_of(even, part, &row);
    haul__present_begin_change(table);
    if (*is_told) {
        haul__present_set_row(entry, &row);
        HAUL__STORE(entry->word, (uintptr_t)p | HAUL__PRESENT_ROW |
                                     (part->goes_on ? HAUL__PRESENT_ROW_GOES_ON : 0));
    } else {
        merge_even(p, even, part);
        haul__present_index(entry, p);
    }
    haul__present_end_change(table);
    return 1;
}

/* The slot tells the row of a block: `head`, `tail`: its first and its last page. */
static void tell_block(haul__present *table, const haul__even *even, const haul__even_part *head,
                       const haul__even_part *tail)
{
    haul__block_row *row = &((haul__present_slot *)table->last_slot)->row;
    haul__present_begin_change(table);
    HAUL__STORE(row->begin, (uintptr_t)(intptr_t)head->begin);
    HAUL__STORE(row->delta, even->delta + head->first * even->step);
    HAUL__STORE(row->step, even->step);
    HAUL__STORE(row->shape, (even->bytes - 1) | even->stride << HAUL__PRESENT_STRIDE);
    HAUL__STORE(row->last, tail->first + tail->count - 1 - head->first);
    HAUL__STORE(row->inverse, (((uintptr_t)1 << HAUL__BLOCK_INVERSE) - 1) / even->stride + 1);
    haul__present_end_change(table);
}

static void remove_part(haul__present *table, haul__page_entry *entry, const haul__even *even,
                        const haul__even_part *part)
{
    haul__present_page *p = haul__present_record_of(entry->word);
    int32_t begin = part->begin;
    uint32_t i, kept = 0, left = part->count;
    if (haul__present_is_unwritten(entry) && haul__row_count(&entry->as.row) != left)
        haul__present_write(table, entry);
    haul__present_begin_change(table);
    for (i = 0; i < p->count; i++) {
        if (left > 0 && haul__first_of(p->pieces[i].place) == (uint32_t)(begin < 0 ? 0 : begin)) {
            begin += (int32_t)even->stride;
            left--;
        } else {
            haul__present_put(&p->pieces[kept++], &p->pieces[i]);
        }
    }
    HAUL__STORE(p->count, kept);
    haul__present_end_removal(table, entry);
    haul__present_end_change(table);
}

/* Removes them from their pages before `until`. */
static void remove_until(haul__present *table, const haul__even *even, uintptr_t until)
{
    uintptr_t at = even->begin & ~(HAUL__PRESENT_SPAN - 1);
    haul__even_part part;
    size_t first = 0;
    for (; at < until; at += HAUL__PRESENT_SPAN, first = next_part(&part)) {
        part = part_in(even, at, first);
        remove_part(table, haul__present_page_made(table, at), even, &part);
    }
}

static uintptr_t end_of_even(const haul__even *even)
{
    return even->begin + (even->count - 1) * even->stride + even->bytes;
}

static int add_even(haul__present *table, const haul__even *even, uintptr_t end)
{
    uintptr_t at = even->begin & ~(HAUL__PRESENT_SPAN - 1);
    haul__even_part part, head = { 0, 0, 0, 0 };
    size_t first = 0;
    unsigned told = 0; /* pages of the block, from its first one on */
    for (; at < end; at += HAUL__PRESENT_SPAN, first = next_part(&part)) {
        haul__page_entry *entry = haul__present_page_made(table, at);
        int is_told;
        part = part_in(even, at, first);
        if (!entry || !add_part(table, entry, even, &part, &is_told)) {
            remove_until(table, even, at);
            return 0;
        }
        if (haul__present_page_of(at) == 0) {
            head = part;
            told = 0;
        }
        told += is_told ? 1 : 0;
        if (haul__present_page_of(at) == HAUL__PRESENT_PAGES - 1 && told == HAUL__PRESENT_PAGES)
            tell_block(table, even, &head, &part);
    }
    return 1;
}

int haul__present_add_even(haul__present *table, const haul__even *even)
{
    const uintptr_t end = end_of_even(even);
    int is_added;
    haul__present_announce(table, even->begin, end);
    is_added = add_even(table, even, end);
    haul__present_conclude(table);
    return is_added;
}

void haul__present_remove_even(haul__present *table, const haul__even *even)
{
    const uintptr_t end = end_of_even(even);
    haul__present_announce(table, even->begin, end);
    remove_until(table, even, end);
    haul__present_conclude(table);
}
