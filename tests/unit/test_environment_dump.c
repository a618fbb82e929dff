/* The tables of a data environment.
 */
#include <stdio.h>

#include "environment_graphs.h"

#define P (host.parts)

typedef struct paper {
    char text[8192];
    size_t length;
    int is_full;
    haul_status inside; /* of a call from the file's function */
} paper;

static haul_status put(void *user, const void *bytes, size_t count)
{
    paper *p = user;
    p->inside = haul_environment_sync(env, NULL);
    if (p->is_full || p->length + count >= sizeof p->text)
        return HAUL_ERROR_FILE;
    memcpy(p->text + p->length, bytes, count);
    p->length += count;
    p->text[p->length] = '\0';
    return HAUL_OK;
}

static void dump(paper *p, size_t ranges, haul_status status)
{
    const haul_file file = { p, put, NULL };
    memset(p->text, 0, sizeof p->text);
    p->length = 0;
    CHECK_STATUS(haul_environment_dump(env, &file, ranges), status);
}

static void has_line(const paper *p, const char *format, uintptr_t a, uintptr_t b)
{
    char line[200];
    snprintf(line, sizeof line, format, (size_t)a, (size_t)b);
    CHECK_HAS(p->text, line);
}

TEST(environment_dump, tables_tell_roots_groups_types_and_ranges)
{
    const haul_enter_options structured = { .structured = 1 };
    static paper p;
    char format[100];
    start();
    P[0].a = &P[3];
    P[7].a = &P[3];
    enter(&P[0]);
    enter(&P[0]);
    enter(&P[7]);
    CHECK_STATUS(haul_environment_enter(env, &P[7], part_type, 1, &structured, NULL), HAUL_OK);
    leave(&P[0]);
    leave(&P[0]); /* P[3] and its array stay */
    dump(&p, 100, HAUL_OK);
    CHECK_EQ(p.inside, HAUL_ERROR_BUSY);
    has_line(&p, "2 groups, 1 of them without a root; 1 roots; 4 ranges of %zu bytes; ",
             2 * sizeof(part) + 24, 0);
    has_line(&p, "\n%zu bytes of it kept without a root, %zu wasted; ", info().kept_bytes,
             info().wasted_bytes);
    has_line(&p, "; %zu bytes pinned for transfers\n", info().pinned_bytes, 0);
    CHECK_HAS(p.text, "2 groups made, 2 allocations of device memory, 0 look-ups\n");
    CHECK_HAS(p.text, "4 enters, 2 exits; to the device 2 transfers of ");
    has_line(&p, "       1           1           1  part at 0x%zx\n", (uintptr_t)&P[7], 0);
    CHECK_HAS(p.text, "       0           0           1           0           2  0x");
    CHECK_HAS(p.text, "       1           1           0           1           2  0x");
    has_line(&p, "       2           2  %12zu  part\n", 2 * sizeof(part), 0);
    CHECK_HAS(p.text, "       2           0            24  (data)\n");
    snprintf(format, sizeof format, "       0  %12zu  0x%%-16zx  0x%%-16zx  part\n", sizeof(part));
    has_line(&p, format, (uintptr_t)&P[3], (uintptr_t)there(&P[3]));
    has_line(&p, "       1            12  0x%-16zx  0x%-16zx  (data)\n", (uintptr_t)P[7].data,
             (uintptr_t)there(P[7].data));
    finish();
}

TEST(environment_dump, the_info_counts_look_ups_and_what_memory_is_for)
{
    haul_present_range range;
    haul_environment_info before, now;
    start();
    P[0].a = &P[3];
    P[7].a = &P[3];
    enter(&P[0]);
    enter(&P[7]);
    enter(&P[7]); /* makes no group */
    enter(&P[3]); /* neither does this */
    before = info();
    CHECK_EQ(before.groups_made, 2);
    CHECK_EQ(before.allocations, 2);
    CHECK_EQ(before.look_ups, 0);
    CHECK_EQ(before.kept_bytes, 0);
    CHECK_EQ(before.wasted_bytes, before.device_bytes - before.bytes);
    CHECK(before.wasted_bytes > 0); /* 12 bytes are no multiple of an alignment */
    CHECK(before.pinned_bytes > 0);
    leave(&P[0]); /* its group stays for the second root, and for P[3] */
    leave(&P[3]);
    now = info();
    CHECK_EQ(now.kept, 1);
    CHECK(now.kept_bytes > 0 && now.kept_bytes < now.device_bytes);
    CHECK(there(&P[7]) != NULL);
    CHECK(haul_environment_host_pointer(env, there(&P[3])) == &P[3]);
    CHECK_EQ(haul_environment_presence(env, &P[3], sizeof P[3]), HAUL_PRESENT);
    CHECK_STATUS(haul_environment_find(env, &P[3], &range), HAUL_OK);
    CHECK_STATUS(haul_environment_find(env, &before, &range), HAUL_ERROR_ARGUMENT);
    CHECK(haul_environment_device_pointer(env, NULL) == NULL);
    CHECK_EQ(info().look_ups, 7); /* failed ones count, too */
    CHECK_STATUS(haul_environment_update_device(env, &P[7], sizeof P[7], NULL), HAUL_OK);
    leave(&P[7]);
    leave(&P[7]);
    now = info();
    CHECK_EQ(now.look_ups, 7);
    CHECK_EQ(now.groups_made, 2);
    CHECK_EQ(now.allocations, 2);
    CHECK_EQ(now.kept_bytes + now.wasted_bytes + now.device_bytes, 0);
    finish();
}

TEST(environment_dump, ranges_are_left_out_and_counted)
{
    static paper p;
    start();
    enter(&P[0]);
    enter(&P[5]);
    dump(&p, 0, HAUL_OK);
    CHECK(!strstr(p.text, "host"));
    dump(&p, 1, HAUL_OK);
    CHECK_HAS(p.text, "... 3 more\n");
    dump(&p, 4, HAUL_OK);
    CHECK(!strstr(p.text, "more"));
    leave(&P[0]);
    leave(&P[5]);
    dump(&p, 4, HAUL_OK);
    CHECK_HAS(p.text, "0 groups");
    finish();
}

TEST(environment_dump, a_file_that_refuses_is_told)
{
    static paper p;
    start();
    enter(&P[0]);
    p.is_full = 1;
    dump(&p, 4, HAUL_ERROR_FILE);
    p.is_full = 0;
    finish();
}
