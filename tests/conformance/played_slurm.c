#include "played_slurm.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/reply.h"

enum { AFTER_US = 100 };

/* Takes the message over. */
static void say(struct played_slurm *slurm, json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);
    assert_non_null(text);
    played_helper_says(slurm->helper, text, AFTER_US);
    free(text);
    json_decref(message);
}

static json_t *job_json(const struct played_slurm *slurm, int number)
{
    const struct played_slurm_job *job = &slurm->jobs[number - 1];
    json_t *nodes = json_array();
    const int32_t *on = job->over ? job->was_on : job->on;
    for (int h = slurm->hosts; (job->runs || job->over) && h-- > 0;) { /* in any order */
        char name[16];
        snprintf(name, sizeof(name), "n%d", h + 1);
        if (on[h])
            json_array_append_new(nodes, json_pack("{sssi}", "name", name, "cpus", on[h]));
    }
    return json_pack("{sissssssso}", "job", number, "name", job->name, "state",
                     job->over   ? "ending"
                     : job->runs ? "running"
                                 : "pending",
                     "reason",
                     job->over   ? "COMPLETING"
                     : job->runs ? ""
                                 : "Resources",
                     "nodes", nodes);
}

static void notice(struct played_slurm *slurm, const char *method, json_t *params)
{
    say(slurm, json_pack("{ssso}", "method", method, "params", params));
}

static void give(struct played_slurm *slurm, struct played_slurm_job *job, int host, int32_t count)
{
    job->on[host] += count;
    slurm->free_on[host] -= count;
    slurm->free -= count;
    job->runs = true;
}

/* On one host if one has room; else, unless it must be on one, on several. */
static bool place(struct played_slurm *slurm, struct played_slurm_job *job)
{
    int32_t left = job->processors;
    for (int h = 0; h < slurm->hosts; h++) {
        if (slurm->free_on[h] < left)
            continue;
        give(slurm, job, h, left);
        return true;
    }
    if (job->one_host || left > slurm->free)
        return false;
    for (int h = 0; left > 0; h++) {
        int32_t count = slurm->free_on[h] < left ? slurm->free_on[h] : left;
        left -= count;
        give(slurm, job, h, count);
    }
    return true;
}

/* Gives free processors to waiting jobs, in their order. */
static void schedule(struct played_slurm *slurm, bool tells)
{
    for (int i = 0; i < slurm->count; i++) {
        struct played_slurm_job *job = &slurm->jobs[i];
        if (job->runs || job->over)
            continue;
        if (!place(slurm, job))
            return;
        if (tells)
            notice(slurm, "granted", job_json(slurm, i + 1));
    }
}

static bool end(struct played_slurm *slurm, int number)
{
    struct played_slurm_job *job = &slurm->jobs[number - 1];
    if (number < 1 || number > slurm->count || job->over)
        return false;
    for (int h = 0; h < slurm->hosts; h++) {
        slurm->free_on[h] += job->on[h];
        slurm->free += job->on[h];
        job->was_on[h] = job->on[h];
        job->on[h] = 0;
    }
    job->over = true;
    job->runs = false;
    return true;
}

static json_t *allocate(struct played_slurm *slurm, const json_t *params)
{
    assert_true(slurm->count < PLAYED_SLURM_JOBS);
    struct played_slurm_job *job = &slurm->jobs[slurm->count++];
    snprintf(job->name, sizeof(job->name), "%.100s.%08x", pleat_reply_text(params, "name", ""),
             (unsigned)slurm->count);
    job->processors = (int32_t)pleat_reply_int(params, "count", 0);
    snprintf(job->near, sizeof(job->near), "%s", pleat_reply_text(params, "near", ""));
    job->one_host = pleat_reply_int(params, "nodes", 0) == 1;
    assert_true(job->one_host != pleat_reply_true(params, "few"));
    schedule(slurm, false);
    return job_json(slurm, slurm->count);
}

static json_t *jobs_json(const struct played_slurm *slurm, const char *prefix)
{
    json_t *jobs = json_array();
    for (int i = 0; i < slurm->count; i++)
        if ((slurm->lingers || !slurm->jobs[i].over) &&
            !strncmp(slurm->jobs[i].name, prefix, strlen(prefix)))
            json_array_append_new(jobs, job_json(slurm, i + 1));
    return json_pack("{so}", "jobs", jobs);
}

static json_t *nodes_json(const struct played_slurm *slurm, const json_t *params)
{
    json_t *nodes = json_array();
    int first = (int)pleat_reply_int(params, "from", 0);
    int end =
        slurm->page > 0 && slurm->page < slurm->hosts - first ? first + slurm->page : slurm->hosts;
    for (int h = first; h < end; h++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", h + 1);
        int32_t cpus = slurm->processors / slurm->hosts;
        json_array_append_new(nodes, json_pack("{sssisiss}", "name", name, "cpus", cpus, "used",
                                               cpus - slurm->free_on[h] + slurm->others_on[h],
                                               "state", "used"));
    }
    return end < slurm->hosts ? json_pack("{sosi}", "nodes", nodes, "next", end)
                              : json_pack("{so}", "nodes", nodes);
}

static json_t *answer(struct played_slurm *slurm, const char *method, const json_t *params)
{
    if (!strcmp(method, "allocate"))
        return allocate(slurm, params);
    if (!strcmp(method, "release"))
        return json_pack("{sb}", "was_gone", !end(slurm, (int)pleat_reply_int(params, "job", 0)));
    if (!strcmp(method, "jobs"))
        return jobs_json(slurm, pleat_reply_text(params, "prefix", ""));
    if (!strcmp(method, "run"))
        return json_pack("{si}", "pid", 1);
    if (!strcmp(method, "nodes"))
        return nodes_json(slurm, params);
    if (!strcmp(method, "check"))
        return json_object();
    if (!strcmp(method, "accounts"))
        return json_pack("{s[{sssb}]}", "accounts", "account", "played", "default", 1);
    assert_string_equal(method, "cluster");
    return json_pack("{ss si s[{sssbsi}]}", "cluster", "played", "kill_wait_s",
                     PLAYED_SLURM_KILL_WAIT_S, "partitions", "name", "main", "default", 1, "cpus",
                     slurm->processors);
}

static void on_said(void *arg, struct pleat_helper *helper, const char *line)
{
    struct played_slurm *slurm = arg;
    json_t *message = json_loads(line, 0, NULL);
    const char *method = pleat_reply_text(message, "method", "");
    assert_non_null(message);
    slurm->helper = helper;
    slurm->queries++;
    if (!strcmp(method, "hello")) {
        notice(slurm, "hello",
               json_pack("{sissssss}", "protocol", 1, "version", "0", "role", slurm->role, "by",
                         "played"));
    } else {
        json_t *result = answer(slurm, method, json_object_get(message, "params"));
        say(slurm, json_pack("{sIso}", "id", (json_int_t)pleat_reply_int(message, "id", 0),
                             "result", result));
        if (!strcmp(method, "release"))
            schedule(slurm, true);
    }
    json_decref(message);
}

void played_slurm_init(struct played_slurm *slurm, int32_t processors, int hosts)
{
    memset(slurm, 0, sizeof(*slurm));
    slurm->processors = slurm->free = processors;
    slurm->hosts = hosts;
    for (int h = 0; h < hosts; h++)
        slurm->free_on[h] = processors / hosts;
    slurm->programs.said = on_said;
    slurm->programs.arg = slurm;
}

void played_slurm_end(struct played_slurm *slurm, int number)
{
    assert_true(end(slurm, number));
}

void played_slurm_tell_end(struct played_slurm *slurm, int number)
{
    notice(slurm, "ended",
           json_pack("{sissss}", "job", number, "name", slurm->jobs[number - 1].name, "why",
                     "CANCELLED"));
}

void played_slurm_cancel(struct played_slurm *slurm, int number)
{
    played_slurm_end(slurm, number);
    played_slurm_tell_end(slurm, number);
}

void played_slurm_begin_end(struct played_slurm *slurm, int number, const char *why)
{
    notice(slurm, "ending",
           json_pack("{sissss}", "job", number, "name", slurm->jobs[number - 1].name, "why", why));
}

void played_slurm_end_step(struct played_slurm *slurm, int number, int host)
{
    char name[16];
    snprintf(name, sizeof(name), "n%d", host + 1);
    notice(
        slurm, "run_ended",
        json_pack("{sisssisiss}", "job", number, "node", name, "code", 1, "signal", 0, "text", ""));
}
