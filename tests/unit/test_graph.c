/* Graphs of every form: what is reached, how much of it, and what the copy holds.
 *
 * Each graph goes through lab_pack (core_graphs.h), which checks every byte. The tests here check
 * what is particular to each: the numbers of objects and bytes, and the targets of pointers.
 *
 * Faults by number (docs/testing.md): G9-G13, G16, G18, G20, G25-G27, C8.
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"
#include "support/short_forms.h"
#include "support/types.h"

typedef struct node {
    struct node *left, *right;
    int64_t value;
} node;

static haul_type *node_type;

static void node_start(void)
{
    static const haul_field fields[] = { HAUL_OBJECT(node, left, &node_type),
                                         HAUL_OBJECT(node, right, &node_type) };
    lab_start();
    node_type = TYPE_OPEN(node, fields);
    type_commit(node_type);
}

static void node_end(void)
{
    haul_type_free(&node_type);
    lab_end();
}

static node *node_make(void)
{
    node *n = take(sizeof *n, sizeof(void *));
    points(&n->left);
    points(&n->right);
    n->value = (int64_t)lab_offset(n);
    return n;
}

/* The word of the arena that a pointer in the source became. */
static size_t packed(const void *place)
{
    return word_at(the.arena + offset_of(place));
}

/* ---- Cycles, sharing, null. */

TEST(graph, a_single_object_without_pointers_set_is_copied)
{
    node *n;
    node_start();
    n = node_make();
    lab_pack(n, node_type, 1);
    CHECK_EQ(the.statistics.objects, 1);
    CHECK_EQ(the.statistics.pointers, 2);
    CHECK_EQ(the.statistics.null_pointers, 2);
    CHECK_EQ(the.statistics.graph_bytes, sizeof(node));
    node_end();
}

TEST(graph, an_object_that_points_to_itself_is_found_once_G13)
{
    node *n;
    node_start();
    n = node_make();
    n->left = n->right = n;
    lab_pack(n, node_type, 1);
    CHECK_EQ(the.statistics.objects, 1);
    CHECK_EQ(packed(&n->left), offset_of(n));
    node_end();
}

TEST(graph, two_objects_that_point_to_each_other_are_found_once_G13)
{
    node *a, *b;
    node_start();
    a = node_make();
    take(40, 1);
    memset(the.what + lab_offset(a + 1), OF_NOBODY, 40);
    b = node_make();
    a->left = b;
    b->right = a;
    lab_pack(b, node_type, 1);
    CHECK_EQ(the.statistics.objects, 2);
    CHECK_EQ(packed(&a->left), offset_of(b));
    CHECK_EQ(packed(&b->right), offset_of(a));
    node_end();
}

typedef struct ring {
    int32_t count;
    struct ring **members;
} ring;

static haul_type *ring_type;

TEST(graph, a_cycle_through_an_element_of_an_array_is_found_once_G13)
{
    static const haul_field fields[] = { HAUL_POINTERS(ring, members, &ring_type,
                                                       HAUL_COUNT(ring, count)) };
    ring *r;
    int32_t i;
    lab_start();
    ring_type = TYPE_OPEN(ring, fields);
    type_commit(ring_type);
    r = take(3 * sizeof *r, sizeof(void *));
    for (i = 0; i < 3; i++) {
        points(&r[i].members);
        r[i].count = 2;
        r[i].members = take(2 * sizeof(ring *), sizeof(void *));
        points(&r[i].members[0]);
        points(&r[i].members[1]);
        r[i].members[0] = &r[(i + 1) % 3];
        r[i].members[1] = i ? &r[i] : NULL;
    }
    lab_pack(r, ring_type, 1);
    CHECK_EQ(the.statistics.pointers, 9);
    CHECK_EQ(the.statistics.null_pointers, 1);
    CHECK_EQ(the.statistics.graph_bytes, 3 * (sizeof(ring) + 2 * sizeof(void *)));
    haul_type_free(&ring_type);
    lab_end();
}

TEST(graph, a_diamond_of_sixty_levels_is_walked_once_for_each_object_G16)
{
    node *all[61];
    int i;
    node_start();
    for (i = 0; i < 61; i++)
        all[i] = node_make();
    for (i = 0; i < 60; i++)
        all[i]->left = all[i]->right = all[i + 1];
    lab_pack(all[0], node_type, 1);
    CHECK_EQ(the.statistics.objects, 61);
    CHECK_EQ(the.statistics.graph_bytes, 61 * sizeof(node));
    node_end();
}

TEST(graph, several_roots_share_what_they_reach)
{
    haul_root roots[3];
    node *a, *b, *c;
    node_start();
    a = node_make();
    b = node_make();
    c = node_make();
    a->left = c;
    b->left = c;
    roots[0].address = a;
    roots[1].address = b;
    roots[2].address = a;
    roots[0].type = roots[1].type = roots[2].type = node_type;
    roots[0].count = roots[1].count = 1;
    roots[2].count = 2; /* a and b once more, as an array */
    lab_pack_roots(roots, 3);
    CHECK_EQ(the.statistics.graph_bytes, 3 * sizeof(node));
    CHECK_EQ(packed(&a->left), packed(&b->left));
    node_end();
}

TEST(graph, what_no_root_reaches_stays_at_home)
{
    node *a, *lonely;
    size_t offset;
    node_start();
    a = node_make();
    lonely = node_make();
    lonely->left = a;
    memset(the.what + lab_offset(lonely), OF_NOBODY, sizeof *lonely);
    lab_pack(a, node_type, 1);
    CHECK_STATUS(haul_plan_offset(the.plan, &lonely->right, &offset), HAUL_ERROR_ARGUMENT);
    CHECK_EQ(the.statistics.graph_bytes, sizeof(node));
    node_end();
}

/* ---- Aliases, interior pointers, overlaps. */

typedef struct views {
    char *a, *b, *c;
    int32_t na, nb, nc;
} views;

static haul_type *views_type;

static views *views_start(const haul_field *fields, size_t count)
{
    views *v;
    lab_start();
    views_type = type_open("views", sizeof(views), fields, count);
    type_commit(views_type);
    v = take(sizeof *v, sizeof(void *));
    points(&v->a);
    points(&v->b);
    points(&v->c);
    return v;
}

static void views_end(void)
{
    haul_type_free(&views_type);
    lab_end();
}

static const haul_field views_abc[] = { HAUL_ARRAY(views, a, HAUL_COUNT(views, na)),
                                        HAUL_ARRAY(views, b, HAUL_COUNT(views, nb)),
                                        HAUL_ARRAY(views, c, HAUL_COUNT(views, nc)) };

TEST(graph, of_one_address_with_two_lengths_the_larger_wins_in_any_order_G9)
{
    int32_t order[6][3] = { { 5, 50, 500 }, { 5, 500, 50 }, { 50, 5, 500 },
                            { 50, 500, 5 }, { 500, 5, 50 }, { 500, 50, 5 } };
    unsigned char *first = NULL;
    int i;
    for (i = 0; i < 6; i++) {
        views *v = views_start(views_abc, 3);
        v->na = order[i][0];
        v->nb = order[i][1];
        v->nc = order[i][2];
        v->a = v->b = v->c = take(500, 1);
        fill(v->a, 500);
        lab_pack(v, views_type, 1);
        CHECK_EQ(the.statistics.graph_bytes, sizeof(views) + 500);
        CHECK_EQ(packed(&v->a), packed(&v->c));
        if (first)
            CHECK_BYTES(first, the.arena + offset_of(v->a), 500);
        else
            first = memcpy(lab_arena(500, 16, 0), the.arena + offset_of(v->a), 500);
        views_end();
    }
    free(first);
}

TEST(graph, large_extents_of_one_address_and_two_lengths_too_G9)
{
    int turn;
    for (turn = 0; turn < 2; turn++) {
        views *v = views_start(views_abc, 3);
        v->a = v->b = v->c = take(3 * BLOCK, PAGE);
        v->na = turn ? 3 * BLOCK : PAGE;
        v->nb = PAGE + 1;
        v->nc = turn ? PAGE : 3 * BLOCK;
        fill(v->a, 3 * BLOCK);
        lab_pack(v, views_type, 1);
        CHECK_EQ(the.statistics.graph_bytes, sizeof(views) + 3 * BLOCK);
        views_end();
    }
}

TEST(graph, ranges_that_overlap_become_one_G10)
{
    views *v = views_start(views_abc, 3);
    v->a = take(150, 16);
    fill(v->a, 150);
    v->b = v->a + 50;
    v->na = v->nb = 100;
    lab_pack(v, views_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof(views) + 150);
    CHECK_EQ(packed(&v->b), packed(&v->a) + 50);
    views_end();
}

TEST(graph, three_ranges_overlap_in_any_order_G10)
{
    int turn;
    for (turn = 0; turn < 3; turn++) {
        views *v = views_start(views_abc, 3);
        char *all = take(1000, 1);
        fill(all, 1000);
        v->a = all + (turn == 0 ? 0 : turn == 1 ? 301 : 650);
        v->b = all + (turn == 0 ? 301 : turn == 1 ? 650 : 0);
        v->c = all + (turn == 0 ? 650 : turn == 1 ? 0 : 301);
        v->na = v->nb = v->nc = 350;
        lab_pack(v, views_type, 1);
        CHECK_EQ(the.statistics.graph_bytes, sizeof(views) + 1000);
        views_end();
    }
}

TEST(graph, adjacent_ranges_stay_adjacent)
{
    views *v = views_start(views_abc, 3);
    v->a = take(33, 16);
    v->b = take(31, 1);
    v->c = take(7, 1);
    v->na = 33;
    v->nb = 31;
    v->nc = 7;
    fill(v->a, 71);
    lab_pack(v, views_type, 1);
    CHECK_EQ(packed(&v->b), packed(&v->a) + 33);
    CHECK_EQ(packed(&v->c), packed(&v->b) + 31);
    views_end();
}

TEST(graph, a_pointer_into_the_middle_keeps_its_distance_G11)
{
    views *v = views_start(views_abc, 3);
    v->a = take(100, 16);
    fill(v->a, 100);
    v->na = 100;
    v->b = v->a + 37;
    v->nb = 1;
    v->c = (char *)&v->na + 1; /* into the struct that holds it */
    v->nc = 2;
    lab_pack(v, views_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof(views) + 100);
    CHECK_EQ(packed(&v->b), packed(&v->a) + 37);
    CHECK_EQ(packed(&v->c), offset_of(v) + offsetof(views, na) + 1);
    views_end();
}

typedef struct cursor {
    node *at;
    node **place;
} cursor;

static haul_type *cursor_type;

TEST(graph, a_pointer_to_a_pointer_inside_another_object_leads_there_G11)
{
    static const haul_field fields[] = { HAUL_OBJECT(cursor, at, &node_type),
                                         HAUL_POINTERS(cursor, place, &node_type, HAUL_FIXED(1)) };
    haul_type *other;
    cursor *c;
    node *a, *b;
    node_start();
    cursor_type = TYPE_OPEN(cursor, fields);
    type_commit(cursor_type);
    CHECK_STATUS(haul_type_dup(cursor_type, &other), HAUL_OK);
    c = take(sizeof *c, sizeof(void *));
    points(&c->at);
    points(&c->place);
    a = node_make();
    b = node_make();
    c->at = a;
    a->right = b;
    c->place = &a->right;
    lab_pack(c, cursor_type, 1);
    CHECK_EQ(the.statistics.pointers, 6);
    CHECK_EQ(packed(&c->place), offset_of(&a->right));
    c->at = NULL; /* only the word itself is of the graph now, and what it leads to */
    memset(the.what + lab_offset(a), OF_NOBODY, sizeof *a);
    points(&a->right);
    lab_pack(c, cursor_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof(cursor) + sizeof(void *) + sizeof(node));
    haul_type_free(&other);
    haul_type_free(&cursor_type);
    node_end();
}

TEST(graph, an_element_reached_before_its_array_is_found_once_G11)
{
    static const haul_field fields[] = { HAUL_OBJECT(cursor, at, &node_type),
                                         HAUL_ADDRESS(cursor, place, .target = &node_type,
                                                      .count = HAUL_FIXED(9)) };
    cursor *c;
    node *all;
    int i, element;
    for (element = 0; element < 9; element += 4) {
        node_start();
        cursor_type = TYPE_OPEN(cursor, fields);
        type_commit(cursor_type);
        c = take(sizeof *c, sizeof(void *));
        points(&c->at);
        points(&c->place);
        all = node_make();
        for (i = 1; i < 9; i++)
            node_make();
        all[8].left = &all[3];
        all[4].right = &all[4];
        c->at = all + element;
        c->place = (node **)(void *)all;
        lab_pack(c, cursor_type, 1);
        CHECK_EQ(the.statistics.graph_bytes, sizeof(cursor) + 9 * sizeof(node));
        CHECK_EQ(the.statistics.pointers, 20);
        CHECK_EQ(the.statistics.null_pointers, 16);
        haul_type_free(&cursor_type);
        node_end();
    }
}

/* A struct and its first member at one address (G12). */

typedef struct inner {
    char *name;
    int64_t key;
} inner;

typedef struct outer {
    inner head;
    inner *friend;
    struct outer *next;
} outer;

static haul_type *inner_type, *outer_type;

static outer *outer_start(void)
{
    static const haul_field inner_fields[] = { HAUL_STRING(inner, name) };
    static const haul_field outer_fields[] = { HAUL_EMBED(outer, head, &inner_type),
                                               HAUL_OBJECT(outer, friend, &inner_type),
                                               HAUL_OBJECT(outer, next, &outer_type) };
    outer *o;
    lab_start();
    inner_type = TYPE_OPEN(inner, inner_fields);
    outer_type = TYPE_OPEN(outer, outer_fields);
    type_commit(outer_type);
    o = take(2 * sizeof *o, sizeof(void *));
    points(&o[0].head.name);
    points(&o[0].friend);
    points(&o[0].next);
    points(&o[1].head.name);
    points(&o[1].friend);
    points(&o[1].next);
    return o;
}

static void outer_end(void)
{
    haul_type_free(&outer_type);
    haul_type_free(&inner_type);
    lab_end();
}

TEST(graph, a_pointer_to_the_first_member_and_one_to_the_whole_agree_G12)
{
    outer *o = outer_start();
    o[0].head.name = text("both");
    o[0].friend = &o[0].head; /* the whole first, then the member */
    o[0].next = &o[1];
    o[1].friend = &o[1].head;
    lab_pack(o, outer_type, 1);
    CHECK_EQ(packed(&o[0].friend), offset_of(o));
    CHECK_EQ(the.statistics.graph_bytes, 2 * sizeof(outer) + 5);
    outer_end();
}

TEST(graph, the_member_first_and_then_the_whole_agree_as_well_G12)
{
    haul_root roots[2];
    outer *o = outer_start();
    o[0].next = o[1].next = &o[0];
    o[0].friend = &o[1].head;
    roots[0].address = o;
    roots[0].type = inner_type;
    roots[0].count = 1;
    roots[1].address = o + 1;
    roots[1].type = outer_type;
    roots[1].count = 1;
    lab_pack_roots(roots, 2);
    CHECK_EQ(the.statistics.graph_bytes, 2 * sizeof(outer));
    outer_end();
}

/* ---- Counts of any width and sign. */

typedef struct counted {
    int8_t s8;
    uint8_t u8;
    int16_t s16;
    uint16_t u16;
    int32_t s32;
    uint32_t u32;
    int64_t s64;
    uint64_t u64;
    char *at[8];
    char *end;
    int32_t *many;
} counted;

static haul_type *counted_type;

static counted *counted_start(const haul_field *fields, size_t count)
{
    counted *c;
    int i;
    lab_start();
    counted_type = type_open("counted", sizeof(counted), fields, count);
    type_commit(counted_type);
    c = take(sizeof *c, sizeof(int64_t) > sizeof(void *) ? sizeof(int64_t) : sizeof(void *));
    for (i = 0; i < 8; i++)
        points(&c->at[i]);
    points(&c->end);
    points(&c->many);
    return c;
}

static void counted_end(void)
{
    haul_type_free(&counted_type);
    lab_end();
}

/* at[i], which no macro of the library knows by itself. */
#define AT(i, ...)                                                                                 \
    {                                                                                              \
        .name = "at" #i, .kind = HAUL_FIELD_POINTER, .offset = offsetof(counted, at[i]),           \
        .bytes = sizeof(char *), .element_bytes = 1, .count = __VA_ARGS__                          \
    }

static void rest_is_data(counted *c, int first)
{
    memset(the.what + lab_offset(&c->at[first]), OF_DATA,
           sizeof *c - offsetof(counted, at) - (size_t)first * WORD);
}

TEST(graph, counts_are_read_in_any_width_and_sign)
{
    static const haul_field fields[] = {
        AT(0, HAUL_COUNT(counted, s8)),  AT(1, HAUL_COUNT(counted, u8)),
        AT(2, HAUL_COUNT(counted, s16)), AT(3, HAUL_COUNT(counted, u16)),
        AT(4, HAUL_COUNT(counted, s32)), AT(5, HAUL_COUNT(counted, u32)),
        AT(6, HAUL_COUNT(counted, s64)), AT(7, HAUL_COUNT(counted, u64)),
    };
    counted *c = counted_start(fields, COUNT_OF(fields));
    size_t bytes[8] = { 127, 255, 300, 50000, 7, 3, 1, 12 }, all = 0;
    int i;
    c->s8 = 127;
    c->u8 = 255;
    c->s16 = 300;
    c->u16 = 50000;
    c->s32 = 7;
    c->u32 = 3;
    c->s64 = 1;
    c->u64 = 12;
    for (i = 0; i < 8; i++) {
        all += bytes[i];
        c->at[i] = take(bytes[i], 1);
        fill(c->at[i], bytes[i]);
    }
    memset(the.what + lab_offset(&c->end), OF_DATA, 2 * WORD);
    lab_pack(c, counted_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof(counted) + all);
    CHECK_EQ(the.statistics.pointers, 8);
    CHECK_EQ(the.statistics.objects, 9);
    counted_end();
}

TEST(graph, the_largest_and_smallest_counts_that_are_none_are_no_error)
{
    static const haul_field fields[] = {
        AT(0, HAUL_COUNT(counted, u16)),
    };
    counted *c = counted_start(fields, COUNT_OF(fields));
    rest_is_data(c, 1);
    c->u16 = 65535;
    c->at[0] = take(65535, 1);
    lab_pack(c, counted_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof(counted) + 65535);
    counted_end();
}

typedef struct block {
    int32_t n, m;
    int16_t l;
    double *values;
    float *plus;
    int16_t *times;
    char *fixed;
    double *volume;
} block;

static haul_type *block_type;

TEST(graph, counts_are_sums_and_products_of_fields)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(block, values, HAUL_COUNT(block, n, m)),
        HAUL_ARRAY(block, plus, HAUL_COUNT_PLUS(block, n, 1)),
        HAUL_ARRAY(block, times, HAUL_COUNT_TIMES(block, m, 3)),
        HAUL_ARRAY(block, fixed, HAUL_FIXED(13)),
        HAUL_ARRAY(block, volume, HAUL_COUNT(block, n, m, l)),
    };
    block *b;
    lab_start();
    block_type = TYPE_OPEN(block, fields);
    type_commit(block_type);
    b = take(sizeof *b, sizeof(double));
    b->n = 3;
    b->m = 5;
    b->l = 2;
    points(&b->values);
    points(&b->plus);
    points(&b->times);
    points(&b->fixed);
    points(&b->volume);
    b->values = take(15 * sizeof(double), sizeof(double));
    b->plus = take(4 * sizeof(float), sizeof(float));
    b->times = take(15 * sizeof(int16_t), sizeof(int16_t));
    b->fixed = take(13, 1);
    b->volume = take(30 * sizeof(double), sizeof(double));
    fill(b->fixed, 13);
    lab_pack(b, block_type, 1);
    CHECK_EQ(the.statistics.graph_bytes,
             sizeof *b + 45 * sizeof(double) + 4 * sizeof(float) + 30 + 13);
    haul_type_free(&block_type);
    lab_end();
}

TEST(graph, a_count_of_n_minus_one_may_be_none)
{
    static const haul_field fields[] = { HAUL_ARRAY(views, a, HAUL_COUNT_PLUS(views, na, -1)) };
    views *v = views_start(fields, 1);
    memset(the.what + lab_offset(&v->b), OF_DATA, 2 * WORD);
    v->na = 1;
    lab_pack(v, views_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *v);
    v->na = 6;
    v->a = take(5, 1);
    fill(v->a, 5);
    lab_pack(v, views_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *v + 5);
    views_end();
}

/* ---- From begin to end. */

TEST(graph, a_range_from_begin_to_end_travels_with_its_end)
{
    static const haul_field fields[] = { HAUL_ARRAY(views, a, HAUL_UNTIL(views, b)) };
    views *v = views_start(fields, 1);
    memset(the.what + lab_offset(&v->c), OF_DATA, WORD);
    v->a = take(21, 8);
    fill(v->a, 21);
    v->b = v->a + 21;
    lab_pack(v, views_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *v + 21);
    CHECK_EQ(the.statistics.pointers, 2);
    CHECK_EQ(packed(&v->b), packed(&v->a) + 21);
    views_end();
}

typedef struct span {
    node *first, *last;
} span;

static haul_type *span_type;

TEST(graph, objects_from_begin_to_end_are_all_visited)
{
    static const haul_field fields[] = { HAUL_OBJECTS(span, first, &node_type,
                                                      HAUL_UNTIL(span, last)) };
    span *s;
    node *n, *far;
    node_start();
    span_type = TYPE_OPEN(span, fields);
    type_commit(span_type);
    s = take(sizeof *s, sizeof(void *));
    points(&s->first);
    points(&s->last);
    n = node_make();
    node_make();
    node_make();
    the.used += PAGE;
    far = node_make();
    n[2].left = far;
    s->first = n;
    s->last = n + 3;
    lab_pack(s, span_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *s + 4 * sizeof(node));
    CHECK_EQ(packed(&s->last), offset_of(n) + 3 * sizeof(node));
    s->last = s->first;
    memset(the.what + lab_offset(n), OF_NOBODY, 3 * sizeof(node));
    memset(the.what + lab_offset(far), OF_NOBODY, sizeof(node));
    lab_pack(s, span_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *s);
    s->first = s->last = NULL;
    lab_pack(s, span_type, 1);
    CHECK_EQ(the.statistics.null_pointers, 2);
    haul_type_free(&span_type);
    node_end();
}

/* ---- Terminators. */

typedef struct words {
    char *narrow;
    uint16_t *wide;
    uint32_t *wider;
    int64_t *numbers;
    int8_t *small;
} words;

static haul_type *words_type;

static words *words_start(const haul_field *fields, size_t count)
{
    words *w;
    lab_start();
    words_type = type_open("words", sizeof(words), fields, count);
    type_commit(words_type);
    w = take(sizeof *w, sizeof(void *));
    points(&w->narrow);
    points(&w->wide);
    points(&w->wider);
    points(&w->numbers);
    points(&w->small);
    return w;
}

static void words_end(void)
{
    haul_type_free(&words_type);
    lab_end();
}

TEST(graph, strings_of_any_character_width_end_with_their_zero)
{
    static const haul_field fields[] = { HAUL_STRING(words, narrow), HAUL_STRING(words, wide),
                                         HAUL_STRING(words, wider),
                                         HAUL_ARRAY(words, numbers, HAUL_TERMINATED),
                                         HAUL_ARRAY(words, small, HAUL_TERMINATED) };
    words *w = words_start(fields, COUNT_OF(fields));
    w->narrow = text("a string");
    w->wide = take(4 * sizeof(uint16_t), sizeof(uint16_t));
    w->wide[0] = 0x0100; /* a byte that is 0 is no end */
    w->wide[1] = 0x0001;
    w->wide[2] = 0xFF00;
    w->wider = take(3 * sizeof(uint32_t), sizeof(uint32_t));
    w->wider[0] = 0x10000;
    w->wider[1] = 1;
    w->numbers = take(3 * sizeof(int64_t), sizeof(int64_t));
    w->numbers[0] = INT64_MIN;
    w->numbers[1] = (int64_t)1 << 32;
    w->small = take(2, 1);
    w->small[0] = -1;
    lab_pack(w, words_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *w + 9 + 8 + 12 + 24 + 2);
    CHECK_EQ(the.statistics.objects, 6);
    words_end();
}

TEST(graph, a_long_array_with_a_sentinel_that_two_objects_share_is_found_once)
{
    static const haul_field fields[] = { HAUL_ARRAY(words, numbers, HAUL_TERMINATED_BY(-1)) };
    enum { MANY = 600 };
    words *w = words_start(fields, COUNT_OF(fields)), *second = take(sizeof *w, sizeof(void *));
    haul_root roots[2];
    int i;
    memset(w, 0, sizeof *w);
    memset(the.what + lab_offset(w), OF_DATA, sizeof *w);
    points(&w->numbers);
    points(&second->numbers);
    w->numbers = take(MANY * sizeof *w->numbers, sizeof(int64_t));
    for (i = 0; i < MANY; i++)
        w->numbers[i] = i == MANY - 1 ? -1 : i;
    *second = *w;
    roots[0].address = w;
    roots[1].address = second;
    roots[0].type = roots[1].type = words_type;
    roots[0].count = roots[1].count = 1;
    lab_pack_roots(roots, 2);
    CHECK_EQ(the.statistics.graph_bytes, 2 * sizeof *w + MANY * sizeof *w->numbers);
    words_end();
}

TEST(graph, a_string_within_one_of_another_width_or_end_has_an_end_of_its_own)
{
    static const haul_field fields[] = { HAUL_STRING(words, narrow), HAUL_STRING(words, wide),
                                         HAUL_ARRAY(words, small, HAUL_TERMINATED_BY('z')) };
    enum { ALL = 51 };
    words *w[3];
    haul_root roots[3];
    char *all;
    int i;
    w[0] = words_start(fields, COUNT_OF(fields));
    w[1] = take(sizeof *w[1], sizeof(void *));
    w[2] = take(sizeof *w[2], sizeof(void *));
    for (i = 0; i < 3; i++) {
        memset(w[i], 0, sizeof *w[i]);
        memset(the.what + lab_offset(w[i]), OF_DATA, sizeof *w[i]);
        points(&w[i]->narrow), points(&w[i]->wide), points(&w[i]->small);
        roots[i].address = w[i];
        roots[i].type = words_type;
        roots[i].count = 1;
    }
    all = memset(take(ALL, sizeof(uint16_t)), 'a', ALL);
    memset(all + 39, 0, 3);
    all[ALL - 1] = 'z';
    w[0]->narrow = all;                         /* to byte 39 */
    w[0]->wide = (uint16_t *)(void *)(all + 2); /* to bytes 40 and 41 */
    w[1]->wide = (uint16_t *)(void *)(all + 3); /* to bytes 39 and 40 */
    w[2]->narrow = all + 1;
    w[2]->small = (int8_t *)all + 3; /* to the end */
    lab_pack_roots(roots, 3);
    CHECK_EQ(the.statistics.graph_bytes, 3 * sizeof(words) + ALL);
    words_end();
}

TEST(graph, empty_strings_are_one_zero_and_null_ones_are_nothing)
{
    static const haul_field fields[] = { HAUL_STRING(words, narrow), HAUL_STRING(words, wide),
                                         HAUL_STRING(words, wider),
                                         HAUL_ARRAY(words, numbers, HAUL_TERMINATED_BY(-1)),
                                         HAUL_ARRAY(words, small, HAUL_TERMINATED) };
    words *w = words_start(fields, COUNT_OF(fields));
    w->narrow = text("");
    w->wide = take(sizeof(uint16_t), sizeof(uint16_t));
    lab_pack(w, words_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *w + 3);
    CHECK_EQ(the.statistics.null_pointers, 3);
    words_end();
}

TEST(graph, sentinels_of_any_width_end_an_array_negative_ones_too)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(words, narrow, HAUL_TERMINATED_BY('\n')),
        HAUL_ARRAY(words, wide, HAUL_TERMINATED_BY(0xFFFF)),
        HAUL_ARRAY(words, wider, HAUL_TERMINATED_BY(-2)),
        HAUL_ARRAY(words, numbers, HAUL_TERMINATED_BY(-1)),
        HAUL_ARRAY(words, small, HAUL_TERMINATED_BY(-128)),
    };
    words *w = words_start(fields, COUNT_OF(fields));
    w->narrow = memcpy(take(6, 1), "line\0\n", 6);
    w->wide = take(3 * sizeof(uint16_t), sizeof(uint16_t));
    w->wide[1] = 0x7FFF;
    w->wide[2] = 0xFFFF;
    w->wider = take(2 * sizeof(uint32_t), sizeof(uint32_t));
    w->wider[1] = UINT32_MAX - 1;
    w->numbers = take(3 * sizeof(int64_t), sizeof(int64_t));
    w->numbers[0] = 0xFFFFFFFF;
    w->numbers[1] = -2;
    w->numbers[2] = -1;
    w->small = take(3, 1);
    w->small[0] = 127;
    w->small[2] = -128;
    lab_pack(w, words_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *w + 6 + 6 + 8 + 24 + 3);
    words_end();
}

TEST(graph, a_sentinel_above_the_signed_range_ends_an_array_of_bytes)
{
    static const haul_field fields[] = { HAUL_ARRAY(words, small, HAUL_TERMINATED_BY(255)),
                                         HAUL_ARRAY(words, narrow, HAUL_TERMINATED_BY(200)) };
    words *w = words_start(fields, COUNT_OF(fields));
    memset(the.what + lab_offset(&w->wide), OF_DATA, 3 * WORD);
    w->small = take(3, 1);
    w->small[2] = -1;
    w->narrow = take(2, 1);
    memset(w->narrow + 1, 200, 1);
    lab_pack(w, words_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *w + 3 + 2);
    words_end();
}

typedef struct list_of {
    node **all;
    char **names;
    int32_t count;
} list_of;

static haul_type *list_type;

static list_of *list_start(const haul_field *fields, size_t count)
{
    list_of *l;
    node_start();
    list_type = type_open("list_of", sizeof(list_of), fields, count);
    type_commit(list_type);
    l = take(sizeof *l, sizeof(void *));
    points(&l->all);
    points(&l->names);
    return l;
}

static void list_end(void)
{
    haul_type_free(&list_type);
    node_end();
}

static void *pointers_make(size_t count)
{
    char **all = take(count * sizeof *all, sizeof *all);
    size_t i;
    for (i = 0; i < count; i++)
        points(&all[i]);
    return all;
}

TEST(graph, an_array_of_pointers_ends_with_the_null_pointer)
{
    static const haul_field fields[] = { HAUL_POINTERS(list_of, all, &node_type, HAUL_TERMINATED),
                                         HAUL_STRINGS(list_of, names, HAUL_TERMINATED) };
    list_of *l = list_start(fields, 2);
    l->all = pointers_make(4);
    l->all[0] = node_make();
    l->all[1] = l->all[0];
    l->all[2] = node_make();
    l->names = pointers_make(3);
    l->names[0] = text("one");
    l->names[1] = text("");
    lab_pack(l, list_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *l + 7 * sizeof(void *) + 2 * sizeof(node) + 5);
    CHECK_EQ(packed(&l->all[0]), packed(&l->all[1]));
    list_end();
}

TEST(graph, counted_arrays_of_pointers_may_hold_nulls)
{
    static const haul_field fields[] = { HAUL_POINTERS(list_of, all, &node_type,
                                                       HAUL_COUNT(list_of, count)),
                                         HAUL_STRINGS(list_of, names, HAUL_COUNT(list_of, count)) };
    list_of *l = list_start(fields, 2);
    int i;
    l->count = 40;
    l->all = pointers_make(40);
    l->names = pointers_make(40);
    for (i = 0; i < 40; i += 3) {
        l->all[i] = node_make();
        l->all[i]->left = l->all[i / 6 * 3];
        l->names[39 - i] = text("name");
    }
    lab_pack(l, list_type, 1);
    CHECK_EQ(the.statistics.graph_bytes,
             sizeof *l + 80 * sizeof(void *) + 14 * sizeof(node) + 14 * 5);
    list_end();
}

/* ---- Callbacks. */

typedef struct told {
    size_t calls, wrong;
    const void *self, *root;
    char *target[3];
    haul_context *context;
    haul_plan *plan; /* of that context */
    haul_status inside;
} told;

static told heard;

HAUL_FUNCTION(product, views, self->na * self->nb)

static int64_t listen(const haul_here *here)
{
    heard.calls++;
    if (here->argument != &heard || here->self != heard.self || here->root != heard.root ||
        here->index > 2 || here->target != heard.target[here->index])
        heard.wrong++;
    return (int64_t)here->index + 4;
}

typedef struct table {
    char *rows[3];
    char **more;
} table;

static haul_type *table_type;

TEST(graph, a_callback_counts_from_an_expression_over_the_struct)
{
    static const haul_field fields[] = { HAUL_ARRAY(views, a, HAUL_COUNT_FN(product)) };
    views *v = views_start(fields, 1);
    memset(the.what + lab_offset(&v->b), OF_DATA, 2 * WORD);
    v->na = 6;
    v->nb = 7;
    v->a = take(42, 1);
    fill(v->a, 42);
    lab_pack(v, views_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *v + 42);
    views_end();
}

TEST(graph, a_callback_is_told_index_self_target_root_and_argument)
{
    static const haul_field fields[] = { HAUL_EACH(table, rows, .count = HAUL_COUNT_FN(listen)),
                                         HAUL_ARRAYS(table, more, HAUL_FIXED(3),
                                                     HAUL_COUNT_FN(listen)) };
    table *t;
    int i;
    lab_start();
    memset(&heard, 0, sizeof heard);
    table_type = TYPE_OPEN(table, fields);
    type_commit(table_type);
    t = take(sizeof *t, sizeof(void *));
    points(&t->more);
    t->more = pointers_make(3);
    for (i = 0; i < 3; i++) {
        points(&t->rows[i]);
        t->rows[i] = t->more[i] = heard.target[i] = take((size_t)i + 4, 1);
        fill(t->rows[i], (size_t)i + 4);
    }
    heard.self = heard.root = t;
    the.options.argument = &heard;
    lab_pack(t, table_type, 1);
    CHECK_EQ(heard.wrong, 0);
    CHECK(heard.calls >= 6 * 4);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *t + 3 * sizeof(void *) + 15);
    haul_type_free(&table_type);
    lab_end();
}

static int64_t call_back_in(const haul_here *here)
{
    haul_root root;
    haul_plan *plan = NULL;
    root.address = (void *)(uintptr_t)here->self;
    root.type = views_type;
    root.count = 1;
    heard.inside = haul_plan_create(heard.context, haul_from_roots(&root, 1), NULL, &plan);
    heard.wrong += plan != NULL;
    heard.wrong += haul_context_trim(heard.context) != HAUL_ERROR_BUSY;
    if (heard.plan) {
        heard.wrong += haul_plan_pack(heard.plan, NULL, 0, 0, NULL) != HAUL_ERROR_BUSY;
        heard.wrong += haul_plan_unpack(heard.plan, NULL, 0, 0) != HAUL_ERROR_BUSY;
    }
    return 3;
}

TEST(graph, a_callback_that_calls_back_in_is_told_busy_and_the_plan_goes_on_G27_C8)
{
    static const haul_field fields[] = { HAUL_ARRAY(views, a, HAUL_COUNT_FN(call_back_in)) };
    views *v = views_start(fields, 1);
    haul_root root;
    haul_plan *plan;
    int variant;
    v->a = take(3, 1);
    root.address = v;
    root.type = views_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        lab_drop();
        lab_open_context(variant);
        memset(&heard, 0, sizeof heard);
        heard.context = the.context;
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plan),
                     HAUL_OK);
        CHECK_STATUS(heard.inside, HAUL_ERROR_BUSY);
        CHECK_EQ(heard.wrong, 0);
        heard.plan = plan;
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plan),
                     HAUL_OK);
        CHECK_EQ(heard.wrong, 0);
        haul_plan_free(&heard.plan);
        haul_plan_free(&plan);
    }
    views_end();
}

/* The manual forbids it; the marks still hold together. */
static int64_t move_the_other_pointer(const haul_here *here)
{
    views *v = (views *)(uintptr_t)here->self;
    v->b = v->b == heard.target[0] ? heard.target[1] : heard.target[0];
    v->nb = 8;
    return 8;
}

TEST(graph, a_callback_that_moves_a_pointer_meanwhile_harms_nobody_but_its_values_G27)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(views, a, HAUL_COUNT_FN(move_the_other_pointer)),
        HAUL_ARRAY(views, b, HAUL_COUNT(views, nb)),
        HAUL_ARRAY(views, c, HAUL_COUNT_FN(move_the_other_pointer))
    };
    views *v = views_start(fields, 3);
    haul_root root;
    haul_plan *plan;
    unsigned char *arena;
    uint64_t *bitmap;
    int variant;
    v->a = take(8, 1);
    v->c = take(8, 1);
    heard.target[0] = take(8, 1);
    heard.target[1] = take(8, 1);
    root.address = v;
    root.type = views_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        haul_status status;
        lab_drop();
        lab_open_context(variant);
        v->b = NULL;
        v->nb = 0;
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plan),
                     HAUL_OK);
        arena = lab_arena(plan_bytes(plan), plan_alignment(plan), 0);
        bitmap = lab_arena(plan_bitmap_bytes(plan), 8, 0);
        status = haul_plan_pack(plan, arena, plan_bytes(plan), 0, bitmap);
        CHECK(status == HAUL_OK || status == HAUL_ERROR_STALE);
        free(arena);
        free(bitmap);
        haul_plan_free(&plan);
    }
    views_end();
}

/* ---- Levels. */

typedef struct matrix {
    int32_t n, m, k;
    double **a;
    char ***text;
    node ***cube;
} matrix;

static haul_type *matrix_type;

static matrix *matrix_start(const haul_field *fields, size_t count)
{
    matrix *x;
    node_start();
    matrix_type = type_open("matrix", sizeof(matrix), fields, count);
    type_commit(matrix_type);
    x = take(sizeof *x, sizeof(void *));
    points(&x->a);
    points(&x->text);
    points(&x->cube);
    return x;
}

static void matrix_end(void)
{
    haul_type_free(&matrix_type);
    node_end();
}

TEST(graph, two_levels_are_a_matrix_of_rows)
{
    static const haul_field fields[] = { HAUL_ARRAYS(matrix, a, HAUL_COUNT(matrix, n),
                                                     HAUL_COUNT(matrix, m)) };
    matrix *x = matrix_start(fields, 1);
    int i;
    memset(the.what + lab_offset(&x->text), OF_DATA, 2 * WORD);
    x->n = 4;
    x->m = 3;
    x->a = pointers_make(4);
    for (i = 0; i < 4; i++)
        if (i != 2)
            x->a[i] = take(3 * sizeof(double), sizeof(double));
    lab_pack(x, matrix_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *x + 4 * sizeof(void *) + 9 * sizeof(double));
    CHECK_EQ(the.statistics.null_pointers, 1);
    matrix_end();
}

TEST(graph, three_levels_reach_strings_and_objects)
{
    static const haul_field fields[] = {
        HAUL_ADDRESS(matrix, text, .levels = 3, .element_bytes = sizeof(***((matrix *)0)->text),
                     .count = HAUL_COUNT(matrix, n), .count2 = HAUL_COUNT(matrix, m),
                     .count3 = HAUL_TERMINATED),
        HAUL_ADDRESS(matrix, cube, .levels = 3, .target = &node_type, .count = HAUL_TERMINATED,
                     .count2 = HAUL_COUNT(matrix, k), .count3 = HAUL_ONE)
    };
    matrix *x = matrix_start(fields, 2);
    int i, j;
    memset(the.what + lab_offset(&x->a), OF_DATA, WORD);
    x->n = 2;
    x->m = 3;
    x->k = 2;
    x->text = pointers_make(2);
    for (i = 0; i < 2; i++) {
        x->text[i] = pointers_make(3);
        for (j = 0; j < 3; j++)
            x->text[i][j] = i + j == 2 ? NULL : text("cell");
    }
    x->cube = pointers_make(3);
    for (i = 0; i < 2; i++) {
        x->cube[i] = pointers_make(2);
        x->cube[i][i] = node_make();
    }
    lab_pack(x, matrix_type, 1);
    CHECK_EQ(the.statistics.graph_bytes,
             sizeof *x + 15 * sizeof(void *) + 4 * 5 + 2 * sizeof(node));
    matrix_end();
}

TEST(graph, pointers_to_pointers_go_to_any_depth)
{
    static haul_type *level[6];
    static const haul_count one = HAUL_ONE;
    void **place[6];
    char name[8];
    int i;
    lab_start();
    for (i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "p%d", i);
        CHECK_STATUS(haul_type_pointer(type_context(), name, i ? &level[i - 1] : NULL, i ? 0 : 1,
                                       one, &level[i]),
                     HAUL_OK);
    }
    type_commit(level[5]);
    for (i = 5; i >= 0; i--) {
        place[i] = pointers_make(1);
        if (i < 5)
            *place[i + 1] = place[i];
    }
    *place[0] = text("");
    lab_pack(place[5], level[5], 1);
    CHECK_EQ(the.statistics.graph_bytes, 6 * sizeof(void *) + 1);
    for (i = 0; i < 6; i++)
        haul_type_free(&level[i]);
    lab_end();
}

/* ---- Arrays of pointers in the struct itself; embedded structs. */

typedef struct fan {
    node *child[4];
    char *name[3];
    double *column[2];
    int32_t count;
} fan;

static haul_type *fan_type;

TEST(graph, pointers_in_an_array_of_the_struct_are_each_null_or_followed)
{
    static const haul_field fields[] = { HAUL_EACH(fan, child, .target = &node_type),
                                         HAUL_EACH(fan, name, .count = HAUL_TERMINATED),
                                         HAUL_EACH(fan, column, .count = HAUL_COUNT(fan, count)) };
    fan *f;
    int i;
    node_start();
    fan_type = TYPE_OPEN(fan, fields);
    type_commit(fan_type);
    f = take(sizeof *f, sizeof(void *));
    for (i = 0; i < 4; i++)
        points(&f->child[i]);
    for (i = 0; i < 3; i++)
        points(&f->name[i]);
    points(&f->column[0]);
    points(&f->column[1]);
    f->child[1] = f->child[3] = node_make();
    f->name[2] = text("third");
    f->count = 5;
    /* column[0]: null, though the count is 5 */
    f->column[1] = take(5 * sizeof(double), sizeof(double));
    lab_pack(f, fan_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *f + sizeof(node) + 6 + 5 * sizeof(double));
    CHECK_EQ(the.statistics.null_pointers, 3 + 2 + 2);
    haul_type_free(&fan_type);
    node_end();
}

typedef struct shelf {
    int32_t used;
    inner items[3];
    inner last;
} shelf;

static haul_type *shelf_type;

TEST(graph, embedded_structs_bring_their_rows_along)
{
    static const haul_field inner_fields[] = { HAUL_STRING(inner, name) };
    static const haul_field fields[] = { HAUL_EMBED(shelf, items, &inner_type),
                                         HAUL_EMBED(shelf, last, &inner_type) };
    shelf *s;
    int i, j;
    lab_start();
    inner_type = TYPE_OPEN(inner, inner_fields);
    shelf_type = TYPE_OPEN(shelf, fields);
    type_commit(shelf_type);
    s = take(2 * sizeof *s, sizeof(int64_t));
    for (j = 0; j < 2; j++) {
        for (i = 0; i < 3; i++) {
            points(&s[j].items[i].name);
            s[j].items[i].name = i == j ? text("own") : NULL;
        }
        points(&s[j].last.name);
        s[j].last.name = s[0].items[0].name;
    }
    lab_pack(s, shelf_type, 2);
    CHECK_EQ(the.statistics.pointers, 8);
    CHECK_EQ(the.statistics.graph_bytes, 2 * sizeof *s + 8);
    haul_type_free(&shelf_type);
    haul_type_free(&inner_type);
    lab_end();
}

/* ---- What is not followed. */

typedef struct handles {
    void (*function)(void);
    void *opaque, *skipped, *undescribed;
    _Bool yes;
    char *name;
} handles;

static haul_type *handles_type;

static handles *handles_start(void)
{
    static const haul_field fields[] = { HAUL_RAW(handles, opaque), HAUL_SKIP(handles, skipped),
                                         HAUL_STRING(handles, name) };
    handles *h;
    lab_start();
    handles_type = TYPE_OPEN(handles, fields);
    type_commit(handles_type);
    h = take(sizeof *h, sizeof(void *));
    points(&h->name);
    hole(&h->skipped, sizeof h->skipped);
    h->name = text("handles");
    h->opaque = h;
    h->skipped = h;
    h->undescribed = h->name;
    the.undescribed = 1;
    h->function = node_start;
    return h;
}

static void handles_end(void)
{
    haul_type_free(&handles_type);
    lab_end();
}

TEST(graph, opaque_and_undescribed_pointers_travel_as_bits_and_skipped_ones_as_zero_G25)
{
    handles *h = handles_start();
    lab_pack(h, handles_type, 1);
    CHECK_EQ(packed(&h->opaque), (uintptr_t)h);
    CHECK_EQ(packed(&h->undescribed), (uintptr_t)h->name);
    CHECK_EQ(packed(&h->skipped), 0);
    CHECK_EQ(bit_at(offset_of(&h->opaque)), 0);
    CHECK_EQ(bit_at(offset_of(&h->undescribed)), 0);
    CHECK_EQ(bit_at(offset_of(&h->skipped)), 0);
    CHECK_EQ(bit_at(offset_of(&h->function)), 0);
    CHECK_BYTES(the.arena + offset_of(&h->function), &h->function, sizeof h->function);
    CHECK_EQ(the.statistics.pointers, 1);
    handles_end();
}

TEST(graph, a_truth_value_of_two_travels_as_it_is_G26)
{
    handles *h = handles_start();
    memset(&h->yes, 2, 1);
    lab_pack(h, handles_type, 1);
    CHECK_EQ(the.arena[offset_of(&h->yes)], 2);
    handles_end();
}

/* Two arms of a union cannot be told apart yet (there are no tags): rows that overlap are refused
 * at commit. */
typedef union arms {
    char *name;
    node *child;
} arms;

typedef struct tagged {
    int32_t tag;
    arms arm;
} tagged;

TEST(graph, two_rows_for_the_arms_of_a_union_are_refused_at_commit_G18)
{
    static const haul_field fields[] = { HAUL_STRING(tagged, arm.name),
                                         HAUL_OBJECT(tagged, arm.child, &node_type) };
    haul_type *type;
    node_start();
    type = TYPE_OPEN(tagged, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->path, "tagged.arm.");
    CHECK_HAS(type_error()->text, "overlap");
    haul_type_free(&type);
    node_end();
}

/* ---- No elements. */

TEST(graph, a_pointer_to_no_elements_is_not_followed_G20)
{
    char *dangling[4];
    int i;
    for (i = 0; i < 4; i++) {
        views *v = views_start(views_abc, 3);
        char *last = take_at_page_end(20);
        dangling[0] = (char *)(uintptr_t)1;
        dangling[1] = last + 20; /* one past a page that nothing stands behind */
        dangling[2] = (char *)the.memory + 7 * BLOCK + 5;
        dangling[3] = (char *)UINTPTR_MAX;
        v->a = last;
        v->na = 20;
        v->b = dangling[i];
        v->c = dangling[i];
        lab_pack(v, views_type, 1);
        CHECK_EQ(the.statistics.graph_bytes, sizeof *v + 20);
        CHECK_EQ(packed(&v->b), i == 1 ? packed(&v->a) + 20 : 0);
        views_end();
    }
}

TEST(graph, an_empty_range_may_stand_on_a_page_that_cannot_be_read_G20)
{
    static const haul_field fields[] = { HAUL_ARRAY(views, a, HAUL_UNTIL(views, b)) };
    views *v = views_start(fields, 1);
    memset(the.what + lab_offset(&v->c), OF_DATA, WORD);
    v->a = v->b = (char *)the.memory + 6 * BLOCK;
    lab_pack(v, views_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *v);
    views_end();
}

TEST(graph, empty_arrays_of_objects_and_of_pointers_are_no_less_empty_G20)
{
    static const haul_field fields[] = {
        HAUL_ADDRESS(list_of, names, .target = &node_type, .count = HAUL_COUNT(list_of, count)),
        HAUL_POINTERS(list_of, all, &node_type, HAUL_COUNT(list_of, count))
    };
    list_of *l = list_start(fields, 2);
    l->all = (node **)(void *)(the.memory + 5 * BLOCK);
    l->names = (char **)(void *)(the.memory + 5 * BLOCK + 3);
    lab_pack(l, list_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *l);
    list_end();
}

/* ---- MPI's constructors over types with pointers. */

TEST(graph, a_vector_of_structs_with_pointers_visits_its_blocks_only)
{
    haul_type *vector;
    node *n, *far;
    int i;
    node_start();
    CHECK_STATUS(haul_type_vector(3, 2, 4, node_type, &vector), HAUL_OK);
    type_commit(vector);
    n = node_make();
    for (i = 1; i < 10; i++)
        node_make();
    for (i = 0; i < 10; i++)
        if (i % 4 >= 2)
            hole(&n[i], sizeof *n);
    the.used += 100;
    far = node_make();
    n[5].left = far;
    n[0].right = &n[8];
    lab_pack(n, vector, 1);
    CHECK_EQ(the.statistics.graph_bytes, 7 * sizeof(node));
    CHECK_EQ(packed(&n[0].right), offset_of(n) + 8 * sizeof(node));
    haul_type_free(&vector);
    node_end();
}
