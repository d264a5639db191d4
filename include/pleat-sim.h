/* pleat-sim.h - libpleat-sim: Pleat's simulator inside another program.
 *
 * The core and the policies of pleatd, in simulated time, as `pleat sim` runs them: the same
 * workload, sites, policies and seed give the same results as there. The Python module pleat.sim is
 * on top of this; so can other languages be, since all that is passed are numbers, texts and arrays
 * of them.
 *
 *     struct pleat_simulation *simulation;
 *     pleat_simulation_create(&simulation, &err);
 *     pleat_simulation_read(simulation, "log.swf", "", 0, &err);
 *     pleat_simulation_set(simulation, "queue", "easy", &err);
 *     pleat_simulation_run(simulation, &err);
 *     pleat_simulation_column(simulation, "jobs", 0, &column);
 *     pleat_simulation_destroy(simulation);
 *
 * A simulation belongs to one thread at a time; several may run in several threads. Errors are as
 * in pleat-error.h. New functions, options, tables and columns may come; those that there are keep
 * their names and meanings. */
#ifndef PLEAT_SIM_H
#define PLEAT_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "pleat-error.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The number of this interface. pleat_simulation_interface gives that of the library. */
#define PLEAT_SIMULATION_INTERFACE 1
int pleat_simulation_interface(void);

struct pleat_simulation;

/* A simulation without jobs and sites, with default policies. */
int pleat_simulation_create(struct pleat_simulation **simulation,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts NULL. What columns point to is gone then. */
void pleat_simulation_destroy(struct pleat_simulation *simulation);

/* ---- the workload: each of the first three replaces it ---- */

/* Reads a file ("-": standard input). format: "swf" (a log in the Standard Workload Format),
 * "batsim", "elastisim" (their files of jobs); "" tells by the file. flops: what a processor
 * computes in a second, for formats that count operations; 0: what a platform of SimGrid's says
 * that was read before. */
int pleat_simulation_read(struct pleat_simulation *simulation, const char *path, const char *format,
                          double flops, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same of a log in memory; name: for errors. */
int pleat_simulation_read_text(struct pleat_simulation *simulation, const char *text, size_t length,
                               const char *name, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Draws a workload: a model with its options as `pleat sim --generate` has them, "lublin --jobs 500
 * --load 0.7". */
int pleat_simulation_generate(struct pleat_simulation *simulation, const char *model, uint64_t seed,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* Makes a share (0 to 1) of the rigid jobs "malleable" or "moldable", as `pleat workload convert`
 * does. minimum, maximum, initial: factors of a job's size (initial 0: as many as are free). app:
 * the application model; sizes: "any", "powers", ... machine: the largest size; 0: that of the
 * workload's machine. converted (may be NULL): how many jobs. */
int pleat_simulation_convert(struct pleat_simulation *simulation, const char *kind, double share,
                             double minimum, double maximum, double initial, const char *app,
                             const char *sizes, int64_t machine, uint64_t seed, int64_t *converted,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes over the workload of another simulation: a copy. */
int pleat_simulation_copy_workload(struct pleat_simulation *simulation,
                                   const struct pleat_simulation *from,
                                   struct pleat_error *err) PLEAT_MUST_CHECK;
/* Divides the gaps between submissions by `factor`. */
int pleat_simulation_scale_load(struct pleat_simulation *simulation, double factor,
                                struct pleat_error *err) PLEAT_MUST_CHECK;
/* Writes the workload in the Standard Workload Format, as a whole or not at all. */
int pleat_simulation_write(const struct pleat_simulation *simulation, const char *path,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* What was left out or changed when the workload and platforms were read, a line each; "" where
 * nothing was. Valid until the next call. */
const char *pleat_simulation_notes(struct pleat_simulation *simulation);
/* The model of application `index`, as text; NULL: there is none. Valid until the next call. */
const char *pleat_simulation_app(struct pleat_simulation *simulation, uint32_t index);
/* Processors of the machine for which the workload was made; 0: unknown. */
int64_t pleat_simulation_machine(const struct pleat_simulation *simulation);

/* ---- sites and options ---- */

/* Adds a site. Without any there is one, as large as the workload's machine, or else as its largest
 * job. */
int pleat_simulation_site(struct pleat_simulation *simulation, const char *name, int64_t processors,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Adds the sites of a file, as `pleat sim --platform` does. */
int pleat_simulation_platform(struct pleat_simulation *simulation, const char *path,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* Sets an option: the policy of a question ("approach", "queue", "order", "placement",
 * "moldability", "malleability", "buffer", "need", "reward"); "estimates" ("given" or "exact");
 * "seed" (a number); "kill_at_estimate", "feedback" ("yes" or "no"); "noise" (by how many percent
 * iterations that applications report differ); or a parameter of pleat.conf ("decide_s"). */
int pleat_simulation_set(struct pleat_simulation *simulation, const char *key, const char *value,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Name, question and summary of the i-th policy that there is. Returns 0 after the last, else 1. */
int pleat_simulation_policy_at(size_t i, const char **question, const char **name,
                               const char **summary);

/* ---- policies of the program's own, for trying out ---- */

/* What a policy is asked. For every question the policy is one function. */
enum pleat_simulation_asked {
    PLEAT_ASKED_GROW = 1,   /* malleability: hand out `processors` free ones at a site */
    PLEAT_ASKED_SHRINK = 2, /* malleability: get `processors` back at a site for `component`, which
                             * waits */
    PLEAT_ASKED_START = 3,  /* queue: start what may start. The answer is the first component that
                             * has to wait, or -1 */
    PLEAT_ASKED_KEY = 4     /* order: the key of the job that begins to wait. Smaller ones stand in
                             * front */
};

/* Answers a question. What it returns counts only where the question wants an answer. It may call
 * pleat_simulation_fail. The same state must lead to the same answer: no clock, no random numbers
 * but from a seed, no order that differs from run to run. */
typedef int64_t pleat_simulation_answer(void *context, int asked, int64_t component, uint32_t site,
                                        int64_t processors);

/* Makes a function the policy of a question: "malleability", "queue" or "order". NULL: the default
 * again. It is called in the thread that runs the simulation. */
int pleat_simulation_own_policy(struct pleat_simulation *simulation, const char *question,
                                pleat_simulation_answer *answer, void *context,
                                struct pleat_error *err) PLEAT_MUST_CHECK;
/* From an answer: the run ends with PLEAT_E_CLOSED and this text. Also from the function that is
 * told of progress. */
void pleat_simulation_fail(struct pleat_simulation *simulation, const char *text);
/* Is called now and then in a run, with the jobs that have ended. NULL: not. */
typedef void pleat_simulation_told(void *context, int64_t now_us, int64_t ended);
void pleat_simulation_on_progress(struct pleat_simulation *simulation, pleat_simulation_told *told,
                                  void *context);

/* The rest of this part is for answers, and gives 0 (or -1) elsewhere. Components are numbered from
 * 0; a number is used again when its job is over. */

int64_t pleat_simulation_now_us(const struct pleat_simulation *simulation);

enum pleat_simulation_list {
    PLEAT_LIST_WAITING = 1,   /* the queue, in its order; of all sites */
    PLEAT_LIST_MALLEABLE = 2, /* running malleable components of a site, earliest started first */
    PLEAT_LIST_OTHERS = 3     /* the other running ones of a site, earliest started first */
};
/* Puts up to `most` components of a list into `components`; returns how many there are. */
size_t pleat_simulation_list(const struct pleat_simulation *simulation, int list, uint32_t site,
                             uint32_t *components, size_t most);

/* What may be asked about a component (component -1: the job whose key is asked for), and what -1
 * stands for: no time, or no such thing. */
enum pleat_simulation_of_component {
    PLEAT_OF_JOB = 1,       /* its job's number in the workload */
    PLEAT_OF_PROCESSORS,    /* that it will have once this pass is carried out; waiting: 0 */
    PLEAT_OF_MINIMUM,       /* of its size */
    PLEAT_OF_MAXIMUM,       /* of its size */
    PLEAT_OF_KIND,          /* 0 rigid, 1 moldable, 2 malleable */
    PLEAT_OF_SITE,          /* where it runs */
    PLEAT_OF_SUBMIT_US,     /* when it was submitted */
    PLEAT_OF_START_US,      /* when its run began */
    PLEAT_OF_ESTIMATE_US,   /* how long it runs, as its user says */
    PLEAT_OF_END_US,        /* when it is expected to end; no earlier than now */
    PLEAT_OF_PRIORITY,      /* larger ones are to go first */
    PLEAT_OF_DUE_US,        /* its deadline */
    PLEAT_OF_RESIZING,      /* 1: a resize is under way, so it accepts nothing */
    PLEAT_OF_COULD_SHRINK,  /* 1: it would give up some processors */
    PLEAT_OF_LEAST_TO_START /* the fewest processors with which it can start */
};
int64_t pleat_simulation_of_component(const struct pleat_simulation *simulation, int64_t component,
                                      int what);

enum pleat_simulation_of_site {
    PLEAT_OF_CAPACITY = 1, /* its processors */
    PLEAT_OF_IDLE,         /* that nobody has, and this pass gives to nobody */
    PLEAT_OF_GROWABLE,     /* of the idle ones: that may be used for growing */
    PLEAT_OF_BACKGROUND    /* that others use */
};
uint32_t pleat_simulation_site_count(const struct pleat_simulation *simulation);
const char *pleat_simulation_site_name(const struct pleat_simulation *simulation, uint32_t site);
int64_t pleat_simulation_of_site(const struct pleat_simulation *simulation, uint32_t site,
                                 int what);

/* Offers a running malleable component more processors; returns how many it takes. For GROW. */
int64_t pleat_simulation_offer_grow(struct pleat_simulation *simulation, int64_t component,
                                    int64_t processors);
/* Tells it to give some up; returns how many it will, which may be more. For SHRINK. */
int64_t pleat_simulation_offer_shrink(struct pleat_simulation *simulation, int64_t component,
                                      int64_t processors);
/* Starts a waiting component, at the site and size that placement and moldability choose. 0: that
 * is not possible now. For START. */
int pleat_simulation_start(struct pleat_simulation *simulation, int64_t component);

/* ---- running, results ---- */

/* Runs the workload to its end. May be called again, after other options were set. */
int pleat_simulation_run(struct pleat_simulation *simulation,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

enum pleat_simulation_kind {
    PLEAT_COLUMN_INTEGER = 1, /* const int64_t * */
    PLEAT_COLUMN_REAL = 2,    /* const double *; NaN: there is none */
    PLEAT_COLUMN_LABEL = 3    /* const int64_t *: indexes into `labels`; -1: none */
};

struct pleat_simulation_column {
    const char *name;
    const void *values;
    const char *const *labels;
    size_t label_count;
    int kind;
};

/* The tables: "workload" (always), and after a run "jobs", "resizes", "series" and "summary" (one
 * row). The user guide lists their columns. How many rows a table has; */
size_t pleat_simulation_rows(struct pleat_simulation *simulation, const char *table);
/* and its column `index`. PLEAT_E_NOTFOUND: it has no more, or there is no such table (now). Values
 * are valid until the next run, or until the workload changes. */
int pleat_simulation_column(struct pleat_simulation *simulation, const char *table, size_t index,
                            struct pleat_simulation_column *column) PLEAT_MUST_CHECK;

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
