/* Chains through rows with rules, on random data: each step is compared with a walk by hand.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
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
static const haul_field tagged = { .tag_bits = 1 };
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
        list[i] = numbers_of_leaf((const leaf *)(t->each[i] & ~(uintptr_t)1), t);
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
