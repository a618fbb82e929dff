/* Verify: the comparisons of gather, without a copy. Only pointers, counts and terminators are
 * read, so a large array of data costs nothing.
 */
#include "base/pool.h"
#include "context/context.h"
#include "pack/stale.h"
#include "pack/progress.h"
#include "pack/verify.h"

static uint64_t sum_slots(const haul__map *map, const haul__block *block, uintptr_t address)
{
    uint64_t hash = 0;
    unsigned number;
    if (block->form == HAUL__FULL || block->form == HAUL__BARE)
        return 0;
    for (number = 0; number < HAUL__CELLS; number++, address += HAUL__CELL_BYTES) {
        uint64_t slots;
        for (slots = haul__placed_slots(map, block, number); slots; slots &= slots - 1)
            hash = haul__hash_add(
                hash, haul__load_word((const void *)(address + ((uintptr_t)haul__lowest64(slots)
                                                                << HAUL__WORD_SHIFT))));
    }
    return hash;
}

/* The first block of a chunk that is not as the plan has it, or the chunk's end. */
typedef struct chunk_end {
    size_t until;
    int is_whole;
} chunk_end;

typedef struct chunks {
    haul_plan *plan;
    chunk_end by[HAUL__POOL_CHUNKS];
} chunks;

static void verify_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    chunks *all = user;
    const haul__map *map = &all->plan->found.map;
    size_t i;
    (void)scratch;
    for (i = first; i < end; i++) {
        const haul__block *block = haul__plan_block(all->plan, i);
        uintptr_t address = haul__block_address(map->numbers[i]);
        if (!haul__ends_hold(block, address) ||
            (all->plan->packed && sum_slots(map, block, address) != block->hash))
            break;
    }
    all->by[number].until = i;
    all->by[number].is_whole = i == end;
}

haul_status haul__verify_counts(haul_plan *plan)
{
    const haul__map *map = &plan->found.map;
    haul_status status = haul__check_read_set(plan);
    size_t i;
    for (i = 0; map->side_bytes > 0 && i < map->block_count && status == HAUL_OK; i++)
        status =
            haul__check_ends(plan, haul__plan_block(plan, i), haul__block_address(map->numbers[i]));
    return status;
}

#define COMPARED_BLOCKS ((size_t)1024)

/* Compares blocks up to `end`. */
static haul_status verify_blocks(haul_plan *plan, size_t first, size_t end)
{
    chunks all;
    size_t i, made;
    all.plan = plan;
    made = haul__pool_run(haul__context_pool(plan->context, haul__compacted_bytes(plan)),
                          (end - first) << HAUL__BLOCK_SHIFT, first, end, 1, verify_chunk, &all);
    for (i = 0; i < made; i++)
        if (!all.by[i].is_whole)
            return haul__block_changed(plan, all.by[i].until);
    return HAUL_OK;
}

static haul_status tell_of_nothing(const haul_plan *plan, const haul__listener *listener)
{
    return haul__tell(plan->context, listener, 0,
                      (uint64_t)plan->placed.granules << HAUL__GRANULE_SHIFT);
}

haul_status haul__verify(haul_plan *plan, const haul__listener *listener)
{
    const size_t count = plan->found.map.block_count, strip = listener ? COMPARED_BLOCKS : count;
    haul_status status = tell_of_nothing(plan, listener);
    size_t i, now;
    plan->stale_block = SIZE_MAX;
    if (status == HAUL_OK)
        status = haul__check_read_set(plan);
    for (i = 0; i < count && status == HAUL_OK; i += now) {
        now = count - i < strip ? count - i : strip;
        status = verify_blocks(plan, i, i + now);
        if (status == HAUL_OK && i + now < count)
            status = tell_of_nothing(plan, listener);
    }
    for (i = 0; i < plan->found.special_count && status == HAUL_OK; i++)
        status = haul__check_special(plan, &plan->found.special[i]);
    return status;
}
