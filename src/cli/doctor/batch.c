/* Clusters that are sites: what pleatd was told by their batch systems. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/doctor/check.h"
#include "client/client.h"
#include "wire/reply.h"

/* "c1 controller" */
static const char *subject_of(const char *site, const char *what)
{
    static char text[140];
    snprintf(text, sizeof(text), "%.100s %s", site, what);
    return text;
}

/* The partition that is asked; NULL: it is not there. */
static const json_t *part_of(const json_t *batch)
{
    const char *wanted = pleat_reply_text(batch, "part", NULL);
    size_t i;
    const json_t *one;
    json_array_foreach(pleat_reply_array(batch, "partitions"), i, one)
    {
        if (wanted ? pleat_reply_is(one, "name", wanted) : pleat_reply_true(one, "default"))
            return one;
    }
    return NULL;
}

static void add_limit(struct pleat_string *text, const json_t *part, const char *member,
                      const char *what)
{
    int64_t value = pleat_reply_int(part, member, 0);
    if (value > 0)
        pleat_string_addf(text, ", %s%" PRId64, what, value);
}

static void add_who(struct pleat_string *text, const json_t *part, const char *member)
{
    const char *who = pleat_reply_text(part, member, "");
    if (*who)
        pleat_string_addf(text, ", only %s %s", member, who);
}

static void tell_of_part(struct doctor *doctor, const char *name, const json_t *batch)
{
    const char *wanted = pleat_reply_text(batch, "part", NULL);
    const json_t *part = part_of(batch);
    struct pleat_string text = {0};
    if (!part && wanted) {
        doctor_tell(
            doctor, DOCTOR_FAILED, subject_of(name, "partition"),
            "name another one in pleat.conf (partition of Slurm, queue of Grid Engine): one "
            "that you may not use may be hidden",
            "%s shows you no '%s'", pleat_reply_text(batch, "title", ""), wanted);
        return;
    }
    if (!part) /* Grid Engine looks for a queue itself */
        return;
    add_limit(&text, part, "cpus", "processors: ");
    add_limit(&text, part, "node_count", "nodes: ");
    add_limit(&text, part, "max_minutes", "minutes at most: ");
    add_limit(&text, part, "default_minutes", "minutes if none are said: ");
    add_limit(&text, part, "max_nodes", "nodes of a job at most: ");
    add_who(&text, part, "accounts");
    add_who(&text, part, "groups");
    add_who(&text, part, "qos");
    bool up = pleat_reply_true(part, "up");
    doctor_tell(doctor, up ? DOCTOR_OK : DOCTOR_WARNING, subject_of(name, "partition"),
                up ? NULL : "name another one in pleat.conf, or wait", "%s is %s%s%s",
                pleat_reply_text(part, "name", "?"), up ? "up" : "down",
                pleat_reply_true(part, "exclusive") ? ", gives whole nodes only" : "",
                text.text ? text.text : "");
    pleat_string_finish(&text);
}

static void tell_of_user(struct doctor *doctor, const char *name, const json_t *batch)
{
    const char *subject = subject_of(name, "submitting");
    const char *title = pleat_reply_text(batch, "title", "");
    if (!json_is_boolean(json_object_get(batch, "may")))
        doctor_tell(doctor, DOCTOR_UNCHECKED, subject, "try again in a moment",
                    "%s was not asked yet whether you may submit", title);
    else if (pleat_reply_true(batch, "may"))
        doctor_tell(doctor, DOCTOR_OK, subject, NULL,
                    "%s would take a job of one processor of yours", title);
    else
        doctor_tell(doctor, DOCTOR_FAILED, subject,
                    "see the site's account, partition, qos and limits in pleat.conf, or ask the "
                    "cluster's administrator",
                    "%s would not take a job of yours: %s", title,
                    pleat_reply_text(batch, "refusal", ""));
}

/* Whether agents on its nodes reach pleatd, and share its home, only an allocation shows. */
static void tell_of_agents(struct doctor *doctor, const char *name, const json_t *site,
                           const json_t *batch)
{
    const char *subject = subject_of(name, "agents");
    const char *trouble = pleat_reply_text(batch, "agent_trouble", NULL);
    const char *where = pleat_reply_text(site, "agents_call", "");
    int64_t agents = pleat_reply_int(batch, "agents", 0);
    if (!strncmp(where, "127.", 4) || !strncmp(where, "localhost:", 10))
        doctor_tell(doctor, DOCTOR_FAILED, subject,
                    "set agent_listen and agent_host in pleat.conf to an address of this host",
                    "agents would be told to call %s, which on their nodes is another host", where);
    else if (trouble)
        doctor_tell(doctor, agents > 0 ? DOCTOR_WARNING : DOCTOR_FAILED, subject,
                    "does that node share this directory, does it reach this host? See 'pleat "
                    "events' and pleatd.log",
                    "an allocation was given back unused: %s", trouble);
    else if (agents > 0)
        doctor_tell(doctor, DOCTOR_OK, subject, NULL,
                    "%" PRId64 " agents have called %s since pleatd started", agents, where);
    else
        doctor_tell(doctor, DOCTOR_UNCHECKED, subject,
                    "'pleat run --site SITE hostname' tries it: the home must be "
                    "shared, and that address be reached",
                    "no agent was started there yet; it would call %s", where);
}

static void tell_of_batch(struct doctor *doctor, const json_t *site, const json_t *batch)
{
    const char *name = pleat_reply_text(site, "name", "?");
    const char *title = pleat_reply_text(batch, "title", "");
    const char *trouble = pleat_reply_text(batch, "trouble", "nothing was heard of it yet");
    if (!pleat_reply_true(batch, "adapter")) {
        doctor_tell(doctor, DOCTOR_FAILED, subject_of(name, "adapter"),
                    "is Pleat installed as a whole, and the cluster's configuration there? See "
                    "pleatd.log",
                    "the program that speaks with %s does not run: %s", title, trouble);
        return;
    }
    doctor_tell(doctor, DOCTOR_OK, subject_of(name, "adapter"), NULL,
                "the program that speaks with %s runs", title);
    if (!pleat_reply_true(batch, "answers"))
        doctor_tell(doctor, DOCTOR_FAILED, subject_of(name, "controller"),
                    "is the cluster up, and its controller reached from this host? Jobs wait until "
                    "it answers",
                    "%s does not answer: %s", title, trouble);
    else
        doctor_tell(doctor, DOCTOR_OK, subject_of(name, "controller"), NULL,
                    "%s answers: cluster %s, version %s", title,
                    pleat_reply_text(batch, "cluster", "?"),
                    pleat_reply_text(batch, "version", "?"));
    if (json_array_size(pleat_reply_array(batch, "partitions")) > 0) {
        tell_of_part(doctor, name, batch);
        tell_of_user(doctor, name, batch);
    }
    tell_of_agents(doctor, name, site, batch);
}

void doctor_batch(struct doctor *doctor)
{
    struct pleat_error err = {0};
    json_t *answer = NULL;
    size_t i;
    const json_t *site;
    bool any = false;
    int rc = doctor_ask(doctor, "nodes", &answer, &err);
    json_array_foreach(pleat_reply_array(answer, "sites"), i, site)
    {
        const json_t *batch = json_object_get(site, "batch");
        any = any || json_is_object(batch);
        if (json_is_object(batch))
            tell_of_batch(doctor, site, batch);
    }
    if (rc)
        doctor_tell(doctor, DOCTOR_UNCHECKED, NULL, "see the check 'pleatd'",
                    "no pleatd told of its sites");
    else if (!any)
        doctor_tell(doctor, DOCTOR_OK, NULL, NULL, "no site is a cluster with a batch system");
    json_decref(answer);
}
