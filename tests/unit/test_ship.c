/* Shipping: whole graphs go to a device, kernels walk them by ordinary pointers, and data comes
 * back.
 *
 * Faults by number (docs/testing.md): G1, G13, G23; D10, D11; T16 and C8 (a callback that calls
 * back in); C6 (freed while in use). All other failures of this room are in test_ship_faults.c.
 */
#define _DEFAULT_SOURCE
#include "ship_graphs.h"
#include "support/doors.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

/* ---- Walks. */

static void ship_walk_and_return(int32_t rooms, int ring, int patched_here)
{
    static world w;
    haul_device *device = host_device();
    haul_shipment *s;
    room *first;
    visit there, here;
    unsigned char *before;
    world_start(&w, 1 << 16);
    museum_open();
    first = museum_make(&w, rooms, ring);
    before = world_picture(&w);
    world_protect(&w, PROT_READ);
    host_patches(device, patched_here);
    CHECK_STATUS(haul_ship(device, first, room_type, 1, NULL, &s), HAUL_OK);
    world_protect(&w, PROT_READ | PROT_WRITE);
    here = museum_seen_from(first);
    there = museum_seen_on(device, s, &w, first);
    check_visits_agree(&there, &here);
    CHECK_EQ(there.rooms, rooms);
    CHECK_STATUS(haul_host_launch(device, museum_change, haul_device_pointer(s, first)), HAUL_OK);
    CHECK_BYTES(w.memory, before, w.bytes);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    world_check_changed_by(&w, before, museum_change, first);
    haul_shipment_free(&s);
    CHECK_PTR(s, NULL);
    CHECK_EQ(counters_of(device).bytes_live, 0);
    haul_device_close(&device);
    CHECK_PTR(device, NULL);
    museum_close();
    world_end(&w);
}

TEST(ship, a_list_is_walked_on_the_device_changed_and_brought_back)
{
    ship_walk_and_return(40, 0, 0);
}

TEST(ship, a_cyclic_graph_with_shared_objects_keeps_its_shape_G13)
{
    ship_walk_and_return(40, 1, 0);
    ship_walk_and_return(1, 1, 0);
}

TEST(ship, patching_on_the_host_serves_as_well)
{
    ship_walk_and_return(40, 1, 1);
}

typedef struct branch {
    struct branch *left, *right, *parent;
    int64_t key;
} branch;

static haul_type *branch_type;

static branch *branch_make(world *w, branch *parent, int64_t low, int64_t high)
{
    branch *b;
    if (low > high)
        return NULL;
    b = world_take(w, sizeof *b, sizeof(void *));
    b->parent = parent;
    b->key = (low + high) / 2;
    b->left = branch_make(w, b, low, b->key - 1);
    b->right = branch_make(w, b, b->key + 1, high);
    return b;
}

/* In order, by parent links alone; doubles each key on the way. Counts what is out of order. */
typedef struct tour {
    branch *root;
    int64_t count, wrong;
} tour;

static void tour_in_order(void *argument)
{
    tour *t = argument;
    branch *b = t->root, *from;
    while (b->left)
        b = b->left;
    while (b) {
        t->wrong += b->key != t->count++;
        b->key *= 2;
        if (b->right) {
            for (b = b->right; b->left; b = b->left)
                ;
            continue;
        }
        do {
            from = b;
            b = b->parent;
        } while (b && b->right == from);
    }
}

TEST(ship, a_tree_keeps_its_parent_links)
{
    static const haul_field fields[] = {
        HAUL_OBJECT(branch, left, &branch_type),
        HAUL_OBJECT(branch, right, &branch_type),
        HAUL_OBJECT(branch, parent, &branch_type),
    };
    static world w;
    haul_device *device = host_device();
    haul_shipment *s;
    tour there, here;
    unsigned char *before;
    world_start(&w, 1 << 16);
    CHECK_STATUS(type_make("branch", sizeof(branch), fields, 3, &branch_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(branch_type), HAUL_OK);
    here.root = branch_make(&w, NULL, 0, 300);
    here.count = here.wrong = 0;
    before = world_picture(&w);
    CHECK_STATUS(haul_ship(device, here.root, branch_type, 1, NULL, &s), HAUL_OK);
    there = here;
    there.root = haul_device_pointer(s, here.root);
    world_protect(&w, PROT_NONE);
    CHECK_STATUS(haul_host_launch(device, tour_in_order, &there), HAUL_OK);
    world_protect(&w, PROT_READ | PROT_WRITE);
    CHECK_EQ(there.count, 301);
    CHECK_EQ(there.wrong, 0);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    world_check_changed_by(&w, before, tour_in_order, &here);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&branch_type);
    world_end(&w);
}

typedef struct label {
    char *text;
    int32_t color;
} label;

typedef struct cell {
    int32_t n;
    float *values;
    label labels[2];
} cell;

static haul_type *label_type, *cell_type;

static void cell_types_make(void)
{
    static const haul_field label_fields[] = { HAUL_STRING(label, text) };
    static const haul_field cell_fields[] = {
        HAUL_ARRAY(cell, values, HAUL_COUNT(cell, n)),
        HAUL_EMBED(cell, labels, &label_type),
    };
    CHECK_STATUS(type_make("label", sizeof(label), label_fields, 1, &label_type), HAUL_OK);
    CHECK_STATUS(type_make("cell", sizeof(cell), cell_fields, 2, &cell_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(cell_type), HAUL_OK);
}

enum { CELLS = 20 };

static cell *cells_make(world *w)
{
    cell *cells = world_take(w, CELLS * sizeof *cells, sizeof(void *));
    int32_t i, v;
    memset(cells, 0, CELLS * sizeof *cells);
    for (i = 0; i < CELLS; i++) {
        cells[i].n = i % 5;
        if (cells[i].n > 0)
            cells[i].values = world_take(w, (size_t)cells[i].n * sizeof(float), sizeof(float));
        for (v = 0; v < cells[i].n; v++)
            cells[i].values[v] = (float)(i * 10 + v);
        cells[i].labels[0].text = world_text(w, "left");
        cells[i].labels[1].text = i % 3 ? cells[0].labels[0].text : NULL;
    }
    return cells;
}

static void cells_count_and_paint(void *argument)
{
    cell *cells = argument;
    int32_t i, v;
    for (i = 0; i < CELLS; i++) {
        cells[i].labels[0].color = (int32_t)strlen(cells[i].labels[0].text);
        cells[i].labels[1].color = cells[i].labels[1].text == cells[0].labels[0].text;
        for (v = 0; v < cells[i].n; v++)
            cells[i].values[v] += 0.5f;
    }
}

TEST(ship, an_array_of_structs_with_counted_arrays_and_embedded_structs_travels)
{
    static world w;
    haul_device *device = host_device();
    haul_shipment *s;
    cell *cells;
    unsigned char *before;
    world_start(&w, 1 << 14);
    cell_types_make();
    cells = cells_make(&w);
    before = world_picture(&w);
    CHECK_STATUS(haul_ship(device, cells, cell_type, CELLS, NULL, &s), HAUL_OK);
    world_protect(&w, PROT_NONE);
    CHECK_STATUS(haul_host_launch(device, cells_count_and_paint, haul_device_pointer(s, cells)),
                 HAUL_OK);
    world_protect(&w, PROT_READ | PROT_WRITE);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK_EQ(cells[1].labels[1].color, 1);
    world_check_changed_by(&w, before, cells_count_and_paint, cells);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&cell_type);
    haul_type_free(&label_type);
    world_end(&w);
}

TEST(ship, several_roots_of_different_types_share_one_shipment)
{
    static world w;
    haul_device *device = host_device();
    haul_shipment *s;
    haul_root roots[3];
    haul_host_counters counters;
    visit here, there;
    world_start(&w, 1 << 16);
    museum_open();
    cell_types_make();
    roots[0].address = museum_make(&w, 10, 1);
    roots[0].type = room_type;
    roots[1].address = cells_make(&w);
    roots[1].type = cell_type;
    roots[2].address = ((room *)roots[0].address)->next->next; /* reached from the first, too */
    roots[2].type = room_type;
    roots[0].count = roots[2].count = 1;
    roots[1].count = CELLS;
    CHECK_STATUS(haul_ship_from(device, haul_from_roots(roots, 3), NULL, NULL, &s), HAUL_OK);
    counters = counters_of(device);
    CHECK_EQ(counters.copies_to, 1);
    CHECK_EQ(counters.allocations, 1);
    here = museum_seen_from(roots[2].address);
    there = museum_seen_on(device, s, &w, roots[2].address);
    check_visits_agree(&there, &here);
    CHECK_STATUS(
        haul_host_launch(device, cells_count_and_paint, haul_device_pointer(s, roots[1].address)),
        HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK_EQ(((cell *)roots[1].address)[3].labels[0].color, 4);
    haul_shipment_free(&s);
    haul_device_close(&device);
    museum_close();
    haul_type_free(&cell_type);
    haul_type_free(&label_type);
    world_end(&w);
}

/* ---- Transfers. */

TEST(ship, one_copy_goes_each_way_and_the_statistics_say_so)
{
    static world w;
    haul_device *device = host_device();
    haul_shipment *s;
    haul_shipment_info told;
    haul_host_counters counted;
    room *first;
    world_start(&w, 1 << 16);
    museum_open();
    first = museum_make(&w, 30, 1);
    CHECK_STATUS(haul_ship(device, first, room_type, 1, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    counted = counters_of(device);
    CHECK_EQ(counted.copies_to, 1);
    CHECK_EQ(counted.copies_from, 1);
    CHECK_EQ(counted.relocations, 1);
    CHECK_EQ(counted.allocations, 1);
    haul_shipment_get_info(s, &told);
    CHECK_EQ(told.transfers_to, 1);
    CHECK_EQ(told.transfers_from, 1);
    CHECK_EQ(told.bytes_to, counted.bytes_to);
    CHECK_EQ(told.bytes_from, counted.bytes_from);
    CHECK_EQ(told.bytes_from, told.arena_bytes);
    CHECK(told.objects >= 30 && told.pointers > 30);
    CHECK(device_address(s, first) > told.base);
    CHECK(device_address(s, first) < told.base + told.arena_bytes);
    CHECK_EQ(told.base % 256, 0);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    haul_shipment_get_info(s, &told);
    CHECK_EQ(told.transfers_to, 2);
    CHECK_EQ(counters_of(device).copies_to, 2);
    CHECK_EQ(counters_of(device).relocations, 1);
    haul_shipment_free(&s);
    haul_device_close(&device);
    museum_close();
    world_end(&w);
}

TEST(ship, a_graph_without_pointers_needs_no_relocation)
{
    haul_type *plain;
    haul_device *device = host_device();
    haul_shipment *s;
    haul_shipment_info told;
    unsigned char data[100], back[100];
    memset(data, 7, sizeof data);
    CHECK_STATUS(type_make("plain", sizeof data, NULL, 0, &plain), HAUL_OK);
    CHECK_STATUS(haul_type_commit(plain), HAUL_OK);
    CHECK_STATUS(haul_ship(device, data, plain, 1, NULL, &s), HAUL_OK);
    CHECK_EQ(counters_of(device).relocations, 0);
    haul_shipment_get_info(s, &told);
    CHECK_EQ(told.bytes_to, told.arena_bytes);
    device_read(device, back, device_address(s, data), sizeof back);
    CHECK_BYTES(back, data, sizeof back);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&plain);
}

/* What the plan says must lie on the device, against what lies there. */
static void check_device_bytes(haul_device *device, const haul_shipment *s, haul_plan *plan)
{
    size_t bytes = plan_bytes(plan), alignment = plan_alignment(plan);
    haul_shipment_info told;
    void *expected = NULL, *found = malloc(bytes);
    CHECK(found && posix_memalign(&expected, alignment > 64 ? alignment : 64, bytes) == 0);
    haul_shipment_get_info(s, &told);
    CHECK_STATUS(haul_plan_pack(plan, expected, bytes, told.base, NULL), HAUL_OK);
    device_read(device, found, told.base, bytes);
    CHECK_BYTES(found, expected, bytes);
    free(expected);
    free(found);
}

TEST(ship, patching_on_the_device_and_on_the_host_give_the_same_bytes)
{
    static world w;
    haul_device *device = host_device();
    haul_shipment *by_device, *by_host, *by_plan;
    haul_plan *plan;
    haul_root root;
    world_start(&w, 1 << 16);
    museum_open();
    root.address = museum_make(&w, 50, 1);
    root.type = room_type;
    root.count = 1;
    CHECK_STATUS(
        haul_plan_create(haul_device_context(device), haul_from_roots(&root, 1), NULL, &plan),
        HAUL_OK);
    CHECK_STATUS(haul_ship_from(device, haul_from_roots(&root, 1), NULL, NULL, &by_device),
                 HAUL_OK);
    host_patches(device, 1);
    CHECK_STATUS(haul_ship_from(device, haul_from_roots(&root, 1), NULL, NULL, &by_host), HAUL_OK);
    host_patches(device, 0);
    CHECK_STATUS(haul_ship_from(device, haul_from_plan(plan), NULL, NULL, &by_plan), HAUL_OK);
    CHECK_EQ(counters_of(device).relocations, 2);
    check_device_bytes(device, by_device, plan);
    check_device_bytes(device, by_host, plan);
    check_device_bytes(device, by_plan, plan);
    CHECK_STATUS(haul_update_device(by_device, NULL, NULL), HAUL_OK);
    check_device_bytes(device, by_device, plan);
    haul_shipment_free(&by_device);
    haul_shipment_free(&by_host);
    haul_shipment_free(&by_plan);
    haul_plan_free(&plan);
    haul_device_close(&device);
    museum_close();
    world_end(&w);
}

typedef struct spots {
    const unsigned char *object;
    int good;
} spots;

static void read_odd_pointer(void *argument)
{
    spots *s = argument;
    const unsigned char *text;
    memcpy(&text, s->object + 3, sizeof text);
    s->good = memcmp(text, "off the grid", 13) == 0;
}

static void null_odd_pointer(void *argument)
{
    memset((unsigned char *)argument + 3, 0, sizeof(void *));
}

TEST(ship, pointers_off_the_grid_are_patched_on_the_device)
{
    enum { BYTES = 3 + sizeof(void *) + 2 };
    haul_field field;
    haul_type *odd;
    haul_device *device = host_device();
    haul_shipment *s;
    haul_ship_options options;
    char text[] = "off the grid";
    char *target = text;
    unsigned char object[BYTES];
    spots spot;
    int on_host;
    static const haul_count string = HAUL_TERMINATED;
    memset(&field, 0, sizeof field);
    field.name = "text";
    field.kind = HAUL_FIELD_POINTER;
    field.offset = 3;
    field.bytes = sizeof(void *);
    field.element_bytes = 1;
    field.levels = 1;
    field.count = string;
    field.packed = 1;
    memset(object, 9, sizeof object);
    memcpy(object + 3, &target, sizeof target);
    memset(&options, 0, sizeof options);
    CHECK_STATUS(type_make("odd", sizeof object, &field, 1, &odd), HAUL_OK);
    CHECK_STATUS(haul_type_commit(odd), HAUL_OK);
    for (on_host = 0; on_host < 2; on_host++) {
        host_patches(device, on_host);
        CHECK_STATUS(haul_ship(device, object, odd, 1, NULL, &s), HAUL_OK);
        spot.object = haul_device_pointer(s, object);
        spot.good = 0;
        CHECK_STATUS(haul_host_launch(device, read_odd_pointer, &spot), HAUL_OK);
        CHECK(spot.good);
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
        CHECK_PTR(target, text);
        CHECK(memcmp(object + 3, &target, sizeof target) == 0);
        CHECK_STATUS(haul_host_launch(device, null_odd_pointer, haul_device_pointer(s, object)),
                     HAUL_OK);
        CHECK_STATUS(haul_update_host(s, WITH_POINTERS, NULL), HAUL_OK);
        target = NULL;
        CHECK(memcmp(object + 3, &target, sizeof target) == 0);
        target = text;
        memcpy(object + 3, &target, sizeof target);
        haul_shipment_free(&s);
    }
    haul_device_close(&device);
    haul_type_free(&odd);
}

/* ---- Look-up. */

static int is_described(const world *w, const unsigned char *at)
{
    size_t i;
    for (i = 0; i < w->count; i++)
        if (at >= w->blocks[i].at && at < w->blocks[i].at + w->blocks[i].bytes)
            return 1;
    return 0;
}

/* Skipped fields, and what else shares 16 bytes with described ones, may be found or not. */
static int shares_a_granule(const world *w, const unsigned char *at)
{
    size_t i;
    at -= (uintptr_t)at % 16;
    for (i = 0; i < 16; i++)
        if (is_described(w, at + i))
            return 1;
    return 0;
}

TEST(ship, every_byte_is_found_in_both_directions)
{
    static world w;
    haul_device *device = host_device();
    haul_shipment *s;
    room *first, *r;
    size_t i, found = 0;
    unsigned char *at;
    haul_address address;
    char text[64];
    world_start(&w, 1 << 14);
    museum_open();
    first = museum_make(&w, 12, 1);
    CHECK_STATUS(haul_ship(device, first, room_type, 1, NULL, &s), HAUL_OK);
    for (i = 1; i < w.bytes; i++) {
        at = w.memory + i;
        address = device_address(s, at);
        if (address == 0) {
            CHECK(!is_described(&w, at) && !is_described(&w, at - 1));
            continue;
        }
        CHECK(shares_a_granule(&w, at) || shares_a_granule(&w, at - 1));
        CHECK_EQ((address - (uintptr_t)at) % (2 * sizeof(void *)), 0);
        if (!is_described(&w, at))
            continue;
        found++;
        CHECK_PTR(host_of(s, address), at);
        CHECK_PTR(haul_device_pointer(s, at), (void *)(uintptr_t)address);
    }
    CHECK(found > 12 * (sizeof(room) - sizeof(void *)) &&
          !is_described(&w, w.memory + w.bytes - 1));
    for (r = first; r->next != first; r = r->next) {
        device_read(device, text, device_address(s, r->name), strlen(r->name) + 1);
        CHECK_STR(text, r->name);
        CHECK_EQ(device_address(s, r + 1), device_address(s, r) + sizeof *r);
    }
    haul_shipment_free(&s);
    haul_device_close(&device);
    museum_close();
    world_end(&w);
}

TEST(ship, a_look_up_outside_the_graph_answers_nothing)
{
    static world w;
    haul_device *device = host_device();
    haul_shipment *s;
    haul_shipment_info told;
    room *first;
    int elsewhere;
    world_start(&w, 1 << 14);
    museum_open();
    first = museum_make(&w, 5, 0);
    CHECK_STATUS(haul_ship(device, first, room_type, 1, NULL, &s), HAUL_OK);
    haul_shipment_get_info(s, &told);
    CHECK_EQ(device_address(s, NULL), 0);
    CHECK_EQ(device_address(s, &elsewhere), 0);
    CHECK_EQ(device_address(s, w.memory + w.bytes - 1), 0);
    CHECK_EQ(device_address(s, (void *)UINTPTR_MAX), 0);
    CHECK_EQ(device_address(NULL, first), 0);
    CHECK_PTR(haul_device_pointer(s, &elsewhere), NULL);
    CHECK_PTR(host_of(s, 0), NULL);
    CHECK_PTR(host_of(s, told.base), NULL);
    CHECK_PTR(host_of(s, told.base - 1), NULL);
    CHECK_PTR(host_of(s, told.base + told.arena_bytes + 1), NULL);
    CHECK_PTR(host_of(s, UINT64_MAX), NULL);
    CHECK_PTR(host_of(NULL, told.base + 16), NULL);
    haul_shipment_free(&s);
    haul_device_close(&device);
    museum_close();
    world_end(&w);
}

/* ---- Life. */

TEST(ship, types_plan_context_and_device_may_go_before_the_shipment_C6)
{
    static world w;
    haul_context *context;
    haul_device *device, *peer;
    test_device options;
    haul_shipment *s;
    haul_plan *plan;
    haul_root root;
    unsigned char *before;
    int32_t area;
    world_start(&w, 1 << 14);
    museum_open();
    memset(&options, 0, sizeof options);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    options.context = context;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    CHECK_STATUS(test_open(haul_host_device(), &options, &peer), HAUL_OK);
    CHECK_PTR(haul_device_context(device), context);
    root.address = museum_make(&w, 8, 1);
    root.type = room_type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    CHECK_STATUS(haul_ship_from(device, haul_from_plan(plan), NULL, NULL, &s), HAUL_OK);
    before = world_picture(&w);
    CHECK_STATUS(haul_host_launch(device, museum_change, haul_device_pointer(s, root.address)),
                 HAUL_OK);
    haul_plan_free(&plan);
    haul_device_close(&device);
    haul_device_close(&peer);
    haul_context_free(&context);
    museum_close();
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    world_check_changed_by(&w, before, museum_change, root.address);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_reship(s, NULL), HAUL_OK);
    area = ((room *)root.address)->area;
    CHECK_STATUS(haul_update_host(s, RANGE(root.address, sizeof(room)), NULL), HAUL_OK);
    CHECK_EQ(((room *)root.address)->area, area);
    haul_shipment_free(&s);
    haul_shipment_free(&s);
    haul_shipment_free(NULL);
    haul_device_close(&device);
    haul_device_close(NULL);
    world_end(&w);
}

TEST(ship, two_shipments_of_one_graph_live_side_by_side)
{
    static world w;
    haul_device *device = host_device();
    haul_shipment *a, *b;
    room *first;
    visit here, there;
    world_start(&w, 1 << 14);
    museum_open();
    first = museum_make(&w, 9, 1);
    CHECK_STATUS(haul_ship(device, first, room_type, 1, NULL, &a), HAUL_OK);
    CHECK_STATUS(haul_ship(device, first, room_type, 1, NULL, &b), HAUL_OK);
    CHECK(device_address(a, first) != device_address(b, first));
    haul_shipment_free(&a);
    here = museum_seen_from(first);
    there = museum_seen_on(device, b, &w, first);
    check_visits_agree(&there, &here);
    haul_shipment_free(&b);
    CHECK_EQ(counters_of(device).bytes_live, 0);
    haul_device_close(&device);
    museum_close();
    world_end(&w);
}

/* ---- What is refused. */

TEST(ship, wrong_arguments_are_refused_and_results_are_null_G1)
{
    static world w;
    static uint64_t zeros[512];
    haul_device *device = host_device(), *other = host_device();
    haul_shipment *s, *none = NULL;
    haul_plan *plan;
    haul_root root;
    haul_type *open_type;
    room *first;
    world_start(&w, 1 << 14);
    museum_open();
    first = museum_make(&w, 3, 0);
    CHECK_STATUS(type_make("open", 8, NULL, 0, &open_type), HAUL_OK);
    root.address = first;
    root.type = room_type;
    root.count = 1;
    CHECK_STATUS(
        haul_plan_create(haul_device_context(other), haul_from_roots(&root, 1), NULL, &plan),
        HAUL_OK);
    CHECK_STATUS(haul_ship(device, first, room_type, 1, NULL, NULL), HAUL_ERROR_ARGUMENT);
#define REFUSED(call, status)                                                                      \
    (s = (haul_shipment *)(void *)&w, CHECK_STATUS(call, status), CHECK_PTR(s, NULL))
    REFUSED(haul_ship(NULL, first, room_type, 1, NULL, &s), HAUL_ERROR_ARGUMENT);
    REFUSED(haul_ship(device, NULL, room_type, 1, NULL, &s), HAUL_ERROR_ARGUMENT);
    REFUSED(haul_ship(device, first, NULL, 1, NULL, &s), HAUL_ERROR_ARGUMENT);
    REFUSED(haul_ship(device, first, room_type, 0, NULL, &s), HAUL_ERROR_ARGUMENT);
    REFUSED(haul_ship(device, first, open_type, 1, NULL, &s), HAUL_ERROR_STATE);
    REFUSED(haul_ship_from(device, haul_from_roots(NULL, 1), NULL, NULL, &s), HAUL_ERROR_ARGUMENT);
    REFUSED(haul_ship_from(device, haul_from_roots(&root, 0), NULL, NULL, &s), HAUL_ERROR_ARGUMENT);
    REFUSED(haul_ship_from(device, haul_from_plan(NULL), NULL, NULL, &s), HAUL_ERROR_ARGUMENT);
    REFUSED(haul_ship_from(device, haul_from_plan(plan), NULL, NULL, &s), HAUL_ERROR_ARGUMENT);
#undef REFUSED
    CHECK_EQ(haul_context_error(haul_device_context(device))->status, HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_unmarshal(NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_update_host(NULL, WITH_POINTERS, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_update_device(NULL, NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_reship(NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_update_host(NULL, RANGE(first, 1), NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_update_device(NULL, RANGE(first, 1), NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_wait(NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_poll(NULL), HAUL_ERROR_ARGUMENT);
    haul_shipment_free(NULL);
    haul_shipment_free(&none);
    s = (haul_shipment *)(void *)zeros; /* no living shipment */
    CHECK_STATUS(haul_wait(s), HAUL_ERROR_ARGUMENT);
    haul_shipment_free(&s);
    CHECK_PTR(s, NULL);
    CHECK_EQ(counters_of(device).allocations, 0);
    haul_plan_free(&plan);
    haul_type_free(&open_type);
    haul_device_close(&device);
    haul_device_close(&other);
    museum_close();
    world_end(&w);
}

TEST(ship, a_graph_that_is_wrong_reaches_no_device)
{
    static world w;
    haul_device *device = host_device();
    haul_shipment *s;
    room *first;
    world_start(&w, 1 << 14);
    museum_open();
    first = museum_make(&w, 4, 0);
    first->next->door_count = -3;
    CHECK_STATUS(haul_ship(device, first, room_type, 1, NULL, &s), HAUL_ERROR_GRAPH);
    CHECK_PTR(s, NULL);
    CHECK_HAS(haul_context_error(haul_device_context(device))->path, "next");
    CHECK_HAS(haul_context_error(haul_device_context(device))->path, "doors");
    CHECK_EQ(counters_of(device).allocations, 0);
    first->next->door_count = 3;
    CHECK_STATUS(haul_ship(device, first, room_type, 1, NULL, &s), HAUL_OK);
    CHECK_EQ(haul_context_error(haul_device_context(device))->status, HAUL_OK);
    haul_shipment_free(&s);
    haul_device_close(&device);
    museum_close();
    world_end(&w);
}

typedef struct caller {
    haul_device *device;
    haul_shipment *shipment;
    void *object;
    int calls, busy;
} caller;

typedef struct reentry {
    int32_t value;
    int32_t *numbers;
} reentry;

static haul_type *reentry_type;

static void call_back_in(caller *c)
{
    haul_shipment *s = NULL;
    haul_status status = haul_ship(c->device, c->object, reentry_type, 1, NULL, &s);
    c->calls++;
    c->busy += status == HAUL_ERROR_BUSY && s == NULL;
    if (!c->shipment)
        return;
    c->calls += 5;
    c->busy += haul_unmarshal(c->shipment) == HAUL_ERROR_BUSY;
    c->busy += haul_update_device(c->shipment, NULL, NULL) == HAUL_ERROR_BUSY;
    c->busy += haul_reship(c->shipment, NULL) == HAUL_ERROR_BUSY;
    c->busy += haul_update_host(c->shipment, RANGE(c->object, 4), NULL) == HAUL_ERROR_BUSY;
    c->busy += haul_update_device(c->shipment, RANGE(c->object, 4), NULL) == HAUL_ERROR_BUSY;
}

static int64_t count_and_call(const haul_here *here)
{
    call_back_in(here->argument);
    return 3;
}

TEST(ship, a_callback_that_calls_back_in_finds_the_context_busy_T16)
{
    static const haul_field fields[] = { HAUL_ARRAY(reentry, numbers,
                                                    HAUL_COUNT_FN(count_and_call)) };
    int32_t numbers[3] = { 1, 2, 3 };
    reentry object;
    test_device options;
    caller c;
    memset(&options, 0, sizeof options);
    memset(&c, 0, sizeof c);
    options.new_context.argument = &c;
    object.value = 1;
    object.numbers = numbers;
    c.object = &object;
    CHECK_STATUS(type_make("reentry", sizeof object, fields, 1, &reentry_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(reentry_type), HAUL_OK);
    CHECK_STATUS(test_open(haul_host_device(), &options, &c.device), HAUL_OK);
    CHECK_STATUS(haul_ship(c.device, &object, reentry_type, 1, NULL, &c.shipment), HAUL_OK);
    CHECK(c.calls > 0);
    CHECK_STATUS(haul_update_device(c.shipment, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_reship(c.shipment, NULL), HAUL_OK);
    CHECK_EQ(c.busy, c.calls);
    haul_shipment_free(&c.shipment);
    haul_device_close(&c.device);
    haul_type_free(&reentry_type);
}

typedef struct hearing {
    uint64_t last, total;
    int calls, backwards, nothings, refuse, refuse_at;
} hearing;

static int hear(void *user, uint64_t done, uint64_t total)
{
    hearing *h = user;
    h->calls++;
    h->backwards += done < h->last || done > total;
    h->nothings += done == 0;
    h->last = done;
    h->total = total;
    return h->refuse || h->calls == h->refuse_at;
}

TEST(ship, progress_is_told_and_a_refusal_cancels_and_leaves_nothing)
{
    enum { BYTES = 24 << 20 };
    haul_type *bulk;
    haul_device *device;
    haul_shipment *s;
    test_device options;
    hearing h;
    unsigned char *data = malloc(BYTES);
    CHECK(data != NULL);
    memset(data, 3, BYTES);
    memset(&h, 0, sizeof h);
    memset(&options, 0, sizeof options);
    options.new_context.progress = hear;
    options.new_context.progress_user = &h;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    CHECK_STATUS(type_make("bulk", 1 << 20, NULL, 0, &bulk), HAUL_OK);
    CHECK_STATUS(haul_type_commit(bulk), HAUL_OK);
    h.refuse = 1;
    CHECK_STATUS(haul_ship(device, data, bulk, 24, NULL, &s), HAUL_ERROR_CANCELLED);
    CHECK_PTR(s, NULL);
    CHECK_EQ(h.calls, 1);
    CHECK_EQ(counters_of(device).bytes_live, 0);
    memset(&h, 0, sizeof h);
    CHECK_STATUS(haul_ship(device, data, bulk, 24, NULL, &s), HAUL_OK);
    CHECK(h.calls > 0);
    CHECK_EQ(h.backwards, 0);
    memset(data, 4, BYTES);
    memset(&h, 0, sizeof h);
    h.refuse = 1;
    CHECK_STATUS(haul_unmarshal(s), HAUL_ERROR_CANCELLED);
    CHECK(data[0] == 4 && data[BYTES - 1] == 4 && data[BYTES / 2] == 4);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_ERROR_CANCELLED);
    memset(&h, 0, sizeof h);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    memset(data, 5, BYTES);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK(data[0] == 4 && data[BYTES - 1] == 4 && data[BYTES / 2] == 4);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&bulk);
    free(data);
}

/* Each round is cancelled at another report, until one gets through. */
static int tells_until_it_ends(hearing *h, haul_status (*call)(void *), void *of, uint64_t total)
{
    int round, refused = 0;
    for (round = 0; round < 100; round++) {
        haul_status status;
        memset(h, 0, sizeof *h);
        h->refuse_at = round + 1;
        status = call(of);
        CHECK_EQ(h->backwards, 0);
        if (status == HAUL_OK) {
            CHECK_EQ(h->last, total);
            CHECK_EQ(h->total, total);
            return refused;
        }
        CHECK_STATUS(status, HAUL_ERROR_CANCELLED);
        refused++;
    }
    return refused;
}

static haul_status update_all(void *shipment)
{
    return haul_update_device(shipment, NULL, NULL);
}

static haul_status return_all(void *shipment)
{
    return haul_unmarshal(shipment);
}

static haul_status return_all_or_nothing(void *shipment)
{
    haul_update_options how;
    memset(&how, 0, sizeof how);
    how.all_or_nothing = 1;
    return haul_update_host(shipment, &how, NULL);
}

TEST(ship, an_arena_tells_progress_in_pieces_and_can_be_cancelled_at_each)
{
    enum { BYTES = 5 << 20, CHUNK = 1 << 16 }; /* pieces of 512 KiB */
    static const int directly[] = { 0, 1 };
    size_t i;
    for (i = 0; i < 2; i++) {
        haul_device *device;
        haul_arena *arena;
        haul_shipment *s = NULL;
        test_device options;
        fault_plan plan;
        hearing h;
        char *data;
        memset(&plan, 0, sizeof plan);
        plan.chunk_bytes = CHUNK;
        memset(&h, 0, sizeof h);
        memset(&options, 0, sizeof options);
        options.new_context.progress = hear;
        options.new_context.progress_user = &h;
        CHECK_STATUS(fault_open(&plan, &options, &device), HAUL_OK);
        CHECK_STATUS(haul_arena_create(haul_device_context(device), NULL, &arena), HAUL_OK);
        data = haul_arena_bytes(arena, BYTES, 0);
        CHECK(data != NULL);
        memset(data, 7, BYTES);
        h.refuse_at = 3;
        CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s),
                     HAUL_ERROR_CANCELLED);
        CHECK_EQ(plan.device_bytes, 0);
        memset(&h, 0, sizeof h);
        CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s), HAUL_OK);
        CHECK(h.calls > BYTES / (8 * CHUNK));
        CHECK_EQ(h.backwards, 0);
        if (directly[i])
            CHECK_STATUS(haul_return_directly(s), HAUL_OK);
        CHECK(tells_until_it_ends(&h, update_all, s, h.total) > 9);
        CHECK(tells_until_it_ends(&h, return_all, s, h.total) > 9);
        CHECK(tells_until_it_ends(&h, return_all_or_nothing, s, h.total) > 9);
        CHECK(data[0] == 7 && data[BYTES / 2] == 7 && data[BYTES - 1] == 7);
        haul_shipment_free(&s);
        haul_arena_free(&arena);
        haul_device_close(&device);
        fault_check_clean(&plan);
    }
}

TEST(ship, a_return_in_pieces_tells_progress_and_can_be_cancelled_at_each)
{
    enum { BYTES = 5 << 20, CHUNK = 1 << 16 };
    haul_type *bulk;
    haul_device *device;
    haul_shipment *s;
    test_device options;
    fault_plan plan;
    hearing h;
    unsigned char *data = malloc(BYTES);
    CHECK(data != NULL);
    memset(&plan, 0, sizeof plan);
    plan.chunk_bytes = CHUNK;
    memset(data, 3, BYTES);
    memset(&h, 0, sizeof h);
    memset(&options, 0, sizeof options);
    options.new_context.progress = hear;
    options.new_context.progress_user = &h;
    CHECK_STATUS(fault_open(&plan, &options, &device), HAUL_OK);
    CHECK_STATUS(type_make("bulk", 1 << 20, NULL, 0, &bulk), HAUL_OK);
    CHECK_STATUS(haul_type_commit(bulk), HAUL_OK);
    CHECK_STATUS(haul_ship(device, data, bulk, BYTES >> 20, NULL, &s), HAUL_OK);
    memset(data, 4, BYTES);
    h.refuse_at = 1;
    h.calls = 0;
    CHECK_STATUS(haul_unmarshal(s), HAUL_ERROR_CANCELLED);
    CHECK(data[0] == 4 && data[BYTES / 2] == 4 && data[BYTES - 1] == 4);
    CHECK(tells_until_it_ends(&h, return_all, s, h.total) > 9);
    CHECK(data[0] == 3 && data[BYTES / 2] == 3 && data[BYTES - 1] == 3);
    memset(data, 4, BYTES);
    h.refuse_at = 5;
    h.calls = 0;
    CHECK_STATUS(return_all_or_nothing(s), HAUL_ERROR_CANCELLED);
    CHECK(data[0] == 4 && data[BYTES / 2] == 4 && data[BYTES - 1] == 4);
    CHECK(tells_until_it_ends(&h, return_all_or_nothing, s, h.total) > 9);
    CHECK(data[0] == 3 && data[BYTES / 2] == 3 && data[BYTES - 1] == 3);
    haul_shipment_free(&s);
    haul_type_free(&bulk);
    haul_device_close(&device);
    fault_check_clean(&plan);
    free(data);
}

/* It is compared with its plan before the first piece, which a listener hears of, too. */
TEST(ship, a_refresh_in_pieces_tells_before_it_packs_and_can_be_cancelled_at_each_report)
{
    enum { BYTES = 136 << 20, CHUNK = 16 << 20 };
    haul_type *bulk;
    haul_device *device;
    haul_shipment *s;
    test_device options;
    fault_plan plan;
    hearing h;
    unsigned char *data = calloc(BYTES, 1);
    CHECK(data != NULL);
    memset(&plan, 0, sizeof plan);
    plan.chunk_bytes = CHUNK;
    memset(&h, 0, sizeof h);
    memset(&options, 0, sizeof options);
    options.new_context.progress = hear;
    options.new_context.progress_user = &h;
    CHECK_STATUS(fault_open(&plan, &options, &device), HAUL_OK);
    CHECK_STATUS(type_make("bulk", 1 << 20, NULL, 0, &bulk), HAUL_OK);
    CHECK_STATUS(haul_type_commit(bulk), HAUL_OK);
    CHECK_STATUS(haul_ship(device, data, bulk, BYTES >> 20, NULL, &s), HAUL_OK);
    memset(&h, 0, sizeof h);
    CHECK_STATUS(update_all(s), HAUL_OK);
    CHECK(h.nothings >= 3);
    CHECK(tells_until_it_ends(&h, update_all, s, h.total) > 9);
    haul_shipment_free(&s);
    haul_type_free(&bulk);
    haul_device_close(&device);
    fault_check_clean(&plan);
    free(data);
}

/* ---- Handles. */

TEST(device, a_table_that_cannot_be_used_is_refused)
{
    haul_device_table table = *haul_host_device();
    haul_context *context;
    haul_device *device = (haul_device *)(void *)&table;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_device_open(context, NULL, NULL, &device), HAUL_ERROR_ARGUMENT);
    CHECK_PTR(device, NULL);
    CHECK_STATUS(haul_device_open(context, &table, NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_device_open((haul_context *)(void *)&table, &table, NULL, &device),
                 HAUL_ERROR_ARGUMENT);
    CHECK_PTR(device, NULL);
    table.wait = NULL;
    CHECK_STATUS(haul_device_open(context, &table, NULL, &device), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "a verb that every device has");
    CHECK_PTR(device, NULL);
    haul_context_free(&context);
}

/* A table of a later version, and one of an earlier version. */
TEST(device, a_table_may_be_longer_or_shorter_as_long_as_no_verb_is_unknown)
{
    struct {
        haul_device_table table;
        void (*verb)(void);
    } later;
    struct {
        char room[sizeof(haul_device_table)];
    } earlier;
    haul_device_table table = *haul_host_device();
    haul_context *context;
    haul_device *device;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    memset(&later, 0, sizeof later);
    later.table = table;
    later.table.table_bytes = sizeof later;
    CHECK_STATUS(haul_device_open(context, &later.table, NULL, &device), HAUL_OK);
    haul_device_close(&device);
    memset(&later.verb, 1, sizeof later.verb);
    CHECK_STATUS(haul_device_open(context, &later.table, NULL, &device), HAUL_ERROR_VERSION);
    CHECK_HAS(haul_context_error(context)->text, "verbs that this version of the library lacks");
    table.table_bytes = offsetof(haul_device_table, send);
    memset(&earlier, 1, sizeof earlier);
    memcpy(&earlier, &table, table.table_bytes);
    CHECK_STATUS(haul_device_open(context, (haul_device_table *)(void *)&earlier, NULL, &device),
                 HAUL_OK);
    haul_device_close(&device);
    table.table_bytes = offsetof(haul_device_table, wait);
    CHECK_STATUS(haul_device_open(context, &table, NULL, &device), HAUL_ERROR_ARGUMENT);
    table.table_bytes = SIZE_MAX;
    CHECK_STATUS(haul_device_open(context, &table, NULL, &device), HAUL_ERROR_VERSION);
    haul_context_free(&context);
}

static int64_t settings_read;

static haul_status read_settings(const void *settings, const haul_allocator *allocator,
                                 void **state)
{
    memcpy(&settings_read, settings, sizeof settings_read);
    return haul_host_device()->open(NULL, allocator, state);
}

TEST(device, a_back_end_reads_settings_of_its_own_size)
{
    const int64_t settings[2] = { 5, 0 }, later[2] = { 5, 1 };
    haul_device_table table = *haul_host_device();
    haul_context *context;
    haul_device *device;
    table.open = read_settings;
    table.settings_bytes = sizeof *settings;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_device_open(context, &table, settings, &device), HAUL_OK);
    haul_device_close(&device);
    CHECK_EQ(settings_read, 5);
    CHECK_STATUS(haul_device_open_sized(context, &table, settings, sizeof settings, &device),
                 HAUL_OK);
    haul_device_close(&device);
    CHECK_EQ(settings_read, 5);
    CHECK_STATUS(haul_device_open(context, &table, NULL, &device), HAUL_OK);
    haul_device_close(&device);
    CHECK_EQ(settings_read, 0);
    settings_read = 7;
    CHECK_STATUS(haul_device_open_sized(context, &table, later, sizeof later, &device),
                 HAUL_ERROR_VERSION);
    CHECK_PTR(device, NULL);
    CHECK_EQ(settings_read, 7);
    haul_context_free(&context);
}

static haul_status open_nothing(const void *settings, const haul_allocator *allocator, void **state)
{
    (void)settings;
    (void)allocator;
    (void)state;
    return HAUL_ERROR_UNSUPPORTED;
}

TEST(device, one_that_is_not_there_is_unsupported_and_the_shared_context_says_so_D10_D11)
{
    haul_device_table table = *haul_host_device();
    test_device options;
    haul_device *device;
    memset(&options, 0, sizeof options);
    CHECK_STATUS(haul_context_create(NULL, &options.context), HAUL_OK);
    table.open = open_nothing;
    table.name = "nothing";
    CHECK_STATUS(test_open(&table, &options, &device), HAUL_ERROR_UNSUPPORTED);
    CHECK_PTR(device, NULL);
    CHECK_EQ(haul_context_error(options.context)->status, HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(haul_context_error(options.context)->text, "nothing");
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    haul_device_close(&device);
    haul_context_free(&options.context);
}

/* On a machine with a GPU, tests/cuda hides it and asks the same. */
TEST(device, without_a_gpu_there_is_no_cuda_device_and_the_host_goes_on_D10)
{
    haul_context *context;
    haul_device *device;
    if (haul_cuda_count() > 0)
        return;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_cuda_open(context, NULL, &device), HAUL_ERROR_UNSUPPORTED);
    CHECK_PTR(device, NULL);
    CHECK_HAS(haul_context_error(context)->text, "the device \"cuda\" could not be opened: ");
    CHECK_HAS(haul_context_error(context)->text, "the host device"); /* what can be done */
    haul_context_free(&context);
    device = host_device();
    haul_device_close(&device);
}

TEST(device, a_handle_answers_questions_and_a_null_one_does_too)
{
    haul_device *device = host_device();
    haul_device_info info;
    haul_shipment_info statistics;
    haul_device_get_info(device, &info);
    CHECK_STR(info.name, "host");
    CHECK(info.capabilities->allocate_alignment > 0);
    haul_device_get_info(NULL, &info);
    CHECK_STR(info.name, "");
    CHECK_PTR(info.capabilities, NULL);
    haul_device_get_info(device, NULL);
    CHECK(haul_device_context(device) != NULL);
    CHECK_EQ(haul_context_error(haul_device_context(device))->status, HAUL_OK);
    CHECK_PTR(haul_device_context(NULL), NULL);
    CHECK_PTR(haul_device_state(NULL), NULL);
    memset(&statistics, 1, sizeof statistics);
    haul_shipment_get_info(NULL, &statistics);
    CHECK_EQ(statistics.transfers_to, 0);
    haul_shipment_get_info(NULL, NULL);
    haul_device_close(&device);
}
