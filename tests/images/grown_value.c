/* The shape of shape_value.c when its structs have grown. */
#define SHAPE_GROWN
#include "images/shape_value.c"
