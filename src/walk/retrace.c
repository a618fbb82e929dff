/* Retracing: the objects of a list are fetched in the order in which an earlier walk found them.
 *
 * A walk gives the objects of long lists that lie scattered their turns (map/turns.h). The next
 * walk gets the earlier plan's map, and sorts its objects by turn. With each step of a list it
 * fetches one more: those of the list's own turn have been fetched before, those of the next one
 * follow.
 *
 *     list          turn 7 ...............|............... turn 8
 *                        ^ at the list's place
 *     fetched       turn 7 .................|..... turn 8
 *                                                 ^ in order of address within the turn
 *
 * Why it is right: a turn leads to prefetches alone, which never fault. Each pointer is followed,
 * checked and marked as in any walk. So the graph may have changed in any way.
 *
 * Why it is fast: a list waits for memory once an object, 150 ns or more; now it waits for the
 * second-level cache. The list's place is compared with its earlier turn now and then: after a
 * change, fetching goes on at the right turn. Turns are noted while the step waits for memory.
 * Lists that mostly stay in a block get none, nor do graphs with other work, where no load waits.
 */
#include "walk/retrace.h"

#define STEPS_FIRST ((size_t)4096) /* before turns are noted: shorter lists stay in a cache */
#define WIDTH_FIRST ((size_t)1024) /* steps of a turn, at first */
#define SCATTERED 4u               /* a list is, if one of so many steps leads to another block */
#define SLACK ((size_t)64)         /* steps in which a fetch surely ends */
#define COMPARED 64u               /* steps between two comparisons */
#define CATCH_UP 2u                /* further fetches in a step, if too few are fetched */

void haul__retrace_open(haul__discovery *d, const haul__map *before)
{
    haul__retracing *r = &d->retracing;
    r->left = STEPS_FIRST;
    if (!before)
        return;
    r->before = before;
    r->has_failed = !haul__turns_list(before, &r->spots, &r->count, r->ends);
}

void haul__retrace_close(haul__discovery *d)
{
    haul__retracing *r = &d->retracing;
    haul__release(d->allocator, r->spots, r->count * sizeof *r->spots);
    r->spots = NULL;
}

/* ---- Noting turns. */

static void begin_turn(haul__discovery *d, const haul__met_type *met, size_t objects)
{
    haul__retracing *r = &d->retracing;
    const size_t steps = r->width ? r->width : STEPS_FIRST, more = objects - r->objects;
    r->objects = objects;
    r->is_noting = more <= SCATTERED * steps;
    r->left = steps;
    if (!r->is_noting)
        return;
    if (!r->width) {
        r->left = r->width = WIDTH_FIRST;
        d->map->turn_shift = HAUL__TURN_SHIFT;
        while (met->simple.bytes >> (d->map->turn_shift + 1))
            d->map->turn_shift++;
    }
    if (r->turn == UINT8_MAX) {
        haul__turns_halve(d->map);
        r->turn = UINT8_MAX / 2 + 1; /* half of it has been */
        r->width *= 2;
    } else {
        r->turn++;
    }
}

static void note(haul__discovery *d, uintptr_t address)
{
    haul__block *block = haul__block_in(d->map->flat[address >> HAUL__BLOCK_SHIFT]);
    if (HAUL__LIKELY(block->turns != NULL) || haul__turns_add(d->map, block)) {
        *haul__turn_of(d->map, block, address) = d->retracing.turn;
    } else {
        d->retracing.has_failed = 1;
    }
}

/* ---- Using those of the earlier walk. */

HAUL__INLINE void fetch(haul__retracing *r, const haul__met_type *met)
{
    const uintptr_t address = haul__spot_address(r->before, r->spots[r->at++]);
    haul__prefetch_early(address + met->first_byte);
    if (met->last_byte != met->first_byte)
        haul__prefetch_early(address + met->last_byte);
}

/* If what is being fetched is not what comes after this object, it goes on with this one's turn. */
static void compare(haul__retracing *r, uintptr_t address)
{
    const haul__block *block = haul__map_find_apart(r->before, haul__block_number(address));
    const unsigned turn = block && block->turns ? *haul__turn_of(r->before, block, address) : 0;
    if (!turn)
        return;
    r->wanted = r->ends[turn] + SLACK;
    r->most = r->ends[turn + (turn < UINT8_MAX)] + SLACK;
    if (r->at < r->ends[turn - 1] || r->at > r->most)
        r->at = r->ends[turn - 1];
}

static void fetch_some(haul__retracing *r, uintptr_t address, const haul__met_type *met)
{
    unsigned further = CATCH_UP;
    if (r->steps++ % COMPARED == 0)
        compare(r, address);
    if (r->at < r->count && r->at < r->most)
        fetch(r, met);
    for (; further && r->at < r->count && r->at < r->wanted; further--)
        fetch(r, met);
}

void haul__retrace(haul__discovery *d, uintptr_t address, const haul__met_type *met, size_t objects)
{
    haul__retracing *r = &d->retracing;
    if (HAUL__UNLIKELY(r->left-- == 0))
        begin_turn(d, met, objects);
    if (r->is_noting)
        note(d, address);
    if (r->spots)
        fetch_some(r, address, met);
}
