/* The resolver's hostent. Names end in NUL, lists in NULL; an address is h_length bytes, zeros
 * among them.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

typedef struct hostent {
    char *h_name, **h_aliases;
    int h_addrtype, h_length;
    char **h_addr_list;
} hostent;

enum { HOSTS = 200 };

static char **list_make(int count)
{
    return put_elements((size_t)count + 1, sizeof(char *));
}

static void hostent_fill(hostent *h, int number)
{
    int count = chance(1, 4), i, k;
    char text[64];
    snprintf(text, sizeof text, "host-%d.example.org", number);
    h->h_name = put_text(text);
    the.told += (int64_t)strlen(text);
    h->h_aliases = list_make(count);
    for (i = 0; i < count; i++) {
        snprintf(text, sizeof text, "alias-%d.%d.example.org", i, number);
        h->h_aliases[i] = put_text(text);
        the.told += (int64_t)strlen(text);
    }
    h->h_length = number % 2 ? 16 : 4;
    h->h_addrtype = number % 2 ? 10 : 2;
    h->h_addr_list = list_make(count);
    for (i = 0; i < count; i++) {
        h->h_addr_list[i] = put_elements(1, (size_t)h->h_length);
        for (k = 0; k < h->h_length; k++)
            the.told += h->h_addr_list[i][k] = (char)(number % 2 && k % 3 ? 0 : chance(1, 100));
    }
}

/* The list of its aliases is the last block of the the. */
static hostent *hostent_alone(void)
{
    hostent *h = put_elements(1, sizeof *h);
    char *one = put_text("one"), *two = put_text("two");
    h->h_length = 16;
    h->h_aliases = list_make(2);
    h->h_aliases[0] = one;
    h->h_aliases[1] = two;
    return h;
}

static hostent *hostents_make(void)
{
    hostent *h = put_elements(HOSTS, sizeof *h);
    int i;
    for (i = 0; i < HOSTS; i++)
        hostent_fill(&h[i], i);
    return h;
}

static int64_t hostent_walk(void *root, size_t count)
{
    hostent *h;
    int64_t sum = 0;
    int i, k;
    for (h = root; count > 0; count--, h++) {
        sum += (int64_t)strlen(h->h_name);
        h->h_name[0] = 'H';
        for (i = 0; h->h_aliases[i]; i++) {
            sum += (int64_t)strlen(h->h_aliases[i]);
            h->h_aliases[i][0] = 'A';
        }
        for (i = 0; h->h_addr_list[i]; i++)
            for (k = 0; k < h->h_length; k++)
                sum += h->h_addr_list[i][k]++;
    }
    return sum;
}

TEST(structures_resolver, names_that_end_in_NUL_and_lists_that_end_in_NULL)
{
    static const haul_field fields[] = {
        HAUL_STRING(hostent, h_name),
        HAUL_STRINGS(hostent, h_aliases, HAUL_TERMINATED),
        HAUL_ARRAYS(hostent, h_addr_list, HAUL_TERMINATED, HAUL_COUNT(hostent, h_length)),
    };
    haul_type *type;
    site_start(19);
    type = OPEN(hostent, fields);
    type_close(type);
    travel_and_sum(hostents_make(), type, HOSTS, hostent_walk);
    haul_type_free(&type);
    site_end();
}

TEST(structures_resolver, bytes_taken_for_a_string_or_a_list_for_a_counted_one_are_told_or_refused)
{
    static const haul_field string_fields[] = { HAUL_STRINGS(hostent, h_addr_list,
                                                             HAUL_TERMINATED) };
    static const haul_field counted_fields[] = { HAUL_STRINGS(hostent, h_aliases,
                                                              HAUL_COUNT(hostent, h_length)) };
    haul_type *type;
    site_start(20);
    type = OPEN(hostent, string_fields);
    type_close(type);
    audit_tells(hostents_make(), type, 1, HAUL_AUDIT_BEYOND_BLOCK, "root.h_addr_list[0][0]",
                "its block of 4 bytes ends");
    haul_type_free(&type);
    type = OPEN(hostent, counted_fields);
    type_close(type);
    refuse_ship(hostent_alone(), type, 1, HAUL_ERROR_GRAPH, "root.h_aliases[3]",
                "it points outside any process's address range");
    haul_type_free(&type);
    site_end();
}
