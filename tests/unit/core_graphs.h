/* What the tests of the core (graph, pack) share: a lab.
 *
 * Objects stand in one world, and the lab knows for each byte of it what it is: of no object, data,
 * part of a described pointer, or a hole (skipped); a word that goes as it is and never comes back
 * (kept), or one whose copy the test checks itself (own check). lab_pack makes a plan and packs
 * four times: checked or not, with the flat table or the hash. It looks at all that must hold for
 * any graph:
 *
 *   - while the library works, the source is read-only, pages of no object are inaccessible, and
 *     other bytes of no object are poisoned for the sanitizers; MemorySanitizer looks at the arena
 *     too;
 *   - each described byte has a place, keeps its address modulo two pointers, and is copied;
 *     distinct bytes have distinct places; all other bytes of the arena are zero; bytes of no
 *     object have no place;
 *   - each pointer is the offset of what it leads to, or null; it has a bit, and nothing else has;
 *   - whatever was in arena and bitmap before, the result is the same; a base given before equals
 *     haul_plan_relocate;
 *   - unpack writes data bytes and nothing else;
 *   - an ordered plan does the same, but for addresses modulo two pointers;
 *   - an audit, in two of the four, finds no pointer that is not described, or those that the test
 *     hid;
 *   - nothing leaks.
 *
 * lab_refuse does the same for what must be an error, and looks at status, path and leaks.
 */
#ifndef HAUL_TESTS_CORE_GRAPHS_H
#define HAUL_TESTS_CORE_GRAPHS_H

#ifndef _DEFAULT_SOURCE
#error "define _DEFAULT_SOURCE before the first header"
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "haul.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "support/world.h"

#ifdef BUILD_ASAN
#include <sanitizer/asan_interface.h>
#endif
#ifdef BUILD_MSAN
#include <sanitizer/msan_interface.h>
#endif

/* What a context's threads take, in a build where every context has some (tests/run.sh). */
#ifdef HAUL_STRESS_THREADS
#define TEAM_BYTES ((size_t)HAUL_STRESS_THREADS * ((size_t)72 << 10))
#else
#define TEAM_BYTES ((size_t)0)
#endif
/* In bytes. A thread must have twice as much on some processors (aarch64). */
#define SMALL_STACK (PTHREAD_STACK_MIN > 65536 ? (size_t)PTHREAD_STACK_MIN : (size_t)65536)

enum {
    WORD = sizeof(void *),
    GRANULE = 2 * sizeof(void *),
    PAGE = 4096,
    BLOCK = 65536,
    LAB_BYTES = 8 * BLOCK,
    LAB_PAGES = LAB_BYTES / PAGE,
    /* a plan takes one in so many of the graph's bytes */
    BOOKKEEPING = sizeof(void *) > 4 ? 25 : 14
};

enum { OF_NOBODY, OF_DATA, OF_POINTER, OF_HOLE, OF_KEPT, OF_OWN_CHECK };

typedef struct lab {
    world w;
    unsigned char *memory; /* the world's */
    unsigned char *what;   /* of each byte */
    size_t used;
    int has_holes, has_own_checks;
    int is_ordered;     /* the plan that is being looked at */
    size_t undescribed; /* pointers into the graph that a test leaves without a row */
                        /* what contexts are made with; allocator and checked are the lab's */
    haul_context_options options;
    test_known known;
    fault_plan doors;

    /* What lab_pack leaves: of the checked run with the flat table. */
    haul_context *context;
    haul_plan *plan;
    unsigned char *arena;
    uint64_t *bitmap;
    size_t bytes, bitmap_bytes;
    haul_plan_info statistics;
} lab;

static lab the;

static inline void lab_start(void)
{
    memset(&the, 0, sizeof the);
    world_start(&the.w, LAB_BYTES);
    the.memory = the.w.memory;
    the.what = calloc(1, LAB_BYTES);
    CHECK(the.what != NULL);
}

static inline void lab_drop(void)
{
    haul_plan_free(&the.plan);
    haul_context_free(&the.context);
    free(the.arena);
    free(the.bitmap);
    the.arena = NULL;
    the.bitmap = NULL;
    fault_check_clean(&the.doors);
}

static inline void lab_end(void)
{
    lab_drop();
    world_end(&the.w);
    free(the.what);
}

/* ---- Objects. */

/* Zeros at an exact place. */
static inline void *take_at(size_t at, size_t bytes)
{
    CHECK(at + bytes <= LAB_BYTES);
    memset(the.what + at, OF_DATA, bytes);
    if (the.used < at + bytes)
        the.used = at + bytes;
    return memset(the.memory + at, 0, bytes);
}

static inline void *take(size_t bytes, size_t alignment)
{
    return take_at((the.used + alignment - 1) / alignment * alignment, bytes);
}

/* On the last bytes before a page boundary, with nothing behind it. */
static inline void *take_at_page_end(size_t bytes)
{
    size_t pages = (the.used + bytes + 2 * PAGE - 1) / PAGE;
    void *taken = take_at(pages * PAGE - bytes, bytes);
    the.used = (pages + 1) * PAGE;
    return taken;
}

static inline size_t lab_offset(const void *place)
{
    return (size_t)((const unsigned char *)place - the.memory);
}

static inline void points(void *place)
{
    memset(the.what + lab_offset(place), OF_POINTER, WORD);
}

static inline void hole(void *place, size_t bytes)
{
    memset(the.what + lab_offset(place), OF_HOLE, bytes);
    the.has_holes = 1;
}

/* A word that travels as it is and never comes back. */
static inline void kept(void *place)
{
    memset(the.what + lab_offset(place), OF_KEPT, WORD);
}

/* Bytes whose copy the test checks itself. */
static inline void own_check(void *place, size_t bytes)
{
    memset(the.what + lab_offset(place), OF_OWN_CHECK, bytes);
    the.has_own_checks = 1;
}

static inline char *text(const char *words)
{
    size_t bytes = strlen(words) + 1;
    return memcpy(take(bytes, 1), words, bytes);
}

/* Bytes that are all different from their neighbours and none of them 0. */
static inline void fill(void *place, size_t bytes)
{
    unsigned char *at = place;
    size_t i;
    for (i = 0; i < bytes; i++)
        at[i] = (unsigned char)(1 + i * 7 % 255);
}

static inline void lab_check_untouched(unsigned char *before)
{
    CHECK(memcmp(the.memory, before, LAB_BYTES) == 0);
    free(before);
}

static inline int page_is_bare(size_t page)
{
    static const unsigned char nobody[PAGE];
    return memcmp(the.what + page * PAGE, nobody, PAGE) == 0;
}

/* Of the pages that are not bare: the others are out of reach while the library works. */
static inline void copy_pages(unsigned char *to, const unsigned char *from)
{
    size_t page;
    for (page = 0; page < LAB_PAGES; page++)
        if (!page_is_bare(page))
            memcpy(to + page * PAGE, from + page * PAGE, PAGE);
}

static inline unsigned char *lab_picture(void)
{
    unsigned char *picture = malloc(LAB_BYTES);
    CHECK(picture != NULL);
    copy_pages(picture, the.memory);
    return picture;
}

static inline void lab_check_picture(unsigned char *before)
{
    size_t page;
    for (page = 0; page < LAB_PAGES; page++)
        if (!page_is_bare(page))
            CHECK_BYTES(the.memory + page * PAGE, before + page * PAGE, PAGE);
    free(before);
}

/* The first page from `page` on that is not as bare as it, or LAB_PAGES. */
static inline size_t pages_alike(size_t page)
{
    const int is_bare = page_is_bare(page);
    while (++page < LAB_PAGES && page_is_bare(page) == is_bare)
        continue;
    return page;
}

static inline int is_closed(size_t at)
{
    return the.what[at] == OF_NOBODY || the.what[at] == OF_HOLE;
}

/* What is nobody's is out of reach until lab_unlock. */
static inline void lab_lock(int protection)
{
    size_t page, next;
#if defined(BUILD_ASAN) || defined(BUILD_MSAN)
    size_t at, end;
    for (at = 0; at < LAB_BYTES; at = end) {
        const int closed = is_closed(at);
        for (end = at + 1; end < LAB_BYTES && is_closed(end) == closed;)
            end += end % PAGE == 0 && page_is_bare(end / PAGE) ? (size_t)PAGE : 1;
#ifdef BUILD_ASAN
        if (closed)
            ASAN_POISON_MEMORY_REGION(the.memory + at, end - at);
#else
        if (closed)
            __msan_poison(the.memory + at, end - at);
#endif
    }
#endif
    for (page = 0; page < LAB_PAGES; page = next) {
        next = pages_alike(page);
        CHECK(mprotect(the.memory + page * PAGE, (next - page) * PAGE,
                       page_is_bare(page) ? PROT_NONE : protection) == 0);
    }
}

static inline void lab_unlock(void)
{
    CHECK(mprotect(the.memory, LAB_BYTES, PROT_READ | PROT_WRITE) == 0);
#ifdef BUILD_ASAN
    ASAN_UNPOISON_MEMORY_REGION(the.memory, LAB_BYTES);
#endif
#ifdef BUILD_MSAN
    __msan_unpoison(the.memory, LAB_BYTES);
#endif
}

/* ---- Packing. */

enum { CHECKED = 1, FLAT = 2, VARIANTS = 4 };

static inline void lab_open_context(int variant)
{
    the.doors.no_reserve = !(variant & FLAT);
    the.options.checked = (variant & CHECKED) != 0;
    CHECK_STATUS(fault_open_context(&the.doors, &the.options, &the.context), HAUL_OK);
    CHECK_STATUS(test_tell(the.context, &the.known), HAUL_OK);
}

static inline void *lab_arena(size_t bytes, size_t alignment, int prefill)
{
    void *memory = NULL;
    CHECK(posix_memalign(&memory, alignment < WORD ? WORD : alignment, bytes ? bytes : 1) == 0);
    memset(memory, prefill, bytes);
    return memory;
}

static inline size_t offset_of(const void *address)
{
    size_t offset = 0;
    CHECK_STATUS(haul_plan_offset(the.plan, address, &offset), HAUL_OK);
    return offset;
}

static inline uintptr_t word_at(const void *place)
{
    uintptr_t word;
    memcpy(&word, place, sizeof word);
    return word;
}

static inline int bit_at(size_t offset)
{
    return (int)(the.bitmap[offset / WORD / 64] >> (offset / WORD % 64) & 1);
}

/* Its offset; 0: it is nobody's. */
static inline size_t check_byte(size_t at, unsigned char *covered)
{
    size_t offset = 0;
    void *back;
    int of = the.what[at];
    haul_status status = haul_plan_offset(the.plan, the.memory + at, &offset);
    if (of == OF_NOBODY) {
        int past_one = at > 0 && the.what[at - 1] != OF_NOBODY;
        if (past_one) {
            CHECK_STATUS(status, HAUL_OK);
            CHECK_EQ(offset, offset_of(the.memory + at - 1) + 1);
        } else if (!the.has_holes) {
            CHECK_STATUS(status, HAUL_ERROR_ARGUMENT);
        }
        return 0;
    }
    CHECK_STATUS(status, HAUL_OK);
    CHECK(offset >= GRANULE && offset < the.bytes);
    if (!the.is_ordered)
        CHECK_EQ(offset % GRANULE, at % GRANULE);
    CHECK_STATUS(haul_plan_address(the.plan, offset, &back), HAUL_OK);
    CHECK_PTR(back, the.memory + at);
    CHECK_EQ(covered[offset], 0);
    covered[offset] = (unsigned char)(of == OF_HOLE ? OF_DATA : of);
    if (of == OF_DATA || of == OF_KEPT)
        CHECK_EQ(the.arena[offset], the.memory[at]);
    if (of == OF_HOLE)
        CHECK_EQ(the.arena[offset], 0);
    return offset;
}

/* Bytes of one kind in one cell, from `begin` on. A granule at each end is looked up byte by byte.
 * Between, one byte in nine is, if they are data or nobody's: what lies side by side does so in the
 * arena of a compacted plan. */
static inline void check_neighbours(size_t begin, size_t end, unsigned char *covered)
{
    const int may_skip =
        !the.is_ordered && (the.what[begin] == OF_DATA || the.what[begin] == OF_NOBODY);
    size_t at = begin, next;
    for (; at < end; at = next) {
        const size_t offset = check_byte(at, covered);
        next = may_skip && at - begin >= GRANULE && end - at > GRANULE + 9 ? at + 9 : at + 1;
        if (offset && next > at + 1) {
            const size_t rest = next - at - 1;
            CHECK(offset + rest < the.bytes);
            CHECK(memcmp(the.arena + offset + 1, the.memory + at + 1, rest) == 0);
            CHECK(memchr(covered + offset + 1, OF_DATA, rest) == NULL);
            memset(covered + offset + 1, OF_DATA, rest);
        }
    }
}

/* The word that the copy of `place` holds. */
static inline uintptr_t copied_word(const void *place)
{
    return word_at(the.arena + offset_of(place));
}

/* The pointer word that begins at memory[at]. */
static inline void check_pointer(size_t at)
{
    uintptr_t value = word_at(the.memory + at), word;
    size_t offset = offset_of(the.memory + at), target = 0, before = 0;
    int is_known = haul_plan_offset(the.plan, (void *)value, &target) == HAUL_OK;
    memcpy(&word, the.arena + offset, sizeof word);
    if (the.is_ordered && word && word != target && value > (uintptr_t)the.memory)
        haul_plan_offset(the.plan, (void *)(value - 1), &before);
    if (before)
        CHECK_EQ(word, before + 1); /* the end of what lies before an object */
    else if (!value || is_known)
        CHECK_EQ(word, target);
    else /* to no elements: null, or where the granule that it leads into has gone */
        CHECK(word == 0 || (word < the.bytes && word % GRANULE == value % GRANULE));
    if (offset % WORD == 0)
        CHECK_EQ(bit_at(offset), 1);
}

static inline void check_places(void)
{
    unsigned char *covered = calloc(1, the.bytes ? the.bytes : 1);
    /* done: the end of the last pointer, which may lie on the next page */
    size_t page, at, end, bits = 0, done = 0;
    CHECK(covered != NULL);
    for (page = 0; page < LAB_PAGES; page++) {
        if (page_is_bare(page) && (page == 0 || page_is_bare(page - 1)))
            continue;
        for (at = page * PAGE; at < (page + 1) * PAGE; at = end) {
            for (end = at + 1; end % (32 * GRANULE) && the.what[end] == the.what[at];)
                end++;
            check_neighbours(at, end, covered);
        }
        for (at = page * PAGE < done ? done : page * PAGE; at < (page + 1) * PAGE; at++) {
            if (the.what[at] != OF_POINTER)
                continue;
            check_pointer(at);
            bits += (the.is_ordered ? offset_of(the.memory + at) : at) % WORD == 0;
            done = at + WORD;
            at = done - 1;
        }
    }
    for (at = 0; at < the.bytes; at++)
        CHECK(covered[at] || the.arena[at] == 0);
    for (at = 0; at < the.bytes; at += WORD)
        bits -= (size_t)bit_at(at);
    CHECK_EQ(bits, 0);
    free(covered);
}

/* Unpack an arena all of whose bytes, pointers and counts too, are inverted: data bytes follow,
 * nothing else does. */
static inline void check_unpack(void)
{
    unsigned char *before = lab_picture(), *changed = lab_arena(the.bytes, GRANULE, 0);
    size_t at, page;
    for (at = 0; at < the.bytes; at++)
        changed[at] = (unsigned char)~the.arena[at];
    lab_lock(PROT_READ | PROT_WRITE);
    CHECK_STATUS(haul_plan_unpack(the.plan, changed, the.bytes, 1), HAUL_OK);
    lab_unlock();
    for (page = 0; page < LAB_PAGES; page++) {
        if (page_is_bare(page))
            continue;
        for (at = page * PAGE; at < (page + 1) * PAGE; at++)
            CHECK(the.memory[at] ==
                  (the.what[at] == OF_DATA ? (unsigned char)~before[at] : before[at]));
    }
    copy_pages(the.memory, before);
    free(before);
    free(changed);
}

static inline void pack_once(unsigned char **arena, uint64_t **bitmap, int prefill, uint64_t base)
{
    *arena = lab_arena(the.bytes, plan_alignment(the.plan), prefill);
    *bitmap = lab_arena(the.bitmap_bytes, 8, prefill);
#ifdef BUILD_MSAN
    __msan_poison(*arena, the.bytes);
    __msan_poison(*bitmap, the.bitmap_bytes);
#endif
    CHECK_STATUS(haul_plan_pack(the.plan, *arena, the.bytes, base, *bitmap), HAUL_OK);
#ifdef BUILD_MSAN
    __msan_check_mem_is_initialized(*arena, the.bytes);
    __msan_check_mem_is_initialized(*bitmap, the.bitmap_bytes);
#endif
}

#define LAB_BASE ((uint64_t)0x12340000)

static inline void check_base(void)
{
    unsigned char *based;
    uint64_t *bitmap;
    pack_once(&based, &bitmap, 0x77, LAB_BASE);
    CHECK(memcmp(bitmap, the.bitmap, the.bitmap_bytes) == 0);
    if (!the.has_own_checks) {
        unsigned char *patched = lab_arena(the.bytes, GRANULE, 0);
        memcpy(patched, the.arena, the.bytes);
        CHECK_STATUS(haul_plan_relocate(patched, the.bytes, the.bitmap, LAB_BASE), HAUL_OK);
        CHECK(memcmp(patched, based, the.bytes) == 0);
        free(patched);
    }
    free(based);
    free(bitmap);
}

static inline void audit_once(const haul_root *roots, size_t count)
{
    haul_audit_info summary;
    CHECK_STATUS(haul_audit(the.context, haul_from_roots(roots, count), NULL, &summary), HAUL_OK);
    CHECK(summary.objects > 0);
    if (sizeof(void *) > 4 &&
        !BUILD_LIKELY_ADDRESSES) /* else data is one by chance, now and then */
        CHECK_EQ(summary.hidden_pointers, the.undescribed);
    else
        CHECK(summary.hidden_pointers >= the.undescribed);
}

/* By the context that is open, in place of the compacted plan. */
static inline void pack_ordered(const haul_root *roots, size_t count)
{
    unsigned char *before = lab_picture();
    haul_plan_free(&the.plan);
    free(the.arena);
    free(the.bitmap);
    check_note("ordered");
    lab_lock(PROT_READ);
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(roots, count), ORDERED, &the.plan),
                 HAUL_OK);
    the.is_ordered = 1;
    the.bytes = plan_bytes(the.plan);
    the.bitmap_bytes = plan_bitmap_bytes(the.plan);
    pack_once(&the.arena, &the.bitmap, 0xFF, 0);
    check_base();
    lab_unlock();
    lab_check_picture(before);
    check_places();
    check_unpack();
    the.is_ordered = 0;
}

static inline void pack_variant(const haul_root *roots, size_t count, int variant)
{
    unsigned char *before = lab_picture(), *again;
    uint64_t *again_bitmap;
    haul_status status;
    check_note("%s, %s", variant & CHECKED ? "checked" : "unchecked",
               variant & FLAT ? "flat" : "hashed");
    lab_open_context(variant);
    lab_lock(PROT_READ);
    status = haul_plan_create(the.context, haul_from_roots(roots, count), NULL, &the.plan);
    if (status != HAUL_OK)
        printf("%s: %s\n", haul_context_error(the.context)->path,
               haul_context_error(the.context)->text);
    CHECK_STATUS(status, HAUL_OK);
    CHECK_EQ(haul_context_error(the.context)->status, HAUL_OK);
    the.bytes = plan_bytes(the.plan);
    the.bitmap_bytes = plan_bitmap_bytes(the.plan);
    pack_once(&the.arena, &the.bitmap, 0x00, 0);
    pack_once(&again, &again_bitmap, 0xFF, 0);
    CHECK(memcmp(again, the.arena, the.bytes) == 0);
    CHECK(memcmp(again_bitmap, the.bitmap, the.bitmap_bytes) == 0);
    check_base();
    /* a third of the lab's time; these two variants have each setting once */
    if (!(variant & CHECKED) == !(variant & FLAT))
        audit_once(roots, count);
    lab_unlock();
    lab_check_picture(before);
    haul_plan_get_info(the.plan, &the.statistics);
    free(again);
    free(again_bitmap);
}

static inline void lab_pack_roots(const haul_root *roots, size_t count)
{
    unsigned char *arena = NULL;
    size_t bytes = 0;
    int variant;
    for (variant = 0; variant < VARIANTS; variant++) {
        lab_drop();
        if (variant == 1) {
            lab_open_context(0);
            pack_ordered(roots, count);
            lab_drop();
        }
        pack_variant(roots, count, variant);
        if (arena) {
            CHECK_EQ(bytes, the.bytes);
            CHECK(memcmp(arena, the.arena, bytes) == 0);
            free(arena);
        } else {
            check_places();
            check_unpack();
        }
        bytes = the.bytes;
        arena = lab_arena(bytes, GRANULE, 0);
        memcpy(arena, the.arena, bytes);
    }
    check_places();
    check_unpack();
    free(arena);
    check_note(NULL);
}

static inline void lab_pack(void *root, const haul_type *type, size_t count)
{
    haul_root one;
    one.address = root;
    one.type = type;
    one.count = count;
    lab_pack_roots(&one, 1);
}

/* ---- Errors. */

static inline void refuse_variant(const haul_root *roots, size_t count, int variant,
                                  haul_status expected, const char *path, const char *part)
{
    unsigned char *before = lab_picture();
    haul_plan *none = (haul_plan *)(void *)before;
    uint64_t blocks, bytes;
    haul_status status;
    check_note("%s, %s", variant & CHECKED ? "checked" : "unchecked",
               variant & FLAT ? "flat" : "hashed");
    lab_drop();
    lab_open_context(variant);
    blocks = the.doors.host_blocks;
    bytes = the.doors.host_bytes;
    lab_lock(PROT_READ);
    status = haul_plan_create(the.context, haul_from_roots(roots, count), NULL, &none);
    lab_unlock();
    CHECK_STATUS(status, expected);
    CHECK_PTR(none, NULL);
    CHECK_EQ(haul_context_error(the.context)->status, expected);
    CHECK_STR(haul_context_error(the.context)->path, path);
    CHECK_HAS(haul_context_error(the.context)->text, part);
    CHECK_STATUS(haul_context_trim(the.context), HAUL_OK);
    CHECK_EQ(the.doors.host_blocks, blocks);
    CHECK_EQ(the.doors.host_bytes, bytes);
    CHECK_EQ(the.doors.reserved_blocks, 0);
    lab_check_picture(before);
}

/* Refused by unchecked contexts and by checked ones; `part` stands in the sentence. */
static inline void lab_refuse(void *root, const haul_type *type, haul_status expected,
                              const char *path, const char *part)
{
    haul_root one;
    int variant;
    one.address = root;
    one.type = type;
    one.count = 1;
    for (variant = 0; variant < VARIANTS; variant++)
        refuse_variant(&one, 1, variant, expected, path, part);
    lab_drop();
    check_note(NULL);
}

/* Refused by checked contexts only, with both paths. */
static inline void lab_refuse_checked(void *root, const haul_type *type, const char *path,
                                      const char *other)
{
    haul_root one;
    int variant;
    one.address = root;
    one.type = type;
    one.count = 1;
    for (variant = CHECKED; variant < VARIANTS; variant += 2) {
        haul_plan *none;
        lab_drop();
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&one, 1), NULL, &none),
                     HAUL_ERROR_GRAPH);
        CHECK_STR(haul_context_error(the.context)->path, path);
        CHECK_STR(haul_context_error(the.context)->other_path, other);
    }
    lab_drop();
}

/* ---- Types. */

static inline haul_type *type_open(const char *name, size_t bytes, const haul_field *fields,
                                   size_t count)
{
    haul_type *type;
    CHECK_STATUS(type_make(name, bytes, fields, count, &type), HAUL_OK);
    return type;
}

static inline void type_commit(haul_type *type)
{
    haul_status status = haul_type_commit(type);
    if (status != HAUL_OK)
        printf("%s: %s\n", type_error()->path, type_error()->text);
    CHECK_STATUS(status, HAUL_OK);
}

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define TYPE_OPEN TYPE_NEW

#endif
