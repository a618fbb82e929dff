/* The type of a sequence's items: some of the rows, some size.
 */
#include <string.h>

#include "support/check.h"
#include "world.h"

static const haul_rule goes_in = { .direction = HAUL_IN };
static const haul_rule comes_out = { .direction = HAUL_OUT };

typedef struct choice {
    unsigned row;
    haul_ref ref;
} choice;

/* Rows lead to items of the drawn size, not of sizeof(item). */
static haul_ref of_any_size(haul_ref row)
{
    row.element_bytes = 0;
    return row;
}

void item_type_make(random_source *random, item_type *t)
{
    const choice rows[] = {
        { ~0u, HAUL_OBJECT_AS(item, next, &t->type) },
        { ROW_OTHER, HAUL_OBJECT_AS(item, other, &t->type) },
        { ROW_NUMBERS, HAUL_ARRAY(item, numbers, HAUL_NS(item, count)) },
        { ROW_INPUT, HAUL_ARRAY_BY(item, input, &goes_in, HAUL_NS(item, count)) },
        { ROW_OUTPUT, HAUL_ARRAY_BY(item, output, &comes_out, HAUL_NS(item, count)) },
        { ROW_MANY, HAUL_POINTERS(item, many, &t->type, HAUL_NS(item, many_count)) },
        { ROW_NAME, HAUL_STRING(item, name) },
        { ROW_MINE, HAUL_SKIP(item, mine) },
    };
    haul_ref chosen[sizeof rows / sizeof *rows];
    size_t count = 0;
    t->rows = (unsigned)random_next(random) & 127u;
    if (random_one_in(random, 2))
        t->rows &= ~(unsigned)(ROW_INPUT | ROW_OUTPUT | ROW_MINE); /* directions take slower ways */
    t->bytes = sizeof(item) + sizeof(void *) * random_below(random, 8);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (i == 0 || t->rows & rows[i].row)
            chosen[count++] = rows[i].row == ROW_MANY ? of_any_size(rows[i].ref) : rows[i].ref;
    CHECK_STATUS(haul_type_create("item", t->bytes, chosen, count, &t->type), HAUL_OK);
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
