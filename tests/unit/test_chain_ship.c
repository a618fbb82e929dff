/* Chains as sources of shipments, and in shipments; structs of kernel arguments.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "support/written.h"

typedef struct body {
    double *x, *v;
    struct body *next;
    double energy;
    int32_t count, spare;
} body;

typedef struct world {
    struct {
        body *body;
    } in;
    double *weights;
    double *scratch;
    int64_t count;
} universe;

static haul_type *body_type, *universe_type;

static const haul_field body_fields[] = {
    HAUL_ARRAY(body, x, HAUL_COUNT(body, count)),
    HAUL_ARRAY(body, v, HAUL_COUNT(body, count)),
    HAUL_OBJECT(body, next, &body_type),
    HAUL_RAW(body, energy),
};
static const haul_field universe_fields[] = {
    HAUL_OBJECT(universe, in.body, &body_type),
    HAUL_ARRAY(universe, weights, HAUL_COUNT(universe, count), .transfer = HAUL_COPYIN),
    HAUL_ARRAY(universe, scratch, HAUL_COUNT(universe, count), .transfer = HAUL_COPYOUT),
    HAUL_RAW(universe, count),
};

enum { ATOMS = 100, CHAINS = 3 };

static struct {
    universe u;
    body body, other;
    double x[ATOMS], v[ATOMS], other_x[ATOMS], weights[2], *scratch;
    haul_device *device;
    haul_context *context;
    haul_chain *chain[CHAINS];
    haul_shipment *shipment;
} the;

static haul_chain *chain_of(const char *path)
{
    haul_chain *chain;
    check_note("path %s", path);
    CHECK_STATUS(haul_chain_create(the.context, universe_type, path, &chain), HAUL_OK);
    check_note(NULL);
    return chain;
}

static void data_open(void)
{
    int i;
    for (i = 0; i < ATOMS; i++) {
        the.x[i] = i;
        the.v[i] = 1000 + i;
        the.other_x[i] = 5000 + i;
    }
    the.body.x = the.x;
    the.body.v = the.v;
    the.body.count = ATOMS;
    the.body.next = &the.other;
    the.body.energy = 3;
    the.other.x = the.other_x;
    the.other.v = the.v;
    the.other.count = ATOMS;
    the.u.in.body = &the.body;
    the.u.weights = the.weights;
    the.u.count = 2;
    the.scratch = malloc(2 * sizeof(double)); /* not initialised */
    CHECK(the.scratch != NULL);
    the.u.scratch = the.scratch;
}

static void types_open(void)
{
    CHECK_STATUS(type_make_in(the.context, "body", sizeof(body), body_fields, 4, &body_type),
                 HAUL_OK);
    CHECK_STATUS(
        type_make_in(the.context, "universe", sizeof(universe), universe_fields, 4, &universe_type),
        HAUL_OK);
    CHECK_STATUS(haul_type_commit(universe_type), HAUL_OK);
}

static void world_open(void)
{
    memset(&the, 0, sizeof the);
    CHECK_STATUS(test_open(haul_host_device(), NULL, &the.device), HAUL_OK);
    the.context = haul_device_context(the.device);
    types_open();
    data_open();
}

static void world_close(void)
{
    size_t i;
    haul_shipment_free(&the.shipment);
    for (i = 0; i < CHAINS; i++)
        haul_chain_free(&the.chain[i]);
    haul_type_free(&body_type);
    haul_type_free(&universe_type);
    haul_device_close(&the.device);
    free(the.scratch);
}

static void ship(size_t count)
{
    CHECK_STATUS(haul_ship_from(the.device, haul_from_chains(&the.u, the.chain, count), NULL, NULL,
                                &the.shipment),
                 HAUL_OK);
}

static haul_root on_device(const haul_chain *chain)
{
    haul_root target;
    size_t count;
    CHECK_STATUS(haul_chain_resolve_on(the.shipment, chain, &the.u, &target, 1, &count), HAUL_OK);
    CHECK_EQ(count, 1);
    return target;
}

/* A double in the device's memory, read or written. */
typedef struct spot {
    double *at, value;
    int is_written;
} spot;

static void visit(void *argument)
{
    spot *s = argument;
    if (s->is_written)
        *s->at = s->value;
    else
        s->value = *s->at;
}

static double there(const haul_chain *chain, size_t i)
{
    spot s = { (double *)on_device(chain).address + i, 0, 0 };
    CHECK_STATUS(haul_host_launch(the.device, visit, &s), HAUL_OK);
    return s.value;
}

static void set_there(const haul_chain *chain, size_t i, double value)
{
    spot s = { (double *)on_device(chain).address + i, value, 1 };
    CHECK_STATUS(haul_host_launch(the.device, visit, &s), HAUL_OK);
}

/* Follows the pointer of a body on the device. */
static void visit_body(void *argument)
{
    spot *s = argument;
    s->value = ((const body *)(void *)s->at)->x[3];
}

typedef struct arguments {
    double *x, *energy;
    int32_t count;
} arguments;

static void step(void *argument)
{
    const arguments *a = argument;
    int i;
    for (i = 0; i < a->count; i++)
        a->x[i] *= 2;
    if (a->energy)
        *a->energy += 1;
}

TEST(chain_ship, only_the_targets_cross_in_one_transfer_and_return_to_their_place)
{
    haul_shipment_info info;
    arguments on_stack;
    haul_argument list[2];
    int i;
    world_open();
    the.chain[0] = chain_of("in.body.x");
    the.chain[1] = chain_of("in.body.energy");
    ship(2);
    haul_shipment_get_info(the.shipment, &info);
    CHECK_EQ(info.graph_bytes, sizeof the.x + sizeof the.body.energy);
    CHECK_EQ(info.transfers_to, 1);
    CHECK_EQ(info.pointers, 0);
    CHECK_PTR(haul_device_pointer(the.shipment, &the.v[1]), NULL);
    CHECK_PTR(haul_device_pointer(the.shipment, &the.u), NULL);
    list[0] = (haul_argument)HAUL_ARGUMENT_COUNTED(arguments, x, count, the.chain[0]);
    list[1] = (haul_argument)HAUL_ARGUMENT(arguments, energy, the.chain[1]);
    CHECK_STATUS(haul_chain_arguments(the.shipment, &the.u, list, 2, &on_stack), HAUL_OK);
    CHECK_EQ(on_stack.count, ATOMS);
    CHECK_PTR(on_stack.x, haul_device_pointer(the.shipment, the.x));
    CHECK_STATUS(haul_host_launch(the.device, step, &on_stack), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(the.shipment), HAUL_OK);
    for (i = 0; i < ATOMS; i++)
        CHECK(the.x[i] == 2.0 * i && the.v[i] == 1000 + i);
    CHECK(the.body.energy == 4);
    world_close();
}

TEST(chain_ship, a_target_that_several_chains_reach_crosses_once)
{
    haul_shipment_info info;
    world_open();
    the.chain[0] = chain_of("in.body.v");
    the.chain[1] = chain_of("in.body.next.v");
    the.chain[2] = chain_of("in.body.v[7]");
    ship(3);
    haul_shipment_get_info(the.shipment, &info);
    CHECK_EQ(info.graph_bytes, sizeof the.v);
    CHECK_PTR(on_device(the.chain[0]).address, on_device(the.chain[1]).address);
    CHECK_PTR(on_device(the.chain[2]).address, (double *)on_device(the.chain[0]).address + 7);
    world_close();
}

TEST(chain_ship, a_target_of_objects_crosses_with_all_that_it_reaches)
{
    haul_shipment_info info;
    spot s = { NULL, 0, 0 };
    world_open();
    the.chain[0] = chain_of("in.body.next");
    ship(1);
    haul_shipment_get_info(the.shipment, &info);
    CHECK_EQ(info.graph_bytes, sizeof(body) + sizeof the.other_x + sizeof the.v);
    s.at = on_device(the.chain[0]).address;
    CHECK_STATUS(haul_host_launch(the.device, visit_body, &s), HAUL_OK);
    CHECK(s.value == 5003);
    world_close();
}

TEST(chain_ship, chains_resolve_in_a_shipment_of_the_whole_graph)
{
    arguments filled;
    haul_argument list[1];
    world_open();
    the.chain[0] = chain_of("in.body.next.x");
    CHECK_STATUS(haul_ship(the.device, &the.u, universe_type, 1, NULL, &the.shipment), HAUL_OK);
    CHECK_PTR(on_device(the.chain[0]).address, haul_device_pointer(the.shipment, the.other_x));
    CHECK_EQ(on_device(the.chain[0]).count, ATOMS);
    the.body.next = NULL;
    CHECK_PTR(on_device(the.chain[0]).address, NULL);
    memset(&filled, 1, sizeof filled);
    list[0] = (haul_argument)HAUL_ARGUMENT_COUNTED(arguments, x, count, the.chain[0]);
    CHECK_STATUS(haul_chain_arguments(the.shipment, &the.u, list, 1, &filled), HAUL_OK);
    CHECK_PTR(filled.x, NULL);
    CHECK_EQ(filled.count, 0);
    world_close();
}

TEST(chain_ship, a_target_that_is_not_all_in_the_shipment_is_stale)
{
    static double far[ATOMS];
    haul_root target;
    size_t count = 1;
    world_open();
    the.chain[0] = chain_of("->in.body -> x");
    ship(1);
    the.body.x = far;
    CHECK_STATUS(haul_chain_resolve_on(the.shipment, the.chain[0], &the.u, &target, 1, &count),
                 HAUL_ERROR_STALE);
    CHECK_EQ(count, 0);
    CHECK_STR(haul_context_error(the.context)->path, "root.in.body.x");
    the.body.x = the.x;
    the.body.count = ATOMS / 2;
    CHECK_EQ(on_device(the.chain[0]).count, ATOMS / 2);
    world_close();
}

/* An update is refused, and names the chain that has changed. */
static void check_stale(const char *path)
{
    CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, path);
    CHECK_HAS(haul_context_error(the.context)->text, "led to the data");
}

TEST(chain_ship, a_changed_pointer_or_count_on_the_way_is_stale_before_anything_behind_it_is_read)
{
    body *old = malloc(sizeof *old);
    double *x = malloc(sizeof the.x);
    world_open();
    memcpy(old, &the.body, sizeof *old);
    memcpy(x, the.x, sizeof the.x);
    old->x = x;
    the.u.in.body = old;
    the.chain[0] = chain_of("in.body.v");
    the.chain[1] = chain_of("in.body.x");
    ship(2);
    CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_OK);
    old->count = ATOMS - 1;
    check_stale("root.in.body.v");
    old->count = ATOMS;
    the.u.in.body = &the.body;
    free(x); /* the sanitizers see whether the old objects are read */
    free(old);
    check_stale("root.in.body.v");
    CHECK_STATUS(haul_reship(the.shipment, NULL), HAUL_OK);
    CHECK_PTR(on_device(the.chain[1]).address, haul_device_pointer(the.shipment, the.x));
    the.x[5] = -5;
    CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_OK);
    CHECK(there(the.chain[1], 5) == -5);
    the.body.x = the.other_x;
    check_stale("root.in.body.x");
    world_close();
}

TEST(chain_ship, the_directions_of_the_end_hold)
{
    world_open();
    the.chain[0] = chain_of("weights");
    the.chain[1] = chain_of("scratch");
    the.weights[0] = 7;
    ship(2);
    CHECK(there(the.chain[0], 0) == 7);
    set_there(the.chain[0], 0, 8);
    CHECK(there(the.chain[1], 0) == 0 && there(the.chain[1], 1) == 0);
    set_there(the.chain[1], 0, 9);
    set_there(the.chain[1], 1, 10);
    CHECK_STATUS(haul_unmarshal(the.shipment), HAUL_OK);
    CHECK(the.weights[0] == 7 && the.scratch[0] == 9 && the.scratch[1] == 10);
    world_close();
}

TEST(chain_ship, chains_without_any_target_are_refused)
{
    haul_chain *far;
    haul_context *other;
    haul_shipment *none;
    world_open();
    the.u.in.body = NULL;
    the.chain[0] = chain_of("in.body.x");
    CHECK_STATUS(
        haul_ship_from(the.device, haul_from_chains(&the.u, the.chain, 1), NULL, NULL, &none),
        HAUL_ERROR_GRAPH);
    CHECK_PTR(none, NULL);
    CHECK_HAS(haul_context_error(the.context)->text, "no chain has a target");
    CHECK_STATUS(haul_context_create(NULL, &other), HAUL_OK);
    CHECK_STATUS(haul_chain_create(other, universe_type, "in.body.x", &far), HAUL_OK);
    CHECK_STATUS(haul_ship_from(the.device, haul_from_chains(&the.u, &far, 1), NULL, NULL, &none),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(the.context)->text, "of another context");
    haul_chain_free(&far);
    haul_context_free(&other);
    world_close();
}

TEST(chain_ship, a_shipment_keeps_its_chains_and_the_types_of_their_ends)
{
    haul_chain *chain;
    world_open();
    the.chain[0] = chain_of("in.body.x");
    ship(1);
    haul_chain_free(&the.chain[0]);
    CHECK_STATUS(haul_reship(the.shipment, NULL), HAUL_OK);
    chain = chain_of("in.body.x");
    haul_type_free(&universe_type);
    haul_type_free(&body_type);
    CHECK_EQ(on_device(chain).count, ATOMS);
    haul_chain_free(&chain);
    world_close();
}

TEST(chain_ship, arguments_that_do_not_fit_are_refused_and_nothing_is_filled_in)
{
    struct {
        float *x;
        int8_t count, spare[7];
    } narrow, before;
    haul_argument list[2];
    world_open();
    memset(&narrow, 3, sizeof narrow);
    before = narrow;
    the.chain[0] = chain_of("in.body.x");
    the.chain[1] = chain_of("in.body.x[*]");
    the.body.count = ATOMS;
    ship(1);
    memset(list, 0, sizeof list);
    list[0].chain = the.chain[0];
    list[0].element_bytes = 3;
    CHECK_STATUS(haul_chain_arguments(the.shipment, &the.u, list, 1, &narrow), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(the.context)->text, "elements of 3 bytes");
    list[0].element_bytes = sizeof(float); /* two for each */
    list[0].count_offset = sizeof(float *);
    list[0].count_bytes = 1;
    CHECK_STATUS(haul_chain_arguments(the.shipment, &the.u, list, 1, &narrow), HAUL_ERROR_LIMIT);
    list[1].chain = the.chain[1];
    list[1].element_bytes = 8;
    list[0].element_bytes = 8;
    CHECK_STATUS(haul_chain_arguments(the.shipment, &the.u, list, 2, &narrow), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(the.context)->text, "argument 1: its chain has many targets");
    list[0].count_bytes = 3;
    CHECK_STATUS(haul_chain_arguments(the.shipment, &the.u, list, 1, &narrow), HAUL_ERROR_ARGUMENT);
    CHECK_BYTES(&narrow, &before, sizeof narrow);
    list[0].count_bytes = 1;
    CHECK_STATUS(haul_chain_arguments(the.shipment, &the.u, list, 1, &narrow), HAUL_OK);
    CHECK_EQ(narrow.count, ATOMS);
    CHECK_BYTES(narrow.spare, before.spare, sizeof narrow.spare);
    world_close();
}

TEST(chain_ship, objects_on_the_way_can_be_targets_too_and_return_with_their_pointers_as_they_were)
{
    world_open();
    the.chain[0] = chain_of("in.body");
    the.chain[1] = chain_of("in.body -> x");
    the.chain[2] = chain_of("count");
    ship(3);
    set_there(the.chain[1], 4, 44);
    CHECK_STATUS(haul_unmarshal(the.shipment), HAUL_OK);
    CHECK(the.x[4] == 44);
    CHECK_PTR(the.u.in.body, &the.body);
    CHECK_PTR(the.body.x, the.x);
    CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_OK);
    the.body.count--;
    CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.in.body.x");
    world_close();
}

TEST(chain_ship, a_target_that_crosses_in_pieces_is_checked_in_the_same_way)
{
    enum { MANY = 5 * 1024 * 1024 };
    double *large = malloc(MANY * sizeof *large);
    int i;
    CHECK(large != NULL);
    for (i = 0; i < MANY; i++)
        large[i] = i;
    world_open();
    the.body.x = large;
    the.body.count = MANY;
    the.chain[0] = chain_of("in.body.x");
    ship(1);
    set_there(the.chain[0], MANY - 1, -1);
    CHECK_STATUS(haul_unmarshal(the.shipment), HAUL_OK);
    CHECK(large[MANY - 1] == -1 && large[1] == 1);
    CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_OK);
    the.body.x = the.x;
    check_stale("root.in.body.x");
    free(large);
    world_close();
}

TEST(chain_ship, a_locked_source_is_compared_too)
{
    const haul_ship_options locked = { .lock_source = 1 };
    int i;
    world_open();
    the.chain[0] = chain_of("in.body.x");
    CHECK_STATUS(haul_ship_from(the.device, haul_from_chains(&the.u, the.chain, 1), &locked, NULL,
                                &the.shipment),
                 HAUL_OK);
    for (i = 0; i < 3; i++) {
        the.x[2] = 70 + i;
        CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_OK);
        CHECK(there(the.chain[0], 2) == 70 + i);
        set_there(the.chain[0], 3, 80 + i);
        CHECK_STATUS(haul_unmarshal(the.shipment), HAUL_OK);
        CHECK(the.x[3] == 80 + i);
    }
    the.u.in.body = NULL;
    check_stale("root.in.body.x");
    world_close();
}

TEST(chain_ship, an_ordered_plan_has_the_targets_in_the_order_of_the_chains)
{
    haul_chain *chain[2];
    haul_plan *plan;
    size_t x, v;
    world_open();
    chain[0] = the.chain[0] = chain_of("in.body.v");
    chain[1] = the.chain[1] = chain_of("in.body.x");
    CHECK_STATUS(haul_plan_create(the.context, haul_from_chains(&the.u, chain, 2), ORDERED, &plan),
                 HAUL_OK);
    CHECK_STATUS(haul_plan_offset(plan, the.x, &x), HAUL_OK);
    CHECK_STATUS(haul_plan_offset(plan, the.v, &v), HAUL_OK);
    CHECK(v < x);
    haul_plan_free(&plan);
    world_close();
}

/* ---- Targets of other shapes. */

enum { BYTES = 48 };

typedef struct pack { /* of its own size */
    int64_t bytes;
    double first, second;
} pack;

typedef struct narrow {
    float *x;
    int64_t count;
} narrow;

typedef struct choice {
    int64_t kind;
    int64_t as;
} choice;

typedef struct shelf {
    char *bytes;
    int64_t count;
    pack *pack;
    void *any; /* a narrow or a body */
    int64_t any_kind;
    choice *link;
    int64_t link_kind;
} shelf;

static haul_type *pack_type, *narrow_type, *choice_type, *shelf_type;

HAUL_FUNCTION(pack_bytes, pack, self->bytes)

static const haul_field pack_fields[] = { HAUL_RAW(pack, first), HAUL_RAW(pack, second) };
static const haul_field narrow_fields[] = { HAUL_ARRAY(narrow, x, HAUL_COUNT(narrow, count)) };
static const haul_field choice_fields[] = {
    HAUL_RAW(choice, as, .when = HAUL_EQUALS(choice, kind, 1)),
    HAUL_RAW(choice, as, .when = HAUL_EQUALS(choice, kind, 2)),
};
static const haul_case any_cases[] = { { .value = 1, .type = &narrow_type },
                                       { .value = 2, .type = &body_type } };
static const haul_field shelf_fields[] = {
    HAUL_ARRAY(shelf, bytes, HAUL_COUNT(shelf, count)),
    HAUL_OBJECT(shelf, pack, &pack_type),
    HAUL_ADDRESS(shelf, any, .type_switch = HAUL_SWITCH(shelf, any_kind, any_cases)),
    HAUL_OBJECT(shelf, link, &choice_type, .when = HAUL_EQUALS(shelf, link_kind, 1)),
    HAUL_OBJECT(shelf, link, &choice_type, .when = HAUL_EQUALS(shelf, link_kind, 2),
                .transfer = HAUL_COPYIN),
};

static struct {
    shelf shelf;
    pack pack;
    choice choice;
    char bytes[BYTES + 1], other[BYTES / 3];
} stock;

static void shelf_open(void)
{
    static const haul_struct structs[] = {
        HAUL_STRUCT(pack, &pack_type, pack_fields, .size_fn = pack_bytes),
        HAUL_STRUCT(narrow, &narrow_type, narrow_fields),
        HAUL_STRUCT(choice, &choice_type, choice_fields),
        HAUL_STRUCT(shelf, &shelf_type, shelf_fields),
    };
    world_open();
    CHECK_STATUS(HAUL_DESCRIBE(the.context, structs), HAUL_OK);
    memset(&stock, 0, sizeof stock);
    stock.shelf.bytes = stock.bytes;
    stock.shelf.count = BYTES;
    stock.shelf.any_kind = 2;
}

static void shelf_close(void)
{
    haul_type_free(&shelf_type);
    haul_type_free(&choice_type);
    haul_type_free(&narrow_type);
    haul_type_free(&pack_type);
    world_close();
}

static haul_chain *shelf_chain(const char *path)
{
    haul_chain *chain;
    CHECK_STATUS(haul_chain_create(the.context, shelf_type, path, &chain), HAUL_OK);
    return chain;
}

static void ship_shelf(const char *path)
{
    the.chain[0] = shelf_chain(path);
    CHECK_STATUS(haul_ship_from(the.device, haul_from_chains(&stock.shelf, the.chain, 1), NULL,
                                NULL, &the.shipment),
                 HAUL_OK);
}

/* The first chain's target is there, or is none of the shipment. */
static void check_there(haul_status expected)
{
    haul_root target;
    size_t count;
    CHECK_STATUS(
        haul_chain_resolve_on(the.shipment, the.chain[0], &stock.shelf, &target, 1, &count),
        expected);
    CHECK_EQ(count, expected == HAUL_OK);
    if (expected == HAUL_OK)
        CHECK(target.address != NULL);
}

TEST(chain_ship, an_object_with_a_size_of_its_own_is_there_only_with_all_its_bytes)
{
    shelf_open();
    stock.shelf.pack = &stock.pack;
    stock.pack.bytes = offsetof(pack, second);
    ship_shelf("pack");
    check_there(HAUL_OK);
    stock.pack.bytes = sizeof(pack);
    check_there(HAUL_ERROR_STALE);
    CHECK_STATUS(haul_reship(the.shipment, NULL), HAUL_OK);
    check_there(HAUL_OK);
    shelf_close();
}

TEST(chain_ship, a_byte_right_behind_the_shipment_is_not_in_it)
{
    shelf_open();
    ship_shelf("bytes");
    stock.shelf.bytes = &stock.bytes[BYTES - 1];
    stock.shelf.count = 1;
    check_there(HAUL_OK);
    stock.shelf.bytes = &stock.bytes[BYTES];
    check_there(HAUL_ERROR_STALE);
    shelf_close();
}

TEST(chain_ship, a_byte_right_behind_the_bytes_of_an_arena_is_not_in_its_shipment)
{
    haul_arena *arena;
    char *first;
    shelf_open();
    CHECK_STATUS(haul_arena_create(the.context, NULL, &arena), HAUL_OK);
    first = haul_arena_malloc(arena, BYTES);
    CHECK(first != NULL);
    CHECK_STATUS(haul_ship_from(the.device, haul_from_arena(arena), NULL, NULL, &the.shipment),
                 HAUL_OK);
    the.chain[0] = shelf_chain("bytes");
    stock.shelf.bytes = first;
    check_there(HAUL_OK);
    stock.shelf.count++;
    check_there(HAUL_ERROR_STALE);
    stock.shelf.count = 1;
    for (stock.shelf.bytes += BYTES; haul_device_pointer(the.shipment, stock.shelf.bytes + 1);)
        stock.shelf.bytes++;
    check_there(HAUL_ERROR_STALE);
    haul_shipment_free(&the.shipment);
    haul_arena_free(&arena);
    shelf_close();
}

TEST(chain_ship, in_an_ordered_shipment_other_objects_between_the_ends_are_no_part_of_the_target)
{
    enum { PART = BYTES / 3 };
    const haul_ship_options ordered = { .ordered = 1 };
    haul_root roots[4];
    size_t count, i;
    int turn;
    shelf_open();
    the.chain[0] = shelf_chain("bytes");
    CHECK_STATUS(haul_chain_resolve(the.chain[0], &stock.shelf, &roots[0], 1, &count), HAUL_OK);
    for (turn = 0; turn < 2; turn++) {
        for (i = 0; i < 4; i++) {
            roots[i].type = roots[0].type;
            roots[i].address = &stock.bytes[PART * i];
            roots[i].count = PART;
        }
        roots[1].address = stock.other;
        roots[3].address = &stock.bytes[PART];
        if (turn == 1)
            roots[0].count = BYTES;
        CHECK_STATUS(
            haul_ship_from(the.device, haul_from_roots(roots, 4), &ordered, NULL, &the.shipment),
            HAUL_OK);
        check_there(turn ? HAUL_OK : HAUL_ERROR_STALE);
        haul_shipment_free(&the.shipment);
    }
    shelf_close();
}

TEST(chain_ship, an_empty_target_fits_an_argument_of_any_arm)
{
    const haul_argument wide = { NULL, 0, sizeof(double), 0, 0 };
    haul_argument list[1];
    double *x = &stock.pack.first;
    shelf_open();
    ship_shelf("bytes");
    the.chain[1] = shelf_chain("any.x");
    list[0] = wide;
    list[0].chain = the.chain[1];
    CHECK_STATUS(haul_chain_arguments(the.shipment, &stock.shelf, list, 1, &x), HAUL_OK);
    CHECK_PTR(x, NULL);
    shelf_close();
}

static void add_one(void *argument)
{
    int64_t *number = argument;
    ++*number;
}

TEST(chain_ship, each_arm_has_the_directions_of_all_that_leads_to_it)
{
    haul_root target;
    size_t count;
    int64_t kind;
    for (kind = 1; kind <= 2; kind++) {
        shelf_open();
        stock.shelf.link = &stock.choice;
        stock.shelf.link_kind = 2;
        stock.choice.kind = kind;
        stock.choice.as = 5;
        ship_shelf("link.as");
        CHECK_STATUS(
            haul_chain_resolve_on(the.shipment, the.chain[0], &stock.shelf, &target, 1, &count),
            HAUL_OK);
        CHECK_STATUS(haul_host_launch(the.device, add_one, target.address), HAUL_OK);
        CHECK_STATUS(haul_unmarshal(the.shipment), HAUL_OK);
        CHECK_EQ(stock.choice.as, 5); /* it does not come back */
        shelf_close();
    }
}

/* ---- Images. */

typedef struct bytes {
    unsigned char at[8192];
    size_t count;
} bytes;

static haul_status keep(void *user, const void *data, size_t count)
{
    bytes *to = user;
    check_written(data, count);
    CHECK(count <= sizeof to->at - to->count);
    memcpy(to->at + to->count, data, count);
    to->count += count;
    return HAUL_OK;
}

TEST(chain_ship, an_image_of_chains_holds_the_targets_alone)
{
    static bytes written;
    haul_file file;
    haul_image *image;
    const haul_root *roots;
    size_t count;
    world_open();
    memset(&file, 0, sizeof file);
    written.count = 0;
    file.write = keep;
    file.user = &written;
    the.chain[0] = chain_of("in.body.x");
    the.chain[1] = chain_of("in.body.energy");
    CHECK_STATUS(haul_image_write(the.context, haul_from_chains(&the.u, the.chain, 2), &file),
                 HAUL_OK);
    CHECK_STATUS(
        haul_image_from_bytes(the.context, written.at, written.count, NULL, 0, NULL, &image),
        HAUL_OK);
    roots = haul_image_roots(image, &count);
    CHECK_EQ(count, 2);
    CHECK_EQ(roots[0].count, ATOMS);
    CHECK_BYTES(roots[0].address, the.x, sizeof the.x);
    CHECK(*(double *)roots[1].address == 3);
    haul_image_free(&image);
    world_close();
}

TEST(chain_ship, in_checked_mode_two_names_for_one_array_agree)
{
    const haul_context_options checked = { .checked = 1 };
    haul_plan *plan;
    memset(&the, 0, sizeof the);
    CHECK_STATUS(haul_context_create(&checked, &the.context), HAUL_OK);
    types_open();
    data_open();
    the.u.weights = the.x;
    the.body.v = the.x;
    the.chain[0] = chain_of("in.body.x");
    the.chain[1] = chain_of("in.body.v");
    the.chain[2] = chain_of("in.body");
    CHECK_STATUS(haul_plan_create(the.context, haul_from_chains(&the.u, the.chain, 3), NULL, &plan),
                 HAUL_OK);
    haul_plan_free(&plan);
    world_close();
    haul_context_free(&the.context);
}

/* ---- Each failure of memory and of the device. */

static void prepare(void *user, fault_plan *plan)
{
    (void)user;
    memset(&the, 0, sizeof the);
    CHECK_STATUS(fault_open(plan, NULL, &the.device), HAUL_OK);
    the.context = haul_device_context(the.device);
    types_open();
    data_open();
}

static haul_status make_and_ship(void *user)
{
    haul_status status = haul_chain_create(the.context, universe_type, "in.body.x", &the.chain[0]);
    (void)user;
    if (status == HAUL_OK)
        status = haul_chain_create(the.context, universe_type, "in.body.next[0]", &the.chain[1]);
    if (status == HAUL_OK)
        status = haul_chain_create(the.context, universe_type, "weights", &the.chain[2]);
    if (status == HAUL_OK)
        status = haul_ship_from(the.device, haul_from_chains(&the.u, the.chain, 3), NULL, NULL,
                                &the.shipment);
    if (status == HAUL_OK) {
        haul_argument list[1] = { HAUL_ARGUMENT(arguments, x, the.chain[0]) };
        arguments filled;
        status = haul_chain_arguments(the.shipment, &the.u, list, 1, &filled);
    }
    if (status == HAUL_OK)
        status = haul_reship(the.shipment, NULL);
    if (status != HAUL_OK) {
        size_t i;
        haul_shipment_free(&the.shipment);
        for (i = 0; i < CHAINS; i++)
            haul_chain_free(&the.chain[i]);
    }
    return status;
}

static void check_result(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(status == HAUL_OK, the.shipment != NULL);
    CHECK(the.x[3] == 3);
}

static void undo(void *user)
{
    size_t i;
    (void)user;
    haul_shipment_free(&the.shipment);
    for (i = 0; i < CHAINS; i++)
        haul_chain_free(&the.chain[i]);
}

static void finish(void *user)
{
    undo(user);
    world_close();
}

TEST(chain_ship, each_failure_leaves_nothing_behind_H1_H2)
{
    fault_operation operation;
    memset(&operation, 0, sizeof operation);
    operation.name = "chains, made and shipped";
    operation.prepare = prepare;
    operation.run = make_and_ship;
    operation.check = check_result;
    operation.undo = undo;
    operation.finish = finish;
    operation.keeps = 1;
    CHECK(fault_everywhere(&operation) > 20);
}
