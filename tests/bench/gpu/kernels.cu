// The kernels: find follows pointers, touch works on what they lead to.
//
// A list is followed by one thread, because there is no other way: its time is one memory latency
// for each node. In a tree every thread walks from the root to its own node, by the binary digits
// of the node's number; in Dense by its digits to the base q, in an octree to the base 8. Touch is
// bound by memory: a warp
// takes a slice of a piece at a time.

#include "shapes.h"

namespace
{

const unsigned THREADS = 256, WARP = 32, BLOCKS = 2048;
const uint64_t SLICE_WORDS = 4096;

unsigned blocks_for(uint64_t items, unsigned threads)
{
    return static_cast<unsigned>((items + threads - 1) / threads);
}

template <class T> __device__ T *pointer_at(const void *object, uint64_t offset)
{
    return *reinterpret_cast<T *const *>(static_cast<const char *>(object) + offset);
}

// A piece that spoils the sum: a pointer did not lead where it must.
__device__ void spoil(gpu_piece *found)
{
    found->data = nullptr;
    found->words = 0;
}

__device__ void find_parts(const gpu_layout &layout, char *node, gpu_piece *found)
{
    for (unsigned part = 0; part < layout.parts; part++) {
        found[part].data = reinterpret_cast<uint64_t *>(node + layout.part_at[part]);
        found[part].words = layout.part_words[part];
    }
}

__global__ void find_list(gpu_layout layout, char *root, gpu_piece *found)
{
    char *node = root;
    for (uint64_t i = 0; i < layout.nodes && node; i++) {
        find_parts(layout, node, found + i * layout.parts);
        node = pointer_at<char>(node, layout.next_at);
    }
    if (node)
        spoil(found);
}

// Node 0 is the root, node i has the children 2 i + 1 and 2 i + 2.
__global__ void find_tree(gpu_layout layout, char *root, gpu_piece *found)
{
    const uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    if (i >= layout.nodes)
        return;
    char *node = root;
    for (int digit = 62 - __clzll(static_cast<long long>(i + 1)); digit >= 0 && node; digit--)
        node = pointer_at<char>(node, (i + 1) >> digit & 1 ? layout.right_at : layout.next_at);
    if (node)
        find_parts(layout, node, found + i * layout.parts);
    if (node && 2 * i + 1 >= layout.nodes && pointer_at<char>(node, layout.next_at))
        spoil(found + i * layout.parts);
}

__global__ void find_zones(gpu_layout layout, const gpu_zones *root, gpu_piece *found)
{
    const uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    if (i >= layout.nodes)
        return;
    const gpu_zone *zone = &root->zone[i];
    found += i * GPU_ZONE_USED;
    for (int a = 0; a < GPU_ZONE_USED; a++) {
        found[a].data = zone->array[a].data;
        found[a].words = static_cast<uint64_t>(zone->array[a].count);
    }
    for (int a = GPU_ZONE_USED; a < GPU_ZONE_ARRAYS; a++)
        if (zone->array[a].data)
            spoil(found);
}

__global__ void find_linear(gpu_layout layout, const gpu_level *root, gpu_piece *found)
{
    const gpu_level *level = root;
    for (uint64_t i = 0; i < layout.nodes && level; i++, level = level->next) {
        const bool is_last = i + 1 == layout.nodes;
        if (layout.last_only && !is_last)
            continue;
        gpu_piece *piece = found + (layout.last_only ? 0 : i);
        piece->data = level->a;
        piece->words = static_cast<uint64_t>(level->a_count);
    }
    if (level)
        spoil(found);
}

// Numbers go level by level: the root, q, q^2, q^3.
__global__ void find_dense(gpu_layout layout, const gpu_level *root, gpu_piece *found)
{
    const uint64_t q = layout.nodes, all = 1 + q + q * q + q * q * q;
    const uint64_t thread = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    const uint64_t i = layout.last_only ? all - 1 : thread;
    if (layout.last_only ? thread > 0 : i >= all)
        return;
    uint64_t first = 0, width = 1;
    int depth = 0;
    while (i - first >= width) {
        first += width;
        width *= q;
        depth++;
    }
    uint64_t rest = i - first;
    const gpu_level *level = root;
    for (int step = 0; step < depth; step++) {
        width /= q;
        if (step == 2) {
            const gpu_leaf *leaf = reinterpret_cast<const gpu_leaf *>(level->next) + rest;
            found[thread].data = leaf->a;
            found[thread].words = static_cast<uint64_t>(leaf->a_count);
            return;
        }
        level = level->next + rest / width;
        rest %= width;
    }
    found[thread].data = level->a;
    found[thread].words = static_cast<uint64_t>(level->a_count);
}

__device__ bool key_holds(const char *key)
{
    uint64_t bytes = 0;
    while (key[bytes] && key[bytes] == key[0])
        bytes++;
    return key[bytes] == 0 && bytes >= KEY_LEAST && bytes <= KEY_MOST &&
           key[0] == KEY_LETTER(bytes);
}

// Pieces of entries that no bucket leads to stay empty.
__global__ void find_table(gpu_layout layout, const chain_table *root, gpu_piece *found)
{
    const uint64_t threads = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < root->bucket_count;
         i += threads)
        for (chain_entry *entry = root->bucket[i]; entry; entry = entry->next) {
            const uint64_t number = reinterpret_cast<uint64_t>(entry->opaque);
            if (number < layout.nodes && key_holds(entry->key)) {
                found[number].data = entry->data;
                found[number].words = CHAIN_ENTRY_WORDS;
            }
        }
}

// Node 0 is the root, node i has the children 8 i + 1 to 8 i + 8.
__global__ void find_octree(gpu_layout layout, const octree_node *root, gpu_piece *found)
{
    const uint64_t leaf = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    const uint64_t i = layout.first_leaf + leaf;
    if (i >= layout.nodes)
        return;
    uint64_t first = 0, width = 1; // of the level
    for (; i - first >= width; width *= 8)
        first += width;
    const octree_node *node = root, *parent = nullptr;
    for (uint64_t rest = i - first; node && node->parent == parent && width > 1; rest %= width) {
        width /= 8;
        parent = node;
        node = node->child[rest / width];
    }
    if (!node || node->parent != parent || node->particle_count <= 0) {
        spoil(found + leaf);
        return;
    }
    found[leaf].data = reinterpret_cast<uint64_t *>(node->particles);
    found[leaf].words =
        static_cast<uint64_t>(node->particle_count) * (sizeof(particle) / sizeof(uint64_t));
}

__device__ bool edge_holds(const mesh_edge *edge, const mesh_vertex *vertex, uint64_t number)
{
    if (edge->end[0] == vertex)
        return static_cast<uint64_t>(__double_as_longlong(edge->length)) == number;
    return edge->end[1] == vertex;
}

__global__ void find_mesh(gpu_layout layout, const mesh *root, gpu_piece *found)
{
    const uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    if (i >= layout.nodes)
        return;
    mesh_vertex *vertex = root->vertex[i];
    found[i].data = reinterpret_cast<uint64_t *>(vertex->position);
    found[i].words = sizeof vertex->position / sizeof(uint64_t);
    for (int32_t k = 0; k < vertex->edge_count; k++)
        if (!edge_holds(vertex->edge[k], vertex, i))
            spoil(found + i);
}

__global__ void touch(const gpu_piece *pieces, uint64_t slices_each, uint64_t items,
                      unsigned long long *sum)
{
    const unsigned lane = threadIdx.x % WARP;
    const uint64_t warps = uint64_t(gridDim.x) * blockDim.x / WARP;
    unsigned long long mine = 0;
    for (uint64_t item = (blockIdx.x * uint64_t(blockDim.x) + threadIdx.x) / WARP; item < items;
         item += warps) {
        const uint64_t piece = item / slices_each, from = item % slices_each * SLICE_WORDS;
        const gpu_piece it = pieces[piece];
        const uint64_t to = it.words < from + SLICE_WORDS ? it.words : from + SLICE_WORDS;
        for (uint64_t word = from + lane; word < to; word += WARP) {
            const uint64_t value = it.data[word];
            mine += value * GPU_WEIGHT(piece, word);
            it.data[word] = value + 1;
        }
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, static_cast<unsigned>(distance));
    if (lane == 0 && mine)
        atomicAdd(sum, mine);
}

} // namespace

extern "C" cudaError_t gpu_find(const gpu_layout *layout, const void *root, gpu_piece *found)
{
    const uint64_t q = layout->nodes;
    char *const node = static_cast<char *>(const_cast<void *>(root));
    switch (layout->form) {
    case GPU_LIST:
        find_list<<<1, 1>>>(*layout, node, found);
        break;
    case GPU_TREE:
        find_tree<<<blocks_for(layout->nodes, THREADS), THREADS>>>(*layout, node, found);
        break;
    case GPU_ZONES:
        find_zones<<<blocks_for(layout->nodes, THREADS), THREADS>>>(
            *layout, static_cast<const gpu_zones *>(root), found);
        break;
    case GPU_LINEAR:
        find_linear<<<1, 1>>>(*layout, static_cast<const gpu_level *>(root), found);
        break;
    case GPU_DENSE:
        find_dense<<<layout->last_only ? 1 : blocks_for(1 + q + q * q + q * q * q, THREADS),
                     THREADS>>>(*layout, static_cast<const gpu_level *>(root), found);
        break;
    case GPU_TABLE:
        cudaMemsetAsync(found, 0, layout->nodes * sizeof(*found));
        find_table<<<BLOCKS, THREADS>>>(*layout, static_cast<const chain_table *>(root), found);
        break;
    case GPU_OCTREE:
        find_octree<<<blocks_for(layout->nodes - layout->first_leaf, THREADS), THREADS>>>(
            *layout, static_cast<const octree_node *>(root), found);
        break;
    case GPU_MESH:
        find_mesh<<<blocks_for(layout->nodes, THREADS), THREADS>>>(
            *layout, static_cast<const mesh *>(root), found);
        break;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_touch(const gpu_piece *pieces, size_t count, size_t longest_words,
                                 uint64_t *sum)
{
    const uint64_t slices = longest_words ? (longest_words + SLICE_WORDS - 1) / SLICE_WORDS : 1;
    const uint64_t items = slices * count, blocks = (items * WARP + THREADS - 1) / THREADS;
    touch<<<static_cast<unsigned>(blocks < BLOCKS ? blocks : BLOCKS), THREADS>>>(
        pieces, slices, items, reinterpret_cast<unsigned long long *>(sum));
    return cudaGetLastError();
}
