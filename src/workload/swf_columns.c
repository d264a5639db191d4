/* swf_columns.c - Pleat's own columns, from the 19th on. */
#include <string.h>
#include <strings.h>

#include "workload/swf-internal.h"

struct column {
    const char *name;
    int64_t most; /* largest whole number; the least is 0; -1 stands for the default */
    bool time;    /* in seconds; kept in microseconds */
};

static const struct column columns[PLEAT_SWF_EXTRAS] = {
    [PLEAT_SWF_KIND] = {"kind", PLEAT_MALLEABLE, false},
    [PLEAT_SWF_MINIMUM] = {"minimum", PLEAT_SIZE_MAX, false},
    [PLEAT_SWF_MAXIMUM] = {"maximum", PLEAT_SIZE_MAX, false},
    [PLEAT_SWF_INITIAL] = {"initial", PLEAT_SIZE_MAX, false},
    [PLEAT_SWF_SIZES] = {"sizes", PLEAT_SIZES_LIST, false},
    [PLEAT_SWF_STEP] = {"step", PLEAT_SIZE_MAX, false},
    [PLEAT_SWF_PROCESSES] = {"processes", PLEAT_SIZE_MAX, false},
    [PLEAT_SWF_APP] = {"app", INT32_MAX, false},
    [PLEAT_SWF_SITE] = {"site", PLEAT_SITES_MAX - 1, false},
    [PLEAT_SWF_DEADLINE] = {"deadline", PLEAT_WORKLOAD_TIME_MAX / 1000000, true},
    [PLEAT_SWF_BEGIN] = {"begin", PLEAT_WORKLOAD_TIME_MAX / 1000000, true},
    [PLEAT_SWF_PRIORITY] = {"priority", INT16_MAX, false},
    [PLEAT_SWF_CLASS] = {"class", PLEAT_CLASS_LONG, false},
    [PLEAT_SWF_MPL] = {"mpl", UINT8_MAX, false},
    [PLEAT_SWF_PART] = {"part", PLEAT_PART_FOLLOWS | PLEAT_PART_FLEXIBLE, false},
};

const char *pleat_swf_extra_name(enum pleat_swf_extra extra)
{
    return columns[extra].name;
}

/* ---- layout ---- */

static int find_column(const char *name, size_t length)
{
    for (int i = 0; i < PLEAT_SWF_EXTRAS; i++) {
        if (strlen(columns[i].name) == length && !strncasecmp(columns[i].name, name, length))
            return i;
    }
    return -1;
}

static bool has_column(const struct pleat_swf_layout *layout, int column)
{
    for (int i = 0; i < layout->count; i++) {
        if ((int)layout->columns[i] == column)
            return true;
    }
    return false;
}

int pleat_swf_layout_parse(const char *at, const char *end, struct pleat_swf_layout *layout,
                           struct pleat_error *err)
{
    struct pleat_swf_layout read = {0};
    for (;;) {
        while (at < end && pleat_is_blank(*at))
            at++;
        if (at == end)
            break;
        const char *name = at;
        while (at < end && !pleat_is_blank(*at))
            at++;
        int column = find_column(name, (size_t)(at - name));
        if (column < 0 || has_column(&read, column))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "Pleat-Columns: '%.*s' is %s; there can be kind, minimum, "
                                   "maximum, initial, sizes, step, processes, app, site, "
                                   "deadline, begin, priority, class, mpl, part, each once",
                                   at - name > 40 ? 40 : (int)(at - name), name,
                                   column < 0 ? "no column of Pleat's" : "there twice");
        read.columns[read.count++] = (enum pleat_swf_extra)column;
    }
    *layout = read;
    return 0;
}

void pleat_swf_layout_needed(const struct pleat_workload *workload, struct pleat_swf_layout *layout)
{
    bool needed[PLEAT_SWF_EXTRAS] = {false}, time;
    for (size_t i = 0; i < workload->jobs.count; i++) {
        const struct pleat_workload_job *job = &workload->jobs.items[i];
        struct pleat_workload_job plain = *job;
        pleat_swf_extras_default(&plain);
        for (int c = 0; c < PLEAT_SWF_EXTRAS; c++) {
            enum pleat_swf_extra extra = (enum pleat_swf_extra)c;
            needed[c] |=
                pleat_swf_extra_get(job, extra, &time) != pleat_swf_extra_get(&plain, extra, &time);
        }
    }
    layout->count = 0;
    for (int c = 0; c < PLEAT_SWF_EXTRAS; c++) {
        if (needed[c])
            layout->columns[layout->count++] = (enum pleat_swf_extra)c;
    }
}

/* ---- a job's ---- */

void pleat_swf_extras_default(struct pleat_workload_job *job)
{
    job->kind = PLEAT_RIGID;
    job->minimum = job->maximum = job->processors;
    job->initial = 0;
    job->sizes_kind = PLEAT_SIZES_ANY;
    job->sizes_parameter = 0;
    job->processes = 0;
    job->app = 0;
    job->site = PLEAT_NONE;
    job->deadline_us = job->begin_us = 0;
    job->priority = 0;
    job->job_class = PLEAT_CLASS_UNKNOWN;
    job->mpl_max = 0;
    job->part = 0;
}

/* Sets a value, which is in the column's range. */
static void set_extra(struct pleat_workload_job *job, enum pleat_swf_extra extra, int64_t value)
{
    switch (extra) {
    case PLEAT_SWF_KIND:
        job->kind = (uint8_t)value;
        break;
    case PLEAT_SWF_MINIMUM:
        job->minimum = (int32_t)value;
        break;
    case PLEAT_SWF_MAXIMUM:
        job->maximum = (int32_t)value;
        break;
    case PLEAT_SWF_INITIAL:
        job->initial = (int32_t)value;
        break;
    case PLEAT_SWF_SIZES:
        job->sizes_kind = (uint8_t)value;
        break;
    case PLEAT_SWF_STEP:
        job->sizes_parameter = (int32_t)value;
        break;
    case PLEAT_SWF_PROCESSES:
        job->processes = (int32_t)value;
        break;
    case PLEAT_SWF_APP:
        job->app = (uint32_t)value;
        break;
    case PLEAT_SWF_SITE:
        job->site = (uint32_t)value;
        break;
    case PLEAT_SWF_DEADLINE:
        job->deadline_us = value;
        break;
    case PLEAT_SWF_BEGIN:
        job->begin_us = value;
        break;
    case PLEAT_SWF_CLASS:
        job->job_class = (uint8_t)value;
        break;
    case PLEAT_SWF_MPL:
        job->mpl_max = (uint8_t)value;
        break;
    case PLEAT_SWF_PART:
        job->part = (uint8_t)value;
        break;
    default:
        job->priority = (int16_t)value;
        break;
    }
}

int64_t pleat_swf_extra_get(const struct pleat_workload_job *job, enum pleat_swf_extra extra,
                            bool *time)
{
    *time = columns[extra].time;
    switch (extra) {
    case PLEAT_SWF_KIND:
        return job->kind;
    case PLEAT_SWF_MINIMUM:
        return job->minimum;
    case PLEAT_SWF_MAXIMUM:
        return job->maximum;
    case PLEAT_SWF_INITIAL:
        return job->initial;
    case PLEAT_SWF_SIZES:
        return job->sizes_kind;
    case PLEAT_SWF_STEP:
        return job->sizes_parameter;
    case PLEAT_SWF_PROCESSES:
        return job->processes;
    case PLEAT_SWF_APP:
        return job->app;
    case PLEAT_SWF_SITE:
        return job->site == PLEAT_NONE ? -1 : (int64_t)job->site;
    case PLEAT_SWF_DEADLINE:
        return job->deadline_us;
    case PLEAT_SWF_BEGIN:
        return job->begin_us;
    case PLEAT_SWF_CLASS:
        return job->job_class;
    case PLEAT_SWF_MPL:
        return job->mpl_max;
    case PLEAT_SWF_PART:
        return job->part;
    default:
        return job->priority;
    }
}

int pleat_swf_extras_read(const char **at, const char *end, const struct pleat_swf_layout *layout,
                          struct pleat_workload_job *job, struct pleat_error *err)
{
    const char *p = *at;
    for (int i = 0; i < layout->count; i++) {
        enum pleat_swf_extra extra = layout->columns[i];
        const struct column *column = &columns[extra];
        int number = PLEAT_SWF_FIELDS + i + 1;
        struct pleat_decimal value;
        while (p < end && pleat_is_blank(*p))
            p++;
        const char *begin = p;
        if (p == end)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "only %d columns: column %d (%s) of Pleat-Columns is missing; "
                                   "complete the line, with -1 for what is usual, or put ';' in "
                                   "front of it to leave the job out",
                                   number - 1, number, column->name);
        if (!pleat_decimal_scan(&p, end, &value))
            return pleat_swf_bad_column(begin, end, number, column->name, "is not a number", err);
        bool signed_too = extra == PLEAT_SWF_PRIORITY;
        if (!signed_too && value.whole == -1 && value.micros == 0)
            continue;
        if (value.micros != 0 && !column->time)
            return pleat_swf_bad_column(begin, end, number, column->name, "is not a whole number",
                                        err);
        if (value.whole > column->most || value.whole < (signed_too ? -column->most : 0) ||
            value.micros < 0)
            return pleat_swf_bad_column(begin, end, number, column->name, "is not a possible value",
                                        err);
        set_extra(job, extra, column->time ? value.whole * 1000000 + value.micros : value.whole);
    }
    *at = p;
    return 0;
}
