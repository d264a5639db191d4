/* foreign.h - what the readers of other simulators' jobs share. */
#ifndef PLEAT_SCENARIO_FOREIGN_H
#define PLEAT_SCENARIO_FOREIGN_H

#include "scenario/read.h"
#include "scenario/text.h"

/* A file that is being read. */
struct pleat_foreign {
    const char *name;
    struct pleat_reading *reading;
    struct pleat_workload *workload;
    struct pleat_error *err;
    size_t unknown, first_unknown; /* jobs left out, since nothing tells how long they run */
    char unknown_why[80];
    size_t transfers; /* jobs with messages or files that take no time here */
    size_t unnumbered;
    size_t limited; /* jobs with a limit, which is read as an estimate */
    size_t depend;
    size_t steps; /* of work, so that a small file cannot take for ever */
};

/* Read the jobs, into reading->report, too. */
int pleat_batsim_read(struct pleat_foreign *foreign, const json_t *json) PLEAT_MUST_CHECK;
int pleat_elastisim_read(struct pleat_foreign *foreign, const json_t *json) PLEAT_MUST_CHECK;

/* Counts steps. PLEAT_E_INVALID: there are too many. */
int pleat_foreign_step(struct pleat_foreign *foreign) PLEAT_MUST_CHECK;
/* A rigid job with application 0, of which nothing is known yet. */
void pleat_foreign_job(struct pleat_workload_job *job);
/* Sets submission, run time and estimate (seconds; limit 0: none). */
void pleat_foreign_times(struct pleat_foreign *foreign, struct pleat_workload_job *job,
                         double submit_s, double run_s, double limit_s);
/* Leaves a job out since `why`. */
void pleat_foreign_leave_out(struct pleat_foreign *foreign, size_t index, const char *why);
/* Adds a job, unless it runs for no time at all and such jobs are not wanted. `place` is for what
 * is wrong with it. */
int pleat_foreign_add(struct pleat_foreign *foreign, const struct pleat_member_place *place,
                      struct pleat_workload_job *job) PLEAT_MUST_CHECK;

/* Says in reading->notes what is lost. */
void pleat_foreign_note(const struct pleat_foreign *foreign);

#endif
