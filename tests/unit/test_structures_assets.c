/* What loaders of scenes make: cgltf_data (CNT, TERM, PARR, ROWS, SHARE, BACK, UNI, COND, FUNC),
 * Assimp's materials and metadata (CNT, EXPR, CAP, PARR, POLY, COND, FUNC; its meshes and nodes are
 * in test_structures_scene.c), tinyobj's attrib_t and shape_t (END, CAP, SELF).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"

/* ---- cgltf. Everything that refers to something is a pointer into the array of such things. The
 * text of the file is in the file's data, as is a binary part; a camera is of one of two kinds;
 * buffers may be parts of that data, or NULL until they are loaded. */

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
    buffer_type = YARD_TYPE(cgltf_buffer, buffer_fields);
    view_type = YARD_TYPE(cgltf_buffer_view, view_fields);
    accessor_type = YARD_TYPE(cgltf_accessor, accessor_fields);
    attribute_type = YARD_TYPE(cgltf_attribute, attribute_fields);
    material_type = YARD_TYPE(cgltf_material, material_fields);
    primitive_type = YARD_TYPE(cgltf_primitive, primitive_fields);
    mesh_type = YARD_TYPE(cgltf_mesh, mesh_fields);
    extras_type = YARD_TYPE(cgltf_extras, extras_fields);
    camera_type = YARD_TYPE(cgltf_camera, camera_fields);
    node_type = YARD_TYPE(cgltf_node, node_fields);
    data_type = YARD_TYPE(cgltf_data, data_fields);
    yard_commit(data_type);
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
    unsigned char *file = yard_take(FILE_BYTES, 1);
    int i;
    for (i = 0; i < FILE_BYTES; i++)
        file[i] = (unsigned char)yard_int(0, 9);
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
    d->buffers = yard_take(BUFFERS, sizeof *d->buffers);
    d->buffers[0].data = (void *)(uintptr_t)d->bin;
    d->buffers[0].size = d->bin_size;
    d->buffers[1].size = 1000;
    d->buffers[1].data = yard_take(1000, 1);
    d->buffers[1].name = yard_text("positions");
    d->buffers[2].size = 9000; /* not loaded */
    d->buffers[2].uri = yard_text("far.bin");
    d->buffer_views_count = VIEWS;
    d->buffer_views = yard_take(VIEWS, sizeof *d->buffer_views);
    for (i = 0; i < VIEWS; i++) {
        cgltf_buffer_view *v = &d->buffer_views[i];
        v->name = i % 4 ? NULL : yard_text("view");
        v->buffer = &d->buffers[i % 2];
        v->offset = i * 10;
        v->size = 100;
        if (i % 10 == 3)
            v->data = (char *)d->buffers[1].data + 300;
    }
    d->accessors_count = ACCESSORS;
    d->accessors = yard_take(ACCESSORS, sizeof *d->accessors);
    for (i = 0; i < ACCESSORS; i++) {
        d->accessors[i].name = yard_text("accessor");
        d->accessors[i].count = 100;
        d->accessors[i].buffer_view = &d->buffer_views[(size_t)yard_int(0, VIEWS - 1)];
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
    p->indices = &d->accessors[(size_t)yard_int(0, ACCESSORS - 1)];
    p->material = &d->materials[(size_t)yard_int(0, MATERIALS - 1)];
    p->attributes_count = (size_t)yard_int(1, 4);
    p->attributes = yard_take(p->attributes_count, sizeof *p->attributes);
    yard.told += accessor_data(p->indices)[7];
    for (i = 0; i < p->attributes_count; i++) {
        p->attributes[i].name = yard_text("POSITION");
        p->attributes[i].data = &d->accessors[(size_t)yard_int(0, ACCESSORS - 1)];
        yard.told += accessor_data(p->attributes[i].data)[3];
    }
}

static void meshes_make(cgltf_data *d)
{
    size_t i, k;
    d->materials_count = MATERIALS;
    d->materials = yard_take(MATERIALS, sizeof *d->materials);
    for (i = 0; i < MATERIALS; i++)
        d->materials[i].name = yard_text("material");
    d->meshes_count = MESHES;
    d->meshes = yard_take(MESHES, sizeof *d->meshes);
    for (i = 0; i < MESHES; i++) {
        cgltf_mesh *m = &d->meshes[i];
        m->name = yard_text("mesh");
        m->primitives_count = i % 3 + 1;
        m->primitives = yard_take(m->primitives_count, sizeof *m->primitives);
        for (k = 0; k < m->primitives_count; k++)
            primitive_make(d, &m->primitives[k]);
        m->target_names_count = i % 2 * 2;
        m->target_names = i % 2 ? yard_take(2, sizeof *m->target_names) : NULL;
        for (k = 0; k < m->target_names_count; k++)
            m->target_names[k] = yard_text("target");
    }
}

static void cameras_make(cgltf_data *d)
{
    size_t i;
    d->cameras_count = CAMERAS;
    d->cameras = yard_take(CAMERAS, sizeof *d->cameras);
    for (i = 0; i < CAMERAS; i++) {
        cgltf_camera *c = &d->cameras[i];
        c->name = yard_text("camera");
        c->type = i % 2 ? PERSPECTIVE : ORTHOGRAPHIC;
        if (i % 2)
            c->data.perspective.extras.data = yard_text("wide");
        else
            c->data.orthographic.extras.data = yard_text("flat!");
    }
}

static void nodes_make(cgltf_data *d)
{
    size_t i;
    d->nodes_count = NODES;
    d->nodes = yard_take(NODES, sizeof *d->nodes);
    d->scene = d->nodes;
    for (i = 0; i < NODES; i++) {
        cgltf_node *n = &d->nodes[i];
        n->name = yard_text("node");
        n->mesh = i % 3 ? NULL : &d->meshes[(size_t)yard_int(0, MESHES - 1)];
        n->camera = i % 7 ? NULL : &d->cameras[(size_t)yard_int(0, CAMERAS - 1)];
        if (i > 0) {
            n->parent = &d->nodes[(i - 1) / LEVEL];
            n->parent->children[n->parent->children_count++] = n;
        }
        if (i * LEVEL + 1 < NODES)
            n->children = yard_take(LEVEL, sizeof *n->children);
        yard.told += (n->mesh ? (int64_t)n->mesh->primitives_count : 0) +
                     (!n->camera                       ? 0
                      : n->camera->type == PERSPECTIVE ? 4
                                                       : 5);
    }
}

static cgltf_data *cgltf_make(void)
{
    cgltf_data *d = yard_take(1, sizeof *d);
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

TEST(structures, cgltf_references_into_arrays_a_file_and_what_lies_in_it_and_cameras_of_two_kinds)
{
    yard_open(1 << 20, 150);
    cgltf_open();
    yard_prove(cgltf_make(), data_type, 1, cgltf_walk);
    YARD_END(&buffer_type, &view_type, &accessor_type, &attribute_type, &material_type,
             &primitive_type, &mesh_type, &extras_type, &camera_type, &node_type, &data_type);
}

/* ---- Assimp. A material's properties are bytes, as many as each says, of a list with room for
 * more; a value of the metadata is of the kind that stands beside it, other metadata among them. */

enum {
    AI_BOOL,
    AI_INT32,
    AI_UINT64,
    AI_FLOAT,
    AI_DOUBLE,
    AI_AISTRING,
    AI_AIVECTOR3D,
    AI_AIMETADATA
};
enum { PROPERTIES = 20, ROOM = 32, ENTRIES = 16, DEPTH = 20, NAME = 1024 };

typedef struct aiString {
    uint32_t length;
    char data[NAME];
} aiString;

typedef struct aiMaterialProperty {
    aiString mKey;
    unsigned mSemantic, mIndex, mDataLength;
    int mType;
    char *mData;
} aiMaterialProperty;

typedef struct aiMaterial {
    aiMaterialProperty **mProperties;
    unsigned mNumProperties, mNumAllocated;
} aiMaterial;

typedef struct aiMetadataEntry {
    int mType;
    void *mData;
} aiMetadataEntry;

typedef struct aiMetadata {
    unsigned mNumProperties;
    aiString *mKeys;
    aiMetadataEntry *mValues;
} aiMetadata;

typedef struct aiScene {
    unsigned mNumMaterials;
    aiMaterial **mMaterials;
    aiMetadata *mMetaData;
    void *mPrivate;
} aiScene;

static haul_type *property_type, *ai_material_type, *entry_type, *metadata_type, *byte_type,
    *word_type, *wide_type, *string_type, *vector_type, *scene_type;

static const haul_case values[] = {
    { AI_BOOL, &byte_type, 0 },         { AI_INT32, &word_type, 0 },
    { AI_UINT64, &wide_type, 0 },       { AI_FLOAT, &word_type, 0 },
    { AI_DOUBLE, &wide_type, 0 },       { AI_AISTRING, &string_type, 0 },
    { AI_AIVECTOR3D, &vector_type, 0 }, { AI_AIMETADATA, &metadata_type, 0 }
};

static void scene_open(size_t cases)
{
    static const haul_field property_fields[] = { HAUL_ARRAY(
        aiMaterialProperty, mData, HAUL_COUNT(aiMaterialProperty, mDataLength)) };
    static const haul_field material_fields[] = { HAUL_POINTERS(
        aiMaterial, mProperties, &property_type, HAUL_COUNT(aiMaterial, mNumProperties)) };
    haul_field entry_fields[] = { HAUL_ADDRESS(
        aiMetadataEntry, mData, .type_switch = HAUL_SWITCH(aiMetadataEntry, mType, values)) };
    static const haul_field metadata_fields[] = {
        HAUL_OBJECTS(aiMetadata, mKeys, &string_type, HAUL_COUNT(aiMetadata, mNumProperties)),
        HAUL_OBJECTS(aiMetadata, mValues, &entry_type, HAUL_COUNT(aiMetadata, mNumProperties))
    };
    static const haul_field scene_fields[] = {
        HAUL_POINTERS(aiScene, mMaterials, &ai_material_type, HAUL_COUNT(aiScene, mNumMaterials)),
        HAUL_OBJECT(aiScene, mMetaData, &metadata_type), HAUL_RAW(aiScene, mPrivate)
    };
    entry_fields[0].type_switch.case_count = cases;
    CHECK_STATUS(haul_type_bytes(type_context(), "1 byte", 1, &byte_type), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "4 bytes", 4, &word_type), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "8 bytes", 8, &wide_type), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "3 floats", 12, &vector_type), HAUL_OK);
    string_type = yard_type("aiString", sizeof(aiString), NULL, 0);
    property_type = YARD_TYPE(aiMaterialProperty, property_fields);
    ai_material_type = YARD_TYPE(aiMaterial, material_fields);
    entry_type = YARD_TYPE(aiMetadataEntry, entry_fields);
    metadata_type = YARD_TYPE(aiMetadata, metadata_fields);
    scene_type = YARD_TYPE(aiScene, scene_fields);
    yard_commit(scene_type);
}

static void scene_end(void)
{
    YARD_END(&property_type, &ai_material_type, &entry_type, &metadata_type, &byte_type, &word_type,
             &wide_type, &string_type, &vector_type, &scene_type);
}

static void ai_name(aiString *s, const char *name)
{
    s->length = (uint32_t)strlen(name);
    memcpy(s->data, name, s->length + 1);
}

static aiMaterial *material_make(void)
{
    aiMaterial *m = yard_take(1, sizeof *m);
    unsigned i, k;
    m->mNumAllocated = ROOM;
    m->mProperties = yard_raw(ROOM * sizeof *m->mProperties);
    for (; m->mNumProperties < PROPERTIES; m->mNumProperties++) {
        aiMaterialProperty *p = m->mProperties[m->mNumProperties] = yard_take(1, sizeof *p);
        i = m->mNumProperties;
        ai_name(&p->mKey, "$clr.diffuse");
        p->mDataLength = i + 1;
        p->mData = yard_take(p->mDataLength, 1);
        for (k = 0; k < p->mDataLength; k++)
            p->mData[k] = (char)yard_int(0, 99);
        yard.told += p->mData[i] + (int64_t)p->mKey.length;
    }
    return m;
}

static const size_t value_bytes[] = { 1, 4, 8, 4, 8, sizeof(aiString), 12 };

static aiMetadata *metadata_make(aiMetadata *inner)
{
    aiMetadata *m = yard_take(1, sizeof *m);
    unsigned i;
    m->mNumProperties = ENTRIES;
    m->mKeys = yard_take(ENTRIES, sizeof *m->mKeys);
    m->mValues = yard_take(ENTRIES, sizeof *m->mValues);
    for (i = 0; i < ENTRIES; i++) {
        aiMetadataEntry *e = &m->mValues[i];
        e->mType = (int)i % AI_AIMETADATA;
        ai_name(&m->mKeys[i], i ? "key" : "UpAxis");
        e->mData = yard_take(1, value_bytes[e->mType]);
        *(char *)e->mData = (char)yard_int(0, 99);
        yard.told += *(char *)e->mData + (int64_t)m->mKeys[i].length;
    }
    if (inner) {
        m->mValues[ENTRIES - 1].mType = AI_AIMETADATA;
        yard.told -= *(char *)m->mValues[ENTRIES - 1].mData;
        m->mValues[ENTRIES - 1].mData = inner;
    }
    return m;
}

static aiScene *scene_make(void)
{
    aiScene *s = yard_take(1, sizeof *s);
    int i;
    s->mMaterials = yard_take(10, sizeof *s->mMaterials);
    for (; s->mNumMaterials < 10; s->mNumMaterials++)
        s->mMaterials[s->mNumMaterials] = material_make();
    for (i = 0; i < DEPTH; i++)
        s->mMetaData = metadata_make(s->mMetaData);
    s->mPrivate = s;
    return s;
}

static int64_t scene_walk(void *root, size_t count)
{
    aiScene *s = root;
    aiMetadata *m, *inner;
    int64_t sum = 0;
    unsigned i, k;
    (void)count;
    for (i = 0; i < s->mNumMaterials; i++)
        for (k = 0; k < s->mMaterials[i]->mNumProperties; k++) {
            aiMaterialProperty *p = s->mMaterials[i]->mProperties[k];
            sum += p->mData[p->mDataLength - 1] + (int64_t)strlen(p->mKey.data);
            p->mData[0] = 0;
        }
    for (m = s->mMetaData; m; m = inner)
        for (i = 0, inner = NULL; i < m->mNumProperties; i++) {
            sum += (int64_t)strlen(m->mKeys[i].data);
            if (m->mValues[i].mType == AI_AIMETADATA)
                inner = m->mValues[i].mData;
            else
                sum += (*(char *)m->mValues[i].mData)++;
        }
    return sum;
}

TEST(structures, Assimp_metadata_of_the_kinds_that_stand_beside_its_values_and_materials_of_bytes)
{
    yard_open(1 << 21, 151);
    scene_open(sizeof values / sizeof *values);
    yard_prove(scene_make(), scene_type, 1, scene_walk);
    scene_end();
}

TEST(structures, Assimp_a_kind_of_metadata_that_was_forgotten_is_refused)
{
    char path[60];
    yard_open(1 << 21, 152);
    scene_open(sizeof values / sizeof *values - 1);
    snprintf(path, sizeof path, "root.mMetaData.mValues[%d].mData", ENTRIES - 1);
    yard_refuse(scene_make(), scene_type, 1, HAUL_ERROR_GRAPH, path,
                "its `.type_switch` has no case for 7");
    scene_end();
}

/* ---- tinyobj. Vectors of numbers, with room to grow; names of up to 15 characters lie in the
 * string itself. */

enum { LOCAL = 15, SHAPES = 60 };

typedef struct string {
    char *data;
    size_t length;
    union {
        char local[LOCAL + 1];
        size_t capacity;
    } u;
} string;

#define VECTOR(T)                                                                                  \
    struct {                                                                                       \
        T *begin, *end, *room;                                                                     \
    }

typedef struct index_t {
    int vertex_index, normal_index, texcoord_index;
} index_t;

typedef struct tag_t {
    string name;
    VECTOR(int) intValues;
    VECTOR(float) floatValues;
    VECTOR(string) stringValues;
} tag_t;

typedef struct shape_t {
    string name;
    VECTOR(index_t) indices;
    VECTOR(unsigned char) num_face_vertices;
    VECTOR(int) material_ids;
    VECTOR(tag_t) tags;
} shape_t;

typedef struct attrib_t {
    VECTOR(float) vertices;
    VECTOR(float) normals;
    VECTOR(float) colors;
} attrib_t;

typedef struct obj {
    attrib_t attrib;
    VECTOR(shape_t) shapes;
} obj;

static haul_type *text_type, *tag_type, *shape_type, *attrib_type, *obj_type;

HAUL_FUNCTION(is_local, string, self->data == self->u.local)
HAUL_FUNCTION(is_far, string, self->data != self->u.local)
HAUL_FUNCTION(text_room, string, self->data == self->u.local ? LOCAL + 1 : self->u.capacity + 1)

/* All of the room; what is used ends in it. */
#define VECTOR_ROWS(S, m)                                                                          \
    HAUL_ARRAY(S, m.begin, HAUL_UNTIL(S, m.room)),                                                 \
        HAUL_ADDRESS(S, m.end, .ownership = HAUL_BORROWED)
/* Only what is used: what is behind it is no string yet. */
#define USED_ROWS(S, m, T) HAUL_OBJECTS(S, m.begin, T, HAUL_UNTIL(S, m.end)), HAUL_SKIP(S, m.room)

static void obj_open(void)
{
    static const haul_field text_fields[] = {
        HAUL_ARRAY(string, data, HAUL_COUNT_FN(text_room)),
        HAUL_RAW(string, u.local, .when = HAUL_WHEN_FN(is_local)),
        HAUL_RAW(string, u.capacity, .when = HAUL_WHEN_FN(is_far))
    };
    static const haul_field tag_fields[] = { HAUL_EMBED(tag_t, name, &text_type),
                                             VECTOR_ROWS(tag_t, intValues),
                                             VECTOR_ROWS(tag_t, floatValues),
                                             USED_ROWS(tag_t, stringValues, &text_type) };
    static const haul_field shape_fields[] = { HAUL_EMBED(shape_t, name, &text_type),
                                               VECTOR_ROWS(shape_t, indices),
                                               VECTOR_ROWS(shape_t, num_face_vertices),
                                               VECTOR_ROWS(shape_t, material_ids),
                                               USED_ROWS(shape_t, tags, &tag_type) };
    static const haul_field attrib_fields[] = { VECTOR_ROWS(attrib_t, vertices),
                                                VECTOR_ROWS(attrib_t, normals),
                                                VECTOR_ROWS(attrib_t, colors) };
    static const haul_field obj_fields[] = { HAUL_EMBED(obj, attrib, &attrib_type),
                                             USED_ROWS(obj, shapes, &shape_type) };
    text_type = YARD_TYPE(string, text_fields);
    tag_type = YARD_TYPE(tag_t, tag_fields);
    shape_type = YARD_TYPE(shape_t, shape_fields);
    attrib_type = YARD_TYPE(attrib_t, attrib_fields);
    obj_type = YARD_TYPE(obj, obj_fields);
    yard_commit(obj_type);
}

#define VECTOR_MAKE(v, used, capacity)                                                             \
    ((v).begin = yard_take((capacity), sizeof *(v).begin), (v).end = (v).begin + (used),           \
     (v).room = (v).begin + (capacity))

static void string_make(string *s, const char *text)
{
    s->length = strlen(text);
    s->data = s->u.local;
    if (s->length > LOCAL) {
        s->u.capacity = s->length + 5;
        s->data = yard_take(s->u.capacity + 1, 1);
    }
    memcpy(s->data, text, s->length + 1);
    yard.told += (int64_t)s->length;
}

static void tag_make(tag_t *t, int n)
{
    string_make(&t->name, n % 2 ? "crease" : "a crease along an edge");
    VECTOR_MAKE(t->intValues, 2, 4);
    VECTOR_MAKE(t->floatValues, 1, 1);
    VECTOR_MAKE(t->stringValues, 2, 3);
    string_make(&t->stringValues.begin[0], "smooth");
    string_make(&t->stringValues.begin[1], "sharper than all others");
    t->intValues.begin[1] = n;
    yard.told += n;
}

static obj *obj_make(void)
{
    obj *o = yard_take(1, sizeof *o);
    int i, k;
    VECTOR_MAKE(o->attrib.vertices, 3000, 4096);
    VECTOR_MAKE(o->attrib.normals, 3000, 3000);
    VECTOR_MAKE(o->attrib.colors, 0, 8);
    VECTOR_MAKE(o->shapes, SHAPES, 64);
    for (i = 0; i < SHAPES; i++) {
        shape_t *s = &o->shapes.begin[i];
        string_make(&s->name, i % 2 ? "shape" : "a shape with a long name");
        VECTOR_MAKE(s->indices, 30, 40);
        VECTOR_MAKE(s->num_face_vertices, 10, 16);
        VECTOR_MAKE(s->material_ids, 10, 16);
        VECTOR_MAKE(s->tags, 2, 2);
        for (k = 0; k < 30; k++) {
            s->indices.begin[k].vertex_index = yard_int(0, 999);
            yard.told += s->indices.begin[k].vertex_index;
        }
        tag_make(&s->tags.begin[0], i);
        tag_make(&s->tags.begin[1], 2 * i);
    }
    return o;
}

static int64_t string_see(string *s)
{
    s->data[0] = 'S';
    return (int64_t)strlen(s->data) == (int64_t)s->length &&
                   (s->length > LOCAL) == (s->data != s->u.local)
               ? (int64_t)s->length
               : -1000000;
}

static int64_t obj_walk(void *root, size_t count)
{
    obj *o = root;
    shape_t *s;
    tag_t *t;
    string *name;
    index_t *i;
    int64_t sum = 0;
    (void)count;
    for (s = o->shapes.begin; s != o->shapes.end; s++) {
        sum += string_see(&s->name);
        for (i = s->indices.begin; i != s->indices.end; i++) {
            sum += i->vertex_index;
            o->attrib.vertices.begin[3 * i->vertex_index] += 1;
        }
        s->indices.end++->normal_index = 5; /* there is room */
        for (t = s->tags.begin; t != s->tags.end; t++) {
            sum += string_see(&t->name) + t->intValues.begin[1];
            for (name = t->stringValues.begin; name != t->stringValues.end; name++)
                sum += string_see(name);
        }
    }
    return sum;
}

TEST(structures, tinyobj_shapes_of_vectors_with_room_and_names_that_may_lie_in_themselves)
{
    yard_open(1 << 20, 153);
    yard.returns_pointers = 1;
    obj_open();
    yard_prove(obj_make(), obj_type, 1, obj_walk);
    YARD_END(&text_type, &tag_type, &shape_type, &attrib_type, &obj_type);
}
