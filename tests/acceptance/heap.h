/* Heaps whose pages can be taken away: where a library's objects live while their copies are used
 * elsewhere.
 *
 *     heap *originals = heap_open();
 *     heap_use(originals);            heap_malloc and its like now take from it
 *     ... the library builds its objects ...
 *     heap_use(NULL);
 *     heap_hide(originals);           from here on whoever touches one of them faults
 *
 * A heap counts: what is still live at the end was lost, and a block that is freed twice, or never
 * was one, is told. Fresh memory is filled with HEAP_FRESH, freed memory with HEAP_FREED, so
 * whoever reads either gets nonsense that is always the same; AddressSanitizer is told of what is
 * freed, and of the gap behind each block. Memory is used again only when all of the heap is free.
 *
 * A heap may also lie over foreign memory (a copy on a device): it gives no blocks, and a free
 * there does nothing but count. So a library may delete a copy that its allocator has never seen,
 * and be checked doing it.
 *
 * For one thread. The heap in use is a variable of heap.c: a program's allocator is one.
 */
#ifndef ACCEPTANCE_HEAP_H
#define ACCEPTANCE_HEAP_H

#include <stddef.h>

enum { HEAP_FRESH = 0xA5, HEAP_FREED = 0x5A };

typedef struct heap heap;

/* Both end the program with exit code 1 when there is no memory, and when more than 8 heaps are
 * open. */
heap *heap_open(void);
heap *heap_over(void *memory, size_t bytes);
void heap_close(heap *h); /* with all that is in it */

/* Makes `h` the heap of heap_malloc and its like, and answers the one before. NULL: none. */
heap *heap_use(heap *h);

/* As those of the C library, of the heap in use; NULL without one, or when it is full. heap_realloc
 * and heap_free take blocks of any open heap. What belongs to none is wrong: see heap_wrong. */
void *heap_malloc(size_t bytes);
void *heap_realloc(void *block, size_t bytes);
void heap_free(void *block);

heap *heap_in_use(void);
heap *heap_of(const void *address); /* NULL: in none */

/* No page of it can be read or written until heap_show. */
void heap_hide(heap *h);
void heap_show(heap *h);

size_t heap_live(const heap *h);  /* blocks that are not freed */
size_t heap_freed(const heap *h); /* blocks that are */
/* The live block of an open heap that has the address, and its bytes; 0: none. What haul_audit
 * asks. */
size_t heap_find(void *, const void *address, const void **begin);
size_t heap_wrong(void); /* frees, in all, of what was no live block */

#endif
