/* What a kernel ran into. The child of a strict launch looks while it handles the fault: nothing
 * changes meanwhile, and if a look fails, only the child ends.
 *
 * A pointer that was forgotten stands in device memory as the host wrote it. So all words of device
 * memory are searched for those that lead to the fault's address: into the same block of the heap,
 * or close before it. Functions on strings read whole vectors, and the first one may begin before
 * the string: then the pointer leads behind the fault's address, into the same vector.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "allocations.h"
#include "blocks.h"
#include "fault.h"

#define NEAR_BYTES 4096u
#define NULL_BYTES 65536u
#define VECTOR_BYTES 64u

/* The memory is readable, and nobody changes it. */
static size_t heap_block(const haul__host_map *map, uintptr_t block)
{
    haul__host_reader reader;
    reader.file = -1;
    return haul__host_block_bytes(&reader, map, block, 1);
}

/* ---- Words of device memory. */

/* From where a word leads to, up to the fault's address. Wraps to more than any distance if the
 * word leads behind it: such words come last. */
static uintptr_t distance(const haul__host_fault *fault, uintptr_t value)
{
    return fault->address - value;
}

static void add_word(haul__host_fault *fault, const haul__host_word *word)
{
    const uintptr_t far = distance(fault, word->value);
    size_t i = fault->word_count;
    if (i == HAUL__HOST_WORDS)
        i--;
    else
        fault->word_count++;
    for (; i > 0 && distance(fault, fault->words[i - 1].value) > far; i--)
        fault->words[i] = fault->words[i - 1];
    fault->words[i] = *word;
}

static void consider(haul__host_fault *fault, const haul__host_word *word)
{
    const haul__host_map *map = &fault->map;
    const uintptr_t tags = sizeof(uintptr_t) - 1, value = word->value & ~tags;
    size_t block;
    if (value > (fault->address | (VECTOR_BYTES - 1)) ||
        (map->begin < map->end && value < map->begin))
        return;
    if (fault->word_count == HAUL__HOST_WORDS &&
        distance(fault, fault->words[HAUL__HOST_WORDS - 1].value) <= distance(fault, word->value))
        return;
    block = fault->place == HAUL__AT_HOST ? heap_block(map, value) : 0;
    if (value > fault->address || distance(fault, value) < (block ? block : NEAR_BYTES))
        add_word(fault, word);
}

static void search(haul__host_fault *fault, haul_address allocation, uint64_t bytes)
{
    const size_t size = sizeof(uintptr_t);
    haul__host_word word;
    word.allocation = allocation;
    word.bytes = bytes;
    for (word.at = (allocation + size - 1) & ~(haul_address)(size - 1);
         word.at + size <= allocation + bytes; word.at += size) {
        memcpy(&word.value, (const void *)(uintptr_t)word.at, size);
        if (word.value)
            consider(fault, &word);
    }
}

static void search_all(const haul__host *host, haul__host_fault *fault)
{
    size_t i, k;
    for (i = 0; i < host->block_count; i++) {
        const haul__host_region *region = host->blocks[i].region;
        if (!region)
            search(fault, haul__host_address(host, &host->blocks[i]), host->blocks[i].bytes);
        for (k = 0; region && k < region->count; k++)
            if (region->slots[k].bytes)
                search(fault,
                       (haul_address)(uintptr_t)(region->public_at + k * region->stride +
                                                 region->slots[k].slack),
                       region->slots[k].bytes);
    }
}

/* ---- The place. */

/* Is it a guard page, or memory beside an allocation? */
static int is_beside_device(const haul__host *host, haul__host_fault *fault)
{
    const haul__host_block *b = haul__host_find(host, (haul_address)fault->address);
    const haul__host_region *region = b ? b->region : NULL;
    if (!b)
        return 0;
    fault->allocation.allocation = haul__host_address(host, b);
    fault->allocation.bytes = b->bytes;
    if (region) { /* the slot before the address, whose guard page it is */
        const size_t at = fault->address - (uintptr_t)region->public_at;
        const size_t i = at / region->stride < region->count ? at / region->stride : 0;
        fault->allocation.allocation =
            (haul_address)(uintptr_t)(region->public_at + i * region->stride +
                                      region->slots[i].slack);
        fault->allocation.bytes = region->slots[i].bytes;
    }
    return 1;
}

void haul__host_look(const haul__host *host, haul__host_maps *maps, int is_host,
                     haul__host_fault *fault)
{
    const uintptr_t address = fault->address;
    if (!haul__host_map_at(maps, address, &fault->map))
        memset(&fault->map, 0, sizeof fault->map);
    if (is_host)
        fault->place = HAUL__AT_HOST;
    else if (address == 0 && fault->place == HAUL__AT_UNKNOWN)
        return;
    else if (address < NULL_BYTES)
        fault->place = HAUL__AT_NULL;
    else if (is_beside_device(host, fault))
        fault->place = HAUL__AT_DEVICE;
    else
        fault->place = fault->map.is_readable ? HAUL__AT_READ_ONLY : HAUL__AT_NOTHING;
    if (fault->place == HAUL__AT_HOST || fault->place == HAUL__AT_NOTHING)
        search_all(host, fault);
    if (fault->place == HAUL__AT_HOST && fault->word_count > 0) {
        fault->block = fault->words[0].value;
        fault->block_bytes = heap_block(&fault->map, fault->block);
    }
}

/* ---- In words. */

static void say_place(const haul__host_fault *fault, char *text, size_t room)
{
    const char *name = fault->map.name;
    if (fault->place == HAUL__AT_NOTHING)
        snprintf(text, room, "no memory");
    else if (fault->block_bytes)
        snprintf(text, room, "a host heap block of %zu bytes", fault->block_bytes);
    else
        snprintf(text, room, "host memory%s%s%s", name[0] ? " (" : "", name, name[0] ? ")" : "");
}

void haul__host_say(const haul__host_fault *fault, const haul__host_word *word, char *text,
                    size_t room)
{
    const unsigned long long address = fault->address;
    char place[128];
    say_place(fault, place, sizeof place);
    if (word)
        snprintf(text, room,
                 "this pointer was not relocated: 0x%llx leads to %s, and the kernel went to "
                 "0x%llx. It is at device address 0x%llx, %llu bytes into an allocation of %llu",
                 (unsigned long long)word->value, place, address, (unsigned long long)word->at,
                 (unsigned long long)(word->at - word->allocation),
                 (unsigned long long)word->bytes);
    else if (fault->place == HAUL__AT_UNKNOWN)
        snprintf(text, room,
                 "the kernel went to an address that no memory has: it took data for a pointer");
    else if (fault->place == HAUL__AT_NULL)
        snprintf(
            text, room,
            "the kernel followed a null pointer, to 0x%llx: on the device a pointer is null if "
            "it is null on the host, has no elements, or its field does not hold, and the rest of "
            "an array behind its count is not there; haul_audit names fields that led nowhere, "
            "bytes that do not travel and blocks that are described in part",
            address);
    else if (fault->place == HAUL__AT_READ_ONLY)
        snprintf(text, room, "the kernel wrote to 0x%llx, which is read-only: %s", address,
                 fault->map.name);
    else if (fault->place == HAUL__AT_DEVICE)
        snprintf(text, room,
                 "the kernel went to 0x%llx, outside of its device memory: %llu bytes behind the "
                 "beginning of an allocation of %llu",
                 address,
                 (unsigned long long)((haul_address)address - fault->allocation.allocation),
                 (unsigned long long)fault->allocation.bytes);
    else
        snprintf(text, room,
                 "the kernel went to 0x%llx, to %s. No word of device memory leads there: it "
                 "may come from the launch's argument, or be malloc's own",
                 address, place);
}
