/* Fuzz target: an image, mostly a damaged one, into the loader, under the contract of
 * tests/images/oracle.h (F1 to F26, F29).
 *
 * The input is that of images.h; byte 1: which allocation fails.
 */
#include "images.h"

static int run(const uint8_t *data, size_t bytes)
{
    oracle *o;
    const uint8_t *image;
    size_t count;
    verdict v;
    if (bytes < IMAGE_INPUT_HEAD)
        return 0;
    o = image_oracle(data[0]);
    image = image_of_input(data, bytes, &count);
    v = data[1] ? oracle_judge_short_of_memory(o, image, count, data[1])
                : oracle_judge(o, image, count);
    if (v == BROKEN)
        fuzz_broken("%s: %s", o->shape->name, o->message);
    return v == ACCEPTED;
}

const fuzz_target fuzz_load = { "load", run, image_change };
