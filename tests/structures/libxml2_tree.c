/* libxml2. What a node is stands in it, behind the pointer that every kind has first; the
 * document is the root element's parent. Names are interned: they lie in the blocks of a dictionary
 * and are compared by their addresses, as the one name of all texts is. A short text keeps its
 * characters in the place of its properties.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

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
    the.known.statics = xml_statics;
    the.known.static_count = 1;
    pool_type = OPEN(xmlDictStrings, pool_fields);
    entry_type = OPEN(xmlDictEntry, entry_fields);
    dict_type = OPEN(xmlDict, dict_fields);
    ns_type = OPEN(xmlNs, ns_fields);
    attr_type = OPEN(xmlAttr, attr_fields);
    node_type = OPEN(xmlNode, node_fields);
    doc_type = OPEN(xmlDoc, doc_fields);
    type_close(doc_type);
}

static void xml_end(void)
{
    SITE_END(&pool_type, &entry_type, &dict_type, &ns_type, &attr_type, &node_type, &doc_type);
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
    xmlDictStrings *p = put_elements(1, offsetof(xmlDictStrings, array) + POOL_BYTES);
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
        xmlDictEntry *more = put_elements(1, sizeof *more);
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
    int n = chance(1, NAMES);
    snprintf(name, sizeof name, "%.*s%d", n, "name-of-an-element-of-some-length-that-differs", n);
    return dict_intern(doc->dict, name);
}

static xmlNode *text_make(xmlDoc *doc, xmlNode *parent)
{
    xmlNode *n = put_elements(1, sizeof *n);
    char text[40];
    int length = chance(1, 39);
    memset(text, 'a' + length % 26, sizeof text);
    text[length] = 0;
    n->type = TEXT;
    n->name = xmlStringText;
    n->doc = doc;
    n->parent = parent;
    n->content = (size_t)length < COMPACT ? memcpy(&n->properties, text, (size_t)length + 1)
                                          : put_text(text);
    the.told += length;
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
    xmlNs *ns = put_elements(1, sizeof *ns);
    char href[40];
    snprintf(href, sizeof href, "https://example.org/%d", n);
    ns->type = NAMESPACE;
    ns->href = put_text(href);
    ns->prefix = put_text(href + 20);
    ns->context = doc;
    return ns;
}

static void attributes_make(xmlDoc *doc, xmlNode *n, int count)
{
    xmlAttr *last = NULL;
    for (; count; count--) {
        xmlAttr *a = put_elements(1, sizeof *a);
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
        the.told += (int64_t)strlen(a->name) * 5;
    }
}

static xmlNode *element_make(xmlDoc *doc, int line)
{
    xmlNode *n = put_elements(1, sizeof *n);
    n->type = ELEMENT;
    n->doc = doc;
    n->name = name_make(doc);
    n->line = (uint16_t)line;
    if (line % 50 == 0) {
        n->ns = n->nsDef = ns_make(doc, line);
        n->nsDef->next = ns_make(doc, line + 1);
    } else if (line % 3 == 0)
        n->ns = doc->oldNs;
    attributes_make(doc, n, chance(0, 3));
    the.told += line + (int64_t)strlen(n->name) * 3 + (n->ns ? (int64_t)strlen(n->ns->href) : 0);
    return n;
}

static xmlDoc *doc_make(void)
{
    xmlDoc *doc = put_elements(1, sizeof *doc);
    xmlNode *all[ELEMENTS];
    int i;
    doc->type = DOCUMENT;
    doc->doc = doc;
    doc->version = put_text("1.0");
    doc->encoding = put_text("UTF-8");
    doc->URL = put_text("a.xml");
    doc->ids = doc->refs = doc;
    doc->dict = put_elements(1, sizeof *doc->dict);
    doc->dict->size = ENTRIES;
    doc->dict->dict = put_elements(ENTRIES, sizeof *doc->dict->dict);
    pool_add(doc->dict);
    doc->oldNs = ns_make(doc, 0);
    doc->name = dict_intern(doc->dict, "document");
    for (i = 0; i < ELEMENTS; i++) {
        xmlNode *parent = i ? all[chance(0, i - 1)] : NULL;
        all[i] = element_make(doc, i + 1);
        if (i == 0) {
            doc->children = doc->last = all[0];
            all[0]->parent = (xmlNode *)(void *)doc;
            continue;
        }
        if (chance(0, 1))
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

TEST(structures_libxml2,
     libxml2_nodes_of_the_kinds_that_their_tags_say_with_names_that_a_dictionary_holds)
{
    const haul_field properties =
        HAUL_ADDRESS(xmlNode, properties, .target = &attr_type, NOT_COMPACT);
    site_start(101);
    xml_open(&properties);
    travel_and_sum(doc_make(), doc_type, 1, xml_walk);
    xml_end();
}

TEST(structures_libxml2, libxml2_a_short_text_in_place_of_the_properties_is_refused_as_a_pointer)
{
    const haul_field properties = HAUL_ADDRESS(xmlNode, properties, .target = &attr_type);
    haul_status status = HAUL_ERROR_GRAPH;
    site_start(102);
    xml_open(&properties);
    refuse_ship(text_make(put_elements(1, sizeof(xmlDoc)), NULL), node_type, 1, status,
                "root.content", "a word is a pointer for one description and data for another");
    CHECK_STR(the.refused.other_path, "root.properties");
    xml_end();
}
