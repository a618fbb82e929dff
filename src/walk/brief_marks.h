/* Objects of brief types (brief_types.h): what their words mean, and their marks.
 */
#ifndef HAUL_WALK_BRIEF_MARKS_H
#define HAUL_WALK_BRIEF_MARKS_H

#include "type/field.h"
#include "walk/brief_types.h"
#include "walk/mark_inline.h"

/* How a pointer is followed. */
enum {
    HAUL__TO_SIMPLE, /* one object of a simple type: a candidate */
    HAUL__TO_BRIEF,  /* one object of a brief type: it joins the queue */
    HAUL__TO_ARRAY,  /* a short array or a string: it waits to be marked (plain_arrays.c) */
    HAUL__TO_ANY     /* anything else: the general way */
};

typedef struct haul__brief_target {
    const haul__slot *slot;
    /* HAUL__TO_ARRAY, HAUL__TO_ANY: its count, or why it takes the general way */
    haul__plain_array *array;
    uint64_t tag; /* the number of its met type << 48 */
    uint32_t near_starts;
    uint32_t how;
    uint32_t ways; /* the directions that the one target is excluded from */
} haul__brief_target;

/* Bytes of an object that are no whole words. */
typedef struct haul__brief_piece {
    size_t offset, bytes;
} haul__brief_piece;

typedef struct haul__brief_row {
    const haul__ruled *ruled;
    uint64_t words;
    size_t offset;
    uint32_t first_target, target_count; /* one for each case of a switch, or one, or none */
    uint8_t kind;                        /* haul_when_kind */
    uint8_t is_pointer, travels, is_alias;
    uint8_t keeps_rest; /* while it does not hold, its bytes travel, unless another row has them */
    uint8_t is_partial; /* it begins or ends within a word */
    uint8_t ways;       /* the directions that its own bytes are excluded from */
    uintptr_t tags;
} haul__brief_row;

/* All lists in one piece of memory. */
typedef struct haul__brief {
    const haul__walk *walk;              /* of its type */
    uint64_t all, run_words, slot_words; /* of an object, without ruled rows */
    size_t bytes;
    uintptr_t misaligned; /* bits that are 0 in an aligned address */
    size_t row_count, slot_count, piece_count;
    haul__brief_row *rows;
    haul__brief_target *slots, *targets;
    haul__plain_array *arrays;                    /* one for each of both */
    haul__brief_piece pieces[HAUL__BRIEF_PIECES]; /* of runs */
} haul__brief;

/* Its masks, and the pointers of its rows that hold. */
typedef struct haul__brief_meaning {
    uint64_t words, slots;
    size_t count, piece_count, excluded_count;
    haul__brief_piece piece[HAUL__BRIEF_PIECES];         /* of rows */
    const haul__brief_row *excluded[HAUL__BRIEF_PIECES]; /* rows that hold, with `ways` */
    struct {
        const haul__brief_row *row;
        const haul__brief_target *target;
        uintptr_t value;
    } pointer[HAUL__BRIEF_POINTERS];
} haul__brief_meaning;

#define HAUL__BRIEF_READS ((size_t)2) /* fields that a row reads, at most */
typedef haul_status haul__note_one(void *user, uintptr_t address, unsigned bytes, int64_t value);

/* Notes the fields that the rules of an object have read. */
HAUL__INLINE haul_status haul__brief_note(const haul__brief *brief, uintptr_t object,
                                          const haul__brief_meaning *m, haul__note_one *note,
                                          void *user)
{
    haul_status status = HAUL_OK;
    size_t i, at = 0;
    for (i = 0; i < brief->row_count && status == HAUL_OK; i++) {
        const haul__brief_row *row = &brief->rows[i];
        const haul_field *said = &row->ruled->rule->said;
        if (row->kind != HAUL_WHEN_KIND_ALWAYS)
            status = note(user, object + said->when.field.offset, said->when.field.bytes,
                          haul__read_stored((const void *)object, &said->when.field));
        if (at == m->count || m->pointer[at].row != row)
            continue;
        at++;
        if (said->type_switch.kind == HAUL_SWITCH_KIND_SELF && status == HAUL_OK)
            status =
                note(user, object + said->type_switch.field.offset, said->type_switch.field.bytes,
                     haul__read_stored((const void *)object, &said->type_switch.field));
    }
    return status;
}

/* Prepares the rows of a brief type, before its first object. HAUL_ERROR_MEMORY. */
haul_status haul__brief_prepare(haul__discovery *d, uint32_t number);
HAUL__INLINE haul_status haul__brief_ready(haul__discovery *d, uint32_t number)
{
    return d->met_types[number].brief ? HAUL_OK : haul__brief_prepare(d, number);
}

/* Works out what an object of a prepared type means. 0: something is unusual, and the general way
 * must take it. */
int haul__brief_read(const haul__brief *brief, uintptr_t object, haul__brief_meaning *m);
/* The same, and marks it. *fresh: HAUL__FRESH or HAUL__KNOWN_BEFORE; HAUL__APART: nothing is
 * marked, and the general way must take it. HAUL_ERROR_MEMORY, HAUL_ERROR_GRAPH. */
haul_status haul__brief_mark(haul__discovery *d, const haul__brief *brief, uintptr_t object,
                             haul__brief_meaning *m, int *fresh);
/* Excludes the fields that have a direction, of an object that means *m. HAUL_ERROR_MEMORY. */
haul_status haul__brief_exclude(haul__discovery *d, const haul__brief *brief, uintptr_t object,
                                const haul__brief_meaning *m);
/* Notes the hole of an object whose words do not all travel. 0: out of memory. */
int haul__brief_mark_hole(haul__map *map, uintptr_t object, size_t bytes);
/* Marks an element of an array, as haul__brief_mark does. */
haul_status haul__brief_mark_element(haul__discovery *d, uint32_t number, uintptr_t object,
                                     int *fresh);

#endif
