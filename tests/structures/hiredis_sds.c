/* sds, the strings of hiredis. The pointer leads to the characters; the low three bits of the byte
 * before them tell which header stands there, of 1, 3, 5, 9 or 17 bytes.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

#pragma pack(push, 1)
typedef struct sdshdr5 {
    uint8_t flags; /* the length in the upper bits */
    char buf[1];
} sdshdr5;
typedef struct sdshdr8 {
    uint8_t len, alloc, flags;
    char buf[1];
} sdshdr8;
typedef struct sdshdr16 {
    uint16_t len, alloc;
    uint8_t flags;
    char buf[1];
} sdshdr16;
typedef struct sdshdr32 {
    uint32_t len, alloc;
    uint8_t flags;
    char buf[1];
} sdshdr32;
typedef struct sdshdr64 {
    uint64_t len, alloc;
    uint8_t flags;
    char buf[1];
} sdshdr64;
#pragma pack(pop)

typedef struct reply {
    struct reply *next;
    char *str;
} reply;

enum { SDS_KINDS = 5, REPLIES = 400 };

static haul_type *reply_type, *sds_type[SDS_KINDS];

HAUL_FUNCTION(sds_kind, reply, ((const unsigned char *)here->target)[-1] & 7)
HAUL_FUNCTION(sds5_bytes, sdshdr5, (self->flags >> 3) + 1)
HAUL_FUNCTION(sds8_bytes, sdshdr8, self->alloc + 1)
HAUL_FUNCTION(sds16_bytes, sdshdr16, self->alloc + 1)
HAUL_FUNCTION(sds32_bytes, sdshdr32, (int64_t)self->alloc + 1)
HAUL_FUNCTION(sds64_bytes, sdshdr64, self->alloc + 1)

static const haul_case sds_cases[SDS_KINDS] = {
    { 0, &sds_type[0], HAUL_CONTAINER_OF(sdshdr5, buf) },
    { 1, &sds_type[1], HAUL_CONTAINER_OF(sdshdr8, buf) },
    { 2, &sds_type[2], HAUL_CONTAINER_OF(sdshdr16, buf) },
    { 3, &sds_type[3], HAUL_CONTAINER_OF(sdshdr32, buf) },
    { 4, &sds_type[4], HAUL_CONTAINER_OF(sdshdr64, buf) },
};

static void sds_open(size_t kinds)
{
    static const haul_field tail5[] = { HAUL_TAIL(sdshdr5, buf, HAUL_COUNT_FN(sds5_bytes)) };
    static const haul_field tail8[] = { HAUL_TAIL(sdshdr8, buf, HAUL_COUNT_FN(sds8_bytes)) };
    static const haul_field tail16[] = { HAUL_TAIL(sdshdr16, buf, HAUL_COUNT_FN(sds16_bytes)) };
    static const haul_field tail32[] = { HAUL_TAIL(sdshdr32, buf, HAUL_COUNT_FN(sds32_bytes)) };
    static const haul_field tail64[] = { HAUL_TAIL(sdshdr64, buf, HAUL_COUNT_FN(sds64_bytes)) };
    haul_field fields[] = { HAUL_OBJECT(reply, next, &reply_type),
                            HAUL_ADDRESS(reply, str,
                                         .type_switch = HAUL_SWITCH_FN(sds_kind, sds_cases)) };
    fields[1].type_switch.case_count = kinds;
    sds_type[0] = OPEN(sdshdr5, tail5);
    sds_type[1] = OPEN(sdshdr8, tail8);
    sds_type[2] = OPEN(sdshdr16, tail16);
    sds_type[3] = OPEN(sdshdr32, tail32);
    sds_type[4] = OPEN(sdshdr64, tail64);
    reply_type = OPEN(reply, fields);
    type_close(reply_type);
}

static void sds_close(void)
{
    int kind;
    haul_type_free(&reply_type);
    for (kind = 0; kind < SDS_KINDS; kind++)
        haul_type_free(&sds_type[kind]);
    site_end();
}

static unsigned sds_width(int kind)
{
    return kind == 0 ? 0 : 1u << (kind - 1);
}

static uint64_t sds_read(const char *s, int which)
{
    unsigned width = sds_width(s[-1] & 7);
    uint8_t w1;
    uint16_t w2;
    uint32_t w4;
    uint64_t w8 = 0;
    const char *at = s - 1 - (2 - which) * (int)width;
    switch (width) {
    case 1:
        memcpy(&w1, at, 1);
        return w1;
    case 2:
        memcpy(&w2, at, 2);
        return w2;
    case 4:
        memcpy(&w4, at, 4);
        return w4;
    case 8:
        memcpy(&w8, at, 8);
        return w8;
    default:
        return (unsigned char)s[-1] >> 3;
    }
}

static void sds_write(char *s, int which, uint64_t value)
{
    unsigned width = sds_width(s[-1] & 7);
    uint8_t w1 = (uint8_t)value;
    uint16_t w2 = (uint16_t)value;
    uint32_t w4 = (uint32_t)value;
    char *at = s - 1 - (2 - which) * (int)width;
    switch (width) {
    case 1:
        memcpy(at, &w1, 1);
        break;
    case 2:
        memcpy(at, &w2, 2);
        break;
    case 4:
        memcpy(at, &w4, 4);
        break;
    case 8:
        memcpy(at, &value, 8);
        break;
    default:
        s[-1] = (char)(value << 3);
    }
}

static char *sds_make(int kind, size_t length)
{
    size_t header = 1 + 2 * sds_width(kind), room = kind ? length + length / 4 : length;
    char *s = (char *)put_elements(1, header + room + 1) + header;
    s[-1] = (char)kind;
    sds_write(s, 0, length);
    if (kind)
        sds_write(s, 1, room);
    memset(s, 'a' + kind, length);
    the.told += (int64_t)length * (kind + 1);
    return s;
}

static reply *replies_make(void)
{
    static const int longest[SDS_KINDS] = { 31, 200, 900, 1500, 300 };
    reply *first = NULL;
    int i;
    for (i = 0; i < REPLIES; i++) {
        reply *r = put_elements(1, sizeof *r);
        int kind = (REPLIES - 1 - i) % SDS_KINDS;
        r->str = sds_make(kind, (size_t)chance(1, longest[kind]));
        r->next = first;
        first = r;
    }
    return first;
}

/* Each string that has room gets one more character. */
static int64_t sds_walk(void *root, size_t count)
{
    reply *r;
    int64_t sum = 0;
    (void)count;
    for (r = root; r; r = r->next) {
        uint64_t length = sds_read(r->str, 0);
        int kind = r->str[-1] & 7;
        sum += strlen(r->str) == length ? (int64_t)length * (kind + 1) : -1;
        r->str[0] = 'S';
        if (kind && length < sds_read(r->str, 1)) {
            r->str[length] = '+';
            sds_write(r->str, 0, length + 1);
        }
    }
    return sum;
}

TEST(structures_hiredis, strings_with_one_of_five_headers_in_front_of_their_characters)
{
    site_start(21);
    sds_open(SDS_KINDS);
    travel_and_sum(replies_make(), reply_type, 1, sds_walk);
    sds_close();
}

TEST(structures_hiredis, a_kind_of_header_that_was_forgotten_is_refused)
{
    site_start(22);
    sds_open(SDS_KINDS - 1);
    refuse_ship(replies_make(), reply_type, 1, HAUL_ERROR_GRAPH, "root(.next)*4.str",
                "its `.type_switch` has no case for 4");
    sds_close();
}
