/* Tagged pointers of an arena: the host works them out, on the way there and back.
 *
 * No patch can recognise such a word (pack/move_tagged.c). So in an arena it is no slot and no
 * explicit relocation, but an edited range that stays: on the way there the host writes the address
 * on the device, which is known by then, with the tag that the word has now. An arena with such
 * words goes through staging memory. When it moves to another device, the runs that hold them are
 * read back, worked out again and sent.
 *
 * An address with bits of the tag's mask is refused, there and back: address and tag could not be
 * told apart.
 */
#include <stdio.h>

#include "arena/pointers.h"
#include "arena/staying.h"
#include "arena/tagged_pointers.h"
#include "base/list.h"
#include "map/found.h"

#define WORD sizeof(void *)

int haul__tagged_of_graph(haul__contents *c, const haul__found *found)
{
    const size_t count = found->tagged_count;
    size_t i;
    if (count == 0)
        return 1;
    c->tagged =
        haul__allocate(&c->arena->context->allocator, count * sizeof *c->tagged, sizeof(void *));
    if (!c->tagged)
        return 0;
    c->tagged_count = count;
    for (i = 0; i < count; i++) {
        const haul__tagged *tagged = &found->tagged[i];
        c->tagged[i].at = tagged->address - (uintptr_t)c->base;
        c->tagged[i].delta = tagged->delta;
        c->tagged[i].mask = tagged->mask;
        if (!haul__staying_add(c, c->tagged[i].at, WORD))
            return 0;
    }
    return 1;
}

/* ---- There. */

/* The word on the device. 0: its address there has bits of the tag. */
static int word_there(const haul__contents *c, const haul__tagged_place *tagged, uint64_t device,
                      uintptr_t *word)
{
    uintptr_t value = haul__load_word(c->base + tagged->at), address = value & ~tagged->mask;
    *word = value & tagged->mask;
    if (!address || !haul__leads_inside(c, address + tagged->delta))
        return 1;
    address += (uintptr_t)device - (uintptr_t)c->base;
    *word |= address;
    return (address & tagged->mask) == 0;
}

static haul_status refuse(const haul__tagged_place *tagged, haul_error *error)
{
    char path[HAUL_PATH_BYTES];
    haul__fail(
        error, HAUL_ERROR_LIMIT,
        "its address in the copy has bits of its tag, 0x%zx: no memory there keeps these bits free",
        (size_t)tagged->mask);
    snprintf(path, sizeof path, "arena+%zu", tagged->at);
    haul__set_path(error->path, path);
    return HAUL_ERROR_LIMIT;
}

haul_status haul__tagged_check(const haul__contents *c, haul_error *error)
{
    uintptr_t word;
    size_t i;
    for (i = 0; i < c->tagged_count; i++)
        if (!word_there(c, &c->tagged[i], c->there, &word))
            return refuse(&c->tagged[i], error);
    return HAUL_OK;
}

static int ends_before(const void *list, size_t i, uint64_t at)
{
    return ((const haul__tagged_place *)list)[i].at + WORD <= at;
}

/* The first word that ends behind `at`. */
static size_t first_behind(const haul__contents *c, size_t at)
{
    return haul__search(c->tagged, 0, c->tagged_count, at, ends_before);
}

void haul__tagged_edit(const haul__contents *c, unsigned char *memory, size_t first, size_t bytes)
{
    size_t i, byte;
    for (i = first_behind(c, first); i < c->tagged_count && c->tagged[i].at < first + bytes; i++) {
        unsigned char there[WORD];
        uintptr_t word;
        word_there(c, &c->tagged[i], c->there, &word);
        memcpy(there, &word, sizeof there);
        for (byte = 0; byte < WORD; byte++)
            if (c->tagged[i].at + byte - first < bytes)
                memory[c->tagged[i].at + byte - first] = there[byte];
    }
}

/* ---- Back. */

/* The host value for a word that came back. A word that is as it was sent has not changed. 0: it
 * leads nowhere. */
static int word_back(const haul__contents *c, const haul__tagged_place *tagged, uintptr_t word,
                     uint64_t device, uintptr_t *value)
{
    uintptr_t address = word & ~tagged->mask, sent, offset;
    word_there(c, tagged, device, &sent);
    *value = haul__load_word(c->base + tagged->at);
    if (word == sent)
        return 1;
    *value = word & tagged->mask;
    if (!address)
        return 1;
    offset = address - (uintptr_t)device;
    address = (uintptr_t)c->base + offset;
    *value |= address;
    return offset + tagged->delta <= c->bytes && (address & tagged->mask) == 0;
}

haul_status haul__tagged_check_back(const haul__contents *c, const unsigned char *memory,
                                    uint64_t device, haul_error *error)
{
    uintptr_t value;
    size_t i;
    for (i = 0; i < c->tagged_count; i++)
        if (!word_back(c, &c->tagged[i], haul__load_word(memory + c->tagged[i].at), device, &value))
            return haul__fail(error, HAUL_ERROR_GRAPH,
                              "the device has left a tagged pointer at byte %zu of the "
                              "arena that leads out of it",
                              c->tagged[i].at);
    return HAUL_OK;
}

void haul__tagged_scatter(const haul__contents *c, const unsigned char *memory, uint64_t device)
{
    uintptr_t value;
    size_t i;
    for (i = 0; i < c->tagged_count; i++)
        if (word_back(c, &c->tagged[i], haul__load_word(memory + c->tagged[i].at), device, &value))
            memcpy(c->base + c->tagged[i].at, &value, sizeof value);
}

/* ---- From one device to another. */

size_t haul__next_tagged_words(const haul__contents *c, size_t most, size_t *at)
{
    size_t i = first_behind(c, *at), bytes = 0;
    if (i == c->tagged_count)
        return 0;
    *at = c->tagged[i].at;
    for (; i < c->tagged_count && c->tagged[i].at + WORD - *at <= most; i++)
        bytes = c->tagged[i].at + WORD - *at;
    return bytes;
}

haul_status haul__tagged_move(const haul__contents *c, unsigned char *memory, size_t at,
                              size_t bytes, uint64_t from, haul_error *error)
{
    size_t i;
    for (i = first_behind(c, at); i < c->tagged_count && c->tagged[i].at < at + bytes; i++) {
        const haul__tagged_place *tagged = &c->tagged[i];
        uintptr_t word = haul__load_word(memory + (tagged->at - at)),
                  address = word & ~tagged->mask;
        if (!address || address + tagged->delta - (uintptr_t)from > c->bytes)
            continue;
        address += (uintptr_t)(c->there - from);
        if (address & tagged->mask)
            return refuse(tagged, error);
        word = address | (word & tagged->mask);
        memcpy(memory + (tagged->at - at), &word, sizeof word);
    }
    return HAUL_OK;
}
