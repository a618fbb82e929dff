/* What tests of situations share: an array of ten numbers, alone, and calls on any root.
 */
#ifndef TESTS_ENVIRONMENT_TEN_H
#define TESTS_ENVIRONMENT_TEN_H

#include "environment_graphs.h"

#define THERE(at) haul_environment_device_pointer(env, (at))

static haul_type *policy_of(const haul_type *type, const haul_policy_row *rows, size_t count)
{
    haul_type *policy;
    CHECK_STATUS(haul_policy_create(type, "p", rows, count, &policy), HAUL_OK);
    return policy;
}

static void put(void *root, const haul_type *type, size_t count)
{
    const haul_status status = haul_environment_enter(env, root, type, count, NULL, NULL);
    check_note("%s", status == HAUL_OK ? "" : haul_context_error(context)->text);
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
}

static void bring_and_leave(void *root)
{
    const haul_exit_options back = { .copyout = 1 };
    CHECK_STATUS(haul_environment_exit(env, root, &back, NULL), HAUL_OK);
}

enum { TEN = 10 };

typedef struct ten {
    int64_t v[TEN];
} ten;

static const haul_field ten_fields[] = { HAUL_RAW(ten, v) };
static haul_type *ten_type;

static void start_ten(void)
{
    start();
    ten_type = TYPE_NEW(ten, ten_fields);
    CHECK_STATUS(haul_type_commit(ten_type), HAUL_OK);
}

static void finish_ten(void)
{
    haul_type_free(&ten_type);
    finish();
}

#endif
