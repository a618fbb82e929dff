/* Sorting by addresses.
 *
 * A radix sort, from the lowest digit, of pairs of an address and the number of its record; then
 * each record moves once, to its place. The addresses of a heap differ in few digits, so two or
 * three passes over the pairs are enough, and none of them calls a function. Records with the same
 * address are left to haul__sort, for which the rest is in order. It also takes over if there are
 * few records or there is no memory.
 */
#include "base/sort_by_address.h"
#include "base/sort.h"

#define FEW_RECORDS ((size_t)32)
#define RADIX_BITS 8u
#define RADIX ((size_t)1 << RADIX_BITS)

typedef struct numbered {
    uintptr_t address;
    size_t number;
} numbered;

/* Sorts by one digit. */
static void sort_digit(const numbered *from, numbered *to, size_t count, unsigned shift)
{
    size_t places[RADIX] = { 0 }, sum = 0, i;
    for (i = 0; i < count; i++)
        places[from[i].address >> shift & (RADIX - 1)]++;
    for (i = 0; i < RADIX; i++) {
        const size_t many = places[i];
        places[i] = sum;
        sum += many;
    }
    for (i = 0; i < count; i++)
        to[places[from[i].address >> shift & (RADIX - 1)]++] = from[i];
}

/* Sorts all pairs, and answers where they are then. `differ` has the bits in which addresses
 * differ: digits without such a bit are skipped. */
static numbered *sort_pairs(numbered *from, numbered *to, size_t count, uintptr_t differ)
{
    unsigned shift;
    for (shift = 0; shift < 8 * sizeof differ && differ >> shift; shift += RADIX_BITS) {
        numbered *sorted = to;
        while (!(differ >> shift & 1))
            shift++;
        sort_digit(from, to, count, shift);
        to = from;
        from = sorted;
    }
    return from;
}

/* Moves each record to its place, one circle of moves after another. pairs[i] has the number of the
 * record that belongs at i. */
static void move_records(unsigned char *records, size_t bytes, numbered *pairs, size_t count)
{
    unsigned char spare[HAUL__SORT_RECORD_MAX];
    size_t i, at, from;
    for (i = 0; i < count; i++) {
        if (pairs[i].number == i)
            continue;
        memcpy(spare, records + i * bytes, bytes);
        for (at = i; pairs[at].number != i; at = from) {
            from = pairs[at].number;
            memcpy(records + at * bytes, records + from * bytes, bytes);
            pairs[at].number = at;
        }
        memcpy(records + at * bytes, spare, bytes);
        pairs[at].number = at;
    }
}

/* Do all addresses rise from record to record? The usual records do. */
static int are_rising(const unsigned char *records, size_t count, size_t bytes)
{
    uintptr_t last = haul__load_word(records);
    size_t i;
    for (i = 1; i < count; i++) {
        const uintptr_t address = haul__load_word(records + i * bytes);
        if (address <= last)
            return 0;
        last = address;
    }
    return 1;
}

/* Sorts by addresses alone. 1: they differ, and the records are sorted. */
static int sort_addresses(const haul_allocator *allocator, unsigned char *records, size_t count,
                          size_t bytes)
{
    const uintptr_t first = haul__load_word(records);
    uintptr_t differ = 0, last = first;
    int is_in_order = 1, are_different = 1;
    numbered *pairs, *sorted;
    size_t i;
    for (i = 1; i < count; i++) {
        const uintptr_t address = haul__load_word(records + i * bytes);
        differ |= address ^ first;
        is_in_order &= last <= address;
        last = address;
    }
    pairs = is_in_order ? NULL : haul__allocate(allocator, 2 * count * sizeof *pairs, HAUL__LINE);
    if (!pairs)
        return 0;
    for (i = 0; i < count; i++) {
        pairs[i].address = haul__load_word(records + i * bytes);
        pairs[i].number = i;
    }
    sorted = sort_pairs(pairs, pairs + count, count, differ);
    for (i = 1; i < count; i++)
        are_different &= sorted[i - 1].address != sorted[i].address;
    move_records(records, bytes, sorted, count);
    haul__release(allocator, pairs, 2 * count * sizeof *pairs);
    return are_different;
}

void haul__sort_by_address(const haul_allocator *allocator, void *records, size_t count,
                           size_t record_bytes, int (*before)(const void *a, const void *b))
{
    if (count > 0 && are_rising(records, count, record_bytes))
        return;
    if (count > FEW_RECORDS && count <= SIZE_MAX / (2 * sizeof(numbered)) &&
        sort_addresses(allocator, records, count, record_bytes))
        return;
    haul__sort(records, count, record_bytes, before);
}
