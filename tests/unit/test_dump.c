/* The printed table of a type.
 */
#include <string.h>

#include "haul/type.h"
#include "haul/rebuild.h"
#include "haul/type_mpi.h"
#include "support/check.h"
#include "support/types.h"
#include "mesh.h"

/* The tables' numbers are those of machines with pointers of 8 bytes; elsewhere it is only seen
 * that they are printed. */
#define COMPARABLE (sizeof(void *) == 8)

typedef struct page {
    char text[8192];
    size_t length, writes, allowed;
} page;

static haul_status write_page(void *user, const void *data, size_t bytes)
{
    page *p = user;
    if (p->writes++ == p->allowed || bytes >= sizeof p->text - p->length)
        return HAUL_ERROR_DEVICE; /* anything but HAUL_OK */
    memcpy(p->text + p->length, data, bytes);
    p->length += bytes;
    p->text[p->length] = '\0';
    return HAUL_OK;
}

static haul_file file_of(page *p)
{
    haul_file file;
    memset(p, 0, sizeof *p);
    p->allowed = SIZE_MAX;
    file.user = p;
    file.write = write_page;
    file.read = NULL;
    return file;
}

static void check_table(const haul_type *type, const char *expected)
{
    static page p;
    haul_file file = file_of(&p);
    CHECK_STATUS(haul_type_dump(type, &file), HAUL_OK);
    if (COMPARABLE)
        CHECK_STR(p.text, expected);
}

TEST(dump, a_struct_is_printed_row_by_row_with_what_no_row_describes)
{
    CHECK_STATUS(type_make("mesh", sizeof(mesh), mesh_fields, 3, &mesh_type), HAUL_OK);
    check_table(mesh_type, "mesh: 32 bytes, open\n"
                           "offset  size  field    what     target   count\n"
                           "     0     8  (bytes)\n"
                           "     8     8  xyz      pointer  8 bytes  @0 * @4\n"
                           "    16     8  next     pointer  mesh     1\n"
                           "    24     8  name     pointer  1 byte   NUL\n"
                           "extent 32, of which 32 bytes travel; alignment 8; 3 pointers\n");
    CHECK_STATUS(haul_type_commit(mesh_type), HAUL_OK);
    check_table(mesh_type, "mesh: 32 bytes\n"
                           "offset  size  field    what     target   count\n"
                           "     0     8  (bytes)\n"
                           "     8     8  xyz      pointer  8 bytes  @0 * @4\n"
                           "    16     8  next     pointer  mesh     1\n"
                           "    24     8  name     pointer  1 byte   NUL\n"
                           "extent 32, of which 32 bytes travel; alignment 8; 3 pointers\n");
    haul_type_free(&mesh_type);
}

HAUL_FUNCTION(half, mesh, self->nv / 2)

typedef struct every {
    mesh whole[2];
    int n, m;
    double *plus, *minus, *times, *fixed, *begin, *end, *called, **rows;
    long *until;
    char **names;
    char **lists;
    mesh *each[3];
    int lock[2];
    void *handle;
} every;

TEST(dump, every_kind_of_row_and_shape_is_readable)
{
    haul_field fields[] = {
        HAUL_EMBED(every, whole, &mesh_type),
        { .name = "n", .kind = HAUL_FIELD_RAW, .offset = offsetof(every, n), .bytes = sizeof(int) },
        HAUL_ARRAY(every, plus, HAUL_COUNT_PLUS(every, n, 1)),
        HAUL_ARRAY(every, minus, HAUL_COUNT_PLUS(every, n, -1)),
        HAUL_ARRAY(every, times, HAUL_COUNT_TIMES(every, n, 3)),
        HAUL_ARRAY(every, fixed, HAUL_FIXED(3)),
        HAUL_ARRAY(every, begin, HAUL_UNTIL(every, end)),
        HAUL_ARRAY(every, called, HAUL_COUNT_FN(half)),
        HAUL_ARRAYS(every, rows, HAUL_COUNT(every, n), HAUL_COUNT(every, m)),
        HAUL_ARRAY(every, until, HAUL_TERMINATED_BY(-1)),
        HAUL_STRINGS(every, names, HAUL_TERMINATED),
        HAUL_STRINGS(every, lists, HAUL_COUNT(every, n)),
        HAUL_EACH(every, each, .target = &mesh_type),
        HAUL_SKIP(every, lock),
        HAUL_RAW(every, handle),
    };
    haul_type *type;
    CHECK_STATUS(type_make("mesh", sizeof(mesh), mesh_fields, 3, &mesh_type), HAUL_OK);
    CHECK_STATUS(type_make("every", sizeof(every), fields, sizeof fields / sizeof *fields, &type),
                 HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    check_table(type, "every: 200 bytes\n"
                      "offset  size  field    what        target     count\n"
                      "     0    64  whole    embed[2]    mesh\n"
                      "    64     4  n        raw\n"
                      "    68     4  (bytes)\n"
                      "    72     8  plus     pointer     8 bytes    n + 1\n"
                      "    80     8  minus    pointer     8 bytes    n - 1\n"
                      "    88     8  times    pointer     8 bytes    3 * n\n"
                      "    96     8  fixed    pointer     8 bytes    3\n"
                      "   104     8  begin    pointer     8 bytes    until @112\n"
                      "   112     8  (bytes)\n"
                      "   120     8  called   pointer     8 bytes    function\n"
                      "   128     8  rows     pointer     8 bytes *  n, @68\n"
                      "   136     8  until    pointer     8 bytes    until -1\n"
                      "   144     8  names    pointer     1 byte *   NULL, NUL\n"
                      "   152     8  lists    pointer     1 byte *   n, NUL\n"
                      "   160    24  each     pointer[3]  mesh       1\n"
                      "   184     8  lock     skip\n"
                      "   192     8  handle   raw\n"
                      "extent 200, of which 192 bytes travel; alignment 8; 20 pointers\n");
    haul_type_free(&type);
    haul_type_free(&mesh_type);
}

typedef struct ruled {
    int32_t kind, bits;
    char *conditional, *masked, *ranged, *called;
    struct ruled *alias, *tagged, *small, *based, *chosen, **each;
    int64_t away;
    char pad[8];
} ruled;

static haul_type *ruled_type;

static int64_t one(const haul_here *here)
{
    (void)here;
    return 1;
}

TEST(dump, rules_are_printed_in_words)
{
    static const haul_case cases[] = { { 1, &ruled_type, 0 }, { 2, &ruled_type, 0 } };
    static const haul_field slot = { .tag_bits = 3 };
    haul_field fields[] = {
        HAUL_STRING(ruled, conditional, .when = HAUL_EQUALS(ruled, kind, 1), .else_raw = 1),
        HAUL_STRING(ruled, masked, .when = HAUL_ANY_BIT(ruled, bits, 6)),
        HAUL_STRING(ruled, ranged, .when = HAUL_BETWEEN(ruled, kind, -2, 9)),
        HAUL_STRING(ruled, called, .when = HAUL_WHEN_FN(one), .ancestor = HAUL_PARENT),
        HAUL_OBJECT(ruled, alias, &ruled_type, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(ruled, tagged, &ruled_type, .tag_bits = 3, .ownership = HAUL_UNLESS_OWNED),
        HAUL_OBJECT(ruled, small, &ruled_type, .integers_below = 4096),
        HAUL_OBJECT(ruled, based, &ruled_type, .base = -16, .base_fn = one),
        HAUL_ADDRESS(ruled, chosen, .type_switch = HAUL_SWITCH(ruled, kind, cases)),
        HAUL_POINTERS(ruled, each, &ruled_type, HAUL_FIXED(2), .each_pointer = &slot),
        HAUL_RELATIVE(ruled, away, .target = &ruled_type),
    };
    CHECK_STATUS(
        type_make("ruled", sizeof(ruled), fields, sizeof fields / sizeof *fields, &ruled_type),
        HAUL_OK);
    CHECK_STATUS(haul_type_commit(ruled_type), HAUL_OK);
    check_table(ruled_type,
                "ruled: 104 bytes\n"
                "offset  size  field        what      target   count\n"
                "     0     8  (bytes)\n"
                "     8     8  conditional  pointer   1 byte   NUL; if @0 1, else raw\n"
                "    16     8  masked       pointer   1 byte   NUL; if @4 & 0x6 not 0\n"
                "    24     8  ranged       pointer   1 byte   NUL; if @0 -2..9\n"
                "    32     8  called       pointer   1 byte   NUL; if function; with its parent\n"
                "    40     8  alias        pointer   ruled    1; borrowed\n"
                "    48     8  tagged       pointer   ruled    1; unless owned; tag bits 0x3\n"
                "    56     8  small        pointer   ruled    1; or an integer\n"
                "    64     8  based        pointer   ruled    1; base -16 + function\n"
                "    72     8  chosen       pointer            1; one of 2 types\n"
                "    80     8  each         pointer   ruled *  2, 1; each; tag bits 0x3\n"
                "    88     8  away         distance  ruled    1\n"
                "    96     8  (bytes)\n"
                "extent 104, of which 104 bytes travel; alignment 8; 11 pointers\n");
    haul_type_free(&ruled_type);
}

typedef struct outward {
    char *external, *maybe_static, *pool;
} outward;

static haul_status rebuild_nothing(const haul_rebuild *call)
{
    (void)call;
    return HAUL_OK;
}

TEST(dump, what_leads_out_and_what_depends_on_addresses_are_said)
{
    static const haul_field fields[] = {
        HAUL_STRING(outward, external, .ownership = HAUL_EXTERNAL),
        HAUL_STRING(outward, maybe_static, .maybe_static = 1),
        HAUL_POOL(outward, pool, HAUL_FIXED(9)),
    };
    haul_rebuild_function *const rebuilds[] = { NULL, rebuild_nothing };
    static const char *const heads[] = { "outward: 24 bytes, cannot be relocated, open\n",
                                         "outward: 24 bytes, rebuilt after relocation, open\n" };
    haul_type *type;
    char expected[512];
    int i;
    for (i = 0; i < 2; i++) {
        CHECK_STATUS(type_make("outward", sizeof(outward), fields, 3, &type), HAUL_OK);
        CHECK_STATUS(haul_type_set_rebuild(type, rebuilds[i], NULL), HAUL_OK);
        strcpy(expected, heads[i]);
        strcat(expected, "offset  size  field         what     target  count\n"
                         "     0     8  external      pointer  1 byte  NUL; external\n"
                         "     8     8  maybe_static  pointer  1 byte  NUL; maybe static\n"
                         "    16     8  pool          pointer  1 byte  9; a pool\n"
                         "extent 24, of which 24 bytes travel; alignment 8; 3 pointers\n");
        check_table(type, expected);
        haul_type_free(&type);
    }
}

typedef struct shared {
    int64_t kind;
    union {
        struct {
            double *begin, *end;
        } pair;
        struct {
            double *values;
            uint64_t count;
        } list;
    } u;
} shared;

TEST(dump, a_count_in_a_union_is_named_by_its_own_arm)
{
    haul_field fields[] = {
        HAUL_ARRAY(shared, u.pair.begin, HAUL_UNTIL(shared, u.pair.end),
                   .when = HAUL_EQUALS(shared, kind, 1), .else_raw = 1),
        HAUL_RAW(shared, u.pair.end, .when = HAUL_EQUALS(shared, kind, 3)),
        HAUL_RAW(shared, u.list.count, .when = HAUL_EQUALS(shared, kind, 2)),
        HAUL_ARRAY(shared, u.list.values, HAUL_COUNT(shared, u.list.count),
                   .when = HAUL_EQUALS(shared, kind, 2)),
    };
    haul_type *type;
    CHECK_STATUS(type_make("shared", sizeof(shared), fields, 4, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    check_table(type,
                "shared: 24 bytes\n"
                "offset  size  field          what     target   count\n"
                "     0     8  (bytes)\n"
                "     8     8  u.pair.begin   pointer  8 bytes  until @16; if @0 1, else raw\n"
                "     8     8  u.list.values  pointer  8 bytes  u.list.count; if @0 2\n"
                "    16     8  u.pair.end     raw               if @0 3\n"
                "    16     8  u.list.count   raw               if @0 2\n"
                "extent 24, of which 24 bytes travel; alignment 8; 3 pointers\n");
    haul_type_free(&type);
}

TEST(dump, constructors_are_printed_block_by_block)
{
    static const size_t lengths[] = { 2, 1 }, places[] = { 3, 0 };
    haul_type *integer, *type;
    CHECK_STATUS(haul_type_bytes(type_context(), "int", 4, &integer), HAUL_OK);
    CHECK_STATUS(haul_type_indexed(2, lengths, places, integer, &type), HAUL_OK);
    check_table(type, "indexed(2 blocks, int): 20 bytes, open\n"
                      "offset  size  field  what      target  count\n"
                      "    12     8         block[2]  int\n"
                      "     0     4         block     int\n"
                      "extent 20, of which 12 bytes travel; alignment 1; 0 pointers\n");
    haul_type_free(&type);
    haul_type_free(&integer);
}

TEST(dump, ten_million_blocks_are_not_all_printed)
{
    haul_type *integer, *type;
    static page p;
    haul_file file = file_of(&p);
    CHECK_STATUS(haul_type_bytes(type_context(), "int", 4, &integer), HAUL_OK);
    CHECK_STATUS(haul_type_vector(10000000, 1, 2, integer, &type), HAUL_OK);
    CHECK_STATUS(haul_type_dump(type, &file), HAUL_OK);
    CHECK_HAS(p.text, "... and 9999968 more blocks\n");
    CHECK_HAS(p.text, "extent 79999996, of which 40000000 bytes travel");
    haul_type_free(&type);
    haul_type_free(&integer);
}

typedef struct numbers {
    int32_t *begin, *end, *room;
} numbers;

TEST(dump, the_end_of_a_room_names_the_beginning_of_its_array)
{
    static const haul_field fields[] = { HAUL_ARRAY(numbers, begin, HAUL_UNTIL(numbers, end)),
                                         HAUL_END_OF(numbers, room, begin) };
    static page p;
    haul_file file = file_of(&p);
    haul_type *type;
    CHECK_STATUS(type_make("numbers", sizeof(numbers), fields, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_dump(type, &file), HAUL_OK);
    CHECK_HAS(p.text, "; end of begin\n");
    haul_type_free(&type);
}

TEST(dump, a_file_that_refuses_is_told)
{
    static page p;
    haul_file file = file_of(&p);
    size_t writes, whole;
    CHECK_STATUS(type_make("mesh", sizeof(mesh), mesh_fields, 3, &mesh_type), HAUL_OK);
    CHECK_STATUS(haul_type_dump(mesh_type, &file), HAUL_OK);
    whole = p.writes;
    CHECK(whole > 4);
    for (writes = 0; writes < whole; writes++) {
        file = file_of(&p);
        p.allowed = writes;
        CHECK_STATUS(haul_type_dump(mesh_type, &file), HAUL_ERROR_FILE);
        CHECK_EQ(p.writes, writes + 1); /* not one more after the refusal */
    }
    file.write = NULL;
    CHECK_STATUS(haul_type_dump(mesh_type, &file), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_dump(mesh_type, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_dump(NULL, &file), HAUL_ERROR_ARGUMENT);
    haul_type_free(&mesh_type);
}

TEST(dump, a_type_that_cannot_be_committed_is_not_printed)
{
    static page p;
    haul_file file = file_of(&p);
    haul_type *type;
    CHECK_STATUS(type_make("none", 0, NULL, 0, &type), HAUL_OK);
    CHECK_STATUS(haul_type_dump(type, &file), HAUL_ERROR_TYPE);
    CHECK_EQ(p.writes, 0);
    haul_type_free(&type);
}
