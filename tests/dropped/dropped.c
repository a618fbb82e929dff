/* Each field of each description of tests/structures is left out once: who notices? Another program
 * of this file, haul_dropped_libraries, asks the same of the libraries' descriptions in
 * tests/acceptance.
 *
 *   haul_dropped [--all] [PREFIX...]
 *
 * The linker sends the calls of the tests through this file (--wrap). A test runs as it is, in a
 * child, with one field missing, and the first call that complains ends it:
 *
 *   commit   HAUL_DESCRIBE, haul_type_create or haul_type_commit refuses
 *   plan     haul_ship or haul_audit refuses the data
 *   audit    haul_audit has a finding; hints do not count
 *   launch   the first strict launch ends early
 *
 * If none complains, the test's own checks say whether the copy is right. If they pass, nothing was
 * lost (harmless): the data does not use the field, or its bytes travel as well without it. If they
 * fail, the loss is unnoticed, and must stand in the list below with its reason.
 *
 * Tests that audit and launch are run, except those of wrong descriptions, in which something
 * complains with all fields. A run takes about 13 ms, so all of them are for release builds. --all
 * prints each field.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "haul.h"
#include "support/check.h"

typedef enum outcome { LOST, HARMLESS, COMMIT, PLAN, AUDIT, LAUNCH, OUTCOMES } outcome;

static const char *const names[OUTCOMES] = { "UNNOTICED", "harmless", "commit",
                                             "plan",      "audit",    "launch" };

enum { NONE = -1, SKIPPED = 77, WANTED_PERCENT = 98 };

/* What nobody notices, and why. */
#define ARM "an arm of a union: without it, its bytes are zeros in the copy; no pointer goes astray"
#define TAIL "behind the struct's sizeof: only an audit that knows blocks exactly sees the rest"
#define CODE "a function that the copy translates: its address without that is a hint"
#define UNSET "no address, which a condition holds back: without it, the copy shows it"
#define EMPTY "lists that are empty while the audit looks"

static const struct {
    const char *field, *reason;
} known[] = {
    { "ZoneData.area", UNSET },
    { "yaml_node.data.scalar.style", ARM },
    { "facetT.f.area", ARM },
    { "Expr.y.sub", ARM },
    { "Expr.y.pWin", ARM },
    { "Expr.y.iTable", ARM },
    { "VdbeOp.p4.i", ARM },
    { "VdbeOp.p4.p", ARM },
    { "Mem.u.i", ARM },
    { "string.text", TAIL },
    { "sdshdr5.buf", TAIL },
    { "sdshdr8.buf", TAIL },
    { "sdshdr16.buf", TAIL },
    { "sdshdr32.buf", TAIL },
    { "sdshdr64.buf", TAIL },
    { "limbs.limb", TAIL },
    { "GHashTable.hash_func", CODE },
    { "Hosp.assess", EMPTY },
};

static const char *reason_for(const char *field)
{
    size_t i;
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].field, field) == 0)
            return known[i].reason;
    return NULL;
}

/* What a child tells. */
typedef struct report {
    int fields, audits, launches; /* so far */
    char of[128];                 /* "type.field": the one that was left out */
    char text[400];
} report;

static report *shared;
static int missing; /* the number of the field that is left out; NONE: none is */
static int inside;  /* a wrapped call is under way */

static void end(outcome how, const char *text)
{
    snprintf(shared->text, sizeof shared->text, "%s", text ? text : "");
    _exit((int)how);
}

/* ---- The calls of the tests. */

haul_status __real_haul_type_create_sized(haul_context *, const haul_struct *, size_t,
                                          haul_type **);
haul_status __wrap_haul_type_create_sized(haul_context *, const haul_struct *, size_t,
                                          haul_type **);
haul_status __real_haul_describe_sized(haul_context *, const haul_struct *, size_t, size_t);
haul_status __wrap_haul_describe_sized(haul_context *, const haul_struct *, size_t, size_t);
haul_status __real_haul_type_commit(haul_type *);
haul_status __wrap_haul_type_commit(haul_type *);
haul_status __real_haul_ship_from_sized(haul_device *, const haul_source *, size_t,
                                        const haul_ship_options *, size_t, const haul_async *,
                                        size_t, haul_shipment **);
haul_status __wrap_haul_ship_from_sized(haul_device *, const haul_source *, size_t,
                                        const haul_ship_options *, size_t, const haul_async *,
                                        size_t, haul_shipment **);
haul_status __real_haul_audit_sized(haul_context *, const haul_process *, const haul_source *,
                                    size_t, const haul_audit_options *, size_t, haul_audit_info *,
                                    size_t);
haul_status __wrap_haul_audit_sized(haul_context *, const haul_process *, const haul_source *,
                                    size_t, const haul_audit_options *, size_t, haul_audit_info *,
                                    size_t);
haul_status __real_haul_host_launch(haul_device *, void (*)(void *), void *);
haul_status __wrap_haul_host_launch(haul_device *, void (*)(void *), void *);

/* The struct's fields without the missing one, if it is of this struct. */
static haul_struct without(const haul_struct *what, haul_field **copy)
{
    haul_struct less = *what;
    const int first = shared->fields;
    size_t at;
    *copy = NULL;
    shared->fields += (int)what->field_count;
    if (missing < first || missing >= shared->fields)
        return less;
    at = (size_t)(missing - first);
    snprintf(shared->of, sizeof shared->of, "%s.%s", what->name, what->fields[at].name);
    *copy = malloc(what->field_count * sizeof **copy);
    memcpy(*copy, what->fields, at * sizeof **copy);
    memcpy(*copy + at, what->fields + at + 1, (what->field_count - at - 1) * sizeof **copy);
    less.fields = *copy;
    less.field_count--;
    return less;
}

haul_status __wrap_haul_type_create_sized(haul_context *context, const haul_struct *what,
                                          size_t bytes, haul_type **type)
{
    haul_field *copy = NULL;
    haul_struct less;
    haul_status status;
    if (inside)
        return __real_haul_type_create_sized(context, what, bytes, type);
    less = without(what, &copy);
    status = __real_haul_type_create_sized(context, &less, bytes, type);
    free(copy);
    if (status != HAUL_OK)
        end(COMMIT, haul_context_error(context)->text);
    return status;
}

haul_status __wrap_haul_describe_sized(haul_context *context, const haul_struct *structs,
                                       size_t count, size_t bytes)
{
    haul_struct *less = calloc(count, sizeof *less);
    haul_field *copy, *copied = NULL;
    haul_status status;
    size_t i;
    for (i = 0; i < count; i++) {
        less[i] = without(&structs[i], &copy);
        if (copy)
            copied = copy;
    }
    inside = 1;
    status = __real_haul_describe_sized(context, less, count, bytes);
    inside = 0;
    free(copied);
    free(less);
    if (status != HAUL_OK)
        end(COMMIT, haul_context_error(context)->text);
    return status;
}

haul_status __wrap_haul_type_commit(haul_type *type)
{
    const haul_status status = __real_haul_type_commit(type);
    if (status != HAUL_OK && !inside)
        end(COMMIT, haul_status_name(status));
    return status;
}

haul_status __wrap_haul_ship_from_sized(haul_device *device, const haul_source *source,
                                        size_t source_bytes, const haul_ship_options *options,
                                        size_t options_bytes, const haul_async *async,
                                        size_t async_bytes, haul_shipment **shipment)
{
    const haul_status status = __real_haul_ship_from_sized(
        device, source, source_bytes, options, options_bytes, async, async_bytes, shipment);
    if (status != HAUL_OK)
        end(PLAN, haul_context_error(haul_device_context(device))->text);
    return status;
}

static void keep_text(void *user, const haul_audit_finding *finding)
{
    char *text = user;
    if (!finding->is_hint && !text[0])
        snprintf(text, sizeof shared->text, "%.150s: %.200s", finding->path, finding->text);
}

/* The test's own listener hears nothing: what the audit says is said here. */
haul_status __wrap_haul_audit_sized(haul_context *context, const haul_process *process,
                                    const haul_source *source, size_t source_bytes,
                                    const haul_audit_options *options, size_t options_bytes,
                                    haul_audit_info *info, size_t info_bytes)
{
    haul_audit_options mine = *options;
    haul_status status;
    char text[sizeof shared->text] = "";
    shared->audits++;
    mine.finding = keep_text;
    mine.user = text;
    status = __real_haul_audit_sized(context, process, source, source_bytes, &mine, options_bytes,
                                     info, info_bytes);
    if (status != HAUL_OK)
        end(PLAN, haul_context_error(context)->text);
    if (info->hidden_pointers + info->beyond_block > 0)
        end(AUDIT, text);
    if (missing != NONE) /* hints are no reports */
        info->unused_fields = info->little_of_block = info->outside_addresses = 0;
    return status;
}

haul_status __wrap_haul_host_launch(haul_device *device, void (*function)(void *), void *argument)
{
    const haul_status status = __real_haul_host_launch(device, function, argument);
    shared->launches++;
    if (status != HAUL_OK)
        end(LAUNCH, haul_context_error(haul_device_context(device))->text);
    return status;
}

/* ---- Runs. */

static outcome run(const check_test *test, int without_field)
{
    int status = 0;
    pid_t child;
    memset(shared, 0, sizeof *shared);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(LOST);
        missing = without_field;
        alarm(60);
        _exit(check_run(test->run) ? LOST : HARMLESS);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return LOST;
    if (!WIFEXITED(status)) {
        snprintf(shared->text, sizeof shared->text, "ended by signal %d", WTERMSIG(status));
        return LOST;
    }
    return (outcome)WEXITSTATUS(status);
}

typedef struct score {
    size_t tests, fields, unexplained, of[OUTCOMES];
} score;

static int has_prefix(const check_test *test, char **prefixes, int count)
{
    char full[512];
    int i;
    snprintf(full, sizeof full, "%s/%s", test->suite, test->name);
    for (i = 0; i < count; i++)
        if (strncmp(full, prefixes[i], strlen(prefixes[i])) == 0)
            return 1;
    return count == 0 &&
           (strncmp(full, "structures_", 11) == 0 || strncmp(full, "libraries_", 10) == 0);
}

/* Leaves out each field that the test describes. */
static void drop_each(const check_test *test, int fields, int says_all, score *s)
{
    int i;
    s->tests++;
    for (i = 0; i < fields; i++) {
        const outcome how = run(test, i);
        const char *reason = how == LOST ? reason_for(shared->of) : NULL;
        s->fields++;
        s->of[how]++;
        s->unexplained += how == LOST && !reason;
        if (says_all || how == LOST)
            printf("%-9s %s (%s): %s\n", names[how], shared->of, test->suite,
                   reason ? reason : shared->text);
    }
}

static int print_score(const score *s)
{
    const size_t lost = s->of[LOST], told = s->fields - lost - s->of[HARMLESS];
    int i;
    printf("%zu tests, %zu fields left out", s->tests, s->fields);
    for (i = 0; i < OUTCOMES; i++)
        printf(", %s %zu", names[i], s->of[i]);
    printf("\n%.1f %% of losses are told; %zu unnoticed ones have no reason\n",
           100.0 * (double)told / (double)(told + lost + !(told + lost)), s->unexplained);
    return told > 0 && s->unexplained == 0 && told * 100 >= (told + lost) * WANTED_PERCENT;
}

/* Strict launches work in builds without sanitizers. If pointers have 4 bytes, numbers look like
 * pointers, and the tests audit the graph alone. */
static int can_run(void)
{
    const haul_host_options strict = { .strict = 1 };
    haul_context *context = NULL;
    haul_device *device = NULL;
    int can = sizeof(void *) > 4 && haul_context_create(NULL, &context) == HAUL_OK &&
              haul_host_open(context, &strict, &device) == HAUL_OK;
    haul_device_close(&device);
    haul_context_free(&context);
    return can;
}

int main(int count, char **arguments)
{
    const int says_all = count > 1 && strcmp(arguments[1], "--all") == 0;
    const check_test *test;
    score s;
    memset(&s, 0, sizeof s);
    if (!can_run()) {
        printf("SKIPPED: no strict launches, or pointers of 4 bytes\n");
        return SKIPPED;
    }
    setenv("HAUL_HOST_STRICT", "1", 1);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    for (test = check_tests; test; test = test->next)
        if (has_prefix(test, arguments + 1 + says_all, count - 1 - says_all) &&
            run(test, NONE) == HARMLESS && shared->audits > 0 && shared->launches > 0)
            drop_each(test, shared->fields, says_all, &s);
    return !print_score(&s);
}
