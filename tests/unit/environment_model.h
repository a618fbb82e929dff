/* A simple model of environments, for random programs.
 *
 * It knows groups as sets of objects. It walks the host's pointers from a root, and stops at what
 * is present. Once the root that a group was found from has left, it marks what others lead to in
 * the group, and lets the rest leave. It never looks at the host's memory or the device's: it has
 * copies of both. Each thread has a model of its own, of objects of its own->
 */
#ifndef HAUL_TESTS_ENVIRONMENT_MODEL_H
#define HAUL_TESTS_ENVIRONMENT_MODEL_H

#include "environment_graphs.h"

enum { OBJECTS = PARTS + ARRAYS, STEPS = 60, NOBODY = -1 };

/* ---- Types and policies. A node is a part whose first two pointers are in an embedded struct. */

typedef struct ends {
    part *a, *b;
} ends;

typedef struct node {
    ends ends;
    int32_t *data;
    int64_t count, value;
} node;

static haul_type *ends_type, *node_type;
static const haul_field ends_fields[] = {
    HAUL_OBJECT(ends, a, &node_type),
    HAUL_OBJECT(ends, b, &node_type),
};
static const haul_field node_fields[] = {
    HAUL_EMBED(node, ends, &ends_type),
    HAUL_ARRAY(node, data, HAUL_FIXED(LENGTH)),
};

/* Pointers of a part. */
enum { A = 0, B = 1, DATA = 2, POINTERS = 3 };
/* What of the data crosses. */
enum { COUNT = 1, VALUE = 2, ELEMENTS = 4, ALL_DATA = 7 };

/* How objects are entered: under node_type, or under a policy. */
typedef struct way {
    const char *name;
    unsigned leaves_out; /* pointers: bits 1 << A ... */
    unsigned to, from;   /* data that crosses */
    int wants_a;         /* what `a` leads to must be present already */
    int is_conditional;  /* `data` is left out of parts whose count is 1 */
    haul_policy_row rows[4];
    size_t row_count;
} way;

enum { WAYS = 8 };
static const way ways[WAYS] = {
    { "whole", 0, ALL_DATA, ALL_DATA, 0, 0, { { .path = NULL } }, 0 },
    { "shallow, of the embedded type",
      1 << B,
      ALL_DATA,
      ALL_DATA,
      0,
      0,
      { { .type = &ends_type, .path = "b", .action = HAUL_SHALLOW } },
      1 },
    { "copyin, by a path",
      0,
      ALL_DATA,
      COUNT | ELEMENTS,
      0,
      0,
      { { .path = "ends.a.value",
          .offset = offsetof(node, value),
          .bytes = sizeof(int64_t),
          .action = HAUL_COPYIN } },
      1 },
    { "copyout and create",
      0,
      COUNT,
      COUNT | ELEMENTS,
      0,
      0,
      { { .path = "data", .action = HAUL_COPYOUT },
        { HAUL_MEMBER(node, value), .action = HAUL_CREATE } },
      2 },
    { "conditional",
      0,
      ALL_DATA,
      ALL_DATA,
      0,
      1,
      { { .path = "data", .action = HAUL_SHALLOW, .when = HAUL_EQUALS(node, count, 1) } },
      1 },
    { "present",
      0,
      ALL_DATA,
      ALL_DATA,
      1,
      0,
      { { .type = &ends_type, .path = "a", .action = HAUL_ONLY_PRESENT } },
      1 },
    { "none",
      1 << B | 1 << DATA,
      COUNT | VALUE,
      COUNT | VALUE,
      0,
      0,
      { { .path = "", .action = HAUL_NONE },
        { .path = "ends.a", .action = HAUL_COPY },
        { HAUL_MEMBER(node, count), .action = HAUL_COPY },
        { HAUL_MEMBER(node, value), .action = HAUL_COPY } },
      4 },
    { "create alone",
      0,
      COUNT | VALUE,
      COUNT | VALUE,
      0,
      0,
      { { .type = &node_type, .path = "data", .action = HAUL_CREATE } },
      1 },
};

static haul_type *type_of_way[WAYS];

/* ---- The model. */

typedef struct model {
    int group[OBJECTS]; /* NOBODY: absent */
    /* of each group */
    int leads[OBJECTS][OBJECTS]; /* [g][h]: g leads into h */
    /* [g][i]: the walk of g stopped at object i of another group: 2, or 1 if it would not have
     * followed the pointer anyway */
    int stops[OBJECTS][OBJECTS];
    int is_live[OBJECTS];
    int maker[OBJECTS];       /* the root that it was found from, while that is held; else NOBODY */
    int is_synced[OBJECTS];   /* a sync has sent `synced` of its objects */
    unsigned serial[OBJECTS]; /* none has had it before */
    /* of each object that is present */
    const way *entered[OBJECTS];
    int home[PARTS]; /* of an entered root: its group */
    unsigned dynamic[PARTS], structured[PARTS];
    /* of each pointer of a part */
    unsigned attached[POINTERS][PARTS]; /* how often by a call */
    int is_attached[PARTS][POINTERS];   /* an enter or a call has made it lead where it does */
    const void *old[PARTS][POINTERS];   /* its value, if it leads to nothing that is present */
    int is_poisoned[PARTS][POINTERS];   /* it is a poison that names it */
    store copy;     /* what the device holds, with the host's addresses in its pointers */
    store expected; /* on the host */
    store synced;   /* what the last syncs have had */
    haul_detached detached;
} model;

typedef struct bytes_of_all {
    unsigned char is[OBJECTS][sizeof(part)];
} bytes_of_all;

/* What a call brings, and the groups it has to do with. */
typedef struct result {
    store contents;
    bytes_of_all brings;
    unsigned serials[2 * OBJECTS];
    int count; /* of serials */
} result;

/* Their memory is of the heap: threads with small stacks have no room for it. */
static __thread model *m;   /* and two of its past */
static __thread store *own; /* the objects */
static __thread result *results;
static __thread int result_count;
static __thread unsigned serials;
/* Where the objects are on the device, as the last check of presence has found them. */
static __thread void *places[OBJECTS];

static void model_close(void)
{
    free(m);
    free(own);
    free(results);
    m = NULL;
}

static void model_open(void)
{
    if (m)
        return;
    m = calloc(3, sizeof *m);
    own = calloc(1, sizeof *own);
    results = calloc(STEPS, sizeof *results);
    CHECK(m && own && results);
}

/* ---- Objects. */

static int number_of(const void *at)
{
    const char *byte = at;
    if (byte >= (const char *)own->parts && byte < (const char *)(own->parts + PARTS))
        return (int)((const part *)at - own->parts);
    return PARTS + (int)((byte - (const char *)own->arrays) / (ptrdiff_t)sizeof own->arrays[0]);
}

static size_t bytes_of(int object)
{
    return object < PARTS ? sizeof(part) : sizeof own->arrays[0];
}

static void *object_in(store *s, int object)
{
    return object < PARTS ? (void *)&s->parts[object] : s->arrays[object - PARTS];
}

static part **pointer_of(store *s, int i, int which)
{
    part *p = &s->parts[i];
    return which == A ? &p->a : which == B ? &p->b : (part **)(void *)&p->data;
}

/* What a pointer of a part leads to on the host; NULL: nothing, or the part's way leaves it out. */
static part *target_of(int i, int which)
{
    const way *w = m->entered[i];
    if (w->leaves_out >> which & 1)
        return NULL;
    if (w->is_conditional && which == DATA && m->expected.parts[i].count == 1)
        return NULL;
    return *pointer_of(&m->expected, i, which);
}

static int targets_of(int object, int targets[POINTERS])
{
    int which, count = 0;
    for (which = 0; which < POINTERS && object < PARTS; which++)
        if (target_of(object, which))
            targets[count++] = number_of(target_of(object, which));
    return count;
}

static int is_followed(int object, int which)
{
    return !(which == A && m->entered[object]->wants_a);
}

/* Which data a byte of an object is of; 0: it is a pointer's, or nobody's. */
static unsigned data_at(int object, size_t offset)
{
    if (object >= PARTS)
        return ELEMENTS;
    if (offset >= offsetof(part, value))
        return offset < offsetof(part, value) + sizeof(int64_t) ? VALUE : 0;
    return offset >= offsetof(part, count) ? COUNT : 0;
}

/* Adds bytes of an object that may cross. */
static void add_bytes(bytes_of_all *all, int object, size_t offset, size_t bytes, unsigned which)
{
    for (; bytes-- > 0; offset++)
        all->is[object][offset] |= (which & data_at(object, offset)) != 0;
}

static void copy_bytes(store *to, store *from, const bytes_of_all *all, int object)
{
    size_t k;
    for (k = 0; k < bytes_of(object); k++)
        if (all->is[object][k])
            ((char *)object_in(to, object))[k] = ((char *)object_in(from, object))[k];
}

/* ---- Results. */

static result *new_result(void)
{
    result *r = &results[result_count++];
    memset(r, 0, sizeof *r);
    r->contents = m->copy;
    return r;
}

/* Writes the first results that are on their way. */
static void write_results(int count)
{
    int i, k;
    for (i = 0; i < count; i++)
        for (k = 0; k < OBJECTS; k++)
            copy_bytes(&m->expected, &results[i].contents, &results[i].brings, k);
    result_count -= count;
    memmove(results, results + count, (size_t)result_count * sizeof *results);
}

static int has_left(unsigned serial)
{
    int g = 0;
    while (g < OBJECTS && !(m->is_live[g] && m->serial[g] == serial))
        g++;
    return g == OBJECTS;
}

/* Those up to the last one of a group that has left. */
static void write_results_of_left(void)
{
    int i, k, count = 0;
    for (i = 0; i < result_count; i++)
        for (k = 0; k < results[i].count; k++)
            if (has_left(results[i].serials[k]))
                count = i + 1;
    write_results(count);
}

/* Those up to the last one of a group. */
static void write_results_of(unsigned serial)
{
    int i, k, count = 0;
    for (i = 0; i < result_count; i++)
        for (k = 0; k < results[i].count; k++)
            if (results[i].serials[k] == serial)
                count = i + 1;
    write_results(count);
}

/* ---- Syncs. A group has less data than one page, so all of it goes if any has changed. */

static int may_send(int object)
{
    return object < PARTS ? (m->entered[object]->to & (COUNT | VALUE)) != 0
                          : (m->entered[object]->to & ELEMENTS) != 0;
}

static int is_changed(int g)
{
    int i;
    size_t k;
    for (i = 0; i < OBJECTS; i++)
        for (k = 0; m->group[i] == g && k < bytes_of(i); k++)
            if ((m->entered[i]->to & data_at(i, k)) &&
                ((char *)object_in(&m->expected, i))[k] != ((char *)object_in(&m->synced, i))[k])
                return 1;
    return 0;
}

static void send_group(int g)
{
    bytes_of_all all;
    int i;
    memset(&all, 0, sizeof all);
    for (i = 0; i < OBJECTS; i++) {
        if (m->group[i] != g)
            continue;
        add_bytes(&all, i, 0, bytes_of(i), m->entered[i]->to);
        copy_bytes(&m->copy, &m->expected, &all, i);
    }
}

static void model_sync(int g)
{
    int i;
    write_results_of(m->serial[g]);
    if (!m->is_synced[g] || is_changed(g))
        send_group(g);
    for (i = 0; i < OBJECTS; i++)
        if (m->group[i] == g)
            memcpy(object_in(&m->synced, i), object_in(&m->expected, i), bytes_of(i));
    m->is_synced[g] = 1;
}

/* ---- Pointers. */

static void lead_to(int part_number, int which, part *target)
{
    *pointer_of(&m->copy, part_number, which) = target;
    m->is_attached[part_number][which] = target != NULL;
    m->old[part_number][which] = NULL;
    m->is_poisoned[part_number][which] = 0;
}

static void detach_pointer(int i, int which)
{
    lead_to(i, which, NULL);
    if (m->detached == HAUL_DETACHED_RAW)
        m->old[i][which] = *pointer_of(&m->expected, i, which);
    m->is_poisoned[i][which] = m->detached == HAUL_DETACHED_POISON;
}

/* Pointers of a part that stays, whose targets have left: they are detached if an attachment led
 * them there; else they keep their values. */
static void detach_from_absent(int i)
{
    int which;
    for (which = 0; which < POINTERS; which++) {
        const part *const at = *pointer_of(&m->copy, i, which);
        if (!at || m->old[i][which] || m->group[number_of(at)] != NOBODY)
            continue;
        if (m->is_attached[i][which])
            detach_pointer(i, which);
        else
            m->old[i][which] = places[number_of(at)];
    }
}

/* What stands in an object that leaves, or leads to one, is attached no more. */
static void forget_attached(void)
{
    int which, i;
    for (which = 0; which < POINTERS; which++)
        for (i = 0; i < PARTS; i++)
            if (m->group[i] == NOBODY || !m->is_attached[i][which])
                m->attached[which][i] = 0;
}

/* ---- Enters. */

static int free_group(void)
{
    int g = 0;
    while (m->is_live[g])
        g++;
    return g;
}

/* The pointers of a present part that lead into the group. */
static void attach_into(int i, int g)
{
    int which;
    for (which = 0; which < POINTERS && i < PARTS; which++) {
        part *const now = target_of(i, which);
        if (now && m->group[number_of(now)] == g)
            lead_to(i, which, now);
    }
}

static void take_object(int object, int g, const way *w)
{
    const unsigned kept = w->to;
    size_t k;
    int which;
    m->group[object] = g;
    m->entered[object] = w;
    for (k = 0; k < bytes_of(object); k++)
        ((char *)object_in(&m->copy, object))[k] =
            kept & data_at(object, k) ? ((char *)object_in(&m->expected, object))[k] : 0;
    for (which = 0; which < POINTERS && object < PARTS; which++) {
        lead_to(object, which, target_of(object, which));
        m->is_attached[object][which] = 0;
    }
}

/* Whether all pointers that must lead to something present do. */
static int has_all(int g)
{
    int i;
    for (i = 0; i < PARTS; i++)
        if (m->group[i] == g && m->entered[i]->wants_a && m->expected.parts[i].a &&
            m->group[number_of(m->expected.parts[i].a)] == NOBODY)
            return 0;
    return 1;
}

/* What is absent, from the root on. */
static void find_group(int g, int root, const way *w)
{
    int todo[OBJECTS], count = 0, done, k;
    todo[count++] = root;
    take_object(root, g, w);
    for (done = 0; done < count; done++)
        for (k = 0; k < POINTERS && todo[done] < PARTS; k++) {
            const part *target = target_of(todo[done], k);
            if (!target || !is_followed(todo[done], k) || m->group[number_of(target)] != NOBODY)
                continue;
            take_object(number_of(target), g, w);
            todo[count++] = number_of(target);
        }
}

/* A pointer that must lead to something present may also lead one past its end (policy.h). What is
 * present on the device says where that is, so programs leave this out. */
static int leads_past_an_end(int root, const way *w)
{
    model *const before = m + 1;
    int i, found = 0;
    if (!w->wants_a || m->group[root] != NOBODY)
        return 0;
    *before = *m;
    find_group(free_group(), root, w);
    for (i = 0; i < PARTS; i++) {
        const part *a = m->expected.parts[i].a;
        found |= m->group[i] != before->group[i] && a && m->group[number_of(a)] == NOBODY &&
                 number_of(a) > 0 && m->group[number_of(a) - 1] != NOBODY;
    }
    *m = *before;
    return found;
}

/* What others have in the group, and it in others. */
static void lead_on(int g)
{
    int i, k;
    memset(m->leads[g], 0, sizeof m->leads[g]);
    memset(m->stops[g], 0, sizeof m->stops[g]);
    for (i = 0; i < PARTS; i++)
        for (k = 0; k < POINTERS && m->group[i] == g; k++) {
            const part *target = target_of(i, k);
            const int next = target ? number_of(target) : 0;
            if (!target || m->group[next] == g)
                continue;
            m->leads[g][m->group[next]] = 1;
            if (m->stops[g][next] != 2)
                m->stops[g][next] = is_followed(i, k) ? 2 : 1;
        }
}

static haul_status model_enter(int root, const way *w)
{
    model *const before = m + 2;
    int g, i;
    if (m->group[root] == NOBODY) {
        write_results_of_left();
        *before = *m;
        g = free_group();
        m->is_live[g] = 1;
        m->maker[g] = root;
        m->serial[g] = ++serials;
        m->is_synced[g] = 0;
        find_group(g, root, w);
        if (!has_all(g)) {
            *m = *before;
            return HAUL_ERROR_GRAPH;
        }
        lead_on(g);
        for (i = 0; i < OBJECTS; i++)
            if (m->stops[g][i] == 2)
                attach_into(i, g);
    }
    m->home[root] = m->group[root];
    return HAUL_OK;
}

/* ---- Exits. */

static int is_held(int g)
{
    int i;
    for (i = 0; i < PARTS; i++)
        if (m->home[i] == g && (m->dynamic[i] || m->structured[i]))
            return 1;
    for (i = 0; i < OBJECTS; i++)
        if (m->is_live[i] && i != g && m->leads[i][g])
            return 1;
    return 0;
}

/* What of the objects that leave comes back. */
typedef enum coming { AS_ENTERED, VALUE_ALONE, ALL_THAT_IT_REACHES } coming;

typedef struct leaving {
    result r;
    coming how;
    int root;
    int is_reached[OBJECTS];
    int is_affected[OBJECTS]; /* groups that have lost a hold */
} leaving;

static void let_object_go(leaving *l, int i)
{
    unsigned data = m->entered[i]->from;
    if (l->how == VALUE_ALONE)
        data = i == l->root ? VALUE : 0;
    if (l->how == ALL_THAT_IT_REACHES)
        data = l->is_reached[i] ? ALL_DATA : 0;
    add_bytes(&l->r.brings, i, 0, bytes_of(i), data);
    m->group[i] = NOBODY;
}

/* Another group has lost those of this one. */
static void affect(leaving *l, const int *leads)
{
    int h;
    for (h = 0; h < OBJECTS; h++)
        l->is_affected[h] |= leads[h];
}

static void let_groups_go(leaving *l)
{
    int g, i;
    for (g = 0; g < OBJECTS; g++) {
        if (!m->is_live[g] || is_held(g))
            continue;
        m->is_live[g] = 0;
        l->r.serials[l->r.count++] = m->serial[g];
        for (i = 0; i < OBJECTS; i++)
            if (m->group[i] == g)
                let_object_go(l, i);
        affect(l, m->leads[g]);
        g = -1; /* again: others may be held no more */
    }
}

/* Marks what is led to in a group, and answers how many of its objects are not. */
static int mark(int g, int *is_marked)
{
    int todo[OBJECTS], count = 0, i, h, k, left = 0, targets[POINTERS];
    memset(is_marked, 0, OBJECTS * sizeof *is_marked);
    for (i = 0; i < OBJECTS; i++) {
        is_marked[i] = i < PARTS && m->home[i] == g && (m->dynamic[i] || m->structured[i]);
        for (h = 0; h < OBJECTS; h++)
            is_marked[i] |= m->is_live[h] && m->group[i] == g && m->stops[h][i];
        if (is_marked[i])
            todo[count++] = i;
    }
    while (count > 0) {
        const int object = todo[--count];
        for (k = targets_of(object, targets); k-- > 0;) {
            if (m->group[targets[k]] != g || is_marked[targets[k]])
                continue;
            is_marked[targets[k]] = 1;
            todo[count++] = targets[k];
        }
    }
    for (i = 0; i < OBJECTS; i++)
        left += m->group[i] == g && !is_marked[i];
    return left;
}

/* Of a group whose first root has left, what nothing leads to leaves. */
static void cut(leaving *l, int g)
{
    int is_marked[OBJECTS], was_led[OBJECTS], i, k, targets[POINTERS], loses_data = 0;
    if (mark(g, is_marked) == 0)
        return;
    write_results_of(m->serial[g]);
    for (i = 0; i < OBJECTS; i++)
        loses_data |= m->group[i] == g && !is_marked[i] && may_send(i);
    m->is_synced[g] &= !(loses_data && is_changed(g));
    l->r.serials[l->r.count++] = ++serials;
    memcpy(was_led, m->leads[g], sizeof was_led);
    memset(m->leads[g], 0, sizeof m->leads[g]);
    memset(m->stops[g], 0, sizeof m->stops[g]);
    for (i = 0; i < OBJECTS; i++) {
        if (m->group[i] != g)
            continue;
        if (!is_marked[i]) {
            let_object_go(l, i);
            continue;
        }
        for (k = targets_of(i, targets); k-- > 0;) {
            const int h = m->group[targets[k]];
            if (h != NOBODY && was_led[h])
                m->leads[g][h] = m->stops[g][targets[k]] = 1;
        }
    }
    affect(l, was_led);
}

static int youngest_affected(const leaving *l)
{
    int g, youngest = NOBODY;
    for (g = 0; g < OBJECTS; g++)
        if (l->is_affected[g] && m->is_live[g] && m->maker[g] == NOBODY &&
            (youngest == NOBODY || m->serial[g] > m->serial[youngest]))
            youngest = g;
    return youngest;
}

/* All that the host's pointers lead to now. */
static void reach(leaving *l, int root)
{
    int todo[OBJECTS], count = 0, which;
    todo[count++] = root;
    l->is_reached[root] = 1;
    while (count > 0) {
        const int i = todo[--count];
        for (which = 0; which < POINTERS && i < PARTS; which++) {
            const part *target = *pointer_of(&m->expected, i, which);
            if (!target || l->is_reached[number_of(target)])
                continue;
            l->is_reached[number_of(target)] = 1;
            todo[count++] = number_of(target);
        }
    }
}

static void model_let_go(int root, int copyout, coming how)
{
    const int home = m->home[root];
    static __thread leaving l;
    int g;
    memset(&l, 0, sizeof l);
    l.how = how;
    l.root = root;
    if (m->dynamic[root] || m->structured[root])
        return;
    reach(&l, root);
    if (m->maker[home] == root)
        m->maker[home] = NOBODY;
    l.is_affected[home] = 1;
    l.r.contents = m->copy;
    let_groups_go(&l);
    while ((g = youngest_affected(&l)) != NOBODY) {
        l.is_affected[g] = 0;
        cut(&l, g);
        let_groups_go(&l);
    }
    if (copyout)
        results[result_count++] = l.r;
    for (g = 0; g < PARTS; g++)
        if (m->group[g] != NOBODY)
            detach_from_absent(g);
}

#endif
