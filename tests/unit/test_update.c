/* Updates: refresh, reship, updates of one range, and pointers that come back.
 *
 * Faults by number (docs/testing.md): D14 (device results are hostile), D15, C3 (a source that has
 * changed since).
 */
#define _DEFAULT_SOURCE
#include "ship_graphs.h"
#include "support/short_forms.h"
#include "support/types.h"

typedef struct scene {
    world w;
    haul_device *device;
    haul_shipment *s;
    room *first;
    haul_shipment_info told; /* at the start */
} scene;

static scene *scene_start_on(haul_device *device, int32_t rooms, int ring,
                             const haul_ship_options *options)
{
    static scene now;
    scene *e = &now;
    memset(e, 0, sizeof *e);
    world_start(&e->w, 1 << 15);
    museum_open();
    e->device = device;
    e->first = museum_make(&e->w, rooms, ring);
    CHECK_STATUS(haul_ship(e->device, e->first, room_type, 1, options, &e->s), HAUL_OK);
    haul_shipment_get_info(e->s, &e->told);
    return e;
}

static scene *scene_start(int32_t rooms, int ring)
{
    return scene_start_on(host_device(), rooms, ring, NULL);
}

/* Counts come back, whatever the device has made of them. */
static scene *scene_start_that_lets_counts_change(haul_device *device, int32_t rooms, int ring)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.let_counts_change = 1;
    return scene_start_on(device, rooms, ring, &options);
}

static void scene_end(scene *e)
{
    haul_shipment_free(&e->s);
    CHECK_EQ(counters_of(e->device).bytes_live, 0);
    haul_device_close(&e->device);
    museum_close();
    world_end(&e->w);
}

static void check_device_sees_the_host(scene *e)
{
    visit here = museum_seen_from(e->first);
    visit there = museum_seen_on(e->device, e->s, &e->w, e->first);
    check_visits_agree(&there, &here);
}

static unsigned char *arena_of(scene *e)
{
    haul_shipment_info now;
    unsigned char *arena;
    haul_shipment_get_info(e->s, &now);
    arena = malloc(now.arena_bytes);
    CHECK(arena != NULL);
    device_read(e->device, arena, now.base, now.arena_bytes);
    return arena;
}

/* ---- Refresh and replan. */

TEST(update, a_refresh_sends_contents_that_have_changed_and_keeps_addresses)
{
    scene *e = scene_start(20, 1);
    haul_address before = device_address(e->s, e->first->next);
    museum_change(e->first);
    world_protect(&e->w, PROT_READ);
    CHECK_STATUS(haul_update_device(e->s, NULL, NULL), HAUL_OK);
    world_protect(&e->w, PROT_READ | PROT_WRITE);
    check_device_sees_the_host(e);
    CHECK_EQ(device_address(e->s, e->first->next), before);
    CHECK_EQ(counters_of(e->device).allocations, 1);
    scene_end(e);
}

TEST(update, a_refresh_undoes_what_the_device_did)
{
    scene *e = scene_start(20, 1);
    unsigned char *before = arena_of(e), *after;
    memset(before, 0, 2 * sizeof(void *)); /* the first granule is reserved */
    CHECK_STATUS(haul_host_launch(e->device, museum_change, haul_device_pointer(e->s, e->first)),
                 HAUL_OK);
    CHECK_STATUS(haul_update_device(e->s, NULL, NULL), HAUL_OK);
    after = arena_of(e);
    CHECK_BYTES(after, before, e->told.arena_bytes);
    free(before);
    free(after);
    scene_end(e);
}

/* The graph has just been changed: refresh says so, names the place and sends nothing; replan takes
 * it as it is. */
static void check_stale(scene *e, const char *path)
{
    unsigned char *before = arena_of(e), *after;
    uint64_t sent = counters_of(e->device).copies_to;
    CHECK_STATUS(haul_update_device(e->s, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_EQ(haul_context_error(haul_device_context(e->device))->status, HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(haul_device_context(e->device))->path, path);
    CHECK_EQ(counters_of(e->device).copies_to, sent);
    after = arena_of(e);
    CHECK_BYTES(after, before, e->told.arena_bytes);
    CHECK_STATUS(haul_reship(e->s, NULL), HAUL_OK);
    check_device_sees_the_host(e);
    CHECK_STATUS(haul_update_device(e->s, NULL, NULL), HAUL_OK);
    free(before);
    free(after);
    scene_end(e);
}

TEST(update, a_pointer_that_has_changed_is_stale_with_its_path)
{
    scene *e = scene_start(9, 1);
    e->first->next->next->next = e->first;
    check_stale(e, "next");
}

TEST(update, a_pointer_that_has_become_null_is_stale_with_its_path)
{
    scene *e = scene_start(9, 1);
    e->first->next->doors[1] = NULL;
    check_stale(e, "doors[1]");
}

TEST(update, a_null_pointer_that_leads_out_of_the_graph_is_stale_with_its_path)
{
    scene *e = scene_start(9, 0);
    room *r = e->first, *added = room_make(&e->w, 50);
    while (r->next)
        r = r->next;
    r->next = added;
    check_stale(e, "next");
}

TEST(update, a_count_that_has_grown_is_stale_with_its_path)
{
    scene *e = scene_start(9, 1);
    room *r = e->first->next;
    double *more = world_take(&e->w, 64, 16);
    CHECK_EQ(r->sample_count, 1);
    more[0] = more[1] = 5;
    r->sample_count = 2;
    r->samples = more;
    check_stale(e, "samples");
}

TEST(update, a_count_that_has_shrunk_is_stale_with_its_path)
{
    scene *e = scene_start(9, 1);
    CHECK_EQ(e->first->next->next->next->sample_count, 3);
    e->first->next->next->next->sample_count = 2;
    check_stale(e, "samples");
}

TEST(update, a_string_that_has_lost_its_end_is_stale_with_its_path)
{
    scene *e = scene_start(9, 1);
    char *name = e->first->next->name, *end = name + strlen(name);
    *end = 'x';
    CHECK_STATUS(haul_update_device(e->s, NULL, NULL), HAUL_ERROR_STALE);
    *end = '\0';
    e->first->next->name = "longer than it was, and elsewhere";
    check_stale(e, "name");
}

TEST(update, a_string_that_has_become_shorter_where_it_is_still_fits)
{
    scene *e = scene_start(9, 1);
    e->first->next->name[2] = '\0';
    CHECK_STATUS(haul_update_device(e->s, NULL, NULL), HAUL_OK);
    check_device_sees_the_host(e);
    scene_end(e);
}

TEST(update, a_graph_that_is_as_it_was_again_can_be_refreshed_again)
{
    scene *e = scene_start(9, 1);
    room *was = e->first->next->next;
    e->first->next->next = NULL;
    CHECK_STATUS(haul_update_device(e->s, NULL, NULL), HAUL_ERROR_STALE);
    e->first->next->next = was;
    CHECK_STATUS(haul_update_device(e->s, NULL, NULL), HAUL_OK);
    check_device_sees_the_host(e);
    scene_end(e);
}

TEST(update, replan_frees_the_old_arena_and_goes_on_counting)
{
    scene *e = scene_start(9, 0);
    haul_shipment_info now;
    uint64_t live = counters_of(e->device).bytes_live;
    e->first->next->next = NULL;
    CHECK_STATUS(haul_reship(e->s, NULL), HAUL_OK);
    CHECK(counters_of(e->device).bytes_live < live);
    haul_shipment_get_info(e->s, &now);
    CHECK_EQ(now.transfers_to, 2);
    CHECK(now.bytes_to > e->told.bytes_to);
    CHECK(now.objects < e->told.objects);
    CHECK(now.base < device_address(e->s, e->first));
    check_device_sees_the_host(e);
    scene_end(e);
}

TEST(update, a_replan_that_fails_leaves_the_old_shipment_as_it_was)
{
    scene *e = scene_start(9, 1);
    unsigned char *before = arena_of(e), *after;
    haul_shipment_info now;
    e->first->next->door_count = -1;
    CHECK_STATUS(haul_reship(e->s, NULL), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(haul_device_context(e->device))->path, "doors");
    haul_shipment_get_info(e->s, &now);
    CHECK_EQ(now.base, e->told.base);
    CHECK_EQ(now.transfers_to, 1);
    after = arena_of(e);
    CHECK_BYTES(after, before, e->told.arena_bytes);
    e->first->next->door_count = 3;
    CHECK_STATUS(haul_update_device(e->s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(e->s), HAUL_OK);
    free(before);
    free(after);
    scene_end(e);
}

/* ---- Updates. */

static int is_pointer(scene *e, const unsigned char *at)
{
    room *r = e->first;
    do {
        const unsigned char *o = (const unsigned char *)r;
        const unsigned char *d = (const unsigned char *)r->doors;
        if ((at >= o + offsetof(room, doors) && at < o + offsetof(room, cache)) ||
            (at >= o + offsetof(room, samples) && at < o + offsetof(room, sample_count)) ||
            (d && at >= d && at < d + (size_t)r->door_count * sizeof(room *)))
            return 1;
        r = r->next;
    } while (r && r != e->first);
    return 0;
}

/* 0: no byte of the world's; 1: travels as data; 2: as a pointer. */
static unsigned char *kinds_of(scene *e)
{
    unsigned char *kinds = calloc(e->w.bytes, 1);
    size_t i, j;
    CHECK(kinds != NULL);
    for (i = 0; i < e->w.count; i++)
        for (j = 0; j < e->w.blocks[i].bytes; j++) {
            unsigned char *at = e->w.blocks[i].at + j;
            kinds[at - e->w.memory] = is_pointer(e, at) ? 2 : 1;
        }
    return kinds;
}

static const size_t lengths[] = { 1, 2, 3, 5, 8, 13, 16, 17, 40, 64, 100, 300 };

/* For a range of each such length from each byte on: what `expected` has to become, and what the
 * call answers. */
static void update_everywhere(int to_device)
{
    scene *e = scene_start_that_lets_counts_change(ordinary_device(), 3, 1);
    unsigned char *kinds = kinds_of(e), *original = world_picture(&e->w), *arena, *found, *noise,
                  *expected;
    size_t bytes = e->told.arena_bytes, i, j, n, at, sent = 0, read = 0;
    noise = malloc(bytes);
    CHECK(noise != NULL);
    for (i = 0; i < bytes; i++)
        noise[i] = (unsigned char)(i * 37 + i / 256 * 11 + 1);
    for (i = 0; i + 300 < e->w.used + 400; i++) {
        for (n = 0; n < sizeof lengths / sizeof *lengths; n++) {
            haul_status due = HAUL_ERROR_ARGUMENT;
            size_t low = 0, high = 0, data = 0; /* of the range's data in the arena */
            device_write(e->device, e->told.base, noise, bytes);
            memcpy(e->w.memory, original, e->w.bytes);
            expected = to_device ? memcpy(malloc(bytes), noise, bytes) : world_picture(&e->w);
            for (j = i; j < i + lengths[n] && j < e->w.bytes; j++) {
                if (kinds[j] != 0)
                    due = HAUL_OK;
                if (kinds[j] != 1)
                    continue;
                at = (size_t)(device_address(e->s, e->w.memory + j) - e->told.base);
                low = data ? low : at;
                high = at + 1;
                data++;
                if (to_device)
                    expected[at] = e->w.memory[j];
                else
                    expected[j] = noise[at];
            }
            CHECK_STATUS(to_device
                             ? haul_update_device(e->s, RANGE(e->w.memory + i, lengths[n]), NULL)
                             : haul_update_host(e->s, RANGE(e->w.memory + i, lengths[n]), NULL),
                         due);
            sent += to_device && data > 0;
            /* side by side, they need not be read first */
            read += to_device ? data != high - low : data > 0;
            found = arena = arena_of(e);
            if (to_device) {
                CHECK_BYTES(e->w.memory, original, e->w.bytes);
                CHECK_BYTES(found, expected, bytes);
            } else {
                CHECK_BYTES(arena, noise, bytes);
                CHECK_BYTES(e->w.memory, expected, e->w.bytes);
            }
            free(expected);
            free(arena);
        }
    }
    CHECK_EQ(counters_of(e->device).copies_from, read);
    CHECK_EQ(counters_of(e->device).copies_to, 1 + sent);
    CHECK(read > 10 && (!to_device || read + 10 < sent));
    memcpy(e->w.memory, original, e->w.bytes);
    free(original);
    free(noise);
    free(kinds);
    scene_end(e);
}

TEST(update, any_range_goes_to_the_device_and_no_byte_beside_it)
{
    update_everywhere(1);
}

TEST(update, any_range_comes_back_and_no_byte_beside_it)
{
    update_everywhere(0);
}

static void turn_around(void *argument)
{
    room *first = argument, *r = first, *before = NULL, *after;
    do {
        after = r->next;
        r->next = before;
        r->cache = r; /* a device may use a field that does not travel */
        before = r;
        r = after;
    } while (r && r != first);
}

TEST(update, pointers_that_the_device_rewired_survive_an_update_and_its_own_fields_do_too)
{
    scene *e = scene_start(12, 0);
    room *last = e->first, *r, copy;
    visit there;
    while (last->next)
        last = last->next;
    CHECK_STATUS(haul_host_launch(e->device, turn_around, haul_device_pointer(e->s, e->first)),
                 HAUL_OK);
    for (r = e->first; r; r = r->next) {
        r->area += 5000;
        CHECK_STATUS(haul_update_device(e->s, RANGE(r, sizeof *r), NULL), HAUL_OK);
        device_read(e->device, &copy, device_address(e->s, r), sizeof copy);
        CHECK_PTR(copy.cache, haul_device_pointer(e->s, r));
    }
    there = museum_seen_on(e->device, e->s, &e->w, last);
    CHECK_EQ(there.rooms, 12);
    CHECK_EQ(there.areas, 12 * 5100 + 66);
    scene_end(e);
}

TEST(update, one_number_of_a_large_array_costs_a_few_bytes)
{
    enum { COUNT = 100000 };
    haul_type *number;
    haul_device *device = host_device();
    haul_shipment *s;
    haul_host_counters before, after;
    int64_t *numbers = malloc(COUNT * sizeof *numbers), i, got;
    CHECK(numbers != NULL);
    for (i = 0; i < COUNT; i++)
        numbers[i] = i;
    CHECK_STATUS(type_make("number", sizeof *numbers, NULL, 0, &number), HAUL_OK);
    CHECK_STATUS(haul_type_commit(number), HAUL_OK);
    CHECK_STATUS(haul_ship(device, numbers, number, COUNT, NULL, &s), HAUL_OK);
    for (i = 1; i < COUNT; i += 9973) {
        before = counters_of(device);
        numbers[i] = -i;
        CHECK_STATUS(haul_update_device(s, RANGE(&numbers[i], sizeof *numbers), NULL), HAUL_OK);
        device_read(device, &got, device_address(s, &numbers[i]), sizeof got);
        CHECK_EQ(got, -i);
        got = 3 * i;
        device_write(device, device_address(s, &numbers[i]), &got, sizeof got);
        CHECK_STATUS(haul_update_host(s, RANGE(&numbers[i], sizeof *numbers), NULL), HAUL_OK);
        CHECK_EQ(numbers[i], 3 * i);
        CHECK_EQ(numbers[i - 1], i - 1);
        after = counters_of(device);
        CHECK(after.bytes_to - before.bytes_to <= 32);
        CHECK(after.bytes_from - before.bytes_from <= 64);
    }
    CHECK_STATUS(haul_update_host(s, RANGE(numbers, COUNT * sizeof *numbers), NULL), HAUL_OK);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&number);
    free(numbers);
}

TEST(update, a_range_outside_the_graph_empty_or_wrapping_is_refused)
{
    scene *e = scene_start(3, 0);
    haul_host_counters before = counters_of(e->device), after;
    char elsewhere[16];
    memset(elsewhere, 1, sizeof elsewhere);

#define REFUSED(host, bytes)                                                                       \
    (CHECK_STATUS(haul_update_host(e->s, RANGE(host, bytes), NULL), HAUL_ERROR_ARGUMENT),          \
     CHECK_STATUS(haul_update_device(e->s, RANGE(host, bytes), NULL), HAUL_ERROR_ARGUMENT),        \
     CHECK_EQ(haul_context_error(haul_device_context(e->device))->status, HAUL_ERROR_ARGUMENT))

    REFUSED(e->first, 0);
    REFUSED(e->first, SIZE_MAX);
    REFUSED(e->first, SIZE_MAX - (uintptr_t)e->first + 1);
    REFUSED(elsewhere, sizeof elsewhere);
    REFUSED(NULL, 1);
    REFUSED(&e->first->cache, sizeof(void *));
#undef REFUSED
    after = counters_of(e->device);
    CHECK_EQ(after.copies_to, before.copies_to);
    CHECK_EQ(after.copies_from, before.copies_from);
    scene_end(e);
}

/* ---- Pointers that come back. */

static void reverse_world(void *argument)
{
    room *r = argument, *before = NULL, *after;
    for (; r; r = after) {
        after = r->next;
        r->next = before;
        r->area++;
        before = r;
    }
}

TEST(update, a_list_that_the_device_reversed_comes_back_reversed)
{
    scene *e = scene_start(25, 0);
    room *last = e->first, *old_first = e->first;
    unsigned char *before = world_picture(&e->w);
    while (last->next)
        last = last->next;
    CHECK_STATUS(haul_host_launch(e->device, reverse_world, haul_device_pointer(e->s, e->first)),
                 HAUL_OK);
    CHECK_STATUS(haul_update_host(e->s, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_EQ(museum_seen_from(last).rooms, 25);
    world_check_changed_by(&e->w, before, reverse_world, old_first);
    CHECK_STATUS(haul_update_device(e->s, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_STATUS(haul_reship(e->s, NULL), HAUL_OK);
    e->first = old_first;
    check_device_sees_the_host(e);
    scene_end(e);
}

TEST(update, a_plain_unmarshal_takes_no_notice_of_pointers_D14)
{
    scene *e = scene_start_that_lets_counts_change(host_device(), 25, 0);
    unsigned char *before = world_picture(&e->w);
    room *r = haul_device_pointer(e->s, e->first->next);
    void *wild = (void *)(uintptr_t)0x123456789;
    int32_t many = 1000000;
    CHECK_STATUS(haul_host_launch(e->device, museum_change, haul_device_pointer(e->s, e->first)),
                 HAUL_OK);
    device_write(e->device, (uintptr_t)&r->next, &wild, sizeof wild);
    device_write(e->device, (uintptr_t)&r->door_count, &many, sizeof many);
    CHECK_STATUS(haul_unmarshal(e->s), HAUL_OK);
    CHECK_EQ(e->first->next->door_count, many);
    e->first->next->door_count = 3;
    world_check_changed_by(&e->w, before, museum_change, e->first);
    scene_end(e);
}

TEST(update, a_pointer_that_leads_out_of_the_graph_is_refused_before_anything_is_written_D14)
{
    scene *e = scene_start(9, 0);
    room *third = haul_device_pointer(e->s, e->first->next->next), copy;
    unsigned char *before = world_picture(&e->w);
    haul_address bad[8];
    size_t i, count = 0;
    void *wild;
    bad[count++] = 1;
    bad[count++] = e->told.base; /* the reserved granule */
    bad[count++] = e->told.base - 1;
    bad[count++] = e->told.base + e->told.arena_bytes + 16;
    bad[count++] = (uintptr_t)e->first->next->next; /* a host address */
    bad[count++] = UINTPTR_MAX;
    CHECK_STATUS(haul_host_launch(e->device, museum_change, haul_device_pointer(e->s, e->first)),
                 HAUL_OK);
    device_read(e->device, &copy, (uintptr_t)third, sizeof copy);
    for (i = 0; i < count; i++) {
        wild = (void *)(uintptr_t)bad[i];
        device_write(e->device, (uintptr_t)&third->next, &wild, sizeof wild);
        CHECK_STATUS(haul_update_host(e->s, WITH_POINTERS, NULL), HAUL_ERROR_GRAPH);
        CHECK_HAS(haul_context_error(haul_device_context(e->device))->path, "next");
        CHECK_BYTES(e->w.memory, before, e->w.bytes);
    }
    device_write(e->device, (uintptr_t)third, &copy, sizeof copy);
    CHECK_STATUS(haul_update_host(e->s, WITH_POINTERS, NULL), HAUL_OK);
    world_check_changed_by(&e->w, before, museum_change, e->first);
    scene_end(e);
}

TEST(update, or_is_left_and_counted_if_that_is_asked_for)
{
    const haul_update_options how = { .pointers = 1, .leave_outside = 1 };
    haul_update_options wrong = { .leave_outside = 1 };
    scene *e = scene_start(9, 0);
    room *second = e->first->next, *third = second->next, *fourth = third->next;
    void *wild = second; /* an address of the host */
    uintptr_t there = (uintptr_t)device_address(e->s, second);
    haul_shipment_info info;
    device_write(e->device, device_address(e->s, &third->next), &wild, sizeof wild);
    device_write(e->device, device_address(e->s, &fourth->next), &there, sizeof there);
    CHECK_STATUS(haul_update_host(e->s, &wrong, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(haul_device_context(e->device))->text, "leave_outside");
    CHECK_STATUS(haul_update_host(e->s, &how, NULL), HAUL_OK);
    CHECK_PTR(third->next, fourth);
    CHECK_PTR(fourth->next, second);
    haul_shipment_get_info(e->s, &info);
    CHECK_EQ(info.pointers_left, 1);
    there = (uintptr_t)device_address(e->s, fourth);
    device_write(e->device, device_address(e->s, &third->next), &there, sizeof there);
    CHECK_STATUS(haul_update_host(e->s, &how, NULL), HAUL_OK);
    haul_shipment_get_info(e->s, &info);
    CHECK_EQ(info.pointers_left, 0);
    scene_end(e);
}

TEST(update, null_comes_and_goes_and_interior_pointers_and_ends_are_kept)
{
    scene *e = scene_start(9, 0);
    room *first = haul_device_pointer(e->s, e->first), *last = e->first;
    room *none = NULL;
    char *name = haul_device_pointer(e->s, e->first->next->name + 3), *end;
    while (last->next)
        last = last->next;
    end = (char *)haul_device_pointer(e->s, last->color) + sizeof last->color;
    device_write(e->device, (uintptr_t)&first->next, &none, sizeof none);
    device_write(e->device, (uintptr_t)&first->name, &name, sizeof name);
    device_write(e->device, device_address(e->s, &last->next), &first, sizeof first);
    device_write(e->device, device_address(e->s, &last->name), &end, sizeof end);
    name = e->first->next->name + 3;
    CHECK_STATUS(haul_update_host(e->s, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(e->first->next, NULL);
    CHECK_PTR(e->first->name, name);
    CHECK_PTR(last->next, e->first);
    CHECK_PTR(last->name, last->color + sizeof last->color);
    scene_end(e);
}
