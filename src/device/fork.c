/* After a fork. A device's driver works for the process that opened it. Called in a child, it may
 * fail, hang or end the process. So a handle notes its process: in a child, calls are refused, and
 * the verbs that a free may call are replaced by ones that do nothing.
 */
#include "device/device.h"

static void left_close(void *state)
{
    (void)state;
}

static void left_release(void *state, haul_address address, uint64_t bytes)
{
    (void)state;
    (void)address;
    (void)bytes;
}

static void left_memory(void *state, void *memory, size_t bytes)
{
    (void)state;
    (void)memory;
    (void)bytes;
}

static void left_mirror(void *state, const haul_mirror *mirror)
{
    (void)state;
    (void)mirror;
}

static haul_status left_select(void *state, void *stream)
{
    (void)state;
    (void)stream;
    return HAUL_OK;
}

static haul_status left_fence(void *state, uint64_t *fence)
{
    (void)state;
    *fence = 1;
    return HAUL_OK;
}

static haul_status left_await(void *state, uint64_t fence)
{
    (void)state;
    (void)fence;
    return HAUL_OK;
}

static haul_status left_wait(void *state)
{
    (void)state;
    return HAUL_OK;
}

int haul__device_is_here(const haul_device *device)
{
    return device->process == haul__process();
}

haul_status haul__device_refuse(const haul_device *device)
{
    return haul__fail(
        &device->context->error, HAUL_ERROR_STATE,
        "the device was opened by another process: after a fork a child opens its own");
}

void haul__device_settle(haul_device *device)
{
    haul_device_table *table = &device->table;
    if (haul__device_is_here(device))
        return;
    table->close = left_close;
    table->release = left_release;
    table->unstage = table->unlock = left_memory;
    table->unmirror = left_mirror;
    table->select = left_select;
    table->fence = left_fence;
    table->poll = table->await = left_await;
    table->wait = left_wait;
}
