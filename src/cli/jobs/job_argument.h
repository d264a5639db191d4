/* job_argument.h - how arguments name jobs: "12"; tasks of an array: "12_3", "12_[1,3-5]". */
#ifndef PLEAT_CLI_JOBS_JOB_ARGUMENT_H
#define PLEAT_CLI_JOBS_JOB_ARGUMENT_H

#include "cli/jobs/selection.h"
#include "model/indexes.h"

/* Reads tasks of an array: the array's number and the indexes (finish *indexes in any case). `word`
 * has an '_'. PLEAT_E_INVALID. */
int pleat_parse_tasks(const char *word, int64_t *array, struct pleat_index_list *indexes,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the number of the job that a word names, or those of several tasks. The daemon is asked
 * about tasks, which may have ended. Returns 0; or an exit code, having reported why. */
int pleat_job_arguments(const struct pleat_cli_command *command, const char *word,
                        struct pleat_job_numbers *jobs);
/* As pleat_job_arguments, for a word that has to name exactly one job. */
int pleat_job_argument(const struct pleat_cli_command *command, const char *word, int64_t *job);

#endif
