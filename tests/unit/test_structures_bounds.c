/* Where an array ends, as two libraries say it: by an expression (EXPR: Lua's tables), and by a
 * pointer (END: libyaml's documents).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"
#include "support/open.h"

/* ---- EXPR: Lua's Table. 1 << lsizenode nodes; an array of alimit values, or of the next power of
 * two where bit 7 of flags says that alimit is not the real size. A table without nodes has the one
 * dummy node of all. */

enum { NIL = 0, INTEGER = 3, TABLE = 69, NOT_REAL_SIZE = 128, TABLES = 300 };

typedef struct Table Table;

typedef union Value {
    Table *gc;
    void *p;
    int64_t i;
    double n;
} Value;

typedef struct TValue {
    Value value_;
    uint8_t tt_;
} TValue;

typedef struct Node {
    TValue i_val;
    uint8_t key_tt;
    int32_t next; /* nodes on */
    int64_t key_val;
} Node;

struct Table {
    Table *next;
    uint8_t tt, marked, flags, lsizenode;
    uint32_t alimit;
    TValue *array;
    Node *node, *lastfree;
    Table *metatable, *gclist;
};

static Node dummynode;
static const test_static lua_statics[] = { { &dummynode, sizeof dummynode, HAUL_STATIC_KEEP } };
static haul_type *tvalue_type, *node_type, *table_type;

static int64_t next_power(int64_t n)
{
    int64_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

HAUL_FUNCTION(array_size, Table,
              (self->flags & NOT_REAL_SIZE) ? next_power(self->alimit) : self->alimit)
HAUL_FUNCTION(node_size, Table, (int64_t)1 << self->lsizenode)

static void lua_open(haul_function *nodes)
{
    const haul_field tvalue_fields[] = { HAUL_ADDRESS(TValue, value_.gc, .target = &table_type,
                                                      .when = HAUL_EQUALS(TValue, tt_, TABLE),
                                                      .else_raw = 1) };
    static const haul_field node_fields[] = { HAUL_EMBED(Node, i_val, &tvalue_type) };
    const haul_field table_fields[] = {
        HAUL_OBJECT(Table, next, &table_type),
        HAUL_OBJECTS(Table, array, &tvalue_type, HAUL_COUNT_FN(array_size)),
        HAUL_ADDRESS(Table, node, .target = &node_type, .count = HAUL_COUNT_FN(nodes),
                     .maybe_static = 1),
        /* a node, or behind the last one */
        HAUL_ADDRESS(Table, lastfree, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(Table, metatable, &table_type),
        HAUL_SKIP(Table, gclist),
    };
    yard.known.statics = lua_statics;
    yard.known.static_count = 1;
    tvalue_type = YARD_TYPE(TValue, tvalue_fields);
    node_type = YARD_TYPE(Node, node_fields);
    table_type = YARD_TYPE(Table, table_fields);
    yard_commit(table_type);
}

static void lua_close(void)
{
    haul_type_free(&tvalue_type);
    haul_type_free(&node_type);
    haul_type_free(&table_type);
    yard_close();
}

/* An integer, or now and then a table. The sum: keys by values. */
static TValue value_make(Table **all, int known, int64_t key)
{
    TValue v;
    memset(&v, 0, sizeof v);
    if (known > 0 && yard_int(0, 15) == 0) {
        v.tt_ = TABLE;
        v.value_.gc = all[yard_int(0, known - 1)];
        yard.told += key;
    } else {
        v.tt_ = INTEGER;
        v.value_.i = yard_int(1, 9999);
        yard.told += key * v.value_.i;
    }
    return v;
}

static Node *main_position(const Table *t, int64_t key)
{
    return &t->node[key % ((((int64_t)1 << t->lsizenode) - 1) | 1)];
}

static void node_set(Node *n, int64_t key, TValue value)
{
    n->key_tt = INTEGER;
    n->key_val = key;
    n->i_val = value;
}

static void node_insert_behind(Table *t, Node *main, int64_t key, TValue value)
{
    Node *free_one = t->lastfree;
    do
        free_one--;
    while (free_one->key_tt != NIL);
    t->lastfree = free_one;
    node_set(free_one, key, value);
    free_one->next = main->next ? (int32_t)(main + main->next - free_one) : 0;
    main->next = (int32_t)(free_one - main);
}

/* First the keys whose own place is free, then the others, each behind the one in its place. */
static void table_hash(Table *t, Table **all, int known, const int64_t *keys, int count)
{
    char is_placed[256] = { 0 };
    int k;
    for (k = 0; k < count; k++)
        if (main_position(t, keys[k])->key_tt == NIL) {
            node_set(main_position(t, keys[k]), keys[k], value_make(all, known, keys[k]));
            is_placed[k] = 1;
        }
    for (k = 0; k < count; k++)
        if (!is_placed[k])
            node_insert_behind(t, main_position(t, keys[k]), keys[k],
                               value_make(all, known, keys[k]));
}

static Table *table_make(Table **all, int known)
{
    Table *t = yard_take(1, sizeof *t);
    int64_t keys[256], size, k;
    t->tt = TABLE;
    t->alimit = (uint32_t)yard_int(0, 90);
    t->flags = t->alimit > 0 && yard_int(0, 1) ? NOT_REAL_SIZE : 0;
    size = t->flags ? next_power(t->alimit) : t->alimit;
    if (size)
        t->array = yard_take((size_t)size, sizeof *t->array);
    for (k = 0; k < size; k++)
        t->array[k] = value_make(all, known, k + 1);
    t->node = &dummynode;
    if (known % 7 == 0) {
        int count = 1 << (t->lsizenode = (uint8_t)(8 - known % 3));
        t->node = yard_take((size_t)count, sizeof *t->node);
        t->lastfree = t->node + count;
        for (k = 0; k < count; k++)
            keys[k] = size + 1 + 13 * k + yard_int(0, 12);
        table_hash(t, all, known, keys, count * 3 / 4);
    }
    t->metatable = known ? all[0] : NULL;
    t->next = known ? all[known - 1] : NULL;
    return t;
}

static Table *tables_make(void)
{
    Table *all[TABLES + 1];
    int t;
    for (t = 0; t <= TABLES; t++)
        all[t] = table_make(all, t);
    return all[TABLES];
}

static TValue *table_get(Table *t, int64_t key)
{
    Node *n;
    if (key <= t->alimit || (t->flags & NOT_REAL_SIZE && key <= next_power(t->alimit)))
        return &t->array[key - 1];
    for (n = main_position(t, key);; n += n->next) {
        if (n->key_tt == INTEGER && n->key_val == key)
            return &n->i_val;
        if (n->next == 0)
            return NULL;
    }
}

static int64_t table_use(Table *t, int64_t key)
{
    TValue *v = table_get(t, key);
    int64_t value = v->tt_ == TABLE ? v->value_.gc->tt == TABLE : v->value_.i;
    if (v->tt_ == INTEGER)
        v->value_.i += 5;
    return key * value;
}

static int64_t lua_walk(void *root, size_t count)
{
    Table *t;
    int64_t sum = 0, k;
    (void)count;
    for (t = root; t; t = t->next) {
        int64_t size = t->flags & NOT_REAL_SIZE ? next_power(t->alimit) : t->alimit;
        for (k = 0; k < size; k++)
            sum += table_use(t, k + 1);
        for (k = 0; k < (int64_t)1 << t->lsizenode; k++)
            if (t->node[k].key_tt == INTEGER)
                sum += table_use(t, t->node[k].key_val);
        if (t->lastfree && (t->lastfree < t->node || t->lastfree > t->node + k))
            return -1;
    }
    return sum;
}

TEST(structures, EXPR_tables_of_two_to_the_power_of_a_byte_nodes_and_arrays_rounded_up_on_a_flag)
{
    yard_open(1 << 22, 11);
    lua_open(node_size);
    yard_prove(tables_make(), table_type, 1, lua_walk);
    lua_close();
}

HAUL_FUNCTION(lsizenode_itself, Table, self->lsizenode)

TEST(structures, EXPR_a_logarithm_taken_for_the_size_is_refused_by_the_pointer_that_then_leads_out)
{
    Table *root;
    yard_open(1 << 22, 12);
    lua_open(lsizenode_itself);
    root = tables_make();
    while (root->node == &dummynode)
        root = root->next;
    yard_refuse(root, table_type, 1, HAUL_ERROR_GRAPH, "root.lastfree",
                "an alias that leads to nothing that another pointer owns");
    lua_close();
}

/* ---- END: libyaml's document. Three pointers bound each stack: where it starts, where its memory
 * ends, and its top. Of the nodes only those below the top travel; of a sequence's items all, so
 * that there is room on the device too.
 */

enum { SCALAR = 1, SEQUENCE = 2, MAPPING = 3, NODES = 600 };

typedef struct yaml_scalar {
    char *value;
    size_t length;
    int32_t style;
} yaml_scalar;

typedef struct yaml_sequence {
    struct {
        int32_t *start, *end, *top;
    } items;
    int32_t style;
} yaml_sequence;

typedef struct yaml_pair {
    int32_t key, value;
} yaml_pair;

typedef struct yaml_mapping {
    struct {
        yaml_pair *start, *end, *top;
    } pairs;
    int32_t style;
} yaml_mapping;

typedef struct yaml_node {
    int32_t type;
    char *tag;
    union {
        yaml_scalar scalar;
        yaml_sequence sequence;
        yaml_mapping mapping;
    } data;
    size_t start_mark[3], end_mark[3];
} yaml_node;

typedef struct yaml_directive {
    char *handle, *prefix;
} yaml_directive;

typedef struct yaml_document {
    struct {
        yaml_node *start, *end, *top;
    } nodes;
    int32_t *version_directive;
    struct {
        yaml_directive *start, *end;
    } tag_directives;
    int32_t start_implicit, end_implicit;
} yaml_document;

static haul_type *scalar_type, *sequence_type, *mapping_type, *yaml_type, *directive_type;

static haul_type *yaml_open(const haul_field *nodes)
{
    static const haul_field scalar_fields[] = { HAUL_ARRAY(yaml_scalar, value,
                                                           HAUL_COUNT(yaml_scalar, length)) };
    static const haul_field sequence_fields[] = {
        HAUL_ARRAY(yaml_sequence, items.start, HAUL_UNTIL(yaml_sequence, items.end)),
        HAUL_ADDRESS(yaml_sequence, items.top, .ownership = HAUL_BORROWED),
    };
    static const haul_field mapping_fields[] = {
        HAUL_ARRAY(yaml_mapping, pairs.start, HAUL_UNTIL(yaml_mapping, pairs.top)),
        HAUL_SKIP(yaml_mapping, pairs.end),
    };
    const haul_field node_fields[] = {
        HAUL_STRING(yaml_node, tag),
        HAUL_EMBED(yaml_node, data.scalar, &scalar_type,
                   .when = HAUL_EQUALS(yaml_node, type, SCALAR)),
        HAUL_EMBED(yaml_node, data.sequence, &sequence_type,
                   .when = HAUL_EQUALS(yaml_node, type, SEQUENCE)),
        HAUL_EMBED(yaml_node, data.mapping, &mapping_type,
                   .when = HAUL_EQUALS(yaml_node, type, MAPPING)),
    };
    static const haul_field directive_fields[] = { HAUL_STRING(yaml_directive, handle),
                                                   HAUL_STRING(yaml_directive, prefix) };
    static const haul_field document_fields[] = {
        HAUL_ARRAY(yaml_document, version_directive, HAUL_FIXED(2)),
        HAUL_OBJECTS(yaml_document, tag_directives.start, &directive_type,
                     HAUL_UNTIL(yaml_document, tag_directives.end)),
    };
    haul_type *type;
    scalar_type = YARD_TYPE(yaml_scalar, scalar_fields);
    sequence_type = YARD_TYPE(yaml_sequence, sequence_fields);
    mapping_type = YARD_TYPE(yaml_mapping, mapping_fields);
    yaml_type = YARD_TYPE(yaml_node, node_fields);
    directive_type = YARD_TYPE(yaml_directive, directive_fields);
    type = YARD_TYPE(yaml_document, document_fields);
    CHECK_STATUS(haul_type_add(type, nodes, 2), HAUL_OK);
    yard_commit(type);
    return type;
}

static void yaml_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&scalar_type);
    haul_type_free(&sequence_type);
    haul_type_free(&mapping_type);
    haul_type_free(&yaml_type);
    haul_type_free(&directive_type);
    yard_close();
}

static void scalar_fill(yaml_scalar *s, int number)
{
    char text[32];
    s->length = (size_t)snprintf(text, sizeof text, "scalar %d", number);
    s->value = yard_text(text);
    s->style = number % 5;
    yard.told += (int64_t)s->length + s->style;
}

static void sequence_fill(yaml_sequence *s)
{
    int used = yard_int(0, 24), i;
    s->items.start = yard_raw(24 * sizeof *s->items.start);
    s->items.end = s->items.start + 24;
    for (i = 0, s->items.top = s->items.start; i < used; i++) {
        yard.told += *s->items.top = yard_int(1, NODES);
        s->items.top++;
    }
}

static void mapping_fill(yaml_mapping *m)
{
    int used = yard_int(4, 8), i;
    m->pairs.start = yard_raw(8 * sizeof *m->pairs.start);
    m->pairs.end = m->pairs.start + 8;
    for (i = 0, m->pairs.top = m->pairs.start; i < used; i++, m->pairs.top++) {
        m->pairs.top->key = yard_int(1, NODES);
        m->pairs.top->value = yard_int(1, NODES);
        yard.told += 3 * m->pairs.top->key + m->pairs.top->value;
    }
}

static void yaml_fill(yaml_node *n, int number)
{
    memset(n, 0, sizeof *n);
    n->type = number == 0 ? SEQUENCE : yard_int(SCALAR, MAPPING);
    n->tag = yard_text(n->type == SCALAR ? "tag:yaml.org,2002:str" : "tag:yaml.org,2002:any");
    if (n->type == SCALAR)
        scalar_fill(&n->data.scalar, number);
    else if (n->type == SEQUENCE)
        sequence_fill(&n->data.sequence);
    else
        mapping_fill(&n->data.mapping);
}

static yaml_document *yaml_make(void)
{
    yaml_document *d = yard_take(1, sizeof *d);
    int n;
    d->version_directive = yard_take(2, sizeof *d->version_directive);
    d->tag_directives.start = yard_take(2, sizeof *d->tag_directives.start);
    d->tag_directives.end = d->tag_directives.start + 2;
    for (n = 0; n < 2; n++) {
        d->tag_directives.start[n].handle = yard_text("!haul!");
        d->tag_directives.start[n].prefix = yard_text("tag:haul,2026:");
    }
    d->nodes.start = yard_raw(1024 * sizeof *d->nodes.start);
    d->nodes.end = d->nodes.start + 1024;
    for (n = 0; n < NODES; n++)
        yaml_fill(&d->nodes.start[n], n);
    d->nodes.top = d->nodes.start + NODES;
    return d;
}

/* Every scalar shouts, and every sequence that has room gets one more item. The last place stays
 * free: a pointer that the device moves to the very end of a block comes back as the start of the
 * arena's next one (ship.h). */
static int64_t yaml_walk_node(yaml_node *n)
{
    int64_t sum = 0;
    int32_t *item;
    yaml_pair *pair;
    if (n->type == SCALAR) {
        n->data.scalar.value[0] = 'S';
        return (int64_t)n->data.scalar.length + n->data.scalar.style;
    }
    if (n->type == MAPPING) {
        for (pair = n->data.mapping.pairs.start; pair < n->data.mapping.pairs.top; pair++)
            sum += 3 * pair->key + pair->value;
        return sum;
    }
    for (item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++)
        sum += *item;
    if (n->data.sequence.items.end - n->data.sequence.items.top > 1)
        *n->data.sequence.items.top++ = 1;
    return sum;
}

static int64_t yaml_walk(void *root, size_t count)
{
    yaml_document *d = root;
    yaml_node *n;
    yaml_directive *t;
    int64_t sum = 0;
    (void)count;
    for (n = d->nodes.start; n < d->nodes.top; n++)
        sum += strncmp(n->tag, "tag:", 4) == 0 ? yaml_walk_node(n) : -1;
    for (t = d->tag_directives.start; t < d->tag_directives.end; t++)
        t->handle[1] = t->prefix[4];
    d->version_directive[1]++;
    return sum;
}

TEST(structures, END_stacks_that_are_bounded_by_pointers_to_their_tops_and_ends)
{
    static const haul_field nodes[] = {
        HAUL_OBJECTS(yaml_document, nodes.start, &yaml_type, HAUL_UNTIL(yaml_document, nodes.top)),
        HAUL_SKIP(yaml_document, nodes.end),
    };
    haul_type *type;
    yard_open(1 << 20, 13);
    type = yaml_open(nodes);
    yard.returns_pointers = 1;
    yard_prove(yaml_make(), type, 1, yaml_walk);
    yaml_close(&type);
}

TEST(structures,
     END_a_stack_that_is_described_up_to_the_end_of_its_memory_is_refused_at_the_first_stale_node)
{
    static const haul_field nodes[] = {
        HAUL_OBJECTS(yaml_document, nodes.start, &yaml_type, HAUL_UNTIL(yaml_document, nodes.end)),
        HAUL_SKIP(yaml_document, nodes.top),
    };
    haul_type *type;
    yard_open(1 << 20, 14);
    type = yaml_open(nodes);
    yard_refuse(yaml_make(), type, 1, HAUL_ERROR_GRAPH, "root.nodes.start[600].tag",
                "it points outside any process's address range");
    yaml_close(&type);
}

TEST(structures, END_a_pair_the_wrong_way_round_is_refused)
{
    static const haul_field nodes[] = {
        HAUL_OBJECTS(yaml_document, nodes.top, &yaml_type, HAUL_UNTIL(yaml_document, nodes.start)),
        HAUL_SKIP(yaml_document, nodes.end),
    };
    haul_type *type;
    yard_open(1 << 20, 15);
    type = yaml_open(nodes);
    yard_refuse(yaml_make(), type, 1, HAUL_ERROR_GRAPH, "root.nodes.top",
                "its end lies before its begin");
    yaml_close(&type);
}
