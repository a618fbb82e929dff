/* Data of a source range, copied into or out of a copy of a piece of the arena.
 *
 * The slow obvious version goes granule by granule. It is used for granules with pointers, with
 * skipped bytes, or live in part. Runs of cells of pure data, which large arrays consist of, are
 * copied at once.
 */
#include "map/exclusions.h"
#include "pack/granule_data.h"
#include "pack/range_data.h"
#include "pack/translate.h"

/* The bytes of the granule that lie in [first, end). */
static uint16_t range_mask(uintptr_t granule, uintptr_t first, uintptr_t end)
{
    uint16_t mask = HAUL__FULL_MASK;
    if (granule < first)
        mask &= (uint16_t)(HAUL__FULL_MASK << (first - granule));
    if (end - granule < HAUL__GRANULE)
        mask &= (uint16_t)((1u << (end - granule)) - 1u);
    return mask;
}

/* A run of the source that is also a run of the arena: pure data, or one granule with masks. */
typedef struct run {
    uintptr_t at;
    size_t bytes, place;
    uint16_t described, data; /* masks of one granule, within the range */
    uint16_t blind;           /* not sent, so perhaps uninitialised: may not be read on the host */
} run;

/* The part of a source range that lies in one cluster, and the distance from its compacted place to
 * its ordered one. In a compacted plan the whole range is one part. Begin with zeros; 0: there are
 * no more parts. */
typedef struct cluster_part {
    uintptr_t first, end;
    uint64_t shift;
} cluster_part;

static int next_part(const haul_plan *plan, uintptr_t first, uintptr_t end, cluster_part *p)
{
    const haul__clusters *clusters = plan->ordered ? &plan->ordered->clusters : NULL;
    const haul__cluster *cluster;
    uintptr_t at = p->end ? p->end : first;
    size_t i;
    p->first = at;
    p->end = end;
    if (!clusters || at >= end)
        return at < end;
    i = haul__cluster_behind(clusters, at);
    if (i == clusters->count || clusters->at[i].first >= end)
        return 0;
    cluster = &clusters->at[i];
    p->first = at > cluster->first ? at : cluster->first;
    p->end = end - cluster->first < cluster->bytes ? end : cluster->first + cluster->bytes;
    p->shift = cluster->place - cluster->compact;
    return 1;
}

/* The next placed granule at or after `at` and below `end`; 0: there is none. */
static uintptr_t next_placed(const haul__map *map, uintptr_t at, uintptr_t end, haul__block **block)
{
    at &= ~(uintptr_t)(HAUL__GRANULE - 1);
    while (at != 0 && at < end && at <= HAUL__HIGHEST) {
        *block = haul__map_find(map, at);
        if (*block && haul__is_placed(*block, at))
            return at;
        at = *block ? at + HAUL__GRANULE : (at | (HAUL__BLOCK_BYTES - 1)) + 1;
    }
    return 0;
}

/* The number of bytes from `at` on that lie in the range and in whole cells of pure data. */
static size_t plain_bytes(const haul__map *map, const haul__block *block, uintptr_t at,
                          uintptr_t end)
{
    unsigned cell = haul__cell_number(at);
    size_t bytes = 0;
    if ((haul__has_masks(block) && block->form != HAUL__FULL) || haul__is_cut(block) ||
        at % HAUL__CELL_BYTES != 0)
        return 0;
    for (; cell < HAUL__CELLS && end - at - bytes >= HAUL__CELL_BYTES; cell++) {
        if (haul__live(block, cell) != UINT32_MAX || haul__placed_slots(map, block, cell))
            break;
        bytes += HAUL__CELL_BYTES;
    }
    return bytes;
}

/* The next run in the part. Begin with zeros; 0: there is none. Bytes that are excluded from
 * `direction` are not data. */
static int next_run(const haul_plan *plan, unsigned direction, const cluster_part *p, run *s)
{
    const haul__map *map = &plan->found.map;
    const uintptr_t first = p->first, end = p->end;
    haul__block *block;
    uintptr_t at = next_placed(map, s->bytes ? s->at + s->bytes : first, end, &block);
    if (!at)
        return 0;
    s->at = at;
    s->place = (size_t)(haul__place(block, at) + p->shift);
    s->described = s->data = HAUL__FULL_MASK;
    s->blind = 0;
    s->bytes = at >= first ? plain_bytes(map, block, at, end) : 0;
    if (s->bytes)
        return 1;
    s->bytes = HAUL__GRANULE;
    s->described = haul__byte_mask(block, haul__granule_in_block(at)) & range_mask(at, first, end);
    s->data = haul__data_mask(plan, block, haul__block_number(at), haul__granule_in_block(at)) &
              range_mask(at, first, end);
    s->blind = haul__excluded_mask(block, haul__granule_in_block(at), HAUL__UNSENT);
    s->data &= (uint16_t)~haul__excluded_mask(block, haul__granule_in_block(at), direction);
    return 1;
}

void haul__gather_data(const haul_plan *plan, uintptr_t first, uintptr_t end, void *piece,
                       size_t offset)
{
    cluster_part p = { 0, 0, 0 };
    while (next_part(plan, first, end, &p)) {
        run s = { 0, 0, 0, 0, 0, 0 };
        while (next_run(plan, HAUL__UNSENT, &p, &s)) {
            unsigned char *to = (unsigned char *)((uintptr_t)piece + s.place - offset);
            if (s.data == HAUL__FULL_MASK)
                memcpy(to, (const void *)s.at, s.bytes);
            else if (s.data)
                haul__write_bytes(to, (const unsigned char *)s.at, s.data, s.data);
        }
    }
}

/* As in scatter, equal bytes are not written. */
void haul__scatter_data(const haul_plan *plan, uintptr_t first, uintptr_t end, const void *piece,
                        size_t offset)
{
    cluster_part p = { 0, 0, 0 };
    while (next_part(plan, first, end, &p)) {
        run s = { 0, 0, 0, 0, 0, 0 };
        while (next_run(plan, HAUL__UNRETURNED, &p, &s)) {
            const unsigned char *from =
                (const unsigned char *)((uintptr_t)piece + s.place - offset);
            if (s.data != HAUL__FULL_MASK || s.blind)
                haul__write_bytes((unsigned char *)s.at, from, s.data, s.blind);
            else if (memcmp((const void *)s.at, from, s.bytes) != 0)
                memcpy((void *)s.at, from, s.bytes);
        }
    }
}

/* Widens [*at, *at + *bytes), which begins empty, to hold [first, end). */
static void include(size_t *at, size_t *bytes, size_t first, size_t end)
{
    const size_t last = *bytes && *at + *bytes > end ? *at + *bytes : end;
    if (!*bytes || first < *at)
        *at = first;
    *bytes = last - *at;
}

int haul__find_span(const haul_plan *plan, unsigned direction, uintptr_t first, uintptr_t end,
                    haul__span *span)
{
    cluster_part p = { 0, 0, 0 };
    size_t data = 0;
    memset(span, 0, sizeof *span);
    while (next_part(plan, first, end, &p)) {
        run s = { 0, 0, 0, 0, 0, 0 };
        while (next_run(plan, direction, &p, &s)) {
            if (s.described)
                include(&span->offset, &span->bytes, s.place, s.place + s.bytes);
            if (!s.described || !s.data)
                continue;
            data += s.data == HAUL__FULL_MASK ? s.bytes : haul__bits32(s.data);
            include(&span->data_offset, &span->data_bytes, s.place + haul__lowest32(s.data),
                    s.place + (s.bytes > HAUL__GRANULE ? s.bytes : haul__highest64(s.data) + 1u));
        }
    }
    span->is_solid = data > 0 && data == span->data_bytes;
    return span->bytes != 0;
}

/* Visits the bytes of a granule's mask, run by run. */
static int visit_mask(const run *s, uint16_t mask, int is_blind, haul__data_visitor *visit,
                      void *user)
{
    while (mask) {
        const unsigned low = haul__lowest32(mask), count = haul__lowest32(~((uint32_t)mask >> low));
        if (!visit(user, s->at + low, s->place + low, count, is_blind))
            return 0;
        mask &= (uint16_t)((uint32_t)HAUL__FULL_MASK << (low + count));
    }
    return 1;
}

int haul__visit_data(const haul_plan *plan, unsigned direction, uintptr_t first, uintptr_t end,
                     haul__data_visitor *visit, void *user)
{
    cluster_part p = { 0, 0, 0 };
    while (next_part(plan, first, end, &p)) {
        run s = { 0, 0, 0, 0, 0, 0 };
        while (next_run(plan, direction, &p, &s)) {
            const int is_visited =
                s.bytes > HAUL__GRANULE
                    ? visit(user, s.at, s.place, s.bytes, 0)
                    : visit_mask(&s, s.data & (uint16_t)~s.blind, 0, visit, user) &&
                          visit_mask(&s, s.data & s.blind, 1, visit, user);
            if (!is_visited)
                return 0;
        }
    }
    return 1;
}
