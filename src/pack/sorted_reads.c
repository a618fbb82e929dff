/* The read set by address: made from the reads of a plan, and searched.
 */
#include "base/sort.h"
#include "base/list.h"
#include "pack/plan_struct.h"
#include "pack/sorted_reads.h"

#define DIGIT_BITS 8u
#define DIGITS (1u << DIGIT_BITS)
#define ADDRESS_BITS 48u

void haul__read_set_free(const haul_allocator *allocator, haul__read_set *reads)
{
    haul__release(allocator, reads->words, reads->capacity * sizeof *reads->words);
    haul__release(allocator, reads->far, reads->far_capacity * sizeof *reads->far);
    memset(reads, 0, sizeof *reads);
}

size_t haul__read_set_bytes(const haul__read_set *reads)
{
    return reads->capacity * sizeof *reads->words + reads->far_capacity * sizeof *reads->far;
}

static size_t count_ends(const haul_plan *plan)
{
    size_t i, count = 0;
    for (i = 0; i < plan->found.map.block_count; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        count += block->side ? block->side->end_count : 0;
    }
    return count;
}

/* A far read's value stands before it, so the loop goes from the last read to the first. */
static void take_reads(const haul__found *found, haul__read_set *reads)
{
    size_t i = found->read_count;
    while (i > 0) {
        const uint64_t read = found->reads[--i];
        reads->words[reads->count++] = read;
        if (read >> 50 != HAUL__READ_FAR)
            continue;
        reads->far[reads->far_count].place = HAUL__READ_PLACE(read);
        reads->far[reads->far_count++].value = (int64_t)found->reads[--i];
    }
}

static size_t count_far(const haul__found *found)
{
    size_t i = found->read_count, count = 0;
    while (i > 0) {
        const size_t is_far = found->reads[--i] >> 50 == HAUL__READ_FAR;
        count += is_far;
        i -= is_far;
    }
    return count;
}

static int is_before(const void *a, const void *b)
{
    const haul__far_read *x = a, *y = b;
    return x->place < y->place;
}

/* Compares addresses alone: the width stands above the address in the word. */
static int is_in_order(const uint64_t *words, size_t count)
{
    size_t i;
    for (i = 1; i < count; i++)
        if (HAUL__READ_ADDRESS(words[i]) < HAUL__READ_ADDRESS(words[i - 1]))
            return 0;
    return 1;
}

/* Sorts by one digit. 0: all words have the same digit, and nothing was moved. */
static int sort_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned shift)
{
    size_t starts[DIGITS] = { 0 }, sum = 0, i;
    for (i = 0; i < count; i++)
        starts[from[i] >> shift & (DIGITS - 1)]++;
    if (starts[from[0] >> shift & (DIGITS - 1)] == count)
        return 0;
    for (i = 0; i < DIGITS; i++) {
        const size_t many = starts[i];
        starts[i] = sum;
        sum += many;
    }
    for (i = 0; i < count; i++)
        to[starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];
    return 1;
}

/* A radix sort by address, from the lowest digit. The addresses of a heap differ in few digits. */
static int sort_words(const haul_allocator *allocator, haul__read_set *reads)
{
    uint64_t *from = reads->words, *to;
    unsigned shift;
    if (is_in_order(from, reads->count))
        return 1;
    to = haul__allocate(allocator, reads->capacity * sizeof *to, sizeof *to);
    if (!to)
        return 0;
    for (shift = 0; shift < ADDRESS_BITS; shift += DIGIT_BITS)
        if (sort_digit(from, to, reads->count, shift)) {
            uint64_t *sorted = to;
            to = from;
            from = sorted;
        }
    reads->words = from;
    haul__release(allocator, to, reads->capacity * sizeof *to);
    return 1;
}

haul_status haul__read_set_make(const haul_plan *plan, int with_ends,
                                const haul_allocator *allocator, haul__read_set *reads)
{
    const size_t far = count_far(&plan->found), ends = with_ends ? count_ends(plan) : 0;
    const size_t count = plan->found.read_count - far + ends;
    memset(reads, 0, sizeof *reads);
    reads->is_made = 1;
    if (count == 0)
        return HAUL_OK;
    reads->words = haul__allocate(allocator, count * sizeof *reads->words, sizeof *reads->words);
    reads->capacity = reads->words ? count : 0;
    reads->far = haul__allocate(allocator, far * sizeof *reads->far, sizeof(uint64_t));
    reads->far_capacity = reads->far ? far : 0;
    if (reads->words && reads->far_capacity == far) {
        take_reads(&plan->found, reads);
        if (with_ends) {
            size_t i, k;
            for (i = 0; i < plan->found.map.block_count; i++) {
                const haul__block *block = haul__plan_block(plan, i);
                const uintptr_t address = haul__block_address(plan->found.map.numbers[i]);
                for (k = 0; block->side && k < block->side->end_count; k++)
                    reads->words[reads->count++] =
                        haul__read_of(address + block->side->ends[k], 1, 0);
            }
        }
        haul__sort(reads->far, reads->far_count, sizeof *reads->far, is_before);
        if (sort_words(allocator, reads)) {
            size_t i, left = 0;
            for (i = 0; i < reads->count; i++)
                if (left == 0 || reads->words[i] != reads->words[left - 1])
                    reads->words[left++] = reads->words[i];
            reads->count = left;
            return HAUL_OK;
        }
    }
    haul__read_set_free(allocator, reads);
    return haul__fail(&plan->context->error, HAUL_ERROR_MEMORY,
                      "no memory for a list of the integers that counts and conditions read");
}

static int ends_by(const void *words, size_t i, uint64_t address)
{
    return HAUL__READ_ADDRESS(((const uint64_t *)words)[i]) + HAUL__READ_MAX <= address;
}

size_t haul__first_read(const haul__read_set *reads, uintptr_t address)
{
    return haul__search(reads->words, 0, reads->count, address, ends_by);
}

static int begins_before(const void *words, size_t i, uint64_t address)
{
    return HAUL__READ_ADDRESS(((const uint64_t *)words)[i]) < address;
}

size_t haul__first_behind(const haul__read_set *reads, uintptr_t address)
{
    return haul__search(reads->words, 0, reads->count, address, begins_before);
}

static int is_before_place(const void *far, size_t i, uint64_t place)
{
    return ((const haul__far_read *)far)[i].place < place;
}

int64_t haul__read_value(const haul__read_set *reads, uint64_t word)
{
    const uint64_t place = HAUL__READ_PLACE(word), small = word >> 50;
    if (small != HAUL__READ_FAR)
        return haul__small_read(word);
    return reads->far[haul__search(reads->far, 0, reads->far_count, place, is_before_place)].value;
}

void haul__read_to_bytes(uint64_t word, int64_t value, unsigned char *bytes)
{
    const uint64_t u64 = (uint64_t)value;
    const uint32_t u32 = (uint32_t)u64;
    const uint16_t u16 = (uint16_t)u64;
    const uint8_t u8 = (uint8_t)u64;
    switch (haul__read_bytes(word)) {
    case 1:
        memcpy(bytes, &u8, sizeof u8);
        break;
    case 2:
        memcpy(bytes, &u16, sizeof u16);
        break;
    case 4:
        memcpy(bytes, &u32, sizeof u32);
        break;
    default:
        memcpy(bytes, &u64, sizeof u64);
    }
}

haul_status haul__refuse_read(haul_error *error, uint64_t word, int64_t was, int64_t is)
{
    return haul__fail(error, HAUL_ERROR_GRAPH,
                      "the device has changed %u bytes here that a field reads (a count, "
                      "tag or terminator), "
                      "from %lld to %lld; pointers do not come with them. If the host's pointers "
                      "fit the new value, ship "
                      "with let_counts_change",
                      haul__read_bytes(word), (long long)was, (long long)is);
}
