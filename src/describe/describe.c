/* Calls that make, change and commit types. Each enters the context of the types, which holds the
 * record of its failure.
 */
#include "base/sized.h"
#include "context/context.h"
#include "describe/enter.h"
#include "type/build.h"
#include "type/commit.h"
#include "type/instance.h"
#include "type/life.h"
#include "type/policy.h"
#include "type/refuse.h"
#include "haul/describe.h"
#include "haul/type_mpi.h"

haul_status haul__enter(haul_type *type)
{
    if (!haul__type_is_valid(type))
        return HAUL_ERROR_ARGUMENT;
    return type->home.context ? haul__context_enter(type->home.context) : HAUL_OK;
}

haul_status haul__leave(haul_type *type, haul_status status)
{
    if (type->home.context)
        haul__context_leave(type->home.context);
    return status;
}

/* --- one type --------------------------------------------------------------------------------- */

haul__home haul__home_of(haul_context *context)
{
    haul__home home;
    home.context = context;
    home.error = &context->error;
    home.hold = haul__context_hold;
    home.drop = haul__context_drop;
    return home;
}

/* Makes an open type, within the context. */
static haul_status make(haul_context *context, const haul_struct *what, haul_combiner combiner,
                        haul_type **type)
{
    const haul__home home = haul__home_of(context);
    haul_status status;
    if (what->field_count > 0 && !what->fields)
        return haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                          "The number of fields is not 0, but the fields are NULL.");
    status = haul__type_new(&home, &context->allocator, what, type);
    if (status == HAUL_ERROR_MEMORY)
        return haul__fail(&context->error, status, "There is not enough host memory for a type.");
    if (status == HAUL_ERROR_VERSION)
        return haul__fail(&context->error, status,
                          "A field uses a member that this version of the library lacks.");
    (*type)->combiner = combiner;
    return HAUL_OK;
}

static haul_status create(haul_context *context, const haul_struct *what, haul_combiner combiner,
                          haul_type **type)
{
    haul_status status = haul__context_enter(context);
    if (type)
        *type = NULL;
    if (status != HAUL_OK)
        return status;
    if (type)
        status = make(context, what, combiner, type);
    else
        status = haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                            "The address of the new type is NULL.");
    haul__context_leave(context);
    return status;
}

haul_status haul_type_create_sized(haul_context *context, const haul_struct *what,
                                   size_t what_bytes, haul_type **type)
{
    haul_struct ours;
    if (type)
        *type = NULL;
    if (!what)
        return haul__context_refuse(context, HAUL_ERROR_ARGUMENT,
                                    "The description of the new type is NULL.");
    if (haul__read_options(&ours, sizeof ours, what, what_bytes) != HAUL_OK)
        return haul__context_refuse(context, HAUL_ERROR_VERSION, HAUL__NEWER_OPTIONS);
    return create(context, &ours, HAUL_COMBINER_STRUCT_FIELDS, type);
}

haul_status haul_type_parameter(haul_context *context, const char *name, haul_type **parameter)
{
    haul_struct what;
    memset(&what, 0, sizeof what);
    what.name = name;
    return create(context, &what, HAUL_COMBINER_PARAMETER, parameter);
}

haul_status haul_type_bytes(haul_context *context, const char *name, size_t bytes,
                            haul_type **newtype)
{
    haul_struct what;
    memset(&what, 0, sizeof what);
    what.name = name;
    what.bytes = bytes;
    return create(context, &what, HAUL_COMBINER_BYTES, newtype);
}

haul_status haul_type_pointer(haul_context *context, const char *name, haul_type *const *target,
                              size_t element_bytes, haul_count count, haul_type **newtype)
{
    haul_struct what;
    haul_field field;
    memset(&what, 0, sizeof what);
    memset(&field, 0, sizeof field);
    field.name = "*";
    field.kind = HAUL_FIELD_POINTER;
    field.bytes = sizeof(void *);
    field.element_bytes = element_bytes;
    field.target = target;
    field.count = count;
    what.name = name;
    what.bytes = sizeof(void *);
    what.fields = &field;
    what.field_count = 1;
    what.field_bytes = sizeof field;
    return create(context, &what, HAUL_COMBINER_POINTER, newtype);
}

haul_status haul_type_add_sized(haul_type *type, const haul_field *fields, size_t count,
                                size_t field_bytes)
{
    haul_status status = haul__enter(type);
    return status == HAUL_OK
               ? haul__leave(type, haul__type_add_fields(type, fields, count, field_bytes))
               : status;
}

haul_status haul_type_set_rebuild(haul_type *type, haul_rebuild_function *rebuild, void *user)
{
    haul_status status = haul__enter(type);
    return status == HAUL_OK ? haul__leave(type, haul__type_set_rebuild(type, rebuild, user))
                             : status;
}

haul_status haul_type_commit(haul_type *type)
{
    haul_status status = haul__enter(type);
    return status == HAUL_OK ? haul__leave(type, haul__type_commit(type)) : status;
}

haul_status haul_type_instance(haul_type *container, size_t count, haul_type *const *parameters,
                               haul_type *const *arguments, haul_type **instance)
{
    haul_status status = haul__enter(container);
    if (instance)
        *instance = NULL;
    return status == HAUL_OK
               ? haul__leave(container,
                             haul__type_instance(container, count, parameters, arguments, instance))
               : status;
}

haul_status haul_policy_create_sized(const haul_type *type, const char *name,
                                     const haul_policy_row *rows, size_t count, size_t row_bytes,
                                     haul_type **policy)
{
    haul_type *of = (haul_type *)type;
    haul_status status = haul__enter(of);
    if (policy)
        *policy = NULL;
    if (status != HAUL_OK)
        return status;
    if (!policy || !name || !*name || (count > 0 && !rows))
        status = haul__type_refuse(type, HAUL_ERROR_ARGUMENT,
                                   "A policy has a name, rows, and an address for its type.");
    else if (!type->committed)
        status = haul__type_refuse(type, HAUL_ERROR_STATE,
                                   "The type is not committed: commit it before a policy.");
    else if (!type->home.context)
        status = HAUL_ERROR_UNSUPPORTED;
    else
        status = haul__policy_make(type, name, rows, count, row_bytes, policy);
    return haul__leave(of, status);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Entry `index` of a table, whatever version of the struct it is. */
static haul_status read_entry(const haul_struct *structs, size_t struct_bytes, size_t index,
                              haul_struct *what)
{
    return haul__read_options(what, sizeof *what, (const char *)structs + index * struct_bytes,
                              struct_bytes);
}

static haul_status make_entry(haul_context *context, const haul_struct *what, size_t index)
{
    if (!what->type)
        return haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                          "Entry %zu of the table has no handle: give its address.", index);
    if (*what->type)
        return haul__fail(&context->error, HAUL_ERROR_STATE,
                          "The handle of entry %zu of the table is not NULL: it is described "
                          "already.",
                          index);
    return make(context, what, HAUL_COMBINER_STRUCT_FIELDS, what->type);
}

static void forget(const haul_struct *structs, size_t count, size_t struct_bytes)
{
    haul_struct what;
    size_t i;
    for (i = 0; i < count; i++)
        if (read_entry(structs, struct_bytes, i, &what) == HAUL_OK)
            haul_type_free(what.type);
}

/* Within the context. After a failure nothing is left. */
static haul_status describe(haul_context *context, const haul_struct *structs, size_t count,
                            size_t struct_bytes)
{
    haul_status status = HAUL_OK;
    haul_struct what;
    size_t i, made = 0;
    for (i = 0; i < count && status == HAUL_OK; i++) {
        status = read_entry(structs, struct_bytes, i, &what);
        if (status != HAUL_OK)
            haul__fail(&context->error, status, HAUL__NEWER_OPTIONS);
        if (status == HAUL_OK)
            status = make_entry(context, &what, i);
        made += status == HAUL_OK;
    }
    for (i = 0; i < count && status == HAUL_OK; i++)
        if (read_entry(structs, struct_bytes, i, &what) == HAUL_OK)
            status = haul__type_commit(*what.type);
    if (status != HAUL_OK)
        forget(structs, made, struct_bytes);
    return status;
}

haul_status haul_describe_sized(haul_context *context, const haul_struct *structs, size_t count,
                                size_t struct_bytes)
{
    haul_status status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    if (count > 0 && !structs)
        status = haul__fail(&context->error, HAUL_ERROR_ARGUMENT, "The table is NULL.");
    else
        status = describe(context, structs, count, struct_bytes);
    haul__context_leave(context);
    return status;
}

void haul_forget_sized(const haul_struct *structs, size_t count, size_t struct_bytes)
{
    if (structs)
        forget(structs, count, struct_bytes);
}
