/* history_rows.c - what jobs used, by job, size, resize, name or day. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/common/reply.h"
#include "cli/jobs/history.h"
#include "cli/jobs/jobs.h"

static const struct pleat_history_column by_job[] = {
    {"job", "JOB", PLEAT_HISTORY_COUNT},
    {"name", "NAME", PLEAT_HISTORY_TEXT},
    {"state", "STATE", PLEAT_HISTORY_TEXT},
    {"kind", NULL, PLEAT_HISTORY_TEXT},
    {"submit_s", "SUBMITTED", PLEAT_HISTORY_MOMENT},
    {"start_s", NULL, PLEAT_HISTORY_MOMENT},
    {"end_s", NULL, PLEAT_HISTORY_MOMENT},
    {"wait_s", "WAIT", PLEAT_HISTORY_SPAN},
    {"run_s", "RUN", PLEAT_HISTORY_SPAN},
    {"processor_s", "PROCESSORS", PLEAT_HISTORY_WORK},
    {"mean_processors", NULL, PLEAT_HISTORY_SHARE},
    {"resizes", "RESIZES", PLEAT_HISTORY_COUNT},
    {"resize_s", "STOOD", PLEAT_HISTORY_SPAN},
    {"cpu_s", "CPU", PLEAT_HISTORY_SPAN},
    {"memory_kb", "MEMORY", PLEAT_HISTORY_MEMORY},
    {"requests", NULL, PLEAT_HISTORY_COUNT},
    {"satisfied", NULL, PLEAT_HISTORY_COUNT},
    {"satisfaction", "S", PLEAT_HISTORY_PART},
    {"waste", "W", PLEAT_HISTORY_PART},
    {"max_rss_kb", NULL, PLEAT_HISTORY_MEMORY},
    {"attempt", NULL, PLEAT_HISTORY_COUNT},
    {"exit_code", NULL, PLEAT_HISTORY_COUNT},
    {"ending", "ENDED", PLEAT_HISTORY_TEXT},
    {NULL, NULL, PLEAT_HISTORY_TEXT}};
static const struct pleat_history_column by_size[] = {
    {"size", "SIZE", PLEAT_HISTORY_COUNT},   {"jobs", "JOBS", PLEAT_HISTORY_COUNT},
    {"seconds", "TIME", PLEAT_HISTORY_SPAN}, {"processor_s", "PROCESSORS", PLEAT_HISTORY_WORK},
    {"share", "SHARE", PLEAT_HISTORY_SHARE}, {NULL, NULL, PLEAT_HISTORY_TEXT}};
static const struct pleat_history_column by_resize[] = {
    {"resize", "RESIZE", PLEAT_HISTORY_TEXT},
    {"by", "BY", PLEAT_HISTORY_TEXT},
    {"outcome", "OUTCOME", PLEAT_HISTORY_TEXT},
    {"count", "COUNT", PLEAT_HISTORY_COUNT},
    {"jobs", "JOBS", PLEAT_HISTORY_COUNT},
    {"seconds", "TIME", PLEAT_HISTORY_SPAN},
    {"processor_s", "PROCESSORS", PLEAT_HISTORY_WORK},
    {NULL, NULL, PLEAT_HISTORY_TEXT}};
/* the columns of a group of jobs, whatever they are grouped by */
#define OF_A_GROUP                                                                                 \
    {"jobs", "JOBS", PLEAT_HISTORY_COUNT}, {"succeeded", "WELL", PLEAT_HISTORY_COUNT},             \
        {"wait_s", "WAIT", PLEAT_HISTORY_SPAN}, {"run_s", "RUN", PLEAT_HISTORY_SPAN},              \
        {"processor_s", "PROCESSORS", PLEAT_HISTORY_WORK},                                         \
        {"resizes", "RESIZES", PLEAT_HISTORY_COUNT}, {"resize_s", "STOOD", PLEAT_HISTORY_SPAN},    \
        {"requests", NULL, PLEAT_HISTORY_COUNT}, {"satisfied", NULL, PLEAT_HISTORY_COUNT},         \
        {"satisfaction", "S", PLEAT_HISTORY_PART}, {"waste", "W", PLEAT_HISTORY_PART},             \
    {                                                                                              \
        NULL, NULL, PLEAT_HISTORY_TEXT                                                             \
    }
static const struct pleat_history_column by_group[] = {{"name", "NAME", PLEAT_HISTORY_TEXT},
                                                       OF_A_GROUP};
static const struct pleat_history_column by_day[] = {{"day", "DAY", PLEAT_HISTORY_TEXT},
                                                     OF_A_GROUP};
const struct pleat_history_column pleat_history_resize_columns[] = {
    {"begun_s", "AT", PLEAT_HISTORY_MOMENT},
    {"from", "FROM", PLEAT_HISTORY_COUNT},
    {"to", "TO", PLEAT_HISTORY_COUNT},
    {"by", "BY", PLEAT_HISTORY_TEXT},
    {"outcome", "OUTCOME", PLEAT_HISTORY_TEXT},
    {"seconds", "TIME", PLEAT_HISTORY_SPAN},
    {"processor_s", "PROCESSORS", PLEAT_HISTORY_WORK},
    {NULL, NULL, PLEAT_HISTORY_TEXT}};

const char *const pleat_history_states[] = {
    "queued", "claiming", "running", "resizing", "finishing", "done", "failed", "cancelled", NULL};

const char *pleat_history_by_name(enum pleat_history_by by)
{
    static const char *const names[] = {"job", "size", "resize", "name", "day"};
    return by < PLEAT_BY_COUNT ? names[by] : "?";
}

const struct pleat_history_column *pleat_history_columns(enum pleat_history_by by)
{
    static const struct pleat_history_column *const all[] = {by_job, by_size, by_resize, by_group,
                                                             by_day};
    return all[by];
}

/* ---- sums ---- */

static double number_of(const json_t *object, const char *member)
{
    double value = pleat_reply_real(object, member);
    return isfinite(value) ? value : 0;
}

static void add(json_t *row, const char *member, double value)
{
    json_object_set_new(row, member, json_real(number_of(row, member) + value));
}

static void count(json_t *row, const char *member, int64_t value)
{
    json_object_set_new(row, member, json_integer(pleat_reply_int(row, member, 0) + value));
}

/* The row with this key, found in `index`. A new row is appended. */
static json_t *row_of(json_t *rows, json_t *index, const char *key)
{
    json_t *row = json_object_get(index, key);
    if (row)
        return row;
    row = json_object();
    json_object_set(index, key, row);
    json_array_append_new(rows, row);
    return row;
}

static int64_t resizes_of(const json_t *job)
{
    return (int64_t)json_array_size(pleat_reply_array(job, "resizes"));
}

json_t *pleat_history_totals(const json_t *jobs)
{
    static const char *const sums[] = {"processor_s", "resize_s", "cpu_s", "wait_s"};
    json_t *totals = json_object(), *job;
    size_t i;
    count(totals, "jobs", (int64_t)json_array_size(jobs));
    count(totals, "resizes", 0);
    for (size_t s = 0; s < sizeof(sums) / sizeof(sums[0]); s++)
        add(totals, sums[s], 0);
    json_array_foreach(jobs, i, job)
    {
        count(totals, "resizes", resizes_of(job));
        for (size_t s = 0; s < sizeof(sums) / sizeof(sums[0]); s++)
            add(totals, sums[s], number_of(job, sums[s]));
    }
    return totals;
}

/* ---- rows ---- */

static json_t *job_row(const json_t *job)
{
    static const char *const same[] = {"job",      "name",        "state",     "kind",
                                       "submit_s", "start_s",     "end_s",     "wait_s",
                                       "run_s",    "processor_s", "resize_s",  "cpu_s",
                                       "attempt",  "exit_code",   "memory_kb", "max_rss_kb"};
    struct pleat_string ending = {0};
    json_t *row = json_object();
    double run_s = pleat_reply_real(job, "run_s");
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        json_object_set(row, same[i], json_object_get(job, same[i]));
    static const char *const of_buffer[] = {"requests", "satisfied", "satisfaction", "waste"};
    for (size_t i = 0; i < sizeof(of_buffer) / sizeof(of_buffer[0]); i++)
        json_object_set(row, of_buffer[i],
                        json_object_get(json_object_get(job, "buffer"), of_buffer[i]));
    count(row, "resizes", resizes_of(job));
    json_object_set_new(row, "mean_processors",
                        run_s > 0 ? json_real(number_of(job, "processor_s") / run_s) : json_null());
    pleat_job_add_ending(job, &ending);
    json_object_set_new(row, "ending", json_string(ending.text ? ending.text : "-"));
    pleat_string_finish(&ending);
    return row;
}

static void add_sizes(const json_t *job, json_t *rows, json_t *index)
{
    size_t i;
    json_t *size;
    char key[32];
    json_array_foreach(pleat_reply_array(job, "sizes"), i, size)
    {
        long long processors = (long long)pleat_reply_int(size, "processors", 0);
        snprintf(key, sizeof(key), "%lld", processors);
        json_t *row = row_of(rows, index, key);
        json_object_set_new(row, "size", json_integer(processors));
        count(row, "jobs", 1);
        add(row, "seconds", number_of(size, "seconds"));
        add(row, "processor_s", number_of(size, "processor_s"));
    }
}

static void add_resizes(const json_t *job, json_t *rows, json_t *index)
{
    size_t i;
    json_t *resize;
    char key[128];
    json_t *seen = json_object();
    json_array_foreach(pleat_reply_array(job, "resizes"), i, resize)
    {
        bool grows = pleat_reply_int(resize, "to", 0) > pleat_reply_int(resize, "from", 0);
        const char *by = pleat_reply_text(resize, "by", "?");
        const char *outcome = pleat_reply_text(resize, "outcome", "under way");
        snprintf(key, sizeof(key), "%d %.40s %.60s", grows, by, outcome);
        json_t *row = row_of(rows, index, key);
        json_object_set_new(row, "resize", json_string(grows ? "grow" : "shrink"));
        json_object_set_new(row, "by", json_string(by));
        json_object_set_new(row, "outcome", json_string(outcome));
        count(row, "count", 1);
        count(row, "jobs", !json_object_get(seen, key));
        json_object_set_new(seen, key, json_true());
        add(row, "seconds", number_of(resize, "seconds"));
        add(row, "processor_s", number_of(resize, "processor_s"));
    }
    json_decref(seen);
}

/* Adds what an evolving job asked for: S over all requests of the group, W over its processor time.
 */
static void add_buffer(json_t *row, const json_t *job)
{
    const json_t *buffer = json_object_get(job, "buffer");
    if (!json_is_object(buffer))
        return;
    count(row, "requests", pleat_reply_int(buffer, "requests", 0));
    count(row, "satisfied", pleat_reply_int(buffer, "satisfied", 0));
    double held_s = number_of(row, "held_s"), more_s = number_of(buffer, "held_s");
    double waited_s = number_of(row, "waste") * held_s + number_of(buffer, "waste") * more_s;
    add(row, "held_s", more_s);
    double requests = number_of(row, "requests");
    json_object_set_new(row, "satisfaction",
                        requests > 0 ? json_real(number_of(row, "satisfied") / requests)
                                     : json_null());
    json_object_set_new(
        row, "waste", held_s + more_s > 0 ? json_real(waited_s / (held_s + more_s)) : json_null());
}

/* Adds a job to the row of its name or day. Waits and run times are means, all else are sums. */
static void add_to_group(const json_t *job, const char *member, const char *key, json_t *rows,
                         json_t *index)
{
    json_t *row = row_of(rows, index, key);
    json_object_set_new(row, member, json_string(key));
    count(row, "jobs", 1);
    count(row, "succeeded", pleat_job_succeeded(job));
    count(row, "resizes", resizes_of(job));
    double before = (double)pleat_reply_int(row, "jobs", 1) - 1;
    json_object_set_new(
        row, "wait_s",
        json_real((number_of(row, "wait_s") * before + number_of(job, "wait_s")) / (before + 1)));
    json_object_set_new(
        row, "run_s",
        json_real((number_of(row, "run_s") * before + number_of(job, "run_s")) / (before + 1)));
    add(row, "processor_s", number_of(job, "processor_s"));
    add(row, "resize_s", number_of(job, "resize_s"));
    add_buffer(row, job);
}

static void day_of(const json_t *job, char *day, size_t size)
{
    double submit_s = pleat_reply_real(job, "submit_s");
    time_t then = isfinite(submit_s) && fabs(submit_s) < 1e11 ? (time_t)submit_s : 0;
    struct tm tm;
    if (!localtime_r(&then, &tm) || !strftime(day, size, "%Y-%m-%d", &tm))
        snprintf(day, size, "?");
}

/* Adds to each row its share of the total. */
static void add_shares(json_t *rows)
{
    size_t i;
    json_t *row;
    double all = 0;
    json_array_foreach(rows, i, row) all += number_of(row, "processor_s");
    json_array_foreach(rows, i, row) json_object_set_new(
        row, "share", all > 0 ? json_real(number_of(row, "processor_s") / all) : json_null());
}

/* The rows in the order of sizes. There are few different sizes. */
static json_t *sorted_by_size(json_t *rows)
{
    json_t *sorted = json_array(), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        size_t at = json_array_size(sorted);
        while (at > 0 && pleat_reply_int(json_array_get(sorted, at - 1), "size", 0) >
                             pleat_reply_int(row, "size", 0))
            at--;
        json_array_insert(sorted, at, row);
    }
    json_decref(rows);
    return sorted;
}

json_t *pleat_history_rows(const json_t *jobs, enum pleat_history_by by)
{
    json_t *rows = json_array(), *index = json_object(), *job;
    size_t i;
    char day[32];
    json_array_foreach(jobs, i, job)
    {
        if (by == PLEAT_BY_JOB)
            json_array_append_new(rows, job_row(job));
        else if (by == PLEAT_BY_SIZE)
            add_sizes(job, rows, index);
        else if (by == PLEAT_BY_RESIZE)
            add_resizes(job, rows, index);
        else if (by == PLEAT_BY_NAME)
            add_to_group(job, "name", pleat_reply_text(job, "name", ""), rows, index);
        else {
            day_of(job, day, sizeof(day));
            add_to_group(job, "day", day, rows, index);
        }
    }
    json_decref(index);
    if (by == PLEAT_BY_SIZE) {
        rows = sorted_by_size(rows);
        add_shares(rows);
    }
    return rows;
}

json_t *pleat_history_sizes(const json_t *job)
{
    json_t *one = json_pack("[O]", job);
    json_t *rows = pleat_history_rows(one, PLEAT_BY_SIZE);
    json_decref(one);
    return rows;
}

json_t *pleat_history_resizes(const json_t *job)
{
    json_t *resizes = pleat_reply_array(job, "resizes");
    return resizes ? json_copy(resizes) : json_array();
}
