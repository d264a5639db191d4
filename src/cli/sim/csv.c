/* csv.c - writes results to files. They have temporary names until all are complete. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/csv_row.h"
#include "cli/sim/experiment.h"
#include "experiment/series.h"

struct pending {
    char *fresh, *path;
};

struct pleat_sim_csv {
    const struct pleat_sim_request *request;
    pthread_mutex_t lock; /* of `pending`: several threads add runs */
    PLEAT_ARRAY(, struct pending) pending;
    PLEAT_ARRAY(, char *) made; /* directories that were made */
    bool committed;
};

/* ---- directories ---- */

static int make_directory(struct pleat_sim_csv *csv, const char *path, struct pleat_error *err)
{
    if (mkdir(path, 0777) == 0) {
        char *copy = strdup(path);
        if (copy && !pleat_array_push(&csv->made, copy))
            return 0;
        free(copy);
        rmdir(path);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    if (errno == EEXIST)
        return 0; /* also where `path` is no directory: making a file in it will report that */
    return pleat_error_sys(err, errno, "cannot make the directory %s", path);
}

/* Makes a directory and its parents. */
static int make_directories(struct pleat_sim_csv *csv, char *path, struct pleat_error *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int rc = make_directory(csv, path, err);
        *slash = '/';
        if (rc)
            return rc;
    }
    return make_directory(csv, path, err);
}

static int check_writable(const char *directory, struct pleat_error *err)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/.pleat-%ld", directory, (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot write to the directory %s", directory);
    close(fd);
    unlink(path);
    return 0;
}

/* Appends the directory of the files of a run. */
static void add_directory(const struct pleat_sim_request *request,
                          const struct pleat_sim_combination *combination, uint64_t seed,
                          struct pleat_string *path)
{
    pleat_string_add(path, request->csv);
    if (*combination->directory)
        pleat_string_addf(path, "/%s", combination->directory);
    if (request->workload_count > 1)
        pleat_string_addf(path, "/workload-%" PRIu64, seed - request->seed + 1);
    else if (request->seeds > 1)
        pleat_string_addf(path, "/seed-%" PRIu64, seed);
}

static int prepare(struct pleat_sim_csv *csv, const struct pleat_sim_combination *combination,
                   uint64_t seed, struct pleat_error *err)
{
    struct pleat_string path = {0};
    add_directory(csv->request, combination, seed, &path);
    int rc = path.failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                         : make_directories(csv, path.text, err);
    if (!rc)
        rc = check_writable(path.text, err);
    pleat_string_finish(&path);
    return rc;
}

int pleat_sim_csv_open(struct pleat_sim_csv **csv, const struct pleat_sim_request *request,
                       struct pleat_error *err)
{
    struct pleat_sim_csv *fresh = calloc(1, sizeof(*fresh));
    int rc = 0;
    if (!fresh)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    fresh->request = request;
    pthread_mutex_init(&fresh->lock, NULL);
    if (!*request->csv)
        rc = pleat_error_set(err, PLEAT_E_INVALID, "--csv needs a directory");
    for (size_t i = 0; !rc && i < request->combinations.count; i++)
        for (size_t s = 0; !rc && s < request->seeds; s++)
            rc = prepare(fresh, &request->combinations.items[i], request->seed + s, err);
    if (!rc)
        rc = check_writable(request->csv, err);
    if (rc) {
        pleat_sim_csv_close(fresh);
        return rc;
    }
    *csv = fresh;
    return 0;
}

/* ---- files ---- */

/* Notes that a file is to be renamed. Takes both texts over. */
static int remember(struct pleat_sim_csv *csv, char *fresh, char *path)
{
    struct pending pending = {fresh, path};
    pthread_mutex_lock(&csv->lock);
    int rc = pleat_array_push(&csv->pending, pending);
    pthread_mutex_unlock(&csv->lock);
    return rc;
}

static FILE *begin(struct pleat_sim_csv *csv, const char *directory, const char *name,
                   struct pleat_error *err)
{
    struct pleat_string fresh = {0}, path = {0};
    pleat_string_addf(&fresh, "%s/.%s.%ld", directory, name, (long)getpid());
    pleat_string_addf(&path, "%s/%s", directory, name);
    if (fresh.failed || path.failed || remember(csv, fresh.text, path.text)) {
        pleat_string_finish(&fresh);
        pleat_string_finish(&path);
        pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        return NULL;
    }
    FILE *file = fopen(fresh.text, "we");
    if (!file)
        pleat_error_sys(err, errno, "cannot write %s", path.text);
    return file;
}

static int end(FILE *file, const char *directory, const char *name, struct pleat_error *err)
{
    bool failed = ferror(file);
    int reason = errno;
    if (fclose(file) && !failed) {
        failed = true;
        reason = errno;
    }
    return failed ? pleat_error_sys(err, reason, "cannot write %s/%s", directory, name) : 0;
}

static const char *site_name(const struct pleat_sim_csv *csv, uint32_t site)
{
    const struct pleat_sim_sites *sites = &csv->request->platform.sites;
    return site < sites->count ? sites->items[site].name : "";
}

static bool ran(const struct pleat_sim_outcome *outcome)
{
    return outcome->start_us != PLEAT_NEVER && outcome->end_us != PLEAT_NEVER;
}

static void put_job(const struct pleat_sim_csv *csv, FILE *file,
                    const struct pleat_workload_job *job, const struct pleat_sim_outcome *outcome)
{
    struct pleat_csv_row row = {.length = 0};
    double wait_s = (double)(outcome->start_us - outcome->submit_us) / 1e6;
    double run_s = (double)(outcome->end_us - outcome->start_us) / 1e6;
    pleat_csv_number(&row, job->number);
    pleat_csv_seconds(&row, outcome->submit_us);
    pleat_csv_seconds(&row, outcome->start_us);
    pleat_csv_seconds(&row, outcome->end_us);
    pleat_csv_number(&row, outcome->processors);
    pleat_csv_text(&row, site_name(csv, outcome->site));
    pleat_csv_seconds(&row, outcome->start_us - outcome->submit_us);
    pleat_csv_seconds(&row, outcome->end_us - outcome->submit_us);
    pleat_csv_real(&row, 9, pleat_bounded_slowdown(wait_s, run_s, PLEAT_SIM_TAU_S));
    pleat_csv_real(&row, 6, (double)outcome->average);
    pleat_csv_number(&row, outcome->grown);
    pleat_csv_number(&row, outcome->shrunk);
    pleat_csv_number(&row, outcome->restarts);
    pleat_csv_text(&row, pleat_sim_fate_name((enum pleat_sim_fate)outcome->fate));
    pleat_csv_text(&row, pleat_kind_name((enum pleat_job_kind)job->kind));
    pleat_csv_number(&row, job->user);
    pleat_csv_put(file, &row);
}

static int write_jobs(struct pleat_sim_csv *csv, const char *directory,
                      const struct pleat_workload *workload,
                      const struct pleat_sim_outcome *outcomes, struct pleat_error *err)
{
    FILE *file = begin(csv, directory, "jobs.csv", err);
    if (!file)
        return PLEAT_E_SYSTEM;
    fputs("job,submit_s,start_s,end_s,processors,site,wait_s,response_s,slowdown,"
          "average_processors,grown,shrunk,restarts,fate,kind,user\n",
          file);
    for (size_t i = 0; i < workload->jobs.count; i++)
        if (ran(&outcomes[i]))
            put_job(csv, file, &workload->jobs.items[i], &outcomes[i]);
    return end(file, directory, "jobs.csv", err);
}

static int write_skipped(struct pleat_sim_csv *csv, const char *directory,
                         const struct pleat_workload *workload,
                         const struct pleat_sim_outcome *outcomes, struct pleat_error *err)
{
    FILE *file = begin(csv, directory, "skipped.csv", err);
    if (!file)
        return PLEAT_E_SYSTEM;
    fputs("job,submit_s,minimum,processors,fate\n", file);
    for (size_t i = 0; i < workload->jobs.count; i++) {
        const struct pleat_workload_job *job = &workload->jobs.items[i];
        if (ran(&outcomes[i]))
            continue;
        struct pleat_csv_row row = {.length = 0};
        pleat_csv_number(&row, job->number);
        pleat_csv_seconds(&row, outcomes[i].submit_us);
        pleat_csv_number(&row, job->minimum);
        pleat_csv_number(&row, job->processors);
        pleat_csv_text(&row, pleat_sim_fate_name((enum pleat_sim_fate)outcomes[i].fate));
        pleat_csv_put(file, &row);
    }
    return end(file, directory, "skipped.csv", err);
}

/* ---- the time series ---- */

static void put_point(FILE *file, const struct pleat_series_point *point)
{
    struct pleat_csv_row row = {.length = 0};
    pleat_csv_seconds(&row, point->at_us);
    pleat_csv_number(&row, point->processors);
    pleat_csv_number(&row, point->running);
    pleat_csv_number(&row, point->queued);
    pleat_csv_number(&row, point->queued_processors);
    pleat_csv_put(file, &row);
}

static int write_series(struct pleat_sim_csv_run *files, const struct pleat_sim_outcome *outcomes,
                        const struct pleat_edges *used, struct pleat_error *err)
{
    struct pleat_series series = {0};
    if (pleat_series_make(files->workload, outcomes, used, &series))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for series.csv");
    FILE *file = begin(files->csv, files->directory.text, "series.csv", err);
    if (file)
        fputs("time_s,processors,running_jobs,queued_jobs,queued_processors\n", file);
    for (size_t i = 0; file && i < series.count; i++)
        put_point(file, &series.items[i]);
    pleat_array_finish(&series);
    return file ? end(file, files->directory.text, "series.csv", err) : PLEAT_E_SYSTEM;
}

int pleat_sim_csv_begin(struct pleat_sim_csv *csv, const struct pleat_sim_run *run,
                        const struct pleat_workload *workload, struct pleat_sim_csv_run *files,
                        struct pleat_error *err)
{
    *files = (struct pleat_sim_csv_run){.csv = csv, .workload = workload};
    add_directory(csv->request, run->combination, run->seed, &files->directory);
    if (files->directory.failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    files->resizes = begin(csv, files->directory.text, "resizes.csv", err);
    if (!files->resizes)
        return PLEAT_E_SYSTEM;
    fputs("job,time_s,decided_s,from,to,offered,mandatory,stood_s,site\n", files->resizes);
    return 0;
}

void pleat_sim_csv_change(struct pleat_sim_csv_run *files, const struct pleat_sim_change *change)
{
    struct pleat_csv_row row = {.length = 0};
    if (change->from == 0 || change->to == 0)
        return; /* the job started or ended, and did not change its size */
    pleat_csv_number(&row, files->workload->jobs.items[change->job].number);
    pleat_csv_seconds(&row, change->time_us);
    pleat_csv_seconds(&row, change->decided_us);
    pleat_csv_number(&row, change->from);
    pleat_csv_number(&row, change->to);
    pleat_csv_number(&row, change->offered);
    pleat_csv_number(&row, change->mandatory);
    pleat_csv_seconds(&row, change->stood_us);
    pleat_csv_text(&row, site_name(files->csv, change->site));
    pleat_csv_put(files->resizes, &row);
}

int pleat_sim_csv_end(struct pleat_sim_csv_run *files, const struct pleat_sim_outcome *outcomes,
                      const struct pleat_edges *used, struct pleat_error *err)
{
    FILE *resizes = files->resizes;
    files->resizes = NULL;
    int rc = end(resizes, files->directory.text, "resizes.csv", err);
    if (!rc)
        rc = write_jobs(files->csv, files->directory.text, files->workload, outcomes, err);
    if (!rc)
        rc = write_skipped(files->csv, files->directory.text, files->workload, outcomes, err);
    if (!rc)
        rc = write_series(files, outcomes, used, err);
    return rc;
}

void pleat_sim_csv_drop(struct pleat_sim_csv_run *files)
{
    if (files->resizes)
        fclose(files->resizes); /* the file is removed when the results are closed */
    pleat_string_finish(&files->directory);
    *files = (struct pleat_sim_csv_run){0};
}

int pleat_sim_csv_commit(struct pleat_sim_csv *csv, const json_t *summary, struct pleat_error *err)
{
    FILE *file = begin(csv, csv->request->csv, "summary.json", err);
    if (!file)
        return PLEAT_E_SYSTEM;
    bool dumped =
        json_dumpf(summary, file, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 || ferror(file);
    putc('\n', file);
    int rc = end(file, csv->request->csv, "summary.json", err);
    if (!rc && !dumped)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for summary.json");
    for (size_t i = 0; !rc && i < csv->pending.count; i++)
        if (rename(csv->pending.items[i].fresh, csv->pending.items[i].path))
            rc = pleat_error_sys(err, errno, "cannot write %s", csv->pending.items[i].path);
    csv->committed = !rc;
    return rc;
}

void pleat_sim_csv_close(struct pleat_sim_csv *csv)
{
    if (!csv)
        return;
    for (size_t i = 0; i < csv->pending.count; i++) {
        if (!csv->committed)
            unlink(csv->pending.items[i].fresh);
        free(csv->pending.items[i].fresh);
        free(csv->pending.items[i].path);
    }
    while (csv->made.count > 0) {
        char *path = csv->made.items[--csv->made.count];
        if (!csv->committed)
            rmdir(path);
        free(path);
    }
    pleat_array_finish(&csv->pending);
    pleat_array_finish(&csv->made);
    pthread_mutex_destroy(&csv->lock);
    free(csv);
}
