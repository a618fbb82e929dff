/* Error records.
 */
#ifndef HAUL_BASE_STATUS_H
#define HAUL_BASE_STATUS_H

#include "base/base.h"

/* Clears the paths, writes the sentence, answers `status`. `error` may be NULL. */
haul_status haul__fail(haul_error *error, haul_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* Copies `text` into a path of an error; the middle of a text that is too long becomes "...". */
void haul__set_path(char *path, const char *text);
void haul__clear_error(haul_error *error);

#endif
