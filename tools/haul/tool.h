/* haul: what the commands share.
 *
 * The program knows no types: it reads images with those of their own text. It includes the public
 * headers alone.
 */
#ifndef HAUL_TOOL_H
#define HAUL_TOOL_H

#include <stdio.h>

#include "haul.h"

enum { GOOD = 0, REFUSED = 1, WRONG = 2 }; /* exit codes: see haul.1 */

enum { START_BYTES = 64 + 64 * 32 }; /* of a file: the head and the longest list of sections */

typedef struct tool {
    haul_context *context;
    haul_image_options options;
    const char **files;
    size_t file_count;
    haul_graph_options graph; /* of `dot` */
    const char *type;         /* of `dot`; NULL: all */
    int shows_progress, has_shown;
    FILE *file; /* that is being read */
    double file_bytes, read_bytes;
    unsigned char first[START_BYTES];
} tool;

/* The commands; each answers an exit code. */
int inspect_file(tool *t);
int verify_files(tool *t);
int draw_file(tool *t);
int list_file(tool *t);
int compare_files(tool *t);
int map_file(tool *t);

/* ---- tool.c */

/* Reads an image with its own types; "-" is stdin. GOOD, or another exit code: then a line on
 * stderr says why. */
int load_image(tool *t, const char *path, haul_image **image);
/* A line on stderr about the context's last failure; answers its exit code. */
int say_failure(const tool *t, const char *path, haul_status status);
/* Without bytes that a terminal would take for commands: names come from strangers. */
void print_clean(FILE *to, const char *text);
/* stdout, in the same way. */
haul_file clean_output(void);
/* Flushes stdout; WRONG if it has refused bytes. */
int close_output(int code);

#endif
