/* The walks by hand of the workload "discovery": plain loops, without a map and without prefetches,
 * the least that a program does to go over its own data.
 */
#include <string.h>

#include "discovery.h"

/* Reads a byte of an object, for certain. */
static size_t look_at(const void *object)
{
    return (size_t)(*(const volatile char *)object & 0);
}

size_t walk_list(discovered *it, size_t first, size_t end, const void **queue)
{
    const list_node *node = it->root;
    size_t count = 0;
    (void)first, (void)end, (void)queue;
    for (; node; node = node->next)
        count++;
    return count;
}

size_t walk_tree(discovered *it, size_t first, size_t end, const void **queue)
{
    size_t at, count = end - first;
    memcpy(queue, it->start + first, count * sizeof *queue);
    for (at = 0; at < count; at++) {
        const tree_node *node = queue[at];
        if (node->left)
            queue[count++] = node->left;
        if (node->right)
            queue[count++] = node->right;
    }
    return count;
}

static size_t number_of(const graph_node *node)
{
    size_t number;
    memcpy(&number, (const char *)(node + 1) - sizeof number, sizeof number);
    return number;
}

size_t walk_graph(discovered *it, size_t first, size_t end, const void **queue)
{
    size_t at, count = end - first;
    unsigned k;
    memset(it->met, 0, it->most);
    queue[0] = it->root;
    it->met[number_of(it->root)] = 1;
    for (at = 0; at < count; at++)
        for (k = 0; k < 4; k++) {
            const graph_node *target = ((const graph_node *)queue[at])->edge[k];
            const size_t number = number_of(target);
            if (it->met[number])
                continue;
            it->met[number] = 1;
            queue[count++] = target;
        }
    return count;
}

size_t walk_strings(discovered *it, size_t first, size_t end, const void **queue)
{
    char *const *item = ((const table *)it->root)->item;
    size_t bytes = 0, i;
    (void)queue;
    for (i = first; i < end; i++)
        bytes += strlen(item[i]) + 1;
    return bytes ? end - first : 0;
}

size_t walk_records(discovered *it, size_t first, size_t end, const void **queue)
{
    const record *one = it->root;
    size_t count = 0, i;
    (void)queue;
    for (i = first; i < end; i++) {
        if (one[i].value_count)
            count += 1 + look_at(one[i].value);
        if (one[i].index_count)
            count += 1 + look_at(one[i].index);
    }
    return count;
}

/* A key's length counts for nothing, but a compiler must not know that. */
size_t walk_chains(discovered *it, size_t first, size_t end, const void **queue)
{
    chain_entry *const *bucket = ((const chain_table *)it->root)->bucket;
    size_t count = 0, bytes = 0, i;
    (void)queue;
    for (i = first; i < end; i++) {
        const chain_entry *entry;
        for (entry = bucket[i]; entry; entry = entry->next) {
            bytes += strlen(entry->key);
            count += 2;
        }
    }
    return bytes ? count : 0;
}

size_t walk_octree(discovered *it, size_t first, size_t end, const void **queue)
{
    size_t at, nodes = end - first, arrays = 0;
    unsigned k;
    memcpy(queue, it->start + first, nodes * sizeof *queue);
    for (at = 0; at < nodes; at++) {
        const octree_node *node = queue[at];
        for (k = 0; k < 8; k++)
            if (node->child[k])
                queue[nodes++] = node->child[k];
        if (node->particle_count)
            arrays += 1 + look_at(node->particles);
    }
    return nodes + arrays;
}

size_t walk_tasks(discovered *it, size_t first, size_t end, const void **queue)
{
    size_t at, tasks = end - first, arrays = 0;
    unsigned k;
    memcpy(queue, it->start + first, tasks * sizeof *queue);
    for (at = 0; at < tasks; at++) {
        const task *one = queue[at];
        for (k = 0; k < 2; k++)
            if (one->child[k])
                queue[tasks++] = one->child[k];
        arrays += (one->input_count != 0) + look_at(one->input);
        arrays += (one->result_count != 0) + look_at(one->result);
    }
    return tasks + arrays;
}

/* An edge is looked at from each of its ends; it counts at the first. */
size_t walk_mesh(discovered *it, size_t first, size_t end, const void **queue)
{
    mesh_vertex *const *vertex = ((const mesh *)it->root)->vertex;
    size_t count = 0, i;
    int32_t k;
    (void)queue;
    for (i = first; i < end; i++) {
        const mesh_vertex *one = vertex[i];
        count += one->edge_count ? 2 : 1;
        for (k = 0; k < one->edge_count; k++)
            if (one->edge[k]->end[0] == one)
                count++;
    }
    return count;
}

/* No cell counts: the array holds them all. Those that lie elsewhere would. */
size_t walk_grid(discovered *it, size_t first, size_t end, const void **queue)
{
    const grid *all = it->root;
    size_t count = 0, i;
    unsigned k;
    (void)queue;
    for (i = first; i < end; i++)
        for (k = 0; k < 4; k++)
            count += (uintptr_t)all->cell[i].near[k] - (uintptr_t)all->cell >=
                     all->cell_count * sizeof *all->cell;
    return count;
}
