/* sim_csv.c - results as files: written under temporary names, renamed when all are whole. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/sim_experiment.h"

struct pending {
    char *fresh, *path;
};

struct pleat_sim_csv {
    const struct pleat_sim_request *request;
    pthread_mutex_t lock; /* of pending: runs are added from several threads */
    PLEAT_ARRAY(, struct pending) pending;
    PLEAT_ARRAY(, char *) made; /* directories that were not there before */
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
        return 0; /* also where it is no directory: said when a file is made in it */
    return pleat_error_sys(err, errno, "cannot make the directory %s", path);
}

/* With its parents. */
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

/* Where the files of a run go. */
static void add_directory(const struct pleat_sim_request *request,
                          const struct pleat_sim_combination *combination, uint64_t seed,
                          struct pleat_string *path)
{
    pleat_string_add(path, request->csv);
    if (*combination->directory)
        pleat_string_addf(path, "/%s", combination->directory);
    if (request->seeds > 1)
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

/* Remembers what has to get its own name; takes both texts. */
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

/* Decimal seconds without zeros at their end. */
static void put_seconds(FILE *file, int64_t us)
{
    uint64_t size = us < 0 ? (uint64_t)-us : (uint64_t)us, part = size % 1000000;
    int digits = 6;
    if (us < 0)
        putc('-', file);
    fprintf(file, "%" PRIu64, size / 1000000);
    if (part == 0)
        return;
    for (; part % 10 == 0; part /= 10)
        digits--;
    fprintf(file, ".%0*" PRIu64, digits, part);
}

static void put_text(FILE *file, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, file);
        return;
    }
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', file);
        putc(*text, file);
    }
    putc('"', file);
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

/* job,submit_s,start_s,end_s,processors,site,wait_s,response_s,slowdown,average_processors,... */
static void put_job(const struct pleat_sim_csv *csv, FILE *file,
                    const struct pleat_workload_job *job, const struct pleat_sim_outcome *outcome)
{
    double wait_s = (double)(outcome->start_us - job->submit_us) / 1e6;
    double run_s = (double)(outcome->end_us - outcome->start_us) / 1e6;
    fprintf(file, "%" PRId64 ",", job->number);
    put_seconds(file, job->submit_us);
    putc(',', file);
    put_seconds(file, outcome->start_us);
    putc(',', file);
    put_seconds(file, outcome->end_us);
    fprintf(file, ",%" PRId32 ",", outcome->processors);
    put_text(file, site_name(csv, outcome->site));
    putc(',', file);
    put_seconds(file, outcome->start_us - job->submit_us);
    putc(',', file);
    put_seconds(file, outcome->end_us - job->submit_us);
    fprintf(file, ",%.9g,%.6g,%" PRIu32 ",%" PRIu32 ",%u,%s,%s,%" PRId32 "\n",
            pleat_bounded_slowdown(wait_s, run_s, PLEAT_SIM_TAU_S), (double)outcome->average,
            outcome->grown, outcome->shrunk, (unsigned)outcome->restarts,
            pleat_sim_fate_name((enum pleat_sim_fate)outcome->fate),
            pleat_kind_name((enum pleat_job_kind)job->kind), job->user);
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
        fprintf(file, "%" PRId64 ",", job->number);
        put_seconds(file, job->submit_us);
        fprintf(file, ",%" PRId32 ",%" PRId32 ",%s\n", job->minimum, job->processors,
                pleat_sim_fate_name((enum pleat_sim_fate)outcomes[i].fate));
    }
    return end(file, directory, "skipped.csv", err);
}

static int write_resizes(struct pleat_sim_csv *csv, const char *directory,
                         const struct pleat_workload *workload,
                         const struct pleat_sim_changes *changes, struct pleat_error *err)
{
    FILE *file = begin(csv, directory, "resizes.csv", err);
    if (!file)
        return PLEAT_E_SYSTEM;
    fputs("job,time_s,decided_s,from,to,offered,mandatory,stood_s,site\n", file);
    for (size_t i = 0; i < changes->count; i++) {
        const struct pleat_sim_change *change = &changes->items[i];
        if (change->from == 0 || change->to == 0)
            continue; /* it started, or ended */
        fprintf(file, "%" PRId64 ",", workload->jobs.items[change->job].number);
        put_seconds(file, change->time_us);
        putc(',', file);
        put_seconds(file, change->decided_us);
        fprintf(file, ",%" PRId32 ",%" PRId32 ",%" PRId32 ",%d,", change->from, change->to,
                change->offered, change->mandatory);
        put_seconds(file, change->stood_us);
        putc(',', file);
        put_text(file, site_name(csv, change->site));
        putc('\n', file);
    }
    return end(file, directory, "resizes.csv", err);
}

int pleat_sim_csv_add(struct pleat_sim_csv *csv, const struct pleat_sim_experiment *experiment,
                      const struct pleat_sim_run *run, const struct pleat_workload *workload,
                      const struct pleat_sim_outcome *outcomes,
                      const struct pleat_sim_changes *changes, struct pleat_error *err)
{
    struct pleat_string path = {0};
    add_directory(experiment->request, run->combination, run->seed, &path);
    int rc = path.failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                         : write_jobs(csv, path.text, workload, outcomes, err);
    if (!rc)
        rc = write_skipped(csv, path.text, workload, outcomes, err);
    if (!rc)
        rc = write_resizes(csv, path.text, workload, changes, err);
    pleat_string_finish(&path);
    return rc;
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
