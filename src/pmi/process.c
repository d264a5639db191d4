#include "pmi/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pmi/task.h"

static int set_number(const char *name, uint32_t value)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", value);
    return setenv(name, text, 1);
}

/* Sets variables that MPICH reads, and those that programs read to learn their place before
 * MPI_Init. */
static int set_environment(const struct pleat_pmi_program *program, uint32_t rank, int stream)
{
    return set_number("PMI_FD", (uint32_t)stream) || set_number("PMI_RANK", rank) ||
           set_number("PMI_SIZE", program->count) || set_number("MPI_LOCALRANKID", rank) ||
           set_number("MPI_LOCALNRANKS", program->count) ||
           (program->preload && setenv("LD_PRELOAD", program->preload, 1));
}

/* Both ends of streams and pipes between a process and this one; the first of each pair is this
 * one's. */
struct ends {
    int stream[2];
    int written[2][2]; /* for standard output and error; -1: none */
};

static void close_pair(int *pair)
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

static void close_ends(struct ends *ends)
{
    close_pair(ends->stream);
    close_pair(ends->written[0]);
    close_pair(ends->written[1]);
}

/* 0 or an errno. */
static int open_ends(struct ends *ends, bool several)
{
    *ends = (struct ends){{-1, -1}, {{-1, -1}, {-1, -1}}};
    bool made =
        !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->stream) &&
        (!several || (!pipe2(ends->written[0], O_CLOEXEC) && !pipe2(ends->written[1], O_CLOEXEC)));
    int own[] = {ends->stream[0], ends->written[0][0], ends->written[1][0]};
    for (size_t i = 0; made && i < sizeof(own) / sizeof(own[0]); i++)
        made = own[i] < 0 || !fcntl(own[i], F_SETFL, O_NONBLOCK);
    int code = made ? 0 : errno;
    if (code)
        close_ends(ends);
    return code;
}

/* Executes the program; returns an errno if that fails. This process had one thread when it forked,
 * so any function may be called. */
static int become(const struct pleat_pmi_program *program, uint32_t rank, const struct ends *ends,
                  pid_t parent)
{
    int stream = ends->stream[1];
    if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL))
        return errno;
    if (getppid() != parent)
        _exit(1); /* the parent has ended already, so no death signal will come */
    if (fcntl(stream, F_SETFD, 0) || set_environment(program, rank, stream))
        return errno;
    if (rank > 0) {
        int nothing = open("/dev/null", O_RDONLY);
        if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
            return errno;
        if (nothing != STDIN_FILENO)
            close(nothing);
    }
    for (int i = 0; i < 2; i++)
        if (ends->written[i][1] >= 0 && dup2(ends->written[i][1], STDOUT_FILENO + i) < 0)
            return errno;
    int without = rank == 0 && program->terminal ? pleat_pmi_take_terminal(program->terminal) : 0;
    if (without)
        return without;
    int unbound = program->cpus_per_task ? pleat_pmi_bind_task(rank, program->cpus_per_task) : 0;
    if (unbound)
        return unbound;
    (void)sigaction(SIGPIPE, &program->on_pipe, NULL);
    (void)setrlimit(RLIMIT_NOFILE, &program->files);
    if (sigprocmask(SIG_SETMASK, &program->signals, NULL))
        return errno;
    execvp(program->argv[0], program->argv);
    return errno;
}

int pleat_pmi_process_start(const struct pleat_pmi_program *program, uint32_t rank,
                            struct pleat_pmi_process *process, struct pleat_error *err)
{
    struct ends ends;
    pid_t parent = getpid();
    int code = open_ends(&ends, program->count > 1);
    if (code)
        return pleat_error_sys(err, code, "cannot start rank %u: no descriptors", rank);
    pid_t pid = fork();
    if (pid == 0) {
        struct pleat_pmi_failure failure = {become(program, rank, &ends, parent)};
        ssize_t written = write(program->report, &failure, sizeof(failure));
        _exit(written == sizeof(failure) ? 127 : 126);
    }
    code = errno;
    if (pid < 0) {
        close_ends(&ends);
        return pleat_error_sys(err, code, "cannot start rank %u: no new process", rank);
    }
    *process = (struct pleat_pmi_process){.pid = pid, .stream = ends.stream[0]};
    close(ends.stream[1]);
    for (int i = 0; i < 2; i++) {
        process->written[i].fd = ends.written[i][0];
        if (ends.written[i][1] >= 0)
            close(ends.written[i][1]);
    }
    return 0;
}

void pleat_pmi_process_signal(const struct pleat_pmi_process *process, int number)
{
    if (process->pid <= 0 || process->ended)
        return;
    if (kill(-process->pid, number)) /* the process may not be the leader of its group yet */
        (void)kill(process->pid, number);
}

void pleat_pmi_process_finish(struct pleat_pmi_process *process)
{
    if (process->stream >= 0)
        close(process->stream);
    process->stream = -1;
    pleat_string_finish(&process->answer);
    pleat_pmi_source_finish(&process->written[0]);
    pleat_pmi_source_finish(&process->written[1]);
}
