/* The search for bytes that are left out: fields whose conditions do not hold, on bytes that are
 * not zero.
 *
 * Such bytes are zeros in the copy, unless another field that holds has some of them: then they are
 * the rest of a union, and mean nothing. A word of them that leads to a heap block outside the
 * graph, or to registered static data, is a pointer whose own field was forgotten. Any other bytes
 * are a hint, because a pointer that its flag has switched off is often not cleared.
 *
 * Almost all such bytes are zeros, so they are looked at before the map is asked. The map tells
 * which of them a field has, and knows the answers of conditions that are functions.
 */
#include "audit/left_out.h"
#include "type/field.h"
#include "walk/readable.h"
#include "walk/ruled_field.h"

static int has_condition(const haul__ruled *ruled)
{
    const haul_field *said = ruled->rule ? &ruled->rule->said : NULL;
    return said && ruled->kind != HAUL__RULED_TAIL && said->when.kind != HAUL_WHEN_KIND_ALWAYS &&
           !said->else_raw && said->kind != HAUL_FIELD_SKIP;
}

static int is_zero(uintptr_t at, uintptr_t end)
{
    while (at < end && *(const unsigned char *)at == 0)
        at++;
    return at == end;
}

/* Does a field that holds, or one that is skipped on purpose, have some of the bytes? A condition
 * that is a function is not called: the field may hold. */
static int is_claimed(const haul__audit *a, const haul__object *o, uintptr_t first, uintptr_t end)
{
    uintptr_t at;
    size_t i;
    for (at = first; at < end; at++)
        if (haul__known_bytes(&a->walk, at, 1, HAUL__LIVE) > 0)
            return 1;
    for (i = 0; i < o->walk->ruled_count; i++) {
        const haul__ruled *other = &o->walk->ruled[i];
        const haul_field *said = other->rule ? &other->rule->said : NULL;
        const uintptr_t begin = o->address + other->slot.offset;
        if (said && said->kind == HAUL_FIELD_SKIP && begin < end && first < begin + other->bytes &&
            (said->when.kind == HAUL_WHEN_KIND_ALWAYS ||
             said->when.kind == HAUL_WHEN_KIND_FUNCTION ||
             haul__when_holds(&said->when, (const void *)o->self)))
            return 1;
    }
    return 0;
}

/* Does the word lead to something that only a field could have sent? */
static int is_forgotten(const haul__audit *a, uintptr_t value, haul_memory *memory)
{
    const haul_context *context = a->context;
    size_t i;
    if (!value || haul__audit_leads_in(a, value) || !haul__audit_memory(a, value, memory))
        return 0;
    for (i = 0; i < context->static_count; i++)
        if (value - context->statics[i].address < context->statics[i].bytes)
            return 1;
    return memory->kind == HAUL_MEMORY_BLOCK && (sizeof(uintptr_t) > 4 || value == memory->begin);
}

static int holds(const haul_memory *memory, uintptr_t first, size_t bytes)
{
    return bytes <= memory->bytes && first - memory->begin <= memory->bytes - bytes;
}

/* Is the field in memory of the process, and set? A variant that was allocated for its own arm may
 * end before another one, and only a sanitizer knows which bytes were never set. *memory is that of
 * the field before: to find another one may take long. */
static int may_be_read(const haul__audit *a, haul_memory *memory, uintptr_t first, size_t bytes)
{
    if (!holds(memory, first, bytes) && !haul__audit_memory(a, first, memory))
        memory->bytes = 0;
    return holds(memory, first, bytes) && haul__are_set((const void *)first, bytes);
}

/* *pointers: how many of the words are forgotten pointers. A field of part of a word is part of the
 * pointer that another field of the word finds. */
static haul_status search_words(haul__audit *a, haul__suspect *found, haul_memory *memory,
                                const haul__object *o, uintptr_t first, uintptr_t end,
                                size_t *pointers)
{
    uintptr_t at = (first + HAUL__WORD - 1) & ~(uintptr_t)(HAUL__WORD - 1);
    haul_status status = HAUL_OK;
    if (end - first < HAUL__WORD) {
        at = first & ~(uintptr_t)(HAUL__WORD - 1);
        *pointers = at >= o->address && o->walk->extent >= at + HAUL__WORD - o->address &&
                    may_be_read(a, memory, at, HAUL__WORD) &&
                    is_forgotten(a, haul__load_word((const void *)at), &found->memory);
        return HAUL_OK;
    }
    for (; status == HAUL_OK && at < end && end - at >= HAUL__WORD; at += HAUL__WORD) {
        size_t *seen;
        found->address = at;
        found->value = haul__load_word((const void *)at);
        if (!is_forgotten(a, found->value, &found->memory))
            continue;
        seen = haul__tally_of(&a->seen, at, 0);
        if (!seen)
            return HAUL_ERROR_MEMORY;
        ++*pointers;
        if ((*seen)++ == 0)
            status = haul__audit_note_word(a, HAUL_AUDIT_HIDDEN_POINTER, found);
    }
    return status;
}

static haul_status note_bytes(haul__audit *a, const haul__suspect *found, uintptr_t first,
                              size_t bytes)
{
    const haul__byte byte = haul__byte_at(&a->walk, found->number, found->element, first);
    size_t *seen = haul__tally_of(&a->seen, first, 1);
    haul__noted *noted;
    if (!seen)
        return HAUL_ERROR_MEMORY;
    if ((*seen)++ > 0)
        return HAUL_OK; /* of another field at this place */
    noted = haul__audit_note(a, HAUL_AUDIT_LEFT_OUT, byte.type, byte.offset);
    if (!noted)
        return HAUL_ERROR_MEMORY;
    a->info.left_out++;
    if (noted->times++ > 0)
        return HAUL_OK;
    noted->entry = found->number;
    noted->element = found->element;
    noted->address = first;
    noted->bytes = bytes;
    return HAUL_OK;
}

static haul_status search_field(haul__audit *a, haul__suspect *found, haul_memory *memory,
                                const haul__object *o, const haul__ruled *ruled)
{
    const uintptr_t first = o->address + ruled->slot.offset, end = first + ruled->bytes;
    size_t pointers = 0;
    haul_status status;
    if (!may_be_read(a, memory, first, ruled->bytes) || is_zero(first, end) ||
        is_claimed(a, o, first, end))
        return HAUL_OK;
    status = search_words(a, found, memory, o, first, end, &pointers);
    return status == HAUL_OK && pointers == 0 ? note_bytes(a, found, first, ruled->bytes) : status;
}

static haul_status search_entry(haul__audit *a, size_t number)
{
    const haul__entry *entry = &a->walk.entries.at[number];
    const haul__walk *walk = a->walk.met_types[entry->met_type].walk;
    const size_t end = haul__audit_end(a, entry);
    haul_status status = HAUL_OK;
    haul__suspect found;
    haul_memory memory;
    size_t i;
    memset(&memory, 0, sizeof memory);
    memset(&found, 0, sizeof found);
    found.number = number;
    found.is_left_out = 1;
    for (; found.element < entry->count && status == HAUL_OK; found.element++) {
        const haul__object o = haul__object_of(entry, walk, found.element, HAUL__DRY);
        for (i = 0; i < walk->ruled_count && status == HAUL_OK; i++)
            if (has_condition(&walk->ruled[i]) && walk->ruled[i].slot.offset < end &&
                walk->ruled[i].bytes <= end - walk->ruled[i].slot.offset)
                status = search_field(a, &found, &memory, &o, &walk->ruled[i]);
    }
    return status;
}

haul_status haul__audit_left_out(haul__audit *a)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < a->walk.entries.count && status == HAUL_OK; i++)
        if (!a->walk.entries.at[i].is_again && a->walk.entries.at[i].what == HAUL__OBJECTS)
            status = search_entry(a, i);
    return status;
}
