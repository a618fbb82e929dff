/* Borrowed pointers where one object ends and another begins, in ordered plans and in images.
 *
 * Each graph lies in one block, in any order, with its objects side by side or apart. In an ordered
 * arena they lie in the order of discovery, so a pointer to such a joint leads either to the end of
 * the former object or to the beginning of the latter. It must be the one that is meant, and the
 * bytes must be those of the graph whose objects lie apart.
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

/* ---- Blocks and copies. */

enum { BLOCK_BYTES = 8192, PIECES = 64 };

typedef struct block {
    unsigned char *memory;
    size_t used, gap; /* bytes between two objects */
} block;

static void block_open(block *b, size_t gap)
{
    b->memory = calloc(1, BLOCK_BYTES);
    CHECK(b->memory != NULL);
    b->used = 0;
    b->gap = gap;
}

static void *cut(block *b, size_t bytes)
{
    void *taken = b->memory + b->used;
    CHECK(b->used + bytes + b->gap <= BLOCK_BYTES);
    b->used += bytes + b->gap;
    return taken;
}

/* A graph in order: its arena with offsets, and one with pointers that can be followed. */
typedef struct copy {
    haul_plan *plan;
    unsigned char *offsets, *arena, *bitmap;
    size_t bytes;
} copy;

static const void *copy_open(copy *c, void *root, const haul_type *type)
{
    size_t offset = 0;
    CHECK_STATUS(haul_plan_create(type_context(), haul_from_object(root, type), ORDERED, &c->plan),
                 HAUL_OK);
    c->bytes = plan_bytes(c->plan);
    c->offsets = lab_arena(c->bytes, plan_alignment(c->plan), 0x99);
    c->arena = lab_arena(c->bytes, plan_alignment(c->plan), 0x99);
    c->bitmap = lab_arena(plan_bitmap_bytes(c->plan), sizeof(uint64_t), 0x99);
    CHECK_STATUS(haul_plan_pack(c->plan, c->offsets, c->bytes, 0, (uint64_t *)(void *)c->bitmap),
                 HAUL_OK);
    CHECK_STATUS(haul_plan_pack(c->plan, c->arena, c->bytes, (uint64_t)(uintptr_t)c->arena, NULL),
                 HAUL_OK);
    CHECK_STATUS(haul_plan_offset(c->plan, root, &offset), HAUL_OK);
    return c->arena + offset;
}

static void copy_close(copy *c)
{
    haul_plan_free(&c->plan);
    free(c->offsets);
    free(c->arena);
    free(c->bitmap);
}

/* The same graph, with its objects side by side and apart. */
static void check_same_arena(const copy *a, const copy *b)
{
    CHECK_EQ(a->bytes, b->bytes);
    CHECK_BYTES(a->offsets, b->offsets, a->bytes);
}

static unsigned char *image_of(void *root, const haul_type *type, size_t *bytes)
{
    const haul_source source = haul_from_object(root, type);
    unsigned char *image;
    CHECK_STATUS(haul_image_to_bytes(type_context(), source, NULL, NULL, 0, bytes),
                 HAUL_ERROR_ARGUMENT);
    image = malloc(*bytes);
    CHECK(image != NULL);
    CHECK_STATUS(haul_image_to_bytes(type_context(), source, NULL, image, *bytes, bytes), HAUL_OK);
    return image;
}

/* An image of the graph is accepted; what is loaded makes the same image. */
static void check_image(void *root, haul_type *type)
{
    size_t bytes, again_bytes;
    unsigned char *image = image_of(root, type, &bytes), *again;
    haul_image *loaded;
    CHECK_STATUS(haul_image_from_bytes(type_context(), image, bytes, &type, 1, NULL, &loaded),
                 HAUL_OK);
    again = image_of(haul_image_roots(loaded, NULL)->address, type, &again_bytes);
    CHECK_EQ(again_bytes, bytes);
    CHECK_BYTES(again, image, bytes);
    haul_image_free(&loaded);
    free(again);
    free(image);
}

/* ---- Lists. */

typedef struct node {
    struct node *next, *prev; /* prev: borrowed */
    int64_t number;
} node;

typedef struct list {
    node *first, *last; /* last: borrowed */
} list;

static haul_type *node_type, *list_type;

static void list_types(const haul_field *node_fields, const haul_field *list_fields)
{
    node_type = type_open("node", sizeof(node), node_fields, 2);
    list_type = type_open("list", sizeof(list), list_fields, 2);
    type_commit(list_type);
}

static void list_types_free(void)
{
    haul_type_free(&list_type);
    haul_type_free(&node_type);
}

/* Nodes of the list in another order than in memory. */
static list *make_list(block *b, size_t count, const size_t *order)
{
    node *all[PIECES];
    list *l;
    size_t i;
    for (i = 0; i < count; i++)
        all[order[i]] = cut(b, sizeof(node));
    l = cut(b, sizeof *l);
    for (i = 0; i < count; i++) {
        all[i]->next = i + 1 < count ? all[i + 1] : NULL;
        all[i]->prev = i ? all[i - 1] : NULL;
        all[i]->number = (int64_t)i;
    }
    l->first = all[0];
    l->last = all[count - 1];
    return l;
}

static void check_list(const list *l, size_t count)
{
    const node *n = l->first, *before = NULL;
    size_t i;
    for (i = 0; i < count; i++, before = n, n = n->next) {
        CHECK(n != NULL);
        CHECK_EQ(n->number, i);
        CHECK_PTR(n->prev, before);
    }
    CHECK_PTR(n, NULL);
    CHECK_PTR(l->last, before);
}

/* Each permutation of the nodes in memory, side by side and apart. */
static void check_lists(random_source *random, int has_images)
{
    size_t order[PIECES], round, i;
    for (round = 0; round < 200; round++) {
        const size_t count = random_between(random, 2, 12);
        copy copies[2];
        block blocks[2];
        check_note("round %zu", round);
        for (i = 0; i < count; i++) {
            const size_t other = random_below(random, i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        for (i = 0; i < 2; i++) {
            list *l;
            block_open(&blocks[i], i ? 40 : 0);
            l = make_list(&blocks[i], count, order);
            check_list(copy_open(&copies[i], l, list_type), count);
            if (has_images)
                check_image(l, list_type);
        }
        check_same_arena(&copies[0], &copies[1]);
        for (i = 0; i < 2; i++) {
            copy_close(&copies[i]);
            free(blocks[i].memory);
        }
    }
    check_note(NULL);
}

TEST(ordered_joints, the_last_of_a_list_is_a_node_and_so_is_the_one_before)
{
    static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &node_type),
                                              HAUL_OBJECT(node, prev, &node_type,
                                                          .ownership = HAUL_BORROWED) };
    static const haul_field list_fields[] = { HAUL_OBJECT(list, first, &node_type),
                                              HAUL_OBJECT(list, last, &node_type,
                                                          .ownership = HAUL_BORROWED) };
    random_source random = random_start("lists side by side");
    list_types(node_fields, list_fields);
    check_lists(&random, 1);
    list_types_free();
}

/* The nodes belong to somebody else, so first and last, next and prev are all borrowed. */
typedef struct shelf {
    list *list;
    node **nodes; /* count of them */
    size_t count;
} shelf;

static haul_type *shelf_type;

TEST(ordered_joints, pointers_of_a_list_of_borrowed_nodes_lead_to_nodes)
{
    static const haul_field node_fields[] = {
        HAUL_OBJECT(node, next, &node_type, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(node, prev, &node_type, .ownership = HAUL_BORROWED)
    };
    static const haul_field list_fields[] = {
        HAUL_OBJECT(list, first, &node_type, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(list, last, &node_type, .ownership = HAUL_BORROWED)
    };
    static const haul_field shelf_fields[] = {
        HAUL_OBJECT(shelf, list, &list_type),
        HAUL_POINTERS(shelf, nodes, &node_type, HAUL_COUNT(shelf, count)),
    };
    random_source random = random_start("lists of borrowed nodes");
    size_t round, i;
    list_types(node_fields, list_fields);
    shelf_type = TYPE_OPEN(shelf, shelf_fields);
    type_commit(shelf_type);
    for (round = 0; round < 100; round++) {
        node *nodes[PIECES];
        size_t order[PIECES];
        shelf s = { NULL, nodes, random_between(&random, 2, 12) };
        node *n;
        copy c;
        block b;
        check_note("round %zu", round);
        for (i = 0; i < s.count; i++) {
            const size_t other = random_below(&random, i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        block_open(&b, 0);
        s.list = make_list(&b, s.count, order);
        for (n = s.list->first, i = 0; n; n = n->next)
            nodes[order[i++]] = n;
        check_list(((const shelf *)copy_open(&c, &s, shelf_type))->list, s.count);
        copy_close(&c);
        check_image(&s, shelf_type);
        free(b.memory);
    }
    check_note(NULL);
    haul_type_free(&shelf_type);
    list_types_free();
}

/* Of what the borrowed pointers lead to, the description says nothing. */
TEST(ordered_joints, a_pointer_to_plain_bytes_is_no_end_of_a_single_object)
{
    static const haul_field node_fields[] = {
        HAUL_OBJECT(node, next, &node_type), HAUL_ADDRESS(node, prev, .ownership = HAUL_BORROWED)
    };
    static const haul_field list_fields[] = {
        HAUL_OBJECT(list, first, &node_type), HAUL_ADDRESS(list, last, .ownership = HAUL_BORROWED)
    };
    random_source random = random_start("lists with addresses");
    list_types(node_fields, list_fields);
    check_lists(&random, 0);
    list_types_free();
}

/* ---- Trees. */

typedef struct branch {
    struct branch *children; /* count of them */
    size_t count;
    struct branch *parent; /* borrowed */
    size_t number;
} branch;

static haul_type *branch_type;

/* In memory: the children of the last child of the root, then those of the root. So the former end
 * where the first child begins, which the last child leads to. */
TEST(ordered_joints, a_parent_behind_its_child_s_children_is_the_parent)
{
    static const haul_field fields[] = {
        HAUL_OBJECTS(branch, children, &branch_type, HAUL_COUNT(branch, count)),
        HAUL_OBJECT(branch, parent, &branch_type, .ownership = HAUL_BORROWED)
    };
    copy c;
    block b;
    branch *leaves, *inner, *root;
    const branch *r;
    size_t i;
    branch_type = TYPE_OPEN(branch, fields);
    type_commit(branch_type);
    block_open(&b, 0);
    leaves = cut(&b, 3 * sizeof *leaves);
    root = cut(&b, sizeof *root);
    inner = cut(&b, 2 * sizeof *inner);
    root->children = inner;
    root->count = 2;
    inner[0].parent = inner[1].parent = root;
    inner[1].children = leaves;
    inner[1].count = 3;
    for (i = 0; i < 3; i++)
        leaves[i].parent = &inner[1];
    r = copy_open(&c, root, branch_type);
    CHECK_PTR(r->children[0].parent, r);
    CHECK_PTR(r->children[1].parent, r);
    for (i = 0; i < 3; i++)
        CHECK_PTR(r->children[1].children[i].parent, &r->children[1]);
    copy_close(&c);
    check_image(root, branch_type);
    free(b.memory);
    haul_type_free(&branch_type);
}

/* ---- Derived objects. */

typedef struct derived {
    node base;
    int64_t more[3];
} derived;

typedef struct base_list {
    derived *first, *other;
    node *last; /* borrowed */
} base_list;

static haul_type *derived_type, *base_list_type;

TEST(ordered_joints, an_object_begins_with_the_struct_that_it_embeds_first)
{
    static const haul_field node_fields[] = {
        HAUL_OBJECT(node, next, &node_type, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(node, prev, &node_type, .ownership = HAUL_BORROWED)
    };
    static const haul_field derived_fields[] = { HAUL_EMBED(derived, base, &node_type) };
    static const haul_field list_fields[] = {
        HAUL_OBJECT(base_list, first, &derived_type), HAUL_OBJECT(base_list, other, &derived_type),
        HAUL_OBJECT(base_list, last, &node_type, .ownership = HAUL_BORROWED)
    };
    copy c;
    block b;
    base_list *l;
    const base_list *there;
    derived *two;
    node_type = TYPE_OPEN(node, node_fields);
    derived_type = TYPE_OPEN(derived, derived_fields);
    base_list_type = TYPE_OPEN(base_list, list_fields);
    type_commit(base_list_type);
    block_open(&b, 0);
    two = cut(&b, 2 * sizeof *two);
    l = cut(&b, sizeof *l);
    l->other = &two[0];
    l->first = &two[1];
    l->last = &two[1].base;
    there = copy_open(&c, l, base_list_type);
    CHECK_PTR(there->last, &there->first->base);
    copy_close(&c);
    check_image(l, base_list_type);
    free(b.memory);
    haul_type_free(&base_list_type);
    haul_type_free(&derived_type);
    haul_type_free(&node_type);
}

/* ---- Many types. */

enum { MANY = 4200 }; /* the log numbers 4,094 */

typedef struct leaf {
    int64_t *value;
    int64_t number;
} leaf;

/* An object of each type, found in the order of the types. In memory they lie the other way round,
 * so each of them begins where one of the next type ends. */
TEST(ordered_joints, of_the_last_of_many_types_an_object_is_found_too)
{
    static const haul_field leaf_fields[] = { HAUL_ARRAY(leaf, value, HAUL_ONE) };
    const haul_field one = HAUL_ADDRESS(leaf, value);
    haul_type **types = calloc(MANY, sizeof *types), *root_type;
    haul_field *fields = calloc(MANY + 1, sizeof *fields);
    char(*names)[16] = calloc(MANY + 1, sizeof *names);
    leaf *leaves = calloc(MANY, sizeof *leaves), **root = calloc(MANY + 1, sizeof *root);
    const leaf *const *there;
    copy c;
    size_t i;
    CHECK(types && fields && names && leaves && root);
    for (i = 0; i <= MANY; i++) {
        const size_t number = i < MANY ? i : MANY - 2;
        snprintf(names[i], sizeof names[i], "leaf%zu", i);
        if (i < MANY)
            types[i] = type_open(names[i], sizeof(leaf), leaf_fields, 1);
        fields[i] = one;
        fields[i].name = names[i];
        fields[i].offset = i * sizeof *root;
        fields[i].target = &types[number];
        root[i] = &leaves[MANY - 1 - number];
    }
    fields[MANY].ownership = HAUL_BORROWED;
    fields[MANY - 1].count = (haul_count)HAUL_FIXED(1); /* so it leads to an array */
    root_type = type_open("root", (MANY + 1) * sizeof *root, fields, MANY + 1);
    type_commit(root_type);
    there = copy_open(&c, root, root_type);
    CHECK_PTR(there[MANY], there[MANY - 2]);
    copy_close(&c);
    haul_type_free(&root_type);
    for (i = 0; i < MANY; i++)
        haul_type_free(&types[i]);
    free(root);
    free(leaves);
    free(names);
    free(fields);
    free(types);
}

/* ---- Ends. */

typedef struct item {
    int64_t *value;
    int64_t number;
} item;

typedef struct vec {
    item *begin, *end, *room; /* end: borrowed */
    struct vec *next;
} vec;

static const haul_field item_fields[] = { HAUL_ARRAY(item, value, HAUL_ONE) };
static haul_type *item_type, *vec_type;

static void vec_types(const haul_field *vec_fields)
{
    item_type = TYPE_OPEN(item, item_fields);
    vec_type = type_open("vec", sizeof(vec), vec_fields, 3);
    type_commit(vec_type);
}

/* The items of three vectors, with `used` in each; then the vectors. Those of the first two are
 * full, and the second one is found last. */
static vec *make_vecs(block *b, size_t used)
{
    vec *v[3];
    size_t i;
    item *items[3];
    for (i = 0; i < 3; i++)
        items[i] = cut(b, 3 * sizeof *items[i]);
    for (i = 0; i < 3; i++)
        v[i] = cut(b, sizeof *v[i]);
    for (i = 0; i < 3; i++) {
        v[i]->begin = items[i];
        v[i]->room = items[i] + 3;
        v[i]->end = items[i] + used;
        items[i]->number = (int64_t)i;
    }
    v[0]->next = v[2];
    v[2]->next = v[1];
    return v[0];
}

static void check_vecs(size_t used)
{
    copy copies[2];
    block blocks[2];
    size_t i;
    for (i = 0; i < 2; i++) {
        vec *first;
        const vec *v;
        block_open(&blocks[i], i ? 40 : 0);
        first = make_vecs(&blocks[i], used);
        for (v = copy_open(&copies[i], first, vec_type); v; v = v->next) {
            CHECK_EQ(v->room - v->begin, 3);
            CHECK_PTR(v->end, v->begin + used);
        }
    }
    check_same_arena(&copies[0], &copies[1]);
    for (i = 0; i < 2; i++) {
        copy_close(&copies[i]);
        free(blocks[i].memory);
    }
}

/* Where its own array ends, a pointer means the end, whatever type it has. */
TEST(ordered_joints, the_end_of_a_full_vector_is_the_end_though_items_begin_there)
{
    static const haul_field by_type[] = {
        HAUL_OBJECTS(vec, begin, &item_type, HAUL_UNTIL(vec, room)),
        HAUL_OBJECT(vec, end, &item_type, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(vec, next, &vec_type),
    };
    static const haul_field by_address[] = {
        HAUL_OBJECTS(vec, begin, &item_type, HAUL_UNTIL(vec, room)),
        HAUL_ADDRESS(vec, end, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(vec, next, &vec_type),
    };
    size_t used;
    for (used = 1; used <= 3; used++) {
        vec_types(by_type);
        check_vecs(used);
        haul_type_free(&vec_type);
        haul_type_free(&item_type);
        vec_types(by_address);
        check_vecs(used);
        haul_type_free(&vec_type);
        haul_type_free(&item_type);
    }
}

typedef struct choice {
    item *others;      /* 2 of them, behind all */
    item *all;         /* 2 of them */
    item *begin, *end; /* a pair: the first of all */
    item *chosen;      /* borrowed: the first of the others */
} choice;

static haul_type *choice_type;

TEST(ordered_joints, a_pair_that_ends_elsewhere_says_nothing)
{
    static const haul_field fields[] = {
        HAUL_OBJECTS(choice, others, &item_type, HAUL_FIXED(2)),
        HAUL_OBJECTS(choice, all, &item_type, HAUL_FIXED(2)),
        HAUL_OBJECTS(choice, begin, &item_type, HAUL_UNTIL(choice, end)),
        HAUL_OBJECT(choice, chosen, &item_type, .ownership = HAUL_BORROWED),
    };
    copy c;
    block b;
    item *items;
    choice *ch;
    const choice *there;
    item_type = TYPE_OPEN(item, item_fields);
    choice_type = TYPE_OPEN(choice, fields);
    type_commit(choice_type);
    block_open(&b, 0);
    items = cut(&b, 4 * sizeof *items);
    ch = cut(&b, sizeof *ch);
    ch->all = ch->begin = items;
    ch->end = items + 1;
    ch->others = ch->chosen = items + 2;
    there = copy_open(&c, ch, choice_type);
    CHECK_PTR(there->chosen, there->others);
    CHECK(there->others < there->all);
    CHECK_PTR(there->end, there->begin + 1);
    copy_close(&c);
    check_image(ch, choice_type);
    free(b.memory);
    haul_type_free(&choice_type);
    haul_type_free(&item_type);
}

typedef struct label {
    item *others;     /* 2 of them, behind the text */
    char *text, *end; /* a pair */
    item *chosen;     /* borrowed: the first of the others */
} label;

static haul_type *label_type;

TEST(ordered_joints, a_pair_of_other_elements_says_nothing)
{
    static const haul_field fields[] = {
        HAUL_OBJECTS(label, others, &item_type, HAUL_FIXED(2)),
        HAUL_ARRAY(label, text, HAUL_UNTIL(label, end)),
        HAUL_OBJECT(label, chosen, &item_type, .ownership = HAUL_BORROWED),
    };
    copy c;
    block b;
    label *l;
    const label *there;
    item_type = TYPE_OPEN(item, item_fields);
    label_type = TYPE_OPEN(label, fields);
    type_commit(label_type);
    block_open(&b, 0);
    l = cut(&b, sizeof *l);
    l->text = cut(&b, 64);
    l->end = l->text + 64;
    l->others = l->chosen = cut(&b, 2 * sizeof *l->others);
    there = copy_open(&c, l, label_type);
    CHECK_PTR(there->chosen, there->others);
    CHECK_PTR(there->end, there->text + 64);
    CHECK((uintptr_t)there->others < (uintptr_t)there->text);
    copy_close(&c);
    check_image(l, label_type);
    free(b.memory);
    haul_type_free(&label_type);
    haul_type_free(&item_type);
}

typedef struct empty {
    item *others; /* 2 of them, found first */
    char *name;
    item *first;              /* one */
    item *begin, *end, *room; /* begin and room: a pair; end: borrowed */
} empty;

static haul_type *empty_type;

/* All three lead to the joint of what `name` or `first` leads to, and of others. */
static void check_empty(const haul_field *fields, int with_name)
{
    copy c;
    block b;
    empty *e;
    const empty *there;
    item_type = TYPE_OPEN(item, item_fields);
    empty_type = type_open("empty", sizeof(empty), fields, 5);
    type_commit(empty_type);
    block_open(&b, 0);
    e = cut(&b, sizeof *e);
    if (with_name) {
        e->name = cut(&b, 64);
        memset(e->name, 'a', 63);
    } else {
        e->first = cut(&b, sizeof *e->first);
    }
    e->others = cut(&b, 2 * sizeof *e->others);
    e->begin = e->end = e->room = e->others;
    there = copy_open(&c, e, empty_type);
    CHECK_PTR(there->end, there->begin);
    CHECK_PTR(there->room, there->begin);
    copy_close(&c);
    free(b.memory);
    haul_type_free(&empty_type);
    haul_type_free(&item_type);
}

TEST(ordered_joints, pointers_of_a_vector_without_items_stay_equal)
{
    static const haul_field by_type[] = {
        HAUL_STRING(empty, name),
        HAUL_OBJECTS(empty, others, &item_type, HAUL_FIXED(2)),
        HAUL_OBJECT(empty, first, &item_type),
        HAUL_OBJECTS(empty, begin, &item_type, HAUL_UNTIL(empty, room)),
        HAUL_OBJECT(empty, end, &item_type, .ownership = HAUL_BORROWED),
    };
    static const haul_field by_address[] = {
        HAUL_STRING(empty, name),
        HAUL_OBJECTS(empty, others, &item_type, HAUL_FIXED(2)),
        HAUL_OBJECT(empty, first, &item_type),
        HAUL_OBJECTS(empty, begin, &item_type, HAUL_UNTIL(empty, room)),
        HAUL_ADDRESS(empty, end, .ownership = HAUL_BORROWED),
    };
    check_empty(by_type, 0);
    check_empty(by_type, 1);
    check_empty(by_address, 0);
    check_empty(by_address, 1);
}

typedef struct span {
    char *text; /* found first, behind the items */
    item *items;
    size_t count;
    item *end; /* borrowed */
} span;

static haul_type *span_type;

/* No item begins there. */
TEST(ordered_joints, a_pointer_to_a_struct_is_an_end_where_something_else_begins)
{
    static const haul_field fields[] = {
        HAUL_STRING(span, text),
        HAUL_OBJECTS(span, items, &item_type, HAUL_COUNT(span, count)),
        HAUL_OBJECT(span, end, &item_type, .ownership = HAUL_BORROWED),
    };
    copy c;
    block b;
    span *s;
    const span *there;
    item *items;
    item_type = TYPE_OPEN(item, item_fields);
    span_type = TYPE_OPEN(span, fields);
    type_commit(span_type);
    block_open(&b, 0);
    s = cut(&b, sizeof *s);
    items = cut(&b, 3 * sizeof *items);
    s->items = items;
    s->count = 3;
    s->text = cut(&b, 64);
    memset(s->text, 'a', 63);
    s->end = items + 3;
    CHECK_PTR(s->end, s->text);
    there = copy_open(&c, s, span_type);
    CHECK_PTR(there->end, there->items + 3);
    CHECK_STR(there->text, s->text);
    copy_close(&c);
    free(b.memory);
    haul_type_free(&span_type);
    haul_type_free(&item_type);
}
