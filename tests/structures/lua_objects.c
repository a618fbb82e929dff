/* Structures of Lua: objects of many kinds on one list, each with its tag behind the link (POLY);
 * and tables without a hash part, which all lead to one static node (STAT).
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "support/types.h"

enum { VNIL = 0, VNUMINT = 3, VNUMFLT = 19, COLLECTABLE = 64 };
enum { VSHRSTR = 4, VTABLE = 5, VLCL = 6, VUSERDATA = 7, VUPVAL = 9, VPROTO = 10, VLNGSTR = 20 };

#define CommonHeader                                                                               \
    GCObject *next;                                                                                \
    uint8_t tt, marked

typedef struct GCObject GCObject;
struct GCObject {
    CommonHeader;
};

typedef union Value {
    GCObject *gc;
    int64_t i;
    double n;
} Value;

typedef struct TValue {
    Value value_;
    uint8_t tt_;
} TValue;

typedef struct TString {
    CommonHeader;
    uint8_t extra, shrlen;
    unsigned hash;
    union {
        size_t lnglen;         /* of a long string */
        struct TString *hnext; /* of a short one: the next in the table of strings */
    } u;
    char contents[1];
} TString;

typedef struct Node {
    TValue value;
    uint8_t key_tt;
    int next;
    Value key_val;
} Node;

typedef struct Table {
    CommonHeader;
    uint8_t flags, lsizenode;
    unsigned alimit;
    TValue *array;
    Node *node;     /* dummynode where there is none */
    Node *lastfree; /* any free place is before it; NULL: node is dummynode */
    struct Table *metatable;
    GCObject *gclist; /* the collector's own */
} Table;

typedef struct Udata {
    CommonHeader;
    unsigned short nuvalue;
    size_t len;
    Table *metatable;
    int64_t bytes[1];
} Udata;

typedef struct UpVal {
    CommonHeader;
    TValue *v; /* closed: its own value */
    TValue value;
} UpVal;

typedef struct Proto {
    CommonHeader;
    int sizek, sizecode, sizep, linedefined;
    TValue *k;
    uint32_t *code;
    struct Proto **p;
    TString *source;
} Proto;

typedef struct LClosure {
    CommonHeader;
    uint8_t nupvalues;
    Proto *p;
    UpVal *upvals[1];
} LClosure;

typedef struct global_State {
    GCObject *allgc;
    TString **strt;
    int nuse, size;
    TValue l_registry;
} global_State;

static const Node dummynode = { { { NULL }, VNIL }, VNIL, 0, { NULL } };

static haul_type *TValue_type, *TString_type, *Node_type, *Table_type, *Udata_type, *UpVal_type,
    *Proto_type, *LClosure_type, *upvalue_type, *state_type;
static test_static dummy_range;

HAUL_FUNCTION(string_bytes, TString,
              (self->tt == VSHRSTR ? self->shrlen : (int64_t)self->u.lnglen) + 1)
HAUL_FUNCTION(nodes_of, Table, (int64_t)1 << self->lsizenode)
HAUL_FUNCTION(words_of, Udata, (int64_t)(self->len / sizeof(int64_t)))

static const haul_case all_cases[] = {
    { VSHRSTR, &TString_type, 0 }, { VLNGSTR, &TString_type, 0 }, { VTABLE, &Table_type, 0 },
    { VLCL, &LClosure_type, 0 },   { VUSERDATA, &Udata_type, 0 }, { VPROTO, &Proto_type, 0 },
    { VUPVAL, &UpVal_type, 0 },
};

enum { CASES = COUNT_OF(all_cases) };

static haul_case object_cases[CASES];

/* Any object: of the type that its tag says. */
static haul_field any_object(haul_field field)
{
    static const haul_switch by_tag = HAUL_SWITCH_TARGET(GCObject, tt, object_cases);
    field.type_switch = by_tag;
    field.type_switch.case_count = object_cases[CASES - 1].type ? CASES : CASES - 1;
    return field;
}

/* A type that begins with the common header. */
static haul_type *object_open(const char *name, size_t bytes, const haul_field *rows, size_t count)
{
    const haul_field link = any_object((haul_field)HAUL_ADDRESS(GCObject, next));
    haul_type *type = type_open(name, bytes, &link, 1);
    CHECK_STATUS(haul_type_add(type, rows, count), HAUL_OK);
    return type;
}

#define OPEN_OBJECT(S, fields) object_open(#S, sizeof(S), fields, COUNT_OF(fields))

static void values_open(void)
{
    const haul_field value_fields[] = { any_object((haul_field)HAUL_ADDRESS(
        TValue, value_.gc, .when = HAUL_ANY_BIT(TValue, tt_, COLLECTABLE), .else_raw = 1)) };
    const haul_field node_fields[] = {
        HAUL_EMBED(Node, value, &TValue_type),
        any_object((haul_field)HAUL_ADDRESS(
            Node, key_val.gc, .when = HAUL_ANY_BIT(Node, key_tt, COLLECTABLE), .else_raw = 1))
    };
    TValue_type = OPEN(TValue, value_fields);
    Node_type = OPEN(Node, node_fields);
}

static void table_open(haul_ownership ownership, int maybe_static)
{
    const haul_field fields[] = {
        HAUL_OBJECTS(Table, array, &TValue_type, HAUL_COUNT(Table, alimit)),
        HAUL_OBJECTS(Table, node, &Node_type, HAUL_COUNT_FN(nodes_of), .ownership = ownership,
                     .maybe_static = maybe_static),
        HAUL_OBJECT(Table, lastfree, &Node_type, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(Table, metatable, &Table_type),
        HAUL_SKIP(Table, gclist),
    };
    Table_type = OPEN_OBJECT(Table, fields);
}

static void objects_open(void)
{
    static const haul_count one = HAUL_ONE;
    const haul_field string_fields[] = {
        HAUL_OBJECT(TString, u.hnext, &TString_type, .when = HAUL_EQUALS(TString, tt, VSHRSTR)),
        HAUL_RAW(TString, u.lnglen, .when = HAUL_EQUALS(TString, tt, VLNGSTR)),
        HAUL_TAIL(TString, contents, HAUL_COUNT_FN(string_bytes))
    };
    const haul_field udata_fields[] = { HAUL_OBJECT(Udata, metatable, &Table_type),
                                        HAUL_TAIL(Udata, bytes, HAUL_COUNT_FN(words_of)) };
    const haul_field upval_fields[] = { HAUL_OBJECT(UpVal, v, &TValue_type),
                                        HAUL_EMBED(UpVal, value, &TValue_type) };
    const haul_field proto_fields[] = {
        HAUL_OBJECTS(Proto, k, &TValue_type, HAUL_COUNT(Proto, sizek)),
        HAUL_ARRAY(Proto, code, HAUL_COUNT(Proto, sizecode)),
        HAUL_POINTERS(Proto, p, &Proto_type, HAUL_COUNT(Proto, sizep)),
        HAUL_ADDRESS(Proto, source, .target = &TString_type)
    };
    const haul_field closure_fields[] = {
        HAUL_OBJECT(LClosure, p, &Proto_type),
        HAUL_TAIL(LClosure, upvals, HAUL_COUNT(LClosure, nupvalues), .target = &upvalue_type)
    };
    CHECK_STATUS(haul_type_pointer(type_context(), "upvalue", &UpVal_type, 0, one, &upvalue_type),
                 HAUL_OK);
    TString_type = OPEN_OBJECT(TString, string_fields);
    Udata_type = OPEN_OBJECT(Udata, udata_fields);
    UpVal_type = OPEN_OBJECT(UpVal, upval_fields);
    Proto_type = OPEN_OBJECT(Proto, proto_fields);
    LClosure_type = OPEN_OBJECT(LClosure, closure_fields);
}

static void lua_types(haul_ownership ownership, int maybe_static)
{
    haul_field state_fields[] = {
        any_object((haul_field)HAUL_ADDRESS(global_State, allgc)),
        HAUL_POINTERS(global_State, strt, &TString_type, HAUL_COUNT(global_State, size)),
        HAUL_EMBED(global_State, l_registry, &TValue_type),
    };
    state_fields[1].element_bytes = 0; /* strings have no fixed size */
    values_open();
    table_open(ownership, maybe_static);
    objects_open();
    state_type = OPEN(global_State, state_fields);
    type_close(state_type);
}

/* `ownership` and `maybe_static`: of the nodes of tables. `as_upvalue`: the type of the last case;
 * NULL: there is no such case. */
static void lua_open(haul_static_policy policy, haul_ownership ownership, int maybe_static,
                     haul_type *const *as_upvalue)
{
    memcpy(object_cases, all_cases, sizeof object_cases);
    object_cases[CASES - 1].type = as_upvalue;
    lua_types(ownership, maybe_static);
    dummy_range.address = &dummynode;
    dummy_range.bytes = sizeof dummynode;
    dummy_range.policy = policy;
    the.known.statics = &dummy_range;
    the.known.static_count = 1;
}

static void lua_close(void)
{
    haul_type **all[] = { &TValue_type, &TString_type, &Node_type,     &Table_type,   &Udata_type,
                          &UpVal_type,  &Proto_type,   &LClosure_type, &upvalue_type, &state_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

/* ---- A heap of 5000 objects, each of which can be asked for its number. */

enum { OBJECTS = 1500, STRINGS = 256 };

typedef struct heap {
    int kind[OBJECTS];
    unsigned to[OBJECTS]; /* another object, that it leads to */
    void *at[OBJECTS];
    global_State *state;
} heap;

static heap lua;

static void *new_object(int kind, size_t bytes)
{
    GCObject *o = put(bytes, sizeof(void *));
    o->tt = (uint8_t)kind;
    o->next = lua.state->allgc;
    lua.state->allgc = o;
    return o;
}

/* In place: an assignment might bring along whatever stands in the padding of a temporary. */
static void set_object(TValue *v, void *object)
{
    v->value_.gc = object;
    v->tt_ = (uint8_t)(v->value_.gc->tt | COLLECTABLE);
}

static void set_integer(TValue *v, int64_t i)
{
    v->value_.i = i;
    v->tt_ = VNUMINT;
}

static size_t length_of(unsigned n)
{
    return lua.kind[n] == VSHRSTR ? n % 41 : 41 + n % 300;
}

static TString *string_make(unsigned n)
{
    size_t length = length_of(n), i;
    TString *s = new_object(lua.kind[n], offsetof(TString, contents) + length + 1);
    s->hash = n;
    for (i = 0; i < length; i++)
        s->contents[i] = (char)('a' + n % 26);
    if (lua.kind[n] == VLNGSTR) {
        s->u.lnglen = length;
        return s;
    }
    s->shrlen = (uint8_t)length;
    s->u.hnext = lua.state->strt[n % STRINGS];
    lua.state->strt[n % STRINGS] = s;
    lua.state->nuse++;
    return s;
}

static UpVal *upvalue_make(void)
{
    UpVal *u = new_object(VUPVAL, sizeof *u);
    u->v = &u->value;
    return u;
}

static void *object_make(unsigned n)
{
    Udata *u;
    switch (lua.kind[n]) {
    case VTABLE:
        return new_object(VTABLE, sizeof(Table));
    case VLCL:
        return new_object(VLCL, offsetof(LClosure, upvals) + 2 * sizeof(UpVal *));
    case VPROTO:
        return new_object(VPROTO, sizeof(Proto));
    case VUSERDATA:
        u = new_object(VUSERDATA, offsetof(Udata, bytes) + (1 + n % 5) * sizeof(int64_t));
        u->len = (1 + n % 5) * sizeof(int64_t);
        u->bytes[0] = n;
        return u;
    default:
        return string_make(n);
    }
}

static void *other_of(unsigned n, int kind)
{
    unsigned m = lua.to[n];
    while (lua.kind[m] != kind)
        m = (m + 1) % OBJECTS;
    return lua.at[m];
}

static void table_fill(Table *t, unsigned n)
{
    static const double half = 0.5;
    t->alimit = 3 + n % 6;
    t->array = PUT_ARRAY(TValue, t->alimit);
    set_integer(&t->array[0], n);
    set_object(&t->array[1], lua.at[lua.to[n]]);
    t->array[2].tt_ = VNUMFLT;
    t->array[2].value_.n = n + half;
    t->metatable = n % 4 ? other_of(n, VTABLE) : NULL;
    t->gclist = (GCObject *)(void *)t;
    t->node = (Node *)(uintptr_t)&dummynode;
    if (n % 2 == 0)
        return;
    t->lsizenode = 2;
    t->node = PUT_ARRAY(Node, 4);
    t->lastfree = t->node + 4;
    set_object(&t->node[n % 4].value, lua.at[lua.to[n]]);
    t->node[n % 4].key_val.gc = other_of(n, VSHRSTR);
    t->node[n % 4].key_tt = VSHRSTR | COLLECTABLE;
}

static void proto_fill(Proto *p, unsigned n)
{
    p->linedefined = (int)n;
    p->sizek = (int)(n % 7) + 1;
    p->k = PUT_ARRAY(TValue, p->sizek);
    set_object(&p->k[0], lua.at[lua.to[n]]);
    p->sizecode = (int)(n % 100) + 1;
    p->code = PUT_ARRAY(uint32_t, p->sizecode);
    p->code[p->sizecode - 1] = n;
    p->sizep = 1;
    p->p = PUT_ARRAY(Proto *, 1);
    p->p[0] = other_of(n, VPROTO);
    p->source = other_of(n, VSHRSTR);
}

static void object_fill(unsigned n)
{
    LClosure *c = lua.at[n];
    switch (lua.kind[n]) {
    case VTABLE:
        table_fill(lua.at[n], n);
        break;
    case VPROTO:
        proto_fill(lua.at[n], n);
        break;
    case VUSERDATA:
        ((Udata *)lua.at[n])->metatable = other_of(n, VTABLE);
        break;
    case VLCL:
        c->nupvalues = 2;
        c->p = other_of(n, VPROTO);
        c->upvals[0] = upvalue_make();
        set_integer(c->upvals[0]->v, n);
        c->upvals[1] = upvalue_make();
        set_object(c->upvals[1]->v, lua.at[lua.to[n]]);
        break;
    default:
        break;
    }
}

/* What is seen of object n. */
static uint64_t expected_of(unsigned n)
{
    uint64_t seen = 0;
    int kind = lua.kind[n];
    see(&seen, (uint64_t)kind);
    see(&seen, n);
    if (kind == VTABLE || kind == VLCL || kind == VPROTO)
        see(&seen, lua.to[n]);
    if (kind == VSHRSTR || kind == VLNGSTR)
        see(&seen, length_of(n));
    return seen;
}

/* Sums, so that the order of upvalues among the others does not matter. */
static global_State *heap_make(uint64_t *seen)
{
    static const int kinds[] = {
        VSHRSTR, VSHRSTR, VLNGSTR, VTABLE, VTABLE, VLCL, VUSERDATA, VPROTO
    };
    unsigned n;
    lua.state = PUT(global_State);
    lua.state->size = STRINGS;
    lua.state->strt = PUT_ARRAY(TString *, STRINGS);
    for (n = 0; n < OBJECTS; n++) {
        lua.kind[n] = kinds[random_below(&the.random, COUNT_OF(kinds))];
        lua.to[n] = (unsigned)random_below(&the.random, OBJECTS);
        lua.at[n] = object_make(n);
        *seen += expected_of(n);
    }
    for (n = 0; n < OBJECTS; n++)
        object_fill(n);
    set_object(&lua.state->l_registry, other_of(0, VTABLE));
    return lua.state;
}

/* ---- On the device. */

static uint64_t number_of(const GCObject *o)
{
    switch (o->tt) {
    case VTABLE:
        return (uint64_t)((const Table *)(const void *)o)->array[0].value_.i;
    case VLCL:
        return (uint64_t)((const LClosure *)(const void *)o)->upvals[0]->v->value_.i;
    case VPROTO:
        return (uint64_t)((const Proto *)(const void *)o)->linedefined;
    case VUSERDATA:
        return (uint64_t)((const Udata *)(const void *)o)->bytes[0];
    default:
        return ((const TString *)(const void *)o)->hash;
    }
}

static void see_other(uint64_t *seen, const TValue *v)
{
    see(seen, v->tt_ == (v->value_.gc->tt | COLLECTABLE) ? number_of(v->value_.gc) : 0);
}

static void see_object(GCObject *o, uint64_t *all)
{
    uint64_t seen = 0;
    if (o->tt == VUPVAL)
        return;
    see(&seen, o->tt);
    see(&seen, number_of(o));
    if (o->tt == VTABLE)
        see_other(&seen, &((Table *)(void *)o)->array[1]);
    if (o->tt == VLCL)
        see_other(&seen, ((LClosure *)(void *)o)->upvals[1]->v);
    if (o->tt == VPROTO)
        see_other(&seen, &((Proto *)(void *)o)->k[0]);
    if (o->tt == VSHRSTR || o->tt == VLNGSTR)
        see(&seen, strlen(((TString *)(void *)o)->contents));
    *all += seen;
}

/* Changes nothing that numbers are read from. */
static void change_object(GCObject *o)
{
    Table *t = (Table *)(void *)o;
    o->marked++;
    if (o->tt == VTABLE && t->alimit > 3)
        set_integer(&t->array[3], t->metatable ? t->metatable->alimit : 0);
    if (o->tt == VTABLE)
        t->array[2].value_.n *= 2;
    if (o->tt == VLNGSTR)
        ((TString *)(void *)o)->contents[7] = '!';
}

static void heap_walk(void *argument)
{
    visit *v = argument;
    global_State *g = v->root;
    GCObject *o;
    for (o = g->allgc; o; o = o->next)
        see_object(o, &v->seen);
    for (o = g->allgc; o; o = o->next)
        change_object(o);
}

TEST(structures_lua, objects_of_seven_kinds_on_one_list_are_each_of_the_kind_that_their_tag_says)
{
    journey j = { .walk = heap_walk };
    site_start(21);
    lua_open(HAUL_STATIC_KEEP, HAUL_OWNED, 1, &UpVal_type);
    j.root = heap_make(&j.seen);
    j.type = state_type;
    the.lets_change = 1; /* a value of a table that was nil becomes a number */
    travel(&j);
    lua_close();
    site_end();
}

TEST(structures_lua, a_kind_without_a_case_or_with_that_of_a_longer_one_is_refused)
{
    uint64_t seen = 0;
    global_State *g;
    site_start(21);
    g = heap_make(&seen);
    g->allgc = (GCObject *)(void *)upvalue_make();
    lua_open(HAUL_STATIC_KEEP, HAUL_OWNED, 1, NULL);
    refuse_graph(g, state_type, HAUL_ERROR_GRAPH, "root.allgc", "",
                 "its `.type_switch` has no case for 9");
    lua_close();
    lua_open(HAUL_STATIC_KEEP, HAUL_OWNED, 1, &Table_type);
    refuse_graph(g, state_type, HAUL_ERROR_GRAPH, "root.allgc", "",
                 "the range it leads to is not readable");
    lua_close();
    site_end();
}

/* ---- STAT. */

/* Every empty table leads to one node, which is nobody's key; `seen` tells where that is: here,
 * there, or nowhere. */
static void dummies_walk(void *argument)
{
    visit *v = argument;
    const Node *dummy = NULL;
    GCObject *o;
    for (o = ((global_State *)v->root)->allgc; o; o = o->next) {
        const Table *t = (const Table *)(const void *)o;
        if (o->tt != VTABLE || t->lastfree)
            continue;
        if (dummy && t->node != dummy)
            see(&v->seen, 1);
        dummy = t->node;
        o->marked++;
    }
    see(&v->seen, dummy == &dummynode ? 10 : dummy ? 11 + dummy->key_tt : 12);
}

static void go_with_dummies(haul_static_policy policy, uint64_t where)
{
    journey j = { .walk = dummies_walk };
    uint64_t seen = 0;
    site_start(25);
    lua_open(policy, HAUL_OWNED, 1, &UpVal_type);
    j.root = heap_make(&seen);
    j.type = state_type;
    see(&j.seen, where);
    travel(&j);
    lua_close();
    site_end();
}

TEST(structures_lua, the_node_of_all_empty_tables_is_kept_or_copied_once_or_null_as_its_range_says)
{
    go_with_dummies(HAUL_STATIC_KEEP, 10);
    go_with_dummies(HAUL_STATIC_COPY, 11);
    go_with_dummies(HAUL_STATIC_NULL, 12);
}

TEST(structures_lua,
     a_static_node_that_is_not_registered_or_that_is_taken_for_an_own_one_is_refused)
{
    uint64_t seen = 0;
    global_State *g;
    Table *t;
    site_start(25);
    g = heap_make(&seen);
    t = new_object(VTABLE, sizeof *t);
    t->node = (Node *)(uintptr_t)&dummynode;
    g->allgc = (GCObject *)(void *)t;
    lua_open(HAUL_STATIC_KEEP, HAUL_OWNED, 0, &UpVal_type);
    the.known.static_count = 0;
    refuse_graph(g, state_type, HAUL_ERROR_GRAPH, "root.allgc.node", "",
                 "the range it leads to is not readable");
    lua_close();
    lua_open(HAUL_STATIC_KEEP, HAUL_BORROWED, 1, &UpVal_type);
    the.known.static_count = 0;
    refuse_graph(g, state_type, HAUL_ERROR_GRAPH, "root.allgc.node", "",
                 "nor into a registered static range");
    lua_close();
    site_end();
}
