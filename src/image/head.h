/* The head of an image and its list of sections.
 */
#ifndef HAUL_IMAGE_HEAD_H
#define HAUL_IMAGE_HEAD_H

#include "image/format.h"
#include "image/input.h"

/* HAUL_ERROR_FORMAT: "not a whole image", and why. */
haul_status haul__image_refuse(haul_error *error, const char *why);

/* Reads and checks the input's first bytes. `sections` has room for HAUL__IMAGE_SECTIONS.
 * HAUL_ERROR_FORMAT, HAUL_ERROR_VERSION; others as haul__input_read. */
haul_status haul__image_read_head(haul__input *input, haul__image_head *head,
                                  haul__image_section *sections);

#endif
