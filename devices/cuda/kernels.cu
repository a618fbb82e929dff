/* The kernels: patching an arena in place; patching it while it crosses; gathering it from the
 * host's objects, or scattering it there.
 *
 * Patching is one pass over the relocation bitmap. One warp takes a bitmap word: its 64 arena words
 * are two accesses of 32 lanes, a word for each lane, so memory is accessed in full lines.
 *
 *     bitmap word   | bit 0 .. 31      | bit 32 .. 63     |
 *     arena         | lane 0 .. 31     | lane 0 .. 31     |      256 bytes each, for words of 8
 *
 * It is right because a word belongs to exactly one bit, a bit to one lane, and an explicit
 * relocation (an entry of the list `offsets`) overlaps neither a marked word nor another entry: no
 * byte is written by two threads, so no order is needed.
 *
 * It is fast because memory latency bounds it, and each warp has many loads under way: four bitmap
 * words, which are 32 bytes, one sector, and up to eight arena words a lane, all loaded before the
 * first is used. In a sparse bitmap a warp reads its sector, sees zeros and goes on. So a gigabyte
 * with few pointers costs the reading of its bitmap, one sixty-fourth.
 *
 * `send` is for graphs so small that a second order costs more than their bytes. Each thread loads
 * 16 bytes over the bus from pinned memory. A warp's 512 bytes are the 64 words (of 8 bytes) of one
 * bitmap word, which is loaded at the same time. All loads of all threads are under way at once, so
 * the transfer costs one latency and its bytes. An explicit relocation can lie across the pieces of
 * two blocks: each block patches the bytes in its own piece. So every block reads the whole list,
 * and patch.c limits its length. `fetch` swaps the sides: the arena is on the host, and everything
 * else is on the device.
 *
 * Gathering and scattering follow lists: eight threads take a segment, 128 bytes of it at a time,
 * one read or write of the bus. No two segments share a byte, so again no order is needed; and
 * again all loads are under way at once.
 *
 * A warp takes a strip. A lane moves words as large as the strip's addresses and lengths allow. The
 * buffer is pinned host memory, which a warp reads or writes in full lines.
 *
 * This file uses only templates of C++: the object needs no C++ run-time library, so C programs can
 * link it.
 */
#include "kernels.h"

/* Threads of a block. A block of `relocate` takes 4 warps x 4 bitmap words = 8 KiB of arena at a
 * time, a block of `send` 2 KiB. Larger: a small arena is loaded by fewer multiprocessors. Smaller:
 * more blocks for the same work. */
static const unsigned block_threads = 128;
static const unsigned warp = 32;
/* Bitmap words that a warp takes at a time: a sector of 32 bytes. More: more registers, and fewer
 * warps for small arenas. */
static const unsigned group_words = 4;
static const unsigned vector_bytes = 16;
static const unsigned piece_bytes = block_threads * vector_bytes;
/* Enough blocks to fill each multiprocessor; more would only wait. */
static const unsigned blocks_per_processor = 16;

template <typename word>
static __device__ __forceinline__ bool is_inside(word value, const haul__gpu_patch &patch)
{
    return (word)(value - (word)patch.from) <= patch.bytes;
}

template <typename word>
static __device__ __forceinline__ word patched(word value, const haul__gpu_patch &patch)
{
    return value != 0 && is_inside(value, patch) ? (word)(value + (word)patch.delta) : value;
}

/* Reports an external pointer. These are rare, so the bus is rarely used. */
static __device__ __forceinline__ void tell_outside(const haul__gpu_patch &patch, bool outside)
{
    if (outside && patch.outside)
        *(volatile uint32_t *)patch.outside = 1;
}

/* A word at any address, loaded and stored byte by byte. */
template <typename word>
static __device__ __forceinline__ word load_unaligned(const unsigned char *at)
{
    word value = 0;
#pragma unroll
    for (unsigned i = 0; i < sizeof(word); i++)
        value |= (word)at[i] << 8 * i;
    return value;
}

template <typename word>
static __device__ __forceinline__ void store_unaligned(unsigned char *at, word value)
{
#pragma unroll
    for (unsigned i = 0; i < sizeof(word); i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

/* Bitmap word `index`, without the bits behind the last arena word. */
static __device__ __forceinline__ uint64_t bits_at(const haul__gpu_patch &patch, uint64_t index)
{
    uint64_t first = index * 64;
    if (first >= patch.words)
        return 0;
    uint64_t left = patch.words - first;
    return left >= 64 ? patch.bitmap[index] : patch.bitmap[index] & (((uint64_t)1 << left) - 1);
}

/* ---- In place. */

/* The arena words of one group of bitmap words; `lane` has two of each. */
template <typename word>
static __device__ __forceinline__ void relocate_group(const haul__gpu_patch &patch, uint64_t group,
                                                      unsigned lane)
{
    uint64_t bits[group_words], any = 0;
    bool outside = false;
    word *arena = (word *)patch.arena + group * group_words * 64 + lane;
    word values[2 * group_words];
#pragma unroll
    for (unsigned i = 0; i < group_words; i++)
        any |= bits[i] = bits_at(patch, group * group_words + i);
    if (any == 0)
        return;
#pragma unroll
    for (unsigned i = 0; i < 2 * group_words; i++)
        values[i] = bits[i / 2] >> (lane + i % 2 * warp) & 1 ? arena[i * warp] : 0;
#pragma unroll
    for (unsigned i = 0; i < 2 * group_words; i++) {
        word value = patched(values[i], patch);
        outside |= values[i] != 0 && !is_inside(values[i], patch);
        if (value != values[i])
            arena[i * warp] = value;
    }
    tell_outside(patch, outside);
}

template <typename word>
static __global__ void __launch_bounds__(block_threads) relocate(const haul__gpu_patch patch)
{
    uint64_t thread = (uint64_t)blockIdx.x * block_threads + threadIdx.x,
             threads = (uint64_t)gridDim.x * block_threads;
    uint64_t group, groups = (patch.words + 64 * group_words - 1) / (64 * group_words), i;
    for (group = thread / warp; group < groups; group += threads / warp)
        relocate_group<word>(patch, group, threadIdx.x % warp);
    for (i = thread; i < patch.offset_count; i += threads) {
        unsigned char *at = patch.arena + patch.offsets[i];
        word value = load_unaligned<word>(at);
        tell_outside(patch, value != 0 && !is_inside(value, patch));
        store_unaligned<word>(at, patched(value, patch));
    }
}

/* ---- On the way. */

/* A vector of 16 bytes, patched. Its first word is number `first` of the arena. */
template <typename word>
static __device__ __forceinline__ uint4 patched_vector(uint4 bytes, uint64_t first, uint64_t bits,
                                                       const haul__gpu_patch &patch)
{
    const unsigned words = vector_bytes / sizeof(word);
    union {
        uint4 bytes;
        word word_of[words];
    } both = { bytes };
#pragma unroll
    for (unsigned i = 0; i < words; i++)
        if (first + i < patch.words && bits >> (first + i) % 64 & 1)
            both.word_of[i] = patched(both.word_of[i], patch);
    return both.bytes;
}

/* Patches the bytes of explicit relocations in [begin, begin + piece_bytes). Each pointer is loaded
 * whole from the source. */
template <typename word>
static __device__ __forceinline__ void patch_offsets_in_piece(unsigned char *piece, uint64_t begin,
                                                              const haul__gpu_patch &patch,
                                                              const unsigned char *from)
{
    for (uint64_t i = threadIdx.x; i < patch.offset_count; i += block_threads) {
        uint64_t at = patch.offsets[i];
        if (at >= begin + piece_bytes || at + sizeof(word) <= begin)
            continue;
        word value = patched(load_unaligned<word>(from + at), patch);
#pragma unroll
        for (unsigned b = 0; b < sizeof(word); b++)
            if (at + b >= begin && at + b < begin + piece_bytes)
                piece[at + b - begin] = (unsigned char)(value >> 8 * b);
    }
}

/* The last vector may be incomplete; its bytes are moved one by one. */
union vector_of_bytes {
    uint4 vector;
    unsigned char bytes[vector_bytes];
};

static __device__ __forceinline__ uint4 load_vector(const unsigned char *from, uint64_t at,
                                                    uint64_t bytes)
{
    if (at + vector_bytes <= bytes)
        return *(const uint4 *)(from + at);
    vector_of_bytes both = {};
#pragma unroll
    for (unsigned i = 0; i < vector_bytes; i++)
        both.bytes[i] = at + i < bytes ? from[at + i] : 0;
    return both.vector;
}

static __device__ __forceinline__ void store_vector(unsigned char *to, uint64_t at, uint64_t bytes,
                                                    uint4 vector)
{
    if (at + vector_bytes <= bytes) {
        *(uint4 *)(to + at) = vector;
        return;
    }
    vector_of_bytes both = { vector };
#pragma unroll
    for (unsigned i = 0; i < vector_bytes; i++)
        if (at + i < bytes)
            to[at + i] = both.bytes[i];
}

template <typename word>
static __global__ void __launch_bounds__(block_threads)
    send(const haul__gpu_patch patch, const unsigned char *from, const uint64_t bytes)
{
    __shared__ uint4 piece[block_threads];
    uint64_t begin = (uint64_t)blockIdx.x * piece_bytes, at = begin + threadIdx.x * vector_bytes;
    uint64_t first = at / sizeof(word), bits = first < patch.words ? patch.bitmap[first / 64] : 0;
    uint4 vector = load_vector(from, at, bytes);
    vector = patched_vector<word>(vector, first, bits, patch);
    if (patch.offset_count > 0) {
        piece[threadIdx.x] = vector;
        __syncthreads();
        patch_offsets_in_piece<word>((unsigned char *)piece, begin, patch, from);
        __syncthreads();
        vector = piece[threadIdx.x];
    }
    store_vector(patch.arena, at, bytes, vector);
}

/* ---- Between the arena and the host's objects. */

/* `sharers` threads share a segment: together they load a line of the bus. More: more of them idle
 * in small objects. Each loads `asked_for` vectors before it uses the first. More: more loads under
 * way in large objects, and more registers. */
static const unsigned sharers = 8;
static const unsigned asked_for = 4;
static const unsigned stride = sharers * vector_bytes;

union vector_of_words {
    uint4 vector;
    uint64_t words[2];
};

/* The pointers among the two words of the vector at byte `at` of a segment, a bit for each. */
static __device__ __forceinline__ unsigned slots_at(const haul_segment &segment, unsigned at)
{
    return at / 8 < 64 ? segment.slots >> at / 8 & 3 : 0;
}

/* A vector of a segment, as it goes to the arena: pointers translated, bytes that do not cross
 * 0. */
static __device__ __forceinline__ uint4 attached(uint4 vector, unsigned at,
                                                 const haul_segment &segment,
                                                 const haul__gpu_crossing &crossing)
{
    unsigned slots = slots_at(segment, at);
    vector_of_bytes bytes = { vector };
    if (segment.mask != UINT16_MAX)
#pragma unroll
        for (unsigned i = 0; i < vector_bytes; i++)
            bytes.bytes[i] = segment.mask >> i & 1 ? bytes.bytes[i] : 0;
    if (slots == 0)
        return bytes.vector;
    vector_of_words on_host = { vector }, in_arena = { bytes.vector };
    const haul_attachment *next = crossing.attachments + segment.first +
                                  __popcll(segment.slots & (((uint64_t)1 << at / 8) - 1));
#pragma unroll
    for (unsigned i = 0; i < 2; i++)
        if (slots >> i & 1) {
            ulonglong2 attachment = __ldg((const ulonglong2 *)next++);
            if (on_host.words[i] != attachment.x) {
                *(volatile uint32_t *)crossing.changed = 1;
                __threadfence_system();
            }
            in_arena.words[i] = attachment.y;
        }
    return in_arena.vector;
}

static __device__ __forceinline__ void pull_segment(const haul__gpu_crossing &crossing,
                                                    const haul_segment &segment, unsigned lane)
{
    const unsigned char *from = (const unsigned char *)(uintptr_t)segment.from;
    unsigned char *to = crossing.arena + segment.to;
    for (unsigned at = lane * vector_bytes; at < segment.bytes; at += asked_for * stride) {
        uint4 vectors[asked_for];
#pragma unroll
        for (unsigned i = 0; i < asked_for; i++)
            if (at + i * stride < segment.bytes)
                vectors[i] = __ldcv((const uint4 *)(from + at + i * stride));
#pragma unroll
        for (unsigned i = 0; i < asked_for; i++)
            if (at + i * stride < segment.bytes)
                *(uint4 *)(to + at + i * stride) =
                    attached(vectors[i], at + i * stride, segment, crossing);
    }
}

/* Writes to the host only bytes that cross. */
static __device__ __forceinline__ void store_data(unsigned char *to, uint4 vector, unsigned slots,
                                                  uint32_t mask)
{
    vector_of_words words = { vector };
    vector_of_bytes bytes = { vector };
    if (slots == 0 && mask == UINT16_MAX)
        *(uint4 *)to = vector;
    else if (mask == UINT16_MAX) {
#pragma unroll
        for (unsigned i = 0; i < 2; i++)
            if (!(slots >> i & 1))
                *(uint64_t *)(to + i * 8) = words.words[i];
    } else {
#pragma unroll
        for (unsigned i = 0; i < vector_bytes; i++)
            if ((mask >> i & 1) && !(slots >> i / 8 & 1))
                to[i] = bytes.bytes[i];
    }
}

static __device__ __forceinline__ void push_segment(const haul__gpu_crossing &crossing,
                                                    const haul_segment &segment, unsigned lane)
{
    unsigned char *to = (unsigned char *)(uintptr_t)segment.from;
    const unsigned char *from = crossing.arena + segment.to;
#pragma unroll 4
    for (unsigned at = lane * vector_bytes; at < segment.bytes; at += stride)
        store_data(to + at, *(const uint4 *)(from + at), slots_at(segment, at), segment.mask);
}

/* Counts the ended blocks; the last one writes the number. When the host sees the number, it sees
 * all writes of all blocks. */
template <bool to_host>
static __device__ __forceinline__ void give_answer(const haul__gpu_answer &answer)
{
    __syncthreads();
    if (!answer.where || threadIdx.x != 0)
        return;
    if (to_host)
        __threadfence_system();
    else
        __threadfence();
    if (atomicAdd(answer.done, 1) != gridDim.x - 1)
        return;
    *answer.done = 0;
    __threadfence_system();
    *(volatile uint32_t *)answer.where = answer.number;
}

/* Loads by the read-only path: the lists do not change while a kernel runs. */
static __device__ __forceinline__ haul_segment load_segment(const haul_segment *at)
{
    union {
        uint4 halves[2];
        haul_segment segment;
    } both = { { __ldg((const uint4 *)at), __ldg((const uint4 *)at + 1) } };
    return both.segment;
}

template <bool to_host>
static __global__ void __launch_bounds__(block_threads) cross(const haul__gpu_crossing crossing)
{
    uint64_t thread = (uint64_t)blockIdx.x * block_threads + threadIdx.x,
             threads = (uint64_t)gridDim.x * block_threads;
    for (uint64_t i = thread / sharers; i < crossing.segment_count; i += threads / sharers)
        if (to_host)
            push_segment(crossing, load_segment(&crossing.segments[i]), threadIdx.x % sharers);
        else
            pull_segment(crossing, load_segment(&crossing.segments[i]), threadIdx.x % sharers);
    give_answer<to_host>(crossing.answer);
}

/* ---- Strips. */

template <typename word, bool to_host>
static __device__ __forceinline__ void move_strip(const haul_strip &strip, unsigned char *packed,
                                                  unsigned lane)
{
    const unsigned words = strip.bytes / sizeof(word), all = words * strip.count;
    word *buffer = (word *)(packed + strip.packed);
#pragma unroll 4
    for (unsigned i = lane; i < all; i += warp) {
        word *at = (word *)(strip.first + i / words * strip.stride) + i % words;
        if (to_host)
            buffer[i] = *at;
        else
            *at = buffer[i];
    }
}

template <bool to_host>
static __global__ void __launch_bounds__(block_threads)
    move_strips(const haul_strip *strips, const uint64_t count, unsigned char *packed)
{
    const unsigned lane = threadIdx.x % warp;
    uint64_t i = ((uint64_t)blockIdx.x * block_threads + threadIdx.x) / warp,
             warps = (uint64_t)gridDim.x * (block_threads / warp);
    for (; i < count; i += warps) {
        const haul_strip strip = strips[i];
        const uint64_t all =
            strip.first | strip.stride | strip.packed | strip.bytes | (uint64_t)(uintptr_t)packed;
        if (all % 8 == 0)
            move_strip<uint64_t, to_host>(strip, packed, lane);
        else if (all % 4 == 0)
            move_strip<uint32_t, to_host>(strip, packed, lane);
        else
            move_strip<unsigned char, to_host>(strip, packed, lane);
    }
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* ---- Launches. */

extern "C" cudaError_t haul__gpu_kernels_load(void)
{
    const void *kernels[] = { (const void *)relocate<uint64_t>, (const void *)relocate<uint32_t>,
                              (const void *)send<uint64_t>,     (const void *)send<uint32_t>,
                              (const void *)cross<false>,       (const void *)cross<true>,
                              (const void *)move_strips<false>, (const void *)move_strips<true> };
    cudaFuncAttributes attributes;
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; i < sizeof kernels / sizeof kernels[0] && error == cudaSuccess; i++)
        error = cudaFuncGetAttributes(&attributes, kernels[i]);
    return error;
}

extern "C" cudaError_t haul__gpu_kernels_relocate(const haul__gpu_patch *patch, unsigned word_bytes,
                                                  int processors, cudaStream_t stream)
{
    const void *kernel =
        word_bytes == 8 ? (const void *)relocate<uint64_t> : (const void *)relocate<uint32_t>;
    void *arguments[] = { (void *)patch };
    uint64_t for_words = divide_up(patch->words, 64 * group_words * (block_threads / warp));
    uint64_t blocks = divide_up(patch->offset_count, block_threads),
             most = (uint64_t)processors * blocks_per_processor;
    if (blocks < for_words)
        blocks = for_words;
    if (blocks > most)
        blocks = most;
    return cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3(block_threads), arguments, 0,
                            stream);
}

extern "C" cudaError_t haul__gpu_kernels_send(const haul__gpu_patch *patch, unsigned word_bytes,
                                              const unsigned char *from, uint64_t bytes,
                                              cudaStream_t stream)
{
    const void *kernel =
        word_bytes == 8 ? (const void *)send<uint64_t> : (const void *)send<uint32_t>;
    void *arguments[] = { (void *)patch, (void *)&from, (void *)&bytes };
    uint64_t blocks = divide_up(bytes, piece_bytes);
    return cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3(block_threads), arguments, 0,
                            stream);
}

extern "C" cudaError_t haul__gpu_kernels_cross(const haul__gpu_crossing *crossing, int processors,
                                               cudaStream_t stream)
{
    const void *kernel = crossing->changed ? (const void *)cross<false> : (const void *)cross<true>;
    void *arguments[] = { (void *)crossing };
    uint64_t blocks = divide_up(crossing->segment_count, block_threads / sharers);
    uint64_t most = (uint64_t)processors * blocks_per_processor;
    return cudaLaunchKernel(kernel, dim3((unsigned)(blocks < most ? blocks : most)),
                            dim3(block_threads), arguments, 0, stream);
}

extern "C" cudaError_t haul__gpu_kernels_strips(const haul_strip *strips, uint64_t count,
                                                unsigned char *packed, int to_host, int processors,
                                                cudaStream_t stream)
{
    const void *kernel =
        to_host ? (const void *)move_strips<true> : (const void *)move_strips<false>;
    void *arguments[] = { (void *)&strips, (void *)&count, (void *)&packed };
    uint64_t blocks = divide_up(count, block_threads / warp);
    uint64_t most = (uint64_t)processors * blocks_per_processor;
    return cudaLaunchKernel(kernel, dim3((unsigned)(blocks < most ? blocks : most)),
                            dim3(block_threads), arguments, 0, stream);
}
