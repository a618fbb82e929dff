/* Meshes: counts, strings, arrays of strings, borrowed and tagged pointers, a cycle. */
#include "images/shapes.h"

typedef struct mesh {
    struct mesh *next, *owner; /* owner: borrowed */
    double *xyz;
    char *name, **labels;
    uintptr_t mark; /* a mesh, and two bits */
    uint16_t count;
    uint8_t label_count, kind;
    float weight;
    ADDED(struct mesh *added;)
} mesh;

static haul_type *mesh_type;
static const haul_field mesh_fields[] = {
    HAUL_OBJECT(mesh, next, &mesh_type),
    HAUL_OBJECT(mesh, owner, &mesh_type, .ownership = HAUL_BORROWED),
    HAUL_ARRAY(mesh, xyz, HAUL_COUNT(mesh, count)),
    HAUL_STRING(mesh, name),
    HAUL_STRINGS(mesh, labels, HAUL_COUNT(mesh, label_count)),
    HAUL_ADDRESS(mesh, mark, .target = &mesh_type, .tag_bits = 3),
    ADDED(HAUL_OBJECT(mesh, added, &mesh_type), )
};
static const haul_struct structs[] = { HAUL_STRUCT(mesh, &mesh_type, mesh_fields) };

static haul_status describe(haul_context *context)
{
    return HAUL_DESCRIBE(context, structs);
}

static void forget(void)
{
    HAUL_FORGET(structs);
}

static void *build(pile *p, choices *c)
{
    const size_t count = 1 + choose(c, 4);
    mesh *all[4] = { NULL };
    size_t i, k;
    for (i = 0; i < count; i++)
        all[i] = pile_take(p, sizeof **all);
    for (i = 0; i < count; i++) {
        mesh *m = all[i];
        m->next = i + 1 < count ? all[i + 1] : choose(c, 2) ? all[0] : NULL;
        m->owner = choose(c, 2) ? all[choose(c, (uint32_t)count)] : NULL;
        m->count = (uint16_t)choose(c, 4);
        m->xyz = pile_take(p, 4 * sizeof *m->xyz);
        for (k = 0; k < 4; k++)
            m->xyz[k] = (double)k + 0.5;
        m->name = choose(c, 4) ? pile_string(p, c) : NULL;
        m->label_count = (uint8_t)choose(c, 3);
        m->labels = pile_take(p, 3 * sizeof *m->labels);
        for (k = 0; k < m->label_count; k++)
            m->labels[k] = choose(c, 2) ? pile_string(p, c) : m->name;
        m->mark = choose(c, 2) ? (uintptr_t)all[choose(c, (uint32_t)count)] | choose(c, 4) : 0;
        m->kind = (uint8_t)i;
        m->weight = 1.5f;
    }
    return all[0];
}

static void visit(reader *r, unsigned kind, unsigned char *at)
{
    mesh m;
    size_t i;
    if (!reader_holds(r, at, sizeof m))
        return;
    memcpy(&m, at, sizeof m);
    READ_WORD(r, at, mesh, next);
    READ_WORD(r, at, mesh, owner);
    READ_WORD(r, at, mesh, xyz);
    READ_WORD(r, at, mesh, name);
    READ_WORD(r, at, mesh, labels);
    READ_WORD(r, at, mesh, mark);
    ADDED(READ_WORD(r, at, mesh, added);)
    ADDED(reader_visit(r, kind, m.added, sizeof m);)
    READ_NUMBER(r, at, mesh, count);
    READ_NUMBER(r, at, mesh, label_count);
    READ_DATA(r, at, mesh, kind);
    READ_DATA(r, at, mesh, weight);
    reader_visit(r, kind, m.next, sizeof m);
    reader_visit(r, kind, m.owner, sizeof m);
    reader_visit(r, kind, (const void *)(m.mark & ~(uintptr_t)3), sizeof m);
    reader_role(r, m.xyz, m.count * sizeof *m.xyz, ROLE_DATA, ROLE_DATA);
    reader_string(r, m.name);
    for (i = 0; i < m.label_count && reader_holds(r, m.labels + i, sizeof *m.labels); i++) {
        char *label;
        memcpy(&label, m.labels + i, sizeof label);
        reader_role(r, m.labels + i, sizeof label, ROLE_WORD, ROLE_IN_WORD);
        reader_string(r, label);
    }
}

static const haul_image_growth sizes[] = { SIZE(mesh) };

const shape SHAPE(mesh) = { "mesh", describe, forget,      &mesh_type, 0,
                            build,  visit,    GROWN(mesh), sizes,      1 };
