/* jansson 2.14: objects, arrays, strings and true (value.c, hashtable.c).
 *
 * The pairs of an object hang on two lists, whose heads lie in its hash table, and buckets lead to
 * the first and the last of theirs, or to the head of the list of all. What a link leads to is a
 * pair, or such a head: told by its address alone, which the nearest hash table knows. Values are
 * objects, arrays and strings again, or the one static true.
 */
#define _DEFAULT_SOURCE
#include "structures/journey.h"

enum { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_TRUE = 5 };

typedef struct json_t {
    int type;
    size_t refcount;
} json_t;

typedef struct list_t {
    struct list_t *prev, *next;
} list_t;

typedef struct pair_t {
    list_t list, ordered_list;
    size_t hash;
    json_t *value;
    size_t key_len;
    char key[1];
} pair_t;

typedef struct bucket_t {
    list_t *first, *last;
} bucket_t;

typedef struct hashtable_t {
    size_t size;
    bucket_t *buckets;
    size_t order;
    list_t list, ordered_list;
} hashtable_t;

typedef struct json_object_t {
    json_t json;
    hashtable_t hashtable;
} json_object_t;

typedef struct json_array_t {
    json_t json;
    size_t size, entries;
    json_t **table;
} json_array_t;

typedef struct json_string_t {
    json_t json;
    char *value;
    size_t length;
} json_string_t;

#define PAIR_OF(at, m) ((pair_t *)(void *)((char *)(at)-offsetof(pair_t, m)))

/* Nobody counts its references. */
static const json_t the_true = { JSON_TRUE, (size_t)-1 };
static const test_static json_statics[] = { { &the_true, sizeof the_true, HAUL_STATIC_KEEP } };

static haul_type *pair_type, *bucket_type, *table_type, *object_type, *array_type, *string_type;

HAUL_FUNCTION(ends_list, void,
              here->target == (const void *)&((const hashtable_t *)here->ancestor)->list)
HAUL_FUNCTION(ends_order, void,
              here->target == (const void *)&((const hashtable_t *)here->ancestor)->ordered_list)
HAUL_FUNCTION(is_used, json_array_t, here->index < self->entries)
HAUL_FUNCTION(bucket_count, hashtable_t, (int64_t)1 << self->order)
HAUL_FUNCTION(key_bytes, pair_t, (int64_t)self->key_len + 1)
HAUL_FUNCTION(room_of_array, json_array_t, (int64_t)self->size)

static const haul_case json_cases[] = { { JSON_OBJECT, &object_type, 0 },
                                        { JSON_ARRAY, &array_type, 0 },
                                        { JSON_STRING, &string_type, 0 } };
static const haul_case list_cases[] = { { 0, &pair_type, HAUL_CONTAINER_OF(pair_t, list) },
                                        { 1, &table_type, HAUL_CONTAINER_OF(hashtable_t, list) } };
static const haul_case order_cases[] = { { 0, &pair_type, HAUL_CONTAINER_OF(pair_t, ordered_list) },
                                         { 1, &table_type,
                                           HAUL_CONTAINER_OF(hashtable_t, ordered_list) } };
#define IN_LIST .ancestor = &table_type, .type_switch = HAUL_SWITCH_FN(ends_list, list_cases)
#define IN_ORDER .ancestor = &table_type, .type_switch = HAUL_SWITCH_FN(ends_order, order_cases)
#define JSON_VALUE .maybe_static = 1, .type_switch = HAUL_SWITCH_TARGET(json_t, type, json_cases)
static const haul_field json_entry = { JSON_VALUE, .when = HAUL_WHEN_FN(is_used) };

#define LINKS(S, m, ...) HAUL_ADDRESS(S, m.prev, __VA_ARGS__), HAUL_ADDRESS(S, m.next, __VA_ARGS__)

static void json_open(void)
{
    static const haul_field pair_fields[] = { LINKS(pair_t, list, IN_LIST),
                                              LINKS(pair_t, ordered_list, IN_ORDER),
                                              HAUL_ADDRESS(pair_t, value, JSON_VALUE),
                                              HAUL_TAIL(pair_t, key, HAUL_COUNT_FN(key_bytes)) };
    static const haul_field bucket_fields[] = { HAUL_ADDRESS(bucket_t, first, IN_LIST),
                                                HAUL_ADDRESS(bucket_t, last, IN_LIST) };
    static const haul_field table_fields[] = {
        HAUL_OBJECTS(hashtable_t, buckets, &bucket_type, HAUL_COUNT_FN(bucket_count)),
        LINKS(hashtable_t, list, IN_LIST), LINKS(hashtable_t, ordered_list, IN_ORDER)
    };
    static const haul_field object_fields[] = { HAUL_EMBED(json_object_t, hashtable, &table_type) };
    static const haul_field array_fields[] = { HAUL_ADDRESS(json_array_t, table, .levels = 2,
                                                            .count = HAUL_COUNT_FN(room_of_array),
                                                            .each_pointer = &json_entry) };
    static const haul_field string_fields[] = { HAUL_STRING(json_string_t, value) };
    the.known.statics = json_statics;
    the.known.static_count = COUNT_OF(json_statics);
    pair_type = OPEN(pair_t, pair_fields);
    bucket_type = OPEN(bucket_t, bucket_fields);
    table_type = OPEN(hashtable_t, table_fields);
    object_type = OPEN(json_object_t, object_fields);
    array_type = OPEN(json_array_t, array_fields);
    string_type = OPEN(json_string_t, string_fields);
    type_close(object_type);
}

static void json_close(void)
{
    haul_type **all[] = { &pair_type,   &bucket_type, &table_type,
                          &object_type, &array_type,  &string_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

static json_object_t *object_make(size_t order)
{
    json_object_t *o = PUT(json_object_t);
    hashtable_t *t = &o->hashtable;
    size_t i;
    t->order = order;
    t->buckets = PUT_ARRAY(bucket_t, (size_t)1 << order);
    t->list.next = t->list.prev = &t->list;
    t->ordered_list.next = t->ordered_list.prev = &t->ordered_list;
    for (i = 0; i < (size_t)1 << order; i++)
        t->buckets[i].first = t->buckets[i].last = &t->list;
    return o;
}

static void put_before(list_t *link, list_t *at)
{
    link->next = at;
    link->prev = at->prev;
    at->prev->next = link;
    at->prev = link;
}

/* A bucket's pairs stand in a row in the list of all. */
static void object_set(json_object_t *o, const char *key, json_t *value)
{
    hashtable_t *t = &o->hashtable;
    const size_t length = strlen(key);
    pair_t *p = put(offsetof(pair_t, key) + length + 1, sizeof(void *));
    bucket_t *b;
    size_t i;
    for (i = 0; i < length; i++)
        p->hash = p->hash * 31 + (unsigned char)key[i];
    memcpy(p->key, key, length);
    p->key_len = length;
    p->value = value;
    b = &t->buckets[p->hash % ((size_t)1 << t->order)];
    if (b->first == &t->list) {
        put_before(&p->list, &t->list);
        b->first = b->last = &p->list;
    } else {
        put_before(&p->list, b->first);
        b->first = &p->list;
    }
    put_before(&p->ordered_list, &t->ordered_list);
    t->size++;
}

static json_string_t *string_make(const char *text)
{
    json_string_t *s = PUT(json_string_t);
    s->json.type = JSON_STRING;
    s->value = put_text(text);
    s->length = strlen(text);
    return s;
}

static json_array_t *array_make(size_t size, size_t entries)
{
    json_array_t *a = PUT(json_array_t);
    size_t i;
    a->json.type = JSON_ARRAY;
    a->size = size;
    a->entries = entries;
    a->table = PUT_ARRAY(json_t *, size);
    for (i = entries; i < size; i++)
        a->table[i] = (json_t *)(uintptr_t)0xDEAD8; /* stale */
    return a;
}

static pair_t *object_get(hashtable_t *t, const char *key)
{
    size_t hash = 0, i;
    bucket_t *b;
    list_t *l;
    for (i = 0; key[i]; i++)
        hash = hash * 31 + (unsigned char)key[i];
    b = &t->buckets[hash % ((size_t)1 << t->order)];
    for (l = b->first; l != &t->list; l = l->next) {
        pair_t *p = PAIR_OF(l, list);
        if (p->hash == hash && strcmp(p->key, key) == 0)
            return p;
        if (l == b->last)
            break;
    }
    return NULL;
}

static void see_object(visit *v, json_object_t *o)
{
    hashtable_t *t = &o->hashtable;
    list_t *l;
    size_t count = 0;
    for (l = t->ordered_list.next; l != &t->ordered_list; l = l->next, count++) {
        pair_t *p = PAIR_OF(l, ordered_list);
        see_text(&v->seen, p->key);
        see(&v->seen, object_get(t, p->key) == p);
        see(&v->seen, l->prev->next == l && p->list.prev->next == &p->list);
        if (p->value->type == JSON_TRUE)
            see(&v->seen, p->value->refcount);
        else
            p->value->refcount++;
    }
    see(&v->seen, count == t->size);
}

/* The object `level` objects deep. */
static json_object_t *object_at(json_object_t *o, int level)
{
    for (; level > 0; level--)
        o = (json_object_t *)(void *)((json_array_t *)(void *)object_get(&o->hashtable, "more")
                                          ->value)
                ->table[0];
    return o;
}

enum { JSON_LEVELS = 40, JSON_KEYS = 12 };

static void json_walk(void *visit_of)
{
    visit *v = visit_of;
    int level;
    for (level = 0; level < JSON_LEVELS; level++)
        see_object(v, object_at(v->root, level));
}

/* What a key leads to: an empty object, true, or a string. */
static json_t *json_value(int i, const char *text)
{
    return i == 0 ? &object_make(0)->json : i == 1 ? (json_t *)&the_true : &string_make(text)->json;
}

static json_object_t *json_make(uint64_t *seen)
{
    json_object_t *first = NULL, *last = NULL;
    char key[20];
    int level, i;
    for (level = 0; level < JSON_LEVELS; level++) {
        json_object_t *o = object_make((size_t)level % 4);
        for (i = 0; i < JSON_KEYS; i++) {
            snprintf(key, sizeof key, "%d.%d", level, i);
            object_set(o, key, json_value(i, key));
            see_text(seen, key);
            see(seen, 1), see(seen, 1);
            if (i == 1)
                see(seen, (size_t)-1);
        }
        if (last) {
            json_array_t *a = array_make(3, 1);
            a->table[0] = &o->json;
            object_set(last, "more", &a->json);
        }
        if (level + 1 < JSON_LEVELS) {
            see_text(seen, "more");
            see(seen, 1), see(seen, 1);
        }
        see(seen, 1);
        first = first ? first : o;
        last = o;
    }
    return first;
}

TEST(structures_jansson, objects_in_objects_each_with_two_lists_and_buckets_that_end_in_it)
{
    uint64_t seen = 0;
    json_object_t *all;
    site_start(6);
    json_open();
    all = json_make(&seen);
    travel_to_see(all, object_type, json_walk, seen);
    json_close();
    site_end();
}

TEST(structures_jansson, a_pair_in_the_bucket_of_another_object_is_refused_G18)
{
    json_object_t *one, *other;
    site_start(7);
    json_open();
    one = object_make(0), other = object_make(0);
    object_set(one, "other", &other->json);
    object_set(other, "a", &string_make("a")->json);
    one->hashtable.buckets[0].last = other->hashtable.list.next;
    refuse_graph(one, object_type, HAUL_ERROR_GRAPH, "root.hashtable.buckets.last.list.prev", NULL,
                 "the range it leads to is not readable");
    json_close();
    site_end();
}
