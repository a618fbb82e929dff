/* What the tests of real structures share: a yard to build in, a proof, and refusals.
 *
 * A yard is memory of its own with a book of its blocks, as an allocator has it. Between the
 * blocks, and where a block is not filled, every word is YARD_STALE: no address of anything.
 *
 * A proof of a description takes the graph through all of it. The audit must have nothing to say,
 * with the blocks' sizes known. Then the graph is shipped to the host device; its yard is made
 * inaccessible; a walk of the test's reads everything there with ordinary pointers, finds the sum
 * that the builder kept while it built (yard.told), and changes contents; and after the return the
 * yard is, byte for byte, what the same walk makes of it at home. Once with pointers patched on the
 * device, once on the host.
 *
 * A wrong description is refused by its words and path, or the audit tells of it.
 */
#ifndef HAUL_TESTS_STRUCTURES_A_H
#define HAUL_TESTS_STRUCTURES_A_H

#ifndef _DEFAULT_SOURCE
#error "define _DEFAULT_SOURCE before the first header"
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "haul.h"
#include "support/check.h"
#include "support/random.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

#define YARD_STALE ((uintptr_t)17)
enum { YARD_ALIGNMENT = 16, YARD_BLOCKS = 1 << 16, YARD_ROOTS = 16 };

typedef struct yard_block {
    unsigned char *at;
    size_t bytes;
} yard_block;

static struct {
    unsigned char *memory;
    size_t bytes, used;
    yard_block *block; /* by address */
    size_t block_count;
    random_source random;
    haul_context_options options;
    test_known known;
    int64_t told;         /* the sum that a walk must find */
    int returns_pointers; /* 1: the walk changes pointers, too */
    int lets_change;      /* 1: and fields that the description reads */
    haul_error refused;   /* what the last refusal said */
} yard;

/* ---- Building. */

static inline void yard_make_stale(void *from, size_t bytes)
{
    const uintptr_t stale = YARD_STALE;
    size_t i;
    for (i = 0; i + sizeof stale <= bytes; i += sizeof stale)
        memcpy((unsigned char *)from + i, &stale, sizeof stale);
}

static inline void yard_open(size_t bytes, uint64_t seed)
{
    memset(&yard, 0, sizeof yard);
    yard.bytes = bytes;
    yard.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(yard.memory != MAP_FAILED);
    yard.block = malloc(YARD_BLOCKS * sizeof *yard.block);
    CHECK(yard.block != NULL);
    yard_make_stale(yard.memory, bytes);
    yard.random = random_from(seed);
    yard.options.checked = 1;
}

static inline void yard_close(void)
{
    munmap(yard.memory, yard.bytes);
    free(yard.block);
}

/* A block that nobody has written to. */
static inline void *yard_raw(size_t bytes)
{
    size_t gap = YARD_ALIGNMENT * random_between(&yard.random, 1, 4);
    yard_block *b = &yard.block[yard.block_count++];
    yard.used = (yard.used + gap) / YARD_ALIGNMENT * YARD_ALIGNMENT;
    CHECK(yard.block_count <= YARD_BLOCKS);
    CHECK(bytes > 0 && yard.used + bytes + YARD_ALIGNMENT <= yard.bytes);
    b->at = yard.memory + yard.used;
    b->bytes = bytes;
    yard.used += bytes;
    return b->at;
}

static inline void *yard_take(size_t count, size_t bytes)
{
    return memset(yard_raw(count * bytes), 0, count * bytes);
}

static inline char *yard_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(yard_raw(bytes), text, bytes);
}

/* low .. high; what is made of it stays small, for a word that looks like an address would be
 * reported. */
static inline int yard_int(int low, int high)
{
    return low + (int)random_below(&yard.random, (size_t)(high - low) + 1);
}

static inline size_t yard_usable(void *user, const void *block)
{
    size_t low = 0, high = yard.block_count;
    (void)user;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)yard.block[middle].at < (uintptr_t)block)
            low = middle + 1;
        else
            high = middle;
    }
    return low < yard.block_count && yard.block[low].at == block ? yard.block[low].bytes : 0;
}

/* ---- Types. */

static inline haul_type *yard_type(const char *name, size_t bytes, const haul_field *fields,
                                   size_t count)
{
    haul_type *type;
    CHECK_STATUS(type_make(name, bytes, fields, count, &type), HAUL_OK);
    return type;
}

#define YARD_TYPE TYPE_NEW

/* Ends a test: its yard, and the handles whose addresses are given. */
#define YARD_END(...) yard_end((haul_type **[]){ __VA_ARGS__, NULL })

static inline void yard_end(haul_type ***types)
{
    for (; *types; types++)
        haul_type_free(*types);
    yard_close();
}

static inline void yard_commit(haul_type *type)
{
    haul_status status = haul_type_commit(type);
    check_note("%s: %s", type_error()->path, type_error()->text);
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
}

static inline void yard_refuse_type(haul_type *type, const char *path, const char *words)
{
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, path);
    CHECK_HAS(type_error()->text, words);
}

/* ---- The audit. */

typedef struct yard_listener {
    const char *path, *words;
    haul_audit_kind kind;
    size_t found, others;
} yard_listener;

static inline void yard_listen(void *user, const haul_audit_finding *finding)
{
    yard_listener *l = user;
    int is_it = l->path && finding->kind == l->kind && strcmp(finding->path, l->path) == 0 &&
                strstr(finding->text, l->words) != NULL;
    if (is_it)
        l->found++;
    else if (l->others++ == 0)
        check_note("the audit says: %s -> %s: %s", finding->path, finding->other_path,
                   finding->text);
}

static inline void yard_audit(const haul_root *roots, size_t count, yard_listener *listener)
{
    haul_audit_options options;
    haul_audit_info summary;
    haul_context *context;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.finding = yard_listen;
    options.user = listener;
    options.usable = yard_usable;
    options.roots_are_blocks = 1;
    CHECK_STATUS(haul_context_create(&yard.options, &context), HAUL_OK);
    CHECK_STATUS(test_tell(context, &yard.known), HAUL_OK);
    status = haul_audit(context, haul_from_roots(roots, count), &options, &summary);
    if (status != HAUL_OK)
        check_note("%s: %s", haul_context_error(context)->path, haul_context_error(context)->text);
    CHECK_STATUS(status, HAUL_OK);
    CHECK(summary.blocks > 0);
    haul_context_free(&context);
}

/* A wrong description that a plan cannot refuse: the audit tells. */
static inline void yard_tell(void *root, const haul_type *type, size_t count, haul_audit_kind kind,
                             const char *path, const char *words)
{
    yard_listener listener = { NULL, NULL, HAUL_AUDIT_HIDDEN_POINTER, 0, 0 };
    haul_root one;
    one.address = root;
    one.type = type;
    one.count = count;
    listener.kind = kind;
    listener.path = path;
    listener.words = words;
    yard_audit(&one, 1, &listener);
    CHECK_EQ(listener.found, 1);
    check_note(NULL);
}

/* ---- Shipping. */

static inline haul_device *yard_device(void)
{
    test_device options;
    haul_device *device;
    memset(&options, 0, sizeof options);
    options.new_context = yard.options;
    options.known = yard.known;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    return device;
}

static inline void yard_refuse_roots(const haul_root *roots, size_t count, haul_status status,
                                     const char *path, const char *words)
{
    haul_device *device = yard_device();
    haul_host_counters counters;
    haul_shipment *s;
    haul_status got = haul_ship_from(device, haul_from_roots(roots, count), NULL, NULL, &s);
    check_note("%s: %s", haul_context_error(haul_device_context(device))->path,
               haul_context_error(haul_device_context(device))->text);
    yard.refused = *haul_context_error(haul_device_context(device));
    CHECK_STATUS(got, status);
    CHECK_STR(haul_context_error(haul_device_context(device))->path, path);
    CHECK_HAS(haul_context_error(haul_device_context(device))->text, words);
    check_note(NULL);
    CHECK_PTR(s, NULL);
    CHECK_STATUS(haul_host_get_counters(device, &counters), HAUL_OK);
    CHECK_EQ(counters.copies_to, 0);
    haul_device_close(&device);
}

static inline void yard_refuse(void *root, const haul_type *type, size_t count, haul_status status,
                               const char *path, const char *words)
{
    haul_root one;
    one.address = root;
    one.type = type;
    one.count = count;
    yard_refuse_roots(&one, 1, status, path, words);
}

/* Reads everything that `count` objects at `root` lead to, answers a sum over it, and changes
 * contents. */
typedef int64_t yard_walk(void *root, size_t count);

typedef struct yard_tour {
    yard_walk *walk;
    void *root;
    size_t count;
    int64_t seen;
} yard_tour;

static inline void yard_tour_there(void *argument)
{
    yard_tour *t = argument;
    t->seen = t->walk(t->root, t->count);
}

static inline unsigned char *yard_picture(void)
{
    unsigned char *picture = malloc(yard.used);
    CHECK(picture != NULL);
    return memcpy(picture, yard.memory, yard.used);
}

static inline int64_t yard_walk_there(haul_device *device, const haul_shipment *s,
                                      const haul_root *roots, size_t count, yard_walk *walk)
{
    int64_t seen = 0;
    size_t i;
    CHECK(mprotect(yard.memory, yard.bytes, PROT_NONE) == 0);
    for (i = 0; i < count; i++) {
        yard_tour tour;
        tour.walk = walk;
        tour.count = roots[i].count;
        tour.root = haul_device_pointer(s, roots[i].address);
        CHECK(tour.root != NULL && tour.root != roots[i].address);
        CHECK_STATUS(haul_host_launch(device, yard_tour_there, &tour), HAUL_OK);
        seen += tour.seen;
    }
    CHECK(mprotect(yard.memory, yard.bytes, PROT_READ | PROT_WRITE) == 0);
    return seen;
}

/* What came back is what the walk makes of the yard at home; and that is something else than
 * before. */
static inline void yard_check_return(unsigned char *before, const haul_root *roots, size_t count,
                                     yard_walk *walk)
{
    unsigned char *after = yard_picture();
    int64_t seen = 0;
    size_t i;
    CHECK(memcmp(before, after, yard.used) != 0);
    memcpy(yard.memory, before, yard.used);
    for (i = 0; i < count; i++)
        seen += walk(roots[i].address, roots[i].count);
    CHECK_EQ(seen, yard.told);
    CHECK_BYTES(after, yard.memory, yard.used);
    memcpy(yard.memory, before, yard.used);
    free(after);
}

static inline void yard_go(const haul_root *roots, size_t count, yard_walk *walk, int on_host)
{
    haul_device *device = yard_device();
    haul_ship_options options;
    haul_shipment *s;
    haul_status status;
    unsigned char *before = yard_picture();
    memset(&options, 0, sizeof options);
    host_patches(device, on_host);
    options.let_counts_change = yard.lets_change;
    CHECK(mprotect(yard.memory, yard.bytes, PROT_READ) == 0);
    status = haul_ship_from(device, haul_from_roots(roots, count), &options, NULL, &s);
    if (status != HAUL_OK)
        check_note("%s: %s", haul_context_error(haul_device_context(device))->path,
                   haul_context_error(haul_device_context(device))->text);
    CHECK_STATUS(status, HAUL_OK);
    CHECK_EQ(yard_walk_there(device, s, roots, count, walk), yard.told);
    CHECK_BYTES(yard.memory, before, yard.used);
    CHECK_STATUS(yard.returns_pointers ? haul_update_host(s, WITH_POINTERS, NULL)
                                       : haul_unmarshal(s),
                 HAUL_OK);
    yard_check_return(before, roots, count, walk);
    haul_shipment_free(&s);
    haul_device_close(&device);
    free(before);
}

static inline void yard_prove_roots(const haul_root *roots, size_t count, yard_walk *walk)
{
    yard_listener nothing = { NULL, NULL, HAUL_AUDIT_HIDDEN_POINTER, 0, 0 };
    yard_audit(roots, count, &nothing);
    CHECK_EQ(nothing.others, 0);
    yard_go(roots, count, walk, 0);
    yard_go(roots, count, walk, 1);
}

static inline void yard_prove(void *root, const haul_type *type, size_t count, yard_walk *walk)
{
    haul_root one;
    one.address = root;
    one.type = type;
    one.count = count;
    yard_prove_roots(&one, 1, walk);
}

#endif
