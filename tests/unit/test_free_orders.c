/* Handles that depend on one another are freed in every order: the others go on working, and the
 * last one releases all memory.
 *
 * Faults by number (docs/testing.md): C6.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/lists.h"
#include "support/types.h"
#include "support/random.h"
#include "support/open.h"
#include "support/short_forms.h"

enum { CONTEXT, TYPE, DEVICE, PLAN, SHIPMENT, COPY, ARENA, OF_ARENA, HANDLES, ROUNDS = 500 };

typedef struct life {
    haul_context *context;
    haul_type *type;
    haul_device *device;
    haul_plan *plan;
    haul_shipment *shipment, *copy, *of_arena;
    haul_arena *arena;
    list_node nodes[3], *in_arena;
    int32_t seen;
} life;

static size_t live;

static void *take(void *user, size_t bytes, size_t alignment)
{
    void *memory;
    (void)user;
    if (posix_memalign(&memory, alignment < 16 ? 16 : alignment, bytes) != 0)
        return NULL;
    live++;
    return memory;
}

static void give(void *user, void *memory, size_t bytes)
{
    (void)user, (void)bytes;
    live--;
    free(memory);
}

static const haul_allocator counting = { NULL, take, give, NULL, NULL };

static void begin(life *l)
{
    haul_type *type;
    haul_context_options context;
    test_device device;
    haul_arena_options arena;
    haul_root root;
    memset(l, 0, sizeof *l);
    memset(&context, 0, sizeof context);
    memset(&device, 0, sizeof device);
    memset(&arena, 0, sizeof arena);
    test_allocator(&context, &counting);
    arena.reserve_bytes = 1 << 12;
    CHECK_STATUS(haul_context_create(&context, &l->context), HAUL_OK);
    device.context = l->context;
    CHECK_STATUS(test_open(haul_host_device(), &device, &l->device), HAUL_OK);
    l->type = type = list_type(l->context);
    l->nodes[0].next = &l->nodes[1];
    l->nodes[1].next = &l->nodes[2];
    root.address = l->nodes;
    root.type = l->type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(l->context, haul_from_roots(&root, 1), NULL, &l->plan), HAUL_OK);
    CHECK_STATUS(haul_ship_from(l->device, haul_from_plan(l->plan), NULL, NULL, &l->shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(l->shipment, l->device, &l->copy), HAUL_OK);
    CHECK_STATUS(test_arena(l->device, &arena, &l->arena), HAUL_OK);
    CHECK((l->in_arena = haul_arena_new(l->arena, l->type, 1)) != NULL);
    CHECK_STATUS(haul_ship_from(l->device, haul_from_arena(l->arena), NULL, NULL, &l->of_arena),
                 HAUL_OK);
}

static void drop(life *l, int which)
{
    switch (which) {
    case CONTEXT:
        haul_context_free(&l->context);
        break;
    case TYPE:
        haul_type_free(&l->type);
        break;
    case DEVICE:
        haul_device_close(&l->device);
        break;
    case PLAN:
        haul_plan_free(&l->plan);
        break;
    case SHIPMENT:
        haul_shipment_free(&l->shipment);
        break;
    case COPY:
        haul_shipment_free(&l->copy);
        break;
    case ARENA:
        haul_arena_free(&l->arena);
        break;
    default:
        haul_shipment_free(&l->of_arena);
    }
}

static void there_and_back(life *l, haul_shipment *shipment)
{
    const int32_t sent = ++l->seen;
    l->nodes[2].value = sent;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    l->nodes[2].value = 0;
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_EQ(l->nodes[2].value, sent);
    CHECK_PTR(l->nodes[1].next, &l->nodes[2]);
}

/* All that is left, and together what belongs together. */
static void use(life *l)
{
    unsigned char packed[256];
    haul_shipment *shipment;
    size_t bytes;
    if (l->context)
        CHECK_STATUS(haul_context_trim(l->context), HAUL_OK);
    if (l->type)
        CHECK_STATUS(haul_type_size(l->type, &bytes), HAUL_OK);
    if (l->plan)
        CHECK_STATUS(haul_plan_pack(l->plan, packed, sizeof packed, 4096, NULL), HAUL_OK);
    if (l->shipment)
        there_and_back(l, l->shipment);
    if (l->copy)
        there_and_back(l, l->copy);
    if (l->of_arena) {
        CHECK_STATUS(haul_update_device(l->of_arena, NULL, NULL), HAUL_OK);
        CHECK_STATUS(haul_update_host(l->of_arena, WITH_POINTERS, NULL), HAUL_OK);
        CHECK_STATUS(haul_reship(l->of_arena, NULL), HAUL_OK);
    }
    if (l->arena)
        CHECK(haul_arena_bytes(l->arena, 16, 0) != NULL);
    if (l->device && l->plan) {
        CHECK_STATUS(haul_ship_from(l->device, haul_from_plan(l->plan), NULL, NULL, &shipment),
                     HAUL_OK);
        haul_shipment_free(&shipment);
    }
    if (l->device && l->arena && !l->of_arena) {
        CHECK_STATUS(haul_ship_from(l->device, haul_from_arena(l->arena), NULL, NULL, &shipment),
                     HAUL_OK);
        haul_shipment_free(&shipment);
    }
}

TEST(free_orders, handles_may_go_in_any_order_and_the_rest_goes_on_C6)
{
    random_source random = random_start("orders of frees");
    int round, order[HANDLES], i;
    for (round = 0; round < ROUNDS; round++) {
        life l;
        live = 0;
        begin(&l);
        for (i = 0; i < HANDLES; i++)
            order[i] = i;
        for (i = HANDLES - 1; i > 0; i--) {
            const int other = (int)random_below(&random, (size_t)i + 1), kept = order[i];
            order[i] = order[other];
            order[other] = kept;
        }
        for (i = 0; i < HANDLES; i++) {
            check_note("round %d, %d freed", round, i);
            use(&l);
            drop(&l, order[i]);
        }
        CHECK_EQ(live, 0);
        check_note(NULL);
    }
}
