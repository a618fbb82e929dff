/* Vectors of three floats. */
#ifndef EXAMPLES_BVH_VECTOR_H
#define EXAMPLES_BVH_VECTOR_H

#include <math.h>

#include "device.h"

typedef struct vec {
    float x, y, z;
} vec;

ON_DEVICE vec make(float x, float y, float z)
{
    vec v;
    v.x = x, v.y = y, v.z = z;
    return v;
}

ON_DEVICE vec plus(vec a, vec b)
{
    return make(a.x + b.x, a.y + b.y, a.z + b.z);
}

ON_DEVICE vec minus(vec a, vec b)
{
    return make(a.x - b.x, a.y - b.y, a.z - b.z);
}

ON_DEVICE vec times(vec a, vec b)
{
    return make(a.x * b.x, a.y * b.y, a.z * b.z);
}

ON_DEVICE vec scaled(vec a, float s)
{
    return make(a.x * s, a.y * s, a.z * s);
}

ON_DEVICE float dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

ON_DEVICE vec cross(vec a, vec b)
{
    return make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

ON_DEVICE vec unit(vec a)
{
    return scaled(a, 1.0f / sqrtf(dot(a, a)));
}

/* The lower and the higher of each coordinate. */
ON_DEVICE vec lower(vec a, vec b)
{
    return make(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z));
}

ON_DEVICE vec higher(vec a, vec b)
{
    return make(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z));
}

#endif
