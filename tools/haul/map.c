/* haul map: the arena as a picture, in SVG.
 *
 * The arena is cut into rows, and each row into cells, which have the colour of the last range that
 * touches them. So the picture has a bounded size, whatever the graph's is. Of many pointers every
 * n-th is drawn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "found.h"

enum {
    CELLS = 960, /* of a row; one is a unit of the picture */
    ROWS = 32,
    ROW_BYTES = 256, /* the fewest */
    HEIGHT = 12,
    DISTANCE = 34, /* between the tops of rows */
    LEFT = 20,
    TOP = 40,
    ARCS = 1500,
    COLOURS = 16, /* types with a colour of their own */
    GAP = 0,
    DATA,
    ARRAYS,
    OTHERS, /* types without one */
    FIRST   /* the colour of the first type */
};

typedef struct map {
    const found *found;
    unsigned char *cells; /* ROWS * CELLS colours */
    size_t row_bytes, rows;
    const haul_type *types[COLOURS];
    size_t bytes[FIRST + COLOURS]; /* by colour */
    size_t type_count, pointers, seen, every;
} map;

/* ---- Colours. */

static unsigned colour_of(map *m, const range *r)
{
    size_t i;
    if (r->kind != OBJECTS)
        return r->kind == PLAIN ? DATA : ARRAYS;
    for (i = 0; i < m->type_count; i++)
        if (m->types[i] == r->type)
            return FIRST + (unsigned)i;
    if (m->type_count == COLOURS)
        return OTHERS;
    m->types[m->type_count++] = r->type;
    return FIRST + (unsigned)i;
}

static const char *const colours[FIRST + COLOURS] = {
    "#ffffff", "#d0d0d0", "#8d99a6", "#444444", "#4e79a7", "#f28e2b", "#59a14f",
    "#e15759", "#b07aa1", "#edc948", "#76b7b2", "#9c755f", "#ff9da7", "#2f4b7c",
    "#a05195", "#86bc86", "#d37295", "#b6992d", "#499894", "#79706e",
};

/* ---- Cells. */

static size_t offset_of(const map *m, const unsigned char *at)
{
    return (size_t)(at - m->found->block.at);
}

static size_t cell_of(const map *m, size_t offset)
{
    return offset / m->row_bytes * CELLS +
           (size_t)((double)(offset % m->row_bytes) * CELLS / (double)m->row_bytes);
}

static void paint(map *m, const range *r)
{
    const unsigned colour = colour_of(m, r);
    size_t first, last;
    if (r->bytes == 0)
        return;
    m->bytes[colour] += r->bytes;
    first = cell_of(m, offset_of(m, r->at));
    last = cell_of(m, offset_of(m, r->at) + r->bytes - 1);
    memset(m->cells + first, (int)colour, last - first + 1);
}

static void paint_target(void *user, const unsigned char *at, const pointer *p)
{
    map *m = user;
    (void)at;
    m->pointers += p->meaning == LEADS || p->meaning == IS_BORROWED;
    if (p->meaning == LEADS && is_inline(&p->to))
        paint(m, &p->to);
}

/* ---- The picture. */

static void print_row(const map *m, size_t row)
{
    const unsigned char *cells = m->cells + row * CELLS;
    size_t i, end;
    for (i = 0; i < CELLS; i = end) {
        for (end = i + 1; end < CELLS && cells[end] == cells[i];)
            end++;
        if (cells[i] == GAP)
            continue;
        printf("<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%d\" fill=\"%s\"/>\n", LEFT + i,
               TOP + row * DISTANCE, end - i, HEIGHT, colours[cells[i]]);
    }
    printf(
        "<rect x=\"%d\" y=\"%zu\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#bbbbbb\"/>\n"
        "<text x=\"%d\" y=\"%zu\">%zu</text>\n",
        LEFT, TOP + row * DISTANCE, CELLS, HEIGHT, LEFT, TOP + row * DISTANCE - 3,
        row * m->row_bytes);
}

static void print_arc(void *user, const unsigned char *at, const pointer *p)
{
    map *m = user;
    size_t from, to, x[2], y[2];
    if (p->meaning != LEADS && p->meaning != IS_BORROWED)
        return;
    if (m->seen++ % m->every)
        return;
    from = offset_of(m, at);
    to = offset_of(m, p->meaning == LEADS ? p->to.at : p->address);
    if (to >= m->found->block.bytes)
        return;
    from = cell_of(m, from);
    to = cell_of(m, to);
    x[0] = LEFT + from % CELLS;
    x[1] = LEFT + to % CELLS;
    y[0] = TOP + from / CELLS * DISTANCE;
    y[1] = TOP + to / CELLS * DISTANCE;
    printf("<path d=\"M%zu %zuQ%zu %zu %zu %zu\"%s/>\n", x[0], y[0], (x[0] + x[1]) / 2,
           (y[0] + y[1]) / 2 - 22, x[1], y[1],
           p->meaning == LEADS ? "" : " stroke-dasharray=\"3 2\"");
}

static void print_text(const char *text)
{
    for (; *text; text++)
        if (*text == '&' || *text == '<')
            printf(*text == '&' ? "&amp;" : "&lt;");
        else
            putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

static void print_legend(const map *m)
{
    static const char *const fixed[] = { "(nothing)", "(data)", "(pointers)", "(other types)" };
    size_t y = TOP + m->rows * DISTANCE + 10;
    unsigned colour;
    for (colour = DATA; colour < FIRST + m->type_count; colour++) {
        if (!m->bytes[colour])
            continue;
        printf("<rect x=\"%d\" y=\"%zu\" width=\"12\" height=\"12\" fill=\"%s\"/>", LEFT, y,
               colours[colour]);
        printf("<text x=\"%d\" y=\"%zu\">", LEFT + 18, y + 10);
        print_text(colour < FIRST ? fixed[colour] : haul_type_name(m->types[colour - FIRST]));
        printf(", %zu bytes</text>\n", m->bytes[colour]);
        y += 18;
    }
}

static void print_picture(map *m)
{
    size_t i;
    printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
           "font-family=\"sans-serif\" font-size=\"10\">\n"
           "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
           "<text x=\"%d\" y=\"16\" font-size=\"12\">%zu bytes, %zu ranges, %zu pointers",
           CELLS + 2 * LEFT, TOP + m->rows * DISTANCE + 18 * (m->type_count + 4) + 10, LEFT,
           m->found->block.bytes, m->found->count, m->pointers);
    if (m->every > 1)
        printf("; one pointer of %zu is drawn", m->every);
    printf("</text>\n");
    for (i = 0; i < m->rows; i++)
        print_row(m, i);
    printf("<g fill=\"none\" stroke=\"#000000\" stroke-opacity=\"0.25\">\n");
    for (i = 0; i < m->found->count; i++)
        visit_pointers(m->found, i, print_arc, m);
    printf("</g>\n");
    print_legend(m);
    printf("</svg>\n");
}

static int draw_map(const tool *t, const found *f, const haul_image *image)
{
    const size_t bytes = f->block.bytes;
    size_t i;
    map m;
    (void)t;
    (void)image;
    memset(&m, 0, sizeof m);
    m.found = f;
    m.cells = calloc(ROWS, CELLS);
    if (!m.cells) {
        fprintf(stderr, "haul: there is no memory\n");
        return WRONG;
    }
    m.row_bytes = bytes / ROWS + 1 > ROW_BYTES ? (bytes / ROWS + 64) / 64 * 64 : ROW_BYTES;
    m.rows = (bytes + m.row_bytes - 1) / m.row_bytes;
    for (i = 0; i < f->count; i++) {
        paint(&m, &f->ranges[i]);
        visit_pointers(f, i, paint_target, &m);
    }
    m.every = m.pointers / ARCS + 1;
    print_picture(&m);
    free(m.cells);
    return GOOD;
}

int map_file(tool *t)
{
    return show_found(t, draw_map);
}
