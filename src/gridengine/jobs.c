#include "gridengine/jobs.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gridengine/ask.h"
#include "gridengine/queue.h"
#include "gridengine/state.h"
#include "gridengine/xml.h"
#include "wire/message.h"
#include "wire/reply.h"

#define JOBS_MAX UINT32_C(9999999) /* numbers of jobs begin again after that */

static void replace(char *text, char from, char to)
{
    for (; *text; text++)
        if (*text == from)
            *text = to;
}

void pleat_gridengine_name_out(const char *name, char *out)
{
    snprintf(out, PLEAT_ADAPTER_NAME_MAX + 1, "%s", name);
    replace(out, ':', '=');
}

/* Undoes pleat_gridengine_name_out. Names of other jobs may change thereby, which does not
 * matter. */
static json_t *name_in(const char *name)
{
    char text[1024];
    snprintf(text, sizeof(text), "%s", name);
    replace(text, '=', ':');
    return pleat_json_text(text);
}

/* "2026-11-24T03:24:04", of this host's time zone; 0: none. */
static int64_t seconds_of(const char *text)
{
    struct tm time = {.tm_isdst = -1};
    if (sscanf(text, "%d-%d-%dT%d:%d:%d", &time.tm_year, &time.tm_mon, &time.tm_mday, &time.tm_hour,
               &time.tm_min, &time.tm_sec) != 6)
        return 0;
    time.tm_year -= 1900;
    time.tm_mon--;
    time_t seconds = mktime(&time);
    return seconds > 0 ? (int64_t)seconds : 0;
}

/* How much of a resource the job asked for; 0: nothing. */
static int64_t requested(const json_t *row, const char *resource)
{
    size_t i;
    const json_t *inner;
    int64_t number;
    json_array_foreach(pleat_xml_elements(row), i, inner)
    {
        if (pleat_xml_is(inner, "hard_request") &&
            !strcmp(pleat_xml_attribute(inner, "name"), resource) &&
            pleat_adapter_is_number(pleat_xml_own_text(inner), &number))
            return number;
    }
    return 0;
}

/* ---- nodes ---- */

/* The processors that the job has on the node of this row: a row for each, and one for where the
 * job itself is (MASTER), which is no processor. */
static void add_slot(json_t *job, const json_t *row)
{
    const char *at = strchr(pleat_xml_text(row, "queue_name"), '@');
    const char *host = at ? at + 1 : "";
    json_t *nodes = json_object_get(job, "nodes"), *node;
    int64_t more = strcmp(pleat_xml_text(row, "master"), "MASTER") != 0;
    size_t i;
    json_array_foreach(nodes, i, node)
    {
        if (!pleat_reply_is(node, "name", host))
            continue;
        json_object_set_new(node, "cpus", json_integer(pleat_reply_int(node, "cpus", 0) + more));
        return;
    }
    node = json_pack("{sI}", "cpus", (json_int_t)more);
    json_object_set_new(node, "name", pleat_json_text(host));
    json_array_append_new(nodes, node);
}

/* Where the job itself counts as one of its processors (job_is_first_task), that one is on its
 * first node; a job in no parallel environment has one row, with all of them. */
static void complete(json_t *job, const json_t *row)
{
    int64_t granted;
    if (!pleat_adapter_is_number(pleat_xml_text(row, "granted_pe"), &granted) &&
        !pleat_adapter_is_number(pleat_xml_text(row, "slots"), &granted))
        return;
    json_object_set_new(job, "granted", json_integer(granted));
}

static void settle(json_t *job)
{
    int64_t left = pleat_reply_int(job, "granted", 0);
    json_t *nodes = json_object_get(job, "nodes"), *node;
    size_t i;
    json_array_foreach(nodes, i, node) left -= pleat_reply_int(node, "cpus", 0);
    node = json_array_get(nodes, 0);
    if (node && left > 0)
        json_object_set_new(node, "cpus", json_integer(pleat_reply_int(node, "cpus", 0) + left));
    for (i = json_array_size(nodes); i-- > 0;)
        if (pleat_reply_int(json_array_get(nodes, i), "cpus", 0) == 0)
            json_array_remove(nodes, i); /* only the job itself is there */
    json_object_del(job, "granted");
}

static void set_times(json_t *job, const json_t *row)
{
    int64_t start = seconds_of(pleat_xml_text(row, "JAT_start_time")),
            limit = requested(row, "h_rt");
    if (start)
        json_object_set_new(job, "start", json_integer(start));
    if (start && limit)
        json_object_set_new(job, "end", json_integer(start + limit));
}

/* ---- jobs ---- */

static json_t *find(const json_t *jobs, int64_t number)
{
    size_t i;
    json_t *job;
    json_array_foreach(jobs, i, job)
    {
        if (pleat_reply_int(job, "job", 0) == number)
            return job;
    }
    return NULL;
}

/* It runs there, or is on its way. */
static bool has_nodes(const json_t *job)
{
    return pleat_reply_is(job, "state", "running") || pleat_reply_is(job, "state", "ending") ||
           (pleat_reply_is(job, "state", "pending") &&
            pleat_reply_is(job, "reason", PLEAT_GRIDENGINE_STARTING));
}

static json_t *make(const json_t *row, int64_t number)
{
    const char *reason;
    const char *state = pleat_gridengine_state(pleat_xml_text(row, "state"), &reason);
    json_t *job = json_pack("{sIsssss[]}", "job", (json_int_t)number, "state", state, "reason",
                            reason, "nodes");
    if (!job)
        abort();
    json_object_set_new(job, "name", name_in(pleat_xml_text(row, "JB_name")));
    if (has_nodes(job)) {
        if (!pleat_reply_is(job, "state", "ending"))
            set_times(job, row);
        complete(job, row);
    }
    return job;
}

static void take_row(json_t *jobs, const json_t *row)
{
    int64_t number;
    if (!pleat_xml_is(row, "job_list") || *pleat_xml_text(row, "tasks") ||
        !pleat_adapter_is_number(pleat_xml_text(row, "JB_job_number"), &number) || number < 1 ||
        number > JOBS_MAX)
        return; /* it cannot be one of Pleat's */
    json_t *job = find(jobs, number);
    if (!job) {
        job = make(row, number);
        json_array_append_new(jobs, job);
    }
    if (has_nodes(job))
        add_slot(job, row);
}

static int ask_own(json_t **root, struct pleat_error *err)
{
    char room[4096];
    struct passwd entry, *user = NULL;
    if (getpwuid_r(getuid(), &entry, room, sizeof(room), &user) || !user)
        return pleat_error_set(err, PLEAT_E_SYSTEM, "user %u has no name here", (unsigned)getuid());
    /* all options that a user or the cluster may have set otherwise (sge_qstat) */
    const char *const argv[] = {"qstat", "-xml", "-r", "-g",          "t",
                                "-s",    "prs",  "-u", user->pw_name, NULL};
    return pleat_gridengine_ask_xml(argv, root, err);
}

/* Rows are in two lists: those that run or are about to, and those that wait. */
json_t *pleat_gridengine_jobs_of(const json_t *root)
{
    json_t *jobs = json_array(), *job;
    size_t i, k;
    const json_t *list, *row;
    json_array_foreach(pleat_xml_elements(root), i, list)
    {
        json_array_foreach(pleat_xml_elements(list), k, row) take_row(jobs, row);
    }
    json_array_foreach(jobs, i, job) settle(job);
    return jobs;
}

int pleat_gridengine_jobs(json_t **jobs, struct pleat_error *err)
{
    json_t *root;
    int failure = ask_own(&root, err);
    if (failure)
        return failure;
    *jobs = pleat_gridengine_jobs_of(root);
    json_decref(root);
    failure = pleat_gridengine_say_why(*jobs, err);
    if (failure) {
        json_decref(*jobs);
        *jobs = NULL;
    }
    return failure;
}

int pleat_gridengine_has_job(uint32_t number, const char *name, bool *has, struct pleat_error *err)
{
    json_t *root, *jobs, *job;
    size_t i;
    int failure = ask_own(&root, err);
    if (failure)
        return failure;
    jobs = pleat_gridengine_jobs_of(root);
    *has = false;
    json_array_foreach(jobs, i, job)
    {
        *has = *has ||
               (pleat_reply_int(job, "job", 0) == number && pleat_reply_is(job, "name", name) &&
                !pleat_reply_is(job, "state", "ended") && !pleat_reply_is(job, "state", "ending"));
    }
    json_decref(jobs);
    json_decref(root);
    return 0;
}
