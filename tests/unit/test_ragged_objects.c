/* Structs that are no whole number of granules (24, 40, 56, 72, 88 bytes and many more), and
 * structs at an address in the middle of a granule: alone, side by side, beside other types and
 * bytes in the same granule, across the ends of cells and blocks.
 *
 * The lab checks every byte and pointer of the graph, and that no other byte is read or written.
 * Marks are compared with a plain list of words.
 *
 * Faults by number (docs/testing.md): G8, G9, G10, G13.
 */
#define _DEFAULT_SOURCE
#include "map/fold.h"
#include "map/mark.h"
#include "map/ragged.h"
#include "node_kinds.h"
#include "pack/plan_struct.h"
#include "pack/verify.h"
#include "support/short_forms.h"
#include "support/types.h"

enum { CELL = 32 * GRANULE, MAP_BLOCK = 128 * CELL };

/* Not longer than a cell, among them some whose neighbourhood is longer; longer than one, two,
 * three; the longest. Behind them some that are whole granules and stand within one. */
static node_kind kinds[] = {
    { 3, 0, 1, NULL },      { 3, 1, 2, NULL },     { 5, 0, 4, NULL },     { 7, 0, 1, NULL },
    { 7, 3, 6, NULL },      { 9, 0, 8, NULL },     { 11, 5, 10, NULL },   { 31, 0, 30, NULL },
    { 33, 16, 32, NULL },   { 63, 0, 62, NULL },   { 65, 0, 64, NULL },   { 65, 3, 5, NULL },
    { 129, 64, 128, NULL }, { 191, 1, 190, NULL }, { 511, 0, 510, NULL }, { 2, 0, 1, NULL },
    { 8, 0, 7, NULL },      { 64, 1, 63, NULL },   { 128, 0, 127, NULL },
};
enum { SHORT_KINDS = 7 };

static haul_type *byte_type;

static void kinds_start(void)
{
    lab_start();
    node_kinds_open(kinds, COUNT_OF(kinds));
    CHECK_STATUS(haul_type_bytes(type_context(), "byte", 1, &byte_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(byte_type), HAUL_OK);
}

static void kinds_end(void)
{
    node_kinds_close(kinds, COUNT_OF(kinds));
    haul_type_free(&byte_type);
    lab_end();
}

static haul_root root_of(const void *address, const haul_type *type, size_t count)
{
    haul_root root;
    root.address = (void *)(uintptr_t)address;
    root.type = type;
    root.count = count;
    return root;
}

/* ---- Marks, by a list of words. */

typedef struct map_lab {
    haul_allocator allocator;
    haul__map map;
    uint32_t form;
    haul__simple kind;
    uintptr_t base; /* of the first of two blocks */
} map_lab;

static void map_lab_start(map_lab *m, uint32_t words, random_source *random)
{
    static haul__far far;
    uint32_t word;
    memset(m, 0, sizeof *m);
    memset(far, 0, sizeof far);
    m->allocator = haul__allocator_or_default(NULL);
    haul__map_open(&m->map, &m->allocator);
    m->base = (uintptr_t)64 * MAP_BLOCK;
    m->kind.words = words;
    m->kind.bytes = words * (uint32_t)WORD;
    for (word = 0; word < words; word++)
        if (random_one_in(random, 3))
            *(word < 64 ? &m->kind.slots : &far[word / 64 - 1]) |= (uint64_t)1 << (word % 64);
    if (words > 64)
        m->kind.far = &far;
    m->form = haul__map_form(&m->map, &m->kind);
    CHECK(m->form >= HAUL__FIRST_UNIFORM && m->form <= HAUL__LAST_UNIFORM);
}

static int is_slot(const map_lab *m, size_t word)
{
    return (int)(haul__simple_slots(&m->kind, word / 64) >> (word % 64)) & 1;
}

/* `number`, of each word: 0, or 1 + its number in its object. The answer that this leaves:
 * 1: nothing of it is live; 0: it is there; -1: anything else. */
static int expect(size_t at, size_t words, const uint16_t *number)
{
    size_t i, live = 0, alike = 0;
    for (i = 0; i < words; i++) {
        live += number[at + i] != 0;
        alike += number[at + i] == i + 1;
    }
    return live == 0                                                                       ? 1
           : alike == words && (at + words == 2 * 8192 || number[at + words] != words + 1) ? 0
                                                                                           : -1;
}

static void check_cells(const map_lab *m, const uint16_t *number, int is_placed)
{
    size_t cell, bit, slots[2] = { 0, 0 };
    for (cell = 0; cell < 2 * HAUL__CELLS; cell++) {
        const haul__block *block = haul__map_find(&m->map, m->base + cell * CELL);
        const unsigned in_block = (unsigned)(cell % HAUL__CELLS);
        uint64_t live, found;
        if (!block)
            continue;
        live = haul__ragged_live(block, in_block, is_placed);
        found = is_placed ? haul__placed_slots(&m->map, block, in_block)
                          : haul__marked_slots(&m->map, block, in_block);
        for (bit = 0; bit < 64; bit++) {
            const size_t n = number[cell * 64 + bit];
            CHECK_EQ((live >> bit) & 1, n != 0);
            CHECK_EQ((found >> bit) & 1, n != 0 && is_slot(m, n - 1));
            slots[cell / HAUL__CELLS] += n != 0 && is_slot(m, n - 1);
            if (!is_placed)
                CHECK_EQ(haul__is_marked(&m->map, m->base + (cell * 64 + bit) * WORD + WORD - 1),
                         n != 0);
        }
        if (is_placed)
            CHECK_EQ(block->cells[in_block].live, haul__any_word(live));
        if (is_placed && in_block + 1 == HAUL__CELLS)
            CHECK_EQ(haul__ragged_count(&m->kind, block), slots[cell / HAUL__CELLS]);
    }
}

static void mark_at_random(uint32_t words, random_source *random)
{
    static uint16_t number[2 * 8192];
    const size_t limit = 2 * 8192 - words,
                 span = random_one_in(random, 2) ? limit : 8 * (size_t)words + 70;
    const size_t begin = span == limit ? 0 : 8192 - random_below(random, span);
    size_t round, i, live = 0, folded = 0;
    map_lab m;
    map_lab_start(&m, words, random);
    memset(number, 0, sizeof number);
    for (round = 0; round < 400; round++) {
        const size_t at = (begin + random_below(random, span + 1)) % (limit + 1);
        const uintptr_t address = m.base + at * WORD;
        haul__block *next = haul__map_find(&m.map, address + m.kind.bytes - 1);
        haul__block *block = haul__map_find(&m.map, address);
        const int expected = expect(at, words, number);
        if (block && next)
            CHECK_EQ(haul__ragged_mark(block, next, address), expected);
        else
            CHECK_EQ(haul__mark_simple(&m.map, address, m.form), expected == 1);
        for (i = 0; expected == 1 && i < words; i++, live++)
            number[at + i] = (uint16_t)(i + 1);
    }
    check_cells(&m, number, 0);
    for (i = 0; i < m.map.block_count; i++)
        CHECK_EQ(haul__mark_fold(&m.map,
                                 haul__map_find(&m.map, haul__block_address(m.map.numbers[i])),
                                 &folded),
                 1);
    CHECK_EQ(live, folded / WORD);
    check_cells(&m, number, 1);
    haul__map_close(&m.map);
}

TEST(ragged_objects, starts_tell_which_words_are_live_which_are_slots_and_what_is_new)
{
    random_source random = random_start("ragged marks");
    uint32_t words;
    for (words = 2; words <= 512; words += words < 140 ? 1 : 31 * STEP) {
        mark_at_random(words, &random);
        mark_at_random(words, &random);
    }
}

/* ---- Nodes in the lab. */

/* Nodes with `gap` words between them, each linked to the next one and to one of chance. */
static void row_of(const node_kind *kind, size_t begin, size_t gap)
{
    unsigned char *node[40];
    random_source random = random_from(kind->words + begin * 31 + gap);
    const size_t bytes = bytes_of(kind);
    size_t i, count = 0;
    for (i = begin; count < 40 && i + bytes <= LAB_BYTES; i += bytes + gap * WORD)
        node[count++] = node_at(i, kind);
    for (i = 0; i < count; i++) {
        link_at(node[i], kind->first, i + 1 < count ? node[i + 1] : NULL);
        link_at(node[i], kind->second,
                random_below(&random, 3) ? node[random_below(&random, count)] : NULL);
    }
    lab_pack(node[0], kind->type, 1);
}

static int has_ragged_blocks(void)
{
    size_t i, count = 0;
    for (i = 0; i < the.plan->found.map.block_count; i++)
        count += haul__plan_block(the.plan, i)->words != 0;
    return count != 0;
}

TEST(ragged_objects,
     nodes_of_one_kind_lie_at_any_word_near_and_far_wherever_cells_and_blocks_end_G13)
{
    size_t i, gap, shift;
    for (i = 0; i < COUNT_OF(kinds); i++)
        for (gap = 0; gap < 3; gap++)
            for (shift = gap; shift < 64; shift += 13 * STEP) {
                const size_t before = 3 * kinds[i].words + shift;
                kinds_start();
                row_of(&kinds[i], MAP_BLOCK - (before < 8000 ? before : 8000) * WORD, gap);
                CHECK(kinds[i].words % 2 == 0 || has_ragged_blocks());
                kinds_end();
            }
}

TEST(ragged_objects, nodes_that_begin_or_end_where_a_block_does_need_no_other_one)
{
    size_t i;
    int is_end;
    for (i = 0; i < COUNT_OF(kinds); i++)
        for (is_end = 0; is_end < 2; is_end++) {
            unsigned char *node;
            kinds_start();
            node = node_at(is_end ? MAP_BLOCK - bytes_of(&kinds[i]) : MAP_BLOCK, &kinds[i]);
            link_at(node, kinds[i].first, node);
            lab_pack(node, kinds[i].type, 1);
            kinds_end();
        }
}

/* Two kinds, by turns, side by side: each block is of the one first and mixed then, in either
 * order, and granules have words of both. */
TEST(ragged_objects, two_kinds_in_one_block_and_in_one_granule_keep_their_slots_in_any_order)
{
    size_t a, b, i;
    for (a = 0; a < COUNT_OF(kinds); a++)
        for (b = a % (2 * STEP); b < COUNT_OF(kinds); b += 2 * STEP) {
            unsigned char *node[12];
            haul_root roots[12];
            size_t at = MAP_BLOCK - (4 * (kinds[a].words + kinds[b].words) + a % 3) * WORD;
            kinds_start();
            for (i = 0; i < 12; i++) {
                const node_kind *kind = i % 2 ? &kinds[b] : &kinds[a];
                node[i] = node_at(at, kind);
                at += (kind->words + (i + b) % 3 / 2) * WORD;
                roots[i] = root_of(node[i], kind->type, 1);
            }
            for (i = 2; i < 12; i++)
                link_at(node[i - 2], (i % 2 ? kinds[b] : kinds[a]).second, node[i]);
            lab_pack_roots(roots, 12);
            kinds_end();
        }
}

/* Bytes that end or begin in the granule where a node begins or ends, found before it or behind it.
 */
TEST(ragged_objects, bytes_in_the_granule_of_a_node_travel_with_it_whichever_is_found_first)
{
    static const size_t sizes[] = { 1,    WORD - 1,         WORD, WORD + 1, GRANULE + WORD,
                                    CELL, 2 * MAP_BLOCK + 5 };
    size_t i, k;
    int order;
    for (i = 0; i < COUNT_OF(sizes); i++)
        for (k = i % STEP; k < COUNT_OF(kinds); k += STEP)
            for (order = 0; order < 4; order++) {
                const size_t bytes = bytes_of(&kinds[k]), at = MAP_BLOCK - bytes - WORD;
                const size_t beside = order % 2 && sizes[i] < CELL ? at - sizes[i] : at + bytes;
                haul_root roots[2];
                unsigned char *node;
                kinds_start();
                node = node_at(at, &kinds[k]);
                link_at(node, kinds[k].second, node);
                roots[order / 2] = root_of(node, kinds[k].type, 1);
                fill(take_at(beside, sizes[i]), sizes[i]);
                roots[1 - order / 2] = root_of(the.memory + beside, byte_type, sizes[i]);
                lab_pack_roots(roots, 2);
                kinds_end();
            }
}

/* Objects without pointers that a node leads to, in blocks that hold nodes of one kind so far:
 * shorter than a cell and longer. */
TEST(ragged_objects, objects_without_pointers_are_found_behind_nodes_of_one_kind)
{
    static const size_t words[] = { 2, 4, 12, 66, 130 };
    size_t i, k, gap;
    for (i = 0; i < COUNT_OF(words); i++)
        for (k = 0; k < COUNT_OF(kinds); k += STEP)
            for (gap = 0; gap < 40; gap += 2 * STEP) {
                node_kind one = kinds[k];
                haul_type *plain_type, *node_type = NULL;
                haul_field fields[2] = { HAUL_ADDRESS(link, to), HAUL_ADDRESS(link, to) };
                const size_t bytes = one.words * WORD, plain = words[i] * WORD;
                unsigned char *first, *node, *behind;
                lab_start();
                CHECK_STATUS(type_make("plain", plain, NULL, 0, &plain_type), HAUL_OK);
                fields[0].name = "first";
                fields[1].name = "second";
                fields[0].offset = one.first * WORD;
                fields[1].offset = one.second * WORD;
                fields[0].target = &node_type;
                fields[1].target = &plain_type;
                fields[1].element_bytes = plain;
                CHECK_STATUS(type_make("node", bytes, fields, 2, &node_type), HAUL_OK);
                CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
                first = node_at(MAP_BLOCK, &one);
                node = node_at(MAP_BLOCK + bytes + gap * WORD, &one);
                behind = the.memory +
                         ((size_t)(node - the.memory) + bytes + GRANULE - 1) / GRANULE * GRANULE +
                         gap / 4 * GRANULE;
                fill(take_at((size_t)(behind - the.memory), plain), plain);
                link_at(first, one.first, node); /* from there on nodes are visited the fast way */
                link_at(node, one.second, behind);
                lab_pack(first, node_type, 1);
                haul_type_free(&node_type);
                haul_type_free(&plain_type);
                lab_end();
            }
}

TEST(ragged_objects, bytes_over_the_pointers_of_a_node_are_refused_and_over_its_data_allowed_G8_G9)
{
    size_t k;
    for (k = 0; k < COUNT_OF(kinds); k++) {
        const node_kind *kind = &kinds[k];
        const size_t at = MAP_BLOCK - kind->words / 2 * WORD, behind = (kind->second + 1) * WORD;
        haul_root roots[2];
        unsigned char *node;
        haul_plan *plan;
        int variant;
        kinds_start();
        node = node_at(at, kind);
        roots[0] = root_of(node, kind->type, 1);
        roots[1] = root_of(node + kind->second * WORD, byte_type, WORD);
        for (variant = 0; variant < VARIANTS; variant++) {
            lab_drop();
            lab_open_context(variant);
            CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(roots, 2), NULL, &plan),
                         HAUL_ERROR_GRAPH);
            CHECK_HAS(haul_context_error(the.context)->text, "pointer");
        }
        if (behind < bytes_of(kind)) {
            roots[1] = root_of(node + behind + 1, byte_type, bytes_of(kind) - behind - 1);
            lab_pack_roots(roots, 2);
            CHECK(kind->words % 2 == 0 || has_ragged_blocks());
        }
        kinds_end();
    }
}

/* A node that begins a word or two inside another one has pointers where the other has data. */
TEST(ragged_objects, nodes_that_overlap_are_refused_where_their_pointers_differ_G8)
{
    size_t k, by;
    for (k = 0; k < COUNT_OF(kinds); k++)
        for (by = 1; by < kinds[k].words; by += 1 + by / 3) {
            const node_kind *kind = &kinds[k];
            unsigned char *node;
            int is_there = 0;
            size_t i;
            for (i = 0; i < kind->words - by; i++) { /* of the second, `by` words on in the first */
                const int here = i + by == kind->first || i + by == kind->second;
                is_there |= here != (i == kind->first || i == kind->second);
            }
            if (!is_there)
                continue;
            kinds_start();
            node = node_at(MAP_BLOCK - 2 * WORD, kind);
            take_at(MAP_BLOCK + (kind->words - 2) * WORD, by * WORD);
            link_at(node, kind->first, node + by * WORD);
            lab_refuse(node, kind->type, HAUL_ERROR_GRAPH, "root.first", "pointer");
            kinds_end();
        }
}

/* An array, of which single elements are found first, through pointers. */
TEST(ragged_objects, an_array_holds_nodes_that_were_found_before_it)
{
    size_t k, first;
    for (k = 0; k < COUNT_OF(kinds); k++)
        for (first = 0; first < 2; first++) {
            const node_kind *kind = &kinds[k];
            const size_t bytes = bytes_of(kind), at = MAP_BLOCK - 5 * bytes - WORD;
            haul_root roots[3];
            size_t i;
            kinds_start();
            for (i = 0; i < 12; i++)
                link_at(node_at(at + i * bytes, kind), kind->second,
                        the.memory + at + (i * 5 + 3) % 12 * bytes);
            roots[2 * first] = root_of(the.memory + at, kind->type, 12);
            roots[1] = root_of(the.memory + at + 4 * bytes, kind->type, 1);
            roots[2 - 2 * first] = root_of(the.memory + at + 7 * bytes, kind->type, 2);
            lab_pack_roots(roots, 3);
            kinds_end();
        }
}

/* ---- Heaps of all of these. */

typedef struct heap {
    random_source random;
    unsigned char *node[300];
    const node_kind *kind[300];
    haul_root root[300];
    size_t count, roots;
} heap;

/* So many nodes, of some kinds, with bytes between them, from somewhere on. */
static void heap_fill(heap *h, size_t kind_count, int with_bytes)
{
    size_t at = MAP_BLOCK - random_below(&h->random, 3000) * WORD;
    const size_t first = random_below(&h->random, SHORT_KINDS);
    while (h->count < 300 && at + 600 * WORD < LAB_BYTES) {
        const size_t of = random_one_in(&h->random, 30)
                              ? random_below(&h->random, COUNT_OF(kinds))
                              : (first + random_below(&h->random, 3)) % SHORT_KINDS;
        const node_kind *kind = &kinds[kind_count == 1 ? first : of];
        if (with_bytes && random_one_in(&h->random, 4)) {
            const size_t bytes = 1 + random_below(&h->random, 3 * WORD);
            fill(take_at(at, bytes), bytes);
            h->root[h->roots++] = root_of(the.memory + at, byte_type, bytes);
            at += bytes;
            if (h->roots == 150)
                break;
        }
        at = (at + WORD - 1) / WORD * WORD + random_below(&h->random, 4) / 2 * WORD;
        h->kind[h->count] = kind;
        h->node[h->count++] = node_at(at, kind);
        at += bytes_of(kind);
    }
}

/* Each to others of its kind, that all are found; some are roots. */
static void heap_link(heap *h)
{
    size_t i, j;
    for (i = 0; i < h->count; i++) {
        size_t next[2], found = 0;
        for (j = 0; j < 40 && found < 2; j++) {
            const size_t other = random_below(&h->random, h->count);
            if (h->kind[other] == h->kind[i])
                next[found++] = other;
        }
        link_at(h->node[i], h->kind[i]->first, found > 0 ? h->node[next[0]] : NULL);
        link_at(h->node[i], h->kind[i]->second, found > 1 ? h->node[next[1]] : NULL);
    }
    for (i = 0; i < h->count && h->roots < 300; i++)
        h->root[h->roots++] = root_of(h->node[i], h->kind[i]->type, 1);
    for (i = h->roots; i > 1; i--) {
        const haul_root moved = h->root[i - 1];
        j = random_below(&h->random, i);
        h->root[i - 1] = h->root[j];
        h->root[j] = moved;
    }
}

/* Nodes that are no roots and that nobody leads to are none of the graph's: so all are roots. */
TEST(ragged_objects, heaps_of_such_nodes_and_bytes_are_packed_as_they_lie)
{
    random_source random = random_start("ragged heaps");
    size_t round;
    for (round = 0; round < 60 / STEP; round++) {
        static heap h;
        memset(&h, 0, sizeof h);
        h.random = random_from(random_next(&random));
        kinds_start();
        heap_fill(&h, round % 3 == 0 ? 1 : 3, round % 3 == 2);
        if (h.roots + h.count > 300)
            h.count = 300 - h.roots;
        heap_link(&h);
        while (h.count < 300 && h.kind[h.count]) { /* left out above */
            memset(the.what + lab_offset(h.node[h.count]), OF_NOBODY, bytes_of(h.kind[h.count]));
            h.count++;
        }
        lab_pack_roots(h.root, h.roots);
        kinds_end();
    }
}

/* ---- Guards, directions, placements. */

TEST(ragged_objects, a_pointer_that_has_changed_is_noticed_and_named)
{
    size_t k;
    for (k = 0; k < COUNT_OF(kinds); k++) {
        const node_kind *kind = &kinds[k];
        const size_t at = MAP_BLOCK - kind->words / 2 * WORD - WORD;
        unsigned char *node, *other;
        kinds_start();
        node = node_at(at, kind);
        other = node_at(at + bytes_of(kind), kind);
        link_at(node, kind->first, other);
        link_at(other, kind->second, node);
        lab_pack(node, kind->type, 1);
        CHECK_STATUS(haul__verify(the.plan, NULL), HAUL_OK);
        link_at(other, kind->second, other);
        CHECK_STATUS(haul__verify(the.plan, NULL), HAUL_ERROR_STALE);
        CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap),
                     HAUL_ERROR_STALE);
        CHECK_HAS(haul_context_error(the.context)->path, "root");
        link_at(other, kind->second, node);
        CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_OK);
        kinds_end();
    }
}

/* The root's row leads to one that does not come back. */
TEST(ragged_objects,
     a_node_that_does_not_come_back_stays_and_its_neighbour_in_the_same_granule_does_not)
{
    size_t k, i;
    for (k = 0; k < COUNT_OF(kinds); k++) {
        const node_kind *kind = &kinds[k];
        const size_t bytes = bytes_of(kind), at = MAP_BLOCK - 3 * bytes - WORD;
        haul_field fields[1] = { HAUL_ADDRESS(link, to) };
        haul_root roots[2];
        unsigned char *node[6], *before;
        size_t offset[6];
        haul_type *type;
        link *root;
        kinds_start();
        fields[0].target = &kinds[k].type;
        fields[0].transfer = HAUL_COPYIN;
        type = type_open("root", sizeof *root, fields, 1);
        type_commit(type);
        root = take_at(3 * MAP_BLOCK, sizeof *root);
        for (i = 0; i < 6; i++)
            node[i] = node_at(at + i * bytes, kind);
        link_at(node[3], kind->first, node[5]);
        root->to = node[2];
        roots[0] = root_of(root, type, 1);
        roots[1] = root_of(node[3], kind->type, 1);
        lab_open_context(FLAT);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(roots, 2), NULL, &the.plan),
                     HAUL_OK);
        CHECK(kind->words % 2 == 0 || has_ragged_blocks());
        the.bytes = plan_bytes(the.plan);
        the.arena = lab_arena(the.bytes, GRANULE, 0xA5);
        the.bitmap = malloc(plan_bitmap_bytes(the.plan));
        CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_OK);
        for (i = 2; i < 6; i += i == 3 ? 2 : 1) {
            size_t byte;
            CHECK_STATUS(haul_plan_offset(the.plan, node[i], &offset[i]), HAUL_OK);
            for (byte = 0; byte < bytes; byte++)
                if (the.what[at + i * bytes + byte] == OF_DATA)
                    CHECK_EQ(the.arena[offset[i] + byte], node[i][byte]);
        }
        if (offset[2] %
            GRANULE) /* the rest of a granule of which node 1 would have the beginning */
            CHECK_EQ(the.arena[offset[2] - 1], 0);
        before = world_picture(&the.w);
        memset(the.arena + GRANULE, 0x77, the.bytes - GRANULE);
        CHECK_STATUS(haul_plan_unpack(the.plan, the.arena, the.bytes, 0), HAUL_OK);
        for (i = at + 3 * bytes; i < at + 6 * bytes; i++)
            if (the.what[i] == OF_DATA && (i < at + 4 * bytes || i >= at + 5 * bytes))
                before[i] = 0x77;
        CHECK_BYTES(the.memory, before, LAB_BYTES);
        free(before);
        haul_type_free(&type);
        kinds_end();
    }
}

/* 256 bytes at an alignment of as many, which begin with a pointer to a node. */
static haul_type *aligned_type(size_t kind)
{
    haul_field fields[1] = { HAUL_ADDRESS(link, to) };
    haul_type *type;
    fields[0].target = &kinds[kind].type;
    type = type_new(&(const haul_struct){ .name = "aligned",
                                          .bytes = 256,
                                          .fields = fields,
                                          .field_count = 1,
                                          .field_bytes = sizeof(haul_field),
                                          .alignment = 256 });
    type_commit(type);
    return type;
}

/* A neighbour that keeps its address modulo a page makes its unit go whole. */
TEST(ragged_objects, nodes_beside_an_object_with_a_larger_alignment_keep_their_words)
{
    size_t k;
    for (k = 0; k < COUNT_OF(kinds); k++) {
        const node_kind *kind = &kinds[k];
        const size_t bytes = bytes_of(kind);
        haul_root roots[2];
        haul_type *type;
        size_t i, at = MAP_BLOCK + 256;
        unsigned char *first = NULL;
        kinds_start();
        type = aligned_type(k);
        fill(take_at(MAP_BLOCK, 256), 256);
        for (i = 0; i < 9; i++, at += bytes + i % 2 * WORD) {
            unsigned char *node = node_at(at, kind);
            link_at(node, kind->first, first);
            first = node;
        }
        link_at(the.memory + MAP_BLOCK, 0, first);
        roots[0] = root_of(first, kind->type, 1);
        roots[1] = root_of(the.memory + MAP_BLOCK, type, 1);
        lab_pack_roots(roots, 2);
        lab_pack_roots(roots + 1, 1);
        haul_type_free(&type);
        kinds_end();
    }
}

/* The neighbour lies in the block before: the page of the nodes has a unit, and nothing but nodes.
 */
TEST(ragged_objects, nodes_behind_an_object_with_a_larger_alignment_keep_their_words)
{
    size_t k;
    for (k = 0; k < COUNT_OF(kinds); k++) {
        const node_kind *kind = &kinds[k];
        haul_root roots[2];
        haul_type *type;
        size_t i, at = MAP_BLOCK;
        unsigned char *first = NULL;
        kinds_start();
        type = aligned_type(k);
        fill(take_at(MAP_BLOCK - 256, 256), 256);
        for (i = 0; i < 9; i++, at += bytes_of(kind) + i % 2 * WORD) {
            unsigned char *node = node_at(at, kind);
            link_at(node, kind->first, first);
            first = node;
        }
        link_at(the.memory + MAP_BLOCK - 256, 0, first);
        roots[0] = root_of(first, kind->type, 1);
        roots[1] = root_of(the.memory + MAP_BLOCK - 256, type, 1);
        lab_pack_roots(roots, 2);
        CHECK(bytes_of(kind) % GRANULE == 0 || has_ragged_blocks());
        haul_type_free(&type);
        kinds_end();
    }
}

/* ---- Lists of one pointer a node, which have a loop of their own. */

enum { LINKS = 40 };

static haul_type *list_of(const node_kind *kind)
{
    haul_field to[1] = { HAUL_ADDRESS(link, to) };
    haul_type *type = NULL;
    to[0].offset = kind->first * WORD;
    to[0].target = &type;
    CHECK_STATUS(type_make("node", bytes_of(kind), to, 1, &type), HAUL_OK);
    type_commit(type);
    return type;
}

/* Nodes over the end of a block, in steps of `step` nodes through all of them. The last one leads
 * to the one `back` nodes before it, or nowhere (LINKS). */
static unsigned char *list_at(const node_kind *kind, size_t step, size_t back)
{
    unsigned char *node[LINKS];
    const size_t apart = (kind->words + step % 3) * WORD, begin = MAP_BLOCK - LINKS / 2 * apart;
    size_t i;
    for (i = 0; i < LINKS; i++) {
        node[i] = take_at(begin + i * apart, bytes_of(kind));
        fill(node[i], bytes_of(kind));
    }
    for (i = 0; i < LINKS; i++)
        link_at(node[i * step % LINKS], kind->first,
                i + 1 < LINKS  ? node[(i + 1) * step % LINKS]
                : back < LINKS ? node[(i - back) * step % LINKS]
                               : NULL);
    return node[0];
}

TEST(ragged_objects, a_list_is_found_whichever_way_it_runs_and_wherever_it_ends)
{
    static const size_t steps[] = { 1, 3, LINKS - 1 }, backs[] = { LINKS, 0, 1, LINKS - 1 };
    size_t k, s, b;
    for (k = 0; k < COUNT_OF(kinds); k++)
        for (s = 0; s < COUNT_OF(steps); s++)
            for (b = s; b < COUNT_OF(backs) && kinds[k].words < 128; b += STEP) {
                haul_type *type;
                lab_start();
                type = list_of(&kinds[k]);
                lab_pack(list_at(&kinds[k], steps[s], backs[b]), type, 1);
                CHECK_EQ(the.statistics.objects, LINKS);
                haul_type_free(&type);
                lab_end();
            }
}

TEST(ragged_objects, a_list_has_as_many_nodes_as_the_limit_allows_and_no_more)
{
    size_t k, limit;
    for (k = 0; k < SHORT_KINDS; k++)
        for (limit = LINKS - 1; limit <= LINKS; limit++) {
            haul_type *type;
            haul_plan *plan = NULL;
            haul_root root;
            lab_start();
            type = list_of(&kinds[k]);
            root = root_of(list_at(&kinds[k], 1, LINKS), type, 1);
            the.options.max_objects = limit;
            lab_open_context(FLAT);
            CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plan),
                         limit < LINKS ? HAUL_ERROR_LIMIT : HAUL_OK);
            haul_plan_free(&plan);
            haul_type_free(&type);
            lab_end();
        }
}

/* Three nodes that begin with their pointer, side by side, upwards or downwards, and a fourth one
 * that begins or ends a word within the third, or lies between two words. */
static void refuse_fourth(const node_kind *kind, size_t shift, int is_down, int is_odd)
{
    const size_t bytes = bytes_of(kind), middle = MAP_BLOCK / 2 + shift * WORD;
    haul_type *type;
    unsigned char *node[4];
    size_t i;
    lab_start();
    type = list_of(kind);
    for (i = 0; i < 3; i++) {
        node[i] = take_at(is_down ? middle - i * bytes : middle + i * bytes, bytes);
        fill(node[i], bytes);
    }
    node[3] = is_down ? node[2] - bytes : node[2] + bytes;
    take_at((size_t)(node[3] - the.memory), bytes + 1); /* readable if it is read */
    node[3] += is_odd ? 1 : is_down ? WORD : -(ptrdiff_t)WORD;
    for (i = 0; i < 3; i++)
        link_at(node[i], kind->first, node[i + 1]);
    lab_refuse(node[0], type, HAUL_ERROR_GRAPH, "root(.to)*3", is_odd ? "align" : "pointer");
    haul_type_free(&type);
    lab_end();
}

TEST(ragged_objects, a_list_that_leads_into_one_of_its_nodes_is_refused_with_the_path_G8)
{
    size_t k, shift;
    for (k = 0; k < SHORT_KINDS; k++)
        for (shift = 0; shift < 64; shift += 5 * STEP)
            if (kinds[k].first == 0)
                refuse_fourth(&kinds[k], shift, shift / 5 % 2 != 0, shift % 3 == 2);
}

/* ---- Many, as malloc lays them out: each behind a word of its own, at a multiple of a granule. */

static void check_bookkeeping(size_t bytes)
{
    const size_t count = 40000, apart = (bytes + WORD + GRANULE - 1) / GRANULE * GRANULE;
    haul_field fields[1] = { HAUL_ADDRESS(link, to) };
    haul_type *type = NULL;
    haul_context *context = NULL;
    haul_plan *plan = NULL;
    haul_plan_info told;
    haul_root root;
    unsigned char *all = malloc(count * apart), *node = all;
    size_t i;
    CHECK(all != NULL);
    memset(all, 1, count * apart);
    fields[0].target = &type;
    CHECK_STATUS(type_make("node", bytes, fields, 1, &type), HAUL_OK);
    type_commit(type);
    for (i = 0; i < count; i++, node += apart)
        ((link *)(void *)node)->to = i ? node - apart : NULL;
    root = root_of(node - apart, type, 1);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    haul_plan_get_info(plan, &told);
    CHECK_EQ(told.objects, count);
    CHECK_EQ(told.graph_bytes, count * bytes);
    if (sizeof(void *) == 8) {
        check_note("%zu bytes", bytes);
        CHECK(told.bookkeeping_bytes * 1000 <= told.graph_bytes * 45);
    }
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&type);
    free(all);
}

TEST(ragged_objects, bookkeeping_is_less_than_a_twentieth_for_nodes_of_any_natural_size)
{
    size_t bytes;
    for (bytes = 40; bytes <= 136; bytes += 8)
        check_bookkeeping(bytes);
}
