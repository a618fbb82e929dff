#define _DEFAULT_SOURCE
#include "support/outcomes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/check.h"

static const unsigned teams[] = { 2, 3, 5 };

char *outcome_pages(size_t bytes)
{
    void *memory;
    CHECK(posix_memalign(&memory, 4096, bytes) == 0);
    return memory;
}

void *outcome_range(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void outcome_range_free(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

static outcome outcome_of(const haul_root *root, const haul_context_options *options,
                          unsigned threads)
{
    haul_context_options own;
    haul_context *context;
    haul_plan *plan;
    outcome o;
    memset(&o, 0, sizeof o);
    memset(&own, 0, sizeof own);
    if (options)
        own = *options;
    own.threads = threads;
    CHECK_STATUS(haul_context_create(&own, &context), HAUL_OK);
    o.status = haul_plan_create(context, haul_from_roots(root, 1), NULL, &plan);
    o.error = *haul_context_error(context);
    if (o.status == HAUL_OK) {
        haul_plan_get_info(plan, &o.info);
        o.arena = outcome_pages(o.info.arena_bytes);
        o.bitmap = malloc(o.info.bitmap_bytes);
        CHECK(o.bitmap != NULL);
        CHECK_STATUS(haul_plan_pack(plan, o.arena, o.info.arena_bytes, 0x100000, o.bitmap),
                     HAUL_OK);
        haul_plan_free(&plan);
    }
    haul_context_free(&context);
    return o;
}

void outcome_free(outcome *o)
{
    free(o->arena);
    free(o->bitmap);
}

static void check_outcomes(const outcome *a, const outcome *b, int has_lists)
{
    CHECK_STATUS(b->status, a->status);
    CHECK_STR(b->error.text, a->error.text);
    CHECK_STR(b->error.path, a->error.path);
    CHECK_STR(b->error.other_path, a->error.other_path);
    CHECK_EQ(b->info.objects, a->info.objects);
    CHECK_EQ(b->info.pointers, a->info.pointers);
    CHECK_EQ(b->info.graph_bytes, a->info.graph_bytes);
    CHECK_EQ(b->info.arena_bytes, a->info.arena_bytes);
    CHECK_EQ(b->info.bitmap_bytes, a->info.bitmap_bytes);
    if (has_lists == 1)
        CHECK(b->info.bookkeeping_bytes <= a->info.bookkeeping_bytes);
    else if (!has_lists)
        CHECK_EQ(b->info.bookkeeping_bytes, a->info.bookkeeping_bytes);
    CHECK(a->status != HAUL_OK || memcmp(a->arena, b->arena, a->info.arena_bytes) == 0);
    CHECK(a->status != HAUL_OK || memcmp(a->bitmap, b->bitmap, a->info.bitmap_bytes) == 0);
}

/* Several threads keep their worklist in parcels, so it takes more memory. */
static int was_shared(const outcome *alone, const outcome *together)
{
    return together->info.worklist_bytes != alone->info.worklist_bytes;
}

int outcomes_agree(const haul_root *root, const haul_context_options *options, int has_lists,
                   outcome *alone)
{
    int all = 1;
    size_t i;
    *alone = outcome_of(root, options, 1);
    for (i = 0; i < sizeof teams / sizeof teams[0]; i++) {
        outcome together = outcome_of(root, options, teams[i]);
        check_outcomes(alone, &together, has_lists);
        all &= was_shared(alone, &together);
        outcome_free(&together);
    }
    return all;
}
