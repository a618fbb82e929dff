/* cgltf. Everything that refers to something is a pointer into the array of such things. The
 * text of the file is in the file's data, as is a binary part; a camera is of one of two kinds;
 * buffers may be parts of that data, or NULL until they are loaded.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum {
    PERSPECTIVE = 1,
    ORTHOGRAPHIC = 2,
    FILE_BYTES = 4000,
    BUFFERS = 3,
    VIEWS = 40,
    ACCESSORS = 120,
    MESHES = 30,
    MATERIALS = 8,
    CAMERAS = 6,
    NODES = 200,
    LEVEL = 12
};

typedef struct cgltf_buffer {
    char *name;
    size_t size;
    char *uri;
    void *data; /* NULL: not loaded */
} cgltf_buffer;

typedef struct cgltf_buffer_view {
    char *name;
    cgltf_buffer *buffer;
    size_t offset, size, stride;
    int type;
    void *data; /* NULL, or instead of the buffer's */
} cgltf_buffer_view;

typedef struct cgltf_accessor {
    char *name;
    int component_type, type;
    size_t offset, count, stride;
    cgltf_buffer_view *buffer_view;
    float min[16];
} cgltf_accessor;

typedef struct cgltf_attribute {
    char *name;
    int type, index;
    cgltf_accessor *data;
} cgltf_attribute;

typedef struct cgltf_material {
    char *name;
    float metallic_factor;
} cgltf_material;

typedef struct cgltf_primitive {
    int type;
    cgltf_accessor *indices;
    cgltf_material *material;
    cgltf_attribute *attributes;
    size_t attributes_count;
} cgltf_primitive;

typedef struct cgltf_mesh {
    char *name;
    cgltf_primitive *primitives;
    size_t primitives_count;
    char **target_names;
    size_t target_names_count;
} cgltf_mesh;

typedef struct cgltf_extras {
    size_t start_offset, end_offset;
    char *data;
} cgltf_extras;

typedef struct cgltf_camera {
    char *name;
    int type;
    union {
        struct {
            float aspect_ratio, yfov, zfar, znear;
            cgltf_extras extras;
        } perspective;
        struct {
            float xmag, ymag, zfar, znear;
            cgltf_extras extras;
        } orthographic;
    } data;
} cgltf_camera;

typedef struct cgltf_node {
    char *name;
    struct cgltf_node *parent, **children;
    size_t children_count;
    cgltf_mesh *mesh;
    cgltf_camera *camera;
    float translation[3];
    int has_translation;
} cgltf_node;

typedef struct cgltf_data {
    int file_type;
    void *file_data;
    const char *json;
    size_t json_size;
    const void *bin;
    size_t bin_size;
    cgltf_mesh *meshes;
    size_t meshes_count;
    cgltf_material *materials;
    size_t materials_count;
    cgltf_accessor *accessors;
    size_t accessors_count;
    cgltf_buffer_view *buffer_views;
    size_t buffer_views_count;
    cgltf_buffer *buffers;
    size_t buffers_count;
    cgltf_camera *cameras;
    size_t cameras_count;
    cgltf_node *nodes, *scene; /* scene: a node, for all others are below it */
    size_t nodes_count;
    void *(*alloc)(void *, size_t);
    void (*release)(void *, void *);
    void *user_data;
} cgltf_data;

static haul_type *buffer_type, *view_type, *accessor_type, *attribute_type, *material_type,
    *primitive_type, *mesh_type, *extras_type, *camera_type, *node_type, *data_type;

/* Binary files: a header, the text, a header, the binary part. */
HAUL_FUNCTION(file_bytes, cgltf_data,
              (const char *)self->bin + self->bin_size - (const char *)self->file_data)
HAUL_FUNCTION(buffer_bytes, cgltf_buffer, self->size)

#define MANY(S, m, T) HAUL_OBJECTS(S, m, T, HAUL_COUNT(S, m##_count))

static void cgltf_open(void)
{
    static const haul_field buffer_fields[] = {
        HAUL_STRING(cgltf_buffer, name), HAUL_STRING(cgltf_buffer, uri),
        HAUL_BYTES(cgltf_buffer, data, HAUL_COUNT_FN(buffer_bytes))
    };
    static const haul_field view_fields[] = {
        HAUL_STRING(cgltf_buffer_view, name), HAUL_OBJECT(cgltf_buffer_view, buffer, &buffer_type),
        HAUL_ADDRESS(cgltf_buffer_view, data, .ownership = HAUL_BORROWED)
    };
    static const haul_field accessor_fields[] = {
        HAUL_STRING(cgltf_accessor, name), HAUL_OBJECT(cgltf_accessor, buffer_view, &view_type)
    };
    static const haul_field attribute_fields[] = {
        HAUL_STRING(cgltf_attribute, name), HAUL_OBJECT(cgltf_attribute, data, &accessor_type)
    };
    static const haul_field material_fields[] = { HAUL_STRING(cgltf_material, name) };
    static const haul_field primitive_fields[] = {
        HAUL_OBJECT(cgltf_primitive, indices, &accessor_type),
        HAUL_OBJECT(cgltf_primitive, material, &material_type),
        MANY(cgltf_primitive, attributes, &attribute_type)
    };
    static const haul_field mesh_fields[] = {
        HAUL_STRING(cgltf_mesh, name), MANY(cgltf_mesh, primitives, &primitive_type),
        HAUL_STRINGS(cgltf_mesh, target_names, HAUL_COUNT(cgltf_mesh, target_names_count))
    };
    static const haul_field extras_fields[] = { HAUL_STRING(cgltf_extras, data) };
    static const haul_field camera_fields[] = {
        HAUL_STRING(cgltf_camera, name),
        HAUL_STRING(cgltf_camera, data.perspective.extras.data,
                    .when = HAUL_EQUALS(cgltf_camera, type, PERSPECTIVE)),
        HAUL_STRING(cgltf_camera, data.orthographic.extras.data,
                    .when = HAUL_EQUALS(cgltf_camera, type, ORTHOGRAPHIC)),
    };
    static const haul_field node_fields[] = {
        HAUL_STRING(cgltf_node, name), HAUL_OBJECT(cgltf_node, parent, &node_type),
        HAUL_POINTERS(cgltf_node, children, &node_type, HAUL_COUNT(cgltf_node, children_count)),
        HAUL_OBJECT(cgltf_node, mesh, &mesh_type), HAUL_OBJECT(cgltf_node, camera, &camera_type)
    };
    static const haul_field data_fields[] = {
        HAUL_BYTES(cgltf_data, file_data, HAUL_COUNT_FN(file_bytes)),
        HAUL_ADDRESS(cgltf_data, json, .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(cgltf_data, bin, .ownership = HAUL_BORROWED),
        MANY(cgltf_data, meshes, &mesh_type),
        MANY(cgltf_data, materials, &material_type),
        MANY(cgltf_data, accessors, &accessor_type),
        MANY(cgltf_data, buffer_views, &view_type),
        MANY(cgltf_data, buffers, &buffer_type),
        MANY(cgltf_data, cameras, &camera_type),
        MANY(cgltf_data, nodes, &node_type),
        HAUL_OBJECT(cgltf_data, scene, &node_type),
        HAUL_ADDRESS(cgltf_data, alloc, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(cgltf_data, release, .ownership = HAUL_EXTERNAL),
        HAUL_RAW(cgltf_data, user_data),
    };
    buffer_type = OPEN(cgltf_buffer, buffer_fields);
    view_type = OPEN(cgltf_buffer_view, view_fields);
    accessor_type = OPEN(cgltf_accessor, accessor_fields);
    attribute_type = OPEN(cgltf_attribute, attribute_fields);
    material_type = OPEN(cgltf_material, material_fields);
    primitive_type = OPEN(cgltf_primitive, primitive_fields);
    mesh_type = OPEN(cgltf_mesh, mesh_fields);
    extras_type = OPEN(cgltf_extras, extras_fields);
    camera_type = OPEN(cgltf_camera, camera_fields);
    node_type = OPEN(cgltf_node, node_fields);
    data_type = OPEN(cgltf_data, data_fields);
    type_close(data_type);
}

static void *cgltf_alloc(void *user, size_t bytes)
{
    (void)user;
    return bytes ? user : NULL;
}

static void cgltf_release(void *user, void *block)
{
    (void)user;
    (void)block;
}

/* A header of 20 bytes, 1000 of text, one of 8. */
static void file_make(cgltf_data *d)
{
    unsigned char *file = put_elements(FILE_BYTES, 1);
    int i;
    for (i = 0; i < FILE_BYTES; i++)
        file[i] = (unsigned char)chance(0, 9);
    d->file_data = file;
    d->json = (const char *)file + 20;
    d->json_size = 1000;
    d->bin = file + 1028;
    d->bin_size = FILE_BYTES - 1028;
}

static void buffers_make(cgltf_data *d)
{
    size_t i;
    d->buffers_count = BUFFERS;
    d->buffers = put_elements(BUFFERS, sizeof *d->buffers);
    d->buffers[0].data = (void *)(uintptr_t)d->bin;
    d->buffers[0].size = d->bin_size;
    d->buffers[1].size = 1000;
    d->buffers[1].data = put_elements(1000, 1);
    d->buffers[1].name = put_text("positions");
    d->buffers[2].size = 9000; /* not loaded */
    d->buffers[2].uri = put_text("far.bin");
    d->buffer_views_count = VIEWS;
    d->buffer_views = put_elements(VIEWS, sizeof *d->buffer_views);
    for (i = 0; i < VIEWS; i++) {
        cgltf_buffer_view *v = &d->buffer_views[i];
        v->name = i % 4 ? NULL : put_text("view");
        v->buffer = &d->buffers[i % 2];
        v->offset = i * 10;
        v->size = 100;
        if (i % 10 == 3)
            v->data = (char *)d->buffers[1].data + 300;
    }
    d->accessors_count = ACCESSORS;
    d->accessors = put_elements(ACCESSORS, sizeof *d->accessors);
    for (i = 0; i < ACCESSORS; i++) {
        d->accessors[i].name = put_text("accessor");
        d->accessors[i].count = 100;
        d->accessors[i].buffer_view = &d->buffer_views[(size_t)chance(0, VIEWS - 1)];
    }
}

static const unsigned char *accessor_data(const cgltf_accessor *a)
{
    const cgltf_buffer_view *v = a->buffer_view;
    return v->data ? v->data : (const unsigned char *)v->buffer->data + v->offset;
}

static void primitive_make(cgltf_data *d, cgltf_primitive *p)
{
    size_t i;
    p->indices = &d->accessors[(size_t)chance(0, ACCESSORS - 1)];
    p->material = &d->materials[(size_t)chance(0, MATERIALS - 1)];
    p->attributes_count = (size_t)chance(1, 4);
    p->attributes = put_elements(p->attributes_count, sizeof *p->attributes);
    the.told += accessor_data(p->indices)[7];
    for (i = 0; i < p->attributes_count; i++) {
        p->attributes[i].name = put_text("POSITION");
        p->attributes[i].data = &d->accessors[(size_t)chance(0, ACCESSORS - 1)];
        the.told += accessor_data(p->attributes[i].data)[3];
    }
}

static void meshes_make(cgltf_data *d)
{
    size_t i, k;
    d->materials_count = MATERIALS;
    d->materials = put_elements(MATERIALS, sizeof *d->materials);
    for (i = 0; i < MATERIALS; i++)
        d->materials[i].name = put_text("material");
    d->meshes_count = MESHES;
    d->meshes = put_elements(MESHES, sizeof *d->meshes);
    for (i = 0; i < MESHES; i++) {
        cgltf_mesh *m = &d->meshes[i];
        m->name = put_text("mesh");
        m->primitives_count = i % 3 + 1;
        m->primitives = put_elements(m->primitives_count, sizeof *m->primitives);
        for (k = 0; k < m->primitives_count; k++)
            primitive_make(d, &m->primitives[k]);
        m->target_names_count = i % 2 * 2;
        m->target_names = i % 2 ? put_elements(2, sizeof *m->target_names) : NULL;
        for (k = 0; k < m->target_names_count; k++)
            m->target_names[k] = put_text("target");
    }
}

static void cameras_make(cgltf_data *d)
{
    size_t i;
    d->cameras_count = CAMERAS;
    d->cameras = put_elements(CAMERAS, sizeof *d->cameras);
    for (i = 0; i < CAMERAS; i++) {
        cgltf_camera *c = &d->cameras[i];
        c->name = put_text("camera");
        c->type = i % 2 ? PERSPECTIVE : ORTHOGRAPHIC;
        if (i % 2)
            c->data.perspective.extras.data = put_text("wide");
        else
            c->data.orthographic.extras.data = put_text("flat!");
    }
}

static void nodes_make(cgltf_data *d)
{
    size_t i;
    d->nodes_count = NODES;
    d->nodes = put_elements(NODES, sizeof *d->nodes);
    d->scene = d->nodes;
    for (i = 0; i < NODES; i++) {
        cgltf_node *n = &d->nodes[i];
        n->name = put_text("node");
        n->mesh = i % 3 ? NULL : &d->meshes[(size_t)chance(0, MESHES - 1)];
        n->camera = i % 7 ? NULL : &d->cameras[(size_t)chance(0, CAMERAS - 1)];
        if (i > 0) {
            n->parent = &d->nodes[(i - 1) / LEVEL];
            n->parent->children[n->parent->children_count++] = n;
        }
        if (i * LEVEL + 1 < NODES)
            n->children = put_elements(LEVEL, sizeof *n->children);
        the.told += (n->mesh ? (int64_t)n->mesh->primitives_count : 0) +
                    (!n->camera                       ? 0
                     : n->camera->type == PERSPECTIVE ? 4
                                                      : 5);
    }
}

static cgltf_data *cgltf_make(void)
{
    cgltf_data *d = put_elements(1, sizeof *d);
    d->alloc = cgltf_alloc;
    d->release = cgltf_release;
    d->user_data = d;
    file_make(d);
    buffers_make(d);
    meshes_make(d);
    cameras_make(d);
    nodes_make(d);
    return d;
}

static int64_t mesh_see(const cgltf_mesh *m)
{
    int64_t sum = 0;
    size_t i, k;
    for (i = 0; i < m->primitives_count; i++) {
        cgltf_primitive *p = &m->primitives[i];
        p->material->metallic_factor += 1;
        sum += accessor_data(p->indices)[7];
        for (k = 0; k < p->attributes_count; k++) {
            sum += accessor_data(p->attributes[k].data)[3];
            p->attributes[k].data->min[0]++;
        }
    }
    return sum;
}

/* The nodes from the scene's on, by their children and back by their parents. */
static int64_t cgltf_walk(void *root, size_t count)
{
    cgltf_data *d = root;
    int64_t sum = 0;
    size_t i, next, seen = 1;
    (void)count;
    for (i = 0; i < d->meshes_count; i++)
        sum += mesh_see(&d->meshes[i]);
    for (i = 0; i < d->nodes_count; i++) {
        cgltf_node *n = &d->nodes[i];
        const cgltf_camera *c = n->camera;
        for (next = 0; next < n->children_count; next++, seen++)
            if (n->children[next]->parent != n || n->children[next] != &d->nodes[seen])
                return -1;
        sum += n->mesh ? (int64_t)n->mesh->primitives_count : 0;
        sum += !c ? 0
                  : (int64_t)strlen(c->type == PERSPECTIVE ? c->data.perspective.extras.data
                                                           : c->data.orthographic.extras.data);
        n->has_translation = 1;
    }
    return seen == NODES && d->buffers[0].data == d->bin ? sum : -1;
}

TEST(structures_cgltf,
     cgltf_references_into_arrays_a_file_and_what_lies_in_it_and_cameras_of_two_kinds)
{
    site_start(150);
    cgltf_open();
    travel_and_sum(cgltf_make(), data_type, 1, cgltf_walk);
    SITE_END(&buffer_type, &view_type, &accessor_type, &attribute_type, &material_type,
             &primitive_type, &mesh_type, &extras_type, &camera_type, &node_type, &data_type);
}
