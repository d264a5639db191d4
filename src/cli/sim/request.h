/* request.h - the request of `pleat sim`: read from options, and checked before anything runs. */
#ifndef PLEAT_CLI_SIM_REQUEST_H
#define PLEAT_CLI_SIM_REQUEST_H

#include "cli/common/cli.h"
#include "scenario/models.h"
#include "scenario/read.h"
#include "sim/sim.h"
#include "workload/swf.h"

enum { PLEAT_SIM_CHOICES_MAX = 24, PLEAT_SIM_RUNS_MAX = 10000, PLEAT_SIM_WORKLOADS_MAX = 1000 };

/* One of the names in a policy's option. Where the name is not a policy of that question but an
 * order, it stands for the question's default policy in that order. */
struct pleat_sim_choice {
    const char *name; /* as the user wrote it; owned by the request */
    const struct pleat_policy *policy, *order;
};

struct pleat_sim_choices {
    struct pleat_sim_choice items[PLEAT_SIM_CHOICES_MAX];
    size_t count; /* 0: the default policy */
};

/* A policy for every question, and a share of malleable jobs. */
struct pleat_sim_combination {
    char label[160]; /* how it differs from the others; "" for the only one */
    char directory[200];
    const struct pleat_policy *policies[PLEAT_QUESTION_COUNT];
    double malleable; /* share of malleable jobs */
};

/* A part of the time between first and last submission: a share of it, or seconds. */
struct pleat_sim_cut {
    double share, seconds;
};

PLEAT_ARRAY(pleat_sim_combinations, struct pleat_sim_combination);

/* Texts are borrowed from argv, except those in `own`. */
struct pleat_sim_request {
    const char *workloads[PLEAT_SIM_WORKLOADS_MAX];
    size_t workload_count;
    const char *generate; /* a model with its options, instead of workloads */
    struct pleat_generator generator;
    const char *platform_file, *csv, *chart, *replay;
    const char *app, *sizes;
    struct pleat_platform platform; /* first the sites of --site, then those of the file */
    struct pleat_sim_choices choices[PLEAT_QUESTION_COUNT];
    struct pleat_sim_combinations combinations;
    int64_t parameters[PLEAT_PARAM_COUNT];
    double malleable[PLEAT_SIM_CHOICES_MAX], moldable; /* shares of the jobs */
    size_t malleable_count;                            /* at least 1 */
    double minimum, maximum, initial; /* factors of a job's size; initial 0: as many as are free */
    double load;
    double from_s, to_s; /* window of the chart; NAN: not given */
    size_t first;        /* number of jobs in the chart; 0: not given */
    enum pleat_estimates estimates;
    struct pleat_popular popular; /* estimates that replace those of the workload */
    enum pleat_swf_zero zero;
    enum pleat_workload_format format; /* of the workloads */
    double flops; /* operations a second of a processor; 0: as the platform says, or not known */
    bool kill_at_estimate;
    bool hold_load; /* arrivals are adjusted to the processor time that jobs take at their sizes */
    bool feedback;  /* a job is submitted after the job that it follows */
    /* by how much iterations that applications report differ: deviation as a share of the mean */
    double noise;
    bool clock; /* charts have the time of day on their axes */
    size_t jobs;
    uint64_t seed;
    size_t seeds; /* runs of each combination, each with its own seed or workload */
    struct pleat_sim_cut warmup, cooldown; /* jobs submitted in these times are not counted */
    size_t threads;
    struct pleat_array_of_text {
        char **items;
        size_t count, capacity;
    } own;
};

void pleat_sim_request_init(struct pleat_sim_request *request);
void pleat_sim_request_finish(struct pleat_sim_request *request);

/* Reads the command line into an initialized request. Returns 0; or PLEAT_OPTION_EXIT: the command
 * is to leave with options->exit_code, and the reason was reported. */
int pleat_sim_request_read(struct pleat_sim_request *request, struct pleat_options *options,
                           int argc, char **argv);

/* Adds the policies of "fcfs,easy" to the choices of a question. PLEAT_E_INVALID: err lists the
 * known names. */
int pleat_sim_request_choose(struct pleat_sim_request *request, enum pleat_question question,
                             const char *names, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Adds the workloads of "a.swf" or "a.swf,b.swf". A text that is the name of a file as a whole is
 * one workload. */
int pleat_sim_request_workload(struct pleat_sim_request *request, const char *text,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* Adds shares of malleable jobs: "50" or "0,20,50", in percent. */
int pleat_sim_request_malleable(struct pleat_sim_request *request, const char *text,
                                struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads a part of the time of submissions: "10%", or a duration such as "2d". */
int pleat_sim_request_cut(const char *option, const char *text, struct pleat_sim_cut *cut,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* The largest of the shares of malleable jobs. */
double pleat_sim_request_most_malleable(const struct pleat_sim_request *request);
/* Adds a site: "NAME:PROCESSORS". */
int pleat_sim_request_site(struct pleat_sim_request *request, const char *text,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Sets a parameter: "claim_s=5", as in pleat.conf. */
int pleat_sim_request_parameter(struct pleat_sim_request *request, const char *text,
                                struct pleat_error *err) PLEAT_MUST_CHECK;
/* Makes all combinations of what was chosen, in the order of the options' names. */
int pleat_sim_request_combine(struct pleat_sim_request *request,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether only a part of the time is measured. */
static inline bool pleat_sim_cuts(const struct pleat_sim_request *request)
{
    return request->warmup.share > 0 || request->warmup.seconds > 0 ||
           request->cooldown.share > 0 || request->cooldown.seconds > 0;
}

#endif
