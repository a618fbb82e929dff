/* Arenas on a device: shipped as they lie, walked there, and brought back.
 *
 * Faults by number (docs/testing.md): D1, D4, D5, D6, D13, H1, H2 of arenas.
 */
#include <stdio.h>

#include "arena_graphs.h"
#include "support/random.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "haul/experimental.h"

/* small enough to cross as one; not; to be patched on the way */
enum { FEW = 20, MANY = 60000, LARGE = 170000 };
enum { IN_PARTS = 620001 }; /* pairs that return in parts */

static haul_device *the_device;
static haul_arena *the_arena;
static haul_shipment *the_shipment;
static link *the_first;

static void open_device(void)
{
    links_open();
    CHECK_STATUS(test_open(haul_host_device(), NULL, &the_device), HAUL_OK);
}

static void start(int count, const haul_arena_options *options)
{
    open_device();
    CHECK_STATUS(test_arena(the_device, options, &the_arena), HAUL_OK);
    the_first = links_make(the_arena, count);
    CHECK(the_first != NULL);
}

static void end(void)
{
    haul_host_counters now;
    haul_shipment_free(&the_shipment);
    CHECK_STATUS(haul_host_get_counters(the_device, &now), HAUL_OK);
    CHECK_EQ(now.bytes_live, 0);
    haul_arena_free(&the_arena);
    haul_device_close(&the_device);
    links_close();
}

static size_t used_by(const haul_arena *arena)
{
    haul_arena_info now;
    haul_arena_get_info(arena, &now);
    return now.used_bytes;
}

static sight seen_on(haul_device *device, const haul_shipment *shipment, const link *first)
{
    sight seen;
    haul_address at = device_address(shipment, first);
    memset(&seen, 0, sizeof seen);
    seen.from = (const link *)(uintptr_t)at;
    CHECK(at != 0);
    CHECK_STATUS(haul_host_launch(device, links_look, &seen), HAUL_OK);
    return seen;
}

static void run_on(void (*kernel)(void *), const void *host)
{
    CHECK_STATUS(haul_host_launch(the_device, kernel, haul_device_pointer(the_shipment, host)),
                 HAUL_OK);
}

static void check_seen(int count)
{
    sight seen = seen_on(the_device, the_shipment, the_first);
    check_sight(&seen, count);
}

/* What the host holds now, to be compared later. */
static unsigned char *picture(void)
{
    haul_arena_info now;
    unsigned char *copy;
    haul_arena_get_info(the_arena, &now);
    copy = malloc(now.used_bytes);
    CHECK(copy != NULL);
    return memcpy(copy, now.base, now.used_bytes);
}

/* ---- There and back. */

static void there_and_back(int count, const haul_arena_options *options,
                           const haul_ship_options *how)
{
    haul_host_counters before, after;
    haul_shipment_info statistics;
    start(count, options);
    links_set_homes(the_first, 0);
    CHECK_STATUS(haul_host_get_counters(the_device, &before), HAUL_OK);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), how, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_host_get_counters(the_device, &after), HAUL_OK);
    CHECK_EQ(after.allocations, before.allocations + 1);
    CHECK_EQ(after.relocations, before.relocations + 1);
    CHECK(after.copies_to <= before.copies_to + (count == FEW ? 1 : 2));
    links_set_homes(the_first, 1);
    haul_shipment_get_info(the_shipment, &statistics);
    CHECK_EQ(statistics.arena_bytes, used_by(the_arena));
    CHECK_EQ(statistics.transfers_to, 1);
    check_seen(count);
    run_on(links_double, the_first);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    check_doubled(the_first);
    the_first->value = 7;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    run_on(links_double, the_first);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_EQ(the_first->value, 14);
    CHECK_EQ(the_first->next->value, 4);
    end();
}

static link *at_number(link *first, int number)
{
    while (number-- > 0)
        first = first->next;
    return first;
}

/* Whichever part they lie in, and wherever they lead. */
TEST(
    ship_arena,
    an_arena_that_is_patched_while_it_crosses_is_walked_there_and_a_pointer_that_leads_out_is_found)
{
    static const int numbers[] = { 0, 1000, LARGE / 16 * 15 - 1, LARGE / 16 * 15 + 1, LARGE - 2 };
    static link outside;
    haul_host_counters before, after;
    size_t i;
    start(LARGE, NULL);
    links_set_homes(the_first, 0);
    for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        link *at = at_number(the_first, numbers[i]), *other = at->other;
        at->other = &outside;
        CHECK_STATUS(
            haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
            HAUL_ERROR_GRAPH);
        CHECK_HAS(haul_context_error(haul_device_context(the_device))->text, "leads out");
        at->other = other;
    }
    CHECK_STATUS(haul_host_get_counters(the_device, &before), HAUL_OK);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_host_get_counters(the_device, &after), HAUL_OK);
    CHECK_EQ(after.relocations, before.relocations + 2);
    check_seen(LARGE);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    check_seen(LARGE);
    links_set_homes(the_first, 1);
    run_on(links_double, the_first);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    check_doubled(the_first);
    end();
}

static uint64_t relocations(void)
{
    haul_host_counters now;
    CHECK_STATUS(haul_host_get_counters(the_device, &now), HAUL_OK);
    return now.relocations;
}

/* A chain that goes on from the end of one in the other. */
TEST(ship_arena, large_arenas_that_lead_into_one_another_are_patched_while_they_cross)
{
    haul_shipment *shipments[2];
    haul_arena *arenas[2];
    link *last, *more;
    sight seen;
    start(LARGE, NULL);
    CHECK_STATUS(test_arena(the_device, NULL, &arenas[1]), HAUL_OK);
    arenas[0] = the_arena;
    more = links_make(arenas[1], LARGE);
    CHECK(more != NULL);
    links_set_homes(the_first, 0);
    links_set_homes(more, 0);
    last = the_first->other;
    last->next = more;
    more->other = last;
    CHECK_STATUS(haul_ship_arenas(the_device, arenas, 2, NULL, NULL, shipments), HAUL_OK);
    memset(&seen, 0, sizeof seen);
    seen.from = haul_device_pointer(shipments[0], the_first);
    CHECK_STATUS(haul_host_launch(the_device, links_look, &seen), HAUL_OK);
    CHECK_EQ(seen.links, 2 * LARGE);
    CHECK_EQ(seen.values, (int64_t)LARGE * (LARGE - 1));
    CHECK_EQ(seen.others, 2 * LARGE - 1); /* the first one's is no longer the last of all */
    haul_shipment_free(&shipments[0]);
    haul_shipment_free(&shipments[1]);
    haul_arena_free(&arenas[1]);
    end();
}

/* What is edited crosses by way of staging, and is not there before all is. */
TEST(ship_arena, a_large_arena_that_is_edited_on_the_way_is_patched_when_all_of_it_is_there)
{
    uint64_t before;
    start(LARGE, NULL);
    before = relocations();
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_EQ(relocations(), before + 1);
    check_seen(LARGE);
    end();
}

TEST(ship_arena, a_large_arena_with_an_odd_pointer_is_patched_when_all_of_it_is_there)
{
    leaning *l;
    sight seen;
    uint64_t before;
    start(LARGE, NULL);
    links_set_homes(the_first, 0);
    l = leaning_make(the_arena, the_first);
    before = relocations();
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_EQ(relocations(), before + 1);
    memset(&seen, 0, sizeof seen);
    seen.from = haul_device_pointer(the_shipment, l);
    CHECK_STATUS(haul_host_launch(the_device, leaning_look, &seen), HAUL_OK);
    check_sight(&seen, LARGE);
    end();
    haul_type_free(&leaning_type);
}

TEST(ship_arena, a_typed_arena_is_walked_there_and_its_data_comes_back)
{
    there_and_back(FEW, NULL, NULL);
    there_and_back(MANY, NULL, NULL);
}

static void follow(void *argument)
{
    int64_t **list = argument;
    int i;
    for (i = 0; i < 100; i++)
        *list[i] += i;
}

TEST(ship_arena, an_array_of_pointers_is_patched)
{
    int64_t **list, *values;
    haul_device *device;
    haul_arena *arena;
    haul_shipment *s;
    int i;
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(test_arena(device, NULL, &arena), HAUL_OK);
    CHECK(haul_arena_bytes(arena, 8, 0) != NULL);
    list = haul_arena_new_pointers(arena, 100);
    values = haul_arena_bytes(arena, 100 * sizeof *values, 64);
    CHECK(list && values);
    CHECK_EQ((uintptr_t)values % 64, 0);
    for (i = 0; i < 100; i++) {
        CHECK_PTR(list[i], NULL);
        values[i] = 1000;
        list[i] = &values[99 - i];
    }
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, follow, haul_device_pointer(s, list)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    for (i = 0; i < 100; i++) {
        CHECK_EQ(values[i], 1000 + 99 - i);
        CHECK_PTR(list[i], &values[99 - i]);
    }
    haul_shipment_free(&s);
    CHECK_STATUS(haul_arena_release(arena, list, 100 * sizeof *list), HAUL_OK);
    haul_arena_free(&arena);
    haul_device_close(&device);
}

TEST(ship_arena, one_in_the_devices_own_memory_too)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.pinned = 1;
    options.reserve_bytes = 16 << 20;
    there_and_back(FEW, &options, NULL);
    there_and_back(MANY, &options, NULL);
}

TEST(ship_arena, each_rule_for_pointers_that_lead_out_ships_one_that_has_none)
{
    haul_ship_options how;
    memset(&how, 0, sizeof how);
    how.outside = HAUL_OUTSIDE_NULL;
    there_and_back(FEW, NULL, &how);
    there_and_back(MANY, NULL, &how);
    how.outside = HAUL_OUTSIDE_KEEP;
    there_and_back(FEW, NULL, &how);
    there_and_back(MANY, NULL, &how);
}

static void count_homeless(void *argument)
{
    sight *seen = argument;
    const link *l;
    for (l = seen->from; l; l = l->next)
        seen->links += l->home == NULL;
}

static void leave_homes_behind(int count)
{
    sight seen;
    start(count, NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    memset(&seen, 0, sizeof seen);
    seen.from = haul_device_pointer(the_shipment, the_first);
    CHECK_STATUS(haul_host_launch(the_device, count_homeless, &seen), HAUL_OK);
    CHECK_EQ(seen.links, count);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_PTR(the_first->home, the_first);
    end();
}

TEST(ship_arena, fields_that_do_not_travel_are_zeros_there_and_stay_here)
{
    leave_homes_behind(FEW);
    leave_homes_behind(MANY);
}

TEST(ship_arena, nothing_is_left_behind_what_was_allocated)
{
    unsigned char *after;
    int i;
    start(FEW, NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    after = haul_arena_bytes(the_arena, 1000, 0);
    for (i = 0; i < 1000; i++)
        CHECK_EQ(after[i], 0);
    end();
}

TEST(ship_arena, plain_arenas_have_no_pointers_to_patch)
{
    haul_host_counters now;
    open_device();
    CHECK_STATUS(haul_arena_create(haul_device_context(the_device), NULL, &the_arena), HAUL_OK);
    the_first = haul_arena_bytes(the_arena, sizeof(link), 0);
    the_first->next = the_first;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_host_get_counters(the_device, &now), HAUL_OK);
    CHECK_EQ(now.relocations, 0);
    CHECK_EQ(now.bytes_to, used_by(the_arena));
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(the_first->next, the_first);
    end();
}

TEST(ship_arena, look_ups_are_a_subtraction_for_any_byte)
{
    haul_address first;
    size_t i;
    start(FEW, NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    first = device_address(the_shipment, the_first);
    for (i = 0; i <= used_by(the_arena); i++) {
        char *host = (char *)the_first + i;
        CHECK_EQ(device_address(the_shipment, host), first + i);
        CHECK_PTR(host_of(the_shipment, first + i), host);
    }
    CHECK_EQ(device_address(the_shipment, (char *)the_first - 1), 0);
    CHECK_EQ(device_address(the_shipment, (char *)the_first + i), 0);
    CHECK_PTR(host_of(the_shipment, first + i), NULL);
    CHECK_PTR(host_of(the_shipment, first - 1), NULL);
    end();
}

TEST(ship_arena, alignments_asked_for_hold_on_the_device)
{
    void *page;
    start(FEW, NULL);
    page = haul_arena_bytes(the_arena, 64, 4096);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_EQ(device_address(the_shipment, page) % 4096, 0);
    end();
}

/* ---- Types of all kinds. */

typedef struct wide {
    link *link[100];
    char between[200];
    link last;
} wide;

static void touch_wide(void *argument)
{
    wide *w = argument;
    int i;
    for (i = 0; i < 3; i++, w++) {
        w->link[99]->value += 100;
        w->last.next->value += 1000;
        w->between[199] = 'z';
    }
}

TEST(ship_arena, arrays_of_types_with_many_words_and_embedded_ones_are_patched)
{
    haul_type *wide_type;
    const haul_field fields[] = { HAUL_EACH(wide, link, .target = &link_type),
                                  HAUL_EMBED(wide, last, &link_type) };
    wide *w;
    int i;
    start(FEW, NULL);
    CHECK_STATUS(type_make("wide", sizeof(wide), fields, 2, &wide_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(wide_type), HAUL_OK);
    w = haul_arena_new(the_arena, wide_type, 3);
    for (i = 0; i < 3; i++) {
        w[i].link[99] = the_first;
        w[i].last.next = the_first->next;
        w[i].last.home = &i;
    }
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    run_on(touch_wide, w);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_EQ(the_first->value, 300);
    CHECK_EQ(the_first->next->value, 3001);
    CHECK_EQ(w[2].between[199], 'z');
    CHECK_PTR(w[2].last.home, &i);
    haul_type_free(&wide_type);
    end();
}

TEST(ship_arena, large_embedded_arrays_are_looked_into)
{
    haul_type *row, *table;
    link *l;
    start(FEW, NULL);
    CHECK_STATUS(haul_type_contiguous(1000, link_type, &row), HAUL_OK);
    CHECK_STATUS(haul_type_vector(3, 1, 2, row, &table), HAUL_OK);
    CHECK_STATUS(haul_type_commit(table), HAUL_OK);
    l = haul_arena_new(the_arena, table, 1);
    l[0].next = l[4999].next = the_first;
    l[4999].name = l[0].name = the_first->name;
    l[0].home = l[4999].home = l;
    l[0].other = the_first->other;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    run_on(links_double, l + 4999);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_EQ(the_first->next->value, 2);
    CHECK_PTR(l[4999].home, l);
    haul_type_free(&row);
    haul_type_free(&table);
    end();
}

/* ---- Pointers that lead out. */

static void check_gone_nowhere(haul_status status, haul_status expected, const char *words)
{
    haul_host_counters now;
    CHECK_STATUS(status, expected);
    CHECK_PTR(the_shipment, NULL);
    CHECK_HAS(haul_context_error(haul_device_context(the_device))->text, words);
    CHECK_STATUS(haul_host_get_counters(the_device, &now), HAUL_OK);
    CHECK_EQ(now.bytes_live, 0);
}

static void refuse_one(int count)
{
    link outside;
    char path[40];
    link *last;
    start(count, NULL);
    last = the_first->other;
    last->next = &outside;
    check_gone_nowhere(
        haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
        HAUL_ERROR_GRAPH, "leads out");
    snprintf(path, sizeof path, "arena+%zu", (size_t)((char *)&last->next - (char *)the_first));
    CHECK_STR(haul_context_error(haul_device_context(the_device))->path, path);
    last->next = NULL;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    last->next = &outside;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_ERROR_GRAPH);
    end();
}

TEST(ship_arena, a_pointer_that_leads_out_is_refused_with_its_place)
{
    refuse_one(FEW);
    refuse_one(MANY);
}

static void look_at_next(void *argument)
{
    link **pair = argument;
    pair[1] = pair[0]->next;
}

static link *next_on_device(const link *host)
{
    link *pair[2] = { haul_device_pointer(the_shipment, host), NULL };
    CHECK_STATUS(haul_host_launch(the_device, look_at_next, pair), HAUL_OK);
    return pair[1];
}

static void ship_with_one_outside(int count, haul_outside rule)
{
    haul_ship_options how;
    static link outside;
    link *last;
    memset(&how, 0, sizeof how);
    how.outside = rule;
    start(count, NULL);
    last = the_first->other;
    last->next = &outside;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), &how, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_PTR(next_on_device(last), rule == HAUL_OUTSIDE_NULL ? NULL : &outside);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(last->next, &outside);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    CHECK_PTR(next_on_device(last), rule == HAUL_OUTSIDE_NULL ? NULL : &outside);
    end();
}

TEST(ship_arena, or_is_null_there_or_what_it_was_and_stays_on_the_host)
{
    ship_with_one_outside(FEW, HAUL_OUTSIDE_NULL);
    ship_with_one_outside(MANY, HAUL_OUTSIDE_NULL);
    ship_with_one_outside(FEW, HAUL_OUTSIDE_KEEP);
    ship_with_one_outside(MANY, HAUL_OUTSIDE_KEEP);
}

static void lead_out(void *argument)
{
    static link outside;
    link *first = argument;
    first->next->other = &outside;
    first->next = &outside;
}

TEST(ship_arena, pointers_that_a_kernel_leads_out_can_be_left_and_counted)
{
    const haul_update_options how = { .pointers = 1, .leave_outside = 1 };
    haul_shipment_info info;
    link *second;
    start(FEW, NULL);
    second = the_first->next;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_STATUS(
        haul_host_launch(the_device, lead_out, haul_device_pointer(the_shipment, the_first)),
        HAUL_OK);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_ERROR_GRAPH);
    CHECK_STATUS(haul_update_host(the_shipment, &how, NULL), HAUL_OK);
    CHECK_PTR(the_first->next, second);
    CHECK_PTR(second->other, the_first);
    haul_shipment_get_info(the_shipment, &info);
    CHECK_EQ(info.pointers_left, 2);
    end();
}

/* ---- Addresses in plain bytes. */

static haul_status ship_checked(haul_outside outside)
{
    haul_ship_options how;
    memset(&how, 0, sizeof how);
    how.outside = outside;
    return haul_ship_from(the_device, haul_from_arena(the_arena), &how, NULL, &the_shipment);
}

TEST(ship_arena, plain_bytes_of_a_checked_arena_that_hold_its_addresses_are_refused)
{
    haul_arena_options options = { .checked = 1 };
    const haul_error *error;
    haul_arena_info info;
    char path[64];
    link **hidden, **known;
    start(FEW, &options);
    CHECK((hidden = haul_arena_bytes(the_arena, 5 * sizeof(void *), 0)) != NULL);
    CHECK((known = haul_arena_new_pointers(the_arena, 3)) != NULL);
    haul_arena_get_info(the_arena, &info);
    known[2] = the_first;
    hidden[1] = (link *)(void *)((char *)info.base + info.used_bytes); /* behind the end */
    CHECK_STATUS(ship_checked(HAUL_OUTSIDE_REFUSE), HAUL_OK);
    CHECK_PTR(next_on_device(the_first), haul_device_pointer(the_shipment, the_first->next));
    hidden[3] = the_first;
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_ERROR_GRAPH);
    haul_shipment_free(&the_shipment);
    CHECK_STATUS(ship_checked(HAUL_OUTSIDE_NULL), HAUL_ERROR_GRAPH);
    error = haul_context_error(haul_device_context(the_device));
    CHECK_HAS(error->text, "haul_arena_new_pointers");
    snprintf(path, sizeof path, "arena+%zu", (size_t)((char *)&hidden[3] - (char *)info.base));
    CHECK_STR(error->path, path);
    CHECK_STATUS(ship_checked(HAUL_OUTSIDE_KEEP), HAUL_OK);
    haul_shipment_free(&the_shipment);
    hidden[3] = NULL;
    CHECK_STATUS(ship_checked(HAUL_OUTSIDE_REFUSE), HAUL_OK);
    end();
}

TEST(ship_arena, in_the_last_plain_bytes_too)
{
    haul_arena_options options = { .checked = 1 };
    link **hidden;
    start(FEW, &options);
    CHECK((hidden = haul_arena_bytes(the_arena, 2 * sizeof(void *), 0)) != NULL);
    hidden[1] = the_first;
    CHECK_STATUS(ship_checked(HAUL_OUTSIDE_REFUSE), HAUL_ERROR_GRAPH);
    CHECK_STATUS(haul_arena_release(the_arena, hidden, 2 * sizeof(void *)), HAUL_OK);
    CHECK_STATUS(ship_checked(HAUL_OUTSIDE_REFUSE), HAUL_OK);
    end();
}

TEST(ship_arena, a_mirror_has_the_addresses_that_plain_bytes_hold)
{
    haul_arena_options options = { .checked = 1, .mirrored = 1, .reserve_bytes = 1 << 20 };
    haul_arena_info info;
    link **hidden;
    start(FEW, &options);
    haul_arena_get_info(the_arena, &info);
    CHECK((hidden = haul_arena_bytes(the_arena, 2 * sizeof(void *), 0)) != NULL);
    hidden[1] = the_first;
    CHECK_STATUS(ship_checked(HAUL_OUTSIDE_REFUSE), info.mirrored ? HAUL_OK : HAUL_ERROR_GRAPH);
    haul_shipment_free(&the_shipment);
    haul_arena_free(&the_arena); /* its mirror is the device's memory */
    end();
}

/* ---- The way back. */

static void reverse(void *argument)
{
    link *l = argument, *before = NULL, *next;
    for (; l; l = next) {
        next = l->next;
        l->next = before;
        l->other = NULL;
        before = l;
    }
}

static void pointers_come_back(int count)
{
    link *last, *l;
    int i = count;
    start(count, NULL);
    last = the_first->other;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    run_on(reverse, the_first);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_PTR(last->next, NULL);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    for (l = last; l; l = l->next) {
        CHECK_EQ(l->value, --i);
        CHECK_PTR(l->other, NULL);
    }
    CHECK_EQ(i, 0);
    end();
}

TEST(ship_arena, pointers_that_the_device_has_changed_come_back_when_asked_for)
{
    pointers_come_back(FEW);
    pointers_come_back(MANY);
}

static void spoil(void *argument)
{
    link *l = argument;
    l->value = 99;
    l->next->next->next = (link *)8;
}

TEST(ship_arena, one_that_leads_nowhere_is_refused_and_nothing_is_written)
{
    unsigned char *before;
    start(FEW, NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    before = picture();
    run_on(spoil, the_first);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_ERROR_GRAPH);
    CHECK_BYTES(the_first, before, used_by(the_arena));
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_EQ(the_first->value, 99);
    free(before);
    end();
}

static void return_directly(int count, int pinned)
{
    haul_arena_options options;
    pair *first;
    int round;
    open_device();
    pairs_open();
    memset(&options, 0, sizeof options);
    options.pinned = pinned;
    options.reserve_bytes = 1 << 25;
    CHECK_STATUS(test_arena(the_device, &options, &the_arena), HAUL_OK);
    first = pairs_make(the_arena, count, 0);
    CHECK(first != NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_return_directly(the_shipment), HAUL_OK);
    for (round = 1; round <= 3; round++) {
        run_on(pairs_swap, first);
        CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
        check_swapped(first, count, round);
    }
    pairs_close();
    end();
}

TEST(ship_arena, a_direct_return_brings_data_and_pointers_and_leaves_the_device_as_it_was)
{
    return_directly(FEW, 0);
    return_directly(FEW, 1);
    return_directly(MANY, 0);
    return_directly(MANY, 1);
    return_directly(IN_PARTS, 0);
    return_directly(IN_PARTS, 1);
}

TEST(ship_arena, updates_move_one_range_either_way)
{
    sight seen;
    start(FEW, NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    the_first->value = 1000;
    the_first->next->value = 2000;
    CHECK_STATUS(haul_update_device(the_shipment, RANGE(the_first, sizeof *the_first), NULL),
                 HAUL_OK);
    seen = seen_on(the_device, the_shipment, the_first);
    CHECK_EQ(seen.values, 1000 + FEW * (FEW - 1) / 2);
    CHECK_EQ(seen.others, FEW);
    CHECK_STATUS(
        haul_update_device(the_shipment, RANGE(&the_first->next->value, sizeof(int32_t)), NULL),
        HAUL_OK);
    seen = seen_on(the_device, the_shipment, the_first);
    CHECK_EQ(seen.values, 3000 - 1 + FEW * (FEW - 1) / 2);
    run_on(links_double, the_first);
    CHECK_STATUS(
        haul_update_host(the_shipment, RANGE((char *)the_first + 1, sizeof *the_first), NULL),
        HAUL_OK);
    CHECK_EQ(the_first->value, 2000);
    CHECK_PTR(the_first->home, the_first);
    CHECK_EQ(the_first->next->value, 2000);
    CHECK_STATUS(haul_update_host(the_shipment, RANGE(&seen, sizeof seen), NULL),
                 HAUL_ERROR_ARGUMENT);
    end();
}

TEST(ship_arena, asynchronous_calls_work_on_it_too)
{
    start(MANY, NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    run_on(links_double, the_first);
    CHECK_STATUS(haul_update_host(the_shipment, NULL, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_wait(the_shipment), HAUL_OK);
    check_doubled(the_first);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_wait(the_shipment), HAUL_OK);
    check_doubled(the_first);
    end();
}

/* ---- An arena that has changed. */

TEST(ship_arena, replan_ships_what_has_been_added)
{
    link *more;
    sight seen;
    start(FEW, NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    more = links_make(the_arena, MANY);
    CHECK_EQ(device_address(the_shipment, more->next), 0);
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_OK);
    seen = seen_on(the_device, the_shipment, more);
    check_sight(&seen, MANY);
    check_seen(FEW);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    end();
}

static void all_is_stale(void)
{
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_ERROR_STALE);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_ERROR_STALE);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_STATUS(haul_update_host(the_shipment, RANGE(the_first, sizeof(link)), NULL),
                 HAUL_ERROR_STALE);
    CHECK_STATUS(haul_update_device(the_shipment, RANGE(the_first, sizeof(link)), NULL),
                 HAUL_ERROR_STALE);
}

TEST(ship_arena, use_after_reset_rollback_and_release_is_stale)
{
    haul_arena_mark mark, later;
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.reuse = 1;
    open_device();
    CHECK_STATUS(test_arena(the_device, &options, &the_arena), HAUL_OK);
    mark = haul_arena_checkpoint(the_arena);
    the_first = links_make(the_arena, FEW);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    later = haul_arena_checkpoint(the_arena);
    CHECK(links_make(the_arena, 3) != NULL);
    CHECK_STATUS(haul_arena_rollback(the_arena, later), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_STATUS(haul_arena_release(the_arena, the_first->name, 2), HAUL_OK);
    all_is_stale();
    CHECK_STATUS(haul_arena_rollback(the_arena, mark), HAUL_OK);
    the_first = links_make(the_arena, FEW);
    all_is_stale();
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_OK);
    check_seen(FEW);
    CHECK_STATUS(haul_arena_reset(the_arena), HAUL_OK);
    the_first = links_make(the_arena, FEW);
    all_is_stale();
    end();
}

TEST(ship_arena, what_goes_behind_a_shipment_is_nothing_to_it_whatever_was_shipped_before)
{
    haul_shipment *longer = NULL;
    haul_arena_mark mark;
    void *behind;
    start(FEW, NULL);
    mark = haul_arena_checkpoint(the_arena);
    CHECK(links_make(the_arena, 3) != NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &longer),
                 HAUL_OK);
    CHECK_STATUS(haul_arena_rollback(the_arena, mark), HAUL_OK);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    behind = haul_arena_bytes(the_arena, 64, 0);
    CHECK_STATUS(haul_arena_release(the_arena, behind, 64), HAUL_OK);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    check_seen(FEW);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(longer, NULL, NULL), HAUL_ERROR_STALE);
    haul_shipment_free(&longer);
    CHECK(links_make(the_arena, 3) != NULL);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    end();
}

/* Blocks of an arena, and shipments of it, each with whether something of it has gone. */
typedef struct stale_model {
    random_source random;
    struct {
        unsigned char *at;
        size_t bytes;
    } block[64];
    struct {
        haul_shipment *shipment;
        size_t bytes;
        int is_stale;
    } carried[8];
    size_t blocks;
    haul_arena_mark mark;
} stale_model;

static size_t offset_in_arena(const void *at)
{
    haul_arena_info statistics;
    haul_arena_get_info(the_arena, &statistics);
    return (size_t)((const unsigned char *)at - (unsigned char *)statistics.base);
}

static void something_goes(stale_model *m, size_t first)
{
    size_t i;
    for (i = 0; i < 8; i++)
        m->carried[i].is_stale |= m->carried[i].shipment && first < m->carried[i].bytes;
}

static void model_allocate(stale_model *m)
{
    const size_t used = used_by(the_arena), bytes = 16 * random_between(&m->random, 1, 4);
    unsigned char *at;
    if (m->blocks == 64)
        return;
    at = haul_arena_bytes(the_arena, bytes, 0);
    CHECK(at != NULL);
    if (offset_in_arena(at) < used)
        something_goes(m, offset_in_arena(at));
    m->block[m->blocks].at = at;
    m->block[m->blocks++].bytes = bytes;
}

static void model_release(stale_model *m)
{
    const size_t i = m->blocks ? random_below(&m->random, m->blocks) : 0;
    if (m->blocks == 0)
        return;
    something_goes(m, offset_in_arena(m->block[i].at));
    CHECK_STATUS(haul_arena_release(the_arena, m->block[i].at, m->block[i].bytes), HAUL_OK);
    m->block[i] = m->block[--m->blocks];
}

/* Cuts the arena back to the mark, or to nothing. */
static void model_cut(stale_model *m, int all)
{
    size_t used = all ? 0 : m->mark.used, i, left = 0;
    if (used > used_by(the_arena))
        return;
    if (used < used_by(the_arena))
        something_goes(m, used);
    CHECK_STATUS(all ? haul_arena_reset(the_arena) : haul_arena_rollback(the_arena, m->mark),
                 HAUL_OK);
    for (i = 0; i < m->blocks; i++)
        if (offset_in_arena(m->block[i].at) < used)
            m->block[left++] = m->block[i];
    m->blocks = left;
    m->mark = haul_arena_checkpoint(the_arena);
}

static void model_ship(stale_model *m)
{
    const size_t i = random_below(&m->random, 8);
    haul_shipment_free(&m->carried[i].shipment);
    if (used_by(the_arena) == 0 || random_one_in(&m->random, 3))
        return;
    CHECK_STATUS(
        haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &m->carried[i].shipment),
        HAUL_OK);
    m->carried[i].bytes = used_by(the_arena);
    m->carried[i].is_stale = 0;
}

static void model_check(const stale_model *m)
{
    haul_arena_info statistics;
    size_t i;
    haul_arena_get_info(the_arena, &statistics);
    for (i = 0; i < 8; i++)
        if (m->carried[i].shipment)
            CHECK_STATUS(haul_update_host(m->carried[i].shipment, RANGE(statistics.base, 1), NULL),
                         m->carried[i].is_stale ? HAUL_ERROR_STALE : HAUL_OK);
}

TEST(ship_arena, a_shipment_is_stale_if_something_of_it_has_gone_and_only_then)
{
    haul_arena_options options;
    stale_model m;
    int step;
    memset(&options, 0, sizeof options);
    options.reuse = 1;
    memset(&m, 0, sizeof m);
    m.random = random_start("shipments that are stale");
    open_device();
    CHECK_STATUS(test_arena(the_device, &options, &the_arena), HAUL_OK);
    m.mark = haul_arena_checkpoint(the_arena);
    for (step = 0; step < 4000; step++) {
        const size_t what = random_below(&m.random, 64);
        if (what < 28)
            model_allocate(&m);
        else if (what < 44)
            model_release(&m);
        else if (what < 60)
            model_ship(&m);
        else if (what < 62)
            m.mark = haul_arena_checkpoint(the_arena);
        else
            model_cut(&m, what == 63 && random_one_in(&m.random, 4));
        model_check(&m);
    }
    for (step = 0; step < 8; step++)
        haul_shipment_free(&m.carried[step].shipment);
    end();
}

TEST(ship_arena, a_shipment_keeps_arena_and_device)
{
    start(FEW, NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    haul_arena_free(&the_arena);
    run_on(links_double, the_first);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    check_doubled(the_first);
    end();
}

TEST(ship_arena, what_is_no_arena_does_not_return_directly)
{
    link one;
    memset(&one, 0, sizeof one);
    open_device();
    CHECK_STATUS(haul_ship(the_device, &one, link_type, 1, NULL, &the_shipment), HAUL_OK);
    CHECK_STATUS(haul_return_directly(the_shipment), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(haul_device_context(the_device))->text, "of no arena");
    CHECK_STATUS(haul_return_directly(NULL), HAUL_ERROR_ARGUMENT);
    end();
}

TEST(ship_arena, wrong_arguments_are_refused_and_hold_nothing)
{
    haul_ship_options how;
    haul_shipment *plain;
    const haul_shipment *into[1];
    link alone;
    memset(&how, 0, sizeof how);
    memset(&alone, 0, sizeof alone);
    alone.name = "x";
    open_device();
    CHECK_STATUS(test_arena(the_device, NULL, &the_arena), HAUL_OK);
    check_gone_nowhere(
        haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
        HAUL_ERROR_ARGUMENT, "nothing");
    check_gone_nowhere(haul_ship_from(the_device, haul_from_arena(NULL), NULL, NULL, &the_shipment),
                       HAUL_ERROR_ARGUMENT, "arena is NULL");
    CHECK_STATUS(haul_ship_from(NULL, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, NULL),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena_root(the_arena, NULL, link_type), NULL,
                                NULL, NULL),
                 HAUL_ERROR_ARGUMENT);
    the_first = links_make(the_arena, 2);
    how.outside = (haul_outside)7;
    check_gone_nowhere(
        haul_ship_from(the_device, haul_from_arena(the_arena), &how, NULL, &the_shipment),
        HAUL_ERROR_ARGUMENT, "which does not exist");
    how.outside = HAUL_OUTSIDE_KEEP;
    check_gone_nowhere(haul_ship_from(the_device,
                                      haul_from_arena_root(the_arena, the_first, link_type), &how,
                                      NULL, &the_shipment),
                       HAUL_ERROR_ARGUMENT, "options->outside");
    how.outside = HAUL_OUTSIDE_REFUSE;
    how.beside_count = 1;
    check_gone_nowhere(
        haul_ship_from(the_device, haul_from_arena(the_arena), &how, NULL, &the_shipment),
        HAUL_ERROR_ARGUMENT, "beside is NULL");
    CHECK_STATUS(haul_ship(the_device, &alone, link_type, 1, NULL, &plain), HAUL_OK);
    into[0] = plain;
    how.beside = into;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), &how, NULL, &the_shipment),
                 HAUL_ERROR_ARGUMENT);
    haul_shipment_free(&plain);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    end();
}

/* ---- Untyped. */

HAUL_ARENA_HOOKS(library);

/* As a library would that knows no types. */
static link *library_links(int count)
{
    link *first = NULL, *last = NULL, *l;
    int i;
    for (i = 0; i < count; i++) {
        l = library_calloc(1, sizeof *l);
        l->name = strcpy(library_malloc(20), i % 3 ? "one of three" : "x");
        l->value = i;
        l->home = l;
        l->weight[0] = i / 2.0;
        l->other = last;
        if (last)
            last->next = l;
        else
            first = l;
        last = l;
    }
    first->other = last;
    return first;
}

static void start_untyped(int count)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.reuse = 1;
    open_device();
    CHECK_STATUS(test_arena(the_device, &options, &the_arena), HAUL_OK);
    library_use(the_arena);
    library_free(library_malloc(1000));
    the_first = library_links(count);
}

static haul_status ship_untyped(void)
{
    return haul_ship_from(the_device, haul_from_arena_root(the_arena, the_first, link_type), NULL,
                          NULL, &the_shipment);
}

static void untyped_there_and_back(int count)
{
    link *more;
    start_untyped(count);
    CHECK_STATUS(ship_untyped(), HAUL_OK);
    check_seen(count);
    run_on(links_double, the_first);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    check_doubled(the_first);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_doubled(the_first);
    more = library_links(3);
    more->other->next = the_first;
    the_first->other = NULL;
    the_first = more;
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_OK);
    CHECK_EQ(device_address(the_shipment, more) != 0, 1);
    end();
}

TEST(ship_arena, an_untyped_one_is_discovered_in_its_place)
{
    untyped_there_and_back(FEW);
    untyped_there_and_back(MANY);
}

static int is_null_there;

static void look_at_other(void *argument)
{
    const link *l = argument;
    is_null_there = l->other == NULL;
}

TEST(ship_arena, a_pointer_that_leads_out_later_is_null_there_and_a_replan_refuses_it)
{
    link outside;
    memset(&outside, 0, sizeof outside);
    start_untyped(FEW);
    CHECK_STATUS(ship_untyped(), HAUL_OK);
    the_first->other = &outside;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    run_on(look_at_other, the_first);
    CHECK_EQ(is_null_there, 1);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(the_first->other, &outside);
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(haul_device_context(the_device))->path, "root.other");
    the_first->other = NULL;
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_OK);
    end();
}

TEST(ship_arena, a_graph_that_leaves_the_arena_is_refused_with_the_way_it_took)
{
    link outside;
    memset(&outside, 0, sizeof outside);
    outside.name = "x";
    start_untyped(FEW);
    the_first->next->next->other = &outside;
    check_gone_nowhere(ship_untyped(), HAUL_ERROR_GRAPH, "leads out of the arena");
    CHECK_STR(haul_context_error(haul_device_context(the_device))->path, "root.next.next.other");
    the_first->next->next->other = NULL;
    the_first->next->name = "a literal";
    check_gone_nowhere(ship_untyped(), HAUL_ERROR_GRAPH, "leads out of the arena");
    CHECK_STR(haul_context_error(haul_device_context(the_device))->path, "root.next.name");
    the_first->next->name = the_first->name;
    CHECK_STATUS(ship_untyped(), HAUL_OK);
    end();
}

typedef struct fickle {
    double *numbers;
} fickle;

static int looks;
static int64_t at_the_second;

static int64_t ten_at_first(const haul_here *here)
{
    (void)here;
    return looks++ == 0 ? 10 : at_the_second;
}

/* The second look, for the path, finds nothing wrong or something else. */
TEST(ship_arena, a_graph_that_leaves_the_arena_at_the_first_look_alone_is_refused)
{
    static const haul_field fields[] = { HAUL_ARRAY(fickle, numbers, HAUL_COUNT_FN(ten_at_first)) };
    static double outside[10];
    haul_type *type;
    fickle *f;
    int i;
    start_untyped(FEW);
    CHECK_STATUS(type_make("fickle", sizeof(fickle), fields, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    f = library_malloc(sizeof *f);
    f->numbers = outside;
    for (i = 0; i < 2; i++) {
        looks = 0;
        at_the_second = i == 0 ? 0 : INT64_MAX;
        check_gone_nowhere(haul_ship_from(the_device, haul_from_arena_root(the_arena, f, type),
                                          NULL, NULL, &the_shipment),
                           HAUL_ERROR_GRAPH, "leads out of the arena");
        CHECK_EQ(looks, 2);
        CHECK_STR(haul_context_error(haul_device_context(the_device))->path, "");
    }
    haul_type_free(&type);
    end();
}

/* ---- Several. */

static haul_arena *the_other;
static haul_shipment *other_shipment;
static link *other_first;

static void start_two(int count)
{
    start(count, NULL);
    CHECK_STATUS(test_arena(the_device, NULL, &the_other), HAUL_OK);
    other_first = links_make(the_other, count);
    ((link *)the_first->other)->next = other_first;
}

static void end_two(void)
{
    haul_shipment_free(&other_shipment);
    haul_arena_free(&the_other);
    end();
}

TEST(ship_arena, pointers_into_one_that_is_there_already_lead_to_its_copy_both_ways)
{
    haul_ship_options how;
    const haul_shipment *into[1];
    link *last;
    memset(&how, 0, sizeof how);
    start_two(FEW);
    last = the_first->other;
    CHECK_STATUS(
        haul_ship_from(the_device, haul_from_arena(the_other), NULL, NULL, &other_shipment),
        HAUL_OK);
    into[0] = other_shipment;
    how.beside = into;
    how.beside_count = 1;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), &how, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_PTR(next_on_device(last), haul_device_pointer(other_shipment, other_first));
    run_on(reverse, the_first);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(the_first->next, NULL);
    CHECK_STATUS(haul_update_host(other_shipment, WITH_POINTERS, NULL), HAUL_ERROR_GRAPH);
    end_two();
}

TEST(ship_arena, several_that_point_into_one_another_ship_together)
{
    haul_arena *arenas[2];
    haul_shipment *shipments[2];
    start_two(MANY);
    arenas[0] = the_arena;
    arenas[1] = the_other;
    other_first->other = the_first;
    CHECK_STATUS(haul_ship_arenas(the_device, arenas, 2, NULL, NULL, shipments), HAUL_OK);
    the_shipment = shipments[0];
    other_shipment = shipments[1];
    run_on(reverse, the_first);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_host(other_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(the_first->next, NULL);
    CHECK_PTR(other_first->other, NULL);
    CHECK(haul_arena_contains(the_arena, other_first->next));
    CHECK_EQ(other_first->next->value, MANY - 1);
    CHECK_EQ(other_first->next->next->value, MANY - 2);
    end_two();
}

TEST(ship_arena, of_several_all_are_shipped_or_none)
{
    haul_arena *arenas[2];
    haul_shipment *shipments[2];
    haul_host_counters now;
    link outside;
    start_two(FEW);
    arenas[0] = the_arena;
    arenas[1] = the_other;
    other_first->other = &outside;
    CHECK_STATUS(haul_ship_arenas(the_device, arenas, 2, NULL, NULL, shipments), HAUL_ERROR_GRAPH);
    CHECK_PTR(shipments[0], NULL);
    CHECK_PTR(shipments[1], NULL);
    CHECK_STATUS(haul_host_get_counters(the_device, &now), HAUL_OK);
    CHECK_EQ(now.bytes_live, 0);
    CHECK_STATUS(haul_ship_arenas(the_device, arenas, 0, NULL, NULL, shipments),
                 HAUL_ERROR_ARGUMENT);
    end_two();
}

/* ---- What the device makes. */

typedef struct family {
    haul_nursery *nursery;
    haul_device_layout stamp;
    link *first;
    int refused, wanted;
} family;

static haul_type *family_type, *nursery_type;
static family *the_family;

/* New links, each in front of the others. */
static void bear(void *argument)
{
    family *f = argument;
    int i;
    for (i = 0; i < f->wanted; i++) {
        link *l = haul_nursery_new(f->nursery, &f->stamp);
        if (!l) {
            f->refused++;
            continue;
        }
        l->name = haul_nursery_allocate(f->nursery, 4);
        if (l->name)
            l->name[0] = 'n';
        l->value = -1 - i;
        l->next = f->first;
        f->first = l;
    }
}

static void family_start(size_t nursery_bytes, int wanted)
{
    haul_field fields[2];
    open_device();
    CHECK_STATUS(type_make("nursery", sizeof(haul_nursery), NULL, 0, &nursery_type), HAUL_OK);
    fields[0] = (haul_field)HAUL_OBJECT(family, nursery, &nursery_type);
    fields[1] = (haul_field)HAUL_OBJECT(family, first, &link_type);
    CHECK_STATUS(type_make("family", sizeof(family), fields, 2, &family_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(family_type), HAUL_OK);
    CHECK_STATUS(test_arena(the_device, NULL, &the_arena), HAUL_OK);
    the_family = haul_arena_new(the_arena, family_type, 1);
    the_first = the_family->first = links_make(the_arena, FEW);
    the_family->nursery = haul_arena_new_nursery(the_arena, nursery_bytes);
    CHECK(the_family->nursery != NULL);
    the_family->wanted = wanted;
    CHECK_STATUS(haul_device_layout_of(link_type, &the_family->stamp), HAUL_OK);
    CHECK(links_make(the_arena, FEW) != NULL);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
}

static void family_end(void)
{
    haul_type_free(&family_type);
    haul_type_free(&nursery_type);
    end();
}

static void check_family(int born)
{
    link *l = the_family->first;
    for (; born > 0; born--, l = l->next) {
        CHECK(haul_arena_contains(the_arena, l));
        CHECK_EQ(l->value < 0, 1);
        CHECK_EQ(l->name[0], 'n');
    }
    CHECK_PTR(l, the_first);
}

TEST(ship_arena, objects_that_the_device_has_made_come_back_with_pointers)
{
    family_start(100000, 10);
    run_on(bear, the_family);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    check_family(0);
    CHECK_EQ(the_family->nursery->used, 0);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_family(10);
    CHECK_EQ(the_family->nursery->used >= 10 * sizeof(link), 1);
    family_end();
}

static void add_to_all(void *argument)
{
    link *l;
    for (l = ((family *)argument)->first; l; l = l->next)
        l->seen += 1;
}

TEST(ship_arena, and_move_along_when_the_shipment_is_copied)
{
    haul_shipment *copy;
    int i;
    family_start(100000, 10);
    run_on(bear, the_family);
    for (i = 0; i < 2; i++) {
        CHECK_STATUS(haul_shipment_copy(the_shipment, the_device, &copy), HAUL_OK);
        haul_shipment_free(&the_shipment);
        the_shipment = copy;
    }
    run_on(bear, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_family(20);
    CHECK_STATUS(haul_shipment_copy(the_shipment, the_device, &copy), HAUL_OK);
    haul_shipment_free(&the_shipment);
    the_shipment = copy;
    run_on(bear, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_family(30);
    family_end();
}

TEST(ship_arena, and_are_objects_like_any_others_from_then_on)
{
    link *l;
    family_start(100000, 10);
    run_on(bear, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    run_on(add_to_all, the_family);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    for (l = the_family->first; l; l = l->next)
        CHECK_EQ(l->seen, 1);
    run_on(bear, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_family(20);
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_OK);
    run_on(add_to_all, the_family);
    run_on(bear, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_family(30);
    family_end();
}

static void bear_on(haul_shipment *shipment)
{
    CHECK_STATUS(haul_host_launch(the_device, bear, haul_device_pointer(shipment, the_family)),
                 HAUL_OK);
}

/* Both make objects in the same places, more by way of the second or less. */
static void bring_by_one_of_two(int first, int second)
{
    haul_shipment *other;
    unsigned char *before;
    family_start(100000, first);
    the_family->wanted = second;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &other),
                 HAUL_OK);
    bear_on(the_shipment);
    bear_on(other);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_family(first);
    before = picture();
    CHECK_STATUS(haul_update_host(other, WITH_POINTERS, NULL), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(haul_device_context(the_device))->text, "haul_update_device");
    CHECK_BYTES(the_family, before, used_by(the_arena));
    free(before);
    CHECK_STATUS(haul_unmarshal(other), HAUL_OK);
    check_family(first);
    the_family->wanted = second;
    CHECK_STATUS(haul_update_device(other, NULL, NULL), HAUL_OK);
    bear_on(other);
    CHECK_STATUS(haul_update_host(other, WITH_POINTERS, NULL), HAUL_OK);
    check_family(first + second);
    haul_shipment_free(&other);
    family_end();
}

TEST(ship_arena, of_two_shipments_that_have_made_objects_one_brings_them)
{
    bring_by_one_of_two(3, 5);
    bring_by_one_of_two(5, 3);
    bring_by_one_of_two(4, 4);
    bring_by_one_of_two(3, 0);
}

/* Its bytes go behind the refresh, in the order of the calls. */
TEST(ship_arena, what_one_shipment_brings_stays_when_anothers_results_come_late)
{
    haul_shipment *other;
    family_start(100000, 10);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &other),
                 HAUL_OK);
    bear_on(the_shipment);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_host(other, NULL, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_update_device(other, NULL, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_wait(other), HAUL_OK);
    check_family(10);
    CHECK_STATUS(haul_unmarshal(other), HAUL_OK);
    check_family(10);
    haul_shipment_free(&other);
    family_end();
}

/* In the order of the calls: what kernels have made comes, and goes to the device again. */
TEST(ship_arena, what_was_made_comes_before_a_refresh_that_was_ordered_behind_it)
{
    link *l;
    family_start(100000, 10);
    run_on(bear, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_wait(the_shipment), HAUL_OK);
    check_family(10);
    run_on(add_to_all, the_family);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    check_family(10);
    for (l = the_family->first; l; l = l->next)
        CHECK_EQ(l->seen, 1);
    run_on(bear, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_family(20);
    family_end();
}

/* `used` as well: kernels would make new objects over the old ones. */
TEST(ship_arena, a_nursery_that_the_host_has_overwritten_is_repaired)
{
    int again;
    family_start(100000, 10);
    for (again = 0; again < 3; again++) {
        run_on(bear, the_family);
        CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
        check_family(10 * (again + 1));
        memset(the_family->nursery, again == 1 ? 0xA5 : 0, sizeof *the_family->nursery);
        CHECK_STATUS(again == 2 ? haul_reship(the_shipment, NULL)
                                : haul_update_device(the_shipment, NULL, NULL),
                     HAUL_OK);
    }
    run_on(bear, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_family(40);
    family_end();
}

TEST(ship_arena, a_full_nursery_goes_and_comes_as_any_objects)
{
    link *l;
    int born = 0;
    family_start(64 * sizeof(link), 1000);
    run_on(bear, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    run_on(add_to_all, the_family);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    for (l = the_family->first; l != the_first; l = l->next, born++)
        CHECK_EQ(l->seen, 1);
    CHECK(born > 30);
    family_end();
}

TEST(ship_arena, a_full_nursery_refuses_and_brings_what_it_has)
{
    family_start(64 * sizeof(link), 1000);
    run_on(bear, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK(the_family->refused > 900);
    CHECK_EQ(the_family->nursery->used <= the_family->nursery->capacity, 1);
    family_end();
}

static void fill_up(void *argument)
{
    family *f = argument;
    f->nursery->used = f->nursery->capacity;
}

TEST(ship_arena, a_nursery_that_is_full_to_its_last_byte_goes_and_comes)
{
    family_start(64 * sizeof(link), 0);
    run_on(fill_up, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_EQ(the_family->nursery->used, the_family->nursery->capacity);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    run_on(add_to_all, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_EQ(the_family->first->seen, 1);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_EQ(the_family->nursery->used, the_family->nursery->capacity);
    family_end();
}

static void bear_badly(void *argument)
{
    family *f = argument;
    link *l = haul_nursery_new(f->nursery, &f->stamp);
    l->other = (link *)8;
}

static void shrink(void *argument)
{
    ((family *)argument)->nursery->used = 16;
}

TEST(ship_arena, what_the_device_has_made_badly_is_refused_and_nothing_is_written)
{
    unsigned char *before;
    family_start(100000, 3);
    run_on(bear, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    before = picture();
    run_on(bear_badly, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(haul_device_context(the_device))->text, "has made an object");
    run_on(shrink, the_family);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(haul_device_context(the_device))->text, "of the arena smaller");
    CHECK_BYTES(the_family, before, used_by(the_arena));
    free(before);
    family_end();
}

TEST(ship_arena, nurseries_and_stamps_check_their_arguments)
{
    haul_device_layout stamp;
    haul_type *large;
    start(FEW, NULL);
    CHECK_PTR(haul_arena_new_nursery(the_arena, 0), NULL);
    CHECK_PTR(haul_arena_new_nursery(the_arena, SIZE_MAX), NULL);
    CHECK_PTR(haul_arena_new_nursery(NULL, 100), NULL);
    CHECK_STATUS(haul_type_bytes(type_context(), "large", 65 * sizeof(void *), &large), HAUL_OK);
    CHECK_STATUS(haul_device_layout_of(large, &stamp), HAUL_ERROR_STATE);
    CHECK_STATUS(haul_type_commit(large), HAUL_OK);
    CHECK_STATUS(haul_device_layout_of(large, &stamp), HAUL_ERROR_UNSUPPORTED);
    CHECK_STATUS(haul_device_layout_of(NULL, &stamp), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_device_layout_of(link_type, NULL), HAUL_ERROR_ARGUMENT);
    haul_type_free(&large);
    end();
}
