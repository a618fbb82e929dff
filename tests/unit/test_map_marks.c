/* Marks of ranges, one call after the other, on maps of every form: full, bare, uniform, ragged,
 * mixed. After each call every byte and word that it touched is compared with a plain list: is it
 * live, is it a pointer, is it a hole? No memory lies at these addresses.
 *
 * Faults by number (docs/testing.md): G8, G9, G10.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "map/fold.h"
#include "map/forms.h"
#include "map/mark.h"
#include "map/mark_hole.h"
#include "map/ragged.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"

enum {
    WORD = sizeof(void *),
    GRANULE = 2 * sizeof(void *),
    CELL = 32 * GRANULE,
    BLOCK = 128 * CELL,
    BLOCKS = 3,
    BYTES = BLOCKS * BLOCK,
    WORDS = BYTES / WORD,
    KINDS = 3
};

typedef struct list {
    haul_allocator allocator;
    haul__map map;
    uintptr_t base;
    uint32_t form[KINDS];
    haul__simple kind[KINDS];
    unsigned char live[BYTES], hole[BYTES], slot[WORDS];
} list;

static list *list_open(const haul_allocator *allocator)
{
    static const uint32_t words[KINDS] = { 4, 7, 9 };
    static const uint64_t slots[KINDS] = { 1u, 1u << 6, 1u << 3 };
    list *l = calloc(1, sizeof *l);
    size_t i;
    CHECK(l != NULL);
    l->allocator = haul__allocator_or_default(allocator);
    l->base = (uintptr_t)64 * BLOCK;
    haul__map_open(&l->map, &l->allocator);
    l->map.next_form = HAUL__FIRST_UNIFORM;
    for (i = 0; i < KINDS; i++) {
        l->kind[i].bytes = words[i] * WORD;
        l->kind[i].slots = slots[i];
        l->kind[i].words = words[i] % 2 ? words[i] : 0;
        l->kind[i].granules = words[i] % 2 ? 0 : (1u << (words[i] / 2)) - 1;
        l->form[i] = haul__map_form(&l->map, &l->kind[i]);
        CHECK(l->form[i] >= HAUL__FIRST_UNIFORM && l->form[i] <= HAUL__LAST_UNIFORM);
    }
    return l;
}

static void list_close(list *l)
{
    haul__map_close(&l->map);
    free(l);
}

static int is_live(const list *l, size_t word)
{
    size_t i;
    for (i = 0; i < WORD; i++)
        if (l->live[word * WORD + i])
            return 1;
    return 0;
}

/* What is true of each byte and word of [first, end), and a cell further at both ends. */
static void check_range(const list *l, size_t first, size_t end)
{
    size_t at = first > CELL ? first - CELL : 0, stop = end + CELL < BYTES ? end + CELL : BYTES;
    for (; at < stop; at++) {
        const haul__block *block = haul__map_find(&l->map, l->base + at);
        CHECK_EQ(haul__is_marked(&l->map, l->base + at), l->live[at] | l->hole[at]);
        if (at % WORD == 0 && block && block->form != HAUL__FULL)
            CHECK_EQ(haul__marked_slots(&l->map, block, (unsigned)(at / CELL) % HAUL__CELLS) >>
                             (at / WORD % 64) &
                         1,
                     l->slot[at / WORD]);
    }
}

/* ---- Patterns. */

typedef struct drawn {
    haul__pattern pattern;
    haul__slot slots[4];
    unsigned char slot[WORDS]; /* what it makes of each word */
} drawn;

static void draw_elements(drawn *p, const list *l, size_t *first, size_t *end, random_source *r)
{
    const size_t stride = (1 + random_below(r, random_one_in(r, 3) ? 600 : 80)) * WORD;
    const size_t span = *end - *first;
    size_t count = span / stride, i, k, offset = random_below(r, stride);
    *first -= *first % WORD;
    if (!count || *first + count * stride > BYTES)
        count = 1;
    if (*first + stride > BYTES)
        *first = BYTES - stride;
    *end = *first + count * stride;
    p->pattern.kind = HAUL__TYPE_SLOTS;
    p->pattern.slots = p->slots;
    p->pattern.stride = stride;
    p->pattern.element = l->base + *first;
    p->pattern.left = count;
    memset(p->slots, 0, sizeof p->slots);
    for (k = 0; k < 4 && offset + WORD <= stride; k++, offset += WORD + random_below(r, stride)) {
        if (!random_one_in(r, 4))
            offset -= offset % WORD;
        p->slots[k].offset = offset;
        for (i = 0; i < count && offset % WORD == 0; i++)
            p->slot[(*first + i * stride + offset) / WORD] = 1;
    }
    p->pattern.slot_count = k;
}

/* A pattern for [first, end), which it may move to where it makes sense. */
static void draw_pattern(drawn *p, const list *l, size_t *first, size_t *end, random_source *r)
{
    size_t i;
    memset(p, 0, sizeof *p);
    p->pattern.kind = HAUL__NO_SLOTS;
    switch (random_below(r, 8)) {
    case 0: /* pointers */
    case 1: /* up to 64 words, from where any of them stands */
        *first -= *first % WORD;
        *end += (size_t)(-*end % WORD);
        p->pattern.kind = HAUL__ALL_SLOTS;
        if (random_one_in(r, 2)) {
            p->pattern.kind = HAUL__WORD_SLOTS;
            p->pattern.words = random_next(r) & random_next(r);
            p->pattern.element = l->base + *first;
            if (*end - *first > 64 * WORD)
                *end = *first + 64 * WORD;
        }
        for (i = *first / WORD; i < *end / WORD; i++)
            p->slot[i] =
                p->pattern.kind == HAUL__ALL_SLOTS || (p->pattern.words >> (i - *first / WORD) & 1);
        break;
    case 2:
    case 3:
    case 4:
        draw_elements(p, l, first, end, r);
        break;
    default:
        break;
    }
}

/* Begins and ends that blocks, cells, granules and words have, and others. */
static void draw_range(size_t *first, size_t *end, random_source *r)
{
    static const size_t grid[] = { BLOCK, BLOCK, CELL, GRANULE, WORD, 1 };
    static const size_t longest[] = { 30, 3 * CELL, 2 * BLOCK };
    const size_t most = longest[random_below(r, 3)];
    const size_t a = grid[random_below(r, most > BLOCK ? 6 : 4) + (most > BLOCK ? 0 : 2)];
    size_t bytes = 1 + random_below(r, most);
    *first = random_below(r, BYTES - most) / a * a;
    if (random_one_in(r, 2))
        bytes = (bytes + a - 1) / a * a;
    *end = *first + bytes < BYTES ? *first + bytes : BYTES;
}

/* ---- Calls. */

enum { CALLS_OK, CALLS_REFUSED, CALLS_FULL_REFUSED, CALLS_SIMPLE, CALLS_HOLE, OUTCOMES };

/* Every word that lives in the range must be what the pattern says; up to the cell where one is
 * not, all is marked. */
static int mark(list *l, size_t first, size_t end, drawn *p, int *is_full)
{
    size_t word = first / WORD, stop = end, fresh_first = SIZE_MAX, fresh_end = 0, i;
    haul__marked marked;
    haul_status status;
    const haul__block *block;
    while (word * WORD < end && (!is_live(l, word) || l->slot[word] == p->slot[word]))
        word++;
    block = word * WORD < end ? haul__map_find(&l->map, l->base + word * WORD) : NULL;
    *is_full = block && block->form == HAUL__FULL;
    status = haul__mark(&l->map, l->base + first, l->base + end, &p->pattern, &marked);
    if (word * WORD < end) {
        CHECK_STATUS(status, HAUL_ERROR_GRAPH);
        CHECK_EQ(marked.conflict, l->base + word * WORD);
        stop = word * WORD / CELL * CELL;
    } else {
        CHECK_STATUS(status, HAUL_OK);
    }
    for (i = first; i < stop; i++) {
        if (!l->live[i])
            fresh_end = i + 1;
        if (!l->live[i] && fresh_first == SIZE_MAX)
            fresh_first = i;
        l->live[i] = 1;
        if (p->slot[i / WORD])
            l->slot[i / WORD] = 1;
    }
    CHECK_EQ(marked.first != marked.end, fresh_end != 0);
    if (fresh_end)
        CHECK(marked.first <= l->base + fresh_first && marked.first >= l->base + first &&
              marked.end >= l->base + fresh_end && marked.end <= l->base + end);
    return status == HAUL_OK;
}

/* An object of a kind by its start; if it cannot be told so, as any range. */
static int mark_object(list *l, size_t k, size_t *first, size_t *end, drawn *p, int *is_full)
{
    const size_t grid = l->kind[k].words ? WORD : GRANULE;
    size_t i, live = 0;
    *first -= *first % grid;
    *end = *first + l->kind[k].bytes;
    if (*end > BYTES) {
        *first -= GRANULE * ((*end - BYTES + GRANULE - 1) / GRANULE);
        *end = *first + l->kind[k].bytes;
    }
    for (i = *first; i < *end; i++)
        live += l->live[i];
    if (haul__mark_simple(&l->map, l->base + *first, l->form[k])) {
        CHECK_EQ(live, 0);
        memset(l->live + *first, 1, l->kind[k].bytes);
        for (i = 0; i < 64; i++)
            if (l->kind[k].slots >> i & 1)
                l->slot[*first / WORD + i] = 1;
        return CALLS_SIMPLE;
    }
    memset(p, 0, sizeof *p);
    p->pattern.kind = HAUL__WORD_SLOTS;
    p->pattern.element = l->base + *first;
    p->pattern.words = l->kind[k].slots;
    for (i = 0; i < 64; i++)
        if (l->kind[k].slots >> i & 1)
            p->slot[*first / WORD + i] = 1;
    return mark(l, *first, *end, p, is_full) ? CALLS_OK
           : *is_full                        ? CALLS_FULL_REFUSED
                                             : CALLS_REFUSED;
}

/* `only`: a kind of which all objects are; KINDS: any, and anything else. */
static int any_call(list *l, size_t only, random_source *r)
{
    static drawn p;
    size_t first, end;
    int is_full = 0, outcome;
    draw_range(&first, &end, r);
    switch (only < KINDS ? 1 : random_below(r, 8)) {
    case 0:
        CHECK(haul__mark_hole(&l->map, l->base + first, l->base + end));
        memset(l->hole + first, 1, end - first);
        outcome = CALLS_HOLE;
        break;
    case 1:
    case 2:
    case 3:
        outcome = mark_object(l, only < KINDS ? only : random_below(r, KINDS), &first, &end, &p,
                              &is_full);
        break;
    default:
        draw_pattern(&p, l, &first, &end, r);
        outcome = mark(l, first, end, &p, &is_full) ? CALLS_OK
                  : is_full                         ? CALLS_FULL_REFUSED
                                                    : CALLS_REFUSED;
        break;
    }
    check_range(l, first, end);
    return outcome;
}

/* After folding: live bytes are counted, and each page can be given masks of its own. */
static void check_folded(list *l, random_source *r)
{
    size_t i, b, live = 0, folded = 0;
    for (i = 0; i < BYTES; i++)
        live += l->live[i];
    for (b = 0; b < BLOCKS; b++) {
        haul__block *block = haul__map_find(&l->map, l->base + b * BLOCK);
        const size_t page = random_below(r, HAUL__PAGES);
        if (!block)
            continue;
        CHECK(haul__mark_fold(&l->map, block, &folded));
        if (block->form == HAUL__FULL)
            continue;
        if (random_one_in(r, 2))
            CHECK(haul__mark_masks(&l->map, block, page));
        for (i = b * BLOCK; i < (b + 1) * BLOCK; i++) {
            const unsigned granule = (unsigned)(i % BLOCK / GRANULE);
            if (haul__is_placed(block, l->base + i))
                CHECK_EQ(haul__byte_mask(block, granule) >> (i % GRANULE) & 1, l->live[i]);
            else
                CHECK(!l->live[i] && !l->hole[i]);
        }
    }
    CHECK_EQ(folded, live);
}

static size_t missing(const size_t *outcomes)
{
    size_t i, count = 0;
    for (i = 0; i < OUTCOMES; i++)
        count += outcomes[i] == 0;
    return count;
}

TEST(map_marks, ranges_of_any_pattern_and_form_are_what_a_list_of_bytes_says_G8_G9_G10)
{
    random_source random = random_start("marks of ranges");
    size_t round, call, outcomes[OUTCOMES] = { 0 };
    for (round = 0; round < LARGE(200, 70) || (round < 10000 && missing(outcomes)); round++) {
        const size_t calls = 1 + random_below(&random, 30);
        const size_t only = random_below(&random, 2 * KINDS);
        list *l = list_open(NULL);
        for (call = 0; call < calls; call++)
            outcomes[any_call(l, only, &random)]++;
        check_range(l, 0, BYTES);
        check_folded(l, &random);
        list_close(l);
    }
    CHECK_EQ(missing(outcomes), 0);
}

/* ---- Memory that runs out. */

static list *failing;
static uint64_t failing_seed;

static void failing_prepare(void *user, fault_plan *plan)
{
    const haul_allocator allocator = fault_allocator(plan);
    (void)user;
    failing = list_open(&allocator);
}

/* The same calls each time; the first that fails ends it. A map is closed, whatever it holds. */
static haul_status failing_run(void *user)
{
    random_source r = random_from(failing_seed);
    static drawn p;
    size_t call;
    (void)user;
    for (call = 0; call < 12; call++) {
        haul__marked marked;
        size_t first, end;
        int is_done = 1;
        draw_range(&first, &end, &r);
        switch (random_below(&r, 6)) {
        case 0:
            is_done = haul__mark_hole(&failing->map, failing->base + first, failing->base + end);
            break;
        case 1:
            is_done = haul__mark_end(&failing->map, failing->base + first);
            break;
        case 2:
            is_done = haul__mark_placement(&failing->map, failing->base + first, 256);
            break;
        case 3:
            first -= first % WORD;
            is_done =
                haul__mark_simple(&failing->map, failing->base + first, failing->form[1]) >= 0;
            break;
        default:
            draw_pattern(&p, failing, &first, &end, &r);
            is_done = haul__mark(&failing->map, failing->base + first, failing->base + end,
                                 &p.pattern, &marked) != HAUL_ERROR_MEMORY;
            break;
        }
        if (!is_done)
            return HAUL_ERROR_MEMORY;
    }
    for (call = 0; call < BLOCKS; call++) {
        haul__block *block = haul__map_find(&failing->map, failing->base + call * BLOCK);
        if (block && block->form != HAUL__FULL) {
            size_t folded = 0;
            if (!haul__mark_fold(&failing->map, block, &folded) ||
                !haul__mark_masks(&failing->map, block, call))
                return HAUL_ERROR_MEMORY;
        }
    }
    return HAUL_OK;
}

static void failing_reset(void *user)
{
    const haul_allocator allocator = failing->allocator;
    (void)user;
    list_close(failing);
    failing = list_open(&allocator);
}

static void failing_check(void *user, haul_status status)
{
    if (status != HAUL_OK)
        failing_reset(user);
}

static void failing_finish(void *user)
{
    (void)user;
    list_close(failing);
}

TEST(map_marks, a_map_that_memory_runs_out_on_is_closed_without_a_leak_H1_H2)
{
    random_source random = random_start("marks without memory");
    unsigned round, runs = 0;
    for (round = 0; round < LARGE(60, 20); round++) {
        fault_operation operation = { 0 };
        operation.prepare = failing_prepare;
        operation.run = failing_run;
        operation.check = failing_check;
        operation.undo = failing_reset;
        operation.finish = failing_finish;
        operation.modes = FAULT_MEMORY;
        failing_seed = random_next(&random);
        runs += fault_everywhere(&operation);
    }
    CHECK(runs > LARGE(500, 150));
}
