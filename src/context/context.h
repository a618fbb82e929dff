/* The context as the rooms see it: allocator, limits, the last error, and the guard that keeps a
 * second call out and takes what is freed meanwhile.
 */
#ifndef HAUL_CONTEXT_ROOM_H
#define HAUL_CONTEXT_ROOM_H

#include "base/pool.h"
#include "base/status.h"
#include "map/map.h"
#include "haul/context.h"

/* What a plan noted, as memory for the next one's notes: pages that are there, and need not be
 * fetched from the system (a count by a function costs 13 ns with it and 16 without). */
typedef struct haul__notes {
    uint64_t *words;
    size_t capacity;
} haul__notes;

/* Pages of a source that devices reach where they lie (device/lock.c). */
typedef struct haul__lock {
    uintptr_t begin, end;
    size_t holders;
    /* for devices of the table with this verb */
    haul_status (*by)(void *state, void *memory, size_t bytes);
    /* that made it; NULL: it has closed */
    struct haul_device *device;
} haul__lock;

/* What is left to do of an object that has been freed. It stands in the object: a free allocates
 * nothing. */
typedef struct haul__freed haul__freed;
/* Does it, inside the context's guard. Answers what is to be freed next, of another context; NULL:
 * nothing. */
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
    haul__freed freed; /* for the caller's hold */
    haul_allocator allocator;
    haul_context_options options; /* limits with their defaults filled in */
    haul_error error;
    haul__table table;
    int has_warm;
    haul__map warm; /* an empty map kept for the next plan */
    haul__notes guards, calls;
    haul__pool *pool;  /* NULL: the options ask for no threads */
    haul__lock *locks; /* NULL: there are none */
    size_t lock_count, lock_capacity;
};

/* Room for `needed` words: what is kept, where there are none yet. 0: out of memory, and the words
 * are as they were. */
int haul__notes_grow(haul_context *context, haul__notes *kept, uint64_t **words, size_t *capacity,
                     size_t needed);
/* Keeps them, if they are more than what is kept. */
void haul__notes_keep(haul_context *context, haul__notes *kept, uint64_t *words, size_t capacity);

/* The context's threads, for work on so many bytes. NULL: there are none, or it is too little to
 * share. */
haul__pool *haul__context_pool(haul_context *context, size_t bytes);
/* Wakes them for it, before there is something to do. */
void haul__context_wake_pool(haul_context *context, size_t bytes);

int haul__context_is_valid(const haul_context *context);
/* For a call that is refused and has not entered: the words stand on the context, unless a call is
 * under way there, whose record it is. Answers `status`. */
haul_status haul__context_refuse(haul_context *context, haul_status status, const char *text);
/* Enters a call: HAUL_ERROR_ARGUMENT for a dead or NULL context, HAUL_ERROR_BUSY (the record is
 * then left alone) when another call is in, else HAUL_OK with an empty error record. Every HAUL_OK
 * is paired with a leave. */
haul_status haul__context_enter(haul_context *context);
/* Finishes first what was freed during the call. Whoever calls it touches no object of the context
 * afterwards. */
void haul__context_leave(haul_context *context);
/* Calls finish(object) when nobody is in a call on the context: now, or at the end of the call
 * under way, in its thread. Not from inside a haul__finish. What has failed before stays in the
 * context's record. */
void haul__free(haul__freed *freed, haul_context *context, haul__finish *finish, void *object);
/* The same, for a haul__finish to answer. */
haul__freed *haul__freed_later(haul__freed *freed, haul_context *context, haul__finish *finish,
                               void *object);
void haul__context_hold(haul_context *context);
/* Inside a call, or a haul__finish, it is never the last hold. */
void haul__context_drop(haul_context *context);

#endif
