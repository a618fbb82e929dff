/* What all examples share: one way to say what went wrong. */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul.h>

/* Prints what was tried, the path to the culprit and the library's words for it; answers main's
 * exit code 1. */
static inline int failed(const char *what, haul_status status, const haul_error *error)
{
    fprintf(stderr, "%s: %s (%s)\n", what, haul_status_text(status), haul_status_name(status));
    if (error && error->path[0] != '\0')
        fprintf(stderr, "  at  %s\n", error->path);
    if (error && error->other_path[0] != '\0')
        fprintf(stderr, "  and %s\n", error->other_path);
    if (error && error->text[0] != '\0')
        fprintf(stderr, "  %s\n", error->text);
    return 1;
}

/* malloc that ends the example when there is no memory. */
static inline void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

/* Prints one sentence that the example claims, and whether it holds. */
static inline int claim(const char *sentence, int holds)
{
    printf("  %s  %s\n", holds ? "yes" : "NO ", sentence);
    return holds;
}

#endif
