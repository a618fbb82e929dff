/* Images whose types and fields had other names: they are read if the program says so, and all else
 * is as it describes.
 */
#include <string.h>

#include "images/image_bytes.h"
#include "support/check.h"
#include "support/types.h"

typedef struct mesh {
    struct mesh *next;
    double *xyz;
    uint64_t count;
} mesh;

static haul_type *old_type, *new_type;
static image_bytes image;

static void make(haul_type **type, const char *name, const char *next, const char *xyz)
{
    const haul_field old_next = HAUL_OBJECT(mesh, next, &old_type);
    haul_field fields[] = { HAUL_OBJECT(mesh, next, &new_type),
                            HAUL_ARRAY(mesh, xyz, HAUL_COUNT(mesh, count)) };
    if (type == &old_type)
        fields[0] = old_next;
    fields[0].name = next;
    fields[1].name = xyz;
    CHECK_STATUS(type_make(name, sizeof(mesh), fields, 2, type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(*type), HAUL_OK);
}

/* An image of a ring of two, with the old names. */
static void write_old(const char *name, const char *next, const char *xyz)
{
    static double points[3] = { 1, 2, 3 };
    mesh ring[2];
    haul_file file = bytes_file(&image);
    memset(ring, 0, sizeof ring);
    ring[0].next = &ring[1];
    ring[1].next = &ring[0];
    ring[1].xyz = points;
    ring[1].count = 3;
    make(&old_type, name, next, xyz);
    bytes_resize(&image, 0);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(ring, old_type), &file),
                 HAUL_OK);
}

static haul_status load_by_renames(const haul_image_rename *renames, size_t count)
{
    haul_image_options options = { .renames = renames, .rename_count = count };
    haul_image *loaded;
    const mesh *m;
    haul_status status = haul_image_from_bytes(type_context(), image.at, image.count, &new_type, 1,
                                               &options, &loaded);
    if (status != HAUL_OK)
        return status;
    m = haul_image_roots(loaded, NULL)[0].address;
    CHECK_PTR(m->next->next, m);
    CHECK(m->next->xyz[2] == 3.0);
    haul_image_free(&loaded);
    return HAUL_OK;
}

static void end(void)
{
    haul_type_free(&old_type);
    haul_type_free(&new_type);
    bytes_free(&image);
}

TEST(image_renames, names_that_are_declared_are_read_and_others_are_told)
{
    static const haul_image_rename renames[] = {
        { "grid", "mesh" }, { "grid.points", "xyz" }, { "grid.after", "next" }, { "none", "mesh" }
    };
    write_old("grid", "after", "points");
    make(&new_type, "mesh", "next", "xyz");
    CHECK_STATUS(load_by_renames(renames, 4), HAUL_OK);
    CHECK_STATUS(load_by_renames(renames, 3), HAUL_OK);
    CHECK_STATUS(load_by_renames(renames, 2), HAUL_ERROR_TYPE);
    CHECK_STR(haul_context_error(type_context())->path, "mesh.next");
    CHECK_STATUS(load_by_renames(renames + 1, 2), HAUL_ERROR_TYPE);
    CHECK_STR(haul_context_error(type_context())->path, "mesh");
    CHECK_STATUS(load_by_renames(NULL, 0), HAUL_ERROR_TYPE);
    end();
}

TEST(image_renames, an_old_name_may_have_several_new_ones)
{
    static const haul_image_rename renames[] = { { "mesh.points", "position" },
                                                 { "mesh.points", "xyz" },
                                                 { "mesh.points", "place" } };
    write_old("mesh", "next", "points");
    make(&new_type, "mesh", "next", "xyz");
    CHECK_STATUS(load_by_renames(renames, 3), HAUL_OK);
    CHECK_STATUS(load_by_renames(renames, 1), HAUL_ERROR_TYPE);
    end();
}

TEST(image_renames, a_table_of_old_names_does_not_harm_a_new_image)
{
    static const haul_image_rename renames[] = { { "grid", "mesh" }, { "mesh.points", "xyz" } };
    write_old("mesh", "next", "xyz");
    make(&new_type, "mesh", "next", "xyz");
    CHECK_STATUS(load_by_renames(renames, 2), HAUL_OK);
    end();
}

TEST(image_renames, names_with_bytes_that_would_end_a_word_are_compared_as_they_are)
{
    static const haul_image_rename renames[] = { { "a\\b.c d", "new mesh" },
                                                 { "a\\b.c d.x.y z", "x\\y\x7fz" } };
    write_old("a\\b.c d", "next", "x.y z");
    make(&new_type, "new mesh", "next", "x\\y\x7fz");
    CHECK_STATUS(load_by_renames(renames, 2), HAUL_OK);
    CHECK_STATUS(load_by_renames(renames, 1), HAUL_ERROR_TYPE);
    end();
}

TEST(image_renames, a_rename_does_not_cover_another_place)
{
    static const haul_image_rename renames[] = { { "mesh.next", "xyz" }, { "mesh.xyz", "next" } };
    haul_field fields[] = { HAUL_ARRAY(mesh, xyz, HAUL_COUNT(mesh, count)),
                            HAUL_OBJECT(mesh, next, &new_type) };
    write_old("mesh", "next", "xyz");
    fields[0].offset = offsetof(mesh, next);
    fields[1].offset = offsetof(mesh, xyz);
    CHECK_STATUS(type_make("mesh", sizeof(mesh), fields, 2, &new_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(new_type), HAUL_OK);
    CHECK_STATUS(load_by_renames(renames, 2), HAUL_ERROR_TYPE);
    end();
}

TEST(image_renames, the_fields_of_a_type_may_have_changed_names_with_one_another)
{
    static const haul_image_rename renames[] = { { "mesh.b", "a" }, { "mesh.a", "b" } };
    write_old("mesh", "a", "b");
    make(&new_type, "mesh", "b", "a");
    CHECK_STATUS(load_by_renames(renames, 2), HAUL_OK);
    CHECK_STATUS(load_by_renames(renames, 1), HAUL_ERROR_TYPE);
    end();
}
