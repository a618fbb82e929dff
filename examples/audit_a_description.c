/* A description that lacks a pointer, and the audit that finds it.
 *
 * `best_friend` was added to the struct, and its field was forgotten. Shipping works, but on the
 * device `best_friend` still holds a host address. haul_audit names the word, the type and the
 * target. Prints the audit's lines without the field and with it, then three claims with yes or NO.
 */
#include "common.h"

enum { PEOPLE = 4, FIELDS = 4, FIELDS_AT_FIRST = 3 };

typedef struct person {
    struct person *next;
    char name[16];
    struct person *best_friend;
    int score_count;
    double *scores;
    char *remark; /* nobody has one */
} person;

static haul_type *person_type;
static const haul_field person_fields[FIELDS] = {
    HAUL_OBJECT(person, next, &person_type),
    HAUL_ARRAY(person, scores, HAUL_COUNT(person, score_count)), HAUL_STRING(person, remark),
    HAUL_OBJECT(person, best_friend, &person_type), /* the field that was forgotten */
};

static void make_people(person *people, double *scores)
{
    memset(people, 0, PEOPLE * sizeof *people);
    for (int i = 0; i < PEOPLE; i++) {
        snprintf(people[i].name, sizeof people[i].name, "person %d", i);
        people[i].next = i + 1 < PEOPLE ? &people[i + 1] : NULL;
        people[i].best_friend = &people[(i + 2) % PEOPLE];
        people[i].score_count = i;
        people[i].scores = i > 0 ? scores : NULL;
    }
}

/* Audits with the first `fields` fields, and prints the findings. */
static int audit(haul_context *context, person *first, size_t fields, haul_audit_info *info)
{
    haul_file output = haul_file_descriptor(1);
    haul_audit_options options = { .file = &output };
    const haul_struct what = { .name = "person",
                               .bytes = sizeof(person),
                               .type = &person_type,
                               .fields = person_fields,
                               .field_count = fields,
                               .field_bytes = sizeof *person_fields };
    haul_status status = haul_describe(context, &what, 1);
    printf("with %zu of %d fields\n", fields, FIELDS);
    fflush(stdout);
    if (!status)
        status = haul_audit(context, haul_from_object(first, person_type), &options, info);
    haul_forget(&what, 1);
    return status ? failed("auditing", status, haul_context_error(context)) : 0;
}

int main(void)
{
    person people[PEOPLE];
    double scores[PEOPLE] = { 1, 2, 3, 4 };
    haul_audit_info before, after;
    haul_context *context = NULL;
    int result = haul_context_create(NULL, &context) != HAUL_OK;
    make_people(people, scores);
    if (!result)
        result = audit(context, people, FIELDS_AT_FIRST, &before) ||
                 audit(context, people, FIELDS, &after);
    haul_context_free(&context);
    if (result)
        return 1;
    result |=
        !claim("the forgotten pointer was found in every person", before.hidden_pointers == PEOPLE);
    result |= !claim("with its field no pointer is hidden", after.hidden_pointers == 0);
    result |= !claim("a hint names the field that no person uses", after.unused_fields == 1);
    return result;
}
