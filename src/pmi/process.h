/* process.h - the processes of the program, and their ends of the streams to the server. */
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
    int stream;                         /* -1: closed */
    bool ended;                         /* and reaped */
    struct pleat_string answer;         /* what it has not yet taken */
    size_t sent;                        /* of that */
    struct pleat_pmi_source written[2]; /* its standard output and error; not of a single one */
};

/* Everything is borrowed. */
struct pleat_pmi_program {
    char **argv;
    const char *preload;      /* LD_PRELOAD of the processes; NULL: as here */
    uint32_t count;           /* of processes */
    uint32_t cpus_per_task;   /* processors to which each is bound, where the job is; 0: to none */
    const char *terminal;     /* of rank 0: its controlling one, input and output; NULL: none */
    sigset_t signals;         /* that they have blocked */
    struct sigaction on_pipe; /* what they do at SIGPIPE */
    struct rlimit files;      /* their limit of open files */
    int report;               /* where a process that cannot be executed says so; see below */
};

/* What a process writes to `report` where it cannot execute the program. */
struct pleat_pmi_failure {
    int code; /* errno */
};

/* Starts process `rank`: leader of a session of its own, killed when this process ends, with
 * standard input only if it is the first one. Of several, standard output and error are read here;
 * a single one has those of this process. PLEAT_E_SYSTEM. */
int pleat_pmi_process_start(const struct pleat_pmi_program *program, uint32_t rank,
                            struct pleat_pmi_process *process,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* To it and all of its process group; nothing where it has ended. */
void pleat_pmi_process_signal(const struct pleat_pmi_process *process, int number);
void pleat_pmi_process_finish(struct pleat_pmi_process *process);

#endif
