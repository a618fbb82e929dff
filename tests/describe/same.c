#include "same.h"

#include <stdio.h>
#include <string.h>

enum { PAIRS = 64 };
typedef struct pair {
    const haul_type *one, *other;
} pair;
static pair pairs[PAIRS];
static size_t pair_count;
static int passed, failed, differences;

static void differ(const haul_type *type, const char *field, const char *what)
{
    printf("    %s.%s: %s\n", haul_type_name(type), field, what);
    differences++;
}

/* Both lead to the same; looked at later, and once. */
static void note_pair(const haul_type *one, const haul_type *other, const haul_type *of,
                      const char *field)
{
    size_t i;
    for (i = 0; i < pair_count; i++)
        if (pairs[i].one == one && pairs[i].other == other)
            return;
    if (!one != !other)
        differ(of, field, "one has a target");
    else if (one && pair_count < PAIRS)
        pairs[pair_count++] = (pair){ one, other };
}

static int same_integer(haul_integer a, haul_integer b)
{
    return a.offset == b.offset && a.bytes == b.bytes && a.sign == b.sign;
}

static int same_count(const haul_count *a, const haul_count *b)
{
    unsigned i;
    for (i = 0; i < a->fields && a->fields == b->fields; i++)
        if (!same_integer(a->field[i], b->field[i]))
            return 0;
    return a->kind == b->kind && a->fields == b->fields && a->times == b->times &&
           a->plus == b->plus && !a->function == !b->function;
}

static int same_when(const haul_when *a, const haul_when *b)
{
    return a->kind == b->kind && same_integer(a->field, b->field) && a->mask == b->mask &&
           a->low == b->low && a->high == b->high && !a->function == !b->function;
}

static void compare_switches(const haul_switch *a, const haul_switch *b, const haul_type *of,
                             const char *field)
{
    size_t i;
    if (a->kind != b->kind || !same_integer(a->field, b->field) || a->case_count != b->case_count ||
        !a->function != !b->function) {
        differ(of, field, "type switch");
        return;
    }
    for (i = 0; i < a->case_count; i++) {
        if (a->cases[i].value != b->cases[i].value || a->cases[i].base != b->cases[i].base)
            differ(of, field, "cases");
        note_pair(*a->cases[i].type, *b->cases[i].type, of, field);
    }
}

static void compare_members(const haul_field *a, const haul_field *b, const haul_type *of)
{
    static const haul_field none;
    const char *field = a ? a->name : b ? b->name : "";
    a = a ? a : &none;
    b = b ? b : &none;
    if (!same_when(&a->when, &b->when))
        differ(of, field, "condition");
    if (a->ownership != b->ownership || a->maybe_static != b->maybe_static ||
        a->else_raw != b->else_raw || a->packed != b->packed || a->transfer != b->transfer)
        differ(of, field, "ownership, directions or marks");
    if (a->tag_bits != b->tag_bits || a->base != b->base || !a->base_fn != !b->base_fn ||
        a->integers_below != b->integers_below || a->integers_from != b->integers_from)
        differ(of, field, "word");
    compare_switches(&a->type_switch, &b->type_switch, of, field);
}

static void compare_fields(const haul_field_info *a, const haul_field_info *b, const haul_type *of)
{
    unsigned i;
    if (strcmp(a->name, b->name) != 0)
        differ(of, a->name, b->name);
    if (a->offset != b->offset || a->bytes != b->bytes || a->count != b->count ||
        a->stride != b->stride || a->kind != b->kind || a->levels != b->levels)
        differ(of, a->name, "place or kind");
    else if (a->element_bytes != b->element_bytes)
        differ(of, a->name, "bytes of elements");
    else
        for (i = 0; i < a->levels; i++)
            if (!same_count(&a->counts[i], &b->counts[i]))
                differ(of, a->name, "count");
    note_pair(a->target, b->target, of, a->name);
    compare_members(a->members, b->members, of);
}

static void compare_types(const haul_type *a, const haul_type *b)
{
    size_t i, count = haul_type_field_count(a), a_bytes = 0, b_bytes = 1;
    haul_field_info one, other;
    if (haul_type_size(a, &a_bytes) || haul_type_size(b, &b_bytes) || a_bytes != b_bytes)
        differ(a, "", "size");
    if (count != haul_type_field_count(b)) {
        differ(a, "", "number of fields");
        return;
    }
    for (i = 0; i < count; i++)
        if (!haul_type_get_field(a, i, &one) && !haul_type_get_field(b, i, &other))
            compare_fields(&one, &other, a);
        else
            differ(a, "", "fields");
}

void same(const char *what, const haul_type *one, const haul_type *other)
{
    size_t i;
    pair_count = 0;
    differences = 0;
    note_pair(one, other, one, "");
    for (i = 0; i < pair_count; i++)
        compare_types(pairs[i].one, pairs[i].other);
    printf("%s %s: %zu types\n", differences ? "FAILED " : "ok     ", what, pair_count);
    *(differences || !one ? &failed : &passed) += 1;
}

void made(haul_context *context, haul_status status)
{
    if (!status)
        return;
    printf("FAILED  %s: %s\n", haul_context_error(context)->path,
           haul_context_error(context)->text);
    failed++;
}

int done(void)
{
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
