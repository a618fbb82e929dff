/* Types from text.
 *
 * The text comes from strangers. It is read twice: once for the types, which get a handle each, and
 * once for their lines. A line becomes a haul_field or a block, as a program would give it, so the
 * commit checks it as it checks a program's. What the commit leaves to a program that means well is
 * bounded here, so that a short text can neither take much memory nor make a walk slow: arrays of
 * pointers, fields and cases beside the bytes that hold them, and elements that interleave.
 *
 * Whether anything was misunderstood, the reader finds out: the types, as text, must be the text.
 */
#include "image/type_make.h"

#include <stdio.h>

#include "base/status.h"
#include "describe/enter.h"
#include "image/text_field.h"
#include "type/build.h"
#include "type/commit.h"
#include "type/life.h"
#include "type/refuse.h"

enum {
    TEXT_MOST = 1 << 20,  /* bytes: the checks of a graph ask its types one by one */
    FIELDS_MOST = 64,     /* for each byte of the object: arms of a union share their bytes */
    POINTERS_MOST = 16384 /* in arrays with members or counts, beside the bytes of the text */
};

typedef struct maker {
    haul_context *context;
    haul_error *error;
    const char *next, *end; /* the text that is left */
    size_t line;            /* the number of the present line, from 1 on */
    haul__words words;      /* of the present line */
    haul__made_types *types;
    haul_type *type;       /* whose lines these are */
    size_t number;         /* of types so far */
    size_t pointers;       /* that arrays may still have */
    haul__field_text text; /* of the present field */
} maker;

/* ---- Lines. */

static haul_status refuse(const maker *m, const char *why)
{
    return haul__fail(m->error, HAUL_ERROR_FORMAT,
                      "not a whole image: line %zu of its types cannot be read: %s", m->line, why);
}

static haul_status refuse_as(const maker *m, haul_status status, const char *field, const char *why)
{
    char path[HAUL_PATH_BYTES];
    snprintf(path, sizeof path, "%.250s%s%.250s", m->type->name, field ? "." : "",
             field ? field : "");
    haul__fail(m->error, status, "%s", why);
    haul__set_path(m->error->path, path);
    return status;
}

static haul_status refuse_memory(const maker *m)
{
    return haul__fail(m->error, HAUL_ERROR_MEMORY, "out of memory for the types of an image");
}

static haul_status refuse_function(const maker *m, const char *field)
{
    return refuse_as(m, HAUL_ERROR_UNSUPPORTED, field,
                     "a function of the program that wrote the image says what it is: give the "
                     "types to read it");
}

static int next_line(maker *m)
{
    const char *end;
    if (m->next == m->end)
        return 0;
    end = memchr(m->next, '\n', (size_t)(m->end - m->next));
    m->words.at = m->next;
    m->words.end = end ? end : m->end;
    m->words.fault = end ? NULL : "it has no end";
    m->next = end ? end + 1 : m->end;
    m->line++;
    return 1;
}

static void begin(maker *m, const char *text, size_t bytes)
{
    m->next = text;
    m->end = text + bytes;
    m->line = m->number = 0;
}

/* "type NAME bytes=": a field named "type" has other words behind it. */
static int begins_type(const haul__words *words)
{
    haul__words w = *words;
    if (!haul__words_have(&w, "type "))
        return 0;
    while (w.at < w.end && *w.at != ' ')
        w.at++;
    return haul__words_have(&w, " bytes=");
}

/* ---- Types. */

/* What a type is made of shows in its next line. */
static haul_combiner combiner_of(const maker *m, size_t bytes, int is_element)
{
    haul__words next;
    next.at = m->next;
    next.end = m->end;
    next.fault = NULL;
    if (bytes == 0 || haul__words_have(&next, "block at="))
        return HAUL_COMBINER_STRUCT;
    return is_element ? HAUL_COMBINER_BYTES : HAUL_COMBINER_STRUCT_FIELDS;
}

/* Makes the type of the present line, without fields or blocks. */
static haul_status make_type(maker *m)
{
    char name[HAUL_NAME_BYTES_MAX];
    const haul__home home = haul__home_of(m->context);
    haul__words *w = &m->words;
    haul_type **made = &m->types->at[m->types->count];
    haul_combiner combiner;
    haul_struct what;
    size_t lower;
    int has_function;
    memset(&what, 0, sizeof what);
    what.name = name;
    haul__words_want(w, "type ");
    haul__words_name(w, name, sizeof name);
    haul__words_want(w, " bytes=");
    what.bytes = haul__words_size(w);
    haul__words_want(w, " lower=");
    lower = haul__words_size(w);
    haul__words_want(w, " alignment=");
    what.alignment = haul__words_size(w);
    combiner = combiner_of(m, what.bytes, haul__words_have(w, " elements"));
    has_function = haul__words_have(w, " size=function");
    haul__words_end(w);
    if (w->fault)
        return refuse(m, w->fault);
    if (!haul__fits(lower, what.bytes, HAUL_TYPE_BYTES_MAX))
        return refuse(m, "a size is too large");
    if (combiner != HAUL_COMBINER_STRUCT)
        haul__type_new(&home, &m->context->allocator, &what, made);
    else
        *made = haul__type_make(&home, &m->context->allocator, name, what.bytes, combiner);
    if (!*made)
        return refuse_memory(m);
    (*made)->combiner = combiner;
    (*made)->lower = lower;
    m->types->count++;
    m->type = *made;
    return has_function ? refuse_function(m, NULL) : HAUL_OK;
}

static haul_status make_all(maker *m, const char *text, size_t bytes)
{
    haul_status status = HAUL_OK;
    size_t count = 0;
    begin(m, text, bytes);
    while (next_line(m))
        count += (size_t)begins_type(&m->words);
    m->line = 1;
    if (count == 0)
        return refuse(m, "there is no type");
    m->types->at = haul__allocate_zeroed(&m->context->allocator, count * sizeof *m->types->at);
    if (!m->types->at)
        return refuse_memory(m);
    m->types->room = count;
    begin(m, text, bytes);
    while (status == HAUL_OK && next_line(m))
        if (begins_type(&m->words))
            status = make_type(m);
    m->type = NULL;
    return status;
}

/* ---- Fields. */

/* Each pointer of an array with members, or counts of its struct, takes memory in the type. */
static haul_status check_cost(maker *m)
{
    const haul__row *row = &m->type->rows[m->type->row_count - 1];
    int has_rule = row->rule != NULL;
    size_t cost = 0;
    unsigned level;
    if (row->kind == HAUL_FIELD_POINTER && row->levels <= HAUL_LEVELS) { /* else it is refused */
        for (level = 0; level < row->levels; level++)
            has_rule |= m->type->shapes[row->shape + level].fields > 0;
        cost = has_rule ? row->bytes / sizeof(void *) : 0;
    }
    if (cost > m->pointers)
        return refuse_as(m, HAUL_ERROR_LIMIT, row->name,
                         "the types of the image have too many pointers in arrays: give the types "
                         "to read it");
    m->pointers -= cost;
    if (m->type->row_count / FIELDS_MOST > m->type->bytes)
        return refuse_as(m, HAUL_ERROR_LIMIT, row->name,
                         "there are more than 64 fields for each byte of the object: give the "
                         "types to read it");
    return HAUL_OK;
}

static haul_status read_field(maker *m)
{
    haul_status status;
    if (!haul__text_field(&m->text, &m->words))
        return refuse_function(m, m->text.name);
    if (m->text.is_short)
        return refuse_memory(m);
    if (m->words.fault)
        return refuse(m, m->words.fault);
    if (m->type->combiner != HAUL_COMBINER_STRUCT_FIELDS)
        return refuse(m, "its type has no fields");
    status = haul__type_add_fields(m->type, &m->text.field, 1, sizeof m->text.field);
    if (status == HAUL_ERROR_ARGUMENT)
        return refuse(m, "a name is not UTF-8");
    return status == HAUL_OK ? check_cost(m) : status;
}

/* ---- Blocks and loops. */

static size_t count_lines(const maker *m, const char *word)
{
    maker ahead = *m;
    size_t count = 0;
    while (next_line(&ahead) && haul__words_have(&ahead.words, word))
        count++;
    return count;
}

/* The list joins the type when all of it has been read. */
static haul_status read_blocks(maker *m)
{
    const size_t count = count_lines(m, "block at=");
    haul__words *w = &m->words;
    haul__old_block *blocks;
    size_t i;
    if (count == 0)
        return HAUL_OK;
    blocks = haul__allocate_zeroed(&m->context->allocator, count * sizeof *blocks);
    if (!blocks)
        return refuse_memory(m);
    for (i = 0; i < count && !w->fault; i++) {
        haul_type *const *type;
        next_line(m);
        haul__words_want(w, "block at=");
        blocks[i].offset = haul__words_size(w);
        haul__words_want(w, " count=");
        blocks[i].count = haul__words_size(w);
        haul__words_want(w, " type=");
        type = haul__text_type(&m->text, w);
        blocks[i].type = type ? *type : NULL;
        haul__words_end(w);
    }
    if (w->fault) {
        haul__release(&m->context->allocator, blocks, count * sizeof *blocks);
        return refuse(m, w->fault);
    }
    m->type->blocks = blocks;
    m->type->block_count = count;
    for (i = 0; i < count; i++)
        haul__group_hold(blocks[i].type->group);
    return HAUL_OK;
}

static haul_status read_loops(maker *m)
{
    const size_t count = count_lines(m, "loop count=");
    haul__words *w = &m->words;
    size_t i;
    if (count == 0)
        return HAUL_OK;
    if (m->type->block_count != 1)
        return refuse(m, "loops repeat one block");
    m->type->combiner = HAUL_COMBINER_SUBARRAY;
    m->type->loops = haul__allocate_zeroed(&m->context->allocator, count * sizeof(haul__loop));
    if (!m->type->loops)
        return refuse_memory(m);
    m->type->loop_count = count;
    for (i = 0; i < count && !w->fault; i++) {
        next_line(m);
        haul__words_want(w, "loop count=");
        m->type->loops[i].count = haul__words_size(w);
        haul__words_want(w, " stride=");
        m->type->loops[i].stride = haul__words_size(w);
        haul__words_end(w);
    }
    return w->fault ? refuse(m, w->fault) : HAUL_OK;
}

static haul_status read_lines(maker *m, const char *text, size_t bytes)
{
    haul_status status = HAUL_OK;
    begin(m, text, bytes);
    while (status == HAUL_OK && next_line(m)) {
        if (!begins_type(&m->words)) {
            status = m->type ? read_field(m) : refuse(m, "it belongs to no type");
            continue;
        }
        m->type = m->types->at[m->number++];
        if (m->type->combiner == HAUL_COMBINER_STRUCT)
            status = read_blocks(m);
        if (status == HAUL_OK && m->type->block_count)
            status = read_loops(m);
    }
    return status;
}

/* ---- Where elements of constructors end. */

static int add_many(size_t *sum, size_t count, size_t stride)
{
    size_t bytes;
    return !haul__multiply_overflows(count, stride, &bytes) &&
           !haul__add_overflows(*sum, bytes, sum) && *sum <= HAUL_TYPE_BYTES_MAX;
}

/* The offset of the block's last element, in the last turn of all loops. 0: it, or its end, is too
 * far. *count: 0 if there is no element. */
static int find_last(const haul_type *type, const haul__old_block *block, size_t *last,
                     size_t *count)
{
    size_t i;
    *last = block->offset;
    *count = block->type->bytes ? block->count : 0;
    for (i = 0; i < type->loop_count; i++)
        *count = type->loops[i].count ? *count : 0;
    if (*count == 0)
        return 1;
    for (i = 0; i < type->loop_count; i++)
        if (!add_many(last, type->loops[i].count - 1, type->loops[i].stride))
            return 0;
    return add_many(last, *count - 1, block->type->bytes) &&
           haul__fits(*last, block->type->lower + block->type->bytes, HAUL_TYPE_BYTES_MAX) &&
           haul__fits(*last, block->type->reach, HAUL_TYPE_BYTES_MAX);
}

/* The last byte of all blocks, as constructors work it out. 0: it is too far. */
static int find_reach(const haul_type *type, size_t *reach)
{
    size_t i, last, count;
    *reach = 0;
    for (i = 0; i < type->block_count; i++) {
        const haul_type *old = type->blocks[i].type;
        if (!find_last(type, &type->blocks[i], &last, &count))
            return 0;
        if (count > 0 && old->reach > 0 && last + old->reach > *reach)
            *reach = last + old->reach;
    }
    return 1;
}

/* Types stand in any order, so this is repeated: a type that holds others is right one turn after
 * them. Those that are deeper than any that can be committed, or hold themselves, stay wrong. */
static haul_status find_reaches(maker *m)
{
    unsigned turn;
    size_t i, reach;
    int has_changed = 1;
    for (turn = 0; turn <= HAUL_EMBED_DEPTH_MAX && has_changed; turn++) {
        has_changed = 0;
        for (i = 0; i < m->types->count; i++) {
            haul_type *type = m->types->at[i];
            if (type->combiner != HAUL_COMBINER_STRUCT && type->combiner != HAUL_COMBINER_SUBARRAY)
                continue;
            m->type = type;
            if (!find_reach(type, &reach) || (reach > 0 && type->bytes == 0))
                return refuse_as(m, HAUL_ERROR_FORMAT, NULL,
                                 "not a whole image: its blocks end too far, or it has no bytes");
            has_changed |= reach != type->reach;
            type->reach = reach;
        }
    }
    return HAUL_OK;
}

/* ---- All of it. */

haul_status haul__make_types(haul_context *context, const char *text, size_t bytes,
                             haul__made_types *types)
{
    haul_status status;
    maker m;
    memset(&m, 0, sizeof m);
    memset(types, 0, sizeof *types);
    m.context = context;
    m.error = &context->error;
    m.types = types;
    m.line = 1;
    m.pointers = POINTERS_MOST + bytes;
    if (bytes == 0)
        return refuse(&m, "there is no type");
    if (bytes > TEXT_MOST)
        return haul__fail(m.error, HAUL_ERROR_LIMIT,
                          "the types of the image have more than 1 MiB of text: give the types to "
                          "read it");
    status = make_all(&m, text, bytes);
    m.text.allocator = &context->allocator;
    m.text.types = types->at;
    m.text.type_count = types->count;
    if (status == HAUL_OK)
        status = read_lines(&m, text, bytes);
    if (status == HAUL_OK)
        status = find_reaches(&m);
    HAUL__LIST_RELEASE(m.text.allocator, &m.text.cases[0]);
    HAUL__LIST_RELEASE(m.text.allocator, &m.text.cases[1]);
    return status;
}

haul_status haul__commit_types(haul_context *context, const haul__made_types *types,
                               haul_type *const *roots, size_t root_count)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < root_count && status == HAUL_OK; i++)
        status = haul__type_commit(roots[i]);
    /* Elements that lie within one another would be read more often than they have bytes. */
    for (i = 0; i < types->count && status == HAUL_OK; i++)
        if (types->at[i]->committed && types->at[i]->walk.payload > types->at[i]->bytes)
            status = haul__wrong(&context->error, types->at[i], NULL,
                                 "Its elements interleave: give the types to read the image.");
    return status;
}

/* Blocks of open types hold their types, in a circle perhaps: the text decides. So the blocks go
 * first. */
void haul__drop_made_types(const haul_allocator *allocator, haul__made_types *types)
{
    size_t i, k, count;
    for (i = 0; i < types->count; i++) {
        haul_type *type = types->at[i];
        if (type->committed)
            continue;
        count = haul__type_old_count(type);
        for (k = 0; k < count; k++)
            haul__group_drop(type->blocks[k].type->group);
        haul__release(&type->allocator, type->blocks, type->block_count * sizeof *type->blocks);
        type->blocks = NULL;
        type->block_count = 0;
    }
    for (i = 0; i < types->count; i++)
        haul__type_drop(types->at[i]);
    haul__release(allocator, types->at, types->room * sizeof *types->at);
    memset(types, 0, sizeof *types);
}
