/* Objects that say themselves how long they are: by a header in front of the pointer (HDR: sds
 * strings, MPFR's limbs), and by an array that ends them or flags that cut them short (FAM:
 * SQLite's expressions).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"

/* ---- HDR: sds. The pointer leads to the characters; the low three bits of the byte before them
 * tell which header stands there, of 1, 3, 5, 9 or 17 bytes. */

#pragma pack(push, 1)
typedef struct sdshdr5 {
    uint8_t flags; /* the length in the upper bits */
    char buf[1];
} sdshdr5;
typedef struct sdshdr8 {
    uint8_t len, alloc, flags;
    char buf[1];
} sdshdr8;
typedef struct sdshdr16 {
    uint16_t len, alloc;
    uint8_t flags;
    char buf[1];
} sdshdr16;
typedef struct sdshdr32 {
    uint32_t len, alloc;
    uint8_t flags;
    char buf[1];
} sdshdr32;
typedef struct sdshdr64 {
    uint64_t len, alloc;
    uint8_t flags;
    char buf[1];
} sdshdr64;
#pragma pack(pop)

typedef struct reply {
    struct reply *next;
    char *str;
} reply;

enum { SDS_KINDS = 5, REPLIES = 400 };

static haul_type *reply_type, *sds_type[SDS_KINDS];

HAUL_FUNCTION(sds_kind, reply, ((const unsigned char *)here->target)[-1] & 7)
HAUL_FUNCTION(sds5_bytes, sdshdr5, (self->flags >> 3) + 1)
HAUL_FUNCTION(sds8_bytes, sdshdr8, self->alloc + 1)
HAUL_FUNCTION(sds16_bytes, sdshdr16, self->alloc + 1)
HAUL_FUNCTION(sds32_bytes, sdshdr32, (int64_t)self->alloc + 1)
HAUL_FUNCTION(sds64_bytes, sdshdr64, self->alloc + 1)

static const haul_case sds_cases[SDS_KINDS] = {
    { 0, &sds_type[0], HAUL_CONTAINER_OF(sdshdr5, buf) },
    { 1, &sds_type[1], HAUL_CONTAINER_OF(sdshdr8, buf) },
    { 2, &sds_type[2], HAUL_CONTAINER_OF(sdshdr16, buf) },
    { 3, &sds_type[3], HAUL_CONTAINER_OF(sdshdr32, buf) },
    { 4, &sds_type[4], HAUL_CONTAINER_OF(sdshdr64, buf) },
};

static void sds_open(size_t kinds)
{
    static const haul_field tail5[] = { HAUL_TAIL(sdshdr5, buf, HAUL_COUNT_FN(sds5_bytes)) };
    static const haul_field tail8[] = { HAUL_TAIL(sdshdr8, buf, HAUL_COUNT_FN(sds8_bytes)) };
    static const haul_field tail16[] = { HAUL_TAIL(sdshdr16, buf, HAUL_COUNT_FN(sds16_bytes)) };
    static const haul_field tail32[] = { HAUL_TAIL(sdshdr32, buf, HAUL_COUNT_FN(sds32_bytes)) };
    static const haul_field tail64[] = { HAUL_TAIL(sdshdr64, buf, HAUL_COUNT_FN(sds64_bytes)) };
    haul_field fields[] = { HAUL_OBJECT(reply, next, &reply_type),
                            HAUL_ADDRESS(reply, str,
                                         .type_switch = HAUL_SWITCH_FN(sds_kind, sds_cases)) };
    fields[1].type_switch.case_count = kinds;
    sds_type[0] = YARD_TYPE(sdshdr5, tail5);
    sds_type[1] = YARD_TYPE(sdshdr8, tail8);
    sds_type[2] = YARD_TYPE(sdshdr16, tail16);
    sds_type[3] = YARD_TYPE(sdshdr32, tail32);
    sds_type[4] = YARD_TYPE(sdshdr64, tail64);
    reply_type = YARD_TYPE(reply, fields);
    yard_commit(reply_type);
}

static void sds_close(void)
{
    int kind;
    haul_type_free(&reply_type);
    for (kind = 0; kind < SDS_KINDS; kind++)
        haul_type_free(&sds_type[kind]);
    yard_close();
}

static unsigned sds_width(int kind)
{
    return kind == 0 ? 0 : 1u << (kind - 1);
}

static uint64_t sds_read(const char *s, int which)
{
    unsigned width = sds_width(s[-1] & 7);
    uint8_t w1;
    uint16_t w2;
    uint32_t w4;
    uint64_t w8 = 0;
    const char *at = s - 1 - (2 - which) * (int)width;
    switch (width) {
    case 1:
        memcpy(&w1, at, 1);
        return w1;
    case 2:
        memcpy(&w2, at, 2);
        return w2;
    case 4:
        memcpy(&w4, at, 4);
        return w4;
    case 8:
        memcpy(&w8, at, 8);
        return w8;
    default:
        return (unsigned char)s[-1] >> 3;
    }
}

static void sds_write(char *s, int which, uint64_t value)
{
    unsigned width = sds_width(s[-1] & 7);
    uint8_t w1 = (uint8_t)value;
    uint16_t w2 = (uint16_t)value;
    uint32_t w4 = (uint32_t)value;
    char *at = s - 1 - (2 - which) * (int)width;
    switch (width) {
    case 1:
        memcpy(at, &w1, 1);
        break;
    case 2:
        memcpy(at, &w2, 2);
        break;
    case 4:
        memcpy(at, &w4, 4);
        break;
    case 8:
        memcpy(at, &value, 8);
        break;
    default:
        s[-1] = (char)(value << 3);
    }
}

static char *sds_make(int kind, size_t length)
{
    size_t header = 1 + 2 * sds_width(kind), room = kind ? length + length / 4 : length;
    char *s = (char *)yard_take(1, header + room + 1) + header;
    s[-1] = (char)kind;
    sds_write(s, 0, length);
    if (kind)
        sds_write(s, 1, room);
    memset(s, 'a' + kind, length);
    yard.told += (int64_t)length * (kind + 1);
    return s;
}

static reply *replies_make(void)
{
    static const int longest[SDS_KINDS] = { 31, 200, 900, 1500, 300 };
    reply *first = NULL;
    int i;
    for (i = 0; i < REPLIES; i++) {
        reply *r = yard_take(1, sizeof *r);
        int kind = (REPLIES - 1 - i) % SDS_KINDS;
        r->str = sds_make(kind, (size_t)yard_int(1, longest[kind]));
        r->next = first;
        first = r;
    }
    return first;
}

/* Each string that has room gets one more character. */
static int64_t sds_walk(void *root, size_t count)
{
    reply *r;
    int64_t sum = 0;
    (void)count;
    for (r = root; r; r = r->next) {
        uint64_t length = sds_read(r->str, 0);
        int kind = r->str[-1] & 7;
        sum += strlen(r->str) == length ? (int64_t)length * (kind + 1) : -1;
        r->str[0] = 'S';
        if (kind && length < sds_read(r->str, 1)) {
            r->str[length] = '+';
            sds_write(r->str, 0, length + 1);
        }
    }
    return sum;
}

TEST(structures, HDR_strings_with_one_of_five_headers_in_front_of_their_characters)
{
    yard_open(1 << 20, 21);
    sds_open(SDS_KINDS);
    yard_prove(replies_make(), reply_type, 1, sds_walk);
    sds_close();
}

TEST(structures, HDR_a_kind_of_header_that_was_forgotten_is_refused)
{
    yard_open(1 << 20, 22);
    sds_open(SDS_KINDS - 1);
    yard_refuse(replies_make(), reply_type, 1, HAUL_ERROR_GRAPH, "root(.next)*4.str",
                "its `.type_switch` has no case for 4");
    sds_close();
}

/* MPFR. As many limbs as the precision needs, and in the word in front of them how many there is
 * room for. */

typedef struct limbs {
    uint64_t alloc;
    uint64_t limb[1];
} limbs;

typedef struct mpfr {
    int64_t _mpfr_prec;
    int32_t _mpfr_sign, _mpfr_exp;
    uint64_t *_mpfr_d;
} mpfr;

enum { NUMBERS = 500 };

static haul_type *mpfr_open(haul_type **limbs_type, const haul_field *row)
{
    static const haul_field tail[] = { HAUL_TAIL(limbs, limb, HAUL_COUNT(limbs, alloc)) };
    haul_type *type = yard_type("mpfr", sizeof(mpfr), row, 1);
    *limbs_type = YARD_TYPE(limbs, tail, .alignment = sizeof(uint64_t));
    yard_commit(type);
    return type;
}

static mpfr *numbers_make(void)
{
    mpfr *x = yard_take(NUMBERS, sizeof *x);
    int i;
    for (i = 0; i < NUMBERS; i++) {
        size_t used, room;
        x[i]._mpfr_prec = yard_int(2, 1000);
        used = (size_t)(x[i]._mpfr_prec + 63) / 64;
        room = used + (size_t)yard_int(0, 2);
        x[i]._mpfr_d = (uint64_t *)yard_take(room + 1, sizeof(uint64_t)) + 1;
        x[i]._mpfr_d[-1] = room;
        memset(x[i]._mpfr_d, 0xFF, used * sizeof(uint64_t));
        yard.told += (int64_t)used;
    }
    return x;
}

/* Adds one unit at the lowest place: all ones become zeros. */
static int64_t mpfr_walk(void *root, size_t count)
{
    mpfr *x;
    int64_t sum = 0, i;
    for (x = root; count > 0; count--, x++) {
        int64_t used = (x->_mpfr_prec + 63) / 64;
        if ((uint64_t)used > x->_mpfr_d[-1])
            return -1;
        for (i = 0; i < used && ++x->_mpfr_d[i] == 0; i++)
            sum++;
        x->_mpfr_exp++;
    }
    return sum;
}

static haul_type *limbs_type;

TEST(structures, HDR_numbers_with_their_room_in_the_word_in_front_of_them)
{
    static const haul_field row =
        HAUL_ADDRESS(mpfr, _mpfr_d, .target = &limbs_type, .base = HAUL_CONTAINER_OF(limbs, limb));
    haul_type *type;
    yard_open(1 << 20, 23);
    type = mpfr_open(&limbs_type, &row);
    yard_prove(numbers_make(), type, NUMBERS, mpfr_walk);
    haul_type_free(&type);
    haul_type_free(&limbs_type);
    yard_close();
}

TEST(structures, HDR_a_header_that_is_looked_for_at_the_wrong_place_is_refused)
{
    static const haul_field nowhere_row = HAUL_ADDRESS(mpfr, _mpfr_d, .target = &limbs_type),
                            half_row =
                                HAUL_ADDRESS(mpfr, _mpfr_d, .target = &limbs_type, .base = -4);
    haul_type *type;
    yard_open(1 << 20, 24);
    type = mpfr_open(&limbs_type, &nowhere_row);
    yard_refuse(numbers_make(), type, NUMBERS, HAUL_ERROR_LIMIT, "root[0]._mpfr_d.limb",
                "its count is above 2^63");
    haul_type_free(&type);
    haul_type_free(&limbs_type);
    type = mpfr_open(&limbs_type, &half_row);
    yard_refuse(numbers_make(), type, NUMBERS, HAUL_ERROR_GRAPH, "root[0]._mpfr_d",
                "a misaligned pointer: its address modulo 8 is 4");
    haul_type_free(&type);
    haul_type_free(&limbs_type);
    yard_close();
}

/* ---- FAM: SQLite's parse tree. An expression is allocated without its later fields where flags
 * say so, with its token behind it in the same block; a list ends in its items, of which nExpr are
 * set. */

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
    item_type = YARD_TYPE(ExprItem, item_fields);
    select_type = YARD_TYPE(Select, select_fields);
    schema_type = YARD_TYPE(Schema, schema_fields);
    expr_type = YARD_TYPE(Expr, expr_fields, .size_fn = is_sized ? expr_bytes : NULL);
    list_type = yard_type("ExprList", sizeof(ExprList), list_row, 1);
    yard_commit(expr_type);
}

static void sql_close(void)
{
    haul_type_free(&expr_type);
    haul_type_free(&list_type);
    haul_type_free(&item_type);
    haul_type_free(&select_type);
    haul_type_free(&schema_type);
    yard_close();
}

static Expr *expr_make(int op, uint32_t flags, const char *token)
{
    size_t bytes = expr_size(flags);
    size_t more = token ? strlen(token) + 1 : 0;
    Expr *e = yard_take(1, bytes + more);
    e->op = (uint8_t)op;
    e->flags = flags;
    if (token) {
        e->u.zToken = memcpy((char *)e + bytes, token, more);
        yard.told += (int64_t)strlen(token);
    }
    return e;
}

static Expr *leaf_make(Schema *schema)
{
    Expr *e;
    if (yard_int(0, 1)) {
        e = expr_make(TK_INTEGER, EP_TokenOnly | EP_Reduced | EP_IntValue, NULL);
        yard.told += e->u.iValue = yard_int(0, 999);
        return e;
    }
    e = expr_make(TK_COLUMN, 0, "column");
    e->y.pTab = schema;
    yard.told += schema->nCol;
    return e;
}

static Expr *tree_make(int depth, Schema *schema);

static ExprList *list_make(int count, int depth, Schema *schema)
{
    ExprList *l = yard_raw(offsetof(ExprList, a) + 8 * sizeof(ExprItem));
    int i;
    l->nExpr = count;
    l->nAlloc = 8;
    for (i = 0; i < count; i++) {
        memset(&l->a[i], 0, sizeof l->a[i]);
        l->a[i].pExpr = tree_make(depth, schema);
        l->a[i].zEName = i % 2 ? yard_text("named") : NULL;
    }
    return l;
}

static Select *select_make(int depth, Schema *schema)
{
    Select *s = yard_take(1, sizeof *s);
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
    int kind = depth < 1 ? 9 : yard_int(0, 6);
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
        e->x.pList = list_make(yard_int(4, 8), depth - 3, schema);
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
    Schema *schema = yard_take(1, sizeof *schema);
    Expr *root = expr_make(TK_PLUS, EP_Reduced, NULL),
         *sub = expr_make(TK_SELECT, EP_xIsSelect, NULL);
    schema->zName = yard_text("table_of_all");
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

TEST(structures, FAM_expressions_cut_short_by_their_flags_and_lists_that_end_in_their_items)
{
    static const haul_field row =
        HAUL_TAIL(ExprList, a, HAUL_COUNT(ExprList, nExpr), .target = &item_type);
    yard_open(1 << 22, 25);
    sql_open(&row, 1);
    yard_prove(query_make(), expr_type, 1, sql_walk);
    sql_close();
}

TEST(structures, FAM_short_objects_read_as_whole_ones_and_room_read_as_items_are_refused)
{
    static const haul_field row = HAUL_TAIL(ExprList, a, HAUL_COUNT(ExprList, nExpr),
                                            .target = &item_type),
                            long_row = HAUL_TAIL(ExprList, a, HAUL_COUNT(ExprList, nAlloc),
                                                 .target = &item_type);
    yard_open(1 << 22, 26);
    sql_open(&row, 0);
    yard_refuse(expr_make(TK_INTEGER, EP_TokenOnly | EP_Reduced | EP_IntValue, NULL), expr_type, 1,
                HAUL_ERROR_GRAPH, "root.x.pList", "outside any process's address range");
    sql_close();
    yard_open(1 << 22, 26);
    sql_open(&long_row, 1);
    yard_refuse(query_make(), expr_type, 1, HAUL_ERROR_GRAPH, "root.pRight.x.pList.a[5].pExpr",
                "outside any process's address range");
    sql_close();
}
