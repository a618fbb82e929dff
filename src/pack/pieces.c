/* Pieces: a run of blocks, and so a piece of the arena, gathered or scattered by one thread or by a
 * pool.
 *
 * Places rise with addresses, so the places of a run of blocks are a piece of the arena. Gather
 * goes from piece to piece, each into memory of its own, and keeps only a few numbers between two
 * of them.
 *
 * Blocks are independent: each has its own bytes in the source and in the arena, and its own hash.
 * So a large piece is cut into chunks that a pool takes (base/pool.h). Each chunk notes its
 * findings for itself. When all are done, the notes are read in order of address, so errors and
 * counts are those of one thread. Work that calls the user's functions, and words that are written
 * one by one (gather_special.c), stay with the calling thread.
 *
 * A device reads memory twice as fast as changed lines of a processor's caches, and several
 * processors write faster than it reads. So a pool that gathers for a device puts each block
 * together in the thread's scratch memory, and copies it past the caches from there. One thread
 * alone writes directly: it is slower than the device anyway, and writing past the caches takes
 * three times as long if they still have the lines of the last transfer.
 */
#include "base/pool.h"
#include "context/context.h"
#include "map/exclusions.h"
#include "pack/gather.h"
#include "pack/gather_special.h"
#include "pack/pieces.h"
#include "pack/progress.h"
#include "pack/scatter.h"
#include "pack/stale.h"

/* An arena up to this size, which no device has read, is in the nearest caches anyway. */
#define CLOSE_BYTES ((size_t)384 << 10)
#define NEAR_BLOCKS ((size_t)64)       /* the map of so few blocks is there too */
#define LARGE_BYTES ((size_t)64 << 20) /* an arena of this size is in no cache after a gather */

/* Blocks gathered between two reports of progress; and blocks given to a pool at once, if there is
 * no listener. With more blocks a pool waits less often for its last chunk. */
#define STRIP_BLOCKS ((size_t)64)
#define POOL_STRIP_BLOCKS ((size_t)512)

int haul__next_piece(const haul_plan *plan, size_t most, haul__piece *piece)
{
    const size_t count = plan->found.map.block_count;
    size_t end = piece->end + 1;
    piece->at += piece->bytes;
    if (piece->at >= (size_t)plan->placed.granules << HAUL__GRANULE_SHIFT)
        return 0;
    while (end < count && haul__place_of_block(plan, end + 1) - piece->at <= most)
        end++;
    piece->first = piece->end;
    piece->end = end < count ? end : count;
    piece->bytes = haul__place_of_block(plan, piece->end) - piece->at;
    return 1;
}

int haul__piece_returns(const haul_plan *plan, const haul__piece *piece)
{
    size_t i;
    if (!plan->found.map.has_exclusions)
        return 1;
    for (i = piece->first; i < piece->end; i++)
        if (!haul__block_is_excluded(haul__plan_block(plan, i), HAUL__UNRETURNED))
            return 1;
    return 0;
}

/* The most bytes that this number of blocks can have in the source. */
static size_t bytes_of(size_t blocks)
{
    return blocks << HAUL__BLOCK_SHIFT;
}

/* ---- Gather. */

/* The findings of a chunk. */
typedef struct finding {
    size_t until; /* the first block that is not as the plan has it, or the chunk's end */
    int is_whole; /* `until` is the chunk's end */
    size_t nulls;
    uintptr_t lost;
} finding;

typedef struct chunked_gather {
    haul_plan *plan;
    const haul__sweep *like; /* each chunk begins with a copy of it */
    int for_device;
    finding by[HAUL__POOL_CHUNKS];
} chunked_gather;

static void gather_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    chunked_gather *all = user;
    finding *own = &all->by[number];
    haul__sweep s = *all->like;
    s.scratch = all->for_device ? scratch : NULL;
    s.is_large |= s.scratch != NULL;
    own->until = haul__gather_blocks(all->plan, &s, first, end);
    own->is_whole = own->until == end;
    own->nulls = s.nulls;
    own->lost = s.lost;
}

/* Of an ordered pack this is a third (ordered.c). */
static haul_status tell(haul__gathering *g, uint64_t done)
{
    const uint64_t total = g->plan->placed.granules << HAUL__GRANULE_SHIFT;
    if (done - g->reported < HAUL__PROGRESS_BYTES && done != total)
        return HAUL_OK;
    g->reported = done;
    return haul__tell(g->plan->context, g->listener, g->plan->ordered ? done / 3 : done, total);
}

static haul_status gather_strips(haul__gathering *g, const haul__piece *piece,
                                 const haul__sweep *like)
{
    haul__pool *pool = haul__context_pool(g->plan->context, piece->bytes);
    const size_t most = pool && !g->listener ? POOL_STRIP_BLOCKS : STRIP_BLOCKS;
    uintptr_t lost = 0;
    size_t first, next;
    chunked_gather all;
    all.plan = g->plan;
    all.like = like;
    all.for_device = g->for_device;
    for (first = piece->first; first < piece->end; first = next) {
        haul_status status = tell(g, haul__place_of_block(g->plan, first));
        size_t i, chunks;
        if (status != HAUL_OK)
            return status;
        next = piece->end - first < most ? piece->end : first + most;
        chunks = haul__pool_run(pool, bytes_of(next - first), first, next, 1, gather_chunk, &all);
        for (i = 0; i < chunks; i++) {
            if (!all.by[i].is_whole)
                return haul__block_changed(g->plan, all.by[i].until);
            g->nulls += all.by[i].nulls;
            if (!lost)
                lost = all.by[i].lost;
        }
    }
    return haul__check_lost(g->plan, lost);
}

/* Are all granules live as a whole? Then none of them has a byte with a copy elsewhere, and cells
 * tell which pointers lead to the graph itself. */
static int has_whole_granules(const haul__map *map)
{
    size_t i;
    for (i = 0; i < map->block_count && map->side_bytes == 0; i++) {
        const haul__block *block = haul__map_block(map, i);
        if (block->form == HAUL__MIXED || block->words)
            return 0;
    }
    return map->side_bytes == 0;
}

haul_status haul__gather_begin(haul__gathering *g, haul_plan *plan, uint64_t base,
                               uint64_t final_base, int for_device, const haul__listener *listener)
{
    memset(g, 0, sizeof *g);
    g->plan = plan;
    g->base = base;
    g->final_base = final_base;
    g->for_device = for_device;
    g->listener = listener;
    g->is_shared = plan->found.elsewhere && !has_whole_granules(&plan->found.map);
    plan->stale_block = SIZE_MAX;
    return haul__check_read_set(plan);
}

haul_status haul__gather_piece(haul__gathering *g, const haul__piece *piece, void *memory)
{
    haul_status status;
    haul__sweep s;
    size_t first, behind;
    s.map = &g->plan->found.map;
    s.found = &g->plan->found;
    s.flat = haul__table_show(&g->plan->context->table, &g->plan->found.map);
    s.arena = (unsigned char *)((uintptr_t)memory - piece->at);
    s.scratch = NULL;
    s.base = g->base;
    s.hash = 0;
    s.nulls = 0;
    s.fetches = g->for_device || haul__compacted_bytes(g->plan) > CLOSE_BYTES;
    s.is_far = s.map->block_count > NEAR_BLOCKS;
    s.needs_lookup = s.map->has_placements || s.map->is_wide || !s.flat || g->is_shared;
    s.is_large = haul__compacted_bytes(g->plan) >= LARGE_BYTES;
    s.spares = g->spares;
    s.lost = 0;
    status = gather_strips(g, piece, &s);
    if (status != HAUL_OK)
        return status;
    /* Zeros before the first block and behind the last one: the reserved granule, and room for
     * explicit relocations that lead beside their targets. */
    first = haul__place_of_block(g->plan, 0);
    behind = (g->plan->found.room_behind + HAUL__GRANULE - 1) & ~(HAUL__GRANULE - 1);
    if (piece->at == 0)
        memset(memory, 0, first < piece->bytes ? first : piece->bytes);
    if (piece->end == g->plan->found.map.block_count && behind > 0)
        memset((unsigned char *)memory + piece->bytes - behind, 0, behind);
    return haul__gather_special(g, piece, memory);
}

haul_status haul__gather_end(haul__gathering *g)
{
    g->plan->packed = 1;
    g->plan->nulls = g->nulls;
    return tell(g, g->plan->placed.granules << HAUL__GRANULE_SHIFT);
}

haul_status haul__gather_compacted(haul_plan *plan, void *arena, uint64_t base, uint64_t final_base,
                                   int for_device, const haul__listener *listener)
{
    haul__gathering g;
    haul__piece all = { 0, 0, 0, 0 };
    haul_status status = haul__gather_begin(&g, plan, base, final_base, for_device, listener);
    if (status != HAUL_OK)
        return status;
    haul__next_piece(plan, SIZE_MAX, &all);
    status = haul__gather_piece(&g, &all, arena);
    return status == HAUL_OK ? haul__gather_end(&g) : status;
}

/* ---- Scatter. */

typedef struct chunked_scatter {
    const haul_plan *plan;
    const unsigned char *arena;
} chunked_scatter;

static void scatter_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const chunked_scatter *all = user;
    (void)number;
    (void)scratch;
    haul__scatter_blocks(all->plan, first, end, all->arena);
}

void haul__scatter_piece(const haul_plan *plan, const haul__piece *piece, const void *memory)
{
    chunked_scatter all;
    all.plan = plan;
    all.arena = (const unsigned char *)((uintptr_t)memory - piece->at);
    haul__pool_run(haul__context_pool(plan->context, piece->bytes),
                   bytes_of(piece->end - piece->first), piece->first, piece->end, 1, scatter_chunk,
                   &all);
}

void haul__scatter_compacted(const haul_plan *plan, const void *arena)
{
    haul__piece all = { 0, 0, 0, 0 };
    haul__next_piece(plan, SIZE_MAX, &all);
    haul__scatter_piece(plan, &all, arena);
}
