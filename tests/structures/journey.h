/* What the tests of real structures share: a site, and journeys from it.
 *
 * A site is a world (support/world.h) with a source of chance. Its book tells the library which
 * ranges may be read (context.h) and how large each block is (audit.h).
 *
 * A journey is what a right description must stand: an audit that finds nothing at all; and four
 * shipments, checked and not, with pointers patched on the device and by the host. On the device,
 * with the site out of reach, the test's walk reads all of the structure with ordinary pointers,
 * says in one number what it saw, and changes it. That number is worked out by the test beforehand,
 * from what it built the structure of, not from the structure. Afterwards the site is, byte for
 * byte, what it becomes when the same change is made to it here.
 *
 * What a wrong description must meet: refuse_type, refuse_graph, refuse_ship or audit_tells, each
 * with the path and words.
 */
#ifndef HAUL_TESTS_JOURNEY_H
#define HAUL_TESTS_JOURNEY_H

#ifndef _DEFAULT_SOURCE
#error "define _DEFAULT_SOURCE before the first header"
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/random.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "support/world.h"

typedef struct site {
    world w;
    random_source random;
    haul_context_options options; /* argument, limits: the test's */
    test_known known;             /* the test's */
    int lets_change;              /* fields that the description reads come back changed */
    int returns_pointers;         /* of travel_and_sum: the walk changes pointers too */
    int64_t told;                 /* of travel_and_sum: what the walk must answer */
    haul_error refused;           /* what the last refusal said */
} site;

extern site the;

void site_start(uint64_t seed);
void site_end(void);
/* The same, and frees the types at the addresses. */
#define SITE_END(...) site_end_with((haul_type **[]){ __VA_ARGS__, NULL })
void site_end_with(haul_type ***types);

/* ---- Building. */

/* A block of zeros. */
void *put(size_t bytes, size_t alignment);
#define PUT(T) ((T *)put(sizeof(T), sizeof(void *)))
#define PUT_ARRAY(T, n) ((T *)put((size_t)(n) * sizeof(T), sizeof(void *)))
/* `count` zeroed elements, on a multiple of 16. */
void *put_elements(size_t count, size_t bytes);
/* Room that nobody has written to, on a multiple of 16: each word is 17, no address of anything. */
void *put_room(size_t bytes);
char *put_text(const char *text);
/* A number from low to high. What is made of it stays small: a word that looks like an address
 * would be reported. */
int chance(int low, int high);

/* ---- Types. */

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define OPEN TYPE_NEW

haul_type *type_open(const char *name, size_t bytes, const haul_field *fields, size_t count);
void type_close(haul_type *type); /* commits it */
void refuse_type(haul_type *type, const char *path, const char *words);

/* ---- Refusals and audits. */

/* With a book, checked or not. */
haul_context_options site_options(int checked);
haul_context *site_context(void);
/* By a plan of a checked context with a book. path "": any; other_path NULL: none is asked for. */
void refuse_graph(void *address, const haul_type *type, haul_status expected, const char *path,
                  const char *other_path, const char *words);
/* By a shipment of `count` elements to a checked device without a book, to which nothing is
 * copied. */
void refuse_ship(void *address, const haul_type *type, size_t count, haul_status expected,
                 const char *path, const char *words);
haul_device *site_device(int checked);
/* other_path NULL: none is asked for. */
void check_error(const haul_error *error, const char *path, const char *other_path,
                 const char *words);
/* One finding of the kind has this path and words. */
void audit_tells(void *address, const haul_type *type, size_t count, haul_audit_kind kind,
                 const char *path, const char *words);
/* An audit that knows blocks to the byte tells of `count` of which little is described; the first
 * has this path and words. */
void audit_of_exact_blocks_tells(void *address, const haul_type *type, size_t count,
                                 const char *path, const char *words);
void audit_finds_nothing(void *address, const haul_type *type);

/* ---- Journeys. */

typedef struct visit {
    void *root;
    size_t count;
    uint64_t seen;
    int is_host; /* the change is made to the original */
    int64_t (*sum)(void *root, size_t count);
} visit;

typedef struct journey {
    void *root;
    const haul_type *type;
    size_t count;                /* 0: 1 */
    uint64_t seen;               /* what the walk must have seen */
    void (*walk)(void *visit);   /* reads and changes */
    void (*change)(void *visit); /* what the way back must have done; NULL: what the walk does */
    int with_pointers;           /* these come back, too */
    int64_t (*sum)(void *root, size_t count);
    int without_audit; /* rows that lead to nothing would be findings */
} journey;

void travel(const journey *j);
/* The same of a walk that changes what it reads. */
void travel_to_see(void *root, const haul_type *type, void (*walk)(void *visit), uint64_t seen);
/* Of a walk that answers a sum over all that `count` elements lead to: the.told, which the builder
 * has kept. */
void travel_and_sum(void *root, const haul_type *type, size_t count,
                    int64_t (*sum)(void *root, size_t count));
/* The same of arrays that are roots of one graph. The walk goes through each. */
void travel_and_sum_roots(const haul_root *roots, size_t count,
                          int64_t (*sum)(void *root, size_t count));

/* Adds to what was seen; the order counts. */
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

#endif
