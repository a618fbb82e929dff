/* Reading images, and saying what is wrong with them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

static int is_safe(unsigned char c)
{
    return (c >= ' ' && c != 0x7f) || c == '\n' || c == '\t';
}

void print_clean(FILE *to, const char *text)
{
    for (; *text; text++)
        putc(is_safe((unsigned char)*text) ? *text : '?', to);
}

static haul_status write_clean(void *user, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    size_t i;
    (void)user;
    for (i = 0; i < bytes; i++)
        putchar(is_safe(at[i]) ? at[i] : '?');
    return ferror(stdout) ? HAUL_ERROR_FILE : HAUL_OK;
}

haul_file clean_output(void)
{
    haul_file file = { NULL, write_clean, NULL };
    return file;
}

int close_output(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "haul: the output cannot be written\n");
    return WRONG;
}

int say_failure(const tool *t, const char *path, haul_status status)
{
    const haul_error *error = haul_context_error(t->context);
    fprintf(stderr, "haul: ");
    print_clean(stderr, path);
    fprintf(stderr, ": ");
    print_clean(stderr, error->text[0] ? error->text : haul_status_text(status));
    if (error->path[0]) {
        fprintf(stderr, " (");
        print_clean(stderr, error->path);
        fprintf(stderr, ")");
    }
    fprintf(stderr, "\n");
    return status == HAUL_ERROR_FILE || status == HAUL_ERROR_MEMORY ? WRONG : REFUSED;
}

/* ---- Reading, with progress for a file that takes seconds. */

#define LARGE (64.0 * 1024 * 1024)
#define STEP (16.0 * 1024 * 1024)

static void show_progress(tool *t, double before)
{
    if (!t->shows_progress || t->file_bytes < LARGE)
        return;
    if (t->read_bytes >= t->file_bytes)
        fprintf(stderr, "\rhaul: checking");
    else if ((long)(before / STEP) != (long)(t->read_bytes / STEP))
        fprintf(stderr, "\rhaul: %3u %%", (unsigned)(100 * t->read_bytes / t->file_bytes));
    t->has_shown = 1;
}

static haul_status read_bytes(void *user, void *data, size_t bytes, size_t *got)
{
    tool *t = user;
    const double before = t->read_bytes;
    *got = fread(data, 1, bytes, t->file);
    if (before < START_BYTES) {
        const size_t at = (size_t)before;
        memcpy(t->first + at, data, *got < START_BYTES - at ? *got : START_BYTES - at);
    }
    t->read_bytes += (double)*got;
    show_progress(t, before);
    return ferror(t->file) ? HAUL_ERROR_FILE : HAUL_OK;
}

static void measure_file(tool *t)
{
    long bytes = -1;
    if (t->file != stdin && fseek(t->file, 0, SEEK_END) == 0) {
        bytes = ftell(t->file);
        rewind(t->file);
    }
    t->file_bytes = bytes > 0 ? (double)bytes : 0;
    t->read_bytes = 0;
}

static int read_image(tool *t, const char *path, haul_image **image)
{
    haul_file file = { NULL, NULL, read_bytes };
    haul_status status;
    file.user = t;
    measure_file(t);
    status = haul_image_read(t->context, &file, NULL, 0, &t->options, image);
    if (t->has_shown)
        fprintf(stderr, "\r              \r");
    t->has_shown = 0;
    if (status != HAUL_OK)
        return say_failure(t, path, status);
    if (getc(t->file) == EOF)
        return GOOD;
    haul_image_free(image);
    fprintf(stderr, "haul: ");
    print_clean(stderr, path);
    fprintf(stderr, ": other bytes follow the image\n");
    return REFUSED;
}

int load_image(tool *t, const char *path, haul_image **image)
{
    int code;
    t->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!t->file) {
        const char *why = strerror(errno);
        fprintf(stderr, "haul: ");
        print_clean(stderr, path);
        fprintf(stderr, ": %s\n", why);
        return WRONG;
    }
    code = read_image(t, path, image);
    if (t->file != stdin)
        fclose(t->file);
    return code;
}
