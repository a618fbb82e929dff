/* Pieces: a run of blocks, and so a piece of the arena, gathered or scattered, by one thread or by several.
 *
 * Places rise with addresses, so a run of blocks is a piece of the arena. Gather goes from piece to piece, each into
 * memory of its own, and what it keeps between two of them is a few numbers.
 *
 * Blocks need nothing of one another: each has its bytes in the source and in the arena, and its own guard. So a
 * large piece is cut into shares that a team takes (base/team.h). What a share finds it notes for itself; when all
 * are done the notes are gone through in order of address, so that errors and counts are those of one thread. What
 * calls the user's functions, or writes words of its own accord (exceptions.c), stays with the thread that asked.
 *
 * A device reads what lies in memory twice as fast as what lies changed in a processor's caches, and several
 * processors write faster than it reads. So what a team gathers for a device is put together block by block in each
 * thread's scratch memory and goes past the caches from there. One thread alone writes at once: it is slower than the
 * device anyway, and writing past the caches takes three times as long where they still have the lines of the last
 * transfer.
 */
#include "base/team.h"
#include "graph/context.h"
#include "pack/sweep.h"

#define NEAR_BLOCKS ((size_t)64) /* the map of so few is in the nearest caches anyway */
#define LARGE_BYTES ((size_t)64 << 20) /* an arena that is in no cache when it is done */
#define PROGRESS_BYTES ((uint64_t)4 << 20)

/* Blocks between two looks at whether there is progress to tell; a team's, where nobody listens. More: a team waits
 * less often for the last of them. */
#define STRIP_BLOCKS ((size_t)64)
#define TEAM_STRIP_BLOCKS ((size_t)512)
#define SHARES ((size_t)64) /* of a strip. More: they end closer together. */

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

/* ---- Shares of a run of blocks. */

typedef struct shares {
    size_t first, end, each;
} shares;

static shares cut(size_t first, size_t end)
{
    shares all;
    all.first = first;
    all.end = end;
    all.each = (end - first + SHARES - 1) / SHARES;
    return all;
}

static size_t count_of(const shares *all)
{
    return (all->end - all->first + all->each - 1) / all->each;
}

static size_t begin_of(const shares *all, size_t i)
{
    return all->end - all->first < i * all->each ? all->end : all->first + i * all->each;
}

/* What they are in the source, at most. */
static size_t bytes_of(const shares *all)
{
    return (all->end - all->first) << HAUL__BLOCK_SHIFT;
}

/* ---- A look at all of them. */

typedef struct team_look {
    haul_plan *plan;
    haul__look *look;
    shares blocks;
    size_t until[SHARES];
} team_look;

static void look_share(void *user, size_t i, void *scratch)
{
    team_look *all = user;
    (void)scratch;
    all->until[i] = all->look(all->plan, begin_of(&all->blocks, i), begin_of(&all->blocks, i + 1));
}

size_t haul__go_through(haul_plan *plan, haul__look *look)
{
    haul__team *team = haul__context_team(plan->context, haul__compacted_bytes(plan));
    team_look all;
    size_t i;
    if (!team || plan->found.map.block_count == 0)
        return look(plan, 0, plan->found.map.block_count);
    all.plan = plan;
    all.look = look;
    all.blocks = cut(0, plan->found.map.block_count);
    haul__team_run(team, bytes_of(&all.blocks), count_of(&all.blocks), look_share, &all);
    for (i = 0; i < count_of(&all.blocks); i++)
        if (all.until[i] != begin_of(&all.blocks, i + 1))
            return all.until[i];
    return plan->found.map.block_count;
}

/* ---- Gather. */

typedef struct gathered {
    size_t until; /* the first block that is not as the plan has it, or the share's end */
    size_t nulls;
    uintptr_t lost;
} gathered;

typedef struct team_gather {
    haul_plan *plan;
    const haul__sweep *like;
    int for_device;
    shares blocks;
    gathered by[SHARES];
} team_gather;

static void gather_share(void *user, size_t i, void *scratch)
{
    team_gather *all = user;
    haul__sweep s = *all->like;
    s.nulls = 0;
    s.lost = 0;
    s.scratch = all->for_device ? scratch : NULL;
    s.is_large |= s.scratch != NULL;
    all->by[i].until =
        haul__gather_blocks(all->plan, &s, begin_of(&all->blocks, i), begin_of(&all->blocks, i + 1));
    all->by[i].nulls = s.nulls;
    all->by[i].lost = s.lost;
}

/* haul__gather_blocks, by a team. */
static size_t gather_together(haul__team *team, const haul__gathering *g, haul__sweep *s, size_t first, size_t end)
{
    team_gather all;
    size_t i, count;
    all.plan = g->plan;
    all.like = s;
    all.for_device = g->for_device;
    all.blocks = cut(first, end);
    count = count_of(&all.blocks);
    haul__team_run(team, bytes_of(&all.blocks), count, gather_share, &all);
    for (i = 0; i < count; i++) {
        s->nulls += all.by[i].nulls;
        if (!s->lost)
            s->lost = all.by[i].lost;
        if (all.by[i].until != begin_of(&all.blocks, i + 1))
            return all.by[i].until;
    }
    return end;
}

static haul_status tell(haul__gathering *g, uint64_t done)
{
    const haul__listener *listener = g->listener;
    uint64_t total = g->plan->placed.granules << HAUL__GRANULE_SHIFT;
    if (!listener || !listener->progress || (done - g->told < PROGRESS_BYTES && done != total))
        return HAUL_OK;
    g->told = done;
    if (!listener->progress(listener->user, done, total))
        return HAUL_OK;
    return haul__fail(&g->plan->context->error, HAUL_ERROR_STATE, "cancelled by the progress callback");
}

static haul_status gather_strips(haul__gathering *g, const haul__piece *piece, haul__sweep *s)
{
    haul__team *team = haul__context_team(g->plan->context, piece->bytes);
    const size_t most = team && !g->listener ? TEAM_STRIP_BLOCKS : STRIP_BLOCKS;
    size_t first, next;
    for (first = piece->first; first < piece->end; first = next) {
        haul_status status = tell(g, haul__place_of_block(g->plan, first));
        size_t until;
        if (status != HAUL_OK)
            return status;
        next = piece->end - first < most ? piece->end : first + most;
        until = team ? gather_together(team, g, s, first, next) : haul__gather_blocks(g->plan, s, first, next);
        if (until != next)
            return haul__block_changed(g->plan, until);
    }
    return haul__check_lost(g->plan, s->lost);
}

/* What lies before the first block and behind the last one: the reserved granule, and room for pointers that lead out
 * of their blocks. */
static void clear_room(const haul_plan *plan, const haul__piece *piece, unsigned char *memory)
{
    size_t first = haul__place_of_block(plan, 0);
    size_t behind = (plan->found.room_behind + HAUL__GRANULE - 1) & ~(HAUL__GRANULE - 1);
    if (piece->at == 0)
        memset(memory, 0, first < piece->bytes ? first : piece->bytes);
    if (piece->end == plan->found.map.block_count && behind > 0)
        memset(memory + piece->bytes - behind, 0, behind);
}

haul_status haul__gather_begin(haul__gathering *g, haul_plan *plan, uint64_t base, uint64_t there, int for_device,
                               const haul__listener *listener)
{
    memset(g, 0, sizeof *g);
    g->plan = plan;
    g->base = base;
    g->there = there;
    g->for_device = for_device;
    g->listener = listener;
    plan->stale_block = SIZE_MAX;
    return haul__check_guards(plan);
}

haul_status haul__gather_piece(haul__gathering *g, const haul__piece *piece, void *memory)
{
    haul_status status;
    haul__sweep s;
    s.map = &g->plan->found.map;
    s.found = &g->plan->found;
    s.arena = (unsigned char *)((uintptr_t)memory - piece->at);
    s.scratch = NULL;
    s.base = g->base;
    s.guard = 0;
    s.nulls = 0;
    s.is_far = s.map->block_count > NEAR_BLOCKS;
    s.careful = s.map->has_units || s.map->is_wide || !s.map->flat;
    s.is_large = haul__compacted_bytes(g->plan) >= LARGE_BYTES;
    s.lost = 0;
    status = gather_strips(g, piece, &s);
    if (status != HAUL_OK)
        return status;
    clear_room(g->plan, piece, memory);
    g->nulls += s.nulls;
    return haul__gather_exceptions(g, piece, memory);
}

haul_status haul__gather_end(haul__gathering *g)
{
    g->plan->packed = 1;
    g->plan->nulls = g->nulls;
    return tell(g, g->plan->placed.granules << HAUL__GRANULE_SHIFT);
}

haul_status haul__gather_compacted(haul_plan *plan, void *arena, uint64_t base, uint64_t there, int for_device,
                                   const haul__listener *listener)
{
    haul__gathering g;
    haul__piece all = { 0, 0, 0, 0 };
    haul_status status = haul__gather_begin(&g, plan, base, there, for_device, listener);
    if (status != HAUL_OK)
        return status;
    haul__next_piece(plan, SIZE_MAX, &all);
    status = haul__gather_piece(&g, &all, arena);
    return status == HAUL_OK ? haul__gather_end(&g) : status;
}

haul_status haul__gather(haul_plan *plan, void *arena, uint64_t base, uint64_t there, int for_device,
                         const haul__listener *listener)
{
    return plan->ordered ? haul__gather_ordered(plan, arena, base, there, listener)
                         : haul__gather_compacted(plan, arena, base, there, for_device, listener);
}

/* ---- Scatter. */

typedef struct team_scatter {
    const haul_plan *plan;
    const unsigned char *arena;
    shares blocks;
} team_scatter;

static void scatter_share(void *user, size_t i, void *scratch)
{
    const team_scatter *all = user;
    (void)scratch;
    haul__scatter_blocks(all->plan, begin_of(&all->blocks, i), begin_of(&all->blocks, i + 1), all->arena);
}

void haul__scatter_piece(const haul_plan *plan, const haul__piece *piece, const void *memory)
{
    team_scatter all;
    all.plan = plan;
    all.arena = (const unsigned char *)((uintptr_t)memory - piece->at);
    all.blocks = cut(piece->first, piece->end);
    if (piece->first < piece->end)
        haul__team_run(haul__context_team(plan->context, piece->bytes), bytes_of(&all.blocks), count_of(&all.blocks),
                       scatter_share, &all);
}

void haul__scatter_compacted(const haul_plan *plan, const void *arena)
{
    haul__piece all = { 0, 0, 0, 0 };
    haul__next_piece(plan, SIZE_MAX, &all);
    haul__scatter_piece(plan, &all, arena);
}
