/* Real structures that keep integers where addresses stand (IDX): magic ones, and numbers of
 * elements to come.
 */
#define _DEFAULT_SOURCE
#include "structures_b.h"

/* ---- IDX: json-c's hash table. The keys of free places are the addresses -1 (never used) and -2
 * (used before); what stands beside them is of no meaning. Entries are linked in the order in which
 * they came, within one block. */

enum { PLACES = 4096, KEYS = 2700, GONE = 9 /* one in so many */ };
#define LH_EMPTY ((char *)(uintptr_t)-1)
#define LH_FREED ((char *)(uintptr_t)-2)

typedef struct lh_entry {
    char *k;
    int k_is_constant;
    int64_t *v;
    struct lh_entry *next, *prev;
} lh_entry;

typedef struct lh_table {
    int size, count;
    lh_entry *head, *tail, *table;
    size_t (*hash_fn)(const char *k);
} lh_table;

static haul_type *lh_entry_type, *lh_table_type;

static int64_t entry_is_used(const haul_here *here)
{
    const lh_entry *e = here->self;
    return e->k != LH_EMPTY && e->k != LH_FREED;
}

static void lh_table_open(const haul_field *key)
{
#define LINK .when = HAUL_WHEN_FN(entry_is_used), .ownership = HAUL_BORROWED
    const haul_field entry_fields[] = {
        *key,
        HAUL_ARRAY(lh_entry, v, HAUL_ONE, .when = HAUL_WHEN_FN(entry_is_used)),
        HAUL_OBJECT(lh_entry, next, &lh_entry_type, LINK),
        HAUL_OBJECT(lh_entry, prev, &lh_entry_type, LINK),
    };
    const haul_field table_fields[] = {
        HAUL_OBJECT(lh_table, head, &lh_entry_type, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(lh_table, tail, &lh_entry_type, .ownership = HAUL_BORROWED),
        HAUL_OBJECTS(lh_table, table, &lh_entry_type, HAUL_COUNT(lh_table, size)),
        HAUL_ADDRESS(lh_table, hash_fn, .ownership = HAUL_EXTERNAL),
    };
    lh_entry_type = OPEN(lh_entry, entry_fields);
    lh_table_type = OPEN(lh_table, table_fields);
    type_close(lh_table_type);
}

static void lh_table_close(void)
{
    haul_type_free(&lh_table_type);
    haul_type_free(&lh_entry_type);
}

static size_t hash_text(const char *k)
{
    uint32_t h = 2166136261u;
    for (; *k; k++)
        h = (h ^ (unsigned char)*k) * 16777619u;
    return h;
}

/* NULL: it is not there. */
static lh_entry *lh_find(lh_table *t, const char *k)
{
    size_t at = t->hash_fn(k) % (size_t)t->size;
    while (t->table[at].k != LH_EMPTY) {
        if (t->table[at].k != LH_FREED && strcmp(t->table[at].k, k) == 0)
            return &t->table[at];
        at = (at + 1) % (size_t)t->size;
    }
    return NULL;
}

static void lh_insert(lh_table *t, const char *k, int64_t v)
{
    size_t at = t->hash_fn(k) % (size_t)t->size;
    lh_entry *e;
    while (t->table[at].k != LH_EMPTY)
        at = (at + 1) % (size_t)t->size;
    e = &t->table[at];
    e->k = put_text(k);
    e->v = memcpy(put(sizeof v, sizeof v), &v, sizeof v);
    e->next = NULL;
    e->prev = t->tail;
    *(t->tail ? &t->tail->next : &t->head) = e;
    t->tail = e;
    t->count++;
}

/* Its key and value are released, and their addresses may be anybody's. */
static void lh_delete(lh_table *t, lh_entry *e)
{
    *(e->prev ? &e->prev->next : &t->head) = e->next;
    *(e->next ? &e->next->prev : &t->tail) = e->prev;
    e->k = LH_FREED;
    e->v = (int64_t *)(void *)t;
    e->next = e->prev = (lh_entry *)(void *)(the.memory + SITE_BYTES);
    t->count--;
}

static void key_text(int i, char *text, size_t room)
{
    snprintf(text, room, "key of entry %d", i);
}

static lh_table *lh_table_make(uint64_t *seen)
{
    lh_table *t = PUT(lh_table);
    char text[32];
    int i;
    t->size = PLACES;
    t->table = PUT_ARRAY(lh_entry, PLACES);
    t->hash_fn = hash_text;
    for (i = 0; i < PLACES; i++)
        t->table[i].k = LH_EMPTY;
    for (i = 0; i < KEYS; i++) {
        key_text(i, text, sizeof text);
        lh_insert(t, text, i);
        if (i % GONE != 0) {
            see_text(seen, text);
            see(seen, (uint64_t)i);
        }
    }
    for (i = 0; i < KEYS; i += GONE) {
        key_text(i, text, sizeof text);
        lh_delete(t, lh_find(t, text));
    }
    return t;
}

static void lh_table_walk(void *argument)
{
    visit *v = argument;
    lh_table *t = v->root;
    lh_entry *e;
    char text[32];
    int i;
    for (e = t->head; e; e = e->next) {
        see_text(&v->seen, e->k);
        see(&v->seen, (uint64_t)*e->v);
    }
    for (i = 0; i < KEYS; i++) {
        key_text(i, text, sizeof text);
        e = lh_find(t, text);
        if (!e != (i % GONE == 0))
            see(&v->seen, 0);
        if (e)
            *e->v *= -3;
    }
}

TEST(structures_integers,
     IDX_a_hash_table_keeps_the_magic_keys_of_its_free_places_and_finds_all_others)
{
    const haul_field key = HAUL_STRING(lh_entry, k, .integers_from = (uintptr_t)-2);
    journey j = { NULL, NULL, 0, lh_table_walk, NULL, 0 };
    site_start(29);
    lh_table_open(&key);
    j.root = lh_table_make(&j.seen);
    j.type = lh_table_type;
    travel(&j);
    lh_table_close();
    site_end();
}

TEST(structures_integers, IDX_a_magic_key_that_is_described_as_a_string_is_refused)
{
    const haul_field key = HAUL_STRING(lh_entry, k);
    uint64_t seen = 0;
    site_start(29);
    lh_table_open(&key);
    refuse_graph(lh_table_make(&seen), lh_table_type, HAUL_ERROR_GRAPH, "root.table[0].k", "",
                 sizeof(void *) == 8 ? "address range, to 0xffffffffffffffff"
                                     : "address range, to 0xffffffff");
    lh_table_close();
    site_end();
}

/* cgltf: while a file is read, a pointer to an element of a list that is still to come holds its
 * number plus one. */

enum { ACCESSORS = 3000, VIEWS = 700 };

typedef struct cgltf_buffer_view {
    size_t offset, size;
    unsigned char *data;
} cgltf_buffer_view;

typedef struct cgltf_accessor {
    size_t count;
    cgltf_buffer_view *buffer_view;
} cgltf_accessor;

typedef struct cgltf_data {
    cgltf_accessor *accessors;
    size_t accessors_count;
    cgltf_buffer_view *buffer_views;
    size_t buffer_views_count;
} cgltf_data;

static haul_type *view_type, *accessor_type, *data_type;

static void cgltf_open(uintptr_t integer_below)
{
    static const haul_field view_fields[] = { HAUL_ARRAY(cgltf_buffer_view, data,
                                                         HAUL_COUNT(cgltf_buffer_view, size)) };
    const haul_field accessor_fields[] = { HAUL_OBJECT(cgltf_accessor, buffer_view, &view_type,
                                                       .integers_below = integer_below) };
    static const haul_field data_fields[] = {
        HAUL_OBJECTS(cgltf_data, accessors, &accessor_type,
                     HAUL_COUNT(cgltf_data, accessors_count)),
        HAUL_OBJECTS(cgltf_data, buffer_views, &view_type,
                     HAUL_COUNT(cgltf_data, buffer_views_count)),
    };
    view_type = OPEN(cgltf_buffer_view, view_fields);
    accessor_type = OPEN(cgltf_accessor, accessor_fields);
    data_type = OPEN(cgltf_data, data_fields);
    type_close(data_type);
}

static void cgltf_close(void)
{
    haul_type_free(&data_type);
    haul_type_free(&accessor_type);
    haul_type_free(&view_type);
}

/* The later half of the accessors has been put right already. */
static cgltf_data *cgltf_make(uint64_t *seen)
{
    cgltf_data *d = PUT(cgltf_data);
    size_t i;
    d->accessors_count = ACCESSORS;
    d->accessors = PUT_ARRAY(cgltf_accessor, ACCESSORS);
    d->buffer_views_count = VIEWS;
    d->buffer_views = PUT_ARRAY(cgltf_buffer_view, VIEWS);
    for (i = 0; i < VIEWS; i++) {
        d->buffer_views[i].offset = i;
        d->buffer_views[i].size = 1 + i % 90;
        d->buffer_views[i].data = put(1 + i % 90, 1);
    }
    for (i = 0; i < ACCESSORS; i++) {
        size_t view = random_below(&the.random, VIEWS + 1); /* VIEWS: none */
        see(seen, view);
        if (view < VIEWS)
            d->accessors[i].buffer_view = i < ACCESSORS / 2
                                              ? (cgltf_buffer_view *)(uintptr_t)(view + 1)
                                              : &d->buffer_views[view];
    }
    return d;
}

static void cgltf_walk(void *argument)
{
    visit *v = argument;
    cgltf_data *d = v->root;
    size_t i;
    for (i = 0; i < d->accessors_count; i++) {
        cgltf_buffer_view *view = d->accessors[i].buffer_view;
        if ((uintptr_t)view - 1 < d->buffer_views_count)
            view = &d->buffer_views[(uintptr_t)view - 1];
        see(&v->seen, view ? view->offset : VIEWS);
        d->accessors[i].count = view ? ++view->data[view->size - 1] : 0;
    }
}

TEST(structures_integers,
     IDX_numbers_of_elements_to_come_stand_among_pointers_to_those_that_are_there)
{
    journey j = { NULL, NULL, 0, cgltf_walk, NULL, 0 };
    site_start(291);
    cgltf_open(VIEWS + 1);
    j.root = cgltf_make(&j.seen);
    j.type = data_type;
    travel(&j);
    cgltf_close();
    site_end();
}

TEST(structures_integers, IDX_a_number_that_is_described_as_a_pointer_is_refused)
{
    uint64_t seen = 0;
    cgltf_data *d;
    site_start(291);
    d = cgltf_make(&seen);
    d->accessors[0].buffer_view = (cgltf_buffer_view *)(uintptr_t)VIEWS;
    cgltf_open(VIEWS);
    refuse_graph(d, data_type, HAUL_ERROR_GRAPH, "root.accessors[0].buffer_view", "",
                 "outside any process's address range");
    cgltf_close();
    site_end();
}
