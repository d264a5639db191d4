/* read.c - which reader is for which file; what they have in common. */
#include "scenario/read.h"

#include <string.h>
#include <sys/stat.h>

#include "describe/values.h"
#include "scenario/foreign.h"

enum { SNIFFED = 64 * 1024 };

static const char *const names[PLEAT_FORMAT_COUNT] = {[PLEAT_FORMAT_ANY] = "auto",
                                                      [PLEAT_FORMAT_SWF] = "swf",
                                                      [PLEAT_FORMAT_BATSIM] = "batsim",
                                                      [PLEAT_FORMAT_ELASTISIM] = "elastisim"};

int pleat_format_parse(const char *text, enum pleat_workload_format *format,
                       struct pleat_error *err)
{
    size_t index = 0;
    int rc = *text ? pleat_parse_word("--format", text, names, PLEAT_FORMAT_COUNT, &index, err) : 0;
    if (!rc)
        *format = (enum pleat_workload_format)index;
    return rc;
}

const char *pleat_format_name(enum pleat_workload_format format)
{
    return names[format];
}

/* ---- order ---- */

struct place {
    struct pleat_workload_job job;
    size_t index;
};

static int by_submission(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->job.submit_us != b->job.submit_us)
        return a->job.submit_us < b->job.submit_us ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Sorts the jobs by submission, where they are not: those of one time in the order of the file. */
static int sort(struct pleat_foreign *foreign)
{
    struct pleat_workload_jobs *jobs = &foreign->workload->jobs;
    int64_t latest = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        foreign->reading->report.unsorted += jobs->items[i].submit_us < latest;
        latest = jobs->items[i].submit_us > latest ? jobs->items[i].submit_us : latest;
    }
    if (foreign->reading->report.unsorted == 0)
        return 0;
    struct place *places = calloc(jobs->count, sizeof(*places));
    if (!places)
        return pleat_error_set(foreign->err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < jobs->count; i++)
        places[i] = (struct place){jobs->items[i], i};
    qsort(places, jobs->count, sizeof(*places), by_submission);
    for (size_t i = 0; i < jobs->count; i++)
        jobs->items[i] = places[i].job;
    free(places);
    return 0;
}

/* ---- reading ---- */

static enum pleat_workload_format format_of(const json_t *json)
{
    return json_object_get(json, "profiles") || json_object_get(json, "nb_res")
               ? PLEAT_FORMAT_BATSIM
               : PLEAT_FORMAT_ELASTISIM;
}

int pleat_workload_read_json(const char *text, size_t length, const char *name,
                             struct pleat_reading *reading, struct pleat_workload *workload,
                             struct pleat_error *err)
{
    struct pleat_workload read = {0};
    struct pleat_foreign foreign = {
        .name = name, .reading = reading, .workload = &read, .err = err};
    json_t *json = NULL;
    int rc = pleat_text_json(text, length, name, &json, err);
    if (rc)
        return rc;
    if (pleat_workload_init(&read))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (reading->format == PLEAT_FORMAT_ANY)
        reading->format = format_of(json);
    if (!rc)
        rc = reading->format == PLEAT_FORMAT_BATSIM ? pleat_batsim_read(&foreign, json)
                                                    : pleat_elastisim_read(&foreign, json);
    json_decref(json);
    if (!rc)
        rc = sort(&foreign);
    if (!rc && reading->swf.most > 0 && read.jobs.count > reading->swf.most)
        read.jobs.count = reading->swf.most;
    if (rc) {
        pleat_workload_finish(&read);
        return rc;
    }
    reading->report.jobs = read.jobs.count;
    pleat_foreign_note(&foreign);
    pleat_workload_finish(workload);
    *workload = read;
    return reading->notes.failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

/* Finds out the format of a file by its beginning. What can be read once only is a log. */
static int look(const char *path, struct pleat_reading *reading, struct pleat_error *err)
{
    struct pleat_string text = {0};
    struct stat about;
    if (!strcmp(path, "-") || stat(path, &about) || !S_ISREG(about.st_mode)) {
        reading->format = PLEAT_FORMAT_SWF;
        return 0;
    }
    int rc = pleat_text_read(path, SNIFFED, &text, err);
    if (!rc && pleat_text_first(text.text ? text.text : "", text.length) != '{')
        reading->format = PLEAT_FORMAT_SWF;
    pleat_string_finish(&text);
    return rc;
}

int pleat_workload_read(const char *path, struct pleat_reading *reading,
                        struct pleat_workload *workload, struct pleat_error *err)
{
    struct pleat_string text = {0};
    int rc = reading->format == PLEAT_FORMAT_ANY ? look(path, reading, err) : 0;
    if (rc)
        return rc;
    if (reading->format == PLEAT_FORMAT_SWF)
        return pleat_swf_read(path, &reading->swf, workload, &reading->report, err);
    const char *name = strcmp(path, "-") != 0 ? path : "standard input";
    rc = pleat_text_read(path, PLEAT_TEXT_MOST, &text, err);
    if (!rc && text.length == PLEAT_TEXT_MOST)
        rc =
            pleat_error_set(err, PLEAT_E_INVALID, "%s: more than %d bytes: this is no file of jobs",
                            name, PLEAT_TEXT_MOST);
    if (!rc)
        rc = pleat_workload_read_json(text.text ? text.text : "", text.length, name, reading,
                                      workload, err);
    pleat_string_finish(&text);
    return rc;
}
