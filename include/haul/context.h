/* A context: the working memory of discovery, its limits, and the record of its last failure.
 *
 * Make one, and use it as long as you like, from one thread at a time. A second thread, or a
 * callback that calls back in, gets HAUL_ERROR_BUSY. The context keeps its tables between calls, so
 * the second plan is cheaper than the first. Devices, arenas and plans are made from a context, and
 * hold it: it may be freed before them.
 *
 * From its first plan on it keeps a range of 32 GiB of addresses (2^48 / 2^16 pointers; 512 KiB if
 * addresses have 32 bits). One page of it is touched for each 32 MiB that hold a part of a graph.
 * Any number of plans share the range. If there is none (RLIMIT_AS, an allocator without reserve),
 * plans are made and packed without it, a little slower.
 *
 * Frees. haul_shipment_free, haul_plan_free, haul_arena_free, haul_device_close and
 * haul_context_free never fail and never wait for a call. Any thread may free, also inside a
 * callback, while calls and other frees are under way on the same context. The caller's pointer is
 * NULL at once. If a call is under way on the object's context, that call's thread releases the
 * object at the end of the call. Until then its memory stays, on the host and on the device, and so
 * do its locks on source pages (lock_source). So a callback may free an object that the call itself
 * uses: the call goes on unchanged, and its result belongs to its caller. Three things are not
 * allowed: to begin a call on an object that another thread frees; to free an object twice; inside
 * a function of an allocator, to free the type or the arena that has asked for memory.
 */
#ifndef HAUL_CONTEXT_H
#define HAUL_CONTEXT_H

#include "haul/memory.h"
#include "haul/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_context haul_context;

/* May this range of source memory be read? Asked before the range is read; 0 refuses it
 * (HAUL_ERROR_GRAPH with its path). It must not call back into the same context. With such a
 * function, discovery is slower and has an entry for each object. */
typedef int haul_readable(void *user, const void *address, size_t bytes);

/* Told how far a call on a shipment is: `done` bytes of `total`. While the call packs: about every
 * 4 MiB, and at the end. (An ordered graph is a third done when all of it is read. It crosses when
 * all of it is packed: then, with `done` as at the end, behind each piece of at most 64 MiB but the
 * last.) Before a large graph is packed again: with `done` 0, first and behind each 64 MiB that are
 * compared with the plan. While an arena crosses or results return: first with `done` 0, then
 * behind each piece of at most 64 MiB. An asynchronous call, or one for a range, does not tell of
 * pieces.
 *
 * An answer other than 0 cancels: the call fails with HAUL_ERROR_CANCELLED, and can be repeated. A
 * cancelled ship leaves nothing behind. A cancelled update of a large graph has sent a part of it;
 * the next update sends all. Results that were written before stay; a call with .all_or_nothing
 * cannot be cancelled once it writes. The function must not call back into the same context. */
typedef int haul_progress(void *user, uint64_t done, uint64_t total);

/* Called while a call discovers a graph and lays it out: within 100 ms, and then every 100 ms at
 * least, as long as no function of yours takes longer. Discovery has found `objects` objects so
 * far, of about `bytes` bytes; behind it both stay. They begin again at 0 when a graph is
 * discovered again: by threads, by one thread after them, for hints (ship.h), or for the path of an
 * error. Otherwise as haul_progress. */
typedef int haul_discovery_progress(void *user, uint64_t objects, uint64_t bytes);

#define HAUL_THREADS_MAX 1024u
/* one for each processor that the process may run on when the context is made */
#define HAUL_THREADS_ALL (~0u)

/* A zeroed struct means the defaults. */
typedef struct haul_context_options {
    /* Threads that share copies of 512 KiB or more, and the discovery of graphs of 32,000 objects
     * or more without sections, whose rules and holes stand in structs of at most 64 words, read
     * their own struct's fields and call no function; the caller's thread included. At most
     * HAUL_THREADS_MAX, or HAUL_THREADS_ALL. 0 and 1 mean the caller's thread alone. Your counting
     * functions run on the caller's thread, with `any_thread` too. A discovery may begin anew
     * twice, and once more for the path of an error, so one may be asked four times for a pointer.
     * If 1,024 pointers need one, and more than one to 32 objects that are found so far, if they
     * lie one behind the other, or if a plan that needs one has several roots, the caller's thread
     * discovers alone. The others belong to the context, sleep between calls,
     * and call no function of yours but, if `any_thread` allows it, the allocator's. They block
     * signals, except those of their own faults in your memory. Each takes 68 KiB from the
     * allocator and a stack of 512 KiB. If the system gives fewer, the context works with fewer;
     * after a fork the child has none. Results do not depend on their number, except
     * `bookkeeping_bytes`; if several counts have changed since a plan was made, the error
     * may name another one of them. */
    unsigned threads;
    /* If not 0: one address reached as two types that disagree, or one pointer word with two
     * meanings, is HAUL_ERROR_GRAPH with both paths. Discovery is then slower, with a table entry
     * for each object and pointer. Use it in tests and in the first run of a new description.
     * Objects that several ancestors share (describe.h) are followed once for each. */
    int checked;
    /* Seconds that these threads stay awake after a call, each on a busy processor; 0 means 0.0001.
     * A program that ships some megabytes every few milliseconds gains by a longer time, because
     * waking a thread takes as long as such a copy. */
    double spin_seconds;
    void *argument; /* handed to your functions as here->argument */
    /* Bounds on one plan, for all its roots together. 0 means the default. */
    size_t max_objects;        /* objects and arrays found; default SIZE_MAX */
    size_t max_bytes;          /* described bytes of the graph; default SIZE_MAX / 2 */
    size_t max_scan_bytes;     /* bytes read in search of one terminator; default 1 GiB */
    size_t max_array_elements; /* elements of one array; default SIZE_MAX */
    haul_readable *readable;   /* NULL: every described pointer is trusted */
    void *readable_user;
    haul_progress *progress; /* NULL: nobody listens */
    void *progress_user;
    haul_discovery_progress *discovery_progress; /* NULL: nobody listens; gets progress_user */
    /* The functions of a haul_allocator (memory.h), for all memory of the context and of all that
     * is made from it. All NULL: malloc. */
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *memory, size_t bytes);
    void *(*reserve)(void *user, size_t bytes);
    void (*unreserve)(void *user, void *memory, size_t bytes);
    void *allocator_user;
    /* If not 0, any of the context's threads may call `allocate` and `release`, several at once:
     * then they share the discovery of all kinds of graphs, as with malloc. */
    size_t any_thread;
} haul_context_options;

/* Makes a context. `options` may be NULL. HAUL_ERROR_MEMORY. HAUL_ERROR_ARGUMENT: a NULL result;
 * allocate or release alone, reserve or unreserve alone, or these two without the first two; more
 * than HAUL_THREADS_MAX threads; seconds that are negative or not a number. HAUL_ERROR_VERSION: an
 * option that the library lacks. On failure *context is NULL. */
HAUL_API haul_status haul_context_create_sized(const haul_context_options *options,
                                               size_t options_bytes, haul_context **context);
static inline haul_status haul_context_create(const haul_context_options *options,
                                              haul_context **context)
{
    return haul_context_create_sized(options, sizeof *options, context);
}

/* Drops the caller's hold and sets *context to NULL. Plans, devices, shipments and arenas made with
 * it keep it alive. NULL is allowed. Any thread, inside any callback: see above. */
HAUL_API void haul_context_free(haul_context **context);

/* Releases the working memory that is kept between calls. The range of addresses is released only
 * if the plan that was made or packed last has been freed. If the system refused that range, the
 * next call asks for it again. HAUL_ERROR_ARGUMENT: NULL. HAUL_ERROR_BUSY: a call is under way. */
HAUL_API haul_status haul_context_trim(haul_context *context);

/* The last failure of any call on this context or on what was made from it; status HAUL_OK when
 * there was none. (Arenas have records of their own: haul_arena_error.) The record belongs to the
 * context and is valid until its next call. Never NULL: for a NULL context, a record that says so.
 * Frees leave it as it is. A call that answers HAUL_ERROR_BUSY leaves it alone, too: the call under
 * way may be writing it, so do not read it; haul_status_text says all there is to say. If several
 * threads use a context, the record belongs to the last call, whichever thread made it. */
HAUL_API const haul_error *haul_context_error(const haul_context *context);

/* How a pointer into a registered range travels. */
typedef enum haul_static_policy {
    /* The address travels as it is: for copies that stay in this process, and for comparing. */
    HAUL_STATIC_KEEP = 0,
    HAUL_STATIC_NULL = 1, /* null in the copy */
    /* It is followed as a part of the graph, and copied once. */
    HAUL_STATIC_COPY = 2
} haul_static_policy;

/* Registers a range of memory that belongs to no graph: a constant table, a sentinel, a singleton.
 * Pointers of fields with .maybe_static are looked up in the ranges; the address one past a range
 * counts as in it. Of ranges that overlap, the first one counts. A look-up is a linear search.
 * Plans that exist already do not look it up. HAUL_ERROR_ARGUMENT: NULL, a range that wraps around
 * the address space, or a policy that does not exist. HAUL_ERROR_BUSY, HAUL_ERROR_MEMORY: nothing
 * has changed. */
HAUL_API haul_status haul_context_add_static(haul_context *context, const void *address,
                                             size_t bytes, haul_static_policy policy);

/* Registers the value in the copy of a word whose field is HAUL_EXTERNAL: say, the addresses of a
 * host function and of its device function. Words that are not registered stay as they are. Of two
 * registrations of one word, the first one counts. Otherwise as haul_context_add_static. */
HAUL_API haul_status haul_context_add_translation(haul_context *context, uintptr_t host,
                                                  uintptr_t copy);

#ifdef __cplusplus
}
#endif
#endif
