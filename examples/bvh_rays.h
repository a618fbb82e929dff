/* Where a ray meets the scene: down the trees by their pointers. */
#ifndef EXAMPLES_BVH_RAYS_H
#define EXAMPLES_BVH_RAYS_H

#include "bvh_scene.h"

typedef struct ray {
    vec from, along;
} ray;

typedef struct hit {
    float distance; /* in lengths of `along`; nothing was met: FAR_AWAY */
    vec normal, colour;
} hit;

#define FAR_AWAY 1e30f

ON_DEVICE int enters(const node *box, ray r, vec inverse, float limit)
{
    const vec low = times(minus(box->low, r.from), inverse),
              high = times(minus(box->high, r.from), inverse), in = lower(low, high),
              out = higher(low, high);
    return fmaxf(fmaxf(in.x, in.y), fmaxf(in.z, 0.0f)) <=
           fminf(fminf(out.x, out.y), fminf(out.z, limit));
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

#endif
