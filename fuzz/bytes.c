/* Changes of bytes that mean nothing to the one who changes them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

static size_t draw_below(choices *c, size_t bound)
{
    return bound == 0 ? 0 : choose(c, bound < 65536 ? (uint32_t)bound : 65536);
}

/* `count` bytes at `at` appear or go. */
static size_t insert(uint8_t *data, size_t bytes, size_t most, size_t at, size_t count)
{
    count = count < most - bytes ? count : most - bytes;
    memmove(data + at + count, data + at, bytes - at);
    return bytes + count;
}

static size_t erase(uint8_t *data, size_t bytes, size_t at, size_t count)
{
    count = count < bytes - at ? count : bytes - at;
    memmove(data + at, data + at + count, bytes - at - count);
    return bytes - count;
}

static size_t grow(uint8_t *data, size_t bytes, size_t most, choices *c)
{
    const size_t at = draw_below(c, bytes + 1), count = 1 + draw_below(c, 16);
    const size_t now = insert(data, bytes, most, at, count);
    size_t i;
    for (i = at; i < at + (now - bytes); i++)
        data[i] = (uint8_t)choose(c, 256);
    return now;
}

static void copy_piece(uint8_t *data, size_t bytes, choices *c)
{
    const size_t from = draw_below(c, bytes), to = draw_below(c, bytes);
    const size_t room = bytes - (from > to ? from : to), count = 1 + draw_below(c, 32);
    memmove(data + to, data + from, count < room ? count : room);
}

size_t fuzz_change_bytes(uint8_t *data, size_t bytes, size_t most, choices *c)
{
    static const uint8_t odd[] = { 0, 1, 2, 7, 8, 15, 16, 127, 128, 254, 255 };
    const size_t at = draw_below(c, bytes);
    const uint32_t way = bytes == 0 ? 7 : choose(c, 8);
    switch (way) {
    case 0:
    case 1:
        data[at] = (uint8_t)choose(c, 256);
        return bytes;
    case 2:
        data[at] ^= (uint8_t)(1u << choose(c, 8));
        return bytes;
    case 3:
        data[at] = odd[choose(c, sizeof odd)];
        return bytes;
    case 4:
        data[at] = (uint8_t)(data[at] + choose(c, 2) * 2 - 1);
        return bytes;
    case 5:
        copy_piece(data, bytes, c);
        return bytes;
    case 6:
        return erase(data, bytes, at, 1 + draw_below(c, 16));
    default:
        return grow(data, bytes, most, c);
    }
}

void fuzz_broken(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}
