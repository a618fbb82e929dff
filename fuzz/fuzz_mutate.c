/* Fuzz target: the image of a small graph with up to 8 damages, all drawn from the input
 * (tests/images/draw.c), under the contract of tests/images/oracle.h. The damages know the format,
 * so they reach further than those of bytes; and an engine learns which ones to draw.
 *
 * Byte 0: the shape. Byte 1: which allocation fails; 0: none.
 */
#include "images.h"

static int run(const uint8_t *data, size_t bytes)
{
    static image_bytes image;
    choices c;
    oracle *o;
    verdict v;
    if (bytes < 2)
        return 0;
    o = image_oracle(data[0]);
    c = choices_from_bytes(data + 2, bytes - 2);
    oracle_draw(o, &c, &image);
    v = data[1] ? oracle_judge_short_of_memory(o, image.at, image.count, data[1])
                : oracle_judge(o, image.at, image.count);
    if (v == BROKEN)
        fuzz_broken("%s: %s", o->shape->name, o->message);
    return v == ACCEPTED;
}

const fuzz_target fuzz_mutate = { "mutate", run, NULL };
