/* What the tests of environments share: parts that lie side by side, with pointers to one another
 * and to short arrays; and a device that shows what it holds.
 */
#ifndef HAUL_TESTS_ENVIRONMENT_GRAPHS_H
#define HAUL_TESTS_ENVIRONMENT_GRAPHS_H

#include <string.h>

#include "haul.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/random.h"
#include "support/types.h"

enum { PARTS = 24, ARRAYS = 12, LENGTH = 3 };

/* 40 bytes: every second one begins within a granule. */
typedef struct part {
    struct part *a, *b;
    int32_t *data;
    int64_t count, value;
} part;

typedef struct store {
    part parts[PARTS];
    int32_t arrays[ARRAYS][LENGTH];
} store;

static haul_type *part_type;
static const haul_field part_fields[] = {
    HAUL_OBJECT(part, a, &part_type),
    HAUL_OBJECT(part, b, &part_type),
    HAUL_ARRAY(part, data, HAUL_COUNT(part, count)),
};

static store host;
static haul_context *context;
static haul_device *device;
static haul_environment *env;

/* No part leads anywhere; each has an array and a value of its own. */
static inline void store_fill(store *s)
{
    int i, k;
    memset(s, 0, sizeof *s);
    for (i = 0; i < PARTS; i++) {
        s->parts[i].data = s->arrays[i % ARRAYS];
        s->parts[i].count = LENGTH;
        s->parts[i].value = 100 + i;
    }
    for (i = 0; i < ARRAYS; i++)
        for (k = 0; k < LENGTH; k++)
            s->arrays[i][k] = 10 * i + k;
}

static inline void store_reset(void)
{
    store_fill(&host);
}

static inline void start_with(haul_device *opened)
{
    device = opened;
    context = haul_device_context(device);
    part_type = TYPE_NEW(part, part_fields);
    CHECK_STATUS(haul_type_commit(part_type), HAUL_OK);
    store_reset();
    CHECK_STATUS(haul_environment_create(device, &env), HAUL_OK);
}

static inline void start_in(haul_context_options in)
{
    haul_device *opened;
    test_device options = { .settings = &ordinary_launches, .new_context = in };
    CHECK_STATUS(test_open(haul_host_device(), &options, &opened), HAUL_OK);
    start_with(opened);
}

static inline void start(void)
{
    start_in((haul_context_options){ .checked = 0 });
}

/* A device without strips, whose copies to it fail while is_broken. */
static int is_broken;

static inline haul_status copy_or_fail(void *state, haul_address to, const void *from, size_t bytes)
{
    return is_broken ? HAUL_ERROR_DEVICE : haul_host_device()->copy_to(state, to, from, bytes);
}

static inline haul_device *open_breakable(void)
{
    haul_device_table table = *haul_host_device();
    test_device options = { .settings = &ordinary_launches };
    haul_device *opened;
    table.copy_to = copy_or_fail;
    table.gather_strips = NULL;
    table.scatter_strips = NULL;
    CHECK_STATUS(test_open(&table, &options, &opened), HAUL_OK);
    return opened;
}

static inline void finish(void)
{
    haul_host_counters counters;
    haul_environment_free(&env);
    CHECK_STATUS(haul_host_get_counters(device, &counters), HAUL_OK);
    CHECK_EQ(counters.bytes_live, 0);
    haul_type_free(&part_type);
    haul_device_close(&device);
}

/* The end of an operation that fails at each event. */
static inline void end_faults(void *user)
{
    (void)user;
    haul_environment_free(&env);
    haul_type_free(&part_type);
    haul_device_close(&device);
}

static inline part *there(const void *at)
{
    return haul_environment_device_pointer(env, at);
}

static inline haul_environment_info info(void)
{
    haul_environment_info now;
    haul_environment_get_info(env, &now);
    return now;
}

static inline void enter(part *root)
{
    CHECK_STATUS(haul_environment_enter(env, root, part_type, 1, NULL, NULL), HAUL_OK);
}

static inline void leave(part *root)
{
    CHECK_STATUS(haul_environment_exit(env, root, NULL, NULL), HAUL_OK);
}

static inline void leave_back(part *root)
{
    const haul_exit_options back = { .copyout = 1 };
    CHECK_STATUS(haul_environment_exit(env, root, &back, NULL), HAUL_OK);
}

/* A look into device memory: the part at `at`. */
typedef struct look {
    const part *at;
    part seen;
    int32_t first;
} look;

static inline void look_there(void *argument)
{
    look *l = argument;
    l->seen = *l->at;
    l->first = l->seen.data ? l->seen.data[0] : 0;
}

static inline look seen(const part *at)
{
    look l;
    memset(&l, 0, sizeof l);
    l.at = there(at);
    CHECK(l.at != NULL);
    CHECK_STATUS(haul_host_launch(device, look_there, &l), HAUL_OK);
    return l;
}

static inline void add_there(void *argument)
{
    part *p = argument;
    p->value += 1000;
    p->data[0] += 1000;
}

static inline void change_there(const part *at)
{
    CHECK_STATUS(haul_host_launch(device, add_there, there(at)), HAUL_OK);
}

#endif
