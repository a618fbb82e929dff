#include "images/reader.h"

void reader_wrong(reader *r, const void *at, const char *why)
{
    if (r->wrong)
        return;
    r->wrong = why;
    r->wrong_at = (uintptr_t)at - (uintptr_t)r->block;
}

int reader_holds(reader *r, const void *at, size_t bytes)
{
    const uintptr_t offset = (uintptr_t)at - (uintptr_t)r->block;
    if (offset <= r->bytes && bytes <= r->bytes - offset)
        return 1;
    reader_wrong(r, at, "an object leaves the block");
    return 0;
}

void reader_role(reader *r, const void *at, size_t bytes, unsigned first, unsigned others)
{
    size_t i;
    if (bytes == 0 || !reader_holds(r, at, bytes))
        return;
    for (i = 0; i < bytes; i++)
        r->role[(size_t)((const unsigned char *)at - r->block) + i] |=
            (uint8_t)(i == 0 ? first : others);
}

void reader_string(reader *r, const void *string)
{
    const unsigned char *at = string;
    if (!at || !reader_holds(r, at, 1))
        return;
    while (reader_holds(r, at, 1) && *at)
        reader_role(r, at++, 1, ROLE_DATA, ROLE_DATA);
    reader_role(r, at, 1, ROLE_END, ROLE_END);
}

void reader_visit(reader *r, unsigned kind, const void *object, size_t bytes)
{
    uint32_t *seen;
    if (!object || !reader_holds(r, object, bytes))
        return;
    seen = &r->seen[(const unsigned char *)object - r->block];
    if (*seen >> kind & 1)
        return;
    *seen |= 1u << kind;
    if (r->object_count == READER_OBJECTS) {
        reader_wrong(r, object, "there are more objects than the block can hold");
        return;
    }
    r->objects[r->object_count].at = r->block + ((const unsigned char *)object - r->block);
    r->objects[r->object_count++].kind = kind;
}

static int contradicts(unsigned role)
{
    const unsigned words = ROLE_WORD | ROLE_IN_WORD, distances = ROLE_DISTANCE | ROLE_IN_DISTANCE;
    const unsigned data = role & (ROLE_DATA | ROLE_END), number = role & ROLE_NUMBER;
    return (data && (role & (ROLE_NUMBER | words | distances))) ||
           (number && (role & (words | distances))) || ((role & words) && (role & distances)) ||
           (role & words) == words || (role & distances) == distances;
}

void reader_run(reader *r, reader_visitor *visitor, unsigned kind, void *root)
{
    size_t i;
    memset(r->role, 0, r->bytes);
    memset(r->seen, 0, r->bytes * sizeof *r->seen);
    r->object_count = r->visited = 0;
    r->wrong = NULL;
    reader_visit(r, kind, root, 1);
    while (r->visited < r->object_count && !r->wrong) {
        const reader_object *o = &r->objects[r->visited++];
        visitor(r, o->kind, o->at);
    }
    for (i = 0; i < r->bytes; i++)
        if (contradicts(r->role[i]))
            reader_wrong(r, r->block + i,
                         "a byte is data for one object, and a pointer or a count for another");
}
