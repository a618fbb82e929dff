/* Images of shipments: what the device has is written, and the host's objects are left alone.
 */
#define _DEFAULT_SOURCE
#include "images/image_bytes.h"
#include "ship_graphs.h"

/* A museum on a device, and an image of it. */
typedef struct display {
    world w;
    room *first;
    haul_device *device;
    haul_context *context;
    haul_shipment *shipment;
    image_bytes bytes;
    haul_image *image;
} display;

static display the_display;

static display *display_start(const haul_ship_options *options)
{
    display *d = &the_display;
    memset(d, 0, sizeof *d);
    world_start(&d->w, 1 << 20);
    museum_open();
    d->first = museum_make(&d->w, 12, 1);
    d->device = host_device();
    d->context = haul_device_context(d->device);
    CHECK_STATUS(haul_ship(d->device, d->first, room_type, 1, options, &d->shipment), HAUL_OK);
    return d;
}

static void display_end(display *d)
{
    haul_image_free(&d->image);
    haul_shipment_free(&d->shipment);
    CHECK_EQ(counters_of(d->device).bytes_live, 0);
    haul_device_close(&d->device);
    bytes_free(&d->bytes);
    museum_close();
    world_end(&d->w);
}

static haul_status write_image(display *d, haul_source source)
{
    const haul_file file = bytes_file(&d->bytes);
    bytes_resize(&d->bytes, 0);
    return haul_image_write(d->context, source, &file);
}

/* Writes an image, with the host's objects out of reach, and loads it as a stranger's. */
static room *through_an_image(display *d, haul_source source)
{
    haul_image_free(&d->image);
    world_protect(&d->w, PROT_NONE);
    CHECK_STATUS(write_image(d, source), HAUL_OK);
    world_protect(&d->w, PROT_READ | PROT_WRITE);
    CHECK_STATUS(haul_image_from_bytes(d->context, d->bytes.at, d->bytes.count, &room_type, 1, NULL,
                                       &d->image),
                 HAUL_OK);
    return haul_image_roots(d->image, NULL)[0].address;
}

static void check_loaded(room *loaded, room *first)
{
    const visit seen = museum_seen_from(loaded), wanted = museum_seen_from(first);
    check_visits_agree(&seen, &wanted);
}

static void on_device(display *d, void (*kernel)(void *))
{
    CHECK_STATUS(haul_host_launch(d->device, kernel, haul_device_pointer(d->shipment, d->first)),
                 HAUL_OK);
}

static void change_nothing(void *argument)
{
    (void)argument;
}

TEST(image_device, what_a_kernel_has_written_is_in_the_image_and_not_in_the_source)
{
    int ordered;
    for (ordered = 0; ordered < 2; ordered++) {
        const haul_ship_options options = { .ordered = ordered };
        display *d = display_start(&options);
        unsigned char *before = world_picture(&d->w);
        room *loaded;
        on_device(d, museum_change);
        loaded = through_an_image(d, haul_from_device(d->shipment));
        world_check_changed_by(&d->w, before, change_nothing, NULL);
        museum_change(d->first);
        check_loaded(loaded, d->first);
        display_end(d);
    }
}

TEST(image_device, an_untouched_shipment_makes_the_image_of_its_source)
{
    display *d = display_start(NULL);
    image_bytes source = { NULL, 0, 0 };
    const haul_file file = bytes_file(&source);
    CHECK_STATUS(haul_image_write(d->context, haul_from_object(d->first, room_type), &file),
                 HAUL_OK);
    CHECK_STATUS(write_image(d, haul_from_device(d->shipment)), HAUL_OK);
    CHECK_EQ(source.count, d->bytes.count);
    CHECK(memcmp(source.at, d->bytes.at, source.count) == 0);
    bytes_free(&source);
    display_end(d);
}

/* The second room goes, and the third has fewer samples. */
static void rebuild(void *argument)
{
    room *first = argument;
    first->next = first->next->next;
    first->next->sample_count = 1;
    first->next->samples++;
}

TEST(image_device, counts_and_pointers_that_a_kernel_has_changed_are_followed)
{
    display *d = display_start(NULL);
    room *loaded;
    on_device(d, rebuild);
    loaded = through_an_image(d, haul_from_device(d->shipment));
    rebuild(d->first);
    check_loaded(loaded, d->first);
    CHECK_EQ(loaded->next->area, d->first->next->area);
    display_end(d);
}

TEST(image_device, the_image_is_written_in_the_shipments_own_context)
{
    display *d = display_start(NULL);
    const haul_file file = bytes_file(&d->bytes);
    haul_context *other;
    CHECK_STATUS(haul_context_create(NULL, &other), HAUL_OK);
    CHECK_STATUS(haul_image_write(other, haul_from_device(d->shipment), &file),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(other)->text, "of another context");
    haul_context_free(&other);
    display_end(d);
}

TEST(image_device, one_object_of_the_shipment_can_be_the_root)
{
    display *d = display_start(NULL);
    room *third = d->first->next->next;
    CHECK_EQ(through_an_image(d, haul_from_device_root(d->shipment, third, room_type))->area,
             third->area);
    display_end(d);
}

static void lead_out(void *argument)
{
    room *first = argument;
    first->next->next = (room *)(void *)&the_display;
}

TEST(image_device, a_pointer_that_leads_out_of_the_shipment_is_refused_with_its_path)
{
    display *d = display_start(NULL);
    const haul_error *error = haul_context_error(d->context);
    on_device(d, lead_out);
    CHECK_STATUS(write_image(d, haul_from_device(d->shipment)), HAUL_ERROR_GRAPH);
    CHECK_STR(error->path, "root.next.next");
    CHECK_EQ(d->bytes.count, 0);
    display_end(d);
}

TEST(image_device, an_arena_is_written_as_the_device_has_it_once_its_root_is_named)
{
    display *d = display_start(NULL);
    haul_shipment *with_root = NULL, *without = NULL;
    haul_arena *arena;
    room *one, *two;
    CHECK_STATUS(test_arena(d->device, NULL, &arena), HAUL_OK);
    (void)haul_arena_bytes(arena, 48, 0); /* the root does not lie at the base */
    one = haul_arena_new(arena, room_type, 1);
    two = haul_arena_new(arena, room_type, 1);
    one->name = haul_arena_bytes(arena, 8, 0);
    two->name = one->name + 3;
    memcpy(one->name, "ab-cd", 6);
    one->next = two;
    two->next = one;
    CHECK_STATUS(haul_ship_from(d->device, haul_from_arena(arena), NULL, NULL, &without), HAUL_OK);
    CHECK_STATUS(haul_ship_from(d->device, haul_from_arena_root(arena, one, room_type), NULL, NULL,
                                &with_root),
                 HAUL_OK);
    CHECK_STATUS(haul_host_launch(d->device, museum_change, haul_device_pointer(without, one)),
                 HAUL_OK);
    CHECK_STATUS(write_image(d, haul_from_device(without)), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(d->context)->text, "haul_from_device_root names its root");
    CHECK_STR(through_an_image(d, haul_from_device_root(without, one, room_type))->name, "Rb-Rd");
    CHECK_STR(through_an_image(d, haul_from_device(with_root))->next->name, "cd");
    CHECK_STR(one->name, "ab-cd");
    haul_shipment_free(&with_root);
    haul_shipment_free(&without);
    haul_arena_free(&arena);
    display_end(d);
}
