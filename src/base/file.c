/* haul_file over a POSIX descriptor: short and interrupted calls are continued.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <unistd.h>

#include "base/base.h"
#include "haul/file.h"

static haul_status write_all(void *user, const void *data, size_t bytes)
{
    const char *at = data;
    int saved = errno;
    while (bytes > 0) {
        ssize_t written = write((int)(intptr_t)user, at, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = saved;
            return HAUL_ERROR_FILE;
        }
        at += written;
        bytes -= (size_t)written;
    }
    errno = saved;
    return HAUL_OK;
}

static haul_status read_some(void *user, void *data, size_t bytes, size_t *got)
{
    int saved = errno;
    ssize_t count;
    do
        count = read((int)(intptr_t)user, data, bytes);
    while (count < 0 && errno == EINTR);
    errno = saved;
    if (count < 0)
        return HAUL_ERROR_FILE;
    *got = (size_t)count;
    return HAUL_OK;
}

haul_file haul_file_descriptor(int descriptor)
{
    haul_file file;
    file.user = (void *)(intptr_t)descriptor;
    file.write = write_all;
    file.read = read_some;
    return file;
}
