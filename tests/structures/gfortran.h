/* gfortran's array descriptors, and what of memory they lead to.
 *
 * A descriptor ends in as many dimensions as its array has. Its rank and the size of its elements
 * are the declaration's: elem_len may be that of the whole that an element is in.
 */
#ifndef HAUL_TESTS_GFORTRAN_H
#define HAUL_TESTS_GFORTRAN_H

#include "haul.h"

typedef struct gfc_dim {
    intptr_t stride, lbound, ubound;
} gfc_dim;

#define DESCRIPTOR                                                                                 \
    void *base_addr;                                                                               \
    intptr_t offset;                                                                               \
    struct {                                                                                       \
        size_t elem_len;                                                                           \
        int version;                                                                               \
        signed char rank, type;                                                                    \
        short attribute;                                                                           \
    } dtype;                                                                                       \
    intptr_t span

typedef struct gfc_any {
    DESCRIPTOR;
    gfc_dim dim[];
} gfc_any;

typedef struct gfc_1 {
    DESCRIPTOR;
    gfc_dim dim[1];
} gfc_1;

typedef struct gfc_2 {
    DESCRIPTOR;
    gfc_dim dim[2];
} gfc_2;

typedef struct gfc_3 {
    DESCRIPTOR;
    gfc_dim dim[3];
} gfc_3;

typedef struct gfc_4 {
    DESCRIPTOR;
    gfc_dim dim[4];
} gfc_4;

/* Strides count spans: of an element, or, for one component of all elements (p => a%x), of the
 * whole that it is in. The first element is the lowest one, unless a stride is negative. In spans:
 * where the lowest element lies, seen from the first one, and how far behind it the highest one. */
static inline intptr_t gfc_lowest(const gfc_any *a)
{
    intptr_t place = 0;
    int d;
    for (d = 0; d < a->dtype.rank; d++)
        if (a->dim[d].stride < 0 && a->dim[d].ubound > a->dim[d].lbound)
            place += (a->dim[d].ubound - a->dim[d].lbound) * a->dim[d].stride;
    return place;
}

static inline intptr_t gfc_extent(const gfc_any *a, int d)
{
    return a->dim[d].ubound < a->dim[d].lbound ? 0 : a->dim[d].ubound - a->dim[d].lbound + 1;
}

/* A dimension of a haul_section, whose function `extent` answers gfc_extent(self, d). */
#define GFC_DIMENSION(S, d, extent)                                                                \
    HAUL_DIMENSION_BYTES(HAUL_COUNT_FN(extent), HAUL_COUNT(S, span, dim[d].stride))

static inline int gfc_is_empty(const gfc_any *a)
{
    int d;
    for (d = 0; d < a->dtype.rank; d++)
        if (a->dim[d].ubound < a->dim[d].lbound)
            return 1;
    return 0;
}

static inline intptr_t gfc_reach(const gfc_any *a)
{
    intptr_t spans = 0;
    int d;
    for (d = 0; d < a->dtype.rank; d++)
        spans += (a->dim[d].ubound - a->dim[d].lbound) *
                 (a->dim[d].stride < 0 ? -a->dim[d].stride : a->dim[d].stride);
    return spans;
}

/* Of elements that are declared to have so many bytes. */
static inline intptr_t gfc_bytes(const gfc_any *a, size_t declared)
{
    return gfc_is_empty(a) ? 0 : gfc_reach(a) * a->span + (intptr_t)declared;
}

/* Of a derived type. A component of derived type is no array of that type: what lies between is
 * something else, and the answer refuses it. */
static inline intptr_t gfc_elements(const gfc_any *a, size_t declared)
{
    if (gfc_is_empty(a))
        return 0;
    return a->span == (intptr_t)declared ? gfc_reach(a) + 1 : -1;
}

/* From the lowest byte to the first element's. */
static inline intptr_t gfc_first_byte(const gfc_any *a)
{
    return gfc_is_empty(a) ? 0 : gfc_lowest(a) * a->span;
}

#endif
