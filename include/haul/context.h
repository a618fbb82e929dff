/* A context: the working memory of discovery, its limits, and the record of its last failure.
 *
 * Make one, use it for as long as you like, from one thread at a time (a second thread, or a
 * callback that calls back in, gets HAUL_ERROR_BUSY). It keeps its tables between calls, so the
 * second plan is cheaper than the first. haul_device_open makes one for you, if you give it none.
 *
 * From its first plan on it keeps a range of 32 GiB of addresses (2^48 / 2^16 pointers; 512 KiB
 * where addresses have 32 bits), of which a page is touched for each 32 MiB that hold something of
 * a graph. Any number of plans share it. Where it is not to be had (RLIMIT_AS, an allocator without
 * reserve), plans are made and packed without it, a little slower.
 *
 * Frees. haul_shipment_free, haul_plan_free, haul_arena_free, haul_device_close and
 * haul_context_free never fail and never wait for a call: they may be made in any thread and inside
 * any callback, while calls and other frees are under way on the same context. The caller's pointer
 * is NULL at once. Where a call is under way on the object's context, the object goes at the end of
 * that call, in that call's thread; until then its memory stays, on the host and on the device, and
 * so do its locks on source pages (lock_source). So a callback may free what the very call works
 * with: the call goes on as if it had not, and what it makes is the caller's.
 * Not allowed: to begin a call on an object that another thread frees; to free it twice; inside a
 * function of an allocator, to free the type or the arena that has asked for memory.
 */
#ifndef HAUL_CONTEXT_H
#define HAUL_CONTEXT_H

#include "haul/memory.h"
#include "haul/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_context haul_context;

/* Bounds on one plan. 0 means the default, which stands behind each. They are one shared budget for
 * all the roots. */
typedef struct haul_limits {
    size_t objects; /* objects and arrays found; default SIZE_MAX */
    /* Described bytes of the graph; default SIZE_MAX / 2. */
    size_t bytes;
    size_t scan_bytes;     /* bytes read in search of one terminator; default 1 GiB */
    size_t array_elements; /* elements of one array; default SIZE_MAX */
} haul_limits;

/* What the user may say of a range of source memory before it is read: 0 refuses it
 * (HAUL_ERROR_GRAPH with its path). It must not call back into the same context. */
/* Discovery then takes a slower way, with an entry for each object. */
typedef int haul_readable(void *user, const void *address, size_t bytes);

/* Memory that belongs to no graph: constant tables, sentinels, singletons. Rows of the modes
 * HAUL_MODE_OWN_OR_STATIC and HAUL_MODE_ALIAS_OR_STATIC look up here what they lead to; one past
 * the range counts as in it. */
typedef enum haul_static_policy {
    /* The address travels as it is: for copies that stay in this process, and for comparing. */
    HAUL_STATIC_KEEP = 0,
    HAUL_STATIC_NULL = 1, /* null in the copy */
    /* It is followed as a part of the graph, and copied once. */
    HAUL_STATIC_COPY = 2
} haul_static_policy;

typedef struct haul_static {
    const void *address;
    size_t bytes;
    haul_static_policy policy;
} haul_static;

/* What a word of the mode HAUL_MODE_EXTERNAL becomes in the copy: the address of a device function
 * for that of the host's function, say. Words that are not in the list stay as they are. */
typedef struct haul_translation {
    uintptr_t host, copy;
} haul_translation;

#define HAUL_THREADS_MAX 1024u
/* as many as there are processors that the process may run on when the context is made */
#define HAUL_THREADS_ALL (~0u)

typedef struct haul_context_options {
    const haul_allocator *allocator; /* NULL: malloc */
    haul_limits limits;
    haul_readable *readable; /* NULL: every described pointer is trusted */
    void *readable_user;
    void *argument; /* handed to shape callbacks as here->argument */
    /* If not 0: one address reached as two types that disagree, or one pointer word with two
     * meanings, is HAUL_ERROR_GRAPH with both paths. Discovery is then slower, with a table entry
     * for each object and pointer: for tests and for the first run of a new description. Objects
     * that several holders share (rule.h) are followed once for each of them. */
    int checked;
    /* Both lists must outlive the context. They are searched from the front for each word. */
    const haul_static *statics;
    size_t static_count;
    const haul_translation *translations;
    size_t translation_count;
    /* Threads that share copies of 512 KiB or more, the caller's among them: at most
     * HAUL_THREADS_MAX, or HAUL_THREADS_ALL; 0 and 1: the caller's alone. They belong to the
     * context, sleep between calls, and call no function of yours. Signals go to your threads; a
     * fault in your memory is handled in the thread that met it. Each takes 68 KiB from the
     * allocator and a stack of 512 KiB. If the system gives fewer, there are fewer; after a fork
     * the child has none. Results do not depend on their number. */
    unsigned threads;
    /* Seconds that these threads stay awake after a call, each keeping a processor busy; 0: 0.0001.
     * A program that ships some megabytes every few milliseconds gains by a longer time, because
     * waking a thread takes as long as such a copy. */
    double threads_awake_seconds;
    /* If not NULL: receives the error if haul_context_create or haul_device_open makes no context
     * that could hold it. */
    haul_error *error;
} haul_context_options;

/* Makes a context. `options` may be NULL, and a zeroed struct means the defaults.
 * HAUL_ERROR_MEMORY; HAUL_ERROR_ARGUMENT for a NULL result pointer, or an allocator without its two
 * functions or with one of reserve and unreserve alone, or a list that is NULL or holds a policy
 * that does not exist, or too many threads, or seconds below 0 (or that are no number):
 * options->error says which. */
HAUL_API haul_status haul_context_create(const haul_context_options *options,
                                         haul_context **context);

/* Drops the caller's hold and sets *context to NULL; plans, devices and shipments made with it keep
 * it alive. NULL is allowed. Any thread, inside any callback: see above. */
HAUL_API void haul_context_free(haul_context **context);

/* Gives back the working memory that is kept between calls (the range of addresses only when the
 * plan that was made or packed last has gone). Where the system had refused that range, the next
 * call asks again. HAUL_ERROR_BUSY while a call is under way. */
HAUL_API haul_status haul_context_trim(haul_context *context);

/* The last failure of any call on this context, its plans and shipments; status HAUL_OK when there
 * was none. Belongs to the context; valid until its next call. Never NULL: for a NULL context, a
 * record that says so. Frees leave it as it is. So does HAUL_ERROR_BUSY, for the record is then
 * being written by the call under way: do not read it, haul_status_text says all there is to say.
 * Where several threads use a context, the record is the last call's, whichever thread made it. */
HAUL_API const haul_error *haul_context_error(const haul_context *context);

#ifdef __cplusplus
}
#endif
#endif
