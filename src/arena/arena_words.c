/* Special words of contents: pointers of an arena that no bit tells.
 *
 * A bit tells a word on the grid that holds the address of a byte in the arena. Any other pointer
 * is listed: it lies off the grid (in a packed struct), points beside its target, or has a tag. No
 * such word comes back with the data.
 *
 * - Explicit relocations are patched by a list of their offsets, with the same difference as all
 *   others. Their targets must lie in the arena.
 * - The host writes tagged pointers (pack/special_words.c) on the way there, with the tag that the
 *   word has now. So an arena with such words goes through staging memory.
 *
 * Few graphs have any, so the list is made when the arena is shipped. Until then, typed allocation
 * notes runs of objects, not words.
 */
#include <stdio.h>

#include "arena/arena_words.h"
#include "arena/pointers.h"
#include "arena/staying.h"
#include "base/sort.h"
#include "type/elements.h"

/* ---- Listed. */

static int add_word(haul__contents *c, const haul__special_word *word)
{
    if (!haul__grow(&c->arena->context->allocator, &c->words, &c->word_capacity, c->word_count + 1,
                    sizeof *c->words))
        return 0;
    c->words[c->word_count++] = *word;
    c->explicit_count += word->kind == HAUL__EXPLICIT;
    return haul__staying_add(c, word->address - (uintptr_t)c->base, word->bytes);
}

int haul__words_of_object(haul__contents *c, const haul__walk *walk, size_t at)
{
    haul__special_word word = { 0, 0, 0, 0, HAUL__WORD, HAUL__EXPLICIT, 0, 0 };
    size_t i = 0, offset;
    while (haul__next_pointer(walk, &i, &offset)) {
        word.address = (uintptr_t)c->base + at + offset;
        if (word.address % HAUL__WORD != 0 && !add_word(c, &word))
            return 0;
    }
    return 1;
}

/* A fixed word is a range that stays, edited if it differs in the copy. A distance stays as it is,
 * because the arena's layout does. */
static int add_fixed(haul__contents *c, const haul__special_word *word)
{
    const size_t at = word->address - (uintptr_t)c->base;
    const uint32_t narrow = (uint32_t)word->addend;
    const void *becomes =
        word->bytes == sizeof narrow ? (const void *)&narrow : (const void *)&word->addend;
    if (word->kind == HAUL__DISTANCE || memcmp(c->base + at, becomes, word->bytes) == 0)
        return haul__staying_add(c, at, word->bytes);
    return haul__staying_add_edited(c, at, word->bytes, becomes);
}

int haul__words_of_graph(haul__contents *c, const haul__found *found)
{
    size_t i;
    for (i = 0; i < found->special_count; i++) {
        const haul__special_word *word = &found->special[i];
        if (!(haul__is_pointer(word) ? add_word(c, word) : add_fixed(c, word)))
            return 0;
    }
    c->before = found->room_before;
    c->behind = found->room_behind;
    return 1;
}

static int comes_before(const void *a, const void *b)
{
    return ((const haul__special_word *)a)->address < ((const haul__special_word *)b)->address;
}

void haul__words_sort(haul__contents *c)
{
    haul__sort(c->words, c->word_count, sizeof *c->words, comes_before);
}

/* ---- The contents as a space. */

static size_t place(const haul__space *space, const haul__special_word *word)
{
    return word->address - (uintptr_t)space->contents->base;
}

/* An explicit relocation that leads out stays as it is, unless it becomes null. A tagged pointer
 * that leads out has no elements. */
static int to_copy(const haul__space *space, const haul__special_word *word, uintptr_t target,
                   uint64_t base, uintptr_t *copy)
{
    if (word->kind == HAUL__TAGGED && !haul__leads_inside(space->contents, target))
        return 0;
    *copy = haul__as_sent(space->contents, target, base);
    return *copy != 0;
}

static int to_host(const haul__space *space, uintptr_t copy, uint64_t base, uintptr_t *target)
{
    return haul__as_on_host(space->contents, copy, base, target);
}

static void name(const haul__space *space, const haul__special_word *word)
{
    char path[HAUL_PATH_BYTES];
    snprintf(path, sizeof path, "arena+%zu", place(space, word));
    haul__set_path(space->error->path, path);
}

haul__space haul__contents_space(const haul__contents *c, uint64_t device, haul_error *error)
{
    haul__space space;
    space.plan = NULL;
    space.contents = c;
    space.words = c->words;
    space.count = c->word_count;
    space.explicit_count = c->explicit_count;
    space.base = space.final_base = device;
    space.bytes = c->bytes;
    space.error = error;
    space.place = place;
    space.to_copy = to_copy;
    space.to_host = to_host;
    space.name = name;
    return space;
}

/* ---- To the device. */

int haul__next_explicit_outside(const haul__contents *c, size_t *i)
{
    for (; *i < c->word_count; ++*i) {
        const haul__special_word *word = &c->words[*i];
        const uintptr_t value = haul__load_word((const void *)word->address);
        const uintptr_t addend = word->is_limit ? 0 : (uintptr_t)word->addend;
        if (word->kind == HAUL__EXPLICIT && value && !haul__leads_inside(c, value + addend))
            return 1;
    }
    return 0;
}

/* What a tagged pointer becomes on the device. */
static haul_status device_word(const haul__space *space, const haul__special_word *word,
                               uintptr_t *result)
{
    uint64_t becomes = 0;
    haul_status status =
        haul__special_to_copy(space, word, haul__load_word((const void *)word->address), &becomes);
    *result = (uintptr_t)becomes;
    return status;
}

haul_status haul__words_check(const haul__contents *c, haul_error *error)
{
    const haul__space space = haul__contents_space(c, c->device_address, error);
    haul_status status = HAUL_OK;
    uintptr_t unused;
    size_t i;
    for (i = 0; i < c->word_count && status == HAUL_OK; i++)
        status = device_word(&space, &c->words[i], &unused);
    return status;
}

void haul__words_edit(const haul__contents *c, unsigned char *memory, size_t first, size_t bytes)
{
    haul_error unused;
    const haul__space space = haul__contents_space(c, c->device_address, &unused);
    size_t i = haul__first_special(c->words, c->word_count, (uintptr_t)c->base + first), byte;
    for (; i < c->word_count && place(&space, &c->words[i]) < first + bytes; i++) {
        const size_t at = place(&space, &c->words[i]);
        unsigned char as_bytes[HAUL__WORD];
        uintptr_t word;
        if (c->words[i].kind != HAUL__TAGGED)
            continue;
        device_word(&space, &c->words[i], &word);
        memcpy(as_bytes, &word, sizeof as_bytes);
        for (byte = 0; byte < HAUL__WORD; byte++)
            if (at + byte - first < bytes)
                memory[at + byte - first] = as_bytes[byte];
    }
}

/* ---- Back to the host. */

static int word_back(const haul__space *space, const haul__special_word *word,
                     const unsigned char *memory, uintptr_t *value)
{
    return haul__special_to_host(space, word, haul__load_word((const void *)word->address),
                                 haul__load_word(memory + place(space, word)), value);
}

haul_status haul__words_check_back(const haul__contents *c, const unsigned char *memory,
                                   uint64_t device, size_t *outside, haul_error *error)
{
    const haul__space space = haul__contents_space(c, device, error);
    uintptr_t value;
    size_t i;
    for (i = 0; i < c->word_count; i++) {
        if (word_back(&space, &c->words[i], memory, &value))
            continue;
        if (!outside)
            return haul__fail(
                error, HAUL_ERROR_GRAPH,
                "the device has left a %spointer at byte %zu of the arena that leads out of it",
                c->words[i].kind == HAUL__TAGGED ? "tagged " : "", place(&space, &c->words[i]));
        ++*outside;
    }
    return HAUL_OK;
}

void haul__words_scatter(const haul__contents *c, const unsigned char *memory, uint64_t device)
{
    const haul__space space = haul__contents_space(c, device, NULL);
    uintptr_t value;
    size_t i;
    for (i = 0; i < c->word_count; i++)
        if (word_back(&space, &c->words[i], memory, &value))
            memcpy((void *)c->words[i].address, &value, sizeof value);
}
