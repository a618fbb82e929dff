/* The large ranges of a group of which the system tells the written pages.
 *
 * A watched range is a mapping of its own for the system, which has room for some 65,000. So small
 * ranges are not watched, and no more than some thousand large ones. A range that the system
 * refuses (memory of a file, memory that another environment watches), or has forgotten (it was
 * mapped anew), counts as written.
 */
#include "environment/tracked.h"
#include "environment/standing.h"

#define LEAST_BYTES ((size_t)1 << 20)
#define MOST_RANGES ((size_t)4096) /* of an environment */

static haul__tracked_pages pages_in(const haul__covered *range, size_t page)
{
    haul__tracked_pages pages;
    pages.begin = (range->begin + page - 1) / page * page;
    pages.end = (range->begin + range->bytes) / page * page;
    pages.first = 0;
    return pages;
}

/* The system is not asked for a range any more. */
static void forget(haul_environment *e, haul__tracked_pages *pages)
{
    if (pages->begin == pages->end)
        return;
    haul__written_forget(&e->written, pages->begin, pages->end);
    pages->begin = pages->end;
    e->tracked_ranges--;
}

int haul__track(haul_environment *e, const haul__sent_group *group, haul__tracked *tracked)
{
    const size_t page = e->written.page_bytes;
    size_t i, bits = 0;
    if (!page || tracked->page_bytes)
        return 1;
    for (i = 0; i < group->ranges.count && e->tracked_ranges < MOST_RANGES; i++) {
        haul__tracked_pages pages, *added;
        if (group->ranges.at[i].bytes < LEAST_BYTES)
            continue;
        pages = pages_in(&group->ranges.at[i], page);
        if (!haul__written_watch(&e->written, pages.begin, pages.end))
            continue;
        added = HAUL__LIST_ADD(&e->context->allocator, &tracked->list);
        if (!added) {
            haul__written_forget(&e->written, pages.begin, pages.end);
            haul__untrack(e, tracked);
            return 0;
        }
        e->tracked_ranges++;
        pages.first = bits;
        *added = pages;
        bits += (pages.end - pages.begin) / page;
    }
    tracked->words = (bits + 63) / 64;
    tracked->bits = tracked->words ? haul__allocate_zeroed(&e->context->allocator,
                                                           tracked->words * sizeof *tracked->bits)
                                   : NULL;
    if (tracked->words && !tracked->bits) {
        haul__untrack(e, tracked);
        return 0;
    }
    tracked->page_bytes = page;
    tracked->is_fresh = 1;
    return 1;
}

void haul__untrack(haul_environment *e, haul__tracked *tracked)
{
    size_t i;
    for (i = 0; i < tracked->list.count; i++)
        forget(e, &tracked->list.at[i]);
    HAUL__LIST_RELEASE(&e->context->allocator, &tracked->list);
    haul__release(&e->context->allocator, tracked->bits, tracked->words * sizeof *tracked->bits);
    memset(tracked, 0, sizeof *tracked);
}

void haul__track_no_more(haul_environment *e, haul__tracked *tracked, const haul__sent_group *part)
{
    size_t i;
    for (i = 0; i < tracked->list.count; i++)
        if (haul__covered_at(part, tracked->list.at[i].begin))
            forget(e, &tracked->list.at[i]);
}

/* One thread asks: sharing the ranges among threads did not pay (tests/bench/README.md). The others
 * sleep meanwhile: the system interrupts those that run for each 2 MiB that it protects again. */
void haul__find_written(haul_environment *e, haul__tracked *tracked)
{
    size_t i;
    if (!tracked->words)
        return;
    if (!tracked->is_fresh)
        haul__pool_sleep(e->context->pool);
    memset(tracked->bits, tracked->is_fresh ? 0xff : 0, tracked->words * sizeof *tracked->bits);
    for (i = 0; i < tracked->list.count && !tracked->is_fresh; i++) {
        haul__tracked_pages *pages = &tracked->list.at[i];
        if (pages->begin < pages->end &&
            !haul__written_take(&e->written, pages->begin, pages->end, tracked->bits, pages->first))
            forget(e, pages);
    }
    tracked->is_fresh = 0;
}

static int ends_by(const void *list, size_t i, uint64_t address)
{
    return ((const haul__tracked_pages *)list)[i].end <= address;
}

/* The first bit of a page that may have been written, from `bit` on; `end`: there is none. */
static size_t next_written(const haul__tracked *tracked, size_t bit, size_t end)
{
    size_t word = bit / 64;
    uint64_t bits = bit < end ? tracked->bits[word] >> bit % 64 << bit % 64 : 0;
    while (!bits && (word + 1) * 64 < end)
        bits = tracked->bits[++word];
    bit = bits ? word * 64 + haul__lowest64(bits) : end;
    return bit < end ? bit : end;
}

size_t haul__unwritten_bytes(const haul__tracked *tracked, uintptr_t begin, size_t bytes)
{
    const size_t count = tracked->list.count, page = tracked->page_bytes;
    const haul__tracked_pages *pages =
        tracked->list.at + haul__search(tracked->list.at, 0, count, begin, ends_by);
    size_t bit, end;
    if (pages == tracked->list.at + count || begin < pages->begin)
        return 0;
    if (bytes > pages->end - begin)
        bytes = pages->end - begin;
    bit = pages->first + (begin - pages->begin) / page;
    end = pages->first + (begin + bytes - pages->begin + page - 1) / page;
    bit = next_written(tracked, bit, end);
    if (bit == end)
        return bytes;
    end = (size_t)(pages->begin + (bit - pages->first) * page);
    return end > begin ? end - begin : 0;
}

size_t haul__watched_bytes(const haul__tracked *tracked)
{
    size_t i, bytes = 0;
    for (i = 0; i < tracked->list.count; i++)
        bytes += tracked->list.at[i].end - tracked->list.at[i].begin;
    return bytes;
}

size_t haul__written_bytes(const haul__tracked *tracked)
{
    size_t i, count = 0;
    for (i = 0; i < tracked->words; i++)
        count += haul__bits64(tracked->bits[i]);
    return count * tracked->page_bytes;
}
