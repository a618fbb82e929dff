#include "image/text_words.h"

static void note(haul__words *w, const char *fault)
{
    if (!w->fault)
        w->fault = fault;
    w->at = w->end;
}

int haul__words_have(haul__words *w, const char *text)
{
    const size_t bytes = strlen(text);
    if ((size_t)(w->end - w->at) < bytes || memcmp(w->at, text, bytes) != 0)
        return 0;
    w->at += bytes;
    return 1;
}

void haul__words_want(haul__words *w, const char *text)
{
    if (!haul__words_have(w, text))
        note(w, "a word is missing, or none that can stand there");
}

/* The value of a digit; 16: it is none. */
static unsigned digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

static uint64_t number(haul__words *w, unsigned base, uint64_t most)
{
    const char *first = w->at;
    uint64_t value = 0;
    for (; w->at < w->end && digit(*w->at) < base; w->at++) {
        const unsigned next = digit(*w->at);
        if (next > most || value > (most - next) / base) {
            note(w, "a number is too large");
            return 0;
        }
        value = value * base + next;
    }
    if (w->at == first)
        note(w, "a number is missing");
    return w->fault ? 0 : value;
}

uint64_t haul__words_number(haul__words *w, uint64_t most)
{
    return number(w, 10, most);
}

size_t haul__words_size(haul__words *w)
{
    return (size_t)number(w, 10, SIZE_MAX);
}

int64_t haul__words_signed(haul__words *w, int is_signed)
{
    const int is_below = haul__words_have(w, "-");
    uint64_t value;
    if (is_signed && !is_below)
        haul__words_want(w, "+");
    value = number(w, 10, (uint64_t)INT64_MAX + (is_below ? 1 : 0));
    if (!is_below)
        return (int64_t)value;
    return value > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)value;
}

uint64_t haul__words_hexadecimal(haul__words *w, uint64_t most)
{
    return number(w, 16, most);
}

/* A byte of a name: as it is, or \xNN. */
static char name_byte(haul__words *w)
{
    uint64_t value;
    const char *end = w->end;
    if (*w->at != '\\')
        return *w->at++;
    haul__words_want(w, "\\x");
    if (w->end - w->at > 2)
        w->end = w->at + 2; /* the number ends there */
    value = number(w, 16, 255);
    if (!w->fault && value == 0)
        note(w, "a name has a byte of 0");
    w->end = end;
    if (w->fault)
        w->at = end;
    return (char)(unsigned char)value;
}

void haul__words_name(haul__words *w, char *name, size_t room)
{
    size_t bytes = 0;
    while (w->at < w->end && *w->at != ' ' && bytes + 1 < room)
        name[bytes++] = name_byte(w);
    name[bytes] = '\0';
    if (bytes == 0)
        note(w, "a name is missing");
    else if (w->at < w->end && *w->at != ' ')
        note(w, "a name is too long");
}

void haul__words_end(haul__words *w)
{
    if (w->at < w->end)
        note(w, "it goes on behind its end");
}
