/* Files by name: read to the end, or replaced as a whole.
 */
#ifndef HAUL_BASE_FILE_H
#define HAUL_BASE_FILE_H

#include "base/memory.h"
#include "haul/file.h"

/* A file that will take the place of another. */
typedef struct haul__new_file {
    haul_file file; /* to write to; it knows this struct's address */
    const char *path;
    char *beside; /* its own name until then */
    size_t beside_bytes;
    int descriptor, why; /* why: errno of a write that failed, or 0 */
} haul__new_file;

/* Makes a file beside `path`. HAUL_ERROR_FILE, HAUL_ERROR_MEMORY, described in `error`; then
 * there is nothing to end. */
haul_status haul__new_file_begin(haul__new_file *file, const haul_allocator *allocator,
                                 const char *path, haul_error *error);
/* Ends it. If `status` is HAUL_OK, all that was written is on the disk when the file takes its
 * name. Otherwise, or if the system refuses that, the file is removed. Answers `status`, or
 * HAUL_ERROR_FILE, described in `error`. */
haul_status haul__new_file_end(haul__new_file *file, const haul_allocator *allocator,
                               haul_status status, haul_error *error);

/* A file that is read. */
typedef struct haul__old_file {
    haul_file file; /* to read from; it knows this struct's address */
    const char *path;
    size_t bytes;        /* SIZE_MAX: it tells no size, as a pipe */
    int descriptor, why; /* why: errno of a read that failed, or 0 */
} haul__old_file;

/* Opens it. HAUL_ERROR_FILE, described in `error`; then there is nothing to end. */
haul_status haul__old_file_begin(haul__old_file *file, const char *path, haul_error *error);
/* Closes it. Answers `status`, or, if that is not HAUL_OK and a read has failed, HAUL_ERROR_FILE,
 * described in `error`. */
haul_status haul__old_file_end(const haul__old_file *file, haul_status status, haul_error *error);

/* A whole file as memory. */
typedef struct haul__mapping {
    void *at;
    size_t bytes;
} haul__mapping;

/* Maps an open file, whose size is known: at `address`, if that is free, else, or if it is 0,
 * anywhere. The memory is private: the process may write there, and the file stays as it is.
 * `is_shared`: it is that of the system, read-only, and at `address` or nowhere. HAUL_ERROR_FILE,
 * described in `error`: the system refuses, or the address is taken. Then `at` is NULL. */
haul_status haul__file_map(const haul__old_file *file, uintptr_t address, int is_shared,
                           haul__mapping *mapping, haul_error *error);
void haul__file_unmap(haul__mapping *mapping);

#endif
