/* The lists beside a map (map/found.h): sorted by address, each word or object once.
 */
#include "layout/lists.h"
#include "base/sort.h"
#include "context/pulse.h"

/* ---- Pointers to no elements. */

static int address_before(const void *a, const void *b)
{
    return *(const uintptr_t *)a < *(const uintptr_t *)b;
}

static int is_before_pointer(const void *empty, size_t i, uint64_t pointer)
{
    return ((const uintptr_t *)empty)[i] < pointer;
}

int haul__was_empty(const haul__found *found, uintptr_t pointer)
{
    const size_t i = haul__search(found->empty, 0, found->empty_count, pointer, is_before_pointer);
    return i < found->empty_count && found->empty[i] == pointer;
}

/* ---- Ends of arrays. */

static int end_before(const void *a, const void *b)
{
    return ((const haul__array_end *)a)->word < ((const haul__array_end *)b)->word;
}

/* A word that two objects cover may be listed by both. */
static haul_status sort_ends(haul_context *context, haul__found *found)
{
    const haul_status status = haul__sort_and_pulse(context, found->ends, found->end_count,
                                                    sizeof *found->ends, end_before);
    size_t i, left = 0;
    for (i = 0; i < found->end_count && status == HAUL_OK; i++)
        if (left == 0 || found->ends[left - 1].word != found->ends[i].word)
            found->ends[left++] = found->ends[i];
    found->end_count = status == HAUL_OK ? left : found->end_count;
    return status;
}

static int is_before_end(const void *ends, size_t i, uint64_t word)
{
    return ((const haul__array_end *)ends)[i].word < word;
}

size_t haul__first_array_end(const haul__found *found, uintptr_t address)
{
    return haul__search(found->ends, 0, found->end_count, address, is_before_end);
}

const haul__array_end *haul__array_end_at(const haul__found *found, uintptr_t word)
{
    const size_t i = haul__first_array_end(found, word);
    return i < found->end_count && found->ends[i].word == word ? &found->ends[i] : NULL;
}

/* ---- Special words, and objects to rebuild. */

static int special_before(const void *a, const void *b)
{
    const haul__special_word *x = a, *y = b;
    return x->address != y->address ? x->address < y->address : x->kind < y->kind;
}

#define SPECIAL_NS 64u /* that a special word takes, about */

static haul_status sort_special(haul_context *context, haul__found *found)
{
    size_t i, left = 0;
    haul_status status = haul__sort_and_pulse(context, found->special, found->special_count,
                                              sizeof *found->special, special_before);
    found->explicit_count = 0;
    for (i = 0; i < found->special_count && status == HAUL_OK; i++) {
        status = haul__pulse_behind(context, i, SPECIAL_NS);
        if (left > 0 && !special_before(&found->special[left - 1], &found->special[i]))
            continue;
        found->special[left] = found->special[i];
        found->special[left].is_empty = (uint8_t)haul__was_empty(found, found->special[i].address);
        found->explicit_count += found->special[left++].kind == HAUL__EXPLICIT;
    }
    found->special_count = left;
    return status;
}

static int dependent_before(const void *a, const void *b)
{
    const haul__dependent *x = a, *y = b;
    return x->order != y->order ? x->order < y->order : x->address < y->address;
}

static haul_status sort_dependents(haul_context *context, haul__found *found)
{
    const haul_status status =
        haul__sort_and_pulse(context, found->dependents, found->dependent_count,
                             sizeof *found->dependents, dependent_before);
    size_t i, left = 0;
    if (status != HAUL_OK)
        return status;
    for (i = 0; i < found->dependent_count; i++)
        if (left == 0 || dependent_before(&found->dependents[left - 1], &found->dependents[i]))
            found->dependents[left++] = found->dependents[i];
    found->dependent_count = left;
    return HAUL_OK;
}

haul_status haul__lists_sort(haul_context *context, haul__found *found)
{
    haul_status status = sort_ends(context, found);
    if (status == HAUL_OK)
        status = haul__sort_and_pulse(context, found->empty, found->empty_count,
                                      sizeof *found->empty, address_before);
    if (status == HAUL_OK)
        status = sort_special(context, found);
    return status == HAUL_OK ? sort_dependents(context, found) : status;
}
