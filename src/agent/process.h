/* process.h - starting one process without waiting for it, with exact news about why it could not
 * be started. */
#ifndef PLEAT_AGENT_PROCESS_H
#define PLEAT_AGENT_PROCESS_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "agent/reaper.h"
#include "base/cpus.h"
#include "base/limits.h"

#define PLEAT_PROCESS_NICE_HERE INT32_MAX

/* All strings are borrowed; the lists end with NULL. */
struct pleat_process_spec {
    char *const *argv;
    char *const *env; /* the whole environment; PATH in it is where argv[0] is looked for */
    const char *cwd;
    const char *stdin_path;  /* absolute; NULL: /dev/null */
    const char *stdout_path; /* absolute; created with mode 0600, appended to */
    const char *stderr_path; /* may be the same file */
    const char *terminal; /* absolute; in the place of the three: its controlling terminal; NULL */
    bool truncate;        /* output files that exist are emptied first */
    mode_t umask;         /* of the process; its output files are private all the same */
    const struct rlimit *files;        /* RLIMIT_NOFILE for the process; NULL: as here */
    const struct pleat_limits *limits; /* all of its limits; NULL: only `files` */
    int32_t nice;                      /* PLEAT_PROCESS_NICE_HERE: as here */
    const struct pleat_cpu_set *cpus;  /* that it may use; NULL: as here */
    int groups[2]; /* files of cgroups that it joins, where it can; -1 or 0: none */
    const struct pleat_reaper_order *under; /* it gets a reaper (reaper.h) as parent; NULL: none */
};

/* Begins to start a process as leader of a new session, with default signal dispositions, no
 * blocked signal, and no file descriptor but 0, 1, 2. Nothing of what the spec names is touched
 * here: the new process opens its files, goes to its directory and executes the program, for as
 * long as the file systems take. *child is the reaper, where it is to have one, else the process
 * itself. *report is then the caller's: it can be read from when there is news, and when it has
 * come to an end either way. PLEAT_E_SYSTEM: there is no new process. */
int pleat_process_begin(const struct pleat_process_spec *spec, pid_t *child, int *report,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

/* What came of it; reads `report` without waiting; *pid is set when the process has told its
 * number. 1: nothing more yet. 0: the program is executed, or the process was ended before it could
 * be: its end will be seen. Else it failed, the process ends by itself, and nothing is left but,
 * perhaps, empty output files; then *user_fault: the cause lies in what was asked for (no such
 * program, no such directory), not in this node. PLEAT_E_NOTFOUND: there is no such program;
 * PLEAT_E_PERMISSION: it cannot be executed; PLEAT_E_INVALID: anything else that the user can mend;
 * PLEAT_E_SYSTEM: the rest. Of the spec only argv[0], cwd and the paths of the files are used. */
int pleat_process_outcome(const struct pleat_process_spec *spec, int report, pid_t *pid,
                          bool *user_fault, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
