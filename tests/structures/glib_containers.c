/* Containers of anything in GLib. Each is described once, with a parameter in the place of what it
 * holds, and there is an instance of it for each type that its holders put there.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "support/types.h"

typedef void *gpointer;

typedef struct GList {
    gpointer data;
    struct GList *next, *prev;
} GList;

typedef struct GQueue {
    GList *head, *tail;
    unsigned length;
} GQueue;

/* The public struct is the first two. */
typedef struct GPtrArray {
    gpointer *pdata;
    unsigned len;
    unsigned alloc;
    int ref_count;
} GPtrArray;

/* Open addressing: hashes[i] is 0 where nothing stands, and keys[i] and values[i] are NULL
 * there. */
typedef struct GHashTable {
    size_t size;
    int mod;
    unsigned mask, nnodes, noccupied;
    gpointer *keys;
    unsigned *hashes;
    gpointer *values;
    unsigned (*hash_func)(const void *key);
    int ref_count;
} GHashTable;

typedef struct figure {
    int number;
    double area;
    char *caption;
} figure;

typedef struct para {
    char *text;
    GList *figures; /* of figure, shared with the document's array */
    int number;
} para;

typedef struct document {
    GQueue paras;          /* of para */
    GPtrArray *figures;    /* of figure */
    GPtrArray *titles;     /* of strings */
    GList *pages;          /* of numbers */
    GPtrArray *index;      /* of para, in another order */
    GHashTable *captioned; /* of figure, by their captions */
    GHashTable *parts;     /* of para, by strings of its own */
} document;

/* A string has no struct of its own: it is all tail. */
typedef struct string {
    char text[1];
} string;

static haul_type *element, *key, *value;
static haul_type *GList_type, *GQueue_type, *GPtrArray_type, *GHashTable_type;
static haul_type *figure_type, *para_type, *string_type, *numbers_type, *document_type;
static haul_type *figure_list, *para_list, *para_queue, *figure_array, *para_array, *string_array,
    *figure_table, *para_table;

static void containers_open(void)
{
    static const haul_field list_fields[] = {
        HAUL_ADDRESS(GList, data, .target = &element), HAUL_OBJECT(GList, next, &GList_type),
        HAUL_OBJECT(GList, prev, &GList_type, .ownership = HAUL_BORROWED)
    };
    static const haul_field queue_fields[] = { HAUL_OBJECT(GQueue, head, &GList_type),
                                               HAUL_OBJECT(GQueue, tail, &GList_type) };
    static const haul_field array_fields[] = { HAUL_ADDRESS(
        GPtrArray, pdata, .levels = 2, .target = &element, .count = HAUL_COUNT(GPtrArray, len)) };
    static const haul_field table_fields[] = {
        HAUL_ADDRESS(GHashTable, keys, .levels = 2, .target = &key,
                     .count = HAUL_COUNT(GHashTable, size)),
        HAUL_ARRAY(GHashTable, hashes, HAUL_COUNT(GHashTable, size)),
        HAUL_ADDRESS(GHashTable, values, .levels = 2, .target = &value,
                     .count = HAUL_COUNT(GHashTable, size)),
        HAUL_ADDRESS(GHashTable, hash_func, .ownership = HAUL_EXTERNAL),
    };
    CHECK_STATUS(haul_type_parameter(type_context(), "element", &element), HAUL_OK);
    CHECK_STATUS(haul_type_parameter(type_context(), "key", &key), HAUL_OK);
    CHECK_STATUS(haul_type_parameter(type_context(), "value", &value), HAUL_OK);
    GList_type = OPEN(GList, list_fields);
    GQueue_type = OPEN(GQueue, queue_fields);
    GPtrArray_type = OPEN(GPtrArray, array_fields);
    GHashTable_type = OPEN(GHashTable, table_fields);
}

static haul_type *of(haul_type *container, haul_type *argument)
{
    haul_type *instance;
    CHECK_STATUS(haul_type_instance(container, 1, &element, &argument, &instance), HAUL_OK);
    return instance;
}

/* By strings. */
static haul_type *table_of(haul_type *values)
{
    haul_type *parameters[2], *arguments[2], *instance;
    parameters[0] = key;
    parameters[1] = value;
    arguments[0] = string_type;
    arguments[1] = values;
    CHECK_STATUS(haul_type_instance(GHashTable_type, 2, parameters, arguments, &instance), HAUL_OK);
    return instance;
}

/* What the paras' figures, the pages and the captioned are said to be. */
static void document_open(haul_type *const *figures, haul_type *const *pages,
                          haul_type *const *captioned)
{
    const haul_field figure_fields[] = { HAUL_STRING(figure, caption) };
    const haul_field para_fields[] = { HAUL_STRING(para, text),
                                       HAUL_OBJECT(para, figures, figures) };
    const haul_field string_fields[] = { HAUL_TAIL(string, text, HAUL_TERMINATED) };
    const haul_field number_fields[] = {
        HAUL_RAW(GList, data), HAUL_OBJECT(GList, next, &numbers_type),
        HAUL_ADDRESS(GList, prev, .target = &numbers_type, .ownership = HAUL_BORROWED)
    };
    const haul_field document_fields[] = {
        HAUL_EMBED(document, paras, &para_queue),     HAUL_OBJECT(document, figures, &figure_array),
        HAUL_OBJECT(document, titles, &string_array), HAUL_OBJECT(document, pages, pages),
        HAUL_OBJECT(document, index, &para_array),    HAUL_OBJECT(document, captioned, captioned),
        HAUL_OBJECT(document, parts, &para_table),
    };
    containers_open();
    figure_type = OPEN(figure, figure_fields);
    para_type = OPEN(para, para_fields);
    string_type = OPEN(string, string_fields);
    numbers_type = type_open("numbers", sizeof(GList), number_fields, COUNT_OF(number_fields));
    document_type = OPEN(document, document_fields);
    figure_list = of(GList_type, figure_type);
    para_list = of(GList_type, para_type);
    para_queue = of(GQueue_type, para_type);
    figure_array = of(GPtrArray_type, figure_type);
    para_array = of(GPtrArray_type, para_type);
    string_array = of(GPtrArray_type, string_type);
    figure_table = table_of(figure_type);
    para_table = table_of(para_type);
}

static void document_close(void)
{
    haul_type **all[] = { &document_type,
                          &figure_list,
                          &para_list,
                          &para_queue,
                          &figure_array,
                          &para_array,
                          &string_array,
                          &figure_table,
                          &para_table,
                          &numbers_type,
                          &string_type,
                          &para_type,
                          &figure_type,
                          &GHashTable_type,
                          &GPtrArray_type,
                          &GQueue_type,
                          &GList_type,
                          &element,
                          &key,
                          &value };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

enum { PARAS = 3000, FIGURES = 400, TITLES = 90, PAGES = 700, PARTS = 30 };

static void list_prepend(GList **list, gpointer data)
{
    GList *l = PUT(GList);
    l->data = data;
    l->next = *list;
    if (*list)
        (*list)->prev = l;
    *list = l;
}

static void queue_push_head(GQueue *q, gpointer data)
{
    list_prepend(&q->head, data);
    if (!q->tail)
        q->tail = q->head;
    q->length++;
}

static GPtrArray *array_make(unsigned length)
{
    GPtrArray *a = PUT(GPtrArray);
    a->len = length;
    a->alloc = length + length / 4; /* what is behind the last one is of no meaning */
    a->pdata = PUT_ARRAY(gpointer, a->alloc);
    memset(a->pdata, 0x5A, a->alloc * sizeof *a->pdata);
    return a;
}

/* ---- The table. Its function is the host's, for which the device has another. */

static unsigned hash_text(const void *text)
{
    const unsigned char *at = text;
    unsigned h = 5381;
    for (; *at; at++)
        h = h * 33 + *at;
    return h < 2 ? 2 : h; /* 0 and 1 are no hashes of anything */
}

static unsigned hash_here(const void *text)
{
    return hash_text(text);
}

static unsigned hash_there(const void *text)
{
    return hash_text(text);
}

static GHashTable *table_make(size_t size, int mod)
{
    GHashTable *t = PUT(GHashTable);
    t->size = size;
    t->mod = mod;
    t->mask = (unsigned)size - 1;
    t->keys = PUT_ARRAY(gpointer, size);
    t->hashes = PUT_ARRAY(unsigned, size);
    t->values = PUT_ARRAY(gpointer, size);
    t->hash_func = hash_here;
    return t;
}

/* Where the key stands, or would. */
static unsigned table_find(const GHashTable *t, const char *text)
{
    unsigned hash = t->hash_func(text), at = hash % (unsigned)t->mod, step = 0;
    while (t->hashes[at] && (t->hashes[at] != hash || strcmp(t->keys[at], text) != 0))
        at = (at + ++step) & t->mask;
    return at;
}

static void table_insert(GHashTable *t, char *text, gpointer what)
{
    unsigned at = table_find(t, text);
    t->hashes[at] = t->hash_func(text);
    t->keys[at] = text;
    t->values[at] = what;
    t->nnodes++;
    t->noccupied++;
}

/* ---- The document. */

static void number_text(const char *word, unsigned n, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s %u", word, n);
}

static char *numbered(const char *word, unsigned n)
{
    char text[40];
    number_text(word, n, text, sizeof text);
    return put_text(text);
}

static void figures_make(document *d)
{
    unsigned i;
    d->figures = array_make(FIGURES);
    d->captioned = table_make(1024, 1021);
    for (i = 0; i < FIGURES; i++) {
        figure *f = PUT(figure);
        f->number = (int)i;
        f->caption = numbered("figure", i);
        d->figures->pdata[i] = f;
        table_insert(d->captioned, f->caption, f);
    }
}

/* In order from the last to the first: a walk from the head sees them from the first on. */
static void paras_make(document *d, const unsigned *figures_of)
{
    unsigned i, k;
    d->index = array_make(PARAS);
    d->parts = table_make(64, 61);
    for (i = PARAS; i-- > 0;) {
        para *p = PUT(para);
        p->number = (int)i;
        p->text = numbered("paragraph", i);
        for (k = 0; k < i % 4; k++)
            list_prepend(&p->figures, d->figures->pdata[(figures_of[i] + k) % FIGURES]);
        queue_push_head(&d->paras, p);
        d->index->pdata[i * 7 % PARAS] = p;
        if (i % (PARAS / PARTS) == 0)
            table_insert(d->parts, numbered("part", i), p);
    }
}

static void tables_foresee(uint64_t *seen)
{
    unsigned i;
    for (i = 0; i < FIGURES; i++)
        see(seen, i);
    for (i = 0; i < PARAS; i += PARAS / PARTS)
        see(seen, i);
}

static document *document_make(uint64_t *seen)
{
    static unsigned figures_of[PARAS];
    document *d = PUT(document);
    unsigned i, k;
    for (i = 0; i < PARAS; i++) {
        figures_of[i] = (unsigned)random_below(&the.random, FIGURES);
        see(seen, i);
        for (k = i % 4; k-- > 0;)
            see(seen, (figures_of[i] + k) % FIGURES);
    }
    figures_make(d);
    paras_make(d, figures_of);
    for (i = 0; i < PARAS; i++)
        see(seen, i * 7 % PARAS);
    d->titles = array_make(TITLES);
    for (i = 0; i < TITLES; i++) {
        d->titles->pdata[i] = numbered("title", i);
        see_text(seen, d->titles->pdata[i]);
    }
    for (i = 0; i < PAGES; i++) {
        list_prepend(&d->pages, (gpointer)(uintptr_t)(PAGES - i));
        see(seen, i + 1);
    }
    tables_foresee(seen);
    return d;
}

static void meet_paras(document *d, uint64_t *seen)
{
    GList *l, *f;
    for (l = d->paras.head; l; l = l->next) {
        para *p = l->data;
        see(seen, (uint64_t)p->number);
        for (f = p->figures; f; f = f->next) {
            figure *g = f->data;
            see(seen, (uint64_t)g->number);
            g->area += p->number; /* of all that show it */
        }
        p->text[0] = 'P';
    }
}

static void look_up_all(document *d, uint64_t *seen)
{
    char text[40];
    unsigned i;
    for (i = 0; i < FIGURES; i++) {
        figure *f;
        number_text("figure", i, text, sizeof text);
        f = d->captioned->values[table_find(d->captioned, text)];
        see(seen, f ? (uint64_t)f->number : 1 << 20);
    }
    for (i = 0; i < PARAS; i += PARAS / PARTS) {
        para *p;
        number_text("part", i, text, sizeof text);
        p = d->parts->values[table_find(d->parts, text)];
        see(seen, p ? (uint64_t)p->number : 1 << 20);
    }
    d->parts->ref_count++;
}

static void document_walk(void *argument)
{
    visit *v = argument;
    document *d = v->root;
    GList *l;
    unsigned i;
    meet_paras(d, &v->seen);
    for (i = 0; i < d->index->len; i++)
        see(&v->seen, (uint64_t)((para *)d->index->pdata[(i * 7 % PARAS) * 7 % PARAS])->number);
    for (i = 0; i < d->titles->len; i++)
        see_text(&v->seen, d->titles->pdata[i]);
    for (l = d->pages; l; l = l->next) {
        see(&v->seen, (uintptr_t)l->data);
        l->data = (gpointer)((uintptr_t)l->data + 100);
    }
    if (!v->is_host && (d->captioned->hash_func != hash_there || d->parts->hash_func != hash_there))
        see(&v->seen, 0);
    look_up_all(d, &v->seen);
    for (l = d->paras.tail; l; l = l->prev)
        ((para *)l->data)->number++;
}

TEST(structures_glib, containers_of_anything_hold_what_the_types_of_their_holders_say)
{
    const test_translation translation = { (uintptr_t)hash_here, (uintptr_t)hash_there };
    journey j = { .walk = document_walk };
    site_start(22);
    the.known.translations = &translation;
    the.known.translation_count = 1;
    document_open(&figure_list, &numbers_type, &figure_table);
    type_close(document_type);
    CHECK_STR(haul_type_name(para_queue), "GQueue<para>");
    CHECK_STR(haul_type_name(figure_table), "GHashTable<string,figure>");
    j.root = document_make(&j.seen);
    j.type = document_type;
    travel(&j);
    document_close();
    site_end();
}

TEST(structures_glib, a_container_that_is_described_as_one_of_other_elements_is_refused)
{
    uint64_t seen = 0;
    document *d;
    site_start(22);
    d = document_make(&seen);
    document_open(&para_list, &numbers_type, &figure_table);
    type_close(document_type);
    refuse_graph(d, document_type, HAUL_ERROR_GRAPH, "root.paras.tail.data.figures.data",
                 "root.figures.pdata[323]", "one address is reached as a para and as a figure");
    document_close();
    document_open(&figure_list, &figure_list, &figure_table);
    type_close(document_type);
    refuse_graph(d, document_type, HAUL_ERROR_GRAPH, "root.pages.data", "",
                 "outside any process's address range");
    document_close();
    document_open(&figure_list, &numbers_type, &para_table);
    type_close(document_type);
    refuse_graph(d, document_type, HAUL_ERROR_GRAPH, "root.captioned.values[5]",
                 "root.figures.pdata[390]", "one address is reached as a para and as a figure");
    document_close();
    site_end();
}

TEST(structures_glib, a_container_of_which_nobody_says_what_it_holds_is_refused)
{
    document_open(&GList_type, &numbers_type, &figure_table);
    refuse_type(document_type, "GList", "a container that has instances");
    document_close();
    document_open(&figure_list, &numbers_type, &value);
    refuse_type(document_type, "document.captioned", "leads to the parameter value");
    document_close();
}
