/* In-degrees: how many pointers lead to each page of an arena.
 *
 * The map has a bit for each pointer word, and the special words stand in a list. So the words are
 * read in the order of memory, as by a pack, and each is translated by one look-up. Nothing is
 * walked or listed, and pages are few.
 *
 * A block that is crowded by small objects of one type has thousands of pointers much alike. So one
 * in a few of its cells is read, and counts for all of them; which, changes from block to block. A
 * device's page of megabytes has tens of thousands of pointers to it, so fewer are read for it. A
 * block in which types take turns may hold a single struct with the pointers to all arrays. So it
 * is left to a sample only if the graph has no large array.
 *
 * Threads count blocks by themselves, and their counts are added up: sums, least and greatest
 * places do not depend on the order.
 */
#include "pack/in_degree.h"

#include "context/context.h"
#include "pack/fetch_ahead.h"
#include "pack/special_words.h"
#include "pack/translate.h"

#define SAMPLE 8u                    /* each eighth cell of a crowded block is read, */
#define LARGE_SAMPLE 64u             /* or, if pages are large, each 64th */
#define LARGE_PAGE ((size_t)1 << 20) /* bytes */
#define CROWD 256u                   /* objects, or pointers, that are worth a sample */
#define AHEAD 2u                     /* cells of a sample that are fetched */
#define THREAD_BLOCKS ((size_t)64)   /* that are worth a thread */

typedef struct counting {
    haul__in_degree *pages;
    uint64_t arena_bytes;
    unsigned sample; /* SAMPLE or LARGE_SAMPLE */
    int has_arrays;  /* large ones */
    unsigned shift;  /* a page has odd << shift bytes: a division costs as much as all else */
    uint64_t odd;
} counting;

static void add(const counting *c, uint64_t place, size_t pointers)
{
    const uint64_t number = c->odd == 1 ? place >> c->shift : (place >> c->shift) / c->odd;
    haul__in_degree *page;
    if (place == 0 || place >= c->arena_bytes)
        return;
    page = &c->pages[number];
    if (page->pointers == 0)
        page->first = page->last = place;
    if (place > page->last) {
        page->last = place;
        page->to_last = 0;
    }
    page->first = place < page->first ? place : page->first;
    page->to_last += place == page->last ? pointers : 0;
    page->pointers += pointers;
}

/* A limit is the end of an array, which another pointer leads to. */
static void add_special(const counting *c, const haul_plan *plan)
{
    size_t i;
    for (i = 0; i < plan->found.special_count; i++) {
        const haul__special_word *word = &plan->found.special[i];
        const uintptr_t origin = word->kind == HAUL__DISTANCE ? word->address : 0;
        const uintptr_t pointer = haul__special_pointer(word, word->value);
        if (word->kind != HAUL__FIXED && !word->is_limit && pointer)
            add(c, haul__target(plan, word->address, origin + pointer + (uintptr_t)word->addend),
                1);
    }
}

/* Does a block hold CROWD objects of one type, or more? Then a sample tells enough. A single struct
 * may hold the pointers to all arrays, so it is never left to a sample. */
HAUL__HOT static int is_crowded(const counting *c, const haul__block *block)
{
    const int is_mixed = block->form == HAUL__MIXED && !c->has_arrays;
    unsigned count = 0, cell;
    for (cell = 0; (is_mixed || haul__is_uniform(block)) && cell < HAUL__CELLS && count < CROWD;
         cell++)
        count += is_mixed       ? haul__bits64(haul__slots(block)[cell])
                 : block->words ? haul__bits64(haul__word_starts(block)[cell])
                                : haul__bits32(haul__starts(block)[cell]);
    return count >= CROWD;
}

/* Has the graph an array that is worth a place of its own? Then the pointers to it count, every
 * one. Pages that are small show as much of any array. */
static int has_arrays(const haul__map *map, size_t page_bytes)
{
    size_t i = 0;
    while (i < map->block_count && haul__map_block(map, i)->form != HAUL__FULL)
        i++;
    return i < map->block_count || page_bytes < LARGE_PAGE;
}

/* Fetches the first cells of a sample; no processor expects such steps. */
static void fetch_sample(const haul__map *map, size_t i, unsigned step)
{
    const haul__block *block = haul__map_block(map, i);
    const uintptr_t address = haul__block_address(map->numbers[i]);
    unsigned cell = (unsigned)(i % step), k;
    for (k = 0; k < AHEAD && block->form != HAUL__FULL; k++, cell += step)
        haul__fetch_lines(address + cell * HAUL__CELL_BYTES, block->cells[cell].live, 0);
}

HAUL__HOT static void add_block(const counting *c, const haul_plan *plan, const uintptr_t *flat,
                                size_t i)
{
    const haul__map *map = &plan->found.map;
    const haul__block *block = haul__plan_block(plan, i);
    const uintptr_t address = haul__block_address(map->numbers[i]);
    const unsigned step = is_crowded(c, block) ? c->sample : 1;
    unsigned cell = block->form == HAUL__FULL ? HAUL__CELLS : (unsigned)(i % step);
    if (step > 1 && i + 1 < map->block_count)
        fetch_sample(map, i + 1, step);
    for (; cell < HAUL__CELLS; cell += step) {
        uint64_t slots;
        if (step > 1 && cell + AHEAD * step < HAUL__CELLS)
            haul__fetch_lines(address + (cell + AHEAD * step) * HAUL__CELL_BYTES,
                              block->cells[cell + AHEAD * step].live, 0);
        for (slots = haul__placed_slots(map, block, cell); slots; slots &= slots - 1) {
            const uintptr_t slot = address + cell * HAUL__CELL_BYTES +
                                   ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
            const uintptr_t value = haul__load_word((const void *)slot);
            add(c,
                plan->ordered ? haul__target(plan, slot, value)
                              : haul__translate_in(map, flat, value),
                step);
        }
    }
}

/* ---- Threads. */

typedef struct shared {
    const haul_plan *plan;
    const uintptr_t *flat;
    const counting *common;
    size_t count, lists;
} shared;

static void add_blocks(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const shared *s = user;
    const size_t blocks = s->plan->found.map.block_count;
    (void)number;
    (void)scratch;
    for (; first < end; first++) {
        counting own = *s->common;
        size_t i;
        own.pages += first * s->count;
        for (i = first * blocks / s->lists; i < (first + 1) * blocks / s->lists; i++)
            add_block(&own, s->plan, s->flat, i);
    }
}

static void join(haul__in_degree *page, const haul__in_degree *other)
{
    if (page->pointers == 0) {
        *page = *other;
        return;
    }
    if (other->pointers == 0)
        return;
    if (other->last > page->last)
        page->to_last = 0;
    page->to_last += other->last >= page->last ? other->to_last : 0;
    page->last = other->last > page->last ? other->last : page->last;
    page->first = other->first < page->first ? other->first : page->first;
    page->pointers += other->pointers;
}

size_t haul__in_degree_lists(const haul_plan *plan)
{
    const size_t worth = plan->found.map.block_count / THREAD_BLOCKS + 1;
    size_t threads = plan->context->pool && !plan->ordered ? plan->context->options.threads : 1;
    if (threads > HAUL__POOL_CHUNKS)
        threads = HAUL__POOL_CHUNKS;
    return threads < 1 ? 1 : threads < worth ? threads : worth;
}

void haul__count_in_degrees(haul_plan *plan, size_t page_bytes, haul__in_degree *pages,
                            size_t count, size_t lists)
{
    counting c = { pages, haul__arena_bytes(plan), SAMPLE, 0, 0, 0 };
    shared s = { plan, haul__table_show(&plan->context->table, &plan->found.map), &c, count,
                 lists };
    uint64_t place;
    size_t i, list;
    c.sample = page_bytes < LARGE_PAGE ? SAMPLE : LARGE_SAMPLE;
    c.has_arrays = has_arrays(&plan->found.map, page_bytes);
    c.shift = haul__lowest64(page_bytes);
    c.odd = page_bytes >> c.shift;
    haul__pool_run(lists > 1 ? plan->context->pool : NULL, SIZE_MAX, 0, lists, 1, add_blocks, &s);
    for (list = 1; list < lists; list++)
        for (i = 0; i < count; i++)
            join(&pages[i], &pages[list * count + i]);
    for (i = 0; i < plan->root_count; i++)
        if (haul__offset_of(plan, (uintptr_t)plan->roots[i].address, &place))
            add(&c, place, 1);
    add_special(&c, plan);
}
