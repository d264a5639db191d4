/* request.h - what `pleat sim` was asked: read from its options, checked before anything runs.
 */
#ifndef PLEAT_CLI_SIM_REQUEST_H
#define PLEAT_CLI_SIM_REQUEST_H

#include "cli/common/cli.h"
#include "cli/workload/models.h"
#include "sim/sim.h"
#include "workload/swf.h"

enum { PLEAT_SIM_CHOICES_MAX = 24, PLEAT_SIM_RUNS_MAX = 10000, PLEAT_SIM_WORKLOADS_MAX = 1000 };

/* One of the names given at a policy's option. A name that is no policy of that question but an
 * order stands for the question's default in that order. */
struct pleat_sim_choice {
    const char *name; /* as the user wrote it; of the request */
    const struct pleat_policy *policy, *order;
};

struct pleat_sim_choices {
    struct pleat_sim_choice items[PLEAT_SIM_CHOICES_MAX];
    size_t count; /* 0: the default */
};

/* One policy for every question, and a share of malleable jobs. */
struct pleat_sim_combination {
    char label[160]; /* in what it differs from the others; "" for the only one */
    char directory[200];
    const struct pleat_policy *policies[PLEAT_QUESTION_COUNT];
    double malleable; /* share of the jobs */
};

/* A part of the time between first and last submission: a share of it, or seconds. */
struct pleat_sim_cut {
    double share, seconds;
};

PLEAT_ARRAY(pleat_sim_combinations, struct pleat_sim_combination);

/* Texts are borrowed from argv but for what `own` holds. */
struct pleat_sim_request {
    const char *workloads[PLEAT_SIM_WORKLOADS_MAX];
    size_t workload_count;
    const char *generate; /* instead of workloads: a model with its options */
    struct pleat_generator generator;
    const char *platform_file, *csv, *chart, *replay;
    const char *app, *sizes;
    struct pleat_platform platform; /* of --site, in that order; then of the file */
    struct pleat_sim_choices choices[PLEAT_QUESTION_COUNT];
    struct pleat_sim_combinations combinations;
    int64_t parameters[PLEAT_PARAM_COUNT];
    double malleable[PLEAT_SIM_CHOICES_MAX], moldable; /* shares of the jobs */
    size_t malleable_count;                            /* at least 1 */
    double minimum, maximum, initial; /* times a job's size; initial 0: as available */
    double load;
    double from_s, to_s; /* of the drawing; NAN: not given */
    size_t first;        /* jobs in the drawing; 0: not given */
    enum pleat_estimates estimates;
    struct pleat_popular popular; /* estimates that take the place of the workload's */
    enum pleat_swf_zero zero;
    bool kill_at_estimate;
    bool hold_load; /* arrivals follow what the jobs take on the sizes that they get */
    bool feedback;  /* jobs are submitted after those that they follow */
    bool clock;     /* drawings have the time of day on their axes */
    size_t jobs;
    uint64_t seed;
    size_t seeds; /* runs of each combination: each with a seed, or a workload, of its own */
    struct pleat_sim_cut warmup, cooldown; /* jobs submitted in these count nowhere */
    size_t threads;
    struct pleat_array_of_text {
        char **items;
        size_t count, capacity;
    } own;
};

void pleat_sim_request_init(struct pleat_sim_request *request);
void pleat_sim_request_finish(struct pleat_sim_request *request);

/* Reads the command line into an initialized request. 0; or PLEAT_OPTION_EXIT: leave with
 * options->exit_code, having said why. */
int pleat_sim_request_read(struct pleat_sim_request *request, struct pleat_options *options,
                           int argc, char **argv);

/* "fcfs,easy": added to the choices of a question. PLEAT_E_INVALID: err has the names there are. */
int pleat_sim_request_choose(struct pleat_sim_request *request, enum pleat_question question,
                             const char *names, struct pleat_error *err) PLEAT_MUST_CHECK;
/* "a.swf" or "a.swf,b.swf": added to the workloads. What is a file's name as a whole is one. */
int pleat_sim_request_workload(struct pleat_sim_request *request, const char *text,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* "50" or "0,20,50": percent of the jobs. */
int pleat_sim_request_malleable(struct pleat_sim_request *request, const char *text,
                                struct pleat_error *err) PLEAT_MUST_CHECK;
/* "10%" of the time of submissions, or a duration: "2d". */
int pleat_sim_request_cut(const char *option, const char *text, struct pleat_sim_cut *cut,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* The largest share of malleable jobs. */
double pleat_sim_request_most_malleable(const struct pleat_sim_request *request);
/* "NAME:PROCESSORS" */
int pleat_sim_request_site(struct pleat_sim_request *request, const char *text,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* "claim_s=5": as in pleat.conf. */
int pleat_sim_request_parameter(struct pleat_sim_request *request, const char *text,
                                struct pleat_error *err) PLEAT_MUST_CHECK;
/* All combinations of what was chosen, in the order of the options' names. */
int pleat_sim_request_combine(struct pleat_sim_request *request,
                              struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
