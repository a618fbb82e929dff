/* The arena of an image that is written, its bits, and the places of its roots.
 *
 * Most graphs are packed straight from the source (packing.c). If one turns out to need more, or if
 * the caller's memory does not hold the image and its size must be told, an ordered plan packs it.
 */
#include "image/writer.h"

#include "pack/bitmap.h"
#include "pack/pack.h"
#include "pack/plan.h"
#include "pack/translate.h"
#include "walk/discover.h"

haul_status haul__writer_lacks_memory(const haul__writer *w)
{
    return haul__fail(&w->context->error, HAUL_ERROR_MEMORY, "out of memory for an image");
}

haul_status haul__writer_lacks_room(const haul__writer *w)
{
    return haul__fail(&w->context->error, HAUL_ERROR_ARGUMENT,
                      "the memory has %zu bytes, and the image needs %zu", w->memory_bytes,
                      (size_t)w->head.bytes);
}

static int is_straight(const haul__writer *w)
{
    return w->straight.bytes > 0;
}

static haul_status refuse_root(const haul__writer *w, size_t i)
{
    return haul__fail(&w->context->error, HAUL_ERROR_UNSUPPORTED,
                      "no byte of root %zu travels: an image has nothing of it", i);
}

/* A graph that has a root here has a granule: the arena and the bitmap are not empty. A root whose
 * type has nothing is refused at once: at its address another object may begin or end. */
static haul_status list_roots(haul__writer *w, const haul_root *roots)
{
    size_t i;
    w->roots = haul__allocate_zeroed(&w->context->allocator, w->root_count * sizeof *w->roots);
    if (!w->roots)
        return haul__writer_lacks_memory(w);
    for (i = 0; i < w->root_count; i++) {
        haul__image_root *root = &w->roots[i];
        if (haul__type_walk(roots[i].type)->true_upper == 0)
            return refuse_root(w, i);
        root->count = roots[i].count;
        root->type = haul__type_text_number(&w->text, roots[i].type);
    }
    return HAUL_OK;
}

/* The first byte of a root that travels, if any does. */
static uintptr_t address_of_root(const haul_root *root)
{
    return (uintptr_t)root->address + haul__type_walk(root->type)->true_lower;
}

static haul_status place_roots(haul__writer *w)
{
    const haul_root *roots = haul__plan_roots(w->plan, &w->root_count);
    size_t i;
    for (i = 0; i < w->root_count; i++)
        if (!haul__offset_of(w->plan, address_of_root(&roots[i]), &w->roots[i].offset))
            return refuse_root(w, i);
    return HAUL_OK;
}

static haul_status place_roots_straight(haul__writer *w, int *is_crooked)
{
    const haul_root *roots = haul__plan_roots(w->plan, &w->root_count);
    size_t i;
    if (w->root_count > 1 && !haul__straight_index(&w->straight))
        return haul__writer_lacks_memory(w);
    for (i = 0; i < w->root_count; i++) {
        w->roots[i].offset = haul__straight_find(&w->straight, address_of_root(&roots[i]));
        *is_crooked |= !w->roots[i].offset; /* it is no range */
    }
    return HAUL_OK;
}

/* Where the arena begins in the image, when all before it is known. */
static uint64_t arena_offset(const haul__writer *w)
{
    const size_t bytes[HAUL__SECTION_ARENA] = {
        [HAUL__SECTION_TYPES] = w->text.text.count,
        [HAUL__SECTION_ROOTS] = w->root_count * sizeof *w->roots,
        [HAUL__SECTION_WORDS] = w->word_count * sizeof *w->words,
        [HAUL__SECTION_BITS] = w->bitmap_bytes,
    };
    uint64_t end = sizeof w->head + (w->word_count > 0 ? 5 : 4) * sizeof *w->sections;
    uint32_t kind;
    for (kind = HAUL__SECTION_TYPES; kind < HAUL__SECTION_ARENA; kind++)
        if (bytes[kind] > 0)
            end = haul__section_begin(kind, bytes[kind], end) + bytes[kind];
    return haul__section_begin(HAUL__SECTION_ARENA, w->arena_bytes, end);
}

/* What an offset in the arena is added to: pointers become offsets, or addresses in an image with
 * an address of its own. */
static haul_status find_base(haul__writer *w, size_t alignment, uint64_t *base)
{
    const uint64_t offset = arena_offset(w);
    haul_error *error = &w->context->error;
    *base = 0;
    if (!w->address)
        return HAUL_OK;
    if (offset + w->arena_bytes > UINTPTR_MAX - w->address)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->address is 0x%zx, and the image does not fit behind it",
                          (size_t)w->address);
    if (offset % alignment)
        return haul__fail(
            error, HAUL_ERROR_UNSUPPORTED,
            "an arena of %zu bytes with an alignment of %zu has no address of its own",
            w->arena_bytes, alignment);
    *base = w->address + offset;
    return HAUL_OK;
}

/* Memory for the arena, and for its bits. */
static int take_memory(haul__writer *w, size_t bytes, size_t alignment)
{
    w->arena_bytes = bytes;
    w->bitmap_bytes = (((bytes >> HAUL__WORD_SHIFT) + 63) / 64) * sizeof *w->bitmap;
    w->head.alignment = alignment;
    w->bitmap = haul__allocate(&w->context->allocator, w->bitmap_bytes, sizeof *w->bitmap);
    return w->bitmap != NULL;
}

/* The caller's memory is too small for the image, whose sections are known. */
static int exceeds_memory(haul__writer *w)
{
    w->head.bytes = arena_offset(w) + w->arena_bytes;
    return w->memory && !w->compression && w->head.bytes > w->memory_bytes;
}

/* In the caller's memory the arena has its own place. For a file, only what is not written from the
 * source needs memory. */
static haul_status find_arena(haul__writer *w, unsigned char **arena)
{
    if (w->memory && !w->compression) {
        *arena = w->memory + arena_offset(w);
        return HAUL_OK;
    }
    if (!w->compression)
        return HAUL_OK;
    w->arena = haul__allocate(&w->context->allocator, w->arena_bytes, (size_t)w->head.alignment);
    *arena = w->arena;
    return w->arena ? HAUL_OK : haul__writer_lacks_memory(w);
}

void haul__writer_release_arena(haul__writer *w)
{
    const haul_allocator *allocator = &w->context->allocator;
    haul__release(allocator, w->arena, w->arena_bytes);
    haul__release(allocator, w->bitmap, w->bitmap_bytes);
    w->arena = NULL;
    w->bitmap = NULL;
    haul__packing_close(&w->packing, w->context);
}

static haul_status pack_straight(haul__writer *w, int *is_crooked)
{
    haul__packing *p = &w->packing;
    haul_status status = place_roots_straight(w, is_crooked);
    if (status != HAUL_OK || *is_crooked)
        return status;
    if (!take_memory(w, (size_t)w->straight.bytes, w->straight.alignment))
        return haul__writer_lacks_memory(w);
    p->context = w->context;
    p->straight = &w->straight;
    p->bitmap = w->bitmap;
    p->is_hashed = !w->compression;
    if (exceeds_memory(w)) {
        *is_crooked = 1; /* perhaps; an ordered plan tells the size for certain */
        return HAUL_OK;
    }
    status = find_base(w, w->straight.alignment, &p->base);
    if (status == HAUL_OK)
        status = find_arena(w, &p->arena);
    if (status == HAUL_OK && haul__pack_straight(p, is_crooked) != HAUL_OK)
        status = haul__writer_lacks_memory(w);
    return status;
}

static haul_status pack_ordered(haul__writer *w)
{
    const haul_allocator *allocator = &w->context->allocator;
    const size_t alignment = haul__plan_alignment(w->plan);
    uint64_t base;
    haul_status status = place_roots(w);
    if (status != HAUL_OK)
        return status;
    w->word_room = haul__plan_words_most(w->plan) + 1;
    w->words = haul__allocate_zeroed(allocator, w->word_room * sizeof *w->words);
    if (!w->words || !take_memory(w, haul__plan_bytes(w->plan), alignment))
        return haul__writer_lacks_memory(w);
    w->arena = haul__allocate(allocator, w->arena_bytes, alignment);
    if (!w->arena)
        return haul__writer_lacks_memory(w);
    haul__plan_bitmap(w->plan, 0, w->bitmap_bytes / sizeof *w->bitmap, w->bitmap);
    w->word_count = haul__plan_words(w->plan, w->bitmap, w->words);
    if (exceeds_memory(w))
        return haul__writer_lacks_room(w);
    status = find_base(w, alignment, &base);
    return status == HAUL_OK ? haul__gather(w->plan, w->arena, base,
                                            w->address ? base : HAUL__IMAGE_BELOW, 0, NULL)
                             : status;
}

/* As it lies: nothing is translated but the pointers that its bits tell. */
static haul_status pack_lying(haul__writer *w)
{
    haul__packing *p = &w->packing;
    const haul__lying *lying = &w->lying;
    haul_status status = list_roots(w, &w->lying_root);
    if (status != HAUL_OK)
        return status;
    w->roots[0].offset =
        lying->before + (address_of_root(&w->lying_root) - (uintptr_t)lying->contents.base);
    if (!take_memory(w, haul__lying_bytes(lying), lying->before))
        return haul__writer_lacks_memory(w);
    if (exceeds_memory(w))
        return haul__writer_lacks_room(w);
    p->context = w->context;
    p->bitmap = w->bitmap;
    p->is_hashed = !w->compression;
    status = find_base(w, lying->before, &p->base);
    if (status == HAUL_OK)
        status = find_arena(w, &p->arena);
    if (status == HAUL_OK)
        status = haul__pack_lying(p, lying);
    return status == HAUL_ERROR_MEMORY ? haul__writer_lacks_memory(w) : status;
}

haul_status haul__writer_pack(haul__writer *w)
{
    int is_crooked = 0;
    const haul_root *roots;
    haul_status status;
    if (w->lying.contents.arena)
        return pack_lying(w);
    roots = haul__plan_roots(w->plan, &w->root_count);
    status = list_roots(w, roots);
    if (status == HAUL_OK && is_straight(w)) {
        status = pack_straight(w, &is_crooked);
        if (status != HAUL_OK || !is_crooked)
            return status;
        haul__writer_release_arena(w);
        haul__notes_forget(w->context, &w->context->packed);
        status = haul__plan_order(w->plan, &w->straight);
    }
    return status == HAUL_OK ? pack_ordered(w) : status;
}
