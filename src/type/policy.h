/* Policies while they are made: the forms that types take under one, and what rows say of each.
 */
#ifndef HAUL_TYPE_POLICY_H
#define HAUL_TYPE_POLICY_H

#include "base/list.h"
#include "haul/policy.h"
#include "type/record.h"

enum { HAUL__UNSAID = -1 };

/* Which of two rows counts; those of one rank have one result. */
typedef enum haul__policy_rank {
    HAUL__INHERITED, /* from the struct around it */
    HAUL__OF_TYPE,
    HAUL__OF_ROOT
} haul__policy_rank;

/* What a row says of a field, or of a plain member. */
typedef struct haul__said {
    size_t row; /* of the form's type; SIZE_MAX: a plain member */
    size_t offset, bytes;
    const char *name; /* of a plain member */
    haul__policy_rank rank;
    int action;
    haul_when when;
} haul__said;

/* A form of a type. Behind pointers a type has one; embedded, one for each place where rows or what
 * surrounds it may make a difference. */
typedef struct haul__form {
    const haul_type *type;
    size_t around, row; /* embedded: the form and the row that it lies in; else SIZE_MAX */
    HAUL__LIST(haul__said) said;
    HAUL__LIST(size_t) passed; /* pointers that paths go through, by their rows */
    int rest;                  /* of what `said` and `passed` do not name */
    haul__policy_rank rest_rank;
    int is_changed;  /* it is made; else its type stands for it */
    haul_type *made; /* the type, made or not */
} haul__form;

typedef struct haul__policy {
    const haul_allocator *allocator;
    haul_error *error;
    const char *name;
    const haul_policy_row *rows;
    size_t row_count, row_bytes;
    HAUL__LIST(haul__form) forms; /* the root's is the first */
} haul__policy;

/* policy.c: makes a committed type from a committed one. */
haul_status haul__policy_make(const haul_type *type, const char *name, const haul_policy_row *rows,
                              size_t count, size_t row_bytes, haul_type **policy);

/* policy_forms.c. Is the type one of fields? Others have one form. */
int haul__has_fields(const haul_type *type);
/* The number of a type's form, made if there is none. SIZE_MAX: no memory. */
size_t haul__form_of(haul__policy *p, const haul_type *type, size_t around, size_t row);
/* The number of the form of an embedded row's type; SIZE_MAX: it has none of its own there. */
size_t haul__form_in(const haul__policy *p, size_t around, size_t row);
/* The type that a row leads to, by number; then those of its cases, then its ancestors. NULL: there
 * are no more. */
const haul_type *haul__type_behind(const haul_type *type, size_t row, size_t i);
/* What rows say of a row of the form's type; NULL: nothing. */
const haul__said *haul__said_of(const haul__form *form, size_t row);
/* The forms that a row leads to: those of its target and cases, then those of ancestors that it
 * names. SIZE_MAX: there are no more, or, with *is_short, there is no memory. */
size_t haul__form_behind(haul__policy *p, size_t form, size_t row, size_t i, int *is_short);

/* policy_fields.c: makes the types of all forms that are changed. */
haul_status haul__policy_fields(haul__policy *p);

#endif
