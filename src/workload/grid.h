/* grid.h - mixes of jobs as a grid workload generator makes them (after GrenchMark; Lammers
 * 2005, 2.5 and 3.9): types of applications with weights, jobs of one or several components, at
 * fixed sites or anywhere, sizes and run times from distributions.
 *
 * A mix is described in a small text file (docs/user-guide.md). Drawing its jobs with a seed gives
 * a list, of which two things are made: a workload for the simulator, and the text of a job mix
 * that `pleat mix` runs for real. The same mix and seed give the same bytes.
 *
 * In the simulator the components of a job are placed and started together. `pleatd` takes only
 * jobs of one component yet: in the mix for the real run a job of several becomes as many jobs,
 * submitted at the same instant; nothing makes them start together.
 */
#ifndef PLEAT_WORKLOAD_GRID_H
#define PLEAT_WORKLOAD_GRID_H

#include <stdbool.h>

#include "model/workload.h"
#include "workload/generate.h"

enum pleat_grid_placement {
    PLEAT_GRID_NON_FIXED,  /* no component names its site */
    PLEAT_GRID_FIXED,      /* all do, drawn from the mix's sites */
    PLEAT_GRID_SEMI_FIXED, /* some do: at least one, not all (one component: as non-fixed) */
    PLEAT_GRID_PLACEMENT_COUNT
};
/* "non-fixed", "fixed", "semi-fixed". NULL: there is no such one. */
const char *pleat_grid_placement_name(enum pleat_grid_placement placement);

/* In the text for the real run {...} are replaced:
 *   {size} {min} {max}  processors drawn, and the limits
 *   {run}               seconds drawn, on {size} processors
 *   {step}              milliseconds of a step, as the mix says
 *   {steps}             so many that they take {run}, a step's work being shared by the processors
 *   {turns}             so many that they take {run}, a step being as long on any number of them
 *   {job} {component}   numbers, from 1
 *   {{ }}               braces
 */
struct pleat_grid_type {
    char *name;    /* of its jobs: NAME-JOB, or NAME-JOB.COMPONENT of several */
    char *command; /* program and arguments; NULL: can be simulated only */
    char *options; /* further options of `pleat submit` for the real run; NULL: none */
    char *model;   /* how run time depends on size, as pleat_app_parse reads it; NULL: linear */
    double weight;
    enum pleat_grid_placement placement;
    struct pleat_distribution components; /* of a job */
    struct pleat_distribution size;       /* of a component, processors */
    struct pleat_distribution run;        /* seconds, on the size drawn; the same for all its
                                           * components */
    double step_ms;                       /* 0: {step}, {steps} and {turns} may not be used */
    enum pleat_job_kind kind;
    double minimum, maximum; /* MOLDABLE, MALLEABLE: times the size drawn */
    double initial;          /* MALLEABLE: times the size drawn; 0: as many as are available.
                              * 0 <= minimum <= 1 <= maximum, initial 0 or between them */
    enum pleat_sizes_kind sizes_kind; /* sizes drawn are rounded down to one of these
                                       * (up, below the smallest). LIST: those of the model's
                                       * speedup table */
    int32_t sizes_step;               /* MULTIPLES */
    struct pleat_size_list accepted;  /* LIST: the table's */
};

struct pleat_grid_site {
    char *name;
    int32_t processors; /* 0: not known */
};

PLEAT_ARRAY(pleat_grid_types, struct pleat_grid_type);
PLEAT_ARRAY(pleat_grid_sites, struct pleat_grid_site);

/* Plain data after reading: change jobs, total and so on as the user asks. */
struct pleat_grid_mix {
    size_t jobs;                   /* at least 1 */
    struct pleat_distribution gap; /* seconds between jobs; the first comes at 0 */
    int32_t total;                 /* no job has more processors than that; 0: as the sites hold */
    double estimate; /* users' estimates are run time x uniform(1, this), so >= 1; 0: none */
    bool popular;    /* or, instead of that, popular values (workload/estimate.h) */
    int64_t popular_longest_us; /* the longest that is allowed; 0: by the run times */
    struct pleat_grid_types types;
    struct pleat_grid_sites sites; /* job.site of a workload is the index here; may be empty */
};

/* Reads a file ("-": standard input), or text (name: for errors). *mix is a zeroed one; finish it
 * after success. PLEAT_E_INVALID, PLEAT_E_NOTFOUND (it cannot be read), PLEAT_E_NOMEM: err begins
 * with "FILE:LINE: " where a line is to blame; *mix is zeroed still. */
int pleat_grid_mix_read(const char *path, struct pleat_grid_mix *mix,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_grid_mix_read_text(const char *text, const char *name, struct pleat_grid_mix *mix,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_grid_mix_finish(struct pleat_grid_mix *mix);

/* The mix used where none is given, with comments: the applications of apps/ on one machine of 4
 * processors, some 30 s. Its programs are those of build/apps, seen from the file written. */
const char *pleat_grid_default_text(void);

/* ---- drawing ---- */

struct pleat_grid_component {
    uint32_t job, component; /* numbers, from 1 */
    uint32_t components;     /* of its job */
    uint32_t type, site;     /* indexes; site PLEAT_NONE: anywhere */
    int32_t size, minimum, maximum, initial;
    int64_t submit_us, run_us, estimate_us;
};
PLEAT_ARRAY(pleat_grid_list, struct pleat_grid_component);

struct pleat_grid_draw {
    struct pleat_grid_list list; /* by job and component */
    size_t jobs;
    size_t capped; /* jobs cut to the total or to what sites hold, the last components first */
    uint64_t seed;
};

/* *draw is a zeroed one; finish it after success. PLEAT_E_INVALID: the mix does not fit together
 * (err says which type); PLEAT_E_NOMEM. */
int pleat_grid_draw(const struct pleat_grid_mix *mix, uint64_t seed, struct pleat_grid_draw *draw,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_grid_draw_finish(struct pleat_grid_draw *draw);

/* Appends the jobs to an initialized, empty workload: a row for each component, an application for
 * each type. PLEAT_E_INVALID: a job could not be run (err names it); PLEAT_E_NOMEM. On failure
 * the workload is unchanged. */
int pleat_grid_workload(const struct pleat_grid_mix *mix, const struct pleat_grid_draw *draw,
                        struct pleat_workload *workload, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Appends the text of a job mix: a line for each component, "AT NAME OPTIONS -- PROGRAM". Programs
 * named by a path are looked for beside the file that the text is written to, as in every job mix.
 * PLEAT_E_INVALID: a type has no command, or a placeholder that does not exist. */
int pleat_grid_text(const struct pleat_grid_mix *mix, const struct pleat_grid_draw *draw,
                    struct pleat_string *out, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
