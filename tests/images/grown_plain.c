/* The shape of shape_plain.c when its structs have grown. */
#define SHAPE_GROWN
#include "images/shape_plain.c"
