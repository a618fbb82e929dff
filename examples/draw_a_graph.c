/* A table and a picture of a graph: a scene whose parts share meshes and a material.
 *
 *     draw_a_graph                                      prints the table
 *     draw_a_graph dot | dot -Tsvg >scene.svg           draws the graph, with Graphviz
 */
#include "common.h"

typedef struct material {
    char *name;
    float colour[3];
} material;

typedef struct mesh {
    int vertex_count, triangle_count;
    float *positions; /* 3 * vertex_count of them */
    int *triangles;   /* 3 * triangle_count of them */
    material *made_of;
} mesh;

typedef struct part {
    struct part *parent;
    struct part **parts;
    int part_count;
    mesh *shape; /* NULL: it only holds others */
    double place[3];
} part;

static haul_context *haul;
static haul_type *material_type, *mesh_type, *part_type;
static const haul_field material_fields[] = { HAUL_STRING(material, name) };
static const haul_field mesh_fields[] = {
    HAUL_ARRAY(mesh, positions, HAUL_COUNT_TIMES(mesh, vertex_count, 3)),
    HAUL_ARRAY(mesh, triangles, HAUL_COUNT_TIMES(mesh, triangle_count, 3)),
    HAUL_OBJECT(mesh, made_of, &material_type),
};
static const haul_field part_fields[] = {
    HAUL_OBJECT(part, parent, &part_type),
    HAUL_POINTERS(part, parts, &part_type, HAUL_COUNT(part, part_count)),
    HAUL_OBJECT(part, shape, &mesh_type),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(material, &material_type, material_fields),
    HAUL_STRUCT(mesh, &mesh_type, mesh_fields),
    HAUL_STRUCT(part, &part_type, part_fields),
};

int main(int argc, char **argv)
{
    const int draws = argc > 1 && strcmp(argv[1], "dot") == 0;
    static float leg_positions[3 * 16], top_positions[3 * 8];
    static int leg_triangles[3 * 28], top_triangles[3 * 12];
    char name[] = "oak";
    material oak = { name, { 0.5f, 0.3f, 0.1f } };
    mesh leg = { 16, 28, leg_positions, leg_triangles, &oak };
    mesh top = { 8, 12, top_positions, top_triangles, &oak };
    part children[5], *list[5];
    part table = { NULL, list, 5, NULL, { 0, 0, 0 } };
    haul_file out = haul_file_descriptor(1);
    haul_source scene;
    haul_status status = haul_context_create(NULL, &haul);
    for (int i = 0; i < 5; i++) {
        const part child = { &table, NULL, 0, i ? &leg : &top, { 0, 0, i ? 0 : 1 } };
        children[i] = child;
        list[i] = &children[i];
    }
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (status)
        return failed("describing a scene", status, haul_context_error(haul));
    scene = haul_from_object(&table, part_type);
    status = draws ? haul_graph_write_dot(haul, scene, NULL, &out)
                   : haul_graph_write_table(haul, scene, &out);
    if (status)
        return failed("writing the scene", status, haul_context_error(haul));
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return 0;
}
