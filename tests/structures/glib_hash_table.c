/* GLib's GHashTable. hashes[i] is 0 where nothing was, 1 where something has been. Keys and values
 * are integers of four bytes each until one does not fit, pointers then; the values of a set are
 * its keys. g_direct_hash takes a key's address for its hash: such a table is put in order on the
 * device.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "support/types.h"
#include "haul/experimental.h"

typedef void *gpointer;

static void free_nothing(void *data)
{
    (void)data;
}

enum { SLOTS = 256, ITEMS = 150 };

typedef struct GHashTable {
    size_t size;
    int mod;
    unsigned mask, nnodes, noccupied;
    unsigned have_big_keys : 1, have_big_values : 1;
    gpointer keys;
    unsigned *hashes;
    gpointer values;
    unsigned (*hash_func)(const void *);
    int (*key_equal_func)(const void *, const void *);
    int ref_count, version;
    void (*key_destroy_func)(void *), (*value_destroy_func)(void *);
} GHashTable;

typedef struct item {
    int64_t value, found;
    char *name;
} item;

typedef struct tables {
    GHashTable *numbers; /* of integers by integers */
    GHashTable *named;   /* of items by strings, shared with the next */
    GHashTable *set;     /* of items, by their addresses */
    GHashTable *counts;  /* of integers by the items' addresses */
} tables;

typedef struct string {
    char text[1];
} string;

static haul_type *key_of, *value_of, *table_type, *numbers_type, *named_type, *set_type,
    *direct_type, *item_type, *tables_type, *string_type;

static unsigned direct_hash(const void *key)
{
    unsigned hash = (unsigned)((uintptr_t)key >> 4);
    return hash < 2 ? 2 : hash;
}

static unsigned string_hash(const void *key)
{
    const char *c = key;
    unsigned hash = 5381;
    for (; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    return hash < 2 ? 2 : hash;
}

static int direct_equal(const void *a, const void *b)
{
    return a == b;
}

static int string_equal(const void *a, const void *b)
{
    return strcmp(a, b) == 0;
}

static gpointer slot_get(const void *array, unsigned is_big, size_t i)
{
    return is_big ? ((const gpointer *)array)[i]
                  : (gpointer)(uintptr_t)((const unsigned *)array)[i];
}

static void slot_set(void *array, unsigned is_big, size_t i, gpointer value)
{
    if (is_big)
        ((gpointer *)array)[i] = value;
    else
        ((unsigned *)array)[i] = (unsigned)(uintptr_t)value;
}

static size_t table_place(const GHashTable *t, const void *key)
{
    unsigned hash = t->hash_func(key), step = 0;
    size_t i = hash % (unsigned)t->mod;
    while (t->hashes[i] != 0) {
        if (t->hashes[i] == hash && t->key_equal_func(slot_get(t->keys, t->have_big_keys, i), key))
            return i;
        i = (i + ++step) & t->mask;
    }
    return i;
}

static void table_insert(GHashTable *t, gpointer key, gpointer value)
{
    size_t i = table_place(t, key);
    t->hashes[i] = t->hash_func(key);
    slot_set(t->keys, t->have_big_keys, i, key);
    if (t->values != t->keys)
        slot_set(t->values, t->have_big_values, i, value);
}

/* In the order of the addresses that there are now. */
static void direct_rehash(GHashTable *t)
{
    static gpointer keys[ITEMS], values[ITEMS];
    size_t i, n = 0;
    for (i = 0; i < t->size; i++)
        if (t->hashes[i] >= 2) {
            keys[n] = slot_get(t->keys, t->have_big_keys, i);
            values[n++] = slot_get(t->values, t->have_big_values, i);
            t->hashes[i] = 0;
        }
    for (i = 0; i < n; i++)
        table_insert(t, keys[i], values[i]);
}

static void rehash_there(void *argument)
{
    const haul_rebuild *what = argument;
    const haul_address *all = (const haul_address *)(uintptr_t)what->list;
    size_t i;
    for (i = 0; i < what->count; i++)
        direct_rehash((GHashTable *)(uintptr_t)all[i]);
}

static haul_status rehash(const haul_rebuild *what)
{
    haul_rebuild copy = *what;
    return haul_host_launch(what->device, rehash_there, &copy);
}

HAUL_FUNCTION(keys_are_big, GHashTable, (self->have_big_keys) != 0)
HAUL_FUNCTION(keys_are_small, GHashTable, !self->have_big_keys)
HAUL_FUNCTION(values_are_big, GHashTable, self->values != self->keys && self->have_big_values)
HAUL_FUNCTION(values_are_small, GHashTable, self->values != self->keys && !self->have_big_values)
HAUL_FUNCTION(values_are_keys, GHashTable, self->values == self->keys)
HAUL_FUNCTION(slot_is_used, GHashTable, self->hashes[here->index] >= 2)
HAUL_FUNCTION(small_bytes, GHashTable, self->size * sizeof(unsigned))

static const haul_field in_use = { .when = HAUL_WHEN_FN(slot_is_used) };

/* What is searched by addresses moves there, and must not come back. */
#define TABLE_ROWS(way)                                                                            \
    HAUL_ADDRESS(GHashTable, keys, .levels = 2, .target = &key_of,                                 \
                 .count = HAUL_COUNT(GHashTable, size), .when = HAUL_WHEN_FN(keys_are_big),        \
                 .each_pointer = &in_use, .transfer = way),                                        \
        HAUL_BYTES(GHashTable, keys, HAUL_COUNT_FN(small_bytes),                                   \
                   .when = HAUL_WHEN_FN(keys_are_small), .transfer = way),                         \
        HAUL_ARRAY(GHashTable, hashes, HAUL_COUNT(GHashTable, size), .transfer = way),             \
        HAUL_ADDRESS(GHashTable, values, .levels = 2, .target = &value_of,                         \
                     .count = HAUL_COUNT(GHashTable, size), .when = HAUL_WHEN_FN(values_are_big),  \
                     .each_pointer = &in_use, .transfer = way),                                    \
        HAUL_BYTES(GHashTable, values, HAUL_COUNT_FN(small_bytes),                                 \
                   .when = HAUL_WHEN_FN(values_are_small), .transfer = way),                       \
        HAUL_ADDRESS(GHashTable, values, .when = HAUL_WHEN_FN(values_are_keys),                    \
                     .ownership = HAUL_BORROWED),                                                  \
        HAUL_ADDRESS(GHashTable, hash_func, .ownership = HAUL_EXTERNAL),                           \
        HAUL_ADDRESS(GHashTable, key_equal_func, .ownership = HAUL_EXTERNAL),                      \
        HAUL_ADDRESS(GHashTable, key_destroy_func, .ownership = HAUL_EXTERNAL),                    \
        HAUL_ADDRESS(GHashTable, value_destroy_func, .ownership = HAUL_EXTERNAL)

static haul_type *table_of(haul_type *container, haul_type *key, haul_type *value)
{
    haul_type *parameters[2], *arguments[2], *instance;
    parameters[0] = key_of;
    parameters[1] = value_of;
    arguments[0] = key;
    arguments[1] = value;
    CHECK_STATUS(haul_type_instance(container, 2, parameters, arguments, &instance), HAUL_OK);
    return instance;
}

static void tables_open(haul_rebuild_function *rebuild)
{
    static const haul_field item_fields[] = { HAUL_STRING(item, name) };
    static const haul_field string_fields[] = { HAUL_TAIL(string, text, HAUL_TERMINATED) };
    static const haul_field fields[] = { HAUL_OBJECT(tables, numbers, &numbers_type),
                                         HAUL_OBJECT(tables, named, &named_type),
                                         HAUL_OBJECT(tables, set, &set_type),
                                         HAUL_OBJECT(tables, counts, &set_type) };
    const haul_field table_fields[] = { TABLE_ROWS(HAUL_COPY) };
    const haul_field direct_fields[] = { TABLE_ROWS(HAUL_COPYIN) };
    CHECK_STATUS(haul_type_parameter(type_context(), "key", &key_of), HAUL_OK);
    CHECK_STATUS(haul_type_parameter(type_context(), "value", &value_of), HAUL_OK);
    item_type = OPEN(item, item_fields);
    string_type = OPEN(string, string_fields);
    tables_type = OPEN(tables, fields);
    table_type = OPEN(GHashTable, table_fields);
    direct_type = type_open("GHashTable by addresses", sizeof(GHashTable), direct_fields,
                            sizeof direct_fields / sizeof *direct_fields);
    CHECK_STATUS(haul_type_set_rebuild(direct_type, rebuild, NULL), HAUL_OK);
    numbers_type = table_of(table_type, string_type, item_type);
    named_type = numbers_type;
    set_type = table_of(direct_type, item_type, item_type);
    type_close(tables_type);
}

static void tables_end(void)
{
    SITE_END(&tables_type, &numbers_type, &set_type, &table_type, &direct_type, &item_type,
             &string_type, &key_of, &value_of);
}

static GHashTable *table_make(unsigned big_keys, unsigned big_values, int is_set, int by_address)
{
    GHashTable *t = put_elements(1, sizeof *t);
    t->size = SLOTS;
    t->mod = SLOTS - 5;
    t->mask = SLOTS - 1;
    t->have_big_keys = big_keys & 1;
    t->have_big_values = big_values & 1;
    t->hashes = put_elements(SLOTS, sizeof *t->hashes);
    t->keys = big_keys ? put_room(SLOTS * sizeof(gpointer)) : put_elements(SLOTS, sizeof(unsigned));
    t->values = is_set       ? t->keys
                : big_values ? put_room(SLOTS * sizeof(gpointer))
                             : put_elements(SLOTS, sizeof(unsigned));
    t->hash_func = by_address ? direct_hash : string_hash;
    t->key_equal_func = by_address ? direct_equal : string_equal;
    t->key_destroy_func = t->value_destroy_func = free_nothing;
    return t;
}

static tables *tables_make(void)
{
    tables *t = put_elements(1, sizeof *t);
    uintptr_t i;
    t->numbers = table_make(0, 0, 0, 1);
    t->named = table_make(1, 1, 0, 0);
    t->set = table_make(1, 1, 1, 1);
    t->counts = table_make(1, 0, 0, 1);
    for (i = 1; i <= ITEMS; i++) {
        item *it = put_elements(1, sizeof *it);
        char name[20];
        snprintf(name, sizeof name, "item %d", (int)i * 7);
        it->name = put_text(name);
        it->value = chance(1, 999);
        table_insert(t->numbers, (gpointer)(i * 1000), (gpointer)(i * 3));
        table_insert(t->named, it->name, it);
        if (i % 2)
            table_insert(t->set, it, it);
        table_insert(t->counts, it, (gpointer)i);
        the.told += (int64_t)i * 3 + it->value + (i % 2 ? 10000 : 0) + (int64_t)i;
    }
    return t;
}

static gpointer table_find(const GHashTable *t, const void *key)
{
    size_t i = table_place(t, key);
    return t->hashes[i] ? slot_get(t->values, t->have_big_values, i) : NULL;
}

static int64_t tables_walk(void *root, size_t count)
{
    tables *t = root;
    int64_t sum = 0;
    uintptr_t i;
    (void)count;
    for (i = 1; i <= ITEMS; i++) {
        char name[20];
        item *it;
        snprintf(name, sizeof name, "item %d", (int)i * 7);
        it = table_find(t->named, name);
        sum += it->value + (int64_t)(uintptr_t)table_find(t->numbers, (gpointer)(i * 1000));
        sum += table_find(t->set, it) == it ? 10000 : 0;
        sum += (int64_t)(uintptr_t)table_find(t->counts, it);
        it->found++;
    }
    return sum;
}

TEST(structures_glib, GHashTable_of_narrow_or_wide_keys_and_values_some_searched_by_address)
{
    site_start(110);
    tables_open(rehash);
    travel_and_sum(tables_make(), tables_type, 1, tables_walk);
    tables_end();
}

TEST(structures_glib, GHashTable_by_addresses_that_nothing_puts_in_order_is_refused)
{
    site_start(111);
    tables_open(NULL);
    refuse_ship(tables_make(), tables_type, 1, HAUL_ERROR_UNSUPPORTED, "root.set",
                "depend on addresses");
    tables_end();
}
