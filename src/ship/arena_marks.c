/* Marks: the list or bitmap that says which words of a user's arena are pointers. (The marks of a
 * plan's graph have the same forms, see transfer.c.)
 *
 * The obvious form is the bitmap, one bit for each word: 1.6 % of the arena, whatever its contents.
 * For few pointers among much data a list of their offsets is smaller, and the device then reads
 * the list alone. So if the list takes at most half of the bitmap's bytes, and at most one piece,
 * it is sent instead, at the end of the bitmap's room:
 *
 *     | arena | bitmap              | explicit relocations |
 *     | arena |           | offsets |
 *
 * To a device it is a list of explicit relocations. An order has room for one list, so an arena
 * that has explicit relocations keeps its bitmap.
 *
 * The host counts the bits and writes the list while the arena crosses; that takes no longer than a
 * copy of the bitmap. When arena->grown changes, the marks on the device are out of date: they lack
 * the pointers of objects that kernels have made, in this or another shipment of the arena.
 */
#include "device/piece_sizes.h"
#include "arena/arena_words.h"
#include "pack/progress.h"
#include "ship/arena_transfer.h"

/* ---- The contents' bitmap. */

/* The bits of bitmap word `number`, except those behind the contents. */
static uint64_t slots_in(const haul__contents *contents, size_t number)
{
    const size_t left = contents->bytes / sizeof(void *) - number * 64;
    return left >= 64 ? contents->slots[number]
                      : contents->slots[number] & (((uint64_t)1 << left) - 1);
}

/* The first bitmap word with bits from `number` on, or the number of words. */
static size_t next_marked(const haul__contents *contents, size_t number)
{
    const size_t end = haul__contents_bitmap_bytes(contents) / sizeof(uint64_t);
    while (number < end && !contents->slots[number])
        number++;
    return number;
}

/* The number of pointers from byte `first` on, where a bitmap word begins. The count ends beyond
 * `most`. */
static size_t count_from(const haul__contents *contents, size_t first, size_t most)
{
    const size_t end = haul__contents_bitmap_bytes(contents) / sizeof(uint64_t);
    size_t number, count = 0;
    for (number = next_marked(contents, first / HAUL__MARK_BYTES); number < end && count <= most;
         number = next_marked(contents, number + 1))
        count += haul__bits64(slots_in(contents, number));
    return count;
}

size_t haul__count_marked(const haul__contents *contents, size_t most)
{
    return count_from(contents, 0, most);
}

/* ---- Writing to staging memory. */

static void write_slots(const haul_shipment *shipment, size_t at, size_t bytes,
                        unsigned char *memory)
{
    memcpy(memory, (const unsigned char *)shipment->contents.slots + at, bytes);
}

static void write_explicit(const haul_shipment *shipment, size_t at, size_t bytes,
                           unsigned char *memory)
{
    const haul__space space = haul__contents_space(&shipment->contents, 0, NULL);
    haul__write_explicit(&space, at / sizeof(uint64_t), bytes / sizeof(uint64_t),
                         (uint64_t *)(void *)memory);
}

/* Writes the whole list: it is one piece. */
static void write_list(const haul_shipment *shipment, size_t at, size_t bytes,
                       unsigned char *memory)
{
    const haul__contents *contents = &shipment->contents;
    const size_t end = haul__contents_bitmap_bytes(contents) / sizeof(uint64_t);
    size_t number;
    (void)at;
    (void)bytes;
    for (number = next_marked(contents, 0); number < end;
         number = next_marked(contents, number + 1)) {
        uint64_t slots;
        for (slots = slots_in(contents, number); slots; slots &= slots - 1) {
            uint64_t offset = (number * 64 + haul__lowest64(slots)) * sizeof(void *);
            memcpy(memory, &offset, sizeof offset);
            memory += sizeof offset;
        }
    }
}

/* ---- Sending. */

haul_status haul__send_written(haul_shipment *shipment, haul__write_piece *write, size_t bytes,
                               size_t to, size_t most, int tells)
{
    haul_device *device = shipment->device;
    const haul__listener *listener = tells ? haul__context_listener(device->context) : NULL;
    size_t at, now;
    haul_status status = HAUL_OK;
    most = most > HAUL_ARENA_GRANULE ? most & ~(HAUL_ARENA_GRANULE - 1) : HAUL_ARENA_GRANULE;
    for (at = 0; at < bytes && status == HAUL_OK; at += now) {
        haul__buffer *buffer;
        now = most < bytes - at ? most : bytes - at;
        status = haul__ring_take(device, now, &buffer);
        if (status != HAUL_OK)
            return status;
        write(shipment, at, now, buffer->memory.memory);
        status = haul__send_buffer(device, buffer, shipment->range.address + to + at, now);
        if (status == HAUL_OK)
            status = haul__tell(device->context, listener, at + now, bytes);
    }
    return status;
}

/* The pieces are large, because no packing has to overlap with them. */
haul_status haul__arena_send_marks(haul_shipment *shipment)
{
    haul__range *range = &shipment->range;
    const size_t most = haul__piece_limit(shipment->device);
    const size_t few = haul__listed_most(range, most);
    const size_t count = few > 0 ? haul__count_marked(&shipment->contents, few) : 0;
    haul_status status;
    range->grown = shipment->contents.arena->grown;
    range->listed = count < few ? count : 0; /* 0: the bitmap is sent */
    if (range->listed > 0)
        return haul__send_written(shipment, write_list, range->listed * sizeof(uint64_t),
                                  haul__listed_at(range), SIZE_MAX, 0);
    status =
        haul__send_written(shipment, write_slots, range->bitmap_bytes, range->bitmap_at, most, 0);
    if (status == HAUL_OK)
        status =
            haul__send_written(shipment, write_explicit, range->explicit_count * sizeof(uint64_t),
                               range->explicit_at, most, 0);
    return status;
}

void haul__write_marks(haul_shipment *shipment, unsigned char *memory)
{
    haul__range *range = &shipment->range;
    range->grown = shipment->contents.arena->grown;
    write_slots(shipment, 0, range->bitmap_bytes, memory + range->bitmap_at);
    write_explicit(shipment, 0, range->explicit_count * sizeof(uint64_t),
                   memory + range->explicit_at);
}

/* ---- Patching. */

haul_relocation haul__part_of(const haul_relocation *all, size_t from, size_t end)
{
    haul_relocation part = *all;
    if (end / sizeof(void *) < part.words)
        part.words = end / sizeof(void *);
    part.words -= from / sizeof(void *);
    part.arena += from;
    part.bitmap += from / sizeof(void *) / 8;
    return part;
}

void haul__cut_marks(const haul_shipment *shipment, const haul_relocation *all, size_t cut,
                     haul_relocation *first, haul_relocation *rest)
{
    if (shipment->range.listed > 0) {
        *first = *rest = *all;
        rest->offset_count = count_from(&shipment->contents, cut, SIZE_MAX);
        first->offset_count -= rest->offset_count;
        rest->offsets += first->offset_count * sizeof(uint64_t);
        return;
    }
    *first = haul__part_of(all, 0, cut);
    *rest = haul__part_of(all, cut, SIZE_MAX);
}
