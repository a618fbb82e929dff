/* GLib's GNode. Siblings know each other both ways, children their parent.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { NODES = 4000 };

typedef struct GNode {
    void *data;
    struct GNode *next, *prev, *parent, *children;
} GNode;

typedef struct payload {
    int64_t value, seen;
} payload;

static haul_type *gnode_type, *payload_type;

static void gnode_open(int has_parent)
{
    const haul_field fields[] = {
        HAUL_ADDRESS(GNode, data, .target = &payload_type),
        HAUL_OBJECT(GNode, next, &gnode_type),
        HAUL_OBJECT(GNode, prev, &gnode_type),
        HAUL_OBJECT(GNode, children, &gnode_type),
        HAUL_OBJECT(GNode, parent, &gnode_type),
    };
    payload_type = type_open("payload", sizeof(payload), NULL, 0);
    gnode_type = type_open("GNode", sizeof(GNode), fields, has_parent ? 5 : 4);
    type_close(gnode_type);
}

static void gnode_close(void)
{
    haul_type_free(&gnode_type);
    haul_type_free(&payload_type);
    site_end();
}

static GNode *gnode_make(GNode *parent)
{
    GNode *n = put_elements(1, sizeof *n);
    payload *p = n->data = put_elements(1, sizeof *p);
    p->value = chance(1, 999);
    the.told += p->value;
    n->parent = parent;
    if (!parent)
        return n;
    n->next = parent->children;
    if (n->next)
        n->next->prev = n;
    parent->children = n;
    return n;
}

static GNode *gtree_make(void)
{
    GNode *all[NODES];
    int i;
    for (i = 0; i < NODES; i++)
        all[i] = gnode_make(i ? all[chance(i > 30 ? i - 30 : 0, i - 1)] : NULL);
    return all[0];
}

/* Down by children, on by next, up by parent; each step is looked at backwards, too. */
static int64_t gtree_walk(void *root, size_t count)
{
    GNode *n = root;
    int64_t sum = 0;
    (void)count;
    while (n) {
        payload *p = n->data;
        sum += p->value;
        p->seen++;
        if ((n->next && n->next->prev != n) || (n->children && n->children->parent != n))
            return -1;
        if (n->children) {
            n = n->children;
            continue;
        }
        while (n && !n->next)
            n = n->parent;
        n = n ? n->next : NULL;
    }
    return sum;
}

TEST(structures_glib, a_tree_with_links_in_all_four_directions)
{
    site_start(51);
    gnode_open(1);
    travel_and_sum(gtree_make(), gnode_type, 1, gtree_walk);
    gnode_close();
}

TEST(structures_glib, a_forgotten_way_back_is_told)
{
    char path[40], words[80];
    site_start(52);
    gnode_open(0);
    snprintf(path, sizeof path, "root.children+%zu", offsetof(GNode, parent));
    snprintf(words, sizeof words, "of GNode, %d times): ", NODES - 1);
    audit_tells(gtree_make(), gnode_type, 1, HAUL_AUDIT_HIDDEN_POINTER, path, words);
    gnode_close();
}
