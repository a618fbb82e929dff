/* Lua's Table. 1 << lsizenode nodes; an array of alimit values, or of the next power of
 * two where bit 7 of flags says that alimit is not the real size. A table without nodes has the one
 * dummy node of all.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

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
    the.known.statics = lua_statics;
    the.known.static_count = 1;
    tvalue_type = OPEN(TValue, tvalue_fields);
    node_type = OPEN(Node, node_fields);
    table_type = OPEN(Table, table_fields);
    type_close(table_type);
}

static void lua_close(void)
{
    haul_type_free(&tvalue_type);
    haul_type_free(&node_type);
    haul_type_free(&table_type);
    site_end();
}

/* An integer, or now and then a table. The sum: keys by values. The padding stays as it is. */
static void value_make(TValue *v, Table **all, int known, int64_t key)
{
    if (known > 0 && chance(0, 15) == 0) {
        v->tt_ = TABLE;
        v->value_.gc = all[chance(0, known - 1)];
        the.told += key;
    } else {
        v->tt_ = INTEGER;
        v->value_.i = chance(1, 9999);
        the.told += key * v->value_.i;
    }
}

static Node *main_position(const Table *t, int64_t key)
{
    return &t->node[key % ((((int64_t)1 << t->lsizenode) - 1) | 1)];
}

static void node_make(Node *n, Table **all, int known, int64_t key)
{
    n->key_tt = INTEGER;
    n->key_val = key;
    value_make(&n->i_val, all, known, key);
}

static void node_insert_behind(Table *t, Table **all, int known, Node *main, int64_t key)
{
    Node *free_one = t->lastfree;
    do
        free_one--;
    while (free_one->key_tt != NIL);
    t->lastfree = free_one;
    node_make(free_one, all, known, key);
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
            node_make(main_position(t, keys[k]), all, known, keys[k]);
            is_placed[k] = 1;
        }
    for (k = 0; k < count; k++)
        if (!is_placed[k])
            node_insert_behind(t, all, known, main_position(t, keys[k]), keys[k]);
}

static Table *table_make(Table **all, int known)
{
    Table *t = put_elements(1, sizeof *t);
    int64_t keys[256], size, k;
    t->tt = TABLE;
    t->alimit = (uint32_t)chance(0, 90);
    t->flags = t->alimit > 0 && chance(0, 1) ? NOT_REAL_SIZE : 0;
    size = t->flags ? next_power(t->alimit) : t->alimit;
    if (size)
        t->array = put_elements((size_t)size, sizeof *t->array);
    for (k = 0; k < size; k++)
        value_make(&t->array[k], all, known, k + 1);
    t->node = &dummynode;
    if (known % 7 == 0) {
        int count = 1 << (t->lsizenode = (uint8_t)(8 - known % 3));
        t->node = put_elements((size_t)count, sizeof *t->node);
        t->lastfree = t->node + count;
        for (k = 0; k < count; k++)
            keys[k] = size + 1 + 13 * k + chance(0, 12);
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

TEST(structures_lua, tables_of_two_to_the_power_of_a_byte_nodes_and_arrays_rounded_up_on_a_flag)
{
    site_start(11);
    lua_open(node_size);
    travel_and_sum(tables_make(), table_type, 1, lua_walk);
    lua_close();
}

HAUL_FUNCTION(lsizenode_itself, Table, self->lsizenode)

TEST(structures_lua, a_logarithm_taken_for_the_size_is_refused_by_the_pointer_that_then_leads_out)
{
    Table *root;
    site_start(12);
    lua_open(lsizenode_itself);
    root = tables_make();
    while (root->node == &dummynode)
        root = root->next;
    refuse_ship(root, table_type, 1, HAUL_ERROR_GRAPH, "root.lastfree",
                "an alias that leads to nothing that another pointer owns");
    lua_close();
}
