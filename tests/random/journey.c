/* The journey of an arena: the device's copy after each call that sends, and the arena, byte for
 * byte, after each call that brings data or pointers back.
 */
#include "building.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/host.h"
#include "kernels.h"
#include "must.h"
#include "support/short_forms.h"

/* The first shipment makes all bytes readable, those between allocations too. */
static void take_images(building *b)
{
    b->image = must(malloc(b->used));
    b->expected = must(malloc(b->used));
    memcpy(b->image, b->base, b->used);
}

static int is_as_it_was(building *b, const char *after)
{
    for (size_t i = 0; i < b->used; i++)
        if (b->base[i] != b->image[i])
            return building_fail(b, "%s: byte %zu of the arena has changed", after, i);
    return 1;
}

/* ---- Bytes of nobody, between the objects of a discovered graph ---- */

/* How many bytes from `at` on belong all to objects, or all to nobody. */
static size_t stretch_of_nobody(const building *b, size_t at, int *is_nobodys)
{
    const reference *r = &b->there;
    const reference_range root = { (uintptr_t)b->root, 0, 4 * sizeof(void *) };
    const uintptr_t address = (uintptr_t)b->base + at;
    int in_root, in_room, is_described;
    size_t n = reference_stretch(&root, 1, address, b->used - at, &in_root);
    n = reference_stretch(r->rooms, r->room_count, address, n, &in_room);
    n = reference_stretch(r->all, r->all_count, address, n, &is_described);
    *is_nobodys = !in_root && !in_room && !is_described;
    return n;
}

/* They go as they lie. */
static void look_at_nobodys(building *b, const unsigned char *there)
{
    int is_nobodys;
    for (size_t at = 0, n; at < b->used; at += n) {
        n = stretch_of_nobody(b, at, &is_nobodys);
        if (is_nobodys && memcmp(there + at, b->image + at, n) != 0)
            snprintf(b->there.wrong, sizeof b->there.wrong,
                     "some of the %zu bytes of nobody at %zu of the arena have changed", n, at);
    }
}

/* And they come back. */
static void change_nobodys(building *b, unsigned char *there)
{
    int is_nobodys;
    for (size_t at = 0, n; at < b->used; at += n) {
        n = stretch_of_nobody(b, at, &is_nobodys);
        for (size_t i = at; is_nobodys && i < at + n; i++)
            b->expected[i] = there[i] ^= 0x55;
    }
}

/* ---- On the device ---- */

static void walk_device(void *argument)
{
    building *b = argument;
    reference_place place;
    haul_shipment_info s;
    haul_shipment_get_info(b->shipment, &s);
    place.first = (uintptr_t)s.base;
    place.bytes = s.arena_bytes;
    place.is_ordered = 0;
    place.bars = b->is_discovered ? BARS_BACK : BARS_OF_FIELDS;
    for (size_t i = 0; i < b->view.root_count; i++)
        place.roots[i] =
            (uintptr_t)s.base + ((uintptr_t)b->view.roots[i].address - (uintptr_t)b->base);
    reference_free(&b->there);
    if (reference_walk(&b->view, &place, &b->there) && b->is_discovered)
        look_at_nobodys(b, (const unsigned char *)(uintptr_t)s.base);
}

static int device_agrees(building *b, const char *after)
{
    if (haul_host_launch(b->device, walk_device, b) != HAUL_OK)
        return building_fail(b, "%s: launch", after);
    if (b->there.wrong[0] != '\0')
        return building_fail(b, "%s: on the device: %s", after, b->there.wrong);
    return 1;
}

/* Of this range, what comes back. */
static void expect(building *b, const reference_range *r)
{
    int unreturned;
    for (size_t at = 0, n; at < r->bytes; at += n) {
        n = reference_stretch(b->there.unreturned, b->there.unreturned_count, r->host + at,
                              r->bytes - at, &unreturned);
        if (!unreturned)
            memcpy(b->expected + (r->host + at - (uintptr_t)b->base), (const void *)(r->copy + at),
                   n);
    }
}

/* What the description reads is as it was. */
static void freeze(const building *b)
{
    for (size_t i = 0; i < b->g->frozen.count; i++) {
        const graph_region *r = &b->g->frozen.at[i];
        for (size_t k = 0; k < r->count; k++) {
            uintptr_t at = building_moved(b, r->address + k);
            if (at != 0)
                reference_set_data(&b->there, at, r->address[k]);
        }
    }
}

/* New data there; `expected` is what the arena is then to hold. */
static void change_device(void *argument)
{
    building *b = argument;
    memcpy(b->expected, b->image, b->used);
    for (size_t i = 0; i < b->there.data_count; i++)
        fill(b->c, (void *)b->there.data[i].copy, b->there.data[i].bytes);
    if (b->is_discovered && !b->lets_change)
        freeze(b);
    for (size_t i = 0; i < b->there.data_count; i++)
        expect(b, &b->there.data[i]);
}

static void change_all(void *argument)
{
    building *b = argument;
    change_device(b);
    if (b->is_discovered)
        change_nobodys(b, haul_device_pointer(b->shipment, b->base));
}

static int brings_back(building *b, haul_status (*call)(haul_shipment *), const char *name)
{
    haul_status status = haul_host_launch(b->device, change_all, b);
    if (status == HAUL_OK)
        status = call(b->shipment);
    if (status != HAUL_OK)
        return building_fail(b, "%s of an arena: %s", name, haul_status_name(status));
    for (size_t i = 0; i < b->used; i++)
        if (b->base[i] != b->expected[i])
            return building_fail(b, "%s: byte %zu of the arena is not what came back", name, i);
    memcpy(b->base, b->image, b->used);
    status = haul_update_device(b->shipment, NULL, NULL);
    if (status != HAUL_OK)
        return building_fail(b, "refresh of an arena after %s: %s", name, haul_status_name(status));
    return device_agrees(b, "refresh of an arena");
}

/* ---- A pointer that the device has changed ---- */

static int comes_back(const building *b, const reference_slot *s)
{
    int unreturned;
    reference_stretch(b->there.unreturned, b->there.unreturned_count, (uintptr_t)s->at, 1,
                      &unreturned);
    return !unreturned;
}

static const reference_slot *some_followed(building *b)
{
    size_t n = b->there.slot_count, start = n != 0 ? (size_t)random_word(&b->c->filler) % n : 0;
    for (size_t i = 0; i < n; i++) {
        const reference_slot *s = &b->there.slots[(start + i) % n];
        if (s->kind == SLOT_FOLLOWED && s->high_tags == 0 && comes_back(b, s))
            return s;
    }
    return NULL;
}

static int brings_back_a_pointer(building *b)
{
    const reference_slot *a = some_followed(b), *from = some_followed(b);
    haul_status status;
    kernel_store s;
    if (a == NULL)
        return 1;
    s.at = a->copy;
    s.value = from->copy;
    s.from_slot = 1;
    if (haul_host_launch(b->device, kernel_write, &s) != HAUL_OK)
        return building_fail(b, "launch");
    status = haul_update_host(b->shipment, WITH_POINTERS, NULL);
    if (status != HAUL_OK)
        return building_fail(b, "pointers of an arena: %s", haul_status_name(status));
    if (graph_read_pointer(a->at) != from->value)
        return building_fail(b, "pointers of an arena: %p came back, not %p",
                             graph_read_pointer(a->at), from->value);
    graph_write_pointer(a->at, a->value);
    if (!is_as_it_was(b, "pointers of an arena"))
        return 0;
    return haul_update_device(b->shipment, NULL, NULL) == HAUL_OK ||
           building_fail(b, "refresh of an arena");
}

static const reference_slot *some_tagged(building *b)
{
    size_t n = b->there.slot_count, start = n != 0 ? (size_t)random_word(&b->c->filler) % n : 0;
    uintptr_t copy;
    for (size_t i = 0; i < n; i++) {
        const reference_slot *s = &b->there.slots[(start + i) % n];
        if (s->high_tags != 0 && comes_back(b, s) &&
            reference_find(&b->there, (uintptr_t)s->target, &copy))
            return s;
    }
    return NULL;
}

static int brings_back_a_tag(building *b)
{
    kernel_retag r = { some_tagged(b), 0 };
    if (r.slot == NULL)
        return 1;
    if (haul_host_launch(b->device, kernel_turn_bit, &r) != HAUL_OK ||
        haul_update_host(b->shipment, WITH_POINTERS, NULL) != HAUL_OK)
        return building_fail(b, "pointers of an arena, with a tag of the device's");
    if ((uintptr_t)graph_read_pointer(r.slot->at) != ((uintptr_t)r.slot->value ^ r.bit))
        return building_fail(b, "pointers of an arena: a tagged %p came back as %p", r.slot->value,
                             graph_read_pointer(r.slot->at));
    graph_write_pointer(r.slot->at, r.slot->value);
    if (!is_as_it_was(b, "pointers of an arena, with a tag of the device's"))
        return 0;
    return haul_update_device(b->shipment, NULL, NULL) == HAUL_OK ||
           building_fail(b, "refresh of an arena");
}

/* ---- Parts ---- */

/* Of what the device has changed a range comes, and nothing else. */
static int updates_the_host(building *b, const reference_range *r)
{
    size_t first = (size_t)random_word(&b->c->filler) % r->bytes;
    size_t bytes = 1 + (size_t)random_word(&b->c->filler) % (r->bytes - first);
    size_t at = r->host + first - (uintptr_t)b->base;
    haul_status status = haul_host_launch(b->device, change_device, b);
    if (status == HAUL_OK)
        status = haul_update_host(b->shipment, RANGE(b->base + at, bytes), NULL);
    if (status != HAUL_OK)
        return building_fail(b, "update of %zu bytes of an arena: %s", bytes,
                             haul_status_name(status));
    for (size_t i = 0; i < b->used; i++)
        if (b->base[i] != (i - at < bytes ? b->expected : b->image)[i])
            return building_fail(b, "update of an arena: byte %zu is not what it must be", i);
    memcpy(b->base, b->image, b->used);
    return 1;
}

/* Range by range, all data go there again. */
static int updates(building *b)
{
    haul_status status = HAUL_OK;
    size_t n = b->there.data_count;
    if (n == 0)
        return 1;
    if (!updates_the_host(b, &b->there.data[(size_t)random_word(&b->c->filler) % n]))
        return 0;
    for (size_t i = 0; i < n && status == HAUL_OK; i++)
        status = haul_update_device(
            b->shipment, RANGE((void *)b->there.data[i].host, b->there.data[i].bytes), NULL);
    if (status != HAUL_OK)
        return building_fail(b, "update of the device's arena: %s", haul_status_name(status));
    return device_agrees(b, "update of the device's arena");
}

/* ---- Elsewhere on the device ---- */

static int moves_on(building *b)
{
    haul_shipment *copy;
    haul_status status = haul_shipment_copy(b->shipment, b->device, &copy);
    if (status != HAUL_OK)
        return building_fail(b, "copy of an arena's shipment: %s", haul_status_name(status));
    haul_shipment_free(&b->shipment);
    b->shipment = copy;
    return device_agrees(b, "copy of an arena's shipment");
}

static int replans(building *b)
{
    haul_status status = haul_reship(b->shipment, NULL);
    if (status != HAUL_OK)
        return building_fail(b, "replan of an arena: %s", haul_status_name(status));
    return device_agrees(b, "replan of an arena");
}

int building_travels(building *b)
{
    take_images(b);
    if (!building_holds_the_graph(b) || !device_agrees(b, "ship of an arena") ||
        (chance(b->c, 1, 2) && !moves_on(b)) || !brings_back(b, haul_unmarshal, "unmarshal") ||
        !brings_back(b, unmarshal_pointers_now, "unmarshal with pointers") ||
        !brings_back_a_pointer(b) || !brings_back_a_tag(b) || !updates(b))
        return 0;
    if (chance(b->c, 1, 2) &&
        (!moves_on(b) || !brings_back(b, haul_unmarshal, "unmarshal from a copy")))
        return 0;
    return !chance(b->c, 1, 4) || replans(b);
}
