/* Graphviz' cgraph, over its dictionaries of cdt (CNT TERM HDR FAM PARR ROWS SHARE BACK HOOK UNI
 * BITS POLY CTX STAT FUNC IDX).
 *
 * A dictionary holds elements by a link in each, whose place its discipline says: a constant that
 * the library has for each use. Trees have links to the left, hash tables a hash in the same place.
 * A node is in two dictionaries of each graph that has it, by a part of its own in the whole graph,
 * by a small object in others. Its edges are four trees without a dictionary. An edge is two halves
 * of one block, which a bit-field tells apart. Objects have records of kinds that their names say.
 * Strings are counted, with a header in front; and an object's number is the address of its name,
 * or odd, when it has none. Trees that are ordered by that number stay in order, since things in a
 * copy follow each other as they do here.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "support/types.h"

enum { DT_SET = 1, DT_OSET = 4, AGRAPH = 0, AGNODE = 1, AGOUTEDGE = 2, AGINEDGE = 3 };
enum {
    NODES = 90,
    OUT = 3,
    TABLE = 64,
    SYMBOLS = 3,
    IN_PART = 2 /* each second node is in the subgraph */
};

typedef struct Dtlink {
    struct Dtlink *right;
    union {
        unsigned hash;
        struct Dtlink *left;
    } hl;
} Dtlink;

typedef struct Dtdisc {
    int key, size, link;
    int (*comparf)(const void *a, const void *b);
} Dtdisc;

typedef struct Dtmethod {
    void *(*searchf)(void *dict, void *object, int type);
    int type;
} Dtmethod;

typedef struct Dtdata {
    int type;
    Dtlink *here; /* a tree's root */
    union {
        Dtlink **htab;
        Dtlink *head;
    } hh;
    int ntab, size, loop, minp;
} Dtdata;

typedef struct Dict {
    void *(*searchf)(void *dict, void *object, int type);
    const Dtdisc *disc;
    Dtdata *data;
    const Dtmethod *meth;
    int type, nview;
    struct Dict *view, *walk;
    void *user;
} Dict;

typedef struct Dthold {
    Dtlink hdr;
    void *obj; /* here: an edge */
} Dthold;

typedef struct refstr {
    Dtlink link;
    unsigned long refcnt;
    char *s;
    char store[1];
} refstr;

typedef struct Agrec {
    char *name;
    struct Agrec *next; /* a ring */
} Agrec;

typedef struct Agtag {
    unsigned objtype : 2, mtflock : 1, attrwf : 1, seq : 28;
    uintptr_t id;
} Agtag;

typedef struct Agobj {
    Agtag tag;
    Agrec *data;
} Agobj;

typedef struct Agsym {
    Dtlink link;
    char *name, *defval;
    int id;
} Agsym;

typedef struct Agattr {
    Agrec h;
    Dict *dict;
    char **str; /* one for each symbol of dict */
} Agattr;

typedef struct position {
    Agrec h;
    double x, y;
} position;

typedef struct Agnode Agnode;
typedef struct Agraph Agraph;

typedef struct Agsubnode {
    Dtlink seq_link, id_link;
    Agnode *node;
    Dtlink *in_id, *out_id, *in_seq, *out_seq;
} Agsubnode;

struct Agnode {
    Agobj base;
    Agraph *root;
    Agsubnode mainsub;
};

typedef struct Agedge {
    Agobj base;
    Dtlink id_link, seq_link;
    Agnode *node; /* the other end */
} Agedge;

typedef struct Agedgepair {
    Agedge out, in;
} Agedgepair;

typedef struct Agclos {
    Dict *strdict;
    unsigned seq[3]; /* the last numbers given */
} Agclos;

struct Agraph {
    Agobj base;
    Dtlink link;
    Dict *n_seq, *n_id, *e_seq, *g_dict;
    Agraph *parent, *root;
    Agclos *clos;
};

/* ---- The library's constants. */

static const Agobj *object_of(const void *subnode)
{
    return &((const Agsubnode *)subnode)->node->base;
}

static int by_number(uintptr_t a, uintptr_t b)
{
    return (a > b) - (a < b);
}

static int subnode_by_seq(const void *a, const void *b)
{
    return by_number(object_of(a)->tag.seq, object_of(b)->tag.seq);
}

static int subnode_by_id(const void *a, const void *b)
{
    return by_number(object_of(a)->tag.id, object_of(b)->tag.id);
}

static int edge_by_seq(const void *a, const void *b)
{
    return by_number(((const Agedge *)a)->base.tag.seq, ((const Agedge *)b)->base.tag.seq);
}

static int edge_by_id(const void *a, const void *b)
{
    return by_number(((const Agedge *)a)->base.tag.id, ((const Agedge *)b)->base.tag.id);
}

static int hold_by_seq(const void *a, const void *b)
{
    return edge_by_seq(((const Dthold *)a)->obj, ((const Dthold *)b)->obj);
}

static int graph_by_seq(const void *a, const void *b)
{
    return by_number(((const Agraph *)a)->base.tag.seq, ((const Agraph *)b)->base.tag.seq);
}

static int sym_by_name(const void *a, const void *b)
{
    return strcmp(((const Agsym *)a)->name, ((const Agsym *)b)->name);
}

static int refstr_by_text(const void *a, const void *b)
{
    return strcmp(((const refstr *)a)->s, ((const refstr *)b)->s);
}

#define DISCIPLINE(S, link, compare)                                                               \
    {                                                                                              \
        0, 0, (int)offsetof(S, link), compare                                                      \
    }
enum { SUB_SEQ, SUB_ID, EDGE_SEQ, EDGE_ID, HOLD, GRAPH, SYM, STRING };
static const Dtdisc discipline[] = {
    DISCIPLINE(Agsubnode, seq_link, subnode_by_seq),
    DISCIPLINE(Agsubnode, id_link, subnode_by_id),
    DISCIPLINE(Agedge, seq_link, edge_by_seq),
    DISCIPLINE(Agedge, id_link, edge_by_id),
    DISCIPLINE(Dthold, hdr, hold_by_seq),
    DISCIPLINE(Agraph, link, graph_by_seq),
    DISCIPLINE(Agsym, link, sym_by_name),
    DISCIPLINE(refstr, link, refstr_by_text),
};

static unsigned hash_of(const char *text)
{
    unsigned hash = 17;
    for (; *text; text++)
        hash = (hash * 31 + (unsigned char)*text) & 0xFFFFF;
    return hash;
}

/* NULL, and where it would hang. */
static Dtlink **tree_find(Dtlink **at, const Dtdisc *disc, const void *object)
{
    int order;
    while (*at && (order = disc->comparf(object, (char *)*at - disc->link)) != 0)
        at = order < 0 ? &(*at)->hl.left : &(*at)->right;
    return at;
}

static Dtlink **dict_find(Dict *d, const void *object)
{
    Dtlink **at = &d->data->here;
    if (!(d->data->type & DT_SET))
        return tree_find(at, d->disc, object);
    at = &d->data->hh.htab[hash_of(((const refstr *)object)->s) % (unsigned)d->data->ntab];
    while (*at && d->disc->comparf(object, (char *)*at - d->disc->link) != 0)
        at = &(*at)->right;
    return at;
}

static void *dict_search(void *dict, void *object, int type)
{
    Dict *d = dict;
    Dtlink *found = *dict_find(d, object);
    (void)type;
    return found ? (char *)found - d->disc->link : NULL;
}

static const Dtmethod methods[] = { { dict_search, DT_SET }, { dict_search, DT_OSET } };
static const test_static constants[] = { { discipline, sizeof discipline, HAUL_STATIC_KEEP },
                                         { methods, sizeof methods, HAUL_STATIC_KEEP } };

/* ---- Types. */

static haul_type *element, *Dict_type, *Dtdata_type, *Dthold_type, *refstr_type, *Agrec_type,
    *Agtag_type, *Agobj_type, *Agsym_type, *Agattr_type, *position_type, *Agsubnode_type,
    *Agnode_type, *Agedge_type, *Agedgepair_type, *Agclos_type, *Agraph_type;
static haul_type *seq_link_type, *id_link_type, *edge_seq_link_type, *edge_id_link_type,
    *hold_link_type, *graph_link_type, *sym_link_type, *string_link_type;
static haul_type *subnodes_type, *idle_type, *idle_data_type, *graphs_type, *syms_type,
    *strings_type;

/* Of what lies in a Dtdata: its parent is the dictionary. */
static int64_t before_link(const haul_here *here)
{
    return here->ancestor ? -(int64_t)((const Dict *)here->ancestor)->disc->link : INT64_MIN;
}

static int64_t kind_of_record(const haul_here *here)
{
    const char *name = ((const Agrec *)here->target)->name;
    return strcmp(name, "_AG_strdata") == 0 ? 1 : strcmp(name, "position") == 0 ? 2 : 0;
}

static int64_t half_of_edge(const haul_here *here)
{
    return ((const Agedge *)here->target)->base.tag.objtype;
}

/* What a subnode's trees are of: halves of edges; or, in a subgraph, what holds them. */
static int64_t edge_or_hold(const haul_here *here, size_t link)
{
    const Agsubnode *self = here->self;
    const Agedge *edge = (const Agedge *)(const void *)((const char *)here->target - link);
    return self == &self->node->mainsub ? edge->base.tag.objtype : 0;
}

static int64_t edge_or_hold_by_seq(const haul_here *here)
{
    return edge_or_hold(here, offsetof(Agedge, seq_link));
}

static int64_t edge_or_hold_by_id(const haul_here *here)
{
    return edge_or_hold(here, offsetof(Agedge, id_link));
}

HAUL_FUNCTION(is_table, Dtdata, (self->type & DT_SET) != 0)
HAUL_FUNCTION(id_is_name, Agtag, self->id && self->id % 2 == 0)
HAUL_FUNCTION(symbols, Agattr, self->dict->data->size)

/* A link that leads to objects, or behind their beginning. */
#define LINKS(...)                                                                                 \
    {                                                                                              \
        HAUL_ADDRESS(Dtlink, right, __VA_ARGS__), HAUL_ADDRESS(Dtlink, hl.left, __VA_ARGS__)       \
    }
#define HALF(link)                                                                                 \
    .base = HAUL_CONTAINER_OF(Agedge, link), .type_switch = HAUL_SWITCH_FN(half_of_edge, halves)
/* A string, by its characters. */
#define TEXT .target = &refstr_type, .base = HAUL_CONTAINER_OF(refstr, store)

static haul_type *dict_open(const char *name, haul_type *const *data)
{
#define FIXED .ownership = HAUL_BORROWED, .maybe_static = 1
    const haul_field fields[] = {
        HAUL_ADDRESS(Dict, searchf, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(Dict, disc, FIXED),
        HAUL_OBJECT(Dict, data, data),
        HAUL_ADDRESS(Dict, meth, FIXED),
        HAUL_SKIP(Dict, view),
        HAUL_SKIP(Dict, walk),
        HAUL_RAW(Dict, user),
    };
    return type_open(name, sizeof(Dict), fields, COUNT_OF(fields));
}

/* Those of edges are empty between two calls of the library's. */
static void dictionaries_open(void)
{
    /* of strings: their links are first */
    static const haul_field data_fields[] = {
        HAUL_ADDRESS(Dtdata, here, .target = &element, .base_fn = before_link,
                     .ancestor = HAUL_PARENT),
        HAUL_ADDRESS(Dtdata, hh.htab, .levels = 2, .target = &element,
                     .count = HAUL_COUNT(Dtdata, ntab), .when = HAUL_WHEN_FN(is_table)),
    };
    CHECK_STATUS(haul_type_parameter(type_context(), "element", &element), HAUL_OK);
    Dtdata_type = OPEN(Dtdata, data_fields);
    Dict_type = dict_open("Dict", &Dtdata_type);
    idle_data_type = type_open("idle Dtdata", sizeof(Dtdata), NULL, 0);
    idle_type = dict_open("idle Dict", &idle_data_type);
}

static void links_open(void)
{
    static const haul_case halves[] = {
        { AGOUTEDGE, &Agedgepair_type, HAUL_CONTAINER_OF(Agedgepair, out) },
        { AGINEDGE, &Agedgepair_type, HAUL_CONTAINER_OF(Agedgepair, in) }
    };
    static const haul_field seq_fields[] =
        LINKS(.target = &Agsubnode_type, .base = HAUL_CONTAINER_OF(Agsubnode, seq_link));
    static const haul_field id_fields[] =
        LINKS(.target = &Agsubnode_type, .base = HAUL_CONTAINER_OF(Agsubnode, id_link));
    static const haul_field edge_seq_fields[] = LINKS(HALF(seq_link)),
                            edge_id_fields[] = LINKS(HALF(id_link));
    static const haul_field hold_fields[] = LINKS(.target = &Dthold_type);
    static const haul_field graph_fields[] =
        LINKS(.target = &Agraph_type, .base = HAUL_CONTAINER_OF(Agraph, link));
    static const haul_field sym_fields[] = LINKS(.target = &Agsym_type);
    static const haul_field string_fields[] = { HAUL_ADDRESS(Dtlink, right,
                                                             .target = &refstr_type) };
    seq_link_type = type_open("seq_link", sizeof(Dtlink), seq_fields, 2);
    id_link_type = type_open("id_link", sizeof(Dtlink), id_fields, 2);
    edge_seq_link_type = type_open("edge_seq_link", sizeof(Dtlink), edge_seq_fields, 2);
    edge_id_link_type = type_open("edge_id_link", sizeof(Dtlink), edge_id_fields, 2);
    hold_link_type = type_open("hold_link", sizeof(Dtlink), hold_fields, 2);
    graph_link_type = type_open("graph_link", sizeof(Dtlink), graph_fields, 2);
    sym_link_type = type_open("sym_link", sizeof(Dtlink), sym_fields, 2);
    string_link_type = type_open("string_link", sizeof(Dtlink), string_fields, 1);
}

/* id_row: 0, as if it were a number and no more. */
static void records_open(size_t id_row)
{
    static const haul_case kinds[] = { { 1, &Agattr_type, 0 }, { 2, &position_type, 0 } };
#define BY_NAME .type_switch = HAUL_SWITCH_FN(kind_of_record, kinds)
    static const haul_field string_fields[] = { HAUL_EMBED(refstr, link, &string_link_type),
                                                HAUL_ADDRESS(refstr, s, .ownership = HAUL_BORROWED),
                                                HAUL_TAIL(refstr, store, HAUL_TERMINATED) };
    static const haul_field rec_fields[] = { HAUL_ADDRESS(Agrec, name, TEXT),
                                             HAUL_ADDRESS(Agrec, next, BY_NAME) };
    static const haul_field sym_fields[] = { HAUL_EMBED(Agsym, link, &sym_link_type),
                                             HAUL_ADDRESS(Agsym, name, TEXT),
                                             HAUL_ADDRESS(Agsym, defval, TEXT) };
    static const haul_field text = { .base = HAUL_CONTAINER_OF(refstr, store) };
    static const haul_field attr_fields[] = {
        HAUL_EMBED(Agattr, h, &Agrec_type), HAUL_OBJECT(Agattr, dict, &syms_type),
        HAUL_ADDRESS(Agattr, str, .levels = 2, .target = &refstr_type,
                     .count = HAUL_COUNT_FN(symbols), .each_pointer = &text)
    };
    static const haul_field position_fields[] = { HAUL_EMBED(position, h, &Agrec_type) };
    static const haul_field tag_fields[] = { HAUL_ADDRESS(
        Agtag, id, TEXT, .when = HAUL_WHEN_FN(id_is_name), .else_raw = 1) };
    static const haul_field obj_fields[] = { HAUL_EMBED(Agobj, tag, &Agtag_type),
                                             HAUL_ADDRESS(Agobj, data, BY_NAME) };
    refstr_type = OPEN(refstr, string_fields);
    Agrec_type = OPEN(Agrec, rec_fields);
    Agsym_type = OPEN(Agsym, sym_fields);
    Agattr_type = OPEN(Agattr, attr_fields);
    position_type = OPEN(position, position_fields);
    Agtag_type = type_open("Agtag", sizeof(Agtag), tag_fields, id_row);
    Agobj_type = OPEN(Agobj, obj_fields);
}

#define EDGE_CASES(link)                                                                           \
    {                                                                                              \
        { AGOUTEDGE, &Agedgepair_type,                                                             \
          -(int64_t)(offsetof(Agedgepair, out) + offsetof(Agedge, link)) },                        \
            { AGINEDGE, &Agedgepair_type,                                                          \
              -(int64_t)(offsetof(Agedgepair, in) + offsetof(Agedge, link)) },                     \
        {                                                                                          \
            0, &Dthold_type, 0                                                                     \
        }                                                                                          \
    }

static void objects_open(void)
{
    static const haul_case seq_cases[] = EDGE_CASES(seq_link), id_cases[] = EDGE_CASES(id_link);
#define SEQ .type_switch = HAUL_SWITCH_FN(edge_or_hold_by_seq, seq_cases)
#define ID .type_switch = HAUL_SWITCH_FN(edge_or_hold_by_id, id_cases)
    static const haul_case halves[] = {
        { AGOUTEDGE, &Agedgepair_type, HAUL_CONTAINER_OF(Agedgepair, out) },
        { AGINEDGE, &Agedgepair_type, HAUL_CONTAINER_OF(Agedgepair, in) }
    };
    static const haul_field subnode_fields[] = {
        HAUL_EMBED(Agsubnode, seq_link, &seq_link_type),
        HAUL_EMBED(Agsubnode, id_link, &id_link_type),
        HAUL_OBJECT(Agsubnode, node, &Agnode_type),
        HAUL_ADDRESS(Agsubnode, in_id, ID),
        HAUL_ADDRESS(Agsubnode, out_id, ID),
        HAUL_ADDRESS(Agsubnode, in_seq, SEQ),
        HAUL_ADDRESS(Agsubnode, out_seq, SEQ),
    };
    static const haul_field node_fields[] = { HAUL_EMBED(Agnode, base, &Agobj_type),
                                              HAUL_OBJECT(Agnode, root, &Agraph_type),
                                              HAUL_EMBED(Agnode, mainsub, &Agsubnode_type) };
    static const haul_field edge_fields[] = { HAUL_EMBED(Agedge, base, &Agobj_type),
                                              HAUL_EMBED(Agedge, id_link, &edge_id_link_type),
                                              HAUL_EMBED(Agedge, seq_link, &edge_seq_link_type),
                                              HAUL_OBJECT(Agedge, node, &Agnode_type) };
    static const haul_field pair_fields[] = { HAUL_EMBED(Agedgepair, out, &Agedge_type),
                                              HAUL_EMBED(Agedgepair, in, &Agedge_type) };
    static const haul_field hold_fields[] = {
        HAUL_EMBED(Dthold, hdr, &hold_link_type),
        HAUL_ADDRESS(Dthold, obj, .type_switch = HAUL_SWITCH_FN(half_of_edge, halves))
    };
    static const haul_field clos_fields[] = { HAUL_OBJECT(Agclos, strdict, &strings_type) };
    static const haul_field graph_fields[] = {
        HAUL_EMBED(Agraph, base, &Agobj_type),      HAUL_EMBED(Agraph, link, &graph_link_type),
        HAUL_OBJECT(Agraph, n_seq, &subnodes_type), HAUL_OBJECT(Agraph, n_id, &subnodes_type),
        HAUL_OBJECT(Agraph, e_seq, &idle_type),     HAUL_OBJECT(Agraph, g_dict, &graphs_type),
        HAUL_OBJECT(Agraph, parent, &Agraph_type),  HAUL_OBJECT(Agraph, root, &Agraph_type),
        HAUL_OBJECT(Agraph, clos, &Agclos_type),
    };
    Agsubnode_type = OPEN(Agsubnode, subnode_fields);
    Agnode_type = OPEN(Agnode, node_fields);
    Agedge_type = OPEN(Agedge, edge_fields);
    Agedgepair_type = OPEN(Agedgepair, pair_fields);
    Dthold_type = OPEN(Dthold, hold_fields);
    Agclos_type = OPEN(Agclos, clos_fields);
    Agraph_type = OPEN(Agraph, graph_fields);
}

static haul_type *dict_of(haul_type *what)
{
    haul_type *dict;
    CHECK_STATUS(haul_type_instance(Dict_type, 1, &element, &what, &dict), HAUL_OK);
    return dict;
}

static void graph_open(size_t id_row)
{
    dictionaries_open();
    links_open();
    records_open(id_row);
    objects_open();
    subnodes_type = dict_of(Agsubnode_type);
    graphs_type = dict_of(Agraph_type);
    syms_type = dict_of(Agsym_type);
    strings_type = dict_of(refstr_type);
    type_close(Agraph_type);
    the.known.statics = constants;
    the.known.static_count = COUNT_OF(constants);
}

static void graph_close(void)
{
    haul_type **all[] = {
        &subnodes_type,     &idle_type,        &idle_data_type, &graphs_type,
        &syms_type,         &strings_type,     &seq_link_type,  &id_link_type,
        &hold_link_type,    &graph_link_type,  &sym_link_type,  &edge_seq_link_type,
        &edge_id_link_type, &string_link_type, &Dict_type,      &Dtdata_type,
        &Dthold_type,       &refstr_type,      &Agrec_type,     &Agtag_type,
        &Agobj_type,        &Agsym_type,       &Agattr_type,    &position_type,
        &Agsubnode_type,    &Agnode_type,      &Agedge_type,    &Agedgepair_type,
        &Agclos_type,       &Agraph_type,      &element
    };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

/* ---- Building. */

static Dict *dict_make(int which, int type)
{
    Dict *d = PUT(Dict);
    d->searchf = dict_search;
    d->disc = &discipline[which];
    d->meth = &methods[type == DT_OSET];
    d->type = type;
    d->data = PUT(Dtdata);
    d->data->type = type;
    if (type == DT_SET) {
        d->data->ntab = TABLE;
        d->data->hh.htab = PUT_ARRAY(Dtlink *, TABLE);
    }
    return d;
}

static void dict_insert(Dict *d, void *object)
{
    *dict_find(d, object) = (Dtlink *)(void *)((char *)object + d->disc->link);
    d->data->size++;
}

static char *string_make(Agraph *g, const char *chars)
{
    Dict *strings = g->clos->strdict;
    size_t length = strlen(chars);
    refstr key, *r;
    key.s = (char *)(uintptr_t)chars;
    r = strings->searchf(strings, &key, 0);
    if (!r) {
        r = put(offsetof(refstr, store) + length + 1, sizeof(void *));
        r->s = memcpy(r->store, chars, length + 1);
        r->link.hl.hash = hash_of(chars);
        dict_insert(strings, r);
        strings->data->here = &r->link; /* where it was last */
    }
    r->refcnt++;
    return r->s;
}

/* seq 0: the whole graph. */
static Agraph *graph_make(Agraph *parent, unsigned seq)
{
    Agraph *g = PUT(Agraph);
    g->root = parent ? parent : g;
    g->parent = parent;
    g->n_seq = dict_make(SUB_SEQ, DT_OSET);
    g->n_id = dict_make(SUB_ID, DT_OSET);
    g->e_seq = dict_make(parent ? HOLD : EDGE_SEQ, DT_OSET);
    g->g_dict = dict_make(GRAPH, DT_OSET);
    g->clos = parent ? parent->clos : PUT(Agclos);
    if (!parent)
        g->clos->strdict = dict_make(STRING, DT_SET);
    g->base.tag.id = (uintptr_t)string_make(g, parent ? "part" : "G");
    if (parent) {
        g->base.tag.seq = seq & 0xFFFF;
        dict_insert(parent->g_dict, g);
    }
    return g;
}

static Dict *symbols_make(Agraph *g)
{
    static const char *const names[SYMBOLS] = { "colour", "area", "shape" },
                             *const values[SYMBOLS] = { "black", "1", "box" };
    Dict *d = dict_make(SYM, DT_OSET);
    int i;
    for (i = 0; i < SYMBOLS; i++) {
        Agsym *s = PUT(Agsym);
        s->name = string_make(g, names[i]);
        s->defval = string_make(g, values[i]);
        s->id = i;
        dict_insert(d, s);
    }
    return d;
}

static Agrec *records_make(Agraph *g, Dict *symbols_of, int number)
{
    Agattr *attr = PUT(Agattr);
    position *p = PUT(position);
    attr->h.name = string_make(g, "_AG_strdata");
    attr->h.next = &p->h;
    attr->dict = symbols_of;
    attr->str = PUT_ARRAY(char *, SYMBOLS);
    attr->str[0] = string_make(g, number % 3 ? "black" : "red");
    attr->str[1] = string_make(g, "1");
    attr->str[2] = string_make(g, "box");
    p->h.name = string_make(g, "position");
    p->h.next = &attr->h;
    p->x = number;
    return number % 2 ? &attr->h : &p->h;
}

static char *node_name(char *room, int number)
{
    snprintf(room, 16, "node-%d", number);
    return room;
}

/* Every tenth has no name. */
static Agnode *node_make(Agraph *g, Dict *symbols_of, int number)
{
    char name[16];
    Agnode *n = PUT(Agnode);
    n->base.tag.objtype = AGNODE;
    n->base.tag.seq = (unsigned)number & 0xFFFF;
    n->base.tag.id = number % 10 == 9 ? (uintptr_t)(2 * number + 1)
                                      : (uintptr_t)string_make(g, node_name(name, number));
    n->base.data = records_make(g, symbols_of, number);
    n->root = g;
    n->mainsub.node = n;
    dict_insert(g->n_seq, &n->mainsub);
    dict_insert(g->n_id, &n->mainsub);
    return n;
}

static Agsubnode *subnode_make(Agraph *g, Agnode *n)
{
    Agsubnode *s = PUT(Agsubnode);
    s->node = n;
    dict_insert(g->n_seq, s);
    dict_insert(g->n_id, s);
    return s;
}

static void half_insert(Agedge *half, Dtlink **seq, Dtlink **id)
{
    *tree_find(seq, &discipline[EDGE_SEQ], half) = &half->seq_link;
    *tree_find(id, &discipline[EDGE_ID], half) = &half->id_link;
}

static Agedgepair *edge_make(Agraph *g, Agnode *tail, Agnode *head)
{
    Agedgepair *p = PUT(Agedgepair);
    p->out.base.tag.objtype = AGOUTEDGE;
    p->in.base.tag.objtype = AGINEDGE;
    p->out.base.tag.seq = p->in.base.tag.seq = ++g->clos->seq[2] * 7919 & 0xFFFF;
    p->out.base.tag.id = p->in.base.tag.id = 2 * (uintptr_t)(g->clos->seq[2] * 3571 & 0xFFFF) + 1;
    p->out.node = head;
    p->in.node = tail;
    half_insert(&p->out, &tail->mainsub.out_seq, &tail->mainsub.out_id);
    half_insert(&p->in, &head->mainsub.in_seq, &head->mainsub.in_id);
    return p;
}

static void hold_make(Dtlink **tree, Agedge *half)
{
    Dthold *h = PUT(Dthold);
    h->obj = half;
    *tree_find(tree, &discipline[HOLD], h) = &h->hdr;
}

static int head_of(int number, int k)
{
    return (number * 5 + k * 17 + 1) % NODES;
}

static Agraph *cgraph_make(void)
{
    static Agnode *node[NODES];
    static Agsubnode *sub[NODES];
    Agraph *g = graph_make(NULL, 0), *part = graph_make(g, 2);
    Dict *symbols_of = symbols_make(g);
    int i, k;
    graph_make(g, 1), graph_make(g, 3);
    for (i = 0; i < NODES; i++)
        node[i * 37 % NODES] = node_make(g, symbols_of, i * 37 % NODES);
    for (i = 0; i < NODES; i += IN_PART)
        sub[i] = subnode_make(part, node[i]);
    for (i = 0; i < NODES; i++)
        for (k = 0; k < OUT; k++) {
            Agedgepair *p = edge_make(g, node[i], node[head_of(i, k)]);
            if (i % IN_PART == 0 && head_of(i, k) % IN_PART == 0) {
                hold_make(&sub[i]->out_seq, &p->out);
                hold_make(&sub[head_of(i, k)]->in_seq, &p->in);
            }
        }
    return g;
}

/* What is seen of a node: its colour, and the sums of the numbers of those that its edges lead to
 * and come from; the same of those in the subgraph. */
static uint64_t cgraph_foresee(void)
{
    static uint64_t to[NODES], from[NODES], to_part[NODES], from_part[NODES];
    uint64_t seen = 0;
    int i, k;
    memset(to, 0, sizeof to), memset(from, 0, sizeof from);
    memset(to_part, 0, sizeof to_part), memset(from_part, 0, sizeof from_part);
    for (i = 0; i < NODES; i++)
        for (k = 0; k < OUT; k++) {
            int head = head_of(i, k);
            to[i] += (uint64_t)head;
            from[head] += (uint64_t)i;
            if (i % IN_PART == 0 && head % IN_PART == 0) {
                to_part[i] += (uint64_t)head;
                from_part[head] += (uint64_t)i;
            }
        }
    for (i = 0; i < NODES; i++) {
        if (i % 10 == 9)
            continue;
        see_text(&seen, i % 3 ? "black" : "red");
        see(&seen, to[i]), see(&seen, from[i]);
        see(&seen, to[i]), see(&seen, from[i]);
        if (i % IN_PART == 0)
            see(&seen, to_part[i]), see(&seen, from_part[i]);
    }
    return seen;
}

/* ---- The walk. */

static Agrec *record_of(Agobj *object, const char *name)
{
    Agrec *r = object->data;
    while (strcmp(r->name, name) != 0)
        r = r->next;
    return r;
}

static const char *attribute(Agnode *n, const char *name)
{
    Agattr *attr = (Agattr *)(void *)record_of(&n->base, "_AG_strdata");
    Agsym key, *s;
    key.name = (char *)(uintptr_t)name;
    s = attr->dict->searchf(attr->dict, &key, 0);
    return s ? attr->str[s->id] : "";
}

/* By its name's string, which is looked for by its characters, and then by the address of that. */
static Agsubnode *node_called(Agraph *g, const char *name)
{
    refstr key, *r;
    Agnode node;
    key.s = (char *)(uintptr_t)name;
    r = g->clos->strdict->searchf(g->clos->strdict, &key, 0);
    node.base.tag.id = (uintptr_t)r->s;
    node.mainsub.node = &node;
    return g->n_id->searchf(g->n_id, &node.mainsub, 0);
}

/* The sum of the numbers at the other ends. `link`: where it is in the elements; is_hold: which
 * hold the edges. */
static uint64_t ends_of(Dtlink *tree, size_t link, int is_hold)
{
    Dtlink *stack[4 * NODES];
    size_t depth = 0;
    uint64_t sum = 0;
    if (tree)
        stack[depth++] = tree;
    while (depth > 0) {
        Dtlink *at = stack[--depth];
        Agedge *e = (Agedge *)(void *)((char *)at - link);
        if (is_hold)
            e = ((Dthold *)(void *)at)->obj;
        sum += e->node->base.tag.seq;
        e->base.tag.mtflock = 1;
        if (at->right)
            stack[depth++] = at->right;
        if (at->hl.left)
            stack[depth++] = at->hl.left;
    }
    return sum;
}

static void cgraph_walk(void *argument)
{
    visit *v = argument;
    Agraph *g = v->root,
           *part = (Agraph *)(void *)((char *)g->g_dict->data->here - offsetof(Agraph, link));
    char name[16];
    int i;
    for (i = 0; i < NODES; i++) {
        Agsubnode *s = i % 10 == 9 ? NULL : node_called(g, node_name(name, i)), *in_part;
        if (!s)
            continue;
        see_text(&v->seen, attribute(s->node, "colour"));
        see(&v->seen, ends_of(s->out_seq, offsetof(Agedge, seq_link), 0));
        see(&v->seen, ends_of(s->in_seq, offsetof(Agedge, seq_link), 0));
        see(&v->seen, ends_of(s->out_id, offsetof(Agedge, id_link), 0));
        see(&v->seen, ends_of(s->in_id, offsetof(Agedge, id_link), 0));
        in_part = part->n_seq->searchf(part->n_seq, s, 0);
        if (in_part) {
            see(&v->seen, ends_of(in_part->out_seq, 0, 1));
            see(&v->seen, ends_of(in_part->in_seq, 0, 1));
        }
        ((position *)(void *)record_of(&s->node->base, "position"))->y = i;
    }
}

TEST(structures_graphviz,
     cgraph_nodes_are_found_there_by_their_names_with_their_edges_in_the_graph_and_in_its_part)
{
    journey j = { .walk = cgraph_walk };
    site_start(97);
    graph_open(1);
    j.root = cgraph_make();
    j.type = Agraph_type;
    j.seen = cgraph_foresee();
    travel(&j);
    graph_close();
    site_end();
}

TEST(structures_graphviz,
     cgraph_numbers_of_objects_that_are_addresses_of_their_names_are_told_by_an_audit)
{
    char path[32];
    snprintf(path, sizeof path, "root.base.tag+%d", (int)offsetof(Agtag, id));
    site_start(97);
    graph_open(0);
    audit_tells(cgraph_make(), Agraph_type, 1, HAUL_AUDIT_HIDDEN_POINTER, path,
                "no field describes this pointer");
    graph_close();
    site_end();
}
