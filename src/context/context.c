/* Contexts: made, entered, left, dropped.
 */
#include "base/sized.h"
#include "context/context.h"

#define CONTEXT_MAGIC 0x6861756cu
#define SCAN_BYTES ((size_t)1 << 30)

/* Less work than this is done before threads are awake and have it in their caches. A build for
 * tests shares all work, among HAUL_STRESS_THREADS threads. */
#ifdef HAUL_STRESS_THREADS
#define SHARED_BYTES ((size_t)1)
#else
#define SHARED_BYTES ((size_t)512 << 10)
#define HAUL_STRESS_THREADS 0
#endif

int haul__context_is_valid(const haul_context *context)
{
    return context && context->magic == CONTEXT_MAGIC;
}

static void fill_defaults(haul_context_options *options)
{
    if (!options->max_objects)
        options->max_objects = SIZE_MAX;
    if (!options->max_bytes)
        options->max_bytes = SIZE_MAX / 2;
    if (!options->max_scan_bytes)
        options->max_scan_bytes = SCAN_BYTES;
    if (!options->max_array_elements)
        options->max_array_elements = SIZE_MAX;
}

/* The options' allocator. 0: it lacks a function. */
static int take_allocator(const haul_context_options *options, haul_allocator *allocator)
{
    allocator->user = options->allocator_user;
    allocator->allocate = options->allocate;
    allocator->release = options->release;
    allocator->reserve = options->reserve;
    allocator->unreserve = options->unreserve;
    if (!options->allocate && !options->release && !options->reserve && !options->unreserve) {
        *allocator = haul__allocator_or_default(NULL);
        return 1;
    }
    return haul__allocator_is_complete(allocator);
}

static unsigned threads_for(const haul_context_options *options)
{
    unsigned all;
    if (options->threads != HAUL_THREADS_ALL)
        return options->threads ? options->threads : HAUL_STRESS_THREADS;
    all = haul__processors();
    return all < HAUL_THREADS_MAX ? all : HAUL_THREADS_MAX;
}

haul_status haul_context_create_sized(const haul_context_options *options, size_t options_bytes,
                                      haul_context **context)
{
    haul_context_options chosen;
    haul_allocator allocator;
    haul_context *made;
    haul_status status;
    if (!context)
        return HAUL_ERROR_ARGUMENT;
    *context = NULL;
    status = haul__read_options(&chosen, sizeof chosen, options, options_bytes);
    if (status != HAUL_OK)
        return status;
    if ((chosen.threads > HAUL_THREADS_MAX && chosen.threads != HAUL_THREADS_ALL) ||
        !(chosen.spin_seconds >= 0) || !take_allocator(&chosen, &allocator))
        return HAUL_ERROR_ARGUMENT;
    made = haul__allocate_zeroed(&allocator, sizeof *made);
    if (!made)
        return HAUL_ERROR_MEMORY;
    made->magic = CONTEXT_MAGIC;
    made->holders = 1;
    made->allocator = allocator;
    made->options = chosen;
    made->options.threads = threads_for(&chosen);
    made->listener.progress = chosen.progress;
    made->listener.discovery = chosen.discovery_progress;
    made->listener.user = chosen.progress_user;
    fill_defaults(&made->options);
    if (made->options.threads > 1) {
        made->pool = haul__pool_new(&allocator, made->options.threads - 1, chosen.spin_seconds);
        if (!made->pool) {
            haul__release(&allocator, made, sizeof *made);
            return HAUL_ERROR_MEMORY;
        }
    }
    *context = made;
    return HAUL_OK;
}

haul_status haul__context_cancelled(haul_context *context)
{
    return haul__fail(&context->error, HAUL_ERROR_CANCELLED,
                      "the progress callback cancelled the call");
}

void haul__notes_forget(haul_context *context, haul__notes *kept)
{
    haul__release(&context->allocator, kept->words, kept->capacity * sizeof *kept->words);
    memset(kept, 0, sizeof *kept);
}

int haul__notes_grow(haul_context *context, haul__notes *kept, uint64_t **words, size_t *capacity,
                     size_t needed)
{
    if (!*words) {
        *words = kept->words;
        *capacity = kept->capacity;
        memset(kept, 0, sizeof *kept);
    }
    return haul__grow(&context->allocator, words, capacity, needed, sizeof **words);
}

void haul__notes_keep(haul_context *context, haul__notes *kept, uint64_t *words, size_t capacity)
{
    if (capacity <= kept->capacity) {
        haul__release(&context->allocator, words, capacity * sizeof *words);
        return;
    }
    haul__notes_forget(context, kept);
    kept->words = words;
    kept->capacity = capacity;
}

haul__pool *haul__context_pool(haul_context *context, size_t bytes)
{
    return bytes < SHARED_BYTES ? NULL : context->pool;
}

void haul__context_wake_pool(haul_context *context, size_t bytes)
{
    haul__pool_wake(haul__context_pool(context, bytes), bytes);
}

static void forget_warm(haul_context *context)
{
    haul__notes_forget(context, &context->reads);
    haul__notes_forget(context, &context->calls);
    haul__notes_forget(context, &context->parcels);
    context->parcel_count = 0;
    haul__notes_forget(context, &context->ranges);
    haul__notes_forget(context, &context->packed);
    if (context->has_warm)
        haul__map_close(&context->warm);
    context->has_warm = 0;
    haul__table_close(&context->table, &context->allocator);
}

void haul__context_hold(haul_context *context)
{
    haul__atomic_add(&context->holders, 1);
}

void haul__context_drop(haul_context *context)
{
    haul_allocator allocator;
    if (haul__atomic_add(&context->holders, -1) != 0)
        return;
    forget_warm(context);
    haul__pool_free(context->pool);
    context->magic = 0;
    allocator = context->allocator;
    /* locks are left if a device closed before its work had ended */
    haul__release(&allocator, context->locks, context->lock_capacity * sizeof *context->locks);
    haul__release(&allocator, context->statics,
                  context->static_capacity * sizeof *context->statics);
    haul__release(&allocator, context->translations,
                  context->translation_capacity * sizeof *context->translations);
    haul__release(&allocator, context, sizeof *context);
}

/* ---- The guard.
 *
 * One word: OPEN; TAKEN while a call is under way; or the object that was freed last during the
 * call, which links to the one freed before. So a free never waits, in any thread and inside any
 * callback. If it can take the guard, it finishes its object itself; else it leaves the object to
 * the guard's owner, who opens the guard only when no such object is left.
 *
 * Each object holds its context and is finished inside the guard. The last of these holds could end
 * while the owner still has the guard, so the owner takes a hold itself while it finishes objects.
 */

#define OPEN ((uintptr_t)0)
#define TAKEN ((uintptr_t)1)

haul_status haul__context_enter(haul_context *context)
{
    uintptr_t was = OPEN;
    if (!haul__context_is_valid(context))
        return HAUL_ERROR_ARGUMENT;
    if (!haul__atomic_replace(&context->guard, &was, TAKEN))
        return HAUL_ERROR_BUSY;
    haul__clear_error(&context->error);
    return HAUL_OK;
}

haul_status haul__context_refuse(haul_context *context, haul_status status, const char *text)
{
    if (haul__context_enter(context) != HAUL_OK)
        return status;
    haul__fail(&context->error, status, "%s", text);
    haul__context_leave(context);
    return status;
}

/* 1: takes the guard. 0: leaves the object to the guard's owner, who may have freed it already. */
static int take_or_leave(haul_context *context, haul__freed *freed)
{
    uintptr_t was = OPEN;
    for (;;) {
        if (was == OPEN && haul__atomic_replace(&context->guard, &was, TAKEN))
            return 1;
        if (was == OPEN)
            continue;
        freed->next = was == TAKEN ? NULL : (haul__freed *)was;
        if (haul__atomic_replace(&context->guard, &was, (uintptr_t)freed))
            return 0;
    }
}

/* Finishes a list of objects. Objects of other contexts that must be freed next go before `others`.
 * A free has no answer, so the error record of the last call stays as it is. */
static haul__freed *finish_quietly(haul_context *context, haul__freed *freed, haul__freed *others)
{
    haul_error before;
    before.status = context->error.status;
    if (before.status != HAUL_OK)
        before = context->error;
    while (freed) {
        haul__freed *next = freed->next, *other = freed->finish(freed->object);
        if (other) {
            other->next = others;
            others = other;
        }
        freed = next;
    }
    if (before.status != HAUL_OK)
        context->error = before;
    else
        haul__clear_error(&context->error);
    return others;
}

/* Finishes the objects left to the guard, and opens it when there are none. */
static haul__freed *open_guard(haul_context *context, haul__freed *others)
{
    uintptr_t was = TAKEN;
    while (!haul__atomic_replace(&context->guard, &was, OPEN)) {
        haul__freed *freed = (haul__freed *)haul__atomic_swap(&context->guard, TAKEN);
        others = finish_quietly(context, freed, others);
        was = TAKEN;
    }
    return others;
}

static void free_all(haul__freed *list)
{
    while (list) {
        haul__freed *freed = list;
        haul_context *context = freed->context;
        list = freed->next;
        if (!take_or_leave(context, freed))
            continue;
        haul__context_hold(context);
        freed->next = NULL;
        list = finish_quietly(context, freed, list);
        list = open_guard(context, list);
        haul__context_drop(context);
    }
}

void haul__context_leave(haul_context *context)
{
    uintptr_t was = TAKEN;
    haul__freed *others;
    if (haul__atomic_replace(&context->guard, &was, OPEN))
        return;
    haul__context_hold(context);
    others = open_guard(context, NULL);
    haul__context_drop(context);
    free_all(others);
}

haul__freed *haul__freed_later(haul__freed *freed, haul_context *context, haul__finish *finish,
                               void *object)
{
    freed->next = NULL;
    freed->context = context;
    freed->finish = finish;
    freed->object = object;
    return freed;
}

void haul__free(haul__freed *freed, haul_context *context, haul__finish *finish, void *object)
{
    free_all(haul__freed_later(freed, context, finish, object));
}

static haul__freed *drop_callers(void *object)
{
    haul__context_drop(object);
    return NULL;
}

void haul_context_free(haul_context **context)
{
    haul_context *freed = context ? *context : NULL;
    if (!freed)
        return;
    *context = NULL;
    if (haul__context_is_valid(freed))
        haul__free(&freed->freed, freed, drop_callers, freed);
}

haul_status haul_context_add_static(haul_context *context, const void *address, size_t bytes,
                                    haul_static_policy policy)
{
    haul_status status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    if (!address || bytes > UINTPTR_MAX - (uintptr_t)address) {
        status = haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                            "the static range is NULL, or wraps around the address space");
    } else if (policy < HAUL_STATIC_KEEP || policy > HAUL_STATIC_COPY) {
        status =
            haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                       "the static range has the policy %d, which does not exist", (int)policy);
    } else if (!haul__grow(&context->allocator, (void **)&context->statics,
                           &context->static_capacity, context->static_count + 1,
                           sizeof *context->statics)) {
        status = haul__fail(&context->error, HAUL_ERROR_MEMORY, "no memory for a static range");
    } else {
        haul__static *added = &context->statics[context->static_count++];
        added->address = (uintptr_t)address;
        added->bytes = bytes;
        added->policy = policy;
    }
    haul__context_leave(context);
    return status;
}

haul_status haul_context_add_translation(haul_context *context, uintptr_t host, uintptr_t copy)
{
    haul_status status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    if (haul__grow(&context->allocator, (void **)&context->translations,
                   &context->translation_capacity, context->translation_count + 1,
                   sizeof *context->translations)) {
        context->translations[context->translation_count].host = host;
        context->translations[context->translation_count++].copy = copy;
    } else {
        status = haul__fail(&context->error, HAUL_ERROR_MEMORY, "no memory for a translation");
    }
    haul__context_leave(context);
    return status;
}

haul_status haul_context_trim(haul_context *context)
{
    haul_status status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    forget_warm(context);
    haul__context_leave(context);
    return HAUL_OK;
}

const haul_error *haul_context_error(const haul_context *context)
{
    static const haul_error none = {
        HAUL_ERROR_ARGUMENT, "", "",
        "there is no context: it is NULL or freed, or the call that was to make it has failed"
    };
    return haul__context_is_valid(context) ? &context->error : &none;
}
