/* run.h - runs checks, each in a process of its own that is ended at a limit. */
#ifndef PLEAT_CLI_DOCTOR_RUN_H
#define PLEAT_CLI_DOCTOR_RUN_H

#include <jansson.h>

#include "cli/doctor/check.h"

/* From now on what checks leave behind becomes a child of this process, which ends it. */
void doctor_run_begin(void);
/* Runs a check for at most limit_s, and appends its results to the array, each with the member
 * "check". Then no process of it is left, nor its scratch directory. False: a signal asked this
 * program to end meanwhile (interrupt.h). */
bool doctor_run_check(struct doctor *doctor, const struct doctor_check *check, double limit_s,
                      json_t *results);

#endif
