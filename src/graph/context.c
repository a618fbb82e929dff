/* Contexts: made, entered, left, dropped.
 */
#include "graph/context.h"

#define MAGIC 0x6861756cu
#define SCAN_BYTES ((size_t)1 << 30)

/* What is less than this is done before threads are awake, or has come into their caches. A build for tests shares
 * everything, by so many threads. */
#ifdef HAUL_STRESS_THREADS
#define SHARED_BYTES ((size_t)1)
#else
#define SHARED_BYTES ((size_t)512 << 10)
#define HAUL_STRESS_THREADS 0
#endif

int haul__context_is_valid(const haul_context *context)
{
    return context && context->magic == MAGIC;
}

static void fill_defaults(haul_limits *limits)
{
    if (!limits->objects)
        limits->objects = SIZE_MAX;
    if (!limits->bytes)
        limits->bytes = SIZE_MAX / 2;
    if (!limits->scan_bytes)
        limits->scan_bytes = SCAN_BYTES;
    if (!limits->array_elements)
        limits->array_elements = SIZE_MAX;
}

static int lists_are_there(const haul_context_options *options)
{
    size_t i;
    if ((!options->statics && options->static_count) || (!options->translations && options->translation_count))
        return 0;
    for (i = 0; i < options->static_count; i++)
        if (options->statics[i].policy < HAUL_STATIC_KEEP || options->statics[i].policy > HAUL_STATIC_COPY)
            return 0;
    return 1;
}

static int threads_can_be(const haul_context_options *options)
{
    return (options->threads <= HAUL_THREADS_MAX || options->threads == HAUL_THREADS_ALL) &&
           options->threads_awake_seconds >= 0;
}

static unsigned threads_for(const haul_context_options *options)
{
    unsigned all;
    if (options->threads != HAUL_THREADS_ALL)
        return options->threads ? options->threads : HAUL_STRESS_THREADS;
    all = haul__processors();
    return all < HAUL_THREADS_MAX ? all : HAUL_THREADS_MAX;
}

haul_status haul_context_create(const haul_context_options *options, haul_context **context)
{
    static const haul_context_options defaults;
    haul_allocator allocator;
    haul_context *made;
    if (!context)
        return HAUL_ERROR_ARGUMENT;
    *context = NULL;
    if (!options)
        options = &defaults;
    if (!haul__allocator_is_complete(options->allocator) || !lists_are_there(options) || !threads_can_be(options))
        return HAUL_ERROR_ARGUMENT;
    allocator = haul__allocator_or_default(options->allocator);
    made = haul__allocate_zeroed(&allocator, sizeof *made);
    if (!made)
        return HAUL_ERROR_MEMORY;
    made->magic = MAGIC;
    made->holders = 1;
    made->allocator = allocator;
    made->options = *options;
    made->options.allocator = NULL;
    made->options.threads = threads_for(options);
    fill_defaults(&made->options.limits);
    if (made->options.threads > 1) {
        made->team = haul__team_new(&allocator, made->options.threads - 1, made->options.threads_awake_seconds);
        if (!made->team) {
            haul__release(&allocator, made, sizeof *made);
            return HAUL_ERROR_MEMORY;
        }
    }
    *context = made;
    return HAUL_OK;
}

static void forget_notes(haul_context *context, haul__notes *kept)
{
    haul__release(&context->allocator, kept->words, kept->capacity * sizeof *kept->words);
    memset(kept, 0, sizeof *kept);
}

int haul__notes_grow(haul_context *context, haul__notes *kept, uint64_t **words, size_t *capacity, size_t needed)
{
    void *grown;
    int has_room;
    if (!*words) {
        *words = kept->words;
        *capacity = kept->capacity;
        memset(kept, 0, sizeof *kept);
    }
    grown = *words;
    has_room = haul__grow(&context->allocator, &grown, capacity, needed, sizeof **words);
    *words = grown;
    return has_room;
}

void haul__notes_keep(haul_context *context, haul__notes *kept, uint64_t *words, size_t capacity)
{
    if (capacity <= kept->capacity) {
        haul__release(&context->allocator, words, capacity * sizeof *words);
        return;
    }
    forget_notes(context, kept);
    kept->words = words;
    kept->capacity = capacity;
}

haul__team *haul__context_team(haul_context *context, size_t bytes)
{
    return bytes < SHARED_BYTES ? NULL : context->team;
}

void haul__context_call_team(haul_context *context, size_t bytes)
{
    haul__team_call(haul__context_team(context, bytes), bytes);
}

static void forget_warm(haul_context *context)
{
    forget_notes(context, &context->guards);
    forget_notes(context, &context->calls);
    if (context->has_warm)
        haul__map_close(&context->warm);
    context->has_warm = 0;
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
    haul__team_free(context->team);
    context->magic = 0;
    allocator = context->allocator;
    if (context->locks) /* of a device that was late to the end */
        haul__release(&allocator, context->locks, context->lock_capacity * sizeof *context->locks);
    haul__release(&allocator, context, sizeof *context);
}

void haul_context_free(haul_context **context)
{
    if (context && haul__context_is_valid(*context))
        haul__context_drop(*context);
    if (context)
        *context = NULL;
}

haul_status haul__context_enter(haul_context *context)
{
    if (!haul__context_is_valid(context))
        return HAUL_ERROR_ARGUMENT;
    if (haul__atomic_swap(&context->busy, 1))
        return HAUL_ERROR_BUSY;
    haul__clear_error(&context->error);
    return HAUL_OK;
}

void haul__context_leave(haul_context *context)
{
    haul__atomic_store(&context->busy, 0);
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
    static const haul_error none = { HAUL_ERROR_ARGUMENT, "", "", "there is no context: what was to make it failed" };
    return haul__context_is_valid(context) ? &context->error : &none;
}
