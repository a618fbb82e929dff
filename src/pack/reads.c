/* Reads: counts, tags, conditions and terminators that come back changed are refused.
 *
 * A count that comes back without its pointer is worse than no count: the host would go beyond the
 * old array. Only the host's own library knows what else must change with it. So before results are
 * written, each field that discovery read is compared with what has arrived, in order of address,
 * as the results will be written. Bytes that will not be written do not matter.
 */
#include "base/sort.h"
#include "pack/direction.h"
#include "pack/plan.h"
#include "pack/reads.h"
#include "type/field.h"

#define DIGIT_BITS 8u
#define DIGITS (1u << DIGIT_BITS)
#define ADDRESS_BITS 48u
#define READ_MAX 8u               /* bytes of the widest field */
#define FEW_GUARDS ((size_t)1024) /* so many are gone through for one update: no list is made */
#define CELLS_AHEAD 24u           /* of this many guards on the map's cell is fetched, */
#define BYTES_AHEAD 12u           /* and what has arrived */

/* ---- The list. */

void haul__reads_free(const haul_allocator *allocator, haul__reads *reads)
{
    haul__release(allocator, reads->words, reads->capacity * sizeof *reads->words);
    haul__release(allocator, reads->far, reads->far_capacity * sizeof *reads->far);
    memset(reads, 0, sizeof *reads);
}

size_t haul__reads_bytes(const haul__reads *reads)
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

static void take_ends(const haul_plan *plan, haul__reads *reads)
{
    size_t i, k;
    for (i = 0; i < plan->found.map.block_count; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        const uintptr_t address = haul__block_address(plan->found.map.numbers[i]);
        for (k = 0; block->side && k < block->side->end_count; k++)
            reads->words[reads->count++] = haul__guard_of(address + block->side->ends[k], 1, 0);
    }
}

/* Guards are read from the last one to the first. */
static void take_guards(const haul__found *found, haul__reads *reads)
{
    size_t i = found->guard_count;
    while (i > 0) {
        const uint64_t guard = found->guards[--i];
        reads->words[reads->count++] = guard;
        if (guard >> 50 != HAUL__GUARD_FAR)
            continue;
        reads->far[reads->far_count].place = HAUL__GUARD_PLACE(guard);
        reads->far[reads->far_count++].value = (int64_t)found->guards[--i];
    }
}

static size_t count_far(const haul__found *found)
{
    size_t i = found->guard_count, count = 0;
    while (i > 0) {
        const size_t is_far = found->guards[--i] >> 50 == HAUL__GUARD_FAR;
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

/* By address alone: a width stands above it in the word. */
static int is_in_order(const uint64_t *words, size_t count)
{
    size_t i;
    for (i = 1; i < count; i++)
        if (HAUL__GUARD_ADDRESS(words[i]) < HAUL__GUARD_ADDRESS(words[i - 1]))
            return 0;
    return 1;
}

/* By one digit; 0: all have the same, and nothing was moved. */
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

/* By the digits of the address, from the lowest: a heap's addresses differ in few of them. */
static int sort_words(const haul_allocator *allocator, haul__reads *reads)
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

static void drop_doubles(haul__reads *reads)
{
    size_t i, left = 0;
    for (i = 0; i < reads->count; i++)
        if (left == 0 || reads->words[i] != reads->words[left - 1])
            reads->words[left++] = reads->words[i];
    reads->count = left;
}

haul_status haul__reads_make(const haul_plan *plan, int with_ends, const haul_allocator *allocator,
                             haul__reads *reads)
{
    const size_t far = count_far(&plan->found), ends = with_ends ? count_ends(plan) : 0;
    const size_t count = plan->found.guard_count - far + ends;
    memset(reads, 0, sizeof *reads);
    reads->is_made = 1;
    if (count == 0)
        return HAUL_OK;
    reads->words = haul__allocate(allocator, count * sizeof *reads->words, sizeof *reads->words);
    reads->capacity = reads->words ? count : 0;
    reads->far = haul__allocate(allocator, far * sizeof *reads->far, sizeof(uint64_t));
    reads->far_capacity = reads->far ? far : 0;
    if (reads->words && reads->far_capacity == far) {
        take_guards(&plan->found, reads);
        if (with_ends)
            take_ends(plan, reads);
        haul__sort(reads->far, reads->far_count, sizeof *reads->far, is_before);
        if (sort_words(allocator, reads)) {
            drop_doubles(reads);
            return HAUL_OK;
        }
    }
    haul__reads_free(allocator, reads);
    return haul__fail(&plan->context->error, HAUL_ERROR_MEMORY,
                      "no memory for a list of the fields that shapes and rules read");
}

size_t haul__first_read(const haul__reads *reads, uintptr_t address)
{
    size_t low = 0, high = reads->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (HAUL__GUARD_ADDRESS(reads->words[middle]) + READ_MAX <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t small_value(uint64_t word)
{
    return (int64_t)(word >> 50 ^ HAUL__GUARD_FAR) - (int64_t)HAUL__GUARD_FAR;
}

int64_t haul__read_value(const haul__reads *reads, uint64_t word)
{
    const uint64_t place = HAUL__GUARD_PLACE(word), small = word >> 50;
    size_t low = 0, high = reads->far_count;
    if (small != HAUL__GUARD_FAR)
        return small_value(word);
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (reads->far[middle].place <= place)
            low = middle;
        else
            high = middle;
    }
    return reads->far[low].value;
}

int64_t haul__read_there(uint64_t word, const void *there)
{
    haul_field_place place = { 0, 0, 1 };
    place.bytes = (uint8_t)haul__read_bytes(word);
    return haul__read_stored(there, &place);
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
                      "the device has changed %u bytes here that a shape or rule reads (a count, "
                      "tag or terminator), "
                      "from %lld to %lld; pointers do not come with them. If the host's pointers "
                      "fit the new value, ship "
                      "with let_counts_change",
                      haul__read_bytes(word), (long long)was, (long long)is);
}

/* ---- What has arrived. */

/* A piece of an arena, in `memory`, and the part of the source that is to be written from it. */
typedef struct window {
    const uintptr_t *flat; /* the table, with the plan's map in it; NULL: the list serves */
    const unsigned char *memory;
    size_t at, bytes;
    uintptr_t first, end;
    int is_final; /* places are those of the plan's own order; else of the compacted one */
} window;

HAUL__INLINE const haul__block *block_of(const haul_plan *plan, const window *w, uintptr_t address)
{
    return address >= HAUL__LOWEST && address <= HAUL__HIGHEST
               ? haul__map_find_in(&plan->found.map, w->flat, address)
               : NULL;
}

/* A byte of the block, in the window's memory; NULL: it is not there. */
HAUL__INLINE const unsigned char *byte_in(const haul_plan *plan, const window *w,
                                          const haul__block *block, uintptr_t address)
{
    uint64_t place;
    if (!haul__is_placed(block, address) || address < w->first || address >= w->end)
        return NULL;
    place = haul__place(block, address);
    if (w->is_final)
        place = haul__final_place(plan, place);
    return place - w->at < w->bytes ? w->memory + (place - w->at) : NULL;
}

static const unsigned char *find_byte(const haul_plan *plan, const window *w, uintptr_t address)
{
    const haul__block *block = block_of(plan, w, address);
    return block ? byte_in(plan, w, block, address) : NULL;
}

/* Only what has been sent can have changed: the device began with zeros for the rest. */
static int may_not_change(const haul_plan *plan, uintptr_t address)
{
    const haul__block *block = haul__map_find(&plan->found.map, address);
    const unsigned granule = haul__granule_in_block(address);
    const uint16_t barred = haul__excluded_mask(block, granule, HAUL__UNSENT) |
                            haul__excluded_mask(block, granule, HAUL__UNRETURNED);
    const uint16_t mask =
        haul__data_mask(plan, block, haul__block_number(address), granule) & (uint16_t)~barred;
    return mask >> (address & (HAUL__GRANULE - 1)) & 1;
}

/* Byte by byte. *is: what the field would be. */
static int bytes_hold(const haul_plan *plan, uint64_t word, int64_t value, const window *w,
                      int64_t *is)
{
    const uintptr_t address = HAUL__GUARD_ADDRESS(word);
    unsigned char bytes[READ_MAX];
    unsigned i;
    int hold = 1;
    haul__read_to_bytes(word, value, bytes);
    for (i = 0; i < haul__read_bytes(word); i++) {
        const unsigned char *there = find_byte(plan, w, address + i);
        if (!there || *there == bytes[i] || !may_not_change(plan, address + i))
            continue;
        bytes[i] = *there;
        hold = 0;
    }
    *is = haul__read_there(word, bytes);
    return hold;
}

static haul_status check_read(haul_plan *plan, uint64_t word, int64_t value, const window *w)
{
    const uintptr_t address = HAUL__GUARD_ADDRESS(word), bytes = haul__read_bytes(word);
    const unsigned char *there = find_byte(plan, w, address);
    haul_status status;
    int64_t is;
    if (there && (address & (HAUL__GRANULE - 1)) + bytes <= HAUL__GRANULE &&
        bytes <= (size_t)(w->memory + w->bytes - there) && haul__read_there(word, there) == value)
        return HAUL_OK;
    if (bytes_hold(plan, word, value, w, &is))
        return HAUL_OK;
    status = haul__refuse_read(&plan->context->error, word, value, is);
    haul__name_changed(plan, 0, address);
    return status;
}

static haul_status check_ends(haul_plan *plan, const haul__block *block, uintptr_t address,
                              const window *w)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; block->side && i < block->side->end_count && status == HAUL_OK; i++) {
        const uintptr_t end = address + block->side->ends[i];
        const unsigned char *there = byte_in(plan, w, block, end);
        if (there && *there != 0)
            status = check_read(plan, haul__guard_of(end, 1, 0), 0, w);
    }
    return status;
}

static haul_status check_between(haul_plan *plan, uintptr_t first, uintptr_t end, const window *w)
{
    const haul__reads *reads = &plan->reads;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = haul__first_read(reads, first); i < reads->count && status == HAUL_OK; i++) {
        if (HAUL__GUARD_ADDRESS(reads->words[i]) >= end)
            break;
        status = check_read(plan, reads->words[i], haul__read_value(reads, reads->words[i]), w);
    }
    return status;
}

int haul__has_reads(const haul_plan *plan)
{
    return plan->found.guard_count > 0 || plan->found.map.side_bytes > 0;
}

haul_status haul__prepare_reads(haul_plan *plan)
{
    return plan->reads.is_made ? HAUL_OK
                               : haul__reads_make(plan, 0, &plan->context->allocator, &plan->reads);
}

haul_status haul__prepare_update(haul_plan *plan)
{
    return plan->found.guard_count <= FEW_GUARDS ? HAUL_OK : haul__prepare_reads(plan);
}

static uintptr_t address_of(const haul_plan *plan, size_t block)
{
    return haul__block_address(plan->found.map.numbers[block]);
}

int haul__piece_has_reads(const haul_plan *plan, const haul__piece *piece)
{
    size_t i;
    if (piece->first < piece->end) {
        i = haul__first_read(&plan->reads, address_of(plan, piece->first));
        if (i < plan->reads.count && HAUL__GUARD_ADDRESS(plan->reads.words[i]) <=
                                         address_of(plan, piece->end - 1) + (HAUL__BLOCK_BYTES - 1))
            return 1;
    }
    for (i = piece->first; i < piece->end && plan->found.map.side_bytes > 0; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        if (block->side && block->side->end_count > 0)
            return 1;
    }
    return 0;
}

/* For a guard that will be looked at soon. */
static void fetch_cell(const haul_plan *plan, const window *w, uint64_t guard)
{
    const uintptr_t address = HAUL__GUARD_ADDRESS(guard);
    const haul__block *block = block_of(plan, w, address);
    if (block && block->form != HAUL__FULL)
        haul__prefetch((uintptr_t)&block->cells[haul__cell_number(address)]);
}

static void fetch_byte(const haul_plan *plan, const window *w, uint64_t guard)
{
    const unsigned char *there = find_byte(plan, w, HAUL__GUARD_ADDRESS(guard));
    if (there)
        haul__prefetch((uintptr_t)there);
}

/* Guards as they were noted, so that no memory is needed. (A value that stands before its guard is
 * taken for one when memory is fetched ahead: that does no harm, whatever it names.) */
static haul_status check_guards(haul_plan *plan, const window *w)
{
    const haul__found *found = &plan->found;
    haul_status status = HAUL_OK;
    size_t i = found->guard_count;
    while (i > 0 && status == HAUL_OK) {
        const uint64_t guard = found->guards[--i];
        int64_t value;
        if (i >= CELLS_AHEAD)
            fetch_cell(plan, w, found->guards[i - CELLS_AHEAD]);
        if (i >= BYTES_AHEAD)
            fetch_byte(plan, w, found->guards[i - BYTES_AHEAD]);
        value = guard >> 50 == HAUL__GUARD_FAR ? (int64_t)found->guards[--i] : small_value(guard);
        if (HAUL__GUARD_ADDRESS(guard) < w->end && HAUL__GUARD_ADDRESS(guard) + READ_MAX > w->first)
            status = check_read(plan, guard, value, w);
    }
    return status;
}

static haul_status check_strings(haul_plan *plan, size_t first, size_t end, const window *w)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = first; i < end && plan->found.map.side_bytes > 0 && status == HAUL_OK; i++)
        status = check_ends(plan, haul__plan_block(plan, i), address_of(plan, i), w);
    return status;
}

haul_status haul__check_compacted(haul_plan *plan, const void *arena)
{
    window w = { NULL, NULL, 0, 0, 0, UINTPTR_MAX, 0 };
    haul_status status;
    w.flat = haul__table_show(&plan->context->table, &plan->found.map);
    w.memory = arena;
    w.bytes = haul__compacted_bytes(plan);
    status = check_guards(plan, &w);
    return status == HAUL_OK ? check_strings(plan, 0, plan->found.map.block_count, &w) : status;
}

haul_status haul__check_piece(haul_plan *plan, const haul__piece *piece, const void *memory)
{
    window w = { NULL, NULL, 0, 0, 0, UINTPTR_MAX, 0 };
    haul_status status = haul__prepare_reads(plan);
    if (status != HAUL_OK || piece->first == piece->end)
        return status;
    w.flat = haul__table_show(&plan->context->table, &plan->found.map);
    w.memory = memory;
    w.at = piece->at;
    w.bytes = piece->bytes;
    status = check_between(plan, address_of(plan, piece->first),
                           address_of(plan, piece->end - 1) + (HAUL__BLOCK_BYTES - 1), &w);
    return status == HAUL_OK ? check_strings(plan, piece->first, piece->end, &w) : status;
}

haul_status haul__check_range(haul_plan *plan, uintptr_t first, uintptr_t end, const void *piece,
                              size_t offset, size_t bytes)
{
    window w = { NULL, NULL, 0, 0, 0, 0, 1 }; /* few look-ups: the list serves */
    uintptr_t block = first & ~(uintptr_t)(HAUL__BLOCK_BYTES - 1);
    haul_status status = haul__prepare_update(plan);
    w.memory = piece;
    w.at = offset;
    w.bytes = bytes;
    w.first = first;
    w.end = end;
    if (status == HAUL_OK)
        status = plan->reads.is_made ? check_between(plan, first, end, &w) : check_guards(plan, &w);
    for (; plan->found.map.side_bytes > 0 && block < end && block <= HAUL__HIGHEST &&
           status == HAUL_OK;
         block += HAUL__BLOCK_BYTES) {
        const haul__block *here = haul__map_find(&plan->found.map, block);
        if (here)
            status = check_ends(plan, here, block, &w);
    }
    return status;
}
