/* Units: what an ordered arena consists of, one after the other as they were reached.
 *
 * Ranges of the trail that overlap in bytes become one unit; ranges that lie side by side, or share
 * a granule, do not, for that is chance. A unit's turn is that of its first range. It goes to the
 * next place at which
 *
 *   - what was checked of its ranges' addresses (an alignment that a type declares, that of
 *     pointers) holds again,
 *   - tags find their bits free,
 *   - what lies in elements of a constructed type has the alignment that it declares (an extent
 *     that is no multiple of that keeps it from being checked), as far as that agrees with the
 *     others,
 *   - elements lie at multiples of their sizes' lowest bits, as far as that agrees, too,
 *
 * and else at the next granule. None of this asks where the heap has put the unit: ranges are
 * compared with each other only, so another process with the same graph gets the same places. And
 * it is right for one whose addresses are good: all that was checked holds for the source, so its
 * demands do not contradict each other.
 *
 * Compacted places rise with addresses, and a unit's bytes lie side by side in both layouts. So the
 * compacted plan stays as it is (marks, ranks, guards), and this is a permutation on top of it. A
 * compacted place finds its unit by a guide, a number for each stretch of the compacted arena, and
 * a search among the few units of the stretch.
 */
#include "base/sort.h"

#include "layout/clusters.h"

/* Places that suit a unit: `phase` and every `alignment` from there. */
typedef struct demand {
    uint16_t alignment, phase;
} demand;

typedef struct making {
    haul_context *context;
    const haul__found *found;
    const haul__order_log *trail;
    haul__clusters *units;
    demand *demands; /* of each unit */
    size_t *of_turn; /* the unit of a range */
} making;

static int starts_before(const void *a, const void *b)
{
    const haul__reached *x = a, *y = b;
    return x->first != y->first ? x->first < y->first : x->turn < y->turn;
}

/* What lies `distance` behind the unit's beginning (or in front of it: it wraps) is a multiple of
 * `alignment`. What contradicts narrower demands is left out. */
static void ask(demand *d, uintptr_t distance, size_t alignment)
{
    const size_t phase = (size_t)(0 - distance) & (alignment - 1);
    if (alignment <= d->alignment || (phase & (d->alignment - 1u)) != d->phase)
        return;
    d->alignment = (uint16_t)alignment;
    d->phase = (uint16_t)phase;
}

/* ---- From ranges to units. */

static void merge(making *m)
{
    const haul__order_log *trail = m->trail;
    haul__clusters *units = m->units;
    haul__cluster *unit = NULL;
    size_t i;
    for (i = 0; i < trail->reached_count; i++) {
        const haul__reached *range = &trail->reached[i];
        if (!unit || range->first - unit->first >= unit->bytes) {
            unit = &units->at[units->count];
            unit->first = range->first;
            unit->bytes = 0;
            m->demands[units->count].alignment = 1;
            m->demands[units->count++].phase = 0;
        }
        if (unit->bytes < range->end - unit->first)
            unit->bytes = (size_t)(range->end - unit->first);
        ask(&m->demands[units->count - 1], range->first - unit->first, (size_t)1 << range->asked);
        m->of_turn[range->turn] = units->count - 1;
    }
}

/* A tag's bits are clear in the address that it stands in; bits below them that are no tag's stay
 * as they are. */
static int free_tags_at(making *m, const haul__reference *mention, uintptr_t byte)
{
    const haul__clusters *units = m->units;
    const uintptr_t clear = mention->untagged & ~(uintptr_t)(mention->tags - 1);
    const size_t unit = haul__cluster_behind(units, byte);
    if (unit == units->count || byte < units->at[unit].first)
        return 0;
    ask(&m->demands[unit], clear - units->at[unit].first, mention->tags);
    return 1;
}

/* A target may be the end of a unit. */
static void free_tags(making *m)
{
    size_t i;
    for (i = 0; i < m->trail->mention_count; i++) {
        const haul__reference *mention = &m->trail->mentions[i];
        int is_found = mention->tags > 1 && free_tags_at(m, mention, mention->target);
        if (mention->tags > 1 && (!is_found || mention->kind != HAUL__REFERENCE_TAGGED))
            free_tags_at(m, mention, mention->target - 1);
    }
}

static void ask_for(making *m, const haul__reached *range, unsigned shift)
{
    const size_t unit = m->of_turn[range->turn];
    ask(&m->demands[unit], range->first - m->units->at[unit].first, (size_t)1 << shift);
}

/* Placements of at most a granule are no wish: objects lie anywhere in each other. */
static void hope(making *m)
{
    const haul__order_log *trail = m->trail;
    size_t i;
    for (i = 0; i < trail->reached_count; i++)
        if (trail->reached[i].kept > HAUL__GRANULE_SHIFT)
            ask_for(m, &trail->reached[i], trail->reached[i].kept);
    for (i = 0; i < trail->reached_count; i++)
        ask_for(m, &trail->reached[i], trail->reached[i].hoped);
}

/* ---- Places. */

static void find_compacted(making *m)
{
    const haul__map *map = &m->found->map;
    size_t i;
    for (i = 0; i < m->units->count; i++) {
        haul__cluster *unit = &m->units->at[i];
        unit->compact = haul__place(haul__map_find(map, unit->first), unit->first);
    }
}

static uint64_t round_up(uint64_t at, size_t alignment)
{
    return (at + alignment - 1) & ~(uint64_t)(alignment - 1);
}

/* 0: the arena is larger than this machine's addresses. */
static int place_units(making *m)
{
    haul__clusters *units = m->units;
    const uint64_t most = SIZE_MAX / 4;
    uint64_t at = round_up(HAUL__GRANULE + m->found->room_before, HAUL__GRANULE);
    size_t turn, placed = 0;
    units->alignment = HAUL__GRANULE;
    for (turn = 0; turn < m->trail->reached_count; turn++) {
        haul__cluster *unit = &units->at[m->of_turn[turn]];
        const demand *d = &m->demands[m->of_turn[turn]];
        const size_t alignment = d->alignment > HAUL__GRANULE ? d->alignment : HAUL__GRANULE;
        if (unit->place)
            continue;
        unit->place = round_up(at, alignment) + d->phase;
        at = round_up(unit->place + unit->bytes, HAUL__GRANULE);
        units->by_place[placed++] = (uint32_t)m->of_turn[turn];
        if (units->alignment < alignment)
            units->alignment = alignment;
        if (at > most)
            return 0;
    }
    units->bytes = round_up(at + m->found->room_behind, HAUL__GRANULE);
    return units->bytes <= most;
}

static void make_guide(haul__clusters *units)
{
    size_t stretch, unit = 0;
    for (stretch = 0; stretch < units->guide_count; stretch++) {
        const uint64_t at = (uint64_t)stretch << HAUL__GUIDE_SHIFT;
        while (unit < units->count && units->at[unit].compact + units->at[unit].bytes <= at)
            unit++;
        units->guide[stretch] = (uint32_t)unit;
    }
}

/* ---- Memory. */

static int allocate_units(haul_context *context, const haul__placed *placed, size_t count,
                          haul__clusters *units)
{
    const haul_allocator *allocator = &context->allocator;
    units->capacity = count;
    units->at = haul__allocate_zeroed(allocator, count * sizeof *units->at);
    units->by_place = haul__allocate(allocator, count * sizeof *units->by_place, sizeof(uint32_t));
    units->guide_count =
        (size_t)((placed->granules << HAUL__GRANULE_SHIFT) >> HAUL__GUIDE_SHIFT) + 1;
    units->guide =
        haul__allocate(allocator, units->guide_count * sizeof *units->guide, sizeof(uint32_t));
    return units->at && units->by_place && units->guide;
}

void haul__clusters_close(const haul_allocator *allocator, haul__clusters *units)
{
    haul__release(allocator, units->at, units->capacity * sizeof *units->at);
    haul__release(allocator, units->by_place, units->capacity * sizeof *units->by_place);
    haul__release(allocator, units->guide, units->guide_count * sizeof *units->guide);
    memset(units, 0, sizeof *units);
}

size_t haul__clusters_memory(const haul__clusters *units)
{
    return units->capacity * (sizeof *units->at + sizeof *units->by_place) +
           units->guide_count * sizeof *units->guide;
}

static haul_status make(making *m)
{
    merge(m);
    free_tags(m);
    hope(m);
    find_compacted(m);
    make_guide(m->units);
    if (place_units(m))
        return HAUL_OK;
    return haul__fail(&m->context->error, HAUL_ERROR_LIMIT,
                      "an arena larger than this machine's addresses");
}

haul_status haul__clusters_make(haul_context *context, const haul__found *found,
                                const haul__placed *placed, haul__order_log *trail,
                                haul__clusters *units)
{
    const haul_allocator *allocator = &context->allocator;
    const size_t count = trail->reached_count;
    haul_status status = HAUL_ERROR_MEMORY;
    making m;
    memset(units, 0, sizeof *units);
    if (count >= UINT32_MAX)
        return haul__fail(&context->error, HAUL_ERROR_LIMIT,
                          "%zu ranges are too many for an ordered arena", count);
    m.context = context;
    m.found = found;
    m.trail = trail;
    m.units = units;
    haul__sort(trail->reached, count, sizeof *trail->reached, starts_before);
    m.demands = haul__allocate(allocator, count * sizeof *m.demands, sizeof(uint16_t));
    m.of_turn = haul__allocate(allocator, count * sizeof *m.of_turn, sizeof(size_t));
    if (m.demands && m.of_turn && allocate_units(context, placed, count, units))
        status = make(&m);
    else
        haul__fail(&context->error, status, "out of memory in layout");
    haul__release(allocator, m.demands, count * sizeof *m.demands);
    haul__release(allocator, m.of_turn, count * sizeof *m.of_turn);
    if (status != HAUL_OK)
        haul__clusters_close(allocator, units);
    return status;
}

/* ---- Searches. */

size_t haul__cluster_behind(const haul__clusters *units, uintptr_t address)
{
    size_t low = 0, high = units->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (units->at[middle].first + units->at[middle].bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const haul__cluster *haul__cluster_at(const haul__clusters *units, uint64_t place)
{
    size_t low = 0, high = units->count;
    const haul__cluster *unit;
    while (high > low + 1) {
        const size_t middle = low + (high - low) / 2;
        if (units->at[units->by_place[middle]].place <= place)
            low = middle;
        else
            high = middle;
    }
    unit = units->count ? &units->at[units->by_place[low]] : NULL;
    return unit && place - unit->place < unit->bytes ? unit : NULL;
}
