/* Chains through rows with rules, on random data: each step is compared with a walk by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/random.h"
#include "support/types.h"

enum { MANY = 100, ROUNDS = 300, LIST = 6 };

typedef struct leaf {
    int32_t *numbers; /* as many as the nearest tree says */
    int16_t tag, spare[3];
    char *name;
} leaf;

typedef struct pair { /* another arm's type, with a field of the same name */
    double *numbers;
    int64_t count;
} pair;

enum { NOTHING, A_LEAF, A_PAIR, A_NUMBER, KINDS };

typedef struct slot {
    int64_t kind;
    uintptr_t word; /* a leaf with a tag, a pair, or a number */
} slot;

typedef struct string {
    int64_t length;
    leaf *owner;
    slot tail[];
} string;

typedef struct sized {
    int64_t bytes;
    leaf *first, *second; /* the second is there if bytes allow it */
} sized;

typedef struct tree {
    int64_t width; /* of the leaves' numbers */
    slot slots[LIST];
    slot *more;
    int64_t more_count;
    leaf *many[MANY];
    uintptr_t *each; /* of each_count leaves, with tags in the low bit */
    int64_t each_count;
    leaf ***cube;
    int64_t planes, columns;
    string *text;
    sized *sized;
    struct tree *up;
    int32_t near;  /* the distance to a leaf */
    int32_t is_up; /* `up` holds */
} tree;

static haul_type *leaf_type, *pair_type, *slot_type, *string_type, *sized_type, *tree_type;

HAUL_FUNCTION(width_of, void, ((const tree *)here->ancestor)->width)
HAUL_FUNCTION(sized_bytes, sized, self->bytes)

static const haul_field leaf_fields[] = {
    HAUL_ARRAY(leaf, numbers, HAUL_COUNT_FN(width_of), .ancestor = &tree_type),
    HAUL_RAW(leaf, tag),
    HAUL_STRING(leaf, name),
};
static const haul_field pair_fields[] = { HAUL_ARRAY(pair, numbers, HAUL_COUNT(pair, count)) };
static const haul_field slot_fields[] = {
    HAUL_ADDRESS(slot, word, .target = &leaf_type, .when = HAUL_EQUALS(slot, kind, A_LEAF),
                 .tag_bits = 3),
    HAUL_ADDRESS(slot, word, .target = &pair_type, .when = HAUL_EQUALS(slot, kind, A_PAIR)),
    HAUL_RAW(slot, word, .when = HAUL_EQUALS(slot, kind, A_NUMBER)),
};
static const haul_field string_fields[] = {
    HAUL_OBJECT(string, owner, &leaf_type),
    HAUL_TAIL(string, tail, HAUL_COUNT(string, length), .target = &slot_type),
};
static const haul_field sized_fields[] = {
    HAUL_OBJECT(sized, first, &leaf_type),
    HAUL_OBJECT(sized, second, &leaf_type),
};
static const haul_field tagged = { .tag_bits = 1, .when = HAUL_DIFFERS(tree, width, 7) };
static const haul_field tree_fields[] = {
    HAUL_EMBED(tree, slots, &slot_type),
    HAUL_OBJECTS(tree, more, &slot_type, HAUL_COUNT(tree, more_count)),
    HAUL_EACH(tree, many, .target = &leaf_type),
    HAUL_ADDRESS(tree, each, .levels = 2, .count = HAUL_COUNT(tree, each_count),
                 .target = &leaf_type, .each_pointer = &tagged),
    HAUL_ADDRESS(tree, cube, .levels = 3, .count = HAUL_COUNT(tree, planes),
                 .count2 = HAUL_COUNT(tree, columns), .target = &leaf_type),
    HAUL_OBJECT(tree, text, &string_type),
    HAUL_OBJECT(tree, sized, &sized_type),
    HAUL_OBJECT(tree, up, &tree_type, .when = HAUL_DIFFERS(tree, is_up, 0)),
    HAUL_RELATIVE(tree, near, .target = &leaf_type),
};

static void types_open(void)
{
    static const haul_struct structs[] = {
        HAUL_STRUCT(leaf, &leaf_type, leaf_fields),
        HAUL_STRUCT(pair, &pair_type, pair_fields),
        HAUL_STRUCT(slot, &slot_type, slot_fields),
        HAUL_STRUCT(string, &string_type, string_fields),
        HAUL_STRUCT(sized, &sized_type, sized_fields, .size_fn = sized_bytes),
        HAUL_STRUCT(tree, &tree_type, tree_fields),
    };
    CHECK_STATUS(HAUL_DESCRIBE(type_context(), structs), HAUL_OK);
}

static void types_close(void)
{
    haul_type_free(&leaf_type);
    haul_type_free(&pair_type);
    haul_type_free(&slot_type);
    haul_type_free(&string_type);
    haul_type_free(&sized_type);
    haul_type_free(&tree_type);
}

/* ---- Random trees. */

static struct {
    tree tree, up;
    leaf leaves[16];
    pair pairs[4];
    slot more[4];
    uintptr_t each[4];
    leaf *line[4], *other_line[4], **plane[2];
    struct {
        int64_t length;
        leaf *owner;
        slot tail[3];
    } text;
    sized sized;
    int32_t numbers[8];
    double doubles[8];
    char name[8];
} the;

static leaf *any_leaf(random_source *random)
{
    return random_one_in(random, 5) ? NULL : &the.leaves[random_below(random, 16)];
}

static void fill_slot(random_source *random, slot *s)
{
    leaf *l = any_leaf(random);
    s->kind = (int64_t)random_below(random, KINDS);
    s->word = s->kind == A_LEAF   ? (uintptr_t)l + random_below(random, 4)
              : s->kind == A_PAIR ? (uintptr_t)&the.pairs[random_below(random, 4)]
                                  : 12345;
}

static void fill_tree(random_source *random, tree *t)
{
    int i;
    t->width = (int64_t)random_below(random, 8);
    for (i = 0; i < LIST; i++)
        fill_slot(random, &t->slots[i]);
    for (i = 0; i < MANY; i++)
        t->many[i] = any_leaf(random);
    t->more_count = (int64_t)random_below(random, 5);
    t->more = t->more_count ? the.more : NULL;
    t->each_count = (int64_t)random_below(random, 5);
    t->each = t->each_count ? the.each : NULL;
    t->planes = (int64_t)random_below(random, 3);
    t->cube = t->planes ? the.plane : NULL;
    t->columns = 4;
    t->text = random_one_in(random, 4) ? NULL : (string *)(void *)&the.text;
    t->sized = random_one_in(random, 4) ? NULL : &the.sized;
    t->near = random_one_in(random, 4) ? 0 : (int32_t)((char *)&the.leaves[3] - (char *)&t->near);
    t->is_up = random_one_in(random, 2);
    t->up = t->is_up ? &the.up : (tree *)(uintptr_t)1;
}

static void fill(random_source *random)
{
    int i;
    memset(&the, 0, sizeof the);
    strcpy(the.name, "leaf");
    for (i = 0; i < 16; i++) {
        the.leaves[i].numbers = random_one_in(random, 4) ? NULL : the.numbers;
        the.leaves[i].name = random_one_in(random, 4) ? NULL : the.name;
    }
    for (i = 0; i < 4; i++) {
        the.pairs[i].count = (int64_t)random_below(random, 8);
        the.pairs[i].numbers = the.pairs[i].count ? the.doubles : NULL;
        fill_slot(random, &the.more[i]);
        the.each[i] = (uintptr_t)any_leaf(random);
        the.each[i] += the.each[i] ? random_below(random, 2) : 0;
        the.line[i] = any_leaf(random);
        the.other_line[i] = any_leaf(random);
    }
    the.plane[0] = the.line;
    the.plane[1] = random_one_in(random, 3) ? NULL : the.other_line;
    the.text.length = (int64_t)random_below(random, 4);
    the.text.owner = any_leaf(random);
    for (i = 0; i < 3; i++)
        fill_slot(random, &the.text.tail[i]);
    the.sized.bytes = random_one_in(random, 2) ? sizeof(sized) : offsetof(sized, second);
    the.sized.first = any_leaf(random);
    the.sized.second = any_leaf(random);
    fill_tree(random, &the.up);
    the.up.is_up = 0;
    fill_tree(random, &the.tree);
    the.up.width = the.tree.width; /* the trees share leaves, and must agree on them */
}

/* ---- The walk by hand. */

static haul_root nothing(void)
{
    const haul_root none = { NULL, NULL, 0 };
    return none;
}

static haul_root some(const void *address, size_t count)
{
    haul_root target = { (void *)(uintptr_t)address, NULL, count };
    return address && count ? target : nothing();
}

static haul_root numbers_of_leaf(const leaf *l, const tree *t)
{
    return l ? some(l->numbers, (size_t)t->width) : nothing();
}

/* A slot's `word.numbers`. */
static haul_root numbers_of_slot(const slot *s, const tree *t)
{
    const pair *p = (const pair *)s->word;
    if (s->kind == A_LEAF)
        return numbers_of_leaf((const leaf *)(s->word & ~(uintptr_t)3), t);
    return s->kind == A_PAIR ? some(p->numbers, (size_t)p->count) : nothing();
}

/* The chain leads to these targets, in this order. */
static void check_targets(haul_chain *chain, const haul_root *expected, size_t count)
{
    haul_root found[MANY];
    size_t found_count, i;
    CHECK_STATUS(haul_chain_resolve(chain, &the.tree, found, MANY, &found_count), HAUL_OK);
    CHECK_EQ(found_count, count);
    for (i = 0; i < count; i++) {
        CHECK_PTR(found[i].address, expected[i].address);
        CHECK_EQ(found[i].count, expected[i].count);
    }
}

static void check_one(haul_chain *chain, haul_root expected)
{
    check_targets(chain, &expected, 1);
}

enum {
    SLOT,
    SLOTS,
    WORD,
    MORE,
    MANY_NAMES,
    EACH,
    CUBE,
    CUBE_ROW,
    OWNER,
    TAIL,
    FIRST,
    SECOND,
    UP,
    NEAR,
    PATHS
};
static const char *const paths[PATHS] = {
    [SLOT] = "slots[2].word.numbers",  [SLOTS] = "slots[*].word.numbers",
    [WORD] = "slots[3].word",          [MORE] = "more[*].word.numbers",
    [MANY_NAMES] = "many[*].name",     [EACH] = "each[*].numbers",
    [CUBE] = "cube[*][*].numbers",     [CUBE_ROW] = "cube[*][1].numbers",
    [OWNER] = "text.owner.numbers",    [TAIL] = "text.tail[*].word.numbers",
    [FIRST] = "sized.first.numbers",   [SECOND] = "sized.second.numbers",
    [UP] = "up.slots[1].word.numbers", [NEAR] = "near.numbers",
};

static void check_lists(haul_chain *const *chain)
{
    const tree *t = &the.tree;
    haul_root list[MANY];
    size_t i, n;
    for (i = 0; i < LIST; i++)
        list[i] = numbers_of_slot(&t->slots[i], t);
    check_one(chain[SLOT], list[2]);
    check_targets(chain[SLOTS], list, LIST);
    for (i = 0; i < (size_t)t->more_count; i++)
        list[i] = numbers_of_slot(&t->more[i], t);
    check_targets(chain[MORE], list, i);
    for (i = 0; i < MANY; i++)
        list[i] = some(t->many[i] ? t->many[i]->name : NULL, sizeof "leaf");
    check_targets(chain[MANY_NAMES], list, MANY);
    for (i = 0; i < (size_t)t->each_count; i++)
        list[i] = t->width == 7 ? nothing()
                                : numbers_of_leaf((const leaf *)(t->each[i] & ~(uintptr_t)1), t);
    check_targets(chain[EACH], list, i);
    for (i = n = 0; i < (size_t)t->planes * 4; i++)
        if (t->cube[i / 4])
            list[n++] = numbers_of_leaf(t->cube[i / 4][i % 4], t);
    check_targets(chain[CUBE], list, n);
    for (i = 0; i < (size_t)t->planes; i++)
        list[i] = t->cube[i] ? numbers_of_leaf(t->cube[i][1], t) : nothing();
    check_targets(chain[CUBE_ROW], list, i);
    for (i = n = 0; t->text && i < (size_t)the.text.length; i++)
        list[n++] = numbers_of_slot(&the.text.tail[i], t);
    check_targets(chain[TAIL], list, n);
}

static void check_singles(haul_chain *const *chain)
{
    const tree *t = &the.tree;
    const slot *s = &t->slots[3];
    const int has_second = t->sized && t->sized->bytes == sizeof(sized);
    check_one(chain[WORD], s->kind == A_LEAF     ? some((leaf *)(s->word & ~(uintptr_t)3), 1)
                           : s->kind == A_PAIR   ? some((pair *)s->word, 1)
                           : s->kind == A_NUMBER ? some(&s->word, 1)
                                                 : nothing());
    check_one(chain[OWNER], t->text ? numbers_of_leaf(t->text->owner, t) : nothing());
    check_one(chain[FIRST], t->sized ? numbers_of_leaf(t->sized->first, t) : nothing());
    check_one(chain[SECOND], has_second ? numbers_of_leaf(t->sized->second, t) : nothing());
    check_one(chain[UP], t->is_up ? numbers_of_slot(&t->up->slots[1], t->up) : nothing());
    check_one(chain[NEAR], t->near ? numbers_of_leaf(&the.leaves[3], t) : nothing());
}

/* What a chain finds is in the plan of the chain, and in a plan of the whole graph. */
static void check_plans(haul_chain *const *chain, size_t count)
{
    haul_plan *plan, *whole;
    haul_plan_info info;
    haul_root found[MANY];
    size_t found_count, offset, lower, extent, i, k;
    haul_status status;
    CHECK_STATUS(
        haul_plan_create(type_context(), haul_from_object(&the.tree, tree_type), NULL, &whole),
        HAUL_OK);
    for (i = 0; i < count; i++) {
        size_t bytes = 0;
        CHECK_STATUS(haul_chain_resolve(chain[i], &the.tree, found, MANY, &found_count), HAUL_OK);
        for (k = 0; k < found_count; k++)
            bytes += found[k].count;
        status = haul_plan_create(type_context(), haul_from_chains(&the.tree, &chain[i], 1), NULL,
                                  &plan);
        if (status == HAUL_ERROR_GRAPH && i == WORD)
            continue; /* a leaf by itself has no tree that counts */
        CHECK_STATUS(status, bytes ? HAUL_OK : HAUL_ERROR_GRAPH);
        haul_plan_get_info(plan, &info);
        for (k = 0; k < found_count; k++) {
            if (!found[k].address)
                continue;
            CHECK_STATUS(haul_type_get_extent(found[k].type, &lower, &extent), HAUL_OK);
            CHECK(info.graph_bytes >= found[k].count * extent);
            CHECK_STATUS(haul_plan_offset(plan, found[k].address, &offset), HAUL_OK);
            CHECK_STATUS(haul_plan_offset(whole, found[k].address, &offset), HAUL_OK);
        }
        haul_plan_free(&plan);
    }
    haul_plan_free(&whole);
}

TEST(chain_rules, random_chains_lead_where_a_walk_by_hand_goes)
{
    random_source random = random_start("chains");
    haul_chain *chain[PATHS];
    int i, round;
    types_open();
    for (i = 0; i < PATHS; i++) {
        check_note("path %s", paths[i]);
        CHECK_STATUS(haul_chain_create(type_context(), tree_type, paths[i], &chain[i]), HAUL_OK);
    }
    for (round = 0; round < ROUNDS; round++) {
        check_note("round %d", round);
        fill(&random);
        check_lists(chain);
        check_singles(chain);
        check_plans(chain, PATHS);
    }
    check_note(NULL);
    for (i = 0; i < PATHS; i++)
        haul_chain_free(&chain[i]);
    types_close();
}

/* ---- Shipments of the whole graph. */

/* Each target of the chain is there, to its last byte. */
static void check_there(const haul_shipment *shipment, const haul_chain *chain)
{
    haul_root here[MANY], there[MANY];
    size_t count, there_count, i;
    CHECK_STATUS(haul_chain_resolve(chain, &the.tree, here, MANY, &count), HAUL_OK);
    CHECK_STATUS(haul_chain_resolve_on(shipment, chain, &the.tree, there, MANY, &there_count),
                 HAUL_OK);
    CHECK_EQ(there_count, count);
    for (i = 0; i < count; i++)
        CHECK_PTR(there[i].address, haul_device_pointer(shipment, here[i].address));
}

TEST(chain_rules, each_target_is_in_a_shipment_of_the_whole_graph_ordered_or_not)
{
    static const char *const inner[] = { "slots",      "slots[4]",  "more",       "more[*]",
                                         "text",       "text.tail", "sized",      "many[*]",
                                         "cube[*][*]", "up",        "many[7].tag" };
    enum { INNER = sizeof inner / sizeof *inner, ALL = PATHS + INNER };
    const test_device on = { .context = type_context() };
    random_source random = random_start("shipped chains");
    haul_chain *chain[ALL];
    haul_device *device;
    int i, round;
    types_open();
    CHECK_STATUS(test_open(haul_host_device(), &on, &device), HAUL_OK);
    for (i = 0; i < ALL; i++)
        CHECK_STATUS(haul_chain_create(type_context(), tree_type,
                                       i < PATHS ? paths[i] : inner[i - PATHS], &chain[i]),
                     HAUL_OK);
    for (round = 0; round < ROUNDS; round++) {
        const haul_ship_options options = { .ordered = round % 2 };
        haul_shipment *shipment;
        fill(&random);
        CHECK_STATUS(haul_ship(device, &the.tree, tree_type, 1, &options, &shipment), HAUL_OK);
        for (i = 0; i < ALL; i++) {
            check_note("round %d, path %s", round, i < PATHS ? paths[i] : inner[i - PATHS]);
            check_there(shipment, chain[i]);
        }
        haul_shipment_free(&shipment);
    }
    check_note(NULL);
    for (i = 0; i < ALL; i++)
        haul_chain_free(&chain[i]);
    types_close();
    haul_device_close(&device);
}

/* ---- Ancestors of several types. */

typedef struct inner {
    int32_t *a, *b, *c;
} inner;
typedef struct middle {
    inner *inner;
    int64_t count;
} middle;
typedef struct outer {
    middle *middle;
    int64_t count;
} outer;
typedef struct outermost {
    outer *outer;
    int64_t count;
} outermost;

static haul_type *inner_type, *middle_type, *outer_type, *outermost_type;

HAUL_FUNCTION(middle_count, void, ((const middle *)here->ancestor)->count)
HAUL_FUNCTION(outer_count, void, ((const outer *)here->ancestor)->count)
HAUL_FUNCTION(root_count, void, ((const outermost *)here->root)->count)

static const haul_field inner_fields[] = {
    HAUL_ARRAY(inner, a, HAUL_COUNT_FN(middle_count), .ancestor = &middle_type),
    HAUL_ARRAY(inner, b, HAUL_COUNT_FN(outer_count), .ancestor = &outer_type),
    HAUL_ARRAY(inner, c, HAUL_COUNT_FN(root_count)),
};
static const haul_field middle_fields[] = { HAUL_OBJECT(middle, inner, &inner_type) };
static const haul_field outer_fields[] = { HAUL_OBJECT(outer, middle, &middle_type) };
static const haul_field outermost_fields[] = { HAUL_OBJECT(outermost, outer, &outer_type) };
static const haul_struct nested[] = {
    HAUL_STRUCT(inner, &inner_type, inner_fields),
    HAUL_STRUCT(middle, &middle_type, middle_fields),
    HAUL_STRUCT(outer, &outer_type, outer_fields),
    HAUL_STRUCT(outermost, &outermost_type, outermost_fields),
};

static struct {
    int32_t numbers[8];
    inner inner;
    middle middle;
    outer outer;
    outermost root;
    haul_context *context;
    haul_chain *chain;
    haul_root target;
} line;

static void line_open(void *user, fault_plan *plan)
{
    (void)user;
    memset(&line, 0, sizeof line);
    line.inner.a = line.inner.b = line.inner.c = line.numbers;
    line.middle.inner = &line.inner;
    line.middle.count = 3;
    line.outer.middle = &line.middle;
    line.outer.count = 4;
    line.root.outer = &line.outer;
    line.root.count = 5;
    if (plan)
        CHECK_STATUS(fault_open_context(plan, NULL, &line.context), HAUL_OK);
    else
        CHECK_STATUS(haul_context_create(NULL, &line.context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(line.context, nested), HAUL_OK);
}

static void line_close(void *user)
{
    (void)user;
    haul_chain_free(&line.chain);
    HAUL_FORGET(nested);
    haul_context_free(&line.context);
}

static size_t count_of(const char *path)
{
    size_t count;
    check_note("path %s", path);
    CHECK_STATUS(haul_chain_create(line.context, outermost_type, path, &line.chain), HAUL_OK);
    CHECK_STATUS(haul_chain_resolve(line.chain, &line.root, &line.target, 1, &count), HAUL_OK);
    CHECK_EQ(count, 1);
    haul_chain_free(&line.chain);
    check_note(NULL);
    return line.target.count;
}

TEST(chain_rules, functions_get_the_nearest_ancestor_and_the_root_of_the_chain)
{
    line_open(NULL, NULL);
    CHECK_EQ(count_of("outer.middle.inner.a"), 3);
    CHECK_EQ(count_of("outer.middle.inner.b"), 4);
    CHECK_EQ(count_of("outer.middle.inner.c"), 5);
    line_close(NULL);
}

static void prepare_line(void *user, fault_plan *plan)
{
    line_open(user, plan);
    CHECK_STATUS(
        haul_chain_create(line.context, outermost_type, "outer.middle.inner.b", &line.chain),
        HAUL_OK);
}

static haul_status resolve_line(void *user)
{
    size_t count = 1;
    haul_status status = haul_chain_resolve(line.chain, &line.root, &line.target, 1, &count);
    (void)user;
    CHECK_EQ(count, status == HAUL_OK);
    return status;
}

static void check_line(void *user, haul_status status)
{
    (void)user;
    if (status == HAUL_OK)
        CHECK_EQ(line.target.count, 4);
}

TEST(chain_rules, a_lack_of_memory_for_ancestors_leaves_nothing_behind_H1_H2)
{
    fault_operation operation;
    memset(&operation, 0, sizeof operation);
    operation.name = "a chain below two ancestors";
    operation.prepare = prepare_line;
    operation.run = resolve_line;
    operation.check = check_line;
    operation.finish = line_close;
    operation.modes = FAULT_MEMORY;
    CHECK(fault_everywhere(&operation) > 0);
}

static haul_status plan_line(void *user)
{
    haul_plan *plan;
    haul_status status =
        haul_plan_create(line.context, haul_from_chains(&line.root, &line.chain, 1), NULL, &plan);
    (void)user;
    haul_plan_free(&plan);
    return status;
}

TEST(chain_rules, a_plan_of_a_chain_with_functions_survives_every_lack_of_memory_H1_H2)
{
    fault_operation operation;
    memset(&operation, 0, sizeof operation);
    operation.name = "a plan of a chain";
    operation.prepare = prepare_line;
    operation.run = plan_line;
    operation.finish = line_close;
    operation.modes = FAULT_MEMORY;
    operation.keeps = 1;
    CHECK(fault_everywhere(&operation) > 3);
}

TEST(chain_rules, an_answer_of_a_function_that_has_changed_makes_a_plan_stale)
{
    unsigned char arena[256];
    haul_plan *plan;
    line_open(NULL, NULL);
    CHECK_STATUS(
        haul_chain_create(line.context, outermost_type, "outer.middle.inner.a", &line.chain),
        HAUL_OK);
    CHECK_STATUS(
        haul_plan_create(line.context, haul_from_chains(&line.root, &line.chain, 1), NULL, &plan),
        HAUL_OK);
    CHECK_STATUS(haul_plan_pack(plan, arena, sizeof arena, 4096, NULL), HAUL_OK);
    line.middle.count = 2;
    CHECK_STATUS(haul_plan_pack(plan, arena, sizeof arena, 4096, NULL), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(line.context)->text, "callback");
    line.middle.count = 3;
    CHECK_STATUS(haul_plan_pack(plan, arena, sizeof arena, 4096, NULL), HAUL_OK);
    haul_plan_free(&plan);
    line_close(NULL);
}

/* ---- Objects of several sizes, containers, and directions of objects. */

typedef struct variant {
    int64_t bytes;
    leaf *many[3];
    int32_t *numbers;
    int64_t count;
} variant;
typedef struct list {
    struct list *next;
    void *data;
} list;
typedef struct holder {
    variant *variant;
    list *list;
    pair *constant;
    pair inside; /* never sent */
    void *far;   /* external */
    double *grid;
    double *begin, *room;
    int64_t count;
    variant *constant_variant;
    void *either; /* a list of pairs, whichever case holds */
} holder;

static haul_type *plain_leaf_type, *variant_type, *list_type, *element, *pairs_type, *holder_type;

HAUL_FUNCTION(variant_bytes, variant, self->bytes)

static const haul_field plain_leaf_fields[] = { HAUL_STRING(leaf, name), HAUL_SKIP(leaf, numbers) };
static const haul_field variant_fields[] = {
    HAUL_EACH(variant, many, .target = &plain_leaf_type),
    HAUL_ARRAY(variant, numbers, HAUL_COUNT(variant, count)),
};
static const haul_case either_cases[] = { { .value = 0, .type = &pairs_type },
                                          { .value = 1, .type = &pairs_type } };
static const haul_field list_fields[] = { HAUL_OBJECT(list, next, &list_type),
                                          HAUL_ADDRESS(list, data, .target = &element) };
static const haul_dimension grid_dimensions[] = {
    HAUL_DIMENSION(HAUL_COUNT(holder, count), HAUL_FIXED(2)),
};
static const haul_field holder_fields[] = {
    HAUL_OBJECT(holder, variant, &variant_type),
    HAUL_ADDRESS(holder, list, .target = &pairs_type),
    HAUL_OBJECT(holder, constant, &pair_type, .transfer = HAUL_COPYIN),
    HAUL_EMBED(holder, inside, &pair_type, .transfer = HAUL_COPYIN),
    HAUL_ADDRESS(holder, far, .ownership = HAUL_EXTERNAL),
    HAUL_SECTION(holder, grid, grid_dimensions),
    HAUL_ARRAY(holder, begin, HAUL_COUNT(holder, count)),
    HAUL_END_OF(holder, room, begin),
    HAUL_OBJECT(holder, constant_variant, &variant_type, .transfer = HAUL_COPYIN),
    HAUL_ADDRESS(holder, either, .type_switch = HAUL_SWITCH(holder, count, either_cases)),
};

static void holder_open(void)
{
    const haul_struct what = HAUL_STRUCT(list, NULL, list_fields);
    static const haul_struct structs[] = {
        HAUL_STRUCT(leaf, &plain_leaf_type, plain_leaf_fields),
        HAUL_STRUCT(variant, &variant_type, variant_fields, .size_fn = variant_bytes),
        HAUL_STRUCT(pair, &pair_type, pair_fields),
        HAUL_STRUCT(holder, &holder_type, holder_fields),
    };
    haul_context *context = type_context();
    size_t i;
    for (i = 0; i < 4; i++)
        CHECK_STATUS(haul_type_create(context, &structs[i], structs[i].type), HAUL_OK);
    CHECK_STATUS(haul_type_parameter(context, "element", &element), HAUL_OK);
    CHECK_STATUS(haul_type_create(context, &what, &list_type), HAUL_OK);
    CHECK_STATUS(haul_type_instance(list_type, 1, &element, &pair_type, &pairs_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(holder_type), HAUL_OK);
}

static void holder_close(void)
{
    haul_type_free(&plain_leaf_type);
    haul_type_free(&variant_type);
    haul_type_free(&pair_type);
    haul_type_free(&holder_type);
    haul_type_free(&pairs_type);
    haul_type_free(&list_type);
    haul_type_free(&element);
}

static haul_root target_of(holder *h, const char *path)
{
    haul_chain *chain;
    haul_root target;
    size_t count;
    check_note("path %s", path);
    CHECK_STATUS(haul_chain_create(type_context(), holder_type, path, &chain), HAUL_OK);
    CHECK_STATUS(haul_chain_resolve(chain, h, &target, 1, &count), HAUL_OK);
    CHECK_EQ(count, 1);
    haul_chain_free(&chain);
    check_note(NULL);
    return target;
}

TEST(chain_rules, an_object_that_ends_early_has_only_the_pointers_before_its_end)
{
    variant v;
    leaf l;
    holder h;
    haul_chain *chain;
    haul_root target;
    size_t count;
    char name[] = "leaf";
    memset(&h, 0, sizeof h);
    memset(&v, 0, sizeof v);
    memset(&l, 0, sizeof l);
    l.name = name;
    v.many[0] = v.many[1] = v.many[2] = &l;
    v.bytes = offsetof(variant, many[2]);
    h.variant = &v;
    holder_open();
    CHECK_PTR(target_of(&h, "variant.many[1].name").address, name);
    CHECK_PTR(target_of(&h, "variant.many[2].name").address, NULL);
    v.bytes += 3;
    CHECK_STATUS(haul_chain_create(type_context(), holder_type, "variant.many[2].name", &chain),
                 HAUL_OK);
    CHECK_STATUS(haul_chain_resolve(chain, &h, &target, 1, &count), HAUL_ERROR_GRAPH);
    CHECK_HAS(type_error()->text, "ends within this field");
    v.bytes = 0;
    CHECK_STATUS(haul_chain_resolve(chain, &h, &target, 1, &count), HAUL_ERROR_GRAPH);
    CHECK_HAS(type_error()->text, "callback of its size answered 0");
    CHECK_STR(type_error()->path, "root.variant");
    haul_chain_free(&chain);
    v.bytes = offsetof(variant, count);
    CHECK_STATUS(haul_chain_create(type_context(), holder_type, "variant.numbers", &chain),
                 HAUL_OK);
    CHECK_STATUS(haul_chain_resolve(chain, &h, &target, 1, &count), HAUL_ERROR_GRAPH);
    CHECK_HAS(type_error()->text, "ends before an integer that this field reads");
    haul_chain_free(&chain);
    CHECK_STATUS(haul_chain_create(type_context(), holder_type, "constant_variant", &chain),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(type_error()->text, "constant_variant has a direction");
    holder_close();
}

TEST(chain_rules, a_container_leads_to_its_elements)
{
    double numbers[3] = { 1, 2, 3 };
    pair p = { numbers, 3 };
    list second = { NULL, &p }, first = { &second, NULL };
    holder h;
    memset(&h, 0, sizeof h);
    h.list = &first;
    holder_open();
    CHECK_PTR(target_of(&h, "list.next.data.numbers").address, numbers);
    CHECK_PTR(target_of(&h, "list.data.numbers").address, NULL);
    CHECK_PTR(target_of(&h, "list.next.data").address, &p);
    h.either = &first;
    CHECK_PTR(target_of(&h, "either.next.data.numbers").address, numbers);
    holder_close();
}

/* A kernel. */
static void forget_count(void *argument)
{
    ((pair *)argument)->count = 77;
}

TEST(chain_rules, objects_keep_the_direction_of_the_field_that_leads_to_them)
{
    static const char *const paths_to_pairs[] = { "constant", "inside", "list.data" };
    pair p = { NULL, 0 };
    list l = { NULL, &p };
    holder h;
    haul_device *device;
    const test_device options = { .context = type_context() };
    size_t i;
    memset(&h, 0, sizeof h);
    h.constant = &p;
    h.list = &l;
    holder_open();
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    for (i = 0; i < 3; i++) {
        haul_root target = target_of(&h, paths_to_pairs[i]);
        haul_shipment *shipment;
        haul_chain *chain;
        CHECK_STATUS(haul_chain_create(type_context(), holder_type, paths_to_pairs[i], &chain),
                     HAUL_OK);
        CHECK_STATUS(haul_ship_from(device, haul_from_chains(&h, &chain, 1), NULL, NULL, &shipment),
                     HAUL_OK);
        CHECK_STATUS(
            haul_host_launch(device, forget_count, haul_device_pointer(shipment, target.address)),
            HAUL_OK);
        CHECK_STATUS(haul_update_host(shipment,
                                      &(const haul_update_options){ .host = target.address,
                                                                    .bytes = sizeof(pair) },
                                      NULL),
                     i == 2 ? HAUL_ERROR_GRAPH : HAUL_OK); /* its count would come back */
        CHECK_EQ(((const pair *)target.address)->count, 0);
        haul_shipment_free(&shipment);
        haul_chain_free(&chain);
    }
    haul_device_close(&device);
    holder_close();
}

TEST(chain_rules, what_is_no_array_of_the_graph_is_passed_by_no_path)
{
    static const struct {
        const char *path, *words;
    } fields[] = { { "far", "external" }, { "grid[0]", "section" }, { "room", "end of an array" } };
    haul_chain *chain;
    size_t i;
    holder_open();
    for (i = 0; i < 3; i++) {
        CHECK_STATUS(haul_chain_create(type_context(), holder_type, fields[i].path, &chain),
                     HAUL_ERROR_ARGUMENT);
        CHECK_HAS(type_error()->text, fields[i].words);
    }
    holder_close();
}

TEST(chain_rules, a_long_list_of_fields_ends_with_dots)
{
    static char names[40][16];
    static haul_field fields[40];
    static haul_type *types[2];
    static const haul_case cases[] = { { .value = 0, .type = &types[0] },
                                       { .value = 1, .type = &types[1] } };
    static const haul_field either[] = { HAUL_ADDRESS(
        holder, far, .type_switch = HAUL_SWITCH(holder, count, cases)) };
    haul_chain *chain;
    haul_type *type;
    size_t i;
    for (i = 0; i < 40; i++) {
        const haul_field one = HAUL_RAW(inner, a);
        snprintf(names[i], sizeof names[i], "a_field_%zu", i);
        fields[i] = one;
        fields[i].name = names[i];
        fields[i].offset = i * sizeof(void *);
    }
    CHECK_STATUS(type_make("long", sizeof(void *) * 40, fields, 40, &types[0]), HAUL_OK);
    CHECK_STATUS(type_make("longer", sizeof(void *) * 40, fields, 40, &types[1]), HAUL_OK);
    CHECK_STATUS(type_make("either", sizeof(holder), either, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_chain_create(type_context(), type, "far.none", &chain), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "long has a_field_0, a_field_1, ");
    CHECK_HAS(type_error()->text, ", ... (HAUL_RAW gives");
    haul_type_free(&types[0]);
    haul_type_free(&types[1]);
    haul_type_free(&type);
}
