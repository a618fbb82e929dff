/* unordered_map of libstdc++. All nodes are one list that begins in the table. A bucket leads to
 * the node before its first one; that of the list's first node leads into the table. A table of one
 * bucket has that in itself. Keys that are addresses want their nodes put in order again.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "haul/experimental.h"

static haul_type *node; /* a parameter: what a container's nodes are */

static haul_type *instance_of(haul_type *container, haul_type *what)
{
    haul_type *instance;
    CHECK_STATUS(haul_type_instance(container, 1, &node, &what, &instance), HAUL_OK);
    return instance;
}

enum { BUCKETS = 13, ITEMS = 60 };

typedef struct hash_node_base {
    struct hash_node_base *nxt;
} hash_node_base;

typedef struct hashtable {
    hash_node_base **buckets;
    size_t bucket_count;
    hash_node_base before_begin;
    size_t element_count;
    struct {
        float max_load_factor;
        size_t next_resize;
    } rehash_policy;
    hash_node_base *single_bucket;
} hashtable;

typedef struct item {
    int number, met;
} item;

typedef struct int_node { /* of unordered_map<int, item *> */
    hash_node_base base;
    int key;
    item *value;
} int_node;

typedef struct item_node { /* of unordered_map<item *, int> */
    hash_node_base base;
    item *key;
    int value;
} item_node;

typedef struct by_address {
    hashtable table;
} by_address;

typedef struct tables {
    hashtable by_number, of_one;
    by_address of_items;
} tables;

static haul_type *hash_base_type, *hashtable_type, *item_type, *int_node_type, *item_node_type,
    *by_address_type, *tables_type;
static haul_type *int_base_type, *item_base_type, *int_table_type, *item_table_type;

HAUL_FUNCTION(is_table_itself, hashtable, here->target == (const void *)&self->before_begin)

static hash_node_base **bucket_of(hashtable *t, size_t hash)
{
    return &t->buckets[hash % t->bucket_count];
}

/* At the front of its bucket: behind the node before that, or, for the first in it, at the front of
 * all. */
static void hash_insert(hashtable *t, hash_node_base *n, size_t (*hash)(const hash_node_base *n))
{
    hash_node_base **bucket = bucket_of(t, hash(n));
    if (*bucket) {
        n->nxt = (*bucket)->nxt;
        (*bucket)->nxt = n;
        return;
    }
    n->nxt = t->before_begin.nxt;
    t->before_begin.nxt = n;
    if (n->nxt)
        *bucket_of(t, hash(n->nxt)) = n;
    *bucket = &t->before_begin;
}

static size_t hash_of_int(const hash_node_base *n)
{
    return (size_t)((const int_node *)n)->key;
}

static size_t hash_of_address(const hash_node_base *n)
{
    return (size_t)((const item_node *)n)->key >> 3;
}

static void order_there(void *argument)
{
    const haul_rebuild *what = argument;
    const haul_address *all = (const haul_address *)(uintptr_t)what->list;
    size_t i;
    for (i = 0; i < what->count; i++) {
        hashtable *t = &((by_address *)(uintptr_t)all[i])->table;
        hash_node_base *n = t->before_begin.nxt, *next;
        t->before_begin.nxt = NULL;
        memset(t->buckets, 0, t->bucket_count * sizeof *t->buckets);
        for (; n; n = next) {
            next = n->nxt;
            hash_insert(t, n, hash_of_address);
        }
    }
}

static haul_status order_again(const haul_rebuild *what)
{
    haul_rebuild copy = *what;
    return haul_host_launch(what->device, order_there, &copy);
}

static void tables_open(haul_rebuild_function *order)
{
    static const haul_case node_or_table[] = {
        { 0, &node, 0 }, { 1, &hashtable_type, HAUL_CONTAINER_OF(hashtable, before_begin) }
    };
    static const haul_field before = { .type_switch =
                                           HAUL_SWITCH_FN(is_table_itself, node_or_table) };
    static const haul_field base_fields[] = { HAUL_ADDRESS(hash_node_base, nxt, .target = &node) };
    static const haul_field table_fields[] = {
        HAUL_ADDRESS(hashtable, buckets, .levels = 2, .count = HAUL_COUNT(hashtable, bucket_count),
                     .each_pointer = &before, .transfer = HAUL_COPYIN),
        HAUL_EMBED(hashtable, before_begin, &hash_base_type),
        HAUL_SKIP(hashtable, single_bucket), /* where it counts, buckets describes it */
    };
    static const haul_field int_fields[] = { HAUL_EMBED(int_node, base, &int_base_type),
                                             HAUL_OBJECT(int_node, value, &item_type) };
    static const haul_field item_fields[] = { HAUL_EMBED(item_node, base, &item_base_type),
                                              HAUL_OBJECT(item_node, key, &item_type) };
    static const haul_field address_fields[] = { HAUL_EMBED(by_address, table, &item_table_type) };
    static const haul_field fields[] = { HAUL_EMBED(tables, by_number, &int_table_type),
                                         HAUL_EMBED(tables, of_one, &int_table_type),
                                         HAUL_EMBED(tables, of_items, &by_address_type) };
    CHECK_STATUS(haul_type_parameter(type_context(), "node", &node), HAUL_OK);
    hash_base_type = OPEN(hash_node_base, base_fields);
    hashtable_type = OPEN(hashtable, table_fields);
    item_type = type_open("item", sizeof(item), NULL, 0);
    int_node_type = OPEN(int_node, int_fields);
    item_node_type = OPEN(item_node, item_fields);
    by_address_type = OPEN(by_address, address_fields);
    CHECK_STATUS(haul_type_set_rebuild(by_address_type, order, NULL), HAUL_OK);
    tables_type = OPEN(tables, fields);
    int_base_type = instance_of(hash_base_type, int_node_type);
    item_base_type = instance_of(hash_base_type, item_node_type);
    int_table_type = instance_of(hashtable_type, int_node_type);
    item_table_type = instance_of(hashtable_type, item_node_type);
    type_close(tables_type);
}

static void tables_close(void)
{
    haul_type **all[] = { &tables_type,    &by_address_type, &int_table_type, &item_table_type,
                          &int_base_type,  &item_base_type,  &int_node_type,  &item_node_type,
                          &hashtable_type, &hash_base_type,  &item_type,      &node };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

static void table_start(hashtable *t, size_t buckets)
{
    t->bucket_count = buckets;
    t->buckets = buckets == 1 ? &t->single_bucket : PUT_ARRAY(hash_node_base *, buckets);
    t->rehash_policy.max_load_factor = 1;
}

static void number_add(hashtable *t, int key, item *value)
{
    int_node *n = PUT(int_node);
    n->key = key;
    n->value = value;
    t->element_count++;
    hash_insert(t, &n->base, hash_of_int);
}

static tables *tables_make(uint64_t *seen)
{
    tables *t = PUT(tables);
    int i;
    table_start(&t->by_number, BUCKETS);
    table_start(&t->of_one, 1);
    table_start(&t->of_items.table, BUCKETS);
    for (i = 0; i < ITEMS; i++) {
        item *it = PUT(item);
        item_node *n = PUT(item_node);
        put(random_between(&the.random, 1, 90), 1);
        it->number = 3 * i;
        number_add(&t->by_number, 7 * i, it);
        if (i < 2)
            number_add(&t->of_one, i, it);
        n->key = it;
        n->value = i;
        t->of_items.table.element_count++;
        hash_insert(&t->of_items.table, &n->base, hash_of_address);
        see(seen, 3 * (uint64_t)i), see(seen, (uint64_t)i);
    }
    see(seen, 0), see(seen, 3);
    return t;
}

static int_node *find_number(hashtable *t, int key)
{
    hash_node_base *before = *bucket_of(t, (size_t)key), *n = before ? before->nxt : NULL;
    for (; n && bucket_of(t, hash_of_int(n)) == bucket_of(t, (size_t)key); n = n->nxt)
        if (((int_node *)n)->key == key)
            return (int_node *)n;
    return NULL;
}

static item_node *find_item(hashtable *t, item *key)
{
    size_t hash = (size_t)key >> 3;
    hash_node_base *before = *bucket_of(t, hash), *n = before ? before->nxt : NULL;
    for (; n && bucket_of(t, hash_of_address(n)) == bucket_of(t, hash); n = n->nxt)
        if (((item_node *)n)->key == key)
            return (item_node *)n;
    return NULL;
}

static void tables_walk(void *argument)
{
    visit *v = argument;
    tables *t = v->root;
    int i;
    for (i = 0; i < ITEMS; i++) {
        int_node *n = find_number(&t->by_number, 7 * i);
        item_node *by = n ? find_item(&t->of_items.table, n->value) : NULL;
        see(&v->seen, n ? (uint64_t)n->value->number : 1);
        see(&v->seen, by ? (uint64_t)by->value++ : ITEMS);
        if (n)
            n->value->met++;
    }
    for (i = 0; i < 2; i++)
        see(&v->seen, (uint64_t)find_number(&t->of_one, i)->value->number);
    if (!v->is_host && t->of_one.buckets != &t->of_one.single_bucket)
        see(&v->seen, 1);
}

TEST(structures_libstdcxx, unordered_map_nodes_are_found_there_by_number_and_by_address)
{
    journey j = { .walk = tables_walk };
    site_start(101);
    tables_open(order_again);
    j.root = tables_make(&j.seen);
    j.type = tables_type;
    travel(&j);
    tables_close();
    site_end();
}

TEST(structures_libstdcxx, unordered_map_of_addresses_that_nothing_puts_in_order_is_refused)
{
    uint64_t seen = 0;
    site_start(101);
    tables_open(NULL);
    refuse_graph(tables_make(&seen), tables_type, HAUL_ERROR_UNSUPPORTED, "root.of_items", NULL,
                 "the contents of type by_address depend on addresses");
    tables_close();
    site_end();
}
