/* What bvh_picture does on the device: one call for each pixel follows rays through the trees, by
 * their pointers.
 *
 * Each sample is a path: from the eye to a surface, on from there in a random direction, and so on
 * until it leaves for the sky or has met SURFACES surfaces. At each of them it looks for the sun,
 * which is a disc, so shadows are soft.
 */
#ifndef EXAMPLES_BVH_TRACE_H
#define EXAMPLES_BVH_TRACE_H

#include <math.h>

#include "bvh_scene.h"
#include "device.h"

enum { SURFACES = 4 };

typedef struct ray {
    vec from, along;
} ray;

typedef struct hit {
    float distance; /* in lengths of `along`; nothing was met: FAR_AWAY */
    vec normal, colour;
} hit;

#define FAR_AWAY 1e30f

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

/* -------------------------------------------------------------------------------------------------
 * A ray and the trees
 */
ON_DEVICE int enters(const node *box, ray r, vec inverse, float limit)
{
    const vec low = times(minus(box->low, r.from), inverse),
              high = times(minus(box->high, r.from), inverse);
    const float in =
        fmaxf(fmaxf(fminf(low.x, high.x), fminf(low.y, high.y)), fmaxf(fminf(low.z, high.z), 0.0f));
    const float out = fminf(fminf(fmaxf(low.x, high.x), fmaxf(low.y, high.y)),
                            fminf(fmaxf(low.z, high.z), limit));
    return in <= out;
}

/* Three volumes spanned by the ray and two sides each say where in the triangle the ray goes
 * through. */
ON_DEVICE int meet_triangle(const triangle *t, ray r, hit *best)
{
    const vec a = minus(t->corner[1], t->corner[0]), b = minus(t->corner[2], t->corner[0]);
    const vec from = minus(r.from, t->corner[0]), p = cross(r.along, b), q = cross(from, a);
    const float volume = dot(a, p), v1 = dot(from, p) / volume, v2 = dot(r.along, q) / volume;
    const float distance = dot(b, q) / volume;
    if (!(v1 >= 0.0f && v2 >= 0.0f && v1 + v2 <= 1.0f && distance > 0.0f &&
          distance < best->distance))
        return 0;
    best->distance = distance;
    best->normal = plus(scaled(t->normal[0], 1.0f - v1 - v2),
                        plus(scaled(t->normal[1], v1), scaled(t->normal[2], v2)));
    return 1;
}

/* Whether anything is nearer than best->distance. The child on the ray's side is looked into first.
 * `any`: the first triangle will do. */
ON_DEVICE int meet_tree(const node *tree, ray r, hit *best, int any)
{
    const node *waiting[TREE_DEPTH + 1];
    const vec inverse = make(1.0f / r.along.x, 1.0f / r.along.y, 1.0f / r.along.z);
    int count = 0, met = 0;
    waiting[count++] = tree;
    while (count > 0 && !(any && met)) {
        const node *at = waiting[--count];
        if (!enters(at, r, inverse, best->distance))
            continue;
        for (int i = 0; i < at->count; i++)
            met |= meet_triangle(&at->triangles[i], r, best);
        if (at->child[0]) {
            const float along = at->axis == 0 ? r.along.x : at->axis == 1 ? r.along.y : r.along.z;
            waiting[count++] = at->child[along > 0.0f];
            waiting[count++] = at->child[along <= 0.0f];
        }
    }
    return met;
}

ON_DEVICE vec turned(vec v, float cosine, float sine)
{
    return make(cosine * v.x + sine * v.z, v.y, cosine * v.z - sine * v.x);
}

/* The ray as the statue's tree sees it: same distances, the tree's own size and place. */
ON_DEVICE int meet_statue(const statue *s, ray r, hit *best, int any)
{
    ray inside;
    inside.from = scaled(turned(minus(r.from, s->place), s->cosine, -s->sine), 1.0f / s->size);
    inside.along = scaled(turned(r.along, s->cosine, -s->sine), 1.0f / s->size);
    if (!meet_tree(s->tree, inside, best, any))
        return 0;
    best->normal = unit(turned(best->normal, s->cosine, s->sine));
    best->colour = s->colour;
    return 1;
}

ON_DEVICE int meet(const scene *all, ray r, hit *best, int any)
{
    int met = 0;
    best->distance = FAR_AWAY;
    if (r.along.y < 0.0f) {
        best->distance = -r.from.y / r.along.y;
        best->normal = make(0.0f, 1.0f, 0.0f);
        best->colour = make(0.50f, 0.48f, 0.46f);
        met = 1;
    }
    for (const statue *s = all->statues; s && !(any && met); s = s->next)
        met |= meet_statue(s, r, best, any);
    return met;
}

/* -------------------------------------------------------------------------------------------------
 * Light
 */
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
