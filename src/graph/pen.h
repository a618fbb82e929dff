/* A pen: text that goes to a file line by line. After the first failure it writes nothing.
 */
#ifndef HAUL_GRAPH_PEN_H
#define HAUL_GRAPH_PEN_H

#include "base/status.h"
#include "haul/file.h"

typedef struct haul__pen {
    const haul_file *file;
    int has_failed;
    char text[1024];
    size_t length;
} haul__pen;

/* HAUL_ERROR_ARGUMENT, described in `error`: the file is NULL or cannot be written. */
haul_status haul__pen_open(haul__pen *pen, const haul_file *file, haul_error *error);
/* At most 256 characters at a time. */
void haul__pen_print(haul__pen *pen, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* A character of a user's name, as it is written: control characters become '?'. */
char haul__pen_shows(char character);
/* A name of the user's. If it is quoted, as Graphviz asks for. */
void haul__pen_name(haul__pen *pen, const char *name, int is_quoted);
/* Ends the line, and writes it. */
void haul__pen_end(haul__pen *pen);
/* After the last line. HAUL_ERROR_FILE, described in `error`: the file has not taken all. */
haul_status haul__pen_close(const haul__pen *pen, haul_error *error);

#endif
