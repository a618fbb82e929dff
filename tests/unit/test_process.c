/* A snapshot of this process: its answers about blocks and mappings, in any order of questions.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "haul.h"
#include "support/builds.h"
#include "support/check.h"

/* A block of BLOCK bytes has a mapping of its own. No page has more than PAGE bytes. */
enum { BLOCKS = 3, BLOCK = 1 << 20, PAGE = 65536, PAGES = 6, PLACES = BLOCKS + 3 };

static void *take(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    (void)alignment;
    return malloc(bytes);
}

static void give(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

static const haul_allocator allocator = { NULL, take, give, NULL, NULL };

static void *open_snapshot(void)
{
    void *snapshot;
    CHECK_STATUS(haul_this_process()->open(&allocator, &snapshot), HAUL_OK);
    CHECK(snapshot != NULL);
    return snapshot;
}

/* haul_memory_kind; 0: nothing is there. */
static int kind_at(void *snapshot, const unsigned char *address)
{
    haul_memory memory;
    memset(&memory, 0, sizeof memory);
    return haul_this_process()->find(snapshot, (uintptr_t)address, &memory) ? memory.kind : 0;
}

static int kind_at_first(const unsigned char *address)
{
    void *snapshot = open_snapshot();
    const int kind = kind_at(snapshot, address);
    haul_this_process()->close(snapshot);
    return kind;
}

static unsigned char *touched_block(void)
{
    unsigned char *block = malloc(BLOCK);
    CHECK(block != NULL);
    return memset(block, 1, BLOCK);
}

/* The first page and the last are out of reach, so that the system shows the others as a mapping
 * by themselves. */
static unsigned char *map_pages(void)
{
    unsigned char *pages =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK(mprotect(pages, PAGE, PROT_NONE) == 0);
    CHECK(mprotect(pages + (PAGES - 1) * PAGE, PAGE, PROT_NONE) == 0);
    pages[2 * PAGE - 1] = pages[4 * PAGE] = 1;
    return pages;
}

/* Is each of the places told as in a snapshot of which nothing else was asked? */
static void look_in_order(unsigned char *const *places, const int *kinds, int first, int step)
{
    void *snapshot = open_snapshot();
    int i, at;
    for (i = 0; i < 3 * PLACES; i++) {
        at = (first + i * step) % PLACES;
        check_note("place %d", at);
        CHECK_EQ(kind_at(snapshot, places[at]), kinds[at]);
        CHECK_EQ(kind_at(snapshot, places[at]), kinds[at]);
    }
    check_note(NULL);
    haul_this_process()->close(snapshot);
}

TEST(process, an_earlier_look_changes_no_answer)
{
    unsigned char *blocks[BLOCKS], *places[PLACES], *pages;
    int kinds[PLACES], i;
    for (i = 0; i < BLOCKS; i++) {
        blocks[i] = touched_block();
        places[i] = blocks[i] + (i > 0 ? BLOCK / 2 : 0);
    }
    pages = map_pages();
    places[BLOCKS] = pages + 2 * PAGE - 1;
    places[BLOCKS + 1] = pages + 3 * PAGE;
    places[BLOCKS + 2] = pages + 4 * PAGE;
    for (i = 0; i < PLACES; i++)
        kinds[i] = kind_at_first(places[i]);
    if (!BUILD_LIKELY_ADDRESSES) /* an emulator does not show the heap */
        CHECK_EQ(kinds[0], HAUL_MEMORY_BLOCK);
    CHECK_EQ(kinds[BLOCKS], HAUL_MEMORY_MAPPING);
    CHECK_EQ(kinds[BLOCKS + 1], 0); /* nobody has touched it */
    CHECK_EQ(kinds[BLOCKS + 2], HAUL_MEMORY_MAPPING);
    look_in_order(places, kinds, 0, 1);
    look_in_order(places, kinds, PLACES - 1, PLACES - 1);
    munmap(pages, PAGES * PAGE);
    for (i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}
