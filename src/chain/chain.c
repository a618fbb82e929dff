/* Chains as handles: made, held, freed; and resolved for a caller.
 */
#include "base/status.h"
#include "chain/chain.h"
#include "chain/resolve.h"

#define MAGIC 0x6368616eu

int haul__chain_is_valid(const haul_chain *chain)
{
    return chain && chain->magic == MAGIC;
}

void haul__chain_hold(haul_chain *chain)
{
    haul__atomic_add(&chain->holders, 1);
}

static void release(haul_chain *chain)
{
    const haul_allocator *allocator = &chain->context->allocator;
    size_t i;
    for (i = 0; i < chain->ends.count; i++)
        haul__type_drop(chain->ends.at[i].type);
    HAUL__LIST_RELEASE(allocator, &chain->steps);
    HAUL__LIST_RELEASE(allocator, &chain->arms);
    HAUL__LIST_RELEASE(allocator, &chain->indices);
    HAUL__LIST_RELEASE(allocator, &chain->ends);
    haul__release(allocator, chain->path, chain->path_bytes);
    chain->magic = 0;
    haul__release(allocator, chain, sizeof *chain);
}

void haul__chain_drop(haul_chain *chain)
{
    haul_context *context = chain->context;
    const haul_type *type = chain->type;
    if (haul__atomic_add(&chain->holders, -1) != 0)
        return;
    release(chain);
    haul__type_drop(type);
    haul__context_drop(context);
}

static haul_status check_type(haul_context *context, const haul_type *type, size_t root_bytes)
{
    haul_error *error = &context->error;
    if (!haul__type_is_valid(type))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the type of the root is NULL or freed");
    if (!haul__type_walk(type))
        return haul__fail(error, HAUL_ERROR_STATE,
                          "type %s is not committed: call haul_type_commit and look at its answer",
                          haul_type_name(type));
    if (root_bytes && root_bytes != type->bytes)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the root has %zu bytes in the program, and %zu in its type %s",
                          root_bytes, type->bytes, haul_type_name(type));
    return HAUL_OK;
}

static haul_status make(haul_context *context, const haul_type *type, const char *path,
                        size_t bytes, haul_chain **made)
{
    haul_chain *chain = haul__allocate_zeroed(&context->allocator, sizeof *chain);
    const size_t path_bytes = strlen(path) + 1;
    haul_status status;
    if (!chain)
        return haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for a chain");
    chain->context = context;
    chain->type = type;
    chain->path_bytes = path_bytes;
    chain->path = haul__allocate(&context->allocator, path_bytes, 1);
    if (chain->path) {
        memcpy(chain->path, path, path_bytes);
        status = haul__chain_compile(chain, bytes);
    } else {
        status = haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for a chain");
    }
    if (status != HAUL_OK) {
        release(chain);
        return status;
    }
    haul__context_hold(context);
    haul__type_hold(type);
    chain->magic = MAGIC;
    chain->holders = 1;
    *made = chain;
    return HAUL_OK;
}

haul_status haul_chain_create_checked(haul_context *context, const haul_type *type,
                                      const char *path, size_t root_bytes, size_t bytes,
                                      haul_chain **chain)
{
    haul_status status = haul__context_enter(context);
    if (chain)
        *chain = NULL;
    if (status != HAUL_OK)
        return status;
    if (!chain || !path)
        status = haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                            chain ? "the path is NULL" : "the address of the new chain is NULL");
    if (status == HAUL_OK)
        status = check_type(context, type, root_bytes);
    if (status == HAUL_OK)
        status = make(context, type, path, bytes, chain);
    haul__context_leave(context);
    return status;
}

static haul__freed *drop_callers(void *object)
{
    haul__chain_drop(object);
    return NULL;
}

void haul_chain_free(haul_chain **chain)
{
    haul_chain *freed = chain ? *chain : NULL;
    if (!freed)
        return;
    *chain = NULL;
    if (haul__chain_is_valid(freed))
        haul__free(&freed->freed, freed->context, drop_callers, freed);
}

haul_status haul__chain_list(void *user, const haul_root *target, size_t bytes)
{
    haul__targets *targets = user;
    (void)bytes;
    if (targets->count < targets->capacity)
        targets->at[targets->count] = *target;
    targets->count++;
    return HAUL_OK;
}

haul_status haul__chain_targets(const haul_chain *chain, void *root, const haul__targets *targets,
                                haul__take_target *take, void *user)
{
    haul_error *error = &chain->context->error;
    if (!root)
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the root is NULL");
    if (!targets->at && targets->capacity)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the list of targets is NULL, and its capacity is not 0");
    return haul__chain_resolve(chain, root, NULL, take, user);
}

haul_status haul_chain_resolve(const haul_chain *chain, void *root, haul_root *targets,
                               size_t capacity, size_t *count)
{
    haul__targets list = { targets, 0, capacity };
    haul_context *context;
    haul_status status;
    if (count)
        *count = 0;
    if (!haul__chain_is_valid(chain))
        return HAUL_ERROR_ARGUMENT;
    context = chain->context;
    status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    status = count ? haul__chain_targets(chain, root, &list, haul__chain_list, &list)
                   : haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                                "the address of the number of targets is NULL");
    if (status == HAUL_OK)
        *count = list.count;
    haul__context_leave(context);
    return status;
}
