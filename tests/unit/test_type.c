/* Types: creation, recursion, the results of commit, holds between types, queries and iteration.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "base/sort.h"
#include "haul/type.h"
#include "haul/type_mpi.h"
#include "mesh.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/types.h"
#include "type/field.h"
#include "type/type.h"

#define WORD sizeof(void *)
#define COUNT(array) (sizeof(array) / sizeof *(array))

static haul_type *made(const char *name, size_t bytes, const haul_field *fields, size_t count)
{
    haul_type *type;
    CHECK_STATUS(type_make(name, bytes, fields, count, &type), HAUL_OK);
    return type;
}

static haul_type *bytes_type(size_t bytes)
{
    haul_type *type;
    CHECK_STATUS(haul_type_bytes(type_context(), "bytes", bytes, &type), HAUL_OK);
    return type;
}

static const haul__walk *committed(haul_type *type)
{
    haul_status status = haul_type_commit(type);
    if (status != HAUL_OK)
        check_note("%s: %s", type_error()->path, type_error()->text);
    CHECK_STATUS(status, HAUL_OK);
    CHECK(haul__type_walk(type) != NULL);
    return haul__type_walk(type);
}

TEST(type, an_ordinary_struct_is_one_run_and_its_pointers)
{
    const haul__walk *walk;
    mesh_type = made("mesh", sizeof(mesh), mesh_fields, 3);
    CHECK(haul__type_walk(mesh_type) == NULL);
    walk = committed(mesh_type);
    CHECK_STR(walk->name, "mesh");
    CHECK_EQ(walk->extent, sizeof(mesh));
    CHECK_EQ(walk->alignment, WORD < 8 ? 4 : 8);
    CHECK_EQ(walk->placement, 2 * sizeof(void *));
    CHECK_EQ(walk->payload, sizeof(mesh));
    CHECK_EQ(walk->true_lower, 0);
    CHECK_EQ(walk->true_upper, sizeof(mesh));
    CHECK_EQ(walk->run_count, 1);
    CHECK_EQ(walk->runs[0].offset, 0);
    CHECK_EQ(walk->runs[0].bytes, sizeof(mesh));
    CHECK_EQ(walk->kind, HAUL__WALK_DENSE);
    CHECK(walk->has_slots);
    CHECK_EQ(walk->part_count, 0);
    CHECK_EQ(walk->slot_count, 3);
    CHECK_EQ(walk->slots[0].offset, offsetof(mesh, xyz));
    CHECK_STR(walk->slots[0].name, "xyz");
    CHECK(walk->slots[0].target == NULL);
    CHECK_EQ(walk->slots[0].unit, sizeof(double));
    CHECK_EQ(walk->slots[0].shape->kind, HAUL_COUNT_KIND_PRODUCT);
    CHECK_EQ(walk->slots[0].shape->field[1].offset, offsetof(mesh, dim));
    CHECK_EQ(walk->slots[0].levels, 1);
    CHECK_EQ(walk->slots[0].flags, 0);
    CHECK_PTR(walk->slots[1].target, mesh_type);
    CHECK_EQ(walk->slots[1].unit, sizeof(mesh));
    CHECK_STR(walk->slots[2].name, "name");
    CHECK_EQ(walk->slots[2].unit, 1);
    haul_type_free(&mesh_type);
    CHECK(mesh_type == NULL);
}

typedef struct husband {
    struct wife *partner;
    int age;
} husband;
typedef struct wife {
    struct husband *partner;
    char *name;
} wife;

static haul_type *husband_type, *wife_type;
static const haul_field husband_fields[] = { HAUL_OBJECT(husband, partner, &wife_type) };
static const haul_field wife_fields[] = { HAUL_OBJECT(wife, partner, &husband_type),
                                          HAUL_STRING(wife, name) };

TEST(type, commit_takes_in_types_that_point_to_each_other)
{
    husband_type = made("husband", sizeof(husband), husband_fields, 1);
    wife_type = made("wife", sizeof(wife), wife_fields, 2);
    CHECK_PTR(committed(husband_type)->slots[0].target, wife_type);
    CHECK(haul_type_committed(wife_type));
    CHECK_PTR(haul__type_walk(wife_type)->slots[0].target, husband_type);
    haul_type_free(&husband_type);
    CHECK_PTR(haul__type_walk(wife_type)->slots[0].target,
              haul__type_walk(wife_type)->slots[0].target);
    CHECK_EQ(haul__type_walk(haul__type_walk(wife_type)->slots[0].target)->extent, sizeof(husband));
    haul_type_free(&wife_type);
}

TEST(type, rows_can_be_added_until_commit_and_in_any_order)
{
    haul_type *self = NULL;
    haul_field_info field;
    const haul__walk *walk;
    mesh_type = NULL;
    self = made("mesh", sizeof(mesh), NULL, 0);
    mesh_type = self;
    CHECK_STATUS(haul_type_add(self, &mesh_fields[2], 1), HAUL_OK);
    CHECK_STATUS(haul_type_add(self, &mesh_fields[0], 2), HAUL_OK);
    CHECK_EQ(haul_type_field_count(self), 3);
    CHECK_STATUS(haul_type_get_field(self, 0, &field), HAUL_OK);
    CHECK_STR(field.name, "xyz");
    walk = committed(self);
    CHECK_STR(walk->slots[0].name, "xyz");
    CHECK_STR(walk->slots[2].name, "name");
    CHECK_STATUS(haul_type_add(self, &mesh_fields[0], 1), HAUL_ERROR_STATE);
    CHECK_EQ(type_error()->status, HAUL_ERROR_STATE);
    CHECK_STATUS(haul_type_commit(self), HAUL_OK);
    haul_type_free(&mesh_type);
}

typedef struct vec {
    double *begin, *end, *cap;
    int n;
} vec;

TEST(type, an_end_pointer_is_a_slot_that_is_not_followed)
{
    static const haul_field fields[] = { HAUL_ARRAY(vec, begin, HAUL_UNTIL(vec, end)),
                                         HAUL_SKIP(vec, cap) };
    haul_type *type = made("vec", sizeof(vec), fields, 2);
    const haul__walk *walk = committed(type);
    CHECK_EQ(walk->slot_count, 2);
    CHECK_EQ(walk->slots[1].offset, offsetof(vec, end));
    CHECK_EQ(walk->slots[1].flags, HAUL__SLOT_END);
    CHECK_EQ(walk->slots[1].levels, 0);
    CHECK_EQ(walk->slots[0].flags, 0);
    CHECK_EQ(walk->run_count, 2);
    CHECK_EQ(walk->runs[0].bytes, 2 * WORD);
    CHECK_EQ(walk->runs[1].offset, 3 * WORD);
    CHECK_EQ(walk->payload, sizeof(vec) - WORD);
    CHECK_EQ(walk->kind, HAUL__WALK_LOOSE);
    haul_type_free(&type);
}

typedef struct csr {
    int *a, *b, *c;
} csr;

TEST(type, an_end_can_be_the_begin_or_the_end_of_another_array)
{
    static const haul_field chain[] = { HAUL_ARRAY(csr, a, HAUL_UNTIL(csr, b)),
                                        HAUL_ARRAY(csr, b, HAUL_UNTIL(csr, c)) };
    static const haul_field twice[] = { HAUL_ARRAY(csr, a, HAUL_UNTIL(csr, c)),
                                        HAUL_ARRAY(csr, b, HAUL_UNTIL(csr, c)) };
    haul_type *type = made("chain", sizeof(csr), chain, 2);
    const haul__walk *walk = committed(type);
    CHECK_EQ(walk->slot_count, 3);
    CHECK_EQ(walk->slots[1].flags, 0);
    CHECK_EQ(walk->slots[2].flags, HAUL__SLOT_END);
    haul_type_free(&type);
    type = made("twice", sizeof(csr), twice, 2);
    walk = committed(type);
    CHECK_EQ(walk->slot_count, 3);
    CHECK_EQ(walk->slots[2].flags, HAUL__SLOT_END);
    haul_type_free(&type);
}

typedef struct oct {
    struct oct *child[8];
    char *label[2];
    int n;
} oct;
static haul_type *oct_type;

TEST(type, an_array_of_pointers_in_the_struct_is_a_slot_for_each)
{
    static const haul_field fields[] = { HAUL_EACH(oct, child, .target = &oct_type),
                                         HAUL_EACH(oct, label, .count = HAUL_TERMINATED) };
    const haul__walk *walk;
    oct_type = made("oct", sizeof(oct), fields, 2);
    walk = committed(oct_type);
    CHECK_EQ(walk->slot_count, 10);
    CHECK_STR(walk->slots[3].name, "child[3]");
    CHECK_EQ(walk->slots[3].index, 3);
    CHECK_EQ(walk->slots[3].offset, 3 * WORD);
    CHECK_STR(walk->slots[9].name, "label[1]");
    CHECK_EQ(walk->slots[9].index, 1);
    CHECK_EQ(walk->kind, HAUL__WALK_DENSE);
    haul_type_free(&oct_type);
}

typedef struct wide {
    int n;
    int *row[1000];
    int *counted[70];
} wide;

TEST(type, a_large_array_of_pointers_is_a_part_unless_its_shape_reads_the_struct)
{
    static const haul_field fields[] = { HAUL_EACH(wide, row, .count = HAUL_FIXED(3)),
                                         HAUL_EACH(wide, counted, .count = HAUL_COUNT(wide, n)) };
    haul_type *type = made("wide", sizeof(wide), fields, 2);
    const haul__walk *walk = committed(type), *one;
    CHECK_EQ(walk->part_count, 1);
    CHECK_EQ(walk->parts[0].offset, offsetof(wide, row));
    CHECK_EQ(walk->parts[0].count, 1000);
    CHECK_EQ(walk->parts[0].stride, WORD);
    CHECK_STR(walk->parts[0].name, "row");
    one = haul__type_walk(walk->parts[0].type);
    CHECK_EQ(one->slot_count, 1);
    CHECK_EQ(one->kind, HAUL__WALK_DENSE);
    CHECK_EQ(one->slots[0].unit, sizeof(int));
    CHECK_EQ(walk->slot_count, 70);
    CHECK_EQ(walk->slots[69].index, 69);
    CHECK_EQ(walk->run_count, 2);
    CHECK_EQ(walk->payload, sizeof(wide));
    CHECK_EQ(walk->true_upper, sizeof(wide));
    CHECK_EQ(walk->kind, HAUL__WALK_LOOSE);
    haul_type_free(&type);
}

typedef struct corner {
    int n;
    double *at;
    struct box *owner;
} corner;
typedef struct box {
    int id;
    corner corner[3];
    corner *spare;
} box;
typedef struct room {
    char tag;
    box box;
    box more[40];
} room;
static haul_type *corner_type, *box_type, *room_type;
static const haul_field corner_fields[] = { HAUL_ARRAY(corner, at, HAUL_COUNT(corner, n)),
                                            HAUL_OBJECT(corner, owner, &box_type) };
static const haul_field box_fields[] = { HAUL_EMBED(box, corner, &corner_type),
                                         HAUL_OBJECT(box, spare, &corner_type) };
static const haul_field room_fields[] = { HAUL_EMBED(room, box, &box_type),
                                          HAUL_EMBED(room, more, &box_type) };

TEST(type, embedded_structs_are_taken_in_with_their_names_and_selves)
{
    const haul__walk *walk;
    corner_type = made("corner", sizeof(corner), corner_fields, 2);
    box_type = made("box", sizeof(box), box_fields, 2);
    room_type = made("room", sizeof(room), room_fields, 2);
    walk = committed(room_type);
    CHECK_EQ(walk->slot_count, 7);
    CHECK_STR(walk->slots[3].name, "box.corner[1].owner");
    CHECK_STR(walk->slots[6].name, "box.spare");
    CHECK_EQ(walk->slots[2].self, offsetof(room, box) + offsetof(box, corner) + sizeof(corner));
    CHECK_EQ(walk->slots[2].offset, walk->slots[2].self + offsetof(corner, at));
    CHECK_EQ(walk->slots[6].self, offsetof(room, box));
    CHECK_EQ(walk->part_count, 1);
    CHECK_STR(walk->parts[0].name, "more");
    CHECK_EQ(walk->parts[0].count, 40);
    CHECK_EQ(walk->parts[0].stride, sizeof(box));
    CHECK_PTR(walk->parts[0].type, box_type);
    CHECK_EQ(walk->run_count, 1);
    CHECK_EQ(walk->runs[0].bytes, offsetof(room, more));
    CHECK_EQ(walk->payload, sizeof(room));
    CHECK_EQ(walk->alignment, WORD);
    haul_type_free(&room_type);
    haul_type_free(&box_type);
    haul_type_free(&corner_type);
}

typedef struct point {
    double x, y;
} point;
typedef struct cloud {
    int n;
    point points[1000];
} cloud;

TEST(type, embedded_structs_without_pointers_add_nothing)
{
    haul_type *point_type = made("point", sizeof(point), NULL, 0), *type;
    haul_field fields[] = { HAUL_EMBED(cloud, points, &point_type) };
    const haul__walk *walk;
    type = made("cloud", sizeof(cloud), fields, 1);
    walk = committed(type);
    CHECK_EQ(walk->kind, HAUL__WALK_PLAIN);
    CHECK(!walk->has_slots);
    CHECK_EQ(walk->run_count, 1);
    CHECK_EQ(walk->part_count, 0);
    haul_type_free(&type);
    haul_type_free(&point_type);
}

typedef struct cache {
    int kept;
    int dropped;
} cache;
typedef struct holder {
    cache few[2];
    cache many[100];
} holder;

TEST(type, skipped_fields_of_embedded_structs_are_holes)
{
    static const haul_field cache_fields[] = { HAUL_SKIP(cache, dropped) };
    haul_type *cache_type = made("cache", sizeof(cache), cache_fields, 1), *type;
    haul_field fields[] = { HAUL_EMBED(holder, few, &cache_type),
                            HAUL_EMBED(holder, many, &cache_type) };
    const haul__walk *walk;
    size_t size;
    type = made("holder", sizeof(holder), fields, 2);
    CHECK_STATUS(haul_type_size(type, &size), HAUL_OK); /* still open */
    CHECK_EQ(size, 102 * sizeof(int));
    CHECK(!haul_type_committed(type) && !haul_type_committed(cache_type));
    walk = committed(type);
    CHECK_EQ(walk->run_count, 2);
    CHECK_EQ(walk->runs[1].offset, sizeof(cache));
    CHECK_EQ(walk->part_count, 1);
    CHECK_EQ(walk->payload, 102 * sizeof(int));
    CHECK_EQ(walk->true_upper, sizeof(holder) - sizeof(int));
    CHECK(!walk->has_slots);
    haul_type_free(&type);
    haul_type_free(&cache_type);
}

typedef struct chars {
    char **argv;
    int argc;
    double **rows, ***cube;
    int n, m;
} chars;

TEST(type, pointers_to_pointers_keep_a_shape_for_each_level)
{
    static const haul_field fields[] = {
        HAUL_STRINGS(chars, argv, HAUL_TERMINATED),
        HAUL_ARRAYS(chars, rows, HAUL_COUNT(chars, n), HAUL_COUNT(chars, m)),
        HAUL_ADDRESS(chars, cube, .levels = 3, .element_bytes = sizeof(***((chars *)0)->cube),
                     .count = HAUL_COUNT(chars, n), .count2 = HAUL_COUNT(chars, m),
                     .count3 = HAUL_FIXED(4))
    };
    haul_type *type = made("chars", sizeof(chars), fields, 3);
    const haul__walk *walk = committed(type);
    CHECK_EQ(walk->slots[0].levels, 2);
    CHECK_EQ(walk->slots[0].unit, 1);
    CHECK_EQ(walk->slots[0].shape[1].kind, HAUL_COUNT_KIND_TERMINATED);
    CHECK_EQ(walk->slots[1].shape[1].field[0].offset, offsetof(chars, m));
    CHECK_EQ(walk->slots[2].levels, 3);
    CHECK_EQ(walk->slots[2].shape[2].plus, 4);
    CHECK_EQ(walk->slots[2].unit, sizeof(double));
    haul_type_free(&type);
}

TEST(type, a_pointer_type_gives_pointers_of_any_depth)
{
    haul_count one = HAUL_ONE, five = HAUL_FIXED(5);
    haul_type *inner, *middle, *outer;
    CHECK_STATUS(haul_type_pointer(type_context(), "p", NULL, 4, five, &inner), HAUL_OK);
    CHECK_STATUS(haul_type_pointer(type_context(), "pp", &inner, 0, one, &middle), HAUL_OK);
    CHECK_STATUS(haul_type_pointer(type_context(), "ppp", &middle, WORD, five, &outer), HAUL_OK);
    CHECK_EQ(haul_type_combiner(outer), HAUL_COMBINER_POINTER);
    CHECK_PTR(committed(outer)->slots[0].target, middle);
    CHECK_PTR(haul__type_walk(middle)->slots[0].target, inner);
    CHECK_EQ(haul__type_walk(inner)->slots[0].unit, 4);
    haul_type_free(&inner);
    haul_type_free(&middle);
    haul_type_free(&outer);
}

TEST(type, a_target_of_plain_elements_is_plain_bytes)
{
    haul_count until = HAUL_TERMINATED_BY(-1);
    haul_type *integer, *type;
    CHECK_STATUS(haul_type_bytes(type_context(), "int", 4, &integer), HAUL_OK);
    CHECK_STATUS(haul_type_pointer(type_context(), "list", &integer, 0, until, &type), HAUL_OK);
    CHECK(committed(type)->slots[0].target == NULL);
    CHECK_EQ(haul__type_walk(type)->slots[0].unit, 4);
    haul_type_free(&type);
    haul_type_free(&integer);
}

TEST(type, packed_pointers_are_marked_odd_and_ask_for_no_alignment)
{
    haul_field fields[] = { HAUL_ARRAY(csr, a, HAUL_FIXED(1), .packed = 1),
                            HAUL_ARRAY(csr, b, HAUL_ONE) };
    haul_type *type;
    const haul__walk *walk;
    fields[0].offset = 3;
    type = made("packed", 3 + WORD, fields, 1);
    walk = committed(type);
    CHECK_EQ(walk->slots[0].flags & HAUL__SLOT_OFF_GRID, HAUL__SLOT_OFF_GRID);
    CHECK_EQ(walk->alignment, 1);
    CHECK_EQ(walk->placement, 2 * sizeof(void *));
    haul_type_free(&type);
}

TEST(type, a_declared_alignment_is_kept_by_what_embeds_the_type)
{
    const haul_struct of_line = { .name = "line", .bytes = 128, .alignment = 64 };
    haul_type *line = type_new(&of_line), *type;
    haul_field fields[] = { HAUL_EMBED(cloud, points, &line) };
    const haul__walk *walk;
    fields[0].offset = 64;
    fields[0].bytes = 256;
    type = made("around", 320, fields, 1);
    walk = committed(type);
    CHECK_EQ(walk->alignment, 64);
    CHECK_EQ(walk->placement, 64);
    CHECK_EQ(haul__type_walk(line)->placement, 64);
    haul_type_free(&type);
    haul_type_free(&line);
}

/* --- who holds whom --------------------------------------------------------------------------- */

/* Three nodes of a cycle, a constructor over one, a pointer to that; every order of freeing them.
 * What is left must still be readable, and the sanitizer sees what is not given back. */
static void free_in_order(const unsigned *order)
{
    haul_count two = HAUL_FIXED(2);
    haul_type *types[4] = { NULL, NULL, NULL, NULL };
    haul_field fields[] = { HAUL_ADDRESS(csr, a), HAUL_ADDRESS(csr, b) };
    size_t i, k;
    fields[0].target = &types[1];
    fields[1].target = &types[3];
    types[0] = made("first", sizeof(csr), fields, 2);
    fields[0].target = &types[0];
    types[1] = made("second", sizeof(csr), fields, 1);
    CHECK_STATUS(haul_type_contiguous(3, types[0], &types[2]), HAUL_OK);
    CHECK_STATUS(haul_type_pointer(type_context(), "third", &types[2], 0, two, &types[3]), HAUL_OK);
    committed(types[1]);
    for (i = 0; i < 4; i++) {
        haul_type_free(&types[order[i]]);
        for (k = 0; k < 4; k++)
            if (types[k])
                CHECK(haul__type_walk(haul__type_walk(types[k])->slots[0].target) != NULL);
    }
}

TEST(type, types_of_one_commit_can_be_freed_in_every_order)
{
    unsigned order[4], a, b, c;
    for (a = 0; a < 4; a++)
        for (b = 0; b < 4; b++)
            for (c = 0; c < 4; c++)
                if (a != b && a != c && b != c) {
                    order[0] = a;
                    order[1] = b;
                    order[2] = c;
                    order[3] = 6 - a - b - c;
                    free_in_order(order);
                }
}

TEST(type, a_committed_type_keeps_the_types_that_it_leads_to)
{
    haul_type *leaf = made("leaf", 16, NULL, 0), *row, *top;
    haul_field fields[] = { HAUL_ADDRESS(csr, a), HAUL_ADDRESS(csr, b) };
    committed(leaf);
    CHECK_STATUS(haul_type_contiguous(4, leaf, &row), HAUL_OK);
    fields[0].target = &row;
    fields[1].target = &leaf;
    top = made("top", sizeof(csr), fields, 2);
    committed(top);
    haul_type_free(&leaf);
    haul_type_free(&row);
    CHECK_EQ(haul__type_walk(haul__type_walk(top)->slots[0].target)->extent, 64);
    CHECK_EQ(haul__type_walk(haul__type_walk(top)->slots[1].target)->extent, 16);
    haul_type_free(&top);
    CHECK(top == NULL);
    haul_type_free(&top);
    haul_type_free(NULL);
}

TEST(type, a_held_type_outlives_its_handle)
{
    haul_type *type = made("held", 16, NULL, 0), *kept = type;
    committed(type);
    haul__type_hold(kept);
    haul_type_free(&type);
    CHECK_EQ(haul__type_walk(kept)->extent, 16);
    haul__type_drop(kept);
}

TEST(type, open_types_that_were_never_committed_leave_nothing)
{
    haul_type *leaf = made("leaf", 16, NULL, 0), *a, *b, *types[3];
    size_t ones[3] = { 1, 1, 1 }, places[3] = { 0, 64, 128 };
    CHECK_STATUS(haul_type_contiguous(4, leaf, &a), HAUL_OK);
    types[0] = a;
    types[1] = types[2] = leaf;
    CHECK_STATUS(haul_type_create_struct(3, ones, places, types, &b), HAUL_OK);
    haul_type_free(&leaf);
    haul_type_free(&a);
    CHECK_EQ(haul_type_field_count(b), 3);
    haul_type_free(&b);
}

TEST(type, a_chain_of_a_hundred_thousand_holders_is_freed_without_recursion)
{
    haul_type *type = bytes_type(8), *next;
    haul_count one = HAUL_ONE;
    size_t i;
    for (i = 0; i < 100000; i++) { /* open constructors: never committed, so depth is no matter */
        CHECK_STATUS(haul_type_dup(type, &next), HAUL_OK);
        haul_type_free(&type);
        type = next;
    }
    haul_type_free(&type);
    type = bytes_type(8);
    committed(type);
    for (i = 0; i < 100000; i++) { /* committed groups, each held by the next */
        CHECK_STATUS(haul_type_pointer(type_context(), "p", &type, 0, one, &next), HAUL_OK);
        committed(next);
        haul_type_free(&type);
        type = next;
    }
    haul_type_free(&type);
}

/* --- queries ---------------------------------------------------------------------------------- */

TEST(type, queries_answer_the_same_before_and_after_commit)
{
    haul_type *type;
    size_t i, size, lower, extent, true_lower, true_extent;
    static const haul_field fields[] = { HAUL_SKIP(vec, begin), HAUL_RAW(vec, end),
                                         HAUL_SKIP(vec, n) };
    type = made("vec", sizeof(vec), fields, 3);
    for (i = 0; i < 2; i++) {
        CHECK_STATUS(haul_type_size(type, &size), HAUL_OK);
        CHECK_EQ(size, sizeof(vec) - WORD - sizeof(int));
        CHECK_STATUS(haul_type_get_extent(type, &lower, &extent), HAUL_OK);
        CHECK(lower == 0 && extent == sizeof(vec));
        CHECK_STATUS(haul_type_get_true_extent(type, &true_lower, &true_extent), HAUL_OK);
        CHECK_EQ(true_lower, WORD);
        CHECK_EQ(true_lower + true_extent, WORD == 8 ? sizeof(vec) : offsetof(vec, n));
        CHECK_STR(haul_type_name(type), "vec");
        CHECK_EQ(haul_type_combiner(type), HAUL_COMBINER_STRUCT_FIELDS);
        CHECK_EQ(haul_type_committed(type), i);
        committed(type);
    }
    haul_type_free(&type);
}

TEST(type, queries_refuse_nothing_and_what_embeds_nothing)
{
    haul_type *none = NULL, *type;
    haul_field fields[] = { HAUL_EMBED(room, box, &none) };
    size_t size = 7, lower, extent;
    haul_field_info field;
    type = made("open", sizeof(room), fields, 1);
    CHECK_STATUS(haul_type_size(type, &size), HAUL_ERROR_TYPE);
    CHECK_EQ(size, 0);
    CHECK_STATUS(haul_type_get_true_extent(type, &lower, &extent), HAUL_ERROR_TYPE);
    CHECK_STATUS(haul_type_get_extent(type, &lower, &extent), HAUL_OK);
    CHECK_STATUS(haul_type_size(NULL, &size), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_size(type, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_get_extent(NULL, &lower, &extent), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_get_true_extent(NULL, &lower, &extent), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_get_true_extent(type, NULL, &extent), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_get_true_extent(type, &lower, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_EQ(lower + extent, 0);
    CHECK_STATUS(haul_type_get_field(type, 1, &field), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_get_field(type, 0, NULL), HAUL_ERROR_ARGUMENT);
    CHECK(haul_type_name(NULL) == NULL && haul_type_field_count(NULL) == 0 &&
          !haul_type_committed(NULL));
    CHECK(haul__type_walk(NULL) == NULL);
    haul_type_free(&type);
}

TEST(type, iteration_gives_the_rows_in_order_of_their_offsets)
{
    haul_field_info field;
    size_t i;
    corner_type = made("corner", sizeof(corner), corner_fields, 2);
    box_type = made("box", sizeof(box), box_fields, 2);
    for (i = 0; i < 2; i++) {
        CHECK_EQ(haul_type_field_count(box_type), 2);
        CHECK_STATUS(haul_type_get_field(box_type, 0, &field), HAUL_OK);
        CHECK_STR(field.name, "corner");
        CHECK_EQ(field.kind, HAUL_FIELD_EMBED);
        CHECK_EQ(field.count, 3);
        CHECK_EQ(field.stride, sizeof(corner));
        CHECK_EQ(field.bytes, 3 * sizeof(corner));
        CHECK_PTR(field.target, corner_type);
        CHECK(field.counts == NULL);
        CHECK_STATUS(haul_type_get_field(box_type, 1, &field), HAUL_OK);
        CHECK_EQ(field.kind, HAUL_FIELD_POINTER);
        CHECK_EQ(field.count, 1);
        CHECK_EQ(field.element_bytes, sizeof(corner));
        CHECK_EQ(field.levels, 1);
        CHECK_EQ(field.counts[0].kind, HAUL_COUNT_KIND_ONE);
        committed(box_type);
    }
    haul_type_free(&box_type);
    haul_type_free(&corner_type);
}

TEST(type, shape_fields_are_read_in_every_width_and_signedness)
{
    unsigned char bytes[16];
    haul_integer place = { 3, 8, 0, { 0, 0, 0 } };
    int64_t value;
    memset(bytes, 0xff, sizeof bytes);
    CHECK(!haul__read_field(bytes, &place, &value));
    place.sign = 1;
    CHECK(haul__read_field(bytes, &place, &value) && value == -1);
    for (place.bytes = 1; place.bytes < 8; place.bytes = (uint8_t)(2 * place.bytes)) {
        place.sign = 1;
        CHECK(haul__read_field(bytes, &place, &value) && value == -1);
        place.sign = 0;
        CHECK(haul__read_field(bytes, &place, &value));
        CHECK_EQ(value, ((int64_t)1 << (8 * place.bytes)) - 1);
    }
}

/* --- size ------------------------------------------------------------------------------------- */

/* T11. Rows are given in the worst order there is for a sort that looks at the middle. */
TEST(type, a_million_rows_are_one_type)
{
    size_t count = LARGE(1000000, 200000), i;
    haul_field row = HAUL_ARRAY(csr, a, HAUL_FIXED(1)), *rows = malloc(count * sizeof *rows);
    haul_type *type;
    clock_t before;
    const haul__walk *walk;
    CHECK(rows != NULL);
    for (i = 0; i < count; i++) {
        rows[i] = row;
        rows[i].offset = (size_t)((uint64_t)i * 7919 % count) * WORD;
    }
    before = clock(); /* of this process: others may be at work */
    type = made("large", count * WORD, rows, count);
    walk = committed(type);
    check_note("%.2f seconds", (double)(clock() - before) / CLOCKS_PER_SEC);
    CHECK_EQ(walk->slot_count, count);
    for (i = 0; i < count; i++)
        CHECK_EQ(walk->slots[i].offset, i * WORD);
    CHECK((clock() - before) / CLOCKS_PER_SEC < 20);
    haul_type_free(&type);
    free(rows);
}

typedef struct many_arms {
    int64_t kind;
    double *values;
    uint64_t count;
} many_arms;

/* Each arm has its own count on the same bytes: the one that covers it must be found at once. */
TEST(type, a_union_of_fifty_thousand_arms_is_one_type)
{
    const size_t count = 50000;
    const haul_field values = HAUL_ARRAY(many_arms, values, HAUL_COUNT(many_arms, count),
                                         .when = HAUL_EQUALS(many_arms, kind, 0));
    const haul_field length = HAUL_RAW(many_arms, count, .when = HAUL_EQUALS(many_arms, kind, 0));
    haul_field *rows = malloc(2 * count * sizeof *rows);
    char(*names)[24] = malloc(2 * count * sizeof *names);
    haul_type *type;
    clock_t before;
    size_t i;
    CHECK(rows != NULL && names != NULL);
    for (i = 0; i < 2 * count; i++) {
        rows[i] = i % 2 ? length : values;
        rows[i].when.low = rows[i].when.high = (int64_t)(i / 2);
        snprintf(names[i], sizeof names[i], "%s_%zu", i % 2 ? "count" : "values", i / 2);
        rows[i].name = names[i];
    }
    before = clock();
    type = made("many_arms", sizeof(many_arms), rows, 2 * count);
    CHECK_EQ(committed(type)->ruled_count, 2 * count);
    check_note("%.2f seconds", (double)(clock() - before) / CLOCKS_PER_SEC);
    CHECK((double)(clock() - before) / CLOCKS_PER_SEC < 3);
    haul_type_free(&type);
    free(names);
    free(rows);
}

/* T11. */
TEST(type, a_hundred_thousand_types_are_one_commit)
{
    size_t count = 100000, i;
    haul_type **types = calloc(count, sizeof(haul_type *));
    haul_field rows[] = { HAUL_ADDRESS(csr, a), HAUL_ADDRESS(csr, b) };
    char name[32];
    clock_t before = clock();
    CHECK(types != NULL);
    for (i = 0; i < count; i++) {
        snprintf(name, sizeof name, "type_%zu", i);
        rows[0].target = &types[(i + 1) % count];
        rows[1].target = &types[i * 7919 % count];
        types[i] = made(name, sizeof(csr), rows, 2);
    }
    committed(types[count / 2]);
    check_note("%.2f seconds", (double)(clock() - before) / CLOCKS_PER_SEC);
    for (i = 0; i < count; i++)
        CHECK(haul_type_committed(types[i]));
    for (i = 0; i < count; i++)
        haul_type_free(&types[i]);
    CHECK((clock() - before) / CLOCKS_PER_SEC < 20);
    free(types);
}

static int comes_before(const void *a, const void *b)
{
    return *(const unsigned *)a < *(const unsigned *)b;
}

TEST(type, the_sort_orders_every_pattern)
{
    static unsigned numbers[5000];
    size_t count, i, pattern;
    unsigned long long sum, after;
    for (pattern = 0; pattern < 6; pattern++)
        for (count = 0; count <= COUNT(numbers); count = count < 40 ? count + 1 : count * 3) {
            for (i = 0, sum = 0; i < count; i++) {
                unsigned n = (unsigned)i;
                numbers[i] = pattern == 0   ? n
                             : pattern == 1 ? (unsigned)count - n
                             : pattern == 2 ? 7
                             : pattern == 3 ? n % 3
                             : pattern == 4 ? (n < count / 2 ? n : (unsigned)count - n)
                                            : n * 2654435761u >> 7;
                sum += numbers[i];
            }
            haul__sort(numbers, count, sizeof *numbers, comes_before);
            for (i = 0, after = 0; i < count; i++) {
                CHECK(i == 0 || numbers[i - 1] <= numbers[i]);
                after += numbers[i];
            }
            CHECK_EQ(sum, after);
        }
}
