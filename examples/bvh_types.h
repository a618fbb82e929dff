/* The description of a scene: three types with six fields. Numbers are bytes and travel by
 * themselves. */
#ifndef EXAMPLES_BVH_TYPES_H
#define EXAMPLES_BVH_TYPES_H

#include "bvh_scene.h"
#include "device.h"

static haul_type *node_type, *statue_type, *scene_type;
static const haul_field node_fields[] = {
    HAUL_EACH(node, child, .target = &node_type),
    HAUL_ARRAY(node, triangles, HAUL_COUNT(node, count)),
};
static const haul_field statue_fields[] = {
    HAUL_OBJECT(statue, tree, &node_type),
    HAUL_OBJECT(statue, next, &statue_type),
};
static const haul_field scene_fields[] = {
    HAUL_OBJECT(scene, statues, &statue_type),
    HAUL_ARRAY(scene, image, HAUL_COUNT(scene, width, height)),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(node, &node_type, node_fields),
    HAUL_STRUCT(statue, &statue_type, statue_fields),
    HAUL_STRUCT(scene, &scene_type, scene_fields),
};

#endif
