/* files.h - a job's directory: its output, and the copy of its script */
#ifndef PLEAT_DAEMON_FILES_H
#define PLEAT_DAEMON_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;
struct job;

enum job_file { JOB_INPUT, JOB_OUTPUT, JOB_ERROR };

/* The path of a stream: the one that the user named, else the daemon's own; "" for no input. */
int job_file_path(struct daemon *d, int64_t job, enum job_file which, char *buffer, size_t size,
                  struct pleat_error *err);
/* Whether the user named that file; else it is one of Pleat's. */
bool job_file_is_users(struct daemon *d, int64_t job, enum job_file which);
/* The path of a stream in the job's directory below the state directory. stream "": the path of
 * that directory, with a / at its end. `buffer` needs 600 bytes. */
void job_output_path(struct daemon *d, int64_t job, const char *stream, char *buffer, size_t size);
/* Makes that directory, accessible to this user only. */
int job_directory_make(struct daemon *d, int64_t job, struct pleat_error *err);
/* The path of the copy of a job's script. Its last part is the script's own name, which scripts
 * look at ($0). */
void job_script_path(struct daemon *d, const struct job *job, char *buffer, size_t size);
int job_script_make(struct daemon *d, const struct job *job, const char *path,
                    struct pleat_error *err);
void job_script_remove(struct daemon *d, int64_t job);
/* Removes the copies of scripts of jobs that are over: a daemon may have died before it did so. */
void job_scripts_sweep(struct daemon *d);

#endif
