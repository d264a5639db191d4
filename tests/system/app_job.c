#include "app_job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/marked.h"
#include "support/store_bytes.h"

#define MARK_NAME "PLEAT_TEST_JOB"
#define LISTEN_MS 50
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- finding and ending what belongs to the job ---- */

/* Removes a directory tree; the number of things that are not directories in it. */
static int remove_tree(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;
    if (!directory)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char below[512];
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
        if (unlink(below) == 0)
            count++;
        else
            count += remove_tree(below);
    }
    closedir(directory);
    rmdir(path);
    return count;
}

static void reap_orphans(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* ---- starting ---- */

static void add(const char **argv, size_t *count, const char *const *words)
{
    while (*words)
        argv[(*count)++] = *words++;
}

/* The launch that grows and shrinks to any size with Open MPI 4.1, and leaves nothing outside of
 * the job's own directory. */
static void compose_openmpi(const char **argv, size_t *count, const struct app_job *job)
{
    add(argv, count, WORDS("mpirun.openmpi"));
    if (!job->options.no_oversubscribe)
        add(argv, count, WORDS("--oversubscribe"));
    add(argv, count,
        WORDS("--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "vader,self,tcp", "--mca",
              "mpi_yield_when_idle", "1", "--mca", "async_mpi_finalize", "1"));
    add(argv, count, WORDS("--mca", "orte_tmpdir_base", job->directory));
    add(argv, count, WORDS("--mca", "btl_vader_backing_directory", job->directory));
}

static void compose(const char **argv, const struct app_job *job, const char *ranks)
{
    size_t count = 0;
    if (job->options.mpich)
        add(argv, &count,
            WORDS("mpiexec.mpich", "-rmk", "user", "-launcher", "fork", "-bind-to", "none"));
    else
        compose_openmpi(argv, &count, job);
    add(argv, &count, WORDS("-n", ranks));
    /* The library is for the ranks, not for mpirun. */
    if (job->options.preload)
        add(argv, &count, WORDS("env", job->options.preload));
    add(argv, &count, job->argv);
    argv[count] = NULL;
}

static void set_environment(const struct app_job *job)
{
    char path[PLEAT_STATE_PATHS_SIZE];
    int agent = (int)getppid();
    putenv((char *)(uintptr_t)job->mark);
    setenv("EVENT_NOEPOLL", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    unsetenv(PLEAT_MAILBOX_ENV);
    unsetenv(PLEAT_DOORBELL_ENV);
    unsetenv(PLEAT_STATE_ENV);
    if (job->options.without_pleat)
        return;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", agent, job->mailbox_fd);
    setenv(PLEAT_MAILBOX_ENV, job->options.mailbox_path ? job->options.mailbox_path : path, 1);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", agent, job->bell[1]);
    setenv(PLEAT_DOORBELL_ENV, path, 1);
    if (!job->options.without_state)
        setenv(PLEAT_STATE_ENV, job->state_paths, 1);
}

/* Ends with the test, also where that is killed: mpirun then ends its ranks. */
static void end_with(pid_t test)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != test)
        _exit(127);
}

static void run_child(const struct app_job *job, int ranks, int output, pid_t test)
{
    const char *argv[96];
    char text[16];
    end_with(test);
    snprintf(text, sizeof(text), "%d", ranks);
    compose(argv, job, text);
    set_environment(job);
    setpgid(0, 0);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    struct rlimit limit = {.rlim_cur = job->options.file_limit,
                           .rlim_max = job->options.file_limit};
    if (!limit.rlim_cur || setrlimit(RLIMIT_FSIZE, &limit) == 0)
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    fprintf(stderr, "cannot start %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* A new world: a mailbox of its own, processes, their output. waits: it begins when it is told. */
static void launch(struct app_job *job, int ranks, bool waits)
{
    struct pleat_error err;
    int output[2];
    if (pipe2(output, O_CLOEXEC))
        app_job_fail(job, "cannot prepare a job: %s", strerror(errno));
    if (!job->options.without_pleat &&
        pleat_mailbox_create(APP_JOB_MAX_RANKS, &job->mailbox, &job->mailbox_fd, &err))
        app_job_fail(job, "%s", err.text);
    struct pleat_state_header held;
    if (waits)
        pleat_mailbox_hold(job->mailbox);
    else if (!job->options.without_pleat && pleat_state_store_held(&job->store, &held) == 0)
        pleat_mailbox_resume(job->mailbox, held.generation);
    job->ended = false;
    const pid_t test = getpid();
    job->pid = fork();
    if (job->pid < 0)
        app_job_fail(job, "cannot fork: %s", strerror(errno));
    if (job->pid == 0)
        run_child(job, ranks, output[1], test);
    close(output[1]);
    job->output_fd = output[0];
    fcntl(job->output_fd, F_SETFL, O_NONBLOCK);
    job->pidfd = (int)syscall(SYS_pidfd_open, job->pid, 0);
    if (job->pidfd < 0)
        app_job_fail(job, "cannot watch mpirun: %s", strerror(errno));
}

void app_job_start(struct app_job *job, const struct app_job_options *options,
                   const char *const *argv)
{
    static unsigned number;
    struct pleat_error err;
    memset(job, 0, sizeof(*job));
    job->options = *options;
    job->argv = argv;
    job->pidfd = -1;
    job->store = (struct pleat_state_store){{-1, -1, -1}};
    snprintf(job->mark, sizeof(job->mark), MARK_NAME "=%d.%u", (int)getpid(), ++number);
    snprintf(job->directory, sizeof(job->directory), "/tmp/pleat-job-XXXXXX");
    double limit_s = options->limit_s > 0 ? options->limit_s : 120;
    job->deadline_us = pleat_clock_monotonic_us() + (int64_t)(limit_s * 1e6);
    /* mpirun's orphans come to us, so that they can be reaped and counted. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!mkdtemp(job->directory) || pipe2(job->bell, O_CLOEXEC | O_NONBLOCK))
        app_job_fail(job, "cannot prepare a job: %s", strerror(errno));
    if (!options->without_pleat && pleat_state_store_init(&job->store, &err))
        app_job_fail(job, "%s", err.text);
    pleat_state_store_paths(&job->store, job->state_paths);
    if (options->without_data)
        *strrchr(job->state_paths, ':') = '\0';
    launch(job, options->ranks, false);
}

/* ---- watching ---- */

static void read_output(struct app_job *job)
{
    char rest[4096];
    for (;;) {
        size_t room = sizeof(job->output) - 1 - job->output_length;
        ssize_t got = room ? read(job->output_fd, job->output + job->output_length, room)
                           : read(job->output_fd, rest, sizeof(rest));
        if (got <= 0)
            break;
        if (room)
            job->output_length += (size_t)got;
    }
    job->output[job->output_length] = '\0';
}

static void check_limit(struct app_job *job)
{
    if (pleat_clock_monotonic_us() > job->deadline_us)
        app_job_fail(job, "the job did not get there within its limit");
}

void app_job_listen(struct app_job *job)
{
    char rings[64];
    struct pollfd fds[3] = {{.fd = job->bell[0], .events = POLLIN},
                            {.fd = job->ended ? -1 : job->pidfd, .events = POLLIN},
                            {.fd = job->output_fd, .events = POLLIN}};
    poll(fds, 2, LISTEN_MS);
    while (read(job->bell[0], rings, sizeof(rings)) > 0)
        ;
    read_output(job);
    if (!job->ended && waitpid(job->pid, &job->wait_status, WNOHANG) == job->pid)
        job->ended = true;
    check_limit(job);
}

struct pleat_mailbox_status app_job_status(const struct app_job *job)
{
    struct pleat_mailbox_status status;
    pleat_mailbox_status(job->mailbox, &status);
    return status;
}

static void listen_on(struct app_job *job, const char *what)
{
    if (job->ended)
        app_job_fail(job, "the job ended while the test waited for %s", what);
    app_job_listen(job);
}

void app_job_wait_attached(struct app_job *job)
{
    while (!app_job_status(job).attached)
        listen_on(job, "its ranks to attach");
}

void app_job_wait_begun(struct app_job *job)
{
    while (!app_job_status(job).begun)
        listen_on(job, "its ranks to begin");
}

static void post(struct app_job *job, uint32_t target, bool relaunch)
{
    const struct pleat_mailbox_request request = {
        .resize = ++job->resize, .target = target, .relaunch = relaunch};
    int code = pleat_mailbox_post(job->mailbox, &request);
    if (code)
        app_job_fail(job, "posting a resize to %u: error %d", target, code);
}

void app_job_post(struct app_job *job, uint32_t target)
{
    post(job, target, false);
}

static void wait_until_gone(struct app_job *job, const int *pidfds, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct pollfd watch = {.fd = pidfds[i], .events = POLLIN};
        while (pidfds[i] >= 0 && poll(&watch, 1, LISTEN_MS) == 0)
            check_limit(job);
        if (pidfds[i] >= 0)
            close(pidfds[i]);
    }
}

struct pleat_mailbox_status app_job_resize(struct app_job *job, uint32_t target)
{
    int32_t pids[APP_JOB_MAX_RANKS];
    int pidfds[APP_JOB_MAX_RANKS];
    uint32_t before = app_job_status(job).size;
    uint32_t leaving = before > target ? before - target : 0;
    if (leaving && pleat_mailbox_pids(job->mailbox, target, leaving, pids) != leaving)
        app_job_fail(job, "the ranks' pids are not all there");
    for (uint32_t i = 0; i < leaving; i++)
        pidfds[i] = pids[i] ? (int)syscall(SYS_pidfd_open, pids[i], 0) : -1;
    app_job_post(job, target);
    struct pleat_mailbox_status status;
    for (;;) {
        status = app_job_status(job);
        if (status.phase == PLEAT_MAILBOX_APPLIED || status.phase == PLEAT_MAILBOX_FAILED)
            break;
        listen_on(job, "a resize");
    }
    if (status.phase == PLEAT_MAILBOX_APPLIED)
        wait_until_gone(job, pidfds, leaving);
    pleat_mailbox_acknowledge(job->mailbox);
    return status;
}

uint32_t app_job_ask(struct app_job *job, uint32_t target, bool mandatory)
{
    const struct pleat_mailbox_request request = {
        .resize = ++job->resize, .target = target, .mandatory = mandatory};
    int code = pleat_mailbox_ask(job->mailbox, &request);
    if (code)
        app_job_fail(job, "asking about %u: error %d", target, code);
    while (app_job_status(job).phase != PLEAT_MAILBOX_ANSWERED)
        listen_on(job, "an answer");
    uint32_t accepted = app_job_status(job).accepted;
    pleat_mailbox_acknowledge(job->mailbox);
    return accepted;
}

int app_job_wait(struct app_job *job)
{
    while (!job->ended)
        app_job_listen(job);
    read_output(job);
    return WIFEXITED(job->wait_status) ? WEXITSTATUS(job->wait_status)
                                       : 128 + WTERMSIG(job->wait_status);
}

/* ---- ending ---- */

/* Ends the processes that there are; how many were left when mpirun was gone. */
static int end_processes(struct app_job *job)
{
    if (job->pid > 0 && !job->ended) {
        kill(-job->pid, SIGKILL);
        kill(job->pid, SIGKILL);
        while (waitpid(job->pid, &job->wait_status, 0) < 0 && errno == EINTR)
            ;
        job->ended = true;
    }
    /* Processes may still be on their way out when mpirun is done. */
    int64_t patience_us = pleat_clock_monotonic_us() + 2 * PLEAT_US_PER_S;
    int left = 0;
    while ((left = marked_signal(job->mark, 0)) && pleat_clock_monotonic_us() < patience_us) {
        poll(NULL, 0, 10);
        reap_orphans();
    }
    while (marked_signal(job->mark, SIGKILL)) {
        poll(NULL, 0, 10);
        reap_orphans();
    }
    return left;
}

/* What belongs to one world. */
static void close_world(struct app_job *job)
{
    pleat_mailbox_close(job->mailbox);
    if (job->mailbox)
        close(job->mailbox_fd);
    job->mailbox = NULL;
    close(job->output_fd);
    if (job->pidfd >= 0)
        close(job->pidfd);
    job->pidfd = -1;
}

void app_job_start_again(struct app_job *job, int ranks)
{
    if (job->pid > 0 && !job->ended)
        marked_signal(job->mark, SIGKILL);
    end_processes(job);
    read_output(job);
    close_world(job);
    /* Removes files that killed processes left. */
    remove_tree(job->directory);
    if (mkdir(job->directory, 0700))
        app_job_fail(job, "cannot make %s: %s", job->directory, strerror(errno));
    launch(job, ranks, false);
}

void app_job_restart(struct app_job *job, int ranks)
{
    app_job_start_again(job, ranks);
    app_job_wait_begun(job);
}

/* The old processes' part and the new ones' (agent/relaunch.c does the same). */
static void reckon(struct app_job *job, const struct pleat_mailbox_status *saved, int64_t since_ns)
{
    struct pleat_mailbox_cost *cost = &job->relaunch;
    *cost = saved->cost;
    cost->load_ns = app_job_status(job).cost.load_ns;
    cost->total_ns += (uint64_t)since_ns;
    cost->processes_ns = cost->total_ns - cost->save_ns - cost->load_ns;
}

struct pleat_mailbox_status app_job_relaunch(struct app_job *job, uint32_t target)
{
    struct pleat_mailbox_status status;
    post(job, target, true);
    for (;;) {
        status = app_job_status(job);
        if (status.phase == PLEAT_MAILBOX_SAVED || status.phase == PLEAT_MAILBOX_FAILED)
            break;
        listen_on(job, "a state to be saved");
    }
    if (status.phase == PLEAT_MAILBOX_FAILED) {
        pleat_mailbox_acknowledge(job->mailbox);
        return status;
    }
    int64_t saved_ns = pleat_clock_monotonic_ns();
    APP_CHECK(job, app_job_wait(job) == 0);
    APP_CHECK(job, end_processes(job) == 0);
    APP_CHECK(job, pleat_state_store_held(&job->store, &job->saved) == 0);
    app_job_restart(job, (int)target);
    reckon(job, &status, pleat_clock_monotonic_ns() - saved_ns);
    return status;
}

/* The old world of a warm relaunch. */
struct world {
    struct pleat_mailbox *mailbox;
    int mailbox_fd, output_fd, pidfd;
    pid_t pid;
};

/* Waits until the old processes have ended, well, and closes what belongs to them. */
static void end_world(struct app_job *job, const struct world *old)
{
    const int fresh = job->output_fd;
    int status = -1;
    wait_until_gone(job, &old->pidfd, 1);
    APP_CHECK(job, waitpid(old->pid, &status, 0) == old->pid && status == 0);
    job->output_fd = old->output_fd;
    read_output(job);
    job->output_fd = fresh;
    close(old->output_fd);
    pleat_mailbox_close(old->mailbox);
    close(old->mailbox_fd);
}

/* They could have ended long ago: each of them sleeps, lest it takes processors from the new ones.
 */
static void check_they_stay(struct app_job *job, const struct world *old)
{
    const int64_t until_us = pleat_clock_monotonic_us() + PLEAT_US_PER_S / 2;
    struct pollfd watch = {.fd = old->pidfd, .events = POLLIN};
    while (pleat_clock_monotonic_us() < until_us) {
        app_job_listen(job);
        APP_CHECK(job, poll(&watch, 1, 0) == 0);
    }
}

struct pleat_mailbox_status app_job_relaunch_warm(struct app_job *job, uint32_t target)
{
    const struct world old = {job->mailbox, job->mailbox_fd, job->output_fd, job->pidfd, job->pid};
    const struct pleat_mailbox_request request = {
        .resize = ++job->resize, .target = target, .relaunch = true, .beside = true};
    struct pleat_mailbox_status status, waiting;
    launch(job, (int)target, true);
    while (waiting = app_job_status(job), !waiting.attached || waiting.waiting != target)
        listen_on(job, "its new ranks to wait");
    APP_CHECK(job, waiting.size == target && !waiting.begun);
    job->waiting_bytes = store_bytes(&job->store);
    APP_CHECK(job, pleat_mailbox_post(old.mailbox, &request) == 0);
    while (pleat_mailbox_status(old.mailbox, &status), status.phase != PLEAT_MAILBOX_SAVED)
        listen_on(job, "a state to be saved");
    int64_t saved_ns = pleat_clock_monotonic_ns();
    APP_CHECK(job, pleat_state_store_held(&job->store, &job->saved) == 0);
    APP_CHECK(job, !app_job_status(job).begun);
    pleat_mailbox_go(job->mailbox, job->saved.generation);
    app_job_wait_begun(job);
    reckon(job, &status, pleat_clock_monotonic_ns() - saved_ns);
    if (job->lingers)
        check_they_stay(job, &old);
    pleat_mailbox_dismiss(old.mailbox);
    end_world(job, &old);
    return status;
}

int app_job_finish(struct app_job *job)
{
    int left = end_processes(job);
    left += remove_tree(job->directory);
    close_world(job);
    close(job->bell[0]);
    close(job->bell[1]);
    pleat_state_store_finish(&job->store);
    return left;
}

void app_job_fail(struct app_job *job, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("FAILED: ", stderr);
    vfprintf(stderr, fmt, args);
    va_end(args);
    if (job->mailbox) {
        struct pleat_mailbox_status status = app_job_status(job);
        char text[192];
        pleat_mailbox_failure(job->mailbox, text, sizeof(text));
        fprintf(stderr, "\nphase %d, size %u, iteration %llu, finished %d, last failure: %s",
                (int)status.phase, status.size, (unsigned long long)status.iteration,
                status.finished, text);
    }
    if (job->output_fd > 0)
        read_output(job);
    fprintf(stderr, "\noutput of the job:\n%s\n", job->output);
    app_job_finish(job);
    exit(1);
}
