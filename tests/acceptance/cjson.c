/* cJSON on the device: its trees are shipped as they lie, and its own functions run on the copy.
 *
 *     haul_accept_cjson [document.json ...]      default: the tables of Debian's iso-codes
 *
 * Documents are parsed into a heap that is inaccessible while the copy is used, so cJSON cannot
 * find the original there. cJSON is the judge: cJSON_Compare and the text that it prints.
 */
#define _GNU_SOURCE
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cjson_node.h"

/* What stays through all stories: `originals` holds what is shipped; what cJSON allocates besides,
 * on either side, comes from `visible`. */
static struct {
    haul_device *device;
    heap *originals, *visible;
} the;

/* Two trees of one text, shipped apart: the second is the host's, which shows what the first must
 * become. */
typedef struct pair {
    cJSON *first, *second;
    haul_shipment *a, *b;
    char *text, *formatted; /* printed from the original */
    size_t nodes;
} pair;

static int same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Is `root`, printed, this text? */
static int prints_as(const cJSON *root, const char *text)
{
    char *printed = cJSON_PrintUnformatted(root);
    int same = same_text(printed, text);
    cJSON_free(printed);
    return same;
}

static int trees_agree(const cJSON *a, const cJSON *b)
{
    char *text = cJSON_PrintUnformatted(b);
    int agree = cJSON_Compare(a, b, 1) && prints_as(a, text);
    cJSON_free(text);
    return agree;
}

/* -------------------------------------------------------------------------------------------------
 * Reading: is the copy the document?
 */
typedef struct reading {
    const pair *p;
    cJSON *first, *second;
    int compares, prints, prints_formatted, duplicates, counts;
} reading;

static void read_there(void *data)
{
    reading *r = data;
    char *formatted = cJSON_Print(r->first);
    cJSON *duplicate = cJSON_Duplicate(r->first, 1);
    r->compares = cJSON_Compare(r->first, r->second, 1);
    r->prints = prints_as(r->first, r->p->text);
    r->prints_formatted = same_text(formatted, r->p->formatted);
    r->duplicates = cJSON_Compare(r->first, duplicate, 1);
    r->counts = tree_count(r->first) == r->p->nodes;
    cJSON_Delete(duplicate);
    cJSON_free(formatted);
}

static void check_reading(const pair *p)
{
    reading r = {
        p, haul_device_pointer(p->a, p->first), haul_device_pointer(p->b, p->second), 0, 0, 0, 0, 0
    };
    if (!accept_there(the.device, the.originals, p->first, read_there, &r))
        return;
    accept(r.compares, "there, cJSON_Compare finds the copy equal to a second one, shipped apart");
    accept(r.prints && r.prints_formatted,
           "it prints as the original did, plain and formatted, byte for byte");
    accept(r.duplicates && r.counts, "cJSON_Duplicate makes an equal tree of it; it has %zu nodes",
           p->nodes);
}

/* -------------------------------------------------------------------------------------------------
 * Values
 */
typedef struct changing {
    cJSON *root;
    size_t changed;
    cJSON *replaced;
    char *text; /* afterwards, of cJSON's allocator */
} changing;

static void change_values_there(void *data)
{
    changing *c = data;
    c->changed = tree_change_values(c->root);
    c->text = cJSON_PrintUnformatted(c->root);
}

static void check_values(pair *p)
{
    changing c = { haul_device_pointer(p->a, p->first), 0, NULL, NULL };
    if (!accept_there(the.device, the.originals, p->first, change_values_there, &c))
        return;
    accept_ok(haul_unmarshal(p->a), haul_context_error(haul_device_context(the.device)),
              "values that cJSON has changed there come back");
    tree_change_values(p->second);
    accept(prints_as(p->first, c.text),
           "the original prints as the copy did: %zu values are others", c.changed);
    accept(trees_agree(p->first, p->second),
           "and equals a tree of which cJSON has changed the same values here");
    cJSON_free(c.text);
}

/* -------------------------------------------------------------------------------------------------
 * Links
 */
static void change_links_there(void *data)
{
    changing *c = data;
    c->replaced = tree_change_links(c->root);
    c->text = cJSON_PrintUnformatted(c->root);
}

static void read_again_there(void *data)
{
    changing *c = data;
    c->changed = (size_t)prints_as(c->root, c->text);
}

/* Until then the plan needs all that it knew, the replaced item too. */
static void check_replan(pair *p, cJSON *replaced, char *text)
{
    changing c = { NULL, 0, NULL, text };
    accept(haul_update_device(p->a, NULL, NULL) == HAUL_ERROR_STALE,
           "the old plan is stale, and says so");
    cJSON_Delete(replaced);
    if (!accept_ok(haul_reship(p->a, NULL), haul_context_error(haul_device_context(the.device)),
                   "a new one is made"))
        return;
    c.root = haul_device_pointer(p->a, p->first);
    if (accept_there(the.device, the.originals, p->first, read_again_there, &c))
        accept(c.changed == 1, "and its copy prints the new text");
}

/* cJSON_Delete has taken the replaced item there: its memory was the copy's, so nothing but a count
 * came of it. Here the item then stands detached, and is still to be deleted. */
static void check_links(pair *p)
{
    changing c = { haul_device_pointer(p->a, p->first), 0, NULL, NULL };
    heap *copy = accept_heap_over(p->a);
    cJSON *replaced;
    if (accept_there(the.device, the.originals, p->first, change_links_there, &c)) {
        replaced = haul_host_pointer(p->a, c.replaced);
        accept(replaced && heap_freed(copy) > 0,
               "items are detached, moved, inserted and replaced there");
        accept_ok(haul_update_host(p->a, &(const haul_update_options){ .pointers = 1 }, NULL),
                  haul_context_error(haul_device_context(the.device)), "the new links come back");
        tree_change_links(p->second);
        accept(prints_as(p->first, c.text), "the original prints as the copy did");
        accept(trees_agree(p->first, p->second),
               "and equals a tree in which cJSON has moved the same items here");
        check_replan(p, replaced, c.text);
    }
    cJSON_free(c.text);
    heap_close(copy);
}

/* -------------------------------------------------------------------------------------------------
 * Documents
 */
static int open_pair(pair *p)
{
    p->text = cJSON_PrintUnformatted(p->first);
    p->formatted = cJSON_Print(p->first);
    p->nodes = tree_count(p->first);
    accept_audit(node_tell, p->first, node_type, 1);
    p->a = accept_ship(the.device, p->first, node_type, 1);
    p->b = accept_ship(the.device, p->second, node_type, 1);
    return p->a && p->b;
}

static void close_pair(pair *p)
{
    haul_shipment_free(&p->a);
    haul_shipment_free(&p->b);
    cJSON_Delete(p->first);
    cJSON_Delete(p->second);
    cJSON_free(p->text);
    cJSON_free(p->formatted);
    accept(heap_live(the.originals) == 0 && heap_live(the.visible) == 0,
           "cJSON_Delete has freed every block of the original and of all else");
}

/* Two trees, each as `make` makes it from `text`, in the heap that is hidden; the blocks of one. */
static size_t make_pair(pair *p, cJSON *make(const char *text), const char *text)
{
    size_t blocks;
    memset(p, 0, sizeof *p);
    heap_use(the.originals);
    p->first = make(text);
    blocks = heap_live(the.originals);
    p->second = make(text);
    heap_use(the.visible);
    return blocks;
}

static void document(const char *name, const char *text)
{
    pair p;
    accept_title("%s, %zu bytes", name, strlen(text));
    make_pair(&p, cJSON_Parse, text);
    if (accept(p.first && p.second, "cJSON parses it") && open_pair(&p)) {
        check_reading(&p);
        check_values(&p);
        if (tree_largest_array(p.first))
            check_links(&p);
    }
    close_pair(&p);
}

/* -------------------------------------------------------------------------------------------------
 * Every kind of node
 */
typedef struct owners {
    cJSON *root;
    heap *copy;
    int shares, constants;
} owners;

static cJSON *reference(cJSON *root, int index)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "references"), index);
}

static void ask_owners(void *data)
{
    owners *o = data;
    cJSON *shared = cJSON_GetObjectItemCaseSensitive(o->root, "shared");
    cJSON *said = cJSON_GetObjectItemCaseSensitive(shared, "said");
    cJSON *unit = cJSON_GetObjectItemCaseSensitive(o->root, interned);
    cJSON *by_literal = cJSON_GetObjectItemCaseSensitive(o->root, literal);
    o->shares = reference(o->root, 0)->child == shared->child &&
                reference(o->root, 3)->child == said &&
                reference(o->root, 1)->valuestring == said->valuestring &&
                cJSON_GetObjectItemCaseSensitive(o->root, "by reference")->child == shared->child;
    o->constants = heap_of(unit->string) == o->copy && said->next->string == unit->string &&
                   by_literal->valuestring == unit->string && by_literal->string == literal &&
                   reference(o->root, 4)->valuestring == literal;
}

static void delete_there(void *data)
{
    cJSON_Delete(((owners *)data)->root);
}

static void check_owners(const pair *p, size_t blocks)
{
    owners o = { haul_device_pointer(p->b, p->second), accept_heap_over(p->b), 0, 0 };
    if (accept_there(the.device, the.originals, p->second, ask_owners, &o)) {
        accept(
            o.shares,
            "references lead to the very children and texts of the copy that they were made from");
        accept(o.constants, "constant texts: one went along, once for all who share it; "
                            "the other stayed where it is");
    }
    if (accept_there(the.device, the.originals, p->second, delete_there, &o))
        accept(heap_freed(o.copy) == blocks,
               "cJSON_Delete of the copy frees %zu blocks, each once, as it will here", blocks);
    heap_close(o.copy);
}

static void grow_there(void *data)
{
    changing *c = data;
    tree_grow(c->root);
    c->text = cJSON_PrintUnformatted(c->root);
}

/* The grown tree has nodes that no host object stands behind, so its links cannot come back; the
 * old one can be had again. */
static void check_growth(pair *p)
{
    changing c = { haul_device_pointer(p->a, p->first), 0, NULL, NULL };
    char *before = cJSON_PrintUnformatted(p->first);
    heap *copy = accept_heap_over(p->a), *lost = heap_open();
    int grown;
    heap_use(lost);
    grown = accept_there(the.device, the.originals, p->first, grow_there, &c);
    heap_use(the.originals);
    tree_grow(p->second);
    heap_use(the.visible);
    if (grown) {
        accept(prints_as(p->second, c.text),
               "nodes of cJSON's allocator are added, inserted and replaced there");
        accept_refused(haul_update_host(p->a, &(const haul_update_options){ .pointers = 1 }, NULL),
                       HAUL_ERROR_GRAPH, haul_context_error(haul_device_context(the.device)),
                       "root", "", "to bring back links to nodes that only the device has");
        accept(prints_as(p->first, before), "after which the original is as it was");
        c.text = before;
        accept_ok(haul_update_device(p->a, NULL, NULL),
                  haul_context_error(haul_device_context(the.device)), "it is sent again");
        if (accept_there(the.device, the.originals, p->first, read_again_there, &c))
            accept(c.changed == 1, "and prints there as before");
    }
    cJSON_free(before);
    heap_close(lost);
    heap_close(copy);
}

static cJSON *every_kind_of_node(const char *unused)
{
    (void)unused;
    return tree_of_every_kind();
}

static void every_kind(void)
{
    pair p;
    size_t blocks;
    accept_title("A tree of every kind of node: raw, references, constant names");
    blocks = make_pair(&p, every_kind_of_node, NULL);
    if (open_pair(&p)) {
        accept_note("%.200s", p.text);
        check_reading(&p);
        check_owners(&p, blocks);
        check_values(&p);
        check_links(&p);
        check_growth(&p);
    }
    close_pair(&p);
}

/* -------------------------------------------------------------------------------------------------
 * Nodes that come back: spare ones travel along, and so does a name for them
 */
typedef struct desk {
    cJSON *document, *spare;
    char *name;
} desk;

static haul_type *desk_type;
static const haul_field desk_fields[] = {
    HAUL_OBJECT(desk, document, &node_type),
    HAUL_OBJECT(desk, spare, &node_type),
    HAUL_STRING(desk, name),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(cJSON, &node_type, node_fields),
    HAUL_STRUCT(desk, &desk_type, desk_fields),
};

static desk *desk_make(void)
{
    desk *d = heap_malloc(sizeof *d);
    d->document = cJSON_Parse("{\"list\":[1,2,3],\"inner\":{\"a\":\"b\"}}");
    d->spare = cJSON_Parse("[0,0,\"text\",[],{}]");
    d->name = heap_malloc(sizeof "new here");
    strcpy(d->name, "new here");
    return d;
}

static void desk_delete(desk *d)
{
    cJSON_Delete(d->document);
    cJSON_Delete(d->spare);
    heap_free(d->name);
    heap_free(d);
}

/* Numbers go into the list; the text, under the name, into the inner object; the rest goes under
 * the list. */
static void desk_insert(desk *d)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(d->document, "list"), *item;
    for (int i = 0; i < 2; i++) {
        item = cJSON_DetachItemFromArray(d->spare, 0);
        cJSON_SetNumberValue(item, 100 + i);
        cJSON_InsertItemInArray(list, 0, item);
    }
    cJSON_AddItemToObjectCS(cJSON_GetObjectItemCaseSensitive(d->document, "inner"), d->name,
                            cJSON_DetachItemFromArray(d->spare, 0));
    while (d->spare->child)
        cJSON_AddItemToArray(list, cJSON_DetachItemFromArray(d->spare, 0));
}

static void insert_there(void *data)
{
    desk_insert(data);
}

static void check_insertion(desk *first, desk *second, haul_shipment *shipment)
{
    if (!accept_there(the.device, the.originals, first, insert_there,
                      haul_device_pointer(shipment, first)))
        return;
    accept_ok(haul_update_host(shipment, &(const haul_update_options){ .pointers = 1 }, NULL),
              haul_context_error(haul_device_context(the.device)),
              "nodes that travelled along are inserted there, and all links come back");
    desk_insert(second);
    accept(trees_agree(first->document, second->document) &&
               trees_agree(first->spare, second->spare),
           "the document equals one into which cJSON has inserted the same here");
    accept(cJSON_GetObjectItemCaseSensitive(first->document, "inner")->child->next->string ==
               first->name,
           "the new member's constant name is the host's");
    if (accept_ok(haul_reship(shipment, NULL), haul_context_error(haul_device_context(the.device)),
                  "what has become of it is shipped anew"))
        accept_audit(node_tell, first, desk_type, 1);
}

static void insertion(void)
{
    desk *first, *second;
    haul_shipment *shipment;
    char *text;
    accept_title("New nodes that come back");
    heap_use(the.originals);
    first = desk_make();
    second = desk_make();
    heap_use(the.visible);
    shipment = accept_ship(the.device, first, desk_type, 1);
    if (shipment)
        check_insertion(first, second, shipment);
    text = cJSON_PrintUnformatted(first->document);
    accept_note("%s", text);
    cJSON_free(text);
    haul_shipment_free(&shipment);
    desk_delete(first);
    desk_delete(second);
    accept(heap_live(the.originals) == 0, "and every block of it is freed");
}

/* -------------------------------------------------------------------------------------------------
 * All of it
 */
static void made_documents(void)
{
    char *deep = text_of_depth(CJSON_NESTING_LIMIT), *wide = text_of_numbers(100000);
    if (deep && wide) {
        document("A document as deep as cJSON allows", deep);
        document("A document of many numbers", wide);
    }
    free(deep);
    free(wide);
}

static void real_documents(char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t bytes;
        char *text = accept_read(paths[i], &bytes);
        if (text)
            document(paths[i], text);
        else
            accept(0, "%s can be read", paths[i]);
        free(text);
    }
}

static int open_all(void)
{
    cJSON_Hooks hooks = { heap_malloc, heap_free };
    haul_status status;
    cJSON_InitHooks(&hooks);
    the.originals = heap_open();
    the.visible = heap_open();
    the.device = accept_device(0);
    status = node_tell(haul_device_context(the.device));
    if (!status)
        status = HAUL_DESCRIBE(haul_device_context(the.device), structs);
    return accept_ok(status, haul_context_error(haul_device_context(the.device)),
                     "cJSON's node is described in eight rows");
}

static void close_all(void)
{
    HAUL_FORGET(structs);
    haul_device_close(&the.device);
    heap_close(the.originals);
    heap_close(the.visible);
}

int main(int count, char **arguments)
{
    glob_t found = { 0 };
    if (count < 2 && glob("/usr/share/iso-codes/json/*.json", 0, NULL, &found) != 0) {
        printf("there are no documents: the package iso-codes is not installed\n");
        return ACCEPT_NOTHING_TO_RUN_ON;
    }
    printf("cJSON %s on a host device\n", cJSON_Version());
    if (open_all()) {
        real_documents(count < 2 ? found.gl_pathv : arguments + 1,
                       count < 2 ? found.gl_pathc : (size_t)count - 1);
        made_documents();
        every_kind();
        insertion();
        refuse_wrong_nodes(the.originals);
    }
    close_all();
    globfree(&found);
    return accept_done();
}
