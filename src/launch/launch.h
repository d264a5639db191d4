/* launch.h - what to execute so that a program starts with N processes on given nodes.
 *
 * Pure: nothing here reads a file, this process's environment, or a clock. There is one file for
 * each MPI implementation (openmpi.c, mpich.c, none.c), found through a table by name. Which MPI a
 * program needs is found by detect.h.
 */
#ifndef PLEAT_LAUNCH_LAUNCH_H
#define PLEAT_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum pleat_mpi { PLEAT_MPI_NONE, PLEAT_MPI_OPENMPI, PLEAT_MPI_MPICH };

#define PLEAT_LAUNCH_PROCESSES_MAX 65536

struct pleat_launch_node {
    const char *host; /* NULL: the node on which the command is executed */
    uint32_t slots;
};

/* What to start. Everything is borrowed for the call. */
struct pleat_launch_request {
    enum pleat_mpi mpi;
    uint32_t processes;      /* 1 to PLEAT_LAUNCH_PROCESSES_MAX; 1 for PLEAT_MPI_NONE */
    const char *const *argv; /* the program and its arguments, NULL at the end, not empty */
    const char *const *env;  /* the user's environment as "NAME=value", NULL at the end; or NULL */
    const struct pleat_launch_node *nodes;
    size_t node_count; /* 0: one node, the local one */
    /* path of pleat-remote, through which the launcher starts what it needs on each node; NULL: by
     * ssh */
    const char *hook;
    /* the nodes have no directory in common: each process goes to the scratch directory of its node
     */
    bool apart;
    bool one_machine; /* all nodes are of the machine on which the command is executed */
    /* of several machines: name of the interface by which all of them reach one another, and the
     * network there ("10.0.0.0/8"), which goes before its name; NULL: the MPI chooses */
    const char *interface, *network;
    bool fabric; /* the machines may have a faster network, which the MPI may choose */
    /* a directory of this run for the MPI's files and shared memory, so that none outlives the run;
     * NULL: the MPI's default */
    const char *scratch;
    /* a library to preload into the processes, before those of the user's LD_PRELOAD, which makes
     * waiting processes yield so that it notices; NULL: none */
    const char *preload;
    /* path of pleat-pmi, which starts MPICH's processes on one node, and attends those that its own
     * mpiexec starts through `hook`; NULL: mpiexec starts them alone, which accepts connections
     * from anybody */
    const char *pmi;
    /* path of libpleat-loopback, preloaded into Open MPI's mpirun and processes on one machine, and
     * into MPICH's on several nodes of it; NULL: none, so they accept connections from anybody */
    const char *loopback;
    /* path of libpleat-farewell, preloaded into MPICH's processes on several machines; NULL: none,
     * so they may not end */
    const char *farewell;
    /* path of libpleat-early, preloaded into Open MPI's processes on several nodes; NULL: none, so
     * a program in which one ends before MPI_Init may not end */
    const char *early;
    /* processors of each process. MPI processes are bound to theirs by `pmi`, which must be given,
     * if the job is bound (PLEAT_CPUS_ENV in base/cpus.h). 0: not specified */
    uint32_t cpus_per_task;
    /* path of rank 0's terminal, or the variable that has it (pmi/task.h); needs `pmi`; NULL: none
     */
    const char *terminal;
    bool is_root; /* the command will run as root */
    /* there are more processes than processors, now or after a later resize: waiting processes must
     * yield the processor */
    bool oversubscribed;
};

/* A command to execute. Both lists end with NULL and are owned by the command. */
struct pleat_launch_command {
    char **argv;
    size_t argc;
    char **env; /* the whole environment: the user's, without what an outer MPI launcher has set,
                   and with what this launcher needs */
    size_t env_count;
};

/* Fills *command; release it with pleat_launch_command_finish. Options that the user set as
 * OMPI_MCA_<name> are left to the user. PLEAT_E_INVALID (empty argv, zero processes, a host name
 * that the launcher would misread), PLEAT_E_TOOBIG, PLEAT_E_UNSUPPORTED (what this launcher cannot
 * express), PLEAT_E_NOMEM. On failure *command is empty. */
int pleat_launch_compose(const struct pleat_launch_request *request,
                         struct pleat_launch_command *command,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_launch_command_finish(struct pleat_launch_command *command);

/* "none", "openmpi", "mpich"; "unknown" for anything else. */
const char *pleat_mpi_name(enum pleat_mpi mpi);
/* Whether programs of this MPI can grow by spawning processes; else they must be relaunched. */
bool pleat_mpi_spawns(enum pleat_mpi mpi);
/* Whether processes of this MPI yield the processor while they wait for messages. */
bool pleat_mpi_yields(enum pleat_mpi mpi);
/* The MPI with that name. PLEAT_E_NOTFOUND: the error has the known names. */
int pleat_mpi_parse(const char *name, enum pleat_mpi *mpi,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
