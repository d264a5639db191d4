/* sim_request.h - what `pleat sim` was asked: read from its options, checked before anything runs.
 */
#ifndef PLEAT_CLI_SIM_REQUEST_H
#define PLEAT_CLI_SIM_REQUEST_H

#include "cli/cli.h"
#include "sim/sim.h"
#include "workload/swf.h"

enum { PLEAT_SIM_CHOICES_MAX = 24, PLEAT_SIM_RUNS_MAX = 10000 };

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

/* One policy for every question. */
struct pleat_sim_combination {
    char label[160]; /* the names in which it differs from the others; "" for the only one */
    char directory[200];
    const struct pleat_policy *policies[PLEAT_QUESTION_COUNT];
};

PLEAT_ARRAY(pleat_sim_combinations, struct pleat_sim_combination);

/* Texts are borrowed from argv but for what `own` holds. */
struct pleat_sim_request {
    const char *workload, *platform_file, *csv, *chart, *replay;
    const char *app, *sizes;
    struct pleat_platform platform; /* of --site, in that order; then of the file */
    struct pleat_sim_choices choices[PLEAT_QUESTION_COUNT];
    struct pleat_sim_combinations combinations;
    int64_t parameters[PLEAT_PARAM_COUNT];
    double malleable, moldable;       /* shares of the jobs */
    double minimum, maximum, initial; /* times a job's size; initial 0: as available */
    double load;
    double from_s, to_s; /* of the drawing; NAN: not given */
    size_t first;        /* jobs in the drawing; 0: not given */
    enum pleat_estimates estimates;
    enum pleat_swf_zero zero;
    bool kill_at_estimate;
    size_t jobs;
    uint64_t seed;
    size_t seeds, threads;
    struct pleat_array_of_text {
        char **items;
        size_t count, capacity;
    } own;
};

void pleat_sim_request_init(struct pleat_sim_request *request);
void pleat_sim_request_finish(struct pleat_sim_request *request);

/* "fcfs,easy": added to the choices of a question. PLEAT_E_INVALID: err has the names there are. */
int pleat_sim_request_choose(struct pleat_sim_request *request, enum pleat_question question,
                             const char *names, struct pleat_error *err) PLEAT_MUST_CHECK;
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
