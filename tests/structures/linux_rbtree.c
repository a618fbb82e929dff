/* The red-black tree of Linux, with the colour in bit 0 of the parent's address, in a
 * field of integer type, and nodes in the middle of what they order.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { RB_RED = 0, RB_BLACK = 1, AREAS = 10000 };

typedef struct rb_node {
    uintptr_t rb_parent_color;
    struct rb_node *rb_right, *rb_left;
} rb_node;

typedef struct area {
    uint64_t start, end;
    rb_node rb;
    uint64_t gap;
} area;

typedef struct areas {
    rb_node *mm_rb;
    int map_count;
} areas;

static haul_type *rb_node_type, *area_type, *areas_type;

static void areas_open(uintptr_t tag_bits)
{
    const haul_field node_fields[] = {
        HAUL_ADDRESS(rb_node, rb_parent_color, .target = &area_type,
                     .base = HAUL_CONTAINER_OF(area, rb), .tag_bits = tag_bits),
        HAUL_ADDRESS(rb_node, rb_right, .target = &area_type, .base = HAUL_CONTAINER_OF(area, rb)),
        HAUL_ADDRESS(rb_node, rb_left, .target = &area_type, .base = HAUL_CONTAINER_OF(area, rb)),
    };
    const haul_field area_fields[] = { HAUL_EMBED(area, rb, &rb_node_type) };
    const haul_field areas_fields[] = { HAUL_ADDRESS(areas, mm_rb, .target = &area_type,
                                                     .base = HAUL_CONTAINER_OF(area, rb)) };
    rb_node_type = OPEN(rb_node, node_fields);
    area_type = OPEN(area, area_fields);
    areas_type = OPEN(areas, areas_fields);
    type_close(areas_type);
}

static void areas_close(void)
{
    haul_type_free(&areas_type);
    haul_type_free(&area_type);
    haul_type_free(&rb_node_type);
}

/* In a tree as full as can be, node i has the children 2i and 2i + 1, and the last row is red. */
static unsigned row_of(size_t i)
{
    unsigned row = 0;
    for (; i > 1; i /= 2)
        row++;
    return row;
}

static int colour_of(size_t i)
{
    return row_of(i) == row_of(AREAS) ? RB_RED : RB_BLACK;
}

static size_t leftmost(size_t i)
{
    while (2 * i <= AREAS)
        i *= 2;
    return i;
}

/* 0 after the last one. */
static size_t next_in_order(size_t i)
{
    if (2 * i + 1 <= AREAS)
        return leftmost(2 * i + 1);
    while (i & 1)
        i /= 2;
    return i / 2;
}

static rb_node *rb_at(area *const *all, size_t i)
{
    return i >= 1 && i <= AREAS ? &all[i]->rb : NULL;
}

/* What an order-keeping walk sees. */
static uint64_t areas_seen(const uint64_t *start)
{
    uint64_t seen = 0;
    size_t i;
    for (i = leftmost(1); i; i = next_in_order(i)) {
        see(&seen, start[i]);
        see(&seen, (uint64_t)colour_of(i));
    }
    return seen;
}

static areas *areas_make(uint64_t *seen)
{
    static area *all[AREAS + 1];
    static uint64_t start[AREAS + 1];
    areas *root = PUT(areas);
    uint64_t at = 0;
    size_t i;
    for (i = 1; i <= AREAS; i++)
        all[i] = PUT(area);
    for (i = leftmost(1); i; i = next_in_order(i)) {
        at += 4096 * random_between(&the.random, 1, 64);
        start[i] = all[i]->start = at;
        all[i]->end = at + 4096;
    }
    for (i = 1; i <= AREAS; i++) {
        all[i]->rb.rb_parent_color = (uintptr_t)rb_at(all, i / 2) | (uintptr_t)colour_of(i);
        all[i]->rb.rb_left = rb_at(all, 2 * i);
        all[i]->rb.rb_right = rb_at(all, 2 * i + 1);
    }
    root->mm_rb = &all[1]->rb;
    root->map_count = AREAS;
    *seen = areas_seen(start);
    return root;
}

static rb_node *rb_parent(const rb_node *node)
{
    return (rb_node *)(node->rb_parent_color & ~(uintptr_t)3);
}

static rb_node *rb_first(rb_node *node)
{
    while (node && node->rb_left)
        node = node->rb_left;
    return node;
}

static rb_node *rb_next(rb_node *node)
{
    rb_node *parent;
    if (node->rb_right)
        return rb_first(node->rb_right);
    while ((parent = rb_parent(node)) != NULL && node == parent->rb_right)
        node = parent;
    return parent;
}

static area *area_of(rb_node *node)
{
    return (area *)(void *)((unsigned char *)node - offsetof(area, rb));
}

/* The right child of the root's left one takes that one's place; colours change with it. */
static void turn(rb_node *root)
{
    rb_node *old = root->rb_left, *new_top = old->rb_right, *middle = new_top->rb_left;
    old->rb_right = middle;
    middle->rb_parent_color = (uintptr_t)old | RB_BLACK;
    new_top->rb_left = old;
    new_top->rb_parent_color = (uintptr_t)root | RB_BLACK;
    old->rb_parent_color = (uintptr_t)new_top | RB_RED;
    root->rb_left = new_top;
}

static void areas_walk(void *argument)
{
    visit *v = argument;
    areas *root = v->root;
    rb_node *node;
    for (node = rb_first(root->mm_rb); node; node = rb_next(node)) {
        area *a = area_of(node);
        see(&v->seen, a->start);
        see(&v->seen, node->rb_parent_color & 1);
        a->gap = a->end - a->start;
    }
    turn(root->mm_rb);
}

TEST(structures_linux, a_red_black_tree_is_walked_in_order_by_its_coloured_parents_and_turned_there)
{
    journey j = { .walk = areas_walk, .with_pointers = 1 };
    site_start(14);
    areas_open(1);
    j.root = areas_make(&j.seen);
    j.type = areas_type;
    travel(&j);
    areas_close();
    site_end();
}

TEST(structures_linux, a_colour_that_no_rule_takes_off_is_a_misaligned_pointer)
{
    uint64_t seen;
    areas *root;
    site_start(14);
    areas_open(0);
    root = areas_make(&seen);
    refuse_graph(root, areas_type, HAUL_ERROR_GRAPH, "root.mm_rb.rb.rb_parent_color", "",
                 "it points outside any process's address range");
    root->mm_rb->rb_parent_color = 0;
    refuse_graph(root, areas_type, HAUL_ERROR_GRAPH, "root.mm_rb.rb.rb_right.rb.rb_parent_color",
                 "", "a misaligned pointer: its address modulo");
    areas_close();
    site_end();
}
