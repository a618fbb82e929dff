/* What a fuzz target is. Each has a file fuzz_NAME.c and a corpus in corpus/NAME; engine.c hands it
 * to libFuzzer and AFL++, alone.c runs it without an engine.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include "random/choices.h"

typedef struct fuzz_target {
    const char *name;
    /* 1: the library accepted the input; 0: it refused. A promise that is broken ends the program,
     * after a word to stderr. Any bytes are allowed, and the same ones do the same. */
    int (*run)(const uint8_t *data, size_t bytes);
    /* Changes data, of at most `most` bytes, and answers its new size. NULL: bytes mean nothing by
     * themselves, and fuzz_change_bytes serves. */
    size_t (*change)(uint8_t *data, size_t bytes, size_t most, choices *c);
} fuzz_target;

extern const fuzz_target fuzz_load, fuzz_types, fuzz_graph, fuzz_badgraph, fuzz_mutate,
    fuzz_differential, fuzz_results, fuzz_sequences, fuzz_wire;

/* A few bytes become others, appear, go or are repeated (bytes.c). */
size_t fuzz_change_bytes(uint8_t *data, size_t bytes, size_t most, choices *c);

/* Ends the program, with these words. */
void fuzz_broken(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
