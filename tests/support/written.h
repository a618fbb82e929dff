/* Memory of which MemorySanitizer knows that every byte has been written; other builds ask nothing.
 * The tests' own structs in images have no padding, or are zeroed.
 */
#ifndef HAUL_TEST_WRITTEN_H
#define HAUL_TEST_WRITTEN_H

#include <stddef.h>

#include "support/builds.h"

#ifdef BUILD_MSAN
#include <sanitizer/msan_interface.h>
#endif

/* Ends the program if not. */
static inline void check_written(const void *memory, size_t bytes)
{
#ifdef BUILD_MSAN
    __msan_check_mem_is_initialized(memory, bytes);
#else
    (void)memory;
    (void)bytes;
#endif
}

#endif
