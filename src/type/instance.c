/* Containers and their instances.
 *
 * A container is an open struct whose rows lead to parameters, or to other containers. It is never
 * committed. An instance is an open type with copies of the container's rows and an argument, a
 * type, for each parameter. Its commit works out the target of each row:
 *
 *     a row of the container leads to     the row of the instance leads to
 *     a parameter                         its argument
 *     the container itself                the instance itself
 *     another type that leads to some     an instance of that type, with the arguments of those
 *     of the parameters                   parameters
 *     any other type                      the same type
 *
 * A container holds all its instances, so one set of arguments has one instance, for the user, a
 * second commit and other containers. An instance lives at least as long as its container.
 * Instances stand in a tree by a hash of their arguments; the links lie in them, so the tree needs
 * no memory.
 */
#include <stdio.h>

#include "type/build.h"
#include "type/instance.h"
#include "type/life.h"
#include "type/refuse.h"

int haul__type_is_parameter(const haul_type *type)
{
    return type->combiner == HAUL_COMBINER_PARAMETER;
}

/* --- which parameters does a type depend on? -------------------------------------------------- */

/* The open types that are reached from one type, each once; the list grows while it is read. */
typedef struct reached {
    const haul_allocator *allocator;
    haul_type **types;
    size_t count, capacity;
} reached;

static int put(reached *r, haul_type *type)
{
    if (!haul__type_is_valid(type) || type->committed || type->looked_at)
        return 1;
    if (!haul__grow(r->allocator, &r->types, &r->capacity, r->count + 1, sizeof *r->types))
        return 0;
    r->types[r->count++] = type;
    type->looked_at = 1;
    return 1;
}

/* An instance leads to its arguments only: its parameters are bound. */
static int put_targets(reached *r, const haul_type *type)
{
    size_t i, k;
    for (i = 0; i < type->bound_count; i++)
        if (!put(r, type->bound[i].argument))
            return 0;
    for (i = 0; type->bound_count == 0 && i < type->row_count; i++) {
        const haul__rule *rule = type->rows[i].rule;
        if (type->rows[i].target && !put(r, *type->rows[i].target))
            return 0;
        for (; rule; rule = rule->each) {
            const haul_switch *by = &rule->said.type_switch;
            if (rule->said.ancestor && *rule->said.ancestor && !put(r, *rule->said.ancestor))
                return 0;
            for (k = 0; k < by->case_count; k++)
                if (by->cases[k].type && !put(r, *by->cases[k].type))
                    return 0;
        }
    }
    for (i = 0; i < haul__type_old_count(type); i++)
        if (!put(r, type->blocks[i].type))
            return 0;
    return 1;
}

/* *bits: which of the instance's parameters are reached from a type. */
static haul_status depends_on(const haul_type *instance, haul_type *type, unsigned *bits)
{
    haul_status status = HAUL_OK;
    reached r;
    size_t i, k;
    memset(&r, 0, sizeof r);
    r.allocator = &instance->allocator;
    *bits = 0;
    if (!put(&r, type))
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < r.count && status == HAUL_OK; i++) {
        for (k = 0; k < instance->bound_count; k++)
            *bits |= (unsigned)(r.types[i] == instance->bound[k].parameter) << k;
        status = put_targets(&r, r.types[i]) ? HAUL_OK : HAUL_ERROR_MEMORY;
    }
    for (i = 0; i < r.count; i++)
        r.types[i]->looked_at = 0;
    haul__release(r.allocator, r.types, r.capacity * sizeof *r.types);
    return status;
}

/* --- instances -------------------------------------------------------------------------------- */

static int is_bound_so(const haul_type *instance, const haul__bound *bound, size_t count)
{
    size_t i, k;
    for (i = 0; i < count; i++) {
        for (k = 0; k < instance->bound_count; k++)
            if (instance->bound[k].parameter == bound[i].parameter)
                break;
        if (k == instance->bound_count || instance->bound[k].argument != bound[i].argument)
            return 0;
    }
    return instance->bound_count == count;
}

/* The link to the instance for these arguments; it is NULL if there is none. The hash does not
 * depend on the order of the parameters. */
static haul_type **place_of(haul_type *container, const haul__bound *bound, size_t count)
{
    haul_type **place = &container->root;
    uint64_t hash = 0, one;
    size_t i;
    for (i = 0; i < count; i++) {
        one = (uint64_t)(uintptr_t)bound[i].parameter * UINT64_C(0xbf58476d1ce4e5b9);
        one = (one ^ (uint64_t)(uintptr_t)bound[i].argument) * UINT64_C(0x9e3779b97f4a7c15);
        hash += (one ^ one >> 32) * UINT64_C(0x94d049bb133111eb);
    }
    for (; *place && !is_bound_so(*place, bound, count); hash <<= 1)
        place = &(*place)->below[hash >> 63];
    return place;
}

/* "table<key,value>"; 0: too long. */
static int name_instance(const haul_type *container, const haul__bound *bound, size_t count,
                         char *name)
{
    size_t length = 0, i;
    int more = snprintf(name, HAUL_NAME_BYTES_MAX, "%s<", container->name);
    for (i = 0; more >= 0 && (length += (size_t)more) < HAUL_NAME_BYTES_MAX && i < count; i++)
        more = snprintf(name + length, HAUL_NAME_BYTES_MAX - length, "%s%s",
                        bound[i].argument->name, i + 1 < count ? "," : ">");
    return length < HAUL_NAME_BYTES_MAX;
}

/* An open type with copies of the container's rows. */
static haul_status copy_container(const haul_type *container, const char *name, haul_type **copy)
{
    size_t bytes = container->row_count * sizeof(haul_field), i;
    haul_field *fields = haul__allocate(&container->allocator, bytes, sizeof(void *));
    haul_status status;
    *copy = NULL;
    if (bytes > 0 && !fields)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < container->row_count; i++)
        haul__field_of_row(container, &container->rows[i], &fields[i]);
    status = haul__type_like(container, name, fields, container->row_count, copy);
    haul__release(&container->allocator, fields, bytes);
    return status;
}

/* The container's instance for these arguments, made if there is none; the container holds it. */
static haul_status find_or_make(haul_type *container, const haul__bound *bound, size_t count,
                                haul_type **instance)
{
    char name[HAUL_NAME_BYTES_MAX];
    haul_type *made, **place = place_of(container, bound, count);
    haul_status status;
    size_t i;
    *instance = *place;
    if (*instance)
        return HAUL_OK;
    if (!name_instance(container, bound, count, name))
        return HAUL_ERROR_LIMIT;
    status = copy_container(container, name, &made);
    if (status != HAUL_OK)
        return status;
    made->bound = haul__allocate(&container->allocator, count * sizeof *bound, sizeof(void *));
    if (!made->bound) {
        haul_type_free(&made);
        return HAUL_ERROR_MEMORY;
    }
    for (i = 0; i < count; i++) {
        made->bound[i] = bound[i];
        haul__group_hold(bound[i].parameter->group);
        haul__group_hold(bound[i].argument->group);
    }
    made->bound_count = count;
    made->container = container;
    made->next_instance = container->instances;
    container->instances = made;
    *instance = *place = made;
    return HAUL_OK;
}

static int is_container(const haul_type *type)
{
    return type->combiner == HAUL_COMBINER_STRUCT_FIELDS || type->combiner == HAUL_COMBINER_POINTER;
}

static int can_be_bound(const haul__bound *all, size_t i)
{
    size_t k;
    for (k = 0; k < i; k++)
        if (all[k].parameter == all[i].parameter)
            return 0;
    return haul__type_is_valid(all[i].parameter) && haul__type_is_parameter(all[i].parameter) &&
           haul__type_is_valid(all[i].argument) && !haul__type_is_parameter(all[i].argument);
}

haul_status haul__type_instance(haul_type *container, size_t count, haul_type *const *parameters,
                                haul_type *const *arguments, haul_type **instance)
{
    haul__bound bound[HAUL_PARAMETERS_MAX];
    haul_status status;
    size_t i;
    if (!instance || !parameters || !arguments)
        return haul__type_refuse(container, HAUL_ERROR_ARGUMENT, "The %s NULL.",
                                 !instance     ? "instance's address is"
                                 : !parameters ? "parameters are"
                                               : "arguments are");
    if (count == 0 || count > HAUL_PARAMETERS_MAX)
        return haul__type_refuse(container, HAUL_ERROR_ARGUMENT,
                                 "An instance has 1 to %u parameters, not %zu.",
                                 HAUL_PARAMETERS_MAX, count);
    for (i = 0; i < count; i++) {
        bound[i].parameter = parameters[i];
        bound[i].argument = arguments[i];
        if (!can_be_bound(bound, i))
            return haul__type_refuse(
                container, HAUL_ERROR_ARGUMENT,
                "Parameter %zu is none, or is given twice; or its argument is a parameter, or no "
                "living type.",
                i);
    }
    if (container->committed || container->bound_count > 0 || !is_container(container))
        return haul__type_refuse(container, HAUL_ERROR_STATE,
                                 "The type is committed, an instance, or made by another "
                                 "constructor: no container for an instance.");
    status = find_or_make(container, bound, count, instance);
    if (status == HAUL_ERROR_LIMIT)
        return haul__type_refuse(container, HAUL_ERROR_LIMIT,
                                 "The name of the instance has more than %u bytes.",
                                 HAUL_NAME_BYTES_MAX - 1);
    if (status == HAUL_ERROR_MEMORY)
        return haul__type_out_of_memory(container);
    if (status == HAUL_OK)
        haul__group_hold((*instance)->group);
    return status;
}

/* --- targets ---------------------------------------------------------------------------------- */

haul_type *haul__type_stands_for(const haul_type *instance, haul_type *found)
{
    size_t i;
    for (i = 0; i < instance->bound_count; i++)
        if (instance->bound[i].parameter == found)
            return instance->bound[i].argument;
    return instance->bound_count > 0 && found == instance->container ? (haul_type *)instance
                                                                     : found;
}

haul_status haul__type_substitute(haul_type *instance, const char *field, haul_type **found,
                                  haul_error *error)
{
    haul_type *type = haul__type_stands_for(instance, *found);
    haul__bound subset[HAUL_PARAMETERS_MAX];
    size_t count = 0, i;
    unsigned bits;
    haul_status status;
    if (type != *found || type->committed || haul__type_is_parameter(type)) {
        *found = type;
        return HAUL_OK;
    }
    status = depends_on(instance, type, &bits);
    if (status != HAUL_OK || !bits)
        return status;
    if (type->bound_count > 0 || !is_container(type))
        return haul__wrong(error, instance, field,
                           "Type %s is made of a type that depends on a parameter of "
                           "%s, and is no container itself: "
                           "describe it as one.",
                           type->name, instance->name);
    for (i = 0; i < instance->bound_count; i++)
        if (bits >> i & 1)
            subset[count++] = instance->bound[i];
    status = find_or_make(type, subset, count, found);
    if (status != HAUL_ERROR_LIMIT)
        return status;
    return haul__too_large(error, instance, field,
                           "The name of an instance of %s has more than %u bytes.", type->name,
                           HAUL_NAME_BYTES_MAX - 1);
}

haul_status haul__check_bound(const haul_type *instance, haul_error *error)
{
    unsigned bits = 0;
    haul_status status = HAUL_OK;
    size_t i;
    if (instance->bound_count == 0)
        return HAUL_OK;
    if (!instance->container)
        return haul__wrong(error, instance, NULL,
                           "Its container has been freed: free it after the commit.");
    status = depends_on(instance, instance->container, &bits);
    for (i = 0; i < instance->bound_count && status == HAUL_OK; i++)
        if (!*instance->bound[i].parameter->name)
            return haul__wrong(error, instance, NULL, HAUL__NO_NAME("Parameter %zu"), i,
                               HAUL_NAME_BYTES_MAX);
        else if (!(bits >> i & 1))
            return haul__wrong(error, instance, NULL, "No field of %s leads to its parameter %s.",
                               instance->container->name, instance->bound[i].parameter->name);
    return status;
}
