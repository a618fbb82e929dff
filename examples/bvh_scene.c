/* Where the statues of bvh_picture stand, and from where they are seen. */
#include "bvh_scene.h"

#include "bvh_tree.h"
#include "common.h"

static const struct {
    float x, z, turn, size, red, green, blue;
} places[] = {
    { 0.00f, 0.00f, 0.25f, 1.00f, 0.80f, 0.77f, 0.72f },
    { -1.05f, 0.55f, 0.75f, 0.55f, 0.80f, 0.25f, 0.14f },
    { 1.02f, 0.62f, -0.80f, 0.50f, 0.10f, 0.36f, 0.48f },
    { -1.35f, -1.05f, 2.50f, 0.95f, 0.26f, 0.42f, 0.18f },
    { 1.55f, -0.95f, -2.50f, 0.85f, 0.85f, 0.52f, 0.10f },
    { 0.30f, 1.12f, 2.70f, 0.32f, 0.36f, 0.22f, 0.42f },
    { -0.45f, 1.25f, 0.10f, 0.26f, 0.75f, 0.70f, 0.60f },
};

static void set_up_camera(scene *all)
{
    const float opening = 0.29f; /* tangent of half the angle of view, upwards */
    const float wide = opening * (float)all->width / (float)all->height;
    all->eye = make(0.25f, 1.25f, 4.0f);
    all->ahead = unit(minus(make(0.0f, 0.44f, 0.0f), all->eye));
    all->right = scaled(unit(cross(all->ahead, make(0.0f, 1.0f, 0.0f))), wide);
    all->up = scaled(unit(cross(all->right, all->ahead)), opening);
}

scene *make_scene(node *tree, int width)
{
    scene *all = allocate(sizeof(scene));
    size_t image_bytes;
    memset(all, 0, sizeof(scene));
    all->width = width < 16 ? 16 : width > 16384 ? 16384 : width;
    all->height = all->width * 9 / 16;
    image_bytes = (size_t)all->width * (size_t)all->height * sizeof(pixel);
    all->image = allocate(image_bytes);
    memset(all->image, 0, image_bytes);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        statue *s = allocate(sizeof(statue));
        memset(s, 0, sizeof(statue));
        s->tree = tree;
        s->next = all->statues;
        s->place = make(places[i].x, 0.0f, places[i].z);
        s->colour = make(places[i].red, places[i].green, places[i].blue);
        s->cosine = cosf(places[i].turn);
        s->sine = sinf(places[i].turn);
        s->size = places[i].size;
        all->statues = s;
    }
    set_up_camera(all);
    return all;
}

void free_scene(scene *all)
{
    free_tree(all->statues->tree);
    while (all->statues) {
        statue *next = all->statues->next;
        free(all->statues);
        all->statues = next;
    }
    free(all->image);
    free(all);
}
