/* libyaml on the other side: documents that it has loaded are shipped, walked and emitted there by
 * its own functions.
 *
 *     haul_accept_yaml [document.yaml ...]      default: Debian's, and rich.yaml
 *
 * yaml_emitter_dump frees the document that it emits, piece by piece. On a copy these frees do
 * nothing but count, so the emitter itself runs there; that it frees as many blocks there as the
 * original has says that each was reached, and none twice. The texts are the judge: what is emitted
 * there must be byte for byte what is emitted here.
 */
#define _GNU_SOURCE
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yaml_document.h"

enum { FILES = 5, REAL_FILES = 4 };

static const char *const files[FILES] = {
    "/usr/share/perl/5.*.*/CPAN/Kwalify/distroprefs.yml", /* perl-modules: anchors and aliases */
    "/usr/share/uap-core/regexes.yaml",                   /* uap-core */
    "/usr/share/uap-core/tests/test_ua.yaml",
    "/usr/share/uap-core/tests/test_device.yaml",
    ACCEPT_FOLDER "/rich.yaml",
};

static struct {
    haul_device *device;
    heap *originals;
} the;

/* One document of a file, and others loaded from the same text. */
typedef struct subject {
    const char *text;
    size_t bytes;
    int number;
    yaml_document_t *document;
    haul_shipment *shipment;
    size_t blocks; /* that the document has, beside its struct */
} subject;

static yaml_document_t *load(const subject *s)
{
    yaml_document_t *document;
    heap_use(the.originals);
    document = yaml_load(s->text, s->bytes, s->number);
    heap_use(NULL);
    return document;
}

/* -------------------------------------------------------------------------------------------------
 * Walking
 */
typedef struct walk {
    yaml_document_t *document;
    yaml_sight sight;
} walk;

static void walk_there(void *data)
{
    walk *w = data;
    yaml_walk(w->document, &w->sight);
}

static void check_walk(subject *s)
{
    walk here = { s->document, { 0 } },
         there = { haul_device_pointer(s->shipment, s->document), { 0 } };
    const yaml_sight *seen = &here.sight;
    walk_there(&here);
    if (!accept_there(the.device, the.originals, s->document, walk_there, &there))
        return;
    accept(memcmp(seen, &there.sight, sizeof *seen) == 0 && seen->broken == 0,
           "walked there by its own functions, the copy shows what the original showed");
    accept_note("%d scalars, %d sequences, %d mappings; %d references, %d nodes with several",
                seen->scalars, seen->sequences, seen->mappings, seen->references, seen->shared);
}

/* -------------------------------------------------------------------------------------------------
 * Emitting
 */
typedef struct emission {
    yaml_document_t *document;
    int (*change)(yaml_document_t *document); /* before; NULL: not at all */
    int changed;
    char *text;
} emission;

static void emit_there(void *data)
{
    emission *e = data;
    if (e->change)
        e->changed = e->change(e->document);
    e->text = yaml_dump(e->document);
}

/* The text of another document of the same bytes, changed and dumped here. */
static char *emitted_here(const subject *s, int (*change)(yaml_document_t *document))
{
    emission e = { load(s), change, 0, NULL };
    emit_there(&e);
    yaml_delete(e.document);
    return e.text;
}

static int same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void check_emission(subject *s)
{
    emission e = { haul_device_pointer(s->shipment, s->document), NULL, 0, NULL };
    char *expected = emitted_here(s, NULL);
    heap *copy = accept_heap_over(s->shipment);
    if (accept_there(the.device, the.originals, s->document, emit_there, &e)) {
        accept(same_text(e.text, expected),
               "yaml_emitter_dump emits the copy as it emits the original: %zu bytes",
               e.text ? strlen(e.text) : 0);
        accept(heap_freed(copy) == s->blocks,
               "and frees %zu blocks of the copy, each once, as it will here", s->blocks);
    }
    free(e.text);
    free(expected);
    heap_close(copy);
    accept_ok(haul_update_device(s->shipment, NULL, NULL),
              haul_context_error(haul_device_context(the.device)),
              "the copy, emptied by that, is filled again from the original");
}

/* -------------------------------------------------------------------------------------------------
 * Changing
 */
typedef struct changing {
    yaml_document_t *document;
    int (*change)(yaml_document_t *document);
    int changed;
} changing;

static void change_there(void *data)
{
    changing *c = data;
    c->changed = c->change(c->document);
}

static int change_both(yaml_document_t *document)
{
    yaml_change_values(document);
    return yaml_change_links(document);
}

/* Does the original now look like another document of the same text, changed here? Marks
 * included. */
static int looks_changed(const subject *s, int (*change)(yaml_document_t *document))
{
    yaml_document_t *expected = load(s);
    yaml_sight a, b;
    change(expected);
    yaml_walk(expected, &a);
    yaml_walk(s->document, &b);
    yaml_delete(expected);
    return memcmp(&a, &b, sizeof a) == 0;
}

static int changed_there(const subject *s, int (*change)(yaml_document_t *document))
{
    changing c = { haul_device_pointer(s->shipment, s->document), change, 0 };
    return accept_there(the.device, the.originals, s->document, change_there, &c) ? c.changed : 0;
}

static void check_values(const subject *s)
{
    const int changed = changed_there(s, yaml_change_values);
    accept_ok(haul_unmarshal(s->shipment), haul_context_error(haul_device_context(the.device)),
              "values that are changed there come back");
    accept(looks_changed(s, yaml_change_values),
           "the original now is a document of which %d values were changed here", changed);
}

/* The plan is stale afterwards, but the copy is what it was. */
static void check_links(const subject *s)
{
    const int changed = changed_there(s, yaml_change_links);
    accept_ok(haul_update_host(s->shipment, &(const haul_update_options){ .pointers = 1 }, NULL),
              haul_context_error(haul_device_context(the.device)),
              "exchanged values and pushed items come back, with their pointers");
    accept(looks_changed(s, change_both),
           "the original now is a document that was changed so here, in %d ways of 3", changed);
}

/* Its last service: both sides of it are emitted. */
static void check_end(subject *s)
{
    emission e = { haul_device_pointer(s->shipment, s->document), NULL, 0, NULL };
    char *expected = emitted_here(s, change_both), *text = NULL;
    heap *copy = accept_heap_over(s->shipment);
    if (accept_there(the.device, the.originals, s->document, emit_there, &e)) {
        text = yaml_dump(s->document);
        accept(
            same_text(e.text, expected) && same_text(text, expected),
            "the changed copy, the changed original and a document changed here are emitted alike");
    }
    free(text);
    free(e.text);
    free(expected);
    heap_close(copy);
}

/* -------------------------------------------------------------------------------------------------
 * Documents
 */
static void check_document(subject *s)
{
    accept_audit(NULL, s->document, yaml_type, 1);
    s->shipment = accept_ship(the.device, s->document, yaml_type, 1);
    if (s->shipment) {
        check_walk(s);
        check_emission(s);
        check_values(s);
        check_links(s);
        check_end(s);
    }
    haul_shipment_free(&s->shipment);
}

static void documents(const char *name, const char *text, size_t bytes)
{
    subject s = { text, bytes, 0, NULL, NULL, 0 };
    while ((s.document = load(&s)) != NULL) {
        s.blocks = heap_live(the.originals) - 1;
        accept_title("%s, document %d of %zu bytes", name, s.number + 1, bytes);
        check_document(&s);
        yaml_delete(s.document);
        accept(heap_live(the.originals) == 0, "every block of the original is freed");
        s.number++;
    }
    if (s.number == 0)
        accept(0, "%s holds a document", name);
}

static int file(const char *path)
{
    size_t bytes;
    char *text = accept_read(path, &bytes);
    if (text)
        documents(path, text, bytes);
    free(text);
    return text != NULL;
}

/* How many of the files that a pattern stands for are there. */
static size_t found_files(const char *pattern, glob_t *found)
{
    memset(found, 0, sizeof *found);
    return glob(pattern, 0, NULL, found) == 0 ? found->gl_pathc : 0;
}

static size_t real_files(void)
{
    size_t count = 0;
    for (int i = 0; i < REAL_FILES; i++) {
        glob_t found;
        count += found_files(files[i], &found);
        globfree(&found);
    }
    return count;
}

static void default_files(void)
{
    for (int i = 0; i < FILES; i++) {
        glob_t found;
        const size_t count = found_files(files[i], &found);
        for (size_t at = 0; at < count; at++)
            file(found.gl_pathv[at]);
        if (count == 0)
            accept_title("%s is not installed", files[i]);
        globfree(&found);
    }
}

int main(int count, char **arguments)
{
    haul_status status;
    if (count < 2 && real_files() == 0) {
        printf("there are no documents: neither perl-modules nor uap-core is installed\n");
        return ACCEPT_NOTHING_TO_RUN_ON;
    }
    printf("libyaml %s on a host device\n", yaml_get_version_string());
    the.originals = heap_open();
    the.device = accept_device(0);
    status = yaml_describe(haul_device_context(the.device), yaml_fields, DOCUMENT_ROWS,
                           yaml_node_fields);
    if (accept_ok(status, haul_context_error(haul_device_context(the.device)),
                  "libyaml's document is described in fourteen rows")) {
        for (int i = 1; i < count; i++)
            accept(file(arguments[i]), "%s was read", arguments[i]);
        if (count < 2)
            default_files();
    }
    yaml_forget();
    refuse_wrong_documents(the.originals);
    haul_device_close(&the.device);
    heap_close(the.originals);
    return accept_done();
}
