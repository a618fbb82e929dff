/* Ancestors: rules that ask for a struct that is any number of pointers above the object.
 *
 * Lists of Linux and arrays of LAMMPS are in tests/structures, too: there by what they hold
 * themselves, here by what only an ancestor knows.
 *
 * Faults by number (docs/testing.md): G18 (an impossible answer of a callback), D13 (an answer has
 * changed), T16 (a commit refuses an ancestor without a function that asks), H1, H2.
 */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "structures/journey.h"
#include "structures/libstdcxx_list.h"
#include "support/builds.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/types.h"

#define HEAD_OF(at, S, m) ((S *)(void *)((char *)(at)-offsetof(S, m)))

static const void *held(const haul_here *here)
{
    return here->ancestor;
}

/* ---- Lists of libstdc++, of persons and of numbers. */

typedef struct person {
    char *name;
    int64_t age;
} person;

typedef struct town {
    list people, houses; /* of persons, and of numbers */
    list *guests;
} town;

static haul_type *person_type, *number_type, *town_type, *persons, *numbers, *person_nodes;

static void list_open(void)
{
    CHECK_STATUS(haul_type_parameter(type_context(), "value", &list_value_type), HAUL_OK);
    list_node_type = OPEN(list_node, list_node_fields);
    list_type = OPEN(list, list_fields);
}

static haul_type *list_of(haul_type *what)
{
    haul_type *made;
    CHECK_STATUS(haul_type_instance(list_type, 1, &list_value_type, &what, &made), HAUL_OK);
    return made;
}

static void town_open(void)
{
    static const haul_field person_fields[] = { HAUL_STRING(person, name) };
    static const haul_field town_fields[] = { HAUL_EMBED(town, people, &persons),
                                              HAUL_EMBED(town, houses, &numbers),
                                              HAUL_OBJECT(town, guests, &persons) };
    list_open();
    person_type = OPEN(person, person_fields);
    CHECK_STATUS(type_make("number", sizeof(int64_t), NULL, 0, &number_type), HAUL_OK);
    persons = list_of(person_type);
    numbers = list_of(number_type);
    town_type = OPEN(town, town_fields);
    type_close(town_type);
}

static void town_close(void)
{
    haul_type **all[] = { &town_type,   &persons,   &numbers,        &person_type,
                          &number_type, &list_type, &list_node_type, &list_value_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

static list_node *list_push(list *l, void *value)
{
    list_node *n = PUT(list_node);
    n->value = value;
    list_append(l, n);
    return n;
}

static person *person_make(const char *name, int64_t age)
{
    person *p = PUT(person);
    p->name = put_text(name);
    p->age = age;
    return p;
}

static town *town_make(int count)
{
    town *t = PUT(town);
    int i;
    char name[20];
    list_clear(&t->people), list_clear(&t->houses);
    for (i = 0; i < count; i++) {
        int64_t *number = put(sizeof *number, 8);
        snprintf(name, sizeof name, "person %d", i);
        list_push(&t->people, person_make(name, i % 90));
        *number = 2 * i;
        list_push(&t->houses, number);
    }
    t->guests = PUT(list);
    list_clear(t->guests);
    return t;
}

static int see_persons(visit *v, list *l, int forward)
{
    node_base *n = forward ? l->head.next : l->head.prev;
    size_t count = 0;
    for (; n != &l->head; n = forward ? n->next : n->prev, count++) {
        person *p = ((list_node *)n)->value;
        see_text(&v->seen, p->name);
        see(&v->seen, (uint64_t)p->age++);
        if (n->next->prev != n)
            return 0;
    }
    return count == l->size;
}

static void town_walk(void *visit_of)
{
    visit *v = visit_of;
    town *t = v->root;
    node_base *n;
    int right = see_persons(v, &t->people, 1) & see_persons(v, &t->people, 0) &
                see_persons(v, t->guests, 1);
    for (n = t->houses.head.next; n != &t->houses.head; n = n->next)
        see(&v->seen, (uint64_t)(*(int64_t *)((list_node *)n)->value += 3));
    see(&v->seen, (uint64_t)right);
}

static journey town_journey(town *t, int count)
{
    journey j;
    uint64_t seen = 0;
    char name[20];
    int i;
    memset(&j, 0, sizeof j);
    for (i = 0; i < count; i++) {
        snprintf(name, sizeof name, "person %d", i);
        see_text(&seen, name);
        see(&seen, (uint64_t)(i % 90));
    }
    for (i = count; i-- > 0;) {
        snprintf(name, sizeof name, "person %d", i);
        see_text(&seen, name);
        see(&seen, (uint64_t)(i % 90 + 1));
    }
    see_text(&seen, "guest");
    see(&seen, 7);
    for (i = 0; i < count; i++)
        see(&seen, (uint64_t)(2 * i + 3));
    see(&seen, 1);
    j.root = t;
    j.type = town_type;
    j.seen = seen;
    j.walk = town_walk;
    return j;
}

TEST(ancestors, a_list_whose_head_only_the_list_object_knows)
{
    journey j;
    town *t;
    site_start(1);
    town_open();
    t = town_make(700);
    list_push(t->guests, person_make("guest", 7));
    j = town_journey(t, 700);
    travel(&j);
    town_close();
    site_end();
}

TEST(ancestors, an_empty_list_leads_to_itself)
{
    haul_context *context;
    haul_plan_info statistics;
    haul_plan *plan;
    haul_root root;
    town *t;
    site_start(2);
    town_open();
    t = town_make(0);
    root.address = t;
    root.type = town_type;
    root.count = 1;
    context = site_context();
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    haul_plan_get_info(plan, &statistics);
    CHECK_EQ(statistics.graph_bytes, sizeof(town) + sizeof(list));
    haul_plan_free(&plan);
    haul_context_free(&context);
    town_close();
    site_end();
}

TEST(ancestors, a_node_that_no_list_leads_to_is_refused_by_name_and_place_G18)
{
    haul_type *alone;
    list l;
    list_node *n;
    site_start(3);
    town_open();
    CHECK_STATUS(haul_type_instance(list_node_type, 1, &list_value_type, &person_type, &alone),
                 HAUL_OK);
    list_clear(&l);
    n = list_push(&l, person_make("lost", 1));
    n->base.next = n->base.prev = &n->base;
    refuse_graph(n, alone, HAUL_ERROR_GRAPH, "root.base.next", "",
                 "it names list<person> as `.ancestor` for its choice of type, but "
                 "it was found through none");
    haul_type_free(&alone);
    town_close();
    site_end();
}

TEST(ancestors,
     a_head_of_another_list_is_taken_for_a_node_and_refused_in_checked_mode_with_both_paths_G18)
{
    town *t;
    site_start(4);
    town_open();
    t = town_make(2);
    t->guests->head = t->people.head;
    refuse_graph(t, town_type, HAUL_ERROR_GRAPH, "root.guests.head.next.base.prev", "root",
                 "one address is reached as a list_node<person> and as a town");
    town_close();
    site_end();
}

/* ---- A list of very many nodes, each found through the last. */

enum { LONG_LIST = LARGE(1000 * 1000, 100 * 1000) };

TEST(ancestors, a_million_nodes_in_a_row_know_their_list_and_the_worklist_stays_small)
{
    list_node *nodes = mmap(NULL, (LONG_LIST + 1) * sizeof *nodes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    list *l = (list *)(void *)&nodes[LONG_LIST];
    haul_plan_info statistics;
    haul_context_options options;
    haul_context *context;
    haul_plan *plan;
    haul_root root;
    size_t i;
    CHECK(nodes != MAP_FAILED);
    site_start(5);
    town_open();
    list_clear(l);
    for (i = 0; i < LONG_LIST; i++)
        list_append(l, &nodes[i]);
    memset(&options, 0, sizeof options);
    root.address = l;
    root.type = persons;
    root.count = 1;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    haul_plan_get_info(plan, &statistics);
    CHECK_EQ(statistics.objects, LONG_LIST + 1);
    CHECK_EQ(statistics.graph_bytes, LONG_LIST * sizeof(list_node) + sizeof(list));
    CHECK(statistics.worklist_bytes < 16384);
    haul_plan_free(&plan);
    haul_context_free(&context);
    town_close();
    site_end();
    munmap(nodes, (LONG_LIST + 1) * sizeof *nodes);
}

/* ---- Lists of Linux with anonymous heads: nobody but the head itself knows that it is one, and of
 * what. Heads of ships and of trucks lie in structs of two kinds. */

typedef struct list_head {
    struct list_head *next, *prev;
} list_head;

typedef struct ship {
    int64_t tons;
    list_head hook;
} ship;

typedef struct truck {
    char plate[16];
    int64_t wheels;
    list_head in_depot;
    char *driver;
} truck;

typedef struct port {
    int64_t depth;
    list_head ships, trucks;
} port;

typedef struct fleet {
    list_head ships;
    port *home;
} fleet;

static haul_type *ship_type, *truck_type, *ships_type, *trucks_type, *port_type, *fleet_type;

HAUL_FUNCTION(is_holder, void, here->target == held(here))

static const haul_case ship_cases[] = { { 0, &ship_type, HAUL_CONTAINER_OF(ship, hook) },
                                        { 1, &ships_type, 0 } };
static const haul_case truck_cases[] = { { 0, &truck_type, HAUL_CONTAINER_OF(truck, in_depot) },
                                         { 1, &trucks_type, 0 } };
#define OF_SHIPS .ancestor = &ships_type, .type_switch = HAUL_SWITCH_FN(is_holder, ship_cases)
#define OF_TRUCKS .ancestor = &trucks_type, .type_switch = HAUL_SWITCH_FN(is_holder, truck_cases)

#define HOOK(S, m, ...) HAUL_ADDRESS(S, m.next, __VA_ARGS__), HAUL_ADDRESS(S, m.prev, __VA_ARGS__)
#define HOOK_ALONE(...)                                                                            \
    HAUL_ADDRESS(list_head, next, __VA_ARGS__), HAUL_ADDRESS(list_head, prev, __VA_ARGS__)

static void fleet_open(void)
{
    static const haul_field ship_fields[] = { HOOK(ship, hook, OF_SHIPS) };
    static const haul_field truck_fields[] = { HOOK(truck, in_depot, OF_TRUCKS),
                                               HAUL_STRING(truck, driver) };
    static const haul_field ships_fields[] = { HOOK_ALONE(OF_SHIPS) };
    static const haul_field trucks_fields[] = { HOOK_ALONE(OF_TRUCKS) };
    static const haul_field port_fields[] = { HAUL_EMBED(port, ships, &ships_type),
                                              HAUL_EMBED(port, trucks, &trucks_type) };
    static const haul_field fleet_fields[] = { HAUL_EMBED(fleet, ships, &ships_type),
                                               HAUL_OBJECT(fleet, home, &port_type) };
    ship_type = OPEN(ship, ship_fields);
    truck_type = OPEN(truck, truck_fields);
    ships_type = type_open("ships", sizeof(list_head), ships_fields, COUNT_OF(ships_fields));
    trucks_type = type_open("trucks", sizeof(list_head), trucks_fields, COUNT_OF(trucks_fields));
    port_type = OPEN(port, port_fields);
    fleet_type = OPEN(fleet, fleet_fields);
    type_close(fleet_type);
}

static void fleet_close(void)
{
    haul_type **all[] = { &fleet_type,  &port_type, &ships_type,
                          &trucks_type, &ship_type, &truck_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

static void list_add_tail(list_head *link, list_head *head)
{
    link->next = head;
    link->prev = head->prev;
    head->prev->next = link;
    head->prev = link;
}

static void list_make(list_head *head)
{
    head->next = head->prev = head;
}

static void see_ships(visit *v, list_head *head)
{
    list_head *l;
    for (l = head->next; l != head; l = l->next)
        see(&v->seen, l->prev->next == l ? (uint64_t)HEAD_OF(l, ship, hook)->tons++ : 99);
}

static void fleet_walk(void *visit_of)
{
    visit *v = visit_of;
    fleet *f = v->root;
    list_head *l;
    see_ships(v, &f->ships);
    see_ships(v, &f->home->ships);
    for (l = f->home->trucks.prev; l != &f->home->trucks; l = l->prev) {
        see_text(&v->seen, HEAD_OF(l, truck, in_depot)->driver);
        HEAD_OF(l, truck, in_depot)->plate[0] = 'T';
    }
}

static fleet *fleet_make(uint64_t *seen)
{
    fleet *f = PUT(fleet);
    int i;
    f->home = PUT(port);
    list_make(&f->ships), list_make(&f->home->ships), list_make(&f->home->trucks);
    for (i = 0; i < 400; i++) {
        ship *s = PUT(ship);
        s->tons = 1000 + i;
        see(seen, (uint64_t)s->tons);
        list_add_tail(&s->hook, i < 150 ? &f->ships : &f->home->ships);
    }
    for (i = 0; i < 9; i++) {
        truck *t = PUT(truck);
        t->wheels = 6;
        t->driver = put_text(i % 2 ? "Anna" : "Otto");
        see_text(seen, t->driver);
        list_add_tail(&t->in_depot, &f->home->trucks);
    }
    return f;
}

TEST(ancestors, heads_of_two_lists_in_structs_of_two_kinds_hold_what_is_in_them)
{
    uint64_t seen = 0;
    fleet *f;
    site_start(8);
    fleet_open();
    f = fleet_make(&seen);
    travel_to_see(f, fleet_type, fleet_walk, seen);
    fleet_close();
    site_end();
}

/* A direct way to a ship in a list that it does not go through. */
TEST(ancestors, a_ship_that_a_wrong_head_leads_to_is_refused_with_both_paths_G18)
{
    fleet *f;
    ship *s;
    site_start(9);
    fleet_open();
    f = PUT(fleet);
    f->home = PUT(port);
    list_make(&f->ships), list_make(&f->home->ships), list_make(&f->home->trucks);
    s = PUT(ship);
    list_add_tail(&s->hook, &f->home->ships);
    f->ships.next = &s->hook;
    refuse_graph(f, fleet_type, HAUL_ERROR_GRAPH, "root.ships.next.hook.next", "root.home",
                 "one address is reached as a ship and as a port");
    fleet_close();
    site_end();
}

/* ---- Arrays of LAMMPS with three levels, whose bounds stand in the solver that owns them: it
 * hangs below the simulation, and the array below a set of them. Each level is biased by where its
 * indices begin. */

typedef struct bricks {
    int64_t count;
    double ***density, ***each[2]; /* each[i] is as density is */
} bricks;

typedef struct solver {
    int nxlo, nxhi, nylo, nyhi, nzlo, nzhi;
    bricks *first;
} solver;

typedef struct simulation {
    int64_t step;
    solver *coarse, *fine;
} simulation;

typedef struct brick_row {
    double *x;
} brick_row;

typedef struct brick_plane {
    brick_row *y;
} brick_plane;

static haul_type *row_type, *plane_type, *bricks_type, *solver_type, *simulation_type;

#define SOLVER ((const solver *)held(here))
#define WORD_BYTES ((int64_t)sizeof(void *))
HAUL_FUNCTION(z_bias, void, WORD_BYTES * SOLVER->nzlo)
HAUL_FUNCTION(z_count, void, SOLVER->nzhi - SOLVER->nzlo + 1)
HAUL_FUNCTION(y_bias, void, WORD_BYTES * SOLVER->nylo)
HAUL_FUNCTION(y_count, void, SOLVER->nyhi - SOLVER->nylo + 1)
HAUL_FUNCTION(x_bias, void, (int64_t)sizeof(double) * SOLVER->nxlo)
HAUL_FUNCTION(x_count, void, SOLVER->nxhi - SOLVER->nxlo + 1)

static void simulation_open(void)
{
#define AS_Z .base_fn = z_bias, .ancestor = &solver_type
    static const haul_field row_fields[] = { HAUL_ARRAY(
        brick_row, x, HAUL_COUNT_FN(x_count), .base_fn = x_bias, .ancestor = &solver_type) };
    static const haul_field plane_fields[] = { HAUL_ADDRESS(
        brick_plane, y, .target = &row_type, .count = HAUL_COUNT_FN(y_count), .base_fn = y_bias,
        .ancestor = &solver_type) };
    static const haul_field bricks_fields[] = {
        HAUL_ADDRESS(bricks, density, .target = &plane_type, .count = HAUL_COUNT_FN(z_count), AS_Z),
        HAUL_ADDRESS(bricks, each[0], .target = &plane_type, .count = HAUL_COUNT_FN(z_count), AS_Z),
        HAUL_ADDRESS(bricks, each[1], .target = &plane_type, .count = HAUL_COUNT_FN(z_count), AS_Z)
    };
    static const haul_field solver_fields[] = { HAUL_OBJECT(solver, first, &bricks_type) };
    static const haul_field simulation_fields[] = { HAUL_OBJECT(simulation, coarse, &solver_type),
                                                    HAUL_OBJECT(simulation, fine, &solver_type) };
    row_type = OPEN(brick_row, row_fields);
    plane_type = OPEN(brick_plane, plane_fields);
    bricks_type = OPEN(bricks, bricks_fields);
    solver_type = OPEN(solver, solver_fields);
    simulation_type = OPEN(simulation, simulation_fields);
    type_close(simulation_type);
}

static void simulation_close(void)
{
    haul_type **all[] = { &simulation_type, &solver_type, &bricks_type, &plane_type, &row_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

/* As create3d_offset does: one block, and rows and planes into it. */
static double ***brick_make(const solver *s)
{
    const size_t nx = (size_t)(s->nxhi - s->nxlo + 1), ny = (size_t)(s->nyhi - s->nylo + 1);
    const size_t nz = (size_t)(s->nzhi - s->nzlo + 1);
    double *data = PUT_ARRAY(double, nx *ny *nz);
    double **row = PUT_ARRAY(double *, ny *nz);
    double ***plane = PUT_ARRAY(double **, nz);
    size_t i;
    for (i = 0; i < nx * ny * nz; i++)
        data[i] = (double)i;
    for (i = 0; i < ny * nz; i++)
        row[i] = (double *)((uintptr_t)&data[i * nx] - sizeof(double) * (uintptr_t)s->nxlo);
    for (i = 0; i < nz; i++)
        plane[i] = (double **)((uintptr_t)&row[i * ny] - sizeof(double *) * (uintptr_t)s->nylo);
    return (double ***)((uintptr_t)plane - sizeof(double **) * (uintptr_t)s->nzlo);
}

static solver *solver_make(int low, int nx, int ny, int nz)
{
    solver *s = PUT(solver);
    s->nxlo = low, s->nylo = low + 1, s->nzlo = low - 1;
    s->nxhi = s->nxlo + nx - 1, s->nyhi = s->nylo + ny - 1, s->nzhi = s->nzlo + nz - 1;
    s->first = PUT(bricks);
    s->first->density = brick_make(s);
    s->first->each[0] = brick_make(s);
    s->first->each[1] = s->first->density;
    return s;
}

static void see_brick(visit *v, const solver *s, double ***brick)
{
    double *own, sum = 0;
    int i, k, m;
    for (i = s->nzlo; i <= s->nzhi; i++)
        for (k = s->nylo; k <= s->nyhi; k++)
            for (m = s->nxlo; m <= s->nxhi; m++) {
                /* Indexed as words: the biased pointers lead out of their blocks. */
                double **row = *(double ***)((uintptr_t)brick + sizeof(double **) * (uintptr_t)i);
                double *line = *(double **)((uintptr_t)row + sizeof(double *) * (uintptr_t)k);
                own = (double *)((uintptr_t)line + sizeof(double) * (uintptr_t)m);
                sum += *own;
                *own += 1;
            }
    see_real(&v->seen, sum);
}

static void simulation_walk(void *visit_of)
{
    visit *v = visit_of;
    simulation *s = v->root;
    see_brick(v, s->coarse, s->coarse->first->density);
    see_brick(v, s->fine, s->fine->first->each[0]);
    see(&v->seen, s->fine->first->each[1] == s->fine->first->density);
}

static simulation *simulation_make(void)
{
    simulation *s = PUT(simulation);
    s->coarse = solver_make(-2, 3, 4, 5);
    s->fine = solver_make(1, 20, 9, 7);
    return s;
}

TEST(ancestors, arrays_of_three_levels_are_as_long_as_the_solver_says_that_owns_them)
{
    uint64_t seen = 0;
    site_start(10);
    simulation_open();
    see_real(&seen, 59.0 * 60 / 2);
    see_real(&seen, 1259.0 * 1260 / 2);
    see(&seen, 1);
    travel_to_see(simulation_make(), simulation_type, simulation_walk, seen);
    simulation_close();
    site_end();
}

static void change_after_shipping(simulation *s, int checked)
{
    test_device options;
    haul_device *device;
    haul_shipment *shipment;
    memset(&options, 0, sizeof options);
    options.new_context = site_options(checked);
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, s, simulation_type, 1, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    s->fine->nxhi--;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_ERROR_STALE);
    check_error(haul_context_error(haul_device_context(device)),
                checked ? "root.fine.first.density[0].y[0].x" : "root.fine.first.each[0][6].y[0].x",
                NULL, "what a callback answers has changed");
    s->fine->nxhi++;
    haul_shipment_free(&shipment);
    haul_device_close(&device);
}

TEST(ancestors, a_count_in_an_ancestor_that_has_changed_is_noticed_D13)
{
    simulation *s;
    site_start(11);
    simulation_open();
    s = simulation_make();
    change_after_shipping(s, 0);
    change_after_shipping(s, 1);
    simulation_close();
    site_end();
}

/* ---- Every kind of callback, at every depth: a shelf says what its boxes are, which lie behind a
 * plain wrapper. */

typedef struct thing {
    int64_t weight;
} thing;

typedef struct box {
    void *what;    /* of the kind that the shelf says */
    double **rows; /* shelf's n rows of m */
    thing **slots; /* of which the shelf says how many are used */
    union {
        thing *one; /* if the shelf says so */
        int64_t number;
    } u;
    int64_t tail_length;
    int32_t tail[1]; /* as many as the shelf says */
} box;

typedef struct wrapper {
    struct wrapper *next;
    box *inside;
} wrapper;

typedef struct shelf {
    int64_t n, m, used, kind, is_one, tail;
    wrapper *first;
} shelf;

typedef struct storeroom {
    shelf shelves[3];
} storeroom;

static haul_type *thing_type, *box_type, *wrapper_type, *shelf_type, *storeroom_type;

#define SHELF ((const shelf *)held(here))
HAUL_FUNCTION(shelf_n, box, SHELF->n)
HAUL_FUNCTION(shelf_m, box, SHELF->m)
HAUL_FUNCTION(shelf_rows, box, here->place == (const void *)&self->rows ? SHELF->n : SHELF->m)
HAUL_FUNCTION(shelf_kind, box, SHELF->kind)
HAUL_FUNCTION(shelf_tail, box, SHELF->tail)
HAUL_FUNCTION(shelf_is_one, box, (SHELF->is_one) != 0)
HAUL_FUNCTION(shelf_uses, box, (int64_t)here->index < SHELF->used)

static const haul_case kinds_of_things[] = { { 1, &thing_type, 0 }, { 2, &person_type, 0 } };

static void storeroom_open(void)
{
    static const haul_field used = { .when = HAUL_WHEN_FN(shelf_uses), .ancestor = &shelf_type };
    static const haul_field person_fields[] = { HAUL_STRING(person, name) };
    static const haul_field box_fields[] = {
        HAUL_ADDRESS(box, what, .type_switch = HAUL_SWITCH_FN(shelf_kind, kinds_of_things),
                     .ancestor = &shelf_type),
        HAUL_ARRAYS(box, rows, HAUL_COUNT_FN(shelf_rows), HAUL_COUNT_FN(shelf_m),
                    .ancestor = &shelf_type),
        HAUL_POINTERS(box, slots, &thing_type, HAUL_COUNT_FN(shelf_n), .each_pointer = &used,
                      .ancestor = &shelf_type),
        HAUL_OBJECT(box, u.one, &thing_type, .when = HAUL_WHEN_FN(shelf_is_one), .else_raw = 1,
                    .ancestor = &shelf_type),
        HAUL_TAIL(box, tail, HAUL_COUNT_FN(shelf_tail), .ancestor = &shelf_type)
    };
    static const haul_field wrapper_fields[] = { HAUL_OBJECT(wrapper, next, &wrapper_type),
                                                 HAUL_OBJECT(wrapper, inside, &box_type) };
    static const haul_field shelf_fields[] = { HAUL_OBJECT(shelf, first, &wrapper_type) };
    static const haul_field storeroom_fields[] = { HAUL_EMBED(storeroom, shelves, &shelf_type) };
    CHECK_STATUS(type_make("thing", sizeof(thing), NULL, 0, &thing_type), HAUL_OK);
    person_type = OPEN(person, person_fields);
    box_type = OPEN(box, box_fields);
    wrapper_type = OPEN(wrapper, wrapper_fields);
    shelf_type = OPEN(shelf, shelf_fields);
    storeroom_type = OPEN(storeroom, storeroom_fields);
    type_close(storeroom_type);
}

static void storeroom_close(void)
{
    haul_type **all[] = { &storeroom_type, &shelf_type,  &wrapper_type,
                          &box_type,       &person_type, &thing_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

static thing *thing_make(int64_t weight)
{
    thing *t = PUT(thing);
    t->weight = weight;
    return t;
}

static box *box_make(const shelf *s, int64_t number)
{
    box *b = put(offsetof(box, tail) + (size_t)s->tail * sizeof b->tail[0], sizeof(void *));
    int64_t i, k;
    b->what = s->kind == 1 ? (void *)thing_make(number) : (void *)person_make("in a box", number);
    b->rows = PUT_ARRAY(double *, s->n);
    b->slots = PUT_ARRAY(thing *, s->n);
    for (i = 0; i < s->n; i++) {
        b->rows[i] = PUT_ARRAY(double, s->m);
        for (k = 0; k < s->m; k++)
            b->rows[i][k] = (double)(i * k);
        b->slots[i] = i < s->used ? thing_make(i) : (thing *)(uintptr_t)0xBAD0;
    }
    if (s->is_one)
        b->u.one = thing_make(5);
    else
        b->u.number = 5;
    b->tail_length = s->tail;
    for (i = 0; i < s->tail; i++)
        b->tail[i] = (int32_t)(number + i);
    return b;
}

static wrapper *shelf_put(shelf *s, box *b)
{
    wrapper *w = PUT(wrapper);
    w->next = s->first;
    w->inside = b;
    return s->first = w;
}

static storeroom *storeroom_make(void)
{
    static const shelf sorts[3] = { { 3, 2, 1, 1, 1, 4, NULL },
                                    { 4, 5, 4, 2, 0, 1, NULL },
                                    { 2, 7, 0, 1, 0, 9, NULL } };
    storeroom *r = PUT(storeroom);
    int i, k;
    memcpy(r->shelves, sorts, sizeof sorts);
    for (i = 0; i < 3; i++)
        for (k = 0; k < 50; k++)
            shelf_put(&r->shelves[i], box_make(&r->shelves[i], k));
    return r;
}

static void see_box(visit *v, const shelf *s, box *b)
{
    int64_t i, k;
    see(&v->seen,
        (uint64_t)(s->kind == 1 ? ((thing *)b->what)->weight++ : ((person *)b->what)->age++));
    for (i = 0; i < s->n; i++) {
        for (k = 0; k < s->m; k++)
            see(&v->seen, (uint64_t)(b->rows[i][k] += 1));
        if (i < s->used)
            see(&v->seen, (uint64_t)b->slots[i]->weight++);
        else if (!v->is_host)
            see(&v->seen, b->slots[i] == NULL);
    }
    see(&v->seen, (uint64_t)(s->is_one ? b->u.one->weight++ : b->u.number++));
    for (i = 0; i < s->tail; i++)
        see(&v->seen, (uint64_t)b->tail[i]++);
}

static void storeroom_walk(void *visit_of)
{
    visit *v = visit_of;
    storeroom *r = v->root;
    wrapper *w;
    int i;
    for (i = 0; i < 3; i++)
        for (w = r->shelves[i].first; w; w = w->next)
            see_box(v, &r->shelves[i], w->inside);
}

static uint64_t storeroom_seen(const storeroom *r)
{
    uint64_t seen = 0;
    int64_t i, k;
    int shelf_number, number;
    for (shelf_number = 0; shelf_number < 3; shelf_number++)
        for (number = 49; number >= 0; number--) {
            const shelf *s = &r->shelves[shelf_number];
            see(&seen, (uint64_t)number);
            for (i = 0; i < s->n; i++) {
                for (k = 0; k < s->m; k++)
                    see(&seen, (uint64_t)(i * k + 1));
                see(&seen, i < s->used ? (uint64_t)i : 1);
            }
            see(&seen, 5);
            for (i = 0; i < s->tail; i++)
                see(&seen, (uint64_t)(number + i));
        }
    return seen;
}

TEST(ancestors, counts_rows_choices_conditions_slots_and_tails_ask_through_what_does_not)
{
    storeroom *all;
    site_start(12);
    storeroom_open();
    all = storeroom_make();
    travel_to_see(all, storeroom_type, storeroom_walk, storeroom_seen(all));
    storeroom_close();
    site_end();
}

/* ---- Shared by two holders. */

static size_t objects_of(void *address, const haul_type *type, int checked)
{
    haul_context_options options = site_options(checked);
    haul_plan_info statistics;
    haul_context *context;
    haul_plan *plan;
    haul_root root;
    root.address = address;
    root.type = type;
    root.count = 1;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    haul_plan_get_info(plan, &statistics);
    haul_plan_free(&plan);
    haul_context_free(&context);
    return statistics.objects;
}

TEST(ancestors, what_two_ancestors_share_and_agree_about_is_there_once)
{
    storeroom *r;
    wrapper *shared;
    size_t before;
    site_start(13);
    storeroom_open();
    r = storeroom_make();
    shared = r->shelves[0].first;
    before = objects_of(r, storeroom_type, 0);
    r->shelves[1] = r->shelves[0];
    r->shelves[1].first = shared->next;
    r->shelves[2].first = NULL;
    audit_finds_nothing(r, storeroom_type);
    CHECK_EQ(objects_of(r, storeroom_type, 1), objects_of(r, storeroom_type, 0));
    CHECK(objects_of(r, storeroom_type, 0) < before);
    storeroom_close();
    site_end();
}

/* The box is found through the first shelf, and the second one, whose way to it is as long, says
 * another thing. */
static void check_disagreement(void (*change)(shelf *), const char *path, const char *other,
                               const char *words)
{
    storeroom *r;
    site_start(14);
    storeroom_open();
    r = storeroom_make();
    r->shelves[2].first = NULL;
    r->shelves[1] = r->shelves[0];
    change(&r->shelves[1]);
    refuse_graph(r, storeroom_type, HAUL_ERROR_GRAPH, path, other, words);
    storeroom_close();
    site_end();
}

static void change_kind(shelf *s)
{
    s->kind = 2;
}

static void change_n(shelf *s)
{
    s->n = 2;
}

static void change_m(shelf *s)
{
    s->m = 1;
}

static void change_used(shelf *s)
{
    s->used = 0;
}

static void change_is_one(shelf *s)
{
    s->is_one = 0;
}

static void change_tail(shelf *s)
{
    s->tail = 3;
}

TEST(ancestors,
     what_two_ancestors_share_and_disagree_about_is_refused_in_checked_mode_with_both_paths_G18)
{
    check_disagreement(change_kind, "root.shelves[1].first.inside.what",
                       "root.shelves[0].first.inside.what",
                       "found through two objects of type shelf, and the choice of type that its "
                       "callback answers is 2 for one and 1");
    check_disagreement(change_n, "root.shelves[1].first.inside.rows",
                       "root.shelves[0].first.inside.rows",
                       "the count that its callback answers is 2 for one and 3 for the other");
    check_disagreement(change_m, "root.shelves[1].first.inside.rows[0]",
                       "root.shelves[0].first.inside.rows[0]",
                       "the count that its callback answers is 1 for one and 2 for the other");
    check_disagreement(change_used, "root.shelves[1].first.inside.slots[0]",
                       "root.shelves[0].first.inside.slots[0]",
                       "the condition that its callback answers is 0 for one and 1 for the other");
    check_disagreement(change_is_one, "root.shelves[1].first.inside",
                       "root.shelves[0].first.inside.u.one",
                       "a word is a pointer for one description and data for another");
    check_disagreement(change_tail, "root.shelves[1].first.inside.tail",
                       "root.shelves[0].first.inside.tail",
                       "the count that its callback answers is 3 for one and 4 for the other");
}

/* ---- Holders in holders: each room of a house holds what lies in its boxes, and the street all
 * houses. A house's own annexes are houses again. */

typedef struct house {
    int64_t windows;
    double *window; /* so many */
    struct room *rooms;
    list annexes; /* of houses */
} house;

typedef struct room {
    int64_t chairs;
    struct room *next;
    struct chair *chair; /* so many */
} room;

typedef struct chair {
    double *legs;   /* as many as the street says */
    double *view;   /* as many as the nearest house has windows */
    double *others; /* as many as the room has chairs */
} chair;

typedef struct street {
    int64_t legs;
    list houses;
} street;

static haul_type *house_type, *room_type, *chair_type, *street_type, *houses;

HAUL_FUNCTION(street_legs, chair, ((const street *)held(here))->legs)
HAUL_FUNCTION(house_windows, chair, ((const house *)held(here))->windows)
HAUL_FUNCTION(room_chairs, chair, ((const room *)held(here))->chairs)

static void street_open(void)
{
    static const haul_field chair_fields[] = {
        HAUL_ARRAY(chair, legs, HAUL_COUNT_FN(street_legs), .ancestor = &street_type),
        HAUL_ARRAY(chair, view, HAUL_COUNT_FN(house_windows), .ancestor = &house_type),
        HAUL_ARRAY(chair, others, HAUL_COUNT_FN(room_chairs), .ancestor = &room_type)
    };
    static const haul_field room_fields[] = { HAUL_OBJECT(room, next, &room_type),
                                              HAUL_OBJECTS(room, chair, &chair_type,
                                                           HAUL_COUNT(room, chairs)) };
    static const haul_field house_fields[] = {
        HAUL_ARRAY(house, window, HAUL_COUNT_FN(house_windows), .ancestor = &house_type),
        HAUL_OBJECT(house, rooms, &room_type), HAUL_EMBED(house, annexes, &houses)
    };
    static const haul_field street_fields[] = { HAUL_EMBED(street, houses, &houses) };
    list_open();
    chair_type = OPEN(chair, chair_fields);
    room_type = OPEN(room, room_fields);
    house_type = OPEN(house, house_fields);
    street_type = OPEN(street, street_fields);
    houses = list_of(house_type);
    type_close(street_type);
}

static void street_close(void)
{
    haul_type **all[] = { &street_type, &houses,    &house_type,     &room_type,
                          &chair_type,  &list_type, &list_node_type, &list_value_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

static double *doubles_make(int64_t count)
{
    double *d = PUT_ARRAY(double, count);
    int64_t i;
    for (i = 0; i < count; i++)
        d[i] = (double)(count + i);
    return d;
}

static house *house_make(int64_t legs, int64_t number)
{
    house *h = PUT(house);
    int64_t i, k;
    h->windows = number % 5 + 1;
    h->window = doubles_make(h->windows);
    list_clear(&h->annexes);
    for (i = 0; i < number % 3 + 1; i++) {
        room *r = PUT(room);
        r->next = h->rooms;
        h->rooms = r;
        r->chairs = i + 1;
        r->chair = PUT_ARRAY(chair, r->chairs);
        for (k = 0; k < r->chairs; k++) {
            r->chair[k].legs = doubles_make(legs);
            r->chair[k].view = doubles_make(h->windows);
            r->chair[k].others = doubles_make(r->chairs);
        }
    }
    return h;
}

/* Annexes of annexes, `depth` deep. */
static street *street_make(int64_t count, int depth)
{
    street *s = PUT(street);
    int64_t i;
    s->legs = 4;
    list_clear(&s->houses);
    for (i = 0; i < count; i++) {
        list *in = &s->houses;
        int level;
        for (level = 0; level < depth; level++) {
            house *h = house_make(s->legs, i + level);
            list_push(in, h);
            in = &h->annexes;
        }
    }
    return s;
}

static void see_doubles(visit *v, double *d, int64_t count)
{
    int64_t i;
    for (i = 0; i < count; i++)
        see_real(&v->seen, d[i]++);
}

static void see_house(visit *v, const street *s, house *h)
{
    room *r;
    int64_t k;
    see_doubles(v, h->window, h->windows);
    for (r = h->rooms; r; r = r->next)
        for (k = 0; k < r->chairs; k++) {
            see_doubles(v, r->chair[k].legs, s->legs);
            see_doubles(v, r->chair[k].view, h->windows);
            see_doubles(v, r->chair[k].others, r->chairs);
        }
}

static void street_walk(void *visit_of)
{
    visit *v = visit_of;
    street *s = v->root;
    node_base *n;
    for (n = s->houses.head.next; n != &s->houses.head; n = n->next) {
        list *in = NULL;
        house *h = ((list_node *)n)->value;
        for (;; h = ((list_node *)in->head.next)->value) {
            see_house(v, s, h);
            in = &h->annexes;
            if (in->size == 0)
                break;
        }
    }
}

static void see_made(uint64_t *seen, int64_t count)
{
    int64_t i;
    for (i = 0; i < count; i++)
        see_real(seen, (double)(count + i));
}

static uint64_t street_seen(int64_t count, int depth)
{
    uint64_t seen = 0;
    int64_t i, k, level, chairs;
    for (i = 0; i < count; i++)
        for (level = 0; level < depth; level++) {
            const int64_t number = i + level;
            see_made(&seen, number % 5 + 1);
            for (chairs = number % 3 + 1; chairs > 0; chairs--)
                for (k = 0; k < chairs; k++) {
                    see_made(&seen, 4);
                    see_made(&seen, number % 5 + 1);
                    see_made(&seen, chairs);
                }
        }
    return seen;
}

TEST(ancestors, each_rule_gets_the_nearest_of_its_own_ancestors_whatever_others_lie_between)
{
    site_start(15);
    street_open();
    travel_to_see(street_make(20, 6), street_type, street_walk, street_seen(20, 6));
    street_close();
    site_end();
}

/* ---- Failing memory. */

typedef struct street_work {
    haul_context *context;
    haul_plan *plan;
    street *root;
} street_work;

static void street_prepare(void *user, fault_plan *plan)
{
    haul_context_options options;
    memset(&options, 0, sizeof options);
    options.checked = plan->at % 2 == 0;
    CHECK_STATUS(fault_open_context(plan, &options, &((street_work *)user)->context), HAUL_OK);
}

static void street_undo(void *user)
{
    haul_plan_free(&((street_work *)user)->plan);
}

static haul_status street_run(void *user)
{
    street_work *w = user;
    haul_root root;
    root.address = w->root;
    root.type = street_type;
    root.count = 1;
    return haul_plan_create(w->context, haul_from_roots(&root, 1), NULL, &w->plan);
}

static void street_finish(void *user)
{
    haul_context_free(&((street_work *)user)->context);
}

TEST(ancestors, every_allocation_for_ancestors_of_ancestors_can_fail_H1_H2)
{
    fault_operation operation;
    street_work w;
    site_start(16);
    street_open();
    memset(&w, 0, sizeof w);
    w.root = street_make(4, 3);
    memset(&operation, 0, sizeof operation);
    operation.prepare = street_prepare;
    operation.run = street_run;
    operation.undo = street_undo;
    operation.finish = street_finish;
    operation.user = &w;
    operation.modes = 1u << FAULT_ONCE | 1u << FAULT_FROM;
    CHECK(fault_everywhere(&operation) > 10);
    street_close();
    site_end();
}

/* ---- More holders than bits: each of these has a tail of its own, and asks for one that is 64 and
 * more types away.
 */

enum { MANY = 150 };

typedef struct many {
    int64_t length;
    struct many *next;
    char *text; /* as long as the one before says */
} many;

HAUL_FUNCTION(many_before, many, ((const many *)held(here))->length)

TEST(ancestors, there_may_be_more_types_of_ancestors_than_bits_in_a_word)
{
    static haul_type *types[MANY];
    many *first = NULL, *last = NULL;
    haul_context *context;
    haul_plan *plan;
    haul_root root;
    int i;
    site_start(17);
    for (i = 0; i < MANY; i++) {
        const haul_field fields[] = { HAUL_ADDRESS(many, next, .target = &types[(i + 1) % MANY]),
                                      HAUL_ARRAY(many, text, HAUL_COUNT_FN(many_before),
                                                 .ancestor = &types[i / 3]) };
        char name[20];
        many *m = PUT(many);
        snprintf(name, sizeof name, "many%d", i);
        types[i] = type_open(name, sizeof(many), fields, 2);
        m->length = i + 1;
        if (last)
            last->next = m;
        first = first ? first : m;
        last = m;
    }
    last->next = first;
    for (last = first, i = 0; i < MANY; last = last->next, i++)
        last->text = put((size_t)i / 3 + 1, 1);
    type_close(types[0]);
    audit_finds_nothing(first, types[0]);
    root.address = first;
    root.type = types[0];
    root.count = 1;
    context = site_context();
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    haul_plan_free(&plan);
    haul_context_free(&context);
    for (i = 0; i < MANY; i++)
        haul_type_free(&types[i]);
    site_end();
}

/* ---- Descriptions that cannot be. */

static haul_type *asker_type;

static void refuse_asker(haul_type *const *ancestor, haul_when when, const char *words)
{
    const haul_field field =
        HAUL_BYTES(box, what, HAUL_FIXED(1), .ancestor = ancestor, .when = when);
    CHECK_STATUS(type_make("asker", sizeof(box), &field, 1, &asker_type), HAUL_OK);
    refuse_type(asker_type, "asker.what", words);
    haul_type_free(&asker_type);
}

TEST(ancestors, an_ancestor_that_cannot_be_one_is_refused_by_the_commit_T16)
{
    static uint64_t zeros[256];
    static haul_type *closed, *none, *parameter, *stranger;
    const haul_when always = { 0 }, asks = HAUL_WHEN_FN(shelf_is_one);
    CHECK_STATUS(type_make("closed", 8, NULL, 0, &closed), HAUL_OK);
    CHECK_STATUS(haul_type_parameter(type_context(), "parameter", &parameter), HAUL_OK);
    stranger = (haul_type *)(void *)zeros;
    refuse_asker(&none, asks, "The handle of its `.ancestor` is NULL");
    refuse_asker(&stranger, asks, "The handle of its `.ancestor` is not that of a living type");
    refuse_asker(&closed, always, "names an `.ancestor`, and has no function");
    refuse_asker(&parameter, asks, "leads to the parameter parameter");
    type_close(closed);
    refuse_asker(&closed, asks, "Type closed, which it names as `.ancestor`, is committed already");
    haul_type_free(&closed);
    haul_type_free(&parameter);
}

typedef struct table_text {
    char text[4096];
    size_t length;
} table_text;

static haul_status write_table(void *user, const void *data, size_t bytes)
{
    table_text *t = user;
    CHECK(t->length + bytes < sizeof t->text);
    memcpy(t->text + t->length, data, bytes);
    t->length += bytes;
    return HAUL_OK;
}

TEST(ancestors, the_table_of_a_type_says_which_rows_ask)
{
    static table_text t;
    haul_file file = { &t, write_table, NULL };
    haul_field_info info;
    site_start(18);
    storeroom_open();
    CHECK_STATUS(haul_type_get_field(box_type, 0, &info), HAUL_OK);
    CHECK(info.members->ancestor == &shelf_type);
    CHECK_STATUS(haul_type_dump(box_type, &file), HAUL_OK);
    CHECK_HAS(t.text, "one of 2 types; with its ancestor");
    CHECK_HAS(t.text, "; with its ancestor; each; if function; with its ancestor");
    storeroom_close();
    site_end();
}

/* ---- Arenas. Words of a choice are pointers whatever they lead to: an arena of such objects is
 * sent as it lies. Where bytes were allocated, it is discovered, holders and all. */

static void arena_walk(void *visit_of)
{
    visit *v = visit_of;
    const list *l = v->root;
    const node_base *n;
    for (n = l->head.next; n != &l->head && n->next->prev == n; n = n->next)
        v->seen++;
}

static void arena_once(haul_device *device, int is_typed)
{
    haul_context *context = site_context();
    visit v = { .root = NULL };
    haul_shipment *shipment;
    haul_arena *arena;
    list_node *nodes;
    list *l;
    int i;
    CHECK_STATUS(haul_arena_create(context, NULL, &arena), HAUL_OK);
    l = is_typed ? haul_arena_new(arena, persons, 1) : haul_arena_bytes(arena, sizeof *l, 0);
    nodes = is_typed ? haul_arena_new(arena, person_nodes, 5)
                     : haul_arena_bytes(arena, 5 * sizeof *nodes, 0);
    CHECK(l != NULL && nodes != NULL);
    list_clear(l);
    for (i = 0; i < 5; i++) {
        nodes[i].value = NULL;
        list_append(l, &nodes[i]);
    }
    CHECK_STATUS(is_typed ? haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment)
                          : haul_ship_from(device, haul_from_arena_root(arena, l, persons), NULL,
                                           NULL, &shipment),
                 HAUL_OK);
    v.root = haul_device_pointer(shipment, l);
    CHECK_STATUS(haul_host_launch(device, arena_walk, &v), HAUL_OK);
    CHECK_EQ(v.seen, 5);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    haul_context_free(&context);
}

TEST(ancestors, arenas_may_hold_them_allocated_by_type_or_by_size)
{
    test_device options;
    haul_device *device;
    site_start(19);
    town_open();
    memset(&options, 0, sizeof options);
    CHECK_STATUS(
        haul_type_instance(list_node_type, 1, &list_value_type, &person_type, &person_nodes),
        HAUL_OK);
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    arena_once(device, 1);
    arena_once(device, 0);
    haul_device_close(&device);
    haul_type_free(&person_nodes);
    town_close();
    site_end();
}

/* ---- A parent further on in the same row: each level of a pointer to pointers gets it, and a tail
 * does. */

typedef struct grid {
    double **rows, ***cube;
    struct points *points;
} grid;

typedef struct points {
    int32_t id, x[1];
} points;

typedef struct grids {
    int64_t n, m;
    grid *grid;
} grids;

static haul_type *grid_type, *points_type, *grids_type;

HAUL_FUNCTION(parent_n, void, here->ancestor ? ((const grids *)here->ancestor)->n : -1)
HAUL_FUNCTION(parent_m, void, here->ancestor ? ((const grids *)here->ancestor)->m : -1)
HAUL_FUNCTION(holder_n, void, ((const grids *)held(here))->n)
HAUL_FUNCTION(holder_m, void, ((const grids *)held(here))->m)
HAUL_FUNCTION(points_of_grid, points,
              here->ancestor && ((const grid *)here->ancestor)->points == self ? 3 : -1)

TEST(ancestors, a_parent_is_there_for_each_level_of_a_row_and_for_tails_too)
{
    static const haul_field points_fields[] = { HAUL_TAIL(points, x, HAUL_COUNT_FN(points_of_grid),
                                                          .ancestor = HAUL_PARENT) };
    static const haul_field grid_fields[] = {
        HAUL_ARRAYS(grid, rows, HAUL_COUNT_FN(parent_n), HAUL_COUNT_FN(parent_m),
                    .ancestor = HAUL_PARENT),
        HAUL_ADDRESS(grid, cube, .levels = 3, .element_bytes = sizeof(double),
                     .count = HAUL_COUNT_FN(holder_n), .count2 = HAUL_FIXED(2),
                     .count3 = HAUL_COUNT_FN(holder_m), .ancestor = &grids_type),
        HAUL_OBJECT(grid, points, &points_type)
    };
    static const haul_field grids_fields[] = { HAUL_OBJECT(grids, grid, &grid_type) };
    grids *g;
    int i, k;
    site_start(20);
    points_type = OPEN(points, points_fields);
    grid_type = OPEN(grid, grid_fields);
    grids_type = OPEN(grids, grids_fields);
    type_close(grids_type);
    g = PUT(grids);
    g->n = 3, g->m = 4;
    g->grid = PUT(grid);
    g->grid->rows = PUT_ARRAY(double *, 3);
    g->grid->cube = PUT_ARRAY(double **, 3);
    for (i = 0; i < 3; i++) {
        g->grid->rows[i] = PUT_ARRAY(double, 4);
        g->grid->cube[i] = PUT_ARRAY(double *, 2);
        for (k = 0; k < 2; k++)
            g->grid->cube[i][k] = PUT_ARRAY(double, 4);
    }
    g->grid->points = put(offsetof(points, x) + 3 * sizeof(int32_t), sizeof(void *));
    audit_finds_nothing(g, grids_type);
    CHECK_EQ(objects_of(g, grids_type, 1), objects_of(g, grids_type, 0));
    haul_type_free(&grids_type);
    haul_type_free(&grid_type);
    haul_type_free(&points_type);
    site_end();
}

/* ---- Through a constructed type. */

typedef struct runner {
    double *laps;
} runner;

typedef struct club {
    int64_t laps;
    runner *pair;
} club;

static haul_type *runner_type, *runners_type, *club_type;

static int64_t laps_of_club(const haul_here *here)
{
    return here->ancestor ? ((const club *)here->ancestor)->laps : 0;
}

TEST(ancestors, what_lies_in_a_constructed_type_asks_for_them_too)
{
    static const haul_field runner_fields[] = { HAUL_ARRAY(
        runner, laps, HAUL_COUNT_FN(laps_of_club), .ancestor = &club_type) };
    static const haul_field club_fields[] = { HAUL_ADDRESS(club, pair, .target = &runners_type) };
    double first[5] = { 1, 2, 3, 4, 5 }, second[5] = { 6, 7, 8, 9, 10 };
    runner both[2];
    club one;
    haul_context *context;
    haul_plan *plan;
    haul_plan_info told;
    haul_root root;
    size_t count;
    both[0].laps = first;
    both[1].laps = second;
    one.pair = both;
    runner_type = OPEN(runner, runner_fields);
    CHECK_STATUS(haul_type_contiguous(2, runner_type, &runners_type), HAUL_OK);
    club_type = OPEN(club, club_fields);
    type_close(club_type);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    root.address = &one;
    root.type = club_type;
    root.count = 1;
    for (count = 0; count < 6; count++) {
        one.laps = (int64_t)count;
        CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
        haul_plan_get_info(plan, &told);
        CHECK_EQ(told.graph_bytes, sizeof one + sizeof both + 2 * count * sizeof(double));
        haul_plan_free(&plan);
    }
    haul_context_free(&context);
    haul_type_free(&club_type);
    haul_type_free(&runners_type);
    haul_type_free(&runner_type);
}
