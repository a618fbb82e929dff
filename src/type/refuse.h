/* Errors of calls on types, in the record of the context that the types were made from.
 */
#ifndef HAUL_TYPE_REFUSE_H
#define HAUL_TYPE_REFUSE_H

#include "type/record.h"

#define HAUL__NO_NAME(what)                                                                        \
    what " has no name: one is UTF-8, not empty, and has less than %u bytes."

/* Refuses a call on this type, and answers `status`. */
haul_status haul__type_refuse(const haul_type *type, haul_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
haul_status haul__type_out_of_memory(const haul_type *type);
/* Fill `error`, which may be NULL, for a description that is wrong, or too large. Answer
 * HAUL_ERROR_TYPE and HAUL_ERROR_LIMIT. `field` may be NULL. */
haul_status haul__wrong(haul_error *error, const haul_type *type, const char *field,
                        const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;
haul_status haul__too_large(haul_error *error, const haul_type *type, const char *field,
                            const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

#endif
