/* libyaml's memory: it cannot be told its allocator, so the linker sends its calls here (--wrap,
 * with the static library). While a heap is in use it takes from that one; without, from the C
 * library, as everything else in the program does.
 */
#include <string.h>

#include "heap.h"

void *__real_malloc(size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void __real_free(void *block);
void *__wrap_malloc(size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void __wrap_free(void *block);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t bytes)
{
    return heap_in_use() ? heap_malloc(bytes) : __real_malloc(bytes);
}

void *__wrap_realloc(void *block, size_t bytes)
{
    const int in_heap = block ? heap_of(block) != NULL : heap_in_use() != NULL;
    return in_heap ? heap_realloc(block, bytes) : __real_realloc(block, bytes);
}

void __wrap_free(void *block)
{
    if (heap_of(block))
        heap_free(block);
    else
        __real_free(block);
}

char *__wrap_strdup(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = __wrap_malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}
