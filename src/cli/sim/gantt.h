/* gantt.h - a simulated schedule as the model behind charts (chart/gantt.h). */
#ifndef PLEAT_CLI_SIM_GANTT_H
#define PLEAT_CLI_SIM_GANTT_H

#include "chart/gantt.h"
#include "cli/sim/experiment.h"

/* Counts the jobs that run at some time of the window (in seconds of the workload). */
size_t pleat_sim_gantt_jobs(const struct pleat_workload *workload, const struct pleat_sim_run *run,
                            double from_s, double to_s);
/* Builds the model of those jobs, with the rows of processors that they had. Workload and platform
 * are borrowed for the life of the model. Takes time proportional to jobs drawn times processors.
 * PLEAT_E_NOMEM. */
int pleat_sim_gantt_build(struct pleat_gantt *gantt, const struct pleat_workload *workload,
                          const struct pleat_platform *platform, const struct pleat_sim_run *run,
                          double from_s, double to_s, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
