/* process.h - starting one process, with exact news about why it could not be started. */
#ifndef PLEAT_AGENT_PROCESS_H
#define PLEAT_AGENT_PROCESS_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/cpus.h"

/* All strings are borrowed; the lists end with NULL. */
struct pleat_process_spec {
    char *const *argv;
    char *const *env; /* the whole environment; PATH in it is where argv[0] is looked for */
    const char *cwd;
    const char *stdin_path;     /* absolute; NULL: /dev/null */
    const char *stdout_path;    /* absolute; created with mode 0600, appended to */
    const char *stderr_path;    /* may be the same file */
    bool truncate;              /* output files that exist are emptied first */
    mode_t umask;               /* of the process; its output files are private all the same */
    const struct rlimit *files; /* RLIMIT_NOFILE for the process; NULL: as here */
    const struct pleat_cpu_set *cpus; /* that it may use; NULL: as here */
    int group; /* file of a cgroup that it joins, where it can; -1 or 0: none */
};

/* Starts a process as leader of a new session, with default signal dispositions, no blocked signal,
 * and no file descriptor but 0, 1, 2. Waits until its program has been executed (so it blocks as
 * long as the file system takes to find it); when that fails nothing is left behind but, perhaps,
 * empty output files. *user_fault: the cause lies in what was asked for (no such program, no such
 * directory), not in this node. The caller must hold fds 0 to 2 open. PLEAT_E_INVALID for what the
 * user can mend, PLEAT_E_SYSTEM for the rest. */
int pleat_process_start(const struct pleat_process_spec *spec, pid_t *pid, bool *user_fault,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
