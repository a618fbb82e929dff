/* SQLite's parse tree. An expression is allocated without its later fields where flags
 * say so, with its token behind it in the same block; a list ends in its items, of which nExpr are
 * set.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum {
    EP_IntValue = 0x000400,
    EP_xIsSelect = 0x001000,
    EP_Reduced = 0x004000,
    EP_TokenOnly = 0x010000,
    TK_PLUS = 106,
    TK_SELECT = 138,
    TK_INTEGER = 155,
    TK_COLUMN = 167,
    TK_FUNCTION = 172
};

typedef struct Expr Expr;
typedef struct ExprList ExprList;

typedef struct Select {
    ExprList *pEList;
    Expr *pWhere;
    struct Select *pPrior, *pNext;
} Select;

typedef struct Schema {
    char *zName;
    int32_t nCol;
} Schema;

struct Expr {
    uint8_t op, affExpr, op2;
    uint32_t flags;
    union {
        char *zToken;
        int32_t iValue;
    } u; /* the end, for EP_TokenOnly */
    Expr *pLeft, *pRight;
    union {
        ExprList *pList;
        Select *pSelect;
    } x; /* the end, for EP_Reduced */
    int32_t nHeight, iTable;
    void *pAggInfo;
    union {
        Schema *pTab;
        struct {
            int32_t iAddr, regReturn;
        } sub;
    } y;
};

typedef struct ExprItem {
    Expr *pExpr;
    char *zEName;
    uint32_t fg;
} ExprItem;

struct ExprList {
    int32_t nExpr, nAlloc;
    ExprItem a[1];
};

static haul_type *expr_type, *list_type, *item_type, *select_type, *schema_type;

static size_t expr_size(uint32_t flags)
{
    if (flags & EP_TokenOnly)
        return offsetof(Expr, pLeft);
    return flags & EP_Reduced ? offsetof(Expr, nHeight) : sizeof(Expr);
}

HAUL_FUNCTION(expr_bytes, Expr, expr_size(self->flags))

static void sql_open(const haul_field *list_row, int is_sized)
{
    static const haul_field item_fields[] = { HAUL_OBJECT(ExprItem, pExpr, &expr_type),
                                              HAUL_STRING(ExprItem, zEName) };
    static const haul_field select_fields[] = {
        HAUL_OBJECT(Select, pEList, &list_type),
        HAUL_OBJECT(Select, pWhere, &expr_type),
        HAUL_OBJECT(Select, pPrior, &select_type),
        HAUL_OBJECT(Select, pNext, &select_type),
    };
    static const haul_field schema_fields[] = { HAUL_STRING(Schema, zName) };
    const haul_field expr_fields[] = {
        HAUL_STRING(Expr, u.zToken, .when = HAUL_NO_BIT(Expr, flags, EP_IntValue), .else_raw = 1),
        HAUL_OBJECT(Expr, pLeft, &expr_type),
        HAUL_OBJECT(Expr, pRight, &expr_type),
        HAUL_ADDRESS(Expr, x.pList, .target = &list_type,
                     .when = HAUL_NO_BIT(Expr, flags, EP_xIsSelect)),
        HAUL_ADDRESS(Expr, x.pSelect, .target = &select_type,
                     .when = HAUL_ANY_BIT(Expr, flags, EP_xIsSelect)),
        HAUL_SKIP(Expr, pAggInfo),
        HAUL_ADDRESS(Expr, y.pTab, .target = &schema_type,
                     .when = HAUL_EQUALS(Expr, op, TK_COLUMN)),
        HAUL_RAW(Expr, y.sub, .when = HAUL_EQUALS(Expr, op, TK_SELECT)),
    };
    item_type = OPEN(ExprItem, item_fields);
    select_type = OPEN(Select, select_fields);
    schema_type = OPEN(Schema, schema_fields);
    expr_type = OPEN(Expr, expr_fields, .size_fn = is_sized ? expr_bytes : NULL);
    list_type = type_open("ExprList", sizeof(ExprList), list_row, 1);
    type_close(expr_type);
}

static void sql_close(void)
{
    haul_type_free(&expr_type);
    haul_type_free(&list_type);
    haul_type_free(&item_type);
    haul_type_free(&select_type);
    haul_type_free(&schema_type);
    site_end();
}

static Expr *expr_make(int op, uint32_t flags, const char *token)
{
    size_t bytes = expr_size(flags);
    size_t more = token ? strlen(token) + 1 : 0;
    Expr *e = put_elements(1, bytes + more);
    e->op = (uint8_t)op;
    e->flags = flags;
    if (token) {
        e->u.zToken = memcpy((char *)e + bytes, token, more);
        the.told += (int64_t)strlen(token);
    }
    return e;
}

static Expr *leaf_make(Schema *schema)
{
    Expr *e;
    if (chance(0, 1)) {
        e = expr_make(TK_INTEGER, EP_TokenOnly | EP_Reduced | EP_IntValue, NULL);
        the.told += e->u.iValue = chance(0, 999);
        return e;
    }
    e = expr_make(TK_COLUMN, 0, "column");
    e->y.pTab = schema;
    the.told += schema->nCol;
    return e;
}

static Expr *tree_make(int depth, Schema *schema);

static ExprList *list_make(int count, int depth, Schema *schema)
{
    ExprList *l = put_room(offsetof(ExprList, a) + 8 * sizeof(ExprItem));
    int i;
    l->nExpr = count;
    l->nAlloc = 8;
    for (i = 0; i < count; i++) {
        memset(&l->a[i], 0, sizeof l->a[i]);
        l->a[i].pExpr = tree_make(depth, schema);
        l->a[i].zEName = i % 2 ? put_text("named") : NULL;
    }
    return l;
}

static Select *select_make(int depth, Schema *schema)
{
    Select *s = put_elements(1, sizeof *s);
    s->pEList = list_make(4, depth, schema);
    s->pWhere = tree_make(depth, schema);
    if (depth > 4) {
        s->pPrior = select_make(3, schema);
        s->pPrior->pNext = s;
    }
    return s;
}

static Expr *tree_make(int depth, Schema *schema)
{
    int kind = depth < 1 ? 9 : chance(0, 6);
    Expr *e;
    if (kind == 9)
        return leaf_make(schema);
    if (kind == 0) {
        e = expr_make(TK_SELECT, EP_xIsSelect, NULL);
        e->x.pSelect = select_make(depth - 3, schema);
        return e;
    }
    if (kind == 1) {
        e = expr_make(TK_FUNCTION, EP_Reduced, "coalesce");
        e->x.pList = list_make(chance(4, 8), depth - 3, schema);
        return e;
    }
    e = expr_make(TK_PLUS, EP_Reduced, NULL);
    e->pLeft = tree_make(depth - 1, schema);
    e->pRight = tree_make(depth - 1, schema);
    return e;
}

/* A query whose parts are all there: a sum of a number and a function of a subquery and more. */
static Expr *query_make(void)
{
    Schema *schema = put_elements(1, sizeof *schema);
    Expr *root = expr_make(TK_PLUS, EP_Reduced, NULL),
         *sub = expr_make(TK_SELECT, EP_xIsSelect, NULL);
    schema->zName = put_text("table_of_all");
    schema->nCol = 17;
    root->pLeft = expr_make(TK_INTEGER, EP_TokenOnly | EP_Reduced | EP_IntValue, NULL);
    root->pRight = expr_make(TK_FUNCTION, EP_Reduced, "max");
    root->pRight->x.pList = list_make(5, 10, schema);
    root->pRight->x.pList->a[0].pExpr->op2 = 1;
    sub->x.pSelect = select_make(6, schema);
    root->pRight->pLeft = sub;
    return root;
}

static int64_t expr_walk(Expr *e);

static int64_t list_walk(ExprList *l)
{
    int64_t sum = 0;
    int i;
    for (i = 0; i < l->nExpr; i++) {
        sum += expr_walk(l->a[i].pExpr);
        if (l->a[i].zEName)
            l->a[i].zEName[0] = 'N';
        l->a[i].fg++;
    }
    return sum;
}

static int64_t select_walk(Select *s)
{
    int64_t sum = list_walk(s->pEList) + expr_walk(s->pWhere);
    if (s->pPrior)
        sum += s->pPrior->pNext == s ? select_walk(s->pPrior) : -1;
    return sum;
}

static int64_t expr_walk(Expr *e)
{
    int64_t sum = 0;
    e->op2++;
    if (e->flags & EP_IntValue)
        return e->u.iValue++;
    if (e->u.zToken) {
        sum += (int64_t)strlen(e->u.zToken);
        e->u.zToken[0] = 'T';
    }
    if (e->op == TK_COLUMN)
        sum += e->y.pTab->nCol;
    if (e->op == TK_SELECT)
        e->y.sub.iAddr++;
    if (e->pLeft)
        sum += expr_walk(e->pLeft);
    if (e->pRight)
        sum += expr_walk(e->pRight);
    if (e->flags & EP_xIsSelect)
        return sum + select_walk(e->x.pSelect);
    return e->x.pList ? sum + list_walk(e->x.pList) : sum;
}

static int64_t sql_walk(void *root, size_t count)
{
    (void)count;
    return expr_walk(root);
}

TEST(structures_sqlite, expressions_cut_short_by_their_flags_and_lists_that_end_in_their_items)
{
    static const haul_field row =
        HAUL_TAIL(ExprList, a, HAUL_COUNT(ExprList, nExpr), .target = &item_type);
    site_start(25);
    sql_open(&row, 1);
    travel_and_sum(query_make(), expr_type, 1, sql_walk);
    sql_close();
}

TEST(structures_sqlite, short_objects_read_as_whole_ones_and_room_read_as_items_are_refused)
{
    static const haul_field row = HAUL_TAIL(ExprList, a, HAUL_COUNT(ExprList, nExpr),
                                            .target = &item_type),
                            long_row = HAUL_TAIL(ExprList, a, HAUL_COUNT(ExprList, nAlloc),
                                                 .target = &item_type);
    site_start(26);
    sql_open(&row, 0);
    refuse_ship(expr_make(TK_INTEGER, EP_TokenOnly | EP_Reduced | EP_IntValue, NULL), expr_type, 1,
                HAUL_ERROR_GRAPH, "root.x.pList", "outside any process's address range");
    sql_close();
    site_start(26);
    sql_open(&long_row, 1);
    refuse_ship(query_make(), expr_type, 1, HAUL_ERROR_GRAPH, "root.pRight.x.pList.a[5].pExpr",
                "outside any process's address range");
    sql_close();
}
