/* pleat info SITE: what a site has, and what the batch system of a cluster offers this user. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/daemon.h"
#include "cli/common/entry.h"
#include "cli/common/reply.h"
#include "cli/instance/commands.h"
#include "cli/instance/info_site.h"

enum { LABEL = 16 };

static void print_line(const char *name, struct pleat_string *text)
{
    struct pleat_term term;
    pleat_term_init(&term);
    pleat_entry_print(&term, LABEL, pleat_entry_width(&term, PLEAT_PIPE_WIDTH), name,
                      text->text ? text->text : "");
    pleat_string_finish(text);
}

static void add_count(struct pleat_string *text, const char *before, int64_t count,
                      const char *what)
{
    pleat_string_addf(text, "%s%" PRId64 " %s%s", before, count, what, count == 1 ? "" : "s");
}

/* Processors that nobody uses, and nobody gets, of nodes that are in such a state: "2 reserved, ".
 */
static void add_closed(struct pleat_string *text, const json_t *nodes, const char *state,
                       const char *other)
{
    int64_t count = 0;
    size_t i;
    const json_t *node;
    json_array_foreach(nodes, i, node)
    {
        int64_t left = pleat_reply_int(node, "processors", 0) - pleat_reply_int(node, "used", 0) -
                       pleat_reply_int(node, "background", 0);
        bool is = pleat_reply_is(node, "state", state) || pleat_reply_is(node, "state", other);
        count += is && left > 0 ? left : 0;
    }
    if (count > 0)
        pleat_string_addf(text, "%" PRId64 " %s, ", count, state);
}

/* "site            c1: slurm, 8 processors on 2 nodes: 2 used, 1 used by others, 2 reserved, 3
 * free"
 */
static void print_site(const json_t *site)
{
    static const char *const members[] = {"processors", "used", "background", "free"};
    int64_t sums[4] = {0};
    struct pleat_string text = {0};
    json_t *nodes = pleat_reply_array(site, "nodes");
    size_t i;
    const json_t *node;
    json_array_foreach(nodes, i, node)
    {
        for (size_t m = 0; m < 4; m++)
            sums[m] += pleat_reply_int(node, members[m], 0);
    }
    pleat_string_addf(&text, "%s: %s", pleat_reply_text(site, "name", "?"),
                      pleat_reply_text(site, "kind", "?"));
    if (nodes) {
        add_count(&text, ", ", sums[0], "processor");
        add_count(&text, " on ", (int64_t)json_array_size(nodes), "node");
        pleat_string_addf(&text, ": %" PRId64 " used, %" PRId64 " used by others, ", sums[1],
                          sums[2]);
        add_closed(&text, nodes, "reserved", "reserved");
        add_closed(&text, nodes, "outside", "outside");
        add_closed(&text, nodes, "drained", "draining");
        add_closed(&text, nodes, "down", "down");
        pleat_string_addf(&text, "%" PRId64 " free", sums[3]);
    }
    print_line("site", &text);
}

/* "cluster         a: Slurm 22.05.8" */
static void print_cluster(const json_t *batch)
{
    struct pleat_string text = {0};
    const char *trouble = pleat_reply_text(batch, "trouble", NULL);
    pleat_string_addf(&text, "%s: %s %s", pleat_reply_text(batch, "cluster", "not heard of yet"),
                      pleat_reply_text(batch, "title", "?"),
                      pleat_reply_text(batch, "version", ""));
    if (!pleat_reply_true(batch, "answers"))
        pleat_string_addf(&text, "; it does not answer%s%s", trouble ? ": " : "",
                          trouble ? trouble : "");
    print_line("cluster", &text);
}

static void add_who(struct pleat_string *text, const json_t *partition, const char *member,
                    const char *what)
{
    const char *who = pleat_reply_text(partition, member, "");
    if (*who)
        pleat_string_addf(text, ", only for %s %s", what, who);
}

/* A limit in minutes that may not be there. */
static void add_minutes(struct pleat_string *text, const json_t *partition, const char *member,
                        const char *what)
{
    int64_t minutes = pleat_reply_int(partition, member, -1);
    if (minutes >= 0)
        pleat_string_addf(text, ", %s %" PRId64 " min", what, minutes);
}

static void print_partition(const json_t *batch, const json_t *partition)
{
    struct pleat_string text = {0};
    const char *wanted = pleat_reply_text(batch, "part", NULL);
    bool usual = pleat_reply_true(partition, "default");
    bool asked = wanted ? pleat_reply_is(partition, "name", wanted) : usual;
    int64_t nodes = pleat_reply_int(partition, "node_count", 0);
    pleat_string_addf(&text, "%s%s: %s", pleat_reply_text(partition, "name", "?"),
                      usual && asked ? " (default, asked by this site)"
                      : usual        ? " (default)"
                      : asked        ? " (asked by this site)"
                                     : "",
                      pleat_reply_true(partition, "up") ? "up" : "down");
    add_count(&text, ", ", pleat_reply_int(partition, "cpus", 0), "processor");
    if (nodes > 0) {
        add_count(&text, " on ", nodes, "node");
        pleat_string_addf(&text, " (%s)", pleat_reply_text(partition, "nodes", "?"));
    }
    if (pleat_reply_true(partition, "exclusive"))
        pleat_string_add(&text, ", gives whole nodes only");
    add_minutes(&text, partition, "max_minutes", "at most");
    add_minutes(&text, partition, "default_minutes", "if not said otherwise");
    int64_t most = pleat_reply_int(partition, "max_nodes", 0);
    if (most > 0)
        add_count(&text, ", a job at most on ", most, "node");
    add_who(&text, partition, "accounts", "accounts");
    add_who(&text, partition, "groups", "groups");
    add_who(&text, partition, "qos", "qos");
    print_line("partition", &text);
}

/* Whether a word is in a list "a,b". */
static bool has_word(const char *list, const char *word, size_t length)
{
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        if (strcspn(at, ",") == length && !strncmp(at, word, length))
            return true;
    }
    return false;
}

/* The number of nodes from `first` on that have a feature; 0: one before has it, too. */
static int64_t nodes_with(const json_t *nodes, size_t first, const char *word, size_t length)
{
    int64_t count = 0;
    size_t i;
    const json_t *node;
    json_array_foreach(nodes, i, node)
    {
        bool has = has_word(pleat_reply_text(node, "features", ""), word, length);
        if (has && i < first)
            return 0;
        count += has;
    }
    return count;
}

/* "features        fast (1 node), intel (2 nodes)": those that a constraint may name. */
static void print_features(const json_t *site)
{
    struct pleat_string text = {0};
    json_t *nodes = pleat_reply_array(site, "nodes");
    size_t i;
    const json_t *node;
    json_array_foreach(nodes, i, node)
    {
        for (const char *at = pleat_reply_text(node, "features", ""); *at;) {
            size_t length = strcspn(at, ",");
            int64_t count = nodes_with(nodes, i, at, length);
            if (count > 0) {
                pleat_string_addf(&text, "%s%.*s", text.length ? ", " : "", (int)length, at);
                add_count(&text, " (", count, "node");
                pleat_string_add(&text, ")");
            }
            at += length + (at[length] == ',');
        }
    }
    if (!text.length)
        pleat_string_add(&text, nodes ? "none" : "not known yet");
    print_line("features", &text);
}

static void add_limits(struct pleat_string *text, const json_t *one)
{
    const char *limits = pleat_reply_text(one, "limits", "");
    if (*limits)
        pleat_string_addf(text, "; limits: %s", limits);
}

/* "account         physics (default): qos normal, small; limits: MaxJobs=3" */
static void print_account(const json_t *account)
{
    struct pleat_string text = {0};
    const char *partition = pleat_reply_text(account, "partition", "");
    size_t i;
    const json_t *qos;
    pleat_string_addf(&text, "%s%s", pleat_reply_text(account, "account", "?"),
                      pleat_reply_true(account, "default") ? " (default)" : "");
    if (*partition)
        pleat_string_addf(&text, ", in partition %s", partition);
    json_array_foreach(pleat_reply_array(account, "qos"), i, qos) pleat_string_addf(
        &text, "%s%s", i ? ", " : ": qos ", json_is_string(qos) ? json_string_value(qos) : "?");
    add_limits(&text, account);
    print_line("account", &text);
}

static bool may_use(const json_t *batch, const char *name)
{
    size_t i, q;
    const json_t *account, *qos;
    json_array_foreach(pleat_reply_array(batch, "accounts"), i, account)
    {
        json_array_foreach(pleat_reply_array(account, "qos"), q, qos)
        {
            if (json_is_string(qos) && !strcmp(json_string_value(qos), name))
                return true;
        }
    }
    return false;
}

/* Those that this user may use. */
static void print_qualities(const json_t *batch)
{
    size_t i;
    const json_t *qos;
    json_array_foreach(pleat_reply_array(batch, "qos"), i, qos)
    {
        struct pleat_string text = {0};
        const char *name = pleat_reply_text(qos, "name", "?");
        if (!may_use(batch, name))
            continue;
        pleat_string_add(&text, name);
        add_limits(&text, qos);
        print_line("qos", &text);
    }
}

static void print_accounts(const json_t *batch)
{
    struct pleat_string text = {0};
    json_t *accounts = pleat_reply_array(batch, "accounts");
    size_t i;
    const json_t *account;
    json_array_foreach(accounts, i, account) print_account(account);
    if (json_array_size(accounts) > 0) {
        print_qualities(batch);
        return;
    }
    if (accounts)
        pleat_string_add(&text, "you have none");
    else
        pleat_string_addf(&text, "not told: %s",
                          pleat_reply_text(batch, "no_accounts", "not known yet"));
    print_line("account", &text);
}

static void print_submitting(const json_t *batch)
{
    struct pleat_string text = {0};
    const char *title = pleat_reply_text(batch, "title", "?");
    if (!json_is_boolean(json_object_get(batch, "may")))
        pleat_string_addf(&text, "%s was not asked yet whether you may", title);
    else if (pleat_reply_true(batch, "may"))
        pleat_string_addf(&text, "%s would take a job of one processor of yours", title);
    else
        pleat_string_addf(&text, "%s would not take a job of yours: %s", title,
                          pleat_reply_text(batch, "refusal", ""));
    print_line("submitting", &text);
}

/* The site of this name; NULL: there is none. Borrowed. */
static json_t *site_of(const json_t *answer, const char *name)
{
    size_t i;
    json_t *site;
    json_array_foreach(pleat_reply_array(answer, "sites"), i, site)
    {
        if (pleat_reply_is(site, "name", name))
            return site;
    }
    return NULL;
}

/* Whether something of the site is about to be known. */
static bool is_coming(const json_t *site)
{
    const json_t *batch = json_object_get(site, "batch");
    bool told = json_is_array(json_object_get(site, "nodes"));
    if (!json_is_object(batch) || json_is_string(json_object_get(batch, "trouble")))
        return false;
    return !told || !json_is_array(json_object_get(batch, "partitions")) ||
           !json_is_boolean(json_object_get(batch, "may")) ||
           (!json_is_array(json_object_get(batch, "accounts")) &&
            !json_is_string(json_object_get(batch, "no_accounts")));
}

static int print_all(const json_t *site)
{
    const json_t *batch = json_object_get(site, "batch");
    size_t i;
    const json_t *partition;
    print_site(site);
    if (!json_is_object(batch))
        return PLEAT_EXIT_OK;
    print_cluster(batch);
    json_array_foreach(pleat_reply_array(batch, "partitions"), i, partition)
        print_partition(batch, partition);
    print_features(site);
    print_accounts(batch);
    print_submitting(batch);
    return PLEAT_EXIT_OK;
}

int pleat_info_site(const char *name)
{
    enum { LOOK_MS = 50, LOOKS = 100 };
    struct pleat_client *client;
    json_t *answer = NULL, *site = NULL;
    int code = pleat_daemon_connect(&client);
    for (int i = 0; !code; i++) {
        code = pleat_daemon_ask_patiently(&client, PLEAT_PATIENCE_S, "nodes", NULL, &answer);
        site = code ? NULL : site_of(answer, name);
        if (code || i == LOOKS || !site || !is_coming(site))
            break;
        json_decref(answer);
        answer = NULL;
        (void)poll(NULL, 0, LOOK_MS);
    }
    if (!code && !site) {
        pleat_say("there is no site '%s': 'pleat sites' lists them", name);
        code = PLEAT_EXIT_FAILED;
    } else if (!code)
        code = pleat_settings.json ? pleat_reply_print(site) : print_all(site);
    json_decref(answer);
    pleat_client_close(client);
    return code;
}
