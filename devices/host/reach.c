/* The memory that the kernel of a strict launch can reach.
 *
 * The child of a strict launch closes all writable mappings except: the device's memory; static
 * data of the program and its libraries, as the dynamic linker tells; the thread's own storage; its
 * stack. What nobody can write stays readable: code, constants, tables of the C library.
 *
 * A line of /proc/self/maps can be several mappings side by side, such as a thread's stack beside
 * memory of malloc. So ranges are kept, not lines.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "reach.h"

/* The C library's record of a thread, in glibc 2.3 KiB, begins at pthread_self(). */
#define THREAD_BYTES 4096u

void haul__host_keep(haul__host_reach *reach, uintptr_t begin, size_t bytes)
{
    const uintptr_t mask = (uintptr_t)reach->page - 1;
    haul__host_extent *kept = &reach->kept[reach->kept_count];
    if (bytes == 0 || reach->kept_count == HAUL__HOST_KEPT)
        return;
    kept->begin = begin & ~mask;
    kept->end = (begin + bytes + mask) & ~mask;
    reach->kept_count++;
}

static void add(haul__host_extent *extents, size_t *count, uintptr_t begin, uintptr_t end)
{
    if (*count == HAUL__HOST_DATA)
        return;
    extents[*count].begin = begin;
    extents[(*count)++].end = end;
}

static int holds(const struct dl_phdr_info *object, uintptr_t address)
{
    size_t i;
    for (i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD &&
            address - object->dlpi_addr - object->dlpi_phdr[i].p_vaddr <
                object->dlpi_phdr[i].p_memsz)
            return 1;
    return 0;
}

#ifdef __GLIBC__ /* elsewhere the linker is the C library itself */
static void note_linker(haul__host_reach *reach, const struct dl_phdr_info *object)
{
    size_t i;
    for (i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
            reach->linker.begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            reach->linker.end = reach->linker.begin + object->dlpi_phdr[i].p_memsz;
        }
}
#endif

static int note_object(struct dl_phdr_info *object, size_t bytes, void *user)
{
    haul__host_reach *reach = user;
    const int has_kernel = holds(object, reach->function);
    int has_data = 0;
    size_t i;
    for (i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_TLS &&
            bytes >= offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(void *) &&
            object->dlpi_tls_data)
            haul__host_keep(reach, (uintptr_t)object->dlpi_tls_data, part->p_memsz);
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
            continue;
        haul__host_keep(reach, begin, part->p_memsz);
        has_data = 1;
        if (has_kernel)
            add(reach->segments, &reach->segment_count, begin, begin + part->p_memsz);
    }
    reach->data_objects += has_data != 0;
#ifdef __GLIBC__
    if (object->dlpi_addr && object->dlpi_addr == getauxval(AT_BASE))
        note_linker(reach, object);
#endif
    return 0;
}

void haul__host_keep_objects(haul__host_reach *reach)
{
    haul__host_keep(reach, (uintptr_t)pthread_self(), THREAD_BYTES);
    haul__host_keep(reach, (uintptr_t)&errno, sizeof errno);
    dl_iterate_phdr(note_object, reach);
    /* The static data of a static program is the C library's, too: its state in the child must not
     * come back. */
    if (reach->data_objects < 2)
        reach->segment_count = 0;
}

/* The stack is the mapping with the launching frame, or its part up to the end of the thread's own
 * record: memory of others may follow. */
static void keep_stack(haul__host_reach *reach, const haul__host_map *map)
{
    const uintptr_t self = (uintptr_t)pthread_self();
    uintptr_t end = map->end;
    if (self > reach->frame && self < end && end - self > THREAD_BYTES)
        end = self + THREAD_BYTES;
    haul__host_keep(reach, map->begin, (size_t)(end - map->begin));
    reach->stack.begin = reach->frame;
    reach->stack.end = self > reach->frame && self < end ? self : end;
}

/* Adds the parts of a writable mapping that are static data, in whole pages. */
static void keep_data(haul__host_reach *reach, const haul__host_map *map)
{
    const uintptr_t mask = (uintptr_t)reach->page - 1;
    size_t i;
    for (i = 0; i < reach->segment_count; i++) {
        const uintptr_t begin = reach->segments[i].begin & ~mask;
        const uintptr_t end = (reach->segments[i].end + mask) & ~mask;
        if (begin < map->end && end > map->begin)
            add(reach->data, &reach->data_count, begin > map->begin ? begin : map->begin,
                end < map->end ? end : map->end);
    }
}

/* Adds the parts of a mapping that are not kept. 0: there are too many. */
static int close_map(haul__host_reach *reach, const haul__host_map *map)
{
    uintptr_t at = map->begin, next;
    size_t i;
    while (at < map->end) {
        uintptr_t kept_end = 0;
        next = map->end;
        for (i = 0; i < reach->kept_count; i++)
            if (reach->kept[i].begin <= at && reach->kept[i].end > at)
                kept_end = reach->kept[i].end;
            else if (reach->kept[i].begin > at && reach->kept[i].begin < next)
                next = reach->kept[i].begin;
        if (!kept_end) {
            if (reach->closed_count == HAUL__HOST_CLOSED)
                return 0;
            reach->closed[reach->closed_count].begin = at;
            reach->closed[reach->closed_count++].end = next;
        }
        at = kept_end ? kept_end : next;
    }
    return 1;
}

const char *haul__host_find_closed(haul__host_reach *reach)
{
    haul__host_map map;
    int fits = reach->kept_count < HAUL__HOST_KEPT;
    if (!haul__host_open_maps(&reach->maps))
        return "a strict launch needs /proc/self/maps, which cannot be read";
    while (haul__host_next_map(&reach->maps, &map)) {
        if (reach->frame >= map.begin && reach->frame < map.end)
            keep_stack(reach, &map);
        if (map.is_writable)
            keep_data(reach, &map);
        if (fits && map.is_writable)
            fits = close_map(reach, &map);
    }
    return fits ? NULL : "the process has too many mappings for a strict launch";
}

int haul__host_protect(const haul__host_extent *extents, size_t count, int protection)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (mprotect((void *)extents[i].begin, (size_t)(extents[i].end - extents[i].begin),
                     protection) != 0)
            return 0;
    return 1;
}

int haul__host_is_in(const haul__host_extent *extents, size_t count, uintptr_t address)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (address >= extents[i].begin && address < extents[i].end)
            return 1;
    return 0;
}
