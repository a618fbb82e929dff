/* The context of types.h. Threads of one test may make types at the same time. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "support/check.h"
#include "support/types.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static haul_context *context;

static void end(void)
{
    haul_context_free(&context);
}

haul_context *type_context(void)
{
    haul_status status = HAUL_OK;
    pthread_mutex_lock(&lock);
    if (!context) {
        status = haul_context_create(NULL, &context);
        check_at_end(end);
    }
    pthread_mutex_unlock(&lock);
    CHECK_STATUS(status, HAUL_OK);
    return context;
}

const haul_error *type_error(void)
{
    return haul_context_error(type_context());
}

haul_status type_make_in(haul_context *context, const char *name, size_t bytes,
                         const haul_field *fields, size_t count, haul_type **type)
{
    const haul_struct what = {
        .name = name,
        .bytes = bytes,
        .fields = fields,
        .field_count = count,
        .field_bytes = sizeof *fields,
    };
    return haul_type_create(context, &what, type);
}

haul_status type_make(const char *name, size_t bytes, const haul_field *fields, size_t count,
                      haul_type **type)
{
    return type_make_in(type_context(), name, bytes, fields, count, type);
}

haul_type *type_new(const haul_struct *what)
{
    haul_type *type;
    CHECK_STATUS(haul_type_create(type_context(), what, &type), HAUL_OK);
    return type;
}
