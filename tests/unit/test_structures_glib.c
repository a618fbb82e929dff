/* Structures of GLib: containers of void pointers, of which only their holder knows what they hold (CTX); and a tree
 * that compares its keys by a function that it was given (FUNC).
 */
#define _DEFAULT_SOURCE
#include "structures_b.h"

typedef void *gpointer;

/* ---- CTX: lists and arrays of anything. Each kind of element makes a type of its own of the one struct. */

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
    GQueue paras;       /* of para */
    GPtrArray *figures; /* of figure */
    GPtrArray *titles;  /* of strings */
    GList *pages;       /* of numbers */
    GPtrArray *index;   /* of para, in another order */
} document;

static const haul_rule alias = { .mode = HAUL_MODE_ALIAS };

#define LIST_OF(name, element)                                                                                       \
    static haul_type *name##_type;                                                                                   \
    static void name##_open(void)                                                                                    \
    {                                                                                                                \
        const haul_ref refs[] = { HAUL_OBJECT_AS(GList, data, &element##_type),                                      \
                                  HAUL_OBJECT(GList, next, &name##_type),                                            \
                                  HAUL_OBJECT_BY(GList, prev, &name##_type, &alias) };                               \
        name##_type = type_open(#name, sizeof(GList), refs, COUNT_OF(refs));                                         \
    }

#define ARRAY_OF(name, element)                                                                                      \
    static haul_type *name##_type;                                                                                   \
    static void name##_open(void)                                                                                    \
    {                                                                                                                \
        const haul_ref refs[] = { HAUL_POINTERS_BY(GPtrArray, pdata, &element##_type, NULL,                          \
                                                   HAUL_NU(GPtrArray, len)) };                                       \
        name##_type = type_open(#name, sizeof(GPtrArray), refs, COUNT_OF(refs));                                     \
    }

static haul_type *figure_type, *para_type, *string_type, *numbers_type, *queue_type, *document_type;
LIST_OF(figure_list, figure)
LIST_OF(para_list, para)
ARRAY_OF(figure_array, figure)
ARRAY_OF(para_array, para)

/* A string has no struct of its own: it is all tail. */
typedef struct string {
    char text[1];
} string;

ARRAY_OF(string_array, string)

static void numbers_open(void)
{
    const haul_ref refs[] = { HAUL_OPAQUE(GList, data), HAUL_OBJECT(GList, next, &numbers_type),
                              HAUL_OBJECT_BY(GList, prev, &numbers_type, &alias) };
    numbers_type = type_open("numbers", sizeof(GList), refs, COUNT_OF(refs));
}

static void document_open(haul_type *const *figures_of_para, haul_type *const *pages)
{
    const haul_ref figure_refs[] = { HAUL_STRING(figure, caption) };
    const haul_ref para_refs[] = { HAUL_STRING(para, text), HAUL_OBJECT(para, figures, figures_of_para) };
    const haul_ref string_refs[] = { HAUL_TAIL(string, text, HAUL_NULL_TERMINATED) };
    const haul_ref queue_refs[] = { HAUL_OBJECT(GQueue, head, &para_list_type),
                                    HAUL_OBJECT(GQueue, tail, &para_list_type) };
    const haul_ref document_refs[] = {
        HAUL_EMBED(document, paras, &queue_type),          HAUL_OBJECT(document, figures, &figure_array_type),
        HAUL_OBJECT(document, titles, &string_array_type), HAUL_OBJECT(document, pages, pages),
        HAUL_OBJECT(document, index, &para_array_type),
    };
    figure_type = OPEN(figure, figure_refs);
    para_type = OPEN(para, para_refs);
    string_type = OPEN(string, string_refs);
    queue_type = OPEN(GQueue, queue_refs);
    document_type = OPEN(document, document_refs);
    figure_list_open();
    para_list_open();
    figure_array_open();
    para_array_open();
    string_array_open();
    numbers_open();
    type_close(document_type);
}

static void document_close(void)
{
    haul_type **all[] = { &figure_type,     &para_type,         &string_type,    &queue_type,
                          &document_type,   &figure_list_type,  &para_list_type, &figure_array_type,
                          &para_array_type, &string_array_type, &numbers_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

enum { PARAS = 3000, FIGURES = 400, TITLES = 90, PAGES = 700 };

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

static char *numbered(const char *word, unsigned n)
{
    char text[40];
    snprintf(text, sizeof text, "%s %u", word, n);
    return put_text(text);
}

static void figures_make(document *d)
{
    unsigned i;
    d->figures = array_make(FIGURES);
    for (i = 0; i < FIGURES; i++) {
        figure *f = PUT(figure);
        f->number = (int)i;
        f->caption = numbered("figure", i);
        d->figures->pdata[i] = f;
    }
}

/* In order from the last to the first: a walk from the head sees them from the first on. */
static void paras_make(document *d, const unsigned *figures_of)
{
    unsigned i, k;
    d->index = array_make(PARAS);
    for (i = PARAS; i-- > 0;) {
        para *p = PUT(para);
        p->number = (int)i;
        p->text = numbered("paragraph", i);
        for (k = 0; k < i % 4; k++)
            list_prepend(&p->figures, d->figures->pdata[(figures_of[i] + k) % FIGURES]);
        queue_push_head(&d->paras, p);
        d->index->pdata[i * 7 % PARAS] = p;
    }
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
    for (l = d->paras.tail; l; l = l->prev)
        ((para *)l->data)->number++;
}

TEST(structures_glib, CTX_lists_and_arrays_of_anything_hold_what_the_types_of_their_holders_say)
{
    journey j = { NULL, NULL, 0, document_walk, NULL, 0 };
    site_start(22);
    document_open(&figure_list_type, &numbers_type);
    j.root = document_make(&j.seen);
    j.type = document_type;
    travel(&j);
    document_close();
    site_end();
}

TEST(structures_glib, CTX_a_list_that_is_described_as_one_of_other_elements_is_refused)
{
    uint64_t seen = 0;
    document *d;
    site_start(22);
    d = document_make(&seen);
    document_open(&para_list_type, &numbers_type);
    refuse_graph(d, document_type, HAUL_ERROR_GRAPH, "root.paras.tail.data.figures.data", "root.figures.pdata[323]",
                 "one address is reached as a para and as a figure");
    document_close();
    document_open(&figure_list_type, &para_list_type);
    refuse_graph(d, document_type, HAUL_ERROR_GRAPH, "root.pages.data", "", "outside any process's address range");
    document_close();
    site_end();
}

/* ---- FUNC: a balanced tree. Where a node has no child, the pointer is a thread to its neighbour in the order. The
 * keys are compared by a function of the host's, for which a device has another; the destructors are the host's
 * alone. */

enum { NODES = 4000 };

typedef struct collation {
    unsigned char weight[256];
    int64_t calls;
} collation;

typedef int compare_function(const char *a, const char *b, collation *data);

typedef struct GTreeNode {
    char *key;
    gpointer value; /* a number */
    struct GTreeNode *left, *right;
    signed char balance;
    unsigned char left_child, right_child;
} GTreeNode;

typedef struct GTree {
    GTreeNode *root;
    compare_function *key_compare;
    void (*key_destroy)(gpointer), (*value_destroy)(gpointer);
    collation *key_compare_data;
    unsigned nnodes;
} GTree;

static haul_type *node_type, *tree_type;

static void tree_types(const haul_ref *compare)
{
    static const haul_rule function = { .mode = HAUL_MODE_EXTERNAL };
    static const haul_ref node_refs[] = { HAUL_STRING(GTreeNode, key), HAUL_OPAQUE(GTreeNode, value),
                                          HAUL_OBJECT(GTreeNode, left, &node_type),
                                          HAUL_OBJECT(GTreeNode, right, &node_type) };
    const haul_ref tree_refs[] = { HAUL_OBJECT(GTree, root, &node_type), *compare,
                                   HAUL_WORD_BY(GTree, key_destroy, &function),
                                   HAUL_WORD_BY(GTree, value_destroy, &function),
                                   HAUL_ARRAY(GTree, key_compare_data, HAUL_ONE) };
    node_type = OPEN(GTreeNode, node_refs);
    tree_type = OPEN(GTree, tree_refs);
}

static void tree_close(void)
{
    haul_type_free(&tree_type);
    haul_type_free(&node_type);
}

static int weigh(const char *a, const char *b, collation *data)
{
    data->calls++;
    for (; *a && *a == *b; a++, b++)
        ;
    return data->weight[(unsigned char)*a] - data->weight[(unsigned char)*b];
}

static int compare_here(const char *a, const char *b, collation *data)
{
    return weigh(a, b, data);
}

/* Stands for the device's own code. */
static int compare_there(const char *a, const char *b, collation *data)
{
    return weigh(a, b, data);
}

static void destroy(gpointer thing)
{
    (void)thing;
}

static void destroy_value(gpointer thing)
{
    (void)thing;
}

/* Node i of a full tree has the children 2i and 2i + 1; its place in the order is asked for one after the other. */
static unsigned next_in_order(unsigned i)
{
    if (2 * i + 1 <= NODES) {
        for (i = 2 * i + 1; 2 * i <= NODES; i *= 2)
            ;
        return i;
    }
    while (i & 1)
        i /= 2;
    return i / 2;
}

static unsigned first_in_order(void)
{
    unsigned i = 1;
    while (2 * i <= NODES)
        i *= 2;
    return i;
}

/* Digits weigh less the larger they are: the order is from the last number to the first. */
static void key_text(unsigned place, char *text, size_t room)
{
    snprintf(text, room, "key %06u", NODES - place);
}

static void tree_link(GTreeNode *const *all, unsigned i, GTreeNode *before, GTreeNode *after)
{
    GTreeNode *n = all[i];
    n->left_child = 2 * i <= NODES;
    n->right_child = 2 * i + 1 <= NODES;
    n->left = n->left_child ? all[2 * i] : before;
    n->right = n->right_child ? all[2 * i + 1] : after;
}

static GTree *tree_make(uint64_t *seen)
{
    static GTreeNode *all[NODES + 1];
    GTree *t = PUT(GTree);
    char text[32];
    unsigned i, place = 0, before = 0, after;
    for (i = 1; i <= NODES; i++)
        all[i] = PUT(GTreeNode);
    for (i = first_in_order(); i; before = i, i = after) {
        after = next_in_order(i);
        tree_link(all, i, before ? all[before] : NULL, after ? all[after] : NULL);
        key_text(place, text, sizeof text);
        all[i]->key = put_text(text);
        all[i]->value = (gpointer)(uintptr_t)(place * 3);
        see_text(seen, text);
        see(seen, place * 3);
        place++;
    }
    t->root = all[1];
    t->nnodes = NODES;
    t->key_compare = compare_here;
    t->key_destroy = destroy;
    t->value_destroy = destroy_value;
    t->key_compare_data = PUT(collation);
    for (i = 0; i < 256; i++)
        t->key_compare_data->weight[i] = (unsigned char)(255 - i);
    return t;
}

static GTreeNode *tree_find(GTree *t, const char *key)
{
    GTreeNode *n = t->root;
    for (;;) {
        int c = t->key_compare(key, n->key, t->key_compare_data);
        if (c == 0)
            return n;
        if (c < 0 ? !n->left_child : !n->right_child)
            return NULL;
        n = c < 0 ? n->left : n->right;
    }
}

static void tree_walk(void *argument)
{
    visit *v = argument;
    GTree *t = v->root;
    GTreeNode *n;
    char text[32];
    unsigned i;
    if (!v->is_host && (t->key_compare != compare_there || t->key_destroy || t->value_destroy != destroy_value))
        see(&v->seen, 0);
    for (n = t->root; n->left_child; n = n->left)
        ;
    while (n) {
        int is_child = n->right_child;
        see_text(&v->seen, n->key);
        see(&v->seen, (uintptr_t)n->value);
        for (n = n->right; is_child && n->left_child; n = n->left)
            ;
    }
    for (i = 0; i < NODES; i++) {
        key_text(i, text, sizeof text);
        n = tree_find(t, text);
        if (!n)
            see(&v->seen, i);
        else
            n->value = (gpointer)((uintptr_t)n->value + 1);
    }
}

TEST(structures_glib, FUNC_a_tree_compares_its_keys_there_by_the_function_that_the_translation_gives)
{
    static const haul_rule function = { .mode = HAUL_MODE_EXTERNAL };
    const haul_ref compare = HAUL_WORD_BY(GTree, key_compare, &function);
    const haul_translation translations[] = { { (uintptr_t)destroy, 0 },
                                              { (uintptr_t)compare_here, (uintptr_t)compare_there } };
    journey j = { NULL, NULL, 0, tree_walk, NULL, 0 };
    site_start(26);
    tree_types(&compare);
    type_close(tree_type);
    the.options.translations = translations;
    the.options.translation_count = COUNT_OF(translations);
    j.root = tree_make(&j.seen);
    j.type = tree_type;
    travel(&j);
    tree_close();
    site_end();
}

TEST(structures_glib, FUNC_a_function_that_is_described_as_memory_or_as_a_part_of_the_graph_is_refused)
{
    static const haul_rule tagged = { .mode = HAUL_MODE_EXTERNAL, .tag_bits = 1 };
    haul_ref compare = HAUL_BYTES_BY(GTree, key_compare, NULL, HAUL_FIXED(16));
    uint64_t seen = 0;
    GTree *t;
    site_start(26);
    t = tree_make(&seen);
    tree_types(&compare);
    type_close(tree_type);
    refuse_graph(t, tree_type, HAUL_ERROR_GRAPH, "root.key_compare", "", "the range it leads to is not readable");
    tree_close();
    compare.rule = &alias;
    tree_types(&compare);
    type_close(tree_type);
    refuse_graph(t, tree_type, HAUL_ERROR_GRAPH, "root.key_compare", "",
                 "an alias that leads to nothing that another pointer owns");
    tree_close();
    compare.rule = &tagged;
    tree_types(&compare);
    refuse_type(tree_type, "GTree.key_compare", "so that it is not followed; but it has a tag or integer");
    tree_close();
    site_end();
}
