/* In-degrees: how many pointers lead to each page of an arena.
 *
 * The map has a bit for each pointer word, and the special words stand in a list. So the words are
 * read in the order of memory, as by a pack, and each is translated by one look-up. Nothing is
 * walked or listed, and pages are few.
 *
 * A block that is crowded by small objects of one type has thousands of pointers much alike. So one
 * in SAMPLE of its cells is read, and counts for all of them; which, changes from block to block.
 */
#include "pack/in_degree.h"

#include "context/context.h"
#include "pack/fetch_ahead.h"
#include "pack/special_words.h"
#include "pack/translate.h"

#define SAMPLE 8u           /* cells */
#define CROWD 256u          /* objects that are worth a sample */
#define AHEAD (4u * SAMPLE) /* cells that are fetched */

typedef struct counting {
    haul__in_degree *pages;
    uint64_t arena_bytes;
    unsigned shift; /* a page has odd << shift bytes: a division costs as much as all else */
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
HAUL__HOT static int is_crowded(const haul__block *block)
{
    unsigned objects = 0, cell;
    for (cell = 0; haul__is_uniform(block) && cell < HAUL__CELLS; cell++)
        objects += block->words ? haul__bits64(haul__word_starts(block)[cell])
                                : haul__bits32(haul__starts(block)[cell]);
    return objects >= CROWD;
}

static void add_block(const counting *c, const haul_plan *plan, const uintptr_t *flat, size_t i)
{
    const haul__map *map = &plan->found.map;
    const haul__block *block = haul__plan_block(plan, i);
    const uintptr_t address = haul__block_address(map->numbers[i]);
    const unsigned step = is_crowded(block) ? SAMPLE : 1;
    unsigned cell = block->form == HAUL__FULL ? HAUL__CELLS : (unsigned)(i % step);
    for (; cell < HAUL__CELLS; cell += step) {
        uint64_t slots;
        if (step > 1 && cell + AHEAD < HAUL__CELLS) /* no processor expects such steps */
            haul__fetch_lines(address + (cell + AHEAD) * HAUL__CELL_BYTES,
                              block->cells[cell + AHEAD].live, 0);
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

void haul__count_in_degrees(haul_plan *plan, size_t page_bytes, haul__in_degree *pages)
{
    const uintptr_t *const flat = haul__table_show(&plan->context->table, &plan->found.map);
    counting c = { pages, haul__arena_bytes(plan), 0, 0 };
    uint64_t place;
    size_t i;
    c.shift = haul__lowest64(page_bytes);
    c.odd = page_bytes >> c.shift;
    for (i = 0; i < plan->root_count; i++)
        if (haul__offset_of(plan, (uintptr_t)plan->roots[i].address, &place))
            add(&c, place, 1);
    for (i = 0; i < plan->found.map.block_count; i++)
        add_block(&c, plan, flat, i);
    add_special(&c, plan);
}
