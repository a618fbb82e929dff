/* Shipping: the device's copy after each call that sends, and the source after each call that
 * brings data back.
 */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

#include "haul/host.h"
#include "must.h"
#include "support/short_forms.h"
#include "support/inside.h"

static haul_source source_of(trial *t, uint32_t way)
{
    if (way == 0 && t->g.root_count == 1)
        return haul_from_array(t->g.roots[0].address, t->g.roots[0].type, t->g.roots[0].count);
    return way == 1 ? haul_from_plan(t->plan) : haul_from_roots(t->g.roots, t->g.root_count);
}

int trial_ship(trial *t)
{
    haul_ship_options options;
    haul_status status;
    uint32_t way = choose(t->c, 3);
    memset(&options, 0, sizeof options);
    host_patches(t->device, (int)chance(t->c, 1, 3));
    options.ordered = way != 1 && t->is_ordered; /* a plan has its own order */
    options.lock_source = chance(t->c, 1, 2);
    options.let_counts_change = t->lets_change;
    status = haul_ship_from(t->device, source_of(t, way), &options, NULL, &t->shipment);
    if (status != HAUL_OK)
        return trial_fail(t, "ship: %s", haul_status_name(status));
    haul_plan_free(&t->plan); /* the shipment has its own, or holds this one */
    return trial_source_is_unchanged(t, "ship");
}

static void walk_device(void *argument)
{
    trial *t = argument;
    reference_place place = { { 0 }, 0, 0, BARS_ALL, 0 };
    haul_shipment_info s;
    haul_shipment_get_info(t->shipment, &s);
    place.first = (uintptr_t)s.base;
    place.bytes = s.arena_bytes;
    place.is_ordered = t->is_ordered;
    for (size_t i = 0; i < t->g.root_count; i++) {
        const void *first = trial_first_described(t, t->g.roots[i].address);
        place.roots[i] = (uintptr_t)haul_device_pointer(t->shipment, first) -
                         ((uintptr_t)first - (uintptr_t)t->g.roots[i].address);
    }
    reference_free(&t->device_side);
    if (reference_walk(&t->g, &place, &t->device_side))
        reference_rest_is_zero(&t->device_side, (const void *)(uintptr_t)s.base, s.arena_bytes);
}

int trial_device_agrees(trial *t, const char *after)
{
    haul_status status = haul_host_launch(t->device, walk_device, t);
    if (status != HAUL_OK)
        return trial_fail(t, "%s: launch: %s", after, haul_status_name(status));
    if (t->device_side.wrong[0] != '\0')
        return trial_fail(t, "%s: on the device: %s", after, t->device_side.wrong);
    return 1;
}

/* Every pointer on the device is what the look-up says of its target; the reverse look-up leads
 * back. */
int trial_addresses_agree(trial *t)
{
    for (size_t i = 0; i < t->device_side.slot_count; i++) {
        const reference_slot *s = &t->device_side.slots[i];
        if ((uintptr_t)device_address(t->shipment, s->at) != s->copy)
            return trial_fail(t, "haul_device_pointer: of the pointer at %p", (void *)s->at);
        if (host_of(t->shipment, s->copy) != s->at)
            return trial_fail(t, "haul_host_pointer: of the pointer at %p", (void *)s->at);
    }
    if (device_address(t->shipment, NULL) != 0 || host_of(t->shipment, 0) != NULL)
        return trial_fail(t, "look-up of NULL");
    return 1;
}

typedef struct extent_check {
    trial *t;
    uintptr_t end, there; /* of the extent before */
    size_t described;
    int is_wrong;
} extent_check;

/* An extent has described bytes, at the places that the reference found, and left-out bytes of
 * objects; it does not continue the one before. */
static int check_extent(void *user, const haul_shipped_range *extent)
{
    extent_check *check = user;
    const reference *r = &check->t->device_side;
    const uintptr_t host = (uintptr_t)extent->host, there = (uintptr_t)extent->device;
    uintptr_t copy;
    size_t at = 0;
    check->is_wrong |= extent->bytes == 0 || extent->bytes != extent->count || host < check->end ||
                       (host == check->end && there == check->there);
    while (at < extent->bytes && !check->is_wrong) {
        int is_inside;
        size_t n =
            reference_stretch(r->all, r->all_count, host + at, extent->bytes - at, &is_inside);
        if (is_inside) {
            check->is_wrong = !reference_find(r, host + at, &copy) || copy != there + at;
            check->described += n;
        } else {
            n = reference_stretch(r->rooms, r->room_count, host + at, n, &is_inside);
            check->is_wrong = !is_inside;
        }
        at += n;
    }
    check->end = host + extent->bytes;
    check->there = there + extent->bytes;
    return check->is_wrong;
}

/* The extents are the described bytes, and no others but those that types leave out. */
int trial_extents_agree(trial *t)
{
    extent_check check = { t, 0, 0, 0, 0 };
    const haul_status status = haul_shipment_extents(t->shipment, check_extent, &check);
    size_t described = 0, i;
    for (i = 0; i < t->device_side.all_count; i++)
        described += t->device_side.all[i].bytes;
    if (status != HAUL_OK)
        return trial_fail(t, "extents: %s, before %p", haul_status_name(status), (void *)check.end);
    if (check.described != described)
        return trial_fail(t, "extents have %lu of %lu described bytes",
                          (unsigned long)check.described, (unsigned long)described);
    return 1;
}

typedef struct pointer_check {
    trial *t;
    const reference_slot *wrong;
} pointer_check;

static void check_pointers(void *argument)
{
    pointer_check *check = argument;
    trial *t = check->t;
    for (size_t i = 0; i < t->device_side.slot_count; i++) {
        const reference_slot *s = &t->device_side.slots[i];
        uintptr_t there = (uintptr_t)device_address(t->shipment, s->value);
        if (t->is_ordered && s->kind != SLOT_FOLLOWED && host_of(t->shipment, there) == s->value)
            continue; /* the end of something, where something else begins */
        if (there != 0 && trial_is_pointer(s) && s->kind != SLOT_RULED &&
            (s->kind == SLOT_END || s->value == s->target) &&
            there != (uintptr_t)graph_read_pointer((const void *)s->copy))
            check->wrong = s;
    }
}

int trial_pointers_agree(trial *t)
{
    pointer_check check;
    check.t = t;
    check.wrong = NULL;
    if (haul_host_launch(t->device, check_pointers, &check) != HAUL_OK)
        return trial_fail(t, "launch");
    if (check.wrong != NULL)
        return trial_fail(t,
                          "the pointer at %p is not what haul_device_pointer says of its target %p",
                          (void *)check.wrong->at, check.wrong->value);
    return 1;
}

static void change_device(void *argument)
{
    trial *t = argument;
    trial_change_copies(t, &t->device_side, 1);
}

int trial_unmarshal(trial *t)
{
    haul_status status = haul_host_launch(t->device, change_device, t);
    if (status == HAUL_OK)
        status = haul_unmarshal(t->shipment);
    if (status != HAUL_OK)
        return trial_fail(t, "unmarshal: %s", haul_status_name(status));
    return trial_source_has_results(t, 0, UINTPTR_MAX, "unmarshal");
}

typedef struct counting {
    uintptr_t at;
    const reference_count *count;
} counting;

static void make_smaller(void *argument)
{
    const counting *s = argument;
    graph_write((void *)s->at, s->count->bytes, s->count->smaller);
}

/* Of data that come back. */
static const reference_count *some_count(trial *t)
{
    size_t n = t->host.count_count;
    const reference_count *k =
        n != 0 ? &t->host.counts[(size_t)random_word(&t->c->filler) % n] : NULL;
    int is_data, unreturned;
    if (k == NULL)
        return NULL;
    n = reference_stretch(t->host.data, t->host.data_count, (uintptr_t)k->at, k->bytes, &is_data);
    if (!is_data || n < k->bytes)
        return NULL;
    n = reference_stretch(t->host.unreturned, t->host.unreturned_count, (uintptr_t)k->at, k->bytes,
                          &unreturned);
    return !unreturned && n == k->bytes ? k : NULL;
}

int trial_unmarshal_a_count(trial *t)
{
    const reference_count *k = some_count(t);
    const int way = (int)choose(t->c, 3);
    unsigned char smaller[8];
    haul_status status;
    counting s;
    if (k == NULL || !reference_find(&t->device_side, (uintptr_t)k->at, &s.at))
        return 1;
    s.count = k;
    status = haul_host_launch(t->device, make_smaller, &s);
    if (status == HAUL_OK)
        status = way == 0   ? haul_unmarshal(t->shipment)
                 : way == 1 ? haul_update_host(t->shipment, WITH_POINTERS, NULL)
                            : haul_update_host(t->shipment, RANGE(k->at, k->bytes), NULL);
    if (status != (t->lets_change ? HAUL_OK : HAUL_ERROR_GRAPH))
        return trial_fail(t, "unmarshal of a count that the device has changed, way %d: %s", way,
                          haul_status_name(status));
    if (!t->lets_change && haul_context_error(t->context)->path[0] == '\0')
        return trial_fail(t, "unmarshal of a count that the device has changed, way %d: no path",
                          way);
    graph_write(smaller, k->bytes, k->smaller);
    if (t->lets_change && memcmp(k->at, smaller, k->bytes) == 0)
        trial_restore(t, (uintptr_t)k->at, k->bytes);
    else if (t->lets_change)
        return trial_fail(t, "unmarshal of a count that may change, way %d: it did not come back",
                          way);
    if (t->lets_change && way < 2 && !trial_restore_unsent(t))
        return 0;
    return trial_source_is_unchanged(t, "unmarshal of a count") &&
           trial_refresh(t, "after a changed count");
}

typedef struct arena_check {
    const unsigned char *packed;
    uintptr_t base;
    size_t bytes, first_wrong;
} arena_check;

static void compare_arenas(void *argument)
{
    arena_check *check = argument;
    const unsigned char *there = (const unsigned char *)check->base;
    check->first_wrong = 0;
    while (check->first_wrong < check->bytes &&
           there[check->first_wrong] == check->packed[check->first_wrong])
        check->first_wrong++;
}

/* What the device has gathered is what the host packs, to the byte. */
static int pulled_is_packed(trial *t, const char *why)
{
    haul_shipment_info s;
    arena_check check;
    haul_plan *plan = NULL;
    unsigned char *packed;
    haul_status status;
    haul_shipment_get_info(t->shipment, &s);
    if (s.pulls == 0)
        return 1;
    check.base = (uintptr_t)s.base;
    check.bytes = s.arena_bytes;
    check.packed = packed = must(malloc(check.bytes));
    status =
        haul_plan_create(t->context, haul_from_roots(t->g.roots, t->g.root_count), NULL, &plan);
    if (status == HAUL_OK)
        status = haul_plan_pack(plan, packed, check.bytes, s.base, NULL);
    if (status == HAUL_OK)
        status = haul_host_launch(t->device, compare_arenas, &check);
    haul_plan_free(&plan);
    free(packed);
    if (status != HAUL_OK)
        return trial_fail(t, "%s: packing beside a gathered arena: %s", why,
                          haul_status_name(status));
    return check.first_wrong == check.bytes ||
           trial_fail(t, "%s: byte %zu that the device has gathered is not what is packed", why,
                      check.first_wrong);
}

int trial_refresh(trial *t, const char *why)
{
    haul_status status = haul_update_device(t->shipment, NULL, NULL);
    if (status != HAUL_OK)
        return trial_fail(t, "refresh, %s: %s", why, haul_status_name(status));
    return trial_device_agrees(t, why) && pulled_is_packed(t, why);
}

int trial_refresh_after_change(trial *t)
{
    trial_change_source(t);
    if (!trial_refresh(t, "after a change of data"))
        return 0;
    graph_restore(&t->g);
    return trial_refresh(t, "after the data were put back");
}

/* Back once more: where the source has been locked, the device writes it. */
int trial_unmarshal_again(trial *t)
{
    haul_shipment_info s;
    if (!trial_unmarshal(t))
        return 0;
    haul_shipment_get_info(t->shipment, &s);
    t->world->crossed_directly += s.pulls > 0 && s.pushes > 0;
    return trial_refresh(t, "after a second return");
}

/* What is not sent stays zero: an update would leave there what a kernel has put there. */
static void change_sent(void *argument)
{
    trial *t = argument;
    trial_change_copies(t, &t->device_side, 0);
}

static int updates_the_host(trial *t, const reference_range *r)
{
    size_t first = (size_t)random_word(&t->c->filler) % r->bytes;
    size_t bytes = 1 + (size_t)random_word(&t->c->filler) % (r->bytes - first);
    void *host = (void *)(r->host + first);
    haul_status status = haul_host_launch(t->device, change_sent, t);
    if (status == HAUL_OK)
        status = haul_update_host(t->shipment, RANGE(host, bytes), NULL);
    if (status != HAUL_OK)
        return trial_fail(t, "update of the host, %zu bytes at %p: %s", bytes, host,
                          haul_status_name(status));
    return trial_source_has_results(t, r->host + first, r->host + first + bytes,
                                    "update of the host");
}

/* Few graphs are nothing but roots of no elements. */
int trial_update(trial *t)
{
    size_t n = t->host.all_count;
    haul_status status = HAUL_OK;
    if (n != 0 && !updates_the_host(t, &t->host.all[(size_t)random_word(&t->c->filler) % n]))
        return 0;
    /* piece by piece: all of it */
    for (size_t i = 0; i < t->host.all_count && status == HAUL_OK; i++)
        status = haul_update_device(t->shipment,
                                    RANGE((void *)t->host.all[i].host, t->host.all[i].bytes), NULL);
    if (status != HAUL_OK)
        return trial_fail(t, "update of the device: %s", haul_status_name(status));
    return trial_source_is_unchanged(t, "update of the device") &&
           trial_device_agrees(t, "update of the device");
}

int trial_replan(trial *t)
{
    haul_status status;
    trial_change_source(t);
    status = haul_reship(t->shipment, NULL);
    if (status != HAUL_OK)
        return trial_fail(t, "replan: %s", haul_status_name(status));
    if (!trial_device_agrees(t, "replan"))
        return 0;
    graph_restore(&t->g);
    return 1;
}
