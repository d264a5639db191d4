/* swf.h - the Standard Workload Format, version 2.2 (Chapin et al. 1999; Parallel Workloads
 * Archive).
 *
 * Each job has a line of 18 numbers; header lines begin with ';' ("; MaxProcs: 128"). Real logs
 * have unknown fields (-1), unsorted lines, CRLF, and columns beyond the 18th: all are read. A job
 * that cannot be run (without run time or size) is left out and counted.
 *
 * Pleat adds columns of numbers from the 19th on, and applications. They are named in header lines
 * before the first job, so that other programs can still read the file:
 *   ; Pleat-App: 1 amdahl:0.02 adapt=30s           (as pleat_app_parse reads; numbered from 1 on,
 *                                                   0 replaces the linear one of rigid jobs)
 *   ; Pleat-Columns: kind minimum maximum app
 * The columns, each with what -1 stands for: kind (0 rigid, 1 moldable, 2 malleable; 0), minimum
 * and maximum (the job's processors), initial (0), sizes (0 any, 1 powers, 2 squares, 3 multiples,
 * 4 grids, 5 those of the application's table; 0), step (of multiples; 0), processes (0), app (0),
 * site (anywhere), deadline, begin (seconds, as submit times; none), priority (-1 stands for
 * itself: it is a priority). A file without these columns is a log of rigid jobs.
 */
#ifndef PLEAT_WORKLOAD_SWF_H
#define PLEAT_WORKLOAD_SWF_H

#include <stdio.h>

#include "model/workload.h"

/* One line of a log. Times are in seconds; -1: unknown. A number that is too large is the largest
 * that fits. */
struct pleat_swf_record {
    int64_t job;
    double submit_s, wait_s, run_s;
    int64_t allocated;
    double cpu_s, memory_kb;
    int64_t requested;
    double requested_kb; /* its requested time is the estimate of the workload's job */
    int64_t status, user, group, executable, queue, partition, preceding;
    double think_s;
};

PLEAT_ARRAY(pleat_swf_records, struct pleat_swf_record);

/* What a log has beside the workload, for writing it again. Zeroed: nothing. */
struct pleat_swf_source {
    struct pleat_swf_records records; /* of the workload's jobs, in their order */
    struct pleat_string header;       /* header lines, without those that are made anew */
};

void pleat_swf_source_finish(struct pleat_swf_source *source);

enum pleat_swf_zero { PLEAT_SWF_ZERO_SKIP, PLEAT_SWF_ZERO_KEEP };

struct pleat_swf_options {
    enum pleat_swf_zero zero; /* jobs whose run time is 0 */
    size_t most;              /* stop after this number of jobs that can be run; 0: read all */
    /* a zeroed one, to be filled; NULL: not wanted. It takes about 150 bytes for each job */
    struct pleat_swf_source *source;
};

/* What was found in a log. A line that is left out is counted once, under the first of bursts,
 * no_submit, no_size and no_run_time that applies. The counts after these are of jobs that were
 * kept. */
struct pleat_swf_report {
    size_t lines, headers, jobs; /* jobs: that were kept */
    /* left out: status 2 to 4: a part of a job that has another line for the whole */
    size_t bursts;
    size_t no_submit;     /* left out: no submit time */
    size_t no_size;       /* left out: neither allocated nor requested processors are known */
    size_t no_run_time;   /* left out: run time -1, or 0 where such jobs are to be skipped */
    size_t zero_run_time; /* jobs with run time 0, also those in no_run_time */
    size_t unsorted;      /* submitted earlier than the job of a line before: put into order */
    size_t missing_wait, missing_estimate;
    size_t short_run;     /* run time above the user's estimate */
    size_t extra_columns; /* columns beyond the 18th that are not Pleat's: ignored */
    size_t repeated;      /* jobs with the number of an earlier one: both are kept */
    bool crlf;            /* some lines end with CR LF, or with CR */
};

/* Reads a file ("-": standard input) into an empty, initialized workload. The file may be packed by
 * gzip, bzip2, xz or zstd. A job's size is its allocated processors, else the requested ones. Its
 * estimate is the requested time, where that is above 0. Column 17, where above 0, is the job that
 * it follows, and column 18 its think time (unknown: none). The machine is MaxProcs of the header,
 * else MaxNodes. Times count from UnixStartTime, and are kept to the microsecond. A file without
 * jobs gives a workload without jobs. PLEAT_E_INVALID (err names file, line and column),
 * PLEAT_E_SYSTEM, PLEAT_E_NOMEM: nothing is changed. report may be NULL. */
int pleat_swf_read(const char *path, const struct pleat_swf_options *options,
                   struct pleat_workload *workload, struct pleat_swf_report *report,
                   struct pleat_error *err) PLEAT_MUST_CHECK;

/* As pleat_swf_read, from memory (name: for errors). */
int pleat_swf_read_text(const char *text, size_t length, const char *name,
                        const struct pleat_swf_options *options, struct pleat_workload *workload,
                        struct pleat_swf_report *report, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Writes a workload with a complete header, and with Pleat's columns where a job needs them.
 * source: of the log that it was read from; then also what else that log has is written, its header
 * lines and the columns that a workload does not keep. NULL: it was not read from one. comment (may
 * be NULL): how the workload was made, for the header's Note. Reading the file with
 * PLEAT_SWF_ZERO_KEEP gives the same workload. PLEAT_E_INVALID: the workload is wrong, or the
 * source is of other jobs, and nothing was written. PLEAT_E_SYSTEM: writing failed. */
int pleat_swf_write(const struct pleat_workload *workload, const struct pleat_swf_source *source,
                    FILE *file, const char *comment, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
