/* swf.h - the Standard Workload Format, version 2.2 (Chapin et al. 1999; Parallel Workloads
 * Archive).
 *
 * A line a job, 18 numbers; header lines begin with ';' ("; MaxProcs: 128"). Real logs have unknown
 * fields (-1), unsorted lines, CRLF, columns beyond the 18th: all are read. What cannot be run
 * (no run time, no size) is left out and counted, never silently.
 * Pleat's own additions keep a file readable by everybody: columns from the 19th on, named in a
 * header line "; Pleat-Columns: kind minimum maximum ...", and applications in header lines
 * "; Pleat-App: ...". A file without them is a log of rigid jobs.
 */
#ifndef PLEAT_WORKLOAD_SWF_H
#define PLEAT_WORKLOAD_SWF_H

#include <stdio.h>

#include "model/workload.h"

/* One line. Times in seconds; -1: unknown. */
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

enum pleat_swf_zero { PLEAT_SWF_ZERO_SKIP, PLEAT_SWF_ZERO_KEEP };

struct pleat_swf_options {
    enum pleat_swf_zero zero; /* jobs that ran for no time at all */
    size_t most;              /* read no more jobs than that; 0: all */
};

struct pleat_swf_report { /* what was found; counts are of jobs */
    size_t lines, headers, jobs;
    size_t no_run_time;   /* left out: run time -1, or 0 (as asked) */
    size_t no_size;       /* left out: neither allocated nor requested processors known */
    size_t no_submit;     /* left out: no submit time */
    size_t zero_run_time; /* of no_run_time, or kept */
    size_t unsorted;      /* submitted earlier than the line before: sorted in */
    size_t missing_wait, missing_estimate;
    size_t short_run; /* run time above the user's estimate */
    size_t extra_columns;
    bool crlf;
};

/* Reads one line of text (without its end) that is no header. PLEAT_E_INVALID: err says which
 * column is wrong, without file and line. */
int pleat_swf_parse(const char *line, size_t length, struct pleat_swf_record *record,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* Reads a file ("-": standard input) into an empty, initialized workload. Errors name file and
 * line; the workload is then empty again. report may be NULL. */
int pleat_swf_read(const char *path, const struct pleat_swf_options *options,
                   struct pleat_workload *workload, struct pleat_swf_report *report,
                   struct pleat_error *err) PLEAT_MUST_CHECK;

/* The same from memory (name: for errors). */
int pleat_swf_read_text(const char *text, size_t length, const char *name,
                        const struct pleat_swf_options *options, struct pleat_workload *workload,
                        struct pleat_swf_report *report, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Writes a workload with a complete header; with Pleat's columns where a job or application needs
 * them. comment (may be NULL): how it was made, for the header's Note. Reading the file back gives
 * the same workload. */
int pleat_swf_write(const struct pleat_workload *workload, FILE *file, const char *comment,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
