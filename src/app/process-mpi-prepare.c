/* process-mpi-prepare.c - before MPI_Init: what Open MPI needs so that added processes can be
 * joined to a communicator.
 *
 * Each process of a run is started by itself, which for Open MPI is a program of one rank with a
 * daemon (orted) of its own. Such programs find one another through ompi-server, which process 0
 * starts, and which ends with it: it is a child whose parent's death is its own. Where it listens
 * is in a file of the run. All of that reaches Open MPI by its environment, before MPI_Init.
 *
 * MPICH as Debian builds it (ch4:ucx) has no MPI_Open_port, by which its MPI_Comm_join works, too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/process-mpi.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/processes.h"

#define SERVER PLEAT_PROCESS_MPI_SERVER_FILE /* the program is named so, too */
#define BEGINNING "ompi-server.new"          /* until all of it is there */
#define WAIT_US (30 * PLEAT_US_PER_S)

/* Whether this process may be joined, or join others. */
static bool prepared;

/* Why each: src/launch/openmpi.c. */
static const struct {
    const char *name, *value;
} settings[] = {
    {"OMPI_MCA_pml", "ob1"},
    {"OMPI_MCA_btl", "vader,self,tcp"}, /* vader takes them for processes of other hosts */
    {"OMPI_MCA_async_mpi_finalize", "1"},
    {"OMPI_MCA_mpi_yield_when_idle", "1"},
    {"OMPI_MCA_ras", "^slurm,gridengine,tm,lsf,loadleveler,alps"},
    {"OMPI_MCA_plm", "^slurm,tm,lsf,alps"},
    {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
};

/* Where killed processes leave files: in the run's directory. */
static const char *const directories[] = {"OMPI_MCA_btl_vader_backing_directory",
                                          "OMPI_MCA_orte_tmpdir_base"};

int pleat_process_mpi_usable(const struct pleat_processes *processes, struct pleat_error *err)
{
    if (!pleat_process_self || !pleat_process_about || !pleat_process_leaving ||
        !pleat_process_send || !pleat_process_receive || !pleat_process_group_join ||
        !pleat_process_group_name)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "the program is not linked with libpleat-process: add "
                               "$(pkg-config --libs pleat-process)");
    if (pleat_process_self(processes) == PLEAT_PROCESS_NONE)
        return pleat_error_set(err, PLEAT_E_STATE, "pleat_processes_begin comes first");
    if (PLEAT_MPI_KIND != 1)
        return pleat_error_set(
            err, PLEAT_E_UNSUPPORTED,
            "with MPICH an added process cannot be joined to a communicator, as it has no "
            "MPI_Open_port for programs that were started separately: build the program with Open "
            "MPI, exchange messages beside MPI (pleat_process_send), or let Pleat change the "
            "number of ranks (pleat_session_adapt, pleat run --malleable)");
    if (!prepared)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "pleat_process_mpi_prepare was not called before MPI_Init");
    return 0;
}

static void pause_shortly(void)
{
    const struct timespec moment = {.tv_nsec = 5000000};
    (void)nanosleep(&moment, NULL);
}

/* The child. errno goes to the parent where there is no such program. */
static _Noreturn void be_server(const char *path, pid_t parent, int failed)
{
    char *const argv[] = {(char *)(uintptr_t)SERVER, (char *)(uintptr_t) "--no-daemonize",
                          (char *)(uintptr_t) "--report-uri", (char *)(uintptr_t)path, NULL};
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) { /* it has no part in the job's streams, but for what is wrong */
        (void)dup2(nothing, 0);
        (void)dup2(nothing, 1);
    }
    if (!prctl(PR_SET_PDEATHSIG, SIGTERM) && getppid() == parent)
        (void)execvp(SERVER, argv);
    int number = errno;
    (void)!write(failed, &number, sizeof(number));
    _exit(127);
}

static int start_server(const char *path, pid_t *child, struct pleat_error *err)
{
    int fds[2];
    int number = 0;
    if (pipe2(fds, O_CLOEXEC))
        return pleat_error_sys(err, errno, "cannot start " SERVER);
    const pid_t parent = getpid();
    *child = fork();
    if (*child == 0)
        be_server(path, parent, fds[1]);
    const int failure = errno;
    close(fds[1]);
    if (*child < 0) {
        close(fds[0]);
        return pleat_error_sys(err, failure, "cannot start " SERVER);
    }
    const bool ended = read(fds[0], &number, sizeof(number)) == (ssize_t)sizeof(number);
    close(fds[0]);
    if (!ended)
        return 0;
    (void)waitpid(*child, NULL, 0);
    return pleat_error_sys(err, number,
                           "cannot start " SERVER
                           ", by which processes of Open MPI find one another (install "
                           "openmpi-bin)");
}

/* Whether the server has written all of its line. */
static bool has_line(const char *path)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text));
    if (fd >= 0)
        close(fd);
    return length > 0 && memchr(text, '\n', (size_t)length);
}

static int serve(const char *path, struct pleat_error *err)
{
    char *beginning = pleat_process_mpi_path(BEGINNING);
    pid_t child = -1;
    if (!beginning)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a path");
    (void)unlink(path); /* that of an earlier start of this run */
    (void)unlink(beginning);
    int code = start_server(beginning, &child, err);
    const int64_t until = pleat_clock_monotonic_us() + WAIT_US;
    while (!code && !has_line(beginning)) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child)
            code = pleat_error_set(err, PLEAT_E_SYSTEM, SERVER " ended at once (%s %d)",
                                   WIFSIGNALED(status) ? "signal" : "exit code",
                                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        else if (pleat_clock_monotonic_us() > until)
            code = pleat_error_set(err, PLEAT_E_TIMEOUT, SERVER " does not come up");
        else
            pause_shortly();
    }
    if (!code && rename(beginning, path))
        code = pleat_error_sys(err, errno, "cannot make %s", path);
    free(beginning);
    return code;
}

/* Where it is: that file says it on the node of process 0, and that process itself elsewhere. */
static bool there_is_server(const struct pleat_processes *processes, const char *path, char *uri,
                            size_t size)
{
    if (pleat_process_mpi_is_away())
        return pleat_process_mpi_find_server(processes, uri, size);
    return !access(path, F_OK) && (size_t)snprintf(uri, size, "file:%s", path) < size;
}

static int wait_for_server(const struct pleat_processes *processes, const char *path, char *uri,
                           size_t size, struct pleat_error *err)
{
    const int64_t until = pleat_clock_monotonic_us() + WAIT_US;
    struct pleat_process_info info;
    while (!there_is_server(processes, path, uri, size)) {
        int code = pleat_process_about(processes, 0, &info, err);
        if (code)
            return code;
        if (info.state == PLEAT_PROCESS_GONE)
            return pleat_error_set(err, PLEAT_E_CLOSED, "process 0 is gone, and with it the run");
        if (pleat_clock_monotonic_us() > until)
            return pleat_error_set(err, PLEAT_E_TIMEOUT,
                                   "process 0 has started no " SERVER
                                   ": it has to call pleat_process_mpi_prepare, too");
        pause_shortly();
    }
    return 0;
}

static int set(const char *name, const char *value, int over, struct pleat_error *err)
{
    return setenv(name, value, over) ? pleat_error_sys(err, errno, "cannot set %s", name) : 0;
}

/* By what the processes and their daemons reach one another. A parameter that says which interfaces
 * are not to be used cannot stand beside these. */
static int set_network(bool *others, struct pleat_error *err)
{
    static const char *const uses[][2] = {
        {"OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_btl_tcp_if_exclude"},
        {"OMPI_MCA_oob_tcp_if_include", "OMPI_MCA_oob_tcp_if_exclude"}};
    char name[IF_NAMESIZE];
    int code = pleat_process_mpi_interface(name, others, err);
    for (size_t i = 0; !code && i < (*others ? 2 : 1); i++)
        if (!getenv(uses[i][1]))
            code = set(uses[i][0], name, 0, err);
    return code;
}

/* The server and the daemons, which are programs that this process starts, listen on every address;
 * where all of the run is on one machine nobody else reaches them with libpleat-loopback nobody
 * else reaches them (docs/security.md). It is beside this library, or in a directory of Pleat's
 * there. */
static int preload_loopback(struct pleat_error *err)
{
    static const char *const names[] = {"pleat/libpleat-loopback.so", "libpleat-loopback.so"};
    const char *others = getenv("LD_PRELOAD");
    Dl_info own;
    const char *end = dladdr(&prepared, &own) ? strrchr(own.dli_fname, '/') : NULL;
    int code = 0;
    bool found = others && strstr(others, "libpleat-loopback.so");
    for (size_t i = 0; !code && !found && end && i < sizeof(names) / sizeof(*names); i++) {
        char *path = NULL, *list = NULL;
        if (asprintf(&path, "%.*s/%s", (int)(end - own.dli_fname), own.dli_fname, names[i]) < 0 ||
            asprintf(&list, "%s%s%s", path, others && *others ? ":" : "", others ? others : "") < 0)
            code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a path");
        else if (!access(path, R_OK)) {
            code = set("LD_PRELOAD", list, 1, err);
            found = true;
        }
        free(path);
        free(list);
    }
    return code;
}

/* What a user has chosen himself holds, but for what it does not work without. *others: those of
 * other machines may be joined, too. */
static int set_all(bool *others, struct pleat_error *err)
{
    const char *directory = getenv("PLEAT_PROCESS_DIR");
    int code = set("EVENT_NOEPOLL", "1", 1, err);
    for (size_t i = 0; !code && i < sizeof(settings) / sizeof(*settings); i++)
        code = set(settings[i].name, settings[i].value, 0, err);
    for (size_t i = 0; !code && i < sizeof(directories) / sizeof(*directories); i++)
        code = set(directories[i], directory ? directory : "/tmp", 0, err);
    if (!code)
        code = set_network(others, err);
    return code || *others ? code : preload_loopback(err);
}

static int prepare_in_run(const struct pleat_processes *processes, struct pleat_error *err)
{
    char uri[PATH_MAX + 8];
    const char *host = getenv(PLEAT_PROCESS_HOST_ENV);
    const bool nodes = host && strcmp(host, "ipc") != 0;
    bool others = false;
    char *path = pleat_process_mpi_path(SERVER);
    if (!path) /* this process is alone: nobody is joined */
        return 0;
    int code = set_all(&others, err);
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): looked for by the caller */
    if (!code && pleat_process_self(processes) == 0)
        code = serve(path, err);
    if (!code)
        code = wait_for_server(processes, path, uri, sizeof(uri), err);
    if (!code && pleat_process_self(processes) == 0 && nodes)
        code = pleat_process_mpi_announce(processes, path, err);
    if (!code)
        code = set("OMPI_MCA_pmix_server_uri", uri, 1, err);
    if (!code)
        code = set("OMPI_MCA_orte_data_server_uri", uri, 1, err);
    free(path);
    return code;
}

int pleat_process_mpi_prepare_for(const struct pleat_processes *processes, int mpi_kind,
                                  struct pleat_error *err)
{
    int runs = 0;
    prepared = true; /* what usable() looks at last; taken back below */
    int code = pleat_process_mpi_usable(processes, err);
    prepared = false;
    if (code)
        return code;
    if (mpi_kind && mpi_kind != PLEAT_MPI_KIND)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "the program was compiled with another MPI than libpleat-openmpi");
    if (MPI_Initialized(&runs) != MPI_SUCCESS || runs)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "pleat_process_mpi_prepare comes before MPI_Init");
    if (getenv("PMIX_NAMESPACE"))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "this process was started by mpirun: with --evolving the program "
                               "itself is the command, and Pleat starts its processes");
    code = prepare_in_run(processes, err);
    prepared = !code;
    return code;
}
