/* Marking a long range by all threads, between two rounds of a walk by aims.
 *
 * The range is cut into as many slices as there are threads, between two blocks. No two threads
 * touch one block, and each makes its blocks in a map of its own, as in a round.
 *
 * Objects that go to uniform blocks are marked one by one. The caller's thread marks the first and
 * the last one before: their blocks may hold other ranges. Afterwards it marks those that lie on
 * both sides of a cut. If one cannot be marked so, the pattern of their slots is marked over the
 * whole range.
 *
 * Why it is right: marks are ORs, and no byte of the range was live before.
 */
#include "walk/mark_in_slices.h"
#include "walk/mark_elements.h"
#include "walk/share_parts.h"

/* Bytes that are worth waking all threads. */
#ifdef HAUL_STRESS_THREADS
#define LONG HAUL__BLOCK_BYTES
#else
#define LONG ((size_t)1 << 20)
#endif

typedef struct slices {
    haul__share *share;
    const haul__aim *aim;
    uintptr_t first, end;
    int by_starts;                 /* objects are marked one by one */
    int answer[HAUL__POOL_CHUNKS]; /* of each slice; 0: not by starts; -1: no memory; -2: refused */
} slices;

int haul__is_worth_slices(const haul__share *share, uintptr_t first, uintptr_t end)
{
    const size_t bytes = (size_t)(end - first);
    /* slices are longer than an element that goes to uniform blocks */
    return bytes >= LONG && bytes / HAUL__BLOCK_BYTES >= 2 * share->sharer_count;
}

void haul__describe_slots(const haul__discovery *d, const haul__aim *aim, uintptr_t first,
                          uintptr_t end, uintptr_t at, haul__pattern *pattern)
{
    memset(pattern, 0, sizeof *pattern);
    pattern->kind = aim->kind == HAUL__AIM_POINTERS ? HAUL__ALL_SLOTS : HAUL__NO_SLOTS;
    if (aim->has_pointers && aim->kind != HAUL__AIM_POINTERS) {
        const haul__walk *walk = d->met_types[aim->met].walk;
        pattern->kind = HAUL__TYPE_SLOTS;
        pattern->slots = walk->slots;
        pattern->slot_count = walk->slot_count;
        pattern->stride = walk->extent;
        pattern->element = at - (at - first) % walk->extent;
        pattern->left = (size_t)(end - pattern->element) / walk->extent;
    }
}

/* Where the slice of this number begins. */
static uintptr_t cut(const slices *s, size_t number)
{
    const size_t count = s->share->sharer_count;
    const uintptr_t at = s->first + (s->end - s->first) / count * number;
    return number == 0 ? s->first : number == count ? s->end : at & ~(HAUL__BLOCK_BYTES - 1);
}

/* Marks the elements that lie within [from, to). As haul__mark_starts. */
static int mark_starts_within(haul__discovery *d, const slices *s, uintptr_t from, uintptr_t to)
{
    const size_t extent = d->met_types[s->aim->met].walk->extent;
    const size_t skipped = ((size_t)(from - s->first) + extent - 1) / extent;
    haul__marked marked = { 0, 0, 0 };
    haul__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.what = HAUL__OBJECTS;
    entry.met_type = s->aim->met;
    entry.stride = extent;
    entry.address = s->first + skipped * extent;
    entry.count = entry.address < to ? (size_t)(to - entry.address) / extent : 0;
    return haul__mark_starts(d, &entry, &marked);
}

static int mark_pattern(haul__discovery *d, const slices *s, uintptr_t from, uintptr_t to)
{
    haul__pattern pattern;
    haul__marked marked;
    haul_status status;
    haul__describe_slots(d, s->aim, s->first, s->end, from, &pattern);
    status = haul__mark_slice(d->map, from, to, &pattern, &marked);
    return status == HAUL_OK ? 1 : status == HAUL_ERROR_MEMORY ? -1 : -2;
}

static void mark_slice(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    slices *s = user;
    (void)number;
    (void)scratch;
    for (; first < end; first++) {
        haul__sharer *own = &s->share->sharer[first];
        const uintptr_t from = cut(s, first), to = cut(s, first + 1);
        s->answer[first] = s->by_starts ? mark_starts_within(&own->walk, s, from, to)
                                        : mark_pattern(&own->walk, s, from, to);
        if (s->answer[first] > 0 &&
            !haul__starts_spell(&own->starts, own->walk.map, from, to - 1, 0))
            s->answer[first] = -1;
    }
}

/* All slices. The least answer. */
static int mark_all(haul__discovery *d, slices *s, int by_starts)
{
    int least = 1;
    size_t i;
    s->by_starts = by_starts;
    if (!haul__share_run(d, s->share, mark_slice, s))
        return -1;
    for (i = 0; i < s->share->sharer_count; i++)
        if (least > s->answer[i])
            least = s->answer[i];
    return least;
}

/* Objects one by one, in the order that the head describes. */
static int mark_all_starts(haul__discovery *d, slices *s)
{
    const haul__met_type *met = &d->met_types[s->aim->met];
    const size_t extent = met->walk->extent;
    slices inner = *s;
    int answer;
    size_t i;
    if (s->aim->kind != HAUL__AIM_OBJECTS || !s->aim->has_pointers || met->form == HAUL__NO_FORM)
        return 0;
    answer = mark_starts_within(d, s, s->first, s->first + extent);
    if (answer > 0)
        answer = mark_starts_within(d, s, s->end - extent, s->end);
    inner.first += extent;
    inner.end -= extent;
    if (answer > 0)
        answer = mark_all(d, &inner, 1);
    for (i = 1; i < s->share->sharer_count && answer > 0; i++) {
        const uintptr_t at = cut(&inner, i), element = at - (at - inner.first) % extent;
        if (element < at)
            answer = mark_starts_within(d, &inner, element, element + extent);
    }
    return answer;
}

haul_status haul__mark_in_slices(haul__discovery *d, haul__share *share, const haul__aim *aim,
                                 uintptr_t first, uintptr_t end)
{
    slices s;
    int answer;
    memset(&s, 0, sizeof s);
    s.share = share;
    s.aim = aim;
    s.first = first;
    s.end = end;
    if (aim->kind == HAUL__AIM_OBJECTS && (first & (HAUL__GRANULE - 1)) != 0 &&
        !haul__met_type_ragged(d, &d->met_types[aim->met]))
        return HAUL_ERROR_MEMORY;
    answer = mark_all_starts(d, &s);
    if (!answer)
        answer = mark_all(d, &s, 0);
    haul__mark_array(d->map, first, end);
    d->found->bytes += (size_t)(end - first);
    return answer > 0 ? HAUL_OK : answer == -1 ? HAUL_ERROR_MEMORY : HAUL_ERROR_GRAPH;
}
