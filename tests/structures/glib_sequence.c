/* GLib's GSequence. A tree in order; the data of its last node, the end, leads back to the
 * sequence.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "support/types.h"
#include "haul/experimental.h"

typedef void *gpointer;

static void free_nothing(void *data)
{
    (void)data;
}

enum { ENTRIES = 700 };

typedef struct item {
    int64_t value, found;
    char *name;
} item;

typedef struct GSequence GSequence;

typedef struct GSequenceNode {
    int n_nodes;
    struct GSequenceNode *parent, *left, *right;
    gpointer data;
} GSequenceNode;

struct GSequence {
    GSequenceNode *end_node;
    void (*data_destroy_notify)(void *);
    int access_prohibited;
    GSequence *real_sequence;
};

static haul_type *item_type;
static haul_type *entry_of, *sequence_type, *sequence_of_items, *sequence_node_type;

/* The end is the rightmost node. */
static int64_t is_end(const haul_here *here)
{
    const GSequenceNode *n = here->self;
    if (n->right)
        return 0;
    for (; n->parent; n = n->parent)
        if (n->parent->right != n)
            return 0;
    return 1;
}

static const haul_case entry_cases[] = { { 0, &entry_of, 0 }, { 1, &sequence_type, 0 } };

static void sequence_open(const haul_field *data)
{
    static const haul_field item_fields[] = { HAUL_STRING(item, name) };
    static const haul_field fields[] = { HAUL_OBJECT(GSequence, end_node, &sequence_node_type),
                                         HAUL_ADDRESS(GSequence, data_destroy_notify,
                                                      .ownership = HAUL_EXTERNAL),
                                         HAUL_OBJECT(GSequence, real_sequence, &sequence_type) };
    const haul_field node_fields[] = {
        HAUL_OBJECT(GSequenceNode, parent, &sequence_node_type),
        HAUL_OBJECT(GSequenceNode, left, &sequence_node_type),
        HAUL_OBJECT(GSequenceNode, right, &sequence_node_type),
        *data,
    };
    CHECK_STATUS(haul_type_parameter(type_context(), "entry", &entry_of), HAUL_OK);
    item_type = OPEN(item, item_fields);
    sequence_type = OPEN(GSequence, fields);
    sequence_node_type = OPEN(GSequenceNode, node_fields);
    CHECK_STATUS(haul_type_instance(sequence_type, 1, &entry_of, &item_type, &sequence_of_items),
                 HAUL_OK);
    type_close(sequence_of_items);
}

/* A balanced tree over items of rising values; the last node is the end. */
static GSequenceNode *nodes_make(GSequence *s, GSequenceNode *parent, int low, int high)
{
    GSequenceNode *n;
    int middle = (low + high) / 2;
    item *it;
    if (low >= high)
        return NULL;
    n = put_elements(1, sizeof *n);
    n->parent = parent;
    n->n_nodes = high - low;
    n->left = nodes_make(s, n, low, middle);
    n->right = nodes_make(s, n, middle + 1, high);
    if (middle == ENTRIES) {
        s->end_node = n;
        n->data = s;
        return n;
    }
    n->data = it = put_elements(1, sizeof *it);
    it->value = middle;
    it->name = put_text("entry");
    return n;
}

static GSequence *sequence_make(void)
{
    GSequence *s = put_elements(1, sizeof *s);
    nodes_make(s, NULL, 0, ENTRIES + 1);
    s->data_destroy_notify = free_nothing;
    s->real_sequence = s;
    the.told = (int64_t)ENTRIES * (ENTRIES - 1) / 2 + 5 * ENTRIES;
    return s;
}

static GSequenceNode *node_next(GSequenceNode *n)
{
    if (n->right) {
        for (n = n->right; n->left; n = n->left)
            ;
        return n;
    }
    while (n->parent->right == n)
        n = n->parent;
    return n->parent;
}

static int64_t sequence_walk(void *root, size_t count)
{
    GSequence *s = root;
    GSequenceNode *n = s->end_node;
    int64_t sum = 0, last = -1;
    (void)count;
    while (n->parent)
        n = n->parent;
    while (n->left)
        n = n->left;
    for (; n != s->end_node; n = node_next(n)) {
        item *it = n->data;
        if (it->value <= last)
            return -1;
        last = it->value;
        sum += last + (int64_t)strlen(it->name);
        it->found++;
    }
    return s->end_node->data == s ? sum : -1;
}

TEST(structures_glib, GSequence_whose_last_node_leads_back_to_it)
{
    const haul_field data =
        HAUL_ADDRESS(GSequenceNode, data, .type_switch = HAUL_SWITCH_FN(is_end, entry_cases));
    site_start(113);
    sequence_open(&data);
    travel_and_sum(sequence_make(), sequence_of_items, 1, sequence_walk);
    SITE_END(&sequence_of_items, &sequence_type, &sequence_node_type, &item_type, &entry_of);
}

TEST(structures_glib, GSequence_whose_end_is_taken_for_an_entry_is_refused_with_both_paths)
{
    const haul_field data = HAUL_ADDRESS(GSequenceNode, data, .target = &entry_of);
    site_start(114);
    sequence_open(&data);
    refuse_ship(sequence_make(), sequence_of_items, 1, HAUL_ERROR_GRAPH, "root.end_node.data",
                "one address is reached as a item and as a GSequence<item>");
    CHECK_STR(the.refused.other_path, "root");
    SITE_END(&sequence_of_items, &sequence_type, &sequence_node_type, &item_type, &entry_of);
}
