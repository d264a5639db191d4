#include "slurm/ask_cluster.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slurm/ask.h"
#include "slurm/auth.h"
#include "slurm/system.h"
#include "wire/message.h"

static int set_text(json_t *object, const char *name, const char *text)
{
    return json_object_set_new(object, name, pleat_json_text(text));
}

static int set_minutes(json_t *object, const char *name, const char *line, const char *key)
{
    int64_t minutes = pleat_slurm_minutes(line, key);
    return minutes < 0 ? 0 : json_object_set_new(object, name, json_integer(minutes));
}

static const char *all_or(const char *value)
{
    return strcmp(value, "ALL") != 0 ? value : "";
}

/* Of an answer that was cut off. */
static bool partition_is_whole(const char *line)
{
    return strstr(line, " State=") && strstr(line, " TotalCPUs=");
}

static json_t *partition_json(const char *line)
{
    char value[1024];
    json_t *object = json_object();
    int64_t most = pleat_slurm_number(line, "MaxNodes", -1);
    if (!object ||
        set_text(object, "name", pleat_slurm_value(line, "PartitionName", value, sizeof(value))) ||
        json_object_set_new(object, "default",
                            json_boolean(strstr(line, " Default=YES") != NULL)) ||
        json_object_set_new(object, "up", json_boolean(strstr(line, " State=UP") != NULL)) ||
        set_text(object, "nodes", pleat_slurm_value(line, "Nodes", value, sizeof(value))) ||
        json_object_set_new(object, "node_count",
                            json_integer(pleat_slurm_number(line, "TotalNodes", 0))) ||
        json_object_set_new(object, "cpus",
                            json_integer(pleat_slurm_number(line, "TotalCPUs", 0))) ||
        set_minutes(object, "max_minutes", line, "MaxTime") ||
        set_minutes(object, "default_minutes", line, "DefaultTime") ||
        (most >= 0 && json_object_set_new(object, "max_nodes", json_integer(most))) ||
        json_object_set_new(object, "exclusive",
                            json_boolean(strstr(line, " OverSubscribe=EXCLUSIVE") != NULL)) ||
        set_text(object, "accounts",
                 all_or(pleat_slurm_value(line, "AllowAccounts", value, sizeof(value)))) ||
        set_text(object, "groups",
                 all_or(pleat_slurm_value(line, "AllowGroups", value, sizeof(value)))) ||
        set_text(object, "qos",
                 all_or(pleat_slurm_value(line, "AllowQos", value, sizeof(value))))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* Appends what `make` makes of each line, which begins with "KEY=NAME "; frees the text. A line
 * that does not is no answer of Slurm's, but `none`: there is nothing to be shown. */
static int each_line(char *text, const char *key, const char *none, json_t *list,
                     bool (*is_whole)(const char *line), json_t *(*make)(const char *line),
                     struct pleat_error *err)
{
    int failure = 0;
    char *rest = text;
    size_t length = strlen(key);
    for (char *line = strsep(&rest, "\n"); line && !failure; line = strsep(&rest, "\n")) {
        bool is_one = !strncmp(line, key, length) && line[length] == '=' &&
                      line[length + 1] > ' ' && strchr(line, ' ');
        if (!line[0] || !strcmp(line, none))
            continue;
        if (!is_one)
            failure = pleat_error_set(err, PLEAT_E_PROTOCOL,
                                      "an answer of scontrol makes no sense: no line of %s=", key);
        else if (!is_whole(line))
            failure = pleat_error_set(err, PLEAT_E_PROTOCOL,
                                      "an answer of scontrol makes no sense: a line of %s= "
                                      "without what such lines have",
                                      key);
        else if (json_array_append_new(list, make(line)))
            failure = pleat_slurm_no_memory(err);
    }
    free(text);
    return failure;
}

/* The value of a line "NAME   = value" of `scontrol show config`; "": there is none. */
static const char *configured(const char *text, const char *name, char *word, size_t size)
{
    const char *line = strstr(text, name);
    const char *value = line ? strchr(line, '=') : NULL;
    snprintf(word, size, "%.*s", value ? (int)strcspn(value + 1, "\n") : 0, value ? value + 1 : "");
    return word + strspn(word, " ");
}

/* Nothing is learnt from a part of the configuration: keys would go over the network in clear. */
static int learn_auth(const char *text, struct pleat_error *err)
{
    char type[256], info[1024];
    const char *of_type = configured(text, "\nAuthType ", type, sizeof(type));
    if (!*of_type)
        return pleat_error_set(err, PLEAT_E_PROTOCOL,
                               "an answer of scontrol makes no sense: no AuthType");
    pleat_slurm_auth_learn(of_type, configured(text, "\nAuthInfo ", info, sizeof(info)));
    return 0;
}

/* "30 sec" */
static int set_kill_wait(json_t *cluster, const char *text)
{
    char word[256];
    long seconds = strtol(configured(text, "\nKillWait ", word, sizeof(word)), NULL, 10);
    return seconds < 1 ? 0 : json_object_set_new(cluster, "kill_wait_s", json_integer(seconds));
}

int pleat_slurm_ask_cluster(json_t **cluster, struct pleat_error *err)
{
    static const char *const config[] = {"scontrol", "show", "config", NULL};
    static const char *const shown[] = {"scontrol", "-o", "show", "partition", NULL};
    char *text, *partitions, word[256];
    int failure = pleat_slurm_ask(config, NULL, &text, err);
    if (failure)
        return failure;
    failure = learn_auth(text, err);
    failure = failure ? failure : pleat_slurm_ask(shown, NULL, &partitions, err);
    if (failure) {
        free(text);
        return failure;
    }
    json_t *list = json_array();
    *cluster = json_object();
    if (!list || !*cluster)
        abort();
    failure = each_line(partitions, "PartitionName", "No partitions in the system", list,
                        partition_is_whole, partition_json, err);
    if (!failure &&
        (set_text(*cluster, "cluster", configured(text, "\nClusterName", word, sizeof(word))) ||
         set_text(*cluster, "version", configured(text, "\nSLURM_VERSION", word, sizeof(word))) ||
         set_kill_wait(*cluster, text) || json_object_set(*cluster, "partitions", list)))
        failure = pleat_slurm_no_memory(err);
    free(text);
    json_decref(list);
    if (!failure)
        return 0;
    json_decref(*cluster);
    *cluster = NULL;
    return failure;
}

/* ---- nodes ---- */

static const char *node_state(const char *state, bool used)
{
    static const struct {
        const char *part, *means;
    } known[] = {
        {"DOWN", "down"},      {"UNKNOWN", "down"},       {"NOT_RESPONDING", "down"},
        {"FAIL", "down"},      {"POWERING_DOWN", "down"}, {"FUTURE", "down"},
        {"*", "down"},         {"INVAL", "down"},         {"DRAIN", "drained"},
        {"MAINT", "reserved"}, {"RESERVED", "reserved"},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strstr(state, known[i].part))
            return known[i].means;
    return used ? "used" : "idle";
}

static bool node_is_whole(const char *line)
{
    return strstr(line, " State=") && pleat_slurm_number(line, "CPUTot", 0) > 0;
}

static json_t *node_json(const char *line)
{
    char name[256], state[256], load[64], features[1024];
    int64_t used = pleat_slurm_number(line, "CPUAlloc", 0);
    json_t *object = json_object();
    pleat_slurm_value(line, "CPULoad", load, sizeof(load));
    pleat_slurm_value(line, "AvailableFeatures", features, sizeof(features));
    if (!object ||
        set_text(object, "name", pleat_slurm_value(line, "NodeName", name, sizeof(name))) ||
        json_object_set_new(object, "cpus",
                            json_integer(pleat_slurm_number(
                                line, "CPUEfctv", pleat_slurm_number(line, "CPUTot", 0)))) ||
        json_object_set_new(object, "used", json_integer(used)) ||
        set_text(object, "state",
                 node_state(pleat_slurm_value(line, "State", state, sizeof(state)), used > 0)) ||
        json_object_set_new(object, "memory_mb",
                            json_integer(pleat_slurm_number(line, "RealMemory", 0))) ||
        set_text(object, "features", strcmp(features, "(null)") != 0 ? features : "") ||
        (load[0] >= '0' && load[0] <= '9' &&
         json_object_set_new(object, "load", json_real(strtod(load, NULL))))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int pleat_slurm_ask_nodes(json_t **nodes, struct pleat_error *err)
{
    static const char *const shown[] = {"scontrol", "-o", "show", "node", NULL};
    char *text;
    int failure = pleat_slurm_ask(shown, NULL, &text, err);
    if (failure)
        return failure;
    *nodes = json_array();
    if (!*nodes)
        abort();
    failure = each_line(text, "NodeName", "", *nodes, node_is_whole, node_json, err);
    if (!failure && json_array_size(*nodes) == 0)
        failure = pleat_error_set(err, PLEAT_E_PROTOCOL, "scontrol has shown no node");
    if (!failure)
        return 0;
    json_decref(*nodes);
    *nodes = NULL;
    return failure;
}

/* ---- reservations ---- */

static bool is_reserved(const json_t *node)
{
    const char *state = json_string_value(json_object_get(node, "state"));
    return state && !strcmp(state, "reserved");
}

static bool any_is_reserved(json_t *nodes)
{
    size_t i;
    const json_t *node;
    json_array_foreach(nodes, i, node)
    {
        if (is_reserved(node))
            return true;
    }
    return false;
}

static bool reservation_is_whole(const char *line)
{
    return strstr(line, " Nodes=") && strstr(line, " State=");
}

static json_t *reservation_json(const char *line)
{
    char value[4096];
    json_t *object = json_object();
    if (!object ||
        set_text(object, "name",
                 pleat_slurm_value(line, "ReservationName", value, sizeof(value))) ||
        set_text(object, "nodes", pleat_slurm_value(line, "Nodes", value, sizeof(value))) ||
        json_object_set_new(object, "active",
                            json_boolean(strstr(line, " State=ACTIVE") != NULL))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* A node of a reservation: its name is added to what the node has already. */
static int add_reservation(json_t *nodes, const json_t *name, const char *reservation)
{
    size_t i;
    json_t *node;
    json_array_foreach(nodes, i, node)
    {
        if (!is_reserved(node) || !json_equal(json_object_get(node, "name"), name))
            continue;
        const char *before = json_string_value(json_object_get(node, "reservations"));
        json_t *all = json_sprintf("%s%s%s", before ? before : "", before ? "," : "", reservation);
        if (!all || json_object_set_new(node, "reservations", all))
            return -1;
    }
    return 0;
}

static int add_reservations(json_t *nodes, const json_t *reservations, struct pleat_error *err)
{
    size_t i, n;
    json_t *one, *name, *names;
    json_array_foreach(reservations, i, one)
    {
        if (!json_is_true(json_object_get(one, "active")) ||
            pleat_slurm_hostlist(json_string_value(json_object_get(one, "nodes")), &names, NULL))
            continue;
        const char *reservation = json_string_value(json_object_get(one, "name"));
        int bad = 0;
        json_array_foreach(names, n, name)
        {
            bad = bad || add_reservation(nodes, name, reservation);
        }
        json_decref(names);
        if (bad)
            return pleat_slurm_no_memory(err);
    }
    return 0;
}

int pleat_slurm_ask_reservations(json_t *nodes, struct pleat_error *err)
{
    static const char *const shown[] = {"scontrol", "-o", "show", "reservation", NULL};
    char *text;
    if (!any_is_reserved(nodes))
        return 0;
    int failure = pleat_slurm_ask(shown, NULL, &text, err);
    if (failure)
        return failure;
    json_t *list = json_array();
    if (!list)
        abort();
    failure = each_line(text, "ReservationName", "No reservations in the system", list,
                        reservation_is_whole, reservation_json, err);
    failure = failure ? failure : add_reservations(nodes, list, err);
    json_decref(list);
    return failure;
}
