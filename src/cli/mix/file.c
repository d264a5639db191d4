/* file.c - reads the file of a job mix. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mix/mix.h"
#include "describe/values.h"
#include "describe/words.h"

#define JOBS_MAX 10000

/* ---- a line ---- */

static int read_options(struct pleat_mix_job *job, const char *directory,
                        struct pleat_string *notes, struct pleat_error *err)
{
    struct pleat_option_reader reader;
    pleat_submission_reader_init(&reader, job->word_count - 1, job->words + 1);
    return pleat_submission_read(
        &job->submission, &(struct pleat_submission_place){.reader = &reader, .beside = directory},
        notes, err);
}

static int read_line(struct pleat_mix_job *job, const char *directory, struct pleat_string *notes,
                     struct pleat_error *err)
{
    static const char form[] = "a line is: AT NAME [OPTION...] -- PROGRAM [ARGUMENT...]";
    if (job->word_count < 2)
        return pleat_error_set(err, PLEAT_E_INVALID, "the job's name is missing; %s", form);
    int status =
        pleat_parse_seconds("AT (seconds after the start)", job->words[0], 0, 1e7, &job->at_s, err);
    if (status)
        return status;
    if (job->words[1][0] == '-' || !job->words[1][0])
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' cannot be the job's name; %s",
                               job->words[1], form);
    status = read_options(job, directory, notes, err);
    if (status)
        return status;
    if (job->submission.name)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the job's name is '%s' already: leave out --name", job->words[1]);
    job->submission.name = job->words[1];
    return 0;
}

static void free_job(struct pleat_mix_job *job)
{
    for (int i = 0; i < job->word_count; i++)
        free(job->words[i]);
    free(job->words);
    pleat_submission_finish(&job->submission);
    json_decref(job->spec);
    json_decref(job->report);
}

int pleat_mix_add(struct pleat_mix *mix, char **words, int count, const char *path, int line,
                  struct pleat_string *notes, struct pleat_error *err)
{
    struct pleat_mix_job job = {.line = line, .iteration = -1, .words = words, .word_count = count};
    struct pleat_string remarks = {0};
    pleat_submission_init(&job.submission);
    int status = read_line(&job, mix->directory, &remarks, err);
    if (!status)
        status = pleat_submission_spec(&job.submission, &job.spec, &remarks, err);
    if (!status && mix->jobs.count == JOBS_MAX)
        status = pleat_error_set(err, PLEAT_E_TOOBIG, "a mix has at most %d jobs", JOBS_MAX);
    if (!status && pleat_array_push(&mix->jobs, job))
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (status)
        free_job(&job);
    for (const char *at = remarks.text; !status && at && *at; at += strcspn(at, "\n") + 1)
        pleat_string_addf(notes, "%s:%d: %.*s\n", path, line, (int)strcspn(at, "\n"), at);
    pleat_string_finish(&remarks);
    return status ? pleat_error_prefix(err, status, "%s:%d", path, line) : 0;
}

/* Adds the job that a line describes. An empty line adds none. */
static int add_line(struct pleat_mix *mix, const char *text, int line, struct pleat_string *notes,
                    struct pleat_error *err)
{
    char **words = NULL;
    int count = 0;
    int status = pleat_words_split(text, &words, &count, err);
    if (!status && count > 0)
        return pleat_mix_add(mix, words, count, mix->path, line, notes, err);
    for (int i = 0; i < count; i++)
        free(words[i]);
    free(words);
    return status ? pleat_error_prefix(err, status, "%s:%d", mix->path, line) : 0;
}

/* ---- the file ---- */

static int compare_arrival(const void *left, const void *right)
{
    const struct pleat_mix_job *a = left, *b = right;
    if (a->at_s != b->at_s)
        return a->at_s < b->at_s ? -1 : 1;
    return a->line - b->line;
}

/* Reads all lines. A line that ends with a backslash continues in the next one. */
static int read_lines(struct pleat_mix *mix, FILE *file, struct pleat_string *notes,
                      struct pleat_error *err)
{
    struct pleat_string whole = {0};
    char *text = NULL;
    size_t size = 0;
    ssize_t length;
    int line = 0, first = 0, status = 0;
    while (!status && (length = getline(&text, &size, file)) >= 0) {
        line++;
        first = whole.length ? first : line;
        if (strlen(text) != (size_t)length) {
            status = pleat_error_set(err, PLEAT_E_INVALID, "%s:%d: a NUL byte in the text",
                                     mix->path, line);
            break;
        }
        text[strcspn(text, "\r\n")] = 0;
        size_t end = strlen(text);
        bool goes_on = end > 0 && text[end - 1] == '\\';
        if (goes_on)
            text[end - 1] = ' ';
        pleat_string_add(&whole, text);
        if (goes_on)
            continue;
        status = whole.failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                              : add_line(mix, whole.text ? whole.text : "", first, notes, err);
        pleat_string_finish(&whole);
    }
    if (!status && whole.length)
        status = add_line(mix, whole.text, first, notes, err);
    if (!status && ferror(file))
        status = pleat_error_sys(err, errno, "cannot read %s", mix->path);
    pleat_string_finish(&whole);
    free(text);
    return status;
}

static char *directory_of(const char *path)
{
    char absolute[PATH_MAX];
    if (!realpath(path, absolute))
        return NULL;
    char *slash = strrchr(absolute, '/');
    *(slash == absolute ? slash + 1 : slash) = 0;
    return strdup(absolute);
}

int pleat_mix_open(struct pleat_mix *mix, FILE **file, struct pleat_error *err)
{
    *file = fopen(mix->path, "re");
    if (*file)
        mix->directory = directory_of(mix->path);
    if (*file && mix->directory)
        return 0;
    int reason = errno;
    if (*file)
        fclose(*file);
    return pleat_error_sys(err, reason, "cannot read %s", mix->path);
}

int pleat_mix_order(struct pleat_mix *mix, struct pleat_error *err)
{
    if (mix->jobs.count == 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s has no jobs", mix->path);
    qsort(mix->jobs.items, mix->jobs.count, sizeof(mix->jobs.items[0]), compare_arrival);
    return 0;
}

int pleat_mix_read(struct pleat_mix *mix, const char *path, struct pleat_string *notes,
                   struct pleat_error *err)
{
    FILE *file;
    mix->path = path;
    int status = pleat_mix_open(mix, &file, err);
    if (status)
        return status;
    status = read_lines(mix, file, notes, err);
    fclose(file);
    return status ? status : pleat_mix_order(mix, err);
}

void pleat_mix_finish(struct pleat_mix *mix)
{
    for (size_t i = 0; i < mix->jobs.count; i++)
        free_job(&mix->jobs.items[i]);
    pleat_array_finish(&mix->jobs);
    free(mix->directory);
}
