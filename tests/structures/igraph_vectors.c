/* igraph. Each vector has room to grow, from stor_begin to stor_end; end is behind the
 * last used element.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

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
    haul_type *type = OPEN(igraph, fields);
    vector_type = type_open("igraph_vector", sizeof(igraph_vector), rows, count);
    type_close(type);
    return type;
}

static void igraph_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&vector_type);
    site_end();
}

static void vector_make(igraph_vector *v, size_t used, size_t room)
{
    v->stor_begin = put_room(room * sizeof *v->stor_begin);
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
    igraph *g = put_elements(1, sizeof *g);
    int e;
    g->n = VERTICES;
    g->directed = 1;
    vector_make(&g->from, EDGES, 4096);
    vector_make(&g->to, EDGES, 4096);
    for (e = 0; e < EDGES; e++) {
        g->from.stor_begin[e] = chance(0, VERTICES - 1);
        g->to.stor_begin[e] = chance(0, VERTICES - 1);
        the.told += g->from.stor_begin[e] * 3 + g->to.stor_begin[e];
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

TEST(structures_igraph, vectors_with_room_grow_on_the_device_and_come_back_longer)
{
    static const haul_field rows[] = {
        HAUL_ARRAY(igraph_vector, stor_begin, HAUL_UNTIL(igraph_vector, stor_end)),
        HAUL_ADDRESS(igraph_vector, end, .ownership = HAUL_BORROWED),
    };
    haul_type *type;
    igraph *g;
    site_start(16);
    type = igraph_open(rows, 2);
    the.returns_pointers = 1;
    g = igraph_make();
    travel_and_sum(g, type, 1, igraph_walk);
    CHECK_EQ(igraph_walk(g, 1), the.told);
    CHECK_EQ(g->from.end - g->from.stor_begin, EDGES + MORE_EDGES);
    igraph_close(&type);
}

TEST(structures_igraph, trimmed_to_what_is_used_it_is_full_there_and_has_its_room_at_home)
{
    static const haul_field rows[] = {
        HAUL_ARRAY(igraph_vector, stor_begin, HAUL_UNTIL(igraph_vector, end)),
        HAUL_END_OF(igraph_vector, stor_end, stor_begin),
    };
    haul_device *device;
    haul_shipment *s;
    haul_shipment_info statistics;
    haul_type *type;
    igraph *g;
    int64_t *room;
    site_start(17);
    type = igraph_open(rows, 2);
    g = igraph_make();
    room = g->from.stor_end;
    device = site_device(1);
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

TEST(structures_igraph, a_forgotten_pointer_to_the_room_or_to_the_end_is_told)
{
    static const haul_field no_room[] = { HAUL_ARRAY(igraph_vector, stor_begin,
                                                     HAUL_UNTIL(igraph_vector, end)) };
    static const haul_field no_end[] = { HAUL_ARRAY(igraph_vector, stor_begin,
                                                    HAUL_UNTIL(igraph_vector, stor_end)) };
    haul_type *type;
    char path[40], words[80];
    site_start(18);
    type = igraph_open(no_room, 1);
    snprintf(path, sizeof path, "root.oi+%zu",
             offsetof(igraph_vector, stor_end)); /* the first that is full */
    snprintf(words, sizeof words, "offset %zu of igraph_vector", offsetof(igraph_vector, stor_end));
    audit_tells(igraph_make(), type, 1, HAUL_AUDIT_HIDDEN_POINTER, path, words);
    haul_type_free(&type);
    haul_type_free(&vector_type);
    type = igraph_open(no_end, 1);
    snprintf(path, sizeof path, "root.from+%zu", offsetof(igraph_vector, end));
    snprintf(words, sizeof words, "offset %zu of igraph_vector", offsetof(igraph_vector, end));
    audit_tells(igraph_make(), type, 1, HAUL_AUDIT_HIDDEN_POINTER, path, words);
    igraph_close(&type);
}
