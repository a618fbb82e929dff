/* Contexts and devices of tests.
 */
#ifndef HAUL_TESTS_OPEN_H
#define HAUL_TESTS_OPEN_H

#include "haul/arena.h"
#include "haul/host.h"

typedef struct test_static {
    const void *address;
    size_t bytes;
    haul_static_policy policy;
} test_static;

typedef struct test_translation {
    uintptr_t host, copy;
} test_translation;

/* What contexts are told of. */
typedef struct test_known {
    const test_static *statics;
    size_t static_count;
    const test_translation *translations;
    size_t translation_count;
} test_known;

haul_status test_tell(haul_context *context, const test_known *known);

/* Sets the functions of an allocator; NULL: the default one. */
void test_allocator(haul_context_options *options, const haul_allocator *allocator);

typedef struct test_device {
    haul_context *context;            /* NULL: a new one, which goes with the device */
    haul_context_options new_context; /* for the new one */
    test_known known;
    const void *settings; /* the back end's */
} test_device;

/* Settings of a host device whose launches are ordinary whatever the environment says: for kernels
 * that wait for each other, handle faults or call the library, and for tests that launch thousands
 * of times, which takes a strict device minutes. */
extern const haul_host_options ordinary_launches;

/* Opens a device; NULL options: all defaults. */
haul_status test_open(const haul_device_table *table, const test_device *options,
                      haul_device **device);

/* haul_arena_create in the device's context, with the device in the options. */
haul_status test_arena(haul_device *device, const haul_arena_options *options, haul_arena **arena);

#endif
