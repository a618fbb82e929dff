/* Rows: pages of a present table whose ranges an entry describes (present_records.h).
 *
 * All of a row's ranges have equal bytes and equal distances, but the page cuts its first and its
 * last one. Where these begin and end elsewhere does not matter to a look-up. So the first one is
 * taken to end where it does, and to begin before the page if it must.
 */
#include "environment/present_records.h"

#define MOST_IN_ROW ((uint32_t)1 << 8)

typedef struct row {
    int32_t begin, bytes, stride;
    uintptr_t delta, step;
} row;

static int32_t first_of(const haul__page_piece *one)
{
    return (int32_t)haul__first_of(one->place);
}

static int32_t end_of(const haul__page_piece *one)
{
    return (int32_t)haul__last_of(one->place) + 1;
}

static int goes_on(const haul__page_piece *one)
{
    return (one->place & HAUL__PRESENT_GOES_ON) != 0;
}

/* The row that the first two pieces would begin. */
static row begin_row(const haul__page_piece *pieces, uint32_t count)
{
    const uint32_t cut = pieces[0].place & HAUL__PRESENT_BEGUN ? 1 : 0,
                   whole = cut < count ? cut : 0;
    const int32_t head = end_of(&pieces[0]);
    row r;
    r.bytes = end_of(&pieces[whole]) - first_of(&pieces[whole]);
    if (goes_on(&pieces[whole]) && r.bytes < head)
        r.bytes = head; /* it has as many bytes as it must */
    r.begin = cut ? head - r.bytes : first_of(&pieces[0]);
    r.stride = count > 1 ? first_of(&pieces[1]) - r.begin : 0;
    r.delta = pieces[0].delta;
    r.step = count > 1 ? pieces[1].delta - r.delta : 0;
    return r;
}

static int is_in_row(const row *r, const haul__page_piece *one, uint32_t i)
{
    const int32_t begin = r->begin + (int32_t)i * r->stride, end = begin + r->bytes;
    return first_of(one) == (begin > 0 ? begin : 0) &&
           (goes_on(one) ? end >= end_of(one) : end == end_of(one)) &&
           one->delta == r->delta + i * r->step;
}

/* Are all ranges but the first and the last one in the row? The page cuts none of these. */
static int are_amid_in_row(const row *r, const haul__page_piece *pieces, uint32_t count)
{
    const uint32_t further = (uint32_t)r->stride | (uint32_t)r->stride << HAUL__PRESENT_LAST;
    uint32_t i;
    for (i = 1; i + 2 < count; i++)
        if (pieces[i + 1].place - pieces[i].place != further ||
            pieces[i + 1].delta - pieces[i].delta != r->step ||
            pieces[i + 1].group != pieces[i].group)
            return 0;
    return count < 3 || is_in_row(r, &pieces[1], 1);
}

static void describe(const row *r, uint32_t count, uint32_t group, haul__page_row *to)
{
    to->delta = r->delta;
    to->group = group;
    to->shape = (uint32_t)(r->bytes - 1) | (uint32_t)r->stride << HAUL__PRESENT_STRIDE |
                (count - 1) << HAUL__PRESENT_COUNT;
    to->inverse =
        r->stride ? (((uint32_t)1 << HAUL__PRESENT_INVERSE) - 1) / (uint32_t)r->stride + 1 : 0;
    to->begin = (int16_t)r->begin;
    to->step = (int16_t)(intptr_t)r->step;
}

int haul__present_row(const haul__page_piece *pieces, uint32_t count, haul__page_row *to)
{
    const haul__page_piece *last = &pieces[count - 1];
    row r;
    if (count > MOST_IN_ROW || last->group != pieces[0].group ||
        pieces[count / 2].group != pieces[0].group)
        return 0;
    r = begin_row(pieces, count);
    if (r.begin > 0 && pieces[0].place & HAUL__PRESENT_BEGUN)
        return 0;
    if (r.stride >> HAUL__PRESENT_STRIDE || r.step + 0x8000u > 0xffffu)
        return 0;
    if (!is_in_row(&r, &pieces[0], 0) || !is_in_row(&r, last, count - 1) ||
        !are_amid_in_row(&r, pieces, count))
        return 0;
    describe(&r, count, pieces[0].group, to);
    return 1;
}

int haul__present_row_of(const haul__even *ranges, const haul__even_part *part, haul__page_row *to)
{
    const row r = { (int32_t)part->begin, (int32_t)ranges->bytes, (int32_t)ranges->stride,
                    ranges->delta + part->first * ranges->step, ranges->step };
    if (part->count > MOST_IN_ROW || r.step + 0x8000u > 0xffffu)
        return 0;
    describe(&r, part->count, ranges->group, to);
    return 1;
}

haul__page_piece haul__present_piece_of(const haul__page_row *row, int goes_on, uint32_t i)
{
    const int32_t begin = row->begin + (int32_t)(i * haul__row_stride(row));
    haul__page_piece one;
    one.delta = row->delta + (uintptr_t)i * (uintptr_t)row->step;
    one.group = row->group;
    one.place =
        haul__place_in_page(begin, haul__row_bytes(row), goes_on && i == haul__row_count(row) - 1);
    return one;
}
