/* Nurseries: a part of an arena in which kernels make objects.
 *
 *     host:    tree->nursery = haul_arena_new_nursery(arena, 1 << 20);   ships as any object does
 *              haul_device_layout_of(node_type, &tree->node);
 *              haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment);
 *     kernel:  node *n = (node *)haul_nursery_new(tree->nursery, &tree->node);
 *     host:    haul_update_host(shipment, &with_pointers, NULL);          n is in the host's arena
 *
 * This header is for both sides: plain C99, and CUDA functions of host and device. Any number of
 * threads may allocate at once. Nothing can be released; memory comes zeroed, at a multiple of two
 * pointers.
 *
 * Kernels change the struct and the bits, and the host does not trust them. It knows the place and
 * size of a nursery by itself. It cuts `used` at the capacity, refuses a `used` smaller than
 * before, and checks each pointer. The struct and the bits never come back as bytes.
 *
 *     | nursery | a bit a word: is it a pointer | memory ...                  |
 */
#ifndef HAUL_DEVICE_ARENA_H
#define HAUL_DEVICE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define HAUL__BOTH_SIDES __host__ __device__ static inline
#else
#define HAUL__BOTH_SIDES static inline
#endif

/* OpenMP's offloading compiles for a GPU, too, but without CUDA's atomics. */
#if defined(__CUDACC__) && defined(__CUDA_ARCH__)
#define HAUL__CUDA_SIDE 1
#else
#define HAUL__CUDA_SIDE 0
#endif

/* The bits are those of 64-bit words, set by halves. A big-endian processor stores the upper half
 * first. */
#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)
#define HAUL__LOWER_HALF ((size_t)(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
#else
#define HAUL__LOWER_HALF ((size_t)0)
#endif

typedef struct haul_nursery {
    unsigned char *memory;
    uint32_t *slots; /* halves of words */
    size_t capacity; /* bytes of memory */
    size_t used;     /* of them; above capacity: an allocation failed */
} haul_nursery;

/* The layout of a type, for kernels. */
typedef struct haul_device_layout {
    uint64_t slots; /* bit w: word w of an object is a pointer */
    size_t bytes;   /* of an object */
} haul_device_layout;

HAUL__BOTH_SIDES size_t haul__nursery_add(size_t *to, size_t bytes)
{
#if HAUL__CUDA_SIDE
    return (size_t)atomicAdd((unsigned long long *)to, (unsigned long long)bytes);
#else
    return __atomic_fetch_add(to, bytes, __ATOMIC_RELAXED);
#endif
}

HAUL__BOTH_SIDES void haul__nursery_or(uint32_t *slots, size_t half, uint32_t bits)
{
    uint32_t *const to = slots + (half ^ HAUL__LOWER_HALF);
#if HAUL__CUDA_SIDE
    atomicOr(to, bits);
#else
    __atomic_fetch_or(to, bits, __ATOMIC_RELAXED);
#endif
}

/* Allocates plain bytes. NULL: 0 bytes, or the nursery is full. */
HAUL__BOTH_SIDES void *haul_nursery_allocate(haul_nursery *nursery, size_t bytes)
{
    const size_t granule = 2 * sizeof(void *), rounded = (bytes + granule - 1) & ~(granule - 1);
    size_t at;
    if (bytes == 0 || bytes > nursery->capacity || nursery->used > nursery->capacity)
        return NULL;
    at = haul__nursery_add(&nursery->used, rounded);
    return at <= nursery->capacity && rounded <= nursery->capacity - at ? nursery->memory + at
                                                                        : NULL;
}

/* Allocates one object of a type, and sets the bits of its pointers for the host. NULL: the nursery
 * is full. */
HAUL__BOTH_SIDES void *haul_nursery_new(haul_nursery *nursery, const haul_device_layout *layout)
{
    unsigned char *memory = (unsigned char *)haul_nursery_allocate(nursery, layout->bytes);
    size_t word;
    unsigned shift;
    uint64_t low, high;
    if (!memory)
        return NULL;
    word = (size_t)(memory - nursery->memory) / sizeof(void *);
    shift = (unsigned)(word % 32);
    low = layout->slots << shift;
    high = layout->slots >> 1 >> (63 - shift);
    if ((uint32_t)low)
        haul__nursery_or(nursery->slots, word / 32, (uint32_t)low);
    if (low >> 32)
        haul__nursery_or(nursery->slots, word / 32 + 1, (uint32_t)(low >> 32));
    if (high)
        haul__nursery_or(nursery->slots, word / 32 + 2, (uint32_t)high);
    return memory;
}

#endif
