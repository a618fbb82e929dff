/* A field from its line in the text of an image's types.
 */
#ifndef HAUL_IMAGE_TEXT_FIELD_H
#define HAUL_IMAGE_TEXT_FIELD_H

#include "base/list.h"
#include "image/text_words.h"
#include "haul/type.h"

typedef struct haul__field_text {
    const haul_allocator *allocator;
    haul_type **types; /* that numbers mean: fields point to these handles */
    size_t type_count;
    haul_field field, each; /* of the last line */
    char name[HAUL_NAME_BYTES_MAX];
    HAUL__LIST(haul_case) cases[2]; /* of the field, and of `each`; the caller releases them */
    int is_short;                   /* memory ran out */
} haul__field_text;

/* Reads the line into `field`, which then points into this struct. 0: the program that wrote the
 * text has a function there. The words have the fault, if there is one. */
int haul__text_field(haul__field_text *text, haul__words *words);
/* The handle of a type by its number; NULL, and a fault: there is none. */
haul_type *const *haul__text_type(const haul__field_text *text, haul__words *words);

#endif
