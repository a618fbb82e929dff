/* One object of an image lies over a number that another one counts by, or over its pointer. The
 * image is accepted where the bytes mean the same for both, or nothing to one of them.
 */
#include <string.h>

#include "images/image_bytes.h"
#include "support/check.h"
#include "support/types.h"

static haul_status load_again(void *object, haul_type *type)
{
    static const haul_image_options calls = { .calls_functions = 1 };
    image_bytes image = { NULL, 0, 0 };
    haul_file file = bytes_file(&image);
    haul_image *loaded;
    haul_status status;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(object, type), &file), HAUL_OK);
    status =
        haul_image_from_bytes(type_context(), image.at, image.count, &type, 1, &calls, &loaded);
    haul_image_free(&loaded);
    bytes_free(&image);
    return status;
}

/* ---- Over a number. */

/* The bytes around the number are zeros, and travel for nobody but what lies over them. */
typedef struct host {
    uint64_t before[16], number, after[16];
    double *numbers; /* `number` of them: none */
    void *over;      /* one object, or `count` */
    void *beside;    /* one of another type, which lies elsewhere */
    uint64_t other[8];
} host;

static haul_type *over_type, *beside_type;

/* Objects of over_type, of which the first one's byte `offset` is the number's first. */
static void check_over(const char *what, ptrdiff_t offset, int64_t count, int is_right)
{
    haul_field fields[] = {
        HAUL_SKIP(host, before),
        HAUL_SKIP(host, after),
        HAUL_SKIP(host, other),
        HAUL_ARRAY(host, numbers, HAUL_COUNT(host, number)),
        HAUL_ADDRESS(host, over, .target = &over_type, .count = HAUL_FIXED(0)),
        HAUL_ADDRESS(host, beside, .target = &beside_type),
    };
    haul_type *type;
    host h;
    memset(&h, 0, sizeof h);
    h.over = (unsigned char *)&h.number - offset;
    h.beside = beside_type ? h.other : NULL;
    fields[4].count.plus = count;
    type = type_new(&(const haul_struct){ .name = "host",
                                          .bytes = sizeof h,
                                          .fields = fields,
                                          .field_count = beside_type ? 6 : 5,
                                          .field_bytes = sizeof *fields });
    check_note("%s, byte %d", what, (int)offset);
    CHECK_STATUS(load_again(&h, type), is_right ? HAUL_OK : HAUL_ERROR_GRAPH);
    if (!is_right)
        CHECK_HAS(haul_context_error(type_context())->text, "data of another object");
    check_note(NULL);
    haul_type_free(&type);
}

static void over_close(void)
{
    haul_type_free(&over_type);
    haul_type_free(&beside_type);
}

typedef struct early {
    uint32_t hole[2], data[8]; /* hole: skipped */
} early;

typedef struct late {
    uint32_t data[2], hole[4];
} late;

typedef struct middle {
    uint32_t hole[2], data[2], end[2]; /* hole and end: skipped */
} middle;

TEST(image_overlaps, an_object_that_skips_bytes_has_no_data_there_but_beside_them)
{
    static const haul_field early_fields[] = { HAUL_SKIP(early, hole) };
    static const haul_field late_fields[] = { HAUL_SKIP(late, hole) };
    static const haul_field middle_fields[] = { HAUL_SKIP(middle, hole), HAUL_SKIP(middle, end) };
    over_type = TYPE_NEW(early, early_fields);
    check_over("early", 0, 1, 1);
    check_over("early", 4, 1, 0);
    check_over("early", 40, 2, 1);
    over_close();
    over_type = TYPE_NEW(late, late_fields);
    check_over("late", 4, 1, 0);
    check_over("late", 8, 1, 1);
    check_over("late", -4, 1, 0);
    check_over("late", 20, 1, 1);
    check_over("late", 20, 2, 0);
    over_close();
    over_type = TYPE_NEW(middle, middle_fields);
    check_over("middle", 4, 2, 0);
    check_over("middle", 8, 2, 0);
    check_over("middle", 12, 2, 0);
    check_over("middle", 16, 2, 1);
    check_over("middle", 20, 2, 1);
    check_over("middle", 24, 2, 1);
    check_over("middle", 28, 2, 0);
    check_over("middle", 40, 2, 1);
    over_close();
}

typedef struct interleaved {
    uint64_t hole, data[2]; /* hole: skipped; the next one begins with the second of `data` */
} interleaved;

TEST(image_overlaps, the_bytes_behind_an_extent_are_the_last_element_s)
{
    static const haul_field fields[] = { HAUL_SKIP(interleaved, hole) };
    haul_type *whole = TYPE_NEW(interleaved, fields);
    CHECK_STATUS(haul_type_create_resized(whole, 0, 2 * sizeof(uint64_t), &over_type), HAUL_OK);
    check_over("interleaved", 0, 1, 1);
    check_over("interleaved", 16, 1, 0);
    check_over("interleaved", 32, 2, 0);
    over_close();
    haul_type_free(&whole);
}

typedef struct sized {
    uint64_t bytes, hole; /* hole: skipped; more follow */
} sized;

static int64_t forty(const haul_here *here)
{
    (void)here;
    return 40;
}

TEST(image_overlaps, an_object_with_a_size_of_its_own_has_data_behind_its_fields)
{
    static const haul_field fields[] = { HAUL_SKIP(sized, hole) };
    over_type = TYPE_NEW(sized, fields, .size_fn = forty);
    check_over("sized", 0, 1, 0);
    check_over("sized", 8, 1, 1);
    check_over("sized", 16, 1, 0);
    check_over("sized", 24, 1, 0);
    over_close();
}

typedef struct tailed {
    uint32_t data, hole[3], tail[2];
} tailed;

typedef struct ended {
    uint32_t data, hole[3];
    middle tail[1];
} ended;

TEST(image_overlaps, a_tail_is_data_from_its_first_byte_on_as_far_as_its_elements_are)
{
    static haul_type *middle_type;
    static const haul_field middle_fields[] = { HAUL_SKIP(middle, hole), HAUL_SKIP(middle, end) };
    static const haul_field tailed_fields[] = { HAUL_SKIP(tailed, hole),
                                                HAUL_TAIL(tailed, tail, HAUL_FIXED(4)) };
    static const haul_field ended_fields[] = {
        HAUL_SKIP(ended, hole), HAUL_TAIL(ended, tail, HAUL_FIXED(2), .target = &middle_type)
    };
    over_type = TYPE_NEW(tailed, tailed_fields);
    check_over("tailed", 4, 1, 1);
    check_over("tailed", 8, 1, 1);
    check_over("tailed", 12, 1, 0);
    check_over("tailed", 16, 1, 0);
    check_over("tailed", 24, 1, 0);
    over_close();
    middle_type = TYPE_NEW(middle, middle_fields);
    over_type = TYPE_NEW(ended, ended_fields);
    check_over("ended", 8, 1, 1);
    check_over("ended", 16, 1, 1);
    check_over("ended", 24, 1, 0);
    check_over("ended", 32, 1, 1);
    over_close();
    haul_type_free(&middle_type);
}

typedef struct armed {
    uint64_t kind, raw, data;
} armed;

static int64_t always(const haul_here *here)
{
    (void)here;
    return 1;
}

TEST(image_overlaps, an_arm_that_a_function_chooses_counts_as_no_data)
{
    static const haul_field fields[] = { HAUL_RAW(armed, raw, .when = HAUL_WHEN_FN(always)) };
    static const haul_field as_it_is[] = { HAUL_RAW(armed, raw, .when = HAUL_WHEN_FN(always),
                                                    .else_raw = 1) };
    over_type = TYPE_NEW(armed, fields);
    check_over("chosen", 8, 1, 1);
    check_over("data", 16, 1, 0);
    over_close();
    over_type = TYPE_NEW(armed, as_it_is);
    check_over("chosen or as it is", 8, 1, 1);
    over_close();
}

typedef struct leaf {
    uint64_t value[2];
} leaf;

typedef struct chooser {
    uint64_t kind;
    void *to;
} chooser;

/* Only tags that stand in the target do. */
TEST(image_overlaps, a_number_that_the_pointer_s_own_struct_chooses_by_is_no_tag_of_the_target)
{
    static const haul_case cases[] = { { 0, &over_type, 0 } };
    static const haul_field fields[] = { HAUL_ADDRESS(
        chooser, to, .type_switch = HAUL_SWITCH(chooser, kind, cases)) };
    over_type = type_new(&(const haul_struct)HAUL_PLAIN(leaf, NULL));
    beside_type = TYPE_NEW(chooser, fields);
    check_over("leaf", 0, 1, 0);
    over_close();
}

typedef struct keyed {
    uint64_t kind, count, each_kind, data;
    int32_t **each;
} keyed;

TEST(image_overlaps, the_pointers_of_a_conditional_list_count_and_choose_by_its_struct)
{
    static const haul_field each = { .when = HAUL_EQUALS(keyed, each_kind, 1) };
    static const haul_field fields[] = {
        HAUL_ADDRESS(keyed, each, .levels = 2, .element_bytes = sizeof(int32_t),
                     .count = HAUL_FIXED(1), .count2 = HAUL_COUNT(keyed, count),
                     .when = HAUL_EQUALS(keyed, kind, 1), .each_pointer = &each),
    };
    over_type = TYPE_NEW(keyed, fields);
    check_over("kind", 0, 1, 1);
    check_over("count", 8, 1, 1);
    check_over("each_kind", 16, 1, 1);
    check_over("data", 24, 1, 0);
    over_close();
}

/* ---- A number and a pointer in the same bytes. */

typedef struct both {
    uintptr_t kind;
    union {
        struct both *next;
        uintptr_t count;
    } is;
    double *list; /* is.count */
} both;

TEST(image_overlaps, a_number_may_lie_in_a_pointer_that_is_null)
{
    haul_type *type = NULL;
    const haul_field fields[] = {
        HAUL_OBJECT(both, is.next, &type, .when = HAUL_EQUALS(both, kind, 1), .else_raw = 1),
        HAUL_ARRAY(both, list, HAUL_COUNT(both, is.count)),
    };
    double number = 1;
    both b = { 0, { NULL }, NULL };
    type = TYPE_NEW(both, fields);
    CHECK_STATUS(load_again(&b, type), HAUL_OK);
    b.kind = 1;
    CHECK_STATUS(load_again(&b, type), HAUL_OK);
    b.kind = 0;
    b.is.count = 1;
    b.list = &number;
    CHECK_STATUS(load_again(&b, type), HAUL_OK);
    haul_type_free(&type);
}

typedef struct shares {
    uint64_t data[2];
    both **pointers; /* one: b->is.next */
    both *b;
} shares;

TEST(image_overlaps, a_number_in_a_null_pointer_may_lie_in_an_array_of_pointers_too)
{
    haul_type *type = NULL, *both_type = NULL;
    const haul_field both_fields[] = {
        HAUL_OBJECT(both, is.next, &both_type, .when = HAUL_EQUALS(both, kind, 1), .else_raw = 1),
        HAUL_ARRAY(both, list, HAUL_COUNT(both, is.count)),
    };
    const haul_field fields[] = { HAUL_POINTERS(shares, pointers, &both_type, HAUL_FIXED(1)),
                                  HAUL_OBJECT(shares, b, &both_type) };
    both b = { 1, { NULL }, NULL };
    shares s = { { 1, 2 }, &b.is.next, &b };
    both_type = TYPE_NEW(both, both_fields);
    type = TYPE_NEW(shares, fields);
    CHECK_STATUS(load_again(&s, type), HAUL_OK);
    haul_type_free(&type);
    haul_type_free(&both_type);
}

typedef struct counts {
    uintptr_t count;
    double *list;
} counts;

typedef struct lists {
    uint64_t hole[4]; /* skipped */
    void *pool;
    counts *in; /* within it */
} lists;

TEST(image_overlaps, a_number_may_lie_in_a_pool_and_not_in_an_array)
{
    static haul_type *counts_type;
    static const haul_field counts_fields[] = { HAUL_ARRAY(counts, list,
                                                           HAUL_COUNT(counts, count)) };
    static const haul_field with_pool[] = {
        HAUL_SKIP(lists, hole),
        HAUL_POOL(lists, pool, HAUL_FIXED(64)),
        HAUL_OBJECT(lists, in, &counts_type),
    };
    static const haul_field with_array[] = {
        HAUL_SKIP(lists, hole),
        HAUL_BYTES(lists, pool, HAUL_FIXED(sizeof(uintptr_t))),
        HAUL_OBJECT(lists, in, &counts_type),
    };
    uintptr_t area[64 / sizeof(uintptr_t)];
    double number = 1;
    haul_type *type;
    lists l;
    memset(&l, 0, sizeof l);
    memset(area, 0, sizeof area);
    counts_type = TYPE_NEW(counts, counts_fields);
    l.in = (counts *)(void *)area;
    l.pool = area;
    type = TYPE_NEW(lists, with_array);
    CHECK_STATUS(load_again(&l, type), HAUL_ERROR_GRAPH);
    haul_type_free(&type);
    type = TYPE_NEW(lists, with_pool);
    CHECK_STATUS(load_again(&l, type), HAUL_OK);
    l.in->count = 1;
    l.in->list = &number;
    CHECK_STATUS(load_again(&l, type), HAUL_OK);
    haul_type_free(&type);
    haul_type_free(&counts_type);
}

/* ---- One pointer in two objects, of which a plan follows one. */

typedef struct view {
    void *to;
    uint64_t data;
    char rest[16 - sizeof(void *)];
} view;

typedef struct views {
    leaf *leaves; /* 2 */
    view *first, *second;
} views;

static leaf leaves[2];

static haul_type *one_type, *other_type;

/* Both see one object, whose pointer is one of the first field for one, and of the second for the
 * other. */
static haul_status two_views(haul_field first, haul_field second, void *to)
{
    haul_type *types[2];
    const haul_field fields[] = {
        HAUL_ARRAY(views, leaves, HAUL_FIXED(2)),
        HAUL_OBJECT(views, first, &types[0]),
        HAUL_OBJECT(views, second, &types[1]),
    };
    haul_type *type;
    haul_status status;
    view seen;
    views v;
    memset(&seen, 0, sizeof seen);
    memset(&v, 0, sizeof v);
    seen.to = to;
    v.leaves = leaves;
    v.first = v.second = &seen;
    CHECK_STATUS(type_make("first", sizeof(view), &first, 1, &types[0]), HAUL_OK);
    CHECK_STATUS(type_make("second", sizeof(view), &second, 1, &types[1]), HAUL_OK);
    type = TYPE_NEW(views, fields);
    status = load_again(&v, type);
    if (status != HAUL_OK)
        CHECK_HAS(haul_context_error(type_context())->text, "two different targets");
    haul_type_free(&type);
    haul_type_free(&types[0]);
    haul_type_free(&types[1]);
    return status;
}

#define TO(...) (haul_field) HAUL_ADDRESS(view, to, __VA_ARGS__)

TEST(image_overlaps, a_pointer_that_two_types_have_leads_to_the_same_objects_for_both)
{
    static void *null[2];
    one_type = type_new(&(const haul_struct)HAUL_PLAIN(leaf, NULL));
    other_type = type_new(&(const haul_struct)HAUL_PLAIN(leaf, NULL));
    CHECK_STATUS(two_views(TO(.target = &one_type), TO(.target = &one_type), leaves), HAUL_OK);
    CHECK_STATUS(two_views(TO(.target = &one_type), TO(.target = &other_type), leaves),
                 HAUL_ERROR_GRAPH);
    CHECK_STATUS(two_views(TO(.target = &one_type), TO(.element_bytes = sizeof(leaf)), leaves),
                 HAUL_ERROR_GRAPH);
    CHECK_STATUS(
        two_views(TO(.target = &one_type), TO(.target = &one_type, .count = HAUL_FIXED(2)), leaves),
        HAUL_ERROR_GRAPH);
    CHECK_STATUS(two_views(TO(.target = &one_type, .count = HAUL_FIXED(0)),
                           TO(.target = &other_type, .count = HAUL_FIXED(0)), leaves),
                 HAUL_OK);
    CHECK_STATUS(two_views(TO(.target = &one_type, .levels = 2, .count2 = HAUL_FIXED(0)),
                           TO(.target = &one_type, .levels = 2, .count2 = HAUL_FIXED(0)), null),
                 HAUL_OK);
    CHECK_STATUS(two_views(TO(.target = &one_type, .levels = 2),
                           TO(.target = &other_type, .levels = 2), null),
                 HAUL_OK); /* there are no objects */
    CHECK_STATUS(
        two_views(TO(.target = &one_type, .levels = 2), TO(.target = &one_type, .levels = 3), null),
        HAUL_ERROR_GRAPH);
    CHECK_STATUS(two_views(TO(.target = &one_type, .levels = 2, .count = HAUL_FIXED(0)),
                           TO(.target = &one_type, .levels = 3, .count = HAUL_FIXED(0)), leaves),
                 HAUL_OK);
    CHECK_STATUS(two_views(TO(.target = &one_type, .base = -(int)sizeof(leaf)),
                           TO(.target = &one_type, .base = -2 * (int)sizeof(leaf)), &leaves[2]),
                 HAUL_ERROR_GRAPH);
    haul_type_free(&one_type);
    haul_type_free(&other_type);
}

TEST(image_overlaps, a_pointer_to_a_string_for_two_types_ends_at_the_same_value_for_both)
{
    static char text[] = "a\1b";
    const haul_field string = TO(.element_bytes = 1, .count = HAUL_TERMINATED);
    const haul_field by_one = TO(.element_bytes = 1, .count = HAUL_TERMINATED_BY(1));
    CHECK_STATUS(two_views(string, string, text), HAUL_OK);
    CHECK_STATUS(two_views(by_one, by_one, text), HAUL_OK);
    CHECK_STATUS(two_views(string, by_one, text), HAUL_ERROR_GRAPH);
    CHECK_STATUS(two_views(string, TO(.element_bytes = 1, .count = HAUL_FIXED(1)), text),
                 HAUL_ERROR_GRAPH);
    CHECK_STATUS(two_views(string, TO(.element_bytes = 1, .count = HAUL_FIXED(4)), text),
                 HAUL_ERROR_GRAPH);
}

typedef struct hung {
    char *whole, *rest;
} hung;

typedef struct hangs {
    view *first;
    hung *second;
} hangs;

/* The end of `rest` is known once `whole` has been followed. */
TEST(image_overlaps, a_pointer_to_the_rest_of_a_string_may_be_one_of_two_objects)
{
    static haul_type *view_type, *hung_type;
    static char text[] = "a string";
    static const haul_field view_fields[] = { HAUL_ADDRESS(view, to, .element_bytes = 1,
                                                           .count = HAUL_TERMINATED) };
    static const haul_field hung_fields[] = { HAUL_STRING(hung, whole), HAUL_STRING(hung, rest) };
    static const haul_field fields[] = { HAUL_OBJECT(hangs, first, &view_type),
                                         HAUL_OBJECT(hangs, second, &hung_type) };
    struct {
        char *whole;
        view is;
    } both;
    haul_type *type;
    hangs h;
    memset(&both, 0, sizeof both);
    both.whole = text;
    both.is.to = text + 2;
    h.first = &both.is;
    h.second = (hung *)(void *)&both;
    view_type = TYPE_NEW(view, view_fields);
    hung_type = TYPE_NEW(hung, hung_fields);
    type = TYPE_NEW(hangs, fields);
    CHECK_STATUS(load_again(&h, type), HAUL_OK);
    haul_type_free(&type);
    haul_type_free(&hung_type);
    haul_type_free(&view_type);
}

typedef struct nested {
    leaf small;
    view is;
} nested;

typedef struct nests {
    nested *all;
    leaf *small; /* ends before the pointer */
    view *is;
} nests;

TEST(image_overlaps, an_object_that_ends_between_hides_no_pointer_of_the_one_around_it)
{
    static haul_type *nested_type, *view_type;
    static const haul_field nested_fields[] = { HAUL_ADDRESS(nested, is.to, .element_bytes = 1) };
    static const haul_field view_fields[] = { HAUL_ADDRESS(view, to, .element_bytes = 1,
                                                           .count = HAUL_FIXED(2)) };
    static const haul_field fields[] = { HAUL_OBJECT(nests, all, &nested_type),
                                         HAUL_ARRAY(nests, small, HAUL_ONE),
                                         HAUL_OBJECT(nests, is, &view_type) };
    static char bytes[2];
    haul_type *type;
    nested n;
    nests all = { &n, &n.small, &n.is };
    memset(&n, 0, sizeof n);
    n.is.to = bytes;
    nested_type = TYPE_NEW(nested, nested_fields);
    view_type = TYPE_NEW(view, view_fields);
    type = TYPE_NEW(nests, fields);
    CHECK_STATUS(load_again(&all, type), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(type_context())->text, "two different targets");
    haul_type_free(&type);
    haul_type_free(&view_type);
    haul_type_free(&nested_type);
}

/* ---- The ends of arrays that a value ends. */

typedef struct ends {
    uintptr_t *until; /* 0 */
    counts *in;       /* counts by the 0; NULL: nothing does */
} ends;

TEST(image_overlaps, an_array_may_hold_its_own_end_and_no_number_of_another_object)
{
    static haul_type *counts_type;
    static const haul_field counts_fields[] = { HAUL_ARRAY(counts, list,
                                                           HAUL_COUNT(counts, count)) };
    static const haul_field fields[] = {
        HAUL_ARRAY(ends, until, HAUL_TERMINATED),
        HAUL_OBJECT(ends, in, &counts_type),
    };
    struct {
        uintptr_t before[3];
        counts in;
    } on;
    ends e = { on.before, NULL };
    haul_type *type;
    memset(&on, 0, sizeof on);
    on.before[0] = on.before[1] = on.before[2] = 1;
    counts_type = TYPE_NEW(counts, counts_fields);
    type = TYPE_NEW(ends, fields);
    CHECK_STATUS(load_again(&e, type), HAUL_OK);
    e.in = &on.in;
    CHECK_STATUS(load_again(&e, type), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(type_context())->text, "data of another object");
    haul_type_free(&type);
    haul_type_free(&counts_type);
}

/* ---- Over a pointer that no bit tells. */

#pragma pack(push, 1)
typedef struct packed {
    uint8_t number;
    void *to;
    uint8_t rest[16 - 1 - sizeof(void *)];
} packed;

typedef struct longer {
    uint8_t number;
    void *to;
    uint8_t data[32 - 1 - sizeof(void *)];
} longer;
#pragma pack(pop)

typedef struct covers {
    packed *first;
    void *second; /* of another type */
} covers;

TEST(image_overlaps, a_pointer_off_the_grid_is_one_for_all_objects_that_have_its_bytes)
{
    static haul_type *first_type, *second_type;
    static const haul_field packed_fields[] = { HAUL_ADDRESS(packed, to, .element_bytes = 1,
                                                             .packed = 1) };
    static const haul_field longer_fields[] = { HAUL_ADDRESS(longer, to, .element_bytes = 1,
                                                             .packed = 1) };
    static const haul_field fields[] = { HAUL_OBJECT(covers, first, &first_type),
                                         HAUL_ADDRESS(covers, second, .target = &second_type) };
    struct {
        uint8_t before[16];
        packed is;
        uint8_t after[32];
    } on;
    haul_type *type;
    covers c = { &on.is, &on.is };
    memset(&on, 0, sizeof on);
    first_type = TYPE_NEW(packed, packed_fields);
    second_type = TYPE_NEW(longer, longer_fields);
    type = TYPE_NEW(covers, fields);
    CHECK_STATUS(load_again(&c, type), HAUL_OK);
    c.second = (void *)((unsigned char *)&on.is - sizeof(void *) - 1);
    CHECK_STATUS(load_again(&c, type), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(type_context())->text, "data of another object");
    haul_type_free(&type);
    haul_type_free(&first_type);
    haul_type_free(&second_type);
}
