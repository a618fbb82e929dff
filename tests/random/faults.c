/* The operations that are failed everywhere: making types, and one whole journey of a graph.
 */
#include "faults.h"

#include <string.h>

#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"

/* ---- Types ---- */

typedef struct type_job {
    choices start;
    model *m;
    haul_context *context;
} type_job;

static void prepare_types(void *user, fault_plan *plan)
{
    type_job *job = user;
    CHECK_STATUS(fault_open_context(plan, NULL, &job->context), HAUL_OK);
}

static void drop_context(void *user)
{
    haul_context_free(&((type_job *)user)->context);
}

static haul_status make_types(void *user)
{
    type_job *job = user;
    choices c = job->start;
    const char *where;
    haul_status status = model_make_types(&c, job->m, job->context, &where);
    model_free_types(job->m);
    return status;
}

void faults_of_types(const choices *c, model *m)
{
    type_job job;
    fault_operation operation = { .prepare = prepare_types,
                                  .run = make_types,
                                  .finish = drop_context,
                                  .user = &job,
                                  .modes = FAULT_MEMORY };
    job.start = *c;
    job.m = m;
    fault_everywhere(&operation);
}

/* ---- A journey ---- */

typedef struct journey {
    graph *g;
    const reference *host;
    model_oracle *argument;
    haul_device *device;
} journey;

static void close_device(void *user)
{
    haul_device_close(&((journey *)user)->device);
}

static int is_in(const reference_range *list, size_t count, const unsigned char *at)
{
    int inside;
    reference_stretch(list, count, (uintptr_t)at, 1, &inside);
    return inside;
}

/* What was not sent comes back as zeros. */
static void restore_unsent(journey *j)
{
    const reference *r = j->host;
    for (size_t i = 0; i < j->g->block_count; i++) {
        const graph_block *b = &j->g->blocks[i];
        for (size_t k = 0; k < b->bytes; k++) {
            if (b->memory[k] == b->shadow[k] || !is_in(r->unsent, r->unsent_count, &b->memory[k]))
                continue;
            CHECK_EQ(b->memory[k], 0);
            CHECK(!is_in(r->unreturned, r->unreturned_count, &b->memory[k]));
            b->memory[k] = b->shadow[k];
        }
    }
}

static haul_status travel(void *user)
{
    journey *j = user;
    haul_plan *plan = NULL;
    haul_shipment *s = NULL;
    haul_status status =
        haul_plan_create(haul_device_context(j->device),
                         haul_from_roots(j->g->roots, j->g->root_count), NULL, &plan);
    CHECK((status == HAUL_OK) == (plan != NULL));
    if (status == HAUL_OK)
        status = haul_ship_from(j->device, haul_from_plan(plan), NULL, NULL, &s);
    CHECK((status == HAUL_OK) == (s != NULL));
    if (status == HAUL_OK)
        status = haul_update_device(s, NULL, NULL);
    if (status == HAUL_OK)
        status = haul_unmarshal(s);
    restore_unsent(j);
    if (status == HAUL_OK)
        status = haul_reship(s, NULL);
    haul_plan_free(&plan);
    haul_shipment_free(&s);
    return status;
}

/* The first journey makes the staging buffers, which the device keeps: it goes before anything is
 * counted. */
static void open_device(void *user, fault_plan *plan)
{
    journey *j = user;
    test_device options;
    memset(&options, 0, sizeof options);
    options.new_context.argument = j->argument;
    options.known = surroundings_known(j->g->around);
    CHECK_STATUS(fault_open(plan, &options, &j->device), HAUL_OK);
    CHECK_STATUS(travel(j), HAUL_OK);
}

static void check_source(void *user, haul_status status)
{
    journey *j = user;
    (void)status;
    for (size_t i = 0; i < j->g->block_count; i++)
        CHECK_BYTES(j->g->blocks[i].memory, j->g->blocks[i].shadow, j->g->blocks[i].bytes);
}

static fault_operation operation_of(journey *j)
{
    fault_operation operation = { .prepare = open_device,
                                  .run = travel,
                                  .check = check_source,
                                  .finish = close_device,
                                  .user = j };
    return operation;
}

void faults_of_graph(graph *g, const reference *host, model_oracle *argument)
{
    journey j;
    memset(&j, 0, sizeof j);
    j.g = g;
    j.host = host;
    j.argument = argument;
    fault_operation operation = operation_of(&j);
    fault_everywhere(&operation);
}

void fault_of_graph(graph *g, const reference *host, model_oracle *argument, unsigned mode,
                    uint64_t at)
{
    journey j;
    fault_plan plan;
    haul_status status;
    memset(&j, 0, sizeof j);
    memset(&plan, 0, sizeof plan);
    j.g = g;
    j.host = host;
    j.argument = argument;
    open_device(&j, &plan);
    fault_arm(&plan, (fault_mode)(mode % FAULT_MODES), at);
    status = travel(&j);
    CHECK_STATUS(status, plan.first);
    check_source(&j, status);
    if (!plan.lost) {
        fault_disarm(&plan);
        CHECK_STATUS(travel(&j), HAUL_OK);
        check_source(&j, HAUL_OK);
    }
    close_device(&j);
    fault_check_clean(&plan);
}
