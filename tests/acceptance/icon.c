/* A program after ICON: the state of an atmosphere is one struct of 19 KB, whose 170 members are
 * descriptors of arrays in Fortran's form, in derived types that lie within one another. A kernel
 * uses eight of them, and a policy names these: the arrays of the others stay on the host.
 *
 * Tracers are slices of one block, each with a descriptor of its own; one of them is used.
 */
#define _GNU_SOURCE
#include <string.h>

#include <haul.h>

#include "accept.h"

enum { NPROMA = 8, NLEV = 20, NBLKS = 6, POINTS = NPROMA * NLEV * NBLKS };
enum { PROCESSES = 16, MEMBERS = 170, USED = 8, STEPS = 12, TRACERS = 14 };

typedef struct dimension {
    intptr_t stride, lower, upper;
} dimension;

/* array(nproma, nlev, nblks) */
typedef struct array3 {
    double *base;
    intptr_t offset;
    size_t element_bytes;
    int32_t version;
    int8_t rank, type;
    int16_t attribute;
    intptr_t span;
    dimension dim[3];
} array3;

typedef struct wind {
    array3 u, v, w, vn, vt, omega, div, vor, e_kin, w_concorr, mass_flux, ddt_vn, ddt_w, grf_tend;
} wind;

typedef struct thermo {
    array3 temp, tempv, temp_ifc, pres, pres_ifc, dpres, rho, rho_ic, exner, exner_pr, theta_v,
        theta_v_ic, airmass, hydrostatic;
} thermo;

typedef struct moist {
    array3 qv, qc, qi, qr, qs, qg, qh, nc, ni, nr, ns, ng, nh, ninact;
} moist;

typedef struct tendency {
    array3 u, v, temp, qv, qc, qi, qr, qs;
} tendency;

typedef struct state {
    wind wind;
    tendency by_process[PROCESSES];
    thermo thermo;
    moist moist;
} state;

static haul_type *array3_type, *wind_type, *thermo_type, *moist_type, *tendency_type, *state_type;
static haul_type *policy;

static int64_t points_of(const haul_here *here)
{
    const array3 *a = here->self;
    int64_t points = 1;
    int i;
    for (i = 0; i < a->rank; i++)
        points *= a->dim[i].upper - a->dim[i].lower + 1;
    return points;
}

#define IN2(S, a, b) HAUL_EMBED(S, a, &array3_type), HAUL_EMBED(S, b, &array3_type)
#define IN8(S, a, b, c, d, e, f, g, h) IN2(S, a, b), IN2(S, c, d), IN2(S, e, f), IN2(S, g, h)
static const haul_field array3_fields[] = { HAUL_ARRAY(array3, base, HAUL_COUNT_FN(points_of)) };
static const haul_field wind_fields[] = {
    IN8(wind, u, v, w, vn, vt, omega, div, vor),
    IN2(wind, e_kin, w_concorr),
    IN2(wind, mass_flux, ddt_vn),
    IN2(wind, ddt_w, grf_tend),
};
static const haul_field thermo_fields[] = {
    IN8(thermo, temp, tempv, temp_ifc, pres, pres_ifc, dpres, rho, rho_ic),
    IN2(thermo, exner, exner_pr),
    IN2(thermo, theta_v, theta_v_ic),
    IN2(thermo, airmass, hydrostatic),
};
static const haul_field moist_fields[] = {
    IN8(moist, qv, qc, qi, qr, qs, qg, qh, nc),
    IN2(moist, ni, nr),
    IN2(moist, ns, ng),
    IN2(moist, nh, ninact),
};
static const haul_field tendency_fields[] = { IN8(tendency, u, v, temp, qv, qc, qi, qr, qs) };
static const haul_field state_fields[] = {
    HAUL_EMBED(state, wind, &wind_type),
    HAUL_EMBED(state, by_process, &tendency_type),
    HAUL_EMBED(state, thermo, &thermo_type),
    HAUL_EMBED(state, moist, &moist_type),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(array3, &array3_type, array3_fields),
    HAUL_STRUCT(wind, &wind_type, wind_fields),
    HAUL_STRUCT(thermo, &thermo_type, thermo_fields),
    HAUL_STRUCT(moist, &moist_type, moist_fields),
    HAUL_STRUCT(tendency, &tendency_type, tendency_fields),
    HAUL_STRUCT(state, &state_type, state_fields),
};

/* The descriptor of a used array never comes back; its elements do if the kernel writes them. */
#define USES(member, does)                                                                         \
    { .path = member, .action = HAUL_COPYIN },                                                     \
    {                                                                                              \
        .path = member ".base", .action = (does)                                                   \
    }
static const haul_policy_row rows[] = {
    { .path = "", .action = HAUL_NONE }, USES("wind.u", HAUL_COPYIN),
    USES("wind.v", HAUL_COPYIN),         USES("wind.w", HAUL_COPY),
    USES("wind.e_kin", HAUL_COPYOUT),    USES("thermo.temp", HAUL_COPYIN),
    USES("thermo.exner", HAUL_COPYIN),   USES("thermo.rho", HAUL_COPY),
    USES("moist.qv", HAUL_COPYIN),
};

/* ---- The state. */

static array3 *member_of(state *s, int i)
{
    return (array3 *)s + i;
}

/* A new array, or one at `base`: a(1:nproma, 1:nlev, 1:nblks). */
static void allocate(array3 *a, double *base)
{
    static const intptr_t extents[3] = { NPROMA, NLEV, NBLKS };
    intptr_t stride = 1;
    int i;
    memset(a, 0, sizeof *a);
    a->base = base ? base : heap_malloc(POINTS * sizeof(double));
    a->element_bytes = sizeof(double);
    a->span = sizeof(double);
    a->rank = 3;
    for (i = 0; i < 3; i++) {
        a->dim[i].stride = stride;
        a->dim[i].lower = 1;
        a->dim[i].upper = extents[i];
        a->offset -= stride;
        stride *= extents[i];
    }
}

static state *make(heap *in)
{
    state *s;
    double *tracers;
    int i, k;
    heap_use(in);
    s = heap_malloc(sizeof *s);
    tracers = heap_malloc(TRACERS * POINTS * sizeof *tracers);
    for (i = 0; i < MEMBERS; i++) {
        array3 *a = member_of(s, i);
        const int tracer = i - (MEMBERS - TRACERS);
        allocate(a, tracer < 0 ? NULL : tracers + tracer * POINTS);
        for (k = 0; k < POINTS; k++)
            a->base[k] = 1 + i % 7 + 0.001 * (k % 101);
    }
    heap_use(NULL);
    return s;
}

static void destroy(state *s)
{
    int i;
    for (i = 0; i <= MEMBERS - TRACERS; i++)
        heap_free(member_of(s, i)->base);
    heap_free(s);
}

/* ---- A step. */

static double *at(const array3 *a, int point, int level, int block)
{
    return a->base + a->offset + (point + 1) * a->dim[0].stride + (level + 1) * a->dim[1].stride +
           (block + 1) * a->dim[2].stride;
}

static void step_point(state *s, int p, int l, int b)
{
    const double u = *at(&s->wind.u, p, l, b), v = *at(&s->wind.v, p, l, b);
    const double virtual_temp =
        *at(&s->thermo.temp, p, l, b) * (1 + 0.61 * 0.001 * *at(&s->moist.qv, p, l, b));
    double *w = at(&s->wind.w, p, l, b);
    *at(&s->wind.e_kin, p, l, b) = 0.5 * (u * u + v * v);
    *w += 0.01 * (virtual_temp / *at(&s->thermo.exner, p, l, b) - 1);
    if (l > 0)
        *at(&s->thermo.rho, p, l, b) -= 0.01 * (*w - *at(&s->wind.w, p, l - 1, b));
}

static void step(void *argument)
{
    state *s = argument;
    int p, l, b;
    for (b = 0; b < NBLKS; b++)
        for (l = 0; l < NLEV; l++)
            for (p = 0; p < NPROMA; p++)
                step_point(s, p, l, b);
}

/* ---- The program. */

typedef struct world {
    heap *originals, *plain;
    haul_device *device;
    haul_environment *environment;
    state *state, *right;
} world;

/* The room of the struct on the device: up to its last byte that the policy names. */
enum { ROOM = offsetof(state, moist.qv) + sizeof(array3) };

typedef struct look {
    const state *there;
    state seen;
} look;

static void look_at(void *argument)
{
    look *l = argument;
    memcpy(&l->seen, l->there, ROOM);
}

static int is_absent(const world *w, const void *host, size_t bytes)
{
    return haul_environment_presence(w->environment, host, bytes) == HAUL_ABSENT;
}

/* Between used descriptors, zeros cross. */
static void see_what_crossed(const world *w)
{
    enum { DESCRIPTORS = USED * sizeof(array3), ARRAYS = USED * POINTS * sizeof(double) };
    static const array3 zero;
    static look l;
    int i, absent = 0;
    accept(accept_info(w->environment).transfers_to == 1 &&
               accept_info(w->environment).bytes == DESCRIPTORS + ARRAYS,
           "%d bytes of %zu are present, and %d arrays of %d", DESCRIPTORS, sizeof(state), USED,
           MEMBERS);
    accept(accept_info(w->environment).bytes_to < ROOM + ARRAYS + 2048,
           "%llu bytes have crossed in one transfer: arrays of %d, and a struct",
           (unsigned long long)accept_info(w->environment).bytes_to, ARRAYS);
    l.there = haul_environment_device_pointer(w->environment, w->state);
    accept_must(w->device, haul_host_launch(w->device, look_at, &l), "the struct is looked at");
    for (i = 0; i < MEMBERS; i++) {
        const array3 *a = member_of(w->state, i);
        absent += is_absent(w, a, sizeof *a) && is_absent(w, a->base, POINTS * sizeof(double)) &&
                  memcmp(member_of(&l.seen, i), &zero, sizeof zero) == 0;
    }
    accept(absent == MEMBERS - USED,
           "the other %d members are absent with their arrays, and zeros there", absent);
}

/* ---- Steps. The host feeds moisture into the lowest level, and reads energies of one level. */

static haul_update_part level_of(const array3 *a, int level)
{
    haul_update_part part;
    memset(&part, 0, sizeof part);
    part.host = at(a, 0, level, 0);
    part.bytes = NPROMA * sizeof(double);
    part.count = NBLKS;
    part.stride = NPROMA * NLEV * sizeof(double);
    return part;
}

static void evaporate(state *s, int number)
{
    int p, b;
    for (b = 0; b < NBLKS; b++)
        for (p = 0; p < NPROMA; p++)
            *at(&s->moist.qv, p, NLEV - 1, b) += 0.5 * number + p;
}

static int levels_agree(const world *w, int level)
{
    int p, b, agree = 1;
    for (b = 0; b < NBLKS; b++)
        for (p = 0; p < NPROMA; p++)
            agree &=
                *at(&w->state->wind.e_kin, p, level, b) == *at(&w->right->wind.e_kin, p, level, b);
    return agree;
}

static int make_step(const world *w, int number)
{
    const int level = number % NLEV;
    const haul_update_part moisture = level_of(&w->state->moist.qv, NLEV - 1);
    const haul_update_part energy = level_of(&w->state->wind.e_kin, level);
    evaporate(w->state, number);
    evaporate(w->right, number);
    accept_must(w->device,
                haul_environment_update(w->environment, &moisture, 1, HAUL_TO_DEVICE, NULL),
                "moisture goes");
    if (!accept_there(w->device, w->originals, w->state, step,
                      haul_environment_device_pointer(w->environment, w->state)))
        return 0;
    step(w->right);
    accept_must(w->device, haul_environment_update(w->environment, &energy, 1, HAUL_TO_HOST, NULL),
                "energies come");
    return levels_agree(w, level);
}

static int states_agree(const world *w)
{
    int i, agree = 1;
    for (i = 0; i < MEMBERS; i++)
        agree &= memcmp(member_of(w->state, i)->base, member_of(w->right, i)->base,
                        POINTS * sizeof(double)) == 0;
    return agree;
}

/* Everything comes back; then the host's radiation changes temperatures, here and there, and a sync
 * finds them. */
static int radiate(const world *w)
{
    int k, agree;
    accept_must(w->device, haul_environment_update_host(w->environment, w->state, 0, NULL),
                "all results come");
    agree = states_agree(w);
    for (k = 0; k < POINTS; k += 97)
        w->state->thermo.temp.base[k] = w->right->thermo.temp.base[k] += 0.25;
    accept_must(w->device, haul_environment_sync(w->environment, w->state), "temperatures go");
    return agree;
}

static void make_steps(const world *w)
{
    int made = 0, right = 1;
    while (made < STEPS && make_step(w, made)) {
        made++;
        if (made % 4 == 0)
            right &= radiate(w);
    }
    accept(made == STEPS && right, "%d of %d steps have the host's results", made, STEPS);
}

static void leave(world *w)
{
    const haul_exit_options back = { .copyout = 1 };
    static array3 kept[MEMBERS];
    memcpy(kept, w->state, sizeof kept);
    accept_must(w->device, haul_environment_exit(w->environment, w->state, &back, NULL),
                "it is exited");
    accept(states_agree(w), "all 170 arrays are as on the host");
    accept(memcmp(kept, w->state, sizeof kept) == 0, "and so are the descriptors");
    accept_left(w->device, &w->environment);
}

int main(void)
{
    world w;
    memset(&w, 0, sizeof w);
    w.device = accept_device(0);
    w.originals = heap_open();
    w.plain = heap_open();
    accept_must(w.device, HAUL_DESCRIBE(haul_device_context(w.device), structs),
                "the state is described");
    accept_must(w.device,
                haul_policy_create(state_type, "step", rows, sizeof rows / sizeof *rows, &policy),
                "its policy is made");
    w.state = make(w.originals);
    w.right = make(w.plain);
    accept_title("A state of %d members and %zu bytes, of which a kernel uses %d", MEMBERS,
                 sizeof(state), USED);
    accept_audit(NULL, w.state, state_type, 1);
    accept_must(w.device, haul_environment_create(w.device, &w.environment),
                "there is an environment");
    accept_must(w.device, haul_environment_enter(w.environment, w.state, policy, 1, NULL, NULL),
                "it is entered");
    see_what_crossed(&w);
    make_steps(&w);
    leave(&w);
    destroy(w.state);
    destroy(w.right);
    accept_heaps_end(w.originals, w.plain);
    haul_type_free(&policy);
    HAUL_FORGET(structs);
    haul_device_close(&w.device);
    return accept_done();
}
