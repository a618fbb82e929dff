/* Assimp. A material's properties are bytes, as many as each says, of a list with room for
 * more; a value of the metadata is of the kind that stands beside it, other metadata among them.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

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
    string_type = type_open("aiString", sizeof(aiString), NULL, 0);
    property_type = OPEN(aiMaterialProperty, property_fields);
    ai_material_type = OPEN(aiMaterial, material_fields);
    entry_type = OPEN(aiMetadataEntry, entry_fields);
    metadata_type = OPEN(aiMetadata, metadata_fields);
    scene_type = OPEN(aiScene, scene_fields);
    type_close(scene_type);
}

static void scene_end(void)
{
    SITE_END(&property_type, &ai_material_type, &entry_type, &metadata_type, &byte_type, &word_type,
             &wide_type, &string_type, &vector_type, &scene_type);
}

static void ai_name(aiString *s, const char *name)
{
    s->length = (uint32_t)strlen(name);
    memcpy(s->data, name, s->length + 1);
}

static aiMaterial *material_make(void)
{
    aiMaterial *m = put_elements(1, sizeof *m);
    unsigned i, k;
    m->mNumAllocated = ROOM;
    m->mProperties = put_room(ROOM * sizeof *m->mProperties);
    for (; m->mNumProperties < PROPERTIES; m->mNumProperties++) {
        aiMaterialProperty *p = m->mProperties[m->mNumProperties] = put_elements(1, sizeof *p);
        i = m->mNumProperties;
        ai_name(&p->mKey, "$clr.diffuse");
        p->mDataLength = i + 1;
        p->mData = put_elements(p->mDataLength, 1);
        for (k = 0; k < p->mDataLength; k++)
            p->mData[k] = (char)chance(0, 99);
        the.told += p->mData[i] + (int64_t)p->mKey.length;
    }
    return m;
}

static const size_t value_bytes[] = { 1, 4, 8, 4, 8, sizeof(aiString), 12 };

static aiMetadata *metadata_make(aiMetadata *inner)
{
    aiMetadata *m = put_elements(1, sizeof *m);
    unsigned i;
    m->mNumProperties = ENTRIES;
    m->mKeys = put_elements(ENTRIES, sizeof *m->mKeys);
    m->mValues = put_elements(ENTRIES, sizeof *m->mValues);
    for (i = 0; i < ENTRIES; i++) {
        aiMetadataEntry *e = &m->mValues[i];
        e->mType = (int)i % AI_AIMETADATA;
        ai_name(&m->mKeys[i], i ? "key" : "UpAxis");
        e->mData = put_elements(1, value_bytes[e->mType]);
        *(char *)e->mData = (char)chance(0, 99);
        the.told += *(char *)e->mData + (int64_t)m->mKeys[i].length;
    }
    if (inner) {
        m->mValues[ENTRIES - 1].mType = AI_AIMETADATA;
        the.told -= *(char *)m->mValues[ENTRIES - 1].mData;
        m->mValues[ENTRIES - 1].mData = inner;
    }
    return m;
}

static aiScene *scene_make(void)
{
    aiScene *s = put_elements(1, sizeof *s);
    int i;
    s->mMaterials = put_elements(10, sizeof *s->mMaterials);
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

TEST(structures_assimp,
     Assimp_metadata_of_the_kinds_that_stand_beside_its_values_and_materials_of_bytes)
{
    site_start(151);
    scene_open(sizeof values / sizeof *values);
    travel_and_sum(scene_make(), scene_type, 1, scene_walk);
    scene_end();
}

TEST(structures_assimp, Assimp_a_kind_of_metadata_that_was_forgotten_is_refused)
{
    char path[60];
    site_start(152);
    scene_open(sizeof values / sizeof *values - 1);
    snprintf(path, sizeof path, "root.mMetaData.mValues[%d].mData", ENTRIES - 1);
    refuse_ship(scene_make(), scene_type, 1, HAUL_ERROR_GRAPH, path,
                "its `.type_switch` has no case for 7");
    scene_end();
}
