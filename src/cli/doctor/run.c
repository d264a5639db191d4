#include "cli/doctor/run.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common/interrupt.h"

/* A check that is ended has TERM_MS to go in order; whatever it leaves is killed until nothing is
 * left, for at most END_MS (a process may hang in the kernel). */
enum { TERM_MS = 1000, END_MS = 3000, NAP_MS = 5, LOOK_MS = 200, DESCRIPTORS = 16 };

struct worker {
    pid_t pid;
    int process, report; /* a pidfd; what the check writes */
    struct pleat_string text;
};

void doctor_run_begin(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* ---- the scratch directory ---- */

static void make_scratch(struct doctor *doctor)
{
    static const char *const places[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(doctor->scratch, sizeof(doctor->scratch), "%s/pleat-doctor-XXXXXX", places[i]);
        if (mkdtemp(doctor->scratch))
            return;
    }
    *doctor->scratch = '\0';
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path) && errno != ENOENT ? -1 : 0;
}

static void remove_scratch(struct doctor *doctor)
{
    if (*doctor->scratch)
        (void)nftw(doctor->scratch, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    *doctor->scratch = '\0';
}

/* ---- ending ---- */

/* The parent of a process, proc(5); 0: not known. */
static int parent_of(const char *pid)
{
    char path[64], text[512];
    int parent = 0;
    snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "re");
    const char *name_end = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
    if (!name_end || sscanf(name_end + 1, " %*c %d", &parent) != 1)
        parent = 0;
    if (file)
        fclose(file);
    return parent;
}

static void kill_children(void)
{
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));)
        if (isdigit((unsigned char)*entry->d_name) && parent_of(entry->d_name) == (int)getpid())
            (void)kill(atoi(entry->d_name), SIGKILL);
    if (processes)
        closedir(processes);
}

/* Ends what is left below this process: each round kills the children, and thereby makes those of
 * the children its own. */
static void end_rest(void)
{
    int64_t until_us = pleat_clock_monotonic_us() + INT64_C(1000) * END_MS;
    for (;;) {
        pid_t ended = waitpid(-1, NULL, WNOHANG);
        if (ended > 0)
            continue;
        if (ended < 0 || pleat_clock_monotonic_us() > until_us)
            return;
        kill_children();
        (void)poll(NULL, 0, NAP_MS);
    }
}

static void end_worker(const struct worker *worker)
{
    struct pollfd ended = {.fd = worker->process, .events = POLLIN};
    (void)kill(-worker->pid, SIGTERM);
    (void)poll(&ended, 1, TERM_MS);
    (void)kill(-worker->pid, SIGKILL);
}

/* ---- one check ---- */

static void work(struct doctor *doctor, const struct doctor_check *check, int report)
{
    (void)setpgid(0, 0);
    pleat_interrupt_again();
    signal(SIGPIPE, SIG_DFL);
    doctor->report = report;
    check->look(doctor);
    _exit(0);
}

static bool start(struct doctor *doctor, const struct doctor_check *check, struct worker *worker)
{
    int ends[2];
    *worker = (struct worker){.process = -1, .report = -1};
    if (pipe2(ends, O_CLOEXEC))
        return false;
    worker->pid = fork();
    if (worker->pid == 0) {
        close(ends[0]);
        work(doctor, check, ends[1]);
    }
    close(ends[1]);
    worker->report = ends[0];
    (void)fcntl(worker->report, F_SETFL, O_NONBLOCK);
    if (worker->pid < 0)
        return false;
    (void)setpgid(worker->pid, worker->pid); /* both do: either may come first */
    worker->process = pidfd_open(worker->pid, 0);
    return worker->process >= 0;
}

static void take(struct worker *worker)
{
    char some[4096];
    for (ssize_t got; (got = read(worker->report, some, sizeof(some))) > 0;)
        pleat_string_add_bytes(&worker->text, some, (size_t)got);
}

/* Waits until the process of the check has ended. False: it did not by then, or the user does not
 * want to wait. */
static bool await(struct worker *worker, double limit_s)
{
    int64_t until_us = pleat_clock_monotonic_us() + (int64_t)(limit_s * 1e6);
    for (;;) {
        struct pollfd polled = {.fd = worker->process, .events = POLLIN};
        int64_t left_ms = (until_us - pleat_clock_monotonic_us()) / 1000;
        int got = poll(&polled, 1, left_ms < 0 ? 0 : left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
        take(worker);
        if (got > 0)
            return true;
        if (pleat_interrupt_signal() || left_ms <= 0)
            return false;
    }
}

static void add(json_t *results, const struct doctor_check *check, json_t *result)
{
    json_object_set_new(result, "check", json_string(check->name));
    json_array_append_new(results, result);
}

static void add_told(json_t *results, const struct doctor_check *check, struct worker *worker)
{
    char *rest = NULL;
    char *text = worker->text.text;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        json_t *result = json_loads(line, 0, NULL);
        if (result)
            add(results, check, result);
    }
}

static void add_failure(json_t *results, const struct doctor_check *check, const char *seen,
                        const char *advice)
{
    add(results, check,
        json_pack("{s:n, s:s, s:s, s:s}", "subject", "state", doctor_state_name(DOCTOR_FAILED),
                  "seen", seen, "advice", advice));
}

bool doctor_run_check(struct doctor *doctor, const struct doctor_check *check, double limit_s,
                      json_t *results)
{
    struct worker worker;
    char seen[120];
    siginfo_t how = {0};
    make_scratch(doctor);
    bool started = start(doctor, check, &worker);
    bool ended = started && await(&worker, limit_s);
    if (started && !ended)
        end_worker(&worker);
    if (ended)
        (void)waitid(P_PIDFD, (id_t)worker.process, &how, WEXITED | WNOWAIT);
    if (worker.pid > 0)
        end_rest();
    remove_scratch(doctor);
    add_told(results, check, &worker);
    snprintf(seen, sizeof(seen), "the check did not end within %g s, and was ended", limit_s);
    if (!started)
        add_failure(results, check, "no process could be started for this check",
                    "see the check 'limits'");
    else if (!ended && !pleat_interrupt_signal())
        add_failure(results, check, seen, check->hung);
    else if (ended && how.si_code != CLD_EXITED)
        add_failure(results, check, "the check itself crashed", "report this as a bug of Pleat");
    if (worker.process >= 0)
        close(worker.process);
    if (worker.report >= 0)
        close(worker.report);
    pleat_string_finish(&worker.text);
    return !pleat_interrupt_signal();
}
