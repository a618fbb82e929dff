/* What the tests of real structures share: a site, and journeys from it.
 *
 * A site is the memory that all objects of one test lie in. It keeps its books, as an allocator
 * does: which blocks there are, and where they end. Between the blocks lie bytes of nobody. So the
 * library can be told of any range whether it may be read (context.h), and of any block how large
 * it is (audit.h), and one call takes it all away.
 *
 * A journey is what a right description must stand: an audit that finds nothing at all; and four
 * shipments, checked and not, with pointers patched on the device and by the host. On the device,
 * with the site out of reach, the test's walk reads all of the structure with ordinary pointers,
 * says in one number what it saw, and changes it. That number is worked out by the test beforehand,
 * from what it built the structure of, not from the structure. Afterwards the site is, byte for
 * byte, what it becomes when the same change is made to it here.
 *
 * What a wrong description must meet: refuse_type, refuse_graph or audit_tells, each with the path
 * and words.
 */
#ifndef HAUL_TESTS_STRUCTURES_B_H
#define HAUL_TESTS_STRUCTURES_B_H

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

enum { SITE_BYTES = 8 << 20, SITE_BLOCKS = 1 << 17, SITE_GAP = 24 };

typedef struct site_block {
    uintptr_t at;
    size_t bytes;
} site_block;

typedef struct site {
    unsigned char *memory;
    size_t used;
    site_block *blocks; /* in order of address */
    size_t count;
    random_source random;
    haul_context_options options; /* argument: the test's */
    test_known known;             /* the test's */
    int lets_change;              /* fields that the description reads come back changed */
} site;

static site the;

static inline void site_start(uint64_t seed)
{
    memset(&the, 0, sizeof the);
    the.memory = mmap(NULL, SITE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(the.memory != MAP_FAILED);
    the.blocks = malloc(SITE_BLOCKS * sizeof *the.blocks);
    CHECK(the.blocks != NULL);
    the.random = random_from(seed);
}

static inline void site_end(void)
{
    munmap(the.memory, SITE_BYTES);
    free(the.blocks);
}

/* A block of zeros. */
static inline void *put(size_t bytes, size_t alignment)
{
    size_t at = (the.used + SITE_GAP + alignment - 1) / alignment * alignment;
    CHECK(bytes > 0 && at + bytes <= SITE_BYTES && the.count < SITE_BLOCKS);
    memset(the.memory + the.used, 0xC5, at - the.used);
    the.blocks[the.count].at = (uintptr_t)(the.memory + at);
    the.blocks[the.count++].bytes = bytes;
    the.used = at + bytes;
    return memset(the.memory + at, 0, bytes);
}

#define PUT(T) ((T *)put(sizeof(T), sizeof(void *)))
#define PUT_ARRAY(T, n) ((T *)put((size_t)(n) * sizeof(T), sizeof(void *)))

static inline char *put_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(put(bytes, 1), text, bytes);
}

/* ---- The books. */

/* The last block that begins at the address or before it. */
static inline const site_block *block_before(uintptr_t address)
{
    size_t low = 0, high = the.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (the.blocks[middle].at <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &the.blocks[low - 1] : NULL;
}

static inline size_t book_usable(void *user, const void *block)
{
    const site_block *found = block_before((uintptr_t)block);
    (void)user;
    return found && found->at == (uintptr_t)block ? found->bytes : 0;
}

static inline int lies_within(uintptr_t address, size_t bytes, uintptr_t at, size_t room)
{
    return address >= at && address - at <= room && bytes <= room - (address - at);
}

static inline int book_readable(void *user, const void *address, size_t bytes)
{
    const site_block *found = block_before((uintptr_t)address);
    size_t i;
    (void)user;
    for (i = 0; i < the.known.static_count; i++)
        if (lies_within((uintptr_t)address, bytes, (uintptr_t)the.known.statics[i].address,
                        the.known.statics[i].bytes))
            return 1;
    return found && lies_within((uintptr_t)address, bytes, found->at, found->bytes);
}

/* Of a string the library cannot know how much it will read: it asks for what is left of a page. */
static inline int site_readable(void *user, const void *address, size_t bytes)
{
    return book_readable(user, address, bytes) ||
           (((uintptr_t)address + bytes) % 4096 == 0 && book_readable(user, address, 1));
}

/* ---- Types. */

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define OPEN TYPE_NEW

static inline haul_type *type_open(const char *name, size_t bytes, const haul_field *fields,
                                   size_t count)
{
    haul_type *type;
    CHECK_STATUS(type_make(name, bytes, fields, count, &type), HAUL_OK);
    return type;
}

static inline void type_close(haul_type *type)
{
    haul_status status = haul_type_commit(type);
    check_note("%s: %s", type_error()->path, type_error()->text);
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
}

static inline void refuse_type(haul_type *type, const char *path, const char *words)
{
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, path);
    CHECK_HAS(type_error()->text, words);
}

/* ---- Contexts and audits. */

static inline haul_context_options site_options(int checked)
{
    haul_context_options options = the.options;
    options.checked = checked;
    if (checked)
        options.readable = site_readable;
    return options;
}

static inline haul_context *site_context(void)
{
    haul_context_options options = site_options(1);
    haul_context *context;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    CHECK_STATUS(test_tell(context, &the.known), HAUL_OK);
    return context;
}

/* "": any. */
static inline void check_words(const haul_error *error, const char *path, const char *other_path,
                               const char *words)
{
    check_note("%s (%s): %s", error->path, error->other_path, error->text);
    if (path[0])
        CHECK_STR(error->path, path);
    if (other_path)
        CHECK_STR(error->other_path, other_path);
    CHECK_HAS(error->text, words);
    check_note(NULL);
}

/* other_path NULL: none is asked for. */
static inline void refuse_graph(void *address, const haul_type *type, haul_status expected,
                                const char *path, const char *other_path, const char *words)
{
    haul_context *context = site_context();
    haul_plan *plan;
    haul_status status;
    haul_root root;
    root.address = address;
    root.type = type;
    root.count = 1;
    status = haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan);
    check_note("%s: %s", haul_context_error(context)->path, haul_context_error(context)->text);
    CHECK_STATUS(status, expected);
    CHECK(plan == NULL);
    check_words(haul_context_error(context), path, other_path, words);
    haul_context_free(&context);
}

/* The first finding of a kind. */
typedef struct told {
    haul_audit_kind wanted;
    size_t count;
    haul_audit_finding first;
} told;

static inline void tell(void *user, const haul_audit_finding *finding)
{
    told *t = user;
    if (t->wanted && finding->kind != t->wanted)
        return;
    if (t->count++ == 0)
        t->first = *finding;
}

static inline haul_audit_info audit(void *address, const haul_type *type, told *t)
{
    haul_context *context = site_context();
    haul_audit_options options;
    haul_audit_info summary;
    haul_status status;
    haul_root root;
    root.address = address;
    root.type = type;
    root.count = 1;
    memset(&options, 0, sizeof options);
    options.finding = tell;
    options.user = t;
    options.usable = book_usable;
    options.roots_are_blocks = 1;
    status = haul_audit(context, haul_from_roots(&root, 1), &options, &summary);
    check_note("%s: %s", haul_context_error(context)->path, haul_context_error(context)->text);
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
    haul_context_free(&context);
    return summary;
}

static inline void audit_tells(void *address, const haul_type *type, haul_audit_kind kind,
                               const char *path, const char *words)
{
    told t;
    memset(&t, 0, sizeof t);
    t.wanted = kind;
    audit(address, type, &t);
    CHECK(t.count > 0);
    check_note("%s (%s): %s", t.first.path, t.first.other_path, t.first.text);
    CHECK_STR(t.first.path, path);
    CHECK_HAS(t.first.text, words);
    check_note(NULL);
}

static inline void audit_finds_nothing(void *address, const haul_type *type)
{
    haul_audit_info summary;
    told t;
    memset(&t, 0, sizeof t);
    summary = audit(address, type, &t);
    check_note("%s (%s): %s", t.first.path, t.first.other_path, t.first.text);
    CHECK_EQ(t.count, 0);
    CHECK_EQ(summary.hidden_pointers + summary.unused_rows + summary.beyond_block +
                 summary.little_of_block,
             0);
    CHECK(summary.objects > 0 && summary.blocks > 0);
    check_note(NULL);
}

/* ---- Journeys. */

typedef struct visit {
    void *root;
    uint64_t seen;
    int is_host; /* the change is made to the original */
} visit;

typedef struct journey {
    void *root;
    const haul_type *type;
    uint64_t seen;               /* what the walk must have seen */
    void (*walk)(void *visit);   /* reads and changes */
    void (*change)(void *visit); /* what the way back must have done; NULL: what the walk does */
    int with_pointers;           /* these come back, too */
} journey;

/* The order counts. */
static inline void see(uint64_t *seen, uint64_t value)
{
    *seen = (*seen ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    *seen ^= *seen >> 29;
}

static inline void see_text(uint64_t *seen, const char *text)
{
    for (; *text; text++)
        see(seen, (unsigned char)*text);
}

/* The bits of a number that is no integer. */
static inline void see_real(uint64_t *seen, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    see(seen, bits);
}

static inline void site_protect(int protection)
{
    CHECK(mprotect(the.memory, SITE_BYTES, protection) == 0);
}

static inline void check_as_changed_here(const journey *j, const unsigned char *before)
{
    unsigned char *after = malloc(the.used);
    visit v = { NULL, 0, 1 };
    CHECK(after != NULL);
    memcpy(after, the.memory, the.used);
    memcpy(the.memory, before, the.used);
    v.root = j->root;
    (j->change ? j->change : j->walk)(&v);
    CHECK_BYTES(after, the.memory, the.used);
    free(after);
}

static inline void travel_once(const journey *j, int checked, int patched_here)
{
    test_device options;
    haul_ship_options how;
    haul_device *device;
    haul_shipment *s;
    haul_status status;
    visit v = { NULL, 0, 0 };
    memset(&options, 0, sizeof options);
    memset(&how, 0, sizeof how);
    options.new_context = site_options(checked);
    options.known = the.known;
    how.let_counts_change = the.lets_change;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    host_patches(device, patched_here);
    site_protect(PROT_READ);
    status = haul_ship(device, j->root, j->type, 1, &how, &s);
    check_note("%s: %s", haul_context_error(haul_device_context(device))->path,
               haul_context_error(haul_device_context(device))->text);
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
    v.root = haul_device_pointer(s, j->root);
    site_protect(PROT_NONE);
    CHECK_STATUS(haul_host_launch(device, j->walk, &v), HAUL_OK);
    site_protect(PROT_READ | PROT_WRITE);
    CHECK_EQ(v.seen, j->seen);
    status = j->with_pointers ? haul_update_host(s, WITH_POINTERS, NULL) : haul_unmarshal(s);
    check_note("%s: %s", haul_context_error(haul_device_context(device))->path,
               haul_context_error(haul_device_context(device))->text);
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
    haul_shipment_free(&s);
    haul_device_close(&device);
}

static inline void travel(const journey *j)
{
    unsigned char *before = malloc(the.used);
    int way;
    CHECK(before != NULL);
    memcpy(before, the.memory, the.used);
    audit_finds_nothing(j->root, j->type);
    for (way = 0; way < 4; way++) {
        memcpy(the.memory, before, the.used);
        travel_once(j, way & 1, way >> 1);
        check_as_changed_here(j, before);
    }
    memcpy(the.memory, before, the.used);
    free(before);
}

/* The same of a walk that changes what it reads. */
static inline void travel_to_see(void *root, const haul_type *type, void (*walk)(void *visit),
                                 uint64_t seen)
{
    journey j;
    memset(&j, 0, sizeof j);
    j.root = root;
    j.type = type;
    j.walk = walk;
    j.seen = seen;
    travel(&j);
}

#endif
