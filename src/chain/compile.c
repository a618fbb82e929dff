/* Compiling a path: its steps are found among the fields of types, once.
 *
 * A type switch lets a step lead to objects of several types, and the arms of a union may share a
 * name. So a step has a list of rows, its arms: one for each type that the steps before may lead
 * to, and for each row of the name. Every type stands once in a step's list, so a path of k steps
 * has at most k times the rows of its types, however often it turns in a recursion.
 */
#include <stdio.h>

#include "base/status.h"
#include "chain/chain.h"
#include "type/build.h"
#include "type/commit.h"

typedef struct compiler {
    haul_chain *chain;
    haul_error *error;
    const char *at;                   /* the rest of the path */
    char fields[HAUL_TEXT_BYTES / 2]; /* the names of fields, for an error */
} compiler;

static haul_status short_of_memory(compiler *c)
{
    return haul__fail(c->error, HAUL_ERROR_MEMORY, "out of memory for a chain");
}

/* Refuses the path. The record's path ends with the step that was read last. */
static haul_status refuse(compiler *c, const char *format, ...)
{
    const haul_chain *chain = c->chain;
    const haul__step *last = &chain->steps.at[chain->steps.count - 1]; /* there is one by now */
    const char *first = chain->steps.at[0].name;
    const size_t length = (size_t)(last->name + last->name_bytes - first);
    char path[HAUL_PATH_BYTES], text[HAUL_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    haul__fail(c->error, HAUL_ERROR_ARGUMENT, "%s", text);
    snprintf(path, sizeof path, "%s%s%.*s", haul_type_name(chain->type), length ? "." : "",
             (int)(length < sizeof path ? length : sizeof path), first);
    haul__set_path(c->error->path, path);
    return HAUL_ERROR_ARGUMENT;
}

/* ---- Reading the path. */

static void skip_spaces(compiler *c)
{
    while (*c->at == ' ')
        c->at++;
}

static int take(compiler *c, const char *word)
{
    const size_t length = strlen(word);
    skip_spaces(c);
    if (strncmp(c->at, word, length) != 0)
        return 0;
    c->at += length;
    skip_spaces(c);
    return 1;
}

static int take_separator(compiler *c)
{
    return take(c, ".") || take(c, "->");
}

static haul_status read_index(compiler *c)
{
    haul__step *step = &c->chain->steps.at[c->chain->steps.count - 1];
    size_t *index = HAUL__LIST_ADD(&c->chain->context->allocator, &c->chain->indices);
    const char *begin;
    if (!index)
        return short_of_memory(c);
    step->index_count++;
    *index = 0;
    if (take(c, "*") || take(c, "HAUL_ALL")) {
        *index = HAUL__EACH_INDEX;
        if (++c->chain->many > HAUL_CHAIN_MANY_MAX)
            return haul__fail(c->error, HAUL_ERROR_LIMIT,
                              "the path has more than %u times [*], in %s", HAUL_CHAIN_MANY_MAX,
                              c->chain->path);
    } else {
        for (begin = c->at; *c->at >= '0' && *c->at <= '9'; c->at++)
            if (haul__multiply_overflows(*index, 10, index) ||
                haul__add_overflows(*index, (size_t)(*c->at - '0'), index) ||
                *index == HAUL__EACH_INDEX)
                return refuse(c, "an index is too large");
        if (c->at == begin)
            return refuse(c, "an index is a number or *, not %.20s", c->at);
    }
    return take(c, "]") ? HAUL_OK : refuse(c, "an index ends with ], not with %.20s", c->at);
}

/* Does a name end here? */
static int is_end_of_name(const char *at)
{
    return !*at || strchr(".[] ", *at) || strncmp(at, "->", 2) == 0;
}

static haul_status begin_step(compiler *c)
{
    haul_chain *chain = c->chain;
    haul__step *step = HAUL__LIST_ADD(&chain->context->allocator, &chain->steps);
    if (!step)
        return short_of_memory(c);
    memset(step, 0, sizeof *step);
    step->name = c->at;
    while (!is_end_of_name(step->name + step->name_bytes))
        step->name_bytes++;
    step->first_arm = chain->arms.count;
    step->first_index = chain->indices.count;
    return step->name_bytes ? HAUL_OK
                            : refuse(c,
                                     "a path is made of names, such as atoms.positions: none "
                                     "stands before %.20s",
                                     c->at);
}

static haul_status read_indices(compiler *c)
{
    const haul__step *step = &c->chain->steps.at[c->chain->steps.count - 1];
    haul_status status = HAUL_OK;
    c->at = step->name + step->name_bytes;
    while (status == HAUL_OK && take(c, "["))
        status = read_index(c);
    return status;
}

/* ---- Rows. */

/* The rule of a row's last pointers. */
static const haul__rule *last_rule(const haul__row *row)
{
    return row->rule && row->rule->each ? row->rule->each : row->rule;
}

static int is_switched(const haul__row *row)
{
    return row->rule && last_rule(row)->said.type_switch.kind != HAUL_SWITCH_KIND_NONE;
}

/* The number of types that a row may lead to. */
static size_t target_count(const haul__row *row)
{
    return is_switched(row) ? last_rule(row)->said.type_switch.case_count : 1;
}

/* NULL: plain elements. */
static const haul_type *target_of(const haul__row *row, size_t i)
{
    const haul_type *type = is_switched(row) ? last_rule(row)->types[i] : row->type;
    if (row->kind == HAUL_FIELD_RAW || row->kind == HAUL_FIELD_SKIP)
        return NULL;
    return type && type->combiner == HAUL_COMBINER_BYTES && !type->is_aligned ? NULL : type;
}

/* Why does no path pass the row? NULL: paths pass it. */
static const char *fault_of(const haul__row *row)
{
    const haul__rule *rule = last_rule(row);
    if (row->kind == HAUL_FIELD_SKIP)
        return "its bytes are skipped, so that they do not travel";
    if (!rule || row->kind != HAUL_FIELD_POINTER)
        return NULL;
    if (haul__is_limit(rule))
        return "it is the end of an array";
    if (rule->said.section.rank)
        return "it is a section, whose elements are no array";
    if (!haul__leads_in(&rule->said) || !haul__leads_in(&row->rule->said))
        return "it is external, so that it leads to no memory of the graph";
    return NULL;
}

/* The length of the row's name, if the path goes on with it; else 0. Names may have dots and
 * brackets: those of members of a union in the struct, such as as.cell. */
static size_t match(const haul__row *row, const haul__step *step)
{
    const size_t length = strlen(row->name);
    return strncmp(step->name, row->name, length) == 0 && is_end_of_name(step->name + length)
               ? length
               : 0;
}

/* Of rows whose names begin alike, the longest name counts. */
static size_t longest_match(const haul_type *type, const haul__step *step)
{
    size_t longest = 0, i;
    for (i = 0; i < type->row_count; i++)
        if (match(&type->rows[i], step) > longest)
            longest = match(&type->rows[i], step);
    return longest;
}

static haul_status add_rows(compiler *c, const haul_type *type, unsigned bars)
{
    haul_chain *chain = c->chain;
    haul__step *step = &chain->steps.at[chain->steps.count - 1];
    haul__arm *arm;
    int is_there = 0;
    size_t i;
    for (i = 0; i < step->arm_count; i++) {
        arm = &chain->arms.at[step->first_arm + i];
        if (arm->type == type) {
            arm->bars |= haul__is_inside(arm->row) ? bars : 0;
            is_there = 1;
        }
    }
    for (i = 0; !is_there && i < type->row_count; i++) {
        const haul__row *row = &type->rows[i];
        if (match(row, step) != step->name_bytes)
            continue;
        if (fault_of(row))
            return refuse(c, "no path passes %.*s of %s: %s", (int)step->name_bytes, step->name,
                          type->name, fault_of(row));
        arm = HAUL__LIST_ADD(&chain->context->allocator, &chain->arms);
        if (!arm)
            return short_of_memory(c);
        arm->type = type;
        arm->row = row;
        arm->bars = (row->rule ? haul__exclusions_of(last_rule(row)->said.transfer) : 0) |
                    (haul__is_inside(row) ? bars : 0);
        step->arm_count++;
    }
    return HAUL_OK;
}

/* ---- Steps that are wrong. */

#define MARGIN ((size_t)20)      /* more than the words around a name */
#define NAME_BYTES ((size_t)100) /* of a type's name at most; longer ones are cut */

/* Adds the names of a type's fields to the text, until it is full. The first type always finds
 * room. */
static haul_status list_fields(compiler *c, const haul_type *type, unsigned bars)
{
    char *text = c->fields;
    const size_t room = sizeof c->fields;
    size_t length = strlen(text), i;
    (void)bars;
    if (room - length < NAME_BYTES + MARGIN)
        return HAUL_OK;
    length += (size_t)snprintf(text + length, room - length, "; %.*s has %s", (int)NAME_BYTES,
                               type->name, type->row_count ? "" : "none");
    for (i = 0; i < type->row_count; i++) {
        const char *name = type->rows[i].name;
        const int is_full = room - length < strlen(name) + MARGIN;
        length += (size_t)snprintf(text + length, room - length, "%s%s", i ? ", " : "",
                                   is_full ? "..." : name);
        if (is_full)
            break;
    }
    return HAUL_OK;
}

/* Calls `use` for each type that the step may begin in, with the bars of what leads there. */
static haul_status each_type(compiler *c,
                             haul_status (*use)(compiler *c, const haul_type *type, unsigned bars))
{
    const haul_chain *chain = c->chain;
    const size_t before = chain->steps.count - 2; /* the step before; unsigned: none is SIZE_MAX */
    haul_status status = HAUL_OK;
    size_t i, k;
    if (chain->steps.count == 1)
        return use(c, chain->type, 0);
    for (i = 0; i < chain->steps.at[before].arm_count; i++) {
        const haul__arm arm = chain->arms.at[chain->steps.at[before].first_arm + i];
        for (k = 0; k < target_count(arm.row) && status == HAUL_OK; k++)
            if (target_of(arm.row, k))
                status = use(c, target_of(arm.row, k), arm.bars);
    }
    return status;
}

static haul_status lengthen_name(compiler *c, const haul_type *type, unsigned bars)
{
    haul__step *step = &c->chain->steps.at[c->chain->steps.count - 1];
    const size_t length = longest_match(type, step);
    (void)bars;
    if (length > step->name_bytes)
        step->name_bytes = length;
    return HAUL_OK;
}

static haul_status find_rows(compiler *c)
{
    const haul__step *step;
    haul_status status = each_type(c, lengthen_name);
    if (status == HAUL_OK)
        status = each_type(c, add_rows);
    step = &c->chain->steps.at[c->chain->steps.count - 1];
    if (status != HAUL_OK || step->arm_count)
        return status;
    c->fields[0] = '\0';
    each_type(c, list_fields);
    return c->fields[0]
               ? refuse(c, "there is no field %.*s%s (HAUL_RAW gives a plain member a name)",
                        (int)step->name_bytes, step->name, c->fields)
               : refuse(c, "there is no field %.*s: %.*s holds plain elements, without fields",
                        (int)step->name_bytes, step->name, (int)step[-1].name_bytes, step[-1].name);
}

/* An array of pointers needs the index of one; and the elements at the end of a row may have an
 * index. */
static haul_status check_indices(compiler *c)
{
    const haul_chain *chain = c->chain;
    const haul__step *step = &chain->steps.at[chain->steps.count - 1];
    size_t i;
    for (i = 0; i < step->arm_count; i++) {
        const haul__row *row = chain->arms.at[step->first_arm + i].row;
        const int is_embed = row->kind == HAUL_FIELD_EMBED;
        const size_t words = haul__words_in(row),
                     elements = is_embed ? row->bytes / row->type->bytes : words,
                     first = step->index_count ? chain->indices.at[step->first_index] : 0;
        const size_t least = row->kind != HAUL_FIELD_POINTER
                                 ? 0
                                 : (size_t)(words > 1) + (row->levels > 1 ? row->levels - 1 : 0);
        const size_t most =
            least + (row->kind == HAUL_FIELD_RAW || (is_embed && elements == 1) ? 0 : 1);
        if (step->index_count < least)
            return refuse(c,
                          "%.*s is an array of pointers: %zu of %zu indices are there, such as "
                          "[0] or [*]",
                          (int)step->name_bytes, step->name, step->index_count, least);
        if (step->index_count > most)
            return refuse(c, "%.*s has %zu indices, and %zu are possible", (int)step->name_bytes,
                          step->name, step->index_count, most);
        if (elements > 1 && first != HAUL__EACH_INDEX && first >= elements)
            return refuse(c, "%.*s has %zu elements: none has the index %zu", (int)step->name_bytes,
                          step->name, elements, first);
    }
    return HAUL_OK;
}

/* ---- Ends. */

static haul_transfer transfer_of(unsigned bars)
{
    return bars == HAUL__EXCLUDED     ? HAUL_CREATE
           : bars == HAUL__UNRETURNED ? HAUL_COPYIN
           : bars == HAUL__UNSENT     ? HAUL_COPYOUT
                                      : HAUL_COPY;
}

/* A committed type of `bytes` plain bytes, or of one object of `target`, that travels as the bars
 * say. Bytes without bars have a type of no fields, which agrees with any other of their place. */
static haul_status make_type(compiler *c, const haul__arm *arm, haul_type *target, size_t bytes,
                             const haul_type **made)
{
    haul_context *context = c->chain->context;
    haul__home home;
    haul_struct what;
    haul_field field;
    haul_type *type;
    haul_status status;
    memset(&what, 0, sizeof what);
    memset(&field, 0, sizeof field);
    home.context = context;
    home.error = c->error;
    home.hold = haul__context_hold;
    home.drop = haul__context_drop;
    field.name = what.name = arm->row->name;
    field.kind = target ? HAUL_FIELD_EMBED : HAUL_FIELD_RAW;
    field.bytes = what.bytes = bytes;
    field.element_bytes = target ? bytes : 0;
    field.target = target ? &target : NULL;
    field.transfer = transfer_of(arm->bars);
    what.fields = &field;
    what.field_count = arm->bars != 0;
    what.field_bytes = sizeof field;
    status = haul__type_new(&home, &context->allocator, &what, &type);
    if (status != HAUL_OK)
        return short_of_memory(c);
    type->combiner = arm->bars ? HAUL_COMBINER_STRUCT_FIELDS : HAUL_COMBINER_BYTES;
    status = haul__type_commit(type);
    if (status != HAUL_OK)
        haul__type_drop(type);
    else
        *made = type;
    return status;
}

static haul_status add_end(compiler *c, const haul__arm *arm, const haul_type *target)
{
    const haul__row *row = arm->row;
    haul__chain_end *end = HAUL__LIST_ADD(&c->chain->context->allocator, &c->chain->ends);
    haul_status status = HAUL_OK;
    if (!end)
        return short_of_memory(c);
    end->row = row;
    end->target = target;
    end->type = target;
    if (target && arm->bars && haul__type_is_sized(target))
        status = haul__fail(c->error, HAUL_ERROR_UNSUPPORTED,
                            "%s has a direction, and objects of type %s have sizes of their own",
                            row->name, target->name);
    else if (target && !arm->bars)
        haul__type_hold(target);
    else
        status = make_type(c, arm, (haul_type *)(uintptr_t)target,
                           target                        ? target->bytes
                           : row->kind == HAUL_FIELD_RAW ? row->bytes
                                                         : haul__row_unit(row),
                           &end->type);
    c->chain->ends.count -= status != HAUL_OK;
    return status;
}

static haul_status add_ends(compiler *c, const haul__step *last)
{
    haul_status status = HAUL_OK;
    size_t i, k;
    for (i = 0; i < last->arm_count; i++) {
        const haul__arm *arm = &c->chain->arms.at[last->first_arm + i];
        for (k = 0; k < target_count(arm->row) && status == HAUL_OK; k++)
            status = add_end(c, arm, target_of(arm->row, k));
    }
    return status;
}

/* The member that the path names must have the size that the program gives it. */
static haul_status check_size(compiler *c, const haul__step *last, size_t bytes)
{
    size_t i;
    for (i = 0; bytes && i < last->arm_count; i++) {
        const haul__row *row = c->chain->arms.at[last->first_arm + i].row;
        const size_t words = haul__words_in(row) > 1, levels = row->levels;
        size_t described = row->bytes;
        if (row->kind == HAUL_FIELD_TAIL || (row->kind == HAUL_FIELD_EMBED && last->index_count))
            described = haul__row_unit(row);
        else if (row->kind == HAUL_FIELD_POINTER && last->index_count == words + levels)
            described = haul__row_unit(row);
        else if (row->kind == HAUL_FIELD_POINTER && !haul__row_is_distance(row))
            described = sizeof(void *);
        if (described != bytes)
            return refuse(c, "%.*s has %zu bytes in the program, and %zu in the description",
                          (int)last->name_bytes, last->name, bytes, described);
    }
    return HAUL_OK;
}

haul_status haul__chain_compile(haul_chain *chain, size_t bytes)
{
    compiler c;
    const haul__step *last;
    haul_status status;
    memset(&c, 0, sizeof c);
    c.chain = chain;
    c.error = &chain->context->error;
    c.at = chain->path;
    take_separator(&c);
    do {
        status = begin_step(&c);
        if (status == HAUL_OK)
            status = find_rows(&c);
        if (status == HAUL_OK)
            status = read_indices(&c);
        if (status == HAUL_OK)
            status = check_indices(&c);
    } while (status == HAUL_OK && take_separator(&c));
    skip_spaces(&c);
    if (status == HAUL_OK && *c.at)
        status = refuse(&c, "the path goes on with %.20s, which is no step", c.at);
    last = chain->steps.count ? &chain->steps.at[chain->steps.count - 1] : NULL;
    if (status == HAUL_OK)
        status = check_size(&c, last, bytes);
    return status == HAUL_OK ? add_ends(&c, last) : status;
}
