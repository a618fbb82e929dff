/* Device memory for one graph:
 *
 *     address   + bitmap_at         + explicit_at           + list_at                + bytes
 *     | arena   | relocation bitmap | explicit relocations  | objects to rebuild     |
 *
 * Bitmap and explicit relocations (offsets) are present if the device patches pointers itself;
 * a list of all pointers may stand in place of the bitmap. The last list is present if objects have
 * contents that depend on addresses. One range is one allocation and one transfer for a whole
 * graph, in however many pieces it crosses.
 */
#ifndef HAUL_DEVICE_RANGE_H
#define HAUL_DEVICE_RANGE_H

#include "base/base.h"
#include "haul/arena.h"
#include "haul/device.h"

typedef struct haul__range {
    haul_address address;
    size_t arena_bytes, bitmap_at, bitmap_bytes, explicit_at, explicit_count, list_at, list_count;
    /* pointers that were sent as a list, at the end of the bitmap's room; 0: as the bitmap */
    size_t listed;
    uint64_t grown; /* arena->grown when its marks were sent */
    size_t bytes;   /* of all */
    uint64_t most;  /* of its budget; 0: that of the device */
    /* owned: the places of its bytes; NULL: all lie in the device's own memory */
    haul_placing *placings;
    size_t placing_count;
    /* the arena at whose own addresses this memory is; NULL: the range was allocated */
    haul_arena *mirror;
} haul__range;

/* Does the device patch it? Then there is room for a bitmap. */
HAUL__INLINE int haul__is_patched(const haul__range *range)
{
    return range->bitmap_bytes > 0;
}

/* The offset of its list of pointers. */
HAUL__INLINE size_t haul__listed_at(const haul__range *range)
{
    return range->bitmap_at + range->bitmap_bytes - range->listed * sizeof(uint64_t);
}

/* The most pointers that are sent as a list of offsets in place of the bitmap: the list fits a part
 * of the bitmap's bytes, and one piece. 0: always the bitmap. */
#define HAUL__LIST_PART 2u
HAUL__INLINE size_t haul__listed_most(const haul__range *range, size_t piece)
{
    const size_t part = range->bitmap_bytes / HAUL__LIST_PART;
    return range->explicit_count > 0 ? 0 : (part < piece ? part : piece) / sizeof(uint64_t);
}

/* The bytes of an arena that one 64-bit word of its bitmap describes; an offset rounded down to
 * that. At such offsets an arena can be cut. */
#define HAUL__MARK_BYTES (64 * sizeof(void *))
HAUL__INLINE size_t haul__whole_marks(size_t bytes)
{
    return bytes / HAUL__MARK_BYTES * HAUL__MARK_BYTES;
}

/* Allocates range->bytes, by its placings. HAUL_ERROR_DEVICE_MEMORY: a budget does not allow it, or
 * the device has too little. On failure there are no placings. */
haul_status haul__allocate_aligned(haul_device *device, size_t alignment, haul__range *range);

/* The relocation of pointers into [from, from + bytes] by `delta`. */
haul_relocation haul__relocation_of(const haul__range *range, uint64_t from, uint64_t bytes,
                                    uint64_t delta);
/* Orders the patch of pointers into the arena, which lay at `from` when they were written. */
haul_status haul__relocate(haul_device *device, const haul__range *range, uint64_t from);
/* One order for copy and patch: sends the whole range from `memory`, which is pinned. */
haul_status haul__send_as_one(haul_device *device, const haul__range *range, uint64_t from,
                              const void *memory);
/* The reverse: fetches the arena into `memory`, which is pinned, with pointers as of an arena at
 * `to`. HAUL_ERROR_UNSUPPORTED: the device prefers separate orders; nothing has happened. */
haul_status haul__fetch_as_one(haul_device *device, const haul__range *range, uint64_t to,
                               unsigned char *memory);

/* ---- placings.c */

/* The bytes at offsets [at, end) that lie in a place. */
uint64_t haul__placed_bytes(const haul__range *range, uint64_t at, uint64_t end, haul_place place);
void haul__drop_placings(haul_device *device, haul__range *range);

#endif
