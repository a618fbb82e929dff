/* Objects of one type at random places: near and far from one another, across the edges of blocks,
 * alone in their blocks or with other things between them.
 *
 * Gather is compared with the plainest reference: each object's bytes at its offset, and its
 * pointers as the offsets of their targets. Scatter: each byte that is no pointer is the arena's,
 * all others are as they were.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "pack/verify.h"
#include "support/check.h"
#include "support/random.h"
#include "support/short_forms.h"
#include "support/types.h"

#define BLOCK ((size_t)1 << 16)
#define MEMORY (7 * BLOCK)
#define MOST ((size_t)6000)

static haul_type *kind_type, *plain_type;

typedef struct kind {
    size_t words, left, right; /* all in words: its size, where its pointers stand */
} kind;

typedef struct field {
    kind of;
    unsigned char *allocated, *memory, *before; /* `memory` begins where a block does */
    uintptr_t **object;
    size_t count;
    random_source random;
} field;

static void open_kind(kind k)
{
    haul_field fields[2];
    size_t i;
    memset(fields, 0, sizeof fields);
    for (i = 0; i < 2; i++) {
        fields[i].name = i ? "right" : "left";
        fields[i].kind = HAUL_FIELD_POINTER;
        fields[i].offset = (i ? k.right : k.left) * sizeof(void *);
        fields[i].bytes = sizeof(void *);
        fields[i].element_bytes = k.words * sizeof(void *);
        fields[i].target = &kind_type;
        fields[i].levels = 1;
    }
    CHECK_STATUS(type_make("kind", k.words * sizeof(void *), fields, 2, &kind_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(kind_type), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "byte", 1, &plain_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(plain_type), HAUL_OK);
}

/* A tree of them in an order of chance, from number 0 on. */
static void link_objects(field *f)
{
    size_t i;
    for (i = f->count; i > 1; i--) {
        size_t j = random_below(&f->random, i);
        uintptr_t *swapped = f->object[i - 1];
        f->object[i - 1] = f->object[j];
        f->object[j] = swapped;
    }
    for (i = 0; i < f->count; i++) {
        f->object[i][f->of.left] = 2 * i + 1 < f->count ? (uintptr_t)f->object[2 * i + 1] : 0;
        f->object[i][f->of.right] = 2 * i + 2 < f->count ? (uintptr_t)f->object[2 * i + 2] : 0;
    }
}

/* `apart`: granules between two, at most. */
static void lay_out(field *f, size_t apart)
{
    const size_t bytes = f->of.words * sizeof(void *), granule = 2 * sizeof(void *);
    size_t at = random_below(&f->random, 40) * granule;
    for (f->count = 0; f->count < MOST && at + bytes <= MEMORY; f->count++) {
        f->object[f->count] = (uintptr_t *)(void *)(f->memory + at);
        at += bytes + random_below(&f->random, apart + 1) * granule;
    }
    link_objects(f);
}

static field start(kind k, size_t apart)
{
    field f;
    size_t i;
    memset(&f, 0, sizeof f);
    f.of = k;
    f.random = random_start("objects at places of chance");
    f.allocated = malloc(MEMORY + BLOCK);
    f.memory = f.allocated + (BLOCK - (uintptr_t)f.allocated % BLOCK);
    f.before = malloc(MEMORY);
    f.object = malloc(MOST * sizeof *f.object);
    CHECK(f.allocated && f.before && f.object);
    for (i = 0; i < MEMORY; i++)
        f.memory[i] = (unsigned char)random_below(&f.random, 256);
    lay_out(&f, apart);
    memcpy(f.before, f.memory, MEMORY);
    open_kind(k);
    return f;
}

static void end(field *f)
{
    free(f->allocated);
    free(f->before);
    free(f->object);
    haul_type_free(&kind_type);
    haul_type_free(&plain_type);
}

static int is_pointer(const field *f, size_t word)
{
    return word == f->of.left || word == f->of.right;
}

static size_t offset_of(const haul_plan *plan, uintptr_t address)
{
    size_t offset = 0;
    if (address)
        CHECK_STATUS(haul_plan_offset(plan, (const void *)address, &offset), HAUL_OK);
    return offset;
}

static void check_gathered(const field *f, const haul_plan *plan, const unsigned char *arena)
{
    size_t i, word;
    for (i = 0; i < f->count; i++) {
        const unsigned char *there = arena + offset_of(plan, (uintptr_t)f->object[i]);
        for (word = 0; word < f->of.words; word++) {
            uintptr_t value;
            memcpy(&value, there + word * sizeof value, sizeof value);
            CHECK_EQ(value, is_pointer(f, word) ? offset_of(plan, f->object[i][word])
                                                : f->object[i][word]);
        }
    }
}

/* Every other word of data is another one. */
static void change(const field *f, const haul_plan *plan, unsigned char *arena)
{
    size_t i, word;
    for (i = 0; i < f->count; i++) {
        const size_t at = offset_of(plan, (uintptr_t)f->object[i]);
        for (word = i % 2; word < f->of.words; word += 2)
            arena[at + word * sizeof(void *) + 3] ^= 0x55;
    }
}

static void check_scattered(const field *f)
{
    unsigned char *expected = malloc(MEMORY);
    size_t i, word;
    CHECK(expected != NULL);
    memcpy(expected, f->before, MEMORY);
    for (i = 0; i < f->count; i++)
        for (word = i % 2; word < f->of.words; word += 2)
            if (!is_pointer(f, word))
                expected[(size_t)((unsigned char *)&f->object[i][word] - f->memory) + 3] ^= 0x55;
    CHECK_BYTES(f->memory, expected, MEMORY);
    free(expected);
}

/* Packed, packed again, found to be as the plan has it, and unpacked. */
static void there_and_back(const field *f, const haul_root *roots, size_t count, size_t objects)
{
    haul_context *context = NULL;
    haul_plan *plan = NULL;
    haul_plan_info told;
    unsigned char *arena;
    uint64_t *bitmap;
    size_t bytes;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(roots, count), NULL, &plan), HAUL_OK);
    haul_plan_get_info(plan, &told);
    CHECK_EQ(told.objects, objects);
    bytes = plan_bytes(plan);
    arena = malloc(bytes);
    bitmap = malloc(plan_bitmap_bytes(plan));
    CHECK(arena && bitmap);
    CHECK_STATUS(haul_plan_pack(plan, arena, bytes, 0, bitmap), HAUL_OK);
    check_gathered(f, plan, arena);
    memset(arena, 0xEE, bytes);
    CHECK_STATUS(haul_plan_pack(plan, arena, bytes, 0, bitmap), HAUL_OK);
    check_gathered(f, plan, arena);
    CHECK_STATUS(haul__verify(plan, NULL), HAUL_OK);
    change(f, plan, arena);
    CHECK_STATUS(haul_plan_unpack(plan, arena, bytes, 0), HAUL_OK);
    check_scattered(f);
    free(arena);
    free(bitmap);
    haul_plan_free(&plan);
    haul_context_free(&context);
}

static haul_root root_of(const void *address, const haul_type *type, size_t count)
{
    haul_root root;
    memset(&root, 0, sizeof root);
    root.address = (void *)(uintptr_t)address;
    root.type = type;
    root.count = count;
    return root;
}

/* In words: short ones, some whose length no line and no cell is a multiple of, longer than a cell,
 * a page. */
static const kind kinds[] = { { 2, 0, 1 },   { 4, 1, 2 },      { 8, 0, 7 },     { 10, 3, 9 },
                              { 16, 0, 15 }, { 18, 8, 9 },     { 30, 5, 6 },    { 64, 63, 1 },
                              { 66, 2, 65 }, { 130, 129, 64 }, { 290, 1, 288 }, { 510, 0, 509 } };

TEST(uniform_blocks,
     objects_alone_in_their_blocks_are_gathered_and_scattered_near_and_far_from_one_another)
{
    static const size_t apart[] = { 0, 1, 3, 20, 90, 300, 3000, 9000 };
    size_t i, j;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (j = 0; j < sizeof apart / sizeof apart[0]; j++) {
            field f = start(kinds[i], apart[j]);
            haul_root root = root_of(f.object[0], kind_type, 1);
            there_and_back(&f, &root, 1, f.count);
            end(&f);
        }
}

/* Plain bytes are no objects, and whoever took them for some would put the next ones at wrong
 * places. */
TEST(uniform_blocks, other_things_between_them_have_places_of_their_own)
{
    static const size_t apart[] = { 3, 30, 300 };
    size_t i, j;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (j = 0; j < sizeof apart / sizeof apart[0]; j++) {
            field f = start(kinds[i], apart[j]);
            const size_t granule = 2 * sizeof(void *);
            haul_root roots[9];
            size_t count = 1;
            unsigned char *at = f.memory;
            roots[0] = root_of(f.object[0], kind_type, 1);
            for (; count < 9 && at < f.memory + MEMORY - granule; at += granule) {
                size_t k, is_free = 1;
                for (k = 0; k < f.count; k++)
                    is_free &= at + granule <= (unsigned char *)f.object[k] ||
                               at >= (unsigned char *)(f.object[k] + f.of.words);
                if (is_free && random_one_in(&f.random, 40))
                    roots[count++] = root_of(at, plain_type, granule);
            }
            there_and_back(&f, roots, count, f.count + count - 1);
            end(&f);
        }
}

/* In a map of more blocks than the nearest caches hold no branch asks what a pointer is: those that
 * lead past their arrays, where nothing may be live, are told apart all the same. */
typedef struct run {
    struct run *next;
    double *begin, *end;
    size_t number;
} run;

static haul_type *run_type;

TEST(uniform_blocks, ends_past_their_arrays_are_followed_in_a_graph_of_many_blocks)
{
    enum { RUNS = 3200, APART = 2048 };
    static const haul_field fields[] = { HAUL_OBJECT(run, next, &run_type),
                                         HAUL_ARRAY(run, begin, HAUL_UNTIL(run, end)) };
    unsigned char *memory = calloc(RUNS + 1, APART), *arena;
    haul_context *context = NULL;
    haul_plan *plan = NULL;
    uint64_t *bitmap;
    haul_root root;
    size_t i, bytes;
    run *last = NULL;
    CHECK(memory != NULL);
    CHECK_STATUS(type_make("run", sizeof(run), fields, 2, &run_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(run_type), HAUL_OK);
    for (i = 0; i < RUNS; i++) {
        run *r = (run *)(void *)(memory + i * APART + i % 7 * 32);
        r->next = last;
        r->number = i;
        if (i % 3) { /* right behind it, or with nothing around it */
            r->begin = (double *)(void *)((unsigned char *)(r + 1) + (i % 3 - 1) * 512);
            r->end = r->begin + 4;
            r->begin[0] = r->begin[3] = (double)i;
        }
        last = r;
    }
    root = root_of(last, run_type, 1);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    bytes = plan_bytes(plan);
    arena = malloc(bytes);
    bitmap = malloc(plan_bitmap_bytes(plan));
    CHECK(arena && bitmap);
    CHECK_STATUS(haul_plan_pack(plan, arena, bytes, 0, bitmap), HAUL_OK);
    for (; last; last = last->next) {
        uintptr_t words[3];
        size_t number;
        const unsigned char *copy = arena + offset_of(plan, (uintptr_t)last);
        memcpy(words, copy, sizeof words);
        memcpy(&number, copy + offsetof(run, number), sizeof number);
        CHECK_EQ(number, last->number);
        CHECK_EQ(words[0], last->next ? offset_of(plan, (uintptr_t)last->next) : 0);
        CHECK_EQ(words[1], last->begin ? offset_of(plan, (uintptr_t)last->begin) : 0);
        CHECK_EQ(words[2], last->begin ? words[1] + 4 * sizeof(double) : 0);
        if (last->begin)
            CHECK_BYTES(arena + words[1], last->begin, 4 * sizeof(double));
    }
    free(arena);
    free(bitmap);
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&run_type);
    free(memory);
}
