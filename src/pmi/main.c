/* pleat-pmi starts the processes of an MPICH program on this node, and serves them PMI-1 through
 * streams that they inherit. Nothing listens for connections, so other users and machines cannot
 * reach it. With --rank it attends a process of MPICH's hydra on several nodes. Otherwise it
 * prepares one process that Open MPI's mpirun has started, and becomes its program.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/remote.h"
#include "pmi/rank.h"
#include "pmi/task.h"
#include "pmi/watch.h"

#define PROCESSES_MAX 65536
#define EXIT_USAGE 2

static const char usage[] =
    "usage: pleat-pmi -n N [--cpus-per-task C] [--terminal PATH] [--preload "
    "LIBRARIES] [--] PROGRAM\n"
    "                 [ARGUMENT...]\n"
    "       pleat-pmi [--task C] [--terminal PATH] [--scratch] [--] PROGRAM [ARGUMENT...]\n"
    "       pleat-pmi --rank [--preload LIBRARIES] [--scratch] [--] PROGRAM [ARGUMENT...]\n"
    "\n"
    "Starts N processes of an MPICH program on this node. 'pleat' starts such "
    "programs with it.\n"
    "\n"
    "  -n N                 the number of processes\n"
    "  --cpus-per-task C    bind each process to C of the processors that "
    "PLEAT_CPUS lists\n"
    "  --terminal PATH      rank 0 has this terminal: its input and output are "
    "there; or the\n"
    "                       name of a variable of the environment that has its path\n"
    "  --preload LIBRARIES  LD_PRELOAD of the processes\n"
    "  --task C             for a process that Open MPI's mpirun starts: bind it "
    "to C of the\n"
    "                       processors, by its rank on the node, and execute "
    "PROGRAM in it\n"
    "  --rank               for a process that MPICH's mpiexec starts on several nodes: if it "
    "ends\n"
    "                       with another exit code than 0 before MPI_Init, and the others have "
    "not\n"
    "                       ended 5 s later, or without MPI_Finalize, they are ended\n"
    "  --scratch            go to the directory PLEAT_SCRATCH first, which is another one on each "
    "node\n"
    "  --help, --version\n"
    "\n"
    "The first process gets standard input. Signals are passed on. If a process "
    "dies, or ends\n"
    "without MPI_Finalize, or calls MPI_Abort, the others are ended.\n"
    "\n"
    "Exit codes: of the process that failed first, 128 + N if signal N ended it; "
    "the code of\n"
    "MPI_Abort; 125 no processes could be started; 126 the program cannot be "
    "executed; 127 there\n"
    "is no such program; 2 usage.\n";

static int complain(const char *text)
{
    fprintf(stderr, "pleat-pmi: %s (see pleat-pmi --help)\n", text);
    return EXIT_USAGE;
}

static int read_count(const char *text, uint32_t *count)
{
    char *end = NULL;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value < 1 || value > PROCESSES_MAX)
        return -1;
    *count = (uint32_t)value;
    return 0;
}

/* Binds this process, which Open MPI started, and executes the program. Returns only on failure,
 * with the exit code. */
static int become(uint32_t each, const char *terminal, char **argv)
{
    const char *text = getenv("OMPI_COMM_WORLD_LOCAL_RANK"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    int code = terminal && rank && !strcmp(rank, "0") ? pleat_pmi_take_terminal(terminal) : 0;
    if (code) {
        fprintf(stderr, "pleat-pmi: cannot start '%s' on the terminal '%s': %s\n", argv[0],
                terminal, strerror(code));
        return 125;
    }
    code = text && each ? pleat_pmi_bind_task((uint32_t)strtoul(text, NULL, 10), each) : 0;
    if (code) {
        fprintf(stderr, "pleat-pmi: cannot bind '%s' to its processors: %s\n", argv[0],
                strerror(code));
        return 125;
    }
    execvp(argv[0], argv);
    fprintf(stderr, "pleat-pmi: cannot start '%s': %s\n", argv[0], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}

static int go_to_scratch(void)
{
    const char *scratch = getenv(PLEAT_SCRATCH_ENV);
    if (!scratch || chdir(scratch)) {
        fprintf(stderr, "pleat-pmi: cannot go to the directory " PLEAT_SCRATCH_ENV ", '%s': %s\n",
                scratch ? scratch : "", scratch ? strerror(errno) : "it is not set");
        return 125;
    }
    (void)setenv("PWD", scratch, 1);
    return 0;
}

/* What is asked for besides the program. */
struct asked {
    uint32_t task;
    bool rank, scratch;
};

/* Reads the options. -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct pleat_pmi_program *program,
                        struct asked *asked)
{
    static const struct option known[] = {{"preload", required_argument, NULL, 'p'},
                                          {"cpus-per-task", required_argument, NULL, 'c'},
                                          {"task", required_argument, NULL, 't'},
                                          {"terminal", required_argument, NULL, 'y'},
                                          {"rank", no_argument, NULL, 'r'},
                                          {"scratch", no_argument, NULL, 's'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'v'},
                                          {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "+n:", known, NULL)) != -1;) {
        switch (option) {
        case 'n':
            if (read_count(optarg, &program->count))
                return complain("-n must be a number from 1 to 65536");
            break;
        case 'p':
            program->preload = optarg;
            break;
        case 'c':
            if (read_count(optarg, &program->cpus_per_task))
                return complain("--cpus-per-task must be a number from 1 to 65536");
            break;
        case 'y':
            program->terminal = optarg;
            break;
        case 'r':
            asked->rank = true;
            break;
        case 's':
            asked->scratch = true;
            break;
        case 't':
            if (read_count(optarg, &asked->task))
                return complain("--task must be a number from 1 to 65536");
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        case 'v':
            puts("pleat-pmi " PLEAT_VERSION);
            return 0;
        default:
            return complain("unknown or incomplete option");
        }
    }
    bool becomes =
        !program->count && !asked->rank && (asked->task || program->terminal || asked->scratch);
    if ((program->count > 0) + becomes + asked->rank != 1 || optind >= argc ||
        (asked->task && !becomes) || (asked->scratch && program->count))
        return complain(
            "-n, --task, --terminal, --scratch or --rank, and a program, must be given");
    program->argv = argv + optind;
    return -1;
}

int main(int argc, char **argv)
{
    struct pleat_pmi_program program = {0};
    struct asked asked = {0};
    int code = read_options(argc, argv, &program, &asked);
    if (code >= 0)
        return code;
    if (asked.scratch && (code = go_to_scratch()) != 0)
        return code;
    if (asked.rank)
        return pleat_pmi_rank(program.argv, program.preload);
    if (!program.count)
        return become(asked.task, program.terminal, program.argv);
    if (getrlimit(RLIMIT_NOFILE, &program.files) == 0) {
        struct rlimit most = {program.files.rlim_max, program.files.rlim_max};
        (void)setrlimit(RLIMIT_NOFILE, &most); /* each process needs a stream */
    }
    return pleat_pmi_watch(&program);
}
