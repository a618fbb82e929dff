/* Errors of types: the records that a call gives to its context.
 *
 * An open type has a record of its own, made at its first failure. A committed type may be shared
 * between threads, so it shows constants only.
 */
#include <stdio.h>

#include "base/status.h"
#include "type/refuse.h"

static const haul_error no_failure = { HAUL_OK, "", "", "" };
static const haul_error no_memory = { HAUL_ERROR_MEMORY, "", "",
                                      "There is not enough host memory for this call." };

haul_error *haul__type_record(haul_type *type)
{
    if (!type->record)
        type->record = haul__allocate(&type->allocator, sizeof *type->record, sizeof(void *));
    if (type->record) {
        haul__clear_error(type->record);
        type->shown = type->record;
    }
    return type->record;
}

/* Constants only: a committed type may be shared between threads. */
haul_status haul__type_tell(const haul_type *type, const haul_error *constant)
{
    haul__atomic_store(&((haul_type *)type)->shown, constant);
    return constant->status;
}

haul_status haul__type_tell_success(haul_type *type)
{
    return haul__type_tell(type, &no_failure);
}

haul_status haul__type_refuse(haul_type *type, const haul_error *constant, const char *format, ...)
{
    haul_error *error = type->committed ? NULL : haul__type_record(type);
    va_list arguments;
    if (!error)
        return haul__type_tell(type, constant);
    error->status = constant->status;
    haul__set_path(error->path, type->name);
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return error->status;
}

haul_status haul__type_out_of_memory(haul_type *type)
{
    return haul__type_tell(type, &no_memory);
}

const haul_error *haul__type_error(const haul_type *type)
{
    const haul_error *shown = haul__atomic_load(&type->shown);
    return shown ? shown : &no_failure;
}

haul_status haul__wrong(haul_error *error, const haul_type *type, const char *field,
                        const char *format, ...)
{
    char path[2 * HAUL_NAME_BYTES_MAX];
    va_list arguments;
    if (!error)
        return HAUL_ERROR_TYPE;
    haul__clear_error(error);
    error->status = HAUL_ERROR_TYPE;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "%s%s%s", type->name, field ? "." : "", field ? field : "");
    haul__set_path(error->path, path);
    return HAUL_ERROR_TYPE;
}
