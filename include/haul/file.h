/* Files: streams of bytes in and out.
 *
 * The user provides a haul_file, or haul_file_descriptor makes one from a POSIX descriptor. Tables,
 * pictures, audits and images pass through it.
 */
#ifndef HAUL_FILE_H
#define HAUL_FILE_H

#include "haul/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_file {
    void *user;
    /* Writes all `bytes` bytes, or answers anything but HAUL_OK. NULL where the stream cannot be
     * written. */
    haul_status (*write)(void *user, const void *data, size_t bytes);
    /* Reads up to `bytes` bytes and sets *got; *got == 0 is the end. NULL where the stream cannot
     * be read. */
    haul_status (*read)(void *user, void *data, size_t bytes, size_t *got);
} haul_file;

/* A stream over an open POSIX file descriptor, which stays the caller's. Interrupted and short
 * calls are continued; any other failure is HAUL_ERROR_FILE. Any thread. */
HAUL_API haul_file haul_file_descriptor(int descriptor);

#ifdef __cplusplus
}
#endif
#endif
