/* Text for a file: gathered, and written at the end of each line.
 */
#include <stdio.h>

#include "graph/pen.h"

#define PRINTED 256u

haul_status haul__pen_open(haul__pen *pen, const haul_file *file, haul_error *error)
{
    pen->file = file;
    pen->has_failed = 0;
    pen->length = 0;
    return file && file->write ? HAUL_OK
                               : haul__fail(error, HAUL_ERROR_ARGUMENT,
                                            "the file is NULL, or has no function that writes");
}

static void flush(haul__pen *pen)
{
    if (!pen->has_failed && pen->length)
        pen->has_failed = pen->file->write(pen->file->user, pen->text, pen->length) != HAUL_OK;
    pen->length = 0;
}

static void put(haul__pen *pen, char character)
{
    if (pen->length == sizeof pen->text)
        flush(pen);
    pen->text[pen->length++] = character;
}

void haul__pen_print(haul__pen *pen, const char *format, ...)
{
    char text[PRINTED];
    const char *at;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (at = text; *at; at++)
        put(pen, *at);
}

char haul__pen_shows(char character)
{
    return (unsigned char)character < 32 || character == 127 ? '?' : character;
}

void haul__pen_name(haul__pen *pen, const char *name, int is_quoted)
{
    for (; *name; name++) {
        if (is_quoted && (*name == '"' || *name == '\\'))
            put(pen, '\\');
        put(pen, haul__pen_shows(*name));
    }
}

void haul__pen_end(haul__pen *pen)
{
    put(pen, '\n');
    flush(pen);
}

haul_status haul__pen_close(const haul__pen *pen, haul_error *error)
{
    return pen->has_failed
               ? haul__fail(error, HAUL_ERROR_FILE, "the file did not take all that was written")
               : HAUL_OK;
}
