/* Random decisions: splitmix64 (Steele, Lea and Flood 2014), or a fuzzer's bytes.
 */
#include "choices.h"

#include <string.h>

uint64_t random_word(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

choices choices_from_seed(uint64_t seed)
{
    choices c = { seed, ~seed, NULL, 0 };
    return c;
}

choices choices_from_bytes(const uint8_t *bytes, size_t count)
{
    static const uint8_t none[1];
    choices c = { 0, count, count != 0 ? bytes : none, count };
    return c;
}

uint32_t choose(choices *c, uint32_t n)
{
    uint32_t value = 0;
    if (c->bytes == NULL)
        return (uint32_t)((random_word(&c->state) >> 32) % n);
    for (uint32_t range = 1; range < n && c->left != 0; range *= 256) {
        value = value * 256 + *c->bytes++;
        c->left--;
    }
    return value % n;
}

int chance(choices *c, uint32_t hit, uint32_t of)
{
    return choose(c, of) >= of - hit;
}

void fill(choices *c, void *memory, size_t bytes)
{
    unsigned char *at = memory;
    while (bytes != 0) {
        uint64_t word = random_word(&c->filler);
        size_t n = bytes < sizeof word ? bytes : sizeof word;
        memcpy(at, &word, n);
        at += n;
        bytes -= n;
    }
}
