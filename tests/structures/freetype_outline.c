/* FreeType's FT_Outline. Points, a tag for each, and the last point of each contour. An outline
 * that does not own its arrays is a part of what a glyph loader holds.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { OWNER = 1, OUTLINES = 90, CONTOURS = 3, CORNERS = 4 };

typedef struct FT_Vector {
    long x, y;
} FT_Vector;

typedef struct FT_Outline {
    short n_contours, n_points;
    FT_Vector *points;
    char *tags;
    short *contours;
    int flags;
} FT_Outline;

typedef struct glyphs {
    FT_Outline base; /* the loader's: it owns its arrays */
    int count;
    FT_Outline *outline;
} glyphs;

static haul_type *FT_Outline_type, *glyphs_type;

static void outlines_open(int flag)
{
#define OWN .when = HAUL_ANY_BIT(FT_Outline, flags, flag)
#define OTHER .when = HAUL_NO_BIT(FT_Outline, flags, flag), .ownership = HAUL_BORROWED
    const haul_field fields[] = {
        HAUL_ARRAY(FT_Outline, points, HAUL_COUNT(FT_Outline, n_points), OWN),
        HAUL_ARRAY(FT_Outline, tags, HAUL_COUNT(FT_Outline, n_points), OWN),
        HAUL_ARRAY(FT_Outline, contours, HAUL_COUNT(FT_Outline, n_contours), OWN),
        HAUL_ADDRESS(FT_Outline, points, OTHER),
        HAUL_ADDRESS(FT_Outline, tags, OTHER),
        HAUL_ADDRESS(FT_Outline, contours, OTHER),
    };
    static const haul_field glyphs_fields[] = {
        HAUL_EMBED(glyphs, base, &FT_Outline_type),
        HAUL_OBJECTS(glyphs, outline, &FT_Outline_type, HAUL_COUNT(glyphs, count)),
    };
    FT_Outline_type = OPEN(FT_Outline, fields);
    glyphs_type = OPEN(glyphs, glyphs_fields);
    type_close(glyphs_type);
}

static void outlines_close(void)
{
    haul_type_free(&glyphs_type);
    haul_type_free(&FT_Outline_type);
}

static void outline_own(FT_Outline *o, int contours)
{
    o->flags = OWNER;
    o->n_contours = (short)contours;
    o->n_points = (short)(contours * CORNERS);
    o->points = PUT_ARRAY(FT_Vector, o->n_points);
    o->tags = PUT_ARRAY(char, o->n_points);
    o->contours = PUT_ARRAY(short, contours);
}

/* Contour c is a rectangle of side c + 1 and i + 1. */
static void outline_draw(FT_Outline *o, int i, uint64_t *seen)
{
    int c, k;
    for (c = 0; c < o->n_contours; c++) {
        o->contours[c] = (short)((c + 1) * CORNERS - 1);
        for (k = 0; k < CORNERS; k++) {
            o->points[c * CORNERS + k].x = k == 1 || k == 2 ? c + 1 : 0;
            o->points[c * CORNERS + k].y = k >= 2 ? i + 1 : 0;
            o->tags[c * CORNERS + k] = 1;
        }
        see(seen, (uint64_t)(2 * (c + 1) * (i + 1)));
    }
}

static glyphs *glyphs_make(uint64_t *seen)
{
    glyphs *g = PUT(glyphs);
    int i, part = 0;
    g->count = OUTLINES;
    g->outline = PUT_ARRAY(FT_Outline, OUTLINES);
    outline_own(&g->base, (OUTLINES + 1) / 2 * CONTOURS);
    for (i = 0; i < OUTLINES; i++) {
        FT_Outline *o = &g->outline[i];
        if (i % 2) {
            outline_own(o, i % CONTOURS + 1);
        } else {
            o->n_contours = CONTOURS;
            o->n_points = CONTOURS * CORNERS;
            o->points = g->base.points + part * CONTOURS * CORNERS;
            o->tags = g->base.tags + part * CONTOURS * CORNERS;
            o->contours = g->base.contours + part++ * CONTOURS;
        }
        outline_draw(o, i, seen);
    }
    return g;
}

/* Twice each contour's area; then the outline is moved. */
static void meet_outline(FT_Outline *o, uint64_t *seen)
{
    int c, k, first = 0;
    for (c = 0; c < o->n_contours; first = o->contours[c++] + 1) {
        long area = 0;
        for (k = first; k <= o->contours[c]; k++) {
            const FT_Vector *a = &o->points[k], *b = &o->points[k < o->contours[c] ? k + 1 : first];
            area += a->x * b->y - a->y * b->x;
        }
        see(seen, (uint64_t)area);
    }
    for (k = 0; k < o->n_points; k++) {
        o->points[k].x += 5;
        o->tags[k] = (char)(o->tags[k] + 1);
    }
}

static void glyphs_walk(void *argument)
{
    visit *v = argument;
    glyphs *g = v->root;
    int i;
    for (i = 0; i < g->count; i++)
        meet_outline(&g->outline[i], &v->seen);
}

TEST(structures_freetype, FT_Outline_contours_are_their_own_or_a_part_of_the_loaders_as_a_flag_says)
{
    journey j = { .walk = glyphs_walk };
    site_start(68);
    outlines_open(OWNER);
    j.root = glyphs_make(&j.seen);
    j.type = glyphs_type;
    travel(&j);
    outlines_close();
    site_end();
}

TEST(structures_freetype, FT_Outline_arrays_of_its_own_that_are_taken_for_the_loaders_are_refused)
{
    uint64_t seen = 0;
    glyphs *g;
    site_start(68);
    outlines_open(OWNER);
    g = glyphs_make(&seen);
    g->outline[1].flags = 0;
    refuse_graph(g, glyphs_type, HAUL_ERROR_GRAPH, "root.outline[1].points", NULL,
                 "an alias that leads to nothing that another pointer owns");
    outlines_close();
    site_end();
}
