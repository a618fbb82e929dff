/* What the suites of arenas share: a context or device with an arena, and a chain of links to build
 * in it.
 */
#ifndef HAUL_TESTS_ARENA_GRAPHS_H
#define HAUL_TESTS_ARENA_GRAPHS_H

#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/types.h"

/* Pointers first and last, one that stays at home, and data between. */
typedef struct link {
    struct link *next;
    int32_t value, seen;
    char *name;
    void *home;
    double weight[2];
    struct link *other;
} link;

static haul_type *link_type;

static inline void links_open(void)
{
    static const haul_field fields[] = {
        HAUL_OBJECT(link, next, &link_type),
        HAUL_STRING(link, name),
        HAUL_SKIP(link, home),
        HAUL_OBJECT(link, other, &link_type),
    };
    CHECK_STATUS(type_make("link", sizeof(link), fields, 4, &link_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(link_type), HAUL_OK);
}

static inline void links_close(void)
{
    haul_type_free(&link_type);
}

static inline char *text_in(haul_arena *arena, const char *text)
{
    char *copy = haul_arena_bytes(arena, strlen(text) + 1, 0);
    return copy ? strcpy(copy, text) : NULL;
}

/* Links number `from` to `end` - 1, behind those of a chain from `first` on, if there is one; each
 * one's other is the one before, the first's is the last. NULL: the arena refused. */
static inline link *links_add(haul_arena *arena, link *first, int from, int end)
{
    link *last = first ? first->other : NULL;
    int i;
    for (i = from; i < end; i++) {
        link *l = haul_arena_new(arena, link_type, 1);
        if (!l || !(l->name = text_in(arena, i % 3 ? "one of three" : "x")))
            return NULL;
        l->value = i;
        l->home = l;
        l->weight[0] = i / 2.0;
        l->other = last;
        if (last)
            last->next = l;
        else
            first = l;
        last = l;
    }
    if (first)
        first->other = last;
    return first;
}

static inline link *links_make(haul_arena *arena, int count)
{
    return links_add(arena, NULL, 0, count);
}

/* What does not travel: with anything but zeros in it an arena crosses through staging memory. */
static inline void links_set_homes(link *first, int at_home)
{
    link *l;
    for (l = first; l; l = l->next)
        l->home = at_home ? l : NULL;
}

typedef struct sight {
    const link *from;
    int64_t links, values, letters, others;
} sight;

/* Walks a chain wherever it lies: here, or in a kernel. */
static inline void links_look(void *argument)
{
    sight *seen = argument;
    const link *l, *before = NULL;
    for (l = seen->from; l; before = l, l = l->next) {
        seen->links++;
        seen->values += l->value;
        seen->letters += (int64_t)strlen(l->name);
        seen->others += l->other == before || (l == seen->from && l->other->next == NULL);
    }
}

static inline void check_sight(const sight *seen, int count)
{
    CHECK_EQ(seen->links, count);
    CHECK_EQ(seen->values, (int64_t)count * (count - 1) / 2);
    CHECK_EQ(seen->others, count);
    CHECK_EQ(seen->letters, (count + 2) / 3 + 12 * (count - (count + 2) / 3));
}

/* A pointer off the grid, which may lie across any cut: from byte 1 on. */
typedef struct leaning {
    char at[16];
} leaning;

static haul_type *leaning_type;

/* One in the arena that leads to `first`. */
static inline leaning *leaning_make(haul_arena *arena, link *first)
{
    leaning *l;
    haul_field field;
    memset(&field, 0, sizeof field);
    field.name = "first";
    field.kind = HAUL_FIELD_POINTER;
    field.offset = 1;
    field.bytes = sizeof(void *);
    field.element_bytes = sizeof(link);
    field.target = &link_type;
    field.levels = 1;
    field.packed = 1;
    CHECK_STATUS(type_make("leaning", sizeof(leaning), &field, 1, &leaning_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(leaning_type), HAUL_OK);
    l = haul_arena_new(arena, leaning_type, 1);
    CHECK(l != NULL);
    memcpy(l->at + 1, &first, sizeof first);
    return l;
}

/* links_look, from the link that a leaning one leads to. */
static inline void leaning_look(void *argument)
{
    sight *seen = argument;
    memcpy(&seen->from, (const char *)(const void *)seen->from + 1, sizeof seen->from);
    links_look(seen);
}

static inline void links_double(void *argument)
{
    link *l;
    for (l = argument; l; l = l->next) {
        l->value *= 2;
        l->weight[1] = l->weight[0] + 1;
        l->name[0] = 'y';
        l->home = NULL;
    }
}

static inline void check_doubled(const link *l)
{
    int i;
    for (i = 0; l; l = l->next, i++) {
        CHECK_EQ(l->value, 2 * i);
        CHECK(l->weight[1] == i / 2.0 + 1);
        CHECK_EQ(l->name[0], 'y');
        CHECK_PTR(l->home, l);
    }
}

/* ---- Pairs. All that they have travels, so an arena of them can return directly. */

typedef struct pair {
    /* itself, or NULL after an odd number of swaps; the one that was made before */
    struct pair *left, *right;
    double weight; /* swaps */
} pair;

static haul_type *pair_type;

static inline void pairs_open(void)
{
    static const haul_field fields[] = { HAUL_OBJECT(pair, left, &pair_type),
                                         HAUL_OBJECT(pair, right, &pair_type) };
    CHECK_STATUS(type_make("pair", sizeof(pair), fields, 2, &pair_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(pair_type), HAUL_OK);
}

static inline void pairs_close(void)
{
    haul_type_free(&pair_type);
}

/* NULL: the arena refused. `apart`: bytes of data behind each. */
static inline pair *pairs_make(haul_arena *arena, int count, size_t apart)
{
    pair *first = NULL;
    int i;
    for (i = 0; i < count; i++) {
        pair *p = haul_arena_new(arena, pair_type, 1);
        if (!p || (apart && !haul_arena_bytes(arena, apart, 0)))
            return NULL;
        p->left = p;
        p->right = first;
        first = p;
    }
    return first;
}

static inline void pairs_swap(void *argument)
{
    pair *p;
    for (p = argument; p; p = p->right) {
        p->left = p->left == p ? NULL : p;
        p->weight += 1;
    }
}

static inline void check_swapped(const pair *p, int count, int swaps)
{
    int i;
    for (i = 0; p; p = p->right, i++) {
        CHECK_PTR(p->left, swaps % 2 ? NULL : p);
        CHECK(p->weight == swaps);
    }
    CHECK_EQ(i, count);
}

#endif
