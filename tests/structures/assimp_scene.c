/* Assimp's aiScene. Meshes, textures and nodes are arrays of pointers; a mesh has up to eight sets
 * of colours and of texture coordinates, each NULL or one for each vertex; a texture without a
 * height is a file of mWidth bytes.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { SETS = 8, MESHES = 20, NAME = 1024 };

typedef struct aiString {
    uint32_t length;
    char data[NAME];
} aiString;

typedef struct aiVector3D {
    float x, y, z;
} aiVector3D;

typedef struct aiFace {
    uint32_t mNumIndices, *mIndices;
} aiFace;

typedef struct aiMesh {
    uint32_t mPrimitiveTypes, mNumVertices, mNumFaces;
    aiVector3D *mVertices, *mNormals; /* mNormals may be NULL */
    float *mColors[SETS];             /* four to a vertex */
    aiVector3D *mTextureCoords[SETS];
    uint32_t mNumUVComponents[SETS];
    aiFace *mFaces;
    aiString mName;
} aiMesh;

typedef struct aiNode {
    aiString mName;
    float mTransformation[16];
    struct aiNode *mParent;
    uint32_t mNumChildren;
    struct aiNode **mChildren;
    uint32_t mNumMeshes, *mMeshes;
} aiNode;

typedef struct aiTexture {
    uint32_t mWidth, mHeight;
    char achFormatHint[9];
    uint8_t *pcData;
} aiTexture;

typedef struct aiScene {
    uint32_t mFlags;
    aiNode *mRootNode;
    uint32_t mNumMeshes;
    aiMesh **mMeshes;
    uint32_t mNumTextures;
    aiTexture **mTextures;
    void *mPrivate;
} aiScene;

static haul_type *mesh_type, *face_type, *node_type, *texture_type;

HAUL_FUNCTION(normals, aiMesh, self->mNumVertices)
HAUL_FUNCTION(colours, aiMesh, 4 * (int64_t)self->mNumVertices)
HAUL_FUNCTION(texels, aiTexture,
              self->mHeight ? 4 * (int64_t)self->mWidth * self->mHeight : self->mWidth)

#define SCENE_ROWS                                                                                 \
    HAUL_OBJECT(aiScene, mRootNode, &node_type),                                                   \
        HAUL_POINTERS(aiScene, mTextures, &texture_type, HAUL_COUNT(aiScene, mNumTextures)),       \
        HAUL_RAW(aiScene, mPrivate)

static haul_type *scene_open(const haul_field *fields, size_t count)
{
    static const haul_field face_fields[] = { HAUL_ARRAY(aiFace, mIndices,
                                                         HAUL_COUNT(aiFace, mNumIndices)) };
    static const haul_field mesh_fields[] = {
        HAUL_ARRAY(aiMesh, mVertices, HAUL_COUNT(aiMesh, mNumVertices)),
        HAUL_ARRAY(aiMesh, mNormals, HAUL_COUNT_FN(normals)),
        HAUL_EACH(aiMesh, mColors, .count = HAUL_COUNT_FN(colours)),
        HAUL_EACH(aiMesh, mTextureCoords, .count = HAUL_COUNT(aiMesh, mNumVertices)),
        HAUL_OBJECTS(aiMesh, mFaces, &face_type, HAUL_COUNT(aiMesh, mNumFaces)),
    };
    static const haul_field node_fields[] = {
        HAUL_OBJECT(aiNode, mParent, &node_type),
        HAUL_POINTERS(aiNode, mChildren, &node_type, HAUL_COUNT(aiNode, mNumChildren)),
        HAUL_ARRAY(aiNode, mMeshes, HAUL_COUNT(aiNode, mNumMeshes)),
    };
    static const haul_field texture_fields[] = { HAUL_BYTES(aiTexture, pcData,
                                                            HAUL_COUNT_FN(texels)) };
    face_type = OPEN(aiFace, face_fields);
    mesh_type = OPEN(aiMesh, mesh_fields);
    node_type = OPEN(aiNode, node_fields);
    texture_type = OPEN(aiTexture, texture_fields);
    return type_open("aiScene", sizeof(aiScene), fields, count);
}

static void scene_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&face_type);
    haul_type_free(&mesh_type);
    haul_type_free(&node_type);
    haul_type_free(&texture_type);
    site_end();
}

static void name_set(aiString *name, const char *kind, int number)
{
    name->length = (uint32_t)snprintf(name->data, sizeof name->data, "%s %d", kind, number);
}

static aiVector3D *vectors_make(uint32_t count)
{
    aiVector3D *v = put_elements(count, sizeof *v);
    uint32_t i;
    for (i = 0; i < count; i++) {
        v[i].x = (float)chance(0, 99);
        the.told += (int64_t)v[i].x;
    }
    return v;
}

static aiMesh *mesh_make(int number)
{
    aiMesh *m = put_elements(1, sizeof *m);
    uint32_t i, k, sets = (uint32_t)number % 3;
    m->mNumVertices = (uint32_t)chance(30, 90);
    m->mNumFaces = m->mNumVertices / 2;
    m->mVertices = vectors_make(m->mNumVertices);
    m->mNormals = number % 2 ? vectors_make(m->mNumVertices) : NULL;
    for (i = 0; i < sets; i++) {
        m->mTextureCoords[i] = vectors_make(m->mNumVertices);
        m->mColors[SETS - 1 - i] = put_elements(4 * m->mNumVertices, sizeof(float));
    }
    m->mFaces = put_elements(m->mNumFaces, sizeof *m->mFaces);
    for (i = 0; i < m->mNumFaces; i++) {
        m->mFaces[i].mNumIndices = (uint32_t)chance(3, 5);
        m->mFaces[i].mIndices = put_elements(m->mFaces[i].mNumIndices, sizeof(uint32_t));
        for (k = 0; k < m->mFaces[i].mNumIndices; k++)
            the.told += m->mFaces[i].mIndices[k] = (uint32_t)chance(0, (int)m->mNumVertices - 1);
    }
    name_set(&m->mName, "mesh", number);
    return m;
}

static aiNode *node_make(aiNode *parent, int depth)
{
    aiNode *n = put_elements(1, sizeof *n);
    uint32_t i;
    n->mParent = parent;
    name_set(&n->mName, "node", depth);
    n->mNumMeshes = (uint32_t)chance(1, 3);
    n->mMeshes = put_elements(n->mNumMeshes, sizeof *n->mMeshes);
    for (i = 0; i < n->mNumMeshes; i++)
        n->mMeshes[i] = (uint32_t)chance(0, MESHES - 1);
    the.told += n->mName.length;
    n->mNumChildren = depth > 0 ? 4 : 0;
    if (n->mNumChildren)
        n->mChildren = put_elements(4, sizeof *n->mChildren);
    for (i = 0; i < n->mNumChildren; i++)
        n->mChildren[i] = node_make(n, depth - 1);
    return n;
}

static aiTexture *texture_make(uint32_t width, uint32_t height)
{
    aiTexture *t = put_elements(1, sizeof *t);
    t->mWidth = width;
    t->mHeight = height;
    memcpy(t->achFormatHint, height ? "rgba8888" : "png", height ? 9 : 4);
    t->pcData = put_elements(height ? 4 * width * height : width, 1);
    t->pcData[0] = (uint8_t)chance(1, 250);
    the.told += t->pcData[0];
    return t;
}

static aiScene *scene_make(void)
{
    aiScene *s = put_elements(1, sizeof *s);
    int i;
    s->mNumMeshes = MESHES;
    s->mMeshes = put_elements(MESHES, sizeof *s->mMeshes);
    for (i = 0; i < MESHES; i++)
        s->mMeshes[i] = mesh_make(i);
    s->mRootNode = node_make(NULL, 4);
    s->mNumTextures = 3;
    s->mTextures = put_elements(3, sizeof *s->mTextures);
    s->mTextures[0] = texture_make(64, 64);
    s->mTextures[1] = texture_make(3333, 0);
    s->mTextures[2] = texture_make(16, 4);
    s->mPrivate = s->mMeshes;
    return s;
}

/* Its array of pointers is the last block of the the. */
static aiScene *scene_of_one_make(void)
{
    aiScene *s = put_elements(1, sizeof *s);
    aiMesh *m = mesh_make(1);
    s->mNumMeshes = 1;
    s->mMeshes = put_elements(1, sizeof *s->mMeshes);
    s->mMeshes[0] = m;
    return s;
}

static int64_t vectors_walk(aiVector3D *v, uint32_t count)
{
    int64_t sum = 0;
    uint32_t i;
    for (i = 0; v && i < count; i++) {
        sum += (int64_t)v[i].x;
        v[i].y += 1;
    }
    return sum;
}

static int64_t mesh_walk(aiMesh *m)
{
    int64_t sum =
        vectors_walk(m->mVertices, m->mNumVertices) + vectors_walk(m->mNormals, m->mNumVertices);
    uint32_t i, k;
    for (i = 0; i < SETS; i++) {
        sum += vectors_walk(m->mTextureCoords[i], m->mNumVertices);
        if (m->mColors[i])
            m->mColors[i][4 * m->mNumVertices - 1] = 1;
    }
    for (i = 0; i < m->mNumFaces; i++)
        for (k = 0; k < m->mFaces[i].mNumIndices; k++)
            sum += m->mFaces[i].mIndices[k];
    m->mName.data[0] = 'M';
    return sum;
}

static int64_t node_walk(aiNode *n, aiScene *s)
{
    int64_t sum = n->mName.length;
    uint32_t i;
    for (i = 0; i < n->mNumMeshes; i++)
        s->mMeshes[n->mMeshes[i]]->mPrimitiveTypes++;
    for (i = 0; i < n->mNumChildren; i++)
        sum += n->mChildren[i]->mParent == n ? node_walk(n->mChildren[i], s) : -1;
    n->mTransformation[15] += 1;
    return sum;
}

static int64_t scene_walk(void *root, size_t count)
{
    aiScene *s = root;
    int64_t sum = node_walk(s->mRootNode, s);
    uint32_t i;
    (void)count;
    for (i = 0; i < s->mNumMeshes; i++)
        sum += mesh_walk(s->mMeshes[i]);
    for (i = 0; i < s->mNumTextures; i++)
        sum += s->mTextures[i]->pcData[0]++;
    return sum;
}

TEST(structures_assimp, a_scene_of_arrays_of_pointers_to_meshes_nodes_and_textures)
{
    static const haul_field fields[] = {
        SCENE_ROWS,
        HAUL_POINTERS(aiScene, mMeshes, &mesh_type, HAUL_COUNT(aiScene, mNumMeshes)),
    };
    haul_type *type;
    site_start(41);
    type = scene_open(fields, sizeof fields / sizeof *fields);
    type_close(type);
    travel_and_sum(scene_make(), type, 1, scene_walk);
    scene_close(&type);
}

TEST(structures_assimp, an_array_of_pointers_described_as_one_of_objects_is_refused)
{
    static const haul_field fields[] = {
        SCENE_ROWS,
        HAUL_OBJECTS(aiScene, mMeshes, &mesh_type, HAUL_COUNT(aiScene, mNumMeshes)),
    };
    static const haul_field as_fields[] = {
        SCENE_ROWS,
        HAUL_ADDRESS(aiScene, mMeshes, .target = &mesh_type,
                     .count = HAUL_COUNT(aiScene, mNumMeshes)),
    };
    /* mPrimitiveTypes and mNumVertices, which may be 0 where addresses are low */
    uint32_t firsts[2];
    aiScene *scene;
    haul_type *type;
    site_start(42);
    type = scene_open(fields, sizeof fields / sizeof *fields);
    refuse_type(type, "aiScene.mMeshes", "bytes");
    scene_close(&type);
    /* and where no C type says so: the pointer is read as the mesh's first fields */
    site_start(42);
    type = scene_open(as_fields, sizeof as_fields / sizeof *as_fields);
    type_close(type);
    scene = scene_of_one_make();
    memcpy(firsts, scene->mMeshes, sizeof firsts);
    refuse_ship(scene, type, 1, HAUL_ERROR_GRAPH,
                firsts[1] != 0 ? "root.mMeshes.mVertices" : "root.mMeshes.mFaces",
                "outside any process's address range");
    scene_close(&type);
}
