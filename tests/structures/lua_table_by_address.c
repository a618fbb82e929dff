/* Lua's table, with userdata for keys. Its nodes are one array of 2^lsizenode; a key that
 * finds its place taken goes to a free node from the end of the array on, and into the chain of
 * that place, by distances between nodes. To put it in order moves nodes, contents and all: so the
 * row that leads to them says that they stay where they are.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "haul/experimental.h"

enum { LUA_NIL = 0, LUA_INTEGER = 3, LUA_USERDATA = 0x47, LOG_NODES = 11, USERDATA = 1500 };

typedef struct Udata {
    struct Udata *next; /* the chain of all objects */
    unsigned char tt, marked;
    unsigned short nuvalue;
    size_t len;
    int64_t contents[2];
} Udata;

typedef union Value {
    Udata *gc;
    int64_t i;
} Value;

typedef struct Node {
    Value value;
    unsigned char tt, key_tt;
    int next; /* in the chain, in nodes from this one; 0: the last */
    Value key;
} Node;

typedef struct Table {
    unsigned char tt, marked, flags, lsizenode;
    Node *node, *lastfree; /* nodes from this one on are taken */
} Table;

typedef struct registry {
    Udata *allgc;
    Table *of_objects;
} registry;

static haul_type *Udata_type, *Node_type, *Table_type, *registry_type;

HAUL_FUNCTION(sizenode, Table, (int64_t)1 << self->lsizenode)

static void registry_open(haul_rebuild_function *function)
{
    static const haul_field udata_fields[] = { HAUL_OBJECT(Udata, next, &Udata_type) };
    static const haul_field node_fields[] = { HAUL_OBJECT(
        Node, key.gc, &Udata_type, .when = HAUL_EQUALS(Node, key_tt, LUA_USERDATA),
        .else_raw = 1) };
    static const haul_field table_fields[] = {
        HAUL_OBJECTS(Table, node, &Node_type, HAUL_COUNT_FN(sizenode), .transfer = HAUL_COPYIN),
        HAUL_ADDRESS(Table, lastfree, .ownership = HAUL_BORROWED)
    };
    static const haul_field registry_fields[] = { HAUL_OBJECT(registry, allgc, &Udata_type),
                                                  HAUL_OBJECT(registry, of_objects, &Table_type) };
    Udata_type = OPEN(Udata, udata_fields);
    Node_type = OPEN(Node, node_fields);
    Table_type = OPEN(Table, table_fields);
    CHECK_STATUS(haul_type_set_rebuild(Table_type, function, NULL), HAUL_OK);
    registry_type = OPEN(registry, registry_fields);
    type_close(registry_type);
}

static void registry_close(void)
{
    haul_type_free(&registry_type);
    haul_type_free(&Table_type);
    haul_type_free(&Node_type);
    haul_type_free(&Udata_type);
}

static Node *main_place(const Table *t, const Udata *key)
{
    size_t nodes = (size_t)1 << t->lsizenode;
    return &t->node[(uintptr_t)key % ((nodes - 1) | 1)];
}

static Node *table_get(const Table *t, const Udata *key)
{
    Node *n = main_place(t, key);
    while (n->key_tt != LUA_USERDATA || n->key.gc != key) {
        if (!n->next)
            return NULL;
        n += n->next;
    }
    return n;
}

static Node *free_node(Table *t)
{
    while (t->lastfree > t->node)
        if ((--t->lastfree)->key_tt == LUA_NIL)
            return t->lastfree;
    return NULL;
}

/* `n`, which is in another place's chain, goes to a free node; its own is free then. */
static void move_away(Table *t, Node *n, Node *to)
{
    Node *before = main_place(t, n->key.gc);
    while (before + before->next != n)
        before += before->next;
    before->next = (int)(to - before);
    *to = *n;
    if (n->next)
        to->next = (int)(n + n->next - to);
    n->next = 0;
}

static void table_set(Table *t, Udata *key, int64_t value)
{
    Node *n = main_place(t, key);
    if (n->key_tt != LUA_NIL) {
        Node *other = free_node(t);
        if (!other)
            return;
        if (main_place(t, n->key.gc) != n) {
            move_away(t, n, other);
        } else {
            other->next = n->next ? (int)(n + n->next - other) : 0;
            n->next = (int)(other - n);
            n = other;
        }
    }
    n->key_tt = LUA_USERDATA;
    n->key.gc = key;
    n->tt = LUA_INTEGER;
    n->value.i = value;
}

static void table_clear(Table *t)
{
    size_t nodes = (size_t)1 << t->lsizenode;
    memset(t->node, 0, nodes * sizeof *t->node);
    t->lastfree = t->node + nodes;
}

static void table_order(Table *t)
{
    static Node old[1 << LOG_NODES];
    size_t nodes = (size_t)1 << t->lsizenode, i;
    memcpy(old, t->node, nodes * sizeof *old);
    table_clear(t);
    for (i = 0; i < nodes; i++)
        if (old[i].key_tt == LUA_USERDATA)
            table_set(t, old[i].key.gc, old[i].value.i);
}

static void tables_order_there(void *argument)
{
    const haul_rebuild *what = argument;
    const haul_address *all = (const haul_address *)(uintptr_t)what->list;
    size_t i;
    for (i = 0; i < what->count; i++)
        table_order((Table *)(uintptr_t)all[i]);
}

static haul_status tables_rebuild(const haul_rebuild *what)
{
    haul_rebuild copy = *what;
    return haul_host_launch(what->device, tables_order_there, &copy);
}

static haul_status nothing_is_rebuilt(const haul_rebuild *what)
{
    (void)what;
    return HAUL_OK;
}

static registry *registry_make(uint64_t *seen)
{
    static Udata *all[USERDATA];
    registry *r = PUT(registry);
    Table *t = r->of_objects = PUT(Table);
    size_t i;
    t->lsizenode = LOG_NODES;
    t->node = PUT_ARRAY(Node, 1 << LOG_NODES);
    table_clear(t);
    for (i = 0; i < USERDATA; i++) {
        put(random_between(&the.random, 1, 200), 1);
        all[i] = PUT(Udata);
        all[i]->tt = LUA_USERDATA;
        all[i]->len = sizeof all[i]->contents;
        table_set(t, all[i], (int64_t)(i * i));
    }
    for (i = 0; i < USERDATA; i++) {
        all[i]->next = i + 1 < USERDATA ? all[i + 1] : NULL;
        see(seen, i * i);
    }
    r->allgc = all[0];
    return r;
}

/* What it writes into the table is for there alone. */
static void registry_walk(void *argument)
{
    visit *v = argument;
    registry *r = v->root;
    Udata *u;
    for (u = r->allgc; u; u = u->next) {
        Node *n = table_get(r->of_objects, u);
        see(&v->seen, n ? (uint64_t)n->value.i : 1 << 30);
        if (!n)
            continue;
        u->contents[1] = n->value.i + 7;
        if (!v->is_host)
            n->value.i = -1;
    }
}

TEST(structures_lua, a_table_whose_nodes_move_is_searched_there_and_stays_in_order_here)
{
    journey j = { .walk = registry_walk, .with_pointers = 1 };
    site_start(28);
    registry_open(tables_rebuild);
    j.root = registry_make(&j.seen);
    j.type = registry_type;
    travel(&j);
    registry_close();
    site_end();
}

TEST(structures_lua, a_table_that_is_not_put_in_order_is_another_one_there)
{
    visit v = { .root = NULL };
    uint64_t seen = 0;
    haul_device *device;
    haul_shipment *s;
    registry *r;
    site_start(28);
    registry_open(nothing_is_rebuilt);
    r = registry_make(&seen);
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, r, registry_type, 1, NULL, &s), HAUL_OK);
    v.root = haul_device_pointer(s, r);
    CHECK_STATUS(haul_host_launch(device, registry_walk, &v), HAUL_OK);
    CHECK(v.seen != seen);
    haul_shipment_free(&s);
    haul_device_close(&device);
    registry_close();
    site_end();
}

TEST(structures_lua, a_table_without_a_function_is_refused_where_it_is_reached)
{
    uint64_t seen = 0;
    site_start(28);
    registry_open(NULL);
    refuse_graph(registry_make(&seen), registry_type, HAUL_ERROR_UNSUPPORTED, "root.of_objects", "",
                 "the contents of type Table depend on addresses, and it has "
                 "no function that rebuilds them");
    registry_close();
    site_end();
}
