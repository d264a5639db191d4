/* swf.h - the Standard Workload Format, version 2.2 (Chapin et al. 1999; Parallel Workloads
 * Archive).
 *
 * A line a job, 18 numbers; header lines begin with ';' ("; MaxProcs: 128"). Real logs have unknown
 * fields (-1), unsorted lines, CRLF, columns beyond the 18th: all are read. What cannot be run
 * (no run time, no size) is left out and counted, never silently.
 *
 * Pleat's own additions keep a file readable by everybody: columns of numbers from the 19th on and
 * applications, named in header lines before the first job:
 *   ; Pleat-App: 1 amdahl:0.02 adapt=30s           (as pleat_app_parse reads; numbered from 1 on,
 *                                                   0 replaces the linear one of rigid jobs)
 *   ; Pleat-Columns: kind minimum maximum app
 * Columns, each with what a -1 stands for: kind (0 rigid, 1 moldable, 2 malleable; 0), minimum and
 * maximum (the job's processors), initial (0), sizes (0 any, 1 powers, 2 squares, 3 multiples,
 * 4 grids, 5 those of the application's table; 0), step (of multiples; 0), processes (0), app (0),
 * site (anywhere), deadline, begin (seconds, as submit times; none), priority (no stand-in: -1 is a
 * priority). A file without them is a log of rigid jobs.
 */
#ifndef PLEAT_WORKLOAD_SWF_H
#define PLEAT_WORKLOAD_SWF_H

#include <stdio.h>

#include "model/workload.h"

/* One line. Times in seconds; -1: unknown. What does not fit is the largest number that does. */
struct pleat_swf_record {
    int64_t job;
    double submit_s, wait_s, run_s;
    int64_t allocated;
    double cpu_s, memory_kb;
    int64_t requested;
    double requested_s, requested_kb;
    int64_t status, user, group, executable, queue, partition, preceding;
    double think_s;
};

PLEAT_ARRAY(pleat_swf_records, struct pleat_swf_record);

/* What a log says that a workload does not keep, for those who write it again: a zeroed one is
 * empty. */
struct pleat_swf_source {
    struct pleat_swf_records records; /* of the workload's jobs, in their order */
    struct pleat_string header;       /* its header lines, without those that are made anew */
};

void pleat_swf_source_finish(struct pleat_swf_source *source);

enum pleat_swf_zero { PLEAT_SWF_ZERO_SKIP, PLEAT_SWF_ZERO_KEEP };

struct pleat_swf_options {
    enum pleat_swf_zero zero; /* jobs that ran for no time at all */
    size_t most; /* the number of jobs that can be run after which it stops; 0: read all */
    struct pleat_swf_source *source; /* an empty one, to be filled; NULL: not wanted. It takes
                                      * about 150 bytes a job */
};

/* What was found. A line that is left out is counted once, under the first of bursts, no_submit,
 * no_size and no_run_time that holds; the counts after these are of jobs that were kept. */
struct pleat_swf_report {
    size_t lines, headers, jobs; /* jobs: kept */
    size_t bursts;        /* left out: status 2 to 4, a part of a job that another line has */
    size_t no_submit;     /* left out: no submit time */
    size_t no_size;       /* left out: neither allocated nor requested processors known */
    size_t no_run_time;   /* left out: run time -1, or 0 (as asked) */
    size_t zero_run_time; /* of no_run_time, or kept */
    size_t unsorted;      /* submitted earlier than a line before: sorted in */
    size_t missing_wait, missing_estimate;
    size_t short_run;     /* run time above the user's estimate */
    size_t extra_columns; /* columns after the 18th that are not Pleat's: not read */
    bool crlf;            /* some lines end with CR LF, or CR */
};

/* Reads one line of text (without its end) that is no header; columns after the 18th are not looked
 * at. PLEAT_E_INVALID: err says which column is wrong, without file and line. */
int pleat_swf_parse(const char *line, size_t length, struct pleat_swf_record *record,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* Reads a file ("-": standard input; also one packed by gzip, bzip2, xz or zstd) into an empty,
 * initialized workload. A job has its allocated processors, else the requested ones; its estimate
 * is the requested time, where above 0; column 17 above 0 is the job before it, 18 its think time
 * (unknown: none). The machine is MaxProcs of the header, else MaxNodes; times
 * count from UnixStartTime. Times are kept to the microsecond. A file without jobs gives a workload
 * without jobs. PLEAT_E_INVALID (err names file, line and column), PLEAT_E_SYSTEM, PLEAT_E_NOMEM:
 * nothing is changed. report may be NULL. */
int pleat_swf_read(const char *path, const struct pleat_swf_options *options,
                   struct pleat_workload *workload, struct pleat_swf_report *report,
                   struct pleat_error *err) PLEAT_MUST_CHECK;

/* The same from memory (name: for errors). */
int pleat_swf_read_text(const char *text, size_t length, const char *name,
                        const struct pleat_swf_options *options, struct pleat_workload *workload,
                        struct pleat_swf_report *report, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Writes a workload with a complete header; with Pleat's columns where a job needs them. comment
 * (may be NULL): how it was made, for the header's Note. Reading the file back (with
 * PLEAT_SWF_ZERO_KEEP) gives the same workload. PLEAT_E_INVALID: the workload is wrong, nothing was
 * written. PLEAT_E_SYSTEM: the file is full or broken. */
int pleat_swf_write(const struct pleat_workload *workload, FILE *file, const char *comment,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* The same of a workload that was read from a log, with what else that log has: its header lines,
 * and the columns that a workload does not keep. PLEAT_E_INVALID also where the source is of other
 * jobs. */
int pleat_swf_write_again(const struct pleat_workload *workload,
                          const struct pleat_swf_source *source, FILE *file, const char *comment,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
