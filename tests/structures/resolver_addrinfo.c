/* The resolver's addrinfo (CNT TERM FAM PARR SELF POLY, with hostent, which is in
 * resolver_hostent.c): each has the address that it leads to behind itself, in the same block,
 * and its family says which kind of address that is.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { INET = 2, INET6 = 10, UNIX = 1, RESULTS = 300 };

typedef struct sock {
    unsigned short sa_family;
    char sa_data[14];
} sock;

typedef struct sock_in {
    unsigned short sin_family, sin_port;
    uint32_t sin_addr;
    char sin_zero[8];
} sock_in;

typedef struct sock_in6 {
    unsigned short sin6_family, sin6_port;
    uint32_t sin6_flowinfo;
    unsigned char sin6_addr[16];
    uint32_t sin6_scope_id;
} sock_in6;

typedef struct sock_un {
    unsigned short sun_family;
    char sun_path[108]; /* ends with the address: shorter, as a rule */
} sock_un;

typedef struct addressinfo {
    int ai_flags, ai_family, ai_socktype, ai_protocol;
    uint32_t ai_addrlen;
    sock *ai_addr;
    char *ai_canonname; /* of the first one only */
    struct addressinfo *ai_next;
} addressinfo;

static haul_type *sock_in_type, *sock_in6_type, *addressinfo_type;

HAUL_FUNCTION(block_bytes, addressinfo, sizeof *self + self->ai_addrlen)

/* A path has no length of its own. The block's size describes its bytes; so an alias serves. */
static void resolver_open(int has_block)
{
    static const haul_case families[] = { { INET, &sock_in_type, 0 },
                                          { INET6, &sock_in6_type, 0 } };
    static const haul_field fields[] = {
        HAUL_ADDRESS(addressinfo, ai_addr, .when = HAUL_DIFFERS(addressinfo, ai_family, UNIX),
                     .type_switch = HAUL_SWITCH(addressinfo, ai_family, families)),
        HAUL_ADDRESS(addressinfo, ai_addr, .when = HAUL_EQUALS(addressinfo, ai_family, UNIX),
                     .ownership = HAUL_BORROWED),
        HAUL_STRING(addressinfo, ai_canonname),
        HAUL_OBJECT(addressinfo, ai_next, &addressinfo_type),
    };
    sock_in_type = type_open("sock_in", sizeof(sock_in), NULL, 0);
    sock_in6_type = type_open("sock_in6", sizeof(sock_in6), NULL, 0);
    addressinfo_type = OPEN(addressinfo, fields, .size_fn = has_block ? block_bytes : NULL);
    type_close(addressinfo_type);
}

static void resolver_close(void)
{
    haul_type_free(&addressinfo_type);
    haul_type_free(&sock_in_type);
    haul_type_free(&sock_in6_type);
}

static uint32_t address_make(void *address, int family, int number, uint64_t *seen)
{
    sock_in *in = address;
    sock_in6 *in6 = address;
    sock_un *un = address;
    char path[32];
    see(seen, (uint64_t)family);
    if (family == INET) {
        in->sin_family = INET;
        see(seen, in->sin_addr = (uint32_t)number);
        return sizeof *in;
    }
    if (family == INET6) {
        in6->sin6_family = INET6;
        see(seen, in6->sin6_addr[15] = (unsigned char)number);
        return sizeof *in6;
    }
    un->sun_family = UNIX;
    snprintf(path, sizeof path, "/run/service-%d", number);
    memcpy(un->sun_path, path, strlen(path) + 1);
    see_text(seen, path);
    return (uint32_t)(offsetof(sock_un, sun_path) + strlen(path) + 1);
}

static addressinfo *resolver_make(uint64_t *seen)
{
    static const int families[] = { INET, INET6, UNIX };
    addressinfo *first = NULL, **at = &first;
    int i;
    for (i = 0; i < RESULTS; i++) {
        uint64_t address[16] = { 0 };
        int family = families[i % 3];
        uint32_t bytes = address_make(address, family, i, seen);
        addressinfo *a = put(sizeof *a + bytes, sizeof(void *));
        a->ai_family = family;
        a->ai_addrlen = bytes;
        a->ai_addr = memcpy(a + 1, address, bytes);
        *at = a;
        at = &a->ai_next;
    }
    first->ai_canonname = put_text("host.example.org");
    see_text(seen, first->ai_canonname);
    return first;
}

static void resolver_walk(void *argument)
{
    visit *v = argument;
    addressinfo *first = v->root, *a;
    for (a = first; a; a = a->ai_next) {
        if ((void *)a->ai_addr != (void *)(a + 1))
            see(&v->seen, 0);
        see(&v->seen, a->ai_addr->sa_family);
        if (a->ai_family == INET)
            see(&v->seen, ((sock_in *)(void *)a->ai_addr)->sin_addr++);
        if (a->ai_family == INET6)
            see(&v->seen, ((sock_in6 *)(void *)a->ai_addr)->sin6_addr[15]++);
        if (a->ai_family == UNIX) {
            see_text(&v->seen, ((sock_un *)(void *)a->ai_addr)->sun_path);
            ((sock_un *)(void *)a->ai_addr)->sun_path[0] = '@';
        }
    }
    see_text(&v->seen, first->ai_canonname);
}

TEST(structures_resolver, addrinfo_leads_to_the_address_behind_itself_whatever_its_family)
{
    journey j = { .walk = resolver_walk };
    site_start(95);
    resolver_open(1);
    j.root = resolver_make(&j.seen);
    j.type = addressinfo_type;
    travel(&j);
    resolver_close();
    site_end();
}

/* A pointer to one past the end is a right one: nothing is refused, and the path stays at home. */
TEST(structures_resolver,
     addrinfo_without_the_bytes_behind_it_is_told_by_an_audit_that_knows_blocks_exactly)
{
    uint64_t seen = 0;
    site_start(95);
    resolver_open(0);
    audit_of_exact_blocks_tells(resolver_make(&seen), addressinfo_type, RESULTS / 3,
                                "root.ai_next.ai_next", "of its block of");
    resolver_close();
    site_end();
}
