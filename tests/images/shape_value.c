/* Values of a small language: a union whose arm a number chooses, targets whose type a number of
 * the struct or of the target chooses, an object with a tail, and borrowed parents.
 */
#include "images/shapes.h"

enum { NUMBER, ITEMS, TEXT, NODE, ARMS }; /* of the union, and kinds for the reader */
enum { VALUE, LEAF, BRANCH, STRING };     /* kinds */

typedef struct text {
    uint16_t bytes;
    char at[];
} text;

typedef struct leaf {
    uint32_t tag; /* 0 */
    float at[3];
    ADDED(float added;)
} leaf;

typedef struct branch {
    uint32_t tag; /* 1 */
    uint32_t count;
    leaf *leaves;
    ADDED(uintptr_t added;)
} branch;

typedef struct value {
    uint8_t arm, choice;
    uint16_t count;
    uint32_t line;
    union {
        double number;
        struct value **items;
        struct text *text;
        void *node;
    } is;
    struct value *parent;
    void *extra;
    ADDED(uintptr_t added;)
} value;

static haul_type *value_type, *text_type, *leaf_type, *branch_type;
static const haul_case node_cases[] = { { 0, &leaf_type, 0 }, { 1, &branch_type, 0 } };
static const haul_case extra_cases[] = { { 0, &value_type, 0 },
                                         { 1, &leaf_type, 0 },
                                         { 2, &text_type, 0 } };
static const haul_field text_fields[] = { HAUL_TAIL(text, at, HAUL_COUNT(text, bytes)) };
static const haul_field branch_fields[] = { HAUL_OBJECTS(branch, leaves, &leaf_type,
                                                         HAUL_COUNT(branch, count)) };
static const haul_field value_fields[] = {
    HAUL_RAW(value, is.number, .when = HAUL_EQUALS(value, arm, NUMBER)),
    HAUL_POINTERS(value, is.items, &value_type, HAUL_COUNT(value, count),
                  .when = HAUL_EQUALS(value, arm, ITEMS)),
    HAUL_OBJECT(value, is.text, &text_type, .when = HAUL_EQUALS(value, arm, TEXT)),
    HAUL_ADDRESS(value, is.node, .when = HAUL_EQUALS(value, arm, NODE),
                 .type_switch = HAUL_SWITCH_TARGET(leaf, tag, node_cases)),
    HAUL_OBJECT(value, parent, &value_type, .ownership = HAUL_BORROWED),
    HAUL_ADDRESS(value, extra, .type_switch = HAUL_SWITCH(value, choice, extra_cases)),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(value, &value_type, value_fields),
    HAUL_STRUCT(text, &text_type, text_fields),
    HAUL_PLAIN(leaf, &leaf_type),
    HAUL_STRUCT(branch, &branch_type, branch_fields),
};

static haul_status describe(haul_context *context)
{
    return HAUL_DESCRIBE(context, structs);
}

static void forget(void)
{
    HAUL_FORGET(structs);
}

/* ---- Building. */

static text *build_text(pile *p, choices *c)
{
    const uint16_t bytes = (uint16_t)choose(c, 6);
    text *t = pile_take(p, sizeof *t + 6);
    t->bytes = bytes;
    memset(t->at, 't', bytes);
    return t;
}

static void *build_node(pile *p, choices *c)
{
    leaf *l = pile_take(p, 3 * sizeof *l);
    branch *b = pile_take(p, sizeof *b);
    b->tag = 1;
    b->count = choose(c, 4);
    b->leaves = l;
    return choose(c, 2) ? (void *)b : (void *)l;
}

static void fill_value(pile *p, choices *c, value **all, size_t count, size_t i)
{
    value *v = all[i];
    size_t k;
    v->arm = (uint8_t)(i == 0 ? (uint32_t)ITEMS : choose(c, ARMS));
    v->choice = (uint8_t)choose(c, 3);
    v->line = (uint32_t)i;
    v->parent = i ? all[choose(c, (uint32_t)count)] : NULL;
    if (choose(c, 2) == 0)
        v->extra = v->choice == 0   ? (void *)all[choose(c, (uint32_t)count)]
                   : v->choice == 1 ? pile_take(p, sizeof(leaf))
                                    : (void *)build_text(p, c);
    if (v->arm == NUMBER)
        v->is.number = 2.25;
    else if (v->arm == TEXT)
        v->is.text = build_text(p, c);
    else if (v->arm == NODE)
        v->is.node = build_node(p, c);
    if (v->arm != ITEMS)
        return;
    v->count = (uint16_t)(i == 0 ? count - 1 : choose(c, 3));
    v->is.items = pile_take(p, 6 * sizeof *v->is.items);
    for (k = 0; k < v->count; k++)
        v->is.items[k] = all[i == 0 ? k + 1 : choose(c, (uint32_t)count)];
}

static void *build(pile *p, choices *c)
{
    const size_t count = 1 + choose(c, 5);
    value *all[5] = { NULL };
    size_t i;
    for (i = 0; i < count; i++)
        all[i] = pile_take(p, sizeof **all);
    for (i = 0; i < count; i++)
        fill_value(p, c, all, count, i);
    return all[0];
}

/* ---- Reading. */

static void visit_text(reader *r, unsigned char *at)
{
    uint16_t bytes;
    if (!reader_holds(r, at, sizeof bytes))
        return;
    memcpy(&bytes, at, sizeof bytes);
    READ_NUMBER(r, at, text, bytes);
    reader_role(r, at + offsetof(text, at), bytes, ROLE_DATA, ROLE_DATA);
}

/* The tag is a number to those who choose by it, and data to an array of leaves. */
static void visit_leaf(reader *r, unsigned char *at)
{
    if (!reader_holds(r, at, sizeof(leaf)))
        return;
    READ_DATA(r, at, leaf, at);
    ADDED(READ_DATA(r, at, leaf, added);)
}

static void visit_branch(reader *r, unsigned char *at)
{
    branch b;
    uint32_t i;
    if (!reader_holds(r, at, sizeof b))
        return;
    memcpy(&b, at, sizeof b);
    READ_NUMBER(r, at, branch, count);
    READ_WORD(r, at, branch, leaves);
    ADDED(READ_DATA(r, at, branch, added);)
    if (b.count > r->bytes)
        reader_wrong(r, at, "a count larger than the block");
    for (i = 0; i < b.count && !r->wrong; i++)
        reader_visit(r, LEAF, b.leaves + i, sizeof *b.leaves);
}

static void visit_node(reader *r, const void *node)
{
    uint32_t tag;
    if (!node || !reader_holds(r, node, sizeof tag))
        return;
    memcpy(&tag, node, sizeof tag);
    reader_role(r, node, sizeof tag, ROLE_NUMBER, ROLE_NUMBER);
    if (tag > 1)
        reader_wrong(r, node, "a tag without a type");
    reader_visit(r, tag == 0 ? LEAF : BRANCH, node, tag == 0 ? sizeof(leaf) : sizeof(branch));
}

static void visit_items(reader *r, const value *v)
{
    size_t i;
    if (!v->is.items) /* a field with a condition may be NULL, whatever its count */
        return;
    for (i = 0; i < v->count && reader_holds(r, v->is.items + i, sizeof *v->is.items); i++) {
        value *item;
        memcpy(&item, v->is.items + i, sizeof item);
        reader_role(r, v->is.items + i, sizeof item, ROLE_WORD, ROLE_IN_WORD);
        reader_visit(r, VALUE, item, sizeof *v);
    }
}

static void visit_value(reader *r, unsigned char *at)
{
    value v;
    if (!reader_holds(r, at, sizeof v))
        return;
    memcpy(&v, at, sizeof v);
    READ_NUMBER(r, at, value, arm);
    READ_DATA(r, at, value, line);
    ADDED(READ_DATA(r, at, value, added);)
    READ_WORD(r, at, value, parent);
    READ_WORD(r, at, value, extra);
    reader_visit(r, VALUE, v.parent, sizeof v);
    if (v.extra)
        READ_NUMBER(r, at, value, choice);
    if (v.arm == ITEMS)
        READ_NUMBER(r, at, value, count);
    if (v.extra && v.choice > 2)
        reader_wrong(r, at, "a choice without a type");
    if (v.extra)
        reader_visit(r, v.choice == 0 ? VALUE : v.choice == 1 ? LEAF : STRING, v.extra, 1);
    if (v.arm == NUMBER)
        READ_DATA(r, at, value, is.number);
    else if (v.arm <= NODE)
        READ_WORD(r, at, value, is.node);
    if (v.arm == ITEMS)
        visit_items(r, &v);
    else if (v.arm == TEXT)
        reader_visit(r, STRING, v.is.text, 1);
    else if (v.arm == NODE)
        visit_node(r, v.is.node);
}

static void visit(reader *r, unsigned kind, unsigned char *at)
{
    if (kind == VALUE)
        visit_value(r, at);
    else if (kind == LEAF)
        visit_leaf(r, at);
    else if (kind == BRANCH)
        visit_branch(r, at);
    else
        visit_text(r, at);
}

static const haul_image_growth sizes[] = { SIZE(leaf), SIZE(branch), SIZE(value) };

const shape SHAPE(value) = { "value", describe, forget,       &value_type, VALUE,
                             build,   visit,    GROWN(value), sizes,       3 };
