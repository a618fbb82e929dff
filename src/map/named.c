/* Named granules (named.h).
 *
 * Why it is fast: the pages of a million small objects take a hundredth of what they name, so they
 * lie in a near cache, and naming waits for nothing that it reads.
 */
#include "map/named.h"
#include "map/bits.h"

#define ROOM_LEAST ((size_t)16) /* of a table */
#define SLAB_LEAST ((size_t)8)  /* pages */

haul__named_granules *haul__named_open(const haul_allocator *allocator, size_t hint_count)
{
    haul__named_granules *named = haul__allocate_zeroed(allocator, sizeof *named);
    if (!named)
        return NULL;
    named->allocator = allocator;
    named->hint_count = hint_count;
    return named;
}

static size_t slab_bytes(size_t pages)
{
    return sizeof(haul__named_slab) + pages * HAUL__NAMED_WORDS * sizeof(uint32_t);
}

void haul__named_close(haul__named_granules *named)
{
    size_t part;
    if (!named)
        return;
    for (part = 0; part < HAUL__PARTS; part++) {
        haul__named_part *of = &named->part[part];
        while (of->slab) {
            haul__named_slab *slab = of->slab;
            of->slab = slab->before;
            haul__release(named->allocator, slab, slab_bytes(slab->pages));
        }
        haul__release(named->allocator, of->at, of->capacity * sizeof *of->at);
    }
    haul__release(named->allocator, named, sizeof *named);
}

size_t haul__named_bytes(const haul__named_granules *named)
{
    size_t bytes = named ? sizeof *named : 0, part;
    for (part = 0; named && part < HAUL__PARTS; part++) {
        const haul__named_slab *slab = named->part[part].slab;
        bytes += named->part[part].capacity * sizeof *named->part[part].at;
        for (; slab; slab = slab->before)
            bytes += slab_bytes(slab->pages);
    }
    return bytes;
}

/* ---- Pages. */

/* The page of the block and hint, or the free one where it belongs; NULL: there are none. */
static haul__named_page *find_page(const haul__named_granules *named, const haul__named_part *part,
                                   uint32_t block, size_t hint)
{
    const uint64_t key = haul__named_key(named, block, hint);
    const size_t mask = part->capacity - 1;
    size_t at;
    if (!part->capacity)
        return NULL;
    at = haul__named_begin(named, part, block, hint);
    while (part->at[at].key && part->at[at].key != key)
        at = (at + 1) & mask;
    return &part->at[at];
}

static int grow(const haul__named_granules *named, haul__named_part *part)
{
    haul__named_part larger = { NULL, part->count, 0, part->slab };
    size_t i;
    larger.capacity = part->capacity ? 2 * part->capacity : ROOM_LEAST;
    larger.at = haul__allocate_zeroed(named->allocator, larger.capacity * sizeof *larger.at);
    if (!larger.at)
        return 0;
    for (i = 0; i < part->capacity; i++) {
        const uint64_t key = part->at[i].key;
        if (key)
            *find_page(named, &larger, (uint32_t)((key - 1) / named->hint_count),
                       (size_t)((key - 1) % named->hint_count)) = part->at[i];
    }
    haul__release(named->allocator, part->at, part->capacity * sizeof *part->at);
    *part = larger;
    return 1;
}

/* NULL: out of memory. */
static uint32_t *take_bits(const haul__named_granules *named, haul__named_part *part)
{
    haul__named_slab *slab = part->slab;
    if (!slab || slab->used == slab->pages) {
        const size_t pages = slab ? 2 * slab->pages : SLAB_LEAST;
        slab = haul__allocate_zeroed(named->allocator, slab_bytes(pages));
        if (!slab)
            return NULL;
        slab->before = part->slab;
        slab->pages = pages;
        part->slab = slab;
    }
    return slab->bits + slab->used++ * HAUL__NAMED_WORDS;
}

/* Makes the page, with no bits or, if `is_whole`, with all. NULL: out of memory. */
static HAUL__NOINLINE haul__named_page *add_page(const haul__named_granules *named,
                                                 haul__named_part *part, uint32_t block,
                                                 size_t hint, int is_whole)
{
    uint32_t *bits = NULL;
    haul__named_page *page;
    if (2 * part->count >= part->capacity && !grow(named, part))
        return NULL;
    if (!is_whole && (bits = take_bits(named, part)) == NULL)
        return NULL;
    page = find_page(named, part, block, hint);
    page->key = haul__named_key(named, block, hint);
    page->bits = bits;
    part->count++;
    return page;
}

/* ---- Naming. */

/* Sets the bits of granules [first, end) of a block. */
static void set_bits(uint32_t *bits, unsigned first, unsigned end)
{
    const unsigned last = end - 1;
    unsigned cell = first / 32;
    if (cell == last / 32) {
        bits[cell] |= haul__range32(first % 32, last % 32);
        return;
    }
    bits[cell++] |= haul__range32(first % 32, 31);
    for (; cell < last / 32; cell++)
        bits[cell] = UINT32_MAX;
    bits[cell] |= haul__range32(0, last % 32);
}

int haul__hint_bytes(haul__named_granules *named, size_t hint, uintptr_t first, uintptr_t end)
{
    uintptr_t at = first, next;
    for (; at < end; at = next) {
        const uint32_t block = haul__block_number(at);
        haul__named_part *part = &named->part[haul__part_number(at)];
        const uintptr_t left = HAUL__BLOCK_BYTES - (at & (HAUL__BLOCK_BYTES - 1));
        const int is_whole = left == HAUL__BLOCK_BYTES && end - at >= left;
        haul__named_page *page = find_page(named, part, block, hint);
        next = end - at < left ? end : at + left;
        if (HAUL__UNLIKELY(!page || !page->key) &&
            (page = add_page(named, part, block, hint, is_whole)) == NULL)
            return 0;
        if (page->bits)
            set_bits(page->bits, haul__granule_in_block(at), haul__granule_in_block(next - 1) + 1);
    }
    return 1;
}

int haul__named_in(const haul__named_granules *named, uint32_t block, size_t hint,
                   const uint32_t **bits)
{
    const haul__named_part *part = &named->part[haul__part_number(haul__block_address(block))];
    const haul__named_page *page = find_page(named, part, block, hint);
    if (!page || !page->key)
        return 0;
    *bits = page->bits;
    return 1;
}
