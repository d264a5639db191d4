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

/* A line of the file, and what becomes of it. */
struct pleat_mix_job {
    int line;
    double at_s;  /* when it arrives, after the start */
    char **words; /* the line, taken apart; owned; the submission points into it */
    int word_count;
    struct pleat_submission submission;
    json_t *spec; /* owned; NULL after it was submitted */
    /* while it runs */
    int64_t job; /* 0: not yet submitted */
    char state[16];
    int processors;
    int64_t iteration; /* -1: not known */
    bool ended;
    /* afterwards */
    json_t *report;     /* the job with its history; owned */
    const char *result; /* "ok", "wrong", or NULL: it said nothing about that */
};

/* The parameter files of Utrera 2010, 3.2.1: what a trace of arrivals refers to. */
struct pleat_mix_parameters {
    const char *applications; /* a line for each: its command, with N for the number of processes */
    const char *counts;       /* a line for each: the numbers that it takes; NULL: not given */
    const char *types;        /* a line for each: 1, long; 2, short; NULL: not given */
};

struct pleat_mix {
    const char *path;
    char *directory;                          /* where the file is */
    PLEAT_ARRAY(, struct pleat_mix_job) jobs; /* in order of arrival */
    double scale;
    double started_s; /* seconds since 1970 */
    int64_t first_event;
    int processors; /* of all sites */
    bool quiet;     /* no progress */
    bool interrupted;
};

/* Reads a file, and makes the spec of each line, so that nothing has to be submitted before all is
 * known to be right. Errors begin with "FILE:LINE: ". Lines about what was assumed go to *notes.
 * PLEAT_E_INVALID, PLEAT_E_NOTFOUND, PLEAT_E_SYSTEM, ... Finish *mix in any case. */
int pleat_mix_read(struct pleat_mix *mix, const char *path, struct pleat_string *notes,
                   struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same of a trace of arrivals (in the Standard Workload Format: times and numbers of
 * applications) and parameter files: every job is folded. Errors begin with the line of the
 * file that is to be mended; those of an application's command with the trace's line, and then the
 * application's. */
int pleat_mix_read_trace(struct pleat_mix *mix, const char *path,
                         const struct pleat_mix_parameters *files, struct pleat_string *notes,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* For both: opens mix->path and sets the directory; adds the job that words describe (taken over),
 * whose mistakes are those of a line of a file; puts the jobs into the order of their arrival. */
int pleat_mix_open(struct pleat_mix *mix, FILE **file, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_mix_add(struct pleat_mix *mix, char **words, int count, const char *path, int line,
                  struct pleat_string *notes, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_mix_order(struct pleat_mix *mix, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_mix_finish(struct pleat_mix *mix);

/* Submits the jobs when their time comes and follows them until all have ended; after Ctrl-C it
 * cancels them. Then fetches their reports. Returns 0 or an exit code. */
int pleat_mix_run(struct pleat_mix *mix, struct pleat_client *client);

/* ---- progress, on stdout where that is a terminal (redrawn), else a line for each change ---- */
struct pleat_mix_progress {
    struct pleat_term term;
    int drawn; /* lines of the block that stands on the terminal */
};

void pleat_mix_progress_init(struct pleat_mix_progress *progress);
void pleat_mix_progress_draw(struct pleat_mix_progress *progress, const struct pleat_mix *mix,
                             double now_s);
/* Something happened to a job; only without a terminal. */
void pleat_mix_progress_event(const struct pleat_mix_progress *progress,
                              const struct pleat_mix *mix, const struct pleat_mix_job *job,
                              const json_t *event);

/* ---- the report ---- */

/* Which expectations (a list such as "grown,shrunk,results") are not met: appends a line for each
 * to *missed. PLEAT_E_INVALID: no such expectation. `mix` NULL: only checks the words. */
int pleat_mix_expect(const char *expected, const struct pleat_mix *mix, struct pleat_string *missed,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Prints the table and the totals. Returns an exit code. */
int pleat_mix_print(const struct pleat_mix *mix, const struct pleat_gantt *gantt);
/* NULL: out of memory. */
json_t *pleat_mix_json(const struct pleat_mix *mix, const struct pleat_gantt *gantt,
                       const char *missed);

#endif
