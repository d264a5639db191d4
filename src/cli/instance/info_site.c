#include "cli/instance/info_site.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include "base/array.h"
#include "cli/common/cli.h"
#include "cli/common/daemon.h"
#include "cli/common/entry.h"
#include "cli/common/reply.h"

enum { LABEL = 16 };

static void print_line(const struct pleat_term *term, const char *name, const char *value)
{
    pleat_entry_print(term, LABEL, pleat_entry_width(term, PLEAT_PIPE_WIDTH), name, value);
}

/* ---- asking ---- */

static json_t *find(const json_t *answer, const char *name)
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

/* Is something on its way that is not known yet? */
static bool is_coming(const json_t *site)
{
    const json_t *batch = json_object_get(site, "batch");
    if (!json_is_object(batch))
        return false;
    return !pleat_reply_text(batch, "trouble", NULL) &&
           (!pleat_reply_true(batch, "answers") ||
            !json_is_boolean(json_object_get(batch, "may")) ||
            !json_is_array(json_object_get(batch, "partitions")) ||
            (pleat_reply_true(site, "looking") && !json_is_array(json_object_get(site, "nodes"))));
}

static int ask(struct pleat_client **client, const char *name, json_t **answer)
{
    enum { LOOK_MS = 50, LOOKS = 40 };
    for (int i = 0;; i++) {
        int code = pleat_daemon_ask_patiently(client, PLEAT_PATIENCE_S, "nodes", NULL, answer);
        if (code || i == LOOKS || !is_coming(find(*answer, name)))
            return code;
        json_decref(*answer);
        *answer = NULL;
        (void)poll(NULL, 0, LOOK_MS);
    }
}

/* ---- for people ---- */

static void add_number(struct pleat_string *text, const json_t *part, const char *member,
                       const char *what)
{
    int64_t value = pleat_reply_int(part, member, 0);
    if (value > 0)
        pleat_string_addf(text, ", %s %" PRId64, what, value);
}

static void add_who(struct pleat_string *text, const json_t *part, const char *member)
{
    const char *who = pleat_reply_text(part, member, "");
    if (*who)
        pleat_string_addf(text, ", only %s %s", member, who);
}

/* Partitions of Slurm, queues of Grid Engine; first the one from which the site gets its
 * processors. */
static void print_part(const struct pleat_term *term, const json_t *part, bool is_own)
{
    struct pleat_string text = {0};
    pleat_string_addf(&text, "%s%s: %s", pleat_reply_text(part, "name", "?"),
                      is_own ? " (this site's)" : "", pleat_reply_true(part, "up") ? "up" : "down");
    add_number(&text, part, "cpus", "processors");
    add_number(&text, part, "node_count", "nodes");
    add_number(&text, part, "max_nodes", "nodes of a job at most");
    add_number(&text, part, "max_minutes", "minutes at most");
    add_number(&text, part, "default_minutes", "minutes if none are said");
    if (pleat_reply_true(part, "exclusive"))
        pleat_string_add(&text, ", whole nodes only");
    add_who(&text, part, "accounts");
    add_who(&text, part, "groups");
    add_who(&text, part, "qos");
    print_line(term, "offers", text.text ? text.text : "?");
    pleat_string_finish(&text);
}

static bool is_own(const json_t *batch, const json_t *part)
{
    const char *wanted = pleat_reply_text(batch, "part", NULL);
    return wanted ? pleat_reply_is(part, "name", wanted) : pleat_reply_true(part, "default");
}

static void print_batch(const struct pleat_term *term, const json_t *batch)
{
    const char *title = pleat_reply_text(batch, "title", "?");
    struct pleat_string text = {0};
    size_t i;
    const json_t *part;
    pleat_string_addf(&text, "%s %s, cluster %s", title, pleat_reply_text(batch, "version", "?"),
                      pleat_reply_text(batch, "cluster", "?"));
    if (!pleat_reply_true(batch, "answers"))
        pleat_string_addf(&text, "; it does not answer: %s",
                          pleat_reply_text(batch, "trouble", "nothing was heard of it yet"));
    print_line(term, "batch system", text.text ? text.text : "?");
    pleat_string_finish(&text);
    for (int own = 1; own >= 0; own--)
        json_array_foreach(pleat_reply_array(batch, "partitions"), i, part)
        {
            if (is_own(batch, part) == own)
                print_part(term, part, own);
        }
    if (!json_is_boolean(json_object_get(batch, "may")))
        pleat_string_addf(&text, "%s was not asked yet whether you may submit", title);
    else if (pleat_reply_true(batch, "may"))
        pleat_string_addf(&text, "%s takes jobs of yours", title);
    else
        pleat_string_addf(&text, "%s takes no job of yours: %s", title,
                          pleat_reply_text(batch, "refusal", "?"));
    print_line(term, "you", text.text ? text.text : "?");
    pleat_string_finish(&text);
}

static void print_nodes(const struct pleat_term *term, const json_t *site)
{
    static const char *const members[] = {"processors", "used", "background", "free"};
    int64_t sums[4] = {0};
    struct pleat_string text = {0};
    const json_t *nodes = pleat_reply_array(site, "nodes"), *node;
    size_t i;
    json_array_foreach(nodes, i, node)
    {
        for (size_t m = 0; m < 4; m++)
            sums[m] += pleat_reply_int(node, members[m], 0);
    }
    if (json_array_size(nodes) == 0)
        pleat_string_add(&text, "not known yet");
    else
        pleat_string_addf(&text,
                          "%zu, with %" PRId64 " processors: %" PRId64 " in use by Pleat, %" PRId64
                          " by others, %" PRId64 " free",
                          json_array_size(nodes), sums[0], sums[1], sums[2], sums[3]);
    if (pleat_reply_real(site, "ago_s") >= 1)
        pleat_string_addf(&text, " (%.0f s ago)", pleat_reply_real(site, "ago_s"));
    print_line(term, "nodes", text.text ? text.text : "?");
    pleat_string_finish(&text);
}

static int show(const json_t *site)
{
    struct pleat_term term;
    pleat_term_init(&term);
    print_line(&term, "site", pleat_reply_text(site, "name", "?"));
    print_line(&term, "kind", pleat_reply_text(site, "kind", "?"));
    if (json_is_object(json_object_get(site, "batch")))
        print_batch(&term, json_object_get(site, "batch"));
    print_nodes(&term, site);
    return PLEAT_EXIT_OK;
}

int pleat_info_site(const char *name)
{
    struct pleat_client *client;
    json_t *answer = NULL;
    int code = pleat_daemon_connect(&client);
    if (!code)
        code = ask(&client, name, &answer);
    json_t *site = code ? NULL : find(answer, name);
    if (site) {
        code = pleat_settings.json ? pleat_reply_print(site) : show(site);
    } else if (!code) {
        pleat_say("there is no site '%s': 'pleat sites' lists them", name);
        code = PLEAT_EXIT_FAILED;
    }
    json_decref(answer);
    pleat_client_close(client);
    return code;
}
