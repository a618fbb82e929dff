/* The host device: host memory that behaves like a device's.
 *
 * Its memory is pages that are mapped twice. Copies go through a private view; the addresses that
 * it hands out belong to a second view, which is inaccessible except while haul_host_launch runs a
 * function there. A pointer that was not relocated, or a host that touches device memory, faults at
 * once, on any machine. Inside a launch the relocated pointers are real pointers, and a kernel that
 * runs past the end of an allocation faults. (With more than 8,192 allocations of up to 64 KiB
 * alive, it meets a page of zeros of nobody's first. Each takes whole pages. A hundred thousand can
 * be alive; of larger ones, as many as the system has mappings for: some 16,000.) (Of a mirrored
 * arena the addresses are the host's, and the device's inside a launch: for all threads.)
 *
 * Where the system does not map pages twice with mremap (qemu-user), they are those of a file
 * without a name; with a limit to the size of files (RLIMIT_FSIZE) an allocation is then
 * HAUL_ERROR_DEVICE_MEMORY.
 *
 * It works at once: a call has done all that it will when it returns, asynchronous ones too. A
 * haul_async's stream is NULL; its event is an int of the caller's, set to 1.
 */
#ifndef HAUL_HOST_H
#define HAUL_HOST_H

#include "haul/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The table of the host device, for haul_device_open. No settings. Static; any thread. */
HAUL_API const haul_device_table *haul_host_device(void);

/* What a device that counts can tell. A send is a copy and a relocation. */
typedef struct haul_host_counters {
    uint64_t copies_to, copies_from, relocations, allocations;
    uint64_t bytes_to, bytes_from, bytes_allocated, bytes_live;
    uint64_t copies_across, bytes_across; /* from other devices */
    uint64_t pulls, pushes;               /* from host memory where it lies, and to it */
    uint64_t bytes_locked;                /* of that, now */
} haul_host_counters;

/* Runs function(argument) with the device's memory accessible, as a kernel launch would, and
 * returns when it is done. Device addresses are what haul_device_pointer gives.
 * HAUL_ERROR_ARGUMENT: another device, or NULL function. HAUL_ERROR_DEVICE: the system refused the
 * change of protection. HAUL_ERROR_STATE: the device was opened by another process, before a fork.
 * HAUL_ERROR_BUSY: another launch is under way on the device, in another thread or around this one.
 * Other threads may call on the device meanwhile: what they allocate is in reach from the next
 * launch on, and what they free a function must not use any more. */
HAUL_API haul_status haul_host_launch(haul_device *device, void (*function)(void *argument),
                                      void *argument);

/* Counts since the device was opened; not while another thread is in a call on it.
 * HAUL_ERROR_ARGUMENT: another device. */
HAUL_API haul_status haul_host_get_counters(haul_device *device, haul_host_counters *counters);

#ifdef __cplusplus
}
#endif
#endif
