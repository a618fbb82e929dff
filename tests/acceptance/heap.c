/* Heaps whose pages can be taken away.
 *
 *     | gap | block ......: gap | block .: gap | never touched     one range
 *
 * The bytes of each block stand beside it, by the granule at which the block begins.
 *
 * Blocks are taken from the front, and used again only when none is live. Their sizes stand
 * outside, so that a block is known while its heap is hidden, and whether a free is right can be
 * said of foreign memory too.
 */
#define _GNU_SOURCE
#include "heap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEAP_HAS_ASAN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HEAP_HAS_ASAN
#endif
#if defined(HEAP_HAS_ASAN)
#include <sanitizer/asan_interface.h>
#define FORBID(memory, bytes) __asan_poison_memory_region(memory, bytes)
#define ALLOW(memory, bytes) __asan_unpoison_memory_region(memory, bytes)
#else
#define FORBID(memory, bytes) ((void)(memory), (void)(bytes))
#define ALLOW(memory, bytes) ((void)(memory), (void)(bytes))
#endif

#define GRANULE ((size_t)16)
#define CAPACITY ((size_t)512 << 20)
#define GONE UINT32_MAX /* in `sizes`: was a block */

enum { HEAPS = 8 };

struct heap {
    unsigned char *memory;
    size_t capacity, used, touched; /* touched: the most that was ever forbidden or allowed */
    /* of the block that begins at this granule, and 1; 0: none does */
    uint32_t *sizes;
    size_t live, freed;
    int foreign;
};

static heap heaps[HEAPS];
static heap *in_use;
static size_t wrong;

static void *reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

static size_t sizes_bytes(const heap *h)
{
    return (h->capacity / GRANULE + 1) * sizeof(uint32_t);
}

static heap *open_over(void *memory, size_t bytes, int foreign)
{
    for (heap *h = heaps; h < heaps + HEAPS; h++)
        if (!h->memory) {
            memset(h, 0, sizeof *h);
            h->memory = memory;
            h->capacity = bytes;
            h->foreign = foreign;
            h->sizes = reserve(sizes_bytes(h));
            return h;
        }
    fprintf(stderr, "too many heaps\n");
    exit(1);
}

heap *heap_open(void)
{
    return open_over(reserve(CAPACITY), CAPACITY, 0);
}

heap *heap_over(void *memory, size_t bytes)
{
    return open_over(memory, bytes, 1);
}

void heap_close(heap *h)
{
    munmap(h->sizes, sizes_bytes(h));
    if (!h->foreign) {
        ALLOW(h->memory, h->touched);
        munmap(h->memory, h->capacity);
    }
    if (in_use == h)
        in_use = NULL;
    memset(h, 0, sizeof *h);
}

heap *heap_use(heap *h)
{
    heap *before = in_use;
    in_use = h;
    return before;
}

heap *heap_in_use(void)
{
    return in_use;
}

heap *heap_of(const void *address)
{
    for (heap *h = heaps; h < heaps + HEAPS; h++)
        if (h->memory && (uintptr_t)address - (uintptr_t)h->memory < h->capacity)
            return h;
    return NULL;
}

/* The place in `sizes` for the block at this address; NULL where none can begin. */
static uint32_t *size_of(const heap *h, const void *block)
{
    const size_t at = (size_t)((uintptr_t)block - (uintptr_t)h->memory);
    return at % GRANULE == 0 ? &h->sizes[at / GRANULE] : NULL;
}

static int is_live(const heap *h, const uint32_t *size)
{
    return size && *size != GONE && (h->foreign || *size != 0);
}

static size_t usable(const void *block)
{
    const heap *h = heap_of(block);
    const uint32_t *size = h && !h->foreign ? size_of(h, block) : NULL;
    return size && is_live(h, size) ? *size - 1 : 0;
}

/* Nothing is live: all of it is as if never touched, but for its bytes. */
static void begin_again(heap *h)
{
    memset(h->sizes, 0, (h->used / GRANULE + 1) * sizeof *h->sizes);
    h->used = 0;
}

void *heap_malloc(size_t bytes)
{
    heap *h = in_use;
    size_t at, end;
    if (!h || h->foreign || bytes >= CAPACITY || h->used + bytes + 3 * GRANULE > h->capacity)
        return NULL;
    at = h->used + GRANULE;
    end = (at + bytes + GRANULE - 1) / GRANULE * GRANULE;
    FORBID(h->memory + h->used, end + GRANULE - h->used);
    ALLOW(h->memory + at, bytes);
    memset(h->memory + at, HEAP_FRESH, bytes);
    h->sizes[at / GRANULE] = (uint32_t)bytes + 1;
    h->used = end;
    h->touched = end + GRANULE > h->touched ? end + GRANULE : h->touched;
    h->live++;
    return h->memory + at;
}

void heap_free(void *block)
{
    heap *h = heap_of(block);
    uint32_t *size = h ? size_of(h, block) : NULL;
    if (!block)
        return;
    if (!h || !is_live(h, size)) {
        wrong++;
        return;
    }
    h->freed++;
    if (h->foreign) {
        *size = GONE;
        return;
    }
    memset(block, HEAP_FREED, *size - 1);
    FORBID(block, *size - 1);
    *size = GONE;
    if (--h->live == 0)
        begin_again(h);
}

void *heap_realloc(void *block, size_t bytes)
{
    const size_t before = usable(block);
    void *longer = heap_malloc(bytes);
    if (longer && block) {
        memcpy(longer, block, before < bytes ? before : bytes);
        heap_free(block);
    }
    return longer;
}

static void protect(heap *h, int protection)
{
    if (mprotect(h->memory, h->capacity, protection) != 0) {
        perror("mprotect");
        exit(1);
    }
}

void heap_hide(heap *h)
{
    protect(h, PROT_NONE);
}

void heap_show(heap *h)
{
    protect(h, PROT_READ | PROT_WRITE);
}

size_t heap_live(const heap *h)
{
    return h->live;
}

size_t heap_freed(const heap *h)
{
    return h->freed;
}

size_t heap_find(void *user, const void *address, const void **begin)
{
    const heap *h = heap_of(address);
    size_t at, granule;
    (void)user;
    if (!h || h->foreign)
        return 0;
    at = (size_t)((uintptr_t)address - (uintptr_t)h->memory);
    granule = at / GRANULE;
    while (granule > 0 && h->sizes[granule] == 0)
        granule--;
    *begin = h->memory + granule * GRANULE;
    return at - granule * GRANULE < usable(*begin) ? usable(*begin) : 0;
}

size_t heap_wrong(void)
{
    return wrong;
}
