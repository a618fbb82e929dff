/* Images read without types: every form of a field comes back from the text, and what the text says
 * wrong is refused, with its line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "haul.h"
#include "images/image_bytes.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/types.h"

enum { TYPES = HAUL__SECTION_TYPES };

static haul_status load(const image_bytes *image, haul_image **loaded)
{
    return haul_image_from_bytes(type_context(), image->at, image->count, NULL, 0, NULL, loaded);
}

static void write_roots(const haul_root *roots, size_t count, image_bytes *image)
{
    haul_file file = bytes_file(image);
    image->count = 0;
    CHECK_STATUS(haul_image_write(type_context(), haul_from_roots(roots, count), &file), HAUL_OK);
}

static void check_equal_images(const image_bytes *a, const image_bytes *b)
{
    CHECK_EQ(a->count, b->count);
    CHECK_BYTES(a->at, b->at, a->count);
}

/* The image of the roots, read without types and written again, is the same. */
static void check_roots(const haul_root *roots, size_t count)
{
    image_bytes image = { NULL, 0, 0 }, again = { NULL, 0, 0 };
    haul_image *loaded;
    size_t i, back;
    const haul_root *read;
    write_roots(roots, count, &image);
    CHECK_STATUS(load(&image, &loaded), HAUL_OK);
    read = haul_image_roots(loaded, &back);
    CHECK_EQ(back, count);
    for (i = 0; i < count; i++) {
        CHECK_EQ(read[i].count, roots[i].count);
        CHECK_STR(haul_type_name(read[i].type), haul_type_name(roots[i].type));
        CHECK(read[i].type != roots[i].type);
    }
    write_roots(read, back, &again);
    check_equal_images(&image, &again);
    haul_image_free(&loaded);
    bytes_free(&image);
    bytes_free(&again);
}

/* The same for one object; commits its type. */
static void check_object(void *object, haul_type *type)
{
    haul_root root = { NULL, NULL, 1 };
    root.address = object;
    root.type = type;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    check_roots(&root, 1);
}

static void check_and_free(void *object, haul_type *type)
{
    check_object(object, type);
    haul_type_free(&type);
}

#define PLAIN_NEW(S) type_new(&(const haul_struct)HAUL_PLAIN(S, NULL))

/* ---- Every form. */

/* Structs of this file have no padding: it would travel as the stack has it. */
typedef struct counted {
    uint8_t a, unused;
    int16_t b;
    int32_t more_unused;
    uint64_t c;
    int *one, *fixed, *product, *box, *plus, *times;
    char *name;
    uint16_t *until_seven;
} counted;

TEST(image_types, counts_come_back)
{
    const haul_field fields[] = {
        HAUL_ARRAY(counted, one, HAUL_ONE),
        HAUL_ARRAY(counted, fixed, HAUL_FIXED(3)),
        HAUL_ARRAY(counted, product, HAUL_COUNT(counted, a, b)),
        HAUL_ARRAY(counted, box, HAUL_COUNT(counted, a, b, c)),
        HAUL_ARRAY(counted, plus, HAUL_COUNT_PLUS(counted, a, -1)),
        HAUL_ARRAY(counted, times, HAUL_COUNT_TIMES(counted, b, 2)),
        HAUL_STRING(counted, name),
        HAUL_ARRAY(counted, until_seven, HAUL_TERMINATED_BY(7)),
    };
    int numbers[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    uint16_t seven[3] = { 5, 6, 7 };
    char name[] = "counted";
    counted c = {
        2, 0, 3, 0, 2, numbers, numbers, numbers, numbers, numbers, numbers, name, seven
    };
    check_and_free(&c, TYPE_NEW(counted, fields));
}

typedef struct pair {
    int *begin, *end, *room;
    int kind, unused;
} pair;

TEST(image_types, ends_and_conditions_come_back)
{
    const haul_field fields[] = {
        HAUL_ARRAY(pair, begin, HAUL_UNTIL(pair, end), .when = HAUL_BETWEEN(pair, kind, -3, 4)),
        HAUL_END_OF(pair, room, begin, .when = HAUL_BETWEEN(pair, kind, -3, 4)),
    };
    int numbers[4] = { 1, 2, 3, 4 };
    pair p = { numbers, numbers + 2, numbers + 4, -2, 0 };
    check_and_free(&p, TYPE_NEW(pair, fields));
}

TEST(image_types, a_field_that_asks_for_the_parent_comes_back)
{
    const haul_field fields[] = {
        HAUL_ARRAY(pair, begin, HAUL_UNTIL(pair, end), .ancestor = HAUL_PARENT),
    };
    int numbers[2] = { 1, 2 };
    pair p = { numbers, numbers + 2, NULL, 0, 0 };
    check_and_free(&p, TYPE_NEW(pair, fields));
}

typedef struct arms {
    union {
        double number;
        int *array;
        uintptr_t word;
    } is;
    uint8_t kind, flags;
    int16_t tag;
    int32_t unused;
    void *other;
} arms;

typedef struct item {
    int32_t tag;
    float weight;
} item;

TEST(image_types, arms_and_switches_come_back)
{
    haul_type *item_type = PLAIN_NEW(item);
    const haul_case by_self[] = { { -1, &item_type, 0 }, { 2, &item_type, -8 } };
    const haul_case by_target[] = { { 3, &item_type, 0 } };
    const haul_field fields[] = {
        HAUL_RAW(arms, is.number, .when = HAUL_EQUALS(arms, kind, 0)),
        HAUL_ARRAY(arms, is.array, HAUL_FIXED(2), .when = HAUL_EQUALS(arms, kind, 1),
                   .else_raw = 1),
        HAUL_ADDRESS(arms, other, .type_switch = HAUL_SWITCH(arms, tag, by_self)),
    };
    const haul_field others[] = {
        HAUL_RAW(arms, is.word, .when = HAUL_ANY_BIT(arms, flags, 6)),
        HAUL_ADDRESS(arms, other, .type_switch = HAUL_SWITCH_TARGET(item, tag, by_target),
                     .when = HAUL_DIFFERS(arms, kind, 9)),
    };
    item items[2] = { { 3, 0.5f }, { 3, 1.5f } };
    int numbers[2] = { 1, 2 };
    arms a = { { 0 }, 1, 4, 2, 0, &items[1] };
    a.is.array = numbers;
    check_and_free(&a, TYPE_NEW(arms, fields));
    a.other = items;
    check_and_free(&a, TYPE_NEW(arms, others));
    haul_type_free(&item_type);
}

typedef struct marked {
    struct marked *low, *maybe, *borrowed, *unless;
    int inside;
    int *to_inside;
} marked;

TEST(image_types, tags_integers_bases_and_owners_come_back)
{
    haul_type *type = NULL;
    const haul_field fields[] = {
        HAUL_OBJECT(marked, low, &type, .tag_bits = 3),
        HAUL_OBJECT(marked, maybe, &type, .integers_below = 100, .integers_from = (uintptr_t)-2),
        HAUL_OBJECT(marked, borrowed, &type, .ownership = HAUL_BORROWED,
                    .integers_from = (uintptr_t)-2),
        HAUL_OBJECT(marked, unless, &type, .ownership = HAUL_UNLESS_OWNED),
        HAUL_ADDRESS(marked, to_inside, .target = &type, .base = HAUL_CONTAINER_OF(marked, inside)),
    };
    marked m[3];
    memset(m, 0, sizeof m);
    m[0].low = (marked *)((uintptr_t)&m[1] | 1);
    m[0].maybe = (marked *)(uintptr_t)17;
    m[1].maybe = (marked *)(uintptr_t)-1;
    m[0].borrowed = &m[1];
    m[1].unless = &m[2];
    m[2].to_inside = &m[0].inside;
    type = TYPE_NEW(marked, fields);
    check_and_free(m, type);
}

typedef struct rows {
    uint8_t count, kind, unused[6];
    item **items;
    char **names;
    int ***deep;
    item *each_of[2];
} rows;

TEST(image_types, pointers_to_pointers_with_members_come_back)
{
    haul_type *item_type = PLAIN_NEW(item);
    const haul_case cases[] = { { 1, &item_type, 0 } };
    const haul_field each = { .type_switch = HAUL_SWITCH(rows, kind, cases),
                              .when = HAUL_EQUALS(rows, count, 2) };
    const haul_field fields[] = {
        HAUL_ADDRESS(rows, items, .levels = 2, .count = HAUL_COUNT(rows, count),
                     .each_pointer = &each),
        HAUL_STRINGS(rows, names, HAUL_TERMINATED),
        HAUL_ADDRESS(rows, deep, .levels = 3, .count = HAUL_FIXED(1), .count2 = HAUL_FIXED(2),
                     .count3 = HAUL_COUNT(rows, count), .element_bytes = sizeof(int)),
        HAUL_EACH(rows, each_of, .target = &item_type),
    };
    item items[2] = { { 1, 0.5f }, { 2, 1.5f } };
    item *list[2] = { &items[1], &items[0] };
    char one[] = "one", two[] = "two";
    char *names[3] = { one, two, NULL };
    int numbers[2] = { 8, 9 };
    int *level[2] = { numbers, NULL };
    int **top = level;
    rows r = { 2, 1, { 0 }, list, names, &top, { &items[0], NULL } };
    check_and_free(&r, TYPE_NEW(rows, fields));
    haul_type_free(&item_type);
}

#pragma pack(push, 1)
typedef struct packed {
    uint8_t first;
    int *to;
    int16_t last;
} packed;
#pragma pack(pop)

typedef struct holder {
    item in[2], *many;
    packed *tight;
    void *pool;
    double *in_only, *out_only, cache;
    struct tailed *tail;
    int32_t near_item, item_count;
    uint8_t pool_bytes, unused[7];
} holder;

typedef struct tailed {
    uint32_t count;
    item at[1];
} tailed;

TEST(image_types, embedded_packed_tailed_and_directed_fields_come_back)
{
    haul_type *item_type = PLAIN_NEW(item), *packed_type, *tailed_type;
    const haul_field packed_fields[] = { HAUL_ARRAY(packed, to, HAUL_FIXED(1), .packed = 1) };
    const haul_field tailed_fields[] = { HAUL_TAIL(tailed, at, HAUL_COUNT(tailed, count),
                                                   .target = &item_type) };
    const haul_field fields[] = {
        HAUL_EMBED(holder, in, &item_type),
        HAUL_OBJECTS(holder, many, &item_type, HAUL_COUNT(holder, item_count)),
        HAUL_OBJECT(holder, tight, &packed_type),
        HAUL_POOL(holder, pool, HAUL_COUNT(holder, pool_bytes)),
        HAUL_ARRAY(holder, in_only, HAUL_FIXED(2), .transfer = HAUL_COPYIN),
        HAUL_ARRAY(holder, out_only, HAUL_FIXED(2), .transfer = HAUL_COPYOUT),
        HAUL_SKIP(holder, cache),
        HAUL_OBJECT(holder, tail, &tailed_type),
        HAUL_RELATIVE(holder, near_item, .target = &item_type),
        HAUL_RAW(holder, unused, .transfer = HAUL_CREATE),
    };
    union {
        tailed t;
        unsigned char room[64];
    } tail = { .room = { 0 } };
    int number = 3;
    double in[2] = { 1, 2 }, out[2] = { 3, 4 };
    unsigned char pool[24] = { 1 };
    packed p = { 1, &number, 2 };
    holder h;
    memset(&h, 0, sizeof h);
    tail.t.count = 3;
    packed_type = TYPE_NEW(packed, packed_fields);
    tailed_type = TYPE_NEW(tailed, tailed_fields, .alignment = 4);
    h.many = h.in;
    h.item_count = 2;
    h.tight = &p;
    h.pool = pool;
    h.pool_bytes = 24;
    h.in_only = in;
    h.out_only = out;
    h.tail = &tail.t;
    h.near_item = (int32_t)((intptr_t)h.in - (intptr_t)&h.near_item);
    check_and_free(&h, TYPE_NEW(holder, fields));
    haul_type_free(&item_type);
    haul_type_free(&packed_type);
    haul_type_free(&tailed_type);
}

TEST(image_types, types_of_constructors_come_back)
{
    static const size_t lengths[3] = { 1, 0, 2 }, places[3] = { 0, 9, 3 }, bytes[2] = { 0, 24 };
    static const size_t sizes[2] = { 4, 6 }, subsizes[2] = { 2, 3 }, starts[2] = { 1, 2 };
    haul_type *type[12] = { NULL }, *item_type = PLAIN_NEW(item), *pair_of[2], *twice;
    int numbers[2] = { 4, 5 }, *to = numbers;
    double room[256] = { 1, 2, 3 };
    size_t i;
    haul_count two = HAUL_FIXED(2);
    CHECK_STATUS(haul_type_bytes(type_context(), "double", 8, &type[0]), HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(3, item_type, &type[1]), HAUL_OK);
    CHECK_STATUS(haul_type_vector(2, 2, 3, type[0], &type[2]), HAUL_OK);
    CHECK_STATUS(haul_type_create_hvector(100, 1, 16, type[0], &type[3]), HAUL_OK);
    CHECK_STATUS(haul_type_indexed(3, lengths, places, type[0], &type[4]), HAUL_OK);
    pair_of[0] = item_type;
    pair_of[1] = type[0];
    CHECK_STATUS(haul_type_create_struct(2, lengths, bytes, pair_of, &type[5]), HAUL_OK);
    CHECK_STATUS(
        haul_type_create_subarray(2, sizes, subsizes, starts, HAUL_ORDER_C, type[0], &type[6]),
        HAUL_OK);
    CHECK_STATUS(haul_type_create_resized(type[2], 0, 64, &type[7]), HAUL_OK);
    CHECK_STATUS(haul_type_dup(type[6], &type[8]), HAUL_OK);
    CHECK_STATUS(haul_type_pointer(type_context(), "link", NULL, sizeof(int), two, &type[9]),
                 HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(2, type[7], &twice), HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(2, twice, &type[10]), HAUL_OK);
    for (i = 0; i < 11; i++)
        check_object(i == 9 ? (void *)&to : room, type[i]);
    for (i = 0; i < 11; i++)
        haul_type_free(&type[i]);
    haul_type_free(&twice);
    haul_type_free(&item_type);
}

typedef struct odd {
    int *type, *block, *loop;
} odd;

TEST(image_types, several_roots_and_odd_names_come_back)
{
    const haul_field fields[] = {
        { .name = "type",
          .kind = HAUL_FIELD_POINTER,
          .offset = 0,
          .bytes = sizeof(int *),
          .element_bytes = sizeof(int),
          .count = HAUL_FIXED(2) },
        { .name = "block at=0 \\ \n\x7f\xc3\xa4",
          .kind = HAUL_FIELD_POINTER,
          .offset = offsetof(odd, block),
          .bytes = sizeof(int *),
          .element_bytes = sizeof(int),
          .count = HAUL_ONE },
        HAUL_ARRAY(odd, loop, HAUL_ONE),
    };
    int numbers[2] = { 1, 2 };
    odd o = { numbers, numbers, numbers + 1 };
    item items[3] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
    haul_type *item_type = PLAIN_NEW(item), *odd_type = TYPE_NEW(odd, fields);
    const haul_root roots[] = { { &o, odd_type, 1 }, { items, item_type, 3 }, { &o, odd_type, 1 } };
    CHECK_STATUS(haul_type_commit(item_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(odd_type), HAUL_OK);
    check_roots(roots, 3);
    haul_type_free(&item_type);
    haul_type_free(&odd_type);
}

/* ---- What the text says wrong. */

static void write_odd(image_bytes *image)
{
    const haul_field fields[] = { HAUL_ARRAY(odd, type, HAUL_FIXED(2)),
                                  HAUL_ARRAY(odd, block, HAUL_ONE),
                                  HAUL_ARRAY(odd, loop, HAUL_ONE) };
    int numbers[2] = { 1, 2 };
    odd o = { numbers, numbers, numbers + 1 };
    haul_type *type = TYPE_NEW(odd, fields);
    haul_root root = { NULL, NULL, 1 };
    root.address = &o;
    root.type = type;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    write_roots(&root, 1, image);
    haul_type_free(&type);
}

/* The image of an `odd` with this text in place of its own is refused; all memory goes back.
 * Answers the most bytes that it took. */
static uint64_t check_text(const char *text, haul_status expected, const char *words)
{
    image_bytes image = { NULL, 0, 0 };
    image_parts parts;
    haul_image *loaded;
    haul_context *context;
    fault_plan doors = { 0 };
    memset(&parts, 0, sizeof parts);
    CHECK_STATUS(fault_open_context(&doors, NULL, &context), HAUL_OK);
    write_odd(&image);
    image_split(&image, &parts);
    bytes_set(&parts.part[TYPES], text, strlen(text));
    image_join(&parts, &image);
    CHECK_STATUS(haul_image_from_bytes(context, image.at, image.count, NULL, 0, NULL, &loaded),
                 expected);
    CHECK_PTR(loaded, NULL);
    CHECK_HAS(haul_context_error(context)->text, words);
    haul_context_free(&context);
    fault_check_clean(&doors);
    image_parts_free(&parts);
    bytes_free(&image);
    return doors.host_most;
}

#define ODD "type odd bytes=24 lower=0 alignment=0\n"
#define FIELD(words) ODD "a kind=1 at=0 bytes=8 element=4 levels=1" words "\n"

TEST(image_types, a_line_that_cannot_be_read_is_named)
{
    check_text("", HAUL_ERROR_FORMAT, "line 1 of its types");
    check_text("\n", HAUL_ERROR_FORMAT, "there is no type");
    check_text("a kind=1 at=0 bytes=8 element=4 levels=1 count=1\n" ODD, HAUL_ERROR_FORMAT,
               "line 1 of its types cannot be read: it belongs to no type");
    check_text("type odd bytes=24 lower=0", HAUL_ERROR_FORMAT, "it has no end");
    check_text("type  bytes=24 lower=0 alignment=0\n", HAUL_ERROR_FORMAT, "a name is missing");
    check_text("type \\x00 bytes=24 lower=0 alignment=0\n", HAUL_ERROR_FORMAT, "a byte of 0");
    check_text("type odd bytes=99999999999999999999 lower=0 alignment=0\n", HAUL_ERROR_FORMAT,
               "a number is too large");
    check_text("type odd bytes= lower=0 alignment=0\n", HAUL_ERROR_FORMAT, "number is missing");
    check_text("type odd bytes=9223372036854775807 lower=9 alignment=0\n", HAUL_ERROR_FORMAT,
               sizeof(void *) > 4 ? "a size is too large" : "a number is too large");
    check_text(ODD "a kind=1 at=0 bytes=8 element=4\n", HAUL_ERROR_FORMAT, "line 2 of its types");
    check_text(FIELD(" count=12"), HAUL_ERROR_FORMAT, "goes on behind its end");
    check_text(FIELD(" count=product*1+0(0/4/1,0/4/1,0/4/1,0/4/1)"), HAUL_ERROR_FORMAT, "missing");
    check_text(FIELD(" count=1 else-raw packed else-raw"), HAUL_ERROR_FORMAT, "behind its end");
    check_text(FIELD(" target=1 count=1"), HAUL_ERROR_FORMAT, "a type that there is not");
    check_text(FIELD(" count=1 ownership=4"), HAUL_ERROR_FORMAT, "a number is too large");
    check_text(FIELD(" target=1 count=function"), HAUL_ERROR_FORMAT, "a type that there is not");
    check_text("type \\y41 bytes=24 lower=0 alignment=0\n", HAUL_ERROR_FORMAT, "a word is missing");
    check_text("type \\xy bytes=24 lower=0 alignment=0\n", HAUL_ERROR_FORMAT, "number is missing");
    check_text(ODD "\xff kind=1 at=0 bytes=8 element=4 levels=1 count=1\n", HAUL_ERROR_FORMAT,
               "not UTF-8");
}

/* Text with `many` times the same in the middle. */
static void check_repeated(const char *first, const char *again, size_t many, const char *last,
                           haul_status expected, const char *words)
{
    const size_t before = strlen(first), bytes = strlen(again);
    char *text = malloc(before + many * bytes + strlen(last) + 1);
    size_t i;
    CHECK(text != NULL);
    memcpy(text, first, before);
    for (i = 0; i < many; i++)
        memcpy(text + before + i * bytes, again, bytes);
    memcpy(text + before + many * bytes, last, strlen(last) + 1);
    check_text(text, expected, words);
    free(text);
}

TEST(image_types, names_and_text_that_are_too_long_and_too_many_fields_are_refused)
{
    static const char raw[] = "a kind=4 at=0 bytes=1 element=1 levels=0\n";
    check_repeated("type ", "n", HAUL_NAME_BYTES_MAX, " bytes=8 lower=0 alignment=0\n",
                   HAUL_ERROR_FORMAT, "a name is too long");
    check_repeated("type odd bytes=1 lower=0 alignment=0\n", raw, 200, "", HAUL_ERROR_LIMIT,
                   "more than 64 fields for each byte");
    check_repeated(ODD, raw, (1 << 20) / 40, "", HAUL_ERROR_LIMIT, "more than 1 MiB");
    check_repeated(ODD "a kind=1 at=0 bytes=8 element=4 levels=1 count=1 switch=self@0/4/1",
                   ",1:0+0", 4097, "\n", HAUL_ERROR_FORMAT, "goes on behind its end");
}

TEST(image_types, text_that_types_would_not_have_is_refused)
{
    check_text("type odd bytes=024 lower=0 alignment=0\n", HAUL_ERROR_FORMAT, "other types");
    check_text(ODD ODD, HAUL_ERROR_FORMAT, "other types");
    check_text(FIELD(" count=1 switch=self@0/4/1"), HAUL_ERROR_TYPE, "has no cases");
    check_text(FIELD(" count=1 ownership=2"), HAUL_ERROR_UNSUPPORTED, "one process alone");
    check_text(FIELD(" count=terminated(-9223372036854775808)"), HAUL_ERROR_TYPE, "ever equal to");
    check_text(ODD "a kind=1 at=64 bytes=8 element=4 levels=1 count=1\n", HAUL_ERROR_TYPE,
               "end behind the type's 24 bytes");
    check_text("type odd bytes=24 lower=0 alignment=0 elements\n"
               "a kind=1 at=0 bytes=8 element=4 levels=1 count=1\n",
               HAUL_ERROR_FORMAT, "its type has no fields");
}

/* Its types are given, so the text is only compared. */
TEST(image_types, a_text_that_ends_early_is_other_types_than_those_given)
{
    static const char *const texts[] = { "type", "type ", "type odd", "type odd bytes", "\n" };
    const haul_field fields[] = { HAUL_ARRAY(odd, type, HAUL_FIXED(2)),
                                  HAUL_ARRAY(odd, block, HAUL_ONE),
                                  HAUL_ARRAY(odd, loop, HAUL_ONE) };
    haul_type *type = TYPE_NEW(odd, fields);
    image_bytes image = { NULL, 0, 0 };
    image_parts parts;
    haul_image *loaded;
    size_t i;
    memset(&parts, 0, sizeof parts);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    write_odd(&image);
    image_split(&image, &parts);
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        bytes_set(&parts.part[TYPES], texts[i], strlen(texts[i]));
        image_join(&parts, &image);
        CHECK_STATUS(
            haul_image_from_bytes(type_context(), image.at, image.count, &type, 1, NULL, &loaded),
            HAUL_ERROR_TYPE);
        CHECK_STR(haul_context_error(type_context())->path, "odd");
    }
    image_parts_free(&parts);
    bytes_free(&image);
    haul_type_free(&type);
}

TEST(image_types, functions_are_named_and_refused)
{
    check_text(FIELD(" count=function"), HAUL_ERROR_UNSUPPORTED, "give the types");
    check_text(FIELD(" count=1 when=function"), HAUL_ERROR_UNSUPPORTED, "give the types");
    check_text(FIELD(" count=1 base=0+function"), HAUL_ERROR_UNSUPPORTED, "give the types");
    check_text(FIELD(" count=1 switch=function,1:0+0"), HAUL_ERROR_UNSUPPORTED, "give the types");
    check_text(FIELD(" count=1 ancestor=0"), HAUL_ERROR_UNSUPPORTED, "give the types");
    check_text("type odd bytes=24 lower=0 alignment=0 size=function\n", HAUL_ERROR_UNSUPPORTED,
               "give the types");
}

TEST(image_types, text_made_with_malice_takes_neither_time_nor_memory)
{
    const char *too_far = sizeof(void *) > 4 ? "its blocks end too far" : "a number is too large";
#define A "type a bytes=8 lower=0 alignment=0\n"
#define B "type b bytes=8 lower=0 alignment=0\n"
    check_text(A "block at=0 count=1 type=0\n", HAUL_ERROR_TYPE, "itself");
    check_text(A "block at=8 count=1 type=0\n", HAUL_ERROR_TYPE, "itself");
    check_text(A "block at=0 count=1 type=1\ntype b bytes=8 lower=0 alignment=0\n"
                 "block at=0 count=1 type=0\n",
               HAUL_ERROR_TYPE, "itself");
    check_text(A "block at=0 count=1 type=1\nloop count=1152921504606846976 stride=0\n"
                 "type b bytes=8 lower=0 alignment=0\n",
               sizeof(void *) > 4 ? HAUL_ERROR_TYPE : HAUL_ERROR_FORMAT, "");
    check_text(A "block at=0 count=100 type=1\ntype b bytes=8 lower=0 alignment=0\n",
               HAUL_ERROR_TYPE, "interleave");
    check_text(A "loop count=2 stride=8\n", HAUL_ERROR_FORMAT, "line 2");
    check_text(A "block at=0 count=1 type=7\n", HAUL_ERROR_FORMAT, "a type that there is not");
    check_text(A "block at=0 count=1 type=7\nblock at=0 count=1 type=1\n" B, HAUL_ERROR_FORMAT,
               "line 2 of its types cannot be read: it names a type");
    check_text(A "block at=0 count=1 type=1\nloop count=- stride=8\nloop count=2 stride=8\n" B,
               HAUL_ERROR_FORMAT, "line 3");
    check_text(A "block at=0 count=1 type=1\nblock at=0 count=1 type=1\nloop count=2 stride=8\n" B,
               HAUL_ERROR_FORMAT, "loops repeat one block");
    check_text(A "block at=0 count=1000000000000000000 type=1\n" B, HAUL_ERROR_FORMAT, too_far);
    check_text(A "block at=0 count=1 type=1\nloop count=10000000000 stride=10000000000\n" B,
               HAUL_ERROR_FORMAT, too_far);
    check_text(A "block at=8 count=1 type=1\nloop count=2 stride=18446744073709551615\n" B,
               HAUL_ERROR_FORMAT, too_far);
    check_text(A "block at=4611686018427387900 count=1 type=1\n" B, HAUL_ERROR_FORMAT, too_far);
    check_text(A "block at=4611686018427387800 count=1 type=1\n" B "block at=200 count=1 type=2\n"
                 "type c bytes=8 lower=0 alignment=0\n",
               HAUL_ERROR_FORMAT, too_far);
    check_text("type a bytes=0 lower=0 alignment=0\nblock at=0 count=1 type=1\n" B,
               HAUL_ERROR_FORMAT, "or it has no bytes");
    check_text("type a bytes=0 lower=0 alignment=0\n", HAUL_ERROR_FORMAT,
               "a bit calls it a pointer");
    check_text(A "block at=0 count=1 type=1\nloop count=0 stride=8\n" B, HAUL_ERROR_FORMAT, "");
    check_text(A "block at=0 count=1 type=1\ntype b bytes=0 lower=0 alignment=0\n",
               HAUL_ERROR_FORMAT, "");
    check_text("type a bytes=16 lower=0 alignment=0\nblock at=8 count=1 type=1\n"
               "block at=0 count=1 type=1\n" B,
               HAUL_ERROR_FORMAT, "a bit calls it a pointer");
    check_text(A "block at=0 count=1 type=1\n" B "block at=0 count=0 type=2\n"
                 "type c bytes=8 lower=0 alignment=0\n",
               HAUL_ERROR_FORMAT, "a bit calls it a pointer");
    check_text("type odd bytes=400000 lower=0 alignment=0\n"
               "a kind=1 at=0 bytes=160000 element=4 levels=1 count=product*1+0(300000/4/1)\n",
               HAUL_ERROR_LIMIT, "too many pointers");
#undef A
#undef B
}

/* The types may say that an object begins far behind its address: that is its hole. */
TEST(image_types, a_hole_that_leaves_the_image_is_refused_before_it_takes_memory_F29)
{
    char text[256];
    const size_t word = sizeof(void *);
    snprintf(text, sizeof text,
             "type odd bytes=%zu lower=268435456 alignment=0\n"
             "a kind=1 at=0 bytes=%zu element=4 levels=1 count=product*0+2()\n"
             "b kind=3 at=%zu bytes=4 element=0 levels=0\n",
             3 * word, word, word);
    CHECK(check_text(text, HAUL_ERROR_GRAPH, "not readable") < 1u << 20);
}

TEST(image_types, memory_that_runs_out_is_told_and_given_back)
{
    haul_type *item_type = PLAIN_NEW(item), *three, *arms_type;
    const haul_case cases[] = { { 1, &item_type, 0 }, { 2, &item_type, 0 } };
    const haul_field fields[] = { HAUL_ADDRESS(arms, other,
                                               .type_switch = HAUL_SWITCH(arms, tag, cases)) };
    item items[3] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
    arms a = { { 0 }, 0, 0, 2, 0, items };
    haul_root roots[2] = { { &a, NULL, 1 }, { items, NULL, 1 } };
    image_bytes image = { NULL, 0, 0 };
    uint64_t at;
    int fired = 1;
    arms_type = TYPE_NEW(arms, fields);
    CHECK_STATUS(haul_type_contiguous(3, item_type, &three), HAUL_OK);
    CHECK_STATUS(haul_type_commit(arms_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(three), HAUL_OK);
    roots[0].type = arms_type;
    roots[1].type = three;
    write_roots(roots, 2, &image);
    for (at = 1; fired; at++) {
        fault_plan doors = { 0 };
        haul_context *context;
        haul_image *loaded;
        haul_status status;
        CHECK_STATUS(fault_open_context(&doors, NULL, &context), HAUL_OK);
        fault_arm(&doors, FAULT_ONCE, at);
        status = haul_image_from_bytes(context, image.at, image.count, NULL, 0, NULL, &loaded);
        fired = doors.fired != 0;
        fault_disarm(&doors);
        CHECK(status == (loaded ? HAUL_OK : HAUL_ERROR_MEMORY));
        CHECK(fired || loaded);
        haul_image_free(&loaded);
        haul_context_free(&context);
        fault_check_clean(&doors);
    }
    CHECK(at > 20);
    bytes_free(&image);
    haul_type_free(&three);
    haul_type_free(&arms_type);
    haul_type_free(&item_type);
}

/* Each byte of the text with other values, the checksums set anew: refused, or a graph of other
 * types that can be walked and written. */
TEST(image_types, a_damaged_text_is_refused_or_a_graph_of_other_types)
{
    static const char other[] = { 0, '\n', ' ', '0', '9', '-', 'a', (char)0xff };
    image_bytes image = { NULL, 0, 0 }, again = { NULL, 0, 0 };
    haul__image_section *s;
    size_t count, i, k, accepted = 0;
    unsigned char *text;
    write_odd(&image);
    s = image_sections(&image, &count);
    CHECK_EQ(s->kind, TYPES);
    text = image.at + s->offset;
    for (i = 0; i < s->bytes; i++)
        for (k = 0; k < sizeof other + 8; k++) {
            const unsigned char was = text[i];
            haul_image *loaded;
            text[i] = k < 8 ? (unsigned char)(was ^ 1u << k) : (unsigned char)other[k - 8];
            image_sign(&image);
            if (load(&image, &loaded) == HAUL_OK) {
                write_roots(haul_image_roots(loaded, &count), 1, &again);
                haul_image_free(&loaded);
                accepted++;
            }
            text[i] = was;
        }
    CHECK(accepted > 0);
    bytes_free(&image);
    bytes_free(&again);
}
