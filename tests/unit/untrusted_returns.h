/* A shipment on a device that is not trusted, and a kernel that writes any bytes there.
 */
#ifndef HAUL_TESTS_UNIT_UNTRUSTED_RETURNS_H
#define HAUL_TESTS_UNIT_UNTRUSTED_RETURNS_H

#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/open.h"
#include "support/short_forms.h"

static haul_device *device;
static haul_shipment *shipment;

/* NULL options: a device whose launches are ordinary. */
static inline void open_device(const test_device *options)
{
    test_device ordinary;
    memset(&ordinary, 0, sizeof ordinary);
    ordinary.settings = &ordinary_launches;
    CHECK_STATUS(test_open(haul_host_device(), options ? options : &ordinary, &device), HAUL_OK);
}

static inline void close_device(void)
{
    haul_shipment_free(&shipment);
    haul_device_close(&device);
}

static inline void ship(void *root, const haul_type *type, int ordered, int lets_change)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.untrusted = 1;
    options.ordered = ordered;
    options.let_counts_change = lets_change;
    haul_shipment_free(&shipment);
    CHECK_STATUS(haul_ship(device, root, type, 1, &options, &shipment), HAUL_OK);
}

static inline haul_status come_back(int pointers)
{
    return pointers ? haul_update_host(shipment, WITH_POINTERS, NULL) : haul_unmarshal(shipment);
}

static inline const haul_error *error(void)
{
    return haul_context_error(haul_device_context(device));
}

/* ---- The kernel writes bytes over those of a host address, or at an address of the device. */

typedef struct stroke {
    unsigned char *at;
    const void *from;
    size_t bytes;
} stroke;

static inline void strike(void *argument)
{
    const stroke *s = argument;
    memcpy(s->at, s->from, s->bytes);
}

static inline void put_at(void *at, const void *from, size_t bytes)
{
    stroke s;
    s.at = at;
    s.from = from;
    s.bytes = bytes;
    CHECK(at != NULL);
    CHECK_STATUS(haul_host_launch(device, strike, &s), HAUL_OK);
}

static inline void put(const void *host, const void *from, size_t bytes)
{
    put_at(haul_device_pointer(shipment, host), from, bytes);
}

static inline void put_number(const int32_t *host, int32_t value)
{
    put(host, &value, sizeof value);
}

static inline void put_word(const void *host, uintptr_t value)
{
    put(host, &value, sizeof value);
}

/* A pointer to what a host address is on the device, `more` bytes behind it. */
static inline void put_pointer(const void *host, const void *target, size_t more)
{
    put_word(host, (uintptr_t)haul_device_pointer(shipment, target) + more);
}

#endif
