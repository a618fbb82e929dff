/* Where random decisions come from: a seed, or bytes that a fuzzer changes. The same generator
 * serves both.
 *
 * Decisions (choose) come from the stream; the contents of memory (fill) always come from
 * splitmix64, so that a fuzzer's bytes are spent on structure. A stream of bytes that has run out
 * answers 0, and the generators are made so that a row of zeros ends soon.
 */
#ifndef RANDOM_CHOICES_H
#define RANDOM_CHOICES_H

#include <stddef.h>
#include <stdint.h>

typedef struct choices {
    uint64_t state;       /* of the decisions, when `bytes` is NULL */
    uint64_t filler;      /* of the contents */
    const uint8_t *bytes; /* NULL: decisions come from `state` */
    size_t left;
} choices;

choices choices_from_seed(uint64_t seed);
choices choices_from_bytes(const uint8_t *bytes, size_t count);

/* 0 .. n-1; n is 1 to 65536. One draw in an expression at most: their order would be the compiler's
 * choice. */
uint32_t choose(choices *c, uint32_t n);
/* `hit` times in `of`; never, once the bytes have run out. */
int chance(choices *c, uint32_t hit, uint32_t of);

uint64_t random_word(uint64_t *state);
void fill(choices *c, void *memory, size_t bytes);

#endif
