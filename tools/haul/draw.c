/* haul dot: the graph in Graphviz's language.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* All types that the roots' types lead to. */
typedef struct types {
    const haul_type **at;
    size_t count, room;
} types;

/* 0: there is no memory. */
static int add_type(types *all, const haul_type *type)
{
    const haul_type **at;
    size_t i;
    for (i = 0; type && i < all->count; i++)
        if (all->at[i] == type)
            return 1;
    if (!type)
        return 1;
    if (all->count == all->room) {
        at = realloc(all->at, (2 * all->room + 16) * sizeof *at);
        if (!at)
            return 0;
        all->at = at;
        all->room = 2 * all->room + 16;
    }
    all->at[all->count++] = type;
    return 1;
}

static int add_targets(types *all, const haul_field_info *field)
{
    const haul_field *members = field->members;
    size_t i;
    int good = add_type(all, field->target);
    for (; members; members = members->each_pointer)
        for (i = 0; good && i < members->type_switch.case_count; i++)
            good = add_type(all, *members->type_switch.cases[i].type);
    return good;
}

static int find_types(types *all, const haul_root *roots, size_t count)
{
    size_t i, k;
    int good = 1;
    for (i = 0; good && i < count; i++)
        good = add_type(all, roots[i].type);
    for (i = 0; good && i < all->count; i++)
        for (k = 0; good && k < haul_type_field_count(all->at[i]); k++) {
            haul_field_info field;
            if (haul_type_get_field(all->at[i], k, &field) == HAUL_OK)
                good = add_targets(all, &field);
        }
    return good;
}

/* Keeps those of this name. */
static void choose_types(types *all, const char *name)
{
    size_t i, kept = 0;
    for (i = 0; i < all->count; i++)
        if (strcmp(haul_type_name(all->at[i]), name) == 0)
            all->at[kept++] = all->at[i];
    all->count = kept;
}

static int draw(tool *t, const haul_root *roots, size_t count)
{
    const haul_file out = clean_output();
    types all = { NULL, 0, 0 };
    haul_status status;
    int code = GOOD;
    if (t->type && !find_types(&all, roots, count)) {
        fprintf(stderr, "haul: there is no memory\n");
        code = WRONG;
    }
    if (t->type && code == GOOD) {
        choose_types(&all, t->type);
        t->graph.types = all.at;
        t->graph.type_count = all.count;
    }
    if (t->type && code == GOOD && !all.count) {
        fprintf(stderr, "haul: the image has no type ");
        print_clean(stderr, t->type);
        fprintf(stderr, "\n");
        code = WRONG;
    }
    if (code == GOOD) {
        status = haul_graph_write_dot(t->context, haul_from_roots(roots, count), &t->graph, &out);
        code = status == HAUL_OK ? GOOD : say_failure(t, t->files[0], status);
    }
    free(all.at);
    return code;
}

int draw_file(tool *t)
{
    haul_image *image;
    size_t count;
    const haul_root *roots;
    int code = load_image(t, t->files[0], &image);
    if (code != GOOD)
        return code;
    roots = haul_image_roots(image, &count);
    code = draw(t, roots, count);
    haul_image_free(&image);
    return code;
}
