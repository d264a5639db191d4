/* submission_plan.h - what is decided about a job before its spec is written: for submission_*.c.
 */
#ifndef PLEAT_DESCRIBE_SUBMISSION_PLAN_H
#define PLEAT_DESCRIBE_SUBMISSION_PLAN_H

#include <limits.h>

#include "describe/submission.h"
#include "launch/launch.h"

/* What was decided about a job. */
struct pleat_submission_plan {
    int64_t least, most, initial;
    char *sizes; /* in processors, where each process has several; owned; NULL: as given */
    struct pleat_submission_fold fold; /* where there is --processes; owned */
    bool folds;
    const char *runner;
    const char *kind;
    enum pleat_mpi mpi;
    char program[PATH_MAX];
    char sample[PATH_MAX]; /* as it is found for one number of processes */
    char directory[PATH_MAX];
};

/* Its sizes and, where it folds, what was said about that. What was assumed is added to *notes.
 * PLEAT_E_INVALID: what was asked for does not fit together. */
int pleat_submission_plan_size(const struct pleat_submission *submission,
                               struct pleat_submission_plan *plan, struct pleat_string *notes,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* Its directory and its program. PLEAT_E_NOTFOUND, PLEAT_E_PERMISSION, PLEAT_E_SYSTEM, ... */
int pleat_submission_plan_program(const struct pleat_submission *submission,
                                  struct pleat_submission_plan *plan,
                                  struct pleat_error *err) PLEAT_MUST_CHECK;
/* Its MPI, runner and kind, by what the program is linked with; after the two above. */
int pleat_submission_plan_runner(const struct pleat_submission *submission,
                                 struct pleat_submission_plan *plan, struct pleat_string *notes,
                                 struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
