/* The host's own steps between calls.
 */
#include "attack.h"
#include "calls.h"
#include "host.h"
#include "support/check.h"

/* Some bytes of some object change: contents alone. */
static void change_contents(world *w)
{
    object_kind kind = random_one_in(&w->random, 2) ? ARRAY : ITEM;
    int i = object_some(w, kind, -1);
    if (i < 0)
        return;
    size_t begin = kind == ITEM ? sizeof(item) : 0;
    if (begin == w->objects[i].bytes)
        return;
    size_t at = begin + random_below(&w->random, w->objects[i].bytes - begin);
    unsigned char byte = (unsigned char)random_next(&w->random);
    object_write(w, i, at, &byte, 1);
    attack_say("  the host changes object %d", i);
}

void step_host_change(world *w)
{
    for (int i = 0; i < 4; i++)
        change_contents(w);
}

/* New pointers and counts: plans may be stale then. */
void step_host_rewire(world *w)
{
    int i = (int)random_below(&w->random, OBJECTS_MAX);
    if (!w->objects[i].memory)
        return;
    if (w->objects[i].arena >= 0)
        settle_arena(w, w->objects[i].arena, NULL);
    if (!w->objects[i].memory)
        return; /* the room of a nursery, which what has come fills */
    attack_say("  the host draws object %d anew", i);
    object_redraw(w, i);
}

void step_host_new(world *w)
{
    static const object_kind kinds[] = { ITEM, ITEM, ITEM, ARRAY, ARRAY, MANY, NAME };
    object_kind kind = kinds[random_below(&w->random, sizeof kinds / sizeof *kinds)];
    size_t bytes = w->items->bytes;
    if (kind == ARRAY)
        bytes = 8 * (1 + random_below(&w->random, random_one_in(&w->random, 8) ? 20000 : 40));
    else if (kind == MANY)
        bytes = sizeof(void *) * (1 + random_below(&w->random, 6));
    else if (kind == NAME)
        bytes = 1 + random_below(&w->random, 30);
    attack_say("  object %d: kind %d, %zu bytes", object_new(w, kind, bytes), (int)kind, bytes);
}

/* An object that no plan or shipment knows goes, with all pointers to it. */
void step_host_drop(world *w)
{
    int i = (int)random_below(&w->random, OBJECTS_MAX);
    const object *o = &w->objects[i];
    if (!o->memory || o->held || o->arena >= 0)
        return;
    object_unlink(w, i);
    attack_say("  object %d goes", i);
    object_drop(w, i);
}
