/* The search for ranges that leave their blocks, or describe little of them.
 *
 * One sweep over the described ranges in order of address. A range that begins in no other range
 * may begin a block, so the caller or the process is asked. If one knows the block, all ranges that
 * begin in the block must end in it, and the farthest end shows how much of it is described. If
 * none knows the block, ranges inside the first one are not asked about.
 */
#include "audit/block_bounds.h"
#include "base/sort.h"

typedef struct entry_range {
    uintptr_t first, end, whole_end; /* whole_end: skipped bytes at the end count, too */
    size_t entry;
    int is_root;
} entry_range;

typedef struct heap_block {
    uintptr_t first, end; /* end 0: no block is known */
    uintptr_t described;  /* the block is described up to here */
    size_t entry;         /* the entry that begins it */
    int is_exact;         /* its size is the one that was asked for */
} heap_block;

/* By address. Of ranges that begin together, first the root, then the longest. */
static int comes_before(const void *one, const void *other)
{
    const entry_range *a = one, *b = other;
    if (a->first != b->first)
        return a->first < b->first;
    if (a->is_root != b->is_root)
        return a->is_root;
    return a->end != b->end ? a->end > b->end : a->entry < b->entry;
}

/* The bytes from `first` to `end` are described. */
static haul_status note(haul__audit *a, haul_audit_kind kind, const heap_block *b, uintptr_t first,
                        uintptr_t end, size_t entry)
{
    haul__noted *noted =
        haul__audit_note(a, kind, haul__audit_field_of(a, &a->walk.entries.at[entry]), 0);
    if (!noted)
        return HAUL_ERROR_MEMORY;
    if (noted->times++ > 0)
        return HAUL_OK;
    noted->entry = entry;
    noted->address = first;
    noted->value = b->end - b->first;
    noted->bytes = (size_t)(end - first);
    noted->usable = (size_t)(b->end - first);
    return HAUL_OK;
}

static haul_status check_range(haul__audit *a, heap_block *b, const entry_range *r)
{
    haul__entry *entry = &a->walk.entries.at[r->entry];
    haul_status status;
    size_t whole;
    if (b->described < r->end)
        b->described = r->end;
    if (b->described < r->whole_end && r->whole_end <= b->end)
        b->described = r->whole_end;
    if (r->end <= b->end)
        return HAUL_OK;
    a->info.beyond_block++;
    status = note(a, HAUL_AUDIT_BEYOND_BLOCK, b, r->first, r->end, r->entry);
    /* bytes beyond the block must not be read: the entry loses them */
    whole = entry->stride ? (size_t)(b->end - entry->address) / entry->stride : 0;
    if (whole < entry->count)
        entry->count = whole + 1;
    while (entry->count && entry->address + haul__entry_bytes(&a->walk, entry) > b->end)
        entry->count--;
    return status;
}

static haul_status close_block(haul__audit *a, heap_block *b)
{
    size_t usable = (size_t)(b->end - b->first), used = (size_t)(b->described - b->first);
    haul_status status = HAUL_OK;
    const int is_little =
        b->is_exact ? used < usable : used < usable / 2 && usable - used >= HAUL_AUDIT_SLACK;
    if (b->end && is_little) {
        a->info.little_of_block++;
        status = note(a, HAUL_AUDIT_LITTLE_OF_BLOCK, b, b->first, b->described, b->entry);
    }
    b->end = 0;
    return status;
}

static haul_status sweep(haul__audit *a, const entry_range *ranges, size_t count)
{
    uintptr_t unknown = 0; /* ranges below it lie in a block that the allocator does not know */
    heap_block b = { 0, 0, 0, 0, 0 };
    haul_status status = HAUL_OK;
    haul_memory memory;
    size_t i;
    for (i = 0; i < count && status == HAUL_OK; i++) {
        const entry_range *r = &ranges[i];
        if (r->first >= b.end) {
            status = close_block(a, &b);
            /* a range that begins outside the known block asks for its own */
            if (status == HAUL_OK && r->first >= unknown &&
                haul__audit_memory(a, r->first, &memory) && memory.kind == HAUL_MEMORY_BLOCK &&
                memory.begin == r->first && memory.bytes <= HAUL__HIGHEST - r->first) {
                a->info.blocks++;
                b.first = b.described = r->first;
                b.end = r->first + memory.bytes;
                b.entry = r->entry;
                b.is_exact = a->options.exact_blocks && memory.is_told;
            }
        }
        if (status == HAUL_OK && b.end)
            status = check_range(a, &b, r);
        else if (unknown < r->end)
            unknown = r->end;
    }
    return status == HAUL_OK ? close_block(a, &b) : status;
}

haul_status haul__audit_blocks(haul__audit *a)
{
    size_t count = a->walk.entries.count, bytes = count * sizeof(entry_range);
    entry_range *ranges;
    haul_status status;
    size_t i;
    if ((!a->options.block && !a->snapshot) || count == 0)
        return HAUL_OK;
    ranges = haul__allocate(a->allocator, bytes, sizeof(void *));
    if (!ranges)
        return HAUL_ERROR_MEMORY;
    for (i = count = 0; i < a->walk.entries.count; i++) {
        const haul__entry *entry = &a->walk.entries.at[i];
        if (entry->part)
            continue; /* a part lies in the range of the object around it */
        ranges[count].first = entry->address;
        ranges[count].end = entry->address + haul__entry_bytes(&a->walk, entry);
        ranges[count].whole_end = entry->address + entry->count * entry->stride;
        if (entry->run)
            ranges[count].whole_end = ranges[count].end;
        ranges[count].entry = i;
        ranges[count++].is_root = entry->parent == SIZE_MAX;
    }
    haul__sort(ranges, count, sizeof *ranges, comes_before);
    status = sweep(a, ranges, count);
    /* Parts of removed elements go, too. A part stands behind the entry of its object. */
    for (i = 0; i < a->walk.entries.count; i++) {
        haul__entry *entry = &a->walk.entries.at[i];
        if (entry->part && entry->parent_element >= a->walk.entries.at[entry->parent].count)
            entry->count = 0;
    }
    haul__release(a->allocator, ranges, bytes);
    return status;
}
