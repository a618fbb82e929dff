/* Brief objects (walk/brief.c): short structs of whole words whose rules read their own fields.
 *
 * Types are drawn by chance, a role and a direction for each word. Graphs of such objects, which
 * touch or not, are packed and come back. What each byte becomes is worked out here from its role
 * and its direction; and a walk that asks `readable`, which takes all objects the general way, must
 * find the same. So must several threads, beside an array that is so long that they share the walk.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/outcomes.h"
#include "support/random.h"
#include "support/types.h"

#define WORD sizeof(void *)

enum {
    ROUNDS = LARGE(1000, 100),
    GRAPHS = 4,
    TYPES = 3,
    MOST_WORDS = 64,
    MOST_FIELDS = 2 * MOST_WORDS,
    FEW_NODES = 40,
    MOST_NODES = 300,
    LEAVES = 20,
    MOST_HALVES = 8, /* words of a brief type of which a half travels by no rule */
    MOST_RULED = 16, /* pointers by rules of a brief object */
    KINDS = 4        /* the values of a node's first word */
};

/* So many that an array of them makes a shared walk worth it. */
#if defined(HAUL_STRESS_THREADS) || defined(HAUL_EMULATED)
enum { MANY = 100 };
#else
enum { MANY = 16000 };
#endif

typedef enum role {
    DATA,
    SKIPPED,
    TO_NODE,
    TO_LEAF,
    TAGGED,       /* to a node, with its lowest bit */
    IF_ONE,       /* to a node if the kind is 1, else nothing */
    IF_ONE_RAW,   /* the same, else bytes */
    ARM,          /* to a node if the kind is 1, bytes if it is 2 */
    HALF_ARM,     /* the same, half as many bytes */
    UNLESS_THREE, /* to a leaf, unless the kind is 3 */
    BORROWED,     /* to its own node */
    CHOSEN,       /* to a leaf if the kind is 0, else to a node */
    TEXT,         /* if the kind is 2 */
    NUMBERS,      /* as many as the kind says */
    SEVERAL,      /* as many nodes, side by side */
    HALF_SKIPPED, /* its second half */
    HALF_ELSE,    /* bytes: its first half by a field whatever the kind, its second by none */
    HALVES,       /* bytes if the kind is 1, by two fields */
    ONLY_ONE,     /* bytes if the kind is 1 */
    ROLES
} role;

typedef struct drawn {
    haul_type *type;
    size_t words, field_count;
    role role[MOST_WORDS];
    int target[MOST_WORDS];             /* of a pointer to a node: its type */
    haul_transfer transfer[MOST_WORDS]; /* of bytes, or of what a pointer leads to */
    haul_case cases[MOST_WORDS][KINDS];
    haul_field fields[MOST_FIELDS];
} drawn;

typedef struct leaf {
    struct leaf *next;
    uintptr_t number;
} leaf;

/* A graph beside so many leaves that all threads discover both. */
typedef struct wide {
    leaf *many;
    uintptr_t *nodes;
    int64_t many_count, node_count;
} wide;

/* The world of one round. */
static struct {
    drawn types[TYPES];
    haul_type *leaf_type;
    uintptr_t *node[MOST_NODES];
    int type_of[MOST_NODES];
    size_t node_count;
    leaf leaves[LEAVES];
    char text[8];
    int32_t numbers[KINDS][KINDS]; /* an array for each count */
    uintptr_t *pool;
    int is_reached[MOST_NODES];
    struct { /* what pointers bar from coming back */
        int node[MOST_NODES], leaf[LEAVES], text;
    } stays;
    int leaf_is_reached[LEAVES], text_is_reached, are_reached[KINDS]; /* the arrays of numbers */
    int are_unsent[KINDS], are_unreturned[KINDS];
    int is_array;    /* nodes of the last type are one array, the root */
    int has_several; /* arrays of nodes that overlap are counted by the order of finding */
} the;

/* ---- Types. */

static haul_field *add_field(drawn *t, size_t word, int kind)
{
    haul_field *field = &t->fields[t->field_count++];
    memset(field, 0, sizeof *field);
    field->name = "f";
    field->kind = kind;
    field->levels = kind == HAUL_FIELD_POINTER;
    field->offset = word * WORD;
    field->bytes = WORD;
    return field;
}

static haul_integer kind_field(void)
{
    haul_integer place;
    memset(&place, 0, sizeof place);
    place.bytes = sizeof(int32_t);
    place.sign = 1;
    return place;
}

static haul_when when_kind(int kind, int value)
{
    haul_when when;
    memset(&when, 0, sizeof when);
    when.kind = kind;
    when.field = kind_field();
    when.mask = -1;
    when.low = when.high = value;
    return when;
}

static void choose_by_kind(drawn *t, size_t word, haul_field *field)
{
    int i;
    for (i = 0; i < KINDS; i++) {
        t->cases[word][i].value = i;
        t->cases[word][i].type = i ? &the.types[t->target[word]].type : &the.leaf_type;
    }
    field->target = NULL;
    field->type_switch.kind = HAUL_SWITCH_KIND_SELF;
    field->type_switch.field = kind_field();
    field->type_switch.cases = t->cases[word];
    field->type_switch.case_count = KINDS;
    field->type_switch.case_bytes = sizeof(haul_case);
}

/* Has the word's first field a direction? Of an arm, the other one has it. */
static int has_transfer(role what)
{
    return what != HALF_SKIPPED && what != BORROWED && what != ARM && what != HALF_ARM;
}

static void draw_pointer(drawn *t, size_t word)
{
    haul_field *field = add_field(t, word, HAUL_FIELD_POINTER), *raw;
    const int target = t->target[word];
    if (has_transfer(t->role[word]))
        field->transfer = t->transfer[word];
    if (t->role[word] < HALF_SKIPPED)
        field->target = &the.types[target].type;
    else
        field->levels = 0;
    switch (t->role[word]) {
    case HALF_SKIPPED:
        field->kind = HAUL_FIELD_SKIP;
        field->offset += WORD / 2;
        field->bytes = WORD / 2;
        break;
    case ONLY_ONE:
        field->kind = HAUL_FIELD_RAW;
        field->when = when_kind(HAUL_WHEN_KIND_FIELD, 1);
        break;
    case HALF_ELSE:
    case HALVES:
        field->kind = HAUL_FIELD_RAW;
        field->bytes = WORD / 2;
        field->when = when_kind(HAUL_WHEN_KIND_FIELD, 1);
        field->else_raw = t->role[word] == HALF_ELSE;
        if (t->role[word] == HALF_ELSE)
            break;
        raw = add_field(t, word, HAUL_FIELD_RAW);
        *raw = *field;
        raw->offset += WORD / 2;
        raw->transfer = t->transfer[word];
        break;
    case TO_LEAF:
        field->target = &the.leaf_type;
        break;
    case TAGGED:
        field->tag_bits = 1;
        break;
    case IF_ONE:
    case IF_ONE_RAW:
        field->when = when_kind(HAUL_WHEN_KIND_FIELD, 1);
        field->else_raw = t->role[word] == IF_ONE_RAW;
        break;
    case ARM:
    case HALF_ARM:
        field->when = when_kind(HAUL_WHEN_KIND_FIELD, 1);
        raw = add_field(t, word, HAUL_FIELD_RAW);
        raw->bytes = t->role[word] == ARM ? WORD : WORD / 2;
        raw->when = when_kind(HAUL_WHEN_KIND_FIELD, 2);
        raw->transfer = t->transfer[word];
        break;
    case UNLESS_THREE:
        field->target = &the.leaf_type;
        field->when = when_kind(HAUL_WHEN_KIND_NOT, 3);
        break;
    case BORROWED:
        field->target = &t->type;
        field->ownership = HAUL_BORROWED;
        break;
    case CHOSEN:
        choose_by_kind(t, word, field);
        break;
    case TEXT:
        field->target = NULL;
        field->element_bytes = 1;
        field->count.kind = HAUL_COUNT_KIND_TERMINATED;
        field->when = when_kind(HAUL_WHEN_KIND_FIELD, 2);
        break;
    case NUMBERS:
        field->target = NULL;
        field->element_bytes = sizeof the.numbers[0][0];
        field->count.kind = HAUL_COUNT_KIND_PRODUCT;
        field->count.fields = 1;
        field->count.field[0] = kind_field();
        field->count.times = 1;
        break;
    case SEVERAL:
        field->count.kind = HAUL_COUNT_KIND_PRODUCT;
        field->count.fields = 1;
        field->count.field[0] = kind_field();
        field->count.times = 1;
        the.has_several = 1;
        break;
    default:
        break;
    }
}

/* Only plain bytes and their arrays need not be sent. */
static haul_transfer draw_transfer(random_source *random, role what, size_t often)
{
    static const haul_transfer all[] = { HAUL_COPYIN, HAUL_COPYOUT, HAUL_CREATE };
    const int is_pointer = what >= TO_NODE && what < HALF_SKIPPED;
    if (random_below(random, often))
        return HAUL_COPY;
    return is_pointer && what != NUMBERS && what != ARM && what != HALF_ARM
               ? HAUL_COPYIN
               : all[random_below(random, 3)];
}

static void draw_type(random_source *random, drawn *t, int has_directions)
{
    const size_t rare = random_between(random, 1, 3), often = random_between(random, 1, 20);
    size_t i;
    memset(t, 0, sizeof *t);
    t->words = random_one_in(random, 4) ? random_between(random, 2, MOST_WORDS)
                                        : random_between(random, 2, 12);
    t->role[1] = TO_NODE; /* most graphs shall be large */
    t->target[1] = (int)random_below(random, TYPES);
    for (i = 2; i < t->words; i++) {
        t->role[i] = random_below(random, rare) ? DATA : (role)random_below(random, ROLES);
        t->target[i] = (int)random_below(random, TYPES);
        if (has_directions)
            t->transfer[i] = draw_transfer(random, t->role[i], often);
    }
}

static void make_type(drawn *t, const char *name)
{
    haul_struct what;
    size_t i;
    for (i = 1; i < t->words; i++) {
        if (t->role[i] == SKIPPED)
            add_field(t, i, HAUL_FIELD_SKIP);
        else if (t->role[i] != DATA)
            draw_pointer(t, i);
        else if (t->transfer[i] != HAUL_COPY)
            add_field(t, i, HAUL_FIELD_RAW)->transfer = t->transfer[i];
    }
    memset(&what, 0, sizeof what);
    what.name = name;
    what.bytes = t->words * WORD;
    what.alignment = WORD;
    what.fields = t->fields;
    what.field_count = t->field_count;
    what.field_bytes = sizeof *t->fields;
    t->type = type_new(&what);
}

static void make_types(random_source *random, int has_directions)
{
    static const char *const names[TYPES] = { "a", "b", "c" };
    static const haul_field leaf_fields[] = { HAUL_OBJECT(leaf, next, &the.leaf_type) };
    size_t i;
    the.has_several = 0;
    the.leaf_type = TYPE_NEW(leaf, leaf_fields);
    for (i = 0; i < TYPES; i++)
        draw_type(random, &the.types[i], has_directions);
    for (i = 0; i < TYPES; i++)
        make_type(&the.types[i], names[i]);
    for (i = 0; i < TYPES; i++)
        CHECK_STATUS(haul_type_commit(the.types[i].type), HAUL_OK);
}

static void free_types(void)
{
    size_t i;
    for (i = 0; i < TYPES; i++)
        haul_type_free(&the.types[i].type);
    haul_type_free(&the.leaf_type);
}

/* ---- Graphs. */

static int kind_of(const uintptr_t *node)
{
    int32_t kind;
    memcpy(&kind, node, sizeof kind);
    return (int)kind;
}

/* A node of the type; NULL: there is none. */
static uintptr_t *any_node(random_source *random, int type)
{
    const size_t first = random_below(random, the.node_count);
    size_t i;
    for (i = 0; i < the.node_count; i++)
        if (the.type_of[(first + i) % the.node_count] == type)
            return the.node[(first + i) % the.node_count];
    return NULL;
}

/* Several nodes of the type, side by side. */
static uintptr_t *any_row(random_source *random, int type, size_t count)
{
    const size_t first = random_below(random, the.node_count);
    size_t i, k;
    for (i = 0; i < the.node_count; i++) {
        const size_t from = (first + i) % the.node_count;
        for (k = 0; k < count && from + k < the.node_count && the.type_of[from + k] == type &&
                    the.node[from + k] == the.node[from] + k * the.types[type].words;
             k++)
            ;
        if (k == count)
            return the.node[from];
    }
    return NULL;
}

static uintptr_t word_of(random_source *random, const drawn *t, uintptr_t *node, size_t i)
{
    const int kind = kind_of(node), is_null = random_one_in(random, 5);
    uintptr_t *const to = is_null ? NULL : any_node(random, t->target[i]);
    leaf *const any_leaf = is_null ? NULL : &the.leaves[random_below(random, LEAVES)];
    const uintptr_t bytes = (uintptr_t)random_next(random);
    switch (t->role[i]) {
    case TO_NODE:
        return (uintptr_t)to;
    case TO_LEAF:
        return (uintptr_t)any_leaf;
    case TAGGED:
        return to ? (uintptr_t)to | random_below(random, 2) : 0;
    case IF_ONE:
    case IF_ONE_RAW:
    case ARM:
    case HALF_ARM:
        return kind == 1 ? (uintptr_t)to : bytes;
    case UNLESS_THREE:
        return kind != 3 ? (uintptr_t)any_leaf : bytes;
    case BORROWED:
        return is_null ? 0 : (uintptr_t)node;
    case CHOSEN:
        return kind ? (uintptr_t)to : (uintptr_t)any_leaf;
    case TEXT:
        return kind == 2 && !is_null ? (uintptr_t)the.text : kind == 2 ? 0 : bytes;
    case NUMBERS:
        return kind ? (uintptr_t)the.numbers[kind] : 0;
    case SEVERAL:
        return kind ? (uintptr_t)any_row(random, t->target[i], (size_t)kind) : 0;
    default:
        return bytes;
    }
}

static size_t pool_bytes(void)
{
    return (size_t)MOST_NODES * (MOST_WORDS + 4) * WORD;
}

static void make_graph(random_source *random)
{
    const size_t apart = random_below(random, 4), words = pool_bytes() / WORD;
    size_t i, k, at = 0;
    the.pool = malloc(words * WORD);
    CHECK(the.pool != NULL);
    memset(the.pool, 0x5a, words * WORD);
    the.is_array = random_one_in(random, 16);
    the.node_count = the.is_array ? random_between(random, FEW_NODES, MOST_NODES)
                                  : random_between(random, TYPES * (KINDS - 1), FEW_NODES);
    for (i = 0; i < the.node_count; i++) {
        const int is_row = i < TYPES * (KINDS - 1); /* each type has the longest array */
        const int is_any = !is_row && !the.is_array && random_one_in(random, 2);
        const int type = is_row   ? (int)(i / (KINDS - 1))
                         : is_any ? (int)random_below(random, TYPES)
                                  : the.type_of[i - 1];
        const int32_t kind = (int32_t)random_below(random, KINDS);
        at += (is_row && i % (KINDS - 1)) || (the.is_array && !is_row)
                  ? 0
                  : random_below(random, apart + 1);
        the.type_of[i] = type;
        the.node[i] = the.pool + at;
        memcpy(the.node[i], &kind, sizeof kind);
        at += the.types[type].words;
    }
    for (i = 0; i < the.node_count; i++) {
        const drawn *t = &the.types[the.type_of[i]];
        for (k = 1; k < t->words; k++)
            the.node[i][k] = word_of(random, t, the.node[i], k);
    }
    for (i = 0; i < LEAVES; i++) {
        the.leaves[i].next = random_one_in(random, 3) ? NULL : &the.leaves[i * 7 % LEAVES];
        the.leaves[i].number = (uintptr_t)random_next(random);
    }
    for (i = 0; i < KINDS; i++)
        for (k = 0; k < KINDS; k++)
            the.numbers[i][k] = (int32_t)(random_next(random) & 0x7fffffff);
    memcpy(the.text, "a text", 7);
}

/* ---- What becomes of them. */

/* Is the word a pointer now? *rest: how many of its first bytes travel otherwise. */
static int is_pointer(const drawn *t, const uintptr_t *node, size_t i, size_t *rest)
{
    const int kind = kind_of(node);
    *rest = 0;
    switch (t->role[i]) {
    case DATA:
        *rest = WORD;
        return 0;
    case SKIPPED:
        return 0;
    case IF_ONE:
        return kind == 1;
    case IF_ONE_RAW:
    case ARM:
    case HALF_ARM:
        if (kind == 2 || t->role[i] == IF_ONE_RAW)
            *rest = t->role[i] == HALF_ARM ? WORD / 2 : WORD;
        return kind == 1;
    case UNLESS_THREE:
        return kind != 3;
    case HALF_SKIPPED:
        *rest = WORD / 2;
        return 0;
    case HALF_ELSE:
        *rest = WORD;
        return 0;
    case HALVES:
    case ONLY_ONE:
        *rest = kind == 1 ? WORD : 0;
        return 0;
    case TEXT:
        return kind == 2;
    default:
        return 1;
    }
}

static int is_unsent(haul_transfer transfer)
{
    return transfer == HAUL_COPYOUT || transfer == HAUL_CREATE;
}

static int is_unreturned(haul_transfer transfer)
{
    return transfer == HAUL_COPYIN || transfer == HAUL_CREATE;
}

/* How many of the word's first bytes have its direction now? */
static size_t directed_bytes(const drawn *t, const uintptr_t *node, size_t i)
{
    const int kind = kind_of(node);
    switch (t->role[i]) {
    case DATA:
        return WORD;
    case ARM:
        return kind == 2 ? WORD : 0;
    case HALF_ARM:
        return kind == 2 ? WORD / 2 : 0;
    case HALVES:
    case ONLY_ONE:
        return kind == 1 ? WORD : 0;
    case HALF_ELSE:
        return kind == 1 ? WORD / 2 : 0;
    default:
        return 0;
    }
}

static size_t number_of(uintptr_t address)
{
    size_t i;
    for (i = 0; i < the.node_count && (uintptr_t)the.node[i] != address; i++)
        ;
    return i;
}

/* Marks what a pointer to anything but nodes reaches. */
static void reach_beside(const drawn *t, const uintptr_t *node, size_t i)
{
    const int kind = kind_of(node), stays = is_unreturned(t->transfer[i]);
    const leaf *at = (const leaf *)node[i];
    if (!node[i])
        return;
    if (t->role[i] == TEXT) {
        the.text_is_reached = 1;
        the.stays.text |= stays;
    } else if (t->role[i] == NUMBERS) {
        the.are_reached[kind] = 1;
        the.are_unsent[kind] |= is_unsent(t->transfer[i]);
        the.are_unreturned[kind] |= stays;
    } else if (t->role[i] == TO_LEAF || t->role[i] == UNLESS_THREE ||
               (t->role[i] == CHOSEN && !kind)) {
        the.stays.leaf[at - the.leaves] |= stays;
        for (; at && !the.leaf_is_reached[at - the.leaves]; at = at->next)
            the.leaf_is_reached[at - the.leaves] = 1;
    }
}

/* Marks what the node's pointers reach; the list of nodes is the worklist. */
static size_t reach_from(size_t first, size_t roots, size_t *list)
{
    size_t count = 0, read, i, rest;
    memset(the.is_reached, 0, sizeof the.is_reached);
    memset(&the.stays, 0, sizeof the.stays);
    memset(the.leaf_is_reached, 0, sizeof the.leaf_is_reached);
    memset(the.are_reached, 0, sizeof the.are_reached);
    memset(the.are_unsent, 0, sizeof the.are_unsent);
    memset(the.are_unreturned, 0, sizeof the.are_unreturned);
    the.text_is_reached = 0;
    for (; count < roots; count++) {
        list[count] = first + count;
        the.is_reached[first + count] = 1;
    }
    for (read = 0; read < count; read++) {
        const uintptr_t *node = the.node[list[read]];
        const drawn *t = &the.types[the.type_of[list[read]]];
        for (i = 1; i < t->words; i++) {
            const size_t to = number_of(node[i] - (t->role[i] == TAGGED ? node[i] & 1 : 0));
            const size_t end = to + (t->role[i] == SEVERAL ? (size_t)kind_of(node) : 1);
            size_t k;
            if (!is_pointer(t, node, i, &rest))
                continue;
            reach_beside(t, node, i);
            for (k = to; k < end && k < the.node_count; k++) {
                the.stays.node[k] |= has_transfer(t->role[i]) && is_unreturned(t->transfer[i]);
                if (the.is_reached[k])
                    continue;
                the.is_reached[k] = 1;
                list[count++] = k;
            }
        }
    }
    return count;
}

static void check_word(const haul_plan *plan, const char *arena, const drawn *t,
                       const uintptr_t *node, size_t i, uintptr_t copy)
{
    const uintptr_t tag = t->role[i] == TAGGED ? node[i] & 1 : 0, target = node[i] - tag;
    uintptr_t expected = 0;
    size_t rest, offset;
    if (!is_pointer(t, node, i, &rest)) {
        memcpy(&expected, &node[i], rest);
        if (is_unsent(t->transfer[i]))
            memset(&expected, 0, directed_bytes(t, node, i));
        CHECK(copy == expected);
        return;
    }
    if (!target) {
        CHECK(copy == 0);
        return;
    }
    CHECK_STATUS(haul_plan_offset(plan, (const void *)target, &offset), HAUL_OK);
    CHECK(copy == (uintptr_t)arena + offset + tag);
}

static void check_copies(const haul_plan *plan, const char *arena, const size_t *list, size_t count)
{
    size_t i, k;
    for (i = 0; i < count; i++) {
        const uintptr_t *node = the.node[list[i]];
        const drawn *t = &the.types[the.type_of[list[i]]];
        size_t offset;
        CHECK_STATUS(haul_plan_offset(plan, node, &offset), HAUL_OK);
        for (k = 0; k < t->words; k++) {
            uintptr_t copy;
            memcpy(&copy, arena + offset + k * WORD, WORD);
            check_word(plan, arena, t, node, k, copy);
        }
    }
    for (i = 0; i < the.node_count; i++) {
        size_t offset;
        if (!the.is_reached[i] && haul_plan_offset(plan, the.node[i], &offset) == HAUL_OK)
            CHECK(i == 0 || (char *)the.node[i] ==
                                (char *)(the.node[i - 1] + the.types[the.type_of[i - 1]].words));
    }
}

/* The contents of the world, to be put back. */
typedef struct contents {
    uintptr_t *pool;
    leaf leaves[LEAVES];
    char text[sizeof the.text];
    int32_t numbers[KINDS][KINDS];
} contents;

static void keep(contents *kept)
{
    kept->pool = malloc(pool_bytes());
    CHECK(kept->pool != NULL);
    memcpy(kept->pool, the.pool, pool_bytes());
    memcpy(kept->leaves, the.leaves, sizeof the.leaves);
    memcpy(kept->text, the.text, sizeof the.text);
    memcpy(kept->numbers, the.numbers, sizeof the.numbers);
}

static void put_back(const contents *kept)
{
    memcpy(the.pool, kept->pool, pool_bytes());
    memcpy(the.leaves, kept->leaves, sizeof the.leaves);
    memcpy(the.text, kept->text, sizeof the.text);
    memcpy(the.numbers, kept->numbers, sizeof the.numbers);
}

/* What pointers to anything but nodes lead to, after the return. */
static void check_rest(const contents *after)
{
    size_t i, k;
    for (i = 0; i < LEAVES; i++) {
        const int comes = the.leaf_is_reached[i] && !the.stays.leaf[i];
        uintptr_t expected = the.leaves[i].number;
        for (k = 0; comes && k < WORD; k++)
            ((unsigned char *)&expected)[k] ^= 0x33;
        CHECK(after->leaves[i].number == expected);
    }
    CHECK(after->text[0] == (the.text[0] ^ (the.text_is_reached && !the.stays.text ? 0x33 : 0)));
    for (i = 1; i < KINDS; i++)
        for (k = 0; k < i; k++) {
            const int32_t sent = the.are_unsent[i] ? 0 : the.numbers[i][k];
            const int comes = the.are_reached[i] && !the.are_unreturned[i];
            CHECK(after->numbers[i][k] == (comes ? sent ^ 0x33333333 : the.numbers[i][k]));
        }
}

/* Each byte of the copy changes, and comes back. */
static void check_return(haul_plan *plan, haul_plan *general, unsigned char *arena,
                         const size_t *list, size_t count)
{
    contents before, after;
    haul_plan_info info;
    size_t i, k, rest, byte;
    haul_plan_get_info(plan, &info);
    keep(&before);
    for (i = 0; i < info.arena_bytes; i++)
        arena[i] ^= 0x33;
    CHECK_STATUS(haul_plan_unpack(plan, arena, info.arena_bytes, 1), HAUL_OK);
    keep(&after);
    put_back(&before);
    CHECK_STATUS(haul_plan_unpack(general, arena, info.arena_bytes, 1), HAUL_OK);
    CHECK(memcmp(the.pool, after.pool, pool_bytes()) == 0);
    CHECK(memcmp(the.leaves, after.leaves, sizeof the.leaves) == 0);
    CHECK(memcmp(the.text, after.text, sizeof the.text) == 0);
    CHECK(memcmp(the.numbers, after.numbers, sizeof the.numbers) == 0);
    put_back(&before);
    for (i = 0; i < count; i++) {
        const uintptr_t *node = the.node[list[i]], *now = after.pool + (node - the.pool);
        const drawn *t = &the.types[the.type_of[list[i]]];
        for (k = 1; k < t->words; k++) {
            const int stays = is_pointer(t, node, k, &rest) || the.stays.node[list[i]];
            const size_t directed = directed_bytes(t, node, k);
            for (byte = 0; byte < WORD; byte++) {
                const unsigned char here = ((const unsigned char *)&node[k])[byte];
                const int is_directed = byte < directed;
                const int sent = is_directed && is_unsent(t->transfer[k]) ? 0 : here;
                const int comes =
                    !stays && byte < rest && !(is_directed && is_unreturned(t->transfer[k]));
                CHECK(((const unsigned char *)&now[k])[byte] == (comes ? sent ^ 0x33 : here));
            }
        }
    }
    check_rest(&after);
    free(before.pool);
    free(after.pool);
}

static int any_range(void *user, const void *address, size_t bytes)
{
    (void)user;
    (void)address;
    (void)bytes;
    return 1;
}

/* The same arena by both plans. */
static void check_alike(haul_plan *plan, haul_plan *general, void *arena)
{
    haul_plan_info info, other;
    void *again;
    haul_plan_get_info(plan, &info);
    haul_plan_get_info(general, &other);
    if (!the.has_several)
        CHECK_EQ(info.objects, other.objects);
    CHECK_EQ(info.pointers, other.pointers);
    CHECK_EQ(info.graph_bytes, other.graph_bytes);
    CHECK_EQ(info.arena_bytes, other.arena_bytes);
    again = malloc(info.arena_bytes);
    CHECK(again != NULL);
    CHECK_STATUS(haul_plan_pack(general, again, info.arena_bytes, (uintptr_t)arena, NULL), HAUL_OK);
    CHECK(memcmp(arena, again, info.arena_bytes) == 0);
    free(again);
}

static void check_graph(random_source *random, haul_context *asks)
{
    const size_t first =
        the.is_array ? (TYPES - 1) * (KINDS - 1) : random_below(random, the.node_count);
    const size_t roots = the.is_array ? the.node_count - first : 1;
    const haul_root root = { the.node[first], the.types[the.type_of[first]].type, roots };
    const haul_source source = haul_from_roots(&root, 1);
    size_t list[MOST_NODES], count;
    haul_plan *plan = NULL, *general = NULL;
    haul_plan_info info;
    char *memory, *arena;
    CHECK_STATUS(haul_plan_create(type_context(), source, NULL, &plan), HAUL_OK);
    CHECK_STATUS(haul_plan_create(asks, source, NULL, &general), HAUL_OK);
    haul_plan_get_info(plan, &info);
    memory = malloc(info.arena_bytes + info.alignment);
    CHECK(memory != NULL);
    arena = memory + (info.alignment - (uintptr_t)memory % info.alignment) % info.alignment;
    CHECK_STATUS(haul_plan_pack(plan, arena, info.arena_bytes, (uintptr_t)arena, NULL), HAUL_OK);
    check_alike(plan, general, arena);
    count = reach_from(first, roots, list);
    check_copies(plan, arena, list, count);
    check_return(plan, general, (unsigned char *)arena, list, count);
    free(memory);
    haul_plan_free(&plan);
    haul_plan_free(&general);
}

/* Some word of a node becomes a pointer that leads nowhere. Both refuse it in the same words, or
 * neither does. Pointers that nothing guards, because `readable` allows all, stay within nodes. */
static void check_wrong(random_source *random, haul_context *asks)
{
    const size_t first = random_below(random, the.node_count);
    const haul_source source =
        haul_from_object(the.node[first], the.types[the.type_of[first]].type);
    const size_t wrong = random_below(random, the.node_count);
    haul_plan *plan = NULL, *general = NULL;
    haul_status status, expected;
    the.node[wrong][1] = random_one_in(random, 2) ? (uintptr_t)the.node[first] + 1 : 8;
    status = haul_plan_create(type_context(), source, NULL, &plan);
    expected = haul_plan_create(asks, source, NULL, &general);
    CHECK_STATUS(status, expected);
    if (status) {
        CHECK_STR(haul_context_error(type_context())->text, haul_context_error(asks)->text);
        CHECK_STR(haul_context_error(type_context())->path, haul_context_error(asks)->path);
    }
    haul_plan_free(&plan);
    haul_plan_free(&general);
}

/* Is an array of numbers a text as well? Its last byte is then its first 0. */
static int has_number_text(void)
{
    size_t i;
    for (i = 1; i < KINDS; i++) {
        const unsigned char *bytes = (const unsigned char *)the.numbers[i];
        const size_t count = i * sizeof the.numbers[i][0];
        if (memchr(bytes, 0, count) == bytes + count - 1)
            return 1;
    }
    return 0;
}

/* Has a node more pointers by rules than a brief object? */
static int has_many_ruled(void)
{
    size_t i, k, rest;
    for (i = 0; i < the.node_count; i++) {
        const drawn *t = &the.types[the.type_of[i]];
        size_t ruled = 0;
        for (k = 1; k < t->words; k++)
            ruled += t->role[k] >= TAGGED && t->role[k] <= TEXT && the.node[i][k] &&
                     is_pointer(t, the.node[i], k, &rest);
        if (ruled > MOST_RULED)
            return 1;
    }
    return 0;
}

/* May some object be unusual, or overlap another one? Then one thread walks in the end. */
static int may_be_alone(void)
{
    size_t i, k;
    for (i = 0; i < TYPES; i++) {
        size_t halves = 0;
        for (k = 1; k < the.types[i].words; k++) {
            const role r = the.types[i].role[k];
            if (r == HALVES || r == SEVERAL)
                return 1;
            halves += r == HALF_SKIPPED || r == HALF_ELSE;
        }
        if (halves > MOST_HALVES)
            return 1;
    }
    return the.is_array || has_number_text() || has_many_ruled();
}

/* Threads find what one thread finds, in a sound graph or a wrong one. */
static void check_threads(random_source *random, int is_wrong, size_t *shared)
{
    static leaf many[MANY];
    const size_t first =
        the.is_array ? (TYPES - 1) * (KINDS - 1) : random_below(random, the.node_count);
    drawn *t = &the.types[the.type_of[first]];
    haul_field fields[] = {
        HAUL_OBJECTS(wide, many, &the.leaf_type, HAUL_COUNT(wide, many_count)),
        HAUL_OBJECTS(wide, nodes, &t->type, HAUL_COUNT(wide, node_count)),
    };
    wide all = { many, the.node[first], MANY,
                 the.is_array ? (int64_t)(the.node_count - first) : 1 };
    haul_root root = { &all, NULL, 1 };
    haul_type *wide_type;
    outcome alone;
    int has_shared;
    fields[1].element_bytes = t->words * WORD;
    wide_type = TYPE_NEW(wide, fields);
    CHECK_STATUS(haul_type_commit(wide_type), HAUL_OK);
    root.type = wide_type;
    has_shared = outcomes_agree(&root, NULL, OUTCOMES_FORMS, &alone);
    if (!is_wrong && !may_be_alone())
        CHECK_EQ(has_shared, CAN_SHARE);
    *shared += has_shared != 0;
    if (!is_wrong)
        CHECK_STATUS(alone.status, HAUL_OK);
    outcome_free(&alone);
    haul_type_free(&wide_type);
}

TEST(brief_objects, several_threads_find_what_one_thread_finds)
{
    random_source random = random_start("brief objects by threads");
    size_t shared = 0;
    int round;
    for (round = 0; round < ROUNDS / 2; round++) {
        make_types(&random, random_one_in(&random, 4));
        make_graph(&random);
        check_threads(&random, 0, &shared);
        the.node[random_below(&random, the.node_count)][1] = random_one_in(&random, 2) ? 8 : 1;
        check_threads(&random, 1, &shared);
        free(the.pool);
        free_types();
    }
    CHECK(!CAN_SHARE || shared > ROUNDS / 8);
}

/* ---- Objects with holes, and other ranges in and around them. */

enum { SHAPES = 4, SHAPE_WORDS = 6, ROWS = 12, GROUND = 32 };

typedef struct row {
    void *shape[SHAPES];
    char *text;
    int32_t *numbers;
    int32_t number_count;
} row;

typedef struct rows {
    leaf *many;
    row *all;
    int64_t many_count, row_count;
} rows;

/* Skips words and halves of words, and leaves at least one word. */
static haul_type *draw_shape(random_source *random)
{
    const size_t words = random_between(random, 1, SHAPE_WORDS);
    const size_t stays = random_below(random, words), rare = random_between(random, 1, 3);
    haul_field fields[2 * SHAPE_WORDS];
    haul_struct what;
    size_t count = 0, half;
    haul_type *type;
    memset(fields, 0, sizeof fields);
    for (half = 0; half < 2 * words; half++) {
        if (half / 2 == stays || (rare > 1 && random_one_in(random, rare)))
            continue;
        fields[count].name = "f";
        fields[count].kind = HAUL_FIELD_SKIP;
        fields[count].offset = half * WORD / 2;
        fields[count].bytes = WORD / 2;
        if (half % 2 == 0 && !random_one_in(random, 3)) {
            fields[count].bytes = WORD;
            half++;
        }
        count++;
    }
    memset(&what, 0, sizeof what);
    what.name = "shape";
    what.bytes = words * WORD;
    what.alignment = WORD;
    what.fields = fields;
    what.field_count = count;
    what.field_bytes = sizeof *fields;
    type = type_new(&what);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    return type;
}

static haul_type *type_of_rows(haul_type **shapes, haul_type **row_type)
{
    haul_field row_fields[SHAPES + 2] = {
        [SHAPES] = HAUL_STRING(row, text),
        HAUL_ARRAY(row, numbers, HAUL_COUNT(row, number_count)),
    };
    const haul_field fields[] = {
        HAUL_OBJECTS(rows, many, &the.leaf_type, HAUL_COUNT(rows, many_count)),
        HAUL_OBJECTS(rows, all, row_type, HAUL_COUNT(rows, row_count)),
    };
    haul_type *type;
    size_t i;
    for (i = 0; i < SHAPES; i++) {
        const haul_field to_one = HAUL_ADDRESS(row, shape[0], .target = &shapes[i]);
        row_fields[i] = to_one;
        row_fields[i].offset += i * WORD;
    }
    *row_type = TYPE_NEW(row, row_fields);
    type = TYPE_NEW(rows, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    return type;
}

TEST(brief_objects, ranges_in_and_around_holes_are_counted_as_by_one_thread)
{
    static const haul_field leaf_fields[] = { HAUL_OBJECT(leaf, next, &the.leaf_type) };
    static leaf many[MANY];
    static uintptr_t ground[GROUND];
    random_source random = random_start("brief objects: holes");
    size_t shared = 0, round, i, k;
    memset(ground, 0x5a, sizeof ground);
    the.leaf_type = TYPE_NEW(leaf, leaf_fields);
    for (round = 0; round < ROUNDS; round++) {
        haul_type *shapes[SHAPES], *row_type, *type;
        row each[ROWS];
        rows all = { many, each, MANY, (int64_t)random_between(&random, 1, ROWS) };
        const size_t spread = random_one_in(&random, 2) ? GROUND - SHAPE_WORDS : 3;
        const size_t rare = random_between(&random, 2, 12);
        haul_root root = { &all, NULL, 1 };
        outcome alone;
        for (i = 0; i < SHAPES; i++)
            shapes[i] = draw_shape(&random);
        root.type = type = type_of_rows(shapes, &row_type);
        memset(each, 0, sizeof each);
        for (i = 0; i < ROWS; i++) {
            uintptr_t *place[SHAPES + 2];
            for (k = 0; k < SHAPES + 2; k++)
                place[k] =
                    random_one_in(&random, rare) ? &ground[random_below(&random, spread)] : NULL;
            for (k = 0; k < SHAPES; k++)
                each[i].shape[k] = place[k];
            each[i].numbers = (int32_t *)(void *)place[SHAPES];
            each[i].number_count = place[SHAPES] ? (int32_t)random_between(&random, 1, 6) : 0;
            each[i].text = random_one_in(&random, 4) ? (char *)place[SHAPES + 1] : NULL;
            if (each[i].text)
                each[i].text[random_below(&random, 12)] = 0;
        }
        shared += outcomes_agree(&root, NULL, OUTCOMES_FORMS, &alone) != 0;
        CHECK_STATUS(alone.status, HAUL_OK);
        outcome_free(&alone);
        haul_type_free(&type);
        haul_type_free(&row_type);
        for (i = 0; i < SHAPES; i++)
            haul_type_free(&shapes[i]);
    }
    haul_type_free(&the.leaf_type);
    CHECK(!CAN_SHARE || shared > ROUNDS / 20);
}

typedef struct ring {
    void *handle;
    struct ring *next, *other;
    uintptr_t last;
} ring;

TEST(brief_objects, objects_that_begin_with_holes_are_shared_side_by_side)
{
    static haul_type *type;
    static const haul_field fields[] = {
        HAUL_SKIP(ring, handle),
        HAUL_OBJECT(ring, next, &type),
        HAUL_OBJECT(ring, other, &type),
    };
    const size_t count = 2 * MANY;
    ring *all = calloc(count, sizeof *all);
    haul_root root = { all, NULL, 1 };
    outcome alone;
    size_t i;
    CHECK(all != NULL);
    root.type = type = TYPE_NEW(ring, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (i = 0; i < count; i++) {
        all[i].handle = &all[i];
        all[i].next = &all[(2 * i + 1) % count];
        all[i].other = &all[(2 * i + 2) % count];
        all[i].last = i + 1;
    }
    CHECK_EQ(outcomes_agree(&root, NULL, OUTCOMES_FORMS, &alone), CAN_SHARE);
    CHECK_EQ(alone.info.objects, count);
    outcome_free(&alone);
    haul_type_free(&type);
    free(all);
}

TEST(brief_objects, each_word_becomes_what_its_role_says_and_so_the_general_way_finds)
{
    const haul_context_options options = { .readable = any_range };
    random_source random = random_start("brief objects");
    haul_context *asks;
    int round, i;
    CHECK_STATUS(haul_context_create(&options, &asks), HAUL_OK);
    for (round = 0; round < ROUNDS; round++) {
        make_types(&random, 1);
        for (i = 0; i < GRAPHS; i++) {
            make_graph(&random);
            check_graph(&random, asks);
            check_wrong(&random, asks);
            free(the.pool);
        }
        free_types();
    }
    haul_context_free(&asks);
}

typedef struct short_one {
    uintptr_t first;
    void *handle;
    uintptr_t last;
} short_one;

/* Pairs with gaps between them, so many that they are no part of the outer type's lists. */
TEST(brief_objects, what_lies_behind_the_last_of_distant_pairs_belongs_to_nobody)
{
    enum { MANY = 80 };
    static const haul_field fields[] = { HAUL_SKIP(short_one, handle) };
    static short_one all[4 * MANY];
    haul_type *type = TYPE_NEW(short_one, fields), *distant;
    haul_plan *plan;
    size_t offset;
    CHECK_STATUS(haul_type_create_hvector(MANY, 2, 4 * sizeof all[0], type, &distant), HAUL_OK);
    CHECK_STATUS(haul_type_commit(distant), HAUL_OK);
    CHECK_STATUS(haul_plan_create(type_context(), haul_from_object(all, distant), NULL, &plan),
                 HAUL_OK);
    CHECK_STATUS(haul_plan_offset(plan, &all[4 * MANY - 3].last, &offset), HAUL_OK);
    CHECK_STATUS(haul_plan_offset(plan, &all[4 * MANY - 2].last, &offset), HAUL_ERROR_ARGUMENT);
    haul_plan_free(&plan);
    haul_type_free(&distant);
    haul_type_free(&type);
}
