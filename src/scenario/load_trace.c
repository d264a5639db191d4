#include "scenario/load_trace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "workload/swf.h"

static int add_point(const char *path, int number, const char *line,
                     struct pleat_load_points *trace, struct pleat_error *err)
{
    double seconds;
    long processors;
    char rest;
    int fields = sscanf(line, "%lf %ld %c", &seconds, &processors, &rest);
    if (fields != 2 || !(seconds >= 0 && seconds <= 1e10) || processors < 0 ||
        processors > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s:%d: not 'SECONDS PROCESSORS', both from 0 on", path, number);
    struct pleat_load_point point = {.at_us = llround(seconds * (double)PLEAT_US_PER_S),
                                     .processors = (int32_t)processors};
    if (trace->count && trace->items[trace->count - 1].at_us >= point.at_us)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s:%d: earlier than the line before", path,
                               number);
    if (pleat_array_push(trace, point))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return 0;
}

static int read_trace(const char *path, struct pleat_load_points *trace, struct pleat_error *err)
{
    char *line = NULL;
    size_t size = 0;
    int rc = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "%s: cannot be read: %s", path,
                               strerror(errno));
    for (int number = 1; !rc && getline(&line, &size, file) >= 0; number++) {
        line[strcspn(line, "#;\r\n")] = '\0';
        if (line[strspn(line, " \t")])
            rc = add_point(path, number, line, trace, err);
    }
    if (!rc && ferror(file))
        rc = pleat_error_set(err, PLEAT_E_NOTFOUND, "%s: cannot be read", path);
    if (!rc && trace->count == 0)
        rc = pleat_error_set(err, PLEAT_E_INVALID, "%s: the file has no line 'SECONDS PROCESSORS'",
                             path);
    free(line);
    fclose(file);
    return rc;
}

/* The path of a file that is named in the file `beside`. */
static struct pleat_string path_of(const char *beside, const char *name)
{
    struct pleat_string path = {0};
    const char *slash = strrchr(beside, '/');
    if (slash && *name != '/')
        pleat_string_add_bytes(&path, beside, (size_t)(slash - beside) + 1);
    pleat_string_add(&path, name);
    return path;
}

static int add_job(const char *path, const struct pleat_workload_job *job,
                   struct pleat_sim_site *site, struct pleat_error *err)
{
    int32_t most = site->nodes * site->slots;
    int64_t limit_us = job->estimate_us > 0 ? job->estimate_us : job->run_us;
    struct pleat_other_job other = {.submit_us = job->submit_us,
                                    .run_us = job->run_us,
                                    .limit_us = limit_us > 0 ? limit_us : 1,
                                    .processors = job->processors};
    if (job->processors > most)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: job %lld has %d processors, and site %s only %d: give the site "
                               "more, or leave the job out",
                               path, (long long)job->number, job->processors, site->name, most);
    return pleat_array_push(&site->others, other)
               ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
               : 0;
}

int pleat_load_log_read(const char *beside, const char *name, struct pleat_sim_site *site,
                        struct pleat_error *err)
{
    const struct pleat_swf_options options = {.zero = PLEAT_SWF_ZERO_SKIP};
    struct pleat_workload workload = {0};
    struct pleat_string path = path_of(beside, name);
    int rc = path.failed || pleat_workload_init(&workload)
                 ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                 : pleat_swf_read(path.text, &options, &workload, NULL, err);
    for (size_t i = 0; !rc && i < workload.jobs.count; i++)
        rc = add_job(path.text, &workload.jobs.items[i], site, err);
    pleat_workload_finish(&workload);
    pleat_string_finish(&path);
    return rc;
}

int pleat_load_trace_read(const char *beside, const char *name, struct pleat_load_points *trace,
                          struct pleat_error *err)
{
    struct pleat_string path = path_of(beside, name);
    int rc = path.failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                         : read_trace(path.text, trace, err);
    pleat_string_finish(&path);
    return rc;
}
