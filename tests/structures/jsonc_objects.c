/* json-c. What an object is stands at its beginning. A string lies in its object, or where a
 * negative length says so, elsewhere. Entries of a table lie in one block, linked in the order in
 * which they came; keys of free places are -1 and -2; a key may be a constant.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

enum { JSON_BOOLEAN = 1, JSON_DOUBLE, JSON_INT, JSON_OBJECT, JSON_ARRAY, JSON_STRING };
enum { PLACES = 64, KEYS = 40, VALUES = 1500, LONG = 100 };
#define LH_EMPTY ((const char *)(uintptr_t)-1)
#define LH_FREED ((const char *)(uintptr_t)-2)

typedef struct printbuf {
    char *buf;
    int bpos, size;
} printbuf;

typedef struct json_object {
    int o_type;
    uint32_t ref_count;
    int (*to_json_string)(struct json_object *, printbuf *, int, int);
    printbuf *pb;
    void (*user_delete)(struct json_object *, void *);
    void *userdata;
} json_object;

typedef struct lh_entry {
    const char *k;
    int k_is_constant;
    const json_object *v;
    struct lh_entry *next, *prev;
} lh_entry;

typedef struct lh_table {
    int size, count;
    lh_entry *head, *tail, *table;
    void (*free_fn)(lh_entry *);
    unsigned long (*hash_fn)(const void *);
    int (*equal_fn)(const void *, const void *);
} lh_table;

typedef struct array_list {
    json_object **array;
    size_t length, size;
    void (*free_fn)(void *);
} array_list;

typedef struct json_container {
    json_object base;
    union {
        lh_table *c_object;
        array_list *c_array;
    } u;
} json_container;

typedef struct json_number {
    json_object base;
    int cint_type;
    union {
        int64_t c_int64;
        double c_double;
    } u;
} json_number;

typedef struct json_string {
    json_object base;
    intptr_t len; /* negative: pdata */
    union {
        char idata[1];
        char *pdata;
    } c_string;
} json_string;

static const char json_keys[] = "constant";
static const test_static json_statics[] = { { json_keys, sizeof json_keys, HAUL_STATIC_KEEP } };
static haul_type *base_type, *number_type, *container_type, *string_type, *table_type, *list_type,
    *place_type, *printbuf_type;

static const haul_case json_kinds[] = {
    { JSON_BOOLEAN, &number_type, 0 },  { JSON_DOUBLE, &number_type, 0 },
    { JSON_INT, &number_type, 0 },      { JSON_OBJECT, &container_type, 0 },
    { JSON_ARRAY, &container_type, 0 }, { JSON_STRING, &string_type, 0 }
};

HAUL_FUNCTION(pdata_bytes, json_string, 1 - self->len)
HAUL_FUNCTION(string_bytes, json_string,
              offsetof(json_string, c_string) + (self->len < (intptr_t)sizeof(void *)
                                                     ? sizeof(void *) + 1
                                                     : (size_t)self->len + 1))
HAUL_FUNCTION(place_is_used, lh_entry, self->k != LH_EMPTY && self->k != LH_FREED)

static void json_open(const haul_field *key)
{
    static const haul_field any = { .type_switch =
                                        HAUL_SWITCH_TARGET(json_object, o_type, json_kinds) };
#define NEIGHBOUR .when = HAUL_WHEN_FN(place_is_used), .ownership = HAUL_BORROWED
    static const haul_field printbuf_fields[] = { HAUL_ARRAY(printbuf, buf,
                                                             HAUL_COUNT(printbuf, size)) };
    static const haul_field base_fields[] = {
        HAUL_ADDRESS(json_object, to_json_string, .ownership = HAUL_EXTERNAL),
        HAUL_OBJECT(json_object, pb, &printbuf_type),
        HAUL_ADDRESS(json_object, user_delete, .ownership = HAUL_EXTERNAL),
        HAUL_RAW(json_object, userdata)
    };
    static const haul_field number_fields[] = { HAUL_EMBED(json_number, base, &base_type) };
    static const haul_field container_fields[] = {
        HAUL_EMBED(json_container, base, &base_type),
        HAUL_ADDRESS(json_container, u.c_object, .target = &table_type,
                     .when = HAUL_EQUALS(json_container, base.o_type, JSON_OBJECT)),
        HAUL_ADDRESS(json_container, u.c_array, .target = &list_type,
                     .when = HAUL_EQUALS(json_container, base.o_type, JSON_ARRAY))
    };
    static const haul_field string_fields[] = {
        HAUL_EMBED(json_string, base, &base_type),
        HAUL_ARRAY(json_string, c_string.pdata, HAUL_COUNT_FN(pdata_bytes),
                   .when = HAUL_BETWEEN(json_string, len, INT64_MIN, -1), .else_raw = 1)
    };
    static const haul_field list_fields[] = {
        HAUL_ADDRESS(array_list, array, .levels = 2, .count = HAUL_COUNT(array_list, length),
                     .each_pointer = &any),
        HAUL_ADDRESS(array_list, free_fn, .ownership = HAUL_EXTERNAL)
    };
    static const haul_field table_fields[] = {
        HAUL_ADDRESS(lh_table, head, .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(lh_table, tail, .ownership = HAUL_BORROWED),
        HAUL_OBJECTS(lh_table, table, &place_type, HAUL_COUNT(lh_table, size)),
        HAUL_ADDRESS(lh_table, free_fn, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(lh_table, hash_fn, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(lh_table, equal_fn, .ownership = HAUL_EXTERNAL),
    };
    const haul_field place_fields[] = {
        *key,
        HAUL_ADDRESS(lh_entry, v, .when = HAUL_WHEN_FN(place_is_used),
                     .type_switch = HAUL_SWITCH_TARGET(json_object, o_type, json_kinds)),
        HAUL_ADDRESS(lh_entry, next, NEIGHBOUR), HAUL_ADDRESS(lh_entry, prev, NEIGHBOUR)
    };
    the.known.statics = json_statics;
    the.known.static_count = 1;
    printbuf_type = OPEN(printbuf, printbuf_fields);
    base_type = OPEN(json_object, base_fields);
    number_type = OPEN(json_number, number_fields);
    container_type = OPEN(json_container, container_fields);
    string_type = OPEN(json_string, string_fields, .size_fn = string_bytes);
    list_type = OPEN(array_list, list_fields);
    table_type = OPEN(lh_table, table_fields);
    place_type = OPEN(lh_entry, place_fields);
    type_close(container_type);
}

static void json_end(void)
{
    SITE_END(&printbuf_type, &base_type, &number_type, &container_type, &string_type, &list_type,
             &table_type, &place_type);
}

static void *json_make(int type, size_t bytes)
{
    json_object *o = put_elements(1, bytes);
    o->o_type = type;
    o->ref_count = 1;
    return o;
}

static json_object *number_make(int type)
{
    json_number *n = json_make(type, sizeof *n);
    int value = chance(0, 999);
    the.told += value;
    if (type == JSON_DOUBLE)
        n->u.c_double = value;
    else
        n->u.c_int64 = value;
    return &n->base;
}

/* Every other long one lies elsewhere. */
static json_object *string_make(int length)
{
    size_t least = offsetof(json_string, c_string) + sizeof(void *) + 1;
    size_t bytes = offsetof(json_string, c_string) + (size_t)length + 1;
    int is_far = length > LONG / 2;
    json_string *s = json_make(JSON_STRING, is_far || bytes < least ? least : bytes);
    char *text =
        is_far ? s->c_string.pdata = put_elements(1, (size_t)length + 1) : s->c_string.idata;
    memset(text, 'x', (size_t)length);
    s->len = is_far ? -length : length;
    s->base.pb = put_elements(1, sizeof *s->base.pb);
    s->base.pb->size = 32;
    s->base.pb->buf = put_elements(1, 32);
    the.told += length;
    return &s->base;
}

static json_container *table_make(json_object *const *values, int count)
{
    json_container *o = json_make(JSON_OBJECT, sizeof *o);
    lh_table *t = o->u.c_object = put_elements(1, sizeof *t);
    lh_entry *last = NULL;
    int i;
    t->size = PLACES;
    t->count = count;
    t->table = put_room(PLACES * sizeof *t->table);
    for (i = 0; i < PLACES; i++)
        t->table[i].k = i % 3 ? LH_EMPTY : LH_FREED;
    for (i = 0; i < count; i++) {
        lh_entry *e = &t->table[i * 27 % PLACES];
        e->k_is_constant = i == 0;
        e->k = i ? put_text("key") : json_keys;
        e->v = values[i];
        e->prev = last;
        e->next = NULL;
        if (last)
            last->next = e;
        else
            t->head = e;
        last = e;
        the.told += i ? 3 : 8;
    }
    t->tail = last;
    return o;
}

static json_container *list_make(json_object *const *values, int count)
{
    json_container *o = json_make(JSON_ARRAY, sizeof *o);
    array_list *l = o->u.c_array = put_elements(1, sizeof *l);
    l->length = (size_t)count;
    l->size = l->length + l->length / 2;
    l->array = put_room(l->size * sizeof *l->array);
    memcpy(l->array, values, l->length * sizeof *values);
    return o;
}

static json_container *tree_make(void)
{
    json_object *values[KEYS];
    json_container *all[VALUES / KEYS];
    int i, k;
    for (i = 0; i < VALUES / KEYS; i++) {
        values[0] = i ? &all[i - 1]->base : NULL; /* JSON's null */
        for (k = 1; k < KEYS; k++)
            values[k] = k % 3 ? string_make(chance(0, LONG)) : number_make(JSON_BOOLEAN + i % 3);
        all[i] = i % 2 ? list_make(values, KEYS) : table_make(values, KEYS);
    }
    return all[i - 1];
}

/* Answers the container that holds all others, or NULL. */
static json_container *value_see(json_object *o, int64_t *sum)
{
    json_number *n = (json_number *)(void *)o;
    json_string *s = (json_string *)(void *)o;
    if (!o)
        return NULL;
    switch (o->o_type) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        return (json_container *)(void *)o;
    case JSON_STRING:
        *sum += (int64_t)strlen(s->len < 0 ? s->c_string.pdata : s->c_string.idata);
        if (s->len)
            (s->len < 0 ? s->c_string.pdata : s->c_string.idata)[0]++;
        s->base.pb->buf[s->base.pb->bpos++] = 'j';
        return NULL;
    default:
        *sum += o->o_type == JSON_DOUBLE ? (int64_t)n->u.c_double : n->u.c_int64;
        o->ref_count++;
        return NULL;
    }
}

static int64_t json_walk(void *root, size_t count)
{
    json_container *o = root, *found, *next;
    int64_t sum = 0;
    size_t i;
    const lh_entry *e;
    (void)count;
    for (; o; o = next) {
        next = NULL;
        if (o->base.o_type == JSON_ARRAY)
            for (i = 0; i < o->u.c_array->length; i++) {
                found = value_see(o->u.c_array->array[i], &sum);
                next = found ? found : next;
            }
        else
            for (e = o->u.c_object->head; e; e = e->next) {
                found = value_see((json_object *)(uintptr_t)e->v, &sum);
                next = found ? found : next;
                sum += (int64_t)strlen(e->k);
            }
    }
    return sum;
}

TEST(structures_jsonc,
     json_c_objects_of_six_kinds_with_strings_in_them_or_elsewhere_by_the_sign_of_their_length)
{
    const haul_field key =
        HAUL_STRING(lh_entry, k, .maybe_static = 1, .integers_from = (uintptr_t)-2);
    site_start(103);
    json_open(&key);
    travel_and_sum(tree_make(), container_type, 1, json_walk);
    json_end();
}
