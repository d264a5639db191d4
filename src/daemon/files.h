/* files.h - where the output of a job goes, the copy of its script */
#ifndef PLEAT_DAEMON_FILES_H
#define PLEAT_DAEMON_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;
struct job;

enum job_file { JOB_INPUT, JOB_OUTPUT, JOB_ERROR };

/* The path of a stream, as its user wants it, else the daemon's own; "" for no input. */
int job_file_path(struct daemon *d, int64_t job, enum job_file which, char *buffer, size_t size,
                  struct pleat_error *err);
/* Whether its user named that file; else it is one of Pleat's. */
bool job_file_is_users(struct daemon *d, int64_t job, enum job_file which);
/* The daemon's own place for it, in the directory of that job ("": the directory, with a / at its
 * end); a buffer of 600 bytes. */
void job_output_path(struct daemon *d, int64_t job, const char *stream, char *buffer, size_t size);
/* Makes that directory, for this user only. */
int job_directory_make(struct daemon *d, int64_t job, struct pleat_error *err);
/* Where the copy of its script is: under a name that the script would know as its own. */
void job_script_path(struct daemon *d, const struct job *job, char *buffer, size_t size);
int job_script_make(struct daemon *d, const struct job *job, const char *path,
                    struct pleat_error *err);
void job_script_remove(struct daemon *d, int64_t job);
/* Those of jobs that are over: a daemon may have died before it removed them. */
void job_scripts_sweep(struct daemon *d);

#endif
