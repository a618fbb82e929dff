/* haul: looks at images. haul.1 is its manual.
 */
#define _POSIX_C_SOURCE 200112L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

typedef struct command {
    const char *name, *arguments, *does;
    int (*run)(tool *t);
    size_t files; /* 0: one or more */
    int draws;    /* it has the options of dot */
} command;

static const command commands[] = {
    { "inspect", "FILE", "show the head, the sections, the roots, and objects by type and field",
      inspect_file, 1, 0 },
    { "verify", "FILE...", "check images: one line for each", verify_files, 0, 0 },
    { "dot", "FILE", "draw the graph in Graphviz's language", draw_file, 1, 1 },
    { "json", "FILE", "list the objects by field, as JSON", list_file, 1, 0 },
    { "diff", "OLD NEW", "list what was added, removed and changed, by path", compare_files, 2, 0 },
    { "map", "FILE", "draw the arena as SVG: types as colours, pointers as arcs", map_file, 1, 0 },
};
#define COMMANDS (sizeof commands / sizeof *commands)

static void print_help(const command *only)
{
    size_t i;
    printf("usage: haul %s\n\n", only ? only->name : "COMMAND [OPTION...] FILE...");
    for (i = 0; i < COMMANDS; i++)
        if (!only || only == &commands[i])
            printf("  haul %-7s %-8s  %s\n", commands[i].name, commands[i].arguments,
                   commands[i].does);
    printf("\n  --trusted    leave out the check of the graph: the file is your own\n");
    if (!only || only->draws)
        printf("  --depth N    dot: at most N pointers from a root\n"
               "  --count N    dot: at most N objects and arrays (default 100)\n"
               "  --type NAME  dot: objects of this type alone, and the roots\n");
    printf("  --help       this text; `haul COMMAND --help` is about one command\n"
           "  --version    the version\n\n"
           "Exit codes: 0 good; 1 an image is refused; 2 wrong usage, or a file cannot be read or\n"
           "written. diff: 0 no difference; 1 some; 2 an image is refused, or as above.\n");
}

static int refuse_usage(const char *what, const char *word)
{
    fprintf(stderr, "haul: %s", what);
    if (word) {
        fprintf(stderr, " \"");
        print_clean(stderr, word);
        fprintf(stderr, "\"");
    }
    fprintf(stderr, "; `haul --help` shows the usage\n");
    return WRONG;
}

/* ---- Options. */

static int read_number(const char *text, size_t *number)
{
    char *end;
    unsigned long value;
    if (!text || *text < '0' || *text > '9')
        return 0;
    errno = 0;
    value = strtoul(text, &end, 10);
    *number = value;
    return !*end && !errno;
}

/* Takes the option at arguments[i]; answers how many words it has, 0: it is none. */
static int take_option(tool *t, const command *c, char **arguments)
{
    const char *word = arguments[0];
    if (strcmp(word, "--trusted") == 0) {
        t->options.is_trusted = 1;
        return 1;
    }
    if (!c->draws)
        return 0;
    if (strcmp(word, "--type") == 0) {
        t->type = arguments[1];
        return t->type ? 2 : 0;
    }
    if (strcmp(word, "--depth") == 0)
        return read_number(arguments[1], &t->graph.depth) ? 2 : 0;
    if (strcmp(word, "--count") == 0)
        return read_number(arguments[1], &t->graph.nodes) ? 2 : 0;
    return 0;
}

/* GOOD, WRONG, or -1: the text of help has been printed. */
static int read_arguments(tool *t, const command *c, char **arguments)
{
    int is_option = 1, words;
    for (; *arguments; arguments += words) {
        const char *word = *arguments;
        words = 1;
        if (!is_option || word[0] != '-' || !word[1]) {
            t->files[t->file_count++] = word;
        } else if (strcmp(word, "--") == 0) {
            is_option = 0;
        } else if (strcmp(word, "--help") == 0) {
            print_help(c);
            return -1;
        } else {
            words = take_option(t, c, arguments);
            if (!words)
                return refuse_usage("this option is wrong, or its value:", word);
        }
    }
    if (t->file_count == 0 || (c->files && t->file_count != c->files))
        return refuse_usage(t->file_count == 0         ? "no file for"
                            : t->file_count < c->files ? "one file alone for"
                                                       : "too many files for",
                            c->name);
    return GOOD;
}

static int run(tool *t, const command *c)
{
    const haul_status status = haul_context_create(NULL, &t->context);
    int code;
    t->shows_progress = isatty(2);
    if (status != HAUL_OK) {
        fprintf(stderr, "haul: %s\n", haul_status_text(status));
        return WRONG;
    }
    code = c->run(t);
    haul_context_free(&t->context);
    return close_output(code);
}

static const command *find_command(const char *name)
{
    size_t i;
    for (i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int main(int argument_count, char **arguments)
{
    const char *first = argument_count > 1 ? arguments[1] : NULL;
    const command *c = first ? find_command(first) : NULL;
    tool t;
    int code;
    memset(&t, 0, sizeof t);
    if (!first)
        return refuse_usage("no command", NULL);
    if (!c && strcmp(first, "--help") == 0) {
        print_help(NULL);
        return close_output(GOOD);
    }
    if (!c && strcmp(first, "--version") == 0) {
        printf("haul %d.%d.%d\n", HAUL_VERSION_MAJOR, HAUL_VERSION_MINOR, HAUL_VERSION_PATCH);
        return close_output(GOOD);
    }
    if (!c)
        return refuse_usage("there is no command", first);
    t.files = calloc((size_t)argument_count, sizeof *t.files);
    if (!t.files)
        return refuse_usage("there is no memory", NULL);
    code = read_arguments(&t, c, arguments + 2);
    if (code == GOOD)
        code = run(&t, c);
    free(t.files);
    return code < 0 ? close_output(GOOD) : code;
}
