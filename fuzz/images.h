/* Inputs that hold an image: what targets that read one have in common.
 *
 *     byte 0        bits 0 and 1: the shape; bit 7: the checksums are set anew
 *     byte 1        the target's own: say, which allocation fails; 0: none
 *     bytes 2, 3    the target's own
 *     from byte 4   the image
 *
 * The change of such an input takes the image apart, damages words, numbers, bits, roots or the
 * text of the types, and joins it again. Mutations of bytes alone rarely get past the head.
 */
#ifndef FUZZ_IMAGES_H
#define FUZZ_IMAGES_H

#include "images/oracle.h"
#include "target.h"

enum { IMAGE_INPUT_HEAD = 4, IMAGE_INPUT_SIGNED = 128 };

/* The oracle of the shape that the input's first byte names. */
oracle *image_oracle(uint8_t first);

/* The image of an input of at least IMAGE_INPUT_HEAD bytes, good until the next call. It stands at
 * an address that is `byte 2 % 16` above a multiple of 16; behind it the memory ends. */
const uint8_t *image_of_input(const uint8_t *data, size_t bytes, size_t *count);

/* Do two loads of one image agree? Both accept it or both refuse it, perhaps with other words: a
 * wrong image may have a count in the bytes of a pointer, which are others wherever the graph lies.
 * Where a tag's bits are bits of the block's address, a load refuses that place alone. */
int image_is_alike(const haul_error *a, const haul_error *b);

size_t image_change(uint8_t *data, size_t bytes, size_t most, choices *c);

#endif
