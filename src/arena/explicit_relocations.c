/* Explicit relocations: pointers of an arena that no bit tells.
 *
 * A bit tells a word on the grid that holds the address of a byte in the arena. A pointer off the
 * grid (in a packed struct), or one that leads beside its target, is listed with its offset and
 * with the distance from its value to its target; the sum of value and distance must lie in the
 * arena. A device patches such words by a list of their offsets, and adds the same difference as
 * to all others. They do not come back with the data.
 *
 * Few graphs have any, so the list is made when the arena is shipped. Until then, typed allocation
 * notes runs of objects, not words.
 */
#include "arena/explicit_relocations.h"
#include "arena/pointers.h"
#include "arena/staying.h"
#include "base/sort.h"
#include "map/found.h"
#include "type/elements.h"

#define WORD sizeof(void *)

static int add_word(haul__contents *c, size_t at, uintptr_t delta)
{
    if (!haul__grow(&c->arena->context->allocator, &c->explicit, &c->explicit_capacity,
                    c->explicit_count + 1, sizeof *c->explicit))
        return 0;
    c->explicit[c->explicit_count].at = at;
    c->explicit[c->explicit_count++].delta = delta;
    return haul__staying_add(c, at, WORD);
}

static int comes_before(const void *a, const void *b)
{
    return ((const haul__explicit_place *)a)->at < ((const haul__explicit_place *)b)->at;
}

void haul__explicit_sort(haul__contents *c)
{
    haul__sort(c->explicit, c->explicit_count, sizeof *c->explicit, comes_before);
}

/* ---- Listed. */

int haul__explicit_of_object(haul__contents *c, const haul__walk *walk, size_t at)
{
    size_t i = 0, offset;
    while (haul__next_pointer(walk, &i, &offset))
        if ((at + offset) % WORD != 0 && !add_word(c, at + offset, 0))
            return 0;
    return 1;
}

int haul__explicit_of_graph(haul__contents *c, const haul__found *found)
{
    size_t i;
    for (i = 0; i < found->explicit_count; i++)
        if (!add_word(c, found->explicit[i].address - (uintptr_t)c->base, found->explicit[i].delta))
            return 0;
    c->before = found->room_before;
    c->behind = found->room_behind;
    return 1;
}

/* ---- There. */

int haul__next_explicit_outside(const haul__contents *c, size_t *i)
{
    for (; *i < c->explicit_count; ++*i) {
        uintptr_t value = haul__load_word(c->base + c->explicit[*i].at);
        if (value && !haul__leads_inside(c, value + c->explicit[*i].delta))
            return 1;
    }
    return 0;
}

/* ---- Back. */

/* Targets are compared and translated, not values; null is null on both sides. 0: the word leads
 * nowhere. */
static int word_back(const haul__contents *c, const haul__explicit_place *odd,
                     const unsigned char *memory, uint64_t device, uintptr_t *value)
{
    uintptr_t old = haul__load_word(c->base + odd->at), word = haul__load_word(memory + odd->at);
    int is_good =
        haul__word_back(c, old ? old + odd->delta : 0, word ? word + odd->delta : 0, device, value);
    *value = *value ? *value - odd->delta : 0;
    return is_good;
}

haul_status haul__explicit_check_back(const haul__contents *c, const unsigned char *memory,
                                      uint64_t device, haul_error *error)
{
    uintptr_t value;
    size_t i;
    for (i = 0; i < c->explicit_count; i++)
        if (!word_back(c, &c->explicit[i], memory, device, &value))
            return haul__fail(
                error, HAUL_ERROR_GRAPH,
                "the device has left a pointer at byte %zu of the arena that leads out of it",
                c->explicit[i].at);
    return HAUL_OK;
}

void haul__explicit_scatter(const haul__contents *c, const unsigned char *memory, uint64_t device)
{
    uintptr_t value;
    size_t i;
    for (i = 0; i < c->explicit_count; i++)
        if (word_back(c, &c->explicit[i], memory, device, &value))
            memcpy(c->base + c->explicit[i].at, &value, sizeof value);
}
