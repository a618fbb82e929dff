/* The hash lists of Linux. A node's pprev leads to the pointer that leads to the node: the
 * one in the node before, or the head's.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

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

TEST(structures_linux,
     hash_lists_are_walked_and_nodes_leave_them_through_the_pointers_that_lead_to_them)
{
    const haul_field pprev = HAUL_ADDRESS(hlist_node, pprev, .ownership = HAUL_BORROWED);
    journey j = { .walk = pid_map_walk, .with_pointers = 1 };
    site_start(18);
    pid_map_open(&pprev);
    j.root = pid_map_make();
    j.type = pid_map_type;
    j.seen = pids_seen();
    travel(&j);
    pid_map_close();
    site_end();
}

TEST(structures_linux,
     a_pointer_to_a_pointer_that_is_described_as_one_to_an_element_is_refused_with_both_paths)
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
