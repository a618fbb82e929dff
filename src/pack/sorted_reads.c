/* The read set by address: made from the reads of a plan, and searched.
 */
#include "base/sort.h"
#include "base/list.h"
#include "pack/plan_struct.h"
#include "pack/sort_reads.h"
#include "pack/take_reads.h"

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

static int is_before(const void *a, const void *b)
{
    const haul__far_read *x = a, *y = b;
    return x->place < y->place;
}

/* A thread gets several parts, so that all end at about the same time. A build for tests cuts short
 * lists, too. */
#ifdef HAUL_STRESS_THREADS
#define PART_READS ((size_t)4)
#else
#define PART_READS ((size_t)4096)
#endif
#define PARTS_A_THREAD 4u

static haul__read_crew crew_for(const haul_plan *plan, size_t reads)
{
    const size_t most = reads / PART_READS,
                 wanted = (size_t)plan->context->options.threads * PARTS_A_THREAD;
    haul__read_crew crew = { NULL, 1 };
    crew.pool = haul__context_pool(plan->context, reads * HAUL__LINE);
    if (crew.pool && most > 1)
        crew.parts = wanted < most ? wanted : most;
    if (crew.parts > HAUL__READ_PARTS)
        crew.parts = HAUL__READ_PARTS;
    return crew;
}

static void add_ends(const haul_plan *plan, haul__read_set *reads)
{
    size_t i, k;
    for (i = 0; i < plan->found.map.block_count; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        const uintptr_t address = haul__block_address(plan->found.map.numbers[i]);
        for (k = 0; block->side && k < block->side->end_count; k++)
            reads->words[reads->count++] = haul__read_of(address + block->side->ends[k], 1, 0);
    }
}

haul_status haul__read_set_make(const haul_plan *plan, int with_ends,
                                const haul_allocator *allocator, haul__read_set *reads)
{
    const size_t ends = with_ends ? count_ends(plan) : 0;
    const haul__read_crew crew = crew_for(plan, plan->found.read_count + ends);
    haul__listed_reads listed;
    size_t count;
    haul__list_reads(&crew, plan->found.reads, plan->found.read_count, &listed);
    count = listed.reads + ends;
    memset(reads, 0, sizeof *reads);
    reads->is_made = 1;
    if (count == 0)
        return HAUL_OK;
    reads->words = haul__allocate(allocator, count * sizeof *reads->words, sizeof *reads->words);
    reads->capacity = reads->words ? count : 0;
    reads->far = haul__allocate(allocator, listed.far * sizeof *reads->far, sizeof(uint64_t));
    reads->far_capacity = reads->far ? listed.far : 0;
    if (reads->words && reads->far_capacity == listed.far) {
        haul__take_reads(&crew, &listed, reads);
        if (with_ends)
            add_ends(plan, reads);
        haul__sort(reads->far, reads->far_count, sizeof *reads->far, is_before);
        if (haul__sort_reads(allocator, &crew, &reads->words, count, &reads->count))
            return HAUL_OK;
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
