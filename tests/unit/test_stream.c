/* Copies past the caches: every byte of the target is right, and no other byte is written.
 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <sys/mman.h>

#include "base/base.h"
#include "base/stream.h"
#include "support/check.h"
#include "support/random.h"

enum { PAGE = 4096, MOST = 40 * PAGE, EDGE = 64 };

static void fill(random_source *r, unsigned char *bytes, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        bytes[i] = (unsigned char)random_next(r);
}

static void check_copy(random_source *r, void (*copy)(void *to, const void *from, size_t bytes),
                       size_t bytes)
{
    static unsigned char from[MOST + 2 * EDGE], to[MOST + 2 * EDGE], before[MOST + 2 * EDGE];
    size_t source = random_below(r, EDGE), place = random_below(r, EDGE),
           same = random_below(r, bytes + 1);
    fill(r, from, sizeof from);
    fill(r, to, sizeof to);
    memcpy(to + place + same, from + source + same, bytes - same); /* the rest is there already */
    memcpy(before, to, sizeof to);
    copy(to + place, from + source, bytes);
    CHECK_BYTES(to, before, place);
    CHECK_BYTES(to + place, from + source, bytes);
    CHECK_BYTES(to + place + bytes, before + place + bytes, sizeof to - place - bytes);
}

TEST(stream, every_byte_of_any_range_is_copied_and_no_other)
{
    random_source r = random_start("streaming copies");
    size_t round;
    for (round = 0; round < 200; round++) {
        size_t bytes = round < 100 ? random_below(&r, 3 * EDGE) : random_below(&r, MOST);
        check_copy(&r, haul__copy_streaming, bytes);
        check_copy(&r, haul__copy_changed, bytes);
    }
}

static void copy_few(void *to, const void *from, size_t bytes)
{
    haul__copy_few(to, from, bytes);
}

TEST(stream, a_few_words_are_copied_whatever_their_number)
{
    random_source r = random_start("copies of a few words");
    size_t bytes, round;
    for (bytes = 0; bytes <= 600; bytes += sizeof(void *))
        for (round = 0; round < 5; round++)
            check_copy(&r, copy_few, bytes);
}

TEST(stream, pages_that_are_equal_already_are_not_written)
{
    enum { PAGES = 32, CHANGED = 21 };
    unsigned char *to =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *from = malloc(PAGES * PAGE);
    random_source r = random_start("equal pages");
    CHECK(to != MAP_FAILED && from);
    fill(&r, from, PAGES * PAGE);
    memcpy(to, from, PAGES * PAGE);
    from[CHANGED * PAGE + 17]++;
    CHECK_EQ(mprotect(to, PAGES * PAGE, PROT_READ), 0);
    CHECK_EQ(mprotect(to + CHANGED * PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    haul__copy_changed(to, from, PAGES * PAGE);
    CHECK_BYTES(to, from, PAGES * PAGE);
    munmap(to, PAGES * PAGE);
    free(from);
}
