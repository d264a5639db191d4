/* process.h - starts one process without waiting for it, and tells exactly why it could not be
 * started. */
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
    char *const *env; /* the whole environment; argv[0] is looked for along its PATH */
    const char *cwd;
    const char *stdin_path;  /* absolute; NULL: /dev/null */
    const char *stdout_path; /* absolute; created with mode 0600, appended to */
    const char *stderr_path; /* may be the same file */
    /* absolute; the controlling terminal, instead of the three files; NULL: none */
    const char *terminal;
    bool truncate;              /* output files that exist are emptied first */
    mode_t umask;               /* of the process; its output files are private all the same */
    const struct rlimit *files; /* RLIMIT_NOFILE of the process; NULL: as in the caller */
    const struct pleat_limits *limits; /* all limits of the process; NULL: only `files` */
    bool announced;                    /* it ignores SIGUSR1 and SIGUSR2, unless it handles them */
    int32_t nice;                      /* PLEAT_PROCESS_NICE_HERE: as in the caller */
    const struct pleat_cpu_set *cpus;  /* CPUs that the process may use; NULL: as in the caller */
    int groups[2]; /* files of cgroups that the process joins, where it can; -1 or 0: none */
    /* the process gets a reaper (reaper.h) as its parent; NULL: none */
    const struct pleat_reaper_order *under;
};

/* Begins to start a process as leader of a new session, with default signal dispositions, no
 * blocked signal, and no file descriptors but 0, 1, 2. The caller touches no file that the spec
 * names: the new process opens its files, goes to its directory and executes the program, however
 * long the file systems take. *child is the reaper where the process gets one, else the process
 * itself. The caller owns *report: it becomes readable when there is news, and when the start has
 * come to an end. PLEAT_E_SYSTEM: there is no new process. */
int pleat_process_begin(const struct pleat_process_spec *spec, pid_t *child, int *report,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

/* Reads what came of a start from `report`, without waiting. *pid is set when the process has told
 * its number. 1: nothing more yet. 0: the program is executed, or the process was ended before
 * that: its end will be seen. Otherwise the start failed. Then the process ends by itself, and
 * leaves nothing but, perhaps, empty output files. *user_fault: the cause lies in the request (no
 * such program, no such directory), not in this node. PLEAT_E_NOTFOUND: there is no such program.
 * PLEAT_E_PERMISSION: the program cannot be executed. PLEAT_E_INVALID: any other error that the
 * user can mend. PLEAT_E_SYSTEM: the rest. Only argv[0], cwd and the paths of the files are used of
 * the spec. */
int pleat_process_outcome(const struct pleat_process_spec *spec, int report, pid_t *pid,
                          bool *user_fault, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Whether the standard input of a process is a regular file or /dev/null. False also where it has
 * closed its input, or is gone. Asks no file server. */
bool pleat_process_input_is_file(pid_t pid);

#endif
