/* The allocator door: malloc and mmap behind it by default, and arrays that grow.
 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <sys/mman.h>

#include "base/base.h"

static void *default_allocate(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    (void)user;
    if (alignment <= 2 * sizeof(void *))
        return malloc(bytes);
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void default_release(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

static void *default_reserve(void *user, size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    (void)user;
    return memory == MAP_FAILED ? NULL : memory;
}

static void default_unreserve(void *user, void *memory, size_t bytes)
{
    (void)user;
    munmap(memory, bytes);
}

static const haul_allocator default_allocator = { NULL, default_allocate, default_release, default_reserve,
                                                  default_unreserve };

haul_allocator haul__allocator_or_default(const haul_allocator *door)
{
    return door ? *door : default_allocator;
}

int haul__allocator_is_complete(const haul_allocator *door)
{
    return !door || (door->allocate && door->release && !door->reserve == !door->unreserve);
}

void *haul__allocate(const haul_allocator *door, size_t bytes, size_t alignment)
{
    void *memory;
    if (bytes == 0)
        return NULL;
    memory = door->allocate(door->user, bytes, alignment);
    if (memory && ((uintptr_t)memory & (alignment - 1)) != 0) {
        door->release(door->user, memory, bytes);
        return NULL;
    }
    return memory;
}

void *haul__allocate_zeroed(const haul_allocator *door, size_t bytes)
{
    void *memory = haul__allocate(door, bytes, 2 * sizeof(void *));
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void haul__release(const haul_allocator *door, void *memory, size_t bytes)
{
    if (memory)
        door->release(door->user, memory, bytes);
}

int haul__grow(const haul_allocator *door, void **data, size_t *capacity, size_t needed, size_t element_bytes)
{
    size_t wanted;
    if (needed <= *capacity)
        return 1;
    wanted = *capacity > SIZE_MAX / 2 ? needed : *capacity * 2;
    if (wanted < needed)
        wanted = needed;
    return haul__grow_to(door, data, capacity, wanted < 8 ? 8 : wanted, element_bytes);
}

int haul__grow_to(const haul_allocator *door, void **data, size_t *capacity, size_t wanted, size_t element_bytes)
{
    size_t bytes;
    void *grown;
    if (haul__multiply_overflows(wanted, element_bytes, &bytes))
        return 0;
    grown = haul__allocate(door, bytes, 2 * sizeof(void *));
    if (!grown)
        return 0;
    if (*data) {
        memcpy(grown, *data, *capacity * element_bytes);
        haul__release(door, *data, *capacity * element_bytes);
    }
    *data = grown;
    *capacity = wanted;
    return 1;
}

char *haul__copy_string(const haul_allocator *door, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = haul__allocate(door, bytes, 1);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}
