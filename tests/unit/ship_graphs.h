/* What the suites of the ship room share: a museum, and ways to look at a device.
 *
 * A museum is a ring or list of rooms with doors between them: cycles, shared objects, arrays of
 * pointers, counted arrays, strings of odd sizes side by side, and a field that does not travel.
 */
#ifndef HAUL_TESTS_SHIP_GRAPHS_H
#define HAUL_TESTS_SHIP_GRAPHS_H

#ifndef _DEFAULT_SOURCE
#error "define _DEFAULT_SOURCE before the first header"
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "haul.h"
#include "support/check.h"
#include "support/open.h"
#include "support/types.h"
#include "support/world.h"

/* ---- The museum. */

typedef struct room {
    int32_t door_count, area;
    struct room **doors;
    char *name;
    void *cache; /* stays at home */
    double *samples;
    struct room *next;
    int16_t sample_count;
    char color[6];
} room;

static haul_type *room_type;

static inline void museum_open(void)
{
    static const haul_field fields[] = {
        HAUL_POINTERS(room, doors, &room_type, HAUL_COUNT(room, door_count)),
        HAUL_STRING(room, name),
        HAUL_SKIP(room, cache),
        HAUL_ARRAY(room, samples, HAUL_COUNT(room, sample_count)),
        HAUL_OBJECT(room, next, &room_type),
    };
    CHECK_STATUS(
        type_make("room", sizeof(room), fields, sizeof fields / sizeof *fields, &room_type),
        HAUL_OK);
    CHECK_STATUS(haul_type_commit(room_type), HAUL_OK);
}

static inline void museum_close(void)
{
    haul_type_free(&room_type);
}

static inline room *room_make(world *w, int32_t i)
{
    char name[32];
    int16_t s;
    room *r = world_take(w, sizeof *r, sizeof(void *));
    /* of its block, the bytes that travel */
    w->blocks[w->count - 1].bytes = offsetof(room, cache);
    world_note(w, &r->samples, sizeof *r - offsetof(room, samples));
    memset(r, 0, sizeof *r);
    r->area = 100 + i;
    r->cache = r;
    r->sample_count = (int16_t)(i % 4);
    memcpy(r->color, "green", 6);
    if (r->sample_count > 0)
        r->samples = world_take(w, (size_t)r->sample_count * sizeof *r->samples, sizeof(double));
    for (s = 0; s < r->sample_count; s++)
        r->samples[s] = i + 0.25 * s;
    snprintf(name, sizeof name, "room %d%.*s", (int)i, (int)(i % 11), "-----------");
    r->name = world_text(w, name);
    return r;
}

/* `count` rooms in a row, each with doors to the one before, to itself and to the first. A ring:
 * the last one leads back to the first. Rooms and names lie in another order than the row's. */
static inline room *museum_make(world *w, int32_t count, int ring)
{
    room *all[64];
    int32_t i, place;
    CHECK(count > 0 && count <= 64);
    memset(all, 0, sizeof all);
    for (i = 0; i < count; i++) {
        for (place = i * 7 % count; all[place]; place = (place + 1) % count)
            ;
        all[place] = room_make(w, place);
    }
    for (i = 0; i < count; i++) {
        room *r = all[i];
        r->next = i + 1 < count ? all[i + 1] : ring ? all[0] : NULL;
        r->door_count = i % 2 ? 3 : 0;
        if (r->door_count == 0)
            continue;
        r->doors = world_take(w, 4 * sizeof *r->doors, sizeof(void *));
        r->doors[0] = all[i - 1];
        r->doors[1] = r;
        r->doors[2] = i % 3 ? all[0] : NULL;
        r->doors[3] = (room *)(void *)w; /* beyond the count */
        w->blocks[w->count - 1].bytes = 3 * sizeof *r->doors;
    }
    return all[0];
}

/* What a visitor sees: the same on the host and on the device. */
typedef struct visit {
    room *first;
    int64_t rooms, areas, door_areas, name_bytes, caches, back_to_first;
    double samples;
} visit;

static inline void museum_visit(void *argument)
{
    visit *v = argument;
    room *r = v->first;
    int32_t i;
    do {
        v->rooms++;
        v->areas += r->area;
        v->name_bytes += (int64_t)strlen(r->name);
        v->caches += r->cache != NULL;
        for (i = 0; i < r->door_count; i++)
            if (r->doors[i])
                v->door_areas += r->doors[i]->area;
        for (i = 0; i < r->sample_count; i++)
            v->samples += r->samples[i];
        r = r->next;
    } while (r && r != v->first);
    v->back_to_first = r != NULL;
}

/* Changes every kind of content and no pointer. The cache is a device's own business. */
static inline void museum_change(void *argument)
{
    room *first = argument, *r = first;
    int32_t i;
    do {
        r->area += 1000;
        r->color[0] = 'G';
        r->name[0] = 'R';
        for (i = 0; i < r->sample_count; i++)
            r->samples[i] *= 2;
        r = r->next;
    } while (r && r != first);
}

static inline visit museum_seen_from(room *first)
{
    visit v;
    memset(&v, 0, sizeof v);
    v.first = first;
    museum_visit(&v);
    return v;
}

/* The same walk on the device, with the host's objects out of reach. */
static inline visit museum_seen_on(haul_device *device, const haul_shipment *s, world *w,
                                   room *first)
{
    visit v;
    memset(&v, 0, sizeof v);
    v.first = haul_device_pointer(s, first);
    CHECK(v.first != NULL);
    world_protect(w, PROT_NONE);
    CHECK_STATUS(haul_host_launch(device, museum_visit, &v), HAUL_OK);
    world_protect(w, PROT_READ | PROT_WRITE);
    return v;
}

static inline void check_visits_agree(const visit *device, const visit *host)
{
    CHECK_EQ(device->rooms, host->rooms);
    CHECK_EQ(device->areas, host->areas);
    CHECK_EQ(device->door_areas, host->door_areas);
    CHECK_EQ(device->name_bytes, host->name_bytes);
    CHECK_EQ(device->back_to_first, host->back_to_first);
    CHECK(device->samples >= host->samples && device->samples <= host->samples);
    CHECK_EQ(device->caches, 0);
    CHECK_EQ(host->caches, host->rooms);
}

/* ---- The device. */

static inline haul_device *host_device(void)
{
    haul_device *device;
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    return device;
}

/* For tests that read and write device memory thousands of times. */
static inline haul_device *ordinary_device(void)
{
    test_device options;
    haul_device *device;
    memset(&options, 0, sizeof options);
    options.settings = &ordinary_launches;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    return device;
}

static inline haul_host_counters counters_of(haul_device *device)
{
    haul_host_counters counters;
    CHECK_STATUS(haul_host_get_counters(device, &counters), HAUL_OK);
    return counters;
}

enum { BOUNCED = 65536 };

/* A kernel can reach static data also in a strict launch. */
typedef struct copying {
    unsigned char bytes[BOUNCED];
    void *there;
    size_t count;
} copying;

static inline void copy_from_there(void *argument)
{
    copying *c = argument;
    memcpy(c->bytes, c->there, c->count);
}

static inline void copy_there(void *argument)
{
    copying *c = argument;
    memcpy(c->there, c->bytes, c->count);
}

/* Bytes out of device memory, past the library. */
static inline void device_read(haul_device *device, void *to, haul_address from, size_t bytes)
{
    static copying c;
    size_t at;
    for (at = 0; at < bytes; at += c.count) {
        c.there = (void *)(uintptr_t)(from + at);
        c.count = bytes - at < BOUNCED ? bytes - at : BOUNCED;
        CHECK_STATUS(haul_host_launch(device, copy_from_there, &c), HAUL_OK);
        memcpy((unsigned char *)to + at, c.bytes, c.count);
    }
}

static inline void device_write(haul_device *device, haul_address to, const void *from,
                                size_t bytes)
{
    static copying c;
    size_t at;
    for (at = 0; at < bytes; at += c.count) {
        c.there = (void *)(uintptr_t)(to + at);
        c.count = bytes - at < BOUNCED ? bytes - at : BOUNCED;
        memcpy(c.bytes, (const unsigned char *)from + at, c.count);
        CHECK_STATUS(haul_host_launch(device, copy_there, &c), HAUL_OK);
    }
}

#endif
