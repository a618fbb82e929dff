/* The relocation bitmap: a bit for each word of the arena, set where the word is a slot.
 *
 * The slow obvious version: for each slot of the source, set the bit of its place. A cell has a
 * bitmap of its slots and one of its live granules. The arena's bits are the slot bits without
 * those of dead granules, copied one run of live granules at a time. So the bitmap follows from the
 * plan, and no byte of the source is read. Null pointers have bits too: a patch leaves 0 alone.
 *
 * A block of plain bytes costs one look at its form. In a uniform block an object costs one OR for
 * each 64 words of it.
 *
 * If few words are slots, a list of their offsets is shorter. It is read off the bitmap, which is
 * made a few words at a time and only for blocks with slots.
 */
#include "base/sort.h"
#include "layout/layout.h"
#include "map/bits.h"
#include "map/mixed.h"
#include "pack/bitmap.h"
#include "pack/plan.h"
#include "pack/plan_space.h"
#include "pack/translate.h"

#define GRANULES_A_WORD 32u /* each has two bits */
#define SOME_WORDS 128u     /* bitmap words of a block without gaps */

#define MANY_BLOCKS ((size_t)256)
#define SAMPLES ((size_t)32)
#define DENSE 4u /* by the sample, this many times more pointers than allowed are too many */

typedef struct bit_window {
    uint64_t *words;
    size_t first, count; /* words of the whole bitmap */
} bit_window;

HAUL__INLINE void set_bits(const bit_window *w, size_t word, uint64_t bits)
{
    if (bits && word - w->first < w->count)
        w->words[word - w->first] |= bits;
}

/* The slot bits of the live granules, side by side. If a granule is dead, each run ends inside the
 * word, or at a 0 that the shift brought in. */
HAUL__INLINE uint64_t squeeze(uint64_t slots, uint32_t live)
{
    uint64_t bits = 0;
    unsigned at = 0;
    if (live == UINT32_MAX)
        return slots;
    while (live) {
        unsigned first = haul__lowest32(live), count = haul__lowest32(~(live >> first));
        bits |= (slots >> (2 * first) & haul__range64(0, 2 * count - 1)) << at;
        at += 2 * count;
        live &= first + count < 32u ? UINT32_MAX << (first + count) : 0u;
    }
    return bits;
}

/* Sets bits of the arena: bit 0 of `slots` is word `at`. */
HAUL__INLINE void set_words(const bit_window *w, uint64_t at, uint64_t slots)
{
    size_t word = (size_t)(at / 64);
    unsigned shift = (unsigned)(at % 64);
    set_bits(w, word, slots << shift);
    if (shift)
        set_bits(w, word + 1, slots >> (64 - shift));
}

HAUL__HOT static void set_cells(const bit_window *w, const haul__map *map, const haul__block *block)
{
    const int is_mixed = block->form == HAUL__MIXED;
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++) {
        const uint64_t slots =
            is_mixed ? haul__mixed_slots(block, cell) : haul__placed_slots(map, block, cell);
        if (slots)
            set_words(w, 2 * haul__cell_rank(block, cell), squeeze(slots, block->cells[cell].live));
    }
}

/* The slots of an object stand in the arena as they do in the source. A ragged block has a start
 * bit for each word, another one for each granule. */
HAUL__INLINE void set_starts(const bit_window *w, const haul__block *block,
                             const haul__simple *simple, unsigned words, int is_ragged)
{
    const uint64_t slots = simple->slots;
    unsigned cell, more;
    for (cell = 0; cell < HAUL__CELLS; cell++) {
        const uint64_t rank = haul__cell_rank(block, cell);
        const uint32_t live = block->cells[cell].live;
        uint64_t starts = is_ragged ? haul__word_starts(block)[cell] : haul__starts(block)[cell];
        for (; starts; starts &= starts - 1) {
            const unsigned word = haul__lowest64(starts) * (is_ragged ? 1u : 2u);
            const uint64_t place = rank + haul__bits32(live & (((uint32_t)1 << word / 2) - 1u));
            const uint64_t at = 2 * place + word % 2; /* the object's first word in the arena */
            set_words(w, at, slots);
            for (more = 1; more < words; more++)
                set_words(w, at + more * 64u, haul__simple_slots(simple, more));
        }
    }
}

HAUL__HOT static void set_objects(const bit_window *w, const haul__map *map,
                                  const haul__block *block)
{
    const haul__simple *simple = haul__simple_of(map, block);
    unsigned words = HAUL__SIMPLE_CELLS; /* of an object's slots, without empty ones at the end */
    while (words > 1 && !haul__simple_slots(simple, words - 1))
        words--;
    if (block->carry) { /* an object reaches in from the block before */
        uint64_t at = 2 * haul__cell_rank(block, 0);
        size_t word = (size_t)block->carry * (block->words ? 1 : 2);
        for (; word << HAUL__WORD_SHIFT < simple->bytes; word += 64, at += 64)
            set_words(w, at, haul__slots_from(simple, word));
    }
    if (block->words && words == 1)
        set_starts(w, block, simple, 1, 1);
    else if (block->words)
        set_starts(w, block, simple, words, 1);
    else if (HAUL__LIKELY(words == 1))
        set_starts(w, block, simple, 1, 0);
    else
        set_starts(w, block, simple, words, 0);
}

void haul__plan_bitmap(const haul_plan *plan, size_t first, size_t count, uint64_t *bitmap)
{
    uint64_t granule = (uint64_t)first * GRANULES_A_WORD,
             end = granule + (uint64_t)count * GRANULES_A_WORD;
    const haul__map *map = &plan->found.map;
    bit_window w;
    size_t i;
    if (plan->ordered) {
        memcpy(bitmap, plan->ordered->bitmap + first, count * sizeof *bitmap);
        return;
    }
    w.words = bitmap;
    w.first = first;
    w.count = count;
    memset(bitmap, 0, count * sizeof *bitmap);
    for (i = haul__block_of_granule(map, granule); i < map->block_count; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        if (block->base >= end)
            break;
        if (block->form == HAUL__FULL || block->form == HAUL__BARE)
            continue;
        /* With larger alignments, gaps lie between pages and dead granules have places. */
        if (haul__is_uniform(block) && !map->has_placements)
            set_objects(&w, map, block);
        else
            set_cells(&w, map, block);
    }
}

/* A list of offsets, in order. It ends early if there are more than `most`. */
typedef struct offsets {
    uint64_t *to;
    size_t count, most;
} offsets;

/* Adds the offsets of words [first, first + count) of the bitmap. 0: there are too many. */
static int add_offsets(offsets *o, const uint64_t *words, size_t first, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        uint64_t bits;
        for (bits = words[i]; bits; bits &= bits - 1) {
            if (o->count == o->most)
                return 0;
            o->to[o->count++] =
                ((uint64_t)(first + i) * 64 + haul__lowest64(bits)) * sizeof(void *);
        }
    }
    return 1;
}

/* Two blocks may share a word of the bitmap. It is made with the first of them, and has the bits of
 * both. */
static int add_blocks(offsets *o, const haul_plan *plan)
{
    uint64_t words[SOME_WORDS];
    size_t i, at, count, done = 0;
    for (i = 0; i < plan->found.map.block_count; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        const size_t behind = haul__place_of_block(plan, i + 1) >> HAUL__GRANULE_SHIFT;
        const size_t first = (size_t)(block->base / GRANULES_A_WORD);
        const size_t end = (behind + GRANULES_A_WORD - 1) / GRANULES_A_WORD;
        if (block->form == HAUL__FULL || block->form == HAUL__BARE)
            continue;
        for (at = first < done ? done : first; at < end; at += count) {
            count = end - at < SOME_WORDS ? end - at : SOME_WORDS;
            haul__plan_bitmap(plan, at, count, words);
            if (!add_offsets(o, words, at, count))
                return 0;
        }
        done = end;
    }
    return 1;
}

/* The approximate number of slots of a block. In a uniform block each object counts where it
 * begins. */
HAUL__HOT static size_t count_slots(const haul__map *map, const haul__block *block)
{
    size_t count = 0, objects = 0;
    unsigned cell;
    if (block->form == HAUL__FULL || block->form == HAUL__BARE)
        return 0;
    if (!haul__is_uniform(block)) {
        for (cell = 0; cell < HAUL__CELLS; cell++)
            count += haul__bits64(haul__placed_slots(map, block, cell));
        return count;
    }
    for (cell = 0; cell < HAUL__CELLS; cell++)
        objects += block->words ? haul__bits64(haul__word_starts(block)[cell])
                                : haul__bits32(haul__starts(block)[cell]);
    for (cell = 0; cell < HAUL__SIMPLE_CELLS; cell++)
        count += haul__bits64(haul__simple_slots(haul__simple_of(map, block), cell));
    return objects * count;
}

/* Looks at a sample of the blocks, so that no list of offsets is begun that cannot fit. */
static int is_dense(const haul_plan *plan, size_t most)
{
    const size_t count = plan->found.map.block_count, step = count / SAMPLES;
    size_t i, slots = 0;
    if (count < MANY_BLOCKS)
        return 0;
    for (i = 0; i < SAMPLES; i++)
        slots += count_slots(&plan->found.map, haul__plan_block(plan, i * step));
    return slots * step > most * DENSE;
}

size_t haul__plan_offsets(const haul_plan *plan, size_t most, uint64_t *to)
{
    offsets o;
    int is_all;
    o.to = to;
    o.count = 0;
    o.most = most;
    if (plan->ordered)
        is_all = add_offsets(&o, plan->ordered->bitmap, 0,
                             haul__plan_bitmap_bytes(plan) / sizeof(uint64_t));
    else
        is_all = !is_dense(plan, most) && add_blocks(&o, plan);
    return is_all ? o.count : SIZE_MAX;
}

size_t haul__plan_explicit_count(const haul_plan *plan)
{
    return plan->ordered ? plan->ordered->explicit_count : plan->found.explicit_count;
}

void haul__plan_explicit(const haul_plan *plan, size_t first, size_t count, uint64_t *to)
{
    const haul__space space = haul__plan_space(plan, 0, 0);
    if (!plan->ordered)
        haul__write_explicit(&space, first, count, to);
    else if (count > 0) /* the list is NULL if it is empty */
        memcpy(to, plan->ordered->explicit + first, count * sizeof *to);
}

static int is_word_before(const void *a, const void *b)
{
    return ((const haul__odd_word *)a)->offset < ((const haul__odd_word *)b)->offset;
}

size_t haul__plan_words_most(const haul_plan *plan)
{
    return plan->found.special_count + haul__plan_explicit_count(plan);
}

size_t haul__plan_words(const haul_plan *plan, uint64_t *bitmap, haul__odd_word *words)
{
    const haul__found *found = &plan->found;
    const size_t explicit_count = haul__plan_explicit_count(plan);
    size_t count = 0, i;
    uint64_t offset;
    for (i = 0; i < explicit_count; i++) {
        haul__plan_explicit(plan, i, 1, &offset);
        if (offset % HAUL__WORD == 0) {
            bitmap[(offset >> HAUL__WORD_SHIFT) / 64] |= (uint64_t)1
                                                         << (offset >> HAUL__WORD_SHIFT) % 64;
        } else {
            words[count].mask = 0;
            words[count++].offset = offset;
        }
    }
    for (i = 0; i < found->special_count; i++)
        if (found->special[i].kind == HAUL__TAGGED &&
            haul__offset_of(plan, found->special[i].address, &offset)) {
            words[count].offset = offset;
            words[count++].mask = found->special[i].mask;
        }
    haul__sort(words, count, sizeof *words, is_word_before);
    return count;
}
