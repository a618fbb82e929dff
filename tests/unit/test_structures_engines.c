/* What engines keep between two steps: zlib's inflate_state (CNT, EXPR, BACK, SELF, COND, STAT,
 * FUNC), and SQLite's windows over a query (CAP, TERM, SHARE, BACK, PP, COND, STAT, FUNC; its
 * expressions and lists are in test_structures_headers.c).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"
#include "support/open.h"

/* ---- inflate_state. The tables in use are parts of its own codes, or constant ones for fixed
 * blocks; next leads to the first code that is free. The window has 1 << wbits bytes, whatever
 * wsize says, and comes when it is first needed. */

enum {
    ENOUGH = 1444,
    LENGTH_BITS = 9,
    FIXED_LENGTHS = 512,
    FIXED_DISTANCES = 32,
    STREAMS = 30,
    HELD = 64
};

typedef struct code {
    uint8_t op, bits;
    uint16_t val;
} code;

typedef struct inflate_state inflate_state;

typedef struct z_stream {
    const uint8_t *next_in;
    unsigned avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    inflate_state *state;
    void *(*zalloc)(void *, unsigned, unsigned);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler, reserved;
} z_stream;

struct inflate_state {
    z_stream *strm;
    int mode, last, wrap, havedict, flags;
    unsigned dmax;
    unsigned long check, total;
    void *head; /* the user's, of a gzip header */
    unsigned wbits, wsize, whave, wnext;
    uint8_t *window;
    unsigned long hold;
    unsigned bits, length, offset, extra;
    const code *lencode, *distcode;
    unsigned lenbits, distbits, ncode, nlen, ndist, have;
    code *next;
    uint16_t lens[320], work[288];
    code codes[ENOUGH];
    int sane, back;
    unsigned was;
};

/* One past the end of a registered table is still in it: so they do not lie side by side. */
static const struct {
    code lengths[FIXED_LENGTHS];
    code gap[16];
    code distances[FIXED_DISTANCES];
} fixed = { { { 96, 7, 0 }, { 0, 8, 80 } }, { { 0, 0, 0 } }, { { 16, 5, 1 }, { 23, 5, 257 } } };
static const char message[] = "invalid distance too far back";
static const test_static inflate_statics[] = {
    { fixed.lengths, sizeof fixed.lengths, HAUL_STATIC_KEEP },
    { fixed.distances, sizeof fixed.distances, HAUL_STATIC_KEEP },
    { message, sizeof message, HAUL_STATIC_KEEP }
};
static haul_type *stream_type, *state_type;

HAUL_FUNCTION(window_bytes, inflate_state, (int64_t)1 << self->wbits)

static void inflate_open(size_t statics)
{
#define OWN_OR_CONSTANT .ownership = HAUL_BORROWED, .maybe_static = 1
    static const haul_field stream_fields[] = {
        HAUL_ARRAY(z_stream, next_in, HAUL_COUNT(z_stream, avail_in)),
        HAUL_ARRAY(z_stream, next_out, HAUL_COUNT(z_stream, avail_out)),
        HAUL_ADDRESS(z_stream, msg, OWN_OR_CONSTANT),
        HAUL_OBJECT(z_stream, state, &state_type),
        HAUL_ADDRESS(z_stream, zalloc, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(z_stream, zfree, .ownership = HAUL_EXTERNAL),
        HAUL_RAW(z_stream, opaque),
    };
    static const haul_field state_fields[] = {
        HAUL_OBJECT(inflate_state, strm, &stream_type),
        HAUL_RAW(inflate_state, head),
        HAUL_ARRAY(inflate_state, window, HAUL_COUNT_FN(window_bytes)),
        HAUL_ADDRESS(inflate_state, lencode, OWN_OR_CONSTANT),
        HAUL_ADDRESS(inflate_state, distcode, OWN_OR_CONSTANT),
        HAUL_ADDRESS(inflate_state, next, .ownership = HAUL_BORROWED),
    };
    yard.known.statics = inflate_statics;
    yard.known.static_count = statics;
    stream_type = YARD_TYPE(z_stream, stream_fields);
    state_type = YARD_TYPE(inflate_state, state_fields);
    yard_commit(stream_type);
}

static void *zalloc(void *opaque, unsigned items, unsigned size)
{
    (void)opaque;
    (void)items;
    (void)size;
    return NULL;
}

static void zfree(void *opaque, void *block)
{
    (void)opaque;
    (void)block;
}

/* Tables of 2^9 lengths and 2^6 distances in its own codes. */
static void tables_make(inflate_state *s)
{
    int i;
    s->lencode = s->codes;
    s->lenbits = LENGTH_BITS;
    s->distcode = s->codes + (1 << LENGTH_BITS);
    s->distbits = 6;
    s->next = s->codes + (1 << LENGTH_BITS) + (1 << 6);
    for (i = 0; i < (1 << LENGTH_BITS) + (1 << 6); i++) {
        s->codes[i].bits = 8;
        s->codes[i].val = (uint16_t)yard_int(0, 255);
    }
}

static z_stream *streams_make(void)
{
    z_stream *all = yard_take(STREAMS, sizeof *all);
    int i, k;
    for (i = 0; i < STREAMS; i++) {
        z_stream *z = &all[i];
        inflate_state *s = z->state = yard_take(1, sizeof *s);
        uint8_t *in = yard_take(HELD, 1);
        z->next_in = in;
        z->avail_in = HELD;
        z->next_out = yard_take(HELD, 1);
        z->avail_out = HELD;
        z->zalloc = zalloc;
        z->zfree = zfree;
        z->msg = i == 5 ? message : NULL;
        s->strm = z;
        s->wbits = 8 + (unsigned)i % 8;
        s->window = i % 3 ? yard_take((size_t)1 << s->wbits, 1) : NULL;
        s->next = s->codes;
        s->lencode = fixed.lengths;
        s->lenbits = 9;
        s->distcode = fixed.distances;
        s->distbits = 5;
        if (i % 2)
            tables_make(s);
        for (k = 0; k < HELD; k++) {
            in[k] = (uint8_t)yard_int(0, 63); /* no four of which look like an address */
            yard.told += s->lencode[in[k]].val + (int64_t)s->distcode[in[k] % FIXED_DISTANCES].val;
        }
    }
    return all;
}

/* A symbol for each byte, into the output and the window. */
static int64_t streams_walk(void *root, size_t count)
{
    z_stream *z = root;
    int64_t sum = 0;
    size_t i;
    for (i = 0; i < count; i++, z++) {
        inflate_state *s = z->state;
        const int is_own = s->lencode == s->codes;
        if (s->strm != z || (!is_own && s->lencode != fixed.lengths) ||
            (is_own && s->next != s->distcode + (1 << 6)))
            return -1;
        for (; z->avail_in; z->avail_in--, z->avail_out--) {
            const uint8_t byte = z->next_in[HELD - z->avail_in];
            const uint16_t symbol = s->lencode[byte].val;
            sum += symbol + (int64_t)s->distcode[byte % FIXED_DISTANCES].val;
            z->next_out[HELD - z->avail_out] = (uint8_t)symbol;
            if (s->window)
                s->window[((1u << s->wbits) - HELD + z->total_out) % (1u << s->wbits)] =
                    (uint8_t)(symbol + 1);
            z->total_out++;
        }
        s->codes[ENOUGH - 1].val = 1;
    }
    return sum;
}

TEST(structures, zlib_inflate_states_with_tables_of_their_own_or_constant_ones)
{
    yard_open(1 << 20, 140);
    inflate_open(3);
    yard.lets_change = 1; /* avail_in and avail_out become less, as they do at home */
    yard_prove(streams_make(), stream_type, STREAMS, streams_walk);
    YARD_END(&stream_type, &state_type);
}

TEST(structures, zlib_a_constant_table_that_is_not_registered_is_refused)
{
    yard_open(1 << 20, 141);
    inflate_open(1);
    yard_refuse(streams_make(), stream_type, 1, HAUL_ERROR_GRAPH, "root.state.distcode",
                "nor into a registered static range");
    YARD_END(&stream_type, &state_type);
}

/* ---- SQLite. The windows of a query are a list that each can leave by ppThis, the pointer that
 * leads to it; each is also where the function call stands that it is for. Window functions are
 * constants of the library's, or the user's. */

enum { EP_WinFunc = 0x1000000, TK_FUNCTION = 172, TK_COLUMN = 167, CALLS = 200, QUERIES = 40 };

typedef struct Window Window;

typedef struct FuncDef {
    int nArg;
    unsigned funcFlags;
    struct FuncDef *pNext;
    int (*xSFunc)(int, int);
    const char *zName;
} FuncDef;

typedef struct Expr {
    uint8_t op;
    unsigned flags;
    const char *zToken;
    struct Expr *pLeft;
    union {
        int iTable;
        Window *pWin; /* of TK_FUNCTION with EP_WinFunc */
    } y;
} Expr;

typedef struct Select {
    Window *pWin, *pWinDefn;
    struct Select *pPrior, *pNext;
} Select;

struct Window {
    char *zName, *zBase;
    uint8_t eFrmType, eStart, eEnd;
    Expr *pStart, *pEnd;
    Window **ppThis; /* the pointer to this */
    Window *pNextWin;
    const FuncDef *pWFunc;
    Expr *pOwner;
    int regAccum;
};

typedef struct query {
    Select *last; /* of those that are combined */
    Expr **calls;
    int nCall, nAlloc;
    FuncDef *defined; /* by the user */
} query;

static haul_type *function_type, *call_type, *select_type, *window_type, *query_type;

static int add(int a, int b)
{
    return a + b;
}

static int subtract(int a, int b)
{
    return a - b;
}

static FuncDef built_in[] = { { 1, 0x10000, NULL, add, "sum" },
                              { 1, 0x10000, NULL, subtract, "lag" } };
static const test_static query_statics[] = { { built_in, sizeof built_in, HAUL_STATIC_KEEP } };

static void query_open(const haul_field *of_this)
{
    static const haul_field function_fields[] = {
        HAUL_OBJECT(FuncDef, pNext, &function_type),
        HAUL_ADDRESS(FuncDef, xSFunc, .ownership = HAUL_EXTERNAL), HAUL_STRING(FuncDef, zName)
    };
    static const haul_field call_fields[] = {
        HAUL_STRING(Expr, zToken), HAUL_OBJECT(Expr, pLeft, &call_type),
        HAUL_ADDRESS(Expr, y.pWin, .target = &window_type,
                     .when = HAUL_ANY_BIT(Expr, flags, EP_WinFunc)),
        HAUL_RAW(Expr, y.iTable, .when = HAUL_NO_BIT(Expr, flags, EP_WinFunc))
    };
    static const haul_field select_fields[] = { HAUL_OBJECT(Select, pWin, &window_type),
                                                HAUL_OBJECT(Select, pWinDefn, &window_type),
                                                HAUL_OBJECT(Select, pPrior, &select_type),
                                                HAUL_OBJECT(Select, pNext, &select_type) };
    static const haul_field window_fields[] = {
        HAUL_STRING(Window, zName),
        HAUL_STRING(Window, zBase),
        HAUL_OBJECT(Window, pStart, &call_type),
        HAUL_OBJECT(Window, pEnd, &call_type),
        HAUL_OBJECT(Window, pNextWin, &window_type),
        HAUL_ADDRESS(Window, pWFunc, .target = &function_type, .maybe_static = 1),
        HAUL_OBJECT(Window, pOwner, &call_type),
    };
    static const haul_field query_fields[] = { HAUL_OBJECT(query, last, &select_type),
                                               HAUL_POINTERS(query, calls, &call_type,
                                                             HAUL_COUNT(query, nCall)),
                                               HAUL_OBJECT(query, defined, &function_type) };
    yard.known.statics = query_statics;
    yard.known.static_count = 1;
    function_type = YARD_TYPE(FuncDef, function_fields);
    call_type = YARD_TYPE(Expr, call_fields);
    select_type = YARD_TYPE(Select, select_fields);
    window_type = YARD_TYPE(Window, window_fields);
    query_type = YARD_TYPE(query, query_fields);
    CHECK_STATUS(haul_type_add(window_type, of_this, 1), HAUL_OK);
    yard_commit(query_type);
}

static void query_end(void)
{
    YARD_END(&query_type, &window_type, &select_type, &call_type, &function_type);
}

static Expr *column_make(int table)
{
    Expr *e = yard_take(1, sizeof *e);
    e->op = TK_COLUMN;
    e->zToken = yard_text("column");
    e->y.iTable = table;
    return e;
}

static void window_link(Window **list, Window *w)
{
    w->pNextWin = *list;
    if (*list)
        (*list)->ppThis = &w->pNextWin;
    *list = w;
    w->ppThis = list;
}

static Expr *call_make(Select *s, FuncDef *defined, int n)
{
    Expr *e = yard_take(1, sizeof *e);
    Window *w = yard_take(1, sizeof *w);
    e->op = TK_FUNCTION;
    e->flags = EP_WinFunc;
    e->zToken = yard_text("f");
    e->pLeft = column_make(n);
    e->y.pWin = w;
    w->pOwner = e;
    w->pWFunc = n % 5 == 0 ? defined : &built_in[n % 2];
    w->zName = yard_text("w");
    w->zBase = n % 2 ? yard_text("base") : NULL;
    w->pStart = n % 3 ? column_make(1) : NULL;
    w->pEnd = n % 3 ? w->pStart : NULL; /* shared */
    window_link(&s->pWin, w);
    yard.told += w->pWFunc->xSFunc(n, 3) + n;
    return e;
}

static query *query_make(void)
{
    query *q = yard_take(1, sizeof *q);
    int i;
    q->nCall = CALLS;
    q->nAlloc = 256;
    q->calls = yard_raw(256 * sizeof *q->calls);
    q->defined = yard_take(1, sizeof *q->defined);
    q->defined->xSFunc = add;
    q->defined->zName = yard_text("mine");
    q->defined->pNext = yard_take(1, sizeof *q->defined);
    for (i = 0; i < QUERIES; i++) {
        Select *s = yard_take(1, sizeof *s);
        int k;
        s->pPrior = q->last;
        if (q->last)
            q->last->pNext = s;
        q->last = s;
        for (k = i * CALLS / QUERIES; k < (i + 1) * CALLS / QUERIES; k++)
            q->calls[k] = call_make(s, q->defined, k);
        if (i == 0) {
            s->pWinDefn = yard_take(1, sizeof *s->pWinDefn);
            s->pWinDefn->zName = yard_text("named");
            s->pWinDefn->ppThis = &s->pWinDefn;
        }
    }
    return q;
}

/* Every other window of a query leaves its list, by the pointer that leads to it. */
static int64_t query_walk(void *root, size_t count)
{
    query *q = root;
    Select *s;
    int64_t sum = 0;
    int i;
    (void)count;
    for (i = 0; i < q->nCall; i++) {
        Window *w = q->calls[i]->y.pWin;
        const int n = q->calls[i]->pLeft->y.iTable;
        if (w->pOwner != q->calls[i] || *w->ppThis != w ||
            (w->pNextWin && w->pNextWin->ppThis != &w->pNextWin))
            return -1;
        sum += w->pWFunc->xSFunc(n, 3);
        w->regAccum = n;
        if (i % 2)
            continue;
        *w->ppThis = w->pNextWin;
        if (w->pNextWin)
            w->pNextWin->ppThis = w->ppThis;
        w->ppThis = &w->pNextWin;
        w->pNextWin = w;
        sum += n;
    }
    for (s = q->last; s; s = s->pPrior) {
        Window *w;
        for (w = s->pWin; w; w = w->pNextWin)
            sum += w->regAccum;
    }
    return sum;
}

TEST(structures, SQLite_windows_leave_their_query_by_the_pointer_that_leads_to_them)
{
    static const haul_field of_this[] = { HAUL_POINTERS(Window, ppThis, &window_type, HAUL_ONE) };
    yard_open(1 << 20, 142);
    yard.returns_pointers = 1;
    query_open(of_this);
    yard_prove(query_make(), query_type, 1, query_walk);
    query_end();
}

TEST(structures, SQLite_a_pointer_to_a_windows_pointer_described_as_one_to_a_window_is_refused)
{
    static const haul_field of_this[] = { HAUL_ADDRESS(Window, ppThis, .target = &window_type) };
    yard_open(1 << 20, 143);
    query_open(of_this);
    yard_refuse(query_make(), query_type, 1, HAUL_ERROR_GRAPH, "root.last.pWin.ppThis",
                "one address is reached as a Window and as a Select");
    query_end();
}
