/* The runs of an arena that are sent.
 *
 * A block without holes and exclusions is one run. In others a cell carries something if a live
 * byte of it is sent, or if a pointer stands there: a look at its granules, up to the first that
 * carries something. Finer runs would save nothing, since
 * short gaps are sent.
 */
#include "pack/carried.h"
#include "map/bits.h"
#include "map/exclusions.h"
#include "pack/plan_struct.h"

typedef struct growing {
    haul__carried_visitor *visit;
    void *user;
    size_t place, end; /* of the run that may grow */
} growing;

static void take(growing *r, size_t place, size_t end)
{
    if (r->end > r->place && place - r->end >= HAUL__CARRIED_GAP) {
        r->visit(r->user, r->place, r->end - r->place);
        r->place = r->end = place;
    }
    if (r->end == r->place)
        r->place = place;
    r->end = end;
}

/* Is some of the cell's data sent? */
static int sends_data(const haul__block *block, unsigned cell)
{
    const size_t page = cell / HAUL__PAGE_CELLS, first = cell % HAUL__PAGE_CELLS * 32u;
    const uint16_t *live = haul__masks(block, page);
    unsigned at;
    if (haul__page_is_excluded(block, page, HAUL__UNSENT))
        return 0;
    for (at = 0; at < 32; at++)
        if ((live ? live[first + at] : HAUL__FULL_MASK) &
            ~haul__excluded_mask(block, cell * 32u + at, HAUL__UNSENT))
            return 1;
    return 0;
}

static int carries(const haul__map *map, const haul__block *block, unsigned cell)
{
    return haul__live(block, cell) &&
           (sends_data(block, cell) || haul__placed_slots(map, block, cell) != 0);
}

static void take_cells(const haul__map *map, const haul__block *block, growing *r)
{
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++)
        if (carries(map, block, cell)) {
            const uint64_t rank = haul__cell_rank(block, cell);
            take(r, (size_t)(rank << HAUL__GRANULE_SHIFT),
                 (size_t)((rank + haul__bits32(haul__live(block, cell))) << HAUL__GRANULE_SHIFT));
        }
}

void haul__visit_carried(const haul_plan *plan, const haul__piece *piece,
                         haul__carried_visitor *visit, void *user)
{
    growing r = { visit, user, piece->at, piece->at };
    size_t i;
    for (i = piece->first; i < piece->end; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        if (!block->side || (!block->side->holes && !haul__has_exclusions(block)))
            take(&r, haul__place_of_block(plan, i), haul__place_of_block(plan, i + 1));
        else if (!haul__carries_nothing(block))
            take_cells(&plan->found.map, block, &r);
    }
    if (r.end > r.place)
        visit(user, r.place, r.end - r.place);
}
