/* qhull's setT, which does not know what it holds: the field says it that leads to the set. A set
 * has room for maxsize elements and one slot more, which holds how many there are + 1, or NULL when
 * the set is full. Behind the last element stands NULL, and then what was there before, addresses
 * perhaps.
 *
 * So a slot is an element, a number or nothing, as its place in its set says: the slot is a type of
 * its own, and asks for its parent.
 */
#ifndef HAUL_TESTS_QHULL_SET_H
#define HAUL_TESTS_QHULL_SET_H

#include "journey.h"

typedef double coordT;

typedef union setelemT {
    void *p;
    int i;
} setelemT;

typedef struct setT {
    int maxsize;
    setelemT e[1];
} setT;

static haul_type *element, *setelemT_type, *setT_type;

static int set_size(const setT *set)
{
    int coded = set->e[set->maxsize].i;
    return coded ? coded - 1 : set->maxsize;
}

/* Of a slot: its place in its set. */
static int place_in(const setT *set, const void *slot)
{
    return (int)((const setelemT *)slot - set->e);
}

HAUL_FUNCTION(set_room, setT, self->maxsize + 1)
HAUL_FUNCTION(is_element, setelemT, place_in(here->ancestor, self) < set_size(here->ancestor))
HAUL_FUNCTION(is_number, setelemT,
              place_in(here->ancestor, self) == ((const setT *)here->ancestor)->maxsize &&
                  set_size(here->ancestor) < ((const setT *)here->ancestor)->maxsize)

static void set_open(uintptr_t integers_below)
{
    const haul_field slot_fields[] = {
        HAUL_ADDRESS(setelemT, p, .target = &element, .when = HAUL_WHEN_FN(is_element),
                     .ancestor = HAUL_PARENT, .integers_below = integers_below),
        HAUL_RAW(setelemT, i, .when = HAUL_WHEN_FN(is_number), .ancestor = HAUL_PARENT)
    };
    static const haul_field set_fields[] = { HAUL_TAIL(setT, e, HAUL_COUNT_FN(set_room),
                                                       .target = &setelemT_type) };
    CHECK_STATUS(haul_type_parameter(type_context(), "element", &element), HAUL_OK);
    setelemT_type = OPEN(setelemT, slot_fields);
    setT_type = OPEN(setT, set_fields);
}

static haul_type *set_of(haul_type *what)
{
    haul_type *set;
    CHECK_STATUS(haul_type_instance(setT_type, 1, &element, &what, &set), HAUL_OK);
    return set;
}

static setT *set_room_make(int maxsize)
{
    setT *set = put(offsetof(setT, e) + ((size_t)maxsize + 1) * sizeof set->e[0], sizeof(void *));
    set->maxsize = maxsize;
    return set;
}

#endif
