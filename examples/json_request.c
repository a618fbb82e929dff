/* The containers of a tree are counted, then listed: parents before children. */
#include "json_request.h"

#include <stddef.h>
#include <string.h>

#include "json_documents.h"

HAUL_ARENA_HOOKS(json); /* json_malloc and json_free, which allocate where json_use says */

/* `list`: NULL, or where the containers go. Answers how many there are. */
static long list_containers(cJSON *node, cJSON **list)
{
    long count = 0;
    if (!cJSON_IsArray(node) && !cJSON_IsObject(node))
        return 0;
    if (list)
        list[count] = node;
    count++;
    for (cJSON *child = node->child; child; child = child->next)
        count += list_containers(child, list ? list + count : NULL);
    return count;
}

static void *zeroed(size_t bytes)
{
    void *memory = cJSON_malloc(bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

survey *json_request(cJSON *root, double add)
{
    const size_t count = (size_t)list_containers(root, NULL);
    survey *all = zeroed(sizeof(survey));
    if (!all)
        return NULL;
    all->containers = zeroed(count * sizeof(cJSON *));
    all->findings = zeroed(count * sizeof(finding));
    if (!all->containers || !all->findings) {
        json_request_free(all);
        return NULL;
    }
    all->count = list_containers(root, all->containers);
    all->add = add;
    return all;
}

survey *json_request_in(haul_arena *arena, int argument_count, char **arguments)
{
    cJSON_Hooks hooks = { json_malloc, json_free };
    cJSON *root;
    survey *all;
    json_use(arena);
    cJSON_InitHooks(&hooks);
    root = json_read(argument_count, arguments);
    all = root ? json_request(root, 1) : NULL;
    cJSON_InitHooks(NULL);
    json_use(NULL);
    return all;
}

void json_request_free(survey *all)
{
    if (all) {
        cJSON_free(all->containers);
        cJSON_free(all->findings);
    }
    cJSON_free(all);
}
