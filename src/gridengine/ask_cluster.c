#include "gridengine/ask_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gridengine/ask.h"
#include "gridengine/state.h"
#include "gridengine/xml.h"
#include "wire/message.h"

static int64_t number_of(const char *text)
{
    int64_t number;
    return pleat_adapter_is_number(text, &number) ? number : 0;
}

/* ---- the cluster ---- */

/* The first line of a file of the cell, else of a text; without its end. */
static json_t *line_of(const char *text)
{
    char line[256];
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
    return pleat_json_text(line);
}

/* The cluster's own name, else that of its cell. */
static json_t *name_of_cluster(void)
{
    char path[1024], line[256] = "";
    const char *root = getenv("SGE_ROOT"), *cell = getenv("SGE_CELL");
    cell = cell ? cell : "default";
    snprintf(path, sizeof(path), "%s/%s/common/cluster_name", root ? root : "/var/lib/gridengine",
             cell);
    FILE *file = fopen(path, "re");
    if (file) {
        if (!fgets(line, sizeof(line), file))
            line[0] = '\0';
        fclose(file);
    }
    return line_of(line[0] && line[0] != '\n' ? line : cell);
}

static json_t *queues_of(const json_t *root)
{
    json_t *queues = json_array();
    size_t i;
    const json_t *row;
    json_array_foreach(pleat_xml_elements(root), i, row)
    {
        int64_t total = number_of(pleat_xml_text(row, "total"));
        int64_t away = number_of(pleat_xml_text(row, "manual_intervention"));
        if (!pleat_xml_is(row, "cluster_queue_summary"))
            continue;
        json_t *queue = json_pack("{sbsbsIsb}", "default", 0, "up", total > away, "cpus",
                                  (json_int_t)total, "exclusive", 0);
        if (!queue)
            abort();
        json_object_set_new(queue, "name", pleat_json_text(pleat_xml_text(row, "name")));
        json_array_append_new(queues, queue);
    }
    return queues;
}

/* "00:01:00" or "60" as seconds; 0: it is neither. Values of single hosts may follow. */
static int64_t seconds_of(const char *text)
{
    int parts[3], count = sscanf(text, "%d:%d:%d", &parts[0], &parts[1], &parts[2]);
    int64_t seconds = 0;
    for (int i = 0; i < count; i++)
        seconds = parts[i] < 0 || parts[i] > 86400 ? 0 : seconds * 60 + parts[i];
    return count == 1 || count == 3 ? seconds : 0;
}

int64_t pleat_gridengine_notice_of(const char *queue)
{
    static const char name[] = "notify";
    for (const char *line = queue; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, sizeof(name) - 1) && line[sizeof(name) - 1] == ' ')
            return seconds_of(line + sizeof(name) + strspn(line + sizeof(name), " "));
    }
    return 0;
}

/* How long processes of a deleted job have, in the queue where that is least; 0: not known, as
 * where Grid Engine does not tell this host. */
static int64_t notice(const json_t *queues)
{
    enum { QUEUES_MOST = 50 };
    int64_t least = 0;
    size_t i;
    const json_t *queue;
    json_array_foreach(queues, i, queue)
    {
        const char *const argv[] = {"qconf", "-sq",
                                    json_string_value(json_object_get(queue, "name")), NULL};
        struct pleat_error err;
        char *text;
        if (i >= QUEUES_MOST || pleat_gridengine_ask(argv, &text, &err))
            return 0;
        int64_t seconds = pleat_gridengine_notice_of(text);
        free(text);
        if (seconds == 0)
            return 0;
        least = least == 0 || seconds < least ? seconds : least;
    }
    return least;
}

int pleat_gridengine_cluster(json_t **cluster, struct pleat_error *err)
{
    static const char *const help[] = {"qstat", "-help", NULL};
    static const char *const queues[] = {"qstat", "-xml", "-g", "c", NULL};
    char *text;
    json_t *root;
    int failure = pleat_gridengine_ask(help, &text, err);
    if (failure)
        return failure;
    failure = pleat_gridengine_ask_xml(queues, &root, err);
    if (!failure) {
        *cluster = json_object();
        json_object_set_new(*cluster, "cluster", name_of_cluster());
        json_object_set_new(*cluster, "version", line_of(text));
        json_object_set_new(*cluster, "partitions", queues_of(root));
        json_object_set_new(*cluster, "kill_wait_s",
                            json_integer(notice(json_object_get(*cluster, "partitions"))));
        json_decref(root);
    }
    free(text);
    return failure;
}

/* ---- nodes ---- */

/* The value of one attribute in a host's element; "": it is not there. `list`: the tag of the
 * elements with attributes. */
static const char *said(const json_t *host, const char *list, const char *name)
{
    size_t i;
    const json_t *inner;
    json_array_foreach(pleat_xml_elements(host), i, inner)
    {
        if (pleat_xml_is(inner, list) && !strcmp(pleat_xml_attribute(inner, "name"), name))
            return pleat_xml_own_text(inner);
    }
    return "";
}

/* "23.5G" as MiB; 0: none. */
static int64_t megabytes(const char *text)
{
    char *end;
    double number = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
    if (!(number > 0 && number < 1e9))
        return 0;
    double unit = *end == 'T'   ? 1048576.0
                  : *end == 'G' ? 1024.0
                  : *end == 'M' ? 1.0
                  : *end == 'K' ? 1.0 / 1024
                                : 1.0 / 1048576;
    return (int64_t)(number * unit);
}

struct slots {
    int64_t total, largest, used; /* of the queues' instances on a host */
    bool takes, answers;          /* one of them takes jobs; one answers */
};

static struct slots count_slots(const json_t *host)
{
    struct slots slots = {0};
    size_t i;
    const json_t *queue;
    json_array_foreach(pleat_xml_elements(host), i, queue)
    {
        if (!pleat_xml_is(queue, "queue"))
            continue;
        int64_t own = number_of(said(queue, "queuevalue", "slots"));
        const char *trouble = pleat_gridengine_instance(said(queue, "queuevalue", "state_string"));
        slots.total += own;
        slots.largest = own > slots.largest ? own : slots.largest;
        slots.used += number_of(said(queue, "queuevalue", "slots_used"));
        slots.takes = slots.takes || !*trouble;
        slots.answers = slots.answers || strcmp(trouble, "down") != 0;
    }
    return slots;
}

/* The node of a host; NULL: no queue has it. Several queues may share a host's processors: the node
 * has as many as the host, but never fewer than one of its queues gives out. */
static json_t *node_of(const json_t *host)
{
    struct slots slots = count_slots(host);
    int64_t own = number_of(said(host, "hostvalue", "num_proc"));
    int64_t bound = own > slots.largest ? own : slots.largest;
    const char *load = said(host, "hostvalue", "load_avg");
    if (slots.total == 0)
        return NULL;
    const char *state = !slots.answers   ? "down"
                        : !slots.takes   ? "drained"
                        : slots.used > 0 ? "used"
                                         : "idle";
    json_t *node =
        json_pack("{sIsIsssI}", "cpus", (json_int_t)(slots.total < bound ? slots.total : bound),
                  "used", (json_int_t)slots.used, "state", state, "memory_mb",
                  (json_int_t)megabytes(said(host, "hostvalue", "mem_total")));
    if (!node)
        abort();
    json_object_set_new(node, "name", pleat_json_text(pleat_xml_attribute(host, "name")));
    if (*load >= '0' && *load <= '9')
        json_object_set_new(node, "load", json_real(strtod(load, NULL)));
    return node;
}

json_t *pleat_gridengine_nodes_of(const json_t *root)
{
    json_t *nodes = json_array(), *node;
    size_t i;
    const json_t *host;
    json_array_foreach(pleat_xml_elements(root), i, host)
    {
        if (pleat_xml_is(host, "host") && (node = node_of(host)))
            json_array_append_new(nodes, node);
    }
    return nodes;
}

int pleat_gridengine_nodes(json_t **nodes, struct pleat_error *err)
{
    static const char *const argv[] = {"qhost", "-xml", "-q", NULL};
    json_t *root;
    int failure = pleat_gridengine_ask_xml(argv, &root, err);
    if (failure)
        return failure;
    *nodes = pleat_gridengine_nodes_of(root);
    json_decref(root);
    return 0;
}
