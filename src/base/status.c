/* Statuses in words, and error records.
 */
#include <stdio.h>

#include "base/status.h"

unsigned haul_version(void)
{
    return HAUL_VERSION;
}

const char *haul_status_name(haul_status status)
{
    switch (status) {
#define HAUL__NAME(name, number, text)                                                             \
    case name:                                                                                     \
        return #name;
        HAUL_STATUS_LIST(HAUL__NAME)
#undef HAUL__NAME
    }
    return "HAUL_ERROR_UNKNOWN";
}

const char *haul_status_text(haul_status status)
{
    switch (status) {
#define HAUL__TEXT(name, number, text)                                                             \
    case name:                                                                                     \
        return text;
        HAUL_STATUS_LIST(HAUL__TEXT)
#undef HAUL__TEXT
    }
    return "not a status of this library";
}

void haul__clear_error(haul_error *error)
{
    error->status = HAUL_OK;
    error->path[0] = error->other_path[0] = error->text[0] = '\0';
}

haul_status haul__fail(haul_error *error, haul_status status, const char *format, ...)
{
    va_list arguments;
    if (!error)
        return status;
    haul__clear_error(error);
    error->status = status;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}

void haul__set_path(char *path, const char *text)
{
    static const char gap[] = "...";
    size_t length = strlen(text), head, tail;
    if (length < HAUL_PATH_BYTES) {
        memcpy(path, text, length + 1);
        return;
    }
    head = (HAUL_PATH_BYTES - sizeof gap) / 2;
    tail = HAUL_PATH_BYTES - sizeof gap - head;
    memcpy(path, text, head);
    memcpy(path + head, gap, sizeof gap - 1);
    memcpy(path + head + sizeof gap - 1, text + length - tail, tail + 1);
}
