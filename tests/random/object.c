/* The meaning of one object: its fields are read as they stand.
 */
#include <string.h>

#include "model.h"

int64_t model_read(const void *address, size_t bytes, int is_signed)
{
    uint8_t u1;
    uint16_t u2;
    uint32_t u4;
    uint64_t u8;
    switch (bytes) {
    case 1:
        memcpy(&u1, address, 1);
        return is_signed ? (int64_t)(int8_t)u1 : (int64_t)u1;
    case 2:
        memcpy(&u2, address, 2);
        return is_signed ? (int64_t)(int16_t)u2 : (int64_t)u2;
    case 4:
        memcpy(&u4, address, 4);
        return is_signed ? (int64_t)(int32_t)u4 : (int64_t)u4;
    default:
        memcpy(&u8, address, 8);
        return (int64_t)u8;
    }
}

static int64_t read_field(const model_type *t, unsigned field, const unsigned char *self)
{
    const model_field *f = &t->field[field];
    return model_read(self + f->offset, f->bytes, f->is_signed);
}

int model_holds(const model_type *t, const model_field *f, const void *self)
{
    const unsigned char *bytes = self;
    int64_t value;
    if (f->rule.when == WHEN_ALWAYS)
        return 1;
    if (f->rule.when == WHEN_SELF)
        return (bytes[0] & 1) != 0;
    value = read_field(t, f->rule.kind, bytes);
    if (value < 0 && !t->field[f->rule.kind].is_signed) /* 2^63 and more: in no range */
        return f->rule.when == WHEN_NOT;
    value &= f->rule.mask;
    return (f->rule.low <= value && value <= f->rule.high) == (f->rule.when == WHEN_FIELD);
}

const model_case *model_choose(const model_type *t, const model_field *f, const void *self,
                               size_t index, const void *target)
{
    const model_rule_of_field *rule = &f->rule;
    const unsigned char *bytes = self;
    int64_t value;
    if (rule->choice == CHOICE_BY_SELF)
        return &rule->cases[(bytes[0] + index) % rule->case_count];
    if (rule->choice == CHOICE_BY_TAG)
        value = model_read((const unsigned char *)target + TAG_AT, TAG_BYTES, 1);
    else
        value = read_field(t, rule->selector, bytes);
    for (unsigned i = 0; i < rule->case_count; i++)
        if ((value & rule->choice_mask) == (rule->cases[i].value & rule->choice_mask))
            return &rule->cases[i];
    return NULL;
}

intptr_t model_bias(const model_field *f, const void *self, size_t index, const void *address)
{
    const unsigned char *bytes = self;
    switch (f->rule.base) {
    case BASE_BY_INDEX:
        return f->rule.bias + (intptr_t)index;
    case BASE_BY_SELF:
        return f->rule.bias + 8 * (bytes[0] % 5);
    case BASE_BY_HEADER:
        return (intptr_t)model_read((const unsigned char *)address - 2, 2, 0);
    default:
        return f->rule.bias;
    }
}

static int lies_before(const model_type *t, unsigned field, size_t end)
{
    return t->field[field].offset + t->field[field].bytes <= end;
}

static int reads_within(const model_type *t, const model_field *f, size_t end)
{
    const model_rule_of_field *rule = &f->rule;
    int good = 1;
    if (rule->when == WHEN_FIELD || rule->when == WHEN_NOT)
        good &= lies_before(t, rule->kind, end);
    if (rule->choice == CHOICE_BY_FIELD)
        good &= lies_before(t, rule->selector, end);
    for (unsigned level = 0; level < f->levels; level++)
        for (unsigned i = 0; i < f->shape[level].field_count; i++)
            good &= lies_before(t, f->shape[level].field[i], end);
    return good;
}

int model_can_end_at(const model_type *t, size_t bytes)
{
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        int is_whole = f->kind != FIELD_SKIP && (f->kind != FIELD_DATA || f->rule.is_there);
        int is_there = f->offset < bytes, is_pair = f->levels == 1 && f->shape[0].rule == RULE_END;
        if (is_there && is_whole && f->offset + f->bytes > bytes)
            return 0;
        if (is_there && !reads_within(t, f, bytes))
            return 0;
        if (is_pair && is_there != (t->field[f->shape[0].field[0]].offset < bytes))
            return 0;
    }
    return bytes >= SIZE_AT + 2;
}

size_t model_stored_size(const model_type *t, const void *self)
{
    if (t->sizing != SIZE_STORED)
        return SIZE_MAX;
    return (size_t)model_read((const unsigned char *)self + SIZE_AT, 2, 0);
}

const model_field *model_tail(const model_type *t)
{
    return t->field_count != 0 && t->field[t->field_count - 1].kind == FIELD_TAIL
               ? &t->field[t->field_count - 1]
               : NULL;
}
