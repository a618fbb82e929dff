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
        [HAUL__GROWS_WITHIN] =
            "a struct that has grown lies in it, and not as the last field of one declared, too",
        [HAUL__IS_NO_STRUCT] = "it is no struct of fields and of one size",
        [HAUL__IS_SPLIT] = "the field lies on both sides of .added_at",
        [HAUL__SHRINKS] = "it has fewer bytes than .stored_bytes or .added_at",
    };
    if (text->refused_type) {
        if (text->unfit < HAUL__GROWS_WITHIN)
            haul__fail(error, HAUL_ERROR_UNSUPPORTED, "no image can hold it: %s",
                       reasons[text->unfit]);
        else
            haul__fail(error, HAUL_ERROR_UNSUPPORTED, "no image is converted to it: %s",
                       reasons[text->unfit]);
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

/* ---- Names that have changed. */

/* A word of a line. */
typedef struct text_name {
    const char *at;
    size_t bytes;
} text_name;

/* Is it the first `count` bytes of `name`, as put_name of type_text.c writes them? */
static int is_written_so(text_name written, const char *name, size_t count)
{
    size_t i, used = 0;
    for (i = 0; i < count; i++) {
        const unsigned char byte = (unsigned char)name[i];
        char as[8];
        const int is_plain = byte > ' ' && byte != '\\' && byte != 0x7f;
        const size_t bytes =
            (size_t)snprintf(as, sizeof as, is_plain ? "%c" : "\\x%02x", (unsigned)byte);
        if (written.bytes - used < bytes || memcmp(written.at + used, as, bytes) != 0)
            return 0;
        used += bytes;
    }
    return used == written.bytes;
}

/* The name in a line of a type, and *is_type is 1; or in that of a field. */
static text_name name_in(const char *line, size_t bytes, int *is_type)
{
    text_name name = { line, name_bytes(line, bytes) };
    *is_type = 0;
    if (bytes > 5 && memcmp(line, "type ", 5) == 0) {
        const text_name second = { line + 5, name_bytes(line + 5, bytes - 5) };
        const size_t end = 5 + second.bytes;
        *is_type = bytes - end >= 7 && memcmp(line + end, " bytes=", 7) == 0;
        return *is_type ? second : name;
    }
    return name;
}

/* Does `stored` name the field, or the type if `field` is NULL? A dot may be part of a name. */
static int is_stored_name(const char *stored, text_name type, const text_name *field)
{
    const char *dot;
    if (!field)
        return is_written_so(type, stored, strlen(stored));
    for (dot = strchr(stored, '.'); dot; dot = strchr(dot + 1, '.'))
        if (is_written_so(type, stored, (size_t)(dot - stored)) &&
            is_written_so(*field, dot + 1, strlen(dot + 1)))
            return 1;
    return 0;
}

/* Do the lines differ in one name alone, which has changed? `type`: the image's name of the type
 * whose line it is. */
static int is_renamed(const char *ours, size_t one, const char *theirs, size_t other,
                      const haul__stored_text *stored, text_name type)
{
    int is_type, was_type;
    const text_name now = name_in(ours, one, &is_type), was = name_in(theirs, other, &was_type);
    const size_t rest = one - (size_t)(now.at + now.bytes - ours);
    size_t i;
    if (is_type != was_type || rest != other - (size_t)(was.at + was.bytes - theirs) ||
        memcmp(now.at + now.bytes, was.at + was.bytes, rest) != 0)
        return 0;
    for (i = 0; i < stored->rename_count; i++)
        if (is_stored_name(stored->renames[i].stored, type, is_type ? NULL : &was) &&
            is_written_so(now, stored->renames[i].now, strlen(stored->renames[i].now)))
            return 1;
    return 0;
}

/* ---- The texts. */

haul_status haul__type_text_compare(const haul__type_text *ours, const haul__stored_text *theirs,
                                    haul_error *error)
{
    const char *a = ours->text.at, *b = theirs->at, *type = a;
    size_t left = ours->text.count, right = theirs->bytes, one, other, same;
    text_name stored_type = { NULL, 0 }, name;
    int is_type;
    char here[160], there[160], path[HAUL_PATH_BYTES];
    if (left == right && memcmp(a, b, left) == 0)
        return HAUL_OK;
    for (;;) {
        one = line_bytes(a, left);
        other = line_bytes(b, right);
        if (one >= 5 && memcmp(a, "type ", 5) == 0)
            type = a + 5;
        name = name_in(b, other, &is_type);
        stored_type = is_type ? name : stored_type;
        if (one == 0 || other == 0 ||
            ((one != other || memcmp(a, b, one) != 0) &&
             !is_renamed(a, one, b, other, theirs, stored_type)))
            break;
        a += one;
        b += other;
        left -= one;
        right -= other;
    }
    if (left == 0 && right == 0)
        return HAUL_OK;
    show(a, one, here, sizeof here);
    show(b, other, there, sizeof there);
    same = (size_t)(ours->text.at + ours->text.count - type);
    show(type, name_bytes(type, same), path, sizeof path / 2);
    if (type != a + 5 && one > 0) { /* a line within the type */
        const size_t end = strlen(path);
        path[end] = '.';
        show(a, name_bytes(a, one), path + end + 1, sizeof path - end - 1);
    }
    haul__fail(error, HAUL_ERROR_TYPE,
               "the image has other types: \"%s\" there, \"%s\" here. If the program has changed "
               "since, .renames and .growths say how",
               there, here);
    haul__set_path(error->path, path);
    return HAUL_ERROR_TYPE;
}
