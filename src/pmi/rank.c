#include "pmi/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/write.h"
#include "pmi/absent.h"

/* If a process has failed without using MPI, the others wait for it only if they use MPI. They have
 * this time to end before the program is ended. */
#define SILENT_MS 5000

enum {
    EXIT_FAILED = 1,
    EXIT_NOT_STARTED = 125,
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NO_PROGRAM = 127,
    EXIT_SIGNAL = 128,
    PIECE = 4096,
    TAIL = 64 /* bytes: longer than the last message of a process to hydra */
};

static const char last_words[] = "cmd=finalize";

struct rank {
    pid_t pid;
    sigset_t before;     /* the signals that were blocked */
    int hydra, stream;   /* where hydra is, and the process; -1: it has closed that */
    int refused;         /* a pipe with the errno of a process that cannot execute its program */
    int signals;         /* signalfd of SIGCHLD, and of what ends a program */
    bool silent;         /* the process has said nothing yet: it has not been in MPI_Init */
    char tail[TAIL + 1]; /* the end of what it said */
};

/* ---- the process ---- */

/* In the new process: it finds its end of the stream at hydra's number. Returns an errno. */
static int become(const struct rank *rank, char **argv, const char *preload, int stream, int number,
                  pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL))
        return errno;
    if (getppid() != parent)
        _exit(1); /* it has ended already, so no death signal will come */
    if (dup2(stream, number) < 0 || (preload && setenv("LD_PRELOAD", preload, 1)) ||
        sigprocmask(SIG_SETMASK, &rank->before, NULL))
        return errno;
    execvp(argv[0], argv);
    return errno;
}

/* 0 or an errno. */
static int start(struct rank *rank, char **argv, const char *preload, int number)
{
    int streams[2], refused[2];
    pid_t self = getpid();
    rank->hydra = fcntl(number, F_DUPFD_CLOEXEC, 0);
    if (rank->hydra < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, streams) ||
        pipe2(refused, O_CLOEXEC))
        return errno;
    rank->pid = fork();
    if (rank->pid == 0) {
        int code = become(rank, argv, preload, streams[1], number, self);
        (void)!write(refused[1], &code, sizeof(code));
        _exit(EXIT_NO_PROGRAM);
    }
    int code = rank->pid < 0 ? errno : 0;
    close(streams[1]);
    close(refused[1]);
    close(number);
    rank->stream = streams[0];
    rank->refused = refused[0];
    return code;
}

/* ---- messages between the process and hydra ---- */

static void note_tail(struct rank *rank, const char *piece, size_t length)
{
    size_t kept = strlen(rank->tail), take = length < TAIL ? length : TAIL;
    if (kept + take > TAIL) {
        memmove(rank->tail, rank->tail + kept + take - TAIL, TAIL - take);
        kept = TAIL - take;
    }
    memcpy(rank->tail + kept, piece + length - take, take);
    rank->tail[kept + take] = '\0';
    rank->silent = false;
}

/* Hands on what is there. False: one side is gone. */
static bool hand_on(struct rank *rank, bool from_process)
{
    char piece[PIECE];
    int from = from_process ? rank->stream : rank->hydra;
    int to = from_process ? rank->hydra : rank->stream;
    ssize_t count = recv(from, piece, sizeof(piece), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (count <= 0)
        return false;
    if (from_process)
        note_tail(rank, piece, (size_t)count);
    return pleat_write_all(to, piece, (size_t)count) == 0;
}

static void hang_up(struct rank *rank)
{
    close(rank->stream);
    rank->stream = -1;
}

/* Takes the signals that have come. */
static bool is_told_to_end(const struct rank *rank)
{
    struct signalfd_siginfo signal;
    bool told = false;
    while (read(rank->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal))
        told = told || signal.ssi_signo != SIGCHLD;
    return told;
}

/* Attends the process until it ends. Returns its wait status. */
static int attend(struct rank *rank)
{
    int status = 0;
    while (waitpid(rank->pid, &status, WNOHANG) != rank->pid) {
        struct pollfd polled[] = {
            {.fd = rank->signals, .events = POLLIN},
            {.fd = rank->stream, .events = POLLIN},
            {.fd = rank->stream < 0 ? -1 : rank->hydra, .events = POLLIN},
        };
        if (poll(polled, 3, -1) < 0)
            continue;
        if (polled[0].revents)
            (void)is_told_to_end(rank); /* so is the process */
        if ((polled[1].revents && !hand_on(rank, true)) ||
            (polled[2].revents && rank->stream >= 0 && !hand_on(rank, false)))
            hang_up(rank);
    }
    while (rank->stream >= 0) { /* the last that it said */
        struct pollfd left = {.fd = rank->stream, .events = POLLIN};
        if (poll(&left, 1, 0) <= 0 || !hand_on(rank, true))
            hang_up(rank);
    }
    return status;
}

/* ---- its end ---- */

/* Whether the program ends by itself meanwhile, or is ended. */
static bool is_over(const struct rank *rank)
{
    struct pollfd polled[] = {{.fd = rank->hydra, .events = POLLIN},
                              {.fd = rank->signals, .events = POLLIN}};
    int64_t until_us = pleat_clock_monotonic_us() + SILENT_MS * INT64_C(1000);
    for (int64_t left_us = SILENT_MS * INT64_C(1000); left_us > 0;) {
        if (is_told_to_end(rank))
            return true;
        if (poll(polled, 2, (int)(left_us / 1000) + 1) > 0 && polled[0].revents)
            return true;
        left_us = until_us - pleat_clock_monotonic_us();
    }
    return false;
}

/* Waits until hydra has read what was written on standard error: when hydra ends a program it drops
 * the rest. */
static void await_reading(void)
{
    enum { LOOKS = 50 };
    static const struct timespec pause = {.tv_nsec = 10000000};
    int unread = 0;
    for (int i = 0; i < LOOKS && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; i++)
        (void)nanosleep(&pause, NULL);
}

/* Returns the exit code: it is 1 where that of the process is none that says so. */
static int end_program(const struct rank *rank, int code, const char *when)
{
    const int told = code ? code : EXIT_FAILED;
    char text[64];
    const char *number = getenv("PMI_RANK");
    int length = snprintf(text, sizeof(text), "cmd=abort exitcode=%d\n", told);
    fprintf(stderr,
            "pleat-pmi: rank %s (process %d) ended with exit code %d, %s: all others were ended, "
            "too\n",
            number ? number : "?", (int)rank->pid, code, when);
    await_reading();
    (void)!pleat_write_all(rank->hydra, text, (size_t)length);
    return told;
}

/* Ends as the process did. */
static int end_by(int number)
{
    static const struct rlimit none = {0, 0};
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t one;
    (void)setrlimit(RLIMIT_CORE, &none); /* the process has left a core file itself */
    (void)sigaction(number, &usual, NULL);
    sigemptyset(&one);
    sigaddset(&one, number);
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
    (void)raise(number);
    return EXIT_SIGNAL + number;
}

/* The exit code of a program that cannot be executed; 0: it could be. */
static int refusal(const struct rank *rank, const char *program)
{
    int code = 0;
    if (read(rank->refused, &code, sizeof(code)) != (ssize_t)sizeof(code))
        return 0;
    fprintf(stderr, "pleat-pmi: cannot start '%s': %s\n", program, strerror(code));
    return code == ENOENT ? EXIT_NO_PROGRAM : EXIT_NOT_EXECUTABLE;
}

static int end(const struct rank *rank, int status, const char *program)
{
    if (WIFSIGNALED(status))
        return end_by(WTERMSIG(status));
    int refused = refusal(rank, program), code = refused ? refused : WEXITSTATUS(status);
    if (strstr(rank->tail, last_words))
        return code;
    if (!rank->silent)
        return end_program(rank, code, "without MPI_Finalize");
    bool ends =
        code == 0 ? !pleat_pmi_is_missed(rank->hydra, rank->signals) : !refused && is_over(rank);
    return ends ? code : end_program(rank, code, "before MPI_Init");
}

/* hydra gives the input to the first process, and leaves the others at pipes that never end: a
 * program that reads its input in all of them would wait for ever. */
static void close_input(void)
{
    const char *number = getenv("PMI_RANK");
    int null = number && strcmp(number, "0") ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    if (null >= 0)
        (void)dup2(null, STDIN_FILENO);
}

int pleat_pmi_rank(char **argv, const char *preload)
{
    struct rank rank = {.hydra = -1, .stream = -1, .silent = true};
    const char *text = getenv("PMI_FD");
    sigset_t all, own;
    int number = text ? atoi(text) : -1;
    if (number <= STDERR_FILENO || fcntl(number, F_GETFD) < 0) {
        fprintf(stderr, "pleat-pmi: --rank is for processes that MPICH's hydra starts\n");
        return EXIT_NOT_STARTED;
    }
    close_input();
    /* Signals are for the process: hydra sends them to the group, Pleat to each process. */
    sigfillset(&all);
    sigemptyset(&own);
    sigaddset(&own, SIGCHLD);
    sigaddset(&own, SIGTERM);
    sigaddset(&own, SIGINT);
    (void)sigprocmask(SIG_SETMASK, &all, &rank.before);
    rank.signals = signalfd(-1, &own, SFD_CLOEXEC | SFD_NONBLOCK);
    int code = rank.signals < 0 ? errno : start(&rank, argv, preload, number);
    if (code) {
        fprintf(stderr, "pleat-pmi: cannot start '%s': %s\n", argv[0], strerror(code));
        return EXIT_NOT_STARTED;
    }
    int status = attend(&rank);
    return end(&rank, status, argv[0]);
}
