/* Files. A haul_file over a POSIX descriptor continues short and interrupted calls.
 *
 * A file is replaced by a new one that is written beside it, brought to the disk, and given its
 * name. At each moment the name leads to the old file or to the whole new one.
 */
#define _FILE_OFFSET_BITS 64
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"

/* 0, or errno of the call that fails. */
static int write_whole(int descriptor, const char *at, size_t bytes)
{
    const int saved = errno;
    int why = 0;
    while (bytes > 0 && !why) {
        const ssize_t written = write(descriptor, at, bytes);
        if (written > 0) {
            at += written;
            bytes -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            why = written == 0 ? EIO : errno;
        }
    }
    errno = saved;
    return why;
}

static haul_status write_all(void *user, const void *data, size_t bytes)
{
    return write_whole((int)(intptr_t)user, data, bytes) ? HAUL_ERROR_FILE : HAUL_OK;
}

/* 0, or errno. */
static int read_part(int descriptor, void *data, size_t bytes, size_t *got)
{
    const int saved = errno;
    int why = 0;
    ssize_t count;
    do
        count = read(descriptor, data, bytes);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        why = errno;
    else
        *got = (size_t)count;
    errno = saved;
    return why;
}

static haul_status read_some(void *user, void *data, size_t bytes, size_t *got)
{
    return read_part((int)(intptr_t)user, data, bytes, got) ? HAUL_ERROR_FILE : HAUL_OK;
}

haul_file haul_file_descriptor(int descriptor)
{
    haul_file file;
    file.user = (void *)(intptr_t)descriptor;
    file.write = write_all;
    file.read = read_some;
    return file;
}

/* ---- By name. */

static haul_status refuse(haul_error *error, const char *call, const char *path, int saved)
{
    const int why = errno;
    errno = saved;
    return haul__fail(error, HAUL_ERROR_FILE, "%s of %.300s fails with errno %d", call, path, why);
}

/* The error's words come at the end, when the writer has had its own. */
static haul_status write_beside(void *user, const void *data, size_t bytes)
{
    haul__new_file *file = user;
    file->why = write_whole(file->descriptor, data, bytes);
    return file->why ? HAUL_ERROR_FILE : HAUL_OK;
}

/* A new file in the place of none. */
static int open_new(const char *path)
{
    int descriptor;
    do
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

static int sync_file(int descriptor)
{
    int failed;
    do
        failed = fsync(descriptor);
    while (failed && errno == EINTR);
    return failed;
}

haul_status haul__new_file_begin(haul__new_file *file, const haul_allocator *allocator,
                                 const char *path, haul_error *error)
{
    const int saved = errno;
    unsigned number = 0;
    file->path = path;
    file->beside_bytes = strlen(path) + 48; /* room for two numbers */
    file->beside = haul__allocate(allocator, file->beside_bytes, 1);
    if (!file->beside)
        return haul__fail(error, HAUL_ERROR_MEMORY, "out of memory for a file's name");
    do {
        snprintf(file->beside, file->beside_bytes, "%s.new%ld-%u", path, (long)getpid(), number);
        file->descriptor = open_new(file->beside);
    } while (file->descriptor < 0 && errno == EEXIST && ++number < 1000);
    if (file->descriptor < 0) {
        haul__release(allocator, file->beside, file->beside_bytes);
        return refuse(error, "open", path, saved);
    }
    errno = saved;
    file->why = 0;
    memset(&file->file, 0, sizeof file->file);
    file->file.user = file;
    file->file.write = write_beside;
    return HAUL_OK;
}

/* Brings the folder's new entry to the disk. Some file systems refuse; then the entry comes when
 * they like, as whole as before. */
static void sync_folder(char *beside)
{
    char *slash = strrchr(beside, '/');
    int folder;
    if (slash)
        slash[slash == beside] = '\0';
    folder = open(slash ? beside : ".", O_RDONLY | O_CLOEXEC);
    if (folder < 0)
        return;
    fsync(folder);
    close(folder);
}

haul_status haul__new_file_end(haul__new_file *file, const haul_allocator *allocator,
                               haul_status status, haul_error *error)
{
    const int saved = errno;
    if (status != HAUL_OK && file->why) {
        errno = file->why;
        status = refuse(error, "write", file->path, saved);
    }
    if (status == HAUL_OK && sync_file(file->descriptor) != 0)
        status = refuse(error, "fsync", file->path, saved);
    if (close(file->descriptor) != 0 && status == HAUL_OK)
        status = refuse(error, "close", file->path, saved);
    if (status == HAUL_OK && rename(file->beside, file->path) != 0)
        status = refuse(error, "rename", file->path, saved);
    if (status == HAUL_OK)
        sync_folder(file->beside);
    else
        unlink(file->beside);
    haul__release(allocator, file->beside, file->beside_bytes);
    errno = saved;
    return status;
}

static haul_status read_old(void *user, void *data, size_t bytes, size_t *got)
{
    haul__old_file *file = user;
    file->why = read_part(file->descriptor, data, bytes, got);
    return file->why ? HAUL_ERROR_FILE : HAUL_OK;
}

haul_status haul__old_file_begin(haul__old_file *file, const char *path, haul_error *error)
{
    const int saved = errno;
    off_t end;
    memset(file, 0, sizeof *file);
    file->path = path;
    file->file.user = file;
    file->file.read = read_old;
    do
        file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    while (file->descriptor < 0 && errno == EINTR);
    if (file->descriptor < 0)
        return refuse(error, "open", path, saved);
    end = lseek(file->descriptor, 0, SEEK_END);
    file->bytes = end > 0 && lseek(file->descriptor, 0, SEEK_SET) == 0 && (uint64_t)end <= SIZE_MAX
                      ? (size_t)end
                      : SIZE_MAX;
    errno = saved;
    return HAUL_OK;
}

haul_status haul__old_file_end(const haul__old_file *file, haul_status status, haul_error *error)
{
    const int saved = errno;
    close(file->descriptor);
    errno = status != HAUL_OK ? file->why : 0;
    if (errno)
        return refuse(error, "read", file->path, saved);
    errno = saved;
    return status;
}

/* The address is a hint: the system follows it if nothing lies there. */
haul_status haul__file_map(const haul__old_file *file, uintptr_t address, int is_shared,
                           haul__mapping *mapping, haul_error *error)
{
    const int saved = errno;
    void *memory;
    mapping->at = NULL;
    mapping->bytes = file->bytes;
    memory = mmap((void *)address, file->bytes, is_shared ? PROT_READ : PROT_READ | PROT_WRITE,
                  is_shared ? MAP_SHARED : MAP_PRIVATE, file->descriptor, 0);
    if (memory == MAP_FAILED)
        return refuse(error, "mmap", file->path, saved);
    mapping->at = memory;
    if (!is_shared || memory == (void *)address)
        return HAUL_OK;
    haul__file_unmap(mapping);
    return haul__fail(error, HAUL_ERROR_FILE,
                      "%.300s is made for address 0x%zx, where this process has other memory",
                      file->path, (size_t)address);
}

void haul__file_unmap(haul__mapping *mapping)
{
    const int saved = errno;
    munmap(mapping->at, mapping->bytes);
    mapping->at = NULL;
    errno = saved;
}
