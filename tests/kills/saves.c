/* A save over an image that is there, killed by SIGKILL at each of its calls of the system and at
 * any other time, and one of whose calls fails: the file is the old image or the new one, whole.
 *
 * Killed, it may leave one file beside the image; failing, none. What the disk keeps when the
 * machine stops follows from the order of the calls, which is checked.
 *
 * A load, too, names the file and the reason when a call fails, and goes on when a read is short.
 *
 * Faults by number (docs/testing.md): H3, H9, F27.
 */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "haul.h"
#include "images/image_bytes.h"
#include "support/check.h"
#include "support/random.h"
#include "kills/system_calls.h"

enum { NUMBERS = 20000 };

typedef struct series {
    struct series *next;
    double *numbers;
    uint32_t count, version;
} series;

static haul_type *series_type;
static const haul_field series_fields[] = {
    HAUL_OBJECT(series, next, &series_type),
    HAUL_ARRAY(series, numbers, HAUL_COUNT(series, count)),
};
static const haul_struct structs[] = { HAUL_STRUCT(series, &series_type, series_fields) };

/* ---- A folder with an image, and a graph that has changed since. */

typedef struct place {
    char folder[64], path[80];
    haul_context *context;
    series graph[2];
    double numbers[NUMBERS];
    image_bytes old, new; /* the two images */
} place;

static place here; /* a child of fork() has its own */

/* Version 1 is shorter. */
static void set_version(uint32_t version)
{
    size_t i;
    here.graph[0].next = &here.graph[1];
    here.graph[1].next = here.graph;
    for (i = 0; i < 2; i++) {
        here.graph[i].numbers = here.numbers + i;
        here.graph[i].count = version * (NUMBERS / 2 - 1);
        here.graph[i].version = version;
    }
    for (i = 0; i < NUMBERS; i++)
        here.numbers[i] = (double)(version * i);
}

static haul_source graph(void)
{
    return haul_from_object(here.graph, series_type);
}

static haul_status save(void)
{
    return haul_image_save(here.context, graph(), here.path);
}

static void make_image(uint32_t version, image_bytes *to)
{
    const haul_file file = bytes_file(to);
    to->count = 0;
    set_version(version);
    CHECK_STATUS(haul_image_write(here.context, graph(), &file), HAUL_OK);
}

static void place_open(void)
{
    memset(&here, 0, sizeof here);
    strcpy(here.folder, P_tmpdir "/haul-kills-XXXXXX");
    CHECK(mkdtemp(here.folder) != NULL);
    snprintf(here.path, sizeof here.path, "%s/series.haul", here.folder);
    CHECK_STATUS(haul_context_create(NULL, &here.context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(here.context, structs), HAUL_OK);
    make_image(1, &here.old);
    make_image(2, &here.new);
}

/* The files of the folder beside the image, which are removed. */
static size_t clear_others(void)
{
    DIR *folder = opendir(here.folder);
    const struct dirent *entry;
    size_t count = 0;
    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        char name[400];
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "series.haul") == 0)
            continue;
        CHECK(strncmp(entry->d_name, "series.haul.new", 15) == 0);
        snprintf(name, sizeof name, "%s/%s", here.folder, entry->d_name);
        CHECK(unlink(name) == 0);
        count++;
    }
    closedir(folder);
    return count;
}

static void place_close(void)
{
    CHECK_EQ(clear_others(), 0);
    CHECK(unlink(here.path) == 0);
    CHECK(rmdir(here.folder) == 0);
    bytes_free(&here.old);
    bytes_free(&here.new);
    HAUL_FORGET(structs);
    haul_context_free(&here.context);
}

static void put_old(void)
{
    FILE *file = fopen(here.path, "wb");
    CHECK(file != NULL);
    CHECK_EQ(fwrite(here.old.at, 1, here.old.count, file), here.old.count);
    CHECK(fclose(file) == 0);
}

/* The version of the image that the file is: 0, there is no file. */
static uint32_t version_there(void)
{
    const image_bytes *whole;
    struct stat file;
    unsigned char *bytes;
    haul_image *image;
    uint32_t version;
    FILE *from;
    if (stat(here.path, &file) != 0)
        return 0;
    CHECK_STATUS(haul_image_load(here.context, here.path, &series_type, 1, NULL, &image), HAUL_OK);
    version = ((const series *)haul_image_roots(image, NULL)->address)->version;
    haul_image_free(&image);
    CHECK(version == 1 || version == 2);
    whole = version == 1 ? &here.old : &here.new;
    CHECK_EQ(file.st_size, whole->count);
    bytes = malloc(whole->count);
    from = fopen(here.path, "rb");
    CHECK(bytes != NULL && from != NULL);
    CHECK_EQ(fread(bytes, 1, whole->count, from), whole->count);
    fclose(from);
    CHECK_BYTES(bytes, whole->at, whole->count);
    free(bytes);
    return version;
}

/* ---- Killed. */

/* 1: SIGKILL came; 0: the child was through before. */
static int was_killed(pid_t child)
{
    int how;
    CHECK(waitpid(child, &how, 0) == child);
    CHECK(WIFSIGNALED(how) ? WTERMSIG(how) == SIGKILL : WIFEXITED(how) && WEXITSTATUS(how) == 0);
    return WIFSIGNALED(how);
}

static int save_and_kill(size_t at, calls_fate fate)
{
    const pid_t child = fork();
    haul_status status;
    CHECK(child >= 0);
    if (child > 0)
        return was_killed(child);
    calls_arm(at, fate, 0);
    status = save();
    calls_disarm();
    check_leave(status != HAUL_OK);
}

/* The calls of a save over the old image. */
static calls_record record_save(void)
{
    put_old();
    calls_arm(0, CALLS_FAIL, 0);
    CHECK_STATUS(save(), HAUL_OK);
    calls_disarm();
    CHECK_EQ(version_there(), 2);
    return calls;
}

/* `before`: the version of the file until then. Answers how often the new image was there. */
static size_t kill_everywhere(uint32_t before, calls_fate fate)
{
    const calls_record usual = record_save();
    size_t at, new_ones = 0;
    for (at = 1; at <= usual.count; at++) {
        uint32_t version;
        size_t left;
        if (fate == CALLS_KILL_HALF && usual.letters[at - 1] != 'w')
            continue;
        if (before)
            put_old();
        else
            CHECK(unlink(here.path) == 0 || errno == ENOENT);
        CHECK(save_and_kill(at, fate));
        check_note("killed at call %zu of %s, in way %d", at, usual.letters, (int)fate);
        version = version_there();
        left = clear_others();
        CHECK(version == 2 || version == before);
        CHECK(left <= 1 && (version != 2 || left == 0));
        new_ones += version == 2;
    }
    check_note(NULL);
    return new_ones;
}

TEST(kills, a_save_that_is_killed_at_any_of_its_calls_leaves_one_whole_image_H9)
{
    place_open();
    CHECK_EQ(kill_everywhere(1, CALLS_KILL), 3); /* behind the rename, there are three */
    CHECK_EQ(kill_everywhere(0, CALLS_KILL), 3);
    place_close();
}

TEST(kills, a_save_that_is_killed_within_any_of_its_writes_leaves_the_old_image_H9)
{
    place_open();
    CHECK_EQ(kill_everywhere(1, CALLS_KILL_HALF), 0);
    CHECK_EQ(version_there(), 1);
    place_close();
}

/* Saves one version behind the other, until it is killed. */
static void save_forever(void)
{
    uint32_t version;
    haul_status status = HAUL_OK;
    for (version = 2; status == HAUL_OK; version = 3 - version) {
        set_version(version);
        status = save();
    }
    check_leave(1);
}

TEST(kills, a_save_that_is_killed_at_any_time_leaves_one_whole_image_H9)
{
    enum { KILLS = 100 };
    random_source random = random_from(1);
    size_t i, versions[3] = { 0, 0, 0 }, left = 0;
    place_open();
    put_old();
    for (i = 0; i < KILLS; i++) {
        struct timespec while_it_saves = { 0, 0 };
        const pid_t child = fork();
        size_t others;
        CHECK(child >= 0);
        if (child == 0)
            save_forever();
        while_it_saves.tv_nsec = (long)random_below(&random, 8000000);
        nanosleep(&while_it_saves, NULL);
        CHECK(kill(child, SIGKILL) == 0);
        CHECK(was_killed(child));
        versions[version_there()]++;
        others = clear_others();
        CHECK(others <= 1);
        left += others;
    }
    CHECK_EQ(versions[0], 0);
    CHECK(left > 0); /* some came within a save */
    place_close();
}

TEST(kills, what_a_killed_save_has_left_does_not_disturb_the_next_one)
{
    char left[200];
    FILE *file;
    place_open();
    put_old();
    snprintf(left, sizeof left, "%s.new%ld-0", here.path, (long)getpid());
    file = fopen(left, "wb");
    CHECK(file != NULL);
    fputs("half an ima", file);
    CHECK(fclose(file) == 0);
    CHECK_STATUS(save(), HAUL_OK);
    CHECK_EQ(version_there(), 2);
    CHECK_EQ(clear_others(), 1); /* it may be that of a process that still writes */
    place_close();
}

/* ---- A call that fails. */

static int next_descriptor(void)
{
    const int next = open("/dev/null", O_RDONLY);
    close(next);
    return next;
}

/* When the new image has the name, what fails is the disk's answer about the folder. */
static void check_failure(haul_status status, size_t at, int error, int goes_on)
{
    const char *hit = calls.letters + at - 1;
    const char *renamed = strchr(calls.letters, 'r');
    char number[32];
    const int is_late = renamed && hit > renamed;
    check_note("call %zu of %s fails with %d", at, calls.letters, error);
    CHECK_STATUS(status, is_late || goes_on ? HAUL_OK : HAUL_ERROR_FILE);
    if (status != HAUL_OK) {
        snprintf(number, sizeof number, "errno %d", error);
        CHECK_HAS(haul_context_error(here.context)->text, here.path);
        CHECK_HAS(haul_context_error(here.context)->text, number);
    }
    CHECK_EQ(version_there(), status == HAUL_OK ? 2 : 1);
}

/* Each call of a save once. Answers how many there are. */
static size_t fail_everywhere(calls_fate fate, int error)
{
    const int next = next_descriptor();
    size_t at;
    for (at = 1;; at++) {
        haul_status status;
        int after;
        put_old();
        errno = 77;
        calls_arm(at, fate, error);
        status = save();
        after = errno;
        calls_disarm();
        CHECK_EQ(after, 77);
        CHECK_EQ(next_descriptor(), next);
        if (!calls.hit)
            break;
        check_failure(status, at, fate == CALLS_NONE ? EIO : error,
                      fate == CALLS_SHORT || (fate == CALLS_NONE && calls.hit != 'w') ||
                          (error == EINTR && strchr("owf", calls.hit)));
        CHECK(clear_others() <= (fate == CALLS_FAIL_FROM)); /* nor can it be removed */
        CHECK_STATUS(save(), HAUL_OK);
        CHECK_EQ(version_there(), 2);
    }
    check_note(NULL);
    return at - 1;
}

TEST(kills, a_call_that_fails_leaves_the_old_image_and_no_file_beside_it_H9)
{
    static const int errors[] = { ENOSPC, EIO };
    size_t i;
    place_open();
    for (i = 0; i < sizeof errors / sizeof *errors; i++)
        CHECK(fail_everywhere(CALLS_FAIL, errors[i]) >= 12);
    place_close();
}

TEST(kills, when_calls_fail_from_one_on_the_first_is_told_and_the_old_image_stays_H3_H9)
{
    place_open();
    CHECK(fail_everywhere(CALLS_FAIL_FROM, EIO) >= 12);
    place_close();
}

TEST(kills, a_save_goes_on_when_a_signal_comes_or_a_write_is_short_H9)
{
    place_open();
    CHECK(fail_everywhere(CALLS_FAIL, EINTR) >= 12);
    CHECK(fail_everywhere(CALLS_SHORT, 0) >= 12);
    CHECK(fail_everywhere(CALLS_NONE, 0) >= 12);
    place_close();
}

TEST(kills, an_image_is_on_the_disk_before_it_has_the_name_and_the_name_before_the_end)
{
    calls_record usual;
    const char *c = usual.letters;
    place_open();
    usual = record_save();
    CHECK_EQ(*c++, 'o');
    CHECK_EQ(*c, 'w');
    while (*c == 'w')
        c++;
    CHECK_STR(c, "fcrofc");
    place_close();
}

/* ---- Loads. */

static haul_status load_and_drop(int maps)
{
    haul_image *image;
    const haul_status status =
        maps ? haul_image_map(here.context, here.path, &series_type, 1, &image)
             : haul_image_load(here.context, here.path, &series_type, 1, NULL, &image);
    CHECK_EQ(image != NULL, status == HAUL_OK);
    haul_image_free(&image);
    return status;
}

static void check_load_failure(haul_status status, calls_fate fate, int error)
{
    const char *text = haul_context_error(here.context)->text;
    char number[32];
    snprintf(number, sizeof number, "errno %d", error);
    check_note("call %zu of %s fails with %d", calls.count, calls.letters, error);
    if (fate == CALLS_NONE && calls.hit == 'd') {
        CHECK_STATUS(status, HAUL_ERROR_FORMAT); /* the file has become shorter */
    } else if (fate != CALLS_FAIL || calls.hit == 'c' || error == EINTR) {
        CHECK_STATUS(status, HAUL_OK);
    } else {
        CHECK_STATUS(status, HAUL_ERROR_FILE);
        CHECK_HAS(text, here.path);
        CHECK_HAS(text, number);
    }
}

/* Each call of a load, or of a mapping, once. */
static void fail_loads(int maps, calls_fate fate, int error)
{
    const int next = next_descriptor();
    size_t at;
    for (at = 1;; at++) {
        haul_status status;
        int after;
        errno = 77;
        calls_arm(at, fate, error);
        status = load_and_drop(maps);
        after = errno;
        calls_disarm();
        CHECK_EQ(after, 77);
        CHECK_EQ(next_descriptor(), next);
        if (!calls.hit)
            break;
        check_load_failure(status, fate, error);
    }
    check_note(NULL);
    CHECK(at > 3);
}

TEST(kills, a_load_goes_on_after_short_reads_and_signals_and_names_a_file_that_fails_F27)
{
    int maps;
    place_open();
    put_old();
    for (maps = 0; maps < 2; maps++) {
        fail_loads(maps, CALLS_FAIL, EIO);
        fail_loads(maps, CALLS_FAIL, EINTR);
        fail_loads(maps, CALLS_SHORT, 0);
        fail_loads(maps, CALLS_NONE, 0);
    }
    place_close();
}

TEST(kills, a_folder_is_no_image_F27)
{
    haul_image *image;
    place_open();
    put_old();
    CHECK_STATUS(haul_image_load(here.context, here.folder, &series_type, 1, NULL, &image),
                 HAUL_ERROR_FILE);
    CHECK_HAS(haul_context_error(here.context)->text, "read of ");
    CHECK_STATUS(haul_image_map(here.context, here.folder, &series_type, 1, &image),
                 HAUL_ERROR_FILE);
    CHECK_PTR(image, NULL);
    place_close();
}
