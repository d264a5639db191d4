/* grid.h - mixes of jobs as a grid workload generator makes them (after GrenchMark; Lammers 2005,
 * 2.5 and 3.9): types of applications with weights, jobs of one or several components, at fixed
 * sites or anywhere, sizes and run times from distributions.
 *
 * A mix is described in a small text file (docs/user-guide.md). Drawing its jobs with a seed gives
 * a list. Two things are made of the list: a workload for the simulator, and the text of a job mix
 * that `pleat mix` runs on a real machine. A mix and a seed always give the same bytes.
 *
 * In the simulator the components of a job are placed and started together. `pleatd` only takes
 * jobs of one component. So in the text of the job mix each component is a job of its own. They are
 * submitted at the same instant, but may start at different times.
 */
#ifndef PLEAT_WORKLOAD_GRID_H
#define PLEAT_WORKLOAD_GRID_H

#include <stdbool.h>

#include "model/workload.h"
#include "workload/generate.h"

enum pleat_grid_placement {
    PLEAT_GRID_NON_FIXED, /* no component names its site */
    PLEAT_GRID_FIXED,     /* all components name a site, drawn from the mix's sites */
    /* at least one component names its site, but not all do; a job of one component: as non-fixed
     */
    PLEAT_GRID_SEMI_FIXED,
    PLEAT_GRID_PLACEMENT_COUNT
};
/* The name of a placement: "non-fixed", "fixed", "semi-fixed". NULL: there is no such placement. */
const char *pleat_grid_placement_name(enum pleat_grid_placement placement);

/* In the text for the real run {...} are replaced:
 *   {size} {min} {max}  the processors drawn, and the limits
 *   {run}               the run time drawn, in seconds, on {size} processors
 *   {step}              the time of a step on one processor, in milliseconds
 *   {steps}             the number of steps that take {run}, where processors share a step's work
 *   {turns}             the number of steps that take {run}, where a step takes the same time on
 *                       any number of processors
 *   {job} {component}   their numbers, from 1
 *   {{ }}               braces
 */
struct pleat_grid_type {
    /* names of its jobs are NAME-JOB, or NAME-JOB.COMPONENT where there are several components */
    char *name;
    char *command; /* program and arguments; NULL: its jobs can only be simulated */
    char *options; /* further options of `pleat submit`; NULL: none */
    char *model; /* the dependence of run time on size, as pleat_app_parse reads it; NULL: linear */
    double weight;
    enum pleat_grid_placement placement;
    struct pleat_distribution components; /* number of components of a job */
    struct pleat_distribution size;       /* processors of a component */
    /* in seconds, on the size drawn; all components of a job have the same */
    struct pleat_distribution run;
    double step_ms; /* 0: {step}, {steps} and {turns} may not be used */
    enum pleat_job_kind kind;
    double minimum, maximum; /* MOLDABLE, MALLEABLE: factors of the size drawn */
    /* MALLEABLE: factor of the size drawn; 0: as many as are free. 0 <= minimum <= 1 <= maximum,
     * initial 0 or between them */
    double initial;
    /* the size drawn is rounded down to such a size (up, below the smallest). LIST: the sizes in
     * the model's speedup table */
    enum pleat_sizes_kind sizes_kind;
    int32_t sizes_step;              /* MULTIPLES */
    struct pleat_size_list accepted; /* LIST: the sizes in the table */
};

struct pleat_grid_site {
    char *name;
    int32_t processors; /* 0: not known */
};

PLEAT_ARRAY(pleat_grid_types, struct pleat_grid_type);
PLEAT_ARRAY(pleat_grid_sites, struct pleat_grid_site);

/* After reading this is plain data: members such as jobs and total may be changed. */
struct pleat_grid_mix {
    size_t jobs;                   /* at least 1 */
    struct pleat_distribution gap; /* seconds between jobs; the first job comes at 0 */
    int32_t total;                 /* the most processors of a job; 0: what the sites have */
    double estimate; /* estimates are run time x uniform(1, this), so at least 1; 0: none */
    bool popular;    /* estimates are popular values (workload/estimate.h) instead */
    int64_t popular_longest_us; /* the longest popular estimate; 0: derived from the run times */
    struct pleat_grid_types types;
    /* job.site of a workload is an index in this list, which may be empty */
    struct pleat_grid_sites sites;
};

/* Reads a file ("-": standard input), or a text (name: for errors), into *mix, which is zeroed
 * before. Finish it after success. PLEAT_E_INVALID, PLEAT_E_NOTFOUND (the file cannot be read),
 * PLEAT_E_NOMEM: err begins with "FILE:LINE: " where a line is wrong; *mix is still zeroed. */
int pleat_grid_mix_read(const char *path, struct pleat_grid_mix *mix,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_grid_mix_read_text(const char *text, const char *name, struct pleat_grid_mix *mix,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_grid_mix_finish(struct pleat_grid_mix *mix);

/* The mix that is used where none is given, with comments: the applications of apps/ on one machine
 * of 4 processors, for about 30 s. Its programs are those of build/apps, by paths relative to the
 * file that is written. */
const char *pleat_grid_default_text(void);

/* ---- drawing ---- */

struct pleat_grid_component {
    uint32_t job, component; /* numbers, from 1 */
    uint32_t components;     /* number of components of the job */
    uint32_t type, site;     /* indexes; site PLEAT_NONE: anywhere */
    int32_t size, minimum, maximum, initial;
    int64_t submit_us, run_us, estimate_us;
};
PLEAT_ARRAY(pleat_grid_list, struct pleat_grid_component);

struct pleat_grid_draw {
    struct pleat_grid_list list; /* ordered by job, then by component */
    size_t jobs;
    /* jobs that were cut to the total or to what the sites have, their last components first */
    size_t capped;
    uint64_t seed;
};

/* Draws the jobs into *draw, which is zeroed before. Finish it after success. PLEAT_E_INVALID: the
 * mix does not fit together (err names the type). PLEAT_E_NOMEM. */
int pleat_grid_draw(const struct pleat_grid_mix *mix, uint64_t seed, struct pleat_grid_draw *draw,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_grid_draw_finish(struct pleat_grid_draw *draw);

/* Appends the jobs to an initialized, empty workload: a row for each component, an application for
 * each type. PLEAT_E_INVALID: a job could not be run (err names it). PLEAT_E_NOMEM. An error leaves
 * the workload unchanged. */
int pleat_grid_workload(const struct pleat_grid_mix *mix, const struct pleat_grid_draw *draw,
                        struct pleat_workload *workload, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Appends the text of a job mix: a line "AT NAME OPTIONS -- PROGRAM" for each component. As in
 * every job mix, a program named by a path is looked for beside the file to which the text is
 * written. PLEAT_E_INVALID: a type has no command, or a placeholder does not exist. */
int pleat_grid_text(const struct pleat_grid_mix *mix, const struct pleat_grid_draw *draw,
                    struct pleat_string *out, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
