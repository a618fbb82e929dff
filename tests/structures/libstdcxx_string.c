/* A string of libstdc++. Up to 15 characters lie in the string itself.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

enum { LOCAL = 15, STRINGS = 2000 };

typedef struct string {
    char *_M_p;
    size_t _M_string_length;
    union {
        char _M_local_buf[LOCAL + 1];
        size_t _M_allocated_capacity;
    } u;
} string;

HAUL_FUNCTION(string_room, string,
              (self->_M_p == self->u._M_local_buf ? (size_t)LOCAL : self->u._M_allocated_capacity) +
                  1)

static string *strings_make(void)
{
    string *all = put_elements(STRINGS, sizeof *all), *s;
    for (s = all; s < all + STRINGS; s++) {
        size_t length = (size_t)chance(0, s == all ? 3 : 40), room = length + length / 2;
        s->_M_p = s->u._M_local_buf;
        if (length > LOCAL) {
            s->_M_p = put_elements(room + 1, 1);
            s->u._M_allocated_capacity = room;
        }
        memset(s->_M_p, 'a' + (int)(length % 26), length);
        s->_M_string_length = length;
        the.told += (int64_t)length + (length > LOCAL ? (int64_t)room : 0);
    }
    return all;
}

/* Each gets one more character, where it has the room. */
static int64_t strings_walk(void *root, size_t count)
{
    string *s;
    int64_t sum = 0;
    for (s = root; count > 0; count--, s++) {
        int is_local = s->_M_p == s->u._M_local_buf;
        size_t room = is_local ? (size_t)LOCAL : s->u._M_allocated_capacity;
        sum += strlen(s->_M_p) == s->_M_string_length ? (int64_t)s->_M_string_length : -1;
        sum += is_local ? 0 : (int64_t)room;
        if (s->_M_string_length < room)
            s->_M_p[s->_M_string_length++] = '+';
    }
    return sum;
}

TEST(structures_libstdcxx, short_strings_that_point_into_themselves_and_long_ones_that_do_not)
{
    static const haul_field fields[] = { HAUL_ARRAY(string, _M_p, HAUL_COUNT_FN(string_room)) };
    haul_type *type = OPEN(string, fields);
    site_start(33);
    type_close(type);
    travel_and_sum(strings_make(), type, STRINGS, strings_walk);
    haul_type_free(&type);
    site_end();
}

static size_t word(const char *text)
{
    size_t value = 0;
    memcpy(&value, text, sizeof value);
    return value;
}

TEST(structures_libstdcxx, text_read_as_a_capacity_is_refused_and_a_forgotten_pointer_told)
{
    static const haul_field fields[] = { HAUL_ARRAY(string, _M_p,
                                                    HAUL_COUNT(string, u._M_allocated_capacity)) };
    static const haul_field no_fields[] = { HAUL_RAW(string, _M_string_length) };
    haul_type *type = OPEN(string, fields);
    string *s;
    char words[80];
    site_start(34);
    the.options.max_array_elements = 1 << 24;
    type_close(type);
    s = strings_make();
    memcpy(s->u._M_local_buf, "short and so", 13);
    snprintf(words, sizeof words, "%zu elements, more than the limit array_elements",
             word("short and so"));
    refuse_ship(s, type, STRINGS, HAUL_ERROR_LIMIT, "root[0]._M_p", words);
    haul_type_free(&type);
    type = OPEN(string, no_fields);
    type_close(type);
    audit_tells(s, type, STRINGS, HAUL_AUDIT_HIDDEN_POINTER, "root[0]", "(offset 0 of string, ");
    haul_type_free(&type);
    site_end();
}
