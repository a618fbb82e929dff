/* Policies: from rows to the forms of types.
 *
 * Each row is followed along its path, through fields, to the forms in which it ends. Behind
 * pointers a type has one form, so a recursion needs no case of its own, and what a policy says of
 * an object does not depend on the way to it. Embedded structs have a form for each place, since no
 * pointer chooses between them.
 *
 *   1. rows      from the root, and from each form of a row's type, until there are no more forms
 *   2. inherit   what is not named in an embedded struct is as in the struct around it
 *   3. changes   a form is made if rows speak of it, or if it leads to one that is made
 *   4. fields    of each form that is made (policy_fields.c)
 *
 * What several rows say of one field is combined by an operation whose result does not depend on
 * their order. The same holds for objects that several pointers lead to, since the walk's marks are
 * ORs.
 */
#include "type/policy.h"
#include "base/sized.h"
#include "base/status.h"
#include "type/commit.h"
#include "type/life.h"
#include "type/row.h"

static haul_status no_memory(const haul__policy *p)
{
    return haul__fail(p->error, HAUL_ERROR_MEMORY, "out of memory for a policy");
}

/* ---- What rows say. */

static unsigned closed_by(int action)
{
    return haul__exclusions_of((haul_transfer)action);
}

/* One result for two actions, whatever their order: of those that travel, with the ways that both
 * leave open. */
static int combine(int a, int b)
{
    int way = HAUL_COPY;
    if (a >= HAUL_ONLY_PRESENT || b >= HAUL_ONLY_PRESENT)
        return a < b ? a : b; /* the one that travels, or leads to something */
    while (closed_by(way) != (closed_by(a) | closed_by(b)))
        way++;
    return way;
}

static int is_conditional(const haul_when *when)
{
    return when->kind != HAUL_WHEN_KIND_ALWAYS;
}

static haul_status refuse(const haul__policy *p, const haul_policy_row *row, const char *text,
                          const char *name)
{
    haul__fail(p->error, HAUL_ERROR_ARGUMENT, "the policy %s: %s%s", p->name, text, name);
    haul__set_path(p->error->path, row->path ? row->path : "");
    return HAUL_ERROR_ARGUMENT;
}

static haul_status say_rest(haul__policy *p, size_t number, const haul_policy_row *row,
                            haul__policy_rank rank)
{
    haul__form *form = &p->forms.at[number];
    if (is_conditional(&row->when))
        return refuse(p, row, "a row for all that no other row names has no condition", "");
    if (form->rest == HAUL__UNSAID || rank > form->rest_rank)
        form->rest = row->action;
    else if (rank == form->rest_rank)
        form->rest = combine(form->rest, row->action);
    form->rest_rank = rank > form->rest_rank ? rank : form->rest_rank;
    return HAUL_OK;
}

static int is_one(const haul__said *said, size_t row, size_t offset, size_t bytes)
{
    return said->row == row &&
           (row != SIZE_MAX || (said->offset == offset && said->bytes == bytes));
}

/* `at`: a row of the form's type; SIZE_MAX: the plain member at `offset`, whose name is `name`. */
static haul_status say(haul__policy *p, size_t number, const haul_policy_row *row,
                       haul__policy_rank rank, size_t at, size_t offset, const char *name)
{
    haul__form *form = &p->forms.at[number];
    haul__said *said;
    size_t i;
    for (i = 0; i < form->said.count; i++) {
        said = &form->said.at[i];
        if (!is_one(said, at, offset, row->bytes))
            continue;
        if (rank < said->rank)
            return HAUL_OK;
        if (rank > said->rank)
            break;
        if (is_conditional(&said->when) || is_conditional(&row->when))
            return refuse(p, row, "two rows name one field, and one of them has a condition", "");
        said->action = combine(said->action, row->action);
        return HAUL_OK;
    }
    said = i < form->said.count ? &form->said.at[i] : HAUL__LIST_ADD(p->allocator, &form->said);
    if (!said)
        return no_memory(p);
    said->row = at;
    said->offset = offset;
    said->bytes = row->bytes;
    said->name = name;
    said->rank = rank;
    said->action = row->action;
    said->when = row->when;
    return HAUL_OK;
}

/* ---- Paths. */

typedef struct numbers {
    size_t *at;
    size_t count, capacity;
} numbers;

/* Where a path has come to. */
typedef struct follower {
    haul__policy *p;
    const haul_policy_row *row;
    haul__policy_rank rank;
    const char *at;
    size_t base; /* of the struct at hand, in the one that the last pointer led to */
    numbers now, next;
} follower;

static int is_end_of_name(const char *at)
{
    return !*at || strchr(".[", *at) || strncmp(at, "->", 2) == 0;
}

static size_t match_row(const haul__row *row, const char *at)
{
    const size_t length = strlen(row->name);
    return strncmp(at, row->name, length) == 0 && is_end_of_name(at + length) ? length : 0;
}

/* The length of the field's name that comes next; of names that begin alike, the longest. */
static size_t next_name(const follower *f)
{
    size_t longest = 0, i, k;
    for (i = 0; i < f->now.count; i++) {
        const haul_type *type = f->p->forms.at[f->now.at[i]].type;
        for (k = 0; k < type->row_count; k++)
            if (match_row(&type->rows[k], f->at) > longest)
                longest = match_row(&type->rows[k], f->at);
    }
    return longest;
}

static int put(follower *f, size_t number)
{
    size_t i, *added;
    for (i = 0; i < f->next.count; i++)
        if (f->next.at[i] == number)
            return 1;
    added = HAUL__LIST_ADD(f->p->allocator, &f->next);
    if (added)
        *added = number;
    return added != NULL;
}

/* Notes a pointer that must travel, since the path goes on behind it. */
static haul_status pass(haul__policy *p, size_t form, size_t row)
{
    size_t *passed = HAUL__LIST_ADD(p->allocator, &p->forms.at[form].passed);
    if (!passed)
        return no_memory(p);
    *passed = row;
    return HAUL_OK;
}

/* Goes on to the structs that a row leads to. */
static haul_status step_into(follower *f, size_t form, size_t row)
{
    const haul_type *type = f->p->forms.at[form].type, *behind;
    const haul__row *at = &type->rows[row];
    const int is_inside = at->kind == HAUL_FIELD_EMBED;
    const haul__rule *rule;
    size_t i, count = at->type != NULL, number;
    for (rule = at->rule; rule; rule = rule->each)
        count += rule->said.type_switch.case_count;
    if (at->kind == HAUL_FIELD_RAW || at->kind == HAUL_FIELD_SKIP || count == 0)
        return refuse(f->p, f->row, "the path goes on behind plain bytes, in ", at->name);
    for (i = 0; i < count; i++) {
        behind = haul__type_behind(type, row, i);
        if (!haul__has_fields(behind))
            return refuse(f->p, f->row,
                          "the path goes on in a type without fields: ", behind->name);
        number =
            haul__form_of(f->p, behind, is_inside ? form : SIZE_MAX, is_inside ? row : SIZE_MAX);
        if (number == SIZE_MAX || !put(f, number))
            return no_memory(f->p);
    }
    f->base = is_inside ? f->base + at->offset : 0;
    return is_inside || f->row->action == HAUL_NONE ? HAUL_OK : pass(f->p, form, row);
}

static haul_status end_at(follower *f, size_t form, size_t row)
{
    const haul__row *at = &f->p->forms.at[form].type->rows[row];
    if (f->row->action >= HAUL_ONLY_PRESENT && f->row->action != HAUL_NONE &&
        at->kind != HAUL_FIELD_POINTER)
        return refuse(f->p, f->row,
                      "only a pointer is present or shallow, and this is none: ", at->name);
    if (f->row->action == HAUL_NONE && at->kind == HAUL_FIELD_TAIL)
        return refuse(f->p, f->row, "objects cannot go without their tail ", at->name);
    return say(f->p, form, f->row, f->rank, row, 0, NULL);
}

/* Ends at a plain member of each struct at hand. */
static haul_status end_at_plain(follower *f)
{
    const haul_policy_row *row = f->row;
    haul_status status = HAUL_OK;
    size_t i;
    if (!row->bytes)
        return refuse(f->p, row,
                      "no field has this name, and HAUL_MEMBER does not place it: ", f->at);
    if (row->action >= HAUL_ONLY_PRESENT && row->action != HAUL_NONE)
        return refuse(f->p, row, "only a pointer is present or shallow, and this is none: ", f->at);
    for (i = 0; i < f->now.count && status == HAUL_OK; i++)
        status =
            row->offset < f->base || !haul__fits(row->offset - f->base, row->bytes,
                                                 f->p->forms.at[f->now.at[i]].type->bytes)
                ? refuse(f->p, row, "the member lies outside of its struct: ", f->at)
                : say(f->p, f->now.at[i], row, f->rank, SIZE_MAX, row->offset - f->base, f->at);
    return status;
}

/* Takes indices and a separator. 0: the path is none. */
static int take_rest_of_step(follower *f)
{
    while (strncmp(f->at, "[*]", 3) == 0)
        f->at += 3;
    if (*f->at == '.')
        f->at++;
    else if (strncmp(f->at, "->", 2) == 0)
        f->at += 2;
    else
        return !*f->at;
    return *f->at != '\0';
}

/* One step of a path, for all structs at hand. */
static haul_status take_step(follower *f)
{
    const size_t length = next_name(f), base = f->base;
    const char *name = f->at;
    haul_status status = HAUL_OK;
    numbers spare;
    size_t i, k;
    if (!length) {
        status = end_at_plain(f);
        f->at += strlen(f->at);
        return status;
    }
    f->at += length;
    if (!take_rest_of_step(f))
        return refuse(f->p, f->row, "a path is made of names, [*] and dots, not of ", f->at);
    f->next.count = 0;
    for (i = 0; i < f->now.count; i++)
        for (k = 0; k < f->p->forms.at[f->now.at[i]].type->row_count && status == HAUL_OK; k++) {
            if (match_row(&f->p->forms.at[f->now.at[i]].type->rows[k], name) != length)
                continue;
            f->base = base;
            status = *f->at ? step_into(f, f->now.at[i], k) : end_at(f, f->now.at[i], k);
        }
    spare = f->now;
    f->now = f->next;
    f->next = spare;
    return status;
}

static haul_status follow(haul__policy *p, const haul_policy_row *row, haul__policy_rank rank,
                          size_t form)
{
    haul_status status = HAUL_OK;
    follower f;
    memset(&f, 0, sizeof f);
    f.p = p;
    f.row = row;
    f.rank = rank;
    f.at = row->path ? row->path : "";
    if (!*f.at)
        return say_rest(p, form, row, rank);
    if (!put(&f, form))
        return no_memory(p);
    f.now = f.next;
    memset(&f.next, 0, sizeof f.next);
    while (status == HAUL_OK && *f.at)
        status = take_step(&f);
    HAUL__LIST_RELEASE(p->allocator, &f.now);
    HAUL__LIST_RELEASE(p->allocator, &f.next);
    return status;
}

static haul_status read_row(const haul__policy *p, size_t i, haul_policy_row *row)
{
    if (haul__read_options(row, sizeof *row, (const char *)p->rows + i * p->row_bytes,
                           p->row_bytes) != HAUL_OK)
        return haul__fail(p->error, HAUL_ERROR_VERSION, HAUL__NEWER_OPTIONS);
    if (row->action < HAUL_COPY || row->action > HAUL_NONE)
        return refuse(p, row, "there is no such action", "");
    if (row->type && !haul__type_is_valid(*row->type))
        return refuse(p, row, "the type that the path begins at is none", "");
    return HAUL_OK;
}

/* ---- All forms. */

/* With rows of types, each embedded struct has a form for its place: such a row may speak of it, or
 * of one within it. */
static haul_status apply_rows(haul__policy *p, size_t number, int *has_types)
{
    haul_status status = HAUL_OK;
    haul_policy_row row;
    size_t i;
    for (i = 0; i < p->row_count && status == HAUL_OK; i++) {
        status = read_row(p, i, &row);
        *has_types |= status == HAUL_OK && row.type != NULL;
        if (status == HAUL_OK && (row.type ? *row.type == p->forms.at[number].type : number == 0))
            status = follow(p, &row, row.type ? HAUL__OF_TYPE : HAUL__OF_ROOT, number);
    }
    return status;
}

static haul_status reach_all(haul__policy *p)
{
    haul_status status = HAUL_OK;
    int has_types = 0, is_short = 0;
    size_t at, row, i;
    for (at = 0; at < p->forms.count && status == HAUL_OK; at++) {
        const haul_type *type = p->forms.at[at].type;
        status = apply_rows(p, at, &has_types);
        for (row = 0; row < type->row_count && status == HAUL_OK; row++) {
            if (has_types && type->rows[row].kind == HAUL_FIELD_EMBED)
                is_short |= haul__form_of(p, type->rows[row].type, at, row) == SIZE_MAX;
            for (i = 0; haul__form_behind(p, at, row, i, &is_short) != SIZE_MAX; i++)
                ;
        }
        for (i = 0; i < haul__type_old_count(type); i++)
            is_short |= haul__form_of(p, type->blocks[i].type, SIZE_MAX, SIZE_MAX) == SIZE_MAX;
        if (is_short)
            status = no_memory(p);
    }
    return status;
}

/* The struct around an embedded one has a smaller number. */
static haul_status inherit(haul__policy *p)
{
    size_t at, row, number;
    for (at = 0; at < p->forms.count; at++)
        for (row = 0; row < p->forms.at[at].type->row_count; row++) {
            const haul__row *embedded = &p->forms.at[at].type->rows[row];
            const haul__said *said = haul__said_of(&p->forms.at[at], row);
            const int action = said ? said->action : p->forms.at[at].rest;
            if (embedded->kind != HAUL_FIELD_EMBED || action == HAUL__UNSAID)
                continue;
            number = haul__form_in(p, at, row);
            if (number == SIZE_MAX && (action == HAUL_SHALLOW || action == HAUL_ONLY_PRESENT)) {
                number = haul__form_of(p, embedded->type, at, row);
                if (number == SIZE_MAX)
                    return no_memory(p);
            }
            if (number != SIZE_MAX && p->forms.at[number].rest == HAUL__UNSAID)
                p->forms.at[number].rest = action;
        }
    return HAUL_OK;
}

/* Is one of those changed that the form leads to? */
static int leads_to_changed(haul__policy *p, const haul__form *form, size_t number)
{
    int is_short = 0; /* all forms are there */
    size_t row, i, behind;
    for (row = 0; row < form->type->row_count; row++)
        for (i = 0; (behind = haul__form_behind(p, number, row, i, &is_short)) != SIZE_MAX; i++)
            if (p->forms.at[behind].is_changed)
                return 1;
    for (i = 0; i < haul__type_old_count(form->type); i++)
        if (p->forms.at[haul__form_of(p, form->type->blocks[i].type, SIZE_MAX, SIZE_MAX)]
                .is_changed)
            return 1;
    return 0;
}

/* An embedded struct has a form for each place, and what names it as its ancestor leads to one. */
static haul_status refuse_ancestor(const haul__policy *p, const haul__form *form)
{
    return haul__fail(p->error, HAUL_ERROR_UNSUPPORTED,
                      "the policy %s: type %s is embedded under a path, and is an `.ancestor`",
                      p->name, form->type->name);
}

/* A type that is committed with others must be made anew if one of them names it as an ancestor. */
static haul_status change_ancestors(haul__policy *p, const haul_type *type, int *goes_on)
{
    const haul__rule *rule;
    size_t row, i;
    for (row = 0; row < type->row_count; row++)
        for (rule = type->rows[row].rule; rule; rule = rule->each)
            for (i = 0; rule->ancestor && i < p->forms.count; i++) {
                haul__form *form = &p->forms.at[i];
                if (form->type != rule->ancestor)
                    continue;
                if (form->around != SIZE_MAX)
                    return refuse_ancestor(p, form);
                *goes_on |= !form->is_changed;
                form->is_changed = 1;
            }
    return HAUL_OK;
}

static haul_status mark_changes(haul__policy *p)
{
    haul_status status = HAUL_OK;
    int goes_on = 1;
    size_t i;
    while (goes_on && status == HAUL_OK)
        for (i = 0, goes_on = 0; i < p->forms.count && status == HAUL_OK; i++) {
            haul__form *form = &p->forms.at[i];
            const int is_changed = i == 0 || form->said.count || form->rest != HAUL__UNSAID ||
                                   form->is_changed || leads_to_changed(p, form, i);
            goes_on |= is_changed != form->is_changed;
            form->is_changed = is_changed;
            if (is_changed && !haul__has_fields(form->type))
                return haul__fail(p->error, HAUL_ERROR_UNSUPPORTED,
                                  "the policy %s: type %s was made by a constructor, so it has no "
                                  "other form",
                                  p->name, form->type->name);
            if (is_changed && form->around != SIZE_MAX && form->type->ancestor_bit)
                return refuse_ancestor(p, form);
            if (is_changed)
                status = change_ancestors(p, form->type, &goes_on);
        }
    return status;
}

static void close_forms(haul__policy *p)
{
    size_t i;
    for (i = 0; i < p->forms.count; i++) {
        if (p->forms.at[i].is_changed)
            haul_type_free(&p->forms.at[i].made);
        HAUL__LIST_RELEASE(p->allocator, &p->forms.at[i].said);
        HAUL__LIST_RELEASE(p->allocator, &p->forms.at[i].passed);
    }
    HAUL__LIST_RELEASE(p->allocator, &p->forms);
}

haul_status haul__policy_make(const haul_type *type, const char *name, const haul_policy_row *rows,
                              size_t count, size_t row_bytes, haul_type **policy)
{
    haul_status status = HAUL_OK;
    haul__policy p;
    memset(&p, 0, sizeof p);
    p.allocator = &type->allocator;
    p.error = type->home.error;
    p.name = name;
    p.rows = rows;
    p.row_count = count;
    p.row_bytes = row_bytes;
    if (haul__form_of(&p, type, SIZE_MAX, SIZE_MAX) == SIZE_MAX)
        return no_memory(&p);
    status = reach_all(&p);
    if (status == HAUL_OK)
        status = inherit(&p);
    if (status == HAUL_OK)
        status = mark_changes(&p);
    if (status == HAUL_OK)
        status = haul__policy_fields(&p);
    if (status == HAUL_OK)
        status = haul__type_commit(p.forms.at[0].made);
    if (status == HAUL_OK) {
        *policy = p.forms.at[0].made;
        p.forms.at[0].made = NULL;
    }
    close_forms(&p);
    return status;
}
