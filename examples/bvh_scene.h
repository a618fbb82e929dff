/* The scene of bvh_picture: statues, the tree of boxes over their triangles, and the image, linked
 * by pointers. */
#ifndef EXAMPLES_BVH_SCENE_H
#define EXAMPLES_BVH_SCENE_H

#include "bvh_vector.h"

typedef struct triangle {
    vec corner[3], normal[3];
} triangle;

/* A box around triangles: of a leaf its own, otherwise those of its two children, ordered along
 * `axis`. A child has half of its parent's triangles, so TREE_DEPTH levels are enough for
 * TRIANGLES_MAX. */
enum { LEAF_TRIANGLES = 4, TREE_DEPTH = 32, TRIANGLES_MAX = 50000000 };
typedef struct node {
    vec low, high;
    struct node *child[2];
    triangle *triangles;
    int count, axis;
} node;

/* A tree as it stands on the floor. Several may share one tree. */
typedef struct statue {
    node *tree;
    struct statue *next;
    vec place, colour;
    float cosine, sine, size;
} statue;

typedef struct pixel {
    unsigned char red, green, blue;
} pixel;

typedef struct scene {
    statue *statues;
    pixel *image;
    int width, height, samples;
    vec eye, right, up, ahead; /* the camera; right and up reach to the edge of the image */
} scene;

/* Seven statues that share the tree, a camera, and a black image, 16 to 16384 pixels wide. The
 * image's shape is 16 to 9. free_scene frees the tree, too. */
scene *make_scene(node *tree, int width);
void free_scene(scene *all);

#endif
