/* More structures of GLib: GHashTable (CNT, CAP, SHARE, BITS, CTX, WID, COND, FUNC, AHASH, IDX),
 * GPtrArray, GArray and GString (CNT, CAP, TERM, PARR, CTX, WID, FUNC), GSequence (SHARE, BACK,
 * CTX, FUNC), GVariant (CNT, PARR, SHARE, UNI, BITS, STAT, FUNC).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"
#include "support/open.h"
#include "support/types.h"
#include "haul/experimental.h"

typedef void *gpointer;

static void free_nothing(void *data)
{
    (void)data;
}

/* ---- GHashTable. hashes[i] is 0 where nothing was, 1 where something has been. Keys and values
 * are integers of four bytes each until one does not fit, pointers then; the values of a set are
 * its keys. g_direct_hash takes a key's address for its hash: such a table is put in order on the
 * device. */

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
    item_type = YARD_TYPE(item, item_fields);
    string_type = YARD_TYPE(string, string_fields);
    tables_type = YARD_TYPE(tables, fields);
    table_type = YARD_TYPE(GHashTable, table_fields);
    direct_type = yard_type("GHashTable by addresses", sizeof(GHashTable), direct_fields,
                            sizeof direct_fields / sizeof *direct_fields);
    CHECK_STATUS(haul_type_set_rebuild(direct_type, rebuild, NULL), HAUL_OK);
    numbers_type = table_of(table_type, string_type, item_type);
    named_type = numbers_type;
    set_type = table_of(direct_type, item_type, item_type);
    yard_commit(tables_type);
}

static void tables_end(void)
{
    YARD_END(&tables_type, &numbers_type, &set_type, &table_type, &direct_type, &item_type,
             &string_type, &key_of, &value_of);
}

static GHashTable *table_make(unsigned big_keys, unsigned big_values, int is_set, int by_address)
{
    GHashTable *t = yard_take(1, sizeof *t);
    t->size = SLOTS;
    t->mod = SLOTS - 5;
    t->mask = SLOTS - 1;
    t->have_big_keys = big_keys & 1;
    t->have_big_values = big_values & 1;
    t->hashes = yard_take(SLOTS, sizeof *t->hashes);
    t->keys = big_keys ? yard_raw(SLOTS * sizeof(gpointer)) : yard_take(SLOTS, sizeof(unsigned));
    t->values = is_set       ? t->keys
                : big_values ? yard_raw(SLOTS * sizeof(gpointer))
                             : yard_take(SLOTS, sizeof(unsigned));
    t->hash_func = by_address ? direct_hash : string_hash;
    t->key_equal_func = by_address ? direct_equal : string_equal;
    t->key_destroy_func = t->value_destroy_func = free_nothing;
    return t;
}

static tables *tables_make(void)
{
    tables *t = yard_take(1, sizeof *t);
    uintptr_t i;
    t->numbers = table_make(0, 0, 0, 1);
    t->named = table_make(1, 1, 0, 0);
    t->set = table_make(1, 1, 1, 1);
    t->counts = table_make(1, 0, 0, 1);
    for (i = 1; i <= ITEMS; i++) {
        item *it = yard_take(1, sizeof *it);
        char name[20];
        snprintf(name, sizeof name, "item %d", (int)i * 7);
        it->name = yard_text(name);
        it->value = yard_int(1, 999);
        table_insert(t->numbers, (gpointer)(i * 1000), (gpointer)(i * 3));
        table_insert(t->named, it->name, it);
        if (i % 2)
            table_insert(t->set, it, it);
        table_insert(t->counts, it, (gpointer)i);
        yard.told += (int64_t)i * 3 + it->value + (i % 2 ? 10000 : 0) + (int64_t)i;
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

TEST(structures, GHashTable_of_narrow_or_wide_keys_and_values_some_searched_by_address)
{
    yard_open(1 << 20, 110);
    tables_open(rehash);
    yard_prove(tables_make(), tables_type, 1, tables_walk);
    tables_end();
}

TEST(structures, GHashTable_by_addresses_that_nothing_puts_in_order_is_refused)
{
    yard_open(1 << 20, 111);
    tables_open(NULL);
    yard_refuse(tables_make(), tables_type, 1, HAUL_ERROR_UNSUPPORTED, "root.set",
                "depend on addresses");
    tables_end();
}

/* ---- GPtrArray, GArray, GString. What the public struct shows is the beginning of a private one,
 * which holds the room and how wide an element is. The free function of an array of texts is given
 * for each text. */

typedef struct GPtrArray {
    gpointer *pdata;
    unsigned len, alloc;
    int ref_count;
    uint8_t null_terminated;
    void (*element_free_func)(void *);
} GPtrArray;

typedef struct GArray {
    char *data;
    unsigned len, elt_capacity, elt_size;
    unsigned zero_terminated : 1, clear : 1;
    int ref_count;
    void (*clear_func)(void *);
} GArray;

typedef struct GString {
    char *str;
    size_t len, allocated_len;
} GString;

typedef struct log_line {
    GString *text;
    GArray *samples; /* of 1, 2, 4 or 8 bytes */
} log_line;

typedef struct log_book {
    GPtrArray *lines; /* ends in NULL */
} log_book;

static haul_type *element, *pointers_type, *lines_type, *array_type, *gstring_type, *line_type,
    *book_type;

HAUL_FUNCTION(array_bytes, GArray, (int64_t)self->elt_capacity * self->elt_size)
HAUL_FUNCTION(pointers_with_end, GPtrArray, (int64_t)self->len + self->null_terminated)

static void book_open(void)
{
    static const haul_field pointers_fields[] = {
        HAUL_ADDRESS(GPtrArray, pdata, .levels = 2, .target = &element,
                     .count = HAUL_COUNT_FN(pointers_with_end)),
        HAUL_ADDRESS(GPtrArray, element_free_func, .ownership = HAUL_EXTERNAL)
    };
    static const haul_field array_fields[] = { HAUL_BYTES(GArray, data, HAUL_COUNT_FN(array_bytes)),
                                               HAUL_ADDRESS(GArray, clear_func,
                                                            .ownership = HAUL_EXTERNAL) };
    static const haul_field gstring_fields[] = { HAUL_ARRAY(GString, str,
                                                            HAUL_COUNT(GString, allocated_len)) };
    static const haul_field line_fields[] = { HAUL_OBJECT(log_line, text, &gstring_type),
                                              HAUL_OBJECT(log_line, samples, &array_type) };
    static const haul_field book_fields[] = { HAUL_OBJECT(log_book, lines, &lines_type) };
    CHECK_STATUS(haul_type_parameter(type_context(), "element", &element), HAUL_OK);
    pointers_type = YARD_TYPE(GPtrArray, pointers_fields);
    array_type = YARD_TYPE(GArray, array_fields);
    gstring_type = YARD_TYPE(GString, gstring_fields);
    line_type = YARD_TYPE(log_line, line_fields);
    book_type = YARD_TYPE(log_book, book_fields);
    CHECK_STATUS(haul_type_instance(pointers_type, 1, &element, &line_type, &lines_type), HAUL_OK);
    yard_commit(book_type);
}

static log_line *line_make(int n)
{
    log_line *l = yard_take(1, sizeof *l);
    GString *s = l->text = yard_take(1, sizeof *s);
    GArray *a = l->samples = yard_take(1, sizeof *a);
    unsigned i;
    s->allocated_len = 32;
    s->str = yard_take(32, 1);
    s->len = (size_t)snprintf(s->str, 32, "line %d", n);
    a->elt_size = 1u << n % 4;
    a->elt_capacity = 16;
    a->len = (unsigned)yard_int(0, 15);
    a->data = yard_take(16, a->elt_size);
    a->clear_func = free_nothing;
    for (i = 0; i < a->len; i++) {
        int value = yard_int(0, 99);
        memset(a->data + i * a->elt_size, value, 1);
        yard.told += value;
    }
    yard.told += (int64_t)s->len;
    return l;
}

static log_book *book_make(void)
{
    log_book *b = yard_take(1, sizeof *b);
    GPtrArray *p = b->lines = yard_take(1, sizeof *p);
    p->len = 500;
    p->alloc = 512;
    p->null_terminated = 1;
    p->element_free_func = free_nothing;
    p->pdata = yard_raw(512 * sizeof *p->pdata);
    p->pdata[p->len] = NULL;
    for (; p->len; p->len--)
        p->pdata[p->len - 1] = line_make((int)p->len);
    p->len = 500;
    return b;
}

/* Texts and arrays grow within their room. */
static int64_t book_walk(void *root, size_t count)
{
    log_book *b = root;
    gpointer *at;
    int64_t sum = 0;
    unsigned i;
    (void)count;
    for (at = b->lines->pdata; *at; at++) {
        log_line *l = *at;
        for (i = 0; i < l->samples->len; i++)
            sum += (unsigned char)l->samples->data[i * l->samples->elt_size];
        memset(l->samples->data + l->samples->len++ * l->samples->elt_size, 7,
               l->samples->elt_size);
        sum += (int64_t)strlen(l->text->str);
        l->text->str[l->text->len++] = '!';
    }
    return (unsigned)(at - b->lines->pdata) == b->lines->len ? sum : -1;
}

TEST(structures, GArray_of_elements_as_wide_as_it_says_GString_and_GPtrArray_with_room_to_grow)
{
    yard_open(1 << 20, 112);
    book_open();
    yard_prove(book_make(), book_type, 1, book_walk);
    YARD_END(&book_type, &lines_type, &pointers_type, &array_type, &gstring_type, &line_type,
             &element);
}

/* ---- GSequence. A tree in order; the data of its last node, the end, leads back to the
 * sequence. */

enum { ENTRIES = 700 };

typedef struct GSequence GSequence;

typedef struct GSequenceNode {
    int n_nodes;
    struct GSequenceNode *parent, *left, *right;
    gpointer data;
} GSequenceNode;

struct GSequence {
    GSequenceNode *end_node;
    void (*data_destroy_notify)(void *);
    int access_prohibited;
    GSequence *real_sequence;
};

static haul_type *entry_of, *sequence_type, *sequence_of_items, *sequence_node_type;

/* The end is the rightmost node. */
static int64_t is_end(const haul_here *here)
{
    const GSequenceNode *n = here->self;
    if (n->right)
        return 0;
    for (; n->parent; n = n->parent)
        if (n->parent->right != n)
            return 0;
    return 1;
}

static const haul_case entry_cases[] = { { 0, &entry_of, 0 }, { 1, &sequence_type, 0 } };

static void sequence_open(const haul_field *data)
{
    static const haul_field item_fields[] = { HAUL_STRING(item, name) };
    static const haul_field fields[] = { HAUL_OBJECT(GSequence, end_node, &sequence_node_type),
                                         HAUL_ADDRESS(GSequence, data_destroy_notify,
                                                      .ownership = HAUL_EXTERNAL),
                                         HAUL_OBJECT(GSequence, real_sequence, &sequence_type) };
    const haul_field node_fields[] = {
        HAUL_OBJECT(GSequenceNode, parent, &sequence_node_type),
        HAUL_OBJECT(GSequenceNode, left, &sequence_node_type),
        HAUL_OBJECT(GSequenceNode, right, &sequence_node_type),
        *data,
    };
    CHECK_STATUS(haul_type_parameter(type_context(), "entry", &entry_of), HAUL_OK);
    item_type = YARD_TYPE(item, item_fields);
    sequence_type = YARD_TYPE(GSequence, fields);
    sequence_node_type = YARD_TYPE(GSequenceNode, node_fields);
    CHECK_STATUS(haul_type_instance(sequence_type, 1, &entry_of, &item_type, &sequence_of_items),
                 HAUL_OK);
    yard_commit(sequence_of_items);
}

/* A balanced tree over items of rising values; the last node is the end. */
static GSequenceNode *nodes_make(GSequence *s, GSequenceNode *parent, int low, int high)
{
    GSequenceNode *n;
    int middle = (low + high) / 2;
    item *it;
    if (low >= high)
        return NULL;
    n = yard_take(1, sizeof *n);
    n->parent = parent;
    n->n_nodes = high - low;
    n->left = nodes_make(s, n, low, middle);
    n->right = nodes_make(s, n, middle + 1, high);
    if (middle == ENTRIES) {
        s->end_node = n;
        n->data = s;
        return n;
    }
    n->data = it = yard_take(1, sizeof *it);
    it->value = middle;
    it->name = yard_text("entry");
    return n;
}

static GSequence *sequence_make(void)
{
    GSequence *s = yard_take(1, sizeof *s);
    nodes_make(s, NULL, 0, ENTRIES + 1);
    s->data_destroy_notify = free_nothing;
    s->real_sequence = s;
    yard.told = (int64_t)ENTRIES * (ENTRIES - 1) / 2 + 5 * ENTRIES;
    return s;
}

static GSequenceNode *node_next(GSequenceNode *n)
{
    if (n->right) {
        for (n = n->right; n->left; n = n->left)
            ;
        return n;
    }
    while (n->parent->right == n)
        n = n->parent;
    return n->parent;
}

static int64_t sequence_walk(void *root, size_t count)
{
    GSequence *s = root;
    GSequenceNode *n = s->end_node;
    int64_t sum = 0, last = -1;
    (void)count;
    while (n->parent)
        n = n->parent;
    while (n->left)
        n = n->left;
    for (; n != s->end_node; n = node_next(n)) {
        item *it = n->data;
        if (it->value <= last)
            return -1;
        last = it->value;
        sum += last + (int64_t)strlen(it->name);
        it->found++;
    }
    return s->end_node->data == s ? sum : -1;
}

TEST(structures, GSequence_whose_last_node_leads_back_to_it)
{
    const haul_field data =
        HAUL_ADDRESS(GSequenceNode, data, .type_switch = HAUL_SWITCH_FN(is_end, entry_cases));
    yard_open(1 << 20, 113);
    sequence_open(&data);
    yard_prove(sequence_make(), sequence_of_items, 1, sequence_walk);
    YARD_END(&sequence_of_items, &sequence_type, &sequence_node_type, &item_type, &entry_of);
}

TEST(structures, GSequence_whose_end_is_taken_for_an_entry_is_refused_with_both_paths)
{
    const haul_field data = HAUL_ADDRESS(GSequenceNode, data, .target = &entry_of);
    yard_open(1 << 20, 114);
    sequence_open(&data);
    yard_refuse(sequence_make(), sequence_of_items, 1, HAUL_ERROR_GRAPH, "root.end_node.data",
                "one address is reached as a item and as a GSequence<item>");
    CHECK_STR(yard.refused.other_path, "root");
    YARD_END(&sequence_of_items, &sequence_type, &sequence_node_type, &item_type, &entry_of);
}

/* ---- GVariant. A bit of its state says whether a value is bytes, which may lie in the middle of a
 * block that others share, or has children. Its type is a static table for what is simple, else
 * made, shared and counted. */

enum {
    STATE_LOCKED = 1,
    STATE_SERIALISED = 2,
    STATE_TRUSTED = 4,
    BASIC = 0,
    ARRAY_INFO = 'a',
    TUPLE_INFO = 'r'
};
enum { TUPLES = 300, BLOCK = 64 };

typedef struct GBytes {
    const unsigned char *data;
    size_t size;
    int ref_count;
    void (*free_func)(void *);
    void *user_data;
} GBytes;

typedef struct GVariantTypeInfo {
    size_t fixed_size;
    unsigned char alignment, container_class;
} GVariantTypeInfo;

typedef struct ContainerInfo {
    GVariantTypeInfo info;
    char *type_string;
    int ref_count;
} ContainerInfo;

typedef struct ArrayInfo {
    ContainerInfo container;
    GVariantTypeInfo *element;
} ArrayInfo;

typedef struct GVariantMemberInfo {
    GVariantTypeInfo *type_info;
    size_t i, a;
    int8_t b, c;
    uint8_t ending_type;
} GVariantMemberInfo;

typedef struct TupleInfo {
    ContainerInfo container;
    GVariantMemberInfo *members;
    size_t n_members;
} TupleInfo;

typedef struct GVariant {
    GVariantTypeInfo *type_info;
    size_t size;
    union {
        struct {
            GBytes *bytes;
            const unsigned char *data; /* in them */
        } serialised;
        struct {
            struct GVariant **children;
            size_t n_children;
        } tree;
    } contents;
    int state, ref_count;
    size_t depth;
} GVariant;

static const GVariantTypeInfo basic_infos[] = { { 1, 0, BASIC }, { 4, 3, BASIC } };
static const test_static variant_statics[] = { { basic_infos, sizeof basic_infos,
                                                 HAUL_STATIC_KEEP } };
static haul_type *bytes_type, *info_type, *container_info_type, *array_info_type, *tuple_info_type,
    *member_type, *variant_type;

static const haul_case infos[] = { { BASIC, &info_type, 0 },
                                   { ARRAY_INFO, &array_info_type, 0 },
                                   { TUPLE_INFO, &tuple_info_type, 0 } };
#define ANY_INFO                                                                                   \
    .maybe_static = 1, .type_switch = HAUL_SWITCH_TARGET(GVariantTypeInfo, container_class, infos)

static void variant_open(void)
{
#define IS_TREE .when = HAUL_NO_BIT(GVariant, state, STATE_SERIALISED)
    static const haul_field bytes_fields[] = {
        HAUL_ARRAY(GBytes, data, HAUL_COUNT(GBytes, size)),
        HAUL_ADDRESS(GBytes, free_func, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(GBytes, user_data, .ownership = HAUL_BORROWED)
    };
    static const haul_field container_fields[] = { HAUL_STRING(ContainerInfo, type_string) };
    static const haul_field array_fields[] = { HAUL_EMBED(ArrayInfo, container,
                                                          &container_info_type),
                                               HAUL_ADDRESS(ArrayInfo, element, ANY_INFO) };
    static const haul_field member_fields[] = { HAUL_ADDRESS(GVariantMemberInfo, type_info,
                                                             ANY_INFO) };
    static const haul_field tuple_fields[] = {
        HAUL_EMBED(TupleInfo, container, &container_info_type),
        HAUL_OBJECTS(TupleInfo, members, &member_type, HAUL_COUNT(TupleInfo, n_members))
    };
    static const haul_field fields[] = {
        HAUL_ADDRESS(GVariant, type_info, ANY_INFO),
        HAUL_ADDRESS(GVariant, contents.serialised.bytes, .target = &bytes_type,
                     .when = HAUL_ANY_BIT(GVariant, state, STATE_SERIALISED)),
        HAUL_ADDRESS(GVariant, contents.serialised.data,
                     .when = HAUL_ANY_BIT(GVariant, state, STATE_SERIALISED),
                     .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(GVariant, contents.tree.children, .levels = 2, .target = &variant_type,
                     .count = HAUL_COUNT(GVariant, contents.tree.n_children), IS_TREE),
        HAUL_RAW(GVariant, contents.tree.n_children, IS_TREE),
    };
    yard.known.statics = variant_statics;
    yard.known.static_count = 1;
    bytes_type = YARD_TYPE(GBytes, bytes_fields);
    info_type = yard_type("GVariantTypeInfo", sizeof(GVariantTypeInfo), NULL, 0);
    container_info_type = YARD_TYPE(ContainerInfo, container_fields);
    array_info_type = YARD_TYPE(ArrayInfo, array_fields);
    member_type = YARD_TYPE(GVariantMemberInfo, member_fields);
    tuple_info_type = YARD_TYPE(TupleInfo, tuple_fields);
    variant_type = YARD_TYPE(GVariant, fields);
    yard_commit(variant_type);
}

static void container_start(ContainerInfo *c, int class, const char *text)
{
    c->info.container_class = (unsigned char)class;
    c->info.alignment = 3;
    c->ref_count = 1;
    c->type_string = yard_text(text);
}

static TupleInfo *tuple_info_make(void)
{
    TupleInfo *t = yard_take(1, sizeof *t);
    ArrayInfo *a = yard_take(1, sizeof *a);
    container_start(&t->container, TUPLE_INFO, "(iai)");
    container_start(&a->container, ARRAY_INFO, "ai");
    a->element = (GVariantTypeInfo *)(uintptr_t)&basic_infos[1];
    t->n_members = 2;
    t->members = yard_take(2, sizeof *t->members);
    t->members[0].type_info = a->element;
    t->members[1].type_info = &a->container.info;
    return t;
}

static GVariant *variant_make(GVariantTypeInfo *info, int state)
{
    GVariant *v = yard_take(1, sizeof *v);
    v->type_info = info;
    v->state = state;
    v->ref_count = 1;
    return v;
}

static GVariant *bytes_variant_make(GVariantTypeInfo *info, GBytes *b, size_t at, size_t size)
{
    GVariant *v = variant_make(info, STATE_SERIALISED | STATE_TRUSTED);
    size_t i;
    v->contents.serialised.bytes = b;
    v->contents.serialised.data = b->data + at;
    v->size = size;
    b->ref_count++;
    for (i = 0; i < size; i++)
        yard.told += b->data[at + i];
    return v;
}

static GVariant *tree_make(GVariantTypeInfo *info, size_t count)
{
    GVariant *v = variant_make(info, STATE_LOCKED);
    v->contents.tree.n_children = count;
    v->contents.tree.children = yard_take(count, sizeof *v->contents.tree.children);
    return v;
}

/* An array of tuples of a number and an array of numbers. */
static GVariant *variants_make(void)
{
    TupleInfo *info = tuple_info_make();
    ArrayInfo *all = yard_take(1, sizeof *all);
    GVariant *root;
    size_t i, k;
    container_start(&all->container, ARRAY_INFO, "a(iai)");
    all->element = &info->container.info;
    root = tree_make(&all->container.info, TUPLES);
    for (i = 0; i < TUPLES; i++) {
        GVariant *t = root->contents.tree.children[i] = tree_make(&info->container.info, 2);
        GBytes *b = yard_take(1, sizeof *b);
        unsigned char *data = yard_take(BLOCK, 1);
        for (k = 0; k < BLOCK; k++)
            data[k] = (unsigned char)yard_int(0, 9);
        b->data = b->user_data = data;
        b->size = BLOCK;
        b->free_func = free_nothing;
        t->contents.tree.children[0] = bytes_variant_make(info->members[0].type_info, b, 4, 4);
        t->contents.tree.children[1] =
            bytes_variant_make(info->members[1].type_info, b, 16, BLOCK - 16);
    }
    yard.told += TUPLES * 8;
    return root;
}

/* The value's bytes, if its type is what the tuple says. */
static int64_t bytes_see(GVariant *v, const GVariantTypeInfo *info)
{
    int64_t sum = 0;
    size_t i;
    if (v->type_info != info || !(v->state & STATE_SERIALISED))
        return -1000000;
    for (i = 0; i < v->size; i++)
        sum += v->contents.serialised.data[i];
    ((unsigned char *)(uintptr_t)v->contents.serialised.data)[0] ^= 1;
    v->ref_count++;
    return sum;
}

static int64_t variant_walk(void *root, size_t count)
{
    GVariant *v = root;
    int64_t sum = 0;
    size_t i, k;
    (void)count;
    for (i = 0; i < v->contents.tree.n_children; i++) {
        GVariant *t = v->contents.tree.children[i];
        TupleInfo *info = (TupleInfo *)(void *)t->type_info;
        if (&info->container.info != ((ArrayInfo *)(void *)v->type_info)->element)
            return -1;
        for (k = 0; k < info->n_members; k++)
            sum += bytes_see(t->contents.tree.children[k], info->members[k].type_info);
        sum += (int64_t)info->members[0].type_info->fixed_size * 2;
    }
    return sum;
}

TEST(structures, GVariant_of_bytes_or_children_as_a_bit_of_its_state_says_with_types_static_or_made)
{
    yard_open(1 << 20, 115);
    variant_open();
    yard_prove(variants_make(), variant_type, 1, variant_walk);
    YARD_END(&variant_type, &bytes_type, &info_type, &container_info_type, &array_info_type,
             &tuple_info_type, &member_type);
}
