/* Ordered plans: the same graph gives the same bytes, wherever its objects lie.
 *
 * The lab (core_graphs.h) packs graphs of other suites in order. Here one graph is built many
 * times, with its objects in other orders, at other distances, side by side or in one granule, and
 * the results are compared.
 */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <time.h>

#include "core_graphs.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "haul/type_mpi.h"

/* ---- A graph of pieces that can lie anywhere. */

enum { SHELVES = 24, PIECES_MAX = 16 * SHELVES, HEAP_BYTES = 4 * BLOCK };

typedef struct point {
    double x, y;
} point;

#pragma pack(push, 1)
typedef struct packed {
    char kind;
    point *place;
    char tail[6];
} packed;
#pragma pack(pop)

typedef struct aligned {
    int64_t value[16];
} aligned;

typedef struct shelf {
    int32_t count, length;
    double *values; /* count of them */
    char *name;     /* at any address */
    packed *label;  /* at any address */
    int32_t *begin, *end, *room;
    int32_t *cursor; /* an alias: anywhere in what begin leads to, or its end */
    aligned *wide;
    uintptr_t tagged; /* to a name, its two low bits are free */
    int32_t *middle;  /* into the ints */
    struct shelf *next, *other;
    point *empty;     /* to `length` of them, which is 0 */
    int32_t distance; /* to the shelf's own point */
    int32_t hole;
    point own;
} shelf;

static haul_type *point_type, *packed_type, *aligned_type, *shelf_type;

static const haul_field packed_fields[] = { HAUL_OBJECT(packed, place, &point_type, .packed = 1) };
static const haul_field shelf_fields[] = {
    HAUL_ARRAY(shelf, values, HAUL_COUNT(shelf, count)),
    HAUL_STRING(shelf, name),
    HAUL_OBJECT(shelf, label, &packed_type),
    HAUL_ARRAY(shelf, begin, HAUL_UNTIL(shelf, end)),
    HAUL_ADDRESS(shelf, room, .ownership = HAUL_BORROWED),
    HAUL_ADDRESS(shelf, cursor, .ownership = HAUL_BORROWED),
    HAUL_OBJECT(shelf, wide, &aligned_type),
    HAUL_ADDRESS(shelf, tagged, .target = &point_type, .tag_bits = 3),
    HAUL_ARRAY(shelf, middle, HAUL_FIXED(2)),
    HAUL_OBJECT(shelf, next, &shelf_type),
    HAUL_OBJECT(shelf, other, &shelf_type),
    HAUL_OBJECTS(shelf, empty, &point_type, HAUL_COUNT(shelf, length)),
    HAUL_RELATIVE(shelf, distance, .element_bytes = 1, .count = HAUL_FIXED(16)),
    HAUL_SKIP(shelf, hole),
};

static void shelf_open(void)
{
    point_type = type_open("point", sizeof(point), NULL, 0);
    packed_type = TYPE_OPEN(packed, packed_fields);
    aligned_type = type_new(
        &(const haul_struct){ .name = "aligned", .bytes = sizeof(aligned), .alignment = 64 });
    shelf_type = TYPE_OPEN(shelf, shelf_fields);
    type_commit(shelf_type);
}

static void shelf_close(void)
{
    haul_type_free(&shelf_type);
    haul_type_free(&aligned_type);
    haul_type_free(&packed_type);
    haul_type_free(&point_type);
}

typedef struct piece {
    size_t bytes, alignment;
    unsigned char *at;
} piece;

typedef struct heap {
    unsigned char *memory;
    piece pieces[PIECES_MAX];
    size_t count, next;
} heap;

static void want(heap *h, size_t bytes, size_t alignment)
{
    CHECK(h->count < PIECES_MAX);
    h->pieces[h->count].bytes = bytes;
    h->pieces[h->count++].alignment = alignment;
}

static int length_of_name(int i)
{
    return i * 5 % 23;
}

/* Every piece of the graph, in the order in which build takes them. */
static void want_all(heap *h)
{
    int i;
    h->count = h->next = 0;
    for (i = 0; i < SHELVES; i++) {
        want(h, sizeof(shelf), sizeof(void *));
        want(h, (size_t)(i % 5) * sizeof(double), sizeof(double));
        want(h, (size_t)length_of_name(i) + 1, 1);
        want(h, sizeof(packed), 1);
        want(h, (size_t)(4 + i % 3) * sizeof(int32_t), sizeof(int32_t));
        want(h, sizeof(aligned), 64);
        want(h, sizeof(point), sizeof(double));
    }
}

/* Puts them somewhere: in any order, with or without room between them. */
static void scatter(heap *h, random_source *random)
{
    size_t order[PIECES_MAX], i, at = random_below(random, 300);
    const size_t gap = random_one_in(random, 3) ? 0 : random_between(random, 1, 40);
    for (i = 0; i < h->count; i++) {
        const size_t other = random_below(random, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    memset(h->memory, 0xC5, HEAP_BYTES);
    for (i = 0; i < h->count; i++) {
        piece *p = &h->pieces[order[i]];
        at = (at + p->alignment - 1) / p->alignment * p->alignment;
        p->at = h->memory + at;
        CHECK(at + p->bytes <= HEAP_BYTES);
        memset(p->at, 0, p->bytes);
        at += p->bytes + (gap ? random_below(random, gap) : 0);
    }
}

static void *next_piece(heap *h)
{
    return h->pieces[h->next++].at;
}

static void fill_shelf(heap *h, shelf *s, shelf **all, int i)
{
    const int ints = 4 + i % 3;
    point *place;
    int k;
    s->count = i % 5;
    s->values = next_piece(h);
    for (k = 0; k < s->count; k++)
        s->values[k] = i + 0.5 * k;
    s->name = next_piece(h);
    memset(s->name, 'a' + i, (size_t)length_of_name(i));
    s->label = next_piece(h);
    s->label->kind = (char)i;
    memcpy(s->label->tail, "label", 6);
    s->begin = next_piece(h);
    for (k = 0; k < ints; k++)
        s->begin[k] = 1000 * i + k;
    s->end = s->room = s->begin + ints;
    s->cursor = i % 4 ? s->begin + i % 4 : s->end;
    s->middle = s->begin + 1;
    s->wide = next_piece(h);
    s->wide->value[15] = i;
    place = next_piece(h);
    place->y = -i;
    memcpy(&s->label->place, &place, sizeof place);
    s->tagged = (uintptr_t)place | (uintptr_t)(i % 4);
    if (!s->count)
        s->values = NULL;
    s->own.x = 3.5 * i;
    s->distance = (int32_t)((intptr_t)&s->own - (intptr_t)&s->distance);
    s->hole = (int32_t)(uintptr_t)s;
    s->next = i + 1 < SHELVES ? all[i + 1] : all[0];
    s->other = i * 7 % 3 ? all[i * 11 % SHELVES] : NULL;
    s->empty = NULL;
}

static shelf *build(heap *h, random_source *random)
{
    shelf *all[SHELVES];
    int i;
    want_all(h);
    scatter(h, random);
    for (i = 0; i < SHELVES; i++)
        all[i] = (shelf *)(void *)h->pieces[i * (int)(h->count / SHELVES)].at;
    for (i = 0; i < SHELVES; i++) {
        h->next++;
        fill_shelf(h, all[i], all, i);
    }
    return all[0];
}

/* ---- Packing. */

typedef struct packing {
    haul_context *context;
    haul_plan *plan;
    unsigned char *arena;
    uint64_t *bitmap;
    size_t bytes, bitmap_bytes, alignment;
} packing;

static void pack_in_order(packing *p, haul_context *context, const haul_root *roots, size_t count,
                          uint64_t base)
{
    memset(p, 0, sizeof *p);
    p->context = context;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(roots, count), ORDERED, &p->plan),
                 HAUL_OK);
    p->bytes = plan_bytes(p->plan);
    p->bitmap_bytes = plan_bitmap_bytes(p->plan);
    p->alignment = plan_alignment(p->plan);
    p->arena = lab_arena(p->bytes, p->alignment, 0x99);
    p->bitmap = lab_arena(p->bitmap_bytes, 8, 0x99);
    CHECK_STATUS(haul_plan_pack(p->plan, p->arena, p->bytes, base, p->bitmap), HAUL_OK);
}

static void pack_drop(packing *p)
{
    haul_plan_free(&p->plan);
    free(p->arena);
    free(p->bitmap);
}

static haul_context *new_context(int checked)
{
    haul_context_options options;
    haul_context *context;
    memset(&options, 0, sizeof options);
    options.checked = checked;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    return context;
}

static haul_root root_of(void *address, const haul_type *type)
{
    haul_root root;
    root.address = address;
    root.type = type;
    root.count = 1;
    return root;
}

static void check_same_packing(const packing *a, const packing *b)
{
    CHECK_EQ(a->bytes, b->bytes);
    CHECK_EQ(a->alignment, b->alignment);
    CHECK_BYTES(a->arena, b->arena, a->bytes);
    CHECK_BYTES(a->bitmap, b->bitmap, a->bitmap_bytes);
}

/* What base 0 leaves out (off-grid pointers with tags, say) is seen at a base. */
TEST(ordered, the_same_graph_gives_the_same_bytes_wherever_its_objects_lie)
{
    random_source random = random_start("ordered graphs");
    haul_context *context = new_context(0);
    packing first, again;
    heap *h = calloc(1, sizeof *h);
    int round;
    CHECK(h != NULL && posix_memalign((void **)&h->memory, 64, HEAP_BYTES) == 0);
    shelf_open();
    memset(&first, 0, sizeof first);
    for (round = 0; round < 60; round++) {
        const uint64_t base = round % 2 ? 0 : 0x1230000;
        haul_root root = root_of(build(h, &random), shelf_type);
        check_note("round %d", round);
        pack_in_order(&again, context, &root, 1, 0);
        if (round == 0)
            first = again;
        check_same_packing(&first, &again);
        if (base) {
            packing based;
            pack_in_order(&based, context, &root, 1, base);
            CHECK_STATUS(haul_plan_relocate(again.arena, again.bytes, again.bitmap, base), HAUL_OK);
            CHECK_BYTES(again.bitmap, based.bitmap, based.bitmap_bytes);
            pack_drop(&based);
        }
        if (round == 0)
            CHECK_STATUS(haul_plan_pack(first.plan, first.arena, first.bytes, 0, first.bitmap),
                         HAUL_OK);
        if (round > 0)
            pack_drop(&again);
    }
    check_note(NULL);
    pack_drop(&first);
    shelf_close();
    haul_context_free(&context);
    free(h->memory);
    free(h);
}

/* The copy, packed for where it lies, is walked as the source is. */
TEST(ordered, the_copy_is_the_graph)
{
    random_source random = random_start("ordered copies");
    haul_context *context = new_context(1);
    heap *h = calloc(1, sizeof *h);
    int round, i;
    CHECK(h != NULL && posix_memalign((void **)&h->memory, 64, HEAP_BYTES) == 0);
    shelf_open();
    for (round = 0; round < 20; round++) {
        shelf *s = build(h, &random);
        const shelf *copy;
        haul_root root = root_of(s, shelf_type);
        packing p;
        size_t offset;
        pack_in_order(&p, context, &root, 1, 0);
        CHECK_STATUS(haul_plan_pack(p.plan, p.arena, p.bytes, (uint64_t)(uintptr_t)p.arena, NULL),
                     HAUL_OK);
        CHECK_STATUS(haul_plan_offset(p.plan, s, &offset), HAUL_OK);
        copy = (const shelf *)(const void *)(p.arena + offset);
        for (i = 0; i < SHELVES; i++, s = s->next, copy = copy->next) {
            point *place;
            check_note("round %d, shelf %d", round, i);
            CHECK_STATUS(haul_plan_offset(p.plan, s, &offset), HAUL_OK);
            CHECK_PTR(copy, p.arena + offset);
            CHECK_EQ(copy->count, s->count);
            if (s->count)
                CHECK_BYTES(copy->values, s->values, (size_t)s->count * sizeof(double));
            CHECK_STR(copy->name, s->name);
            CHECK_BYTES(copy->label->tail, "label", 6);
            CHECK_EQ(copy->end - copy->begin, s->end - s->begin);
            CHECK_PTR(copy->room, copy->end);
            CHECK_EQ(copy->cursor - copy->begin, s->cursor - s->begin);
            CHECK_PTR(copy->middle, copy->begin + 1);
            CHECK_BYTES(copy->begin, s->begin, (size_t)(s->end - s->begin) * sizeof(int32_t));
            CHECK_EQ((uintptr_t)copy->wide % 64, 0);
            CHECK_EQ(copy->wide->value[15], s->wide->value[15]);
            memcpy(&place, &copy->label->place, sizeof place);
            CHECK_EQ((uintptr_t)place % sizeof(double), 0);
            CHECK_EQ(copy->tagged, (uintptr_t)place | (uintptr_t)(i % 4));
            CHECK(copy->other == NULL ? s->other == NULL : copy->other->own.x == s->other->own.x);
            CHECK_EQ(copy->distance, s->distance);
            CHECK_EQ(copy->hole, 0);
        }
        check_note(NULL);
        pack_drop(&p);
    }
    shelf_close();
    haul_context_free(&context);
    free(h->memory);
    free(h);
}

/* ---- Objects that are marked in line. */

enum { TWIGS = 400, TWIG_ROOM = 8 * TWIGS };

typedef struct leaf {
    int64_t value[2];
} leaf;

/* As large as a leaf, and aligned above a word; the two may be one object. */
typedef struct bud {
    leaf begins;
} bud;

typedef struct twig {
    struct twig *left, *right;
    char *name;
    int32_t *counts; /* `count` of them */
    int32_t count, leaves;
    leaf *leaf;
    bud *bud;
    struct twig **others; /* `leaves` of them */
    leaf *row;            /* the same */
} twig;

static haul_type *leaf_type, *bud_type, *twig_type;
static const haul_field bud_fields[] = { HAUL_EMBED(bud, begins, &leaf_type) };
static const haul_field twig_fields[] = {
    HAUL_OBJECT(twig, left, &twig_type),
    HAUL_OBJECT(twig, right, &twig_type),
    HAUL_STRING(twig, name),
    HAUL_ARRAY(twig, counts, HAUL_COUNT(twig, count)),
    HAUL_OBJECT(twig, leaf, &leaf_type),
    HAUL_OBJECT(twig, bud, &bud_type),
    HAUL_POINTERS(twig, others, &twig_type, HAUL_COUNT(twig, leaves)),
    HAUL_OBJECTS(twig, row, &leaf_type, HAUL_COUNT(twig, leaves)),
};

/* A piece of memory: blocks of it are taken in the order in which the seed puts them. */
static void *twig_piece(void **pieces, random_source *random, size_t *left)
{
    const size_t i = random_below(random, *left);
    void *taken = pieces[i];
    pieces[i] = pieces[--*left];
    return taken;
}

/* The same graph each time, of which the seed chooses the addresses alone. */
static twig *build_twigs(unsigned char *memory, random_source *random)
{
    static void *pieces[TWIG_ROOM], *large[TWIGS];
    static twig *all[TWIGS];
    const size_t gap = random_below(random, 3) * 8 + 112;
    size_t left = TWIG_ROOM, large_left = TWIGS, i, k;
    for (i = 0; i < TWIG_ROOM; i++)
        pieces[i] = memory + i * 48;
    for (i = 0; i < TWIGS; i++)
        large[i] = memory + TWIG_ROOM * 48 + i * gap;
    for (i = 0; i < TWIGS; i++)
        all[i] = twig_piece(large, random, &large_left);
    for (i = 0; i < TWIGS; i++) {
        twig *t = all[i];
        memset(t, 0, sizeof *t);
        t->left = i % 7 ? all[(i * 13 + 1) % TWIGS] : NULL;
        t->right = all[(i + 1) % TWIGS];
        t->count = (int32_t)(i % 4);
        t->leaves = (int32_t)(i % 3);
        t->name = i % 5 == 4 ? all[i - 1]->name + 1 : twig_piece(pieces, random, &left);
        if (i % 5 != 4) {
            memset(t->name, 'a' + (int)(i % 26), 2 + i % 30);
            t->name[2 + i % 30] = 0;
        }
        if (t->count)
            t->counts = twig_piece(pieces, random, &left);
        for (k = 0; k < (size_t)t->count; k++)
            t->counts[k] = (int32_t)(i * 10 + k);
        t->leaf = twig_piece(pieces, random, &left);
        t->leaf->value[0] = t->leaf->value[1] = (int64_t)i;
        t->bud = i % 2 ? (bud *)t->leaf : twig_piece(pieces, random, &left);
        t->bud->begins.value[0] = t->bud->begins.value[1] = -(int64_t)i;
        if (t->leaves) {
            t->others = twig_piece(pieces, random, &left);
            t->row = twig_piece(pieces, random, &left);
        }
        for (k = 0; k < (size_t)t->leaves; k++) {
            t->others[k] = all[(i * 31 + k * 57) % TWIGS];
            t->row[k].value[0] = t->row[k].value[1] = (int64_t)k;
        }
    }
    return all[0];
}

/* The checked walk records; the other marks in line. */
TEST(ordered, both_walks_give_the_same_bytes_wherever_simple_objects_lie)
{
    random_source random = random_start("ordered twigs");
    haul_context *context[2];
    packing first;
    unsigned char *memory;
    int round, i;
    CHECK(posix_memalign((void **)&memory, 64, (size_t)TWIG_ROOM * 48 + TWIGS * 128) == 0);
    leaf_type = type_open("leaf", sizeof(leaf), NULL, 0);
    bud_type = type_new(&(const haul_struct){ .name = "bud",
                                              .bytes = sizeof(bud),
                                              .alignment = 16,
                                              .fields = bud_fields,
                                              .field_count = 1,
                                              .field_bytes = sizeof(haul_field) });
    twig_type = TYPE_OPEN(twig, twig_fields);
    type_commit(twig_type);
    for (i = 0; i < 2; i++)
        context[i] = new_context(i);
    for (round = 0; round < 12; round++) {
        const haul_root root = root_of(build_twigs(memory, &random), twig_type);
        check_note("round %d", round);
        for (i = 0; i < 2; i++) {
            packing again;
            pack_in_order(&again, context[i], &root, 1, 0);
            if (round == 0 && i == 0) {
                first = again;
                continue;
            }
            check_same_packing(&first, &again);
            pack_drop(&again);
        }
        if (round == 0)
            haul_plan_free(&first.plan); /* its graph goes; the bytes stay */
    }
    check_note(NULL);
    pack_drop(&first);
    for (i = 0; i < 2; i++)
        haul_context_free(&context[i]);
    haul_type_free(&twig_type);
    haul_type_free(&bud_type);
    haul_type_free(&leaf_type);
    free(memory);
}

/* ---- Order. */

typedef struct node {
    struct node *left, *right;
    int64_t value;
} node;

static haul_type *node_type;

static void node_open(void)
{
    static const haul_field fields[] = { HAUL_OBJECT(node, left, &node_type),
                                         HAUL_OBJECT(node, right, &node_type) };
    node_type = TYPE_OPEN(node, fields);
    type_commit(node_type);
}

static size_t place_in(const haul_plan *plan, const void *address)
{
    size_t offset = 0;
    CHECK_STATUS(haul_plan_offset(plan, address, &offset), HAUL_OK);
    return offset;
}

/* A heap in an array: element i has the children 2 i + 1 and 2 i + 2, so breadth first is the order
 * of the numbers.
 */
TEST(ordered, objects_lie_breadth_first)
{
    enum { COUNT = 1000 };
    haul_context *context = new_context(0);
    node *all[COUNT], *memory = calloc(COUNT, sizeof *memory);
    haul_root root;
    packing p;
    size_t i;
    node_open();
    for (i = 0; i < COUNT; i++)
        all[i] = &memory[i * 377 % COUNT];
    for (i = 0; i < COUNT; i++) {
        all[i]->left = 2 * i + 1 < COUNT ? all[2 * i + 1] : NULL;
        all[i]->right = 2 * i + 2 < COUNT ? all[2 * i + 2] : NULL;
    }
    root = root_of(all[0], node_type);
    pack_in_order(&p, context, &root, 1, 0);
    CHECK_EQ(place_in(p.plan, all[0]), GRANULE);
    for (i = 1; i < COUNT; i++)
        CHECK_EQ(place_in(p.plan, all[i]) - place_in(p.plan, all[i - 1]),
                 (sizeof(node) + GRANULE - 1) / GRANULE * GRANULE);
    pack_drop(&p);
    haul_type_free(&node_type);
    haul_context_free(&context);
    free(memory);
}

/* Addresses are sorted by digits of 11 bits, from the lowest one in which they differ. Here they
 * differ in the fifth and sixth bit, and from the 27th on: the second digit is the same in all. */
TEST(ordered, objects_that_lie_far_apart_at_like_places_are_sorted_G10)
{
    enum { FAR = 1 << 26 };
    haul_context *context = new_context(0);
    unsigned char *memory = malloc((size_t)3 * FAR), *base;
    node *n[4];
    haul_root root;
    packing p;
    size_t i;
    CHECK(memory != NULL);
    base = memory + (FAR - (uintptr_t)memory % FAR);
    for (i = 0; i < 4; i++)
        n[i] = (node *)(void *)(base + (i % 2 ? 0 : FAR) + (i / 2 ? 48 : 0));
    node_open();
    for (i = 0; i < 4; i++) {
        n[i]->left = i < 3 ? n[i + 1] : NULL;
        n[i]->right = n[0];
        n[i]->value = (int64_t)i;
    }
    root = root_of(n[0], node_type);
    pack_in_order(&p, context, &root, 1, 0);
    for (i = 0; i < 4; i++) {
        const size_t place = place_in(p.plan, n[i]);
        CHECK_EQ(place, GRANULE + i * ((sizeof(node) + GRANULE - 1) / GRANULE * GRANULE));
        CHECK_EQ(((const node *)(const void *)(p.arena + place))->value, i);
    }
    pack_drop(&p);
    haul_type_free(&node_type);
    haul_context_free(&context);
    free(memory);
}

typedef struct sack {
    double *values;
    int64_t count;
} sack;

typedef struct cart {
    sack *first;
    node *second;
} cart;

/* In the order in which the former object names them: the values before the node's child. */
TEST(ordered, what_an_array_holds_comes_before_what_a_later_object_leads_to)
{
    static haul_type *sack_type, *cart_type;
    static const haul_field sack_fields[] = { HAUL_ARRAY(sack, values, HAUL_COUNT(sack, count)) };
    static const haul_field cart_fields[] = { HAUL_OBJECT(cart, first, &sack_type),
                                              HAUL_OBJECT(cart, second, &node_type) };
    haul_context *context = new_context(0);
    double values[3] = { 1, 2, 3 };
    sack one = { values, 3 };
    node nodes[2] = { { &nodes[1], NULL, 1 }, { NULL, NULL, 2 } };
    cart c = { &one, &nodes[0] };
    haul_root root;
    packing p;
    node_open();
    sack_type = TYPE_OPEN(sack, sack_fields);
    cart_type = TYPE_OPEN(cart, cart_fields);
    type_commit(cart_type);
    root = root_of(&c, cart_type);
    pack_in_order(&p, context, &root, 1, 0);
    CHECK(place_in(p.plan, &one) < place_in(p.plan, &nodes[0]));
    CHECK(place_in(p.plan, &nodes[0]) < place_in(p.plan, values));
    CHECK(place_in(p.plan, values) < place_in(p.plan, &nodes[1]));
    CHECK_BYTES(p.arena + place_in(p.plan, values), values, sizeof values);
    pack_drop(&p);
    haul_type_free(&cart_type);
    haul_type_free(&sack_type);
    haul_type_free(&node_type);
    haul_context_free(&context);
}

TEST(ordered, roots_come_one_after_the_other)
{
    haul_context *context = new_context(0);
    node n[4];
    haul_root roots[2];
    packing p;
    node_open();
    memset(n, 0, sizeof n);
    n[3].left = &n[1];
    n[0].left = &n[1];
    n[0].right = &n[2];
    roots[0] = root_of(&n[3], node_type);
    roots[1] = root_of(&n[0], node_type);
    pack_in_order(&p, context, roots, 2, 0);
    CHECK(place_in(p.plan, &n[3]) < place_in(p.plan, &n[1]));
    CHECK(place_in(p.plan, &n[1]) < place_in(p.plan, &n[0]));
    CHECK(place_in(p.plan, &n[0]) < place_in(p.plan, &n[2]));
    pack_drop(&p);
    haul_type_free(&node_type);
    haul_context_free(&context);
}

TEST(ordered, a_graph_without_bytes_has_an_ordered_plan)
{
    static const haul_plan_options in_order = { .ordered = 1 };
    haul_type *number, *nothing;
    double d = 1;
    haul_plan *plan;
    haul_plan_info info;
    CHECK_STATUS(haul_type_bytes(type_context(), "double", 8, &number), HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(0, number, &nothing), HAUL_OK);
    CHECK_STATUS(haul_type_commit(nothing), HAUL_OK);
    CHECK_STATUS(haul_plan_create(type_context(), haul_from_object(&d, nothing), &in_order, &plan),
                 HAUL_OK);
    haul_plan_get_info(plan, &info);
    CHECK_EQ(info.graph_bytes, 0);
    haul_plan_free(&plan);
    haul_type_free(&nothing);
    haul_type_free(&number);
}

/* ---- What stays together, and what does not. */

typedef struct slices {
    int32_t *b, *a, *whole; /* the latter 2, the former 2, and the 4 that these are */
} slices;

/* When the whole is found, all its bytes are known. */
TEST(ordered, objects_that_a_later_one_covers_stay_side_by_side_G10)
{
    static const haul_field fields[] = { HAUL_ARRAY(slices, b, HAUL_FIXED(2)),
                                         HAUL_ARRAY(slices, a, HAUL_FIXED(2)),
                                         HAUL_ARRAY(slices, whole, HAUL_FIXED(4)) };
    static const haul_field torn_fields[] = { HAUL_ARRAY(slices, b, HAUL_FIXED(2)),
                                              HAUL_ARRAY(slices, a, HAUL_FIXED(2)),
                                              HAUL_ARRAY(slices, whole, HAUL_FIXED(2)) };
    haul_type *type = TYPE_OPEN(slices, fields), *torn = TYPE_OPEN(slices, torn_fields);
    haul_context *context = new_context(0);
    int32_t ints[4] = { 1, 2, 3, 4 };
    slices s = { ints + 2, ints, ints };
    haul_root root;
    packing p;
    type_commit(type);
    type_commit(torn);
    root = root_of(&s, type);
    pack_in_order(&p, context, &root, 1, 0);
    CHECK_EQ(place_in(p.plan, ints + 2) - place_in(p.plan, ints), 8);
    pack_drop(&p);
    root = root_of(&s, torn);
    pack_in_order(&p, context, &root, 1, 0);
    CHECK(place_in(p.plan, ints + 2) < place_in(p.plan, ints)); /* side by side is chance */
    pack_drop(&p);
    haul_type_free(&type);
    haul_type_free(&torn);
    haul_context_free(&context);
}

typedef struct ends {
    int32_t *next; /* 2 of them, behind those that begin leads to */
    int32_t *begin, *end, *alias;
    int32_t count;
    int32_t *left; /* count of them: none */
} ends;

static const haul_field ends_fields[] = {
    HAUL_ARRAY(ends, next, HAUL_FIXED(2)),
    HAUL_ARRAY(ends, begin, HAUL_UNTIL(ends, end)),
    HAUL_ADDRESS(ends, alias, .ownership = HAUL_BORROWED),
    HAUL_ARRAY(ends, left, HAUL_COUNT(ends, count)),
};

TEST(ordered, an_end_is_an_end_though_something_else_begins_there)
{
    haul_type *type = TYPE_OPEN(ends, ends_fields);
    haul_context *context = new_context(0);
    int32_t ints[5] = { 1, 2, 3, 4, 5 };
    ends e = { ints + 3, ints, ints + 3, ints + 3, 0, ints + 3 };
    const ends *copy;
    haul_root root = root_of(&e, type);
    packing p;
    type_commit(type);
    pack_in_order(&p, context, &root, 1, 0);
    CHECK_STATUS(haul_plan_pack(p.plan, p.arena, p.bytes, (uint64_t)(uintptr_t)p.arena, NULL),
                 HAUL_OK);
    copy = (const ends *)(const void *)(p.arena + place_in(p.plan, &e));
    CHECK_PTR(copy->end, copy->begin + 3);
    CHECK_PTR(copy->alias, copy->begin + 3);
    CHECK_PTR(copy->left, copy->begin + 3);
    CHECK(copy->next < copy->begin);
    CHECK_EQ(copy->next[0], 4);
    CHECK_EQ(place_in(p.plan, ints + 3), (size_t)((const unsigned char *)copy->next - p.arena));
    pack_drop(&p);
    haul_type_free(&type);
    haul_context_free(&context);
}

typedef struct pair {
    int32_t *begin, *end;
} pair;

typedef struct pairs {
    int32_t *values, *next;
    pair pair[16];
} pairs;

typedef struct two_views {
    pair **alone;
    struct two_views *later;
    pairs *together;
} two_views;

static haul_type *pair_type, *pairs_type, *views_type;

/* Each pair is visited by itself, and then as a part of what leads into the former of the two
 * objects. */
TEST(ordered,
     begin_and_end_of_a_pair_of_nothing_stay_together_where_one_object_ends_and_another_begins)
{
    static const haul_field pair_fields[] = { HAUL_ARRAY(pair, begin, HAUL_UNTIL(pair, end)) };
    static const haul_field pairs_fields[] = { HAUL_ARRAY(pairs, values, HAUL_FIXED(3)),
                                               HAUL_ARRAY(pairs, next, HAUL_FIXED(2)),
                                               HAUL_EMBED(pairs, pair, &pair_type) };
    static const haul_field views_fields[] = {
        HAUL_POINTERS(two_views, alone, &pair_type, HAUL_FIXED(16)),
        HAUL_OBJECT(two_views, later, &views_type), HAUL_OBJECT(two_views, together, &pairs_type)
    };
    haul_context *context = new_context(0);
    int32_t ints[5] = { 1, 2, 3, 4, 5 };
    pairs all;
    pair *alone[16];
    two_views later = { alone, NULL, &all }, views = { alone, &later, NULL };
    const pairs *copy;
    haul_root root;
    packing p;
    size_t i;
    all.values = ints;
    all.next = ints + 3;
    for (i = 0; i < 16; i++) {
        all.pair[i].begin = all.pair[i].end = ints + 3;
        alone[i] = &all.pair[i];
    }
    pair_type = TYPE_OPEN(pair, pair_fields);
    pairs_type = TYPE_OPEN(pairs, pairs_fields);
    views_type = TYPE_OPEN(two_views, views_fields);
    type_commit(views_type);
    root = root_of(&views, views_type);
    pack_in_order(&p, context, &root, 1, 0);
    CHECK_STATUS(haul_plan_pack(p.plan, p.arena, p.bytes, (uint64_t)(uintptr_t)p.arena, NULL),
                 HAUL_OK);
    copy = (const pairs *)(const void *)(p.arena + place_in(p.plan, &all));
    CHECK(copy->next != copy->values + 3);
    for (i = 0; i < 16; i++) {
        CHECK_PTR(copy->pair[i].begin, copy->values + 3);
        CHECK_PTR(copy->pair[i].end, copy->values + 3);
    }
    pack_drop(&p);
    haul_type_free(&views_type);
    haul_type_free(&pairs_type);
    haul_type_free(&pair_type);
    haul_context_free(&context);
}

typedef struct stub {
    intptr_t distance, count;
    struct stub *next;
    intptr_t more;
} stub;

static haul_type *stub_type;

/* To the end of the first, in the middle of a granule, and where in the copy the second begins. */
TEST(ordered, a_distance_to_no_elements_that_becomes_0_by_chance_is_null_wherever_its_target_ends)
{
    static const haul_field fields[] = { HAUL_RELATIVE(stub, distance, .element_bytes = 8,
                                                       .count = HAUL_COUNT(stub, count)),
                                         HAUL_OBJECT(stub, next, &stub_type) };
    haul_context *context = new_context(0);
    stub *stubs = calloc(4, sizeof *stubs), *first, *second;
    haul_root root;
    packing p;
    CHECK(stubs != NULL);
    first = (stub *)(void *)((unsigned char *)stubs + sizeof(void *));
    second = first + 2;
    first->next = second;
    second->distance = (intptr_t)((uintptr_t)(first + 1) - (uintptr_t)second);
    stub_type = TYPE_OPEN(stub, fields);
    type_commit(stub_type);
    root = root_of(first, stub_type);
    pack_in_order(&p, context, &root, 1, 0);
    CHECK_EQ(place_in(p.plan, second), place_in(p.plan, first) + sizeof *first);
    CHECK_EQ(((const stub *)(const void *)(p.arena + place_in(p.plan, second)))->distance, 0);
    pack_drop(&p);
    haul_type_free(&stub_type);
    haul_context_free(&context);
    free(stubs);
}

TEST(ordered, a_declared_alignment_is_kept_and_asked_of_the_arena)
{
    static const haul_field fields[] = { HAUL_OBJECT(shelf, wide, &aligned_type),
                                         HAUL_STRING(shelf, name) };
    haul_context *context = new_context(0);
    haul_type *type;
    shelf s;
    haul_root root;
    packing p;
    void *page = NULL;
    CHECK(posix_memalign(&page, 4096, sizeof(aligned)) == 0);
    memset(page, 7, sizeof(aligned));
    memset(&s, 0, sizeof s);
    s.wide = page;
    s.name = (char *)(void *)&s.own; /* within the shelf: its bytes stay where they are */
    aligned_type = type_new(
        &(const haul_struct){ .name = "aligned", .bytes = sizeof(aligned), .alignment = 64 });
    type = TYPE_OPEN(shelf, fields);
    type_commit(type);
    root = root_of(&s, type);
    pack_in_order(&p, context, &root, 1, 0);
    CHECK_EQ(p.alignment, 64);
    CHECK_EQ(place_in(p.plan, page) % 64, 0);
    CHECK_EQ(place_in(p.plan, s.name) - place_in(p.plan, &s), offsetof(shelf, own));
    pack_drop(&p);
    haul_type_free(&type);
    haul_type_free(&aligned_type);
    haul_context_free(&context);
    free(page);
}

typedef struct constructed {
    unsigned char *mixed;
} constructed;

/* Its extent is no multiple of it: elements of an array of such objects could not all have it. */
TEST(ordered, a_declared_alignment_is_kept_in_a_constructed_type_too)
{
    static const size_t lengths[] = { 1, 1 }, places[] = { 0, sizeof(aligned) };
    static haul_type *mixed_type;
    static const haul_field fields[] = { HAUL_ADDRESS(constructed, mixed, .target = &mixed_type) };
    haul_context *context = new_context(0);
    haul_type *type, *types[2];
    constructed c;
    haul_root root;
    packing p;
    void *page = NULL;
    CHECK(posix_memalign(&page, 4096, sizeof(aligned) + sizeof(point)) == 0);
    c.mixed = memset(page, 7, sizeof(aligned) + sizeof(point));
    types[0] = aligned_type = type_new(
        &(const haul_struct){ .name = "aligned", .bytes = sizeof(aligned), .alignment = 64 });
    types[1] = point_type = type_open("point", sizeof(point), NULL, 0);
    CHECK_STATUS(haul_type_create_struct(2, lengths, places, types, &mixed_type), HAUL_OK);
    type = TYPE_OPEN(constructed, fields);
    type_commit(type);
    root = root_of(&c, type);
    pack_in_order(&p, context, &root, 1, 0);
    CHECK_EQ(p.alignment, 64);
    CHECK_EQ(place_in(p.plan, c.mixed) % 64, 0);
    pack_drop(&p);
    haul_type_free(&type);
    haul_type_free(&mixed_type);
    haul_type_free(&aligned_type);
    haul_type_free(&point_type);
    haul_context_free(&context);
    free(page);
}

/* ---- Contents, and what has changed. */

TEST(ordered, contents_come_back_and_a_changed_pointer_is_stale_C3)
{
    haul_context *context = new_context(0);
    node n[3];
    haul_root root = root_of(&n[0], NULL);
    packing p;
    int64_t value = 77;
    node_open();
    memset(n, 0, sizeof n);
    n[0].left = &n[2];
    n[0].right = &n[1];
    root.type = node_type;
    pack_in_order(&p, context, &root, 1, 0);
    memcpy(p.arena + place_in(p.plan, &n[1].value), &value, sizeof value);
    CHECK_STATUS(haul_plan_unpack(p.plan, p.arena, p.bytes, 0), HAUL_OK);
    CHECK_EQ(n[1].value, 77);
    CHECK_PTR(n[0].right, &n[1]);
    n[2].left = &n[1];
    CHECK_STATUS(haul_plan_pack(p.plan, p.arena, p.bytes, 0, p.bitmap), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(context)->path, "root");
    n[2].left = NULL;
    CHECK_STATUS(haul_plan_pack(p.plan, p.arena, p.bytes, 0, p.bitmap), HAUL_OK);
    pack_drop(&p);
    haul_type_free(&node_type);
    haul_context_free(&context);
}

TEST(ordered, wrong_graphs_are_refused_with_their_path_G1)
{
    haul_context *context = new_context(0);
    node n[2];
    haul_root root = root_of(&n[0], NULL);
    haul_plan *plan = (haul_plan *)(void *)n;
    node_open();
    memset(n, 0, sizeof n);
    n[0].right = (node *)(void *)((unsigned char *)&n[1] + 1);
    root.type = node_type;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), ORDERED, &plan),
                 HAUL_ERROR_GRAPH);
    CHECK_PTR(plan, NULL);
    CHECK_STR(haul_context_error(context)->path, "root.right");
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), ORDERED, NULL),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(NULL, 0), ORDERED, &plan),
                 HAUL_ERROR_ARGUMENT);
    haul_type_free(&node_type);
    haul_context_free(&context);
}

/* ---- Memory and size. */

static haul_context *faulty;
static heap *faulty_heap;
static shelf *faulty_root;

static void prepare_faults(void *user, fault_plan *plan)
{
    random_source random = random_from(7);
    (void)user;
    faulty_heap = calloc(1, sizeof *faulty_heap);
    CHECK(faulty_heap && posix_memalign((void **)&faulty_heap->memory, 64, HEAP_BYTES) == 0);
    shelf_open();
    faulty_root = build(faulty_heap, &random);
    CHECK_STATUS(fault_open_context(plan, NULL, &faulty), HAUL_OK);
}

static haul_status plan_pack_unpack(void *user)
{
    haul_root root = root_of(faulty_root, shelf_type);
    haul_plan *plan;
    haul_status status = haul_plan_create(faulty, haul_from_roots(&root, 1), ORDERED, &plan);
    unsigned char *arena;
    (void)user;
    if (status != HAUL_OK) {
        CHECK_PTR(plan, NULL);
        return status;
    }
    arena = lab_arena(plan_bytes(plan), plan_alignment(plan), 0);
    status = haul_plan_pack(plan, arena, plan_bytes(plan), 4096, NULL);
    if (status == HAUL_OK)
        status = haul_plan_unpack(plan, arena, plan_bytes(plan), 0);
    CHECK_EQ(haul_context_error(faulty)->status, status);
    haul_plan_free(&plan);
    free(arena);
    return status;
}

static void finish_faults(void *user)
{
    (void)user;
    haul_context_free(&faulty);
    shelf_close();
    free(faulty_heap->memory);
    free(faulty_heap);
}

TEST(ordered, every_allocation_fails_once_and_from_then_on_H1_H2)
{
    fault_operation operation;
    memset(&operation, 0, sizeof operation);
    operation.prepare = prepare_faults;
    operation.run = plan_pack_unpack;
    operation.finish = finish_faults;
    operation.modes = 1u << FAULT_ONCE | 1u << FAULT_FROM;
    CHECK(fault_everywhere(&operation) > 40);
}

enum { MANY = 1000000 };

typedef struct long_run {
    node *first;
    haul_status status;
    double seconds;
} long_run;

static void *pack_long(void *argument)
{
    long_run *run = argument;
    haul_context *context = new_context(0);
    haul_root root = root_of(run->first, node_type);
    struct timespec start, end;
    haul_plan *plan;
    void *arena;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    run->status = haul_plan_create(context, haul_from_roots(&root, 1), ORDERED, &plan);
    if (run->status == HAUL_OK) {
        arena = lab_arena(plan_bytes(plan), GRANULE, 0);
        run->status = haul_plan_pack(plan, arena, plan_bytes(plan), 4096, NULL);
        if (run->status == HAUL_OK)
            run->status = haul_plan_unpack(plan, arena, plan_bytes(plan), 0);
        free(arena);
        haul_plan_free(&plan);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    run->seconds =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    haul_context_free(&context);
    return NULL;
}

TEST(ordered, a_list_of_a_million_nodes_packs_on_a_stack_of_64_KiB_G14)
{
    node *memory = calloc(MANY, sizeof *memory);
    pthread_attr_t attributes;
    pthread_t thread;
    long_run run;
    size_t i;
    CHECK(memory != NULL);
    node_open();
    for (i = 0; i < MANY; i++)
        memory[i * 7919 % MANY].left = i + 1 < MANY ? &memory[(i + 1) * 7919 % MANY] : NULL;
    run.first = memory;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, SMALL_STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, pack_long, &run) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
    CHECK_STATUS(run.status, HAUL_OK);
    CHECK(run.seconds < 20);
    haul_type_free(&node_type);
    free(memory);
}
