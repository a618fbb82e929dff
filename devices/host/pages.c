/* The host device's pages: memory that can be mapped at several addresses.
 *
 * They are anonymous shared pages, which mremap maps once more: no name, no descriptor, no limit of
 * file sizes. Emulators of other processors may refuse that (qemu-user does). There each device has
 * one unnamed file. Pages stand in the file at the offset of the address where they were mapped
 * first, so no table is needed, and a release punches a hole. Such a large file needs an infinite
 * RLIMIT_FSIZE. The limit is checked first, because a write beyond it ends the process by a signal.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pages.h"

/* larger than every address; the file takes memory only where it is written */
#define FILE_BYTES ((off_t)1 << 62)

/* For mremap, old size 0 means: map the same pages once more. */
static int remap(unsigned char *pages, size_t bytes, unsigned char *at)
{
    return mremap(pages, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == (void *)at;
}

static unsigned char *shared_pages(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static unsigned char *addresses(size_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

int haul__host_can_remap(size_t page)
{
    unsigned char *pages = shared_pages(page), *at = addresses(page);
    const int can =
        !pages || !at || remap(pages, page, at); /* without memory the answer is unknown */
    if (pages)
        munmap(pages, page);
    if (at)
        munmap(at, page);
    return can;
}

static int open_file(haul__host *host)
{
    struct rlimit limit;
    int file;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) {
        errno = EFBIG;
        return 0;
    }
    file = memfd_create("haul", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, FILE_BYTES) != 0) {
        close(file);
        return 0;
    }
    host->file = file;
    return file >= 0;
}

unsigned char *haul__host_pages(haul__host *host, size_t bytes)
{
    unsigned char *pages;
    if (!host->is_file)
        return shared_pages(bytes);
    if (host->file < 0 && !open_file(host))
        return NULL;
    pages = addresses(bytes);
    if (pages && !haul__host_show(host, pages, bytes, pages)) {
        munmap(pages, bytes);
        return NULL;
    }
    return pages;
}

int haul__host_show(const haul__host *host, unsigned char *pages, size_t bytes, unsigned char *at)
{
    if (!host->is_file)
        return remap(pages, bytes, at);
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, host->file,
                (off_t)(uintptr_t)pages) == (void *)at;
}

void haul__host_forget(const haul__host *host, unsigned char *pages, size_t bytes)
{
    munmap(pages, bytes);
    if (host->is_file)
        (void)fallocate(host->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)(uintptr_t)pages, (off_t)bytes);
}

void haul__host_close_file(haul__host *host)
{
    if (host->file >= 0)
        close(host->file);
    host->file = -1;
}

unsigned char *haul__host_reserve(const haul__host *host, size_t bytes)
{
    return addresses(bytes + 2 * host->page);
}
