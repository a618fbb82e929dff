/* The type of a sequence's items: some of the fields, and a random size.
 */
#include <string.h>

#include "support/check.h"
#include "support/types.h"
#include "world.h"

typedef struct choice {
    unsigned row;
    haul_field field;
} choice;

void item_type_make(random_source *random, item_type *t)
{
    const choice rows[] = {
        /* they lead to items of the drawn size, not of sizeof(item) */
        { ~0u, HAUL_ADDRESS(item, next, .target = &t->type) },
        { ROW_OTHER, HAUL_ADDRESS(item, other, .target = &t->type) },
        { ROW_NUMBERS, HAUL_ARRAY(item, numbers, HAUL_COUNT(item, count)) },
        { ROW_INPUT, HAUL_ARRAY(item, input, HAUL_COUNT(item, count), .transfer = HAUL_COPYIN) },
        { ROW_OUTPUT, HAUL_ARRAY(item, output, HAUL_COUNT(item, count), .transfer = HAUL_COPYOUT) },
        { ROW_MANY, HAUL_ADDRESS(item, many, .levels = 2, .target = &t->type,
                                 .count = HAUL_COUNT(item, many_count)) },
        { ROW_NAME, HAUL_STRING(item, name) },
        { ROW_MINE, HAUL_SKIP(item, mine) },
    };
    haul_field chosen[sizeof rows / sizeof *rows];
    size_t count = 0;
    t->rows = (unsigned)random_next(random) & 127u;
    if (random_one_in(random, 2))
        t->rows &= ~(unsigned)(ROW_INPUT | ROW_OUTPUT | ROW_MINE); /* directions take slower ways */
    t->bytes = sizeof(item) + sizeof(void *) * random_below(random, 8);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (i == 0 || t->rows & rows[i].row)
            chosen[count++] = rows[i].field;
    CHECK_STATUS(type_make("item", t->bytes, chosen, count, &t->type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(t->type), HAUL_OK);
}

uint64_t item_pointers(const item_type *t)
{
    static const struct {
        unsigned row;
        size_t at;
    } fields[] = {
        { ROW_OTHER, offsetof(item, other) }, { ROW_NUMBERS, offsetof(item, numbers) },
        { ROW_INPUT, offsetof(item, input) }, { ROW_OUTPUT, offsetof(item, output) },
        { ROW_MANY, offsetof(item, many) },   { ROW_NAME, offsetof(item, name) },
    };
    uint64_t words = 1; /* next */
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
        if (t->rows & fields[k].row)
            words |= (uint64_t)1 << (fields[k].at / sizeof(void *));
    return words;
}
