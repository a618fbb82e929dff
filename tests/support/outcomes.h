/* What discovery by some threads gives, compared with what one thread gives.
 */
#ifndef HAUL_TESTS_OUTCOMES_H
#define HAUL_TESTS_OUTCOMES_H

#include "haul.h"

/* An emulator's few addresses have a hash in place of the table, which threads would need. */
#ifdef HAUL_EMULATED
enum { CAN_SHARE = 0 };
#else
enum { CAN_SHARE = 1 };
#endif

typedef struct outcome {
    haul_status status;
    haul_error error;
    haul_plan_info info;
    char *arena;
    uint64_t *bitmap;
} outcome;

/* Memory on whole pages. */
char *outcome_pages(size_t bytes);
/* A range of zeros that costs memory only where it is touched; NULL: there is none. */
void *outcome_range(size_t bytes);
void outcome_range_free(void *memory, size_t bytes);
/* As `has_lists`: the plan's memory is not compared, either. If objects of several types share a
 * block of the map, who is found first decides whether the block is uniform. */
enum { OUTCOMES_FORMS = 2 };
/* Checks that teams of 2, 3 and 5 threads find what one thread finds: status, error, paths,
 * numbers, arena and bitmap. `has_lists`: the graph has counts or empty pointers. Threads put lists
 * of them together without spare room, so the plan may take less memory. Answers whether all teams
 * shared the walk. The one thread's outcome becomes *alone. `options` may be NULL. */
int outcomes_agree(const haul_root *root, const haul_context_options *options, int has_lists,
                   outcome *alone);
void outcome_free(outcome *o);

#endif
