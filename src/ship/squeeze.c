/* Squeezed pieces.
 *
 * The slow obvious version sends the zeros. But an array that a kernel fills need not cross at all,
 * and under a policy a few members may be all that travels of large structs. So a piece that
 * carries little is squeezed where it was gathered: runs move to its beginning, and a list tells
 * the device where each belongs. The device has made the piece's place zeros before.
 *
 *     gathered    | run ...... run . run .......... |
 *     squeezed    | run run run | list |
 *
 * Small pieces cross as they are, because two orders cost more than the bytes.
 */
#include "ship/squeeze.h"
#include "device/streams.h"
#include "map/found.h"
#include "pack/carried.h"
#include "pack/plan.h"

/* One visit of the runs counts, one moves, one lists. */
typedef struct squeezing {
    size_t at;             /* of the piece in the arena */
    size_t packed;         /* bytes so far */
    unsigned char *memory; /* of the piece; NULL: nothing moves */
    haul_strip *list;      /* NULL: strips are counted */
    size_t strips;
    haul_address to; /* of the piece */
} squeezing;

static void take_run(void *user, size_t place, size_t bytes)
{
    squeezing *s = user;
    const size_t in_piece = place - s->at;
    size_t at, now;
    if (s->memory)
        memmove(s->memory + s->packed, s->memory + in_piece, bytes);
    for (at = 0; at < bytes && !s->memory; at += now, s->strips++) {
        now = bytes - at < HAUL_STRIP_BYTES ? bytes - at : HAUL_STRIP_BYTES;
        if (!s->list)
            continue;
        s->list[s->strips].first = s->to + in_piece + at;
        s->list[s->strips].stride = 0;
        s->list[s->strips].packed = s->packed + at;
        s->list[s->strips].count = 1;
        s->list[s->strips].bytes = (uint32_t)now;
    }
    s->packed += bytes;
}

haul__squeezed haul__try_squeeze(const haul_device *device, const haul_plan *plan,
                                 const haul__piece *piece, size_t least)
{
    haul__squeezed squeezed = { 0, 0, 0, 0 };
    squeezing s;
    size_t all;
    if (!device->table.clear || !device->table.scatter_strips || haul__plan_is_ordered(plan) ||
        piece->bytes < least)
        return squeezed;
    memset(&s, 0, sizeof s);
    s.at = piece->at;
    haul__visit_carried(plan, piece, take_run, &s);
    squeezed.bytes = s.packed;
    squeezed.list_at = (s.packed + 7) & ~(size_t)7;
    squeezed.strips = s.strips;
    all = squeezed.list_at + s.strips * sizeof(haul_strip);
    if (all < piece->bytes && piece->bytes - all >= least)
        squeezed.saved = piece->bytes - squeezed.bytes;
    return squeezed;
}

void haul__squeeze(const haul_plan *plan, const haul__piece *piece, const haul__squeezed *squeezed,
                   unsigned char *memory, haul_address to)
{
    squeezing s;
    memset(&s, 0, sizeof s);
    s.at = piece->at;
    s.memory = memory;
    haul__visit_carried(plan, piece, take_run, &s);
    s.memory = NULL;
    s.packed = 0;
    s.list = (haul_strip *)(void *)(memory + squeezed->list_at);
    s.to = to;
    haul__visit_carried(plan, piece, take_run, &s);
}

haul_status haul__send_squeezed(haul_device *device, const haul__piece *piece,
                                const haul__squeezed *squeezed, const unsigned char *memory,
                                haul_address to)
{
    const haul_strip *list = (const haul_strip *)(const void *)(memory + squeezed->list_at);
    const haul_status status = haul__clear(device, to, piece->bytes);
    return status == HAUL_OK && squeezed->strips
               ? haul__scatter_strips(device, list, squeezed->strips, memory, squeezed->bytes)
               : status;
}
