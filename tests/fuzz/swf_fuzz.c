#include "swf_fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "must.h"
#include "workload/convert.h"
#include "workload/describe.h"
#include "workload/swf.h"

unsigned long pleat_fuzz_swf_logs, pleat_fuzz_swf_jobs;

static void make_empty(struct pleat_workload *workload)
{
    memset(workload, 0, sizeof(*workload));
    must(pleat_workload_init(workload) == 0);
}

static void check_report(const struct pleat_swf_report *report, const struct pleat_workload *read,
                         const struct pleat_swf_options *options)
{
    size_t left_out = report->bursts + report->no_submit + report->no_size + report->no_run_time;
    must(report->jobs == read->jobs.count);
    must(options->most == 0 || report->jobs <= options->most);
    must(report->jobs + left_out + report->headers <= report->lines);
    must(report->unsorted <= report->jobs && report->missing_wait <= report->jobs);
    must(report->missing_estimate + report->short_run <= report->jobs);
    must(report->extra_columns <= report->jobs);
    must(options->zero == PLEAT_SWF_ZERO_KEEP || report->zero_run_time <= report->no_run_time);
}

/* Does reading the same bytes from a file give the same? */
static void read_from_file(const char *text, size_t length, const struct pleat_swf_options *options,
                           int wanted, const struct pleat_workload *other)
{
    struct pleat_workload workload;
    char path[64];
    int fd = memfd_create("swf", 0);
    must(fd >= 0 && write(fd, text, length) == (ssize_t)length);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    make_empty(&workload);
    must(pleat_swf_read(path, options, &workload, NULL, NULL) == wanted);
    must(workload.jobs.count == other->jobs.count && workload.apps.count == other->apps.count);
    must(workload.jobs.count == 0 ||
         memcmp(workload.jobs.items, other->jobs.items,
                workload.jobs.count * sizeof(*workload.jobs.items)) == 0);
    pleat_workload_finish(&workload);
    close(fd);
}

static char *written(const struct pleat_workload *workload, size_t *length)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, length);
    must(file && pleat_swf_write(workload, NULL, file, "fuzz\n", NULL) == 0);
    must(fclose(file) == 0);
    return text;
}

static void there_and_back(const struct pleat_workload *workload)
{
    const struct pleat_swf_options keep = {.zero = PLEAT_SWF_ZERO_KEEP};
    struct pleat_workload again;
    struct pleat_error err;
    size_t length, more_length;
    char *text = written(workload, &length);
    make_empty(&again);
    if (pleat_swf_read_text(text, length, "again", &keep, &again, NULL, &err)) {
        fprintf(stderr, "%s\n%s\n", err.text, text);
        abort();
    }
    char *more = written(&again, &more_length);
    must(length == more_length && memcmp(text, more, length) == 0);
    must(again.jobs.count == workload->jobs.count);
    must(again.jobs.count == 0 || memcmp(again.jobs.items, workload->jobs.items,
                                         again.jobs.count * sizeof(*again.jobs.items)) == 0);
    free(text);
    free(more);
    pleat_workload_finish(&again);
}

static void describe(const struct pleat_workload *workload)
{
    struct pleat_description d;
    size_t hours = 0, days = 0;
    must(pleat_workload_describe(workload, &d, NULL) == 0);
    for (int i = 0; i < 24; i++)
        hours += d.hours[i];
    for (int i = 0; i < 7; i++)
        days += d.weekdays[i];
    must(hours == d.jobs && days == d.jobs && d.rigid + d.moldable + d.malleable == d.jobs);
    must(isfinite(d.load) && d.load >= 0 && d.serial + d.powers <= 1);
    must(d.users <= d.jobs && d.estimates == d.accuracy.count);
}

/* Written with all that the log has, read again and written again, it stays the same. */
static void log_again(const char *text, size_t length, const struct pleat_swf_options *options)
{
    char *texts[2];
    size_t lengths[2];
    for (int i = 0; i < 2; i++) {
        struct pleat_swf_source source = {0};
        struct pleat_swf_options more = {
            .zero = i ? PLEAT_SWF_ZERO_KEEP : options->zero,
            .most = i ? 0 : options->most,
            .source = &source,
        };
        struct pleat_workload workload;
        make_empty(&workload);
        must(pleat_swf_read_text(i ? texts[0] : text, i ? lengths[0] : length, "log", &more,
                                 &workload, NULL, NULL) == 0);
        must(source.records.count == workload.jobs.count);
        FILE *file = open_memstream(&texts[i], &lengths[i]);
        must(file && pleat_swf_write(&workload, &source, file, NULL, NULL) == 0);
        must(fclose(file) == 0);
        pleat_workload_finish(&workload);
        pleat_swf_source_finish(&source);
    }
    must(lengths[0] == lengths[1] && memcmp(texts[0], texts[1], lengths[0]) == 0);
    free(texts[0]);
    free(texts[1]);
}

/* What is converted can be run, unless it takes thousands of years on its minimum. */
static void convert(struct pleat_workload *workload, uint64_t seed)
{
    struct pleat_conversion conversion;
    struct pleat_error err;
    size_t converted, malleable = 0;
    for (size_t i = 0; i < workload->jobs.count; i++)
        malleable += workload->jobs.items[i].kind == PLEAT_MALLEABLE;
    pleat_conversion_default(&conversion);
    conversion.seed = seed;
    conversion.share = 0.5;
    conversion.machine = workload->machine;
    must(pleat_workload_convert(workload, &conversion, &converted, NULL) == 0);
    for (size_t i = 0; i < workload->jobs.count; i++) {
        const struct pleat_workload_job *job = &workload->jobs.items[i];
        must(pleat_workload_check_job(workload, job, &err) == 0 || strstr(err.text, "3,170"));
        if (job->kind == PLEAT_MALLEABLE)
            malleable--;
    }
    must(malleable + converted == 0);
}

void pleat_fuzz_swf(const uint8_t *bytes, size_t size)
{
    if (size < 1)
        return;
    struct pleat_swf_options options = {.zero = bytes[0] & 1 ? PLEAT_SWF_ZERO_KEEP
                                                             : PLEAT_SWF_ZERO_SKIP,
                                        .most = bytes[0] & 2 ? bytes[0] / 4 : 0};
    struct pleat_workload workload;
    struct pleat_swf_report report;
    struct pleat_error err = {0};
    /* a copy of its own, so that reading beyond it is seen */
    size_t length = size - 1;
    char *text = malloc(length ? length : 1);
    must(text);
    memcpy(text, bytes + 1, length);
    make_empty(&workload);
    int rc = pleat_swf_read_text(text, length, "log", &options, &workload, &report, &err);
    must(rc == 0 || (rc == PLEAT_E_INVALID && rc == err.code && !strncmp(err.text, "log:", 4)));
    must(rc == 0 || (workload.jobs.count == 0 && workload.apps.count == 1));
    read_from_file(text, length, &options, rc, &workload);
    if (rc == 0) {
        check_report(&report, &workload, &options);
        rc = pleat_workload_check(&workload, &err);
        must(rc == 0 || strstr(err.text, "70,000 years"));
        describe(&workload);
        if (rc == 0) {
            there_and_back(&workload);
            log_again(text, length, &options);
        }
        pleat_fuzz_swf_logs++;
        pleat_fuzz_swf_jobs += workload.jobs.count;
        convert(&workload, bytes[0]);
    }
    free(text);
    pleat_workload_finish(&workload);
}
