/* Segments: a plan as lists. With them a device gathers by itself and reads the source directly.
 *
 * The slow obvious version: for each placed granule its address, its place, and which of its words
 * are pointers. Granules that follow one another in the source and in the arena become one segment.
 * A segment with pointers has up to 64 words, so that one word of bits tells the pointers; a
 * segment without pointers may be longer. A granule that is described only in part is a segment of
 * its own, with a mask: its other bytes stay on the host.
 *
 * A device cannot translate a pointer of the source, because it does not have the map. So each
 * pointer is listed with its value and with the word that it becomes. The plan is good only as long
 * as pointers keep their values, so the device compares them.
 *
 * The same walk counts the segments and writes them.
 */
#include "layout/lists.h"
#include "map/bits.h"
#include "pack/segments.h"
#include "pack/translate.h"

/* The longest segment without pointers, if there are enough segments to keep a device busy. Its
 * threads wait for the bus segment by segment, so a few long segments leave most threads idle: nine
 * segments of 8 KB take 53 us, a copy of everything 9 us. */
#define SEGMENT_BYTES ((size_t)32 << 10)
#define SEGMENTS_LEAST 8192u
#define WORDS_OF_BITS 64u
#define WHOLE UINT16_MAX

typedef struct segment_writer {
    const haul_plan *plan;
    size_t most; /* bytes of the longest segment without pointers */
    uint64_t base;
    haul_segment *segments; /* both NULL: only count */
    haul_attachment *attachments;
    size_t segment_count, attachment_count;
    haul_segment last; /* not written yet, because it may grow; 0 bytes: there is none */
} segment_writer;

static void close_segment(segment_writer *w)
{
    if (w->last.bytes == 0)
        return;
    if (w->segments)
        w->segments[w->segment_count] = w->last;
    w->segment_count++;
    w->last.bytes = 0;
}

/* Lists the slots of a run. A pointer to no elements becomes null, unless it leads to a described
 * byte or to the end of a range. */
static void attach(segment_writer *w, uintptr_t from, uint64_t slots)
{
    for (; slots; slots &= slots - 1) {
        const uintptr_t slot = from + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
        const uintptr_t value = haul__load_word((const void *)slot);
        const size_t i = w->attachment_count++;
        uint64_t place, described;
        if (!w->attachments)
            continue;
        place = haul__target(w->plan, slot, value);
        if (place && haul__was_empty(&w->plan->found, slot) &&
            !haul__offset_of(w->plan, value, &described))
            place = 0;
        w->attachments[i].on_host = value;
        w->attachments[i].in_arena = place ? w->base + place : 0;
    }
}

/* Can the last segment grow by these bytes? */
static int can_grow(const segment_writer *w, uintptr_t from, uint64_t to, size_t bytes,
                    uint64_t slots)
{
    const haul_segment *last = &w->last;
    const size_t most = last->slots || slots ? WORDS_OF_BITS * HAUL__WORD : w->most;
    return last->bytes > 0 && last->mask == WHOLE && last->from + last->bytes == from &&
           last->to + last->bytes == to && last->bytes + bytes <= most;
}

/* Adds a run of at most a cell. */
static void add(segment_writer *w, uintptr_t from, uint64_t to, size_t bytes, uint64_t slots,
                uint16_t mask)
{
    if (mask != WHOLE || !can_grow(w, from, to, bytes, slots)) {
        close_segment(w);
        w->last.from = from;
        w->last.to = to;
        w->last.slots = 0;
        w->last.first = (uint32_t)w->attachment_count;
        w->last.mask = mask;
    }
    w->last.slots |= slots ? slots << (w->last.bytes >> HAUL__WORD_SHIFT) : 0;
    w->last.bytes = (uint16_t)(w->last.bytes + bytes);
    attach(w, from, slots);
}

static void add_cell(segment_writer *w, const haul__block *block, uintptr_t address, unsigned cell)
{
    uint32_t live = haul__live(block, cell);
    const uint32_t masked = live && haul__has_masks(block) ? haul__masked(block, cell) : 0;
    const uint64_t slots = live ? haul__placed_slots(&w->plan->found.map, block, cell) : 0;
    uint64_t to = haul__cell_rank(block, cell) << HAUL__GRANULE_SHIFT;
    address += (uintptr_t)cell * HAUL__CELL_BYTES;
    while (live) {
        const unsigned first = haul__lowest32(live);
        const uint32_t rest = ~((live & ~masked) >> first);
        unsigned count = rest ? haul__lowest32(rest) : 32u;
        uint16_t mask = WHOLE;
        if (count == 0) {
            count = 1;
            mask = haul__byte_mask(block, cell * 32u + first);
            mask = mask == HAUL__FULL_MASK ? WHOLE : mask;
        }
        add(w, address + first * HAUL__GRANULE, to, count * HAUL__GRANULE,
            slots >> (2 * first) & haul__range64(0, 2 * count - 1), mask);
        to += count * HAUL__GRANULE;
        live &= first + count < 32u ? UINT32_MAX << (first + count) : 0u;
    }
}

static void walk(segment_writer *w, const haul_plan *plan)
{
    size_t i;
    unsigned cell;
    const size_t bytes = haul__compacted_bytes(plan) / SEGMENTS_LEAST & ~(HAUL__CELL_BYTES - 1);
    w->plan = plan;
    w->most = bytes < HAUL__CELL_BYTES ? HAUL__CELL_BYTES
              : bytes < SEGMENT_BYTES  ? bytes
                                       : SEGMENT_BYTES;
    for (i = 0; i < plan->found.map.block_count; i++)
        for (cell = 0; cell < HAUL__CELLS; cell++)
            add_cell(w, haul__plan_block(plan, i), haul__block_address(plan->found.map.numbers[i]),
                     cell);
    close_segment(w);
}

void haul__count_segments(const haul_plan *plan, size_t *segments, size_t *attachments)
{
    segment_writer w;
    memset(&w, 0, sizeof w);
    walk(&w, plan);
    *segments = w.segment_count;
    *attachments = w.attachment_count;
}

void haul__write_segments(const haul_plan *plan, uint64_t base, haul_segment *segments,
                          haul_attachment *attachments)
{
    segment_writer w;
    memset(&w, 0, sizeof w);
    w.base = base;
    w.segments = segments;
    w.attachments = attachments;
    walk(&w, plan);
}

const char *haul__why_no_segments(const haul_plan *plan)
{
    const haul__found *found = &plan->found;
    if (plan->ordered)
        return "the plan: its arena is ordered";
    if (found->special_count > 0)
        return "the plan: it has words that are worked out one by one "
               "(pointers off the grid or with high tags, "
               "translated words)";
    if (found->dependent_count > 0)
        return "the plan: it has contents that depend on addresses";
    if (found->map.has_exclusions)
        return "the plan: it has fields that are not sent, or do not come back";
    if (plan->placed.slots >= UINT32_MAX)
        return "the plan: it has more pointers than 32 bits count";
    return NULL;
}

/* ---- Pages. */

/* A bit for each page of a block that holds something. */
static uint32_t pages_of(const haul__block *block)
{
    uint32_t pages = 0;
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++)
        if (haul__live(block, cell))
            pages |= (uint32_t)1 << cell / HAUL__PAGE_CELLS;
    return pages;
}

int haul__next_pages(const haul_plan *plan, haul__pages *pages)
{
    pages->begin = pages->end = 0;
    for (; pages->block < plan->found.map.block_count; pages->block++, pages->number = 0) {
        const uintptr_t address = haul__block_address(plan->found.map.numbers[pages->block]);
        const uint32_t holds = pages_of(haul__plan_block(plan, pages->block));
        for (; pages->number < HAUL__PAGES; pages->number++) {
            const uintptr_t at = address + ((uintptr_t)pages->number << HAUL__PAGE_SHIFT);
            const int is_held = (int)(holds >> pages->number) & 1;
            if (pages->end && (!is_held || at != pages->end))
                return 1;
            if (!is_held)
                continue;
            pages->begin = pages->end ? pages->begin : at;
            pages->end = at + ((uintptr_t)1 << HAUL__PAGE_SHIFT);
        }
    }
    return pages->end != 0;
}
