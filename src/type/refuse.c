/* Errors of calls on types, in the record of the context that the types were made from.
 */
#include <stdio.h>

#include "base/status.h"
#include "type/refuse.h"

static haul_status fill(haul_error *error, haul_status status, const haul_type *type,
                        const char *field, const char *format, va_list arguments)
{
    char path[2 * HAUL_NAME_BYTES_MAX];
    if (!error)
        return status;
    haul__clear_error(error);
    error->status = status;
    vsnprintf(error->text, sizeof error->text, format, arguments);
    snprintf(path, sizeof path, "%s%s%s", type->name, field ? "." : "", field ? field : "");
    haul__set_path(error->path, path);
    return status;
}

haul_status haul__type_refuse(const haul_type *type, haul_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(type->home.error, status, type, NULL, format, arguments);
    va_end(arguments);
    return status;
}

haul_status haul__type_out_of_memory(const haul_type *type)
{
    return haul__type_refuse(type, HAUL_ERROR_MEMORY,
                             "There is not enough host memory for this call.");
}

haul_status haul__wrong(haul_error *error, const haul_type *type, const char *field,
                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, HAUL_ERROR_TYPE, type, field, format, arguments);
    va_end(arguments);
    return HAUL_ERROR_TYPE;
}

haul_status haul__too_large(haul_error *error, const haul_type *type, const char *field,
                            const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, HAUL_ERROR_LIMIT, type, field, format, arguments);
    va_end(arguments);
    return HAUL_ERROR_LIMIT;
}
