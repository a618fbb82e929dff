/* Arrays of pointers to objects (PARR: Assimp's scene), and objects that many share (SHARE: the
 * symbols of a GROMACS topology, reached through pointers to the symbol table's own pointers).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"

/* ---- PARR: aiScene. Meshes, textures and nodes are arrays of pointers; a mesh has up to eight
 * sets of colours and of texture coordinates, each NULL or one for each vertex; a texture without a
 * height is a file of mWidth bytes. */

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
    face_type = YARD_TYPE(aiFace, face_fields);
    mesh_type = YARD_TYPE(aiMesh, mesh_fields);
    node_type = YARD_TYPE(aiNode, node_fields);
    texture_type = YARD_TYPE(aiTexture, texture_fields);
    return yard_type("aiScene", sizeof(aiScene), fields, count);
}

static void scene_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&face_type);
    haul_type_free(&mesh_type);
    haul_type_free(&node_type);
    haul_type_free(&texture_type);
    yard_close();
}

static void name_set(aiString *name, const char *kind, int number)
{
    name->length = (uint32_t)snprintf(name->data, sizeof name->data, "%s %d", kind, number);
}

static aiVector3D *vectors_make(uint32_t count)
{
    aiVector3D *v = yard_take(count, sizeof *v);
    uint32_t i;
    for (i = 0; i < count; i++) {
        v[i].x = (float)yard_int(0, 99);
        yard.told += (int64_t)v[i].x;
    }
    return v;
}

static aiMesh *mesh_make(int number)
{
    aiMesh *m = yard_take(1, sizeof *m);
    uint32_t i, k, sets = (uint32_t)number % 3;
    m->mNumVertices = (uint32_t)yard_int(30, 90);
    m->mNumFaces = m->mNumVertices / 2;
    m->mVertices = vectors_make(m->mNumVertices);
    m->mNormals = number % 2 ? vectors_make(m->mNumVertices) : NULL;
    for (i = 0; i < sets; i++) {
        m->mTextureCoords[i] = vectors_make(m->mNumVertices);
        m->mColors[SETS - 1 - i] = yard_take(4 * m->mNumVertices, sizeof(float));
    }
    m->mFaces = yard_take(m->mNumFaces, sizeof *m->mFaces);
    for (i = 0; i < m->mNumFaces; i++) {
        m->mFaces[i].mNumIndices = (uint32_t)yard_int(3, 5);
        m->mFaces[i].mIndices = yard_take(m->mFaces[i].mNumIndices, sizeof(uint32_t));
        for (k = 0; k < m->mFaces[i].mNumIndices; k++)
            yard.told += m->mFaces[i].mIndices[k] = (uint32_t)yard_int(0, (int)m->mNumVertices - 1);
    }
    name_set(&m->mName, "mesh", number);
    return m;
}

static aiNode *node_make(aiNode *parent, int depth)
{
    aiNode *n = yard_take(1, sizeof *n);
    uint32_t i;
    n->mParent = parent;
    name_set(&n->mName, "node", depth);
    n->mNumMeshes = (uint32_t)yard_int(1, 3);
    n->mMeshes = yard_take(n->mNumMeshes, sizeof *n->mMeshes);
    for (i = 0; i < n->mNumMeshes; i++)
        n->mMeshes[i] = (uint32_t)yard_int(0, MESHES - 1);
    yard.told += n->mName.length;
    n->mNumChildren = depth > 0 ? 4 : 0;
    if (n->mNumChildren)
        n->mChildren = yard_take(4, sizeof *n->mChildren);
    for (i = 0; i < n->mNumChildren; i++)
        n->mChildren[i] = node_make(n, depth - 1);
    return n;
}

static aiTexture *texture_make(uint32_t width, uint32_t height)
{
    aiTexture *t = yard_take(1, sizeof *t);
    t->mWidth = width;
    t->mHeight = height;
    memcpy(t->achFormatHint, height ? "rgba8888" : "png", height ? 9 : 4);
    t->pcData = yard_take(height ? 4 * width * height : width, 1);
    t->pcData[0] = (uint8_t)yard_int(1, 250);
    yard.told += t->pcData[0];
    return t;
}

static aiScene *scene_make(void)
{
    aiScene *s = yard_take(1, sizeof *s);
    int i;
    s->mNumMeshes = MESHES;
    s->mMeshes = yard_take(MESHES, sizeof *s->mMeshes);
    for (i = 0; i < MESHES; i++)
        s->mMeshes[i] = mesh_make(i);
    s->mRootNode = node_make(NULL, 4);
    s->mNumTextures = 3;
    s->mTextures = yard_take(3, sizeof *s->mTextures);
    s->mTextures[0] = texture_make(64, 64);
    s->mTextures[1] = texture_make(3333, 0);
    s->mTextures[2] = texture_make(16, 4);
    s->mPrivate = s->mMeshes;
    return s;
}

/* Its array of pointers is the last block of the yard. */
static aiScene *scene_of_one_make(void)
{
    aiScene *s = yard_take(1, sizeof *s);
    aiMesh *m = mesh_make(1);
    s->mNumMeshes = 1;
    s->mMeshes = yard_take(1, sizeof *s->mMeshes);
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

TEST(structures, PARR_a_scene_of_arrays_of_pointers_to_meshes_nodes_and_textures)
{
    static const haul_field fields[] = {
        SCENE_ROWS,
        HAUL_POINTERS(aiScene, mMeshes, &mesh_type, HAUL_COUNT(aiScene, mNumMeshes)),
    };
    haul_type *type;
    yard_open(1 << 22, 41);
    type = scene_open(fields, sizeof fields / sizeof *fields);
    yard_commit(type);
    yard_prove(scene_make(), type, 1, scene_walk);
    scene_close(&type);
}

TEST(structures, PARR_an_array_of_pointers_described_as_one_of_objects_is_refused)
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
    yard_open(1 << 22, 42);
    type = scene_open(fields, sizeof fields / sizeof *fields);
    yard_refuse_type(type, "aiScene.mMeshes", "bytes");
    scene_close(&type);
    /* and where no C type says so: the pointer is read as the mesh's first fields */
    yard_open(1 << 22, 42);
    type = scene_open(as_fields, sizeof as_fields / sizeof *as_fields);
    yard_commit(type);
    scene = scene_of_one_make();
    memcpy(firsts, scene->mMeshes, sizeof firsts);
    yard_refuse(scene, type, 1, HAUL_ERROR_GRAPH,
                firsts[1] != 0 ? "root.mMeshes.mVertices" : "root.mMeshes.mFaces",
                "outside any process's address range");
    scene_close(&type);
}

/* ---- SHARE: a GROMACS topology. An atom's name is a pointer to a pointer in the symbol table, the
 * same for all atoms of that name; names are compared by these addresses. */

enum { ATOMS = 3000, SYMBOLS = 57, BUFFER = 20 };

typedef struct t_symbuf {
    int32_t bufsize;
    char **buf;
    struct t_symbuf *next;
} t_symbuf;

typedef struct t_symtab {
    int32_t nr;
    t_symbuf *symbuf;
} t_symtab;

typedef struct t_resinfo {
    char **name;
    int32_t nr;
} t_resinfo;

typedef struct t_atoms {
    int32_t nr, nres;
    float *m;
    char ***atomname, ***atomtype;
    t_resinfo *resinfo;
} t_atoms;

typedef struct t_topology {
    char **name;
    t_atoms atoms;
    t_symtab symtab;
} t_topology;

static haul_type *symbuf_type, *symtab_type, *resinfo_type, *atoms_type;

/* A char **: one pointer, to a string. */
#define SYMBOL(S, m) HAUL_STRINGS(S, m, HAUL_ONE)
#define SYMBOL_OF_EACH(S, m, n)                                                                    \
    HAUL_ADDRESS(S, m, .levels = 3, .element_bytes = sizeof(***((S *)0)->m),                       \
                 .count = HAUL_COUNT(S, n), .count2 = HAUL_ONE, .count3 = HAUL_TERMINATED)

static haul_type *topology_open(const haul_field *types)
{
    static const haul_field symbuf_fields[] = { HAUL_STRINGS(t_symbuf, buf,
                                                             HAUL_COUNT(t_symbuf, bufsize)),
                                                HAUL_OBJECT(t_symbuf, next, &symbuf_type) };
    static const haul_field symtab_fields[] = { HAUL_OBJECT(t_symtab, symbuf, &symbuf_type) };
    static const haul_field resinfo_fields[] = { SYMBOL(t_resinfo, name) };
    static const haul_field atoms_fields[] = {
        HAUL_ARRAY(t_atoms, m, HAUL_COUNT(t_atoms, nr)),
        SYMBOL_OF_EACH(t_atoms, atomname, nr),
        HAUL_OBJECTS(t_atoms, resinfo, &resinfo_type, HAUL_COUNT(t_atoms, nres)),
    };
    static const haul_field fields[] = {
        SYMBOL(t_topology, name),
        HAUL_EMBED(t_topology, atoms, &atoms_type),
        HAUL_EMBED(t_topology, symtab, &symtab_type),
    };
    haul_type *type = YARD_TYPE(t_topology, fields);
    symbuf_type = YARD_TYPE(t_symbuf, symbuf_fields);
    symtab_type = YARD_TYPE(t_symtab, symtab_fields);
    resinfo_type = YARD_TYPE(t_resinfo, resinfo_fields);
    atoms_type = YARD_TYPE(t_atoms, atoms_fields);
    CHECK_STATUS(haul_type_add(atoms_type, types, 1), HAUL_OK);
    yard_commit(type);
    return type;
}

static void topology_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&symbuf_type);
    haul_type_free(&symtab_type);
    haul_type_free(&resinfo_type);
    haul_type_free(&atoms_type);
    yard_close();
}

static t_symbuf *symbuf_make(char ***symbols)
{
    t_symbuf *first = NULL, *b;
    char text[32];
    int i;
    for (i = 0; i < SYMBOLS; i++) {
        if (i % BUFFER == 0) {
            b = yard_take(1, sizeof *b);
            b->bufsize = BUFFER;
            b->buf = yard_take(BUFFER, sizeof *b->buf);
            b->next = first;
            first = b;
        }
        snprintf(text, sizeof text, "symbol-%d", i);
        first->buf[i % BUFFER] = yard_text(text);
        symbols[i] = &first->buf[i % BUFFER];
    }
    return first;
}

static t_topology *topology_make(void)
{
    t_topology *t = yard_take(1, sizeof *t);
    t_atoms *a = &t->atoms;
    char **symbols[SYMBOLS];
    int i;
    t->symtab.nr = SYMBOLS;
    t->symtab.symbuf = symbuf_make(symbols);
    t->name = symbols[0];
    a->nr = ATOMS;
    a->nres = ATOMS / 10;
    a->m = yard_take(ATOMS, sizeof *a->m);
    a->atomname = yard_take(ATOMS, sizeof *a->atomname);
    a->atomtype = yard_take(ATOMS, sizeof *a->atomtype);
    a->resinfo = yard_take(ATOMS / 10, sizeof *a->resinfo);
    for (i = 0; i < ATOMS; i++) {
        int name = yard_int(1, SYMBOLS - 1);
        a->atomname[i] = symbols[name];
        a->atomtype[i] = symbols[yard_int(1, SYMBOLS - 1)];
        yard.told += name;
    }
    for (i = 0; i < ATOMS / 10; i++)
        a->resinfo[i].name = a->atomname[10 * i];
    return t;
}

/* Renames one atom, and with it all of its name. */
static int64_t topology_walk(void *root, size_t count)
{
    t_topology *t = root;
    t_atoms *a = &t->atoms;
    int64_t sum = 0, renamed = 0, same = 0;
    int i;
    (void)count;
    if (strcmp(*t->name, "symbol-0") != 0)
        return -1;
    for (i = 0; i < a->nr; i++)
        sum += atoi(*a->atomname[i] + 7);
    (*a->atomname[0])[0] = 'S';
    for (i = 0; i < a->nr; i++) {
        same += a->atomname[i] == a->atomname[0];
        renamed += (*a->atomname[i])[0] == 'S';
        a->m[i] = (*a->atomtype[i])[0] == 'S' ? 2 : 1;
    }
    for (i = 0; i < a->nres; i++)
        sum += a->resinfo[i].name == a->atomname[10 * i] ? 0 : -1;
    return same == renamed && same > 1 ? sum : -1;
}

TEST(structures, SHARE_names_that_thousands_of_atoms_share_through_one_symbol_table)
{
    static const haul_field types[] = { SYMBOL_OF_EACH(t_atoms, atomtype, nr) };
    haul_type *type;
    yard_open(1 << 20, 43);
    type = topology_open(types);
    yard_prove(topology_make(), type, 1, topology_walk);
    topology_close(&type);
}

TEST(structures, SHARE_a_pointer_to_a_symbol_described_as_the_symbol_is_refused_with_both_paths)
{
    static const haul_field types[] = { HAUL_STRINGS(t_atoms, atomtype, HAUL_COUNT(t_atoms, nr)) };
    haul_type *type;
    yard_open(1 << 20, 44);
    type = topology_open(types);
    yard_refuse(topology_make(), type, 1, HAUL_ERROR_GRAPH, "root.atoms.atomtype[0]",
                "a word is a pointer for one description and data for another");
    CHECK_HAS(yard.refused.other_path, "root.");
    topology_close(&type);
}

TEST(structures, SHARE_a_symbol_that_a_device_could_not_compare_is_told)
{
    static const haul_field types[] = { HAUL_ARRAY(t_atoms, atomtype, HAUL_COUNT(t_atoms, nr)) };
    haul_type *type;
    yard_open(1 << 20, 45);
    type = topology_open(types);
    yard_tell(topology_make(), type, 1, HAUL_AUDIT_HIDDEN_POINTER, "root.atoms.atomtype[0]",
              "plain data that holds an address in the graph (3000 times)");
    topology_close(&type);
}
