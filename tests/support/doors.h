/* The library's doors, made to fail: one fault plan that counts every event at an allocator and at
 * a device, and fires at the one that was asked for.
 *
 *     fault_plan plan = {0};
 *     fault_open(&plan, NULL, &device);
 *     fault_arm(&plan, FAULT_ONCE, 7);
 *
 * Most tests need only fault_everywhere: it runs an operation with each of its events failing, in
 * each mode, and checks what must hold after each.
 *
 * The allocator gives memory filled with 0xA5 (left alone under MemorySanitizer, which sees more),
 * fills what it takes back with 0x5A, and checks the sizes it is given (H6). The device passes
 * everything on to another one, checks sizes and addresses, and keeps that one's state and name:
 * haul_host_launch works through it.
 */
#ifndef HAUL_TESTS_DOORS_H
#define HAUL_TESTS_DOORS_H

#include "support/open.h"

/* What happens at event `at`. */
typedef enum fault_mode {
    FAULT_ONCE, /* it fails (H1, D1, D4) */
    FAULT_FROM, /* it and all after it fail (H2) */
    /* it fails; if it was a device's, all later device calls answer HAUL_ERROR_DEVICE_LOST (D6,
     * D17) */
    FAULT_LOST,
    /* a copy or relocation answers HAUL_OK and does half; the next wait fails (D5). Others: as
     * once */
    FAULT_LATE,
    /* a wait answers HAUL_ERROR_PENDING, and the work stays to be done (D13). Others: as once */
    FAULT_SLOW,
    FAULT_CALL /* call(call_user) runs before it, and it succeeds (C3, C4, D14) */
} fault_mode;

#define FAULT_MODES 5u /* the first five fail */
/* those that say something where there is no device */
#define FAULT_MEMORY (1u << FAULT_ONCE | 1u << FAULT_FROM)

typedef struct fault_plan {
    /* Set by the test. */
    uint64_t at; /* counted from 1; 0: none */
    fault_mode mode;
    uint64_t also_at; /* FAULT_ONCE: this one fails, too; 0: none */
    int memory_only;  /* the device's verbs are no events */
    void (*call)(void *user);
    void *call_user;
    int no_reserve; /* the allocator is made without reserve and unreserve */
    /* what is ordered happens when it is waited for, as late as the contract allows, and each
     * stream (fault_stream) for itself; a poll does one step */
    int deferred;
    int impatient;      /* every wait answers HAUL_ERROR_PENDING at once, and is no event */
    size_t chunk_bytes; /* not 0: the device's chunk_bytes */
    int no_send;        /* the device's send_bytes and fetch_bytes are 0 */
    /* under MemorySanitizer: copies to the device carry initialised bytes only (G22) */
    int check_initialized;

    /* Counted. */
    uint64_t events;
    uint64_t fired; /* events that failed and must be reported */
    /* events that failed and are not: the library has another way (reserve, stage; D3) */
    uint64_t fell_back;
    haul_status first;     /* what the first that fired answered; HAUL_OK: none */
    const char *failed;    /* that event's name; NULL: none */
    const void *failed_on; /* the state of its device; NULL: the allocator's, or none */
    const char *last;      /* the last event's name */
    int lost, late;
    uint64_t host_blocks, host_bytes;     /* live */
    uint64_t host_most;                   /* of host_bytes; never set back */
    uint64_t reserved_blocks;             /* live */
    uint64_t staged_blocks;               /* live */
    uint64_t locked_bytes;                /* live */
    uint64_t device_blocks, device_bytes; /* live */
    uint64_t devices;                     /* open */
    uint64_t offsets;                     /* that the last patch named one by one */
    const char *misuse;                   /* the first rule that the library broke; NULL: none */
    haul_context *context;                /* the last that was opened through the plan's doors */
} fault_plan;

/* Begins to count anew; what is live stays. fault_disarm ends faults, a lost device included. */
void fault_arm(fault_plan *plan, fault_mode mode, uint64_t at);
void fault_disarm(fault_plan *plan);

haul_allocator fault_allocator(fault_plan *plan);

/* Settings of the device of fault_device. `inner_settings` are handed to inner->open. */
typedef struct fault_device_settings {
    fault_plan *plan;
    const haul_device_table *inner;
    const void *inner_settings;
} fault_device_settings;

/* A table in front of `inner`, which the settings name again. */
const haul_device_table *fault_device(const haul_device_table *inner);

/* test_open of the host device, and haul_context_create, with the plan's doors in place of
 * those in `options`. NULL: no options. A device's context, if it is a new one, gets the plan's
 * allocator. */
haul_status fault_open(fault_plan *plan, const test_device *options, haul_device **device);
haul_status fault_open_context(fault_plan *plan, const haul_context_options *options,
                               haul_context **context);

/* A stream of devices that are deferred: i < FAULT_STREAMS. Events are those of the inner
 * device. */
#define FAULT_STREAMS 4u
void *fault_stream(unsigned i);

/* Checks (as CHECK does) that nothing is live and no rule was broken. */
void fault_check_clean(const fault_plan *plan);

/* One operation to be failed everywhere. All functions get `user`; those marked * may be NULL. */
typedef struct fault_operation {
    const char *name; /* * What a failing check adds to its words. */
    /* * Makes what `run` needs through the plan's doors (contexts, devices, types); never
     * failed. */
    void (*prepare)(void *user, fault_plan *plan);
    /* The operation. When it fails, it leaves nothing behind but what a context keeps. */
    haul_status (*run)(void *user);
    /* * Called after each run: that the source is as it was, results are NULL or right. */
    void (*check)(void *user, haul_status status);
    /* * Frees what a run that succeeded has made. */
    void (*undo)(void *user);
    /* * Undoes `prepare`. */
    void (*finish)(void *user);
    void *user;
    unsigned modes; /* bits 1 << FAULT_ONCE ...; 0: all five */
    /* a run that succeeds, or that fails, may keep host and staging memory that neither `undo` nor
     * a trim of the context gives back: leaks of it are looked for at the end only */
    int keeps;
    fault_plan settings; /* its upper half: what each plan begins with */
} fault_operation;

/* For each mode and k = 1, 2, ...: prepare, run with event k failing, and check: an error if and
 * only if a fault fired, and the first one's status; nothing leaked; the same call works afterwards
 * on the same context (after a lost device: says so). Ends a mode when k is past the last event.
 * Answers how many events there are, all modes together. The environment variable
 * HAUL_FAULT_STRIDE=N thins the modes behind the first: only every N-th event fails, from one on
 * that HAUL_SEED chooses; in the first mode, every event up to N = 5, and from then on every
 * N/3-rd. Sanitized and emulated builds run so; a release build fails them all. */
unsigned fault_everywhere(const fault_operation *operation);

/* The same, for a plan of the source by a context of its own. */
unsigned fault_every_plan(haul_source source, unsigned modes);

/* For k = 1, 2, ...: `call` runs at event k, and the operation may then answer what it likes, in
 * finite time and without a leak. Answers the number of runs. */
unsigned fault_call_everywhere(const fault_operation *operation, void (*call)(void *user));

#endif
