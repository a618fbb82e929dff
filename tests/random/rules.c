/* Drawing optional members: one field with members, the integers that they read, and perhaps the
 * other arms of a union.
 *
 * Members that belong together are drawn together: a field that is not followed has no base, and a
 * distance has no tags.
 */
#include <string.h>

#include "draw.h"

static const size_t pointer_bytes = sizeof(void *);

static unsigned kind_field(choices *c, model_type *t)
{
    unsigned index = t->field_count;
    model_field *f = draw_new_field(t, FIELD_KIND, (size_t)1 << choose(c, 4));
    f->is_signed = chance(c, 1, 2);
    return index;
}

/* ---- Conditions ---- */

static void draw_when(choices *c, model_type *t, unsigned first)
{
    model_rule_of_field *rule = &t->field[first].rule;
    rule->when = (model_when)choose(c, 4);
    if (rule->when == WHEN_ALWAYS)
        return;
    rule->raw = chance(c, 1, 2);
    if (rule->when == WHEN_SELF)
        return;
    rule->kind = kind_field(c, t);
    rule->mask = 3;
    rule->low = rule->high = choose(c, 4);
    if (!chance(c, 1, 3))
        return;
    rule->mask = -1;
    rule->low = (int64_t)choose(c, 20) - (t->field[rule->kind].is_signed ? 10 : 0);
    rule->high = rule->low + choose(c, 6);
}

static int has_bits_of_its_own(const model_rule_of_field *rule)
{
    return rule->when == WHEN_FIELD && rule->mask == 3;
}

/* What else may lie where field `first` does, for the kind that is `more` above its own. */
static void draw_arm(choices *c, model *m, model_type *t, unsigned index, unsigned first,
                     int64_t more)
{
    const model_rule_of_field *of = &t->field[first].rule;
    unsigned arm = t->field_count;
    uint32_t what = choose(c, 4);
    if (what == 0 && index != 0) {
        if (!draw_embed(c, m, t, index))
            return;
    } else if (what == 1) {
        draw_new_field(t, FIELD_DATA, 1 + choose(c, 20));
    } else {
        draw_pointer(c, t);
        model_field *f = &t->field[arm];
        if (f->levels != 1 || f->count != 1 || f->shape[0].rule == RULE_END ||
            f->shape[0].rule == RULE_BY_BEFORE)
            return; /* a field like any other */
    }
    model_rule_of_field *rule = &t->field[arm].rule;
    rule->is_there = 1;
    rule->arm_of = (int)first;
    rule->when = WHEN_FIELD;
    rule->kind = of->kind;
    rule->mask = 3;
    rule->low = rule->high = (of->low + more) & 3;
    rule->raw = chance(c, 1, 2);
}

/* ---- What the word is ---- */

static void draw_bits(choices *c, model_rule_of_field *rule)
{
    static const uintptr_t tags[] = { 0, 0, 1, 3, sizeof(void *) - 1, 2 };
    rule->tags = tags[choose(c, 6)];
    rule->integers = chance(c, 1, 3) ? 100 : 0;
    rule->integers_from = chance(c, 1, 6) ? (uintptr_t)0 - 9 : 0;
}

/* Of what addresses leave free: some, or all. */
static void draw_high_tags(choices *c, const model *m, model_rule_of_field *rule)
{
    if (!m->has_high_tags || rule->is_distance || rule->mode > MODE_ALIAS_OR_STATIC ||
        !chance(c, 1, 2))
        return;
    rule->tags |=
        chance(c, 1, 2) ? HAUL_HIGH_TAGS : HAUL_HIGH_TAGS & ~(HAUL_HIGH_TAGS << choose(c, 15) << 1);
}

static void draw_base(choices *c, model_field *f)
{
    static const intptr_t biases[] = { 0, 8, -8, 24, -100, 5000, -5000, 1 };
    model_rule_of_field *rule = &f->rule;
    rule->base = (model_base)choose(c, 4);
    rule->bias = biases[choose(c, 8)];
    if (rule->base != BASE_BY_HEADER)
        return;
    rule->bias = 0;
    if (f->target != -1 || f->shape[0].rule == RULE_SENTINEL || rule->mode != MODE_OWN)
        rule->base = BASE_FIXED;
}

static void draw_mode(choices *c, model_field *f)
{
    model_rule_of_field *rule = &f->rule;
    rule->mode = (model_mode)(1 + choose(c, 6));
    if (rule->mode <= MODE_ALIAS_OR_STATIC)
        draw_bits(c, rule);
    if (rule->mode == MODE_OWN_OR_STATIC && chance(c, 1, 2))
        draw_base(c, f);
}

static int64_t all_bits(size_t bytes)
{
    return bytes < 8 ? ((int64_t)1 << (8 * bytes)) - 1 : -1;
}

static void draw_choice(choices *c, model_type *t, unsigned first)
{
    model_rule_of_field *rule = &t->field[first].rule;
    model_shape *shape = &t->field[first].shape[0];
    rule->choice = (model_choice)(1 + choose(c, 3));
    rule->case_count = 1 + choose(c, MODEL_CASES);
    t->field[first].target = -2;
    if (shape->rule == RULE_SENTINEL)
        *shape = draw_constant(1);
    rule->choice_mask = all_bits(TAG_BYTES);
    if (rule->choice == CHOICE_BY_FIELD) {
        rule->selector = kind_field(c, t);
        rule->choice_mask = all_bits(t->field[rule->selector].bytes);
    }
    if (chance(c, 1, 3))
        draw_bits(c, rule);
}

static void draw_distance(choices *c, model_field *f)
{
    f->rule.is_distance = 1;
    f->rule.tags = f->rule.integers = f->rule.integers_from = 0;
    f->count = 1;
    f->bytes = chance(c, 1, 2) ? 4 : 8;
}

/* A pointer of one level, and no pair. */
static void draw_word(choices *c, model_type *t, unsigned first)
{
    model_field *f = &t->field[first];
    switch (choose(c, 6)) {
    case 0:
        draw_bits(c, &f->rule);
        if (chance(c, 1, 2))
            draw_base(c, f);
        return;
    case 1:
    case 2:
        draw_mode(c, f);
        return;
    case 3:
        draw_choice(c, t, first);
        break;
    case 4:
        draw_distance(c, f);
        if (chance(c, 1, 2))
            draw_base(c, f);
        break;
    default:
        draw_base(c, f);
        return;
    }
    if (f->rule.choice != CHOICE_NONE && chance(c, 1, 5))
        draw_distance(c, f);
    if (f->rule.choice != CHOICE_NONE && chance(c, 1, 4))
        draw_base(c, f);
}

void draw_ruled(choices *c, model *m, model_type *t, unsigned index)
{
    unsigned first = draw_pointer(c, t);
    model_field *f = &t->field[first];
    f->rule.is_there = 1;
    draw_when(c, t, first);
    if (f->shape[0].rule == RULE_END)
        t->field[f->shape[0].field[0]].rule = f->rule;
    else if (f->levels > 1)
        f->rule.mode = (model_mode)choose(c, 7);
    else
        draw_word(c, t, first);
    if (f->levels == 1 && f->shape[0].rule != RULE_END)
        draw_high_tags(c, m, &f->rule);
    if (!has_bits_of_its_own(&f->rule) || f->count != 1 || f->shape[0].rule == RULE_END ||
        f->behind >= 0)
        return;
    for (int64_t more = 1; more <= 2 && chance(c, 1, 2); more++)
        draw_arm(c, m, t, index, first, more);
}

/* ---- When all types are known ---- */

static int is_fit(const model_type *t, const model_field *f)
{
    if (f->rule.choice == CHOICE_BY_TAG && t->tag == 0)
        return 0;
    return draw_stands_in_rows(t) || (t->sizing != SIZE_FIXED && f->shape[0].rule == RULE_ONE);
}

/* Values are told apart by the lowest four bits: 7 and 14 more. */
static int64_t value_of_case(const model *m, const model_field *f, unsigned i, int type,
                             int64_t first)
{
    if (f->rule.choice == CHOICE_BY_TAG)
        return m->type[type].tag;
    return f->rule.choice == CHOICE_BY_FIELD ? first + 7 * (int64_t)i : (int64_t)i;
}

static int has_case_of(const model_field *f, unsigned count, int type)
{
    for (unsigned i = 0; i < count; i++)
        if (f->rule.cases[i].type == type)
            return 1;
    return 0;
}

/* Of the types from a random one on, the first that is fit; -1: none. */
static int find_fit(choices *c, const model *m, const model_field *f, unsigned known)
{
    unsigned n =
        f->rule.choice == CHOICE_BY_TAG || !chance(c, 1, 4) ? m->struct_count : m->type_count;
    unsigned start = choose(c, n);
    for (unsigned i = 0; i < n; i++) {
        int type = (int)((start + i) % n);
        if (is_fit(&m->type[type], f) &&
            !(f->rule.choice == CHOICE_BY_TAG && has_case_of(f, known, type)))
            return type;
    }
    return -1;
}

void draw_cases(choices *c, model *m, model_field *f)
{
    static const intptr_t biases[] = { 0, 0, 8, -16, 24, 0 };
    model_rule_of_field *rule = &f->rule;
    int64_t first = (int64_t)choose(c, 200) - 100;
    unsigned n = 0;
    f->target = -1;
    f->element_bytes = 0;
    for (int type; n < rule->case_count && (type = find_fit(c, m, f, n)) >= 0; n++) {
        model_case *one = &rule->cases[n];
        one->type = type;
        one->value = value_of_case(m, f, n, type, first);
        one->bias = rule->choice == CHOICE_BY_TAG ? 0 : biases[choose(c, 6)];
        if (m->type[type].extent > f->element_bytes)
            f->element_bytes = m->type[type].extent;
    }
    rule->case_count = n;
    if (n == 0) {
        rule->choice = CHOICE_NONE;
        f->element_bytes = draw_element_bytes(c);
    }
}

void draw_wide_tags(choices *c, const model *m, model_field *f)
{
    model_mode mode = f->rule.mode;
    if (f->target < 0 || f->rule.tags == 0 || m->type[f->target].declared <= 4 * pointer_bytes ||
        (mode != MODE_OWN && mode != MODE_OWN_OR_STATIC))
        return;
    f->rule.tags |=
        chance(c, 1, 2) ? m->type[f->target].declared - 1 : m->type[f->target].declared / 2;
}

/* ---- Directions ---- */

/* Bytes, whatever an object of the type holds: it can be left unread. */
static int is_all_bytes(const model *m, const model_type *t)
{
    if (t->sizing != SIZE_FIXED)
        return 0;
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        if (f->kind == FIELD_POINTER || f->kind == FIELD_END || f->rule.when != WHEN_ALWAYS)
            return 0;
        if (f->kind == FIELD_EMBED && !is_all_bytes(m, &m->type[f->target]))
            return 0;
    }
    return 1;
}

static int may_be_unread(const model *m, const model_field *f)
{
    if (f->levels != 0 && f->shape[f->levels - 1].rule == RULE_SENTINEL)
        return 0;
    if (f->rule.choice == CHOICE_BY_TAG)
        return 0;
    for (unsigned i = 0; f->rule.choice != CHOICE_NONE && i < f->rule.case_count; i++)
        if (!is_all_bytes(m, &m->type[f->rule.cases[i].type]))
            return 0;
    return f->target < 0 || is_all_bytes(m, &m->type[f->target]);
}

static void draw_direction(choices *c, const model *m, model_field *f)
{
    if (!m->has_directions || !chance(c, 1, 4))
        return;
    f->rule.is_there = 1;
    f->rule.direction = (haul_transfer)(1 + choose(c, 3));
    if (!may_be_unread(m, f))
        f->rule.direction = HAUL_COPYIN;
}

void draw_field_directions(choices *c, const model *m, model_type *t)
{
    for (unsigned i = 0; i < t->field_count; i++) {
        model_field *f = &t->field[i];
        if (f->kind == FIELD_DATA || f->kind == FIELD_EMBED || f->kind == FIELD_TAIL)
            draw_direction(c, m, f);
    }
}

void draw_pointer_direction(choices *c, const model *m, model_field *f)
{
    if (f->rule.mode != MODE_OWN && f->rule.mode != MODE_OWN_OR_STATIC)
        return;
    draw_direction(c, m, f);
    f->rule.is_shared = f->rule.is_there && f->rule.direction == HAUL_COPY && chance(c, 1, 3);
}
