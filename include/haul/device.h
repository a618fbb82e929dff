/* The second door: devices. A device is a memory with its own addresses and a few verbs.
 *
 * A back end fills one haul_device_table and exports one function that returns it (haul_host_device,
 * haul_cuda_device); the library calls it through nothing else. What a verb answers is passed on to the user, with
 * the words of `message` in the error record. No verb prints, ends the process, or changes the caller's current
 * device or pending errors.
 */
#ifndef HAUL_DEVICE_H
#define HAUL_DEVICE_H

#include "haul/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An address in a device's memory. On the host it is a number, not to be followed. */
typedef uint64_t haul_address;

typedef struct haul_device_capabilities {
    size_t memory_bytes;      /* in all; 0: unknown */
    size_t allocate_alignment;/* what allocate gives at least */
    size_t chunk_bytes;       /* the size in which copies are best cut; 0: do not cut */
} haul_device_capabilities;

/* One patch: for each word of [arena, arena + 8 * words) (4 * words where pointers have 4 bytes) whose bit is set in
 * `bitmap` (in device memory too, 64-bit words, lowest bit first), word += delta, modulo the word. Then the same for
 * the unaligned pointers at arena + odd[i], i < odd_count (`odd` in device memory, 64-bit offsets). */
typedef struct haul_relocation {
    haul_address arena;
    uint64_t words;
    haul_address bitmap;
    uint64_t delta;
    haul_address odd;
    uint64_t odd_count;
    unsigned word_bytes; /* sizeof(void *) of the host: 8 or 4 */
} haul_relocation;

#define HAUL_DEVICE_VERSION 1u

/* Preconditions of all verbs: `state` is what open gave; sizes are above 0; ranges lie in what allocate gave. Copies
 * and relocate may return before they are done; they take effect in the order of the calls, and `wait` reports
 * whatever failed since the last wait. Memory given to copy_to and copy_from stays untouched by the caller until
 * then. One thread at a time. */
typedef struct haul_device_table {
    uint32_t version;     /* HAUL_DEVICE_VERSION */
    uint32_t table_bytes; /* sizeof(haul_device_table) */
    const char *name;     /* "host", "cuda" */

    /* Opens the device that `settings` (the back end's own struct, NULL: its defaults) names.
     * HAUL_ERROR_UNSUPPORTED: there is none. *state is set on success only. */
    haul_status (*open)(const void *settings, const haul_allocator *allocator, void **state);
    void (*close)(void *state);
    void (*capabilities)(void *state, haul_device_capabilities *capabilities);

    /* Device memory. HAUL_ERROR_DEVICE_MEMORY: not enough. `release` ignores what a lost device makes impossible. */
    haul_status (*allocate)(void *state, uint64_t bytes, size_t alignment, haul_address *address);
    void (*release)(void *state, haul_address address, uint64_t bytes);

    /* Host memory from which copies are fast (pinned), or plain memory where there is none to be had. */
    haul_status (*stage)(void *state, size_t bytes, void **memory);
    void (*unstage)(void *state, void *memory, size_t bytes);

    haul_status (*copy_to)(void *state, haul_address to, const void *from, size_t bytes);
    haul_status (*copy_from)(void *state, void *to, haul_address from, size_t bytes);
    haul_status (*relocate)(void *state, const haul_relocation *relocation);
    haul_status (*wait)(void *state);

    /* The device's own words for its last failure; "" when there are none. Never NULL. */
    const char *(*message)(void *state);
} haul_device_table;

typedef struct haul_device haul_device;

typedef struct haul_device_options {
    haul_context *context;           /* shared with other devices; NULL: a new one */
    haul_context_options new_context;/* for the new one */
    const void *settings;            /* the back end's */
} haul_device_options;

/* Opens a device. `table` is what a back end's function returned (haul_host_device()); `options` may be NULL.
 * HAUL_ERROR_ARGUMENT: NULL table or result, or a table with a missing verb; HAUL_ERROR_VERSION: a table of another
 * version; HAUL_ERROR_UNSUPPORTED: no such device; HAUL_ERROR_BUSY: the shared context is in a call; HAUL_ERROR_MEMORY;
 * HAUL_ERROR_DEVICE. On failure *device is NULL. */
HAUL_API haul_status haul_device_open(const haul_device_table *table, const haul_device_options *options,
                                      haul_device **device);
/* Drops the caller's hold and sets *device to NULL; shipments keep it open. */
HAUL_API void haul_device_close(haul_device **device);

HAUL_API haul_context *haul_device_context(haul_device *device);
/* The record of the last failure on the device's context; never NULL. Where no device could be opened there is none to
 * ask: open it with a context of your own to hear why. */
HAUL_API const haul_error *haul_device_error(const haul_device *device);
HAUL_API void haul_device_get_capabilities(const haul_device *device, haul_device_capabilities *capabilities);
HAUL_API const char *haul_device_name(const haul_device *device);
/* The back end's own state, for its own functions (haul_host_launch). */
HAUL_API void *haul_device_state(const haul_device *device);

#ifdef __cplusplus
}
#endif
#endif
