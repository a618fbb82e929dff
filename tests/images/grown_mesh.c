/* The shape of shape_mesh.c when its structs have grown. */
#define SHAPE_GROWN
#include "images/shape_mesh.c"
