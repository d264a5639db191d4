#include "pmi/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "pmi/server.h"

#define GRACE_US PLEAT_US_PER_S /* from SIGTERM to SIGKILL; also for lost_us */
#define PER_PROCESS 3           /* its stream, its standard output and error */
#define EXIT_FAILED 1
#define EXIT_BEFORE_RUN 125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NO_PROGRAM 127
#define EXIT_SIGNAL 128

struct watch {
    struct pleat_pmi_program *program;
    struct pleat_pmi *pmi;
    struct pleat_pmi_process *processes; /* program->count of them */
    /* PER_PROCESS for each process, then signals, reports and the two sinks */
    struct pollfd *polled;
    uint32_t running;
    struct pleat_pmi_sink sinks[2]; /* for standard output and error */
    int signals;                    /* signalfd */
    int reports;                    /* pipe from processes that cannot be executed; -1: all could */

    int code;               /* exit code of the process that failed first; 0: none has */
    struct pleat_error why; /* its text is printed at the end; "": none */
    bool told;              /* a signal from outside told the program to end */
    bool ending;            /* all processes are being ended */
    int64_t kill_at_us;     /* monotonic time; INT64_MAX: already killed, or not ending */
    int64_t lost_us; /* when the others are ended, unless they end before: a process has exited with
                        0, but without MPI_Finalize, or before MPI_Init. INT64_MAX: none has */
    uint32_t lost;   /* rank of that process */
    bool absent; /* process `missing` ended with `missing_status` and never used MPI. That matters
                    only if others use MPI: they would wait for it in MPI_Init for ever */
    uint32_t missing;
    int missing_status;
    bool refusal_is_said; /* was printed */
};

static void signal_all(const struct watch *watch, int number)
{
    for (uint32_t i = 0; i < watch->program->count; i++)
        pleat_pmi_process_signal(&watch->processes[i], number);
}

static void end_all(struct watch *watch)
{
    if (watch->ending)
        return;
    watch->ending = true;
    watch->kill_at_us = pleat_clock_monotonic_us() + GRACE_US;
    signal_all(watch, SIGTERM);
    signal_all(watch, SIGCONT); /* a stopped process does not act on SIGTERM */
}

/* Sets the exit code; only the first failure counts. `why` may be NULL. */
static void fail(struct watch *watch, int code, const char *why)
{
    if (watch->code)
        return;
    watch->code = code;
    snprintf(watch->why.text, sizeof(watch->why.text), "%s", why ? why : "");
}

/* ---- messages ---- */

static void say_refused(struct watch *watch, uint32_t rank)
{
    if (watch->refusal_is_said || !pleat_pmi_refused(watch->pmi))
        return;
    watch->refusal_is_said = true;
    fprintf(stderr,
            "pleat-pmi: rank %u wants to start more processes, or to publish a name: an MPICH "
            "program cannot do that here\n",
            rank);
}

static void close_stream(struct pleat_pmi_process *process)
{
    close(process->stream);
    process->stream = -1;
}

static void send_answer(struct pleat_pmi_process *process)
{
    struct pleat_string *answer = &process->answer;
    while (process->stream >= 0 && process->sent < answer->length) {
        ssize_t sent = send(process->stream, answer->text + process->sent,
                            answer->length - process->sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN)
            return;
        if (sent < 0)
            close_stream(process); /* the process's end will be handled */
        else
            process->sent += (size_t)sent;
    }
    answer->length = process->sent = 0;
}

static void release(struct watch *watch)
{
    for (uint32_t i = 0; i < watch->program->count; i++) {
        pleat_string_add(&watch->processes[i].answer, PLEAT_PMI_BARRIER_OUT);
        if (watch->processes[i].answer.failed)
            fail(watch, EXIT_FAILED, "out of memory");
        send_answer(&watch->processes[i]);
    }
    if (watch->code)
        end_all(watch);
}

/* Acts on an outcome. Returns whether more can be read from the process. */
static bool act(struct watch *watch, uint32_t rank, enum pleat_pmi_outcome outcome)
{
    char why[128];
    int code;
    switch (outcome) {
    case PLEAT_PMI_GOES_ON:
        return true;
    case PLEAT_PMI_RELEASES:
        release(watch);
        return true;
    case PLEAT_PMI_ABORTS: /* MPI_Abort has printed the reason itself */
        code = pleat_pmi_abort_code(watch->pmi);
        fail(watch, code && !(code & 255) ? EXIT_FAILED : code & 255, NULL);
        end_all(watch);
        return true;
    case PLEAT_PMI_NONSENSE:
        snprintf(why, sizeof(why),
                 "rank %u does not speak PMI-1: its MPI cannot be started by Pleat", rank);
        fail(watch, EXIT_FAILED, why);
        break;
    case PLEAT_PMI_NO_MEMORY:
        fail(watch, EXIT_FAILED, "out of memory");
        break;
    }
    end_all(watch);
    return false;
}

/* Handles all that a process has sent; stops while it does not take its answers. */
static void listen_to(struct watch *watch, uint32_t rank)
{
    struct pleat_pmi_process *process = &watch->processes[rank];
    char bytes[PLEAT_PMI_LINE_MAX];
    while (process->stream >= 0 && process->answer.length == 0) {
        ssize_t got = recv(process->stream, bytes, sizeof(bytes), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            close_stream(process);
            return;
        }
        size_t used = 0;
        for (size_t at = 0; at < (size_t)got; at += used) {
            if (!act(watch, rank,
                     pleat_pmi_take(watch->pmi, rank, bytes + at, (size_t)got - at, &used,
                                    &process->answer))) {
                close_stream(process);
                return;
            }
        }
        say_refused(watch, rank);
        send_answer(process);
    }
}

/* ---- ends of processes ---- */

static void describe(const struct watch *watch, uint32_t rank, int status, char *text, size_t size)
{
    int pid = (int)watch->processes[rank].pid;
    bool silent = pleat_pmi_life(watch->pmi, rank) == PLEAT_PMI_SILENT;
    const char *others = watch->program->count > 1 ? ": all others were ended, too" : "";
    if (WIFSIGNALED(status))
        snprintf(text, size, "rank %u (process %d) was ended by signal %d (%s)%s", rank, pid,
                 WTERMSIG(status), strsignal(WTERMSIG(status)), others);
    else
        snprintf(text, size, "rank %u (process %d) ended with exit code %d, %s%s", rank, pid,
                 WEXITSTATUS(status), silent ? "before MPI_Init" : "without MPI_Finalize", others);
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Handles the end of a process without which the others cannot go on. */
static void lose(struct watch *watch, uint32_t rank, int status)
{
    char why[200];
    int code = code_of(status);
    if (code) {
        describe(watch, rank, status, why, sizeof(why));
        fail(watch, code, why);
        if (!watch->why.text[0]) /* the code was set before the others needed the process */
            snprintf(watch->why.text, sizeof(watch->why.text), "%s", why);
        if (!watch->told)
            end_all(watch);
    } else if (watch->lost_us == INT64_MAX) {
        watch->lost = rank;
        watch->lost_us = pleat_clock_monotonic_us() + GRACE_US;
    }
}

static void look_for_absent(struct watch *watch)
{
    bool waited_for = false;
    for (uint32_t i = 0; watch->absent && !waited_for && i < watch->program->count; i++)
        waited_for = pleat_pmi_life(watch->pmi, i) == PLEAT_PMI_JOINED;
    if (waited_for && !watch->ending) {
        watch->absent = false;
        lose(watch, watch->missing, watch->missing_status);
    }
}

static void ended(struct watch *watch, uint32_t rank, int status)
{
    struct pleat_pmi_process *process = &watch->processes[rank];
    listen_to(watch, rank); /* the last that it sent */
    for (int i = 0; i < 2; i++)
        pleat_pmi_source_read(&process->written[i], &watch->sinks[i], true);
    process->ended = true;
    watch->running--;
    pleat_pmi_process_finish(process);
    enum pleat_pmi_life life = pleat_pmi_life(watch->pmi, rank);
    if (watch->ending)
        return; /* after that, signals and exit codes do not tell what went wrong */
    if (life == PLEAT_PMI_JOINED || WIFSIGNALED(status)) {
        lose(watch, rank, status);
        return;
    }
    fail(watch, code_of(status), NULL);
    if (life == PLEAT_PMI_SILENT && (!watch->absent || !watch->missing_status)) {
        watch->absent = true;
        watch->missing = rank;
        watch->missing_status = status;
    }
}

static void reap(struct watch *watch)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        for (uint32_t i = 0; i < watch->program->count; i++) {
            if (watch->processes[i].pid == pid && !watch->processes[i].ended) {
                ended(watch, i, status);
                break;
            }
        }
    }
}

/* ---- signals and time ---- */

static void stop_all(const struct watch *watch)
{
    signal_all(watch, SIGSTOP); /* sessions without a terminal ignore SIGTSTP */
    raise(SIGSTOP);
    signal_all(watch, SIGCONT);
}

static void take_signal(struct watch *watch, int number)
{
    switch (number) {
    case SIGCHLD:
    case SIGCONT:
        break;
    case SIGTSTP:
        stop_all(watch);
        break;
    case SIGUSR1:
    case SIGUSR2: /* only to the processes themselves: what they have started would die of it */
        for (uint32_t i = 0; i < watch->program->count; i++)
            if (watch->processes[i].pid > 0 && !watch->processes[i].ended)
                (void)kill(watch->processes[i].pid, number);
        break;
    default:
        signal_all(watch, watch->told ? SIGKILL : number);
        watch->told = true;
        break;
    }
}

/* Handles signals before ends, since the signal of which a process died may have been sent to this
 * process, too. */
static void take_signals(struct watch *watch)
{
    struct signalfd_siginfo info;
    while (read(watch->signals, &info, sizeof(info)) == sizeof(info))
        take_signal(watch, (int)info.ssi_signo);
    reap(watch);
}

static void take_report(struct watch *watch)
{
    struct pleat_pmi_failure failure;
    ssize_t got = read(watch->reports, &failure, sizeof(failure));
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got == sizeof(failure)) {
        char why[200];
        snprintf(why, sizeof(why), "cannot start '%.100s': %s", watch->program->argv[0],
                 strerror(failure.code));
        fail(watch, failure.code == ENOENT ? EXIT_NO_PROGRAM : EXIT_NOT_EXECUTABLE, why);
        end_all(watch);
        return;
    }
    close(watch->reports);
    watch->reports = -1;
}

/* Does what is due. Returns when the next thing is due. */
static int64_t look_at_time(struct watch *watch)
{
    int64_t now = pleat_clock_monotonic_us(), next = INT64_MAX;
    if (!watch->ending && now >= watch->lost_us) {
        char why[200];
        describe(watch, watch->lost, 0, why, sizeof(why));
        fail(watch, EXIT_FAILED, why);
        end_all(watch);
    }
    if (now >= watch->kill_at_us) {
        watch->kill_at_us = INT64_MAX;
        signal_all(watch, SIGKILL);
    }
    for (uint32_t i = 0; i < watch->program->count; i++) {
        for (int k = 0; k < 2; k++) {
            int64_t due =
                pleat_pmi_source_flush(&watch->processes[i].written[k], &watch->sinks[k], now);
            next = due < next ? due : next;
        }
    }
    if (!watch->ending && watch->lost_us < next)
        next = watch->lost_us;
    return watch->kill_at_us < next ? watch->kill_at_us : next;
}

static int ms_until(int64_t when_us)
{
    if (when_us == INT64_MAX)
        return -1;
    int64_t left = (when_us - pleat_clock_monotonic_us() + 999) / 1000;
    return left < 0 ? 0 : (int)left;
}

static void set_polled(struct watch *watch)
{
    uint32_t count = watch->program->count;
    struct pollfd *last = watch->polled + (size_t)count * PER_PROCESS;
    for (uint32_t i = 0; i < count; i++) {
        const struct pleat_pmi_process *process = &watch->processes[i];
        struct pollfd *own = watch->polled + (size_t)i * PER_PROCESS;
        own[0] = (struct pollfd){.fd = process->stream,
                                 .events = process->answer.length ? POLLOUT : POLLIN};
        for (int k = 0; k < 2; k++) {
            bool wanted = pleat_pmi_source_wanted(&process->written[k], &watch->sinks[k]);
            own[k + 1] =
                (struct pollfd){.fd = wanted ? process->written[k].fd : -1, .events = POLLIN};
        }
    }
    last[0] = (struct pollfd){.fd = watch->signals, .events = POLLIN};
    last[1] = (struct pollfd){.fd = watch->reports, .events = POLLIN};
    for (int k = 0; k < 2; k++) {
        const struct pleat_pmi_sink *sink = &watch->sinks[k];
        last[k + 2] =
            (struct pollfd){.fd = pleat_pmi_sink_waits(sink) ? sink->fd : -1, .events = POLLOUT};
    }
}

static void serve(struct watch *watch)
{
    uint32_t count = watch->program->count;
    const struct pollfd *last = watch->polled + (size_t)count * PER_PROCESS;
    look_for_absent(watch);
    int64_t next = look_at_time(watch);
    set_polled(watch);
    if (poll(watch->polled, (nfds_t)count * PER_PROCESS + 4, ms_until(next)) <= 0)
        return;
    if (last[1].revents)
        take_report(watch);
    for (uint32_t i = 0; i < count; i++) {
        const struct pollfd *own = watch->polled + (size_t)i * PER_PROCESS;
        if (own[0].revents) {
            send_answer(&watch->processes[i]);
            listen_to(watch, i);
        }
        for (int k = 0; k < 2; k++)
            if (own[k + 1].revents)
                pleat_pmi_source_read(&watch->processes[i].written[k], &watch->sinks[k], false);
    }
    if (last[0].revents)
        take_signals(watch);
    pleat_pmi_sink_write(&watch->sinks[0], false);
    pleat_pmi_sink_write(&watch->sinks[1], false);
}

/* ---- start and end ---- */

/* Prints the reason, and returns the exit code. */
static int cannot(const char *what)
{
    fprintf(stderr, "pleat-pmi: %s: %s\n", what, strerror(errno));
    return EXIT_BEFORE_RUN;
}

static int prepare(struct watch *watch)
{
    static const int numbers[] = {SIGCHLD, SIGTERM, SIGINT,  SIGHUP, SIGQUIT,
                                  SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    struct pleat_pmi_program *program = watch->program;
    unsigned char bytes[8];
    char name[32];
    int ends[2];
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaddset(&set, numbers[i]);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (sigprocmask(SIG_BLOCK, &set, &program->signals) ||
        sigaction(SIGPIPE, &ignore, &program->on_pipe))
        return cannot("signals");
    watch->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (watch->signals < 0 || pipe2(ends, O_CLOEXEC))
        return cannot("no descriptors");
    watch->reports = ends[0];
    program->report = ends[1];
    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return cannot("no random number");
    snprintf(name, sizeof(name), "pleat-%02x%02x%02x%02x%02x%02x%02x%02x", bytes[0], bytes[1],
             bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]);
    watch->pmi = pleat_pmi_new(program->count, name);
    watch->processes = calloc(program->count, sizeof(*watch->processes));
    watch->polled = calloc((size_t)program->count * PER_PROCESS + 4, sizeof(*watch->polled));
    for (uint32_t i = 0; watch->processes && i < program->count; i++)
        watch->processes[i].stream = watch->processes[i].written[0].fd =
            watch->processes[i].written[1].fd = -1;
    return watch->pmi && watch->processes && watch->polled ? 0 : cannot("starting");
}

static void start_all(struct watch *watch)
{
    struct pleat_error err;
    for (uint32_t i = 0; i < watch->program->count; i++) {
        if (pleat_pmi_process_start(watch->program, i, &watch->processes[i], &err)) {
            fail(watch, EXIT_BEFORE_RUN, err.text);
            end_all(watch);
            break;
        }
        watch->running++;
    }
    close(watch->program->report);
}

int pleat_pmi_watch(struct pleat_pmi_program *program)
{
    struct watch watch = {.program = program,
                          .sinks = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}},
                          .signals = -1,
                          .reports = -1,
                          .kill_at_us = INT64_MAX,
                          .lost_us = INT64_MAX};
    int code = prepare(&watch);
    if (code)
        return code;
    start_all(&watch);
    while (watch.running)
        serve(&watch);
    (void)sigprocmask(SIG_SETMASK, &program->signals,
                      /* only the output is left, so signals may end this process */
                      NULL);
    pleat_pmi_sink_write(&watch.sinks[0], true);
    pleat_pmi_sink_write(&watch.sinks[1], true);
    if (watch.why.text[0] && !watch.told)
        fprintf(stderr, "pleat-pmi: %s\n", watch.why.text);
    pleat_pmi_free(watch.pmi);
    free(watch.processes);
    free(watch.polled);
    for (int i = 0; i < 2; i++)
        pleat_string_finish(&watch.sinks[i].queued);
    return watch.code;
}
