/* Splines of GSL. A state has no sizes: the interpolation that leads to it has. A linear one has no
 * state.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

typedef struct gsl_interp_type {
    const char *name;
    unsigned min_size;
    double (*eval)(const void *state, const double *x, const double *y, size_t size,
                   size_t interval, double at);
} gsl_interp_type;

typedef struct gsl_interp {
    const gsl_interp_type *type;
    double xmin, xmax;
    size_t size;
    void *state;
} gsl_interp;

typedef struct gsl_spline {
    gsl_interp *interp;
    double *x, *y;
    size_t size;
} gsl_spline;

typedef struct cspline_state {
    double *c, *g, *diag, *offdiag;
} cspline_state;

typedef struct akima_state {
    double *b, *c, *d, *_m; /* _m has two places more at either end */
} akima_state;

typedef struct splines {
    int count;
    gsl_spline **all;
} splines;

enum { SPLINES = 60 };

static double linear_eval(const void *state, const double *x, const double *y, size_t size,
                          size_t k, double at)
{
    (void)state, (void)size;
    return y[k] + (y[k + 1] - y[k]) * (at - x[k]);
}

static double cspline_eval(const void *state, const double *x, const double *y, size_t size,
                           size_t k, double at)
{
    const cspline_state *s = state;
    return y[k] + s->c[k] * (at - x[k]) + s->g[k] + s->diag[size - 1] + s->offdiag[size - 1];
}

static double akima_eval(const void *state, const double *x, const double *y, size_t size, size_t k,
                         double at)
{
    const akima_state *s = state;
    double d = at - x[k];
    return y[k] + d * (s->b[k] + d * (s->c[k] + d * s->d[k])) + s->_m[size + 3];
}

static const gsl_interp_type linear = { "linear", 2, linear_eval },
                             cspline = { "cspline", 3, cspline_eval },
                             akima = { "akima", 5, akima_eval };
static const test_static known_types[] = { { &linear, sizeof linear, HAUL_STATIC_KEEP },
                                           { &cspline, sizeof cspline, HAUL_STATIC_KEEP },
                                           { &akima, sizeof akima, HAUL_STATIC_KEEP } };

static haul_type *cspline_type, *akima_type, *interp_type, *spline_type, *splines_type;

static int64_t size_of_parent(const haul_here *here)
{
    return here->ancestor ? (int64_t)((const gsl_interp *)here->ancestor)->size : -1;
}

static int64_t size_of_parent_and_4(const haul_here *here)
{
    return here->ancestor ? (int64_t)((const gsl_interp *)here->ancestor)->size + 4 : -1;
}

HAUL_FUNCTION(kind_of_state, gsl_interp, self->type == &cspline ? 0 : self->type == &akima ? 1 : 2)

static void splines_open(haul_function *akima_margin)
{
    static const haul_case states[] = { { 0, &cspline_type, 0 }, { 1, &akima_type, 0 } };
    static const haul_field cspline_fields[] = {
        HAUL_ARRAY(cspline_state, c, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(cspline_state, g, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(cspline_state, diag, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(cspline_state, offdiag, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
    };
    const haul_field akima_fields[] = {
        HAUL_ARRAY(akima_state, b, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(akima_state, c, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(akima_state, d, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(akima_state, _m, HAUL_COUNT_FN(akima_margin), .ancestor = HAUL_PARENT),
    };
    static const haul_field interp_fields[] = {
        HAUL_ADDRESS(gsl_interp, type, .ownership = HAUL_BORROWED, .maybe_static = 1),
        HAUL_ADDRESS(gsl_interp, state, .type_switch = HAUL_SWITCH_FN(kind_of_state, states))
    };
    static const haul_field spline_fields[] = {
        HAUL_OBJECT(gsl_spline, interp, &interp_type),
        HAUL_ARRAY(gsl_spline, x, HAUL_COUNT(gsl_spline, size)),
        HAUL_ARRAY(gsl_spline, y, HAUL_COUNT(gsl_spline, size))
    };
    static const haul_field splines_fields[] = { HAUL_POINTERS(splines, all, &spline_type,
                                                               HAUL_COUNT(splines, count)) };
    cspline_type = OPEN(cspline_state, cspline_fields);
    akima_type = OPEN(akima_state, akima_fields);
    interp_type = OPEN(gsl_interp, interp_fields);
    spline_type = OPEN(gsl_spline, spline_fields);
    splines_type = OPEN(splines, splines_fields);
    type_close(splines_type);
    the.known.statics = known_types;
    the.known.static_count = COUNT_OF(known_types);
}

static void splines_close(void)
{
    haul_type_free(&splines_type);
    haul_type_free(&spline_type);
    haul_type_free(&interp_type);
    haul_type_free(&akima_type);
    haul_type_free(&cspline_type);
}

static double *constants(size_t count, double value)
{
    double *all = PUT_ARRAY(double, count);
    size_t i;
    for (i = 0; i < count; i++)
        all[i] = value;
    return all;
}

static void *cspline_make(size_t size)
{
    cspline_state *s = PUT(cspline_state);
    s->c = constants(size, 2);
    s->g = constants(size, 3);
    s->diag = constants(size, 4);
    s->offdiag = constants(size, 5);
    return s;
}

static void *akima_make(size_t size)
{
    akima_state *s = PUT(akima_state);
    s->b = constants(size, 1);
    s->c = constants(size, 2);
    s->d = constants(size, 3);
    s->_m = constants(size + 4, 4);
    return s;
}

/* x is 0, 1, ..; y is 10 x. */
static gsl_spline *spline_make(int kind, size_t size)
{
    gsl_spline *s = PUT(gsl_spline);
    size_t i;
    s->size = size;
    s->x = PUT_ARRAY(double, size);
    s->y = PUT_ARRAY(double, size);
    for (i = 0; i < size; i++)
        s->y[i] = 10 * (s->x[i] = (double)i);
    s->interp = PUT(gsl_interp);
    s->interp->type = kind == 0 ? &linear : kind == 1 ? &cspline : &akima;
    s->interp->size = size;
    s->interp->xmax = (double)size - 1;
    s->interp->state = kind == 0 ? NULL : kind == 1 ? cspline_make(size) : akima_make(size);
    return s;
}

/* At 2 behind the beginning of each interval. */
static splines *splines_make(uint64_t *seen)
{
    static const int at_2[] = { 20, 2 * 2 + 3 + 4 + 5, 2 * 1 + 4 * 2 + 8 * 3 + 4 };
    splines *s = PUT(splines);
    int i, k;
    s->count = SPLINES;
    s->all = PUT_ARRAY(gsl_spline *, SPLINES);
    for (i = 0; i < SPLINES; i++) {
        size_t size = random_between(&the.random, 5, 30);
        s->all[i] = spline_make(i % 3, size);
        for (k = 0; k + 1 < (int)size; k++)
            see(seen, (uint64_t)(10 * k + at_2[i % 3]));
    }
    return s;
}

static void splines_walk(void *argument)
{
    visit *v = argument;
    splines *s = v->root;
    int i;
    size_t k;
    for (i = 0; i < s->count; i++) {
        gsl_spline *one = s->all[i];
        const gsl_interp *interp = one->interp;
        for (k = 0; k + 1 < interp->size; k++)
            see(&v->seen, (uint64_t)interp->type->eval(interp->state, one->x, one->y, one->size, k,
                                                       one->x[k] + 2));
        for (k = 0; k < one->size; k++)
            one->y[k] += 1;
        if (interp->type == &akima)
            ((akima_state *)interp->state)->_m[0] = 9;
    }
}

TEST(structures_gsl,
     splines_are_evaluated_there_by_the_tables_of_their_types_from_states_without_sizes)
{
    journey j = { .walk = splines_walk };
    site_start(80);
    splines_open(size_of_parent_and_4);
    j.root = splines_make(&j.seen);
    j.type = splines_type;
    travel(&j);
    splines_close();
    site_end();
}
