/* Pointers with high tags in arenas: the host writes the device's address on the way there and
 * takes it apart on the way back; on a refresh, on another device, in pieces that end within such a
 * word, and off the grid.
 *
 * Faults by number (docs/testing.md): D14 (a word that leads out of the arena), H1, H2. Where
 * pointers have 4 bytes, no address of a test leaves a bit free.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

#define TAG(n) ((uintptr_t)(n) << (sizeof(void *) > 4 ? 48 : 0))
#define HAS_ROOM (sizeof(void *) > 4)

/* Of 20 bytes, so that words lie anywhere. */
#pragma pack(push, 1)
typedef struct ticket {
    int32_t number;
    uintptr_t next;  /* a ticket, with a tag */
    uintptr_t other; /* an alias, with a tag */
} ticket;
#pragma pack(pop)

static haul_type *ticket_type;
static haul_device *device, *other;
static haul_arena *arena;
static haul_shipment *shipment;

static void ticket_open(void)
{
    haul_field fields[] = {
        HAUL_ADDRESS(ticket, next, .target = &ticket_type, .tag_bits = HAUL_HIGH_TAGS),
        HAUL_ADDRESS(ticket, other, .target = &ticket_type, .ownership = HAUL_BORROWED,
                     .tag_bits = HAUL_HIGH_TAGS),
    };
    fields[0].packed = fields[1].packed = 1;
    CHECK_STATUS(type_make("ticket", sizeof(ticket), fields, 2, &ticket_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(ticket_type), HAUL_OK);
}

static ticket *untagged(uintptr_t word)
{
    return (ticket *)(word & ~HAUL_HIGH_TAGS);
}

/* A chain through an array; each one's other is itself, the last one's next a tag alone. */
static ticket *tickets_make(size_t count)
{
    ticket *all = haul_arena_bytes(arena, count * sizeof *all, 0);
    size_t i;
    CHECK(all != NULL);
    for (i = 0; i < count; i++) {
        all[i].number = (int32_t)i;
        all[i].next = (i + 1 < count ? (uintptr_t)&all[i + 1] : 0) | TAG((i + 1) & 0xFFFF);
        all[i].other = (uintptr_t)&all[i] | TAG(7);
    }
    return all;
}

/* ---- A device like the host's, with pieces of a size of its own, and addresses with a bit of a
 * tag where asked. */

static size_t chunk_bytes;
static int is_high; /* what is allocated from now on */

#define HIGH TAG(4)

static haul_address low(haul_address address)
{
    return address & ~(haul_address)HIGH;
}

static void pieces(void *state, haul_device_capabilities *capabilities, size_t bytes)
{
    haul_host_device()->capabilities(state, capabilities, bytes);
    capabilities->chunk_bytes = chunk_bytes;
    capabilities->send_bytes = capabilities->fetch_bytes = 0;
}

static haul_status allocate_high(void *state, uint64_t bytes, size_t alignment,
                                 haul_address *address)
{
    haul_status status = haul_host_device()->allocate(state, bytes, alignment, address);
    if (status == HAUL_OK && is_high)
        *address |= HIGH;
    return status;
}

static void release_high(void *state, haul_address address, uint64_t bytes)
{
    haul_host_device()->release(state, low(address), bytes);
}

static haul_status copy_to_high(void *state, haul_address to, const void *from, size_t bytes)
{
    return haul_host_device()->copy_to(state, low(to), from, bytes);
}

static haul_status copy_from_high(void *state, void *to, haul_address from, size_t bytes)
{
    return haul_host_device()->copy_from(state, to, low(from), bytes);
}

static haul_status across_high(void *state, haul_address to, void *from_state, haul_address from,
                               size_t bytes)
{
    return haul_host_device()->across(state, low(to), from_state, low(from), bytes);
}

static haul_device *open_like(haul_device *first)
{
    static haul_device_table table;
    test_device options;
    haul_device *opened;
    table = *haul_host_device();
    table.capabilities = pieces;
    table.allocate = allocate_high;
    table.release = release_high;
    table.copy_to = copy_to_high;
    table.copy_from = copy_from_high;
    table.across = across_high;
    memset(&options, 0, sizeof options);
    options.context = first ? haul_device_context(first) : NULL;
    CHECK_STATUS(test_open(&table, &options, &opened), HAUL_OK);
    return opened;
}

static void start(size_t chunk)
{
    chunk_bytes = chunk;
    is_high = 0;
    ticket_open();
    device = open_like(NULL);
    other = open_like(device);
    CHECK_STATUS(test_arena(device, NULL, &arena), HAUL_OK);
}

static void end(void)
{
    haul_host_counters now;
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    CHECK_STATUS(haul_host_get_counters(device, &now), HAUL_OK);
    CHECK_EQ(now.bytes_live, 0);
    haul_device_close(&other);
    haul_device_close(&device);
    haul_type_free(&ticket_type);
    chunk_bytes = 0;
}

static haul_status ship(ticket *first)
{
    return haul_ship_from(device, haul_from_arena_root(arena, first, ticket_type), NULL, NULL,
                          &shipment);
}

/* ---- There. */

typedef struct look {
    ticket *first;
    size_t count;
    int good;
} look;

static void walk_chain(void *argument)
{
    look *l = argument;
    ticket *at = l->first;
    size_t i;
    l->good = 1;
    for (i = 0; at; i++) {
        l->good &= at->number == (int32_t)i && at->other == ((uintptr_t)at | TAG(7)) &&
                   (at->next & HAUL_HIGH_TAGS) == TAG((i + 1) & 0xFFFF);
        at = untagged(at->next);
    }
    l->good &= i == l->count;
}

static void check_chain(haul_device *on, haul_shipment *s, const ticket *first, size_t count)
{
    look l;
    l.first = haul_device_pointer(s, first);
    l.count = count;
    CHECK_STATUS(haul_host_launch(on, walk_chain, &l), HAUL_OK);
    CHECK(l.good);
}

static void go_everywhere(size_t count, size_t chunk)
{
    haul_shipment *copy;
    ticket *all;
    start(chunk);
    all = tickets_make(count);
    CHECK_STATUS(ship(all), HAUL_OK);
    check_chain(device, shipment, all, count);
    all[0].number = -1;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    all[0].number = 0;
    CHECK_STATUS(haul_update_device(shipment, RANGE(all, sizeof *all), NULL), HAUL_OK);
    check_chain(device, shipment, all, count);
    CHECK_STATUS(haul_shipment_copy(shipment, other, &copy), HAUL_OK);
    haul_shipment_free(&shipment);
    shipment = copy;
    check_chain(other, shipment, all, count);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_reship(shipment, NULL), HAUL_OK);
    check_chain(other, shipment, all, count);
    CHECK_EQ(all[1].next, (uintptr_t)&all[2] | TAG(2));
    CHECK_EQ(all[1].other, (uintptr_t)&all[1] | TAG(7));
    CHECK_EQ(all[count - 1].next, TAG(count & 0xFFFF));
    end();
}

TEST(tags_in_arenas, they_hold_on_a_device_after_a_refresh_and_a_replan_and_on_another_device)
{
    if (HAS_ROOM)
        go_everywhere(100, 0);
}

TEST(tags_in_arenas, they_hold_where_an_arena_crosses_in_pieces_that_end_within_a_word)
{
    if (HAS_ROOM)
        go_everywhere(60000, 4096);
}

TEST(tags_in_arenas, a_word_that_the_host_has_changed_goes_with_a_refresh_as_it_is_now)
{
    ticket *all;
    look l;
    if (!HAS_ROOM)
        return;
    start(0);
    all = tickets_make(10);
    CHECK_STATUS(ship(all), HAUL_OK);
    all[3].next = TAG(4); /* the chain ends there */
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    l.first = haul_device_pointer(shipment, all);
    l.count = 4;
    CHECK_STATUS(haul_host_launch(device, walk_chain, &l), HAUL_OK);
    CHECK(l.good);
    end();
}

/* ---- Back. */

/* The second ticket follows the fourth, with another tag, and ends the chain. */
static void rewire(void *argument)
{
    ticket *first = argument, *second = untagged(first->next),
           *fourth = untagged(untagged(second->next)->next);
    first->number = 77;
    first->next = (uintptr_t)fourth | TAG(0x1234);
    fourth->next = (uintptr_t)second;
    second->next = TAG(5);
    second->other = 0;
}

TEST(tags_in_arenas, what_the_device_has_made_of_them_comes_back_with_its_tags)
{
    haul_shipment *copy;
    ticket *all;
    if (!HAS_ROOM)
        return;
    start(0);
    all = tickets_make(5);
    CHECK_STATUS(ship(all), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, rewire, haul_device_pointer(shipment, all)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK_EQ(all[0].number, 77);
    CHECK_EQ(all[0].next, (uintptr_t)&all[1] | TAG(1)); /* pointers never come with data */
    CHECK_STATUS(haul_shipment_copy(shipment, other, &copy), HAUL_OK);
    CHECK_STATUS(haul_update_host(copy, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_EQ(all[0].next, (uintptr_t)&all[3] | TAG(0x1234));
    CHECK_EQ(all[3].next, (uintptr_t)&all[1]);
    CHECK_EQ(all[1].next, TAG(5));
    CHECK_EQ(all[1].other, 0);
    CHECK_EQ(all[2].next, (uintptr_t)&all[3] | TAG(3));
    haul_shipment_free(&copy);
    end();
}

static void lead_out(void *argument)
{
    ticket *first = argument;
    first->number = 77;
    first->next = (uintptr_t)0x1000 | TAG(3);
}

/* Ships tickets, and lets a kernel lead the first of them out. */
static ticket *led_out(size_t count)
{
    ticket *all;
    start(0);
    all = tickets_make(count);
    CHECK_STATUS(ship(all), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, lead_out, haul_device_pointer(shipment, all)), HAUL_OK);
    return all;
}

TEST(tags_in_arenas, one_that_leads_out_is_refused_before_anything_is_written_D14)
{
    ticket *all;
    if (!HAS_ROOM)
        return;
    all = led_out(3);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(haul_device_context(device))->text,
              "a tagged pointer at byte 4 of the arena");
    CHECK_EQ(all[0].number, 0);
    CHECK_EQ(all[0].next, (uintptr_t)&all[1] | TAG(1));
    end();
}

TEST(tags_in_arenas, those_that_lead_out_can_be_left_and_counted)
{
    const haul_update_options how = { .pointers = 1, .leave_outside = 1 };
    haul_shipment_info info;
    ticket *all;
    if (!HAS_ROOM)
        return;
    all = led_out(3);
    CHECK_STATUS(haul_host_launch(device, lead_out, haul_device_pointer(shipment, all + 2)),
                 HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, &how, NULL), HAUL_OK);
    CHECK_EQ(all[0].number, 77);
    CHECK_EQ(all[0].next, (uintptr_t)&all[1] | TAG(1));
    CHECK_EQ(all[2].next, TAG(3));
    haul_shipment_get_info(shipment, &info);
    CHECK_EQ(info.pointers_left, 2);
    end();
}

/* ---- Addresses without room. */

TEST(tags_in_arenas, an_address_with_bits_of_the_tag_is_refused_with_its_place)
{
    ticket *all;
    if (!HAS_ROOM)
        return;
    start(0);
    all = tickets_make(3);
    is_high = 1;
    CHECK_STATUS(ship(all), HAUL_ERROR_LIMIT);
    CHECK_PTR(shipment, NULL);
    CHECK_STR(haul_context_error(haul_device_context(device))->path, "arena+4");
    CHECK_HAS(haul_context_error(haul_device_context(device))->text, "has bits of its tag");
    CHECK_EQ(all[0].next, (uintptr_t)&all[1] | TAG(1));
    is_high = 0;
    CHECK_STATUS(ship(all), HAUL_OK);
    check_chain(device, shipment, all, 3);
    end();
}

TEST(tags_in_arenas, a_copy_to_such_an_address_is_refused_and_leaves_the_first_as_it_was)
{
    haul_shipment *copy;
    ticket *all;
    if (!HAS_ROOM)
        return;
    start(0);
    all = tickets_make(3);
    CHECK_STATUS(ship(all), HAUL_OK);
    is_high = 1;
    CHECK_STATUS(haul_shipment_copy(shipment, other, &copy), HAUL_ERROR_LIMIT);
    CHECK_PTR(copy, NULL);
    CHECK_STR(haul_context_error(haul_device_context(other))->path, "arena+4");
    check_chain(device, shipment, all, 3);
    is_high = 0;
    end();
}

/* ---- Memory that runs out. */

static ticket *the_first;
static haul_shipment *the_copy;

static void work_prepare(void *user, fault_plan *plan)
{
    test_device options;
    (void)user;
    CHECK_STATUS(fault_open(plan, NULL, &device), HAUL_OK);
    memset(&options, 0, sizeof options);
    options.context = haul_device_context(device);
    CHECK_STATUS(fault_open(plan, &options, &other), HAUL_OK);
    CHECK_STATUS(test_arena(device, NULL, &arena), HAUL_OK);
    the_first = tickets_make(40);
}

static void work_undo(void *user)
{
    (void)user;
    haul_shipment_free(&the_copy);
    haul_shipment_free(&shipment);
}

static haul_status work_run(void *user)
{
    haul_status status = ship(the_first);
    if (status == HAUL_OK)
        status = haul_shipment_copy(shipment, other, &the_copy);
    if (status == HAUL_OK)
        status = haul_update_host(the_copy, WITH_POINTERS, NULL);
    if (status != HAUL_OK)
        work_undo(user);
    return status;
}

static void work_finish(void *user)
{
    (void)user;
    CHECK_EQ(the_first[0].next, (uintptr_t)&the_first[1] | TAG(1));
    haul_arena_free(&arena);
    haul_device_close(&other);
    haul_device_close(&device);
}

TEST(tags_in_arenas, every_allocation_and_every_order_for_them_can_fail_H1_H2)
{
    fault_operation operation;
    if (!HAS_ROOM)
        return;
    ticket_open();
    memset(&operation, 0, sizeof operation);
    operation.prepare = work_prepare;
    operation.run = work_run;
    operation.undo = work_undo;
    operation.finish = work_finish;
    operation.keeps = 1; /* each device grows its ring */
    CHECK(fault_everywhere(&operation) > 10);
    haul_type_free(&ticket_type);
}
