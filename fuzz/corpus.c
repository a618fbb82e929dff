/* Files and folders of inputs.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "campaign.h"

static int add_file(corpus *c, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    char *name = malloc(strlen(path) + 1);
    long size;
    /* of exactly its size, so that a sanitizer sees each byte too many */
    const int good = file && name && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
                     fseek(file, 0, SEEK_SET) == 0 && (data = malloc(size ? (size_t)size : 1)) &&
                     fread(data, 1, (size_t)size, file) == (size_t)size;
    if (file)
        fclose(file);
    if (!good) {
        fprintf(stderr, "cannot read %s\n", path);
        free(name);
        free(data);
        return 0;
    }
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 64;
        c->files = realloc(c->files, c->capacity * sizeof *c->files);
        if (!c->files)
            exit(2);
    }
    strcpy(name, path);
    c->files[c->count].path = name;
    c->files[c->count].data = data;
    c->files[c->count++].bytes = (size_t)size;
    return 1;
}

int corpus_add(corpus *c, const char *path)
{
    struct stat about;
    struct dirent *entry;
    DIR *folder;
    int good = 1;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return add_file(c, path);
    folder = opendir(path);
    if (!folder)
        return 0;
    while (good && (entry = readdir(folder))) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        good = add_file(c, name);
    }
    closedir(folder);
    return good;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct corpus_file *)a)->path, ((const struct corpus_file *)b)->path);
}

void corpus_sort(corpus *c)
{
    if (c->count)
        qsort(c->files, c->count, sizeof *c->files, by_path);
}

void corpus_free(corpus *c)
{
    size_t i;
    for (i = 0; i < c->count; i++) {
        free(c->files[i].path);
        free(c->files[i].data);
    }
    free(c->files);
    memset(c, 0, sizeof *c);
}
