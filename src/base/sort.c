/* Sorting in place, in O(n log n), with a stack that is an array.
 *
 * Quicksort does the work. The pivot is the median of three. The smaller side is sorted first and
 * the larger one is remembered, so 64 remembered ranges are enough for any size_t. A range that was
 * split more than twice its logarithm (a hostile input) is finished by heapsort, whose worst case
 * is n log n too. Short ranges are left to insertion sort. An input in order, the usual one, costs
 * one pass.
 */
#include <stdint.h>
#include <string.h>

#include "base/sort.h"

typedef struct sorter {
    unsigned char *records;
    size_t bytes;
    int (*before)(const void *a, const void *b);
    int (*goes_on)(void *user);
    void *user;
    size_t left; /* records that are moved or passed before the next look */
    int is_over;
} sorter;

enum { SHORT = 16, RANGES = 64, MOVES = 4, LOOK = 10000 };

/* So many records more have been moved or passed. 1: the sort is given up. */
static int is_over_behind(sorter *s, size_t records)
{
    if (records < s->left) {
        s->left -= records;
        return 0;
    }
    if (s->is_over)
        return 1; /* it is not asked again */
    s->left = LOOK;
    if (s->goes_on && !s->goes_on(s->user)) {
        s->left = 0;
        s->is_over = 1;
    }
    return s->is_over;
}

static unsigned char *at(const sorter *s, size_t index)
{
    return s->records + index * s->bytes;
}

static int is_before(const sorter *s, size_t a, size_t b)
{
    return s->before(at(s, a), at(s, b));
}

static void swap(const sorter *s, size_t a, size_t b)
{
    unsigned char spare[HAUL__SORT_RECORD_MAX];
    if (a == b)
        return;
    memcpy(spare, at(s, a), s->bytes);
    memcpy(at(s, a), at(s, b), s->bytes);
    memcpy(at(s, b), spare, s->bytes);
}

/* Gives up after `some` moves of records, and `more` for each one that is in order by then: so it
 * soon gives up an input without any order. 1: the range is sorted. */
static int insert(sorter *s, size_t first, size_t end, size_t some, size_t more)
{
    unsigned char spare[HAUL__SORT_RECORD_MAX];
    size_t i, hole, moved = 0;
    for (i = first + 1; i < end && moved <= some + more * (i - first); i++) {
        if (is_over_behind(s, 1))
            return 1;
        if (!is_before(s, i, i - 1))
            continue;
        memcpy(spare, at(s, i), s->bytes);
        for (hole = i; hole > first && s->before(spare, at(s, hole - 1)); hole--)
            memcpy(at(s, hole), at(s, hole - 1), s->bytes);
        memcpy(at(s, hole), spare, s->bytes);
        moved += i - hole;
    }
    return i == end;
}

/* Sifts the record at `root` of the heap over [first, first + count) down to its place. */
static void sink(const sorter *s, size_t first, size_t root, size_t count)
{
    size_t child;
    while (root < count / 2) {
        child = 2 * root + 1;
        if (child + 1 < count && is_before(s, first + child, first + child + 1))
            child++;
        if (!is_before(s, first + root, first + child))
            return;
        swap(s, first + root, first + child);
        root = child;
    }
}

static void heapsort(sorter *s, size_t first, size_t end)
{
    size_t count = end - first, i;
    for (i = count / 2; i-- > 0 && !is_over_behind(s, 1);)
        sink(s, first, i, count);
    for (i = count; i-- > 1 && !s->is_over;) {
        if (is_over_behind(s, 1))
            return;
        swap(s, first, first + i);
        sink(s, first, 0, i);
    }
}

/* Splits [first, end), of at least three records, and answers the place of the pivot: no record
 * before it must come after it, and no record after it must come before it. */
static size_t split(sorter *s, size_t first, size_t end)
{
    size_t middle = first + (end - first) / 2, last = end - 1, low = first, high = last;
    if (is_before(s, middle, first))
        swap(s, middle, first);
    if (is_before(s, last, middle))
        swap(s, last, middle);
    if (is_before(s, middle, first))
        swap(s, middle, first);
    swap(s, first, middle);
    for (;;) {
        do
            low++;
        while (low < last && is_before(s, low, first));
        while (is_before(s, first, high))
            high--;
        if (low >= high)
            break;
        swap(s, low, high);
        high--;
        if (is_over_behind(s, 1))
            break;
    }
    (void)is_over_behind(s, end - first);
    swap(s, first, high);
    return high;
}

static unsigned logarithm(size_t n)
{
    unsigned bits = 0;
    for (; n > 1; n /= 2)
        bits++;
    return bits;
}

static void sort_range(sorter *s, size_t count)
{
    struct {
        size_t first, end;
        unsigned splits;
    } later[RANGES];
    size_t first = 0, end = count, pivot;
    unsigned splits = 2 * logarithm(count), depth = 0;
    for (;;) {
        if (s->is_over)
            return;
        if (end - first > SHORT && splits > 0) {
            pivot = split(s, first, end);
            splits--;
            later[depth].splits = splits;
            if (pivot - first < end - pivot) {
                later[depth].first = pivot + 1;
                later[depth++].end = end;
                end = pivot;
            } else {
                later[depth].first = first;
                later[depth++].end = pivot;
                first = pivot + 1;
            }
            continue;
        }
        if (end - first > SHORT)
            heapsort(s, first, end);
        else
            insert(s, first, end, SIZE_MAX, 0);
        if (depth == 0)
            return;
        first = later[--depth].first;
        end = later[depth].end;
        splits = later[depth].splits;
    }
}

int haul__sort_watched(void *records, size_t count, size_t record_bytes,
                       int (*before)(const void *a, const void *b), int (*goes_on)(void *user),
                       void *user)
{
    sorter s;
    s.records = records;
    s.bytes = record_bytes;
    s.before = before;
    s.goes_on = goes_on;
    s.user = user;
    s.left = LOOK;
    s.is_over = 0;
    if (count > 1 && !insert(&s, 0, count, SHORT, MOVES))
        sort_range(&s, count);
    return !s.is_over;
}

void haul__sort(void *records, size_t count, size_t record_bytes,
                int (*before)(const void *a, const void *b))
{
    (void)haul__sort_watched(records, count, record_bytes, before, NULL, NULL);
}
