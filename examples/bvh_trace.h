/* What bvh_picture does on the device: one call for each pixel follows rays through the scene
 * (bvh_rays.h).
 *
 * Each sample is a path: from the eye to a surface, on in a random direction, and so on until it
 * leaves for the sky or has met SURFACES surfaces. At each it looks for the sun, which is a disc.
 */
#ifndef EXAMPLES_BVH_TRACE_H
#define EXAMPLES_BVH_TRACE_H

#include "bvh_rays.h"

enum { SURFACES = 4 };

ON_DEVICE float chance(unsigned *seed)
{
    unsigned word;
    *seed = *seed * 747796405u + 2891336453u;
    word = ((*seed >> ((*seed >> 28) + 4u)) ^ *seed) * 277803737u;
    return (float)(((word >> 22) ^ word) >> 8) / 16777216.0f;
}

/* A random point of the unit sphere's surface. */
ON_DEVICE vec anywhere(unsigned *seed)
{
    const float height = 2.0f * chance(seed) - 1.0f, angle = 6.2831853f * chance(seed);
    const float radius = sqrtf(fmaxf(0.0f, 1.0f - height * height));
    return make(radius * cosf(angle), height, radius * sinf(angle));
}

ON_DEVICE vec sky(vec along)
{
    const float height = fmaxf(0.0f, along.y / sqrtf(dot(along, along))),
                blue = height * (2.0f - height);
    return plus(scaled(make(0.74f, 0.78f, 0.84f), 1.0f - blue),
                scaled(make(0.28f, 0.46f, 0.74f), blue));
}

ON_DEVICE vec sunlight(const scene *all, vec at, vec normal, unsigned *seed)
{
    ray to_sun;
    hit shade;
    float slope;
    to_sun.from = at;
    to_sun.along = unit(plus(make(-0.62f, 0.60f, 0.40f), scaled(anywhere(seed), 0.07f)));
    slope = dot(to_sun.along, normal);
    if (slope <= 0.0f || meet(all, to_sun, &shade, 1))
        return make(0.0f, 0.0f, 0.0f);
    return scaled(make(2.60f, 2.25f, 1.75f), slope);
}

ON_DEVICE vec light_along(const scene *all, ray r, unsigned *seed)
{
    vec light = make(0.0f, 0.0f, 0.0f), share = make(1.0f, 1.0f, 1.0f);
    for (int surface = 0; surface < SURFACES; surface++) {
        hit best;
        if (!meet(all, r, &best, 0))
            return plus(light, times(share, sky(r.along)));
        if (dot(best.normal, r.along) > 0.0f)
            best.normal = scaled(best.normal, -1.0f);
        /* far away the floor goes over into the sky */
        if (best.normal.y > 0.999f && surface == 0) {
            const float clear = expf(-0.006f * best.distance * best.distance);
            light = plus(light, scaled(sky(make(r.along.x, 0.0f, r.along.z)), 1.0f - clear));
            share = scaled(share, clear);
        }
        share = times(share, best.colour);
        r.from = plus(plus(r.from, scaled(r.along, best.distance)), scaled(best.normal, 1e-4f));
        light = plus(light, times(share, sunlight(all, r.from, best.normal, seed)));
        r.along = plus(best.normal, scaled(anywhere(seed), 0.999f));
    }
    return light;
}

ON_DEVICE unsigned char shown(float light)
{
    return (unsigned char)(255.0f * powf(1.0f - expf(-0.80f * light), 1.0f / 2.2f) + 0.5f);
}

/* The work of one thread: the pixel `index`. */
ON_DEVICE void trace_pixel(void *data, long index)
{
    scene *all = (scene *)data;
    unsigned seed = (unsigned)index * 9781u + 1u;
    vec sum = make(0.0f, 0.0f, 0.0f);
    for (int i = 0; i < all->samples; i++) {
        const float x = ((float)(index % all->width) + chance(&seed)) / (float)all->width;
        const float y = ((float)(index / all->width) + chance(&seed)) / (float)all->height;
        ray r;
        r.from = all->eye;
        r.along = unit(plus(all->ahead, plus(scaled(all->right, 2.0f * x - 1.0f),
                                             scaled(all->up, 1.0f - 2.0f * y))));
        sum = plus(sum, light_along(all, r, &seed));
    }
    sum = scaled(sum, 1.0f / (float)all->samples);
    all->image[index].red = shown(sum.x);
    all->image[index].green = shown(sum.y);
    all->image[index].blue = shown(sum.z);
}

#endif
