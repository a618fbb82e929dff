/* Drawing graphs.
 *
 * Elements wait in a queue until their fields are filled in: counts first, then pointers, each of
 * which may put new elements into the queue. Once the budget is spent, pointers become null or
 * aliases wherever the description allows it; a fresh object is then made only for a target that
 * has none yet, so the queue runs dry.
 */
#include "graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t pointer_bytes = sizeof(void *);

static void *grown(void *at, size_t count, size_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return at;
    *capacity = *capacity != 0 ? 2 * *capacity : 16;
    at = realloc(at, *capacity * bytes);
    if (at == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return at;
}

static graph_region *add(graph_list *list, void *address, size_t count, size_t element_bytes)
{
    list->at = grown(list->at, list->count, &list->capacity, sizeof *list->at);
    graph_region *r = &list->at[list->count++];
    memset(r, 0, sizeof *r);
    r->address = address;
    r->count = count;
    r->element_bytes = element_bytes;
    r->type = -1;
    return r;
}

void *graph_read_pointer(const void *address)
{
    void *value;
    memcpy(&value, address, sizeof value);
    return value;
}

void graph_write_pointer(void *address, const void *value)
{
    memcpy(address, &value, sizeof value);
}

void graph_write(void *address, size_t bytes, int64_t value)
{
    uint8_t u1 = (uint8_t)value;
    uint16_t u2 = (uint16_t)value;
    uint32_t u4 = (uint32_t)value;
    const void *from = bytes == 1 ? (void *)&u1 : bytes == 2 ? (void *)&u2 : (void *)&u4;
    memcpy(address, bytes == 8 ? (const void *)&value : from, bytes);
}

uintptr_t graph_draw_tags(choices *c, uintptr_t tags, uint32_t low)
{
    uintptr_t drawn = tags & choose(c, low);
    if ((tags & HAUL_HIGH_TAGS) != 0)
        drawn |= tags & HAUL_HIGH_TAGS & (uintptr_t)choose(c, 65536) << 16 << 16 << 16;
    return drawn;
}

static int is_in(const void *address, size_t bytes, const void *first, size_t all)
{
    size_t at = (size_t)((uintptr_t)address - (uintptr_t)first);
    return at <= all && bytes <= all - at;
}

int graph_is_copied(const graph *g, const void *address)
{
    return is_in(address, 0, g->around->copied, STATIC_COPIED);
}

/* ---- Memory ---- */

static unsigned char *aligned(unsigned char *address, size_t alignment)
{
    size_t over = (size_t)((uintptr_t)address % alignment);
    return over != 0 ? address + (alignment - over) : address;
}

enum { ROW_BYTES = 4 << 20 };
enum { POOL_BYTES = 1 << 20, BORDER = 1 << 16 };

/* Memory from the pool: soon behind the last block, or so that a border of 64 KiB or of a page lies
 * in it. */
static unsigned char *from_pool(choices *c, graph *g, size_t bytes)
{
    unsigned char *at;
    if (g->pool == NULL || bytes + 3 * (size_t)BORDER > (size_t)(g->pool_end - g->pool))
        return NULL;
    at = g->pool + 16 + 16 * choose(c, 8); /* blocks never touch; what lies in one slab may */
    if (chance(c, 1, 4)) {
        size_t border = chance(c, 1, 3) ? BORDER : 4096,
               up_to_it = bytes / 16 < 250 ? bytes / 16 : 250;
        at = aligned(at, border) + border -
             16 * (chance(c, 1, 2) ? up_to_it : choose(c, (uint32_t)up_to_it + 1));
    }
    g->pool = aligned(at + bytes, 16);
    return at;
}

static int touches_another(const graph *g, uintptr_t memory, size_t bytes)
{
    for (size_t i = 0; i + 1 < g->block_count; i++) {
        uintptr_t other = (uintptr_t)g->blocks[i].memory;
        if (memory + bytes == other || other + g->blocks[i].bytes == memory)
            return 1;
    }
    return 0;
}

/* Some allocators put blocks side by side; then one past one could not be told from the start of
 * another. */
static unsigned char *from_malloc(const graph *g, size_t bytes)
{
    unsigned char *memory = malloc(bytes), *again;
    if (memory == NULL || !touches_another(g, (uintptr_t)memory, bytes))
        return memory;
    again = from_malloc(g, bytes);
    free(memory);
    return again;
}

/* `memory` NULL: from malloc. */
static unsigned char *add_block(choices *c, graph *g, unsigned char *memory, size_t bytes)
{
    g->blocks = grown(g->blocks, g->block_count, &g->block_capacity, sizeof *g->blocks);
    graph_block *b = &g->blocks[g->block_count++];
    b->memory = memory;
    b->pooled = b->memory != NULL;
    if (!b->pooled)
        b->memory = from_malloc(g, bytes);
    b->shadow = malloc(bytes);
    b->bytes = bytes;
    if (b->memory == NULL || b->shadow == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    fill(c, b->memory, bytes);
    return b->memory;
}

static unsigned char *new_block(choices *c, graph *g, size_t bytes)
{
    return add_block(c, g, from_pool(c, g, bytes), bytes);
}

/* A block with red zones of random bytes, or none behind it, where a sanitizer watches instead. */
static unsigned char *place_alone(choices *c, graph *g, size_t bytes, size_t alignment)
{
    size_t before = chance(c, 3, 4) ? 64 : 0, behind = chance(c, 1, 2) ? 64 : 0;
    size_t shift = alignment < 16 ? alignment * choose(c, (uint32_t)(16 / alignment)) : 0;
    size_t slack = alignment > 16 ? alignment : 0;
    unsigned char *memory = new_block(c, g, before + shift + slack + bytes + behind);
    return aligned(memory + before, alignment) + shift;
}

/* Memory of the static range that is copied; NULL: it is full. */
static unsigned char *place_static(choices *c, graph *g, size_t bytes, size_t alignment)
{
    unsigned char *address;
    if (g->statics == NULL) {
        g->statics = add_block(c, g, g->around->copied, STATIC_COPIED);
        g->statics_end = g->statics + STATIC_COPIED;
    }
    address = aligned(g->statics + choose(c, 40), alignment);
    if (address > g->statics_end || (size_t)(g->statics_end - address) < bytes)
        return NULL;
    g->statics = address + bytes;
    return address;
}

static unsigned char *place(choices *c, graph *g, size_t bytes, size_t alignment)
{
    unsigned char *fixed = g->is_static ? place_static(c, g, bytes, alignment) : NULL;
    if (g->model->is_plain && alignment < 8)
        alignment = 8;
    if (fixed != NULL)
        return fixed;
    g->left -= bytes + 16 < g->left ? bytes + 16 : g->left;
    if (!chance(c, 1, 3) || bytes > 2000 || alignment > 64)
        return place_alone(c, g, bytes, alignment);
    if (g->slab == NULL || (size_t)(g->slab_end - g->slab) < bytes + 4 * alignment) {
        g->slab = new_block(c, g, 8192);
        g->slab_end = g->slab + 8192;
    }
    unsigned char *address = aligned(g->slab, alignment) + alignment * choose(c, 3);
    g->slab = address + bytes;
    return address;
}

/* ---- Counts ---- */

static int64_t draw_count(choices *c, int64_t most)
{
    static const int64_t counts[] = { 0, 1, 2, 7, 1, 2, 3, 64 };
    int64_t n = chance(c, 1, 400) ? 4097 : counts[choose(c, 8)];
    return n < most ? n : most > 0 ? most : 0;
}

/* How many elements of so many bytes the budget allows for one array. */
static int64_t affordable(const graph *g, size_t bytes)
{
    return (int64_t)(g->left / 2 / (bytes != 0 ? bytes : 1));
}

static size_t unit_of(const model_field *f, unsigned level)
{
    return level + 1 == f->levels ? f->element_bytes : pointer_bytes;
}

/* A value for count field k that every shape which reads it can live with. */
static int64_t draw_count_field(choices *c, graph *g, const model_type *t, unsigned k)
{
    int64_t least = 0, most = t->field[k].bytes == 1 ? (t->field[k].is_signed ? 127 : 255) : 4097;
    for (unsigned i = 0; i < t->field_count; i++)
        for (unsigned level = 0; level < t->field[i].levels; level++) {
            const model_shape *s = &t->field[i].shape[level];
            for (unsigned j = 0; j < s->field_count && s->rule == RULE_COUNT; j++) {
                if (s->field[j] != k)
                    continue;
                size_t each =
                    unit_of(&t->field[i], level) * t->field[i].count * (size_t)(s->multiply + 1);
                int64_t cap = affordable(g, each);
                cap = s->field_count > 1 && cap > 3 ? 3 : cap;
                most = cap < most ? cap : most;
                least = -s->add > least ? -s->add : least;
            }
        }
    int64_t n = draw_count(c, most);
    return n > least ? n : least;
}

static int64_t counted(const model_type *t, const model_shape *s, const unsigned char *self)
{
    int64_t n = s->multiply;
    if (s->field_count == 0)
        return s->add;
    for (unsigned i = 0; i < s->field_count; i++) {
        const model_field *f = &t->field[s->field[i]];
        n *= model_read(self + f->offset, f->bytes, f->is_signed);
    }
    return n + s->add;
}

/* ---- Targets ---- */

static graph_region *some_region(choices *c, graph_list *list)
{
    size_t n = list->count < 65536 ? list->count : 65536;
    return n != 0 ? &list->at[choose(c, (uint32_t)n)] : NULL;
}

static size_t draw_start(choices *c, size_t room)
{
    return choose(c, room < 65535 ? (uint32_t)room + 1 : 65536);
}

/* In plain graphs, few pointers lead into what others lead to: one thread must find those. */
static int leads_to_wholes(choices *c, const graph *g)
{
    return g->model->is_plain && !(g->is_mixed_up && chance(c, 1, 16));
}

static unsigned char *alias_typed(choices *c, graph *g, int type, size_t n)
{
    graph_list *list = &g->typed[type];
    graph_region *r = some_region(c, list);
    if (leads_to_wholes(c, g)) {
        /* once the budget is spent, any that fits: else some graphs would grow without end */
        for (size_t i = 0; g->left == 0 && r != NULL && r->count != n && i < list->count; i++)
            r = &list->at[i];
        return r != NULL && r->count == n ? r->address : NULL;
    }
    for (size_t i = 0; r != NULL && r->count < n && i < list->count; i++)
        r = &list->at[i];
    if (r == NULL || r->count < n)
        return NULL;
    return r->address + draw_start(c, r->count - n) * r->element_bytes;
}

static size_t span_of(const model_type *t, size_t n)
{
    size_t upper = t->upper > t->true_upper ? t->upper : t->true_upper;
    return n == 0 ? 1 : (n - 1) * t->extent + upper;
}

static unsigned char *fresh_sized(choices *c, graph *g, int type);

/* Now and then with room for more. */
static unsigned char *fresh_typed(choices *c, graph *g, int type, size_t n)
{
    const model_type *t = &g->model->type[type];
    size_t more = chance(c, 1, 8) ? choose(c, 4) : 0;
    unsigned char *address;
    if (t->sizing != SIZE_FIXED)
        return fresh_sized(c, g, type);
    address = place(c, g, span_of(t, n + more), t->alignment);
    add(&g->typed[type], address, n, t->extent)->type = type;
    if (n != 0)
        add(&g->queue, address, n, t->extent)->type = type;
    return address;
}

static unsigned char *alias_plain(choices *c, graph *g, size_t bytes)
{
    for (unsigned tries = 0; tries < 8; tries++) {
        graph_region *r = some_region(c, &g->plain);
        if (r == NULL)
            return NULL;
        if (r->count < bytes || (leads_to_wholes(c, g) && r->count != bytes))
            continue;
        g->mixed = 1;
        return r->address + draw_start(c, r->count - bytes);
    }
    return NULL;
}

static unsigned char *fresh_plain(choices *c, graph *g, size_t bytes)
{
    size_t more = chance(c, 1, 4) ? choose(c, 100) : 0;
    unsigned char *address =
        place(c, g, bytes + more != 0 ? bytes + more : 1, (size_t)1 << choose(c, 5));
    add(&g->plain, address, bytes + more, 1);
    return address;
}

static int is_sentinel(const unsigned char *element, size_t bytes, int64_t value)
{
    unsigned char wanted[8];
    graph_write(wanted, bytes, value);
    return memcmp(element, wanted, bytes) == 0;
}

static void make_string(choices *c, graph *g, unsigned char *address, size_t n, size_t e,
                        int64_t sentinel)
{
    for (size_t i = 0; i < n; i++)
        while (is_sentinel(address + i * e, e, sentinel))
            fill(c, address + i * e, e);
    graph_write(address + n * e, e, sentinel);
    add(&g->strings, address, n + 1, e)->sentinel = sentinel;
    add(&g->frozen, address, (n + 1) * e, 1);
    add(&g->plain, address, (n + 1) * e, 1);
}

static unsigned char *fresh_string(choices *c, graph *g, size_t e, int64_t sentinel)
{
    size_t more = chance(c, 1, 4) ? choose(c, 100) : 0,
           n = more + (size_t)draw_count(c, affordable(g, e));
    unsigned char *address = place(c, g, (n + 1) * e, e);
    make_string(c, g, address, n, e, sentinel);
    return address;
}

static unsigned char *alias_string(choices *c, graph *g, size_t e, int64_t sentinel)
{
    for (unsigned tries = 0; tries < 8; tries++) {
        graph_region *r = some_region(c, &g->strings);
        if (r == NULL)
            return NULL;
        if (r->element_bytes == e && r->sentinel == sentinel)
            return r->address + (leads_to_wholes(c, g) ? 0 : draw_start(c, r->count - 1) * e);
    }
    return NULL;
}

static unsigned char *resolve(choices *c, graph *g, const model_type *t, const model_field *f,
                              unsigned char *self, unsigned level, size_t n, int null_allowed);

/* Can another pointer of the same row lead to the same array of pointers? What they lead to must
 * not depend on who asks. */
static int is_shareable(const model_field *f, unsigned level)
{
    for (unsigned i = level + 1; i < f->levels; i++)
        if (f->shape[i].rule == RULE_BY_INDEX || f->shape[i].rule == RULE_BY_SELF ||
            (f->shape[i].rule == RULE_COUNT && f->shape[i].field_count != 0))
            return 0;
    return 1;
}

static unsigned char *alias_row(choices *c, graph *g, const model_field *f, unsigned level,
                                size_t n)
{
    int terminated = f->shape[level].rule == RULE_SENTINEL;
    for (unsigned tries = 0; tries < 8 && is_shareable(f, level); tries++) {
        graph_region *r = some_region(c, &g->rows);
        if (r == NULL)
            return NULL;
        if (leads_to_wholes(c, g) && r->count != n)
            continue;
        if (r->row == f && r->level == level && (terminated || r->count >= n))
            return r->address +
                   draw_start(c, terminated ? r->count - 1 : r->count - n) * pointer_bytes;
    }
    return NULL;
}

static size_t count_before(const unsigned char *pointer)
{
    const void *before = graph_read_pointer(pointer - pointer_bytes);
    return before != NULL ? (size_t)model_read(before, 2, 0) % 4 : 0;
}

static size_t draw_for(choices *c, graph *g, const model_type *t, const model_field *f,
                       const unsigned char *self, unsigned level, size_t index)
{
    const model_shape *s = &f->shape[level];
    switch (s->rule) {
    case RULE_ONE:
        return 1;
    case RULE_COUNT:
        return (size_t)counted(t, s, self);
    case RULE_BY_INDEX:
        return (3 * index + 1) % 4;
    case RULE_BY_SELF:
        return *self % 5;
    case RULE_BY_BEFORE:
        return count_before(self + f->offset);
    default:
        return (size_t)draw_count(c, affordable(g, unit_of(f, level)));
    }
}

static unsigned char *fresh_row(choices *c, graph *g, const model_type *t, const model_field *f,
                                unsigned char *self, unsigned level, size_t n)
{
    int terminated = f->shape[level].rule == RULE_SENTINEL;
    size_t words = n + (terminated ? 1 : 0);
    size_t room = words + (chance(c, 1, 8) ? choose(c, 4) : 0);
    unsigned char *address = place(c, g, room != 0 ? room * pointer_bytes : 1, pointer_bytes);
    for (size_t i = 0; i < n; i++) {
        size_t inner = draw_for(c, g, t, f, self, level + 1, i);
        graph_write_pointer(address + i * pointer_bytes,
                            resolve(c, g, t, f, self, level + 1, inner, !terminated));
    }
    if (terminated)
        graph_write_pointer(address + n * pointer_bytes, NULL);
    graph_region *r = add(&g->rows, address, words, pointer_bytes);
    r->row = f;
    r->level = level;
    return address;
}

/* An array whose size is in the table only; the same array again for a pointer that means the same
 * by it. Where its first element tells the type, it has one. */
static unsigned char *sized(choices *c, graph *g, const model_field *f, unsigned level,
                            unsigned char *fresh, size_t n)
{
    graph_region *r;
    if (fresh == NULL) {
        for (unsigned tries = 0; tries < 8; tries++) {
            r = some_region(c, &g->sized);
            int last = level + 1 == f->levels;
            if (r != NULL && r->count == 0 && f->rule.choice == CHOICE_BY_TAG)
                continue;
            if (r != NULL &&
                ((last && r->row == NULL && r->type == f->target &&
                  r->element_bytes == f->element_bytes) ||
                 (!last && r->row == f && r->level == level && is_shareable(f, level))))
                return r->address;
        }
        return NULL;
    }
    r = add(&g->sized, fresh, n, unit_of(f, level));
    r->type = f->target;
    r->row = level + 1 == f->levels ? NULL : f;
    r->level = level;
    return fresh;
}

static unsigned char *alias(choices *c, graph *g, const model_field *f, unsigned level, size_t n)
{
    const model_shape *s = &f->shape[level];
    if (s->rule == RULE_BY_TARGET)
        return sized(c, g, f, level, NULL, 0);
    if (level + 1 < f->levels)
        return alias_row(c, g, f, level, n);
    if (f->target >= 0)
        return alias_typed(c, g, f->target, n);
    if (s->rule == RULE_SENTINEL)
        return alias_string(c, g, f->element_bytes, s->add);
    return alias_plain(c, g, n * f->element_bytes);
}

static unsigned char *fresh(choices *c, graph *g, const model_type *t, const model_field *f,
                            unsigned char *self, unsigned level, size_t n)
{
    unsigned char *address;
    const model_shape *s = &f->shape[level];
    if (level + 1 < f->levels)
        address = fresh_row(c, g, t, f, self, level, n);
    else if (f->target >= 0)
        address = fresh_typed(c, g, f->target, n);
    else if (s->rule == RULE_SENTINEL)
        return fresh_string(c, g, f->element_bytes, s->add);
    else
        address = fresh_plain(c, g, n * f->element_bytes);
    return s->rule == RULE_BY_TARGET ? sized(c, g, f, level, address, n) : address;
}

/* A target for one pointer of row f: n elements, where the shape leaves a choice already chosen. */
static unsigned char *resolve(choices *c, graph *g, const model_type *t, const model_field *f,
                              unsigned char *self, unsigned level, size_t n, int null_allowed)
{
    model_rule rule = f->shape[level].rule;
    uint32_t way = choose(c, 8);
    if (null_allowed && way < 2 &&
        (rule == RULE_ONE || rule == RULE_SENTINEL || rule == RULE_BY_TARGET || n == 0))
        return NULL;
    if (way < 5 || g->left == 0) {
        unsigned char *address = alias(c, g, f, level, n);
        if (address != NULL)
            return address;
    }
    return fresh(c, g, t, f, self, level, n);
}

/* Plain bytes behind a header that the pointer leads past: `lead` bytes, as the two in front of it
 * say. */
static unsigned char *fresh_headed(choices *c, graph *g, const model_field *f, size_t n,
                                   intptr_t *lead)
{
    size_t bytes = n * f->element_bytes;
    unsigned char *address = place(c, g, bytes + 20, (size_t)1 << choose(c, 5));
    *lead = 2 + (intptr_t)choose(c, 16);
    graph_write(address + *lead - 2, 2, *lead);
    add(&g->frozen, address + *lead - 2, 2, 1);
    add(&g->plain, address, bytes + 20, 1);
    if (f->shape[0].rule == RULE_BY_TARGET)
        sized(c, g, f, 0, address, n);
    return address;
}

/* ---- Words ---- */

/* Tags and integers: what else than an address stands in the field. */
static uintptr_t with_bits(choices *c, const model_rule_of_field *rule, uintptr_t word)
{
    if (rule->tags == 0 && rule->integers == 0 && rule->integers_from == 0)
        return word;
    if (rule->integers != 0 && chance(c, 1, 4))
        return 1 + (uintptr_t)choose(c, (uint32_t)rule->integers - 1);
    if (rule->integers_from != 0 && chance(c, 1, 4))
        return rule->integers_from + (uintptr_t)choose(c, 9);
    if (word == 0)
        return rule->integers != 0 ? 0 : graph_draw_tags(c, rule->tags, 8);
    if ((word & rule->tags) != 0)
        return rule->tags; /* the bits are taken: a null pointer with tags */
    return word | graph_draw_tags(c, rule->tags, 65536);
}

/* A distance that does not fit is null. */
static void write_distance(unsigned char *at, size_t bytes, uintptr_t address)
{
    int64_t distance = address != 0 ? (int64_t)(intptr_t)(address - (uintptr_t)at) : 0;
    if (bytes == 4 && (distance < INT32_MIN || distance > INT32_MAX))
        distance = 0;
    graph_write(at, bytes, distance);
}

/* A distance with a base leads to a byte of its block: one that leads beside it may be 0 in the
 * copy, and is refused. */
static int can_be_distance(const graph *g, const model_field *as, size_t n, intptr_t lead)
{
    int is_fixed = as->target < 0 || g->model->type[as->target].sizing == SIZE_FIXED;
    return lead == 0 || (lead > 0 && is_fixed && (size_t)lead < n * unit_of(as, 0));
}

static const model_case *draw_case(choices *c, const model_type *t, const model_field *f,
                                   const unsigned char *self, size_t index)
{
    if (f->rule.choice == CHOICE_BY_TAG)
        return &f->rule.cases[choose(c, f->rule.case_count)];
    return model_choose(t, f, self, index, NULL);
}

/* A pointer that owns what it leads to, with all that its rule makes of the address. */
static void fill_own(choices *c, graph *g, const model_type *t, const model_field *f,
                     unsigned char *self, size_t index)
{
    unsigned char *at = self + f->offset + index * pointer_bytes, *target = NULL;
    const model_field *as = f;
    model_field chosen;
    intptr_t lead = 0;
    uintptr_t address;
    size_t n;
    if (f->rule.choice != CHOICE_NONE) {
        const model_case *one = draw_case(c, t, f, self, index);
        chosen = *f;
        chosen.target = one->type;
        chosen.element_bytes = g->model->type[one->type].extent;
        as = &chosen;
        lead = one->bias;
    }
    n = draw_for(c, g, t, as, self, 0, index);
    if (f->rule.base == BASE_BY_HEADER) {
        target = fresh_headed(c, g, f, n, &lead);
    } else {
        if (n != 0 || f->rule.choice != CHOICE_BY_TAG)
            target = resolve(c, g, t, as, self, 0, n, 1);
        lead += model_bias(f, self, index, NULL);
    }
    address = target != NULL ? (uintptr_t)target + (uintptr_t)lead : 0;
    if (f->rule.is_distance)
        write_distance(at, f->bytes, can_be_distance(g, as, n, lead) ? address : 0);
    else
        graph_write_pointer(at, (void *)with_bits(c, &f->rule, address));
    if (f->shape[0].rule == RULE_END)
        graph_write_pointer(self + t->field[f->shape[0].field[0]].offset,
                            target != NULL ? target + n * unit_of(f, 0) : NULL);
}

static void fill_static(choices *c, graph *g, const model_field *f, unsigned char *at)
{
    uintptr_t range = (uintptr_t)(chance(c, 1, 2) ? g->around->kept : g->around->nulls);
    uintptr_t address = (range + choose(c, STATIC_BYTES + 1)) & ~f->rule.tags;
    graph_write_pointer(at, address < range ? NULL : (void *)with_bits(c, &f->rule, address));
}

/* Nobody owns it through this pointer; the word is drawn later. */
static void fill_alias(graph *g, const model_field *f, unsigned char *at)
{
    graph_write_pointer(at, NULL);
    add(&g->late, at, 1, pointer_bytes)->row = f;
}

/* The address in the word. */
static const void *word_of(const model_field *f, const unsigned char *at)
{
    return (const void *)((uintptr_t)graph_read_pointer(at) & ~f->rule.tags);
}

static void fill_word(choices *c, graph *g, const model_type *t, const model_field *f,
                      unsigned char *self, size_t index)
{
    unsigned char *at = self + f->offset + index * pointer_bytes;
    uint32_t way = choose(c, 4);
    switch (f->rule.mode) {
    case MODE_RAW:
    case MODE_NULL:
        return; /* whatever is there */
    case MODE_EXTERNAL:
        if (way != 0)
            graph_write_pointer(at,
                                way == 1 ? NULL : (void *)g->around->functions[choose(c, 3)].host);
        return;
    case MODE_ALIAS:
        fill_alias(g, f, at);
        return;
    case MODE_OWN_OR_STATIC:
    case MODE_ALIAS_OR_STATIC:
        g->is_static = way == 1;
        if (way == 0)
            fill_static(c, g, f, at);
        else
            fill_own(c, g, t, f, self, index);
        if (way != 0 && f->rule.mode == MODE_ALIAS_OR_STATIC && !graph_is_copied(g, word_of(f, at)))
            fill_alias(g, f, at);
        g->is_static = 0;
        return;
    default:
        fill_own(c, g, t, f, self, index);
    }
}

/* ---- Elements ---- */

/* For each field that a condition or a choice reads: a value that is likely to mean something. */
static void draw_kind(choices *c, const model_type *t, unsigned k, unsigned char *self)
{
    const model_field *kind = &t->field[k];
    int64_t value = choose(c, 256);
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_rule_of_field *rule = &t->field[i].rule;
        if (rule->choice == CHOICE_BY_FIELD && rule->selector == k) {
            value = (value & 0xF0 & ~rule->choice_mask) ^
                    rule->cases[choose(c, rule->case_count)].value;
            break;
        }
        if ((rule->when == WHEN_FIELD || rule->when == WHEN_NOT) && rule->kind == k) {
            if (rule->mask == -1 && chance(c, 2, 3))
                value = rule->low + choose(c, (uint32_t)(rule->high - rule->low) + 1);
            break;
        }
    }
    graph_write(self + kind->offset, kind->bytes, value);
}

static void draw_scalars(choices *c, graph *g, const model_type *t, unsigned char *self)
{
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        if (f->kind == FIELD_COUNT)
            graph_write(self + f->offset, f->bytes, draw_count_field(c, g, t, i));
        else if (f->kind == FIELD_KIND)
            draw_kind(c, t, i, self);
        else if (f->kind == FIELD_TAG)
            graph_write(self + f->offset, f->bytes, t->tag);
    }
}

static int reads_first_byte(const model_field *f)
{
    for (unsigned level = 0; level < f->levels; level++)
        if (f->shape[level].rule == RULE_BY_SELF)
            return 1;
    return f->rule.when == WHEN_SELF || f->rule.base == BASE_BY_SELF ||
           f->rule.choice == CHOICE_BY_SELF;
}

/* What the description reads stays as it is. */
static void freeze_scalars(graph *g, const model_type *t, unsigned char *self)
{
    size_t size = model_stored_size(t, self);
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        int is_read = f->kind == FIELD_COUNT || f->kind == FIELD_KIND || f->kind == FIELD_TAG ||
                      f->kind == FIELD_SIZE;
        if (is_read && f->offset < size)
            add(&g->frozen, self + f->offset, f->bytes, 1);
        if (reads_first_byte(f))
            add(&g->frozen, self, 1, 1);
    }
}

static size_t draw_size(choices *c, const model_type *t)
{
    for (unsigned tries = 0; tries < 8; tries++) {
        size_t bytes = t->field[choose(c, t->field_count)].offset;
        if (chance(c, 1, 3))
            bytes = t->extent + choose(c, 40);
        if (model_can_end_at(t, bytes))
            return bytes;
    }
    return t->extent;
}

static size_t draw_tail_bytes(choices *c, graph *g, const model_type *t, unsigned char *head,
                              size_t *count)
{
    const model_field *tail = model_tail(t);
    *count = draw_for(c, g, t, tail, head, 0, 0);
    if (tail->shape[0].rule == RULE_BY_TARGET && *count == 0)
        *count = 1; /* the table knows by addresses: no other array may begin there */
    return tail->offset + (*count + (tail->shape[0].rule == RULE_SENTINEL)) * tail->element_bytes;
}

static void make_tail(choices *c, graph *g, const model_field *tail, unsigned char *address,
                      size_t n)
{
    if (tail->shape[0].rule == RULE_SENTINEL)
        make_string(c, g, address, n, tail->element_bytes, tail->shape[0].add);
    if (tail->shape[0].rule == RULE_BY_TARGET)
        sized(c, g, tail, 0, address, n);
    if (tail->target < 0 && tail->shape[0].rule != RULE_SENTINEL)
        add(&g->plain, address, n * tail->element_bytes, 1);
    if (tail->target < 0 || n == 0)
        return;
    add(&g->typed[tail->target], address, n, tail->stride)->type = tail->target;
    add(&g->queue, address, n, tail->stride)->type = tail->target;
}

/* An object that says itself how long it is: its counts are drawn before it has a place. */
static unsigned char *fresh_sized(choices *c, graph *g, int type)
{
    const model_type *t = &g->model->type[type];
    unsigned char head[MODEL_STRUCT_BYTES], *address;
    size_t bytes, n = 0;
    fill(c, head, t->extent);
    draw_scalars(c, g, t, head);
    if (t->sizing == SIZE_STORED) {
        bytes = draw_size(c, t);
        graph_write(head + SIZE_AT, 2, (int64_t)bytes);
    } else {
        bytes = draw_tail_bytes(c, g, t, head, &n);
    }
    address = place(c, g, bytes, t->alignment);
    memcpy(address, head, bytes < t->extent ? bytes : t->extent);
    if (t->sizing == SIZE_BY_TAIL)
        make_tail(c, g, model_tail(t), address + model_tail(t)->offset, n);
    add(&g->typed[type], address, 1, bytes)->type = type;
    add(&g->queue, address, 1, bytes)->type = type;
    return address;
}

static void fill_pointers(choices *c, graph *g, const model_type *t, const model_field *f,
                          unsigned char *self)
{
    size_t n = f->rule.is_distance ? 1 : f->count;
    for (size_t i = 0; i < n; i++)
        fill_word(c, g, t, f, self, i);
}

/* The pointer to a count: what it leads to stays as it is, too. */
static void fill_count_before(choices *c, graph *g, const model_type *t, const model_field *f,
                              unsigned char *self)
{
    unsigned char *count;
    fill_pointers(c, g, t, f, self);
    count = graph_read_pointer(self + f->offset);
    if (count != NULL)
        add(&g->frozen, count, 2, 1);
}

static int is_count_before(const model_type *t, unsigned field)
{
    for (unsigned i = 0; i < t->field_count; i++)
        if (t->field[i].behind == (int)field)
            return 1;
    return 0;
}

static void fill_field(choices *c, graph *g, const model_type *t, const model_field *f,
                       unsigned char *self)
{
    if (f->kind == FIELD_EMBED) {
        add(&g->typed[f->target], self + f->offset, f->count, f->stride)->type = f->target;
        add(&g->queue, self + f->offset, f->count, f->stride)->type = f->target;
    } else if (f->kind == FIELD_POINTER) {
        fill_pointers(c, g, t, f, self);
    } else if (f->kind == FIELD_DATA && !f->rule.is_there && chance(c, 1, 8) &&
               !leads_to_wholes(c, g)) {
        add(&g->plain, self + f->offset, f->bytes, 1);
    } else if (f->kind == FIELD_OPAQUE && chance(c, 1, 2)) {
        graph_write_pointer(self + f->offset, self);
    }
}

/* Whatever is in fields that do not hold, or lie behind the object's end, stays. Pointers that lead
 * to a count come before those that ask for it. */
static void fill_element(choices *c, graph *g, int type, unsigned char *self)
{
    const model_type *t = &g->model->type[type];
    size_t size = model_stored_size(t, self);
    if (t->sizing == SIZE_FIXED)
        draw_scalars(c, g, t, self);
    freeze_scalars(g, t, self);
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        if (f->behind >= 0 && t->field[f->behind].offset < size)
            fill_count_before(c, g, t, &t->field[f->behind], self);
    }
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        if (f->offset + f->bytes <= size && !is_count_before(t, i) && model_holds(t, f, self))
            fill_field(c, g, t, f, self);
    }
}

static void fill_queue(choices *c, graph *g)
{
    while (g->queue_at < g->queue.count) {
        graph_region r = g->queue.at[g->queue_at++];
        if (g->model->type[r.type].has_pointers || g->model->type[r.type].form == FORM_STRUCT)
            for (size_t i = 0; i < r.count; i++)
                fill_element(c, g, r.type, r.address + i * r.element_bytes);
    }
}

/* ---- The whole ---- */

static int compare_regions(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const graph_region *)a)->address,
              y = (uintptr_t)((const graph_region *)b)->address;
    return x < y ? -1 : x > y;
}

static int64_t count_of(const model_oracle *oracle, const void *target)
{
    const graph *g = (const graph *)(const void *)oracle;
    size_t low = 0, high = g->sized.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)g->sized.at[middle].address < (uintptr_t)target)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < g->sized.count && g->sized.at[low].address == target)
        return (int64_t)g->sized.at[low].count;
    return target == NULL ? 0 : -1;
}

static size_t elements_of_row(const model_type *t, size_t row)
{
    const size_t most = ROW_BYTES / (t->extent != 0 ? t->extent : 1);
    if (t->extent % t->alignment != 0 || t->sizing != SIZE_FIXED)
        return 1;
    return most < row ? most : row;
}

/* A type for a large array: the struct with most elements, if one has pointers with pointers. */
static int type_of_row(const model *m, size_t row)
{
    size_t most = 0;
    int found = 0;
    for (unsigned i = 0; i < m->struct_count; i++) {
        size_t n = 2 * elements_of_row(&m->type[i], row) + (m->type[i].has_pointers ? row : 0);
        if (n > most) {
            most = n;
            found = (int)i;
        }
    }
    return found;
}

static void draw_roots(choices *c, graph *g, size_t row)
{
    size_t count = chance(c, 1, 3) ? 1 + choose(c, 4) : 1;
    for (size_t i = 0; i < count; i++) {
        int type = (int)choose(c, chance(c, 1, 4) ? g->model->type_count : g->model->struct_count);
        size_t n = chance(c, 1, 4) ? 1 + choose(c, 4) : 1;
        if (g->model->type[type].extent % g->model->type[type].alignment != 0 ||
            g->model->type[type].sizing != SIZE_FIXED)
            n = 1;
        unsigned char *address = NULL;
        if (i == 0 && row != 0) {
            const size_t left = g->left;
            type = type_of_row(g->model, row);
            n = elements_of_row(&g->model->type[type], row);
            address = fresh_typed(c, g, type, n);
            g->left = left;
        } else if (chance(c, 1, 4)) {
            address = alias_typed(c, g, type, n);
        }
        if (address == NULL)
            address = fresh_typed(c, g, type, n);
        g->roots[i].address = address;
        g->roots[i].count = n;
        g->roots[i].type = g->model->type[type].handle;
        g->root_type[i] = type;
        g->oracle.roots[i] = address;
        g->root_count = i + 1;
        fill_queue(c, g);
    }
    g->oracle.root_count = (unsigned)count;
}

int graph_has_near(const graph *g, size_t *block, const void *address, size_t bytes)
{
    if (surroundings_have(g->around, address, bytes))
        return 1;
    for (size_t k = 0; k < g->block_count; k++) {
        size_t i = (*block + k) % g->block_count;
        if (is_in(address, bytes, g->blocks[i].memory, g->blocks[i].bytes)) {
            *block = i;
            return 1;
        }
    }
    return 0;
}

int graph_has(const graph *g, const void *address, size_t bytes)
{
    size_t block = 0;
    return graph_has_near(g, &block, address, bytes);
}

static int is_there(const model_oracle *oracle, const void *address, size_t bytes)
{
    return graph_has((const graph *)(const void *)oracle, address, bytes);
}

void graph_draw(choices *c, const model *m, const surroundings *around, size_t bytes, size_t row,
                graph *g)
{
    memset(g, 0, sizeof *g);
    g->model = m;
    g->around = around;
    g->oracle.is_there = is_there;
    g->left = bytes;
    g->oracle.count_of = count_of;
    g->is_mixed_up = m->is_plain && chance(c, 1, 4);
    if (chance(c, 1, 2)) {
        g->pool_memory = malloc(POOL_BYTES);
        g->pool = g->pool_memory != NULL ? aligned(g->pool_memory, BORDER) : NULL;
        g->pool_end = g->pool_memory != NULL ? g->pool_memory + POOL_BYTES : NULL;
    }
    draw_roots(c, g, row);
    if (g->sized.count != 0)
        qsort(g->sized.at, g->sized.count, sizeof *g->sized.at, compare_regions);
    graph_keep(g);
}

void graph_keep(graph *g)
{
    for (size_t i = 0; i < g->block_count; i++)
        memcpy(g->blocks[i].shadow, g->blocks[i].memory, g->blocks[i].bytes);
}

void graph_restore(graph *g)
{
    for (size_t i = 0; i < g->block_count; i++)
        memcpy(g->blocks[i].memory, g->blocks[i].shadow, g->blocks[i].bytes);
}

void graph_free(graph *g)
{
    for (size_t i = 0; i < g->block_count; i++) {
        if (!g->blocks[i].pooled)
            free(g->blocks[i].memory);
        free(g->blocks[i].shadow);
    }
    free(g->blocks);
    free(g->pool_memory);
    for (unsigned i = 0; i < MODEL_TYPES; i++)
        free(g->typed[i].at);
    free(g->plain.at);
    free(g->strings.at);
    free(g->rows.at);
    free(g->sized.at);
    free(g->frozen.at);
    free(g->late.at);
    free(g->queue.at);
    memset(g, 0, sizeof *g);
}
