/* What is used of an array, and where it ends: by two pointers (CAP: igraph's vectors, which have
 * room to grow), by a terminator (TERM: the resolver's hostent), and by a number in its own last
 * slot (HDR: qhull's sets).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"

/* ---- CAP: igraph. Each vector has room to grow, from stor_begin to stor_end; end is behind the
 * last used element.
 */

typedef struct igraph_vector {
    int64_t *stor_begin, *stor_end, *end;
} igraph_vector;

typedef struct igraph {
    int64_t n;
    int32_t directed;
    /* edges; by source and by target; where each vertex's begin there */
    igraph_vector from, to, oi, ii, os, is;
    void *attr, *cache; /* others' */
} igraph;

enum { VERTICES = 700, EDGES = 2500, MORE_EDGES = 7 };

static haul_type *vector_type;

static haul_type *igraph_open(const haul_field *rows, size_t count)
{
    static const haul_field fields[] = {
        HAUL_EMBED(igraph, from, &vector_type),
        HAUL_EMBED(igraph, to, &vector_type),
        HAUL_EMBED(igraph, oi, &vector_type),
        HAUL_EMBED(igraph, ii, &vector_type),
        HAUL_EMBED(igraph, os, &vector_type),
        HAUL_EMBED(igraph, is, &vector_type),
        HAUL_SKIP(igraph, attr),
        HAUL_SKIP(igraph, cache),
    };
    haul_type *type = YARD_TYPE(igraph, fields);
    vector_type = yard_type("igraph_vector", sizeof(igraph_vector), rows, count);
    yard_commit(type);
    return type;
}

static void igraph_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&vector_type);
    yard_close();
}

static void vector_make(igraph_vector *v, size_t used, size_t room)
{
    v->stor_begin = yard_raw(room * sizeof *v->stor_begin);
    v->stor_end = v->stor_begin + room;
    v->end = v->stor_begin + used;
    memset(v->stor_begin, 0, used * sizeof *v->stor_begin);
}

/* Edges in order of their ends, and where the edges of each vertex begin in that order. */
static void index_make(igraph_vector *order, igraph_vector *starts, const igraph_vector *ends)
{
    int64_t e, v, k = 0;
    vector_make(order, EDGES, EDGES);
    vector_make(starts, VERTICES + 1, VERTICES + 1);
    for (v = 0; v < VERTICES; v++) {
        for (e = 0; e < EDGES; e++)
            if (ends->stor_begin[e] == v)
                order->stor_begin[k++] = e;
        starts->stor_begin[v + 1] = k;
    }
}

static igraph *igraph_make(void)
{
    igraph *g = yard_take(1, sizeof *g);
    int e;
    g->n = VERTICES;
    g->directed = 1;
    vector_make(&g->from, EDGES, 4096);
    vector_make(&g->to, EDGES, 4096);
    for (e = 0; e < EDGES; e++) {
        g->from.stor_begin[e] = yard_int(0, VERTICES - 1);
        g->to.stor_begin[e] = yard_int(0, VERTICES - 1);
        yard.told += g->from.stor_begin[e] * 3 + g->to.stor_begin[e];
    }
    index_make(&g->oi, &g->os, &g->from);
    index_make(&g->ii, &g->is, &g->to);
    g->attr = g->cache = g;
    return g;
}

static void push_back(igraph_vector *v, int64_t value)
{
    if (v->end < v->stor_end)
        *v->end++ = value;
}

/* All edges from their sources and from their targets; and then some more edges. */
static int64_t igraph_walk(void *root, size_t count)
{
    igraph *g = root;
    int64_t v, k, sum = 0;
    (void)count;
    for (v = 0; v < g->n; v++) {
        for (k = g->os.stor_begin[v]; k < g->os.stor_begin[v + 1]; k++)
            sum += g->from.stor_begin[g->oi.stor_begin[k]] == v ? 3 * v : -1;
        for (k = g->is.stor_begin[v]; k < g->is.stor_begin[v + 1]; k++)
            sum += g->to.stor_begin[g->ii.stor_begin[k]] == v ? v : -1;
    }
    for (k = 0; k < MORE_EDGES; k++) {
        push_back(&g->from, k);
        push_back(&g->to, k + 1);
    }
    return g->oi.end == g->oi.stor_end ? sum : -1;
}

TEST(structures, CAP_vectors_with_room_grow_on_the_device_and_come_back_longer)
{
    static const haul_field rows[] = {
        HAUL_ARRAY(igraph_vector, stor_begin, HAUL_UNTIL(igraph_vector, stor_end)),
        HAUL_ADDRESS(igraph_vector, end, .ownership = HAUL_BORROWED),
    };
    haul_type *type;
    igraph *g;
    yard_open(1 << 20, 16);
    type = igraph_open(rows, 2);
    yard.returns_pointers = 1;
    g = igraph_make();
    yard_prove(g, type, 1, igraph_walk);
    CHECK_EQ(igraph_walk(g, 1), yard.told);
    CHECK_EQ(g->from.end - g->from.stor_begin, EDGES + MORE_EDGES);
    igraph_close(&type);
}

TEST(structures, CAP_trimmed_to_what_is_used_the_pointer_to_the_room_stays_at_home)
{
    static const haul_field rows[] = {
        HAUL_ARRAY(igraph_vector, stor_begin, HAUL_UNTIL(igraph_vector, end)),
        HAUL_SKIP(igraph_vector, stor_end),
    };
    haul_device *device;
    haul_shipment *s;
    haul_shipment_info statistics;
    haul_type *type;
    igraph *g;
    int64_t *room;
    yard_open(1 << 20, 17);
    type = igraph_open(rows, 2);
    g = igraph_make();
    room = g->from.stor_end;
    device = yard_device();
    CHECK_STATUS(haul_ship(device, g, type, 1, NULL, &s), HAUL_OK);
    haul_shipment_get_info(s, &statistics);
    CHECK(statistics.graph_bytes <
          sizeof *g + (4 * EDGES + 2 * (VERTICES + 1)) * sizeof(int64_t) + 1);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK_PTR(g->from.stor_end, room);
    haul_shipment_free(&s);
    haul_device_close(&device);
    igraph_close(&type);
}

TEST(structures, CAP_a_forgotten_pointer_to_the_room_or_to_the_end_is_told)
{
    static const haul_field no_room[] = { HAUL_ARRAY(igraph_vector, stor_begin,
                                                     HAUL_UNTIL(igraph_vector, end)) };
    static const haul_field no_end[] = { HAUL_ARRAY(igraph_vector, stor_begin,
                                                    HAUL_UNTIL(igraph_vector, stor_end)) };
    haul_type *type;
    char path[40], words[80];
    yard_open(1 << 20, 18);
    type = igraph_open(no_room, 1);
    snprintf(path, sizeof path, "root.oi+%zu",
             offsetof(igraph_vector, stor_end)); /* the first that is full */
    snprintf(words, sizeof words, "offset %zu of igraph_vector", offsetof(igraph_vector, stor_end));
    yard_tell(igraph_make(), type, 1, HAUL_AUDIT_HIDDEN_POINTER, path, words);
    haul_type_free(&type);
    haul_type_free(&vector_type);
    type = igraph_open(no_end, 1);
    snprintf(path, sizeof path, "root.from+%zu", offsetof(igraph_vector, end));
    snprintf(words, sizeof words, "offset %zu of igraph_vector", offsetof(igraph_vector, end));
    yard_tell(igraph_make(), type, 1, HAUL_AUDIT_HIDDEN_POINTER, path, words);
    igraph_close(&type);
}

/* ---- TERM: the resolver's hostent. Names end in NUL, lists in NULL; an address is h_length bytes,
 * zeros among them.
 */

typedef struct hostent {
    char *h_name, **h_aliases;
    int h_addrtype, h_length;
    char **h_addr_list;
} hostent;

enum { HOSTS = 200 };

static char **list_make(int count)
{
    return yard_take((size_t)count + 1, sizeof(char *));
}

static void hostent_fill(hostent *h, int number)
{
    int count = yard_int(1, 4), i, k;
    char text[64];
    snprintf(text, sizeof text, "host-%d.example.org", number);
    h->h_name = yard_text(text);
    yard.told += (int64_t)strlen(text);
    h->h_aliases = list_make(count);
    for (i = 0; i < count; i++) {
        snprintf(text, sizeof text, "alias-%d.%d.example.org", i, number);
        h->h_aliases[i] = yard_text(text);
        yard.told += (int64_t)strlen(text);
    }
    h->h_length = number % 2 ? 16 : 4;
    h->h_addrtype = number % 2 ? 10 : 2;
    h->h_addr_list = list_make(count);
    for (i = 0; i < count; i++) {
        h->h_addr_list[i] = yard_take(1, (size_t)h->h_length);
        for (k = 0; k < h->h_length; k++)
            yard.told += h->h_addr_list[i][k] = (char)(number % 2 && k % 3 ? 0 : yard_int(1, 100));
    }
}

/* The list of its aliases is the last block of the yard. */
static hostent *hostent_alone(void)
{
    hostent *h = yard_take(1, sizeof *h);
    char *one = yard_text("one"), *two = yard_text("two");
    h->h_length = 16;
    h->h_aliases = list_make(2);
    h->h_aliases[0] = one;
    h->h_aliases[1] = two;
    return h;
}

static hostent *hostents_make(void)
{
    hostent *h = yard_take(HOSTS, sizeof *h);
    int i;
    for (i = 0; i < HOSTS; i++)
        hostent_fill(&h[i], i);
    return h;
}

static int64_t hostent_walk(void *root, size_t count)
{
    hostent *h;
    int64_t sum = 0;
    int i, k;
    for (h = root; count > 0; count--, h++) {
        sum += (int64_t)strlen(h->h_name);
        h->h_name[0] = 'H';
        for (i = 0; h->h_aliases[i]; i++) {
            sum += (int64_t)strlen(h->h_aliases[i]);
            h->h_aliases[i][0] = 'A';
        }
        for (i = 0; h->h_addr_list[i]; i++)
            for (k = 0; k < h->h_length; k++)
                sum += h->h_addr_list[i][k]++;
    }
    return sum;
}

TEST(structures, TERM_names_that_end_in_NUL_and_lists_that_end_in_NULL)
{
    static const haul_field fields[] = {
        HAUL_STRING(hostent, h_name),
        HAUL_STRINGS(hostent, h_aliases, HAUL_TERMINATED),
        HAUL_ARRAYS(hostent, h_addr_list, HAUL_TERMINATED, HAUL_COUNT(hostent, h_length)),
    };
    haul_type *type;
    yard_open(1 << 20, 19);
    type = YARD_TYPE(hostent, fields);
    yard_commit(type);
    yard_prove(hostents_make(), type, HOSTS, hostent_walk);
    haul_type_free(&type);
    yard_close();
}

TEST(structures, TERM_bytes_taken_for_a_string_or_a_list_for_a_counted_one_are_told_or_refused)
{
    static const haul_field string_fields[] = { HAUL_STRINGS(hostent, h_addr_list,
                                                             HAUL_TERMINATED) };
    static const haul_field counted_fields[] = { HAUL_STRINGS(hostent, h_aliases,
                                                              HAUL_COUNT(hostent, h_length)) };
    haul_type *type;
    yard_open(1 << 20, 20);
    type = YARD_TYPE(hostent, string_fields);
    yard_commit(type);
    yard_tell(hostents_make(), type, 1, HAUL_AUDIT_BEYOND_BLOCK, "root.h_addr_list[0][0]",
              "its block of 4 bytes ends");
    haul_type_free(&type);
    type = YARD_TYPE(hostent, counted_fields);
    yard_commit(type);
    yard_refuse(hostent_alone(), type, 1, HAUL_ERROR_GRAPH, "root.h_aliases[3]",
                "it points outside any process's address range");
    haul_type_free(&type);
    yard_close();
}

/* ---- HDR: qhull's setT. Room for maxsize pointers and one slot more; that one holds the number of
 * pointers + 1, or NULL when the set is full. Behind the last pointer stands NULL, and then what
 * was there before. A set is as long as its room; the description names as many slots as the
 * longest has. */

enum { SET_MAX = 24, FACETS = 400 };

typedef struct setT {
    int32_t maxsize;
    union {
        void *p;
        int32_t i;
    } e[SET_MAX + 1];
} setT;

typedef struct facetT {
    int32_t id, visitid;
    struct facetT *next, *previous; /* the last one, of id 0, is no facet */
    setT *neighbors;
} facetT;

static haul_type *set_type, *facet_type;

static int32_t set_size(const setT *set)
{
    int32_t coded = set->e[set->maxsize].i;
    return coded ? coded - 1 : set->maxsize;
}

HAUL_FUNCTION(set_bytes, setT, offsetof(setT, e) + ((size_t)self->maxsize + 1) * sizeof self->e[0])
HAUL_FUNCTION(is_in_set, setT, (int64_t)here->index < set_size(self))
HAUL_FUNCTION(is_in_room, setT, (int64_t)here->index <= self->maxsize)

static void facets_open(haul_function *is_pointer)
{
    const haul_field set_fields[] = { HAUL_ADDRESS(
        setT, e, .target = &facet_type, .when = HAUL_WHEN_FN(is_pointer), .else_raw = 1) };
    static const haul_field facet_fields[] = {
        HAUL_OBJECT(facetT, next, &facet_type),
        HAUL_OBJECT(facetT, previous, &facet_type),
        HAUL_OBJECT(facetT, neighbors, &set_type),
    };
    set_type = YARD_TYPE(setT, set_fields, .size_fn = set_bytes);
    facet_type = YARD_TYPE(facetT, facet_fields);
    yard_commit(facet_type);
}

static void facets_close(void)
{
    haul_type_free(&set_type);
    haul_type_free(&facet_type);
    yard_close();
}

static setT *set_make(int32_t maxsize, int32_t size)
{
    setT *set = yard_raw(offsetof(setT, e) + ((size_t)maxsize + 1) * sizeof set->e[0]);
    memset(&set->maxsize, 0, offsetof(setT, e));
    set->maxsize = maxsize;
    set->e[size].p = NULL;
    if (size < maxsize) {
        set->e[maxsize].p = NULL;
        set->e[maxsize].i = size + 1;
    }
    return set;
}

static facetT *facets_make(void)
{
    facetT *all[FACETS];
    int f, k;
    for (f = 0; f < FACETS; f++) {
        all[f] = yard_take(1, sizeof *all[f]);
        all[f]->id = FACETS - 1 - f;
    }
    for (f = 0; f < FACETS; f++) {
        int32_t room = yard_int(4, SET_MAX), size = f ? yard_int(0, room) : 3;
        all[f]->next = f + 1 < FACETS ? all[f + 1] : NULL;
        all[f]->previous = f ? all[f - 1] : NULL;
        all[f]->neighbors = set_make(room, size);
        for (k = 0; k < size; k++) {
            facetT *neighbor = all[yard_int(0, FACETS - 1)];
            all[f]->neighbors->e[k].p = neighbor;
            yard.told += neighbor->id;
        }
    }
    return all[0];
}

static int64_t facets_walk(void *root, size_t count)
{
    facetT *f, *neighbor;
    int64_t sum = 0;
    int32_t k;
    (void)count;
    for (f = root; f; f = f->next) {
        for (k = 0; k < set_size(f->neighbors); k++) {
            neighbor = f->neighbors->e[k].p;
            neighbor->visitid += k;
            sum += neighbor->id;
        }
        sum += f->next && f->next->previous != f ? -1 : 0;
    }
    return sum;
}

TEST(structures, HDR_sets_that_hold_their_size_in_the_slot_behind_their_room)
{
    yard_open(1 << 20, 61);
    facets_open(is_in_set);
    yard_prove(facets_make(), facet_type, 1, facets_walk);
    facets_close();
}

TEST(structures, HDR_a_set_whose_room_is_taken_for_its_size_is_refused_at_what_was_there_before)
{
    yard_open(1 << 20, 62);
    facets_open(is_in_room);
    yard_refuse(facets_make(), facet_type, 1, HAUL_ERROR_GRAPH, "root.neighbors.e[4]",
                "outside any process's address range");
    facets_close();
}
