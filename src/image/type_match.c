/* Types of an image beside those of the program: may the image hold them, and where do they differ?
 */
#include <stdio.h>

#include "image/type_text.h"

#include "base/status.h"

static void set_place(haul_error *error, const haul_type *type, const char *field)
{
    char path[HAUL_PATH_BYTES];
    snprintf(path, sizeof path, "%.250s%s%.250s", haul_type_name(type), field ? "." : "",
             field ? field : "");
    haul__set_path(error->path, path);
}

haul_status haul__type_text_admits(const haul__type_text *text, int calls, haul_error *error)
{
    static const char *const reasons[] = {
        [HAUL__IS_OF_ONE_PROCESS] =
            "its words mean something in one process alone; HAUL_SKIP leaves them out",
        [HAUL__MAY_BE_STATIC] = "it may hold an address of static data, which other processes lack",
        [HAUL__DEPENDS] = "its contents depend on addresses",
        [HAUL__HAS_GAPS] = "it leads to a section, and no reader checks its gaps",
    };
    if (text->refused_type) {
        haul__fail(error, HAUL_ERROR_UNSUPPORTED, "no image can hold it: %s", reasons[text->unfit]);
        set_place(error, text->refused_type, text->refused_field);
        return HAUL_ERROR_UNSUPPORTED;
    }
    if (text->called_type && !calls) {
        haul__fail(error, HAUL_ERROR_UNSUPPORTED,
                   "its function would be called with bytes of an image that is not trusted: see "
                   "calls_functions in haul_image_options");
        set_place(error, text->called_type, text->called_field);
        return HAUL_ERROR_UNSUPPORTED;
    }
    return HAUL_OK;
}

/* ---- The first difference. */

static size_t line_bytes(const char *text, size_t bytes)
{
    const char *end = bytes ? memchr(text, '\n', bytes) : NULL;
    return end ? (size_t)(end - text) + 1 : bytes;
}

/* The bytes of the line's first word: the name of a field, or "type". */
static size_t name_bytes(const char *text, size_t bytes)
{
    const char *end = bytes ? memchr(text, ' ', bytes) : NULL;
    return end ? (size_t)(end - text) : bytes;
}

/* A line of an image, for people: without its end, other bytes than ASCII as '?'. */
static void show(const char *text, size_t bytes, char *to, size_t room)
{
    size_t i, count = bytes && text[bytes - 1] == '\n' ? bytes - 1 : bytes;
    count = count < room - 1 ? count : room - 1;
    for (i = 0; i < count; i++)
        to[i] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
    to[count] = '\0';
}

haul_status haul__type_text_compare(const haul__type_text *ours, const char *theirs, size_t bytes,
                                    haul_error *error)
{
    const char *a = ours->text.at, *b = theirs, *type = a;
    size_t left = ours->text.count, right = bytes, one, other, same;
    char here[160], there[160], path[HAUL_PATH_BYTES];
    if (left == right && memcmp(a, b, left) == 0)
        return HAUL_OK;
    for (;;) {
        one = line_bytes(a, left);
        other = line_bytes(b, right);
        if (one >= 5 && memcmp(a, "type ", 5) == 0)
            type = a + 5;
        if (one != other || one == 0 || memcmp(a, b, one) != 0)
            break;
        a += one;
        b += other;
        left -= one;
        right -= other;
    }
    show(a, one, here, sizeof here);
    show(b, other, there, sizeof there);
    same = (size_t)(ours->text.at + ours->text.count - type);
    show(type, name_bytes(type, same), path, sizeof path / 2);
    if (type != a + 5 && one > 0 && !(one >= 5 && memcmp(a, "type ", 5) == 0)) {
        const size_t end = strlen(path);
        path[end] = '.';
        show(a, name_bytes(a, one), path + end + 1, sizeof path - end - 1);
    }
    haul__fail(error, HAUL_ERROR_TYPE, "the image has other types: \"%s\" there, \"%s\" here",
               there, here);
    haul__set_path(error->path, path);
    return HAUL_ERROR_TYPE;
}
