/* Fuzz target: sequences of calls with faults anywhere, against the model of tests/attack.
 *
 * Byte 0: the subject: calls of all kinds, arenas, garbage, pairs of contexts and devices. Bytes 1
 * to 4: the world's seed. Then 4 bytes for each step, which decide all of it: its call, its
 * objects, its fault. A step that is 0 is left out. The other subjects of tests/attack have threads
 * and do not repeat.
 */
#include <string.h>

#include "attack/attack.h"
#include "target.h"

enum { HEAD = 5 };

static uint32_t word_at(const uint8_t *data)
{
    uint32_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

static int run(const uint8_t *data, size_t bytes)
{
    static const attack *const subjects[] = { &attack_calls, &attack_arenas, &attack_garbage,
                                              &attack_pairs };
    sequence s;
    const attack *a;
    unsigned i;
    int any = 0;
    if (bytes < HEAD)
        return 0;
    memset(&s, 0, sizeof s);
    a = subjects[data[0] % (sizeof subjects / sizeof *subjects)];
    s.seed = word_at(data + 1);
    s.steps = a->steps;
    for (i = 0; i < s.steps; i++) {
        const size_t at = HEAD + 4 * (size_t)i;
        s.more[i] = at + 4 <= bytes ? word_at(data + at) : 0;
        s.left_out[i] = s.more[i] == 0;
        any |= s.more[i] != 0;
    }
    a->run(&s);
    return any;
}

const fuzz_target fuzz_sequences = { "sequences", run, NULL };
