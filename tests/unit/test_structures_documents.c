/* Documents as two parsers keep them: libxml2 (TERM, FAM, ROWS, SHARE, BACK, SELF, UNI, POLY, COND,
 * STAT, FUNC) and json-c (CNT, EXPR, CAP, TERM, FAM, ROWS, BACK, UNI, POLY, CTX, COND, STAT, FUNC,
 * IDX).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"
#include "support/open.h"

/* ---- libxml2. What a node is stands in it, behind the pointer that every kind has first; the
 * document is the root element's parent. Names are interned: they lie in the blocks of a dictionary
 * and are compared by their addresses, as the one name of all texts is. A short text keeps its
 * characters in the place of its properties. */

enum { ELEMENT = 1, ATTRIBUTE = 2, TEXT = 3, DOCUMENT = 9, NAMESPACE = 18 };
enum { ELEMENTS = 900, ENTRIES = 64, NAMES = 40, POOL_BYTES = 300, COMPACT = 2 * sizeof(void *) };

typedef struct xmlNode xmlNode;
typedef struct xmlAttr xmlAttr;
typedef struct xmlDoc xmlDoc;

typedef struct xmlDictStrings {
    struct xmlDictStrings *next;
    char *free, *end; /* in array, and its end */
    size_t size, nbStrings;
    char array[1];
} xmlDictStrings;

typedef struct xmlDictEntry {
    struct xmlDictEntry *next;
    const char *name;
    unsigned len;
    int valid;
    unsigned long okey;
} xmlDictEntry;

typedef struct xmlDict {
    int ref_counter;
    xmlDictEntry *dict; /* the first of each chain is in place */
    size_t size;
    unsigned nbElems;
    xmlDictStrings *strings;
} xmlDict;

typedef struct xmlNs {
    struct xmlNs *next;
    int type;
    const char *href, *prefix;
    void *_private;
    xmlDoc *context;
} xmlNs;

#define XML_NODE(parent_type, sibling_type)                                                        \
    void *_private;                                                                                \
    int type;                                                                                      \
    const char *name;                                                                              \
    xmlNode *children, *last;                                                                      \
    parent_type *parent;                                                                           \
    sibling_type *next, *prev;                                                                     \
    xmlDoc *doc

struct xmlNode {
    XML_NODE(xmlNode, xmlNode);
    xmlNs *ns;
    char *content;
    xmlAttr *properties;
    xmlNs *nsDef;
    void *psvi;
    uint16_t line, extra;
};

struct xmlAttr {
    XML_NODE(xmlNode, xmlAttr);
    xmlNs *ns;
    int atype;
    void *psvi;
};

struct xmlDoc {
    XML_NODE(xmlNode, xmlNode);
    int compression, standalone;
    void *intSubset, *extSubset;
    xmlNs *oldNs;
    const char *version, *encoding;
    void *ids, *refs; /* private */
    const char *URL;
    int charset;
    xmlDict *dict;
    void *psvi;
    int parseFlags, properties;
};

static const char xmlStringText[] = "text";
static const test_static xml_statics[] = { { xmlStringText, sizeof xmlStringText,
                                             HAUL_STATIC_KEEP } };

static haul_type *pool_type, *entry_type, *dict_type, *ns_type, *node_type, *attr_type, *doc_type;

static const haul_case xml_kinds[] = { { ELEMENT, &node_type, 0 },
                                       { ATTRIBUTE, &attr_type, 0 },
                                       { TEXT, &node_type, 0 },
                                       { DOCUMENT, &doc_type, 0 } };
#define ANY_NODE .type_switch = HAUL_SWITCH_TARGET(xmlNode, type, xml_kinds)

HAUL_FUNCTION(is_not_compact, xmlNode, self->content != (const char *)&self->properties)
#define NOT_COMPACT .when = HAUL_WHEN_FN(is_not_compact), .else_raw = 1

#define XML_CHILDREN(S)                                                                            \
    HAUL_RAW(S, _private), HAUL_ADDRESS(S, name, .ownership = HAUL_BORROWED, .maybe_static = 1),   \
        HAUL_ADDRESS(S, children, ANY_NODE), HAUL_ADDRESS(S, last, ANY_NODE),                      \
        HAUL_OBJECT(S, doc, &doc_type)
#define XML_SIBLINGS(S)                                                                            \
    HAUL_ADDRESS(S, parent, ANY_NODE), HAUL_ADDRESS(S, next, ANY_NODE),                            \
        HAUL_ADDRESS(S, prev, ANY_NODE)

static void xml_open(const haul_field *properties)
{
    static const haul_field pool_fields[] = {
        HAUL_OBJECT(xmlDictStrings, next, &pool_type),
        HAUL_ADDRESS(xmlDictStrings, free, .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(xmlDictStrings, end, .ownership = HAUL_BORROWED),
        HAUL_TAIL(xmlDictStrings, array, HAUL_COUNT(xmlDictStrings, size))
    };
    static const haul_field entry_fields[] = { HAUL_OBJECT(xmlDictEntry, next, &entry_type),
                                               HAUL_ADDRESS(xmlDictEntry, name,
                                                            .ownership = HAUL_BORROWED) };
    static const haul_field dict_fields[] = { HAUL_OBJECTS(xmlDict, dict, &entry_type,
                                                           HAUL_COUNT(xmlDict, size)),
                                              HAUL_OBJECT(xmlDict, strings, &pool_type) };
    static const haul_field ns_fields[] = { HAUL_OBJECT(xmlNs, next, &ns_type),
                                            HAUL_STRING(xmlNs, href), HAUL_STRING(xmlNs, prefix),
                                            HAUL_RAW(xmlNs, _private),
                                            HAUL_OBJECT(xmlNs, context, &doc_type) };
    static const haul_field attr_fields[] = { XML_CHILDREN(xmlAttr), XML_SIBLINGS(xmlAttr),
                                              HAUL_OBJECT(xmlAttr, ns, &ns_type),
                                              HAUL_RAW(xmlAttr, psvi) };
    static const haul_field doc_fields[] = {
        XML_CHILDREN(xmlDoc),          HAUL_RAW(xmlDoc, intSubset),
        HAUL_RAW(xmlDoc, extSubset),   HAUL_STRING(xmlDoc, version),
        HAUL_STRING(xmlDoc, encoding), HAUL_OBJECT(xmlDoc, oldNs, &ns_type),
        HAUL_STRING(xmlDoc, URL),      HAUL_SKIP(xmlDoc, ids),
        HAUL_SKIP(xmlDoc, refs),       HAUL_OBJECT(xmlDoc, dict, &dict_type),
        HAUL_RAW(xmlDoc, psvi),
    };
    const haul_field node_fields[] = {
        XML_CHILDREN(xmlNode),
        XML_SIBLINGS(xmlNode),
        HAUL_OBJECT(xmlNode, ns, &ns_type),
        HAUL_STRING(xmlNode, content),
        *properties,
        HAUL_ADDRESS(xmlNode, nsDef, .target = &ns_type, NOT_COMPACT),
        HAUL_RAW(xmlNode, psvi),
    };
    yard.known.statics = xml_statics;
    yard.known.static_count = 1;
    pool_type = YARD_TYPE(xmlDictStrings, pool_fields);
    entry_type = YARD_TYPE(xmlDictEntry, entry_fields);
    dict_type = YARD_TYPE(xmlDict, dict_fields);
    ns_type = YARD_TYPE(xmlNs, ns_fields);
    attr_type = YARD_TYPE(xmlAttr, attr_fields);
    node_type = YARD_TYPE(xmlNode, node_fields);
    doc_type = YARD_TYPE(xmlDoc, doc_fields);
    yard_commit(doc_type);
}

static void xml_end(void)
{
    YARD_END(&pool_type, &entry_type, &dict_type, &ns_type, &attr_type, &node_type, &doc_type);
}

static unsigned long name_key(const char *name)
{
    unsigned long key = 5381;
    for (; *name; name++)
        key = (key * 33 + (unsigned char)*name) & 0xFFFF;
    return key;
}

/* The name's one address. */
static const char *dict_find(const xmlDict *d, const char *name)
{
    unsigned long key = name_key(name);
    const xmlDictEntry *e = &d->dict[key % d->size];
    for (; e && e->valid; e = e->next)
        if (e->okey == key && strcmp(e->name, name) == 0)
            return e->name;
    return NULL;
}

static void pool_add(xmlDict *d)
{
    xmlDictStrings *p = yard_take(1, offsetof(xmlDictStrings, array) + POOL_BYTES);
    p->size = POOL_BYTES;
    p->free = p->array;
    p->end = p->array + p->size;
    p->next = d->strings;
    d->strings = p;
}

static const char *dict_intern(xmlDict *d, const char *name)
{
    const char *found = dict_find(d, name);
    xmlDictEntry *e = &d->dict[name_key(name) % d->size];
    size_t bytes = strlen(name) + 1;
    if (found)
        return found;
    if ((size_t)(d->strings->end - d->strings->free) < bytes)
        pool_add(d);
    if (e->valid) {
        xmlDictEntry *more = yard_take(1, sizeof *more);
        more->next = e->next;
        e->next = more;
        e = more;
    }
    e->name = memcpy(d->strings->free, name, bytes);
    e->len = (unsigned)bytes - 1;
    e->okey = name_key(name);
    e->valid = 1;
    d->nbElems++;
    d->strings->nbStrings++;
    d->strings->free += bytes;
    return e->name;
}

static const char *name_make(xmlDoc *doc)
{
    char name[80];
    int n = yard_int(1, NAMES);
    snprintf(name, sizeof name, "%.*s%d", n, "name-of-an-element-of-some-length-that-differs", n);
    return dict_intern(doc->dict, name);
}

static xmlNode *text_make(xmlDoc *doc, xmlNode *parent)
{
    xmlNode *n = yard_take(1, sizeof *n);
    char text[40];
    int length = yard_int(1, 39);
    memset(text, 'a' + length % 26, sizeof text);
    text[length] = 0;
    n->type = TEXT;
    n->name = xmlStringText;
    n->doc = doc;
    n->parent = parent;
    n->content = (size_t)length < COMPACT ? memcpy(&n->properties, text, (size_t)length + 1)
                                          : yard_text(text);
    yard.told += length;
    return n;
}

static void node_append(xmlNode *parent, xmlNode *n)
{
    n->parent = parent;
    n->prev = parent->last;
    if (parent->last)
        parent->last->next = n;
    else
        parent->children = n;
    parent->last = n;
}

static xmlNs *ns_make(xmlDoc *doc, int n)
{
    xmlNs *ns = yard_take(1, sizeof *ns);
    char href[40];
    snprintf(href, sizeof href, "https://example.org/%d", n);
    ns->type = NAMESPACE;
    ns->href = yard_text(href);
    ns->prefix = yard_text(href + 20);
    ns->context = doc;
    return ns;
}

static void attributes_make(xmlDoc *doc, xmlNode *n, int count)
{
    xmlAttr *last = NULL;
    for (; count; count--) {
        xmlAttr *a = yard_take(1, sizeof *a);
        a->type = ATTRIBUTE;
        a->name = name_make(doc);
        a->parent = n;
        a->doc = doc;
        a->prev = last;
        a->ns = n->ns;
        a->children = a->last = text_make(doc, (xmlNode *)(void *)a);
        if (last)
            last->next = a;
        else
            n->properties = a;
        last = a;
        yard.told += (int64_t)strlen(a->name) * 5;
    }
}

static xmlNode *element_make(xmlDoc *doc, int line)
{
    xmlNode *n = yard_take(1, sizeof *n);
    n->type = ELEMENT;
    n->doc = doc;
    n->name = name_make(doc);
    n->line = (uint16_t)line;
    if (line % 50 == 0) {
        n->ns = n->nsDef = ns_make(doc, line);
        n->nsDef->next = ns_make(doc, line + 1);
    } else if (line % 3 == 0)
        n->ns = doc->oldNs;
    attributes_make(doc, n, yard_int(0, 3));
    yard.told += line + (int64_t)strlen(n->name) * 3 + (n->ns ? (int64_t)strlen(n->ns->href) : 0);
    return n;
}

static xmlDoc *doc_make(void)
{
    xmlDoc *doc = yard_take(1, sizeof *doc);
    xmlNode *all[ELEMENTS];
    int i;
    doc->type = DOCUMENT;
    doc->doc = doc;
    doc->version = yard_text("1.0");
    doc->encoding = yard_text("UTF-8");
    doc->URL = yard_text("a.xml");
    doc->ids = doc->refs = doc;
    doc->dict = yard_take(1, sizeof *doc->dict);
    doc->dict->size = ENTRIES;
    doc->dict->dict = yard_take(ENTRIES, sizeof *doc->dict->dict);
    pool_add(doc->dict);
    doc->oldNs = ns_make(doc, 0);
    doc->name = dict_intern(doc->dict, "document");
    for (i = 0; i < ELEMENTS; i++) {
        xmlNode *parent = i ? all[yard_int(0, i - 1)] : NULL;
        all[i] = element_make(doc, i + 1);
        if (i == 0) {
            doc->children = doc->last = all[0];
            all[0]->parent = (xmlNode *)(void *)doc;
            continue;
        }
        if (yard_int(0, 1))
            node_append(parent, text_make(doc, parent));
        node_append(parent, all[i]);
    }
    return doc;
}

static int64_t text_see(xmlNode *t)
{
    int64_t length = (int64_t)strlen(t->content);
    if (t->name != xmlStringText ||
        ((size_t)length < COMPACT) != (t->content == (char *)&t->properties))
        return -1000000;
    t->content[0] = 'T';
    return length;
}

static int64_t element_see(const xmlDoc *doc, xmlNode *n)
{
    int64_t sum =
        n->line + (int64_t)strlen(n->name) * 3 + (n->ns ? (int64_t)strlen(n->ns->href) : 0);
    xmlAttr *a;
    for (a = n->properties; a; a = a->next) {
        sum += (int64_t)strlen(a->name) * 5 + text_see(a->children);
        if (a->parent != n || a->doc != doc || (a->next && a->next->prev != a) ||
            dict_find(doc->dict, a->name) != a->name)
            return -1000000;
    }
    n->line++;
    return dict_find(doc->dict, n->name) == n->name && n->doc == doc ? sum : -1000000;
}

/* The whole document in its order. */
static int64_t xml_walk(void *root, size_t count)
{
    xmlDoc *doc = root;
    xmlNode *top = (xmlNode *)(void *)doc, *n = doc->children;
    int64_t sum = 0;
    (void)count;
    while (n != top) {
        sum += n->type == TEXT ? text_see(n) : element_see(doc, n);
        if (n->children) {
            n = n->children;
            continue;
        }
        while (n != top && !n->next)
            n = n->parent;
        if (n != top)
            n = n->next;
    }
    return doc->dict->strings->end - doc->dict->strings->array == POOL_BYTES ? sum : -1;
}

TEST(structures, libxml2_nodes_of_the_kinds_that_their_tags_say_with_names_that_a_dictionary_holds)
{
    const haul_field properties =
        HAUL_ADDRESS(xmlNode, properties, .target = &attr_type, NOT_COMPACT);
    yard_open(1 << 20, 101);
    xml_open(&properties);
    yard_prove(doc_make(), doc_type, 1, xml_walk);
    xml_end();
}

TEST(structures, libxml2_a_short_text_in_place_of_the_properties_is_refused_as_a_pointer)
{
    const haul_field properties = HAUL_ADDRESS(xmlNode, properties, .target = &attr_type);
    haul_status status = HAUL_ERROR_GRAPH;
    yard_open(1 << 20, 102);
    xml_open(&properties);
    yard_refuse(text_make(yard_take(1, sizeof(xmlDoc)), NULL), node_type, 1, status, "root.content",
                "a word is a pointer for one description and data for another");
    CHECK_STR(yard.refused.other_path, "root.properties");
    xml_end();
}

/* ---- json-c. What an object is stands at its beginning. A string lies in its object, or where a
 * negative length says so, elsewhere. Entries of a table lie in one block, linked in the order in
 * which they came; keys of free places are -1 and -2; a key may be a constant. */

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
    yard.known.statics = json_statics;
    yard.known.static_count = 1;
    printbuf_type = YARD_TYPE(printbuf, printbuf_fields);
    base_type = YARD_TYPE(json_object, base_fields);
    number_type = YARD_TYPE(json_number, number_fields);
    container_type = YARD_TYPE(json_container, container_fields);
    string_type = YARD_TYPE(json_string, string_fields, .size_fn = string_bytes);
    list_type = YARD_TYPE(array_list, list_fields);
    table_type = YARD_TYPE(lh_table, table_fields);
    place_type = YARD_TYPE(lh_entry, place_fields);
    yard_commit(container_type);
}

static void json_end(void)
{
    YARD_END(&printbuf_type, &base_type, &number_type, &container_type, &string_type, &list_type,
             &table_type, &place_type);
}

static void *json_make(int type, size_t bytes)
{
    json_object *o = yard_take(1, bytes);
    o->o_type = type;
    o->ref_count = 1;
    return o;
}

static json_object *number_make(int type)
{
    json_number *n = json_make(type, sizeof *n);
    int value = yard_int(0, 999);
    yard.told += value;
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
    char *text = is_far ? s->c_string.pdata = yard_take(1, (size_t)length + 1) : s->c_string.idata;
    memset(text, 'x', (size_t)length);
    s->len = is_far ? -length : length;
    s->base.pb = yard_take(1, sizeof *s->base.pb);
    s->base.pb->size = 32;
    s->base.pb->buf = yard_take(1, 32);
    yard.told += length;
    return &s->base;
}

static json_container *table_make(json_object *const *values, int count)
{
    json_container *o = json_make(JSON_OBJECT, sizeof *o);
    lh_table *t = o->u.c_object = yard_take(1, sizeof *t);
    lh_entry *last = NULL;
    int i;
    t->size = PLACES;
    t->count = count;
    t->table = yard_raw(PLACES * sizeof *t->table);
    for (i = 0; i < PLACES; i++)
        t->table[i].k = i % 3 ? LH_EMPTY : LH_FREED;
    for (i = 0; i < count; i++) {
        lh_entry *e = &t->table[i * 27 % PLACES];
        e->k_is_constant = i == 0;
        e->k = i ? yard_text("key") : json_keys;
        e->v = values[i];
        e->prev = last;
        e->next = NULL;
        if (last)
            last->next = e;
        else
            t->head = e;
        last = e;
        yard.told += i ? 3 : 8;
    }
    t->tail = last;
    return o;
}

static json_container *list_make(json_object *const *values, int count)
{
    json_container *o = json_make(JSON_ARRAY, sizeof *o);
    array_list *l = o->u.c_array = yard_take(1, sizeof *l);
    l->length = (size_t)count;
    l->size = l->length + l->length / 2;
    l->array = yard_raw(l->size * sizeof *l->array);
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
            values[k] = k % 3 ? string_make(yard_int(0, LONG)) : number_make(JSON_BOOLEAN + i % 3);
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

TEST(structures,
     json_c_objects_of_six_kinds_with_strings_in_them_or_elsewhere_by_the_sign_of_their_length)
{
    const haul_field key =
        HAUL_STRING(lh_entry, k, .maybe_static = 1, .integers_from = (uintptr_t)-2);
    yard_open(1 << 20, 103);
    json_open(&key);
    yard_prove(tree_make(), container_type, 1, json_walk);
    json_end();
}
