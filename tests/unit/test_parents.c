/* Parents: rules that ask for the struct whose pointer led to an object; and arrays of pointers
 * whose meanings stand in other arrays of the same struct.
 *
 * Faults by number (docs/testing.md): G18 (a value without a case), D13 (an integer that a rule has
 * read has changed), H1, H2.
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"

/* ---- Parents: a matrix' rows are as long as the layout that leads to them says. */

typedef struct block {
    double *values;
    struct block *next;
} block;

typedef struct layout {
    int64_t rows;
    block *block;
    struct layout *other;
} layout;

static haul_type *block_type, *layout_type;

static int64_t rows_of_layout(const haul_here *here)
{
    return here->ancestor ? ((const layout *)here->ancestor)->rows : 0;
}

static void layout_start(void)
{
    static const haul_field block_fields[] = {
        HAUL_ARRAY(block, values, HAUL_COUNT_FN(rows_of_layout), .ancestor = HAUL_PARENT),
        HAUL_SKIP(block, next),
    };
    static const haul_field layout_fields[] = {
        HAUL_OBJECT(layout, block, &block_type),
        HAUL_OBJECT(layout, other, &layout_type),
    };
    lab_start();
    block_type = TYPE_OPEN(block, block_fields);
    layout_type = TYPE_OPEN(layout, layout_fields);
    type_commit(layout_type);
}

static void layout_end(void)
{
    haul_type_free(&layout_type);
    haul_type_free(&block_type);
    lab_end();
}

static layout *layout_make(int64_t rows, block *shared)
{
    layout *l = take(sizeof *l, 8);
    l->rows = rows;
    points(&l->block), points(&l->other);
    l->block = shared;
    if (shared)
        return l;
    l->block = take(sizeof *l->block, 8);
    points(&l->block->values);
    hole(&l->block->next, sizeof l->block->next);
    l->block->values = take((size_t)rows * sizeof(double), 8);
    fill(l->block->values, (size_t)rows * sizeof(double));
    return l;
}

TEST(parents, a_count_may_stand_in_the_struct_that_led_to_the_one_that_needs_it)
{
    layout *first, *second;
    layout_start();
    first = layout_make(3, NULL);
    second = layout_make(5, NULL);
    first->other = second;
    second->other = first;
    lab_pack(first, layout_type, 1);
    CHECK_BYTES(the.arena + copied_word(&second->block->values), second->block->values,
                5 * sizeof(double));
    layout_end();
}

TEST(parents, a_count_in_a_parent_that_has_changed_is_noticed_D13)
{
    layout *first, *second;
    layout_start();
    first = layout_make(3, NULL);
    second = layout_make(5, NULL);
    first->other = second;
    lab_pack(first, layout_type, 1);
    second->rows = 4;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.other.block.values");
    layout_end();
}

TEST(parents, two_parents_with_one_answer_may_share_an_object)
{
    layout *first;
    layout_start();
    first = layout_make(3, NULL);
    first->other = layout_make(3, first->block);
    lab_pack(first, layout_type, 1);
    layout_end();
}

TEST(parents, two_parents_with_two_answers_are_refused_in_checked_mode_with_both_paths)
{
    haul_root root;
    layout *first;
    layout_start();
    first = layout_make(3, NULL);
    first->other = layout_make(2, first->block);
    root.address = first;
    root.type = layout_type;
    root.count = 1;
    lab_open_context(CHECKED | FLAT);
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                 HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(the.context)->path, "root.other.block");
    CHECK_STR(haul_context_error(the.context)->other_path, "root.block");
    CHECK_HAS(haul_context_error(the.context)->text, "two parents lead to one block");
    layout_end();
}

/* Objects of which their parent says how many elements they end in. */
typedef struct strip {
    char *name;
    double rows[1];
} strip;

typedef struct strips {
    int64_t rows;
    strip *strip;
    struct strips *other;
} strips;

static haul_type *strip_type, *strips_type;

static int64_t rows_of_strips(const haul_here *here)
{
    return here->ancestor ? ((const strips *)here->ancestor)->rows : 0;
}

TEST(parents, two_parents_that_say_two_sizes_are_refused_in_checked_mode_with_both_paths)
{
    static const haul_field strip_fields[] = { HAUL_STRING(strip, name),
                                               HAUL_TAIL(strip, rows, HAUL_COUNT_FN(rows_of_strips),
                                                         .ancestor = HAUL_PARENT) };
    static const haul_field strips_fields[] = { HAUL_OBJECT(strips, strip, &strip_type),
                                                HAUL_OBJECT(strips, other, &strips_type) };
    strips *first, *second;
    lab_start();
    strip_type = TYPE_OPEN(strip, strip_fields);
    strips_type = TYPE_OPEN(strips, strips_fields);
    type_commit(strips_type);
    first = take(sizeof *first, 8);
    second = take(sizeof *second, 8);
    points(&first->strip), points(&first->other), points(&second->strip), points(&second->other);
    first->other = second;
    first->strip = second->strip = take(offsetof(strip, rows) + 4 * sizeof(double), 8);
    points(&first->strip->name);
    first->rows = second->rows = 4;
    lab_pack(first, strips_type, 1);
    second->rows = 3;
    lab_refuse_checked(first, strips_type, "root.other.strip", "root.strip");
    second->rows = -1; /* no size at all */
    lab_refuse_checked(first, strips_type, "root.other.strip", "root.strip");
    haul_type_free(&strips_type);
    haul_type_free(&strip_type);
    lab_end();
}

/* An embedded struct's parent is the struct that it lies in. */
typedef struct inner {
    int32_t *values;
} inner;

typedef struct outer {
    int64_t count;
    inner in[2];
} outer;

static int64_t count_of_outer(const haul_here *here)
{
    return ((const outer *)here->ancestor)->count;
}

TEST(parents, the_parent_of_what_lies_in_a_struct_is_that_struct)
{
    static haul_type *inner_type;
    static const haul_field inner_fields[] = { HAUL_ARRAY(
        inner, values, HAUL_COUNT_FN(count_of_outer), .ancestor = HAUL_PARENT) };
    static const haul_field outer_fields[] = { HAUL_EMBED(outer, in, &inner_type) };
    haul_type *type;
    outer *o;
    int i;
    lab_start();
    inner_type = TYPE_OPEN(inner, inner_fields);
    type = TYPE_OPEN(outer, outer_fields);
    type_commit(type);
    o = take(sizeof *o, 8);
    o->count = 7;
    for (i = 0; i < 2; i++) {
        o->in[i].values = take(7 * sizeof(int32_t), 4);
        points(&o->in[i].values);
    }
    lab_pack(o, type, 1);
    haul_type_free(&type);
    haul_type_free(&inner_type);
    lab_end();
}

static int64_t is_reached(const haul_here *here)
{
    return here->ancestor != NULL;
}

TEST(parents, roots_have_no_parent_and_rules_that_do_not_ask_see_none)
{
    static haul_type *type;
    const haul_field fields[] = { HAUL_ADDRESS(layout, block, .target = &type,
                                               .when = HAUL_WHEN_FN(is_reached),
                                               .ancestor = HAUL_PARENT),
                                  HAUL_OBJECT(layout, other, &type) };
    const haul_field deaf[] = { HAUL_ADDRESS(layout, block, .target = &type,
                                             .when = HAUL_WHEN_FN(is_reached)),
                                HAUL_OBJECT(layout, other, &type) };
    layout *root, *next;
    lab_start();
    type = TYPE_OPEN(layout, fields);
    type_commit(type);
    root = take(sizeof *root, 8);
    next = take(sizeof *next, 8);
    root->other = next;
    root->block = (block *)(void *)next; /* not followed, and so null */
    /* read for the function's sake, zero in the copy, never written */
    own_check(&root->block, sizeof root->block);
    next->block = (block *)(void *)next;
    points(&root->other), points(&next->other), points(&next->block);
    lab_pack(root, type, 1);
    CHECK_EQ(copied_word(&root->block), 0);
    haul_type_free(&type);
    type = TYPE_OPEN(layout, deaf);
    type_commit(type);
    own_check(&next->block, sizeof next->block);
    lab_pack(root, type, 1);
    CHECK_EQ(copied_word(&next->block), 0);
    haul_type_free(&type);
    lab_end();
}

/* ---- Each: slot i is what kinds[i] and counts[i] say. */

enum { EMPTY, BAG, TEXT, NUMBERS };

typedef struct bag {
    int32_t n, flags;
    uint8_t *kinds;
    int32_t *counts;
    void **items;
    struct bag *next;
} bag;

static haul_type *bag_type, *numbers_type, *letter_type;

static int64_t kind_of_slot(const haul_here *here)
{
    return ((const bag *)here->self)->kinds[here->index];
}

static int64_t count_of_slot(const haul_here *here)
{
    return ((const bag *)here->self)->counts[here->index];
}

static int64_t slot_is_used(const haul_here *here)
{
    return ((const bag *)here->self)->kinds[here->index] != EMPTY;
}

static void bag_open(void)
{
    static const haul_case cases[] = { { BAG, &bag_type, 0 },
                                       { TEXT, &letter_type, 0 },
                                       { NUMBERS, &numbers_type, 0 } };
    static const haul_field slot = { .when = HAUL_WHEN_FN(slot_is_used),
                                     .type_switch = HAUL_SWITCH_FN(kind_of_slot, cases) };
    static const haul_field fields[] = {
        HAUL_ARRAY(bag, kinds, HAUL_COUNT(bag, n)),
        HAUL_ARRAY(bag, counts, HAUL_COUNT(bag, n)),
        HAUL_ADDRESS(bag, items, .levels = 2, .count = HAUL_COUNT(bag, n),
                     .count2 = HAUL_COUNT_FN(count_of_slot), .each_pointer = &slot),
        HAUL_OBJECT(bag, next, &bag_type),
    };
    CHECK_STATUS(haul_type_bytes(type_context(), "letter", 1, &letter_type), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "number", 8, &numbers_type), HAUL_OK);
    bag_type = TYPE_OPEN(bag, fields);
    type_commit(bag_type);
}

static void bag_close(void)
{
    haul_type_free(&bag_type);
    haul_type_free(&letter_type);
    haul_type_free(&numbers_type);
}

static bag *bag_make(int32_t n)
{
    bag *b = take(sizeof *b, 8);
    b->n = n;
    points(&b->kinds), points(&b->counts), points(&b->items), points(&b->next);
    b->kinds = take((size_t)n, 1);
    b->counts = take((size_t)n * sizeof *b->counts, 4);
    b->items = take((size_t)n * sizeof *b->items, 8);
    return b;
}

static void *bag_put(bag *b, int32_t i, int kind, int32_t count, size_t bytes)
{
    b->kinds[i] = (uint8_t)kind;
    b->counts[i] = count;
    points(&b->items[i]);
    return b->items[i] = take((size_t)count * bytes, bytes);
}

static bag *bags(void)
{
    bag *b = bag_make(5);
    bag_put(b, 0, TEXT, 6, 1);
    memcpy(b->items[0], "parall", 6);
    bag_put(b, 2, NUMBERS, 3, 8);
    fill(b->items[2], 24);
    b->items[1] = b->items[3] = (void *)(uintptr_t)0xDEAD; /* stale */
    own_check(&b->items[1], sizeof(void *)), own_check(&b->items[3], sizeof(void *));
    b->kinds[4] = BAG;
    b->counts[4] = 1;
    points(&b->items[4]);
    b->items[4] = bag_make(2);
    bag_put(b->items[4], 0, TEXT, 1, 1);
    bag_put(b->items[4], 1, NUMBERS, 1, 8);
    b->next = b;
    return b;
}

TEST(parents, each_pointer_of_an_array_is_what_parallel_arrays_say_of_its_place)
{
    bag *b;
    lab_start();
    bag_open();
    b = bags();
    lab_pack(b, bag_type, 1);
    CHECK_BYTES(the.arena + copied_word(&b->items[0]), "parall", 6);
    CHECK_EQ(copied_word(&b->items[1]), 0);
    bag_close();
    lab_end();
}

TEST(parents, a_kind_of_a_slot_that_no_case_is_for_is_refused_by_its_place_G18)
{
    bag *b;
    lab_start();
    bag_open();
    b = bags();
    b->kinds[2] = 9;
    lab_refuse(b, bag_type, HAUL_ERROR_GRAPH, "root.items[2]",
               "its `.type_switch` has no case for 9");
    bag_close();
    lab_end();
}

TEST(parents, a_parallel_array_that_has_changed_is_noticed_D13)
{
    bag *b;
    lab_start();
    bag_open();
    b = bags();
    lab_pack(b, bag_type, 1);
    b->counts[2] = 2;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.items[2]");
    b->counts[2] = 3;
    b->items[0] = (void *)(uintptr_t)0x1000;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.items[0]");
    bag_close();
    lab_end();
}

TEST(parents, two_bags_that_share_their_slots_and_disagree_about_them_are_refused)
{
    haul_root root;
    bag *b, *second;
    lab_start();
    bag_open();
    b = bags();
    second = take(sizeof *second, 8);
    *second = *b;
    b->next = second;
    second->next = NULL;
    second->kinds = memcpy(take(5, 1), b->kinds, 5);
    root.address = b;
    root.type = bag_type;
    root.count = 1;
    lab_open_context(CHECKED | FLAT);
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                 HAUL_OK);
    lab_drop();
    second->kinds[0] = EMPTY;
    lab_open_context(CHECKED | FLAT);
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &the.plan),
                 HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(the.context)->path, "root.next.items");
    CHECK_STR(haul_context_error(the.context)->other_path, "root.items");
    bag_close();
    lab_end();
}

/* Fields of the struct, tags and biases of each pointer, and a condition on the array itself. */
typedef struct views {
    int32_t n, has, kind, pad;
    struct views **tagged;
    double **from_one; /* each leads in front of its two values */
} views;

TEST(parents, the_rule_of_each_pointer_may_be_of_any_sort)
{
    static haul_type *views_type;
    static const haul_field tag = { .tag_bits = 1, .when = HAUL_DIFFERS(views, kind, 7) };
    static const haul_field bias = { .base = sizeof(double) };
    const haul_field fields[] = {
        HAUL_POINTERS(views, tagged, &views_type, HAUL_COUNT(views, n),
                      .when = HAUL_EQUALS(views, has, 1), .each_pointer = &tag),
        HAUL_ADDRESS(views, from_one, .levels = 2, .element_bytes = sizeof(double),
                     .count = HAUL_COUNT(views, n), .count2 = HAUL_FIXED(2), .each_pointer = &bias),
    };
    views *v;
    int i;
    lab_start();
    views_type = TYPE_OPEN(views, fields);
    type_commit(views_type);
    v = take(sizeof *v, 8);
    v->n = 2;
    v->has = 1;
    points(&v->tagged), points(&v->from_one);
    v->tagged = take(2 * sizeof(void *), 8);
    v->from_one = take(2 * sizeof(void *), 8);
    for (i = 0; i < 2; i++) {
        v->tagged[i] = (views *)(void *)((char *)v + i);
        points(&v->tagged[i]);
        v->from_one[i] = (double *)((uintptr_t)take(2 * sizeof(double), 8) - sizeof(double));
        own_check(&v->from_one[i], sizeof(void *));
    }
    lab_pack(v, views_type, 1);
    CHECK_EQ(copied_word(&v->tagged[1]), offset_of(v) + 1);
    CHECK_EQ(copied_word(&v->from_one[1]), offset_of((char *)v->from_one[1] + 8) - 8);
    v->kind = 7; /* none of them holds */
    hole(v->tagged, 2 * sizeof(void *));
    lab_pack(v, views_type, 1);
    haul_type_free(&views_type);
    lab_end();
}

TEST(parents, rules_for_each_pointer_that_say_what_cannot_be_are_refused)
{
    haul_field slot = { .tag_bits = 1 };
    haul_field row = HAUL_ADDRESS(bag, items, .target = &bag_type, .each_pointer = &slot);
    static const struct {
        const char *word;
    } all[] = { { "leads to no pointers" },
                { "It is borrowed" },
                { "an `.each_pointer` of its own" },
                { "an `.ancestor` other than" },
                { "The function of `.when` is NULL" },
                { "a kind other than a pointer's" },
                { "a kind other than a pointer's" },
                { "It is owned or static: the pointers" } };
    size_t i;
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        row.levels = i > 0 ? 2 : 1;
        row.ownership = i == 1 ? HAUL_BORROWED : HAUL_OWNED;
        slot.each_pointer = i == 2 ? &slot : NULL;
        slot.ancestor = i == 3 ? HAUL_PARENT : NULL;
        slot.when.kind = i == 4 ? HAUL_WHEN_KIND_FUNCTION : HAUL_WHEN_KIND_ALWAYS;
        slot.kind = i == 5 ? HAUL_FIELD_RELATIVE : i == 6 ? HAUL_FIELD_RAW : HAUL_FIELD_POINTER;
        row.maybe_static = i == 7;
        CHECK_STATUS(type_make("bag", sizeof(bag), &row, 1, &bag_type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(bag_type), HAUL_ERROR_TYPE);
        CHECK_STR(type_error()->path, "bag.items");
        CHECK_HAS(type_error()->text, all[i].word);
        haul_type_free(&bag_type);
    }
}

/* ---- Memory that runs out. */

typedef struct bag_work {
    haul_context *context;
    haul_plan *plan;
    bag *root;
    unsigned char *arena;
} bag_work;

static void bag_prepare(void *user, fault_plan *plan)
{
    haul_context_options options;
    memset(&options, 0, sizeof options);
    options.checked = 1;
    CHECK_STATUS(fault_open_context(plan, &options, &((bag_work *)user)->context), HAUL_OK);
}

static void bag_undo(void *user)
{
    haul_plan_free(&((bag_work *)user)->plan);
}

static haul_status bag_run(void *user)
{
    bag_work *w = user;
    haul_root root;
    haul_status status;
    root.address = w->root;
    root.type = bag_type;
    root.count = 1;
    status = haul_plan_create(w->context, haul_from_roots(&root, 1), NULL, &w->plan);
    if (status == HAUL_OK)
        status = haul_plan_pack(w->plan, w->arena, 4 * PAGE, LAB_BASE, NULL);
    if (status != HAUL_OK)
        bag_undo(w);
    return status;
}

static void bag_finish(void *user)
{
    haul_context_free(&((bag_work *)user)->context);
}

TEST(parents, every_allocation_for_arrays_of_ruled_pointers_can_fail_H1_H2)
{
    bag_work w;
    fault_operation operation = { .prepare = bag_prepare,
                                  .run = bag_run,
                                  .undo = bag_undo,
                                  .finish = bag_finish,
                                  .user = &w,
                                  .modes = FAULT_MEMORY };
    lab_start();
    bag_open();
    memset(&w, 0, sizeof w);
    w.root = bags();
    w.arena = lab_arena(4 * PAGE, 16, 0);
    CHECK(fault_everywhere(&operation) > 15);
    free(w.arena);
    bag_close();
    lab_end();
}
