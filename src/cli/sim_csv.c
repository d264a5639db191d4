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

/* A line of a table, put together here: a log has millions of them. */
struct row {
    char text[700];
    size_t length;
};

static void add_bytes(struct row *row, const char *bytes, size_t count)
{
    if (count > sizeof(row->text) - row->length)
        count = sizeof(row->text) - row->length;
    memcpy(row->text + row->length, bytes, count);
    row->length += count;
}

/* At least `digits` of them. */
static void add_digits(struct row *row, uint64_t value, int digits)
{
    char reversed[20], text[20];
    int count = 0;
    for (; value > 0 || count < digits; value /= 10)
        reversed[count++] = (char)('0' + value % 10);
    for (int i = 0; i < count; i++)
        text[i] = reversed[count - 1 - i];
    add_bytes(row, text, (size_t)count);
}

static uint64_t add_sign(struct row *row, int64_t value)
{
    if (value >= 0)
        return (uint64_t)value;
    add_bytes(row, "-", 1);
    return 0 - (uint64_t)value;
}

static void add_number(struct row *row, int64_t value)
{
    add_digits(row, add_sign(row, value), 1);
    add_bytes(row, ",", 1);
}

/* Decimal seconds without zeros at their end. */
static void add_seconds(struct row *row, int64_t us)
{
    uint64_t size = add_sign(row, us), part = size % 1000000;
    int digits = 6;
    add_digits(row, size / 1000000, 1);
    if (part > 0) {
        for (; part % 10 == 0; part /= 10)
            digits--;
        add_bytes(row, ".", 1);
        add_digits(row, part, digits);
    }
    add_bytes(row, ",", 1);
}

static void add_text(struct row *row, const char *text)
{
    if (strpbrk(text, ",\"\r\n")) {
        add_bytes(row, "\"", 1);
        for (; *text; text++)
            add_bytes(row, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
        add_bytes(row, "\"", 1);
    } else {
        add_bytes(row, text, strlen(text));
    }
    add_bytes(row, ",", 1);
}

static void add_real(struct row *row, int digits, double value)
{
    char text[40];
    int length = snprintf(text, sizeof(text), "%.*g,", digits, value);
    add_bytes(row, text, (size_t)length);
}

/* Its last comma becomes the end of the line. */
static void put_row(FILE *file, struct row *row)
{
    row->text[row->length - 1] = '\n';
    fwrite(row->text, 1, row->length, file);
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
    struct row row = {.length = 0};
    double wait_s = (double)(outcome->start_us - job->submit_us) / 1e6;
    double run_s = (double)(outcome->end_us - outcome->start_us) / 1e6;
    add_number(&row, job->number);
    add_seconds(&row, job->submit_us);
    add_seconds(&row, outcome->start_us);
    add_seconds(&row, outcome->end_us);
    add_number(&row, outcome->processors);
    add_text(&row, site_name(csv, outcome->site));
    add_seconds(&row, outcome->start_us - job->submit_us);
    add_seconds(&row, outcome->end_us - job->submit_us);
    add_real(&row, 9, pleat_bounded_slowdown(wait_s, run_s, PLEAT_SIM_TAU_S));
    add_real(&row, 6, (double)outcome->average);
    add_number(&row, outcome->grown);
    add_number(&row, outcome->shrunk);
    add_number(&row, outcome->restarts);
    add_text(&row, pleat_sim_fate_name((enum pleat_sim_fate)outcome->fate));
    add_text(&row, pleat_kind_name((enum pleat_job_kind)job->kind));
    add_number(&row, job->user);
    put_row(file, &row);
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
        struct row row = {.length = 0};
        add_number(&row, job->number);
        add_seconds(&row, job->submit_us);
        add_number(&row, job->minimum);
        add_number(&row, job->processors);
        add_text(&row, pleat_sim_fate_name((enum pleat_sim_fate)outcomes[i].fate));
        put_row(file, &row);
    }
    return end(file, directory, "skipped.csv", err);
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
    struct row row = {.length = 0};
    if (change->from == 0 || change->to == 0)
        return; /* it started, or ended */
    add_number(&row, files->workload->jobs.items[change->job].number);
    add_seconds(&row, change->time_us);
    add_seconds(&row, change->decided_us);
    add_number(&row, change->from);
    add_number(&row, change->to);
    add_number(&row, change->offered);
    add_number(&row, change->mandatory);
    add_seconds(&row, change->stood_us);
    add_text(&row, site_name(files->csv, change->site));
    put_row(files->resizes, &row);
}

int pleat_sim_csv_end(struct pleat_sim_csv_run *files, const struct pleat_sim_outcome *outcomes,
                      struct pleat_error *err)
{
    FILE *resizes = files->resizes;
    files->resizes = NULL;
    int rc = end(resizes, files->directory.text, "resizes.csv", err);
    if (!rc)
        rc = write_jobs(files->csv, files->directory.text, files->workload, outcomes, err);
    if (!rc)
        rc = write_skipped(files->csv, files->directory.text, files->workload, outcomes, err);
    return rc;
}

void pleat_sim_csv_drop(struct pleat_sim_csv_run *files)
{
    if (files->resizes)
        fclose(files->resizes); /* the file goes when the results are closed */
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
