/* The CUDA device of a build without CUDA: 0 GPUs, and a table whose open always fails. Its other
 * verbs are never called.
 */
#include "haul/cuda.h"

int haul_cuda_count(void)
{
    return 0;
}

static haul_status no_open(const void *settings, const haul_allocator *allocator, void **state)
{
    (void)settings;
    (void)allocator;
    (void)state;
    return HAUL_ERROR_UNSUPPORTED;
}

static void no_close(void *state)
{
    (void)state;
}

static void no_capabilities(void *state, haul_device_capabilities *capabilities)
{
    (void)state;
    (void)capabilities;
}

static haul_status no_allocate(void *state, uint64_t bytes, size_t alignment, haul_address *address)
{
    (void)state;
    (void)bytes;
    (void)alignment;
    (void)address;
    return HAUL_ERROR_UNSUPPORTED;
}

static void no_release(void *state, haul_address address, uint64_t bytes)
{
    (void)state;
    (void)address;
    (void)bytes;
}

static haul_status no_stage(void *state, size_t bytes, void **memory)
{
    (void)state;
    (void)bytes;
    (void)memory;
    return HAUL_ERROR_UNSUPPORTED;
}

static void no_unstage(void *state, void *memory, size_t bytes)
{
    (void)state;
    (void)memory;
    (void)bytes;
}

static haul_status no_copy_to(void *state, haul_address to, const void *from, size_t bytes)
{
    (void)state;
    (void)to;
    (void)from;
    (void)bytes;
    return HAUL_ERROR_UNSUPPORTED;
}

static haul_status no_copy_from(void *state, void *to, haul_address from, size_t bytes)
{
    (void)state;
    (void)to;
    (void)from;
    (void)bytes;
    return HAUL_ERROR_UNSUPPORTED;
}

static haul_status no_relocate(void *state, const haul_relocation *relocation)
{
    (void)state;
    (void)relocation;
    return HAUL_ERROR_UNSUPPORTED;
}

static haul_status no_send(void *state, const haul_relocation *relocation, const void *from,
                           size_t bytes)
{
    (void)state;
    (void)relocation;
    (void)from;
    (void)bytes;
    return HAUL_ERROR_UNSUPPORTED;
}

static haul_status no_fetch(void *state, void *to, const haul_relocation *relocation, size_t bytes)
{
    (void)state;
    (void)to;
    (void)relocation;
    (void)bytes;
    return HAUL_ERROR_UNSUPPORTED;
}

static haul_status no_across(void *state, haul_address to, void *from_state, haul_address from,
                             size_t bytes)
{
    (void)state;
    (void)to;
    (void)from_state;
    (void)from;
    (void)bytes;
    return HAUL_ERROR_UNSUPPORTED;
}

static haul_status no_select(void *state, void *stream)
{
    (void)state;
    (void)stream;
    return HAUL_ERROR_UNSUPPORTED;
}

static haul_status no_fence(void *state, uint64_t *fence)
{
    (void)state;
    (void)fence;
    return HAUL_ERROR_UNSUPPORTED;
}

static haul_status no_poll(void *state, uint64_t fence)
{
    (void)state;
    (void)fence;
    return HAUL_ERROR_UNSUPPORTED;
}

static haul_status no_wait(void *state)
{
    (void)state;
    return HAUL_ERROR_UNSUPPORTED;
}

static const char *no_message(void *state)
{
    (void)state;
    return "Haul was built without CUDA";
}

static const haul_device_table absent_table = { HAUL_DEVICE_VERSION,
                                                (uint32_t)sizeof(haul_device_table),
                                                "cuda",
                                                no_open,
                                                no_close,
                                                no_capabilities,
                                                no_allocate,
                                                no_release,
                                                no_stage,
                                                no_unstage,
                                                NULL,
                                                NULL,
                                                no_copy_to,
                                                no_copy_from,
                                                no_relocate,
                                                no_send,
                                                no_fetch,
                                                NULL,
                                                NULL,
                                                NULL,
                                                NULL,
                                                no_across,
                                                no_select,
                                                no_fence,
                                                no_poll,
                                                no_poll,
                                                no_wait,
                                                no_select,
                                                NULL,
                                                NULL,
                                                no_message };

const haul_device_table *haul_cuda_device(void)
{
    return &absent_table;
}
