/* submission.h - how a component that is to run becomes inputs of the core: its SUBMIT, and the
 * companions that say the rest of it. For the daemon, whose descriptions are specs, and for the
 * simulator, whose descriptions are jobs of a workload: the same description gives the same inputs.
 */
#ifndef PLEAT_MODEL_SUBMISSION_H
#define PLEAT_MODEL_SUBMISSION_H

#include "model/event.h"
#include "model/spec.h"
#include "model/workload.h"

/* What SUBMIT says. Sizes are as the core has them: numbers of processes where the component
 * folds. */
struct pleat_submission {
    uint64_t job;
    int64_t estimate_us; /* 0: none */
    int32_t minimum, maximum, initial;
    int32_t sizes_parameter; /* step, or the number of a list that the core knows */
    int32_t reference;       /* size for which the estimate holds; 0: any */
    uint32_t site;           /* where it must run; PLEAT_NONE: anywhere */
    uint16_t ordinal;
    uint16_t flags; /* PLEAT_COMPONENT_*, but FOLDS */
    int16_t priority;
    uint8_t kind; /* enum pleat_job_kind */
    uint8_t sizes_kind;
    uint8_t job_class;
    uint8_t mpl_max;
    bool folds;
    bool part_of_flexible; /* of a flexible job, but not its first component: it has no size of its
                            * own */
};

struct pleat_submission_need {
    uint64_t job;
    uint32_t component; /* the first component of that job */
    enum pleat_condition condition;
};

/* What the companions of SUBMIT say. Zeroed, but for terms as configured (pleat_companions_none),
 * they say nothing. */
struct pleat_companions {
    const struct pleat_input_file *inputs; /* what it reads */
    int64_t notice_us, lifetime_us;        /* -1: as configured */
    int64_t limit_us;
    struct pleat_spec_signal signal;
    int32_t partition_least, partition_most, mpl_first; /* FOLDS; 0: not said */
    int64_t deadline_us, begin_us;                      /* moments; 0: none */
    const struct pleat_submission_need *needs;
    uint32_t input_count, need_count;
    uint32_t group;      /* a group that has members, or the next one */
    int32_t group_limit; /* 0: the job is of no group */
    bool any_need;       /* one of the jobs that it waits for is enough */
    bool hold;
};

static inline struct pleat_companions pleat_companions_none(void)
{
    return (struct pleat_companions){.notice_us = -1, .lifetime_us = -1};
}

/* Fills in what a spec says. Left to the caller: job, site, the number of a list of sizes, what the
 * job waits for, its group. The spec's deadline and begin are counted from now_us. */
void pleat_submission_of_spec(const struct pleat_spec *spec, struct pleat_submission *submission);
void pleat_companions_of_spec(const struct pleat_spec *spec, int64_t now_us,
                              struct pleat_companions *companions);
/* Fills in what rows of a workload say of a component: the one of row `at`, of the job that begins
 * at row `first`. Left to the caller: the estimate, the number of a list of sizes, the simulator's
 * own flags. */
void pleat_submission_of_row(const struct pleat_workload *workload, size_t first, size_t at,
                             struct pleat_submission *submission);

/* Makes the input that submits the component; all of its bytes are set. */
void pleat_submission_event(const struct pleat_submission *submission, int64_t now_us,
                            uint32_t component, struct pleat_event *submit);
/* Makes the next input that follows the submission, in the order in which the core has to be told.
 * *step is 0 at first; false: nothing more follows. */
bool pleat_companions_next(const struct pleat_companions *companions,
                           const struct pleat_event *submit, uint32_t *step,
                           struct pleat_event *event);
/* Makes the next input that tells a list of sizes, before a submission refers to it. *told is 0 at
 * first; false: all of the list is told. */
bool pleat_submission_list(uint32_t list, const int32_t *values, uint32_t count, int64_t now_us,
                           uint32_t *told, struct pleat_event *event);

#endif
