/* launch.h - what to execute so that a program starts with N processes on given nodes.
 *
 * Pure: nothing here reads a file, the environment of this process, or a clock. One file per MPI
 * implementation (openmpi.c, mpich.c, none.c), found through a table by name. Which MPI a program
 * needs is a question to its file, so it is asked elsewhere: detect.h.
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

/* Everything is borrowed for the call. */
struct pleat_launch_request {
    enum pleat_mpi mpi;
    uint32_t processes;      /* 1..PLEAT_LAUNCH_PROCESSES_MAX; must be 1 for PLEAT_MPI_NONE */
    const char *const *argv; /* the program and its arguments, NULL at the end, not empty */
    const char *const *env; /* the user's environment, "NAME=value", NULL at the end; may be NULL */
    const struct pleat_launch_node *nodes;
    size_t node_count;   /* 0: one local node */
    const char *scratch; /* a directory of this run, for what the MPI keeps in files and shared
                          * memory, so that nothing outlives it; NULL: where the MPI likes */
    const char *preload; /* a library that is preloaded into the processes, in front of what the
                          * user's LD_PRELOAD names; NULL: none. They wait so that it can see it */
    const char *pmi; /* pleat-pmi, which starts MPICH's processes where all are on one node; NULL:
                      * MPICH's own mpiexec does, which listens for connections of anybody */
    const char *loopback; /* libpleat-loopback, preloaded into Open MPI's mpirun and processes where
                           * all are on one node; NULL: they listen for connections of anybody */
    uint32_t cpus_per_task; /* processors of each process: those of MPI programs are bound to theirs
                             * where the job is (PLEAT_CPUS_ENV in base/cpus.h), by pmi, which must
                             * be given; 0: nothing was said of that */
    const char *terminal;   /* the terminal of rank 0, by pmi, which must be given; NULL: none */
    bool is_root;           /* the command will run as root */
    bool oversubscribed; /* more processes than processors, now or after a grow or a fold: waiting
                          * processes must give up the processor */
};

/* What to execute. Both lists end with NULL and are owned by the command. */
struct pleat_launch_command {
    char **argv;
    size_t argc;
    char **env; /* the whole environment: the user's, without what an MPI launcher around the
                 * submission left in it, and with the additions the launcher needs */
    size_t env_count;
};

/* Fills *command (finish it). Options the user set as OMPI_MCA_<name> are left to the user. Errors:
 * PLEAT_E_INVALID (empty argv, zero processes, a host name that the launcher would misread),
 * PLEAT_E_TOOBIG, PLEAT_E_UNSUPPORTED (what this launcher cannot express), PLEAT_E_NOMEM. On
 * failure *command is empty. */
int pleat_launch_compose(const struct pleat_launch_request *request,
                         struct pleat_launch_command *command,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_launch_command_finish(struct pleat_launch_command *command);

/* "none", "openmpi", "mpich"; "unknown" for anything else. */
const char *pleat_mpi_name(enum pleat_mpi mpi);
/* Whether its programs can grow by starting more processes; else they must be relaunched. */
bool pleat_mpi_spawns(enum pleat_mpi mpi);
/* Whether its processes give way by themselves when they wait for messages. */
bool pleat_mpi_yields(enum pleat_mpi mpi);
/* The reverse of the name. PLEAT_E_NOTFOUND, with the known names in the text. */
int pleat_mpi_parse(const char *name, enum pleat_mpi *mpi,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
