/* The reference copier: small and slow, a queue and a table.
 *
 * What waits in the queue is an array of elements of a type, or an array of pointers on its way to
 * them. The table keeps, for each element or array seen, where its copy lies; meeting it again with
 * another copy is a split alias.
 */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"

static const size_t pointer_bytes = sizeof(void *);

typedef struct waiting {
    uintptr_t host, copy;
    size_t count;
    int type; /* elements of it; -1: pointers of `row` on `level` */
    int of;   /* the type that row belongs to */
    const model_field *row;
    uintptr_t self;
    unsigned level;
    haul_transfer bars; /* the bytes travel less: what the way that led here says */
} waiting;

/* An element of a type, or a word in an array of pointers that row `as` of the struct `self` led
 * to. */
typedef struct seen {
    uintptr_t host, copy, as, self;
    int used;
} seen;

typedef struct walker {
    const graph *g;
    reference *r;
    const reference_place *place;
    int copying;
    haul_transfer bars; /* of what is described now */
    waiting *queue;
    size_t queue_count, queue_capacity, queue_at;
    seen *table;
    size_t table_count, table_capacity;
} walker;

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
    uint64_t h =
        (uint64_t)host * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)as * UINT64_C(0xC2B2AE3D27D4EB4F);
    return (size_t)(h ^ h >> 29);
}

static seen *look_up(walker *w, uintptr_t host, uintptr_t as, uintptr_t self)
{
    size_t i = hash_of(host, as + self) & (w->table_capacity - 1);
    while (w->table[i].used &&
           (w->table[i].host != host || w->table[i].as != as || w->table[i].self != self))
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

static void add_range(reference_range **list, size_t *count, size_t *capacity, uintptr_t host,
                      uintptr_t copy, size_t bytes)
{
    *list = room(*list, *count, capacity, sizeof **list);
    (*list)[*count].host = host;
    (*list)[*count].copy = copy;
    (*list)[(*count)++].bytes = bytes;
}

/* HAUL_COPYIN and HAUL_COPYOUT are the two ways that a byte can be kept from, HAUL_CREATE is both
 * of them. */
static haul_transfer together(haul_transfer a, haul_transfer b)
{
    return (haul_transfer)((unsigned)a | (unsigned)b);
}

static void bar(walker *w, uintptr_t host, size_t bytes)
{
    reference *r = w->r;
    if ((w->bars & HAUL_COPYOUT) && (!w->copying || w->place->bars == BARS_ALL))
        add_range(&r->unsent, &r->unsent_count, &r->unsent_capacity, host, 0, bytes);
    if (w->bars & HAUL_COPYIN)
        add_range(&r->unreturned, &r->unreturned_count, &r->unreturned_capacity, host, 0, bytes);
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
    bar(w, host, bytes);
    if (w->copying && !w->place->is_ordered && (copy - host) % (2 * sizeof(void *)) != 0)
        wrong(w, host, "the copy has another address modulo two pointers");
    add_range(&w->r->data, &w->r->data_count, &w->r->data_capacity, host, copy, bytes);
}

/* Bytes that this description leaves out. */
static void nothing(walker *w, uintptr_t host, uintptr_t copy, size_t bytes)
{
    reference *r = w->r;
    if (w->copying && in_place(w, host, copy, bytes))
        add_range(&r->nothing, &r->nothing_count, &r->nothing_capacity, host, copy, bytes);
}

static void enqueue(walker *w, const waiting *item)
{
    w->queue = room(w->queue, w->queue_count, &w->queue_capacity, sizeof *w->queue);
    w->queue[w->queue_count++] = *item;
}

static reference_slot *new_slot(walker *w, uintptr_t host, uintptr_t copy, size_t bytes,
                                reference_slot_kind kind)
{
    reference *r = w->r;
    r->slots = room(r->slots, r->slot_count, &r->slot_capacity, sizeof *r->slots);
    reference_slot *s = &r->slots[r->slot_count++];
    memset(s, 0, sizeof *s);
    s->at = (unsigned char *)host;
    s->copy = copy;
    s->bytes = bytes;
    s->kind = kind;
    s->one_of = -1;
    bar(w, host, bytes);
    return s;
}

/* Is there a copy of the word to be looked at? */
static int can_compare(walker *w, uintptr_t host, uintptr_t copy, size_t bytes)
{
    if (!w->copying || !in_place(w, host, copy, bytes))
        return 0;
    if (!w->place->is_ordered && (copy - host) % (2 * sizeof(void *)) != 0)
        wrong(w, host, "the copy of a pointer has another address modulo two pointers");
    return w->r->wrong[0] == '\0';
}

/* The pointer at host, and at copy: recorded; the copy's value. A pointer behind which nothing
 * stands may become null: it can lead anywhere. */
static uintptr_t slot(walker *w, uintptr_t host, uintptr_t copy, reference_slot_kind kind,
                      int one_of)
{
    void *value = graph_read_pointer((const void *)host);
    reference_slot *s = new_slot(w, host, copy, pointer_bytes, value == NULL ? SLOT_NULL : kind);
    uintptr_t there;
    s->value = s->target = value;
    s->one_of = one_of;
    if (!can_compare(w, host, copy, pointer_bytes))
        return 0;
    there = (uintptr_t)graph_read_pointer((const void *)copy);
    if (value == NULL && there != 0)
        wrong(w, host, "a null pointer became another");
    if (value != NULL && there == 0 && kind == SLOT_FOLLOWED)
        wrong(w, host, "a pointer became null");
    return there;
}

/* Those that its row allows, be they in the word or not. */
static void set_tags(reference_slot *s, uintptr_t tags)
{
    s->tags = tags;
    s->high_tags = (tags & HAUL_HIGH_TAGS) != 0 ? tags : 0;
}

/* A pointer with tags or a bias, and what it leads to, which is `distance` on; the copy of that.
 * SLOT_EMPTY: nothing stands there, and its tags need not be free. */
static uintptr_t ruled_slot(walker *w, const model_field *f, uintptr_t host, uintptr_t copy,
                            uintptr_t distance, reference_slot_kind kind)
{
    uintptr_t there = slot(w, host, copy, kind, -1);
    reference_slot *s = &w->r->slots[w->r->slot_count - 1];
    s->target = (void *)((uintptr_t)s->value + distance);
    set_tags(s, f->rule.tags);
    s->kind = kind == SLOT_EMPTY ? SLOT_RULED : kind;
    s->is_empty = kind == SLOT_EMPTY;
    if (!w->copying || w->r->wrong[0] != '\0' || there == 0)
        return 0; /* nothing may stand behind it */
    if (kind != SLOT_EMPTY && (there & f->rule.tags) != ((uintptr_t)s->value & f->rule.tags))
        wrong(w, host, "tag bits have changed");
    return there + distance;
}

static void kept_slot(walker *w, uintptr_t host, uintptr_t copy, uintptr_t becomes)
{
    reference_slot *s = new_slot(w, host, copy, pointer_bytes, SLOT_KEPT);
    s->value = graph_read_pointer((const void *)host);
    s->becomes = becomes;
    if (can_compare(w, host, copy, pointer_bytes) &&
        (uintptr_t)graph_read_pointer((const void *)copy) != becomes)
        wrong(w, host, "a word that is no pointer is not what it must be");
}

/* A distance to `to` and `lead` bytes on; 0: to nothing. The copy of `to`; 0: nothing is there. */
static uintptr_t distance_slot(walker *w, const model_field *f, uintptr_t host, uintptr_t copy,
                               uintptr_t to, uintptr_t lead)
{
    reference_slot *s = new_slot(w, host, copy, f->bytes, SLOT_DISTANCE);
    int64_t there;
    s->target = (void *)to;
    s->lead = lead;
    if (!can_compare(w, host, copy, f->bytes))
        return 0;
    there = model_read((const void *)copy, f->bytes, 1);
    if (to == 0 && there != 0)
        wrong(w, host, "a distance of 0 became another");
    return there != 0 ? copy + (uintptr_t)there - lead : 0;
}

static void note_read(walker *w, reference_reader what, const model_field *row, uintptr_t at,
                      size_t bytes)
{
    w->r->reads = room(w->r->reads, w->r->read_count, &w->r->read_capacity, sizeof *w->r->reads);
    reference_read *r = &w->r->reads[w->r->read_count++];
    r->what = what;
    r->row = row;
    r->at = (unsigned char *)at;
    r->bytes = bytes;
}

/* ---- Counts ---- */

static int64_t value_of(const model_type *t, const model_shape *s, uintptr_t self, unsigned changed,
                        int64_t by)
{
    int64_t n = s->multiply;
    if (s->field_count == 0)
        return s->add;
    for (unsigned i = 0; i < s->field_count; i++) {
        const model_field *f = &t->field[s->field[i]];
        int64_t v = model_read((const void *)(self + f->offset), f->bytes, f->is_signed);
        n *= s->field[i] == changed ? v + by : v;
    }
    return n + s->add;
}

/* Records fields that can be smaller by one: no shape of the type may then be negative, and this
 * one must change. */
static void note_counts(walker *w, const model_type *t, const model_shape *s, uintptr_t self)
{
    size_t size = model_stored_size(t, (const void *)self);
    for (unsigned i = 0; i < s->field_count; i++) {
        unsigned k = s->field[i];
        const model_field *f = &t->field[k];
        int64_t v = model_read((const void *)(self + f->offset), f->bytes, f->is_signed);
        int good = v > 0 && value_of(t, s, self, k, -1) < value_of(t, s, self, k, 0);
        for (unsigned j = 0; j < t->field_count && good; j++)
            for (unsigned level = 0; level < t->field[j].levels; level++)
                if (t->field[j].offset < size && t->field[j].shape[level].rule == RULE_COUNT &&
                    value_of(t, &t->field[j].shape[level], self, k, -1) < 0)
                    good = 0;
        if (!good)
            continue;
        w->r->counts =
            room(w->r->counts, w->r->count_count, &w->r->count_capacity, sizeof *w->r->counts);
        reference_count *c = &w->r->counts[w->r->count_count++];
        c->at = (unsigned char *)(self + f->offset);
        c->bytes = f->bytes;
        c->smaller = v - 1;
    }
}

static int is_terminator(uintptr_t element, size_t bytes, int64_t value)
{
    uint64_t mask = bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
    return ((uint64_t)model_read((const void *)element, bytes, 0) & mask) ==
           ((uint64_t)value & mask);
}

static size_t count_before(uintptr_t pointer)
{
    const void *before = graph_read_pointer((const void *)(pointer - pointer_bytes));
    return before != NULL ? (size_t)model_read(before, 2, 0) % 4 : 0;
}

static size_t count_of(walker *w, const model_type *t, const model_field *f, unsigned level,
                       uintptr_t self, size_t index, uintptr_t target)
{
    const model_shape *s = &f->shape[level];
    size_t unit = level + 1 == f->levels ? f->element_bytes : pointer_bytes, n = 0;
    switch (s->rule) {
    case RULE_ONE:
        return 1;
    case RULE_COUNT:
        if (target != 0)
            note_counts(w, t, s, self);
        return (size_t)value_of(t, s, self, UINT32_MAX, 0);
    case RULE_END:
        return ((uintptr_t)graph_read_pointer((const void *)(self + t->field[s->field[0]].offset)) -
                target) /
               unit;
    case RULE_SENTINEL:
        while (!is_terminator(target + n * unit, unit, s->add))
            n++;
        add_range(&w->r->ended, &w->r->ended_count, &w->r->ended_capacity, target, 0,
                  (n + 1) * unit);
        return n + 1;
    case RULE_BY_INDEX:
        return (3 * index + 1) % 4;
    case RULE_BY_SELF:
        return *(const unsigned char *)self % 5;
    case RULE_BY_BEFORE:
        return count_before(self + f->offset);
    default:
        return (size_t)w->g->oracle.count_of(&w->g->oracle, (const void *)target);
    }
}

/* ---- The walk ---- */

/* Where a pointer on `level` of a row leads: n elements, which go into the queue. `type`: of
 * elements; -1: plain. */
typedef struct aim {
    int of; /* the type that the row belongs to */
    const model_field *row;
    unsigned level;
    uintptr_t self;
    size_t index;
    int type;
    size_t element_bytes;
} aim;

static size_t aim_count(walker *w, const aim *a, uintptr_t to)
{
    return to != 0 ? count_of(w, &w->g->model->type[a->of], a->row, a->level, a->self, a->index, to)
                   : 0;
}

static haul_transfer direction_of(const walker *w, const model_field *row)
{
    return w->copying && w->place->bars == BARS_OF_FIELDS ? HAUL_COPY : row->rule.direction;
}

static void reach(walker *w, const aim *a, size_t n, uintptr_t to, uintptr_t to_copy)
{
    int last = a->level + 1 == a->row->levels;
    haul_transfer direction = direction_of(w, a->row);
    waiting item;
    if (n == 0 || w->r->wrong[0] != '\0')
        return;
    if (last && a->type < 0) {
        haul_transfer before = w->bars;
        w->bars = direction;
        data(w, to, to_copy, n * a->element_bytes);
        w->bars = before;
        return;
    }
    memset(&item, 0, sizeof item);
    /* Pointers on the way to elements are sent in any case. */
    item.bars = last ? direction : (haul_transfer)(direction & HAUL_COPYIN);
    item.host = to;
    item.copy = to_copy;
    item.count = n;
    item.type = last ? a->type : -1;
    item.of = a->of;
    item.row = a->row;
    item.self = a->self;
    item.level = a->level + 1;
    enqueue(w, &item);
}

static void follow_plain(walker *w, const aim *a, uintptr_t host, uintptr_t copy)
{
    uintptr_t to = (uintptr_t)graph_read_pointer((const void *)host), to_copy;
    int last = a->level + 1 == a->row->levels;
    int replaceable = last && a->row->rule.choice == CHOICE_NONE &&
                      a->row->shape[a->level].rule == RULE_ONE &&
                      (to != 0 || a->level == 0); /* no terminators */
    size_t n = aim_count(w, a, to);
    to_copy = slot(w, host, copy, n != 0 ? SLOT_FOLLOWED : SLOT_EMPTY, replaceable ? a->type : -1);
    set_tags(&w->r->slots[w->r->slot_count - 1], a->level == 0 ? a->row->rule.tags : 0);
    reach(w, a, n, to, to_copy);
}

/* What the row's rule takes off the address; the type that it chooses. */
static uintptr_t take_lead(walker *w, aim *a, uintptr_t address)
{
    const model_type *t = &w->g->model->type[a->of];
    const model_rule_of_field *rule = &a->row->rule;
    uintptr_t lead =
        (uintptr_t)model_bias(a->row, (const void *)a->self, a->index, (const void *)address);
    const model_case *one;
    if (rule->choice == CHOICE_NONE)
        return lead;
    one = model_choose(t, a->row, (const void *)a->self, a->index, (const void *)(address - lead));
    if (one == NULL) {
        wrong(w, a->self, "a choice without a case");
        return lead;
    }
    if (rule->choice == CHOICE_BY_FIELD)
        note_read(w, READ_CHOICE, a->row, a->self + t->field[rule->selector].offset,
                  t->field[rule->selector].bytes);
    if (rule->choice == CHOICE_BY_TAG)
        note_read(w, READ_CHOICE, a->row, address - lead + TAG_AT, TAG_BYTES);
    a->type = one->type;
    return lead + (uintptr_t)one->bias;
}

static void follow_own(walker *w, aim *a, uintptr_t host, uintptr_t copy, uintptr_t word)
{
    uintptr_t address = word & ~a->row->rule.tags, to = address - take_lead(w, a, address), to_copy;
    size_t n;
    if (to == word) {
        follow_plain(w, a, host, copy);
        return;
    }
    n = aim_count(w, a, to);
    to_copy = ruled_slot(w, a->row, host, copy, to - word, n != 0 ? SLOT_RULED : SLOT_EMPTY);
    if (w->copying && n != 0 && to_copy == 0)
        wrong(w, host, "a pointer became null");
    reach(w, a, n, to, to_copy);
}

static void follow_distance(walker *w, aim *a, uintptr_t host, uintptr_t copy)
{
    int64_t distance = model_read((const void *)host, a->row->bytes, 1);
    uintptr_t address = host + (uintptr_t)distance,
              lead = distance != 0 ? take_lead(w, a, address) : 0;
    uintptr_t to = distance != 0 ? address - lead : 0;
    size_t n = aim_count(w, a, to);
    uintptr_t to_copy = distance_slot(w, a->row, host, copy, to, lead);
    if (w->copying && n != 0 && to_copy == 0)
        wrong(w, host, "a distance became 0");
    if (n == 0)
        w->r->slots[w->r->slot_count - 1].target = NULL;
    reach(w, a, n, to, to_copy);
}

static uintptr_t translated(const walker *w, uintptr_t word)
{
    for (unsigned i = 0; i < 3; i++)
        if (w->g->around->functions[i].host == word)
            return w->g->around->functions[i].copy;
    return word;
}

static int is_integer(const model_rule_of_field *rule, uintptr_t word)
{
    return word < rule->integers || (rule->integers_from != 0 && word >= rule->integers_from) ||
           (word & ~rule->tags) == 0;
}

/* High tags alone may get an address there. */
static int is_tagged_null(const model_rule_of_field *rule, uintptr_t word)
{
    return (rule->tags & HAUL_HIGH_TAGS) != 0 && (word & ~rule->tags) == 0 &&
           word >= rule->integers && (rule->integers_from == 0 || word < rule->integers_from);
}

/* A word that may lead to a static: 1 when it is one that is not followed. */
static int is_static_word(walker *w, uintptr_t address, uintptr_t word, uintptr_t *becomes)
{
    const surroundings *around = w->g->around;
    *becomes = word;
    if (address - (uintptr_t)around->kept <= STATIC_BYTES)
        return 1;
    *becomes = 0;
    return address - (uintptr_t)around->nulls <= STATIC_BYTES;
}

static void follow_address(walker *w, aim *a, uintptr_t host, uintptr_t copy, uintptr_t word)
{
    const model_rule_of_field *rule = &a->row->rule;
    uintptr_t address = word & ~rule->tags, becomes;
    int may_be_static = rule->mode == MODE_OWN_OR_STATIC || rule->mode == MODE_ALIAS_OR_STATIC;
    int is_alias = rule->mode == MODE_ALIAS || rule->mode == MODE_ALIAS_OR_STATIC;
    if (may_be_static && is_static_word(w, address, word, &becomes)) {
        kept_slot(w, host, copy, becomes);
    } else if (is_alias && !(may_be_static && graph_is_copied(w->g, (const void *)address))) {
        ruled_slot(w, a->row, host, copy, address - word, SLOT_ALIAS);
    } else {
        follow_own(w, a, host, copy, word);
        w->r->slots[w->r->slot_count - 1].owns_statics = is_alias;
    }
}

static void follow_ruled(walker *w, aim *a, uintptr_t host, uintptr_t copy)
{
    const model_rule_of_field *rule = &a->row->rule;
    uintptr_t word;
    if (rule->is_distance) {
        follow_distance(w, a, host, copy);
        return;
    }
    word = (uintptr_t)graph_read_pointer((const void *)host);
    switch (rule->mode) {
    case MODE_RAW:
        data(w, host, copy, pointer_bytes);
        return;
    case MODE_NULL:
        nothing(w, host, copy, pointer_bytes);
        return;
    case MODE_EXTERNAL:
        kept_slot(w, host, copy, translated(w, word));
        return;
    default:
        break;
    }
    if (word == 0)
        slot(w, host, copy, SLOT_NULL, -1);
    else if (is_tagged_null(rule, word))
        ruled_slot(w, a->row, host, copy, 0 - word, SLOT_RULED);
    else if (is_integer(rule, word))
        kept_slot(w, host, copy, word);
    else
        follow_address(w, a, host, copy, word);
}

/* A pointer on `level` of row f of type number `of`: what it leads to goes into the queue. */
static void follow(walker *w, int of, const model_field *f, unsigned level, uintptr_t self,
                   size_t index, uintptr_t host, uintptr_t copy)
{
    aim a;
    a.of = of;
    a.row = f;
    a.level = level;
    a.self = self;
    a.index = index;
    a.type = f->target;
    a.element_bytes = f->element_bytes;
    if (f->rule.is_there && level == 0)
        follow_ruled(w, &a, host, copy);
    else
        follow_plain(w, &a, host, copy);
}

static void visit_end(walker *w, const model_field *begin, const model_field *end, uintptr_t host,
                      uintptr_t copy)
{
    uintptr_t from = (uintptr_t)graph_read_pointer((const void *)(host + begin->offset));
    uintptr_t to = (uintptr_t)graph_read_pointer((const void *)(host + end->offset));
    uintptr_t to_copy = slot(w, host + end->offset, copy + end->offset, SLOT_END, -1);
    if (from != 0 && to != 0)
        w->r->slots[w->r->slot_count - 1].target = (void *)from;
    if (!w->copying || w->r->wrong[0] != '\0')
        return;
    if (to - from != to_copy - (uintptr_t)graph_read_pointer((const void *)(copy + begin->offset)))
        wrong(w, host + end->offset, "an end pointer has another distance from its begin");
}

static int can_be_an_arm(const model_field *f)
{
    return f->rule.is_there && f->rule.when != WHEN_ALWAYS;
}

/* Does a row that holds have this byte? */
static int is_claimed(const model_type *t, uintptr_t host, size_t byte)
{
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        if (can_be_an_arm(f) && byte - f->offset < f->bytes &&
            model_holds(t, f, (const void *)host))
            return 1;
    }
    return 0;
}

/* A row that does not hold: its bytes are nobody's, or data, if no row that holds has the same
 * ones. */
static void visit_other_bytes(walker *w, const model_type *t, const model_field *f, uintptr_t host,
                              uintptr_t copy)
{
    for (size_t byte = f->offset; byte < f->offset + f->bytes; byte++)
        if (!is_claimed(t, host, byte))
            (f->rule.raw ? data : nothing)(w, host + byte, copy + byte, 1);
}

static void visit_bytes(walker *w, const model_field *f, uintptr_t host, uintptr_t copy,
                        size_t bytes)
{
    haul_transfer before = w->bars;
    w->bars = together(w->bars, f->rule.direction);
    data(w, host + f->offset, copy + f->offset, bytes);
    w->bars = before;
}

static void visit_inside(walker *w, const model_field *f, uintptr_t host, uintptr_t copy,
                         size_t count)
{
    waiting item;
    memset(&item, 0, sizeof item);
    item.host = host + f->offset;
    item.copy = copy + f->offset;
    item.count = count;
    item.type = f->target;
    item.bars = together(w->bars, f->rule.direction);
    w->r->has_parts = 1;
    enqueue(w, &item);
}

static void visit_pointers(walker *w, int type, const model_field *f, uintptr_t host,
                           uintptr_t copy)
{
    const model_type *t = &w->g->model->type[type];
    size_t n = f->rule.is_distance ? 1 : f->count;
    for (size_t k = 0; k < n; k++)
        follow(w, type, f, 0, host, k, host + f->offset + k * pointer_bytes,
               copy + f->offset + k * pointer_bytes);
    if (f->shape[0].rule == RULE_END)
        visit_end(w, f, &t->field[f->shape[0].field[0]], host, copy);
}

static void visit_field(walker *w, int type, const model_field *f, uintptr_t host, uintptr_t copy,
                        size_t size)
{
    const model_type *t = &w->g->model->type[type];
    if (can_be_an_arm(f) && (f->rule.when == WHEN_FIELD || f->rule.when == WHEN_NOT))
        note_read(w, READ_CONDITION, f, host + t->field[f->rule.kind].offset,
                  t->field[f->rule.kind].bytes);
    if (!model_holds(t, f, (const void *)host))
        visit_other_bytes(w, t, f, host, copy);
    else if (f->kind == FIELD_EMBED)
        visit_inside(w, f, host, copy, f->count);
    else if (f->kind == FIELD_POINTER)
        visit_pointers(w, type, f, host, copy);
    else if (f->kind == FIELD_DATA && f->rule.is_there)
        visit_bytes(w, f, host, copy, f->bytes);
    else if (f->kind == FIELD_SKIP)
        nothing(w, host + f->offset, copy + f->offset,
                size - f->offset < f->bytes ? size - f->offset : f->bytes);
}

/* How long the object is; *tail: how many elements it ends with. */
static size_t size_of(walker *w, const model_type *t, uintptr_t host, size_t *tail)
{
    const model_field *f = t->sizing == SIZE_BY_TAIL ? model_tail(t) : NULL;
    *tail = 0;
    if (t->sizing == SIZE_STORED) {
        note_read(w, READ_SIZE, NULL, host + SIZE_AT, 2);
        return model_stored_size(t, (const void *)host);
    }
    if (f == NULL)
        return t->extent;
    if (f->shape[0].rule == RULE_COUNT && f->shape[0].field_count == 1 && f->shape[0].multiply > 0)
        note_read(w, READ_TAIL, f, host + t->field[f->shape[0].field[0]].offset,
                  t->field[f->shape[0].field[0]].bytes);
    *tail = count_of(w, t, f, 0, host, 0, host + f->offset);
    return f->offset + *tail * f->element_bytes;
}

static void visit_tail(walker *w, const model_field *f, uintptr_t host, uintptr_t copy,
                       size_t count)
{
    if (f->target < 0)
        visit_bytes(w, f, host, copy, count * f->element_bytes);
    else if (count != 0)
        visit_inside(w, f, host, copy, count);
}

/* The bytes that are data whatever the object is; those behind its struct are data, too. */
static void visit_runs(walker *w, const model_type *t, uintptr_t host, uintptr_t copy, size_t size)
{
    for (unsigned i = 0; i < t->run_count; i++) {
        const model_run *run = &t->run[i];
        size_t end = run->offset + run->bytes;
        if (t->sizing == SIZE_STORED && end > size)
            end = size;
        if (run->offset < end)
            data(w, host + run->offset, copy + run->offset, end - run->offset);
    }
    if (t->sizing == SIZE_STORED && size > t->extent)
        data(w, host + t->extent, copy + t->extent, size - t->extent);
}

/* From its address on: what lies in front of its lower bound is a gap as well. */
static size_t room_of(const model_type *t, size_t size)
{
    if (t->form == FORM_STRUCT)
        return size;
    return t->upper > t->true_upper ? t->upper : t->true_upper;
}

static void visit_element(walker *w, int type, uintptr_t host, uintptr_t copy)
{
    const model_type *t = &w->g->model->type[type];
    size_t tail, size = size_of(w, t, host, &tail);
    w->r->has_holes |= t->has_holes;
    if (w->copying && t->has_holes && t->form == FORM_STRUCT && in_place(w, host, copy, size))
        add_range(&w->r->structs, &w->r->struct_count, &w->r->struct_capacity, host, copy, size);
    if (w->copying && t->has_holes)
        add_range(&w->r->rooms, &w->r->room_count, &w->r->room_capacity, host, copy,
                  room_of(t, size));
    if (w->copying && t->declared != 0 && copy % t->declared != 0)
        wrong(w, host, "the copy is not aligned as its type declares");
    visit_runs(w, t, host, copy, size);
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        if (f->kind == FIELD_TAIL)
            visit_tail(w, f, host, copy, tail);
        else if (t->sizing != SIZE_STORED || f->offset < size)
            visit_field(w, type, f, host, copy, size);
    }
}

/* What was seen before is seen again where another row keeps it from travelling. */
static void visit(walker *w, const waiting *item)
{
    w->bars = item->bars;
    if (item->type >= 0) {
        size_t extent = w->g->model->type[item->type].extent;
        for (size_t i = 0; i < item->count && w->r->wrong[0] == '\0'; i++) {
            uintptr_t host = item->host + i * extent, copy = item->copy + i * extent;
            if (is_new(w, host, copy, (uintptr_t)item->type, (uintptr_t)item->bars))
                visit_element(w, item->type, host, copy);
        }
        return;
    }
    for (size_t i = 0; i < item->count && w->r->wrong[0] == '\0'; i++) {
        uintptr_t at = i * pointer_bytes;
        uintptr_t as = (uintptr_t)item->row + item->level; /* rows lie further apart than levels */
        if (is_new(w, item->host + at, item->copy + at, as, item->self))
            follow(w, item->of, item->row, item->level, item->self, i, item->host + at,
                   item->copy + at);
    }
}

/* ---- Afterwards: one byte, one copy ---- */

static int is_zero(const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != 0)
            return 0;
    return 1;
}

static int by_host(const void *a, const void *b)
{
    const reference_range *x = a, *y = b;
    return x->host != y->host    ? (x->host < y->host ? -1 : 1)
           : x->bytes > y->bytes ? -1
                                 : x->bytes < y->bytes;
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

/* Copies mostly lie in the order of what they are copies of. */
static void sort_ranges(reference_range *list, size_t count,
                        int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < count; i++)
        if (compare(&list[i - 1], &list[i]) > 0) {
            qsort(list, count, sizeof *list, compare);
            return;
        }
}

/* Sorts and merges; ranges that overlap must lie equally far from their copies. */
static void merge(walker *w, reference_range *list, size_t *count)
{
    size_t n = 0;
    if (*count == 0)
        return;
    sort_ranges(list, *count, by_host);
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

/* What is left out is zeros in the copy, where nobody else describes it. */
static void check_nothing(walker *w)
{
    for (size_t i = 0; i < w->r->nothing_count; i++) {
        const reference_range *n = &w->r->nothing[i];
        uintptr_t copy;
        for (size_t k = 0; k < n->bytes; k++)
            if (*(const unsigned char *)(n->copy + k) != 0 &&
                !reference_find(w->r, n->host + k, &copy))
                wrong(w, n->host + k, "a byte that is left out is not zero in the copy");
    }
}

/* Ranges without copies. */
static void merge_bars(walker *w, reference_range *list, size_t *count)
{
    int copying = w->copying;
    w->copying = 0;
    merge(w, list, count);
    w->copying = copying;
}

size_t reference_stretch(const reference_range *list, size_t count, uintptr_t at, size_t bytes,
                         int *inside)
{
    size_t low = 0, high = count, left;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].host <= at)
            low = middle + 1;
        else
            high = middle;
    }
    *inside = low != 0 && at - list[low - 1].host < list[low - 1].bytes;
    left = *inside       ? list[low - 1].host + list[low - 1].bytes - at
           : low < count ? list[low].host - at
                         : bytes;
    return left < bytes ? left : bytes;
}

static void compare_data(walker *w, const reference_range *range)
{
    size_t at = 0, n;
    int unsent;
    for (; at < range->bytes; at += n) {
        const unsigned char *host = (const unsigned char *)range->host + at;
        const unsigned char *copy = (const unsigned char *)range->copy + at;
        n = reference_stretch(w->r->unsent, w->r->unsent_count, (uintptr_t)host, range->bytes - at,
                              &unsent);
        if (unsent && !is_zero(copy, n))
            wrong(w, (uintptr_t)host, "bytes that are not sent are not zero");
        if (!unsent && memcmp(host, copy, n) != 0)
            wrong(w, (uintptr_t)host, "bytes differ");
    }
}

/* A kernel may use a skipped field: its bytes belong to its object there. */
static void check_structs_apart(walker *w)
{
    reference *r = w->r;
    size_t k = 0;
    sort_ranges(r->structs, r->struct_count, by_copy);
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
    sort_ranges(r->all, r->all_count, by_copy);
    check_structs_apart(w);
    for (size_t i = 1; i < r->all_count; i++)
        if (r->all[i].copy < r->all[i - 1].copy + r->all[i - 1].bytes)
            wrong(w, r->all[i].host, "two objects share one copy");
    sort_ranges(r->all, r->all_count, by_host);
}

/* In an ordered copy, an alias to the end of something where something else begins may be either:
 * it then keeps its distance from what is described last in front of it. (Between the two may be
 * bytes that do not travel.) */
static int is_end_in_order(const walker *w, const reference_slot *s, uintptr_t there)
{
    const reference_range *before = NULL;
    for (size_t i = 0; w->place->is_ordered && i < w->r->all_count; i++) {
        const reference_range *r = &w->r->all[i];
        if (r->host + r->bytes <= (uintptr_t)s->target &&
            (before == NULL || before->host <= r->host))
            before = r;
    }
    return before != NULL && there - before->copy == (uintptr_t)s->value - before->host;
}

/* Or it leads to that beginning, be the first bytes there described or not. */
static int is_beginning_in_order(const walker *w, const reference_slot *s, uintptr_t there)
{
    for (size_t i = 0; w->place->is_ordered && i < w->table_capacity; i++) {
        const seen *e = &w->table[i];
        if (e->used && e->host == (uintptr_t)s->target &&
            e->copy == there - ((uintptr_t)s->value - e->host))
            return 1;
    }
    return 0;
}

/* What an alias leads to has a copy, and its own copy leads there. */
static void check_aliases(walker *w)
{
    for (size_t i = 0; i < w->r->slot_count; i++) {
        const reference_slot *s = &w->r->slots[i];
        uintptr_t target = (uintptr_t)s->target, there, to = 0;
        if (s->kind != SLOT_ALIAS)
            continue;
        there = (uintptr_t)graph_read_pointer((const void *)s->copy);
        if (!reference_find(w->r, target, &to) && reference_find(w->r, target - 1, &to))
            to++;
        if (to == 0)
            wrong(w, (uintptr_t)s->at, "an alias leads to nothing that is described");
        else if (there != to + ((uintptr_t)s->value - target) && !is_end_in_order(w, s, there) &&
                 !is_beginning_in_order(w, s, there))
            wrong(w, (uintptr_t)s->at, "the copy of an alias leads elsewhere");
    }
}

/* Data and words, by place: both are in order. */
static void join(reference *r)
{
    size_t k = 0;
    for (size_t i = 0; i <= r->data_count; i++) {
        uintptr_t next = i < r->data_count ? r->data[i].host : UINTPTR_MAX;
        for (; k < r->slot_count && (uintptr_t)r->slots[k].at < next; k++)
            add_range(&r->all, &r->all_count, &r->all_capacity, (uintptr_t)r->slots[k].at,
                      r->slots[k].copy, r->slots[k].bytes);
        if (i < r->data_count)
            add_range(&r->all, &r->all_count, &r->all_capacity, next, r->data[i].copy,
                      r->data[i].bytes);
    }
}

static void finish(walker *w)
{
    reference *r = w->r;
    merge(w, r->data, &r->data_count);
    merge_bars(w, r->rooms, &r->room_count); /* gaps alone may overlap, and lie apart there */
    merge_bars(w, r->unsent, &r->unsent_count);
    merge_bars(w, r->unreturned, &r->unreturned_count);
    for (size_t i = 0; i < r->data_count && w->copying && r->wrong[0] == '\0'; i++)
        compare_data(w, &r->data[i]);
    drop_repeated_slots(r);
    join(r);
    merge(w, r->all, &r->all_count);
    if (w->copying) {
        check_copies_apart(w);
        check_aliases(w);
        check_nothing(w);
    }
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
    free(r->rooms);
    free(r->nothing);
    free(r->unsent);
    free(r->ended);
    free(r->unreturned);
    free(r->slots);
    free(r->counts);
    free(r->reads);
    memset(r, 0, sizeof *r);
}

int reference_rest_is_zero(reference *r, const void *memory, size_t bytes)
{
    uintptr_t at = (uintptr_t)memory, end = at + bytes;
    int good = 1;
    sort_ranges(r->all, r->all_count, by_copy);
    for (size_t i = 0; i <= r->all_count && good; i++) {
        uintptr_t next = i < r->all_count ? r->all[i].copy : end;
        if (next < at || next > end) {
            snprintf(r->wrong, sizeof r->wrong, "a copy lies outside the arena");
            good = 0;
        } else if (!is_zero((const unsigned char *)at, next - at)) {
            snprintf(r->wrong, sizeof r->wrong,
                     "bytes of no object are not zero, between offsets %zu and %zu",
                     (size_t)(at - (uintptr_t)memory), (size_t)(next - (uintptr_t)memory));
            good = 0;
        }
        at = i < r->all_count ? next + r->all[i].bytes : end;
    }
    sort_ranges(r->all, r->all_count, by_host);
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

void reference_set_data(const reference *r, uintptr_t address, unsigned char value)
{
    uintptr_t copy;
    int is_data;
    reference_stretch(r->data, r->data_count, address, 1, &is_data);
    if (is_data && reference_find(r, address, &copy))
        *(unsigned char *)copy = value;
}

/* ---- A copy by the reference ---- */

static uintptr_t place_of_block(const graph *g, const reference_copy *copy, size_t i)
{
    uintptr_t first = (uintptr_t)copy->blocks[i] + 4096;
    return first - first % 4096 + (uintptr_t)g->blocks[i].memory % 4096;
}

/* Blocks may touch: what is one past one can be the start of another, and is then taken for
 * that. */
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

static void copy_slot(const graph *g, const reference_copy *copy, const reference_slot *s)
{
    void *at = (void *)moved(g, copy, s->at);
    if (s->kind == SLOT_KEPT)
        graph_write_pointer(at, (void *)s->becomes);
    else if (s->target == NULL)
        return;
    else if (s->kind == SLOT_DISTANCE)
        graph_write(at, s->bytes,
                    (int64_t)(intptr_t)(moved(g, copy, s->target) + s->lead - (uintptr_t)at));
    else
        graph_write_pointer(
            at, (void *)(moved(g, copy, s->target) + ((uintptr_t)s->value - (uintptr_t)s->target)));
}

void reference_copy_make(const graph *g, const reference *r, reference_copy *copy)
{
    size_t bytes = 1;
    memset(copy, 0, sizeof *copy);
    copy->blocks = must(calloc(g->block_count + 1, sizeof *copy->blocks));
    for (size_t i = 0; i < g->block_count; i++)
        bytes += g->blocks[i].bytes + 3 * 4096;
    copy->memory = must(calloc(1, bytes));
    bytes = 0;
    for (size_t i = 0; i < g->block_count; i++) {
        copy->blocks[i] = copy->memory + bytes;
        bytes += g->blocks[i].bytes + 3 * 4096;
    }
    for (size_t i = 0; i < r->data_count; i++)
        for (size_t k = 0; k < r->data[i].bytes; k++) {
            const unsigned char *from = (const unsigned char *)r->data[i].host + k;
            *(unsigned char *)moved(g, copy, from) = *from;
        }
    for (size_t i = 0; i < r->unsent_count; i++)
        for (size_t k = 0; k < r->unsent[i].bytes; k++)
            *(unsigned char *)moved(g, copy, (const void *)(r->unsent[i].host + k)) = 0;
    for (size_t i = 0; i < r->slot_count; i++)
        copy_slot(g, copy, &r->slots[i]);
    for (size_t i = 0; i < g->root_count; i++)
        copy->place.roots[i] = moved(g, copy, g->roots[i].address);
    copy->place.bytes = SIZE_MAX;
    copy->place.is_ordered = 0;
}

void reference_copy_free(reference_copy *copy)
{
    free(copy->memory);
    free(copy->blocks);
    memset(copy, 0, sizeof *copy);
}

/* ---- Late words ---- */

/* A described byte; or, where the word has no tags, one past a range. 0: none was found soon. */
static uintptr_t draw_described(choices *c, const graph *g, const reference *r, uintptr_t tag_bits)
{
    uintptr_t tags = graph_draw_tags(c, tag_bits, 8);
    size_t n = r->all_count < 65536 ? r->all_count : 65536;
    for (unsigned tries = 0; tries < 4 && n != 0; tries++) {
        const reference_range *range = &r->all[choose(c, (uint32_t)n)];
        size_t ends = range->bytes + (tags == 0 ? 1 : 0);
        uintptr_t at = range->host + choose(c, ends < 4096 ? (uint32_t)ends : 4096);
        at = chance(c, 1, 2) ? range->host : at;
        if ((at & tag_bits) == 0 && !graph_is_copied(g, (const void *)at))
            return at | tags;
    }
    return 0;
}

int reference_draw_aliases(choices *c, graph *g, const reference *r)
{
    for (size_t i = 0; i < g->late.count; i++) {
        uintptr_t word =
            chance(c, 1, 6) ? 0 : draw_described(c, g, r, g->late.at[i].row->rule.tags);
        graph_write_pointer(g->late.at[i].address, (void *)word);
    }
    graph_keep(g);
    return g->late.count != 0;
}
