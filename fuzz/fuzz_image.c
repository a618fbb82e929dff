/* Fuzz target: images, mostly made with malice, into the loader, under the contract of
 * tests/images/oracle.h.
 *
 * Byte 0: which shape (modulo 3; from 112 on, the fourth), and whether the rest is an image as it
 * is (bit 7) or draws a damaged one (images/draw.c). Byte 1: which allocation fails; 0: none.
 * Checksums are set anew in both, so they hide nothing.
 */
#include <stdlib.h>

#include "images/oracle.h"
#include "target.h"

static int run(const uint8_t *data, size_t size)
{
    static const shape *const shapes[] = { &mesh_shape, &value_shape, &space_shape, &plain_shape };
    static oracle oracles[4];
    static image_bytes image;
    oracle *o;
    verdict v;
    if (size < 2)
        return 0;
    o = &oracles[(data[0] & 127) >= 112 ? 3 : (data[0] & 127) % 3];
    if (!o->context && !oracle_open(o, shapes[o - oracles]))
        exit(2);
    if (data[0] & 128) {
        bytes_set(&image, data + 2, size - 2);
        image_sign(&image);
    } else {
        choices c = choices_from_bytes(data + 2, size - 2);
        oracle_draw(o, &c, &image);
    }
    v = data[1] ? oracle_judge_short_of_memory(o, image.at, image.count, data[1])
                : oracle_judge(o, image.at, image.count);
    if (v == BROKEN)
        fuzz_broken("%s: %s", o->shape->name, o->message);
    return v == ACCEPTED;
}

const fuzz_target fuzz_image = { "image", run, NULL };
