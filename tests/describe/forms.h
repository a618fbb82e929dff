/* A struct of each kind that haul-describe knows. */
#ifndef HAUL_TESTS_FORMS_H
#define HAUL_TESTS_FORMS_H

#include <stddef.h>
#include <stdint.h>

#include "haul/annotate.h"

enum { LEAF, BRANCH, TEXT, PAIR };

typedef struct point {
    double x, y;
} point;

struct owner; /* declared only */

struct link {
    struct link *next;
    void *data;
};

typedef union number {
    int64_t whole;
    double real;
} number;

struct trunk {
    int count; /* as a word of the answers */
    struct link tail[];
};

typedef struct forms forms;
struct forms {
    int n, m;
    unsigned char k;
    unsigned flags : 3;
    forms *next;
    point *center;
    const double *xyz HAUL_COUNTED_BY(3 * n);
    double *matrix HAUL_COUNTED_BY(n *m);
    double *shifted HAUL_COUNTED_BY(1 << k);
    int *begins HAUL_COUNTED_BY(n + 1);
    int *bits HAUL_COUNTED_BY(flags);
    char *name HAUL_STRING_FIELD;
    wchar_t *wide HAUL_STRING_FIELD;
    char **names HAUL_ANSWER(count n each string);
    double **rows HAUL_ANSWER(count n each count m);
    point **corners HAUL_ANSWER(count 4);
    forms **children HAUL_ANSWER(count n);
    forms *all HAUL_COUNTED_BY(m);
    void *blob HAUL_ANSWER(bytes m);
    void *thing HAUL_ANSWER(one of struct link);
    void *numbers HAUL_ANSWER(count n of double);
    struct owner *owner HAUL_OPAQUE_FIELD;
    void (*callback)(void *);
    double *cursor HAUL_ANSWER(borrowed);
    int *first HAUL_ANSWER(until last), *last;
    int *room_end HAUL_ANSWER(end of first);
    int *marks HAUL_ANSWER(terminated by - 1);
    forms *ways[2];
    char *labels[3] HAUL_ANSWER(string);
    struct link inside, more[2];
    point plain[3];
    number value;
    double (*triples)[3] HAUL_COUNTED_BY(m);
    struct {
        int used;
        double *list HAUL_COUNTED_BY(used);
        struct {
            short length;
            char *text HAUL_COUNTED_BY(length);
        };
    } room;
    struct {
        int kind;
        int *begin HAUL_ANSWER(until end), *end;
        union {
            struct link *list HAUL_CASE(kind, 1);
            double number HAUL_CASE(kind, 2);
        } u;
    } slots[2];
    int kind;
    union {
        forms *branch HAUL_CASE(kind, BRANCH);
        double leaf HAUL_CASE(kind, LEAF);
        char *text HAUL_CASE(kind, TEXT) HAUL_ANSWER(string);
        struct {
            int a;
            char *b HAUL_STRING_FIELD;
        } pair HAUL_CASE(kind, PAIR);
    } u;
    union {
        struct link *chain;
        uint64_t digits;
    };
    uintptr_t tagged;
    forms *cold;
    struct trunk *trunk;
};

#endif
