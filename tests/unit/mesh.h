/* The mesh of the README and its fields. */
#ifndef HAUL_TESTS_MESH_H
#define HAUL_TESTS_MESH_H

#include "haul/describe.h"

typedef struct mesh {
    int nv, dim;
    double *xyz;
    struct mesh *next;
    char *name;
} mesh;

static haul_type *mesh_type;
static const haul_field mesh_fields[] = {
    HAUL_ARRAY(mesh, xyz, HAUL_COUNT(mesh, nv, dim)),
    HAUL_OBJECT(mesh, next, &mesh_type),
    HAUL_STRING(mesh, name),
};

#endif
