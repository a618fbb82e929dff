/* The context: allocator, limits, the last error, and a guard that keeps a second call out and
 * takes over the objects that are freed meanwhile.
 */
#ifndef HAUL_CONTEXT_ROOM_H
#define HAUL_CONTEXT_ROOM_H

#include "base/pool.h"
#include "base/status.h"
#include "map/map.h"
#include "haul/context.h"

/* Memory of a plan's read set, worklist or order log, or of an image's pieces, saved for the next
 * one: its pages are resident already (a count by a function costs 13 ns with them, 16 without). */
typedef struct haul__notes {
    uint64_t *words;
    size_t capacity;
} haul__notes;

/* Learns how far a call is, and may stop it. */
typedef struct haul__listener {
    haul_progress *progress;
    haul_discovery_progress *discovery;
    void *user;
} haul__listener;

/* The numbers that `discovery` heard last, and when its next call is due. */
typedef struct haul__told_last {
    uint64_t objects, bytes;
    double next;
} haul__told_last;

/* Locked pages: devices read and write this part of a source in place (device/lock.c). */
typedef struct haul__lock {
    uintptr_t begin, end;
    size_t holders;
    /* the locking verb: the lock serves all devices with the same one */
    haul_status (*by)(void *state, void *memory, size_t bytes);
    struct haul_device *device; /* it locked the pages; NULL: it has closed */
} haul__lock;

typedef struct haul__static {
    uintptr_t address;
    size_t bytes;
    haul_static_policy policy;
} haul__static;

typedef struct haul__translation {
    uintptr_t host, copy;
} haul__translation;

/* An object that has been freed and must still be finished. It stands in the object, so that a free
 * needs no memory. */
typedef struct haul__freed haul__freed;
/* Finishes the object, inside the context's guard. Answers an object of another context that must
 * be freed next, or NULL. */
typedef haul__freed *haul__finish(void *object);
struct haul__freed {
    haul__freed *next;
    haul_context *context;
    haul__finish *finish;
    void *object;
};

struct haul_context {
    uint32_t magic;
    int holders;       /* atomic */
    uintptr_t guard;   /* atomic: see context.c */
    haul__freed freed; /* for haul_context_free */
    haul_allocator allocator;
    haul_context_options options; /* limits with their defaults filled in */
    haul__static *statics;
    size_t static_count, static_capacity;
    haul__translation *translations;
    size_t translation_count, translation_capacity;
    haul_error error;
    haul__table table;
    int has_warm;
    haul__map warm;                    /* an empty map saved for the next plan */
    haul__notes reads, calls, parcels; /* parcels: of threads that share a walk */
    size_t parcel_count;               /* the most of such a walk */
    haul__notes ranges;                /* of an order log */
    haul__notes packed;                /* pieces of an image that was written */
    haul__listener listener;
    haul__told_last told;
    haul__pool *pool;  /* NULL: the options ask for no threads */
    haul__lock *locks; /* NULL: there are none */
    size_t lock_count, lock_capacity;
};

/* Makes room for `needed` words; an array that is NULL takes the saved memory first. 0: out of
 * memory, and the words are unchanged. */
int haul__notes_grow(haul_context *context, haul__notes *kept, uint64_t **words, size_t *capacity,
                     size_t needed);
/* Saves the words' memory for the next plan if it is larger than the saved one, else releases
 * it. */
void haul__notes_keep(haul_context *context, haul__notes *kept, uint64_t *words, size_t capacity);
void haul__notes_forget(haul_context *context, haul__notes *kept);

/* The context's threads, for work on `bytes` bytes. NULL: it has none, or the work is too little to
 * share. */
haul__pool *haul__context_pool(haul_context *context, size_t bytes);
/* May these threads ask the allocator? */
HAUL__INLINE int haul__threads_may_allocate(const haul_context *context)
{
    return !context->options.allocate || context->options.any_thread;
}

/* Wakes them shortly before that work. */
void haul__context_wake_pool(haul_context *context, size_t bytes);

/* The options' listener; NULL: there is none. */
HAUL__INLINE const haul__listener *haul__context_listener(const haul_context *context)
{
    return context->listener.progress ? &context->listener : NULL;
}

/* The listener has stopped the work: fails. */
haul_status haul__context_cancelled(haul_context *context);

int haul__context_is_valid(const haul_context *context);
/* For a refused call that has not entered: writes `text` to the error record, unless another call
 * is under way and so owns the record. Answers `status`. */
haul_status haul__context_refuse(haul_context *context, haul_status status, const char *text);
/* Enters a call: HAUL_OK with an empty error record, to be paired with a leave; HAUL_ERROR_ARGUMENT
 * for a dead or NULL context; HAUL_ERROR_BUSY, with the record unchanged, if another call is under
 * way. */
haul_status haul__context_enter(haul_context *context);
/* Finishes the objects that were freed during the call, then leaves. The caller must not touch
 * objects of the context afterwards. */
void haul__context_leave(haul_context *context);
/* Calls finish(object) outside of calls on the context: now, or at the end of the call under way,
 * in its thread. It must not be called inside a haul__finish. The context's error record keeps an
 * earlier failure. */
void haul__free(haul__freed *freed, haul_context *context, haul__finish *finish, void *object);
/* The same for a haul__finish, which answers with the result. */
haul__freed *haul__freed_later(haul__freed *freed, haul_context *context, haul__finish *finish,
                               void *object);
void haul__context_hold(haul_context *context);
/* Inside a call or a haul__finish, this must not drop the last hold. */
void haul__context_drop(haul_context *context);

#endif
