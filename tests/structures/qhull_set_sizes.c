/* qhull's setT. Room for maxsize pointers and one slot more; that one holds the number of
 * pointers + 1, or NULL when the set is full. Behind the last pointer stands NULL, and then what
 * was there before. A set is as long as its room; the description names as many slots as the
 * longest has.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

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
    set_type = OPEN(setT, set_fields, .size_fn = set_bytes);
    facet_type = OPEN(facetT, facet_fields);
    type_close(facet_type);
}

static void facets_close(void)
{
    haul_type_free(&set_type);
    haul_type_free(&facet_type);
    site_end();
}

static setT *set_make(int32_t maxsize, int32_t size)
{
    setT *set = put_room(offsetof(setT, e) + ((size_t)maxsize + 1) * sizeof set->e[0]);
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
        all[f] = put_elements(1, sizeof *all[f]);
        all[f]->id = FACETS - 1 - f;
    }
    for (f = 0; f < FACETS; f++) {
        int32_t room = chance(4, SET_MAX), size = f ? chance(0, room) : 3;
        all[f]->next = f + 1 < FACETS ? all[f + 1] : NULL;
        all[f]->previous = f ? all[f - 1] : NULL;
        all[f]->neighbors = set_make(room, size);
        for (k = 0; k < size; k++) {
            facetT *neighbor = all[chance(0, FACETS - 1)];
            all[f]->neighbors->e[k].p = neighbor;
            the.told += neighbor->id;
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

TEST(structures_qhull, sets_that_hold_their_size_in_the_slot_behind_their_room)
{
    site_start(61);
    facets_open(is_in_set);
    travel_and_sum(facets_make(), facet_type, 1, facets_walk);
    facets_close();
}

TEST(structures_qhull, a_set_whose_room_is_taken_for_its_size_is_refused_at_what_was_there_before)
{
    site_start(62);
    facets_open(is_in_room);
    refuse_ship(facets_make(), facet_type, 1, HAUL_ERROR_GRAPH, "root.neighbors.e[4]",
                "outside any process's address range");
    facets_close();
}
