/* json-c's hash table. The keys of free places are the addresses -1 (never used) and -2
 * (used before); what stands beside them is of no meaning. Entries are linked in the order in which
 * they came, within one block.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

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
    e->next = e->prev = (lh_entry *)(void *)(the.w.memory + the.w.bytes);
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

TEST(structures_jsonc, a_hash_table_keeps_the_magic_keys_of_its_free_places_and_finds_all_others)
{
    const haul_field key = HAUL_STRING(lh_entry, k, .integers_from = (uintptr_t)-2);
    journey j = { .walk = lh_table_walk };
    site_start(29);
    lh_table_open(&key);
    j.root = lh_table_make(&j.seen);
    j.type = lh_table_type;
    travel(&j);
    lh_table_close();
    site_end();
}

TEST(structures_jsonc, a_magic_key_that_is_described_as_a_string_is_refused)
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
