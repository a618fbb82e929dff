/* Types as text: one line for each type, and one for each of its fields.
 *
 *     type mesh bytes=48 lower=0 alignment=0
 *     xyz kind=1 at=8 bytes=8 element=8 levels=1 count=product*1+0(0/4/1,4/4/1)
 *     next kind=1 at=16 bytes=8 element=48 levels=1 target=0 count=1
 *
 * Types have numbers in the order in which the roots' types lead to them, so equal descriptions
 * have equal text in any process. Functions are named as such: what they do is not described.
 */
#ifndef HAUL_IMAGE_TYPE_TEXT_H
#define HAUL_IMAGE_TYPE_TEXT_H

#include "base/index.h"
#include "base/list.h"
#include "haul/image.h"
#include "type/type.h"

/* Why no image can hold a type's contents; from HAUL__GROWS_WITHIN on, why none is converted to it.
 */
typedef enum haul__unfit {
    HAUL__IS_OF_ONE_PROCESS, /* the words of a HAUL_EXTERNAL field */
    HAUL__MAY_BE_STATIC,     /* the words of a .maybe_static field */
    HAUL__DEPENDS,           /* they must be rebuilt */
    HAUL__HAS_GAPS,          /* the elements of a section */
    HAUL__GROWS_WITHIN,      /* a grown struct lies in it, and is not its last field */
    HAUL__IS_NO_STRUCT,      /* it has grown, and is no struct of one size */
    HAUL__IS_SPLIT,          /* a field lies on both sides of .added_at */
    HAUL__SHRINKS            /* .stored_bytes or .added_at is larger than it is */
} haul__unfit;

/* Types as an image has them, by number, and how those of the program have grown since. */
typedef struct haul__stored_types {
    haul_type *const *at;
    size_t count;
    const haul_image_growth *growths;
    size_t growth_count;
} haul__stored_types;

typedef struct haul__type_text {
    const haul_allocator *allocator;
    const haul__stored_types *stored;    /* the types are written as they were there; NULL: as is */
    HAUL__LIST(char) text;               /* not terminated */
    HAUL__LIST(const haul_type *) types; /* by number */
    haul__index index;                   /* numbers by type */
    /* the first type and field with a function; with contents that no image can hold, and why */
    const haul_type *called_type, *refused_type;
    const char *called_field, *refused_field;
    haul__unfit unfit;
    int is_short; /* memory ran out */
} haul__type_text;

/* Writes all types that the roots' types lead to; they are committed. With `stored`, which may be
 * NULL, those that have grown are written with the size and the fields that they had, and what new
 * fields alone lead to is left out: so types have the same numbers as there. HAUL_ERROR_MEMORY. The
 * caller closes the text in any case. */
haul_status haul__type_text_open(haul__type_text *text, const haul_allocator *allocator,
                                 haul_type *const *types, size_t count,
                                 const haul__stored_types *stored);
void haul__type_text_close(haul__type_text *text);
/* The number of a type of the text. */
uint32_t haul__type_text_number(const haul__type_text *text, const haul_type *type);
/* How the type of this number has grown since; NULL: it has not. */
const haul_image_growth *haul__type_text_growth(const haul__type_text *text, uint32_t number);
/* ---- type_match.c */

/* HAUL_ERROR_UNSUPPORTED, with the type and the field: no image can hold their contents or is
 * converted to them, or a function reads them and `calls` is 0. */
haul_status haul__type_text_admits(const haul__type_text *text, int calls, haul_error *error);
/* Text of an image, and the names in it that have changed since. */
typedef struct haul__stored_text {
    const char *at;
    size_t bytes;
    const haul_image_rename *renames;
    size_t rename_count;
} haul__stored_text;
/* HAUL_OK: the texts are equal, or differ in these names alone. HAUL_ERROR_TYPE: `error` has the
 * first type and field that differ. */
haul_status haul__type_text_compare(const haul__type_text *ours, const haul__stored_text *theirs,
                                    haul_error *error);

#endif
