/* Real structures whose pointers are more than addresses: colours and counts in their bits (TAG),
 * slots that they lead to (PP).
 */
#define _DEFAULT_SOURCE
#include "structures_b.h"

/* ---- TAG: the red-black tree of Linux, with the colour in bit 0 of the parent's address, in a
 * field of integer type, and nodes in the middle of what they order. */

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

TEST(structures_words,
     TAG_a_red_black_tree_is_walked_in_order_by_its_coloured_parents_and_turned_there)
{
    journey j = { NULL, NULL, 0, areas_walk, NULL, 1 };
    site_start(14);
    areas_open(1);
    j.root = areas_make(&j.seen);
    j.type = areas_type;
    travel(&j);
    areas_close();
    site_end();
}

TEST(structures_words, TAG_a_colour_that_no_rule_takes_off_is_a_misaligned_pointer)
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

/* ---- TAG, high bits: a stack without locks. Whoever swaps its head counts the swaps in the bits
 * that addresses leave free, lest it take a node that has come back for one that never went. Nodes
 * fill a line of cache each; where pointers have 4 bytes, the count is in the low bits that this
 * leaves. */

enum { TASKS = 3000, LINE = 64 };

typedef struct task {
    uintptr_t next; /* the head that it was pushed upon, count and all */
    uint64_t work;
    struct task *mate;
    char rest[LINE - sizeof(uint64_t) - 2 * sizeof(void *)];
} task;

typedef struct task_stack {
    uintptr_t head;
    int64_t length;
} task_stack;

#define COUNTS (sizeof(void *) > 4 ? HAUL_HIGH_TAGS : (uintptr_t)LINE - 1)
#define ONE_MORE (sizeof(void *) > 4 ? (uintptr_t)1 << 16 << 16 << 16 : 1)

static haul_type *task_type, *stack_type;

static void stack_open(uintptr_t tag_bits)
{
    const haul_field task_fields[] = { HAUL_ADDRESS(task, next, .target = &task_type,
                                                    .tag_bits = tag_bits),
                                       HAUL_OBJECT(task, mate, &task_type) };
    const haul_field stack_fields[] = { HAUL_ADDRESS(task_stack, head, .target = &task_type,
                                                     .tag_bits = tag_bits) };
    task_type = OPEN(task, task_fields, .alignment = LINE);
    stack_type = OPEN(task_stack, stack_fields);
    type_close(stack_type);
}

static void stack_close(void)
{
    haul_type_free(&stack_type);
    haul_type_free(&task_type);
}

static task *task_at(uintptr_t word)
{
    return (task *)(word & ~COUNTS);
}

static void swap_head(task_stack *s, task *t)
{
    uintptr_t count = (s->head + ONE_MORE) & COUNTS;
    s->head = (uintptr_t)t | count;
}

static void push_task(task_stack *s, task *t)
{
    t->next = s->head;
    swap_head(s, t);
    s->length++;
}

static task *pop_task(task_stack *s)
{
    task *t = task_at(s->head);
    swap_head(s, task_at(t->next));
    s->length--;
    return t;
}

/* Every push is one swap: the word in task i counts i of them. */
static task_stack *stack_make(uint64_t *seen)
{
    static task *all[TASKS];
    task_stack *s = PUT(task_stack);
    size_t i;
    for (i = 0; i < TASKS; i++) {
        all[i] = put(sizeof(task), LINE);
        all[i]->work = i;
        all[i]->mate = i ? all[random_below(&the.random, i)] : NULL;
        push_task(s, all[i]);
    }
    for (i = TASKS; i-- > 0;) {
        see(seen, i);
        see(seen, i & (COUNTS / ONE_MORE));
        see(seen, i ? all[i]->mate->work : TASKS);
    }
    return s;
}

static void stack_walk(void *argument)
{
    visit *v = argument;
    task_stack *s = v->root;
    task *t, *first;
    for (t = task_at(s->head); t; t = task_at(t->next)) {
        see(&v->seen, t->work);
        see(&v->seen, (t->next & COUNTS) / ONE_MORE);
        see(&v->seen, t->mate ? t->mate->work : TASKS);
    }
    for (t = task_at(s->head); t; t = task_at(t->next))
        t->work += 100;
    first = pop_task(s);
    t = pop_task(s);
    push_task(s, first);
    push_task(s, t);
}

TEST(structures_words,
     TAG_a_stack_whose_head_counts_its_swaps_in_high_bits_is_walked_and_swapped_there)
{
    journey j = { NULL, NULL, 0, stack_walk, NULL, 1 };
    site_start(15);
    stack_open(COUNTS);
    j.root = stack_make(&j.seen);
    j.type = stack_type;
    travel(&j);
    stack_close();
    site_end();
}

TEST(structures_words, TAG_a_count_of_which_a_bit_is_not_named_is_no_address)
{
    uint64_t seen = 0;
    site_start(15);
    stack_open(COUNTS & ~ONE_MORE);
    refuse_graph(stack_make(&seen), stack_type, HAUL_ERROR_GRAPH, "root.head.next", "",
                 sizeof(void *) > 4 ? "outside any process's address range"
                                    : "a misaligned pointer");
    stack_close();
    site_end();
}

/* ---- PP: the hash lists of Linux. A node's pprev leads to the pointer that leads to the node: the
 * one in the node before, or the head's. */

enum { HEADS = 1024, PIDS = 8000 };

typedef struct hlist_node {
    struct hlist_node *next, **pprev;
} hlist_node;

typedef struct hlist_head {
    hlist_node *first;
} hlist_head;

typedef struct upid {
    int nr, level;
    hlist_node pid_chain;
} upid;

typedef struct pid_map {
    int nr_pids, pad;
    hlist_head pid_hash[HEADS];
} pid_map;

static haul_type *hlist_node_type, *hlist_head_type, *upid_type, *pid_map_type;

static void pid_map_open(const haul_field *pprev)
{
    const haul_field node_fields[] = { HAUL_ADDRESS(hlist_node, next, .target = &upid_type,
                                                    .base = HAUL_CONTAINER_OF(upid, pid_chain)),
                                       *pprev };
    const haul_field head_fields[] = { HAUL_ADDRESS(hlist_head, first, .target = &upid_type,
                                                    .base = HAUL_CONTAINER_OF(upid, pid_chain)) };
    const haul_field upid_fields[] = { HAUL_EMBED(upid, pid_chain, &hlist_node_type) };
    const haul_field map_fields[] = { HAUL_EMBED(pid_map, pid_hash, &hlist_head_type) };
    hlist_node_type = OPEN(hlist_node, node_fields);
    hlist_head_type = OPEN(hlist_head, head_fields);
    upid_type = OPEN(upid, upid_fields);
    pid_map_type = OPEN(pid_map, map_fields);
    type_close(pid_map_type);
}

static void pid_map_close(void)
{
    haul_type_free(&pid_map_type);
    haul_type_free(&upid_type);
    haul_type_free(&hlist_head_type);
    haul_type_free(&hlist_node_type);
}

/* Distinct, and in no order. */
static int nr_of(int i)
{
    return (int)((int64_t)i * 7919 % 30011);
}

static void hlist_add_head(hlist_node *n, hlist_head *h)
{
    n->next = h->first;
    if (n->next)
        n->next->pprev = &n->next;
    h->first = n;
    n->pprev = &h->first;
}

static void hlist_del(hlist_node *n)
{
    *n->pprev = n->next;
    if (n->next)
        n->next->pprev = n->pprev;
}

static pid_map *pid_map_make(void)
{
    pid_map *map = PUT(pid_map);
    int i;
    for (i = 0; i < PIDS; i++) {
        upid *u = PUT(upid);
        u->nr = nr_of(i);
        hlist_add_head(&u->pid_chain, &map->pid_hash[u->nr % HEADS]);
    }
    map->nr_pids = PIDS;
    return map;
}

static int is_exiting(int nr)
{
    return nr % 3 == 0;
}

/* List by list, the last one that came first; before and after some have gone. */
static uint64_t pids_seen(void)
{
    uint64_t seen = 0;
    int round, head, i;
    for (round = 0; round < 2; round++)
        for (head = 0; head < HEADS; head++)
            for (i = PIDS - 1; i >= 0; i--)
                if (nr_of(i) % HEADS == head && !(round && is_exiting(nr_of(i))))
                    see(&seen, (uint64_t)nr_of(i));
    return seen;
}

static upid *upid_of(hlist_node *node)
{
    return (upid *)(void *)((unsigned char *)node - offsetof(upid, pid_chain));
}

static void see_pids(uint64_t *seen, pid_map *map)
{
    hlist_node *n;
    int head;
    for (head = 0; head < HEADS; head++)
        for (n = map->pid_hash[head].first; n; n = n->next)
            see(seen, (uint64_t)upid_of(n)->nr);
}

static void pid_map_walk(void *argument)
{
    visit *v = argument;
    pid_map *map = v->root;
    hlist_node *n;
    int head;
    see_pids(&v->seen, map);
    for (head = 0; head < HEADS; head++)
        for (n = map->pid_hash[head].first; n; n = n->next)
            if (is_exiting(upid_of(n)->nr)) {
                hlist_del(n);
                upid_of(n)->level = -1;
                map->nr_pids--;
            }
    see_pids(&v->seen, map);
}

TEST(structures_words,
     PP_hash_lists_are_walked_and_nodes_leave_them_through_the_pointers_that_lead_to_them)
{
    const haul_field pprev = HAUL_ADDRESS(hlist_node, pprev, .ownership = HAUL_BORROWED);
    journey j = { NULL, NULL, 0, pid_map_walk, NULL, 1 };
    site_start(18);
    pid_map_open(&pprev);
    j.root = pid_map_make();
    j.type = pid_map_type;
    j.seen = pids_seen();
    travel(&j);
    pid_map_close();
    site_end();
}

TEST(structures_words,
     PP_a_pointer_to_a_pointer_that_is_described_as_one_to_an_element_is_refused_with_both_paths)
{
    const haul_field pprev = HAUL_ADDRESS(hlist_node, pprev, .target = &upid_type,
                                          .base = HAUL_CONTAINER_OF(upid, pid_chain));
    site_start(18);
    pid_map_open(&pprev);
    refuse_graph(pid_map_make(), pid_map_type, HAUL_ERROR_GRAPH,
                 "root.pid_hash[0].first.pid_chain.pprev", "root",
                 "one address is reached as a upid and as a pid_map");
    pid_map_close();
    site_end();
}

/* GROMACS: an atom's name is the address of a slot in the table of symbols, and atoms of one name
 * share the slot. */

enum { ATOMS = 6000, SYMBOLS = 203, SYMBOLS_IN_BUFFER = 40 };

typedef struct t_symbuf {
    int bufsize;
    char **buf;
    struct t_symbuf *next;
} t_symbuf;

typedef struct t_topology {
    int natoms;
    double *mass;
    char ***atomname;
    t_symbuf *symbuf;
} t_topology;

typedef struct symbol {
    char *text;
} symbol;

static haul_type *symbol_type, *symbuf_type, *atomname_type, *topology_type;

static void topology_open(const haul_field *atomname)
{
    static const haul_field symbol_fields[] = { HAUL_STRING(symbol, text) };
    static const haul_field symbuf_fields[] = {
        HAUL_ADDRESS(t_symbuf, buf, .target = &symbol_type, .count = HAUL_COUNT(t_symbuf, bufsize)),
        HAUL_OBJECT(t_symbuf, next, &symbuf_type)
    };
    const haul_field fields[] = { HAUL_ARRAY(t_topology, mass, HAUL_COUNT(t_topology, natoms)),
                                  *atomname, HAUL_OBJECT(t_topology, symbuf, &symbuf_type) };
    symbol_type = OPEN(symbol, symbol_fields);
    symbuf_type = OPEN(t_symbuf, symbuf_fields);
    topology_type = OPEN(t_topology, fields);
    type_close(topology_type);
}

static void topology_close(void)
{
    haul_type_free(&topology_type);
    haul_type_free(&symbuf_type);
    haul_type_free(&symbol_type);
    haul_type_free(&atomname_type);
}

static void symbol_text(int i, char *text, size_t room)
{
    snprintf(text, room, "%c%d", "CHNOPS"[i % 6], i);
}

static t_topology *topology_make(uint64_t *seen)
{
    static char **slot[SYMBOLS];
    t_topology *top = PUT(t_topology);
    t_symbuf **last = &top->symbuf;
    char text[16];
    int i, used = SYMBOLS_IN_BUFFER;
    top->natoms = ATOMS;
    top->mass = PUT_ARRAY(double, ATOMS);
    top->atomname = PUT_ARRAY(char **, ATOMS);
    for (i = 0; i < SYMBOLS; i++) {
        if (used == SYMBOLS_IN_BUFFER) {
            *last = PUT(t_symbuf);
            (*last)->bufsize = SYMBOLS_IN_BUFFER;
            (*last)->buf = PUT_ARRAY(char *, SYMBOLS_IN_BUFFER);
            used = 0;
        }
        symbol_text(i, text, sizeof text);
        slot[i] = &(*last)->buf[used++];
        *slot[i] = put_text(text);
        if (used == SYMBOLS_IN_BUFFER)
            last = &(*last)->next;
    }
    for (i = 0; i < ATOMS; i++) {
        int name = (int)random_below(&the.random, SYMBOLS);
        top->atomname[i] = slot[name];
        top->mass[i] = name;
        symbol_text(name, text, sizeof text);
        see_text(seen, text);
    }
    return top;
}

/* Sulphur gets another letter, once for all atoms. */
static void topology_walk(void *argument)
{
    visit *v = argument;
    t_topology *top = v->root;
    int i;
    for (i = 0; i < top->natoms; i++)
        see_text(&v->seen, *top->atomname[i]);
    for (i = 0; i < top->natoms; i++)
        if (**top->atomname[i] == 'S')
            **top->atomname[i] = 's';
        else if (**top->atomname[i] == 's')
            top->mass[i] = -1;
}

TEST(structures_words, PP_names_that_are_slots_of_a_symbol_table_stay_shared)
{
    static const haul_count one = HAUL_ONE;
    const haul_field atomname = HAUL_ADDRESS(t_topology, atomname, .target = &atomname_type,
                                             .count = HAUL_COUNT(t_topology, natoms));
    journey j = { NULL, NULL, 0, topology_walk, NULL, 0 };
    site_start(181);
    CHECK_STATUS(
        haul_type_pointer(type_context(), "atomname", &symbol_type, 0, one, &atomname_type),
        HAUL_OK);
    topology_open(&atomname);
    j.root = topology_make(&j.seen);
    j.type = topology_type;
    travel(&j);
    topology_close();
    site_end();
}

TEST(structures_words,
     PP_names_that_are_described_as_strings_are_refused_where_their_slots_are_pointers)
{
    haul_field atomname = HAUL_STRINGS(t_topology, atomname, HAUL_COUNT(t_topology, natoms));
    /* a narrow address has no byte 0 that could end a string */
    const int is_wide = sizeof(void *) == 8;
    uint64_t seen = 0;
    site_start(181);
    atomname.element_bytes = sizeof(char);
    topology_open(&atomname);
    refuse_graph(topology_make(&seen), topology_type, HAUL_ERROR_GRAPH,
                 is_wide ? "root.symbuf.buf" : "root.atomname[0]", NULL,
                 is_wide ? "a word is a pointer for one description and data for another"
                         : "the range it leads to is not readable");
    topology_close();
    site_end();
}
