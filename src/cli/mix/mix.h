/* mix.h - a job mix: the file, its run, its report. docs/user-guide.md describes the file. */
#ifndef PLEAT_CLI_MIX_MIX_H
#define PLEAT_CLI_MIX_MIX_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "chart/gantt.h"
#include "cli/common/term.h"
#include "client/client.h"
#include "describe/submission.h"

/* A line of the file, and what became of its job. */
struct pleat_mix_job {
    int line;
    double at_s;  /* seconds from the start of the mix to the arrival */
    char **words; /* the words of the line; owned; the submission refers to them */
    int word_count;
    struct pleat_submit_options submission;
    json_t *spec; /* owned; NULL once it was submitted */
    /* while the mix runs */
    int64_t job; /* 0: not yet submitted */
    char state[16];
    int processors;
    int64_t iteration; /* -1: not known */
    bool ended;
    /* after the job has ended */
    json_t *report;     /* the job with its history; owned */
    const char *result; /* "ok", "wrong", or NULL: the job said nothing about its result */
};

/* The parameter files to which a trace of arrivals refers (Utrera 2010, 3.2.1). */
struct pleat_mix_parameters {
    /* of each application a line: its command, with N for the number of processes */
    const char *applications;
    /* of each application a line: the numbers of processes that it takes; NULL: not given */
    const char *counts;
    const char *types; /* of each application a line: 1, long; 2, short; NULL: not given */
};

struct pleat_mix {
    const char *path;
    char *directory;                          /* the directory of the file */
    PLEAT_ARRAY(, struct pleat_mix_job) jobs; /* in order of arrival */
    double scale;
    double started_s; /* seconds since 1970 */
    int64_t first_event;
    int processors; /* of all sites */
    bool quiet;     /* no progress */
    bool interrupted;
};

/* Reads a file, and makes the spec of each line: nothing is submitted before all lines are known to
 * be right. Errors begin with "FILE:LINE: ". Lines about what was assumed are appended to *notes.
 * PLEAT_E_INVALID, PLEAT_E_NOTFOUND, PLEAT_E_SYSTEM, ... Finish *mix in any case. */
int pleat_mix_read(struct pleat_mix *mix, const char *path, struct pleat_string *notes,
                   struct pleat_error *err) PLEAT_MUST_CHECK;
/* As pleat_mix_read, from a trace of arrivals and parameter files. The trace is in the Standard
 * Workload Format, of which times and numbers of applications are read. Every job is folded. Errors
 * begin with the line of the file that is to be mended. Errors in an application's command begin
 * with the trace's line, then the application's. */
int pleat_mix_read_trace(struct pleat_mix *mix, const char *path,
                         const struct pleat_mix_parameters *files, struct pleat_string *notes,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* For both readers. pleat_mix_open opens mix->path and sets the directory. pleat_mix_add appends
 * the job that words (taken over) describe; its errors name `line` of `path`. pleat_mix_order puts
 * the jobs into the order of their arrival. */
int pleat_mix_open(struct pleat_mix *mix, FILE **file, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_mix_add(struct pleat_mix *mix, char **words, int count, const char *path, int line,
                  struct pleat_string *notes, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_mix_order(struct pleat_mix *mix, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_mix_finish(struct pleat_mix *mix);

/* Submits each job when its time comes, and follows the jobs until all have ended. Ctrl-C cancels
 * them. Then fetches their reports. Returns 0 or an exit code. */
int pleat_mix_run(struct pleat_mix *mix, struct pleat_client *client);

/* ---- progress, on stdout where that is a terminal (redrawn), else a line for each change ---- */
struct pleat_mix_progress {
    struct pleat_term term;
    int drawn; /* lines that are drawn on the terminal */
};

void pleat_mix_progress_init(struct pleat_mix_progress *progress);
void pleat_mix_progress_draw(struct pleat_mix_progress *progress, const struct pleat_mix *mix,
                             double now_s);
/* Reports an event of a job, where stdout is no terminal. */
void pleat_mix_progress_event(const struct pleat_mix_progress *progress,
                              const struct pleat_mix *mix, const struct pleat_mix_job *job,
                              const json_t *event);

/* ---- the report ---- */

/* Appends a line to *missed for each expectation (of a list such as "grown,shrunk,results") that is
 * not met. PLEAT_E_INVALID: an expectation is not known. `mix` NULL: only checks the words. */
int pleat_mix_expect(const char *expected, const struct pleat_mix *mix, struct pleat_string *missed,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Prints the table and the totals. Returns an exit code. */
int pleat_mix_print(const struct pleat_mix *mix, const struct pleat_gantt *gantt);
/* The report as JSON. NULL: out of memory. */
json_t *pleat_mix_json(const struct pleat_mix *mix, const struct pleat_gantt *gantt,
                       const char *missed);

#endif
