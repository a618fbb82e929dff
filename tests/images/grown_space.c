/* The shape of shape_space.c when its structs have grown. */
#define SHAPE_GROWN
#include "images/shape_space.c"
