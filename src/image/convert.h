/* An image of structs as they were becomes one of structs that have grown.
 */
#ifndef HAUL_IMAGE_CONVERT_H
#define HAUL_IMAGE_CONVERT_H

#include "image/type_text.h"
#include "image/relocate.h"

/* `was`: the graph of an image, as it was loaded and found right, by types of its own. `before` has
 * the text of these, and `now` that of the program's, as they were. `contents` and `bytes` are the
 * image's sections, by kind: roots, words and bits become those of the converted image, and its
 * arena joins them. HAUL_ERROR_UNSUPPORTED, with the path: other objects overlap grown structs.
 * HAUL_ERROR_LIMIT, HAUL_ERROR_MEMORY. */
haul_status haul__image_convert(const haul__claimed *was, const haul__type_text *before,
                                const haul__type_text *now, void **contents, size_t *bytes);

#endif
