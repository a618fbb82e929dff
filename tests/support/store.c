/* Plans by several threads whose allocator runs out of memory.
 */
#define _POSIX_C_SOURCE 200809L
#include "support/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/outcomes.h"

/* An allocator for several threads. After `left` more allocations there is no memory. */
typedef struct store {
    pthread_mutex_t lock;
    size_t left, held, made;
} store;

static void *store_allocate(void *user, size_t bytes, size_t alignment)
{
    store *s = user;
    void *memory = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->left > 0 && posix_memalign(&memory, alignment < 64 ? 64 : alignment, bytes) == 0) {
        s->left--;
        s->held += bytes;
        s->made++;
    } else {
        memory = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    return memory;
}

static void store_release(void *user, void *memory, size_t bytes)
{
    store *s = user;
    pthread_mutex_lock(&s->lock);
    s->held -= bytes;
    pthread_mutex_unlock(&s->lock);
    free(memory);
}

static void *store_reserve(void *user, size_t bytes)
{
    (void)user;
    return outcome_range(bytes);
}

static void store_unreserve(void *user, void *memory, size_t bytes)
{
    (void)user;
    outcome_range_free(memory, bytes);
}

size_t plan_from_store(haul_source source, size_t allocations, haul_status *status)
{
    store s = { PTHREAD_MUTEX_INITIALIZER, SIZE_MAX, 0, 0 };
    haul_context_options options;
    haul_context *context;
    haul_plan *plan = NULL;
    memset(&options, 0, sizeof options);
    options.threads = 3;
    options.any_thread = 1;
    options.allocate = store_allocate;
    options.release = store_release;
    options.reserve = store_reserve;
    options.unreserve = store_unreserve;
    options.allocator_user = &s;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    s.left = allocations;
    s.made = 0;
    *status = haul_plan_create(context, source, NULL, &plan);
    CHECK(*status == HAUL_OK || *status == HAUL_ERROR_MEMORY);
    s.left = SIZE_MAX;
    if (*status == HAUL_ERROR_MEMORY) /* it can be repeated */
        CHECK_STATUS(haul_plan_create(context, source, NULL, &plan), HAUL_OK);
    haul_plan_free(&plan);
    haul_context_free(&context);
    CHECK_EQ(s.held, 0);
    return s.made;
}
