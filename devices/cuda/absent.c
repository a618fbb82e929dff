/* The CUDA device of a build without CUDA: 0 GPUs, and a table whose open always fails. Its other
 * verbs are never called.
 */
#include <stdio.h>

#include "haul/cuda.h"

int haul_cuda_count(void)
{
    return 0;
}

void *haul_cuda_find(void *user, const void *memory, size_t bytes)
{
    (void)user;
    (void)memory;
    (void)bytes;
    return NULL;
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

static void no_capabilities(void *state, haul_device_capabilities *capabilities, size_t bytes)
{
    (void)state;
    (void)capabilities;
    (void)bytes;
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

static void say_no(const void *settings, haul_status status, char *text, size_t bytes)
{
    (void)settings;
    (void)status;
    snprintf(text, bytes,
             "Haul was built without CUDA: build it with -DHAUL_CUDA=ON where nvcc is, or open the "
             "host device");
}

static const haul_device_table absent_table = {
    .table_bytes = sizeof(haul_device_table),
    .settings_bytes = sizeof(haul_cuda_options),
    .name = "cuda",
    .open = no_open,
    .close = no_close,
    .capabilities = no_capabilities,
    .allocate = no_allocate,
    .release = no_release,
    .stage = no_stage,
    .unstage = no_unstage,
    .copy_to = no_copy_to,
    .copy_from = no_copy_from,
    .relocate = no_relocate,
    .select = no_select,
    .fence = no_fence,
    .poll = no_poll,
    .await = no_poll,
    .wait = no_wait,
    .message = no_message,
    .refusal = say_no,
};

const haul_device_table *haul_cuda_device(void)
{
    return &absent_table;
}
