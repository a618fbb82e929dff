/* Contexts and devices of tests.
 */
#include <string.h>

#include "support/open.h"

const haul_host_options ordinary_launches = { .strict = -1 };

haul_status test_tell(haul_context *context, const test_known *known)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < known->static_count && status == HAUL_OK; i++)
        status = haul_context_add_static(context, known->statics[i].address,
                                         known->statics[i].bytes, known->statics[i].policy);
    for (i = 0; i < known->translation_count && status == HAUL_OK; i++)
        status = haul_context_add_translation(context, known->translations[i].host,
                                              known->translations[i].copy);
    return status;
}

void test_allocator(haul_context_options *options, const haul_allocator *allocator)
{
    static const haul_allocator none = { NULL, NULL, NULL, NULL, NULL };
    const haul_allocator *chosen = allocator ? allocator : &none;
    options->allocator_user = chosen->user;
    options->allocate = chosen->allocate;
    options->release = chosen->release;
    options->reserve = chosen->reserve;
    options->unreserve = chosen->unreserve;
}

haul_status test_open(const haul_device_table *table, const test_device *options,
                      haul_device **device)
{
    test_device defaults;
    haul_context *context;
    haul_status status;
    memset(&defaults, 0, sizeof defaults);
    if (!options)
        options = &defaults;
    *device = NULL;
    if (options->context)
        return haul_device_open(options->context, table, options->settings, device);
    status = haul_context_create(&options->new_context, &context);
    if (status == HAUL_OK)
        status = test_tell(context, &options->known);
    if (status == HAUL_OK)
        status = haul_device_open(context, table, options->settings, device);
    haul_context_free(&context);
    return status;
}

haul_status test_arena(haul_device *device, const haul_arena_options *options, haul_arena **arena)
{
    haul_arena_options with;
    memset(&with, 0, sizeof with);
    if (options)
        with = *options;
    with.device = device;
    return haul_arena_create(haul_device_context(device), &with, arena);
}
