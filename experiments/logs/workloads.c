/* workloads.c - the logs that are run, and the workloads that are generated. */
#include <stdio.h>
#include <string.h>

#include "experiments/logs/logs.h"
#include "workload/convert.h"
#include "workload/swf.h"

#define LITTLE 0.8 /* offered load below which a log is run more densely too */
#define DENSE 0.95

enum { GENERATED_JOBS = 3000, QUICK_JOBS = 200 };

static double offered_load(const struct pleat_workload *workload)
{
    const struct pleat_workload_jobs *jobs = &workload->jobs;
    double area = 0, span = 0;
    for (size_t i = 0; i < jobs->count; i++)
        area += (double)jobs->items[i].processors * (double)jobs->items[i].run_us;
    if (jobs->count > 0)
        span = (double)(jobs->items[jobs->count - 1].submit_us - jobs->items[0].submit_us);
    return span > 0 && workload->machine > 0 ? area / (workload->machine * span) : 0;
}

static int read_log(const char *path, size_t most, struct pleat_workload *workload,
                    struct pleat_error *err)
{
    const struct pleat_swf_options options = {.most = most};
    if (pleat_workload_init(workload))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the log");
    int rc = pleat_swf_read(path, &options, workload, NULL, err);
    if (!rc && (workload->jobs.count == 0 || workload->machine <= 0))
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "%s: %s; an experiment needs a log of a known machine", path,
                             workload->jobs.count == 0 ? "there is no job that can be run"
                                                       : "its header has no MaxProcs");
    return rc;
}

/* The name of a log: "NASA-iPSC-1993-3.1-cln" of ".../NASA-iPSC-1993-3.1-cln.swf". */
static void name_log(const char *path, const char *addition, struct logs_workload *log)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    snprintf(log->name, sizeof(log->name), "%.*s%s", length < 40 ? length : 40, name, addition);
}

/* Adds a log. `dense`: the offered load to which it is made denser; 0: as recorded. */
static int add_log(const struct pleat_study *study, const char *path, double dense,
                   struct logs_workloads *workloads, struct pleat_error *err)
{
    if (pleat_array_push(workloads, (struct logs_workload){.jobs = 0}))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the logs");
    struct logs_workload *log = &workloads->items[workloads->count - 1];
    name_log(path, dense > 0 ? ", denser" : "", log);
    int rc = read_log(path, study->quick ? QUICK_JOBS : 0, &log->recorded, err);
    if (rc)
        return rc;
    log->load = offered_load(&log->recorded);
    if (dense > 0) {
        pleat_workload_scale_load(&log->recorded, dense / log->load);
        log->load = dense;
    }
    return 0;
}

int logs_workloads_read(const struct pleat_study *study, struct logs_workloads *workloads,
                        struct pleat_error *err)
{
    static const double loads[] = {0.6, 0.8, 1.0};
    for (size_t i = 0; i < study->log_count; i++) {
        int rc = add_log(study, study->logs[i], 0, workloads, err);
        double load = rc ? 0 : workloads->items[workloads->count - 1].load;
        if (!rc && load > 0 && load < LITTLE && !study->quick)
            rc = add_log(study, study->logs[i], DENSE, workloads, err);
        if (rc)
            return rc;
    }
    for (size_t i = study->quick ? 2 : 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        struct logs_workload made = {.load = loads[i],
                                     .jobs = study->quick ? QUICK_JOBS : GENERATED_JOBS};
        snprintf(made.name, sizeof(made.name), "Lublin, load %.1f", loads[i]);
        if (pleat_array_push(workloads, made))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the workloads");
    }
    return 0;
}

void logs_workloads_finish(struct logs_workloads *workloads)
{
    for (size_t i = 0; i < workloads->count; i++)
        pleat_workload_finish(&workloads->items[i].recorded);
    pleat_array_finish(workloads);
}
