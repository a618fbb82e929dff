/* hiredis' replies (CNT TERM PARR UNI COND; strings with headers, sds, are in
 * hiredis_sds.c): the type says whether a reply is text, an array of replies, or a
 * number; the other fields hold what was there before.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum {
    REPLY_STRING = 1,
    REPLY_ARRAY,
    REPLY_INTEGER,
    REPLY_NIL,
    REPLY_STATUS,
    REPLY_ERROR,
    REPLY_DOUBLE
};
enum { REPLIES = 700, PER_ARRAY = 6 };

typedef struct redisReply {
    int type;
    int64_t integer;
    double dval;
    size_t len;
    char *str; /* len bytes and a NUL, and any bytes among them */
    char vtype[4];
    size_t elements;
    struct redisReply **element;
} redisReply;

static haul_type *redisReply_type;

HAUL_FUNCTION(has_text, redisReply,
              self->type == REPLY_STRING || self->type == REPLY_STATUS ||
                  self->type == REPLY_ERROR || self->type == REPLY_DOUBLE)

static void replies_open(const haul_field *elements)
{
    const haul_field fields[] = {
        HAUL_ARRAY(redisReply, str, HAUL_COUNT_PLUS(redisReply, len, 1),
                   .when = HAUL_WHEN_FN(has_text)),
        *elements,
    };
    redisReply_type = OPEN(redisReply, fields);
    type_close(redisReply_type);
}

static void reply_fill(redisReply *r, int type, int number, uint64_t *seen)
{
    char text[16] = { 0 };
    r->type = type;
    r->element = (redisReply **)(uintptr_t)17;
    r->elements = 99;
    r->str = (char *)(uintptr_t)17;
    see(seen, (uint64_t)type);
    if (type == REPLY_INTEGER) {
        see(seen, (uint64_t)(r->integer = number));
    } else if (type != REPLY_NIL) {
        snprintf(text, sizeof text, "%d%c%d", number, type == REPLY_STRING ? 0 : '.', number);
        r->len = (size_t)snprintf(NULL, 0, "%d.%d", number, number);
        r->str = memcpy(put(r->len + 1, 1), text, r->len + 1);
        see(seen, (unsigned char)text[r->len - 1]);
    }
}

/* Arrays in arrays: a reply's elements are those of the numbers behind it. */
static redisReply *replies_make(uint64_t *seen)
{
    static const int plain[] = { REPLY_STRING, REPLY_INTEGER, REPLY_NIL,
                                 REPLY_STATUS, REPLY_ERROR,   REPLY_DOUBLE };
    static redisReply *all[REPLIES];
    int i, k;
    for (i = 0; i < REPLIES; i++)
        all[i] = PUT(redisReply);
    for (i = 0; i < REPLIES; i++) {
        int first = PER_ARRAY * i + 1;
        if (first >= REPLIES) {
            reply_fill(all[i], plain[i % 6], i, seen);
            continue;
        }
        all[i]->type = REPLY_ARRAY;
        all[i]->str = (char *)(uintptr_t)17;
        all[i]->elements = (size_t)(REPLIES - first < PER_ARRAY ? REPLIES - first : PER_ARRAY);
        all[i]->element = PUT_ARRAY(redisReply *, all[i]->elements);
        for (k = 0; k < (int)all[i]->elements; k++)
            all[i]->element[k] = all[first + k];
        see(seen, REPLY_ARRAY);
    }
    return all[0];
}

static void replies_walk(void *argument)
{
    visit *v = argument;
    redisReply *queue[REPLIES];
    int from, count = 1;
    size_t k;
    queue[0] = v->root;
    for (from = 0; from < count; from++) {
        redisReply *r = queue[from];
        see(&v->seen, (uint64_t)r->type);
        if (r->type == REPLY_ARRAY)
            for (k = 0; k < r->elements; k++)
                queue[count++] = r->element[k];
        else if (r->type == REPLY_INTEGER)
            see(&v->seen, (uint64_t)r->integer++);
        else if (r->type != REPLY_NIL) {
            see(&v->seen, (unsigned char)r->str[r->len - 1]);
            r->str[0] = '#';
        }
    }
}

TEST(structures_hiredis, redisReply_is_text_or_an_array_of_replies_or_a_number_as_its_type_says)
{
    const haul_field elements =
        HAUL_POINTERS(redisReply, element, &redisReply_type, HAUL_COUNT(redisReply, elements),
                      .when = HAUL_EQUALS(redisReply, type, REPLY_ARRAY));
    journey j = { .walk = replies_walk };
    site_start(110);
    replies_open(&elements);
    j.root = replies_make(&j.seen);
    j.type = redisReply_type;
    travel(&j);
    haul_type_free(&redisReply_type);
    site_end();
}

TEST(structures_hiredis, redisReply_elements_of_what_is_no_array_are_refused)
{
    const haul_field elements =
        HAUL_POINTERS(redisReply, element, &redisReply_type, HAUL_COUNT(redisReply, elements));
    uint64_t seen = 0;
    site_start(110);
    replies_open(&elements);
    refuse_graph(replies_make(&seen), redisReply_type, HAUL_ERROR_GRAPH, "", NULL,
                 "outside any process's address range");
    haul_type_free(&redisReply_type);
    site_end();
}
