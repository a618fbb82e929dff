/* The mappings of this process: /proc/self/maps, whose lines are
 *
 *     7f0e12c00000-7f0e12c21000 rw-p 00000000 00:00 0      [name]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "maps.h"

/* The next line, without its end; NULL: there is none. */
static char *next_line(haul__host_maps *maps)
{
    char *end = NULL, *line;
    ssize_t got;
    while (maps->at == maps->bytes ||
           !(end = memchr(maps->text + maps->at, '\n', maps->bytes - maps->at))) {
        if (maps->bytes - maps->at == sizeof maps->text)
            return NULL;
        memmove(maps->text, maps->text + maps->at, maps->bytes - maps->at);
        maps->bytes -= maps->at;
        maps->at = 0;
        do
            got = read(maps->file, maps->text + maps->bytes, sizeof maps->text - maps->bytes);
        while (got < 0 && errno == EINTR);
        if (got <= 0)
            return NULL;
        maps->bytes += (size_t)got;
    }
    *end = '\0';
    line = maps->text + maps->at;
    maps->at = (size_t)(end - maps->text) + 1;
    return line;
}

static uintptr_t number(char **at)
{
    uintptr_t value = 0;
    for (;; ++*at) {
        const char c = **at;
        if (c >= '0' && c <= '9')
            value = value * 16 + (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value * 16 + (uintptr_t)(c - 'a' + 10);
        else
            return value;
    }
}

static char *skip_words(char *at, unsigned count)
{
    while (count-- > 0) {
        while (*at && *at != ' ')
            at++;
        while (*at == ' ')
            at++;
    }
    return at;
}

/* Reads a line into maps->next. */
static void read_ahead(haul__host_maps *maps)
{
    haul__host_map *map = &maps->next;
    char *at = next_line(maps);
    uintptr_t end;
    size_t length;
    map->begin = map->end = 0;
    if (!at)
        return;
    map->begin = number(&at);
    at += *at == '-';
    end = number(&at);
    at += *at == ' ';
    if (strnlen(at, 4) < 4)
        return;
    map->end = end;
    map->is_readable = at[0] == 'r';
    map->is_writable = at[1] == 'w';
    map->is_executable = at[2] == 'x';
    map->is_shared = at[3] == 's';
    at = skip_words(at, 4);
    length = strnlen(at, sizeof map->name - 1);
    memcpy(map->name, at, length);
    map->name[length] = '\0';
}

int haul__host_open_maps(haul__host_maps *maps)
{
    maps->file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    maps->bytes = maps->at = 0;
    if (maps->file >= 0)
        read_ahead(maps);
    return maps->file >= 0;
}

static int is_one_mapping(const haul__host_map *map, const haul__host_map *next)
{
    return next->begin == map->end && next->is_readable == map->is_readable &&
           next->is_writable == map->is_writable && next->is_executable == map->is_executable &&
           next->is_shared == map->is_shared && strcmp(next->name, map->name) == 0;
}

int haul__host_next_map(haul__host_maps *maps, haul__host_map *map)
{
    *map = maps->next;
    if (!map->end) {
        close(maps->file);
        return 0;
    }
    for (read_ahead(maps); is_one_mapping(map, &maps->next); read_ahead(maps))
        map->end = maps->next.end;
    return 1;
}

int haul__host_map_at(haul__host_maps *maps, uintptr_t address, haul__host_map *map)
{
    int found = 0;
    if (!haul__host_open_maps(maps))
        return 0;
    while (!found && haul__host_next_map(maps, map))
        found = address >= map->begin && address < map->end;
    if (found)
        close(maps->file);
    return found;
}
