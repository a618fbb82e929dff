/* Packing: a plan, its figures, the arena that it makes in any memory, and the way back.
 */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "support/short_forms.h"

int trial_is_pointer(const reference_slot *s)
{
    return s->kind != SLOT_KEPT && s->kind != SLOT_DISTANCE;
}

static int check_statistics(trial *t)
{
    haul_plan_info s;
    size_t nulls = 0, pointers = 0;
    haul_plan_get_info(t->plan, &s);
    for (size_t i = 0; i < t->host.slot_count; i++) {
        nulls += t->host.slots[i].kind == SLOT_NULL;
        pointers += trial_is_pointer(&t->host.slots[i]) ? 1 : 0;
    }
    if (s.pointers != pointers)
        return trial_fail(t, "statistics: %zu pointers, not %zu", s.pointers, pointers);
    if (s.null_pointers != nulls)
        return trial_fail(t, "statistics: %zu null pointers, not %zu", s.null_pointers, nulls);
    if (s.graph_bytes != t->host.bytes)
        return trial_fail(t, "statistics: %zu graph bytes, not %zu", s.graph_bytes, t->host.bytes);
    if (s.arena_bytes != plan_bytes(t->plan) || s.bitmap_bytes != plan_bitmap_bytes(t->plan))
        return trial_fail(t, "statistics: other sizes than the plan's");
    return 1;
}

int trial_plan(trial *t)
{
    haul_status status;
    t->is_ordered = chance(t->c, 1, 3);
    t->lets_change = chance(t->c, 1, 2);
    status = t->is_ordered
                 ? haul_plan_create(t->context, haul_from_roots(t->g.roots, t->g.root_count),
                                    ORDERED, &t->plan)
                 : haul_plan_create(t->context, haul_from_roots(t->g.roots, t->g.root_count), NULL,
                                    &t->plan);
    if (status != HAUL_OK)
        return trial_fail(t, "plan: %s", haul_status_name(status));
    if (t->world->oracle.wrong_roots != 0)
        return trial_fail(t, "plan: a callback was given a root that is none");
    return trial_source_is_unchanged(t, "plan");
}

static unsigned char *aligned_memory(size_t bytes, size_t alignment, unsigned char **memory)
{
    *memory = must(malloc(bytes + alignment));
    return *memory + (alignment - (uintptr_t)*memory % alignment) % alignment;
}

/* With tags, what becomes of a pointer to no elements may hang on where the arena lies: bases alike
 * in all bits that an alignment can leave free. */
static size_t base_alignment(const trial *t)
{
    return t->model->has_high_tags ? HAUL_ALIGNMENT_MAX : plan_alignment(t->plan);
}

int trial_has_zero_distance(const trial *t)
{
    for (size_t i = 0; i < t->host.slot_count; i++) {
        const reference_slot *s = &t->host.slots[i];
        size_t at, target;
        if (s->kind == SLOT_DISTANCE && s->target != NULL &&
            haul_plan_offset(t->plan, s->at, &at) == HAUL_OK &&
            haul_plan_offset(t->plan, s->target, &target) == HAUL_OK && target + s->lead == at)
            return 1;
    }
    return 0;
}

int trial_refuses_zero_distance(trial *t)
{
    size_t bytes = plan_bytes(t->plan);
    unsigned char *memory, *arena = aligned_memory(bytes + 1, plan_alignment(t->plan), &memory);
    haul_status status = haul_plan_pack(t->plan, arena, bytes, 0, NULL);
    free(memory);
    if (status != HAUL_ERROR_LIMIT || haul_context_error(t->context)->path[0] == '\0')
        return trial_fail(t, "pack with a distance that is 0 in the copy: %s",
                          haul_status_name(status));
    return trial_source_is_unchanged(t, "refused pack");
}

const void *trial_first_described(const trial *t, const void *element)
{
    uintptr_t at = (uintptr_t)element;
    for (size_t i = 0; i < t->host.all_count; i++)
        if (t->host.all[i].host + t->host.all[i].bytes > at)
            return (const void *)(t->host.all[i].host > at ? t->host.all[i].host : at);
    return element;
}

static int place_of_arena(trial *t, reference_place *place)
{
    place->first = (uintptr_t)t->arena;
    place->bytes = t->bytes;
    place->is_ordered = t->is_ordered;
    for (size_t i = 0; i < t->g.root_count; i++) {
        size_t offset;
        const void *first = trial_first_described(t, t->g.roots[i].address);
        if (haul_plan_offset(t->plan, first, &offset) != HAUL_OK)
            return trial_fail(t, "haul_plan_offset: no offset for a root");
        place->roots[i] =
            (uintptr_t)t->arena + offset - ((uintptr_t)first - (uintptr_t)t->g.roots[i].address);
    }
    return 1;
}

int trial_pack(trial *t)
{
    reference_place place = { { 0 }, 0, 0, BARS_ALL, 0 };
    size_t words = plan_bitmap_bytes(t->plan) / 8;
    uint64_t *bitmap = must(malloc(words * 8 + 8));
    haul_status status;
    t->bytes = plan_bytes(t->plan);
    t->arena = aligned_memory(t->bytes, base_alignment(t), &t->arena_memory);
    memset(t->arena, 0xA5, t->bytes);
    status = haul_plan_pack(t->plan, t->arena, t->bytes, (uint64_t)(uintptr_t)t->arena,
                            chance(t->c, 1, 2) ? bitmap : NULL);
    free(bitmap);
    if (status != HAUL_OK)
        return trial_fail(t, "pack: %s", haul_status_name(status));
    if (!trial_source_is_unchanged(t, "pack") || !place_of_arena(t, &place))
        return 0;
    if (!reference_walk(&t->g, &place, &t->packed) ||
        !reference_rest_is_zero(&t->packed, t->arena, t->bytes))
        return trial_fail(t, "pack: %s", t->packed.wrong);
    return check_statistics(t);
}

/* haul_plan_relocate leaves some pointers to the plan: those without a bit, because they lie off
 * the grid or have tags or biases. */
static void relocate_explicit(trial *t, unsigned char *arena, const uint64_t *bitmap, uintptr_t by)
{
    for (size_t i = 0; i < t->packed.slot_count; i++) {
        const reference_slot *s = &t->packed.slots[i];
        size_t offset = (size_t)(s->copy - (uintptr_t)t->arena), word = offset / sizeof(void *);
        unsigned char *at = arena + offset;
        int has_bit = offset % sizeof(void *) == 0 && (bitmap[word / 64] >> (word % 64) & 1);
        uintptr_t value = (uintptr_t)graph_read_pointer(at);
        if (trial_is_pointer(s) && (value & ~s->high_tags) != 0 && !has_bit)
            graph_write_pointer(at, (void *)(value + by));
    }
}

int trial_pack_again(trial *t)
{
    size_t bitmap_bytes = plan_bitmap_bytes(t->plan);
    unsigned char *memory, *again = aligned_memory(t->bytes, base_alignment(t), &memory);
    uint64_t *bitmap = must(malloc(bitmap_bytes + 8));
    uint64_t low = t->model->has_high_tags ? HAUL_OUTSIDE_MAX : 0; /* tags leave no room below 0 */
    uint64_t rest = (uint64_t)(uintptr_t)t->arena - low;
    int good = 1;
    memset(again, 0x5A, t->bytes);
    memset(bitmap, 0x5A, bitmap_bytes + 8);
    if (haul_plan_pack(t->plan, again, t->bytes - 1, 1u << 20, bitmap) != HAUL_ERROR_ARGUMENT)
        good = trial_fail(t, "pack: one byte too little is accepted");
    else if (haul_plan_pack(t->plan, again, t->bytes, (uint64_t)(uintptr_t)t->arena, bitmap) !=
             HAUL_OK)
        good = trial_fail(t, "pack: a second time");
    else if (memcmp(again, t->arena, t->bytes) != 0)
        good = trial_fail(t, "pack: other bytes when packed into other memory");
    else if (haul_plan_pack(t->plan, again, t->bytes, low, bitmap) != HAUL_OK)
        good = trial_fail(t, "pack: with a low base");
    else if (bitmap[bitmap_bytes / 8] != UINT64_C(0x5A5A5A5A5A5A5A5A))
        good = trial_fail(t, "pack: writes behind the bitmap");
    else if (haul_plan_relocate(again, t->bytes, bitmap, rest) != HAUL_OK)
        good = trial_fail(t, "relocate");
    relocate_explicit(t, again, bitmap, (uintptr_t)rest);
    if (good && memcmp(again, t->arena, t->bytes) != 0)
        good = trial_fail(t, "relocate: other bytes than packing with the base");
    free(bitmap);
    free(memory);
    return good;
}

static int is_slot_value(const trial *t, const void *address)
{
    for (size_t i = 0; i < t->host.slot_count; i++)
        if (t->host.slots[i].value == address)
            return 1;
    return 0;
}

int trial_look_up_described(trial *t)
{
    for (unsigned i = 0; i < 24 && t->packed.all_count != 0; i++) {
        const reference_range *r = &t->packed.all[random_word(&t->c->filler) % t->packed.all_count];
        size_t at = i % 4 == 3 ? r->bytes : (size_t)(random_word(&t->c->filler) % r->bytes),
               offset = 0;
        void *back = NULL;
        if (haul_plan_offset(t->plan, (const void *)(r->host + at), &offset) != HAUL_OK)
            return trial_fail(t, "haul_plan_offset: %p has none", (void *)(r->host + at));
        if (t->is_ordered && at == r->bytes &&
            haul_plan_address(t->plan, offset, &back) == HAUL_OK && (uintptr_t)back == r->host + at)
            continue; /* something else may begin there */
        if (offset != r->copy + at - (uintptr_t)t->arena)
            return trial_fail(t, "haul_plan_offset: %p, byte %zu of %zu", (void *)(r->host + at),
                              at, r->bytes);
        if (at < r->bytes && (haul_plan_address(t->plan, offset, &back) != HAUL_OK ||
                              (uintptr_t)back != r->host + at))
            return trial_fail(t, "haul_plan_address: offset %zu is %p, not %p", offset, back,
                              (void *)(r->host + at));
    }
    return 1;
}

/* A kernel starts at a root, whatever its first field is. */
int trial_look_up_roots(trial *t)
{
    for (size_t i = 0; i < t->g.root_count; i++) {
        size_t offset = 0;
        reference_place place = { { 0 }, 0, 0, BARS_ALL, 0 };
        if (t->model->type[t->g.root_type[i]].form != FORM_STRUCT)
            continue;
        if (!place_of_arena(t, &place))
            return 0;
        if (haul_plan_offset(t->plan, t->g.roots[i].address, &offset) != HAUL_OK ||
            place.roots[i] != (uintptr_t)t->arena + offset)
            return trial_fail(t, "haul_plan_offset: of root %zu", i);
    }
    return 1;
}

int trial_look_up_others(trial *t)
{
    void *back;
    for (unsigned i = 0; i < 24; i++) {
        const graph_block *b = &t->g.blocks[random_word(&t->c->filler) % t->g.block_count];
        uintptr_t at = (uintptr_t)b->memory + (size_t)(random_word(&t->c->filler) % b->bytes), copy;
        size_t offset = 0;
        /* holes, and what shares a granule with them, have places */
        if (t->host.has_holes || t->host.has_parts)
            break;
        if (reference_find(&t->packed, at, &copy) || reference_find(&t->packed, at - 1, &copy) ||
            is_slot_value(t, (const void *)at))
            continue;
        if (haul_plan_offset(t->plan, (const void *)at, &offset) == HAUL_OK)
            return trial_fail(t, "haul_plan_offset: answers for %p, which is no byte of the graph",
                              (void *)at);
    }
    for (size_t offset = 0; offset < 2 * sizeof(void *); offset++)
        if (haul_plan_address(t->plan, offset, &back) == HAUL_OK)
            return trial_fail(t, "haul_plan_address: answers for offset %zu", offset);
    return 1;
}

int trial_unpack(trial *t)
{
    haul_status status;
    trial_change_copies(t, &t->packed, 1);
    status = haul_plan_unpack(t->plan, t->arena, t->bytes, t->lets_change);
    if (status != HAUL_OK)
        return trial_fail(t, "unpack: %s", haul_status_name(status));
    return trial_source_has_results(t, 0, UINTPTR_MAX, "unpack");
}
