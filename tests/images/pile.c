#include "images/shapes.h"

#include <stdlib.h>

void *pile_take(pile *p, size_t bytes)
{
    void *taken;
    bytes = (bytes + 15) & ~(size_t)15;
    if (p->used + bytes > sizeof p->memory)
        exit(2); /* a builder makes larger graphs than shapes.h says */
    taken = p->memory + p->used;
    p->used += bytes + p->gap;
    return memset(taken, 0, bytes);
}

char *pile_string(pile *p, choices *c)
{
    const uint32_t count = choose(c, 7);
    char *string = pile_take(p, count + 1);
    memset(string, 's', count);
    return string;
}
