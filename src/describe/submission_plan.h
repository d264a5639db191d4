/* submission_plan.h - what is decided about a job before its spec is written; for submission_*.c.
 */
#ifndef PLEAT_DESCRIBE_SUBMISSION_PLAN_H
#define PLEAT_DESCRIBE_SUBMISSION_PLAN_H

#include <limits.h>

#include "describe/submission.h"
#include "launch/launch.h"

struct pleat_submission_plan {
    int64_t least, most, initial;
    /* in processors, where each process has several; owned; NULL: those that were given */
    char *sizes;
    struct pleat_submission_fold fold; /* where --processes was given; owned */
    bool folds;
    const char *runner;
    const char *kind;
    enum pleat_mpi mpi;
    char program[PATH_MAX];
    char sample[PATH_MAX]; /* the program for one number of processes */
    char directory[PATH_MAX];
    char from[PATH_MAX]; /* the checkpoint, where one was given */
};

/* Decides the sizes of the job, and reads the options of folding. What was assumed is added to
 * *notes. PLEAT_E_INVALID: the options do not fit together. */
int pleat_submission_plan_size(const struct pleat_submit_options *submission,
                               struct pleat_submission_plan *plan, struct pleat_string *notes,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* Finds the directory and the program of the job. PLEAT_E_NOTFOUND, PLEAT_E_PERMISSION,
 * PLEAT_E_SYSTEM, ... */
int pleat_submission_plan_program(const struct pleat_submit_options *submission,
                                  struct pleat_submission_plan *plan,
                                  struct pleat_error *err) PLEAT_MUST_CHECK;
/* Chooses MPI, runner and kind, by the libraries that the program is linked with. To be called
 * after the two functions above. */
int pleat_submission_plan_runner(const struct pleat_submit_options *submission,
                                 struct pleat_submission_plan *plan, struct pleat_string *notes,
                                 struct pleat_error *err) PLEAT_MUST_CHECK;

/* Whether the job's program asks for processes itself (--evolving, --runner evolving). */
bool pleat_submission_evolves(const struct pleat_submit_options *submission);
/* PLEAT_E_INVALID: other sites are named for a job that can have no processes there. */
int pleat_submission_check_sites(const struct pleat_submit_options *submission,
                                 struct pleat_error *err) PLEAT_MUST_CHECK;
/* Of such a job: refuses options that do not go with that, and turns the others into those of a job
 * that starts with one size and may have more. PLEAT_E_INVALID. */
int pleat_submission_take_evolving(struct pleat_submit_options *submission,
                                   struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
