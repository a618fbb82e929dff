/* Device memory for one graph:
 *
 *     address            + bitmap_at         + odd_at          + list_at                + bytes
 *     | arena            | relocation bitmap | odd offsets     | what is to be rebuilt  |
 *
 * Bitmap and odd offsets are there only when the device patches pointers itself, in the bitmap's
 * place perhaps a list of all pointers; the list behind them where there are objects whose contents
 * depend on addresses. One range means one allocation and one transfer for a whole graph, however
 * many pieces it crosses in.
 */
#ifndef HAUL_DEVICE_RANGE_H
#define HAUL_DEVICE_RANGE_H

#include "base/base.h"
#include "haul/arena.h"
#include "haul/device.h"

typedef struct haul__range {
    haul_address address;
    size_t arena_bytes, bitmap_at, bitmap_bytes, odd_at, odd_count, list_at, list_count;
    /* pointers that have been sent as a list, into the end of the bitmap's room; 0: the bitmap
     * has */
    size_t listed;
    uint64_t grown; /* the arena's, when its marks were sent */
    size_t bytes;
    haul_arena *mirror; /* whose memory this is, at the arena's own addresses; NULL: allocated */
} haul__range;

/* Does the device patch it? Then there is a bitmap, or room for it. */
HAUL__INLINE int haul__is_patched(const haul__range *range)
{
    return range->bitmap_bytes > 0;
}

/* Where its list of pointers begins. */
HAUL__INLINE size_t haul__listed_at(const haul__range *range)
{
    return range->bitmap_at + range->bitmap_bytes - range->listed * sizeof(uint64_t);
}

/* Few pointers are told by a list of their offsets, at most so many: it takes a part of the
 * bitmap's bytes, and one piece of `piece` bytes. 0: none are. */
#define HAUL__LIST_PART 2u
HAUL__INLINE size_t haul__listed_most(const haul__range *range, size_t piece)
{
    const size_t part = range->bitmap_bytes / HAUL__LIST_PART;
    return range->odd_count > 0 ? 0 : (part < piece ? part : piece) / sizeof(uint64_t);
}

/* What has been sent of it. */
HAUL__INLINE size_t haul__sent_bytes(const haul__range *range)
{
    return range->listed ? range->arena_bytes + range->bytes - haul__listed_at(range)
                         : range->bytes;
}

/* What a word of the bitmap is for, and so much of an offset as is whole words' business: there an
 * arena can be cut. */
#define HAUL__MARK_BYTES (64 * sizeof(void *))
HAUL__INLINE size_t haul__whole_marks(size_t bytes)
{
    return bytes / HAUL__MARK_BYTES * HAUL__MARK_BYTES;
}

/* Memory for a range of range->bytes. */
haul_status haul__allocate_aligned(haul_device *device, size_t alignment, haul__range *range);

/* A patch of a range whose arena held pointers into [from, from + bytes], and the order for it. */
haul_relocation haul__relocation_of(const haul__range *range, uint64_t from, uint64_t bytes,
                                    uint64_t delta);
/* The patch of a range whose arena held pointers into [from, from + arena_bytes]. */
haul_status haul__relocate(haul_device *device, const haul__range *range, uint64_t from);
/* Copy and patch in one order, of a range as it lies in `memory`, which is of the device's
 * staging. */
haul_status haul__send_as_one(haul_device *device, const haul__range *range, uint64_t from,
                              const void *memory);
/* The reverse: an arena's range as it lies, with pointers that hold at `to`, into `memory`, of some
 * device's staging. HAUL_ERROR_UNSUPPORTED: the device would rather have other orders, and nothing
 * has happened. */
haul_status haul__fetch_as_one(haul_device *device, const haul__range *range, uint64_t to,
                               unsigned char *memory);

#endif
