/* process.h - the processes of the program, and the server's ends of their streams. */
#ifndef PLEAT_PMI_PROCESS_H
#define PLEAT_PMI_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/array.h"
#include "pmi/output.h"

struct pleat_pmi_process {
    pid_t pid;
    int stream;                 /* -1: closed */
    bool ended;                 /* the process has ended, and is reaped */
    struct pleat_string answer; /* what is still to be sent to it */
    size_t sent;                /* bytes of `answer` that are sent */
    /* its standard output and error; unused if there is one process */
    struct pleat_pmi_source written[2];
};

/* The program to start. All pointers are borrowed. */
struct pleat_pmi_program {
    char **argv;
    const char *preload; /* value of LD_PRELOAD for the processes; NULL: unchanged */
    uint32_t count;      /* number of processes */
    /* processors to which each process is bound if the job is bound; 0: none */
    uint32_t cpus_per_task;
    /* the terminal that rank 0 gets, with its input and output (task.h); NULL: none */
    const char *terminal;
    sigset_t signals;         /* signals that the processes have blocked */
    struct sigaction on_pipe; /* their action for SIGPIPE */
    struct rlimit files;      /* their limit of open files */
    int report;               /* a pipe for pleat_pmi_failure */
};

/* What a process writes to `report` if it cannot execute the program. */
struct pleat_pmi_failure {
    int code; /* an errno */
};

/* Starts process `rank`. It leads a session of its own, and is killed when this process ends. Only
 * the first process has standard input. If there are several, their standard output and error are
 * read here; a single one has those of this process. PLEAT_E_SYSTEM. */
int pleat_pmi_process_start(const struct pleat_pmi_program *program, uint32_t rank,
                            struct pleat_pmi_process *process,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Signals a process and its process group; does nothing if the process has ended. */
void pleat_pmi_process_signal(const struct pleat_pmi_process *process, int number);
void pleat_pmi_process_finish(struct pleat_pmi_process *process);

#endif
