/* What haul_image_map could do in place of making all pointers at once: no page can be touched at
 * first, and the handler of the fault makes the pointers of the page. It checks nothing, and leaves
 * out the types and the roots, so it is the least that a library would need for this.
 *
 * Haul does not do so: a handler belongs to the program, and calls of the system that are given
 * such a page fail in place of waiting for it. The bench says how much time it would save.
 */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "image/format.h"
#include "lazy_map.h"

enum { PAGE = 4096, PAGE_BITS = PAGE / sizeof(void *) / 8 };

static lazy_map open_map; /* as the handler knows it */
static struct sigaction before;

static void make_pointers(char *page)
{
    const unsigned char *bits =
        open_map.bits + (size_t)(page - open_map.arena) / PAGE * (size_t)PAGE_BITS;
    uintptr_t *word = (uintptr_t *)(void *)page;
    size_t left = open_map.arena_bytes - (size_t)(page - open_map.arena), i;
    const size_t words = (left < PAGE ? left : (size_t)PAGE) / sizeof *word;
    for (i = 0; i < words; i++)
        if (word[i] && (bits[i / 8] >> i % 8 & 1))
            word[i] += (uintptr_t)open_map.arena;
}

static void touched(int number, siginfo_t *fault, void *where)
{
    const size_t at = (size_t)((char *)fault->si_addr - open_map.arena);
    char *page = open_map.arena + at / PAGE * PAGE;
    (void)number, (void)where;
    if (at >= open_map.arena_bytes || mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0) {
        sigaction(SIGSEGV, &before, NULL); /* the instruction fails again */
        return;
    }
    make_pointers(page);
}

static void find_sections(lazy_map *map)
{
    haul__image_head head;
    haul__image_section section;
    uint32_t i;
    memcpy(&head, map->file, sizeof head);
    for (i = 0; i < head.section_count; i++) {
        memcpy(&section, map->file + sizeof head + i * sizeof section, sizeof section);
        if (section.kind == HAUL__SECTION_BITS)
            map->bits = (unsigned char *)map->file + section.offset;
        if (section.kind == HAUL__SECTION_ARENA) {
            map->arena = map->file + section.offset;
            map->arena_bytes = (size_t)section.bytes;
        }
    }
}

void lazy_map_open(lazy_map *map, const char *path)
{
    const int file = open(path, O_RDONLY);
    struct sigaction mine;
    struct stat about;
    memset(map, 0, sizeof *map);
    memset(&mine, 0, sizeof mine);
    mine.sa_sigaction = touched;
    mine.sa_flags = SA_SIGINFO;
    if (file < 0 || fstat(file, &about) != 0)
        bench_die(path, NULL);
    map->file_bytes = (size_t)about.st_size;
    map->file = mmap(NULL, map->file_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    close(file);
    if (map->file == MAP_FAILED)
        bench_die(path, NULL);
    find_sections(map);
    if (!map->arena || !map->bits || (uintptr_t)map->arena % PAGE != 0 ||
        mprotect(map->arena, map->arena_bytes, PROT_NONE) != 0)
        bench_die("an image that is not mapped by page", NULL);
    open_map = *map;
    sigaction(SIGSEGV, &mine, &before);
}

void lazy_map_close(lazy_map *map)
{
    sigaction(SIGSEGV, &before, NULL);
    munmap(map->file, map->file_bytes);
    memset(map, 0, sizeof *map);
}
