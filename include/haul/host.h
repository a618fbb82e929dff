/* The host device: host memory that behaves like a device's.
 *
 * Its memory is pages that are mapped twice. Copies go through a private view. Device addresses
 * belong to a second view, which is inaccessible except while haul_host_launch runs a function. So
 * a use of device memory on the host faults at once, on any machine. Inside a launch relocated
 * pointers are real pointers, and a kernel that runs past the end of an allocation faults. (With
 * more than 8,192 allocations of up to 64 KiB alive, such a kernel first meets an unused page of
 * zeros.) A pointer that was not relocated leads to the host's memory, and an ordinary launch
 * follows it there: a strict launch does not (haul_host_options). The addresses of a mirrored arena
 * lead to the host's memory and, inside an ordinary launch, to the device's, in all threads.
 *
 * Each allocation takes whole pages. A hundred thousand allocations of up to 64 KiB can be alive;
 * the system's limit of mappings allows some 16,000 larger ones. If the system cannot map pages
 * twice with mremap (qemu-user), they are pages of an unnamed file; under any limit of file
 * sizes (RLIMIT_FSIZE) an allocation is then HAUL_ERROR_DEVICE_MEMORY.
 *
 * Its work is done when a call returns, also in an asynchronous call. The stream of a haul_async is
 * NULL; its event is an int of the caller, which is set to 1.
 */
#ifndef HAUL_HOST_H
#define HAUL_HOST_H

#include "haul/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Strict launches, for tests and new descriptions. A pointer that no field describes arrives on the
 * device as it was, and an ordinary launch follows it without a word. In a strict launch the
 * function can reach only:
 *
 *   the device's memory;
 *   static data and code, and other memory that this process can only read;
 *   the calling thread's stack and thread-local storage.
 *
 * Anything else ends the launch, not the process: HAUL_ERROR_DEVICE. The record's path names the
 * pointer that the function followed, and the text says where it leads:
 *
 *   root.next+16: this pointer was not relocated: 0x55e0c29602a0 leads to a host heap block of 24
 *   bytes, and the kernel went to 0x55e0c29602a0. ...
 *
 * There is a path if a shipment brought the pointer, and the source is as it was. "+16" is the
 * offset in an object whose description has no field there.
 *
 * The function runs in a child of this process (fork), alone: without the other threads. Its
 * writes to device memory stay. Its writes to its caller's stack, and to static data of its program
 * or library, come back when it returns; if the launch ends otherwise, stack and data are as they
 * were. (Static data of a statically linked program does not come back.) Its lines to stdout come
 * out at once, before lines that this process still holds back.
 *
 * The function ends the launch if it calls malloc, starts a thread, calls exit, or gets a signal.
 * Some functions of libraries read memory that the library took from the heap before: printf once a
 * library has registered formats of its own (libquadmath), and whatever uses a locale that
 * setlocale has loaded. They end it, too. It must not wait for another thread, and must not handle
 * SIGSEGV or SIGBUS. Calls on Haul end the launch, too. If the function loops for ever, so does the
 * launch.
 *
 * This process gets a SIGCHLD. A handler of pthread_atfork runs. Strict launches do not work with
 * AddressSanitizer, MemorySanitizer and ThreadSanitizer. */
typedef struct haul_host_options {
    /* 1: strict launches; HAUL_ERROR_UNSUPPORTED if they do not work. -1: ordinary launches. 0: as
     * the environment variable HAUL_HOST_STRICT says when the device is opened: strict if it is set
     * to anything except "" and "0", and if strict launches work (strict_launches counts them). */
    int strict;
    int reserved; /* 0 */
    /* The most bytes of device memory that shipments, the lists of locked sources and mirrored
     * arenas may hold; 0: no limit. */
    size_t budget_bytes;
} haul_host_options;

/* The table of the host device, for haul_device_open and for devices that wrap it. Static; any
 * thread. */
HAUL_API const haul_device_table *haul_host_device(void);

/* Opens a host device in `context`. `options` may be NULL. HAUL_ERROR_UNSUPPORTED: strict launches
 * do not work here. Other errors as of haul_device_open. */
static inline haul_status haul_host_open(haul_context *context, const haul_host_options *options,
                                         haul_device **device)
{
    return haul_device_open_sized(context, haul_host_device(), options, sizeof *options, device);
}

/* Runs function(argument) with the device's memory accessible, as a kernel launch would, and
 * returns when it is done. Device addresses come from haul_device_pointer. HAUL_ERROR_ARGUMENT: the
 * device is no host device, or `function` is NULL. HAUL_ERROR_DEVICE: the system refused the change
 * of protection, or a strict launch has ended early (haul_host_options). HAUL_ERROR_STATE: the
 * device was opened by another process, before a fork. HAUL_ERROR_BUSY: another launch is under way
 * on the device, in another thread or around this one. Other threads may call on the device
 * meanwhile: memory that they allocate is accessible from the next launch on, and the function must
 * not use memory that they free. */
HAUL_API haul_status haul_host_launch(haul_device *device, void (*function)(void *argument),
                                      void *argument);

/* Counts of the device's verbs, since it was opened. A send counts as a copy and a relocation. */
typedef struct haul_host_counters {
    uint64_t copies_to, copies_from, relocations, allocations;
    uint64_t bytes_to, bytes_from, bytes_allocated, bytes_live;
    uint64_t copies_across, bytes_across; /* from other devices */
    uint64_t pulls, pushes;               /* from locked host memory, and to it */
    uint64_t bytes_locked;                /* host memory that is locked now */
    uint64_t strict_launches;
    uint64_t bytes_on_host, bytes_moving; /* of bytes_live, by place (haul_place) */
} haul_host_counters;

/* Fills *counters. No other thread may be in a call on the device. HAUL_ERROR_ARGUMENT: the device
 * is no host device, or NULL counters. */
HAUL_API haul_status haul_host_get_counters_sized(haul_device *device, haul_host_counters *counters,
                                                  size_t counters_bytes);
static inline haul_status haul_host_get_counters(haul_device *device, haul_host_counters *counters)
{
    return haul_host_get_counters_sized(device, counters, sizeof *counters);
}

#ifdef __cplusplus
}
#endif
#endif
