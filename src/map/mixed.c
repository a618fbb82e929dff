/* Mixed blocks: marks of bytes among words, and the end of marking.
 */
#include "map/mixed.h"

#define EVEN_WORDS UINT64_C(0x5555555555555555)

/* ---- While marking. */

uint16_t haul__words_mask(const haul__block *block, unsigned granule)
{
    const unsigned number = granule / 32, shift = granule % 32 * 2;
    const unsigned live = (unsigned)(haul__load_cell(&block->cells[number]) >> shift) & 3u;
    const unsigned partial = (unsigned)(haul__partial_words(block, number) >> shift) & 3u;
    const uint16_t whole = haul__bytes_of_words(live);
    return partial ? (uint16_t)(whole |
                                (haul__page_mask(block, granule) & haul__bytes_of_words(partial)))
                   : whole;
}

/* The words of a mask whose bytes are all set. */
static unsigned whole_words(uint16_t mask)
{
    return (mask & HAUL__LOW_MASK) / HAUL__LOW_MASK |
           (unsigned)((mask & HAUL__HIGH_MASK) == HAUL__HIGH_MASK) << 1;
}

/* The words of a mask with some of their bytes set, and not all. */
static unsigned partial_words(uint16_t mask)
{
    const unsigned any = (mask & HAUL__LOW_MASK ? 1u : 0u) | (mask & HAUL__HIGH_MASK ? 2u : 0u);
    return any & ~whole_words(mask);
}

/* Stores the bytes of partial words. If the high word alone is partial, the bits of the low word
 * mean nothing: they are set, so that a prefix can hold the mask. */
static int keep_mask(haul__map *map, haul__block *block, unsigned granule, uint16_t mask)
{
    const unsigned partial = partial_words(mask);
    const uint16_t told = mask & haul__bytes_of_words(partial);
    return haul__mark_mask(map, block, granule, partial == 2u ? told | HAUL__LOW_MASK : told);
}

int haul__words_part(haul__map *map, haul__block *block, unsigned granule, uint16_t mask)
{
    const unsigned number = granule / 32, shift = granule % 32 * 2;
    const uint16_t old = haul__words_mask(block, granule), now = old | mask;
    if (now == old)
        return 0;
    if (partial_words(now) && !keep_mask(map, block, granule, now))
        return -1;
    haul__set_words(block, number, (uint64_t)whole_words(now) << shift);
    haul__slots(block)[number] |= (uint64_t)partial_words(now) << shift;
    return 1;
}

void haul__words_of_bare(const haul__block *bare, haul__block *block, unsigned number)
{
    uint64_t live = haul__words_of(bare->cells[number].live), partial = 0;
    uint32_t bits;
    for (bits = bare->cells[number].aux; bits; bits &= bits - 1) {
        const unsigned granule = haul__lowest32(bits);
        const uint16_t mask = haul__page_mask(bare, number * 32u + granule);
        live |= (uint64_t)whole_words(mask) << (2 * granule);
        partial |= (uint64_t)partial_words(mask) << (2 * granule);
    }
    haul__store_cell(&block->cells[number], live);
    haul__slots(block)[number] = partial;
}

/* ---- The end of marking. */

/* A cell after marking. */
typedef struct folded {
    uint64_t live, slots, partial; /* words */
    uint32_t placed, whole, half;  /* granules; half: one word live, the other dead */
} folded;

HAUL__INLINE folded fold_cell(const haul__block *block, unsigned number)
{
    const haul__holes *holes = block->side ? block->side->holes : NULL;
    folded f;
    uint32_t partial = 0, any;
    f.live = haul__load_cell(&block->cells[number]);
    f.partial = haul__partial_words(block, number);
    f.slots = haul__slots(block)[number] & f.live;
    any = haul__any_word(f.live);
    f.whole = haul__both_words(f.live);
    if (f.partial)
        partial = haul__any_word(f.partial);
    f.half = any & ~f.whole & ~partial;
    f.placed = any | partial;
    if (holes)
        f.placed |= (uint32_t)((holes->granules[number / 2] | holes->gaps[number / 2]) >>
                               (number % 2 * 32));
    return f;
}

static int make_halves(haul__map *map, haul__block *block)
{
    haul__side *side = haul__map_side(map, block);
    if (!side || side->halves)
        return side != NULL;
    side->halves = haul__allocate_zeroed(&map->allocator, HAUL__HALVES_BYTES);
    if (side->halves)
        map->side_bytes += HAUL__HALVES_BYTES;
    return side->halves != NULL;
}

/* The slot bits of a cell whose granules in `half` are coded as halves. */
static uint64_t code_halves(const folded *f, uint32_t half)
{
    const uint64_t both = haul__words_of(half), low = both & EVEN_WORDS;
    const uint64_t is_high = f->live >> 1 & low, is_slot = (f->slots | f->slots >> 1) & low;
    return (f->slots & ~both) | is_high | is_slot << 1;
}

/* Brings a page of full masks up to date for the granules of a cell. */
static void renew_masks(const haul__block *block, uint16_t *masks, unsigned number, uint32_t placed)
{
    for (; placed; placed &= placed - 1) {
        const unsigned granule = number * 32u + haul__lowest32(placed);
        masks[granule % HAUL__PAGE_GRANULES] = haul__words_mask(block, granule);
    }
}

/* Spreads the 16 lower bits: bit i becomes bit 4 * i. */
HAUL__INLINE uint64_t fours_of(uint32_t bits)
{
    uint64_t x = bits & 0xffffu;
    x = (x | x << 24) & UINT64_C(0x000000ff000000ff);
    x = (x | x << 12) & UINT64_C(0x000f000f000f000f);
    x = (x | x << 6) & UINT64_C(0x0303030303030303);
    return (x | x << 3) & UINT64_C(0x1111111111111111);
}

/* Brings a page of prefixes up to date for the granules of a cell: partial ones are right already.
 * `low`: granules with a live low word and nothing else. */
HAUL__INLINE void renew_prefix(uint8_t *prefix, uint32_t partial, uint32_t low)
{
    unsigned from, at;
    for (from = 0; from < 32; from += 16, prefix += 8) {
        uint64_t fours = 0;
        for (at = 0; at < 8; at++)
            fours |= (uint64_t)prefix[at] << (8 * at);
        fours = (fours & fours_of(partial >> from) * 15) | fours_of(low >> from)
                                                               << HAUL__WORD_SHIFT;
        for (at = 0; at < 8; at++)
            prefix[at] = (uint8_t)(fours >> (8 * at));
    }
}

/* Does a granule of a page have a place, but no live byte? Only a full mask tells that. */
static int has_empty_granule(const haul__block *block, size_t page)
{
    const haul__holes *holes = block->side ? block->side->holes : NULL;
    unsigned number = (unsigned)page * HAUL__PAGE_CELLS;
    const unsigned end = number + HAUL__PAGE_CELLS;
    uint32_t found = 0;
    for (; holes && number < end; number++) {
        const uint64_t live = haul__load_cell(&block->cells[number]) | haul__slots(block)[number];
        found |= (uint32_t)((holes->granules[number / 2] | holes->gaps[number / 2]) >>
                            (number % 2 * 32)) &
                 ~haul__any_word(live);
    }
    return found != 0;
}

/* Does a granule of a page of prefixes, halves aside, have live bytes other than its first ones? A
 * prefix tells the first bytes of its one partial word. */
static int needs_full_masks(const haul__block *block, size_t page)
{
    unsigned number = (unsigned)page * HAUL__PAGE_CELLS;
    const unsigned end = number + HAUL__PAGE_CELLS;
    uint64_t found = 0;
    for (; number < end; number++) {
        const uint64_t live = haul__load_cell(&block->cells[number]);
        const uint64_t partial = haul__partial_words(block, number);
        found |=
            (partial & EVEN_WORDS & (live | partial) >> 1) | (partial >> 1 & EVEN_WORDS & ~live);
    }
    return found != 0;
}

/* The live bytes of the partial words of a cell. */
HAUL__INLINE size_t count_partial(const haul__block *block, const uint8_t *prefix, unsigned number,
                                  const folded *f)
{
    uint32_t bits = f->partial ? haul__any_word(f->partial) : 0;
    size_t bytes = 0;
    for (; bits; bits &= bits - 1) {
        const unsigned granule = haul__lowest32(bits), words = (unsigned)(f->live >> (2 * granule));
        if (prefix)
            bytes += haul__prefix_of(prefix, number * 32u % HAUL__PAGE_GRANULES + granule) -
                     (words & 1u) * HAUL__WORD;
        else
            bytes += haul__bits32(haul__words_mask(block, number * 32u + granule) &
                                  ~(unsigned)haul__bytes_of_words(words & 3u));
    }
    return bytes;
}

HAUL__HOT static int fold_page(haul__map *map, haul__block *block, size_t page, size_t *bytes)
{
    unsigned number = (unsigned)page * HAUL__PAGE_CELLS;
    const unsigned end = number + HAUL__PAGE_CELLS;
    uint8_t *prefix;
    uint16_t *masks;
    if (((haul__prefix(block, page) && needs_full_masks(block, page)) ||
         has_empty_granule(block, page)) &&
        !haul__make_masks(map, block->side, page))
        return 0;
    prefix = haul__prefix(block, page);
    masks = haul__masks(block, page);
    for (; number < end; number++) {
        const folded f = fold_cell(block, number);
        const uint32_t low = f.half & haul__granules_of(f.live);
        const uint32_t half = masks ? 0 : prefix ? f.half & ~low : f.half;
        *bytes += ((size_t)haul__bits64(f.live) << HAUL__WORD_SHIFT) +
                  count_partial(block, prefix, number, &f);
        if (masks)
            renew_masks(block, masks, number, f.placed);
        if (prefix)
            renew_prefix(prefix + number % HAUL__PAGE_CELLS * 16, haul__any_word(f.partial), low);
        haul__slots(block)[number] = f.slots;
        if (half) {
            if (!make_halves(map, block))
                return 0;
            block->side->halves[number] = half;
            haul__slots(block)[number] = code_halves(&f, half);
        }
        block->cells[number].live = f.placed;
        block->cells[number].aux = 0;
    }
    return 1;
}

int haul__words_fold(haul__map *map, haul__block *block, size_t *bytes)
{
    size_t page;
    for (page = 0; page < HAUL__PAGES; page++)
        if (!fold_page(map, block, page, bytes))
            return 0;
    return 1;
}
