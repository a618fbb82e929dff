/* Real structures with unions: an instruction of SQLite, whose fourth operand is one of fifteen
 * things, as a field says (UNI).
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "support/types.h"

/* ---- UNI: the instructions of a prepared statement. */

enum {
    P4_NOTUSED = 0,
    P4_STATIC = -1,     /* z: a constant */
    P4_COLLSEQ = -2,    /* pColl: shared */
    P4_INT32 = -3,      /* i */
    P4_SUBPROGRAM = -4, /* pProgram: its instructions may have others */
    P4_TABLE = -5,      /* pTab */
    P4_DYNAMIC = -6,    /* z */
    P4_FUNCDEF = -7,    /* pFunc */
    P4_KEYINFO = -8,    /* pKeyInfo: ends in its collations */
    P4_EXPR = -9,       /* p: nobody's */
    P4_MEM = -10,       /* pMem */
    P4_VTAB = -11,      /* p: a module's own handle */
    P4_REAL = -12,      /* pReal */
    P4_INT64 = -13,     /* pI64 */
    P4_INTARRAY = -14,  /* ai: its length first */
    P4_FUNCCTX = -15,   /* pCtx */
    KINDS = 16
};

enum { OPS = 5000, SUBPROGRAMS = 25, SUB_OPS = 80, COLLATIONS = 7, FUNCTIONS = 40 };

typedef struct VdbeOp VdbeOp;
typedef struct SubProgram SubProgram;

typedef struct CollSeq {
    char *zName;
    int enc;
} CollSeq;

typedef struct KeyInfo {
    uint32_t nRef;
    uint16_t nKeyField, nAllField;
    CollSeq *aColl[1];
} KeyInfo;

typedef struct FuncDef {
    int nArg;
    void (*xSFunc)(void);
    char *zName;
    struct FuncDef *pNext;
} FuncDef;

typedef struct Table {
    char *zName;
    int nCol, tnum;
} Table;

typedef struct sqlite3_context {
    FuncDef *pFunc;
    VdbeOp *pOp; /* the instruction it belongs to */
    int argc;
} sqlite3_context;

struct VdbeOp {
    uint8_t opcode;
    signed char p4type;
    uint16_t p5;
    int p1, p2, p3;
    union {
        int i;
        void *p;
        char *z;
        int64_t *pI64;
        double *pReal;
        FuncDef *pFunc;
        sqlite3_context *pCtx;
        CollSeq *pColl;
        double *pMem;
        KeyInfo *pKeyInfo;
        uint32_t *ai;
        SubProgram *pProgram;
        Table *pTab;
    } p4;
};

struct SubProgram {
    VdbeOp *aOp;
    int nOp, nMem;
    SubProgram *pNext;
};

typedef struct Vdbe {
    VdbeOp *aOp;
    int nOp;
    SubProgram *pProgram;
} Vdbe;

static haul_type *VdbeOp_type, *SubProgram_type, *CollSeq_type, *KeyInfo_type, *FuncDef_type,
    *Table_type, *context_type, *Vdbe_type, *collation_type;

static const char constants[] = "unique\0integer\0main.sqlite_schema";
static const test_static constant_range = { constants, sizeof constants, HAUL_STATIC_KEEP };

static int64_t numbers_of(const haul_here *here)
{
    return (int64_t) * (const uint32_t *)here->target + 1;
}

#define OP_IS(kind) .when = HAUL_EQUALS(VdbeOp, p4type, kind)

/* `array`: the kind of the arm ai. */
static void vdbe_types(int array)
{
    const haul_field fields[] = {
        HAUL_STRING(VdbeOp, p4.z, OP_IS(P4_STATIC), .maybe_static = 1),
        HAUL_OBJECT(VdbeOp, p4.pColl, &CollSeq_type, OP_IS(P4_COLLSEQ)),
        HAUL_RAW(VdbeOp, p4.i, OP_IS(P4_INT32)),
        HAUL_OBJECT(VdbeOp, p4.pProgram, &SubProgram_type, OP_IS(P4_SUBPROGRAM)),
        HAUL_OBJECT(VdbeOp, p4.pTab, &Table_type, OP_IS(P4_TABLE)),
        HAUL_STRING(VdbeOp, p4.z, OP_IS(P4_DYNAMIC)),
        HAUL_OBJECT(VdbeOp, p4.pFunc, &FuncDef_type, OP_IS(P4_FUNCDEF)),
        HAUL_OBJECT(VdbeOp, p4.pKeyInfo, &KeyInfo_type, OP_IS(P4_KEYINFO)),
        HAUL_SKIP(VdbeOp, p4.p, OP_IS(P4_EXPR)),
        HAUL_ARRAY(VdbeOp, p4.pMem, HAUL_ONE, OP_IS(P4_MEM)),
        HAUL_ADDRESS(VdbeOp, p4.p, OP_IS(P4_VTAB), .ownership = HAUL_EXTERNAL),
        HAUL_ARRAY(VdbeOp, p4.pReal, HAUL_ONE, OP_IS(P4_REAL)),
        HAUL_ARRAY(VdbeOp, p4.pI64, HAUL_ONE, OP_IS(P4_INT64)),
        HAUL_ARRAY(VdbeOp, p4.ai, HAUL_COUNT_FN(numbers_of), OP_IS(array)),
        HAUL_OBJECT(VdbeOp, p4.pCtx, &context_type, OP_IS(P4_FUNCCTX)),
    };
    VdbeOp_type = OPEN(VdbeOp, fields);
}

static void vdbe_open(int array)
{
    static const haul_count one = HAUL_ONE;
    static const haul_field coll_fields[] = { HAUL_STRING(CollSeq, zName) };
    static const haul_field key_fields[] = { HAUL_TAIL(
        KeyInfo, aColl, HAUL_COUNT(KeyInfo, nAllField), .target = &collation_type) };
    static const haul_field func_fields[] = {
        HAUL_ADDRESS(FuncDef, xSFunc, .ownership = HAUL_EXTERNAL), HAUL_STRING(FuncDef, zName),
        HAUL_OBJECT(FuncDef, pNext, &FuncDef_type)
    };
    static const haul_field table_fields[] = { HAUL_STRING(Table, zName) };
    static const haul_field ctx_fields[] = { HAUL_OBJECT(sqlite3_context, pFunc, &FuncDef_type),
                                             HAUL_OBJECT(sqlite3_context, pOp, &VdbeOp_type) };
    static const haul_field sub_fields[] = { HAUL_OBJECTS(SubProgram, aOp, &VdbeOp_type,
                                                          HAUL_COUNT(SubProgram, nOp)),
                                             HAUL_OBJECT(SubProgram, pNext, &SubProgram_type) };
    static const haul_field vdbe_fields[] = { HAUL_OBJECTS(Vdbe, aOp, &VdbeOp_type,
                                                           HAUL_COUNT(Vdbe, nOp)),
                                              HAUL_OBJECT(Vdbe, pProgram, &SubProgram_type) };
    CHECK_STATUS(
        haul_type_pointer(type_context(), "collation", &CollSeq_type, 0, one, &collation_type),
        HAUL_OK);
    CollSeq_type = OPEN(CollSeq, coll_fields);
    KeyInfo_type = OPEN(KeyInfo, key_fields);
    FuncDef_type = OPEN(FuncDef, func_fields);
    Table_type = OPEN(Table, table_fields);
    context_type = OPEN(sqlite3_context, ctx_fields);
    SubProgram_type = OPEN(SubProgram, sub_fields);
    Vdbe_type = OPEN(Vdbe, vdbe_fields);
    vdbe_types(array);
    the.known.statics = &constant_range;
    the.known.static_count = 1;
}

static void vdbe_close(void)
{
    haul_type **all[] = { &VdbeOp_type,  &SubProgram_type, &CollSeq_type,
                          &KeyInfo_type, &FuncDef_type,    &Table_type,
                          &context_type, &Vdbe_type,       &collation_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

/* What instructions lead to, and share. */
typedef struct schema {
    CollSeq *coll[COLLATIONS];
    FuncDef *function[FUNCTIONS];
    SubProgram *program[SUBPROGRAMS];
} schema;

static char *numbered_text(const char *word, unsigned n)
{
    char text[64];
    snprintf(text, sizeof text, "%s %u", word, n);
    return put_text(text);
}

static KeyInfo *key_make(schema *s, unsigned n)
{
    unsigned count = n % 5 + 1, i;
    KeyInfo *k = put(offsetof(KeyInfo, aColl) + count * sizeof k->aColl[0], sizeof(void *));
    k->nAllField = (uint16_t)count;
    for (i = 0; i < count; i++)
        k->aColl[i] = (n + i) % 3 ? s->coll[(n + i) % COLLATIONS] : NULL;
    return k;
}

static uint32_t *array_make(unsigned n)
{
    uint32_t count = n % 30, i, *ai = put((count + 1) * sizeof *ai, sizeof *ai);
    ai[0] = count;
    for (i = 1; i <= count; i++)
        ai[i] = n + i;
    return ai;
}

static sqlite3_context *context_make(schema *s, VdbeOp *op, unsigned n)
{
    sqlite3_context *c = PUT(sqlite3_context);
    c->pFunc = s->function[n % FUNCTIONS];
    c->pOp = op;
    return c;
}

/* n is all that the operand is made of. */
static void op_fill(schema *s, VdbeOp *op, int kind, unsigned n)
{
    double real = n / 8.0;
    int64_t integer = -(int64_t)n;
    op->opcode = (uint8_t)n;
    op->p4type = (signed char)kind;
    op->p1 = (int)n;
    memset(&op->p4, 0x5A, sizeof op->p4); /* what no arm says is of no meaning */
    switch (kind) {
    case P4_STATIC:
        op->p4.z = (char *)(uintptr_t)(constants + (n % 2 ? 7 : 15));
        break;
    case P4_COLLSEQ:
        op->p4.pColl = s->coll[n % COLLATIONS];
        break;
    case P4_INT32:
        op->p4.i = (int)n;
        break;
    case P4_SUBPROGRAM:
        op->p4.pProgram = s->program[n % SUBPROGRAMS];
        break;
    case P4_TABLE:
        op->p4.pTab = PUT(Table);
        op->p4.pTab->zName = numbered_text("table", n);
        break;
    case P4_DYNAMIC:
        op->p4.z = numbered_text("text", n);
        break;
    case P4_FUNCDEF:
        op->p4.pFunc = s->function[n % FUNCTIONS];
        break;
    case P4_KEYINFO:
        op->p4.pKeyInfo = key_make(s, n);
        break;
    case P4_MEM:
    case P4_REAL:
        op->p4.pReal = memcpy(put(sizeof real, sizeof real), &real, sizeof real);
        break;
    case P4_INT64:
        op->p4.pI64 = memcpy(put(sizeof integer, sizeof integer), &integer, sizeof integer);
        break;
    case P4_INTARRAY:
        op->p4.ai = array_make(n);
        break;
    case P4_FUNCCTX:
        op->p4.pCtx = context_make(s, op, n);
        break;
    default:
        break;
    }
}

static void see_numbered(uint64_t *seen, const char *word, unsigned n)
{
    char text[64];
    snprintf(text, sizeof text, "%s %u", word, n);
    see_text(seen, text);
}

/* What must be seen of such an operand. */
static void op_expected(int kind, unsigned n, uint64_t *seen)
{
    unsigned i;
    see(seen, (uint64_t)(kind + KINDS));
    switch (kind) {
    case P4_STATIC:
        see_text(seen, n % 2 ? "integer" : "main.sqlite_schema");
        break;
    case P4_COLLSEQ:
        see_numbered(seen, "collation", n % COLLATIONS);
        break;
    case P4_SUBPROGRAM:
        see(seen, n % SUBPROGRAMS);
        break;
    case P4_TABLE:
        see_numbered(seen, "table", n);
        break;
    case P4_DYNAMIC:
        see_numbered(seen, "text", n);
        break;
    case P4_FUNCCTX:
    case P4_FUNCDEF:
        see_numbered(seen, "function", n % FUNCTIONS);
        break;
    case P4_KEYINFO:
        for (i = 0; i < n % 5 + 1; i++)
            see(seen, (n + i) % 3 ? (n + i) % COLLATIONS + 1 : 0);
        break;
    case P4_MEM:
    case P4_REAL:
        see_real(seen, n / 8.0);
        break;
    case P4_INTARRAY:
        for (i = 1; i <= n % 30; i++)
            see(seen, n + i);
        break;
    case P4_INT64:
    case P4_INT32:
        see(seen, n);
        break;
    case P4_VTAB:
        see(seen, 0x5A);
        break;
    case P4_EXPR:
        see(seen, 1);
        break;
    default:
        break;
    }
}

static void ops_fill(schema *s, VdbeOp *ops, int count, uint64_t *seen)
{
    int i;
    for (i = 0; i < count; i++) {
        int kind = -(int)random_below(&the.random, KINDS);
        unsigned n = (unsigned)random_below(&the.random, 1 << 20);
        op_fill(s, &ops[i], kind, n);
        op_expected(kind, n, seen);
    }
}

static void schema_make(schema *s)
{
    unsigned i;
    for (i = 0; i < COLLATIONS; i++) {
        s->coll[i] = PUT(CollSeq);
        s->coll[i]->zName = numbered_text("collation", i);
        s->coll[i]->enc = (int)i;
    }
    for (i = 0; i < FUNCTIONS; i++) {
        s->function[i] = PUT(FuncDef);
        s->function[i]->zName = numbered_text("function", i);
        s->function[i]->pNext = i ? s->function[i - 1] : NULL;
    }
    for (i = 0; i < SUBPROGRAMS; i++) {
        s->program[i] = PUT(SubProgram);
        s->program[i]->aOp = PUT_ARRAY(VdbeOp, SUB_OPS);
        s->program[i]->nOp = SUB_OPS;
        s->program[i]->nMem = (int)i;
        s->program[i]->pNext = i ? s->program[i - 1] : NULL;
    }
}

static Vdbe *vdbe_make(uint64_t *seen)
{
    schema s;
    Vdbe *v = PUT(Vdbe);
    int i;
    schema_make(&s);
    v->aOp = PUT_ARRAY(VdbeOp, OPS);
    v->nOp = OPS;
    v->pProgram = s.program[SUBPROGRAMS - 1];
    ops_fill(&s, v->aOp, OPS, seen);
    for (i = SUBPROGRAMS - 1; i >= 0; i--)
        ops_fill(&s, s.program[i]->aOp, SUB_OPS, seen);
    return v;
}

static void meet_key(KeyInfo *k, uint64_t *seen)
{
    unsigned i;
    for (i = 0; i < k->nAllField; i++)
        see(seen, k->aColl[i] ? (uint64_t)k->aColl[i]->enc + 1 : 0);
    k->nRef++;
}

static void meet_numbers(uint32_t *ai, uint64_t *seen)
{
    uint32_t i;
    for (i = 1; i <= ai[0]; i++)
        see(seen, ai[i]++);
}

static void meet_op(VdbeOp *op, uint64_t *seen)
{
    see(seen, (uint64_t)(op->p4type + KINDS));
    op->p5++;
    switch (op->p4type) {
    case P4_STATIC:
        see_text(seen, op->p4.z);
        break;
    case P4_COLLSEQ:
        see_text(seen, op->p4.pColl->zName);
        break;
    case P4_INT32:
        see(seen, (uint64_t)op->p4.i), op->p4.i += 7;
        break;
    case P4_SUBPROGRAM:
        see(seen, (uint64_t)op->p4.pProgram->nMem);
        break;
    case P4_TABLE:
        see_text(seen, op->p4.pTab->zName), op->p4.pTab->tnum = op->p1;
        break;
    case P4_DYNAMIC:
        see_text(seen, op->p4.z), op->p4.z[0] = 'T';
        break;
    case P4_FUNCDEF:
        see_text(seen, op->p4.pFunc->zName), op->p4.pFunc->nArg++;
        break;
    case P4_KEYINFO:
        meet_key(op->p4.pKeyInfo, seen);
        break;
    case P4_EXPR:
        see(seen, op->p4.p == NULL);
        break; /* null on the device */
    case P4_MEM:
    case P4_REAL:
        see_real(seen, *op->p4.pReal), *op->p4.pReal *= 2;
        break;
    case P4_VTAB:
        see(seen, (unsigned char)(uintptr_t)op->p4.p);
        break;
    case P4_INT64:
        see(seen, (uint64_t) - *op->p4.pI64), *op->p4.pI64 = op->p1;
        break;
    case P4_INTARRAY:
        meet_numbers(op->p4.ai, seen);
        break;
    case P4_FUNCCTX:
        see_text(seen, op->p4.pCtx->pFunc->zName), op->p4.pCtx->argc = op->p4.pCtx->pOp == op;
        break;
    default:
        break;
    }
}

static void vdbe_walk(void *argument)
{
    visit *v = argument;
    Vdbe *vdbe = v->root;
    SubProgram *p;
    int i;
    for (i = 0; i < vdbe->nOp; i++)
        meet_op(&vdbe->aOp[i], &v->seen);
    for (p = vdbe->pProgram; p; p = p->pNext)
        for (i = 0; i < p->nOp; i++)
            meet_op(&p->aOp[i], &v->seen);
}

TEST(structures_sqlite,
     the_fourth_operand_of_an_instruction_is_what_its_kind_says_in_all_fifteen_cases)
{
    journey j = { .walk = vdbe_walk };
    site_start(19);
    vdbe_open(P4_INTARRAY);
    type_close(Vdbe_type);
    j.root = vdbe_make(&j.seen);
    j.type = Vdbe_type;
    travel(&j);
    vdbe_close();
    site_end();
}

TEST(structures_sqlite,
     an_arm_under_a_kind_of_another_is_refused_at_commit_and_under_one_of_none_by_its_objects)
{
    uint64_t seen = 0;
    Vdbe *v;
    int i;
    site_start(19);
    v = vdbe_make(&seen);
    vdbe_open(P4_INT64);
    refuse_type(Vdbe_type, "VdbeOp.p4.ai", "and both hold where the field at offset 1 is -13");
    vdbe_close();
    vdbe_open(P4_NOTUSED);
    type_close(Vdbe_type);
    for (i = 0; i < 3; i++)
        v->aOp[i].p4type = P4_INT32;
    v->aOp[3].p4type = P4_NOTUSED;
    v->aOp[3].p4.ai = PUT(uint32_t);
    v->aOp[3].p4.ai[0] = 1000; /* no length of an array */
    refuse_graph(v, Vdbe_type, HAUL_ERROR_GRAPH, "root.aOp[3].p4.ai", "",
                 "the range it leads to is not readable");
    vdbe_close();
    site_end();
}
