/* Pointers with tags in their top bits: the host works them out for any place of the arena, on a
 * device that patches the other pointers, on one that patches none, after a refresh, and in a copy
 * of the arena.
 *
 * Faults by number (docs/testing.md): D13 (a tagged word that has changed), D14 (one that leads out
 * of the graph), H1, H2. Where pointers have 4 bytes, no address of a test leaves a bit free, so
 * only the descriptions are tested.
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"
#include "ship_graphs.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

#define TAGS HAUL_HIGH_TAGS
#define TAG(n) ((uintptr_t)(n) << (sizeof(void *) > 4 ? 48 : 0))
#define HAS_ROOM (sizeof(void *) > 4)

/* A version in the top bits, a colour in the lowest one. */
typedef struct stamped {
    uintptr_t next;
    struct stamped *back;
    uintptr_t other; /* an alias */
    double value;
} stamped;

static haul_type *stamped_type;

static void stamped_open(void)
{
    static const haul_field fields[] = {
        HAUL_ADDRESS(stamped, next, .target = &stamped_type, .tag_bits = TAGS | 1),
        HAUL_OBJECT(stamped, back, &stamped_type),
        HAUL_ADDRESS(stamped, other, .target = &stamped_type, .ownership = HAUL_BORROWED,
                     .tag_bits = TAGS),
    };
    CHECK_STATUS(type_make("stamped", sizeof(stamped), fields, sizeof fields / sizeof *fields,
                           &stamped_type),
                 HAUL_OK);
    if (haul_type_commit(stamped_type) != HAUL_OK)
        check_note("%s", type_error()->text);
    CHECK(haul_type_committed(stamped_type));
}

/* ---- Packed. */

static stamped *stamped_make(stamped *next, uintptr_t tag)
{
    stamped *s = take(sizeof *s, 16);
    s->next = (uintptr_t)next | tag;
    s->other = (uintptr_t)s | TAG(9);
    own_check(&s->next, sizeof s->next), own_check(&s->other, sizeof s->other);
    points(&s->back);
    if (next)
        next->back = s;
    return s;
}

TEST(tags, high_tags_travel_with_their_pointers_and_have_no_bit)
{
    stamped *last, *middle, *first;
    unsigned char *based;
    uint64_t *bitmap;
    if (!HAS_ROOM)
        return;
    lab_start();
    stamped_open();
    last = stamped_make(NULL, TAG(0xFFFF) | 1);
    middle = stamped_make(last, 0);
    first = stamped_make(middle, TAG(0x8001) | 1);
    lab_pack(first, stamped_type, 1);
    CHECK_EQ(copied_word(&first->next), offset_of(middle) | TAG(0x8001) | 1);
    CHECK_EQ(copied_word(&middle->next), offset_of(last));
    CHECK_EQ(copied_word(&last->next), TAG(0xFFFF) | 1);
    CHECK_EQ(bit_at(offset_of(&first->next)), 0);
    CHECK_EQ(the.statistics.pointers, 9);
    pack_once(&based, &bitmap, 0x55, LAB_BASE);
    CHECK_EQ(word_at(based + offset_of(&first->next)),
             (LAB_BASE + offset_of(middle)) | TAG(0x8001) | 1);
    CHECK_EQ(word_at(based + offset_of(&middle->next)), LAB_BASE + offset_of(last));
    CHECK_EQ(word_at(based + offset_of(&first->other)), (LAB_BASE + offset_of(first)) | TAG(9));
    free(based);
    free(bitmap);
    haul_type_free(&stamped_type);
    lab_end();
}

TEST(tags, an_address_with_bits_of_the_tag_is_refused_with_its_path)
{
    stamped *last, *first;
    if (!HAS_ROOM)
        return;
    lab_start();
    stamped_open();
    last = stamped_make(NULL, 0);
    first = stamped_make(last, TAG(1));
    lab_pack(first, stamped_type, 1);
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, TAG(4), the.bitmap),
                 HAUL_ERROR_LIMIT);
    CHECK_STR(haul_context_error(the.context)->path,
              "root.next.other"); /* the first in order of address */
    CHECK_HAS(haul_context_error(the.context)->text, "has bits of its tag");
    haul_type_free(&stamped_type);
    lab_end();
}

TEST(tags, a_tagged_pointer_that_has_changed_in_any_bit_makes_the_plan_stale_D13)
{
    stamped *last, *first;
    if (!HAS_ROOM)
        return;
    lab_start();
    stamped_open();
    last = stamped_make(NULL, 0);
    first = stamped_make(last, TAG(1));
    lab_pack(first, stamped_type, 1);
    first->next ^= TAG(2);
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.next");
    first->next ^= TAG(2);
    last->next = TAG(1);
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.next.next");
    last->next = 0;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_OK);
    haul_type_free(&stamped_type);
    lab_end();
}

/* Off the grid, into the middle of an array that begins elsewhere, of a length of its own. */
#pragma pack(push, 1)
typedef struct packed {
    int32_t n;
    uintptr_t values; /* from [1] on; the tag is any of 16 bits */
} packed;
#pragma pack(pop)

TEST(tags, high_tags_go_with_biases_and_with_fields_off_the_grid)
{
    haul_field field = { .name = "values",
                         .kind = HAUL_FIELD_POINTER,
                         .offset = offsetof(packed, values),
                         .bytes = sizeof(uintptr_t),
                         .element_bytes = sizeof(int32_t),
                         .count = HAUL_COUNT(packed, n),
                         .packed = 1 };
    haul_type *type;
    packed *p;
    int32_t *values;
    if (!HAS_ROOM)
        return;
    lab_start();
    field.tag_bits = TAGS;
    field.base = sizeof(int32_t);
    CHECK_STATUS(type_make("packed", sizeof(packed), &field, 1, &type), HAUL_OK);
    type_commit(type);
    p = take(sizeof *p, 4);
    memset(the.what + lab_offset(take(64, 4)), OF_NOBODY, 64);
    values = take(3 * sizeof *values, 4);
    p->n = 3;
    p->values = ((uintptr_t)values - sizeof *values) | TAG(0xABCD);
    own_check(&p->values, sizeof p->values);
    lab_pack(p, type, 1);
    CHECK_EQ(copied_word(&p->values), (offset_of(values) - sizeof *values) | TAG(0xABCD));
    p->n = 0; /* to no elements: the tag alone */
    memset(the.what + lab_offset(values), OF_NOBODY, 3 * sizeof *values);
    lab_pack(p, type, 1);
    CHECK_EQ(copied_word(&p->values), TAG(0xABCD));
    haul_type_free(&type);
    lab_end();
}

/* ---- Boxed numbers: a word is a pointer if its top bits say so, else a number. */

#define BOX TAG(0xFFFB)

typedef struct boxed {
    uint64_t slot[3];
} boxed;

static haul_type *boxed_type;

static int64_t holds_pointer(const haul_here *here)
{
    uint64_t word;
    memcpy(&word, here->place, sizeof word);
    return word >> 48 == 0xFFFB;
}

TEST(tags, numbers_in_the_place_of_pointers_travel_and_come_back)
{
    static const haul_field fields[] = { HAUL_ADDRESS(boxed, slot, .target = &boxed_type,
                                                      .when = HAUL_WHEN_FN(holds_pointer),
                                                      .else_raw = 1, .tag_bits = TAGS) };
    const double number = -0.1;
    boxed *root, *leaf;
    if (!HAS_ROOM)
        return;
    lab_start();
    boxed_type = TYPE_OPEN(boxed, fields);
    type_commit(boxed_type);
    root = take(sizeof *root, 8);
    leaf = take(sizeof *leaf, 8);
    memcpy(&root->slot[0], &number, sizeof number);
    root->slot[1] = (uintptr_t)leaf | BOX;
    own_check(&root->slot[1], 8);
    leaf->slot[2] = (uintptr_t)root | BOX;
    own_check(&leaf->slot[2], 8);
    leaf->slot[0] = UINT64_C(0x7ff8000000000000);
    lab_pack(root, boxed_type, 1);
    CHECK_EQ(copied_word(&root->slot[1]), offset_of(leaf) | BOX);
    CHECK_EQ(copied_word(&leaf->slot[2]), offset_of(root) | BOX);
    haul_type_free(&boxed_type);
    lab_end();
}

/* ---- Shipped. */

enum { CHAIN = 200 };

static stamped *chain_make(world *w, size_t count)
{
    stamped *all = world_take(w, count * sizeof *all, 16);
    size_t i;
    memset(all, 0, count * sizeof *all);
    for (i = 0; i < count; i++) {
        all[i].next =
            (i + 1 < count ? (uintptr_t)&all[i + 1] : 0) | TAG((i + 1) & 0xFFFF) | ((i + 1) & 1);
        all[i].other = (uintptr_t)&all[i] | TAG(7);
        all[i].value = (double)(i + 1);
        all[i].back = i > 0 ? &all[i - 1] : NULL;
    }
    return all;
}

static stamped *untagged(uintptr_t word)
{
    return (stamped *)(word & ~(TAGS | 1));
}

typedef struct look {
    stamped *first;
    size_t count;
    int good;
} look;

/* A kernel: the whole chain, forth and back. */
static void walk_chain(void *argument)
{
    look *l = argument;
    stamped *at = l->first, *last = NULL;
    size_t i;
    l->good = 1;
    for (i = 1; at; i++) {
        l->good &= at->back == last && at->value == (double)i &&
                   at->other == ((uintptr_t)at | TAG(7)) && (at->next & TAGS) == TAG(i & 0xFFFF) &&
                   (at->next & 1) == (i & 1);
        last = at;
        at = untagged(at->next);
    }
    l->good &= i == l->count + 1;
}

static void check_chain(haul_device *device, haul_shipment *s, stamped *first, size_t count,
                        world *w)
{
    look l;
    l.first = haul_device_pointer(s, first);
    l.count = count;
    world_protect(w, PROT_NONE);
    CHECK_STATUS(haul_host_launch(device, walk_chain, &l), HAUL_OK);
    world_protect(w, PROT_READ | PROT_WRITE);
    CHECK(l.good);
}

static size_t chunk_bytes;

static void small_pieces(void *state, haul_device_capabilities *capabilities, size_t bytes)
{
    haul_host_device()->capabilities(state, capabilities, bytes);
    capabilities->chunk_bytes = chunk_bytes;
    if (chunk_bytes)
        capabilities->send_bytes = capabilities->fetch_bytes = 0;
}

static haul_device *open_like(haul_device *first)
{
    static haul_device_table table;
    test_device options;
    haul_device *device;
    table = *haul_host_device();
    table.capabilities = small_pieces;
    memset(&options, 0, sizeof options);
    options.context = first ? haul_device_context(first) : NULL;
    CHECK_STATUS(test_open(&table, &options, &device), HAUL_OK);
    return device;
}

static void go_everywhere(size_t count, size_t chunk, int on_host)
{
    haul_device *device, *other;
    haul_shipment *s, *copy;
    stamped *first;
    world w;
    chunk_bytes = chunk;
    device = open_like(NULL);
    other = open_like(device);
    stamped_open();
    world_start(&w, (size_t)1 << 22);
    first = chain_make(&w, count);
    host_patches(device, on_host);
    CHECK_STATUS(haul_ship(device, first, stamped_type, 1, NULL, &s), HAUL_OK);
    check_chain(device, s, first, count, &w);
    first->value = 1;
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    check_chain(device, s, first, count, &w);
    CHECK_STATUS(haul_shipment_copy(s, other, &copy), HAUL_OK);
    check_chain(other, copy, first, count, &w);
    haul_shipment_free(&s);
    check_chain(other, copy, first, count, &w);
    CHECK_STATUS(haul_update_host(copy, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_reship(copy, NULL), HAUL_OK);
    check_chain(other, copy, first, count, &w);
    haul_shipment_free(&copy);
    world_end(&w);
    haul_type_free(&stamped_type);
    haul_device_close(&other);
    haul_device_close(&device);
    chunk_bytes = 0;
}

TEST(tags, tagged_pointers_hold_on_a_device_after_a_refresh_and_on_another_device)
{
    if (!HAS_ROOM)
        return;
    go_everywhere(CHAIN, 0, 0);
    go_everywhere(CHAIN, 0, 1);
}

TEST(tags, tagged_pointers_hold_where_an_arena_crosses_in_pieces)
{
    if (!HAS_ROOM)
        return;
    go_everywhere(20000, 65536, 0);
}

/* The device has the second object follow the fourth, with another tag, and ends the chain
 * there. */
static void rewire(void *argument)
{
    look *l = argument;
    stamped *second = untagged(l->first->next), *third = untagged(second->next),
            *fourth = untagged(third->next);
    l->first->next = (uintptr_t)fourth | TAG(0x1234);
    fourth->next = (uintptr_t)second;
    second->next = TAG(5);
    third->other = 0;
}

TEST(tags, what_the_device_has_made_of_tagged_pointers_comes_back_with_its_tags)
{
    haul_device *device, *other;
    haul_shipment *s, *copy;
    stamped *first, *second, *third, *fourth;
    world w;
    look l;
    if (!HAS_ROOM)
        return;
    device = open_like(NULL);
    other = open_like(device);
    stamped_open();
    world_start(&w, 1 << 16);
    first = chain_make(&w, 5);
    second = untagged(first->next), third = untagged(second->next), fourth = untagged(third->next);
    CHECK_STATUS(haul_ship(device, first, stamped_type, 1, NULL, &s), HAUL_OK);
    l.first = haul_device_pointer(s, first);
    CHECK_STATUS(haul_host_launch(device, rewire, &l), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK_EQ(first->next, (uintptr_t)second | TAG(1) | 1); /* pointers never come with data */
    CHECK_STATUS(haul_shipment_copy(s, other, &copy), HAUL_OK);
    CHECK_STATUS(haul_update_host(copy, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_EQ(first->next, (uintptr_t)fourth | TAG(0x1234));
    CHECK_EQ(fourth->next, (uintptr_t)second);
    CHECK_EQ(second->next, TAG(5));
    CHECK_EQ(third->other, 0);
    CHECK_EQ(third->next, (uintptr_t)fourth | TAG(3) | 1);
    haul_shipment_free(&copy);
    haul_shipment_free(&s);
    world_end(&w);
    haul_type_free(&stamped_type);
    haul_device_close(&other);
    haul_device_close(&device);
}

static void lead_out(void *argument)
{
    look *l = argument;
    l->first->next = (uintptr_t)0x1000 | TAG(3);
}

/* Kernels lead `count` pointers of a chain out; then all pointers are asked back. */
static void return_led_out(const haul_update_options *how, int count, haul_status expected)
{
    haul_shipment_info info;
    haul_device *device;
    haul_shipment *s;
    stamped *first;
    uintptr_t next;
    world w;
    look l;
    int i;
    if (!HAS_ROOM)
        return;
    device = open_like(NULL);
    stamped_open();
    world_start(&w, 1 << 16);
    first = chain_make(&w, 3);
    next = first->next;
    CHECK_STATUS(haul_ship(device, first, stamped_type, 1, NULL, &s), HAUL_OK);
    for (i = 0; i < count; i++) {
        l.first = haul_device_pointer(s, first + i);
        CHECK_STATUS(haul_host_launch(device, lead_out, &l), HAUL_OK);
    }
    CHECK_STATUS(haul_update_host(s, how, NULL), expected);
    CHECK_EQ(first->next, next);
    haul_shipment_get_info(s, &info);
    if (expected == HAUL_OK)
        CHECK_EQ(info.pointers_left, count);
    else
        CHECK_STR(haul_context_error(haul_device_context(device))->path, "root.next");
    haul_shipment_free(&s);
    world_end(&w);
    haul_type_free(&stamped_type);
    haul_device_close(&device);
}

TEST(tags, a_tagged_pointer_that_leads_out_of_the_graph_is_refused_before_anything_is_written_D14)
{
    return_led_out(WITH_POINTERS, 1, HAUL_ERROR_GRAPH);
}

TEST(tags, tagged_pointers_that_lead_out_can_be_left_and_counted)
{
    const haul_update_options how = { .pointers = 1, .leave_outside = 1 };
    return_led_out(&how, 2, HAUL_OK);
}

/* ---- Memory that runs out. */

typedef struct tag_work {
    haul_device *device, *other;
    stamped *first;
    haul_shipment *s, *copy;
} tag_work;

static void work_prepare(void *user, fault_plan *plan)
{
    tag_work *work = user;
    test_device options;
    CHECK_STATUS(fault_open(plan, NULL, &work->device), HAUL_OK);
    memset(&options, 0, sizeof options);
    options.context = haul_device_context(work->device);
    CHECK_STATUS(fault_open(plan, &options, &work->other), HAUL_OK);
}

static void work_undo(void *user)
{
    tag_work *work = user;
    haul_shipment_free(&work->copy);
    haul_shipment_free(&work->s);
}

static haul_status work_run(void *user)
{
    tag_work *work = user;
    haul_status status = haul_ship(work->device, work->first, stamped_type, 1, NULL, &work->s);
    if (status == HAUL_OK)
        status = haul_shipment_copy(work->s, work->other, &work->copy);
    if (status != HAUL_OK)
        work_undo(work);
    return status;
}

static void work_finish(void *user)
{
    tag_work *work = user;
    haul_device_close(&work->other);
    haul_device_close(&work->device);
}

TEST(tags, every_allocation_for_tagged_pointers_can_fail_H1_H2)
{
    tag_work work;
    fault_operation operation = { .prepare = work_prepare,
                                  .run = work_run,
                                  .undo = work_undo,
                                  .finish = work_finish,
                                  .user = &work,
                                  .keeps = 1 };
    world w;
    if (!HAS_ROOM)
        return;
    stamped_open();
    world_start(&w, 1 << 16);
    memset(&work, 0, sizeof work);
    work.first = chain_make(&w, 40);
    CHECK(fault_everywhere(&operation) > 10);
    world_end(&w);
    haul_type_free(&stamped_type);
}

/* ---- Wrong descriptions. */

TEST(tags, tag_bits_that_every_address_has_are_refused)
{
    haul_field field =
        HAUL_ADDRESS(stamped, next, .target = &stamped_type, .tag_bits = TAGS | 0x1000);
    CHECK_STATUS(type_make("stamped", sizeof(stamped), &field, 1, &stamped_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(stamped_type), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, "stamped.next");
    CHECK_HAS(type_error()->text, "hold bits 12 to 23, which every address has");
    haul_type_free(&stamped_type);
    field.tag_bits = TAGS | 63;
    CHECK_STATUS(type_make("stamped", sizeof(stamped), &field, 1, &stamped_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(stamped_type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "Tag bits up to 63 want a target that is aligned above them");
    haul_type_free(&stamped_type);
}
