/* Worlds: memory by mmap, and a sorted array of blocks.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/check.h"
#include "support/world.h"

enum { ALIGNMENT = 65536, PIECE = 65536 };

/* Fills up to `end` and on to the end of a piece. */
static void fill(world *w, size_t end)
{
    size_t left;
    for (; w->filled < w->bytes && w->filled < (end + PIECE - 1) / PIECE * PIECE;
         w->filled += left < sizeof w->word ? left : sizeof w->word) {
        left = w->bytes - w->filled;
        memcpy(w->memory + w->filled, &w->word, left < sizeof w->word ? left : sizeof w->word);
    }
}

void world_start(world *w, size_t bytes)
{
    world_start_of(w, bytes, UINTPTR_MAX / 0xFF * 0xC5);
}

void world_start_of(world *w, size_t bytes, uintptr_t word)
{
    unsigned char *all;
    size_t before;
    memset(w, 0, sizeof *w);
    all = mmap(NULL, bytes + ALIGNMENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(all != MAP_FAILED);
    before = (size_t)(-(uintptr_t)all % ALIGNMENT);
    if (before)
        munmap(all, before);
    w->memory = all + before;
    w->bytes = bytes;
    munmap(w->memory + bytes, ALIGNMENT - before);
    w->word = word;
    fill(w, 1);
}

void world_end(world *w)
{
    munmap(w->memory, w->bytes);
    free(w->blocks);
}

void world_note(world *w, void *at, size_t bytes)
{
    if (w->count == w->capacity) {
        w->capacity = w->capacity ? 2 * w->capacity : 64;
        w->blocks = realloc(w->blocks, w->capacity * sizeof *w->blocks);
        CHECK(w->blocks != NULL);
    }
    w->blocks[w->count].at = at;
    w->blocks[w->count++].bytes = bytes;
}

void *world_take(world *w, size_t bytes, size_t alignment)
{
    size_t at = (w->used + (w->count ? w->gap : 0) + alignment - 1) / alignment * alignment;
    CHECK(bytes <= w->bytes && at <= w->bytes - bytes);
    fill(w, at + bytes + 1);
    w->used = at + bytes;
    world_note(w, w->memory + at, bytes);
    return w->memory + at;
}

char *world_text(world *w, const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(world_take(w, bytes, 1), text, bytes);
}

const world_block *world_block_before(const world *w, const void *address)
{
    size_t low = 0, high = w->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)w->blocks[middle].at <= (uintptr_t)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &w->blocks[low - 1] : NULL;
}

int world_holds(const world *w, const void *address, size_t bytes)
{
    const world_block *found = world_block_before(w, address);
    size_t at;
    if (!found)
        return 0;
    at = (size_t)((uintptr_t)address - (uintptr_t)found->at);
    return at <= found->bytes && bytes <= found->bytes - at;
}

void world_protect(world *w, int protection)
{
    size_t pages = (w->bytes + 4095) / 4096 * 4096;
    CHECK(mprotect(w->memory, pages, protection) == 0);
}

unsigned char *world_picture(const world *w)
{
    unsigned char *picture = malloc(w->bytes);
    CHECK(picture != NULL);
    return memcpy(picture, w->memory, w->bytes);
}

void world_check_changed_by(world *w, unsigned char *before, void (*function)(void *),
                            void *argument)
{
    unsigned char *after = world_picture(w);
    memcpy(w->memory, before, w->bytes);
    function(argument);
    CHECK_BYTES(after, w->memory, w->bytes);
    free(after);
    free(before);
}

uintptr_t world_free_address(size_t bytes)
{
#ifdef HAUL_EMULATED /* it may have 4 GiB of addresses */
    const size_t apart = (size_t)1 << 28;
#else
    const size_t apart = (size_t)1 << (sizeof(void *) == 8 ? 39 : 28);
#endif
    void *near = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *far;
    uintptr_t wanted = (uintptr_t)near & ~(uintptr_t)65535;
    CHECK(near != MAP_FAILED);
    wanted = wanted > 2 * apart ? wanted - apart : wanted + apart; /* emulators give low ones */
    far = mmap((void *)wanted, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(far == (void *)wanted);
    munmap(near, bytes);
    munmap(far, bytes);
    return wanted;
}
