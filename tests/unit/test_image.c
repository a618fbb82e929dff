/* Images: what comes back is the graph that was written; what is damaged or made with malice is
 * refused, and the record says where.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/format.h"
#include "haul.h"
#include "haul/rebuild.h"
#include "haul/type_mpi.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/types.h"
#include "support/written.h"

typedef struct mesh {
    struct mesh *next, *owner; /* owner: borrowed */
    double *xyz;
    char *name;
    uint16_t count;
    uint8_t kind, unused[5];
} mesh;

static haul_type *mesh_type;
static const haul_field mesh_fields[] = {
    HAUL_OBJECT(mesh, next, &mesh_type),
    HAUL_OBJECT(mesh, owner, &mesh_type, .ownership = HAUL_BORROWED),
    HAUL_ARRAY(mesh, xyz, HAUL_COUNT(mesh, count)),
    HAUL_STRING(mesh, name),
};
static const haul_struct structs[] = { HAUL_STRUCT(mesh, &mesh_type, mesh_fields) };

/* ---- Bytes in memory. */

typedef struct bytes {
    unsigned char *at;
    size_t count, read, piece; /* piece: the most that one read gives */
    size_t refuses_at;         /* a write that passes it fails; 0: none does */
} bytes;

static haul_status put_bytes(void *user, const void *data, size_t count)
{
    bytes *b = user;
    check_written(data, count);
    if (b->refuses_at && b->count + count > b->refuses_at)
        return HAUL_ERROR_FILE;
    b->at = realloc(b->at, b->count + count);
    CHECK(b->at != NULL);
    memcpy(b->at + b->count, data, count);
    b->count += count;
    return HAUL_OK;
}

static haul_status get_bytes(void *user, void *data, size_t count, size_t *got)
{
    bytes *b = user;
    *got = b->count - b->read < count ? b->count - b->read : count;
    *got = *got < b->piece ? *got : b->piece;
    memcpy(data, b->at + b->read, *got);
    b->read += *got;
    return HAUL_OK;
}

static haul_file writes(bytes *b)
{
    haul_file file = { NULL, put_bytes, NULL };
    file.user = b;
    return file;
}

/* ---- A graph: a ring of three meshes, whose owner is the first. */

typedef struct ring {
    haul_context *context;
    mesh at[3];
    double xyz[6];
    bytes image;
} ring;

static void ring_fill(ring *r)
{
    static char name[] = "Ariadne";
    size_t i;
    memset(r->at, 0, sizeof r->at);
    for (i = 0; i < 6; i++)
        r->xyz[i] = (double)i / 2;
    for (i = 0; i < 3; i++) {
        r->at[i].next = &r->at[(i + 1) % 3];
        r->at[i].owner = &r->at[0];
        r->at[i].xyz = r->xyz + 2 * i;
        r->at[i].count = 2;
        r->at[i].kind = (uint8_t)i;
        r->at[i].name = i == 2 ? NULL : name + 3 * i;
    }
}

static void ring_open(ring *r)
{
    haul_file file = writes(&r->image);
    memset(r, 0, sizeof *r);
    ring_fill(r);
    CHECK_STATUS(haul_context_create(NULL, &r->context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(r->context, structs), HAUL_OK);
    CHECK_STATUS(haul_image_write(r->context, haul_from_object(r->at, mesh_type), &file), HAUL_OK);
}

static void ring_close(ring *r)
{
    free(r->image.at);
    HAUL_FORGET(structs);
    haul_context_free(&r->context);
}

static const char *error_of(const ring *r)
{
    return haul_context_error(r->context)->text;
}

static haul_status load_as(ring *r, const haul_image_options *options, haul_image **image)
{
    return haul_image_from_bytes(r->context, r->image.at, r->image.count, &mesh_type, 1, options,
                                 image);
}

static haul_status load(ring *r, haul_image **image)
{
    return load_as(r, NULL, image);
}

static void check_ring(const ring *r, const haul_image *image)
{
    size_t count, size, i;
    const haul_root *roots = haul_image_roots(image, &count);
    const unsigned char *block = haul_image_memory(image, &size);
    const mesh *first = roots->address, *m = first;
    CHECK_EQ(count, 1);
    CHECK_EQ(roots->count, 1);
    CHECK_PTR(roots->type, mesh_type);
    for (i = 0; i < 3; i++, m = m->next) {
        CHECK((const unsigned char *)m > block && (const unsigned char *)(m + 1) <= block + size);
        CHECK_PTR(m->owner, first);
        CHECK_EQ(m->count, 2);
        CHECK_EQ(m->kind, i);
        CHECK_BYTES(m->xyz, r->xyz + 2 * i, 2 * sizeof(double));
        if (i < 2)
            CHECK_STR(m->name, r->at[i].name);
        else
            CHECK_PTR(m->name, NULL);
    }
    CHECK_PTR(m, first);
    CHECK_PTR(first->name + 3, first->next->name);
}

TEST(image, a_graph_comes_back_with_its_cycles_aliases_and_shared_strings)
{
    ring r;
    haul_image *image;
    ring_open(&r);
    CHECK_STATUS(load(&r, &image), HAUL_OK);
    check_ring(&r, image);
    haul_image_free(&image);
    CHECK_PTR(image, NULL);
    ring_close(&r);
}

TEST(image, an_image_on_pages_that_cannot_be_written_loads_from_any_address_F23)
{
    const size_t page = 65536;
    unsigned char *pages;
    haul_image *image;
    ring r;
    size_t at;
    ring_open(&r);
    CHECK(r.image.count + 16 <= page);
    for (at = 0; at < 16; at++) {
        pages = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(pages != MAP_FAILED);
        memcpy(pages + at, r.image.at, r.image.count);
        CHECK(mprotect(pages, page, PROT_READ) == 0);
        CHECK_STATUS(haul_image_from_bytes(r.context, pages + at, r.image.count, &mesh_type, 1,
                                           NULL, &image),
                     HAUL_OK);
        CHECK(munmap(pages, page) == 0);
        check_ring(&r, image);
        haul_image_free(&image);
    }
    ring_close(&r);
}

TEST(image, the_same_graph_makes_the_same_bytes_wherever_it_lies)
{
    ring r, other;
    haul_image *image;
    bytes again = { NULL, 0, 0, 0, 0 };
    haul_file file = writes(&again);
    size_t count;
    const haul_root *roots;
    ring_open(&r);
    memset(&other, 0, sizeof other);
    ring_fill(&other);
    CHECK_STATUS(haul_image_write(r.context, haul_from_object(other.at, mesh_type), &file),
                 HAUL_OK);
    CHECK_EQ(again.count, r.image.count);
    CHECK_BYTES(again.at, r.image.at, again.count);
    CHECK_STATUS(load(&r, &image), HAUL_OK);
    again.count = 0;
    roots = haul_image_roots(image, &count);
    CHECK_STATUS(haul_image_write(r.context, haul_from_roots(roots, count), &file), HAUL_OK);
    CHECK_EQ(again.count, r.image.count);
    CHECK_BYTES(again.at, r.image.at, again.count);
    haul_image_free(&image);
    free(again.at);
    ring_close(&r);
}

TEST(image, a_file_may_give_its_bytes_in_any_pieces)
{
    ring r;
    haul_image *image;
    size_t piece;
    ring_open(&r);
    for (piece = 1; piece <= r.image.count; piece = piece * 3 + 1) {
        haul_file file = { NULL, NULL, get_bytes };
        file.user = &r.image;
        r.image.read = 0;
        r.image.piece = piece;
        CHECK_STATUS(haul_image_read(r.context, &file, &mesh_type, 1, NULL, &image), HAUL_OK);
        check_ring(&r, image);
        CHECK_EQ(r.image.read, r.image.count);
        haul_image_free(&image);
    }
    ring_close(&r);
}

TEST(image, an_ordered_plan_makes_the_image_of_its_graph)
{
    static const haul_plan_options ordered = { 1, 0 };
    ring r;
    haul_plan *plan;
    bytes again = { NULL, 0, 0, 0, 0 };
    haul_file file = writes(&again);
    ring_open(&r);
    CHECK_STATUS(haul_plan_create(r.context, haul_from_object(r.at, mesh_type), &ordered, &plan),
                 HAUL_OK);
    CHECK_STATUS(haul_image_write(r.context, haul_from_plan(plan), &file), HAUL_OK);
    CHECK_EQ(again.count, r.image.count);
    CHECK_BYTES(again.at, r.image.at, again.count);
    haul_plan_free(&plan);
    CHECK_STATUS(haul_plan_create(r.context, haul_from_object(r.at, mesh_type), NULL, &plan),
                 HAUL_OK);
    CHECK_STATUS(haul_image_write(r.context, haul_from_plan(plan), &file), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error_of(&r), "ordered");
    haul_plan_free(&plan);
    free(again.at);
    ring_close(&r);
}

TEST(image, the_root_of_an_arena_makes_the_image_of_what_it_reaches)
{
    haul_arena *arena = NULL;
    mesh *first, *other;
    haul_image *image;
    ring r;
    ring_open(&r);
    CHECK_STATUS(haul_arena_create(r.context, NULL, &arena), HAUL_OK);
    first = haul_arena_new(arena, mesh_type, 1);
    other = haul_arena_new(arena, mesh_type, 1);
    CHECK(first && other && haul_arena_new(arena, mesh_type, 1));
    first->next = other;
    other->owner = first;
    other->kind = 7;
    free(r.image.at);
    memset(&r.image, 0, sizeof r.image);
    {
        haul_file file = writes(&r.image);
        CHECK_STATUS(
            haul_image_write(r.context, haul_from_arena_root(arena, first, mesh_type), &file),
            HAUL_OK);
        CHECK_STATUS(haul_image_write(r.context, haul_from_arena(arena), &file),
                     HAUL_ERROR_ARGUMENT);
        CHECK_HAS(error_of(&r), "haul_from_arena_root");
    }
    CHECK_STATUS(load(&r, &image), HAUL_OK);
    first = haul_image_roots(image, NULL)->address;
    CHECK_EQ(first->next->kind, 7);
    CHECK_PTR(first->next->owner, first);
    haul_image_free(&image);
    haul_arena_free(&arena);
    ring_close(&r);
}

TEST(image, an_image_outlives_its_context_and_types)
{
    ring r;
    haul_image *image;
    ring_open(&r);
    CHECK_STATUS(load(&r, &image), HAUL_OK);
    ring_close(&r);
    CHECK_EQ(((const mesh *)haul_image_roots(image, NULL)->address)->next->kind, 1);
    haul_image_free(&image);
    haul_image_free(&image);
    CHECK_PTR(haul_image_roots(NULL, NULL), NULL);
    CHECK_PTR(haul_image_memory(NULL, NULL), NULL);
}

/* ---- Files. */

static void in_folder(char *path, const char *folder, const char *name)
{
    snprintf(path, 200, "%s/%s", folder, name);
}

TEST(image, a_file_is_replaced_as_a_whole_or_not_at_all)
{
    char folder[] = P_tmpdir "/haul-image-XXXXXX", path[200], missing[200];
    struct stat before, after;
    ring r;
    haul_image *image;
    int file;
    ring_open(&r);
    memset(&before, 0, sizeof before);
    memset(&after, 0, sizeof after);
    CHECK(mkdtemp(folder) != NULL);
    in_folder(path, folder, "ring.haul");
    in_folder(missing, folder, "none/ring.haul");
    CHECK_STATUS(haul_image_save(r.context, haul_from_object(r.at, mesh_type), path), HAUL_OK);
    CHECK_STATUS(haul_image_load(r.context, path, &mesh_type, 1, NULL, &image), HAUL_OK);
    check_ring(&r, image);
    haul_image_free(&image);
    CHECK(stat(path, &before) == 0);
    r.at[1].xyz = NULL; /* with a count of 2: no graph */
    CHECK_STATUS(haul_image_save(r.context, haul_from_object(r.at, mesh_type), path),
                 HAUL_ERROR_GRAPH);
    CHECK(stat(path, &after) == 0);
    CHECK_EQ(before.st_ino, after.st_ino);
    CHECK_STATUS(haul_image_save(r.context, haul_from_object(r.at, mesh_type), missing),
                 HAUL_ERROR_FILE);
    CHECK_HAS(error_of(&r), "open of ");
    CHECK_STATUS(haul_image_load(r.context, missing, &mesh_type, 1, NULL, &image), HAUL_ERROR_FILE);
    CHECK(truncate(path, 100) == 0);
    CHECK_STATUS(haul_image_load(r.context, path, &mesh_type, 1, NULL, &image), HAUL_ERROR_FORMAT);
    file = open(folder, O_RDONLY);
    CHECK(file >= 0);
    close(file);
    CHECK(unlink(path) == 0);
    CHECK(rmdir(folder) == 0); /* no other file was left there */
    ring_close(&r);
}

TEST(image, a_file_that_refuses_bytes_ends_the_call)
{
    ring r;
    bytes full = { NULL, 0, 0, 0, 1 };
    haul_file file = writes(&full);
    ring_open(&r);
    for (full.refuses_at = 1; full.refuses_at < r.image.count; full.refuses_at += 61) {
        full.count = 0;
        CHECK_STATUS(haul_image_write(r.context, haul_from_object(r.at, mesh_type), &file),
                     HAUL_ERROR_FILE);
    }
    free(full.at);
    ring_close(&r);
}

static haul_status claim_more(void *user, void *data, size_t count, size_t *got)
{
    (void)user;
    memset(data, 0, count);
    *got = count + 1;
    return HAUL_OK;
}

TEST(image, a_file_that_claims_to_have_read_more_than_was_asked_is_refused)
{
    const haul_file file = { .read = claim_more };
    haul_image *image;
    ring r;
    ring_open(&r);
    CHECK_STATUS(haul_image_read(r.context, &file, &mesh_type, 1, NULL, &image), HAUL_ERROR_FILE);
    CHECK_PTR(image, NULL);
    ring_close(&r);
}

/* ---- Damage: without malice, the checksums find it. */

TEST(image, every_flipped_bit_and_every_cut_is_found)
{
    ring r;
    haul_image *image;
    size_t whole, i;
    unsigned bit;
    ring_open(&r);
    whole = r.image.count;
    for (r.image.count = 0; r.image.count < whole; r.image.count++) {
        CHECK_STATUS(load(&r, &image), HAUL_ERROR_FORMAT);
        CHECK_PTR(image, NULL);
    }
    for (i = 0; i < whole; i++)
        for (bit = 0; bit < 8; bit++) {
            haul_status status;
            r.image.at[i] ^= (unsigned char)(1u << bit);
            status = load(&r, &image);
            CHECK(status == HAUL_ERROR_FORMAT || status == HAUL_ERROR_VERSION);
            r.image.at[i] ^= (unsigned char)(1u << bit);
        }
    CHECK_STATUS(put_bytes(&r.image, "", 1), HAUL_OK);
    CHECK_STATUS(load(&r, &image), HAUL_ERROR_FORMAT);
    CHECK_HAS(error_of(&r), "other bytes follow");
    ring_close(&r);
}

/* ---- Malice: the checksums are right. */

static haul__image_head *head_of(const bytes *image)
{
    return (haul__image_head *)(void *)image->at;
}

static haul__image_section *sections_of(const bytes *image)
{
    return (haul__image_section *)(void *)(image->at + sizeof(haul__image_head));
}

static haul__image_section *section_of(const bytes *image, uint32_t kind)
{
    haul__image_section *s = sections_of(image);
    while (s->kind != kind)
        s++;
    return s;
}

static void sign(bytes *image)
{
    haul__image_head *head = head_of(image);
    haul__image_section *s = sections_of(image);
    uint32_t i;
    for (i = 0; i < head->section_count; i++)
        if (s[i].offset <= image->count && s[i].bytes <= image->count - s[i].offset)
            s[i].hash = haul__image_hash(image->at + s[i].offset, (size_t)s[i].bytes);
    head->hash = haul__image_head_hash(head, s);
}

/* The mesh `n` of the image, whose pointers are offsets. */
static mesh *mesh_of(const bytes *image, size_t n)
{
    unsigned char *arena = image->at + section_of(image, HAUL__SECTION_ARENA)->offset;
    const haul__image_root *root =
        (const void *)(image->at + section_of(image, HAUL__SECTION_ROOTS)->offset);
    mesh *m = (mesh *)(void *)(arena + root->offset);
    while (n--)
        m = (mesh *)(void *)(arena + (uintptr_t)m->next);
    return m;
}

static void check_refused(ring *r, haul_status expected, const char *words)
{
    haul_image *image;
    sign(&r->image);
    CHECK_STATUS(load(r, &image), expected);
    CHECK_PTR(image, NULL);
    CHECK_HAS(error_of(r), words);
}

#define OFFSET(n) ((void *)(uintptr_t)(n))

TEST(image, pointers_that_leave_the_arena_are_refused_even_if_trusted)
{
    static const haul_image_options trusted = { .is_trusted = 1 };
    ring r;
    haul_image *image;
    ring_open(&r);
    mesh_of(&r.image, 1)->xyz = OFFSET(section_of(&r.image, HAUL__SECTION_ARENA)->bytes + 1);
    check_refused(&r, HAUL_ERROR_FORMAT, "leads out");
    CHECK_STATUS(load_as(&r, &trusted, &image), HAUL_ERROR_FORMAT);
    mesh_of(&r.image, 1)->xyz = OFFSET(sizeof(void *));
    check_refused(&r, HAUL_ERROR_FORMAT, "leads out");
    mesh_of(&r.image, 1)->xyz = OFFSET(section_of(&r.image, HAUL__SECTION_ARENA)->bytes - 8);
    check_refused(&r, HAUL_ERROR_GRAPH, "not readable");
    CHECK_STR(haul_context_error(r.context)->path, "root.next.xyz");
    ring_close(&r);
}

TEST(image, counts_and_terminators_are_those_of_the_block)
{
    ring r;
    mesh *m;
    char *name;
    ring_open(&r);
    m = mesh_of(&r.image, 2);
    m->count = 60000;
    check_refused(&r, HAUL_ERROR_GRAPH, "not readable");
    m->count = 2;
    name = (char *)r.image.at + r.image.count - 16; /* the coordinates of the last mesh */
    CHECK_EQ((uintptr_t)m->xyz + 16, section_of(&r.image, HAUL__SECTION_ARENA)->bytes);
    memset(name, 'x', 16);
    mesh_of(&r.image, 0)->name = OFFSET((uintptr_t)m->xyz);
    check_refused(&r, HAUL_ERROR_LIMIT, "no terminator");
    ring_close(&r);
}

TEST(image, a_bit_that_the_types_do_not_imply_is_refused)
{
    ring r;
    uint64_t *bits, *number;
    size_t word, bit;
    ring_open(&r);
    word = (size_t)section_of(&r.image, HAUL__SECTION_BITS)->offset;
    bits = (uint64_t *)(void *)(r.image.at + word);
    bits[0] ^= bits[0] & (~bits[0] + 1); /* the first pointer */
    check_refused(&r, HAUL_ERROR_GRAPH, "outside any process's address range");
    ring_close(&r);
    ring_open(&r);
    bits = (uint64_t *)(void *)(r.image.at + word);
    number = (uint64_t *)(void *)(r.image.at + section_of(&r.image, HAUL__SECTION_ARENA)->offset +
                                  (uintptr_t)mesh_of(&r.image, 0)->xyz);
    *number = 32; /* a double, and an offset */
    bit = (uintptr_t)mesh_of(&r.image, 0)->xyz / sizeof(void *);
    bits[bit / 64] |= UINT64_C(1) << bit % 64;
    check_refused(&r, HAUL_ERROR_FORMAT, "a bit calls it a pointer");
    CHECK_STR(haul_context_error(r.context)->path, "root.xyz[0]");
    ring_close(&r);
}

typedef struct __attribute__((packed)) link {
    uint8_t weight;
    struct link *to;
    uint8_t rest[7];
} link_to;

TEST(image, a_bit_over_a_pointer_of_the_list_is_refused_wherever_the_block_lies)
{
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(link_to, to, &type, .packed = 1) };
    const haul_struct described = { .name = "link",
                                    .bytes = sizeof(link_to),
                                    .fields = fields,
                                    .field_count = 1,
                                    .field_bytes = sizeof *fields };
    haul_context *context = type_context();
    const uint16_t order = 1;
    const int is_little = *(const unsigned char *)&order == 1;
    link_to one = { 0, NULL, { 0 } };
    bytes image_bytes = { NULL, 0, 0, 0, 0 };
    haul_file file = writes(&image_bytes);
    haul_image *image;
    uint64_t *bits;
    one.to = &one;
    CHECK_STATUS(haul_type_create(context, &described, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_image_write(context, haul_from_object(&one, type), &file), HAUL_OK);
    bits =
        (uint64_t *)(void *)(image_bytes.at + section_of(&image_bytes, HAUL__SECTION_BITS)->offset);
    /* The highest byte of the pointer, 0, and its neighbours of that value: as a word, null. The
     * object begins with word 2. */
    *bits |= UINT64_C(1) << (is_little ? 3 : 2);
    sign(&image_bytes);
    CHECK_STATUS(
        haul_image_from_bytes(context, image_bytes.at, image_bytes.count, &type, 1, NULL, &image),
        HAUL_ERROR_FORMAT);
    CHECK_HAS(haul_context_error(context)->text, "and its bitmap one over it");
    free(image_bytes.at);
    haul_type_free(&type);
}

TEST(image, bytes_that_belong_to_nothing_are_zeros)
{
    ring r;
    ring_open(&r);
    r.image.at[section_of(&r.image, HAUL__SECTION_ARENA)->offset + 3] = 1;
    check_refused(&r, HAUL_ERROR_FORMAT, "byte 3 of the image's arena: it belongs to no object");
    ring_close(&r);
}

TEST(image, numbers_that_lie_over_a_count_are_refused)
{
    ring r;
    char path[40];
    mesh *m;
    ring_open(&r);
    m = mesh_of(&r.image, 0);
    memset(r.image.at + section_of(&r.image, HAUL__SECTION_ARENA)->offset + (uintptr_t)m->xyz, 0,
           2 * sizeof(double));
    /* a double over the second mesh's count: readable, and the end of the count when written */
    m->xyz = OFFSET((uintptr_t)m->next + offsetof(mesh, count));
    m->count = 1;
    sign(&r.image);
    check_refused(&r, HAUL_ERROR_GRAPH, "data of another object");
    snprintf(path, sizeof path, "root.next+%zu", offsetof(mesh, count));
    CHECK_STR(haul_context_error(r.context)->path, path);
    ring_close(&r);
}

TEST(image, a_borrowed_pointer_leads_to_an_object_of_its_type)
{
    ring r;
    mesh *m;
    ring_open(&r);
    m = mesh_of(&r.image, 1);
    m->owner = (mesh *)(void *)m->xyz;
    check_refused(&r, HAUL_ERROR_GRAPH, "no object of its type");
    CHECK_STR(haul_context_error(r.context)->path, "root.next.owner");
    ring_close(&r);
}

TEST(image, a_root_outside_of_the_arena_is_refused_and_all_memory_goes_back)
{
    ring r;
    haul_context *usual;
    fault_plan doors = { 0 };
    ring_open(&r);
    usual = r.context;
    CHECK_STATUS(fault_open_context(&doors, NULL, &r.context), HAUL_OK);
    ((haul__image_root *)(void *)(r.image.at + section_of(&r.image, HAUL__SECTION_ROOTS)->offset))
        ->offset = 0;
    check_refused(&r, HAUL_ERROR_FORMAT, "a root does not lie in the arena");
    haul_context_free(&r.context);
    fault_check_clean(&doors);
    r.context = usual;
    ring_close(&r);
}

typedef struct numbers {
    int *begin, *end, *room;
} numbers;

TEST(image, the_end_of_the_room_is_the_end_of_the_array)
{
    const haul_field fields[] = { HAUL_ARRAY(numbers, begin, HAUL_UNTIL(numbers, end)),
                                  HAUL_END_OF(numbers, room, begin) };
    int all[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    numbers n = { all, all + 4, all + 8 };
    haul_type *type = TYPE_NEW(numbers, fields);
    bytes image_bytes = { NULL, 0, 0, 0, 0 };
    haul_file file = writes(&image_bytes);
    haul_image *image;
    numbers *there;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(&n, type), &file), HAUL_OK);
    CHECK_STATUS(haul_image_from_bytes(type_context(), image_bytes.at, image_bytes.count, &type, 1,
                                       NULL, &image),
                 HAUL_OK);
    there = haul_image_roots(image, NULL)->address;
    CHECK_PTR(there->room, there->end);
    CHECK_PTR(there->end, there->begin + 4);
    haul_image_free(&image);
    there =
        (numbers *)(void *)(image_bytes.at + section_of(&image_bytes, HAUL__SECTION_ARENA)->offset +
                            2 * sizeof(void *));
    there->room = OFFSET((uintptr_t)there->room - sizeof(int));
    sign(&image_bytes);
    CHECK_STATUS(haul_image_from_bytes(type_context(), image_bytes.at, image_bytes.count, &type, 1,
                                       NULL, &image),
                 HAUL_ERROR_FORMAT);
    CHECK_HAS(haul_context_error(type_context())->text, "not at the end of its array");
    free(image_bytes.at);
    haul_type_free(&type);
}

TEST(image, heads_that_claim_too_much_take_no_memory)
{
    ring r;
    haul__image_section *arena;
    ring_open(&r);
    arena = section_of(&r.image, HAUL__SECTION_ARENA);
    arena->bytes = UINT64_C(1) << 30;
    arena->offset = (arena->offset + 4095) & ~UINT64_C(4095);
    head_of(&r.image)->bytes = arena->offset + arena->bytes;
    check_refused(&r, HAUL_ERROR_FORMAT, "its end is missing");
    {
        haul_file file = { NULL, NULL, get_bytes };
        haul_image *image;
        file.user = &r.image;
        r.image.read = 0;
        r.image.piece = SIZE_MAX;
        CHECK(haul_image_read(r.context, &file, &mesh_type, 1, NULL, &image) != HAUL_OK);
    }
    ring_close(&r);
}

/* Changes the head, and looks that it is refused so; a signed head is a stranger's. */
#define CHECK_HEAD(change, expected, words)                                                        \
    do {                                                                                           \
        ring r;                                                                                    \
        ring_open(&r);                                                                             \
        {                                                                                          \
            haul__image_head *head = head_of(&r.image);                                            \
            haul__image_section *first = sections_of(&r.image), *last = first;                     \
            last += head->section_count - 1;                                                       \
            (void)last;                                                                            \
            change;                                                                                \
            check_refused(&r, expected, words);                                                    \
        }                                                                                          \
        ring_close(&r);                                                                            \
    } while (0)

TEST(image, a_head_is_refused_for_each_thing_that_is_wrong_in_it_F3_F5_F6)
{
    CHECK_HEAD(last->offset += 64, HAUL_ERROR_FORMAT, "at a wrong place");
    CHECK_HEAD(last->offset -= 64, HAUL_ERROR_FORMAT, "at a wrong place");
    CHECK_HEAD(last->offset = (head->bytes + 4095) & ~UINT64_C(4095);
               last->bytes = head->bytes - last->offset /* the sum wraps, and is right */,
               HAUL_ERROR_FORMAT, "at a wrong place");
    CHECK_HEAD(first->flags = 2, HAUL_ERROR_FORMAT, "an unknown flag, or the kind 0");
    CHECK_HEAD(first->kind = 0, HAUL_ERROR_FORMAT, "an unknown flag, or the kind 0");
    CHECK_HEAD(first[1].kind = first->kind, HAUL_ERROR_FORMAT, "stands there twice");
    CHECK_HEAD(first->kind = 100, HAUL_ERROR_FORMAT, "is missing");
    CHECK_HEAD(first->kind = last->kind; last->kind = HAUL__SECTION_WORDS, HAUL_ERROR_FORMAT, "");
    CHECK_HEAD(head->bytes++, HAUL_ERROR_FORMAT, "not the sum of its sections");
    CHECK_HEAD(head->alignment = 8192, HAUL_ERROR_FORMAT, "its alignment is not");
    CHECK_HEAD(head->alignment = HAUL__IMAGE_ALIGNMENT - 1, HAUL_ERROR_FORMAT, "its alignment is");
    CHECK_HEAD(head->alignment = 1, HAUL_ERROR_FORMAT, "its alignment is not");
    CHECK_HEAD(head->reserved = 1, HAUL_ERROR_VERSION, "does not know");
    CHECK_HEAD(head->address = 65535, HAUL_ERROR_FORMAT, "no address that an image can have");
    CHECK_HEAD(head->address = 65536, HAUL_ERROR_FORMAT, "leads out of it");
    CHECK_HEAD(head->version++, HAUL_ERROR_VERSION, "of the format");
}

/* Its memory is doubled while it arrives. */
TEST(image, a_large_image_from_a_file_that_tells_no_size_arrives_whole_or_not_at_all_H1)
{
    enum { COUNT = 800000 };
    const haul_field fields[] = { HAUL_ARRAY(numbers, begin, HAUL_FIXED(COUNT)) };
    int *all = malloc(COUNT * sizeof *all), i;
    numbers n = { NULL, NULL, NULL };
    haul_type *type = TYPE_NEW(numbers, fields);
    bytes large = { NULL, 0, 0, SIZE_MAX, 0 };
    haul_file file = writes(&large), source = { NULL, NULL, get_bytes };
    haul_image *image;
    uint64_t at;
    int fired = 1;
    CHECK(all != NULL);
    for (i = 0; i < COUNT; i++)
        all[i] = i;
    n.begin = all;
    source.user = &large;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(&n, type), &file), HAUL_OK);
    CHECK_STATUS(haul_image_read(type_context(), &source, &type, 1, NULL, &image), HAUL_OK);
    CHECK_BYTES(((const numbers *)haul_image_roots(image, NULL)->address)->begin, all,
                COUNT * sizeof *all);
    haul_image_free(&image);
    for (at = 1; fired; at++) {
        fault_plan doors = { 0 };
        haul_context *context;
        haul_status status;
        CHECK_STATUS(fault_open_context(&doors, NULL, &context), HAUL_OK);
        fault_arm(&doors, FAULT_ONCE, at);
        large.read = 0;
        status = haul_image_read(context, &source, &type, 1, NULL, &image);
        fired = doors.fired + doors.fell_back != 0;
        CHECK_STATUS(status, doors.fired ? HAUL_ERROR_MEMORY : HAUL_OK);
        CHECK((image != NULL) == (status == HAUL_OK));
        fault_disarm(&doors);
        haul_image_free(&image);
        haul_context_free(&context);
        fault_check_clean(&doors);
    }
    CHECK(at > 5);
    free(large.at);
    free(all);
    haul_type_free(&type);
}

TEST(image, the_context_s_limit_of_bytes_holds_for_images)
{
    ring r;
    haul_context *usual;
    haul_context_options options = { .max_bytes = 64 };
    ring_open(&r);
    usual = r.context;
    CHECK_STATUS(haul_context_create(&options, &r.context), HAUL_OK);
    check_refused(&r, HAUL_ERROR_LIMIT, "more than the limit of 64");
    haul_context_free(&r.context);
    r.context = usual;
    ring_close(&r);
}

TEST(image, every_way_to_read_wants_a_context_and_a_place_for_the_image)
{
    haul_file file = { NULL, NULL, get_bytes };
    haul_image *image;
    ring r;
    ring_open(&r);
    file.user = &r.image;
    CHECK_STATUS(haul_image_read(r.context, &file, &mesh_type, 1, NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_image_load(r.context, "none", &mesh_type, 1, NULL, NULL),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_image_map(r.context, "none", &mesh_type, 1, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error_of(&r), "the address of the new image");
    CHECK_STATUS(haul_image_read(NULL, &file, &mesh_type, 1, NULL, &image), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_image_write(NULL, haul_from_object(r.at, mesh_type), &file),
                 HAUL_ERROR_ARGUMENT);
    CHECK_EQ(r.image.read, 0);
    ring_close(&r);
}

TEST(image, options_without_names_and_files_without_functions_are_refused)
{
    static const haul_image_rename no_old = { NULL, "mesh" }, no_new = { "mesh", NULL };
    static const haul_image_growth no_type = { NULL, 8, 8 }, no_bytes = { "mesh", 0, 8 };
    static const haul_image_options options[] = {
        { .renames = &no_old, .rename_count = 1 },
        { .renames = &no_new, .rename_count = 1 },
        { .growths = &no_type, .growth_count = 1 },
        { .growths = &no_bytes, .growth_count = 1 },
    };
    const haul_file nothing = { NULL, NULL, NULL };
    haul_image *image = NULL;
    size_t bytes = 1, i;
    ring r;
    ring_open(&r);
    for (i = 0; i < sizeof options / sizeof *options; i++)
        CHECK_STATUS(load_as(&r, &options[i], &image), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_image_read(r.context, NULL, &mesh_type, 1, NULL, &image),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_image_read(r.context, &nothing, &mesh_type, 1, NULL, &image),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_image_write(r.context, haul_from_object(r.at, mesh_type), NULL),
                 HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_image_write(r.context, haul_from_object(r.at, mesh_type), &nothing),
                 HAUL_ERROR_ARGUMENT);
    CHECK_PTR(haul_image_memory(NULL, &bytes), NULL);
    CHECK_EQ(bytes, 0);
    haul_image_free(NULL);
    haul_image_free(&image);
    ring_close(&r);
}

TEST(image, what_is_no_image_no_arena_and_no_plan_of_the_context_is_none)
{
    static uint64_t zeros[256];
    static const haul_plan_options ordered = { 1, 0 };
    const haul_image_options options = { .arena = (haul_arena *)(void *)zeros };
    const haul_image_write_options below = { .compression = -1 };
    haul_image *image = (haul_image *)(void *)zeros;
    haul_source source;
    haul_context *other;
    haul_plan *plan;
    haul_file file;
    size_t count = 1, bytes = 1;
    ring r;
    ring_open(&r);
    file = writes(&r.image);
    CHECK_PTR(haul_image_roots(image, &count), NULL);
    CHECK_PTR(haul_image_memory(image, &bytes), NULL);
    CHECK_EQ(count + bytes, 0);
    haul_image_free(&image);
    CHECK_PTR(image, NULL);
    CHECK_STATUS(load_as(&r, &options, &image), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error_of(&r), "the arena has been freed");
    CHECK_STATUS(haul_context_create(NULL, &other), HAUL_OK);
    source = haul_from_object(r.at, mesh_type);
    CHECK_STATUS(haul_plan_create(other, source, &ordered, &plan), HAUL_OK);
    CHECK_STATUS(haul_image_write(r.context, haul_from_plan(plan), &file), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error_of(&r), "of another context");
    haul_plan_free(&plan);
    CHECK_STATUS(haul_image_write(r.context, haul_from_plan(NULL), &file), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error_of(&r), "the plan is NULL");
    haul_context_free(&other);
    CHECK_STATUS(haul_image_write_as(r.context, source, &below, &file), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error_of(&r), "options->compression is -1");
    source.kind = 77;
    CHECK_STATUS(haul_image_write(r.context, source, &file), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error_of(&r), "kind 77");
    ring_close(&r);
}

TEST(image, a_root_of_which_no_byte_travels_is_refused)
{
    double number = 1;
    haul_type *type, *nothing;
    bytes none = { NULL, 0, 0, 0, 0 };
    haul_file file = writes(&none);
    CHECK_STATUS(haul_type_bytes(type_context(), "double", 8, &type), HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(0, type, &nothing), HAUL_OK);
    CHECK_STATUS(haul_type_commit(nothing), HAUL_OK);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(&number, nothing), &file),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(haul_context_error(type_context())->text, "no byte of root 0 travels");
    CHECK_EQ(none.count, 0);
    haul_type_free(&nothing);
    haul_type_free(&type);
}

/* Adds a section of a kind that no reader knows, and moves the others behind the longer list. */
static void add_section(bytes *image, uint32_t kind, uint32_t flags)
{
    const uint32_t count = head_of(image)->section_count;
    const size_t list = sizeof(haul__image_head) + count * sizeof(haul__image_section);
    const size_t first = (size_t)sections_of(image)->offset, moved = HAUL__IMAGE_ALIGNMENT;
    const size_t at = (image->count + 2 * moved - 1) & ~(moved - 1);
    unsigned char *longer = calloc(at + 5, 1);
    uint32_t i;
    CHECK(longer != NULL && first == list);
    memcpy(longer, image->at, list);
    memcpy(longer + first + moved, image->at + first, image->count - first);
    free(image->at);
    image->at = longer;
    image->count = at + 5;
    for (i = 0; i < count; i++)
        sections_of(image)[i].offset += moved;
    sections_of(image)[count].kind = kind;
    sections_of(image)[count].flags = flags;
    sections_of(image)[count].offset = at;
    sections_of(image)[count].bytes = 5;
    head_of(image)->section_count = count + 1;
    head_of(image)->bytes = at + 5;
}

TEST(image, sections_that_a_reader_does_not_know_are_left_out_or_refused)
{
    ring r;
    haul_image *image;
    ring_open(&r);
    add_section(&r.image, 77, HAUL__SECTION_OPTIONAL);
    sign(&r.image);
    CHECK_STATUS(load(&r, &image), HAUL_OK);
    check_ring(&r, image);
    haul_image_free(&image);
    sections_of(&r.image)[4].flags = 0;
    check_refused(&r, HAUL_ERROR_VERSION, "kind 77");
    ring_close(&r);
}

TEST(image, other_versions_words_and_byte_orders_are_named)
{
    ring r;
    ring_open(&r);
    head_of(&r.image)->version = 2;
    check_refused(&r, HAUL_ERROR_VERSION, "version 2 of the format");
    head_of(&r.image)->version = 1;
    head_of(&r.image)->word_bytes = 2;
    check_refused(&r, HAUL_ERROR_VERSION, "pointers of 2 bytes");
    head_of(&r.image)->word_bytes = sizeof(void *);
    head_of(&r.image)->order = 0x0201;
    check_refused(&r, HAUL_ERROR_VERSION, "another byte order");
    head_of(&r.image)->order = 0x0102;
    head_of(&r.image)->magic[1] = 'h';
    check_refused(&r, HAUL_ERROR_FORMAT, "another format");
    ring_close(&r);
}

/* ---- Types. */

typedef struct other_mesh {
    struct other_mesh *next, *owner;
    double *xyz;
    char *name;
    uint32_t count;
    uint8_t kind, unused[3];
} other_mesh;

TEST(image, another_description_is_refused_with_its_type_and_field)
{
    haul_type *type = NULL;
    const haul_field fields[] = {
        HAUL_OBJECT(other_mesh, next, &type),
        HAUL_OBJECT(other_mesh, owner, &type, .ownership = HAUL_BORROWED),
        HAUL_ARRAY(other_mesh, xyz, HAUL_COUNT(other_mesh, count)),
        HAUL_STRING(other_mesh, name),
    };
    const haul_struct described = { .name = "mesh",
                                    .bytes = sizeof(other_mesh),
                                    .fields = fields,
                                    .field_count = 4,
                                    .field_bytes = sizeof *fields };
    ring r;
    haul_image *image;
    ring_open(&r);
    CHECK_STATUS(haul_type_create(r.context, &described, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(
        haul_image_from_bytes(r.context, r.image.at, r.image.count, &type, 1, NULL, &image),
        HAUL_ERROR_TYPE);
    CHECK_STR(haul_context_error(r.context)->path, "mesh.xyz");
    CHECK_HAS(error_of(&r), "/2/0)\" there");
    CHECK_HAS(error_of(&r), "/4/0)\" here");
    haul_type_free(&type);
    ring_close(&r);
}

typedef struct plugin {
    void (*run)(void);
    int state;
} plugin;

static int64_t count_two(const haul_here *here)
{
    (void)here;
    return 2;
}

typedef struct counted {
    int *at;
} counted;

TEST(image, addresses_of_this_process_and_functions_are_refused)
{
    const haul_field plugin_fields[] = { HAUL_ADDRESS(plugin, run, .ownership = HAUL_EXTERNAL) };
    const haul_field counted_fields[] = { HAUL_ARRAY(counted, at, HAUL_COUNT_FN(count_two)) };
    static const haul_image_options calls = { .calls_functions = 1 };
    int numbers[2] = { 7, 8 };
    plugin p = { NULL, 3 };
    counted c = { numbers };
    haul_type *plugin_type = TYPE_NEW(plugin, plugin_fields);
    haul_type *counted_type = TYPE_NEW(counted, counted_fields);
    haul_context *context = type_context();
    bytes image_bytes = { NULL, 0, 0, 0, 0 };
    haul_file file = writes(&image_bytes);
    haul_image *image;
    CHECK_STATUS(haul_type_commit(plugin_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(counted_type), HAUL_OK);
    CHECK_STATUS(haul_image_write(context, haul_from_object(&p, plugin_type), &file),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(haul_context_error(context)->path, "plugin.run");
    CHECK_HAS(haul_context_error(context)->text, "HAUL_SKIP");
    CHECK_STATUS(haul_image_write(context, haul_from_object(&c, counted_type), &file), HAUL_OK);
    CHECK_STATUS(haul_image_from_bytes(context, image_bytes.at, image_bytes.count, &counted_type, 1,
                                       NULL, &image),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(haul_context_error(context)->path, "counted.at");
    CHECK_STATUS(haul_image_from_bytes(context, image_bytes.at, image_bytes.count, &counted_type, 1,
                                       &calls, &image),
                 HAUL_OK);
    CHECK_EQ(((const counted *)haul_image_roots(image, NULL)->address)->at[1], 8);
    haul_image_free(&image);
    free(image_bytes.at);
    haul_type_free(&plugin_type);
    haul_type_free(&counted_type);
}

TEST(image, the_ancestor_that_a_function_asks_is_part_of_the_description)
{
    static const haul_image_options calls = { .calls_functions = 1 };
    haul_type *with = NULL, *without;
    const haul_field asking[] = { HAUL_ARRAY(counted, at, HAUL_COUNT_FN(count_two),
                                             .ancestor = &with) };
    const haul_field plain[] = { HAUL_ARRAY(counted, at, HAUL_COUNT_FN(count_two)) };
    int numbers[2] = { 7, 8 };
    counted c = { numbers };
    haul_context *context = type_context();
    bytes image_bytes = { NULL, 0, 0, 0, 0 };
    haul_file file = writes(&image_bytes);
    haul_image *image;
    with = TYPE_NEW(counted, asking);
    without = TYPE_NEW(counted, plain);
    CHECK_STATUS(haul_type_commit(with), HAUL_OK);
    CHECK_STATUS(haul_type_commit(without), HAUL_OK);
    CHECK_STATUS(haul_image_write(context, haul_from_object(&c, with), &file), HAUL_OK);
    CHECK_STATUS(
        haul_image_from_bytes(context, image_bytes.at, image_bytes.count, &with, 1, &calls, &image),
        HAUL_OK);
    haul_image_free(&image);
    CHECK_STATUS(haul_image_from_bytes(context, image_bytes.at, image_bytes.count, &without, 1,
                                       &calls, &image),
                 HAUL_ERROR_TYPE);
    CHECK_STR(haul_context_error(context)->path, "counted.at");
    free(image_bytes.at);
    haul_type_free(&with);
    haul_type_free(&without);
}

typedef struct holder {
    counted *to;
} holder;

TEST(image, a_type_whose_objects_must_be_rebuilt_is_refused_even_without_one)
{
    haul_type *rebuilt = NULL, *type;
    const haul_field fields[] = { HAUL_ARRAY(counted, at, HAUL_FIXED(2)) };
    const haul_field to_it[] = { HAUL_OBJECT(holder, to, &rebuilt) };
    int numbers[2] = { 7, 8 };
    counted c = { numbers };
    holder h = { NULL };
    bytes image_bytes = { NULL, 0, 0, 0, 0 };
    haul_file file = writes(&image_bytes);
    size_t i;
    rebuilt = TYPE_NEW(counted, fields);
    type = TYPE_NEW(holder, to_it);
    CHECK_STATUS(haul_type_set_rebuild(rebuilt, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (i = 0; i < 2; i++, h.to = &c) {
        CHECK_STATUS(haul_image_write(type_context(), haul_from_object(&h, type), &file),
                     HAUL_ERROR_UNSUPPORTED);
        CHECK_HAS(haul_context_error(type_context())->text, "depend on addresses");
        CHECK_STR(haul_context_error(type_context())->path, i ? "root.to" : "counted");
    }
    CHECK_EQ(image_bytes.count, 0);
    haul_type_free(&type);
    haul_type_free(&rebuilt);
}

#pragma pack(push, 1)
typedef struct marked {
    uint64_t number;
    int *value; /* bit 0 is a mark */
} marked;
#pragma pack(pop)

/* The source lies one byte off the grid of pointers, and the image on it. */
TEST(image, a_pointer_with_a_mark_that_comes_onto_the_grid_is_told_by_a_bit)
{
    const haul_field fields[] = {
        HAUL_ARRAY(marked, value, HAUL_FIXED(1), .tag_bits = 1, .packed = 1),
    };
    uint64_t room[4] = { 0, 0, 0, 0 };
    marked *source = (marked *)((unsigned char *)room + 1);
    int value = 7, *copied;
    haul_type *type = TYPE_NEW(marked, fields);
    bytes image_bytes = { NULL, 0, 0, 0, 0 };
    haul_file file = writes(&image_bytes);
    haul_image *image;
    source->value = (int *)((uintptr_t)&value | 1);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(source, type), &file), HAUL_OK);
    CHECK_STATUS(haul_image_from_bytes(type_context(), image_bytes.at, image_bytes.count, &type, 1,
                                       NULL, &image),
                 HAUL_OK);
    copied = ((const marked *)haul_image_roots(image, NULL)->address)->value;
    CHECK_EQ((uintptr_t)copied & 1, 1);
    CHECK_EQ(*(int *)((uintptr_t)copied - 1), 7);
    haul_image_free(&image);
    free(image_bytes.at);
    haul_type_free(&type);
}
