/* Rules: conditions, modes, bases, chosen types, tags and directions of rows.
 *
 * A row may have a rule: a struct of which most members stay 0. It says when the row holds, who
 * owns the target, which bits of the word are tags, where the target's block begins, of which type
 * it is, and which way its bytes travel:
 *
 *     static const haul_rule is_branch = { .when = HAUL_EQUALS(node, kind, BRANCH) };
 *     HAUL_OBJECT_BY(node, child, &node_type, &is_branch)
 *     HAUL_OBJECT_BY(node, up, &node_type, HAUL_RULE(.tag_bits = 1))          the same in place
 *
 * HAUL_RULE is for C. It makes a compound literal, so it cannot stand in a static table inside a
 * function: there, give the rule a name.
 *
 * Rules are copied with their rows. They are evaluated for each object; types without rules pay
 * nothing for them, and neither do rules that hold only a direction.
 */
#ifndef HAUL_RULE_H
#define HAUL_RULE_H

#include "haul/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When does a row hold? A zeroed haul_when (field.h): always. */
#define HAUL_WHEN_ALWAYS HAUL_WHEN_KIND_ALWAYS
#define HAUL_WHEN_FIELD HAUL_WHEN_KIND_FIELD
#define HAUL_WHEN_NOT HAUL_WHEN_KIND_NOT
#define HAUL_WHEN_FUNCTION HAUL_WHEN_KIND_FUNCTION

/* n: an integer field of S, signed or not; constants otherwise. Values above 2^63 are in no
 * range. */
/* a field that is compared with c is read as c is */
#define HAUL__SIGN_OF(c) ((uint8_t)((int64_t)(c) < 0))
#define HAUL__READ(S, n, sign)                                                                     \
    {                                                                                              \
        offsetof(S, n) + HAUL__INTEGER(S, n), (uint8_t)sizeof HAUL__AT(S, n), sign,                \
        {                                                                                          \
            0, 0, 0                                                                                \
        }                                                                                          \
    }
#define HAUL__IF(kind, S, n, sign, mask, low, high)                                                \
    {                                                                                              \
        kind, 0, HAUL__READ(S, n, sign), mask, low, high, NULL                                     \
    }
#define HAUL_BETWEEN(S, n, low, high)                                                              \
    HAUL__IF(HAUL_WHEN_KIND_FIELD, S, n, HAUL__SIGN_OF(low), -1, low, high)
#define HAUL_EQUALS(S, n, c) HAUL_BETWEEN(S, n, c, c)
#define HAUL_DIFFERS(S, n, c) HAUL__IF(HAUL_WHEN_KIND_NOT, S, n, HAUL__SIGN_OF(c), -1, c, c)
#define HAUL_NEGATIVE(S, n) HAUL__IF(HAUL_WHEN_KIND_FIELD, S, n, 1, -1, INT64_MIN, -1)
/* (n & mask) == c */
#define HAUL_BITS(S, n, mask, c) HAUL__IF(HAUL_WHEN_KIND_FIELD, S, n, 1, mask, c, c)
#define HAUL_ANY_BIT(S, n, mask) HAUL__IF(HAUL_WHEN_KIND_NOT, S, n, 1, mask, 0, 0)
#define HAUL_NO_BIT(S, n, mask) HAUL_BITS(S, n, mask, 0)
#define HAUL_IF(function)                                                                          \
    {                                                                                              \
        HAUL_WHEN_KIND_FUNCTION, 0, { 0, 0, 0, { 0, 0, 0 } }, 0, 0, 0, function                    \
    }
/* As HAUL_COUNT_FUNCTION, for an expression that is true or false. */
#define HAUL_TEST_FUNCTION(name, S, expression) HAUL_COUNT_FUNCTION(name, S, (expression) ? 1 : 0)

/* What becomes of the field while its row does not hold. Null or zero is one thing: all bits 0. */
typedef enum haul_else {
    /* The copy has zeros; the host's bytes are not written, and only callbacks read them. */
    HAUL_ELSE_NULL = 0,
    HAUL_ELSE_RAW = 1 /* the bytes travel as they are, both ways: another arm's, say */
} haul_else;

/* Who owns the target of a pointer? A fixed word, below, has a value in the copy that the host
 * knows: no device patches it, and the device's value never comes back. */
typedef enum haul_mode {
    HAUL_MODE_OWN = 0, /* it belongs to the graph: followed */
    /* It belongs to another object of the graph and is not followed. It must lead to a described
     * byte or, without tag bits in it, one past a described range; else HAUL_ERROR_GRAPH. Its shape
     * does not count. */
    HAUL_MODE_ALIAS = 1,
    /* If the target is in a registered range (haul_context_add_static), the range's policy decides:
     * the pointer is a fixed word, null, or followed. Any other target is owned. */
    HAUL_MODE_OWN_OR_STATIC = 2,
    /* The target lies in a registered range or is an alias; else HAUL_ERROR_GRAPH. */
    HAUL_MODE_ALIAS_OR_STATIC = 3,
    /* Its bytes travel as they are, both ways, and are never followed. */
    HAUL_MODE_OPAQUE = 4,
    /* It is null in the copy; the host's is neither read nor written. */
    HAUL_MODE_NULL = 5,
    /* A function, or a handle of something other than memory: a fixed word, with its own value or
     * that of the context's translations (context.h). */
    HAUL_MODE_EXTERNAL = 6
} haul_mode;

/* Of which type is the target? A field or a function gives a value, and the case of that value
 * names the type. A value without a case is HAUL_ERROR_GRAPH. The function's `target` is the start
 * of the block. */
typedef enum haul_choice_kind {
    HAUL_CHOICE_NONE = 0,
    HAUL_CHOICE_SELF = 1,   /* a field of the struct that holds the row */
    HAUL_CHOICE_TARGET = 2, /* a field of the target: a tag at the same place in all cases */
    HAUL_CHOICE_FUNCTION = 3
} haul_choice_kind;

typedef struct haul_choice {
    haul_choice_kind kind;
    haul_field_place field;
    int64_t mask; /* bits of the value, and of the cases' values, that are compared */
    haul_function *function;
    const haul_case *cases;
    size_t case_count;
} haul_choice;

#define HAUL__ALL_BITS(S, m)                                                                       \
    (sizeof HAUL__AT(S, m) < 8 ? ((int64_t)1 << (8 * sizeof HAUL__AT(S, m) % 64)) - 1 : -1)
/* `cases` is an array of haul_case, not a pointer to one. */
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

/* Which way do bytes travel? In a row of pointers, the direction holds for the targets of its last
 * pointers: for their embedded structs too, but not for the targets of their own pointers. In
 * HAUL_DATA_BY and HAUL_EMBED_BY it holds for the field, in HAUL_TAIL_BY for the tail.
 *
 *     static const haul_rule input = { .direction = HAUL_IN };
 *     HAUL_ARRAY_BY(solver, matrix, &input, HAUL_N2(solver, n, n)),
 *     HAUL_ARRAY_BY(solver, result, HAUL_RULE(.direction = HAUL_OUT), HAUL_N(solver, n)),
 *     HAUL_DATA_BY(solver, iterations, HAUL_RULE(.direction = HAUL_OUT)),
 *
 * If two rows give different directions to one byte, it travels a way only if both allow it. So a
 * byte that any row calls HAUL_IN is never written, and a byte that any row calls HAUL_OUT is never
 * read, in whatever order objects are found.
 *
 * Bytes that are HAUL_OUT or HAUL_NEITHER are never read on the host, not even to compare: they may
 * be uninitialised. So commit refuses these directions for targets with pointers, rules, tags or a
 * size function, for arrays that end at a sentinel, and for fields that a count or a condition
 * reads. A refresh makes such bytes zeros on the device again, as a ship does. Targets that are
 * HAUL_IN may have pointers. haul_update_host with options.pointers leaves these pointers alone,
 * too, and also the arrays of pointers that lead to such targets in a row of several levels.
 *
 * A field that a count or a condition reads must come back unchanged (haul_unmarshal, ship.h). A
 * field that is HAUL_IN does not come back, so kernels may change it.
 *
 * An arena (arena.h) is sent as it lies, HAUL_OUT bytes included. HAUL_IN fields do not come back.
 * The directions that pointers give to their targets count only if the graph is discovered
 * (haul_from_arena_root). */
typedef enum haul_direction {
    HAUL_BOTH = 0,
    HAUL_IN = 1,  /* to the device; never written on the host */
    HAUL_OUT = 2, /* from the device, where they begin as zeros; never read on the host */
    /* zeros on the device that never come back: room to work in, say. HAUL_SKIP gives way to other
     * rows that describe the same bytes; HAUL_NEITHER does not */
    HAUL_NEITHER = 3
} haul_direction;

/* How a word holds an address. */
typedef enum haul_addressing {
    HAUL_ABSOLUTE = 0,
    /* the distance from the word to its target: signed, 4 or 8 bytes, 0 for null. The copy holds
     * the distance in the copy. The first pack answers HAUL_ERROR_LIMIT if that distance does not
     * fit, or is 0 with a base; a distance to no elements may be 0. Such a word never comes back */
    HAUL_RELATIVE = 1
} haul_addressing;

typedef struct haul_rule haul_rule;
struct haul_rule {
    haul_when when;
    haul_else otherwise;
    haul_mode mode;
    /* bits of the word that are no part of the address; the copy has them, too. Low bits (below
     * 4096) need a target with an alignment above them; two pointers' alignment is always given.
     * With high bits (from 1 << 24) the host works out the word, and no device patches it: see
     * HAUL_HIGH_TAGS. A word of tag bits alone is a fixed word. */
    uintptr_t tag_bits;
    uintptr_t integer_below; /* words from 1 to below this are integers: fixed words */
    uintptr_t integer_from;  /* words from this up, too ((uintptr_t)-2: -1, -2); 0: none */
    /* distance in bytes from the address to the begin of its block (-offsetof(S, m) if the pointer
     * leads to the member m of S). The address may lie outside of the block, by up to
     * HAUL_OUTSIDE_MAX: the copy's arena has spare room for that. */
    int64_t base;
    haul_function *base_function; /* answers bytes to add to base; INT64_MIN refuses */
    haul_choice choice;           /* instead of the row's target */
    haul_addressing addressing;
    /* 1: the rule's callbacks and those of the row's shape get here->parent (NULL for roots). An
     * object is evaluated once, for the parent that comes first, so the answers must not depend on
     * the parent. Checked mode refuses an object whose parents give different answers. Discovery of
     * such objects is slower. */
    int with_parent;
    /* the callbacks get here->holder, the nearest struct of this type: self, or one that self lies
     * in or was found through. See below. */
    haul_type *const *holder;
    /* for a pointer to pointers: the rule of each pointer in the array. The first shape counts the
     * array; the further shapes belong to each of its pointers. Fields and self are those of the
     * struct that holds the row. index is the pointer's place in the array, and may also index
     * other arrays, of counts, kinds or flags. */
    const haul_rule *each;
    haul_direction direction; /* of modes that follow */
};

#define HAUL_OUTSIDE_MAX ((size_t)1 << 20)

/* Holders. The meaning of a row may depend on a struct far above its object. Only the list object
 * tells the head of a list from its nodes; the sizes of an array of arrays of arrays stand beside
 * its first pointer.
 *
 *     HAUL_TEST_FUNCTION(is_head, node,
 *                        here->target == (const void *)&((const list *)here->holder)->head)
 *     static const haul_case cases[] = { { 0, &node_type, 0 },
 *                                        { 1, &list_type, -(int64_t)offsetof(list, head) } };
 *     HAUL_CHOICE(node, next,
 *                 HAUL_RULE(.holder = &list_type, .choice = HAUL_BY_FUNCTION(is_head, cases)))
 *
 * A type becomes a holder when a rule names it; it needs no row and no call for that. It must not
 * be committed before the type whose rule names it. Each of its objects is the holder for itself,
 * for the structs in it and for everything that it leads to, by any number of pointers, up to the
 * next object of that type; objects of other types in between do not matter. If a rule needs a
 * holder, and the object was not found through one, that is HAUL_ERROR_GRAPH. A rule that names a
 * holder needs a callback: a condition, a base, a choice, or a count (a tail's count, too). The
 * callback of haul_type_set_size gets no holder.
 *
 * An object that several holders lead to is evaluated once, for the holder that comes first, so the
 * answers must be the same for all of them. Checked mode follows it again for each holder, and
 * refuses different answers, with both paths.
 *
 * Discovery of the objects between a holder and the rule is slower, and takes a wider entry of the
 * worklist, whose size does not depend on the distance. Types that are on no such path pay
 * nothing. */

/* The bits that a process's addresses leave free, for tag_bits: the top 16 (the top one if pointers
 * have 4 bytes, in processes below 2 GiB). The host works out pointers with high tag bits, from the
 * arena's address on the device, whenever it packs (ship, refresh, replan) and when an arena is
 * copied to another device; haul_plan_relocate leaves them alone. If the device address has a bit
 * of the tag, that is HAUL_ERROR_LIMIT, with the path; a pointer to no elements becomes the tag
 * alone. haul_update_host with options.pointers brings back both the tag and the address that the
 * device has. Numbers in the same word are excluded by integer_below and integer_from, or by a
 * `when` with HAUL_ELSE_RAW. For a NaN-boxed number, the condition is a function that reads
 * here->place. */
#define HAUL_HIGH_TAGS (~(((uintptr_t)1 << (sizeof(void *) > 4 ? 48 : 31)) - 1))
#if !defined(__cplusplus)
#define HAUL_RULE(...) (&(const haul_rule){ __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif
#endif
