/* The scan of an image decides by itself about graphs of the kinds that it knows, and leaves all
 * others to the walk. What it accepts, the walk accepts too, and tells the same bits; and where no
 * pointer is damaged, it accepts all that the walk does.
 *
 * The verdicts of both are compared for each small damage of small arenas (images/sample.h).
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "type/type.h"
#include "images/sample.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/doors.h"
#include "support/types.h"

/* ---- Objects. */

typedef struct node {
    struct node *next, *other;
    char data[4 * WORD];
} node;

TEST(image_verdicts, single_objects_are_judged_by_the_scan)
{
    enum { COUNT = 16 };
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(node, next, &type), HAUL_OBJECT(node, other, &type) };
    node at[COUNT];
    size_t i;
    memset(at, 0, sizeof at);
    for (i = 0; i < COUNT; i++) {
        at[i].next = i + 1 < COUNT ? &at[i + 1] : NULL;
        at[i].other = &at[i * 7 % COUNT];
        memset(at[i].data, (int)i, sizeof at[i].data);
    }
    type = TYPE_NEW(node, fields);
    sample_check_objects(at, type, 1, sample_damage_all);
    haul_type_free(&type);
}

typedef struct twig {
    struct twig *next;
    uint16_t number, hole;
    char rest[2 * WORD - 4];
} twig;

typedef struct tree {
    struct tree **kids; /* kid_count */
    twig *one, *some;   /* twig_count */
    char *name;
    char **names;     /* kid_count */
    int32_t *numbers; /* twig_count * kid_count */
    int16_t **rows;   /* twig_count, of 3 */
    uint16_t ***cube; /* 1, of 2, of 3 */
    twig *each[2];
    struct tree **single; /* one */
    uint8_t kid_count, twig_count;
    int8_t low, unused[WORD - 3];
    double hole;
    char end[16 - sizeof(double)];
} tree;

typedef struct forest {
    haul_type *twig, *tree;
    tree trees[3];
    twig twigs[5], single;
    tree *kids[3], *first;
    char *names[3];
    int32_t numbers[15];
    int16_t row[2][3], *rows[5];
    uint16_t cell[3], *line[2], **plane[1];
} forest;

static void forest_open(forest *f)
{
    static haul_type *twig_type, *tree_type;
    static const haul_field twig_fields[] = { HAUL_OBJECT(twig, next, &twig_type),
                                              HAUL_SKIP(twig, hole) };
    static const haul_field tree_fields[] = {
        HAUL_POINTERS(tree, kids, &tree_type, HAUL_COUNT(tree, kid_count)),
        HAUL_OBJECT(tree, one, &twig_type),
        HAUL_OBJECTS(tree, some, &twig_type, HAUL_COUNT(tree, twig_count)),
        HAUL_STRING(tree, name),
        HAUL_STRINGS(tree, names, HAUL_COUNT(tree, kid_count)),
        HAUL_ARRAY(tree, numbers, HAUL_COUNT(tree, twig_count, kid_count)),
        HAUL_ARRAYS(tree, rows, HAUL_COUNT(tree, twig_count), HAUL_FIXED(3)),
        HAUL_ADDRESS(tree, cube, .levels = 3, .element_bytes = sizeof(uint16_t), .count = HAUL_ONE,
                     .count2 = HAUL_FIXED(2), .count3 = HAUL_FIXED(3)),
        HAUL_EACH(tree, each, .target = &twig_type),
        HAUL_POINTERS(tree, single, &tree_type, HAUL_ONE),
        HAUL_SKIP(tree, hole),
    };
    static char first[] = "oak", second[] = "a name that takes more than one granule";
    size_t i;
    memset(f, 0, sizeof *f);
    twig_type = f->twig = TYPE_NEW(twig, twig_fields);
    tree_type = f->tree = TYPE_NEW(tree, tree_fields);
    for (i = 0; i < 5; i++) {
        f->twigs[i].next = i == 2 ? &f->single : NULL;
        f->twigs[i].number = (uint16_t)i;
        f->rows[i] = i == 3 ? NULL : f->row[i % 2];
    }
    for (i = 0; i < 15; i++)
        f->numbers[i] = -1;
    for (i = 0; i < 3; i++) {
        f->cell[i] = (uint16_t)(i + 1);
        f->row[0][i] = f->row[1][i] = (int16_t)(i + 1);
        f->names[i] = i == 1 ? NULL : i == 0 ? first : second;
        f->kids[i] = i == 0 ? NULL : &f->trees[i];
    }
    f->single.next = &f->single;
    f->line[0] = f->cell;
    f->plane[0] = f->line;
    f->trees[0].kids = f->kids;
    f->trees[0].kid_count = 3;
    f->trees[0].twig_count = 5;
    f->trees[0].one = f->trees[0].each[1] = &f->single;
    f->trees[0].some = f->twigs;
    f->trees[0].name = second;
    f->trees[0].names = f->names;
    f->trees[0].numbers = f->numbers;
    f->trees[0].rows = f->rows;
    f->trees[0].cube = f->plane;
    f->first = &f->trees[0];
    f->trees[2].single = &f->first;
    f->trees[2].name = first;
}

static void forest_close(forest *f)
{
    haul_type_free(&f->tree);
    haul_type_free(&f->twig);
}

TEST(image_verdicts, arrays_strings_and_pointers_of_levels_are_judged_by_the_scan)
{
    forest f;
    forest_open(&f);
    sample_check_objects(f.trees, f.tree, 1, sample_damage_all);
    forest_close(&f);
}

/* ---- Counts. */

typedef struct measured {
    double *at;
    intptr_t count;
} measured;

typedef struct box {
    char before[WORD];
    measured in[2];
    int32_t *null, *four, *less, *twice, *none; /* null and four: 4 */
    int32_t *each[2];                           /* few */
    int32_t few, odd, zero, rest;
    uint64_t *one;
} box;

TEST(image_verdicts, counts_in_embedded_structs_products_and_constants_are_judged_by_the_scan)
{
    static haul_type *measured_type;
    static const haul_field measured_fields[] = { HAUL_ARRAY(measured, at,
                                                             HAUL_COUNT(measured, count)) };
    static const haul_field box_fields[] = {
        HAUL_EMBED(box, in, &measured_type),
        HAUL_ARRAY(box, null, HAUL_FIXED(4)),
        HAUL_ARRAY(box, four, HAUL_FIXED(4)),
        HAUL_ARRAY(box, less, HAUL_COUNT_PLUS(box, few, -1)),
        HAUL_ARRAY(box, twice, HAUL_COUNT_TIMES(box, odd, 2)),
        HAUL_ARRAY(box, none, HAUL_COUNT_TIMES(box, zero, INT64_C(1) << 40)),
        HAUL_EACH(box, each, .count = HAUL_COUNT(box, few)),
        HAUL_ARRAY(box, one, HAUL_ONE),
    };
    double numbers[3] = { 1, 2, 3 };
    int32_t four[4] = { 1, 2, 3, 4 }, less[2] = { 5, 6 }, twice[6] = { 7, 7, 7, 7, 7, 7 };
    int32_t each[3] = { 3, 3, 3 };
    uint64_t one = 32; /* as an offset, it leads into the arena */
    haul_type *type;
    box b;
    memset(&b, 0, sizeof b);
    b.in[0].at = numbers;
    b.in[0].count = b.few = b.odd = 3;
    b.four = four;
    b.less = less;
    b.twice = twice;
    b.each[1] = each;
    b.one = &one;
    measured_type = TYPE_NEW(measured, measured_fields);
    type = TYPE_NEW(box, box_fields);
    sample_check_objects(&b, type, 1, sample_damage_all);
    b.none = four; /* the end of something, in the image */
    sample_check_objects(&b, type, 1, sample_is_accepted);
    haul_type_free(&type);
    haul_type_free(&measured_type);
}

/* ---- Many kinds, long objects, several roots. */

typedef struct longer {
    struct longer *next;
    double *numbers; /* 2 */
    char bytes[600];
    struct longer *other;
} longer;

TEST(image_verdicts, objects_with_more_granules_than_a_word_has_codes_are_judged_by_the_scan)
{
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(longer, next, &type),
                                  HAUL_OBJECT(longer, other, &type),
                                  HAUL_ARRAY(longer, numbers, HAUL_FIXED(2)) };
    double numbers[2] = { 1, 2 };
    longer at[3];
    memset(at, 0, sizeof at);
    memset(at[1].bytes, 1, sizeof at[1].bytes);
    at[0].next = &at[1];
    at[0].other = &at[2];
    at[1].other = &at[1];
    at[2].numbers = numbers;
    at[2].next = at;
    type = TYPE_NEW(longer, fields);
    sample_check_objects(at, type, 1, sample_damage_all);
    haul_type_free(&type);
}

typedef struct any {
    struct any *to, *next;
} any;

enum { TYPES = 20 };

static haul_type *types[TYPES];

/* A ring of objects, each of a type of its own, with two roots: then each has one new type at most,
 * and that in its first link. */
static void ring_open(sample *s, size_t count, size_t bytes)
{
    haul_field fields[TYPES][2];
    haul_root roots[2];
    char room[TYPES * 320], name[32];
    size_t i;
    memset(room, 0, sizeof room);
    for (i = 0; i < count; i++) {
        const size_t next = (i + 1) % count, to = (i + 2) % count;
        any *at = (any *)(void *)(room + i * bytes);
        haul_field fields_here[] = { HAUL_OBJECT(any, to, &types[to]),
                                     HAUL_OBJECT(any, next, &types[next]) };
        fields_here[0].element_bytes = fields_here[1].element_bytes = bytes;
        memcpy(fields[i], fields_here, sizeof fields_here);
        at->next = (any *)(void *)(room + next * bytes);
        at->to = i % 3 ? (any *)(void *)(room + to * bytes) : NULL;
        room[i * bytes + sizeof *at] = 1;
        sprintf(name, "type %zu", i);
        CHECK_STATUS(type_make(name, bytes, fields[i], 2, &types[i]), HAUL_OK);
    }
    roots[0] = (haul_root){ room, types[0], 1 };
    roots[1] = (haul_root){ room + bytes, types[1], 1 };
    CHECK_STATUS(haul_type_commit(types[0]), HAUL_OK);
    sample_open_roots(s, roots, 2, NULL);
}

static void ring_close(sample *s, size_t count)
{
    size_t i;
    sample_close(s);
    for (i = 0; i < count; i++)
        haul_type_free(&types[i]);
}

/* A code of one of 20 types takes a byte, and those of an object more than a word if it is long. */
TEST(image_verdicts, objects_of_many_types_are_judged_by_the_scan)
{
    static const size_t counts[] = { 3, 5, TYPES }, bytes[] = { 64, 320, 64 };
    size_t i;
    for (i = 0; i < 3; i++) {
        sample s;
        ring_open(&s, counts[i], bytes[i]);
        sample_damage_all(&s);
        ring_close(&s, counts[i]);
    }
}

/* A single object begins with a granule, those of the array need not. */
TEST(image_verdicts, a_root_that_is_an_array_and_a_second_root_are_judged_by_the_scan)
{
    forest f;
    haul_root roots[2];
    forest_open(&f);
    CHECK_STATUS(haul_type_commit(f.tree), HAUL_OK);
    roots[0] = (haul_root){ f.twigs, f.twig, 5 };
    roots[1] = (haul_root){ &f.trees[2], f.tree, 1 };
    sample_check_roots(roots, 2, sample_damage_all);
    roots[0] = (haul_root){ &f.single, f.twig, 1 };
    roots[1] = (haul_root){ f.twigs, f.twig, 5 };
    sample_check_roots(roots, 2, sample_is_accepted);
    roots[1] = (haul_root){ &f.trees[0], f.tree, 1 };
    sample_check_roots(roots, 2, sample_is_accepted);
    forest_close(&f);
}

TEST(image_verdicts, a_root_may_be_an_array_of_objects_of_whole_granules)
{
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(node, next, &type), HAUL_OBJECT(node, other, &type) };
    node at[3];
    memset(at, 1, sizeof at);
    at[0].next = at[0].other = &at[2];
    at[1].next = at[1].other = &at[1];
    at[2].next = at[2].other = NULL;
    type = TYPE_NEW(node, fields);
    sample_check_objects(at, type, 3, sample_damage_all);
    haul_type_free(&type);
}

typedef struct chain {
    struct chain *next, *other;
    char bytes[600 - 2 * WORD];
} chain;

/* Codes of one bit: those of an object fit into a word, and its bits do not. */
TEST(image_verdicts, long_objects_of_one_kind_are_judged_by_the_scan)
{
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(chain, next, &type),
                                  HAUL_OBJECT(chain, other, &type) };
    chain at[3];
    memset(at, 1, sizeof at);
    at[0].next = &at[1];
    at[1].next = &at[2];
    at[2].next = NULL;
    at[0].other = at[1].other = at[2].other = &at[2];
    type = TYPE_NEW(chain, fields);
    sample_check_objects(at, type, 1, sample_damage_all);
    haul_type_free(&type);
}

typedef struct small {
    struct large *to;
    char bytes[48 - WORD];
} small;

typedef struct large {
    char bytes[64];
} large;

/* Not even behind the last byte. */
TEST(image_verdicts, an_object_as_large_as_the_arena_has_no_place_in_it)
{
    static haul_type *large_type;
    static const haul_field fields[] = { HAUL_OBJECT(small, to, &large_type) };
    haul_type *type;
    small one;
    memset(&one, 1, sizeof one);
    one.to = NULL;
    large_type = type_new(&(const haul_struct)HAUL_PLAIN(large, NULL));
    type = TYPE_NEW(small, fields);
    sample_check_objects(&one, type, 1, sample_damage_all);
    haul_type_free(&type);
    haul_type_free(&large_type);
}

/* The first of several roots needs a code, though no pointer leads to such. */
TEST(image_verdicts, a_second_root_of_another_type_may_not_lie_in_the_first)
{
    static haul_type *large_type;
    static const haul_field fields[] = { HAUL_OBJECT(small, to, &large_type) };
    haul_type *type;
    haul__image_root *root;
    haul_root roots[2];
    small one;
    large zeros;
    sample s;
    size_t i, was;
    memset(&one, 1, sizeof one);
    memset(&zeros, 0, sizeof zeros);
    one.to = NULL;
    large_type = type_new(&(const haul_struct)HAUL_PLAIN(large, NULL));
    type = TYPE_NEW(small, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    roots[0] = (haul_root){ &one, type, 1 };
    roots[1] = (haul_root){ &zeros, large_type, 1 };
    sample_open_roots(&s, roots, 2, NULL);
    sample_is_accepted(&s);
    root = (haul__image_root *)(void *)s.parts.part[HAUL__SECTION_ROOTS].at + 1;
    was = (size_t)root->offset;
    for (i = 1; i * WORD < s.bytes; i++) {
        root->offset = i * WORD;
        check_note("the second root lies at %zu", i * WORD);
        sample_compare(&s, 1);
    }
    check_note(NULL);
    root->offset = was;
    sample_is_accepted(&s);
    sample_close(&s);
    haul_type_free(&type);
    haul_type_free(&large_type);
}

/* Kinds have numbers of 8 bits: what has no number is none of those 256 before it. */
TEST(image_verdicts, an_object_of_a_kind_without_a_number_is_of_no_other_kind)
{
    enum { TYPES_OF_ONE = 300, OTHER = 256 };
    static haul_type *types[TYPES_OF_ONE];
    static haul_field fields[TYPES_OF_ONE];
    static char names[TYPES_OF_ONE][16];
    static void *hub[TYPES_OF_ONE], *object[4];
    haul_type *type = NULL;
    unsigned char *arena;
    size_t i, first;
    sample s;
    for (i = 0; i < TYPES_OF_ONE; i++) {
        haul_field next = HAUL_OBJECT(node, next, &types[(i + 1) % TYPES_OF_ONE]);
        next.element_bytes = sizeof object;
        snprintf(names[i], sizeof names[i], "type_%zu", i);
        CHECK_STATUS(type_make(names[i], sizeof object, &next, 1, &types[i]), HAUL_OK);
        fields[i] = next;
        fields[i].name = names[i];
        fields[i].offset = i * WORD;
        fields[i].target = &types[i];
    }
    CHECK_STATUS(type_make("hub", sizeof hub, fields, TYPES_OF_ONE, &type), HAUL_OK);
    hub[0] = object;
    sample_open(&s, hub, type, 1);
    sample_is_accepted(&s);
    first = (size_t)((haul__image_root *)(void *)s.parts.part[HAUL__SECTION_ROOTS].at)->offset;
    arena = s.parts.part[HAUL__SECTION_ARENA].at + first;
    memcpy(arena + OTHER * WORD, arena, WORD);
    bitmap_put(&s.parts.part[HAUL__SECTION_BITS], first / WORD + OTHER, 1);
    sample_is_left_to_walk(&s);
    sample_close(&s);
    haul_type_free(&type);
    for (i = 0; i < TYPES_OF_ONE; i++)
        haul_type_free(&types[i]);
}

typedef struct labelled {
    char *label;
    char bytes[2 * WORD - WORD];
} labelled;

TEST(image_verdicts, a_string_that_ends_with_the_arena_is_judged_by_the_scan)
{
    static const haul_field fields[] = { HAUL_STRING(labelled, label) };
    char text[] = "sixteen letters";
    haul_type *type = TYPE_NEW(labelled, fields);
    labelled one = { text, { 1 } };
    sample_check_objects(&one, type, 1, sample_damage_all);
    haul_type_free(&type);
}

/* A string with other bytes behind it, which let the scan look at whole granules. */
typedef struct titled {
    char *title;
    const char *rest;
    struct titled *next;
    char unused[WORD];
} titled;

enum { TITLE_MOST = 80 };

/* Bytes that differ from 0 in one bit, in the highest one too. */
static void title_fill(char *title, size_t length)
{
    size_t i;
    memset(title, 0, TITLE_MOST + 1);
    for (i = 0; i < length; i++)
        title[i] = (char)(1u << (i + length) % 8);
}

static haul_type *titled_type_new(void)
{
    static haul_type *type;
    static const haul_field fields[] = { HAUL_STRING(titled, title),
                                         HAUL_ARRAY(titled, rest, HAUL_FIXED(TITLE_MOST)),
                                         HAUL_OBJECT(titled, next, &type) };
    return type = TYPE_NEW(titled, fields);
}

TEST(image_verdicts, strings_of_a_few_granules_are_judged_by_the_scan)
{
    static const size_t lengths[] = { 0, 1, 7, 8, 15, 16, 17, 31, 32, 47, 48, 62, 63, 64, 80 };
    enum { COUNT = sizeof lengths / sizeof *lengths };
    static const char rest[TITLE_MOST] = { 1 };
    haul_type *type = titled_type_new();
    char title[COUNT][TITLE_MOST + 1];
    titled at[COUNT];
    size_t i;
    memset(at, 0, sizeof at);
    for (i = 0; i < COUNT; i++) {
        title_fill(title[i], lengths[i]);
        at[i].title = title[i];
        at[i].rest = rest;
        at[i].next = i + 1 < COUNT ? &at[i + 1] : NULL;
    }
    sample_check_objects(at, type, 1, sample_damage_all);
    haul_type_free(&type);
}

/* Is a string of so many bytes accepted by both, or by neither? */
static int both_accept(const haul_root *root, const haul_context_options *options)
{
    sample s;
    int is_accepted;
    sample_open_roots(&s, root, 1, options);
    is_accepted = sample_scan_accepts(&s);
    CHECK_EQ(sample_walk_accepts(&s), is_accepted);
    sample_close(&s);
    return is_accepted;
}

TEST(image_verdicts, a_string_is_as_long_as_a_limit_to_both)
{
    static const size_t limits[] = { 1, 8, 15, 16, 17, 40, 63, 64, 65 };
    haul_type *type = titled_type_new();
    char title[TITLE_MOST + 1];
    titled third = { 0 }, second = { NULL, NULL, &third, { 0 } };
    titled first = { NULL, NULL, &second, { 0 } }, it = { title, NULL, &first, { 0 } };
    const haul_root root = { &it, type, 1 };
    size_t i, length;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (i = 0; i < sizeof limits / sizeof *limits; i++)
        for (length = 0; length < TITLE_MOST; length++) {
            const haul_context_options scanned = { .max_scan_bytes = limits[i] };
            const haul_context_options counted = { .max_array_elements = limits[i] };
            title_fill(title, length);
            check_note("%zu bytes, and a limit of %zu", length + 1, limits[i]);
            CHECK_EQ(both_accept(&root, &scanned), length < limits[i]);
            CHECK_EQ(both_accept(&root, &counted), length < limits[i]);
        }
    check_note(NULL);
    haul_type_free(&type);
}

typedef struct pairs {
    int32_t *each[2]; /* few - 1 */
    int32_t few, low, lower, rest;
    int32_t *other[2]; /* low * lower */
} pairs;

TEST(image_verdicts, counts_below_0_are_left_to_the_walk_though_nothing_is_there)
{
    static const haul_field fields[] = {
        HAUL_EACH(pairs, each, .count = HAUL_COUNT_PLUS(pairs, few, -1)),
        HAUL_EACH(pairs, other, .count = HAUL_COUNT(pairs, low, lower)),
    };
    haul_type *type = TYPE_NEW(pairs, fields);
    pairs p, *root;
    sample s;
    memset(&p, 0, sizeof p);
    p.few = p.low = p.lower = 1;
    sample_open(&s, &p, type, 1);
    sample_damage_all(&s);
    root = (pairs *)(void *)(s.parts.part[HAUL__SECTION_ARENA].at + 2 * WORD);
    root->few = 0;
    sample_compare(&s, 0);
    root->few = 1;
    root->low = root->lower = -1;
    sample_compare(&s, 0);
    sample_close(&s);
    haul_type_free(&type);
}

typedef struct counted_words {
    uint64_t *words; /* count */
    uintptr_t count;
    char rest[2 * WORD];
} counted_words;

TEST(image_verdicts, an_array_of_more_bytes_than_there_are_addresses_is_left_to_the_walk)
{
    static const haul_field fields[] = { HAUL_ARRAY(counted_words, words,
                                                    HAUL_COUNT(counted_words, count)) };
    haul_type *type = TYPE_NEW(counted_words, fields);
    uint64_t word = 0;
    counted_words c, *root;
    sample s;
    memset(&c, 0, sizeof c);
    c.words = &word;
    c.count = 1;
    sample_open(&s, &c, type, 1);
    CHECK(sample_scan_accepts(&s));
    root = (counted_words *)(void *)(s.parts.part[HAUL__SECTION_ARENA].at + 2 * WORD);
    root->count = UINTPTR_MAX / sizeof word; /* all but 8 bytes, or 3 */
    sample_is_refused(&s);
    root->count++; /* 0, as a number that wraps */
    sample_is_refused(&s);
    root->count++; /* 8 */
    sample_is_refused(&s);
    sample_close(&s);
    haul_type_free(&type);
}

typedef struct multiplied {
    char *more; /* a + 1 */
    char *some; /* a * b */
    int64_t a, b;
} multiplied;

TEST(image_verdicts, counts_that_no_number_holds_are_refused_by_both)
{
    static const haul_field fields[] = {
        HAUL_BYTES(multiplied, more, HAUL_COUNT_PLUS(multiplied, a, 1)),
        HAUL_BYTES(multiplied, some, HAUL_COUNT(multiplied, a, b))
    };
    haul_field least = HAUL_BYTES(multiplied, more, HAUL_COUNT_PLUS(multiplied, a, -2));
    haul_type *type = TYPE_NEW(multiplied, fields), *below;
    char bytes[2] = { 1, 2 };
    multiplied m = { bytes, bytes, 1, 2 }, *root;
    sample s;
    sample_open(&s, &m, type, 1);
    CHECK(sample_scan_accepts(&s));
    root = (multiplied *)(void *)(s.parts.part[HAUL__SECTION_ARENA].at + 2 * WORD);
    least.count.times = -INT64_MAX;
    CHECK_STATUS(type_make("multiplied", sizeof m, &least, 1, &below), HAUL_OK);
    CHECK_STATUS(haul_type_commit(below), HAUL_OK);
    root->a = INT64_MAX;
    sample_is_refused(&s);
    root->a = 1;
    root->b = INT64_MAX;
    sample_is_refused(&s);
    root->a = 3;
    sample_is_refused(&s);
    root->a = root->b = 1;
    s.roots[0].type = below;
    sample_is_refused(&s);
    sample_close(&s);
    haul_type_free(&below);
    haul_type_free(&type);
}

/* ---- What the scan leaves to the walk. */

typedef struct many {
    char *a, *b;
    char **c;
    int32_t *numbers;
    int16_t *shorts;
    int32_t count, other;
    char rest[2 * WORD];
} many;

/* An image of one object of the type, of zeros but for `a` and `b`, with all fields given. */
static void check_verdict(const haul_struct *of, void *object, int scan_decides)
{
    haul_type *type = type_new(of);
    sample s;
    sample_open(&s, object, type, 1);
    CHECK(sample_walk_accepts(&s));
    CHECK_EQ(sample_scan_accepts(&s), scan_decides);
    sample_close(&s);
    haul_type_free(&type);
}

static int64_t two(const haul_here *here)
{
    (void)here;
    return 2;
}

#define CHECK_FIELDS(decides, ...)                                                                 \
    do {                                                                                           \
        const haul_field fields[] = { __VA_ARGS__ };                                               \
        check_verdict(&(const haul_struct)HAUL_STRUCT(many, NULL, fields), &m, decides);           \
    } while (0)

TEST(image_verdicts, the_scan_knows_ordinary_pointers_and_leaves_all_others_to_the_walk)
{
    char text[] = "text", bytes[2 * WORD] = { 1, 2 }, behind[80] = { 1 };
    int16_t shorts[3] = { 1, 2, 0 };
    int32_t numbers[2] = { 5, 0 };
    char *list[2] = { NULL, NULL };
    haul_type *byte;
    many m;
    CHECK_STATUS(type_make("byte", 1, NULL, 0, &byte), HAUL_OK);
    memset(&m, 0, sizeof m);
    m.a = text;
    m.b = bytes;
    m.c = list;
    m.count = 2;
    m.numbers = numbers;
    m.shorts = shorts;
    CHECK_FIELDS(1, HAUL_STRING(many, a));
    CHECK_FIELDS(0, HAUL_ARRAY(many, a, HAUL_TERMINATED_BY('t')));
    CHECK_FIELDS(0, HAUL_ARRAY(many, shorts, HAUL_TERMINATED));
    CHECK_FIELDS(0, HAUL_ARRAYS(many, c, HAUL_TERMINATED, HAUL_ONE));
    CHECK_FIELDS(1, HAUL_ARRAY(many, numbers, HAUL_COUNT(many, count)));
    CHECK_FIELDS(0, HAUL_ARRAY(many, numbers, HAUL_COUNT_FN(two)));
    CHECK_FIELDS(0, HAUL_ARRAY(many, a, HAUL_COUNT(many, count), .transfer = HAUL_COPYIN));
    CHECK_FIELDS(0, HAUL_BYTES(many, a, HAUL_COUNT(many, count)),
                 HAUL_RAW(many, rest, .transfer = HAUL_COPYIN));
    CHECK_FIELDS(0, HAUL_POOL(many, a, HAUL_COUNT(many, count)));
    CHECK_FIELDS(0, HAUL_ARRAYS(many, c, HAUL_COUNT(many, count), HAUL_COUNT(many, other)));
    CHECK_FIELDS(1, HAUL_ADDRESS(many, a, .target = &byte, .count = HAUL_FIXED(5)));
    CHECK_FIELDS(1, HAUL_ADDRESS(many, numbers, .element_bytes = sizeof(int32_t)));
    CHECK_FIELDS(0, HAUL_SKIP(many, a));
    CHECK_FIELDS(1,
                 HAUL_ARRAY(many, a, HAUL_COUNT(many, count), .when = HAUL_EQUALS(many, count, 2)));
    m.b = behind; /* the string, so that it could be looked at by granules */
    CHECK_FIELDS(1, HAUL_STRING(many, a), HAUL_BYTES(many, b, HAUL_FIXED(80)));
    CHECK_FIELDS(0, HAUL_ARRAY(many, a, HAUL_TERMINATED_BY('t')),
                 HAUL_BYTES(many, b, HAUL_FIXED(80)));
    CHECK_FIELDS(0, HAUL_ARRAY(many, shorts, HAUL_TERMINATED), HAUL_BYTES(many, b, HAUL_FIXED(80)));
    m.b = m.a + 2;
    CHECK_FIELDS(0, HAUL_STRING(many, a),
                 HAUL_ARRAY(many, b, HAUL_ONE, .ownership = HAUL_BORROWED));
    CHECK_FIELDS(0, HAUL_ARRAY(many, a, HAUL_UNTIL(many, b)));
    haul_type_free(&byte);
}

/* A struct that functions of those behind it may ask, and that has no rule of its own. */
TEST(image_verdicts, a_type_that_another_one_names_as_its_ancestor_is_left_to_the_walk)
{
    static haul_type *outer, *inner;
    const haul_field inner_fields[] = { HAUL_ARRAY(many, numbers, HAUL_COUNT_FN(two),
                                                   .ancestor = &outer) };
    const haul_field outer_fields[] = { HAUL_ADDRESS(node, next, .target = &inner) };
    int32_t numbers[2] = { 1, 2 };
    node n;
    many m;
    memset(&n, 0, sizeof n);
    memset(&m, 0, sizeof m);
    n.next = (node *)(void *)&m;
    m.numbers = numbers;
    inner = TYPE_NEW(many, inner_fields);
    outer = TYPE_NEW(node, outer_fields);
    sample_check_objects(&n, outer, 1, sample_is_left_to_walk);
    n.next = NULL; /* nobody asks */
    sample_check_objects(&n, outer, 1, sample_is_accepted);
    haul_type_free(&outer);
    haul_type_free(&inner);
}

/* ---- Alignment, and arrays of several kinds. */

typedef struct third {
    uint32_t data[3];
} third;

TEST(image_verdicts, arrays_of_data_that_ends_within_words_are_judged_by_the_scan)
{
    haul_type *type = type_new(&(const haul_struct)HAUL_PLAIN(third, NULL));
    third all[7];
    size_t i;
    memset(all, 0, sizeof all);
    for (i = 0; i < 21; i += 2) /* each word leads into the arena, if a bit calls it a pointer */
        all[i / 3].data[i % 3] = 2 * WORD;
    sample_check_objects(all, type, 7, sample_damage_all);
    haul_type_free(&type);
}

typedef struct stretched {
    struct stretched *next;
    uintptr_t data[2 * 40 - 2]; /* 40 granules in all: codes of one bit fit into a word */
    struct stretched *last;
} stretched;

TEST(image_verdicts, objects_whose_codes_fit_into_a_word_and_whose_bits_do_not_are_judged)
{
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(stretched, next, &type),
                                  HAUL_OBJECT(stretched, last, &type) };
    stretched at[3];
    sample s;
    size_t i;
    memset(at, 0, sizeof at);
    for (i = 0; i < 3; i++) {
        at[i].next = &at[(i + 1) % 3];
        at[i].last = &at[2 - i];
        at[i].data[0] = at[i].data[50] = at[i].data[77] = i + 1;
    }
    type = TYPE_NEW(stretched, fields);
    sample_open(&s, at, type, 1);
    sample_damage_all(&s);
    sample_close(&s);
    haul_type_free(&type);
}

typedef struct aligned {
    struct aligned *next, *other;
    char data[64 - 2 * WORD];
} aligned;

TEST(image_verdicts, objects_with_an_alignment_of_more_than_a_granule_are_judged_by_the_scan)
{
    haul_type *type = NULL, *alone; /* a root of zeros, as all around it is */
    haul_struct plain = { .name = "alone", .bytes = sizeof(aligned), .alignment = 64 };
    const haul_field fields[] = { HAUL_OBJECT(aligned, next, &type),
                                  HAUL_OBJECT(aligned, other, &type) };
    char room[5 * sizeof(aligned)];
    aligned *at = (aligned *)(void *)(room + (-(uintptr_t)room & 63));
    sample s;
    size_t i;
    memset(room, 0, sizeof room);
    at[0].next = &at[1];
    at[1].other = &at[2];
    type = TYPE_NEW(aligned, fields, .alignment = 64);
    for (i = 0; i < 3; i++) {
        alone = type_new(&plain);
        sample_open(&s, i ? &at[3] : at, i ? alone : type, 1);
        bytes_resize(&s.parts.part[HAUL__SECTION_ARENA], 512);
        bytes_resize(&s.parts.part[HAUL__SECTION_BITS], (512 / WORD + 63) / 64 * 8);
        sample_renew(&s);
        sample_damage_all(&s);
        sample_close(&s);
        haul_type_free(&alone);
        plain.alignment = i ? 0 : plain.alignment;
    }
    haul_type_free(&type);
}

typedef struct mixed {
    node *nodes, *one; /* nodes: node_count; one: the second of them */
    struct {
        char bytes[3 * WORD];
    } * plain;       /* 5 */
    node **pointers; /* 70 */
    char *bytes;     /* 1200 */
    size_t node_count;
} mixed;

static void with_mixed(void (*check)(sample *s))
{
    static haul_type *node_type, *plain_type;
    static node nodes[4], *pointers[70];
    static char bytes[1200], plain[5 * 3 * WORD];
    static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &node_type),
                                              HAUL_OBJECT(node, other, &node_type) };
    static const haul_field fields[] = {
        HAUL_OBJECTS(mixed, nodes, &node_type, HAUL_COUNT(mixed, node_count)),
        HAUL_OBJECT(mixed, one, &node_type),
        HAUL_OBJECTS(mixed, plain, &plain_type, HAUL_FIXED(5)),
        HAUL_POINTERS(mixed, pointers, &node_type, HAUL_FIXED(70)),
        HAUL_ARRAY(mixed, bytes, HAUL_FIXED(1200)),
    };
    const uintptr_t offset = 2 * WORD; /* it leads into the arena */
    haul_type *type;
    mixed m;
    size_t i;
    memset(&m, 0, sizeof m);
    for (i = 0; i < 70; i++)
        pointers[i] = i % 3 ? NULL : &nodes[i % 2];
    for (i = 0; i < 4; i++)
        nodes[i].data[0] = 1;
    memset(bytes, 1, sizeof bytes);
    memset(plain, 2, sizeof plain);
    memcpy(plain, &offset, WORD);
    nodes[1].next = &nodes[0];
    m.nodes = nodes;
    m.one = &nodes[1];
    m.node_count = 4;
    m.plain = (void *)plain;
    m.pointers = pointers;
    m.bytes = bytes;
    node_type = TYPE_NEW(node, node_fields);
    CHECK_STATUS(type_make("plain", 3 * WORD, NULL, 0, &plain_type), HAUL_OK);
    type = TYPE_NEW(mixed, fields);
    sample_check_objects(&m, type, 1, check);
    haul_type_free(&type);
    haul_type_free(&plain_type);
    haul_type_free(&node_type);
}

TEST(image_verdicts, an_object_of_an_array_may_be_the_target_of_a_pointer_of_its_own)
{
    with_mixed(sample_damage_all);
}

/* ---- Types that the scan does not know, though all their bytes are zeros. */

static void check_zeros(size_t bytes, const haul_field *fields, size_t count, int scan_decides)
{
    void *object = calloc(1, bytes);
    CHECK(object != NULL);
    check_verdict(&(const haul_struct){ .name = "zeros",
                                        .bytes = bytes,
                                        .fields = fields,
                                        .field_count = count,
                                        .field_bytes = sizeof *fields },
                  object, scan_decides);
    free(object);
}

static haul_field field_at(haul_field_kind kind, size_t number, size_t offset, size_t bytes)
{
    static char names[5000][8];
    haul_field field;
    memset(&field, 0, sizeof field);
    sprintf(names[number], "f%zu", number);
    field.name = names[number];
    field.kind = (int)kind;
    field.offset = offset;
    field.bytes = bytes;
    field.element_bytes = 1;
    return field;
}

TEST(image_verdicts, types_with_long_lists_and_large_ones_with_pointers_are_left_to_the_walk)
{
    enum { COUNT = 5000 };
    haul_field *fields = calloc(COUNT, sizeof *fields);
    size_t i;
    CHECK(fields != NULL);
    fields[0] = field_at(HAUL_FIELD_POINTER, 0, 0, WORD);
    check_zeros(65536, fields, 1, 1);
    check_zeros(65536 + 16, fields, 1, 0);
    check_zeros(100000, NULL, 0, 1);
    check_zeros(12, NULL, 0, 1);
    fields[0] = field_at(HAUL_FIELD_POINTER, 0, 0, COUNT * WORD); /* an array in the struct */
    check_zeros(COUNT * WORD, fields, 1, 0);
    for (i = 0; i < COUNT; i++)
        fields[i] = field_at(HAUL_FIELD_POINTER, i, i * WORD, WORD);
    check_zeros(4096 * WORD, fields, 4096, 1);
    check_zeros(4097 * WORD, fields, 4097, 0);
    for (i = 0; i < COUNT; i++)
        fields[i] = field_at(HAUL_FIELD_SKIP, i, 2 * i + 1, 1);
    check_zeros(2 * COUNT, fields, COUNT, 0);
    check_zeros(COUNT, fields, COUNT / 2, 1);
    free(fields);
}

/* ---- Limits. */

static int scan_accepts_within(const haul_context_options *options, const haul_struct *of,
                               void *object)
{
    haul_type *type = type_new(of);
    const haul_root root = { object, type, 1 };
    sample s;
    int accepts;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    sample_open_roots(&s, &root, 1, options);
    accepts = sample_scan_accepts(&s);
    CHECK_EQ(sample_walk_accepts(&s), accepts);
    sample_close(&s);
    haul_type_free(&type);
    return accepts;
}

TEST(image_verdicts, the_limits_of_a_context_hold_for_the_scan)
{
    static const haul_field fields[] = { HAUL_STRING(many, a),
                                         HAUL_ARRAY(many, numbers, HAUL_COUNT(many, count)) };
    static const haul_struct of = HAUL_STRUCT(many, NULL, fields);
    char text[] = "a text";
    int32_t numbers[3] = { 1, 2, 3 };
    haul_context_options options = { .max_scan_bytes = sizeof text,
                                     .max_array_elements = sizeof text,
                                     .max_objects = 10000 };
    many m;
    memset(&m, 0, sizeof m);
    m.a = text;
    m.numbers = numbers;
    m.count = 3;
    CHECK(scan_accepts_within(&options, &of, &m));
    options.max_scan_bytes--;
    CHECK(!scan_accepts_within(&options, &of, &m));
    options.max_scan_bytes++;
    options.max_array_elements--;
    CHECK(!scan_accepts_within(&options, &of, &m));
    options.max_array_elements++;
    options.max_objects = 2;
    CHECK(!scan_accepts_within(&options, &of, &m));
    options.max_objects = 10000;
    options.max_bytes = 16;
    CHECK(!scan_accepts_within(&options, &of, &m));
}

/* What only the walk can do. */
TEST(image_verdicts, a_context_that_checks_or_asks_what_is_readable_is_left_to_the_walk)
{
    haul_context_options options = { .checked = 1 };
    haul_type *type = type_new(&(const haul_struct)HAUL_PLAIN(node, NULL));
    node n;
    const haul_root root = { &n, type, 1 };
    sample s;
    memset(&n, 1, sizeof n);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    sample_open_roots(&s, &root, 1, &options);
    CHECK(!sample_scan_accepts(&s));
    CHECK(sample_walk_accepts(&s));
    sample_close(&s);
    options.checked = 0;
    options.readable = sample_is_readable;
    sample_open_roots(&s, &root, 1, &options);
    CHECK(!sample_scan_accepts(&s));
    sample_close(&s);
    haul_type_free(&type);
}

/* ---- What is met twice. */

typedef struct user {
    struct user *next;
    double *a, *b;         /* a_count and b_count */
    struct user *some[13]; /* some_count, each */
    uint32_t a_count, b_count, some_count, rest;
} user;

enum { USERS = 60 };

typedef struct users {
    haul_type *type;
    user at[USERS];
    sample s;
} users;

/* A list of users, of which each has the same arrays. */
static void users_open(users *u, double *numbers, uint32_t count, size_t some)
{
    static haul_type *type;
    static const haul_field fields[] = {
        HAUL_OBJECT(user, next, &type), HAUL_ARRAY(user, a, HAUL_COUNT(user, a_count)),
        HAUL_ARRAY(user, b, HAUL_COUNT(user, b_count)),
        HAUL_EACH(user, some, .target = &type, .count = HAUL_COUNT(user, some_count))
    };
    size_t i, k;
    memset(u, 0, sizeof *u);
    for (i = 0; i < USERS; i++) {
        u->at[i].next = i + 1 < USERS ? &u->at[i + 1] : NULL;
        u->at[i].a = u->at[i].b = numbers;
        u->at[i].a_count = u->at[i].b_count = count;
        for (k = 0; k < some; k++)
            u->at[i].some[k] = u->at;
        u->at[i].some_count = 1;
    }
    type = u->type = TYPE_NEW(user, fields);
    sample_open(&u->s, u->at, u->type, 1);
}

static user *first_user(users *u)
{
    const haul__image_root *root = (const void *)u->s.parts.part[HAUL__SECTION_ROOTS].at;
    return (user *)(void *)(u->s.parts.part[HAUL__SECTION_ARENA].at + root->offset);
}

static void users_close(users *u)
{
    sample_close(&u->s);
    haul_type_free(&u->type);
}

TEST(image_verdicts, an_array_that_is_met_again_is_one_of_as_many_elements)
{
    static double numbers[8] = { 1, 1, 1, 1, 1, 1, 1, 0 };
    static users u;
    users_open(&u, numbers, 8, 1);
    CHECK(sample_scan_accepts(&u.s));
    first_user(&u)->b_count = 7;
    CHECK_EQ(sample_scan_accepts(&u.s), WORD == sizeof(uint64_t)); /* if in as many granules */
    first_user(&u)->b_count = 4;
    CHECK(!sample_scan_accepts(&u.s));
    CHECK(sample_walk_accepts(&u.s));
    first_user(&u)->a_count = 4;
    first_user(&u)->b_count = 8;
    CHECK(!sample_scan_accepts(&u.s));
    users_close(&u);
}

TEST(image_verdicts, the_scan_looks_at_long_arrays_again_some_times_and_at_single_objects_always)
{
    static double numbers[4000];
    static users u;
    users_open(&u, numbers, 4000, 0);
    CHECK(!sample_scan_accepts(&u.s));
    CHECK(sample_walk_accepts(&u.s));
    users_close(&u);
    users_open(&u, numbers, 3, 12);
    CHECK(sample_scan_accepts(&u.s));
    users_close(&u);
}

/* ---- Arenas that come in pieces. */

typedef struct part {
    struct part *next;
    char *name;
    struct part **list; /* 4 */
    twig *twigs;        /* 5 */
    double *numbers;    /* 5 */
    char rest[1000];
} part;

static void damage_some(sample *s)
{
    size_t i;
    CHECK(sample_scan_accepts(s));
    for (i = 0; i < s->bytes / WORD; i++)
        s->is_owned[i] = (unsigned char)sample_has_bit(s, i);
    sample_compare(s, 0);
    for (i = 61; i < s->bytes; i += 24007) {
        sample_damage_byte(s, i);
        check_note("the bit of word %zu", i / WORD);
        s->parts.part[HAUL__SECTION_BITS].at[i / WORD / 8] ^= 1;
        sample_compare(s, 0);
        s->parts.part[HAUL__SECTION_BITS].at[i / WORD / 8] ^= 1;
    }
    check_note(NULL);
}

/* The pieces are of 65536 bytes. Each object, string and array begins a piece in some round. */
TEST(image_verdicts, graphs_of_more_than_a_piece_are_judged_by_the_scan)
{
    enum { COUNT = 180 };
    static haul_type *twig_type;
    static const haul_field twig_fields[] = { HAUL_OBJECT(twig, next, &twig_type) };
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(part, next, &type), HAUL_STRING(part, name),
                                  HAUL_POINTERS(part, list, &type, HAUL_FIXED(4)),
                                  HAUL_OBJECTS(part, twigs, &twig_type, HAUL_FIXED(5)),
                                  HAUL_ARRAY(part, numbers, HAUL_FIXED(5)) };
    part *all = calloc(COUNT, sizeof *all);
    char(*names)[400] = calloc(COUNT, sizeof *names);
    part *(*lists)[4] = calloc(COUNT, sizeof *lists);
    twig(*twigs)[5] = calloc(COUNT, sizeof *twigs);
    double(*numbers)[5] = calloc(COUNT, sizeof *numbers);
    sample s;
    size_t i, k;
    CHECK(all && names && lists && twigs && numbers);
    twig_type = TYPE_NEW(twig, twig_fields);
    for (i = 0; i < COUNT; i++) {
        all[i].next = i + 1 < COUNT ? &all[i + 1] : NULL;
        all[i].name = names[i];
        all[i].list = lists[i];
        all[i].twigs = twigs[i];
        all[i].numbers = numbers[i];
        memset(names[i], 'n', 1 + i);
        for (k = 0; k < 4; k++)
            lists[i][k] = &all[(i + 50 * k) % COUNT];
        for (k = 0; k < 5; k++) {
            twigs[i][k].number = (uint16_t)(i + k);
            numbers[i][k] = (double)k;
        }
    }
    type = TYPE_NEW(part, fields);
    sample_open(&s, all, type, 1);
    CHECK(s.bytes > 3 * 65536);
    damage_some(&s);
    sample_close(&s);
    haul_type_free(&type);
    haul_type_free(&twig_type);
    free(all);
    free(names);
    free(lists);
    free(twigs);
    free(numbers);
}

/* Nothing but objects, and nothing but arrays, which nobody has waited for before. */
TEST(image_verdicts, objects_and_arrays_of_more_than_a_piece_are_judged_by_the_scan)
{
    enum { COUNT = 9000 };
    static haul_type *node_type;
    static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &node_type),
                                              HAUL_OBJECT(node, other, &node_type) };
    static const haul_field fields[] = {
        HAUL_POINTERS(mixed, pointers, &node_type, HAUL_COUNT(mixed, node_count)),
        HAUL_ARRAY(mixed, bytes, HAUL_FIXED(100000)),
    };
    node *all = calloc(COUNT, sizeof *all);
    node **list = calloc(COUNT, sizeof *list);
    char *bytes = calloc(100000, 1);
    haul_type *type;
    mixed m;
    size_t i;
    CHECK(all && list && bytes);
    for (i = 0; i < COUNT; i++) {
        all[i].next = i + 1 < COUNT ? &all[i + 1] : NULL;
        all[i].data[0] = 1;
        list[i] = &all[0];
    }
    node_type = TYPE_NEW(node, node_fields);
    sample_check_objects(all, node_type, 1, damage_some);
    memset(&m, 0, sizeof m);
    memset(bytes, 1, 100000);
    all[0].next = NULL;
    m.pointers = list;
    m.node_count = COUNT;
    m.bytes = bytes;
    type = TYPE_NEW(mixed, fields);
    sample_check_objects(&m, type, 1, damage_some);
    haul_type_free(&type);
    haul_type_free(&node_type);
    free(all);
    free(list);
    free(bytes);
}

/* ---- Memory. */

/* Objects of one kind take a bit for each granule. */
TEST(image_verdicts, the_scan_of_objects_of_one_kind_takes_a_bit_for_each_granule)
{
    enum { COUNT = 9000 };
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(node, next, &type), HAUL_OBJECT(node, other, &type) };
    node *all = calloc(COUNT, sizeof *all);
    counted memory;
    sample s;
    size_t i;
    CHECK(all != NULL);
    for (i = 0; i < COUNT; i++)
        all[i].next = i + 1 < COUNT ? &all[i + 1] : NULL;
    type = TYPE_NEW(node, fields);
    sample_open(&s, all, type, 1);
    haul_context_free(&s.scans);
    CHECK_STATUS(counted_open(&memory, &s.scans), HAUL_OK);
    i = memory.held;
    CHECK(sample_scan_accepts(&s));
    CHECK(memory.most - i < s.bytes / (2 * WORD) / 8 + 2048);
    sample_close(&s);
    haul_type_free(&type);
    free(all);
}

/* With a fault at each event of its memory. */
static void check_faults_of_scan(sample *s)
{
    uint64_t event;
    int fired = 1;
    haul_context_free(&s->scans);
    for (event = 1; fired; event++) {
        fault_plan doors = { 0 };
        haul__filling filling;
        haul__claimed claimed;
        haul_status status;
        int is_right;
        CHECK_STATUS(fault_open_context(&doors, NULL, &s->scans), HAUL_OK);
        sample_prepare(s, s->scans, &filling, &claimed);
        fault_arm(&doors, FAULT_ONCE, event);
        status = haul__image_scan(&claimed, &filling, &is_right);
        fired = doors.fired != 0;
        fault_disarm(&doors);
        CHECK_STATUS(status, fired ? HAUL_ERROR_MEMORY : HAUL_OK);
        CHECK(is_right || fired);
        haul_context_free(&s->scans);
        fault_check_clean(&doors);
    }
    CHECK(event > 20);
}

TEST(image_verdicts, a_scan_without_memory_says_so)
{
    haul_root roots[2];
    forest f;
    sample s;
    forest_open(&f);
    CHECK_STATUS(haul_type_commit(f.tree), HAUL_OK);
    roots[0] = (haul_root){ f.twigs, f.twig, 5 };
    roots[1] = (haul_root){ f.trees, f.tree, 1 };
    sample_check_roots(roots, 2, check_faults_of_scan);
    forest_close(&f);
    ring_open(&s, TYPES, 64);
    check_faults_of_scan(&s);
    ring_close(&s, TYPES);
}
