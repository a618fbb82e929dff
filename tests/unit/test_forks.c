/* Forks: a child has the parent's plans and plain arenas as its own, and of the parent's devices
 * nothing. What it calls on them is refused in words, and whatever it frees, the parent goes on as
 * if there were no child.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "haul.h"
#include "support/check.h"

typedef struct node {
    struct node *next;
    int32_t seen;
} node;

typedef struct family {
    haul_type *type;
    haul_device *device;
    haul_context *context;
    haul_plan *plan;
    haul_arena *plain, *pinned, *mirrored;
    haul_shipment *shipment, *locked, *of_plain, *of_pinned, *of_mirrored;
    node *nodes;
} family;

enum { NODES = 1000 };

static void raise_all(void *argument)
{
    node *n;
    for (n = argument; n; n = n->next)
        n->seen += 1000;
}

static haul_arena *arena_of(family *f, int pinned, int mirrored)
{
    haul_arena_options options;
    haul_arena *arena;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = 1 << 16;
    options.pinned = pinned;
    options.mirrored = mirrored;
    CHECK_STATUS(haul_arena_create_for(f->device, &options, &arena), HAUL_OK);
    CHECK(haul_arena_new(arena, f->type, 1) != NULL);
    return arena;
}

static void family_start(family *f)
{
    static haul_type *type;
    static const haul_ref refs[] = { HAUL_OBJECT(node, next, &type) };
    haul_device_options options;
    haul_ship_options lock;
    haul_root root;
    int i;
    memset(f, 0, sizeof *f);
    memset(&options, 0, sizeof options);
    memset(&lock, 0, sizeof lock);
    options.new_context.threads = 3;
    lock.lock_source = 1;
    CHECK_STATUS(haul_type_create("node", sizeof(node), refs, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    f->type = type;
    f->nodes = calloc(NODES, sizeof *f->nodes);
    CHECK(f->nodes != NULL);
    for (i = 0; i + 1 < NODES; i++)
        f->nodes[i].next = &f->nodes[i + 1];
    CHECK_STATUS(haul_device_open(haul_host_device(), &options, &f->device), HAUL_OK);
    f->context = haul_device_context(f->device);
    root.address = f->nodes;
    root.type = type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(f->context, &root, 1, &f->plan), HAUL_OK);
    CHECK_STATUS(haul_ship(f->device, f->nodes, type, 1, NULL, &f->shipment), HAUL_OK);
    CHECK_STATUS(haul_ship(f->device, f->nodes, type, 1, &lock, &f->locked), HAUL_OK);
    CHECK_STATUS(haul_refresh(f->locked), HAUL_OK);
    f->plain = arena_of(f, 0, 0);
    f->pinned = arena_of(f, 1, 0);
    f->mirrored = arena_of(f, 0, 1);
    CHECK_STATUS(haul_ship_arena(f->device, f->plain, NULL, &f->of_plain), HAUL_OK);
    CHECK_STATUS(haul_ship_arena(f->device, f->pinned, NULL, &f->of_pinned), HAUL_OK);
    CHECK_STATUS(haul_ship_arena(f->device, f->mirrored, NULL, &f->of_mirrored), HAUL_OK);
}

static void family_free(family *f)
{
    haul_shipment_free(&f->shipment);
    haul_shipment_free(&f->locked);
    haul_arena_free(&f->plain);
    haul_arena_free(&f->pinned);
    haul_arena_free(&f->mirrored);
    haul_shipment_free(&f->of_plain);
    haul_shipment_free(&f->of_pinned);
    haul_shipment_free(&f->of_mirrored);
    haul_plan_free(&f->plan);
    haul_device_close(&f->device);
}

/* The number of the first thing that is wrong, for a check would go on with the parent's tests. */
static int refuses_in_words(const family *f, haul_status status)
{
    return status == HAUL_ERROR_STATE &&
           strstr(haul_device_error(f->device)->text, "another process") != NULL;
}

static int is_refused(family *f)
{
    haul_shipment *s;
    haul_arena *a;
    if (!refuses_in_words(f, haul_refresh(f->shipment)))
        return 1;
    if (!refuses_in_words(f, haul_unmarshal(f->of_mirrored)))
        return 2;
    if (!refuses_in_words(f, haul_replan(f->locked)))
        return 3;
    if (!refuses_in_words(f, haul_shipment_wait(f->shipment)))
        return 4;
    if (!refuses_in_words(f, haul_ship(f->device, f->nodes, f->type, 1, NULL, &s)) || s)
        return 5;
    if (!refuses_in_words(f, haul_ship_arena(f->device, f->plain, NULL, &s)) || s)
        return 6;
    if (!refuses_in_words(f, haul_arena_create_for(f->device, NULL, &a)) || a)
        return 7;
    if (!refuses_in_words(f, haul_shipment_copy(f->shipment, f->device, &s)) || s)
        return 8;
    if (haul_host_launch(f->device, raise_all, haul_device_pointer(f->shipment, f->nodes)) !=
        HAUL_ERROR_STATE)
        return 9;
    return 0;
}

/* Discovery, packing, plain arenas, and a device of its own in the parent's context. */
static int goes_on(family *f)
{
    const size_t bytes = haul_plan_bytes(f->plan);
    haul_device_options options;
    haul_device *own;
    haul_shipment *s;
    void *copy = malloc(bytes);
    node *fresh;
    memset(&options, 0, sizeof options);
    options.context = f->context;
    if (!copy || haul_plan_pack(f->plan, copy, bytes, 1 << 20, NULL) != HAUL_OK)
        return 21;
    free(copy);
    fresh = haul_arena_new(f->plain, f->type, 1);
    if (!fresh)
        return 22;
    if (haul_device_open(haul_host_device(), &options, &own) != HAUL_OK)
        return 23;
    if (haul_ship(own, f->nodes, f->type, 1, NULL, &s) != HAUL_OK)
        return 24;
    if (haul_host_launch(own, raise_all, haul_device_pointer(s, f->nodes)) != HAUL_OK ||
        haul_unmarshal(s) != HAUL_OK || f->nodes[NODES - 1].seen != 1000)
        return 25;
    haul_shipment_free(&s);
    haul_device_close(&own);
    return 0;
}

/* What the child answers: 0, if all was right. */
static int in_child(family *f, int (*act)(family *f))
{
    pid_t child = fork();
    int status = -1;
    CHECK(child >= 0);
    if (child == 0)
        _exit(act(f));
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int free_all(family *f)
{
    family_free(f);
    return f->shipment || f->device || f->plain;
}

static void check_parent(family *f)
{
    haul_shipment *all[5];
    size_t i;
    all[0] = f->shipment;
    all[1] = f->locked;
    all[2] = f->of_plain;
    all[3] = f->of_pinned;
    all[4] = f->of_mirrored;
    CHECK_STATUS(haul_unmarshal(f->shipment), HAUL_OK);
    CHECK_EQ(f->nodes[0].seen, 0);
    for (i = 0; i < 5; i++) {
        CHECK_STATUS(haul_refresh(all[i]), HAUL_OK);
        CHECK_STATUS(haul_unmarshal(all[i]), HAUL_OK);
    }
    CHECK_STATUS(haul_host_launch(f->device, raise_all, haul_device_pointer(f->shipment, f->nodes)),
                 HAUL_OK);
    CHECK_STATUS(haul_unmarshal(f->shipment), HAUL_OK);
    CHECK_EQ(f->nodes[NODES - 1].seen, 1000);
}

static void try_in_child(int (*act)(family *f))
{
    family f;
    family_start(&f);
    CHECK_EQ(in_child(&f, act), 0);
    check_parent(&f);
    family_free(&f);
    haul_type_free(&f.type);
    free(f.nodes);
}

TEST(forks, a_child_is_refused_the_devices_of_its_parent_in_words)
{
    try_in_child(is_refused);
}

TEST(forks, a_child_plans_packs_allocates_and_opens_a_device_of_its_own)
{
    try_in_child(goes_on);
}

TEST(forks, a_child_may_free_everything_and_the_parent_goes_on)
{
    try_in_child(free_all);
}
