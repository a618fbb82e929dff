/* The ground floor: checked arithmetic, the allocator, growing arrays, error records, the
 * clock. */
#ifndef HAUL_BASE_H
#define HAUL_BASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "haul/memory.h"
#include "base/compiler.h"

/* Overflow is an answer: each is 1 and leaves *result alone when the sum or product does not
 * fit. */
static inline int haul__add_overflows(size_t a, size_t b, size_t *result)
{
    if (a > SIZE_MAX - b)
        return 1;
    *result = a + b;
    return 0;
}

static inline int haul__multiply_overflows(size_t a, size_t b, size_t *result)
{
    if (b != 0 && a > SIZE_MAX / b)
        return 1;
    *result = a * b;
    return 0;
}

static inline int haul__is_power_of_two(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* The pointer-sized word at any address, aligned or not. */
HAUL__INLINE uintptr_t haul__load_word(const void *from)
{
    uintptr_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* The allocator. `allocator` is never NULL here: haul__allocator_or_default gives the table that a
 * NULL stands for. A result that is not aligned as asked counts as no memory. `bytes` 0 is NULL
 * without asking. */
haul_allocator haul__allocator_or_default(const haul_allocator *allocator);
int haul__allocator_is_complete(const haul_allocator *allocator);
void *haul__allocate(const haul_allocator *allocator, size_t bytes, size_t alignment);
void *haul__allocate_zeroed(const haul_allocator *allocator, size_t bytes);
void haul__release(const haul_allocator *allocator, void *memory, size_t bytes);

/* Makes room for `needed` elements in an array that doubles; 0 when there is no memory, and then
 * nothing changed. */
int haul__grow(const haul_allocator *allocator, void **data, size_t *capacity, size_t needed,
               size_t element_bytes);
/* The same to exactly `wanted` elements, more than there are: where room to spare would add up. */
int haul__grow_to(const haul_allocator *allocator, void **data, size_t *capacity, size_t wanted,
                  size_t element_bytes);

/* Copies past the caches, of what nobody reads here again soon (stream.c). The second leaves pages
 * that are equal already as they are, and goes past the caches where four in a row have changed. */
void haul__copy_streaming(void *to, const void *from, size_t bytes);
void haul__copy_changed(void *to, const void *from, size_t bytes);
/* Up to here they gain nothing. */
#define HAUL__STREAM_BYTES ((size_t)16 << 10)

/* A copy of a string; NULL when there is no memory. Released with strlen + 1. */
char *haul__copy_string(const haul_allocator *allocator, const char *text);

/* Fills an error record: clears the paths, writes the sentence, answers `status`. `error` may be
 * NULL. */
haul_status haul__fail(haul_error *error, haul_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* Sets error->path (or other_path) to the formatted text, its middle left out when it is too
 * long. */
void haul__set_path(char *path, const char *text);
void haul__clear_error(haul_error *error);

/* Seconds from some fixed point, monotonic. */
double haul__seconds(void);

#endif
