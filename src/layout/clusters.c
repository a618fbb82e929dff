/* Clusters: the parts of the ordered arena, in the order in which the walk reached them.
 *
 * The slow obvious version copies one range after the other, as the walk finds them. But ranges
 * overlap. Those that overlap in bytes become one cluster; ranges that only touch, or share a
 * granule, do not, because that is chance. A cluster's turn is the turn of its first range. It goes
 * to the next place that meets these demands:
 *
 *   - addresses of its ranges have the alignments that the walk has checked,
 *   - bits that pointers use for tags are clear in its addresses,
 *   - elements have the alignment that their type declares, unless that contradicts the demands
 *     above (it is not checked if the extent is no multiple of it),
 *   - elements lie at multiples of the lowest bit of their size, unless that contradicts too.
 *
 * Without demands it goes to the next granule. The first two kinds never contradict each other,
 * because the source meets them. No step uses the cluster's own address: ranges are compared only
 * with each other. So another process with the same graph gets the same places.
 *
 * Compacted places rise with addresses, and a cluster's bytes lie side by side in both layouts. So
 * the compacted plan (marks, ranks, read set) stays as it is, and the ordered layout permutes it. A
 * compacted place finds its cluster by a guide, one index for every 256 bytes of the compacted
 * arena, and a search among the few clusters there.
 */
#include "layout/clusters.h"
#include "context/pulse.h"

/* The places that suit a cluster: those that are `phase` modulo `alignment`. */
typedef struct demand {
    uint16_t alignment, phase;
} demand;

typedef struct making {
    haul_context *context;
    const haul__found *found;
    const haul__order_log *log;
    haul__clusters *clusters;
    demand *demands;   /* of each cluster */
    uint32_t *of_turn; /* the cluster of each range, by turn */
} making;

/* ---- Ranges by address. */

#define DIGIT 11u    /* bits of a digit: its counters stay in the first-level cache */
#define RANGE_NS 64u /* that a step takes for a range, about */

/* One step of the sort: by the digit at `shift`, stable. */
static haul_status distribute(haul_context *context, const haul__reached *from, haul__reached *to,
                              size_t count, unsigned shift)
{
    uint32_t place[1u << DIGIT] = { 0 };
    uint32_t sum = 0;
    haul_status status = HAUL_OK;
    size_t i, end;
    for (i = 0; i < count && status == HAUL_OK; status = haul__pulse(context))
        for (end = haul__pulse_end(i, count, RANGE_NS); i < end; i++)
            place[from[i].first >> shift & ((1u << DIGIT) - 1u)]++;
    for (i = 0; i < (1u << DIGIT); i++) {
        const uint32_t in_bucket = place[i];
        place[i] = sum;
        sum += in_bucket;
    }
    for (i = 0; i < count && status == HAUL_OK; status = haul__pulse(context))
        for (end = haul__pulse_end(i, count, RANGE_NS); i < end; i++)
            to[place[from[i].first >> shift & ((1u << DIGIT) - 1u)]++] = from[i];
    return status;
}

/* Sorts ranges by address, and those with one address by turn: they come by turn. From the lowest
 * digit in which addresses differ to the highest. */
static haul_status sort_ranges(haul_context *context, haul__reached *ranges, size_t count)
{
    const haul_allocator *allocator = &context->allocator;
    haul_status status = HAUL_OK;
    uintptr_t differ = 0, falls = 0;
    haul__reached *spare, *from = ranges, *to;
    unsigned shift;
    size_t i;
    for (i = 1; i < count; i++) {
        differ |= ranges[i].first ^ ranges[i - 1].first;
        falls |= ranges[i].first < ranges[i - 1].first;
    }
    if (!falls)
        return HAUL_OK;
    spare = haul__allocate(allocator, count * sizeof *spare, sizeof(uintptr_t));
    if (!spare)
        return HAUL_ERROR_MEMORY;
    to = spare;
    for (shift = haul__lowest64(differ);
         shift < 8 * sizeof differ && differ >> shift && status == HAUL_OK; shift += DIGIT) {
        haul__reached *sorted = to;
        if ((differ >> shift & ((1u << DIGIT) - 1u)) == 0)
            continue;
        status = distribute(context, from, to, count, shift);
        to = from;
        from = sorted;
    }
    if (from != ranges && status == HAUL_OK)
        memcpy(ranges, from, count * sizeof *ranges);
    haul__release(allocator, spare, count * sizeof *spare);
    return status;
}

/* The byte `distance` behind the cluster's beginning (modulo 2^64, so it may lie before) must stand
 * at a multiple of `alignment`. A demand that contradicts a smaller one is dropped. */
static void ask(demand *d, uintptr_t distance, size_t alignment)
{
    const size_t phase = (size_t)(0 - distance) & (alignment - 1);
    if (alignment <= d->alignment || (phase & (d->alignment - 1u)) != d->phase)
        return;
    d->alignment = (uint16_t)alignment;
    d->phase = (uint16_t)phase;
}

#define SEARCH_NS 256u /* that a search for a place takes, about */

/* ---- From ranges to clusters. */

/* Ranges from `first` to `end`. */
static void merge_some(making *m, size_t first, size_t end)
{
    const haul__order_log *log = m->log;
    haul__clusters *clusters = m->clusters;
    haul__cluster *cluster = clusters->count ? &clusters->at[clusters->count - 1] : NULL;
    size_t i;
    for (i = first; i < end; i++) {
        const haul__reached *range = &log->reached.at[i];
        if (!cluster || range->first - cluster->first >= cluster->bytes) {
            cluster = &clusters->at[clusters->count];
            cluster->first = range->first;
            cluster->bytes = 0;
            m->demands[clusters->count].alignment = 1;
            m->demands[clusters->count++].phase = 0;
        }
        if (cluster->bytes < range->end - cluster->first)
            cluster->bytes = (size_t)(range->end - cluster->first);
        ask(&m->demands[clusters->count - 1], range->first - cluster->first,
            (size_t)1 << range->asked);
        m->of_turn[range->turn] = (uint32_t)(clusters->count - 1);
    }
}

static haul_status merge(making *m)
{
    haul_status status = HAUL_OK;
    size_t first, end;
    for (first = 0; first < m->log->reached.count && status == HAUL_OK; first = end) {
        end = haul__pulse_end(first, m->log->reached.count, RANGE_NS);
        merge_some(m, first, end);
        status = haul__pulse(m->context);
    }
    return status;
}

/* Demands that the tag bits are clear in the target's new address too. Bits below the tags keep
 * their value. */
static int free_tags_at(making *m, const haul__reference *reference, uintptr_t byte)
{
    const haul__clusters *clusters = m->clusters;
    const uintptr_t clear = reference->untagged & ~(uintptr_t)(reference->tags - 1);
    const size_t cluster = haul__cluster_behind(clusters, byte);
    if (cluster == clusters->count || byte < clusters->at[cluster].first)
        return 0;
    ask(&m->demands[cluster], clear - clusters->at[cluster].first, reference->tags);
    return 1;
}

/* A target may be one past the end of a cluster. */
static haul_status free_tags(making *m)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < m->log->references.count && status == HAUL_OK; i++) {
        const haul__reference *reference = &m->log->references.at[i];
        int is_found = reference->tags > 1 && free_tags_at(m, reference, reference->target);
        if (reference->tags > 1 && (!is_found || reference->kind != HAUL__REFERENCE_TAGGED))
            free_tags_at(m, reference, reference->target - 1);
        status = haul__pulse_behind(m->context, i, SEARCH_NS);
    }
    return status;
}

static void ask_for(making *m, const haul__reached *range, unsigned shift)
{
    const size_t cluster = m->of_turn[range->turn];
    ask(&m->demands[cluster], range->first - m->clusters->at[cluster].first, (size_t)1 << shift);
}

/* Alignments that were not checked, unless they contradict others. Declared ones up to a granule
 * are left out: an object may lie anywhere in another. */
static haul_status hope(making *m)
{
    const haul__order_log *log = m->log;
    haul_status status = HAUL_OK;
    const size_t count = log->reached.count;
    size_t i, end;
    for (i = 0; i < count && status == HAUL_OK; status = haul__pulse(m->context))
        for (end = haul__pulse_end(i, count, RANGE_NS); i < end; i++)
            if (log->reached.at[i].kept > HAUL__GRANULE_SHIFT)
                ask_for(m, &log->reached.at[i], log->reached.at[i].kept);
    for (i = 0; i < count && status == HAUL_OK; status = haul__pulse(m->context))
        for (end = haul__pulse_end(i, count, RANGE_NS); i < end; i++)
            ask_for(m, &log->reached.at[i], log->reached.at[i].hoped);
    return status;
}

/* ---- Places. */

static haul_status find_compacted(making *m)
{
    const haul__map *map = &m->found->map;
    haul_status status = HAUL_OK;
    size_t i, end;
    for (i = 0; i < m->clusters->count && status == HAUL_OK; status = haul__pulse(m->context))
        for (end = haul__pulse_end(i, m->clusters->count, SEARCH_NS); i < end; i++) {
            haul__cluster *cluster = &m->clusters->at[i];
            cluster->compact = haul__place(haul__map_find(map, cluster->first), cluster->first);
        }
    return status;
}

static haul_status refuse_size(making *m)
{
    return haul__fail(&m->context->error, HAUL_ERROR_LIMIT,
                      "an arena larger than this machine's addresses");
}

static haul_status place_clusters(making *m)
{
    haul__clusters *clusters = m->clusters;
    const uint64_t most = SIZE_MAX / 4;
    uint64_t at = haul__round_up(HAUL__GRANULE + m->found->room_before, HAUL__GRANULE);
    haul_status status = HAUL_OK;
    size_t turn, placed = 0;
    clusters->alignment = HAUL__GRANULE;
    for (turn = 0; turn < m->log->reached.count && status == HAUL_OK; turn++) {
        haul__cluster *cluster = &clusters->at[m->of_turn[turn]];
        const demand *d = &m->demands[m->of_turn[turn]];
        const size_t alignment = d->alignment > HAUL__GRANULE ? d->alignment : HAUL__GRANULE;
        status = haul__pulse_behind(m->context, turn, RANGE_NS);
        if (cluster->place)
            continue;
        cluster->place = haul__round_up(at, alignment) + d->phase;
        at = haul__round_up(cluster->place + cluster->bytes, HAUL__GRANULE);
        clusters->by_place[placed++] = m->of_turn[turn];
        if (clusters->alignment < alignment)
            clusters->alignment = alignment;
        if (at > most)
            return refuse_size(m);
    }
    clusters->bytes = haul__round_up(at + m->found->room_behind, HAUL__GRANULE);
    return status == HAUL_OK && clusters->bytes > most ? refuse_size(m) : status;
}

static haul_status make_guide(making *m)
{
    haul__clusters *clusters = m->clusters;
    haul_status status = HAUL_OK;
    size_t step, cluster = 0;
    for (step = 0; step < clusters->guide_count && status == HAUL_OK; step++) {
        const uint64_t at = (uint64_t)step << HAUL__GUIDE_SHIFT;
        while (cluster < clusters->count &&
               clusters->at[cluster].compact + clusters->at[cluster].bytes <= at)
            cluster++;
        clusters->guide[step] = (uint32_t)cluster;
        status = haul__pulse_behind(m->context, step, RANGE_NS);
    }
    return status;
}

static haul_status make(making *m)
{
    haul_status status = merge(m);
    if (status == HAUL_OK)
        status = free_tags(m);
    if (status == HAUL_OK)
        status = hope(m);
    if (status == HAUL_OK)
        status = find_compacted(m);
    if (status == HAUL_OK)
        status = make_guide(m);
    return status == HAUL_OK ? place_clusters(m) : status;
}

/* ---- Memory. */

static int allocate_clusters(haul_context *context, const haul__placed *placed, size_t count,
                             haul__clusters *clusters)
{
    const haul_allocator *allocator = &context->allocator;
    clusters->capacity = count;
    clusters->at = haul__allocate_zeroed(allocator, count * sizeof *clusters->at);
    clusters->by_place =
        haul__allocate(allocator, count * sizeof *clusters->by_place, sizeof(uint32_t));
    clusters->guide_count =
        (size_t)((placed->granules << HAUL__GRANULE_SHIFT) >> HAUL__GUIDE_SHIFT) + 1;
    clusters->guide = haul__allocate(allocator, clusters->guide_count * sizeof *clusters->guide,
                                     sizeof(uint32_t));
    return clusters->at && clusters->by_place && clusters->guide;
}

void haul__clusters_close(const haul_allocator *allocator, haul__clusters *clusters)
{
    haul__release(allocator, clusters->at, clusters->capacity * sizeof *clusters->at);
    haul__release(allocator, clusters->by_place, clusters->capacity * sizeof *clusters->by_place);
    haul__release(allocator, clusters->guide, clusters->guide_count * sizeof *clusters->guide);
    memset(clusters, 0, sizeof *clusters);
}

size_t haul__clusters_memory(const haul__clusters *clusters)
{
    return clusters->capacity * (sizeof *clusters->at + sizeof *clusters->by_place) +
           clusters->guide_count * sizeof *clusters->guide;
}

haul_status haul__clusters_make(haul_context *context, const haul__found *found,
                                const haul__placed *placed, haul__order_log *log,
                                haul__clusters *clusters)
{
    const haul_allocator *allocator = &context->allocator;
    const size_t count = log->reached.count, room = count + 1; /* a graph may have no bytes */
    haul_status status = HAUL_ERROR_MEMORY;
    making m;
    memset(clusters, 0, sizeof *clusters);
    if (count >= UINT32_MAX)
        return haul__fail(&context->error, HAUL_ERROR_LIMIT,
                          "%zu ranges are too many for an ordered arena", count);
    m.context = context;
    m.found = found;
    m.log = log;
    m.clusters = clusters;
    m.demands = haul__allocate(allocator, room * sizeof *m.demands, sizeof(uint16_t));
    m.of_turn = haul__allocate(allocator, room * sizeof *m.of_turn, sizeof(uint32_t));
    if (m.demands && m.of_turn)
        status = sort_ranges(context, log->reached.at, count);
    if (status == HAUL_OK)
        status = allocate_clusters(context, placed, room, clusters) ? make(&m) : HAUL_ERROR_MEMORY;
    if (status == HAUL_ERROR_MEMORY)
        haul__fail(&context->error, status, "out of memory in layout");
    haul__release(allocator, m.demands, room * sizeof *m.demands);
    haul__release(allocator, m.of_turn, room * sizeof *m.of_turn);
    if (status != HAUL_OK)
        haul__clusters_close(allocator, clusters);
    return status;
}

/* ---- Searches. */

static int ends_by(const void *list, size_t i, uint64_t address)
{
    const haul__cluster *cluster = (const haul__cluster *)list + i;
    return cluster->first + cluster->bytes <= address;
}

size_t haul__cluster_behind(const haul__clusters *clusters, uintptr_t address)
{
    return haul__search(clusters->at, 0, clusters->count, address, ends_by);
}

static int is_placed_by(const void *list, size_t i, uint64_t place)
{
    const haul__clusters *clusters = list;
    return clusters->at[clusters->by_place[i]].place <= place;
}

const haul__cluster *haul__cluster_at(const haul__clusters *clusters, uint64_t place)
{
    const size_t i = haul__search(clusters, 0, clusters->count, place, is_placed_by);
    const haul__cluster *cluster = i ? &clusters->at[clusters->by_place[i - 1]] : NULL;
    return cluster && place - cluster->place < cluster->bytes ? cluster : NULL;
}
