/* Matrices for the programs: of grids, of random numbers, and from files. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparse.h"

/* ---- Random numbers: xorshift64*, by Vigna. */

uint64_t random_seed(int count, char **words)
{
    const char *said = getenv("HAUL_SEED");
    int i;
    for (i = 1; i + 1 < count; i++)
        if (strcmp(words[i], "--seed") == 0)
            said = words[i + 1];
    return said && strtoull(said, NULL, 10) ? strtoull(said, NULL, 10) : 1;
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) / 9007199254740992.0;
}

/* ---- Entries. */

static void *grown(void *array, size_t count, size_t bytes)
{
    void *result = realloc(array, count * bytes);
    if (!result) {
        printf("out of memory\n");
        exit(1);
    }
    return result;
}

static void put(entries *e, size_t row, size_t column, double real, double imaginary)
{
    if (e->count == e->capacity) {
        e->capacity = e->capacity ? 2 * e->capacity : 1024;
        e->row = grown(e->row, e->capacity, sizeof *e->row);
        e->column = grown(e->column, e->capacity, sizeof *e->column);
        e->real = grown(e->real, e->capacity, sizeof *e->real);
        e->imaginary = grown(e->imaginary, e->capacity, sizeof *e->imaginary);
    }
    e->row[e->count] = (int)row;
    e->column[e->count] = (int)column;
    e->real[e->count] = real;
    e->imaginary[e->count++] = imaginary;
}

static entries entries_of(size_t rows, size_t columns, int is_lower)
{
    entries e;
    memset(&e, 0, sizeof e);
    e.rows = rows;
    e.columns = columns;
    e.is_lower = is_lower;
    return e;
}

void entries_free(entries *e)
{
    free(e->row);
    free(e->column);
    free(e->real);
    free(e->imaginary);
    memset(e, 0, sizeof *e);
}

/* ---- Grids. A point's neighbours have numbers 1, side and side * side above its own. */

entries laplacian(size_t side, int dimensions)
{
    size_t n = dimensions == 3 ? side * side * side : side * side, i, step;
    entries e = entries_of(n, n, 1);
    for (i = 0; i < n; i++) {
        put(&e, i, i, 2.0 * dimensions + 0.01, 0);
        for (step = 1; step < n; step *= side)
            if (i / step % side + 1 < side)
                put(&e, i + step, i, -1, 0);
    }
    return e;
}

entries hermitian(size_t side)
{
    size_t n = side * side, i;
    entries e = entries_of(n, n, 1);
    for (i = 0; i < n; i++) {
        double phase = 0.1 * (double)(i / side);
        put(&e, i, i, 4.01, 0);
        if (i % side + 1 < side)
            put(&e, i + 1, i, -cos(phase), -sin(phase));
        if (i + side < n)
            put(&e, i + side, i, -1, 0);
    }
    return e;
}

entries convection(size_t side)
{
    size_t n = side * side, i;
    entries e = entries_of(n, n, 0);
    for (i = 0; i < n; i++) {
        put(&e, i, i, 4.1, 0.3);
        if (i % side + 1 < side) {
            put(&e, i + 1, i, -1.4, 0.1);
            put(&e, i, i + 1, -0.6, -0.2);
        }
        if (i + side < n) {
            put(&e, i + side, i, -1.3, 0);
            put(&e, i, i + side, -0.7, 0.1);
        }
    }
    return e;
}

/* Differences along all edges, and the value at each tenth point. */
entries gradient(size_t side)
{
    size_t n = side * side, rows = 0, i;
    entries e = entries_of(0, n, 0);
    for (i = 0; i < n; i++) {
        if (i % side + 1 < side) {
            put(&e, rows, i, 1, 0.5);
            put(&e, rows++, i + 1, -1, 0.25);
        }
        if (i + side < n) {
            put(&e, rows, i, 1, 0);
            put(&e, rows++, i + side, -1, 0);
        }
        if (i % 10 == 0)
            put(&e, rows++, i, 0.5, 0);
    }
    e.rows = rows;
    return e;
}

/* Each pair off the diagonal adds to the diagonal what keeps it dominant. Entries of one place are
 * summed. */
entries random_definite(size_t n, size_t per_row, uint64_t seed)
{
    uint64_t state = seed;
    entries e = entries_of(n, n, 1);
    size_t i, k;
    for (i = 0; i < n; i++) {
        put(&e, i, i, 0.1 + random_unit(&state), 0);
        for (k = 0; i > 0 && k < per_row; k++) {
            size_t j = (size_t)(random_unit(&state) * (double)i);
            double real = 0.5 - random_unit(&state), imaginary = 0.5 - random_unit(&state);
            put(&e, i, j, real, imaginary);
            put(&e, i, i, hypot(real, imaginary), 0);
            put(&e, j, j, hypot(real, imaginary), 0);
        }
    }
    return e;
}

/* ---- Files. Harwell and Boeing's form: lines of numbers in columns of a width that the header
 * says, first where each column's entries begin, then their rows, then their values; all counted
 * from 1. */

typedef struct columns_of {
    int per_line, width, at;
    char line[256];
} columns_of;

static int read_format(const char *from, columns_of *c)
{
    const char *letter = from;
    memset(c, 0, sizeof *c);
    while (*letter && !strchr("IEDF", toupper((unsigned char)*letter)))
        letter++;
    if (sscanf(from, " (%d", &c->per_line) != 1 || !*letter ||
        sscanf(letter + 1, "%d", &c->width) != 1)
        return 0;
    c->at = c->per_line;
    return c->per_line > 0 && c->width > 0 && c->width < 64 &&
           c->per_line * c->width < (int)sizeof c->line;
}

static int next_number(FILE *file, columns_of *c, double *number)
{
    char digits[64], *end;
    if (c->at == c->per_line) {
        if (!fgets(c->line, sizeof c->line, file))
            return 0;
        c->at = 0;
    }
    if (strlen(c->line) < (size_t)(c->at * c->width))
        return 0;
    memcpy(digits, c->line + c->at++ * c->width, (size_t)c->width);
    digits[c->width] = '\0';
    for (end = digits; *end; end++)
        if (*end == 'D' || *end == 'd')
            *end = 'e';
    *number = strtod(digits, &end);
    return end != digits;
}

static int read_numbers(FILE *file, const char *format, size_t count, double *numbers)
{
    columns_of c;
    size_t i;
    if (!read_format(format, &c))
        return 0;
    for (i = 0; i < count; i++)
        if (!next_number(file, &c, &numbers[i]))
            return 0;
    return 1;
}

static int put_all(entries *e, const double *begin, const double *row, const double *value)
{
    size_t j, k;
    for (j = 0; j < e->columns; j++) {
        if (begin[j] < 1 || begin[j + 1] > begin[e->columns])
            return 0;
        for (k = (size_t)begin[j]; k < (size_t)begin[j + 1]; k++) {
            if (row[k - 1] < 1 || row[k - 1] > (double)e->rows)
                return 0;
            put(e, (size_t)row[k - 1] - 1, j, value[k - 1], 0);
        }
    }
    return 1;
}

static int read_body(FILE *file, entries *e)
{
    char header[4][256], *formats = header[3];
    unsigned long rows, columns, count;
    double *begin, *row, *value;
    int i, done;
    for (i = 0; i < 4; i++)
        if (!fgets(header[i], sizeof header[i], file))
            return 0;
    if ((strncmp(header[2], "RUA", 3) != 0 && strncmp(header[2], "RSA", 3) != 0) ||
        sscanf(header[2] + 3, "%lu %lu %lu", &rows, &columns, &count) != 3 || count > 10000000 ||
        columns > count || strlen(formats) < 48)
        return 0;
    *e = entries_of(rows, columns, header[2][1] == 'S');
    begin = grown(NULL, columns + 1, sizeof *begin);
    row = grown(NULL, count, sizeof *row);
    value = grown(NULL, count, sizeof *value);
    done = read_numbers(file, formats, columns + 1, begin) &&
           read_numbers(file, formats + 16, count, row) &&
           read_numbers(file, formats + 32, count, value) && (size_t)begin[columns] == count + 1 &&
           put_all(e, begin, row, value);
    free(begin);
    free(row);
    free(value);
    return done;
}

static int read_file(const char *name, int is_symmetric, entries *matrix)
{
    FILE *file = fopen(name, "r");
    int done;
    memset(matrix, 0, sizeof *matrix);
    if (!file)
        return 0;
    done = read_body(file, matrix) && matrix->is_lower == is_symmetric;
    fclose(file);
    if (!done)
        entries_free(matrix);
    return done;
}

const char *matrix_from_file(int count, char **words, int is_symmetric, entries *matrix)
{
    static const char *const known[] = {
        "/usr/lib/R/library/Matrix/external/lund_a.rsa", /* r-cran-matrix */
        "/usr/share/doc/libsuperlu-dev/examples/g20.rua"
    }; /* libsuperlu-doc */
    size_t i;
    int k;
    for (k = 1; k < count; k++)
        if (read_file(words[k], is_symmetric, matrix))
            return words[k];
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (read_file(known[i], is_symmetric, matrix))
            return known[i];
    printf("no file with %s real matrix: its cases are SKIPPED\n",
           is_symmetric ? "a symmetric" : "an unsymmetric");
    return NULL;
}
