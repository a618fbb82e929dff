/* The reference copier: small and slow, a queue and a table.
 *
 * What waits in the queue is an array of elements of a type, or an array of pointers on its way to them. The table
 * keeps, for each element or array seen, where its copy lies; meeting it again with another copy is a split alias.
 */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t pointer_bytes = sizeof(void *);

typedef struct waiting {
    uintptr_t host, copy;
    size_t count;
    int type;                /* elements of it; -1: pointers of `row` on `level` */
    int of;                  /* the type that row belongs to */
    const model_field *row;
    uintptr_t self;
    unsigned level;
} waiting;

/* An element of a type, or a word in an array of pointers that row `as` of the struct `self` led to. */
typedef struct seen {
    uintptr_t host, copy, as, self;
    int used;
} seen;

typedef struct walker {
    const graph *g;
    reference *r;
    const reference_place *place;
    int copying;
    waiting *queue;
    size_t queue_count, queue_capacity, queue_at;
    seen *table;
    size_t table_count, table_capacity;
} walker;

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return memory;
}

static void *room(void *at, size_t count, size_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return at;
    *capacity = *capacity != 0 ? 2 * *capacity : 64;
    return must(realloc(at, *capacity * bytes));
}

static void wrong(walker *w, uintptr_t host, const char *what)
{
    if (w->r->wrong[0] == '\0')
        snprintf(w->r->wrong, sizeof w->r->wrong, "%s, at host address %p", what, (void *)host);
}

/* ---- The table ---- */

static size_t hash_of(uintptr_t host, uintptr_t as)
{
    uint64_t h = (uint64_t)host * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)as * UINT64_C(0xC2B2AE3D27D4EB4F);
    return (size_t)(h ^ h >> 29);
}

static seen *look_up(walker *w, uintptr_t host, uintptr_t as, uintptr_t self)
{
    size_t i = hash_of(host, as + self) & (w->table_capacity - 1);
    while (w->table[i].used && (w->table[i].host != host || w->table[i].as != as || w->table[i].self != self))
        i = (i + 1) & (w->table_capacity - 1);
    return &w->table[i];
}

static void grow_table(walker *w)
{
    seen *old = w->table;
    size_t n = w->table_capacity;
    w->table_capacity = n != 0 ? 2 * n : 256;
    w->table = must(calloc(w->table_capacity, sizeof *w->table));
    for (size_t i = 0; i < n; i++)
        if (old[i].used)
            *look_up(w, old[i].host, old[i].as, old[i].self) = old[i];
    free(old);
}

/* 1 when this was not seen before. */
static int is_new(walker *w, uintptr_t host, uintptr_t copy, uintptr_t as, uintptr_t self)
{
    if (2 * w->table_count >= w->table_capacity)
        grow_table(w);
    seen *s = look_up(w, host, as, self);
    if (s->used) {
        if (w->copying && s->copy != copy)
            wrong(w, host, "one object has two copies");
        return 0;
    }
    s->host = host;
    s->copy = copy;
    s->as = as;
    s->self = self;
    s->used = 1;
    w->table_count++;
    return 1;
}

/* ---- Records ---- */

static void add_range(reference_range **list, size_t *count, size_t *capacity, uintptr_t host, uintptr_t copy,
                      size_t bytes)
{
    *list = room(*list, *count, capacity, sizeof **list);
    (*list)[*count].host = host;
    (*list)[*count].copy = copy;
    (*list)[(*count)++].bytes = bytes;
}

/* The copy of `bytes` bytes at host lies where copies may lie. */
static int in_place(walker *w, uintptr_t host, uintptr_t copy, size_t bytes)
{
    uintptr_t offset = w->copying ? copy - w->place->first : 0;
    if (!w->copying || (offset <= w->place->bytes && bytes <= w->place->bytes - offset))
        return 1;
    wrong(w, host, "a pointer of the copy leads out of it");
    return 0;
}

static void data(walker *w, uintptr_t host, uintptr_t copy, size_t bytes)
{
    if (bytes == 0 || !in_place(w, host, copy, bytes))
        return;
    if (w->copying && memcmp((const void *)host, (const void *)copy, bytes) != 0)
        wrong(w, host, "bytes differ");
    if (w->copying && (copy - host) % (2 * sizeof(void *)) != 0)
        wrong(w, host, "the copy has another address modulo two pointers");
    add_range(&w->r->data, &w->r->data_count, &w->r->data_capacity, host, copy, bytes);
}

static void enqueue(walker *w, const waiting *item)
{
    w->queue = room(w->queue, w->queue_count, &w->queue_capacity, sizeof *w->queue);
    w->queue[w->queue_count++] = *item;
}

/* The pointer at host, and at copy: recorded; the copy's value. A pointer behind which nothing stands may become
 * null: it can lead anywhere. */
static uintptr_t slot(walker *w, uintptr_t host, uintptr_t copy, reference_slot_kind kind, int one_of)
{
    reference *r = w->r;
    void *value = graph_read_pointer((const void *)host);
    uintptr_t there;
    r->slots = room(r->slots, r->slot_count, &r->slot_capacity, sizeof *r->slots);
    reference_slot *s = &r->slots[r->slot_count++];
    s->at = (unsigned char *)host;
    s->copy = copy;
    s->value = s->target = value;
    s->kind = value == NULL ? SLOT_NULL : kind;
    s->one_of = one_of;
    if (!w->copying || !in_place(w, host, copy, pointer_bytes))
        return 0;
    if ((copy - host) % (2 * sizeof(void *)) != 0)
        wrong(w, host, "the copy of a pointer has another address modulo two pointers");
    there = (uintptr_t)graph_read_pointer((const void *)copy);
    if (value == NULL && there != 0)
        wrong(w, host, "a null pointer became another");
    if (value != NULL && there == 0 && kind == SLOT_FOLLOWED)
        wrong(w, host, "a pointer became null");
    return there;
}

/* A word of a row with a rule, and what it leads to, which is `distance` on; the copy of that. */
static uintptr_t ruled_slot(walker *w, const model_field *f, uintptr_t host, uintptr_t copy, uintptr_t distance,
                            int kept)
{
    uintptr_t there = slot(w, host, copy, kept ? SLOT_KEPT : SLOT_RULED, -1);
    reference_slot *s = &w->r->slots[w->r->slot_count - 1];
    s->target = (void *)((uintptr_t)s->value + distance);
    if (!w->copying || w->r->wrong[0] != '\0')
        return 0;
    if (kept && there != (uintptr_t)s->value)
        wrong(w, host, "a word that is no pointer has changed");
    if (!kept && there == 0)
        return 0; /* nothing may stand behind it */
    if ((there & f->rule.tags) != ((uintptr_t)s->value & f->rule.tags))
        wrong(w, host, "tag bits have changed");
    return there + distance;
}

/* ---- Counts ---- */

static int64_t value_of(const model_type *t, const model_shape *s, uintptr_t self, unsigned changed, int64_t by)
{
    int64_t n = s->multiply;
    if (s->field_count == 0)
        return s->add;
    for (unsigned i = 0; i < s->field_count; i++) {
        const model_field *f = &t->field[s->field[i]];
        int64_t v = graph_read_count((const void *)(self + f->offset), f->bytes, f->is_signed);
        n *= s->field[i] == changed ? v + by : v;
    }
    return n + s->add;
}

/* Records fields that can be smaller by one: no shape of the type may then be negative, and this one must change. */
static void note_counts(walker *w, const model_type *t, const model_shape *s, uintptr_t self)
{
    for (unsigned i = 0; i < s->field_count; i++) {
        unsigned k = s->field[i];
        const model_field *f = &t->field[k];
        int64_t v = graph_read_count((const void *)(self + f->offset), f->bytes, f->is_signed);
        int good = v > 0 && value_of(t, s, self, k, -1) < value_of(t, s, self, k, 0);
        for (unsigned j = 0; j < t->field_count && good; j++)
            for (unsigned level = 0; level < t->field[j].levels; level++)
                if (t->field[j].shape[level].rule == RULE_COUNT &&
                    value_of(t, &t->field[j].shape[level], self, k, -1) < 0)
                    good = 0;
        if (!good)
            continue;
        w->r->counts = room(w->r->counts, w->r->count_count, &w->r->count_capacity, sizeof *w->r->counts);
        reference_count *c = &w->r->counts[w->r->count_count++];
        c->at = (unsigned char *)(self + f->offset);
        c->bytes = f->bytes;
        c->smaller = v - 1;
    }
}

static int is_terminator(uintptr_t element, size_t bytes, int64_t value)
{
    uint64_t mask = bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
    return ((uint64_t)graph_read_count((const void *)element, bytes, 0) & mask) == ((uint64_t)value & mask);
}

static size_t count_of(walker *w, const model_type *t, const model_field *f, unsigned level, uintptr_t self,
                       size_t index, uintptr_t target)
{
    const model_shape *s = &f->shape[level];
    size_t unit = level + 1 == f->levels ? f->element_bytes : pointer_bytes, n = 0;
    switch (s->rule) {
    case RULE_ONE: return 1;
    case RULE_COUNT:
        if (target != 0)
            note_counts(w, t, s, self);
        return (size_t)value_of(t, s, self, UINT32_MAX, 0);
    case RULE_END:
        return ((uintptr_t)graph_read_pointer((const void *)(self + t->field[s->field[0]].offset)) - target) / unit;
    case RULE_SENTINEL:
        while (!is_terminator(target + n * unit, unit, s->add))
            n++;
        return n + 1;
    case RULE_BY_INDEX: return (3 * index + 1) % 4;
    case RULE_BY_SELF: return *(const unsigned char *)self % 5;
    default: return (size_t)w->g->oracle.count_of(&w->g->oracle, (const void *)target);
    }
}

/* ---- The walk ---- */

/* A pointer on `level` of row f of type number `of`: what it leads to goes into the queue. */
static void follow(walker *w, int of, const model_field *f, unsigned level, uintptr_t self, size_t index,
                   uintptr_t host, uintptr_t copy)
{
    const model_type *t = &w->g->model->type[of];
    int last = level + 1 == f->levels;
    uintptr_t word = (uintptr_t)graph_read_pointer((const void *)host), to = word, to_copy;
    if (f->rule.is_there && (word < f->rule.integers || (word & ~f->rule.tags) == 0) && word != 0) {
        ruled_slot(w, f, host, copy, 0, 1);
        return;
    }
    if (f->rule.is_there && word != 0)
        to = (word & ~f->rule.tags) - (uintptr_t)f->rule.bias - (f->rule.bias ? index : 0);
    int replaceable = last && f->shape[level].rule == RULE_ONE && (to != 0 || level == 0); /* no terminators */
    int one_of = replaceable ? f->target : -1;
    size_t n = to != 0 ? count_of(w, t, f, level, self, index, to) : 0;
    if (to != word) {
        to_copy = ruled_slot(w, f, host, copy, to - word, 0);
        if (w->copying && n != 0 && to_copy == 0)
            wrong(w, host, "a pointer became null");
    } else {
        to_copy = slot(w, host, copy, n != 0 ? SLOT_FOLLOWED : SLOT_EMPTY, one_of);
    }
    if (n == 0 || w->r->wrong[0] != '\0')
        return;
    if (last && f->target < 0) {
        data(w, to, to_copy, n * f->element_bytes);
        return;
    }
    waiting item;
    memset(&item, 0, sizeof item);
    item.host = to;
    item.copy = to_copy;
    item.count = n;
    item.type = last ? f->target : -1;
    item.of = of;
    item.row = f;
    item.self = self;
    item.level = level + 1;
    enqueue(w, &item);
}

static void visit_end(walker *w, const model_field *begin, const model_field *end, uintptr_t host, uintptr_t copy)
{
    uintptr_t from = (uintptr_t)graph_read_pointer((const void *)(host + begin->offset));
    uintptr_t to = (uintptr_t)graph_read_pointer((const void *)(host + end->offset));
    uintptr_t to_copy = slot(w, host + end->offset, copy + end->offset, SLOT_END, -1);
    if (!w->copying || w->r->wrong[0] != '\0')
        return;
    if (to - from != to_copy - (uintptr_t)graph_read_pointer((const void *)(copy + begin->offset)))
        wrong(w, host + end->offset, "an end pointer has another distance from its begin");
}

/* A row that does not hold: its bytes are nobody's, or data, if no row that holds has the same ones. */
static void visit_other_bytes(walker *w, const model_type *t, const model_field *f, uintptr_t host, uintptr_t copy)
{
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *arm = &t->field[i];
        if (arm != f && arm->kind == FIELD_POINTER && arm->offset == f->offset &&
            model_holds(t, arm, (const void *)host))
            return;
    }
    if (f->rule.raw)
        data(w, host + f->offset, copy + f->offset, f->bytes);
}

static void visit_element(walker *w, int type, uintptr_t host, uintptr_t copy)
{
    const model_type *t = &w->g->model->type[type];
    w->r->has_holes |= t->has_holes;
    if (w->copying && t->has_holes && t->form == FORM_STRUCT && in_place(w, host, copy, t->extent))
        add_range(&w->r->structs, &w->r->struct_count, &w->r->struct_capacity, host, copy, t->extent);
    if (w->copying && t->declared != 0 && copy % t->declared != 0)
        wrong(w, host, "the copy is not aligned as its type declares");
    for (unsigned i = 0; i < t->run_count; i++)
        data(w, host + t->run[i].offset, copy + t->run[i].offset, t->run[i].bytes);
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        if (f->kind == FIELD_EMBED) {
            w->r->has_parts = 1;
            waiting item;
            memset(&item, 0, sizeof item);
            item.host = host + f->offset;
            item.copy = copy + f->offset;
            item.count = f->count;
            item.type = f->target;
            enqueue(w, &item);
        } else if (f->kind == FIELD_POINTER) {
            if (!model_holds(t, f, (const void *)host)) {
                visit_other_bytes(w, t, f, host, copy);
                continue;
            }
            for (size_t k = 0; k < f->count; k++)
                follow(w, type, f, 0, host, k, host + f->offset + k * pointer_bytes,
                       copy + f->offset + k * pointer_bytes);
            if (f->shape[0].rule == RULE_END)
                visit_end(w, f, &t->field[f->shape[0].field[0]], host, copy);
        }
    }
}

static void visit(walker *w, const waiting *item)
{
    if (item->type >= 0) {
        size_t extent = w->g->model->type[item->type].extent;
        for (size_t i = 0; i < item->count && w->r->wrong[0] == '\0'; i++)
            if (is_new(w, item->host + i * extent, item->copy + i * extent, (uintptr_t)item->type, 0))
                visit_element(w, item->type, item->host + i * extent, item->copy + i * extent);
        return;
    }
    for (size_t i = 0; i < item->count && w->r->wrong[0] == '\0'; i++) {
        uintptr_t at = i * pointer_bytes;
        uintptr_t as = (uintptr_t)item->row + item->level; /* rows lie further apart than levels */
        if (is_new(w, item->host + at, item->copy + at, as, item->self))
            follow(w, item->of, item->row, item->level, item->self, i, item->host + at, item->copy + at);
    }
}

/* ---- Afterwards: one byte, one copy ---- */

static int by_host(const void *a, const void *b)
{
    const reference_range *x = a, *y = b;
    return x->host != y->host ? (x->host < y->host ? -1 : 1) : x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

static int by_copy(const void *a, const void *b)
{
    const reference_range *x = a, *y = b;
    return x->copy < y->copy ? -1 : x->copy > y->copy;
}

static int by_place(const void *a, const void *b)
{
    const reference_slot *x = a, *y = b;
    uintptr_t p = (uintptr_t)x->at, q = (uintptr_t)y->at;
    return p != q ? (p < q ? -1 : 1) : (int)y->one_of - (int)x->one_of;
}

/* Sorts and merges; ranges that overlap must lie equally far from their copies. */
static void merge(walker *w, reference_range *list, size_t *count)
{
    size_t n = 0;
    if (*count == 0)
        return;
    qsort(list, *count, sizeof *list, by_host);
    for (size_t i = 1; i < *count; i++) {
        reference_range *last = &list[n], *next = &list[i];
        int same = !w->copying || last->copy - last->host == next->copy - next->host;
        uintptr_t end = last->host + last->bytes;
        if (next->host < end && !same)
            wrong(w, next->host, "overlapping objects have copies that do not overlap alike");
        if (next->host <= end && same) {
            if (next->host + next->bytes > end)
                last->bytes = next->host + next->bytes - last->host;
        } else {
            list[++n] = *next;
        }
    }
    *count = n + 1;
}

static void drop_repeated_slots(reference *r)
{
    size_t n = 0;
    if (r->slot_count == 0)
        return;
    qsort(r->slots, r->slot_count, sizeof *r->slots, by_place);
    for (size_t i = 1; i < r->slot_count; i++) {
        reference_slot *last = &r->slots[n], *next = &r->slots[i];
        if (next->at != last->at)
            r->slots[++n] = *next;
        else if (next->one_of != last->one_of)
            last->one_of = -1;
    }
    r->slot_count = n + 1;
}

/* A kernel may use a skipped field: its bytes belong to its object there. */
static void check_structs_apart(walker *w)
{
    reference *r = w->r;
    size_t k = 0;
    if (r->struct_count != 0)
        qsort(r->structs, r->struct_count, sizeof *r->structs, by_copy);
    for (size_t i = 0; i < r->struct_count; i++) {
        const reference_range *s = &r->structs[i];
        while (k < r->all_count && r->all[k].copy + r->all[k].bytes <= s->copy)
            k++;
        for (size_t n = k; n < r->all_count && r->all[n].copy < s->copy + s->bytes; n++)
            if (r->all[n].copy - r->all[n].host != s->copy - s->host)
                wrong(w, s->host, "a skipped field has no room of its own in the copy");
    }
}

static void check_copies_apart(walker *w)
{
    reference *r = w->r;
    qsort(r->all, r->all_count, sizeof *r->all, by_copy);
    check_structs_apart(w);
    for (size_t i = 1; i < r->all_count; i++)
        if (r->all[i].copy < r->all[i - 1].copy + r->all[i - 1].bytes)
            wrong(w, r->all[i].host, "two objects share one copy");
    qsort(r->all, r->all_count, sizeof *r->all, by_host);
}

static void finish(walker *w)
{
    reference *r = w->r;
    merge(w, r->data, &r->data_count);
    drop_repeated_slots(r);
    for (size_t i = 0; i < r->data_count; i++)
        add_range(&r->all, &r->all_count, &r->all_capacity, r->data[i].host, r->data[i].copy, r->data[i].bytes);
    for (size_t i = 0; i < r->slot_count; i++)
        add_range(&r->all, &r->all_count, &r->all_capacity, (uintptr_t)r->slots[i].at, r->slots[i].copy,
                  pointer_bytes);
    merge(w, r->all, &r->all_count);
    if (w->copying)
        check_copies_apart(w);
    for (size_t i = 0; i < r->all_count; i++)
        r->bytes += r->all[i].bytes;
}

int reference_walk(const graph *g, const reference_place *copy, reference *r)
{
    walker w;
    memset(&w, 0, sizeof w);
    memset(r, 0, sizeof *r);
    w.g = g;
    w.r = r;
    w.place = copy;
    w.copying = copy != NULL;
    for (size_t i = 0; i < g->root_count; i++) {
        waiting item;
        memset(&item, 0, sizeof item);
        item.host = (uintptr_t)g->roots[i].address;
        item.copy = copy != NULL ? copy->roots[i] : 0;
        item.count = g->roots[i].count;
        item.type = g->root_type[i];
        if (w.copying && item.copy == 0)
            wrong(&w, item.host, "a root has no copy");
        enqueue(&w, &item);
    }
    while (w.queue_at < w.queue_count && r->wrong[0] == '\0') {
        waiting item = w.queue[w.queue_at++];
        visit(&w, &item);
    }
    if (r->wrong[0] == '\0')
        finish(&w);
    free(w.queue);
    free(w.table);
    return r->wrong[0] == '\0';
}

void reference_free(reference *r)
{
    free(r->data);
    free(r->all);
    free(r->structs);
    free(r->slots);
    free(r->counts);
    memset(r, 0, sizeof *r);
}

static int is_zero(const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != 0)
            return 0;
    return 1;
}

int reference_rest_is_zero(reference *r, const void *memory, size_t bytes)
{
    uintptr_t at = (uintptr_t)memory, end = at + bytes;
    int good = 1;
    qsort(r->all, r->all_count, sizeof *r->all, by_copy);
    for (size_t i = 0; i <= r->all_count && good; i++) {
        uintptr_t next = i < r->all_count ? r->all[i].copy : end;
        if (next < at || next > end) {
            snprintf(r->wrong, sizeof r->wrong, "a copy lies outside the arena");
            good = 0;
        } else if (!is_zero((const unsigned char *)at, next - at)) {
            snprintf(r->wrong, sizeof r->wrong, "bytes of no object are not zero, between offsets %zu and %zu",
                     (size_t)(at - (uintptr_t)memory), (size_t)(next - (uintptr_t)memory));
            good = 0;
        }
        at = i < r->all_count ? next + r->all[i].bytes : end;
    }
    qsort(r->all, r->all_count, sizeof *r->all, by_host);
    return good;
}

int reference_find(const reference *r, uintptr_t address, uintptr_t *copy)
{
    size_t low = 0, high = r->all_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->all[middle].host <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - r->all[low - 1].host >= r->all[low - 1].bytes)
        return 0;
    *copy = r->all[low - 1].copy + (address - r->all[low - 1].host);
    return 1;
}

/* ---- A copy by the reference ---- */

static uintptr_t place_of_block(const graph *g, const reference_copy *copy, size_t i)
{
    uintptr_t first = (uintptr_t)copy->blocks[i] + 4096;
    return first - first % 4096 + (uintptr_t)g->blocks[i].memory % 4096;
}

/* Blocks may touch: what is one past one can be the start of another, and is then taken for that. */
static uintptr_t moved(const graph *g, const reference_copy *copy, const void *address)
{
    uintptr_t end = 0;
    for (size_t i = 0; i < g->block_count; i++) {
        uintptr_t at = (uintptr_t)address - (uintptr_t)g->blocks[i].memory;
        if (at < g->blocks[i].bytes)
            return place_of_block(g, copy, i) + at;
        if (at == g->blocks[i].bytes)
            end = place_of_block(g, copy, i) + at;
    }
    return end;
}

void reference_copy_make(const graph *g, const reference *r, reference_copy *copy)
{
    memset(copy, 0, sizeof *copy);
    copy->count = g->block_count;
    copy->blocks = must(calloc(g->block_count + 1, sizeof *copy->blocks));
    for (size_t i = 0; i < g->block_count; i++)
        copy->blocks[i] = must(calloc(1, g->blocks[i].bytes + 3 * 4096));
    for (size_t i = 0; i < r->data_count; i++)
        for (size_t k = 0; k < r->data[i].bytes; k++) {
            const unsigned char *from = (const unsigned char *)r->data[i].host + k;
            *(unsigned char *)moved(g, copy, from) = *from;
        }
    for (size_t i = 0; i < r->slot_count; i++) {
        const reference_slot *s = &r->slots[i];
        uintptr_t rest = (uintptr_t)s->value - (uintptr_t)s->target;
        uintptr_t word = s->kind == SLOT_KEPT ? (uintptr_t)s->value : moved(g, copy, s->target) + rest;
        if (s->value != NULL)
            graph_write_pointer((void *)moved(g, copy, s->at), (void *)word);
    }
    for (size_t i = 0; i < g->root_count; i++)
        copy->place.roots[i] = moved(g, copy, g->roots[i].address);
    copy->place.bytes = SIZE_MAX;
}

void reference_copy_free(reference_copy *copy)
{
    for (size_t i = 0; i < copy->count; i++)
        free(copy->blocks[i]);
    free(copy->blocks);
    memset(copy, 0, sizeof *copy);
}
