/* GLib's GPtrArray, GArray and GString. What the public struct shows is the beginning of a private
 * one, which holds the room and how wide an element is. The free function of an array of texts is
 * given for each text.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "support/types.h"
#include "haul/experimental.h"

typedef void *gpointer;

static void free_nothing(void *data)
{
    (void)data;
}

typedef struct GPtrArray {
    gpointer *pdata;
    unsigned len, alloc;
    int ref_count;
    uint8_t null_terminated;
    void (*element_free_func)(void *);
} GPtrArray;

typedef struct GArray {
    char *data;
    unsigned len, elt_capacity, elt_size;
    unsigned zero_terminated : 1, clear : 1;
    int ref_count;
    void (*clear_func)(void *);
} GArray;

typedef struct GString {
    char *str;
    size_t len, allocated_len;
} GString;

typedef struct log_line {
    GString *text;
    GArray *samples; /* of 1, 2, 4 or 8 bytes */
} log_line;

typedef struct log_book {
    GPtrArray *lines; /* ends in NULL */
} log_book;

static haul_type *element, *pointers_type, *lines_type, *array_type, *gstring_type, *line_type,
    *book_type;

HAUL_FUNCTION(array_bytes, GArray, (int64_t)self->elt_capacity * self->elt_size)
HAUL_FUNCTION(pointers_with_end, GPtrArray, (int64_t)self->len + self->null_terminated)

static void book_open(void)
{
    static const haul_field pointers_fields[] = {
        HAUL_ADDRESS(GPtrArray, pdata, .levels = 2, .target = &element,
                     .count = HAUL_COUNT_FN(pointers_with_end)),
        HAUL_ADDRESS(GPtrArray, element_free_func, .ownership = HAUL_EXTERNAL)
    };
    static const haul_field array_fields[] = { HAUL_BYTES(GArray, data, HAUL_COUNT_FN(array_bytes)),
                                               HAUL_ADDRESS(GArray, clear_func,
                                                            .ownership = HAUL_EXTERNAL) };
    static const haul_field gstring_fields[] = { HAUL_ARRAY(GString, str,
                                                            HAUL_COUNT(GString, allocated_len)) };
    static const haul_field line_fields[] = { HAUL_OBJECT(log_line, text, &gstring_type),
                                              HAUL_OBJECT(log_line, samples, &array_type) };
    static const haul_field book_fields[] = { HAUL_OBJECT(log_book, lines, &lines_type) };
    CHECK_STATUS(haul_type_parameter(type_context(), "element", &element), HAUL_OK);
    pointers_type = OPEN(GPtrArray, pointers_fields);
    array_type = OPEN(GArray, array_fields);
    gstring_type = OPEN(GString, gstring_fields);
    line_type = OPEN(log_line, line_fields);
    book_type = OPEN(log_book, book_fields);
    CHECK_STATUS(haul_type_instance(pointers_type, 1, &element, &line_type, &lines_type), HAUL_OK);
    type_close(book_type);
}

static log_line *line_make(int n)
{
    log_line *l = put_elements(1, sizeof *l);
    GString *s = l->text = put_elements(1, sizeof *s);
    GArray *a = l->samples = put_elements(1, sizeof *a);
    unsigned i;
    s->allocated_len = 32;
    s->str = put_elements(32, 1);
    s->len = (size_t)snprintf(s->str, 32, "line %d", n);
    a->elt_size = 1u << n % 4;
    a->elt_capacity = 16;
    a->len = (unsigned)chance(0, 15);
    a->data = put_elements(16, a->elt_size);
    a->clear_func = free_nothing;
    for (i = 0; i < a->len; i++) {
        int value = chance(0, 99);
        memset(a->data + i * a->elt_size, value, 1);
        the.told += value;
    }
    the.told += (int64_t)s->len;
    return l;
}

static log_book *book_make(void)
{
    log_book *b = put_elements(1, sizeof *b);
    GPtrArray *p = b->lines = put_elements(1, sizeof *p);
    p->len = 500;
    p->alloc = 512;
    p->null_terminated = 1;
    p->element_free_func = free_nothing;
    p->pdata = put_room(512 * sizeof *p->pdata);
    p->pdata[p->len] = NULL;
    for (; p->len; p->len--)
        p->pdata[p->len - 1] = line_make((int)p->len);
    p->len = 500;
    return b;
}

/* Texts and arrays grow within their room. */
static int64_t book_walk(void *root, size_t count)
{
    log_book *b = root;
    gpointer *at;
    int64_t sum = 0;
    unsigned i;
    (void)count;
    for (at = b->lines->pdata; *at; at++) {
        log_line *l = *at;
        for (i = 0; i < l->samples->len; i++)
            sum += (unsigned char)l->samples->data[i * l->samples->elt_size];
        memset(l->samples->data + l->samples->len++ * l->samples->elt_size, 7,
               l->samples->elt_size);
        sum += (int64_t)strlen(l->text->str);
        l->text->str[l->text->len++] = '!';
    }
    return (unsigned)(at - b->lines->pdata) == b->lines->len ? sum : -1;
}

TEST(structures_glib, GArray_of_elements_as_wide_as_it_says_GString_and_GPtrArray_with_room_to_grow)
{
    site_start(112);
    book_open();
    travel_and_sum(book_make(), book_type, 1, book_walk);
    SITE_END(&book_type, &lines_type, &pointers_type, &array_type, &gstring_type, &line_type,
             &element);
}
