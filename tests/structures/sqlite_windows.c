/* SQLite. The windows of a query are a list that each can leave by ppThis, the pointer that
 * leads to it; each is also where the function call stands that it is for. Window functions are
 * constants of the library's, or the user's.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

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
    the.known.statics = query_statics;
    the.known.static_count = 1;
    function_type = OPEN(FuncDef, function_fields);
    call_type = OPEN(Expr, call_fields);
    select_type = OPEN(Select, select_fields);
    window_type = OPEN(Window, window_fields);
    query_type = OPEN(query, query_fields);
    CHECK_STATUS(haul_type_add(window_type, of_this, 1), HAUL_OK);
    type_close(query_type);
}

static void query_end(void)
{
    SITE_END(&query_type, &window_type, &select_type, &call_type, &function_type);
}

static Expr *column_make(int table)
{
    Expr *e = put_elements(1, sizeof *e);
    e->op = TK_COLUMN;
    e->zToken = put_text("column");
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
    Expr *e = put_elements(1, sizeof *e);
    Window *w = put_elements(1, sizeof *w);
    e->op = TK_FUNCTION;
    e->flags = EP_WinFunc;
    e->zToken = put_text("f");
    e->pLeft = column_make(n);
    e->y.pWin = w;
    w->pOwner = e;
    w->pWFunc = n % 5 == 0 ? defined : &built_in[n % 2];
    w->zName = put_text("w");
    w->zBase = n % 2 ? put_text("base") : NULL;
    w->pStart = n % 3 ? column_make(1) : NULL;
    w->pEnd = n % 3 ? w->pStart : NULL; /* shared */
    window_link(&s->pWin, w);
    the.told += w->pWFunc->xSFunc(n, 3) + n;
    return e;
}

static query *query_make(void)
{
    query *q = put_elements(1, sizeof *q);
    int i;
    q->nCall = CALLS;
    q->nAlloc = 256;
    q->calls = put_room(256 * sizeof *q->calls);
    q->defined = put_elements(1, sizeof *q->defined);
    q->defined->xSFunc = add;
    q->defined->zName = put_text("mine");
    q->defined->pNext = put_elements(1, sizeof *q->defined);
    for (i = 0; i < QUERIES; i++) {
        Select *s = put_elements(1, sizeof *s);
        int k;
        s->pPrior = q->last;
        if (q->last)
            q->last->pNext = s;
        q->last = s;
        for (k = i * CALLS / QUERIES; k < (i + 1) * CALLS / QUERIES; k++)
            q->calls[k] = call_make(s, q->defined, k);
        if (i == 0) {
            s->pWinDefn = put_elements(1, sizeof *s->pWinDefn);
            s->pWinDefn->zName = put_text("named");
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

TEST(structures_sqlite, SQLite_windows_leave_their_query_by_the_pointer_that_leads_to_them)
{
    static const haul_field of_this[] = { HAUL_POINTERS(Window, ppThis, &window_type, HAUL_ONE) };
    site_start(142);
    the.returns_pointers = 1;
    query_open(of_this);
    travel_and_sum(query_make(), query_type, 1, query_walk);
    query_end();
}

TEST(structures_sqlite,
     SQLite_a_pointer_to_a_windows_pointer_described_as_one_to_a_window_is_refused)
{
    static const haul_field of_this[] = { HAUL_ADDRESS(Window, ppThis, .target = &window_type) };
    site_start(143);
    query_open(of_this);
    refuse_ship(query_make(), query_type, 1, HAUL_ERROR_GRAPH, "root.last.pWin.ppThis",
                "one address is reached as a Window and as a Select");
    query_end();
}
