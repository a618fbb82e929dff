/* Uses of hints as text, so that a program which has counted them once can keep them.
 *
 *     haul-uses-1
 *     52428800 mesh.edges
 *     4096 node
 *
 * A line has a number, a space and the names. Names are never split: those of a hint are compared
 * with the rest of the line, so they may hold spaces and dots. A text is checked as a whole before
 * the first hint is set.
 */
#include <inttypes.h>

#include "context/context.h"
#include "graph/pen.h"
#include "haul/ship.h"
#include "type/type.h"

static const char head[] = "haul-uses-1";

typedef struct uses_line {
    uint64_t uses;
    const char *names;
    size_t bytes; /* of the names */
} uses_line;

static haul_status check_hints(const haul_place_hint *hints, size_t count, haul_error *error)
{
    size_t i;
    if (!hints && count > 0)
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "hints is NULL, and count is not 0");
    for (i = 0; i < count; i++)
        if (!haul__type_is_valid(hints[i].type))
            return haul__fail(error, HAUL_ERROR_ARGUMENT, "hints[%zu] has no type", i);
    return HAUL_OK;
}

haul_status haul_uses_write(haul_context *context, const haul_place_hint *hints, size_t count,
                            const haul_file *file)
{
    haul__pen pen;
    size_t i;
    haul_status status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    status = haul__pen_open(&pen, file, &context->error);
    if (status == HAUL_OK)
        status = check_hints(hints, count, &context->error);
    if (status == HAUL_OK) {
        haul__pen_print(&pen, "%s", head);
        haul__pen_end(&pen);
    }
    for (i = 0; i < count && status == HAUL_OK; i++) {
        haul__pen_print(&pen, "%" PRIu64 " ", hints[i].uses);
        haul__pen_name(&pen, haul_type_name(hints[i].type), 0);
        if (hints[i].field) {
            haul__pen_print(&pen, ".");
            haul__pen_name(&pen, hints[i].field, 0);
        }
        haul__pen_end(&pen);
    }
    if (status == HAUL_OK)
        status = haul__pen_close(&pen, &context->error);
    haul__context_leave(context);
    return status;
}

/* ---- Reading. */

/* Takes the name off the front of the line. 0: another name stands there. */
static int take_name(uses_line *of, const char *name)
{
    for (; *name; name++, of->names++, of->bytes--)
        if (of->bytes == 0 || *of->names != haul__pen_shows(*name))
            return 0;
    return 1;
}

static int names(uses_line of, const haul_place_hint *hint)
{
    return take_name(&of, haul_type_name(hint->type)) &&
           (!hint->field || (take_name(&of, ".") && take_name(&of, hint->field))) && of.bytes == 0;
}

/* Reads the line at `text` and answers the next one; NULL: it is damaged. */
static const char *read_line(const char *text, const char *end, uses_line *of)
{
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    const char *at = text;
    if (!stop)
        return NULL;
    for (of->uses = 0; at < stop && *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (of->uses > (UINT64_MAX - digit) / 10)
            return NULL;
        of->uses = of->uses * 10 + digit;
    }
    if (at == text || at == stop || *at != ' ')
        return NULL;
    of->names = at + 1;
    of->bytes = (size_t)(stop - of->names);
    return stop + 1;
}

/* Sets the uses of hints, or only checks the text. Answers the number of the damaged line; 0: there
 * is none. */
static size_t read_lines(const char *text, const char *end, haul_place_hint *hints, size_t count)
{
    size_t number, i;
    if ((size_t)(end - text) < sizeof head || memcmp(text, head, sizeof head - 1) != 0 ||
        text[sizeof head - 1] != '\n')
        return 1;
    text += sizeof head;
    for (number = 2; text < end; number++) {
        uses_line of;
        text = read_line(text, end, &of);
        if (!text)
            return number;
        for (i = 0; i < count; i++)
            if (names(of, &hints[i]))
                hints[i].uses = of.uses;
    }
    return 0;
}

haul_status haul_uses_read(haul_context *context, const void *text, size_t bytes,
                           haul_place_hint *hints, size_t count)
{
    haul_status status = haul__context_enter(context);
    size_t damaged;
    if (status != HAUL_OK)
        return status;
    status = text ? check_hints(hints, count, &context->error)
                  : haul__fail(&context->error, HAUL_ERROR_ARGUMENT, "the text of uses is NULL");
    if (status == HAUL_OK) {
        const char *const begin = text;
        damaged = read_lines(begin, begin + bytes, NULL, 0);
        if (damaged)
            status = haul__fail(&context->error, HAUL_ERROR_FORMAT,
                                "line %zu of the text of uses is damaged", damaged);
        else
            read_lines(begin, begin + bytes, hints, count);
    }
    haul__context_leave(context);
    return status;
}
