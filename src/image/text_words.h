/* The words of a line of text that comes from strangers. The first mistake is noted. All later
 * reads answer 0 and take no bytes.
 */
#ifndef HAUL_IMAGE_TEXT_WORDS_H
#define HAUL_IMAGE_TEXT_WORDS_H

#include "base/base.h"

typedef struct haul__words {
    const char *at, *end; /* of the line, without its '\n' */
    const char *fault;    /* in words; NULL: none */
} haul__words;

/* Takes the text if it comes next. */
int haul__words_have(haul__words *words, const char *text);
/* The same; otherwise it is a mistake. */
void haul__words_want(haul__words *words, const char *text);
/* A number up to `most`. */
uint64_t haul__words_number(haul__words *words, uint64_t most);
size_t haul__words_size(haul__words *words);
/* One with a sign, if it is below 0 or `is_signed`. */
int64_t haul__words_signed(haul__words *words, int is_signed);
uint64_t haul__words_hexadecimal(haul__words *words, uint64_t most);
/* A name up to the next space, as put_name of type_text.c writes it, into `room` bytes. */
void haul__words_name(haul__words *words, char *name, size_t room);
/* The line must have ended. */
void haul__words_end(haul__words *words);

#endif
