/* Rules: what is not plain about a row.
 *
 * A row may lead to a rule: a struct of which most members stay 0. It says when the row holds,
 * whose the target is, what the word's bits are, where the block begins, of which type it is, and
 * which way its bytes travel:
 *
 *     static const haul_rule is_branch = { .when = HAUL_EQUALS(node, kind, BRANCH) };
 *     HAUL_OBJECT_BY(node, child, &node_type, &is_branch)
 *     HAUL_OBJECT_BY(node, up, &node_type, HAUL_RULE(.tag_bits = 1))          the same in place
 *
 * HAUL_RULE is for C, and for tables at file scope or that are not static: elsewhere give the rule
 * a name.
 *
 * Rules are copied with their rows. Each object is asked by itself; types without rules pay nothing
 * for them. A rule of nothing but a direction asks nothing.
 */
#ifndef HAUL_RULE_H
#define HAUL_RULE_H

#include "haul/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_type haul_type;

/* When does a row hold? A zeroed one: always. */
typedef enum haul_when_kind {
    HAUL_WHEN_ALWAYS = 0,
    HAUL_WHEN_FIELD = 1, /* low <= (field & mask) <= high */
    HAUL_WHEN_NOT = 2,   /* the opposite */
    /* `function` answers another number than 0; `target` is the word without its tag bits */
    HAUL_WHEN_FUNCTION = 3
} haul_when_kind;

typedef struct haul_when {
    haul_when_kind kind;
    haul_field_place field;
    int64_t mask, low, high;
    haul_function *function;
} haul_when;

/* n: an integer field of S, signed or not; constants otherwise. Values above 2^63 are in no
 * range. */
/* a field that is compared with c is read as c is */
#define HAUL__SIGN_OF(c) ((uint8_t)((int64_t)(c) < 0))
#define HAUL_BETWEEN(S, n, low, high)                                                              \
    {                                                                                              \
        HAUL_WHEN_FIELD, HAUL__PLACE(S, n, HAUL__SIGN_OF(low)), -1, low, high, NULL                \
    }
#define HAUL_EQUALS(S, n, c) HAUL_BETWEEN(S, n, c, c)
#define HAUL_DIFFERS(S, n, c)                                                                      \
    {                                                                                              \
        HAUL_WHEN_NOT, HAUL__PLACE(S, n, HAUL__SIGN_OF(c)), -1, c, c, NULL                         \
    }
#define HAUL_NEGATIVE(S, n)                                                                        \
    {                                                                                              \
        HAUL_WHEN_FIELD, HAUL__PLACE(S, n, 1), -1, INT64_MIN, -1, NULL                             \
    }
/* (n & mask) == c */
#define HAUL_BITS(S, n, mask, c)                                                                   \
    {                                                                                              \
        HAUL_WHEN_FIELD, HAUL__PLACE(S, n, 1), mask, c, c, NULL                                    \
    }
#define HAUL_ANY_BIT(S, n, mask)                                                                   \
    {                                                                                              \
        HAUL_WHEN_NOT, HAUL__PLACE(S, n, 1), mask, 0, 0, NULL                                      \
    }
#define HAUL_NO_BIT(S, n, mask) HAUL_BITS(S, n, mask, 0)
#define HAUL_IF(function)                                                                          \
    {                                                                                              \
        HAUL_WHEN_FUNCTION, HAUL__NO_PLACE, 0, 0, 0, function                                      \
    }
/* As HAUL_COUNT_FUNCTION, for an expression that is true or false. */
#define HAUL_TEST_FUNCTION(name, S, expression) HAUL_COUNT_FUNCTION(name, S, (expression) ? 1 : 0)

/* What becomes of the field while its row does not hold. Null or zero is one thing: all bits 0. */
typedef enum haul_else {
    /* The copy has zeros; the host's bytes are not written, and are read for functions alone. */
    HAUL_ELSE_NULL = 0,
    HAUL_ELSE_RAW = 1 /* the bytes travel as they are, both ways: they are something else now */
} haul_else;

/* Whose is what a pointer leads to? "Kept" below: the word travels as it is, no device patches it,
 * and what stands there on the device never comes back. */
typedef enum haul_mode {
    HAUL_MODE_OWN = 0, /* it belongs to the graph: followed */
    /* It belongs to another object of the graph and is not followed. It must lead to a described
     * byte or, without tag bits in it, one past a described range; else HAUL_ERROR_GRAPH. Its shape
     * is not looked at. */
    HAUL_MODE_ALIAS = 1,
    /* A target in a registered range (haul_static, context.h) is kept, null or followed as that
     * range says; any other target is owned. */
    HAUL_MODE_OWN_OR_STATIC = 2,
    /* The target lies in a registered range or is an alias; else HAUL_ERROR_GRAPH. */
    HAUL_MODE_ALIAS_OR_STATIC = 3,
    /* Its bytes travel as they are, both ways, and are never followed. */
    HAUL_MODE_OPAQUE = 4,
    /* It is null in the copy; the host's is neither read nor written. */
    HAUL_MODE_NULL = 5,
    /* A function, or a handle of something other than memory: kept, or translated by the context's
     * translations (context.h). */
    HAUL_MODE_EXTERNAL = 6
} haul_mode;

/* Of which type is the target? A value is asked for, and its case says the type; a value without a
 * case is HAUL_ERROR_GRAPH. The function's `target` is the start of the block. */
typedef enum haul_choice_kind {
    HAUL_CHOICE_NONE = 0,
    HAUL_CHOICE_SELF = 1,   /* a field of the struct that holds the row */
    HAUL_CHOICE_TARGET = 2, /* a field of the target: a tag at the same place in all cases */
    HAUL_CHOICE_FUNCTION = 3
} haul_choice_kind;

typedef struct haul_case {
    int64_t value;
    haul_type *const *type;
    int64_t base; /* more bytes from the word to the start of the block, in this case */
} haul_case;

typedef struct haul_choice {
    haul_choice_kind kind;
    haul_field_place field;
    int64_t mask; /* bits that count, of the value and of those of the cases */
    haul_function *function;
    const haul_case *cases;
    size_t case_count;
} haul_choice;

#define HAUL__ALL_BITS(S, m)                                                                       \
    (sizeof HAUL__AT(S, m) < 8 ? ((int64_t)1 << (8 * sizeof HAUL__AT(S, m) % 64)) - 1 : -1)
/* `cases` is an array of haul_case in sight of its size. */
#define HAUL__CASES(cases) cases, sizeof(cases) / sizeof *(cases)
#define HAUL_BY_FIELD(S, n, cases)                                                                 \
    {                                                                                              \
        HAUL_CHOICE_SELF, HAUL__PLACE(S, n, 1), HAUL__ALL_BITS(S, n), NULL, HAUL__CASES(cases)     \
    }
#define HAUL_BY_TAG(S, n, cases)                                                                   \
    {                                                                                              \
        HAUL_CHOICE_TARGET, HAUL__PLACE(S, n, 1), HAUL__ALL_BITS(S, n), NULL, HAUL__CASES(cases)   \
    }
#define HAUL_BY_FUNCTION(function, cases)                                                          \
    {                                                                                              \
        HAUL_CHOICE_FUNCTION, HAUL__NO_PLACE, -1, function, HAUL__CASES(cases)                     \
    }

/* Which way do bytes travel? Of a row of pointers: those of what its last pointers lead to,
 * embedded structs included and what these lead to in turn not; of HAUL_DATA_BY and HAUL_EMBED_BY
 * the field's own, of HAUL_TAIL_BY the tail's.
 *
 *     static const haul_rule input = { .direction = HAUL_IN };
 *     HAUL_ARRAY_BY(solver, matrix, &input, HAUL_N2(solver, n, n)),
 *     HAUL_ARRAY_BY(solver, result, HAUL_RULE(.direction = HAUL_OUT), HAUL_N(solver, n)),
 *     HAUL_DATA_BY(solver, iterations, HAUL_RULE(.direction = HAUL_OUT)),
 *
 * A direction is a promise, and every promise is kept: where two rows say different things of one
 * byte, it travels a way only if all of them let it. So nothing is ever written that some row calls
 * HAUL_IN, and nothing is read that some row calls HAUL_OUT, in whatever order things are found.
 *
 * HAUL_OUT and HAUL_NEITHER are never read on the host, not even to compare: they may be
 * uninitialised. So what has pointers, rules, tags or a size of its own cannot be of these, nor
 * what ends at a value, nor a field that a count or a condition is read from: refused at commit. A
 * refresh makes them zeros on the device again, as a ship does. What is HAUL_IN may have pointers;
 * haul_unmarshal_pointers leaves those alone, too, and those of the arrays of pointers that lead
 * there by a row of several levels.
 *
 * What a count or a condition is read from must come back as it went (haul_unmarshal, ship.h); a
 * field that is HAUL_IN does not come back, so that kernels may do with it as they like.
 *
 * An arena (arena.h) is sent as it lies: bytes that are HAUL_OUT are sent, too. Those that are
 * HAUL_IN do not come back as fields; rows that lead elsewhere are looked at only where the graph
 * is discovered (haul_ship_arena_from). */
typedef enum haul_direction {
    HAUL_BOTH = 0,
    HAUL_IN = 1,  /* to the device; never written on the host */
    HAUL_OUT = 2, /* from the device, where they begin as zeros; never read on the host */
    /* they have a place there, of zeros: room to work in, say. Unlike HAUL_SKIP, which leaves bytes
     * to other rows' descriptions, this holds whatever they say */
    HAUL_NEITHER = 3
} haul_direction;

/* How an address stands in the word. */
typedef enum haul_addressing {
    HAUL_ABSOLUTE = 0,
    /* the distance from the word to its target, signed, of 4 or 8 bytes; 0: null. In the copy: the
     * distance there. One that does not fit, or that is 0 there with a base, is HAUL_ERROR_LIMIT,
     * told by the first pack; one to no elements may be 0 there. Such a word never comes back. */
    HAUL_RELATIVE = 1
} haul_addressing;

typedef struct haul_rule haul_rule;
struct haul_rule {
    haul_when when;
    haul_else otherwise;
    haul_mode mode;
    /* bits of the word that are no part of the address; they are kept. Low ones (below 4096) that
     * two pointers' alignment does not leave free need a target aligned above them. High ones (from
     * 1 << 24) make it a word that the host works out and no device patches: see HAUL_HIGH_TAGS. A
     * word of tag bits alone is kept. */
    uintptr_t tag_bits;
    uintptr_t integer_below; /* words from 1 up to (not with) this are integers: kept */
    uintptr_t integer_from;  /* and these upwards ((uintptr_t)-2: -1 and -2). 0: none */
    /* the block begins so many bytes behind the address (-offsetof(S, m): in front of it). The
     * address may lie outside of the block, by up to HAUL_OUTSIDE_MAX: the copy's arena has spare
     * room for that. */
    int64_t base;
    haul_function *base_function; /* answers more of them; INT64_MIN refuses */
    haul_choice choice;           /* instead of the row's target */
    haul_addressing addressing;
    /* 1: its callbacks get here->parent (NULL for roots), those of the row's shape too. An object
     * is looked at once, whoever comes first: its answers must not depend on which of several
     * parents that was. Checked mode refuses an object that has two parents with two answers. Such
     * objects take a longer way. */
    int with_parent;
    /* its callbacks get here->holder, the nearest struct of this type: self, or one that self lies
     * in or was found through. See below. */
    haul_type *const *holder;
    /* of a pointer to pointers: the rule of each of the pointers in the array that it leads to.
     * Fields are those of the struct that holds the row, and so is self; index is the pointer's
     * place in the array, which may be that of its count, kind or flag in others. The first shape
     * counts them; further ones are behind each. */
    const haul_rule *each;
    haul_direction direction; /* of modes that follow */
};

#define HAUL_OUTSIDE_MAX ((size_t)1 << 20)

/* Holders: what a row is may stand in a struct far up, however long the way from there: the head of
 * a list is told from its nodes by the list object alone, and the sizes of an array of arrays of
 * arrays stand where its first pointer does.
 *
 *     HAUL_TEST_FUNCTION(is_head, node,
 *                        here->target == (const void *)&((const list *)here->holder)->head)
 *     static const haul_case cases[] = { { 0, &node_type, 0 },
 *                                        { 1, &list_type, -(int64_t)offsetof(list, head) } };
 *     HAUL_CHOICE(node, next,
 *                 HAUL_RULE(.holder = &list_type, .choice = HAUL_BY_FUNCTION(is_head, cases)))
 *
 * A type is a holder because a rule names it; it needs no row and no call for that, only not to be
 * closed before the type that names it (it leads there, so it cannot be). Each of its objects is
 * the holder for itself, for what lies in it and for all that it leads to, by any number of
 * pointers, until another object of that type takes over; those of other types in between do not
 * matter. Where a callback asks, and the object was found through none, that is HAUL_ERROR_GRAPH. A
 * rule that names a holder needs a callback that gets it: a condition, a base, a choice or a count,
 * that of a tail too. The callback of haul_type_set_size gets none.
 *
 * What was found through several holders is looked at once, for whichever came first, so its
 * answers must be the same for all of them. Checked mode follows it again for each, and refuses two
 * answers, with both paths.
 *
 * Objects between a holder and those that ask take a longer way than others, and a wider entry of
 * the worklist, whose size does not depend on how far up the holder is. Types that lie on no such
 * way pay nothing. */

/* The bits that a process' addresses leave free, for tag_bits: the top 16 (where pointers have 4
 * bytes, the top one, of processes below 2 GiB). A pointer of which any high bit is a tag is worked
 * out by the host, whenever it packs (ship, refresh, replan) and when an arena is copied to another
 * device, for the address that the arena has there; haul_relocate leaves it alone. An address there
 * that has a bit of the tag's own is HAUL_ERROR_LIMIT, with the path; a pointer to no elements is
 * the tag alone then. haul_unmarshal_pointers brings such a word back with whatever tag and address
 * it has by then. Values that are no pointers are told by integer_below and integer_from, or by a
 * `when` with HAUL_ELSE_RAW: a NaN-boxed number, say, by a function that looks at here->place. */
#define HAUL_HIGH_TAGS (~(((uintptr_t)1 << (sizeof(void *) > 4 ? 48 : 31)) - 1))
#if !defined(__cplusplus)
#define HAUL_RULE(...) (&(const haul_rule){ __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif
#endif
