#include "images/oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static verdict broken(oracle *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

static verdict broken(oracle *o, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(o->message, sizeof o->message, format, arguments);
    va_end(arguments);
    return BROKEN;
}

static verdict failed(oracle *o, const char *what, haul_status status)
{
    const haul_error *error = haul_context_error(o->context);
    return broken(o, "%s: %s at %.100s: %.200s", what, haul_status_name(status), error->path,
                  error->text);
}

/* What the head says that a compressed arena has. The bitmap, which is not compressed, must agree
 * before memory is taken. */
static uint64_t decompressed(const void *bytes, size_t count)
{
    haul__image_head head;
    if (count < sizeof head)
        return 0;
    memcpy(&head, bytes, sizeof head);
    return head.arena_bytes / 64 <= count ? head.arena_bytes : 0;
}

/* NULL: with the types of the image's own text. */
static haul_status load_as(oracle *o, const void *bytes, size_t count, haul_type *const *type,
                           haul_image **image)
{
    o->count = count + (size_t)decompressed(bytes, count);
    o->before = o->doors.host_most = o->doors.host_bytes;
    return haul_image_from_bytes(o->context, bytes, count, type, type != NULL, NULL, image);
}

static haul_status load(oracle *o, const void *bytes, size_t count, haul_image **image)
{
    return load_as(o, bytes, count, o->shape->type, image);
}

static haul_status load_alone(oracle *o, const void *bytes, size_t count, haul_image **image)
{
    return load_as(o, bytes, count, NULL, image);
}

/* F29: a load takes memory by the image's size, whatever the image claims; so do plans. */
static verdict bounded(oracle *o, const char *what)
{
    const uint64_t taken = o->doors.host_most - o->before;
    return taken <= 64 * (uint64_t)o->count + (1u << 17)
               ? ACCEPTED
               : broken(o, "%s takes %llu bytes of memory for %zu bytes", what,
                        (unsigned long long)taken, o->count);
}

static haul_source graph_of(const haul_image *image)
{
    size_t count;
    const haul_root *roots = haul_image_roots(image, &count);
    return haul_from_roots(roots, count);
}

/* ---- An oracle. */

/* A context with such a function leaves the scan out (image/scan.c). */
static int is_readable(void *user, const void *address, size_t bytes)
{
    (void)user;
    (void)address;
    (void)bytes;
    return 1;
}

int oracle_open(oracle *o, const shape *of)
{
    haul_context_options options;
    memset(&options, 0, sizeof options);
    memset(o, 0, sizeof *o);
    o->shape = of;
    o->reader.objects = malloc(READER_OBJECTS * sizeof *o->reader.objects);
    options.readable = is_readable;
    if (o->reader.objects && fault_open_context(&o->doors, NULL, &o->context) == HAUL_OK &&
        fault_open_context(&o->doors, &options, &o->walking) == HAUL_OK &&
        of->describe(o->context) == HAUL_OK && of->grown->describe(o->context) == HAUL_OK)
        return 1;
    fprintf(stderr, "%s: %s\n", of->name,
            o->context ? haul_context_error(o->context)->text : "no context");
    return 0;
}

void oracle_close(oracle *o)
{
    o->shape->forget();
    o->shape->grown->forget();
    haul_context_free(&o->context);
    haul_context_free(&o->walking);
    fault_check_clean(&o->doors);
    free(o->reader.objects);
    free(o->reader.role);
    free(o->reader.seen);
    free(o->roles);
    bytes_free(&o->once);
    bytes_free(&o->twice);
    bytes_free(&o->built);
}

void oracle_make_room(oracle *o, size_t bytes)
{
    reader *r = &o->reader;
    if (bytes > o->room) {
        o->room = 2 * bytes;
        r->role = realloc(r->role, o->room);
        r->seen = realloc(r->seen, o->room * sizeof *r->seen);
        o->roles = realloc(o->roles, o->room);
        if (!r->role || !r->seen || !o->roles)
            exit(2);
    }
    r->bytes = bytes;
}

/* `gap`: bytes between objects. */
static void build(oracle *o, const shape *of, choices *c, size_t gap, image_bytes *image)
{
    static pile memory;
    haul_file file = bytes_file(image);
    haul_status status;
    void *root;
    memory.used = 0;
    memory.gap = gap;
    root = of->build(&memory, c);
    image->count = 0;
    status = haul_image_write(o->context, haul_from_object(root, *of->type), &file);
    if (status == HAUL_OK)
        return;
    failed(o, "a right graph", status);
    fprintf(stderr, "%s: %s\n", o->shape->name, o->message);
    abort();
}

void oracle_build(oracle *o, choices *c, image_bytes *image)
{
    build(o, o->shape, c, 0, image);
    bytes_set(&o->built, image->at, image->count);
}

/* ---- The contract. */

static verdict read_all(oracle *o, const haul_image *image)
{
    reader *r = &o->reader;
    size_t bytes;
    r->block = haul_image_memory(image, &bytes);
    oracle_make_room(o, bytes);
    reader_run(r, o->shape->visit, o->shape->kind, haul_image_roots(image, NULL)->address);
    return r->wrong ? broken(o, "accepted, and %s: byte %zu of the arena", r->wrong, r->wrong_at)
                    : ACCEPTED;
}

/* Every byte of data gets another value; the ends of strings stay. */
static void write_all(const reader *r)
{
    size_t i;
    for (i = 0; i < r->bytes; i++)
        if (r->role[i] == ROLE_DATA)
            r->block[i] = (unsigned char)(0x80 + i % 127);
}

static verdict plan(oracle *o, const haul_image *image, const char *when)
{
    haul_plan *made;
    haul_status status;
    o->before = o->doors.host_most = o->doors.host_bytes;
    status = haul_plan_create(o->context, graph_of(image), NULL, &made);
    if (status != HAUL_OK)
        return failed(o, when, status);
    haul_plan_free(&made);
    return bounded(o, "a plan");
}

static verdict write_image(oracle *o, const haul_image *image, image_bytes *to)
{
    haul_file file = bytes_file(to);
    haul_status status;
    to->count = 0;
    status = haul_image_write(o->context, graph_of(image), &file);
    if (status == HAUL_OK && to->count > 2 * o->count + 65536)
        return broken(o, "written, it has %zu bytes, and had %zu", to->count, o->count);
    return status == HAUL_OK ? ACCEPTED : failed(o, "accepted, and not written", status);
}

/* Does a pointer into the block lie there? In another block it has other bytes. */
static int is_pointer(const reader *r, size_t at)
{
    uintptr_t word = 0;
    if (r->bytes - at >= sizeof word)
        memcpy(&word, r->block + at, sizeof word);
    return word - (uintptr_t)r->block <= r->bytes;
}

/* Bytes that nobody reads, and are not 0: of pools, say; a gap has none (F22). A pointer counts as
 * one. */
static size_t silent_bytes(const reader *r)
{
    size_t i, count = 0;
    for (i = 0; i < r->bytes; i++) {
        const int is_silent = r->role[i] == 0, leads_in = is_silent && is_pointer(r, i);
        count += leads_in || (is_silent && r->block[i] != 0);
        i += leads_in ? sizeof(uintptr_t) - 1 : 0;
    }
    return count;
}

/* Has the judged image the head and the sections of the one that the library has written last? */
static int has_built_head(const oracle *o)
{
    haul__image_head heads[2];
    size_t counts[2], i;
    const haul__image_section *ours = image_sections(&o->built, &counts[0]);
    const haul__image_section *theirs = image_sections(o->given, &counts[1]);
    if (!ours || !theirs || counts[0] != counts[1] || o->built.count != o->given->count)
        return 0;
    memcpy(&heads[0], o->built.at, sizeof *heads);
    memcpy(&heads[1], o->given->at, sizeof *heads);
    heads[0].hash = heads[1].hash = 0;
    for (i = 0; i < counts[0]; i++)
        if (memcmp(&ours[i], &theirs[i], offsetof(haul__image_section, hash)) != 0)
            return 0;
    return memcmp(&heads[0], &heads[1], sizeof *heads) == 0;
}

/* Is the judged image, which the reader has read, in the form in which the library writes? So it is
 * if it was written so, and differs in data alone (a byte that was 0 may have been a string's end).
 * Any other damage may leave an object that nobody reaches, or an order that is not the library's.
 */
static int is_own_form(const oracle *o)
{
    const haul__image_section *s;
    size_t count, i, at = 0;
    if (!o->given || !has_built_head(o))
        return 0;
    s = image_sections(&o->built, &count);
    for (i = 0; i < count; i++)
        if (s[i].kind == HAUL__SECTION_ARENA)
            at = (size_t)s[i].offset;
    for (i = (size_t)s[0].offset; i < o->built.count; i++) {
        const int is_other = o->built.at[i] != o->given->at[i];
        if (is_other && (i < at || o->built.at[i] == 0 || o->reader.role[i - at] != ROLE_DATA))
            return 0;
    }
    return 1;
}

/* The image of what was loaded, which the reader has read, is that of what is loaded from it. In
 * the library's own form it is the judged one. */
static verdict write_twice(oracle *o, const haul_image *image)
{
    haul_image *again;
    verdict v = write_image(o, image, &o->once);
    const size_t silent = silent_bytes(&o->reader);
    haul_status status;
    if (v == BROKEN)
        return v;
    if (is_own_form(o)) {
        o->own++;
        if (o->once.count != o->given->count ||
            memcmp(o->once.at, o->given->at, o->once.count) != 0)
            return broken(o, "as the library writes it, and written with other bytes");
    }
    status = load(o, o->once.at, o->once.count, &again);
    if (status != HAUL_OK)
        return failed(o, "accepted, written and not accepted", status);
    v = write_image(o, again, &o->twice);
    if (v == ACCEPTED)
        v = read_all(o, again);
    if (v == ACCEPTED && silent_bytes(&o->reader) != silent)
        v = broken(o, "written and loaded, it has other bytes that nobody reads");
    haul_image_free(&again);
    if (v == BROKEN)
        return v;
    if (o->once.count != o->twice.count || memcmp(o->once.at, o->twice.at, o->once.count) != 0)
        return broken(o, "written, loaded and written again, it has other bytes");
    return ACCEPTED;
}

/* With addresses in place of offsets it is the same graph as with offsets. */
static verdict write_for_address(oracle *o, const haul_image *image)
{
    const haul_image_write_options options[2] = { { .address = 0 }, { .address = 0x40000000 } };
    image_bytes *const to[2] = { &o->once, &o->twice };
    verdict v = ACCEPTED;
    size_t i;
    for (i = 0; i < 2 && v == ACCEPTED; i++) {
        const haul_file file = bytes_file(to[i]);
        haul_image *again = NULL;
        haul_status status;
        to[i]->count = 0;
        status = haul_image_write_as(o->context, graph_of(image), &options[i], &file);
        if (status == HAUL_OK)
            status = load(o, to[i]->at, to[i]->count, &again);
        v = status == HAUL_OK ? write_image(o, again, to[i])
                              : failed(o, "accepted, and not written for an address", status);
        haul_image_free(&again);
    }
    if (v == ACCEPTED &&
        (o->once.count != o->twice.count || memcmp(o->once.at, o->twice.at, o->once.count) != 0))
        return broken(o, "written for an address, it is another graph");
    return v;
}

/* Types of the image's own are other ones if the text is damaged. Nobody knows how to read their
 * objects, but the library must. */
static verdict judge_alone(oracle *o, const void *bytes, size_t count)
{
    haul_image *image, *again;
    haul_status status = load_alone(o, bytes, count, &image);
    verdict v = bounded(o, "a load");
    if (v == BROKEN || status != HAUL_OK) {
        haul_image_free(&image);
        return v == BROKEN || haul_context_error(o->context)->text[0]
                   ? v
                   : broken(o, "alone, refused without a word");
    }
    v = plan(o, image, "accepted alone, and not planned");
    if (v == ACCEPTED)
        v = write_image(o, image, &o->once);
    haul_image_free(&image);
    if (v == BROKEN)
        return v;
    status = load_alone(o, o->once.at, o->once.count, &again);
    if (status != HAUL_OK)
        return failed(o, "accepted alone, written, refused", status);
    v = write_image(o, again, &o->twice);
    haul_image_free(&again);
    if (v == ACCEPTED &&
        (o->once.count != o->twice.count || memcmp(o->once.at, o->twice.at, o->once.count) != 0))
        return broken(o, "loaded alone, written, loaded and written again, it has other bytes");
    return v;
}

/* With and without types, it is one graph. */
static verdict compare_alone(oracle *o, const haul_image *image, const void *bytes, size_t count)
{
    haul_image *alone;
    haul_status status = load_alone(o, bytes, count, &alone);
    verdict v;
    if (status != HAUL_OK)
        return failed(o, "accepted, but not with its own types", status);
    v = write_image(o, image, &o->once);
    if (v == ACCEPTED)
        v = write_image(o, alone, &o->twice);
    haul_image_free(&alone);
    if (v == ACCEPTED &&
        (o->once.count != o->twice.count || memcmp(o->once.at, o->twice.at, o->once.count) != 0))
        return broken(o, "with its own types it is written with other bytes");
    return v;
}

/* The scan accepts nothing that the walk refuses. */
static verdict walk_too(oracle *o, const void *bytes, size_t count)
{
    haul_image *image;
    const haul_status status =
        haul_image_from_bytes(o->walking, bytes, count, o->shape->type, 1, NULL, &image);
    const haul_error *error = haul_context_error(o->walking);
    haul_image_free(&image);
    return status == HAUL_OK ? ACCEPTED
                             : broken(o, "accepted, and refused by the walk, at %.100s: %.200s",
                                      error->path, error->text);
}

static verdict judge_accepted(oracle *o, const haul_image *image)
{
    verdict v = read_all(o, image);
    if (v == ACCEPTED)
        v = plan(o, image, "accepted, and not planned");
    if (v == ACCEPTED)
        v = write_twice(o, image);
    if (v == ACCEPTED)
        v = write_for_address(o, image);
    if (v == ACCEPTED)
        v = read_all(o, image);
    if (v == BROKEN)
        return v;
    write_all(&o->reader);
    memcpy(o->roles, o->reader.role, o->reader.bytes);
    v = read_all(o, image);
    if (v == ACCEPTED && memcmp(o->roles, o->reader.role, o->reader.bytes) != 0)
        v = broken(o, "its data was written, and it is another graph");
    return v == ACCEPTED ? plan(o, image, "its data was written, and it is not planned") : v;
}

/* ---- Structs that have grown. */

static haul_status load_grown(oracle *o, const void *bytes, size_t count, haul_image **image)
{
    haul_image_growth growths[4];
    const haul_image_options options = { .growths = growths, .growth_count = o->shape->size_count };
    size_t i;
    for (i = 0; i < o->shape->size_count; i++) {
        growths[i] = o->shape->grown->sizes[i];
        growths[i].stored_bytes = o->shape->sizes[i].stored_bytes;
    }
    return haul_image_from_bytes(o->context, bytes, count, o->shape->grown->type, 1, &options,
                                 image);
}

/* What was accepted is converted, unless objects overlap where structs grow. The result keeps the
 * contract, by the types that have grown. */
static verdict judge_grown(oracle *o, const void *bytes, size_t count, int was_accepted)
{
    const shape *usual = o->shape;
    haul_image *image;
    haul_status status = load_grown(o, bytes, count, &image);
    verdict v;
    if (status != HAUL_OK && !was_accepted)
        return REFUSED;
    if (status == HAUL_ERROR_UNSUPPORTED &&
        strstr(haul_context_error(o->context)->text, "overlap structs that have grown"))
        return ACCEPTED;
    if (status != HAUL_OK)
        return failed(o, "accepted, and not converted", status);
    o->shape = usual->grown;
    o->count = 4 * count;
    v = judge_accepted(o, image);
    o->shape = usual;
    haul_image_free(&image);
    return v;
}

/* Objects do not touch: else a pointer to no elements may lead to what it touches. */
verdict oracle_compare_grown(oracle *o, choices c)
{
    const shape *usual = o->shape;
    choices same = c;
    haul_image *one = NULL, *other = NULL;
    haul_status status;
    verdict v = ACCEPTED;
    build(o, usual, &c, 16, &o->once);
    build(o, usual->grown, &same, 16, &o->twice);
    o->count = o->twice.count;
    status = load_grown(o, o->once.at, o->once.count, &one);
    if (status != HAUL_OK)
        return failed(o, "a right graph is not converted", status);
    o->shape = usual->grown;
    status = load(o, o->twice.at, o->twice.count, &other);
    if (status != HAUL_OK)
        v = failed(o, "a right graph of grown structs is refused", status);
    if (v == ACCEPTED)
        v = write_image(o, one, &o->once);
    if (v == ACCEPTED)
        v = write_image(o, other, &o->twice);
    if (v == ACCEPTED &&
        (o->once.count != o->twice.count || memcmp(o->once.at, o->twice.at, o->once.count) != 0))
        v = broken(o, "converted, it is another graph");
    o->shape = usual;
    haul_image_free(&one);
    haul_image_free(&other);
    return v;
}

verdict oracle_judge(oracle *o, const void *bytes, size_t count)
{
    image_bytes given = { NULL, 0, 0 };
    haul_image *image;
    haul_status status = load(o, bytes, count, &image);
    verdict v = bounded(o, "a load");
    if (v == BROKEN) {
        haul_image_free(&image);
        return v;
    }
    if (status != HAUL_OK) {
        if (image || haul_context_error(o->context)->text[0] == '\0')
            return broken(o, "refused without a word");
        /* its types are the usual ones: refused for what a graph has; one in 8 goes on */
        if (status != HAUL_ERROR_TYPE && haul__image_hash(bytes, count) % 8)
            return REFUSED;
        if (status == HAUL_ERROR_TYPE) { /* some structs may have the sizes of now */
            v = judge_grown(o, bytes, count, 0);
        } else if (load_grown(o, bytes, count, &image) == HAUL_OK) {
            haul_image_free(&image);
            v = broken(o, "refused, and accepted when it is converted: %s",
                       haul_status_name(status));
        }
        if (v == BROKEN)
            return v;
        return judge_alone(o, bytes, count) == BROKEN ? BROKEN : REFUSED;
    }
    v = compare_alone(o, image, bytes, count);
    if (v == ACCEPTED)
        v = walk_too(o, bytes, count);
    given.at = (unsigned char *)(uintptr_t)bytes;
    given.count = count;
    o->given = &given;
    if (v == ACCEPTED)
        v = judge_accepted(o, image);
    o->given = NULL;
    haul_image_free(&image);
    return v == ACCEPTED ? judge_grown(o, bytes, count, 1) : v;
}

verdict oracle_judge_short_of_memory(oracle *o, const void *bytes, size_t count, uint64_t at)
{
    haul_context *usual = o->context;
    haul_image *image;
    haul_status status;
    verdict v = REFUSED;
    int fired;
    fault_plan doors;
    memset(&doors, 0, sizeof doors);
    if (fault_open_context(&doors, NULL, &o->context) != HAUL_OK)
        exit(2);
    fault_arm(&doors, FAULT_ONCE, at);
    status = at & 1 ? load(o, bytes, count, &image) : load_alone(o, bytes, count, &image);
    fired = doors.fired != 0;
    if (fired ? status == HAUL_OK : status == HAUL_ERROR_MEMORY)
        v = failed(o, "memory ran out, or not", status);
    haul_image_free(&image);
    fault_disarm(&doors);
    if (v != BROKEN)
        v = oracle_judge(o, bytes, count);
    if (v == ACCEPTED && fired && status != HAUL_ERROR_MEMORY)
        v = broken(o, "memory ran out, and the answer is %s", haul_status_name(status));
    haul_context_free(&o->context);
    fault_check_clean(&doors);
    o->context = usual;
    return v;
}
