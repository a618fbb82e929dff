/* Cells of a uniform block: the granules that follow from the starts of its objects.
 */
#include "pack/object_cells.h"
#include "support/check.h"
#include "support/random.h"

/* Granule by granule. *disjoint: no two objects have one in common. */
static uint32_t spread_slowly(uint32_t starts, unsigned granules, int *disjoint)
{
    uint32_t all = 0;
    unsigned start, i;
    *disjoint = 1;
    for (start = 0; start < 32; start++)
        for (i = start; (starts >> start & 1u) && i < start + granules && i < 32; i++) {
            *disjoint &= !(all >> i & 1u);
            all |= (uint32_t)1 << i;
        }
    return all;
}

static uint32_t some_starts(random_source *r, unsigned granules)
{
    const unsigned apart = random_below(r, 4) ? granules : 1;
    uint32_t starts = 0;
    uint64_t at = random_below(r, 32);
    for (; at < 32; at += apart + random_below(r, 8))
        starts |= (uint32_t)1 << at;
    return starts;
}

TEST(cells,
     objects_cover_the_granules_from_their_starts_on_and_those_that_overlap_are_no_cell_of_objects)
{
    random_source r = random_start("starts in cells");
    size_t round, overlaps = 0;
    for (round = 0; round < 100000; round++) {
        const unsigned granules = 1 + (unsigned)random_below(&r, 70);
        const uint32_t starts = some_starts(&r, granules);
        int disjoint;
        const uint32_t all = spread_slowly(starts, granules, &disjoint);
        CHECK_EQ(haul__spread(starts, granules) == all, disjoint);
        overlaps += !disjoint;
    }
    CHECK(overlaps > 1000);
    CHECK_EQ(haul__spread(0, 5), 0);
}
