/* Each way to spoil a graph knows a place, what to write there, and whether the library must
 * notice.
 *
 * The contexts ask which memory is the graph's, so that a wrong pointer is refused before it is
 * followed; without that no library could survive one.
 */
#include "wrongs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support/check.h"
#include "support/doors.h"
#include "support/short_forms.h"

typedef struct spoiled {
    const char *what;
    unsigned char *at, old[8];
    size_t bytes;
    int must_fail;
} spoiled;

typedef struct answer {
    haul_status status;
    haul_error error;
} answer;

typedef struct attempt {
    graph *g;
    haul_context *context;
    fault_plan doors; /* of the context */
    uint64_t fault;   /* which of its allocations fails; 0: none */
    size_t block;     /* of the graph, that was asked for last */
    char *message;
    size_t message_bytes;
} attempt;

static int fail(attempt *a, const spoiled *s, const char *format, ...)
{
    va_list arguments;
    int n =
        snprintf(a->message, a->message_bytes, "wrong data: %s at %p: ", s->what, (void *)s->at);
    va_start(arguments, format);
    vsnprintf(a->message + n, a->message_bytes - (size_t)n, format, arguments);
    va_end(arguments);
    return 0;
}

/* ---- Spoiling ---- */

static void spoil(spoiled *s, const char *what, unsigned char *at, size_t bytes, int64_t value,
                  int must_fail)
{
    s->what = what;
    s->at = at;
    s->bytes = bytes;
    s->must_fail = must_fail;
    memcpy(s->old, at, bytes);
    graph_write(at, bytes, value);
}

/* A value of the choice that has no case. */
static int64_t without_case(const model_rule_of_field *rule)
{
    int64_t value = 0;
    for (unsigned i = 0; i < rule->case_count; i++)
        if ((value & rule->choice_mask) == (rule->cases[i].value & rule->choice_mask)) {
            value++;
            i = UINT32_MAX; /* from the first one again */
        }
    return value;
}

static void spoil_read(const reference_read *r, spoiled *s)
{
    int64_t most = r->bytes == 8 ? INT64_MAX : ((int64_t)1 << (8 * r->bytes - 1)) - 1;
    switch (r->what) {
    /* a tag is an object's first byte, too, which counts and conditions may ask for */
    case READ_CHOICE:
        spoil(s, "a choice without a case", r->at, r->bytes, without_case(&r->row->rule),
              r->row->rule.choice == CHOICE_BY_FIELD);
        break;
    case READ_TAIL:
        spoil(s, "a tail too long", r->at, r->bytes, most, r->bytes >= 4);
        break;
    case READ_SIZE:
        spoil(s, "an object of no bytes", r->at, r->bytes, 0, 1);
        break;
    default:
        spoil(s, "a condition", r->at, r->bytes, model_read(r->at, r->bytes, 0) ^ 1, 0);
    }
}

static int spoil_slot(const graph *g, const reference_slot *r, spoiled *s)
{
    int64_t stranger = (int64_t)(intptr_t)(g->around->stranger + 64);
    switch (r->kind) {
    case SLOT_FOLLOWED:
    case SLOT_RULED:
    case SLOT_ALIAS:
        spoil(s, "a pointer to a static that nobody registered", r->at, sizeof(void *), stranger,
              r->kind != SLOT_RULED);
        return 1;
    case SLOT_DISTANCE:
        spoil(s, "a distance that leads outside", r->at, r->bytes,
              model_read(r->at, r->bytes, 1) ^ 0x40000000, r->target != NULL);
        return 1;
    default:
        return 0;
    }
}

/* 0: there is nothing of the kind that was drawn. */
static int draw_wrong(choices *c, const graph *g, const reference *host, spoiled *s)
{
    size_t i = (size_t)random_word(&c->filler);
    switch (choose(c, 3)) {
    case 0:
        if (host->read_count == 0)
            return 0;
        spoil_read(&host->reads[i % host->read_count], s);
        return 1;
    case 1:
        return host->slot_count != 0 && spoil_slot(g, &host->slots[i % host->slot_count], s);
    default:
        if (g->frozen.count == 0)
            return 0;
        const graph_region *r = &g->frozen.at[i % g->frozen.count];
        size_t byte = r->count != 0 ? (size_t)random_word(&c->filler) % r->count : 0;
        spoil(s, "a byte that the description reads", r->address + byte, r->count != 0,
              (int64_t)(r->count != 0 ? r->address[byte] ^ (1u << choose(c, 8)) : 0), 0);
        return 1;
    }
}

/* ---- Asking ---- */

static int is_readable(void *user, const void *address, size_t bytes)
{
    attempt *a = user;
    return graph_has_near(a->g, &a->block, address, bytes);
}

static haul_status pack(haul_plan *plan)
{
    size_t bytes = plan_bytes(plan), alignment = plan_alignment(plan);
    unsigned char *memory = malloc(bytes + alignment);
    haul_status status = HAUL_ERROR_MEMORY;
    if (memory != NULL)
        status =
            haul_plan_pack(plan, memory + (alignment - (uintptr_t)memory % alignment) % alignment,
                           bytes, 1u << 20, NULL);
    free(memory);
    return status;
}

static answer ask(attempt *a)
{
    haul_plan *plan = NULL;
    answer given;
    given.status =
        haul_plan_create(a->context, haul_from_roots(a->g->roots, a->g->root_count), NULL, &plan);
    if (given.status == HAUL_OK)
        given.status = pack(plan);
    given.error = *haul_context_error(a->context);
    haul_plan_free(&plan);
    return given;
}

static int is_same(const answer *x, const answer *y)
{
    return x->status == y->status &&
           (x->status == HAUL_OK ||
            (strcmp(x->error.path, y->error.path) == 0 && !strcmp(x->error.text, y->error.text)));
}

/* An audit refuses what a plan refuses; a distance that is too long is told by the pack alone. */
static int audits_alike(attempt *a, const spoiled *s, const answer *given)
{
    haul_status status =
        haul_audit(a->context, haul_from_roots(a->g->roots, a->g->root_count), NULL, NULL);
    if (given->status == HAUL_ERROR_LIMIT || status == given->status)
        return 1;
    return fail(a, s, "the audit answers %s, the plan %s", haul_status_name(status),
                haul_status_name(given->status));
}

/* Memory may run out in a wrong graph, too: that is told exactly if it has happened, or the graph
 * is refused for what is wrong with it. */
static int fails_well(attempt *a, const spoiled *s)
{
    answer given;
    uint64_t fired;
    if (!a->fault)
        return 1;
    fault_arm(&a->doors, FAULT_ONCE, a->fault);
    given = ask(a);
    fired = a->doors.fired;
    fault_disarm(&a->doors);
    if (fired ? given.status != HAUL_OK : given.status != HAUL_ERROR_MEMORY)
        return 1;
    return fail(a, s, "allocation %lu fails %lu times, and the answer is %s",
                (unsigned long)a->fault, (unsigned long)fired, haul_status_name(given.status));
}

static int is_answered_well(attempt *a, const spoiled *s)
{
    const int good = fails_well(a, s);
    answer first = ask(a), second = ask(a);
    if (!good)
        return 0;
    if (first.status == HAUL_OK && s->must_fail)
        return fail(a, s, "is accepted");
    if (first.status != HAUL_OK && first.status != HAUL_ERROR_GRAPH &&
        first.status != HAUL_ERROR_LIMIT)
        return fail(a, s, "%s: %s", haul_status_name(first.status), first.error.text);
    if (first.status != HAUL_OK && (first.error.path[0] == '\0' || first.error.text[0] == '\0'))
        return fail(a, s, "%s without a path or a word", haul_status_name(first.status));
    if (!is_same(&first, &second))
        return fail(a, s, "another answer the second time: %s \"%s\" %s, not %s \"%s\" %s",
                    haul_status_name(second.status), second.error.path, second.error.text,
                    haul_status_name(first.status), first.error.path, first.error.text);
    return audits_alike(a, s, &first);
}

static int is_untouched(attempt *a, const spoiled *s)
{
    for (size_t i = 0; i < a->g->block_count; i++)
        if (memcmp(a->g->blocks[i].memory, a->g->blocks[i].shadow, a->g->blocks[i].bytes) != 0)
            return fail(a, s, "the source has changed");
    return 1;
}

static int is_right_again(attempt *a, const spoiled *s)
{
    answer given = ask(a);
    if (given.status == HAUL_OK)
        return 1;
    return fail(a, s, "what is right again is refused: %s \"%s\" %s",
                haul_status_name(given.status), given.error.path, given.error.text);
}

static haul_context *open_context(attempt *a, model_oracle *argument, int checked)
{
    haul_context_options options;
    haul_context *context = NULL;
    test_known known;
    memset(&options, 0, sizeof options);
    options.argument = argument;
    options.checked = checked;
    options.readable = is_readable;
    options.readable_user = a;
    options.max_bytes = (size_t)1 << 26;
    known = surroundings_known(a->g->around);
    if (fault_open_context(&a->doors, &options, &context) != HAUL_OK ||
        test_tell(context, &known) != HAUL_OK)
        exit(2);
    return context;
}

int wrongs_of_graph(choices *c, graph *g, const reference *host, model_oracle *argument,
                    uint64_t fault, char *message, size_t message_bytes)
{
    attempt a;
    int good = 1;
    memset(&a, 0, sizeof a);
    a.g = g;
    a.fault = fault;
    a.message = message;
    a.message_bytes = message_bytes;
    a.context = open_context(&a, argument, chance(c, 1, 2));
    for (unsigned i = 0; i < 8 && good; i++) {
        spoiled s;
        if (!draw_wrong(c, g, host, &s))
            continue;
        good = is_answered_well(&a, &s);
        memcpy(s.at, s.old, s.bytes);
        good = good && is_untouched(&a, &s);
        good = good && is_right_again(&a, &s);
    }
    haul_context_free(&a.context);
    fault_check_clean(&a.doors);
    return good;
}
