/* Memory for tests, which are of no use without it. */
#ifndef RANDOM_MUST_H
#define RANDOM_MUST_H

#include <stdio.h>
#include <stdlib.h>

static inline void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return memory;
}

#endif
