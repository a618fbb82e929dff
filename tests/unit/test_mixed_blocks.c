/* Mixed blocks: objects of many types, bytes and holes at random, side by side and overlapping,
 * marked in line and in the general way. They are compared with a plain list of bytes, while they
 * are marked and after layout.
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"
#include "map/fold.h"
#include "map/forms.h"
#include "map/mark.h"
#include "map/mark_hole.h"
#include "walk/mark_inline.h"
#include "map/mixed.h"
#include "support/builds.h"

enum { BLOCKS = 2, BASE = 64, PLAIN_KINDS = 2, KINDS = 8, ROUNDS = LARGE(600, 200) };
#define LAB ((size_t)BLOCKS * HAUL__BLOCK_BYTES)

/* Of a byte. */
enum { LIVE = 1, SLOT = 2, HOLE = 4 };

typedef struct mixed_lab {
    haul_allocator allocator;
    haul__map map;
    uintptr_t flat[BASE + BLOCKS + 1], base;
    haul__met_type kind[KINDS];
    haul__far far[KINDS];
    haul__slot slots[KINDS][HAUL__SIMPLE_SLOTS];
    size_t slot_count[KINDS];
    unsigned char byte[LAB];
} mixed_lab;

static int is_slot_word(const haul__met_type *kind, size_t word)
{
    return (int)(haul__simple_slots(&kind->simple, word / 64) >> (word % 64)) & 1;
}

/* A kind as discovery knows it (kinds.c), of words or of granules, some of them longer than a cell.
 * The first ones have no pointers. */
static void make_kind(mixed_lab *m, size_t i, random_source *random)
{
    haul__met_type *kind = &m->kind[i];
    const size_t most = i % 4 == 1 ? 200 : 20;
    const size_t words =
        i < PLAIN_KINDS ? 4 + 2 * random_below(random, most / 2) : 3 + random_below(random, most);
    haul__cell whole = { 0, 1 };
    size_t word;
    kind->simple.bytes = (uint32_t)(words * WORD);
    kind->simple.words = words % 2 ? (uint32_t)words : 0;
    kind->simple.granules = words / 2 < 32 ? haul__range32(0, (unsigned)words / 2 - 1) : UINT32_MAX;
    if (words > 64)
        kind->simple.far = &m->far[i];
    for (word = 0; word < words; word++) {
        if (i < PLAIN_KINDS || m->slot_count[i] == HAUL__SIMPLE_SLOTS || !random_one_in(random, 4))
            continue;
        *(word < 64 ? &kind->simple.slots : &m->far[i][word / 64 - 1]) |= (uint64_t)1
                                                                          << (word % 64);
        m->slots[i][m->slot_count[i]++].offset = word * WORD;
    }
    whole.live = kind->simple.granules;
    memcpy(&kind->mark, &whole, sizeof kind->mark);
    kind->form = m->slot_count[i] ? haul__map_form(&m->map, &kind->simple) : HAUL__NO_FORM;
    kind->ragged.form = kind->simple.words ? kind->form : HAUL__NO_FORM;
    kind->ragged.reach = (uint32_t)words - 1;
}

static void start(mixed_lab *m, random_source *random)
{
    size_t i;
    memset(m, 0, sizeof *m);
    m->allocator = haul__allocator_or_default(NULL);
    haul__map_open(&m->map, &m->allocator);
    m->map.flat = m->flat;
    m->base = (uintptr_t)BASE * HAUL__BLOCK_BYTES;
    for (i = 0; i < KINDS; i++)
        make_kind(m, i, random);
}

/* What of [at, at + bytes) is marked, as this: 0: nothing; 1: all; 2: some, and the rest can be
 * added; -1: some word is a pointer for one and data for the other. */
static int expect(const mixed_lab *m, size_t at, size_t bytes, const haul__met_type *kind)
{
    size_t i, live = 0;
    for (i = at; i < at + bytes; i++) {
        const int slot = kind && is_slot_word(kind, (i - at) / WORD);
        live += m->byte[i] & LIVE;
        if ((m->byte[i] & LIVE) && slot != ((m->byte[i] & SLOT) != 0))
            return -1;
        if (slot && i % WORD == 0) { /* bytes of its word that are data */
            size_t k;
            for (k = i; k < i + WORD; k++)
                if ((m->byte[k] & (LIVE | SLOT)) == LIVE)
                    return -1;
        }
    }
    return live == 0 ? 0 : live == bytes ? 1 : 2;
}

/* A byte that is no object's but stands in a pointer's word cannot be: bytes are whole pointers'
 * there. */
static int touches_slot(const mixed_lab *m, size_t at, size_t bytes)
{
    size_t i;
    for (i = at / WORD * WORD; i < (at + bytes + WORD - 1) / WORD * WORD; i++)
        if (m->byte[i] & SLOT)
            return 1;
    return 0;
}

static void enter(mixed_lab *m, size_t at, size_t bytes, const haul__met_type *kind)
{
    size_t i;
    for (i = at; i < at + bytes; i++)
        m->byte[i] |=
            (unsigned char)(LIVE | (kind && is_slot_word(kind, (i - at) / WORD) ? SLOT : 0));
}

/* What the innermost loop does with a pointer to one. */
static int mark_in_line(const mixed_lab *m, uintptr_t address, const haul__met_type *kind)
{
    const uint32_t near_starts = haul__near_starts(kind);
    return haul__start_in_cell(address) < near_starts ? haul__mark_near(m->flat, address, kind)
                                                      : haul__mark_over(m->flat, address, kind);
}

/* What the general way tries first (follow.c). 0: it can do nothing. */
static int mark_start(mixed_lab *m, size_t at, const haul__met_type *kind, int expected)
{
    const uint32_t form = (m->base + at) % GRANULE ? kind->ragged.form : kind->form;
    const int found = form == HAUL__NO_FORM ? 0 : haul__mark_simple(&m->map, m->base + at, form);
    CHECK(found == 0 || (found == 1 && expected == 0));
    return found;
}

static void mark_generally(mixed_lab *m, size_t at, size_t bytes, size_t i, int is_kind)
{
    haul__pattern pattern;
    haul__marked marked;
    memset(&pattern, 0, sizeof pattern);
    pattern.kind = is_kind && m->slot_count[i] ? HAUL__TYPE_SLOTS : HAUL__NO_SLOTS;
    pattern.slots = m->slots[i];
    pattern.slot_count = m->slot_count[i];
    pattern.stride = bytes;
    pattern.element = m->base + at;
    pattern.left = 1;
    CHECK_STATUS(haul__mark(&m->map, m->base + at, m->base + at + bytes, &pattern, &marked),
                 HAUL_OK);
}

static void mark_object(mixed_lab *m, size_t at, size_t i, random_source *random)
{
    const haul__met_type *kind = &m->kind[i];
    const size_t bytes = kind->simple.bytes;
    const int expected = expect(m, at, bytes, kind);
    int found = HAUL__APART;
    if (!random_one_in(random, 4))
        found = mark_in_line(m, m->base + at, kind);
    if (found != HAUL__APART)
        CHECK_EQ(found == HAUL__FRESH ? 0 : 1, expected);
    if (found == HAUL__APART && expected >= 0 && !mark_start(m, at, kind, expected))
        mark_generally(m, at, bytes, i, 1);
    if (expected >= 0)
        enter(m, at, bytes, kind);
}

static void mark_bytes(mixed_lab *m, size_t at, size_t bytes)
{
    if (touches_slot(m, at, bytes))
        return;
    mark_generally(m, at, bytes, 0, 0);
    enter(m, at, bytes, NULL);
}

static void mark_hole(mixed_lab *m, size_t at, size_t bytes)
{
    size_t i;
    CHECK_EQ(haul__mark_hole(&m->map, m->base + at, m->base + at + bytes), 1);
    for (i = at; i < at + bytes; i++)
        m->byte[i] |= HOLE;
}

/* Somewhere in the middle, where the blocks meet. */
static size_t pick(random_source *random, size_t width, size_t bytes, size_t unit)
{
    return (LAB / 2 - width / 2 + random_below(random, width - bytes)) / unit * unit;
}

static void mark_something(mixed_lab *m, size_t width, int rare, random_source *random)
{
    const size_t what = random_below(random, rare ? 10 : 8), i = random_below(random, KINDS);
    const size_t bytes =
        what < 7 ? m->kind[i].simple.bytes
                 : 1 + random_below(random, random_one_in(random, 3) ? 2 * HAUL__CELL_BYTES : 40);
    if (what < 7)
        mark_object(m, pick(random, width, bytes, what < 4 ? GRANULE : WORD), i, random);
    else if (what < 9)
        mark_bytes(m, pick(random, width, bytes, random_one_in(random, 3) ? 1 : WORD), bytes);
    else
        mark_hole(m, pick(random, width, bytes, 1), bytes);
}

static void check_marked(const mixed_lab *m)
{
    size_t i;
    for (i = 0; i < LAB; i++)
        CHECK_EQ(haul__is_marked(&m->map, m->base + i), m->byte[i] != 0);
}

static void check_granule(const mixed_lab *m, const haul__block *block, size_t at)
{
    const unsigned granule = haul__granule_in_block(m->base + at);
    unsigned mask = 0, placed = 0, i, slots = 0;
    for (i = 0; i < GRANULE; i++) {
        mask |= (unsigned)(m->byte[at + i] & LIVE) << i;
        placed |= m->byte[at + i];
        slots |= m->byte[at + i] & SLOT ? 1u << (i / WORD) : 0;
    }
    CHECK_EQ(haul__is_placed(block, m->base + at), placed != 0);
    if (!placed)
        return;
    CHECK_EQ(haul__byte_mask(block, granule), mask);
    if (haul__has_masks(block) && mask != HAUL__FULL_MASK)
        CHECK_EQ((haul__masked(block, granule / 32) >> (granule % 32)) & 1, 1);
    else
        CHECK_EQ(mask, HAUL__FULL_MASK);
    CHECK_EQ((haul__placed_slots(&m->map, block, granule / 32) >> (granule % 32 * 2)) & 3, slots);
}

static void check_placed(const mixed_lab *m)
{
    size_t at;
    for (at = 0; at < LAB; at += GRANULE) {
        const haul__block *block = haul__map_find(&m->map, m->base + at);
        if (block)
            check_granule(m, block, at);
    }
}

static void fold_all(mixed_lab *m)
{
    size_t i, live = 0, folded = 0;
    for (i = 0; i < LAB; i++)
        live += m->byte[i] & LIVE;
    for (i = 0; i < BLOCKS; i++) {
        haul__block *block = haul__map_find(&m->map, m->base + i * HAUL__BLOCK_BYTES);
        unsigned cell;
        if (!block)
            continue;
        CHECK_EQ(haul__mark_fold(&m->map, block, &folded), 1);
        for (cell = 0; haul__is_uniform(block) && !block->words && cell < HAUL__CELLS; cell++)
            haul__starts(block)[cell] = block->cells[cell].aux; /* as layout does */
    }
    CHECK_EQ(folded, live);
}

/* Pages of larger alignments have full masks. */
static void make_masks(mixed_lab *m, random_source *random)
{
    size_t i, page;
    for (i = 0; i < BLOCKS; i++)
        for (page = 0; page < HAUL__PAGES; page++) {
            haul__block *block = haul__map_find(&m->map, m->base + i * HAUL__BLOCK_BYTES);
            if (block && block->form != HAUL__FULL && random_one_in(random, 2))
                CHECK_EQ(haul__mark_masks(&m->map, block, page), 1);
        }
}

TEST(mixed_blocks, marks_of_any_kinds_in_any_order_are_those_of_a_list_of_bytes)
{
    static mixed_lab m;
    random_source random = random_start("mixed marks");
    size_t round, i;
    for (round = 0; round < ROUNDS; round++) {
        const size_t width = 2000 + random_below(&random, round % 100 ? 2000 : LAB / 2);
        const size_t marks = 1 + random_below(&random, round % 10 ? 20 : width / 20);
        start(&m, &random);
        for (i = 0; i < marks; i++)
            mark_something(&m, width, round % 3 == 0, &random);
        check_marked(&m);
        fold_all(&m);
        check_placed(&m);
        make_masks(&m, &random);
        check_placed(&m);
        haul__map_close(&m.map);
    }
}
