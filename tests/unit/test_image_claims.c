/* Objects of an image may overlap, as those of a source may. Bytes that one of them counts by, and
 * words that are worked out, are no data of another one; borrowed pointers lead to what they say;
 * and a pointer that two of them have leads to the same for both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/image_bytes.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/types.h"

typedef struct made {
    image_bytes image;
    haul_type *type;
} made;

static void make(made *m, void *object, haul_type *type)
{
    haul_file file = bytes_file(&m->image);
    memset(m, 0, sizeof *m);
    m->type = type;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(object, type), &file), HAUL_OK);
}

static haul_status load(const made *m, haul_image **loaded)
{
    static const haul_image_options calls = { .calls_functions = 1 };
    return haul_image_from_bytes(type_context(), m->image.at, m->image.count, &m->type, 1, &calls,
                                 loaded);
}

static void check_loads(const made *m)
{
    haul_image *loaded;
    CHECK_STATUS(load(m, &loaded), HAUL_OK);
    haul_image_free(&loaded);
}

static void check_refused(made *m, haul_status expected, const char *words, const char *path)
{
    haul_image *loaded;
    image_sign(&m->image);
    CHECK_STATUS(load(m, &loaded), expected);
    CHECK_PTR(loaded, NULL);
    CHECK_HAS(haul_context_error(type_context())->text, words);
    CHECK_STR(haul_context_error(type_context())->path, path);
}

static unsigned char *section_of(const made *m, uint32_t kind)
{
    size_t count, i = 0;
    const haul__image_section *s = image_sections(&m->image, &count);
    while (i + 1 < count && s[i].kind != kind)
        i++;
    return m->image.at + s[i].offset;
}

/* What a pointer of the image leads to. */
static void *target_of(const made *m, const void *pointer)
{
    return section_of(m, HAUL__SECTION_ARENA) + (uintptr_t)pointer;
}

static void *root_of(const made *m)
{
    const haul__image_root *root = (const void *)section_of(m, HAUL__SECTION_ROOTS);
    return section_of(m, HAUL__SECTION_ARENA) + root->offset;
}

/* ---- Borrowed pointers. */

typedef struct cell {
    double value[2];
    struct cell *next;
    double *best, *last; /* last: borrowed, too */
} cell;

TEST(image_claims, a_borrowed_pointer_to_data_may_lead_into_an_object_s_data_and_not_its_pointers)
{
    haul_type *type = NULL;
    const haul_field fields[] = {
        HAUL_OBJECT(cell, next, &type),
        HAUL_ARRAY(cell, best, HAUL_ONE, .ownership = HAUL_BORROWED),
        HAUL_ARRAY(cell, last, HAUL_ONE, .ownership = HAUL_BORROWED),
    };
    cell at[2];
    cell *root;
    made m;
    memset(at, 0, sizeof at);
    at[0].next = &at[1];
    at[0].best = &at[1].value[1];
    at[1].best = &at[0].value[0];
    at[0].last = &at[0].value[0] + 1;
    type = TYPE_NEW(cell, fields);
    make(&m, at, type);
    check_loads(&m);
    root = root_of(&m);
    root->best = (double *)(void *)((uintptr_t)root->next + offsetof(cell, next));
    check_refused(&m, HAUL_ERROR_GRAPH, "no object of its type", "root.best");
    root->best = (double *)(void *)((uintptr_t)root->next + offsetof(cell, next) - 4);
    check_refused(&m, HAUL_ERROR_GRAPH, "", "root.best");
    bytes_free(&m.image);
    haul_type_free(&type);
}

typedef struct inner {
    uint64_t number, other;
} inner;

typedef struct outer {
    inner in[3];
    struct outer *self;
    inner *one;
} outer;

TEST(image_claims, a_borrowed_pointer_may_lead_to_an_embedded_object_and_not_beside_it)
{
    haul_type *type = NULL, *inner_type = type_new(&(const haul_struct)HAUL_PLAIN(inner, NULL));
    const haul_field fields[] = {
        HAUL_EMBED(outer, in, &inner_type),
        HAUL_OBJECT(outer, self, &type),
        HAUL_OBJECT(outer, one, &inner_type, .ownership = HAUL_BORROWED),
    };
    outer o, *root;
    made m;
    memset(&o, 0, sizeof o);
    o.self = &o;
    o.one = &o.in[2];
    type = TYPE_NEW(outer, fields);
    make(&m, &o, type);
    check_loads(&m);
    root = root_of(&m);
    root->one = (inner *)(void *)((uintptr_t)root->one + sizeof(uint64_t));
    check_refused(&m, HAUL_ERROR_GRAPH, "no object of its type", "root.one");
    root->one = (inner *)(void *)((uintptr_t)root->self + offsetof(outer, self));
    check_refused(&m, HAUL_ERROR_GRAPH, "no object of its type", "root.one");
    bytes_free(&m.image);
    haul_type_free(&type);
    haul_type_free(&inner_type);
}

typedef struct flock {
    struct flock *self;
    uint64_t data;
    double *one, *best;   /* best: borrowed */
    double **list;        /* 2 */
    struct flock *friend; /* borrowed */
    struct flock *next;
    char rest[16 - sizeof(void *)];
} flock;

TEST(image_claims, a_borrowed_pointer_may_lead_to_the_end_of_data_and_not_of_an_object_or_a_pointer)
{
    haul_type *type = NULL;
    const haul_field fields[] = {
        HAUL_OBJECT(flock, self, &type),
        HAUL_ARRAY(flock, one, HAUL_ONE),
        HAUL_ARRAY(flock, best, HAUL_ONE, .ownership = HAUL_BORROWED),
        HAUL_ARRAYS(flock, list, HAUL_FIXED(2), HAUL_ONE),
        HAUL_OBJECT(flock, friend, &type, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(flock, next, &type),
    };
    double one = 1, *list[2] = { &one, NULL };
    flock at[2], *root;
    made m;
    memset(at, 0, sizeof at);
    at[0].self = at[0].friend = &at[0];
    at[0].one = &one;
    at[0].best = &one + 1;
    at[0].list = list;
    at[0].next = &at[1];
    type = TYPE_NEW(flock, fields);
    make(&m, at, type);
    check_loads(&m);
    root = root_of(&m);
    CHECK_PTR(root->best, root->one + 1);
    root->best = (double *)(void *)(root->list + 1);
    check_refused(&m, HAUL_ERROR_GRAPH, "no object of its type", "root.best");
    root->best = (double *)(void *)((uintptr_t)root->self + sizeof(void *) / 2);
    check_refused(&m, HAUL_ERROR_GRAPH, "no object of its type", "root.best");
    root->best = (double *)(void *)((uintptr_t)root->self + offsetof(flock, data));
    image_sign(&m.image);
    check_loads(&m);
    root->friend = (flock *)(void *)root->one;
    check_refused(&m, HAUL_ERROR_GRAPH, "no object of its type", "root.friend");
    root->friend = root->next + 1;
    check_refused(&m, HAUL_ERROR_GRAPH, "no object of its type", "root.friend");
    bytes_free(&m.image);
    haul_type_free(&type);
}

typedef struct sheep {
    struct sheep *rest; /* left */
    uint32_t left;
    char unused[12 - sizeof(void *)];
    double *own; /* unless it is owned, as by `all` */
    double *all; /* 2 */
} sheep;

TEST(image_claims, an_array_that_its_pointer_owns_is_of_its_type)
{
    haul_type *type = NULL;
    const haul_field fields[] = {
        HAUL_OBJECTS(sheep, rest, &type, HAUL_COUNT(sheep, left)),
        HAUL_ARRAY(sheep, own, HAUL_COUNT(sheep, left), .ownership = HAUL_UNLESS_OWNED),
        HAUL_ARRAY(sheep, all, HAUL_FIXED(2)),
    };
    double numbers[4] = { 1, 2, 3, 4 };
    sheep s;
    made m;
    memset(&s, 0, sizeof s);
    type = TYPE_NEW(sheep, fields);
    s.own = numbers;
    s.all = numbers + 2;
    make(&m, &s, type); /* it leads to nothing */
    check_loads(&m);
    bytes_free(&m.image);
    haul_type_free(&type);
}

/* ---- Numbers. */

typedef struct counted {
    uint64_t count;
    double *at;
} counted;

typedef struct owner {
    uint64_t kind, in_use;
    counted inside;
    counted *to;
} owner;

TEST(image_claims, an_object_in_bytes_that_another_one_skips_counts_by_its_own)
{
    static const haul_field counted_fields[] = { HAUL_ARRAY(counted, at,
                                                            HAUL_COUNT(counted, count)) };
    haul_type *type, *counted_type = TYPE_NEW(counted, counted_fields);
    const haul_field fields[] = {
        HAUL_SKIP(owner, inside, .when = HAUL_EQUALS(owner, kind, 1)),
        HAUL_OBJECT(owner, to, &counted_type),
    };
    double numbers[2] = { 1, 2 };
    owner o;
    made m;
    memset(&o, 0, sizeof o);
    o.kind = 1;
    o.inside.count = 2;
    o.inside.at = numbers;
    o.to = &o.inside;
    type = TYPE_NEW(owner, fields);
    make(&m, &o, type);
    check_loads(&m);
    bytes_free(&m.image);
    haul_type_free(&type);
    haul_type_free(&counted_type);
}

typedef struct blob {
    uint64_t bytes; /* more follow */
} blob;

typedef struct pair {
    blob *first;
    counted *second;
} pair;

static int64_t blob_bytes(const haul_here *here)
{
    return (int64_t)((const blob *)here->self)->bytes;
}

TEST(image_claims, the_rest_of_an_object_with_a_size_of_its_own_is_data)
{
    static const haul_field counted_fields[] = { HAUL_ARRAY(counted, at,
                                                            HAUL_COUNT(counted, count)) };
    haul_type *type, *counted_type = TYPE_NEW(counted, counted_fields);
    haul_type *blob_type = type_new(&(const haul_struct){ .name = "blob",

                                                          .bytes = sizeof(blob),
                                                          .size_fn = blob_bytes });
    const haul_field fields[] = { HAUL_OBJECT(pair, first, &blob_type),
                                  HAUL_OBJECT(pair, second, &counted_type) };
    blob b[4] = { { sizeof b }, { 1 }, { 2 }, { 3 } };
    double numbers[2] = { 1, 2 };
    counted c = { 2, numbers };
    pair p = { b, &c };
    const pair *root;
    made m;
    type = TYPE_NEW(pair, fields);
    make(&m, &p, type);
    check_loads(&m);
    root = root_of(&m);
    CHECK((uintptr_t)root->second > (uintptr_t)root->first);
    ((blob *)target_of(&m, root->first))->bytes =
        (uintptr_t)root->second - (uintptr_t)root->first + sizeof(uint64_t);
    check_refused(&m, HAUL_ERROR_GRAPH, "data of another object", "root.first+32");
    bytes_free(&m.image);
    haul_type_free(&type);
    haul_type_free(&blob_type);
    haul_type_free(&counted_type);
}

#pragma pack(push, 1)
typedef struct tight {
    uint8_t weight;
    union {
        struct tight *next;
        uint8_t byte[sizeof(void *)];
    } to;
    double *data;
    uint8_t kind, rest[6];
} tight;
#pragma pack(pop)

#if UINTPTR_MAX > 0xffffffffu
typedef struct tagged {
    struct tagged *next; /* the highest byte is a tag */
    uintptr_t value;
} tagged;

#define TAG ((uintptr_t)0xff << 56)

TEST(image_claims, a_tagged_pointer_without_its_tag_in_the_list_of_words_is_refused)
{
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(tagged, next, &type, .tag_bits = TAG) };
    tagged at[2];
    image_parts parts;
    haul__odd_word *word;
    unsigned char *arena;
    made m;
    memset(at, 0, sizeof at);
    memset(&parts, 0, sizeof parts);
    at[0].next = &at[1];
    type = TYPE_NEW(tagged, fields);
    make(&m, at, type);
    check_loads(&m);
    image_split(&m.image, &parts);
    arena = parts.part[HAUL__SECTION_ARENA].at;
    word = (haul__odd_word *)(void *)parts.part[HAUL__SECTION_WORDS].at;
    CHECK(parts.part[HAUL__SECTION_WORDS].count >= sizeof *word);
    CHECK_EQ(word->mask, TAG);
    word->mask = 0;
    ((tagged *)(void *)(arena + word->offset))->next =
        (tagged *)((uintptr_t)((tagged *)(void *)(arena + word->offset))->next - HAUL__IMAGE_BELOW);
    image_join(&parts, &m.image);
    check_refused(&m, HAUL_ERROR_FORMAT, "its pointer is not in the list of words", "root.next");
    bytes_resize(&parts.part[HAUL__SECTION_ARENA], parts.part[HAUL__SECTION_ARENA].count + 1);
    image_join(&parts, &m.image);
    check_refused(&m, HAUL_ERROR_FORMAT, "its arena has no size that an arena can have", "");
    bytes_free(&m.image);
    image_parts_free(&parts);
    haul_type_free(&type);
}

/* The highest byte of an address is 0 in any process, but not for all addresses. */
TEST(image_claims, a_count_in_the_bytes_of_a_packed_pointer_is_refused_though_it_is_0)
{
    const uint16_t order = 0x0102;
    uint8_t first;
    haul_type *type = NULL;
    haul_field fields[] = {
        HAUL_OBJECT(tight, to.next, &type, .packed = 1, .when = HAUL_EQUALS(tight, kind, 1),
                    .else_raw = 1),
        HAUL_ARRAY(tight, data, HAUL_COUNT(tight, to.byte[0]), .packed = 1),
    };
    double numbers[1] = { 1 };
    tight at[2];
    haul_image *loaded;
    made m;
    memcpy(&first, &order, 1);
    memset(at, 0, sizeof at);
    fields[1].count.field[0].offset += first == 1 ? 0 : sizeof(void *) - 1;
    at[0].to.next = &at[1];
    at[0].data = at[1].data = numbers;
    type = TYPE_NEW(tight, fields);
    make(&m, at, type);
    check_loads(&m); /* the arm is no pointer */
    bytes_free(&m.image);
    at[0].to.next = NULL;
    at[0].kind = 1;
    make(&m, at, type);
    check_loads(&m);
    bytes_free(&m.image);
    at[0].to.next = &at[1];
    make(&m, at, type);
    CHECK_STATUS(load(&m, &loaded), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(type_context())->text, "lies in a pointer");
    bytes_free(&m.image);
    haul_type_free(&type);
}
#endif

/* ---- Limits. */

typedef struct row {
    struct row *rest;
    uint32_t left, one;
} row;

/* Loads the image of what the root leads to. */
static void check_image_of(void *root, haul_type *type, haul_status expected, const char *words)
{
    haul_image *loaded;
    made m;
    make(&m, root, type);
    CHECK_STATUS(load(&m, &loaded), expected);
    if (expected != HAUL_OK)
        CHECK_HAS(haul_context_error(type_context())->text, words);
    haul_image_free(&loaded);
    bytes_free(&m.image);
}

/* Each row leads to all that follow it. */
static void check_rows(size_t count, const haul_count *of, haul_status expected, const char *words)
{
    haul_type *type = NULL;
    haul_field fields[] = { HAUL_OBJECTS(row, rest, &type, HAUL_COUNT(row, left)) };
    row *all = calloc(count, sizeof *all);
    size_t i;
    CHECK(all != NULL);
    for (i = 0; i < count; i++) {
        all[i].rest = i + 1 < count ? &all[i + 1] : NULL;
        all[i].left = (uint32_t)(count - 1 - i);
        all[i].one = 1;
    }
    if (of)
        fields[0].count = *of;
    type = TYPE_NEW(row, fields);
    check_image_of(all, type, expected, words);
    free(all);
    haul_type_free(&type);
}

TEST(image_claims, objects_that_overlap_too_often_are_refused)
{
    const haul_count three = HAUL_COUNT(row, left, one, one);
    check_rows(20, NULL, HAUL_OK, "");
    check_rows(20, &three, HAUL_OK, "");
    check_rows(50, &three, HAUL_ERROR_LIMIT, "too many objects overlap");
    check_rows(1000, NULL, HAUL_ERROR_LIMIT, "ranges overlap so often");
}

typedef struct word {
    char *text;
    struct word *next;
} word;

/* `count` words, each of which begins a letter before the former one, in one text. */
static void check_words(size_t count, haul_status expected, const char *words)
{
    enum { LETTERS = 1 << 17 };
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_STRING(word, text), HAUL_OBJECT(word, next, &type) };
    word *all = calloc(count, sizeof *all);
    char *letters = malloc(LETTERS);
    size_t i;
    CHECK(all && letters);
    memset(letters, 'l', LETTERS);
    letters[LETTERS - 1] = '\0';
    for (i = 0; i < count; i++) {
        all[i].text = letters + count - 1 - i;
        all[i].next = i + 1 < count ? &all[i + 1] : NULL;
    }
    type = TYPE_NEW(word, fields);
    check_image_of(all, type, expected, words);
    free(letters);
    free(all);
    haul_type_free(&type);
}

TEST(image_claims, strings_that_overlap_too_often_are_refused)
{
    check_words(20, HAUL_OK, "");
    check_words(400, HAUL_ERROR_LIMIT, "ranges overlap so often"); /* while one is marked */
    check_words(500, HAUL_ERROR_LIMIT, "ranges overlap so often"); /* while one is counted */
}

typedef struct crowd {
    unsigned char *to[200]; /* each leads to counts from its own one on */
    uint32_t counts[200];
} crowd;

TEST(image_claims, bytes_that_lie_over_numbers_too_often_are_refused)
{
    enum { COUNT = 200 };
    static haul_field fields[COUNT];
    static char names[COUNT][8];
    static crowd c;
    haul_type *type;
    haul_image *loaded;
    size_t i;
    made m;
    for (i = 0; i < COUNT; i++) {
        const haul_field field = HAUL_BYTES(crowd, to[0], HAUL_COUNT(crowd, counts[0]));
        fields[i] = field;
        sprintf(names[i], "to%d", (int)i);
        fields[i].name = names[i];
        fields[i].offset += i * sizeof *c.to;
        fields[i].count.field[0].offset += i * sizeof *c.counts;
        c.to[i] = (unsigned char *)&c.counts[i];
        c.counts[i] = (uint32_t)((COUNT - i) * sizeof *c.counts);
    }
    type = type_new(&(const haul_struct){ .name = "crowd",
                                          .bytes = sizeof c,
                                          .fields = fields,
                                          .field_count = COUNT,
                                          .field_bytes = sizeof *fields });
    make(&m, &c, type);
    CHECK_STATUS(load(&m, &loaded), HAUL_ERROR_LIMIT);
    CHECK_HAS(haul_context_error(type_context())->text, "too many objects overlap");
    bytes_free(&m.image);
    haul_type_free(&type);
}

/* ---- Memory. */

TEST(image_claims, memory_that_runs_out_in_the_checks_is_told_and_given_back)
{
    haul_type *type = NULL;
    const haul_field fields[] = {
        HAUL_OBJECT(cell, next, &type),
        HAUL_ARRAY(cell, best, HAUL_ONE, .ownership = HAUL_BORROWED),
        HAUL_ARRAY(cell, last, HAUL_FIXED(2)),
    };
    /* Where a block of the map ends is one more allocation, so each load has the same place. */
    static unsigned char place[4096] __attribute__((aligned(4096)));
    static const haul_image_options options = { .buffer = place, .buffer_bytes = sizeof place };
    cell at[2];
    uint64_t event;
    int fired = 1, found = 0;
    made m;
    memset(at, 0, sizeof at);
    at[0].next = &at[1];
    at[1].next = &at[0];
    at[0].best = &at[1].value[1];
    at[0].last = at[1].last = at[1].value;
    type = TYPE_NEW(cell, fields);
    make(&m, at, type);
    for (event = 1; fired; event++) {
        fault_plan doors = { 0 };
        haul_context *context;
        haul_image *loaded;
        haul_status status;
        CHECK_STATUS(fault_open_context(&doors, NULL, &context), HAUL_OK);
        fault_arm(&doors, FAULT_ONCE, event);
        status =
            haul_image_from_bytes(context, m.image.at, m.image.count, &type, 1, &options, &loaded);
        fired = doors.fired != 0 || doors.fell_back != 0;
        fault_disarm(&doors);
        CHECK(status == (loaded ? HAUL_OK : HAUL_ERROR_MEMORY));
        CHECK(doors.fired || loaded);
        found += strstr(haul_context_error(context)->text, "the checks of an image") != NULL;
        haul_image_free(&loaded);
        haul_context_free(&context);
        fault_check_clean(&doors);
    }
    CHECK_EQ(found, 7); /* the scan has five lists, its other checks two */
    bytes_free(&m.image);
    haul_type_free(&type);
}

/* ---- Pointers that two objects have. */

typedef struct shelf {
    double *numbers; /* count */
    double *best;    /* borrowed, one */
    char *name;
    double **rows; /* one, of 2 */
    char **names;  /* one */
    uint64_t count;
} shelf;

static haul_type *shelf_new(void)
{
    const haul_field fields[] = {
        HAUL_ARRAY(shelf, numbers, HAUL_COUNT(shelf, count)),
        HAUL_ARRAY(shelf, best, HAUL_ONE, .ownership = HAUL_BORROWED),
        HAUL_STRING(shelf, name),
        HAUL_ARRAYS(shelf, rows, HAUL_ONE, HAUL_FIXED(2)),
        HAUL_STRINGS(shelf, names, HAUL_ONE),
    };
    return TYPE_NEW(shelf, fields);
}

/* A plan follows it for one of them only. */
TEST(image_claims, a_pointer_that_two_objects_have_leads_to_the_same_for_both)
{
    haul_type *type = shelf_new();
    struct {
        char name[16]; /* it ends before the numbers begin: `best` could be its end */
        double numbers[2];
    } on = { "top", { 1, 2 } };
    shelf s = { on.numbers, on.numbers, on.name, NULL, NULL, 2 }, *root;
    made m;
    s.rows = &s.numbers;
    s.names = &s.name;
    make(&m, &s, type);
    check_loads(&m);
    root = root_of(&m);
    root->count = 1;
    check_refused(&m, HAUL_ERROR_GRAPH, "two different targets", "root.numbers");
    root->count = 2;
    root->rows = (double **)(void *)((uintptr_t)root->rows + offsetof(shelf, best));
    check_refused(&m, HAUL_ERROR_GRAPH, "two different targets", "root.best");
    root->rows =
        (double **)(void *)((uintptr_t)root->rows + offsetof(shelf, name) - offsetof(shelf, best));
    image_sign(&m.image);
    {
        haul_image *loaded;
        const char *path;
        CHECK_STATUS(load(&m, &loaded), HAUL_ERROR_GRAPH);
        path = haul_context_error(type_context())->path;
        /* the walk meets `name` first or, if pointers have 4 bytes, what `rows` leads to */
        CHECK_STR(path, sizeof(void *) > 4 ? "root.name" : "root.rows[0]");
    }
    bytes_free(&m.image);
    haul_type_free(&type);
}

typedef struct vec {
    int *begin, *end;
} vec;

typedef struct box {
    vec own;
    vec *mine; /* the same one */
    int *other;
} box;

TEST(image_claims, an_end_that_two_objects_have_is_the_same_for_both)
{
    static haul_type *vec_type;
    static const haul_field vec_fields[] = { HAUL_ARRAY(vec, begin, HAUL_UNTIL(vec, end)) };
    const haul_field fields[] = { HAUL_EMBED(box, own, &vec_type),
                                  HAUL_OBJECT(box, mine, &vec_type),
                                  HAUL_ARRAY(box, other, HAUL_ONE) };
    int numbers[6] = { 1, 2, 3, 4, 5, 6 };
    box b = { { numbers, numbers + 6 }, &b.own, numbers + 5 }, *root;
    haul_type *type;
    made m;
    vec_type = TYPE_NEW(vec, vec_fields);
    type = TYPE_NEW(box, fields);
    make(&m, &b, type);
    check_loads(&m);
    root = root_of(&m);
    root->mine = (vec *)(void *)((uintptr_t)root->mine + offsetof(box, own.end));
    image_sign(&m.image);
    {
        haul_image *loaded; /* an end would be a begin */
        CHECK_STATUS(load(&m, &loaded), HAUL_ERROR_GRAPH);
    }
    bytes_free(&m.image);
    haul_type_free(&type);
    haul_type_free(&vec_type);
}

/* ---- Objects over a number, field by field. */

typedef struct labelled {
    uint32_t low, high;
    uint64_t tag, plain;
} labelled;

typedef struct likewise {
    uint64_t first, second;
} likewise;

/* What is not data here lies over bytes that the host skips, which are zeros. */
typedef struct probe {
    uint64_t hole; /* skipped: its first byte lies behind its address */
    uint64_t spare, count, factor, when, unless, self, each_count, each_when;
    uint64_t absent, present; /* plain where `when` is 1, and 0 */
    struct {
        uint32_t left, right;
    } two;
    double *list;
    int *on_when, *on_unless, *raw; /* raw: travels as it is where `when` is not 1 */
    void *chosen, *any, *by_low;
    int **each;
    double *half; /* as many as `two.left` */
} probe;

typedef struct host {
    uint64_t before[64], number, after[64];
    double *numbers; /* `number` of them */
    probe *probes;   /* 2 */
    labelled *labelled;
    likewise *likewise;
} host;

static haul_type *host_type, *probe_type, *labelled_type, *likewise_type;

static void host_open(void)
{
    static const haul_case cases[] = { { 0, &likewise_type, 0 } };
    static const haul_case labels[] = { { 0, &labelled_type, 0 } };
    static const haul_field each = { .when = HAUL_EQUALS(probe, each_when, 1) };
    static const haul_field probe_fields[] = {
        HAUL_SKIP(probe, hole),
        HAUL_RAW(probe, absent, .when = HAUL_EQUALS(probe, when, 1)),
        HAUL_RAW(probe, present, .when = HAUL_EQUALS(probe, when, 0)),
        HAUL_ARRAY(probe, list, HAUL_COUNT(probe, count, factor)),
        HAUL_ARRAY(probe, half, HAUL_COUNT(probe, two.left)),
        HAUL_ARRAY(probe, on_when, HAUL_ONE, .when = HAUL_EQUALS(probe, when, 1)),
        HAUL_ARRAY(probe, on_unless, HAUL_ONE, .when = HAUL_DIFFERS(probe, unless, 0)),
        HAUL_ARRAY(probe, raw, HAUL_ONE, .when = HAUL_EQUALS(probe, when, 1), .else_raw = 1),
        HAUL_ADDRESS(probe, chosen, .type_switch = HAUL_SWITCH(probe, self, cases)),
        HAUL_ADDRESS(probe, any, .type_switch = HAUL_SWITCH_TARGET(labelled, tag, labels)),
        HAUL_ADDRESS(probe, by_low, .type_switch = HAUL_SWITCH_TARGET(labelled, low, labels)),
        HAUL_ADDRESS(probe, each, .levels = 2, .element_bytes = sizeof(int),
                     .count = HAUL_COUNT(probe, count), .count2 = HAUL_COUNT(probe, each_count),
                     .each_pointer = &each),
    };
    static const haul_field host_fields[] = {
        HAUL_SKIP(host, before),
        HAUL_SKIP(host, after),
        HAUL_ARRAY(host, numbers, HAUL_COUNT(host, number)),
        HAUL_OBJECTS(host, probes, &probe_type, HAUL_FIXED(2)),
        HAUL_OBJECT(host, labelled, &labelled_type),
        HAUL_OBJECT(host, likewise, &likewise_type),
    };
    labelled_type = type_new(&(const haul_struct)HAUL_PLAIN(labelled, NULL));
    likewise_type = type_new(&(const haul_struct)HAUL_PLAIN(likewise, NULL));
    probe_type = TYPE_NEW(probe, probe_fields);
    host_type = TYPE_NEW(host, host_fields);
}

static void host_close(void)
{
    haul_type_free(&host_type);
    haul_type_free(&probe_type);
    haul_type_free(&labelled_type);
    haul_type_free(&likewise_type);
}

static void check_host(host *h, int is_right)
{
    haul_image *loaded;
    made m;
    make(&m, h, host_type);
    CHECK_STATUS(load(&m, &loaded), is_right ? HAUL_OK : HAUL_ERROR_GRAPH);
    if (!is_right)
        CHECK_HAS(haul_context_error(type_context())->text, "data of another object");
    haul_image_free(&loaded);
    bytes_free(&m.image);
}

#define PLACE(S, m, right)                                                                         \
    {                                                                                              \
#m, offsetof(S, m), right                                                                  \
    }

typedef struct place {
    const char *name;
    size_t offset;
    int is_right;
} place;

TEST(image_claims, an_object_may_lie_over_a_number_where_it_counts_or_chooses_by_it_and_only_there)
{
    static const place places[] = {
        PLACE(probe, hole, 1),
        PLACE(probe, spare, 0),
        PLACE(probe, count, 1),
        PLACE(probe, factor, 1),
        PLACE(probe, when, 1),
        PLACE(probe, unless, 1),
        PLACE(probe, self, 1),
        PLACE(probe, each_count, 1),
        PLACE(probe, each_when, 1),
        PLACE(probe, absent, 1),
        PLACE(probe, present, 0),
        PLACE(probe, two, 0),
#if UINTPTR_MAX > 0xffffffffu
        PLACE(probe, raw, 0), /* a number of 8 bytes does not lie in a shorter pointer */
#endif
    };
    size_t i, second;
    host_open();
    for (i = 0; i < sizeof places / sizeof *places; i++)
        for (second = 0; second < 2; second++) {
            host h;
            memset(&h, 0, sizeof h);
            check_note("%s of element %d", places[i].name, (int)second);
            h.probes = (probe *)((uintptr_t)&h.number - places[i].offset - second * sizeof(probe));
            check_host(&h, places[i].is_right);
        }
    check_note(NULL);
    host_close();
}

/* Where one of the types has such a field that points to it. */
TEST(image_claims, a_tag_that_a_pointer_chooses_by_may_lie_over_a_number)
{
    static const place places[] = { PLACE(labelled, low, 0), PLACE(labelled, tag, 1),
                                    PLACE(labelled, plain, 0) };
    size_t i;
    host_open();
    for (i = 0; i < sizeof places / sizeof *places; i++) {
        host h;
        memset(&h, 0, sizeof h);
        check_note("%s", places[i].name);
        h.probes = (probe *)(void *)h.after;
        h.labelled = (labelled *)((uintptr_t)&h.number - places[i].offset);
        check_host(&h, places[i].is_right);
    }
    check_note(NULL);
    for (i = 0; i < 2; i++) {
        host h;
        memset(&h, 0, sizeof h);
        h.probes = (probe *)(void *)h.after;
        h.likewise = (likewise *)((uintptr_t)&h.number - i * sizeof(uint64_t));
        check_host(&h, 0);
    }
    host_close();
}
