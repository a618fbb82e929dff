/* Errors of types: the records that a call gives to its context.
 */
#ifndef HAUL_TYPE_REFUSE_H
#define HAUL_TYPE_REFUSE_H

#include "type/record.h"

#define HAUL__NO_NAME(what)                                                                        \
    what " has no name: one is UTF-8, not empty, and has less than %u bytes."

/* The record of an open type, cleared for a failure; NULL: out of memory. */
haul_error *haul__type_record(haul_type *type);
/* The last failure of a call on this type. */
const haul_error *haul__type_error(const haul_type *type);
haul_status haul__type_tell_success(haul_type *type);
haul_status haul__type_out_of_memory(haul_type *type);
/* Sets the error of a type, and answers the constant's status. An open type shows the text of
 * `format`, a committed one the constant. */
haul_status haul__type_refuse(haul_type *type, const haul_error *constant, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* Fills `error`, which may be NULL, for a description that is wrong. Answers HAUL_ERROR_TYPE.
 * `field` may be NULL. */
haul_status haul__wrong(haul_error *error, const haul_type *type, const char *field,
                        const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

#endif
